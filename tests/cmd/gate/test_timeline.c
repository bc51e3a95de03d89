/* One step as few rectangles; spans are made here, times in ns. */
#include "cmd/gate/picture.h"
#include "cmd/gate/picture.h"
#include "tests/build_steps.h"

struct drawn {
    struct built x;
    struct tg_picture_step p;
};

static void set_up(struct drawn *d)
{
    bt_init(&d->x.b);
}

static void tear_down(struct drawn *d)
{
    built_release(&d->x);
}

#define CASE(name) TEST_IN(struct drawn, d, set_up, tear_down, name)

static void step(struct drawn *d, const char *name, tg_ns start, tg_ns dur)
{
    bt_host(&d->x.b, "user_annotation", name, "1", start, dur, -1);
}

static void draw(struct drawn *d, unsigned skip_first)
{
    built_steps(&d->x, 3, &BUILT_AUTO);
    tg_timeline_take(&d->p, d->x.t, &d->x.s, skip_first, d->x.b.arena);
}

/* Lengths 100, 900, 300, 200: the lower median is 200; without the first, of 900, 300, 200, 300. */
CASE(the_step_of_median_length)
{
    step(d, "ProfilerStep#1", 0, 100);
    step(d, "ProfilerStep#2", 1000, 900);
    step(d, "ProfilerStep#3", 2000, 300);
    step(d, "ProfilerStep#4", 3000, 200);
    draw(d, 0);
    assert_int_equal(d->p.number, 4);
    assert_int_equal(d->p.start, 3000);
    assert_int_equal(d->p.dur, 200);
    draw(d, 1);
    assert_int_equal(d->p.number, 3);
    draw(d, 9); /* more than there are: all of them */
    assert_int_equal(d->p.number, 4);
    assert_int_equal(d->p.n, 0);
}

CASE(a_trace_without_steps_has_no_picture)
{
    bt_host(&d->x.b, "cpu_op", "a", "1", 0, 100, -1);
    draw(d, 0);
    assert_int_equal(d->p.n, 0);
    assert_int_equal(d->p.dur, 0);
}

static const struct tg_picture_span *find(const struct drawn *d, const char *name)
{
    for (size_t i = 0; i < d->p.n; i++)
        if (tg_sv_eq(d->p.spans[i].name, tg_sv_of(name)))
            return &d->p.spans[i];
    fail_msg("no span '%s'", name);
    return NULL;
}

/* Step of 100,000 ns. On the host a > b > c: two levels are kept. Another thread has no lane. */
CASE(lanes_of_the_host_and_of_each_stream)
{
    step(d, "ProfilerStep#1", 0, 100000);
    bt_host(&d->x.b, "cpu_op", "a", "1", 1000, 50000, -1);
    bt_host(&d->x.b, "cpu_op", "b", "1", 2000, 20000, -1);
    bt_host(&d->x.b, "cpu_op", "c", "1", 3000, 10000, -1);
    bt_host(&d->x.b, "cpu_op", "elsewhere", "2", 3000, 10000, -1);
    bt_host(&d->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 60000, 1000, 1);
    bt_host(&d->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 62000, 1000, 2);
    bt_device(&d->x.b, "kernel", "gemm", 7, 70000, 60000, 1);
    bt_device(&d->x.b, "kernel", "ncclDevKernel_AllReduce", 20, 80000, 10000, 2);
    draw(d, 0);
    assert_int_equal(d->p.n_lanes, 4);
    assert_sv_equal(d->p.lanes[0], TG_SV("host"));
    assert_sv_equal(d->p.lanes[1], TG_SV("inside"));
    assert_sv_equal(d->p.lanes[2], TG_SV("stream 1"));
    assert_sv_equal(d->p.lanes[3], TG_SV("stream 2"));
    assert_int_equal(find(d, "a")->lane, 0);
    assert_int_equal(find(d, "b")->lane, 1);
    assert_int_equal(find(d, "gemm")->paint, TG_PAINT_COMPUTE);
    assert_int_equal(find(d, "ncclDevKernel_AllReduce")->paint, TG_PAINT_COMM);
    assert_int_equal(find(d, "a")->start, 1000);
    assert_int_equal(d->p.n, 6);        /* neither c nor the other thread's */
    assert_int_equal(d->p.dur, 130000); /* until the last kernel ends */
}

/* A pixel is 1,001 ns of a million. Ten spans of 100 ns, 50 apart, are one rectangle of 1,450 ns;
 * one of 5,000 ns next to them stays by itself. */
CASE(neighbours_too_short_to_see_are_one)
{
    step(d, "ProfilerStep#1", 0, 1000000);
    for (int i = 0; i < 10; i++)
        bt_host(&d->x.b, "cpu_op", i == 4 ? "longest" : "short", "1", 1000 + 150 * i,
                i == 4 ? 101 : 100, -1);
    bt_host(&d->x.b, "cpu_op", "large", "1", 2600, 5000, -1);
    bt_host(&d->x.b, "cpu_op", "far", "1", 900000, 100, -1);
    draw(d, 0);
    assert_int_equal(d->p.n, 3);
    assert_int_equal(find(d, "longest")->n, 10);
    assert_int_equal(find(d, "longest")->start, 1000);
    assert_int_equal(find(d, "longest")->dur, 1450);
    assert_int_equal(find(d, "large")->n, 1);
    assert_int_equal(find(d, "far")->n, 1);
}

CASE(never_more_than_the_page_holds)
{
    size_t calls = 0;
    step(d, "ProfilerStep#1", 0, 100000000);
    for (int i = 0; i < 2 * TG_PICTURE_SPANS; i++) /* all long enough to be seen */
        bt_host(&d->x.b, "cpu_op", "a", "1", 110000 * (tg_ns)i, 105000, -1);
    draw(d, 0);
    assert_true(d->p.n > 0 && d->p.n <= TG_PICTURE_SPANS);
    for (size_t i = 0; i < d->p.n; i++)
        calls += d->p.spans[i].n;
    assert_int_equal(calls, 2 * TG_PICTURE_SPANS);
}
