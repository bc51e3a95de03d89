/* Which files the baseline of a suite is, in repositories of a few commits; git says which
 * commit. */
#include "tests/cmd/gate/job.h"

static const char *const committed[] = { "echo 1 > perf/base.json", "echo x > x", NULL };
static const char *const removed[] = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x",
                                       NULL };
static const char *const nothing[] = { "echo x > x", "echo y > x", NULL };

static void finds(struct job *k, enum tg_situation situation, const char *commit, const char *how)
{
    assert_no_error(tg_check_find(&k->c, &k->j, &k->err), &k->err);
    assert_int_equal(k->j.what, JOB_COMPARE);
    assert_int_equal(k->j.info.situation, situation);
    is_text(k->j.info.commit, *commit ? job_commit(k, commit).sha : "");
    is_text(k->j.info.how, how);
}

static void fails(struct job *k, enum tg_err_kind kind, const char *message, const char *hint)
{
    assert_false(tg_check_find(&k->c, &k->j, &k->err));
    assert_error(&k->err, kind, message, hint);
}

IN_BOX(the_path_in_the_commit_before)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, PATH_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    assert_int_equal(k.j.base.n, 1);
    assert_string_equal(k.j.base.v[0].label,
                        tg_arena_printf(k.box->a, "%.12s:perf/base.json", k.j.commit));
}

IN_BOX(an_ancestors_where_that_commit_has_none)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, removed);
    job_open(&k, b, PATH_POLICY);
    finds(&k, TG_SITUATION_GAP, "HEAD~2",
          "first parent of HEAD, which is on main, 1 commit before it");
    assert_int_equal(k.j.info.walked, 1);
}

IN_BOX(nothing_anywhere_is_a_first_run)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, nothing);
    job_open(&k, b, PATH_POLICY);
    assert_no_error(tg_check_find(&k.c, &k.j, &k.err), &k.err);
    assert_int_equal(k.j.what, JOB_FIRST_RUN);
    assert_int_equal(k.j.info.situation, TG_SITUATION_FIRST_RUN);
    assert_int_equal(k.j.base.n, 0);
}

/* The same where the commit before was gated already. */
IN_BOX(but_lost_where_a_policy_was)
{
    static const char *const gated[] = { "echo 'version: 1' > .tracegate.yml", "echo x > x", NULL };
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, gated);
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_LOST, "perf/base.json", NULL);
    assert_int_equal(k.j.info.situation, TG_SITUATION_LOST);
}

IN_BOX(what_the_command_line_names)
{
    static const char *path[] = { "perf/base.json" }, *two[] = { "perf/base.json", "x" },
                      *in_git[] = { "HEAD~1:perf/base.json" }, *rev[] = { "HEAD~1" },
                      *twice[] = { "HEAD~1:perf/base.json", "HEAD:perf/base.json" };
    static const struct {
        struct tg_strs named;
        enum tg_situation situation;
        const char *commit, *how, *paths;
    } cases[] = {
        { { path, 1, 1 }, TG_SITUATION_PATH, "", "given on the command line", "perf/base.json" },
        { { two, 2, 2 }, TG_SITUATION_PATH, "", "given on the command line", "perf/base.json, x" },
        { { in_git, 1, 1 },
          TG_SITUATION_FOUND,
          "HEAD~1",
          "named on the command line",
          "HEAD~1:perf/base.json" },
        { { twice, 2, 2 }, /* the first of them is told */
          TG_SITUATION_FOUND,
          "HEAD~1",
          "named on the command line",
          "HEAD~1:perf/base.json, HEAD:perf/base.json" },
        { { rev, 1, 1 }, TG_SITUATION_FOUND, "HEAD~1", "revision HEAD~1", "perf/base.json" },
    };
    job_repository(b, committed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_AUTO(job_close) struct job k = { .o.baseline = cases[i].named };
        job_open(&k, b, PATH_POLICY);
        finds(&k, cases[i].situation, cases[i].commit, cases[i].how);
        is_text(k.j.info.paths, cases[i].paths);
        assert_int_equal(k.j.base.n, cases[i].named.n);
    }
}

IN_BOX(a_named_commit_must_have_it)
{
    static const char *rev[] = { "HEAD" }, *unknown[] = { "nope" };
    TG_AUTO(job_close) struct job k = { .o.baseline = { rev, 1, 1 } };
    job_repository(b, removed);
    job_open(&k, b, PATH_POLICY);
    k.c.suites.policy->baseline.max_walk = 0;
    fails(&k, TG_ERR_LOST, "perf/base.json", NULL);
    job_close(&k);
    k = (struct job){ .o.baseline = { unknown, 1, 1 } };
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_REF, "'nope'", NULL);
    job_close(&k);
    box_sh(b, "rm -rf w/.git"); /* then it may have been a path */
    k = (struct job){ .o.baseline = { unknown, 1, 1 } };
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_GIT, NULL, NULL);
    is_in(k.err.context, "looking for a commit 'nope': no file or folder is called so");
}

