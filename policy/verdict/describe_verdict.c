#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buckets.h"
#include "core/base/decimal.h"
#include "core/diff/confirm.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/pace.h"

/* Operators whose smallest slowdown the coverage line gives the larger one of, and the share of
 * the step from which it says that one is not judged. */
#define LARGEST 2
#define SHARE 0.01

/* ---- what a finding costs ---- */

enum { DEVICE, WAITS, HOST, NOTHING, SORTS }; /* of time */
enum { LEAST = 100 };                         /* ns: what is shown */

struct cost {                               /* per step */
    double more[SORTS], base[SORTS];        /* ns, than in the baseline; in the baseline */
    double least[SORTS][2], most[SORTS][2]; /* of the runs of each side */
    size_t n_names;
    /* What of it reports say: that the host pays by waiting (`moved`: others wait less instead),
     * or what the clock shows that the step waits for, on the host with a wait that is a part of
     * it. */
    bool by_waiting, moved, on_host, waits_too;
    bool both;              /* one after the other: the step is longer by their sum */
    double said, said_base; /* ns */
    bool noise;             /* the usual run of each side is among those of the other: not said */
    size_t others;          /* names that hold most of it beside its own; 0: its own does */
};

static void add_cost(struct cost *cost, const struct tg_op *op, const struct tg_in_caller *x)
{
    int sort = tg_kind_is_device(op->kind) ? DEVICE : op->wait ? WAITS : HOST;
    cost->more[sort] += x->self[TG_TEST] - x->self[TG_BASE];
    cost->base[sort] += x->self[TG_BASE];
    for (int s = 0; s < 2; s++) {
        cost->least[sort][s] += x->least[s];
        cost->most[sort][s] += x->most[s];
    }
    cost->n_names++;
}

/* A call of the runtime inside one of its callers. */
struct call {
    const struct tg_op *op;
    const struct tg_in_caller *in;
};

/* What the costs of many findings are added up from. */
struct costs {
    const struct tg_verdict *v;
    struct tg_buckets children; /* names by that of their parent */
    struct tg_buckets called;   /* by the caller's name: */
    struct call *calls;
    uint32_t *first, *next;   /* by result: those folded under it; TG_NO_ID ends */
    struct tg_pace_wait less; /* the wait that lost most */
    uint32_t *mine;           /* of the finding at hand: its operators, */
    size_t n_mine;
    bool *is_mine;       /* the same, by operator; else all false */
    uint32_t *taken_for; /* by region: the finding that has taken its operators last */
};

static void costs_release(struct costs *x)
{
    tg_buckets_release(&x->children);
    tg_buckets_release(&x->called);
    free(x->calls);
    free(x->first);
    free(x->next);
    free(x->mine);
    free(x->is_mine);
    free(x->taken_for);
}

static void costs_init(struct costs *x, const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    uint32_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        n += (uint32_t)c->ops[i].n_callers;
    *x = (struct costs){ .v = v, .less = tg_pace_waits_of(c).shorter };
    x->calls = tg_xmalloc((n + 1) * sizeof *x->calls);
    tg_select_children(&x->children, c);
    tg_buckets_init(&x->called, n);
    n = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        TG_EACH(const struct tg_in_caller, of, op->callers, op->n_callers) {
            tg_buckets_add(&x->called, of->in, n);
            x->calls[n++] = (struct call){ op, of };
        }
    x->mine = tg_xmalloc((c->n_ops + 1) * sizeof *x->mine);
    x->is_mine = tg_xcalloc(c->n_ops + 1, 1);
    x->next = tg_xmalloc((v->n_results + 1) * sizeof *x->next);
    x->first = tg_xmalloc((v->n_results + 1) * sizeof *x->first);
    x->taken_for = tg_xmalloc((c->n_regions + 1) * sizeof *x->taken_for);
    memset(x->first, 0xff, v->n_results * sizeof *x->first); /* TG_NO_ID */
    memset(x->taken_for, 0xff, c->n_regions * sizeof *x->taken_for);
    for (uint32_t i = 0; i < v->n_results; i++) {
        uint32_t head = v->results[i].folded_under;
        if (head >= v->n_results)
            continue;
        x->next[i] = x->first[head];
        x->first[head] = i;
    }
}

static void take(struct costs *x, uint32_t op)
{
    if (!x->is_mine[op])
        x->mine[x->n_mine++] = op;
    x->is_mine[op] = true;
}

/* What a result is about; of a rename and a replacement what went, too. */
static void take_names_of(struct costs *x, const struct tg_result *r, uint32_t head)
{
    const struct tg_comparison *c = x->v->comparison;
    const struct tg_op *op = tg_result_op(c, r);
    if (!op)
        return;
    take(x, (uint32_t)(op - c->ops));
    if (op->partner != TG_NO_ID)
        take(x, op->partner);
    if (op->region >= c->n_regions || x->taken_for[op->region] == head)
        return;
    x->taken_for[op->region] = head;
    const struct tg_region *g = &c->regions[op->region];
    for (size_t i = 0; i < g->n_ops; i++)
        if (tg_op_side_of_region(&c->ops[g->op[i]]) >= 0)
            take(x, g->op[i]);
}

