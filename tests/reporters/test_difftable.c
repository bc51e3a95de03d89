/* The table of `diff` in its formats. */
#include "core/base/arena.h"
#include "core/base/utf8.h"
#include "fixture.h"
#include "golden.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"
#include "tests/support.h"

static struct tg_difftable table_of(struct tg_arena *a, enum fixture f, bool whole)
{
    const struct tg_comparison *c = fixture_make(f, a)->comparison;
    uint32_t *rows = TG_NEW_N(a, uint32_t, c->n_ops);
    for (size_t i = 0; i < c->n_ops; i++)
        rows[i] = (uint32_t)i;
    return (struct tg_difftable){ .comparison = c,
                                  .rows = rows,
                                  .n_rows = c->n_ops,
                                  .whole = whole,
                                  .label = { TG_SV("control"), TG_SV("test") } };
}

TEST(text_fits)
{
    static const int widths[] = { 80, 200 };
    static const enum fixture fixtures[] = { FIXTURE_FAIL, FIXTURE_HOSTILE };
    for (size_t f = 0; f < 2; f++)
        for (size_t w = 0; w < 2; w++) {
            TG_ARENA *a = tg_arena_new();
            const struct tg_difftable t = table_of(a, fixtures[f], false);
            const struct tg_render r = { .columns = widths[w] };
            TG_BUF out = { 0 };
            char name[64];
            tg_difftable_text(&out, &t, &r);
            (void)snprintf(name, sizeof name, "table_%s_%d.txt", fixture_name(fixtures[f]),
                           widths[w]);
            golden_check(name, tg_buf_sv(&out));
            for (tg_sv rest = tg_buf_sv(&out); rest.n;)
                assert_true(tg_utf8_count(tg_sv_cut(&rest, '\n')) <= (size_t)widths[w]);
        }
}

/*
 * aten::copy_ of the fixture: 12 and 20 calls, 310.5 and 522.8 us per step over 40 steps a side.
 * Per step: as they are. Whole: 12 * 40 + 1 = 481 and 801 calls (one call and 500 ns lie outside),
 * 310.5 * 40 + 0.5 = 12420.5 and 20912.5 us; the difference of durations is 8492.
 */
TEST(csv_has_htas_columns)
{
    TG_ARENA *arena = tg_arena_new();
    const struct tg_difftable per_step = table_of(arena, FIXTURE_FAIL, false);
    const struct tg_difftable whole = table_of(arena, FIXTURE_FAIL, true);
    TG_BUF a = { 0 }, b = { 0 };
    tg_difftable_csv(&a, &per_step);
    tg_difftable_csv(&b, &whole);
    assert_int_equal(strncmp(a.p,
                             "name,control_counts,control_total_duration,test_counts,"
                             "test_total_duration,diff_counts,diff_duration,"
                             "counts_change_categories\n",
                             118),
                     0);
    assert_non_null(strstr(a.p, "\naten::copy_,12,310.5,20,522.8,8,212.3,+\n"));
    assert_non_null(strstr(b.p, "\naten::copy_,481,12420.5,801,20912.5,320,8492,+\n"));
    assert_non_null(strstr(a.p, "\naten::native_layer_norm,12,402.2,0,0,-12,-402.2,-\n"));
}

TEST(json_and_empty)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_difftable t = table_of(a, FIXTURE_FAIL, false);
    TG_BUF out = { 0 };
    const struct tg_render r = { 0 };
    tg_difftable_json(&out, &t);
    golden_check("table_fail.json", tg_buf_sv(&out));
    tg_buf_clear(&out);
    t.n_rows = 0;
    tg_difftable_text(&out, &t, &r);
    assert_string_equal(out.p, "no rows\n");
}

/* "gone" and "new" are about calls: a call of 0 ns, as some clocks give, is still there. */
TEST(a_call_that_takes_no_time_is_not_gone)
{
    struct tg_op ops[2] = {
        { .kind = TG_KIND_OP, .name = TG_SV("instant"), .step_count = { 1, 1 } },
        { .kind = TG_KIND_OP, .name = TG_SV("left"), .step_count = { 1, 0 } }
    };
    const struct tg_comparison c = { .ops = ops, .n_ops = 2, .n_units = { 1, 1 } };
    const uint32_t rows[2] = { 0, 1 };
    struct tg_difftable t = { .comparison = &c, .rows = rows, .n_rows = 1 };
    const struct tg_render r = { 0 };
    TG_BUF out = { 0 };
    tg_difftable_text(&out, &t, &r);
    assert_null(strstr(out.p, "gone"));
    tg_buf_clear(&out);
    t.n_rows = 2;
    tg_difftable_text(&out, &t, &r);
    assert_non_null(strstr(out.p, "gone"));
}

/* Twice in every fourth of 24 and 40 steps: the usual step has none, the mean one 0.5. */
TEST(calls_of_a_schedule_are_those_of_the_mean_step)
{
    const struct tg_comparison c = { .iteration_ratio = 1, .n_units = { 24, 40 } };
    struct tg_op op = { .step_count = { 12, 20 } };
    struct tg_row_numbers n = tg_row_numbers(&c, &op, TG_BASIS_JUDGED);
    assert_true(n.count[TG_BASE] == 0.5 && n.count[TG_TEST] == 0.5 && n.d_count == 0);
    op.count[TG_TEST] = 1; /* a usual step has one now */
    n = tg_row_numbers(&c, &op, TG_BASIS_JUDGED);
    assert_true(n.count[TG_BASE] == 0 && n.count[TG_TEST] == 1);
}

