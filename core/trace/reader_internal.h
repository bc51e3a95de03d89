#ifndef TG_TRACE_READER_INTERNAL_H
#define TG_TRACE_READER_INTERNAL_H
/* What the columns need of the reader beside its public face; internal to core/trace. */
#include "core/trace/facts.h"
#include "core/trace/reader.h"

/* An id for a pair that the file did not spell, as ("", ""). */
TG_MUST bool tg_reader_intern(struct tg_reader *r, tg_sv cat, tg_sv name, uint32_t *id,
                              struct tg_err *err);
/* Facts in the args of the last event; views as in tg_event. */
const struct tg_fact_values *tg_reader_facts(const struct tg_reader *r);
#endif
