/* What must hold before anything can be judged; and what of the traces themselves is damaged. */
#include <math.h>

#include "policy/verdict/internal.h"

static struct tg_result *guard(struct tg_eval_state *e, enum tg_reason need, struct tg_loc at,
                               const char *next, tg_sv message)
{
    struct tg_result *r = tg_eval_add(e, NULL);
    tg_eval_message(r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_REQUIRE, need,
                    tg_sv_of(tg_reason_id(need)), message, tg_sv_of(next));
    r->rule = TG_SV("require");
    r->at = at;
    return r;
}
#define GUARD(e, need, at, next, ...)                                                              \
    guard((e), (need), (at), (next), TG_SV_PRINTF((e)->arena, __VA_ARGS__))

static struct tg_loc window_at(const struct tg_eval_state *e)
{
    return e->in->suite ? e->in->suite->window.at : TG_NOWHERE;
}

/* A step of one side against the whole trace of the other is not a comparison. */
static bool guard_markers(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_suite *suite = e->in->suite;
    bool named = suite && suite->window.by == TG_BY_ANNOTATION;
    bool any = c->any_marked[TG_BASE] || c->any_marked[TG_TEST];
    for (int side = 1; side >= 0; side--) {
        if (c->marked[side] || !(any || named))
            continue;
        const char *marker = "step markers"; /* the window by which the sides were cut */
        if (suite && suite->window.name)
            marker = tg_arena_printf(e->arena, "annotations '%.*s'",
                                     TG_SV_ARG(tg_pattern_text(suite->window.name)));
        /* What an unmarked trace of the side has that could mark its steps. */
        const struct tg_shard *h;
        TG_BUF hints = { 0 };
        for (size_t k = 0; (h = tg_side_shard(&c->side[side], k)) && !hints.n; k++)
            for (size_t i = 0; !h->marked && i < h->n_hints && i < 3; i++)
                tg_buf_printf(&hints, "%s'%.*s' (%zu times)", hints.n ? ", " : "",
                              TG_SV_ARG(h->hints[i].name), h->hints[i].count);
        GUARD(e, TG_NEED_WINDOW, window_at(e),
              hints.n ? tg_arena_printf(e->arena,
                                        "These recur there and could mark steps: %s. Name one of "
                                        "them in the suite's `window`, and record both sides "
                                        "alike.",
                                        hints.p)
                      : "Call prof.step() once an iteration on both sides, or say which annotation "
                        "marks a step: `window: {by: annotation, name: ...}`.",
              "%s %s traces have no %s%s", c->any_marked[side] ? "some of the" : "the",
              TG_SIDE_NAME(side), marker, c->any_marked[!side] ? ", unlike the other side's" : "");
        return true;
    }
    return false;
}

/* How steps are marked, beside the marks themselves. */
enum { NESTED, CROSSING, HOLLOW, MARKINGS };

/* Steps that are cut in another way than the other side's: their calls are not comparable. And a
 * trace without any that can be used. */
static bool guard_markings(struct tg_eval_state *e)
{
    static const char *const what[] = { [NESTED] = "inside others",
                                        [CROSSING] = "that overlap",
                                        [HOLLOW] = "on a thread that does nothing else" };
    const struct tg_comparison *c = e->in->comparison;
    uint64_t n[2][MARKINGS] = { 0 }, steps[2] = { 0 };
    const struct tg_shard *s;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; (s = tg_side_shard(&c->side[side], i)); i++) {
            n[side][NESTED] += s->integrity.nested_windows;
            n[side][CROSSING] += s->integrity.crossing_windows;
            steps[side] += s->n_steps;
            for (size_t k = 0; k < s->n_steps; k++)
                n[side][HOLLOW] += s->marked && s->gap_count[k] == 1;
        }
    for (int side = 1; side >= 0; side--)
        for (int i = 0; i < MARKINGS; i++) {
            if (n[!side][i] || 2 * n[side][i] <= (i == NESTED ? 0 : steps[side]))
                continue;
            GUARD(e, TG_NEED_WINDOW, window_at(e),
                  "Record both sides with the same markers. If the window is an annotation, name "
                  "one that does not contain itself.",
                  "the %s traces have %llu marker%s of steps %s, unlike the other side's",
                  TG_SIDE_NAME(side), (unsigned long long)n[side][i], TG_PLURAL(n[side][i]),
                  what[i]);
            return true;
        }
    for (int side = 1; side >= 0; side--)
        if (!c->least_steps[side]) {
            GUARD(e, TG_NEED_STEPS, window_at(e),
                  "Record more steps, or lower `skip_first` and `skip_last` of the suite's window.",
                  "a %s trace has no usable step", TG_SIDE_NAME(side));
            return true;
        }
    return false;
}

