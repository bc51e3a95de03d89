/* What the formats of a history share. */
#include "reporters/history.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/decimal.h"
#include "core/base/doc.h"
#include "core/base/message.h"
#include "core/base/utf8.h"
#include "core/diff/stats.h"
#include "reporters/csv.h"
#include "reporters/label.h"
#include "reporters/number.h"

tg_sv tg_history_moved_name(const struct tg_history *h, const struct tg_moved_series *m)
{
    return m->series == UINT32_MAX ? TG_SV("the machine") : h->series->v[m->series].name;
}

bool tg_history_in_points(const struct tg_history *h, const struct tg_moved_series *m)
{
    return m->series != UINT32_MAX && h->series->v[m->series].scale == TG_SCALE_PART;
}

static void put_signed(struct tg_buf *out, double v, const char *unit)
{
    tg_buf_printf(out, "%s%s%s",
                  v > 0   ? "+"
                  : v < 0 ? "\xe2\x88\x92"
                          : "",
                  TG_AS_FIXED(fabs(v), 1), unit);
}

static bool is_bytes(const struct tg_series *s)
{
    return s->what == TG_SERIES_METRIC && tg_metric_info(s->metric)->unit == TG_UNIT_BYTES;
}

static void put_exact(struct tg_buf *out, const struct tg_series *s, double v)
{
    if (is_bytes(s))
        tg_put_bytes(out, v);
    else
        tg_dec_put_double(out, v);
}

void tg_history_put_change(struct tg_buf *out, const struct tg_history *h,
                           const struct tg_moved_series *m)
{
    if (tg_history_is_exact(m)) {
        put_exact(out, &h->series->v[m->series], m->before);
        tg_buf_puts(out, " \xe2\x86\x92 ");
        put_exact(out, &h->series->v[m->series], m->after);
        tg_buf_puts(out, tg_series_is_name(&h->series->v[m->series]) ? " calls" : "");
    } else if (tg_history_in_points(h, m)) {
        put_signed(out, 100 * m->e, " pp");
    } else {
        put_signed(out, 100 * expm1(m->e), " %");
    }
}

void tg_history_put_cost(struct tg_buf *out, double ns)
{
    if (ns != 0)
        tg_buf_printf(out, "%s%s", ns > 0 ? "+" : "\xe2\x88\x92",
                      TG_AS(tg_dec_put_human_ns, fabs(ns)));
}

const char *tg_history_state(const struct tg_history_entry *t)
{
    bool nobody = t->state == TG_EVENT_STATE_ACCEPTED && !t->actor.n && !t->reason.n;
    return nobody ? "" : tg_event_state_name(t->state);
}

void tg_history_put_state(struct tg_buf *out, const struct tg_history_entry *t)
{
    const char *state = tg_history_state(t);
    tg_buf_printf(out, "%s%s%s%s", tg_event_kind_name(t->event->kind), *state ? ", " : "", state,
                  t->fresh   ? ", new tonight"
                  : t->grown ? ", more of it tonight"
                             : "");
}

void tg_history_put_when(struct tg_buf *out, const struct tg_history *h,
                         const struct tg_history_event *e)
{
    tg_buf_printf(out, "since %s", TG_DATE(h->night[tg_history_since(e)].date));
    if (!tg_history_is_slow(e))
        return;
    if (tg_history_is_over(h, e))
        tg_buf_printf(out, " until %s", TG_DATE(h->night[e->to].date));
    tg_buf_puts(out, ", little by little");
}

bool tg_history_put_lone(struct tg_buf *out, const struct tg_history_suite *s)
{
    enum { NAME = 40 };
    struct tg_message_list list = { .most = 3 };
    const struct tg_history *h = s->history;
    TG_FREE struct tg_lone_night *v = tg_xmalloc((h->n + 1) * sizeof *v);
    size_t n = tg_history_lone_nights(h, s->first, v);
    for (size_t i = 0; i < n && tg_message_list_next(&list, out); i++) {
        tg_buf_printf(out, "%s (", TG_DATE(h->night[v[i].night].date));
        tg_label_put_one(out, h->series->v[v[i].series].name, NAME);
        tg_buf_putc(out, ' ');
        put_signed(out, 100 * expm1(v[i].e), " %)");
    }
    list.n = n;
    (void)tg_message_list_end(&list, out);
    return n > 0;
}

double tg_history_share(const struct tg_history *h, const struct tg_history_event *e)
{
    double step = h->night[e->from].step_ns;
    return e->cost_ns != 0 && isfinite(step) && step > 0 ? 100 * e->cost_ns / step : (double)NAN;
}

