#include "cmd/gate/launcher.h"

#include <inttypes.h>
#include <unistd.h>

/* The variables of each launcher, the nearest to the program first. */
static const struct {
    const char *rank, *local_rank, *world_size;
    bool needs_size; /* a variable of such a general name means nothing without the size */
} launchers[] = {
    { "RANK", "LOCAL_RANK", "WORLD_SIZE", true }, /* torchrun */
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", false },
    { "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", false }, /* MPICH, Intel MPI */
    { "PMIX_RANK", NULL, NULL, false },
    { "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", false },
    { "JOB_COMPLETION_INDEX", NULL, NULL, false }, /* indexed job of Kubernetes */
};

/* -1: not set. */
static bool number_of(const struct tg_io *io, const char *name, int64_t *out, struct tg_err *err)
{
    const char *text = name ? tg_io_env(io, name) : NULL;
    *out = -1;
    if (!text)
        return true;
    if (tg_sv_i64(tg_sv_of(text), out) && *out >= 0)
        return true;
    return tg_err_usage(err, "%s is '%s', not a number", "Give the rank itself: --rank N.", name,
                        text);
}

bool tg_launcher_find(struct tg_launcher *out, const struct tg_io *io, struct tg_arena *a,
                      struct tg_err *err)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        *out = (struct tg_launcher){ .from = launchers[i].rank };
        if (!(number_of(io, launchers[i].rank, &out->rank, err) &&
              number_of(io, launchers[i].local_rank, &out->local_rank, err) &&
              number_of(io, launchers[i].world_size, &out->world_size, err)))
            return false;
        if (out->rank < 0 || (launchers[i].needs_size && out->world_size < 0))
            continue;
        if (out->world_size >= 0 && out->rank >= out->world_size)
            return tg_err_usage(err, "%s is %" PRId64 ", %s is %" PRId64,
                                "Ranks are counted from 0: give the rank itself, --rank N.",
                                out->from, out->rank, launchers[i].world_size, out->world_size);
        const char *node = tg_io_env(io, "SLURMD_NODENAME");
        char host[256] = { 0 };
        if (!node)
            node = gethostname(host, sizeof host - 1) == 0 ? host : "";
        out->node = tg_arena_sv(a, tg_sv_of(node));
        return true;
    }
    return tg_err_usage(err, "--rank auto: no launcher set a rank",
                        "Start it with torchrun, mpirun or srun (RANK with WORLD_SIZE, "
                        "OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID, "
                        "JOB_COMPLETION_INDEX), or give the rank itself: --rank N.");
}
