/* A policy as it is for one of its baselines. */
#include "policy/language/defaults.h"
#include "policy/language/policy.h"

static bool is_named(const struct tg_policy *p, size_t i)
{
    for (size_t k = 0; k < p->n_rules; k++)
        if (p->rules[k].against & 1u << i)
            return true;
    return false;
}

bool tg_policy_has_baseline(const struct tg_policy *p, size_t i)
{
    bool any = false;
    for (size_t k = 0; i == 0 && k <= p->n_baselines; k++)
        any = any || is_named(p, k);
    return is_named(p, i) || (i == 0 && !any);
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
