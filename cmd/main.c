/* tracegate: sets the process up, runs the command, prints its error, exits with its code. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/gate/io.h"
#include "core/base/temporary.h"

/* Descriptors 0 to 2 must be open, or the first report would go to the wrong one. A closed
 * one becomes /dev/null, opened for the other direction, so that using it is still an error. */
static bool keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv, char **envp)
{
    struct tg_io io = { .in = 0, .out = 1, .err = 2, .environ_ = (const char *const *)envp };
    struct tg_err err = TG_ERR_INIT;
    if (!keep_standard_descriptors())
        return 5;
    tg_signals_watch();
#ifdef M_MMAP_THRESHOLD
    /* glibc raises the first limit when large blocks are freed; the memory of one trace would then
     * stay with the process. The second is how much may stay: a trace's small blocks would be given
     * back and asked for again. */
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
    tg_io_setup(&io, TG_COLOR_DEFAULT);
    int code = tg_cmd_run((const char *const *)argv + (argc > 0), argc > 0 ? (size_t)argc - 1 : 0,
                          &io, &err);
    if (err.kind == TG_ERR_NONE && close(io.out) != 0 && errno != EBADF) {
        tg_err_set(&err, TG_ERR_OUTPUT, TG_NOWHERE, "cannot write to standard output: %s",
                   strerror(errno));
        code = tg_err_exit_code(err.kind);
    }
    if (err.kind != TG_ERR_NONE)
        tg_io_error(&io, &err);
    return code;
}
