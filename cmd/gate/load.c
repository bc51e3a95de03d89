/* Reading what inputs.c resolved: traces and summaries -> one summary with runs and ranks. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "cmd/gate/cache.h"
#include "cmd/gate/inputs.h"
#include "cmd/gate/reading.h"
#include "core/base/hash.h"

/* One file's shards, and which run of its rank the file is. */
struct loaded {
    const struct tg_input_item *item;
    struct tg_summary summary;
    struct tg_damage damage;
    int64_t rank; /* of its one shard; -1: none, or several shards */
    size_t run;   /* position among the files of its rank */
};

struct load {
    struct loaded *v;
    size_t n;
    const struct tg_summarize_opts *opts;
    struct tg_repo *repo;
    struct tg_cache cache;
    const struct tg_progress *progress;
    struct tg_summary *out; /* what small shards share, under `lock` */
    pthread_mutex_t lock;
};

/* A task of its own: the repository, the progress line and the pool of texts are shared. */
static bool load_one(void *arg, size_t i, struct tg_err *err)
{
    struct load *all = arg;
    struct loaded *l = &all->v[i];
    const struct tg_input_item *item = l->item;
    struct tg_summarize_opts mine = *all->opts;
    mine.keep = i == 0 ? mine.keep : NULL;
    mine.numbers = item->numbers;
    tg_reading_opts(&mine.load.reader, tg_reading_share(i, all->n));
    if (item->from_git)
        mine.host = (struct tg_host){ .cpu = TG_SV("") };
    if (item->rank.n && mine.rank < 0 && !tg_sv_i64(item->rank, &mine.rank))
        mine.rank = -1;
    mine.damage = mine.damage ? &l->damage : NULL;
    bool cached = tg_cache_takes(&all->cache, item, &mine);
    if (!cached || !tg_cache_get(&all->cache, item, &mine, &l->summary)) {
        /* From its bytes. */
        TG_BUF bytes = { 0 };
        TG_SOURCE *s = tg_inputs_open(item, all->repo, mine.load.reader.limits, &bytes, err);
        tg_sv head;
        if (!s || (item->stored && !tg_source_peek(s, &head, err)))
            return false;
        /* What is stored is a summary, whoever made the ref: `baseline show` reads nothing else. */
        if (item->stored && !tg_summary_looks_like(head))
            return tg_err_say(
                err, TG_ERR_SUMMARY, TG_AT_FILE(item->label), "this stored run is not a summary",
                "Delete its ref, and record the run with `tracegate baseline record`.");
        if (!tg_summary_add(&l->summary, s, &mine, all->progress, err))
            return false;
        if (cached && !l->damage.n && l->summary.n == 1 &&
            !tg_sv_ends(item->blob.path, TG_SV(".tgs")))
            tg_cache_put(&all->cache, item, &mine, &l->summary);
    }
    tg_summary_drop_names(&l->summary, &mine);
    /* Ranks of a program have nearly all texts in common: each that is read becomes small at once.
     * Those of one document share them. */
    if (all->n > 1 && l->summary.n == 1) {
        (void)pthread_mutex_lock(&all->lock);
        tg_summary_compact(&l->summary, all->out);
        (void)pthread_mutex_unlock(&all->lock);
    }
    return true;
}

/* What was recorded again, with a policy that asks for Python frames, is one run and not two: the
 * store holds the first rank, which is whole in every stored run, with more totals by frame. */
static void drop_poorer(struct loaded *l, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            struct tg_summary *one = &l[i].summary, *other = &l[k].summary;
            if (!l[i].item->stored || !l[k].item->stored || !one->n || !other->n)
                continue;
            const struct tg_shard *p = one->shards[0], *q = other->shards[0];
            if (p->frame_sorts == q->frame_sorts || p->frame_sorts & ~q->frame_sorts ||
                !tg_sv_eq(tg_shard_recording(p, one->arena), tg_shard_recording(q, other->arena)))
                continue;
            tg_summary_release(one);
            tg_summary_init(one);
        }
}