/* Is the operator of this name one of the finding at hand? */
static bool is_mine_by_name(const struct costs *x, tg_sv name)
{
    for (size_t i = 0; i < x->n_mine; i++) {
        const struct tg_op *op = &x->v->comparison->ops[x->mine[i]];
        if (op->kind == TG_KIND_OP && tg_sv_eq(op->name, name))
            return true;
    }
    return false;
}

static int by_number(const void *pa, const void *pb)
{
    const uint32_t *a = pa, *b = pb;
    return TG_CMP(*a, *b);
}

static void choose_said(struct cost *x, const struct tg_comparison *c, double less)
{
    double device = x->more[DEVICE], waits = x->more[WAITS], host = x->more[HOST];
    x->by_waiting = waits >= LEAST && waits > device && waits > host;
    x->moved = x->by_waiting && 2 * less > waits;
    x->on_host = device < LEAST || (host >= LEAST && tg_pace_of(c) == TG_PACE_HOST);
    x->both = !x->by_waiting && host >= LEAST && device >= LEAST &&
              c->metrics[TG_METRIC_GPU_BUSY].known[TG_TEST] &&
              c->wall_ns[TG_TEST] - c->wall_ns[TG_BASE] >=
                  (x->on_host ? host + device / 2 : device + host / 2);
    x->waits_too = x->on_host && waits >= LEAST && !x->by_waiting && !x->both;
    int sort = x->by_waiting ? WAITS : x->on_host ? HOST : DEVICE;
    int other = x->both ? (x->on_host ? DEVICE : HOST) : x->waits_too ? WAITS : NOTHING;
    x->said = x->more[sort] + x->more[other];
    x->said_base = x->base[sort] + x->base[other];
    double least[2], most[2], test = x->said_base + x->said;
    for (int s = 0; s < 2; s++) {
        least[s] = x->least[sort][s] + x->least[other][s];
        most[s] = x->most[sort][s] + x->most[other][s];
    }
    x->noise = x->said > 0 ? test < most[TG_BASE] && least[TG_TEST] < x->said_base
                           : test > least[TG_BASE] && most[TG_TEST] > x->said_base;
}

/* A finding costs what its own names do, and those folded under it; of a name that came or went
 * also the device work that it launches, which has other names in a replacement. */
static struct cost cost_of(struct costs *x, uint32_t head)
{
    const struct tg_comparison *c = x->v->comparison;
    struct cost cost = { 0 };
    x->n_mine = 0;
    take_names_of(x, &x->v->results[head], head);
    for (uint32_t i = x->first[head]; i != TG_NO_ID; i = x->next[i])
        take_names_of(x, &x->v->results[i], head);
    for (size_t i = 0, named = x->n_mine; i < named; i++) {
        const struct tg_op *by = &c->ops[x->mine[i]];
        if (by->kind != TG_KIND_OP || (by->change != TG_ADDED && by->change != TG_REMOVED))
            continue;
        for (uint32_t k = tg_buckets_first(&x->children, by->name); k != TG_NO_ID;
             k = tg_buckets_next(&x->children, k))
            if (c->ops[k].change != TG_SAME && tg_kind_is_device(c->ops[k].kind))
                take(x, k);
    }
    TG_SORT(x->mine, x->n_mine, by_number); /* sums do not depend on the order of the results */
    for (size_t i = 0; i < x->n_mine; i++) {
        const struct tg_op *op = &c->ops[x->mine[i]];
        /* A wait that is called in the finding's own operators takes more there: all of a row's
         * waits together may be as long as before. Called by others alone it has the row's sum. */
        bool inside = false;
        for (size_t k = 0; op->wait && k < op->n_callers; k++)
            if (is_mine_by_name(x, op->callers[k].in)) {
                add_cost(&cost, op, &op->callers[k]);
                inside = true;
            }
        if (!inside)
            add_cost(&cost, op,
                     &(struct tg_in_caller){ .self = { op->self[0], op->self[1] },
                                             .least = { op->self_least[0], op->self_least[1] },
                                             .most = { op->self_most[0], op->self_most[1] } });
        /* What its calls of the runtime take more where it is called in another number. */
        if (op->kind != TG_KIND_OP || op->change == TG_SAME)
            continue;
        for (uint32_t k = tg_buckets_first(&x->called, op->name); k != TG_NO_ID;
             k = tg_buckets_next(&x->called, k))
            if (!x->is_mine[x->calls[k].op - c->ops])
                add_cost(&cost, x->calls[k].op, x->calls[k].in);
    }
    /* Of work on a thread that the marker's joins, the gaps there tell once more. */
    size_t names = 0;
    double sum = cost.more[HOST], wall = c->wall_ns[TG_TEST] - c->wall_ns[TG_BASE];
    for (size_t i = 0; i < x->n_mine; i++) {
        const struct tg_op *op = &c->ops[x->mine[i]];
        double gaps = op->kind == TG_KIND_STEP ? op->self[TG_TEST] - op->self[TG_BASE] : 0;
        names += op->kind != TG_KIND_STEP;
        if (gaps > 0 && wall > 0 && sum > TG_AS_LARGE * wall)
            cost.more[HOST] -= fmin(gaps, sum - gaps);
        x->is_mine[x->mine[i]] = false;
    }
    const struct tg_op *op = tg_result_op(c, &x->v->results[head]);
    bool told = op && op->region < c->n_regions && /* "and 5 more instead of aten::gelu" */
                tg_region_names(c, op->region, TG_BASE, NULL, 0);
    if (op && !told && !tg_kind_is_device(op->kind) &&
        fmax(op->total[TG_TEST] - op->total[TG_BASE], op->self[TG_TEST] - op->self[TG_BASE]) <
            TG_HALF * cost.more[HOST])
        cost.others = names - 1;
    bool moves = x->less.call && !is_mine_by_name(x, x->less.of->in);
    choose_said(&cost, c, moves ? -x->less.ns : 0);
    return cost;
}

