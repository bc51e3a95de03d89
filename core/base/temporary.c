#include "core/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)2 << 20)

/*
 * The one list of the process, because signals are the process's, too. Whoever holds the lock
 * allocates nothing: running out of memory takes the lock itself. Nothing here calls tg_xmalloc,
 * which ends the process through tg_temporary_remove_all.
 */
struct temporary {
    struct temporary *next;
    char *name;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* recursive from tg_signals_watch on */
static struct temporary *all;
static struct tg_signals_child *children;
static void (*last)(void *);
static void *last_arg;

static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU };

static atomic_bool to_be_watched; /* and there is one thread */

void tg_signals_hold(void)
{
    tg_signals_before_threads();
    (void)pthread_mutex_lock(&lock);
}

void tg_signals_release(void)
{
    (void)pthread_mutex_unlock(&lock);
}

void tg_signals_at_end(void (*f)(void *), void *arg)
{
    tg_signals_hold();
    last = f;
    last_arg = arg;
    tg_signals_release();
}

/* ---- files ---- */

static char *name_beside(const char *target)
{
    const char *slash = strrchr(target, '/');
    size_t dir = slash ? (size_t)(slash + 1 - target) : 0, n = strlen(target);
    char *name = malloc(n + 16);
    if (!name)
        return NULL;
    memcpy(name, target, dir);
    (void)snprintf(name + dir, n - dir + 16, ".%s.tg-XXXXXX", target + dir);
    return name;
}

char *tg_temporary_open(const char *target, int *fd)
{
    struct temporary *t = malloc(sizeof *t);
    if (!t || !(t->name = name_beside(target))) {
        free(t);
        errno = ENOMEM;
        return NULL;
    }
    tg_signals_hold();
    *fd = mkostemp(t->name, O_CLOEXEC);
    int code = errno;
    if (*fd >= 0) {
        t->next = all;
        all = t;
    }
    tg_signals_release();
    if (*fd >= 0) {
        mode_t mask = umask(0);
        (void)umask(mask);
        (void)fchmod(*fd, 0666 & ~mask);
        return t->name;
    }
    free(t->name);
    free(t);
    errno = code;
    return NULL;
}

/* Takes it from the list; the lock is held. */
static struct temporary *unlist(const char *name)
{
    struct temporary **at = &all, *t;
    while (*at && (*at)->name != name)
        at = &(*at)->next;
    t = *at;
    if (t)
        *at = t->next;
    return t;
}

bool tg_temporary_keep(char *name, const char *target)
{
    struct temporary *t = NULL;
    tg_signals_hold();
    int code = rename(name, target) == 0 ? 0 : errno;
    if (code == 0)
        t = unlist(name);
    tg_signals_release();
    errno = code;
    if (code)
        return false;
    free(t);
    free(name);
    return true;
}

void tg_temporary_remove(char *name)
{
    if (!name)
        return;
    tg_signals_hold();
    (void)unlink(name);
    struct temporary *t = unlist(name);
    tg_signals_release();
    free(t);
    free(name);
}

void tg_temporary_remove_all(void)
{
    (void)pthread_mutex_lock(&lock); /* for good */
    for (const struct temporary *t = all; t; t = t->next)
        (void)unlink(t->name);
}

/* ---- programs that were started ---- */

void tg_signals_add_child(struct tg_signals_child *c)
{
    c->next = children;
    children = c;
}

void tg_signals_remove_child(struct tg_signals_child *c)
{
    struct tg_signals_child **at = &children;
    tg_signals_hold();
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    tg_signals_release();
}

enum { CHILD_TICK_MS = 10, CHILD_TICKS = 500 }; /* they get 5 s */

/* Whoever started them reaps them. The lock is held. */
static void end_children(int signal_)
{
    const struct timespec tick = { .tv_nsec = CHILD_TICK_MS * 1000000L };
    for (const struct tg_signals_child *c = children; c; c = c->next)
        (void)kill(-c->group, signal_);
    for (const struct tg_signals_child *c = children; c; c = c->next) {
        for (int i = 0; i < CHILD_TICKS && kill(-c->group, 0) == 0; i++)
            (void)nanosleep(&tick, NULL);
        (void)kill(-c->group, SIGKILL);
    }
}

/* ---- signals ---- */

static void watched(sigset_t *set)
{
    struct sigaction now;
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
            sigaddset(set, ends[i]);
}

/* An ordinary thread, so that nothing here must be safe in a signal handler. */
static void *wait_for_the_end(void *arg)
{
    sigset_t set;
    int received;
    (void)arg;
    watched(&set);
    while (sigwait(&set, &received) != 0)
        continue;
    tg_temporary_remove_all();
    end_children(received);
    if (last)
        last(last_arg);
    sigemptyset(&set);
    sigaddset(&set, received);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(received); /* its default ends the process, with the status that a shell expects */
    return NULL;
}

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

/* A library that does not expect an allocation to fail (libgit2 1.5) must not look like anything
 * but an internal error. Nothing here may lock or allocate. */
static void crashed(int signal_)
{
    static const char text[] = "tracegate: internal error: it crashed, which usually means that "
                               "memory ran out; there is no verdict\n";
    (void)signal_;
    for (const struct temporary *t = all; t; t = t->next)
        (void)unlink(t->name);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(5);
    _exit(5);
}

/* A sanitizer's own handlers stay. */
static void watch_crashes(void)
{
    static char room[65536]; /* the stack may be what ran out */
    const stack_t other = { .ss_sp = room, .ss_size = sizeof room };
    const struct sigaction ours = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER };
    struct sigaction now;
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(crashes[i], &ours, NULL);
}

void tg_signals_watch(void)
{
    /* The thread that ends the process holds the lock for good, and may still start programs. */
    pthread_mutexattr_t how;
    (void)pthread_mutexattr_init(&how);
    (void)pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&lock, &how);
    (void)pthread_mutexattr_destroy(&how);
    watch_crashes();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    atomic_store(&to_be_watched, true);
}

/* As tg_threads_start, which is a caller. */
static bool start_waiting(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attr, wait_for_the_end, NULL) == 0;
    (void)pthread_attr_destroy(&attr);
    return ok;
}

void tg_signals_before_threads(void)
{
    sigset_t set;
    if (!atomic_exchange(&to_be_watched, false))
        return;
    watched(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (!start_waiting())
        (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
