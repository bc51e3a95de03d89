#include <math.h>

#include "core/base/buckets.h"
#include "core/base/decimal.h"
#include "core/diff/names.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/pace.h"

bool tg_eval_explains(const struct tg_result *head, const struct tg_result *r,
                      const struct tg_op *op, const struct tg_comparison *c)
{
    bool backward = op->kind == TG_KIND_OP && tg_name_is_backward_of(op->name, head->op_normalised);
    bool its = tg_sv_eq(head->op_normalised, op->parent);
    return head->unit_id == TG_UNIT_COUNT &&
           ((its && head->delta == r->delta) ||
            /* what needs no gradient has no node */
            (backward && r->delta > 0 ? r->delta <= head->delta
                                      : backward && r->delta == head->delta) ||
            /* about the operator whose additional calls make these */
            (op->parent.n &&
             (op->leader != TG_NO_ID && tg_result_is_about(head, &c->ops[op->leader]))));
}

static bool is_about_op(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_NAME && r->op_kind == TG_KIND_OP;
}

/* Something that can be told with another finding. A budget is a promise of its own. */
static bool may_fold(const struct tg_result *r)
{
    return (r->state == TG_STATE_FAIL || r->state == TG_STATE_WARN) &&
           (r->has_values || r->unit_id == TG_UNIT_ATTR) && !r->over_budget;
}

/* A warning may be part of a failure, never the other way round. */
static bool may_tell(const struct tg_result *head, const struct tg_result *r)
{
    return may_fold(head) && head->state >= r->state;
}

/* Of what is under no other. */
static bool may_lead(const struct tg_result *head, const struct tg_result *r)
{
    return head->folded_under == TG_NO_ID && may_tell(head, r);
}

/* The row that a row is under in the end; itself if it is under none. */
static uint32_t root_of(const struct tg_result *v, uint32_t i)
{
    while (v[i].folded_under != TG_NO_ID)
        i = v[i].folded_under;
    return i;
}

/* Under the root of `k`; false: that is `i` itself. */
static bool fold_under(struct tg_result *v, uint32_t i, uint32_t k)
{
    uint32_t root = root_of(v, k);
    if (root == i)
        return false;
    v[i].folded_under = root;
    return true;
}

/* Rows under one that was folded later. */
static void flatten(struct tg_result *v, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].folded_under != TG_NO_ID)
            v[i].folded_under = root_of(v, i);
}

/* The first row of the list that explains `i`, or `best` if that is before it. */
static uint32_t first_head(const struct tg_buckets *of, tg_sv text, uint32_t best,
                           const struct tg_result *v, uint32_t i, const struct tg_op *op,
                           const struct tg_comparison *c)
{
    uint32_t k = tg_buckets_first(of, text);
    bool waived = v[i].state == TG_STATE_WAIVED;
    for (; k != TG_NO_ID && k < best; k = tg_buckets_next(of, k))
        /* A waived row: is it what that row's waiver covers beside the name that it gives? */
        if ((waived ? v[k].state == TG_STATE_WAIVED && tg_sv_eq(v[k].rule, v[i].rule)
                    : may_tell(&v[k], &v[i])) &&
            (op->kind == TG_KIND_OP || is_about_op(&v[k])) &&
            tg_eval_explains(&v[k], &v[i], op, c) && root_of(v, k) != i)
            return k;
    return best;
}

/* An operator that is called as often more as the one that calls it is a consequence, and so is
 * what a new operator calls, however often: one finding instead of five. `clone` calls
 * `empty_like` and `copy_`: three rows, one finding. Autograd's node of an operator runs as
 * often as the operator at most. The order of the rows plays no part. */
