#ifndef TG_TRACE_SPLIT_H
#define TG_TRACE_SPLIT_H
/*
 * One plain text read by several threads; internal to core/trace. The text is cut into parts of
 * equal size. A worker guesses where the first event of its part begins and reads from there to the
 * first event of the next part, assuming that it is inside traceEvents. The caller's thread goes
 * through the parts in order and joins a part only if everything before it ends at exactly the byte
 * where the worker began, in the same state. Anything else (a wrong guess, an error, a limit, the
 * array's end, anything that is not an event) is read again by the ordinary reader, in its place.
 * So a wrong guess costs time and nothing else, and every message is that of a single thread.
 *
 * Ids are in file order: parts are joined in file order, and a worker reports only names that are
 * new to it.
 */
#include "core/trace/reader_internal.h"

/* A worker's ids -> those of the whole. */
struct tg_split_ids {
    const uint32_t *name, *thread;
    uint64_t first_index; /* events before the part */
};

/* What is done with the events: once in the caller's thread, for the whole, and once in each
 * worker, which keeps tables over its parts and fills one `part` at a time. Parts are reused. */
struct tg_split_ops {
    /* In the caller's thread: all events up to the next TG_NEXT_END into the whole. */
    bool (*here)(void *whole, struct tg_err *err);
    /* In the caller's thread, before joining: false if a limit is near. */
    bool (*fits)(const void *whole, const void *part, const struct tg_trace_info *info);
    void (*join)(void *whole, void *worker, void *part, const struct tg_split_ids *ids);
    size_t part_size, worker_size; /* of the structs, which are zero at first */
    void (*part_release)(void *part);
    void (*worker_init)(void *worker, const void *whole, struct tg_reader *r);
    void (*worker_release)(void *worker);
    /*
     * In the worker's thread: all events up to the next TG_NEXT_END, into `part`, which is as new.
     */
    bool (*read)(void *worker, void *part, struct tg_err *err);
};

/* Is this worth it, and possible? */
bool tg_split_can(const struct tg_source *s, const struct tg_reader_opts *o);
/* Reads all of `s` through `r`, a new reader of it; same result as ops->here alone. */
TG_MUST bool tg_split_read(struct tg_reader *r, struct tg_source *s, const struct tg_reader_opts *o,
                           const struct tg_split_ops *ops, void *whole, struct tg_err *err);
#endif
