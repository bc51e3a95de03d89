#include "core/baseline/remote.h"

#include <time.h>

#include "core/baseline/event.h"
#include "core/baseline/git.h"
#include "core/baseline/spawn.h"

#define MAX_ANSWER ((size_t)64 << 20) /* of ls-remote: 500,000 refs */

/* ---- one git command ---- */

static bool check_name(const struct tg_remote *r, struct tg_err *err)
{
    if (r->name && *r->name && *r->name != '-')
        return true;
    return tg_err_usage(err, "'%s' cannot be the name of a remote",
                        "`git remote -v` lists the remotes of this clone.", r->name ? r->name : "");
}

/* Git's own first complaint; advice follows it. */
static tg_sv complaint(const struct tg_spawned *s)
{
    tg_sv rest = tg_sv_of(s->said);
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (tg_sv_skip(&line, TG_SV("fatal: ")))
            return (tg_sv){ line.p, line.n < 360 ? line.n : 360 };
    }
    return tg_sv_of(s->last_words[0] ? s->last_words : "git says nothing");
}

/* What the remote said, joined to one line: its own lines if there are any,
 * else git's complaint. */
static tg_sv reason(const struct tg_spawned *s, struct tg_arena *a)
{
    TG_BUF b = { 0 };
    tg_sv rest = tg_sv_of(s->said);
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (!tg_sv_skip(&line, TG_SV("remote: ")))
            continue;
        while (line.n && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\r'))
            line.n--;
        if (line.n && b.n + line.n < 360) {
            tg_buf_puts(&b, b.n ? "; " : "");
            tg_buf_add(&b, line);
        }
    }
    if (!b.n)
        tg_buf_add(&b, complaint(s));
    return tg_arena_sv(a, tg_buf_sv(&b));
}

static bool has_any(tg_sv text, const char *const *words)
{
    for (; *words; words++)
        if (tg_sv_has(text, tg_sv_of(*words)))
            return true;
    return false;
}

/* Rights, spelling and configuration: trying again cannot help. */
static bool is_final(tg_sv said)
{
    static const char *const words[] = { "Authentication failed",
                                         "could not read Username",
                                         "could not read Password",
                                         "Permission denied",
                                         "Permission to",
                                         "Write access to repository not granted",
                                         "error: 403",
                                         "error: 401",
                                         "epository not found",
                                         "not found",
                                         "does not appear to be a git repository",
                                         "does not exist",
                                         "certificate",
                                         "unable to find remote helper",
                                         NULL };
    return has_any(said, words);
}

static bool command_failed(struct tg_git *g, const struct tg_remote *r, const char *what,
                           const struct tg_spawned *s, struct tg_arena *a, struct tg_err *err)
{
    tg_sv said = tg_sv_of(s->said), why = reason(s, a);
    if (s->end != TG_SPAWN_EXIT)
        return tg_git_spawn_failed(g, tg_arena_printf(a, "%s '%s'", what, r->name), s, err);
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s '%s' failed: %.*s", what, r->name, TG_SV_ARG(why));
    if (tg_sv_has(said, TG_SV("does not appear to be a git repository")))
        return tg_err_hint(err, "`git remote -v` lists the remotes; --remote names another.");
    if (is_final(said))
        return tg_err_hint(err, "Check the remote's address and the rights of the token or key: "
                                "reading needs `contents: read`, storing `contents: write`.");
    return tg_err_hint(err, "Check the network, and try `git ls-remote %s`.", r->name);
}

/* ---- push ---- */

struct push {
    struct tg_git *g;
    const struct tg_remote *r;
    struct tg_arena *a;
    bool deleting;
    const struct tg_stored **v; /* still to do */
    size_t n;
    tg_sv refused;  /* why the remote will never take one of them; "" */
    tg_sv conflict; /* why it may, later */
    tg_sv ref;      /* of whichever it is */
};

