#ifndef TG_CMD_GATE_INTERNAL_H
#define TG_CMD_GATE_INTERNAL_H
/*
 * A check while it runs. check.c is its order; find.c finds the baseline, night.c judges earlier
 * nights, stages.c asks for more runs, clash.c refuses files in two roles, loosened.c compares
 * policies, report.c writes.
 */
#include "cmd/gate/check.h"
#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"
#include "core/base/file.h"

struct tg_check {
    const struct tg_check_opts *o;
    const struct tg_strs *args;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_input_list cause[2]; /* --cause-trace; empty: not given */
    struct tg_repo repo;
    struct tg_commit named_base; /* --base-commit; `sha` "": not given */
    struct tg_suites suites;     /* the ones to check */
    bool *waivers_used;          /* by any of them so far, a flag each of the policy's */
    size_t n_judged;             /* jobs so far; one that could not be judged may use a waiver */
    size_t chosen;               /* --against: 0 `baseline`, else of `baselines`, from 1 on */
    size_t n_jobs;               /* of all suites and baselines of the policy */
    struct tg_summary fresh;     /* of the suite that is checked, once it is read */
    struct tg_side fresh_side;
    struct tg_damage fresh_damage;   /* what of them could not be read */
    struct tg_kept_trace fresh_kept; /* the first of them */
    bool has_fresh, wants_picture;
    struct tg_input_list again[2]; /* --again; empty: not given */
    struct tg_gate_ask ask;        /* of --ask */
    struct tg_outputs stages;      /* its file */
    size_t stages_at, next_runs, n_suspects;
    tg_sv suspects; /* of the job that had some last */
    bool whole;     /* all ranks are loaded with all names, whatever the policy asks */
    struct tg_render render;
};

/* One suite and one baseline of the policy on their way: what is compared, and everything that must
 * live until the reports. */
struct tg_check_job {
    const struct tg_suite *suite;   /* never NULL */
    const struct tg_policy *policy; /* as it is for the baseline: tg_policy_against */
    bool first;                     /* of the suite */
    bool named;                     /* --baseline replaces this one */
    struct tg_input_list fresh, base;
    struct tg_baseline_info info;
    char commit[TG_SHA_SIZE]; /* that holds the baseline; "": it has no history */
    const char *oldest;       /* commit of a window's baseline; NULL: `commit` */
    struct tg_known_ask known;
    enum { JOB_COMPARE, JOB_FIRST_RUN } what;
    struct tg_outputs outputs;
    size_t handle[TG_REPORTS];
    struct tg_summary base_summary;
    struct tg_kept_trace base_kept; /* the first trace of the baseline */
    struct tg_summary again[2];     /* the new runs of --ask */
    struct tg_gate gate;
    struct tg_verdict verdict;
};

/*
 * No baseline, and none in outcome that was lost. A first run: `what` says so. But one whose start
 * has a policy was gated before, and what 'origin' holds is only not fetched: TG_ERR_LOST, with
 * which of them it is where 'origin' can be asked.
 */
TG_MUST bool tg_check_first_run(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                                const struct tg_baseline *b, struct tg_err *err);
/* The same where one was lost. Always returns false. */
bool tg_check_lost(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                   const struct tg_baseline *b, struct tg_err *err);
/* With `ref: window(N)` the runs of the commits before the baseline's join it, N commits in all. */
TG_MUST bool tg_check_window(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                             const struct tg_baseline *b, struct tg_err *err);
/* A recording that is on both sides is an error, unless the command line names both. */
TG_MUST bool tg_check_two_sides(struct tg_check *c, struct tg_check_job *j, struct tg_err *err);
/* Notes of recordings that are in two places: on both sides, or of two ranks. Said of traces that
 * are read: whatever their names, compression and place. */
void tg_check_note_copies(struct tg_check *c, struct tg_check_job *j);
/* New runs that are among the first ones are an error: they would confirm what they made a
 * suspect. */
TG_MUST bool tg_check_new_runs(const struct tg_check_job *j, struct tg_err *err);
/* A report that would replace a trace, a baseline or the policy is a mistake of the command
 * line. */
