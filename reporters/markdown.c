/*
 * A pull request comment or step summary in GitHub's Markdown: marker, headline, causes, ten worst
 * rows, a chart, and everything else folded. It stays within a budget of bytes: whole rows are
 * dropped, and the last line says how many and where the full report is.
 *
 * All names are code spans, all sentences go through tg_esc_md_text: nothing in a trace can mention
 * somebody, link, or end a table (docs/reports.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/cause.h"
#include "reporters/effect.h"
#include "reporters/escape.h"
#include "reporters/number.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"

enum {
    BUDGET = 65000,  /* a comment takes 65,536 characters; the unit is undocumented */
    RESERVE = 400,   /* closing tags and the last line */
    NAME_TABLE = 44, /* wider cells make the ten worst rows scroll */
    NAME_CAUSE = 160,
    LINE_MAX = 600 /* of one sentence */
};

struct page {
    struct tg_buf *out;
    const struct tg_verdict *v;
    const struct tg_render *r;
    size_t budget, top;
    size_t dropped_rows, dropped_parts;
};

/* Adds a whole part, or counts it as dropped. */
static bool add_part(struct page *p, struct tg_buf *part)
{
    bool fits = p->out->n + part->n + RESERVE + p->r->report_url.n * 3 <= p->budget;
    if (fits)
        tg_buf_add(p->out, tg_buf_sv(part));
    tg_buf_clear(part);
    return fits;
}

/* ---- small pieces ---- */

static void put_name(struct tg_buf *out, tg_sv name, size_t width, bool in_table)
{
    struct tg_buf visible = { 0 }, text = { 0 };
    tg_utf8_visible(&visible, name);
    tg_shorten(&text, tg_buf_sv(&visible), width);
    tg_esc_md_code(out, tg_buf_sv(&text), in_table);
    tg_buf_release(&visible);
    tg_buf_release(&text);
}

static void put_text(struct tg_buf *out, tg_sv text)
{
    struct tg_buf visible = { 0 }, shorter = { 0 };
    tg_utf8_visible(&visible, text);
    tg_shorten(&shorter, tg_buf_sv(&visible), LINE_MAX);
    tg_esc_md_text(out, tg_buf_sv(&shorter), false);
    tg_buf_release(&visible);
    tg_buf_release(&shorter);
}

static const char *icon_of_outcome(enum tg_outcome o)
{
    switch (o) {
    case TG_OUTCOME_PASS:
        return "\xe2\x9c\x85"; /* white heavy check mark */
    case TG_OUTCOME_WARN:
        return "\xe2\x9a\xa0\xef\xb8\x8f"; /* warning sign */
    case TG_OUTCOME_INCONCLUSIVE:
        return "\xe2\x9d\x94"; /* white question mark */
    case TG_OUTCOME_FAIL:
    case TG_OUTCOME_ERROR:
        break;
    }
    return "\xe2\x9d\x8c"; /* cross mark */
}

static const char *icon_of_state(enum tg_state s)
{
    switch (s) {
    case TG_STATE_FAIL:
        return icon_of_outcome(TG_OUTCOME_FAIL);
    case TG_STATE_INCONCLUSIVE:
        return icon_of_outcome(TG_OUTCOME_INCONCLUSIVE);
    case TG_STATE_SUSPICIOUS:
        return "\xf0\x9f\x94\x8d"; /* magnifying glass */
    case TG_STATE_PASS:
        return icon_of_outcome(TG_OUTCOME_PASS);
    case TG_STATE_WAIVED:
        return "\xf0\x9f\x8e\xab"; /* ticket */
    default:
        return icon_of_outcome(TG_OUTCOME_WARN);
    }
}

