#ifndef TG_TRACE_PAIRS_H
#define TG_TRACE_PAIRS_H
/*
 * B and E events, matched per thread; internal to core/trace. The order of the file is not used:
 * marks are sorted by time, and the marks of one instant are matched as a set. An E that carries a
 * name closes the innermost open B of that name; one without a name closes the innermost.
 */
#include "core/trace/reader.h"

struct tg_mark {
    tg_ns ts;
    int64_t stream, correlation, device;
    uint32_t name, thread, attr, index;
    bool is_end, has_name, has_cat;
};
struct tg_marks {
    struct tg_mark *v;
    size_t n, cap;
};
struct tg_pair_sink {
    void (*pair)(void *arg, const struct tg_mark *begin, const struct tg_mark *end);
    void *arg;
    uint64_t unmatched_begin, unmatched_end;
};

static inline bool tg_event_is_mark(const struct tg_event *ev)
{
    return (ev->ph == 'B' || ev->ph == 'E') && ev->has_ts;
}

void tg_marks_add(struct tg_marks *m, const struct tg_event *ev, uint32_t attr);
/* Adds the marks of a part (split.h), whose ids are those of tables; `attr` may be NULL. */
void tg_marks_join(struct tg_marks *m, const struct tg_marks *part, const uint32_t *name,
                   const uint32_t *thread, const uint32_t *attr, uint64_t first_index);
void tg_marks_release(struct tg_marks *m);
/* Sorts the marks, then reports every pair. O(n log n). */
void tg_marks_match(struct tg_marks *m, const struct tg_names *names, struct tg_pair_sink *sink);
#endif
