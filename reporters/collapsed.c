/*
 * The fresh side's call paths as collapsed stacks, "step;train.py: step;Block;aten::mm 12345", in
 * ns per step: for speedscope, flamegraph.pl and Perfetto. Of the first trace, as the page draws
 * it.
 */

#include "core/base/utf8.h"
#include "reporters/reporter.h"

static void put_path(struct tg_buf *out, const struct tg_picture *p, size_t i)
{
    if (i) {
        put_path(out, p, p->nodes[i].parent);
        tg_buf_putc(out, ';');
    }
    /* A frame has no ';', which separates frames, and no blank before a number at its end. */
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, p->nodes[i].text.n ? p->nodes[i].text : TG_SV("step"));
    for (size_t k = 0; k < visible.n; k++)
        tg_buf_putc(out, visible.p[k] == ';' ? ':' : visible.p[k]);
}

void tg_reporter_collapsed(struct tg_buf *out, const struct tg_verdict *v,
                           const struct tg_render *r)
{
    const struct tg_picture *p = r->picture;
    size_t n = p ? p->n_nodes : 0;
    TG_FREE double *self = tg_xmalloc((n + 1) * sizeof *self);
    (void)v;
    for (size_t i = 0; i < n; i++)
        self[i] = p->nodes[i].value[TG_PICTURE_TEST];
    for (size_t i = 1; i < n; i++)
        self[p->nodes[i].parent] -= p->nodes[i].value[TG_PICTURE_TEST];
    for (size_t i = 0; i < n; i++) {
        if (self[i] < 0.5)
            continue;
        put_path(out, p, i);
        tg_buf_printf(out, " %.0f\n", self[i]);
    }
}