/* [A-Za-z0-9._-] without "--", which would end the comment that carries it. */
static void put_key(struct tg_buf *out, tg_sv key)
{
    size_t before = out->n;
    for (size_t i = 0; i < key.n && i < 100; i++) {
        char c = key.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        if (!plain)
            c = '_';
        if (c == '-' && (out->n == before || out->p[out->n - 1] == '-'))
            c = '_';
        tg_buf_putc(out, c);
    }
    if (out->n > before && out->p[out->n - 1] == '-')
        out->p[out->n - 1] = '_';
    if (out->n == before)
        tg_buf_puts(out, "default");
}

/* ---- head ---- */

/* The next item in a line of facts, separated by a middle dot. */
static void put_fact(struct tg_buf *out, size_t *n, tg_sv text, bool name)
{
    if (!text.n)
        return;
    tg_buf_puts(out, (*n)++ ? " \xc2\xb7 " : " ");
    if (name)
        put_name(out, text, NAME_CAUSE, false);
    else
        put_text(out, text);
}

/* "❌ 2 · ⚠️ 1 · ✅ 6": what was judged, consequences of another result left out. */
static void put_counts(struct tg_buf *out, const struct tg_verdict *v)
{
    static const struct {
        enum tg_state state;
        const char *word;
    } shown[] = { { TG_STATE_FAIL, "failed" },   { TG_STATE_INCONCLUSIVE, "inconclusive" },
                  { TG_STATE_WARN, "warned" },   { TG_STATE_SUSPICIOUS, "suspicious" },
                  { TG_STATE_WAIVED, "waived" }, { TG_STATE_PASS, "passed" } };
    size_t n = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        size_t times = v->n_state[shown[i].state] - v->n_folded[shown[i].state];
        if (!times)
            continue;
        tg_buf_puts(out, n++ ? " \xc2\xb7 " : "");
        tg_buf_printf(out, "%s %zu %s", icon_of_state(shown[i].state), times, shown[i].word);
    }
}

/* What it costs, and how many results there are of each sort. */
static void put_effect(struct tg_buf *out, const struct tg_verdict *v)
{
    struct tg_buf text = { 0 }, counts = { 0 };
    tg_effect_put(&text, v, " \xe2\x86\x92 ");
    put_counts(&counts, v);
    if (text.n) {
        tg_buf_puts(out, "**");
        put_text(out, tg_buf_sv(&text));
        tg_buf_puts(out, "**");
    }
    tg_buf_puts(out, text.n && counts.n ? " \xc2\xb7 " : "");
    if (counts.n)
        tg_buf_add(out, tg_buf_sv(&counts));
    if (v->coverage.n) {
        tg_buf_puts(out, text.n || counts.n ? "<br>\n" : "");
        put_text(out, v->coverage);
    }
    if (text.n || counts.n || v->coverage.n)
        tg_buf_puts(out, "\n");
    tg_buf_release(&text);
    tg_buf_release(&counts);
}

static void put_head(struct page *p)
{
    const struct tg_verdict *v = p->v;
    struct tg_buf *out = p->out;
    tg_buf_puts(out, "<!-- tracegate:report key=");
    put_key(out, p->r->key.n ? p->r->key : v->suite);
    tg_buf_printf(out, " -->\n### %s ", icon_of_outcome(v->outcome));
    put_text(out, v->headline.n ? v->headline : tg_sv_of(tg_outcome_name(v->outcome)));
    tg_buf_puts(out, "\n\n");
    if (p->r->exit_zero && v->exit_code)
        tg_buf_puts(out, "The verdict stands; the job goes on because of `--exit-zero`.\n\n");
    put_effect(out, v);
}

static void put_error(struct page *p)
{
    struct tg_buf part = { 0 };
    tg_sv next = tg_verdict_next(p->v);
    if (p->v->error.n && !tg_sv_has(p->v->headline, p->v->error)) {
        tg_buf_puts(&part, "\n**Why** ");
        put_text(&part, p->v->error);
        tg_buf_puts(&part, "\n");
    }
    if (next.n) {
        tg_buf_puts(&part, "\n**Next** ");
        put_text(&part, next);
        tg_buf_puts(&part, "\n");
    }
    if (part.n && !add_part(p, &part))
        p->dropped_parts++;
    tg_buf_release(&part);
}

