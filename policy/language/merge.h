#ifndef TG_POLICY_LANGUAGE_MERGE_H
#define TG_POLICY_LANGUAGE_MERGE_H
/*
 * Layers, at the level of the tree: a later layer's keys win, as the flags of keys.h say. Nodes
 * keep the place they were written at, so the merged tree knows the origin of every value. Only the
 * spine is copied: the trees of the layers must live as long as the result.
 */
#include "policy/language/validate.h"

/*
 * `base` (NULL: no layer yet) with `layer` on top; `keys` are those of a file or of a profile. Ids
 * of `rules: {remove: [...]}` that no earlier layer has are reported, the others are added to
 * `removed`.
 */
struct tg_removed {
    tg_sv *id;
    size_t n, cap; /* release with free(id) */
};
struct tg_yaml *tg_merge(const struct tg_yaml *base, const struct tg_yaml *layer,
                         struct tg_arena *a, struct tg_removed *removed, struct tg_diags *d);
#endif
