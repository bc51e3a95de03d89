/*
 * What the page draws: call paths, one step of each side, and the step in parts.
 *
 * Where time comes from: the call paths of both sides as one icicle. The width of a frame is its
 * time after the change, of one that is gone its time before; colour and the sign in its label are
 * the difference; what only one side has is hatched. Wrappers around the program, one frame below
 * the other with nothing beside them, are one frame. report.js zooms and walks them by keyboard.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/diff/confirm.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/html.h"
#include "reporters/label.h"
#include "reporters/number.h"
#include "reporters/rows.h"
#include "reporters/svg.h"

enum { WIDTH = 1080, ROW = 20, LISTED = 6 /* open at once */ };
#define WRAPPED 0.9 /* of a wrapper's time is in one frame that it holds */

struct frame {
    double x, width;     /* in ns, then in px */
    double inside, edge; /* of its children: their width, where the next one begins */
    bool folded;
    uint32_t parent, row; /* as drawn */
};
struct tree {
    const struct tg_picture *p;
    struct frame *f; /* of each node */
    size_t n_folded, deepest;
};

static double change_of(const struct tg_picture_node *n)
{
    return n->value[0] > 0 ? n->value[1] / n->value[0] - 1 : 0;
}

static const char *paint_of(const struct tg_picture_node *n)
{
    double c = change_of(n);
    if (!(n->value[0] > 0) || !(n->value[1] > 0))
        return n->value[1] > 0 ? "new" : "gone";
    if (c >= 0.03)
        return c >= 0.5 ? "u3" : c >= 0.15 ? "u2" : "u1";
    if (c <= -0.03)
        return c <= -0.5 ? "d3" : c <= -0.15 ? "d2" : "d1";
    return "flat";
}

static void put_percent(struct tg_buf *out, const struct tg_picture_node *n)
{
    if (!(n->value[0] > 0) || !(n->value[1] > 0))
        tg_buf_puts(out, n->value[1] > 0 ? " new" : " gone");
    else if (fabs(change_of(n)) >= 0.03 && tg_dec_pct_tells(100 * change_of(n)))
        tg_buf_printf(out, " %+.0f %%", 100 * change_of(n));
}

static tg_sv text_of(const struct tg_picture_node *n)
{
    return n->text.n ? n->text : TG_SV("step");
}

/* ---- layout ---- */

/* The child of a frame that holds nearly all of it; the frame itself: there is none. */
static size_t held_by(const struct tree *t, size_t i)
{
    for (size_t k = i + 1; k < t->p->n_nodes; k++)
        if (t->p->nodes[k].parent == i && t->f[k].width >= WRAPPED * t->f[i].width)
            return k;
    return i;
}

/* Children from the left edge of their parent on, in the order of the nodes. */
static void lay_out(struct tree *t)
{
    struct frame *f = t->f;
    const struct tg_picture_node *nodes = t->p->nodes;
    /* As wide as its children at least: what is gone is beside what is there. */
    for (size_t i = t->p->n_nodes; i-- > 0;) { /* children come after their parents */
        const double *value = nodes[i].value;
        double own = value[TG_PICTURE_TEST] > 0 ? value[TG_PICTURE_TEST] : value[TG_PICTURE_BASE];
        f[i].width = fmax(own, f[i].inside);
        if (i)
            f[nodes[i].parent].inside += f[i].width;
    }
    /* Functions that wrap the program: each holds nearly all of the one before. The last is the one
     * to look at, and what else a wrapper holds is beside it. */
    size_t at = held_by(t, 0), next;
    while (at && nodes[at].kind == TG_PATH_FUNCTION && (next = held_by(t, at)) != at &&
           nodes[next].kind == TG_PATH_FUNCTION) {
        f[at].folded = true;
        t->n_folded++;
        at = next;
    }
    double scale = WIDTH / f[0].width;
    f[0].width *= scale;
    for (size_t i = 1; i < t->p->n_nodes; i++) {
        struct frame *up = &f[nodes[i].parent];
        f[i].parent = up->folded ? up->parent : nodes[i].parent;
        f[i].row = up->row + !f[i].folded;
        f[i].width *= scale;
        f[i].x = f[i].edge = up->edge;
        up->edge += f[i].width;
        if (f[i].width >= 0.5 && f[i].row > t->deepest)
            t->deepest = f[i].row;
    }
}