static void fold_calls(struct tg_result *v, size_t n, const struct tg_comparison *c)
{
    /* Rows about numbers of calls, by the names that tg_eval_explains asks for; letters: as
     * tg_name_put_letters. */
    TG_AUTO(tg_buckets_release) struct tg_buckets name, letters;
    tg_buckets_init(&name, n);
    tg_buckets_init(&letters, n);
    TG_BUF b = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].unit_id != TG_UNIT_COUNT)
            continue;
        tg_buf_clear(&b);
        tg_buckets_add(&name, v[i].op_normalised, i);
        if (tg_name_put_letters(v[i].op_normalised, &b))
            tg_buckets_add(&letters, tg_buf_sv(&b), i);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct tg_result *r = &v[i];
        if (r->unit_id != TG_UNIT_COUNT || !(may_fold(r) || r->state == TG_STATE_WAIVED))
            continue;
        const struct tg_op *op = tg_result_op(c, r);
        /* Operators and waits follow what calls them, device work the operator that launches it. */
        if (!op ||
            (op->kind == TG_KIND_OP ? tg_sv_eq(op->parent, op->name)
                                    : op->kind != TG_KIND_SYNC && !tg_kind_is_device(op->kind)))
            continue;
        /* The first row that explains row `i`, which is about `op`: of the operator around it, of
         * the operator whose node of autograd's it is, or of the outermost operator that brings it
         * along. */
        tg_buf_clear(&b);
        uint32_t k = first_head(&name, op->parent, TG_NO_ID, v, i, op, c);
        if (op->kind == TG_KIND_OP && tg_name_put_node_letters(op->name, &b))
            k = first_head(&letters, tg_buf_sv(&b), k, v, i, op, c);
        if (op->leader != TG_NO_ID)
            k = first_head(&name, c->ops[op->leader].name, k, v, i, op, c);
        if (k != TG_NO_ID && fold_under(v, i, k))
            r->follows = tg_sv_eq(r->rule, v[k].rule);
    }
}

/* Nobody writes autograd's node around an operator: the operator is the finding, and the node
 * follows. */
static void fold_nodes(struct tg_result *v, size_t n, const struct tg_comparison *c)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct tg_op *op = v[i].folded_under != TG_NO_ID ? tg_result_op(c, &v[i]) : NULL;
        uint32_t root = root_of(v, i);
        bool inside = op && is_about_op(&v[i]) && tg_name_is_node(op->parent) &&
                      !tg_name_is_node(op->name) && tg_name_is_node(v[root].op_normalised);
        if (!inside || !may_tell(&v[i], &v[root]))
            continue;
        v[root].folded_under = i;
        v[root].follows = tg_sv_eq(v[root].rule, v[i].rule);
        v[i].folded_under = TG_NO_ID;
        v[i].follows = false;
    }
    flatten(v, n);
}

/* Rows of one key are one finding: the best of them, of equals the first, which is the worst.
 * False: it has none. */
typedef bool key_of(struct tg_buf *key, const struct tg_result *r, const struct tg_comparison *c);
typedef bool is_better(const struct tg_result *r, const struct tg_result *head,
                       const struct tg_comparison *c);
