#include "core/summary/inject.h"
#include "core/summary/internal.h"
#include "tests/support.h"

/*
 * One run, two steps, a program of two operators:  step 100 us | outer 60 (self 10) | inner 2 x 25
 * | (times below in ns; inner is called twice a step by outer, 5 ns apart in length).
 */
struct fixture {
    struct tg_arena *a;
    struct tg_shard s;
};

static struct tg_row row(struct tg_arena *a, const char *name, enum tg_kind kind,
                         const char *parent, uint32_t count, tg_ns total, tg_ns self)
{
    struct tg_row_key *key = TG_NEW(a, struct tg_row_key);
    struct tg_row r = { .key = key };
    *key = (struct tg_row_key){ .name = tg_sv_of(name),
                                .cat = TG_SV("cpu_op"),
                                .parent = tg_sv_of(parent),
                                .kind = kind,
                                .device = -1,
                                .stream = -1 };
    r.count = TG_NEW_N(a, uint32_t, 3);
    r.total = TG_NEW_N(a, tg_ns, 3);
    r.self = TG_NEW_N(a, tg_ns, 3);
    r.slots = TG_NEW_N(a, tg_ns, 2 * count + 1);
    for (size_t k = 0; k < 2; k++) {
        r.count[k] = count;
        r.total[k] = total;
        r.self[k] = self;
        for (uint32_t i = 0; i < count; i++)
            r.slots[k * count + i] = self / count;
    }
    return r;
}

static void setup(struct fixture *f)
{
    struct tg_arena *a = f->a = tg_arena_new();
    struct tg_shard *s = &f->s;
    *s = (struct tg_shard){ .n_steps = 2, .marked = true, .n_rows = 3 };
    s->run = s->source = s->hash = s->window = s->classes = TG_SV("x");
    s->steps = TG_NEW_N(a, struct tg_step, 2);
    s->steps[0] = (struct tg_step){ .number = 0, .start = 0, .end = 100000 };
    s->steps[1] = (struct tg_step){ .number = 1, .start = 100000, .end = 200000 };
    s->gap_count = TG_NEW_N(a, uint32_t, 2);
    s->gaps = TG_NEW_N(a, tg_ns, 4);
    for (size_t k = 0; k < 2; k++) {
        s->gap_count[k] = 2;
        s->gaps[2 * k] = 30000;
        s->gaps[2 * k + 1] = 10000;
    }
    s->rows = TG_NEW_N(a, struct tg_row, 3);
    s->rows[0] = row(a, "inner", TG_KIND_OP, "outer", 2, 50000, 50000);
    s->rows[1] = row(a, "outer", TG_KIND_OP, "ProfilerStep", 1, 60000, 10000);
    s->rows[2] = row(a, "ProfilerStep#0", TG_KIND_STEP, "", 1, 100000, 40000);
    s->metrics = TG_NEW_N(a, struct tg_metric_value, TG_METRICS * 2);
    for (size_t k = 0; k < 2; k++) {
        s->metrics[TG_METRIC_STEP_TIME * 2 + k] = (struct tg_metric_value){ true, 100000, 1 };
        s->metrics[TG_METRIC_HOST_TIME * 2 + k] = (struct tg_metric_value){ true, 100000, 1 };
    }
}

static void teardown(struct fixture *f)
{
    tg_arena_free(f->a);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

static bool named(const void *arg, const struct tg_row *r)
{
    return tg_sv_eq(r->key->name, tg_sv_of((const char *)arg));
}

static const struct tg_row *find(const struct tg_shard *s, const char *name)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (tg_sv_eq(s->rows[i].key->name, tg_sv_of(name)))
            return &s->rows[i];
    return NULL;
}

static tg_ns step_time(const struct tg_shard *s, size_t k)
{
    return s->metrics[TG_METRIC_STEP_TIME * 2 + k].num;
}

/* inner 50 -> 75 us: outer, the step and its metric are 25 us longer, self times of both stay. */
CASE(slower_reaches_enclosers)
{
    struct tg_inject p = { .what = TG_INJECT_SLOWER, .is = named, .arg = "inner", .factor = 1.5 };
    struct tg_shard *s = tg_inject(&f->s, &p, f->a);
    assert_non_null(s);
    assert_int_equal(find(s, "inner")->self[1], 75000);
    assert_int_equal(find(s, "inner")->slots[3], 37500);
    assert_int_equal(find(s, "outer")->total[0], 85000);
    assert_int_equal(find(s, "outer")->self[0], 10000);
    assert_int_equal(find(s, "ProfilerStep#0")->total[1], 125000);
    assert_int_equal(find(s, "ProfilerStep#0")->self[1], 40000);
    assert_int_equal(step_time(s, 0), 125000);
    assert_int_equal(s->steps[1].end, 250000);
    assert_int_equal(find(&f->s, "inner")->self[1], 50000); /* the original is untouched */
}

CASE(calls_come_and_go)
{
    struct tg_inject p = { .what = TG_INJECT_CALLS, .is = named, .arg = "inner", .calls = 1 };
    struct tg_shard *s = tg_inject(&f->s, &p, f->a);
    assert_int_equal(find(s, "inner")->count[0], 3);
    assert_int_equal(find(s, "inner")->self[0], 75000);
    assert_int_equal(find(s, "inner")->slots[5], 25000);
    assert_int_equal(step_time(s, 1), 125000);
    p.calls = -1;
    s = tg_inject(&f->s, &p, f->a);
    assert_int_equal(find(s, "inner")->count[1], 1);
    assert_int_equal(find(s, "outer")->total[1], 35000);
    p.what = TG_INJECT_DROP;
    s = tg_inject(&f->s, &p, f->a);
    assert_null(find(s, "inner"));
    assert_int_equal(step_time(s, 0), 50000);
}

/* Two names with the time of one: the step is as long as before. */
CASE(unfusing_keeps_the_time)
{
    struct tg_inject p = {
        .what = TG_INJECT_UNFUSE, .is = named, .arg = "inner", .text = TG_SV("x")
    };
    struct tg_shard *s = tg_inject(&f->s, &p, f->a);
    assert_null(find(s, "inner"));
    assert_int_equal(find(s, "x_first")->count[0], 2);
    assert_int_equal(find(s, "x_second")->self[1], 25000);
    assert_int_equal(step_time(s, 0), 100000);
    assert_int_equal(find(s, "outer")->total[0], 60000);
}

CASE(waiting_is_outside_operators)
{
    struct tg_inject p = { .what = TG_INJECT_WAIT, .factor = 1.1 };
    struct tg_shard *s = tg_inject(&f->s, &p, f->a);
    assert_int_equal(s->gaps[2], 40000);
    assert_int_equal(find(s, "outer")->total[0], 60000);
    assert_int_equal(find(s, "ProfilerStep#0")->self[0], 50000);
    assert_int_equal(step_time(s, 1), 110000);
}

CASE(nothing_there_is_no_injection)
{
    struct tg_inject p = { .what = TG_INJECT_SLOWER, .is = named, .arg = "other", .factor = 2 };
    assert_null(tg_inject(&f->s, &p, f->a));
    p = (struct tg_inject){
        .what = TG_INJECT_ATTR, .is = named, .arg = "inner", .attr = TG_ATTR_KIND_TYPES
    };
    assert_null(tg_inject(&f->s, &p, f->a));
    p = (struct tg_inject){ .what = TG_INJECT_METRIC, .metric = TG_METRIC_IDLE, .factor = 2 };
    assert_null(tg_inject(&f->s, &p, f->a));
}
