#include "cmd/hta_side.h"

#include <inttypes.h>

/* Standard input passes once: its rank comes from distributedInfo instead of the text. */
static bool find_rank(int64_t *rank, const struct tg_input_item *item, struct tg_repo *repo,
                      struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    struct tg_source *s;
    bool ok = false;
    *rank = -1;
    if (!item->from_git && strcmp(item->label, "-") == 0)
        return true;
    s = tg_inputs_open(item, repo, NULL, &bytes, err);
    if (s) {
        ok = tg_hta_find_rank(s, rank, err);
        tg_source_close(s);
    }
    tg_buf_release(&bytes);
    return ok;
}

static bool load_one(struct tg_hta_side *side, const struct tg_input_item *item,
                     struct tg_repo *repo, const struct tg_io *io,
                     const struct tg_progress *progress, struct tg_err *err)
{
    struct tg_load_opts opts = { .keep_hta = true };
    struct tg_buf bytes = { 0 };
    struct tg_source *s = NULL;
    struct tg_trace *t = NULL;
    int64_t rank;
    bool replaced;
    if (find_rank(&rank, item, repo, err) && (s = tg_inputs_open(item, repo, NULL, &bytes, err)))
        t = tg_trace_load(s, &opts, progress, err);
    if (t) {
        if (rank < 0)
            rank = t->info->rank < 0 ? 0 : t->info->rank;
        tg_hta_add(side, t, rank, &replaced);
        if (replaced)
            tg_io_note(io,
                       "'%s' is rank %" PRId64 " again: as HTA does, it replaces the earlier file",
                       item->label, rank);
    }
    tg_trace_free(t);
    tg_source_close(s);
    tg_buf_release(&bytes);
    return t != NULL;
}

bool tg_hta_side_load(struct tg_hta_side *side, const struct tg_input_list *inputs,
                      struct tg_repo *repo, const struct tg_io *io,
                      const struct tg_progress *progress, struct tg_err *err)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (!load_one(side, &inputs->v[i], repo, io, progress, err))
            return false;
    return true;
}
