/* Reading what inputs.c resolved: traces and summaries -> one summary with runs and ranks. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/gate/inputs.h"
#include "cmd/gate/reading.h"
#include "core/base/hash.h"

/* One file's shards, and which run of its rank the file is. */
struct loaded {
    const struct tg_input_item *item;
    struct tg_summary summary;
    int64_t rank; /* of its one shard; -1: none, or several shards */
    size_t run;   /* position among the files of its rank */
};

struct load {
    struct loaded *v;
    size_t n;
    const struct tg_summarize_opts *opts;
    struct tg_repo *repo;
    const struct tg_progress *progress;
};

/* What is stored is a summary, whoever made the ref: `baseline show` reads nothing else. */
static bool may_be_read(const struct tg_input_item *item, struct tg_source *s, struct tg_err *err)
{
    tg_sv head;
    if (!item->stored)
        return true;
    if (!tg_source_peek(s, &head, err))
        return false;
    if (tg_summary_looks_like(head))
        return true;
    tg_err_set(err, TG_ERR_SUMMARY, TG_AT_FILE(item->label), "this stored run is not a summary");
    return tg_err_hint(err, "Delete its ref, and record the run with `tracegate baseline record`.");
}

/* A task of its own: nothing but the repository and the progress line is shared. */
static bool load_one(void *arg, size_t i, struct tg_err *err)
{
    const struct load *all = arg;
    struct loaded *l = &all->v[i];
    const struct tg_input_item *item = l->item;
    struct tg_summarize_opts mine = *all->opts;
    struct tg_buf bytes = { 0 };
    struct tg_source *s = tg_inputs_open(item, all->repo, mine.load.reader.limits, &bytes, err);
    bool ok;
    tg_reading_opts(&mine.load.reader, tg_reading_share(i, all->n));
    if (item->from_git)
        mine.host = (struct tg_host){ .cpu = TG_SV("") };
    if (item->rank.n && mine.rank < 0 && !tg_sv_i64(item->rank, &mine.rank))
        mine.rank = -1;
    ok =
        s && may_be_read(item, s, err) && tg_summary_add(&l->summary, s, &mine, all->progress, err);
    tg_source_close(s);
    tg_buf_release(&bytes);
    return ok;
}

/* Does the store hold the first rank of `l` in `of` as well, with more totals by Python frame? The
 * first rank is whole in every stored run. */
static bool is_poorer(const struct loaded *l, const struct loaded *of)
{
    const struct tg_shard *p = l->summary.shards[0], *q = of->summary.shards[0];
    return p->frame_sorts != q->frame_sorts && !(p->frame_sorts & ~q->frame_sorts) &&
           tg_sv_eq(tg_shard_recording(p, l->summary.arena),
                    tg_shard_recording(q, of->summary.arena));
}

/* What was recorded again, with a policy that asks for Python frames, is one run and not two. */
static void drop_poorer(struct loaded *l, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (l[i].item->stored && l[k].item->stored && l[i].summary.n && l[k].summary.n &&
                is_poorer(&l[i], &l[k])) {
                tg_summary_release(&l[i].summary);
                tg_summary_init(&l[i].summary);
            }
}

/* One recording in the store twice, with more or less in it: merging makes one of them. */
static bool is_stored_again(const struct loaded *a, const struct loaded *b,
                            const struct tg_shard *p, const struct tg_shard *q)
{
    return a->item->stored && b->item->stored && p->rank == q->rank && tg_sv_eq(p->run, q->run);
}

/* The same bytes twice are one sample, not two: judging them as two would be false confidence. */
static bool refuse_twins(const struct loaded *l, size_t n, struct tg_err *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            for (size_t x = 0; x < l[i].summary.n; x++)
                for (size_t y = 0; y < l[k].summary.n; y++) {
                    const struct tg_shard *p = l[i].summary.shards[x], *q = l[k].summary.shards[y];
                    if (!tg_sv_eq(p->hash, q->hash) || is_stored_again(&l[i], &l[k], p, q))
                        continue;
                    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' and '%s' hold the same trace",
                               l[k].item->label, l[i].item->label);
                    return tg_err_hint(err,
                                       "A copy is not a second run: name each recording once.");
                }
    return true;
}

/* As tg_side_arrange numbers them: one without a rank, and the order decides for all. */
static void number_ranks(struct loaded *l, size_t n)
{
    bool unranked = false;
    for (size_t i = 0; i < n; i++)
        unranked |= l[i].summary.n == 1 && l[i].summary.shards[0]->rank < 0;
    for (size_t i = 0; unranked && i < n; i++)
        if (l[i].summary.n == 1)
            tg_summary_set_rank(&l[i].summary, (int64_t)i);
}

static bool same_run(const struct loaded *a, const struct loaded *b)
{
    if (a->item->run.n || b->item->run.n)
        return tg_sv_eq(a->item->run, b->item->run);
    return a->run == b->run;
}

/* One id for the shards of a run, from their contents: independent of paths and order. */
static void label_run(struct loaded *l, size_t n, size_t i)
{
    struct tg_shard *shard = l[i].summary.shards[0];
    uint64_t id = 0;
    for (size_t k = 0; k < n; k++)
        if (same_run(&l[i], &l[k]))
            id += tg_hash(l[k].summary.shards[0]->hash, (uint64_t)(l[k].rank + 2));
    shard->run = tg_sv_of(tg_arena_printf(l[i].summary.arena, "%016" PRIx64, id));
}

/* Every file is one shard of a known rank, and there are several ranks. */
static bool spans_ranks(const struct loaded *l, size_t n)
{
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        if (l[i].rank < 0)
            return false;
        several |= l[i].rank != l[0].rank;
    }
    return several;
}

static void number_runs(struct loaded *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (l[i].summary.n == 1)
            l[i].rank = l[i].summary.shards[0]->rank;
        for (size_t k = 0; k < i; k++)
            l[i].run += l[k].rank == l[i].rank;
    }
}

bool tg_inputs_load(struct tg_summary *out, const struct tg_input_list *list,
                    const struct tg_summarize_opts *o, struct tg_repo *repo,
                    const struct tg_progress *progress, struct tg_err *err)
{
    struct loaded *l = tg_xmalloc(list->n * sizeof *l);
    struct load all = { l, list->n, o, repo, progress };
    bool ok;
    for (size_t i = 0; i < list->n; i++) {
        l[i] = (struct loaded){ .item = &list->v[i], .rank = -1 };
        tg_summary_init(&l[i].summary);
    }
    ok = tg_reading_each(list->n, load_one, &all, progress, err);
    if (ok)
        drop_poorer(l, list->n);
    ok = ok && refuse_twins(l, list->n, err);
    if (ok && list->one_run)
        number_ranks(l, list->n);
    if (ok)
        number_runs(l, list->n);
    if (ok && !o->run.n && spans_ranks(l, list->n))
        for (size_t i = 0; i < list->n; i++)
            label_run(l, list->n, i);
    for (size_t i = 0; ok && i < list->n; i++)
        ok = tg_summary_merge(out, &l[i].summary, err);
    for (size_t i = 0; i < list->n; i++)
        tg_summary_release(&l[i].summary);
    free(l);
    return ok;
}
