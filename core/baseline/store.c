#include "core/baseline/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/sort.h"
#include "core/baseline/git.h"

#define RUN_DIGITS 16

/* ---- names ---- */

bool tg_store_suite(tg_sv suite, struct tg_arena *a, tg_sv *component, struct tg_err *err)
{
    TG_BUF b = { 0 };
    if (!suite.n || suite.n > TG_STORE_MAX_SUITE) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "suite name '%.*s' has %zu bytes",
                   TG_SV_ARG(suite), suite.n);
        return tg_err_hint(err, "A stored suite needs a name of 1 to %u bytes.",
                           TG_STORE_MAX_SUITE);
    }
    for (size_t i = 0; i < suite.n; i++) {
        char c = suite.p[i];
        tg_sv rest = tg_sv_from(suite, i);
        /* git-check-ref-format(1): no component begins or ends with '.', holds "..", or ends in
         * ".lock". */
        bool dot =
            c == '.' && i && rest.n > 1 && rest.p[1] != '.' && !tg_sv_eq(rest, TG_SV(".lock"));
        if (tg_is_word(c) || c == '-' || dot)
            tg_buf_putc(&b, c);
        else
            tg_buf_printf(&b, "%%%02X", (unsigned)(unsigned char)c);
    }
    *component = tg_arena_sv(a, tg_buf_sv(&b));
    return true;
}

bool tg_store_below(const char *prefix, tg_sv suite, struct tg_arena *a, tg_sv *out,
                    struct tg_err *err)
{
    tg_sv component;
    *out = tg_sv_of(prefix);
    if (!suite.n)
        return true;
    if (!tg_store_suite(suite, a, &component, err))
        return false;
    *out = TG_SV_PRINTF(a, "%s%.*s/", prefix, TG_SV_ARG(component));
    return true;
}

/* The way back; false on what tg_store_suite never writes. `component` is part of a C string. */
static bool suite_of(tg_sv component, struct tg_arena *a, tg_sv *suite)
{
    TG_BUF b = { 0 };
    tg_sv again;
    struct tg_err ignored = TG_ERR_INIT;
    for (size_t i = 0; i < component.n; i++) {
        unsigned byte = (unsigned char)component.p[i];
        if (byte == '%' && sscanf(component.p + i, "%%%2x", &byte) == 1)
            i += 2;
        tg_buf_putc(&b, (char)byte);
    }
    *suite = tg_arena_sv(a, tg_buf_sv(&b));
    return tg_store_suite(*suite, a, &again, &ignored) && tg_sv_eq(again, component);
}

/* Has the name of this ref the store's form? `out` is complete but for the object. */
static bool parse_name(const struct tg_git_ref_at *ref, struct tg_arena *a, struct tg_stored *out)
{
    tg_sv rest = ref->name, suite, sha;
    if (!tg_sv_skip(&rest, TG_SV(TG_STORE_PREFIX)))
        return false;
    suite = tg_sv_cut(&rest, '/');
    sha = tg_sv_cut(&rest, '/');
    *out = (struct tg_stored){ .run = rest, .ref = ref->name };
    if (!tg_is_hex(sha, TG_SHA_SIZE - 1) || !tg_is_hex(rest, RUN_DIGITS))
        return false;
    memcpy(out->commit, sha.p, sha.n);
    return suite_of(suite, a, &out->suite);
}

bool tg_store_misnamed(const struct tg_git_ref_at *ref, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "'%.*s' holds another object than its name says: %s",
               TG_SV_ARG(ref->name), ref->oid);
    return tg_err_hint(err,
                       "What was stored there is not known. Fetch it again, or delete it with "
                       "`git update-ref -d %.*s`.",
                       TG_SV_ARG(ref->name));
}

bool tg_store_whole(const struct tg_stored *v, size_t n, struct tg_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].why)
            return tg_err_again(err, v[i].why);
    return true;
}

/* ---- record, list ---- */