static void put_notes(struct page *p)
{
    struct tg_buf part = { 0 };
    for (size_t i = 0; i < p->v->n_notes; i++) {
        const struct tg_note *n = &p->v->notes[i];
        tg_buf_printf(&part, "\n> %s ",
                      n->warning ? icon_of_outcome(TG_OUTCOME_WARN) : "\xe2\x84\xb9\xef\xb8\x8f");
        put_text(&part, n->text);
        if (n->next.n) {
            tg_buf_puts(&part, " \xe2\x86\x92 ");
            put_text(&part, n->next);
        }
        tg_buf_puts(&part, "\n");
        if (!add_part(p, &part))
            p->dropped_parts++;
    }
    tg_buf_release(&part);
}

/* ---- causes ---- */

static void put_sub(struct tg_buf *out, const char *label, tg_sv text, bool name)
{
    if (!text.n)
        return;
    tg_buf_printf(out, "<br>\n  <sub>%s ", label);
    if (name)
        put_name(out, text, NAME_CAUSE, false);
    else
        put_text(out, text);
    tg_buf_puts(out, "</sub>");
}

static void put_folded(struct tg_buf *out, const struct tg_verdict *v, const uint32_t *roots,
                       size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < v->n_results; k++) {
        const struct tg_result *r = &v->results[k];
        if (roots[k] != i || k == i || !tg_result_shown(r) || n++ >= 6)
            continue;
        tg_buf_puts(out, n == 1 ? "<br>\n  <sub>explains " : ", ");
        put_name(out, r->op_normalised.n ? r->op_normalised : r->op, NAME_TABLE, false);
        if (r->has_values) {
            tg_buf_putc(out, ' ');
            tg_put_value_delta(out, r->delta, r->unit);
        }
    }
    if (n > 6)
        tg_buf_printf(out, " and %zu more", n - 6);
    if (n)
        tg_buf_puts(out, "</sub>");
}

static void put_code(struct tg_buf *out, tg_sv name)
{
    put_name(out, name, NAME_CAUSE, false);
}

static void put_origin(struct tg_buf *part, const struct tg_result *r)
{
    if (!r->cause)
        return;
    tg_buf_puts(part, "<br>\n  ");
    tg_origin_put(part, r, &(struct tg_origin_style){ .code = "`", .put_name = put_code });
}

static void put_cause(struct page *p, struct tg_buf *part, const uint32_t *roots, size_t i)
{
    const struct tg_result *r = &p->v->results[i];
    struct tg_parts parts = tg_result_parts(r);
    tg_buf_printf(part, "- %s ", icon_of_state(r->state));
    put_name(part, parts.name, NAME_CAUSE, false);
    if (parts.name.n && parts.rest.n)
        tg_buf_puts(part, parts.rest.p == r->message.p ? ": " : " ");
    put_text(part, parts.rest);
    put_origin(part, r);
    put_sub(part, "evidence", tg_result_evidence(r), false);
    put_folded(part, p->v, roots, i);
    put_sub(part, "owner", r->owner, true);
    put_sub(part, "**next**", r->next, false);
    tg_buf_putc(part, '\n');
}

/* Rule, limit and why, once for the causes listed under it. */
static void put_rule(struct tg_buf *part, const struct tg_result *r)
{
    struct tg_buf rule = { 0 };
    tg_result_put_rule(&rule, r);
    if (rule.n) {
        tg_buf_puts(part, "\n<sub>rule ");
        put_text(part, tg_buf_sv(&rule));
        tg_buf_puts(part, "</sub>\n\n");
    }
    tg_buf_release(&rule);
}

