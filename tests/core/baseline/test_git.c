/* Repositories of every shape: each gives the bytes, or a message with the exact fix. The expected
 * outcome stands in the tables; what the bytes are, git itself says (`git show`, sha256sum). */
#include "tests/core/baseline/gitbox.h"

#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/baseline/git.h"

/* Opens, resolves, lists, reads the first file. */
static bool read_first(const struct box *b, const struct tg_git_opts *o, const char *rev,
                       const char *path, struct tg_buf *out, struct tg_err *err)
{
    struct tg_git_files files = { NULL, 0 };
    struct tg_commit c;
    bool ok;
    tg_err_init(err);
    BOX_GIT *g = tg_git_open(o, err);
    ok = g && tg_git_resolve(g, rev, b->a, &c, err) &&
         tg_git_list(g, c.sha, path, b->a, &files, err) &&
         (files.n == 0 || tg_git_read(g, &files.v[0], out, err));
    if (ok && files.n == 0)
        fail_msg("%s:%s lists nothing", rev, path);
    return ok;
}

/* ---- the matrix of repositories ---- */

#define CLONE "git clone -q file://$PWD/origin w 2>&1; "
#define FORMAT1(key) CLONE "cd w; git config core.repositoryformatversion 1; git config " key
#define WITHOUT(path)                                                                              \
    CLONE "cd w; o=$(git rev-parse HEAD:" path "); p=$(ls .git/objects/pack/*.pack); mv $p p; "    \
          "rm -f .git/objects/pack/*; git unpack-objects -q < p; "                                 \
          "rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)"
#define LFS_POINTER                                                                                \
    "printf '{\"big\":1}\\n' > object; h=$(sha256sum object | cut -c1-64)\n"                       \
    "git init -q -b main w; cd w; mkdir perf\n"                                                    \
    "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 10\\n' $h "         \
    "> perf/base.json; git add .; git commit -qm pointer\n"                                        \
    "at=.git/lfs/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4); mkdir -p $at\n"

