#include "policy/language/internal.h"
#include "policy/language/limit.h"
#include "policy/language/value.h"

struct tg_noise tg_decode_noise(struct tg_decode *c, const struct tg_yaml *n,
                                const struct tg_noise *base)
{
    struct tg_noise v = *base;
    const struct tg_yaml *drift = tg_node_scalar(n, "drift"), *ignore = tg_yaml_get(n, "ignore");
    tg_sv unit;
    double percent;
    if (!n || n->type != TG_YAML_MAP)
        return v;
    v.at = n->at;
    v.test = (enum tg_noise_test)tg_node_word(n, "test", tg_words_noise_test, (int)v.test);
    v.min_runs = tg_node_int(n, "min_runs", v.min_runs);
    v.min_steps = tg_node_int(n, "min_steps", v.min_steps);
    if (drift && tg_value_quantity(drift->text, &percent, &unit))
        v.drift = percent;
    if (ignore && ignore->type == TG_YAML_SEQ)
        v.ignore = tg_decode_patterns(c, ignore);
    return v;
}

static const char *const name_keys[] = { "kind",   "name",   "raw_name", "class", "family",
                                         "parent", "device", "stream",   "not",   NULL };

/* Metrics of Python frames, and of nothing else. */
static void check_frames(struct tg_decode *c, const struct tg_yaml *match,
                         const struct tg_yaml *metric, enum tg_rule_metric m, uint32_t kinds)
{
    static const char *const keys[] = { "parent", "class", "family" };
    uint32_t frames = kinds & TG_FRAME_KINDS;
    const char *name = tg_rule_metric_info(m)->name;
    bool single = m == TG_RULE_METRIC_MEDIAN || m == TG_RULE_METRIC_P95 ||
                  m == TG_RULE_METRIC_MAX || m == TG_RULE_METRIC_BYTES ||
                  tg_rule_metric_info(m)->unit == TG_UNIT_ATTR;
    if (tg_rule_metric_of_launched(m) && (!frames || frames != kinds))
        tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, metric,
                        "say which:  match: {kind: module}; of a kernel ask for  total",
                        "'%s' is the work that modules and sources launch", name);
    if (frames && single)
        tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, metric,
                        "use count, total, self, mean, share, added, removed, device_time, "
                        "device_self or device_count",
                        "modules and sources have no '%s', only totals", name);
    for (size_t i = 0; frames && frames == kinds && i < sizeof keys / sizeof *keys; i++) {
        const struct tg_yaml_pair *p = match ? tg_yaml_pair(match, keys[i]) : NULL;
        if (p)
            tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, p->key, "ask for their name",
                            "modules and sources have no '%s'", keys[i]);
    }
}

static void check_scope(struct tg_decode *c, const struct tg_yaml *rule,
                        const struct tg_rule_metric_info *info, enum tg_rule_metric m,
                        uint32_t kinds)
{
    const struct tg_yaml *match = tg_yaml_get(rule, "match"), *metric = tg_yaml_get(rule, "metric");
    if (info->scope == TG_SCOPE_NAME) {
        /* Streams belong to the device: a rule that names only host work would never match. */
        static const char *const keys[] = { "device", "stream" };
        uint32_t device = 1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET;
        for (size_t k = 0; kinds && !(kinds & device) && k < 2; k++) {
            const struct tg_yaml_pair *p = match ? tg_yaml_pair(match, keys[k]) : NULL;
            if (p)
                tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, p->key,
                                "ask for kernel, memcpy or memset",
                                "'%s' has no meaning for host work", keys[k]);
        }
        check_frames(c, match, metric, m, kinds);
        if (!match)
            tg_yaml_mistake(
                c->diags, TG_DIAG_NEEDS_MATCH, metric, "say which:  match: {kind: kernel}",
                "metric '%s' is measured per name, the rule has no 'match'", info->name);
        return;
    }
    if (info->scope == TG_SCOPE_NUMBERS) {
        /* Numbers have a name, and nothing else to be chosen by. */
        if (!tg_yaml_get(match, "name"))
            tg_yaml_mistake(
                c->diags, TG_DIAG_NEEDS_MATCH, metric, "say which:  match: {name: median_ttft_ms}",
                "metric 'number' is measured per name, the rule has no 'match: {name: …}'");
        for (size_t j = 0; match && match->type == TG_YAML_MAP && j < match->n; j++) {
            const struct tg_yaml *number_key = match->pairs[j].key;
            if (!tg_sv_eq(number_key->text, TG_SV("name")) &&
                !tg_sv_eq(number_key->text, TG_SV("not")))
                tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, number_key, "ask for their name",
                                "numbers have no '%s'", number_key->text.p);
        }
        return;
    }
    for (size_t i = 0; match && match->type == TG_YAML_MAP && i < match->n; i++) {
        const struct tg_yaml *key = match->pairs[i].key;
        bool is_rank = tg_sv_eq(key->text, TG_SV("rank"));
        if (tg_sv_index(name_keys, key->text) < 0 && !(is_rank && info->scope == TG_SCOPE_RANKS))
            continue;
        tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, key,
                        is_rank                         ? "it compares all ranks with each other"
                        : info->scope == TG_SCOPE_RANKS ? "nothing can be chosen here"
                                                        : "only rank can be asked here",
                        "'%s' means nothing for '%s', which is measured for the whole trace",
                        key->text.p, info->name);
    }
}