static void put_section(struct page *p, enum tg_section s, const uint32_t *roots)
{
    struct tg_buf part = { 0 };
    const struct tg_result *before = NULL;
    size_t n, left = 0;
    uint32_t *list = tg_causes_of(p->v, roots, s, &n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_result *r = &p->v->results[list[i]];
        if (i == 0)
            tg_buf_printf(&part, "\n**%s**\n", tg_section_title(s));
        if (i < p->top) {
            if (!before || !tg_result_same_rule(before, r))
                put_rule(&part, r);
            put_cause(p, &part, roots, list[i]);
            before = r;
        }
        if (i >= p->top || !add_part(p, &part))
            left++;
    }
    free(list);
    if (left) {
        tg_buf_printf(&part, "- and %zu more of this kind\n", left);
        (void)add_part(p, &part);
    }
    tg_buf_release(&part);
}

static void put_waived(struct page *p, const uint32_t *roots)
{
    struct tg_buf part = { 0 };
    const struct tg_result *before = NULL;
    size_t n = 0, left = 0;
    for (size_t i = 0; i < p->v->n_results; i++) {
        const struct tg_result *r = &p->v->results[i];
        if (r->state != TG_STATE_WAIVED)
            continue;
        if (!n)
            tg_buf_puts(&part, "\n**Waived**\n");
        if (n++ < p->top) {
            if (!before || !tg_result_same_rule(before, r))
                put_rule(&part, r);
            put_cause(p, &part, roots, i);
            before = r;
        }
        if (n > p->top || !add_part(p, &part))
            left++;
    }
    if (left) {
        tg_buf_printf(&part, "- and %zu more waived\n", left);
        (void)add_part(p, &part);
    }
    tg_buf_release(&part);
}

/* ---- tables ---- */

static const char *row_icon(const struct tg_op *op, const struct tg_row_numbers *n)
{
    if (op->change == TG_ADDED)
        return "new";
    if (op->change == TG_REMOVED)
        return "gone";
    if (tg_op_within_noise(op))
        return "\xe2\x89\x88";                            /* almost equal */
    return n->d_ns > 0 ? "\xe2\x96\xb2" : "\xe2\x96\xbc"; /* triangles up and down */
}

/* Each pair has its unit: rows of both sizes share a table. */
static void put_times(struct tg_buf *out, const struct tg_row_numbers *n)
{
    double largest = n->ns[TG_BASE] > n->ns[TG_TEST] ? n->ns[TG_BASE] : n->ns[TG_TEST];
    double shown = largest > 0 ? largest : 1;
    tg_put_time(out, n->ns[TG_BASE], shown);
    tg_buf_puts(out, "\xc2\xa0\xe2\x86\x92\xc2\xa0"); /* never broken into two lines */
    tg_put_time(out, n->ns[TG_TEST], shown);
    tg_buf_puts(out, tg_time_unit(shown));
}

static void put_calls(struct tg_buf *out, const struct tg_row_numbers *n)
{
    tg_put_count(out, n->count[TG_BASE]);
    if (n->d_count != 0) {
        tg_buf_puts(out, "\xc2\xa0\xe2\x86\x92\xc2\xa0");
        tg_put_count(out, n->count[TG_TEST]);
    }
}

static void put_row(struct tg_buf *out, const struct tg_comparison *c, uint32_t row, size_t width)
{
    const struct tg_op *op = &c->ops[row];
    struct tg_row_numbers n = tg_row_numbers(c, op, TG_BASIS_JUDGED);
    tg_buf_printf(out, "| %s | ", row_icon(op, &n));
    put_name(out, op->name, width, true);
    tg_buf_puts(out, " | ");
    if (n.ns[TG_BASE] > 0 && n.ns[TG_TEST] > 0)
        tg_put_pct_delta(out, 100 * n.d_ns / n.ns[TG_BASE]);
    tg_buf_puts(out, " | ");
    put_times(out, &n);
    tg_buf_puts(out, " | ");
    put_calls(out, &n);
    tg_buf_puts(out, " | ");
    tg_put_share(out, op->share[n.ns[TG_TEST] > 0 ? TG_TEST : TG_BASE]);
    tg_buf_puts(out, " |\n");
}

