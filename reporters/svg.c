/*
 * The two charts of a verdict and of `diff`: HTA's visualize_counts_diff and _duration_diff.
 *
 * A diverging bar chart: what grew to the right, what shrank to the left, numbers in columns. Made
 * to be read through <img>: no scripts, no fonts or styles from outside, both colour schemes. Bars
 * of added or removed names are hatched; up and down differ by side, sign and colour (orange,
 * blue), so that nobody needs to see colours. The layout depends on the rows alone. As a verdict
 * sees them (TG_BASIS_JUDGED) durations end with what was judged and is not noise.
 */
#include "core/base/arena.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/number.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"
#include "reporters/svg.h"

void tg_svg_open(struct tg_buf *out, size_t width, size_t height, const char *more)
{
    tg_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                  "viewBox=\"0 0 %zu %zu\" role=\"img\"%s>\n",
                  width, height, width, height, more);
}

double tg_svg_step(double range, int steps)
{
    double raw = range / steps, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* All in px. */
enum {
    HEAD = 112, /* title, subtitle, legend, column titles */
    BAR = 14,
    FOOT = 52, /* ticks, unit */
    NOTE = 18,
    BEFORE_X = 766, /* right edges; the arrow between them has a place of its own */
    ARROW_X = 781,
    AFTER_X = 846,
    MAX_ROWS = 60
};

/* Wide: a column of names, the bars, then columns of numbers. Narrow: the bar below its name. */
struct form {
    int width, margin, row, bars_x, bars_w;
    size_t name_columns;              /* of 12 px monospace, 7.23 px each */
    size_t sub_columns, note_columns; /* of 12 px */
    int name_y, bar_y;                /* in the row: the baseline of the name, the top of the bar */
};
static const struct form wide = { 960, 24, 28, 372, 300, 45, 120, 140, 18, 7 };
static const struct form narrow = { 390, 16, 46, 26, 256, 48, 56, 58, 18, 26 };

static const char style[] =
    "  <style>\n" TG_SVG_LIGHT "    .sub,.head,.tick{fill:#59636e}.head,.tick{font-size:11px}\n"
    "    .name{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation "
    "Mono','DejaVu Sans Mono',monospace}\n"
    "    .num{font-variant-numeric:tabular-nums}.end{text-anchor:end}.mid{text-anchor:middle}\n"
    "    .up{fill:#d4520a}.down{fill:#0a66c2}.upt{fill:#b34100;font-weight:600}\n"
    "    .downt{fill:#0a58a8;font-weight:600}\n"
    "    .hu,.hd{stroke-width:1.5}.hu{stroke:#d4520a}.hd{stroke:#0a66c2}\n"
    "    .hbu,.hbd{fill:#fff}.hl{stroke-width:3}.grid{stroke:#e6eaef}.zero{stroke:#818b98}\n"
    "    .rule{stroke:#eef1f4}\n" TG_SVG_DARK ".sub,.head,.tick{fill:#9198a1}\n"
    "      .up{fill:#f0883e}.down{fill:#58a6ff}.upt{fill:#ffa657}.downt{fill:#79c0ff}\n"
    "      .hu{stroke:#f0883e}.hd{stroke:#58a6ff}.hbu,.hbd{fill:#0d1117}\n"
    "      .grid{stroke:#262c36}.zero{stroke:#656c76}.rule{stroke:#1b212a}\n"
    "    }\n"
    "  </style>\n"
    "  <defs>\n"
    "    <pattern id=\"up\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"hbu\" width=\"6\" height=\"6\"/><line "
    "class=\"hu hl\" x1=\"1.5\" y1=\"0\" x2=\"1.5\" y2=\"6\"/></pattern>\n"
    "    <pattern id=\"down\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(-45)\"><rect class=\"hbd\" width=\"6\" height=\"6\"/><line "
    "class=\"hd hl\" x1=\"1.5\" y1=\"0\" x2=\"1.5\" y2=\"6\"/></pattern>\n"
    "  </defs>\n";

enum category { INCREASED, DECREASED, ADDED, REMOVED };
static const char *const category_name[] = { "increased", "decreased", "added", "removed" };
static const char *const bar_paint[] = { "class=\"up\"", "class=\"down\"",
                                         "class=\"hu\" fill=\"url(#up)\"",
                                         "class=\"hd\" fill=\"url(#down)\"" };

/* One unit for all durations of a chart, so that columns can be compared. */
struct scale {
    double divisor;
    int decimals;
    const char *unit; /* XML text */
    double low, high, step;
};

struct plot {
    struct tg_buf *out;
    const struct tg_comparison *comparison;
    const struct tg_verdict *v; /* whose rows they are; NULL: of a comparison */
    enum tg_basis basis;
    bool durations;
    /* keep_steps; top; narrow: a row is two lines, and only the change has a number; share: bars
     * and changes of durations as parts of the step, in percent; by WHOLE it is ignored */
    const struct tg_render *render;
    tg_sv title, sub;   /* hostile text allowed, */
    const tg_sv *notes; /* and here: a line each at the bottom */
    size_t n_notes;
    /* What chart_svg adds. */
    const struct form *form;
    const uint32_t *rows;
    struct tg_labels labels; /* of the rows */
    size_t n, more;
    struct scale s;
};

static enum category category_of(const struct tg_row_numbers *n, double delta)
{
    if (!(n->count[TG_BASE] > 0) && n->count[TG_TEST] > 0)
        return ADDED;
    if (n->count[TG_BASE] > 0 && !(n->count[TG_TEST] > 0))
        return REMOVED;
    return delta > 0 ? INCREASED : DECREASED;
}

static struct tg_row_numbers numbers(const struct plot *p, size_t i)
{
    const struct tg_comparison *c = p->comparison;
    const struct tg_op *op = &c->ops[p->rows[i]];
    return p->v ? tg_row_shown(p->v, op) : tg_row_numbers(c, op, p->basis);
}

/* Changes as parts of the baseline's step; 0: as they are. */
static double whole_of(const struct plot *p)
{
    bool parts = p->durations && p->render->share && p->basis != TG_BASIS_WHOLE && p->comparison;
    return parts && p->comparison->wall_ns[TG_BASE] > 0 ? p->comparison->wall_ns[TG_BASE] : 0;
}

static double delta_of(const struct plot *p, const struct tg_row_numbers *n)
{
    return p->durations ? n->d_ns : n->d_count;
}

/* ---- scale ---- */

static void choose_scale(struct plot *p)
{
    double low = 0, high = 0, largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct tg_row_numbers n = numbers(p, i);
        double d = delta_of(p, &n);
        low = fmin(low, d);
        high = fmax(high, d);
        for (int s = 0; s < 2; s++)
            largest = fmax(largest, p->durations ? n.ns[s] : n.count[s]);
    }
    struct scale *unit = &p->s;
    *unit = (struct scale){ .divisor = 1, .unit = "calls" };
    if (p->durations) {
        if (whole_of(p) > 0) {
            *unit = (struct scale){ .divisor = whole_of(p) / 100, .unit = "%", .decimals = 2 };
        } else {
            unit->divisor = 1e3;
            unit->unit = "\xc2\xb5s";
            unit->decimals = largest < 100e6 ? 1 : 0;
            if (largest >= 1e9) { /* seven digits of microseconds would not fit their column */
                unit->divisor = largest < 1e12 ? 1e6 : 1e9;
                unit->unit = largest < 1e12 ? "ms" : "s";
                unit->decimals = 1;
            }
        }
    }
    if (!(high - low > 0))
        high = 1;
    low /= p->s.divisor;
    high /= p->s.divisor;
    p->s.step = tg_svg_step(high - low, 4);
    if (!p->durations && !(whole_of(p) > 0) && p->s.step < 1)
        p->s.step = 1; /* there is no half of a call */
    p->s.low = floor(low / p->s.step + 1e-9) * p->s.step;
    p->s.high = ceil(high / p->s.step - 1e-9) * p->s.step;
}

