/*
 * Tables as charts. Bars: a row of parts side by side, or a name. Lines: series as steps over time,
 * bandwidth and queues.
 */
#include "reporters/table.h"

#include <math.h>
#include <stdio.h>

#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/svg.h"

enum { /* px */
       WIDTH = 960,
       MARGIN = 24,
       HEAD = 88,
       FOOT = 48,
       RIGHT = WIDTH - MARGIN
};

/* Six colours that stay apart under the common colour vision deficiencies (after Okabe and Ito),
 * brighter on dark; "nothing happens" is grey. Neighbours in a bar also have a gap between them. */
static const char style[] =
    "  <style>\n" TG_SVG_LIGHT
    "    .sub,.tick{fill:#59636e}.tick{font-size:11px}.num{font-variant-numeric:tabular-nums}\n"
    "    .end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#e6eaef}.zero{stroke:#818b98}\n"
    "    .c0{fill:#0a66c2}.c1{fill:#e08214}.c2{fill:#c9d1d9}.c3{fill:#1b7f5c}.c4{fill:#b3428f}"
    ".c5{fill:#7a6a00}\n"
    "    .l{fill:none;stroke-width:1.4}.l0{stroke:#0a66c2}.l1{stroke:#e08214}.l2{stroke:#6e7781}"
    ".l3{stroke:#1b7f5c}.l4{stroke:#b3428f}.l5{stroke:#7a6a00}\n" TG_SVG_DARK
    ".sub,.tick{fill:#9198a1}\n"
    "      .grid{stroke:#262c36}.zero{stroke:#656c76}.c0{fill:#58a6ff}.c1{fill:#f0a04b}"
    ".c2{fill:#3d444d}.c3{fill:#3fb68b}.c4{fill:#e07fc0}.c5{fill:#d8c84a}\n"
    "      .l0{stroke:#58a6ff}.l1{stroke:#f0a04b}.l2{stroke:#9198a1}.l3{stroke:#3fb68b}"
    ".l4{stroke:#e07fc0}.l5{stroke:#d8c84a}\n"
    "    }\n"
    "  </style>\n";

/* ---- cells ---- */

/* Its place; n_columns: there is none. */
static size_t column_of(const struct tg_table *f, const char *name)
{
    for (size_t k = 0; k < f->n_columns; k++)
        if (strcmp(f->columns[k].name, name) == 0)
            return k;
    return f->n_columns;
}

/* Times in us, whatever the column's type; NaN: not known, or there is no such column. */
static double number(const struct tg_table *f, size_t row, const char *column)
{
    size_t col = column_of(f, column);
    bool there = col < f->n_columns && f->columns[col].type != TG_TABLE_TEXT;
    return there && tg_table_at(f, row, col)->known ? tg_table_number(f, row, col) : (double)NAN;
}

static tg_sv text_of(const struct tg_table *f, size_t row, const char *column)
{
    size_t col = column_of(f, column);
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

/* Does a rank have several devices? If not, their numbers are not needed. */
static bool has_devices(const struct tg_table *f)
{
    for (size_t r = 1; r < f->n_rows; r++)
        if (number(f, r, "rank") == number(f, r - 1, "rank") && number(f, r, "device") >= 0 &&
            number(f, r - 1, "device") >= 0 && number(f, r, "device") != number(f, r - 1, "device"))
            return true;
    return false;
}

/* "rank 0, device 1, stream 7", as far as the row has them. */
static void put_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    static const char *const keys[] = { "rank", "device", "stream" };
    size_t at = 0;
    to[0] = '\0';
    for (size_t k = 0; k < 3 && at < size; k++) {
        double v = number(f, row, keys[k]);
        if (v == v && (devices || k != 1))
            at += (size_t)snprintf(to + at, size - at, "%s%s %.0f", at ? ", " : "", keys[k], v);
    }
}

/* ---- the sheet ---- */

