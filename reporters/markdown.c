/*
 * A pull request comment or step summary in GitHub's Markdown: marker, headline, what it costs,
 * findings, the rows they are about, a chart, and everything else folded; a pass is three lines. It
 * stays within a budget of bytes: whole rows are dropped, and the last line says how many and where
 * the full report is.
 *
 * All names are code spans, all sentences go through tg_markdown_put_text: nothing in a trace can
 * mention somebody, link, or end a table (docs/reports.md).
 */
#include "reporters/markdown.h"

#include "core/base/utf8.h"
#include "reporters/accept.h"
#include "reporters/effect.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/link.h"

enum { BUDGET = 65000 /* a comment takes 65,536 characters; the unit is undocumented */ };

/* ---- head ---- */

static void put_head(struct tg_markdown *m)
{
    const struct tg_verdict *v = m->v;
    struct tg_buf *out = m->out;
    tg_buf_puts(out, "<!-- tracegate:report key=");
    /* [A-Za-z0-9._-] without "--", which would end the comment that carries it. */
    tg_sv key = m->r->key.n ? m->r->key : v->suite;
    size_t before = out->n;
    for (size_t i = 0; i < key.n && i < 100; i++) {
        char c = key.p[i];
        if (!tg_is_word(c) && c != '.' && c != '-')
            c = c == '@' ? '.' : '_';
        if (c == '-' && (out->n == before || out->p[out->n - 1] == '-'))
            c = '_';
        tg_buf_putc(out, c);
    }
    if (out->n > before && out->p[out->n - 1] == '-')
        out->p[out->n - 1] = '_';
    if (out->n == before)
        tg_buf_puts(out, "default");
    tg_buf_printf(out, " -->\n### %s ",
                  v->first_run && v->outcome == TG_OUTCOME_PASS
                      ? "\xe2\x84\xb9\xef\xb8\x8f" /* nothing was compared */
                      : tg_markdown_outcome_icon(v->outcome));
    tg_markdown_put_sentence(m, out, "{}\n",
                             v->headline.n ? v->headline : tg_sv_of(tg_outcome_name(v->outcome)));
    if (m->r->exit_zero && v->exit_code)
        tg_buf_puts(out, "\nThe verdict stands; the job goes on because of `--exit-zero`.\n");
    /* What it costs, and how many results there are of each sort. */
    TG_BUF text = { 0 }, counts = { 0 };
    tg_effect_put(&text, v);
    /* "❌ 2 failed (1 more follows from them) · ✅ 6 passed · 3 not judged" */
    struct tg_tally tally[TG_STATE_FAIL + 1];
    size_t n = tg_tally(m->v, tally);
    for (size_t i = 0; i < n; i++) {
        TG_BUF count_text = { 0 };
        tg_buf_puts(&counts, i ? " \xc2\xb7 " : "");
        if (tally[i].state != TG_STATE_NOT_JUDGED)
            tg_buf_printf(&counts, "%s ", tg_markdown_icon(tally[i].state));
        tg_tally_put(&count_text, &tally[i]);
        tg_markdown_put_text(m, &counts, tg_buf_sv(&count_text));
    }
    if (!text.n && !counts.n)
        return;
    tg_buf_puts(out, "\n");
    tg_markdown_put_sentence(m, out, "**{}**", tg_buf_sv(&text));
    tg_buf_printf(out, "%s%.*s\n", text.n && counts.n ? " \xc2\xb7 " : "",
                  TG_SV_ARG(tg_buf_sv(&counts)));
}

