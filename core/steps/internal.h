#ifndef TG_STEPS_INTERNAL_H
#define TG_STEPS_INTERNAL_H
/*
 * The passes of tg_steps_build, in the order they run: what takes most memory last. Each makes and
 * fills its columns of `out`; no pass fails. Cost: linear in the spans,
 * apart from the sort before them.
 */
#include "core/base/arena.h"
#include "core/steps/steps.h"

/* A value of `size` bytes for each span. */
static inline void *tg_steps_column(const struct tg_trace *t, size_t size)
{
    return tg_xrealloc(NULL, t->n_spans ? t->n_spans : 1, size);
}

/* links.c: launch of device spans. The only pass that asks for correlations. */
void tg_steps_link(struct tg_steps *out, const struct tg_trace *t);
/* place.c: step_of. Needs the windows and links. */
void tg_steps_place(struct tg_steps *out, const struct tg_trace *t);
/* nest.c: parent of host spans, and self unless `sparing`. */
void tg_steps_nest(struct tg_steps *out, const struct tg_trace *t, bool sparing);
/* links.c: parent of device spans. Needs link and nest. */
void tg_steps_link_parents(struct tg_steps *out, const struct tg_trace *t);
#endif
