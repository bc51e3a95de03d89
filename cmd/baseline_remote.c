/* tracegate baseline fetch and push. */
#include "cmd/baseline.h"
#include "core/baseline/event.h"
#include "core/baseline/git.h"
#include "core/summary/fit.h"

/* ---- fetch ---- */

/* The first of `n` commits that has runs; n: none. Most searches end at the first commit, so it is
 * asked for alone; then the next eight, then the rest: few round trips, and few runs that nobody
 * will read. */
static bool fetch_walk(struct tg_store_cmd *s, tg_sv suite, const struct tg_commit *v, size_t n,
                       size_t *at, struct tg_err *err)
{
    struct tg_git_files files;
    for (size_t begin = 0, end = 1; begin < n; begin = end, end = end == 1 && n > 9 ? 9 : n) {
        if (!tg_remote_fetch(s->git, &s->remote, suite, v + begin, end - begin, err))
            return false;
        for (*at = begin; *at < end; ++*at) {
            if (!tg_store_files(&s->store, suite, v[*at].sha, s->arena, &files, err))
                return false;
            if (files.n)
                return true;
        }
    }
    *at = n;
    return true;
}

/*
 * Nothing within the walk. `check` calls that a first run unless it sees that the store held this
 * suite before: the runs of one earlier commit are its evidence (of one that is not here, where
 * the history is cut).
 */
