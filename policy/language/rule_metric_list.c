/* The table of metrics as people and programs read it. */
#include "core/base/doc.h"
#include "policy/language/rule_metric.h"

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
        const char *sep = "";
        for (int k = 0; k < TG_BOUNDS; k++)
            if (m->bounds & TG_BOUND_BIT(k)) {
                tg_buf_printf(&bounds, "%s%s", sep, tg_bound_name((enum tg_bound_kind)k));
                sep = " ";
            }
        tg_buf_printf(out, "%-20s %-5s %-9s %-4s %-8s %-15s %s\n", m->name, tg_scope_name(m->scope),
                      tg_unit_name(m->unit), tg_polarity_name(m->polarity),
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
        tg_doc_add_str(o, "scope", tg_sv_of(tg_scope_name(m->scope)));
        tg_doc_add_str(o, "unit", tg_sv_of(tg_unit_name(m->unit)));
        tg_doc_add_str(o, "worse", tg_sv_of(tg_polarity_name(m->polarity)));
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