static void open_sheet(struct tg_buf *out, int height, const char *title, const char *sub)
{
    tg_svg_open(out, WIDTH, (size_t)height, " aria-labelledby=\"t\"");
    tg_buf_printf(out, "  <title id=\"t\">%s: %s</title>\n", title, sub);
    tg_buf_puts(out, style);
    tg_buf_printf(out,
                  "  <rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n"
                  "  <text class=\"title\" x=\"%d\" y=\"34\">%s</text>\n"
                  "  <text class=\"sub\" x=\"%d\" y=\"53\">%s</text>\n",
                  WIDTH - 1, height - 1, MARGIN, title, MARGIN, sub);
}

/* Of the i-th line: the grey of "idle" would be hard to see. */
static size_t colour(size_t i)
{
    return i < 2 ? i : i + 1;
}

/* Of the parts or lines, in their colors. */
static void put_legend(struct tg_buf *out, const char *const *names, size_t n, bool lines)
{
    int x = MARGIN;
    for (size_t k = 0; k < n; k++) {
        tg_buf_printf(out,
                      "  <rect class=\"c%zu\" x=\"%d\" y=\"65\" width=\"11\" height=\"11\" "
                      "rx=\"2\"/><text x=\"%d\" y=\"75\">",
                      lines ? colour(k) : k, x, x + 16);
        TG_PUT(out, tg_esc_xml, "{}</text>\n", tg_sv_of(names[k]));
        x += 16 + (int)(7 * tg_utf8_count(tg_sv_of(names[k]))) + 22;
    }
}

