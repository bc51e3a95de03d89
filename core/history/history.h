#ifndef TG_HISTORY_HISTORY_H
#define TG_HISTORY_HISTORY_H
/*
 * The nights of a suite, oldest first -> what changed, when, and whether it is still so. A replay:
 * night after night is judged with what was known then, so that an event keeps its name and its
 * first night however often the history is read again. Pure: no git, no clock, no printing.
 *
 *   nights --(one stream per environment)--> values less the machine's common factor
 *          --(changepoint.h, one look per series and night)--> changes
 *          --(what moved on one night of one stream)--> events
 *
 * Common factor of a night: the median over judged names of at least 0.3 % of the step of (value
 * minus the series' reference), one for the host and one for the device, where at least
 * TG_HISTORY_FACTOR series take part. References are medians of five to ten nights, renewed every
 * 20, on the scale of the values already corrected, so that values of different years compare.
 *
 * A name that comes on the night on which another one of its kind goes, with as many calls,
 * replaces it: one event of both, and the new name's values go on where the old one's ended, so
 * that a name that is slower than what it replaced is a step. Of several the one that takes
 * longest replaces the one that took longest.
 *
 * A change of a series begins a new level: only its nights are looked at from then on. A change
 * that follows an open one in the same direction is more of that one, a drift, if the nights
 * between are nearer to a line from one level to the other than to a level of their own. A series
 * whose last three nights are back (under the 90th percentile of the level before, or within a
 * quarter of the change above its median, and nearer to it than to the new level) returns to it.
 *
 * Cost: nights x series x TG_CHANGEPOINT_WINDOW / 4 comparisons; memory: nights x values, and one
 * window for each series and environment.
 */
#include "core/history/changepoint.h"
#include "core/history/night.h"

enum {
    TG_HISTORY_FACTOR = 5,  /* series that a common factor is made of, at least */
    TG_HISTORY_BACK = 3,    /* nights that bring a series back */
    TG_HISTORY_LASTING = 8, /* nights after which what comes back was fixed, not a spell */
    TG_HISTORY_TOGETHER = 4 /* series that move together, at least, to be the machine's doing */
};

enum tg_moved {
    TG_MOVED_STEP,    /* found by the rank scan or the fast lane */
    TG_MOVED_CALLS,   /* another number of calls (or another exact metric) */
    TG_MOVED_DRIFT,   /* 5 % above the first nights of its level, slowly */
    TG_MOVED_MACHINE, /* the common factor itself */
    TG_MOVED_NEW,     /* a series that was not there */
    TG_MOVED_GONE     /* a series that is not there any more */
};

struct tg_moved_series {
    enum tg_moved what;
    uint32_t series;      /* UINT32_MAX: the common factor */
    uint32_t other;       /* NEW, GONE: the name it replaced, or that replaced it, + 1; 0: none */
    size_t fired;         /* night (index into the history) that showed it */
    size_t first;         /* its first night after the change, as estimated today */
    size_t from, to;      /* the change is after night `from`, up to night `to` */
    double e;             /* ln ratio, or difference of parts of 1: what it has come to today */
    double now;           /* the same during the replay, in which `e` is what was found; 0: `e` */
    double before, after; /* calls, or the plain value (ns, %) */
    double cost_ns;       /* a step; 0 for percentages and numbers */
    double rank_z, z, p;  /* evidence of a step; 0 for exact changes */
    bool worse;           /* in the series' bad direction */
    bool metric;          /* of the step: it follows what moved */
    bool slowly;          /* on many nights between `from` and `to`: a drift */
    bool back;            /* the series has returned to where it was */
    size_t back_at;       /* first night of that */
};