/* What is called more often in some steps; NULL. */
static const struct tg_op *in_some_steps(const struct tg_comparison *c, const struct tg_result *r)
{
    const struct tg_op *op =
        !r->over_budget && r->unit_id == TG_UNIT_COUNT ? tg_result_op(c, r) : NULL;
    return op && tg_op_in_some_steps(op) ? op : NULL;
}

/* "+239.3 us on the device", "+252 us on host and device", "the host waits 306 us in it" */
static void put_said(struct tg_buf *b, const struct cost *cost)
{
    if (cost->by_waiting) {
        tg_buf_printf(b, "the host waits %s in it", TG_VALUE(cost->said, TG_UNIT_NS));
        return;
    }
    tg_buf_printf(b, "%s on %s", TG_SIGNED(cost->said, TG_UNIT_NS),
                  cost->both      ? "host and device"
                  : cost->on_host ? "the host"
                                  : "the device");
    if (cost->others && cost->on_host)
        tg_buf_printf(b, " with %zu more name%s", cost->others, TG_PLURAL(cost->others));
}

/* By the clock that the step waits for; of some steps the mean of all. */
static void put_cost(struct tg_buf *b, const struct tg_verdict *v, uint32_t head)
{
    const struct tg_comparison *c = v->comparison;
    TG_AUTO(costs_release) struct costs costs = { 0 };
    const struct tg_result *r = &v->results[head];
    const struct tg_region *g = tg_result_region(c, r);
    bool part = g && tg_region_all_calls(g) >= g->calls[TG_BASE] + 0.5;
    if (r->unit_id == TG_UNIT_NS && tg_dec_pct_tells(r->delta_pct) && !part && !r->over_budget)
        tg_buf_printf(b, " (%s)", TG_SIGNED(r->delta, TG_UNIT_NS));
    if (r->unit_id != TG_UNIT_COUNT || r->over_budget || r->subject != TG_SUBJECT_NAME)
        return;
    costs_init(&costs, v);
    struct cost cost = cost_of(&costs, head);
    if (fmax(cost.more[DEVICE], fmax(cost.more[WAITS], cost.more[HOST])) < LEAST)
        return;
    const struct tg_op *op = g ? NULL : tg_result_op(c, r);
    if (op && tg_op_rank_alone(c, op)) /* costs are means over ranks */
        cost.said *= (double)c->n_ranks[TG_TEST];
    if (cost.moved) { /* no more than the waits there lost */
        tg_buf_printf(b, " (%s of waiting moved into it)",
                      TG_VALUE(fmin(cost.more[WAITS], -costs.less.ns), TG_UNIT_NS));
        return;
    }
    if (cost.noise)
        return;
    tg_buf_puts(b, " (");
    put_said(b, &cost);
    tg_buf_puts(b, !g && in_some_steps(c, r) && !cost.by_waiting ? ", per step on average)" : ")");
}

/* A finding about calls has one number, of all that follows it: in its row, in the headline, in
 * tables. */
