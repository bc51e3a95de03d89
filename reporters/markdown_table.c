/* The room of a comment, its names, the table of what changed most, and its chart. */
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/findings.h"
#include "reporters/markdown.h"
#include "reporters/number.h"
#include "reporters/rows.h"
#include "reporters/svg.h"

/* Bytes for closing tags and the last line. */
#define RESERVE 400

bool tg_markdown_add(struct tg_markdown *m, struct tg_buf *part)
{
    bool fits = m->out->n + part->n + RESERVE + m->r->report_url.n * 3 <= m->budget;
    if (fits)
        tg_buf_add(m->out, tg_buf_sv(part));
    tg_buf_clear(part);
    return fits;
}

void tg_markdown_add_or_drop(struct tg_markdown *m, struct tg_buf *part)
{
    if (part->n && !tg_markdown_add(m, part))
        m->dropped_parts++;
}

/* ---- names ---- */

/* Which of names.row; names.n: none. */
static size_t find_row(const struct tg_markdown *m, uint32_t row)
{
    size_t i = 0;
    while (i < m->names.n && m->names.row[i] != row)
        i++;
    return i;
}

void tg_markdown_names_init(struct tg_markdown *m)
{
    struct tg_markdown_names *s = &m->names;
    const struct tg_comparison *c = m->v->comparison;
    if (c && m->v->outcome != TG_OUTCOME_PASS) {
        enum { OTHERS = 3 };
        TG_FREE uint32_t *rows = tg_rows_of_verdict(m->v, m->top, OTHERS, &s->n_rows);
        s->row = tg_xmalloc((2 * s->n_rows + 1) * sizeof *s->row);
        memcpy(s->row, rows, s->n_rows * sizeof *rows);
        s->n = s->n_rows;
        for (size_t k = 0; k < s->n_rows; k++) {
            const struct tg_op *former = tg_row_was(m->v, &c->ops[rows[k]]).name;
            if (former && find_row(m, (uint32_t)(former - c->ops)) == s->n)
                s->row[s->n++] = (uint32_t)(former - c->ops);
        }
    }
    for (size_t i = 0; i < s->n; i++)
        (void)tg_strmap_add(&s->ids, tg_row_called(&c->ops[s->row[i]]));
    for (size_t i = 0; i < m->v->n_results; i++)
        if (tg_result_listed(&m->v->results[i]))
            (void)tg_strmap_add(&s->ids, tg_result_called(&m->v->results[i]));
    for (size_t i = 0; c && i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            (void)tg_strmap_add(&s->ids, c->ops[i].name);
    s->label = tg_xmalloc((s->ids.n + 1) * sizeof *s->label);
    /* Labels of the rows, of which several can have one name, then of the names that no row has. */
    size_t n = s->n, n_ids = s->ids.n;
    TG_FREE tg_sv *names = tg_xmalloc((n + n_ids + 1) * sizeof *names);
    TG_FREE const char **kinds = tg_xmalloc((n + n_ids + 1) * sizeof *kinds);
    for (size_t id = 0; id < n_ids; id++)
        s->label[id] = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        names[i] = tg_row_called(&c->ops[s->row[i]]);
        kinds[i] = tg_kind_name(c->ops[s->row[i]].kind);
        uint32_t id = tg_strmap_find(&s->ids, names[i]);
        if (id != TG_NO_ID && s->label[id] == UINT32_MAX)
            s->label[id] = (uint32_t)i;
    }
    for (size_t id = 0; id < n_ids; id++)
        if (s->label[id] == UINT32_MAX) {
            s->label[id] = (uint32_t)n;
            names[n] = s->ids.text[id];
            kinds[n++] = "";
        }
    tg_labels_make_among(&s->labels, names, kinds, n, TG_MARKDOWN_SHORT, c);
}

void tg_markdown_names_release(struct tg_markdown *m)
{
    tg_labels_release(&m->names.labels);
    tg_strmap_release(&m->names.ids);
    free(m->names.row);
    free(m->names.label);
}

static void put_label(struct tg_buf *out, const struct tg_label *label, enum tg_esc_place place)
{
    TG_BUF text = { 0 };
    tg_label_put(&text, label);
    tg_esc_md_code(out, tg_buf_sv(&text), place);
}

