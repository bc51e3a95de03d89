/*
 * Which commit, and what was found there. Expected commits are written as revisions that git
 * resolves (the oracle is `git rev-parse` and `git merge-base`), expected situations as literals
 * with their reason in the name of the case.
 */
#include "tests/core/baseline/gitbox.h"

/* ---- which commit ---- */

#define CLONE "git clone -q file://$PWD/origin w 2>&1; cd w; "
/* As actions/checkout does it for a pull request. */
#define PULL(depth)                                                                                \
    "git init -q w; cd w; git remote add origin file://$PWD/../origin; git fetch -q " depth        \
    " origin +refs/pull/7/merge:refs/remotes/pull/7/merge; "                                       \
    "git checkout -q --detach refs/remotes/pull/7/merge; "

/* In texts of ci members, "$REV" stands for the sha of REV in the clone. */
struct choice {
    const char *name, *script, *ref, *target;
    struct tg_ci_env env;
    const char *want; /* a revision in the clone; "": none; NULL: an error */
    enum tg_how how;
    const char *found;
    enum tg_err_kind kind;
    const char *message, *hint;
};
static const struct choice choices[] = {
    { "feature branch: merge base", CLONE "git checkout -q feature", "merge-base", .want = "light",
      .how = TG_HOW_MERGE_BASE, .found = "merge base of HEAD and origin/main" },
    { "on main: first parent", CLONE, "merge-base", .want = "HEAD~1", .how = TG_HOW_FIRST_PARENT,
      .found = "first parent of HEAD, which is on origin/main" },
    { "an old commit of main: its first parent", CLONE "git checkout -q --detach light",
      "merge-base", .want = "v1", .how = TG_HOW_FIRST_PARENT },
    { "root commit: nothing before", CLONE "git checkout -q --detach v1~1", "merge-base",
      .want = "", .how = TG_HOW_NONE },
    { "local branches only: main",
      CLONE "git checkout -q feature; git remote remove origin; "
            "git update-ref -d refs/remotes/origin/HEAD",
      "merge-base", .want = "light", .how = TG_HOW_MERGE_BASE,
      .found = "merge base of HEAD and main" },
    { "no origin/HEAD: origin/main", CLONE "git checkout -q feature; git remote set-head origin -d",
      "merge-base", .want = "light", .how = TG_HOW_MERGE_BASE,
      .found = "merge base of HEAD and origin/main" },
    { "another default branch: origin/HEAD names it",
      "cd origin; git checkout -q feature~1; git checkout -qb trunk; cd ..; " CLONE
      "git checkout -q feature",
      "merge-base", .want = "feature~1", .how = TG_HOW_MERGE_BASE,
      .found = "merge base of HEAD and origin/trunk" },
    { "target named in the policy", CLONE "git checkout -q feature; git branch -q rel feature~1",
      "merge-base", "rel", .want = "feature~1", .how = TG_HOW_MERGE_BASE,
      .found = "merge base of HEAD and rel" },
    { "target: the remote's branch, not a stale local one",
      CLONE "git checkout -q feature; git branch -qf main v1", "merge-base", "main",
      .want = "light", .how = TG_HOW_MERGE_BASE, .found = "merge base of HEAD and origin/main" },
    { "GITHUB_BASE_REF before origin/HEAD",
      "cd origin; git branch rel feature~1; cd ..; " CLONE "git checkout -q feature", "merge-base",
      "auto", .env = { .base_ref = "rel" }, .want = "feature~1", .how = TG_HOW_MERGE_BASE,
      .found = "merge base of HEAD and origin/rel" },
    { "target that does not exist", CLONE, "merge-base", "nope", .kind = TG_ERR_REF,
      .message = "target branch 'nope' does not exist", .hint = "git fetch origin +nope:" },
    { "hostile GITHUB_BASE_REF", CLONE, "merge-base", .env = { .base_ref = "--upload-pack=x" },
      .kind = TG_ERR_USAGE, .message = "begins with '-'" },
    { "no target at all", "git init -q -b trunk w; cd w; git commit -q --allow-empty -m 1",
      "merge-base", .kind = TG_ERR_REF, .message = "no target branch", .hint = "target: BRANCH" },
    { "unrelated histories", CLONE "git checkout -q --orphan o; git commit -qm o", "merge-base",
      .kind = TG_ERR_GIT, .message = "HEAD and origin/main have no commit in common",
      .hint = "--baseline REV" },
    { "unborn HEAD", "git init -q -b main w", "merge-base", .kind = TG_ERR_GIT,
      .message = "no commit yet", .hint = "Commit first" },

    { "pull request, depth 2, environment", PULL("--depth=2"), "merge-base",
      .env = { .event = "pull_request",
               .ref = "refs/pull/7/merge",
               .sha = "$HEAD",
               .base_ref = "main" },
      .want = "HEAD^1", .how = TG_HOW_PR_MERGE,
      .found = "first parent of the pull request's merge commit" },
    { "pull request, depth 2, no environment: the ref", PULL("--depth=2"), "merge-base",
      .want = "HEAD^1", .how = TG_HOW_PR_MERGE },
    { "pull request, depth 2, neither: the message, and the target branch",
      PULL("--depth=2") "git update-ref -d refs/remotes/pull/7/merge; "
                        "git fetch -q --depth=1 origin +main:refs/remotes/origin/main",
      "merge-base", .want = "HEAD^1", .how = TG_HOW_PR_MERGE },
    { "pull request, depth 2, neither: the message alone",
      PULL("--depth=2") "git update-ref -d refs/remotes/pull/7/merge", "merge-base",
      .kind = TG_ERR_GIT, .message = "nothing here proves it",
      .hint = "or name the commit to compare with in TRACEGATE_BASE" },
    { "pull request, full", PULL(""), "merge-base", .want = "HEAD^1", .how = TG_HOW_PR_MERGE },
    { "pull request, depth 1", PULL("--depth=1"), "merge-base", .kind = TG_ERR_GIT,
      .message = "(first parent of the pull request's merge commit) is not here: the history is "
                 "shallow",
      .hint = "set fetch-depth: 2" },
    { "pull request, head checked out instead: merge base", CLONE "git checkout -q feature",
      "merge-base",
      .env = { .event = "pull_request",
               .ref = "refs/pull/7/merge",
               .sha = "$origin/main",
               .base_ref = "main" },
      .want = "light", .how = TG_HOW_MERGE_BASE },
    /* The user's own merge of main into the branch: the first parent is the branch itself. */
    { "head is a merge of main: merge base",
      CLONE "git checkout -q feature; git merge -q --no-ff -m 'Merge main' main", "merge-base",
      .env = { .event = "pull_request",
               .ref = "refs/pull/7/merge",
               .sha = "$origin/main",
               .base_ref = "main" },
      .want = "origin/main", .how = TG_HOW_MERGE_BASE },
    { "the same, detached, no environment",
      CLONE "git checkout -q --detach origin/feature; git merge -q --no-ff -m 'Merge main' main",
      "merge-base", .want = "origin/main", .how = TG_HOW_MERGE_BASE },
    /* Parents swapped against the message: not GitHub's merge. */
    { "a lying message",
      CLONE "git checkout -q --detach origin/feature; git merge -q --no-ff -m \"Merge $(git "
            "rev-parse origin/feature) into $(git rev-parse main)\" main",
      "merge-base", .want = "origin/main", .how = TG_HOW_MERGE_BASE },
    /* The change merges main into a commit of its own and writes GitHub's message. */
    { "the right message over a first parent of the change",
      CLONE "git checkout -q --detach origin/feature; git merge -q --no-ff -m \"Merge $(git "
            "rev-parse main) into $(git rev-parse origin/feature)\" main",
      "merge-base", .want = "origin/main", .how = TG_HOW_MERGE_BASE },
    { "head at depth 1",
      "git clone -q --depth 1 -b feature --no-single-branch file://$PWD/origin w", "merge-base",
      .kind = TG_ERR_GIT, .message = "merge base of HEAD and origin/main is not here",
      .hint = "fetch-depth: 2" },
    { "one branch at depth 1", "git clone -q --depth 1 -b feature file://$PWD/origin w",
      "merge-base", .kind = TG_ERR_GIT, .message = "the target branch is not here",
      .hint = "origin +BRANCH:refs/remotes/origin/BRANCH" },
    { "one branch, fetched as it is said",
      "git clone -q --depth 1 -b feature file://$PWD/origin w; cd w; git fetch -q --deepen=50 "
      "origin +main:refs/remotes/origin/main",
      "merge-base", .want = "light", .how = TG_HOW_MERGE_BASE },
    { "one branch of a whole history", "git clone -q --single-branch -b feature origin w",
      "merge-base", .env = { .base_ref = "main" }, .kind = TG_ERR_REF,
      .message = "target branch 'main' does not exist here",
      .hint = "git fetch origin +main:refs/remotes/origin/main" },
    { "main at depth 1", "git clone -q --depth 1 file://$PWD/origin w", "merge-base",
      .kind = TG_ERR_GIT, .message = "shallow", .hint = "fetch-depth: 2" },

    { "merge queue", CLONE "git checkout -q feature", "merge-base",
      .env = { .event = "merge_group", .base_sha = "$v1" }, .want = "v1", .how = TG_HOW_EVENT,
      .found = "base of the merge queue" },
    { "merge queue, base not fetched", "git clone -q --depth 1 file://$PWD/origin w", "merge-base",
      .env = { .event = "merge_group", .base_sha = "1111111111111111111111111111111111111111" },
      .kind = TG_ERR_GIT, .message = "commit 111111111111 (base of the merge queue) is not here" },
    { "merge queue, base unknown, full clone", CLONE, "merge-base",
      .env = { .event = "merge_group", .base_sha = "1111111111111111111111111111111111111111" },
      .kind = TG_ERR_REF, .message = "does not exist here",
      .hint = "git fetch origin 1111111111111111111111111111111111111111" },
    { "push of several commits", CLONE, "merge-base", .env = { .event = "push", .base_sha = "$v1" },
      .want = "v1", .how = TG_HOW_EVENT, .found = "commit before the push" },
    { "push of a new branch: zeros", CLONE, "merge-base",
      .env = { .event = "push", .base_sha = "0000000000000000000000000000000000000000" },
      .want = "HEAD~1", .how = TG_HOW_FIRST_PARENT },
    { "forced push: before is gone", CLONE, "merge-base",
      .env = { .event = "push", .base_sha = "1111111111111111111111111111111111111111" },
      .want = "HEAD~1", .how = TG_HOW_FIRST_PARENT },
    { "forced push: before is no ancestor", CLONE, "merge-base",
      .env = { .event = "push", .base_sha = "$origin/feature" }, .want = "HEAD~1",
      .how = TG_HOW_FIRST_PARENT },
    { "push to a feature branch: merge base all the same", CLONE "git checkout -q feature",
      "merge-base", .env = { .event = "push", .base_sha = "$feature~1" }, .want = "light",
      .how = TG_HOW_MERGE_BASE },
    { "the job names the base", CLONE "git checkout -q feature", "merge-base",
      .env = { .event = "merge_group", .base_sha = "$HEAD", .base = "v1" }, .want = "v1",
      .how = TG_HOW_EVENT, .found = "base that the job names" },
    { "the job names none", CLONE "git checkout -q feature", "merge-base", .env = { .base = "" },
      .want = "light", .how = TG_HOW_MERGE_BASE },
    { "the job names what is not there", CLONE, "merge-base", .env = { .base = "v9" },
      .kind = TG_ERR_REF, .message = "'v9' does not exist" },
    { "the job names an option", CLONE, "merge-base", .env = { .base = "--upload-pack=x" },
      .kind = TG_ERR_USAGE, .message = "begins with '-'" },
    { "the policy names a commit: that counts", CLONE, "v1", .env = { .base = "HEAD" },
      .want = "v1", .how = TG_HOW_REV },
    { "schedule: no payload", CLONE, "merge-base", .env = { .event = "schedule" }, .want = "HEAD~1",
      .how = TG_HOW_FIRST_PARENT },

    { "parent", CLONE "git checkout -q feature", "parent", .want = "feature~1",
      .how = TG_HOW_PARENT, .found = "first parent of HEAD" },
    { "parent of the root", CLONE "git checkout -q --detach v1~1", "parent", .want = "",
      .how = TG_HOW_NONE },
    { "a tag", CLONE, "v1", .want = "v1", .how = TG_HOW_REV, .found = "revision v1" },
    { "an unknown ref", CLONE, "v9", .kind = TG_ERR_REF, .message = "'v9' does not exist" },
    { "the last release", CLONE "git checkout -q feature; git tag w9 feature~1", "release(v*)",
      .want = "v1", .how = TG_HOW_RELEASE, .found = "release v1" },
    { "any tag, the nearest",
      CLONE "git checkout -q feature; git tag -am x w9 feature~1; git tag v2", "release(*)",
      .want = "feature~1", .how = TG_HOW_RELEASE, .found = "release w9" },
    { "a release at HEAD is not before it", CLONE "git tag v2", "release(v*)", .want = "v1",
      .how = TG_HOW_RELEASE },
    { "no release", CLONE, "release(w*)", .kind = TG_ERR_LOST,
      .message = "no tag 'w*' names a commit before HEAD", .hint = "--tags" },
    { "a release on another branch alone", CLONE "git checkout -q main; git tag w1 origin/feature",
      "release(w*)", .kind = TG_ERR_LOST },
    { "a release beyond the cut", "git clone -q --depth 2 file://$PWD/origin w", "release(v*)",
      .kind = TG_ERR_GIT, .message = "release 'v*' before HEAD is not here" },
    { "window starts where merge-base does", CLONE "git checkout -q feature", "window(3)",
      .want = "light", .how = TG_HOW_MERGE_BASE },
};

