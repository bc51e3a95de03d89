#include "policy/language/decode.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/language/limit.h"
#include "policy/language/value.h"

struct decode {
    struct tg_policy *policy;
    struct tg_arena *arena;
    struct tg_diags *diags;
    int64_t today;
};

/* Days a waiver may run; longer is a policy change, not a waiver. */
enum { MAX_WAIVER_DAYS = 180 };

/* ---- small readers: the fallback if a value is absent or has the wrong type ---- */

static const struct tg_yaml *scalar(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_yaml_get(map, key);
    return n && n->type == TG_YAML_SCALAR ? n : NULL;
}

static tg_sv text_of(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = scalar(map, key);
    return n ? n->text : TG_SV("");
}

static int64_t int_of(const struct tg_yaml *map, const char *key, int64_t fallback)
{
    int64_t v;
    const struct tg_yaml *n = scalar(map, key);
    return n && tg_sv_i64(n->text, &v) ? v : fallback;
}

static bool is_true(const struct tg_yaml *map, const char *key)
{
    return tg_sv_eq(text_of(map, key), TG_SV("true"));
}

static int word_of(const struct tg_yaml *map, const char *key, const char *const *words,
                   int fallback)
{
    const struct tg_yaml *n = scalar(map, key);
    int i = n ? tg_word_index(words, n->text) : -1;
    return i < 0 ? fallback : i;
}

static struct tg_loc loc_of(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_yaml_get(map, key);
    return n ? n->at : TG_NOWHERE;
}

/* A single value means a list of one. */
static size_t item_count(const struct tg_yaml *n)
{
    return !n || n->type == TG_YAML_MAP ? 0 : n->type == TG_YAML_SEQ ? n->n : 1;
}

static const struct tg_yaml *item_at(const struct tg_yaml *n, size_t i)
{
    return n->type == TG_YAML_SEQ ? n->items[i] : n;
}

static uint32_t mask_of(const struct tg_yaml *n, const char *const *words)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < item_count(n); i++) {
        int w =
            item_at(n, i)->type == TG_YAML_SCALAR ? tg_word_index(words, item_at(n, i)->text) : -1;
        mask |= w < 0 ? 0 : 1u << w;
    }
    return mask;
}

static struct tg_ints ints_of(struct decode *c, const struct tg_yaml *n)
{
    int64_t *v = TG_NEW_N(c->arena, int64_t, item_count(n) + 1);
    size_t count = 0;
    for (size_t i = 0; i < item_count(n); i++)
        if (item_at(n, i)->type == TG_YAML_SCALAR && tg_sv_i64(item_at(n, i)->text, &v[count]))
            count++;
    return (struct tg_ints){ v, count };
}

static bool report(struct decode *c, enum tg_diag_code code, const struct tg_yaml *n,
                   const char *fix, const char *message)
{
    return tg_diags_add(c->diags, code, n->at, tg_yaml_width(n), fix, "%s", message);
}

/* ---- patterns ---- */

static struct tg_pattern *keep_pattern(struct decode *c, struct tg_pattern *p)
{
    struct tg_policy_private *v = c->policy->private_;
    v->patterns = tg_grow(v->patterns, &v->cap_patterns, v->n_patterns + 1, sizeof *v->patterns);
    v->patterns[v->n_patterns++] = p;
    return p;
}

/* An error inside a pattern is shown at its byte if the file spells the text as it is. */
static struct tg_pattern *compile(struct decode *c, const struct tg_yaml *n, tg_sv text)
{
    char why[200];
    size_t offset = 0;
    struct tg_pattern *p;
    if (text.n > 1 && text.p[0] == '/' && text.p[text.n - 1] != '/') {
        (void)report(c, TG_DIAG_PATTERN, n, "end it with / or, for a glob, begin it with *",
                     "a regex begins and ends with /");
        return NULL;
    }
    p = tg_pattern_new(text, c->arena, why, sizeof why, &offset);
    if (p)
        return keep_pattern(c, p);
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
    size_t count = item_count(n);
    struct tg_loc *at = TG_NEW_N(c->arena, struct tg_loc, count + 1);
    struct tg_patterns list = { TG_NEW_N(c->arena, struct tg_pattern *, count + 1), at, 0 };
    for (size_t i = 0; i < count; i++) {
        const struct tg_yaml *one = item_at(n, i);
        struct tg_pattern *p = one->type == TG_YAML_SCALAR ? compile(c, one, one->text) : NULL;
        if (p) {
            at[list.n] = one->at;
            list.v[list.n++] = p;
        }
    }
    return list;
}

