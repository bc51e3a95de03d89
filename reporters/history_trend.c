#include "reporters/history.h"

#include <math.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/diff/stats.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/page/page.h"
#include "reporters/svg.h"

enum { BAND_FEWEST = 5, LABEL_WIDTH = 118, DATE_WIDTH = 64 };

struct plot {
    struct tg_buf *out;
    const struct tg_history_suite *s;
    const struct tg_history *h;
    const struct tg_trend_box *box;
    uint32_t series;
    size_t first, n;              /* nights [first, n) */
    double *v;                    /* of each of them; NAN: none */
    double left, top, right, low; /* of the plot's area; `low` is its bottom */
    double min, max;              /* values at low and top */
};

/* ---- places ---- */

static void put_px(struct tg_buf *out, double v)
{
    tg_dec_put_double(out, floor(v * 10 + 0.5) / 10);
}

static double x_of(const struct plot *p, double night)
{
    double nights = p->n - p->first > 1 ? (double)(p->n - p->first - 1) : 1;
    return p->left + (night - (double)p->first) / nights * (p->right - p->left);
}

static double y_of(const struct plot *p, double v)
{
    return p->low - (v - p->min) / (p->max - p->min) * (p->low - p->top);
}

static void put_at(const struct plot *p, const char *key, double v)
{
    tg_buf_printf(p->out, " %s=\"", key);
    put_px(p->out, v);
    tg_buf_putc(p->out, '"');
}

/* A step of a path: 'M' moves there, 'L' draws a line. */
static void put_point(const struct plot *p, char command, double x, double y)
{
    tg_buf_putc(p->out, command);
    put_px(p->out, x);
    tg_buf_putc(p->out, ' ');
    put_px(p->out, y);
}

static void put_line(const struct plot *p, const char *class_, double x1, double y1, double x2,
                     double y2)
{
    tg_buf_printf(p->out, "<path class=\"%s\" d=\"", class_);
    put_point(p, 'M', x1, y1);
    put_point(p, 'L', x2, y2);
    tg_buf_puts(p->out, "\"/>\n");
}

static void put_rect(const struct plot *p, const char *class_, double x, double y, double width,
                     double height)
{
    tg_buf_printf(p->out, "<rect class=\"%s\"", class_);
    put_at(p, "x", x);
    put_at(p, "y", y);
    put_at(p, "width", width);
    put_at(p, "height", height);
    tg_buf_puts(p->out, "/>\n");
}

static void put_text(const struct plot *p, const char *class_, double x, double y, tg_sv text)
{
    tg_buf_printf(p->out, "<text class=\"%s\"", class_);
    put_at(p, "x", x);
    put_at(p, "y", y);
    TG_PUT(p->out, tg_esc_xml, ">{}</text>\n", text);
}

/* ---- levels ---- */

/* Does a change of this series begin at this night, or end? A new level begins as the series says
 * it, unless the event, of which other series know more, says earlier. */
static bool begins_level(const struct plot *p, size_t night)
{
    for (size_t i = 0; i < p->h->n_events; i++)
        for (size_t k = 0; k < p->h->event[i].n; k++) {
            const struct tg_history_event *e = &p->h->event[i];
            const struct tg_moved_series *m = &e->v[k];
            size_t first = e->to < m->first && e->to > e->from ? e->to : m->first;
            if (m->series == p->series && (first == night || (m->back && m->back_at == night)))
                return true;
        }
    return false;
}

/* ---- the scale ---- */

/* Small drawings stand side by side, where 1 % must not look like 30 %: each shows 10 % more and
 * less than its level (TG_HISTORY_SPAN), and says so where its values need more. */
static void choose_scale(struct plot *p)
{
    double lo, hi, room;
    tg_history_span(p->s, p->first, p->series, &lo, &hi);
    if (!p->box->small)
        tg_history_range(p->h, p->first, p->series, &lo, &hi);
    if (!isfinite(lo))
        lo = hi = 0;
    /* Noise of a per mille must not fill the drawing. */
    room = p->box->small ? 0 : fmax(0.08 * (hi - lo), 0.02 * fabs(hi));
    p->min = lo >= 0 && lo - room < 0 ? 0 : lo - room;
    p->max = hi > p->min || room > 0 ? hi + room : p->min + 1;
}

static bool is_part(const struct plot *p)
{
    return p->h->series->v[p->series].scale == TG_SCALE_PART;
}