static void weigh(struct costs *x, struct tg_result *r, struct tg_arena *a)
{
    const struct tg_comparison *c = x->v->comparison;
    const struct tg_op *op = tg_result_op(c, r);
    const struct tg_pace_wait *wait = &x->less;
    bool region = tg_result_region(c, r), waived = r->state == TG_STATE_WAIVED;
    struct cost cost = cost_of(x, (uint32_t)(r - x->v->results));
    TG_BUF weight = { 0 };
    if (r->state >= TG_STATE_WARN || (waived && !region)) {
        /* Waiting that moved costs nothing by itself. */
        r->whole_known = region || (!cost.moved && !cost.noise && cost.said >= LEAST);
        r->whole_on_host = cost.on_host;
        /* What was not there, by no name, had no time: what it calls was called by others. */
        r->whole_ns[TG_BASE] = r->base == 0 && op->partner == TG_NO_ID ? 0 : cost.said_base;
        r->whole_ns[TG_TEST] = r->whole_ns[TG_BASE] + cost.said;
    }
    if (!r->has_values || r->over_budget || region || tg_kind_is_device(r->op_kind))
        return;
    /* ", +144 us on the host, 12.6 % of the step"; nothing of little, or of the name's own time. */
    double share = cost.said / c->wall_ns[TG_TEST], less = -wait->ns;
    bool all = less >= 0.995 * cost.said;
    bool own = cost.on_host && !cost.by_waiting && cost.n_names == 1 && !cost.waits_too;
    if (cost.moved) {
        tg_buf_printf(&weight,
                      ", the host waits %s in it, %s%s moved here from " TG_NAME
                      " (%s -> %s): the host can no longer run ahead of "
                      "the device",
                      TG_VALUE(cost.said, TG_UNIT_NS), all ? "" : TG_VALUE(less, TG_UNIT_NS),
                      all ? "which" : " of it", TG_SV_ARG(wait->in.n ? wait->in : wait->call->name),
                      TG_VALUE(wait->of->self[TG_BASE], TG_UNIT_NS),
                      TG_VALUE(wait->of->self[TG_TEST], TG_UNIT_NS));
    } else if (!(share < 0.0005) && !own && !cost.noise) {
        tg_buf_puts(&weight, ", ");
        put_said(&weight, &cost);
        tg_buf_printf(&weight, ", %s of the step", TG_VALUE(100 * share, TG_UNIT_PERCENT));
    }
    if (weight.n)
        tg_describe_calls(r, op, c, (double[]){ r->base, r->test }, tg_buf_sv(&weight), a);
}

void tg_describe_weights(struct tg_verdict *v, struct tg_arena *a)
{
    TG_AUTO(costs_release) struct costs costs = { 0 };
    const struct tg_comparison *c = v->comparison;
    costs_init(&costs, v);
    uint32_t *whole_of = TG_NEW_N(a, uint32_t, c->n_ops + c->n_regions + 1);
    memset(whole_of, 0xff, (c->n_ops + c->n_regions) * sizeof *whole_of); /* TG_NO_ID */
    v->whole_of = whole_of;
    TG_EACH(struct tg_result, r, v->results, v->n_results) {
        const struct tg_op *op = tg_result_op(c, r);
        if (op && r->unit_id == TG_UNIT_COUNT && r->folded_under == TG_NO_ID && r->delta > 0 &&
            (r->state == TG_STATE_WAIVED || r->state >= TG_STATE_WARN) && !r->one_rank)
            weigh(&costs, r, a);
        if (op && r->whole_known) {
            bool in_region = op->region < c->n_regions;
            uint32_t *at = &whole_of[in_region ? c->n_ops + op->region : (size_t)(op - c->ops)];
            *at = *at == TG_NO_ID ? (uint32_t)(r - v->results) : *at;
        }
    }
}

/* "aten::mul, aten::erf", "aten::mul and 5 more": `first` (NULL: the costliest) before others. */
static bool put_side(struct tg_buf *b, const struct tg_comparison *c, uint32_t region, int side,
                     const struct tg_op *first)
{
    enum { LONGEST = 40 };
    const struct tg_op *op[2] = { NULL, NULL };
    size_t n = tg_region_names(c, region, side, op, 2);
    if (n && first && op[0] != first) {
        op[1] = op[0];
        op[0] = first;
    }
    if (n)
        tg_message_put_name(b, op[0]->name, LONGEST);
    if (n == 2 && op[0]->name.n + op[1]->name.n <= LONGEST)
        tg_buf_printf(b, ", " TG_NAME, TG_SV_ARG(op[1]->name));
    else if (n > 1)
        tg_buf_printf(b, " and %zu more", n - 1);
    return n > 0;
}

static void put_calls(struct tg_buf *b, double delta, const char *unit)
{
    tg_buf_printf(b, "%s %s%s", TG_SIGNED(delta, TG_UNIT_COUNT), unit, fabs(delta) == 1 ? "" : "s");
}

