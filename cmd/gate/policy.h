#ifndef TG_CMD_GATE_POLICY_H
#define TG_CMD_GATE_POLICY_H
/* The policy in force, for every command that reads one: a file, REV:PATH in git, what is found in
 * the present folder and above, or the built-in policy. */
#include "cmd/gate/inputs.h"
#include "policy/language/changes.h"
#include "policy/language/load.h"

struct tg_gate_policy_opts {
    const char *path;    /* FILE or REV:PATH; NULL: the one found here or above, else built in */
    const char *profile; /* NULL: none; "auto": by the CI event, and it may be missing */
    bool profile_may_lack;
    bool undated; /* waivers are not held against a day, nor `decisions` against this program */
    bool lint_refused; /* as in tg_policy_opts, with */
};

/*
 * NULL: err is set, and `diags` has the mistakes; with `diags` NULL they are on standard error.
 * `extends` of a file may not leave the repository, and is read from the commit of a REV:PATH.
 * Free with tg_policy_free; `a` must live as long.
 */
TG_MUST struct tg_policy *tg_gate_policy(const struct tg_gate_policy_opts *o,
                                         struct tg_diags *diags, const struct tg_io *io,
                                         struct tg_repo *repo, struct tg_arena *a,
                                         struct tg_err *err);
/* Adds what differs between two policies, read again from these places, without a profile and with
 * each that either of them has, beyond what `out` has. As above; `diags` may be NULL too. */
TG_MUST bool tg_gate_policy_profiles(struct tg_policy_changes *out, const char *const place[2],
                                     const struct tg_policy *const policy[2],
                                     struct tg_diags *diags, const struct tg_io *io,
                                     struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);
#endif