static const char table_head[] = "| | operator or kernel | change | self time per step | calls | "
                                 "of\xc2\xa0step |\n|:--|:--|--:|--:|--:|--:|\n";

static bool is_shortened(tg_sv name, size_t width)
{
    struct tg_buf visible = { 0 }, text = { 0 };
    bool same;
    tg_utf8_visible(&visible, name);
    tg_shorten(&text, tg_buf_sv(&visible), width);
    same = tg_sv_eq(tg_buf_sv(&visible), tg_buf_sv(&text));
    tg_buf_release(&visible);
    tg_buf_release(&text);
    return !same;
}

/* Names that the table shortened, in full; those that do not fit are left out. */
static void put_full_names(struct page *p, const uint32_t *rows, size_t n)
{
    const struct tg_comparison *c = p->v->comparison;
    struct tg_buf part = { 0 };
    bool open = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_shortened(c->ops[rows[i]].name, NAME_TABLE))
            continue;
        if (!open)
            tg_buf_puts(&part, "\n<details><summary>Full names</summary>\n\n");
        tg_buf_puts(&part, "- ");
        put_name(&part, c->ops[rows[i]].name, SIZE_MAX, false);
        tg_buf_puts(&part, "\n");
        if (!add_part(p, &part))
            break;
        open = true;
    }
    if (open)
        tg_buf_puts(p->out, "\n</details>\n");
    tg_buf_release(&part);
}

/* What results are about, then a little of the noise to see it against; nothing on a pass. */
static void put_worst(struct page *p)
{
    enum { NOISE = 3 };
    const struct tg_comparison *c = p->v->comparison;
    struct tg_buf part = { 0 };
    size_t n = 0, shown = 0;
    uint32_t *rows;
    if (!c || p->v->outcome == TG_OUTCOME_PASS)
        return;
    rows = tg_effect_rows(p->v, p->top, NOISE, &n);
    tg_buf_puts(&part, "\n");
    tg_buf_puts(&part, table_head);
    if (n && add_part(p, &part)) {
        for (; shown < n; shown++) {
            put_row(&part, c, rows[shown], NAME_TABLE);
            if (!add_part(p, &part))
                break;
        }
        tg_buf_puts(p->out, "\n<sub>\xe2\x89\x88 within the noise of these runs</sub>\n");
        put_full_names(p, rows, shown);
    }
    p->dropped_rows += n - shown;
    free(rows);
    tg_buf_release(&part);
}

/* ---- the chart ---- */

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
static void put_label(struct tg_buf *out, tg_sv name, struct tg_strmap *used)
{
    struct tg_buf visible = { 0 }, shorter = { 0 }, label = { 0 };
    size_t before = used->n, stem;
    tg_utf8_visible(&visible, name);
    tg_shorten(&shorter, tg_buf_sv(&visible), 28);
    tg_esc_mermaid(&label, tg_buf_sv(&shorter));
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
    tg_buf_release(&visible);
    tg_buf_release(&shorter);
    tg_buf_release(&label);
}

struct bars {
    struct tg_buf labels, values;
    struct tg_strmap used;
    size_t n;
    double largest, sum; /* ns per step */
};

/* Noise is not a slowdown; bars below a hundredth of the largest would be invisible. */
static void collect_bars(struct bars *b, const struct tg_comparison *c, const uint32_t *rows,
                         size_t n, double sign)
{
    enum { MAX_BARS = 8 };
    for (size_t i = 0; i < n && b->n < MAX_BARS; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        double d = sign * tg_row_numbers(c, op, TG_BASIS_JUDGED).d_ns;
        if (tg_op_within_noise(op) || d < 100 || d < b->largest / 100)
            continue;
        b->largest = d > b->largest ? d : b->largest;
        b->sum += d;
        tg_buf_puts(&b->labels, b->n ? ", " : "");
        put_label(&b->labels, op->name, &b->used);
        tg_buf_puts(&b->values, b->n++ ? ", " : "");
        tg_put_us(&b->values, d);
    }
}

