#ifndef TG_DIFF_NAMES_H
#define TG_DIFF_NAMES_H
/* The three forms of a name: raw, short (HTA's rule, for display), normalised (identity). */
#include "core/base/buf.h"
#include "core/trace/kind.h"

/* HTA's short name, bug for bug (HTA_SEMANTICS 9): may be empty, may merge different kernels. */
void tg_name_short(tg_sv raw, struct tg_buf *out);

/*
 * Identity for gating: stable between builds of the same program. ProfilerStep#N -> ProfilerStep;
 * graph hashes, hex addresses, `.py(123)` lines, Inductor numbers and hashes, lambda and
 * anonymous-namespace numbers, server step names. Idempotent.
 */
void tg_name_normalise(enum tg_kind kind, tg_sv raw, struct tg_buf *out);
#endif
