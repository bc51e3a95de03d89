#include "core/baseline/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/host.h"
#include "core/base/temporary.h"

extern char **environ;

struct child {
    pid_t pid;
    struct tg_signals_child watched;
    bool ended; /* waited for; `status` is valid */
    int status;
    int out, err; /* our ends of the pipes; -1: closed */
    char tail[1024];
    size_t n_tail;
};

static bool listed(const char *entry, const char *const *list)
{
    for (; list && *list; list++) {
        size_t n = strcspn(*list, "=");
        if (strncmp(entry, *list, n) == 0 && entry[n] == '=')
            return true;
    }
    return false;
}

/* The strings stay where they are; only the vector is new. free() it. */
static char **environment(const struct tg_spawn *s)
{
    char *const *from = s->env ? s->env : environ;
    char **to = NULL;
    size_t n = 0, cap = 0;
    for (; *from; from++)
        if (!listed(*from, s->set) && !listed(*from, s->drop)) {
            *TG_PUSH(to, n, cap) = *from;
        }
    for (const char *const *set = s->set; set && *set; set++) {
        memcpy(TG_PUSH(to, n, cap), set, sizeof *set); /* execve's own cast: nobody writes to it */
    }
    to = tg_grow(to, &cap, n + 1, sizeof *to);
    to[n] = NULL;
    return to;
}

static int start(struct child *c, const struct tg_spawn *s, int in, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t set;
    char **env = environment(s), *const * argv;
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    int code;
#ifdef POSIX_SPAWN_SETSID
    flags |= s->foreground ? POSIX_SPAWN_SETPGROUP : POSIX_SPAWN_SETSID;
#else
    flags |= POSIX_SPAWN_SETPGROUP;
#endif
    memcpy(&argv, &s->argv, sizeof argv);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, flags);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &set);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (s->dir)
        posix_spawn_file_actions_addchdir_np(&files, s->dir);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    tg_signals_hold();
    code = posix_spawnp(&c->pid, s->argv[0], &files, &attributes, argv, env);
    c->watched.group = c->pid;
    if (!code)
        tg_signals_add_child(&c->watched);
    tg_signals_release();
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(env);
    return code;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* One readable end. False: standard output is more than was allowed. */
