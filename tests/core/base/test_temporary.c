#include "core/base/temporary.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/support.h"

static char folder[] = "/tmp/tg-temporary-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

TEST(kept_or_removed)
{
    struct stat st;
    int fd;
    char *name = tg_temporary_open(in_folder("a"), &fd), before[128];
    assert_non_null(name);
    (void)snprintf(before, sizeof before, "%s", name);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~022);
    assert_true(tg_temporary_keep(name, in_folder("a")));
    assert_true(there(in_folder("a")) && !there(before));
    (void)close(fd);
    name = tg_temporary_open(in_folder("b"), &fd);
    assert_non_null(name);
    (void)snprintf(before, sizeof before, "%s", name);
    tg_temporary_remove(name);
    assert_true(!there(before) && !there(in_folder("b")));
    (void)close(fd);
    tg_temporary_remove(NULL);
}

TEST(a_folder_that_is_missing)
{
    int fd;
    errno = 0;
    assert_null(tg_temporary_open(in_folder("none/a"), &fd));
    assert_int_equal(errno, ENOENT);
}

/* A rename that fails leaves the file for another try, or for its removal. */
TEST(a_target_that_is_a_folder)
{
    int fd;
    char *name = tg_temporary_open(in_folder("c"), &fd);
    assert_non_null(name);
    assert_int_equal(mkdir(in_folder("d"), 0700), 0);
    assert_false(tg_temporary_keep(name, in_folder("d")));
    assert_true(there(name));
    tg_temporary_remove(name);
    assert_int_equal(rmdir(in_folder("d")), 0);
    (void)close(fd);
}

/* What a child leaves that opens two files, keeps one, and is sent `sig`; its status. */
static int child(int sig, bool ignored, char *left, size_t size)
{
    int pipe_[2], status;
    pid_t pid;
    assert_int_equal(pipe(pipe_), 0);
    pid = fork();
    if (pid == 0) {
        int fd;
        char *kept, *open_;
        if (ignored)
            (void)signal(sig, SIG_IGN);
        tg_signals_watch();
        kept = tg_temporary_open(in_folder("kept"), &fd);
        if (!kept || !tg_temporary_keep(kept, in_folder("kept")) ||
            !(open_ = tg_temporary_open(in_folder("open"), &fd)))
            _exit(9);
        (void)!write(pipe_[1], open_, strlen(open_) + 1);
        (void)kill(getpid(), sig);
        if (!ignored)
            for (;;)
                (void)pause();
        tg_temporary_remove_all();
        _exit(0);
    }
    (void)close(pipe_[1]);
    left[0] = '\0';
    assert_true(read(pipe_[0], left, size) > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(pipe_[0]);
    return status;
}

TEST(signals_remove_what_is_not_kept)
{
    static const int sent[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
    char left[256];
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        int status = child(sent[i], false, left, sizeof left);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), sent[i]);
        assert_false(there(left));
        assert_true(there(in_folder("kept")));
        assert_int_equal(unlink(in_folder("kept")), 0);
    }
}

TEST(an_ignored_signal_stays_ignored)
{
    char left[256];
    int status = child(SIGHUP, true, left, sizeof left);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(there(left));
    assert_int_equal(unlink(in_folder("kept")), 0);
}

static int make_folder(void **state)
{
    (void)state;
    (void)umask(022);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(in_folder("a"));
    return rmdir(folder); /* fails where anything was left */
}

int main(void)
{
    return run_registered(NULL, make_folder, remove_folder);
}
