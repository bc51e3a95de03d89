#include "core/diff/confirm.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

/* Sizes that runs are moved back by: none, and each 1.4 times the last, the two largest twice. */
enum { SIZES = 14 };
enum { FINE = 16 };  /* steps from one of them to the next */
enum { ALL = 1000 }; /* so many divisions are all tried; */
/*
 * else so many are drawn, or until ENOUGH gain as much (Besag, Clifford 1991), or none of SURE:
 * that adds under a hundredth to the error of a look, e^(-SURE p) / (SURE p) of its largest p.
 */
enum { DRAWN = 10000, ENOUGH = 50, SURE = 5000 };
enum { BLOCK = 16, BLOCKS = 2 * TG_RANK_MAX / BLOCK }; /* factors of a likelihood in one product */

/* One value for each size: a division is asked about all of them at once,
 * which the compiler makes vectors of. */
typedef double sizes[SIZES];

struct field {
    size_t n, nb; /* runs; of the baseline */
    double *x;    /* ascending */
    size_t *run;  /* a division: the baseline's runs, then the fresh ones */
    sizes *near;  /* [i][j]: of run i of the baseline to run j, moved back */
    double *own;  /* [i]: sum over its own side, */
    sizes *all;   /* [i]: and over the other one */
    sizes size;
};

/* Heavy tails: a run that is far from all others hardly counts. */
static void fill_near(const struct field *f, const sizes back)
{
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->n; j++)
            for (size_t k = 0; k < SIZES; k++) {
                double d = (f->x[i] - f->x[j] + back[k]) / TG_ASK_WIDTH;
                f->near[i * f->n + j][k] = 1 / (1 + d * d);
            }
}

/* Runs of one side are not moved against each other: size 0. */
static void sum_side(const struct field *f, size_t from, size_t to)
{
    for (size_t a = from; a < to; a++)
        f->own[a] = 0;
    for (size_t a = from; a < to; a++) {
        for (size_t b = from; b < a; b++) {
            double is = f->near[f->run[a] * f->n + f->run[b]][0];
            f->own[a] += is;
            f->own[b] += is;
        }
    }
}

/* Of each size, but for a constant: the product over all runs,
 * in blocks that stay in range. Returns how many. */
static size_t likelihoods(const struct field *f, sizes out[BLOCKS])
{
    sizes *base = f->all, *fresh = f->all + f->nb;
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < SIZES; k++)
            f->all[i][k] = f->own[i];
    for (size_t a = 0; a < f->nb; a++) {
        sizes *row = f->near + f->run[a] * f->n;
        for (size_t b = 0; b < f->n - f->nb; b++) {
            double *restrict to = base[a], *restrict too = fresh[b];
            const double *restrict is = row[f->run[f->nb + b]];
            for (size_t k = 0; k < SIZES; k++) {
                to[k] += is[k];
                too[k] += is[k];
            }
        }
    }
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < SIZES; k++)
            out[i / BLOCK][k] = f->all[i][k] * (i % BLOCK ? out[i / BLOCK][k] : 1);
    return (f->n + BLOCK - 1) / BLOCK;
}

/* ln of what the best size gains over none; 0: no size does. */
static double gain(const struct field *f, size_t *best)
{
    sizes block[BLOCKS];
    double most = 1;
    sum_side(f, 0, f->nb);
    sum_side(f, f->nb, f->n);
    size_t n = likelihoods(f, block);
    *best = 0;
    for (size_t k = 1; k < SIZES; k++) {
        double times = 1;
        for (size_t i = 0; i < n; i++)
            times *= block[i][k] / block[i][0];
        if (times > most) {
            most = fmin(times, DBL_MAX);
            *best = k;
        }
    }
    return log(most);
}

static double more_than_last(size_t k)
{
    return k < SIZES - 2 ? 1.4 : 2;
}