/* The same bytes twice are one sample, not two: judging them as two would be false confidence. One
 * recording in the store twice, with more or less in it, is merged. */
static bool refuse_twins(const struct loaded *l, size_t n, struct tg_err *err)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap hashes = { 0 };
    struct met { /* where a hash was first met */
        size_t file;
        const struct tg_shard *shard;
    };
    TG_FREE struct met *met = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t x = 0; x < l[i].summary.n; x++) {
            const struct tg_shard *s = l[i].summary.shards[x];
            size_t known = hashes.n;
            uint32_t id = tg_strmap_add(&hashes, s->hash);
            met = tg_grow(met, &cap, hashes.n, sizeof *met);
            if (id == known)
                met[id] = (struct met){ i, s };
            const struct loaded *first = &l[met[id].file];
            bool again = l[i].item->stored && first->item->stored &&
                         s->rank == met[id].shard->rank && tg_sv_eq(s->run, met[id].shard->run);
            if (met[id].file != i && !again)
                return tg_err_usage(err, "'%s' and '%s' hold the same trace",
                                    "A copy is not a second run: name each recording once.",
                                    first->item->label, l[i].item->label);
        }
    return true;
}

/* What the policy calls the run of a file, else which one of its rank it is. */
static uint32_t run_of(const struct loaded *l, struct tg_strmap *runs)
{
    char number[32];
    if (l->item->run.n)
        return tg_strmap_add(runs, l->item->run);
    (void)snprintf(number, sizeof number, "\n%zu", l->run);
    return tg_strmap_add(runs, tg_sv_of(number));
}

/* Every file is one shard of a known rank, and there are several ranks. */
static bool spans_ranks(const struct loaded *l, size_t n)
{
    int64_t first = -1;
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        if (l[i].rank < 0 && l[i].damage.n)
            continue;
        if (l[i].rank < 0)
            return false;
        first = first < 0 ? l[i].rank : first;
        several |= l[i].rank != first;
    }
    return several;
}

static void number_runs(struct loaded *l, size_t n)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap ranks = { 0 };
    TG_FREE size_t *of_rank = tg_xcalloc(n + 1, sizeof *of_rank);
    for (size_t i = 0; i < n; i++) {
        if (l[i].summary.n == 1)
            l[i].rank = l[i].summary.shards[0]->rank;
        else if (l[i].damage.n && !tg_sv_i64(l[i].item->rank, &l[i].rank))
            l[i].rank = tg_file_rank(tg_sv_of(l[i].item->label)); /* of a file that is not read */
        l[i].run =
            of_rank[tg_strmap_add(&ranks, (tg_sv){ (const char *)&l[i].rank, sizeof l[i].rank })]++;
    }
}