static bool take(struct child *c, int *fd, const struct tg_spawn *s, struct tg_buf *out,
                 size_t *taken)
{
    char chunk[65536];
    ssize_t got = read(*fd, chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (got <= 0) {
        close_end(fd);
        return true;
    }
    if (s->heard)
        s->heard(s->arg, (tg_sv){ chunk, (size_t)got });
    if (fd == &c->err) {
        /* Keeps the end of what it says: the reason stands last. */
        const char *p = chunk;
        size_t n = (size_t)got;
        size_t room = sizeof c->tail;
        if (n >= room) {
            p += n - room;
            n = room;
        }
        if (c->n_tail + n > room) {
            size_t gone = c->n_tail + n - room;
            memmove(c->tail, c->tail + gone, c->n_tail - gone);
            c->n_tail -= gone;
        }
        memcpy(c->tail + c->n_tail, p, n);
        c->n_tail += n;
        return true;
    }
    *taken += (size_t)got;
    if (!s->max_out)
        return true;
    if (*taken > s->max_out)
        return false;
    tg_buf_add(out, (tg_sv){ chunk, (size_t)got });
    return true;
}

/* Until the child has ended and the pipes are empty. A grandchild that stays (ssh's ControlPersist)
 * may hold the pipes open for ever, so their end is not waited for once the child is gone. */
static enum tg_spawn_end collect(struct child *c, const struct tg_spawn *s, struct tg_buf *out)
{
    int64_t until = tg_host_ms() + s->timeout_ms;
    size_t taken = 0;
    for (;;) {
        struct pollfd p[2] = { { .fd = c->out, .events = POLLIN },
                               { .fd = c->err, .events = POLLIN } };
        int64_t left = until - tg_host_ms();
        if (!c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
            c->ended = true;
        if (s->timeout_ms && left <= 0 && !c->ended)
            return TG_SPAWN_TIMEOUT;
        /* Data wakes poll at once; the end of the child only shows at a tick. */
        int64_t tick = c->ended ? 0 : c->out >= 0 || c->err >= 0 ? 100 : 2;
        int ready = poll(p, 2, (int)(s->timeout_ms && left < tick ? left : tick));
        if (ready < 0 && errno != EINTR)
            return TG_SPAWN_FAILED;
        if (ready == 0 && c->ended)
            return TG_SPAWN_EXIT;
        if (ready > 0 && p[0].revents && !take(c, &c->out, s, out, &taken))
            return TG_SPAWN_TOO_MUCH;
        if (ready > 0 && p[1].revents)
            (void)take(c, &c->err, s, out, &taken);
    }
}

const char *tg_shell_word(char *buf, size_t size, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/@^+:,=%-";
    size_t n = strlen(s);
    bool quotable = n + 3 <= size && !strchr(s, '\'');
    if (n && strspn(s, plain) == n)
        return s;
    for (size_t i = 0; i < n; i++)
        quotable = quotable && (unsigned char)s[i] >= 0x20 && s[i] != 0x7f;
    if (!quotable)
        return "…";
    buf[0] = '\'';
    memcpy(buf + 1, s, n);
    memcpy(buf + 1 + n, "'", 2);
    return buf;
}

/* A file without a name that holds `input`: no reader has to keep up with us. -1 with errno set. */
static int input_of(tg_sv input)
{
    FILE *f = tmpfile();
    int fd = -1;
    if (f && fwrite(input.p, 1, input.n, f) == input.n && fflush(f) == 0 &&
        lseek(fileno(f), 0, SEEK_SET) == 0)
        fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 3);
    if (f)
        (void)fclose(f);
    return fd;
}

void tg_spawn_run(const struct tg_spawn *s, struct tg_buf *out, struct tg_spawned *r)
{
    struct child c = { .pid = -1, .out = -1, .err = -1 };
    int to_out[2] = { -1, -1 }, to_err[2] = { -1, -1 }, in = -1;
    memset(r, 0, sizeof *r);
    if (s->input.n && (in = input_of(s->input)) < 0)
        r->code = errno;
    else if (pipe2(to_out, O_CLOEXEC) != 0 || pipe2(to_err, O_CLOEXEC) != 0)
        r->code = errno;
    else
        r->code = start(&c, s, in, to_out[1], to_err[1]);
    close_end(&in);
    close_end(&to_out[1]);
    close_end(&to_err[1]);
    c.out = to_out[0];
    c.err = to_err[0];
    if (r->code) {
        r->end = r->code == ENOENT ? TG_SPAWN_NOT_FOUND : TG_SPAWN_FAILED;
    } else {
        r->end = collect(&c, s, out);
        if (r->end != TG_SPAWN_EXIT)
            (void)kill(-c.pid, SIGKILL);
        while (!c.ended && waitpid(c.pid, &c.status, 0) < 0 && errno == EINTR)
            continue;
        if (r->end == TG_SPAWN_EXIT) {
            r->end = WIFEXITED(c.status) ? TG_SPAWN_EXIT : TG_SPAWN_SIGNAL;
            r->code = WIFEXITED(c.status) ? WEXITSTATUS(c.status) : WTERMSIG(c.status);
        }
        tg_signals_remove_child(&c.watched);
        size_t end = c.n_tail, begin, n;
        memcpy(r->said, c.tail, c.n_tail);
        r->said[c.n_tail] = '\0';
        while (end && (c.tail[end - 1] == '\n' || c.tail[end - 1] == '\r'))
            end--;
        for (begin = end; begin && c.tail[begin - 1] != '\n';)
            begin--;
        n = end - begin < sizeof r->last_words - 1 ? end - begin : sizeof r->last_words - 1;
        memcpy(r->last_words, c.tail + begin, n);
        r->last_words[n] = '\0';
    }
    close_end(&c.out);
    close_end(&c.err);
}
