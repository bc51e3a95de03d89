/* Every reporter over every fixture: golden files, and properties that hold for all of them. */
#include "core/base/arena.h"
#include "core/base/file.h"
#include "fixture.h"
#include "golden.h"
#include "reporters/reporter.h"
#include "tests/support.h"

static const struct tg_render plain = { 0 };

static void render(tg_report_writer *write, enum fixture f, const struct tg_render *r,
                   struct tg_buf *out)
{
    TG_ARENA *a = tg_arena_new();
    write(out, fixture_make(f, a), r);
}

/* Of a page what differs from page to page: style, script and their hashes are the same in all. */
static tg_sv without_assets(tg_sv page)
{
    const char *body = memmem(page.p, page.n, "<main>", 6);
    const char *end = memmem(page.p, page.n, "</main>", 7);
    return body && end ? (tg_sv){ body, (size_t)(end - body) } : page;
}

/* A step of two functions, one call that is new and one that is gone; 1,000 -> 1,200 ns. */
static struct tg_picture_node nodes[] = {
    { 0, 0, TG_PATH_ROOT, { "", 0 }, { 1000, 1200 } },
    { 0, 1, TG_PATH_FUNCTION, { "train.py: step", 14 }, { 900, 1100 } },
    { 1, 2, TG_PATH_OP, { "aten::new;op <b>", 16 }, { 0, 400 } },
    { 1, 2, TG_PATH_OP, { "aten::gone", 10 }, { 300, 0 } },
};
static struct tg_picture_span spans[] = {
    { 0, 0, 700, { "aten::mm", 8 }, TG_PAINT_HOST, 1 },
    { 1, 200, 500, { "gemm <b>", 8 }, TG_PAINT_COMPUTE, 3 },
};
static const tg_sv lanes[] = { { "host", 4 }, { "stream 1", 8 } };
static const struct tg_picture picture = {
    .nodes = nodes,
    .n_nodes = 4,
    .stacks = true,
    .least = 2,
    .step = { { spans, 2, lanes, 2, { "base.json", 9 }, 3, 5000, 1000 },
              { spans, 2, lanes, 2, { "out.json", 8 }, 4, 7000, 1200 } },
};

TEST(golden_files)
{
    for (size_t k = 0; k < TG_REPORTS; k++)
        for (int f = 0; f < FIXTURE_LARGE; f++) {
            const struct tg_render r = { .picture = f == FIXTURE_FAIL ? &picture : NULL,
                                         .command = TG_SV("tracegate check") };
            TG_BUF out = { 0 };
            char name[128];
            (void)snprintf(name, sizeof name, "%s_%s%s", tg_reporters[k].name,
                           fixture_name((enum fixture)f), strrchr(tg_reporters[k].file, '.'));
            render(tg_reporters[k].write, (enum fixture)f, &r, &out);
            if (out.n) /* there are no call paths without traces */
                golden_check(name, without_assets(tg_buf_sv(&out)));
        }
}

/* The failure, drawn or written by options. */
TEST(golden_files_by_options)
{
    static const struct {
        const char *golden;
        tg_report_writer *write;
        struct tg_render r;
    } cases[] = {
        { "svg-durations_narrow.svg",
          tg_reporter_svg_durations,
          { .narrow = true, .share = true, .top = 3 } },
        { "text_fail_80.txt", tg_reporter_text, { .columns = 80 } },
        { "text_fail_200.txt", tg_reporter_text, { .columns = 200 } },
        { "text_fail_colour.txt", tg_reporter_text, { .color = true } }, /* no other has colours */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_BUF out = { 0 };
        render(cases[i].write, FIXTURE_FAIL, &cases[i].r, &out);
        golden_check(cases[i].golden, tg_buf_sv(&out));
    }
}

