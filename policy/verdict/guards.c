#include <math.h>

#include "core/diff/numbers.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

/*
 * Above these a trace is damaged rather than noisy, and no verdict is given. Real traces stay far
 * below: the worst of 68 has 0.6 % of its device time in overlaps on one stream, 31 % of its device
 * work without a launch (recording began while it ran), and none of the rest; launches without
 * their kernel only the smallest have (of 15 to 28 pieces of device work), at most 4.
 */

/* `message`, `next`: texts of the arena, or constant ones. */
static struct tg_result *guard(struct tg_eval_state *e, enum tg_reason need, const char *message,
                               const char *next, struct tg_loc at)
{
    struct tg_result *r = tg_eval_add(e, NULL);
    tg_eval_message(r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_REQUIRE, need,
                    tg_sv_of(tg_reason_id(need)), tg_sv_of(message), tg_sv_of(next));
    r->rule = TG_SV("require");
    r->file = at.file;
    r->line = at.line;
    r->col = at.col;
    return r;
}

/* Could these runs have shown a change of step time that matters? */
static void guard_detectable(struct tg_eval_state *e, const struct tg_comparison *c,
                             const struct tg_require *q)
{
    const struct tg_evidence *ev = &c->metrics[TG_METRIC_STEP_TIME].ev;
    struct tg_buf b = { 0 };

    if (!(q->detectable > 0) || (ev->judged == TG_JUDGED && 100 * ev->mde <= q->detectable))
        return;
    if (ev->judged == TG_JUDGED) {
        tg_buf_printf(&b, "these runs show a change of step time from %s on",
                      TG_PCT(100 * ev->mde));
    } else {
        tg_buf_printf(&b, "step time is not judged: %s",
                      ev->judged == TG_NOT_FEW_RUNS
                          ? tg_few_runs_text(e->in->policy->noise.min_runs, e->arena)
                          : tg_judged_text(ev->judged));
    }
    tg_buf_printf(&b, "; required is %s", TG_PCT(q->detectable));
    guard(e, TG_NEED_DETECTABLE, tg_phrase_take(&b, e->arena).p,
          "Record more runs a side, or on a quieter machine. `tracegate calibrate` says how many.",
          q->detectable_at);
}

static const char *const side_name[] = { "baseline", "fresh" };

/* The window by which the sides were cut, as people say it; and its place. */
static const char *marker_of(const struct tg_eval_state *e)
{
    const struct tg_suite *suite = e->in->suite;
    return suite && suite->window.name
               ? tg_arena_printf(e->arena, "annotations '%.*s'",
                                 TG_SV_ARG(tg_pattern_text(suite->window.name)))
               : "step markers";
}

static struct tg_loc window_at(const struct tg_eval_state *e)
{
    return e->in->suite ? e->in->suite->window.at : TG_NOWHERE;
}

/* What an unmarked trace of the side has that could mark its steps. */
static tg_sv other_windows(const struct tg_eval_state *e, int side)
{
    const struct tg_side *s = &e->in->comparison->side[side];
    struct tg_buf b = { 0 };
    for (size_t run = 0; run < s->n_runs && !b.n; run++)
        for (size_t rank = 0; rank < s->n_ranks && !b.n; rank++) {
            const struct tg_shard *h = s->at[run][rank];
            for (size_t i = 0; !h->marked && i < h->n_hints && i < 3; i++)
                tg_buf_printf(&b, "%s'%.*s' (%zu times)", b.n ? ", " : "",
                              TG_SV_ARG(h->hints[i].name), h->hints[i].count);
        }
    return tg_phrase_take(&b, e->arena);
}

static const char *window_next(const struct tg_eval_state *e, int side)
{
    tg_sv others = other_windows(e, side);
    if (!others.n)
        return "Call prof.step() once an iteration on both sides, or say which annotation marks a "
               "step: `window: {by: annotation, name: ...}`.";
    return tg_arena_printf(e->arena,
                           "These recur there and could mark steps: %.*s. Name one of them in the "
                           "suite's `window`, and record both sides alike.",
                           TG_SV_ARG(others));
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
        guard(e, TG_NEED_WINDOW,
              tg_arena_printf(e->arena, "%s %s traces have no %s%s",
                              c->any_marked[side] ? "some of the" : "the", side_name[side],
                              marker_of(e),
                              c->any_marked[!side] ? ", unlike the other side's" : ""),
              window_next(e, side), window_at(e));
        return true;
    }
    return false;
}

