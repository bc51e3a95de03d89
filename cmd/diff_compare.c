#include "cmd/diff.h"
#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "cmd/tally.h"
#include "core/base/threads.h"

enum { JUDGED_RUNS = 3 }; /* per side: what evidence about durations needs */

/* One trace is one run: nothing but its sums can be in the table. The page and causes ask for more,
 * and a normalised name is that of the raw one with most time under a parent. */
static bool needs_totals_only(const struct tg_diff_request *q, int side)
{
    return q->inputs[side].n == 1 && !q->o->html && !q->o->cause &&
           q->o->by != TG_DIFF_BY_JUDGED_NAME;
}

/* Both sides as summaries, aligned; exact sums, and evidence where there are runs for it. */
static bool compare_summaries(struct tg_comparison *out, struct tg_diff_request *q,
                              struct tg_err *err)
{
    struct tg_summarize_opts so = { .window = q->window, .rank = -1 };
    struct tg_compare_opts co = { .raw_names = q->o->by != TG_DIFF_BY_JUDGED_NAME,
                                  .any_ranks = true,
                                  .label = { "baseline", "fresh" } };
    struct tg_side side[2];
    for (int s = 0; s < 2; s++) {
        enum tg_arrange how = tg_given_arrange(
            &q->o->given, tg_inputs_are_stored(&q->inputs[s]) ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO);
        so.totals_only = needs_totals_only(q, s);
        if (!tg_inputs_load(&q->summary[s], &q->inputs[s], &so, q->repo, q->progress, err) ||
            !tg_side_arrange_some(&side[s], &q->summary[s], how, q->arena, err))
            return tg_err_context(err, "reading %s", q->label[s]);
        co.steps[s] = q->steps[s].v;
        co.n_step_numbers[s] = q->steps[s].n;
        co.ranks[s] = q->ranks[s].v;
        co.n_rank_numbers[s] = q->ranks[s].n;
    }
    co.no_evidence =
        q->o->whole || side[TG_BASE].n_runs < JUDGED_RUNS || side[TG_TEST].n_runs < JUDGED_RUNS;
    return tg_compare(out, &side[TG_BASE], &side[TG_TEST], &co, q->arena, err);
}

static bool no_attrs_in_summary(struct tg_source *s, struct tg_err *err)
{
    tg_sv head;
    if (!tg_source_peek(s, &head, err))
        return false;
    if (!tg_summary_looks_like(head))
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(tg_source_name(s)),
               "a summary keeps no durations by shape or grid");
    return tg_err_hint(err, "Name the traces themselves, or run without --by.");
}

/* The files of one side. */
struct tallying {
    const struct tg_diff_request *q;
    int side;
    struct tg_tally *tally; /* in turn, as is `steps` */
    size_t steps;
    struct tg_turns turns;
};

static bool tally_one(void *arg, size_t i, struct tg_err *err)
{
    struct tallying *all = arg;
    const struct tg_diff_request *q = all->q;
    const int side = all->side;
    const struct tg_input_list *inputs = &q->inputs[side];
    struct tg_load_opts load = { .want_attrs = true };
    TG_BUF bytes = { 0 };
    TG_AUTO(tg_steps_release) struct tg_steps steps = { 0 };
    struct tg_trace *trace = NULL;
    TG_SOURCE *s = tg_inputs_open(&inputs->v[i], q->repo, NULL, &bytes, err);
    tg_reading_opts(&load.reader, tg_reading_share(i, inputs->n));
    bool ok = s && no_attrs_in_summary(s, err) &&
              (trace = tg_trace_load(s, &load, q->progress, err)) &&
              tg_steps_build(&steps, trace, &q->window, err);
    tg_turns_wait(&all->turns, i);
    if (ok)
        all->steps +=
            tg_tally_add(all->tally, side, trace, &steps, q->steps[side].v, q->steps[side].n);
    tg_turns_pass(&all->turns);
    tg_trace_free(trace);
    return ok;
}

static bool tally_side(struct tg_tally *t, const struct tg_diff_request *q, int side,
                       struct tg_err *err)
{
    struct tallying all = { .q = q, .side = side, .tally = t, .turns = TG_TURNS };
    bool ok = tg_reading_each(q->inputs[side].n, tally_one, &all, q->progress, err);
    if (!ok || all.steps)
        return ok;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has none of the wanted steps", q->label[side]);
    return tg_err_hint(err, "Run without --step to see all.");
}

static bool compare_by_attr(struct tg_comparison *out, const struct tg_diff_request *q,
                            struct tg_err *err)
{
    struct tg_tally *t =
        tg_tally_new(q->o->by == TG_DIFF_BY_SHAPE ? TG_TALLY_SHAPE : TG_TALLY_GRID);
    bool ok = true;
    for (int side = 0; ok && side < 2; side++)
        ok = tally_side(t, q, side, err);
    if (ok)
        tg_tally_comparison(out, t, q->arena);
    tg_tally_free(t);
    return ok;
}

bool tg_diff_compare(struct tg_comparison *out, struct tg_diff_request *q, struct tg_err *err)
{
    if (q->o->hta) {
        struct tg_hta_side side[2];
        const struct tg_hta_side *sides[2] = { &side[0], &side[1] };
        struct tg_hta_select select[2];
        enum tg_hta_device device = q->o->device == TG_DIFF_CPU   ? TG_HTA_CPU
                                    : q->o->device == TG_DIFF_GPU ? TG_HTA_GPU
                                                                  : TG_HTA_ALL;
        bool loaded = true;
        for (int s = 0; s < 2; s++) {
            tg_hta_init(&side[s], q->o->no_rounding);
            select[s] = (struct tg_hta_select){ q->ranks[s].v, q->steps[s].v, q->ranks[s].n,
                                                q->steps[s].n, q->o->whole };
        }
        for (int s = 0; loaded && s < 2; s++)
            loaded = tg_hta_side_load(&side[s], &q->inputs[s], q->repo, q->io, q->progress, err);
        loaded =
            loaded && tg_hta_compare(out, sides, select, device, q->o->by == TG_DIFF_BY_SHORT_NAME,
                                     q->label, q->arena, err);
        for (int s = 0; s < 2; s++)
            tg_hta_release(&side[s]);
        return loaded;
    }
    bool ok = q->splits_names ? compare_by_attr(out, q, err) : compare_summaries(out, q, err);
    if (ok)
        tg_join_names(out, q->o->by == TG_DIFF_BY_SHORT_NAME, q->arena);
    return ok;
}
