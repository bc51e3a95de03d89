/*
 * tracegate: finds the command, parses its options, runs it, prints its error, exits with its code.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "cmd/gate/io.h"
#include "cmd/gate/reading.h"
#include "cmd/help.h"
#include "cmd/options.h"
#include "policy/verdict/verdict.h"
#include "core/base/temporary.h"

/*
 * Descriptors 0 to 2 must be open, or the first report would land in the wrong one. What was
 * closed becomes /dev/null, opened the wrong way round, so that using it is still an error.
 */
static bool keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* glibc raises this limit with what is freed; then what one trace needed stays with the process. */
static void give_memory_back(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

static int run_command(const struct tg_cmd *cmd, const char *const *argv, size_t n,
                       struct tg_io *io, struct tg_err *err)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_global_opts common = { 0 };
    struct tg_strs args = { 0 };
    struct tg_buf help = { 0 };
    void *opts = tg_arena_alloc(a, 1, cmd->opts_size ? cmd->opts_size : 1);
    int code = 2;
    if (tg_options_parse(cmd, argv, n, opts, &common, &args, a, err)) {
        tg_io_setup(io, common.color);
        if (common.help) {
            tg_help_command(&help, cmd, io->columns);
            code = tg_io_put(io, tg_buf_sv(&help), err) ? 0 : 5;
        } else if (tg_reading_setup(common.threads, tg_io_env(io, "TRACEGATE_ISA"),
                                    tg_io_env(io, "TRACEGATE_PART"), err)) {
            code = cmd->run(opts, &args, io, err);
        }
    }
    tg_buf_release(&help);
    tg_arena_free(a);
    return code;
}

static int dispatch(const char *const *argv, size_t n, struct tg_io *io, struct tg_err *err)
{
    const struct tg_cmd *cmd;
    struct tg_buf out = { 0 };
    int code = 0;
    if (n == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        (void)!write(io->err, out.p, out.n);
        tg_buf_release(&out);
        return 2;
    }
    if (strcmp(argv[0], "--version") == 0)
        return tg_io_put(io, TG_SV("tracegate " TG_JUDGED_BY "\n"), err) ? 0 : 5;
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tg_help_overview(&out, tg_commands, io->columns);
        code = tg_io_put(io, tg_buf_sv(&out), err) ? 0 : 5;
        tg_buf_release(&out);
        return code;
    }
    cmd = tg_cmd_find(argv[0], err);
    return cmd ? run_command(cmd, argv + 1, n - 1, io, err) : 2;
}

int main(int argc, char **argv, char **envp)
{
    struct tg_io io = { .in = 0, .out = 1, .err = 2, .environ_ = (const char *const *)envp };
    struct tg_err err;
    int code;
    tg_err_init(&err);
    if (!keep_standard_descriptors())
        return 5;
    tg_signals_watch();
    give_memory_back();
    tg_io_setup(&io, TG_COLOR_DEFAULT);
    code = dispatch((const char *const *)argv + (argc > 0), argc > 0 ? (size_t)argc - 1 : 0, &io,
                    &err);
    if (err.kind == TG_ERR_NONE && close(io.out) != 0 && errno != EBADF) {
        tg_err_set(&err, TG_ERR_OUTPUT, TG_NOWHERE, "cannot write to standard output: %s",
                   strerror(errno));
        code = tg_err_exit_code(err.kind);
    }
    if (err.kind != TG_ERR_NONE)
        tg_io_error(&io, &err);
    return code;
}
