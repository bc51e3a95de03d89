#ifndef TG_BASE_THREADS_H
#define TG_BASE_THREADS_H
/* Threads: how many the process may use, and tasks side by side. */
#include <pthread.h>

#include "core/base/sv.h"

#define TG_THREADS_MAX 256u

/* Cores of the process: its affinity, and the quota of its cgroup rounded up. 1..TG_THREADS_MAX. */
unsigned tg_threads_default(void);
/*
 * The quota alone, in whole cores; 0: no quota. `root` is put before /proc and /sys ("" on a real
 * machine). Reads cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us); the smallest quota of a group and
 * those above it counts.
 */
unsigned tg_threads_quota(const char *root);

/* False if no thread can be started (a limit of memory or of processes): go on without it. */
TG_MUST bool tg_threads_start(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * Calls task(arg, i) for i = 0..n-1, in this order, at most `threads` at a time, the caller's
 * thread included. After a task has returned false, no further task starts. Returns when all
 * started tasks have ended, so the smallest failed `i` is the one that a single thread would meet.
 */
typedef bool tg_task(void *arg, size_t i);
void tg_each(unsigned threads, size_t n, tg_task *task, void *arg);

/* Runs the critical part of tg_each tasks one after the other, in the order of their numbers: each
 * task, failed or not, waits for its turn and passes it on. */
struct tg_turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next;
};
#define TG_TURNS                                                                                   \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                                     \
    }
void tg_turns_wait(struct tg_turns *t, size_t i);
void tg_turns_pass(struct tg_turns *t);
#endif
