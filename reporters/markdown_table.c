#include <math.h>

#include "core/base/decimal.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"

static uint32_t row_of(const struct tg_verdict *v, const struct tg_op *op)
{
    return (uint32_t)(op - v->comparison->ops);
}

/* A row has one unit, that of its least number; from 10 ms on milliseconds. What is shown as 0.0
 * does not count. */
static double unit_of(const struct tg_row_numbers *n)
{
    enum { LONG = 10000000 };
    double v[] = { n->ns[TG_BASE], n->ns[TG_TEST], fabs(n->d_ns) };
    double least = fmax(v[0], v[1]);
    for (int i = 0; i < 3 && least < LONG; i++)
        if (v[i] >= 50)
            least = fmin(least, v[i]);
    return least > 0 ? least : 1;
}

static void put_more(struct tg_buf *out, size_t n)
{
    if (n > 1)
        tg_buf_printf(out, " and %zu more", n - 1);
}

#define ARROW "\xc2\xa0\xe2\x86\x92\xc2\xa0" /* between blanks at which no line breaks */

static void put_row(struct tg_buf *out, const struct tg_markdown *m, size_t i)
{
    const struct tg_verdict *v = m->v;
    const struct tg_op *op = &v->comparison->ops[m->names.row[i]];
    struct tg_row_numbers n = tg_row_shown(v, op);
    double pct = 100 * n.d_ns / n.ns[TG_BASE];
    TG_BUF words = { 0 };
    tg_buf_puts(out, "| ");
    /* The former name of a rename or a replacement is in the same cell, above. */
    const struct tg_markdown_names *s = &m->names;
    struct tg_row_was f = tg_row_was(v, &v->comparison->ops[s->row[i]]);
    if (f.name) {
        tg_markdown_put_label(out, &s->labels.v[tg_markdown_find_row(m, row_of(v, f.name))],
                              TG_ESC_CELL);
        put_more(out, f.n_before);
        tg_buf_puts(out, " \xe2\x86\x92<br>");
    }
    tg_markdown_put_label(out, &s->labels.v[i], TG_ESC_CELL);
    put_more(out, f.n_after);
    tg_buf_puts(out, "<br><sub>");
    if (*tg_row_mark(v, op))
        tg_buf_printf(out, "%s, ", tg_row_mark(v, op));
    if (op->kind != TG_KIND_STEP) { /* a gap is not called */
        tg_put_count(out, n.count[TG_BASE]);
        if (n.d_count != 0)
            tg_buf_printf(out, ARROW "%s", TG_AS(tg_put_count, n.count[TG_TEST]));
        tg_buf_printf(out, "%scall%s, ", "\xc2\xa0", n.count[TG_TEST] == 1 ? "" : "s");
    }
    double shown = unit_of(&n);
    tg_buf_printf(out, "%s" ARROW "%s%s", TG_AS_TIME(n.ns[TG_BASE], shown),
                  TG_AS_TIME(n.ns[TG_TEST], shown), tg_time_unit(shown));
    if (n.ns[TG_BASE] > 0 && n.ns[TG_TEST] > 0 && tg_dec_pct_tells(pct))
        tg_buf_printf(&words, " (%s)", TG_AS(tg_put_pct_delta, pct));
    /* Of a step, what it takes; below a tenth of a per cent it says nothing. */
    double share = tg_row_share(v->comparison, op, &n);
    if (share >= 0.0005)
        tg_buf_printf(&words, ", %s%s of the step",
                      n.ns[TG_BASE] > 0 && n.ns[TG_TEST] > 0 ? "now " : "",
                      TG_AS(tg_put_share, share));
    tg_put_printed(out, tg_buf_sv(&words));
    tg_buf_puts(out, "</sub> | ");
    if (n.d_ns != 0) {
        /* Beside milliseconds a change of some microseconds would be +0.0. */
        double d = fabs(n.d_ns), unit = d >= 50 && d < 50000 ? fmin(unit_of(&n), d) : unit_of(&n);
        tg_buf_printf(out, "%s%s%s",
                      n.d_ns >= 50    ? "+"
                      : n.d_ns <= -50 ? "-"
                                      : "",
                      TG_AS_TIME(d, unit), tg_time_unit(unit));
    }
    tg_buf_puts(out, " |\n");
}