static const char *expand(const struct box *b, const char *text)
{
    if (!text || text[0] != '$')
        return text;
    return box_sha(b, "w", text + 1);
}

/* As a policy says it. */
static struct tg_baseline_ref ref_of(const char *text)
{
    struct tg_baseline_ref ref = { .choice = TG_CHOICE_REV, .rev = tg_sv_of(text) };
    if (strcmp(text, "merge-base") == 0)
        ref.choice = TG_CHOICE_MERGE_BASE;
    else if (strcmp(text, "parent") == 0)
        ref.choice = TG_CHOICE_PARENT;
    else if (sscanf(text, "window(%u)", &ref.window) == 1)
        ref.choice = TG_CHOICE_WINDOW;
    else if (strncmp(text, "release(", 8) == 0) {
        ref.choice = TG_CHOICE_RELEASE;
        ref.rev = (tg_sv){ text + 8, strlen(text) - 9 };
    }
    return ref;
}

static void one_choice(const struct choice *c, const struct box *template)
{
    struct tg_baseline_ref ref;
    struct tg_ci_env env = c->env;
    struct tg_commit got;
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    BOX *b = box_new();
    print_message("    %s\n", c->name);
    box_sh(b, tg_arena_printf(b->a, "cp -a '%s/origin' .; exec >/dev/null 2>&1\n%s", template->dir,
                              c->script));
    env.sha = expand(b, env.sha);
    env.base_sha = expand(b, env.base_sha);
    BOX_GIT *g = box_open(b, "w");
    ref = ref_of(c->ref);
    ref.target = c->target;
    ok = tg_baseline_commit(g, &ref, &env, b->a, &got, &err);
    if (!c->want) {
        assert_false(ok);
        assert_error(&err, c->kind, c->message, c->hint);
    } else {
        assert_no_error(ok, &err);
        assert_string_equal(got.sha, c->want[0] ? box_sha(b, "w", c->want) : "");
        assert_int_equal(got.how, c->how);
        if (c->found)
            assert_string_equal(got.found.p, c->found);
    }
}

