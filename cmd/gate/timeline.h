#ifndef TG_CMD_GATE_TIMELINE_H
#define TG_CMD_GATE_TIMELINE_H
/* One step of a trace as few rectangles: the step of median length; on the host the main thread,
 * two levels deep; each stream of the device. Neighbours too short to see become one. */
#include "core/steps/steps.h"
#include "reporters/picture.h"

void tg_timeline_take(struct tg_picture_step *out, const struct tg_trace *t,
                      const struct tg_steps *steps, unsigned skip_first, struct tg_arena *a);
#endif