static double x_of(const struct plot *p, double value)
{
    return p->form->bars_x + p->form->bars_w * (value - p->s.low) / (p->s.high - p->s.low);
}

/* ---- pieces ---- */

static void put_text(struct plot *p, const char *class_, double x, double y, tg_sv text)
{
    tg_buf_printf(p->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_, x, y);
    TG_PUT(p->out, tg_esc_xml, "{}</text>", text);
}

static void put_line(struct plot *p, const char *class_, double x1, double x2, double y1, double y2)
{
    tg_buf_printf(p->out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                  class_, x1, x2, y1, y2);
}

static void put_value(struct tg_buf *out, const struct plot *p, double v)
{
    if (p->durations)
        tg_dec_put_fixed(out, v / p->s.divisor, p->s.decimals);
    else
        tg_put_count(out, v);
}

static void put_delta(struct tg_buf *out, const struct plot *p, double v)
{
    TG_BUF text = { 0 };
    put_value(&text, p, fabs(v));
    if (strspn(text.p, "0.") < text.n)
        tg_buf_puts(out, v > 0 ? "+" : "-");
    tg_buf_add(out, tg_buf_sv(&text));
}

/* What a row of several names was, and how many it has. */
static struct tg_row_was was(const struct plot *p, size_t i)
{
    const struct tg_op *op = &p->comparison->ops[p->rows[i]];
    return p->v ? tg_row_was(p->v, op) : (struct tg_row_was){ .name = NULL };
}

