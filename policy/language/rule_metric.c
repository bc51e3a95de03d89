#include "policy/language/rule_metric.h"

#include "core/base/doc.h"

#define CHANGE (TG_BOUND_BIT(TG_BOUND_PCT) | TG_BOUND_BIT(TG_BOUND_ABS))
#define BUDGET (TG_BOUND_BIT(TG_BOUND_MAX) | TG_BOUND_BIT(TG_BOUND_MIN))
#define POINTS (TG_BOUND_BIT(TG_BOUND_PP) | BUDGET)
#define AMOUNT (CHANGE | BUDGET)
/* The baseline is 0 by definition, so no relative bound makes sense. */
#define FROM_ZERO (TG_BOUND_BIT(TG_BOUND_ABS) | TG_BOUND_BIT(TG_BOUND_MAX))
/* Equal or not: the only limit is `abs: 0`. */
#define EQUALITY TG_BOUND_BIT(TG_BOUND_ABS)

#define METRIC(at, scope, name, unit, worse, bounds, exact, meaning)                               \
    [at] = { name, TG_SCOPE_##scope, TG_UNIT_##unit, TG_##worse##_IS_BAD, bounds, exact, meaning }
#define NAME(id, ...) METRIC(TG_RULE_METRIC_##id, NAME, __VA_ARGS__)
#define RANKS(id, ...) METRIC(TG_RULE_METRIC_##id, RANKS, __VA_ARGS__)

static const struct tg_rule_metric_info metrics[TG_RULE_METRICS] = {
    NAME(COUNT, "count", COUNT, MORE, AMOUNT, true, "calls or launches per step"),
    NAME(TOTAL, "total", NS, MORE, AMOUNT, false, "summed duration per step, children included"),
    NAME(MEAN, "mean", NS, MORE, AMOUNT, false, "mean duration of one call"),
    NAME(MEDIAN, "median", NS, MORE, AMOUNT, false, "median duration of one call"),
    NAME(P95, "p95", NS, MORE, AMOUNT, false, "duration that 95 of 100 calls stay within"),
    NAME(MAX, "max", NS, MORE, AMOUNT, false, "longest single call"),
    NAME(SELF, "self", NS, MORE, AMOUNT, false,
         "summed duration per step without what its children took"),
    NAME(SHARE, "share", PERCENT, MORE, POINTS, false,
         "self time as percent of the step (device: duration)"),
    NAME(ADDED, "added", NS, MORE, FROM_ZERO, true,
         "time per step of names that the baseline does not have"),
    NAME(REMOVED, "removed", NS, MORE, FROM_ZERO, true,
         "time per step that the baseline spent in names now gone"),
    NAME(LAUNCH_CONFIG, "launch_config", ATTR, ANY, EQUALITY, true,
         "grid, block, registers, shared memory and occupancy of a kernel"),
    NAME(INPUT_TYPES, "input_types", ATTR, ANY, EQUALITY, true, "types of an operator's inputs"),
    NAME(INPUT_SHAPES, "input_shapes", ATTR, ANY, EQUALITY, true, "shapes of an operator's inputs"),
    NAME(BYTES, "bytes", BYTES, MORE, AMOUNT, true,
         "bytes copied, set or sent by collectives per step"),
    NAME(DEVICE_TIME, "device_time", NS, MORE, AMOUNT, false,
         "device time per step of what a module or function launched, nested ones included"),
    NAME(DEVICE_SELF, "device_self", NS, MORE, AMOUNT, false,
         "device time per step of what a module or function launched itself"),
    NAME(DEVICE_COUNT, "device_count", COUNT, MORE, AMOUNT, true,
         "kernels, copies and sets per step that a module or function launched"),

#define BOUNDS_NS AMOUNT
#define BOUNDS_PERCENT POINTS
#define BOUNDS_COUNT AMOUNT
#define BOUNDS_BYTES AMOUNT
#define BOUNDS_RATE AMOUNT
#define EXACT_RUNS false
#define EXACT_PROGRAM true
#define EXACT_DEVICE true
#define ROW(id, name, unit, worse, how, by, counts, meaning)                                       \
    METRIC(TG_RULE_METRIC_OF_TRACE + (int)TG_METRIC_##id, TRACE, name, unit, worse, BOUNDS_##unit, \
           EXACT_##by, meaning),
    TG_METRIC_TABLE(ROW)

        RANKS(SKEW, "skew", PERCENT, MORE, POINTS, false,
              "percent by which the slowest rank's step exceeds the median rank's"),
    RANKS(RANK_SPREAD, "rank_spread", NS, MORE, AMOUNT, false,
          "step time of the slowest rank minus that of the fastest"),
    RANKS(COLLECTIVE_SKEW, "collective_skew", PERCENT, MORE, POINTS, false,
          "share of collectives' time that ranks spend waiting for the last one"),
    METRIC(TG_RULE_METRIC_NUMBER, NUMBERS, "number", NUMBER, OWN, AMOUNT, false,
           "a benchmark's own number, of the suite's `numbers`"),
};

const struct tg_rule_metric_info *tg_rule_metric_info(enum tg_rule_metric m)
{
    return &metrics[m];
}

bool tg_rule_metric_from_name(tg_sv name, enum tg_rule_metric *out)
{
    for (size_t i = 0; i < TG_RULE_METRICS; i++) {
        if (tg_sv_eq(name, tg_sv_of(metrics[i].name))) {
            *out = (enum tg_rule_metric)i;
            return true;
        }
    }
    return false;
}

const char *tg_unit_name(enum tg_unit u)
{
    static const char *const names[] = { "count",     "duration", "percent", "bytes",
                                         "bandwidth", "fact",     "number" };
    return names[u];
}

const char *tg_bound_name(enum tg_bound_kind k)
{
    static const char *const names[TG_BOUNDS] = { "pct", "abs", "pp", "max", "min" };
    return names[k];
}

/* ---- as people and programs read it ---- */

static const char *const scope_name[] = { "name", "trace", "ranks", "numbers" };
static const char *const worse_name[] = { "more", "less", "any", "own" };
static const char *const scope_title[] = {
    [TG_SCOPE_NAME] = "a name",
    [TG_SCOPE_TRACE] = "the whole trace",
    [TG_SCOPE_RANKS] = "all ranks",
    [TG_SCOPE_NUMBERS] = "a benchmark",
};

/* One list for each scope. What is the rule is not repeated: more is worse, and a value is
 * measured. */
void tg_rule_metric_markdown(struct tg_buf *out)
{
    int scope = -1;
    for (int i = 0; i < TG_RULE_METRICS; i++) {
        const struct tg_rule_metric_info *m = tg_rule_metric_info((enum tg_rule_metric)i);
        if ((int)m->scope != scope)
            tg_buf_printf(out, "%s### Of %s\n\n", scope < 0 ? "" : "\n", scope_title[m->scope]);
        scope = (int)m->scope;
        tg_buf_printf(out, "- `%s` (%s%s", m->name, m->exact ? "exact " : "",
                      tg_unit_name(m->unit));
        if (m->polarity == TG_LESS_IS_BAD)
            tg_buf_puts(out, ", less");
        tg_buf_printf(out, "): %s\n", m->meaning);
    }
}

void tg_rule_metric_text(struct tg_buf *out)
{
    for (int i = 0; i < TG_RULE_METRICS; i++) {
        const struct tg_rule_metric_info *m = tg_rule_metric_info((enum tg_rule_metric)i);
        TG_BUF bounds = { 0 };
        for (int k = 0; k < TG_BOUNDS; k++)
            if (m->bounds & TG_BOUND_BIT(k))
                tg_buf_printf(&bounds, "%s%s", bounds.n ? " " : "",
                              tg_bound_name((enum tg_bound_kind)k));
        tg_buf_printf(out, "%-20s %-5s %-9s %-4s %-8s %-15s %s\n", m->name, scope_name[m->scope],
                      tg_unit_name(m->unit), worse_name[m->polarity],
                      m->exact ? "exact" : "measured", bounds.p, m->meaning);
    }
}

void tg_rule_metric_json(struct tg_buf *out)
{
    struct tg_doc *root = tg_doc_new_object(), *list;
    tg_doc_add_str(root, "schema", TG_SV("tracegate-metrics-v1"));
    list = tg_doc_add_array(root, "metrics");
    for (int i = 0; i < TG_RULE_METRICS; i++) {
        const struct tg_rule_metric_info *m = tg_rule_metric_info((enum tg_rule_metric)i);
        struct tg_doc *o = tg_doc_add_object(list, NULL), *bounds;
        tg_doc_add_str(o, "name", tg_sv_of(m->name));
        tg_doc_add_str(o, "scope", tg_sv_of(scope_name[m->scope]));
        tg_doc_add_str(o, "unit", tg_sv_of(tg_unit_name(m->unit)));
        tg_doc_add_str(o, "worse", tg_sv_of(worse_name[m->polarity]));
        tg_doc_add_bool(o, "exact", m->exact);
        bounds = tg_doc_add_array(o, "bounds");
        for (int k = 0; k < TG_BOUNDS; k++)
            if (m->bounds & TG_BOUND_BIT(k))
                tg_doc_add_str(bounds, NULL, tg_sv_of(tg_bound_name((enum tg_bound_kind)k)));
        tg_doc_add_str(o, "meaning", tg_sv_of(m->meaning));
    }
    tg_doc_write(root, TG_DOC_INDENTED, out);
    tg_doc_free(root);
}
