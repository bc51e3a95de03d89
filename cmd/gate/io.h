#ifndef TG_CMD_GATE_IO_H
#define TG_CMD_GATE_IO_H
/*
 * The process's side of a command: results to standard output, messages and the progress line to
 * standard error. If the reader of standard output goes away (EPIPE: `| head`), that is not an
 * error: the command goes on, so that a verdict's exit code is never lost; any other failure is
 * exit 5.
 */
#include <pthread.h>

#include "cmd/cmd.h"
#include "core/base/buf.h"
#include "core/trace/trace.h"

/*
 * Colour: `color` (--color), then NO_COLOR (not empty: off), then
 * CLICOLOR_FORCE or FORCE_COLOR (not empty, not "0": on), then whether `out` is a terminal and TERM
 * is not "dumb". Width: COLUMNS, else the terminal's, else 0 (the reporters' default).
 */
void tg_io_setup(struct tg_io *io, enum tg_color color);

/* UTC days since 1970, for waivers: SOURCE_DATE_EPOCH where a run must repeat, else the clock. */
int64_t tg_io_today(const struct tg_io *io);

/*
 * Results on standard output, whole lines. A line that a CI runner would execute (it begins with
 * "::" or "##[", after blanks) gets "| " in front, "##[" elsewhere is broken, and what is invisible
 * is spelled out: names come from traces and policies. JSON has no such line.
 */
TG_MUST bool tg_io_put(const struct tg_io *io, tg_sv bytes, struct tg_err *err);
/* The same bytes, appended: for a report that goes to standard output by its name "-". */
void tg_io_safe(const struct tg_io *io, tg_sv bytes, struct tg_buf *out);
/* Lines that a runner is to execute: the reporter of annotations has escaped what is not ours. */
TG_MUST bool tg_io_put_commands(const struct tg_io *io, tg_sv bytes, struct tg_err *err);
/* The text of `err` on standard error; no byte of it can pass for a workflow command. */
void tg_io_error(const struct tg_io *io, const struct tg_err *err);
/* Lines that already say what they are (policy diagnostics); safe as above, no prefix. */
void tg_io_lines(const struct tg_io *io, tg_sv text);
/* One note on standard error, "tracegate: " in front; safe as above. */
void tg_io_note(const struct tg_io *io, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line on a terminal's standard error for work of more than a second, erased when done: bytes,
 * rate, files left. Pass `.line` to tg_trace_load and similar functions. */
struct tg_progress_line {
    struct tg_progress line;
    const struct tg_io *io;
    pthread_mutex_t lock; /* of all below */
    int64_t start, next;  /* ms */
    uint64_t bytes;
    int64_t files; /* not read to their end */
    bool several, shown;
};
void tg_progress_start(struct tg_progress_line *p, const struct tg_io *io);
void tg_progress_end(struct tg_progress_line *p);
#endif
