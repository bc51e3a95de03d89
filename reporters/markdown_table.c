#include <stdlib.h>

#include "core/base/decimal.h"
#include "reporters/effect.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"

enum { NAME_TABLE = 20 }; /* wider cells make the rows scroll on a phone */

/* Each pair has its unit: rows of both sizes share a table. */
static void put_times(struct tg_buf *out, const struct tg_row_numbers *n)
{
    double largest = n->ns[TG_BASE] > n->ns[TG_TEST] ? n->ns[TG_BASE] : n->ns[TG_TEST];
    double shown = largest > 0 ? largest : 1;
    tg_put_time(out, n->ns[TG_BASE], shown);
    tg_buf_puts(out, "\xc2\xa0\xe2\x86\x92 "); /* two lines where it is narrow */
    tg_put_time(out, n->ns[TG_TEST], shown);
    tg_buf_puts(out, tg_time_unit(shown));
}

static void put_calls(struct tg_buf *out, const struct tg_row_numbers *n)
{
    tg_put_count(out, n->count[TG_BASE]);
    if (n->d_count != 0) {
        tg_buf_puts(out, "\xc2\xa0\xe2\x86\x92 ");
        tg_put_count(out, n->count[TG_TEST]);
    }
    tg_buf_puts(out, n->count[TG_BASE] == 1 && n->d_count == 0 ? "\xc2\xa0"
                                                                 "call"
                                                               : "\xc2\xa0"
                                                                 "calls");
}

static void put_more(struct tg_buf *out, size_t n)
{
    if (n > 1)
        tg_buf_printf(out, " and %zu more", n - 1);
}

/* The former name of a rename or a replacement is in the same cell, above. */
static void put_names(struct tg_buf *out, const struct tg_verdict *v, const struct tg_op *op,
                      const struct tg_label *label)
{
    struct tg_effect_former f = tg_effect_former(v, op);
    TG_BUF name = { 0 };
    if (f.name) {
        tg_label_put_one(&name, f.name->name, NAME_TABLE);
        tg_esc_md_code(out, tg_buf_sv(&name), TG_ESC_CELL);
        put_more(out, f.n_before);
        tg_buf_puts(out, " \xe2\x86\x92<br>");
    }
    tg_markdown_put_label(out, label, TG_ESC_CELL);
    put_more(out, f.n_after);
}

static void put_row(struct tg_buf *out, const struct tg_verdict *v, uint32_t row,
                    const struct tg_label *label)
{
    const struct tg_op *op = &v->comparison->ops[row];
    struct tg_row_numbers n = tg_effect_numbers(v, op);
    double pct = 100 * n.d_ns / n.ns[TG_BASE];
    tg_buf_puts(out, "| ");
    put_names(out, v, op, label);
    tg_buf_printf(out, " | %s%s", tg_effect_mark(v, op), *tg_effect_mark(v, op) ? " " : "");
    if (n.ns[TG_BASE] > 0 && n.ns[TG_TEST] > 0 && tg_dec_pct_tells(pct))
        tg_put_pct_delta(out, pct);
    else if (n.d_ns != 0)
        tg_put_time_delta(out, n.d_ns);
    tg_buf_puts(out, " | ");
    put_times(out, &n);
    tg_buf_puts(out, "<br>");
    put_calls(out, &n);
    tg_buf_puts(out, " |\n");
}

/* Three columns are as many as a phone shows. */
static const char table_head[] = "| operator or kernel | change | per step |\n|:--|--:|--:|\n";

/* Names that the table shortened, in full; those that do not fit are left out. */
static void put_full_names(struct tg_markdown *m, const struct tg_labels *labels, size_t n)
{
    TG_BUF part = { 0 };
    bool open = false;
    for (size_t i = 0; i < n; i++) {
        if (tg_label_is_whole(&labels->v[i]))
            continue;
        if (!open)
            tg_buf_puts(&part, "\n<details><summary>Full names</summary>\n\n");
        tg_buf_puts(&part, "- ");
        tg_esc_md_code(&part, tg_buf_sv(&labels->v[i].name), TG_ESC_PROSE);
        tg_buf_puts(&part, "\n");
        if (!tg_markdown_add(m, &part))
            break;
        open = true;
    }
    if (open)
        tg_buf_puts(m->out, "\n</details>\n");
}

/* What results are about, then what else changed; nothing on a pass. */
void tg_markdown_put_table(struct tg_markdown *m)
{
    enum { OTHERS = 3 };
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF part = { 0 };
    struct tg_labels labels;
    size_t n = 0, shown = 0;
    bool noise = false;
    TG_FREE uint32_t *rows = NULL;
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    rows = tg_effect_rows(m->v, m->top, OTHERS, &n);
    tg_labels_of_rows(&labels, c, rows, n, NAME_TABLE);
    tg_buf_puts(&part, "\n");
    tg_buf_puts(&part, table_head);
    if (n && tg_markdown_add(m, &part)) {
        for (; shown < n; shown++) {
            put_row(&part, m->v, rows[shown], &labels.v[shown]);
            if (!tg_markdown_add(m, &part))
                break;
            noise |= tg_op_within_noise(&c->ops[rows[shown]]);
        }
        tg_buf_puts(m->out, noise ? "\n<sub>" TG_ROW_NOISE "</sub>\n" : "");
        put_full_names(m, &labels, shown);
    }
    m->dropped_rows += n - shown;
    tg_labels_release(&labels);
}