/* Sums of 40 steps a side: 300 and 330 us; as check takes them 290 and 310; medians of the runs,
 * one of which was slow, 295 and 299. A replacement's evidence is of other names, too. */
TEST(durations_are_checks_where_it_compared_them)
{
    const struct tg_evidence ev = { .n_x = { 5, 5 }, .value = { 290000, 310000 }, .noise = 0.1 };
    struct tg_op op = { .name = TG_SV("mm"),
                        .kind = TG_KIND_OP,
                        .present = { true, true },
                        .step_count = { 40, 40 },
                        .step_total = { 40 * 300000, 40 * 330000 },
                        .total = { 295000, 299000 },
                        .ev_total = ev };
    struct tg_comparison c = { .ops = &op, .n_ops = 1, .n_units = { 40, 40 } };
    const uint32_t rows[] = { 0 };
    static const struct {
        enum tg_kind kind;
        unsigned runs_compared;
        bool slower, whole;
        const char *has; /* of the text: mark, and the change */
        size_t runs, pooled;
    } cases[] = {
        { TG_KIND_OP, 5, false, false, "~  mm", 0, 0 },
        { TG_KIND_OP, 5, false, false, "+20.0", 0, 0 },
        { TG_KIND_OP, 5, true, false, "=  mm", 0, 0 },
        { TG_KIND_OP, 5, true, false, "+20.0", 0, 0 },
        { TG_KIND_OP, 0, false, false, "=  mm", 0, 0 },
        { TG_KIND_OP, 0, false, false, "+30.0", 0, 0 },
        { TG_KIND_STEP, 5, false, false, "+30.0", 0, 0 },
        { TG_KIND_OP, 5, false, true, "=  mm", 0, 0 },
        { TG_KIND_STEP, 5, false, false, "=  mm", 0, 0 },
        { TG_KIND_STEP, 5, false, false, "+4.0", 3, 0 },
        { TG_KIND_OP, 0, false, false, "+4.0", 3, 0 },
        { TG_KIND_STEP, 5, false, false, "+30.0", 2, 0 },
        { TG_KIND_OP, 5, false, false, "+4.0", 3, 2 },
        { TG_KIND_OP, 5, false, false, "+20.0", 3, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tg_difftable t = {
            .comparison = &c, .rows = rows, .n_rows = 1, .whole = cases[i].whole
        };
        const struct tg_render r = { .columns = 100 };
        TG_BUF text = { 0 }, json = { 0 };
        bool estimated = cases[i].kind == TG_KIND_OP && cases[i].runs_compared && !cases[i].whole &&
                         !cases[i].pooled;
        op.kind = cases[i].kind;
        op.ev_total.n_x[TG_TEST] = cases[i].runs_compared;
        op.ev_total.slower = cases[i].slower;
        op.ev_total.pooled = cases[i].pooled;
        c.n_runs[TG_BASE] = c.n_runs[TG_TEST] = cases[i].runs;
        tg_difftable_text(&text, &t, &r);
        tg_difftable_json(&json, &t);
        if (!tg_sv_has(tg_buf_sv(&text), tg_sv_of(cases[i].has)))
            fail_msg("case %zu: no '%s' in\n%s", i, cases[i].has, text.p);
        assert_int_equal(tg_sv_has(tg_buf_sv(&text), TG_SV("as check takes them")), estimated);
        assert_int_equal(tg_sv_has(tg_buf_sv(&json), TG_SV("\"estimate\"")), estimated);
    }
    op.kind = TG_KIND_STEP; /* as in check's first line: the metric of that name */
    c.metrics[TG_METRIC_STEP_TIME] =
        (struct tg_metric_change){ .known = { true, true }, .value = { 400000, 407000 } };
    assert_true(tg_row_numbers(&c, &op, TG_BASIS_ESTIMATED).d_ns == 7000);
    assert_true(tg_row_numbers(&c, &op, TG_BASIS_PER_STEP).d_ns == 30000);
}

/* Names are shortened to the width that the numbers leave, once: what tells them apart stays. */
TEST(shortened_names_stay_apart)
{
    struct tg_op op[] = {
        { .name = TG_SV("autograd::engine::evaluate_function: AddmmBackward0"),
          .kind = TG_KIND_OP,
          .present = { true, true },
          .step_count = { 12, 12 },
          .step_total = { 181234567, 15123456 } },
        { .name = TG_SV("autograd::engine::evaluate_function: MulBackward0"),
          .kind = TG_KIND_OP,
          .present = { true, true },
          .step_count = { 12, 12 },
          .step_total = { 151234567, 18123456 } },
    };
    const struct tg_comparison c = { .ops = op, .n_ops = 2, .n_units = { 1, 1 } };
    const uint32_t rows[] = { 0, 1 };
    const struct tg_difftable t = { .comparison = &c, .rows = rows, .n_rows = 2 };
    const struct tg_render r = { .columns = 100 };
    TG_BUF text = { 0 };
    tg_difftable_text(&text, &t, &r);
    assert_true(tg_sv_has(tg_buf_sv(&text), TG_SV("AddmmBackward0 ")));
    assert_true(tg_sv_has(tg_buf_sv(&text), TG_SV(": MulBackward0 ")));
    tg_sv rest = tg_buf_sv(&text);
    while (rest.n)
        assert_true(tg_utf8_count(tg_sv_cut(&rest, '\n')) <= 100);
}
