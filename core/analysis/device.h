#ifndef TG_ANALYSIS_DEVICE_H
#define TG_ANALYSIS_DEVICE_H
/* The device work of one rank in the total order, as the default analyses see it; internal to
 * core/analysis. Kernels at time 0 without duration (a profiler defect) are excluded. */
#include "core/analysis/analysis.h"

struct tg_work_row {
    tg_ns start, end;
    uint32_t span, device; /* dense device id of steps->lanes */
    enum tg_class class_;
    bool fallback; /* no row of the class table matched */
};

struct tg_rank_work {
    const struct tg_rank_trace *rank;
    struct tg_work_row *v;
    size_t n, n_devices;
    int64_t *device; /* dense id -> number as in the trace, -1 unknown */
};

/* Is `step` (an index, -1 outside) selected? */
bool tg_step_wanted(const struct tg_steps *s, int32_t step, const struct tg_analysis_opts *o);

/* Device work of the steps that `opts->steps` selects. O(spans). */
void tg_work_init(struct tg_rank_work *w, const struct tg_rank_trace *rank,
                  const struct tg_analysis_opts *opts);
void tg_work_release(struct tg_rank_work *w);
/* The work of one device of a rank. `rows` are the device's, in the total order. */
struct tg_device_work {
    const struct tg_rank_work *work;
    const struct tg_analysis_opts *opts;
    int64_t rank, device; /* device -1: not known */
    const struct tg_work_row *const *rows;
    size_t n;
};
/* Calls `f` for every device of every rank that has work, in order. A rank that has none gets a row
 * of `t` that says why. */
void tg_work_each(const struct tg_analysis_in *in,
                  void (*f)(void *arg, const struct tg_device_work *d), void *arg,
                  struct tg_table *t);
/* The number of the device, if it is known. */
struct tg_table_cell tg_work_device(const struct tg_device_work *d);

/* Why a rank has no work: "no device activity", or none in the selected steps. */
tg_sv tg_work_reason(const struct tg_rank_work *w, const struct tg_analysis_opts *opts);

/* The streams of one device, ascending; rows without a stream are on -1. */
struct tg_streams {
    int64_t *number;
    uint32_t *lane; /* per dense stream id of steps->lanes: index into `number` */
    size_t n;
};
/* Returns a zeroed object of `size` bytes for each stream; the caller frees it. */
TG_MUST void *tg_streams_init(struct tg_streams *s, const struct tg_device_work *d, size_t size);
void tg_streams_release(struct tg_streams *s);
size_t tg_streams_of(const struct tg_streams *s, const struct tg_device_work *d,
                     const struct tg_work_row *r);

/* HTA's word: "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER". */
const char *tg_class_hta_name(enum tg_class c);
/* Several, a bit each: "COMPUTATION overlapping MEMORY". */
tg_sv tg_work_class_names(int classes, struct tg_arena *a);
/* A number in an attribute text ("bytes=4096", also quoted); false: absent. */
bool tg_trace_attr_real(const struct tg_trace *t, const struct tg_span *s, tg_sv key, double *out);

/* ---- intervals ---- */

/* Unions of time intervals [start, end), in ns. A union is kept as its connected intervals, by
 * start; intervals that touch are merged. An empty interval adds nothing. */

struct tg_interval {
    tg_ns start, end;
};

struct tg_union {
    struct tg_interval *v;
    size_t n, cap;
};

void tg_union_release(struct tg_union *u);
/* Intervals must come in start order. Amortised O(1). */
void tg_union_add(struct tg_union *u, tg_ns start, tg_ns end);
tg_ns tg_union_length(const struct tg_union *u);
/* Length of the time that both cover. O(a + b). */
tg_ns tg_union_common(const struct tg_union *a, const struct tg_union *b);
/* Length of `u` inside [start, end). O(log n) plus the intervals met. */
tg_ns tg_union_inside(const struct tg_union *u, tg_ns start, tg_ns end);
#endif
