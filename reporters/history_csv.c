/* A history as a table: one line per series and night; docs/nightly.md names the columns. */
#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/csv.h"
#include "reporters/history.h"

/* RFC 4180; a text that a spreadsheet would take for a formula begins with an apostrophe. */
static void put_text(struct tg_buf *out, tg_sv text)
{
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, text);
    tg_buf_putc(out, '"');
    if (tg_csv_is_formula(tg_buf_sv(&visible)))
        tg_buf_putc(out, '\'');
    for (size_t i = 0; i < visible.n; i++) {
        if (visible.p[i] == '"')
            tg_buf_putc(out, '"');
        tg_buf_putc(out, visible.p[i]);
    }
    tg_buf_putc(out, '"');
}

static void put_number(struct tg_buf *out, double v)
{
    tg_buf_putc(out, ',');
    if (!isnan(v))
        tg_dec_put_double(out, v);
}

void tg_history_put_csv(struct tg_buf *out, const struct tg_history_report *r)
{
    tg_buf_puts(out, "suite,commit,date,environment,kind,name,value,corrected,calls\r\n");
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->suites[i].n_series; k++)
            for (size_t n = r->suites[i].first; n < r->suites[i].history->n; n++) {
                uint32_t id = r->suites[i].series[k];
                const struct tg_history *h = r->suites[i].history;
                const struct tg_history_value *v = tg_night_value(&h->night[n], id);
                double c = v ? tg_history_corrected(h, n, id) : (double)NAN;
                if (v) {
                    put_text(out, r->suites[i].name);
                    tg_buf_printf(out, ",%.*s,%s,%zu,%s,", TG_SV_ARG(h->night[n].commit),
                                  TG_DATE(h->night[n].date), h->stream[n],
                                  tg_history_series_kind(&h->series->v[id]));
                    put_text(out, h->series->v[id].name);
                    put_number(out, v->plain);
                    put_number(out, c);
                    put_number(out, v->calls);
                    tg_buf_puts(out, "\r\n");
                }
            }
}
