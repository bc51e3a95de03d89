#include "reporters/accept.h"
#include "reporters/findings.h"
#include "reporters/markdown.h"
#include "reporters/origin.h"

/* ---- findings ---- */

#define SUB(label) "<br>\n  <sub>" label " {}</sub>"

static void put_finding(struct tg_markdown *m, struct tg_buf *part, const uint32_t *roots, size_t i)
{
    const struct tg_result *r = &m->v->results[i];
    TG_BUF message = { 0 }, nights = { 0 };
    tg_result_put(&message, r);
    tg_buf_printf(part, "- %s ", tg_markdown_icon(r->state));
    tg_markdown_put_text(m, part, tg_buf_sv(&message));
    const struct tg_cause_frame *f = r->cause ? r->cause->function : NULL;
    TG_BUF rest = { 0 }, quote = { 0 };
    if (r->cause) {
        tg_buf_puts(part, "<br>\n  ");
        if (f) { /* the place is a link where the site is known */
            struct tg_origin_place place = tg_origin_place(r->cause);
            TG_BUF at = { 0 };
            tg_origin_put_place(&at, &place);
            tg_markdown_put_place(m, part, tg_buf_sv(&at), place.file, place.first, place.last);
            tg_buf_putc(part, ' ');
        }
        tg_origin_put(&rest, r, f ? TG_ORIGIN_AFTER_PLACE : TG_ORIGIN_WHOLE);
        tg_markdown_put_text(m, part, tg_buf_sv(&rest));
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
        tg_markdown_put_text(m, part, evidence);
        if (issue.n)
            tg_markdown_put_link(part, "issue", issue);
        tg_buf_puts(part, "</sub>");
    }
    tg_result_put_nights(&nights, r);
    tg_markdown_put_sentence(m, part, SUB(TG_RESULT_NIGHTS), tg_buf_sv(&nights));
    TG_BUF text = { 0 };
    (void)tg_findings_put_folded(&text, m->v, roots, i, TG_FOLDED_SHOWN);
    tg_markdown_put_sentence(m, part, SUB(TG_RESULT_JOINS), tg_buf_sv(&text));
    if (r->owner.n)
        TG_PUT(part, tg_markdown_put_name, SUB("owner"), r->owner);
    tg_markdown_put_sentence(m, part, SUB("**next**"), tg_result_next(m->v, r));
    tg_buf_putc(part, '\n');
}

/* Rule, limit and why, once for the findings listed under it; the place in the policy is a link. */
static void put_rule(const struct tg_markdown *m, struct tg_buf *part, const struct tg_result *r)
{
    TG_BUF rule = { 0 }, at = { 0 };
    tg_result_put_rule(&rule, r, TG_RULE_ALONE);
    if (rule.n) {
        tg_markdown_put_sentence(m, part, "\n<sub>rule {}", tg_buf_sv(&rule));
        tg_result_put_at(&at, r);
        if (at.n) {
            tg_buf_puts(part, " (");
            tg_markdown_put_place(m, part, tg_buf_sv(&at),
                                  tg_result_in_file(r) ? tg_sv_of(r->file) : TG_SV(""), r->line,
                                  r->line);
            tg_buf_putc(part, ')');
        }
        tg_buf_puts(part, "</sub>\n\n");
    }
}

void tg_markdown_put_findings(struct tg_markdown *m)
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

void tg_markdown_put_what_now(struct tg_markdown *m)
{
    TG_BUF part = { 0 }, waivers = { 0 };
    const struct tg_result *first;
    size_t left = tg_accept_put_all(&waivers, m->v, &first);
    const struct tg_result *head = first ? first : tg_findings_first(m->v);
    bool of_rule = head && m->v->outcome == TG_OUTCOME_FAIL && head->rule.n && head->file;
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
            tg_accept_put_where(&part, m->v, tg_markdown_put_name);
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
