/* Where git would find a repository, against what git says. */
#include "core/baseline/discover.h"
#include "gitbox.h"

static enum tg_discovered discover(const struct box *b, const char *dir, char root[PATH_MAX])
{
    return tg_git_discover(&(struct tg_git_opts){ .dir = box_path(b, dir) }, root);
}

/* A clone, a folder below it, a linked work tree, a submodule's work tree, through a symbolic
 * link. */
IN_BOX(a_work_tree_is_the_one_that_git_finds)
{
    static const char *const dirs[] = { "origin", "origin/perf/sub", "tree/perf", "super/mod",
                                        "link" };
    char root[PATH_MAX];
    box_origin(b);
    box_sh(b, "git -C origin worktree add -q ../tree feature\n"
              "git init -q super; cd super\n"
              "git -c protocol.file.allow=always submodule --quiet add ../origin mod\n"
              "cd ..; ln -s origin/perf link");
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        const char *top =
            box_line(b, tg_arena_printf(b->a, "cd %s; git rev-parse --show-toplevel", dirs[i]));
        assert_int_equal(discover(b, dirs[i], root), TG_DISCOVERED_TREE);
        assert_string_equal(root, tg_arena_printf(b->a, "%s/", top));
    }
}

/* What libgit2 has to say: a bare one, inside `.git`, a `.git` that is none. Then nothing is
 * concluded. */
IN_BOX(what_is_not_plain_is_left_to_libgit2)
{
    char root[PATH_MAX];
    box_origin(b);
    box_sh(b, "git clone -q --bare origin bare; mkdir -p origin/deep/.git origin/deep/er");
    assert_int_equal(discover(b, "bare", root), TG_DISCOVERED_UNSURE);
    assert_int_equal(discover(b, "bare/objects", root), TG_DISCOVERED_UNSURE);
    assert_int_equal(discover(b, "origin/.git", root), TG_DISCOVERED_UNSURE);
    assert_int_equal(discover(b, "origin/deep/er", root), TG_DISCOVERED_UNSURE);
    assert_int_equal(discover(b, "not there", root), TG_DISCOVERED_UNSURE);
}

IN_BOX(outside_there_is_none)
{
    char root[PATH_MAX];
    box_sh(b, "mkdir -p some/folder");
    assert_int_equal(discover(b, "some/folder", root), TG_DISCOVERED_NONE);
    assert_null(tg_git_open(&(struct tg_git_opts){ .dir = box_path(b, "some/folder") }, &b->err));
    assert_error(&b->err, TG_ERR_GIT, "some/folder' is not inside a git repository",
                 "--baseline FILE");
}

/* A hook's environment names the repository; where a folder is named, that counts. */
IN_BOX(the_environment_is_libgit2s)
{
    char root[PATH_MAX];
    box_sh(b, "mkdir empty");
    assert_int_equal(chdir(box_path(b, "empty")), 0);
    setenv("GIT_DIR", "/nowhere", 1);
    assert_int_equal(tg_git_discover(&(struct tg_git_opts){ 0 }, root), TG_DISCOVERED_UNSURE);
    assert_int_equal(discover(b, "empty", root), TG_DISCOVERED_NONE);
    unsetenv("GIT_DIR");
    assert_int_equal(tg_git_discover(&(struct tg_git_opts){ 0 }, root), TG_DISCOVERED_NONE);
    assert_int_equal(chdir("/"), 0);
}
