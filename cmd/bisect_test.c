/* One commit of a bisection: worktrees, runs, verdict. */
#include "cmd/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/doc.h"
#include "core/base/file.h"
#include "core/base/temporary.h"
#include "core/baseline/git.h"
#include "core/baseline/spawn.h"

#define MAX_REPORT ((size_t)64 << 20)

enum { GOOD, TESTED, SIDES };
static const char *const side_name[SIDES] = { "good", "tested" };

/* ---- folders ---- */

static const char *in_folder(const struct tg_bisect *b, const char *what, int side)
{
    return tg_arena_printf(b->arena, "%s/%s-%s", b->folder, what, side_name[side]);
}

/* rm -rf: only of what is ours, below a folder that mkdtemp made. */
static void remove_folder(const char *path)
{
    const char *const argv[] = { "rm", "-rf", "--", path, NULL };
    struct tg_spawn s = { .argv = argv };
    struct tg_spawned how;
    tg_spawn_run(&s, NULL, &how);
}

static void remove_worktree(const struct tg_bisect *b, int side)
{
    const char *const args[] = { "worktree", "remove", "--force", b->tree[side], NULL };
    struct tg_spawned how;
    tg_git_spawn(b->git, args, 0, NULL, &how);
}

static bool add_worktree(struct tg_bisect *b, int side, const char *sha, struct tg_err *err)
{
    const char *const args[] = { "worktree", "add",         "--quiet", "--force",
                                 "--detach", b->tree[side], sha,       NULL };
    struct tg_spawned how;
    tg_git_spawn(b->git, args, 0, NULL, &how);
    if (how.end == TG_SPAWN_EXIT && how.code == 0)
        return true;
    return tg_git_spawn_failed(b->git, "checking out a commit", &how, err);
}

/* By a signal this runs beside whatever the bisection does: it allocates nothing of ours. */
static void remove_all(void *arg)
{
    const struct tg_bisect *b = arg;
    for (int side = 0; side < SIDES; side++)
        remove_worktree(b, side);
    remove_folder(b->folder);
}

bool tg_bisect_begin(struct tg_bisect *b, struct tg_err *err)
{
    const char *tmp = tg_io_env(b->io, "TMPDIR");
    char *folder = tg_arena_printf(b->arena, "%s/tracegate-bisect-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "no folder can be made in '%s'",
                          tmp ? tmp : "/tmp");
    b->folder = folder;
    for (int side = 0; side < SIDES; side++)
        b->tree[side] = in_folder(b, "tree", side);
    tg_signals_at_end(remove_all, b);
    return true;
}

void tg_bisect_end(struct tg_bisect *b)
{
    if (!b->folder)
        return;
    remove_all(b);
    tg_signals_at_end(NULL, NULL);
}

/* ---- running ---- */

static bool ended_well(const struct tg_spawned *how)
{
    return how->end == TG_SPAWN_EXIT && how->code == 0;
}

static tg_sv said(const struct tg_bisect *b, const char *what, const struct tg_spawned *how)
{
    const char *words = how->last_words[0] ? how->last_words : "it says nothing";
    if (how->end == TG_SPAWN_EXIT)
        return TG_SV_PRINTF(b->arena, "%s ended with %d: %s", what, how->code, words);
    return TG_SV_PRINTF(b->arena, "%s did not end by itself: %s", what, words);
}

/* `argv` in the side's worktree, in the folder of it that this was called from. */
static void run_in(const struct tg_bisect *b, int side, const char *const *argv, size_t n,
                   const char *trace, struct tg_spawned *how)
{
    const char *set[] = { tg_arena_printf(b->arena, "TRACE=%s", trace ? trace : ""), NULL };
    static const char *const drop[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", NULL };
    const char **all = TG_NEW_N(b->arena, const char *, n + 6);
    struct tg_spawn s = { .argv = all, .set = set, .drop = drop, .foreground = true };
    all[0] = "/bin/sh";
    all[1] = "-c";
    all[2] = "cd -- \"$1\" && shift && exec \"$@\"";
    all[3] = "sh";
    all[4] = tg_arena_printf(b->arena, "%s/%s", b->tree[side], tg_git_prefix(b->git));
    memcpy(all + 5, argv, n * sizeof *argv);
    tg_spawn_run(&s, NULL, how);
}

static bool prepare(struct tg_bisect *b, int side, const char *sha, tg_sv *why, struct tg_err *err)
{
    const char *const setup[] = { "bash", "-c", b->o->setup };
    struct tg_spawned how;
    *why = TG_SV("");
    remove_worktree(b, side);
    if (!add_worktree(b, side, sha, err))
        return false;
    if (b->o->setup) {
        run_in(b, side, setup, 3, NULL, &how);
        if (!ended_well(&how))
            *why = said(b, "--setup", &how);
    }
    return true;
}

static const char *trace_path(const struct tg_bisect *b, int side, int64_t k)
{
    return tg_arena_printf(b->arena, "%s/run%02d.json.gz", in_folder(b, "traces", side), (int)k);
}

/* Every {trace} of a word becomes the path. */
static const char *with_trace(const struct tg_bisect *b, const char *word, const char *trace)
{
    TG_BUF out = { 0 };
    const char *at;
    while ((at = strstr(word, "{trace}"))) {
        tg_buf_add(&out, (tg_sv){ word, (size_t)(at - word) });
        tg_buf_puts(&out, trace);
        word = at + 7;
    }
    tg_buf_puts(&out, word);
    return tg_arena_sv(b->arena, tg_buf_sv(&out)).p;
}

/* False with *why: the command failed or left no trace. */
static bool record(const struct tg_bisect *b, int side, int64_t k, tg_sv *why)
{
    const char *trace = trace_path(b, side, k);
    const char **argv = TG_NEW_N(b->arena, const char *, b->command->n + 1);
    struct tg_spawned how;
    for (size_t i = 0; i < b->command->n; i++)
        argv[i] = with_trace(b, b->command->v[i], trace);
    run_in(b, side, argv, b->command->n, trace, &how);
    if (!ended_well(&how))
        *why = said(b, "the command", &how);
    else if (!tg_file_exists(trace))
        *why = TG_SV("the command wrote no trace to $TRACE");
    else
        return true;
    return false;
}

/* ---- judging ---- */

static tg_sv headline(const struct tg_bisect *b, const char *path)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    TG_AUTO(tg_doc_drop) struct tg_doc *d = NULL;
    tg_sv line = TG_SV("");
    if (tg_file_read(&text, path, MAX_REPORT, &ignored))
        d = tg_doc_parse(tg_buf_sv(&text), path, &ignored);
    if (d)
        line = tg_arena_sv(b->arena, tg_doc_str(tg_doc_get(d, "headline"), TG_SV("")));
    return line;
}

