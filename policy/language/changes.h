#ifndef TG_POLICY_LANGUAGE_CHANGES_H
#define TG_POLICY_LANGUAGE_CHANGES_H
/*
 * How one policy differs from another, by the effective values of both and the directions that
 * keys.c gives to each key. What the texts do not decide, such as which of two globs matches
 * more, may be looser: whoever reviews the change decides.
 */
#include "policy/language/keys.h"

struct tg_policy_change {
    enum tg_direction direction;
    tg_sv path;       /* "rules.slower.fail.pct" */
    tg_sv before, to; /* as YAML on one line; "" absent */
    struct tg_loc at; /* its place now, else its former place */
    bool elsewhere;   /* only with another profile than the selected one */
    bool item;        /* a whole rule, suite, waiver …, which only one of the two has */
};
struct tg_policy_changes {
    struct tg_policy_change *v; /* by direction, those elsewhere last, then by path */
    size_t n, n_looser;         /* looser: those that may be included, the first of `v` */
};

/* Texts live in `a`. */
void tg_policy_changes(struct tg_policy_changes *out, const struct tg_policy *before,
                       const struct tg_policy *now, struct tg_arena *a);
/* Adds those of `more`, with this profile selected, that `out` does not have:
 * "profiles.pr.rules.slower.fail". NULL: without a profile; the path stays as it is. */
void tg_policy_changes_add(struct tg_policy_changes *out, const struct tg_policy_changes *more,
                           const char *profile, struct tg_arena *a);
void tg_policy_changes_text(const struct tg_policy_changes *c, struct tg_buf *out);
#endif
