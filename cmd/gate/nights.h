#ifndef TG_CMD_GATE_NIGHTS_H
#define TG_CMD_GATE_NIGHTS_H
/*
 * The stored results of a suite along first parents -> its history. A night is a commit that runs
 * are stored at; repeated jobs on one commit are one night. Commits without runs are kept in the
 * line, because a change may be theirs. Everything lives in `arena`.
 *
 * Cost: one pass over the store's refs, one commit object per step of the line, one parse per
 * stored run (as many at a time as --threads allows); memory is the values, not the summaries.
 */
#include "cmd/gate/inputs.h"
#include "core/baseline/event.h"
#include "core/baseline/store.h"
#include "core/history/history.h"

/* The runs of one commit. */
struct tg_stored_night {
    const struct tg_stored *v;
    size_t n;
};
/*
 * Reads these nights, as many at a time as --threads allows, and hands each to `take`, in order;
 * `side` NULL: its runs cannot be read (`damaged`) or do not fit together, `why` says so. A side is
 * gone after the call. False: a partial clone could not get an object.
 */
typedef void tg_nights_take(void *arg, size_t i, const struct tg_side *side, bool damaged,
                            const struct tg_err *why);
TG_MUST bool tg_nights_each(const struct tg_store *store, const struct tg_stored_night *v, size_t n,
                            tg_nights_take *take, void *arg, const struct tg_progress *progress,
                            struct tg_err *err);

struct tg_nights {
    tg_sv suite;
    struct tg_series_table series;
    struct tg_history history;
    struct tg_commit *line; /* first parents, oldest first, from the first night's commit on */
    size_t n_line;
    size_t *place;                /* night -> index in `line` */
    struct tg_stored_night *runs; /* of each night */
    size_t elsewhere;             /* stored commits that are not on the line */
    size_t unread;                /* nights whose runs cannot be read or do not fit together */
    size_t damaged;               /* of these, nights with a run that cannot be read */
    bool newest_unread;           /* the newest night is one of them */
    const char *unread_why;       /* of the first of them; a damaged one before the others */
    bool cut;                     /* the line ends in a shallow clone */
    struct tg_arena *arena;
};
/* Suites that something is stored of, sorted. */
TG_MUST bool tg_nights_suites(const struct tg_store *store, struct tg_arena *a, tg_sv **out,
                              size_t *n, struct tg_err *err);
/* The history of `suite` up to commit `until`. If there is no night, that is not an error. */
TG_MUST bool tg_nights_load(struct tg_nights *out, const struct tg_store *store, tg_sv suite,
                            const struct tg_commit *until, const struct tg_progress *progress,
                            struct tg_err *err);
/*
 * Events keep the ids that people know them by. An id is of the night that was found to be
 * different first, and a night that is recorded late may take its place: an event without a record
 * takes the id of a record that no event has, if that is of the same suite, environment and series,
 * and of a commit after the night `from`, up to TG_NIGHTS_LATE nights after `to`. Cost: of such a
 * record one SHA-256 per commit and series of each event.
 */
enum { TG_NIGHTS_LATE = 3 };
void tg_nights_keep_ids(struct tg_nights *n, const struct tg_event_record *v, size_t n_records);
/* "N nights of suite S cannot be read". Always returns false. */
bool tg_nights_damaged(const struct tg_nights *n, struct tg_err *err);
void tg_nights_release(struct tg_nights *n);
#endif
