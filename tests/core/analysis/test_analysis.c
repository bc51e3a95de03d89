/* The default analyses against brute force: random device work on a line of 400 ns, painted
 * nanosecond by nanosecond. And what has to stay when events are shuffled, shifted or scaled. */
#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "tests/build_trace.h"
#include "tests/support.h"

/* cmocka compares floats only */
#define assert_near(got, want, by) assert_true(fabs((got) - (want)) <= (by))

#define LINE 400
#define STREAMS 3

enum { COMPUTE, COMM, MEMORY, CLASSES };
static const char *const kernels[CLASSES] = { "sgemm", "ncclDevKernel_AllReduce",
                                              "Memcpy HtoD (Pageable -> Device)" };
static const char *const cats[CLASSES] = { "kernel", "kernel", "gpu_memcpy" };

struct work {
    int class_, stream, start, dur, launch; /* launch -1: unlinked */
};
struct world {
    struct bt b;
    struct tg_steps steps;
    struct tg_rank_trace rank;
    struct tg_analysis_opts opts;
    struct tg_analysis_in in;
    struct tg_tables out;
    struct work v[32];
    size_t n;
};

static uint64_t next(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static void draw(struct world *w, uint64_t seed)
{
    w->n = 1 + next(&seed, 24);
    for (size_t i = 0; i < w->n; i++) {
        struct work *k = &w->v[i];
        *k = (struct work){ .class_ = (int)next(&seed, CLASSES),
                            .stream = (int)next(&seed, STREAMS),
                            .start = 100 + (int)next(&seed, 200),
                            .dur = (int)next(&seed, 60) };
        k->launch = next(&seed, 4) ? (int)next(&seed, (uint64_t)k->start) : -1;
    }
}

/* Times become shift + scale * t. */
static void build(struct world *w, uint64_t shuffle, tg_ns shift, tg_ns scale)
{
    static const struct tg_window_spec window = { .by = TG_WINDOW_WHOLE };
    struct tg_err err;
    bt_init(&w->b);
    for (size_t i = 0; i < w->n; i++) {
        const struct work *k = &w->v[i];
        struct bt_row row = { cats[k->class_],
                              kernels[k->class_],
                              "0",
                              tg_arena_printf(w->b.arena, "%d", k->stream),
                              shift + scale * k->start,
                              scale * k->dur,
                              (int64_t)i + 1,
                              0,
                              k->stream,
                              k->class_ == MEMORY ? "bytes=120" : "" };
        bt_add(&w->b, row);
        if (k->launch >= 0)
            bt_host(&w->b, "cuda_runtime",
                    k->class_ == MEMORY ? "cudaMemcpyAsync" : "cudaLaunchKernel", "1",
                    shift + scale * k->launch, scale, (int64_t)i + 1);
    }
    w->rank = (struct tg_rank_trace){ 0, bt_trace(&w->b, shuffle), &w->steps };
    assert_true(tg_steps_build(&w->steps, w->rank.trace, &window, &err));
    w->opts = (struct tg_analysis_opts){
        .top_default = true, .operator_name = TG_SV("aten"), .min_length = 1, .series = false
    };
    tg_analysis_init(&w->in, &w->rank, 1, &w->opts);
    tg_tables_init(&w->out);
    for (const struct tg_analyzer *a = tg_analyzers; a->name; a++)
        a->run(&w->in, &w->out);
}

static void drop(struct world *w)
{
    tg_tables_release(&w->out);
    tg_analysis_release(&w->in);
    tg_steps_release(&w->steps);
    bt_release(&w->b);
}

static size_t column(const struct tg_table *f, const char *name)
{
    for (size_t k = 0; k < f->n_columns; k++)
        if (strcmp(f->columns[k].name, name) == 0)
            return k;
    fail_msg("%s has no column %s", f->name, name);
    return 0;
}

static const struct tg_table_cell *cell(const struct world *w, const char *frame, size_t row,
                                        const char *name)
{
    const struct tg_table *f = tg_tables_find(&w->out, frame);
    assert_non_null(f);
    assert_true(row < f->n_rows);
    return tg_table_at(f, row, column(f, name));
}

/* bit c of [t]: class c runs in [t, t + 1) */
static void paint(const struct world *w, int *line)
{
    memset(line, 0, LINE * sizeof *line);
    for (size_t i = 0; i < w->n; i++)
        for (int t = 0; t < w->v[i].dur; t++)
            line[w->v[i].start + t] |= 1 << w->v[i].class_;
}

static void extent(const struct world *w, int *first, int *last)
{
    *first = LINE;
    *last = 0;
    for (size_t i = 0; i < w->n; i++) {
        int end = w->v[i].start + w->v[i].dur;
        *first = w->v[i].start < *first ? w->v[i].start : *first;
        *last = end > *last ? end : *last;
    }
}

static void check_times(const struct world *w)
{
    int line[LINE], first, last, busy = 0, compute = 0, comm = 0, hidden = 0;
    paint(w, line);
    extent(w, &first, &last);
    for (int t = 0; t < LINE; t++) {
        busy += line[t] != 0;
        compute += line[t] >> COMPUTE & 1;
        comm += line[t] >> COMM & 1;
        hidden += (line[t] >> COMM & 1) && (line[t] >> COMPUTE & 1);
    }
    assert_int_equal(cell(w, "temporal", 0, "kernel_time(us)")->is.i, last - first);
    assert_int_equal(cell(w, "temporal", 0, "idle_time(us)")->is.i, last - first - busy);
    assert_int_equal(cell(w, "temporal", 0, "compute_time(us)")->is.i, compute);
    assert_int_equal(cell(w, "temporal", 0, "non_compute_time(us)")->is.i, busy - compute);
    assert_int_equal(cell(w, "overlap", 0, "comm_time(us)")->is.i, comm);
    assert_int_equal(cell(w, "overlap", 0, "overlapped_time(us)")->is.i, hidden);
    assert_int_equal(cell(w, "overlap", 0, "exposed_comm_time(us)")->is.i, comm - hidden);
    assert_true(cell(w, "overlap", 0, "comp_comm_overlap_pctg")->known == (comm > 0));
}

static void check_types(const struct world *w)
{
    static const char *const sets[] = {
        "",
        "COMPUTATION",
        "COMMUNICATION",
        "COMPUTATION overlapping COMMUNICATION",
        "MEMORY",
        "COMPUTATION overlapping MEMORY",
        "COMMUNICATION overlapping MEMORY",
        "COMPUTATION overlapping COMMUNICATION overlapping MEMORY",
    };
    const struct tg_table *f = tg_tables_find(&w->out, "kernel-types");
    int line[LINE], sums[8] = { 0 };
    size_t shown = 0;
    paint(w, line);
    for (int t = 0; t < LINE; t++)
        sums[line[t]]++;
    for (int s = 1; s < 8; s++) {
        bool found = false;
        for (size_t r = 0; r < f->n_rows; r++)
            if (tg_sv_eq(tg_table_at(f, r, 0)->is.text, tg_sv_of(sets[s]))) {
                assert_int_equal(tg_table_at(f, r, 1)->is.i, sums[s]);
                found = true;
            }
        assert_true(found == (sums[s] > 0));
        shown += found;
    }
    assert_int_equal(shown, f->n_rows);
}

/* Nanoseconds between a stream's first start and last end in which it runs nothing. */
static void check_idle(const struct world *w)
{
    const struct tg_table *f = tg_tables_find(&w->out, "idle");
    int all[LINE];
    paint(w, all);
    for (int stream = 0; stream < STREAMS; stream++) {
        int line[LINE] = { 0 }, first = LINE, last = 0, idle = 0, device_idle = 0;
        tg_ns got = 0, got_device = 0;
        for (size_t i = 0; i < w->n; i++) {
            if (w->v[i].stream != stream)
                continue;
            for (int t = 0; t < w->v[i].dur; t++)
                line[w->v[i].start + t] = 1;
            first = w->v[i].start < first ? w->v[i].start : first;
            last = w->v[i].start + w->v[i].dur > last ? w->v[i].start + w->v[i].dur : last;
        }
        for (int t = first; t < last; t++) {
            idle += !line[t];
            device_idle += !line[t] && !all[t];
        }
        for (size_t r = 0; r < f->n_rows; r++)
            if (tg_table_at(f, r, column(f, "stream"))->is.i == stream) {
                got += tg_table_at(f, r, column(f, "idle_time"))->is.i;
                got_device += tg_table_at(f, r, column(f, "device_idle_time"))->is.i;
            }
        assert_int_equal(got, idle);
        assert_int_equal(got_device, device_idle);
    }
}

/* Mean queue length: waiting nanoseconds of all pieces over the time from first launch to last
 * start. */
static void check_queue(const struct world *w)
{
    const struct tg_table *f = tg_tables_find(&w->out, "queue");
    for (size_t r = 0; r < f->n_rows; r++) {
        int64_t stream = tg_table_at(f, r, column(f, "stream"))->is.i;
        const struct tg_table_cell *mean = tg_table_at(f, r, column(f, "mean"));
        int first = LINE, last = 0, waiting = 0;
        for (size_t i = 0; i < w->n; i++) {
            const struct work *k = &w->v[i];
            if (k->stream != stream || k->launch < 0)
                continue;
            first = k->launch < first ? k->launch : first;
            last = k->start > last ? k->start : last;
            waiting += k->start - k->launch;
        }
        assert_true(mean->known == (last > first));
        if (mean->known)
            assert_near(mean->is.v, (double)waiting / (last - first), 1e-9);
    }
}

/* Time-weighted mean of the traffic: its bytes over the time in which any copy ran. */
static void check_bandwidth(const struct world *w)
{
    int line[LINE], busy = 0, bytes = 0, copies = 0;
    paint(w, line);
    for (int t = 0; t < LINE; t++)
        busy += line[t] >> MEMORY & 1;
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].class_ == MEMORY) {
            copies++;
            bytes += w->v[i].dur ? 120 : 0;
        }
    if (!copies) {
        assert_true(tg_sv_eq(cell(w, "bandwidth", 0, "reason")->is.text, TG_SV("no copies")));
        return;
    }
    assert_int_equal(cell(w, "bandwidth", 0, "bytes")->is.i, 120 * copies);
    assert_true(cell(w, "bandwidth", 0, "mean")->known == (busy > 0));
    if (busy)
        assert_near(cell(w, "bandwidth", 0, "mean")->is.v, (double)bytes / busy, 1e-9);
}