static void fold_groups(struct tg_result *v, size_t n, const struct tg_comparison *c, key_of *key,
                        is_better *better)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap groups;
    TG_FREE uint32_t *head = tg_xmalloc((n + 1) * sizeof *head);
    TG_FREE uint32_t *id = tg_xmalloc((n + 1) * sizeof *id);
    TG_BUF text = { 0 };
    tg_strmap_init(&groups);
    for (uint32_t i = 0; i < n; i++) {
        size_t known = groups.n;
        tg_buf_clear(&text);
        id[i] = key(&text, &v[i], c) ? tg_strmap_add(&groups, tg_buf_sv(&text)) : TG_NO_ID;
        if (id[i] == known || (id[i] != TG_NO_ID && better && better(&v[i], &v[head[id[i]]], c)))
            head[id[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        if (id[i] != TG_NO_ID && head[id[i]] != i && v[i].folded_under == TG_NO_ID &&
            (v[i].state == TG_STATE_WAIVED || may_tell(&v[head[id[i]]], &v[i])))
            (void)fold_under(v, i, head[id[i]]);
}

/* A name that came, proven or not, and that others of its place may be told with. Where a device
 * works a wait counts for itself. */
static const struct tg_op *came(const struct tg_result *r, const struct tg_comparison *c)
{
    const struct tg_op *op = may_fold(r) && r->unit_id == TG_UNIT_COUNT ? tg_result_op(c, r) : NULL;
    bool rose = op && (tg_op_rose(op) || (op->counted.proof == TG_COUNT_HINT && r->delta > 0));
    return rose && !(tg_op_makes_wait(op) && tg_has_device_ops(c)) ? op : NULL;
}

/* What came or got slower inside one annotation, or else in the step; by each of the two clocks,
 * what only got slower. */
static bool key_of_place(struct tg_buf *key, const struct tg_result *r,
                         const struct tg_comparison *c)
{
    const struct tg_op *op = came(r, c);
    if (may_fold(r) && r->unit_id == TG_UNIT_NS && r->subject == TG_SUBJECT_NAME)
        op = tg_result_op(c, r);
    if (!op || r->folded_under != TG_NO_ID || !tg_sv_eq(r->plain, r->op_normalised))
        return false; /* told already, or one rank alone */
    tg_buf_add(key, op->joined && op->region < c->n_regions ? c->regions[op->region].encloser
                                                            : op->place);
    if (!op->joined && r->unit_id == TG_UNIT_NS && tg_kind_is_device(op->kind))
        tg_buf_putc(key, '\0'); /* no name has it */
    return true;
}

/* Views and autograd's own rows are made by others. */
static bool is_made_by_others(const struct tg_op *op)
{
    return op->view || tg_name_is_node(op->name);
}

/* The costliest operator that the change wrote; of kernels alone the costliest kernel. */
static bool is_costlier(const struct tg_result *r, const struct tg_result *head,
                        const struct tg_comparison *c)
{
    const struct tg_op *op = tg_result_op(c, r), *of = tg_result_op(c, head);
    if (r->unit_id == TG_UNIT_NS && head->unit_id == TG_UNIT_NS)
        return r->state == head->state && r->delta > head->delta;
    /* Time that is lost beside calls that hardly cost any is not theirs. */
    if (r->unit_id == TG_UNIT_NS && head->unit_id == TG_UNIT_COUNT && r->ev && !r->ev->pooled)
        return r->state == head->state && r->delta > TG_APART * head->weight;
    if (op && of && r->unit_id == TG_UNIT_COUNT && is_made_by_others(op) != is_made_by_others(of))
        return r->state >= head->state && is_made_by_others(of);
    return tg_kind_is_device(head->op_kind) && !tg_kind_is_device(r->op_kind);
}

/* One name, or a name and what it was, under several rules: what failed before what warns; calls,
 * then time, then how they are called. */
static bool key_of_name(struct tg_buf *key, const struct tg_result *r,
                        const struct tg_comparison *c)
{
    const struct tg_op *op = tg_result_op(c, r);
    if (!may_fold(r) || r->subject != TG_SUBJECT_NAME)
        return false;
    tg_buf_putc(key, (char)r->op_kind);
    if (op && op->relation == TG_REL_RENAMED && op < &c->ops[op->partner])
        tg_buf_add(key, c->ops[op->partner].name);
    else
        tg_buf_add(key, r->plain.n ? r->plain : r->op_normalised); /* whichever ranks */
    return true;
}

static bool is_told_before(const struct tg_result *r, const struct tg_result *head,
                           const struct tg_comparison *c)
{
    static const int at[TG_UNIT_NUMBER + 1] = { [TG_UNIT_COUNT] = -1, [TG_UNIT_ATTR] = 1 };
    (void)c;
    if (r->state != head->state || r->unit_id != head->unit_id)
        return r->state != head->state ? r->state > head->state
                                       : at[r->unit_id] < at[head->unit_id];
    return r->unit_id == TG_UNIT_COUNT && r->delta > 0 && head->delta < 0; /* what came tells */
}

/* What one operator is called with is what another one made: a change of shapes runs through all
 * that follows, so each rule has one finding, the costliest name. */
static bool key_of_attribute(struct tg_buf *key, const struct tg_result *r,
                             const struct tg_comparison *c)
{
    (void)c;
    tg_buf_add(key, r->rule);
    return r->unit_id == TG_UNIT_ATTR && may_fold(r) && r->folded_under == TG_NO_ID;
}

/* ---- the step ---- */

/* What each finding adds to the step, in ns, by the clock that the step waits for, with all that is
 * folded under it; nothing of a name that is its own twice. */
static double *sums_of(const struct tg_result *v, size_t n, const struct tg_comparison *c)
{
    bool device = tg_pace_of(c) == TG_PACE_DEVICE;
    double *sum = tg_xcalloc(n + 1, sizeof *sum);
    for (uint32_t m = 0; m < n; m++) {
        const struct tg_result *r = &v[m];
        uint32_t k = r->folded_under == TG_NO_ID ? m : r->folded_under;
        const struct tg_op *op = r->subject == TG_SUBJECT_NAME ? tg_result_op(c, r) : NULL;
        if (m != k && op && v[k].subject == TG_SUBJECT_NAME && r->op_kind == v[k].op_kind &&
            tg_sv_eq(r->op_normalised, v[k].op_normalised))
            continue;
        if (r->subject == TG_SUBJECT_STEP || tg_result_is_busy(r))
            sum[k] += device == tg_result_is_busy(r) ? r->delta : 0;
        else if (op && tg_kind_is_device(op->kind) == device)
            sum[k] += r->unit_id == TG_UNIT_NS ? r->delta : op->self[TG_TEST] - op->self[TG_BASE];
    }
    return sum;
}

/* The step is longer by what findings add, and by the Python around the calls that came: they
 * are one. */
static void fold_step(struct tg_result *v, size_t n, const struct tg_comparison *c)
{
    TG_FREE double *sum = sums_of(v, n, c);
    for (size_t i = 0; i < n; i++) {
        uint32_t best = TG_NO_ID;
        double most = 0, all = 0, busy = 0;
        /* The host's time between operators: where the device sets the pace a wait that no call
         * of its own makes, else the Python around calls, which comes with them. */
        bool gaps = v[i].subject == TG_SUBJECT_STEP;
        bool waits = gaps && tg_pace_of(c) == TG_PACE_DEVICE, around = gaps && !waits;
        const double *step = c->metrics[TG_METRIC_STEP_TIME].value;
        struct tg_pace_wait wait = tg_result_is_step_time(&v[i])
                                       ? tg_pace_wait_behind(c, v[i].delta)
                                       : (struct tg_pace_wait){ 0 };
        bool works = tg_result_is_busy(&v[i]) && tg_pace_of(c) == TG_PACE_DEVICE;
        if (!(tg_result_is_step_time(&v[i]) || gaps || works) || !may_fold(&v[i]) ||
            v[i].folded_under != TG_NO_ID)
            continue;
        for (uint32_t k = 0; k < n; k++) {
            if (!may_lead(&v[k], &v[i]) || tg_result_is_step_time(&v[k]) || !(sum[k] > 0) ||
                (around && !came(&v[k], c)) || k == i)
                continue;
            best = sum[k] > most ? k : best;
            most = fmax(most, sum[k]);
            *(tg_result_is_busy(&v[k]) ? &busy : &all) +=
                sum[k]; /* the device's time is that of names, too */
        }
        /* A finding that holds the wait that the step is longer by, by the first of its rows. */
        for (uint32_t k = 0; wait.call && k < n; k++) {
            uint32_t m = 0;
            if (!may_lead(&v[k], &v[i]))
                continue;
            while (m < n &&
                   !((m == k || v[m].folded_under == k) && tg_result_op(c, &v[m]) == wait.call))
                m++;
            if (m < n && v[m].unit_id == TG_UNIT_COUNT && tg_op_rose(wait.call)) {
                best = k;
                all = v[i].delta;
            }
        }
        /* Had the host worked for it, the step would be longer by their sum. */
        bool mirrored = step[TG_TEST] - step[TG_BASE] < TG_WINS * (most + v[i].delta);
        if (v[i].delta > 0 && (gaps ? most : fmax(all, busy)) >= TG_HALF * v[i].delta &&
            (!waits || mirrored))
            v[i].folded_under = best;
    }
    /* The device's part of a step under the step, which grew with it. */
    uint32_t step = 0;
    while (step < n && !(v[step].subject == TG_SUBJECT_TRACE && may_fold(&v[step]) &&
                         v[step].metric == TG_RULE_METRIC_STEP_TIME))
        step++;
    for (uint32_t i = 0; step < n && i < n; i++)
        if (i != step && tg_result_is_step_time(&v[i]) && may_lead(&v[step], &v[i]) &&
            may_fold(&v[i]) && v[i].folded_under == TG_NO_ID &&
            v[step].delta >= TG_HALF * v[i].delta)
            v[i].folded_under = step;
    flatten(v, n);
}

/* What one item of the waivers covers is one line: its own name's, or the first of its further
 * names. */
static bool key_of_waiver(struct tg_buf *key, const struct tg_result *r,
                          const struct tg_comparison *c)
{
    (void)c;
    if (!r->waiver || r->state != TG_STATE_WAIVED || r->folded_under != TG_NO_ID)
        return false;
    tg_buf_printf(key, "%u", r->waiver);
    return true;
}

/* The operator that a row is about which is under no other; NULL. */
static const struct tg_op *op_on_top(const struct tg_result *r, const struct tg_comparison *c)
{
    return may_fold(r) && r->folded_under == TG_NO_ID ? tg_result_op(c, r) : NULL;
}

/* An operator that has another name because the kernel that it launches is another one. */
static void fold_renamed(struct tg_result *v, size_t n, const struct tg_comparison *c)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap launchers; /* of kernels that are slower; */
    TG_FREE uint32_t *kernel = tg_xmalloc((n + 1) * sizeof *kernel); /* the first of each */
    tg_strmap_init(&launchers);
    for (uint32_t i = 0; i < n; i++) {
        const struct tg_op *op = op_on_top(&v[i], c);
        size_t known = launchers.n;
        if (op && v[i].unit_id == TG_UNIT_NS && op->kind == TG_KIND_KERNEL &&
            op->change == TG_ADDED && op->parent.n &&
            tg_strmap_add(&launchers, op->parent) == known)
            kernel[known] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct tg_op *op = op_on_top(&v[i], c);
        uint32_t id = op && op->kind == TG_KIND_OP && op->relation == TG_REL_RENAMED
                          ? tg_strmap_find(&launchers, op->name)
                          : TG_NO_ID;
        if (id != TG_NO_ID && may_tell(&v[kernel[id]], &v[i]))
            v[i].folded_under = kernel[id];
    }
}

void tg_fold(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_result *v = e->results;
    size_t n = e->n;
    fold_calls(v, n, c);
    fold_nodes(v, n, c);
    fold_groups(v, n, c, key_of_name, is_told_before);
    fold_groups(v, n, c, key_of_attribute, NULL);
    fold_groups(v, n, c, key_of_place, is_costlier);
    fold_groups(v, n, c, key_of_waiver, NULL);
    fold_renamed(v, n, c);
    flatten(v, n);
    fold_step(v, n, c);
    /* A growth of the whole that warnings explain belongs to the first of them. */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0;
             v[i].because == TG_REASON_TOLD && k < n && v[i].folded_under == TG_NO_ID; k++)
            if (v[k].state == v[i].state && may_lead(&v[k], &v[i]) &&
                !tg_sv_eq(v[k].rule, v[i].rule))
                v[i].folded_under = k;
}

