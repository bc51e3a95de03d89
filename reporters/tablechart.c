#include "reporters/tablechart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"

/* All in px. A column of labels, the plot, a column of totals. */
enum {
    WIDTH = 960,
    MARGIN = 24,
    HEAD = 88,
    LEGEND = 20, /* of it; not drawn for one colour */
    FOOT = 48,
    ROW = 30,
    BAR = 18,
    PLOT_X = 230,
    PLOT_W = 590,
    TOTAL_X = WIDTH - MARGIN,
    LABEL_COLUMNS = 32,
    LINE_X = 72, /* plot of a series */
    LINE_W = WIDTH - MARGIN - LINE_X,
    LINE_H = 260,
    MAX_ROWS = 64,
    MAX_NAMES = 20, /* of modules and functions */
    MAX_PARTS = 4,
    MAX_SERIES = 5
};

const struct tg_tablechart tg_tablecharts[] = {
    { "temporal", "temporal" },
    { "idle", "idle" },
    { "overlap", "overlap" },
    { "kernel-types", "kernel-types" },
    { "bandwidth-series", "bandwidth" },
    { "queue-series", "queue" },
    { "skew", "skew" },
    { "modules", "modules" },
    { "sources", "sources" },
    { NULL, NULL },
};

/*
 * Six colours that stay apart under the common colour vision deficiencies (after Okabe and Ito),
 * brighter on dark; "nothing happens" is grey. Neighbours in a bar also have a gap between them.
 */
static const char style[] =
    "  <style>\n"
    "    text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans','DejaVu "
    "Sans',sans-serif;font-size:12px;fill:#1f2328}\n"
    "    .bg{fill:#fff;stroke:#d1d9e0}.title{font-size:17px;font-weight:600}\n"
    "    .sub,.tick{fill:#59636e}.tick{font-size:11px}.num{font-variant-numeric:tabular-nums}\n"
    "    .end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#e6eaef}.zero{stroke:#818b98}\n"
    "    .c0{fill:#0a66c2}.c1{fill:#e08214}.c2{fill:#c9d1d9}.c3{fill:#1b7f5c}.c4{fill:#b3428f}"
    ".c5{fill:#7a6a00}\n"
    "    .l{fill:none;stroke-width:1.4}.l0{stroke:#0a66c2}.l1{stroke:#e08214}.l2{stroke:#6e7781}"
    ".l3{stroke:#1b7f5c}.l4{stroke:#b3428f}.l5{stroke:#7a6a00}\n"
    "    @media (prefers-color-scheme:dark){\n"
    "      text{fill:#f0f6fc}.bg{fill:#0d1117;stroke:#3d444d}.sub,.tick{fill:#9198a1}\n"
    "      .grid{stroke:#262c36}.zero{stroke:#656c76}.c0{fill:#58a6ff}.c1{fill:#f0a04b}"
    ".c2{fill:#3d444d}.c3{fill:#3fb68b}.c4{fill:#e07fc0}.c5{fill:#d8c84a}\n"
    "      .l0{stroke:#58a6ff}.l1{stroke:#f0a04b}.l2{stroke:#9198a1}.l3{stroke:#3fb68b}"
    ".l4{stroke:#e07fc0}.l5{stroke:#d8c84a}\n"
    "    }\n"
    "  </style>\n";

/* ---- cells ---- */

static size_t column(const struct tg_table *f, const char *name)
{
    for (size_t k = 0; k < f->n_columns; k++)
        if (strcmp(f->columns[k].name, name) == 0)
            return k;
    return f->n_columns;
}

/* Times in us, whatever the column's type; NaN: not known, or there is no such column. */
static double number(const struct tg_table *f, size_t row, size_t col)
{
    const struct tg_table_cell *c;
    if (col >= f->n_columns)
        return NAN;
    c = tg_table_at(f, row, col);
    if (!c->known || f->columns[col].type == TG_TABLE_TEXT)
        return NAN;
    if (f->columns[col].type == TG_TABLE_REAL)
        return c->is.v;
    return f->columns[col].type == TG_TABLE_US ? (double)c->is.i / 1000 : (double)c->is.i;
}