/* "+12 %" at the top, "-10 %" at the bottom: of the level that the series began with. */
static void put_scale(const struct plot *p)
{
    double level = tg_history_level(p->s, p->series);
    const double at[] = { p->max, p->min };
    for (size_t i = 0; i < 2 && (is_part(p) || level > 0); i++) {
        double v = is_part(p) ? at[i] - level : 100 * (at[i] / level - 1);
        TG_BUF text = { 0 };
        tg_buf_printf(&text, "%s%.0f %s", v > 0 ? "+" : "\xe2\x88\x92", fabs(v),
                      is_part(p) ? "pp" : "%");
        put_text(p, "scale end", p->box->x + p->box->width, i ? p->low + 3 : p->top + 7,
                 tg_buf_sv(&text));
    }
}

static void put_value_text(struct tg_buf *out, const struct plot *p, double v)
{
    tg_history_put_value(out, &p->h->series->v[p->series], v);
}

static void put_dates(const struct plot *p)
{
    size_t nights = p->n - p->first;
    size_t room = (size_t)((p->right - p->left) / (DATE_WIDTH * 1.6));
    size_t every = nights > room ? (nights + room - 1) / room : 1;
    for (size_t i = p->n; i-- > p->first;) {
        if ((p->n - 1 - i) % every == 0)
            put_text(p, "tick mid", x_of(p, (double)i), p->low + 18,
                     tg_sv_of(TG_DATE(p->h->night[i].date)));
    }
    put_line(p, "axis", p->left, p->low, p->right, p->low);
}

/* ---- what happened ---- */

enum { LABEL_ROWS = 3 };

/* The lowest row with room for a label at x, in which its end is noted; LABEL_ROWS: there is
 * none. */
static size_t label_row(const struct plot *p, double *end, double x)
{
    bool left = x > p->right - LABEL_WIDTH;
    for (size_t row = 0; row < LABEL_ROWS; row++)
        if (x - (left ? LABEL_WIDTH : 0) >= end[row]) {
            end[row] = x + (left ? 0 : LABEL_WIDTH);
            return row;
        }
    return LABEL_ROWS;
}

/* The change is within the shaded nights; a line ends them. */
static void put_events(const struct plot *p)
{
    double end[LABEL_ROWS] = { -INFINITY, -INFINITY, -INFINITY };
    /* The step's panel has the mark of everything that the step takes longer or shorter by. */
    const struct tg_series *x = &p->h->series->v[p->series];
    bool step = x->what == TG_SERIES_METRIC && x->metric == TG_METRIC_STEP_TIME;
    TG_EACH(const struct tg_history_event, e, p->h->event, p->h->n_events) {
        const struct tg_moved_series *m = NULL;
        for (size_t k = 0; k < e->n && !m; k++)
            m = e->v[k].series == p->series ? &e->v[k] : NULL;
        bool worse = m ? m->worse : e->cost_ns > 0;
        double from, to;
        if ((!m && (!step || e->cost_ns == 0)) || e->to < p->first)
            continue;
        from = x_of(p, (double)(e->from > p->first ? e->from : p->first));
        to = x_of(p, (double)e->to);
        put_rect(p, worse ? "event up" : "event down", from, p->top, fmax(to - from, 2),
                 p->low - p->top);
        size_t row = p->box->small ? LABEL_ROWS : label_row(p, end, to);
        if (row < LABEL_ROWS) {
            /* "+14.6 % 5eea04": the change, or what it costs of the step, and where the page
             * tells the rest. */
            TG_BUF text = { 0 };
            bool left = to > p->right - LABEL_WIDTH;
            if (m)
                tg_history_put_change(&text, p->h, m);
            else
                tg_history_put_share(&text, p->h, e);
            tg_buf_printf(&text, "  %.6s", e->id);
            put_text(p,
                     worse  ? (left ? "upt end" : "upt")
                     : left ? "downt end"
                            : "downt",
                     to + (left ? -4 : 4), p->top - 6 - 14 * (double)row, tg_buf_sv(&text));
        }
    }
}

static void put_environments(const struct plot *p)
{
    for (size_t i = p->first + 1; i < p->n; i++) {
        double x = x_of(p, (double)i - 0.5);
        if (p->h->stream[i] == p->h->stream[i - 1])
            continue;
        put_line(p, "env", x, p->top, x, p->low);
        if (!p->box->small)
            put_text(p, "tick", x + 4, p->low - 6, TG_SV("environment"));
    }
}

