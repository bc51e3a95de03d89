#ifndef TG_HISTORY_INTERNAL_H
#define TG_HISTORY_INTERNAL_H
/* What the files of the replay share. */
#include "core/history/history.h"

enum { HOST, DEVICE, SIDES };
enum { REFERENCE = 5, RENEW = 20, RECENT = 10 };
#define TG_HISTORY_SHARE 0.003 /* of the step: series the common factor is made of */

/* The newest nights of a level, oldest first. */
struct tg_history_window {
    double v[TG_CHANGEPOINT_WINDOW];
    double variance[TG_CHANGEPOINT_WINDOW]; /* of v, as the runs of the night tell it */
    uint32_t at[TG_CHANGEPOINT_WINDOW];     /* place in the stream */
    size_t n;
};

enum { TG_HISTORY_END = 3 }; /* nights that say where a level ends, and where the next one begins */

/* A change that may still come back, or whose place may still be narrowed down. */
struct tg_history_pending {
    struct tg_history_window old; /* the level before */
    size_t event, moved;
    double p90, median; /* of the level before */
    double end;         /* of the level that was left last: that one, or one of a drift */
    double base;        /* what the change's size is counted from */
    size_t since;       /* first place of the new level */
    size_t from, to;    /* nights: the range of a step, as it was found */
    bool up;
    struct tg_history_pending *before; /* the change before this one */
};

struct tg_history_track {
    struct tg_history_window w;
    double first[TG_DRIFT_LEVEL]; /* the level's first values */
    size_t n_first;
    double reference;
    bool has_reference, shares; /* takes part in the common factor */
    double calls;               /* of the last night that has a value; NAN: unknown */
    bool seen;
    size_t last;   /* place of its last night */
    size_t random; /* place + 1 of its last night with a number of calls that was not settled */
    uint32_t was;  /* the name that it replaced, + 1; 0: none */
    struct tg_history_pending *pending;
};

struct tg_history_stream {
    tg_sv environment;
    size_t *night; /* place -> night */
    size_t n, cap;
    struct tg_history_track *track; /* by series */
    struct tg_history_track machine[SIDES];
    double *value;  /* scratch: differences */
    uint32_t *pair; /* by series: what it replaces tonight, or what replaces it, + 1; 0: nothing */
};

struct tg_history_replay {
    struct tg_history *h;
    tg_sv suite;
    struct tg_arena *a;
    struct tg_history_stream *stream;
    size_t cap_events;
};

/* A series in a stream, at its newest night. */
struct tg_history_line {
    struct tg_history_replay *r;
    struct tg_history_stream *s;
    struct tg_history_track *t;
    uint32_t series; /* UINT32_MAX: the common factor */
};

static inline bool on_device(const struct tg_series *s)
{
    return s->what == TG_SERIES_KERNEL;
}

/* ---- change.c ---- */

void tg_history_window_push(struct tg_history_window *w, double v, double variance, size_t at);
void tg_history_window_push_from(struct tg_history_window *w, const struct tg_history_window *from,
                                 size_t i);
/* The median of the last TG_HISTORY_END nights before the place `first`; 0: there are none. */
double tg_history_window_end(const struct tg_history_window *w, size_t first);
/* What a change of `e` costs in ns; the size is what was found, the level what was there. */
double tg_history_cost(const struct tg_series *x, double before, double e);
/* `x` is NULL for the common factor, which is not a series. */
void tg_history_set_size(struct tg_moved_series *m, const struct tg_series *x, double e);
/* Runs of a night did not agree lately: the number of calls says nothing about the program. */
bool tg_history_track_is_random(const struct tg_history_track *t, size_t place);

/* ---- events.c ---- */

struct tg_history_event *tg_history_new_event(struct tg_history_replay *r,
                                              const struct tg_history_stream *s, size_t fired,
                                              size_t to, tg_sv what);
/* The event of this change; *moved is its place in there. */
size_t tg_history_attach(struct tg_history_replay *r, struct tg_history_stream *s,
                         const struct tg_moved_series *m, size_t *moved);
void tg_history_set_range(struct tg_history_event *e);
/* When all of its changes are back. */
void tg_history_end_event(struct tg_history_replay *r, struct tg_history_event *e);
/* Its cost and kind, once all nights are read. */
void tg_history_finish(struct tg_history *h, struct tg_history_event *e);

/* ---- change.c: one look, the newest night being in the window ---- */

void tg_history_look(const struct tg_history_line *l);
void tg_history_look_for_drift(const struct tg_history_line *l);
void tg_history_look_for_more(const struct tg_history_line *l);
/* Another number of calls, at once: nothing about it is noise. */
void tg_history_look_at_calls(const struct tg_history_line *l, double calls, double plain);
/* At a level that was left. */
void tg_history_look_back(const struct tg_history_line *l);
/* A change of calls that undoes an earlier one ends that one's event, and makes no event itself. */
bool tg_history_undo_calls(const struct tg_history_line *l, double calls);
/* The place of the last step, now that more nights are known. */
void tg_history_relocate(const struct tg_history_line *l);
/* What the newest change has come to by the last nights before the place `first`. */
void tg_history_bring_up_to(const struct tg_history_line *l, size_t first);
#endif
