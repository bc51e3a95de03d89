/* The nightly report as one page: what is open, what is new, trends, events, operators, nights. */
#include <math.h>
#include <stdio.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/history.h"
#include "reporters/page/page.h"

enum { OPEN_SHOWN = 20, OPERATORS_SHOWN = 8, COMMITS_SHOWN = 10, TRENDS = 13, ROWS_FIRST = 40 };

struct page {
    struct tg_page frame;
    const struct tg_history_report *r;
    const struct tg_history_suite *s;
    size_t suite; /* its number, for anchors */
};

/* ---- words ---- */

static void put_commit(struct page *p, tg_sv sha)
{
    TG_BUF url = { 0 };
    tg_buf_printf(&url, "%.*s%.*s", TG_SV_ARG(p->r->commit_url), TG_SV_ARG(sha));
    tg_buf_puts(p->frame.out, "<code>");
    tg_page_link(&p->frame, p->r->commit_url.n ? tg_buf_sv(&url) : TG_SV(""),
                 (tg_sv){ sha.p, sha.n < 10 ? sha.n : 10 });
    tg_buf_puts(p->frame.out, "</code>");
}

static double change_of(const struct tg_moved_series *m)
{
    return tg_history_is_exact(m) ? m->after - m->before : 100 * expm1(m->e);
}

/* ---- what is open ---- */

static void put_operators(struct page *p, const struct tg_history_event *e)
{
    /* On a phone a long name would push the numbers beyond the edge. */
    static const struct tg_page_column columns[] = { { "change", true },
                                                     { "per step", true },
                                                     { "what", false } };
    if (!e->n)
        return;
    tg_page_table(&p->frame, TG_PAGE_TABLE("What moved", columns, .plain = true));
    for (size_t i = 0; i < e->n && i < OPERATORS_SHOWN; i++) {
        const struct tg_moved_series *m = &e->v[i];
        tg_page_row(&p->frame, NULL);
        tg_history_put_change(tg_page_number(&p->frame, change_of(m)), p->s->history, m);
        tg_history_put_cost(tg_page_number(&p->frame, m->cost_ns), m->cost_ns);
        tg_page_cell(&p->frame);
        tg_page_name(&p->frame, tg_history_moved_name(p->s->history, m), 60);
        tg_buf_puts(p->frame.out, m->back ? " <span class=\"dim\">is back</span>" : "");
    }
    tg_page_table_end(&p->frame);
    if (e->n > OPERATORS_SHOWN)
        tg_buf_printf(p->frame.out, "<p class=\"dim small\">and %zu more</p>\n",
                      e->n - OPERATORS_SHOWN);
}

static void put_commits(struct page *p, const struct tg_history_entry *t)
{
    tg_buf_printf(p->frame.out, "<p class=\"small\">%zu commit%s between the two nights%s%s",
                  t->n_commits, t->n_commits == 1 ? "" : "s",
                  tg_history_is_slow(t->event) ? ", of which several may have a part in it" : "",
                  t->n_commits ? ":</p>\n<ul>\n" : "</p>\n");
    for (size_t i = 0; i < t->n_commits && i < COMMITS_SHOWN; i++) {
        tg_buf_puts(p->frame.out, "<li class=\"small\">");
        put_commit(p, t->commits[i].sha);
        TG_PUT(p->frame.out, tg_esc_xml, " {} <span class=\"dim\">{}</span></li>\n",
               tg_utf8_prefix(t->commits[i].subject, 100),
               tg_utf8_prefix(t->commits[i].author, 40));
    }
    if (t->n_commits > COMMITS_SHOWN)
        tg_buf_printf(p->frame.out, "<li class=\"dim small\">and %zu more</li>\n",
                      t->n_commits - COMMITS_SHOWN);
    tg_buf_puts(p->frame.out, t->n_commits ? "</ul>\n" : "");
    if (!t->files_known)
        return;
    tg_buf_printf(p->frame.out, "<p class=\"dim small\">%zu file%s changed", t->n_files,
                  t->n_files == 1 ? "" : "s");
    for (size_t i = 0; i < t->n_files && i < 5; i++)
        TG_PUT(p->frame.out, tg_esc_xml, i ? ", {}" : ": {}", tg_utf8_prefix(t->files[i], 80));
    tg_buf_puts(p->frame.out, t->n_files > 5 ? ", \xe2\x80\xa6</p>\n" : "</p>\n");
}

static bool is_shown_open(const struct tg_history_entry *t)
{
    return t->state == TG_EVENT_STATE_OPEN || t->fresh || t->grown;
}