/* ---- causes ---- */

/* The change that a result is blamed on; NULL: none. */
static const struct tg_cause *blamed(const struct tg_result *r)
{
    return may_fold(r) && r->cause && r->cause->function && tg_cause_blames(r->cause) ? r->cause
                                                                                      : NULL;
}

/* The change that a result is blamed on. */
static bool key_of_change(struct tg_buf *key, const struct tg_result *r,
                          const struct tg_comparison *c)
{
    const struct tg_cause *change = r->folded_under == TG_NO_ID ? blamed(r) : NULL;
    (void)c;
    if (!change)
        return false;
    tg_buf_add(key, change->changed_file.n ? change->changed_file : change->function->file);
    tg_buf_putc(key, '\0'); /* no path has it */
    for (size_t i = 0; i < change->n_changed; i++)
        tg_buf_printf(key, " %u-%u", change->changed[i].first, change->changed[i].last);
    return true;
}

/* What names a change best: a failure; what waits; an operator that the function itself calls;
 * calls, not time. */
static unsigned worth(const struct tg_result *r, const struct tg_comparison *c)
{
    const struct tg_op *op = r->unit_id == TG_UNIT_COUNT ? tg_result_op(c, r) : NULL;
    return (r->state == TG_STATE_FAIL ? 32u : 0u) +
           (op && is_about_op(r) && tg_op_makes_wait(op) ? 16u : 0u) +
           (r->subject == TG_SUBJECT_NAME ? 8u : 0u) + (r->cause->path.backward ? 0u : 4u) +
           (r->unit_id == TG_UNIT_COUNT ? 2u : 0u) + (is_about_op(r) ? 1u : 0u);
}

