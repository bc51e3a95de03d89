#include "tests/support.h"

#include "core/baseline/changed.h"

TEST(hunks_become_lines)
{
    static const char diff[] = "diff --git a/m.py b/m.py\n"
                               "index 1..2 100644\n"
                               "--- a/m.py\n"
                               "+++ b/m.py\n"
                               "@@ -3 +3,2 @@ def f():\n"
                               "-x\n"
                               "+++ b/evil.py\n" /* an added line "++ b/evil.py" */
                               "+y\n"
                               "@@ -9,2 +9,0 @@ def g():\n"
                               "-a\n"
                               "-b\n"
                               "diff --git a/new dir/n.py b/new dir/n.py\n"
                               "new file mode 100644\n"
                               "--- /dev/null\n"
                               "+++ b/new dir/n.py\t\n"
                               "@@ -0,0 +1 @@\n"
                               "+z\n"
                               "diff --git a/gone.py b/gone.py\n"
                               "--- a/gone.py\n"
                               "+++ /dev/null\n"
                               "@@ -1 +0,0 @@\n"
                               "-q\n";
    TG_ARENA *a = tg_arena_new();
    struct tg_changed c = { 0 };
    tg_changed_parse(tg_sv_of(diff), a, &c);
    assert_int_equal(c.n_python, 2);
    assert_sv_equal(c.python[0].path, TG_SV("m.py"));
    assert_int_equal(c.python[0].n, 2);
    assert_int_equal(c.python[0].lines[0].first, 3);
    assert_int_equal(c.python[0].lines[0].last, 4);
    assert_int_equal(c.python[0].lines[1].first, 9); /* removed after line 9 */
    assert_int_equal(c.python[0].lines[1].last, 9);
    assert_sv_equal(c.python[1].path, TG_SV("new dir/n.py"));
    assert_int_equal(c.python[1].lines[0].first, 1);
}

TEST(what_is_no_diff_is_passed_over)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_changed c = { 0 };
    tg_changed_parse(TG_SV("@@ -1 +1 @@\n+++ b/x.py\n@@ -a +b,c @@\n@@"), a, &c);
    assert_int_equal(c.n_python, 0);
    tg_changed_parse(TG_SV(""), a, &c);
    assert_int_equal(c.n_python, 0);
}

/* Comments and blank lines change nothing that runs; a comment beside code does not hide it. */
TEST(hunks_that_change_nothing)
{
    static const char diff[] = "diff --git a/m.py b/m.py\n"
                               "--- a/m.py\n"
                               "+++ b/m.py\n"
                               "@@ -3 +3,2 @@ def f():\n"
                               "-    # was\n"
                               "+    # is\n"
                               "+\n"
                               "@@ -9 +10,2 @@ def g():\n"
                               "+    # is\n"
                               "+    x = 1  # no comment\n"
                               "@@ -20 +21 @@\n"
                               "-#\n"
                               "+x\n"
                               "@@ -30 +31 @@\n"
                               "+  \t# last\n";
    TG_ARENA *a = tg_arena_new();
    struct tg_changed c = { 0 };
    tg_changed_parse(tg_sv_of(diff), a, &c);
    assert_int_equal(c.n_python, 1);
    assert_int_equal(c.python[0].n, 2);
    assert_int_equal(c.python[0].lines[0].first, 10);
    assert_int_equal(c.python[0].lines[1].first, 21);
}

TEST(a_moved_file_has_both_paths)
{
    static const char diff[] = "diff --git a/old.py b/new.py\n"
                               "similarity index 90%\n"
                               "rename from old.py\n"
                               "rename to new.py\n"
                               "--- a/old.py\n"
                               "+++ b/new.py\n"
                               "@@ -3 +3 @@\n"
                               "-x\n"
                               "+y\n"
                               "diff --git a/a.py b/b.py\n"
                               "similarity index 100%\n"
                               "rename from a.py\n"
                               "rename to b.py\n"
                               "diff --git a/c.py b/c.py\n"
                               "--- a/c.py\n"
                               "+++ b/c.py\n"
                               "@@ -1 +1 @@\n"
                               "+z\n";
    static const char *const want[][2] = { { "new.py", "old.py" },
                                           { "b.py", "a.py" },
                                           { "c.py", "" } };
    static const size_t lines[] = { 1, 0, 1 };
    TG_ARENA *a = tg_arena_new();
    struct tg_changed c = { 0 };
    tg_changed_parse(tg_sv_of(diff), a, &c);
    assert_int_equal(c.n_python, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_sv_equal(c.python[i].path, tg_sv_of(want[i][0]));
        assert_sv_equal(c.python[i].was, tg_sv_of(want[i][1]));
        assert_int_equal(c.python[i].n, lines[i]);
    }
}
