#ifndef TG_TESTS_CMD_GATE_JOB_H
#define TG_TESTS_CMD_GATE_JOB_H
/* One suite of a check on its way, in a throw-away repository ("w" in the box), so that a stage of
 * it can be called by itself. The test is in the repository's folder. */
#include "tests/core/baseline/gitbox.h"

#include <fcntl.h>

#include "cmd/gate/internal.h"
#include "core/baseline/store.h"

#define PATH_POLICY                                                                                \
    "version: 1\nsuites: [{name: main, trace: 'out.json', baseline: 'perf/base.json'}]\n"
#define STORED_POLICY "version: 1\nsuites: [{name: main, trace: 'out.json'}]\n"

struct job {
    const struct box *box;
    struct tg_check c;
    struct tg_check_job j;
    struct tg_check_opts o;
    struct tg_strs args;
    struct tg_io io;
    const char *environ_[4];
    struct tg_err err;
    const char *folder; /* in the repository; NULL: its root */
};

/* A repository on main with a commit for each of `scripts`, NULL at the end; nothing else. */
static inline void job_repository(const struct box *b, const char *const *scripts)
{
    box_sh(b, "rm -rf w; git init -q -b main w; mkdir w/perf");
    for (; *scripts; scripts++)
        box_sh(b,
               tg_arena_printf(b->a, "cd w\n%s\ngit add -A; git commit -q --allow-empty -m commit",
                               *scripts));
}

/* Under the policy in the work tree (NULL: what is there; "": none); all options may be set
 * before. */
static inline void job_open(struct job *k, const struct box *b, const char *policy)
{
    assert_int_equal(chdir(box_path(b, "w")), 0);
    tg_err_init(&k->err);
    k->box = b;
    k->io = (struct tg_io){ .in = -1, .environ_ = k->environ_ };
    assert_int_equal(chdir(k->folder ? k->folder : "."), 0);
    k->io.out = open(box_path(b, "stdout"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    k->io.err = open(box_path(b, "stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (policy)
        (void)unlink(".tracegate.yml");
    if (policy && *policy)
        assert_no_error(tg_file_write(".tracegate.yml", tg_sv_of(policy), &k->err), &k->err);
    k->c = (struct tg_check){ .o = &k->o, .args = &k->args, .io = &k->io, .arena = b->a };
    k->c.suites = (struct tg_suites){ .io = &k->io, .repo = &k->c.repo, .arena = b->a };
    assert_no_error(tg_suites_load(&k->c.suites, k->o.policy, k->o.profile, &k->err), &k->err);
    assert_no_error(tg_suites_choose(&k->c.suites, NULL, TG_SUITES_ALL, &k->err), &k->err);
    k->j.suite = k->c.suites.v[0];
    k->j.policy = tg_policy_against(k->c.suites.policy, 0, b->a);
    k->j.first = true;
    k->j.named = k->o.baseline.n > 0;
    k->j.outputs.standard = k->io.out;
}

static inline void job_close(struct job *k)
{
    tg_outputs_release(&k->j.outputs);
    tg_policy_free(k->c.suites.policy);
    tg_repo_release(&k->c.repo);
    (void)close(k->io.out);
    (void)close(k->io.err);
    assert_int_equal(chdir("/"), 0);
    *k = (struct job){ 0 };
}

static inline struct tg_cmd_call job_call(struct job *k, const struct tg_strs *args)
{
    return (struct tg_cmd_call){ NULL, args, &k->io, &k->c.repo, k->box->a, NULL };
}

static inline struct tg_git *job_git(struct job *k)
{
    struct tg_git *git = tg_repo_get(&k->c.repo, &k->err);
    assert_no_error(git != NULL, &k->err);
    return git;
}

static inline struct tg_commit job_commit(struct job *k, const char *rev)
{
    struct tg_commit c;
    assert_no_error(tg_git_resolve(job_git(k), rev, k->box->a, &c, &k->err), &k->err);
    return c;
}

/* Stores a run of a suite at a commit. */
static inline void job_store(struct job *k, const char *suite, const char *rev, const char *bytes)
{
    struct tg_store store = tg_store_open(job_git(k));
    struct tg_commit at = job_commit(k, rev);
    struct tg_stored out;
    bool created;
    assert_no_error(tg_store_record(&store, tg_sv_of(suite), at.sha, tg_sv_of(bytes), k->box->a,
                                    &out, &created, &k->err),
                    &k->err);
    assert_true(created);
}

/* What has been written to a file of the box. */
static inline const char *job_text(struct job *k, const char *name)
{
    return box_line(k->box, tg_arena_printf(k->box->a, "tr '\\n' ' ' < %s", name));
}

static inline void is_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
}

static inline void is_text(tg_sv got, const char *want)
{
    assert_sv_equal(got, tg_sv_of(want));
}
#endif