/* The remote is busy, or somebody was faster: the next try can succeed. */
static bool may_pass(tg_sv why)
{
    static const char *const words[] = { "failed to update ref",
                                         "cannot lock ref",
                                         "failed to lock",
                                         "fetch first",
                                         "stale info",
                                         "Unable to create",
                                         "incorrect old value",
                                         "remote failure",
                                         "unpacker error",
                                         "already exists",
                                         "timeout",
                                         "timed out",
                                         NULL };
    static const char *const never[] = { "hook declined", "protected",   "denied",
                                         "prohibited",    "not allowed", NULL };
    return has_any(why, words) && !has_any(why, never);
}

/* "FLAG\tSRC:DST\tSUMMARY (REASON)" -> what became of DST. */
static void take_line(struct push *p, tg_sv line, struct tg_pushed *out)
{
    char flag = line.n ? line.p[0] : '\0';
    tg_sv rest = line, ref;
    if (line.n < 3 || line.p[1] != '\t')
        return;
    (void)tg_sv_cut(&rest, '\t');
    ref = tg_sv_cut(&rest, '\t');
    (void)tg_sv_cut(&ref, ':');
    for (size_t i = 0; i < p->n; i++) {
        if (!tg_sv_eq(p->v[i]->ref, ref))
            continue;
        if (flag == '!') {
            tg_sv *why = may_pass(rest) ? &p->conflict : &p->refused;
            *why = tg_arena_sv(p->a, rest);
            p->ref = p->v[i]->ref;
            return;
        }
        if (flag == '=')
            out->same++;
        else
            out->done++;
        p->v[i] = p->v[--p->n];
        return;
    }
}

/* Between nothing and the whole of a span that doubles: writers that met once part soon. */
static void sleep_randomly(uint32_t *state, unsigned longest_ms)
{
    struct timespec t;
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' generator; no secret here */
    unsigned ms = longest_ms ? (*state >> 8) % longest_ms : 0;
    t.tv_sec = ms / 1000;
    t.tv_nsec = (long)(ms % 1000) * 1000000;
    (void)nanosleep(&t, NULL);
}

static bool refused(const struct push *p, const struct tg_spawned *s, struct tg_err *err)
{
    tg_sv said = reason(s, p->a);
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "'%s' refuses %.*s: %.*s%s%.*s", p->r->name,
               TG_SV_ARG(p->ref), TG_SV_ARG(p->refused),
               tg_sv_has(tg_sv_of(s->said), TG_SV("remote: ")) ? "; it says: " : "",
               tg_sv_has(tg_sv_of(s->said), TG_SV("remote: ")) ? (int)said.n : 0, said.p);
    return tg_err_hint(err,
                       "The remote forbids it, so nothing was tried again. Let this job %s refs "
                       "below " TG_STORE_PREFIX " (rules, hooks, `contents: write`).",
                       p->deleting ? "delete" : "create");
}

