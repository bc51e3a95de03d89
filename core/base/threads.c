#include "core/base/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/base/temporary.h"

/* ---- how many ---- */

#define PATH_SIZE 4352 /* PATH_MAX and our own part of it */

/* The first `size` - 1 bytes of a small kernel file; false: it does not exist. */
static bool read_text(char *to, size_t size, const char *root, const char *dir, const char *group,
                      const char *file)
{
    char path[PATH_SIZE];
    FILE *f;
    int length = snprintf(path, sizeof path, "%s%s%s/%s", root, dir, group, file);
    if (length < 0 || (size_t)length >= sizeof path || !(f = fopen(path, "re")))
        return false;
    size_t n = fread(to, 1, size - 1, f);
    to[n] = '\0';
    (void)fclose(f);
    return true;
}

static unsigned cores(int64_t quota, int64_t period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    int64_t n = quota / period + (quota % period != 0);
    return n < TG_THREADS_MAX ? (unsigned)n : TG_THREADS_MAX;
}

/* "150000 100000", or "max 100000" */
static unsigned quota_v2(const char *root, const char *group)
{
    char text[64];
    int64_t q, p;
    if (!read_text(text, sizeof text, root, "/sys/fs/cgroup", group, "cpu.max"))
        return 0;
    tg_sv period = tg_sv_of(text);
    period.n = strcspn(text, "\n");
    tg_sv quota = tg_sv_cut(&period, ' ');
    return tg_sv_i64(quota, &q) && tg_sv_i64(period, &p) ? cores(q, p) : 0;
}

static unsigned quota_v1(const char *root, const char *group)
{
    static const char *const dirs[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct" };
    for (size_t i = 0; i < 2; i++) {
        char quota[32], period[32];
        int64_t q, p;
        if (!read_text(quota, sizeof quota, root, dirs[i], group, "cpu.cfs_quota_us") ||
            !read_text(period, sizeof period, root, dirs[i], group, "cpu.cfs_period_us"))
            continue;
        quota[strcspn(quota, "\n")] = period[strcspn(period, "\n")] = '\0';
        return tg_sv_i64(tg_sv_of(quota), &q) && tg_sv_i64(tg_sv_of(period), &p) ? cores(q, p) : 0;
    }
    return 0;
}

static unsigned least(unsigned a, unsigned b)
{
    return !a || (b && b < a) ? b : a;
}

/* The quota of a group and of all groups above it, up to the root of the mount. */
static unsigned quota_of(const char *root, char *group,
                         unsigned (*quota)(const char *root, const char *group))
{
    unsigned n = 0;
    for (;;) {
        char *slash = strrchr(group, '/');
        if (slash && !slash[1]) { /* "/" is the root itself */
            *slash = '\0';
            continue;
        }
        n = least(n, quota(root, group));
        if (!slash)
            return n;
        *slash = '\0';
    }
}

unsigned tg_threads_quota(const char *root)
{
    char text[16384];
    unsigned n = 0;
    if (!read_text(text, sizeof text, root, "/proc/self", "", "cgroup"))
        return 0;
    tg_sv lines = tg_sv_of(text);
    while (lines.n) { /* ID:CONTROLLERS:/GROUP, no controllers for v2 */
        tg_sv group = tg_sv_cut(&lines, '\n'), controllers;
        char path[4096];
        (void)tg_sv_cut(&group, ':');
        controllers = tg_sv_cut(&group, ':');
        if (!group.n || group.p[0] != '/' || group.n >= sizeof path)
            continue;
        memcpy(path, group.p, group.n);
        path[group.n] = '\0';
        if (!controllers.n)
            n = least(n, quota_of(root, path, quota_v2));
        else if (tg_sv_lists(controllers, ',', TG_SV("cpu")))
            n = least(n, quota_of(root, path, quota_v1));
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

#define STACK_SIZE                                                                                 \
    ((size_t)2 << 20) /* of address space; the default 8 MiB count against ulimit -v */

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