static void put_banner(struct page *p)
{
    const struct tg_history *h = p->s->history;
    struct tg_open_count open = tg_history_count_open(p->s);
    struct tg_buf *out = p->frame.out;
    tg_buf_printf(out, "<div class=\"banner %s\">\n<h1>",
                  open.fresh ? "fail"
                  : open.all ? "warn"
                             : "pass");
    tg_esc_xml(p->frame.out, tg_utf8_prefix(p->s->name, 80));
    tg_buf_printf(out,
                  ": %zu open, %zu new tonight</h1>\n<ul class=\"facts\">\n<li>%zu night%s</li>\n",
                  open.all, open.fresh, h->n - p->s->first, h->n - p->s->first == 1 ? "" : "s");
    if (h->n) {
        tg_buf_printf(out, "<li>the last of %s at ", TG_DATE(h->night[h->n - 1].date));
        put_commit(p, h->night[h->n - 1].commit);
        tg_buf_printf(out, "</li>\n<li>%zu environment%s</li>\n<li>step <b>%s</b></li>\n",
                      h->n_streams, h->n_streams == 1 ? "" : "s",
                      TG_AS(tg_dec_put_human_ns, h->night[h->n - 1].step_ns));
    }
    tg_buf_puts(out, "</ul>\n");
    if (h->n && h->place[h->n - 1] + 1 < TG_CHANGEPOINT_FEWEST)
        tg_buf_printf(out,
                      "<p class=\"note small\">Durations are judged from %d nights of one "
                      "environment on; tonight's has %zu.</p>\n",
                      TG_CHANGEPOINT_FEWEST, h->place[h->n - 1] + 1);
    tg_buf_puts(out, "</div>\n");
}

/* "s1-events": the anchor of a section of this suite. */
static void begin_section(struct page *p, const char *id, const char *title)
{
    char anchor[64];
    (void)snprintf(anchor, sizeof anchor, "s%zu-%s", p->suite, id);
    tg_page_section(&p->frame, anchor, title);
}

static void put_open(struct page *p)
{
    size_t shown = 0, more = 0;
    begin_section(p, "open", "Open, and new tonight");
    tg_buf_puts(p->frame.out, "<ul class=\"cards\">\n");
    for (size_t i = p->s->n_events; i-- > 0;) {
        if (!is_shown_open(&p->s->events[i]))
            continue;
        if (shown++ < OPEN_SHOWN) {
            const struct tg_history_entry *t = &p->s->events[i];
            const struct tg_history_event *e = t->event;
            tg_buf_printf(p->frame.out, "<li id=\"e-%s\">\n", e->id);
            struct tg_buf *out = p->frame.out;
            tg_buf_printf(out, "<h3><span class=\"tag %s\">%s</span> %s <code>%s</code>%s</h3>\n",
                          t->fails ? "fail" : "none", tg_event_kind_name(e->kind),
                          tg_history_state(t), e->id,
                          t->fresh   ? " <span class=\"tag warn\">new tonight</span>"
                          : t->grown ? " <span class=\"tag warn\">more of it tonight</span>"
                                     : "");
            tg_buf_puts(out, "<ul class=\"facts small\">\n<li><b>");
            tg_history_put_when(out, p->s->history, e);
            tg_buf_puts(out, "</b>: after ");
            put_commit(p, t->from);
            tg_buf_puts(out, ", up to ");
            put_commit(p, t->to);
            tg_buf_puts(out, "</li>\n");
            if (e->cost_ns != 0) {
                tg_buf_printf(out, "<li class=\"%s\"><b>", e->cost_ns > 0 ? "upt" : "downt");
                tg_history_put_cost_a_step(out, p->s->history, e);
                tg_buf_puts(out, "</b></li>\n");
            }
            tg_buf_puts(out, "</ul>\n");
            if (t->reason.n || t->actor.n)
                TG_PUT(p->frame.out, tg_esc_xml, "<p class=\"note small\">{}: {}</p>\n", t->actor,
                       t->reason);
            if (e->kind == TG_EVENT_ENVIRONMENT) {
                TG_PUT(p->frame.out, tg_esc_xml,
                       "<p class=\"small\">was <code>{}</code><br>is <code>{}</code></p>\n", e->was,
                       e->is);
            } else {
                put_operators(p, e);
                put_commits(p, t);
            }
            tg_buf_puts(p->frame.out, "</li>\n");
        } else {
            more++;
        }
    }
    tg_buf_puts(p->frame.out, "</ul>\n");
    if (shown)
        tg_buf_puts(p->frame.out, "<p class=\"dim small\">What is meant to stay: <code>tracegate "
                                  "history accept ID --reason TEXT</code></p>\n");
    else
        tg_buf_puts(p->frame.out, "<p>Nothing is open, and tonight shows nothing new.</p>\n");
    if (more)
        tg_buf_printf(p->frame.out, "<p class=\"dim\">and %zu more, in the table of events</p>\n",
                      more);
    TG_BUF lone = { 0 };
    if (tg_history_put_lone(&lone, p->s))
        TG_PUT(p->frame.out, tg_esc_xml,
               "<p class=\"dim small\">Slow alone, with nights as before on either side, and so no "
               "event: {}.</p>\n",
               tg_buf_sv(&lone));
    tg_page_section_end(&p->frame);
}

