#include <stdio.h>

#include "policy/language/internal.h"
#include "policy/language/limit.h"
#include "policy/language/load.h"
#include "policy/language/value.h"

struct lint {
    const struct tg_policy *policy;
    const tg_sv *names;
    size_t n_names;
    struct tg_diags *diags;
};

enum { NOTICE_DAYS = 14 }; /* before a waiver ends */

/* ---- limits ---- */

/* A relative limit alone: the smaller the kernel, the more certainly noise exceeds it. */
static void lint_floor(struct lint *c, const struct tg_rule *r, const struct tg_limit_list *list,
                       const char *key)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(r->metric);
    for (size_t i = 0; i < list->n && info->unit == TG_UNIT_NS; i++) {
        const struct tg_limit *l = &list->v[i];
        const struct tg_bound *pct = tg_limit_find(l, TG_BOUND_PCT);
        if (!pct || l->n > 1)
            continue;
        (void)tg_diags_add(
            c->diags, TG_DIAG_BARE_PCT, pct->at, pct->text.n, "add  abs: 0.1%step",
            "%s {pct: %.*s} has no 'abs' floor: %s", key, TG_SV_ARG(pct->text),
            info->scope == TG_SCOPE_NAME
                ? "tiny kernels will trip it; 5% alone fails 97 of 100 comparisons of equal code"
                : "the smaller the value, the less a percentage means");
    }
}

/* Does everything that exceeds `a` also exceed `b`? A kind of bound is in each at most once. */
static bool limit_implies(const struct tg_limit *a, const struct tg_limit *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct tg_bound *y = &b->bound[i], *x = tg_limit_find(a, y->kind);
        if (!x || x->of_step != y->of_step || x->is_auto != y->is_auto ||
            (x->kind == TG_BOUND_MIN ? x->value > y->value : x->value < y->value))
            return false;
    }
    return b->n > 0;
}

/* A warning shows only if the failure does not take its place. */
static void lint_order(struct lint *c, const struct tg_limit_list *warn,
                       const struct tg_limit_list *fail)
{
    const struct tg_limit *by = NULL;
    for (size_t i = 0; i < warn->n; i++) {
        by = NULL;
        for (size_t k = 0; k < fail->n && !by; k++)
            by = limit_implies(&warn->v[i], &fail->v[k]) ? &fail->v[k] : NULL;
        if (!by)
            return;
    }
    if (!by)
        return;
    const struct tg_bound *w = &warn->v[warn->n - 1].bound[0];
    const struct tg_bound *f = tg_limit_find(by, w->kind);
    f = f ? f : &by->bound[0];
    (void)tg_diags_add(c->diags, TG_DIAG_WARN_ABOVE, warn->at, 1, "lower warn, or remove it",
                       "warn (%.*s) is not below fail (%.*s); it can never be seen",
                       TG_SV_ARG(w->text), TG_SV_ARG(f->text));
}

static const struct tg_limit_list *effective(const struct tg_limit_list *rule,
                                             const struct tg_limit_list *override)
{
    return override->state == TG_LIMIT_UNSET ? rule : override;
}

/* ---- overrides ---- */

static bool same_patterns(const struct tg_patterns *a, const struct tg_patterns *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!tg_sv_eq(tg_pattern_text(a->v[i]), tg_pattern_text(b->v[i])))
            return false;
    return true;
}

/* An override is asked for neither ranks, devices nor streams. */
static bool same_match(const struct tg_match *a, const struct tg_match *b)
{
    if ((a->not_ == NULL) != (b->not_ == NULL) || (a->not_ && !same_match(a->not_, b->not_)))
        return false;
    return a->kinds == b->kinds && a->classes == b->classes && a->families == b->families &&
           same_patterns(&a->name, &b->name) && same_patterns(&a->raw_name, &b->raw_name) &&
           same_patterns(&a->parent, &b->parent);
}

/* ---- patterns against names ---- */

static tg_sv nearest_name(const struct lint *c, const struct tg_pattern *p)
{
    tg_sv text = tg_pattern_text(p), found = TG_SV("");
    unsigned limit = (unsigned)(tg_sv_strip(text, "*").n / 3);
    for (size_t i = 0; i < c->n_names && limit > 0 && !tg_pattern_is_regex(p); i++) {
        /* Distance of a glob from a name: a name may be longer if the glob ends with a star. */
        tg_sv name = c->names[i];
        tg_sv core = tg_sv_strip(text, "*");
        unsigned d = tg_sv_distance(core, name, limit);
        for (size_t n = core.n ? core.n - 1 : 0; tg_sv_ends(text, TG_SV("*")) && n <= core.n + 1;
             n++) {
            unsigned distance =
                n <= name.n ? tg_sv_distance(core, (tg_sv){ name.p, n }, limit) : limit + 1;
            d = distance < d ? distance : d;
        }
        if (d <= limit) {
            found = c->names[i];
            limit = d ? d - 1 : 0;
        }
    }
    return found;
}

