/*
 * The page and the drawing of a history made of plain numbers: 500 operators of 100 us on 60
 * nights, of which op 7, 1 ms, is 20 % slower from night 40 on; another machine from night 20 on;
 * the step is 50 ms, and 62.5 ms in the last night. Names, subjects and authors are hostile.
 *
 *     test_history_page --dump PAGE DRAWING      what history_page.py opens
 */
#include "tests/support.h"

#include "core/base/file.h"
#include "reporters/history.h"

enum { OPS = 500, NIGHTS = 60, STEP = OPS, SERIES };

struct box {
    struct tg_arena *a;
    struct tg_series_table table;
    struct tg_night night[NIGHTS];
    struct tg_history h;
    struct tg_history_suite suite;
    struct tg_history_report report;
};

static void name_series(struct box *b)
{
    b->table.v = tg_grow(NULL, &b->table.cap, SERIES, sizeof *b->table.v);
    b->table.n = SERIES;
    for (uint32_t s = 0; s < OPS; s++)
        b->table.v[s] = (struct tg_series){
            .what = TG_SERIES_OP,
            .kind = TG_KIND_OP,
            .name = tg_sv_of(tg_arena_printf(
                b->a, s == 9 ? "<script>alert(%u)</script>" : "aten::operator_number_%03u", s)),
            .judged = true,
            .counted = true,
            .worse = 1
        };
    b->table.v[STEP] = (struct tg_series){ .what = TG_SERIES_METRIC,
                                           .metric = TG_METRIC_STEP_TIME,
                                           .name = TG_SV("step_time"),
                                           .worse = 1 };
}

static void make_night(struct box *b, size_t i)
{
    struct tg_night *night = &b->night[i];
    double step = i + 1 == NIGHTS ? 62.5e6 : 50e6;
    *night = (struct tg_night){ .commit = tg_sv_of(tg_arena_printf(b->a, "%040zu", i)),
                                .subject = TG_SV("\"><img src=x onerror=alert(1)>"),
                                .author = TG_SV("A & B <a@b>"),
                                .date = 1780000000 + (int64_t)i * 86400,
                                .environment = i < 20 ? TG_SV("cpu=a") : TG_SV("cpu=<b>"),
                                .runs = 5,
                                .step_ns = step,
                                .v = TG_NEW_N(b->a, struct tg_history_value, SERIES),
                                .n = SERIES };
    for (uint32_t s = 0; s < OPS; s++) {
        double noise = (double)((i * 7 + s * 13 + (i * s) % 5) % 11) / 1000 - 0.005;
        double ns = (s == 7 ? 1e6 : 100e3) * exp(noise) * (s == 7 && i >= 40 ? 1.2 : 1);
        night->v[s] =
            (struct tg_history_value){ .series = s, .v = log(ns), .plain = ns, .calls = 2 };
    }
    night->v[STEP] =
        (struct tg_history_value){ .series = STEP, .v = log(step), .plain = step, .calls = NAN };
}

static void tell(struct box *b)
{
    struct tg_history_entry *told = TG_NEW_N(b->a, struct tg_history_entry, b->h.n_events + 1);
    struct tg_history_commit *commit = TG_NEW_N(b->a, struct tg_history_commit, 1);
    struct tg_history_release *release = TG_NEW_N(b->a, struct tg_history_release, 1);
    uint32_t *all = TG_NEW_N(b->a, uint32_t, SERIES);
    *commit = (struct tg_history_commit){ b->night[40].commit, b->night[40].subject,
                                          b->night[40].author, b->night[40].date, true };
    *release = (struct tg_history_release){ 30, TG_SV("v1.0</text>") };
    for (size_t i = 0; i < b->h.n_events; i++)
        told[i] = (struct tg_history_entry){ .event = &b->h.event[i],
                                             .state = b->h.event[i].kind == TG_EVENT_REGRESSION
                                                          ? TG_EVENT_STATE_OPEN
                                                          : TG_EVENT_STATE_ACCEPTED,
                                             .fails = b->h.event[i].kind == TG_EVENT_REGRESSION,
                                             .from = b->night[b->h.event[i].from].commit,
                                             .to = b->night[b->h.event[i].to].commit,
                                             .commits = commit,
                                             .n_commits = 1 };
    for (uint32_t s = 0; s < SERIES; s++)
        all[s] = s ? s - 1 : STEP;
    all[1] = 7; /* what moved comes second */
    all[8] = 0;
    b->suite = (struct tg_history_suite){ .name = TG_SV("train & eval"),
                                          .history = &b->h,
                                          .events = told,
                                          .n_events = b->h.n_events,
                                          .series = all,
                                          .n_series = 13,
                                          .all = all,
                                          .n_all = SERIES,
                                          .releases = release,
                                          .n_releases = 1 };
    b->report = (struct tg_history_report){
        .suites = &b->suite, .n = 1, .commit_url = TG_SV("https://example.org/o/r/commit/")
    };
}

