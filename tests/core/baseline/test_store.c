/* The store of baselines. What it wrote, git itself is asked for: rev-parse, for-each-ref,
 * cat-file, fsck, gc, push and fetch. */
#include "tests/core/baseline/gitbox.h"

#include <sys/wait.h>

#include "core/baseline/store.h"

/* The store of a repository, for one call. */
#define in(g) (&(struct tg_store){ g })

static const char *sha_of(const struct box *b, const char *rev)
{
    return box_sha(b, "w", rev);
}

/* True: it was not there yet. */
static bool record_as(const struct box *b, struct tg_git *g, const char *suite, const char *rev,
                      const char *bytes, struct tg_stored *s)
{
    struct tg_err err = TG_ERR_INIT;
    bool created;
    assert_no_error(tg_store_record(in(g), tg_sv_of(suite), sha_of(b, rev), tg_sv_of(bytes), b->a,
                                    s, &created, &err),
                    &err);
    return created;
}

static void record(const struct box *b, struct tg_git *g, const char *suite, const char *rev,
                   const char *bytes)
{
    struct tg_stored s;
    (void)record_as(b, g, suite, rev, bytes, &s);
}

/* How many runs of a suite ("": of all) at a revision (NULL: at all) there are. */
static size_t list(const struct box *b, struct tg_git *g, const char *suite, const char *rev,
                   struct tg_stored **v)
{
    struct tg_err err = TG_ERR_INIT;
    size_t n;
    assert_no_error(
        tg_store_list(in(g), tg_sv_of(suite), rev ? sha_of(b, rev) : NULL, b->a, v, &n, NULL, &err),
        &err);
    return n;
}

/* Five commits on main: HEAD~4 ... HEAD, a minute apart; side, from HEAD~2. */
static void repository(const struct box *b)
{
    box_sh(b, "git init -q -b main w; cd w; for i in 0 1 2 3 4; do echo $i > f; git add f; "
              "GIT_COMMITTER_DATE=\"$((1700000000 + 60 * i)) +0000\" git commit -qm $i; done\n"
              "git checkout -qb side HEAD~2; git commit -q --allow-empty -m side; "
              "git checkout -q main");
}

/* ---- names ---- */

IN_BOX(names_of_suites)
{
    static const char *const names[][2] = {
        { "decode-b32", "decode-b32" },
        { "llama_fsdp8", "llama_fsdp8" },
        { "v1.2", "v1.2" },
        { "a..b", "a%2E.b" }, /* never two dots in a row */
        { ".a.", "%2Ea%2E" },
        { "a.lock", "a%2Elock" },
        { "a b/c", "a%20b%2Fc" },
        { "@{-1}~^:?*[\\", "%40%7B-1%7D%7E%5E%3A%3F%2A%5B%5C" },
        { "50%", "50%25" },
        { "-x", "-x" },
        { "gr\xc3\xbc\xc3\x9f", "gr%C3%BC%C3%9F" },
        { "a\nb", "a%0Ab" },
    };
    struct tg_stored *v;
    char text[TG_STORE_MAX_SUITE + 2];
    tg_sv got;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(tg_store_suite(tg_sv_of(names[i][0]), b->a, &got, &b->err));
        assert_string_equal(got.p, names[i][1]);
        record(b, g, names[i][0], "HEAD", "{}");
        box_sh(b, tg_arena_printf(b->a,
                                  "cd w; git check-ref-format 'refs/tracegate/v1/%s/x'; "
                                  "test $(git for-each-ref 'refs/tracegate/v1/%s/' | wc -l) "
                                  "= 1",
                                  got.p, got.p));
        assert_int_equal(list(b, g, names[i][0], NULL, &v), 1);
        assert_string_equal(v[0].suite.p, names[i][0]); /* and back */
    }
    assert_false(tg_store_suite(TG_SV(""), b->a, &got, &b->err));
    assert_error(&b->err, TG_ERR_USAGE, "has 0 bytes", "1 to 100 bytes");
    memset(text, 'x', sizeof text);
    assert_true(tg_store_suite((tg_sv){ text, TG_STORE_MAX_SUITE }, b->a, &got, &b->err));
    assert_false(tg_store_suite((tg_sv){ text, TG_STORE_MAX_SUITE + 1 }, b->a, &got, &b->err));
    assert_error(&b->err, TG_ERR_USAGE, "has 101 bytes", NULL);
}

