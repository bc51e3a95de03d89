#ifndef TG_CMD_GATE_READING_H
#define TG_CMD_GATE_READING_H
/* How this process reads traces: set once by main, before a command runs, and the same for every
 * trace of every command. */
#include "core/trace/reader.h"

/*
 * `threads` as given with --threads; TG_OPT_UNSET: what the process may use. TG_ERR_USAGE. `isa`
 * and `part` are for tests and benchmarks: one path of the reader, bytes of a part; NULL: the
 * defaults.
 */
TG_MUST bool tg_reading_setup(int64_t threads, const char *isa, const char *part,
                              struct tg_err *err);
/* task(arg, i, err) for the files i = 0..n-1, as many at a time as there are threads. If several
 * files fail, the error is that of the first, in this order. */
typedef bool tg_reading_task(void *arg, size_t i, struct tg_err *err);
TG_MUST bool tg_reading_each(size_t n, tg_reading_task *task, void *arg,
                             const struct tg_progress *progress, struct tg_err *err);
/* Of `n` files read side by side, how many threads the i-th has. */
unsigned tg_reading_share(size_t i, size_t n);
/* The options of a reader that has `threads` to itself. */
void tg_reading_opts(struct tg_reader_opts *o, unsigned threads);
#endif
