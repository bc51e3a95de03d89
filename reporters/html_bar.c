/* The step before and after, in parts that add up to it: on a device what no other part hides, on
 * the host operators and calls of the runtime, waits, and the time between operators. */
#include <math.h>

#include "core/diff/confirm.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/html.h"
#include "reporters/number.h"

enum { WIDTH = 1000, BAR = 26, PARTS = 4 };

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
                  side == TG_BASE ? "before" : "after", WIDTH, BAR);
    for (int k = 0; k < PARTS; k++) {
        double w = p[k].ns[side] * WIDTH / largest;
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
            tg_page_cell(&h->page);
            tg_buf_printf(
                h->page.out,
                "<svg class=\"key\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect "
                "class=\"%s\" width=\"12\" height=\"12\"/></svg> ",
                p->paint);
            tg_esc_xml(h->page.out, tg_sv_of(p->title));
            for (int s = 0; s < 2; s++) {
                tg_put_time_unit(tg_page_number(&h->page, p->ns[s]), p->ns[s]);
            }
            tg_put_time_delta(tg_page_number(&h->page, d), d);
            tg_page_number(&h->page, tells ? d / p->ns[TG_BASE] : NAN);
            if (tells)
                tg_put_pct_delta(h->page.out, 100 * d / p->ns[TG_BASE]);
        }
    tg_page_table_end(&h->page);
    /* "Device time per step of rank 5; its parts as in the mean step." */
    const struct tg_comparison *caption = tg_confirm_last(h->v->comparison);
    tg_buf_printf(h->page.out, "<p class=\"dim small\">%s time per step",
                  device ? "Device" : "Host");
    if (device && caption->rank_alone)
        tg_buf_printf(h->page.out, " of %s", caption->rank_alone->called);
    else if (caption->n_ranks[TG_TEST] > 1)
        tg_buf_printf(h->page.out, ", mean of %zu ranks", caption->n_ranks[TG_TEST]);
    tg_buf_puts(h->page.out, device ? "; its parts as in the mean step.</p>\n"
                                    : ", of the thread that runs the step: means of the "
                                      "steps; a finding may be of the fastest ones.</p>\n");
    tg_page_section_end(&h->page);
}
