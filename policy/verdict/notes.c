/* What is said of the sides beside the rows, in the order of reports. */
#include <math.h>

#include "core/base/decimal.h"
#include "core/diff/confirm.h"
#include "core/diff/names.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/pace.h"

#define NAMED 3 /* names in a list */

/* What a note weighs a name by; 0: it is not about it. And how reports say it. */
typedef double weigh(const struct tg_comparison *c, const struct tg_op *op);
typedef void put(struct tg_buf *b, const struct tg_comparison *c, const struct tg_op *op);

/* "fancy +100, other +3 and 2 more": the names of these kinds that weigh most; how many have any
 * weight. */
static size_t put_most(struct tg_buf *b, const struct tg_comparison *c, uint32_t kinds, weigh *of,
                       put *tell)
{
    const struct tg_op *last = NULL, *next = NULL;
    struct tg_message_list list = { .most = NAMED };
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        n += kinds & 1u << c->ops[i].kind && of(c, &c->ops[i]) > 0;
    for (; list.n < n && tg_message_list_next(&list, b); last = next) {
        double most = 0;
        TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
            double w = kinds & 1u << op->kind ? of(c, op) : 0;
            if (w > most && (!last || w < of(c, last) || (w == of(c, last) && op > last))) {
                most = w;
                next = op;
            }
        }
        tell(b, c, next);
    }
    list.n = n;
    (void)tg_message_list_end(&list, b);
    return n;
}

static const struct tg_env_change *other_cpu(const struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_env; i++)
        if (tg_sv_eq(c->env[i].key, TG_SV("cpu")) && c->env[i].value[0].n && c->env[i].value[1].n)
            return &c->env[i];
    return NULL;
}

/* A slower machine and a slowdown of everything look alike; a program that does the same as before
 * makes the machine the likelier one. Comes first, before anybody looks for a cause in the code. */
static void tell_machine(struct tg_eval_state *e)
{
    static const char *const whose[] = { [TG_DRIFT_OF_ALL] = "whole machine",
                                         [TG_DRIFT_OF_HOST] = "host",
                                         [TG_DRIFT_OF_DEVICE] = "device" };
    const struct tg_comparison *c = tg_confirm_last(e->in->comparison);
    const struct tg_env_change *cpu = other_cpu(c);
    bool same = true, slower = c->drifted && c->drift > 0;
    TG_BUF b = { 0 };
    for (size_t i = 0; i < c->n_ops; i++)
        same &= c->ops[i].change == TG_SAME;
    if ((c->busy && e->in->comparison == c) || c->gradients)
        return; /* which is said */
    if (c->drifted && !c->rank_alone)
        tg_buf_printf(&b, "%sthe %s is %s %s than for the baseline%s",
                      !same || !slower ? ""
                      : c->same_flags  ? "may be the machine: "
                                       : "may be the profiler, whose flags differ: ",
                      whose[c->drift_of], TG_VALUE(100 * fabs(expm1(c->drift)), TG_UNIT_PERCENT),
                      slower ? "slower" : "faster", same ? ", and no count changed" : "");
    else if (cpu) /* of one rank alone the others are as before: the advice is its machine */
        tg_buf_puts(&b, "may be the machine: the processors differ");
    else
        return;
    if (cpu)
        tg_buf_printf(&b, "; recorded on %.*s, the baseline on %.*s",
                      TG_SV_ARG(cpu->value[TG_TEST]), TG_SV_ARG(cpu->value[TG_BASE]));
    tg_eval_note(e, slower ? TG_REASON_MACHINE : TG_REASON_NONE, tg_buf_sv(&b),
                 !c->same_flags ? "Record both sides with the same options of the profiler."
                 : !e->in->comparison->in_turn && c->drifted && c->drift < 0
                     ? "It may hide a slowdown of everything: compare on one machine with "
                       "`tracegate ab`, or mode ab of the action."
                     : TG_NEXT_MACHINE(e));
}

/* "2/1" of "Torch-Compiled Region: 2/1", frame and recompilation; not the first compilation. */
static void find_recompilations(const struct tg_side *side, struct tg_strmap *out)
{
    const struct tg_shard *s;
    tg_strmap_init(out);
    for (size_t k = 0; (s = tg_side_shard(side, k)); k++)
        for (size_t i = 0; i < s->n_rows; i++) {
            tg_sv name = s->rows[i].key->name;
            if (!tg_sv_skip(&name, TG_SV("Torch-Compiled Region: ")))
                continue;
            tg_sv rest = name, frame = tg_sv_cut(&rest, '/');
            if (frame.n && rest.n && !tg_sv_eq(rest, TG_SV("0")))
                (void)tg_strmap_add(out, name);
        }
}

