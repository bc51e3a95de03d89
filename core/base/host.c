#include "core/base/host.h"

#include <time.h>

#include "core/base/file.h"

#define MAX_PROC ((size_t)4 << 20) /* cpuinfo of a thousand cores has 1.5 MB */

/* The value of the first line "KEY : VALUE". */
static tg_sv value_of(tg_sv text, const char *key)
{
    while (text.n) {
        tg_sv value = tg_sv_cut(&text, '\n'), name = tg_sv_cut(&value, ':');
        if (tg_sv_eq(tg_sv_trim(name), tg_sv_of(key)))
            return tg_sv_trim(value);
    }
    return TG_SV("");
}

tg_sv tg_host_cpu(tg_sv cpuinfo, struct tg_arena *a)
{
    tg_sv name = value_of(cpuinfo, "model name"), part = value_of(cpuinfo, "CPU part");
    if (name.n)
        return name;
    if (part.n) /* arm64 has numbers only */
        return TG_SV_PRINTF(a, "ARM implementer %.*s part %.*s",
                            TG_SV_ARG(value_of(cpuinfo, "CPU implementer")), TG_SV_ARG(part));
    return value_of(cpuinfo, "cpu model");
}

tg_sv tg_host_read(const char *path, struct tg_arena *a)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    return tg_file_read(&text, path, MAX_PROC, &ignored) ? tg_arena_sv(a, tg_buf_sv(&text))
                                                         : TG_SV("");
}

struct tg_host tg_host_look(const char *proc, struct tg_arena *a)
{
    struct tg_host out = { .cpu = tg_host_cpu(
                               tg_host_read(tg_arena_printf(a, "%s/cpuinfo", proc), a), a) };
    tg_sv stat = tg_host_read(tg_arena_printf(a, "%s/stat", proc), a);
    struct timespec now;
    while (stat.n && !out.booted) {
        tg_sv line = tg_sv_cut(&stat, '\n');
        int64_t seconds;
        if (tg_sv_skip(&line, TG_SV("btime ")) && tg_sv_i64(line, &seconds) && seconds > 0 &&
            seconds < INT64_MAX / 1000000000)
            out.booted = seconds * 1000000000;
    }
    if (clock_gettime(CLOCK_REALTIME, &now) == 0)
        out.now = (tg_ns)now.tv_sec * 1000000000 + now.tv_nsec;
    return out;
}

int64_t tg_host_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