static void put_sentence(struct tg_buf *out, const struct plot *p, size_t i)
{
    struct tg_row_numbers n = numbers(p, i);
    const double *v = p->durations ? n.ns : n.count;
    struct tg_row_was f = was(p, i);
    tg_buf_add(out, p->comparison->ops[p->rows[i]].name);
    tg_row_put_more(out, f.n_after);
    tg_buf_printf(out, ": %s, ", category_name[category_of(&n, delta_of(p, &n))]);
    put_value(out, p, v[TG_BASE]);
    tg_buf_puts(out, " \xe2\x86\x92 ");
    put_value(out, p, v[TG_TEST]);
    tg_buf_printf(out, " %s (", p->s.unit);
    put_delta(out, p, delta_of(p, &n));
    tg_buf_puts(out, ")");
    if (f.name) {
        tg_buf_puts(out, ", was ");
        tg_buf_add(out, f.name->name);
        tg_row_put_more(out, f.n_before);
    }
}

/* ---- the chart ---- */

static size_t notes_top(const struct plot *p)
{
    return p->n ? HEAD + p->n * (size_t)p->form->row + FOOT : HEAD;
}

static void put_head(struct plot *p)
{
    size_t h = notes_top(p) + (p->n_notes ? p->n_notes * NOTE + 10 : 0);
    tg_svg_open(p->out, (size_t)p->form->width, h, " aria-labelledby=\"t d\"");
    TG_PUT(p->out, tg_esc_xml, "  <title id=\"t\">{}</title>\n  <desc id=\"d\">", p->title);
    for (size_t i = 0; i < p->n; i++) {
        TG_BUF text = { 0 };
        put_sentence(&text, p, i);
        TG_PUT(p->out, tg_esc_xml, i ? "; {}" : "{}", tg_buf_sv(&text));
    }
    if (!p->n)
        tg_buf_puts(p->out, "no differences");
    for (size_t i = 0; i < p->n_notes; i++)
        TG_PUT(p->out, tg_esc_xml, "; {}", p->notes[i]);
    tg_buf_printf(p->out, "</desc>\n%s", style);
    tg_buf_printf(
        p->out, "  <rect class=\"bg\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%zu\" rx=\"6\"/>\n",
        p->form->width - 1, h - 1);
    TG_BUF text = { 0 };
    tg_buf_puts(p->out, "  ");
    tg_sv title = p->title; /* narrow: "Time per step" without ": what changed most" */
    put_text(p, "title", p->form->margin, 34, p->form == &narrow ? tg_sv_cut(&title, ':') : title);
    tg_shorten_visible(&text, p->sub, p->form->sub_columns - (p->more ? 28 : 0));
    if (p->more)
        tg_buf_printf(&text, "%s%zu more changes not shown", text.n ? " \xc2\xb7 " : "", p->more);
    put_text(p, "sub", p->form->margin, 54, tg_buf_sv(&text));
    tg_buf_putc(p->out, '\n');
    if (p->n) {
        static const double at[] = { 0, 96, 196, 270 };
        tg_buf_puts(p->out, "  <g>");
        for (int k = 0; k < 4; k++) {
            double x = p->form->margin + at[k];
            tg_buf_printf(p->out, "<rect %s x=\"%.1f\" y=\"66\" width=\"18\" height=\"10\"/>",
                          bar_paint[k], x);
            put_text(p, "sub", x + 24, 75, tg_sv_of(category_name[k]));
        }
        tg_buf_puts(p->out, "</g>\n");
    }
}