/* Around the best of the sizes; of the division that `gain` has seen last. */
static double refine(const struct field *f, size_t best)
{
    double most = -INFINITY, e = 0;
    for (int from = -FINE; from <= FINE; from += SIZES) {
        sizes size, block[BLOCKS];
        for (int k = 0; k < SIZES; k++)
            size[k] = f->size[best] * pow(more_than_last(best), fmin(from + k, FINE) / FINE);
        fill_near(f, size);
        size_t n = likelihoods(f, block);
        for (size_t k = 0; k < SIZES; k++) {
            double is = 0;
            for (size_t i = 0; i < n; i++)
                is += log(block[i][k]);
            if (is > most) {
                most = is;
                e = size[k];
            }
        }
    }
    fill_near(f, f->size);
    return e;
}

/* ---- divisions ---- */

static double chance_of(const struct field *f, double found)
{
    double least = found - 1e-9 * fmax(1, found); /* rounding */
    size_t n = 0, as_much = 0, best;
    if (tg_choose(f->n, f->nb) <= ALL && f->n < 64) {
        for (uint64_t bits = (UINT64_C(1) << f->nb) - 1; bits >> f->n == 0; n++) {
            size_t base = 0, fresh = f->nb; /* bit i: run i is of the baseline */
            for (size_t i = 0; i < f->n; i++)
                f->run[bits >> i & 1 ? base++ : fresh++] = i;
            as_much += gain(f, &best) >= least;
            /* The next larger number with as many bits. */
            uint64_t low = bits & (~bits + 1), ripple = bits + low;
            bits = ripple | ((bits ^ ripple) / low >> 2);
        }
        return (double)as_much / (double)n;
    }
    uint64_t state = UINT64_C(0x73686966);
    for (; n < (as_much ? DRAWN : SURE) && as_much < ENOUGH; n++) {
        for (size_t i = 0; i < f->nb; i++) { /* shuffled as far as the baseline goes */
            /* xorshift64*: a fixed sequence, the same everywhere */
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            uint64_t drawn = state * UINT64_C(0x2545F4914F6CDD1D) >> 33;
            size_t k = i + (size_t)(drawn % (f->n - i)), run = f->run[k];
            f->run[k] = f->run[i];
            f->run[i] = run;
        }
        as_much += gain(f, &best) >= least;
    }
    return as_much == ENOUGH ? (double)as_much / (double)n
                             : (double)(as_much + 1) / (double)(n + 1);
}

/* ---- one question ---- */

struct tg_shift tg_shift_find(const double *base, size_t nb, const double *fresh, size_t nt,
                              double least)
{
    size_t n = nb + nt;
    struct tg_shift s = { 0, 1 };
    bool many = nb > TG_RANK_MAX || nt > TG_RANK_MAX;
    TG_FREE double *room = tg_xmalloc((3 * n + 1) * sizeof *room);
    TG_FREE sizes *near = tg_xmalloc((many ? 1 : n * n + n + 1) * sizeof *near);
    TG_FREE size_t *run = tg_xmalloc((n + 1) * sizeof *run);
    struct field f = { .n = n, .nb = nb, .run = run, .near = near };
    double *sorted = room;
    if (!nb || !nt)
        return s;
    memcpy(sorted, base, nb * sizeof *base);
    memcpy(sorted + nb, fresh, nt * sizeof *fresh);
    if (many) {
        s.e = tg_median(sorted + nb, nt) - tg_median(sorted, nb);
        s.p = tg_rank_p(base, nb, fresh, nt, 0);
        return s;
    }
    f.x = room + n;
    f.own = room + 2 * n;
    f.all = near + n * n;
    /* All runs in ascending order, so that the order in which they came does not matter. */
    size_t best, b = 0, t = 0;
    double size = log1p(TG_ASK_SIZE) / more_than_last(0), *other = sorted + nb;
    tg_ascend(sorted, nb);
    tg_ascend(other, nt);
    for (size_t i = 0; i < n; i++) {
        bool of_base = t == nt || (b < nb && sorted[b] <= other[t]);
        f.run[of_base ? b : nb + t] = i;
        f.x[i] = of_base ? sorted[b++] : other[t++];
    }
    for (size_t k = 0; k < SIZES; k++) {
        size *= more_than_last(k);
        f.size[k] = k ? size : 0;
    }
    fill_near(&f, f.size);
    double found = gain(&f, &best);
    if (found > 0) {
        s.e = refine(&f, best);
        s.p = s.e > least ? chance_of(&f, found) : 1;
    }
    return s;
}