bool tg_store_record(const struct tg_store *store, tg_sv suite, const char *sha, tg_sv bytes,
                     struct tg_arena *a, struct tg_stored *out, bool *created, struct tg_err *err)
{
    size_t most = tg_git_limits(store->git)->max_summary;
    char there[TG_SHA_SIZE];
    struct tg_commit c;
    tg_sv component;
    *out = (struct tg_stored){ .suite = tg_arena_sv(a, suite) };
    if (!tg_store_suite(suite, a, &component, err))
        return false;
    if (bytes.n > most)
        return tg_err_say(err, TG_ERR_LIMIT, TG_NOWHERE,
                          "a baseline of %zu bytes, the limit is %zu",
                          "Store a summary, not a trace: `tracegate summarize`.", bytes.n, most);
    enum tg_seen seen = tg_git_commit(store->git, sha, a, &c, err);
    if (seen == TG_ABSENT)
        return tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "commit '%s' does not exist here", sha);
    if (seen != TG_SEEN || !tg_git_write_blob(store->git, bytes, out->oid, err))
        return false;
    (void)snprintf(out->commit, sizeof out->commit, "%s", sha);
    out->run = tg_arena_sv(a, (tg_sv){ out->oid, RUN_DIGITS });
    out->ref = TG_SV_PRINTF(a, TG_STORE_PREFIX "%.*s/%s/%.*s", TG_SV_ARG(component), sha,
                            TG_SV_ARG(out->run));
    seen = tg_git_ref_create(store->git, out->ref.p, out->oid, there, err);
    *created = seen == TG_ABSENT;
    if (seen == TG_SEEN && strcmp(there, out->oid) != 0) {
        tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "'%s' exists and holds something else",
                   out->ref.p);
        return tg_err_hint(err, "Stored runs are never overwritten; look at it with `git show %s`.",
                           there);
    }
    return seen != TG_SEEN_FAILED;
}

static int by_place(const void *x, const void *y)
{
    const struct tg_stored *a = x, *b = y;
    int c = tg_sv_cmp(a->suite, b->suite);
    if (!c)
        c = strcmp(a->commit, b->commit);
    return c ? c : tg_sv_cmp(a->run, b->run);
}

bool tg_store_list(const struct tg_store *store, tg_sv suite, const char *sha, struct tg_arena *a,
                   struct tg_stored **out, size_t *n, size_t *foreign, struct tg_err *err)
{
    struct tg_git_ref_at *refs;
    size_t n_refs, kept;
    tg_sv prefix;
    *n = 0;
    if (!tg_store_below(TG_STORE_PREFIX, suite, a, &prefix, err))
        return false;
    if (suite.n && sha)
        prefix = TG_SV_PRINTF(a, "%s%s/", prefix.p, sha);
    if (!tg_git_refs_all(store->git, prefix.p, a, &refs, &n_refs, err))
        return false;
    *out = TG_NEW_N(a, struct tg_stored, n_refs + 1);
    for (size_t i = kept = 0; i < n_refs; i++) {
        struct tg_stored *one = &(*out)[*n];
        if (!parse_name(&refs[i], a, one))
            continue;
        /* A name of the store's form that cannot be read or has another object is a run all the
         * same, not a foreign ref. */
        memcpy(one->oid, refs[i].oid, sizeof one->oid);
        one->why = refs[i].why;
        if (!one->why && memcmp(one->run.p, refs[i].oid, RUN_DIGITS) != 0) {
            struct tg_err *why = TG_NEW(a, struct tg_err);
            tg_err_init(why);
            (void)tg_store_misnamed(&refs[i], why);
            one->why = why;
        }
        kept++;
        *n += !sha || strcmp(one->commit, sha) == 0;
    }
    if (foreign)
        *foreign = n_refs - kept;
    TG_SORT(*out, *n, by_place);
    return true;
}

void tg_store_of_refs(const struct tg_git_ref_at *refs, size_t n_refs, struct tg_arena *a,
                      struct tg_stored **out, size_t *n)
{
    *n = 0;
    *out = TG_NEW_N(a, struct tg_stored, n_refs + 1);
    for (size_t i = 0; i < n_refs; i++) {
        struct tg_stored *one = &(*out)[*n];
        if (!parse_name(&refs[i], a, one) || memcmp(one->run.p, refs[i].oid, RUN_DIGITS) != 0 ||
            !tg_is_hex(tg_sv_of(refs[i].oid), TG_SHA_SIZE - 1)) /* ls-remote may print anything */
            continue;
        memcpy(one->oid, refs[i].oid, sizeof one->oid);
        ++*n;
    }
    TG_SORT(*out, *n, by_place);
}

/* ---- reading ---- */

