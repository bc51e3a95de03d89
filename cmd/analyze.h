#ifndef TG_CMD_ANALYZE_H
#define TG_CMD_ANALYZE_H
/* Analyses of one set of traces. "ops" reads them as summaries or sums them up while it reads; all
 * others (tg_analyzers) share traces that are loaded once. */
#include "cmd/gate/given.h"
#include "core/analysis/analysis.h"
#include "core/base/strmap.h"
#include "core/trace/trace.h"

struct tg_analyze_opts {
    enum tg_format format;
    const char *operator_name;
    const char *svg_dir;     /* NULL: no charts */
    const char *overlay;     /* NULL: none; else one trace only */
    struct tg_strs analyses; /* "ops", or names of tg_analyzers */
    struct tg_strs rank, step, classes /* GLOB=CLASS, or a file: core/metric/classes.h */;
    int64_t min_length, top; /* TG_OPT_UNSET: the analysis's own default; top 0: all */
    struct tg_given given;
    bool whole, hta, no_rounding; /* undivided instead of per step; HTA's selection and rounding */
    bool include_last_step, series;
};

struct tg_analyze_request {
    const struct tg_analyze_opts *o;
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct tg_numbers ranks, steps; /* only these; empty: all */
    struct tg_window_spec window;   /* what a step is */
    bool keep_python;               /* an analysis of Python frames was asked for */
    enum tg_arrange arrange;        /* what files without a rank are */
    const struct tg_io *io;         /* for notes */
    const struct tg_progress *progress;
    struct tg_arena *arena; /* results live here */
};
/* "ops": count and total duration by category and name. Initialises `t`; the caller releases it. */
TG_MUST bool tg_analyze_ops(struct tg_table *t, const struct tg_analyze_request *q,
                            struct tg_err *err);

/* Calls and times by category and name, and by kind if `by_kind` is set. Zero state: empty. */
struct tg_name_key {
    uint32_t cat, name, kind;
};
struct tg_name_sums {
    bool by_kind;
    struct tg_strmap cats, names, keys; /* keys: the bytes of a key */
    struct tg_name_sum {
        struct tg_name_key key;
        uint64_t count;
        tg_ns total, self; /* self: of rows that have it; device work: its duration */
    } * v;                 /* of each key */
    size_t cap;
};
/* Everything that the files hold, of the wanted ranks and steps; no span is kept. */
TG_MUST bool tg_name_sums_read(struct tg_name_sums *s, const struct tg_analyze_request *q,
                               struct tg_err *err);
void tg_name_sums_release(struct tg_name_sums *s);

/*
 * A trace written again with marks of ours: counter tracks (queue length by stream, memory traffic
 * by kind) and, where `operator_name` is given, the frequent sequences of device work. Every byte
 * of the original is copied unchanged; the marks go to the front of its traceEvents, on a
 * process named "tracegate". Compressed when the name ends in ".gz"; written whole or not at all.
 */
TG_MUST bool tg_overlay_write(const char *path, const struct tg_input_item *item,
                              const struct tg_analysis_in *in, const struct tg_analyze_request *q,
                              struct tg_err *err);
#endif