/* How steps are marked, beside the marks themselves. */
enum { NESTED, CROSSING, HOLLOW, MARKINGS };

struct markings {
    uint64_t n[MARKINGS], steps;
};

static struct markings markings_of(const struct tg_side *side)
{
    struct markings m = { 0 };
    for (size_t run = 0; run < side->n_runs; run++)
        for (size_t rank = 0; rank < side->n_ranks; rank++) {
            const struct tg_shard *s = side->at[run][rank];
            m.n[NESTED] += s->integrity.nested_windows;
            m.n[CROSSING] += s->integrity.crossing_windows;
            m.steps += s->n_steps;
            for (size_t k = 0; k < s->n_steps; k++)
                m.n[HOLLOW] += s->marked && s->gap_count[k] == 1;
        }
    return m;
}

/* Steps that are cut in another way than the other side's: their calls are not comparable. */
static bool guard_markings(struct tg_eval_state *e)
{
    static const char *const what[] = {
        [NESTED] = "%llu marker%s of steps inside others",
        [CROSSING] = "%llu marker%s of steps that overlap",
        [HOLLOW] = "%llu marker%s of steps on a thread that does nothing else"
    };
    const struct tg_comparison *c = e->in->comparison;
    const struct markings of[2] = { markings_of(&c->side[TG_BASE]),
                                    markings_of(&c->side[TG_TEST]) };
    for (int side = 1; side >= 0; side--)
        for (int i = 0; i < MARKINGS; i++) {
            if (of[!side].n[i] || 2 * of[side].n[i] <= (i == NESTED ? 0 : of[side].steps))
                continue;
            struct tg_buf b = { 0 };
            tg_buf_printf(&b, "the %s traces have ", side_name[side]);
            tg_buf_printf(&b, what[i], (unsigned long long)of[side].n[i],
                          of[side].n[i] == 1 ? "" : "s");
            tg_buf_puts(&b, ", unlike the other side's");
            guard(e, TG_NEED_WINDOW, tg_phrase_take(&b, e->arena).p,
                  "Record both sides with the same markers. If the window is an annotation, name "
                  "one that does not contain itself.",
                  window_at(e));
            return true;
        }
    return false;
}

/*
 * The baseline's steps lack work that it did, and that the fresh ones hold: more calls and longer steps
 * show that steps are cut elsewhere.
 */
static bool guard_cuts(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_came_in came = tg_outside_came_in(c);
    if (!came.largest || came.ns < TG_NOTABLE * c->step_ns[TG_TEST])
        return false;
    struct tg_buf b = { 0 };
    tg_buf_printf(&b, "the baseline did outside its steps what the fresh traces do inside: %.*s",
                  TG_SV_ARG(came.largest->name));
    if (came.n_names > 1)
        tg_buf_printf(&b, " and %zu more", came.n_names - 1);
    guard(e, TG_NEED_WINDOW, tg_phrase_take(&b, e->arena).p,
          came.device ? "Work on the device belongs to the step of its launch, which it names by "
                        "`correlation`: record both sides with the same profiler."
                      : "Record both sides with markers at the same place. If this work came into "
                        "the step, record the baseline again.",
          window_at(e));
    return true;
}

static bool guard_steps(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    for (int side = 1; side >= 0; side--)
        if (!c->least_steps[side]) {
            guard(e, TG_NEED_STEPS,
                  tg_arena_printf(e->arena, "a %s trace has no usable step", side_name[side]),
                  "Record more steps, or lower `skip_first` and `skip_last` of the suite's window.",
                  window_at(e));
            return true;
        }
    return false;
}

