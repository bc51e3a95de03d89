#include "reporters/rows.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/diff/numbers.h"
#include "reporters/findings.h"

const struct tg_op *tg_row_former(const struct tg_comparison *c, const struct tg_op *op)
{
    return op->relation == TG_REL_RENAMED && op->change == TG_ADDED && op->partner < c->n_ops
               ? &c->ops[op->partner]
               : NULL;
}

bool tg_row_is_former(const struct tg_op *op)
{
    return op->relation == TG_REL_RENAMED && op->change == TG_REMOVED && op->partner != TG_NO_ID;
}

/* Steps summed over runs and ranks: the divisor of sums per step. */
static double step_units(const struct tg_comparison *c, int side)
{
    return fmax((double)c->n_units[side], 1);
}

const struct tg_evidence *tg_row_estimate(const struct tg_op *op)
{
    return op->kind != TG_KIND_STEP && !op->ev_total.pooled && tg_evidence_compared(&op->ev_total)
               ? &op->ev_total
               : NULL;
}

struct tg_row_numbers tg_row_numbers(const struct tg_comparison *c, const struct tg_op *op,
                                     enum tg_basis basis)
{
    const struct tg_op *former = tg_row_former(c, op);
    const struct tg_evidence *estimate = basis == TG_BASIS_ESTIMATED ? tg_row_estimate(op) : NULL;
    const struct tg_metric_change *step = &c->metrics[TG_METRIC_STEP_TIME];
    bool of_runs = basis == TG_BASIS_ESTIMATED && c->n_runs[TG_BASE] >= TG_FEWEST_RUNS &&
                   c->n_runs[TG_TEST] >= TG_FEWEST_RUNS;
    struct tg_row_numbers n;
    for (int s = 0; s < 2; s++) {
        if (basis == TG_BASIS_JUDGED) {
            const struct tg_evidence *ev = tg_op_reported(op);
            const struct tg_op *of = s == TG_BASE && former ? former : op;
            /* What runs every so many steps has calls, though no usual step has one: as many on
             * both sides, or the count of one would be a mean already. */
            bool rare = op->count[TG_BASE] == 0 && op->count[TG_TEST] == 0;
            n.count[s] =
                rare ? (double)op->step_count[TG_TEST] / step_units(c, TG_TEST) : of->count[s];
            /* A sum over several rows says nothing about this one; a line about some steps shows
             * those, and what one rank alone does is shown of that rank. */
            n.ns[s] = op->on_rank_alone                         ? op->there_ns[s]
                      : !tg_evidence_compared(ev) || ev->pooled ? of->self[s]
                      : ev->some_steps                          ? ev->slowest[s]
                                                                : ev->value[s];
        } else if (basis == TG_BASIS_WHOLE) {
            n.count[s] = (double)op->whole_count[s];
            n.ns[s] = (double)op->whole_total[s];
        } else {
            n.count[s] = (double)op->step_count[s] / step_units(c, s);
            n.ns[s] = estimate  ? estimate->value[s]
                      : of_runs ? (op->kind == TG_KIND_STEP && step->known[s] ? step->value[s]
                                                                              : op->total[s])
                                : (double)op->step_total[s] / step_units(c, s);
        }
    }
    n.d_count = n.count[TG_TEST] - n.count[TG_BASE];
    n.d_ns = n.ns[TG_TEST] - n.ns[TG_BASE];
    return n;
}

char tg_row_category(const struct tg_row_numbers *n)
{
    return n->d_count > 0 ? '+' : n->d_count < 0 ? '-' : '=';
}

const char *tg_row_group(const struct tg_row_numbers *n)
{
    if (!(n->count[TG_BASE] > 0) && n->count[TG_TEST] > 0)
        return "added";
    if (n->count[TG_BASE] > 0 && !(n->count[TG_TEST] > 0))
        return "deleted";
    return n->d_count > 0 ? "increased" : n->d_count < 0 ? "decreased" : "unchanged";
}

