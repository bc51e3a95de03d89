#ifndef TG_CMD_GATE_LAUNCHER_H
#define TG_CMD_GATE_LAUNCHER_H
/*
 * What a launcher (torchrun, mpirun, srun, an indexed job) tells each process of a job: which rank
 * it is, of how many, where. Of several, the one that is nearest to the program is meant: torchrun
 * within srun, mpirun within a batch job.
 */
#include "cmd/gate/io.h"

struct tg_launcher {
    const char *from;                     /* the variable that has the rank */
    int64_t rank, local_rank, world_size; /* -1: unknown */
    tg_sv node;                           /* the machine's name */
};
/* TG_ERR_USAGE: no launcher, or values that make no sense. Texts live in `a`. */
TG_MUST bool tg_launcher_find(struct tg_launcher *out, const struct tg_io *io, struct tg_arena *a,
                              struct tg_err *err);
#endif
