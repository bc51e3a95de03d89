/* Tables that are series as steps over time: bandwidth and queues. */
#include <math.h>
#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "reporters/escape.h"
#include "reporters/svg_ground.h"
#include "reporters/tablechart.h"

enum { LINE_X = 72, LINE_W = TG_TABLECHART_RIGHT - LINE_X, LINE_H = 260, MAX_SERIES = 5 };

/* One line: the largest value in each pixel column, held until the next change. */
struct line {
    char label[96];
    double top[LINE_W + 1]; /* NaN: no change there */
    double last[LINE_W + 1];
};
struct lines {
    const char *title, *sub, *unit, *column;
    struct line *v;
    size_t n, omitted;
    double from, to, most;
};

static void line_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    tg_sv name = tg_tablechart_text(f, row, "name");
    tg_tablechart_label(to, size, f, row, devices);
    size_t n = strlen(to);
    if (name.n)
        (void)snprintf(to + n, size - n, "%s%.*s", n ? ", " : "", TG_SV_ARG(name));
}

/* A series and its area: decides what is drawn if there are too many. */
struct series {
    char label[96];
    double area, at, value;
};

static int by_area(const void *pa, const void *pb)
{
    const struct series *a = pa, *b = pb;
    int c = TG_CMP(b->area, a->area);
    return c ? c : strcmp(a->label, b->label);
}

static int by_label(const void *pa, const void *pb)
{
    return strcmp(((const struct line *)pa)->label, ((const struct line *)pb)->label);
}

/* Rows of one series are adjacent, in the order of time. */
static void choose_lines(struct lines *l, const struct tg_table *f)
{
    TG_FREE struct series *all = NULL;
    size_t n = 0, cap = 0;
    bool devices = tg_tablechart_has_devices(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        line_label(label, sizeof label, f, r, devices);
        if (!n || strcmp(all[n - 1].label, label) != 0) {
            all = tg_grow(all, &cap, n + 1, sizeof *all);
            all[n] = (struct series){ .at = tg_tablechart_number(f, r, "ts") };
            memcpy(all[n++].label, label, sizeof label);
        }
        all[n - 1].area +=
            fmax(all[n - 1].value, 0) * (tg_tablechart_number(f, r, "ts") - all[n - 1].at);
        all[n - 1].at = tg_tablechart_number(f, r, "ts");
        all[n - 1].value = tg_tablechart_number(f, r, l->column);
    }
    TG_SORT(all, n, by_area);
    l->n = n < MAX_SERIES ? n : MAX_SERIES;
    l->omitted = n - l->n;
    for (size_t i = 0; i < l->n; i++) {
        memcpy(l->v[i].label, all[i].label, sizeof all[i].label);
        for (int x = 0; x <= LINE_W; x++)
            l->v[i].top[x] = l->v[i].last[x] = NAN;
    }
    TG_SORT(l->v, l->n, by_label);
}

static struct line *line_of(struct lines *l, const char *label)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].label, label) == 0)
            return &l->v[i];
    return NULL;
}

static void fill_lines(struct lines *l, const struct tg_table *f)
{
    bool devices = tg_tablechart_has_devices(f);
    l->from = INFINITY;
    l->to = -INFINITY;
    for (size_t r = 0; r < f->n_rows; r++) {
        double t = tg_tablechart_number(f, r, "ts");
        l->from = fmin(l->from, t);
        l->to = fmax(l->to, t);
    }
    for (size_t r = 0; r < f->n_rows && l->to > l->from; r++) {
        char label[96];
        double v = tg_tablechart_number(f, r, l->column);
        int x = (int)((tg_tablechart_number(f, r, "ts") - l->from) / (l->to - l->from) * LINE_W);
        line_label(label, sizeof label, f, r, devices);
        struct line *line = line_of(l, label);
        if (!line || v != v)
            continue;
        if (!(line->top[x] >= v))
            line->top[x] = v;
        line->last[x] = v;
        l->most = fmax(l->most, v);
    }
}

static void put_line(struct tg_buf *out, const struct lines *l, size_t i, double high)
{
    const struct line *line = &l->v[i];
    double now = 0, y0 = TG_TABLECHART_HEAD + LINE_H, scale = LINE_H / high;
    tg_buf_printf(out, "  <path class=\"l l%zu\" d=\"M%d %.1f", tg_tablechart_colour(i), LINE_X,
                  y0);
    for (int x = 0; x <= LINE_W; x++) {
        if (line->top[x] != line->top[x])
            continue;
        tg_buf_printf(out, "H%d", LINE_X + x);
        if (line->top[x] != now)
            tg_buf_printf(out, "V%.1f", y0 - scale * fmax(line->top[x], 0));
        if (line->last[x] != line->top[x])
            tg_buf_printf(out, "V%.1f", y0 - scale * fmax(line->last[x], 0));
        now = line->last[x];
    }
    TG_PUT(out, tg_esc_xml, "\"><title>{}</title></path>\n", tg_sv_of(line->label));
}

bool tg_tablechart_lines(struct tg_buf *out, const struct tg_table *f)
{
    bool queue = strcmp(f->name, "queue-series") == 0;
    struct lines l = {
        .title = queue ? "Launched work that waits" : "Memory traffic",
        .sub = queue ? "pieces of work between launch and start, by stream; the "
                       "largest in each pixel column"
                     : "copies in flight, by kind; the largest in each pixel column",
        .unit = queue ? "waiting pieces of work" : "GB/s",
        .column = queue ? "queue_length" : "memory_bw_gbps",
    };
    TG_FREE struct line *v = l.v = tg_xrealloc(NULL, MAX_SERIES, sizeof *v);
    const char *names[MAX_SERIES] = { 0 };
    choose_lines(&l, f);
    fill_lines(&l, f);
    if (!l.n || l.most <= 0)
        return false;
    double step = tg_svg_step(l.most, 5);
    if (queue && step < 1)
        step = 1;
    double high = step * ceil(l.most / step);
    tg_tablechart_open(out, TG_TABLECHART_HEAD + LINE_H + TG_TABLECHART_FOOT, l.title, l.sub);
    for (size_t i = 0; i < l.n; i++)
        names[i] = l.v[i].label;
    tg_tablechart_legend(out, names, l.n, TG_TABLECHART_LINES);
    for (double k = 0; k <= high * 1.0001; k += step) {
        double y = TG_TABLECHART_HEAD + LINE_H - LINE_H * k / high;
        tg_buf_printf(out,
                      "  <line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                      "class=\"tick end\" x=\"%d\" y=\"%.1f\">%.*f</text>\n",
                      k > 0 ? "grid" : "zero", LINE_X, y, LINE_X + LINE_W, y, LINE_X - 7, y + 4,
                      step < 1 ? 2 : 0, k);
    }
    tg_buf_printf(out, "  <text class=\"tick end\" x=\"%d\" y=\"75\">%s</text>\n",
                  TG_TABLECHART_RIGHT, l.unit);
    tg_tablechart_time_ticks(out, l.to - l.from, LINE_X, LINE_W, TG_TABLECHART_HEAD,
                             TG_TABLECHART_HEAD + LINE_H);
    for (size_t i = 0; i < l.n; i++)
        put_line(out, &l, i, high);
    if (l.omitted)
        tg_buf_printf(
            out,
            "  <text class=\"sub end\" x=\"%d\" y=\"53\">the %d series with most area</text>\n",
            TG_TABLECHART_RIGHT, MAX_SERIES);
    tg_buf_puts(out, "</svg>\n");
    return true;
}
