/* What a launcher tells of a process, by the variables that each sets. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/launcher.h"

struct told {
    const char *environ_[6], *from;
    int64_t rank, local_rank, world_size;
};

static bool find(struct tg_launcher *out, const char *const *environ_, struct tg_arena *a,
                 struct tg_err *err)
{
    struct tg_io io = { .environ_ = environ_ };
    tg_err_init(err);
    return tg_launcher_find(out, &io, a, err);
}

TEST(each_launcher_has_its_variables)
{
    static const struct told cases[] = {
        { { "RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=8" }, "RANK", 3, 1, 8 },
        { { "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4" },
          "OMPI_COMM_WORLD_RANK",
          2,
          -1,
          4 },
        { { "PMI_RANK=0", "MPI_LOCALRANKID=0", "PMI_SIZE=1" }, "PMI_RANK", 0, 0, 1 },
        { { "PMIX_RANK=5" }, "PMIX_RANK", 5, -1, -1 },
        { { "SLURM_PROCID=7", "SLURM_NTASKS=8" }, "SLURM_PROCID", 7, -1, 8 },
        { { "JOB_COMPLETION_INDEX=9" }, "JOB_COMPLETION_INDEX", 9, -1, -1 },
        /* torchrun within srun: the nearer one counts */
        { { "SLURM_PROCID=0", "SLURM_NTASKS=2", "RANK=6", "WORLD_SIZE=8" }, "RANK", 6, -1, 8 },
        /* RANK alone may be anything */
        { { "RANK=6", "SLURM_PROCID=1" }, "SLURM_PROCID", 1, -1, -1 },
        { { "RANK=", "PMIX_RANK=4" }, "PMIX_RANK", 4, -1, -1 },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_launcher l;
        struct tg_err err;
        if (!find(&l, cases[i].environ_, a, &err))
            fail_msg("row %zu: %s", i, err.message);
        assert_string_equal(l.from, cases[i].from);
        assert_int_equal(l.rank, cases[i].rank);
        assert_int_equal(l.local_rank, cases[i].local_rank);
        assert_int_equal(l.world_size, cases[i].world_size);
        assert_true(l.node.n > 0);
    }
}

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *environ_[4], *message;
    } cases[] = {
        { { NULL }, "no launcher set a rank" },
        { { "RANK=3" }, "no launcher set a rank" },
        { { "PMIX_RANK=three" }, "PMIX_RANK is 'three', not a number" },
        { { "PMIX_RANK=-1" }, "PMIX_RANK is '-1', not a number" },
        { { "RANK=1", "WORLD_SIZE=many" }, "WORLD_SIZE is 'many', not a number" },
        { { "RANK=8", "WORLD_SIZE=8" }, "RANK is 8, WORLD_SIZE is 8" },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_launcher l;
        struct tg_err err;
        assert_false(find(&l, cases[i].environ_, a, &err));
        if (err.kind != TG_ERR_USAGE || !strstr(err.message, cases[i].message))
            fail_msg("row %zu: %s", i, err.message);
        assert_non_null(strstr(err.hint, "--rank N"));
    }
}

TEST(slurm_names_the_node)
{
    static const char *const environ_[] = { "SLURM_PROCID=0", "SLURMD_NODENAME=n17", NULL };
    TG_ARENA *a = tg_arena_new();
    struct tg_launcher l;
    struct tg_err err;
    assert_true(find(&l, environ_, a, &err));
    assert_sv_equal(l.node, TG_SV("n17"));
}
