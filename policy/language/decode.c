/* Merged tree -> typed policy. A mistake goes to `diags`, and what is right is kept. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/language/defaults.h"
#include "policy/language/internal.h"
#include "policy/language/limit.h"
#include "policy/language/value.h"

struct decode {
    struct tg_policy *policy;
    struct tg_arena *arena;
    struct tg_diags *diags;
};

/* ---- patterns, `match`, `when` ---- */

/* An error inside a pattern is shown at its byte if the file spells the text as it is. */
static struct tg_pattern *pattern_of(struct decode *c, const struct tg_yaml *n, tg_sv text)
{
    char why[200];
    size_t offset = 0;
    struct tg_pattern *p;
    if (text.n > 1 && text.p[0] == '/' && text.p[text.n - 1] != '/') {
        tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, n,
                        "end it with / or, for a glob, begin it with *",
                        "a regex begins and ends with /");
        return NULL;
    }
    p = tg_pattern_new(text, c->arena, why, sizeof why, &offset);
    if (p) {
        struct tg_policy_private *v = c->policy->private_;
        *TG_PUSH(v->patterns, v->n_patterns, v->cap_patterns) = p;
        return p;
    }
    if (text.n == 0 || text.n > TG_PATTERN_MAX)
        return NULL; /* its length was reported */
    struct tg_loc at = n->at;
    at.col += (uint32_t)offset + !n->plain;
    (void)tg_diags_add(c->diags, TG_DIAG_PATTERN, n->at.line == n->end_line ? at : n->at, 1, NULL,
                       "pattern '%s' does not compile: %s", text.p, why);
    return NULL;
}

static struct tg_patterns patterns_of(struct decode *c, const struct tg_yaml *n)
{
    size_t count = tg_node_count(n);
    struct tg_loc *at = TG_NEW_N(c->arena, struct tg_loc, count + 1);
    struct tg_patterns list = { TG_NEW_N(c->arena, struct tg_pattern *, count + 1), at, 0 };
    for (size_t i = 0; i < count; i++) {
        const struct tg_yaml *one = tg_node_item(n, i);
        struct tg_pattern *p = one->type == TG_YAML_SCALAR ? pattern_of(c, one, one->text) : NULL;
        if (p) {
            at[list.n] = one->at;
            list.v[list.n++] = p;
        }
    }
    return list;
}

static struct tg_ints ints_of(struct decode *c, const struct tg_yaml *n)
{
    int64_t *v = TG_NEW_N(c->arena, int64_t, tg_node_count(n) + 1);
    size_t count = 0;
    for (size_t i = 0; i < tg_node_count(n); i++)
        if (tg_node_item(n, i)->type == TG_YAML_SCALAR &&
            tg_sv_i64(tg_node_item(n, i)->text, &v[count]))
            count++;
    return (struct tg_ints){ v, count };
}

static struct tg_match match_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_match m = { .present = n && n->type == TG_YAML_MAP };
    const struct tg_yaml *excluded = tg_yaml_get(n, "not");
    const struct tg_yaml *rank = tg_yaml_get(n, "rank");
    uint32_t words = tg_node_mask(tg_yaml_get(n, "kind"), tg_words_kind);
    enum tg_kind kind;
    for (int i = 0; tg_words_kind[i]; i++)
        if (words & 1u << i && tg_kind_from_name(tg_sv_of(tg_words_kind[i]), &kind))
            m.kinds |= 1u << kind;
    m.classes = tg_node_mask(tg_yaml_get(n, "class"), tg_words_class);
    m.families = tg_node_mask(tg_yaml_get(n, "family"), tg_words_family);
    m.name = patterns_of(c, tg_yaml_get(n, "name"));
    m.raw_name = patterns_of(c, tg_yaml_get(n, "raw_name"));
    m.parent = patterns_of(c, tg_yaml_get(n, "parent"));
    m.devices = ints_of(c, tg_yaml_get(n, "device"));
    m.streams = ints_of(c, tg_yaml_get(n, "stream"));
    if (rank) {
        int word = rank->type == TG_YAML_SCALAR ? tg_sv_index(tg_words_rank, rank->text) : -1;
        m.ranks = ints_of(c, rank);
        m.rank = word == 0   ? TG_MATCH_RANK_EACH
                 : word == 1 ? TG_MATCH_RANK_SLOWEST
                             : TG_MATCH_RANK_LIST;
    }
    if (excluded && excluded->type == TG_YAML_MAP) {
        struct tg_match *inner = TG_NEW(c->arena, struct tg_match);
        *inner = match_of(c, excluded);
        m.not_ = inner;
    }
    return m;
}

