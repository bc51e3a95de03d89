/*
 * Numbers beside the traces, by name: medians over runs, and the evidence of durations for both
 * ways. Their runs need not be those of the traces. Nothing is known of the machine that they were
 * taken on, so nothing is taken off.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"

/* The rule takes logarithms of values of at least 1: the largest becomes this. */
static const double scaled = 1e9;

static const struct tg_number_runs *runs_of(const struct tg_diff_work *w, int side)
{
    static const struct tg_number_runs none = { 0 };
    const struct tg_summary *s = w->c->side[side].summary;
    return s ? &s->numbers : &none;
}

static int by_name(const void *pa, const void *pb)
{
    const struct tg_number_change *a = pa, *b = pb;
    int c = tg_sv_cmp(a->name, b->name);
    return c ? c : tg_sv_cmp(a->unit, b->unit);
}

static void judge(const struct tg_diff_work *w, const struct tg_number_change *x,
                  double *const y[2], bool fell, struct tg_evidence *ev)
{
    struct tg_comparison of = { .arena = w->a,
                                .n_runs = { x->n_runs[TG_BASE], x->n_runs[TG_TEST] } };
    struct tg_diff_work own = { .c = &of, .o = w->o, .a = w->a };
    struct tg_run_values v = { .y = { [TG_LEAST] = { NULL, NULL } } };
    struct tg_machine machine = { 0 };
    size_t need = w->o->min_runs ? w->o->min_runs : TG_FEWEST_RUNS;
    double largest = 0;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < x->n_runs[side]; i++)
            largest = fmax(largest, fabs(y[side][i]));
    for (int side = 0; side < 2; side++) {
        double *z = v.y[TG_LEAST][side] = TG_NEW_N(w->a, double, x->n_runs[side] + 1);
        /* Positive, and 1 is nothing. For what fell the reciprocal is asked. */
        for (size_t i = 0; i < x->n_runs[side]; i++) {
            z[i] = fmax(y[side][i] / (largest > 0 ? largest : 1), 0) * scaled;
            z[i] = fell ? scaled * scaled / fmax(z[i], 1) : z[i];
        }
        own.rank[side] = tg_rank_table_new(x->n_runs[side], x->n_runs[!side], w->a);
    }
    ev->why_not =
        x->n_runs[TG_BASE] < need || x->n_runs[TG_TEST] < need ? TG_NOT_FEW_RUNS : TG_JUDGED;
    tg_evidence_fill(&own, ev, &v, &machine, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
    ev->value[TG_BASE] = x->value[TG_BASE];
    ev->value[TG_TEST] = x->value[TG_TEST];
    ev->delta_ns = x->value[TG_TEST] - x->value[TG_BASE];
}

void tg_compare_numbers(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    double *y[2];
    TG_AUTO(tg_strmap_release) struct tg_strmap keys;
    TG_BUF b = { 0 };
    size_t cap = 0;
    tg_strmap_init(&keys);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < runs_of(w, side)->n; run++)
            TG_EACH(const struct tg_number, x, runs_of(w, side)->v[run].v,
                    runs_of(w, side)->v[run].n) {
                size_t known = keys.n;
                /* Name and unit: another unit is another number. */
                tg_buf_clear(&b);
                tg_buf_add(&b, x->name);
                tg_buf_putc(&b, '\0');
                tg_buf_add(&b, x->unit);
                if (tg_strmap_add(&keys, tg_buf_sv(&b)) < known)
                    continue;
                *TG_ARENA_PUSH(w->a, c->numbers, c->n_numbers, cap) =
                    (struct tg_number_change){ .name = tg_arena_sv(w->a, x->name),
                                               .unit = tg_arena_sv(w->a, x->unit) };
            }
    TG_SORT(c->numbers, c->n_numbers, by_name);
    for (int side = 0; side < 2; side++)
        y[side] = TG_NEW_N(w->a, double, runs_of(w, side)->n + 1);
    double *sorted = TG_NEW_N(w->a, double, runs_of(w, 0)->n + runs_of(w, 1)->n + 1);
    TG_EACH(struct tg_number_change, x, c->numbers, c->n_numbers) {
        for (int side = 0; side < 2; side++) { /* the values of the runs that have it */
            const struct tg_number_runs *runs = runs_of(w, side);
            TG_EACH(const struct tg_number_run, r, runs->v, runs->n) {
                const struct tg_number *of =
                    r->n ? bsearch(&x->name, r->v, r->n, sizeof *r->v, tg_by_sv) : NULL;
                if (of && tg_sv_eq(of->unit, x->unit))
                    y[side][x->n_runs[side]++] = of->value;
            }
            memcpy(sorted, y[side], x->n_runs[side] * sizeof *sorted);
            x->value[side] = x->n_runs[side] ? tg_median(sorted, x->n_runs[side]) : NAN;
        }
        x->rose.why_not = x->fell.why_not = TG_NOT_ONE_SIDED;
        if (!x->n_runs[TG_BASE] || !x->n_runs[TG_TEST] || w->o->no_evidence)
            continue;
        judge(w, x, y, false, &x->rose);
        judge(w, x, y, true, &x->fell);
    }
}
