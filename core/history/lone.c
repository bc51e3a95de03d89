/* Nights that were slow alone: nothing changed, but whoever reads the line of a series asks. */
#include "core/history/internal.h"

#include <math.h>

#include "core/base/sort.h"
#include "core/diff/stats.h"

enum { AROUND = 5 };     /* nights before, and after, that say what is usual */
#define LONE_SIZE 0.0953 /* ln 1.10 */
#define LONE_MADS 8.0    /* times the usual distance of a night from the median */

/* How far the night is above those around it, if they agree and it is alone; 0 otherwise. */
static double lone_size(const struct tg_history *h, size_t night, uint32_t series)
{
    double v[2 * AROUND], away[2 * AROUND], beside, middle, size;
    size_t n = 0; /* values around the night, of its stream; those beside it first */
    for (size_t far = 1; far <= AROUND; far++)
        for (int side = -1; side <= 1; side += 2) {
            size_t k = side < 0 ? night - far : night + far;
            if ((side < 0 && far > night) || k >= h->n || h->stream[k] != h->stream[night])
                continue;
            double x = tg_history_corrected(h, k, series);
            if (!isnan(x))
                v[n++] = x;
        }
    if (n < AROUND)
        return 0;
    beside = fmax(v[0], v[1]);
    middle = tg_median(memcpy(away, v, n * sizeof *v), n);
    size = tg_history_corrected(h, night, series) - middle;
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(v[i] - middle);
    return size > LONE_SIZE && size > LONE_MADS * tg_median(away, n) && beside - middle < size / 2
               ? size
               : 0;
}

static int by_cost(const void *x, const void *y)
{
    const struct tg_lone_night *a = x, *b = y;
    int c = TG_CMP(b->cost_ns, a->cost_ns);
    return c ? c : TG_CMP(a->night, b->night);
}

size_t tg_history_lone_nights(const struct tg_history *h, size_t first, struct tg_lone_night *out)
{
    size_t n = 0;
    for (size_t i = first > 0 ? first : 1; i + 1 < h->n; i++) {
        struct tg_lone_night *at = &out[n];
        const struct tg_night *x = &h->night[i];
        *at = (struct tg_lone_night){ .night = i };
        for (size_t k = 0; k < x->n; k++) {
            const struct tg_series *s = &h->series->v[x->v[k].series];
            if (!tg_series_is_name(s) || !s->judged || isnan(x->v[k].v) ||
                !(x->v[k].plain >= TG_HISTORY_SHARE * x->step_ns))
                continue;
            double size = lone_size(h, i, x->v[k].series);
            double cost = x->v[k].plain * -expm1(-size);
            if (cost <= at->cost_ns)
                continue;
            *at = (struct tg_lone_night){ i, x->v[k].series, size, cost };
        }
        n += out[n].cost_ns > 0;
    }
    TG_SORT(out, n, by_cost);
    return n;
}
