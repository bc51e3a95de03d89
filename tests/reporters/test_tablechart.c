#include "reporters/table.h"
#include "tests/support.h"

static const struct tg_table_column temporal[] = {
    { "rank", TG_TABLE_INT },
    { "compute_time(us)", TG_TABLE_US },
    { "non_compute_time(us)", TG_TABLE_US },
    { "idle_time(us)", TG_TABLE_US },
};
static const struct tg_table_column types[] = {
    { "kernel_type", TG_TABLE_TEXT },
    { "sum", TG_TABLE_REAL },
};
static const struct tg_table_column series[] = {
    { "rank", TG_TABLE_INT },
    { "ts", TG_TABLE_US },
    { "name", TG_TABLE_TEXT },
    { "memory_bw_gbps", TG_TABLE_REAL },
};

struct fixture {
    struct tg_tables frames;
    struct tg_buf svg;
};

static void setup(struct fixture *f)
{
    tg_tables_init(&f->frames);
}

static void teardown(struct fixture *f)
{
    tg_tables_release(&f->frames);
    tg_buf_release(&f->svg);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

static bool has(const struct fixture *f, const char *text)
{
    return tg_sv_has(tg_buf_sv(&f->svg), tg_sv_of(text));
}

/* The plot is 590 px wide and the widest bar 1000 ns: 500, 300, 200 ns are 295, 177 and 118 px,
   each less the gap of 0.8 px; the second row is half as long: 295 px of idle. */
CASE(bars_are_in_proportion)
{
    struct tg_table *t = tg_tables_add(&f->frames, "temporal", temporal, 4);
    TG_TABLE_PUT(t, tg_table_int(0), tg_table_int(500), tg_table_int(300), tg_table_int(200));
    TG_TABLE_PUT(t, tg_table_int(3), tg_table_int(0), tg_table_int(0), tg_table_int(500));
    assert_true(tg_tablechart_svg(&f->svg, t));
    assert_true(has(f, "class=\"c0\" x=\"230.00\" y=\"94\" width=\"294.20\""));
    assert_true(has(f, "class=\"c1\" x=\"525.00\" y=\"94\" width=\"176.20\""));
    assert_true(has(f, "class=\"c2\" x=\"702.00\" y=\"94\" width=\"117.20\""));
    assert_true(has(f, "class=\"c2\" x=\"230.00\" y=\"124\" width=\"294.20\""));
    assert_true(has(f, "rank 0, compute: 500 ns (50.0 %)"));
    assert_true(has(f, ">rank 3<"));
}

CASE(hostile_names_stay_text)
{
    struct tg_table *t = tg_tables_add(&f->frames, "kernel-types", types, 2);
    TG_TABLE_PUT(t, tg_table_text(TG_SV("<script>&\"A overlapping B")), tg_table_real(5));
    assert_true(tg_tablechart_svg(&f->svg, t));
    assert_false(has(f, "<script"));
    assert_true(has(f, "&lt;script&gt;&amp;&quot;a + b"));
}

static const struct tg_table_column idle[] = {
    { "rank", TG_TABLE_INT },
    { "stream", TG_TABLE_INT },
    { "idle_category", TG_TABLE_TEXT },
    { "idle_time", TG_TABLE_US },
};

/* A row a category: 500, 300 and 200 ns of one stream are one bar, 500 ns of the next half of
 * it. */
CASE(categories_of_a_stream_are_one_bar)
{
    static const struct {
        int64_t stream, ns;
        const char *category;
    } rows[] = { { 7, 500, "host_wait" },
                 { 7, 300, "kernel_wait" },
                 { 7, 200, "other" },
                 { 9, 500, "kernel_wait" } };
    struct tg_table *t = tg_tables_add(&f->frames, "idle", idle, 4);
    for (size_t r = 0; r < 4; r++)
        TG_TABLE_PUT(t, tg_table_int(0), tg_table_int(rows[r].stream),
                     tg_table_text(tg_sv_of(rows[r].category)), tg_table_int(rows[r].ns));
    assert_true(tg_tablechart_svg(&f->svg, t));
    assert_true(has(f, "class=\"c0\" x=\"230.00\" y=\"94\" width=\"294.20\""));
    assert_true(has(f, "class=\"c2\" x=\"702.00\" y=\"94\" width=\"117.20\""));
    assert_true(has(f, "class=\"c1\" x=\"230.00\" y=\"124\" width=\"294.20\""));
    assert_true(has(f, "rank 0, stream 7, waits for the host: 500 ns (50.0 %)"));
    assert_true(has(f, ">rank 0, stream 9<"));
}

static const struct tg_table_column frames[] = {
    { "name", TG_TABLE_TEXT },          { "host_self(us)", TG_TABLE_US },
    { "device_time(us)", TG_TABLE_US }, { "device_self(us)", TG_TABLE_US },
    { "rank", TG_TABLE_INT },
};

/* 25 modules of 1 to 25 us of their own, in another order: the largest 20, the largest first. */
CASE(modules_are_drawn_by_their_own_time)
{
    struct tg_table *t = tg_tables_add(&f->frames, "modules", frames, 5);
    char names[26][32];
    for (int i = 1; i <= 26; i++) {
        int self = i * 7 % 26 ? i * 7 % 26 : 26; /* 26: another rank's */
        (void)snprintf(names[i - 1], sizeof names[0], "nn.Module: Layer_%d", self);
        TG_TABLE_PUT(t, tg_table_text(tg_sv_of(names[i - 1])), tg_table_int(99),
                     tg_table_int(26000), tg_table_int(self * 1000), tg_table_int(self == 26));
    }
    assert_true(tg_tablechart_svg(&f->svg, t));
    assert_true(has(f, ">Layer_25<"));
    assert_true(has(f, "Layer_25: 25"));
    assert_true(has(f, "y=\"74\" width=\"589.20\""));
    assert_true(has(f, ">Layer_6<"));
    assert_false(has(f, ">Layer_5<"));
    assert_false(has(f, "Layer_26"));
    assert_true(has(f, "5 more in the table"));
    assert_true(strstr(f->svg.p, ">Layer_25<") < strstr(f->svg.p, ">Layer_24<"));
    assert_true(has(f, "Device time by nn.Module"));
}

/* 0..10 us; 4 GB/s from the start: the line rises at the left edge to the top (4 of 4). */
CASE(series_are_steps)
{
    struct tg_table *t = tg_tables_add(&f->frames, "bandwidth-series", series, 4);
    static const struct {
        tg_ns at;
        double v;
    } points[] = { { 1000, 4 }, { 11000, 0 } };
    for (int i = 0; i < 2; i++)
        TG_TABLE_PUT(t, tg_table_int(0), tg_table_int(points[i].at), tg_table_text(TG_SV("Memset")),
                     tg_table_real(points[i].v));
    assert_true(tg_tablechart_svg(&f->svg, t));
    assert_true(has(f, "d=\"M72 348.0H72V88.0H936V348.0\""));
    assert_true(has(f, "GB/s"));
}

CASE(nothing_is_not_drawn)
{
    struct tg_table *t = tg_tables_add(&f->frames, "temporal", temporal, 4);
    assert_false(tg_tablechart_svg(&f->svg, t));
    tg_table_row(t)[0] = tg_table_int(0); /* a rank with a reason instead of values */
    assert_false(tg_tablechart_svg(&f->svg, t));
    assert_int_equal(f->svg.n, 0);
}