tg_sv tg_row_called(const struct tg_op *op)
{
    return op->kind == TG_KIND_STEP ? TG_SV(TG_HOST_GAP) : op->name;
}

tg_sv tg_op_raw(const struct tg_op *op)
{
    if (op->raw[TG_TEST].n)
        return op->raw[TG_TEST];
    return op->raw[TG_BASE].n ? op->raw[TG_BASE] : op->name;
}

/* Work that someone can be responsible for: host operators and calls, device work. No Python
 * functions, annotations, overhead; steps only with `steps`. */
static bool is_work(const struct tg_op *op, bool steps)
{
    const unsigned work = 1u << TG_KIND_OP | 1u << TG_KIND_RUNTIME | 1u << TG_KIND_SYNC |
                          1u << TG_KIND_GRAPH | 1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY |
                          1u << TG_KIND_MEMSET;
    return work & 1u << op->kind || (steps && op->kind == TG_KIND_STEP);
}

int tg_rows_by_size(const void *pa, const void *pb)
{
    const struct tg_ranked *a = pa, *b = pb;
    int c = TG_CMP(b->size, a->size);
    return c ? c : TG_CMP(a->at, b->at);
}

uint32_t *tg_rows_longest(const struct tg_comparison *c, size_t n, size_t *n_out)
{
    TG_FREE struct tg_ranked *r = tg_xmalloc((c->n_ops + 1) * sizeof *r);
    uint32_t *out = tg_xmalloc((c->n_ops + 1) * sizeof *out);
    size_t found = 0;
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_work(&c->ops[i], false) && c->ops[i].self[TG_TEST] > 0)
            r[found++] = (struct tg_ranked){ c->ops[i].self[TG_TEST], i };
    TG_SORT(r, found, tg_rows_by_size);
    *n_out = found < n ? found : n;
    for (size_t i = 0; i < *n_out; i++)
        out[i] = r[i].at;
    return out;
}

/* ---- what a verdict says of a row ---- */

bool tg_evidence_is_noise(const struct tg_evidence *ev)
{
    return !ev->proven && !ev->slower && !ev->faster && !ev->some_steps;
}

bool tg_row_is_noise(const struct tg_op *op)
{
    bool as_often = op->change == TG_SAME && op->counted.proof == TG_COUNT_UNCHANGED;
    const struct tg_evidence *ev = tg_op_reported(op);
    return as_often && !op->on_rank_alone && tg_evidence_compared(ev) && tg_evidence_is_noise(ev);
}

bool tg_row_is_judged(const struct tg_comparison *c, const struct tg_op *op)
{
    double ns = fabs(tg_row_numbers(c, op, TG_BASIS_JUDGED).d_ns);
    bool longer = tg_evidence_compared(tg_op_reported(op)) && ns >= TG_BIG * c->wall_ns[TG_BASE];
    return (op->change != TG_SAME || longer) && !tg_row_is_noise(op);
}

/* Of a number of calls the rows that it counts, where they changed; of one rank's time its rows. */
static bool covers(const struct tg_result *r, const struct tg_op *op)
{
    enum tg_metric m;
    if (r->one_rank)
        return op->on_rank_alone;
    return r->subject == TG_SUBJECT_TRACE && tg_rule_metric_of_trace(r->metric, &m) &&
           tg_metric_info(m)->counts & 1u << op->kind && op->change != TG_SAME;
}

unsigned char *tg_rows_told(const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    unsigned char *told = tg_xcalloc(c->n_ops + 1, sizeof *told);
    TG_EACH(const struct tg_result, r, v->results, v->n_results) {
        unsigned char leads = r->folded_under < v->n_results ? 0 : TG_ROW_LEADS;
        const struct tg_op *op = tg_result_shown(r) ? tg_result_op(c, r) : NULL;
        if (op)
            told[op - c->ops] |= TG_ROW_ABOUT | leads;
        bool whole = (r->subject == TG_SUBJECT_TRACE || r->one_rank) && tg_result_shown(r);
        for (size_t k = 0; whole && k < c->n_ops; k++)
            if (covers(r, &c->ops[k]))
                told[k] |= TG_ROW_COVERED | leads;
    }
    return told;
}