/* A bare regex with one group. */
static struct tg_pattern *group_of(struct decode *c, const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = scalar(map, key);
    if (!n || n->text.n == 0 || n->text.n + 2 > TG_PATTERN_MAX)
        return NULL;
    struct tg_pattern *p = compile(c, n, tg_sv_of(tg_arena_printf(c->arena, "/%s/", n->text.p)));
    if (p && tg_pattern_groups(p) != 1)
        (void)report(c, TG_DIAG_PATTERN, n, "put the number into one group:  rank(\\d+)",
                     "the regex must have exactly one group");
    return p;
}

/* ---- match, when ---- */

static uint32_t kinds_of(const struct tg_yaml *n)
{
    uint32_t words = mask_of(n, tg_words_kind), mask = 0;
    for (int i = 0; tg_words_kind[i]; i++)
        mask |= words & (1u << i) ? 1u << tg_kind_of_word[i] : 0;
    return mask;
}

static void rank_of(struct decode *c, const struct tg_yaml *n, struct tg_match *out)
{
    int word = n && n->type == TG_YAML_SCALAR ? tg_word_index(tg_words_rank, n->text) : -1;
    if (!n)
        return;
    out->ranks = ints_of(c, n);
    out->rank = word == 0   ? TG_MATCH_RANK_EACH
                : word == 1 ? TG_MATCH_RANK_SLOWEST
                            : TG_MATCH_RANK_LIST;
}

static struct tg_match match_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_match m = { .at = TG_NOWHERE };
    if (!n || n->type != TG_YAML_MAP)
        return m;
    const struct tg_yaml *excluded = tg_yaml_get(n, "not");
    m.present = true;
    m.at = n->at;
    m.kinds = kinds_of(tg_yaml_get(n, "kind"));
    m.classes = mask_of(tg_yaml_get(n, "class"), tg_words_class);
    m.families = mask_of(tg_yaml_get(n, "family"), tg_words_family);
    m.name = patterns_of(c, tg_yaml_get(n, "name"));
    m.raw_name = patterns_of(c, tg_yaml_get(n, "raw_name"));
    m.parent = patterns_of(c, tg_yaml_get(n, "parent"));
    m.devices = ints_of(c, tg_yaml_get(n, "device"));
    m.streams = ints_of(c, tg_yaml_get(n, "stream"));
    rank_of(c, tg_yaml_get(n, "rank"), &m);
    if (excluded && excluded->type == TG_YAML_MAP) {
        struct tg_match *inner = TG_NEW(c->arena, struct tg_match);
        *inner = match_of(c, excluded);
        m.not_ = inner;
    }
    return m;
}

static struct tg_when when_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_when w = { .at = TG_NOWHERE };
    if (!n || n->type != TG_YAML_MAP)
        return w;
    w.present = true;
    w.at = n->at;
    w.event = patterns_of(c, tg_yaml_get(n, "event"));
    w.branch = patterns_of(c, tg_yaml_get(n, "branch"));
    w.device = patterns_of(c, tg_yaml_get(n, "device"));
    return w;
}

/* ---- noise ---- */

