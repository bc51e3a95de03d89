#ifndef TG_STEPS_STEPS_H
#define TG_STEPS_STEPS_H
/*
 * Gives every span its step, its parent and its launch. Nothing depends on the file's order.
 *
 * Windows: host spans named ProfilerStep#N (device copies never), else host annotations whose name
 * matches `window.name`, else the whole trace as one step (`marked` false). Host spans belong to
 * the window their start lies in ([start, end)); windows of several threads: the one of the main
 * thread (the thread with most windows). Device spans belong to the step of their launch; unlinked
 * ones to that of their linked neighbours on the stream when both agree, else to the device's time
 * window of that step; what is left is counted in `unassigned` and is outside (-1).
 *
 * Nesting is per host thread over tg_kind_nests() kinds, in the total order; python functions take
 * no part. A child that ends after its parent is cut for nesting only (clock granularity).
 */
#include "core/trace/trace.h"

struct tg_window_spec {
    enum {
        TG_WINDOW_AUTO,
        TG_WINDOW_ANNOTATION,
        TG_WINDOW_WHOLE
    } by;       /* AUTO: ProfilerStep, else whole */
    tg_sv name; /* glob, for ANNOTATION */
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
    int32_t *step_of; /* per span: index into v, -1 outside every step */
    uint32_t *launch; /* per device span: the runtime span with its correlation; TG_NO_SPAN */
    uint32_t *parent; /* per host span: innermost enclosing one; per device span: innermost OP or
                         annotation around its launch; TG_NO_SPAN: none */
    tg_ns *self;      /* host: duration less direct children, >= 0; others: duration */
    uint64_t device_spans, unlinked, unassigned;
};

TG_MUST bool tg_steps_build(struct tg_steps *out, const struct tg_trace *t,
                            const struct tg_window_spec *w, struct tg_err *err);
void tg_steps_release(struct tg_steps *s);

/*
 * For a trace without markers: annotations and operators that recur and could serve as windows,
 * best first (count >= 3, disjoint in time, covering most of the trace); at most `max`. Views into
 * `t`.
 */
struct tg_window_hint {
    tg_sv name;
    size_t count;
    double covered; /* share of the trace's time */
};
size_t tg_steps_hints(const struct tg_trace *t, struct tg_window_hint *out, size_t max);
#endif
