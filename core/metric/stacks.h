#ifndef TG_METRIC_STACKS_H
#define TG_METRIC_STACKS_H
/*
 * Time by Python frame, from traces recorded with stacks: by nn.Module instance ("nn.Module:
 * Linear_0"), or by function ("train.py(12): step"; built-in functions belong to their caller). One
 * computation for `analyze --measure modules|sources` and for rules of kind module and source.
 *
 * Host time is inclusive, and a recursive frame counts once; self time excludes nested frames of
 * the same sort. Device time is that of the work launched inside the frame, wherever and whenever
 * it ran. Frames nest per thread by time. Definition and pitfalls: docs/metrics.md
 */
#include "core/steps/steps.h"

enum tg_stack_sort { TG_STACK_MODULES, TG_STACK_SOURCES, TG_STACK_SORTS };
#define TG_STACK_ALL ((1u << TG_STACK_SORTS) - 1) /* a bit each */

struct tg_stack_sums {
    uint64_t calls, work; /* frames entered; pieces of device work launched inside */
    tg_ns host, self, device, device_self;
};
struct tg_stack {
    tg_sv name;              /* as in the trace; with by_function without the line */
    struct tg_stack_sums *v; /* per bucket */
};
struct tg_stacks {
    struct tg_stack *rows; /* in order of the trace's names; some may be empty in every bucket */
    size_t n;
    struct tg_stack_sums *outside; /* per bucket: device work that no frame launched */
    struct tg_strmap names;        /* owns the names that by_function made */
    struct tg_stack_sums *sums;    /* owns everything above */
};

struct tg_stack_spec {
    enum tg_stack_sort sort;
    bool by_function;     /* functions of one name in one file are one row: lines move with every
                         edit */
    const size_t *bucket; /* per step, and one more for everything outside every step: the
                             bucket; SIZE_MAX: not wanted */
    size_t n_buckets;
};

/*
 * `t` was loaded with keep_python, and tg_trace_set_python_apart. Frames belong to the step in
 * which they start, device work to the step of its launch. O(spans log spans) at worst; rows *
 * buckets in memory.
 */
void tg_stacks_compute(struct tg_stacks *out, const struct tg_trace *t,
                       const struct tg_steps *steps, const struct tg_stack_spec *spec);
void tg_stacks_release(struct tg_stacks *s);

/* "(launched outside every module)": the name of the work in tg_stacks.outside. */
const char *tg_stack_outside(enum tg_stack_sort sort);
#endif