static struct tg_noise noise_of(struct decode *c, const struct tg_yaml *n,
                                const struct tg_noise *base)
{
    struct tg_noise v = *base;
    const struct tg_yaml *drift = scalar(n, "drift"), *ignore = tg_yaml_get(n, "ignore");
    tg_sv unit;
    double percent;
    if (!n || n->type != TG_YAML_MAP)
        return v;
    v.at = n->at;
    v.test = (enum tg_noise_test)word_of(n, "test", tg_words_noise_test, (int)v.test);
    v.min_runs = int_of(n, "min_runs", v.min_runs);
    v.min_steps = int_of(n, "min_steps", v.min_steps);
    if (drift && tg_value_quantity(drift->text, &percent, &unit))
        v.drift = percent;
    if (ignore && ignore->type == TG_YAML_SEQ)
        v.ignore = patterns_of(c, ignore);
    return v;
}

/* ---- rules ---- */

static const char *const name_keys[] = { "kind",   "name",   "raw_name", "class", "family",
                                         "parent", "device", "stream",   "not",   NULL };

/* Streams belong to the device: a rule that names only host work would never match. */
static void check_device_keys(struct decode *c, const struct tg_yaml *match, uint32_t kinds)
{
    static const char *const keys[] = { "device", "stream" };
    uint32_t device = 1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET;
    for (size_t i = 0; kinds && !(kinds & device) && i < 2; i++) {
        const struct tg_yaml_pair *p = match ? tg_yaml_pair(match, keys[i]) : NULL;
        if (p)
            (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, p->key->at, tg_yaml_width(p->key),
                               "ask for kernel, memcpy or memset",
                               "'%s' has no meaning for host work", keys[i]);
    }
}

/* Metrics of Python frames, and of nothing else. */
static void check_frames(struct decode *c, const struct tg_yaml *match,
                         const struct tg_yaml *metric, enum tg_metric m, uint32_t kinds)
{
    static const char *const keys[] = { "parent", "class", "family" };
    uint32_t frames = kinds & TG_FRAME_KINDS;
    const char *name = tg_metric_info(m)->name;
    bool single = m == TG_METRIC_MEDIAN || m == TG_METRIC_P95 || m == TG_METRIC_MAX ||
                  m == TG_METRIC_BYTES || tg_metric_info(m)->unit == TG_UNIT_FACT;
    if (tg_metric_of_launched(m) && (!frames || frames != kinds))
        (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, metric->at, tg_yaml_width(metric),
                           "say which:  match: {kind: module}; of a kernel ask for  total",
                           "'%s' is the work that modules and sources launch", name);
    if (frames && single)
        (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, metric->at, tg_yaml_width(metric),
                           "use count, total, self, mean, share, added, removed, device_time, "
                           "device_self or device_count",
                           "modules and sources have no '%s', only totals", name);
    for (size_t i = 0; frames && frames == kinds && i < sizeof keys / sizeof *keys; i++) {
        const struct tg_yaml_pair *p = match ? tg_yaml_pair(match, keys[i]) : NULL;
        if (p)
            (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, p->key->at, tg_yaml_width(p->key),
                               "ask for their name", "modules and sources have no '%s'", keys[i]);
    }
}

static void check_scope(struct decode *c, const struct tg_yaml *rule,
                        const struct tg_metric_info *info, enum tg_metric m, uint32_t kinds)
{
    const struct tg_yaml *match = tg_yaml_get(rule, "match"), *metric = tg_yaml_get(rule, "metric");
    if (info->scope == TG_SCOPE_NAME) {
        check_device_keys(c, match, kinds);
        check_frames(c, match, metric, m, kinds);
        if (!match)
            (void)tg_diags_add(c->diags, TG_DIAG_NEEDS_MATCH, metric->at, tg_yaml_width(metric),
                               "say which:  match: {kind: kernel}",
                               "metric '%s' is measured per name, the rule has no 'match'",
                               info->name);
        return;
    }
    for (size_t i = 0; match && match->type == TG_YAML_MAP && i < match->n; i++) {
        const struct tg_yaml *key = match->pairs[i].key;
        bool is_rank = tg_sv_eq(key->text, TG_SV("rank"));
        if (tg_word_index(name_keys, key->text) < 0 && !(is_rank && info->scope == TG_SCOPE_RANKS))
            continue;
        (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, key->at, tg_yaml_width(key),
                           is_rank                         ? "it compares all ranks with each other"
                           : info->scope == TG_SCOPE_RANKS ? "nothing can be chosen here"
                                                           : "only rank can be asked here",
                           "'%s' means nothing for '%s', which is measured for the whole trace",
                           key->text.p, info->name);
    }
}

