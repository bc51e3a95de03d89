#ifndef TG_HTA_HTA_DIFF_H
#define TG_HTA_HTA_DIFF_H
/*
 * The numbers of Holistic Trace Analysis' TraceDiff and get_ops_summary, with its own selection,
 * rounding and device split, so that its tables can be reproduced row by row. tracegate's own
 * metrics differ: HTA rounds to microseconds (an event inside one microsecond counts -1), drops
 * kernels of stream 0 and unlinked kernels from its steps, and takes one rank and one step.
 *
 * A side is fed one trace per rank (loaded with keep_hta) and keeps only sums per (category, name,
 * step, device), so that a trace can be freed at once.
 */
#include "core/base/keymap.h"
#include "core/diff/compare.h"

enum tg_hta_device { TG_HTA_ALL, TG_HTA_CPU, TG_HTA_GPU }; /* GPU: args.stream is not -1 */

/* Step of rows that HTA leaves without an iteration; rows outside every step have -1. */
#define TG_HTA_NO_STEP INT64_MIN

struct tg_hta_cell {
    uint32_t cat, name; /* in the side's texts */
    int64_t step;
    bool gpu;
    enum tg_kind kind;
    uint64_t count;
    double total, lost; /* microseconds; Kahan's compensation, as pandas sums */
};
struct tg_hta_rank {
    int64_t rank;
    struct tg_hta_cell *cells; /* in order of first appearance in the file */
    size_t n, cap;
    struct tg_keymap ids; /* category, name, step, device -> cell */
};
struct tg_hta_side {
    struct tg_strmap texts;
    struct tg_hta_rank *ranks; /* ascending */
    size_t n_ranks, cap;
    int64_t *steps; /* numbers of ProfilerStep#N in all ranks, ascending, distinct */
    size_t n_steps, steps_cap;
    bool no_rounding; /* HTA_DISABLE_NS_ROUNDING=1; set before the first add */
};
void tg_hta_init(struct tg_hta_side *s, bool no_rounding);
void tg_hta_release(struct tg_hta_side *s);

/* Replaces a rank that is there already, as HTA does; *replaced is true then. */
void tg_hta_add(struct tg_hta_side *s, const struct tg_trace *t, int64_t rank, bool *replaced);

/* HTA's rank of a file: the first `"rank":`, at least one blank, digits, on one line anywhere in
 * the text; 0 if absent. Reads `s` up to there. */
TG_MUST bool tg_hta_find_rank(struct tg_source *s, int64_t *rank, struct tg_err *err);

/* NULL lists mean HTA's defaults: the smallest rank, the smallest step. */
struct tg_hta_select {
    const int64_t *ranks, *steps;
    size_t n_ranks, n_steps;
    bool whole; /* every row of the ranks, whatever its step */
};

/*
 * The table of compare_traces, categories merged, by name (or short name): ops with whole_count
 * and whole_total, everything else empty. Unknown rank or step, or a side without ProfilerStep
 * unless `whole`: TG_ERR_USAGE. `label` names the sides in messages.
 */
TG_MUST bool tg_hta_compare(struct tg_comparison *out, const struct tg_hta_side *side[2],
                            const struct tg_hta_select select[2], enum tg_hta_device device,
                            bool short_names, const char *const label[2], struct tg_arena *a,
                            struct tg_err *err);

/* get_ops_summary of one rank: by (category, name), every row or the selected steps. */
struct tg_hta_op {
    tg_sv cat, name;
    uint64_t count;
    double total; /* microseconds */
};
TG_MUST bool tg_hta_ops(struct tg_hta_op **out, size_t *n, const struct tg_hta_side *side,
                        const struct tg_hta_select *select, const char *label, struct tg_arena *a,
                        struct tg_err *err);
#endif
