/* The processor and the boot time, as the kernel writes them. */
#include "core/base/host.h"

#include "tests/support.h"

TEST(processors)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763 64-Core "
          "Processor\n"
          "model name\t: another\n",
          "AMD EPYC 7763 64-Core Processor" },
        { "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
          "ARM implementer 0x41 part 0xd0c" },
        { "system type\t: x\ncpu model\t: Loongson-3A\n", "Loongson-3A" },
        { "model names\t: x\n", "" },
        { "", "" },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_sv cpu = tg_host_cpu(tg_sv_of(cases[i].text), a);
        assert_int_equal(cpu.n, strlen(cases[i].want));
        assert_memory_equal(cpu.p, cases[i].want, cpu.n);
    }
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *f;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

TEST(a_folder_of_the_kernel)
{
    char folder[] = "/tmp/tg_host.XXXXXX", command[64];
    TG_ARENA *a = tg_arena_new();
    struct tg_host h;
    assert_non_null(mkdtemp(folder));
    h = tg_host_look(folder, a);
    assert_int_equal(h.cpu.n, 0);
    assert_int_equal(h.booted, 0);
    assert_true(h.now > 0);
    put(folder, "cpuinfo", "model name\t: X 1\n");
    put(folder, "stat", "cpu  1 2 3\nbtime 1700000000\nprocesses 5\n");
    h = tg_host_look(folder, a);
    assert_int_equal(h.cpu.n, 3);
    assert_int_equal(h.booted, 1700000000000000000);
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}
