#include <stdlib.h>

#include "policy/language/internal.h"
#include "policy/language/value.h"

static void classes_of(struct tg_decode *c, const struct tg_yaml *n)
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

/* "window(20)" -> 20. */
static bool ref_window(tg_sv text, int64_t *n)
{
    if (!tg_sv_starts(text, TG_SV("window(")) || !tg_sv_ends(text, TG_SV(")")))
        return false;
    tg_sv inner = { text.p + 7, text.n - 8 };
    return tg_sv_i64(inner, n) && *n >= 1 && *n <= 1000;
}

/* "release(v*)" -> "v*". */
static bool ref_release(tg_sv text, tg_sv *glob)
{
    if (!tg_sv_ends(text, TG_SV(")")))
        return false;
    *glob = (tg_sv){ text.p + 8, text.n - 9 };
    return glob->n > 0;
}

static void ref_of(struct tg_decode *c, const struct tg_yaml *n, struct tg_baseline_settings *b)
{
    bool plain = true;
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
        if (!ref_window(n->text, &b->ref_window))
            tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, "write  window(20)",
                            "not a window of 1 to 1000");
    } else if (plain && tg_sv_starts(n->text, TG_SV("release("))) {
        b->ref = TG_REF_RELEASE;
        if (!ref_release(n->text, &b->ref_name))
            tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, "write  release(v*)",
                            "not a glob of the tags of releases");
    } else if (!plain || n->text.p[0] == '-') {
        tg_yaml_mistake(c->diags, TG_DIAG_TEXT, n,
                        "write merge-base, parent, window(N), release(v*), a ref or a commit",
                        "not a valid name of a ref");
    }
}

/* The keys that are there. */
static void settings_of(struct tg_decode *c, const struct tg_yaml *n,
                        struct tg_baseline_settings *b)
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

static void baselines_of(struct tg_decode *c, const struct tg_yaml *n)
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

static double percent_of(const struct tg_yaml *n)
{
    double percent = 0;
    tg_sv unit;

    return n && tg_value_quantity(n->text, &percent, &unit) ? percent : 0;
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
    struct tg_decode c = { p, p->arena, d, today };
    p->today = today;
    const struct tg_noise none = { .at = TG_NOWHERE, .min_runs = 1 };
    const struct tg_yaml *report = tg_yaml_get(tree, "report"), *ab = tg_yaml_get(tree, "ab");
    p->baseline = (struct tg_baseline_settings){ .on_first_run = TG_ON_MISSING_PASS,
                                                 .on_lost = TG_ON_MISSING_INCONCLUSIVE };
    settings_of(&c, tg_yaml_get(tree, "baseline"), &p->baseline);
    baselines_of(&c, tg_node_list(tree, "baselines"));
    const struct tg_yaml *require = tg_yaml_get(tree, "require");
    struct tg_require *r = &c.policy->require;
    r->at = require ? require->at : TG_NOWHERE;
    r->steps = tg_node_int(require, "steps", 0);
    r->kernels = tg_node_int(require, "kernels", 0);
    r->ops = tg_decode_patterns(&c, tg_yaml_get(require, "ops"));
    r->collapse = !tg_sv_eq(tg_node_text(require, "collapse"), TG_SV("off"));
    r->account = !tg_sv_eq(tg_node_text(require, "account"), TG_SV("off"));
    r->detectable = percent_of(tg_yaml_get(require, "detectable"));
    r->detectable_at = tg_node_at(require, "detectable");
    r->steps_at = tg_node_at(require, "steps");
    r->kernels_at = tg_node_at(require, "kernels");
    r->ops_at = tg_node_at(require, "ops");
    p->noise = tg_decode_noise(&c, tg_yaml_get(tree, "noise"), &none);
    tg_decode_suites(&c, tg_node_list(tree, "suites"));
    const struct tg_yaml *n = tg_node_list(tree, "aliases");
    struct tg_alias *v = TG_NEW_N(c.arena, struct tg_alias, n->n + 1);
    for (size_t i = 0; i < n->n; i++) {
        v[i] = (struct tg_alias){ tg_node_text(n->items[i], "from"),
                                  tg_node_text(n->items[i], "to"), n->items[i]->at };
        if (v[i].from.n && tg_sv_eq(v[i].from, v[i].to))
            tg_yaml_mistake(c.diags, TG_DIAG_TEXT, n->items[i], "remove it",
                            "the alias names the same text twice");
    }
    c.policy->aliases = v;
    c.policy->n_aliases = n->n;
    classes_of(&c, tg_node_list(tree, "classes"));
    tg_decode_rules(&c, tg_node_list(tree, "rules"));
    tg_decode_waivers(&c, tg_node_list(tree, "waivers"));
    p->report = (struct tg_report_settings){ tg_node_int(report, "top", 10),
                                             tg_node_int(report, "junit_max", 500),
                                             tg_node_at(tree, "report") };
    p->ab = (struct tg_policy_ab){ tg_node_text(ab, "detect"), tg_node_text(ab, "budget"),
                                   tg_node_int(ab, "max_runs", 0), tg_node_text(ab, "measured") };
    p->fail_on = TG_FAIL_ON_FAIL | tg_node_mask(tg_yaml_get(tree, "fail_on"), tg_words_fail_on);
}