static void put_axis(struct plot *p)
{
    double top = HEAD - 8, bottom = HEAD + (double)(p->n * (size_t)p->form->row) + 4;
    int ticks = (int)lround((p->s.high - p->s.low) / p->s.step);
    int decimals = p->s.step >= 1 ? 0 : (int)ceil(-log10(p->s.step) - 1e-9);
    TG_BUF unit = { 0 };
    tg_buf_puts(p->out, "  <g>");
    for (int k = 0; k <= ticks; k++) {
        double v = p->s.low + k * p->s.step, x = x_of(p, v);
        bool zero = fabs(v) < p->s.step / 1e6;
        TG_BUF label = { 0 };
        put_line(p, zero ? "zero" : "grid", x, x, top, bottom);
        if (!zero)
            tg_buf_puts(&label, v > 0 ? "+" : "-");
        tg_dec_put_fixed(&label, fabs(v), zero ? 0 : decimals);
        put_text(p, "tick num mid", x, bottom + 16, tg_buf_sv(&label));
    }
    tg_buf_printf(&unit, "change in %s",
                  whole_of(p) > 0 ? "% of the step"
                  : !p->durations ? "number of calls"
                                  : p->s.unit);
    put_text(p, "tick mid", p->form->bars_x + p->form->bars_w / 2.0, bottom + 34, tg_buf_sv(&unit));
    tg_buf_puts(p->out, "</g>\n");
}

