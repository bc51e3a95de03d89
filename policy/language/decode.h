#ifndef TG_POLICY_LANGUAGE_DECODE_H
#define TG_POLICY_LANGUAGE_DECODE_H
/*
 * Merged tree -> typed policy, and every check that needs more than one value: bounds that fit the
 * metric, patterns that compile, waivers of rules that exist. Values whose shape is wrong were
 * reported by validate.h and are skipped here.
 */
#include "policy/language/merge.h"

struct tg_policy_private {
    struct tg_yaml *tree;         /* effective: all layers and the profile merged */
    struct tg_pattern **patterns; /* to be released */
    size_t n_patterns, cap_patterns;
};

/* An empty policy with its arena and private part; tg_policy_free takes it back. */
struct tg_policy *tg_policy_new(void);

/* `today`: days since 1970-01-01, 0: not checked. Mistakes go to `d`; compare d->refusals. */
void tg_decode(struct tg_policy *p, const struct tg_yaml *tree, int64_t today, struct tg_diags *d);
#endif