void tg_history_put_share(struct tg_buf *out, const struct tg_history *h,
                          const struct tg_history_event *e)
{
    double share = tg_history_share(h, e);
    if (isnan(share))
        tg_history_put_cost(out, e->cost_ns);
    else
        put_signed(out, share, " %");
}

void tg_history_put_cost_a_step(struct tg_buf *out, const struct tg_history *h,
                                const struct tg_history_event *e)
{
    double share = fabs(tg_history_share(h, e));
    if (e->cost_ns == 0)
        return;
    tg_buf_printf(out, "%s %s a step", e->cost_ns > 0 ? "costs" : "saves",
                  TG_AS(tg_dec_put_human_ns, fabs(e->cost_ns)));
    if (!isnan(share))
        tg_buf_printf(out, ", %s %% of it", TG_AS_FIXED(share, share < 1 ? 2 : 1));
}

struct tg_as tg_history_date(int64_t date)
{
    struct tg_as text = { "" };
    time_t t = (time_t)date;
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(text.s, sizeof text.s, "%Y-%m-%d", &tm))
        *text.s = '\0';
    return text;
}

double tg_history_plain(const struct tg_history *h, size_t night, uint32_t series)
{
    const struct tg_history_value *v = tg_night_value(&h->night[night], series);
    return v ? v->plain : (double)NAN;
}

void tg_history_range(const struct tg_history *h, size_t first, uint32_t series, double *lo,
                      double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = first; i < h->n; i++) {
        double v = tg_history_plain(h, i, series);
        *lo = v < *lo ? v : *lo;
        *hi = v > *hi ? v : *hi;
    }
}

double tg_history_level(const struct tg_history_suite *s, uint32_t series)
{
    enum { NIGHTS = 5 };
    const struct tg_history *h = s->history;
    double v[NIGHTS];
    size_t n = 0;
    for (size_t i = s->first; i < h->n && n < NIGHTS; i++) {
        double one = tg_history_plain(h, i, series);
        if (h->stream[i] == h->stream[h->n - 1] && !isnan(one))
            v[n++] = one;
    }
    return n ? tg_median(v, n) : (double)NAN;
}

double tg_history_since_first(const struct tg_history_suite *s, uint32_t series)
{
    double now = tg_history_plain(s->history, s->history->n - 1, series);
    double level = tg_history_level(s, series);
    return level > 0 ? 100 * (now / level - 1) : (double)NAN;
}

void tg_history_put_since_first(struct tg_buf *out, const struct tg_history_suite *s,
                                uint32_t series)
{
    double change = tg_history_since_first(s, series);
    if (!isnan(change))
        put_signed(out, fabs(change) >= 0.05 ? change : 0, " %");
}

void tg_history_span(const struct tg_history_suite *s, size_t first, uint32_t series, double *lo,
                     double *hi)
{
    double level = tg_history_level(s, series);
    double room = s->history->series->v[series].scale == TG_SCALE_PART ? 5 : 0.1 * fabs(level);
    tg_history_range(s->history, first, series, lo, hi);
    if (isnan(level))
        return;
    *lo = fmin(*lo, level - room);
    *hi = fmax(*hi, level + room);
}

void tg_history_put_spark(struct tg_buf *out, const struct tg_history_suite *s, size_t first,
                          uint32_t series)
{
    double lo, hi;
    tg_history_span(s, first, series, &lo, &hi);
    for (size_t i = first; i < s->history->n; i++) {
        double v = tg_history_plain(s->history, i, series);
        int level = hi > lo && !isnan(v) ? (int)(7.999 * (v - lo) / (hi - lo)) : 3;
        if (isnan(v))
            tg_buf_putc(out, ' ');
        else
            tg_buf_printf(out, "\xe2\x96%c", (char)(0x81 + level));
    }
}

void tg_history_put_value(struct tg_buf *out, const struct tg_series *s, double plain)
{
    if (isnan(plain)) {
        tg_buf_puts(out, "-");
        return;
    }
    if (s->scale == TG_SCALE_TIME) {
        tg_dec_put_human_ns(out, plain);
    } else if (is_bytes(s)) {
        tg_put_bytes(out, plain);
    } else if (s->what == TG_SERIES_NUMBER) {
        tg_dec_put_significant(out, plain);
        tg_buf_printf(out, "%s%.*s", s->unit.n ? " " : "", TG_SV_ARG(s->unit));
    } else {
        tg_dec_put_fixed(out, plain, plain == floor(plain) ? 0 : 2);
        tg_buf_puts(out, s->scale == TG_SCALE_PART ? " %" : "");
    }
}

const char *tg_history_series_kind(const struct tg_series *s)
{
    return s->what == TG_SERIES_METRIC   ? "metric"
           : s->what == TG_SERIES_NUMBER ? "number"
                                         : tg_kind_name(s->kind);
}

