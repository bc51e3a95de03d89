/*
 * The terminal: verdict first, then the findings one line each, then what moved most. Readable at
 * 80 columns; colour only if asked. No line starts with hostile text ("::error::" is a command to a
 * CI runner).
 */

#include "core/base/message.h"
#include "core/base/utf8.h"
#include "reporters/accept.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/number.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"
#include "reporters/texttable.h"

struct page {
    struct tg_buf *out;
    const struct tg_verdict *v;
    const struct tg_render *r;
    size_t columns, top;
    struct tg_shorts names, in_lists; /* of findings; of what they list */
};

static const enum tg_tint tints[] = { [TG_STATE_FAIL] = TG_TINT_RED,
                                      [TG_STATE_WARN] = TG_TINT_YELLOW,
                                      [TG_STATE_SUSPICIOUS] = TG_TINT_YELLOW,
                                      [TG_STATE_INCONCLUSIVE] = TG_TINT_YELLOW };

/* Writes words after what is already in the line (`at` columns), breaking at blanks; new lines are
 * indented. A word is never cut, so that names can be copied, and a line never starts with "::". */
static void put_wrapped(struct page *p, tg_sv text, size_t at, size_t indent)
{
    static const char *const unit[] = { "%", "%;", "%,", "%)", "us", "ms", "ns", NULL };
    bool first = true;
    while (text.n) {
        tg_sv word = tg_sv_cut(&text, ' ');
        size_t w = tg_utf8_count(word);
        if (!w)
            continue;
        /* "4.5 %" and "12 us" stay together. */
        bool stay = tg_sv_starts(word, TG_SV("::")) || tg_sv_index(unit, word) >= 0;
        if (!first && at + 1 + w > p->columns && !stay) {
            tg_buf_printf(p->out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            tg_buf_putc(p->out, ' ');
            at++;
        }
        tg_buf_add(p->out, word);
        at += w;
        first = false;
    }
    tg_buf_putc(p->out, '\n');
}

/* Names in the form that the rest of the report has, the same on each line; escaped. */
static void put_message(struct tg_buf *out, tg_sv message, const struct tg_shorts *names)
{
    struct tg_piece piece;
    TG_BUF line = { 0 };
    while (tg_message_next(&message, &piece))
        if (piece.type == TG_PIECE_NAME)
            tg_shorts_put(&line, piece.text, names);
        else
            tg_buf_printf(&line, piece.type == TG_PIECE_CODE ? "`%.*s`" : "%.*s",
                          TG_SV_ARG(piece.text));
    tg_esc_terminal(out, tg_buf_sv(&line));
}

/* "label text", the text escaped, wrapped and aligned after the label; nothing without text. */
static void put_field(struct page *p, size_t indent, const char *label, size_t width, tg_sv text,
                      enum tg_tint tint)
{
    TG_BUF safe = { 0 };
    if (!text.n)
        return;
    tg_esc_terminal(&safe, text);
    tg_buf_printf(p->out, "%*s", (int)indent, "");
    tg_tint_on(p->out, tint, p->r->color);
    tg_buf_printf(p->out, "%-*s", (int)width, label);
    tg_tint_off(p->out, tint, p->r->color);
    put_wrapped(p, tg_buf_sv(&safe), indent + width, indent + width);
}

static void put_headline(struct page *p)
{
    const struct tg_verdict *v = p->v;
    enum tg_tint tint = v->outcome == TG_OUTCOME_PASS ? TG_TINT_GREEN
                        : v->outcome == TG_OUTCOME_FAIL || v->outcome == TG_OUTCOME_ERROR
                            ? TG_TINT_RED
                            : TG_TINT_YELLOW;
    tg_sv headline = v->headline.n ? v->headline : tg_sv_of(tg_outcome_name(v->outcome));
    TG_BUF safe = { 0 };
    put_message(&safe, headline, &p->names);
    if (p->r->color)
        tg_buf_puts(p->out, "\033[1m");
    tg_tint_on(p->out, tint, p->r->color);
    put_wrapped(p, tg_buf_sv(&safe), 0, 2);
    if (p->r->color && p->out->n) { /* the reset goes before the end of the line */
        p->out->n--;
        tg_buf_puts(p->out, "\033[0m\n");
    }
    if (p->r->exit_zero && v->exit_code != 0)
        tg_buf_printf(p->out, "verdict %s (exit 0 by --exit-zero)\n",
                      v->outcome == TG_OUTCOME_FAIL           ? "FAIL"
                      : v->outcome == TG_OUTCOME_INCONCLUSIVE ? "INCONCLUSIVE"
                                                              : "ERROR");
}

static void put_side(struct page *p, const char *label, tg_sv what, int side)
{
    TG_BUF text = { 0 };
    tg_buf_add(&text, what);
    if (p->v->comparison) {
        tg_buf_puts(&text, text.n ? "; " : "");
        tg_put_side(&text, p->v->comparison, side);
    }
    put_field(p, 2, label, 10, tg_buf_sv(&text), TG_TINT_DIM);
}

/* What it costs, and how many results there are of each state. */
static void put_effect(struct page *p)
{
    struct tg_tally tally[TG_STATE_FAIL + 1];
    size_t n = tg_tally(p->v, tally);
    TG_BUF text = { 0 };
    tg_effect_put(&text, p->v);
    for (size_t i = 0; i < n; i++) {
        tg_buf_puts(&text, i ? ", " : text.n ? "; " : "");
        tg_tally_put(&text, &tally[i]);
    }
    put_field(p, 2, "effect", 10, tg_buf_sv(&text), TG_TINT_NONE);
}

static void put_first(struct page *p)
{
    const struct tg_verdict *v = p->v;
    TG_BUF text = { 0 };
    put_effect(p);
    if (v->error.n && v->by_note)
        put_field(p, 2, "why", 10, v->error, TG_TINT_RED);
    tg_accept_put_hint(&text, v);
    put_field(p, 2, "next", 10, tg_buf_sv(&text), TG_TINT_DIM);
    tg_buf_clear(&text);
    tg_esc_terminal(&text, tg_accept_next(v));
    tg_buf_puts(&text, text.n ? " " : "");
    tg_accept_put_next(&text, v,
                       "run it with --json R.json; tracegate policy waive R.json then "
                       "prints what accepts it.",
                       NULL);
    put_field(p, 2, "next", 10, tg_buf_sv(&text), TG_TINT_DIM);
}

/* A message whose names have the form that lists give them. */
static void put_list(struct page *p, size_t indent, const char *label, size_t width, tg_sv message)
{
    TG_BUF text = { 0 };
    put_message(&text, message, &p->in_lists);
    put_field(p, indent, label, width, tg_buf_sv(&text), TG_TINT_DIM);
}

static void put_section(struct page *p, enum tg_section s, const uint32_t *roots)
{
    const struct tg_result *before = NULL;
    size_t n;
    TG_FREE uint32_t *list = tg_findings_of(p->v, roots, s, &n);
    if (n)
        tg_buf_printf(p->out, "\n%s\n", tg_section_title(s));
    for (size_t i = 0; i < n && i < p->top; i++) {
        const struct tg_result *r = &p->v->results[list[i]];
        if (!before || !tg_result_same_rule(before, r)) {
            /* Rule, limit and why, once for the findings listed under it. */
            TG_BUF rule = { 0 };
            tg_result_put_rule(&rule, r, TG_RULE_WITH_LINE);
            put_field(p, 2, "rule", 5, tg_buf_sv(&rule), TG_TINT_DIM);
        }
        const size_t indent = 8;
        TG_BUF message = { 0 }, line = { 0 }, folded = { 0 }, nights = { 0 };
        const char *word = r->state == TG_STATE_SUSPICIOUS ? "maybe" : tg_state_name(r->state);
        size_t at = 3 + (strlen(word) > 5 ? strlen(word) : 5);
        tg_buf_puts(p->out, "  ");
        tg_tint_on(p->out, tints[r->state], p->r->color);
        tg_buf_printf(p->out, "%-5s ", word);
        tg_tint_off(p->out, tints[r->state], p->r->color);
        tg_result_put(&message, r);
        put_message(&line, tg_buf_sv(&message), &p->names);
        put_wrapped(p, tg_buf_sv(&line), at, indent);
        put_field(p, indent, tg_result_evidence_label(r), 10, tg_result_evidence(r), TG_TINT_DIM);
        tg_result_put_nights(&nights, r);
        put_field(p, indent, TG_RESULT_NIGHTS, 10, tg_buf_sv(&nights), TG_TINT_DIM);
        TG_BUF text = { 0 };
        tg_origin_put(&text, r, TG_ORIGIN_WHOLE);
        put_field(p, indent, "cause", 10, tg_buf_sv(&text), TG_TINT_NONE);
        tg_buf_clear(&text);
        if (tg_origin_put_quote(&text, r->cause)) {
            tg_origin_put_unquoted(&text, r->cause);
            put_field(p, indent, TG_ORIGIN_QUOTE, 10, tg_buf_sv(&text), TG_TINT_NONE);
        }
        (void)tg_findings_put_folded(&folded, p->v, roots, list[i], TG_FOLDED_SHOWN);
        put_list(p, indent, TG_RESULT_JOINS, 12, tg_buf_sv(&folded));
        put_field(p, indent, "owner", 10, r->owner, TG_TINT_DIM);
        put_field(p, indent, "next", 10, tg_result_next(p->v, r), TG_TINT_DIM);
        before = r;
    }
    if (n > p->top)
        tg_buf_printf(p->out, "  and %zu more%s\n", n - p->top,
                      s == TG_SECTION_WAIVED ? "" : " (--json has all)");
}

static void put_notes(struct page *p, enum tg_note_place place)
{
    const char *gap = place == TG_PLACE_LAST ? "\n" : "";
    for (size_t i = 0; i < p->v->n_notes; i++) {
        const struct tg_note *n = &p->v->notes[i];
        if (tg_note_place(p->v, n) != place)
            continue;
        TG_BUF text = { 0 };
        put_message(&text, n->text, &p->in_lists);
        tg_buf_puts(p->out, gap);
        gap = "";
        put_field(p, 0, n->warning ? "warning: " : "note: ", n->warning ? 9 : 6, tg_buf_sv(&text),
                  n->warning ? TG_TINT_YELLOW : TG_TINT_DIM);
        put_field(p, 2, "next ", 5, tg_note_next(p->v, n), TG_TINT_DIM);
    }
}

/* ---- what moved most ---- */

static const struct tg_texttable_column mover_columns[] = {
    { .title = "" },
    { .title = "operator or kernel",
      .least = TG_TEXTTABLE_NAME_LEAST,
      .most = TG_TEXTTABLE_NAME_MOST },
    { .title = "calls", .right = true },
    { .title = "base us", .right = true, .drop = 3 },
    { .title = "fresh us", .right = true, .drop = 1 },
    { .title = "change us", .right = true },
    { .title = "%", .right = true, .drop = 2 },
    { .title = "of step", .right = true, .drop = 4 },
};

static void add_mover(struct tg_texttable *g, const struct page *p, const struct tg_op *op,
                      const struct tg_label *label)
{
    const struct tg_verdict *v = p->v;
    struct tg_row_numbers n = tg_row_shown(v, op);
    struct tg_row_was f = tg_row_was(v, op);
    enum tg_tint tint = n.d_ns > 0 ? TG_TINT_RED : TG_TINT_GREEN;
    struct tg_buf *cell = &g->text;
    TG_BUF name = { 0 };
    if (f.name) {
        /* A line of its own, above that of the numbers. */
        const char *mark = tg_row_mark(v, op);
        TG_BUF former = { 0 };
        tg_buf_puts(&g->text, mark);
        tg_texttable_cell(g, TG_TINT_DIM);
        tg_shorts_put(&former, f.name->name, &p->in_lists);
        tg_esc_terminal(&g->text, tg_buf_sv(&former));
        tg_row_put_more(&g->text, f.n_before);
        tg_texttable_cell(g, TG_TINT_NONE);
        for (size_t i = 2; i < sizeof mover_columns / sizeof *mover_columns; i++)
            tg_texttable_cell(g, TG_TINT_NONE);
    }
    tg_buf_puts(cell, f.name ? "" : tg_row_mark(v, op));
    tg_texttable_cell(g, TG_TINT_DIM);
    tg_buf_puts(cell, f.name ? "-> " : "");
    tg_label_put(&name, label);
    tg_esc_terminal(cell, tg_buf_sv(&name));
    tg_row_put_more(cell, f.n_after);
    if (op->grouped)
        tg_buf_puts(cell, " ~grouped");
    tg_texttable_cell(g, TG_TINT_NONE);
    if (op->kind != TG_KIND_STEP) /* a gap is not called */
        tg_put_count(cell, n.count[TG_BASE]);
    if (n.d_count != 0)
        tg_buf_printf(cell, " -> %s", TG_AS(tg_put_count, n.count[TG_TEST]));
    tg_texttable_cell(g, n.d_count != 0 ? TG_TINT_YELLOW : TG_TINT_NONE);
    tg_put_us(cell, n.ns[TG_BASE]);
    tg_texttable_cell(g, TG_TINT_NONE);
    tg_put_us(cell, n.ns[TG_TEST]);
    tg_texttable_cell(g, TG_TINT_NONE);
    tg_put_us_delta(cell, n.d_ns);
    tg_texttable_cell(g, tint);
    if (n.ns[TG_BASE] > 0 && n.ns[TG_TEST] > 0)
        tg_put_pct_delta(cell, 100 * n.d_ns / n.ns[TG_BASE]);
    tg_texttable_cell(g, TG_TINT_NONE);
    tg_put_share(cell, tg_row_share(v->comparison, op, &n));
    tg_texttable_cell(g, TG_TINT_NONE);
}

/* What the results are about, then a little of the rest to see it against; nothing on a pass. */
static void put_movers(struct page *p)
{
    enum { OTHERS = 3, NUMBERS = 58 };
    const struct tg_comparison *c = p->v->comparison;
    /* Names are as wide as leaves room for the numbers. */
    size_t room = p->columns > NUMBERS ? p->columns - NUMBERS : 0;
    size_t width = room < TG_TEXTTABLE_NAME_LEAST  ? TG_TEXTTABLE_NAME_LEAST
                   : room > TG_TEXTTABLE_NAME_MOST ? TG_TEXTTABLE_NAME_MOST
                                                   : room;
    TG_AUTO(tg_texttable_release)
    struct tg_texttable g = { .columns = mover_columns,
                              .n_columns = sizeof mover_columns / sizeof *mover_columns,
                              .color = p->r->color };
    TG_AUTO(tg_labels_release) struct tg_labels labels = { 0 };
    size_t n = 0;
    bool noise = false, whole = false;
    TG_FREE uint32_t *rows = NULL;
    if (!c || p->v->outcome == TG_OUTCOME_PASS)
        return;
    rows = tg_rows_of_verdict(p->v, p->top, OTHERS, &n);
    tg_labels_of_rows(&labels, c, rows, n, width);
    for (size_t i = 0; i < n; i++) {
        add_mover(&g, p, &c->ops[rows[i]], &labels.v[i]);
        noise |= tg_row_is_noise(&c->ops[rows[i]]);
        whole |= tg_row_is_whole(p->v, &c->ops[rows[i]]);
    }
    if (n) {
        tg_buf_puts(p->out, "\nTime per step: what changed most");
        if (c->n_ranks[TG_TEST] > 1)
            tg_buf_printf(p->out, ", mean of %zu ranks%s%s", c->n_ranks[TG_TEST],
                          c->rank_alone ? "; marked " : "",
                          c->rank_alone ? c->rank_alone->called : "");
        tg_buf_putc(p->out, '\n');
        tg_texttable_write(&g, p->out, 2, p->columns);
    }
    if (tg_rows_left_of_rank(p->v, rows, n))
        tg_buf_printf(p->out, "  and %zu more of %s that take longer (--html has all)\n",
                      tg_rows_left_of_rank(p->v, rows, n), c->rank_alone->called);
    if (whole)
        tg_buf_puts(p->out, "  with all that follows from a finding\n");
    if (noise)
        tg_buf_puts(p->out, "  " TG_ROW_NOISE "\n");
}

void tg_reporter_text(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    enum { INDENT = 20, LEAST = 24, IN_LISTS = 40 };
    struct page p = { .out = out,
                      .v = v,
                      .r = r,
                      .columns = r->columns > 0 ? (size_t)r->columns : 100,
                      .top = r->top ? r->top : 10 };
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    bool passes = v->outcome == TG_OUTCOME_PASS && v->comparison && !v->n_notes;
    tg_shorts_init(&p.names, v, p.columns > INDENT + LEAST ? p.columns - INDENT : LEAST);
    tg_shorts_init(&p.in_lists, v, IN_LISTS);
    put_headline(&p);
    if (passes) {
        /* What a pass says after its headline: the effect and how much passed, then what that
         * rests on. */
        TG_BUF text = { 0 };
        put_effect(&p);
        tg_buf_printf(&text, "suite %.*s, ", TG_SV_ARG(v->suite.n ? v->suite : TG_SV("default")));
        if (v->policy.n)
            tg_buf_printf(&text, "%.*s, ", TG_SV_ARG(v->policy));
        tg_buf_printf(&text, "tracegate %.*s, baseline ", TG_SV_ARG(tg_version_of(v)));
        tg_put_baseline(&text, v);
        tg_buf_printf(&text, ": %.*s", TG_SV_ARG(v->coverage));
        put_field(&p, 2, "judged", 10, tg_buf_sv(&text), TG_TINT_DIM);
    } else {
        put_first(&p);
    }
    put_notes(&p, TG_PLACE_FIRST);
    for (int s = 0; s < TG_SECTIONS; s++)
        put_section(&p, (enum tg_section)s, roots);
    /* Names that were replaced and their replacement; a fusion is news, not a violation. */
    const struct tg_comparison *c = p.v->comparison;
    size_t n = c ? c->n_regions : 0, shown = 0;
    for (size_t i = 0; i < n && shown < p.top; i++) {
        TG_BUF replacements = { 0 };
        if (!tg_put_replaced(&replacements, p.v, i))
            continue;
        tg_buf_puts(p.out, shown++ ? "" : "\nReplaced\n");
        put_list(&p, 6, "-", 2, tg_buf_sv(&replacements));
    }
    if (shown && n > p.top)
        tg_buf_puts(p.out, "  and more (--json has all)\n");
    put_section(&p, TG_SECTION_WAIVED, roots);
    put_movers(&p);
    put_notes(&p, TG_PLACE_LAST);
    if (!passes) {
        /* What the verdict is of, at the end. */
        TG_BUF text = { 0 };
        tg_buf_puts(p.out, "\n");
        put_field(&p, 2, "suite", 10, v->suite, TG_TINT_DIM);
        tg_buf_printf(&text, "%.*s%stracegate %.*s", TG_SV_ARG(v->policy), v->policy.n ? "; " : "",
                      TG_SV_ARG(tg_version_of(v)));
        put_field(&p, 2, "policy", 10, tg_buf_sv(&text), TG_TINT_DIM);
        tg_buf_clear(&text);
        tg_put_baseline(&text, v);
        put_side(&p, "baseline", tg_buf_sv(&text), TG_BASE);
        tg_buf_clear(&text);
        if (v->test_commit.n)
            tg_buf_add(&text, tg_utf8_prefix(v->test_commit, 12));
        if (v->test_paths.n)
            tg_buf_printf(&text, "%s%.*s", text.n ? ", " : "", TG_SV_ARG(v->test_paths));
        put_side(&p, "fresh", tg_buf_sv(&text), TG_TEST);
        put_field(&p, 2, "coverage", 10, v->coverage, TG_TINT_DIM);
    }
    tg_shorts_release(&p.names);
    tg_shorts_release(&p.in_lists);
}