static struct tg_when when_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_when w = { .present = n && n->type == TG_YAML_MAP, .at = n ? n->at : TG_NOWHERE };
    w.event = patterns_of(c, tg_yaml_get(n, "event"));
    w.branch = patterns_of(c, tg_yaml_get(n, "branch"));
    w.device = patterns_of(c, tg_yaml_get(n, "device"));
    return w;
}

/* ---- noise, rules ---- */

static double percent_of(const struct tg_yaml *map, const char *key, double fallback)
{
    const struct tg_yaml *n = tg_node_scalar(map, key);
    double percent;
    tg_sv unit;
    return n && tg_value_quantity(n->text, &percent, &unit) ? percent : fallback;
}

static struct tg_noise noise_of(struct decode *c, const struct tg_yaml *n,
                                const struct tg_noise *base)
{
    struct tg_noise v = *base;
    const struct tg_yaml *ignore = tg_yaml_get(n, "ignore");
    v.at = n ? n->at : v.at;
    v.test = (enum tg_noise_test)tg_node_word(n, "test", tg_words_noise_test, (int)v.test);
    v.min_runs = tg_node_int(n, "min_runs", v.min_runs);
    v.min_steps = tg_node_int(n, "min_steps", v.min_steps);
    v.drift = percent_of(n, "drift", v.drift);
    if (ignore && ignore->type == TG_YAML_SEQ)
        v.ignore = patterns_of(c, ignore);
    return v;
}

static const char *const name_keys[] = { "kind",   "name",   "raw_name", "class", "family",
                                         "parent", "device", "stream",   "not",   NULL };

/* Metrics of Python frames, and of nothing else. */
static void check_frames(struct decode *c, const struct tg_yaml *match,
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
        const struct tg_yaml_pair *p = tg_yaml_pair(match, keys[i]);
        if (p)
            tg_yaml_mistake(c->diags, TG_DIAG_MATCH_SCOPE, p->key, "ask for their name",
                            "modules and sources have no '%s'", keys[i]);
    }
}