static void lint_patterns(struct lint *c, const struct tg_patterns *list)
{
    for (size_t i = 0; c->n_names && i < list->n; i++) {
        enum tg_hit hit = TG_HIT_NO;
        char fix[300] = "";
        for (size_t k = 0; k < c->n_names && hit == TG_HIT_NO; k++)
            hit = tg_pattern_test(list->v[i], c->names[k]);
        tg_sv text = tg_pattern_text(list->v[i]), near = nearest_name(c, list->v[i]);
        if (hit == TG_HIT_YES)
            continue;
        if (near.n)
            (void)snprintf(fix, sizeof fix, "nearest: %.*s", near.n < 250 ? (int)near.n : 250,
                           near.p);
        if (hit == TG_HIT_GAVE_UP)
            (void)tg_diags_add(c->diags, TG_DIAG_NO_MATCH, list->at[i], text.n,
                               "write a simpler one; no nested repeats",
                               "pattern '%.*s' runs out of its budget", TG_SV_ARG(text));
        else
            (void)tg_diags_add(c->diags, TG_DIAG_NO_MATCH, list->at[i], text.n, fix,
                               "pattern '%.*s' matched 0 of %zu names", TG_SV_ARG(text),
                               c->n_names);
    }
}

static void lint_match(struct lint *c, const struct tg_match *m)
{
    lint_patterns(c, &m->name);
    lint_patterns(c, &m->parent);
    if (m->not_)
        lint_match(c, m->not_);
}

/* ---- rules, waivers, all of it ---- */

/* Has a limit that noise could exceed: a change of a duration. */
static bool judges_durations(const struct tg_rule *r)
{
    bool changes = false;
    for (size_t i = 0; i < r->fail.n; i++)
        changes = changes || tg_limit_find(&r->fail.v[i], TG_BOUND_PCT) ||
                  tg_limit_find(&r->fail.v[i], TG_BOUND_ABS);
    return changes && tg_rule_metric_info(r->metric)->unit == TG_UNIT_NS &&
           r->metric != TG_RULE_METRIC_ADDED && r->metric != TG_RULE_METRIC_REMOVED;
}

static void lint_rule(struct lint *c, const struct tg_rule *r)
{
    bool on = r->warn.state == TG_LIMIT_ON || r->fail.state == TG_LIMIT_ON;
    lint_floor(c, r, &r->warn, "warn");
    lint_floor(c, r, &r->fail, "fail");
    lint_order(c, &r->warn, &r->fail);
    for (size_t i = 0; i < r->n_overrides; i++) {
        const struct tg_override *o = &r->overrides[i];
        lint_floor(c, r, &o->warn, "warn");
        lint_floor(c, r, &o->fail, "fail");
        lint_order(c, effective(&r->warn, &o->warn), effective(&r->fail, &o->fail));
        on = on || o->warn.state == TG_LIMIT_ON || o->fail.state == TG_LIMIT_ON;
        for (size_t k = i + 1; k < r->n_overrides; k++) {
            /* Does a later one repeat everything that this one sets? */
            const struct tg_override *later = &r->overrides[k];
            if (!same_match(&o->match, &later->match) || (o->has_noise && !later->has_noise) ||
                effective(&o->warn, &later->warn)->state != later->warn.state ||
                effective(&o->fail, &later->fail)->state != later->fail.state)
                continue;
            (void)tg_diags_add(c->diags, TG_DIAG_SHADOWED, o->at, 1, "remove it",
                               "the override at line %u has the same match and wins",
                               (unsigned)later->at.line);
            break;
        }
    }
    if (judges_durations(r)) {
        if (r->noise.test == TG_NOISE_NONE)
            (void)tg_diags_add(
                c->diags, TG_DIAG_NO_EVIDENCE, r->noise.at, 1, "write  test: runs",
                "durations without evidence: limits of 5%% to 20%% alone fail 87 to 99 "
                "of 100 comparisons of equal code");
        else if (r->noise.min_runs < 3)
            (void)tg_diags_add(
                c->diags, TG_DIAG_NO_EVIDENCE, r->noise.at, 1, "write  min_runs: 3",
                "durations fail at %lld run(s) a side: there even +50%% fails 34 of 100 "
                "comparisons of equal code",
                (long long)r->noise.min_runs);
    }
    if (!on)
        (void)tg_diags_add(c->diags, TG_DIAG_SILENT, r->at, r->id.n, NULL,
                           "rule '%.*s' can never warn or fail: its limits are off",
                           TG_SV_ARG(r->id));
    /* A preset's rule is for any trace: that it matches nothing here is not a mistake. */
    if (r->optional)
        return;
    lint_match(c, &r->match);
    for (size_t i = 0; i < r->n_overrides; i++)
        lint_match(c, &r->overrides[i].match);
}