/* One line, whatever they did to the counts of the steps they fell into. */
static void tell_recompilations(struct tg_eval_state *e, const struct tg_comparison *c)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap base, fresh;
    TG_BUF names = { 0 };
    size_t n = 0;
    find_recompilations(&c->side[TG_BASE], &base);
    find_recompilations(&c->side[TG_TEST], &fresh);
    for (size_t i = 0; i < fresh.n; i++)
        if (tg_strmap_find(&base, fresh.text[i]) == TG_NO_ID && n++ < 5)
            tg_buf_printf(&names, "%s%.*s", names.n ? ", " : "", TG_SV_ARG(fresh.text[i]));
    if (n)
        TG_NOTE(e, TG_REASON_NONE,
                "TORCH_LOGS=recompiles says why. Warm up longer if it is only the first steps.",
                "torch.compile compiled %zu region%s again that the baseline did not: %s%s", n,
                TG_PLURAL(n), names.p, n > 5 ? ", …" : "");
}

/* "rank 5 is not in every fresh run: not compared; 7 ranks are" */
static void tell_ranks(struct tg_eval_state *e, const struct tg_comparison *c)
{
    size_t expected = e->in->suite ? (size_t)e->in->suite->ranks_expect : 0;
    size_t compared = c->given[TG_TEST].n_ranks;
    if (c->n_ranks[TG_BASE] == 1 && c->n_ranks[TG_TEST] == 1 && c->n_lacking[TG_BASE] &&
        c->side[TG_BASE].ranks[0] != c->side[TG_TEST].ranks[0]) { /* compared all the same */
        TG_NOTE(e, TG_REASON_RANK,
                "Ranks of one program may differ: record the same one on both sides.",
                "rank %lld is compared with rank %lld of the baseline",
                (long long)c->side[TG_TEST].ranks[0], (long long)c->side[TG_BASE].ranks[0]);
        return;
    }
    for (int side = 0; side < 2; side++) {
        TG_BUF b = { 0 };
        if (!c->n_lacking[side] || (expected && c->n_brought[side] != expected))
            continue; /* the guard of `ranks: {expect: N}` tells the latter */
        tg_ranks_put(&b, c->lacking[side], c->n_lacking[side]);
        TG_NOTE(e, TG_REASON_RANKS,
                expected ? "Record every rank on both sides."
                         : "Record every rank on both sides. `ranks: {expect: N}` in the "
                           "suite makes a missing rank inconclusive.",
                "%s %s not in every %s run: not compared; %zu rank%s", b.p,
                c->n_lacking[side] == 1 ? "is" : "are", TG_SIDE_NAME(side), compared,
                compared == 1 ? " is" : "s are");
    }
}

/* "ranks 8-15 (node n1) are late: the others wait for them up to 2.1 ms a step, most in
 * ncclAllReduce, from step 3 on; meanwhile 2.0 ms a step more in aten::copy_ (host)" */
static void tell_straggler(struct tg_eval_state *e, const struct tg_straggler *s)
{
    TG_BUF b = { 0 };
    if (!s)
        return;
    tg_ranks_put(&b, s->ranks, s->n_ranks);
    if (s->node.n)
        tg_buf_printf(&b, " (node %.*s)", TG_SV_ARG(s->node));
    tg_buf_printf(&b, " %s late: the other ranks wait up to %s a step for %s, most in " TG_NAME,
                  s->n_ranks == 1 ? "is" : "are", TG_VALUE(s->wait_ns, TG_UNIT_NS),
                  s->n_ranks == 1 ? "it" : "them", TG_SV_ARG(s->collective));
    if (s->n_late && s->n_late < s->n_steps && s->since >= 0)
        tg_buf_printf(&b, ", from step %lld on", (long long)s->since);
    if (s->op)
        tg_buf_printf(&b, "; meanwhile %s a step more than the others in " TG_NAME " (%s)",
                      TG_VALUE(s->more_ns, TG_UNIT_NS), TG_SV_ARG(s->op->name),
                      tg_kind_is_device(s->op->kind) ? "device" : "host");
    tg_eval_note(e, TG_REASON_NOTE, tg_buf_sv(&b),
                 s->op ? "Is it the program on this rank, its data, or its machine?"
                       : "No operator or kernel of it takes longer: look at its machine, and at "
                         "the time between operators.");
}

