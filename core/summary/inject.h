#ifndef TG_SUMMARY_INJECT_H
#define TG_SUMMARY_INJECT_H
/*
 * A shard with a known regression injected: what a gate must see. A pure function from shard to
 * shard; the noise of the recording stays as it is, only the injected part differs.
 *
 * What follows from a change is changed with it, as far as a summary knows: time added to a host
 * operator is added to its enclosers (by each name's main encloser), to the step and to the metrics
 * of the step; device work adds to busy time and to the device's step. What a summary cannot know
 * stays: which gap between kernels a slower kernel fills, which copy hides behind it.
 */
#include "core/summary/summary.h"

enum tg_inject_kind {
    TG_INJECT_SLOWER, /* each call takes `factor` times as long (below 1: faster) */
    TG_INJECT_CALLS,  /* `calls` more calls per step (negative: fewer), as long as those there */
    TG_INJECT_DROP,   /* the rows are gone */
    TG_INJECT_UNFUSE, /* each call becomes one call of each of two new names, same time together */
    TG_INJECT_NEW,    /* a new name, one call per step of `ns` */
    TG_INJECT_ATTR,   /* another value of the launch attribute `attr` */
    TG_INJECT_WAIT,   /* each step is `factor` times as long: host time outside every operator, on a
                        device idle time */
    TG_INJECT_METRIC  /* the metric alone: times, counts and bytes by `factor`, a percentage by the
                        same part of the way to its worst; `better`: the other way */
};

struct tg_inject {
    enum tg_inject_kind what;
    /* Which rows: those of one operator. NULL for WAIT, METRIC, and a NEW without a model. */
    bool (*is)(const void *arg, const struct tg_row *row);
    const void *arg;
    double factor;
    int64_t calls;
    tg_sv text; /* of NEW: its name; of UNFUSE: the stem of the new names */
    enum tg_attr_kind attr;
    enum tg_kind kind; /* of a NEW without a model */
    tg_ns ns;
    enum tg_metric metric;
    bool better;
};

/* The changed copy, in `a`; NULL: `s` has nothing that this could be injected into. */
struct tg_shard *tg_inject(const struct tg_shard *s, const struct tg_inject *p, struct tg_arena *a);
#endif
