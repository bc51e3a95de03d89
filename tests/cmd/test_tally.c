/* Sums straight from traces by shape and grid, and joined names (tally.c). */
#include "cmd/tally.h"
#include "tests/core/diff/by_hand.h"

/*
 * Two steps of 100 us. Per step an aten::mm of 10 us with one shape; in the second one another of
 * 20 us with a second shape and two kernels of 5 us with two grids; one aten::mm of 40 us after
 * both.
 */
static const char text[] =
    "{\"traceEvents\": [\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,"
    "\"ts\":0,\"dur\":100},\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":1,\"tid\":1,"
    "\"ts\":100,\"dur\":100},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":10,"
    "\"dur\":10,\"args\":{\"Input Dims\":[[8, 16], [16, 4]]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":110,"
    "\"dur\":10,\"args\":{\"Input Dims\":[[8, 16], [16, 4]]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":130,"
    "\"dur\":20,\"args\":{\"Input Dims\":[[2, 16], [16, 4]]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":131,\"dur\":1,\"args\":{\"correlation\":1}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":133,\"dur\":1,\"args\":{\"correlation\":2}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":140,\"dur\":5,"
    "\"args\":{\"stream\":7,\"device\":0,\"correlation\":1,\"grid\":[4,1,1],\"block\":[64,1,1]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":150,\"dur\":5,"
    "\"args\":{\"stream\":7,\"device\":0,\"correlation\":2,\"grid\":[8,1,1],\"block\":[64,1,1]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":250,"
    "\"dur\":40,\"args\":{\"Input Dims\":[[8, 16], [16, 4]]}}\n"
    "]}\n";

/* The trace on the baseline with these steps; returns how many were taken. */
static size_t tally(struct fixture *f, enum tg_tally_by by, const int64_t *numbers, size_t n)
{
    struct tg_load_opts opts = { .want_attrs = true };
    struct tg_window_spec window = { .by = TG_WINDOW_AUTO };
    struct tg_source *s = tg_source_memory(tg_sv_of(text), "test", NULL, &f->err);
    TG_AUTO(tg_tally_release)
    struct tg_tally_sums t = { .by = by }; /* what it told is in the arena */
    struct tg_trace *trace;
    struct tg_steps steps;

    assert_non_null(s);
    trace = tg_trace_load(s, &opts, NULL, &f->err);
    assert_non_null(trace);
    assert_true(tg_steps_build(&steps, trace, &window, &f->err));
    size_t taken = tg_tally_add(&t, TG_BASE, trace, &steps, numbers, n);
    tg_tally_comparison(&f->c, &t, f->a);
    tg_steps_release(&steps);
    tg_trace_free(trace);
    tg_source_close(s);
    return taken;
}

static void is_sum(const struct tg_op *op, uint64_t calls, tg_ns in_steps, uint64_t all,
                   tg_ns whole)
{
    assert_int_equal(op->step_count[TG_BASE], calls);
    assert_int_equal(op->step_total[TG_BASE], in_steps);
    assert_int_equal(op->whole_count[TG_BASE], all);
    assert_int_equal(op->whole_total[TG_BASE], whole);
}

static size_t named(const struct tg_comparison *c, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_ops; i++)
        n += tg_sv_eq(c->ops[i].name, tg_sv_of(name));
    return n;
}

/* Three of 10, 10 and 20 us in the steps, and 40 us outside. */
BY_HAND(a_name_without_the_attribute_is_one)
{
    assert_int_equal(tally(f, TG_TALLY_GRID, NULL, 0), 2);
    const struct tg_op *mm = find(f, "aten::mm");
    is_sum(mm, 3, 40000, 4, 80000);
    assert_true(mm->present[TG_BASE] && !mm->present[TG_TEST]);
    is_text(mm->raw[TG_BASE], "aten::mm");
    is_text(mm->raw[TG_TEST], "");
    assert_int_equal(mm->partner, TG_NO_ID);
    assert_int_equal(f->c.n_units[TG_BASE], 2);
    assert_int_equal(f->c.n_units[TG_TEST], 0);
}

