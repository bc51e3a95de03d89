/*
 * How much is copied, set or sent: the bytes of an operator by step, judged as its calls are
 * (counts.c). Copies and sets say their bytes; a collective says how many elements of which type.
 */
#include <math.h>

#include "core/diff/internal.h"

/* What a side's calls say. */
struct sizes {
    struct tg_step_counts *run; /* bytes by step, mean over ranks */
    double *mean;               /* of each run */
    double *of_rank;            /* in every step but the first of every run; NAN: they vary */
    double largest;             /* of one call */
    bool known;                 /* every call says it */
    bool varies;                /* which step has which size is not known: shared out evenly */
};

/* Of a collective: the larger of what goes in and what comes out. */
static bool bytes_of_attr(const struct tg_attr *f, double *out)
{
    static const struct { /* of an element, by the type's name as Kineto writes it */
        const char *name;
        int64_t bytes;
    } types[] = {
        { "\"Byte\"", 1 },          { "\"Char\"", 1 },           { "\"Bool\"", 1 },
        { "\"Float8_e4m3fn\"", 1 }, { "\"Float8_e5m2\"", 1 },    { "\"Half\"", 2 },
        { "\"BFloat16\"", 2 },      { "\"Short\"", 2 },          { "\"Float\"", 4 },
        { "\"Int\"", 4 },           { "\"Double\"", 8 },         { "\"Long\"", 8 },
        { "\"ComplexFloat\"", 8 },  { "\"ComplexDouble\"", 16 },
    };
    int64_t in = 0, back = 0, bytes = 0;
    bool any;
    if (f->kind == TG_ATTR_KIND_BYTES) {
        any = tg_sv_i64(f->value, &bytes);
        *out = any ? (double)bytes : 0;
        return any;
    }
    if (f->kind != TG_ATTR_KIND_COLLECTIVE)
        return false;
    any = tg_sv_i64(tg_sv_value(f->value, TG_SV("nelems_in")), &in);
    any |= tg_sv_i64(tg_sv_value(f->value, TG_SV("nelems_out")), &back);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (tg_sv_eq(tg_sv_value(f->value, TG_SV("dtype")), tg_sv_of(types[i].name)))
            bytes = types[i].bytes;
    *out = (double)(in > back ? in : back) * (double)bytes;
    return any && bytes > 0;
}

/*
 * Adds the row's bytes to those of the shard's steps that are compared. If its calls by step are
 * alike but for the first, and the calls of each size divide evenly, every step has the same sizes,
 * `each`, and the first step has `first` beyond.
 */
static void add_row(const struct tg_row *row, size_t n_steps, const struct tg_used *used,
                    struct sizes *s, double *by_step)
{
    uint64_t steps = n_steps ? n_steps : 1, per_step = row->count[steps - 1];
    uint64_t calls = 0, known = 0, of_step = 0, left = 0;
    double sum = 0, each = 0, first = 0, size = -1;
    bool one_size = true, even = row->count[0] >= per_step;
    for (size_t j = 0; j < n_steps; j++) {
        calls += row->count[j];
        even &= !j || row->count[j] == per_step;
    }
    for (size_t i = 0; i < row->n_attrs; i++) {
        uint64_t n = row->attrs[i].count;
        double bytes;
        if (!n || !bytes_of_attr(&row->attrs[i], &bytes))
            continue;
        known += n;
        sum += bytes * (double)n;
        of_step += n / steps;
        left += n % steps;
        each += bytes * (double)(n / steps);
        first += bytes * (double)(n % steps);
        s->largest = fmax(s->largest, bytes);
        one_size &= size < 0 || bytes == size;
        size = bytes;
    }
    s->known &= known == calls;
    if (!calls || known != calls)
        return;
    even &= !one_size && of_step == per_step && left == row->count[0] - per_step;
    s->varies |= !one_size && !even;
    for (size_t k = 0; k < used->n; k++) {
        size_t j = used->step[k];
        by_step[k] += even ? each + (j ? 0 : first)
                           : (double)row->count[j] * (one_size ? size : sum / (double)known);
    }
}