static void check_scope(struct decode *c, const struct tg_yaml *rule,
                        const struct tg_rule_metric_info *info, enum tg_rule_metric m,
                        uint32_t kinds)
{
    const struct tg_yaml *match = tg_yaml_get(rule, "match"), *metric = tg_yaml_get(rule, "metric");
    if (info->scope == TG_SCOPE_NAME) {
        /* Streams belong to the device: a rule that names only host work would never match. */
        static const char *const keys[] = { "device", "stream" };
        uint32_t device = 1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET;
        for (size_t k = 0; kinds && !(kinds & device) && k < 2; k++) {
            const struct tg_yaml_pair *p = tg_yaml_pair(match, keys[k]);
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

static void overrides_of(struct decode *c, const struct tg_yaml *n, struct tg_rule *rule,
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
        out->match = match_of(c, tg_yaml_get(o, "match"));
        out->warn = tg_limit_list_of(tg_yaml_get(o, "warn"), info, c->arena, c->diags);
        out->fail = tg_limit_list_of(tg_yaml_get(o, "fail"), info, c->arena, c->diags);
        out->has_noise = noise != NULL;
        out->noise = noise_of(c, noise, &rule->noise);
        if (out->warn.state == TG_LIMIT_UNSET && out->fail.state == TG_LIMIT_UNSET && !noise)
            tg_yaml_mistake(c->diags, TG_DIAG_NO_LIMIT, o, "add  fail: off  or another limit",
                            "the override changes nothing");
    }
    rule->overrides = v;
    rule->n_overrides = count;
}

static uint32_t against_of(struct decode *c, const struct tg_yaml *n)
{
    const struct tg_policy *p = c->policy;
    const char **names = TG_NEW_N(c->arena, const char *, p->n_baselines + 2);
    uint32_t bits = 0;
    names[0] = "baseline";
    for (size_t i = 0; i < p->n_baselines; i++)
        names[i + 1] = p->baselines[i].name.p;
    for (size_t i = 0; i < tg_node_count(n); i++) {
        const struct tg_yaml *one = tg_node_item(n, i);
        int at = tg_sv_index(names, one->text);
        if (at >= 0) {
            bits |= 1u << at;
        } else if (one->type == TG_YAML_SCALAR) {
            const char *guess = tg_diags_guess(c->diags, one->text, names);
            tg_yaml_mistake(c->diags, TG_DIAG_BASELINE_UNKNOWN, one,
                            guess ? guess : "name it in `baselines`", "there is no baseline '%s'",
                            one->text.p);
        }
    }
    return bits ? bits : 1;
}

static void rule_of(struct decode *c, const struct tg_yaml *n, struct tg_rule *r)
{
    const struct tg_yaml *id = tg_node_scalar(n, "id"), *metric = tg_node_scalar(n, "metric");
    bool known = metric && tg_rule_metric_from_name(metric->text, &r->metric);
    const struct tg_rule_metric_info *info = known ? tg_rule_metric_info(r->metric) : NULL;
    r->id = tg_node_text(n, "id");
    r->at = id ? id->at : n->at;
    r->why = tg_node_text(n, "why");
    r->owner = tg_node_text(n, "owner");
    r->match = match_of(c, tg_yaml_get(n, "match"));
    r->metric_at = tg_node_at(n, "metric");
    r->warn = tg_limit_list_of(tg_yaml_get(n, "warn"), info, c->arena, c->diags);
    r->fail = tg_limit_list_of(tg_yaml_get(n, "fail"), info, c->arena, c->diags);
    r->noise = noise_of(c, tg_yaml_get(n, "noise"), &c->policy->noise);
    r->exceptions = tg_node_mask(tg_yaml_get(n, "exceptions"), tg_words_exception) << 1;
    r->optional = tg_node_true(n, "optional");
    r->unjudged_note = tg_node_word(n, "unjudged", tg_words_unjudged, 0) == 1;
    r->against = against_of(c, tg_yaml_get(n, "against"));
    r->when = when_of(c, tg_yaml_get(n, "when"));
    if (info) {
        static const enum tg_polarity meaning[] = { TG_MORE_IS_BAD, TG_LESS_IS_BAD, TG_ANY_IS_BAD };
        const struct tg_yaml *direction = tg_node_scalar(n, "direction");
        int word = tg_node_word(n, "direction", tg_words_direction, -1);
        if (direction && (info->unit == TG_UNIT_ATTR || tg_rule_metric_from_zero(info)))
            tg_yaml_mistake(c->diags, TG_DIAG_DIRECTION, direction, "remove it",
                            "'%s' has only one bad direction", info->name);
        r->bad = word < 0 ? info->polarity : meaning[word];
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

/* ---- suites ---- */

/* A bare regex with one group. */
static struct tg_pattern *group_of(struct decode *c, const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_node_scalar(map, key);
    if (!n || n->text.n == 0 || n->text.n + 2 > TG_PATTERN_MAX)
        return NULL; /* its length was reported */
    struct tg_pattern *p = pattern_of(c, n, TG_SV_PRINTF(c->arena, "/%s/", n->text.p));
    if (p && tg_pattern_groups(p) != 1)
        tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, n, "put the number into one group:  rank(\\d+)",
                        "the regex must have exactly one group");
    return p;
}

static void suites_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_suite *v = TG_NEW_N(c->arena, struct tg_suite, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_yaml *item = n->items[i];
        if (item->type != TG_YAML_MAP)
            continue;
        struct tg_suite *s = &v[count++];
        const struct tg_yaml *trace = tg_yaml_get(item, "trace"),
                             *baseline = tg_node_scalar(item, "baseline");
        s->name = tg_node_text(item, "name");
        s->at = tg_node_scalar(item, "name") ? tg_node_scalar(item, "name")->at : item->at;
        s->trace.files =
            trace && trace->type == TG_YAML_SCALAR ? trace->text : tg_node_text(trace, "files");
        s->trace.run = tg_node_text(trace, "run");
        s->trace.rank = tg_node_text(trace, "rank");
        s->trace.run_pattern = group_of(c, trace, "run");
        s->trace.rank_pattern = group_of(c, trace, "rank");
        s->numbers = tg_node_text(item, "numbers");
        s->baseline_at = baseline ? baseline->at : s->at;
        bool stored = !baseline || tg_sv_eq(baseline->text, TG_SV("stored"));
        s->baseline = stored ? TG_SV("") : baseline->text;
        s->ranks_expect = tg_node_int(tg_yaml_get(item, "ranks"), "expect", 0);
        const struct tg_yaml *of = tg_yaml_get(item, "window");
        struct tg_window *w = &s->window;
        const struct tg_yaml *name = tg_node_scalar(of, "name");
        w->at = tg_node_at(item, "window");
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
                w->name = pattern_of(c, name, name->text);
        }
        if (!stored) {
            /* A path inside the tree of a commit. */
            tg_sv rest = baseline->text;
            bool outside =
                baseline->text.n && (baseline->text.p[0] == '/' || baseline->text.p[0] == '~');
            while (rest.n)
                outside |= tg_sv_eq(tg_sv_cut(&rest, '/'), TG_SV(".."));
            if (outside)
                tg_yaml_mistake(c->diags, TG_DIAG_TEXT, baseline,
                                "write it from the repository's root, without ..",
                                "the baseline's path leaves the repository");
        }
    }
    c->policy->suites = v;
    c->policy->n_suites = count;
}

/* ---- waivers ---- */

/* Days a waiver may run; longer is a policy change, not a waiver. */
enum { MAX_WAIVER_DAYS = 180 };

static const struct tg_rule *waived_rule(struct decode *c, const struct tg_yaml *n)
{
    const struct tg_policy *p = c->policy;
    const char **names = TG_NEW_N(c->arena, const char *, p->n_rules + 1);
    const char *fix = "a preset's rules come with  extends: [tracegate:recommended]";
    if (!n)
        return NULL;
    for (size_t i = 0; i < p->n_removed; i++)
        if (tg_sv_eq(p->removed[i], n->text))
            return NULL; /* dropped by a later layer: nothing is left to waive */
    for (size_t i = 0; i < p->n_rules; i++) {
        if (tg_sv_eq(p->rules[i].id, n->text))
            return &p->rules[i];
        names[i] = p->rules[i].id.p;
        if (tg_policy_is_built_in(&p->rules[i].at))
            fix = NULL;
    }
    if (tg_sv_eq(n->text, TG_SV("account"))) {
        /* Not a rule of a file; its failures are waived as those of a rule about the step's
         * time. */
        struct tg_rule *account = TG_NEW(c->arena, struct tg_rule);
        *account = (struct tg_rule){ .id = TG_SV("account"), .metric = TG_RULE_METRIC_STEP_TIME };
        return account;
    }
    const char *guess = tg_diags_guess(c->diags, n->text, names);
    tg_yaml_mistake(c->diags, TG_DIAG_RULE_UNKNOWN, n, guess ? guess : fix,
                    "there is no rule '%s' to waive", n->text.p);
    return NULL;
}

/* What is accepted, and up to where: of a waiver, or of a name in its `with`. */
static void accepted_of(struct decode *c, const struct tg_yaml *n, const struct tg_rule *r,
                        struct tg_waiver *w)
{
    const struct tg_yaml *name = tg_node_scalar(n, "name"), *ceiling = tg_yaml_get(n, "ceiling");
    bool too_long = name && name->text.n > TG_PATTERN_MAX; /* for a pattern */
    w->many = tg_node_true(n, "many");
    w->name_text = tg_node_text(n, "name");
    w->name = name && !too_long ? pattern_of(c, name, name->text) : NULL;
    if (too_long && w->many)
        tg_yaml_mistake(c->diags, TG_DIAG_WAIVER_NAME, name,
                        "write a shorter pattern, or the exact name without  many: true",
                        "a pattern has at most %d bytes", TG_PATTERN_MAX);
    else if (too_long)
        w->name = tg_pattern_of_name(name->text, c->arena);
    if (r && ceiling &&
        tg_limit_of(ceiling, tg_rule_metric_info(r->metric), c->arena, c->diags, &w->ceiling)) {
        /* All bounds of a ceiling must be exceeded: one that is not, however far the value goes
         * that way, ends nothing. */
        const struct tg_limit *l = &w->ceiling;
        const struct tg_bound *pct = tg_limit_find(l, TG_BOUND_PCT);
        struct tg_directions worse = tg_rule_directions(r);
        bool endless_up = worse.up && tg_limit_find(l, TG_BOUND_MIN);
        bool endless_down = worse.down && tg_limit_find(l, TG_BOUND_MAX);
        if (pct && pct->is_auto)
            tg_yaml_mistake(c->diags, TG_DIAG_BOUND_FIT, ceiling, "write a number:  pct: 18%",
                            "a ceiling cannot be 'auto'");
        if (endless_up || endless_down)
            tg_yaml_mistake(c->diags, TG_DIAG_NEVER, ceiling,
                            endless_up ? "write abs, pct, pp or max" : "write abs, pct, pp or min",
                            endless_up ? "'min' is not a ceiling where the rule fails for more"
                                       : "'max' is not a ceiling where the rule fails for less");
    }
    enum tg_scope scope = r ? tg_rule_metric_info(r->metric)->scope : TG_SCOPE_NAME;
    bool per_name = scope == TG_SCOPE_NAME || scope == TG_SCOPE_NUMBERS;
    if (!name) {
        if (r && per_name && !tg_yaml_get(n, "name"))
            tg_yaml_mistake(c->diags, TG_DIAG_WAIVER_NAME, n, "add  name: \"...\"",
                            "the rule judges names: the waiver must say which");
        return;
    }
    bool globbed = tg_waiver_naming(name->text) == TG_WAIVER_MANY;
    /* Of a step's time the host's part, annotations and replacements are rows of their own. */
    if (!per_name && !w->many && r->metric != TG_RULE_METRIC_STEP_TIME &&
        !tg_sv_eq(name->text, tg_sv_of(tg_rule_metric_info(r->metric)->name)))
        tg_yaml_mistake(
            c->diags, TG_DIAG_WAIVER_NAME, name,
            tg_arena_printf(c->arena, "write  name: %s", tg_rule_metric_info(r->metric)->name),
            "the rule judges the whole trace: its metric is the one name that it has");
    else if (!w->many && (globbed || (w->name && tg_pattern_is_regex(w->name))))
        tg_yaml_mistake(c->diags, TG_DIAG_WAIVER_NAME, name,
                        "write the exact name, or add  many: true",
                        "a pattern waives more than one name");
}

/* Returns how many names it is for. */
static size_t waiver_of(struct decode *c, const struct tg_yaml *n, struct tg_waiver *w)
{
    const struct tg_rule *r = waived_rule(c, tg_node_scalar(n, "rule"));
    const struct tg_yaml *with = tg_node_list(n, "with");
    size_t names = 1;
    w->at = n->at;
    w->rule = tg_node_text(n, "rule");
    w->reason = tg_node_text(n, "reason");
    w->issue = tg_node_text(n, "issue");
    w->owner = tg_node_text(n, "owner");
    w->when = when_of(c, tg_yaml_get(n, "when"));
    accepted_of(c, n, r, w);
    const struct tg_yaml *expiry = tg_node_scalar(n, "expires");
    if (expiry && tg_value_date(expiry->text, &w->expires)) {
        w->expires_text = expiry->text;
        int64_t today = c->policy->today;
        if (today != 0 && w->expires > today + MAX_WAIVER_DAYS) {
            char last[16], fix[64];
            tg_value_date_text(today + MAX_WAIVER_DAYS, last);
            (void)snprintf(fix, sizeof fix, "the last day allowed is %s", last);
            tg_yaml_mistake(c->diags, TG_DIAG_WAIVER_EXPIRES, expiry, fix,
                            "waiver needs 'expires' at most %d days ahead (got %s)",
                            MAX_WAIVER_DAYS, expiry->text.p);
        }
    }
    for (size_t i = 0; i < with->n; i++)
        if (with->items[i]->type == TG_YAML_MAP) {
            w[names] = w[0];
            w[names].with = true;
            accepted_of(c, with->items[i], r, &w[names++]);
        }
    return names;
}

static void waivers_of(struct decode *c, const struct tg_yaml *n)
{
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        count += 1 + tg_node_list(n->items[i], "with")->n;
    struct tg_waiver *v = TG_NEW_N(c->arena, struct tg_waiver, count + 1);
    count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            count += waiver_of(c, n->items[i], &v[count]);
    c->policy->waivers = v;
    c->policy->n_waivers = count;
    c->policy->waivers_at = n->at;
}

/* ---- baselines and the other sections ---- */

static void classes_of(struct decode *c, const struct tg_yaml *n)
{
    size_t count = 0;
    struct tg_class_row *v = TG_NEW_N(c->arena, struct tg_class_row, n->n + 1);
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_yaml *name = tg_node_scalar(n->items[i], "name");
        int word = tg_node_word(n->items[i], "class", tg_words_class, -1);
        if (!name || word < 0)
            continue;
        if (name->text.n > 1 && name->text.p[0] == '/')
            tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, name, "use * and ?",
                            "the names of a class are a glob");
        v[count++] = (struct tg_class_row){ name->text, (enum tg_class)word };
    }
    c->policy->classes = (struct tg_classes){ v, count };
}