static void put_row(struct plot *p, size_t i)
{
    struct tg_row_numbers n = numbers(p, i);
    const double *v = p->durations ? n.ns : n.count;
    const struct form *f = p->form;
    double delta = delta_of(p, &n), y = HEAD + (double)(i * (size_t)f->row);
    double base = f == &narrow ? y + f->bar_y + BAR - 3 : y + f->name_y;
    TG_BUF text = { 0 };
    put_sentence(&text, p, i);
    TG_PUT(p->out, tg_esc_xml, "  <g><title>{}</title>", tg_buf_sv(&text));
    if (i)
        put_line(p, "rule", f->margin, f->width - f->margin, y, y);
    tg_buf_clear(&text);
    /* Wide (East Asian, emoji) characters take two columns; then half as many are kept. */
    TG_BUF name = { 0 }, others = { 0 };
    size_t columns = p->form->name_columns;
    bool two = false;
    tg_label_put(&name, &p->labels.v[i]);
    tg_row_put_more(&others, was(p, i).n_after);
    columns -= others.n;
    for (size_t k = 0; k < name.n; k++)
        two |= (unsigned char)name.p[k] >= 0xe1 && (unsigned char)name.p[k] != 0xe2;
    if (strspn(name.p ? name.p : "", " ") == name.n)
        tg_buf_puts(&text, "(blank)");
    else
        tg_shorten(&text, tg_buf_sv(&name), two ? columns / 2 : columns);
    tg_buf_add(&text, tg_buf_sv(&others));
    put_text(p, "name", f->margin, y + f->name_y, tg_buf_sv(&text));
    double zero = x_of(p, 0), x = x_of(p, delta / p->s.divisor);
    double from = fmin(zero, x), w = fabs(x - zero);
    if (w < 2) { /* a sliver shows that there is something, and on which side */
        w = 2;
        from = delta < 0 ? zero - 2 : zero;
    }
    tg_buf_printf(p->out,
                  "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\"/>",
                  bar_paint[category_of(&n, delta)], from, y + f->bar_y, w, BAR);
    for (int side = 0; f == &wide && side < 2; side++) {
        tg_buf_clear(&text);
        put_value(&text, p, v[side]);
        put_text(p, "num end", side ? AFTER_X : BEFORE_X, base, tg_buf_sv(&text));
    }
    if (f == &wide)
        put_text(p, "sub mid", ARROW_X, base, TG_SV("\xe2\x86\x92"));
    tg_buf_clear(&text);
    put_delta(&text, p, delta);
    put_text(p, delta > 0 ? "num end upt" : "num end downt", f->width - f->margin, base,
             tg_buf_sv(&text));
    tg_buf_puts(p->out, "</g>\n");
}

/* `rows`: those to choose from; NULL: all of the comparison that are work. */
static void chart_svg(struct plot *p, const uint32_t *rows, size_t n_rows)
{
    const struct tg_comparison *c = p->comparison;
    size_t top = p->render->top ? p->render->top : 10, all = 0;
    TG_FREE uint32_t *worst = NULL;
    p->form = p->render->narrow ? &narrow : &wide;
    top = top < MAX_ROWS ? top : MAX_ROWS;
    if (c) {
        struct tg_rows_choice of = { rows, n_rows, p->basis, !p->durations, p->render->keep_steps,
                                     p->v };
        worst = tg_rows_worst(c, &of, &all);
        /* Of times that a verdict has looked at, those that it judged and that are not noise, or
         * that it tells. */
        TG_FREE unsigned char *told = p->v && p->durations ? tg_rows_told(p->v) : NULL;
        size_t kept = 0;
        for (size_t i = 0; i < all; i++)
            if (!told || told[worst[i]] & TG_ROW_ABOUT || tg_row_is_judged(c, &c->ops[worst[i]]))
                worst[kept++] = worst[i];
        p->n = kept < top ? kept : top;
        p->more = kept - p->n;
        tg_labels_of_rows(&p->labels, c, worst, p->n, p->form->name_columns - 4);
    }
    p->rows = worst;
    choose_scale(p);
    put_head(p);
    if (p->n) {
        TG_BUF text = { 0 };
        tg_buf_puts(p->out, "  ");
        put_text(p, "head", p->form->margin, HEAD - 10, TG_SV("operator or kernel"));
        tg_buf_printf(&text, "%s, %s", p->form == &narrow ? "change" : "before", p->s.unit);
        if (p->form == &wide) {
            put_text(p, "head end", BEFORE_X, HEAD - 10, tg_buf_sv(&text));
            put_text(p, "head end", AFTER_X, HEAD - 10, TG_SV("after"));
        }
        put_text(p, "head end", p->form->width - p->form->margin, HEAD - 10,
                 p->form == &narrow ? tg_buf_sv(&text) : TG_SV("change"));
        tg_buf_putc(p->out, '\n');
        put_axis(p);
        for (size_t i = 0; i < p->n; i++)
            put_row(p, i);
    } else {
        tg_buf_puts(p->out, "  ");
        put_text(p, "", p->form->margin, HEAD - 28,
                 !p->comparison         ? TG_SV("nothing was compared")
                 : p->v && p->durations ? TG_SV("no change of time that was judged")
                                        : TG_SV("no differences"));
        tg_buf_putc(p->out, '\n');
    }
    for (size_t i = 0; i < p->n_notes; i++) {
        TG_BUF text = { 0 };
        tg_shorten_visible(&text, p->notes[i], p->form->note_columns);
        tg_buf_puts(p->out, "  ");
        put_text(p, "sub", p->form->margin, (double)(notes_top(p) + i * NOTE + 10),
                 tg_buf_sv(&text));
        tg_buf_putc(p->out, '\n');
    }
    tg_buf_puts(p->out, "</svg>\n");
    tg_labels_release(&p->labels);
}