IN_BOX(every_way_to_a_commit)
{
    box_origin(b);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        one_choice(&choices[i], b);
}

IN_BOX(window_of_commits)
{
    struct tg_commit head, *v;
    size_t n;
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w; git clone -q --depth 2 file://$PWD/origin s");
    BOX_GIT *g = box_open(b, "w");
    assert_true(tg_git_resolve(g, "HEAD", b->a, &head, &b->err));
    assert_true(tg_baseline_window(g, &head, 3, b->a, &v, &n, &b->err));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(v[i].sha, box_sha(b, "w", tg_arena_printf(b->a, "HEAD~%zu", i)));
    assert_string_equal(v[2].found.p, "2 before the revision HEAD");
    assert_true(tg_baseline_window(g, &head, 100, b->a, &v, &n, &b->err));
    assert_int_equal(n, 4); /* c4 c3 c2 c1 */
    BOX_GIT *shallow = box_open(b, "s");
    assert_true(tg_baseline_window(shallow, &head, 100, b->a, &v, &n, &b->err));
    assert_int_equal(n, 2); /* up to the cut, and no error */
}

/* ---- what was found ---- */

/* A line of commits, one letter each: p adds the policy, P removes it, b adds the baseline, B
 * removes it, . changes something else. The search starts at its last commit. */