static bool fetch_evidence(struct tg_store_cmd *s, tg_sv suite, const struct tg_commit *start,
                           struct tg_err *err)
{
    struct tg_stored *v;
    struct tg_commit proof = { 0 };
    size_t n, commits = 0;
    if (!tg_remote_list(s->git, &s->remote, suite, s->arena, &v, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct tg_commit c;
        if (i && strcmp(v[i].commit, v[i - 1].commit) == 0)
            continue;
        commits++;
        enum tg_seen here = tg_git_commit(s->git, v[i].commit, s->arena, &c, err);
        if (here == TG_SEEN)
            here = tg_store_precedes(&s->store, v[i].commit, start->sha, err);
        else if (here == TG_ABSENT && tg_git_is_shallow(s->git) && !proof.sha[0])
            here = TG_SEEN;
        if (here == TG_SEEN_FAILED)
            return false;
        if (here == TG_SEEN)
            memcpy(proof.sha, v[i].commit, sizeof proof.sha);
    }
    tg_buf_printf(&s->out,
                  "%.*s: nothing within the walk from %.12s; '%s' holds %zu other commit%s\n",
                  TG_SV_ARG(suite), start->sha, s->remote.name, commits, tg_plural(commits));
    return !proof.sha[0] || tg_remote_fetch(s->git, &s->remote, suite, &proof, 1, err);
}

static bool fetch_suite(struct tg_store_cmd *s, const struct tg_baseline_settings *b,
                        const struct tg_suite *suite, const struct tg_commit *start,
                        struct tg_err *err)
{
    int64_t most = b->ref == TG_REF_WINDOW && b->ref_window > b->max_walk + 1 ? b->ref_window
                                                                              : b->max_walk + 1;
    unsigned walk = (unsigned)most;
    struct tg_commit *v;
    struct tg_git_files files;
    size_t n, at;
    if (!tg_baseline_window(s->git, start, walk, s->arena, &v, &n, err) ||
        !fetch_walk(s, suite->name, v, n, &at, err))
        return false;
    if (at == n && n && n < walk && tg_git_is_shallow(s->git)) {
        if (!tg_remote_deepen(s->git, &s->remote, v[n - 1].sha, walk - (unsigned)n, err) ||
            !tg_baseline_window(s->git, start, walk, s->arena, &v, &n, err) ||
            !fetch_walk(s, suite->name, v, n, &at, err))
            return false;
    }
    if (at == n)
        return fetch_evidence(s, suite->name, start, err);
    /* With `ref: window(N)` the baseline is what all of the N commits have. */
    size_t window = b->ref != TG_REF_WINDOW     ? 0
                    : (size_t)b->ref_window < n ? (size_t)b->ref_window
                                                : n;
    if ((window && !tg_remote_fetch(s->git, &s->remote, suite->name, v, window, err)) ||
        !tg_store_files(&s->store, suite->name, v[at].sha, s->arena, &files, err))
        return false;
    tg_buf_printf(&s->out, "%.*s: %zu run%s of commit %.12s", TG_SV_ARG(suite->name), files.n,
                  tg_plural(files.n), v[at].sha);
    if (at)
        tg_buf_printf(&s->out, ", %zu before %.12s", at, start->sha);
    tg_buf_putc(&s->out, '\n');
    return true;
}

/* All suites' runs of the walk that one baseline of the policy begins. */
static bool fetch_from(struct tg_store_cmd *s, const struct tg_baseline_settings *b,
                       const struct tg_commit *start, struct tg_err *err)
{
    if (!start->sha[0])
        tg_io_note(s->io, "HEAD is the first commit: there is nothing before it");
    for (size_t i = 0; start->sha[0] && i < s->suites.n; i++)
        if ((!s->suites.v[i]->baseline.n || s->o->suite) &&
            !fetch_suite(s, b, s->suites.v[i], start, err))
            return false;
    return true;
}

bool tg_baseline_fetch(struct tg_store_cmd *s, struct tg_err *err)
{
    const struct tg_policy *p = s->suites.policy;
    struct tg_commit start;
    bool any = s->o->suite != NULL;
    if (s->o->all) {
        struct tg_stored *v;
        size_t n;
        if (!tg_remote_fetch_all(s->git, &s->remote, tg_store_cmd_suite(s), err) ||
            !tg_store_list(&s->store, tg_store_cmd_suite(s), NULL, s->arena, &v, &n, NULL, err) ||
            !tg_store_whole(v, n, err))
            return false;
        tg_buf_printf(&s->out, "%zu run%s are here now\n", n, tg_plural(n));
        return true;
    }
    for (size_t i = 0; i < s->suites.n; i++)
        any = any || !s->suites.v[i]->baseline.n;
    if (!any) {
        tg_io_note(s->io, "no suite of the policy has `baseline: stored`: nothing to fetch");
        return true;
    }
    if (s->o->commit)
        return tg_store_cmd_commit(s, &start, err) && fetch_from(s, &p->baseline, &start, err);
    for (size_t i = 0; i <= p->n_baselines; i++) {
        const struct tg_baseline_settings *b = i ? &p->baselines[i - 1] : &p->baseline;
        if (!tg_policy_has_baseline(p, i))
            continue;
        if (tg_suites_start(&s->suites, b, NULL, s->git, &start, err)) {
            if (!fetch_from(s, b, &start, err))
                return false;
        } else if (err->kind == TG_ERR_LOST) { /* a release that is not there is for `check` */
            tg_io_note(s->io, "baseline %.*s: %s",
                       TG_SV_ARG(b->name.n ? b->name : TG_SV("baseline")), err->message);
            tg_err_init(err);
        } else {
            return false;
        }
    }
    return true;
}

/* ---- push ---- */

/* What git stores of these runs together. */
static bool size_of(struct tg_store_cmd *s, const struct tg_stored *v, size_t n, size_t *size,
                    struct tg_err *err)
{
    *size = 0;
    if (!tg_store_whole(v, n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct tg_git_file f = { .path = v[i].ref, .size = TG_SIZE_UNKNOWN };
        TG_BUF bytes = { 0 };
        memcpy(f.oid, v[i].oid, sizeof f.oid);
        if (!tg_store_read(&s->store, &f, &bytes, err))
            return false;
        *size += tg_packed_size(tg_buf_sv(&bytes));
    }
    return true;
}

/* Those of v[0..n) that are also in `of` to the front; how many. */
static size_t sift(struct tg_stored *v, size_t n, const struct tg_stored *of, size_t n_of)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < n_of && !found; k++)
            found = tg_sv_eq(v[i].ref, of[k].ref);
        if (found) {
            struct tg_stored one = v[i];
            memmove(v + kept + 1, v + kept, (i - kept) * sizeof *v);
            v[kept++] = one;
        }
    }
    return kept;
}

