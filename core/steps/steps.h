#ifndef TG_STEPS_STEPS_H
#define TG_STEPS_STEPS_H
/*
 * Gives every span its step, its parent and its launch. Nothing depends on the file's order.
 *
 * Windows: host spans named ProfilerStep#N (never the profiler's copies of them on the device),
 * else host annotations whose name matches `window.name`, else the whole trace as one step
 * (`marked` false). Host spans belong to the window that contains their start ([start, end)). If
 * several threads have windows, those of the main thread (the thread with most windows) count.
 * Device spans belong to the step of their launch; unlinked ones to that of their linked neighbours
 * on the stream when both agree, else to the device's time window of that step. The rest is counted
 * in `unassigned` and is outside every step (-1). In traces without launches (core/trace/xla.h)
 * start times decide for devices too.
 *
 * Nesting is per host thread over tg_kind_nests() kinds, in the total order; python functions take
 * no part. A child that ends after its parent is truncated at the parent's end, for nesting only; a
 * span with less than half of its length inside another is not its child (clock granularity).
 *
 * Device work is linked to its launch by correlation. If several runtime rows share a correlation
 * (cudaLaunchKernel and the cuLaunchKernel inside it), the launching call is taken; of two
 * launching calls, the outer one. A kernel launch (other than a graph) with more than
 * TG_MAX_KERNELS_PER_LAUNCH device rows has a wrong correlation: those rows count as unlinked.
 * Cost: n log n for the sort, else linear; 24 bytes per span, 16 if sparing.
 */
#include "core/trace/trace.h"

#define TG_MAX_DEVICE_STEPS ((size_t)1 << 24) /* devices times steps; beyond it TG_ERR_LIMIT */
#define TG_MAX_KERNELS_PER_LAUNCH 4 /* cooperative launches on several devices need a few */

struct tg_window_spec {
    enum {
        TG_WINDOW_AUTO,
        TG_WINDOW_ANNOTATION,
        TG_WINDOW_WHOLE
    } by;          /* AUTO: ProfilerStep, else whole; ANNOTATION: those only, else whole */
    tg_sv name;    /* glob over annotations and operators, for ANNOTATION */
    bool required; /* a trace that has none is TG_ERR_USAGE */
};

struct tg_step {
    int64_t number;   /* N of ProfilerStep#N; 0, 1, 2 … for annotations; 0 for the whole trace */
    tg_ns start, end; /* host window; for an unmarked trace first start and last end of all spans */
    uint32_t span;    /* the window's span; TG_NO_SPAN when unmarked */
};

struct tg_steps {
    struct tg_step *v; /* by start */
    size_t n;
    bool marked;
    uint32_t *order;  /* the total order of spans (tg_trace_sort) */
    uint32_t *device; /* those on devices (tg_kind_is_on_device), in the same order */
    size_t n_device;
    int32_t *step_of; /* per span: index into v, -1 outside every step */
    uint32_t *launch; /* per device span: the runtime span with its correlation; TG_NO_SPAN */
    uint32_t *parent; /* per host span: innermost enclosing one; per device span: innermost OP or
                         annotation around its launch; TG_NO_SPAN: none */
    tg_ns *self;      /* host: duration less direct children, >= 0; others: duration. NULL after
                         the builds that spare memory: tg_steps_put_self */
    struct tg_lanes lanes;
    uint64_t device_spans, unlinked, unassigned;
    uint64_t unnumbered; /* of the unlinked ones, those without a correlation: they never had one
                              (a third of MTIA's work), so no launch is missing */
    /* Windows inside the one before them, which do not count, and those that begin before its last
     * hundredth: what a clock errs is less. */
    uint64_t nested, crossing;
    uint64_t repeated; /* spans equal to the one before in name, track, start and duration (> 0) */
    uint64_t lost_kernels; /* launches whose kernel is missing, up to the last launch that has its
                              kernel; launches into a graph that is being captured run nothing
                              and do not count */
};

/* What a runtime call puts on the device, by its name. */
enum tg_call {
    TG_CALL_OTHER,
    TG_CALL_COPY,   /* *Memcpy*, *Memset* that move data */
    TG_CALL_KERNEL, /* *LaunchKernel*, cooperative, module, MTIA's runFunction */
    TG_CALL_GRAPH
};
enum tg_call tg_call_of(enum tg_kind kind, tg_sv name);

/* Times and sums of hostile files must not overflow: results saturate. */
static inline tg_ns tg_ns_add(tg_ns a, tg_ns b)
{
    tg_ns r;
    if (__builtin_add_overflow(a, b, &r))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return r;
}
static inline tg_ns tg_ns_sub(tg_ns a, tg_ns b)
{
    tg_ns r;
    if (__builtin_sub_overflow(a, b, &r))
        return b < 0 ? INT64_MAX : INT64_MIN;
    return r;
}
/*
 * Is [start, end) inside an earlier span that ends at `outer`? With clocks of whole microseconds a
 * child may end after its parent, and a span may begin before its predecessor has ended: the larger
 * part decides.
 */
static inline bool tg_span_holds(tg_ns outer, tg_ns start, tg_ns end)
{
    return outer > start && (end <= outer || outer - start >= end - outer);
}
/* A negative duration counts as zero. */
static inline tg_ns tg_span_end(const struct tg_span *s)
{
    return s->dur > 0 ? tg_ns_add(s->start, s->dur) : s->start;
}

TG_MUST bool tg_steps_build(struct tg_steps *out, const struct tg_trace *t,
                            const struct tg_window_spec *w, struct tg_err *err);
/* The same without `self`, and frees the correlations of `t` as soon as work is linked. */
TG_MUST bool tg_steps_build_sparing(struct tg_steps *out, struct tg_trace *t,
                                    const struct tg_window_spec *w, struct tg_err *err);
/* Steps and launches alone, for sums by name: `parent` stays NULL, too. */
TG_MUST bool tg_steps_build_flat(struct tg_steps *out, struct tg_trace *t,
                                 const struct tg_window_spec *w, struct tg_err *err);
/* Puts the self times where the durations of `t` are, for a caller that is done with these. */
void tg_steps_put_self(const struct tg_steps *s, struct tg_trace *t);
void tg_steps_release(struct tg_steps *s);
/* The step of host work that starts at `at`: index into v, -1 outside every step. */
int32_t tg_steps_at(const struct tg_steps *s, tg_ns at);

/*
 * For a trace without markers: annotations and operators that recur and could serve as windows,
 * best first (count >= 3, disjoint in time, covering most of the trace, no single one covering
 * nearly all of it). If there are none: annotations of the program, even a single one, that hold
 * half of the runtime calls (half of the time, if there are no calls). At most `max`. Numbered
 * annotations are grouped as a glob ("execute_*"). Views into `t`, globs into `a`.
 */
struct tg_window_hint {
    tg_sv name; /* a name or a glob: both are valid in TG_WINDOW_ANNOTATION */
    size_t count;
    double covered; /* share of the trace's time */
};
size_t tg_steps_hints(const struct tg_trace *t, struct tg_window_hint *out, size_t max,
                      struct tg_arena *a);
#endif
