#ifndef TG_CMD_ANALYZE_H
#define TG_CMD_ANALYZE_H
/*
 * Analyses of one set of traces. "ops" reads them as summaries or sums them up while it reads; all
 * others (tg_analyzers) share traces that are loaded once.
 */
#include "cmd/gate/given.h"
#include "cmd/lists.h"
#include "core/analysis/table.h"

struct tg_analyze_request {
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct tg_numbers ranks, steps; /* only these; empty: all */
    struct tg_window_spec window;   /* what a step is */
    bool whole;                     /* everything, undivided, instead of per step */
    bool hta, no_rounding;          /* HTA's own selection and rounding */
    bool keep_python;               /* an analysis of Python frames was asked for */
    int64_t top;                    /* ops: at most this many rows; 0 or TG_OPT_UNSET: all */
    enum tg_arrange arrange;        /* what files without a rank are */
    const struct tg_io *io;         /* for notes */
    const struct tg_progress *progress;
    struct tg_arena *arena; /* results live here */
};
/* "ops": count and total duration by category and name. Initialises `t`; the caller releases it. */
TG_MUST bool tg_analyze_ops(struct tg_table *t, const struct tg_analyze_request *q,
                            struct tg_err *err);

/*
 * The analyses of core/analysis (temporal, idle, …): the traces are loaded once for all of them.
 * `names` are names of tg_analyzers.
 */
struct tg_analyze_traces {
    const char *const *names;
    size_t n;
    bool include_last_step, series;
    const char *operator_name;
    int64_t min_length, top;  /* TG_OPT_UNSET: the analysis's own default */
    struct tg_strs classes;   /* GLOB=CLASS */
    const char *classes_file; /* NULL: none; see core/metric/classes.h */
    enum tg_format format;
    const char *svg_dir; /* NULL: no charts */
    const char *overlay; /* NULL: none; else one trace only */
};
TG_MUST bool tg_analyze_traces(struct tg_buf *out, const struct tg_analyze_traces *m,
                               const struct tg_analyze_request *q, struct tg_err *err);
#endif