static void overrides_of(struct tg_decode *c, const struct tg_yaml *n, struct tg_rule *rule,
                         const struct tg_rule_metric_info *info)
{
    if (n->n && info && info->scope != TG_SCOPE_NAME)
        tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, n, "write a second rule",
                        "overrides choose by name, this metric is measured for the whole trace");
    struct tg_override *v = TG_NEW_N(c->arena, struct tg_override, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_yaml *o = n->items[i], *noise = tg_yaml_get(o, "noise");
        if (o->type != TG_YAML_MAP)
            continue;
        struct tg_override *out = &v[count++];
        out->at = o->at;
        out->match = tg_decode_match(c, tg_yaml_get(o, "match"));
        out->warn = tg_limit_list_of(tg_yaml_get(o, "warn"), info, c->arena, c->diags);
        out->fail = tg_limit_list_of(tg_yaml_get(o, "fail"), info, c->arena, c->diags);
        out->has_noise = noise != NULL;
        out->noise = tg_decode_noise(c, noise, &rule->noise);
        if (out->warn.state == TG_LIMIT_UNSET && out->fail.state == TG_LIMIT_UNSET && !noise)
            tg_yaml_mistake(c->diags, TG_DIAG_NO_LIMIT, o, "add  fail: off  or another limit",
                            "the override changes nothing");
    }
    rule->overrides = v;
    rule->n_overrides = count;
}

static enum tg_polarity direction_of(struct tg_decode *c, const struct tg_yaml *n,
                                     const struct tg_rule_metric_info *info)
{
    static const enum tg_polarity meaning[] = { TG_MORE_IS_BAD, TG_LESS_IS_BAD, TG_ANY_IS_BAD };
    const struct tg_yaml *direction = tg_node_scalar(n, "direction");
    int word = tg_node_word(n, "direction", tg_words_direction, -1);
    bool fixed = info->unit == TG_UNIT_ATTR ||
                 info->bounds == (TG_BOUND_BIT(TG_BOUND_ABS) | TG_BOUND_BIT(TG_BOUND_MAX));
    if (direction && fixed)
        tg_yaml_mistake(c->diags, TG_DIAG_DIRECTION, direction, "remove it",
                        "'%s' has only one bad direction", info->name);
    return word < 0 ? info->polarity : meaning[word];
}

/* Bit of the baseline; 0: there is none of that name, which is reported. */
static uint32_t baseline_bit(struct tg_decode *c, const struct tg_yaml *n)
{
    const struct tg_policy *p = c->policy;
    const char **names = TG_NEW_N(c->arena, const char *, p->n_baselines + 2);
    names[0] = "baseline";
    for (size_t i = 0; i < p->n_baselines; i++)
        names[i + 1] = tg_arena_sv(c->arena, p->baselines[i].name).p;
    for (uint32_t i = 0; names[i]; i++)
        if (tg_sv_eq(n->text, tg_sv_of(names[i])))
            return 1u << i;
    const char *near = tg_sv_nearest(n->text, names);
    tg_yaml_mistake(c->diags, TG_DIAG_BASELINE_UNKNOWN, n,
                    near ? tg_arena_printf(c->arena, "did you mean '%s'?", near)
                         : "name it in `baselines`",
                    "there is no baseline '%s'", tg_arena_sv(c->arena, n->text).p);
    return 0;
}

