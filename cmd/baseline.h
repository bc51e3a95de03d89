#ifndef TG_CMD_BASELINE_H
#define TG_CMD_BASELINE_H
/* What the verbs of `tracegate baseline` share. */
#include "cmd/gate/suite.h"
#include "core/baseline/remote.h"

struct tg_baseline_opts {
    const char *suite, *policy, *commit, *remote, *older_than, *output;
    struct tg_strs meta;
    int64_t keep;
    bool dry_run, runs, ranks, strict_json, allow_truncated, trust_repository;
};

struct tg_store_cmd {
    const struct tg_baseline_opts *o;
    struct tg_strs args; /* behind the verb */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo repo;
    struct tg_git *git;
    struct tg_suites suites;
    struct tg_remote remote;
    struct tg_buf out; /* standard output */
};

bool tg_store_cmd_commit(struct tg_store_cmd *s, struct tg_commit *out, struct tg_err *err);
tg_sv tg_store_cmd_suite(const struct tg_store_cmd *s); /* "": all of them */
static inline const char *tg_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* The verbs. */
bool tg_baseline_record(struct tg_store_cmd *s, struct tg_err *err); /* baseline_record.c */
bool tg_baseline_fetch(struct tg_store_cmd *s, struct tg_err *err);  /* baseline_remote.c */
bool tg_baseline_push(struct tg_store_cmd *s, struct tg_err *err);
#endif
