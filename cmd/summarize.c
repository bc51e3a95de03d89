/* `tracegate summarize`: traces -> the small form that a comparison needs. */
#include <inttypes.h>

#include "cmd/gate/given.h"
#include "cmd/gate/launcher.h"
#include "core/base/file.h"

struct summarize_opts {
    const char *output, *run;
    struct tg_given given;
    const char *rank;
    bool stacks;
};
static const struct tg_opt summarize_options[] = {
    { "out", TG_OPT_STR, offsetof(struct summarize_opts, output), "FILE",
      "the file of the summary; - (the default) is standard output; with --rank auto a folder, for "
      "summary-RANK.tgs (default: the current one)" },
    TG_GIVEN_META(struct summarize_opts, given, ""),
    { "run", TG_OPT_STR, offsetof(struct summarize_opts, run), "ID",
      "name of the run that all traces belong to; default: from their contents" },
    { "rank", TG_OPT_STR, offsetof(struct summarize_opts, rank), "N|auto",
      "rank of the trace, if neither the trace nor its file name has it; auto: from torchrun, "
      "mpirun or srun, with local rank, node and number of ranks" },
    TG_GIVEN_WINDOW(struct summarize_opts, given),
    { "stacks", TG_OPT_FLAG, offsetof(struct summarize_opts, stacks), NULL,
      "totals by nn.Module and by Python function too, for rules of kind module and source; needs "
      "traces recorded with with_stack=True" },
    TG_GIVEN_JSON(struct summarize_opts, given, ""),
    { 0 },
};

static bool is_auto(const struct summarize_opts *o)
{
    return o->rank && strcmp(o->rank, "auto") == 0;
}

/* `rank`: that of --rank, -1 if there is none. */
static bool check_options(const struct summarize_opts *o, const struct tg_strs *args, int64_t *rank,
                          struct tg_err *err)
{
    *rank = -1;
    if (args->n == 0)
        return tg_err_usage(err, "summarize needs a trace",
                            "For example: tracegate summarize trace.json.gz -o trace.tgs.");
    if (o->rank && args->n > 1)
        return tg_err_usage(err, "--rank names the rank of one trace, from 0",
                            "Summarise each rank by itself, then merge.");
    if (!o->rank || is_auto(o) || (tg_sv_i64(tg_sv_of(o->rank), rank) && *rank >= 0))
        return true;
    return tg_err_usage(err, "--rank needs a number from 0, or auto, not '%s'",
                        "auto takes it from torchrun, mpirun or srun.", o->rank);
}

/* ---- --rank auto ---- */

/* The trace's own word, or none: else it is another rank's, or another job's. */
static bool check_rank(struct tg_summary *s, const struct tg_launcher *l, const char *trace,
                       struct tg_err *err)
{
    const struct tg_shard *shard = s->n ? s->shards[0] : NULL;
    int64_t size;
    if (s->n != 1)
        return tg_err_usage(err, "'%s' holds %zu ranks or runs",
                            "--rank auto is for the trace of one process.", trace, s->n);
    if (shard->rank >= 0 && shard->rank != l->rank)
        return tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(trace),
                          "'%s' is the trace of rank %" PRId64 ", %s says %" PRId64,
                          "Is it the trace of this process and of this job?", trace, shard->rank,
                          l->from, l->rank);
    if (l->world_size >= 0 && tg_sv_i64(tg_shard_env(shard, "world_size"), &size) &&
        size != l->world_size)
        return tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(trace),
                          "'%s' is of a job of %" PRId64 " ranks, the launcher has %" PRId64,
                          "Is it the trace of this job?", trace, size, l->world_size);
    if (l->node.n)
        tg_summary_note(s, "node", l->node);
    if (l->local_rank >= 0)
        tg_summary_note(s, "local_rank", TG_SV_PRINTF(s->arena, "%" PRId64, l->local_rank));
    if (l->world_size >= 0)
        tg_summary_note(s, "world_size", TG_SV_PRINTF(s->arena, "%" PRId64, l->world_size));
    tg_summary_set_rank(s, l->rank);
    return true;
}

static const char *place_of(const struct summarize_opts *o, int64_t rank, struct tg_arena *a)
{
    const char *dir = o->output ? o->output : ".";
    size_t n = strlen(dir);
    if (o->output && n && dir[n - 1] != '/' && !tg_file_is_dir(dir))
        return dir;
    return tg_arena_printf(a, "%s%ssummary-%" PRId64 ".tgs", dir, n && dir[n - 1] == '/' ? "" : "/",
                           rank);
}

/* ---- the command ---- */

static int summarize_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct summarize_opts *o = c->opts;
    const bool own = is_auto(o); /* the trace of this process, whose launcher says the rank */
    struct tg_input_list inputs = { 0 };
    TG_AUTO(tg_summary_release) struct tg_summary summary;
    struct tg_summarize_opts so = { .run = tg_sv_of(o->run),
                                    .frame_sorts = o->stacks ? TG_STACK_ALL : 0 };
    TG_AUTO(tg_outputs_release) struct tg_outputs files = { .standard = c->io->out };
    struct tg_launcher l;
    TG_BUF out = { 0 };
    size_t handle;
    tg_summary_init(&summary);
    bool ok = check_options(o, c->args, &so.rank, err) &&
              (!own || tg_launcher_find(&l, c->io, c->arena, err)) &&
              tg_given_window(&so.window, &o->given, err) &&
              tg_given_apply(&so, &o->given, c->arena, err) &&
              (own || tg_outputs_open(&files, o->output ? o->output : "-", &handle, err)) &&
              tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err);
    if (ok && own)
        ok = tg_inputs_load(&summary, &inputs, &so, c->repo, NULL, err) &&
             check_rank(&summary, &l, c->args->v[0], err);
    else if (ok)
        ok = tg_inputs_spare(&inputs, &files, err) &&
             tg_inputs_read(&summary, &inputs, &so, c->repo, c->io, err);
    ok = ok && tg_summary_write(&summary, NULL, &out, err);
    if (ok && !own)
        ok = tg_outputs_put(&files, handle, tg_buf_sv(&out), err) && tg_outputs_commit(&files, err);
    else if (ok && o->output && strcmp(o->output, "-") == 0)
        ok = tg_io_put(c->io, tg_buf_sv(&out), err);
    else if (ok)
        ok = tg_file_retry_write(place_of(o, l.rank, c->arena), tg_buf_sv(&out), (uint64_t)l.rank,
                                 err);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_summarize = {
    .name = "summarize",
    .summary = "reduce traces to the small form that check and diff compare",
    .synopsis = "TRACE... [-o FILE] [options]",
    .about = "A summary holds counts, durations and launch attributes per step, rank and run, and "
             "can replace a trace everywhere: a stored baseline gives exactly the verdict of its "
             "traces. Its bytes depend on the traces alone, not on their order or paths.\n\n"
             "  tracegate summarize rank0.json.gz --rank 0 --run a -o rank0.tgs\n"
             "  srun tracegate summarize /tmp/trace.json --rank auto --run \"$SLURM_JOB_ID\" -o "
             "/shared/summaries/",
    .options = summarize_options,
    .opts_size = sizeof(struct summarize_opts),
    .run = summarize_run,
};
