#include "tests/core/baseline/gitbox.h"

/* In a folder with: trace.json, a:b.json, C:\x, main, dir/r0.json, dir/r1.json, [1].json */
static const struct {
    const char *text;
    enum tg_input_kind kind;
    const char *rev, *path;
} sides[] = {
    { "-", TG_INPUT_STDIN, "", "" },
    { "trace.json", TG_INPUT_FILE, "", "" },
    { "./trace.json", TG_INPUT_FILE, "", "" },
    { "a:b.json", TG_INPUT_FILE, "", "" }, /* exists: no revision "a" */
    { "C:\\x", TG_INPUT_FILE, "", "" },
    { "[1].json", TG_INPUT_FILE, "", "" }, /* exists: no glob */
    { "main", TG_INPUT_FILE, "", "" },     /* a file named like a branch wins */
    { "main:perf/x.json", TG_INPUT_GIT_PATH, "main", "perf/x.json" },
    { "dir", TG_INPUT_DIR, "", "" },
    { "dir/", TG_INPUT_DIR, "", "" },
    { "dir/*.json", TG_INPUT_GLOB, "", "" },
    { "origin/main:perf", TG_INPUT_GIT_PATH, "origin/main", "perf" },
    { "origin/main:perf/*.json", TG_INPUT_GIT_PATH, "origin/main", "perf/*.json" },
    { "HEAD:", TG_INPUT_GIT_PATH, "HEAD", "" },
    { "HEAD:./x.json", TG_INPUT_GIT_PATH, "HEAD", "./x.json" },
    { "v1:a:b", TG_INPUT_GIT_PATH, "v1", "a:b" },
    { "HEAD^{/fix: it}:perf", TG_INPUT_GIT_PATH, "HEAD^{/fix: it}", "perf" },
    { "HEAD^{/fix: it}", TG_INPUT_REV, "HEAD^{/fix: it}", "" },
    { "@{u}:perf", TG_INPUT_GIT_PATH, "@{u}", "perf" },
    { ":/fix: it", TG_INPUT_REV, ":/fix: it", "" },
    { "origin/main", TG_INPUT_REV, "origin/main", "" },
    { "v2.4.0", TG_INPUT_REV, "v2.4.0", "" },
    { "HEAD~3", TG_INPUT_REV, "HEAD~3", "" },
};

static const struct {
    const char *text;
    enum tg_err_kind kind;
    const char *message, *hint;
} refused[] = {
    { "", TG_ERR_USAGE, "an empty side", "REV:PATH" },
    { "missing.json", TG_ERR_IO, "no such file: 'missing.json'", "REV:missing.json" },
    { "missing.json.gz", TG_ERR_IO, "no such file", NULL },
    { "out/x.tgs", TG_ERR_IO, "no such file", NULL },
    { "gone/", TG_ERR_IO, "no such file", NULL },
    { "./gone", TG_ERR_IO, "no such file", NULL },
    { "/no/such/place", TG_ERR_IO, "no such file", "There is no folder" },
    { "out/*.json", TG_ERR_IO, "no file matches 'out/*.json'", NULL },
    { "D:\\x.json", TG_ERR_IO, "no such file: 'D:\\x.json'", NULL },
    { "D:/x.json", TG_ERR_IO, "no such file", NULL },
    { "HEAD:/etc/passwd", TG_ERR_USAGE, "leaves the repository", "HEAD:perf/base.json.gz" },
    { "https://example.org/x.json", TG_ERR_USAGE, "is a URL", "download" },
};

static void enter(const struct box *b)
{
    box_sh(b, "mkdir w; cd w; mkdir dir; touch trace.json a:b.json 'C:\\x' main '[1].json' "
              "dir/r0.json dir/r1.json");
    assert_int_equal(chdir(box_path(b, "w")), 0);
}

IN_BOX(table_of_sides)
{
    enter(b);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct tg_input s;
        struct tg_err err = TG_ERR_INIT;
        assert_no_error(tg_input_parse(&s, sides[i].text, b->a, &err), &err);
        if (s.kind != sides[i].kind)
            fail_msg("'%s' is of kind %d", sides[i].text, (int)s.kind);
        assert_string_equal(s.text.p, sides[i].text);
        assert_string_equal(s.rev.p, sides[i].rev);
        assert_string_equal(s.path.p, sides[i].path);
    }
    assert_int_equal(chdir("/"), 0);
}

IN_BOX(table_of_refusals)
{
    enter(b);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct tg_input s;
        struct tg_err err = TG_ERR_INIT;
        assert_false(tg_input_parse(&s, refused[i].text, b->a, &err));
        if (strchr("/.D", refused[i].text[0]) && refused[i].text[0])
            assert_null(strstr(err.hint, "REV:")); /* nothing to look for in a commit */
        assert_error(&err, refused[i].kind, refused[i].message, refused[i].hint);
    }
    assert_int_equal(chdir("/"), 0);
}