static bool names_it_better(const struct tg_result *r, const struct tg_result *head,
                            const struct tg_comparison *c)
{
    return worth(r, c) > worth(head, c);
}

/* Of the findings of one state the first that is blamed on a change leads: the others are what
 * it brings along. */
static void lead_with_change(struct tg_result *v, uint32_t n, enum tg_state state)
{
    uint32_t first = n, lead = n;
    for (uint32_t i = n; i-- > 0;)
        if (v[i].state == state && v[i].folded_under == TG_NO_ID) {
            first = i;
            lead = blamed(&v[i]) ? i : lead;
        }
    if (lead == n)
        return;
    struct tg_result r = v[lead];
    memmove(&v[first + 1], &v[first], (lead - first) * sizeof *v);
    v[first] = r;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t under = v[i].folded_under;
        if (under == lead)
            v[i].folded_under = first;
        else if (under >= first && under < lead)
            v[i].folded_under = under + 1;
    }
}

void tg_verdict_join_causes(struct tg_verdict *v, struct tg_arena *a)
{
    if (!v->comparison)
        return; /* of budgets alone, which are findings by themselves */
    fold_groups(v->results, v->n_results, v->comparison, key_of_change, names_it_better);
    flatten(v->results, v->n_results);
    fold_step(v->results, v->n_results, v->comparison);
    lead_with_change(v->results, (uint32_t)v->n_results, TG_STATE_FAIL);
    lead_with_change(v->results, (uint32_t)v->n_results, TG_STATE_WARN);
    for (size_t s = 0; s <= TG_STATE_FAIL; s++)
        v->n_folded[s] = 0;
    for (size_t i = 0; i < v->n_results; i++)
        v->n_folded[v->results[i].state] += v->results[i].folded_under != TG_NO_ID;
    tg_describe_weights(v, a);
    if (!v->by_note)
        tg_describe_headline(v, a);
}