/* The baseline's steps lack work that it did, and that the fresh ones hold: more calls and
 * longer steps show that steps are cut elsewhere. */
static bool guard_cuts(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_came_in came = tg_outside_came_in(c);
    if (!came.largest || came.ns < TG_NOTABLE * c->step_ns[TG_TEST])
        return false;
    GUARD(e, TG_NEED_WINDOW, window_at(e),
          came.device ? "Work on the device belongs to the step of its launch, which it names by "
                        "`correlation`: record both sides with the same profiler."
                      : "Record both sides with markers at the same place. If this work came into "
                        "the step, record the baseline again.",
          "the baseline did outside its steps what the fresh traces do inside: " TG_NAME "%s",
          TG_SV_ARG(came.largest->name),
          came.n_names > 1 ? tg_arena_printf(e->arena, " and %zu more", came.n_names - 1) : "");
    return true;
}

/* Where the fresh side alone has device work, and operators launch it that are called as often
 * as before, the baseline was recorded without the device's activities, or ran elsewhere. */
static bool guard_device(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    bool any = false;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        if (!tg_kind_is_device(op->kind))
            continue;
        if (op->present[TG_BASE])
            return false;
        const struct tg_op *by = any ? NULL : tg_op_named(c, op->parent);
        any |= by && by->change == TG_SAME;
    }
    if (any)
        GUARD(e, TG_REASON_DEVICE, TG_NOWHERE,
              "Record both sides on the same device, with ProfilerActivity.CUDA. If the program "
              "now runs on a device, record the baseline again.",
              "the baseline traces hold no device work, unlike the fresh ones");
    return any;
}

/* A side without any operator, or without the launches of its device work, which the other has,
 * was recorded without them: what it lacks did not go, and what its rows hold is other time. */
static bool guard_sorts(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    size_t device[2] = { 0 }, graph[2] = { 0 }, ops[2] = { 0 }, calls[2] = { 0 }; /* names */
    for (size_t i = 0; i < c->n_ops; i++)
        for (int side = 0; side < 2; side++) {
            bool there = c->ops[i].present[side];
            device[side] += there && tg_kind_is_device(c->ops[i].kind);
            graph[side] += there && c->ops[i].kind == TG_KIND_GRAPH;
            ops[side] += there && c->ops[i].kind == TG_KIND_OP;
            calls[side] += there && c->ops[i].kind == TG_KIND_RUNTIME;
        }
    for (int side = 0; side < 2; side++) {
        /* A single name may be gone; what a graph launches needs neither operators nor a launch
         * each. */
        bool operators =
            !ops[side] && ops[!side] > 1 && !graph[side] && (device[side] || !device[!side]);
        bool launches =
            device[side] && !calls[side] && !graph[side] && device[!side] && calls[!side];
        if (!operators && !launches)
            continue;
        GUARD(e, TG_REASON_FLAGS, TG_NOWHERE,
              "Record both sides with the same activities: ProfilerActivity.CPU, and CUDA.",
              "the %s traces hold no %s, unlike the %s ones", TG_SIDE_NAME(side),
              operators ? "operators" : "launches of their device work", TG_SIDE_NAME(!side));
        return true;
    }
    return false;
}

