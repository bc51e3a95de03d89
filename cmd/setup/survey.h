#ifndef TG_SETUP_SURVEY_H
#define TG_SETUP_SURVEY_H
/*
 * What is there before anything is set up: the traces, suite by suite, and the repository. Looks
 * only; writes nothing, asks nothing, and uses the network for nothing. Everything lives in the
 * survey's arena.
 */
#include "cmd/gate/inputs.h"
#include "cmd/setup/program.h"
#include "cmd/setup/trace_paths.h"

/* The action's place in a workflow, where it is not known; `policy lint` warns of it. */
#define TG_SETUP_PLACEHOLDER "OWNER/tracegate@COMMIT"

#define TG_SURVEY_OPS 2

/* Who writes a suite's traces. */
enum tg_survey_bench {
    TG_BENCH_OURS,    /* none is there: one is written, with an example to replace */
    TG_BENCH_CALLS,   /* the same, and it calls the repository's own train.train_step */
    TG_BENCH_SERVER,  /* the same, for a server: its traces have no steps */
    TG_BENCH_LAUNCH,  /* the same, for a framework that writes the traces itself */
    TG_BENCH_WRITTEN, /* one of these is there from an earlier call */
    TG_BENCH_THEIRS,  /* there is one that takes --trace */
    TG_BENCH_OTHER    /* there is one, and nothing in it says --trace */
};
/*
 * Traces that one program wrote, filled in this order: paths and their form, what the traces
 * say, the framework, the bench. n 0: nothing is recorded yet; then ranks and window are those
 * of the framework, and what traces would say is not known. Traces outside the root have no
 * `kept`.
 */
struct tg_survey_suite {
    tg_sv name;    /* "main", or that of its folder */
    tg_sv program; /* the folder of its bench.py below the root: "", "train" */
    enum tg_program framework;
    struct tg_path_form form; /* of the fresh traces, relative to the root */
    bool outside;             /* the traces are not below the root: the form means nothing */
    tg_sv kept;               /* glob of traces in a folder for baselines ("perf/…"); "": none */
    const char **paths;       /* what was read */
    size_t n;
    size_t runs, ranks;
    bool marked;                    /* ProfilerStep */
    size_t least_steps, most_steps; /* of a run and rank */
    /* what every trace has and would do as a step, without traces the framework's; name "": none */
    struct tg_window_hint window;
    tg_sv device; /* "NVIDIA H100", "cuda", "cpu" */
    bool has_device, has_stacks, is_compiled;
    enum tg_survey_bench bench;
    /* The traces have no ProfilerStep, and bench.py, which is init's, writes one: what is a step
     * in them, and what each of them has, says nothing of the fresh traces. */
    bool other_steps;
    tg_sv ops[TG_SURVEY_OPS]; /* operators that every run has in every step, largest first */
    size_t n_ops;
};

enum tg_survey_ci {
    TG_CI_NONE,
    TG_CI_GITHUB,
    TG_CI_GITLAB,
    TG_CI_JENKINS,
    TG_CI_BUILDKITE,
    TG_CI_SLURM
};
#define TG_CI_CHOICES "github|gitlab|jenkins|buildkite|slurm"
const char *tg_survey_ci_name(enum tg_survey_ci ci); /* "GitHub Actions" */

/* What the command line decides; PLAIN, NONE: what is found. */
struct tg_survey_choice {
    enum tg_program framework;
    enum tg_survey_ci ci;
};

struct tg_survey {
    struct tg_arena *arena;
    const struct tg_io *io;
    struct tg_repo *repo;
    const char *root;   /* where files go: the work tree, else the current directory; '/' at end */
    const char *prefix; /* the current directory below it: "" or "sub/" */
    bool in_git;
    tg_sv remote; /* of origin, without credentials; "": none */
    tg_sv branch; /* what pull requests go to */
    enum tg_survey_ci ci;
    const char
        *action;       /* the gate's workflow takes tracegate from there; NULL: there is none yet */
    const char *topic; /* name for a branch that does not exist: "performance-gate" */
    bool has_gated_tests;           /* tests that use the pytest plugin */
    struct tg_survey_suite *suites; /* at least one; without traces it has n 0 */
    size_t n_suites;
    tg_sv skipped;         /* why traces that were found were not taken; "": none */
    struct tg_err *unseen; /* the first file that could not be looked at; kind NONE: none */
};

/*
 * `args`: traces, folders, globs; if empty, everything found below the current directory (four
 * levels, without hidden folders and those of packages). A named trace that cannot be read is an
 * error; one that was found is skipped.
 */
TG_MUST bool tg_survey_make(struct tg_survey *out, const struct tg_strs *args,
                            const struct tg_survey_choice *choice, const struct tg_io *io,
                            struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);
/* One suite of these traces, without looking at a repository: for `policy init`. */
TG_MUST bool tg_survey_traces(struct tg_survey *out, const struct tg_strs *args,
                              const struct tg_io *io, struct tg_repo *repo, struct tg_arena *a,
                              struct tg_err *err);
/* A path below the root, in `a`. */
const char *tg_survey_path(const struct tg_survey *s, tg_sv path);
/* "train/bench.py"; "bench.py" of the root's folder, "". In `a`. */
const char *tg_survey_in(const struct tg_survey *s, tg_sv folder, const char *name);
/* Whether that file is there; what cannot be looked at is in `unseen`. */
bool tg_survey_has(const struct tg_survey *s, tg_sv folder, const char *name);
#endif