/*
 * Bars of a Mermaid chart start at the axis' end, so it shows growth alone, or else only what
 * shrank; and only where there is something to see: two bars, and a hundredth of the step.
 */
static void put_chart(struct page *p)
{
    const struct tg_comparison *c = p->v->comparison;
    struct tg_buf part = { 0 };
    struct bars b = { .n = 0 };
    double sign = 1;
    size_t n = 0;
    uint32_t *rows;
    if (!c || p->v->outcome == TG_OUTCOME_PASS)
        return;
    tg_strmap_init(&b.used);
    rows = tg_rows_worst(c, NULL, 0, TG_BASIS_JUDGED, true, false, c->n_ops, &n, NULL);
    collect_bars(&b, c, rows, n, sign);
    if (!b.n)
        collect_bars(&b, c, rows, n, sign = -1);
    if (b.n > 1 && b.sum >= 0.01 * c->step_ns[TG_BASE]) {
        tg_buf_printf(&part,
                      "\n```mermaid\nxychart-beta horizontal\n    title \"%s, us per step\""
                      "\n    x-axis [%s]\n    y-axis \"us per step\" 0 --> ",
                      sign > 0 ? "Got slower" : "Got faster", b.labels.p);
        /* Without a range the axis would begin at the shortest bar. */
        tg_dec_put_fixed(&part, round_up(b.largest / 1000), 0);
        tg_buf_printf(&part, "\n    bar [%s]\n```\n", b.values.p);
        if (!add_part(p, &part))
            p->dropped_parts++;
    }
    free(rows);
    tg_strmap_release(&b.used);
    tg_buf_release(&b.labels);
    tg_buf_release(&b.values);
    tg_buf_release(&part);
}

/* ---- what now, folded ---- */

static bool can_waive(const struct tg_result *r)
{
    return r->state == TG_STATE_FAIL && r->has_values && r->rule.n && r->op.n;
}

/* In single quotes, as YAML wants it. Names that cannot be copied as they look have no such form. */
static bool put_yaml(struct tg_buf *out, tg_sv text)
{
    struct tg_buf visible = { 0 };
    bool same;
    tg_utf8_visible(&visible, text);
    same = tg_sv_eq(tg_buf_sv(&visible), text) && !memchr(text.p, '`', text.n);
    tg_buf_release(&visible);
    if (!same)
        return false;
    tg_buf_putc(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        tg_buf_putc(out, text.p[i]);
        if (text.p[i] == '\'')
            tg_buf_putc(out, '\'');
    }
    tg_buf_putc(out, '\'');
    return true;
}

static void put_waiver(struct tg_buf *out, const struct tg_result *r)
{
    struct tg_buf one = { 0 };
    bool ok;
    tg_buf_puts(&one, "  - {rule: ");
    tg_buf_add(&one, r->rule);
    tg_buf_puts(&one, ", name: ");
    ok = put_yaml(&one, r->op_normalised.n ? r->op_normalised : r->op);
    tg_buf_puts(&one, ", ceiling: {");
    if (r->dimension == TG_DIM_COUNT)
        tg_buf_printf(&one, "abs: %.0f", ceil(r->delta));
    else
        tg_buf_printf(&one, "pct: %.0f%%", isfinite(r->delta_pct) ? ceil(r->delta_pct) : 100);
    tg_buf_puts(&one, "}, reason: '\xe2\x80\xa6', owner: you, expires: YYYY-MM-DD}\n");
    if (ok)
        tg_buf_add(out, tg_buf_sv(&one));
    tg_buf_release(&one);
}