/* "+4 calls", "+18 %", "17 (max: 3)" */
static void put_amount(struct tg_buf *b, const struct tg_comparison *c, const struct tg_result *r,
                       const struct tg_region *g)
{
    const struct tg_op *op = g ? NULL : in_some_steps(c, r), *named = tg_result_op(c, r);
    const struct tg_rank_shift *alone = named && !g ? tg_op_rank_alone(c, named) : NULL;
    bool part = g && tg_region_all_calls(g) >= g->calls[TG_BASE] + 0.5;
    if (op) {
        tg_phrase_some_steps(b, &op->counted, c->n_runs[TG_TEST]);
    } else if (r->unit_id == TG_UNIT_COUNT && alone && !r->over_budget) {
        put_calls(b, alone->count[TG_TEST] - alone->count[TG_BASE], "call");
        tg_buf_printf(b, " on rank %lld alone", (long long)alone->rank);
    } else if (r->unit_id == TG_UNIT_NS && part) { /* the rest is as it was */
        tg_buf_puts(b, TG_SIGNED(r->delta, TG_UNIT_NS));
    } else if (r->over_budget) {
        /* "17, over the limit of 3 (the baseline was, too)" */
        tg_buf_puts(b, TG_VALUE(r->test, r->unit_id));
        if (r->bound) {
            tg_buf_puts(b, ", ");
            tg_phrase_budget(b, r->bound);
            tg_buf_puts(b, r->was_over ? " (the baseline was, too)" : "");
        } else {
            tg_buf_printf(b, " (%.*s)", TG_SV_ARG(r->limit));
        }
    } else if (r->unit_id == TG_UNIT_COUNT && r->subject == TG_SUBJECT_TRACE) {
        tg_buf_puts(b, TG_SIGNED(r->delta, TG_UNIT_COUNT));
    } else if (r->unit_id == TG_UNIT_COUNT) {
        put_calls(b, g ? g->calls[TG_TEST] - g->calls[TG_BASE] : r->delta, "call");
    } else if (r->unit_id == TG_UNIT_PERCENT) {
        tg_buf_puts(b, TG_VALUE(r->test, TG_UNIT_PERCENT));
    } else if (tg_dec_pct_tells(r->delta_pct)) {
        tg_buf_puts(b, TG_PCT(r->delta_pct));
    } else if (isfinite(r->delta)) {
        tg_buf_puts(b, TG_SIGNED(r->delta, r->unit_id));
    }
}

static void put_finding(struct tg_buf *b, const struct tg_result *r, const struct tg_comparison *c)
{
    const struct tg_region *g = tg_result_region(c, r);
    if (r->one_rank) {
        tg_buf_printf(b, "rank %lld alone: ", (long long)c->rank_alone->rank);
        tg_phrase_rank_alone(b, c);
        return;
    }
    TG_BUF went = { 0 };
    uint32_t region = g ? (uint32_t)(g - c->regions) : 0;
    if (g && put_side(&went, c, region, TG_BASE, NULL)) {
        /* "aten::mul and 5 more instead of aten::gelu:" */
        (void)put_side(b, c, region, TG_TEST, tg_result_op(c, r));
        tg_buf_puts(b, " instead of ");
        tg_buf_add(b, tg_buf_sv(&went));
        tg_buf_putc(b, ':');
    } else { /* nothing went, or no replacement: it is found by a name that came */
        /* A long kernel's name begins as most do, so where no report shortens it the operator that
         * launches it says more: "a kernel of aten::nonzero", " [rank 2]" after it as after the
         * name. */
        enum { LONGEST = 60 };
        tg_sv rank = r->op_normalised;
        const struct tg_op *op =
            rank.n > LONGEST && tg_sv_skip(&rank, r->plain) ? tg_result_op(c, r) : NULL;
        const struct tg_op *by =
            op && op->kind == TG_KIND_KERNEL ? tg_op_named(c, op->parent) : NULL;
        if (by)
            tg_buf_printf(b, TG_NAMED("%.*s" TG_SAID "a kernel of %.*s%.*s"),
                          TG_SV_ARG(r->op_normalised), TG_SV_ARG(by->name), TG_SV_ARG(rank));
        else
            tg_result_put_name(b, r, LONGEST);
        if (r->unit_id == TG_UNIT_NS && r->ev && r->ev->pooled)
            tg_buf_printf(b, " and %zu more", r->ev->pooled - 1);
        g = NULL;
    }
    if (!r->has_values) {
        tg_sv shown = tg_message_prefix(r->attrs, 40);
        tg_buf_printf(b, "%s%.*s%s", shown.n ? " " : "", TG_SV_ARG(shown),
                      shown.n < r->attrs.n ? "…" : "");
        return;
    }
    if (tg_result_is_of_slowest(r)) {
        tg_buf_printf(b, ": %s %s, was %s", r->ev->some_steps ? "slowest step" : "in most runs",
                      TG_VALUE(r->ev->slowest[TG_TEST], TG_UNIT_NS),
                      TG_VALUE(r->ev->slowest[TG_BASE], TG_UNIT_NS));
        return;
    }
    tg_buf_puts(b, !g && in_some_steps(c, r) ? ": " : " ");
    tg_buf_puts(b, r->of_fastest ? "in the fastest steps " : "");
    put_amount(b, c, r, g);
}

/* A note has a sentence of its own. */
static bool is_finding(const struct tg_result *r, enum tg_state state)
{
    return r->state == state && r->folded_under == TG_NO_ID && r->subject != TG_SUBJECT_NOTE;
}

static size_t unfolded(const struct tg_verdict *v, enum tg_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_results; i++)
        n += is_finding(&v->results[i], state);
    return n;
}