/* "release(v*)" -> "v*". */
static bool in_brackets(tg_sv text, tg_sv name, tg_sv *inner)
{
    *inner = text;
    if (!tg_sv_skip(inner, name) || !tg_sv_skip(inner, TG_SV("(")) ||
        !tg_sv_ends(*inner, TG_SV(")")))
        return false;
    inner->n--;
    return true;
}

static void ref_of(struct decode *c, const struct tg_yaml *n, struct tg_baseline_settings *b)
{
    bool plain = true;
    tg_sv inner;
    if (!n || n->text.n == 0)
        return;
    for (size_t i = 0; i < n->text.n; i++)
        plain = plain && (unsigned char)n->text.p[i] > ' ' && n->text.p[i] != 0x7F;
    b->ref = TG_REF_NAMED;
    b->ref_name = n->text;
    if (tg_sv_eq(n->text, TG_SV("merge-base"))) {
        b->ref = TG_REF_MERGE_BASE;
    } else if (tg_sv_eq(n->text, TG_SV("parent"))) {
        b->ref = TG_REF_PARENT;
    } else if (tg_sv_starts(n->text, TG_SV("window"))) {
        b->ref = TG_REF_WINDOW;
        if (!in_brackets(n->text, TG_SV("window"), &inner) || !tg_sv_i64(inner, &b->ref_window) ||
            b->ref_window < 1 || b->ref_window > 1000)
            tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, "write  window(20)",
                            "not a window of 1 to 1000");
    } else if (plain && tg_sv_starts(n->text, TG_SV("release("))) {
        b->ref = TG_REF_RELEASE;
        if (in_brackets(n->text, TG_SV("release"), &inner) && inner.n)
            b->ref_name = inner;
        else
            tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, "write  release(v*)",
                            "not a glob of the tags of releases");
    } else if (!plain || n->text.p[0] == '-') {
        tg_yaml_mistake(c->diags, TG_DIAG_TEXT, n,
                        "write merge-base, parent, window(N), release(v*), a ref or a commit",
                        "not a valid name of a ref");
    }
}