IN_BOX(what_is_stored_and_else_the_traces_own_path)
{
    static const char *own[] = { "perf/base.json" }, *rev[] = { "HEAD" };
    TG_AUTO(job_close) struct job k = { .args = { own, 1, 1 } };
    job_repository(b, committed);
    job_open(&k, b, STORED_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    is_text(k.j.info.paths, "perf/base.json");
    assert_false(k.j.base.v[0].stored);
    job_store(&k, "other", "HEAD~1", "not this one"); /* another suite's says nothing */
    k.j = (struct tg_check_job){ .suite = k.j.suite, .policy = k.j.policy };
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    is_text(k.j.info.paths, "perf/base.json");
    job_store(&k, "main", "HEAD~1", "a run");
    k.j = (struct tg_check_job){ .suite = k.j.suite, .policy = k.j.policy };
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    assert_true(k.j.base.n == 1 && k.j.base.v[0].stored);
    job_close(&k);
    /* The named commit's own file comes before a run that an ancestor has. */
    k = (struct job){ .args = { own, 1, 1 }, .o.baseline = { rev, 1, 1 } };
    job_open(&k, b, STORED_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD", "revision HEAD");
    is_text(k.j.info.paths, "perf/base.json");
}

/* What is outside the repository has no path in its commits: no trace, several or the standard
 * input, nor a policy. */
IN_BOX(what_has_no_path_in_a_commit)
{
    static const char *const at_root[] = { "echo 1 > base.json", "echo x > x", NULL };
    static const char *const suites[] = { "trace: o.json", "trace: o.json, baseline: perf" };
    static const char *const rows[][2] = { { "../out.json" },
                                           { "-" },
                                           { "perf/base.json", "perf/more.json" } };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const char *const *row = rows[i / 2], *fresh[] = { row[0], row[1] };
        TG_AUTO(job_close)
        struct job k = { .args = { fresh, fresh[1] ? 2 : 1, 2 }, .o.policy = "../p.yml" };
        job_repository(b, at_root);
        box_sh(b, tg_arena_printf(b->a, "echo 'version: 1\nsuites: [{name: main, %s}]' > p.yml",
                                  suites[i % 2]));
        job_open(&k, b, "");
        assert_no_error(tg_check_find(&k.c, &k.j, &k.err), &k.err);
        if (k.j.what != JOB_FIRST_RUN || k.j.base.n)
            fail_msg("row %zu", i);
    }
}

IN_BOX(a_named_commit_without_a_run_says_what_to_name)
{
    static const char *rev[] = { "HEAD~1" };
    TG_AUTO(job_close) struct job k = { .o.baseline = { rev, 1, 1 } };
    job_repository(b, nothing);
    job_open(&k, b, STORED_POLICY);
    fails(&k, TG_ERR_LOST, NULL, "`--baseline HEAD~1:PATH`");
}

/* For what the change touched: found, or said where the baseline is a path; a mistake is told. */
IN_BOX(the_commit_of_the_baseline)
{
    static const struct {
        const char *found, *said, *want;
    } rows[] = {
        { NULL, NULL, NULL },         { "HEAD~1", NULL, "HEAD~1" }, { NULL, "HEAD~1", "HEAD~1" },
        { "HEAD", "HEAD~1", "HEAD" }, { NULL, "nope", NULL },
    };
    struct job k;
    job_repository(b, committed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got;
        k = (struct job){ .o.base_commit = NULL };
        job_open(&k, b, PATH_POLICY);
        assert_int_equal(
            tg_repo_commit(&k.c.named_base, &k.c.repo, rows[i].said, k.box->a, &b->err), i < 4);
        if (rows[i].found)
            k.j.info.commit =
                tg_sv_of(tg_arena_printf(k.box->a, "%s", job_commit(&k, rows[i].found).sha));
        got = tg_check_base_commit(&k.c, &k.j);
        assert_int_equal(!got, !rows[i].want);
        if (got)
            assert_string_equal(got, job_commit(&k, rows[i].want).sha);
        job_close(&k);
    }
    box_sh(b, "rm -rf w; mkdir w"); /* no repository at all */
    k = (struct job){ .o.base_commit = NULL };
    job_open(&k, b, PATH_POLICY);
    assert_false(tg_repo_commit(&k.c.named_base, &k.c.repo, "HEAD", k.box->a, &b->err));
    job_close(&k);
}

/* ---- each situation: what is there, what is asked for, and which files that are ---- */

#define OBJECT(rev) "cd w; o=$(git rev-parse " rev "); rm .git/objects/$(echo $o | sed 's|..|&/|')"
#define RUN_OF(rev) "refs/tracegate/v1/main/$(git rev-parse " rev ")/"
#define NO_REFS "for d in w/.git/refs/tracegate/v1/main/*; do echo x > $d/0123456789abcdef; done"
#define WINDOW "version: 1\nbaseline: {ref: window(9)}\nsuites: [{name: main, trace: 'o.json'}]\n"
#define NEAR "baseline: {max_walk: 1}\n"

struct there {
    const char *commits[5];
    const char *stored[3]; /* commits with a run; NULL at the end, as everywhere */
    const char *script;    /* before the search, in the box */
};
struct asked_for {
    const char *policy, *file; /* text; --policy, then the text is ../p.yml */
    const char *own;           /* the fresh trace */
    const char *named[3];
};
struct search {
    struct there there;
    struct asked_for ask;
    enum tg_situation situation; /* UNKNOWN: an error */
    const char *commit;
    size_t n; /* files */
    bool stored;
    const char *hint_lacks; /* of an error */
};

static void search(const struct box *b, const struct search *s, size_t row)
{
    const char *own[] = { s->ask.own };
    const char *named[3] = { s->ask.named[0], s->ask.named[1], s->ask.named[2] };
    TG_AUTO(job_close)
    struct job k = { .args = { own, s->ask.own != NULL, 1 },
                     .o = { .policy = s->ask.file,
                            .baseline = { named, (size_t)(!!named[0] + !!named[1]), 3 } } };
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    assert_no_error(tg_file_write(box_path(b, "p.yml"), tg_sv_of(s->ask.policy), &err), &err);
    job_repository(b, s->there.commits);
    box_sh(b, "mkdir -p w/gate; cp p.yml w/gate/p.yml");
    job_open(&k, b, s->ask.file ? NULL : s->ask.policy);
    for (size_t i = 0; s->there.stored[i]; i++)
        job_store(&k, "main", s->there.stored[i], s->there.stored[i]);
    const char *sha = s->commit ? job_commit(&k, s->commit).sha : "";
    sha = tg_arena_printf(b->a, "%s", sha);
    if (s->there.script)
        box_sh(b, s->there.script);
    ok = tg_check_find(&k.c, &k.j, &k.err);
    if (ok != (s->situation != TG_SITUATION_UNKNOWN))
        fail_msg("row %zu: %s", row, ok ? tg_situation_name(k.j.info.situation) : k.err.message);
    if (!ok && s->hint_lacks && strstr(k.err.hint, s->hint_lacks))
        fail_msg("row %zu: %s", row, k.err.hint);
    if (!ok && !s->hint_lacks)
        assert_int_equal(k.j.info.situation, TG_SITUATION_UNKNOWN);
    if (ok) {
        if (k.j.info.situation != s->situation || k.j.base.n != s->n)
            fail_msg("row %zu: %s, %zu files", row, tg_situation_name(k.j.info.situation),
                     k.j.base.n);
        assert_int_equal(k.j.what,
                         s->situation == TG_SITUATION_FIRST_RUN ? JOB_FIRST_RUN : JOB_COMPARE);
        if (s->commit && !tg_sv_eq(k.j.info.commit, tg_sv_of(sha)))
            fail_msg("row %zu: another commit", row);
        if (s->n && k.j.base.v[0].stored != s->stored)
            fail_msg("row %zu: stored %d", row, k.j.base.v[0].stored);
    }
}

/* docs/baselines.md: the named commit, its ancestors, the store, the trace's own path, a first
 * run. */
IN_BOX(where_a_baseline_is_looked_for)
{
#define FIRST .situation = TG_SITUATION_FIRST_RUN
#define AT(what, rev, files, is_stored)                                                            \
    .situation = TG_SITUATION_##what, .commit = rev, .n = files, .stored = is_stored
    static const struct search rows[] = {
        /* standard input is no path, and outside the repository is none of it */
        { { .commits = { "echo 1 > ./-", "echo x > x" } },
          { .policy = STORED_POLICY, .own = "-" },
          FIRST },
        { { .commits = { "echo x > x", "echo y > x" } },
          { .policy = STORED_POLICY, .own = "/nowhere/x.json" },
          FIRST },
        /* a policy on the way, wherever this one is, means that there were baselines */
        { { .commits = { "mkdir gate; cp ../p.yml gate", "rm -r gate", "echo x > x" } },
          { .policy = STORED_POLICY, .file = "gate/p.yml", .own = "perf/base.json" },
          FIRST },
        { { .commits = { "mkdir gate; cp ../p.yml gate", "rm -r gate", "echo x > x" } },
          { .policy =
                "version: 1\nsuites: [{name: main, trace: 'o.json', baseline: 'perf/base.json'}]\n",
            .file = "gate/p.yml" },
          .hint_lacks = "--baseline" },
        { { .commits = { "echo x > x", "echo y > x" } },
          { .policy =
                "version: 1\nsuites: [{name: main, trace: 'o.json', baseline: 'perf/base.json'}]\n",
            .file = "gate/p.yml" },
          FIRST },
        { { .commits = { "echo x > x", "echo y > x" } },
          { .policy = PATH_POLICY, .file = "../p.yml" },
          FIRST },
        { { .commits = { "echo x > x", "echo y > x" } },
          { .policy = "", .own = "perf/base.json" },
          FIRST },
        /* what is stored at a commit that was named comes before its files */
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" }, .stored = { "HEAD~1" } },
          { .policy = PATH_POLICY, .named = { "HEAD~1" } },
          AT(FOUND, "HEAD~1", 1, true) },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" }, .stored = { "HEAD~1" } },
          { .policy = PATH_POLICY },
          AT(FOUND, "HEAD~1", 1, false) },
        /* the trace's own path: where nothing is stored, or nothing where the user looks */
        { { .commits = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x" } },
          { .policy = STORED_POLICY, .own = "perf/base.json" },
          AT(GAP, "HEAD~2", 1, false) },
        { { .commits = { "echo x > x", "echo y > x", "echo 1 > perf/base.json", "echo z > x" },
            .stored = { "HEAD~3" } },
          { .policy = STORED_POLICY NEAR, .own = "perf/base.json" },
          .hint_lacks = "--baseline" },
        { { .commits = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x" } },
          { .policy = STORED_POLICY, .own = "perf/base.json", .named = { "HEAD" } },
          AT(GAP, "HEAD~2", 1, false) },
        { { .commits = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x" },
            .stored = { "HEAD~1" } },
          { .policy = STORED_POLICY, .own = "perf/base.json", .named = { "HEAD" } },
          AT(GAP, "HEAD~1", 1, true) },
        { { .commits = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x",
                         "echo y > x" } },
          { .policy = PATH_POLICY NEAR, .named = { "HEAD" } },
          .hint_lacks = ":PATH" },
        /* a commit that was named is the whole baseline */
        { { .commits = { "echo x > x", "echo y > x", "echo z > x" },
            .stored = { "HEAD~1", "HEAD~2" } },
          { .policy = WINDOW },
          AT(FOUND, "HEAD~1", 2, true) },
        { { .commits = { "echo x > x", "echo y > x", "echo z > x" },
            .stored = { "HEAD~1", "HEAD~2" } },
          { .policy = WINDOW, .named = { "HEAD~1" } },
          AT(FOUND, "HEAD~1", 1, true) },
        /* what cannot be read is an error; so is one of several that is not there */
        { { .commits = { "echo x > x", "echo y > x" }, .stored = { "HEAD~1" }, .script = NO_REFS },
          { .policy = STORED_POLICY },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo x > x", "echo y > x" }, .stored = { "HEAD~1" }, .script = NO_REFS },
          { .policy = STORED_POLICY, .named = { "HEAD~1" } },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" },
            .script = OBJECT("HEAD~1^{tree}") },
          { .policy = PATH_POLICY },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo x > x", "echo y > x", "echo z > x" },
            .stored = { "HEAD~1", "HEAD~2" },
            .script = OBJECT("$(git for-each-ref --format='%(objectname)' " RUN_OF("HEAD~2") ")") },
          { .policy = WINDOW },
          .hint_lacks = "--baseline" },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" },
            .stored = { "HEAD~1" },
            .script = NO_REFS },
          { .policy = PATH_POLICY, .named = { "HEAD~1" } },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" },
            .script = OBJECT("HEAD~1^{tree}") },
          { .policy = STORED_POLICY, .own = "perf/base.json", .named = { "HEAD~1" } },
          .hint_lacks = "perf" },
        { { .commits = { "cp ../p.yml .tracegate.yml", "echo x > x" } },
          { .policy = STORED_POLICY },
          .hint_lacks = "--baseline" },
        { { .commits = { "echo x > x", "echo y > x" } },
          { .policy = STORED_POLICY "baseline: {ref: nope}\n" },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" } },
          { .policy = PATH_POLICY, .named = { "perf/base.json", "nofile.json" } },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" } },
          { .policy = PATH_POLICY, .named = { "HEAD:nofile.json" } },
          .situation = TG_SITUATION_UNKNOWN },
        { { .commits = { "echo 1 > perf/base.json", "echo x > x" } },
          { .policy = PATH_POLICY, .named = { "" } },
          .situation = TG_SITUATION_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        search(b, &rows[i], i);
}