/* The step as a whole: reports have it after what is in it. */
static bool is_whole(const struct tg_result *r)
{
    return !r->over_budget && (r->subject == TG_SUBJECT_TRACE || r->subject == TG_SUBJECT_STEP);
}

/* The step's time, or that of its part on the device, which says the same. */
static bool is_of_time(const struct tg_result *r)
{
    return !r->over_budget && r->has_values &&
           (tg_result_is_busy(r) ||
            (tg_result_is_step_time(r) && r->metric != tg_rule_metric_of(TG_METRIC_HOST_TIME)));
}

/* Names come first; the step as a whole does where they hold little of what it takes longer, and
 * the program is blamed for it. `names`: what they add at most. */
enum { LARGE_WHOLE, NAME, WHOLE, TURNS };
static size_t turn_of(const struct tg_result *r, double names)
{
    bool large = r->unit_id == TG_UNIT_NS && r->delta > TG_TWICE * names;
    return !is_whole(r) ? NAME : large && !tg_result_is_of_machine(r) ? LARGE_WHOLE : WHOLE;
}

static void put_names(struct tg_buf *b, const struct tg_verdict *v, enum tg_state state)
{
    const struct tg_comparison *c = v->comparison;
    size_t shown = 0, total = unfolded(v, state);
    double names = 0; /* of which only times are found; INFINITY: another finding tells where */
    TG_EACH(const struct tg_result, r, v->results, v->n_results)
        if (is_finding(r, state) && !is_whole(r))
            names = fmax(names, r->unit_id == TG_UNIT_NS && !r->over_budget ? r->delta : INFINITY);
    for (size_t k = 0; k < TURNS * v->n_results && shown < 3; k++) {
        size_t i = k % v->n_results;
        const struct tg_result *r = &v->results[i];
        size_t turn = turn_of(r, names);
        if (!is_finding(r, state) || turn != k / v->n_results)
            continue;
        tg_buf_puts(b, shown++ ? ", " : ": ");
        put_finding(b, r, c);
        if (shown == 1 && (total == 1 || turn != WHOLE) && r->has_values && !r->one_rank &&
            !tg_result_is_of_slowest(r))
            put_cost(b, v, (uint32_t)i);
        struct tg_pace_wait wait = { 0 };
        if (total == 1 && is_of_time(r)) /* of a step that is longer by a wait */
            wait = tg_pace_wait_behind(c, r->delta);
        if (wait.call)
            tg_buf_printf(b, ": the host waits longer in %.*s",
                          TG_SV_ARG(wait.in.n ? wait.in : wait.call->name));
        if (r->state == TG_STATE_WARN && is_of_time(r) && tg_result_is_of_machine(r))
            tg_buf_puts(b,
                        ", which may be the machine"); /* the account does not blame the program */
        /* " in Block.forward"; a budget is of the whole step, and only its rise has a place,
         * unless it was over before */
        const struct tg_cause *at = total == 1 && r->has_values && !r->was_over ? r->cause : NULL;
        if (at && at->function && !at->waits && at->share >= TG_CAUSE_ENOUGH)
            tg_buf_printf(b, "%s in " TG_NAME, r->over_budget ? ", the rise is" : "",
                          TG_SV_ARG(at->function->text));
    }
    if (total > shown)
        tg_buf_printf(b, " and %zu more", total - shown);
}

/* "; faster: step -18.7 % (-2.54 ms)", where the runs prove it: as measured, which every report
 * shows. */
static void put_faster(struct tg_buf *b, const struct tg_comparison *c)
{
    const struct tg_metric_change *step = &tg_confirm_last(c)->metrics[TG_METRIC_STEP_TIME];
    if (!step->ev.less || step->value[TG_TEST] > (1 - TG_NOTABLE) * step->value[TG_BASE])
        return;
    tg_buf_printf(b, "; faster: step %s (%s)",
                  TG_PCT(100 * (step->value[TG_TEST] / step->value[TG_BASE] - 1)),
                  TG_SIGNED(step->value[TG_TEST] - step->value[TG_BASE], TG_UNIT_NS));
}

/* Runs a side that would judge a duration, at least: a rule may ask for a number of its own. 0:
 * nothing wants runs. */
static int64_t runs_wanted(const struct tg_verdict *v)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].needs_runs && v->results[i].needs_runs < least)
            least = v->results[i].needs_runs;
    return least < INT64_MAX ? least : 0;
}

/* The smallest slowdown that would be found in each of the LARGEST operators by self time; 0:
 * none is judged. */
static double detectable_in_ops(const struct tg_comparison *c)
{
    double above = INFINITY, from = 0;
    for (size_t n = 0; n < LARGEST; n++) {
        const struct tg_op *largest = NULL;
        TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
            if (op->ev.why_not == TG_JUDGED && op->kind != TG_KIND_STEP &&
                op->ev.value[TG_BASE] < above &&
                (!largest || op->ev.value[TG_BASE] > largest->ev.value[TG_BASE]))
                largest = op;
        above = largest ? largest->ev.value[TG_BASE] : 0;
        from = largest ? fmax(from, largest->ev.mde) : from;
    }
    return from;
}