/* The exit code of check on what is recorded so far. */
static int judge(const struct tg_bisect *b, const char *sha, tg_sv *why, struct tg_err *err)
{
    const char *base[] = { in_folder(b, "traces", GOOD) },
               *fresh[] = { in_folder(b, "traces", TESTED) };
    const char *report =
        tg_arena_printf(b->arena, "%s/%.12s.json", b->o->out ? b->o->out : b->folder, sha);
    struct tg_check_opts o = { .baseline = { base, 1, 1 },
                               .given = { .runs = true,
                                          .trust_repository = b->o->trust_repository },
                               .policy = b->o->policy,
                               .suite = b->o->suite,
                               .against = "baseline",
                               .base_commit = b->good.sha,
                               .quiet = true,
                               .top = TG_OPT_UNSET };
    struct tg_strs args = { fresh, 1, 1 };
    int code;
    o.report[TG_REPORT_json] = report;
    code = tg_check_run(&o, &args, b->io, err);
    *why = headline(b, report);
    return code;
}

static enum tg_bisect_answer skipped(struct tg_bisect *b, int side, tg_sv why, struct tg_err *err)
{
    if (side == TESTED)
        return TG_BISECT_SKIP;
    (void)tg_err_usage(err, "the good commit %.12s: %.*s",
                       "Try the command by hand in a worktree of it.", b->good.sha, TG_SV_ARG(why));
    return TG_BISECT_ERROR;
}

static enum tg_bisect_answer test_with_runs(struct tg_bisect *b, const struct tg_commit *c,
                                            tg_sv *why, struct tg_err *err)
{
    int64_t done = 0, wanted = b->o->runs;
    for (;;) {
        int code;
        for (; done < wanted; done++)
            for (int side = 0; side < SIDES; side++)
                if (!record(b, side, done, why))
                    return skipped(b, side, *why, err);
        code = judge(b, c->sha, why, err);
        if (code == 0 || code == 1)
            return code ? TG_BISECT_BAD : TG_BISECT_GOOD;
        if (code == 3) { /* traces that cannot be used */
            *why = TG_SV_PRINTF(b->arena, "%s", err->message);
            tg_err_init(err);
            return TG_BISECT_SKIP;
        }
        if (code != 4)
            return TG_BISECT_ERROR;
        tg_err_init(err);
        if (wanted >= b->o->max_runs) {
            *why = TG_SV_PRINTF(b->arena, "undecided after %d runs a side: %.*s", (int)wanted,
                                TG_SV_ARG(*why));
            return TG_BISECT_SKIP;
        }
        wanted = 2 * wanted < b->o->max_runs ? 2 * wanted : b->o->max_runs;
    }
}

enum tg_bisect_answer tg_bisect_test(struct tg_bisect *b, const struct tg_commit *c, tg_sv *why,
                                     struct tg_err *err)
{
    if (!b->prepared) {
        if (!prepare(b, GOOD, b->good.sha, why, err))
            return TG_BISECT_ERROR;
        if (why->n)
            return skipped(b, GOOD, *why, err);
        b->prepared = true;
    }
    if (!prepare(b, TESTED, c->sha, why, err))
        return TG_BISECT_ERROR;
    if (why->n)
        return TG_BISECT_SKIP;
    for (int side = 0; side < SIDES; side++) {
        remove_folder(in_folder(b, "traces", side));
        if (mkdir(in_folder(b, "traces", side), 0777) != 0) {
            tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "no folder can be made in '%s'", b->folder);
            return TG_BISECT_ERROR;
        }
    }
    return test_with_runs(b, c, why, err);
}