bool tg_remote_push(struct tg_git *g, const struct tg_remote *r, enum tg_remote_do what,
                    const struct tg_stored *v, size_t n_all, struct tg_pushed *out,
                    struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct push p = { .g = g, .r = r, .a = a, .deleting = what == TG_REMOTE_DELETE, .n = n_all };
    unsigned tries = r->tries ? r->tries : TG_REMOTE_TRIES;
    unsigned span = r->sleep_ms ? r->sleep_ms : TG_REMOTE_SLEEP_MS;
    uint32_t state = r->seed;
    unsigned failures = 0;
    *out = (struct tg_pushed){ 0 };
    p.v = TG_NEW_N(a, const struct tg_stored *, n_all + 1);
    for (size_t i = 0; i < n_all; i++)
        p.v[i] = &v[i];
    if (!check_name(r, err))
        return false;
    while (p.n) {
        struct tg_spawned s;
        size_t before = p.n;
        p.conflict = p.refused = TG_SV("");
        size_t n = p.n < TG_REMOTE_BATCH ? p.n : TG_REMOTE_BATCH, k = 0;
        const char **args = TG_NEW_N(a, const char *, n + 10);
        TG_BUF text = { 0 };
        args[k++] = "push";
        args[k++] = "--porcelain";
        args[k++] = "--no-follow-tags";
        args[k++] = "--recurse-submodules=no";
        if (r->dry_run)
            args[k++] = "--dry-run";
        args[k++] = "--";
        args[k++] = r->name;
        for (size_t i = 0; i < n; i++)
            args[k++] = tg_arena_printf(a, "%s:%.*s", p.deleting ? "" : p.v[i]->oid,
                                        TG_SV_ARG(p.v[i]->ref));
        tg_git_spawn(g, args, MAX_ANSWER, &text, &s);
        tg_sv rest = tg_buf_sv(&text);
        while (rest.n)
            take_line(&p, tg_sv_cut(&rest, '\n'), out);
        out->tries++;
        if (p.refused.n)
            return refused(&p, &s, err);
        if (s.end == TG_SPAWN_EXIT && s.code == 0 && p.n < before)
            continue; /* the next batch */
        if (s.end == TG_SPAWN_NOT_FOUND || s.end == TG_SPAWN_FAILED ||
            (!p.conflict.n && is_final(tg_sv_of(s.said))) || ++failures >= tries) {
            if (!p.conflict.n)
                return command_failed(g, r, "pushing to", &s, a, err);
            tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "'%s' did not accept %.*s in %u tries: %.*s",
                       r->name, TG_SV_ARG(p.ref), failures, TG_SV_ARG(p.conflict));
            return tg_err_hint(err, "Others write at the same time; run the command again.");
        }
        sleep_randomly(&state, span);
        span = span < 30000 ? span * 2 : span;
    }
    return true;
}

/* ---- fetch ---- */

/*
 * --refmap= and --no-tags: nothing but what is named. --no-prune: a configured fetch.prune would
 * delete runs that were recorded here and not pushed yet. No '+' and no --depth: nothing is
 * overwritten, and a shallow clone stays as deep as it is.
 */
static const char *const fetch_args[] = { "fetch",
                                          "--quiet",
                                          "--no-tags",
                                          "--no-prune",
                                          "--refmap=",
                                          "--recurse-submodules=no",
                                          "--no-write-fetch-head",
                                          NULL };

/* `option` (NULL: none), the remote, and `n` refs. */
static const char **fetch_of(struct tg_arena *a, const struct tg_remote *r, const char *option,
                             const char *const *refs, size_t n)
{
    const char **args = TG_NEW_N(a, const char *, n + 16);
    size_t k = 0;
    for (; fetch_args[k]; k++)
        args[k] = fetch_args[k];
    if (option)
        args[k++] = option;
    args[k++] = "--";
    args[k++] = r->name;
    memcpy(args + k, refs, n * sizeof *refs);
    return args;
}

static bool run_fetch(struct tg_git *g, const struct tg_remote *r, const char *const *args,
                      const char *what, struct tg_arena *a, struct tg_err *err)
{
    unsigned tries = r->tries ? r->tries : 3, span = r->sleep_ms ? r->sleep_ms : TG_REMOTE_SLEEP_MS;
    uint32_t state = r->seed;
    for (unsigned k = 1;; k++, span *= 2) {
        struct tg_spawned s;
        tg_git_spawn(g, args, 0, NULL, &s);
        if (s.end == TG_SPAWN_EXIT && s.code == 0)
            return true;
        if (k >= tries || s.end != TG_SPAWN_EXIT || is_final(tg_sv_of(s.said)))
            return command_failed(g, r, what, &s, a, err);
        sleep_randomly(&state, span);
    }
}

/* "PREFIX…*" on both sides, as git fetch wants it. */
static const char *both_sides(struct tg_arena *a, tg_sv prefix, const char *rest)
{
    return tg_arena_printf(a, "%s%s*:%s%s*", prefix.p, rest, prefix.p, rest);
}