/* Is `op` device work of an operator that is called as often as before? */
static bool is_of_same_operator(const struct tg_comparison *c, const struct tg_op *op)
{
    for (size_t i = 0; tg_kind_is_device(op->kind) && i < c->n_ops; i++)
        if (c->ops[i].kind == TG_KIND_OP && c->ops[i].change == TG_SAME &&
            tg_sv_eq(c->ops[i].name, op->parent))
            return true;
    return false;
}

/* Where the fresh side alone has device work, and operators launch it that are called as often as before,
 * the baseline was recorded without the device's activities, or ran elsewhere. */
static bool guard_device(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    bool any = false;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].present[TG_BASE] && tg_kind_is_device(c->ops[i].kind))
            return false;
    for (size_t i = 0; i < c->n_ops && !any; i++)
        any = is_of_same_operator(c, &c->ops[i]);
    if (!any)
        return false;
    guard(e, TG_REASON_DEVICE, "the baseline traces hold no device work, unlike the fresh ones",
          "Record both sides on the same device, with ProfilerActivity.CUDA. If the program now "
          "runs on a device, record the baseline again.",
          TG_NOWHERE);
    return true;
}

/* A trace without events keeps every budget and shows nothing. */
static void guard_empty(struct tg_eval_state *e)
{
    const struct tg_side *s = &e->in->comparison->given[TG_TEST];
    size_t n = 0;
    for (size_t run = 0; run < s->n_runs; run++)
        for (size_t rank = 0; rank < s->n_ranks; rank++)
            n += tg_shard_is_empty(s->at[run][rank]);
    if (n)
        guard(e, TG_NEED_FRESH_EVENTS,
              tg_arena_printf(e->arena, "%s fresh trace%s no events",
                              s->n_runs * s->n_ranks == 1 ? "the"
                              : n == 1                    ? "a"
                                                          : "some",
                              n == 1 ? " holds" : "s hold"),
              "Did the benchmark run while the profiler recorded?", TG_NOWHERE);
}

static double kernels_per_step(const struct tg_comparison *c)
{
    double n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].kind == TG_KIND_KERNEL)
            n += c->ops[i].count[TG_TEST];
    return n;
}

static bool has_op(const struct tg_comparison *c, const struct tg_pattern *p)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].present[TG_TEST] && tg_pattern_test(p, c->ops[i].name) == TG_HIT_YES)
            return true;
    return false;
}

/* Each side has as many ranks as expected, but not the same ones. */
static const char *common_ranks_expected(struct tg_eval_state *e, int64_t expected)
{
    size_t n = e->in->comparison->given[TG_TEST].n_ranks;
    return tg_arena_printf(e->arena, "%zu rank%s on both sides, %lld are expected", n,
                           n == 1 ? " is" : "s are", (long long)expected);
}

/* Those that are missing are known: the other side has them. */
static bool missing_are_known(const struct tg_comparison *c, int side, int64_t expected)
{
    return c->n_brought[side] + c->n_lacking[side] == (size_t)expected;
}

/* " (found: ranks 0, 1, 3)": ranks count from 0, which "2 of 4" leaves open */
static void put_found(struct tg_buf *b, const struct tg_side *s, size_t n_runs)
{
    if (!s->n_ranks || !s->ranks || s->ranks[0] < 0)
        return;
    tg_buf_puts(b, n_runs > 1 ? " (in all runs: " : " (found: ");
    tg_ranks_put(b, s->ranks, s->n_ranks);
    tg_buf_puts(b, ")");
}

/* "rank 2 of 4 has no fresh trace (found: ranks 0, 1, 3)"; "9 ranks in the baseline run, 8 are expected" */
static const char *ranks_expected(struct tg_eval_state *e, int side, int64_t expected)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_buf b = { 0 };
    if (missing_are_known(c, side, expected)) {
        bool one = c->n_lacking[side] == 1;
        tg_ranks_put(&b, c->lacking[side], c->n_lacking[side]);
        tg_buf_printf(&b, " of %lld", (long long)expected);
        if (c->n_runs[side] > 1)
            tg_buf_printf(&b, " %s not in every %s run", one ? "is" : "are", side_name[side]);
        else
            tg_buf_printf(&b, " %s no %s trace", one ? "has" : "have", side_name[side]);
        put_found(&b, &c->side[side], c->n_runs[side]);
        return tg_phrase_take(&b, e->arena).p;
    }
    tg_buf_printf(&b, "%zu rank%s in %s %s run, %lld %s expected", c->n_brought[side],
                  c->n_brought[side] == 1 ? "" : "s", c->n_runs[side] > 1 ? "every" : "the",
                  side_name[side], (long long)expected, expected == 1 ? "is" : "are");
    return tg_phrase_take(&b, e->arena).p;
}