static void put_releases(const struct plot *p)
{
    double end = -INFINITY;
    TG_EACH(const struct tg_history_release, r, p->s->releases, p->s->n_releases) {
        double x, width = 6.5 * (double)tg_utf8_count(r->name) + 14;
        if (r->night < p->first || r->night >= p->n)
            continue;
        x = x_of(p, (double)r->night);
        tg_buf_puts(p->out, "<path class=\"release\" d=\"");
        put_point(p, 'M', x, p->low - 7);
        TG_PUT(p->out, tg_esc_xml, "l4 7h-8z\"><title>{}</title></path>\n", r->name);
        if (p->box->small || x < end || x + width > p->right + 60)
            continue;
        put_text(p, "tick", x + 6, p->low + 32, tg_utf8_prefix(r->name, 24));
        end = x + width;
    }
}

/* ---- the values ---- */

/* A line for each environment, broken where a night has no value. */
static void put_values(const struct plot *p)
{
    bool pen = false;
    tg_buf_puts(p->out, "<path class=\"line\" d=\"");
    for (size_t i = p->first; i < p->n; i++) {
        double v = p->v[i - p->first];
        if (isnan(v) || (i > p->first && p->h->stream[i] != p->h->stream[i - 1]))
            pen = false;
        if (isnan(v))
            continue;
        put_point(p, pen ? 'L' : 'M', x_of(p, (double)i), y_of(p, v));
        pen = true;
    }
    tg_buf_puts(p->out, "\"/>\n");
}

/* Small dots for all as one path of round caps; a ring for the newest. */
static void put_dots(const struct plot *p)
{
    size_t last = p->n;
    if (!p->box->small)
        tg_buf_puts(p->out, "<path class=\"dots\" d=\"");
    for (size_t i = p->first; i < p->n; i++) {
        if (isnan(p->v[i - p->first]))
            continue;
        last = i;
        if (p->box->small)
            continue;
        put_point(p, 'M', x_of(p, (double)i), y_of(p, p->v[i - p->first]));
        tg_buf_puts(p->out, "h0");
    }
    if (!p->box->small)
        tg_buf_puts(p->out, "\"/>\n");
    if (last + 1 != p->n)
        return;
    tg_buf_puts(p->out, "<circle class=\"now\"");
    put_at(p, "cx", x_of(p, (double)last));
    put_at(p, "cy", y_of(p, p->v[last - p->first]));
    tg_buf_printf(p->out, " r=\"%s\"/>\n", p->box->small ? "2.5" : "4");
}

/* What a script reads off: values in the order of the nights, and where they are. */
static void put_group(const struct plot *p)
{
    tg_buf_puts(p->out, "<g class=\"trend\"");
    put_at(p, "data-x", p->left);
    put_at(p, "data-dx", p->right - p->left);
    put_at(p, "data-top", p->top);
    put_at(p, "data-low", p->low);
    tg_buf_puts(p->out, " data-text=\"");
    for (size_t i = p->first; i < p->n; i++) {
        TG_BUF text = { 0 };
        tg_buf_puts(p->out, i > p->first ? "|" : "");
        if (isnan(p->v[i - p->first]))
            continue;
        put_value_text(&text, p, p->v[i - p->first]);
        for (size_t k = 0; k < text.n; k++) /* of a number's unit */
            text.p[k] = text.p[k] == '|' ? '/' : text.p[k];
        tg_esc_xml(p->out, tg_buf_sv(&text));
    }
    tg_buf_puts(p->out, "\">\n");
}