TEST(same_input_gives_same_bytes)
{
    for (size_t k = 0; k < TG_REPORTS; k++)
        for (int f = 0; f < FIXTURES; f++) {
            TG_BUF one = { 0 }, two = { 0 };
            render(tg_reporters[k].write, (enum fixture)f, &plain, &one);
            render(tg_reporters[k].write, (enum fixture)f, &plain, &two);
            assert_true(tg_sv_eq(tg_buf_sv(&one), tg_buf_sv(&two)));
        }
}

/* No report prints what is not a number: "nan" and "inf" as a word of their own. */
TEST(no_nan_no_inf)
{
    static const char *const bad[] = { "nan", "-nan", "inf", "-inf", "NaN", "Infinity" };
    for (size_t k = 0; k < TG_REPORTS; k++)
        for (int f = 0; f < FIXTURE_LARGE; f++) {
            TG_BUF out = { 0 };
            render(tg_reporters[k].write, (enum fixture)f, &plain, &out);
            for (char *word = strtok(out.n ? out.p : NULL, " \n\t,\"|:<>()=%"); word;
                 word = strtok(NULL, " \n\t,\"|:<>()=%"))
                for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
                    assert_string_not_equal(word, bad[b]);
        }
}

/* Five names of one rule that were not judged, for two reasons, and one of another rule: two
 * cases. */