static tg_sv text(const struct tg_table *f, size_t row, size_t col)
{
    const struct tg_table_cell *c = col < f->n_columns ? tg_table_at(f, row, col) : NULL;
    return c && c->known && f->columns[col].type == TG_TABLE_TEXT ? c->is.text : TG_SV("");
}

/* As in text reports, but with the sign for micro. */
static void put_us(struct tg_buf *out, double us)
{
    tg_dec_put_human_ns(out, us * 1000);
    if (tg_sv_ends(tg_buf_sv(out), TG_SV(" us"))) {
        out->n -= 2;
        tg_buf_puts(out, "\xc2\xb5s");
    }
}

/* ---- stacked bars ---- */

struct bar {
    char label[96];
    double part[MAX_PARTS];
};
struct stack {
    const char *title, *sub, *parts[MAX_PARTS];
    size_t n_parts, n, omitted;
    struct bar bars[MAX_ROWS];
};

static struct bar *add_bar(struct stack *s)
{
    if (s->n == MAX_ROWS) {
        s->omitted++;
        return NULL;
    }
    s->bars[s->n] = (struct bar){ 0 };
    return &s->bars[s->n++];
}

/* Does a rank have several devices? If not, their numbers are not needed. */
static bool devices_differ(const struct tg_table *f)
{
    size_t rank = column(f, "rank"), device = column(f, "device");
    for (size_t r = 1; r < f->n_rows; r++)
        if (number(f, r, rank) == number(f, r - 1, rank) && number(f, r, device) >= 0 &&
            number(f, r - 1, device) >= 0 && number(f, r, device) != number(f, r - 1, device))
            return true;
    return false;
}

/* "rank 0, device 1, stream 7", as far as the row has them. */
static void label_of(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    static const char *const keys[] = { "rank", "device", "stream" };
    size_t at = 0;
    to[0] = '\0';
    for (size_t k = 0; k < 3 && at < size; k++) {
        double v = number(f, row, column(f, keys[k]));
        if (v == v && (devices || k != 1))
            at += (size_t)snprintf(to + at, size - at, "%s%s %.0f", at ? ", " : "", keys[k], v);
    }
}

/* Rows that hold all parts side by side. */
static void stack_columns(struct stack *s, const struct tg_table *f, const char *const *columns)
{
    bool devices = devices_differ(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        double part[MAX_PARTS];
        bool known = true;
        struct bar *b;
        for (size_t k = 0; k < s->n_parts; k++) {
            part[k] = number(f, r, column(f, columns[k]));
            known &= part[k] == part[k];
        }
        if (!known || !(b = add_bar(s)))
            continue;
        memcpy(b->part, part, sizeof part);
        label_of(b->label, sizeof b->label, f, r, devices);
    }
}

/* One row per cause: consecutive rows of one stream belong together. */
static void stack_causes(struct stack *s, const struct tg_table *f)
{
    static const char *const causes[] = { "host_wait", "kernel_wait", "other" };
    bool devices = devices_differ(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        double us = number(f, r, column(f, "idle_time"));
        struct bar *b = s->n ? &s->bars[s->n - 1] : NULL;
        label_of(label, sizeof label, f, r, devices);
        if (us != us)
            continue;
        if (!b || strcmp(b->label, label) != 0) {
            b = add_bar(s);
            if (!b)
                continue;
            memcpy(b->label, label, sizeof label);
        }
        for (int c = 0; c < 3; c++)
            if (tg_sv_eq(text(f, r, column(f, "idle_category")), tg_sv_of(causes[c])))
                b->part[c] += us > 0 ? us : 0;
    }
}

/*
 * The classes by the policy's names, "A overlapping B" as "a + b": three of them fit beside a bar.
 */
static void set_label(char *to, size_t size, tg_sv name)
{
    static const struct {
        tg_sv word;
        const char *shown;
    } words[] = { { { " overlapping ", 13 }, " + " },
                  { { "COMPUTATION", 11 }, "compute" },
                  { { "COMMUNICATION", 13 }, "comm" },
                  { { "MEMORY", 6 }, "memory" },
                  { { "OTHER", 5 }, "other" } };
    size_t n = 0;
    while (name.n && n + 8 < size) {
        size_t k = 0;
        while (k < 5 && !tg_sv_starts(name, words[k].word))
            k++;
        if (k < 5)
            n += (size_t)snprintf(to + n, size - n, "%s", words[k].shown);
        else
            to[n++] = *name.p >= 'A' && *name.p <= 'Z' ? (char)(*name.p - 'A' + 'a') : *name.p;
        k = k < 5 ? words[k].word.n : 1;
        name = (tg_sv){ name.p + k, name.n - k };
    }
    to[n] = '\0';
}