struct situation {
    const char *name, *line;
    unsigned max_walk;
    bool explicit_side;
    unsigned depth; /* of the clone; 0: all */
    enum tg_found found;
    unsigned walked;
    bool error; /* TG_ERR_GIT: shallow */
    unsigned beyond;
};
static const struct situation situations[] = {
    { "there", ".pb", 50, false, 0, TG_FOUND, 0, false, 0 },
    { "there, no policy yet", ".b", 50, false, 0, TG_FOUND, 0, false, 0 },
    { "one commit back: a hole", ".pb.B", 50, false, 0, TG_FOUND_GAP, 1, false, 0 },
    { "three commits back", ".pbB..", 50, false, 0, TG_FOUND_GAP, 3, false, 0 },
    { "exactly at the limit", ".pbB..", 3, false, 0, TG_FOUND_GAP, 3, false, 0 },
    { "one beyond the limit: lost", ".pbB..", 2, false, 0, TG_FOUND_LOST, 2, false, 3 },
    { "four beyond the limit: lost", "bBp..", 0, false, 0, TG_FOUND_LOST, 0, false, 4 },
    { "no walk allowed", ".pbB", 0, false, 0, TG_FOUND_LOST, 0, false, 1 },
    { "a policy, never a baseline: lost", "..p.", 50, false, 0, TG_FOUND_LOST, 3, false, 0 },
    { "policy removed since: still lost", ".pP.", 50, false, 0, TG_FOUND_LOST, 3, false, 0 },
    { "neither ever: first run", "....", 50, false, 0, TG_FOUND_FIRST_RUN, 3, false, 0 },
    { "neither within the walk: first run", ".b.B..", 2, false, 0, TG_FOUND_FIRST_RUN, 2, false,
      0 },
    { "asked for explicitly: never a first run", "....", 50, true, 0, TG_FOUND_LOST, 3, false, 0 },
    { "shallow, there", ".pb", 50, false, 1, TG_FOUND, 0, false, 0 },
    { "shallow, within what is here", ".pb.B", 50, false, 3, TG_FOUND_GAP, 1, false, 0 },
    { "shallow, perhaps behind the cut", ".pbB..", 50, false, 2, TG_FOUND_LOST, 0, true, 0 },
    { "shallow, first run as far as can be seen", "....", 50, false, 2, TG_FOUND_FIRST_RUN, 1,
      false, 0 },
    { "shallow, explicit", "....", 50, true, 2, TG_FOUND_LOST, 0, true, 0 },
    { "shallow, but the limit came first", ".pbB...", 1, false, 3, TG_FOUND_LOST, 1, false, 0 },
};