void tg_trend_put(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series,
                  const struct tg_trend_box *box)
{
    struct plot p = { .out = out,
                      .s = s,
                      .h = s->history,
                      .box = box,
                      .series = series,
                      .first = s->first,
                      .n = s->history->n };
    TG_ARENA *a = tg_arena_new();
    p.v = TG_NEW_N(a, double, p.n - p.first + 1);
    for (size_t i = p.first; i < p.n; i++)
        p.v[i - p.first] = tg_history_plain(p.h, i, series);
    p.left = box->x + (box->small ? 0 : 76);
    p.right = box->x + box->width - (box->small ? 42 : 36);
    p.top = box->y + (box->small ? 20 : 74);
    p.low = box->y + box->height - (box->small ? 4 : 42);
    choose_scale(&p);
    put_group(&p);
    TG_BUF name = { 0 }, value = { 0 };
    double now = p.n > p.first ? p.v[p.n - 1 - p.first] : (double)NAN;
    double width = p.box->width - (p.box->small ? 130 : 220);
    tg_label_put_one(&name, p.h->series->v[p.series].name,
                     (size_t)fmax(width / (p.box->small ? 7.3 : 9), 12));
    put_value_text(&value, &p, now);
    put_text(&p, p.box->small ? "name" : "title", p.box->x, p.box->y + (p.box->small ? 12 : 18),
             tg_buf_sv(&name));
    put_text(&p, "value end", p.box->x + p.box->width, p.box->y + (p.box->small ? 12 : 18),
             tg_buf_sv(&value));
    if (!box->small) {
        double step = tg_svg_step(p.max - p.min, 4);
        for (double at = ceil(p.min / step) * step; at <= p.max; at += step) {
            TG_BUF text = { 0 };
            put_line(&p, "grid", p.left, y_of(&p, at), p.right, y_of(&p, at));
            put_value_text(&text, &p, at);
            put_text(&p, "tick end", p.left - 8, y_of(&p, at) + 4, tg_buf_sv(&text));
        }
        put_dates(&p);
    } else {
        put_scale(&p);
    }
    double *scratch = TG_NEW_N(a, double, p.n - p.first + 1);
    for (size_t from = p.first, to; from < p.n; from = to) {
        size_t n = 0;
        for (to = from; to < p.n; to++) {
            if (to > from && (p.h->stream[to] != p.h->stream[from] || begins_level(&p, to)))
                break; /* the end of the level */
            if (!isnan(p.v[to - p.first]))
                scratch[n++] = p.v[to - p.first];
        }
        if (n < BAND_FEWEST)
            continue;
        double lo = y_of(&p, tg_quantile(scratch, n, 0.1));
        double hi = y_of(&p, tg_quantile(scratch, n, 0.9));
        double middle = y_of(&p, tg_quantile(scratch, n, 0.5));
        put_rect(&p, "band", x_of(&p, (double)from), hi,
                 x_of(&p, (double)to - 1) - x_of(&p, (double)from), fmax(lo - hi, 1));
        put_line(&p, "level", x_of(&p, (double)from), middle, x_of(&p, (double)to - 1), middle);
    }
    put_events(&p);
    put_environments(&p);
    put_releases(&p);
    put_values(&p);
    put_dots(&p);
    tg_buf_puts(out, "</g>\n");
}

/* ---- a line for a cell ---- */

void tg_trend_put_spark(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series)
{
    enum { STEP = 2, HEIGHT = 20 };
    const struct tg_history *h = s->history;
    size_t first = h->n - s->first > TG_SPARK_NIGHTS ? h->n - TG_SPARK_NIGHTS : s->first;
    double lo, hi;
    int at = 0, x = 0;
    bool pen = false;
    tg_history_span(s, first, series, &lo, &hi);
    tg_buf_printf(out, "<svg class=\"spark\" width=\"%d\" height=\"22\"><path d=\"",
                  STEP * TG_SPARK_NIGHTS);
    for (size_t i = first; i < h->n; i++) {
        double v = tg_history_plain(h, i, series);
        int y = HEIGHT / 2, here = STEP * (int)(i - first);
        if (isnan(v) || (i > first && h->stream[i] != h->stream[i - 1]))
            pen = false;
        if (isnan(v))
            continue;
        if (hi > lo)
            y = (int)(HEIGHT - (v - lo) / (hi - lo) * (HEIGHT - 2) + 0.5);
        if (!pen)
            tg_buf_printf(out, "M%d %d", here, y);
        else
            tg_buf_printf(out, "l%d%s%d", here - x, y < at ? "" : " ", y - at);
        at = y;
        x = here;
        pen = true;
    }
    tg_buf_puts(out, "\"/></svg>");
}

/* ---- a file of its own ---- */

enum {
    WIDTH = 960,
    MARGIN = 24,
    LARGE = 330,
    SMALL = 104,
    GAP = 24,
    COLUMNS = 3,
    LEGEND = 30,
    SHOWN = 13
};

/* The value of the colour at the begin of `text`, "--t-bg)", in a list "--t-bg:#fff;…}"; its length
 * in *n. */
static tg_sv colour(tg_sv list, tg_sv text, size_t *n)
{
    tg_sv name = tg_sv_cut(&text, ')'), value;
    *n = name.n + 1;
    while (list.n) {
        value = tg_sv_cut(&list, ';');
        if (tg_sv_eq(tg_sv_cut(&value, ':'), name))
            return value;
    }
    return TG_SV("inherit");
}