static void put_node(struct tg_buf *out, const struct tree *t, size_t i)
{
    const struct tg_picture_node *n = &t->p->nodes[i];
    const struct frame *f = &t->f[i];
    double y = (double)f->row * ROW;
    if (f->width < 0.5 || f->folded)
        return;
    tg_buf_printf(out,
                  "<g class=\"%s\" data-i=\"%zu\" data-p=\"%u\"><rect x=\"%.1f\" y=\"%.1f\" "
                  "width=\"%.1f\" height=\"%d\"/>",
                  paint_of(n), i, (unsigned)f->parent, f->x, y, f->width, ROW - 1);
    TG_BUF text = { 0 };
    tg_label_put_one(&text, text_of(n), 120);
    TG_PUT(out, tg_esc_xml, "<title>{}", tg_buf_sv(&text));
    tg_buf_printf(out, " (%s): %s \xe2\x86\x92 %s", tg_path_kind_name(n->kind),
                  TG_AS(tg_put_time_unit, n->value[0]), TG_AS(tg_put_time_unit, n->value[1]));
    put_percent(out, n);
    tg_buf_printf(out, "</title><text x=\"%.1f\" y=\"%.1f\">", f->x + 4, y + 14);
    /* "forward +12 %" on what fits; about 7 px a character. */
    enum { LEAST = 12 }; /* that a label can be shortened to */
    TG_BUF percent = { 0 }, label = { 0 };
    double fit = (f->width - 8) / 7;
    size_t room = fit > 0 ? (size_t)fit : 0;
    tg_sv name = text_of(n);
    put_percent(&percent, n);
    if (room < percent.n + LEAST)
        tg_buf_clear(&percent);
    room -= percent.n;
    if (tg_utf8_count(name) > room && n->kind == TG_PATH_FUNCTION) { /* without its file */
        const char *at = memmem(name.p, name.n, ": ", 2);
        name = tg_sv_from(name, at ? (size_t)(at + 2 - name.p) : 0);
    }
    if (room >= LEAST)
        tg_label_put_one(&label, name, room);
    else if (room >= 3)
        tg_shorten_visible(&label, name, room);
    tg_esc_xml(out, tg_buf_sv(&label));
    tg_buf_add(out, tg_buf_sv(&percent));
    tg_buf_puts(out, "</text></g>\n");
}

/* ---- what only one side has ---- */

static void put_only(struct tg_html *h, int side)
{
    const struct tg_picture *p = h->r->picture;
    TG_FREE struct tg_ranked *v = tg_xmalloc((p->n_nodes + 1) * sizeof *v);
    size_t n = 0;
    /* Its parent is on both sides: the top of what came or went. */
    for (size_t i = 1; i < p->n_nodes; i++)
        if (p->nodes[i].value[side] > 0 && !(p->nodes[i].value[!side] > 0) &&
            p->nodes[p->nodes[i].parent].value[!side] > 0)
            v[n++] = (struct tg_ranked){ p->nodes[i].value[side], (uint32_t)i };
    if (n) {
        TG_SORT(v, n, tg_rows_by_size);
        tg_buf_printf(h->page.out, "<details%s><summary>%zu %s</summary>\n<ul>\n",
                      n <= LISTED ? " open" : "", n, side == TG_PICTURE_TEST ? "new" : "gone");
        for (size_t i = 0; i < n; i++) {
            const struct tg_picture_node *top = &p->nodes[v[i].at];
            const struct tg_picture_node *parent = &p->nodes[top->parent], *up = parent;
            /* "cudaLaunchKernel" is in much of the program: the place is the function, module or
             * mark around it. */
            while (up->depth && up->kind != TG_PATH_FUNCTION && up->kind != TG_PATH_MODULE &&
                   up->kind != TG_PATH_ANNOTATION)
                up = &p->nodes[up->parent];
            up = up->depth ? up : parent;
            TG_PUT(h->page.out, tg_html_put_name, "<li>{} ", top->text);
            tg_put_time_unit(h->page.out, top->value[side]);
            if (up->text.n)
                TG_PUT(h->page.out, tg_html_put_name, " in {}", up->text);
            tg_buf_puts(h->page.out, "</li>\n");
        }
        tg_buf_puts(h->page.out, "</ul>\n</details>\n");
    }
}

