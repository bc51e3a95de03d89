/* How many threads: quotas as the kernel writes them, in a folder that stands in for / */
#include "core/base/threads.h"

#include <stdatomic.h>

#include "core/base/arena.h"
#include "tests/support.h"

struct file {
    const char *path, *text;
};

/* The files below a new folder, which becomes the first of `made`. */
static void make_file(const char *root, const struct file *f)
{
    char path[512];
    FILE *out;
    (void)snprintf(path, sizeof path, "%s%s", root, f->path);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(f->text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void remove_tree(const char *root)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/cpu,cpuacct"

TEST(quotas_are_read)
{
    static const struct {
        unsigned want;
        struct file files[6];
    } cases[] = {
        { 0, { { "/proc/self/other", "" } } },
        { 0, { { "/proc/self/cgroup", "0::/a/b\n" } } },
        { 0, { { "/proc/self/cgroup", "0::/\n" }, { V2 "/cpu.max", "max 100000\n" } } },
        { 2, { { "/proc/self/cgroup", "0::/\n" }, { V2 "/cpu.max", "200000 100000\n" } } },
        /* Rounded up, never to nothing. */
        { 2, { { "/proc/self/cgroup", "0::/a\n" }, { V2 "/a/cpu.max", "150000 100000\n" } } },
        { 1, { { "/proc/self/cgroup", "0::/a\n" }, { V2 "/a/cpu.max", "1000 100000\n" } } },
        /* The least of the group and those above it, whatever lies between. */
        { 3,
          { { "/proc/self/cgroup", "0::/a/b/c\n" },
            { V2 "/a/b/c/cpu.max", "max 100000\n" },
            { V2 "/a/b/cpu.max", "800000 100000\n" },
            { V2 "/a/cpu.max", "300000 100000\n" },
            { V2 "/cpu.max", "600000 100000\n" } } },
        /* A container sees the name of its group, but as the root of what is mounted. */
        { 4,
          { { "/proc/self/cgroup", "0::/docker/0123\n" }, { V2 "/cpu.max", "400000 100000\n" } } },
        { 5,
          { { "/proc/self/cgroup", "12:memory:/a\n5:cpu,cpuacct:/a\n1:name=systemd:/a\n" },
            { V1 "/a/cpu.cfs_quota_us", "500000\n" },
            { V1 "/a/cpu.cfs_period_us", "100000\n" },
            { V1 "/cpu.cfs_quota_us", "-1\n" },
            { V1 "/cpu.cfs_period_us", "100000\n" } } },
        { 1,
          { { "/proc/self/cgroup", "5:cpu:/docker/0123\n" },
            { "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n" },
            { "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" } } },
        /* "cpuset" is another controller. */
        { 0,
          { { "/proc/self/cgroup", "5:cpuset:/a\n" },
            { V1 "/a/cpu.cfs_quota_us", "500000\n" },
            { V1 "/a/cpu.cfs_period_us", "100000\n" } } },
        /* More than anybody's machine: the cap. Nonsense: no quota. */
        { 256, { { "/proc/self/cgroup", "0::/\n" }, { V2 "/cpu.max", "99999999999 1\n" } } },
        { 0, { { "/proc/self/cgroup", "0::/\n" }, { V2 "/cpu.max", "200000\n" } } },
        { 0, { { "/proc/self/cgroup", "0::/\n" }, { V2 "/cpu.max", "200000 0\n" } } },
        { 0, { { "/proc/self/cgroup", "no colons\n::\n" }, { V2 "/cpu.max", "200000 100000\n" } } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[] = "/tmp/tg-quota-XXXXXX";
        assert_non_null(mkdtemp(root));
        for (const struct file *f = cases[i].files; f->path; f++)
            make_file(root, f);
        if (tg_threads_quota(root) != cases[i].want)
            fail_msg("case %zu: %u, want %u", i, tg_threads_quota(root), cases[i].want);
        remove_tree(root);
    }
}

TEST(the_default_is_a_number_of_threads)
{
    unsigned n = tg_threads_default();
    assert_in_range(n, 1, TG_THREADS_MAX);
}

struct tasks {
    atomic_uint done[1000];
    size_t fail_at;
};

static bool count(void *arg, size_t i)
{
    struct tasks *t = arg;
    atomic_fetch_add(&t->done[i], 1);
    return i != t->fail_at;
}

TEST(each_task_runs_once)
{
    for (unsigned threads = 1; threads <= 9; threads += 2)
        for (size_t n = 0; n <= 1000; n = 2 * n + 1) {
            struct tasks t = { .fail_at = SIZE_MAX };
            tg_each(threads, n, count, &t);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(t.done[i], i < n);
        }
}

/* All before a failure run, so that the first failure is the same one whatever the number. */
TEST(nothing_before_a_failure_is_lost)
{
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct tasks t = { .fail_at = 500 };
        tg_each(threads, 1000, count, &t);
        for (size_t i = 0; i <= 500; i++)
            assert_int_equal(t.done[i], 1);
        if (threads == 1)
            assert_int_equal(t.done[501], 0);
    }
}
