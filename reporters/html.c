/*
 * The report as one self-contained page: verdict and findings, the step before and after, where the
 * time comes from, one step of each side, all names, and the rules that judged. Never the trace
 * itself, and at most 500,000 bytes: names that would exceed them are omitted, and counted.
 */
#include "reporters/html.h"

#include "core/base/message.h"
#include "core/base/utf8.h"
#include "reporters/accept.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/number.h"
#include "reporters/origin.h"
#include "reporters/page/page.h"

/* Names and code in it as code. */
static void put_text(struct tg_buf *out, tg_sv sentence)
{
    struct tg_piece piece;
    while (tg_message_next(&sentence, &piece)) {
        TG_BUF printed = { 0 };
        tg_put_printed(&printed, piece.text);
        if (piece.type == TG_PIECE_NAME)
            tg_html_put_name(out, piece.text);
        else if (piece.type == TG_PIECE_WORDS)
            tg_esc_xml(out, tg_buf_sv(&printed));
        else
            TG_PUT(out, tg_esc_xml, "<code>{}</code>", piece.text);
    }
}

/* ---- findings, a card each ---- */

enum {
    OPEN = 6, /* cards of a section that are not folded */
    CARDS = 40,
    CARDS_END = 200000, /* bytes of the page: no card begins after them */
    LINE = 20000        /* bytes of a card's line: names that would exceed it are counted */
};

/* `text` as code, linked to its line in the repository where that is known. */
static void put_place(struct tg_html *h, tg_sv text, tg_sv file, uint32_t first, uint32_t last)
{
    TG_BUF url = { 0 };
    tg_link_put_lines(&url, h->r->repo_url, h->v->test_commit, file, first, last);
    tg_buf_puts(h->page.out, "<code>");
    tg_page_link(&h->page, tg_buf_sv(&url), text);
    tg_buf_puts(h->page.out, "</code>");
}

static void put_origin(struct tg_html *h, const struct tg_result *r)
{
    const struct tg_cause_frame *f = r->cause ? r->cause->function : NULL;
    TG_BUF quote = { 0 }, text = { 0 };
    if (!r->cause)
        return;
    tg_buf_puts(h->page.out, "<p>");
    if (f) {
        struct tg_origin_place place = tg_origin_place(r->cause);
        TG_BUF at = { 0 };
        tg_origin_put_place(&at, &place);
        put_place(h, tg_buf_sv(&at), place.file, place.first, place.last);
        tg_buf_puts(h->page.out, " ");
    }
    tg_origin_put(&text, r, f ? TG_ORIGIN_AFTER_PLACE : TG_ORIGIN_WHOLE);
    put_text(h->page.out, tg_buf_sv(&text));
    if (tg_origin_put_quote(&quote, r->cause)) {
        TG_PUT(h->page.out, tg_esc_xml,
               "</p>\n<p><span class=\"dim\">" TG_ORIGIN_QUOTE "</span> <code>{}</code>",
               tg_buf_sv(&quote));
        tg_origin_put_unquoted(h->page.out, r->cause);
    }
    if (r->cause->path.n > 1) {
        tg_buf_clear(&text);
        tg_origin_put_path(&text, r->cause);
        TG_PUT(h->page.out, put_text, "</p>\n<p class=\"dim small\">path {}", tg_buf_sv(&text));
    }
    tg_buf_puts(h->page.out, "</p>\n");
}

