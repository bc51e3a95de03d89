/* The samples of samples.h, and how diagnostics are rendered. */
#include "policy_support.h"
#include "samples.h"

static struct tg_policy *load_sample(const char *text, struct tg_diags *d)
{
    const struct memory_file files[] = {
        { ".tracegate.yml", text, strlen(text) },
        { "other.yml", V "require: {steps: 1}\n", 0 },
    };
    return load_files(files, 2, NULL, d);
}

/* Takes the mark out of `text`; *line and *col are where it stood, in code points. */
static char *unmark(const char *text, uint32_t *line, uint32_t *col)
{
    const char *mark = strstr(text, "§");
    assert_non_null(mark);
    char *out = test_malloc(strlen(text));
    size_t before = (size_t)(mark - text);
    memcpy(out, text, before);
    strcpy(out + before, mark + strlen("§"));
    *line = 1;
    *col = 1;
    for (const char *p = text; p < mark; p++) {
        if (*p == '\n') {
            ++*line;
            *col = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            ++*col;
        }
    }
    return out;
}

TEST(each_code_at_its_place)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        uint32_t line, col;
        char *text = unmark(s->bad, &line, &col);
        AUTO_DIAGS d = no_diags();
        bool found = false;
        AUTO_POLICY *p = load_sample(text, &d);
        for (size_t k = 0; k < d.n; k++) {
            const struct tg_diag *g = &d.v[k];
            found = found || ((int)g->code == s->code && g->at.line == line && g->at.col == col &&
                              strcmp(g->at.file, ".tracegate.yml") == 0 &&
                              (!s->says || tg_sv_has(g->message, tg_sv_of(s->says)) ||
                               tg_sv_has(g->fix, tg_sv_of(s->says))));
        }
        if (p || !found) {
            print_message("sample %zu: TG%d expected at %u:%u in\n%s", i, s->code, (unsigned)line,
                          (unsigned)col, text);
            print_diags(&d);
            wrong++;
        }
        test_free(text);
    }
    assert_int_equal(wrong, 0);
}

