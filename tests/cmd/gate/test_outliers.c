/* Runs that are not like the others: eight runs of five steps and three operators, one of them
 * changed. */
#include "judged.h"

#include "cmd/gate/outliers.h"

enum { RUNS = 8, STEPS = 5, OPS = 3 };
static const char *const names[OPS] = { "aten::mm", "aten::add", "aten::relu" };

/* How run 5 differs: factors of its steps and of its operators. */
struct change {
    double step[STEPS], op[OPS];
};

static void set_step(struct tg_shard *s, size_t k, double ns)
{
    s->metrics[TG_METRIC_STEP_TIME * s->n_steps + k] =
        (struct tg_metric_value){ .num = (tg_ns)ns, .den = 1, .known = true };
}

static const struct tg_outlier *outliers(struct fixture *f, const struct change *c, size_t *n)
{
    make_side(f, TG_BASE, RUNS, STEPS);
    for (size_t r = 0; r < RUNS; r++) {
        struct tg_shard *s = shard(f, TG_BASE, r);
        for (size_t k = 0; k < STEPS; k++) /* 1 ms, and up to 0.7 % more by run */
            set_step(s, k, (1000000 + 1000 * (double)r) * (r == 5 ? c->step[k] : 1));
        for (size_t i = 0; i < OPS; i++)
            add_row(f, TG_BASE, r, TG_KIND_OP, names[i], "", 1,
                    (tg_ns)((200001 + 200 * (double)r) * (r == 5 ? c->op[i] : 1)));
    }
    return tg_outliers_find(&f->side[TG_BASE], n, f->a);
}

JUDGED(one_run_is_told_with_its_reason)
{
    static const struct {
        struct change change;
        size_t n;
        enum tg_outlier_why why;
        double times;
        size_t slower;
        const char *op;
        int64_t step; /* index */
    } cases[] = {
        { { { 1, 1, 1, 1, 1 }, { 1, 1, 1 } }, 0, 0, 0, 0, "", 0 },
        /* 5 % is noise, whatever the others do */
        { { { 1.05, 1.05, 1.05, 1.05, 1.05 }, { 1.05, 1.05, 1.05 } }, 0, 0, 0, 0, "", 0 },
        { { { 1.4, 1.4, 1.4, 1.4, 1.4 }, { 1.4, 1.4, 1.4 } }, 1, TG_OUTLIER_BUSY, 1.4, 3, "", 0 },
        { { { 1.4, 1.4, 1.4, 1.4, 1.4 }, { 1.4, 1, 1.4 } }, 1, TG_OUTLIER_BUSY, 1.4, 2, "", 0 },
        { { { 1.4, 1.4, 1.4, 1.4, 1.4 }, { 1, 3, 1 } },
          1,
          TG_OUTLIER_ALONE,
          1.4,
          1,
          "aten::add",
          0 },
        /* host time between operators */
        { { { 1.4, 1.4, 1.4, 1.4, 1.4 }, { 1, 1, 1 } }, 1, TG_OUTLIER_ALONE, 1.4, 0, "", 0 },
        { { { 1, 1, 1, 3, 1 }, { 1, 1, 1 } }, 1, TG_OUTLIER_STEP, 3, 0, "", 3 },
        { { { 1, 1, 1, 1.9, 1 }, { 1, 1, 1 } }, 0, 0, 0, 0, "", 0 },
        { { { 2.5, 1, 1, 1, 1 }, { 1, 1, 1 } }, 1, TG_OUTLIER_COLD, 2.5, 0, "", 0 },
        { { { 0.5, 0.5, 0.5, 0.5, 0.5 }, { 1, 1, 1 } }, 0, 0, 0, 0, "", 0 }, /* faster */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        const struct tg_outlier *o = outliers(f, &cases[i].change, &n);
        bool level = cases[i].why == TG_OUTLIER_BUSY || cases[i].why == TG_OUTLIER_ALONE;
        if (n != cases[i].n || (n && o->why != cases[i].why))
            fail_msg("case %zu: %zu, %s", i, n, n ? tg_outlier_name(o->why) : "");
        if (!n)
            continue;
        assert_ptr_equal(o->shard, shard(f, TG_BASE, 5));
        assert_true(o->times > cases[i].times - 0.01 && o->times < cases[i].times + 0.01);
        if (level) {
            assert_int_equal(o->large, OPS);
            assert_int_equal(o->slower, cases[i].slower);
        } else {
            assert_int_equal(o->step, o->shard->steps[cases[i].step].number);
        }
        if (!cases[i].op[0] && level)
            continue; /* what grew by a thousandth more than the median may be named */
        assert_true(!level || tg_sv_eq(o->op, tg_sv_of(cases[i].op)));
    }
}

JUDGED(a_run_may_be_slow_and_have_a_slow_step)
{
    const struct change c = { { 1.4, 1.4, 1.4, 1.4, 4.2 }, { 1.4, 1.4, 1.4 } };
    size_t n;
    const struct tg_outlier *o = outliers(f, &c, &n);
    assert_int_equal(n, 2);
    assert_int_equal(o[0].why, TG_OUTLIER_BUSY);
    assert_int_equal(o[1].why, TG_OUTLIER_STEP);
}

JUDGED(without_markers_nothing_is_told)
{
    const struct change c = { { 3, 1, 1, 1, 9 }, { 9, 9, 9 } };
    size_t n;
    (void)outliers(f, &c, &n);
    for (size_t r = 0; r < RUNS; r++)
        shard(f, TG_BASE, r)->marked = false;
    (void)tg_outliers_find(&f->side[TG_BASE], &n, f->a);
    assert_int_equal(n, 0);
}