static void overrides_of(struct decode *c, const struct tg_yaml *n, struct tg_rule *rule,
                         const struct tg_metric_info *info)
{
    if (!n || n->type != TG_YAML_SEQ)
        return;
    if (info && info->scope != TG_SCOPE_NAME)
        (void)report(c, TG_DIAG_MATCH_SCOPE, n, "write a second rule",
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
        out->warn = tg_limits_of(tg_yaml_get(o, "warn"), info, c->arena, c->diags);
        out->fail = tg_limits_of(tg_yaml_get(o, "fail"), info, c->arena, c->diags);
        out->has_noise = noise != NULL;
        out->noise = noise_of(c, noise, &rule->noise);
        if (out->warn.state == TG_LIMIT_UNSET && out->fail.state == TG_LIMIT_UNSET && !noise)
            (void)report(c, TG_DIAG_NO_LIMIT, o, "add  fail: off  or another limit",
                         "the override changes nothing");
    }
    rule->overrides = v;
    rule->n_overrides = count;
}

static bool same_layer(struct tg_loc a, struct tg_loc b)
{
    return a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0);
}

/*
 * What is excepted is a changed number of calls: other metrics have no such thing. A layer that gives
 * a preset's rule another metric did not write the preset's exceptions: they fall away.
 */
static void check_exceptions(struct decode *c, const struct tg_yaml *n,
                             const struct tg_metric_info *info, struct tg_rule *r)
{
    const struct tg_yaml_pair *p = tg_yaml_pair(n, "exceptions");
    enum tg_metric m = r->metric;
    if (!p || m == TG_METRIC_COUNT || m == TG_METRIC_ADDED || m == TG_METRIC_REMOVED)
        return;
    r->exceptions = 0;
    if (same_layer(p->key->at, r->metric_at))
        (void)tg_diags_add(c->diags, TG_DIAG_MATCH_SCOPE, p->key->at, tg_yaml_width(p->key),
                           "remove it: count, added and removed have exceptions",
                           "'exceptions' mean nothing for '%s'", info->name);
}

static enum tg_polarity direction_of(struct decode *c, const struct tg_yaml *n,
                                     const struct tg_metric_info *info)
{
    static const enum tg_polarity meaning[] = { TG_MORE_IS_BAD, TG_LESS_IS_BAD, TG_ANY_IS_BAD };
    const struct tg_yaml *direction = scalar(n, "direction");
    int word = word_of(n, "direction", tg_words_direction, -1);
    bool fixed = info->unit == TG_UNIT_FACT ||
                 info->bounds == (TG_BOUND_BIT(TG_BOUND_ABS) | TG_BOUND_BIT(TG_BOUND_MAX));
    if (direction && fixed)
        (void)tg_diags_add(c->diags, TG_DIAG_DIRECTION, direction->at, tg_yaml_width(direction),
                           "remove it", "'%s' has only one bad direction", info->name);
    return word < 0 ? info->polarity : meaning[word];
}