static void build_line(const struct box *b, const char *line)
{
    TG_BUF s = { 0 };
    tg_buf_puts(&s, "git init -q -b main o; cd o; mkdir perf\n");
    for (size_t i = 0; line[i]; i++) {
        static const char *const does[] = { "p", "echo policy > .tracegate.yml",
                                            "P", "rm .tracegate.yml",
                                            "b", "echo base > perf/base.json",
                                            "B", "rm perf/base.json" };
        const char *step = "true";
        for (size_t k = 0; k < sizeof does / sizeof *does; k += 2)
            if (line[i] == does[k][0])
                step = does[k + 1];
        tg_buf_printf(&s, "%s; echo %zu > n; git add -A; git commit -qm %zu\n", step, i, i);
    }
    box_sh(b, s.p);
}

static void one_situation(const struct situation *c)
{
    static const char *const policy[] = { ".tracegate.yml", ".tracegate.yaml" };
    struct tg_find_opts o = { "perf/base.json", policy, 2, c->max_walk, c->explicit_side };
    struct tg_baseline found;
    struct tg_commit head;
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    BOX *b = box_new();
    print_message("    %s\n", c->name);
    build_line(b, c->line);
    box_sh(b, c->depth ? tg_arena_printf(b->a, "git clone -q --depth %u file://$PWD/o w", c->depth)
                       : "git clone -q o w");
    BOX_GIT *g = box_open(b, "w");
    assert_true(tg_git_resolve(g, "HEAD", b->a, &head, &err));
    ok = tg_baseline_find(g, &head, &o, b->a, &found, &err);
    if (c->error) {
        assert_false(ok);
        assert_error(&err, TG_ERR_GIT, "the history is shallow", "fetch-depth");
    } else {
        assert_no_error(ok, &err);
        assert_int_equal(found.found, c->found);
        assert_int_equal(found.walked, c->walked);
        assert_string_equal(found.start.sha, head.sha);
        assert_int_equal(found.files.n, c->found <= TG_FOUND_GAP);
    }
    if (!c->error && c->found <= TG_FOUND_GAP)
        assert_string_equal(found.commit.sha,
                            box_sha(b, "w", tg_arena_printf(b->a, "HEAD~%u", c->walked)));
    if (!c->error && c->found == TG_FOUND_LOST) {
        assert_false(tg_baseline_missing(&found, &err));
        assert_int_equal(found.beyond, c->beyond);
        assert_int_equal(tg_err_exit_code(err.kind), 4);
        assert_error(&err, TG_ERR_LOST, "no baseline `perf/base.json` in commit",
                     c->beyond ? tg_arena_printf(b->a, "baseline.max_walk to %u,", c->beyond)
                               : "on the target branch");
    }
}

