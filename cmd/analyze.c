/* `tracegate analyze`: whole-trace measures, a row of tg_analyses each. */
#include "cmd/analyze.h"

#include <stddef.h>

#include "cmd/options.h"

const struct tg_analysis *const tg_analyses[] = { &tg_analysis_ops, NULL };

struct analyze_opts {
    const char *measure, *format;
    struct tg_strs rank, step;
    bool whole, hta, no_rounding, runs, ranks;
};

static const struct tg_opt analyze_options[] = {
    { "measure", TG_OPT_STR, offsetof(struct analyze_opts, measure), "NAME",
      "what to measure; ops (the default): count and total duration by category and name" },
    { "format", TG_OPT_STR, offsetof(struct analyze_opts, format), "text|csv|json",
      "form of the table; text is the default" },
    { "whole", TG_OPT_FLAG, offsetof(struct analyze_opts, whole), NULL,
      "everything in the traces, undivided, instead of what a step holds on average" },
    { "rank", TG_OPT_LIST, offsetof(struct analyze_opts, rank), "LIST",
      "only these ranks: 0 or 0,3 or 0-7" },
    { "step", TG_OPT_LIST, offsetof(struct analyze_opts, step), "LIST",
      "only these numbers of ProfilerStep#N" },
    { "runs", TG_OPT_FLAG, offsetof(struct analyze_opts, runs), NULL,
      "files without a rank are repeats of one program" },
    { "ranks", TG_OPT_FLAG, offsetof(struct analyze_opts, ranks), NULL,
      "files without a rank are ranks of one run" },
    { "hta", TG_OPT_FLAG, offsetof(struct analyze_opts, hta), NULL,
      "the numbers of Holistic Trace Analysis: its rounding and selection" },
    { "no-rounding", TG_OPT_FLAG, offsetof(struct analyze_opts, no_rounding), NULL,
      "with --hta: as with HTA_DISABLE_NS_ROUNDING=1" },
    { 0 },
};

static const struct tg_analysis *find_analysis(const char *name, struct tg_err *err)
{
    const char *names[32], *meant;
    struct tg_buf list = { 0 };
    size_t n = 0;
    for (const struct tg_analysis *const *a = tg_analyses; *a; a++) {
        if (strcmp((*a)->name, name) == 0) {
            tg_buf_release(&list);
            return *a;
        }
        tg_buf_printf(&list, "%s%s", n ? ", " : "", (*a)->name);
        if (n < 32)
            names[n++] = (*a)->name;
    }
    meant = tg_nearest(name, names, n);
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "there is no measure '%s'", name);
    if (meant)
        (void)tg_err_hint(err, "Did you mean %s? The measures are %s.", meant, list.p);
    else
        (void)tg_err_hint(err, "The measures are %s.", list.p);
    tg_buf_release(&list);
    return NULL;
}

static bool check_options(const struct analyze_opts *o, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (args->n == 0) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "analyze needs a trace");
        return tg_err_hint(err, "For example: tracegate analyze trace.json.gz --measure ops.");
    }
    if (o->no_rounding && !o->hta) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--no-rounding belongs to --hta");
        return tg_err_hint(err, "Without --hta nothing is ever rounded.");
    }
    if (o->runs && o->ranks) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--runs and --ranks exclude each other");
        return tg_err_hint(err, "Say what files without a rank are: repeats, or ranks.");
    }
    return true;
}

static bool print(const struct tg_sheet *g, const struct tg_analysis *a,
                  const struct analyze_opts *o, const struct tg_io *io, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    bool ok;
    if (o->format && o->format[0] == 'c')
        tg_sheet_csv(g, &out);
    else if (o->format && o->format[0] == 'j')
        tg_sheet_json(g, "tracegate-analyze-v1", a->name, &out);
    else
        tg_sheet_text(g, io->columns, &out);
    ok = tg_io_put(io, tg_buf_sv(&out), err);
    tg_buf_release(&out);
    return ok;
}

static bool analyze(const struct analyze_opts *o, const struct tg_strs *args,
                    const struct tg_io *io, struct tg_arena *a, struct tg_err *err)
{
    const struct tg_analysis *what = find_analysis(o->measure ? o->measure : "ops", err);
    struct tg_input_list inputs = { 0 };
    struct tg_repo repo = { 0 };
    struct tg_sheet grid = { 0 };
    struct tg_progress_line progress;
    struct tg_analyze_request q = { .inputs = &inputs,
                                    .repo = &repo,
                                    .whole = o->whole,
                                    .hta = o->hta,
                                    .no_rounding = o->no_rounding,
                                    .as_runs = o->runs,
                                    .as_ranks = o->ranks,
                                    .io = io,
                                    .progress = &progress.line,
                                    .arena = a };
    bool ok = what && check_options(o, args, err) &&
              tg_numbers_parse(&q.ranks, &o->rank, "rank", a, err) &&
              tg_numbers_parse(&q.steps, &o->step, "step", a, err);
    for (size_t i = 0; ok && i < args->n; i++)
        ok = tg_inputs_add(&inputs, args->v[i], NULL, &repo, a, err);
    tg_progress_start(&progress, io);
    ok = ok && what->run(&grid, &q, err);
    tg_progress_end(&progress);
    ok = ok && print(&grid, what, o, io, err);
    tg_sheet_release(&grid);
    tg_repo_release(&repo);
    return ok;
}

static int analyze_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                       struct tg_err *err)
{
    struct tg_arena *a = tg_arena_new();
    bool ok = analyze(opts, args, io, a, err);
    tg_arena_free(a);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_analyze = {
    .name = "analyze",
    .summary = "measure traces: operators and kernels, and what HTA's TraceAnalysis computes",
    .synopsis = "TRACE... [options]",
    .about = "TRACE is a file (.json, .json.gz, .json.zst), a directory, a glob, a summary, "
             "REV:PATH in git, or - for standard input. Several files are the ranks of one run.\n"
             "\n"
             "Durations are microseconds. Without --whole, counts and durations are per step and "
             "rank; nothing is rounded.\n"
             "\n"
             "  tracegate analyze out/ --measure ops --format csv",
    .options = analyze_options,
    .opts_size = sizeof(struct analyze_opts),
    .run = analyze_run,
};
