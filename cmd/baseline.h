#ifndef TG_CMD_BASELINE_H
#define TG_CMD_BASELINE_H
/* What the verbs of `tracegate baseline` share. */
#include "cmd/gate/given.h"
#include "cmd/gate/suite.h"
#include "core/baseline/remote.h"

struct tg_baseline_opts {
    const char *suite, *policy, *commit, *remote, *output, *keep_tags;
    struct tg_strs keep;
    struct tg_given given;
    bool dry_run, trust_clock, all;
};

struct tg_store_cmd {
    const struct tg_baseline_opts *o;
    struct tg_strs args; /* after the verb */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo *repo;
    struct tg_git *git;
    struct tg_store store; /* of `git` */
    struct tg_suites suites;
    struct tg_remote remote;
    struct tg_buf out; /* standard output */
};

/* The commit that was named, else HEAD. */
TG_MUST static inline bool tg_store_cmd_commit(struct tg_store_cmd *s, struct tg_commit *out,
                                               struct tg_err *err)
{
    return tg_git_resolve(s->git, s->o->commit ? s->o->commit : "HEAD", s->arena, out, err);
}
/* The suite that was named; "": all of them. */
static inline tg_sv tg_store_cmd_suite(const struct tg_store_cmd *s)
{
    return s->o->suite ? tg_sv_of(s->o->suite) : TG_SV("");
}
static inline const char *tg_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* What is stored, here or with --remote there; *foreign counts refs of another form. */
TG_MUST bool tg_store_cmd_listed(struct tg_store_cmd *s, struct tg_stored **v, size_t *n,
                                 size_t *foreign, struct tg_err *err);

/* The verbs. */
bool tg_baseline_record(struct tg_store_cmd *s, struct tg_err *err); /* baseline_record.c */
bool tg_baseline_fetch(struct tg_store_cmd *s, struct tg_err *err);  /* baseline_remote.c */
bool tg_baseline_push(struct tg_store_cmd *s, struct tg_err *err);
bool tg_baseline_list(struct tg_store_cmd *s, struct tg_err *err); /* baseline_show.c */
bool tg_baseline_show(struct tg_store_cmd *s, struct tg_err *err);
bool tg_baseline_prune(struct tg_store_cmd *s, struct tg_err *err); /* baseline_prune.c */
#endif