/* ---- work that no rule is about ---- */

static void put_outside(struct tg_buf *b, const struct tg_comparison *c, const struct tg_op *op)
{
    tg_buf_printf(b, TG_NAME " %s -> %s", TG_SV_ARG(op->name),
                  TG_VALUE(tg_outside_calls(c, op, TG_BASE), TG_UNIT_COUNT),
                  TG_VALUE(tg_outside_calls(c, op, TG_TEST), TG_UNIT_COUNT));
}

/* Is there a rule about names that matches one of this kind? */
static bool is_judged(const struct tg_eval_state *e, const struct tg_comparison *c,
                      enum tg_kind kind)
{
    const struct tg_policy *p = e->in->policy;
    TG_EACH(const struct tg_rule, rule, p->rules, p->n_rules) {
        bool asks = tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NAME &&
                    tg_select_rule(e, &rule->when);
        for (size_t i = 0; asks && i < c->n_ops; i++)
            if (c->ops[i].kind == kind && c->ops[i].present[TG_TEST] &&
                tg_select_op(&rule->match, &c->ops[i]) != TG_HIT_NO)
                return true;
    }
    return false;
}

static double more_calls(const struct tg_comparison *c, const struct tg_op *op)
{
    (void)c;
    return tg_op_rose(op) ? tg_op_rise(op) : 0;
}

static void put_more(struct tg_buf *b, const struct tg_comparison *c, const struct tg_op *op)
{
    tg_buf_printf(b, TG_NAME " %s", TG_SV_ARG(op->name),
                  TG_SIGNED(more_calls(c, op), TG_UNIT_COUNT));
}

static bool is_launch_call(const struct tg_op *op)
{
    static const char *const words[] = { "Launch", "Memcpy", "Memset" };
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= tg_sv_has(op->name, tg_sv_of(words[i]));
    return op->kind == TG_KIND_RUNTIME && found;
}

/* What calls launch is judged by its work on the device; calls without any must not be green. */
static void tell_idle_launches(struct tg_eval_state *e, const struct tg_comparison *c)
{
    double calls = 0, work = 0;
    for (size_t i = 0; tg_same_device(c) && i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        double more = op->change == TG_SAME ? 0 : tg_op_rise(op);
        calls += is_launch_call(op) ? more : 0;
        work += tg_kind_is_device(op->kind) ? more : 0;
    }
    if (calls < 1 || calls <= fmax(work, 0) + 0.5)
        return;
    TG_NOTE(e, TG_REASON_LAUNCHES,
            "Kernels, copies and memory sets. Were their events lost, or do more calls now launch "
            "the same work?",
            "%s more launching calls a step, but %s more of what they launch",
            TG_VALUE(calls, TG_UNIT_COUNT), work > 0 ? TG_VALUE(work, TG_UNIT_COUNT) : "none");
}

/* Rows that no rule can be about, or none is: events whose category nobody knows, in any number;
 * those that only describe what runs, where they are many, for writing them takes time as well. */
static void tell_more_rows(struct tg_eval_state *e, const struct tg_comparison *c)
{
    static const enum tg_kind kinds[] = { TG_KIND_OTHER, TG_KIND_ANNOTATION, TG_KIND_OVERHEAD };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool unknown = kinds[k] == TG_KIND_OTHER;
        TG_BUF b = { 0 };
        double more = 0, all = 0;
        for (size_t i = 0; i < c->n_ops; i++) {
            more += c->ops[i].kind == kinds[k] ? more_calls(c, &c->ops[i]) : 0;
            all += c->ops[i].count[TG_BASE];
        }
        if (more <= (unknown ? 0 : fmax(TG_MUCH * all, 10)) || is_judged(e, c, kinds[k]))
            continue;
        put_most(&b, c, 1u << kinds[k], more_calls, put_more);
        TG_NOTE(e, TG_REASON_UNKNOWN_WORK,
                unknown ? "A step. No rule judges them: docs/metrics.md does not list their `cat`."
                        : "A step. No rule judges them, and recording them takes time as well.",
                "more %s: %s", tg_phrase_kind(kinds[k]), b.p);
    }
}