bool tg_store_files_of(const struct tg_store *store, const struct tg_stored *v, size_t n,
                       struct tg_arena *a, struct tg_git_files *out, struct tg_err *err)
{
    if (!tg_store_whole(v, n, err))
        return false;
    out->n = n;
    out->v = TG_NEW_N(a, struct tg_git_file, n + 1);
    for (size_t i = 0; i < n; i++) {
        out->v[i].path =
            TG_SV_PRINTF(a, "stored:%.*s/%.*s", TG_SV_ARG(v[i].suite), TG_SV_ARG(v[i].run));
        memcpy(out->v[i].oid, v[i].oid, sizeof v[i].oid);
        memcpy(out->v[i].commit, v[i].commit, sizeof v[i].commit);
        if (!tg_git_size(store->git, v[i].oid, &out->v[i].size, err))
            return false;
    }
    return true;
}

bool tg_store_files(const struct tg_store *store, tg_sv suite, const char *sha, struct tg_arena *a,
                    struct tg_git_files *out, struct tg_err *err)
{
    struct tg_stored *v;
    size_t n;
    return tg_store_list(store, suite, sha, a, &v, &n, NULL, err) &&
           tg_store_files_of(store, v, n, a, out, err);
}

/* Past the runs of the commit that v[at] is of. */
static size_t past_commit(const struct tg_stored *v, size_t n, size_t at)
{
    size_t end = at;
    while (end < n && strcmp(v[end].commit, v[at].commit) == 0)
        end++;
    return end;
}