void tg_html_put_tree(struct tg_html *h)
{
    const struct tg_picture *p = h->r->picture;
    if (!p || !p->n_nodes)
        return;
    tg_page_section(&h->page, "paths", "Where the time comes from");
    tg_buf_printf(
        h->page.out,
        "<p class=\"dim small\">%s of one trace of each side, per step, by call path%s. "
        "A frame is as wide as its time after the change, or before it if it is gone; colour and "
        "sign are the difference. Paths under ",
        p->device ? "Device time, at the place that launched it," : "Host time",
        p->stacks ? "" : " (operators and annotations: the traces have no Python stacks)");
    tg_put_time_unit(h->page.out, p->least);
    tg_buf_puts(h->page.out,
                " are left out.</p>\n"
                "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
                "<pattern id=\"came\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><rect class=\"paper\" width=\"6\" height=\"6\"/>"
                "<rect class=\"up\" width=\"3\" height=\"6\"/></pattern>"
                "<pattern id=\"went\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(-45)\"><rect class=\"paper\" width=\"6\" height=\"6\"/>"
                "<rect class=\"down\" width=\"3\" height=\"6\"/></pattern></defs></svg>\n");
    static const struct {
        const char *paint, *text;
    } key[] = { { "u3", "+50 % or more" }, { "u2", "+15 %" },         { "flat", "as before" },
                { "d2", "-15 %" },         { "d3", "-50 % or less" }, { "new", "new" },
                { "gone", "gone" } };
    /* A frame that is drawn, and not in the colour of "as before". */
    double least = fmax(p->nodes[0].value[0], p->nodes[0].value[1]) / WIDTH / 2;
    bool changed = false;
    for (size_t i = 0; i < p->n_nodes && !changed; i++)
        changed = fmax(p->nodes[i].value[0], p->nodes[i].value[1]) >= least &&
                  strcmp(paint_of(&p->nodes[i]), "flat") != 0;
    if (!changed)
        tg_buf_printf(h->page.out, "<p>%s: unchanged.</p>\n",
                      p->device ? "Device time" : "Host time");
    tg_buf_puts(h->page.out, changed ? "<ul class=\"facts small dim\">\n" : "");
    for (size_t i = 0; changed && i < sizeof key / sizeof *key; i++)
        tg_buf_printf(
            h->page.out,
            "<li><svg class=\"key tree\" width=\"14\" height=\"12\" aria-hidden=\"true\"><g "
            "class=\"%s\"><rect width=\"14\" height=\"12\"/></g></svg> %s</li>\n",
            key[i].paint, key[i].text);
    tg_buf_puts(h->page.out, changed ? "</ul>\n" : "");
    TG_FREE struct frame *frames = tg_xcalloc(p->n_nodes + 1, sizeof *frames);
    struct tree t = { .p = p, .f = frames };
    lay_out(&t);
    tg_buf_printf(
        h->page.out,
        "<div class=\"wide\"><svg class=\"tree\" viewBox=\"0 0 %d %zu\" role=\"img\" "
        "tabindex=\"0\" aria-label=\"Call paths, as wide as their time after the change\">\n",
        WIDTH, (t.deepest + 1) * ROW);
    for (size_t i = 0; i < p->n_nodes; i++)
        put_node(h->page.out, &t, i);
    tg_buf_puts(h->page.out, "</svg></div>\n");
    if (t.n_folded)
        tg_buf_printf(h->page.out, "<p class=\"dim small\">Without %zu function%s around it.</p>\n",
                      t.n_folded, t.n_folded == 1 ? "" : "s");
    for (int side = TG_PICTURE_TEST; changed && side >= TG_PICTURE_BASE; side--)
        put_only(h, side);
    tg_page_section_end(&h->page);
}

/* ---- one step of each side, before above after, on one scale of time ---- */

enum { LEFT = 70, LANE = 18, HEAD = 18, AXIS = 24 };

static const char *const paint[TG_PAINTS] = {
    [TG_PAINT_COMPUTE] = "c1", [TG_PAINT_COMM] = "c2",   [TG_PAINT_MEMORY] = "c3",
    [TG_PAINT_HOST] = "host",  [TG_PAINT_WAIT] = "wait",
};
static const char *const paint_name[TG_PAINTS] = {
    [TG_PAINT_COMPUTE] = "compute",
    [TG_PAINT_COMM] = "communication",
    [TG_PAINT_MEMORY] = "memory copies and sets",
    [TG_PAINT_HOST] = "host",
    [TG_PAINT_WAIT] = "host waits for the device",
};