/* ---- the table ---- */

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
    struct tg_row_was f = tg_row_was(v, op);
    if (f.name) {
        put_label(out, &s->labels.v[find_row(m, (uint32_t)(f.name - v->comparison->ops))],
                  TG_ESC_CELL);
        tg_row_put_more(out, f.n_before);
        tg_buf_puts(out, " \xe2\x86\x92<br>");
    }
    put_label(out, &s->labels.v[i], TG_ESC_CELL);
    tg_row_put_more(out, f.n_after);
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
    /* One number a cell: a phone shows two columns, and the words below a name wrap. */
    tg_buf_puts(&part, "\n| what changed most | per step |\n|:--|--:|\n");
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
        put_label(&code, l, place);
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
        put_label(&part, l, TG_ESC_PROSE);
        TG_PUT(&part, tg_esc_md_name, ": {}\n", tg_buf_sv(&l->name));
        if (!tg_markdown_add(m, &part))
            break;
        open = true;
    }
    tg_buf_puts(m->out, open ? "\n</details>\n" : "");
}

/* ---- the chart ---- */

/* Mermaid draws bars of equal labels as one: the second of a label gets a number. */
static void put_bar_label(struct tg_buf *out, const struct tg_markdown *m, uint32_t row,
                          struct tg_strmap *used)
{
    TG_BUF text = { 0 }, label = { 0 }, others = { 0 };
    size_t before = used->n, stem;
    /* The short form that the table has, if it has the row and Mermaid has the room. */
    enum { WIDTH = 24 }; /* of a label beside a bar */
    const struct tg_op *op = &m->v->comparison->ops[row];
    size_t at = find_row(m, row);
    tg_row_put_more(&others, tg_row_was(m->v, op).n_after);
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
/* Noise is not a slowdown, what is waived is accepted; bars below a hundredth of the largest would
 * be invisible. How many of MAX_BARS there are. */
static size_t collect_bars(struct bar *bars, const struct tg_markdown *m, double sign)
{
    const struct tg_comparison *c = m->v->comparison;
    size_t n, found = 0, most = m->top < MAX_BARS ? m->top : MAX_BARS;
    TG_FREE uint32_t *rows =
        tg_rows_worst(c, &(struct tg_rows_choice){ .basis = TG_BASIS_JUDGED, .v = m->v }, &n);
    TG_FREE unsigned char *told = tg_rows_told(m->v);
    for (size_t i = 0; i < n && found < most; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        double d = sign * tg_row_shown(m->v, op).d_ns;
        /* that a wait is longer follows from what it waits for */
        bool wait = op->wait && op->change == TG_SAME;
        bool judged = told[rows[i]] & TG_ROW_ABOUT || tg_row_is_judged(c, op);
        if (d >= 100 && !wait && judged && !tg_row_is_waived(m->v, op))
            bars[found++] = (struct bar){ rows[i], d };
    }
    while (found && bars[found - 1].value < bars[0].value / 100)
        found--;
    return found;
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
    struct bar bars[MAX_BARS];
    double sign = 1, sum = 0;
    if (!c || m->v->outcome == TG_OUTCOME_PASS)
        return;
    size_t n = collect_bars(bars, m, sign);
    if (!n)
        n = collect_bars(bars, m, sign = -1);
    for (size_t i = 0; i < n; i++)
        sum += bars[i].value;
    if (n > TABLE_SHOWS && sum >= 0.01 * c->wall_ns[TG_BASE]) {
        TG_AUTO(tg_strmap_release) struct tg_strmap used = { 0 };
        tg_buf_printf(&part,
                      "\n```mermaid\nxychart-beta horizontal\n    title \"%s, \xc2\xb5s per step\""
                      "\n    x-axis [",
                      sign > 0 ? "Got slower" : "Got faster");
        for (size_t i = 0; i < n; i++) {
            tg_buf_puts(&part, i ? ", " : "");
            put_bar_label(&part, m, bars[i].row, &used);
        }
        tg_buf_puts(&part, "]\n    y-axis \"\xc2\xb5s per step\" 0 --> ");
        /* Without a range the axis would begin at the shortest bar. */
        tg_dec_put_fixed(&part, fmax(tg_svg_step(bars[0].value / 1000, 1), 1), 0);
        tg_buf_puts(&part, "\n    bar [");
        for (size_t i = 0; i < n; i++)
            tg_buf_printf(&part, "%s%s", i ? ", " : "", TG_AS(tg_put_us, bars[i].value));
        tg_buf_puts(&part, "]\n```\n");
    }
    tg_markdown_add_or_drop(m, &part);
}
