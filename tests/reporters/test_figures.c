#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reporters/figures.h"

static const struct tg_frame_column temporal[] = {
    { "rank", TG_FRAME_INT },
    { "compute_time(us)", TG_FRAME_US },
    { "non_compute_time(us)", TG_FRAME_US },
    { "idle_time(us)", TG_FRAME_US },
};
static const struct tg_frame_column types[] = {
    { "kernel_type", TG_FRAME_TEXT },
    { "sum", TG_FRAME_REAL },
};
static const struct tg_frame_column series[] = {
    { "rank", TG_FRAME_INT },
    { "ts", TG_FRAME_US },
    { "name", TG_FRAME_TEXT },
    { "memory_bw_gbps", TG_FRAME_REAL },
};

struct fixture {
    struct tg_frames frames;
    struct tg_buf svg;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    tg_frames_init(&f->frames);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    tg_frames_release(&f->frames);
    tg_buf_release(&f->svg);
    free(f);
    return 0;
}

static bool has(const struct fixture *f, const char *text)
{
    return tg_sv_has(tg_buf_sv(&f->svg), tg_sv_of(text));
}

/* The plot is 590 px wide and the widest bar 1000 ns: 500, 300, 200 ns are 295, 177 and 118 px,
   each less the gap of 0.8 px; the second row is half as long: 295 px of idle. */
static void bars_are_in_proportion(void **state)
{
    struct fixture *f = *state;
    struct tg_frame *t = tg_frames_add(&f->frames, "temporal", temporal, 4);
    static const int64_t rows[2][4] = { { 0, 500, 300, 200 }, { 3, 0, 0, 500 } };
    for (int r = 0; r < 2; r++) {
        struct tg_frame_cell *row = tg_frame_row(t);
        for (int c = 0; c < 4; c++)
            row[c] = tg_frame_int(rows[r][c]);
    }
    assert_true(tg_figure_svg(&f->svg, t));
    assert_true(has(f, "class=\"c0\" x=\"230.00\" y=\"94\" width=\"294.20\""));
    assert_true(has(f, "class=\"c1\" x=\"525.00\" y=\"94\" width=\"176.20\""));
    assert_true(has(f, "class=\"c2\" x=\"702.00\" y=\"94\" width=\"117.20\""));
    assert_true(has(f, "class=\"c2\" x=\"230.00\" y=\"124\" width=\"294.20\""));
    assert_true(has(f, "rank 0, compute: 500 ns (50.0 %)"));
    assert_true(has(f, ">rank 3<"));
}

static void hostile_names_stay_text(void **state)
{
    struct fixture *f = *state;
    struct tg_frame *t = tg_frames_add(&f->frames, "kernel-types", types, 2);
    struct tg_frame_cell *row = tg_frame_row(t);
    row[0] = tg_frame_text(TG_SV("<script>&\"A overlapping B"));
    row[1] = tg_frame_real(5);
    assert_true(tg_figure_svg(&f->svg, t));
    assert_false(has(f, "<script"));
    assert_true(has(f, "&lt;script&gt;&amp;&quot;a + b"));
}

/* 0..10 us; 4 GB/s from the start: the line rises at the left edge to the top (4 of 4). */
static void series_are_steps(void **state)
{
    struct fixture *f = *state;
    struct tg_frame *t = tg_frames_add(&f->frames, "bandwidth-series", series, 4);
    static const struct {
        tg_ns at;
        double v;
    } points[] = { { 1000, 4 }, { 11000, 0 } };
    for (int i = 0; i < 2; i++) {
        struct tg_frame_cell *row = tg_frame_row(t);
        row[0] = tg_frame_int(0);
        row[1] = tg_frame_int(points[i].at);
        row[2] = tg_frame_text(TG_SV("Memset"));
        row[3] = tg_frame_real(points[i].v);
    }
    assert_true(tg_figure_svg(&f->svg, t));
    assert_true(has(f, "d=\"M72 348.0H72V88.0H936V348.0\""));
    assert_true(has(f, "GB/s"));
}

static void nothing_is_not_drawn(void **state)
{
    struct fixture *f = *state;
    struct tg_frame *t = tg_frames_add(&f->frames, "temporal", temporal, 4);
    assert_false(tg_figure_svg(&f->svg, t));
    tg_frame_row(t)[0] = tg_frame_int(0); /* a rank with a reason instead of values */
    assert_false(tg_figure_svg(&f->svg, t));
    assert_int_equal(f->svg.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bars_are_in_proportion, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_names_stay_text, setup, teardown),
        cmocka_unit_test_setup_teardown(series_are_steps, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_not_drawn, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