static void put_next_steps(struct page *p)
{
    enum { MAX_WAIVERS = 3 };
    struct tg_buf part = { 0 }, waivers = { 0 };
    const struct tg_result *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->v->n_results && n < MAX_WAIVERS; i++) {
        const struct tg_result *r = &p->v->results[i];
        if (!can_waive(r) || r->folded_under < p->v->n_results)
            continue;
        first = first ? first : r;
        put_waiver(&waivers, r);
        n++;
    }
    if (first) {
        tg_buf_puts(&part, "\n<details><summary>What now</summary>\n\nWhich rules judge it, and "
                           "where their limits are:\n\n```sh\ntracegate policy explain ");
        tg_buf_add(&part, first->rule);
        tg_buf_puts(&part, "\n```\n");
        if (waivers.n) {
            tg_buf_puts(&part, "\nTo accept it for a time, in the policy:\n\n```yaml\nwaivers:\n");
            tg_buf_add(&part, tg_buf_sv(&waivers));
            tg_buf_puts(&part, "```\n");
        }
        tg_buf_puts(&part, "\n</details>\n");
        if (!add_part(p, &part))
            p->dropped_parts++;
    }
    tg_buf_release(&part);
    tg_buf_release(&waivers);
}

/* ---- the rest, folded ---- */

static void put_region(struct tg_buf *out, const struct tg_comparison *c, size_t region)
{
    const struct tg_region *g = &c->regions[region];
    for (int side = 0; side < 2; side++) {
        size_t n = 0;
        tg_buf_puts(out, side ? " \xe2\x86\x92 " : "- ");
        for (size_t i = 0; i < c->n_ops; i++) {
            if (c->ops[i].region != region || !c->ops[i].present[side] ||
                c->ops[i].present[!side] || n++ >= 4)
                continue;
            tg_buf_puts(out, n > 1 ? ", " : "");
            put_name(out, c->ops[i].name, NAME_CAUSE, false);
        }
        if (n > 4)
            tg_buf_printf(out, " and %zu more", n - 4);
    }
    tg_buf_puts(out, ": ");
    tg_put_count(out, g->calls[TG_BASE]);
    tg_buf_puts(out, " \xe2\x86\x92 ");
    tg_put_count(out, g->calls[TG_TEST]);
    tg_buf_puts(out, " calls, ");
    tg_put_us(out, g->time[TG_BASE]);
    tg_buf_puts(out, " \xe2\x86\x92 ");
    tg_put_us(out, g->time[TG_TEST]);
    tg_buf_puts(out, " \xc2\xb5s per step, within ");
    if (g->encloser.n)
        put_name(out, g->encloser, NAME_TABLE, false);
    else
        tg_buf_puts(out, "the step");
    tg_buf_puts(out, g->worse_count ? "; more work" : g->worse_time ? "; slower" : "");
    tg_buf_putc(out, '\n');
}

static void put_details(struct page *p)
{
    const struct tg_comparison *c = p->v->comparison;
    struct tg_buf part = { 0 };
    if (c && c->n_regions) {
        tg_buf_puts(&part, "\n**Replaced**\n\n");
        for (size_t i = 0; i < c->n_regions && i < 20; i++)
            put_region(&part, c, i);
        if (!add_part(p, &part))
            p->dropped_parts++;
    }
    if (c && c->n_env) {
        tg_buf_puts(&part, "\n<details><summary>Environment: what differs or is unknown</summary>\n"
                           "\n| | baseline | test |\n|:--|:--|:--|\n");
        for (size_t i = 0; i < c->n_env; i++) {
            tg_buf_puts(&part, "| ");
            put_name(&part, c->env[i].key, NAME_TABLE, true);
            for (int s = 0; s < 2; s++) {
                tg_buf_puts(&part, " | ");
                if (c->env[i].value[s].n)
                    put_name(&part, c->env[i].value[s], NAME_CAUSE, true);
                else
                    tg_buf_puts(&part, "unknown");
            }
            tg_buf_puts(&part, " |\n");
        }
        tg_buf_puts(&part, "\n</details>\n");
        if (!add_part(p, &part))
            p->dropped_parts++;
    }
    tg_buf_release(&part);
}