struct shape {
    const char *name, *script, *dir, *rev, *path;
    bool offline;
    const char *bytes; /* expected; NULL: expect the error */
    enum tg_err_kind kind;
    const char *message, *hint;
};
static const struct shape shapes[] = {
    { "full", CLONE, "w", "origin/main", "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "subdirectory", CLONE, "w/perf/sub", "HEAD", "../base.json", .bytes = "{\"n\":1}\n" },
    { "depth 1, HEAD", "git clone -q --depth 1 file://$PWD/origin w", "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "depth 1, its parent", "git clone -q --depth 1 file://$PWD/origin w", "w", "HEAD~1",
      "perf/base.json", .kind = TG_ERR_GIT,
      .message = "revision 'HEAD~1' is not here: the history is shallow",
      .hint = "set fetch-depth: 2 (or 0" },
    { "depth 1, another branch", "git clone -q --depth 1 file://$PWD/origin w", "w",
      "origin/feature", "perf/base.json", .kind = TG_ERR_GIT, .message = "shallow",
      .hint = "fetch-depth: 2" },
    { "depth 2, its parent", "git clone -q --depth 2 file://$PWD/origin w", "w", "HEAD~1",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "blob:none", "git clone -q -n --filter=blob:none file://$PWD/origin w", "w", "origin/main",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "blob:none, offline", "git clone -q -n --filter=blob:none file://$PWD/origin w", "w",
      "origin/main", "perf/base.json", .offline = true, .kind = TG_ERR_GIT,
      .message = "on the server only (partial clone)", .hint = "Run `git cat-file -e " },
    { "blob:none, server gone",
      "git clone -q -n --filter=blob:none file://$PWD/origin w; mv origin gone", "w", "origin/main",
      "perf/base.json", .kind = TG_ERR_GIT, .message = "fetching object ",
      .hint = "git fetch --refetch --no-filter origin" },
    { "tree:0", "git clone -q -n --filter=tree:0 file://$PWD/origin w", "w", "origin/main",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "tree:0, a glob", "git clone -q -n --filter=tree:0 file://$PWD/origin w", "w", "origin/main",
      "per?/r*.json", .bytes = "{\"r\":0}\n" },
    { "sparse", CLONE "cd w; git sparse-checkout set --cone other; test ! -e perf", "w", "HEAD",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "worktreeConfig", FORMAT1("extensions.worktreeConfig true"), "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "preciousObjects", FORMAT1("extensions.preciousObjects true"), "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "relativeWorktrees", FORMAT1("extensions.relativeWorktrees true"), "w", "HEAD",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "an extension nobody knows", FORMAT1("extensions.tomorrow true"), "w", "HEAD",
      "perf/base.json", .kind = TG_ERR_GIT, .message = "unsupported extension",
      .hint = "git show REV:PATH > FILE" },
    { "worktree", CLONE "cd w; git worktree add -q ../other HEAD~1", "other", "HEAD",
      "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "bare", "git clone -q --bare file://$PWD/origin w", "w", "main", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "inside a submodule",
      "git init -q -b main w; cd w; git -c protocol.file.allow=always submodule --quiet add "
      "file://$PWD/../origin sub; git commit -qm sub",
      "w/sub", "HEAD", "perf/base.json", .bytes = "{\"n\":1}\n" },
    { "a path into a submodule",
      "git init -q -b main w; cd w; git -c protocol.file.allow=always submodule --quiet add "
      "file://$PWD/../origin sub; git commit -qm sub",
      "w", "HEAD", "sub/perf/base.json", .kind = TG_ERR_GIT, .message = "'sub' in commit ",
      .hint = "run tracegate in the submodule" },
    { "a symbolic link", CLONE, "w", "HEAD", "perf/link.json", .kind = TG_ERR_GIT,
      .message = "'perf/link.json' in commit ", .hint = "name the file it points to" },
    { "alternates", "git clone -q -s $PWD/origin w", "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "packed", CLONE "cd w; git repack -qadf; git prune-packed", "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "unborn HEAD", "git init -q -b main w", "w", "HEAD", "x", .kind = TG_ERR_GIT,
      .message = "no commit yet", .hint = "Commit first" },
    { "detached", CLONE "cd w; git checkout -q --detach HEAD~1", "w", "HEAD", "perf/base.json",
      .bytes = "{\"n\":1}\n" },
    { "sha256", "git init -q --object-format=sha256 w", "w", "HEAD", "x", .kind = TG_ERR_GIT,
      .message = "format is not supported", .hint = "git show REV:PATH > FILE" },
    { "reftable", FORMAT1("extensions.refStorage reftable"), "w", "HEAD", "x", .kind = TG_ERR_GIT,
      .message = "format is not supported", .hint = "git show REV:PATH > FILE" },
    { "no repository", "mkdir w", "w", "HEAD", "x", .kind = TG_ERR_GIT,
      .message = "/w' is not inside a git repository", .hint = "--baseline FILE" },
    { "no such folder", "true", "w", "HEAD", "x", .kind = TG_ERR_GIT,
      .message = "is not inside a git repository", .hint = "--baseline FILE" },
    { "an object is missing, no partial clone", WITHOUT("perf/base.json"), "w", "HEAD",
      "perf/base.json", .kind = TG_ERR_GIT, .message = " is missing",
      .hint = "damaged: run `git fsck`" },
    { "a tree is missing, no partial clone", WITHOUT("perf"), "w", "HEAD", "perf/base.json",
      .kind = TG_ERR_GIT, .message = " is missing", .hint = "damaged: run `git fsck`" },
    { "LFS present", LFS_POINTER "cp ../object $at/$h", "w", "HEAD", "perf/base.json",
      .bytes = "{\"big\":1}\n" },
    { "LFS in lfs.storage",
      LFS_POINTER "git config lfs.storage store; mkdir -p .git/store; "
                  "cp ../object $at/$h; mv .git/lfs/objects .git/store/",
      "w", "HEAD", "perf/base.json", .bytes = "{\"big\":1}\n" },
    { "LFS in a worktree", LFS_POINTER "cp ../object $at/$h; git worktree add -q ../other", "other",
      "HEAD", "perf/base.json", .bytes = "{\"big\":1}\n" },
    { "LFS missing", LFS_POINTER, "w", "HEAD", "perf/base.json", .kind = TG_ERR_GIT,
      .message = "is a Git LFS pointer and its object is not here",
      .hint = "Checkout with lfs: true" },
    { "LFS object too short", LFS_POINTER "echo x > $at/$h", "w", "HEAD", "perf/base.json",
      .kind = TG_ERR_GIT, .message = "its size differs", .hint = "git lfs fetch" },
    { "LFS object changed", LFS_POINTER "printf '{\"big\":2}\\n' > $at/$h", "w", "HEAD",
      "perf/base.json", .kind = TG_ERR_GIT, .message = "its SHA-256 differs",
      .hint = "git lfs fetch" },
};

static void one_shape(const struct shape *s, const struct box *template)
{
    TG_BUF out = { 0 };
    struct tg_err err = TG_ERR_INIT;
    BOX *b = box_new();
    bool ok;
    print_message("    %s\n", s->name);
    box_sh(b, tg_arena_printf(b->a, "cp -a '%s/origin' .; exec >/dev/null\n%s", template->dir,
                              s->script));
    ok = read_first(b,
                    &(struct tg_git_opts){
                        .dir = box_path(b, s->dir), .offline = s->offline, .timeout_ms = 20000 },
                    s->rev, s->path, &out, &err);
    if (s->bytes) {
        assert_no_error(ok, &err);
        assert_string_equal(out.p, s->bytes);
    } else {
        assert_false(ok);
        assert_error(&err, s->kind, s->message, s->hint);
    }
}

IN_BOX(every_shape_of_repository)
{
    box_origin(b);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        one_shape(&shapes[i], b);
}

/* The clone stays sound after git fetched what was promised, and the next read needs no server. */
IN_BOX(fetched_objects_stay)
{
    struct tg_git_opts o = { .dir = box_path(b, "w") };
    TG_BUF out = { 0 };
    box_origin(b);
    box_sh(b, "git clone -q -n --filter=tree:0 file://$PWD/origin w");
    assert_no_error(read_first(b, &o, "origin/main~1", "perf/base.json", &out, &b->err), &b->err);
    box_sh(b, "mv origin gone; cd w; git fsck --connectivity-only 2>&1 | (! grep -i error)");
    o.offline = true;
    assert_no_error(read_first(b, &o, "origin/main~1", "perf/base.json", &out, &b->err), &b->err);
    assert_string_equal(out.p, "{\"n\":1}\n{\"n\":1}\n");
}

IN_BOX(git_program_missing)
{
    struct tg_git_opts o = { .dir = box_path(b, "w"), .git = "/nowhere/git" };
    TG_BUF out = { 0 };
    box_origin(b);
    box_sh(b, "git clone -q -n --filter=blob:none file://$PWD/origin w");
    assert_false(read_first(b, &o, "origin/main", "perf/base.json", &out, &b->err));
    assert_error(&b->err, TG_ERR_GIT, "needs the program '/nowhere/git'", "Install git");
}

/* A server that never answers: the timeout holds and says so. */
IN_BOX(git_that_hangs)
{
    struct tg_git_opts o = { .dir = box_path(b, "w"),
                             .git = box_path(b, "slow"),
                             .timeout_ms = 300 };
    TG_BUF out = { 0 };
    box_origin(b);
    box_sh(b, "git clone -q -n --filter=blob:none file://$PWD/origin w\n"
              "printf '#!/bin/sh\\nsleep 30\\n' > slow; chmod +x slow");
    assert_false(read_first(b, &o, "origin/main", "perf/base.json", &out, &b->err));
    assert_error(&b->err, TG_ERR_GIT, "took longer than", "Check the network");
}

/* ---- owners ---- */

IN_BOX(foreign_owner)
{
    struct tg_git_opts o = { .dir = box_path(b, "w") };
    TG_BUF out = { 0 };
    if (geteuid() != 0) {
        print_message("only root can give a repository away: skipped\n");
        skip();
    }
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w; chown -R 12345:12345 w");
    assert_false(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err));
    assert_error(&b->err, TG_ERR_GIT, tg_arena_printf(b->a, "repository '%s/w' belongs", b->dir),
                 "git config --global --add safe.directory");
    o.trust_owner = true; /* the option alone is enough … */
    assert_no_error(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err), &b->err);
    o.trust_owner = false; /* … and counts for that one opening */
    assert_false(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err));
    box_sh(b, hinted_command(b, &b->err)); /* the exact fix is one */
    assert_no_error(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err), &b->err);
    box_sh(b, "git config --global --unset-all safe.directory");
    assert_false(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err));
    box_sh(b, "git config --global safe.directory '*'"); /* libgit2 1.5 alone does not know it */
    assert_no_error(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err), &b->err);
    box_sh(b, "git config --global --unset-all safe.directory\n"
              "git config --global safe.directory \"$PWD/other/*\"");
    assert_false(read_first(b, &o, "HEAD", "perf/base.json", &out, &b->err));
}