/*
 * Of the runs of one suite at one commit those for which the commit has room at the remote: what
 * others stored there is fetched for its size. A remote that cannot be read is left to the push,
 * whose message is about pushing.
 */
static bool with_room(struct tg_store_cmd *s, const struct tg_commit *at, struct tg_stored *mine,
                      size_t *n, struct tg_err *err)
{
    struct tg_remote once = s->remote;
    struct tg_stored *there, *all;
    struct tg_err ignored = TG_ERR_INIT;
    size_t n_there, n_all, known, kept, used, size;
    once.tries = 1;
    if (!tg_remote_fetch(s->git, &once, mine->suite, at, 1, &ignored))
        return true;
    if (!tg_store_list(&s->store, mine->suite, at->sha, s->arena, &all, &n_all, NULL, err) ||
        !size_of(s, all, n_all, &used, err))
        return false;
    if (used <= TG_STORE_COMMIT_BYTES ||
        !tg_remote_list(s->git, &once, mine->suite, s->arena, &there, &n_there, &ignored))
        return true;
    n_all = sift(all, n_all, there, n_there);
    known = kept = sift(mine, *n, there, n_there);
    if (!size_of(s, all, n_all, &used, err))
        return false;
    for (size_t i = known; i < *n; i++) {
        if (!size_of(s, &mine[i], 1, &size, err))
            return false;
        if (used + size > TG_STORE_COMMIT_BYTES) {
            tg_io_note(s->io,
                       "not pushed: %.*s; its commit has %zu bytes at '%s' and room for %d, this "
                       "run takes %zu",
                       TG_SV_ARG(mine[i].ref), used, s->remote.name, TG_STORE_COMMIT_BYTES, size);
            continue;
        }
        used += size;
        mine[kept++] = mine[i];
    }
    *n = kept;
    return true;
}

bool tg_baseline_push(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_commit at;
    struct tg_stored *v, *said;
    struct tg_pushed pushed, records = { 0 };
    size_t n = 0, kept = 0, end, n_said, all;
    if (!tg_store_cmd_commit(s, &at, err) ||
        !tg_event_refs(&s->store, tg_store_cmd_suite(s), s->arena, &said, &n_said, err) ||
        !tg_store_list(&s->store, tg_store_cmd_suite(s), NULL, s->arena, &v, &all, NULL, err))
        return false;
    for (size_t i = 0; i < all; i++)
        if (strcmp(v[i].commit, at.sha) == 0)
            v[n++] = v[i];
    if (!n && !n_said)
        return tg_err_say(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored at commit %.12s",
                          "Record first: `tracegate baseline record TRACE…`.", at.sha);
    if (!tg_store_whole(v, n, err))
        return false;
    for (size_t i = 0; i < n; i = end) { /* sorted by suite */
        for (end = i; end < n && tg_sv_eq(v[end].suite, v[i].suite);)
            end++;
        size_t some = end - i;
        if (!with_room(s, &at, v + i, &some, err))
            return false;
        memmove(v + kept, v + i, some * sizeof *v);
        kept += some;
    }
    if (!tg_remote_push(s->git, &s->remote, TG_REMOTE_CREATE, v, kept, &pushed, err) ||
        (n_said &&
         !tg_remote_push(s->git, &s->remote, TG_REMOTE_CREATE, said, n_said, &records, err)))
        return false;
    tg_buf_printf(&s->out, "%s %zu run%s of commit %.12s to '%s', %zu there already\n",
                  s->o->dry_run ? "would push" : "pushed", pushed.done, tg_plural(pushed.done),
                  at.sha, s->remote.name, pushed.same);
    if (records.done)
        tg_buf_printf(&s->out, "%s %zu record%s of events\n",
                      s->o->dry_run ? "would push" : "pushed", records.done,
                      tg_plural(records.done));
    return true;
}
