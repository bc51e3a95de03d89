#ifndef TG_TESTS_CORE_DIFF_PLACE_TEXT_H
#define TG_TESTS_CORE_DIFF_PLACE_TEXT_H
/* Places as text, for tests and people. */
#include <stdlib.h>

#include "core/diff/place.h"

static inline double median_of(const double *v, size_t n)
{
    TG_FREE double *copy = tg_xrealloc(NULL, n + 1, sizeof *copy);
    memcpy(copy, v, n * sizeof *v);
    return tg_median(copy, n);
}

static inline double more(const struct tg_comparison *c, double *const v[2])
{
    return median_of(v[TG_TEST], c->n_runs[TG_TEST]) - median_of(v[TG_BASE], c->n_runs[TG_BASE]);
}

/*
 * A line a place and one a part:
 *
 *     step > f: contents 40 0, whole 40 -200 choice moved
 *       + aten::index 0 -> 4
 *
 * Times are what the fresh side has more on the host and on the device; + came, - went, ~ otherwise.
 */
static inline void places_text(const struct tg_comparison *c, const struct tg_places *p,
                               struct tg_buf *out)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct tg_place_change *x = &p->v[i];
        tg_place_path(&p->tree, x->node, out);
        tg_buf_printf(out, ": contents %g %g, whole %g %g%s%s\n",
                      more(c, x->contents[TG_OVER_STEPS_MEAN].host),
                      more(c, x->contents[TG_OVER_STEPS_MEAN].device),
                      more(c, x->whole[TG_OVER_STEPS_MEAN].host),
                      more(c, x->whole[TG_OVER_STEPS_MEAN].device), x->choice ? " choice" : "",
                      x->moved ? " moved" : "");
        for (size_t k = 0; k < x->n_parts; k++)
            tg_buf_printf(out, "  %c %.*s %g -> %g%s\n",
                          x->part[k].calls[0] == 0   ? '+'
                          : x->part[k].calls[1] == 0 ? '-'
                                                     : '~',
                          TG_SV_ARG(x->part[k].name), x->part[k].calls[0], x->part[k].calls[1],
                          x->part[k].moved ? " moved" : "");
    }
}

#endif