bool tg_row_is_waived(const struct tg_verdict *v, const struct tg_op *op)
{
    bool waived = false;
    for (size_t i = 0; v->n_state[TG_STATE_WAIVED] && i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        bool about = tg_result_is_about(r, op);
        if (tg_result_shown(r) && (about || covers(r, op)))
            return false;
        waived |= about && r->state == TG_STATE_WAIVED;
    }
    return waived;
}

static bool is_left_wait(const struct tg_op *op)
{
    return op->wait && op->change == TG_SAME && !tg_evidence_compared(tg_op_reported(op)) &&
           op->self[TG_TEST] < op->self[TG_BASE];
}

/* The host waits as long as the device works: a wait that no result is about mirrors what is,
 * unless part of a wait that a finding is about was in this one before. */
static bool is_news(const struct tg_comparison *c, const struct tg_op *op,
                    const unsigned char *told)
{
    double less = op->self[TG_BASE] - op->self[TG_TEST];
    for (size_t i = 0; is_left_wait(op) && i < c->n_ops; i++) {
        const struct tg_op *to = &c->ops[i];
        double more = to->self[TG_TEST] - to->self[TG_BASE];
        if (to->wait && to->change != TG_SAME && 2 * less > more && 2 * more > less && told[i])
            return true;
    }
    bool calls = op->kind == TG_KIND_SYNC || op->kind == TG_KIND_RUNTIME; /* of operators */
    return op->kind != TG_KIND_STEP && !calls && tg_row_is_judged(c, op);
}

/* ---- replacements that are one row ---- */

/* Does it show the time of a whole replacement as that of its name? */
static bool tells_pool(const struct tg_result *r)
{
    return r->unit_id == TG_UNIT_NS && r->ev && r->ev->pooled && tg_result_shown(r);
}

/* The time of a whole replacement, where a shown result gives it as that of `op`; NULL. */
static const struct tg_evidence *pool_of(const struct tg_verdict *v, const struct tg_op *op)
{
    bool pooled = op->region < v->comparison->n_regions && op->ev.pooled;
    for (size_t i = 0; pooled && i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (tells_pool(r) && tg_result_is_about(r, op))
            return r->ev;
    }
    return NULL;
}

/* The finding that tells of all that came and went in the region of `op`, with what follows;
 * NULL. */
static const struct tg_result *whole_of(const struct tg_verdict *v, const struct tg_op *op)
{
    const struct tg_comparison *c = v->comparison;
    if (!v->whole_of || op->on_rank_alone)
        return NULL;
    bool in_region = op->region < c->n_regions;
    uint32_t at = v->whole_of[in_region ? c->n_ops + op->region : (size_t)(op - c->ops)];
    return at == TG_NO_ID ? NULL : &v->results[at];
}

/* Is the time of a name in the row of a finding that it follows from, or of a replacement that it
 * is in? Or is its row that of a whole finding? */
enum part { PART_NONE, PART_OF, PART_WHOLE };

