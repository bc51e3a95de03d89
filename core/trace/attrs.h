#ifndef TG_TRACE_ATTRS_H
#define TG_TRACE_ATTRS_H
/*
 * Launch attributes of one event as canonical text (tg_trace.attrs); internal to core/trace. Both
 * paths of the reader note where the values of these keys are in args, so that nothing is scanned
 * twice.
 */
#include "core/base/buf.h"
#include "core/base/strmap.h"
#include "core/trace/kind.h"

enum tg_attr_key {
    TG_ATTR_GRID,
    TG_ATTR_BLOCK,
    TG_ATTR_REGISTERS,
    TG_ATTR_SHARED,
    TG_ATTR_OCCUPANCY,
    TG_ATTR_COLLECTIVE,
    TG_ATTR_DTYPE,
    TG_ATTR_NELEMS_IN,
    TG_ATTR_NELEMS_OUT,
    TG_ATTR_GROUP_SIZE,
    TG_ATTR_GROUP,
    TG_ATTR_GROUP_RANKS,
    TG_ATTR_SEQ,      /* number of the operation within its process group, on all its ranks */
    TG_ATTR_COMMS_ID, /* hash of group and number, the same on all its ranks */
    TG_ATTR_BYTES,
    TG_ATTR_BANDWIDTH,
    TG_ATTR_SHAPES,
    TG_ATTR_TYPES,
    TG_ATTRS
};

/* Raw JSON of the values that an event has; values not in `have` are not set. */
struct tg_attr_values {
    uint32_t have; /* bit per enum tg_attr_key */
    tg_sv v[TG_ATTRS];
};

/* The attribute for this key of args; TG_ATTRS: no attribute. */
enum tg_attr_key tg_attr_of_key(tg_sv key);

/* Raw values of attributes -> id of their canonical text: one "key=value" a line, in the order
 * above. Most events repeat the raw bytes of an earlier one, and equal bytes have equal canonical
 * text. */
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