static uint32_t against_of(struct tg_decode *c, const struct tg_yaml *n)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < tg_node_count(n); i++) {
        const struct tg_yaml *one = tg_node_item(n, i);
        if (one->type == TG_YAML_SCALAR)
            bits |= baseline_bit(c, one);
    }
    return bits ? bits : 1;
}

static void rule_of(struct tg_decode *c, const struct tg_yaml *n, struct tg_rule *r)
{
    const struct tg_yaml *id = tg_node_scalar(n, "id"), *metric = tg_node_scalar(n, "metric");
    bool known = metric && tg_rule_metric_from_name(metric->text, &r->metric);
    const struct tg_rule_metric_info *info = known ? tg_rule_metric_info(r->metric) : NULL;
    r->id = tg_node_text(n, "id");
    r->at = id ? id->at : n->at;
    r->why = tg_node_text(n, "why");
    r->owner = tg_node_text(n, "owner");
    r->match = tg_decode_match(c, tg_yaml_get(n, "match"));
    r->metric_at = tg_node_at(n, "metric");
    r->warn = tg_limit_list_of(tg_yaml_get(n, "warn"), info, c->arena, c->diags);
    r->fail = tg_limit_list_of(tg_yaml_get(n, "fail"), info, c->arena, c->diags);
    r->noise = tg_decode_noise(c, tg_yaml_get(n, "noise"), &c->policy->noise);
    r->exceptions = tg_node_mask(tg_yaml_get(n, "exceptions"), tg_words_exception) << 1;
    r->optional = tg_node_true(n, "optional");
    r->unjudged_note = tg_node_word(n, "unjudged", tg_words_unjudged, 0) == 1;
    r->against = against_of(c, tg_yaml_get(n, "against"));
    r->when = tg_decode_when(c, tg_yaml_get(n, "when"));
    if (info) {
        r->bad = direction_of(c, n, info);
        check_scope(c, n, info, r->metric, r->match.kinds);
        /*
         * What is excepted is a changed number of calls, and their bytes: other metrics have no
         * such thing. A layer that gives a preset's rule another metric did not write the
         * preset's exceptions: they fall away.
         */
        const struct tg_yaml_pair *p = tg_yaml_pair(n, "exceptions");
        enum tg_rule_metric m = r->metric;
        if (p && m != TG_RULE_METRIC_COUNT && m != TG_RULE_METRIC_ADDED &&
            m != TG_RULE_METRIC_REMOVED && m != TG_RULE_METRIC_BYTES) {
            r->exceptions = 0;
            if (tg_loc_same_file(p->key->at, r->metric_at))
                tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, p->key,
                                "remove it: count, added, removed and bytes have exceptions",
                                "'exceptions' mean nothing for '%s'", info->name);
        }
    }
    overrides_of(c, tg_node_list(n, "overrides"), r, info);
    if (!tg_yaml_pair(n, "metric"))
        (void)tg_diags_add(c->diags, TG_DIAG_MISSING, r->at, id ? tg_yaml_width(id) : 1,
                           "add 'metric': what is measured, for example  metric: total",
                           "rule '%s' needs 'metric'", r->id.p);
    if (r->warn.state == TG_LIMIT_UNSET && r->fail.state == TG_LIMIT_UNSET)
        (void)tg_diags_add(c->diags, TG_DIAG_NO_LIMIT, r->at, id ? tg_yaml_width(id) : 1,
                           "add  fail: {...}  or  warn: {...}",
                           "rule '%s' has neither 'warn' nor 'fail'", r->id.p);
}

void tg_decode_rules(struct tg_decode *c, const struct tg_yaml *n)
{
    struct tg_rule *v = TG_NEW_N(c->arena, struct tg_rule, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            rule_of(c, n->items[i], &v[count++]);
    c->policy->rules = v;
    c->policy->n_rules = count;
}
