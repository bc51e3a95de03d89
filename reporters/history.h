#ifndef TG_REPORTERS_HISTORY_H
#define TG_REPORTERS_HISTORY_H
/*
 * A history of nights for people and programs: text, JSON (docs/history.schema.json), CSV,
 * Markdown. Pure functions from plain data to bytes: equal input, equal bytes. Names,
 * subjects and authors are hostile and escaped here.
 */
#include "core/base/err.h"
#include "core/history/history.h"
#include "reporters/number.h"

struct tg_history_commit {
    tg_sv sha, subject, author;
    int64_t date;
    bool night; /* runs are stored at it */
};
struct tg_history_entry { /* an event, and what is known of it beside its nights */
    const struct tg_history_event *event;
    enum tg_event_state state;
    bool fails;     /* of a kind that ends with exit code 1 while it is open */
    bool fresh;     /* shown first by the newest night */
    bool grown;     /* the newest night shows more of it */
    tg_sv from, to; /* commits: the change is after `from`, up to `to`; "" from: unknown */
    const struct tg_history_commit *commits; /* of that range along first parents, oldest first */
    size_t n_commits;
    const tg_sv *files; /* changed between `from` and `to` */
    size_t n_files;
    bool files_known;
    tg_sv actor, reason; /* of the newest record; "" none */
    int64_t time;
};
struct tg_history_release {
    size_t night; /* the first night at or after the tagged commit */
    tg_sv name;
};
struct tg_history_suite {
    tg_sv name;
    const struct tg_history *history;
    size_t first;                          /* nights from here on are shown */
    const struct tg_history_entry *events; /* oldest first, those of the nights shown */
    size_t n_events;
    const uint32_t *series; /* shown, in this order */
    size_t n_series;
    const uint32_t *all; /* for the page: the first ones of all, what moved and takes most first */
    size_t n_all;
    const struct tg_history_release *releases; /* by night */
    size_t n_releases;
};
struct tg_history_report {
    const struct tg_history_suite *suites;
    size_t n;
    tg_sv commit_url; /* prefix of a commit's page; "" unknown */
    int columns;      /* of the text; 0: 100 */
};

void tg_history_put_text(struct tg_buf *out, const struct tg_history_report *r);
void tg_history_put_json(struct tg_buf *out, const struct tg_history_report *r);
void tg_history_put_csv(struct tg_buf *out, const struct tg_history_report *r);
void tg_history_put_markdown(struct tg_buf *out, const struct tg_history_report *r);
/* One self-contained page (page/page.h): 500 operators by 60 nights stay below 500 KB. */
void tg_history_put_page(struct tg_buf *out, const struct tg_history_report *r);
/* ---- what the formats share (history.c) ---- */

/* "aten::mm +12.3 %", "2 -> 3 calls": what moved and by how much, without escapes. */
void tg_history_put_change(struct tg_buf *out, const struct tg_history *h,
                           const struct tg_moved_series *m);
/* The name of what moved: the series, or "the machine". */
tg_sv tg_history_moved_name(const struct tg_history *h, const struct tg_moved_series *m);
/* "+1.20 ms", what it costs a step; nothing for 0. */
void tg_history_put_cost(struct tg_buf *out, double ns);
/* A percentage moved: its change is a difference, in points. */
bool tg_history_in_points(const struct tg_history *h, const struct tg_moved_series *m);
/* "2026-01-31" of seconds since 1970, UTC. */
struct tg_as tg_history_date(int64_t date);
#define TG_DATE(date) (tg_history_date(date).s)
/* The value a reader sees of a series on a night; NAN: none. */
double tg_history_plain(const struct tg_history *h, size_t night, uint32_t series);
/* The least and the largest of them from the night `first` on; not finite: none. */
void tg_history_range(const struct tg_history *h, size_t first, uint32_t series, double *lo,
                      double *hi);
/* Median of the first five nights that are shown of the newest environment; NAN: fewer than one. */
double tg_history_level(const struct tg_history_suite *s, uint32_t series);
/* "+16.1 %": the newest night against that; nothing where one of them is not known. */
void tg_history_put_since_first(struct tg_buf *out, const struct tg_history_suite *s,
                                uint32_t series);
double tg_history_since_first(const struct tg_history_suite *s, uint32_t series); /* in %; or NAN */
/* The same range, and at least 10 % (of a percentage 5 points) more and less than the level: what a
 * drawing beside others shows, so that 1 % does not look like 30 %. */
void tg_history_span(const struct tg_history_suite *s, size_t first, uint32_t series, double *lo,
                     double *hi);
/* A bar a night in that span, of eight heights; blank: no value. */
void tg_history_put_spark(struct tg_buf *out, const struct tg_history_suite *s, size_t first,
                          uint32_t series);
/* "1.23 ms", "12.3 %", "4", without escapes: a number's unit is anything. */
void tg_history_put_value(struct tg_buf *out, const struct tg_series *s, double plain);
/* "open", "fixed" …; "" where nobody has to accept it. */
const char *tg_history_state(const struct tg_history_entry *t);
/* "drift, open, more of it tonight": without its id. */
void tg_history_put_state(struct tg_buf *out, const struct tg_history_entry *t);
/* "since 2026-06-15", and of a drift "until 2026-06-26, little by little". */
void tg_history_put_when(struct tg_buf *out, const struct tg_history *h,
                         const struct tg_history_event *e);
/* "2026-06-27 (MulFunctor<float> +30.3 %), 2026-07-01 (…) and 2 more": nights that were slow alone,
 * without escapes. False: there is none. */
bool tg_history_put_lone(struct tg_buf *out, const struct tg_history_suite *s);
/* Its cost in % of the step before it; NAN: none. */
double tg_history_share(const struct tg_history *h, const struct tg_history_event *e);
/* "+1.1 %" of the step; the time where the step's is not known. */
void tg_history_put_share(struct tg_buf *out, const struct tg_history *h,
                          const struct tg_history_event *e);
/* "costs 1.20 ms a step, 3.1 % of it"; nothing where it costs nothing. */
void tg_history_put_cost_a_step(struct tg_buf *out, const struct tg_history *h,
                                const struct tg_history_event *e);
/* Open events that fail; fresh: since the newest night, or more of it in the newest night. */
struct tg_open_count {
    size_t all, fresh;
};
struct tg_open_count tg_history_count_open(const struct tg_history_suite *s);
const char *tg_history_series_kind(const struct tg_series *s); /* "op", "kernel", "metric", … */

/* ---- drawings (history_trend.c) ---- */

/*
 * One series of a history as a drawing: its value night after night, the band of its noise, events,
 * environment changes, releases, and the newest night. SVG elements for a page or a file; styles
 * are the classes of page/history.css, so nothing here has a colour.
 *
 * The band of a level is the middle 80 % of its nights, drawn from five nights on. A level ends
 * where the series changed or the environment did. Equal spacing: a night is a place, not a date.
 */
struct tg_trend_box {
    double x, y, width, height; /* of the whole drawing, in px */
    bool small;                 /* no axes, one line of text above */
};

/* <g class="trend">…</g>; nights from suite->first on. */
void tg_trend_put(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series,
                  const struct tg_trend_box *box);
/* A line for a table's cell, 2 px per night and 22 px high: <svg class="spark">, about 4 bytes per
 * night. The newest TG_SPARK_NIGHTS nights. */
enum { TG_SPARK_NIGHTS = 60 };
void tg_trend_put_spark(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series);
/* A whole file: the first series large, the others as small multiples. */
void tg_trend_svg(struct tg_buf *out, const struct tg_history_suite *s);
#endif