static void check_sums(const struct world *w)
{
    const struct tg_table *f = tg_tables_find(&w->out, "kernels");
    int64_t count[CLASSES] = { 0 }, sum[CLASSES] = { 0 };
    int64_t linked = 0;
    for (size_t i = 0; i < w->n; i++) {
        count[w->v[i].class_]++;
        sum[w->v[i].class_] += w->v[i].dur;
        linked += w->v[i].launch >= 0;
    }
    for (size_t r = 0; r < f->n_rows; r++)
        for (int c = 0; c < CLASSES; c++)
            if (tg_sv_eq(tg_table_at(f, r, 0)->is.text, tg_sv_of(kernels[c]))) {
                assert_int_equal(tg_table_at(f, r, column(f, "count"))->is.i, count[c]);
                assert_int_equal(tg_table_at(f, r, column(f, "sum (us)"))->is.i, sum[c]);
            }
    assert_int_equal(cell(w, "launches-summary", 0, "pairs")->is.i, linked);
    assert_int_equal(cell(w, "launches-summary", 0, "unlinked")->is.i, (int64_t)w->n - linked);
}

TEST(agrees_with_brute_force)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world w = { 0 };
        draw(&w, seed);
        build(&w, 0, 0, 1);
        check_times(&w);
        check_types(&w);
        check_idle(&w);
        check_queue(&w);
        check_bandwidth(&w);
        check_sums(&w);
        drop(&w);
    }
}

