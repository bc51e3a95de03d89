#include "cmd/inputs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/base/hash.h"

struct tg_git *tg_repo_get(struct tg_repo *r, struct tg_err *err)
{
    if (!r->git)
        r->git = tg_git_open(&r->opts, err);
    return r->git;
}

void tg_repo_release(struct tg_repo *r)
{
    tg_git_close(r->git);
    r->git = NULL;
}

static struct tg_input_item *add_item(struct tg_input_list *list, const char *label,
                                      struct tg_arena *a)
{
    struct tg_input_item *grown = TG_NEW_N(a, struct tg_input_item, list->n + 1);
    if (list->n)
        memcpy(grown, list->v, list->n * sizeof *grown);
    list->v = grown;
    grown[list->n] = (struct tg_input_item){ .label = label };
    return &grown[list->n++];
}

void tg_inputs_add_git(struct tg_input_list *list, const char *sha,
                       const struct tg_git_files *files, struct tg_arena *a)
{
    for (size_t i = 0; i < files->n; i++) {
        struct tg_input_item *item =
            add_item(list, tg_arena_printf(a, "%.12s:%.*s", sha, TG_SV_ARG(files->v[i].path)), a);
        item->from_git = true;
        item->blob = files->v[i];
    }
}

static bool add_rev(struct tg_input_list *list, const struct tg_input *in, const char *path,
                    struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_git *git = tg_repo_get(repo, err);
    struct tg_commit commit;
    struct tg_git_files files;
    if (!git || !tg_git_resolve(git, in->rev.p, a, &commit, err) ||
        !tg_git_list(git, commit.sha, path, a, &files, err))
        return false;
    if (files.n) {
        tg_inputs_add_git(list, commit.sha, &files, a);
        return true;
    }
    tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "commit %.12s (%.*s) holds no trace at '%s'",
               commit.sha, TG_SV_ARG(in->rev), path);
    return tg_err_hint(err, "git ls-tree -r --name-only %.12s shows what it holds.", commit.sha);
}

bool tg_inputs_add(struct tg_input_list *list, const char *text, const char *default_path,
                   struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_input in;
    const char **paths;
    size_t n;
    if (!tg_input_parse(&in, text, a, err))
        return false;
    switch (in.kind) {
    case TG_INPUT_STDIN:
    case TG_INPUT_FILE:
        (void)add_item(list, in.text.p, a);
        return true;
    case TG_INPUT_DIR:
        if (!tg_files_in_dir(in.text.p, a, &paths, &n, err))
            return false;
        break;
    case TG_INPUT_GLOB:
        if (!tg_files_glob(in.text.p, a, &paths, &n, err))
            return false;
        break;
    case TG_INPUT_GIT_PATH:
        return add_rev(list, &in, in.path.p, repo, a, err);
    case TG_INPUT_REV:
        if (default_path)
            return add_rev(list, &in, default_path, repo, a, err);
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is neither a file nor REV:PATH", text);
        return tg_err_hint(err, "Name a file, a folder, a glob, or a path in a commit: %s:PATH.",
                           text);
    default:
        return tg_err_set(err, TG_ERR_INTERNAL, TG_NOWHERE, "unknown kind of input");
    }
    for (size_t i = 0; i < n; i++)
        (void)add_item(list, paths[i], a);
    return true;
}

static bool load_one(struct tg_summary *out, const struct tg_input_item *item,
                     const struct tg_summarize_opts *o, struct tg_repo *repo,
                     const struct tg_progress *progress, struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    struct tg_source *s = NULL;
    bool ok = false;
    if (item->from_git) {
        if (tg_git_read(repo->git, &item->blob, &bytes, err))
            s = tg_source_memory(tg_buf_sv(&bytes), item->label, o->load.reader.limits, err);
    } else {
        s = tg_source_open(item->label, o->load.reader.limits, err);
    }
    if (s) {
        struct tg_summarize_opts mine = *o;
        if (item->rank.n && mine.rank < 0 && !tg_sv_i64(item->rank, &mine.rank))
            mine.rank = -1;
        ok = tg_summary_add(out, s, &mine, progress, err);
    }
    tg_source_close(s);
    tg_buf_release(&bytes);
    return ok;
}

/* One file's shards, and which run of its rank the file is. */
struct loaded {
    const struct tg_input_item *item;
    struct tg_summary summary;
    int64_t rank; /* of its one shard; -1: none, or several shards */
    size_t run;   /* position among the files of its rank */
};

/* The same bytes twice are one sample, not two: judging them as two would be false confidence. */
static bool refuse_twins(const struct loaded *l, size_t n, struct tg_err *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            for (size_t x = 0; x < l[i].summary.n; x++)
                for (size_t y = 0; y < l[k].summary.n; y++) {
                    const struct tg_shard *p = l[i].summary.shards[x], *q = l[k].summary.shards[y];
                    if (!tg_sv_eq(p->hash, q->hash))
                        continue;
                    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' and '%s' hold the same trace",
                               l[k].item->label, l[i].item->label);
                    return tg_err_hint(err, "A copy is no second run: name each recording once.");
                }
    return true;
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
    bool ok = true;
    for (size_t i = 0; i < list->n; i++) {
        l[i] = (struct loaded){ .item = &list->v[i], .rank = -1 };
        tg_summary_init(&l[i].summary);
    }
    for (size_t i = 0; ok && i < list->n; i++)
        ok = load_one(&l[i].summary, l[i].item, o, repo, progress, err);
    ok = ok && refuse_twins(l, list->n, err);
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

bool tg_inputs_meta(const struct tg_strs *texts, struct tg_arena *a, struct tg_kv **out, size_t *n,
                    struct tg_err *err)
{
    *out = TG_NEW_N(a, struct tg_kv, texts->n + 1);
    *n = texts->n;
    for (size_t i = 0; i < texts->n; i++) {
        tg_sv value = tg_sv_of(texts->v[i]), key = tg_sv_cut(&value, '=');
        if (key.n == strlen(texts->v[i]) || !key.n) {
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--meta '%s' is not KEY=VALUE", texts->v[i]);
            return tg_err_hint(err, "For example --meta cpu=\"Xeon 8480\".");
        }
        (*out)[i] = (struct tg_kv){ key, value };
    }
    return true;
}