/* What to do about it: the lost rank first, then the policy, in case so many are meant. */
static const char *ranks_next(struct tg_eval_state *e, int side, int64_t expected)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_buf b = { 0 };
    if (!missing_are_known(c, side, expected)) {
        tg_buf_puts(&b, "Record every rank");
    } else if (side == TG_TEST) {
        tg_buf_puts(&b, "Find why ");
        tg_ranks_put(&b, c->lacking[side], c->n_lacking[side]);
        tg_buf_printf(&b, " wrote no trace%s", c->n_runs[side] > 1 ? " in some runs" : "");
    } else {
        tg_buf_puts(&b, "Record the baseline with ");
        tg_ranks_put(&b, c->lacking[side], c->n_lacking[side]);
    }
    tg_buf_printf(&b, ". If %zu %s meant, set `ranks: {expect: %zu}` in the suite.",
                  c->n_brought[side], c->n_brought[side] == 1 ? "is" : "are", c->n_brought[side]);
    return tg_phrase_take(&b, e->arena).p;
}

/* The first lines of what is damaged, and how many more there are. */
static const char *damage_said(struct tg_eval_state *e, int side, const struct tg_damage *d)
{
    enum { SHOWN = 3 };
    struct tg_buf b = { 0 };
    tg_sv rest = tg_buf_sv(&d->text);
    tg_buf_printf(&b, "%s side, damaged and not judged: ", side_name[side]);
    for (size_t i = 0; i < d->n && i < SHOWN; i++) {
        if (i)
            tg_buf_puts(&b, "; ");
        tg_buf_add(&b, tg_sv_cut(&rest, '\n'));
    }
    if (d->n > SHOWN)
        tg_buf_printf(&b, "; and %zu more", d->n - SHOWN);
    return tg_phrase_take(&b, e->arena).p;
}

static void guard_damage(struct tg_eval_state *e, const struct tg_suite *suite)
{
    for (int side = 0; side < 2; side++) {
        const struct tg_damage *d = e->in->damage[side];
        if (d && d->n)
            guard(e, TG_REASON_RANKS, damage_said(e, side, d),
                  "Record these ranks again, or restore their files.",
                  suite ? suite->at : TG_NOWHERE);
    }
}

static void guard_ranks(struct tg_eval_state *e, const struct tg_suite *suite)
{
    const struct tg_comparison *c = e->in->comparison;
    int64_t expected = suite->ranks_expect;
    for (int side = e->in->alone ? TG_TEST : TG_BASE; side < 2; side++)
        if (c->n_brought[side] != (size_t)expected)
            guard(e, TG_REASON_RANKS, ranks_expected(e, side, expected),
                  ranks_next(e, side, expected), suite->at);
    if (c->n_brought[TG_BASE] == (size_t)expected && c->n_brought[TG_TEST] == (size_t)expected &&
        c->given[TG_TEST].n_ranks != (size_t)expected)
        guard(e, TG_REASON_RANKS, common_ranks_expected(e, expected),
              "Record every rank on both sides, under the same numbers.", suite->at);
}

