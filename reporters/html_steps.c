/* One step of each side, before above after, on one scale of time. */
#include <math.h>

#include "core/base/decimal.h"
#include "reporters/escape.h"
#include "reporters/html.h"
#include "reporters/label.h"
#include "reporters/link.h"
#include "reporters/number.h"
#include "reporters/svg_ground.h"

enum { WIDTH = 1080, LEFT = 70, LANE = 18, HEAD = 18, AXIS = 24 };

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
    for (size_t i = 0; i < s->n; i++) {
        const struct tg_picture_span *span = &s->spans[i];
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
    tg_page_raw(&h->page, side == TG_PICTURE_BASE ? "<p class=\"small\">before: "
                                                  : "<p class=\"small\">after: ");
    if (url.n) {
        tg_page_link(&h->page, tg_buf_sv(&url), TG_SV("this step in Perfetto"));
    } else {
        tg_page_name(&h->page, s->trace, 80);
        tg_page_raw(&h->page, " from ");
        tg_dec_put_us(h->page.out, s->start);
        tg_page_raw(&h->page, " \xc2\xb5s on; drop the file on ui.perfetto.dev to look closer");
    }
    tg_page_raw(&h->page, "</p>\n");
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
    tg_page_raw(&h->page, "<ul class=\"facts small dim\">\n");
    for (int k = 0; k < TG_PAINTS; k++)
        if (seen[k])
            tg_buf_printf(
                h->page.out,
                "<li><svg class=\"key\" width=\"14\" height=\"12\" aria-hidden=\"true\"><rect "
                "class=\"%s\" width=\"14\" height=\"12\"/></svg> %s</li>\n",
                paint[k], paint_name[k]);
    tg_page_raw(&h->page, "</ul>\n");
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
    tg_page_raw(&h->page, "</svg></div>\n");
    put_trace(h, TG_PICTURE_BASE);
    put_trace(h, TG_PICTURE_TEST);
    tg_page_section_end(&h->page);
}