static void stack_types(struct stack *s, const struct tg_table *f)
{
    for (size_t r = 0; r < f->n_rows; r++) {
        tg_sv name = text(f, r, column(f, "kernel_type"));
        struct bar *b = add_bar(s);
        if (!b)
            continue;
        set_label(b->label, sizeof b->label, name);
        b->part[0] = number(f, r, column(f, "sum"));
    }
}

static bool any_value(const struct tg_table *f, const char *name)
{
    for (size_t r = 0; r < f->n_rows; r++)
        if (number(f, r, column(f, name)) > 0)
            return true;
    return false;
}

/* Beginning and end of a long name; a bar shows less of it, its title the whole name. */
static void name_label(char *to, size_t size, tg_sv name)
{
    enum { COLUMNS = 72 };
    struct tg_buf visible = { 0 }, label = { 0 };
    tg_utf8_visible(&visible, name);
    tg_shorten(&label, tg_buf_sv(&visible), COLUMNS);
    (void)snprintf(to, size, "%s", label.p ? label.p : "");
    tg_buf_release(&visible);
    tg_buf_release(&label);
}

/* Puts a bar in its place among longer ones; the shortest one drops out after MAX_NAMES. */
static void keep_largest(struct stack *s, tg_sv name, double v)
{
    size_t at = s->n;
    if (s->n == MAX_NAMES)
        s->omitted++;
    else
        s->n++;
    while (at > 0 && v > s->bars[at - 1].part[0]) {
        if (at < MAX_NAMES)
            s->bars[at] = s->bars[at - 1];
        at--;
    }
    if (at == MAX_NAMES)
        return;
    s->bars[at] = (struct bar){ .part = { v } };
    name_label(s->bars[at].label, sizeof s->bars[at].label, name);
}

/*
 * The names of the first rank with most time of their own (by inclusive time, callers of everything
 * would fill the chart): on the device, or on the host if nothing ran on the device.
 */
static void stack_names(struct stack *s, const struct tg_table *f, bool modules)
{
    static const tg_sv prefix = { "nn.Module: ", 11 };
    bool device = any_value(f, "device_time(us)");
    size_t own = column(f, device ? "device_self(us)" : "host_self(us)"), rank = column(f, "rank");
    s->title = modules  ? device ? "Device time by nn.Module" : "Host time by nn.Module"
               : device ? "Device time by Python function"
                        : "Host time by Python function";
    s->sub = device    ? "time of the work launched there and not in a nested one; the first rank's"
             : modules ? "without nested modules; the first rank's"
                       : "without nested functions; the first rank's";
    for (size_t r = 0; r < f->n_rows; r++) {
        double v = number(f, r, own);
        tg_sv name = text(f, r, column(f, "name"));
        if (!(v > 0) || number(f, r, rank) != number(f, 0, rank))
            continue;
        if (tg_sv_starts(name, prefix))
            name = (tg_sv){ name.p + prefix.n, name.n - prefix.n };
        keep_largest(s, name, v);
    }
}