/* Equal frames, times multiplied by `scale`; ratios and counts stay. */
static void same_frames(const struct world *a, const struct world *b, tg_ns scale)
{
    assert_int_equal(a->out.n, b->out.n);
    for (size_t i = 0; i < a->out.n; i++) {
        const struct tg_table *f = &a->out.v[i], *g = &b->out.v[i];
        assert_int_equal(f->n_rows, g->n_rows);
        for (size_t c = 0; c < f->n_rows * f->n_columns; c++) {
            const struct tg_table_cell *x = &f->cells[c], *y = &g->cells[c];
            enum tg_table_type type = f->columns[c % f->n_columns].type;
            assert_true(x->known == y->known);
            if (!x->known)
                continue;
            if (type == TG_TABLE_TEXT)
                assert_true(tg_sv_eq(x->is.text, y->is.text));
            else if (type == TG_TABLE_INT)
                assert_int_equal(x->is.i, y->is.i);
            else if (type == TG_TABLE_US)
                assert_int_equal(x->is.i * scale, y->is.i);
            else if (scale == 1)
                assert_true(x->is.v == y->is.v);
        }
    }
}

/* The frames of a trace and of the same in another order, so much later, times so much as long. */
static void compare_with(uint64_t seed, uint64_t order, tg_ns later, tg_ns scale)
{
    struct world a = { 0 }, b = { 0 };
    draw(&a, seed);
    draw(&b, seed);
    build(&a, 0, 0, 1);
    build(&b, order, later, scale);
    same_frames(&a, &b, scale);
    drop(&a);
    drop(&b);
}