static void put_why_and_next(struct tg_markdown *m)
{
    TG_BUF part = { 0 }, first = { 0 }, next = { 0 };
    tg_accept_put_hint(&next, m->v);
    if (m->v->by_note)
        tg_markdown_put_sentence(m, &part, "\n**Why** {}\n", m->v->error);
    tg_markdown_put_sentence(m, &part, "\n**Next** {}\n", tg_buf_sv(&next));
    tg_accept_put_next(&first, m->v, "accept it with the waiver under \"What now\".",
                       tg_markdown_put_name);
    if (first.n || tg_accept_next(m->v).n) {
        tg_buf_puts(&part, "\n**Next** ");
        tg_markdown_put_text(m, &part, tg_accept_next(m->v));
        tg_buf_printf(&part, "%s%.*s\n", tg_accept_next(m->v).n && first.n ? " " : "",
                      TG_SV_ARG(tg_buf_sv(&first)));
    }
    tg_markdown_add_or_drop(m, &part);
}

/* Warnings before the findings, hints after them. */
static void put_notes(struct tg_markdown *m, enum tg_note_place place)
{
    TG_BUF part = { 0 };
    for (size_t i = 0; i < m->v->n_notes; i++) {
        const struct tg_note *n = &m->v->notes[i];
        if (tg_note_place(m->v, n) != place)
            continue;
        tg_buf_printf(&part, "\n> %s ",
                      n->warning ? tg_markdown_outcome_icon(TG_OUTCOME_WARN)
                                 : "\xe2\x84\xb9\xef\xb8\x8f");
        tg_markdown_put_text(m, &part, n->text);
        tg_markdown_put_sentence(m, &part, "<br>\xe2\x86\x92 {}", tg_note_next(m->v, n));
        tg_buf_puts(&part, "\n");
        tg_markdown_add_or_drop(m, &part);
    }
}

/* ---- the rest ---- */

/* A few are news; many are folded. */
static void put_replaced(struct tg_markdown *m)
{
    enum { NEWS = 3 };
    const struct tg_comparison *c = m->v->comparison;
    TG_BUF list = { 0 }, part = { 0 };
    size_t n = 0;
    for (size_t i = 0; c && i < c->n_regions && n < m->top; i++) {
        TG_BUF message = { 0 };
        if (!tg_put_replaced(&message, m->v, i))
            continue;
        tg_markdown_put_sentence(m, &list, "- {}\n", tg_buf_sv(&message));
        n++;
    }
    if (n)
        tg_buf_printf(&part,
                      n > NEWS ? "\n<details><summary>Replaced</summary>\n\n%s\n</details>\n"
                               : "\n**Replaced**\n\n%s",
                      list.p);
    tg_markdown_add_or_drop(m, &part);
}

/* ---- foot ---- */

static void put_linked(struct tg_buf *out, tg_sv url, const char *text)
{
    if (!url.n)
        return;
    tg_buf_puts(out, " \xc2\xb7 ");
    if (tg_link_is_web(url))
        tg_markdown_put_link(out, text, url);
    else
        tg_markdown_put_name(out, url);
}

/* Where a side comes from: the commit, or its path if there is none. */
static void put_side(const struct tg_markdown *m, int side)
{
    const struct tg_verdict *v = m->v;
    const struct tg_baseline_info *b = &v->baseline;
    tg_sv commit = side == TG_BASE ? b->commit : v->test_commit;
    tg_sv path = side == TG_BASE ? b->paths : v->test_paths;
    TG_BUF runs = { 0 };
    tg_put_side(&runs, v->comparison, side);
    tg_buf_puts(m->out, side == TG_BASE ? "baseline" : " \xc2\xb7 fresh");
    if (commit.n) {
        /* Twelve digits of a commit, linked where the site is known. */
        TG_BUF url = { 0 };
        tg_link_put_commit(&url, m->r->repo_url, commit);
        tg_buf_puts(m->out, url.n ? " [" : " ");
        tg_esc_md_code(m->out, tg_utf8_prefix(commit, 12), TG_ESC_PROSE);
        if (url.n)
            tg_buf_printf(m->out, "](%s)", url.p);
    }
    if (side == TG_BASE && commit.n)
        tg_markdown_put_sentence(m, m->out, ", {}", b->how);
    if (!commit.n)
        tg_markdown_put_sentence(m, m->out, " {}", path);
    if (side == TG_BASE && tg_situation_is_special(b->situation))
        tg_buf_printf(m->out, " (%s)", tg_situation_said(b->situation));
    if (runs.n)
        tg_buf_printf(m->out, " (%s)", runs.p);
}

