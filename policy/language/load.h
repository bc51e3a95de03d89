#ifndef TG_POLICY_LANGUAGE_LOAD_H
#define TG_POLICY_LANGUAGE_LOAD_H
/*
 * From files to a policy: discovery, layers, checks; and everything that can be told about a policy
 * without a trace. Layers, the later one wins per key: built-in defaults, `extends:` in order, the
 * file, the profile.
 */
#include "policy/language/diag.h"
#include "policy/language/policy.h"

#define TG_POLICY_DEPTH 8     /* extends: of extends: … */
#define TG_POLICY_FILES 32    /* files of one policy */
#define TG_POLICY_PROFILES 32 /* each is checked, selected or not */

/* Reads `path` (as written here: root-relative or as given) into `out`. NULL: the file system. */
typedef bool (*tg_policy_read)(void *arg, const char *path, struct tg_buf *out, struct tg_err *err);

struct tg_policy_opts {
    const char *path;    /* the file; NULL: the built-in policy, tracegate:recommended */
    const char *root;    /* extends: may not leave it; NULL, or `path` is outside: its directory */
    const char *profile; /* NULL: no profile */
    bool profile_may_lack; /* --profile auto: it is not an error if the profile does not exist */
    int64_t today;         /* days since 1970-01-01 UTC, for waivers; 0: not checked */
    int64_t decisions; /* what this program judges by, held against the policy's; 0: not checked */
    bool lint_refused; /* a policy with errors is linted as well, without names */
    tg_policy_read read; /* NULL: the file system */
    void *read_arg;
};

/* Finds .tracegate.yml or .tracegate.yaml in `dir` or above, up to `root` (NULL: only `dir`). True
 * with *path NULL: not found. False: two in one directory, or unreadable. */
TG_MUST bool tg_policy_find(const char *dir, const char *root, struct tg_arena *a,
                            const char **path, struct tg_err *err);

/* NULL: `diags` says why (all of it) and err is TG_ERR_POLICY with the number of errors. */
TG_MUST struct tg_policy *tg_policy_load(const struct tg_policy_opts *o, struct tg_diags *diags,
                                         struct tg_err *err);

bool tg_policy_is_preset(const char *name); /* "tracegate:recommended" and its like */

/* "nightly" for schedule, "pr" for pull_request and merge_group, else NULL. */
const char *tg_policy_profile_for(const char *event);

/* The effective policy as YAML that loads again, followed by the origin of each value. */
void tg_policy_show(const struct tg_policy *p, struct tg_buf *out);

/* JSON schema (draft 2020-12) of a policy file, from the tables of the loader. */
void tg_policy_schema(struct tg_buf *out);

/* Warns if the suite's window leaves none of the steps that a trace has; before tg_policy_lint. */
void tg_policy_lint_window(const struct tg_suite *suite, size_t n_steps, struct tg_diags *diags);
/*
 * Warnings (TG2xx) about a policy, all but those of a rule or waiver that has an error. With
 * names (normalised, of real traces) it also says which patterns match none of them; n_names 0:
 * not asked. Pass the `diags` of the load: it has the source lines.
 */
void tg_policy_lint(const struct tg_policy *p, const tg_sv *names, size_t n_names,
                    struct tg_diags *diags);
#endif
