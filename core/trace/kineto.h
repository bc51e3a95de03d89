#ifndef TG_TRACE_KINETO_H
#define TG_TRACE_KINETO_H
/*
 * One event of Kineto's dialect: any order of keys, unknown and escaped keys, duplicates (the last
 * wins); internal to core/trace. Nothing is interned here, so that an event that the window's end
 * cuts can be scanned again.
 */
#include "core/trace/attrs.h"
#include "core/trace/reader.h"
#include "core/trace/scan.h"

struct tg_raw_event {
    struct tg_event ev;                               /* without name, thread, index */
    struct tg_value ph, cat, name, ts, dur, pid, tid; /* type NULL: absent or null */
    uint64_t rounded;
    struct tg_attr_values attrs;
};

/* The cursor is at the event's '{'. */
enum tg_kineto_args { TG_ARGS_SKIPPED, TG_ARGS_READ };
bool tg_kineto_event(struct tg_scan *s, enum tg_kineto_args args, struct tg_raw_event *out);
/* A time: absent and null count as absent; anything but a number, or beyond int64 ns, fails. */
bool tg_kineto_time(struct tg_scan *s, const struct tg_value *v, uint64_t *rounded, bool *has,
                    bool *is_float, tg_ns *ns);
/* An integer as a number or as text, also "7.0"; otherwise `fallback`. */
int64_t tg_kineto_int(const struct tg_value *v, int64_t fallback);
/* Is this key the word? Escapes are resolved. */
bool tg_kineto_key(const struct tg_value *key, tg_sv word);
#endif
