/*
 * The table of core/history/changepoint.c: c(n), which the largest z_k of the rank scan
 * exceeds in one look of 1000 when nothing changed.
 *
 *     history_null FROM TO DRAWS      lines "n c(n) P(M > c(n)) P(M >= c(n))"; DRAWS 0: exactly
 *
 * Under exchangeable nights without ties the ranks of the newest nights are a sample without
 * replacement of 1..n, and U_k is their sum less k (k + 1) / 2, so a look needs TG_CHANGEPOINT_LAST
 * draws. Exactly means all ordered samples: n! / (n - 10)! of them, feasible up to n = 16. The
 * generator (xoshiro256**, Blackman and Vigna 2018) has a fixed seed: the table is reproducible.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 3, LAST = 10, OLD = 8, MOST = 64 };
#define ALPHA 1e-3

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t next(uint64_t s[4])
{
    uint64_t r = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return r;
}

/* z_k in units that compare exactly: the rank sums of one k differ by whole numbers, so a value of
 * M is one of a few hundred lattice points (k, R). They are sorted once, and counted. */
struct point {
    double z;
    uint64_t hits;
};
struct table {
    int n, last;
    struct point *points;
    size_t n_points;
    uint32_t *of[LAST + 1]; /* [k][rank sum] -> point */
};

static int by_z(const void *x, const void *y)
{
    double a = ((const struct point *)x)->z, b = ((const struct point *)y)->z;
    return (a > b) - (a < b);
}

static double z_of(int n, int k, int sum)
{
    return (sum - k * (n + 1) / 2.0) / sqrt((double)k * (n - k) * (n + 1) / 12);
}

static void prepare(struct table *t, int n)
{
    size_t most = 0;
    t->n = n;
    t->last = n - OLD < LAST ? n - OLD : LAST;
    t->points = calloc((size_t)LAST * LAST * MOST, sizeof *t->points);
    for (int k = FIRST; k <= t->last; k++)
        for (int sum = k * (k + 1) / 2; sum <= k * (2 * n - k + 1) / 2; sum++)
            t->points[most++].z = z_of(n, k, sum);
    qsort(t->points, most, sizeof *t->points, by_z);
    for (size_t i = 0; i < most; i++)
        if (!t->n_points || t->points[i].z > t->points[t->n_points - 1].z + 1e-12)
            t->points[t->n_points++].z = t->points[i].z;
    for (int k = FIRST; k <= t->last; k++) {
        t->of[k] = calloc((size_t)(k * n + 1), sizeof **t->of);
        for (int sum = k * (k + 1) / 2; sum <= k * (2 * n - k + 1) / 2; sum++) {
            size_t low = 0, high = t->n_points;
            double z = z_of(n, k, sum) - 1e-12;
            while (low < high) {
                size_t middle = (low + high) / 2;
                if (t->points[middle].z < z)
                    low = middle + 1;
                else
                    high = middle;
            }
            t->of[k][sum] = (uint32_t)low;
        }
    }
}

static void draw(struct table *t, uint64_t draws)
{
    uint64_t s[4] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                      (uint64_t)t->n };
    int rank[MOST];
    for (int i = 0; i < t->n; i++)
        rank[i] = i + 1;
    for (int i = 0; i < 64; i++)
        (void)next(s);
    for (uint64_t d = 0; d < draws; d++) {
        uint32_t best = 0;
        int sum = 0;
        for (int k = 1; k <= t->last; k++) {
            int left = t->n - k + 1; /* ranks not drawn: rank[k-1 .. n-1] */
            int at = k - 1 + (int)(((next(s) >> 32) * (uint64_t)left) >> 32), r = rank[at];
            rank[at] = rank[k - 1];
            rank[k - 1] = r;
            sum += r;
            if (k >= FIRST && t->of[k][sum] > best)
                best = t->of[k][sum];
        }
        t->points[best].hits++;
    }
}

static void all_samples(struct table *t, int k, int sum, uint32_t best, uint64_t used)
{
    if (k == t->last) {
        t->points[best].hits++;
        return;
    }
    for (int r = 1; r <= t->n; r++) {
        uint32_t p = best;
        if (used >> r & 1)
            continue;
        if (k + 1 >= FIRST && t->of[k + 1][sum + r] > p)
            p = t->of[k + 1][sum + r];
        all_samples(t, k + 1, sum + r, p, used | (uint64_t)1 << r);
    }
}

int main(int argc, char **argv)
{
    int from = argc == 4 ? atoi(argv[1]) : 0, to = argc == 4 ? atoi(argv[2]) : 0;
    uint64_t draws = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc != 4 || from < OLD + FIRST || to >= MOST) {
        fprintf(stderr, "usage: history_null FROM TO DRAWS\n");
        return 2;
    }
    for (int n = from; n <= to; n++) {
        struct table t = { 0 };
        uint64_t all = 0, more = 0;
        size_t at;
        prepare(&t, n);
        if (draws)
            draw(&t, draws);
        else
            all_samples(&t, 0, 0, 0, 0);
        for (size_t i = 0; i < t.n_points; i++)
            all += t.points[i].hits;
        for (at = t.n_points;
             at > 0 && (double)(more + t.points[at - 1].hits) <= ALPHA * (double)all; at--)
            more += t.points[at - 1].hits;
        /* `at` points have M <= points[at - 1]; M above it is rare enough. */
        printf("%d %.6f %.7f %.7f\n", n, t.points[at - 1].z, (double)more / (double)all,
               (double)(more + t.points[at - 1].hits) / (double)all);
        fflush(stdout);
        for (int k = FIRST; k <= t.last; k++)
            free(t.of[k]);
        free(t.points);
    }
    return 0;
}