/* ---- one rank ---- */

/* Is it about time that this rank alone took more of? The step's is longer by at most as much. */
static bool is_of_rank(const struct tg_result *r, const struct tg_comparison *c,
                       const struct tg_strmap *names)
{
    const struct tg_rank_alone *alone = c->rank_alone;
    if (!may_fold(r) || r->unit_id != TG_UNIT_NS || !(r->delta > 0) ||
        (r->of_rank >= 0 && r->of_rank != alone->rank))
        return false;
    if (r->subject == TG_SUBJECT_NAME)
        return tg_strmap_find(names, r->plain) != TG_NO_ID;
    return (r->subject == TG_SUBJECT_TRACE || r->subject == TG_SUBJECT_STEP) &&
           r->delta <= TG_AS_LARGE * (alone->value[TG_TEST] - alone->value[TG_BASE]);
}

static unsigned leads_by(const struct tg_result *r)
{
    return (r->state == TG_STATE_FAIL ? 4U : 0U) + (r->of_rank >= 0 ? 2U : 0U) +
           (r->subject == TG_SUBJECT_NAME ? 1U : 0U);
}

/* What takes longer on one rank alone is one event: its rows are under the first of the worst,
 * whose sentence tells of the rank. Of equal state one of that rank itself comes first, then a
 * name. */
void tg_fold_rank(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    TG_AUTO(tg_strmap_release) struct tg_strmap names = { 0 };
    uint32_t head = TG_NO_ID;
    if (!c->rank_alone)
        return;
    tg_strmap_init(&names);
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].on_rank_alone)
            (void)tg_strmap_add(&names, c->ops[i].name);
    for (uint32_t i = 0; i < e->n; i++)
        if (is_of_rank(&e->results[i], c, &names) &&
            (head == TG_NO_ID || leads_by(&e->results[i]) > leads_by(&e->results[head])))
            head = i;
    if (head == TG_NO_ID)
        return;
    for (uint32_t i = 0; i < e->n; i++)
        if (is_of_rank(&e->results[i], c, &names))
            e->results[i].folded_under = head;
    e->results[head].folded_under = TG_NO_ID;
    flatten(e->results, (uint32_t)e->n);
    struct tg_result *r = &e->results[head];
    const struct tg_rank_alone *alone = c->rank_alone;
    size_t others = c->n_ranks[TG_TEST] - 1;
    struct tg_buf b = { 0 };
    r->one_rank = true;
    tg_buf_printf(&b, "rank %lld alone: ", (long long)alone->rank);
    tg_phrase_rank_alone(&b, c);
    tg_buf_printf(&b, ": %s%s per step, was %s; the other %s as before%s",
                  alone->n_names > 1 ? "together " : "",
                  TG_BESIDE(alone->of_names[TG_TEST], alone->of_names[TG_BASE], TG_UNIT_NS),
                  TG_BESIDE(alone->of_names[TG_BASE], alone->of_names[TG_TEST], TG_UNIT_NS),
                  others == 1 ? "rank works" : "ranks work",
                  !c->straggler ? ""
                  : others == 1 ? " and waits for it"
                                : " and wait for it");
    r->message = tg_phrase_take(&b, e->arena);
    r->next = TG_SV_PRINTF(e->arena,
                           "All ranks run the same program: look at the machine of rank %lld "
                           "first (clock, temperature, other jobs), then at its data.",
                           (long long)alone->rank);
}