enum tg_event_kind {
    TG_EVENT_REGRESSION,
    TG_EVENT_IMPROVEMENT,
    TG_EVENT_CALLS, /* only calls changed, no time moved with them (yet) */
    TG_EVENT_MOVED, /* from one name to another: the sum stays */
    TG_EVENT_DRIFT,
    TG_EVENT_MACHINE,    /* a third of everything together: the machine or its environment */
    TG_EVENT_ENVIRONMENT /* the recorded environment changed */
};
enum tg_event_state {
    TG_EVENT_STATE_OPEN,
    TG_EVENT_STATE_ACCEPTED,
    TG_EVENT_STATE_FIXED,
    TG_EVENT_STATE_WENT_AWAY
};
const char *tg_event_kind_name(enum tg_event_kind k); /* "regression", … */
const char *
tg_event_state_name(enum tg_event_state s); /* "open", "accepted", "fixed", "went away" */
const char *tg_moved_name(enum tg_moved m); /* "step", "calls", … */

struct tg_history_event {
    char id[13]; /* tg_history_id of the first night and the first series, as they were found */
    enum tg_event_kind kind;
    enum tg_event_state state; /* as the nights show it; ACCEPTED comes from the caller */
    size_t stream;
    size_t fired;              /* the night that showed it first */
    size_t from, to;           /* nights: the change is after `from`, up to `to` */
    size_t grew;               /* the night that last showed more of it; of most, `fired`;
                                  of a name that replaced another, that showed it slower */
    size_t ended;              /* FIXED, WENT_AWAY: first night after it; else 0 */
    struct tg_moved_series *v; /* largest cost first */
    size_t n, cap;
    double cost_ns; /* a step: of host series or of device work, whichever is more */
    double delta;   /* e of the costliest series, as ratio - 1 (or difference of parts of 1) */
    tg_sv was, is;  /* ENVIRONMENT */
};

struct tg_history {
    struct tg_night *night; /* oldest first */
    size_t n;
    struct tg_series_table *series;
    size_t *stream; /* of each night */
    size_t *place;  /* of each night within its stream */
    size_t n_streams;
    double *factor[2];              /* host, device: ln common factor of each night */
    struct tg_history_event *event; /* in the order of the nights that showed them */
    size_t n_events;
};

/* Fills everything but `night`, `n` and `series`, which the caller has set. `suite` is only part of
 * the ids. Lives in `a`. */
void tg_history_replay(struct tg_history *h, tg_sv suite, struct tg_arena *a);

/* A number of calls moved, or another exact metric. */
bool tg_history_is_exact(const struct tg_moved_series *m);

/* 12 hex digits: of an event that is found at `commit` first, and first of `what`. */
void tg_history_id(char id[13], tg_sv suite, tg_sv environment, tg_sv commit, tg_sv what);
/* What that is of a series. */
tg_sv tg_history_id_of(const struct tg_history *h, const struct tg_moved_series *m);

/* Slower, drifting, or called more often: what a night fails by, until somebody accepts it. */
bool tg_history_is_worse(const struct tg_history_event *e);

/* A drift, better or worse: it came on several nights between `from` and `to`. */
bool tg_history_is_slow(const struct tg_history_event *e);
/* The night since which it is so: of a drift the first one that is worse. */
size_t tg_history_since(const struct tg_history_event *e);
/* A drift that has not grown for so long that its last night, `to`, is known. */
bool tg_history_is_over(const struct tg_history *h, const struct tg_history_event *e);

/* The value of a series less the common factor of its night; NAN: none. */
double tg_history_corrected(const struct tg_history *h, size_t night, uint32_t series);

/*
 * Nights from `first` on, but the newest, that were slow alone: one name took 10 % more than in the
 * nights around, and those beside it did not. No event, and a word on the page. The costliest
 * first; `out` has room for all nights. Returns their number.
 */
struct tg_lone_night {
    size_t night;
    uint32_t series; /* that cost most */
    double e;        /* ln ratio */
    double cost_ns;
};
size_t tg_history_lone_nights(const struct tg_history *h, size_t first, struct tg_lone_night *out);
#endif
