#ifndef TG_SUMMARY_DAMAGE_H
#define TG_SUMMARY_DAMAGE_H
/*
 * Damaged parts of an input, for callers that go on without them: a trace or a stored summary that
 * cannot be read, or one rank of a summary. Whole parts are used, and each damaged part is named.
 */
#include "core/base/buf.h"
#include "core/base/err.h"

/* Zero state: none. */
struct tg_damage {
    struct tg_buf text; /* a line each: "FILE: what is wrong"; with "rank 3: " before it where the
                           file's name says the rank */
    size_t n;           /* lines */
};
/* Adds an error of the input's bytes and resets it. False, and nothing happens, if `d` is NULL or
 * the error is of another kind: out of memory, a file that is not there, a limit. */
TG_MUST bool tg_damage_add(struct tg_damage *d, struct tg_err *err);
/* A line in other words. */
void tg_damage_say(struct tg_damage *d, tg_sv line);
void tg_damage_append(struct tg_damage *d, const struct tg_damage *more);
void tg_damage_release(struct tg_damage *d);
#endif