/*
 * Python functions, the device's copies of annotations, flows, counters: no rule sees them. If
 * there are as many more as the baseline has events, by the step and by the trace, neither fewer
 * steps nor a longer start explains them.
 */
static void tell_more_events(struct tg_eval_state *e, const struct tg_comparison *c)
{
    double rest[2], all[2] = { 0 }, traces[2]; /* rest: those that are not rows of a name */
    for (int side = 0; side < 2; side++) {
        const struct tg_shard *s;
        for (size_t i = 0; (s = tg_side_shard(&c->side[side], i)); i++)
            all[side] += (double)s->events;
        rest[side] = all[side];
        for (size_t i = 0; i < c->n_ops; i++)
            if (c->ops[i].kind != TG_KIND_DEVICE_ANNOTATION)
                rest[side] -= (double)c->ops[i].whole_count[side];
        traces[side] = (double)(c->side[side].n_runs * c->side[side].n_ranks);
        if (all[side] <= 0 || !c->n_units[side])
            return;
    }
    double by_trace = traces[TG_TEST] / traces[TG_BASE];
    double by_step = (double)c->n_units[TG_TEST] / (double)c->n_units[TG_BASE];
    if (rest[TG_TEST] - rest[TG_BASE] * by_trace < all[TG_BASE] * by_trace ||
        rest[TG_TEST] - rest[TG_BASE] * by_step < all[TG_BASE] * by_step)
        return;
    TG_NOTE(e, TG_REASON_EVENTS,
            "Python functions, flows, counters. Record both sides with the same settings of "
            "the profiler; recording them takes time as well.",
            "the fresh traces have %.2g times as many events a step as the "
            "baseline's, most of them of kinds that no rule sees",
            all[TG_TEST] / all[TG_BASE] / by_step);
}

/* "no rule checks the kernels (20 names, 93.1 % of the step on the device), annotations (2 …" */
static void tell_unjudged_kinds(struct tg_eval_state *e, const struct tg_comparison *c)
{
    /* Kinds of which people expect that a policy looks at them. */
    static const enum tg_kind expected[] = { TG_KIND_KERNEL,  TG_KIND_MEMCPY,    TG_KIND_MEMSET,
                                             TG_KIND_GRAPH,   TG_KIND_OP,        TG_KIND_SYNC,
                                             TG_KIND_RUNTIME, TG_KIND_ANNOTATION };
    TG_BUF b = { 0 };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        double share = 0;
        size_t n = 0;
        TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
            if (op->kind != expected[k] || op->count[TG_TEST] <= 0 || is_launch_call(op))
                continue;
            share += op->share[TG_TEST];
            n++;
        }
        /* Annotations enclose operators, which are judged; their own time is in the account. */
        bool matters = expected[k] != TG_KIND_ANNOTATION ||
                       (share >= TG_RESTLESS && !e->in->policy->require.account);
        if (n && matters && !is_judged(e, c, expected[k]))
            tg_buf_printf(&b, "%s%s (%zu name%s, %s of the step%s)",
                          b.n ? ", " : "no rule checks the ", tg_phrase_kind(expected[k]), n,
                          TG_PLURAL(n), TG_VALUE(100 * fmin(share, 1), TG_UNIT_PERCENT),
                          tg_kind_is_device(expected[k]) ? " on the device" : "");
    }
    tg_sv against = e->in->policy->baseline.name;
    if (b.n && against.n)
        tg_eval_note(e, TG_REASON_NONE, tg_buf_sv(&b),
                     tg_arena_printf(e->arena,
                                     "Rules with `against: [baseline, %.*s]` check them here, too.",
                                     TG_SV_ARG(against)));
    else if (b.n)
        tg_eval_note(e, TG_REASON_NONE, tg_buf_sv(&b),
                     "`extends: [tracegate:recommended]` in the policy checks them.");
}

/* "as many calls as before, but on other ranks: 'kern3' 1 -> 7 on rank 1; 2 more names": ranks
 * changed places, or one does what another did, which the mean over ranks does not show. Bytes of
 * calls that are on other ranks count as calls. */