struct tg_open_count tg_history_count_open(const struct tg_history_suite *s)
{
    struct tg_open_count n = { 0, 0 };
    for (size_t i = 0; i < s->n_events; i++)
        if (s->events[i].state == TG_EVENT_STATE_OPEN && s->events[i].fails) {
            n.all++;
            n.fresh += s->events[i].fresh || s->events[i].grown;
        }
    return n;
}

/* ---- a table: one line per series and night; docs/nightly.md names the columns ---- */

/* RFC 4180; a text that a spreadsheet would take for a formula begins with an apostrophe. */
static void put_text(struct tg_buf *out, tg_sv text)
{
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, text);
    tg_buf_putc(out, '"');
    if (tg_csv_is_formula(tg_buf_sv(&visible)))
        tg_buf_putc(out, '\'');
    for (size_t i = 0; i < visible.n; i++) {
        if (visible.p[i] == '"')
            tg_buf_putc(out, '"');
        tg_buf_putc(out, visible.p[i]);
    }
    tg_buf_putc(out, '"');
}

static void put_number(struct tg_buf *out, double v)
{
    tg_buf_putc(out, ',');
    if (!isnan(v))
        tg_dec_put_double(out, v);
}

void tg_history_put_csv(struct tg_buf *out, const struct tg_history_report *r)
{
    tg_buf_puts(out, "suite,commit,date,environment,kind,name,value,corrected,calls\r\n");
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->suites[i].n_series; k++)
            for (size_t n = r->suites[i].first; n < r->suites[i].history->n; n++) {
                uint32_t id = r->suites[i].series[k];
                const struct tg_history *h = r->suites[i].history;
                const struct tg_history_value *v = tg_night_value(&h->night[n], id);
                double c = v ? tg_history_corrected(h, n, id) : (double)NAN;
                if (v) {
                    put_text(out, r->suites[i].name);
                    tg_buf_printf(out, ",%.*s,%s,%zu,%s,", TG_SV_ARG(h->night[n].commit),
                                  TG_DATE(h->night[n].date), h->stream[n],
                                  tg_history_series_kind(&h->series->v[id]));
                    put_text(out, h->series->v[id].name);
                    put_number(out, v->plain);
                    put_number(out, c);
                    put_number(out, v->calls);
                    tg_buf_puts(out, "\r\n");
                }
            }
}

/* ---- for programs: docs/history.schema.json ---- */

enum { SHORT = 40 }; /* of a name in an issue's title */

static void add_date(struct tg_doc *d, const char *key, int64_t seconds)
{
    tg_doc_add_str(d, key, tg_sv_of(TG_DATE(seconds)));
}

static void add_operator(struct tg_doc *operators, const struct tg_history *h,
                         const struct tg_moved_series *m)
{
    const struct tg_series *s = m->series == UINT32_MAX ? NULL : &h->series->v[m->series];
    struct tg_doc *d = tg_doc_add_object(operators, NULL);
    TG_BUF label = { 0 };
    tg_label_put_one(&label, tg_history_moved_name(h, m), SHORT);
    tg_doc_add_str(d, "name", tg_history_moved_name(h, m));
    tg_doc_add_str(d, "short", tg_buf_sv(&label));
    tg_doc_add_str(d, "kind", s ? tg_sv_of(tg_history_series_kind(s)) : TG_SV("machine"));
    tg_doc_add_str(d, "change", tg_sv_of(tg_moved_name(m->what)));
    tg_doc_add_num(d, "delta_pct", 100 * (tg_history_in_points(h, m) ? m->e : expm1(m->e)));
    tg_doc_add_num(d, "cost_ns_per_step", m->cost_ns);
    tg_doc_add_num(d, "before", m->before);
    tg_doc_add_num(d, "after", m->after);
    tg_doc_add_bool(d, "worse", m->worse);
    tg_doc_add_bool(d, "back", m->back);
}

