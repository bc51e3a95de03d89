/* All names, judged changes first: a table to sort and filter. */
#include <math.h>

#include "core/base/sort.h"
#include "reporters/escape.h"
#include "reporters/html.h"
#include "reporters/number.h"
#include "reporters/page/page.h"
#include "reporters/rows.h"

void tg_html_put_name(struct tg_buf *out, tg_sv name)
{
    struct tg_page page = { .out = out };
    tg_page_name(&page, name, TG_HTML_NAME);
}

enum { FIRST = 30, LEAST_CHANGE = 50 /* ns: what is shown as 0.0 has no percentage */ };

struct ranked {
    uint32_t row;
    enum tg_state state; /* the worst of its results; */
    bool judged;         /* there is one */
    double size;         /* |change| in ns per step */
};

static int worst_first(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int x = a->judged ? (int)a->state + 1 : 0, y = b->judged ? (int)b->state + 1 : 0;
    bool shown_a = x > (int)TG_STATE_SKIP, shown_b = y > (int)TG_STATE_SKIP;
    if (shown_a && shown_b && x != y)
        return x > y ? -1 : 1;
    if (shown_a != shown_b)
        return shown_a ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* What passed by calls was judged, though its times could not be. */
static int weight(enum tg_state s)
{
    return s == TG_STATE_NOT_JUDGED || s == TG_STATE_SKIP ? -1 : (int)s;
}

static struct ranked *rank_rows(const struct tg_verdict *v, size_t *n)
{
    const struct tg_comparison *c = v->comparison;
    struct ranked *rows = tg_xmalloc((c->n_ops + 1) * sizeof *rows);
    TG_FREE const struct tg_result **worst = tg_xcalloc(c->n_ops + 1, sizeof *worst); /* of each */
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_op *op = tg_result_op(c, &v->results[i]);
        const struct tg_result **of = op ? &worst[op - c->ops] : NULL;
        if (of && (!*of || weight(v->results[i].state) > weight((*of)->state)))
            *of = &v->results[i];
    }
    *n = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        double d = tg_row_numbers(c, op, TG_BASIS_JUDGED).d_ns;
        if (op->kind != TG_KIND_PYTHON && op->kind != TG_KIND_OVERHEAD &&
            op->kind != TG_KIND_OTHER && op->kind != TG_KIND_DEVICE_ANNOTATION &&
            !tg_row_is_former(op))
            rows[(*n)++] = (struct ranked){ .row = (uint32_t)i,
                                            .judged = worst[i],
                                            .state = worst[i] ? worst[i]->state : TG_STATE_PASS,
                                            .size = isfinite(d) ? fabs(d) : 0 };
    }
    TG_SORT(rows, *n, worst_first);
    return rows;
}

/* ---- a row ---- */

static const struct tg_page_column columns[] = { { "name", false },  { "state", false },
                                                 { "change", true }, { "before", true },
                                                 { "after", true },  { "%", true },
                                                 { "calls", true },  { "more", true },
                                                 { "of step", true } };

static const char *state_of(const struct ranked *r, const struct tg_op *op)
{
    if (r->judged && (r->state > TG_STATE_SKIP || r->state == TG_STATE_WAIVED))
        return tg_state_name(r->state);
    if (tg_row_is_noise(op))
        return "noise";
    bool timed = op->change != TG_SAME || tg_evidence_compared(tg_op_reported(op));
    return r->judged && r->state == TG_STATE_PASS && timed ? "pass" : "not-judged";
}

static void put_row(struct tg_html *h, const struct ranked *r, const struct tg_label *label)
{
    const struct tg_comparison *c = h->v->comparison;
    const struct tg_op *op = &c->ops[r->row];
    struct tg_row_numbers x = tg_row_numbers(c, op, TG_BASIS_JUDGED);
    const struct tg_op *former = tg_row_former(c, op);
    const char *state = state_of(r, op);
    double pct = x.ns[TG_BASE] > 0 && x.ns[TG_TEST] > 0 ? 100 * x.d_ns / x.ns[TG_BASE] : NAN;
    double share = tg_row_share(c, op, &x);
    tg_page_row(&h->page, state);
    tg_page_cell(&h->page);
    if (former)
        TG_PUT(h->page.out, tg_html_put_name, "{} \xe2\x86\x92 ", former->name);
    tg_page_label(&h->page, label);
    tg_buf_printf(tg_page_cell(&h->page), "<span class=\"tag %s\">%s</span>", state,
                  strcmp(state, "not-judged") == 0 ? "not judged" : state);
    tg_page_number(&h->page, x.d_ns);
    if (op->relation != TG_REL_RENAMED && (op->change == TG_ADDED || op->change == TG_REMOVED))
        tg_buf_puts(h->page.out, op->change == TG_ADDED ? "new " : "gone ");
    if (op->on_rank_alone)
        tg_buf_printf(h->page.out, "%s: ", h->v->comparison->rank_alone->called);
    tg_put_time_delta(h->page.out, x.d_ns);
    for (int s = 0; s < 2; s++)
        tg_put_time_unit(tg_page_number(&h->page, x.ns[s]), x.ns[s]);
    if (tg_row_is_noise(op) || fabs(x.d_ns) < LEAST_CHANGE)
        pct = NAN;
    tg_put_pct_delta(tg_page_number(&h->page, pct), pct);
    struct tg_buf *out = h->page.out;
    tg_put_count(tg_page_number(&h->page, x.count[TG_TEST]), x.count[TG_BASE]);
    if (x.d_count != 0)
        tg_buf_printf(out, " \xe2\x86\x92 %s", TG_AS(tg_put_count, x.count[TG_TEST]));
    tg_page_number(&h->page, x.d_count != 0 ? x.d_count : NAN);
    if (x.d_count != 0)
        tg_put_count_delta(out, x.d_count);
    tg_put_share(tg_page_number(&h->page, share), share);
}

void tg_html_put_rows(struct tg_html *h)
{
    const struct tg_comparison *c = h->v->comparison;
    TG_AUTO(tg_labels_release) struct tg_labels labels = { 0 };
    TG_FREE struct ranked *rows = NULL;
    TG_FREE uint32_t *order = NULL;
    size_t n, shown = 0;
    if (!c || !c->n_ops)
        return;
    rows = rank_rows(h->v, &n);
    order = tg_xmalloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = rows[i].row;
    tg_labels_of_rows(&labels, c, order, n, TG_HTML_NAME);
    tg_page_section(&h->page, "rows", "All names, self time per step");
    tg_page_table(&h->page, TG_PAGE_TABLE("All names", columns, .first = FIRST));
    for (; shown < n && h->page.out->n + labels.v[shown].name.n * 2 + 1200 < TG_HTML_BYTES; shown++)
        put_row(h, &rows[shown], &labels.v[shown]);
    tg_page_table_end(&h->page);
    if (shown < n)
        tg_buf_printf(h->page.out,
                      "<p class=\"note\">%zu of %zu names, the worst first: a page has a limit of "
                      "bytes. The JSON and CSV reports have all.</p>\n",
                      shown, n);
    tg_buf_puts(
        h->page.out,
        "<p class=\"dim small\"><b>noise</b>: the difference is one that runs of the same code "
        "show. <b>not judged</b>: no rule judges the name, or its times could not be. A finding "
        "above has the time of what it calls, too.</p>\n");
    tg_page_section_end(&h->page);
}
