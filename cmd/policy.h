#ifndef TG_CMD_POLICY_H
#define TG_CMD_POLICY_H
/* What the verbs of `tracegate policy` share. A verb returns the exit code. */
#include "cmd/gate/runs.h"

struct tg_policy_cmd_opts {
    enum tg_format format;
    const char *policy, *profile, *output, *reason, *owner, *issue;
    bool strict;
};

struct tg_policy_cmd {
    const struct tg_policy_cmd_opts *o;
    const struct tg_strs *args; /* the verb is args->v[0] */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_diags diags;
    struct tg_policy *policy;
    struct tg_repo *repo;
    struct tg_input_list inputs; /* of lint and init */
    struct tg_summary summary;
};

/* The policy in force into j->policy; false: the mistakes are in j->diags. */
TG_MUST bool tg_policy_cmd_load(struct tg_policy_cmd *j, struct tg_err *err);
/* The mistakes, in the form that --format asks for. */
TG_MUST bool tg_policy_cmd_put_diags(struct tg_policy_cmd *j, struct tg_err *err);
/* The exit code of a policy that is not loaded, its mistakes told. */
int tg_policy_cmd_refused(struct tg_policy_cmd *j, struct tg_err *err);
/* The answer, into -o or standard output; releases it. */
int tg_policy_cmd_put(struct tg_policy_cmd *j, struct tg_buf *out, struct tg_err *err);

int tg_policy_cmd_explain(struct tg_policy_cmd *j, struct tg_err *err); /* policy_explain.c */
#endif