/* The keys that are there. */
static void settings_of(struct decode *c, const struct tg_yaml *n, struct tg_baseline_settings *b)
{
    const struct tg_yaml *target = tg_node_scalar(n, "target");
    b->at = n ? n->at : TG_NOWHERE;
    ref_of(c, tg_node_scalar(n, "ref"), b);
    if (target)
        b->target = tg_sv_eq(target->text, TG_SV("auto")) ? TG_SV("") : target->text;
    b->max_walk = tg_node_int(n, "max_walk", b->max_walk);
    b->on_first_run = (enum tg_on_missing)tg_node_word(n, "on_first_run", tg_words_on_missing,
                                                       (int)b->on_first_run);
    b->on_lost =
        (enum tg_on_missing)tg_node_word(n, "on_lost", tg_words_on_missing, (int)b->on_lost);
    if (tg_yaml_get(n, "require_same"))
        b->require_same = tg_node_mask(tg_yaml_get(n, "require_same"), tg_words_same);
}

static void baselines_of(struct decode *c, const struct tg_yaml *n)
{
    size_t count = 0;
    struct tg_baseline_settings *v = TG_NEW_N(c->arena, struct tg_baseline_settings, n->n + 1);
    for (size_t i = 0; i < n->n && count < TG_POLICY_BASELINES; i++) {
        const struct tg_yaml *one = n->items[i], *name = tg_node_scalar(one, "name");
        if (!name)
            continue;
        if (tg_sv_eq(name->text, TG_SV("baseline")))
            tg_yaml_mistake(c->diags, TG_DIAG_TEXT, name, "choose another name",
                            "'baseline' is what the policy's `baseline` is called");
        v[count] = c->policy->baseline;
        v[count].name = name->text;
        settings_of(c, one, &v[count++]);
    }
    c->policy->baselines = v;
    c->policy->n_baselines = count;
}

