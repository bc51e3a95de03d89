#include "policy/language/internal.h"

/* A bare regex with one group. */
static struct tg_pattern *group_of(struct tg_decode *c, const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_node_scalar(map, key);
    if (!n || n->text.n == 0 || n->text.n + 2 > TG_PATTERN_MAX)
        return NULL;
    struct tg_pattern *p = tg_decode_pattern(c, n, TG_SV_PRINTF(c->arena, "/%s/", n->text.p));
    if (p && tg_pattern_groups(p) != 1)
        tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, n, "put the number into one group:  rank(\\d+)",
                        "the regex must have exactly one group");
    return p;
}

void tg_decode_suites(struct tg_decode *c, const struct tg_yaml *n)
{
    struct tg_suite *v = TG_NEW_N(c->arena, struct tg_suite, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP) {
            const struct tg_yaml *item = n->items[i];
            struct tg_suite *s = &v[count++];
            const struct tg_yaml *trace = tg_yaml_get(item, "trace"),
                                 *baseline = tg_node_scalar(item, "baseline");
            s->name = tg_node_text(item, "name");
            s->at = tg_node_scalar(item, "name") ? tg_node_scalar(item, "name")->at : item->at;
            s->trace.at = trace ? trace->at : TG_NOWHERE;
            s->trace.files =
                trace && trace->type == TG_YAML_SCALAR ? trace->text : tg_node_text(trace, "files");
            s->trace.run = tg_node_text(trace, "run");
            s->trace.rank = tg_node_text(trace, "rank");
            s->trace.run_pattern = group_of(c, trace, "run");
            s->trace.rank_pattern = group_of(c, trace, "rank");
            s->numbers = tg_node_text(item, "numbers");
            s->baseline_at = baseline ? baseline->at : s->at;
            s->stored = !baseline || tg_sv_eq(baseline->text, TG_SV("stored"));
            s->baseline = s->stored ? TG_SV("") : baseline->text;
            s->ranks_expect = tg_node_int(tg_yaml_get(item, "ranks"), "expect", 0);
            const struct tg_yaml *of = tg_yaml_get(item, "window");
            struct tg_window *w = &s->window;
            const struct tg_yaml *name = tg_node_scalar(of, "name");
            w->at = of ? of->at : TG_NOWHERE;
            w->by = (enum tg_window_by)(1 + tg_node_word(of, "by", tg_words_window_by, -1));
            w->skip_first = tg_node_int(of, "skip_first", 0);
            w->skip_last = tg_node_int(of, "skip_last", 0);
            if (w->by == TG_BY_ANNOTATION && !tg_yaml_get(of, "name"))
                tg_yaml_mistake(c->diags, TG_DIAG_MISSING, of, "add  name: \"execute_*\"",
                                "a window by annotation needs 'name'");
            if (name) {
                if (w->by != TG_BY_ANNOTATION)
                    tg_yaml_mistake(c->diags, TG_DIAG_MISSING, name, "add  by: annotation",
                                    "the name of a window needs 'by: annotation'");
                if (name->text.n > 1 && name->text.p[0] == '/')
                    tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, name, "use * and ?",
                                    "the name of a window is a glob");
                else
                    w->name = tg_decode_pattern(c, name, name->text);
            }
            if (!s->stored) {
                /* A path inside the tree of a commit. */
                tg_sv rest = baseline->text;
                bool outside =
                    baseline->text.n && (baseline->text.p[0] == '/' || baseline->text.p[0] == '~');
                while (rest.n) {
                    tg_sv part = tg_sv_cut(&rest, '/');
                    outside = outside || tg_sv_eq(part, TG_SV(".."));
                }
                if (outside)
                    tg_yaml_mistake(c->diags, TG_DIAG_TEXT, baseline,
                                    "write it from the repository's root, without ..",
                                    "the baseline's path leaves the repository");
            }
        }
    c->policy->suites = v;
    c->policy->n_suites = count;
}
