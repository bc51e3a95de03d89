#ifndef TG_TESTS_CMD_GATE_TRACES_H
#define TG_TESTS_CMD_GATE_TRACES_H
/* Traces as text: steps of 1 ms on the host, in each of them aten::mm. */
#include "core/base/arena.h"
#include "core/base/buf.h"

/* `calls` calls a step, each of `us` us, in two steps; `rank` -1: the file does not say. */
static inline const char *trace_text(struct tg_arena *a, int rank, unsigned calls, unsigned us)
{
    struct tg_buf b = { 0 };
    const char *text;
    tg_buf_puts(&b, "{\"schemaVersion\":1,");
    if (rank >= 0)
        tg_buf_printf(&b, "\"distributedInfo\":{\"rank\":%d,\"world_size\":2},", rank);
    tg_buf_puts(&b, "\"traceEvents\":[");
    for (unsigned step = 0; step < 2; step++) {
        tg_buf_printf(&b,
                      "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%u\","
                      "\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1000}",
                      step ? "," : "", step + 1, 1000 * step);
        for (unsigned k = 0; k < calls; k++)
            tg_buf_printf(&b,
                          ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
                          "\"tid\":1,\"ts\":%u,\"dur\":%u}",
                          1000 * step + 10 + 100 * k, us);
    }
    tg_buf_puts(&b, "]}");
    text = tg_arena_sv(a, tg_buf_sv(&b)).p;
    tg_buf_release(&b);
    return text;
}
#endif
