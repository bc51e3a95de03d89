#ifndef TG_TESTS_CMD_GATE_TRACES_H
#define TG_TESTS_CMD_GATE_TRACES_H
/* Traces as text: steps of 1 ms on the host with calls of operators. */
#include "core/base/arena.h"
#include "core/base/buf.h"

/* In each of two steps these calls, one after the other; `rank` -1: the file does not say. */
struct trace_calls {
    const char *name, *cat;
    unsigned calls, us;
};
static inline const char *trace_of(struct tg_arena *a, int rank, const struct trace_calls *v,
                                   size_t n)
{
    TG_BUF b = { 0 };
    const char *text;
    tg_buf_puts(&b, "{\"schemaVersion\":1,");
    if (rank >= 0)
        tg_buf_printf(&b, "\"distributedInfo\":{\"rank\":%d,\"world_size\":2},", rank);
    tg_buf_puts(&b, "\"traceEvents\":[");
    for (unsigned step = 0; step < 2; step++) {
        unsigned at = 1000 * step + 10;
        tg_buf_printf(&b,
                      "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%u\","
                      "\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1000}",
                      step ? "," : "", step + 1, 1000 * step);
        for (size_t i = 0; i < n; i++)
            for (unsigned k = 0; k < v[i].calls; k++, at += 100)
                tg_buf_printf(&b,
                              ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,"
                              "\"tid\":1,\"ts\":%u,\"dur\":%u}",
                              v[i].cat, v[i].name, at, v[i].us);
    }
    tg_buf_puts(&b, "]}");
    text = tg_arena_sv(a, tg_buf_sv(&b)).p;
    return text;
}

/* `calls` calls of aten::mm a step, each of `us` us. */
static inline const char *trace_text(struct tg_arena *a, int rank, unsigned calls, unsigned us)
{
    return trace_of(a, rank, &(struct trace_calls){ "aten::mm", "cpu_op", calls, us }, 1);
}
#endif