/* What `require` asks of the fresh side by number or by name. */
static void guard_required(struct tg_eval_state *e, const struct tg_comparison *c,
                           const struct tg_require *q)
{
    if (q->steps && (!c->marked[TG_TEST] || c->n_steps[TG_TEST] < (size_t)q->steps))
        guard(e, TG_NEED_STEPS,
              tg_arena_printf(e->arena, "the fresh trace has %zu steps, required are %lld",
                              c->marked[TG_TEST] ? c->n_steps[TG_TEST] : 0, (long long)q->steps),
              "Record more steps (the schedule's `active`), or lower require.steps.", q->steps_at);
    if (kernels_per_step(c) < (double)q->kernels)
        guard(e, TG_NEED_KERNELS,
              tg_arena_printf(e->arena,
                              "the fresh trace has %.0f kernels per step, required are %lld",
                              kernels_per_step(c), (long long)q->kernels),
              "Did the benchmark run on the device? Otherwise lower require.kernels.",
              q->kernels_at);
    for (size_t i = 0; i < q->ops.n; i++)
        if (!has_op(c, q->ops.v[i])) {
            tg_sv name = tg_pattern_text(q->ops.v[i]);
            struct tg_result *r = guard(
                e, TG_NEED_NAME,
                tg_arena_printf(e->arena, "required name '%s' is not in the fresh trace", name.p),
                "Did the benchmark run the right program? Otherwise change require.ops.",
                q->ops_at);
            r->op = r->op_normalised = name;
        }
}

static void guard_held(struct tg_eval_state *e, const struct tg_comparison *c)
{
    const char *slower = tg_arena_printf(e->arena, "%zu operator%s slower", c->n_withheld,
                                         c->n_withheld == 1 ? " looks" : "s look");
    if (c->other_data && c->n_withheld)
        guard(e, TG_REASON_DATA,
              tg_arena_printf(e->arena, "the fresh runs had other data, and %s", slower),
              "Record both sides with the same data and seeds.", TG_NOWHERE);
    else if (c->busy && c->n_withheld)
        guard(
            e, TG_REASON_MACHINE,
            tg_arena_printf(e->arena, "the machine was busy during the fresh runs, and %s", slower),
            "Record the fresh runs again, with nothing else running and after a warm-up.",
            TG_NOWHERE);
}

/* Runs that left the comparison: what they would have said is not known. */
static void tell_left_runs(struct tg_eval_state *e, const struct tg_comparison *c)
{
    size_t n[2] = { 0 };
    const struct tg_left_run *first[2] = { 0 };

    for (size_t i = c->n_left; i-- > 0;) {
        n[c->left[i].side]++;
        first[c->left[i].side] = &c->left[i];
    }
    for (int side = 0; side < 2; side++) {
        if (n[side])
            tg_eval_note(
                e, TG_REASON_FLAGS,
                TG_SV_PRINTF(e->arena,
                             "%zu of %zu %s runs %s left out: recorded with other profiler "
                             "flags than the others (%.*s: %.*s)",
                             n[side], n[side] + c->n_runs[side], side_name[side],
                             n[side] == 1 ? "is" : "are", TG_SV_ARG(first[side]->source),
                             TG_SV_ARG(first[side]->profile)),
                "Record all runs with the same options of the profiler.");
    }
}

bool tg_guards(struct tg_eval_state *e)
{
    const struct tg_require *q = &e->in->policy->require;
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_suite *suite = e->in->suite;
    bool comparable = !guard_markers(e) && !guard_markings(e) && !guard_steps(e) &&
                      !guard_cuts(e) && !guard_device(e);
    guard_empty(e);
    guard_required(e, c, q);
    guard_detectable(e, c, q);
    if (suite && suite->ranks_expect)
        guard_ranks(e, suite);
    guard_damage(e, suite);
    guard_held(e, c);
    tell_left_runs(e, c);
    if (q->collapse && c->collapsed)
        guard(e, TG_NEED_COLLAPSE,
              "more than half of the kernels are gone, and the device's busy time with them",
              "Did the benchmark run? If this is real, set `require: {collapse: off}`.", q->at);
    return comparable;
}

struct damage { /* of one side: all its runs and ranks, times in ns */
    double overlap, device_time, spans, empty, device_spans, unlinked, unnumbered;
    double overlapping, negative, longer, lost, repeated; /* how many */
    uint64_t leniencies, unmatched, undated;
    double steps;
    struct tg_lenient lenient;
    bool truncated;
};

