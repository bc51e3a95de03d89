#include "cmd/hta_side.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "cmd/gate/reading.h"

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
struct task {
    struct tg_trace *trace;
    int64_t rank;
    bool ready;
};
struct tasks {
    struct task *v;
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    const struct tg_io *io;
    const struct tg_progress *progress;
    pthread_mutex_t lock; /* of `side`, `added` and every `ready` */
    struct tg_hta_side *side;
    size_t added;
};

/* Adds what is next in order, so that no trace is kept longer than it must. */
static void add_ready(struct tasks *all, size_t i)
{
    (void)pthread_mutex_lock(&all->lock);
    all->v[i].ready = true;
    for (; all->added < all->inputs->n && all->v[all->added].ready; all->added++) {
        struct task *k = &all->v[all->added];
        bool replaced;
        tg_hta_add(all->side, k->trace, k->rank, &replaced);
        if (replaced)
            tg_io_note(all->io,
                       "'%s' is rank %" PRId64 " again: as HTA does, it replaces the earlier file",
                       all->inputs->v[all->added].label, k->rank);
        tg_trace_free(k->trace);
        k->trace = NULL;
    }
    (void)pthread_mutex_unlock(&all->lock);
}

static bool load_one(void *arg, size_t i, struct tg_err *err)
{
    struct tasks *all = arg;
    const struct tg_input_item *item = &all->inputs->v[i];
    struct task *k = &all->v[i];
    struct tg_load_opts opts = { .keep_hta = true };
    TG_BUF bytes = { 0 };
    struct tg_source *s = NULL;
    tg_reading_opts(&opts.reader, tg_reading_share(i, all->inputs->n));
    bool ok = tg_rank_by_hta(&k->rank, item, all->repo, err) &&
              (s = tg_inputs_open(item, all->repo, NULL, &bytes, err)) &&
              (k->trace = tg_trace_load(s, &opts, all->progress, err));
    if (ok && k->rank < 0)
        k->rank = k->trace->info->rank < 0 ? 0 : k->trace->info->rank;
    tg_source_close(s);
    if (ok)
        add_ready(all, i);
    return ok;
}

bool tg_hta_side_load(struct tg_hta_side *side, const struct tg_input_list *inputs,
                      struct tg_repo *repo, const struct tg_io *io,
                      const struct tg_progress *progress, struct tg_err *err)
{
    size_t n = inputs->n;
    struct tasks all = { .v = tg_xrealloc(NULL, n, sizeof *all.v),
                         .inputs = inputs,
                         .repo = repo,
                         .io = io,
                         .progress = progress,
                         .side = side };
    memset(all.v, 0, n * sizeof *all.v);
    (void)pthread_mutex_init(&all.lock, NULL);
    bool ok = tg_reading_each(n, load_one, &all, progress, err);
    for (size_t i = 0; i < n; i++)
        tg_trace_free(all.v[i].trace);
    (void)pthread_mutex_destroy(&all.lock);
    free(all.v);
    return ok;
}