/* ---- revisions ---- */

static const char *const good_revs[] = {
    "main",
    "origin/main",
    "v1",
    "light",
    "HEAD",
    "HEAD~1",
    "HEAD^",
    "HEAD^0",
    "v1^{commit}",
    ":/c2",
    "HEAD^{/c2}",
    "refs/tags/v1",
    "origin",
    "main@{0}",
    "tags/light",
    "@{u}",
    "twice",
    "origin/HEAD",
    "origin/feature",
    "v1~1",
    /* '@' as git's manual has it; libgit2 1.5 fails on all but the first */
    "@",
    "@~1",
    "@^{/c2}",
};

IN_BOX(revisions_are_what_git_says)
{
    struct tg_commit c;
    const char *want;
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w; cd w; git tag -a -m two twice v1 2>/dev/null");
    BOX_GIT *g = box_open(b, "w");
    for (size_t i = 0; i < sizeof good_revs / sizeof *good_revs; i++) {
        want = box_line(b, tg_arena_printf(b->a, "git -C w rev-list -1 '%s'", good_revs[i]));
        assert_no_error(tg_git_resolve(g, good_revs[i], b->a, &c, &b->err), &b->err);
        assert_string_equal(c.sha, want);
        assert_string_equal(c.ref.p, good_revs[i]);
    }
    /* Short: seven digits; and the record itself, dates as box_setup fixed them. */
    assert_true(tg_git_resolve(g, tg_arena_printf(b->a, "%.7s", c.sha), b->a, &c, &b->err));
    assert_string_equal(c.summary.p, "c2 baseline");
    assert_int_equal(c.date, 1700000000);
    assert_int_equal(c.date_offset, 60);
    assert_int_equal(c.how, TG_HOW_REV);
}

