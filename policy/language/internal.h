#ifndef TG_POLICY_LANGUAGE_INTERNAL_H
#define TG_POLICY_LANGUAGE_INTERNAL_H
/*
 * The parts of tg_decode, for its files; all others include decode.h:
 *
 *   decode.c          the order of sections; baseline, require, aliases, report
 *   decode_match.c    patterns, `match`, `when`
 *   decode_rule.c     rules with limits, noise, overrides, exceptions
 *   decode_suite.c    suites, windows, where the baseline comes from
 *   decode_waiver.c   waivers of rules that exist
 *
 * Each reads one section of the merged tree with node.h. A mistake goes to `diags`, and what is
 * right is kept.
 */
#include "policy/language/decode.h"
#include "policy/language/node.h"

struct tg_decode {
    struct tg_policy *policy;
    struct tg_arena *arena;
    struct tg_diags *diags;
    int64_t today; /* days since 1970-01-01; 0: not checked */
};

/* NULL: it does not compile, which is reported. Released with the policy. */
struct tg_pattern *tg_decode_pattern(struct tg_decode *c, const struct tg_yaml *n, tg_sv text);
struct tg_patterns tg_decode_patterns(struct tg_decode *c, const struct tg_yaml *n);
struct tg_match tg_decode_match(struct tg_decode *c, const struct tg_yaml *n);
struct tg_when tg_decode_when(struct tg_decode *c, const struct tg_yaml *n);

/* `base`: what keys mean that `n` does not have. */
struct tg_noise tg_decode_noise(struct tg_decode *c, const struct tg_yaml *n,
                                const struct tg_noise *base);
void tg_decode_rules(struct tg_decode *c, const struct tg_yaml *n);
void tg_decode_suites(struct tg_decode *c, const struct tg_yaml *n);
void tg_decode_waivers(struct tg_decode *c, const struct tg_yaml *n); /* after the rules */
#endif