BY_HAND(shapes_split_operators)
{
    tally(f, TG_TALLY_SHAPE, NULL, 0);
    is_sum(find(f, "aten::mm [[8,16],[16,4]]"), 2, 20000, 3, 60000);
    is_sum(find(f, "aten::mm [[2,16],[16,4]]"), 1, 20000, 1, 20000);
    assert_int_equal(named(&f->c, "aten::mm"), 0);
    is_sum(find(f, "gemm"), 2, 10000, 2, 10000); /* not by its grid */
}

BY_HAND(grids_split_kernels)
{
    tally(f, TG_TALLY_GRID, NULL, 0);
    is_sum(find(f, "gemm grid=[4,1,1] block=[64,1,1]"), 1, 5000, 1, 5000);
    is_sum(find(f, "gemm grid=[8,1,1] block=[64,1,1]"), 1, 5000, 1, 5000);
    is_sum(find(f, "aten::mm"), 3, 40000, 4, 80000); /* not by its shapes */
}

/* The second step has 10 and 20 us; a step that is not there takes nothing. */
BY_HAND(only_the_steps_wanted)
{
    static const int64_t second[] = { 2 }, none[] = { 9 };

    assert_int_equal(tally(f, TG_TALLY_GRID, second, 1), 1);
    is_sum(find(f, "aten::mm"), 2, 30000, 4, 80000);
    assert_int_equal(f->c.n_units[TG_BASE], 1);
    assert_int_equal(tally(f, TG_TALLY_GRID, none, 1), 0);
    is_sum(find(f, "aten::mm"), 0, 0, 4, 80000);
}

/* ---- joined names ---- */

static void join(struct fixture *f, bool short_names)
{
    static const struct {
        const char *name;
        enum tg_kind kind;
    } op[] = { { "ProfilerStep#1", TG_KIND_STEP },
               { "gemm<int>(int)", TG_KIND_KERNEL },
               { "ProfilerStep#2", TG_KIND_STEP },
               { "gemm<float>(float)", TG_KIND_KERNEL },
               { "gemm", TG_KIND_OP },
               { "ProfilerStepper", TG_KIND_ANNOTATION } };

    f->c = (struct tg_comparison){ .n_ops = 6, .ops = TG_NEW_N(f->a, struct tg_op, 6) };
    for (size_t i = 0; i < 6; i++) {
        f->c.ops[i] = (struct tg_op){ .name = tg_sv_of(op[i].name), .kind = op[i].kind };
        f->c.ops[i].present[i > 1] = true; /* the first two on the baseline, the others fresh */
        f->c.ops[i].raw[i > 1] = f->c.ops[i].name;
        f->c.ops[i].step_count[i > 1] = i + 1;
        f->c.ops[i].whole_total[i > 1] = (tg_ns)(10 * (i + 1));
    }
    tg_join_names(&f->c, short_names, f->a);
}

/* The number of a step does not change what it does; every other name stays. */
BY_HAND(steps_become_one)
{
    join(f, false);
    assert_int_equal(f->c.n_ops, 5);
    const struct tg_op *step = find(f, "ProfilerStep");
    assert_true(step->present[TG_BASE] && step->present[TG_TEST]);
    is_text(step->raw[TG_BASE], "ProfilerStep#1");
    is_text(step->raw[TG_TEST], "ProfilerStep#2");
    assert_int_equal(step->step_count[TG_BASE], 1);
    assert_int_equal(step->step_count[TG_TEST], 3);
    assert_int_equal(step->whole_total[TG_TEST], 30);
    assert_int_equal(named(&f->c, "ProfilerStepper"), 1);
    assert_int_equal(named(&f->c, "gemm<int>(int)"), 1);
}

/* Kernels of one short name are one; the operator of that name is of another kind. */
BY_HAND(short_names_join_within_a_kind)
{
    join(f, true);
    assert_int_equal(f->c.n_ops, 4);
    assert_int_equal(named(&f->c, "gemm"), 2);
    const struct tg_op *gemm = find(f, "gemm");
    assert_int_equal(gemm->kind, TG_KIND_KERNEL);
    assert_int_equal(gemm->step_count[TG_BASE], 2);
    assert_int_equal(gemm->step_count[TG_TEST], 4);
}
