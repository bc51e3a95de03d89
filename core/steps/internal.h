#ifndef TG_STEPS_INTERNAL_H
#define TG_STEPS_INTERNAL_H
/*
 * The passes of tg_steps_build, in the order they run. Each fills its columns of `out`, all of
 * which are allocated; no pass fails. Cost: linear in the spans, apart from the sort before them.
 */
#include "core/steps/steps.h"

/* nest.c: parent and self of host spans. */
void tg_steps_nest(struct tg_steps *out, const struct tg_trace *t);
/* links.c: launch of device spans, then their parent. Needs nest. */
void tg_steps_link(struct tg_steps *out, const struct tg_trace *t);
/* place.c: step_of. Needs the windows and links. */
void tg_steps_place(struct tg_steps *out, const struct tg_trace *t);
#endif