static const struct {
    const char *rev;
    enum tg_err_kind kind;
    const char *message, *hint;
} bad_revs[] = {
    { "nope", TG_ERR_REF, "revision 'nope' does not exist here", "git fetch origin nope" },
    { "origin/nope", TG_ERR_REF, "does not exist", "git fetch origin nope" },
    { "a$(x);b", TG_ERR_REF, "does not exist", "origin 'a$(x);b'`" },
    { "feature", TG_ERR_REF, "does not exist", "Did you mean 'origin/feature'?" },
    { "HEAD~99", TG_ERR_REF, "does not exist", NULL },
    { "0123456789012345678901234567890123456789", TG_ERR_REF, "does not exist", "git fetch" },
    { "-x", TG_ERR_USAGE, "begins with '-'", "refs/heads/-x" },
    { "--upload-pack=x", TG_ERR_USAGE, "begins with '-'", NULL },
    { "", TG_ERR_USAGE, "an empty revision", NULL },
    { "a\nb", TG_ERR_USAGE, "a control character", NULL },
    { "main..v1", TG_ERR_USAGE, "is a range", "'main'" },
    { "main...v1", TG_ERR_USAGE, "is a range", NULL },
    { "HEAD:perf", TG_ERR_REF, "is not a commit", "REV:PATH" },
    { "HEAD:perf/base.json", TG_ERR_REF, "is not a commit", NULL },
    { "HEAD^{tree}", TG_ERR_REF, "is not a commit", NULL },
    { "blobtag", TG_ERR_REF, "is not a commit", NULL },
    { "HEAD^{", TG_ERR_REF, "is not a revision", "git rev-parse" },
};

IN_BOX(revisions_refused)
{
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w; cd w; git tag blobtag HEAD:perf/base.json");
    BOX_GIT *g = box_open(b, "w");
    for (size_t i = 0; i < sizeof bad_revs / sizeof *bad_revs; i++) {
        struct tg_commit c;
        if (tg_git_resolve(g, bad_revs[i].rev, b->a, &c, &b->err))
            fail_msg("'%s' resolves", bad_revs[i].rev);
        assert_error(&b->err, bad_revs[i].kind, bad_revs[i].message, bad_revs[i].hint);
    }
}

/* Names that two refs have: `one` and `two` are the full names that must be told. */
static const struct {
    const char *rev, *one, *two;
} ambiguous[] = {
    { "origin/main", "refs/tags/origin/main", "refs/remotes/origin/main" },
    { "origin/main~1", "refs/tags/origin/main", "refs/remotes/origin/main" },
    { "origin/main^{commit}", "refs/tags/origin/main", "refs/remotes/origin/main" },
    { "origin/main@{0}", "refs/tags/origin/main", "refs/remotes/origin/main" },
    { "origin/feature", "refs/tags/origin/feature", "refs/remotes/origin/feature" },
    { "two", "refs/tags/two", "refs/heads/two" },
    { "origin", "refs/heads/origin", "refs/remotes/origin/HEAD" },
    { "heads/main", "refs/heads/main", "refs/tags/heads/main" },
    { "tags/v1", "refs/tags/v1", "refs/heads/tags/v1" },
};
/* These are what they are, whatever else is called so; and names of one commit are no question. */
static const char *const clear[][2] = {
    { "refs/remotes/origin/main", "c4" },
    { "refs/tags/origin/main", "c3" },
    { "refs/heads/two", "c3" },
    { "refs/tags/two", "c4" },
    { "HEAD", "c4" },
    { "@", "c4" },
    { "HEAD~1", "c3" },
    { "same", "c4" },
    { "main", "c4" },
};

IN_BOX(a_name_of_two_refs_is_refused)
{
    struct tg_commit c;
    const char *shorter;
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w; cd w; git tag origin/main main~1\n"
              "git tag origin/feature main; git update-ref refs/heads/origin main~1\n"
              "git tag two main; git branch two main~1; git tag same main; git branch same main\n"
              "git tag heads/main main~1; git update-ref refs/heads/tags/v1 main\n"
              "git update-ref refs/tags/HEAD main~1\n"
              "git tag $(git rev-parse --short=8 main~2) main");
    shorter = box_line(b, "git -C w rev-parse main~2 | cut -c1-8");
    for (int packed = 0; packed < 2; packed++) {
        if (packed)
            box_sh(b, "cd w; git pack-refs --all");
        BOX_GIT *g = box_open(b, "w");
        for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++) {
            if (tg_git_resolve(g, ambiguous[i].rev, b->a, &c, &b->err))
                fail_msg("'%s' resolves", ambiguous[i].rev);
            assert_non_null(strstr(b->err.message, ambiguous[i].one));
            assert_non_null(strstr(b->err.message, ambiguous[i].two));
            assert_error(&b->err, TG_ERR_REF, "is ambiguous", "full name");
        }
        assert_false(tg_git_resolve(g, shorter, b->a, &c, &b->err));
        assert_error(&b->err, TG_ERR_REF, "is ambiguous: refs/tags/", NULL);
        for (size_t i = 0; i < sizeof clear / sizeof *clear; i++) {
            assert_no_error(tg_git_resolve(g, clear[i][0], b->a, &c, &b->err), &b->err);
            assert_true(tg_sv_starts(c.summary, tg_sv_of(clear[i][1])));
        }
    }
}