/* "rank 2 of 4 has no fresh trace (found: ranks 0, 1, 3)"; "9 ranks in the baseline run, 8 are
 * expected". The lost rank is looked for first; then the policy says so, in case so many are
 * meant. */
static void guard_ranks(struct tg_eval_state *e, const struct tg_suite *suite)
{
    const struct tg_comparison *c = e->in->comparison;
    size_t expected = (size_t)suite->ranks_expect, both = c->given[TG_TEST].n_ranks;
    for (int side = e->in->alone ? TG_TEST : TG_BASE; side < 2; side++) {
        const struct tg_side *found = &c->side[side];
        size_t n = c->n_brought[side], lacking = c->n_lacking[side];
        bool runs = c->n_runs[side] > 1, one = lacking == 1, fresh = side == TG_TEST;
        TG_BUF ranks = { 0 }, said = { 0 }, next = { 0 };
        if (n == expected)
            continue;
        if (n + lacking == expected) { /* the other side has them */
            tg_ranks_put(&ranks, c->lacking[side], lacking);
            tg_buf_printf(&said, "%s of %zu %s%s %s %s", ranks.p, expected,
                          runs  ? one ? "is" : "are"
                          : one ? "has"
                                : "have",
                          runs ? " not in every" : " no", TG_SIDE_NAME(side),
                          runs ? "run" : "trace");
            tg_buf_printf(&next, "%s %s%s%s", fresh ? "Find why" : "Record the baseline with",
                          ranks.p, fresh ? " wrote no trace" : "",
                          fresh && runs ? " in some runs" : "");
            if (found->n_ranks && found->ranks && found->ranks[0] >= 0) { /* they count from 0 */
                tg_buf_puts(&said, runs ? " (in all runs: " : " (found: ");
                tg_ranks_put(&said, found->ranks, found->n_ranks);
                tg_buf_puts(&said, ")");
            }
        } else {
            tg_buf_printf(&said, "%zu rank%s in %s %s run, %zu %s expected", n, TG_PLURAL(n),
                          runs ? "every" : "the", TG_SIDE_NAME(side), expected,
                          expected == 1 ? "is" : "are");
            tg_buf_puts(&next, "Record every rank");
        }
        tg_buf_printf(&next, ". If %zu %s meant, set `ranks: {expect: %zu}` in the suite.", n,
                      n == 1 ? "is" : "are", n);
        GUARD(e, TG_REASON_RANKS, suite->at, tg_arena_sv(e->arena, tg_buf_sv(&next)).p, "%s",
              said.p);
    }
    if (c->n_brought[TG_BASE] == expected && c->n_brought[TG_TEST] == expected && both != expected)
        GUARD(e, TG_REASON_RANKS, suite->at,
              "Record every rank on both sides, under the same numbers.",
              "%zu rank%s on both sides, %zu are expected", both, both == 1 ? " is" : "s are",
              expected);
}

/* The first lines of what is damaged, and how many more there are. */
static void guard_damage(struct tg_eval_state *e, const struct tg_suite *suite)
{
    enum { SHOWN = 3 };
    for (int side = 0; side < 2; side++) {
        const struct tg_damage *d = e->in->damage[side];
        TG_BUF b = { 0 };
        if (!d || !d->n)
            continue;
        tg_sv rest = tg_buf_sv(&d->text);
        size_t shown = d->n == SHOWN + 1 ? d->n : SHOWN;
        for (size_t i = 0; i < d->n && i < shown; i++) {
            tg_buf_puts(&b, i ? "; " : "");
            tg_buf_add(&b, tg_sv_cut(&rest, '\n'));
        }
        if (d->n > shown)
            tg_buf_printf(&b, "; and %zu more", d->n - shown);
        GUARD(e, TG_REASON_RANKS, suite ? suite->at : TG_NOWHERE,
              "Record these ranks again, or restore their files.",
              "%s side, damaged and not judged: %s", TG_SIDE_NAME(side), b.p);
    }
}

