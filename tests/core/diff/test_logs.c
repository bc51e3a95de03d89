/* Run values as logarithms, and the speeds of the runs' machines. Numbers by hand. */
#include "by_hand.h"
#include "core/diff/internal.h"

static struct tg_diff_work work_of(struct fixture *f)
{
    f->c.n_runs[TG_BASE] = f->c.n_runs[TG_TEST] = 3;
    return (struct tg_diff_work){ .c = &f->c, .a = f->a };
}

/* Medians 200 and 50. Above its median the baseline has one run, by ln 2; below, the fresh side has
 * none: 2 (ln 2)^2 / (3 + 3 - 2). */
BY_HAND(medians_and_harmful_noise)
{
    struct tg_diff_work w = work_of(f);
    double base[] = { 100, 400, 200 }, test[] = { 50, 50, 50 };
    double *const y[2] = { base, test };
    struct tg_logs l = tg_logs_of_values(&w, y, false);
    near(l.median[TG_BASE], log(200));
    near(l.median[TG_TEST], log(50));
    near(l.x[TG_BASE][1], log(400)); /* in the order of the runs */
    near(l.variance, log(2) * log(2) / 2);
    l = tg_logs_of_values(&w, y, true); /* now the run below its median is the harmful one */
    near(l.median[TG_BASE], log(50));
    near(l.x[TG_TEST][0], log(100));
    near(l.variance, log(2) * log(2) / 2);
    base[1] = 200;
    near(tg_logs_of_values(&w, y, false).variance, 0);
}

BY_HAND(nothing_counts_as_a_nanosecond)
{
    struct tg_diff_work w = work_of(f);
    double base[] = { 0, 0, 0.5 }, test[] = { 1, 1, 1 };
    double *const y[2] = { base, test };
    near(tg_logs_of_values(&w, y, false).median[TG_BASE], 0);
}

/* The second run's machine was half as fast: what follows it is divided, what does not is left. */
BY_HAND(speeds_are_taken_off_where_that_helps)
{
    static const struct {
        double base[3];
        bool levelled;
    } cases[] = {
        { { 100, 200, 100 }, true },  /* follows the machine: no noise is left */
        { { 100, 100, 100 }, false }, /* does not: it would get noise */
        { { 100, 150, 100 }, false }, /* half of it: (ln 2/1.5)^2 is half of (ln 1.5)^2 */
        { { 100, 180, 100 }, true },  /* ln(2/1.8)^2 is 0.03 of ln(1.8)^2 */
    };
    double slow[] = { 1, 2, 1 }, even[] = { 1, 1, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_diff_work w = work_of(f);
        double base[3], test[] = { 100, 100, 100 }, mean[] = { 300, 300, 300 };
        struct tg_run_values v = { .y = {
                                       [TG_LEAST] = { base, test }, [TG_MEAN] = { mean, NULL } } };
        memcpy(base, cases[i].base, sizeof base);
        tg_logs_level(&w, &v); /* no speeds are known */
        assert_false(v.levelled);
        w.speed[TG_HOST_TIMES][TG_BASE] = slow;
        w.speed[TG_HOST_TIMES][TG_TEST] = even;
        tg_logs_level(&w, &v);
        if (v.levelled != cases[i].levelled)
            fail_msg("row %zu", i);
        near(base[1], cases[i].base[1] / (cases[i].levelled ? 2 : 1));
        near(mean[1], cases[i].levelled ? 150 : 300); /* the other statistics go along */
        tg_logs_level(&w, &v);                        /* once */
        near(mean[1], cases[i].levelled ? 150 : 300);
        near(test[1], 100);
    }
}
