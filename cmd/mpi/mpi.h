#ifndef TG_MPI_MPI_H
#define TG_MPI_MPI_H
/*
 * The few things that tracegate-mpi needs of MPI; mpi.c alone includes it (Open MPI and MPICH).
 * Messages are whole: bytes of any length from one process to another. Waiting never spins, and
 * never lasts for ever: a process that says nothing in time is lost.
 */
#include "core/base/buf.h"

struct tg_mpi {
    int rank, size;
    bool lost; /* a process said nothing: the job is ended, not finished */
};
void tg_mpi_start(struct tg_mpi *m, int *argc, char ***argv);
/* After a loss, MPI's own end would wait for the lost process. */
void tg_mpi_end(struct tg_mpi *m, int exit_code);

void tg_mpi_send(const struct tg_mpi *m, int to, tg_sv bytes);
/* False after `seconds` without a whole message. */
TG_MUST bool tg_mpi_receive(struct tg_mpi *m, int from, double seconds, struct tg_buf *out);
#endif
