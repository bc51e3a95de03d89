#include <unistd.h>

#include "cmd/gate/inputs.h"
#include "cmd/gate/reading.h"
#include "cmd/help.h"
#include "cmd/options.h"
#include "policy/verdict/verdict.h"

/* A mistake in the command line says nothing about the commit: 128 and more end a bisection. */
static int usage_code(const struct tg_cmd *cmd, const char *const *argv, size_t n)
{
    for (size_t i = 0; cmd->answers_bisect && i < n && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0 &&
            tg_options_means(cmd, argv[i] + 2, cmd->answers_bisect))
            return 128 + 2;
    return 2;
}

static int run_command(const struct tg_cmd *cmd, const char *const *argv, size_t n,
                       struct tg_io *io, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_global_opts common = { 0 };
    struct tg_strs args = { 0 };
    TG_AUTO(tg_repo_release) struct tg_repo repo = { 0 };
    TG_BUF help = { 0 };
    void *opts = tg_arena_alloc(a, 1, cmd->opts_size ? cmd->opts_size : 1);
    int code = usage_code(cmd, argv, n);
    if (tg_options_parse(cmd, argv, n, opts, &common, &args, a, err)) {
        tg_io_setup(io, common.color);
        for (size_t i = 0; i < common.was.n; i++)
            tg_io_note(io, "%s", common.was.v[i]);
        if (common.help) {
            const struct tg_verb *verb = args.n ? tg_verb_find(cmd, args.v[0]) : NULL;
            if (verb)
                tg_help_verb(&help, cmd, verb, io->columns);
            else
                tg_help_command(&help, cmd, io->columns);
            code = tg_io_put(io, tg_buf_sv(&help), err) ? 0 : 5;
        } else if (tg_reading_setup(common.threads, tg_io_env(io, "TRACEGATE_ISA"),
                                    tg_io_env(io, "TRACEGATE_PART"), err)) {
            code = cmd->run(&(struct tg_cmd_call){ opts, &args, io, &repo, a, tg_cmd_run }, err);
        }
    }
    return code;
}

int tg_cmd_run(const char *const *argv, size_t n, struct tg_io *io, struct tg_err *err)
{
    TG_BUF out = { 0 };
    int code = 0;
    if (n == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        (void)!write(io->err, out.p, out.n);
        return 2;
    }
    if (strcmp(argv[0], "--version") == 0)
        return tg_io_put(io, TG_SV("tracegate " TG_JUDGED_BY "\n"), err) ? 0 : 5;
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        code = tg_io_put(io, tg_buf_sv(&out), err) ? 0 : 5;
        return code;
    }
    const struct tg_cmd *cmd = tg_cmd_find(argv[0], err);
    return cmd ? run_command(cmd, argv + 1, n - 1, io, err) : 2;
}
