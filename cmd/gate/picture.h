#ifndef TG_CMD_GATE_PICTURE_H
#define TG_CMD_GATE_PICTURE_H
/*
 * The data of the page's drawings (reporters/picture.h), from one trace of each side: the first, or
 * of several the one whose steps are as long as usual, on the rank that the verdict tells of; only
 * where a page is asked for. A side that is a summary has no picture: never an error. What is kept
 * is bounded: at most TG_PICTURE_NODES paths and TG_PICTURE_SPANS spans per side.
 */
#include "cmd/gate/inputs.h"
#include "core/diff/compare.h"
#include "core/steps/steps.h"
#include "reporters/picture.h"

enum { TG_PICTURE_NODES = 320, TG_PICTURE_SPANS = 420 };

struct tg_picture_ask {
    struct tg_first_traces from;
    const struct tg_comparison *comparison; /* of these sides; NULL: the first traces */
    struct tg_arena *arena;                 /* the picture's */
};
void tg_picture_take(struct tg_picture *out, const struct tg_picture_ask *ask);

/* One step of a trace as few rectangles: the step of median length; on the host the main thread,
 * two levels deep; each stream of the device. Neighbours too short to see become one. */
void tg_timeline_take(struct tg_picture_step *out, const struct tg_trace *t,
                      const struct tg_steps *steps, unsigned skip_first, struct tg_arena *a);
#endif
