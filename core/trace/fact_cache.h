#ifndef TG_TRACE_FACT_CACHE_H
#define TG_TRACE_FACT_CACHE_H
/*
 * Raw values of facts -> id of their canonical text; internal to core/trace. Most events repeat the
 * raw bytes of an earlier one, and equal bytes have equal canonical text.
 */
#include "core/base/strmap.h"
#include "core/trace/facts.h"

struct tg_fact_cache {
    struct tg_arena *arena;
    struct tg_fact_cached *v;
    size_t n, cap;
    uint32_t *slot; /* index + 1 */
    struct tg_buf text;
};

void tg_fact_cache_init(struct tg_fact_cache *c);
void tg_fact_cache_release(struct tg_fact_cache *c);
/* The id in `facts` of these facts of an event; TG_NO_ID: it has no facts. */
uint32_t tg_fact_cache_id(struct tg_fact_cache *c, struct tg_strmap *facts, enum tg_kind kind,
                          const struct tg_fact_values *f);
#endif
