#ifndef TG_TRACE_READER_INTERNAL_H
#define TG_TRACE_READER_INTERNAL_H
/* What the columns need of the reader besides its public interface; internal to core/trace. */
#include "core/trace/attrs.h"
#include "core/trace/reader.h"

/* An id for a pair that the file does not spell, such as ("", ""). */
TG_MUST bool tg_reader_intern(struct tg_reader *r, tg_sv cat, tg_sv name, uint32_t *id,
                              struct tg_err *err);
TG_MUST bool tg_reader_intern_thread(struct tg_reader *r, tg_sv pid, tg_sv tid, uint32_t *id,
                                     struct tg_err *err);
/* Every event to `take`, until it returns false. Inlined, for `take` is as long as one event is. */
static inline __attribute__((always_inline)) bool
tg_reader_each(struct tg_reader *r, bool (*take)(void *arg, const struct tg_event *), void *arg,
               struct tg_err *err)
{
    struct tg_event ev;
    enum tg_next next;
    while ((next = tg_reader_next(r, &ev, err)) == TG_NEXT)
        if (!take(arg, &ev))
            return false;
    return next == TG_NEXT_END;
}
/* After the last event: false with err set if the text is a list of objects that are not events:
 * none has a name or a category, or none a phase. */
TG_MUST bool tg_reader_saw_events(const struct tg_reader *r, struct tg_err *err);
/* Facts in the args of the last event; views as in tg_event. */
const struct tg_attr_values *tg_reader_attrs(const struct tg_reader *r);

/*
 * Reads one plain text in parts (split.c). A place is the position of a reader between two events,
 * or after the array of events. A reader that is put there continues like the one that came there.
 */
struct tg_place {
    uint64_t offset;
    int state; /* the reader's own business */
};

/* Events that begin at or after `offset` are not read: tg_reader_next returns TG_NEXT_END,
 * tg_reader_stopped is true, and the reader is at the brace of an event. UINT64_MAX: no limit. */
void tg_reader_stop(struct tg_reader *r, uint64_t offset);
bool tg_reader_stopped(const struct tg_reader *r);
/* After tg_reader_stopped. */
struct tg_place tg_reader_place(const struct tg_reader *r);
bool tg_reader_at_event(const struct tg_reader *r);
void tg_reader_resume(struct tg_reader *r, const struct tg_place *p);

/* A reader for parts of the text of `whole`, which is at an event; `s` is its own source. It ends
 * where the array ends. */
TG_MUST struct tg_reader *tg_reader_of_parts(const struct tg_reader *whole, struct tg_source *s);
/*
 * Starts a part at what looks like the first event in [from, to), with all counters at zero. False:
 * nothing looks like one, or the text cannot be read. The guess may be wrong: the caller must
 * check.
 */
TG_MUST bool tg_reader_guess(struct tg_reader *r, uint64_t from, uint64_t to, uint64_t *at);

/* May a part add this many names, bytes of names, and threads before a limit is near? */
bool tg_reader_has_room(const struct tg_reader *r, size_t names, size_t bytes, size_t threads);
/* Adds the counts of a part. */
void tg_reader_count(struct tg_reader *r, const struct tg_trace_info *part);
#endif
