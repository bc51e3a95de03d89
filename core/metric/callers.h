#ifndef TG_METRIC_CALLERS_H
#define TG_METRIC_CALLERS_H
/*
 * Which Python functions operators and kernels are called from, for traces with stacks
 * (python_function spans, loaded with tg_load_opts.keep_python). A call belongs to the innermost
 * frame around it that the caller wants, on its own thread; a kernel to the frame around its
 * launch. Frames on the autograd engine's threads do not belong to the program: such calls have no
 * frame and are not counted.
 *
 * O(n log n) in spans; the result refers to the trace only by ids of its names.
 */
#include "core/base/strmap.h"
#include "core/trace/trace.h"

struct tg_caller {
    uint32_t op;    /* id in `ops` */
    uint32_t frame; /* name id in the trace: "train.py(12): step" */
    uint64_t calls;
};
struct tg_callers {
    struct tg_caller *v; /* by op, then frame */
    size_t n;
};
/* Is a frame of this name wanted? Called once per name. */
typedef bool (*tg_caller_wanted)(void *arg, tg_sv frame);

/* `ops`: raw names. Release with tg_callers_release. */
void tg_callers_count(struct tg_callers *out, const struct tg_trace *t, const struct tg_strmap *ops,
                      tg_caller_wanted wanted, void *arg);
void tg_callers_release(struct tg_callers *f);

/* "pkg/train.py(12): step" -> its parts; false: a builtin, a module or not a frame at all. */
struct tg_caller_name {
    tg_sv file, function;
    uint32_t line;
};
bool tg_caller_parse(struct tg_caller_name *out, tg_sv name);
#endif