static void put_line(struct tg_html *h, const char *label, tg_sv text)
{
    if (!text.n)
        return;
    tg_buf_printf(h->page.out, "<p class=\"small\"><span class=\"dim\">%s</span> ", label);
    TG_PUT(h->page.out, put_text, "{}</p>\n", text);
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
    TG_PUT(h->page.out, put_text, "{}</p>\n", line);
    put_origin(h, r);
    tg_findings_put_all_names(&names, h->v, r);
    put_line(h, "in full", names.n > LINE ? TG_SV("the table has them") : tg_buf_sv(&names));
    /* All names that follow, or as many as a line may have. */
    TG_BUF folded = { 0 };
    (void)tg_findings_put_folded(&folded, h->v, roots, i, SIZE_MAX);
    if (folded.n > LINE) {
        size_t n = 0;
        for (size_t k = 0; k < h->v->n_results; k++)
            n += roots[k] == i;
        size_t most = n * LINE / folded.n;
        tg_buf_clear(&folded);
        (void)tg_findings_put_folded(&folded, h->v, roots, i,
                                     most > TG_FOLDED_SHOWN ? most : TG_FOLDED_SHOWN + 1);
    }
    put_line(h, TG_RESULT_JOINS, tg_buf_sv(&folded));
    /* An issue that the waiver names is a link. */
    tg_sv text = tg_result_evidence(r), issue = tg_result_issue(r);
    text.n -= issue.n;
    put_line(h, tg_result_evidence_label(r), text);
    tg_result_put_nights(&nights, r);
    put_line(h, TG_RESULT_NIGHTS, tg_buf_sv(&nights));
    if (issue.n) {
        tg_buf_puts(h->page.out, "<p class=\"small\"><span class=\"dim\">issue</span> ");
        tg_page_link(&h->page, issue, issue);
        tg_buf_puts(h->page.out, "</p>\n");
    }
    TG_BUF rule = { 0 }, at = { 0 };
    tg_result_put_rule(&rule, r, TG_RULE_ALONE);
    tg_result_put_at(&at, r);
    if (rule.n) {
        TG_PUT(h->page.out, put_text, "<p class=\"small\"><span class=\"dim\">rule</span> {}",
               tg_buf_sv(&rule));
        if (at.n) {
            tg_buf_puts(h->page.out, " ");
            put_place(h, tg_buf_sv(&at), tg_result_in_file(r) ? tg_sv_of(r->at.file) : TG_SV(""),
                      r->at.line, r->at.line);
        }
        tg_buf_puts(h->page.out, "</p>\n");
    }
    put_line(h, "owner", r->owner);
    put_line(h, "next", tg_result_next(h->v, r));
    tg_buf_puts(h->page.out, "</li>\n");
}

static void put_findings(struct tg_html *h)
{
    TG_FREE uint32_t *roots = tg_findings_roots(h->v);
    size_t before, begun = h->page.out->n;
    tg_page_section(&h->page, "findings", "Findings");
    before = h->page.out->n;
    for (int s = 0; s <= TG_SECTION_WAIVED; s++) {
        /* Waived ones are not folded, nor are those counted that do not fit. */
        bool waived = (enum tg_section)s == TG_SECTION_WAIVED;
        size_t n, i = 0;
        TG_FREE uint32_t *list = tg_findings_of(h->v, roots, (enum tg_section)s, &n);
        if (n)
            tg_buf_printf(h->page.out, "<h3>%s</h3>\n<ul class=\"cards\">\n",
                          tg_section_title((enum tg_section)s));
        for (; i < n && i < CARDS && h->page.out->n < CARDS_END; i++) {
            if (i == OPEN && !waived)
                tg_buf_puts(h->page.out, "</ul>\n<details><summary>more of this kind</summary>\n"
                                         "<ul class=\"cards\">\n");
            put_card(h, roots, list[i]);
        }
        tg_buf_puts(h->page.out, i > OPEN && !waived ? "</ul>\n</details>\n" : n ? "</ul>\n" : "");
        if (n > i && !waived)
            tg_buf_printf(h->page.out, "<p>and %zu more: the table has all of them</p>\n", n - i);
    }
    if (h->page.out->n == before)
        h->page.out->n = begun; /* nothing to explain */
    else
        tg_page_section_end(&h->page);
}

/* ---- verdict ---- */

/* Nothing without a text. */
static void put_sentence(struct tg_html *h, const char *ours, tg_sv text)
{
    if (text.n)
        TG_PUT(h->page.out, put_text, ours, text);
}