/* "; durations not judged: record 3 runs a side", "; a slower step is detectable from +54 % on
 * only: …": what a pass could not have found, and what to do. The step counts, where a rule asks
 * for it; else its largest operators. A quarter is what a reader expects any gate to see. */
static void put_blind(struct tg_buf *b, const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    int64_t need = runs_wanted(v);
    bool by_step = false;
    if (!v->durations_judged && need) {
        tg_buf_printf(b, "; durations not judged: record %lld runs a side", (long long)need);
        return;
    }
    const struct tg_evidence *step = &c->metrics[TG_METRIC_STEP_TIME].ev;
    TG_EACH(const struct tg_result, r, v->results, v->n_results) /* does a rule ask for it? */
        by_step |= r->subject == TG_SUBJECT_TRACE && !r->switched_off &&
                   r->metric == TG_RULE_METRIC_STEP_TIME && step->why_not == TG_JUDGED;
    double from = by_step ? step->mde : detectable_in_ops(c);
    if (v->durations_judged && c->warming != 0)
        tg_buf_printf(b, "; device times not judged: %s", tg_judged_text(TG_NOT_WARM));
    if (!v->durations_judged || from < TG_QUARTER)
        return;
    tg_buf_printf(b, "; %s detectable from %s on only: record more runs, on an idle machine",
                  by_step ? "a slower step is" : "slower operators are", TG_PCT(100 * from));
}

void tg_describe_headline(struct tg_verdict *v, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    size_t fails = unfolded(v, TG_STATE_FAIL), warns = unfolded(v, TG_STATE_WARN);
    size_t suspicious = unfolded(v, TG_STATE_SUSPICIOUS);
    switch (v->outcome) {
    case TG_OUTCOME_FAIL:
        tg_buf_printf(&b, "%zu %s", fails, fails == 1 ? "violation" : "violations");
        put_names(&b, v, TG_STATE_FAIL);
        break;
    case TG_OUTCOME_WARN:
        tg_buf_puts(&b, "nothing failed");
        if (warns) {
            tg_buf_printf(&b, ", %zu %s", warns, warns == 1 ? "warning" : "warnings");
            put_names(&b, v, TG_STATE_WARN);
        }
        if (suspicious) {
            tg_buf_printf(&b, "%s%zu suspicious", warns ? "; " : ", ", suspicious);
            put_names(&b, v, TG_STATE_SUSPICIOUS);
        }
        put_faster(&b, v->comparison);
        break;
    case TG_OUTCOME_INCONCLUSIVE:
    case TG_OUTCOME_ERROR:
        tg_buf_add(&b, v->error);
        break;
    case TG_OUTCOME_PASS:
        tg_buf_puts(&b, v->n_state[TG_STATE_WAIVED] ? "no regression beyond what is waived"
                                                    : "no regression found");
        put_faster(&b, v->comparison);
        put_blind(&b, v);
        break;
    }
    v->said = tg_phrase_take(&b, a);
    tg_verdict_title(v, a);
}

/* "; detectable from +9 % (step time), +30 % (largest operators)", and which times are not
 * judged. */
static void put_durations(struct tg_buf *b, const struct tg_comparison *c)
{
    const struct tg_evidence *step = &c->metrics[TG_METRIC_STEP_TIME].ev;
    double from = detectable_in_ops(c), largest = 0;
    bool by_step = step->why_not == TG_JUDGED;
    enum tg_judged why[2] = { TG_JUDGED, TG_JUDGED }; /* of the host, of the device */
    size_t varying = 0;                               /* of small ones nothing is said */
    tg_buf_printf(b, "; durations judged: %zu baseline run%s, %zu fresh run%s", c->n_runs[TG_BASE],
                  TG_PLURAL(c->n_runs[TG_BASE]), c->n_runs[TG_TEST], TG_PLURAL(c->n_runs[TG_TEST]));
    if (by_step)
        tg_buf_printf(b, "; detectable from %s (step time)", TG_PCT(100 * step->mde));
    if (from > 0)
        tg_buf_printf(b, "%s%s (largest operators)", by_step ? ", " : "; detectable from ",
                      TG_PCT(100 * from));
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        double share = fmax(op->share[TG_BASE], op->share[TG_TEST]);
        /* Of new runs, if there are any: a machine may have settled. */
        if ((op->ev.why_not == TG_NOT_BUSY && c->busy) ||
            (op->ev.why_not == TG_NOT_WARM && c->warming != 0))
            why[tg_kind_is_device(op->kind)] = op->ev.why_not;
        if (op->ev.why_not == TG_NOT_COUNT_VARIES && share >= SHARE) {
            largest = fmax(largest, share);
            varying++;
        }
    }
    for (int device = 0; device < 2; device++)
        if (why[device] && (!device || why[0] != why[1]))
            tg_buf_printf(b, "; %s times not judged: %s",
                          device             ? "device"
                          : why[0] == why[1] ? "host and device"
                                             : "host",
                          tg_judged_text(why[device]));
    if (varying)
        tg_buf_printf(b,
                      "; not judged: %zu operator%s whose calls vary, the largest %s of the step",
                      varying, TG_PLURAL(varying), TG_VALUE(100 * largest, TG_UNIT_PERCENT));
}