static void put_foot(struct tg_markdown *m)
{
    const struct tg_verdict *v = m->v;
    tg_buf_puts(m->out, "\n<sub>");
    tg_markdown_put_sentence(m, m->out, "{}<br>\n", v->coverage);
    put_side(m, TG_BASE);
    put_side(m, TG_TEST);
    TG_PUT(m->out, tg_markdown_put_name, " \xc2\xb7 suite {}",
           v->suite.n ? v->suite : TG_SV("default"));
    if (v->policy.n && v->policy_file.n) {
        tg_buf_puts(m->out, " \xc2\xb7 ");
        tg_markdown_put_place(m, m->out, v->policy, v->policy_file, 0, 0);
    } else {
        tg_markdown_put_sentence(m, m->out, " \xc2\xb7 {}", v->policy);
    }
    put_linked(m->out, m->r->report_url, "full report");
    put_linked(m->out, m->r->run_url, "run");
    tg_buf_printf(m->out, " \xc2\xb7 tracegate %.*s", TG_SV_ARG(tg_version_of(v)));
    if (m->dropped_rows || m->dropped_parts) {
        tg_buf_puts(m->out, "<br>Too long for one comment: ");
        if (m->dropped_rows)
            tg_buf_printf(m->out, "%zu rows omitted", m->dropped_rows);
        if (m->dropped_parts)
            tg_buf_printf(m->out, "%s%zu sections omitted", m->dropped_rows ? ", " : "",
                          m->dropped_parts);
        tg_buf_puts(m->out, "; the JSON report has all.");
    }
    tg_buf_puts(m->out, "</sub>\n");
}

void tg_reporter_markdown(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    TG_AUTO(tg_markdown_names_release)
    struct tg_markdown m = { .out = out,
                             .v = v,
                             .r = r,
                             .budget = r->budget ? r->budget : BUDGET,
                             .top = r->top ? r->top : 10 };
    tg_markdown_names_init(&m);
    put_head(&m);
    put_why_and_next(&m);
    put_notes(&m, TG_PLACE_FIRST);
    tg_markdown_put_findings(&m);
    tg_markdown_put_table(&m);
    put_replaced(&m);
    tg_markdown_put_full_names(&m);
    put_notes(&m, TG_PLACE_LAST);
    const struct tg_comparison *c = m.v->comparison;
    TG_BUF part = { 0 };
    if (c && c->n_env) {
        tg_buf_puts(&part, "\n<details><summary>Environment: what differs or is unknown</summary>\n"
                           "\n| | baseline | fresh |\n|:--|:--|:--|\n");
        for (size_t i = 0; i < c->n_env; i++) {
            tg_buf_puts(&part, "| ");
            tg_esc_md_code(&part, c->env[i].key, TG_ESC_CELL);
            for (int s = 0; s < 2; s++) {
                tg_buf_puts(&part, " | ");
                if (c->env[i].value[s].n) {
                    enum { LONGEST = 160 };
                    TG_BUF shorter = { 0 };
                    tg_shorten_visible(&shorter, c->env[i].value[s], LONGEST);
                    tg_esc_md_code(&part, tg_buf_sv(&shorter), TG_ESC_CELL);
                } else {
                    tg_buf_puts(&part, "unknown");
                }
            }
            tg_buf_puts(&part, " |\n");
        }
        tg_buf_puts(&part, "\n</details>\n");
        tg_markdown_add_or_drop(&m, &part);
    }
    tg_markdown_put_what_now(&m);
    tg_markdown_put_chart(&m);
    put_foot(&m);
}