/* ---- objects that are cut ---- */

/* What a killed writer or a full disk leaves, of each kind of object and at several lengths. */
IN_BOX(a_cut_loose_object_is_an_error)
{
    static const char *const object[] = { "HEAD", "HEAD^{tree}", "HEAD:perf", "HEAD:perf/base.json",
                                          "HEAD~1" };
    static const char *const length[] = { "0", "1", "2", "10", "$((n / 2))", "$((n - 1))" };
    TG_BUF out = { 0 };
    box_sh(
        b,
        "git init -q -b main w; cd w; mkdir perf; seq 3000 > perf/base.json; git add .\n"
        "git commit -q -m a; seq 4000 > perf/base.json; git commit -q -a -m b; cp -r ../w ../good");
    (void)alarm(120); /* libgit2 alone never returns */
    for (size_t i = 0; i < sizeof object / sizeof *object; i++)
        for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
            struct tg_git_opts o = { .dir = box_path(b, "w") };
            bool past = strcmp(object[i], "HEAD~1") == 0;
            box_sh(b, tg_arena_printf(b->a,
                                      "rm -rf w; cp -r good w; cd w; o=$(git rev-parse '%s')\n"
                                      "f=.git/objects/$(printf %%.2s $o)/${o#??}; n=$(wc -c < $f)\n"
                                      "chmod +w $f; head -c %s ../good/$f > $f",
                                      object[i], length[k]));
            if (read_first(b, &o, past ? "HEAD~1" : "HEAD", "perf/base.json", &out, &b->err))
                fail_msg("%s cut to %s is read", object[i], length[k]);
            assert_error(&b->err, TG_ERR_GIT, "is truncated or damaged", "git fsck");
            /* the same through an alternate, and by a short name */
            box_sh(b, "rm -rf other; git init -q other; echo $PWD/w/.git/objects > "
                      "other/.git/objects/info/alternates\n"
                      "git -C good rev-parse HEAD > other/.git/refs/heads/x");
            o.dir = box_path(b, "other");
            assert_false(read_first(b, &o, past ? "x~1" : "x", "perf/base.json", &out, &b->err));
        }
    (void)alarm(0);
}

/* ---- refs ---- */

/* The list is git's own, of loose refs, packed ones and both. */
IN_BOX(refs_are_those_that_git_lists)
{
    struct tg_git_opts o = { .dir = box_path(b, "w") };
    struct tg_git_ref_at *v;
    struct tg_git *g;
    TG_BUF got = { 0 };
    size_t n;
    box_sh(
        b,
        "git init -q -b main w; cd w; git commit -q --allow-empty -m a; git tag -m t v1\n"
        "git update-ref refs/tags/sub/x HEAD; git pack-refs --all\n"
        "git commit -q --allow-empty -m b; git tag -f sub/x; git tag new; git tag -d v1\n"
        "git symbolic-ref refs/tags/link refs/heads/main; touch .git/refs/tags/a.lock\n"
        "mkdir -p .git/refs/tags/empty/below\n"
        "git for-each-ref --format='%(refname) %(objectname)' refs/tags | grep -v link > ../want");
    assert_non_null(g = tg_git_open(&o, &b->err));
    assert_no_error(tg_git_refs(g, "refs/tags/", b->a, &v, &n, &b->err), &b->err);
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&got, "%.*s %s\n", TG_SV_ARG(v[i].name), v[i].oid);
    assert_no_error(tg_file_write(box_path(b, "got"), tg_buf_sv(&got), &b->err), &b->err);
    box_sh(b, "test $(wc -l < want) = 2 && diff want got");
    assert_no_error(tg_git_refs(g, "refs/none/", b->a, &v, &n, &b->err), &b->err);
    assert_int_equal(n, 0);
    tg_git_close(g);
}