/* What `require` asks of the fresh side by number or by name. */
static void guard_required(struct tg_eval_state *e, const struct tg_comparison *c,
                           const struct tg_require *q)
{
    size_t steps = c->marked[TG_TEST] ? c->n_steps[TG_TEST] : 0;
    double kernels = 0; /* per step */
    for (size_t i = 0; i < c->n_ops; i++)
        kernels += c->ops[i].kind == TG_KIND_KERNEL ? c->ops[i].count[TG_TEST] : 0;
    if (steps < (size_t)q->steps)
        GUARD(e, TG_NEED_STEPS, q->steps_at,
              "Record more steps (the schedule's `active`), or lower require.steps.",
              "the fresh trace has %zu steps, required are %lld", steps, (long long)q->steps);
    if (kernels < (double)q->kernels)
        GUARD(e, TG_NEED_KERNELS, q->kernels_at,
              "Did the benchmark run on the device? Otherwise lower require.kernels.",
              "the fresh trace has %.0f kernels per step, required are %lld", kernels,
              (long long)q->kernels);
    for (size_t i = 0; i < q->ops.n; i++) {
        tg_sv name = tg_pattern_text(q->ops.v[i]);
        bool found = false;
        for (size_t k = 0; k < c->n_ops && !found; k++)
            found = c->ops[k].present[TG_TEST] &&
                    tg_pattern_test(q->ops.v[i], c->ops[k].name) == TG_HIT_YES;
        if (found)
            continue;
        struct tg_result *r =
            GUARD(e, TG_NEED_NAME, q->ops_at,
                  "Did the benchmark run the right program? Otherwise change require.ops.",
                  "required name '%s' is not in the fresh trace", name.p);
        r->op = r->op_normalised = name;
    }
    /* Could these runs have shown a change of step time that matters? */
    const struct tg_evidence *ev = &c->metrics[TG_METRIC_STEP_TIME].ev;
    bool judged = ev->why_not == TG_JUDGED;
    if (!(q->detectable > 0) || (judged && 100 * ev->mde <= q->detectable))
        return;
    const char *why = ev->why_not == TG_NOT_FEW_RUNS
                          ? tg_few_runs_text(e->in->policy->noise.min_runs, e->arena)
                          : tg_judged_text(ev->why_not);
    if (!why)
        why = tg_arena_printf(e->arena, "these runs show a change of step time from %s on",
                              TG_PCT(100 * ev->mde));
    GUARD(e, TG_NEED_DETECTABLE, q->detectable_at,
          "Record more runs a side, or on a quieter machine. `tracegate calibrate` says how many.",
          "%s%s; required is %s", judged ? "" : "step time is not judged: ", why,
          TG_PCT(q->detectable));
}

/* "aten::mm looks slower", "2 names look slower, aten::mm most" of those whose times are
 * withheld. */
static const char *withheld_said(const struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_op *most = NULL;
    TG_BUF name = { 0 };
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].ev.withheld && (!most || c->ops[i].ev.delta_ns > most->ev.delta_ns))
            most = &c->ops[i];
    if (!most)
        return tg_arena_printf(e->arena, "%zu name%s slower", c->n_withheld,
                               c->n_withheld == 1 ? " looks" : "s look");
    if (most->kind == TG_KIND_STEP)
        tg_buf_puts(&name, TG_HOST_GAP);
    else
        tg_message_put_name(&name, most->name, 60);
    if (c->n_withheld == 1)
        return tg_arena_printf(e->arena, "%s looks slower", name.p);
    return tg_arena_printf(e->arena, "%zu names look slower, %s most", c->n_withheld, name.p);
}