static bool fill(struct stack *s, const struct tg_table *f)
{
    static const char *const temporal[] = { "compute_time(us)", "non_compute_time(us)",
                                            "idle_time(us)" };
    static const char *const overlap[] = { "overlapped_time(us)", "exposed_comm_time(us)" };
    static const char *const skew[] = { "transfer_time(us)", "wait_time(us)" };
    *s = (struct stack){ 0 };
    if (strcmp(f->name, "temporal") == 0) {
        *s = (struct stack){ .title = "Where device time goes",
                             .sub = "from the first start to the last end of device work",
                             .parts = { "compute", "other work only", "idle" },
                             .n_parts = 3 };
        stack_columns(s, f, temporal);
    } else if (strcmp(f->name, "overlap") == 0) {
        *s = (struct stack){ .title = "Communication hidden behind computation",
                             .sub = "time in which communication runs",
                             .parts = { "hidden", "exposed" },
                             .n_parts = 2 };
        stack_columns(s, f, overlap);
    } else if (strcmp(f->name, "skew") == 0) {
        *s = (struct stack){ .title = "Who waits in collectives",
                             .sub = "time in collectives; the rank that waits least arrives last",
                             .parts = { "transfer", "waits for other ranks" },
                             .n_parts = 2 };
        stack_columns(s, f, skew);
    } else if (strcmp(f->name, "idle") == 0) {
        *s =
            (struct stack){ .title = "Why streams were empty",
                            .sub = "gaps between the work of one stream; other streams may be busy",
                            .parts = { "waits for the host", "between kernels", "other" },
                            .n_parts = 3 };
        stack_causes(s, f);
    } else if (strcmp(f->name, "kernel-types") == 0) {
        *s = (struct stack){ .title = "Device time by class of work",
                             .sub = "time in which exactly these classes run, all ranks",
                             .n_parts = 1 };
        stack_types(s, f);
    } else if (strcmp(f->name, "modules") == 0 || strcmp(f->name, "sources") == 0) {
        *s = (struct stack){ .n_parts = 1 };
        stack_names(s, f, strcmp(f->name, "modules") == 0);
    }
    return s->n > 0;
}

static double total_of(const struct stack *s, const struct bar *b)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_parts; k++)
        sum += b->part[k] > 0 ? b->part[k] : 0;
    return sum;
}

static void open_svg(struct tg_buf *out, int height, const char *title, const char *sub)
{
    tg_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t\">\n  <title "
                  "id=\"t\">%s: %s</title>\n",
                  WIDTH, height, WIDTH, height, title, sub);
    tg_buf_puts(out, style);
    tg_buf_printf(out,
                  "  <rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n"
                  "  <text class=\"title\" x=\"%d\" y=\"34\">%s</text>\n"
                  "  <text class=\"sub\" x=\"%d\" y=\"53\">%s</text>\n",
                  WIDTH - 1, height - 1, MARGIN, title, MARGIN, sub);
}

/* A line in the grey of "idle" would be hard to see. */
static size_t line_colour(size_t i)
{
    return i < 2 ? i : i + 1;
}

static void put_legend(struct tg_buf *out, const char *const *names, size_t n, bool lines)
{
    int x = MARGIN;
    for (size_t k = 0; k < n; k++) {
        tg_buf_printf(out,
                      "  <rect class=\"c%zu\" x=\"%d\" y=\"65\" width=\"11\" height=\"11\" "
                      "rx=\"2\"/><text x=\"%d\" y=\"75\">",
                      lines ? line_colour(k) : k, x, x + 16);
        tg_esc_xml(out, tg_sv_of(names[k]));
        tg_buf_puts(out, "</text>\n");
        x += 16 + (int)(7 * tg_utf8_count(tg_sv_of(names[k]))) + 22;
    }
}

static void put_bar(struct tg_buf *out, const struct stack *s, const struct bar *b, int y,
                    double widest)
{
    struct tg_buf label = { 0 };
    double x = PLOT_X, total = total_of(s, b);
    tg_shorten(&label, tg_sv_of(b->label), LABEL_COLUMNS);
    tg_buf_printf(out, "  <text x=\"%d\" y=\"%d\">", MARGIN, y + 14);
    tg_esc_xml(out, tg_buf_sv(&label));
    tg_buf_puts(out, "</text>\n");
    for (size_t k = 0; k < s->n_parts; k++) {
        double w = PLOT_W * (b->part[k] > 0 ? b->part[k] : 0) / widest;
        if (w <= 0)
            continue;
        tg_buf_printf(out,
                      "  <rect class=\"c%d\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                      "height=\"%d\"><title>",
                      (int)k, x, y, w > 1.5 ? w - 0.8 : w, BAR);
        tg_esc_xml(out, tg_sv_of(b->label));
        tg_buf_printf(out, "%s%s: ", s->parts[k] ? ", " : "", s->parts[k] ? s->parts[k] : "");
        put_us(out, b->part[k]);
        if (s->n_parts > 1)
            tg_buf_printf(out, " (%.1f %%)", 100 * b->part[k] / total);
        tg_buf_puts(out, "</title></rect>\n");
        x += w;
    }
    tg_buf_printf(out, "  <text class=\"num end\" x=\"%d\" y=\"%d\">", TOTAL_X, y + 14);
    put_us(out, total);
    tg_buf_puts(out, "</text>\n");
    tg_buf_release(&label);
}