/* What cannot be read is never "no ref": each is put into a repository that is whole. */
IN_BOX(refs_that_cannot_be_read_are_an_error)
{
    static const struct {
        const char *damage, *words;
    } cases[] = {
        { "ln -s loop .git/refs/tags/loop", "symbolic links" },
        { "rm .git/refs/tags/v1; ln -s v1 .git/refs/tags/v1", "symbolic links" },
        { ": > .git/refs/tags/v1", "corrupted loose reference" },
        { "echo x > .git/refs/tags/v1", "corrupted loose reference" },
        { "printf '%s' $(git rev-parse HEAD)0 > .git/refs/tags/v1", "corrupted loose reference" },
        { "git pack-refs --all; truncate -s -9 .git/packed-refs", "truncated" },
        { "git pack-refs --all; echo 'x y' >> .git/packed-refs", "line without a ref" },
        { "ln -s packed-refs .git/packed-refs", "symbolic links" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_git_opts o = { .dir = box_path(b, "w") };
        struct tg_err err = TG_ERR_INIT;
        struct tg_git_ref_at *v;
        struct tg_git *g;
        size_t n;
        box_sh(b, tg_arena_printf(b->a,
                                  "rm -rf w; git init -q -b main w; cd w\n"
                                  "git commit -q --allow-empty -m a; git tag v1; git tag v2\n%s",
                                  cases[i].damage));
        assert_non_null(g = tg_git_open(&o, &err));
        if (tg_git_refs(g, "refs/tags/", b->a, &v, &n, &err))
            fail_msg("case %zu: %zu refs", i, n);
        assert_error(&err, err.kind, cases[i].words, "");
        tg_git_close(g);
    }
}

/* ---- paths and lists ---- */

/* In w/perf of the clone, at main; the files as box_origin made them. */
static const struct {
    const char *path, *list; /* names joined by a blank */
} lists[] = {
    { "perf/base.json", "perf/base.json" },
    { "./base.json", "perf/base.json" },
    { "../perf//./base.json", "perf/base.json" },
    { "perf/sub/../base.json", "perf/base.json" },
    { "perf/notes.txt", "perf/notes.txt" }, /* named exactly: taken whatever it is called */
    { "perf", "perf/base.json perf/r0.json perf/r1.json" }, /* no hidden, text, link, sub */
    { "perf/", "perf/base.json perf/r0.json perf/r1.json" },
    { ".", "perf/base.json perf/r0.json perf/r1.json" },
    { "perf/r*.json", "perf/r0.json perf/r1.json" },
    { "*/r[1-9].json", "perf/r1.json" },
    { "perf/*", "perf/base.json perf/notes.txt perf/r0.json perf/r1.json" },
    { "*/*/x.json", "perf/sub/x.json" },
    { "perf/.*.json", "perf/.hidden.json" },
    { "perf/[!r]*", "perf/base.json perf/notes.txt" },
    { "perf/[a-c]*.json", "perf/base.json" },
    { "perf/r\\[0].json", "" },
    { "perf/*.json/x", "" },
    { "perf/*sub", "" },
    { "nothing", "" },
    { "perf/base.json/x", "" },
    { "README/*", "" },
    { "", "" }, /* the root has no trace of its own */
};

IN_BOX(lists_of_files)
{
    const char *sha;
    box_origin(b);
    box_sh(b, "git clone -q file://$PWD/origin w");
    sha = box_line(b, "git -C w rev-parse HEAD");
    BOX_GIT *g = box_open(b, "w/perf");
    assert_string_equal(tg_git_prefix(g), "perf/");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct tg_git_files f;
        TG_BUF names = { 0 };
        assert_no_error(tg_git_list(g, sha, lists[i].path, b->a, &f, &b->err), &b->err);
        tg_buf_puts(&names, "");
        for (size_t k = 0; k < f.n; k++) {
            tg_buf_printf(&names, "%s%s", k ? " " : "", f.v[k].path.p);
            assert_string_equal(
                f.v[k].oid,
                box_line(b, tg_arena_printf(b->a, "git -C w rev-parse 'HEAD:%s'", f.v[k].path.p)));
            assert_string_equal(f.v[k].commit, sha);
        }
        if (strcmp(names.p, lists[i].list) != 0)
            fail_msg("'%s' lists '%s', not '%s'", lists[i].path, names.p, lists[i].list);
    }
}

IN_BOX(paths_that_leave)
{
    static const char *const paths[] = { "/etc/passwd", "../../x", "perf/../../x", "a/../..",
                                         ".." };
    struct tg_git_files f;
    box_origin(b);
    BOX_GIT *g = box_open(b, "origin");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_false(tg_git_list(g, box_line(b, "git -C origin rev-parse HEAD"), paths[i], b->a, &f,
                                 &b->err));
        assert_error(&b->err, TG_ERR_USAGE, "leaves the repository", "start at its root");
    }
}

/* A glob character in a name: the exact name wins. */
IN_BOX(exact_name_before_glob)
{
    struct tg_git_files f;
    box_sh(b, "git init -q -b main w; cd w; echo 1 > 'r[1].json'; echo 2 > r1.json; git add .; "
              "git commit -qm x");
    BOX_GIT *g = box_open(b, "w");
    assert_true(
        tg_git_list(g, box_line(b, "git -C w rev-parse HEAD"), "r[1].json", b->a, &f, &b->err));
    assert_int_equal(f.n, 1);
    assert_string_equal(f.v[0].path.p, "r[1].json");
}

