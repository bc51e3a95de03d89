#ifndef TG_TRACE_READER_INTERNAL_H
#define TG_TRACE_READER_INTERNAL_H
/* What the columns need of the reader beside its public face; internal to core/trace. */
#include "core/trace/facts.h"
#include "core/trace/reader.h"

/* An id for a pair that the file did not spell, as ("", ""). */
TG_MUST bool tg_reader_intern(struct tg_reader *r, tg_sv cat, tg_sv name, uint32_t *id,
                              struct tg_err *err);
TG_MUST bool tg_reader_intern_thread(struct tg_reader *r, tg_sv pid, tg_sv tid, uint32_t *id,
                                     struct tg_err *err);
/* Facts in the args of the last event; views as in tg_event. */
const struct tg_fact_values *tg_reader_facts(const struct tg_reader *r);

/*
 * Reading one plain text in parts (split.c). A place is where a reader stands between two events,
 * or behind the array of events; a reader that is put there goes on as the one that came there.
 */
struct tg_place {
    uint64_t offset;
    int state; /* the reader's own business */
};

/* Events that begin at `offset` or behind are not read: tg_reader_next says TG_NEXT_END instead,
 * with tg_reader_stopped, and stands at the brace of one. UINT64_MAX: all are. */
void tg_reader_stop(struct tg_reader *r, uint64_t offset);
bool tg_reader_stopped(const struct tg_reader *r);
/* After tg_reader_stopped. */
struct tg_place tg_reader_place(const struct tg_reader *r);
bool tg_reader_at_event(const struct tg_reader *r);
void tg_reader_resume(struct tg_reader *r, const struct tg_place *p);

/* A reader of parts of what `whole`, which stands at an event, reads; `s` is its own. It ends where
 * the array does. */
TG_MUST struct tg_reader *tg_reader_of_parts(const struct tg_reader *whole, struct tg_source *s);
/*
 * Starts a part: stands it at what looks like the first event in [from, to), and counts anew.
 * False: nothing does, or the text cannot be read. Right or wrong, the caller has to find out.
 */
TG_MUST bool tg_reader_guess(struct tg_reader *r, uint64_t from, uint64_t to, uint64_t *at);

/* May a part have this many more names, bytes of them, and threads before a limit is near? */
bool tg_reader_has_room(const struct tg_reader *r, size_t names, size_t bytes, size_t threads);
/* Adds what was counted in a part. */
void tg_reader_count(struct tg_reader *r, const struct tg_trace_info *part);
#endif