/* Nothing within the walk. Did the store ever hold this suite on the way to `start`? */
static bool lost_or_first(const struct tg_store *store, const struct tg_stored *v, size_t n,
                          enum tg_store_chosen by, struct tg_arena *a, struct tg_baseline *out,
                          struct tg_err *err)
{
    bool unseen = false;
    out->found = by == TG_STORE_BY_USER ? TG_FOUND_LOST : TG_FOUND_FIRST_RUN;
    for (size_t i = 0; i < n && out->found == TG_FOUND_FIRST_RUN; i = past_commit(v, n, i)) {
        struct tg_commit c;
        enum tg_seen seen = tg_git_commit(store->git, v[i].commit, a, &c, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        unseen = unseen || seen == TG_ABSENT;
        if (seen == TG_SEEN && out->start.sha[0]) {
            enum tg_seen before = tg_git_is_ancestor(store->git, v[i].commit, out->start.sha, err);
            if (before == TG_SEEN_FAILED)
                return false;
            if (before == TG_SEEN)
                out->found = TG_FOUND_LOST;
        }
    }
    if (out->cut && (unseen || (n && by == TG_STORE_BY_USER)))
        return tg_git_shallow(tg_arena_printf(a, "the commit of '%.*s'", TG_SV_ARG(out->path)),
                              err);
    return true;
}

bool tg_store_find(const struct tg_store *store, const struct tg_commit *start, tg_sv suite,
                   unsigned max_walk, enum tg_store_chosen by, struct tg_arena *a,
                   struct tg_baseline *out, struct tg_err *err)
{
    struct tg_commit at = *start, next;
    struct tg_stored *v;
    enum tg_seen back = start->sha[0] ? TG_SEEN : TG_ABSENT;
    size_t n, first;
    *out = (struct tg_baseline){ .start = *start };
    out->path = TG_SV_PRINTF(a, "stored:%.*s", TG_SV_ARG(suite));
    if (!tg_store_list(store, suite, NULL, a, &v, &n, NULL, err))
        return false;
    for (; back == TG_SEEN; out->walked++, at = next) {
        TG_SEARCH(first, n, strcmp(v[first].commit, at.sha) < 0); /* sorted by commit */
        if (first < n && strcmp(v[first].commit, at.sha) == 0) {
            tg_git_use(out, &at, a);
            return tg_store_files_of(store, v + first, past_commit(v, n, first) - first, a,
                                     &out->files, err);
        }
        if (out->walked == max_walk)
            break;
        back = tg_git_step_back(store->git, at.sha, a, &next, &out->cut, err);
        if (back != TG_SEEN)
            break;
    }
    return back != TG_SEEN_FAILED && lost_or_first(store, v, n, by, a, out, err);
}

enum tg_seen tg_store_precedes(const struct tg_store *store, const char *sha, const char *of,
                               struct tg_err *err)
{
    return tg_git_is_ancestor(store->git, sha, of, err);
}

/* ---- pruning ---- */

struct dated { /* a commit and its runs */
    const struct tg_stored *v;
    size_t n;
    int64_t date;
};

static int newest_first(const void *x, const void *y)
{
    const struct dated *a = x, *b = y;
    int c = TG_CMP(b->date, a->date);
    return c ? c : strcmp(b->v->commit, a->v->commit);
}

/* Two dates of one number are of one week or month. */
static int64_t period(enum tg_thin thin, int64_t date)
{
    time_t t = (time_t)date;
    struct tm tm;
    if (thin == TG_THIN_MONTHLY && gmtime_r(&t, &tm))
        return (int64_t)tm.tm_year * 12 + tm.tm_mon;
    return (date / 86400 + 3) / 7; /* 1970-01-01 was a Thursday */
}

/* Copies the old runs of one suite, v[0..n), to `out`. */
static bool choose_old(const struct tg_store *store, const struct tg_prune_opts *o,
                       const struct tg_stored *v, size_t n, struct tg_arena *a,
                       struct tg_stored *out, size_t *n_out, size_t *unknown, struct tg_err *err)
{
    struct dated *commits = TG_NEW_N(a, struct dated, n + 1);
    size_t n_commits = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct tg_commit c;
        enum tg_seen seen = tg_git_commit(store->git, v[i].commit, a, &c, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        end = past_commit(v, n, i);
        *unknown += seen == TG_ABSENT;
        if (seen == TG_SEEN)
            commits[n_commits++] = (struct dated){ v + i, end - i, c.date };
    }
    TG_SORT(commits, n_commits, newest_first);
    for (size_t k = o->keep; k < n_commits; k++) {
        const struct dated *c = &commits[k];
        const char *key = tg_arena_printf(a, "%s %.*s", c->v->commit, TG_SV_ARG(v->suite));
        if (c->date >= o->since ||
            (o->n_spared && bsearch(&key, o->spared, o->n_spared, sizeof *o->spared, tg_by_text)))
            continue;
        if (o->thin != TG_THIN_NONE &&
            (!k || period(o->thin, c->date) != period(o->thin, c[-1].date)))
            continue;
        memcpy(out + *n_out, c->v, c->n * sizeof *v);
        *n_out += c->n;
    }
    return true;
}

bool tg_store_newest(const struct tg_store *store, const struct tg_stored *all, size_t n,
                     struct tg_arena *a, int64_t *date, struct tg_err *err)
{
    *date = INT64_MIN;
    for (size_t i = 0; i < n; i = past_commit(all, n, i)) {
        struct tg_commit c;
        enum tg_seen seen = tg_git_commit(store->git, all[i].commit, a, &c, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_SEEN && c.date > *date)
            *date = c.date;
    }
    return true;
}

bool tg_store_old(const struct tg_store *store, const struct tg_prune_opts *o,
                  const struct tg_stored *all, size_t n_all, struct tg_arena *a,
                  struct tg_stored **out, size_t *n, size_t *unknown, struct tg_err *err)
{
    size_t end, not_here = 0;
    *n = 0;
    *out = TG_NEW_N(a, struct tg_stored, n_all + 1);
    for (size_t i = 0; i < n_all; i = end) {
        for (end = i; end < n_all && tg_sv_eq(all[end].suite, all[i].suite);)
            end++;
        if (!choose_old(store, o, all + i, end - i, a, *out, n, &not_here, err))
            return false;
    }
    TG_SORT(*out, *n, by_place);
    if (unknown)
        *unknown = not_here;
    return true;
}

bool tg_store_delete(const struct tg_store *store, const struct tg_stored *v, size_t n,
                     struct tg_err *err)
{
    TG_FREE struct tg_git_ref_at *refs = tg_xmalloc((n + 1) * sizeof *refs);
    for (size_t i = 0; i < n; i++) {
        refs[i].name = v[i].ref;
        memcpy(refs[i].oid, v[i].oid, sizeof refs[i].oid);
    }
    return tg_git_refs_delete(store->git, refs, n, err);
}

bool tg_store_read(const struct tg_store *store, const struct tg_git_file *f, struct tg_buf *out,
                   struct tg_err *err)
{
    return tg_git_blob(store->git, f->oid, f->path.p, out, err);
}