/* By 10: no gap of less than 400 ns becomes one of 30 us, so causes stay as well. */
TEST(order_origin_and_unit_do_not_matter)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        compare_with(seed, seed * 77, 1700000000000000000 + (tg_ns)seed, 1);
        compare_with(seed, seed * 31, 0, 10);
    }
}

TEST(nothing_on_the_device_is_said)
{
    static const char *const frames[] = { "temporal",       "idle",      "overlap",
                                          "kernel-classes", "kernels",   "bandwidth",
                                          "queue",          "sequences", "launches-summary" };
    struct world w = { 0 };
    build(&w, 0, 0, 1);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_true(
            tg_sv_eq(cell(&w, frames[i], 0, "reason")->is.text, TG_SV("no device activity")));
    drop(&w);
}

/*
 * aten::x [10,100) on thread 1 launches a, b; aten::y inside it launches c: one sequence of three.
 */
TEST(sequences_belong_to_the_outermost_operator)
{
    struct world w = { 0 };
    static const struct tg_window_spec window = { .by = TG_WINDOW_WHOLE };
    struct tg_err err;
    bt_init(&w.b);
    for (int k = 0; k < 2; k++) {
        tg_ns t = 1000 * k;
        bt_host(&w.b, "cpu_op", "aten::x", "1", t + 10, 90, -1);
        bt_host(&w.b, "cpu_op", "aten::y", "1", t + 50, 30, -1);
        bt_host(&w.b, "cuda_runtime", "hipLaunchKernel", "1", t + 20, 2, 10 * k + 1);
        bt_host(&w.b, "cuda_runtime", "hipLaunchKernel", "1", t + 30, 2, 10 * k + 2);
        bt_host(&w.b, "cuda_runtime", "cuLaunchKernelEx", "1", t + 60, 2, 10 * k + 3);
        bt_device(&w.b, "kernel", "a", 0, t + 100, 5, 10 * k + 1);
        bt_device(&w.b, "kernel", "c", 1, t + 120, 5, 10 * k + 3);
        bt_device(&w.b, "kernel", "b", 0, t + 110, 7, 10 * k + 2);
    }
    w.rank = (struct tg_rank_trace){ 0, bt_trace(&w.b, 5), &w.steps };
    assert_true(tg_steps_build(&w.steps, w.rank.trace, &window, &err));
    w.opts = (struct tg_analysis_opts){ .operator_name = TG_SV("aten::"), .min_length = 3 };
    tg_analysis_init(&w.in, &w.rank, 1, &w.opts);
    tg_tables_init(&w.out);
    tg_analyzer_find(TG_SV("sequences"))->run(&w.in, &w.out);
    assert_int_equal(tg_tables_find(&w.out, "sequences")->n_rows, 1);
    assert_true(tg_sv_eq(cell(&w, "sequences", 0, "pattern")->is.text, TG_SV("aten::x|a|b|c")));
    assert_int_equal(cell(&w, "sequences", 0, "count")->is.i, 2);
    assert_int_equal(cell(&w, "sequences", 0, "GPU kernel duration (us)")->is.i, 2 * 17);
    assert_int_equal(cell(&w, "sequences", 0, "CPU op duration (us)")->is.i, 2 * 90);
    drop(&w);
}

/* By hand: 1 2 3 4 10 -> mean 4, squares 9+4+1+0+36 = 50, std sqrt(50/4); quartiles 2 3 4. */
TEST(describes_values)
{
    double v[] = { 4, 1, 10, 3, 2 }, pair[] = { 1, 2 };
    struct tg_quantiles d = tg_quantiles_of(v, 5);
    struct tg_weighted w[] = { { 5, 1 }, { 1, 8 }, { 9, 1 }, { 100, 0 } };
    assert_near(d.mean, 4, 0);
    assert_near(d.std * d.std, 12.5, 1e-12);
    assert_near(d.q25, 2, 0);
    assert_near(d.q75, 4, 0);
    d = tg_quantiles_of(pair, 2);
    assert_near(d.q25, 1.25, 0);
    d = tg_quantiles_of(pair, 1);
    assert_true(d.std != d.std);
    d = tg_quantiles_weighted(w, 4); /* 8 of 10 at 1: mean 2.2, quartiles 1 */
    assert_int_equal(d.count, 3);
    assert_near(d.mean, 2.2, 1e-12);
    assert_near(d.q75, 1, 0);
    assert_near(d.max, 9, 0);
    assert_near(tg_round_to(2.5, 0), 2, 0); /* halves to even */
    assert_near(tg_round_to(0.125, 2), 0.12, 1e-15);
}