/* Runs that left the comparison: what they would have said is not known. */
static void tell_left_runs(struct tg_eval_state *e, const struct tg_comparison *c)
{
    for (int side = 0; side < 2; side++) {
        const struct tg_left_run *first = NULL;
        size_t n = 0;
        for (size_t i = c->n_left; i-- > 0;)
            if (c->left[i].side == side) {
                first = &c->left[i];
                n++;
            }
        if (first)
            TG_NOTE(e, TG_REASON_FLAGS, "Record all runs with the same options of the profiler.",
                    "%zu of %zu %s runs %s left out: recorded with other profiler "
                    "flags than the others (%.*s: %.*s)",
                    n, n + c->n_runs[side], TG_SIDE_NAME(side), n == 1 ? "is" : "are",
                    TG_SV_ARG(first->source), TG_SV_ARG(first->profile));
    }
}

bool tg_guards(struct tg_eval_state *e)
{
    const struct tg_require *q = &e->in->policy->require;
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_suite *suite = e->in->suite;
    bool comparable = !guard_markers(e) && !guard_markings(e) && !guard_cuts(e) &&
                      !guard_device(e) && !guard_sorts(e);
    /* A trace without events keeps every budget and shows nothing. */
    const struct tg_side *fresh = &c->given[TG_TEST];
    const struct tg_shard *s;
    size_t empty = 0;
    for (size_t i = 0; (s = tg_side_shard(fresh, i)); i++)
        empty += tg_shard_is_empty(s);
    if (empty)
        GUARD(e, TG_NEED_FRESH_EVENTS, TG_NOWHERE,
              "Did the benchmark run while the profiler recorded?", "%s fresh trace%s no events",
              fresh->n_runs * fresh->n_ranks == 1 ? "the"
              : empty == 1                        ? "a"
                                                  : "some",
              empty == 1 ? " holds" : "s hold");
    guard_required(e, c, q);
    if (suite && suite->ranks_expect)
        guard_ranks(e, suite);
    guard_damage(e, suite);
    /* Durations that are not judged, and look slower; a policy of counts alone loses nothing by a
     * busy machine. */
    bool times = false;
    TG_EACH(const struct tg_rule, rule, e->in->policy->rules, e->in->policy->n_rules)
        times |= tg_rule_metric_info(rule->metric)->unit == TG_UNIT_NS &&
                 (rule->warn.state == TG_LIMIT_ON || rule->fail.state == TG_LIMIT_ON);
    if (c->n_withheld && times && (c->other_data || c->busy || c->warming != 0))
        GUARD(e, c->other_data ? TG_REASON_DATA : TG_REASON_MACHINE, TG_NOWHERE,
              c->other_data ? TG_NEXT_DATA
              : c->busy     ? TG_NEXT_MACHINE(e)
                            : TG_NEXT_WARM,
              "%s, and %s",
              c->other_data ? "the fresh runs had other data"
              : c->busy     ? "the machine was busy during the fresh runs"
                            : tg_judged_text(TG_NOT_WARM),
              withheld_said(e));
    tell_left_runs(e, c);
    if (q->collapse && c->collapsed)
        GUARD(e, TG_NEED_COLLAPSE, q->at,
              "Did the benchmark run? If this is real, set `require: {collapse: off}`.",
              "more than half of the kernels are gone, and the device's busy time with them");
    return comparable;
}

/*
 * ---- damage ----
 *
 * Above the limits of core/diff/numbers.h a trace is damaged rather than noisy, and no verdict is
 * given. Real traces stay far below: the worst of 68 has 0.6 % of its device time in overlaps on
 * one stream, 31 % of its device work without a launch (recording began while it ran), and none of
 * the rest; launches without their kernel only the smallest have (of 15 to 28 pieces of device
 * work), at most 4.
 */

enum { LENIENT = 5 }; /* kinds of deviations from JSON */
struct damage {       /* of one side: all its runs and ranks, times in ns */
    double overlap, device_time, spans, empty, device_spans, unlinked, unnumbered;
    double overlapping, negative, longer, lost, repeated; /* how many */
    double unmatched, undated, leniencies;
    uint64_t lenient[LENIENT]; /* of these, by kind */
    double steps;
    bool truncated;
};

