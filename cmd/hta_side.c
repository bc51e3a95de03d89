#include "cmd/hta_side.h"

#include <inttypes.h>

#include "cmd/gate/reading.h"
#include "core/base/threads.h"

bool tg_rank_by_hta(int64_t *rank, const struct tg_input_item *item, struct tg_repo *repo,
                    struct tg_err *err)
{
    TG_BUF bytes = { 0 };
    *rank = -1;
    if (!item->from_git && strcmp(item->label, "-") == 0)
        return true;
    TG_SOURCE *s = tg_inputs_open(item, repo, NULL, &bytes, err);
    return s && tg_hta_find_rank(s, rank, err);
}

/* Files are read side by side, and added in the order of the paths: of one rank the last counts. */
struct loading {
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    const struct tg_io *io;
    const struct tg_progress *progress;
    struct tg_hta_side *side; /* in turn */
    struct tg_turns turns;
};

static bool load_one(void *arg, size_t i, struct tg_err *err)
{
    struct loading *all = arg;
    const struct tg_input_item *item = &all->inputs->v[i];
    struct tg_load_opts opts = { .keep_hta = true };
    TG_BUF bytes = { 0 };
    int64_t rank;
    bool replaced = false;
    tg_reading_opts(&opts.reader, tg_reading_share(i, all->inputs->n));
    bool ok = tg_rank_by_hta(&rank, item, all->repo, err);
    TG_SOURCE *s = ok ? tg_inputs_open(item, all->repo, NULL, &bytes, err) : NULL;
    struct tg_trace *trace = s ? tg_trace_load(s, &opts, all->progress, err) : NULL;
    ok = trace != NULL;
    tg_turns_wait(&all->turns, i);
    if (ok) {
        if (rank < 0)
            rank = trace->info->rank < 0 ? 0 : trace->info->rank;
        tg_hta_add(all->side, trace, rank, &replaced);
    }
    if (replaced)
        tg_io_note(all->io,
                   "'%s' is rank %" PRId64 " again: as HTA does, it replaces the earlier file",
                   item->label, rank);
    tg_turns_pass(&all->turns);
    tg_trace_free(trace);
    return ok;
}

bool tg_hta_side_load(struct tg_hta_side *side, const struct tg_input_list *inputs,
                      struct tg_repo *repo, const struct tg_io *io,
                      const struct tg_progress *progress, struct tg_err *err)
{
    struct loading all = { inputs, repo, io, progress, side, TG_TURNS };
    return tg_reading_each(inputs->n, load_one, &all, progress, err);
}
