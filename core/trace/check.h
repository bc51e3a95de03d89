#ifndef TG_TRACE_CHECK_H
#define TG_TRACE_CHECK_H
/* Fills tg_trace.integrity (all but the B/E counts); internal to core/trace. */
#include "core/trace/trace.h"

/* `python_aside`: Python functions are not checked. */
void tg_trace_check(struct tg_trace *t, bool python_aside);
#endif