/* ---- record ---- */

IN_BOX(what_git_sees)
{
    const char *before, *after = "git -C w rev-parse HEAD; git -C w status --porcelain";
    struct tg_stored one, two, again;
    struct tg_git_files files;
    TG_BUF out = { 0 };
    repository(b);
    before = box_line(b, tg_arena_printf(b->a, "(%s) | sha256sum", after));
    BOX_GIT *g = box_open(b, "w");
    assert_true(record_as(b, g, "s", "HEAD~1", "{\"run\":1}", &one));
    /* A retried job brings the same bytes, a repeated one others. */
    assert_false(record_as(b, g, "s", "HEAD~1", "{\"run\":1}", &again));
    assert_string_equal(again.ref.p, one.ref.p);
    assert_true(record_as(b, g, "s", "HEAD~1", "{\"run\":2}", &two));
    assert_string_not_equal(two.ref.p, one.ref.p);
    assert_string_equal(one.ref.p,
                        tg_arena_printf(b->a, "refs/tracegate/v1/s/%s/%.16s", sha_of(b, "HEAD~1"),
                                        box_line(b, "printf '{\"run\":1}' | git hash-object "
                                                    "--stdin")));
    assert_string_equal(box_line(b, tg_arena_printf(b->a, "git -C w cat-file blob %s", one.ref.p)),
                        "{\"run\":1}");
    assert_string_equal(box_line(b, tg_arena_printf(b->a, "(%s) | sha256sum", after)), before);
    /* Sound, kept by gc, and found again when packed. */
    box_sh(b, "cd w; git fsck --strict --no-dangling 2>&1 | (! grep .)\n"
              "git reflog expire --expire=now --all; git gc -q --prune=now; git pack-refs --all");
    assert_true(tg_store_files(in(g), TG_SV("s"), sha_of(b, "HEAD~1"), b->a, &files, &b->err));
    assert_int_equal(files.n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(tg_store_read(in(g), &files.v[i], &out, &b->err));
    assert_true(strstr(out.p, "{\"run\":1}") && strstr(out.p, "{\"run\":2}"));
    assert_int_equal(files.v[0].size, 9);
}

IN_BOX(refused_records)
{
    static const struct {
        const char *script, *suite, *sha, *bytes; /* sha NULL: HEAD */
        enum tg_err_kind kind;
        const char *message, *hint;
    } rows[] = {
        { "true", "s", NULL, "12345", TG_ERR_LIMIT, "5 bytes, the limit is 4",
          "tracegate summarize" },
        { "true", "s", "1111111111111111111111111111111111111111", "{}", TG_ERR_REF,
          "does not exist here", NULL },
        /* nothing was left; somebody else's ref of that name is not overwritten */
        { "test -z \"$(git for-each-ref refs/tracegate)\"; "
          "git update-ref refs/tracegate/v1/s/$(git rev-parse HEAD)/"
          "$(printf '{}' | git hash-object --stdin | cut -c1-16) HEAD",
          "s", NULL, "{}", TG_ERR_OUTPUT, "holds something else", "never overwritten" },
        /* a place that cannot be written */
        { "git update-ref refs/tracegate/v1/t HEAD", "t", NULL, "{}", TG_ERR_OUTPUT,
          "a ref cannot be written", "writable" },
    };
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    limits.max_summary = 4;
    repository(b);
    BOX_GIT *g =
        tg_git_open(&(struct tg_git_opts){ .dir = box_path(b, "w"), .limits = &limits }, &b->err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_stored s;
        bool created;
        box_sh(b, tg_arena_printf(b->a, "cd w; %s", rows[i].script));
        assert_false(tg_store_record(in(g), tg_sv_of(rows[i].suite),
                                     rows[i].sha ? rows[i].sha : sha_of(b, "HEAD"),
                                     tg_sv_of(rows[i].bytes), b->a, &s, &created, &b->err));
        assert_error(&b->err, rows[i].kind, rows[i].message, rows[i].hint);
    }
}

IN_BOX(waits_for_a_lock)
{
    const char *ref;
    repository(b);
    ref = tg_arena_printf(b->a, "w/.git/refs/tracegate/v1/s/%s", sha_of(b, "HEAD"));
    box_sh(b, tg_arena_printf(b->a,
                              "mkdir -p %s; l=%s/$(printf '{}' | git hash-object --stdin | "
                              "cut -c1-16).lock; : > $l; (sleep 0.3; rm $l) >/dev/null "
                              "2>&1 &",
                              ref, ref));
    BOX_GIT *g = box_open(b, "w");
    record(b, g, "s", "HEAD", "{}");
}

/* Six processes, twenty runs each, and one run that all of them record: 121 refs. */
IN_BOX(concurrent_writers)
{
    const char *sha;
    pid_t child[6];
    repository(b);
    sha = sha_of(b, "HEAD");
    for (int i = 0; i < 6; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            struct tg_err err = TG_ERR_INIT;
            struct tg_git *g = box_open(b, "w");
            struct tg_stored s;
            bool created, ok = true;
            for (int k = 0; k <= 20 && ok; k++)
                ok = tg_store_record(
                    in(g), TG_SV("s"), sha,
                    tg_sv_of(tg_arena_printf(b->a, k ? "{\"w\":%d,\"k\":%d}" : "{}", i, k)), b->a,
                    &s, &created, &err);
            if (!ok)
                print_error("writer %d: %s\n", i, err.message);
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < 6; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    box_sh(
        b,
        "cd w; test $(git for-each-ref refs/tracegate | wc -l) = 121; "
        "git fsck --strict --no-dangling 2>&1 | (! grep .); ! find .git -name '*.lock' | grep .");
}

/* ---- list ---- */

IN_BOX(lists)
{
    struct tg_stored *v;
    size_t n, foreign;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    assert_int_equal(list(b, g, "", NULL, &v), 0);
    record(b, g, "b", "HEAD", "1");
    record(b, g, "a", "HEAD", "1");
    record(b, g, "a", "HEAD~1", "1");
    record(b, g, "a", "HEAD~1", "2");
    record(b, g, "a.b", "HEAD", "1"); /* begins with another suite's name */
    /* Not ours: a name too short, upper-case escapes alone. */
    box_sh(b, "cd w; h=$(git rev-parse HEAD); git update-ref refs/tracegate/v1/a/x HEAD; "
              "git update-ref refs/tracegate/v1/a/$h/0123456789abcdex HEAD; "
              "git update-ref refs/tracegate/v1/%2a/$h/$(echo $h | cut -c1-16) HEAD; "
              "git update-ref refs/tracegate/v2/a/$h/$(echo $h | cut -c1-16) HEAD");
    assert_true(tg_store_list(in(g), TG_SV(""), NULL, b->a, &v, &n, &foreign, &b->err));
    assert_int_equal(n, 5);
    assert_int_equal(foreign, 3);
    assert_string_equal(v[3].suite.p, "a.b");
    assert_string_equal(v[4].suite.p, "b");
    for (size_t i = 1; i < 3; i++)
        assert_true(strcmp(v[i - 1].commit, v[i].commit) < 0 ||
                    tg_sv_cmp(v[i - 1].run, v[i].run) < 0);
    assert_int_equal(list(b, g, "a", NULL, &v), 3);
    assert_int_equal(list(b, g, "a", "HEAD~1", &v), 2);
    assert_int_equal(list(b, g, "", "HEAD", &v), 3);
    assert_int_equal(list(b, g, "c", NULL, &v), 0);
}

/* A run whose ref holds another object, or is no ref, was damaged or replaced: never "nothing is
 * stored", and the others are there all the same. */
IN_BOX(a_run_under_the_name_of_another)
{
    static const struct {
        const char *damage, *words;
    } cases[] = { { "git update-ref $R HEAD", "holds another object than its name says" },
                  { ": > .git/$R", "cannot be read: corrupted loose reference file" } };
    for (size_t i = 0; i < 2; i++) {
        struct tg_stored *v;
        struct tg_git_files files;
        struct tg_err err = TG_ERR_INIT, other = TG_ERR_INIT;
        box_sh(b, "rm -rf w");
        repository(b);
        BOX_GIT *g = box_open(b, "w");
        record(b, g, "a", "HEAD", "1");
        record(b, g, "a", "HEAD~1", "1");
        box_sh(b, tg_arena_printf(b->a,
                                  "cd w; R=$(git for-each-ref --format='%%(refname)' "
                                  "refs/tracegate/v1/a/$(git rev-parse HEAD))\n%s",
                                  cases[i].damage));
        size_t n = list(b, g, "a", NULL, &v);
        assert_int_equal(n, 2);
        assert_false(tg_store_whole(v, n, &err));
        assert_error(&err, TG_ERR_GIT, cases[i].words, "");
        assert_false(tg_store_files(in(g), TG_SV("a"), sha_of(b, "HEAD"), b->a, &files, &other));
        assert_string_equal(err.message, other.message);
        assert_true(tg_store_files(in(g), TG_SV("a"), sha_of(b, "HEAD~1"), b->a, &files, &b->err));
        assert_int_equal(files.n, 1);
    }
}

/* ---- find ---- */

static const struct {
    const char *name, *stored; /* revisions with a run, joined by blanks */
    unsigned max_walk;
    bool explicit_side;
    enum tg_found found;
    unsigned walked;
} finds[] = {
    { "there", "HEAD HEAD~1", 50, false, TG_FOUND, 0 },
    { "two back", "HEAD~2 HEAD~4", 50, false, TG_FOUND_GAP, 2 },
    { "at the limit", "HEAD~3", 3, false, TG_FOUND_GAP, 3 },
    { "beyond the limit: lost", "HEAD~3", 2, false, TG_FOUND_LOST, 2 },
    { "never: first run", "", 50, false, TG_FOUND_FIRST_RUN, 4 },
    { "only on another branch: first run", "side", 50, false, TG_FOUND_FIRST_RUN, 4 },
    { "asked for explicitly: lost", "", 50, true, TG_FOUND_LOST, 4 },
};

TEST(every_find)
{
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        struct tg_baseline found;
        struct tg_commit head;
        struct tg_err err = TG_ERR_INIT;
        BOX *b = box_new();
        tg_sv revs = tg_sv_of(finds[i].stored);
        print_message("    %s\n", finds[i].name);
        repository(b);
        BOX_GIT *g = box_open(b, "w");
        record(b, g, "other", "HEAD", "{}");
        while (revs.n)
            record(b, g, "s", tg_arena_sv(b->a, tg_sv_cut(&revs, ' ')).p, "{\"s\":1}");
        assert_true(tg_git_resolve(g, "HEAD", b->a, &head, &err));
        assert_no_error(
            tg_store_find(in(g), &head, TG_SV("s"), finds[i].max_walk,
                          finds[i].explicit_side ? TG_STORE_BY_USER : TG_STORE_BY_POLICY, b->a,
                          &found, &err),
            &err);
        assert_int_equal(found.found, finds[i].found);
        assert_int_equal(found.walked, finds[i].walked);
        assert_int_equal(found.files.n, finds[i].found <= TG_FOUND_GAP);
        if (found.files.n)
            assert_string_equal(found.commit.sha,
                                sha_of(b, tg_arena_printf(b->a, "HEAD~%u", finds[i].walked)));
        if (finds[i].found == TG_FOUND_LOST) {
            assert_false(tg_baseline_missing(&found, &err));
            assert_error(&err, TG_ERR_LOST, "no baseline `stored:s` in commit", "baseline fetch");
        }
    }
}

/* The clone is cut before the stored commit: nobody can say whether it is an ancestor. */
IN_BOX(find_in_a_shallow_clone)
{
    struct tg_baseline found;
    struct tg_commit head;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    record(b, g, "s", "HEAD~3", "{}");
    record(b, g, "near", "HEAD~1", "{}");
    box_sh(b, "git clone -q --depth 2 file://$PWD/w c; cd c; "
              "git fetch -q origin 'refs/tracegate/*:refs/tracegate/*'");
    BOX_GIT *c = box_open(b, "c");
    assert_true(tg_git_resolve(c, "HEAD", b->a, &head, &b->err));
    assert_false(
        tg_store_find(in(c), &head, TG_SV("s"), 50, TG_STORE_BY_POLICY, b->a, &found, &b->err));
    assert_error(&b->err, TG_ERR_GIT, "the history is shallow", "fetch-depth");
    assert_true(
        tg_store_find(in(c), &head, TG_SV("near"), 50, TG_STORE_BY_POLICY, b->a, &found, &b->err));
    assert_int_equal(found.found, TG_FOUND_GAP);
    assert_true(
        tg_store_find(in(c), &head, TG_SV("never"), 50, TG_STORE_BY_POLICY, b->a, &found, &b->err));
    assert_int_equal(found.found, TG_FOUND_FIRST_RUN);
}

/* ---- prune, and moving between clones ---- */

/* Lists, chooses, and deletes unless `dry_run`: as the command does. Returns how many went. */
static size_t prune(const struct box *b, struct tg_git *g, const char *suite, size_t keep,
                    int64_t since, bool dry_run, size_t *unknown)
{
    struct tg_prune_opts o = { .keep = keep, .since = since };
    struct tg_stored *all, *old;
    struct tg_err err = TG_ERR_INIT;
    size_t n_all, n;
    assert_true(tg_store_list(in(g), tg_sv_of(suite), NULL, b->a, &all, &n_all, NULL, &err));
    assert_true(tg_store_old(in(g), &o, all, n_all, b->a, &old, &n, unknown, &err));
    assert_true(dry_run || tg_store_delete(in(g), old, n, &err));
    return n;
}

IN_BOX(prunes_the_oldest)
{
    size_t unknown;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    for (int i = 0; i < 5; i++) {
        record(b, g, "s", tg_arena_printf(b->a, "HEAD~%d", i), "1");
        record(b, g, "t", tg_arena_printf(b->a, "HEAD~%d", i), "1");
    }
    record(b, g, "s", "HEAD~4", "2");
    record(b, g, "s", "HEAD~1", "2");
    /* A run of a commit that is not here (a fetched store in a shallow clone). */
    box_sh(b, "cd w; o=$(printf 1 | git hash-object --stdin); git update-ref refs/tracegate/v1/s/"
              "1111111111111111111111111111111111111111/$(echo $o | cut -c1-16) $o");
    assert_int_equal(prune(b, g, "s", 2, INT64_MAX, true, &unknown), 4); /* HEAD~2, ~3, twice ~4 */
    assert_int_equal(unknown, 1);
    assert_int_equal(prune(b, g, "s", 2, 0, true, &unknown), 0); /* all from 1970 on are young */
    box_sh(b, "cd w; test $(git for-each-ref refs/tracegate/v1/s | wc -l) = 8");
    assert_int_equal(prune(b, g, "s", 2, INT64_MAX, false, &unknown), 4);
    box_sh(b, "cd w; test $(git for-each-ref refs/tracegate/v1/s | wc -l) = 4\n"
              "test $(git for-each-ref refs/tracegate/v1/s/$(git rev-parse HEAD~1) | wc -l) = 2\n"
              "test $(git for-each-ref refs/tracegate/v1/s/$(git rev-parse HEAD) | wc -l) = 1\n"
              "test $(git for-each-ref "
              "refs/tracegate/v1/s/1111111111111111111111111111111111111111 | wc -l) = 1\n"
              "test $(git for-each-ref refs/tracegate/v1/t | wc -l) = 5");
    assert_int_equal(prune(b, g, "s", 2, INT64_MAX, false, &unknown), 0);
    assert_int_equal(prune(b, g, "", 0, INT64_MAX, false, &unknown), 3 + 5);
    box_sh(b, "cd w; git pack-refs --all; test $(git for-each-ref refs/tracegate | wc -l) = 1");
}

/* Many at once: one transaction; where one is gone, the others go; where one changed, it stays. */
IN_BOX(prunes_many)
{
    struct tg_stored *all;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    for (int i = 0; i < 60; i++)
        record(b, g, "s", "HEAD", tg_arena_printf(b->a, "{\"run\":%d}", i));
    assert_int_equal(list(b, g, "s", NULL, &all), 60);
    assert_no_error(tg_store_delete(in(g), all, 20, &b->err), &b->err);
    box_sh(b, "cd w; git pack-refs --all; test $(git for-each-ref refs/tracegate | wc -l) = 40");
    assert_no_error(tg_store_delete(in(g), all + 10, 20, &b->err),
                    &b->err); /* half of them are gone */
    box_sh(b, "cd w; test $(git for-each-ref refs/tracegate | wc -l) = 30");
    box_sh(b, tg_arena_printf(
                  b->a, "cd w; git update-ref %.*s $(echo other | git hash-object -w --stdin)",
                  TG_SV_ARG(all[45].ref)));
    assert_false(tg_store_delete(in(g), all + 30, 30, &b->err));
    assert_non_null(strstr(b->err.message, "changed meanwhile"));
    box_sh(b,
           tg_arena_printf(b->a, "cd w; git rev-parse -q --verify %.*s", TG_SV_ARG(all[45].ref)));
}

/* A plain clone brings none; one commit's runs can be fetched alone; push creates only. */
IN_BOX(moves_with_plain_git)
{
    struct tg_stored *v;
    repository(b);
    BOX_GIT *g = box_open(b, "w");
    record(b, g, "s", "HEAD", "1");
    record(b, g, "s", "HEAD", "2");
    record(b, g, "s", "HEAD~1", "3");
    box_sh(b, "git init -q --bare -b main hub; cd w; git push -q ../hub main "
              "'refs/tracegate/v1/*:refs/tracegate/v1/*'\n"
              "cd ..; git clone -q file://$PWD/hub c; cd c; "
              "test -z \"$(git for-each-ref refs/tracegate)\"\n"
              "h=$(git rev-parse HEAD); "
              "git fetch -q origin \"refs/tracegate/v1/s/$h/*:refs/tracegate/v1/s/$h/*\"");
    BOX_GIT *clone = box_open(b, "c");
    assert_int_equal(list(b, clone, "s", NULL, &v), 2);
    BOX_GIT *hub = box_open(b, "hub"); /* bare: recording works there as well */
    record(b, hub, "s", "main", "4");
    box_sh(b, "git -C w worktree add -q ../tree HEAD~1 2>/dev/null");
    BOX_GIT *tree = box_open(b, "tree"); /* a worktree shares the store of its repository */
    assert_int_equal(list(b, tree, "s", NULL, &v), 3);
}