static void rule_of(struct decode *c, const struct tg_yaml *n, struct tg_rule *r)
{
    const struct tg_yaml *id = scalar(n, "id"), *metric = scalar(n, "metric");
    bool known = metric && tg_metric_from_name(metric->text, &r->metric);
    const struct tg_metric_info *info = known ? tg_metric_info(r->metric) : NULL;
    r->id = text_of(n, "id");
    r->at = id ? id->at : n->at;
    r->why = text_of(n, "why");
    r->owner = text_of(n, "owner");
    r->match = match_of(c, tg_yaml_get(n, "match"));
    r->metric_at = loc_of(n, "metric");
    r->warn = tg_limits_of(tg_yaml_get(n, "warn"), info, c->arena, c->diags);
    r->fail = tg_limits_of(tg_yaml_get(n, "fail"), info, c->arena, c->diags);
    r->warn_at = r->warn.at;
    r->fail_at = r->fail.at;
    r->noise = noise_of(c, tg_yaml_get(n, "noise"), &c->policy->noise);
    r->exceptions = mask_of(tg_yaml_get(n, "exceptions"), tg_words_exception) << 1;
    r->optional = is_true(n, "optional");
    r->when = when_of(c, tg_yaml_get(n, "when"));
    if (info) {
        r->bad = direction_of(c, n, info);
        check_scope(c, n, info, r->metric, r->match.kinds);
        check_exceptions(c, n, info, r);
    }
    overrides_of(c, tg_yaml_get(n, "overrides"), r, info);
    if (!tg_yaml_pair(n, "metric"))
        (void)tg_diags_add(c->diags, TG_DIAG_MISSING, r->at, id ? tg_yaml_width(id) : 1,
                           "add 'metric': what is measured, for example  metric: total",
                           "rule '%s' needs 'metric'", r->id.p);
    if (r->warn.state == TG_LIMIT_UNSET && r->fail.state == TG_LIMIT_UNSET)
        (void)tg_diags_add(c->diags, TG_DIAG_NO_LIMIT, r->at, id ? tg_yaml_width(id) : 1,
                           "add  fail: {...}  or  warn: {...}",
                           "rule '%s' has neither 'warn' nor 'fail'", r->id.p);
}

static void rules_of(struct decode *c, const struct tg_yaml *n)
{
    if (!n || n->type != TG_YAML_SEQ)
        return;
    struct tg_rule *v = TG_NEW_N(c->arena, struct tg_rule, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            rule_of(c, n->items[i], &v[count++]);
    c->policy->rules = v;
    c->policy->n_rules = count;
}

static void classes_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_class_row *v;
    size_t count = 0;
    if (!n || n->type != TG_YAML_SEQ)
        return;
    v = TG_NEW_N(c->arena, struct tg_class_row, n->n + 1);
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_yaml *name = scalar(n->items[i], "name");
        int word = word_of(n->items[i], "class", tg_words_class, -1);
        if (!name || word < 0)
            continue;
        if (name->text.n > 1 && name->text.p[0] == '/')
            (void)report(c, TG_DIAG_PATTERN, name, "use * and ?",
                         "the names of a class are a glob");
        v[count++] = (struct tg_class_row){ name->text, (enum tg_class)word };
    }
    c->policy->classes = (struct tg_classes){ v, count };
}

/* ---- suites ---- */

static void window_of(struct decode *c, const struct tg_yaml *n, struct tg_window *w)
{
    const struct tg_yaml *name = scalar(n, "name");
    w->at = n ? n->at : TG_NOWHERE;
    w->by = (enum tg_window_by)(1 + word_of(n, "by", tg_words_window_by, -1));
    w->skip_first = int_of(n, "skip_first", 0);
    w->skip_last = int_of(n, "skip_last", 0);
    if (w->by == TG_BY_ANNOTATION && !tg_yaml_get(n, "name"))
        (void)report(c, TG_DIAG_MISSING, n, "add  name: \"execute_*\"",
                     "a window by annotation needs 'name'");
    if (!name)
        return;
    if (w->by != TG_BY_ANNOTATION)
        (void)report(c, TG_DIAG_MISSING, name, "add  by: annotation",
                     "the name of a window needs 'by: annotation'");
    if (name->text.n > 1 && name->text.p[0] == '/')
        (void)report(c, TG_DIAG_PATTERN, name, "use * and ?", "the name of a window is a glob");
    else
        w->name = compile(c, name, name->text);
}

/* A path inside the tree of a commit. */
static void check_tree_path(struct decode *c, const struct tg_yaml *n)
{
    tg_sv rest = n->text;
    bool outside = n->text.n && (n->text.p[0] == '/' || n->text.p[0] == '~');
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '/');
        outside = outside || tg_sv_eq(part, TG_SV(".."));
    }
    if (outside)
        (void)report(c, TG_DIAG_TEXT, n, "write it from the repository's root, without ..",
                     "the baseline's path leaves the repository");
}

