/* The nightly report for an issue, a job summary or a chat. */

#include "reporters/escape.h"
#include "reporters/history.h"
#include "reporters/label.h"

enum { ROWS = 20, COMMITS = 10, NAME = 60 };

static void put_sha(struct tg_buf *out, const struct tg_history_report *r, tg_sv sha)
{
    if (r->commit_url.n)
        tg_buf_printf(out, "[`%.12s`](%.*s%.*s)", sha.p, TG_SV_ARG(r->commit_url), TG_SV_ARG(sha));
    else
        tg_buf_printf(out, "`%.12s`", sha.p);
}

static void put_operators(struct tg_buf *out, const struct tg_history *h,
                          const struct tg_history_event *e)
{
    if (!e->n)
        return;
    tg_buf_puts(out, "\n| what | change | a step |\n|---|--:|--:|\n");
    for (size_t i = 0; i < e->n && i < ROWS; i++) {
        tg_buf_puts(out, "| ");
        TG_BUF name = { 0 };
        tg_label_put_one(&name, tg_history_moved_name(h, &e->v[i]), NAME);
        tg_esc_md_code(out, tg_buf_sv(&name), TG_ESC_CELL);
        tg_buf_puts(out, " | ");
        tg_history_put_change(out, h, &e->v[i]);
        tg_buf_puts(out, e->v[i].back ? " (back) | " : " | ");
        tg_history_put_cost(out, e->v[i].cost_ns);
        tg_buf_puts(out, " |\n");
    }
    if (e->n > ROWS)
        tg_buf_printf(out, "\nand %zu more\n", e->n - ROWS);
}

enum { TREND = 40 }; /* nights, as many as a phone has room for */

static void put_commits(struct tg_buf *out, const struct tg_history_report *r,
                        const struct tg_history_entry *t)
{
    tg_buf_printf(out, "\n%zu commit%s between the two nights%s:\n\n", t->n_commits,
                  t->n_commits == 1 ? "" : "s",
                  tg_history_is_slow(t->event) ? ", of which several may have a part in it" : "");
    for (size_t i = 0; i < t->n_commits && i < COMMITS; i++) {
        tg_buf_puts(out, "- ");
        put_sha(out, r, t->commits[i].sha);
        TG_PUT(out, tg_esc_md_name, " {} by {}\n", t->commits[i].subject, t->commits[i].author);
    }
    if (t->n_commits > COMMITS)
        tg_buf_printf(out, "- and %zu more\n", t->n_commits - COMMITS);
    if (!t->files_known)
        return;
    tg_buf_printf(out, "\n%zu file%s changed", t->n_files, t->n_files == 1 ? "" : "s");
    for (size_t i = 0; i < t->n_files && i < 5; i++)
        TG_PUT(out, tg_esc_md_name, i ? ", {}" : ": {}", t->files[i]);
    tg_buf_puts(out, t->n_files > 5 ? ", \xe2\x80\xa6\n" : "\n");
}

static void put_event(struct tg_buf *out, const struct tg_history_report *r,
                      const struct tg_history_suite *s, const struct tg_history_entry *t)
{
    const struct tg_history_event *e = t->event;
    tg_buf_printf(out, "\n### `%s` ", e->id);
    tg_history_put_state(out, t);
    tg_buf_puts(out, "\n\nChanged ");
    tg_history_put_when(out, s->history, e);
    tg_buf_puts(out, ": after ");
    put_sha(out, r, t->from);
    tg_buf_puts(out, ", up to ");
    put_sha(out, r, t->to);
    tg_buf_puts(out, ".");
    if (e->cost_ns != 0) {
        tg_buf_puts(out, " It ");
        tg_history_put_cost_a_step(out, s->history, e);
        tg_buf_putc(out, '.');
    }
    tg_buf_putc(out, '\n');
    if (t->reason.n) {
        TG_PUT(out, tg_esc_md_name, "\nAccepted by {}: ", t->actor);
        TG_PUT(out, tg_esc_md_text, "{}\n", t->reason);
    }
    if (e->kind == TG_EVENT_ENVIRONMENT) {
        TG_PUT(out, tg_esc_md_name, "\nThe environment was {} and is {}.\n", e->was, e->is);
        return;
    }
    put_operators(out, s->history, e);
    /* The nights of what moved most, as bars. */
    const struct tg_history *h = s->history;
    size_t n = h->n - s->first < TREND ? h->n - s->first : TREND;
    uint32_t id = e->n ? e->v[0].series : UINT32_MAX;
    TG_BUF now = { 0 };
    if (id != UINT32_MAX) {
        tg_buf_puts(out, "\n`");
        tg_history_put_spark(out, s, h->n - n, id);
        tg_history_put_value(&now, &h->series->v[id], tg_history_plain(h, h->n - 1, id));
        tg_buf_printf(out, "` the last %zu nights of the first; now ", n);
        TG_PUT(out, tg_esc_md_text, "{}\n", tg_buf_sv(&now));
    }
    put_commits(out, r, t);
}

void tg_history_put_markdown(struct tg_buf *out, const struct tg_history_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i)
            tg_buf_putc(out, '\n');
        const struct tg_history_suite *s = &r->suites[i];
        const struct tg_history *h = s->history;
        struct tg_open_count open = tg_history_count_open(s);
        TG_PUT(out, tg_esc_md_name, "## {}", s->name);
        tg_buf_printf(out, ": %zu open, %zu new tonight\n\n%zu nights", open.all, open.fresh, h->n);
        if (h->n) {
            tg_buf_printf(out, ", the last of %s at ", TG_DATE(h->night[h->n - 1].date));
            put_sha(out, r, h->night[h->n - 1].commit);
        }
        tg_buf_puts(out, ".\n");
        TG_BUF lone = { 0 };
        if (tg_history_put_lone(&lone, s))
            TG_PUT(out, tg_esc_md_name, "\nSlow alone, and so no event: {}.\n", tg_buf_sv(&lone));
        for (size_t k = s->n_events; k-- > 0;)
            if (s->events[k].state == TG_EVENT_STATE_OPEN || s->events[k].fresh ||
                s->events[k].grown)
                put_event(out, r, s, &s->events[k]);
    }
}