/* One number a cell: a phone shows two columns, and the words below a name wrap. */
static const char table_head[] = "| what changed most | per step |\n"
                                 "|:--|--:|\n";

/* What results are about, then what else changed; nothing on a pass. */
void tg_markdown_put_table(struct tg_markdown *m)
{
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF part = { 0 };
    const struct tg_markdown_names *s = &m->names;
    size_t shown = 0, left;
    bool noise = false, whole = false, sort[2] = { false }; /* sort[true]: on the device */
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    tg_buf_puts(&part, "\n");
    tg_buf_puts(&part, table_head);
    if (s->n_rows && tg_markdown_add(m, &part)) {
        for (; shown < s->n_rows; shown++) {
            put_row(&part, m, shown);
            if (!tg_markdown_add(m, &part))
                break;
            if (tg_row_is_whole(m->v, &c->ops[s->row[shown]]))
                whole = true;
            else if (c->ops[s->row[shown]].kind != TG_KIND_STEP)
                sort[tg_kind_is_device(c->ops[s->row[shown]].kind)] = true;
            noise |= tg_row_is_noise(&c->ops[s->row[shown]]);
        }
        left = tg_rows_left_of_rank(m->v, s->row, shown);
        if (left)
            tg_buf_printf(m->out,
                          "\n<sub>and %zu more of %s that take longer (`--html` has all)</sub>\n",
                          left, c->rank_alone->called);
        if (whole || sort[0] || sort[1])
            tg_buf_printf(m->out, "\n<sub>%s%s%s%s</sub>\n",
                          whole ? "with all that follows from a finding" : "",
                          whole && (sort[0] || sort[1]) ? "; else " : "",
                          sort[0] || sort[1] ? "each name's own time, without what it calls, " : "",
                          sort[0] && sort[1]
                              ? "on the host; of kernels and memory copies on the device"
                          : sort[1] ? "on the device"
                          : sort[0] ? "on the host"
                                    : "");
        tg_buf_puts(m->out, noise ? "\n<sub>" TG_ROW_NOISE "</sub>\n" : "");
    }
    m->dropped_rows += s->n_rows - shown;
}

/* ---- in full ---- */

/* A cell of the table writes `|` in another way than a sentence does. */
static bool shows(const struct tg_buf *comment, const struct tg_label *l)
{
    for (enum tg_esc_place place = TG_ESC_PROSE; place <= TG_ESC_CELL; place++) {
        TG_BUF code = { 0 };
        tg_markdown_put_label(&code, l, place);
        if (tg_sv_has(tg_buf_sv(comment), tg_buf_sv(&code)))
            return true;
    }
    return false;
}

/* If the short form is in the comment; what does not fit is left out. */
void tg_markdown_put_full_names(struct tg_markdown *m)
{
    const struct tg_markdown_names *s = &m->names;
    bool open = false;
    for (size_t i = 0; m->v->outcome != TG_OUTCOME_PASS && i < s->labels.n; i++) {
        const struct tg_label *l = &s->labels.v[i];
        TG_BUF part = { 0 };
        if (tg_label_is_whole(l) || !shows(m->out, l))
            continue;
        tg_buf_puts(&part, open ? "- " : "\n<details><summary>Full names</summary>\n\n- ");
        tg_markdown_put_label(&part, l, TG_ESC_PROSE);
        TG_PUT(&part, tg_esc_md_name, ": {}\n", tg_buf_sv(&l->name));
        if (!tg_markdown_add(m, &part))
            break;
        open = true;
    }
    tg_buf_puts(m->out, open ? "\n</details>\n" : "");
}