static void suite_of(struct decode *c, const struct tg_yaml *n, struct tg_suite *s)
{
    const struct tg_yaml *trace = tg_yaml_get(n, "trace"), *baseline = scalar(n, "baseline");
    s->name = text_of(n, "name");
    s->at = scalar(n, "name") ? scalar(n, "name")->at : n->at;
    s->trace.at = trace ? trace->at : TG_NOWHERE;
    s->trace.files = trace && trace->type == TG_YAML_SCALAR ? trace->text : text_of(trace, "files");
    s->trace.run = text_of(trace, "run");
    s->trace.rank = text_of(trace, "rank");
    s->trace.run_pattern = group_of(c, trace, "run");
    s->trace.rank_pattern = group_of(c, trace, "rank");
    s->stored = !baseline || tg_sv_eq(baseline->text, TG_SV("stored"));
    s->baseline = s->stored ? TG_SV("") : baseline->text;
    s->baseline_at = loc_of(n, "baseline");
    s->ranks_expect = int_of(tg_yaml_get(n, "ranks"), "expect", 0);
    window_of(c, tg_yaml_get(n, "window"), &s->window);
    if (!s->stored)
        check_tree_path(c, baseline);
}

static void suites_of(struct decode *c, const struct tg_yaml *n)
{
    if (!n || n->type != TG_YAML_SEQ)
        return;
    struct tg_suite *v = TG_NEW_N(c->arena, struct tg_suite, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            suite_of(c, n->items[i], &v[count++]);
    c->policy->suites = v;
    c->policy->n_suites = count;
}

/* ---- the other sections ---- */

/* "window(20)" -> 20. */
static bool ref_window(tg_sv text, int64_t *n)
{
    if (!tg_sv_starts(text, TG_SV("window(")) || !tg_sv_ends(text, TG_SV(")")))
        return false;
    tg_sv inner = { text.p + 7, text.n - 8 };
    return tg_sv_i64(inner, n) && *n >= 1 && *n <= 1000;
}

static void ref_of(struct decode *c, const struct tg_yaml *n, struct tg_baseline_settings *b)
{
    bool plain = true;
    if (!n || n->text.n == 0)
        return;
    for (size_t i = 0; i < n->text.n; i++)
        plain = plain && (unsigned char)n->text.p[i] > ' ' && n->text.p[i] != 0x7F;
    b->ref_at = n->at;
    b->ref = TG_REF_NAMED;
    b->ref_name = n->text;
    if (tg_sv_eq(n->text, TG_SV("merge-base"))) {
        b->ref = TG_REF_MERGE_BASE;
    } else if (tg_sv_eq(n->text, TG_SV("parent"))) {
        b->ref = TG_REF_PARENT;
    } else if (tg_sv_starts(n->text, TG_SV("window"))) {
        b->ref = TG_REF_WINDOW;
        if (!ref_window(n->text, &b->ref_window))
            (void)report(c, TG_DIAG_WORD, n, "write  window(20)", "not a window of 1 to 1000");
    } else if (!plain || n->text.p[0] == '-') {
        (void)report(c, TG_DIAG_TEXT, n, "write merge-base, parent, a ref or a commit",
                     "not a valid name of a ref");
    }
}

static void baseline_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_baseline_settings *b = &c->policy->baseline;
    tg_sv target = text_of(n, "target");
    b->at = n ? n->at : TG_NOWHERE;
    b->ref_at = b->at;
    ref_of(c, scalar(n, "ref"), b);
    b->target = tg_sv_eq(target, TG_SV("auto")) ? TG_SV("") : target;
    b->max_walk = int_of(n, "max_walk", 0);
    b->on_first_run =
        (enum tg_on_missing)word_of(n, "on_first_run", tg_words_on_missing, TG_ON_MISSING_PASS);
    b->on_lost =
        (enum tg_on_missing)word_of(n, "on_lost", tg_words_on_missing, TG_ON_MISSING_INCONCLUSIVE);
    b->require_same = mask_of(tg_yaml_get(n, "require_same"), tg_words_same);
}