/* ---- beside errors ---- */

/* Is an error reported at this node or inside it? */
static bool has_error(const struct lint *c, const struct tg_yaml *n)
{
    for (size_t i = 0; i < c->diags->n; i++) {
        const struct tg_diag *d = &c->diags->v[i];
        if (d->severity == TG_SEV_ERROR && d->at.line == n->at.line && d->at.col == n->at.col &&
            tg_loc_same_file(d->at, n->at))
            return true;
    }
    for (size_t i = 0; i < n->n; i++)
        if (n->type == TG_YAML_MAP
                ? has_error(c, n->pairs[i].key) || has_error(c, n->pairs[i].value)
                : has_error(c, n->items[i]))
            return true;
    return false;
}

/* The policy's `at`-th rule or waiver was read in part: a warning about it could be untrue. */
static bool is_refused(const struct lint *c, const char *key, size_t at)
{
    const struct tg_yaml *list = tg_yaml_get(c->policy->private_->tree, key);
    size_t k = 0;
    for (size_t i = 0; c->diags->errors && list && i < list->n; i++)
        if (list->items[i]->type == TG_YAML_MAP && k++ == at)
            return has_error(c, list->items[i]);
    return false;
}

void tg_policy_lint_window(const struct tg_suite *suite, size_t n_steps, struct tg_diags *diags)
{
    const struct tg_window *w = &suite->window;
    if ((uint64_t)(w->skip_first + w->skip_last) < n_steps)
        return;
    (void)tg_diags_add(diags, TG_DIAG_NO_STEPS, w->at, 1,
                       "lower them, or record more steps (the schedule's `active`)",
                       "skip_first and skip_last (%lld) leave no step of a trace of %zu",
                       (long long)(w->skip_first + w->skip_last), n_steps);
}

void tg_policy_lint(const struct tg_policy *p, const tg_sv *names, size_t n_names,
                    struct tg_diags *diags)
{
    struct lint c = { p, names, n_names, diags };
    for (size_t i = 0; i < p->n_rules; i++)
        if (!is_refused(&c, "rules", i))
            lint_rule(&c, &p->rules[i]);
    lint_patterns(&c, &p->require.ops);
    for (const struct tg_waiver *w = p->waivers; w < p->waivers + p->n_waivers; w++)
        if (!w->with && (tg_sv_eq(w->reason, TG_SV(TG_WAIVER_REASON)) ||
                         tg_sv_eq(w->reason, TG_SV(TG_WAIVER_UNSAID)) ||
                         tg_sv_eq(w->owner, TG_SV(TG_WAIVER_OWNER))))
            (void)tg_diags_add(diags, TG_DIAG_WAIVER_WORDS, w->at, 1,
                               "write why it is accepted, and who removes it",
                               "the waiver of '%.*s' still has the words it was written with",
                               TG_SV_ARG(w->rule));
    size_t at = 0;
    for (const struct tg_waiver *w = p->waivers; w < p->waivers + p->n_waivers; w++) {
        int64_t left = w->expires - p->today;
        if (w->with || is_refused(&c, "waivers", at++) || p->today == 0 || left > NOTICE_DAYS)
            continue;
        if (left < 0)
            (void)tg_diags_add(diags, TG_DIAG_WAIVER_EXPIRED, w->at, 1,
                               "remove it, or renew it with a reason",
                               "the waiver of '%.*s' expired %lld day(s) ago", TG_SV_ARG(w->rule),
                               (long long)-left);
        else
            (void)tg_diags_add(diags, TG_DIAG_WAIVER_EXPIRED, w->at, 1,
                               "fix what it accepts, or renew it with a reason",
                               "the waiver of '%.*s' expires in %lld day(s)", TG_SV_ARG(w->rule),
                               (long long)left);
    }
    for (size_t i = 0; i < p->n_baselines && !diags->errors; i++)
        if (!tg_policy_has_baseline(p, i + 1) && !tg_policy_is_built_in(&p->baselines[i].at))
            (void)tg_diags_add(
                diags, TG_DIAG_UNUSED_BASELINE, p->baselines[i].at, 1,
                "add  against:  to a rule, or remove the baseline",
                "no rule is against the baseline '%.*s': nothing is compared with it",
                TG_SV_ARG(p->baselines[i].name));
    if (p->n_rules == 0 && !diags->errors)
        (void)tg_diags_add(diags, TG_DIAG_NOTHING,
                           (struct tg_loc){ p->file.n ? p->file.p : NULL, 1, 1, 0 }, 1,
                           "add rules, or  extends: [tracegate:recommended]",
                           "the policy has no rules, so nothing is judged");
    tg_diags_sort(diags);
}
