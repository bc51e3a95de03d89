#ifndef TG_POLICY_LANGUAGE_LIMIT_H
#define TG_POLICY_LANGUAGE_LIMIT_H
/* `warn:`, `fail:` and `ceiling:` of a tree -> limits: numbers with units that fit the metric, and
 * bounds that mean something for it. Mistakes go to `d`; what is right is kept. */
#include "policy/language/policy.h"
#include "policy/language/yaml.h"

/* `info` NULL (the metric is unknown, which was reported): bounds are not checked. */
struct tg_limit_list tg_limit_list_of(const struct tg_yaml *n,
                                      const struct tg_rule_metric_info *info, struct tg_arena *a,
                                      struct tg_diags *d);
/* One mapping. False: nothing in it is usable. */
bool tg_limit_of(const struct tg_yaml *n, const struct tg_rule_metric_info *info,
                 struct tg_arena *a, struct tg_diags *d, struct tg_limit *out);

/* Budgets, `max` and `min`, ask the fresh side alone. */
bool tg_limit_is_budget(const struct tg_limit *l);
/* Are all limits that are on budgets? False if none is on. */
bool tg_limit_lists_are_budgets(const struct tg_limit_list *warn, const struct tg_limit_list *fail);
/* The same of a rule and its overrides; is any of them one? */
bool tg_rule_is_budget(const struct tg_rule *r);
bool tg_rule_has_budget(const struct tg_rule *r);
/* In which direction it may be violated, overrides included: by a change, and by its budgets. */
struct tg_directions {
    bool up, down;
} tg_rule_directions(const struct tg_rule *r);

/* NULL: the limit has no such bound. */
const struct tg_bound *tg_limit_find(const struct tg_limit *l, enum tg_bound_kind kind);
#endif
