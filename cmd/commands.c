/* The commands, in the order of --help and the manual; `help`, which tells of them; and the way
 * from a command line to its command. */
#include <unistd.h>

#include "cmd/gate/inputs.h"
#include "cmd/gate/policy.h"
#include "cmd/gate/reading.h"
#include "cmd/help.h"
#include "cmd/options.h"
#include "policy/verdict/verdict.h"

static const struct tg_cmd cmd_help;

const struct tg_cmd *const tg_commands[] = {
    &tg_cmd_init,     &tg_cmd_check,     &tg_cmd_ab,    &tg_cmd_diff,
    &tg_cmd_analyze,  &tg_cmd_summarize, &tg_cmd_merge, &tg_cmd_baseline,
    &tg_cmd_history,  &tg_cmd_bisect,    &tg_cmd_names, &tg_cmd_policy,
    &tg_cmd_selftest, &tg_cmd_calibrate, &cmd_help,     NULL,
};

struct help_opts {
    bool man;
    enum {
        COMPLETION_NOT_GIVEN,
        COMPLETION_BASH,
        COMPLETION_ZSH,
        COMPLETION_FISH,
        COMPLETION_SUITES,
        COMPLETION_PROFILES
    } completion;
};
static const struct tg_opt help_options[] = {
    { "man", TG_OPT_FLAG, offsetof(struct help_opts, man), NULL, "print the manual page as roff" },
    { "completion", TG_OPT_CHOICE, offsetof(struct help_opts, completion),
      "bash|zsh|fish|suites|profiles",
      "print the completion of a shell; or the names of the policy here that it offers" },
    { 0 },
};

const struct tg_cmd *tg_cmd_find(const char *name, struct tg_err *err)
{
    const char *names[sizeof tg_commands / sizeof *tg_commands] = { 0 };
    for (size_t i = 0; tg_commands[i]; i++) {
        if (strcmp(tg_commands[i]->name, name) == 0)
            return tg_commands[i];
        names[i] = tg_commands[i]->name;
    }
    const char *meant = tg_sv_nearest(tg_sv_of(name), names);
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "there is no command '%s'", name);
    (void)tg_err_hint(err, "%s%s%stracegate --help lists the commands.",
                      meant ? "Did you mean " : "", meant ? meant : "", meant ? "? " : "");
    return NULL;
}

/* A policy that cannot be read offers nothing: a completion has nobody to tell. */
static void put_names(struct tg_buf *out, const struct tg_cmd_call *c, bool profiles)
{
    const struct tg_gate_policy_opts at = { .undated = true };
    struct tg_err ignored = TG_ERR_INIT;
    TG_AUTO(tg_diags_release) struct tg_diags said;
    tg_diags_init(&said);
    struct tg_policy *p = tg_gate_policy(&at, &said, c->io, c->repo, c->arena, &ignored);
    for (size_t i = 0; p && i < (profiles ? p->n_profiles : p->n_suites); i++)
        tg_buf_printf(out, "%.*s\n",
                      TG_SV_ARG(profiles ? tg_sv_of(p->profiles[i]) : p->suites[i].name));
    tg_policy_free(p);
}

static int help_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct help_opts *o = c->opts;
    const struct tg_cmd *cmd = NULL;
    TG_BUF out = { 0 };
    if (c->args->n && !(cmd = tg_cmd_find(c->args->v[0], err)))
        return 2;
    if (o->man)
        tg_help_man(&out, tg_commands);
    else if (o->completion == COMPLETION_BASH)
        tg_help_bash(&out, tg_commands);
    else if (o->completion == COMPLETION_ZSH)
        tg_help_zsh(&out, tg_commands);
    else if (o->completion == COMPLETION_FISH)
        tg_help_fish(&out, tg_commands);
    else if (o->completion)
        put_names(&out, c, o->completion == COMPLETION_PROFILES);
    else if (cmd)
        tg_help_command(&out, cmd, c->args->n > 1 ? c->args->v[1] : NULL, c->io->columns);
    else
        tg_help_overview(&out, tg_commands, c->io->columns);
    return tg_io_put(c->io, tg_buf_sv(&out), err) ? 0 : 5;
}

static const struct tg_cmd cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[COMMAND [ACTION]]",
    .about = "Without COMMAND: the list of commands and the exit codes.",
    .options = help_options,
    .opts_size = sizeof(struct help_opts),
    .run = help_run,
};

/* ---- a command line ---- */

/* A mistake in the command line says nothing about the commit: 128 and more end a bisection. */
static int usage_code(const struct tg_cmd *cmd, const char *const *argv, size_t n)
{
    for (size_t i = 0; cmd->answers_bisect && i < n && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0 &&
            tg_options_means(cmd, argv[i] + 2, cmd->answers_bisect))
            return 128 + 2;
    return 2;
}

int tg_cmd_run(const char *const *argv, size_t n, struct tg_io *io, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (n == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        (void)!write(io->err, out.p, out.n);
        return 2;
    }
    if (strcmp(argv[0], "--version") == 0)
        return tg_io_put(io, TG_SV("tracegate " TG_JUDGED_BY "\n"), err) ? 0 : 5;
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        return tg_io_put(io, tg_buf_sv(&out), err) ? 0 : 5;
    }
    const struct tg_cmd *cmd = tg_cmd_find(argv[0], err);
    if (!cmd)
        return 2;
    TG_ARENA *a = tg_arena_new();
    struct tg_global_opts common = { 0 };
    struct tg_strs args = { 0 };
    TG_AUTO(tg_repo_release) struct tg_repo repo = { 0 };
    void *opts = tg_arena_alloc(a, 1, cmd->opts_size);
    if (!tg_options_parse(cmd, argv + 1, n - 1, opts, &common, &args, a, err))
        return usage_code(cmd, argv + 1, n - 1);
    tg_io_setup(io, common.color);
    for (size_t i = 0; i < common.was.n; i++)
        tg_io_note(io, "%s", common.was.v[i]);
    if (common.help) {
        tg_help_command(&out, cmd, args.n ? args.v[0] : NULL, io->columns);
        return tg_io_put(io, tg_buf_sv(&out), err) ? 0 : 5;
    }
    if (!tg_reading_setup(common.threads, tg_io_env(io, "TRACEGATE_ISA"),
                          tg_io_env(io, "TRACEGATE_PART"), err))
        return usage_code(cmd, argv + 1, n - 1);
    return cmd->run(&(struct tg_cmd_call){ opts, &args, io, &repo, a, tg_cmd_run }, err);
}
