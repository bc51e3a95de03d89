#include "cmd/gate/inputs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/baseline/store.h"

struct tg_git *tg_repo_get(struct tg_repo *r, struct tg_err *err)
{
    if (!r->git)
        r->git = tg_git_open(&r->opts, err);
    return r->git;
}

enum tg_seen tg_repo_folder(struct tg_arena *a, const char **folder, struct tg_err *err)
{
    TG_FREE char *here = realpath(".", NULL);
    enum tg_seen seen = TG_ABSENT;
    *folder = NULL;
    if (!here) {
        tg_err_set(err, TG_ERR_IO, TG_NOWHERE, "the current folder is not known: %s",
                   strerror(errno));
        return TG_SEEN_FAILED;
    }
    while (here[0] &&
           (seen = tg_look_at(tg_arena_printf(a, "%s/.git", here), NULL, err)) == TG_ABSENT)
        *strrchr(here, '/') = '\0';
    if (seen == TG_SEEN)
        *folder = tg_arena_sv(a, tg_sv_of(here)).p;
    return seen;
}

enum tg_seen tg_repo_look(struct tg_repo *r, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_err why = TG_ERR_INIT;
    const char *folder;
    if (tg_repo_get(r, &why))
        return TG_SEEN;
    enum tg_seen seen = tg_repo_folder(a, &folder, err);
    if (seen != TG_SEEN)
        return seen;
    *err = why;
    return TG_SEEN_FAILED;
}

void tg_repo_release(struct tg_repo *r)
{
    tg_git_close(r->git);
    r->git = NULL;
}

bool tg_repo_commit(struct tg_commit *out, struct tg_repo *r, const char *rev, struct tg_arena *a,
                    struct tg_err *err)
{
    struct tg_git *git;
    *out = (struct tg_commit){ .sha = "" };
    return !rev || ((git = tg_repo_get(r, err)) && tg_git_resolve(git, rev, a, out, err)) ||
           tg_err_context(err, "--base-commit %s", rev);
}

static struct tg_input_item *add_item(struct tg_input_list *list, const char *label,
                                      struct tg_arena *a)
{
    struct tg_input_item *item = TG_ARENA_PUSH(a, list->v, list->n, list->cap);
    *item = (struct tg_input_item){ .label = label };
    return item;
}

void tg_inputs_add_git(struct tg_input_list *list, const char *sha,
                       const struct tg_git_files *files, struct tg_arena *a)
{
    for (size_t i = 0; i < files->n; i++) {
        struct tg_input_item *item =
            add_item(list, tg_arena_printf(a, "%.12s:%.*s", sha, TG_SV_ARG(files->v[i].path)), a);
        item->from_git = true;
        item->stored = tg_sv_starts(files->v[i].path, TG_SV("stored:"));
        item->blob = files->v[i];
    }
}

static bool add_path(struct tg_input_list *list, const struct tg_input *in, struct tg_repo *repo,
                     struct tg_arena *a, struct tg_err *err)
{
    struct tg_git *git = tg_repo_get(repo, err);
    struct tg_commit commit;
    struct tg_git_files files;
    if (!git || !tg_git_resolve(git, in->rev.p, a, &commit, err) ||
        !tg_git_list(git, commit.sha, in->path.p, a, &files, err))
        return false;
    if (files.n) {
        tg_inputs_add_git(list, commit.sha, &files, a);
        return true;
    }
    tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "commit %.12s (%.*s) holds no trace at '%s'",
               commit.sha, TG_SV_ARG(in->rev), in->path.p);
    return tg_err_hint(err, "git ls-tree -r --name-only %.12s shows what it holds.", commit.sha);
}

