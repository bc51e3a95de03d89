#include <stdio.h>

#include "policy/language/internal.h"
#include "policy/language/limit.h"
#include "policy/language/value.h"

/* Days a waiver may run; longer is a policy change, not a waiver. */
enum { MAX_WAIVER_DAYS = 180 };

static const struct tg_rule *find_rule(const struct tg_policy *p, tg_sv id)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_sv_eq(p->rules[i].id, id))
            return &p->rules[i];
    return NULL;
}

static const struct tg_rule *waived_rule(struct tg_decode *c, const struct tg_yaml *n)
{
    const char **names = TG_NEW_N(c->arena, const char *, c->policy->n_rules + 1);
    const struct tg_rule *r = n ? find_rule(c->policy, n->text) : NULL;
    for (size_t i = 0; n && i < c->policy->n_removed; i++)
        if (tg_sv_eq(c->policy->removed[i], n->text))
            return NULL; /* dropped by a later layer: nothing is left to waive */
    if (!n || r)
        return r;
    if (tg_sv_eq(n->text, TG_SV("account"))) {
        /* Not a rule of a file; its failures are waived as those of a rule about the step's
         * time. */
        struct tg_rule *account = TG_NEW(c->arena, struct tg_rule);
        *account = (struct tg_rule){ .id = TG_SV("account"), .metric = TG_RULE_METRIC_STEP_TIME };
        return account;
    }
    const char *fix = "a preset's rules come with  extends: [tracegate:recommended]";
    for (size_t i = 0; i < c->policy->n_rules; i++) {
        names[i] = c->policy->rules[i].id.p;
        if (tg_policy_is_built_in(&c->policy->rules[i].at))
            fix = NULL;
    }
    const char *near = tg_sv_nearest(n->text, names);
    tg_yaml_mistake(c->diags, TG_DIAG_RULE_UNKNOWN, n,
                    near ? tg_arena_printf(c->arena, "did you mean '%s'?", near) : fix,
                    "there is no rule '%s' to waive", n->text.p);
    return NULL;
}

/* What is accepted, and up to where: of a waiver, or of a name in its `with`. */
static void accepted_of(struct tg_decode *c, const struct tg_yaml *n, const struct tg_rule *r,
                        struct tg_waiver *w)
{
    const struct tg_yaml *name = tg_node_scalar(n, "name"), *ceiling = tg_yaml_get(n, "ceiling");
    bool too_long = name && name->text.n > TG_PATTERN_MAX; /* for a pattern */
    w->many = tg_node_true(n, "many");
    w->name_text = tg_node_text(n, "name");
    w->name = name && !too_long ? tg_decode_pattern(c, name, name->text) : NULL;
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
static size_t waiver_of(struct tg_decode *c, const struct tg_yaml *n, struct tg_waiver *w)
{
    const struct tg_rule *r = waived_rule(c, tg_node_scalar(n, "rule"));
    const struct tg_yaml *with = tg_node_list(n, "with");
    size_t names = 1;
    w->at = n->at;
    w->rule = tg_node_text(n, "rule");
    w->reason = tg_node_text(n, "reason");
    w->issue = tg_node_text(n, "issue");
    w->owner = tg_node_text(n, "owner");
    w->when = tg_decode_when(c, tg_yaml_get(n, "when"));
    accepted_of(c, n, r, w);
    const struct tg_yaml *expiry = tg_node_scalar(n, "expires");
    if (expiry && tg_value_date(expiry->text, &w->expires)) {
        w->expires_text = expiry->text;
        if (c->today != 0 && !(w->expires <= c->today + MAX_WAIVER_DAYS)) {
            char last[16], fix[64];
            tg_value_date_text(c->today + MAX_WAIVER_DAYS, last);
            (void)snprintf(fix, sizeof fix, "the last day allowed is %s", last);
            tg_yaml_mistake(c->diags, TG_DIAG_WAIVER_EXPIRES, expiry, fix,
                            "waiver needs 'expires' at most %d days ahead (got %s)",
                            MAX_WAIVER_DAYS, expiry->text.p);
        }
    }
    for (size_t i = 0; with && i < with->n; i++)
        if (with->items[i]->type == TG_YAML_MAP) {
            w[names] = w[0];
            w[names].with = true;
            accepted_of(c, with->items[i], r, &w[names++]);
        }
    return names;
}

static size_t names_of(const struct tg_yaml *waiver)
{
    const struct tg_yaml *with = tg_node_list(waiver, "with");
    return 1 + (with ? with->n : 0);
}

void tg_decode_waivers(struct tg_decode *c, const struct tg_yaml *n)
{
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++)
        count += names_of(n->items[i]);
    struct tg_waiver *v = TG_NEW_N(c->arena, struct tg_waiver, count + 1);
    count = 0;
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i]->type == TG_YAML_MAP)
            count += waiver_of(c, n->items[i], &v[count]);
    c->policy->waivers = v;
    c->policy->n_waivers = count;
    c->policy->waivers_at = n->at;
}
