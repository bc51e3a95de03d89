/* A history for a terminal: sparklines, newest night last, and the events. */

#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/history.h"
#include "reporters/label.h"

enum {
    NAME_WIDTH = 36,
    VALUE_WIDTH = 9,
    CHANGE_WIDTH = 9,
    VALUE_MOST = 20,
    SPARK_MOST = 60,
    COMMITS_SHOWN = 6,
    OPS_SHOWN = 6
};

/* `text`, cut to `width` in its middle and filled up with blanks. */
static void put_cell(struct tg_buf *out, tg_sv text, size_t width, bool right)
{
    TG_BUF visible = { 0 }, cut = { 0 };
    tg_esc_terminal(&visible, text);
    tg_shorten(&cut, tg_buf_sv(&visible), width);
    size_t n = tg_utf8_count(tg_buf_sv(&cut));
    tg_buf_printf(out, "%*s", right ? (int)(width - n) : 0, "");
    tg_buf_add(out, tg_buf_sv(&cut));
    tg_buf_printf(out, "%*s", right ? 0 : (int)(width - n), "");
}

/* The short form that all reports have of a name. */
static void put_name(struct tg_buf *out, tg_sv name)
{
    TG_BUF label = { 0 };
    tg_label_put_one(&label, name, NAME_WIDTH);
    put_cell(out, tg_buf_sv(&label), NAME_WIDTH, false);
}

/* The value of the newest night. */
static void put_now(struct tg_buf *out, const struct tg_history *h, uint32_t id)
{
    tg_history_put_value(out, &h->series->v[id], tg_history_plain(h, h->n - 1, id));
}

static void put_event(struct tg_buf *out, const struct tg_history_suite *s,
                      const struct tg_history_entry *t)
{
    const struct tg_history *h = s->history;
    const struct tg_history_event *e = t->event;
    tg_buf_printf(out, "  %s  ", e->id);
    tg_history_put_state(out, t);
    tg_buf_puts(out, "  ");
    tg_history_put_when(out, h, e);
    if (t->from.n)
        tg_buf_printf(out, ", after %.12s up to %.12s", t->from.p, t->to.p);
    tg_buf_putc(out, '\n');
    if (e->kind == TG_EVENT_ENVIRONMENT) {
        TG_PUT(out, tg_esc_terminal, "      was {}\n      is  {}\n", e->was, e->is);
        return;
    }
    if (e->cost_ns != 0) {
        tg_buf_puts(out, "      ");
        tg_history_put_cost_a_step(out, h, e);
        tg_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < e->n && i < OPS_SHOWN; i++) {
        tg_buf_puts(out, "      ");
        put_name(out, tg_history_moved_name(h, &e->v[i]));
        tg_buf_puts(out, "  ");
        tg_history_put_change(out, h, &e->v[i]);
        tg_buf_puts(out, e->v[i].back ? "  (back)\n" : "\n");
    }
    if (e->n > OPS_SHOWN)
        tg_buf_printf(out, "      and %zu more\n", e->n - OPS_SHOWN);
    for (size_t i = 0; i < t->n_commits && i < COMMITS_SHOWN; i++) {
        tg_buf_printf(out, "      %.12s  ", t->commits[i].sha.p);
        put_cell(out, t->commits[i].author, 16, false);
        TG_PUT(out, tg_esc_terminal, "  {}\n", tg_utf8_prefix(t->commits[i].subject, 80));
    }
    if (t->n_commits > COMMITS_SHOWN)
        tg_buf_printf(out, "      and %zu more\n", t->n_commits - COMMITS_SHOWN);
    if (t->files_known) {
        tg_buf_printf(out, "      %zu file%s changed", t->n_files, t->n_files == 1 ? "" : "s");
        for (size_t i = 0; i < t->n_files && i < 3; i++)
            TG_PUT(out, tg_esc_terminal, i ? ", {}" : ": {}", tg_utf8_prefix(t->files[i], 60));
        tg_buf_puts(out, t->n_files > 3 ? ", \xe2\x80\xa6\n" : "\n");
    }
    if (t->reason.n || t->actor.n)
        TG_PUT(out, tg_esc_terminal, "      {}: {}\n", t->actor, t->reason);
}

void tg_history_put_text(struct tg_buf *out, const struct tg_history_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i)
            tg_buf_putc(out, '\n');
        const struct tg_history_suite *s = &r->suites[i];
        const struct tg_history *h = s->history;
        /* Of the values' column: times fit into the least, units of numbers may need more. */
        size_t width = VALUE_WIDTH;
        for (size_t k = 0; h->n && k < s->n_series; k++) {
            TG_BUF value = { 0 };
            put_now(&value, h, s->series[k]);
            size_t n = tg_utf8_count(tg_buf_sv(&value));
            width = n > width ? n : width;
        }
        width = width < VALUE_MOST ? width : VALUE_MOST;
        /* As many nights as there is room for. */
        size_t columns = r->columns > 0 ? (size_t)r->columns : 110;
        size_t others = NAME_WIDTH + width + CHANGE_WIDTH + 5;
        size_t room = columns > others + 10 ? columns - others : 10;
        room = room < SPARK_MOST ? room : SPARK_MOST;
        size_t from = h->n - s->first < room ? s->first : h->n - room;
        TG_PUT(out, tg_esc_terminal, "suite {}", s->name);
        tg_buf_printf(out, ": %zu night%s", h->n - s->first, h->n - s->first == 1 ? "" : "s");
        if (!h->n) {
            tg_buf_puts(out, "\n");
            continue;
        }
        tg_buf_printf(out, ", %s to %s", TG_DATE(h->night[s->first].date),
                      TG_DATE(h->night[h->n - 1].date));
        if (h->n_streams > 1)
            tg_buf_printf(out, ", %zu environments", h->n_streams);
        tg_buf_putc(out, '\n');
        tg_buf_printf(out, "  %-*s %*s%*s  the last %zu\n", NAME_WIDTH, "", (int)width, "now",
                      CHANGE_WIDTH, "change", h->n - from);
        for (size_t k = 0; k < s->n_series; k++) {
            uint32_t id = s->series[k];
            TG_BUF value = { 0 };
            tg_buf_puts(out, "  ");
            put_name(out, h->series->v[id].name);
            tg_buf_putc(out, ' ');
            put_now(&value, h, id);
            put_cell(out, tg_buf_sv(&value), width, true);
            /* "+16.1 %": against the first nights. */
            TG_BUF text = { 0 };
            tg_history_put_since_first(&text, s, id);
            put_cell(out, tg_buf_sv(&text), CHANGE_WIDTH, true);
            tg_buf_puts(out, "  ");
            tg_history_put_spark(out, s, from, id);
            tg_buf_putc(out, '\n');
        }
        if (h->place[h->n - 1] + 1 < TG_CHANGEPOINT_FEWEST)
            tg_buf_printf(out,
                          "  durations are judged with %d or more nights of one environment; "
                          "tonight's has %zu\n",
                          TG_CHANGEPOINT_FEWEST, h->place[h->n - 1] + 1);
        TG_BUF lone = { 0 };
        if (tg_history_put_lone(&lone, s))
            TG_PUT(out, tg_esc_terminal, "  slow alone, no event: {}\n", tg_buf_sv(&lone));
        tg_buf_puts(out, s->n_events ? "events\n" : "no events\n");
        for (size_t k = 0; k < s->n_events; k++)
            put_event(out, s, &s->events[k]);
    }
}
