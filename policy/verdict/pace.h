#ifndef TG_POLICY_VERDICT_PACE_H
#define TG_POLICY_VERDICT_PACE_H
/*
 * Who sets the pace of a step: the host, which launches, or the device, which works. The other one
 * waits, and what it does in that time costs the step nothing.
 *
 *     host    |launch|launch|launch|      the device is idle in between: device time is hidden
 *     device    |k|    |k|    |k|
 *
 *     host    |launch|launch|..wait....|  the host waits: host time is hidden
 *     device    |k         |k         |
 *
 * It is the one that works longer in a fresh step. A device that is busy for three quarters of the
 * step sets it whatever the host does: a wait without a call of its own looks like work of the
 * host.
 */
#include "core/diff/compare.h"

/* Device where it has work and the times of a step are not known. */
enum tg_pace_maker { TG_PACE_HOST, TG_PACE_DEVICE } tg_pace_of(const struct tg_comparison *c);

/*
 * Where the host waits for the device, by the operator that waits: a wait that comes earlier than
 * before takes the time that another one loses, and what the host did meanwhile comes after it.
 *
 *     before   |launch|prepare|..wait..|      the device works during `prepare`
 *     after    |launch|......wait......|prepare|
 */
struct tg_pace_wait {
    const struct tg_op *call; /* cudaStreamSynchronize; NULL: none */
    const struct tg_in_caller *of;
    tg_sv in;  /* the outermost operator that calls it as often: aten::item; "" the step */
    double ns; /* more per step, or less */
};

/* The waits that rose and fell most, each in all fresh runs, of all of the baseline. */
struct tg_pace_waits {
    struct tg_pace_wait longer, shorter;
} tg_pace_waits_of(const struct tg_comparison *c);

/* The longer wait that a step which is `ns` longer waits in, while the device does no more than
 * before; `call` NULL: none. */
struct tg_pace_wait tg_pace_wait_behind(const struct tg_comparison *c, double ns);
#endif
