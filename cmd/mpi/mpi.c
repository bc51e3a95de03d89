#include "cmd/mpi/mpi.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TAG_SIZE = 1, TAG_BYTES = 2 };

/* MPI counts in int: longer messages are sent in pieces. */
#define PIECE ((uint64_t)1 << 30)

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void tg_mpi_start(struct tg_mpi *m, int *argc, char ***argv)
{
    *m = (struct tg_mpi){ 0 };
    (void)MPI_Init(argc, argv);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &m->size);
}

void tg_mpi_end(struct tg_mpi *m, int exit_code)
{
    (void)fflush(NULL);
    if (m->lost)
        (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
    (void)MPI_Finalize();
}

void tg_mpi_send(const struct tg_mpi *m, int to, tg_sv bytes)
{
    uint64_t n = bytes.n;
    (void)m;
    (void)MPI_Send(&n, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < n; at += PIECE)
        (void)MPI_Send(bytes.p + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE, to,
                       TAG_BYTES, MPI_COMM_WORLD);
}

/* Waits for one message; a millisecond of sleep between looks, at first less. */
static bool receive(void *to, int n, MPI_Datatype type, int from, int tag, double until)
{
    MPI_Request request;
    int done = 0;
    if (MPI_Irecv(to, n, type, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return false;
    while (!done) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            break;
        if (now() > until) {
            (void)MPI_Cancel(&request);
            (void)MPI_Request_free(&request);
            return false;
        }
        struct timespec t = { 0, 2 * 1000000 };
        (void)nanosleep(&t, NULL);
    }
    return true;
}

bool tg_mpi_receive(struct tg_mpi *m, int from, double seconds, struct tg_buf *out)
{
    double until = now() + seconds;
    uint64_t n;
    bool ok = receive(&n, 1, MPI_UINT64_T, from, TAG_SIZE, until);
    tg_buf_clear(out);
    for (uint64_t at = 0; ok && at < n; at += PIECE) {
        int piece = (int)(n - at < PIECE ? n - at : PIECE);
        ok = receive(tg_buf_room(out, (size_t)piece), piece, MPI_BYTE, from, TAG_BYTES, until);
        out->n += ok ? (size_t)piece : 0;
    }
    m->lost |= !ok;
    return ok;
}
