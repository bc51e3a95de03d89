/*
 * A pull request comment or step summary in GitHub's Markdown: marker, headline, what it costs,
 * findings, the rows they are about, a chart, and everything else folded; a pass is three lines. It
 * stays within a budget of bytes: whole rows are dropped, and the last line says how many and where
 * the full report is.
 *
 * All names are code spans, all sentences go through put_text: nothing in a trace can
 * mention somebody, link, or end a table (docs/reports.md).
 */
#include "reporters/markdown.h"

#include "core/base/message.h"
#include "core/base/utf8.h"
#include "reporters/accept.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/number.h"
#include "reporters/origin.h"

enum {
    BUDGET = 65000, /* a comment takes 65,536 characters; the unit is undocumented */
    LINE_MAX = 600, /* of one sentence */
    NAME = 80       /* code points of a path or command */
};

/* A code span, shortened. */
static void put_name(struct tg_buf *out, tg_sv name)
{
    TG_BUF text = { 0 };
    tg_label_put_one(&text, name, NAME);
    tg_esc_md_name(out, tg_buf_sv(&text));
}

/* A sentence: names as code spans, each in one piece; other risky words, too. */
static void put_text(const struct tg_markdown *m, struct tg_buf *out, tg_sv text)
{
    struct tg_piece piece;
    while (tg_message_next(&text, &piece)) {
        TG_BUF part = { 0 };
        if (piece.type == TG_PIECE_NAME) {
            uint32_t id = tg_strmap_find(&m->names.ids, piece.text);
            TG_BUF name = { 0 };
            if (id != TG_NO_ID)
                tg_label_put(&name, &m->names.labels.v[m->names.label[id]]);
            else
                tg_label_put_one(&name, piece.text, TG_MARKDOWN_SHORT);
            tg_esc_md_name(&part, tg_buf_sv(&name));
        } else if (piece.type == TG_PIECE_CODE) {
            tg_esc_md_name(&part, piece.text);
        } else {
            /* With the blanks at its ends, which the escape omits. */
            tg_sv words = piece.text;
            TG_BUF printed = { 0 }, shorter = { 0 };
            tg_put_printed(&printed, tg_sv_strip(words, " "));
            tg_shorten_visible(&shorter, tg_buf_sv(&printed), LINE_MAX);
            tg_buf_puts(&part, words.p[0] == ' ' ? " " : "");
            tg_esc_md_text(&part, tg_buf_sv(&shorter));
            tg_buf_puts(&part, shorter.n && words.p[words.n - 1] == ' ' ? " " : "");
        }
        if (tg_sv_ends(tg_buf_sv(out), TG_SV("`")) && tg_sv_starts(tg_buf_sv(&part), TG_SV("`")))
            tg_buf_putc(out, ' '); /* side by side two spans of code are one */
        tg_buf_add(out, tg_buf_sv(&part));
    }
}

/* The same between words of ours: `ours` has one "{}", the place of the sentence. Nothing without
 * a sentence. */
static void put_sentence(const struct tg_markdown *m, struct tg_buf *out, const char *ours,
                         tg_sv text)
{
    const char *hole = strstr(ours, "{}");
    if (!text.n)
        return;
    tg_buf_add(out, (tg_sv){ ours, (size_t)(hole - ours) });
    put_text(m, out, text);
    tg_buf_puts(out, hole + 2);
}

/* `text` as a code span, linked to the line in the repository where that is known. */
static void put_place(const struct tg_markdown *m, struct tg_buf *out, tg_sv text, tg_sv file,
                      uint32_t first, uint32_t last)
{
    TG_BUF url = { 0 };
    tg_link_put_lines(&url, m->r->repo_url, m->v->test_commit, file, first, last);
    tg_buf_puts(out, url.n ? "[" : "");
    put_name(out, text);
    if (url.n)
        tg_buf_printf(out, "](%s)", url.p);
}

static void put_link(struct tg_buf *out, const char *text, tg_sv url)
{
    tg_buf_printf(out, "[%s](", text);
    tg_link_put_encoded(out, url);
    tg_buf_putc(out, ')');
}