/* Of each name; NULL: no row is that of a whole finding. One pass over results and names. */
static unsigned char *find_parts(const struct tg_verdict *v, bool by_counts)
{
    const struct tg_comparison *c = v ? v->comparison : NULL;
    bool any = false, *told;
    for (size_t i = 0; c && i < v->n_results; i++)
        any |= v->results[i].whole_known || tells_pool(&v->results[i]) ||
               v->results[i].folded_under < v->n_results;
    if (!any)
        return NULL;
    unsigned char *part = tg_xcalloc(c->n_ops + 1, sizeof *part);
    told = tg_xcalloc(c->n_regions + 1, sizeof *told);
    TG_EACH(const struct tg_result, r, v->results, v->n_results) {
        const struct tg_result *head =
            r->folded_under < v->n_results ? &v->results[r->folded_under] : NULL;
        const struct tg_op *op = tg_result_op(c, r), *first = head ? tg_result_op(c, head) : NULL;
        if (!op)
            continue;
        if (tells_pool(r) && op->region < c->n_regions)
            told[op->region] = true;
        if (r->whole_known && op->region >= c->n_regions)
            part[op - c->ops] = PART_WHOLE;
        /* It launches what replaced others; or it waits in the finding, for what it waited for
         * elsewhere, so that its sum says nothing. */
        bool launches =
            first && tg_row_former(c, op) && (tg_result_region(c, head) || tg_row_former(c, first));
        if (first && !by_counts && (launches || op->wait))
            part[op - c->ops] = PART_OF;
        if (!head || !head->whole_known || pool_of(v, op) || part[op - c->ops])
            continue;
        if (tg_result_region(c, head) ? head->whole_on_host != tg_kind_is_device(op->kind)
                                      : !by_counts)
            part[op - c->ops] = PART_OF;
    }
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (op->region < c->n_regions && told[op->region] && tg_op_side_of_region(op) >= 0 &&
            !op->wait && c->regions[op->region].side[TG_TEST].pooled && !pool_of(v, op))
            part[i] = PART_OF;
    }
    free(told);
    return part;
}

bool tg_row_is_whole(const struct tg_verdict *v, const struct tg_op *op)
{
    return op->region >= v->comparison->n_regions && whole_of(v, op);
}

struct tg_row_numbers tg_row_shown(const struct tg_verdict *v, const struct tg_op *op)
{
    const struct tg_comparison *c = v->comparison;
    const struct tg_evidence *ev = pool_of(v, op);
    struct tg_row_numbers n = tg_row_numbers(c, op, TG_BASIS_JUDGED);
    const struct tg_result *whole = ev || op->region >= c->n_regions ? whole_of(v, op) : NULL;
    if (!ev && !whole)
        return n;
    double part[2];
    bool of_part = !whole && tg_region_part(c, op, part);
    for (int s = 0; s < 2; s++) {
        n.ns[s] = whole ? whole->whole_ns[s] : of_part ? part[s] : ev->value[s];
        n.count[s] = ev ? c->regions[op->region].calls[s] : n.count[s];
    }
    n.d_ns = n.ns[TG_TEST] - n.ns[TG_BASE];
    n.d_count = n.count[TG_TEST] - n.count[TG_BASE];
    return n;
}

uint32_t *tg_rows_worst(const struct tg_comparison *c, const struct tg_rows_choice *of,
                        size_t *n_out)
{
    TG_FREE unsigned char *part = find_parts(of->v, of->by_counts);
    size_t all = of->rows ? of->n_rows : c->n_ops, found = 0;
    TG_FREE struct tg_ranked *r = tg_xmalloc((all + 1) * sizeof *r);
    uint32_t *out = tg_xmalloc((all + 1) * sizeof *out);
    for (uint32_t i = 0; i < all; i++) {
        uint32_t row = of->rows ? of->rows[i] : i;
        struct tg_row_numbers v = part && (part[row] || c->ops[row].region < c->n_regions)
                                      ? tg_row_shown(of->v, &c->ops[row])
                                      : tg_row_numbers(c, &c->ops[row], of->basis);
        double size = fabs(of->by_counts ? v.d_count : v.d_ns);
        /* Below a nanosecond or a thousandth of a call a difference is rounding, not change. */
        bool twice = of->basis == TG_BASIS_JUDGED && tg_row_is_former(&c->ops[row]);
        /* All rows that a command chose, except steps (HTA does not draw them). */
        bool asked =
            of->rows ? of->steps || !tg_sv_starts(tg_op_raw(&c->ops[row]), TG_SV("ProfilerStep"))
                     : is_work(&c->ops[row], of->steps);
        if (asked && !twice && isfinite(size) && size >= (of->by_counts ? 1e-3 : 1) &&
            !(part && part[row] == PART_OF))
            r[found++] = (struct tg_ranked){ size, i };
    }
    TG_SORT(r, found, tg_rows_by_size);
    for (size_t i = 0; i < found; i++)
        out[i] = of->rows ? of->rows[r[i].at] : r[i].at;
    *n_out = found;
    return out;
}

