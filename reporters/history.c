/* What the formats of a history share. */
#include "reporters/history.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/decimal.h"
#include "core/base/message.h"
#include "core/diff/stats.h"
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