static void tell_shifted(struct tg_eval_state *e, const struct tg_comparison *c, enum tg_unit unit)
{
    const struct tg_rank_shift *most = NULL;
    TG_BUF b = { 0 };
    tg_sv name = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops && c->marked[TG_BASE] && c->marked[TG_TEST]; i++) {
        const struct tg_op *op = &c->ops[i];
        bool same_bytes = !op->shift && op->bytes[TG_BASE] == op->bytes[TG_TEST];
        const struct tg_rank_shift *shift = unit == TG_UNIT_COUNT ? op->shift
                                            : same_bytes          ? op->bytes_shift
                                                                  : NULL;
        if (!shift || op->change != TG_SAME || !tg_kind_is_counted(op->kind) || op->polling)
            continue;
        n++;
        if (most && shift->count[TG_TEST] - shift->count[TG_BASE] <=
                        most->count[TG_TEST] - most->count[TG_BASE])
            continue;
        most = shift;
        name = op->name;
    }
    if (!n)
        return;
    tg_buf_printf(&b,
                  "as many %s as before, but on other ranks: '" TG_NAME "' %s -> %s on rank %lld",
                  unit == TG_UNIT_COUNT ? "calls" : "bytes", TG_SV_ARG(name),
                  TG_VALUE(most->count[TG_BASE], unit), TG_VALUE(most->count[TG_TEST], unit),
                  (long long)most->rank);
    if (most->n > 1)
        tg_buf_printf(&b, " (and more on %zu other%s)", most->n - 1, TG_PLURAL(most->n - 1));
    if (n > 1)
        tg_buf_printf(&b, "; %zu more name%s", n - 1, TG_PLURAL(n - 1));
    tg_eval_note(e, TG_REASON_RANKS, tg_buf_sv(&b),
                 "A step takes as long as its slowest rank. Counts and bytes are means over ranks; "
                 "a rule with `rank: each` judges every rank by itself.");
}

/* ---- how the sides were recorded ---- */

/* No ProfilerStep; and what would do as steps: 'window: {by: annotation, name: "execute_*"} (or
 * "step *"); …' */
static void tell_unmarked(struct tg_eval_state *e, const struct tg_comparison *c)
{
    TG_BUF b = { 0 }, next = { 0 };
    if (c->marked[TG_BASE] && c->marked[TG_TEST])
        return;
    tg_buf_puts(&b, "no ProfilerStep markers: the whole trace counts as one step");
    if (c->iteration_ratio != 1)
        tg_buf_printf(&b, ", counts are divided by the common ratio %.4g", c->iteration_ratio);
    for (size_t i = 0; i < c->n_hints && i < 3; i++)
        tg_buf_printf(&next, i ? "%s\"%.*s\"" : "%s\"%.*s\"}",
                      i == 0   ? "window: {by: annotation, name: "
                      : i == 1 ? " (or "
                               : ", ",
                      TG_SV_ARG(c->hints[i].name));
    tg_buf_puts(&next, c->n_hints > 1 ? ")" : "");
    tg_buf_puts(&next, c->n_hints ? "; or" : "Call prof.step() once an iteration; or say");
    tg_buf_puts(&next, " window: {by: trace}, if each trace is one step.");
    tg_eval_note(e, TG_REASON_NONE, tg_buf_sv(&b), next.p);
}

/* Calls per step that a name lost; 0: none, or they cost nothing, or others do the same. */
static double calls_gone(const struct tg_comparison *c, const struct tg_op *op)
{
    bool fewer = op->change == TG_FEWER || op->change == TG_REMOVED;
    bool replaced = op->region < c->n_regions && tg_op_side_of_region(op) == TG_BASE &&
                    tg_region_names(c, op->region, TG_TEST, NULL, 0);
    if (!fewer || replaced || !tg_kind_is_counted(op->kind) || op->polling || op->choice ||
        op->view || op->slight != TG_SLIGHT_NOT || op->relation == TG_REL_RENAMED ||
        (op->kind == TG_KIND_OP && tg_name_is_node(op->name)))
        return 0;
    return -tg_op_rise(op);
}

/* By the time that went with them. */
static double weigh_gone(const struct tg_comparison *c, const struct tg_op *op)
{
    return calls_gone(c, op) > 0 ? 1 + fmax(op->self[TG_BASE] - op->self[TG_TEST], 0) : 0;
}