static struct damage damage_of(const struct tg_side *side)
{
    struct damage d = { 0 };
    const struct tg_shard *s;
    for (size_t i = 0; (s = tg_side_shard(side, i)); i++) {
        const struct tg_integrity *x = &s->integrity;
        const struct tg_lenient *l = &s->lenient;
        const uint64_t lenient[LENIENT] = { l->invalid_escapes, l->control_bytes, l->bad_utf8,
                                            l->non_finite, l->huge_integers };
        d.overlap += (double)x->overlapping_ns;
        d.device_time += (double)s->device_time;
        d.overlapping += (double)x->overlapping;
        d.negative += (double)x->negative_durations;
        d.longer += (double)x->longer_than_step;
        d.spans += (double)s->spans;
        d.empty += (double)x->zero_kernels;
        d.device_spans += (double)s->device_spans;
        d.unlinked += (double)x->unlinked;
        d.unnumbered += (double)(s->unlinked - x->unlinked);
        d.lost += (double)x->lost_kernels;
        d.repeated += (double)x->repeated;
        d.unmatched += (double)(x->unmatched_begin + x->unmatched_end);
        d.undated += (double)x->undated;
        d.steps += (double)s->n_steps;
        d.leniencies += (double)s->leniencies;
        for (size_t k = 0; k < LENIENT; k++)
            d.lenient[k] += lenient[k];
        d.truncated |= s->truncated;
    }
    return d;
}

static bool is_repeated(const struct damage *d)
{
    return d->repeated > TG_MAX_REPEATED * d->spans;
}

static enum tg_reason warned(bool warns)
{
    return warns ? TG_REASON_INTEGRITY : TG_REASON_NONE;
}

/* How many more per step than in the baseline; of the baseline itself 0. */
static double more_a_step(double n, const struct damage *d, double before,
                          const struct damage *base)
{
    return n / fmax(d->steps, 1) - before / fmax(base->steps, 1);
}

/* What is too much, and no verdict is given: " 3 launches of kernels have no kernel;" */
static void put_too_much(struct tg_buf *b, const struct damage *d)
{
    double unmatched = d->unmatched >= TG_MIN_DAMAGE ? d->unmatched : 0;
    const struct {
        bool is;
        double n, of;
        const char *what;
    } kinds[] = {
        { d->negative + d->longer > TG_MAX_BAD_SPANS * d->spans, d->negative + d->longer, 0,
          "events have a negative duration or outlast all steps" },
        { d->empty > TG_MAX_LEFT_OUT * d->device_spans, d->empty, 0,
          "kernels have start 0 and duration 0" },
        { d->unlinked >= TG_MIN_DAMAGE && d->unlinked > TG_MAX_UNLINKED * d->device_spans,
          d->unlinked, d->device_spans, "pieces of device work have no launch" },
        { d->lost >= TG_MIN_DAMAGE && d->lost > TG_MAX_LOST * d->device_spans, d->lost, 0,
          "launches of kernels have no kernel" },
        { is_repeated(d), d->repeated, d->spans, "events are there twice" },
        { d->undated + unmatched > TG_MAX_LEFT_OUT * d->spans, d->undated + d->unmatched, 0,
          "events have no start, no duration or no partner" }, /* work that no rule can see */
    };
    if (d->overlap > TG_MAX_LOST * d->device_time)
        tg_buf_printf(b, " %.1f %% of device time runs past the next start on its stream;",
                      100 * d->overlap / d->device_time);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].is)
            continue;
        tg_buf_printf(b, " %.0f ", kinds[i].n);
        if (kinds[i].of > 0)
            tg_buf_printf(b, "of %.0f ", kinds[i].of);
        tg_buf_printf(b, "%s;", kinds[i].what);
    }
}