static void put_banner(struct tg_html *h)
{
    const struct tg_verdict *v = h->v;
    TG_BUF effect = { 0 };
    tg_buf_printf(h->page.out, "<header class=\"banner %s\">\n<h1>", tg_outcome_name(v->outcome));
    TG_PUT(h->page.out, put_text, "{}</h1>\n",
           v->headline.n ? v->headline : tg_sv_of(tg_outcome_name(v->outcome)));
    tg_effect_put(&effect, v);
    put_sentence(h, "<p><b>{}</b></p>\n", tg_buf_sv(&effect));
    struct tg_tally tally[TG_STATE_FAIL + 1];
    size_t n = tg_tally(h->v, tally);
    tg_buf_puts(h->page.out, "<ul class=\"facts\">\n");
    for (size_t i = 0; i < n; i++) {
        bool none = tally[i].state == TG_STATE_NOT_JUDGED;
        TG_BUF text = { 0 };
        tg_buf_printf(h->page.out, "<li><span class=\"tag %s\">",
                      none ? "none" : tg_state_name(tally[i].state));
        tg_tally_put(&text, &tally[i]);
        TG_PUT(h->page.out, put_text, "{}</span></li>\n", tg_buf_sv(&text));
    }
    tg_buf_puts(h->page.out, "</ul>\n");
    if (h->r->exit_zero && v->exit_code)
        tg_buf_puts(h->page.out, "<p>The verdict is as above; the job goes on because of "
                                 "<code>--exit-zero</code>.</p>\n");
    if (v->error.n && v->by_note)
        put_sentence(h, "<p><b>why</b> {}</p>\n", v->error);
    tg_buf_clear(&effect);
    tg_accept_put_hint(&effect, v);
    put_sentence(h, "<p><b>Next</b> {}</p>\n", tg_buf_sv(&effect));
    tg_buf_clear(&effect);
    tg_accept_put_next(&effect, v,
                       "accept it with the waiver under <a href=\"#next\">What now</a>.",
                       tg_html_put_name);
    if (effect.n || tg_accept_next(v).n) {
        TG_PUT(h->page.out, put_text, "<p><b>Next</b> {}", tg_accept_next(v));
        tg_buf_printf(h->page.out, "%s%.*s</p>\n", tg_accept_next(v).n ? " " : "",
                      TG_SV_ARG(tg_buf_sv(&effect)));
    }
    put_sentence(h, "<p class=\"dim small\">{}</p>\n", v->coverage);
    tg_buf_puts(h->page.out, "</header>\n");
}

/* Warnings before the findings, hints after them. */
static void put_notes(struct tg_html *h, enum tg_note_place place)
{
    for (size_t i = 0; i < h->v->n_notes; i++) {
        const struct tg_note *n = &h->v->notes[i];
        if (tg_note_place(h->v, n) != place)
            continue;
        TG_PUT(h->page.out, put_text,
               n->warning ? "<p class=\"note warn\"><b>warning</b> {}" : "<p class=\"note\">{}",
               n->text);
        put_sentence(h, " \xe2\x86\x92 {}", tg_note_next(h->v, n));
        tg_buf_puts(h->page.out, "</p>\n");
    }
}

/* ---- what now ---- */

static void put_next(struct tg_html *h)
{
    TG_BUF waivers = { 0 };
    const struct tg_result *first;
    size_t left = tg_accept_put_all(&waivers, h->v, &first);
    if (first || h->r->command.n) {
        tg_page_section(&h->page, "next", NULL);
        tg_buf_puts(h->page.out, "<details><summary>What now</summary>\n");
        if (h->r->command.n)
            TG_PUT(h->page.out, tg_esc_xml, "<p>To repeat it:</p>\n<pre>{}</pre>\n", h->r->command);
        if (first && !tg_sv_eq(first->rule, TG_SV("account"))) /* of no policy */
            TG_PUT(h->page.out, tg_esc_xml,
                   "<p>Which rules judge it, and where their limits are:</p>\n"
                   "<pre>tracegate policy explain {}</pre>\n",
                   first->rule);
        if (waivers.n) {
            tg_buf_puts(h->page.out, "<p>To accept it until a date, ");
            tg_accept_put_where(h->page.out, h->v, tg_html_put_name);
            TG_PUT(h->page.out, tg_esc_xml_lines, ":</p>\n<pre>{}</pre>\n", tg_buf_sv(&waivers));
            if (tg_accept_covers_more(h->v))
                tg_buf_puts(h->page.out, "<p>" TG_ACCEPT_COVERS "</p>\n");
        }
        if (left)
            tg_buf_printf(
                h->page.out,
                waivers.n ? "<p>and %zu more: <code>tracegate policy waive REPORT.json</code> "
                            "writes all of them from the JSON report</p>\n"
                          : "<p>To accept it until a date, <code>tracegate policy waive "
                            "REPORT.json</code> writes the waiver from the JSON report: its name "
                            "is too long to copy from here, or not what it looks like.</p>\n",
                left);
        tg_buf_puts(h->page.out, "</details>\n");
        tg_page_section_end(&h->page);
    }
}

