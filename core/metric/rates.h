#ifndef TG_METRIC_RATES_H
#define TG_METRIC_RATES_H
/*
 * The sum of rates of transfers that overlap: each holds its rate from start to end. Ends come
 * before starts, so that transfers back to back do not add up; and the sum restarts from exactly 0
 * whenever nothing is in flight, so that no residue of floating-point sums is left.
 */
#include "core/base/sv.h"

struct tg_rate_edge {
    tg_ns at;
    int sign; /* -1 sorts first */
    double rate;
};
struct tg_rates {
    struct tg_rate_edge *edges;
    size_t n, cap;
};
/* Nothing is added if end <= start. */
void tg_rates_add(struct tg_rates *r, tg_ns start, tg_ns end, double rate);
void tg_rates_release(struct tg_rates *r);

/* After all are added: tg_rates_sort, then the sum after each edge, in order. */
struct tg_rate_sum {
    int64_t in_flight;
    double rate;
};
void tg_rates_sort(struct tg_rates *r);
static inline void tg_rate_step(struct tg_rate_sum *s, const struct tg_rate_edge *e)
{
    s->in_flight += e->sign;
    s->rate = s->in_flight ? s->rate + e->sign * e->rate : 0;
}
#endif