static void put_time_ticks(struct tg_buf *out, double us, int x, int w, int top, int bottom)
{
    double step = tg_svg_step(us, 5);
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

/* ---- bars ---- */

enum {
    LEGEND = 20, /* of the head; not drawn for one colour */
    ROW = 30,
    BAR = 18,
    PLOT_X = 230,
    PLOT_W = 590,
    LABEL_COLUMNS = 32,
    MAX_ROWS = 64,
    MAX_NAMES = 20, /* of modules and functions */
    MAX_PARTS = 4
};

struct bar {
    char label[96];
    double part[MAX_PARTS];
};
struct stack {
    const char *title, *sub, *parts[MAX_PARTS], *columns[MAX_PARTS];
    size_t n_parts, n, omitted;
    struct bar *bars; /* MAX_ROWS */
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

/* Rows that hold all parts side by side. */
static void stack_columns(struct stack *s, const struct tg_table *f)
{
    bool devices = has_devices(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        double part[MAX_PARTS];
        bool known = true;
        struct bar *b;
        for (size_t k = 0; k < s->n_parts; k++) {
            part[k] = number(f, r, s->columns[k]);
            known &= part[k] == part[k];
        }
        if (!known || !(b = add_bar(s)))
            continue;
        memcpy(b->part, part, sizeof part);
        put_label(b->label, sizeof b->label, f, r, devices);
    }
}

/* One row per category: consecutive rows of one stream belong together. */
static void stack_categories(struct stack *s, const struct tg_table *f)
{
    static const char *const categories[] = { "host_wait", "kernel_wait", "other", NULL };
    bool devices = has_devices(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        double us = number(f, r, "idle_time");
        struct bar *b = s->n ? &s->bars[s->n - 1] : NULL;
        put_label(label, sizeof label, f, r, devices);
        if (us != us)
            continue;
        if (!b || strcmp(b->label, label) != 0) {
            b = add_bar(s);
            if (!b)
                continue;
            memcpy(b->label, label, sizeof label);
        }
        int c = tg_sv_index(categories, text_of(f, r, "idle_category"));
        if (c >= 0)
            b->part[c] += us > 0 ? us : 0;
    }
}

static void stack_types(struct stack *s, const struct tg_table *f)
{
    for (size_t r = 0; r < f->n_rows; r++) {
        tg_sv name = text_of(f, r, "kernel_type");
        struct bar *b = add_bar(s);
        if (!b)
            continue;
        /* The classes by the policy's names, "A overlapping B" as "a + b": three of them fit beside
         * a bar. */
        static const struct {
            tg_sv word;
            const char *shown;
        } words[] = { { { " overlapping ", 13 }, " + " },
                      { { "COMPUTATION", 11 }, "compute" },
                      { { "COMMUNICATION", 13 }, "comm" },
                      { { "MEMORY", 6 }, "memory" },
                      { { "OTHER", 5 }, "other" } };
        size_t n = 0;
        while (name.n && n + 8 < sizeof b->label) {
            size_t k = 0;
            while (k < 5 && !tg_sv_starts(name, words[k].word))
                k++;
            if (k < 5)
                n += (size_t)snprintf(b->label + n, sizeof b->label - n, "%s", words[k].shown);
            else
                b->label[n++] = tg_lower(*name.p);
            k = k < 5 ? words[k].word.n : 1;
            name = tg_sv_from(name, k);
        }
        b->label[n] = '\0';
        b->part[0] = number(f, r, "sum");
    }
}

/* The names of the first rank with most time of their own (by inclusive time, callers of everything
 * would fill the chart): on the device, or on the host if nothing ran on the device. */
static void stack_names(struct stack *s, const struct tg_table *f)
{
    static const tg_sv prefix = { "nn.Module: ", 11 };
    bool modules = strcmp(f->name, "modules") == 0;
    bool device = false;
    for (size_t r = 0; r < f->n_rows; r++)
        device |= number(f, r, "device_time(us)") > 0;
    const char *own = device ? "device_self(us)" : "host_self(us)";
    s->title = modules  ? device ? "Device time by nn.Module" : "Host time by nn.Module"
               : device ? "Device time by Python function"
                        : "Host time by Python function";
    s->sub = device    ? "time of the work launched there and not in a nested one; the first rank's"
             : modules ? "without nested modules; the first rank's"
                       : "without nested functions; the first rank's";
    for (size_t r = 0; r < f->n_rows; r++) {
        double v = number(f, r, own);
        tg_sv name = text_of(f, r, "name");
        if (!(v > 0) || number(f, r, "rank") != number(f, 0, "rank"))
            continue;
        (void)tg_sv_skip(&name, prefix);
        /* Puts a bar in its place among longer ones; the shortest one drops out after MAX_NAMES. */
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
            continue;
        s->bars[at] = (struct bar){ .part = { v } };
        /* Beginning and end of a long name; a bar shows less of it, its title the whole name. */
        enum { COLUMNS = 72 };
        TG_BUF label = { 0 };
        tg_shorten_visible(&label, name, COLUMNS);
        (void)snprintf(s->bars[at].label, sizeof s->bars[at].label, "%s", tg_buf_sv(&label).p);
    }
}

/* The tables that are bars. */
static const struct shape {
    const char *table;
    struct stack drawn;
    void (*stack)(struct stack *s, const struct tg_table *f);
} shapes[] = {
    { "temporal",
      { .title = "Where device time goes",
        .sub = "from the first start to the last end of device work",
        .parts = { "compute", "other work only", "idle" },
        .columns = { "compute_time(us)", "non_compute_time(us)", "idle_time(us)" },
        .n_parts = 3 },
      stack_columns },
    { "overlap",
      { .title = "Communication hidden behind computation",
        .sub = "time in which communication runs",
        .parts = { "hidden", "exposed" },
        .columns = { "overlapped_time(us)", "exposed_comm_time(us)" },
        .n_parts = 2 },
      stack_columns },
    { "skew",
      { .title = "Who waits in collectives",
        .sub = "time in collectives; the rank that waits least arrives last",
        .parts = { "transfer", "waits for other ranks" },
        .columns = { "transfer_time(us)", "wait_time(us)" },
        .n_parts = 2 },
      stack_columns },
    { "idle",
      { .title = "Why streams were empty",
        .sub = "gaps between the work of one stream; other streams may be busy",
        .parts = { "waits for the host", "between kernels", "other" },
        .n_parts = 3 },
      stack_categories },
    { "kernel-types",
      { .title = "Device time by class of work",
        .sub = "time in which exactly these classes run, all ranks",
        .n_parts = 1 },
      stack_types },
    { "modules", { .n_parts = 1 }, stack_names },
    { "sources", { .n_parts = 1 }, stack_names },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static double total_of(const struct stack *s, const struct bar *b)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_parts; k++)
        sum += b->part[k] > 0 ? b->part[k] : 0;
    return sum;
}

static void put_bar(struct tg_buf *out, const struct stack *s, const struct bar *b, int y,
                    double widest)
{
    TG_BUF label = { 0 };
    double x = PLOT_X, total = total_of(s, b);
    tg_shorten(&label, tg_sv_of(b->label), LABEL_COLUMNS);
    tg_buf_printf(out, "  <text x=\"%d\" y=\"%d\">", MARGIN, y + 14);
    TG_PUT(out, tg_esc_xml, "{}</text>\n", tg_buf_sv(&label));
    for (size_t k = 0; k < s->n_parts; k++) {
        double w = PLOT_W * (b->part[k] > 0 ? b->part[k] : 0) / widest;
        if (w <= 0)
            continue;
        tg_buf_printf(
            out, "  <rect class=\"c%d\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"><title>",
            (int)k, x, y, w > 1.5 ? w - 0.8 : w, BAR);
        tg_esc_xml(out, tg_sv_of(b->label));
        tg_buf_printf(out, "%s%s: ", s->parts[k] ? ", " : "", s->parts[k] ? s->parts[k] : "");
        put_us(out, b->part[k]);
        if (s->n_parts > 1)
            tg_buf_printf(out, " (%.1f %%)", 100 * b->part[k] / total);
        tg_buf_puts(out, "</title></rect>\n");
        x += w;
    }
    tg_buf_printf(out, "  <text class=\"num end\" x=\"%d\" y=\"%d\">", RIGHT, y + 14);
    put_us(out, total);
    tg_buf_puts(out, "</text>\n");
}

static bool put_bars(struct tg_buf *out, const struct tg_table *f)
{
    TG_FREE struct bar *bars = NULL;
    double widest = 0;
    size_t k = 0;
    while (k < SHAPES && strcmp(shapes[k].table, f->name) != 0)
        k++;
    if (k == SHAPES)
        return false;
    struct stack s = shapes[k].drawn;
    s.bars = bars = tg_xmalloc(MAX_ROWS * sizeof *bars);
    shapes[k].stack(&s, f);
    for (size_t i = 0; i < s.n; i++)
        widest = fmax(widest, total_of(&s, &bars[i]));
    if (widest > 0) {
        int top = s.n_parts > 1 ? HEAD : HEAD - LEGEND;
        int bottom = top + (int)s.n * ROW;
        int height = bottom + FOOT + (s.omitted ? 18 : 0);
        open_sheet(out, height, s.title, s.sub);
        if (s.n_parts > 1)
            put_legend(out, s.parts, s.n_parts, false);
        put_time_ticks(out, widest, PLOT_X, PLOT_W, top, bottom);
        for (size_t i = 0; i < s.n; i++)
            put_bar(out, &s, &s.bars[i], top + 6 + (int)i * ROW, widest);
        if (s.omitted)
            tg_buf_printf(out,
                          "  <text class=\"sub\" x=\"%d\" y=\"%d\">%zu more in the table</text>\n",
                          MARGIN, height - 14, s.omitted);
        tg_buf_puts(out, "</svg>\n");
    }
    return widest > 0;
}

/* ---- lines ---- */

enum { LINE_X = 72, LINE_W = RIGHT - LINE_X, LINE_H = 260, MAX_SERIES = 5 };

/* One line: the largest value in each pixel column, held until the next change. */
struct line {
    char label[96];
    double top[LINE_W + 1]; /* NaN: no change there */
    double last[LINE_W + 1];
};
struct lines {
    const char *column;
    struct line *v;
    size_t n, omitted;
    double from, to, most;
};

static void line_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    tg_sv name = text_of(f, row, "name");
    put_label(to, size, f, row, devices);
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
static void fill_lines(struct lines *l, const struct tg_table *f)
{
    TG_FREE struct series *all = NULL;
    size_t n = 0, cap = 0;
    bool devices = has_devices(f);
    l->from = INFINITY;
    l->to = -INFINITY;
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        double t = number(f, r, "ts");
        line_label(label, sizeof label, f, r, devices);
        if (!n || strcmp(all[n - 1].label, label) != 0) {
            all = tg_grow(all, &cap, n + 1, sizeof *all);
            all[n] = (struct series){ .at = t };
            memcpy(all[n++].label, label, sizeof label);
        }
        all[n - 1].area += fmax(all[n - 1].value, 0) * (t - all[n - 1].at);
        all[n - 1].at = t;
        all[n - 1].value = number(f, r, l->column);
        l->from = fmin(l->from, t);
        l->to = fmax(l->to, t);
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
    for (size_t r = 0; r < f->n_rows && l->to > l->from; r++) {
        char label[96];
        double v = number(f, r, l->column);
        int x = (int)((number(f, r, "ts") - l->from) / (l->to - l->from) * LINE_W);
        line_label(label, sizeof label, f, r, devices);
        struct line *line = l->v, *end = l->v + l->n;
        while (line < end && strcmp(line->label, label) != 0)
            line++;
        if (line == end || v != v)
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
    tg_buf_printf(out, "  <path class=\"l l%zu\" d=\"M%d %.1f", colour(i), LINE_X, y0);
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

static bool put_lines(struct tg_buf *out, const struct tg_table *f)
{
    bool queue = strcmp(f->name, "queue-series") == 0;
    struct lines l = { .column = queue ? "queue_length" : "memory_bw_gbps" };
    TG_FREE struct line *v = l.v = tg_xrealloc(NULL, MAX_SERIES, sizeof *v);
    const char *names[MAX_SERIES] = { 0 };
    fill_lines(&l, f);
    if (!l.n || l.most <= 0)
        return false;
    double step = tg_svg_step(l.most, 5);
    if (queue && step < 1)
        step = 1;
    double high = step * ceil(l.most / step);
    open_sheet(out, HEAD + LINE_H + FOOT, queue ? "Launched work that waits" : "Memory traffic",
               queue ? "pieces of work between launch and start, by stream; the largest in each "
                       "pixel column"
                     : "copies in flight, by kind; the largest in each pixel column");
    for (size_t i = 0; i < l.n; i++)
        names[i] = l.v[i].label;
    put_legend(out, names, l.n, true);
    for (double k = 0; k <= high * 1.0001; k += step) {
        double y = HEAD + LINE_H - LINE_H * k / high;
        tg_buf_printf(out,
                      "  <line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                      "class=\"tick end\" x=\"%d\" y=\"%.1f\">%.*f</text>\n",
                      k > 0 ? "grid" : "zero", LINE_X, y, LINE_X + LINE_W, y, LINE_X - 7, y + 4,
                      step < 1 ? 2 : 0, k);
    }
    tg_buf_printf(out, "  <text class=\"tick end\" x=\"%d\" y=\"75\">%s</text>\n", RIGHT,
                  queue ? "waiting pieces of work" : "GB/s");
    put_time_ticks(out, l.to - l.from, LINE_X, LINE_W, HEAD, HEAD + LINE_H);
    for (size_t i = 0; i < l.n; i++)
        put_line(out, &l, i, high);
    if (l.omitted)
        tg_buf_printf(
            out,
            "  <text class=\"sub end\" x=\"%d\" y=\"53\">the %d series with most area</text>\n",
            RIGHT, MAX_SERIES);
    tg_buf_puts(out, "</svg>\n");
    return true;
}

/* ---- which table ---- */

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

bool tg_tablechart_svg(struct tg_buf *out, const struct tg_table *f)
{
    if (!f->n_rows)
        return false;
    if (strcmp(f->name, "queue-series") == 0 || strcmp(f->name, "bandwidth-series") == 0)
        return put_lines(out, f);
    return put_bars(out, f);
}
