/*
 * The policy's metrics of each rank and step, as a table: one column per metric, one row per step.
 */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"

enum { RANK, STEP, METRICS, COLUMNS = METRICS + TG_METRICS };

/* Whole ns, except for means such as launch_delay. */
static bool is_time(const struct tg_metric_info *info)
{
    return info->unit == TG_UNIT_NS && info->how == TG_METRIC_MEAN;
}

/* "step_time(us)", "idle(%)", "sync_count": the metric and its unit. */
static const struct tg_table_column *make_columns(struct tg_arena *a)
{
    struct tg_table_column *c = TG_NEW_N(a, struct tg_table_column, COLUMNS);
    c[RANK] = (struct tg_table_column){ "rank", TG_TABLE_INT };
    c[STEP] = (struct tg_table_column){ "step", TG_TABLE_INT };
    for (int m = 0; m < TG_METRICS; m++) {
        const struct tg_metric_info *info = tg_metric_info((enum tg_metric)m);
        bool time = info->unit == TG_UNIT_NS, plain = info->unit == TG_UNIT_COUNT;
        c[METRICS + m] = (struct tg_table_column){
            plain
                ? info->name
                : tg_arena_printf(a, "%s(%s)", info->name, time ? "us" : tg_unit_text(info->unit)),
            is_time(info) ? TG_TABLE_US : TG_TABLE_REAL,
        };
    }
    return c;
}

static struct tg_table_cell cell(const struct tg_metric_info *info, const struct tg_metric_value *v)
{
    double value = (double)v->num / (double)v->den;
    if (!v->known || v->den == 0)
        return (struct tg_table_cell){ 0 };
    if (is_time(info))
        return tg_table_int(v->num / v->den);
    if (info->unit == TG_UNIT_NS)
        value /= 1000;
    return tg_table_real(info->unit == TG_UNIT_PERCENT ? 100 * value : value);
}

void tg_step_table(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = tg_tables_add(out, "steps", make_columns(out->arena), COLUMNS);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_rank_trace *r = &in->ranks[k];
        size_t n = r->steps->n;
        TG_FREE struct tg_metric_value *v = tg_xrealloc(NULL, TG_METRICS * n + 1, sizeof *v);
        TG_FREE struct tg_name_class *class_ = tg_classes_of(&in->opts->classes, r->trace->names);
        tg_metrics_compute(r->trace, r->steps, class_, v);
        for (size_t step = 0; step < n; step++) {
            if (!tg_step_wanted(r->steps, (int32_t)step, in->opts))
                continue;
            struct tg_table_cell *row = tg_table_row(f);
            row[RANK] = tg_table_int(r->rank);
            row[STEP] = tg_table_int(r->steps->v[step].number);
            for (int m = 0; m < TG_METRICS; m++)
                row[METRICS + m] =
                    cell(tg_metric_info((enum tg_metric)m), &v[(size_t)m * n + step]);
        }
    }
}