/* ---- judged by what, and on what ---- */

/* In which of the rows, which begin with the results first[0..n), this one counts: overrides have
 * limits of their own, and what passes has none. n: in none. */
static size_t row_of(const struct tg_verdict *v, const size_t *first, size_t n,
                     const struct tg_result *r)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_result *f = &v->results[first[i]];
        if (tg_sv_eq(f->rule, r->rule) &&
            (!f->limit.n || !r->limit.n || tg_sv_eq(f->limit, r->limit)))
            return i;
    }
    return n;
}

static void put_rules(struct tg_html *h)
{
    enum { RULES = 40 };
    static const struct tg_page_column columns[] = { { "rule", false },  { "where", false },
                                                     { "limit", false }, { "why", false },
                                                     { "failed", true }, { "warned", true },
                                                     { "passed", true } };
    const struct tg_verdict *v = h->v;
    size_t first[RULES], n = 0;
    if (!v->n_results)
        return;
    tg_page_section(&h->page, "policy", "Judged by");
    put_sentence(h, "<p>{}</p>\n", v->policy);
    tg_page_table(&h->page, TG_PAGE_TABLE("Rules", columns, .plain = true));
    for (size_t i = 0; i < v->n_results && n < RULES; i++) {
        const struct tg_result *r = &v->results[i];
        TG_BUF at = { 0 }, url = { 0 };
        if (!r->rule.n || row_of(v, first, n, r) < n)
            continue;
        first[n++] = i;
        tg_result_put_at(&at, r);
        if (tg_result_in_file(r))
            tg_link_put_lines(&url, h->r->repo_url, v->test_commit, tg_sv_of(r->at.file),
                              r->at.line, r->at.line);
        tg_page_row(&h->page, NULL);
        tg_page_cell(&h->page);
        tg_page_name(&h->page, r->rule, 40);
        tg_page_cell(&h->page);
        tg_page_link(&h->page, tg_buf_sv(&url), tg_buf_sv(&at));
        tg_esc_xml(tg_page_cell(&h->page), r->limit_said.n ? r->limit_said : r->limit);
        tg_esc_xml(tg_page_cell(&h->page), r->why);
        /* How many results of this row have one of these states. */
        static const unsigned states[] = { 1u << TG_STATE_FAIL,
                                           1u << TG_STATE_WARN | 1u << TG_STATE_SUSPICIOUS |
                                               1u << TG_STATE_INCONCLUSIVE,
                                           1u << TG_STATE_PASS };
        for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
            size_t results = 0;
            for (size_t k = 0; k < v->n_results; k++)
                results += row_of(v, first, n, &v->results[k]) == n - 1 &&
                           states[s] & 1u << v->results[k].state;
            tg_buf_printf(tg_page_number(&h->page, (double)results), "%zu", results);
        }
    }
    tg_page_table_end(&h->page);
    tg_page_section_end(&h->page);
}

static void put_both(struct tg_html *h, const char *title, tg_sv before, tg_sv after)
{
    if (!before.n && !after.n)
        return;
    tg_page_row(&h->page, NULL);
    tg_buf_puts(tg_page_cell(&h->page), title);
    put_text(tg_page_cell(&h->page), before);
    put_text(tg_page_cell(&h->page), after);
}