/* 1, 2 or 5 times a power of ten, so that about five steps span `range`. */
static double nice_step(double range)
{
    double raw = range / 5, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void put_time_ticks(struct tg_buf *out, double us, int x, int w, int top, int bottom)
{
    double step = nice_step(us);
    for (double t = 0; t <= us * 1.0001; t += step) {
        double at = x + w * t / us;
        tg_buf_printf(out,
                      "  <line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                      "<text class=\"tick mid\" x=\"%.1f\" y=\"%d\">",
                      at, top, at, bottom, at, bottom + 17);
        if (t > 0)
            put_us(out, t);
        else
            tg_buf_puts(out, "0");
        tg_buf_puts(out, "</text>\n");
    }
}

static bool draw_stack(struct tg_buf *out, const struct tg_table *f)
{
    struct stack *s = tg_xmalloc(sizeof *s);
    double widest = 0;
    bool any = fill(s, f);
    int height, bottom, top = s->n_parts > 1 ? HEAD : HEAD - LEGEND;
    for (size_t i = 0; i < s->n; i++)
        widest = fmax(widest, total_of(s, &s->bars[i]));
    if (!any || widest <= 0) {
        free(s);
        return false;
    }
    bottom = top + (int)s->n * ROW;
    height = bottom + FOOT + (s->omitted ? 18 : 0);
    open_svg(out, height, s->title, s->sub);
    if (s->n_parts > 1)
        put_legend(out, s->parts, s->n_parts, false);
    put_time_ticks(out, widest, PLOT_X, PLOT_W, top, bottom);
    for (size_t i = 0; i < s->n; i++)
        put_bar(out, s, &s->bars[i], top + 6 + (int)i * ROW, widest);
    if (s->omitted)
        tg_buf_printf(out, "  <text class=\"sub\" x=\"%d\" y=\"%d\">%zu more in the table</text>\n",
                      MARGIN, height - 14, s->omitted);
    tg_buf_puts(out, "</svg>\n");
    free(s);
    return true;
}

/* ---- steps over time ---- */

/* One line: the largest value in each pixel column, held until the next change. */
struct line {
    char label[96];
    double top[LINE_W + 1]; /* NaN: no change there */
    double last[LINE_W + 1];
};
struct lines {
    const char *title, *sub, *unit;
    struct line *v;
    size_t n, omitted;
    double from, to, most;
};

static void line_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    tg_sv name = text(f, row, column(f, "name"));
    size_t n;
    label_of(to, size, f, row, devices);
    n = strlen(to);
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
    if (a->area != b->area)
        return a->area > b->area ? -1 : 1;
    return strcmp(a->label, b->label);
}

static int by_label(const void *pa, const void *pb)
{
    return strcmp(((const struct line *)pa)->label, ((const struct line *)pb)->label);
}

/* Rows of one series are adjacent, in the order of time. */
static void choose_lines(struct lines *l, const struct tg_table *f, size_t value)
{
    struct series *all = NULL;
    size_t ts = column(f, "ts"), n = 0, cap = 0;
    bool devices = devices_differ(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        line_label(label, sizeof label, f, r, devices);
        if (!n || strcmp(all[n - 1].label, label) != 0) {
            all = tg_grow(all, &cap, n + 1, sizeof *all);
            all[n] = (struct series){ .at = number(f, r, ts) };
            memcpy(all[n++].label, label, sizeof label);
        }
        all[n - 1].area += fmax(all[n - 1].value, 0) * (number(f, r, ts) - all[n - 1].at);
        all[n - 1].at = number(f, r, ts);
        all[n - 1].value = number(f, r, value);
    }
    if (n)
        qsort(all, n, sizeof *all, by_area);
    l->n = n < MAX_SERIES ? n : MAX_SERIES;
    l->omitted = n - l->n;
    for (size_t i = 0; i < l->n; i++) {
        memcpy(l->v[i].label, all[i].label, sizeof all[i].label);
        for (int x = 0; x <= LINE_W; x++)
            l->v[i].top[x] = l->v[i].last[x] = NAN;
    }
    qsort(l->v, l->n, sizeof *l->v, by_label);
    free(all);
}