static void add_event(struct tg_doc *events, const struct tg_history_suite *s,
                      const struct tg_history_entry *t)
{
    const struct tg_history_event *e = t->event;
    struct tg_doc *d = tg_doc_add_object(events, NULL), *operators;
    tg_doc_add_str(d, "id", tg_sv_of(e->id));
    tg_doc_add_str(d, "suite", s->name);
    tg_doc_add_str(d, "state", tg_sv_of(tg_event_state_name(t->state)));
    tg_doc_add_str(d, "kind", tg_sv_of(tg_event_kind_name(e->kind)));
    tg_doc_add_bool(d, "new", t->fresh);
    tg_doc_add_bool(d, "grown", t->grown);
    tg_doc_add_bool(d, "fails", t->fails);
    add_date(d, "since", s->history->night[tg_history_since(e)].date);
    if (tg_history_is_over(s->history, e))
        add_date(d, "until", s->history->night[e->to].date);
    tg_doc_add_str(d, "from", t->from);
    tg_doc_add_str(d, "to", t->to);
    struct tg_doc *commits = tg_doc_add_array(d, "commits");
    for (size_t i = 0; i < t->n_commits; i++) {
        struct tg_doc *commit = tg_doc_add_object(commits, NULL);
        tg_doc_add_str(commit, "commit", t->commits[i].sha);
        add_date(commit, "date", t->commits[i].date);
        tg_doc_add_str(commit, "author", t->commits[i].author);
        tg_doc_add_str(commit, "subject", t->commits[i].subject);
        tg_doc_add_bool(commit, "night", t->commits[i].night);
    }
    if (t->files_known) {
        struct tg_doc *files = tg_doc_add_array(d, "files");
        for (size_t i = 0; i < t->n_files && i < 100; i++)
            tg_doc_add_str(files, NULL, t->files[i]);
        tg_doc_add_i64(d, "files_changed", (int64_t)t->n_files);
    }
    operators = tg_doc_add_array(d, "operators");
    for (size_t i = 0; i < e->n; i++)
        add_operator(operators, s->history, &e->v[i]);
    tg_doc_add_num(d, "delta_pct", 100 * e->delta);
    tg_doc_add_num(d, "cost_ns_per_step", e->cost_ns);
    tg_doc_add_num(d, "cost_pct_of_step", tg_history_share(s->history, e));
    struct tg_doc *evidence = tg_doc_add_object(d, "evidence");
    tg_doc_add_str(evidence, "night", s->history->night[e->fired].commit);
    if (e->kind == TG_EVENT_ENVIRONMENT) {
        tg_doc_add_str(evidence, "was", e->was);
        tg_doc_add_str(evidence, "is", e->is);
    } else {
        tg_doc_add_str(evidence, "series", tg_history_moved_name(s->history, &e->v[0]));
        if (tg_history_is_exact(&e->v[0])) {
            tg_doc_add_bool(evidence, "exact", true);
        } else {
            tg_doc_add_num(evidence, "rank_z", e->v[0].rank_z);
            tg_doc_add_num(evidence, "z", e->v[0].z);
            tg_doc_add_num(evidence, "p", e->v[0].p);
        }
    }
    if (e->ended)
        tg_doc_add_str(d, "ended", s->history->night[e->ended].commit);
    if (t->actor.n || t->reason.n) {
        struct tg_doc *x = tg_doc_add_object(d, "record");
        tg_doc_add_str(x, "actor", t->actor);
        tg_doc_add_str(x, "reason", t->reason);
        tg_doc_add_i64(x, "time", t->time);
    }
}

void tg_history_put_json(struct tg_buf *out, const struct tg_history_report *r)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *root = tg_doc_new_object();
    tg_doc_add_i64(root, "tracegate_history", 1);
    struct tg_doc *nights = tg_doc_add_array(root, "nights");
    struct tg_doc *events = tg_doc_add_array(root, "events");
    struct tg_doc *series = tg_doc_add_array(root, "series");
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_history_suite *s = &r->suites[i];
        for (size_t k = s->first; k < s->history->n; k++) {
            const struct tg_night *n = &s->history->night[k];
            struct tg_doc *night = tg_doc_add_object(nights, NULL);
            tg_doc_add_str(night, "suite", s->name);
            tg_doc_add_str(night, "commit", n->commit);
            add_date(night, "date", n->date);
            tg_doc_add_str(night, "subject", n->subject);
            tg_doc_add_str(night, "author", n->author);
            tg_doc_add_str(night, "environment", n->environment);
            tg_doc_add_i64(night, "runs", (int64_t)n->runs);
            tg_doc_add_num(night, "step_ns", n->step_ns);
        }
        for (size_t k = 0; k < s->n_events; k++)
            add_event(events, s, &s->events[k]);
        for (size_t k = 0; k < s->n_series; k++) {
            const struct tg_series *x = &s->history->series->v[s->series[k]];
            struct tg_doc *d = tg_doc_add_object(series, NULL), *values;
            tg_doc_add_str(d, "suite", s->name);
            tg_doc_add_str(d, "kind", tg_sv_of(tg_history_series_kind(x)));
            tg_doc_add_str(d, "name", x->name);
            tg_doc_add_str(d, "unit", x->unit);
            values = tg_doc_add_array(d, "values");
            for (size_t j = s->first; j < s->history->n; j++)
                tg_doc_add_num(values, NULL, tg_history_plain(s->history, j, s->series[k]));
        }
    }
    tg_doc_write(root, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}