static struct damage damage_of(const struct tg_side *side)
{
    struct damage d = { 0 };
    for (size_t run = 0; run < side->n_runs; run++)
        for (size_t rank = 0; rank < side->n_ranks; rank++) {
            const struct tg_shard *s = side->at[run][rank];
            d.overlap += (double)s->integrity.overlapping_ns;
            d.device_time += (double)s->device_time;
            d.overlapping += (double)s->integrity.overlapping;
            d.negative += (double)s->integrity.negative_durations;
            d.longer += (double)s->integrity.longer_than_step;
            d.spans += (double)s->spans;
            d.empty += (double)s->integrity.zero_kernels;
            d.device_spans += (double)s->device_spans;
            d.unlinked += (double)s->integrity.unlinked;
            d.unnumbered += (double)(s->unlinked - s->integrity.unlinked);
            d.lost += (double)s->integrity.lost_kernels;
            d.repeated += (double)s->integrity.repeated;
            d.leniencies += s->leniencies;
            d.lenient.invalid_escapes += s->lenient.invalid_escapes;
            d.lenient.control_bytes += s->lenient.control_bytes;
            d.lenient.bad_utf8 += s->lenient.bad_utf8;
            d.lenient.non_finite += s->lenient.non_finite;
            d.lenient.huge_integers += s->lenient.huge_integers;
            d.unmatched += s->integrity.unmatched_begin + s->integrity.unmatched_end;
            d.undated += s->integrity.undated;
            d.steps += (double)s->n_steps;
            d.truncated |= s->truncated;
        }
    return d;
}

/* Work that may have been there and that no rule can see. */
static bool lacks_times(const struct damage *d)
{
    uint64_t unmatched = d->unmatched >= TG_MIN_DAMAGE ? d->unmatched : 0;
    return (double)(d->undated + unmatched) > TG_MAX_LEFT_OUT * d->spans;
}

static bool is_repeated(const struct damage *d)
{
    return d->repeated > TG_MAX_REPEATED * d->spans;
}

/* " 3 launches of kernels have no kernel;" of all that is too much; nothing: it is noise at most. */
static void put_damage(struct tg_buf *b, const struct damage *d)
{
    if (d->overlap > TG_MAX_LOST * d->device_time)
        tg_buf_printf(b, " %.1f %% of device time runs past the next start on its stream;",
                      100 * d->overlap / d->device_time);
    if (d->negative + d->longer > TG_MAX_BAD_SPANS * d->spans)
        tg_buf_printf(b, " %.0f events have a negative duration or outlast every step;",
                      d->negative + d->longer);
    if (d->empty > TG_MAX_LEFT_OUT * d->device_spans)
        tg_buf_printf(b, " %.0f kernels have start 0 and duration 0;", d->empty);
    if (d->unlinked >= TG_MIN_DAMAGE && d->unlinked > TG_MAX_UNLINKED * d->device_spans)
        tg_buf_printf(b, " %.0f of %.0f pieces of device work have no launch;", d->unlinked,
                      d->device_spans);
    if (d->lost >= TG_MIN_DAMAGE && d->lost > TG_MAX_LOST * d->device_spans)
        tg_buf_printf(b, " %.0f launches of kernels have no kernel;", d->lost);
    if (is_repeated(d))
        tg_buf_printf(b, " %.0f of %.0f events are there twice;", d->repeated, d->spans);
    if (lacks_times(d))
        tg_buf_printf(b, " %llu events have no start, no duration or no partner;",
                      (unsigned long long)(d->undated + d->unmatched));
}

static void tell(struct tg_eval_state *e, bool warning, tg_sv text, const char *next)
{
    tg_eval_note(e, warning ? TG_REASON_INTEGRITY : TG_REASON_NONE, text, next);
    e->out->notes[e->out->n_notes - 1].damage = true;
}

/* How many more per step than in the baseline; of the baseline itself 0. */
static double more_a_step(double n, const struct damage *d, double before,
                          const struct damage *base)
{
    return n / fmax(d->steps, 1) - before / fmax(base->steps, 1);
}

