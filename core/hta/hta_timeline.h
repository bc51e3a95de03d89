#ifndef TG_HTA_HTA_TIMELINE_H
#define TG_HTA_HTA_TIMELINE_H
/*
 * HTA's iterations: which ProfilerStep a moment is in. Of the windows that cover it, the last in
 * file order counts. `at` are the times at which the answer changes, ascending; from at[i] on it is
 * number[i] (-1: no window). O(log windows) a question.
 */
#include "core/trace/trace.h"

struct tg_hta_timeline {
    double *at;
    int64_t *number;
    size_t n;
};
/* Of all rows of the trace; `rounded` as in tg_hta_row_at. */
void tg_hta_timeline_init(struct tg_hta_timeline *l, const struct tg_trace *t, bool rounded);
void tg_hta_timeline_release(struct tg_hta_timeline *l);
int64_t tg_hta_timeline_find(const struct tg_hta_timeline *l, double ts);

/* The number in "ProfilerStep#7"; blanks are allowed around '#'. */
bool tg_hta_step_number(tg_sv name, int64_t *number);
#endif
