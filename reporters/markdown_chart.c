#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"
#include "reporters/svg_ground.h"

/* Mermaid draws bars of equal labels as one: the second of a label gets a number. */
static void put_label(struct tg_buf *out, const struct tg_markdown *m, uint32_t row,
                      struct tg_strmap *used)
{
    TG_BUF text = { 0 };
    TG_BUF label = { 0 };
    size_t before = used->n, stem;
    /* The short form that the table has, if it has the row and Mermaid has the room. */
    enum { WIDTH = 24 }; /* of a label beside a bar */
    const struct tg_op *op = &m->v->comparison->ops[row];
    size_t at = tg_markdown_find_row(m, row), names = tg_row_was(m->v, op).n_after;
    TG_BUF others = { 0 };
    if (names > 1)
        tg_buf_printf(&others, " and %zu more", names - 1);
    if (at < m->names.n)
        tg_label_put(&text, &m->names.labels.v[at]);
    if (at == m->names.n || tg_utf8_count(tg_buf_sv(&text)) + others.n > WIDTH) {
        tg_buf_clear(&text);
        tg_label_put_one(&text, op->name, WIDTH - others.n);
    }
    tg_buf_add(&text, tg_buf_sv(&others));
    tg_esc_mermaid(&label, tg_buf_sv(&text));
    /* As Mermaid compares labels: without blanks at the ends, and several blanks are one. */
    size_t n = 0;
    for (size_t i = 0; i < label.n; i++)
        if (label.p[i] != ' ' || (n && label.p[n - 1] != ' '))
            label.p[n++] = label.p[i];
    label.n = n && label.p[n - 1] == ' ' ? n - 1 : n;
    if (!label.n) /* nothing is left of the name "`", and "" is a syntax error */
        tg_buf_putc(&label, '?');
    stem = label.n;
    (void)tg_strmap_add(used, tg_buf_sv(&label));
    for (unsigned k = 2; used->n == before; k++) {
        label.n = stem;
        tg_buf_printf(&label, " (%u)", k);
        (void)tg_strmap_add(used, tg_buf_sv(&label));
    }
    tg_buf_printf(out, "\"%.*s\"", TG_SV_ARG(tg_buf_sv(&label)));
}

enum { MAX_BARS = 8 };

struct bar {
    uint32_t row;
    double value; /* ns per step */
};
struct bars {
    struct bar *v;
    size_t n;
    double sum;
};

/* Noise is not a slowdown, what is waived is accepted; bars below a hundredth of the largest would
 * be invisible. */
static void collect_bars(struct bars *b, const struct tg_markdown *m, double sign)
{
    const struct tg_comparison *c = m->v->comparison;
    size_t n = 0, most = m->top < MAX_BARS ? m->top : MAX_BARS;
    TG_FREE uint32_t *rows =
        tg_rows_worst(c, &(struct tg_rows_choice){ .basis = TG_BASIS_JUDGED, .v = m->v }, &n);
    TG_FREE unsigned char *told = tg_rows_told(m->v);
    b->v = tg_xmalloc((n + 1) * sizeof *b->v);
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        double d = sign * tg_row_shown(m->v, op).d_ns;
        /* that a wait is longer follows from what it waits for */
        bool wait = op->wait && op->change == TG_SAME;
        bool judged = told[rows[i]] & TG_ROW_ABOUT || tg_row_is_judged(c, op);
        if (d >= 100 && !wait && judged && !tg_row_is_waived(m->v, op))
            b->v[b->n++] = (struct bar){ rows[i], d };
    }
    b->n = b->n < most ? b->n : most;
    while (b->n && b->v[b->n - 1].value < b->v[0].value / 100)
        b->n--;
    b->sum = 0;
    for (size_t i = 0; i < b->n; i++)
        b->sum += b->v[i].value;
}

/*
 * Bars of a Mermaid chart start at the axis' end, so it shows growth alone, or else only what
 * shrank; and only where there is something to see: more than three lines of the table show as
 * well, and a hundredth of the step.
 */
void tg_markdown_put_chart(struct tg_markdown *m)
{
    enum { TABLE_SHOWS = 3 };
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF part = { 0 };
    struct bars b;
    double sign = 1;
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    collect_bars(&b, m, sign);
    if (!b.n) {
        free(b.v);
        collect_bars(&b, m, sign = -1);
    }
    if (b.n > TABLE_SHOWS && b.sum >= 0.01 * c->wall_ns[TG_BASE]) {
        TG_AUTO(tg_strmap_release) struct tg_strmap used = { 0 };
        tg_buf_printf(&part,
                      "\n```mermaid\nxychart-beta horizontal\n    title \"%s, \xc2\xb5s per step\""
                      "\n    x-axis [",
                      sign > 0 ? "Got slower" : "Got faster");
        for (size_t i = 0; i < b.n; i++) {
            tg_buf_puts(&part, i ? ", " : "");
            put_label(&part, m, b.v[i].row, &used);
        }
        tg_buf_puts(&part, "]\n    y-axis \"\xc2\xb5s per step\" 0 --> ");
        /* Without a range the axis would begin at the shortest bar. */
        tg_dec_put_fixed(&part, fmax(tg_svg_step(b.v[0].value / 1000, 1), 1), 0);
        tg_buf_puts(&part, "\n    bar [");
        for (size_t i = 0; i < b.n; i++)
            tg_buf_printf(&part, "%s%s", i ? ", " : "", TG_AS(tg_put_us, b.v[i].value));
        tg_buf_puts(&part, "]\n```\n");
    }
    tg_markdown_add_or_drop(m, &part);
    free(b.v);
}
