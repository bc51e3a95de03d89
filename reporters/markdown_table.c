#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "reporters/effect.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"

/* The rows of the table, and after them the former names that are in their cells: no two look the same. */
struct shown {
    uint32_t *row;
    size_t n_rows, n;
    struct tg_labels labels;
};

static size_t find_row(const struct shown *s, uint32_t row)
{
    size_t i = 0;
    while (i < s->n && s->row[i] != row)
        i++;
    return i;
}

static uint32_t row_of(const struct tg_verdict *v, const struct tg_op *op)
{
    return (uint32_t)(op - v->comparison->ops);
}

static void shown_init(struct shown *s, const struct tg_verdict *v, size_t top)
{
    enum { OTHERS = 3 };
    TG_FREE uint32_t *rows = tg_effect_rows(v, top, OTHERS, &s->n_rows);
    s->row = tg_xmalloc((2 * s->n_rows + 1) * sizeof *s->row);
    memcpy(s->row, rows, s->n_rows * sizeof *rows);
    s->n = s->n_rows;
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct tg_op *former = tg_effect_former(v, &v->comparison->ops[rows[i]]).name;
        if (former && find_row(s, row_of(v, former)) == s->n)
            s->row[s->n++] = row_of(v, former);
    }
    tg_labels_of_rows(&s->labels, v->comparison, s->row, s->n, TG_MARKDOWN_SHORT);
}

static void shown_release(struct shown *s)
{
    tg_labels_release(&s->labels);
    free(s->row);
}

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
static void put_names(struct tg_buf *out, const struct tg_verdict *v, const struct shown *s,
                      size_t i)
{
    struct tg_effect_former f = tg_effect_former(v, &v->comparison->ops[s->row[i]]);
    if (f.name) {
        tg_markdown_put_label(out, &s->labels.v[find_row(s, row_of(v, f.name))], TG_ESC_CELL);
        put_more(out, f.n_before);
        tg_buf_puts(out, " \xe2\x86\x92<br>");
    }
    tg_markdown_put_label(out, &s->labels.v[i], TG_ESC_CELL);
    put_more(out, f.n_after);
}

static void put_row(struct tg_buf *out, const struct tg_verdict *v, const struct shown *s, size_t i)
{
    const struct tg_op *op = &v->comparison->ops[s->row[i]];
    struct tg_row_numbers n = tg_effect_numbers(v, op);
    double pct = 100 * n.d_ns / n.ns[TG_BASE];
    tg_buf_puts(out, "| ");
    put_names(out, v, s, i);
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

/* What results are about, then what else changed; nothing on a pass. */
void tg_markdown_put_table(struct tg_markdown *m)
{
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF part = { 0 };
    struct shown s;
    size_t shown = 0;
    bool noise = false;
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    shown_init(&s, m->v, m->top);
    tg_buf_puts(&part, "\n");
    tg_buf_puts(&part, table_head);
    if (s.n_rows && tg_markdown_add(m, &part)) {
        for (; shown < s.n_rows; shown++) {
            put_row(&part, m->v, &s, shown);
            if (!tg_markdown_add(m, &part))
                break;
            noise |= tg_op_within_noise(&c->ops[s.row[shown]]);
        }
        tg_buf_puts(m->out, noise ? "\n<sub>" TG_ROW_NOISE "</sub>\n" : "");
    }
    m->dropped_rows += s.n_rows - shown;
    shown_release(&s);
}

/* ---- full names ---- */

struct fold {
    struct tg_markdown *m;
    struct tg_strmap listed;
    bool open, full;
};

/* If the short form is in the comment; what does not fit is left out. */
static void put_full(struct fold *f, const struct tg_label *l)
{
    TG_BUF part = { 0 };
    TG_BUF code = { 0 };
    size_t before = f->listed.n;
    tg_markdown_put_label(&code, l, TG_ESC_PROSE);
    if (f->full || tg_label_is_whole(l) || !tg_sv_has(tg_buf_sv(f->m->out), tg_buf_sv(&code)))
        return;
    (void)tg_strmap_add(&f->listed, tg_buf_sv(&l->name));
    if (f->listed.n == before)
        return;
    tg_buf_puts(&part, f->open ? "" : "\n<details><summary>Full names</summary>\n\n");
    tg_buf_printf(&part, "- %s: ", code.p);
    tg_esc_md_code(&part, tg_buf_sv(&l->name), TG_ESC_PROSE);
    tg_buf_puts(&part, "\n");
    f->full = !tg_markdown_add(f->m, &part);
    f->open |= !f->full;
}

static void put_full_name(struct fold *f, tg_sv name)
{
    struct tg_labels one;
    tg_labels_make(&one, &name, NULL, 1, TG_MARKDOWN_SHORT);
    put_full(f, &one.v[0]);
    tg_labels_release(&one);
}

/* Of the table, of the findings, and of what was replaced. */
void tg_markdown_put_full_names(struct tg_markdown *m)
{
    const struct tg_verdict *v = m->v;
    const struct tg_comparison *c = v->comparison;
    struct fold f = { .m = m };
    struct shown s;
    if (!c || v->outcome == TG_OUTCOME_PASS)
        return;
    tg_strmap_init(&f.listed);
    shown_init(&s, v, m->top);
    for (size_t i = 0; i < s.n; i++)
        put_full(&f, &s.labels.v[i]);
    for (size_t i = 0; i < v->n_results; i++)
        if (tg_result_shown(&v->results[i]) || v->results[i].state == TG_STATE_WAIVED)
            put_full_name(&f, tg_result_called(&v->results[i]));
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            put_full_name(&f, c->ops[i].name);
    tg_buf_puts(m->out, f.open ? "\n</details>\n" : "");
    shown_release(&s);
    tg_strmap_release(&f.listed);
}
