#ifndef TG_BASELINE_EVENT_H
#define TG_BASELINE_EVENT_H
/*
 * What people said of an event of the history (core/history), kept in git beside the baselines:
 *
 *     refs/tracegate/events/v1/SUITE/EVENT/RECORD      RECORD: first 16 digits of the blob's name
 *
 * A record is a small JSON document that is only ever created, as runs are (store.h): two jobs
 * that write at once both stay. Which one counts does not depend on a clock: a record names the
 * records that it answers, and one that nobody answered counts. Of several such, from jobs that did
 * not know of each other, a reopening counts before an acceptance. Records of 0.2.0 name none:
 * among themselves the later time answers the earlier.
 */
#include "core/baseline/store.h"

#define TG_EVENT_PREFIX "refs/tracegate/events/v1/"
#define TG_EVENT_MAX_RECORD 4096u /* bytes; a larger one is an error */

enum tg_event_word { TG_EVENT_WORD_ACCEPTED, TG_EVENT_WORD_REOPENED };

struct tg_event_record {
    tg_sv id; /* of the event: 12 hex digits */
    enum tg_event_word word;
    tg_sv actor, reason;
    int64_t time; /* seconds since 1970; shown, and decides nothing */
    tg_sv name;   /* of the record itself: 16 hex digits; set where one is read */
    tg_sv after;  /* names of the records it answers, with a space between them; "": it says none */
};

/* `suite` as in store.h; `after` is set here, to what is stored of this event now. Reads back what
 * counts then: false, too, where that is another word. TG_ERR_USAGE for a suite without a name. */
TG_MUST bool tg_event_write(const struct tg_store *store, tg_sv suite,
                            const struct tg_event_record *record, struct tg_arena *a,
                            struct tg_err *err);
/* One record of event `id` as it is stored, without its name; false: damaged. */
TG_MUST bool tg_event_parse(tg_sv text, tg_sv id, struct tg_arena *a, struct tg_event_record *out);
/* All records of a suite, by event and time; refs of another form are skipped. False: one or
 * more cannot be read, err has the first, and `out` those of all other events. */
TG_MUST bool tg_event_records(const struct tg_store *store, tg_sv suite, struct tg_arena *a,
                              struct tg_event_record **out, size_t *n, struct tg_err *err);
/* The same as names and objects, of one suite or all (n = 0), for tg_remote_push. */
TG_MUST bool tg_event_refs(const struct tg_store *store, tg_sv suite, struct tg_arena *a,
                           struct tg_stored **out, size_t *n, struct tg_err *err);
/* The record of an event that counts; NULL: there is none. */
const struct tg_event_record *tg_event_latest(const struct tg_event_record *v, size_t n, tg_sv id);
#endif