static size_t height(const struct tg_picture_step *s)
{
    return s->n ? HEAD + s->n_lanes * LANE + 8 : 0;
}

static void put_step(struct tg_buf *out, const struct tg_picture_step *s, const char *title,
                     double scale, size_t top)
{
    if (!s->n)
        return;
    tg_buf_printf(out, "<text class=\"b\" x=\"0\" y=\"%zu\">%s, step %lld: %s</text>\n", top + 12,
                  title, (long long)s->number, TG_AS(tg_put_time_unit, (double)s->dur));
    for (size_t k = 0; k < s->n_lanes; k++)
        tg_buf_printf(out, "<text class=\"dim\" x=\"0\" y=\"%zu\">%.*s</text>\n",
                      top + HEAD + k * LANE + 12, TG_SV_ARG(s->lanes[k]));
    TG_EACH(const struct tg_picture_span, span, s->spans, s->n) {
        TG_BUF name = { 0 };
        tg_buf_printf(
            out, "<rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"><title>",
            paint[span->paint], LEFT + (double)span->start * scale, top + HEAD + span->lane * LANE,
            fmax((double)span->dur * scale, 0.6), LANE - 3);
        tg_label_put_one(&name, span->name, 70);
        tg_esc_xml(out, tg_buf_sv(&name));
        if (span->n > 1)
            tg_buf_printf(out, " and %u more", (unsigned)span->n - 1);
        tg_buf_printf(out, ", %s</title></rect>\n", TG_AS(tg_put_time_unit, (double)span->dur));
    }
}

/* Where to see the step itself: a link if the trace has an address, else the file and the time. */
static void put_trace(struct tg_html *h, int side)
{
    const struct tg_picture_step *s = &h->r->picture->step[side];
    TG_BUF url = { 0 };
    if (!s->n)
        return;
    if (side == TG_PICTURE_TEST)
        tg_link_put_perfetto(&url, h->r->trace_url, s->start, s->dur);
    tg_buf_puts(h->page.out, side == TG_PICTURE_BASE ? "<p class=\"small\">before: "
                                                     : "<p class=\"small\">after: ");
    if (url.n) {
        tg_page_link(&h->page, tg_buf_sv(&url), TG_SV("this step in Perfetto"));
    } else {
        tg_page_name(&h->page, s->trace, 80);
        tg_buf_puts(h->page.out, " from ");
        tg_dec_put_us(h->page.out, s->start);
        tg_buf_puts(h->page.out, " \xc2\xb5s on; drop the file on ui.perfetto.dev to look closer");
    }
    tg_buf_puts(h->page.out, "</p>\n");
}

void tg_html_put_steps(struct tg_html *h)
{
    const struct tg_picture *p = h->r->picture;
    if (!p || !p->step[TG_PICTURE_TEST].n)
        return;
    double whole = fmax((double)p->step[0].dur, (double)p->step[1].dur);
    double scale = (WIDTH - LEFT - 30) / fmax(whole, 1);
    size_t top = height(&p->step[0]) + height(&p->step[1]);
    tg_page_section(&h->page, "timeline", "One step, before and after");
    bool seen[TG_PAINTS] = { false };
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < h->r->picture->step[side].n; i++)
            seen[h->r->picture->step[side].spans[i].paint] = true;
    tg_buf_puts(h->page.out, "<ul class=\"facts small dim\">\n");
    for (int k = 0; k < TG_PAINTS; k++)
        if (seen[k])
            tg_buf_printf(
                h->page.out,
                "<li><svg class=\"key\" width=\"14\" height=\"12\" aria-hidden=\"true\"><rect "
                "class=\"%s\" width=\"14\" height=\"12\"/></svg> %s</li>\n",
                paint[k], paint_name[k]);
    tg_buf_puts(h->page.out, "</ul>\n");
    tg_buf_printf(h->page.out,
                  "<div class=\"wide\" role=\"region\" aria-label=\"Timeline\" tabindex=\"0\"><svg "
                  "class=\"time\" viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"One step of "
                  "each side\">\n",
                  WIDTH, top + AXIS);
    struct tg_buf *out = h->page.out;
    double step = tg_svg_step(whole, 5);
    for (double v = 0; v <= whole * (1 + 1e-9); v += step) {
        double x = LEFT + v * scale;
        tg_buf_printf(out,
                      "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%zu\"/><text "
                      "class=\"tick mid\" x=\"%.1f\" y=\"%zu\">%s</text>\n",
                      x, x, HEAD, top + 4, x, top + 18, TG_AS(tg_put_time_unit, v));
    }
    put_step(h->page.out, &p->step[TG_PICTURE_BASE], "Before", scale, 0);
    put_step(h->page.out, &p->step[TG_PICTURE_TEST], "After", scale,
             height(&p->step[TG_PICTURE_BASE]));
    tg_buf_puts(h->page.out, "</svg></div>\n");
    put_trace(h, TG_PICTURE_BASE);
    put_trace(h, TG_PICTURE_TEST);
    tg_page_section_end(&h->page);
}

