#ifndef TG_TRACE_FACTS_H
#define TG_TRACE_FACTS_H
/*
 * Exact facts of one event as canonical text (tg_trace.facts); internal to core/trace. Both paths
 * of the reader note where the values of these keys are in args, so that nothing is scanned twice.
 */
#include "core/base/buf.h"
#include "core/trace/kind.h"

enum tg_fact_key {
    TG_FACT_GRID,
    TG_FACT_BLOCK,
    TG_FACT_REGISTERS,
    TG_FACT_SHARED,
    TG_FACT_OCCUPANCY,
    TG_FACT_COLLECTIVE,
    TG_FACT_DTYPE,
    TG_FACT_NELEMS_IN,
    TG_FACT_NELEMS_OUT,
    TG_FACT_GROUP_SIZE,
    TG_FACT_GROUP,
    TG_FACT_BYTES,
    TG_FACT_BANDWIDTH,
    TG_FACT_SHAPES,
    TG_FACT_TYPES,
    TG_FACTS
};

/* Raw JSON of the values that an event has; values not in `have` are not set. */
struct tg_fact_values {
    uint32_t have; /* bit per enum tg_fact_key */
    tg_sv v[TG_FACTS];
};

/* The fact for this key of args; TG_FACTS: no fact. */
enum tg_fact_key tg_fact_of_key(tg_sv key);
/* The facts that events of this kind have, of those in `have`. */
uint32_t tg_facts_of_kind(enum tg_kind kind, const struct tg_fact_values *f);
/* One "key=value" a line, in the order above; leaves `out` empty if there are no facts. */
void tg_facts_put(struct tg_buf *out, uint32_t which, const struct tg_fact_values *f);
#endif
