/* `git` as a child process, for what libgit2 cannot do: objects that a partial clone lacks. */
#include "core/baseline/libgit2/internal.h"

#include <stdio.h>
#include <string.h>

void tg_git_spawn_with(struct tg_git *g, const char *const *args, tg_sv input, size_t max_out,
                       struct tg_buf *out, struct tg_spawned *r)
{
    static const char *const set[] = { "GIT_TERMINAL_PROMPT=0",
                                       "GIT_OPTIONAL_LOCKS=0",
                                       "GCM_INTERACTIVE=never",
                                       "SSH_ASKPASS_REQUIRE=never",
                                       "LC_ALL=C",
                                       NULL };
    static const char *const drop[] = { "GIT_DIR",        "GIT_WORK_TREE", "GIT_COMMON_DIR",
                                        "GIT_INDEX_FILE", "GIT_PREFIX",    NULL };
    TG_ARENA *a = tg_arena_new();
    struct tg_spawn s = { .env = g->env,
                          .set = set,
                          .drop = drop,
                          .timeout_ms = g->timeout_ms,
                          .max_out = max_out,
                          .input = input };
    size_t n = 0;
    while (args[n])
        n++;
    const char **argv = TG_NEW_N(a, const char *, n + 5);
    argv[0] = g->program;
    argv[1] = "-c";
    argv[2] = "core.bigFileThreshold=50m";
    argv[3] = tg_arena_printf(a, "--git-dir=%s", g->dir);
    memcpy(argv + 4, args, n * sizeof *args);
    s.argv = argv;
    tg_spawn_run(&s, out, r);
}

void tg_git_spawn(struct tg_git *g, const char *const *args, size_t max_out, struct tg_buf *out,
                  struct tg_spawned *r)
{
    tg_git_spawn_with(g, args, TG_SV(""), max_out, out, r);
}

/* `git cat-file MODE OID`; what it prints goes to `out`. */
void tg_libgit2_cat_file(struct tg_git *g, const char *mode, const char *oid, size_t max_out,
                         struct tg_buf *out, struct tg_spawned *r)
{
    const char *const args[] = { "cat-file", mode, oid, NULL };
    tg_git_spawn(g, args, max_out, out, r);
}

bool tg_git_spawn_failed(const struct tg_git *g, const char *what, const struct tg_spawned *r,
                         struct tg_err *err)
{
    const char *why = r->last_words[0] ? r->last_words : "it says nothing";
    switch (r->end) {
    case TG_SPAWN_NOT_FOUND:
        return tg_err_say(err, TG_ERR_GIT, TG_NOWHERE,
                          "%s needs the program '%s', which is not installed",
                          "Install git, or use a clone without --filter.", what, g->program);
    case TG_SPAWN_TIMEOUT:
        return tg_err_say(err, TG_ERR_GIT, TG_NOWHERE, "%s took longer than %u s",
                          "Check the network and the remote, or use a clone without --filter.",
                          what, g->timeout_ms / 1000);
    case TG_SPAWN_EXIT:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s failed (git exit %d): %s", what, r->code, why);
        break;
    default:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s failed: %s", what,
                   r->end == TG_SPAWN_FAILED ? strerror(r->code) : why);
    }
    return tg_err_hint(err, "Run `git fetch --refetch --no-filter origin` to complete this clone, "
                            "or clone without --filter.");
}

bool tg_libgit2_missing(struct tg_git *g, const char *oid, struct tg_err *err)
{
    if (tg_libgit2_absent(g, err) == TG_SEEN_FAILED)
        return false;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "object %s is missing", oid);
    return tg_err_hint(err, "The repository is damaged: run `git fsck`, then `git fetch --refetch "
                            "origin`, or clone again.");
}

bool tg_libgit2_fetch(struct tg_git *g, const char *oid, struct tg_err *err)
{
    TG_BUF out = { 0 };
    struct tg_spawned r;
    char what[96];
    if (!g->promised)
        return tg_libgit2_missing(g, oid, err);
    if (g->offline) {
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE,
                   "object %s is on the server only (partial clone), and fetching is off", oid);
        return tg_err_hint(
            err, "Run `git cat-file -e %s` once with network, or clone without --filter.", oid);
    }
    (void)snprintf(what, sizeof what, "fetching object %s of a partial clone", oid);
    tg_libgit2_cat_file(g, "-s", oid, 64, &out, &r);
    tg_buf_release(&out);
    if (r.end != TG_SPAWN_EXIT || r.code != 0)
        return tg_git_spawn_failed(g, what, &r, err);
    (void)git_odb_refresh(g->odb);
    return true;
}
