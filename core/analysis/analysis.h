#ifndef TG_ANALYSIS_ANALYSIS_H
#define TG_ANALYSIS_ANALYSIS_H
/*
 * Whole-trace analyses, one file each, one row in TG_ANALYSES: integer ns, kind by category,
 * stream 0 is a stream, unlinked work counts, launches of every vendor count, series are weighted
 * by time. HTA's own numbers, with its quirks, are in core/hta. Formulas, units and pitfalls:
 * docs/metrics.md.
 *
 * Tables carry HTA's column names. A rank without device rows gives a row whose `reason` says so.
 */
#include "core/analysis/table.h"
#include "core/metric/metric.h"

struct tg_analysis_opts {
    bool hta, no_rounding, include_last_step; /* the latter two with `hta` only */
    bool series;                              /* bandwidth, queue: every change point as well */
    const int64_t *steps; /* numbers of the steps to analyse; empty: the whole trace */
    size_t n_steps;
    tg_sv operator_name;       /* sequences: operators whose name contains this */
    size_t min_length;         /* sequences: at least this many device events */
    size_t top;                /* kernels, sequences: at most this many rows; 0: all */
    bool top_default;          /* `top` was not given: the default of each analysis */
    struct tg_classes classes; /* rows before the built-in table */
};

struct tg_rank_trace {
    int64_t rank;
    const struct tg_trace *trace; /* with hta: loaded with keep_hta; attributes are wanted always */
    const struct tg_steps *steps; /* NULL with hta */
};

struct tg_analysis_in {
    const struct tg_rank_trace *ranks; /* ascending, distinct; the caller's */
    size_t n;
    const struct tg_analysis_opts *opts; /* the caller's */
    struct tg_rank_work *work;           /* per rank */
};

/* What all analyses share: sorted and classified device work. O(spans). */
void tg_analysis_init(struct tg_analysis_in *in, const struct tg_rank_trace *ranks, size_t n,
                      const struct tg_analysis_opts *opts);
void tg_analysis_release(struct tg_analysis_in *in);

/*
 * The list of analyses, in the order of help. From a row follow its declaration, its place in
 * tg_analyzers and its word in `analyze --measure`.
 *
 * X(ID, name, does it need traces loaded with keep_python?): tg_ID makes its tables
 */
#define TG_ANALYSES(X)                                                                             \
    X(temporal, "temporal", false)                                                                 \
    X(idle, "idle", false)                                                                         \
    X(kernel_types, "kernel-types", false)                                                         \
    X(kernels, "kernels", false)                                                                   \
    X(overlap, "overlap", false)                                                                   \
    X(bandwidth, "bandwidth", false)                                                               \
    X(queue, "queue", false)                                                                       \
    X(launches, "launches", false)                                                                 \
    X(sequences, "sequences", false)                                                               \
    X(step_table, "steps", false)                                                                  \
    X(modules, "modules", true)                                                                    \
    X(sources, "sources", true)                                                                    \
    X(skew, "skew", false)
typedef void tg_analysis(const struct tg_analysis_in *in, struct tg_tables *out);
#define TG_ANALYSIS_DECLARATION(id, name, python) tg_analysis tg_##id;
TG_ANALYSES(TG_ANALYSIS_DECLARATION)

struct tg_analyzer {
    const char *name;
    tg_analysis *run;
    bool python;
};
extern const struct tg_analyzer tg_analyzers[];         /* ends with a NULL name */
const struct tg_analyzer *tg_analyzer_find(tg_sv name); /* NULL: none */
#endif