IN_BOX(work_tree_paths)
{
    static const struct {
        const char *path, *want; /* below the box unless it begins with '.'; NULL: outside */
    } rows[] = { { "origin/perf/base.json", "perf/base.json" },
                 { "origin/new/dir/x.json", "new/dir/x.json" },
                 { "here/base.json", "perf/base.json" }, /* through a link: where it really is */
                 { "origin/out.json", "out.json" },      /* the link itself is in the tree */
                 { "../out/./x.json", "out/x.json" },
                 { "..", "" },
                 { "../../elsewhere", NULL },
                 { "origin2", NULL } }; /* a mere prefix */
    box_origin(b);
    box_sh(b, "ln -s origin/perf here; ln -s /etc/hostname origin/out.json");
    BOX_GIT *g = box_open(b, "origin");
    assert_int_equal(chdir(box_path(b, "origin/perf")), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = rows[i].path[0] == '.' ? rows[i].path : box_path(b, rows[i].path);
        tg_sv p = TG_SV("");
        assert_int_equal(tg_git_relative(g, path, b->a, &p, &b->err), rows[i].want != NULL);
        assert_string_equal(p.p, rows[i].want ? rows[i].want : "");
        if (!rows[i].want)
            assert_error(&b->err, TG_ERR_USAGE, "leaves the repository", NULL);
    }
    assert_int_equal(chdir("/"), 0);
}

IN_BOX(one_file_through_links)
{
    static const struct {
        const char *path, *text; /* text NULL: not there */
        enum tg_err_kind kind;
    } rows[] = { { "one", "text", TG_ERR_NONE },     { "folder/f", "text", TG_ERR_NONE },
                 { "down/up", "text", TG_ERR_NONE }, { "two", "text", TG_ERR_NONE },
                 { "nothing", NULL, TG_ERR_NONE },   { "one/f", NULL, TG_ERR_NONE },
                 { "round", NULL, TG_ERR_GIT },      { "out", NULL, TG_ERR_GIT },
                 { "root", NULL, TG_ERR_GIT } };
    const char *sha;
    box_sh(
        b,
        "git init -q -b main links && cd links && mkdir d down && printf text >d/f && "
        "ln -s d/f one && ln -s d folder && ln -s ../folder//./f down/up && ln -s down/up two && "
        "ln -s none nothing && ln -s round round && ln -s ../../x out && ln -s /etc/passwd root && "
        "git add -A && git commit -qm 1");
    sha = box_line(b, "git -C links rev-parse HEAD");
    BOX_GIT *g = box_open(b, "links");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_BUF out = { 0 };
        bool found;
        assert_int_equal(tg_git_read_path(g, sha, rows[i].path, &out, &found, &b->err),
                         !rows[i].kind);
        assert_int_equal(b->err.kind, rows[i].kind);
        assert_int_equal(found, rows[i].text != NULL);
        assert_string_equal(found ? out.p : "", rows[i].text ? rows[i].text : "");
    }
}

IN_BOX(one_file_by_path)
{
    TG_BUF out = { 0 };
    const char *sha;
    bool found;
    box_origin(b);
    sha = box_line(b, "git -C origin rev-parse HEAD");
    BOX_GIT *g = box_open(b, "origin");
    assert_true(tg_git_read_path(g, sha, ".tracegate.yml", &out, &found, &b->err));
    assert_true(found);
    assert_string_equal(out.p, "version: 1\n");
    assert_true(tg_git_read_path(g, sha, ".tracegate.yaml", &out, &found, &b->err));
    assert_false(found);
    assert_true(tg_git_read_path(g, sha, "perf", &out, &found, &b->err));
    assert_false(found); /* a folder is no file */
    assert_string_equal(out.p, "version: 1\n");
}

/* ---- sizes and limits ---- */

#define MIB ((size_t)1 << 20)
/* 2 MiB that do not compress, then the same with another end: git stores one as a delta. */
#define DELTA                                                                                      \
    "git init -q -b main w; cd w; head -c 2097152 /dev/urandom > big.json; git add .; "            \
    "git commit -qm 1; echo more >> big.json; git commit -qam 2; git gc -q; git prune-packed; "    \
    "git verify-pack -v .git/objects/pack/*.idx | grep -q 'blob .* 1 [0-9a-f]*$'"
#define LOOSE                                                                                      \
    "git init -q -b main w; cd w; head -c 2097152 /dev/zero > big.json; git add .; git commit "    \
    "-qm 1"

