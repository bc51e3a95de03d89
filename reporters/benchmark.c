/*
 * The fresh side's numbers for services that keep them: `customSmallerIsBetter` of
 * github-action-benchmark, which Bencher reads as well. How many findings failed, which
 * every verdict has, as these services refuse an empty list; step time, launches, then the
 * operators that take most of the step, by their mean, whatever was compared: a name is one series,
 * so it has no number in it. A range is half of that between the least and the most of the runs.
 */
#include <math.h>

#include "core/base/doc.h"
#include "reporters/label.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"

enum { NAMES = 50, NAME = 120 };

/* `of_runs`: the least and the most of the fresh runs; NULL: not known. */
static void add_entry(struct tg_doc *list, const struct tg_verdict *v, tg_sv name, const char *what,
                      const char *unit, double value, const double of_runs[2])
{
    TG_BUF text = { 0 };
    if (!isfinite(value))
        return;
    struct tg_doc *o = tg_doc_add_object(list, NULL);
    tg_buf_printf(&text, "%.*s: %.*s%s", TG_SV_ARG(v->suite.n ? v->suite : TG_SV("default")),
                  TG_SV_ARG(name), what);
    tg_doc_add_str(o, "name", tg_buf_sv(&text));
    tg_doc_add_str(o, "unit", tg_sv_of(unit));
    tg_doc_add_num(o, "value", value);
    if (of_runs && of_runs[1] > of_runs[0] && value > 0) {
        tg_buf_clear(&text);
        tg_buf_printf(&text, "\xc2\xb1 %.1f%%",
                      100 * (of_runs[1] - of_runs[0]) / (of_runs[1] + of_runs[0]));
        tg_doc_add_str(o, "range", tg_buf_sv(&text));
    }
}

void tg_reporter_benchmark(struct tg_buf *out, const struct tg_verdict *v,
                           const struct tg_render *r)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *list = tg_doc_new_array();
    (void)r;
    add_entry(list, v, TG_SV("failed results"), "", "count",
              (double)(v->n_state[TG_STATE_FAIL] - v->n_folded[TG_STATE_FAIL] +
                       (v->outcome == TG_OUTCOME_ERROR)),
              NULL);
    if (tg_verdict_fresh(v)) {
        static const enum tg_metric metrics[] = { TG_METRIC_STEP_TIME, TG_METRIC_LAUNCH_COUNT,
                                                  TG_METRIC_SYNC_COUNT, TG_METRIC_MEM_PEAK };
        const struct tg_comparison *c = tg_verdict_fresh(v);
        for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
            const struct tg_metric_change *x = &c->metrics[metrics[i]];
            const struct tg_metric_info *info = tg_metric_info(metrics[i]);
            bool time = info->unit == TG_UNIT_NS;
            double value = x->value[TG_TEST];
            if (x->known[TG_TEST])
                add_entry(list, v, tg_sv_of(info->name), "", time ? "us" : tg_unit_text(info->unit),
                          time ? round(value) / 1000 : value,
                          (double[]){ x->least[TG_TEST], x->most[TG_TEST] });
        }
        TG_AUTO(tg_labels_release) struct tg_labels labels = { 0 };
        size_t n;
        TG_FREE uint32_t *rows = tg_rows_longest(c, NAMES, &n);
        tg_labels_of_rows(&labels, c, rows, n, NAME);
        for (size_t i = 0; i < n; i++) {
            const struct tg_op *op = &c->ops[rows[i]];
            double iterations = tg_op_iterations(c, op, TG_TEST); /* as recorded */
            TG_BUF name = { 0 };
            tg_label_put(&name, &labels.v[i]);
            add_entry(list, v, tg_buf_sv(&name), " mean self time", "us",
                      round(iterations * op->self[TG_TEST]) / 1000,
                      (double[]){ iterations * op->self_least[TG_TEST],
                                  iterations * op->self_most[TG_TEST] });
        }
    }
    tg_doc_write(list, TG_DOC_INDENTED, out);
}