TEST(junit_tells_once_what_a_rule_did_not_judge)
{
    struct tg_result r[6];
    const struct tg_verdict v = { .results = r, .n_results = 6, .suite = TG_SV("s") };
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    TG_BUF out = { 0 };
    for (size_t i = 0; i < 6; i++)
        r[i] = (struct tg_result){ .state = i == 3 ? TG_STATE_SKIP : TG_STATE_NOT_JUDGED,
                                   .rule = i < 5 ? TG_SV("slower") : TG_SV("step"),
                                   .why_not = i == 1 ? "busy" : "too few runs",
                                   .op_normalised = tg_sv_of(names[i]),
                                   .op_kind = TG_KIND_OP };
    tg_reporter_junit(&out, &v, &plain);
    assert_non_null(strstr(out.p, "tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""));
    assert_non_null(strstr(out.p, "name=\"slower: not judged\""));
    assert_non_null(strstr(out.p, "\"not judged: 4 names: too few runs (a, c, d, e); "
                                  "1 name: busy (b)\""));
    assert_non_null(strstr(out.p, "name=\"step: not judged\""));
    assert_non_null(strstr(out.p, "\"not judged: 1 name: too few runs (f)\""));
}

/* Self times: 1200 - 1100, 1100 - 400, 400; ';' separates frames. */
TEST(collapsed_stacks_add_up)
{
    const struct tg_render r = { .picture = &picture };
    TG_BUF out = { 0 };
    render(tg_reporter_collapsed, FIXTURE_FAIL, &r, &out);
    assert_string_equal(out.p, "step 100\nstep;train.py: step 700\n"
                               "step;train.py: step;aten::new:op <b> 400\n");
}

/* Text at 80 columns: only lines whose single word is longer may exceed. No line starts with
 * hostile text, no escape sequence gets through, "##[" never stands. */
TEST(terminal_is_safe)
{
    static const int widths[] = { 40, 80, 200 };
    for (size_t w = 0; w < 3; w++)
        for (int f = 0; f < FIXTURES; f++) {
            const struct tg_render r = { .columns = widths[w] };
            TG_BUF out = { 0 };
            render(tg_reporter_text, (enum fixture)f, &r, &out);
            for (char *line = out.p; line && *line;
                 line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                size_t lead = strspn(line, " \t");
                assert_true(strncmp(line + lead, "::", 2) != 0);
            }
            assert_null(strstr(out.p, "##["));
            assert_null(strchr(out.p, '\033'));
        }
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

/*
 * Of the large fixture 1,998 rows change their time: 50 + (7919 i mod 1000) us, so only i = 0 and
 * i = 1000 stay at 50, as 7919 and 1000 have no common factor. The first 1,200 rows have a result
 * that is shown, two of them without a change; three rows of the noise follow: 1,201 in the table,
 * shown plus left out.
 */
TEST(markdown_keeps_its_budget)
{
    static const size_t budgets[] = { 3000, 8000, 20000, 65000, 0 };
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        const struct tg_render r = { .budget = budgets[b],
                                     .top = 5000,
                                     .report_url = TG_SV("https://ci.example/a b)/report") };
        TG_BUF out = { 0 };
        size_t shown = 0;
        render(tg_reporter_markdown, FIXTURE_LARGE, &r, &out);
        assert_true(out.n <= (budgets[b] ? budgets[b] : 65000));
        assert_int_equal(occurrences(out.p, "\n<details>"), occurrences(out.p, "\n</details>"));
        assert_int_equal(occurrences(out.p, "\n```") % 2, 0);
        assert_non_null(strstr(out.p, "(https://ci.example/a%20b%29/report)"));
        const char *table = strstr(out.p, "\n| what changed most | per step |");
        if (table) /* less the line of the table's head */
            shown = occurrences(table, "\n| ") - 1;
        const char *left = strstr(out.p, " rows omitted");
        assert_non_null(left);
        while (left > out.p && left[-1] >= '0' && left[-1] <= '9')
            left--;
        assert_int_equal(shown + strtoul(left, NULL, 10), 1201);
    }
}

TEST(junit_limit)
{
    const struct tg_render r = { .junit_max = 7 };
    TG_BUF out = { 0 };
    render(tg_reporter_junit, FIXTURE_LARGE, &r, &out);
    assert_int_equal(occurrences(out.p, "<testcase "), 7);
    assert_non_null(strstr(out.p, "name=\"results_left_out\" value=\"1993\""));
    tg_buf_clear(&out);
    render(tg_reporter_junit, FIXTURE_LARGE, &plain, &out);
    assert_int_equal(occurrences(out.p, "<testcase "), 500);
}

/* At most ten lines, the last of them a notice that counts the rest: 1,200 failures - 9. */
TEST(annotations_limit)
{
    TG_BUF out = { 0 };
    render(tg_reporter_annotations, FIXTURE_LARGE, &plain, &out);
    assert_int_equal(occurrences(out.p, "\n"), 10);
    assert_non_null(strstr(out.p, "::notice title=tracegate::1191 more results"));
}

/* A preset is no file that a reader of the report could open. */
TEST(presets_are_no_files)
{
    TG_BUF out = { 0 };
    render(tg_reporter_junit, FIXTURE_PASS, &plain, &out);
    assert_null(strstr(out.p, " file="));
    tg_buf_clear(&out);
    render(tg_reporter_junit, FIXTURE_FAIL, &plain, &out);
    assert_non_null(strstr(out.p, " file=\".tracegate.yml\" line=\"19\""));
}

/* Causes in the fail fixture: the rules are new-sync, new-work (with two folded), launch-config in
 * the first section, slower in the second, step in the third. Each is said once, in this order. */
TEST(causes_come_in_order)
{
    static const char *const order[] = { "Counts changed",
                                         "rule new-sync",
                                         "cudaStreamSynchronize:",
                                         "rule new-work",
                                         "aten::copy_:",
                                         "with it     aten::clone +8",
                                         "rule launch-config",
                                         "Durations changed",
                                         "rule slower",
                                         "The step as a whole",
                                         "rule step",
                                         "Replaced",
                                         "Waived",
                                         "Time per step" };
    TG_BUF out = { 0 };
    render(tg_reporter_text, FIXTURE_FAIL, &plain, &out);
    const char *at = out.p;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (!at)
            fail_msg("'%s' is missing or out of order", order[i]);
    }
    assert_int_equal(occurrences(out.p, "rule new-work"), 1);
    assert_null(strstr(out.p, "fail  aten::clone"));
}

/* Of a failure the findings come before warnings that are about the runs; else after them. */
TEST(warnings_follow_a_failure)
{
    static void (*const write[])(
        struct tg_buf * out, const struct tg_verdict *v,
        const struct tg_render *r) = { tg_reporter_text, tg_reporter_markdown, tg_reporter_html };
    struct tg_note note = { .text = TG_SV("another machine"), .warning = true };
    struct tg_result r = { .state = TG_STATE_FAIL,
                           .rule = TG_SV("new-work"),
                           .op_normalised = TG_SV("aten::mm"),
                           .op_kind = TG_KIND_OP,
                           .folded_under = TG_NO_ID,
                           .message = TG_SV("one call more") };
    for (size_t k = 0; k < sizeof write / sizeof *write; k++)
        for (int fails = 0; fails < 2; fails++) {
            struct tg_verdict v = { .notes = &note,
                                    .n_notes = 1,
                                    .results = &r,
                                    .n_results = 1,
                                    .outcome = fails ? TG_OUTCOME_FAIL : TG_OUTCOME_WARN };
            TG_BUF out = { 0 };
            r.state = fails ? TG_STATE_FAIL : TG_STATE_WARN;
            v.n_state[r.state] = 1;
            write[k](&out, &v, &plain);
            const char *finding = strstr(out.p, "one call more");
            const char *warning = strstr(out.p, "another machine");
            assert_non_null(finding);
            assert_non_null(warning);
            assert_int_equal(finding < warning, fails);
        }
}

TEST(exit_zero_is_said)
{
    const struct tg_render r = { .exit_zero = true };
    TG_BUF out = { 0 };
    render(tg_reporter_text, FIXTURE_FAIL, &r, &out);
    assert_non_null(strstr(out.p, "verdict FAIL (exit 0 by --exit-zero)"));
    tg_buf_clear(&out);
    render(tg_reporter_text, FIXTURE_PASS, &r, &out);
    assert_null(strstr(out.p, "exit-zero"));
}

/* The large verdict without a budget, and its names byte by byte in hexadecimal. */
static int dump_everything(const char *dir)
{
    const struct tg_render boundless = { .budget = (size_t)64 << 20, .top = 5000 };
    TG_ARENA *a = tg_arena_new();
    const struct tg_comparison *c = fixture_make(FIXTURE_LARGE, a)->comparison;
    TG_BUF out = { 0 };
    struct tg_err err = TG_ERR_INIT;
    char path[512];
    bool ok;
    render(tg_reporter_markdown, FIXTURE_LARGE, &boundless, &out);
    (void)snprintf(path, sizeof path, "%s/everything.md", dir);
    ok = tg_file_write(path, tg_buf_sv(&out), &err);
    tg_buf_clear(&out);
    for (size_t i = 0; i < c->n_ops; i++) {
        for (size_t k = 0; k < c->ops[i].name.n; k++)
            tg_buf_printf(&out, "%02x", (unsigned char)c->ops[i].name.p[k]);
        tg_buf_putc(&out, '\n');
    }
    (void)snprintf(path, sizeof path, "%s/names.hex", dir);
    ok = ok && tg_file_write(path, tg_buf_sv(&out), &err);
    return !ok;
}

/* Writes all reports of all fixtures into a directory for tests/reporters/consumers.py. */
static int dump(const char *dir)
{
    const struct tg_render strict = { .strict = true };
    struct tg_err err = TG_ERR_INIT;
    for (size_t k = 0; k < TG_REPORTS; k++)
        for (int f = 0; f < FIXTURES; f++)
            for (int s = 0; s < 2; s++) {
                TG_BUF out = { 0 };
                char path[512];
                (void)snprintf(path, sizeof path, "%s/%s%s_%s%s", dir, tg_reporters[k].name,
                               s ? "-strict" : "", fixture_name((enum fixture)f),
                               strrchr(tg_reporters[k].file, '.'));
                if (s && strcmp(tg_reporters[k].name, "junit") != 0)
                    continue;
                render(tg_reporters[k].write, (enum fixture)f, s ? &strict : &plain, &out);
                if (!tg_file_write(path, tg_buf_sv(&out), &err))
                    return 1;
            }
    return dump_everything(dir);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2]);
    return run_registered(NULL, NULL, NULL);
}