bool tg_inputs_load(struct tg_summary *out, const struct tg_input_list *list,
                    const struct tg_summarize_opts *o, struct tg_repo *repo,
                    const struct tg_progress *progress, struct tg_err *err)
{
    TG_FREE struct loaded *l = tg_xmalloc(list->n * sizeof *l);
    struct load all = { l, list->n, o, repo, { 0 }, progress, out, PTHREAD_MUTEX_INITIALIZER };
    TG_ARENA *a = tg_arena_new();
    bool ok, any_git = false;
    for (size_t i = 0; i < list->n; i++) {
        l[i] = (struct loaded){ .item = &list->v[i], .rank = -1 };
        tg_summary_init(&l[i].summary);
        any_git |= list->v[i].from_git;
    }
    if (any_git && repo->cached)
        tg_cache_open(&all.cache, repo->git, a);
    ok = tg_reading_each(list->n, load_one, &all, progress, err);
    if (ok)
        drop_poorer(l, list->n);
    ok = ok && refuse_twins(l, list->n, err);
    /* As tg_side_arrange numbers them: one without a rank, and the order decides for all. */
    bool unranked = false;
    for (size_t i = 0; ok && list->one_run && i < list->n; i++)
        unranked |= l[i].summary.n == 1 && l[i].summary.shards[0]->rank < 0;
    for (size_t i = 0; unranked && i < list->n; i++)
        if (l[i].summary.n == 1)
            tg_summary_set_rank(&l[i].summary, (int64_t)i);
    if (ok)
        number_runs(l, list->n);
    if (ok && !o->run.n && spans_ranks(l, list->n)) {
        /* One id for the shards of a run, from their contents: independent of paths and order. */
        size_t n = list->n;
        TG_AUTO(tg_strmap_release) struct tg_strmap runs = { 0 };
        TG_FREE uint64_t *id = tg_xcalloc(n + 1, sizeof *id);
        for (size_t k = 0; k < n; k++)
            if (l[k].summary.n)
                id[run_of(&l[k], &runs)] +=
                    tg_hash(l[k].summary.shards[0]->hash, (uint64_t)(l[k].rank + 2));
        for (size_t k = 0; k < n; k++)
            if (l[k].summary.n)
                l[k].summary.shards[0]->run =
                    TG_SV_PRINTF(l[k].summary.arena, "%016" PRIx64, id[run_of(&l[k], &runs)]);
    }
    for (size_t i = 0; ok && i < list->n; i++)
        ok = tg_summary_take(out, &l[i].summary, err);
    for (size_t i = 0; i < list->n; i++) {
        if (o->damage)
            tg_damage_append(o->damage, &l[i].damage);
        tg_damage_release(&l[i].damage);
        tg_summary_release(&l[i].summary);
    }
    if (!ok || !o->damage || out->n || !o->damage->n)
        return ok;
    /* Nothing is whole: what is wrong with the first is the error. */
    tg_sv rest = tg_buf_sv(&o->damage->text), first = tg_sv_cut(&rest, '\n');
    return tg_err_say(err, TG_ERR_TRACE, TG_NOWHERE, "no part can be read: %.*s",
                      "Record it again.", TG_SV_ARG(first));
}

bool tg_inputs_read(struct tg_summary *out, const struct tg_input_list *list,
                    const struct tg_summarize_opts *o, struct tg_repo *repo, const struct tg_io *io,
                    struct tg_err *err)
{
    struct tg_progress_line progress;
    tg_progress_start(&progress, io);
    bool ok = tg_inputs_load(out, list, o, repo, &progress.line, err);
    tg_progress_end(&progress);
    return ok;
}

bool tg_inputs_lasts(const struct tg_input_list *list, size_t at)
{
    return at < list->n && (list->v[at].from_git || tg_file_is_regular(list->v[at].label));
}

bool tg_inputs_use_first(const struct tg_first_traces *f, int side,
                         void (*use)(void *arg, int side, const struct tg_kept_trace *k), void *arg)
{
    TG_AUTO(tg_kept_release) struct tg_kept_trace here = { .any = true };
    struct tg_kept_trace *k = f->kept[side] && !f->at[side] ? f->kept[side] : &here;
    if (!k->trace) {
        const struct tg_input_list *list = f->side[side];
        struct tg_load_opts opts = *f->load;
        TG_BUF bytes = { 0 };
        TG_SOURCE *s = NULL;
        struct tg_err ignored = TG_ERR_INIT;
        tg_sv head;
        opts.keep_python = opts.want_sequence = true;
        opts.keep_hta = opts.want_attrs = opts.want_memory = false;
        if (tg_inputs_lasts(list, f->at[side]))
            s = tg_inputs_open(&list->v[f->at[side]], f->repo, opts.reader.limits, &bytes,
                               &ignored);
        if (s && tg_source_peek(s, &head, &ignored) && !tg_summary_looks_like(head))
            k->trace = tg_trace_load(s, &opts, NULL, &ignored);
        if (k->trace) {
            tg_trace_set_python_apart(k->trace);
            if (!tg_steps_build(&k->steps, k->trace, f->window, &ignored))
                tg_kept_release(k);
        }
    }
    bool ok = k->trace != NULL;
    if (ok)
        use(arg, side, k);
    return ok;
}