/* ---- the step, before and after ---- */

/* In parts that add up to it: on a device what no other part hides, on the host operators and calls
 * of the runtime, waits, and the time between operators. */

enum { BAR_WIDTH = 1000, BAR = 26, PARTS = 4 };

struct part {
    const char *title, *paint;
    double ns[2];
};

/* The mean of all ranks; where one rank alone takes longer, that rank's. */
static bool of_metric(const struct tg_comparison *c, enum tg_metric m, int side, double *out)
{
    const struct tg_rank_alone *alone = c->rank_alone;
    if (alone) {
        *out = alone->metric_known[m][side] ? alone->metric[m][side] : 0;
        return alone->metric_known[m][side];
    }
    *out = c->metrics[m].known[side] ? c->metrics[m].value[side] : 0;
    return c->metrics[m].known[side];
}

static double not_below(double v)
{
    return v > 0 ? v : 0;
}

/* False: a side has no device work, or the host bounds the step: then its parts say more. */
static bool device_parts(const struct tg_comparison *c, struct part *p)
{
    bool known = true, bound = false;
    p[0] = (struct part){ .title = "compute", .paint = "c1" };
    p[1] = (struct part){ .title = "communication not hidden", .paint = "c2" };
    p[2] = (struct part){ .title = "memory copies and sets by themselves", .paint = "c3" };
    p[3] = (struct part){ .title = "idle", .paint = "c4" };
    for (int s = 0; s < 2; s++) {
        double step, extent, busy;
        known = of_metric(c, TG_METRIC_STEP_TIME, s, &step) && known;
        known = of_metric(c, TG_METRIC_DEVICE_EXTENT, s, &extent) && known;
        known = of_metric(c, TG_METRIC_GPU_BUSY, s, &busy) && known;
        known = of_metric(c, TG_METRIC_COMPUTE_TIME, s, &p[0].ns[s]) && known;
        (void)of_metric(c, TG_METRIC_COMM_EXPOSED, s, &p[1].ns[s]);
        p[2].ns[s] = not_below(busy - p[0].ns[s] - p[1].ns[s]);
        p[3].ns[s] = not_below(fmax(step, extent) - busy);
        bound |= 2 * busy >= step;
    }
    return known && bound;
}

static double sum(const struct part *p, int side)
{
    double all = 0;
    for (int k = 0; k < PARTS; k++)
        all += p[k].ns[side];
    return all;
}

/*
 * Of the thread that runs the step: its waits, and the time between operators where the traces have
 * a row for it; operators and calls of the runtime are the rest. Without such a row the time
 * between is the rest. False: the parts do not fit in, since work of other threads is among them.
 */
static bool host_parts(const struct tg_verdict *v, struct part *p)
{
    enum { OPERATORS, WAITS, BETWEEN, UNUSED };
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    double step[2];
    if (!tg_effect_step(v, step))
        return false;
    p[OPERATORS] = (struct part){ .title = "operators and runtime calls", .paint = "c1" };
    p[WAITS] = (struct part){ .title = "waiting", .paint = "c2" };
    p[BETWEEN] = (struct part){ .title = "between operators", .paint = "c4" };
    p[UNUSED] = (struct part){ .title = "" };
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        bool works =
            op->kind == TG_KIND_OP || op->kind == TG_KIND_RUNTIME || op->kind == TG_KIND_GRAPH;
        int k = works                      ? OPERATORS
                : op->kind == TG_KIND_SYNC ? WAITS
                : op->kind == TG_KIND_STEP ? BETWEEN
                                           : UNUSED;
        for (int s = 0; k != UNUSED && s < 2; s++)
            p[k].ns[s] += not_below(op->self[s]);
    }
    int rest = p[BETWEEN].ns[TG_BASE] > 0 && p[BETWEEN].ns[TG_TEST] > 0 ? OPERATORS : BETWEEN;
    for (int s = 0; s < 2; s++)
        p[rest].ns[s] += step[s] - sum(p, s);
    return p[rest].ns[TG_BASE] >= 0 && p[rest].ns[TG_TEST] >= 0;
}

