#ifndef TG_TRACE_ATTR_CACHE_H
#define TG_TRACE_ATTR_CACHE_H
/* Raw values of attributes -> id of their canonical text; internal to core/trace. Most events
 * repeat the raw bytes of an earlier one, and equal bytes have equal canonical text. */
#include "core/base/strmap.h"
#include "core/trace/attrs.h"

struct tg_attr_cache {
    struct tg_buf kept; /* struct tg_attr_cached, one after the other */
    size_t n;
    uint32_t *slot; /* 0: empty; else where in `kept`, in units of eight bytes, and 1 */
    struct tg_buf text;
};

void tg_attr_cache_init(struct tg_attr_cache *c);
void tg_attr_cache_release(struct tg_attr_cache *c);
/* The id in `attrs` of these attributes of an event; TG_NO_ID: it has no attributes. */
uint32_t tg_attr_cache_id(struct tg_attr_cache *c, struct tg_strmap *attrs, enum tg_kind kind,
                          const struct tg_attr_values *f);
#endif