bool tg_remote_fetch_all(struct tg_git *g, const struct tg_remote *r, tg_sv suite,
                         struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    tg_sv runs, events;
    const char *refs[2];
    if (!check_name(r, err) || !tg_store_below(TG_STORE_PREFIX, suite, a, &runs, err) ||
        !tg_store_below(TG_EVENT_PREFIX, suite, a, &events, err))
        return false;
    refs[0] = both_sides(a, runs, "");
    refs[1] = both_sides(a, events, "");
    return r->dry_run || run_fetch(g, r, fetch_of(a, r, NULL, refs, 2), "fetching from", a, err);
}

bool tg_remote_fetch(struct tg_git *g, const struct tg_remote *r, tg_sv suite,
                     const struct tg_commit *at, size_t n, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    const char *refs[TG_REMOTE_BATCH + 1];
    tg_sv runs, events;
    bool ok = check_name(r, err) && tg_store_suite(suite, a, &runs, err) &&
              tg_store_below(TG_STORE_PREFIX, suite, a, &runs, err) &&
              tg_store_below(TG_EVENT_PREFIX, suite, a, &events, err);
    for (size_t i = 0; ok && i < n;) {
        size_t k = 0;
        while (i < n && k < TG_REMOTE_BATCH)
            refs[k++] = both_sides(a, runs, tg_arena_printf(a, "%s/", at[i++].sha));
        refs[k++] = both_sides(a, events, "");
        ok = r->dry_run || run_fetch(g, r, fetch_of(a, r, NULL, refs, k), "fetching from", a, err);
    }
    return ok;
}

bool tg_remote_deepen(struct tg_git *g, const struct tg_remote *r, const char *sha, unsigned n,
                      struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    const char *deepen = tg_arena_printf(a, "--deepen=%u", n);
    return check_name(r, err) &&
           run_fetch(g, r, fetch_of(a, r, deepen, &sha, 1), "deepening the history from", a, err);
}

/* A line is an object's name, a tab and a ref; other lines are skipped. False: no more. */
static bool next_ref(tg_sv *text, tg_sv *oid, tg_sv *name)
{
    while (text->n) {
        *name = tg_sv_cut(text, '\n');
        *oid = tg_sv_cut(name, '\t');
        if (oid->n == TG_SHA_SIZE - 1)
            return true;
    }
    return false;
}

void tg_remote_refs(tg_sv text, struct tg_arena *a, struct tg_git_ref_at **out, size_t *n)
{
    tg_sv rest = text, oid, name;
    size_t k = 0;
    for (*n = 0; next_ref(&rest, &oid, &name);)
        ++*n;
    *out = TG_NEW_N(a, struct tg_git_ref_at, *n + 1);
    for (; next_ref(&text, &oid, &name); k++) {
        (*out)[k].name = tg_arena_sv(a, name);
        memcpy((*out)[k].oid, oid.p, oid.n);
        (*out)[k].oid[oid.n] = '\0';
    }
}

bool tg_remote_list(struct tg_git *g, const struct tg_remote *r, tg_sv suite, struct tg_arena *a,
                    struct tg_stored **out, size_t *n, struct tg_err *err)
{
    struct tg_spawned s;
    TG_BUF text = { 0 };
    struct tg_git_ref_at *refs;
    size_t n_refs;
    tg_sv prefix;
    *n = 0;
    if (!check_name(r, err) || !tg_store_below(TG_STORE_PREFIX, suite, a, &prefix, err))
        return false;
    const char *args[] = { "ls-remote", "--quiet", "--refs",
                           "--",        r->name,   tg_arena_printf(a, "%s*", prefix.p),
                           NULL };
    tg_git_spawn(g, args, MAX_ANSWER, &text, &s);
    if (s.end != TG_SPAWN_EXIT || s.code != 0)
        return command_failed(g, r, "listing the refs of", &s, a, err);
    tg_remote_refs(tg_buf_sv(&text), a, &refs, &n_refs);
    tg_store_of_refs(refs, n_refs, a, out, n);
    return true;
}
