/* OpenMetrics text of the fresh side, for GitLab's metrics reports (which show what differs from
 * the target branch) and for whatever scrapes files. Base units: seconds, bytes. */
#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/number.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"

enum { NAMES = 200 };

/* A label's value: one visible line, with backslash and quote escaped. */
static void put_value(struct tg_buf *out, tg_sv value)
{
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, value);
    for (size_t i = 0; i < visible.n; i++) {
        if (visible.p[i] == '\\' || visible.p[i] == '"')
            tg_buf_putc(out, '\\');
        tg_buf_putc(out, visible.p[i]);
    }
}

static void open_sample(struct tg_buf *out, const char *name, const struct tg_verdict *v)
{
    tg_buf_printf(out, "tracegate_%s{", name);
    TG_PUT(out, put_value, "suite=\"{}\"", v->suite.n ? v->suite : TG_SV("default"));
}

static void close_sample(struct tg_buf *out, double value)
{
    /* 6.0713746 ms of ns have no 0.006071374599999999 s */
    tg_buf_printf(out, "} %s\n", TG_AS(tg_dec_put_double, tg_dec_round(value)));
}

static void put_ops(struct tg_buf *out, const struct tg_verdict *v, bool calls)
{
    const struct tg_comparison *c = tg_verdict_fresh(v);
    size_t n;
    TG_FREE uint32_t *rows = tg_rows_longest(c, NAMES, &n);
    tg_buf_puts(out,
                calls ? "# TYPE tracegate_calls gauge\n"
                        "# HELP tracegate_calls Calls per step and rank.\n"
                      : "# TYPE tracegate_self_time_seconds gauge\n"
                        "# UNIT tracegate_self_time_seconds seconds\n"
                        "# HELP tracegate_self_time_seconds Mean self time per step and rank.\n");
    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        open_sample(out, calls ? "calls" : "self_time_seconds", v);
        TG_PUT(out, put_value, ",kind=\"{}\",name=\"{}\"", tg_sv_of(tg_kind_name(op->kind)),
               op->name);
        double iterations = tg_op_iterations(c, op, TG_TEST); /* as recorded */
        close_sample(out, iterations * (calls ? op->count[TG_TEST] : op->self[TG_TEST] / 1e9));
    }
}

void tg_reporter_openmetrics(struct tg_buf *out, const struct tg_verdict *v,
                             const struct tg_render *r)
{
    (void)r;
    tg_buf_puts(
        out, "# TYPE tracegate_results gauge\n# HELP tracegate_results Results by state, without "
             "those that follow from another.\n");
    for (int s = 0; s <= TG_STATE_FAIL; s++) {
        open_sample(out, "results", v);
        TG_PUT(out, put_value, ",state=\"{}\"", tg_sv_of(tg_state_name((enum tg_state)s)));
        close_sample(out, (double)(v->n_state[s] - v->n_folded[s]));
    }
    const struct tg_comparison *c = tg_verdict_fresh(v);
    /* Times in seconds; counts, bytes and shares as they are. */
    for (int m = 0; c && m < TG_METRICS; m++) {
        const struct tg_metric_change *x = &c->metrics[m];
        const struct tg_metric_info *info = tg_metric_info((enum tg_metric)m);
        double value = x->value[TG_TEST];
        bool time = info->unit == TG_UNIT_NS, bytes = info->unit == TG_UNIT_BYTES;
        bool named = tg_sv_has(tg_sv_of(info->name), TG_SV("bytes"));
        TG_BUF name = { 0 };
        if (!x->known[TG_TEST] || !isfinite(value))
            continue;
        tg_buf_printf(&name, "%s%s", info->name,
                      time              ? "_seconds"
                      : bytes && !named ? "_bytes"
                                        : "");
        tg_buf_printf(out, "# TYPE tracegate_%s gauge\n", name.p);
        if (time)
            tg_buf_printf(out, "# UNIT tracegate_%s seconds\n", name.p);
        tg_buf_printf(out, "# HELP tracegate_%s %s\n", name.p, info->meaning);
        open_sample(out, name.p, v);
        close_sample(out, time ? value / 1e9 : value);
    }
    if (c && c->n_ops) {
        put_ops(out, v, false);
        put_ops(out, v, true);
    }
    tg_buf_puts(out, "# EOF\n");
}