struct tg_policy *tg_policy_new(void)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_policy *p = TG_NEW(a, struct tg_policy);
    p->arena = a;
    p->private_ = TG_NEW(a, struct tg_policy_private);
    p->file = p->profile = TG_SV("");
    return p;
}

void tg_policy_free(struct tg_policy *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->private_->n_patterns; i++)
        tg_pattern_release(p->private_->patterns[i]);
    free(p->private_->patterns);
    tg_arena_free(p->arena);
}

void tg_decode(struct tg_policy *p, const struct tg_yaml *tree, int64_t today, struct tg_diags *d)
{
    struct decode c = { p, p->arena, d };
    p->today = today;
    const struct tg_noise none = { .at = TG_NOWHERE, .min_runs = 1 };
    const struct tg_yaml *report = tg_yaml_get(tree, "report"), *ab = tg_yaml_get(tree, "ab");
    p->baseline = (struct tg_baseline_settings){ .on_first_run = TG_ON_MISSING_PASS,
                                                 .on_lost = TG_ON_MISSING_INCONCLUSIVE };
    settings_of(&c, tg_yaml_get(tree, "baseline"), &p->baseline);
    baselines_of(&c, tg_node_list(tree, "baselines"));
    const struct tg_yaml *require = tg_yaml_get(tree, "require");
    struct tg_require *r = &p->require;
    r->at = tg_node_at(tree, "require");
    r->steps = tg_node_int(require, "steps", 0);
    r->kernels = tg_node_int(require, "kernels", 0);
    r->ops = patterns_of(&c, tg_yaml_get(require, "ops"));
    r->collapse = !tg_sv_eq(tg_node_text(require, "collapse"), TG_SV("off"));
    r->account = !tg_sv_eq(tg_node_text(require, "account"), TG_SV("off"));
    r->detectable = percent_of(require, "detectable", 0);
    r->detectable_at = tg_node_at(require, "detectable");
    r->steps_at = tg_node_at(require, "steps");
    r->kernels_at = tg_node_at(require, "kernels");
    r->ops_at = tg_node_at(require, "ops");
    p->noise = noise_of(&c, tg_yaml_get(tree, "noise"), &none);
    suites_of(&c, tg_node_list(tree, "suites"));
    const struct tg_yaml *n = tg_node_list(tree, "aliases");
    struct tg_alias *v = TG_NEW_N(c.arena, struct tg_alias, n->n + 1);
    for (size_t i = 0; i < n->n; i++) {
        v[i] =
            (struct tg_alias){ tg_node_text(n->items[i], "from"), tg_node_text(n->items[i], "to") };
        if (v[i].from.n && tg_sv_eq(v[i].from, v[i].to))
            tg_yaml_mistake(c.diags, TG_DIAG_TEXT, n->items[i], "remove it",
                            "the alias names the same text twice");
    }
    p->aliases = v;
    p->n_aliases = n->n;
    classes_of(&c, tg_node_list(tree, "classes"));
    n = tg_node_list(tree, "rules");
    struct tg_rule *rules = TG_NEW_N(c.arena, struct tg_rule, n->n + 1);
    p->rules = rules;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            rule_of(&c, n->items[i], &rules[p->n_rules++]);
    waivers_of(&c, tg_node_list(tree, "waivers"));
    p->report = (struct tg_report_settings){ tg_node_int(report, "top", 10),
                                             tg_node_int(report, "junit_max", 500) };
    p->ab = (struct tg_policy_ab){ tg_node_text(ab, "detect"), tg_node_text(ab, "budget"),
                                   tg_node_int(ab, "max_runs", 0), tg_node_text(ab, "measured") };
    p->fail_on = TG_FAIL_ON_FAIL | tg_node_mask(tg_yaml_get(tree, "fail_on"), tg_words_fail_on);
}

/* ---- the policy for one of its baselines ---- */

bool tg_policy_has_baseline(const struct tg_policy *p, size_t i)
{
    uint32_t named = 0;
    for (size_t k = 0; k < p->n_rules; k++)
        named |= p->rules[k].against;
    return named >> i & 1u || (i == 0 && !named);
}

bool tg_policy_is_built_in(const struct tg_loc *at)
{
    return at->file && strcmp(at->file, TG_POLICY_BUILT_IN) == 0;
}

const struct tg_policy *tg_policy_against(const struct tg_policy *p, size_t i, struct tg_arena *a)
{
    if (!p->n_baselines)
        return p;
    struct tg_policy *one = TG_NEW(a, struct tg_policy);
    struct tg_rule *rules = TG_NEW_N(a, struct tg_rule, p->n_rules + 1);
    *one = *p;
    one->baseline = i ? p->baselines[i - 1] : p->baseline;
    one->rules = rules;
    one->n_rules = 0;
    for (size_t k = 0; k < p->n_rules; k++)
        if (p->rules[k].against & 1u << i)
            rules[one->n_rules++] = p->rules[k];
    return one;
}
