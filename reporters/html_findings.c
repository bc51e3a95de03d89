/* What explains the verdict: a card each, with what follows from it, where it is and what to do. */

#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/html.h"
#include "reporters/link.h"
#include "reporters/origin.h"

enum { OPEN = 6, CARDS = 40 };

/* `text` as code, linked to its line in the repository where that is known. */
static void put_place(struct tg_html *h, tg_sv text, tg_sv file, uint32_t first, uint32_t last)
{
    TG_BUF url = { 0 };
    tg_link_put_lines(&url, h->r->repo_url, h->v->test_commit, file, first, last);
    tg_page_raw(&h->page, "<code>");
    tg_page_link(&h->page, tg_buf_sv(&url), text);
    tg_page_raw(&h->page, "</code>");
}

static void put_origin(struct tg_html *h, const struct tg_result *r)
{
    const struct tg_cause_frame *f = r->cause ? r->cause->function : NULL;
    TG_BUF quote = { 0 }, text = { 0 };
    if (!r->cause)
        return;
    tg_page_raw(&h->page, "<p>");
    if (f) {
        struct tg_origin_place place = tg_origin_place(r->cause);
        TG_BUF at = { 0 };
        tg_origin_put_place(&at, &place);
        put_place(h, tg_buf_sv(&at), place.file, place.first, place.last);
        tg_page_raw(&h->page, " ");
    }
    tg_origin_put(&text, r, f ? TG_ORIGIN_AFTER_PLACE : TG_ORIGIN_WHOLE);
    tg_html_put_text(h->page.out, tg_buf_sv(&text));
    if (tg_origin_put_quote(&quote, r->cause)) {
        TG_PUT(h->page.out, tg_esc_xml,
               "</p>\n<p><span class=\"dim\">" TG_ORIGIN_QUOTE "</span> <code>{}</code>",
               tg_buf_sv(&quote));
        tg_origin_put_unquoted(h->page.out, r->cause);
    }
    if (r->cause->path.n > 1) {
        tg_buf_clear(&text);
        tg_origin_put_path(&text, r->cause);
        TG_PUT(h->page.out, tg_html_put_text, "</p>\n<p class=\"dim small\">path {}",
               tg_buf_sv(&text));
    }
    tg_page_raw(&h->page, "</p>\n");
}

static void put_line(struct tg_html *h, const char *label, tg_sv text)
{
    if (!text.n)
        return;
    tg_buf_printf(h->page.out, "<p class=\"small\"><span class=\"dim\">%s</span> ", label);
    TG_PUT(h->page.out, tg_html_put_text, "{}</p>\n", text);
}

/* All names that follow, or as many as a line may have. */
static void put_folded(struct tg_html *h, const uint32_t *roots, size_t i)
{
    TG_BUF folded = { 0 };
    (void)tg_findings_put_folded(&folded, h->v, roots, i, SIZE_MAX);
    if (folded.n > TG_HTML_LINE) {
        size_t n = 0;
        for (size_t k = 0; k < h->v->n_results; k++)
            n += roots[k] == i;
        size_t most = n * TG_HTML_LINE / folded.n;
        tg_buf_clear(&folded);
        (void)tg_findings_put_folded(&folded, h->v, roots, i,
                                     most > TG_FOLDED_SHOWN ? most : TG_FOLDED_SHOWN + 1);
    }
    put_line(h, TG_RESULT_JOINS, tg_buf_sv(&folded));
}

static void put_card(struct tg_html *h, const uint32_t *roots, size_t i)
{
    const struct tg_result *r = &h->v->results[i];
    const char *state = tg_state_name(r->state);
    TG_BUF message = { 0 }, names = { 0 }, nights = { 0 };
    struct tg_piece name;
    tg_sv line, rest;
    tg_buf_printf(h->page.out, "<li><p><span class=\"tag %s\">%s</span> ", state, state);
    tg_result_put(&message, r);
    rest = line = tg_buf_sv(&message);
    if (tg_message_next(&rest, &name) && name.type == TG_PIECE_NAME) {
        TG_PUT(h->page.out, tg_html_put_name, "<b>{}</b>", name.text);
        line = rest;
    }
    TG_PUT(h->page.out, tg_html_put_text, "{}</p>\n", line);
    put_origin(h, r);
    tg_findings_put_all_names(&names, h->v, r);
    put_line(h, "in full",
             names.n > TG_HTML_LINE ? TG_SV("the table has them") : tg_buf_sv(&names));
    put_folded(h, roots, i);
    /* An issue that the waiver names is a link. */
    tg_sv text = tg_result_evidence(r), issue = tg_result_issue(r);
    text.n -= issue.n;
    put_line(h, tg_result_evidence_label(r), text);
    tg_result_put_nights(&nights, r);
    put_line(h, TG_RESULT_NIGHTS, tg_buf_sv(&nights));
    if (issue.n) {
        tg_page_raw(&h->page, "<p class=\"small\"><span class=\"dim\">issue</span> ");
        tg_page_link(&h->page, issue, issue);
        tg_page_raw(&h->page, "</p>\n");
    }
    TG_BUF rule = { 0 }, at = { 0 };
    tg_result_put_rule(&rule, r, TG_RULE_ALONE);
    tg_result_put_at(&at, r);
    if (rule.n) {
        TG_PUT(h->page.out, tg_html_put_text,
               "<p class=\"small\"><span class=\"dim\">rule</span> {}", tg_buf_sv(&rule));
        if (at.n) {
            tg_page_raw(&h->page, " ");
            put_place(h, tg_buf_sv(&at), tg_result_in_file(r) ? tg_sv_of(r->file) : TG_SV(""),
                      r->line, r->line);
        }
        tg_page_raw(&h->page, "</p>\n");
    }
    put_line(h, "owner", r->owner);
    put_line(h, "next", tg_result_next(h->v, r));
    tg_page_raw(&h->page, "</li>\n");
}

/* Waived ones are not folded, nor are those counted that do not fit. */
static void put_section(struct tg_html *h, enum tg_section s, const uint32_t *roots)
{
    bool waived = s == TG_SECTION_WAIVED;
    size_t n, i = 0;
    TG_FREE uint32_t *list = tg_findings_of(h->v, roots, s, &n);
    if (n)
        tg_buf_printf(h->page.out, "<h3>%s</h3>\n<ul class=\"cards\">\n", tg_section_title(s));
    for (; i < n && i < CARDS && h->page.out->n < TG_HTML_CARDS; i++) {
        if (i == OPEN && !waived)
            tg_page_raw(&h->page, "</ul>\n<details><summary>more of this kind</summary>\n"
                                  "<ul class=\"cards\">\n");
        put_card(h, roots, list[i]);
    }
    tg_page_raw(&h->page, i > OPEN && !waived ? "</ul>\n</details>\n" : n ? "</ul>\n" : "");
    if (n > i && !waived)
        tg_buf_printf(h->page.out, "<p>and %zu more: the table has all of them</p>\n", n - i);
}

void tg_html_put_findings(struct tg_html *h)
{
    TG_FREE uint32_t *roots = tg_findings_roots(h->v);
    size_t before, begun = h->page.out->n;
    tg_page_section(&h->page, "findings", "Findings");
    before = h->page.out->n;
    for (int s = 0; s <= TG_SECTION_WAIVED; s++)
        put_section(h, (enum tg_section)s, roots);
    if (h->page.out->n == before)
        h->page.out->n = begun; /* nothing to explain */
    else
        tg_page_section_end(&h->page);
}
