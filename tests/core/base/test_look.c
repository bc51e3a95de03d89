/* There, not there, or nobody could look. */
#include "tests/support.h"

#include "core/base/file.h"
#include "core/base/look.h"

static void touch(const char *path)
{
    struct tg_err err = TG_ERR_INIT;
    assert_true(tg_file_write(path, TG_SV("x"), &err));
}

struct tree {
    struct tg_arena *a;
    char top[32];
};

/* A tree of names that globs meet; "gone" is a link to nowhere, "loop" one to itself. */
static void make_tree(struct tree *t)
{
    static const char *const files[] = { "a/x.json",   "a/y.json",   "a/.hidden.json", "b/x.json",
                                         "b/c/z.json", "[b]/x.json", "deep/er/x.txt" };
    (void)snprintf(t->top, sizeof t->top, "/tmp/tg-look-XXXXXX");
    assert_non_null(mkdtemp(t->top));
    t->a = tg_arena_new();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        touch(tg_arena_printf(t->a, "%s/%s", t->top, files[i]));
    assert_int_equal(symlink("nowhere", tg_arena_printf(t->a, "%s/gone", t->top)), 0);
    assert_int_equal(symlink("loop", tg_arena_printf(t->a, "%s/deep/er/loop", t->top)), 0);
}

static void remove_tree(struct tree *t)
{
    assert_int_equal(system(tg_arena_printf(t->a, "rm -rf %s", t->top)), 0);
    tg_arena_free(t->a);
}
#define IN_TREE(name) TEST_IN(struct tree, t, make_tree, remove_tree, name)

IN_TREE(one_path)
{
    struct tg_err err = TG_ERR_INIT;
    bool dir = false;
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/a", t->top), &dir, &err), TG_SEEN);
    assert_true(dir);
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/a/x.json", t->top), &dir, &err), TG_SEEN);
    assert_false(dir);
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/none", t->top), NULL, &err), TG_ABSENT);
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/gone", t->top), NULL, &err), TG_ABSENT);
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/a/x.json/below", t->top), NULL, &err),
                     TG_ABSENT);
    assert_int_equal(err.kind, TG_ERR_NONE);
    assert_int_equal(tg_look_at(tg_arena_printf(t->a, "%s/deep/er/loop", t->top), NULL, &err),
                     TG_SEEN_FAILED);
    assert_int_equal(err.kind, TG_ERR_IO);
    assert_non_null(strstr(err.message, "cannot look at"));
}

IN_TREE(names_of_a_folder)
{
    const char **names;
    struct tg_err err = TG_ERR_INIT;
    size_t n;
    assert_int_equal(tg_look_in(tg_arena_printf(t->a, "%s/a", t->top), t->a, &names, &n, &err),
                     TG_SEEN);
    assert_int_equal(n, 3);
    assert_string_equal(names[0], ".hidden.json");
    assert_string_equal(names[2], "y.json");
    assert_int_equal(tg_look_in(tg_arena_printf(t->a, "%s/none", t->top), t->a, &names, &n, &err),
                     TG_ABSENT);
    assert_int_equal(
        tg_look_in(tg_arena_printf(t->a, "%s/a/x.json", t->top), t->a, &names, &n, &err),
        TG_ABSENT);
    assert_int_equal(
        tg_look_in(tg_arena_printf(t->a, "%s/deep/er/loop", t->top), t->a, &names, &n, &err),
        TG_SEEN_FAILED);
    assert_int_equal(n, 0);
}

IN_TREE(globs)
{
    static const struct {
        const char *pattern, *matches; /* below the tree, a blank between them */
    } cases[] = {
        { "a/*.json", "a/x.json a/y.json" },
        { "*/x.json", "[b]/x.json a/x.json b/x.json" },
        { "*//x.json", "[b]//x.json a//x.json b//x.json" },
        { "?/[xy].json", "a/x.json a/y.json b/x.json" },
        { "a/.*.json", "a/.hidden.json" },
        { "*/*/z.json", "b/c/z.json" },
        { "*/c/", "b/c/" },
        { "\\[b]/*", "[b]/x.json" },
        { "[b]/*", "b/c b/x.json" },
        { "go*", "gone" }, /* what a link that leads nowhere is, the reader says */
        { "none/*.json", "" },
        { "a/x.json/*", "" },
        { "a/[", "" },
        { "*.json", "" },
    };
    const char **paths;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_err err = TG_ERR_INIT;
        TG_BUF got = { 0 };
        size_t n;
        assert_true(tg_look_glob(tg_arena_printf(t->a, "%s/%s", t->top, cases[i].pattern), t->a,
                                 &paths, &n, &err));
        for (size_t k = 0; k < n; k++)
            tg_buf_printf(&got, "%s%s", k ? " " : "", paths[k] + strlen(t->top) + 1);
        tg_buf_putc(&got, '\0');
        if (strcmp(got.p, cases[i].matches) != 0)
            fail_msg("%s: '%s'", cases[i].pattern, got.p);
    }
}

IN_TREE(a_folder_that_cannot_be_listed_fails_the_glob)
{
    const char **paths;
    struct tg_err err = TG_ERR_INIT;
    size_t n = 1;
    assert_false(tg_look_glob(tg_arena_printf(t->a, "%s/deep/er/loop/*.json", t->top), t->a, &paths,
                              &n, &err));
    assert_int_equal(n, 0);
    assert_int_equal(err.kind, TG_ERR_IO);
    assert_non_null(strstr(err.message, "cannot list folder"));
}