TG_MUST bool tg_check_outputs(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err);
/* The policy's path in a commit, by the rules that find it in the work tree; NULL: none. */
const char *tg_check_policy_at(struct tg_check *c, struct tg_git *git, const char *sha);
/* The files of the baseline, and what reports say about it. A first run is not an error. */
TG_MUST bool tg_check_find(struct tg_check *c, struct tg_check_job *j, struct tg_err *err);
/* The same for a stored night as it was: its runs are the fresh side, its baseline is what a check
 * of it found. False, with or without an error: there is none. */
TG_MUST bool tg_check_find_of_night(struct tg_check *c, struct tg_check_job *j, const char *night,
                                    struct tg_err *err);
/* Reads the files of a side and arranges them into `to`, or else j->gate.side[side]. `damage`: what
 * of them cannot be read, where the suite can do without; `keep`, `progress` NULL: none. */
struct tg_check_reading {
    struct tg_summary *summary;
    const struct tg_input_list *files;
    struct tg_damage *damage;
    struct tg_kept_trace *keep;
    const struct tg_progress *progress;
    int64_t named_ranks; /* as in tg_summarize_opts */
    struct tg_side *to;
};
/* What of j->gate is the same for all that is judged. */
void tg_check_begin(struct tg_check *c, struct tg_check_job *j);
TG_MUST bool tg_check_read(struct tg_check *c, struct tg_check_job *j, int side,
                           const struct tg_check_reading *r, struct tg_err *err);
/* Its second half. */
TG_MUST bool tg_check_arrange(struct tg_check *c, const struct tg_check_job *j,
                              const struct tg_summary *s, struct tg_side *to, struct tg_err *err);
/* What is known to be slower since the baseline: by events, and by nights that failed of it. */
void tg_check_ask_nights(struct tg_check *c, struct tg_check_job *j);
/* Where the change under test begins, whatever its own policy calls the baseline; false:
 * unknown. */
TG_MUST enum tg_seen tg_check_change_start(struct tg_check *c, struct tg_git *git,
                                           struct tg_commit *out, struct tg_err *err);
/* The baseline's commit, found or, where it is a path, said by --base-commit; NULL: not known. */
const char *tg_check_base_commit(const struct tg_check *c, const struct tg_check_job *j);
/* Opens every report of the suite. */
TG_MUST bool tg_check_open_reports(struct tg_check *c, struct tg_check_job *j, struct tg_err *err);
/* What the reports tell of the fresh side: commit, time, files, policy. */
void tg_check_describe(struct tg_check *c, struct tg_check_job *j);
/* The command line that repeats this check; without its reports. */
tg_sv tg_check_command(struct tg_check *c, const struct tg_strs *args);
/* That the baseline is lost, on standard error; with the next step only if the text on standard
 * output does not give it. */
void tg_check_tell(const struct tg_check *c, const struct tg_err *why);
/* All reports into place, the text and the annotations onto standard output. The text alone if
 * `err` says already that a file cannot be written, or if that is found here. */
TG_MUST bool tg_check_report(struct tg_check *c, struct tg_check_job *j, struct tg_err *err);
/* --ask, a verdict in stages: its options and files; the new runs into j->gate; what each job asks
 * for; the file that says it. Without the option they do nothing. */
TG_MUST bool tg_check_ask_options(struct tg_check *c, struct tg_err *err);
TG_MUST bool tg_check_ask_begin(struct tg_check *c, struct tg_err *err);
TG_MUST bool tg_check_ask_load(struct tg_check *c, struct tg_check_job *j, struct tg_err *err);
void tg_check_ask_keep(struct tg_check *c, const struct tg_check_job *j);
TG_MUST bool tg_check_ask_end(struct tg_check *c, struct tg_err *err);
/* --dry-run. */
TG_MUST bool tg_check_print_plan(struct tg_check *c, const struct tg_check_job *j,
                                 struct tg_err *err);
/* Notes by what the policy is looser than where the change starts from. */
void tg_check_note_policy(struct tg_check *c, struct tg_check_job *j);
#endif