/* `base`: what the baseline has of it, which may be `d` itself. */
static void judge_damage(struct tg_eval_state *e, const char *name, const struct damage *d,
                         const struct damage *base)
{
    static const char *const deviations[LENIENT][2] = {
        { "invalid escape", "invalid escapes" },
        { "raw control byte", "raw control bytes" },
        { "text with invalid bytes", "texts with invalid bytes" },
        { "NaN or Infinity", "times NaN or Infinity" },
        { "integer out of range", "integers out of range" },
    };
    const struct {
        double n;
        const char *what;
    } kinds[] = {
        { d->overlapping, "run past the next start on their stream" },
        { d->negative, "have a negative duration" },
        { d->longer, "are kernels that outlast all steps" },
        { d->empty, "are kernels with start 0 and duration 0" },
        { d->unlinked, "are device work whose launch is not in the trace (dropped, or from before "
                       "the recording)" },
        { d->unnumbered,
          "are device work that names no launch of the recording, as copies of MTIA and all of XLA "
          "do" },
        { d->lost, "are launches whose kernel is not in the trace (dropped)" },
    };
    TG_BUF below = { 0 }, beyond = { 0 }, lenient = { 0 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n > 0)
            tg_buf_printf(&below, "%s %.0f %s", below.n ? ";" : "", kinds[i].n, kinds[i].what);
    if (below.n)
        TG_NOTE(e, warned(more_a_step(d->lost, d, base->lost, base) >= 1), "",
                "of the events of the %s traces%s", name, below.p);
    put_too_much(&beyond, d);
    if (beyond.n)
        GUARD(e, TG_REASON_INTEGRITY, TG_NOWHERE,
              "Record the trace again; a profiler that loses buffers writes such events.",
              "the %s traces are damaged:%.*s", name, (int)beyond.n - 1, beyond.p);
    if (d->truncated)
        TG_NOTE(e, TG_REASON_INTEGRITY, "",
                "a %s trace is truncated: its missing part was not judged", name);
    /* ": 2 invalid escapes, 1 NaN or Infinity"; nothing where an older version stored the total
     * alone. */
    for (size_t i = 0; i < LENIENT; i++)
        if (d->lenient[i])
            tg_buf_printf(&lenient, "%s%llu %s", lenient.n ? ", " : ": ",
                          (unsigned long long)d->lenient[i], deviations[i][d->lenient[i] != 1]);
    if (d->leniencies > 0)
        TG_NOTE(e, TG_REASON_NONE, "--strict-json refuses them and says where.",
                "%.0f deviation%s from JSON in the %s traces accepted%.*s", d->leniencies,
                TG_PLURAL(d->leniencies), name, TG_SV_ARG(tg_buf_sv(&lenient)));
    if (d->unmatched > 0)
        TG_NOTE(e, warned(more_a_step(d->unmatched, d, base->unmatched, base) >= 1), "",
                "%.0f begin or end event%s of the %s traces without a partner ignored",
                d->unmatched, TG_PLURAL(d->unmatched), name);
    if (d->undated > 0)
        TG_NOTE(
            e, warned(more_a_step(d->undated, d, base->undated, base) > 0),
            "Their number and time are not judged. A complete event (ph X) has ts and dur: what "
            "writes the trace does not.",
            "%.0f event%s of the %s traces without a start or a duration left out", d->undated,
            TG_PLURAL(d->undated), name);
}

bool tg_guard_integrity(struct tg_eval_state *e)
{
    struct damage base = damage_of(&e->in->comparison->given[TG_BASE]);
    struct damage fresh = damage_of(&e->in->comparison->given[TG_TEST]);
    size_t before = e->out->n_notes;
    judge_damage(e, "baseline", &base, &base);
    judge_damage(e, "fresh", &fresh, &base);
    for (size_t i = before; i < e->out->n_notes; i++)
        e->out->notes[i].damage = true;
    return !is_repeated(&base) && !is_repeated(&fresh);
}
