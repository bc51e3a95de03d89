/* `tracegate summarize`: traces -> the small form that a comparison needs. */
#include <inttypes.h>
#include <stddef.h>

#include "cmd/gate/given.h"
#include "core/base/file.h"

struct summarize_opts {
    const char *output, *run;
    struct tg_given given;
    int64_t rank;
    bool stacks;
};
static const struct tg_opt summarize_options[] = {
    { "o", TG_OPT_STR, offsetof(struct summarize_opts, output), "FILE",
      "where the summary goes; - (the default) is standard output" },
    TG_GIVEN_META(struct summarize_opts, given, ""),
    { "run", TG_OPT_STR, offsetof(struct summarize_opts, run), "ID",
      "name of the run that all traces belong to; default: from their contents" },
    { "rank", TG_OPT_INT, offsetof(struct summarize_opts, rank), "N",
      "rank of the trace, when neither it nor its file name says" },
    TG_GIVEN_WINDOW(struct summarize_opts, given),
    { "stacks", TG_OPT_FLAG, offsetof(struct summarize_opts, stacks), NULL,
      "totals by nn.Module and by Python function too, for rules of kind module and source; needs "
      "traces recorded with with_stack=True" },
    TG_GIVEN_JSON(struct summarize_opts, given, ""),
    { 0 },
};

static bool check_options(const struct summarize_opts *o, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (args->n == 0) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "summarize needs a trace");
        return tg_err_hint(err, "For example: tracegate summarize trace.json.gz -o trace.tgs.");
    }
    if (o->rank != TG_OPT_UNSET && (o->rank < 0 || args->n > 1)) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--rank names the rank of one trace, from 0");
        return tg_err_hint(err, "Summarise each rank by itself, then merge.");
    }
    return true;
}

static bool summarize(const struct summarize_opts *o, const struct tg_strs *args,
                      const struct tg_io *io, struct tg_arena *a, struct tg_err *err)
{
    struct tg_input_list inputs = { 0 };
    struct tg_repo repo = { 0 };
    struct tg_summary summary;
    struct tg_summarize_opts so = { .rank = o->rank == TG_OPT_UNSET ? -1 : o->rank,
                                    .run = tg_sv_of(o->run) };
    struct tg_progress_line progress;
    struct tg_outputs files = { 0 };
    struct tg_buf out = { 0 };
    size_t handle;
    const char *to = o->output ? o->output : "-";
    bool ok;
    if (o->stacks)
        so.frame_sorts = TG_STACK_ALL;
    tg_summary_init(&summary);
    tg_progress_start(&progress, io);
    ok = check_options(o, args, err) && tg_given_window(&so.window, &o->given, err) &&
         tg_given_apply(&so, &o->given, a, err) && tg_outputs_open(&files, to, &handle, err);
    for (size_t i = 0; ok && i < args->n; i++)
        ok = tg_inputs_add(&inputs, args->v[i], NULL, &repo, a, err);
    ok = ok && tg_inputs_spare(&inputs, &files, err) &&
         tg_inputs_load(&summary, &inputs, &so, &repo, &progress.line, err);
    tg_progress_end(&progress);
    ok = ok && tg_summary_write(&summary, NULL, &out, err) &&
         tg_outputs_put(&files, handle, tg_buf_sv(&out), err) && tg_outputs_commit(&files, err);
    tg_outputs_release(&files);
    tg_buf_release(&out);
    tg_summary_release(&summary);
    tg_repo_release(&repo);
    return ok;
}

static int summarize_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                         struct tg_err *err)
{
    struct tg_arena *a = tg_arena_new();
    bool ok = summarize(opts, args, io, a, err);
    tg_arena_free(a);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_summarize = {
    .name = "summarize",
    .summary = "traces into the small form that check and diff compare",
    .synopsis = "TRACE... [-o FILE] [options]",
    .about = "A summary holds counts, durations and exact facts per step, rank and run, and "
             "stands wherever a trace may: a stored baseline decides exactly as its traces would. "
             "Its bytes depend on the traces alone, not on their order or paths.\n"
             "\n"
             "  tracegate summarize rank0.json.gz --rank 0 --run a -o rank0.tgs",
    .options = summarize_options,
    .opts_size = sizeof(struct summarize_opts),
    .run = summarize_run,
};
