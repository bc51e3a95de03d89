#ifndef TG_POLICY_LANGUAGE_INTERNAL_H
#define TG_POLICY_LANGUAGE_INTERNAL_H
/* The stages from text to policy, for the files of this room; load.c is their order. */
#include "policy/language/keys.h"
#include "policy/language/yaml.h"

/* Checks one file against the grammar of keys.h: unknown and missing keys, types, words, ranges,
 * repeated ids. Everything is reported; valid parts stay usable. */
void tg_validate_file(const struct tg_yaml *root, struct tg_diags *d);

/*
 * Layers, at the level of the tree: a later layer's keys win, as the flags of keys.h say. Nodes
 * keep the place they were written at, so the merged tree knows the origin of every value. Only the
 * spine is copied: the trees of the layers must live as long as the result.
 *
 * `base` (NULL: no layer yet) with `layer`, a file or a profile, on top. Ids of
 * `rules: {remove: [...]}` that no earlier layer has are reported, the others are added to
 * `removed`.
 */
struct tg_removed {
    tg_sv *id;
    size_t n, cap; /* release with free(id) */
};
struct tg_yaml *tg_merge(const struct tg_yaml *base, const struct tg_yaml *layer,
                         struct tg_arena *a, struct tg_removed *removed, struct tg_diags *d);

struct tg_policy_private {
    struct tg_yaml *tree;         /* effective: all layers and the profile merged */
    struct tg_pattern **patterns; /* to be released */
    size_t n_patterns, cap_patterns;
};

/* An empty policy with its arena and private part; tg_policy_free takes it back. */
struct tg_policy *tg_policy_new(void);
/*
 * Merged tree -> typed policy, and every check that needs more than one value: bounds that fit the
 * metric, patterns that compile, waivers of rules that exist. Values whose shape is wrong were
 * reported before and are skipped. `today`: days since 1970-01-01, 0: not checked. Mistakes go to
 * `d`; compare d->refusals.
 */
void tg_decode(struct tg_policy *p, const struct tg_yaml *tree, int64_t today, struct tg_diags *d);

/* A value on one line, as YAML that loads again. */
void tg_show_flow(struct tg_buf *out, const struct tg_yaml *n);
#endif
