/* Numbers beside the traces, on sides by hand; and how often the rule finds what is there,
 * by drawing. */
#include "by_hand.h"

struct given {
    const char *name, *unit;
    size_t n;
    const double *v;
};

static const struct tg_summary *summary_of(struct fixture *f, const struct given *g, size_t n)
{
    struct tg_summary *s = TG_NEW(f->a, struct tg_summary);
    size_t runs = 0;
    for (size_t i = 0; i < n; i++)
        runs = g[i].n > runs ? g[i].n : runs;
    s->numbers.v = TG_NEW_N(f->a, struct tg_number_run, runs + 1);
    s->numbers.n = runs;
    for (size_t run = 0; run < runs; run++) {
        struct tg_number *v = TG_NEW_N(f->a, struct tg_number, n + 1);
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (run < g[i].n)
                v[k++] =
                    (struct tg_number){ tg_sv_of(g[i].name), tg_sv_of(g[i].unit), g[i].v[run] };
        s->numbers.v[run] = (struct tg_number_run){ TG_SV("id"), v, k, TG_SV("") };
    }
    return s;
}

static const struct tg_number_change *compared(struct fixture *f, const struct given *base,
                                               size_t nb, const struct given *test, size_t nt)
{
    make(f, 1, 1, 1); /* of the traces, whose runs are others */
    f->side[TG_BASE].summary = summary_of(f, base, nb);
    f->side[TG_TEST].summary = summary_of(f, test, nt);
    assert_true(tg_compare(&f->c, &f->side[TG_BASE], &f->side[TG_TEST], &f->o, f->a, &f->err));
    return f->c.numbers;
}

/* Medians 20 and 25 of three and four runs that are not those of the traces. */
BY_HAND(medians_of_their_own_runs)
{
    static const double base[] = { 20, 19, 30 }, test[] = { 24, 26, 25, 25 };
    const struct tg_number_change *x = compared(f, &(struct given){ "ttft", "ms", 3, base }, 1,
                                                &(struct given){ "ttft", "ms", 4, test }, 1);
    assert_int_equal(f->c.n_numbers, 1);
    assert_sv_equal(x->name, TG_SV("ttft"));
    assert_sv_equal(x->unit, TG_SV("ms"));
    assert_true(x->n_runs[TG_BASE] && x->n_runs[TG_TEST]);
    assert_int_equal(x->n_runs[TG_BASE], 3);
    assert_int_equal(x->n_runs[TG_TEST], 4);
    near(x->value[TG_BASE], 20);
    near(x->value[TG_TEST], 25);
    near(x->rose.e, log(1.25));
    near(x->rose.delta_ns, 5);
    near(x->fell.e, -log(1.25));
}

/* Small and negative values have a scale, too: 0.02 is twice 0.01;
 * what is not above 0 has no ratio. */
BY_HAND(any_size_has_a_ratio)
{
    static const double base[] = { 0.01, 0.0101, 0.0099 }, test[] = { 0.02, 0.0202, 0.0198 };
    static const double below[] = { -1, -1, -1 };
    const struct tg_number_change *x =
        compared(f, &(struct given){ "x", "", 3, base }, 1, &(struct given){ "x", "", 3, test }, 1);
    near(x->rose.e, log(2));
    assert_true(x->rose.proven && !x->fell.proven);
    x = compared(f, &(struct given){ "x", "", 3, below }, 1, &(struct given){ "x", "", 3, below },
                 1);
    near(x->rose.e, 0);
    assert_false(x->rose.proven || x->fell.proven);
}

BY_HAND(other_units_are_other_numbers)
{
    static const double v[] = { 1, 1, 1 };
    const struct tg_number_change *x =
        compared(f, &(struct given){ "x", "ms", 3, v }, 1, &(struct given){ "x", "s", 3, v }, 1);
    assert_int_equal(f->c.n_numbers, 2);
    assert_true(x[0].n_runs[TG_BASE] && !x[0].n_runs[TG_TEST] && isnan(x[0].value[TG_TEST]));
    assert_true(!x[1].n_runs[TG_BASE] && x[1].n_runs[TG_TEST]);
    assert_int_equal(x[0].rose.why_not, TG_NOT_ONE_SIDED);
}

BY_HAND(few_runs_are_not_judged)
{
    static const double v[] = { 1, 1, 1 };
    const struct tg_number_change *x =
        compared(f, &(struct given){ "x", "", 3, v }, 1, &(struct given){ "x", "", 2, v }, 1);
    assert_int_equal(x->rose.why_not, TG_NOT_FEW_RUNS);
    f->o.min_runs = 2;
    x = compared(f, &(struct given){ "x", "", 3, v }, 1, &(struct given){ "x", "", 2, v }, 1);
    assert_int_equal(x->rose.why_not, TG_JUDGED);
}

/* ---- drawing ---- */

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    double r = sqrt(-2 * log(uniform(seed)));
    return r * cos(6.283185307179586 * uniform(seed));
}

enum { DRAWS = 1000, RUNS = 5 };

/* Of 1,000 draws of five runs per side with 1 % of noise: how many exceed a limit of 3 %,
 * this way. */
static size_t found(struct fixture *f, double factor, bool fell)
{
    uint64_t seed = 11;
    size_t n = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        double v[2][RUNS];
        for (int side = 0; side < 2; side++)
            for (int run = 0; run < RUNS; run++)
                v[side][run] = 200 * (side ? factor : 1) * exp(0.01 * normal(&seed));
        const struct tg_number_change *x = compared(f, &(struct given){ "x", "", RUNS, v[0] }, 1,
                                                    &(struct given){ "x", "", RUNS, v[1] }, 1);
        const struct tg_evidence *ev = fell ? &x->fell : &x->rose;
        n += ev->why_not == TG_JUDGED && ev->proven && ev->e > log(1.03);
    }
    return n;
}

BY_HAND(the_same_code_is_hardly_ever_red_and_five_percent_is_found)
{
    size_t same[] = { found(f, 1, false), found(f, 1, true) };
    size_t slower = found(f, 1.05, false), faster = found(f, 1 / 1.05, true);
    print_message("same %zu and %zu, +5 %% %zu, -5 %% %zu of %d\n", same[0], same[1], slower,
                  faster, DRAWS);
    assert_true(same[0] <= DRAWS / 200 && same[1] <= DRAWS / 200); /* 0.5 % */
    assert_true(slower >= DRAWS * 9 / 10 && faster >= DRAWS * 9 / 10);
    assert_int_equal(found(f, 1.05, true), 0);
}