/* The rules with the colours themselves: librsvg and editors of drawings know no var(). */
static void put_rules(struct tg_buf *out, tg_sv rules, tg_sv list)
{
    const tg_sv open = TG_SV("var(");
    for (size_t i = 0, n; i < rules.n;) {
        if (!tg_sv_starts(tg_sv_from(rules, i), open)) {
            tg_buf_putc(out, rules.p[i++]);
            continue;
        }
        tg_buf_add(out, colour(list, tg_sv_from(rules, i + open.n), &n));
        i += open.n + n;
    }
}

void tg_trend_svg(struct tg_buf *out, const struct tg_history_suite *s)
{
    size_t shown = s->n_series < SHOWN ? s->n_series : SHOWN, small = shown ? shown - 1 : 0;
    size_t rows = (small + COLUMNS - 1) / COLUMNS;
    double y = 76, width = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / (double)COLUMNS;
    int height = (int)y + LARGE + LEGEND + (int)rows * (SMALL + GAP) + MARGIN / 2;
    tg_svg_open(out, WIDTH, (size_t)height, "");
    TG_PUT(out, tg_esc_xml, "<title>Nights of {}</title>\n<style>", s->name);
    /* history.css begins with two lines of colours: ":root{…}", and the same in the dark. */
    tg_sv rules = { tg_history_css, tg_history_css_size }, list[2];
    for (size_t i = 0; i < 2; i++) {
        list[i] = tg_sv_cut(&rules, '\n');
        while (list[i].n && !tg_sv_starts(list[i], TG_SV("--t-")))
            list[i] = tg_sv_from(list[i], 1);
        while (list[i].n && list[i].p[list[i].n - 1] == '}')
            list[i].n--;
    }
    put_rules(out, rules, list[0]);
    tg_buf_puts(out, "@media (prefers-color-scheme:dark){");
    put_rules(out, rules, list[1]);
    tg_buf_printf(out,
                  "}\n</style>\n<rect class=\"paper\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" "
                  "rx=\"8\"/>\n"
                  "<text class=\"title\" x=\"%d\" y=\"36\">Nights of ",
                  WIDTH - 1, height - 1, MARGIN);
    TG_PUT(out, tg_esc_xml, "{}</text>\n", tg_utf8_prefix(s->name, 80));
    const struct tg_history *h = s->history;
    tg_buf_printf(out, "<text class=\"tick\" x=\"%d\" y=\"56\">%zu nights", MARGIN,
                  h->n - s->first);
    if (h->n > s->first)
        tg_buf_printf(out, ", %s to %s, the newest at %.12s", TG_DATE(h->night[s->first].date),
                      TG_DATE(h->night[h->n - 1].date), h->night[h->n - 1].commit.p);
    tg_buf_puts(out, "</text>\n");
    if (s->n_series)
        tg_trend_put(out, s, s->series[0],
                     &(struct tg_trend_box){ MARGIN, y, WIDTH - 2 * MARGIN, LARGE, false });
    static const struct {
        const char *mark, *text;
        int width;
    } item[] = {
        { "<rect class=\"band\" y=\"-9\" width=\"16\" height=\"10\"/>", "80 % of a level's nights",
          190 },
        { "<rect class=\"event up\" y=\"-10\" width=\"8\" height=\"12\"/>", "slower, within", 130 },
        { "<rect class=\"event down\" y=\"-10\" width=\"8\" height=\"12\"/>", "faster, within",
          130 },
        { "<path class=\"env\" d=\"M4-11V3\"/>", "environment", 120 },
        { "<path class=\"release\" d=\"M5-7l4 7h-8z\"/>", "release", 90 },
        { "<circle class=\"now\" cx=\"5\" cy=\"-4\" r=\"4\"/>", "newest night", 110 },
    };
    int x = MARGIN;
    for (size_t i = 0; i < sizeof item / sizeof *item; i++) {
        tg_buf_printf(
            out,
            "<g transform=\"translate(%d %d)\">%s<text class=\"tick\" x=\"22\">%s</text></g>\n", x,
            (int)y + LARGE + 14, item[i].mark, item[i].text);
        x += item[i].width;
    }
    y += LARGE + LEGEND;
    for (size_t i = 0; i < small; i++)
        tg_trend_put(out, s, s->series[i + 1],
                     &(struct tg_trend_box){ MARGIN + (double)(i % COLUMNS) * (width + GAP),
                                             y + (double)(i / COLUMNS) * (SMALL + GAP), width,
                                             SMALL, true });
    tg_buf_puts(out, "</svg>\n");
}
