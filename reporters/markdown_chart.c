#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"

/* To 1, 2 or 5 times a power of ten. */
static double round_up(double v)
{
    double power = 1;
    while (power * 10 < v)
        power *= 10;
    return v <= power       ? power
           : v <= 2 * power ? 2 * power
           : v <= 5 * power ? 5 * power
                            : 10 * power;
}

/* Mermaid draws bars of equal labels as one: the second of a label gets a number. */
static void put_label(struct tg_buf *out, const struct tg_label *name, struct tg_strmap *used)
{
    TG_BUF text = { 0 }, label = { 0 };
    size_t before = used->n, stem;
    tg_label_put(&text, name);
    tg_esc_mermaid(&label, tg_buf_sv(&text));
    if (!label.n) /* nothing is left of the name "`", and "" is a syntax error */
        tg_buf_putc(&label, '?');
    stem = label.n;
    (void)tg_strmap_add(used, tg_buf_sv(&label));
    for (unsigned k = 2; used->n == before; k++) {
        label.n = stem;
        tg_buf_printf(&label, " (%u)", k);
        (void)tg_strmap_add(used, tg_buf_sv(&label));
    }
    tg_buf_printf(out, "\"%s\"", label.p);
}

enum { MAX_BARS = 8, NAME_BAR = 28 };

struct bars {
    uint32_t row[MAX_BARS];
    double value[MAX_BARS];
    size_t n;
    double largest, sum; /* ns per step */
};

/* Noise is not a slowdown; bars below a hundredth of the largest would be invisible. */
static void collect_bars(struct bars *b, const struct tg_markdown *m, const uint32_t *rows,
                         size_t n, double sign)
{
    const struct tg_comparison *c = m->v->comparison;
    for (size_t i = 0; i < n && b->n < MAX_BARS && b->n < m->top; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        double d = sign * tg_effect_numbers(m->v, op).d_ns;
        /* that a wait is longer follows from what it waits for */
        bool wait = op->wait && op->change == TG_SAME;
        if (tg_op_within_noise(op) || tg_effect_is_part(m->v, op) || wait || d < 100 ||
            d < b->largest / 100)
            continue;
        b->largest = d > b->largest ? d : b->largest;
        b->sum += d;
        b->row[b->n] = rows[i];
        b->value[b->n++] = d;
    }
}

static void put_bars(struct tg_buf *out, const struct bars *b, const struct tg_comparison *c,
                     double sign)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap used;
    struct tg_labels labels;
    tg_strmap_init(&used);
    tg_labels_of_rows(&labels, c, b->row, b->n, NAME_BAR);
    tg_buf_printf(out,
                  "\n```mermaid\nxychart-beta horizontal\n    title \"%s, \xc2\xb5s per step\""
                  "\n    x-axis [",
                  sign > 0 ? "Got slower" : "Got faster");
    for (size_t i = 0; i < b->n; i++) {
        tg_buf_puts(out, i ? ", " : "");
        put_label(out, &labels.v[i], &used);
    }
    tg_buf_puts(out, "]\n    y-axis \"\xc2\xb5s per step\" 0 --> ");
    /* Without a range the axis would begin at the shortest bar. */
    tg_dec_put_fixed(out, round_up(b->largest / 1000), 0);
    tg_buf_puts(out, "\n    bar [");
    for (size_t i = 0; i < b->n; i++) {
        tg_buf_puts(out, i ? ", " : "");
        tg_put_us(out, b->value[i]);
    }
    tg_buf_puts(out, "]\n```\n");
    tg_labels_release(&labels);
}

/*
 * Bars of a Mermaid chart start at the axis' end, so it shows growth alone, or else only what
 * shrank; and only where there is something to see: two bars, and a hundredth of the step.
 */
void tg_markdown_put_chart(struct tg_markdown *m)
{
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF part = { 0 };
    struct bars b = { .n = 0 };
    double sign = 1;
    size_t n = 0;
    TG_FREE uint32_t *rows = NULL;
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    rows =
        tg_rows_worst(c, &(struct tg_rows_choice){ .basis = TG_BASIS_JUDGED }, c->n_ops, &n, NULL);
    collect_bars(&b, m, rows, n, sign);
    if (!b.n)
        collect_bars(&b, m, rows, n, sign = -1);
    if (b.n > 1 && b.sum >= 0.01 * c->step_ns[TG_BASE])
        put_bars(&part, &b, c, sign);
    tg_markdown_add_or_drop(m, &part);
}