TEST(each_neighbour_loads)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        AUTO_DIAGS d = no_diags();
        AUTO_POLICY *p = load_sample(samples[i].good, &d);
        if (!p || d.n) {
            print_message("neighbour %zu (TG%d):\n%s", i, samples[i].code, samples[i].good);
            print_diags(&d);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- all at once, in order, within caps ---- */

TEST(ten_mistakes_in_one_run)
{
    /* Written by hand, each with its code: eleven, so that none hides behind the tenth. */
    static const char text[] = "version: 3\n"               /* 106 */
                               "sweets: []\n"               /* 101 */
                               "require: {steps: many}\n"   /* 105 */
                               "baseline: {max_walk: -1}\n" /* 105 */
                               "rules:\n"
                               "  - id: A\n"        /* 107 */
                               "    metric: totl\n" /* 104 */
                               "    fail: {pct: 10%}\n"
                               "  - id: b\n"
                               "    metric: idle\n"
                               "    fail: {pct: 5%}\n"                              /* 115 */
                               "  - {id: c, metric: step_time, fail: {abs: 200}}\n" /* 112 */
                               "  - {id: c, metric: step_time, fail: {abs: 1ms}}\n" /* 130 */
                               "  - {id: d, metric: count, fail: {abs: 0}}\n"       /* 122 */
                               "  - {id: e, match: {name: '/(/'}, metric: count, fail: {abs: 0}}\n";
    static const struct {
        int code;
        uint32_t line;
    } expected[] = { { 106, 1 },  { 101, 2 },  { 105, 3 },  { 105, 4 },  { 107, 6 }, { 104, 7 },
                     { 115, 11 }, { 112, 12 }, { 130, 13 }, { 122, 14 }, { 125, 15 } };
    AUTO_DIAGS d = no_diags();
    assert_null(load_text(text, &d));
    if (d.n != sizeof expected / sizeof *expected)
        print_diags(&d);
    assert_int_equal(d.n, sizeof expected / sizeof *expected);
    assert_int_equal(d.errors, d.n);
    for (size_t i = 0; i < d.n; i++) {
        assert_int_equal(d.v[i].code, expected[i].code);
        assert_int_equal(d.v[i].at.line, expected[i].line);
    }
}

TEST(text_has_line_caret_and_fix)
{
    static const char expected[] =
        ".tracegate.yml:5:5: error[TG101]: unknown key 'threshold' in a rule\n"
        "    5 |     threshold: 10%\n"
        "      |     ^~~~~~~~~ did you mean 'fail'? it is written  fail: {pct: 10%, abs: 200us}\n"
        ".tracegate.yml:6:17: error[TG112]: duration without unit: 200\n"
        "    6 |     fail: {abs: 200}\n"
        "      |                 ^~~ 'step_time': it is a duration: write 200us, 0.2ms or "
        "0.2%step\n"
        "2 errors. The gate did not run (exit 2).\n";
    AUTO_DIAGS d = no_diags();
    TG_BUF out = { 0 };
    assert_null(load_text("version: 1\nrules:\n  - id: a\n    metric: step_time\n"
                          "    threshold: 10%\n    fail: {abs: 200}\n",
                          &d));
    tg_diags_text(&d, &out);
    assert_string_equal(out.p, expected);
}

TEST(json_has_the_same_data)
{
    AUTO_DIAGS d = no_diags();
    TG_BUF out = { 0 };
    struct tg_doc *root = tg_doc_new_object();
    assert_null(load_text("version: 1\nrules: {}\n", &d));
    tg_diags_json(&d, root, "diagnostics");
    tg_doc_write(root, TG_DOC_COMPACT, &out);
    assert_string_equal(out.p, "{\"diagnostics\":[{\"code\":\"TG109\",\"severity\":\"error\","
                               "\"file\":\".tracegate.yml\",\"line\":2,\"column\":8,\"length\":2,"
                               "\"message\":\"a change of the rules must not be empty\"}]}\n");
    tg_doc_free(root);
}

/* 60 unknown keys: 50 are shown, all are counted, in order of the file. */
TEST(fifty_are_shown)
{
    TG_BUF text = { 0 }, out = { 0 };
    AUTO_DIAGS d = no_diags();
    tg_buf_puts(&text, "version: 1\n");
    for (int i = 0; i < 60; i++)
        tg_buf_printf(&text, "k%d: 1\n", i);
    assert_null(load_text(text.p, &d));
    assert_int_equal(d.errors, 60);
    tg_diags_text(&d, &out);
    assert_non_null(strstr(out.p, "unknown key 'k49'"));
    assert_null(strstr(out.p, "unknown key 'k50'"));
    assert_non_null(strstr(out.p, "(10 more are not shown)\n60 errors."));
}

/* Keys that were tried and removed (docs/experiments) get no special treatment. */
TEST(removed_keys_are_unknown)
{
    static const char *const text[] = {
        "version: 1\nnoise: {few_runs: judge}\n", "version: 1\nnoise: {device_steps: judge}\n",
        "version: 1\nnoise: {history: 9}\n",
        "version: 1\nrules: [{id: a, metric: idle, fail: {pp: 1pp}, sustained: 2}]\n"
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        TG_BUF out = { 0 };
        AUTO_DIAGS d = no_diags();
        assert_null(load_text(text[i], &d));
        tg_diags_text(&d, &out);
        assert_non_null(strstr(out.p, "error[TG101]: unknown key"));
    }
}

/* Controls and direction marks of the source never reach the terminal; long lines are cut. */
TEST(hostile_source_lines_are_made_visible)
{
    TG_BUF text = { 0 }, out = { 0 };
    AUTO_DIAGS d = no_diags();
    tg_buf_puts(&text, "version: 1\nx\xE2\x80\xAE"
                       "y: \"");
    for (int i = 0; i < 300; i++)
        tg_buf_puts(&text, "long ");
    tg_buf_puts(&text, "\"\n");
    assert_null(load_text(text.p, &d));
    tg_diags_text(&d, &out);
    assert_null(strstr(out.p, "\xE2\x80\xAE"));
    assert_true(out.n < 800);
}