TEST(limit_before_loading)
{
    static const char *const scripts[] = { DELTA, LOOSE };
    for (size_t i = 0; i < 2; i++)
        for (int parent = 0; parent <= (i == 0); parent++) {
            struct tg_limits limits = TG_LIMITS_DEFAULT;
            struct tg_git_opts o = { .limits = &limits };
            const char *rev = parent ? "HEAD~1" : "HEAD";
            TG_BUF out = { 0 };
            struct tg_err err = TG_ERR_INIT;
            BOX *b = box_new();
            char hex[65];
            box_sh(b, scripts[i]);
            o.dir = box_path(b, "w");
            limits.max_blob = MIB;
            assert_false(read_first(b, &o, rev, "big.json", &out, &err));
            assert_error(&err, TG_ERR_LIMIT, "bytes in git, the limit is 1048576",
                         "tracegate summarize");
            assert_int_equal(out.cap, 0); /* nothing was loaded */
            limits.max_blob = 3 * MIB;
            assert_no_error(read_first(b, &o, rev, "big.json", &out, &err), &err);
            tg_sha256_hex(tg_buf_sv(&out), hex);
            assert_string_equal(hex, box_line(b, tg_arena_printf(b->a,
                                                                 "git -C w show %s:big.json | "
                                                                 "sha256sum | cut -c1-64",
                                                                 rev)));
        }
}

/* Above 50 MiB git streams the blob; without the program libgit2 does it: the same bytes. */
IN_BOX(streamed_blob)
{
    static const char *const programs[] = { NULL, "/nowhere/git" };
    TG_BUF out = { 0 };
    char hex[65];
    const char *want;
    box_sh(
        b,
        "git init -q -b main w; cd w; git config core.compression 1; yes '{\"name\": \"aten\"}' | "
        "head -c 53477376 > big.json; git add .; git commit -qm 1; git repack -qad");
    want = box_line(b, "sha256sum < w/big.json | cut -c1-64");
    for (size_t i = 0; i < 2; i++) {
        struct tg_git_opts o = { .dir = box_path(b, "w"), .git = programs[i] };
        tg_buf_clear(&out);
        assert_no_error(read_first(b, &o, "HEAD", "big.json", &out, &b->err), &b->err);
        assert_int_equal(out.n, 53477376);
        tg_sha256_hex(tg_buf_sv(&out), hex);
        assert_string_equal(hex, want);
    }
    /* A git that prints something else of that length must not be believed. */
    box_sh(b, "printf '#!/bin/sh\\nhead -c 53477376 /dev/zero\\n' > liar; chmod +x liar");
    tg_buf_clear(&out);
    assert_false(
        read_first(b, &(struct tg_git_opts){ .dir = box_path(b, "w"), .git = box_path(b, "liar") },
                   "HEAD", "big.json", &out, &b->err));
    assert_error(&b->err, TG_ERR_GIT, "reading 'big.json' from git failed", NULL);
}

IN_BOX(too_many_files)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    TG_BUF out = { 0 };
    limits.max_files = 2; /* perf has three */
    box_origin(b);
    assert_false(
        read_first(b, &(struct tg_git_opts){ .dir = box_path(b, "origin"), .limits = &limits },
                   "HEAD", "perf", &out, &b->err));
    assert_error(&b->err, TG_ERR_LIMIT, "more than 2 files", "tracegate merge");
    limits.max_blob = 30; /* one entry of a tree is 20 bytes of sha, mode and name: more than 30 */
    assert_false(
        read_first(b, &(struct tg_git_opts){ .dir = box_path(b, "origin"), .limits = &limits },
                   "HEAD", "perf", &out, &b->err));
    assert_error(&b->err, TG_ERR_LIMIT, "bytes of names, the limit is 30", NULL);
}

IN_BOX(lfs_limit)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    TG_BUF out = { 0 };
    limits.max_blob = 200; /* the pointer has 127 bytes, its object is said to have 201 */
    box_sh(b, "git init -q -b main w; cd w; printf 'version https://git-lfs.github.com/spec/v1\\n"
              "oid sha256:%064d\\nsize 201\\n' 0 > a.json; git add .; git commit -qm 1");
    assert_false(read_first(b, &(struct tg_git_opts){ .dir = box_path(b, "w"), .limits = &limits },
                            "HEAD", "a.json", &out, &b->err));
    assert_error(&b->err, TG_ERR_LIMIT, "201 bytes in Git LFS, the limit is 200", "summarize");
}

/* Two repositories open side by side: nothing is shared. */
IN_BOX(two_at_once)
{
    struct tg_commit c;
    box_origin(b);
    box_sh(b, "git init -q -b main w; cd w; git commit -q --allow-empty -m other");
    struct tg_git *one = box_open(b, "origin");
    BOX_GIT *two = box_open(b, "w");
    tg_git_close(one);
    assert_true(tg_git_resolve(two, "HEAD", b->a, &c, &b->err));
    assert_string_equal(c.summary.p, "other");
}

/* GIT_DIR, as a hook has it, counts when no folder is named; GIT_WORK_TREE does not stop us. */
IN_BOX(git_dir_from_a_hook)
{
    struct tg_commit c;
    box_origin(b);
    setenv("GIT_DIR", box_path(b, "origin/.git"), 1);
    BOX_GIT *g = tg_git_open(&(struct tg_git_opts){ .dir = NULL }, &b->err);
    unsetenv("GIT_DIR");
    assert_no_error(g != NULL, &b->err);
    assert_true(tg_git_resolve(g, "HEAD", b->a, &c, &b->err));
    assert_string_equal(c.summary.p, "c4");
}