#define CHECK_MARK "\xe2\x9c\x85"
#define WARNING_SIGN "\xe2\x9a\xa0\xef\xb8\x8f"
#define QUESTION_MARK "\xe2\x9d\x94"
#define CROSS_MARK "\xe2\x9d\x8c"

static const char *outcome_icon(enum tg_outcome o)
{
    static const char *const icon[] = {
        [TG_OUTCOME_PASS] = CHECK_MARK,  [TG_OUTCOME_WARN] = WARNING_SIGN,
        [TG_OUTCOME_FAIL] = CROSS_MARK,  [TG_OUTCOME_INCONCLUSIVE] = QUESTION_MARK,
        [TG_OUTCOME_ERROR] = CROSS_MARK,
    };
    return icon[o];
}

static const char *state_icon(enum tg_state s)
{
    static const char *const icon[] = {
        [TG_STATE_FAIL] = CROSS_MARK,
        [TG_STATE_INCONCLUSIVE] = QUESTION_MARK,
        [TG_STATE_WARN] = WARNING_SIGN,
        [TG_STATE_SUSPICIOUS] = "\xf0\x9f\x94\x8d", /* magnifying glass */
        [TG_STATE_PASS] = CHECK_MARK,
        [TG_STATE_WAIVED] = "\xf0\x9f\x8e\xab", /* ticket */
        [TG_STATE_SKIP] = WARNING_SIGN,
        [TG_STATE_NOT_JUDGED] = WARNING_SIGN,
    };
    return icon[s];
}

/* ---- findings ---- */

#define SUB(label) "<br>\n  <sub>" label " {}</sub>"

static void put_finding(struct tg_markdown *m, struct tg_buf *part, const uint32_t *roots, size_t i)
{
    const struct tg_result *r = &m->v->results[i];
    TG_BUF message = { 0 }, nights = { 0 };
    tg_result_put(&message, r);
    tg_buf_printf(part, "- %s ", state_icon(r->state));
    put_text(m, part, tg_buf_sv(&message));
    const struct tg_cause_frame *f = r->cause ? r->cause->function : NULL;
    TG_BUF rest = { 0 }, quote = { 0 };
    if (r->cause) {
        tg_buf_puts(part, "<br>\n  ");
        if (f) { /* the place is a link where the site is known */
            struct tg_origin_place place = tg_origin_place(r->cause);
            TG_BUF at = { 0 };
            tg_origin_put_place(&at, &place);
            put_place(m, part, tg_buf_sv(&at), place.file, place.first, place.last);
            tg_buf_putc(part, ' ');
        }
        tg_origin_put(&rest, r, f ? TG_ORIGIN_AFTER_PLACE : TG_ORIGIN_WHOLE);
        put_text(m, part, tg_buf_sv(&rest));
        if (tg_origin_put_quote(&quote, r->cause)) {
            TG_PUT(part, tg_esc_md_name, "<br>\n  " TG_ORIGIN_QUOTE " {}", tg_buf_sv(&quote));
            tg_origin_put_unquoted(part, r->cause);
        }
    }
    /* An issue that the waiver names is a link. */
    tg_sv evidence = tg_result_evidence(r), issue = tg_result_issue(r);
    evidence.n -= issue.n;
    if (evidence.n) {
        tg_buf_puts(part, "<br>\n  <sub>");
        if (r->state != TG_STATE_WAIVED)
            tg_buf_printf(part, "%s: ", tg_result_evidence_label(r));
        put_text(m, part, evidence);
        if (issue.n)
            put_link(part, "issue", issue);
        tg_buf_puts(part, "</sub>");
    }
    tg_result_put_nights(&nights, r);
    put_sentence(m, part, SUB(TG_RESULT_NIGHTS), tg_buf_sv(&nights));
    TG_BUF text = { 0 };
    (void)tg_findings_put_folded(&text, m->v, roots, i, TG_FOLDED_SHOWN);
    put_sentence(m, part, SUB(TG_RESULT_JOINS), tg_buf_sv(&text));
    if (r->owner.n)
        TG_PUT(part, put_name, SUB("owner"), r->owner);
    put_sentence(m, part, SUB("**next**"), tg_result_next(m->v, r));
    tg_buf_putc(part, '\n');
}

