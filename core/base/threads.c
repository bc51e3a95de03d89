#include "core/base/threads.h"

#include <sched.h>
#include <stdatomic.h>

#include "core/base/host.h"
#include "core/base/temporary.h"

/* ---- how many ---- */

static unsigned least(unsigned a, unsigned b)
{
    return !a || (b && b < a) ? b : a;
}

/* A quota in one file, "150000 100000", or in two; 0: there is none. */
static unsigned quota_in(const char *folder, bool v2, struct tg_arena *a)
{
    tg_sv period =
        tg_host_read(tg_arena_printf(a, "%s/%s", folder, v2 ? "cpu.max" : "cpu.cfs_period_us"), a);
    tg_sv quota = v2 ? tg_sv_cut(&period, ' ')
                     : tg_host_read(tg_arena_printf(a, "%s/cpu.cfs_quota_us", folder), a);
    int64_t q, p;
    if (!tg_sv_i64(tg_sv_cut(&quota, '\n'), &q) || !tg_sv_i64(tg_sv_cut(&period, '\n'), &p) ||
        q <= 0 || p <= 0)
        return 0;
    int64_t n = q / p + (q % p != 0);
    return n < TG_THREADS_MAX ? (unsigned)n : TG_THREADS_MAX;
}

unsigned tg_threads_quota(const char *root)
{
    static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/cpu",
                                          "/sys/fs/cgroup/cpu,cpuacct" };
    TG_ARENA *a = tg_arena_new();
    tg_sv lines = tg_host_read(tg_arena_printf(a, "%s/proc/self/cgroup", root), a);
    unsigned n = 0;
    while (lines.n) { /* ID:CONTROLLERS:/GROUP, no controllers for v2 */
        tg_sv group = tg_sv_cut(&lines, '\n'), controllers;
        (void)tg_sv_cut(&group, ':');
        controllers = tg_sv_cut(&group, ':');
        bool v2 = !controllers.n;
        if (!group.n || group.p[0] != '/' || (!v2 && !tg_sv_lists(controllers, ',', TG_SV("cpu"))))
            continue;
        while (group.n) { /* of the group and of all groups above it, up to the root of the mount */
            while (group.n && group.p[group.n - 1] == '/')
                group.n--;
            for (size_t i = v2 ? 0 : 1; i < (v2 ? 1 : 3); i++)
                n = least(
                    n, quota_in(tg_arena_printf(a, "%s%s%.*s", root, mounts[i], TG_SV_ARG(group)),
                                v2, a));
            while (group.n && group.p[group.n - 1] != '/')
                group.n--;
        }
    }
    return n;
}

/* The set grows until the kernel's set fits: machines can have more cores than cpu_set_t. */
static unsigned affinity(void)
{
    for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)size);
        size_t bytes = CPU_ALLOC_SIZE((size_t)size);
        int n = 0;
        if (set && sched_getaffinity(0, bytes, set) == 0)
            n = CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (n > 0)
            return (unsigned)n;
    }
    return 1;
}

unsigned tg_threads_default(void)
{
    unsigned n = least(affinity(), tg_threads_quota(""));
    return n < TG_THREADS_MAX ? n : TG_THREADS_MAX;
}

/* ---- side by side ---- */

/* Of address space; the default 8 MiB count against ulimit -v. */
#define STACK_SIZE ((size_t)2 << 20)

bool tg_threads_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    tg_signals_before_threads();
    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE);
    bool ok = pthread_create(thread, &attr, run, arg) == 0;
    (void)pthread_attr_destroy(&attr);
    return ok;
}

struct each {
    tg_task *task;
    void *arg;
    size_t n;
    atomic_size_t next;
    atomic_bool failed;
};

static void *work(void *arg)
{
    struct each *e = arg;
    while (!atomic_load(&e->failed)) {
        size_t i = atomic_fetch_add(&e->next, 1);
        if (i >= e->n)
            break;
        if (!e->task(e->arg, i))
            atomic_store(&e->failed, true);
    }
    return NULL;
}

void tg_each(unsigned threads, size_t n, tg_task *task, void *arg)
{
    struct each e = { .task = task, .arg = arg, .n = n };
    pthread_t other[TG_THREADS_MAX];
    unsigned started = 0;
    while (started + 1 < threads && started + 1 < n && started < TG_THREADS_MAX &&
           tg_threads_start(&other[started], work, &e))
        started++;
    (void)work(&e);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(other[i], NULL);
}

/* ---- one after the other ---- */

void tg_turns_wait(struct tg_turns *t, size_t i)
{
    (void)pthread_mutex_lock(&t->lock);
    while (t->next != i)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}

void tg_turns_pass(struct tg_turns *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->next++;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}