/* Damage below the limits, each kind with its number. */
static void tell_damage(struct tg_eval_state *e, const char *name, const struct damage *d,
                        const struct damage *base)
{
    const struct {
        double n;
        const char *what;
    } kinds[] = {
        { d->overlapping, "run past the next start on their stream" },
        { d->negative, "have a negative duration" },
        { d->longer, "are kernels that outlast every step" },
        { d->empty, "are kernels with start 0 and duration 0" },
        { d->unlinked, "are device work whose launch is not in the trace (dropped, or from before "
                       "the recording)" },
        { d->unnumbered,
          "are device work that names no launch of the recording, as copies of MTIA and all of XLA "
          "do" },
        { d->lost, "are launches whose kernel is not in the trace (dropped)" },
    };
    TG_BUF b = { 0 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n > 0)
            tg_buf_printf(&b, "%s %.0f %s", b.n ? ";" : "", kinds[i].n, kinds[i].what);
    if (b.n)
        tell(e, more_a_step(d->lost, d, base->lost, base) >= 1,
             TG_SV_PRINTF(e->arena, "of the events of the %s traces%s", name, b.p), "");
}

/*
 * ": 2 invalid escapes, 1 NaN or Infinity"; nothing where an older version stored the total alone.
 */
static void put_lenient(struct tg_buf *b, const struct tg_lenient *l)
{
    const struct {
        uint64_t n;
        const char *one, *more;
    } kinds[] = {
        { l->invalid_escapes, "invalid escape", "invalid escapes" },
        { l->control_bytes, "raw control byte", "raw control bytes" },
        { l->bad_utf8, "text with invalid bytes", "texts with invalid bytes" },
        { l->non_finite, "NaN or Infinity", "times NaN or Infinity" },
        { l->huge_integers, "integer out of range", "integers out of range" },
    };
    const char *before = ": ";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n) {
            tg_buf_printf(b, "%s%llu %s", before, (unsigned long long)kinds[i].n,
                          kinds[i].n == 1 ? kinds[i].one : kinds[i].more);
            before = ", ";
        }
}

/* `base`: what the baseline has of it, which may be `d` itself. */
static void judge_damage(struct tg_eval_state *e, const char *name, const struct damage *d,
                         const struct damage *base)
{
    TG_BUF b = { 0 };
    tell_damage(e, name, d, base);
    put_damage(&b, d);
    if (b.n)
        guard(e, TG_REASON_INTEGRITY,
              tg_arena_printf(e->arena, "the %s traces are damaged:%.*s", name, (int)b.n - 1, b.p),
              "Record the trace again; a profiler that loses buffers writes such events.",
              TG_NOWHERE);
    if (d->truncated)
        tell(e, true,
             TG_SV_PRINTF(e->arena, "a %s trace is truncated: its missing part was not judged",
                          name),
             "");
    if (d->leniencies) {
        tg_buf_clear(&b);
        tg_buf_printf(&b, "%llu deviation%s from JSON in the %s traces accepted",
                      (unsigned long long)d->leniencies, d->leniencies == 1 ? "" : "s", name);
        put_lenient(&b, &d->lenient);
        tell(e, false, tg_buf_sv(&b), "--strict-json refuses them and says where.");
    }
    if (d->unmatched)
        tell(e, more_a_step((double)d->unmatched, d, (double)base->unmatched, base) >= 1,
             TG_SV_PRINTF(e->arena,
                          "%llu begin or end event%s of the %s traces without a partner ignored",
                          (unsigned long long)d->unmatched, d->unmatched == 1 ? "" : "s", name),
             "");
    if (d->undated)
        tell(e, more_a_step((double)d->undated, d, (double)base->undated, base) > 0,
             TG_SV_PRINTF(e->arena,
                          "%llu event%s of the %s traces without a start or a duration left out",
                          (unsigned long long)d->undated, d->undated == 1 ? "" : "s", name),
             "Their number and time are not judged. A complete event (ph X) has ts and dur: what "
             "writes the trace does not.");
}

bool tg_guard_integrity(struct tg_eval_state *e)
{
    struct damage base = damage_of(&e->in->comparison->given[TG_BASE]);
    struct damage fresh = damage_of(&e->in->comparison->given[TG_TEST]);
    judge_damage(e, side_name[TG_BASE], &base, &base);
    judge_damage(e, side_name[TG_TEST], &fresh, &base);
    return !is_repeated(&base) && !is_repeated(&fresh);
}
