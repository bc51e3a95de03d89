#include "tests/support.h"

#include "core/baseline/changed.h"

static void hunks_become_lines(void **state)
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
    struct tg_arena *a = tg_arena_new();
    struct tg_changed c = { 0 };
    (void)state;
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
    tg_arena_free(a);
}

static void what_is_no_diff_is_passed_over(void **state)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_changed c = { 0 };
    (void)state;
    tg_changed_parse(TG_SV("@@ -1 +1 @@\n+++ b/x.py\n@@ -a +b,c @@\n@@"), a, &c);
    assert_int_equal(c.n_python, 0);
    tg_changed_parse(TG_SV(""), a, &c);
    assert_int_equal(c.n_python, 0);
    tg_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hunks_become_lines),
        cmocka_unit_test(what_is_no_diff_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
