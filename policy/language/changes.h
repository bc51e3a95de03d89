#ifndef TG_POLICY_LANGUAGE_CHANGES_H
#define TG_POLICY_LANGUAGE_CHANGES_H
/*
 * How one policy differs from another, by the effective values of both: what lets more pass
 * (looser), what lets less pass (tighter), and what merely differs or cannot be decided.
 */
#include "policy/language/policy.h"

enum tg_direction { TG_LOOSER, TG_TIGHTER, TG_OTHERWISE };

struct tg_policy_change {
    enum tg_direction direction;
    tg_sv path;       /* "rules.slower.fail.pct" */
    tg_sv before, to; /* as YAML on one line; "" absent */
    struct tg_loc at; /* its place now, else its former place */
};
struct tg_policy_changes {
    struct tg_policy_change *v; /* looser first, then tighter; in the order of the grammar */
    size_t n, n_looser;
};

/* Texts live in `a`. */
void tg_policy_changes(struct tg_policy_changes *out, const struct tg_policy *before,
                       const struct tg_policy *now, struct tg_arena *a);
void tg_policy_changes_text(const struct tg_policy_changes *c, struct tg_buf *out);
#endif