/* The words are not in the drawing, which has the width of the screen: they would shrink with
 * it. */
static void put_side(struct tg_buf *out, const struct part *p, int side, double largest)
{
    double x = 0;
    tg_buf_printf(out,
                  "<span>%s</span><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "role=\"img\" aria-label=\"Parts of the step; the table below has the numbers\">",
                  side == TG_BASE ? "before" : "after", BAR_WIDTH, BAR);
    for (int k = 0; k < PARTS; k++) {
        double w = p[k].ns[side] * BAR_WIDTH / largest;
        if (w < 0.05)
            continue;
        tg_buf_printf(out,
                      "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>%s "
                      "%s</title></rect>",
                      p[k].paint, x, w, BAR, p[k].title, TG_AS(tg_put_time_unit, p[k].ns[side]));
        x += w;
    }
    tg_buf_printf(out, "</svg><span>%s</span>\n", TG_AS(tg_put_time_unit, sum(p, side)));
}

static const struct tg_page_column columns[] = {
    { "part", false }, { "before", true }, { "after", true }, { "change", true }, { "%", true }
};

void tg_html_put_bar(struct tg_html *h)
{
    const struct tg_comparison *c = tg_confirm_last(h->v->comparison);
    struct part parts[PARTS];
    if (!c)
        return;
    bool device = device_parts(c, parts);
    if (!device && !host_parts(h->v, parts))
        return;
    double largest = fmax(sum(parts, TG_BASE), sum(parts, TG_TEST));
    if (!(largest > 0))
        return;
    tg_page_section(&h->page, "step", "The step, before and after");
    tg_buf_puts(h->page.out, "<div class=\"parts\">\n");
    put_side(h->page.out, parts, TG_BASE, largest);
    put_side(h->page.out, parts, TG_TEST, largest);
    tg_buf_puts(h->page.out, "</div>\n");
    tg_page_table(&h->page, TG_PAGE_TABLE("Parts of the step", columns, .plain = true));
    for (int k = 0; k < PARTS; k++)
        if (parts[k].ns[0] > 0 || parts[k].ns[1] > 0) {
            /* A change below a thousandth of the step has no percentage. */
            const struct part *p = &parts[k];
            double d = p->ns[TG_TEST] - p->ns[TG_BASE];
            bool tells = p->ns[TG_BASE] > 0 && fabs(d) >= largest / 1000;
            tg_page_row(&h->page, NULL);
            tg_buf_printf(
                tg_page_cell(&h->page),
                "<svg class=\"key\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect "
                "class=\"%s\" width=\"12\" height=\"12\"/></svg> ",
                p->paint);
            tg_esc_xml(h->page.out, tg_sv_of(p->title));
            for (int s = 0; s < 2; s++)
                tg_put_time_unit(tg_page_number(&h->page, p->ns[s]), p->ns[s]);
            tg_put_time_delta(tg_page_number(&h->page, d), d);
            tg_page_number(&h->page, tells ? d / p->ns[TG_BASE] : NAN);
            if (tells)
                tg_put_pct_delta(h->page.out, 100 * d / p->ns[TG_BASE]);
        }
    tg_page_table_end(&h->page);
    /* "Device time per step of rank 5; its parts as in the mean step." */
    tg_buf_printf(h->page.out, "<p class=\"dim small\">%s time per step",
                  device ? "Device" : "Host");
    if (device && c->rank_alone)
        tg_buf_printf(h->page.out, " of %s", c->rank_alone->called);
    else if (c->n_ranks[TG_TEST] > 1)
        tg_buf_printf(h->page.out, ", mean of %zu ranks", c->n_ranks[TG_TEST]);
    tg_buf_puts(h->page.out, device ? "; its parts as in the mean step.</p>\n"
                                    : ", of the thread that runs the step: means of the "
                                      "steps; a finding may be of the fastest ones.</p>\n");
    tg_page_section_end(&h->page);
}
