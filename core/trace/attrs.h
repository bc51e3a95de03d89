#ifndef TG_TRACE_ATTRS_H
#define TG_TRACE_ATTRS_H
/*
 * Launch attributes of one event as canonical text (tg_trace.attrs); internal to core/trace. Both
 * paths of the reader note where the values of these keys are in args, so that nothing is scanned
 * twice.
 */
#include "core/base/buf.h"
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
/* The attributes that events of this kind have, of those in `have`. */
uint32_t tg_attrs_of_kind(enum tg_kind kind, const struct tg_attr_values *f);
/* One "key=value" a line, in the order above; leaves `out` empty if there are no attributes. */
void tg_attrs_put(struct tg_buf *out, uint32_t which, const struct tg_attr_values *f);
#endif
