/* Which durations are judged, and why others are not. */
#include "core/diff/rule.h"

const char *tg_judged_text(enum tg_judged j)
{
    static const char *const text[] = {
        [TG_JUDGED] = NULL,
        [TG_NOT_FEW_RUNS] = "too few runs a side",
        [TG_NOT_WAIT] = "its time is a wait for others",
        [TG_NOT_POLLING] = "a polling call: its number is random",
        [TG_NOT_COUNT_CHANGED] = "its count changed",
        [TG_NOT_COUNT_VARIES] = "its count varies, and its calls do not align",
        [TG_NOT_ONE_SIDED] = "not in every run of both sides",
        [TG_NOT_NO_STEPS] = "no step markers",
        [TG_NOT_OTHER_DEVICE] = "recorded on different devices",
        [TG_NOT_OTHER_FLAGS] = "recorded with different profiler flags",
        [TG_NOT_REPLACED] = "part of a replacement, judged as a whole",
        [TG_NOT_TOO_SMALL] = "no measurable time",
        [TG_NOT_INTEGRITY] = "the trace is damaged",
        [TG_NOT_BUSY] = "the machine was busy during the fresh runs",
        [TG_NOT_OTHER_DATA] = "the fresh runs had other data: most counts that vary moved",
    };
    return text[j];
}

const char *tg_estimate_name(enum tg_estimate e)
{
    return e == TG_ESTIMATE_MEAN ? "mean" : "least";
}

static bool damaged(const struct tg_diff_work *w, bool device)
{
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_shard *s = w->shard[at];
        if (s->truncated || (device && s->integrity.negative_durations))
            return true;
    }
    return false;
}

enum tg_judged tg_common_reason(const struct tg_diff_work *w, enum tg_clock clock)
{
    const struct tg_comparison *c = w->c;
    size_t need = w->o->min_runs ? w->o->min_runs : TG_FEWEST_RUNS;

    if (!c->marked[TG_BASE] || !c->marked[TG_TEST] || tg_fewest_steps(w) == 0)
        return TG_NOT_NO_STEPS;
    if (damaged(w, clock == TG_DEVICE_TIMES))
        return TG_NOT_INTEGRITY;
    if (!c->same_device)
        return TG_NOT_OTHER_DEVICE;
    if (!c->same_flags)
        return TG_NOT_OTHER_FLAGS;
    if (c->n_runs[TG_BASE] < need || c->n_runs[TG_TEST] < need)
        return TG_NOT_FEW_RUNS;
    if (c->other_data)
        return TG_NOT_OTHER_DATA;
    return w->busy[clock] ? TG_NOT_BUSY : TG_JUDGED;
}

bool tg_kind_is_timed(enum tg_kind k)
{
    return k == TG_KIND_OP || k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_KERNEL ||
           k == TG_KIND_MEMCPY || k == TG_KIND_MEMSET || k == TG_KIND_STEP;
}

bool tg_kind_is_gap(enum tg_kind k)
{
    return k == TG_KIND_STEP || k == TG_KIND_ANNOTATION;
}

enum tg_judged tg_own_reason(const struct tg_op *op, const struct tg_run_values *v)
{
    if (!v->complete)
        return TG_NOT_ONE_SIDED;
    if (op->change != TG_SAME)
        return TG_NOT_COUNT_CHANGED;
    if (op->polling)
        return TG_NOT_POLLING;
    /* The step with the fewest calls of one run against that of another says nothing. */
    if (v->form == TG_FORM_CALLS ||
        (v->form != TG_FORM_SLOTS && v->form != TG_FORM_SCHEDULE &&
         op->counted.shape != TG_COUNT_CONSTANT && op->counted.shape != TG_COUNT_FIRST_STEP))
        return TG_NOT_COUNT_VARIES;
    /* Others wait for copies; a collective's time is that of the rank which waits least. */
    bool own = op->kind == TG_KIND_MEMCPY || op->kind == TG_KIND_MEMSET || tg_op_is_collective(op);
    if ((op->wait && !own) || (!tg_kind_is_timed(op->kind) && op->kind != TG_KIND_ANNOTATION))
        return TG_NOT_WAIT;
    return TG_JUDGED;
}