static struct sizes sizes_of(const struct tg_diff_work *w, const struct tg_op *op, int side)
{
    size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
    struct sizes s = { .run = TG_NEW_N(w->a, struct tg_step_counts, n_runs + 1),
                       .mean = TG_NEW_N(w->a, double, n_runs + 1),
                       .of_rank = TG_NEW_N(w->a, double, n_ranks + 1),
                       .known = true };
    double *of_one = TG_NEW_N(w->a, double, w->max_steps + 1);
    for (size_t run = 0; run < n_runs; run++) {
        double *by_step = TG_NEW_N(w->a, double, w->max_steps + 1);
        size_t n = SIZE_MAX;
        for (size_t rank = 0; rank < n_ranks; rank++) {
            size_t at = tg_diff_cell_index(w, side, run, rank);
            const struct tg_diff_cell *cell = &op->rows->cell[at];
            bool varied = s.varies;
            s.varies = false;
            memset(of_one, 0, w->max_steps * sizeof *of_one);
            for (size_t r = 0; r < cell->n; r++)
                add_row(cell->row[r], w->shard[at]->n_steps, &w->used[at], &s, of_one);
            for (size_t j = 0; j < w->used[at].n; j++)
                by_step[j] += of_one[j];
            /* The bytes of all steps of a run but the first; NAN: they are not alike. */
            bool steady = w->used[at].n > 0 && !s.varies;
            for (size_t j = 2; j < w->used[at].n; j++)
                steady &= of_one[j] == of_one[1];
            double usual = steady ? of_one[w->used[at].n > 1] : NAN;
            s.of_rank[rank] = !run || s.of_rank[rank] == usual ? usual : NAN;
            s.varies |= varied;
            n = w->used[at].n < n ? w->used[at].n : n;
        }
        n = n == SIZE_MAX ? 0 : n;
        for (size_t j = 0; j < n; j++)
            by_step[j] /= (double)n_ranks;
        s.run[run] = (struct tg_step_counts){ by_step, n };
        s.mean[run] = tg_mean(by_step, n);
    }
    return s;
}

/* The usual step of the usual run; where steps or runs differ, the mean. */
static double value_of(const struct tg_diff_work *w, const struct sizes *s, int side, bool usual)
{
    size_t n = w->c->n_runs[side];
    double *v = TG_NEW_N(w->a, double, n + 1), *step = TG_NEW_N(w->a, double, w->max_steps + 1);
    for (size_t run = 0; run < n; run++) {
        memcpy(step, s->run[run].v, s->run[run].n * sizeof *step);
        v[run] = usual ? tg_median(step, s->run[run].n) : s->mean[run];
    }
    return tg_median(v, n);
}

void tg_compare_bytes(struct tg_diff_work *w)
{
    bool marked = w->c->marked[TG_BASE] && w->c->marked[TG_TEST];
    double ratio = w->c->iteration_ratio;
    TG_EACH(struct tg_op, op, w->c->ops, w->c->n_ops) {
        if (op->kind != TG_KIND_MEMCPY && op->kind != TG_KIND_MEMSET && !tg_op_is_collective(op))
            continue;
        bool renamed = op->relation == TG_REL_RENAMED && op->change == TG_ADDED;
        const struct tg_op *before = renamed ? &w->c->ops[op->partner] : op;
        struct sizes of[2] = { sizes_of(w, before, TG_BASE), sizes_of(w, op, TG_TEST) };
        const struct tg_step_counts *const run[2] = { of[0].run, of[1].run };
        struct tg_count_evidence *ev = &op->moved;
        double least[2], most[2]; /* of the runs' means */
        *ev = (struct tg_count_evidence){ .p = 1 };
        if (of[TG_BASE].known && of[TG_TEST].known && !renamed)
            op->bytes_shift = tg_diff_rank_shift(
                w, (double *const[]){ of[TG_BASE].of_rank, of[TG_TEST].of_rank });
        for (int side = 0; side < 2; side++) {
            op->bytes_known[side] = of[side].known;
            least[side] = tg_least(of[side].mean, w->c->n_runs[side]);
            most[side] = tg_most(of[side].mean, w->c->n_runs[side]);
        }
        bool varies = of[TG_BASE].varies || of[TG_TEST].varies;
        bool steady = !of[TG_BASE].varies && least[TG_BASE] == most[TG_BASE];
        if (!marked) {
            /* A whole trace is one step: every run alike, or a gap between the sides. */
            bool agreed = steady && !varies && least[TG_TEST] == most[TG_TEST];
            ev->most = most[TG_TEST];
            if (least[TG_TEST] > most[TG_BASE] * ratio * (agreed && ratio == 1 ? 1 : 1 + TG_SLACK))
                ev->proof = TG_COUNT_PROVEN;
        } else if (varies) {
            /* Sizes that follow the data. A sum that is larger than other data explains is
             * reported; if the calls are also larger, on average, than any of the baseline, it is
             * proven. If the steps of the baseline are alike, more in some steps of every fresh run
             * counts as more. */
            bool twice = least[TG_TEST] > TG_TWICE * most[TG_BASE];
            double calls = op->count[TG_TEST];
            ev->shape = TG_COUNT_VARIES;
            ev->most = most[TG_TEST];
            if (twice || (steady && least[TG_TEST] > most[TG_BASE]))
                ev->proof = TG_COUNT_HINT;
            if (twice && calls > 0 && least[TG_TEST] / calls > TG_TWICE * of[TG_BASE].largest)
                ev->proof = TG_COUNT_PROVEN;
        } else
            tg_count_judge(ev, run, w->c->n_runs, tg_op_makes_wait(op));
        bool usual = marked && ev->shape == TG_COUNT_CONSTANT;
        for (int side = 0; side < 2; side++) {
            op->bytes[side] = value_of(w, &of[side], side, usual);
            op->bytes_mean[side] = value_of(w, &of[side], side, false);
        }
        if (!marked)
            op->bytes[TG_TEST] /= ratio;
    }
}