/* Rule, limit and why, once for the findings listed under it; the place in the policy is a link. */
static void put_rule(const struct tg_markdown *m, struct tg_buf *part, const struct tg_result *r)
{
    TG_BUF rule = { 0 }, at = { 0 };
    tg_result_put_rule(&rule, r, TG_RULE_ALONE);
    if (rule.n) {
        put_sentence(m, part, "\n<sub>rule {}", tg_buf_sv(&rule));
        tg_result_put_at(&at, r);
        if (at.n) {
            tg_buf_puts(part, " (");
            put_place(m, part, tg_buf_sv(&at),
                      tg_result_in_file(r) ? tg_sv_of(r->at.file) : TG_SV(""), r->at.line,
                      r->at.line);
            tg_buf_putc(part, ')');
        }
        tg_buf_puts(part, "</sub>\n\n");
    }
}

static void put_findings(struct tg_markdown *m)
{
    TG_FREE uint32_t *roots = tg_findings_roots(m->v);
    for (int s = 0; s <= TG_SECTION_WAIVED; s++) {
        enum tg_section section = (enum tg_section)s;
        TG_BUF part = { 0 };
        const struct tg_result *before = NULL;
        size_t n, left = 0;
        TG_FREE uint32_t *list = tg_findings_of(m->v, roots, section, &n);
        for (size_t i = 0; i < n; i++) {
            const struct tg_result *r = &m->v->results[list[i]];
            if (i == 0)
                tg_buf_printf(&part, "\n**%s**\n", tg_section_title(section));
            if (i < m->top) {
                if (!before || !tg_result_same_rule(before, r))
                    put_rule(m, &part, r);
                put_finding(m, &part, roots, list[i]);
                before = r;
            }
            if (i >= m->top || !tg_markdown_add(m, &part))
                left++;
        }
        if (left) {
            tg_buf_printf(&part, "- and %zu more %s\n", left,
                          section == TG_SECTION_WAIVED ? "waived" : "of this kind");
            (void)tg_markdown_add(m, &part);
        }
    }
}

/* ---- what now, folded ---- */

static void put_what_now(struct tg_markdown *m)
{
    TG_BUF part = { 0 }, waivers = { 0 };
    const struct tg_result *first;
    size_t left = tg_accept_put_all(&waivers, m->v, &first);
    const struct tg_result *head = first ? first : tg_findings_first(m->v);
    bool of_rule = head && m->v->outcome == TG_OUTCOME_FAIL && head->rule.n && head->at.file;
    if (first || of_rule || (head && head->one_rank && m->v->outcome == TG_OUTCOME_FAIL)) {
        tg_buf_puts(&part, "\n<details><summary>What now</summary>\n");
        if (tg_sv_eq(head->rule, TG_SV("account"))) /* of no policy */
            tg_buf_puts(&part, "\nThe account judges it, whatever the rules of the policy ask "
                               "(docs/statistics.md, \"The account\").\n");
        else
            tg_buf_printf(&part,
                          "\nWhich rules judge it, and where their limits are:\n\n"
                          "```sh\ntracegate policy explain %.*s\n```\n",
                          TG_SV_ARG(head->rule));
        if (!first && head->one_rank)
            tg_buf_puts(&part,
                        "\nNo waiver accepts what one rank alone does: record the fresh runs "
                        "again when its machine is as the others.\n");
        else if (!first)
            tg_buf_puts(&part, "\nNo waiver accepts it, since it has no amount: where it is meant, "
                               "the rule has to say so.\n");
        if (waivers.n) {
            tg_buf_puts(&part, "\nTo accept it until a date, ");
            tg_accept_put_where(&part, m->v, put_name);
            tg_buf_printf(&part, ":\n\n```yaml\n%s```\n", waivers.p);
            if (tg_accept_covers_more(m->v))
                tg_buf_puts(&part, "\n" TG_ACCEPT_COVERS "\n");
        }
        if (left)
            tg_buf_printf(&part,
                          waivers.n ? "\nand %zu more: `tracegate policy waive REPORT.json` writes "
                                      "all of them from the JSON report\n"
                                    : "\nTo accept it until a date, `tracegate policy waive "
                                      "REPORT.json` writes the waiver from the JSON report: its "
                                      "name is too long to copy from here, or not what it looks "
                                      "like.\n",
                          left);
        tg_buf_puts(&part, "\n</details>\n");
        tg_markdown_add_or_drop(m, &part);
    }
}

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
                      : outcome_icon(v->outcome));
    put_sentence(m, out, "{}\n",
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
            tg_buf_printf(&counts, "%s ", state_icon(tally[i].state));
        tg_tally_put(&count_text, &tally[i]);
        put_text(m, &counts, tg_buf_sv(&count_text));
    }
    if (!text.n && !counts.n)
        return;
    tg_buf_puts(out, "\n");
    put_sentence(m, out, "**{}**", tg_buf_sv(&text));
    tg_buf_printf(out, "%s%.*s\n", text.n && counts.n ? " \xc2\xb7 " : "",
                  TG_SV_ARG(tg_buf_sv(&counts)));
}