static void put_environment(struct tg_html *h)
{
    const struct tg_verdict *v = h->v;
    const struct tg_comparison *c = v->comparison;
    static const struct tg_page_column columns[] = { { "", false },
                                                     { "before", false },
                                                     { "after", false } };
    const tg_sv sha[2] = { v->baseline.commit, v->test_commit };
    TG_BUF before = { 0 }, after = { 0 };
    tg_page_section(&h->page, "sides", "The two sides");
    tg_page_table(&h->page, TG_PAGE_TABLE("The two sides", columns, .plain = true));
    if (sha[0].n || sha[1].n) {
        tg_page_row(&h->page, NULL);
        tg_buf_puts(tg_page_cell(&h->page), "commit");
        for (int s = 0; s < 2; s++) {
            TG_BUF url = { 0 };
            tg_link_put_commit(&url, h->r->repo_url, sha[s]);
            tg_buf_puts(tg_page_cell(&h->page), sha[s].n ? "<code>" : "");
            tg_page_link(&h->page, tg_buf_sv(&url), tg_utf8_prefix(sha[s], 12));
            tg_buf_puts(h->page.out, sha[s].n ? "</code>" : "");
        }
    }
    put_both(h, "found by", v->baseline.how, TG_SV(""));
    put_both(h, "files", v->baseline.paths, v->test_paths);
    tg_put_side(&before, c, TG_BASE);
    tg_put_side(&after, c, TG_TEST);
    put_both(h, "runs", tg_buf_sv(&before), tg_buf_sv(&after));
    for (size_t i = 0; c && i < c->n_env; i++) {
        TG_BUF key = { 0 };
        tg_esc_xml(&key, c->env[i].key);
        put_both(h, key.p ? key.p : "",
                 c->env[i].value[0].n ? c->env[i].value[0] : TG_SV("unknown"),
                 c->env[i].value[1].n ? c->env[i].value[1] : TG_SV("unknown"));
    }
    tg_page_table_end(&h->page);
    tg_buf_puts(h->page.out, "<p class=\"dim small\">Of the environment only what differs or is "
                             "unknown on one side.</p>\n");
    tg_page_section_end(&h->page);
}

static void begin(struct tg_html *h, struct tg_buf *out)
{
    tg_page_begin(&h->page, out,
                  &(struct tg_page_head){
                      .title = h->v->headline.n ? h->v->headline : TG_SV("tracegate"),
                      .style = { tg_report_css, tg_report_css_size },
                      .script = { tg_report_js, tg_report_js_size },
                  });
}

/* What a comparison alone shows. */
static void put_comparison(struct tg_html *h)
{
    tg_html_put_bar(h);
    tg_html_put_tree(h);
    tg_html_put_steps(h);
    tg_html_put_rows(h);
}

void tg_reporter_html(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    struct tg_html h = { .v = v, .r = r };
    begin(&h, out);
    put_banner(&h);
    put_notes(&h, TG_PLACE_FIRST);
    put_findings(&h);
    put_notes(&h, TG_PLACE_LAST);
    put_next(&h);
    put_comparison(&h);
    put_rules(&h);
    put_environment(&h);
    TG_PUT(h.page.out, tg_esc_xml, "<footer>suite <code>{}</code>",
           v->suite.n ? v->suite : TG_SV("default"));
    put_sentence(&h, " \xc2\xb7 commit of {} UTC", v->timestamp);
    if (tg_link_is_web(h.r->run_url)) {
        tg_buf_puts(h.page.out, " \xc2\xb7 ");
        tg_page_link(&h.page, h.r->run_url, TG_SV("run"));
    }
    tg_buf_printf(h.page.out, " \xc2\xb7 tracegate %.*s</footer>\n", TG_SV_ARG(tg_version_of(v)));
    tg_page_end(&h.page);
}

void tg_difftable_html(struct tg_buf *out, const struct tg_difftable *t, const struct tg_render *r)
{
    TG_BUF head = { 0 }, effect = { 0 };
    struct tg_verdict v = { .comparison = t->comparison,
                            .baseline.paths = t->label[TG_BASE],
                            .test_paths = t->label[TG_TEST] };
    struct tg_html h = { .v = &v, .r = r };
    tg_buf_printf(&head, "%.*s \xe2\x86\x92 %.*s", TG_SV_ARG(t->label[TG_BASE]),
                  TG_SV_ARG(t->label[TG_TEST]));
    v.headline = tg_buf_sv(&head);
    tg_effect_put(&effect, &v);
    begin(&h, out);
    TG_PUT(out, tg_esc_xml, "<header class=\"banner\">\n<h1>{}</h1>\n", v.headline);
    put_sentence(&h, "<p>{}</p>\n", tg_buf_sv(&effect));
    tg_buf_puts(h.page.out, "<p class=\"dim small\">A comparison without a policy: nothing is "
                            "judged.</p>\n</header>\n");
    put_comparison(&h);
    put_environment(&h);
    tg_buf_puts(h.page.out, "<footer>tracegate " TG_VERSION "</footer>\n");
    tg_page_end(&h.page);
}
