/* Tables as stacked bars: a row of parts side by side, or a name. */
#include <math.h>
#include <stdio.h>

#include "core/base/arena.h"
#include "reporters/escape.h"
#include "reporters/tablechart.h"

enum {
    MARGIN = TG_TABLECHART_MARGIN,
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
    bool devices = tg_tablechart_has_devices(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        double part[MAX_PARTS];
        bool known = true;
        struct bar *b;
        for (size_t k = 0; k < s->n_parts; k++) {
            part[k] = tg_tablechart_number(f, r, s->columns[k]);
            known &= part[k] == part[k];
        }
        if (!known || !(b = add_bar(s)))
            continue;
        memcpy(b->part, part, sizeof part);
        tg_tablechart_label(b->label, sizeof b->label, f, r, devices);
    }
}

/* One row per category: consecutive rows of one stream belong together. */
static void stack_categories(struct stack *s, const struct tg_table *f)
{
    static const char *const categories[] = { "host_wait", "kernel_wait", "other" };
    bool devices = tg_tablechart_has_devices(f);
    for (size_t r = 0; r < f->n_rows; r++) {
        char label[96];
        double us = tg_tablechart_number(f, r, "idle_time");
        struct bar *b = s->n ? &s->bars[s->n - 1] : NULL;
        tg_tablechart_label(label, sizeof label, f, r, devices);
        if (us != us)
            continue;
        if (!b || strcmp(b->label, label) != 0) {
            b = add_bar(s);
            if (!b)
                continue;
            memcpy(b->label, label, sizeof label);
        }
        for (int c = 0; c < 3; c++)
            if (tg_sv_eq(tg_tablechart_text(f, r, "idle_category"), tg_sv_of(categories[c])))
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
            to[n++] = tg_lower(*name.p);
        k = k < 5 ? words[k].word.n : 1;
        name = tg_sv_from(name, k);
    }
    to[n] = '\0';
}

static void stack_types(struct stack *s, const struct tg_table *f)
{
    for (size_t r = 0; r < f->n_rows; r++) {
        tg_sv name = tg_tablechart_text(f, r, "kernel_type");
        struct bar *b = add_bar(s);
        if (!b)
            continue;
        set_label(b->label, sizeof b->label, name);
        b->part[0] = tg_tablechart_number(f, r, "sum");
    }
}

static bool any_value(const struct tg_table *f, const char *name)
{
    for (size_t r = 0; r < f->n_rows; r++)
        if (tg_tablechart_number(f, r, name) > 0)
            return true;
    return false;
}

/* The names of the first rank with most time of their own (by inclusive time, callers of everything
 * would fill the chart): on the device, or on the host if nothing ran on the device. */
static void stack_names(struct stack *s, const struct tg_table *f)
{
    static const tg_sv prefix = { "nn.Module: ", 11 };
    bool modules = strcmp(f->name, "modules") == 0;
    bool device = any_value(f, "device_time(us)");
    const char *own = device ? "device_self(us)" : "host_self(us)";
    s->title = modules  ? device ? "Device time by nn.Module" : "Host time by nn.Module"
               : device ? "Device time by Python function"
                        : "Host time by Python function";
    s->sub = device    ? "time of the work launched there and not in a nested one; the first rank's"
             : modules ? "without nested modules; the first rank's"
                       : "without nested functions; the first rank's";
    for (size_t r = 0; r < f->n_rows; r++) {
        double v = tg_tablechart_number(f, r, own);
        tg_sv name = tg_tablechart_text(f, r, "name");
        if (!(v > 0) || tg_tablechart_number(f, r, "rank") != tg_tablechart_number(f, 0, "rank"))
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
        tg_tablechart_put_us(out, b->part[k]);
        if (s->n_parts > 1)
            tg_buf_printf(out, " (%.1f %%)", 100 * b->part[k] / total);
        tg_buf_puts(out, "</title></rect>\n");
        x += w;
    }
    tg_buf_printf(out, "  <text class=\"num end\" x=\"%d\" y=\"%d\">", TG_TABLECHART_RIGHT, y + 14);
    tg_tablechart_put_us(out, total);
    tg_buf_puts(out, "</text>\n");
}

bool tg_tablechart_bars(struct tg_buf *out, const struct tg_table *f)
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
        int top = s.n_parts > 1 ? TG_TABLECHART_HEAD : TG_TABLECHART_HEAD - LEGEND;
        int bottom = top + (int)s.n * ROW;
        int height = bottom + TG_TABLECHART_FOOT + (s.omitted ? 18 : 0);
        tg_tablechart_open(out, height, s.title, s.sub);
        if (s.n_parts > 1)
            tg_tablechart_legend(out, s.parts, s.n_parts, TG_TABLECHART_BARS);
        tg_tablechart_time_ticks(out, widest, PLOT_X, PLOT_W, top, bottom);
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