static void require_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_require *r = &c->policy->require;
    r->at = n ? n->at : TG_NOWHERE;
    r->steps = int_of(n, "steps", 0);
    r->kernels = int_of(n, "kernels", 0);
    r->ops = patterns_of(c, tg_yaml_get(n, "ops"));
    r->collapse = !tg_sv_eq(text_of(n, "collapse"), TG_SV("off"));
    r->steps_at = loc_of(n, "steps");
    r->kernels_at = loc_of(n, "kernels");
    r->ops_at = loc_of(n, "ops");
}

static void aliases_of(struct decode *c, const struct tg_yaml *n)
{
    if (!n || n->type != TG_YAML_SEQ)
        return;
    struct tg_alias *v = TG_NEW_N(c->arena, struct tg_alias, n->n + 1);
    for (size_t i = 0; i < n->n; i++) {
        v[i] = (struct tg_alias){ text_of(n->items[i], "from"), text_of(n->items[i], "to"),
                                  n->items[i]->at };
        if (v[i].from.n && tg_sv_eq(v[i].from, v[i].to))
            (void)report(c, TG_DIAG_TEXT, n->items[i], "remove it",
                         "the alias names the same text twice");
    }
    c->policy->aliases = v;
    c->policy->n_aliases = n->n;
}

static void report_of(struct decode *c, const struct tg_yaml *n)
{
    struct tg_report_settings *r = &c->policy->report;
    r->at = n ? n->at : TG_NOWHERE;
    r->comment = (enum tg_comment)word_of(n, "comment", tg_words_comment, TG_COMMENT_CHANGES);
    r->top = int_of(n, "top", 10);
    r->junit_max = int_of(n, "junit_max", 500);
}

/* ---- waivers ---- */

static const struct tg_rule *find_rule(const struct tg_policy *p, tg_sv id)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_sv_eq(p->rules[i].id, id))
            return &p->rules[i];
    return NULL;
}

static const struct tg_rule *waived_rule(struct decode *c, const struct tg_yaml *n)
{
    const char **names = TG_NEW_N(c->arena, const char *, c->policy->n_rules + 1);
    const struct tg_rule *r = n ? find_rule(c->policy, n->text) : NULL;
    for (size_t i = 0; n && i < c->policy->n_removed; i++)
        if (tg_sv_eq(c->policy->removed[i], n->text))
            return NULL; /* dropped by a later layer: nothing is left to waive */
    if (!n || r)
        return r;
    for (size_t i = 0; i < c->policy->n_rules; i++)
        names[i] = c->policy->rules[i].id.p;
    const char *near = tg_sv_nearest(n->text, names);
    (void)tg_diags_add(c->diags, TG_DIAG_RULE_UNKNOWN, n->at, tg_yaml_width(n),
                       near ? tg_arena_printf(c->arena, "did you mean '%s'?", near) : NULL,
                       "there is no rule '%s' to waive", n->text.p);
    return NULL;
}

/* Within brackets a star is a pointer: "void kern(float*)", "std::array<char*, 2>". */
static bool has_wildcard(tg_sv name)
{
    int depth = 0;
    for (size_t i = 0; i < name.n; i++) {
        depth += name.p[i] == '(' || name.p[i] == '<' || name.p[i] == '[';
        depth -= name.p[i] == ')' || name.p[i] == '>' || name.p[i] == ']';
        if (name.p[i] == '?' || (name.p[i] == '*' && depth <= 0))
            return true;
    }
    return false;
}