static void write_chart(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r,
                        bool durations)
{
    TG_BUF sub = { 0 };
    size_t n = 0;
    /* What was not judged, and the condition of the traces. */
    TG_FREE tg_sv *notes = tg_xrealloc(NULL, v->n_notes + 2, sizeof *notes);
    bool judged = durations ? v->durations_judged : v->counts_judged;
    if (v->comparison && !judged && v->coverage.n)
        notes[n++] = v->coverage;
    for (size_t i = 0; i < v->n_notes; i++)
        if (v->notes[i].damage)
            notes[n++] = v->notes[i].text;
    struct plot chart = { .out = out,
                          .comparison = v->comparison,
                          .v = v,
                          .notes = notes,
                          .n_notes = n,
                          .basis = TG_BASIS_JUDGED,
                          .durations = durations,
                          .render = r,
                          .title = durations ? TG_SV("Time per step: what changed most")
                                             : TG_SV("Calls per step: what changed most") };
    if (v->suite.n)
        tg_buf_printf(&sub, "%.*s \xc2\xb7 ", TG_SV_ARG(v->suite));
    tg_sv base = tg_utf8_prefix(v->baseline.commit, 12), test = tg_utf8_prefix(v->test_commit, 12);
    tg_buf_printf(&sub, "baseline %.*s \xe2\x86\x92 fresh %.*s",
                  TG_SV_ARG(base.n ? base : v->baseline.paths),
                  TG_SV_ARG(test.n ? test : v->test_paths));
    chart.sub = tg_buf_sv(&sub);
    chart_svg(&chart, NULL, 0);
}

void tg_reporter_svg_counts(struct tg_buf *out, const struct tg_verdict *v,
                            const struct tg_render *r)
{
    write_chart(out, v, r, false);
}

void tg_reporter_svg_durations(struct tg_buf *out, const struct tg_verdict *v,
                               const struct tg_render *r)
{
    write_chart(out, v, r, true);
}

void tg_difftable_svg(struct tg_buf *out, const struct tg_difftable *t, bool durations,
                      const struct tg_render *r)
{
    TG_BUF sub = { 0 };
    struct plot chart = {
        .out = out,
        .comparison = t->comparison,
        .basis = t->whole ? TG_BASIS_WHOLE : TG_BASIS_ESTIMATED,
        .durations = durations,
        .render = r,
    };
    if (durations)
        chart.title = t->whole ? TG_SV("Total durations: what changed most")
                               : TG_SV("Total duration per step: what changed most");
    else
        chart.title = t->whole ? TG_SV("Calls: what changed most")
                               : TG_SV("Calls per step: what changed most");
    tg_buf_printf(&sub, "%.*s \xe2\x86\x92 %.*s", TG_SV_ARG(t->label[TG_BASE]),
                  TG_SV_ARG(t->label[TG_TEST]));
    chart.sub = tg_buf_sv(&sub);
    chart_svg(&chart, t->rows, t->n_rows);
}