struct tg_row_was tg_row_was(const struct tg_verdict *v, const struct tg_op *op)
{
    struct tg_row_was f = { .name = tg_row_former(v->comparison, op) };
    const struct tg_op *first;
    if (f.name || !pool_of(v, op))
        return f;
    f.n_before = tg_region_names(v->comparison, op->region, TG_BASE, &first, 1);
    f.n_after = tg_region_names(v->comparison, op->region, TG_TEST, NULL, 0);
    f.name = f.n_before ? first : NULL;
    return f;
}

void tg_row_put_more(struct tg_buf *out, size_t n)
{
    if (n > 1)
        tg_buf_printf(out, " and %zu more", n - 1);
}

double tg_row_share(const struct tg_comparison *c, const struct tg_op *op,
                    const struct tg_row_numbers *n)
{
    int s = n->ns[TG_TEST] > 0 ? TG_TEST : TG_BASE;
    return n->ns[s] /
           (op->on_rank_alone ? c->rank_alone->metric[TG_METRIC_STEP_TIME][s] : c->wall_ns[s]);
}

const char *tg_row_mark(const struct tg_verdict *v, const struct tg_op *op)
{
    static const char *const calls[] = {
        [TG_ADDED] = "new", [TG_REMOVED] = "gone", [TG_MORE] = "more", [TG_FEWER] = "fewer"
    };
    if (tg_row_is_waived(v, op))
        return "waived";
    if (is_left_wait(op))
        return "less";
    if (op->on_rank_alone)
        return v->comparison->rank_alone->called;
    if (pool_of(v, op))
        return "replaced";
    if (op->relation == TG_REL_RENAMED)
        return "renamed";
    if (op->change != TG_SAME)
        return calls[op->change];
    if (op->counted.proof == TG_COUNT_HINT)
        return "some";
    if (!tg_evidence_compared(tg_op_reported(op)))
        return "";
    if (tg_op_reported(op)->some_steps)
        return "some";
    return tg_row_is_noise(op)            ? "\xe2\x89\x88"
           : tg_row_shown(v, op).d_ns > 0 ? "slower"
                                          : "faster";
}

size_t tg_rows_left_of_rank(const struct tg_verdict *v, const uint32_t *rows, size_t n)
{
    size_t left = v->comparison->rank_alone ? v->comparison->rank_alone->n_names : 0;
    for (size_t i = 0; i < n && left; i++)
        left -= v->comparison->ops[rows[i]].on_rank_alone;
    return left;
}

uint32_t *tg_rows_of_verdict(const struct tg_verdict *v, size_t top, size_t others, size_t *n)
{
    const struct tg_comparison *c = v->comparison;
    size_t all = 0;
    const struct tg_rows_choice choice = { .basis = TG_BASIS_JUDGED, .steps = true, .v = v };
    TG_FREE uint32_t *rows = tg_rows_worst(c, &choice, &all);
    TG_FREE unsigned char *told = tg_rows_told(v);
    uint32_t *out = tg_xmalloc((all + 1) * sizeof *out);
    *n = 0;
    for (int follows = 0; follows < 2; follows++)
        for (size_t i = 0; i < all && *n < top; i++)
            if (told[rows[i]] && follows != !!(told[rows[i]] & TG_ROW_LEADS))
                out[(*n)++] = rows[i];
    for (size_t i = 0; i < all && *n < top && others; i++)
        if (!told[rows[i]] && is_news(c, &c->ops[rows[i]], told)) {
            out[(*n)++] = rows[i];
            others--;
        }
    return out;
}