/* A link for web addresses only; everything that could end it is percent-encoded. */
static void put_link(struct tg_buf *out, tg_sv url)
{
    if (!tg_sv_starts(url, TG_SV("https://")) && !tg_sv_starts(url, TG_SV("http://"))) {
        put_name(out, url, LINE_MAX, false);
        return;
    }
    tg_buf_puts(out, "[full report](");
    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("._~/-:?=&#%", c));
        if (plain)
            tg_buf_putc(out, (char)c);
        else
            tg_buf_printf(out, "%%%02X", c);
    }
    tg_buf_putc(out, ')');
}

/* Where all this comes from, in one line. */
static void put_side(struct tg_buf *out, const struct tg_verdict *v, int side)
{
    const struct tg_baseline_info *b = &v->baseline;
    struct tg_buf runs = { 0 };
    size_t n = 0;
    tg_side_put(&runs, v->comparison, side);
    tg_buf_puts(out, side == TG_BASE ? "baseline" : "test");
    if (side == TG_BASE) {
        bool plain =
            tg_sv_eq(b->situation, TG_SV("found")) || tg_sv_eq(b->situation, TG_SV("path"));
        put_fact(out, &n, tg_utf8_prefix(b->commit, 12), true);
        put_fact(out, &n, b->how, false);
        if (!tg_sv_has(b->how, b->paths))
            put_fact(out, &n, b->paths, true);
        put_fact(out, &n, plain ? TG_SV("") : b->situation, false);
    } else {
        put_fact(out, &n, tg_utf8_prefix(v->test_commit, 12), true);
        put_fact(out, &n, v->test_paths, false);
    }
    put_fact(out, &n, tg_buf_sv(&runs), false);
    tg_buf_puts(out, "<br>\n");
    tg_buf_release(&runs);
}

static void put_provenance(struct tg_buf *out, const struct tg_verdict *v)
{
    put_side(out, v, TG_BASE);
    put_side(out, v, TG_TEST);
    tg_buf_puts(out, "suite ");
    put_name(out, v->suite.n ? v->suite : TG_SV("default"), NAME_CAUSE, false);
    tg_buf_puts(out, " \xc2\xb7 ");
    if (v->policy.n) {
        put_text(out, v->policy);
        tg_buf_puts(out, " \xc2\xb7 ");
    }
}

static void put_foot(struct page *p)
{
    tg_buf_puts(p->out, "\n<sub>");
    put_provenance(p->out, p->v);
    if (p->r->report_url.n) {
        put_link(p->out, p->r->report_url);
        tg_buf_puts(p->out, " \xc2\xb7 ");
    }
    tg_buf_printf(p->out, "tracegate %.*s", TG_SV_ARG(p->v->version));
    if (p->dropped_rows || p->dropped_parts) {
        tg_buf_puts(p->out, "<br>Too long for one comment: ");
        if (p->dropped_rows)
            tg_buf_printf(p->out, "%zu rows left out", p->dropped_rows);
        if (p->dropped_parts)
            tg_buf_printf(p->out, "%s%zu sections left out", p->dropped_rows ? ", " : "",
                          p->dropped_parts);
        tg_buf_puts(p->out, "; the JSON report has all.");
    }
    tg_buf_puts(p->out, "</sub>\n");
}

bool tg_reporter_markdown(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r,
                          struct tg_err *err)
{
    struct page p = { .out = out,
                      .v = v,
                      .r = r,
                      .budget = r->budget ? r->budget : BUDGET,
                      .top = r->top ? r->top : 10 };
    uint32_t *roots = tg_causes_roots(v);
    (void)err;
    put_head(&p);
    put_error(&p);
    put_notes(&p);
    for (int s = 0; s < TG_SECTIONS; s++)
        put_section(&p, (enum tg_section)s, roots);
    put_waived(&p, roots);
    put_worst(&p);
    put_chart(&p);
    put_details(&p);
    put_next_steps(&p);
    put_foot(&p);
    free(roots);
    return true;
}