static void put_why_and_next(struct tg_markdown *m)
{
    TG_BUF part = { 0 }, first = { 0 }, next = { 0 };
    tg_accept_put_hint(&next, m->v);
    if (m->v->by_note)
        put_sentence(m, &part, "\n**Why** {}\n", m->v->error);
    put_sentence(m, &part, "\n**Next** {}\n", tg_buf_sv(&next));
    tg_accept_put_next(&first, m->v, "accept it with the waiver under \"What now\".", put_name);
    if (first.n || tg_accept_next(m->v).n) {
        tg_buf_puts(&part, "\n**Next** ");
        put_text(m, &part, tg_accept_next(m->v));
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
                      n->warning ? outcome_icon(TG_OUTCOME_WARN) : "\xe2\x84\xb9\xef\xb8\x8f");
        put_text(m, &part, n->text);
        put_sentence(m, &part, "<br>\xe2\x86\x92 {}", tg_note_next(m->v, n));
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
        put_sentence(m, &list, "- {}\n", tg_buf_sv(&message));
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
        put_link(out, text, url);
    else
        put_name(out, url);
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
        tg_esc_md_name(m->out, tg_utf8_prefix(commit, 12));
        if (url.n)
            tg_buf_printf(m->out, "](%s)", url.p);
    }
    if (side == TG_BASE && commit.n)
        put_sentence(m, m->out, ", {}", b->how);
    if (!commit.n)
        put_sentence(m, m->out, " {}", path);
    if (side == TG_BASE && tg_situation_is_special(b->situation))
        tg_buf_printf(m->out, " (%s)", tg_situation_said(b->situation));
    if (runs.n)
        tg_buf_printf(m->out, " (%s)", runs.p);
}

static void put_foot(struct tg_markdown *m)
{
    const struct tg_verdict *v = m->v;
    tg_buf_puts(m->out, "\n<sub>");
    put_sentence(m, m->out, "{}<br>\n", v->coverage);
    put_side(m, TG_BASE);
    put_side(m, TG_TEST);
    TG_PUT(m->out, put_name, " \xc2\xb7 suite {}", v->suite.n ? v->suite : TG_SV("default"));
    if (v->policy.n && v->policy_file.n) {
        tg_buf_puts(m->out, " \xc2\xb7 ");
        put_place(m, m->out, v->policy, v->policy_file, 0, 0);
    } else {
        put_sentence(m, m->out, " \xc2\xb7 {}", v->policy);
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
    put_findings(&m);
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
    put_what_now(&m);
    tg_markdown_put_chart(&m);
    put_foot(&m);
}