static void check_waiver_name(struct decode *c, const struct tg_yaml *n, const struct tg_waiver *w,
                              const struct tg_rule *r)
{
    const struct tg_yaml *name = scalar(n, "name");
    bool per_name = !r || tg_metric_info(r->metric)->scope == TG_SCOPE_NAME;
    if (!name) {
        if (r && per_name && !tg_yaml_get(n, "name"))
            (void)report(c, TG_DIAG_WAIVER_NAME, n, "add  name: \"...\"",
                         "the rule judges names: the waiver must say which");
        return;
    }
    bool globbed = has_wildcard(name->text);
    if (!per_name)
        (void)report(c, TG_DIAG_WAIVER_NAME, name, "remove it",
                     "the rule judges the whole trace, it has no names");
    else if (!w->many && (globbed || (w->name && tg_pattern_is_regex(w->name))))
        (void)report(c, TG_DIAG_WAIVER_NAME, name, "write the exact name, or add  many: true",
                     "a pattern waives more than one name");
}

static void check_expiry(struct decode *c, const struct tg_yaml *n, struct tg_waiver *w)
{
    if (!n || !tg_value_date(n->text, &w->expires))
        return;
    w->expires_text = n->text;
    if (c->today == 0 || w->expires <= c->today + MAX_WAIVER_DAYS)
        return;
    char last[16], fix[64];
    tg_value_date_text(c->today + MAX_WAIVER_DAYS, last);
    (void)snprintf(fix, sizeof fix, "the last day allowed is %s", last);
    (void)tg_diags_add(c->diags, TG_DIAG_WAIVER_EXPIRES, n->at, tg_yaml_width(n), fix,
                       "waiver needs 'expires' at most %d days ahead (got %s)", MAX_WAIVER_DAYS,
                       n->text.p);
}

static void waiver_of(struct decode *c, const struct tg_yaml *n, struct tg_waiver *w)
{
    const struct tg_yaml *name = scalar(n, "name"), *ceiling = tg_yaml_get(n, "ceiling");
    const struct tg_rule *r = waived_rule(c, scalar(n, "rule"));
    w->at = n->at;
    w->rule = text_of(n, "rule");
    w->many = is_true(n, "many");
    w->name_text = text_of(n, "name");
    w->name = name ? compile(c, name, name->text) : NULL;
    w->reason = text_of(n, "reason");
    w->issue = text_of(n, "issue");
    w->owner = text_of(n, "owner");
    w->when = when_of(c, tg_yaml_get(n, "when"));
    if (r && ceiling &&
        tg_limit_of(ceiling, tg_metric_info(r->metric), c->arena, c->diags, &w->ceiling)) {
        const struct tg_bound *pct = tg_limit_find(&w->ceiling, TG_BOUND_PCT);
        if (pct && pct->is_auto)
            (void)report(c, TG_DIAG_BOUND_FIT, ceiling, "write a number:  pct: 18%",
                         "a ceiling cannot be 'auto'");
    }
    check_waiver_name(c, n, w, r);
    check_expiry(c, scalar(n, "expires"), w);
}

static void waivers_of(struct decode *c, const struct tg_yaml *n)
{
    if (!n || n->type != TG_YAML_SEQ)
        return;
    struct tg_waiver *v = TG_NEW_N(c->arena, struct tg_waiver, n->n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            waiver_of(c, n->items[i], &v[count++]);
    c->policy->waivers = v;
    c->policy->n_waivers = count;
}

/* ---- the policy ---- */

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
    struct decode c = { p, p->arena, d, today };
    p->today = today;
    const struct tg_noise none = { .at = TG_NOWHERE, .min_runs = 1 };
    baseline_of(&c, tg_yaml_get(tree, "baseline"));
    require_of(&c, tg_yaml_get(tree, "require"));
    p->noise = noise_of(&c, tg_yaml_get(tree, "noise"), &none);
    suites_of(&c, tg_yaml_get(tree, "suites"));
    aliases_of(&c, tg_yaml_get(tree, "aliases"));
    classes_of(&c, tg_yaml_get(tree, "classes"));
    rules_of(&c, tg_yaml_get(tree, "rules"));
    waivers_of(&c, tg_yaml_get(tree, "waivers"));
    report_of(&c, tg_yaml_get(tree, "report"));
    p->fail_on = TG_FAIL_ON_FAIL | mask_of(tg_yaml_get(tree, "fail_on"), tg_words_fail_on);
    p->fail_on_at = loc_of(tree, "fail_on");
}