/* "; numbers judged: 3 of 4; not compared: input_shapes of 12 names, launch_config of 1 name" */
static void put_others(struct tg_buf *b, const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    size_t n = 0, judged = 0, untold[TG_RULE_METRICS] = { 0 };
    const char *before = "; not compared: ";
    TG_EACH(const struct tg_result, r, v->results, v->n_results) {
        bool attr = !tg_result_is_guard(r) && tg_rule_metric_info(r->metric)->unit == TG_UNIT_ATTR;
        const struct tg_op *op =
            attr && r->state == TG_STATE_NOT_JUDGED ? tg_result_op(c, r) : NULL;
        n += r->subject == TG_SUBJECT_NUMBER;
        judged += r->subject == TG_SUBJECT_NUMBER && r->grounds != TG_GROUNDS_NONE;
        untold[r->metric] +=
            op && op->change == TG_SAME && tg_same_device(c); /* both sides have it */
    }
    if (n && judged == n)
        tg_buf_puts(b, "; numbers judged");
    else if (n)
        tg_buf_printf(b, "; numbers judged: %zu of %zu", judged, n);
    for (enum tg_rule_metric m = 0; m < TG_RULE_METRICS; m++)
        if (untold[m]) {
            tg_buf_printf(b, "%s%s of %zu name%s", before, tg_rule_metric_info(m)->name, untold[m],
                          TG_PLURAL(untold[m]));
            before = ", ";
        }
}

void tg_describe_verdict(struct tg_verdict *v, struct tg_arena *a)
{
    const struct tg_comparison *c = v->comparison;
    struct tg_buf b = { 0 };
    tg_describe_weights(v, a);
    TG_EACH(struct tg_result, r, v->results, v->n_results) {
        struct tg_pace_wait wait = { 0 };
        if (r->state >= TG_STATE_WARN && r->folded_under == TG_NO_ID && is_of_time(r))
            wait = tg_pace_wait_behind(c, r->delta);
        if (wait.call)
            r->message = TG_SV_PRINTF(
                a,
                "%.*s; the host waits %s longer in %.*s (%.*s), and not because the device has "
                "more to do: host work that overlapped the device comes after the wait now",
                TG_SV_ARG(r->message), TG_VALUE(wait.ns, TG_UNIT_NS),
                TG_SV_ARG(wait.in.n ? wait.in : TG_SV("the step")), TG_SV_ARG(wait.call->name));
    }
    tg_describe_headline(v, a);
    if (v->budgets_judged && !v->counts_judged) /* what a failure may be about comes first */
        tg_buf_puts(&b, "budgets judged; ");
    tg_buf_puts(&b, v->counts_judged    ? "counts judged"
                    : v->budgets_judged ? "counts by name not judged"
                                        : "counts not judged");
    if (v->counts_judged && !tg_same_device(c))
        tg_buf_puts(&b, ", but not of kernels");
    if (!v->counts_judged && !v->counts_asked)
        tg_buf_puts(&b, ": no rule asks for them");
    size_t need = (size_t)(runs_wanted(v) ? runs_wanted(v) : v->min_runs);
    tg_buf_puts(&b, v->durations_judged ? "" : "; durations not judged");
    if (v->durations_judged)
        put_durations(&b, c);
    else if (!c->marked[TG_BASE] || !c->marked[TG_TEST])
        tg_buf_puts(&b, ": no step markers");
    else if (!tg_same_device(c))
        tg_buf_printf(&b, ": the sides differ in %.*s", TG_SV_ARG(c->differs));
    else if (!c->same_flags)
        tg_buf_puts(&b, ": other profiler flags");
    else if (c->other_data)
        tg_buf_puts(&b, ": the fresh runs had other data");
    else if (c->busy)
        tg_buf_puts(&b, ": the machine was busy during the fresh runs");
    else if (c->warming != 0)
        tg_buf_printf(&b, ": %s", tg_judged_text(TG_NOT_WARM));
    else if (c->n_runs[TG_BASE] < need || c->n_runs[TG_TEST] < need)
        tg_buf_printf(&b, ": %zu baseline run%s and %zu fresh, at least %zu a side are needed",
                      c->n_runs[TG_BASE], TG_PLURAL(c->n_runs[TG_BASE]), c->n_runs[TG_TEST], need);
    if (v->budgets_judged && v->counts_judged)
        tg_buf_puts(&b, "; budgets judged");
    put_others(&b, v);
    v->coverage = tg_phrase_take(&b, a);
}