/* A commit alone: what is stored there, if it is of one suite. */
static bool add_stored(struct tg_input_list *list, const struct tg_input *in, struct tg_repo *repo,
                       struct tg_arena *a, struct tg_err *err)
{
    struct tg_err ignored = TG_ERR_INIT, why = TG_ERR_INIT;
    struct tg_commit commit;
    struct tg_git_files files;
    struct tg_stored *all;
    size_t n;
    struct tg_git *git = tg_repo_get(repo, &ignored);
    enum tg_seen seen = git ? tg_git_look_up(git, in->rev.p, a, &commit, &why) : TG_ABSENT;
    if (seen == TG_ABSENT) /* a path was meant */
        return tg_input_unknown(in, TG_ERR_IO,
                                git ? "Has the benchmark run, and in this folder? `git branch -a` "
                                      "and `git tag` list the revisions."
                                    : "Has the benchmark run, and in this folder?",
                                a, err);
    if (seen == TG_SEEN_FAILED) {
        *err = why;
        return false;
    }
    struct tg_store store = tg_store_open(git);
    if (!tg_store_list(&store, TG_SV(""), commit.sha, a, &all, &n, NULL, err))
        return false;
    if (!n || !tg_sv_eq(all[0].suite, all[n - 1].suite)) { /* sorted by suite */
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "commit %.12s (%.*s) has %s", commit.sha,
                   TG_SV_ARG(in->rev), n ? "stored runs of several suites" : "no stored run");
        return tg_err_hint(err, "Name a file, a folder, a glob, or a path in a commit: %s:PATH.",
                           in->rev.p);
    }
    if (!tg_store_files(&store, all[0].suite, commit.sha, a, &files, err))
        return false;
    tg_inputs_add_git(list, commit.sha, &files, a);
    return true;
}

bool tg_inputs_are_stored(const struct tg_input_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].stored)
            return false;
    return list->n > 0;
}

bool tg_inputs_add(struct tg_input_list *list, const char *text, struct tg_repo *repo,
                   struct tg_arena *a, struct tg_err *err)
{
    struct tg_input in;
    const char **paths = NULL;
    size_t n = 0;
    if (!tg_input_parse(&in, text, a, err))
        return false;
    if (in.kind == TG_INPUT_GIT_PATH)
        return add_path(list, &in, repo, a, err);
    if (in.kind == TG_INPUT_REV)
        return add_stored(list, &in, repo, a, err);
    if (in.kind == TG_INPUT_STDIN || in.kind == TG_INPUT_FILE)
        (void)add_item(list, in.text.p, a);
    else if (in.kind == TG_INPUT_DIR && !tg_files_in_dir(in.text.p, a, &paths, &n, err))
        return false;
    else if (in.kind == TG_INPUT_GLOB && !tg_files_glob(in.text.p, a, &paths, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        (void)add_item(list, paths[i], a);
    return true;
}

bool tg_inputs_add_all(struct tg_input_list *list, const struct tg_strs *texts,
                       struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    for (size_t i = 0; i < texts->n; i++)
        if (!tg_inputs_add(list, texts->v[i], repo, a, err))
            return false;
    return true;
}

struct tg_source *tg_inputs_open(const struct tg_input_item *item, struct tg_repo *repo,
                                 const struct tg_limits *limits, struct tg_buf *bytes,
                                 struct tg_err *err)
{
    /* One repository for all files, and libgit2 wants one thread at a time in it. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    tg_buf_clear(bytes);
    if (!item->from_git)
        return tg_source_open(item->label, limits, err);
    struct tg_store store = tg_store_open(repo->git);
    (void)pthread_mutex_lock(&lock);
    bool ok = item->stored ? tg_store_read(&store, &item->blob, bytes, err)
                           : tg_git_read(repo->git, &item->blob, bytes, err);
    (void)pthread_mutex_unlock(&lock);
    return ok ? tg_source_memory(tg_buf_sv(bytes), item->label, limits, err) : NULL;
}

bool tg_inputs_spare_file(const char *input, const struct tg_outputs *o, struct tg_err *err)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->files[i].temporary && tg_file_same(input, o->files[i].path))
            return tg_err_usage(err, "the output '%s' would overwrite the input '%s'",
                                "Give the output a name of its own.", o->files[i].path, input);
    return true;
}

bool tg_inputs_spare(const struct tg_input_list *list, const struct tg_outputs *o,
                     struct tg_err *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].from_git && !tg_inputs_spare_file(list->v[i].label, o, err))
            return false;
    return true;
}

bool tg_inputs_spare_policy(const struct tg_policy *p, const struct tg_outputs *o,
                            struct tg_err *err)
{
    for (size_t i = 0; i < p->n_files; i++)
        if (!tg_inputs_spare_file(p->files[i], o, err))
            return false;
    return true;
}