static void put_gone(struct tg_buf *b, const struct tg_comparison *c, const struct tg_op *op)
{
    double calls = calls_gone(c, op);
    tg_message_put_name(b, op->name, 60);
    tg_buf_printf(b, " %s call%s", TG_SIGNED(-calls, TG_UNIT_COUNT), TG_PLURAL(calls));
}

/* Does a rule warn, or fail, of each call less? */
static bool judges_less(const struct tg_policy *p)
{
    TG_EACH(const struct tg_rule, rule, p->rules, p->n_rules) {
        const struct tg_limit_list *const lists[] = { &rule->warn, &rule->fail };
        if (rule->metric != TG_RULE_METRIC_COUNT || rule->bad != TG_LESS_IS_BAD ||
            tg_rule_is_narrow(&rule->match))
            continue;
        for (int k = 0; k < 2; k++)
            for (size_t x = 0; lists[k]->state == TG_LIMIT_ON && x < lists[k]->n; x++) {
                const struct tg_limit *l = &lists[k]->v[x];
                if (l->n == 1 && l->bound->kind == TG_BOUND_ABS && l->bound->value == 0)
                    return true;
            }
    }
    return false;
}

/* "the host waits elsewhere: 1.20 ms longer in aten::item, 1.18 ms less in aten::to": the step may
 * be as long as before. */
void tg_note_waits(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_pace_waits x = tg_pace_waits_of(c);
    double least = TG_RESTLESS * c->wall_ns[TG_BASE];
    if (!x.longer.call || !x.shorter.call || x.longer.ns < least || -x.shorter.ns < least)
        return;
    TG_EACH(const struct tg_result, r, e->out->results, e->out->n_results) {
        const struct tg_op *op = r->state >= TG_STATE_WARN ? tg_result_op(c, r) : NULL;
        /* A row that failed or warned tells: of the operator that waits, or of the step. */
        if ((op && (op == x.longer.call || tg_sv_eq(op->name, x.longer.in))) ||
            (r->state >= TG_STATE_WARN && r->subject == TG_SUBJECT_TRACE))
            return;
    }
    TG_NOTE(e, TG_REASON_NONE, "", "the host waits elsewhere: %s longer in %.*s, %s less in %.*s",
            TG_VALUE(x.longer.ns, TG_UNIT_NS),
            TG_SV_ARG(x.longer.in.n ? x.longer.in : x.longer.call->name),
            TG_VALUE(-x.shorter.ns, TG_UNIT_NS),
            TG_SV_ARG(x.shorter.in.n ? x.shorter.in : x.shorter.call->name));
}

