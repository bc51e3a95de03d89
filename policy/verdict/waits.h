#ifndef TG_POLICY_VERDICT_WAITS_H
#define TG_POLICY_VERDICT_WAITS_H
/*
 * Where the host waits for the device, by the operator that waits: a wait that comes earlier than before takes the time
 * that another one loses, and what the host did meanwhile then comes after it.
 *
 *     before   |launch|prepare|..wait..|      the device works during `prepare`
 *     after    |launch|......wait......|prepare|
 */
#include "core/base/buf.h"
#include "core/diff/compare.h"

struct tg_wait_shift {
    const struct tg_op *call; /* cudaStreamSynchronize; NULL: none */
    tg_sv in;                 /* the outermost operator that calls it as often: aten::item */
    double ns;                /* more per step, or less */
};

/* The wait inside one caller that rose most, and the one that fell most: each in all fresh runs, of all of the
 * baseline. */
struct tg_wait_shifts {
    struct tg_wait_shift longer, shorter;
} tg_wait_shifts_of(const struct tg_comparison *c);

/* The longer wait that a step which is `ns` longer waits in, while the device does no more than before; `call` NULL:
 * none. */
struct tg_wait_shift tg_wait_behind(const struct tg_comparison *c, double ns);
#endif
