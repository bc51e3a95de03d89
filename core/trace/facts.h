#ifndef TG_TRACE_FACTS_H
#define TG_TRACE_FACTS_H
/* Exact facts of one event as canonical text (tg_trace.facts); internal to core/trace. */
#include "core/base/buf.h"
#include "core/trace/trace.h"

/* `args`: the raw text of a checked object. Leaves `out` empty where the kind has no facts. */
void tg_facts_put(struct tg_buf *out, enum tg_kind kind, tg_sv args);
/* A `[memory]` instant's numbers; absent ones are -1. */
void tg_facts_memory(struct tg_memory_event *out, tg_sv args);
#endif