void tg_notes(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    size_t full = c->n_ranks[TG_TEST], all = c->given[TG_TEST].n_ranks, kernels = 0;
    TG_BUF outside = { 0 }, gone = { 0 };
    const tg_sv unknown = TG_SV("unknown");
    uint32_t grew = 0; /* kinds that run more often outside the steps */
    double share = 0;
    /* Of too few runs times are not judged anyway. */
    int64_t min_runs = e->in->policy->noise.min_runs;
    bool few = (int64_t)c->n_runs[TG_BASE] < min_runs || (int64_t)c->n_runs[TG_TEST] < min_runs;
    if (c->gradients) /* before the machine, which everything that takes longer looks like */
        TG_NOTE(e, TG_REASON_GRADIENTS, TG_NEXT_GRADIENTS,
                "%s of the calls of operators ran with gradients enabled, %s of the baseline's",
                TG_VALUE(100 * c->graded[TG_TEST], TG_UNIT_PERCENT),
                TG_VALUE(100 * c->graded[TG_BASE], TG_UNIT_PERCENT));
    tell_machine(e);
    /* A cold card takes other times in its first steps than later, and power limits make it
     * drift. Where something looks slower see tg_guards. */
    if (c->warming != 0 && !c->n_withheld)
        TG_NOTE(e, TG_REASON_NONE, TG_NEXT_WARM,
                "the device's speed changes within the runs: its work takes %s %s in the last "
                "steps than in the first ones; its durations are not judged",
                TG_VALUE(100 * fabs(expm1(c->warming)), TG_UNIT_PERCENT),
                c->warming > 0 ? "longer" : "shorter");
    if (e->in->disturbed && e->in->disturbed[0])
        TG_NOTE(e, TG_REASON_NONE, TG_NEXT_MACHINE(e), "the machine was busy in %s",
                e->in->disturbed);
    tell_recompilations(e, c);
    /* Where nothing looks slower the counts stand for themselves; else see tg_guards. */
    if (c->other_data)
        TG_NOTE(e, TG_REASON_DATA, TG_NEXT_DATA,
                "the fresh runs had other data: most of the counts that vary are where the "
                "baseline's never were; durations are not judged");
    if (c->busy && !c->n_withheld)
        TG_NOTE(e, few ? TG_REASON_NONE : TG_REASON_MACHINE, TG_NEXT_MACHINE(e),
                "the machine was busy during the fresh runs: of most operators the steps of a run "
                "differ; times that this may explain are not judged");
    tell_ranks(e, c);
    tell_straggler(e, c->straggler);
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].kind == TG_KIND_KERNEL) {
            share += c->ops[i].share[TG_TEST];
            kernels++;
        }
    if (!tg_same_device(c) && kernels)
        TG_NOTE(
            e, TG_REASON_DEVICE,
            "Judged are operators, copies, memory sets, synchronisations and graph launches, by "
            "number and bytes. Record both sides alike, or change baseline.require_same.",
            "kernels are not judged, %s of the step: the two sides differ in %.*s",
            TG_VALUE(100 * fmin(share, 1), TG_UNIT_PERCENT), TG_SV_ARG(c->differs));
    /* No rule per name sees what runs outside the windows: work that went there must not be green.
     * One name for another, as often, is not more. */
    for (enum tg_kind k = 0; k < TG_KINDS; k++)
        grew |= tg_outside_growth_of(c, 1u << k) > 0 ? 1u << k : 0;
    if (put_most(&outside, c, grew, tg_outside_growth, put_outside))
        TG_NOTE(e, TG_REASON_OUTSIDE,
                "Calls a step. Rules about names judge what is inside the steps: widen the "
                "window, or see `diff --whole`. launch_count and sync_count count them.",
                "more calls outside the steps: %s", outside.p);
    tell_more_rows(e, c);
    tell_more_events(e, c);
    tell_idle_launches(e, c);
    if (c->n_steps_only)
        TG_NOTE(e, TG_REASON_NONE,
                "The stored size of a run is limited (docs/baselines.md). Fewer steps leave room "
                "for more ranks.",
                "%zu of %zu ranks are compared in full; of the others the stored side has step "
                "times only, which are compared",
                full, all);
    if (c->n_unnamed)
        TG_NOTE(e, TG_REASON_NONE,
                "A rule about names, or --json, --html or --csv, compares them on all ranks "
                "(docs/clusters.md).",
                "operators and kernels are compared on %zu of %zu ranks: no rule is about them; "
                "metrics, step times and collectives on all",
                full, all);
    tell_shifted(e, c, TG_UNIT_COUNT);
    tell_shifted(e, c, TG_UNIT_BYTES);
    /* Where steps are not known, more work everywhere cannot be told from more steps. */
    if (c->iteration_ratio != 1)
        TG_NOTE(e, TG_REASON_ITERATIONS,
                "Mark the steps (prof.step()), or record the same number of them on both sides.",
                "every count of the fresh traces is %.4g times the baseline's: taken for more or "
                "fewer steps, but the same work done more often looks alike",
                c->iteration_ratio);
    tell_unjudged_kinds(e, c);
    tell_unmarked(e, c);
    const struct tg_env_change *told = other_cpu(c); /* first */
    TG_EACH(const struct tg_env_change, x, c->env, c->n_env)
        if (x != told)
            TG_NOTE(e, TG_REASON_NONE, "", "%.*s: %.*s -> %.*s", TG_SV_ARG(x->key),
                    TG_SV_ARG(x->value[0].n ? x->value[0] : unknown),
                    TG_SV_ARG(x->value[1].n ? x->value[1] : unknown));
    /* No warning, but never silent: "less work: aten::mul -24 calls, aten::pow -4 calls and 3
     * more". */
    if (!judges_less(e->in->policy) && put_most(&gone, c, ~0u, weigh_gone, put_gone))
        TG_NOTE(e, TG_REASON_NONE,
                "Was it meant to go? The rule less-work with `warn: {abs: 0}` warns of it.",
                "less work: %s", gone.p);
}