static void begin(struct box *b)
{
    *b = (struct box){ .a = tg_arena_new() };
    tg_series_init(&b->table);
    name_series(b);
    for (size_t i = 0; i < NIGHTS; i++)
        make_night(b, i);
    b->h = (struct tg_history){ .night = b->night, .n = NIGHTS, .series = &b->table };
    tg_history_replay(&b->h, TG_SV("train"), b->a);
    tell(b);
}

static void end(struct box *b)
{
    tg_series_release(&b->table);
    tg_arena_free(b->a);
}

#define CASE(name) TEST_IN(struct box, b, begin, end, name)

/* 500 operators by 60 nights in 500,000 bytes, the goal of the page. */
CASE(the_page_is_small)
{
    TG_BUF out = { 0 };
    tg_history_put_page(&out, &b->report);
    print_message("%zu bytes\n", out.n);
    assert_in_range(out.n, 100000, 500000);
}

static bool has(const struct tg_buf *b, const char *text)
{
    return tg_sv_has(tg_buf_sv(b), tg_sv_of(text));
}

CASE(hostile_text_is_text)
{
    TG_BUF page = { 0 }, svg = { 0 };
    tg_history_put_page(&page, &b->report);
    tg_trend_svg(&svg, &b->suite);
    assert_false(has(&page, "<script>alert"));
    assert_true(has(&page, "&lt;script&gt;alert"));
    assert_false(has(&page, "<img"));
    assert_true(has(&page, "train &amp; eval"));
    assert_false(has(&svg, "v1.0</text></"));
    assert_true(has(&svg, "v1.0&lt;/text&gt;"));
}

/* What needs nobody's word is not "accepted"; what somebody accepted is. */
CASE(only_what_somebody_accepted_is_accepted)
{
    struct tg_history_entry told = b->suite.events[0];
    b->suite.events = &told;
    b->suite.n_events = 1;
    told.state = TG_EVENT_STATE_ACCEPTED;
    told.fresh = true;
    for (int by = 0; by < 2; by++) {
        TG_BUF text = { 0 }, markdown = { 0 };
        told.actor = by ? TG_SV("ann") : TG_SV("");
        tg_history_put_text(&text, &b->report);
        tg_history_put_markdown(&markdown, &b->report);
        assert_true(has(&text, ", accepted") == by);
        assert_true(has(&markdown, ", accepted") == by);
    }
}

TEST(equal_input_gives_equal_bytes)
{
    struct box one, two;
    TG_BUF a = { 0 }, b = { 0 };
    begin(&one);
    begin(&two);
    tg_history_put_page(&a, &one.report);
    tg_history_put_page(&b, &two.report);
    assert_true(tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b)));
    end(&one);
    end(&two);
}

/* Nights 40 to 59 of op 7 are on the other machine: its first five nights are 20 to 24. */
CASE(the_level_is_that_of_tonights_environment)
{
    assert_true(fabs(tg_history_level(&b->suite, 7) / 1e6 - 1) < 0.006);
    b->suite.first = 45;
    assert_true(fabs(tg_history_level(&b->suite, 7) / 1.2e6 - 1) < 0.006);
}

/* A page and a drawing of nothing: no night, no series. */
CASE(nothing_is_drawn_of_nothing)
{
    TG_BUF page = { 0 }, svg = { 0 };
    struct tg_history none = { 0 };
    none.series = &b->table;
    b->suite = (struct tg_history_suite){ .name = TG_SV("s"), .history = &none };
    tg_history_put_page(&page, &b->report);
    tg_trend_svg(&svg, &b->suite);
    assert_true(has(&page, "0 nights"));
    assert_true(has(&svg, "0 nights"));
}

static int dump(const char *page, const char *svg)
{
    struct box b;
    TG_BUF out = { 0 };
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    begin(&b);
    tg_history_put_page(&out, &b.report);
    ok = tg_file_write(page, tg_buf_sv(&out), &err);
    tg_buf_clear(&out);
    tg_trend_svg(&out, &b.suite);
    ok = ok && tg_file_write(svg, tg_buf_sv(&out), &err);
    end(&b);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2], argv[3]);
    return run_registered(NULL, NULL, NULL);
}