/* ---- trends ---- */

static void put_trends(struct page *p)
{
    enum { WIDTH = 340, HEIGHT = 96 };
    if (!p->s->n_series || p->s->history->n == p->s->first)
        return;
    begin_section(p, "trends", "Trends");
    tg_buf_puts(p->frame.out,
                "<p class=\"dim small\">Blue band: the middle 80 % of a level's nights. "
                "Shaded: a change is within these nights (orange slower, blue faster). "
                "Dotted: another environment. Triangles: releases. Small drawings show "
                "10 % more and less than the first nights, or as much as they say at "
                "their right edge.</p>\n");
    /* Twice: a drawing that is made smaller on a telephone cannot be read there. */
    static const struct {
        const char *screen;
        int width, height;
    } sizes[] = { { "wide", 1080, 320 }, { "narrow", 366, 250 } };
    for (size_t i = 0; i < 2; i++) {
        const struct tg_trend_box box = { 0, 0, sizes[i].width, sizes[i].height, false };
        tg_buf_printf(p->frame.out,
                      "<div class=\"on-%s\"><svg class=\"large\" viewBox=\"0 0 %d %d\" "
                      "role=\"img\" data-nights=\"s%zu-nights\" aria-label=\"Value night after "
                      "night; arrow keys read it\">\n",
                      sizes[i].screen, sizes[i].width, sizes[i].height, p->suite);
        tg_trend_put(p->frame.out, p->s, p->s->series[0], &box);
        tg_buf_puts(p->frame.out, "</svg></div>\n");
    }
    tg_buf_puts(p->frame.out, "<ul class=\"multiples\">\n");
    for (size_t i = 1; i < p->s->n_series && i < TRENDS; i++) {
        tg_buf_printf(p->frame.out, "<li><svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
        tg_trend_put(p->frame.out, p->s, p->s->series[i],
                     &(struct tg_trend_box){ 0, 0, WIDTH, HEIGHT, true });
        tg_buf_puts(p->frame.out, "</svg></li>\n");
    }
    tg_buf_puts(p->frame.out, "</ul>\n");
    tg_page_section_end(&p->frame);
}

/* ---- tables ---- */

static void put_events(struct page *p)
{
    static const struct tg_page_column columns[] = {
        { "since", false }, { "event", false }, { "kind", false },  { "state", false },
        { "what", false },  { "change", true }, { "a step", true }, { "up to", false },
    };
    if (!p->s->n_events)
        return;
    begin_section(p, "events", "Events");
    tg_page_table(&p->frame, TG_PAGE_TABLE("Events", columns, .first = ROWS_FIRST));
    for (size_t i = p->s->n_events; i-- > 0;) {
        const struct tg_history_entry *t = &p->s->events[i];
        const struct tg_history_event *e = t->event;
        tg_page_row(&p->frame, tg_event_state_name(t->state));
        tg_buf_puts(tg_page_cell(&p->frame), TG_DATE(p->s->history->night[e->to].date));
        tg_page_cell(&p->frame);
        tg_buf_printf(p->frame.out,
                      is_shown_open(t) ? "<a href=\"#e-%s\">%s</a>" : "<code>%.0s%s</code>", e->id,
                      e->id);
        tg_buf_puts(tg_page_cell(&p->frame), tg_event_kind_name(e->kind));
        tg_buf_puts(tg_page_cell(&p->frame), tg_history_state(t));
        tg_page_cell(&p->frame);
        if (e->n)
            tg_page_name(&p->frame, tg_history_moved_name(p->s->history, &e->v[0]), 44);
        if (e->n > 1)
            tg_buf_printf(p->frame.out, " <span class=\"dim\">and %zu</span>", e->n - 1);
        tg_page_number(&p->frame, e->n ? change_of(&e->v[0]) : (double)NAN);
        if (e->n)
            tg_history_put_change(p->frame.out, p->s->history, &e->v[0]);
        tg_history_put_cost(tg_page_number(&p->frame, e->cost_ns != 0 ? e->cost_ns : (double)NAN),
                            e->cost_ns);
        tg_page_cell(&p->frame);
        put_commit(p, t->to);
    }
    tg_page_table_end(&p->frame);
    tg_page_section_end(&p->frame);
}

static void put_series(struct page *p)
{
    static const struct tg_page_column columns[] = { { "name", false },
                                                     { "kind", false },
                                                     { "nights", false },
                                                     { "last night", true },
                                                     { "since the first", true } };
    const struct tg_history *h = p->s->history;
    if (h->n == p->s->first)
        return;
    begin_section(p, "series", "Operators, kernels and metrics");
    tg_page_table(&p->frame,
                  TG_PAGE_TABLE("Operators, kernels and metrics", columns, .first = ROWS_FIRST));
    for (size_t i = 0; i < p->s->n_all; i++) {
        uint32_t id = p->s->all[i];
        const struct tg_series *x = &h->series->v[id];
        double now = tg_history_plain(h, h->n - 1, id), change = tg_history_since_first(p->s, id);
        TG_BUF value = { 0 };
        tg_page_row(&p->frame, NULL);
        tg_page_cell(&p->frame);
        tg_page_name(&p->frame, x->name, 48);
        tg_buf_puts(tg_page_cell(&p->frame), tg_history_series_kind(x));
        tg_trend_put_spark(tg_page_cell(&p->frame), p->s, id);
        tg_page_number(&p->frame, floor(now * 100 + 0.5) / 100);
        if (!isnan(now)) {
            tg_history_put_value(&value, x, now);
            tg_esc_xml(p->frame.out, tg_buf_sv(&value));
        }
        tg_history_put_since_first(tg_page_number(&p->frame, floor(change * 100 + 0.5) / 100), p->s,
                                   id);
    }
    tg_page_table_end(&p->frame);
    tg_buf_puts(p->frame.out, "<p class=\"dim small\">Since the first: against the median of the "
                              "first five nights shown of tonight's environment.</p>\n");
    tg_page_section_end(&p->frame);
}

static void put_nights(struct page *p)
{
    static const struct tg_page_column columns[] = {
        { "date", false }, { "commit", false },     { "runs", true },
        { "step", true },  { "environment", true }, { "subject", false }
    };
    const struct tg_history *h = p->s->history;
    begin_section(p, "nights", NULL);
    tg_buf_puts(p->frame.out, "<details><summary>All nights</summary>\n");
    tg_page_table(&p->frame, TG_PAGE_TABLE("Nights", columns, .first = 0));
    for (size_t i = p->s->first; i < h->n; i++) {
        tg_page_row(&p->frame, NULL);
        tg_buf_puts(tg_page_cell(&p->frame), TG_DATE(h->night[i].date));
        tg_page_cell(&p->frame);
        put_commit(p, h->night[i].commit);
        tg_buf_printf(tg_page_number(&p->frame, (double)h->night[i].runs), "%zu", h->night[i].runs);
        tg_page_number(&p->frame, h->night[i].step_ns);
        if (isfinite(h->night[i].step_ns))
            tg_dec_put_human_ns(p->frame.out, h->night[i].step_ns);
        tg_buf_printf(tg_page_number(&p->frame, (double)(h->stream[i] + 1)), "%zu",
                      h->stream[i] + 1);
        tg_esc_xml(tg_page_cell(&p->frame), tg_utf8_prefix(h->night[i].subject, 80));
    }
    tg_page_table_end(&p->frame);
    tg_buf_puts(p->frame.out, "</details>\n");
    tg_page_section_end(&p->frame);
}

/* ---- the page ---- */

void tg_history_put_page(struct tg_buf *out, const struct tg_history_report *r)
{
    struct page p = { .r = r };
    TG_BUF title = { 0 };
    tg_buf_puts(&title, "Nights");
    for (size_t i = 0; i < r->n && i < 3; i++)
        tg_buf_printf(&title, "%s%.*s", i ? ", " : " of ", TG_SV_ARG(r->suites[i].name));
    tg_page_begin(&p.frame, out,
                  &(struct tg_page_head){ .title = tg_buf_sv(&title),
                                          .style = { tg_history_css, tg_history_css_size },
                                          .script = { tg_history_js, tg_history_js_size } });
    for (size_t i = 0; i < r->n; i++) {
        p.s = &r->suites[i];
        p.suite = i;
        put_banner(&p);
        put_open(&p);
        put_trends(&p);
        put_events(&p);
        put_series(&p);
        put_nights(&p);
    }
    tg_buf_puts(p.frame.out, "<footer>Made by <code>tracegate history --html</code>. Self times a "
                             "step; docs/nightly.md says how a change is found.</footer>\n");
    tg_page_end(&p.frame);
}