static struct line *line_of(struct lines *l, const char *label)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].label, label) == 0)
            return &l->v[i];
    return NULL;
}

static void fill_lines(struct lines *l, const struct tg_table *f, size_t value)
{
    size_t ts = column(f, "ts");
    bool devices = devices_differ(f);
    l->from = INFINITY;
    l->to = -INFINITY;
    for (size_t r = 0; r < f->n_rows; r++) {
        double t = number(f, r, ts);
        l->from = fmin(l->from, t);
        l->to = fmax(l->to, t);
    }
    for (size_t r = 0; r < f->n_rows && l->to > l->from; r++) {
        char label[96];
        double v = number(f, r, value);
        int x = (int)((number(f, r, ts) - l->from) / (l->to - l->from) * LINE_W);
        struct line *line;
        line_label(label, sizeof label, f, r, devices);
        line = line_of(l, label);
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
    double now = 0, y0 = HEAD + LINE_H, scale = LINE_H / high;
    tg_buf_printf(out, "  <path class=\"l l%zu\" d=\"M%d %.1f", line_colour(i), LINE_X, y0);
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
    tg_buf_puts(out, "\"><title>");
    tg_esc_xml(out, tg_sv_of(line->label));
    tg_buf_puts(out, "</title></path>\n");
}

static void put_value_ticks(struct tg_buf *out, double high, double step, const char *unit)
{
    for (double v = 0; v <= high * 1.0001; v += step) {
        double y = HEAD + LINE_H - LINE_H * v / high;
        tg_buf_printf(out,
                      "  <line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                      "class=\"tick end\" x=\"%d\" y=\"%.1f\">",
                      v > 0 ? "grid" : "zero", LINE_X, y, LINE_X + LINE_W, y, LINE_X - 7, y + 4);
        tg_dec_put_fixed(out, v, step < 1 ? 2 : 0);
        tg_buf_puts(out, "</text>\n");
    }
    tg_buf_printf(out, "  <text class=\"tick end\" x=\"%d\" y=\"75\">%s</text>\n", TOTAL_X, unit);
}

static bool draw_lines(struct tg_buf *out, const struct tg_table *f)
{
    bool queue = strcmp(f->name, "queue-series") == 0;
    struct lines l = { .title = queue ? "Launched work that waits" : "Memory traffic",
                       .sub = queue ? "pieces of work between launch and start, by stream; the "
                                      "largest in each pixel column"
                                    : "copies in flight, by kind; the largest in each pixel column",
                       .unit = queue ? "waiting pieces of work" : "GB/s",
                       .v = tg_xrealloc(NULL, MAX_SERIES, sizeof *l.v) };
    const char *names[MAX_SERIES] = { 0 };
    double step, high;
    choose_lines(&l, f, column(f, queue ? "queue_length" : "memory_bw_gbps"));
    fill_lines(&l, f, column(f, queue ? "queue_length" : "memory_bw_gbps"));
    if (!l.n || l.most <= 0) {
        free(l.v);
        return false;
    }
    step = nice_step(l.most);
    if (queue && step < 1)
        step = 1;
    high = step * ceil(l.most / step);
    open_svg(out, HEAD + LINE_H + FOOT, l.title, l.sub);
    for (size_t i = 0; i < l.n; i++)
        names[i] = l.v[i].label;
    put_legend(out, names, l.n, true);
    put_value_ticks(out, high, step, l.unit);
    put_time_ticks(out, l.to - l.from, LINE_X, LINE_W, HEAD, HEAD + LINE_H);
    for (size_t i = 0; i < l.n; i++)
        put_line(out, &l, i, high);
    if (l.omitted)
        tg_buf_printf(
            out,
            "  <text class=\"sub end\" x=\"%d\" y=\"53\">the %d series with most area</text>\n",
            TOTAL_X, MAX_SERIES);
    tg_buf_puts(out, "</svg>\n");
    free(l.v);
    return true;
}

bool tg_tablechart_svg(struct tg_buf *out, const struct tg_table *f)
{
    if (!f->n_rows)
        return false;
    if (strcmp(f->name, "queue-series") == 0 || strcmp(f->name, "bandwidth-series") == 0)
        return draw_lines(out, f);
    return draw_stack(out, f);
}