TEST(every_situation)
{
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++)
        one_situation(&situations[i]);
}

/* Before the first commit there was neither policy nor baseline; asked explicitly it is lost. */
IN_BOX(nothing_before_the_root)
{
    struct tg_find_opts o = { .path = "perf/base.json", .max_walk = 50 };
    struct tg_baseline_ref ref = { .choice = TG_CHOICE_MERGE_BASE };
    struct tg_ci_env env = { .event = NULL };
    struct tg_baseline found;
    struct tg_commit c;
    box_sh(b, "git init -q -b main w; cd w; git commit -q --allow-empty -m 1");
    BOX_GIT *g = box_open(b, "w");
    assert_true(tg_baseline_commit(g, &ref, &env, b->a, &c, &b->err));
    assert_true(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_int_equal(found.found, TG_FOUND_FIRST_RUN);
    o.explicit_side = true;
    assert_true(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_int_equal(found.found, TG_FOUND_LOST);
}

/* The walk follows first parents: what a merged branch held does not count for main. */
IN_BOX(walks_first_parents_only)
{
    struct tg_find_opts o = { .path = "base.json", .max_walk = 50 };
    struct tg_baseline found;
    struct tg_commit c;
    box_sh(b, "git init -q -b main w; cd w; git commit -q --allow-empty -m 1\n"
              "git checkout -qb side; echo x > base.json; git add .; git commit -qm 2\n"
              "git rm -q base.json; git commit -qm 3; git checkout -q main\n"
              "git merge -q --no-ff -m 4 side");
    BOX_GIT *g = box_open(b, "w");
    assert_true(tg_git_resolve(g, "HEAD", b->a, &c, &b->err));
    assert_true(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_int_equal(found.found, TG_FOUND_FIRST_RUN);
    assert_int_equal(found.walked, 1);
}

/* A folder and a glob are found as a file is; a path that can never be is an error, not "lost". */
IN_BOX(folders_globs_and_bad_paths)
{
    struct tg_find_opts o = { .path = "perf", .max_walk = 50 };
    struct tg_baseline found;
    struct tg_commit c;
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w");
    BOX_GIT *g = box_open(b, "w");
    assert_true(tg_git_resolve(g, "HEAD", b->a, &c, &b->err));
    assert_true(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_int_equal(found.files.n, 3);
    o.path = "perf/r*.json";
    assert_true(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_int_equal(found.files.n, 2);
    o.path = "../elsewhere";
    assert_false(tg_baseline_find(g, &c, &o, b->a, &found, &b->err));
    assert_error(&b->err, TG_ERR_USAGE, "leaves the repository", NULL);
}
