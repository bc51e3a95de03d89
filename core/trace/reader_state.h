#ifndef TG_TRACE_READER_STATE_H
#define TG_TRACE_READER_STATE_H
/* What a reader is made of, for reader.c and reader_parts.c alone. */
#include "core/trace/intern.h"
#include "core/trace/kineto.h"
#include "core/trace/reader_internal.h"
#include "core/trace/scan.h"
#include "core/trace/shape.h"

enum tg_reader_state {
    AT_START,
    IN_OBJECT,      /* after '{' or a member */
    AT_FIRST_EVENT, /* after '[' */
    BEHIND_EVENT,
    AT_EVENT, /* at the brace of an event that is not the first */
    BEHIND_TEXT,
    AT_END,
    HAS_FAILED
};

struct tg_reader {
    struct tg_source *source;
    struct tg_reader_opts opts;
    struct tg_limits limits;
    char *buf; /* the window: cap bytes, of which n are in use, followed by TG_SCAN_PAD zeros */
    size_t cap, at, n;
    uint64_t base; /* offset of buf[0] in the text */
    bool last;     /* nothing follows the window */
    enum tg_reader_state state;
    bool bare, first_member, has_events;
    bool is_hatchet; /* a bare array whose first element is a node of hatchet's tree */
    bool any_phase;  /* an event has a `ph`, or a start and a duration, as one with X has */
    struct tg_intern names, threads;
    struct tg_names name_view;
    struct tg_thread last_thread; /* views into the table */
    uint32_t last_thread_id;
    struct tg_trace_info info;
    struct tg_arena *meta_arena;
    size_t meta_cap, meta_bytes;
    struct tg_buf text[2];
    /* The unit that is scanned. */
    struct tg_raw_event raw;
    struct tg_leniencies unit_seen;
    size_t unit_size;
    struct tg_shapes shapes;
    struct tg_scan fast;
    struct tg_value key, value;
    bool member_end, events_begin;
    /* Reading in parts (reader_parts.c). */
    bool is_part;      /* ends where the array of events does */
    bool stopped;      /* the last TG_NEXT_END did not come from the text */
    uint64_t stop;     /* events at or after this offset are not read */
    size_t stop_at;    /* the same in the window; SIZE_MAX: after it */
    int64_t next_tick; /* ms */
    uint64_t ticked;   /* bytes reported */
};

/* Moves the unread bytes to the front and reads on. */
TG_MUST bool tg_reader_refill(struct tg_reader *r, struct tg_err *err);
/* At the first event: from here on the nesting depth of events is known. */
void tg_reader_begin_events(struct tg_reader *r);
void tg_reader_tick(struct tg_reader *r);
/* The position of `stop` in the window. */
static inline void tg_reader_place_stop(struct tg_reader *r)
{
    uint64_t ahead = r->stop > r->base ? r->stop - r->base : 0;
    r->stop_at = ahead < SIZE_MAX ? (size_t)ahead : SIZE_MAX;
}
#endif
