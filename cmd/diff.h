#ifndef TG_CMD_DIFF_H
#define TG_CMD_DIFF_H
/* What the files of `tracegate diff` share: what is asked, sides -> comparison, comparison ->
 * rows. */
#include "cmd/gate/given.h"
#include "core/diff/compare.h"
#include "policy/verdict/verdict.h"

/* In the order of the words in the option table; 0: not given. */
enum tg_diff_device { TG_DIFF_DEVICE_DEFAULT, TG_DIFF_ALL, TG_DIFF_CPU, TG_DIFF_GPU };
enum tg_diff_by {
    TG_DIFF_BY_DEFAULT,
    TG_DIFF_BY_NAME,
    TG_DIFF_BY_SHAPE,
    TG_DIFF_BY_GRID,
    TG_DIFF_BY_SHORT_NAME,
    TG_DIFF_BY_JUDGED_NAME
};
enum tg_diff_sort {
    TG_DIFF_SORT_DEFAULT,
    TG_DIFF_SORT_DURATION,
    TG_DIFF_SORT_COUNT,
    TG_DIFF_SORT_NAME,
    TG_DIFF_SORT_CONTROL,
    TG_DIFF_SORT_TEST
};

struct tg_diff_opts {
    enum tg_format format;
    enum tg_diff_device device;
    enum tg_diff_by by;
    enum tg_diff_sort sort;
    const char *svg_counts, *svg_durations, *html;
    struct tg_given given;
    struct tg_strs rank, step, group, exclude, svg_style;
    const char *base_commit;
    bool whole, hta, no_rounding, cause;
    int64_t top;
};

/* What the options say, checked; texts and numbers live in the arena. */
struct tg_diff_request {
    const struct tg_diff_opts *o;
    bool splits_names; /* --by shape or grid */
    const char *label[2];
    struct tg_numbers ranks[2], steps[2];
    struct tg_window_spec window;
    struct tg_commit base; /* --base-commit; `sha` "": not given */
    struct tg_input_list inputs[2];
    struct tg_summary summary[2]; /* what the comparison points at, except HTA's */
    struct tg_repo *repo;
    const struct tg_progress *progress;
    const struct tg_io *io;
    struct tg_arena *arena;
};

/* Reads both sides and compares them: HTA's way, name by name from summaries, or split by shape or
 * grid. */
TG_MUST bool tg_diff_compare(struct tg_comparison *out, struct tg_diff_request *q,
                             struct tg_err *err);
/* Indices of the operators to show, sorted, in q->arena. */
const uint32_t *tg_diff_rows(const struct tg_diff_request *q, const struct tg_comparison *c,
                             size_t *n);
/* --cause: where in the program the first rows come from: a result each, in q->arena. */
void tg_diff_find_causes(struct tg_verdict *v, const struct tg_diff_request *q,
                         const struct tg_comparison *c, const uint32_t *rows, size_t n);
/* A line each; why not, if none. */
void tg_diff_put_causes(struct tg_buf *out, const struct tg_verdict *v);
#endif
