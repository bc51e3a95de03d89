#ifndef TG_TRACE_AHEAD_H
#define TG_TRACE_AHEAD_H
/*
 * A producer of bytes in a thread of its own, a few buffers ahead of its consumer; internal to
 * core/trace. The consumer sees the producer's end, or its error, after the last byte, so the
 * result is the same as without a thread.
 */
#include "core/base/err.h"

struct tg_ahead;
/* As tg_source_fill: bytes produced, 0 at the end, -1 with err set. Called in the thread only. */
typedef int64_t tg_ahead_produce(void *arg, char *to, size_t n, struct tg_err *err);

/* NULL if no thread can be started: the caller goes on without. */
struct tg_ahead *tg_ahead_start(tg_ahead_produce *produce, void *arg);
/* Up to `n` bytes; waits for the producer. */
int64_t tg_ahead_take(struct tg_ahead *a, char *to, size_t n, struct tg_err *err);
/* Ends the thread, whatever it is doing; accepts NULL. */
void tg_ahead_stop(struct tg_ahead *a);
#endif
