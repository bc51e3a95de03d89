#ifndef TG_HISTORY_CHANGEPOINT_NULL_H
#define TG_HISTORY_CHANGEPOINT_NULL_H
/*
 * c(n) for n = 13..40: the largest z_k that is exceeded in at most one look of 1000 without a
 * change. 13 to 16 from all orders of the nights, the others from 400,000,000 draws each: the
 * probability is known to 2e-6, and M takes few values, so the value is the exact one unless the
 * probability beside it is that near to 0.001. Made by tests/bench/history_null.c, which also
 * prints the probabilities. With 11 and 12 nights no order is rare enough.
 */
static const double tg_changepoint_null[] = {
    2.781315, 2.969287, 3.008915, 3.045609, 3.122880, 3.184392, 3.184337,
    3.174902, 3.191846, 3.173016, 3.207135, 3.200000, 3.204035, 3.208307,
    3.207665, 3.209877, 3.211820, 3.211572, 3.211586, 3.211807, 3.213417,
    3.212698, 3.213306, 3.217641, 3.214732, 3.217160, 3.216338, 3.217179,
};
/* Six decimals are kept: values of M that are equal to c(n) are not above it. */
#define TG_CHANGEPOINT_NULL_EPS 1e-6
#endif
