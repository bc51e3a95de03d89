#ifndef TG_BASE_HOST_H
#define TG_BASE_HOST_H
/* The machine that this process runs on, for what traces do not say: PyTorch writes the GPU into a
 * trace, never the processor. Linux's /proc; where that is missing, nothing is known. */
#include "core/base/arena.h"

struct tg_host {
    tg_sv cpu;    /* "AMD EPYC 7763 64-Core Processor", "ARM part 0xd0c"; "": unknown */
    tg_ns booted; /* since 1970; 0: unknown */
    tg_ns now;
};
/* `proc` is "/proc"; tests use a folder of their own. */
struct tg_host tg_host_look(const char *proc, struct tg_arena *a);
/* A small file of the kernel, in `a`; "": it cannot be read. */
tg_sv tg_host_read(const char *path, struct tg_arena *a);
/* The processor in the text of /proc/cpuinfo; a view into it. */
tg_sv tg_host_cpu(tg_sv cpuinfo, struct tg_arena *a);
/* Milliseconds of a clock that nobody sets, for how long things take. */
int64_t tg_host_ms(void);
#endif
