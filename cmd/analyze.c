/* `tracegate analyze`: operators, and the analyses of whole traces. */
#include "cmd/analyze.h"

#include "core/analysis/analysis.h"
#include "core/hta/hta.h"
#include "reporters/table.h"

#define WORD(id, name, python) "|" name
#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_analyze_opts, member)
static const struct tg_opt analyze_options[] = {
    { "measure", AT(LIST, analyses), "ops" TG_ANALYSES(WORD),
      "what to measure, ops by default; may be given several times" },
    { "format", AT(FORMAT, format), "text|csv|json", "form of the table; text is the default" },
    { "whole", AT(FLAG, whole), NULL,
      "everything in the traces, undivided, instead of the mean of a step" },
    { "rank", AT(LIST, rank), "LIST", "only these ranks: 0 or 0,3 or 0-7" },
    { "step", AT(LIST, step), "LIST", "only these numbers of ProfilerStep#N" },
    { "top", AT(INT, top), "N",
      "ops, kernels, sequences, modules, sources: at most N rows, 0 for all" },
    { "series", AT(FLAG, series), NULL,
      "bandwidth, queue: every point of the time series as well" },
    { "op", AT(STR, operator_name), "TEXT",
      "sequences: kernels below operators whose name contains TEXT" },
    { "min-length", AT(INT, min_length), "N",
      "sequences: only those of at least N kernels, copies or sets; 3 is the default" },
    { "class", AT(LIST, classes), "GLOB=CLASS",
      "device work whose name matches is compute, comm, memory or other; or a FILE of such rules, "
      "one per line: CLASS GLOB; repeatable" },
    { "include-last-step", AT(FLAG, include_last_step), NULL,
      "with --hta: keep the last step, which HTA omits" },
    TG_GIVEN_WINDOW(struct tg_analyze_opts, given),
    { "out", AT(STR, svg_dir), "DIR",
      "charts of temporal, idle, overlap, kernel-types, bandwidth, queue, skew, modules and "
      "sources: DIR/NAME.svg" },
    { "overlay", AT(STR, overlay), "FILE",
      "write a copy of the trace (one only) with counter tracks and the sequences below --op" },
    TG_GIVEN_RUNS(struct tg_analyze_opts, given, ""),
    { "hta", AT(FLAG, hta), NULL,
      "the numbers of Holistic Trace Analysis: its rounding and selection" },
    { "no-rounding", AT(FLAG, no_rounding), NULL, "with --hta: as with HTA_DISABLE_NS_ROUNDING=1" },
    { 0 },
};

/* Either "ops", or any number of the analyses that share loaded traces. */
static bool find_analyses(const struct tg_analyze_opts *o, bool *ops, struct tg_err *err)
{
    *ops = !o->analyses.n || tg_strs_has(&o->analyses, "ops");
    if (!*ops || o->analyses.n < 2)
        return true;
    return tg_err_usage(err, "--measure ops cannot be combined with others",
                        "Run it by itself; the other analyses can be combined.");
}

/* Analyses that HTA does not have cannot be asked for with its definitions. */
static bool check_hta(const struct tg_analyze_opts *o, struct tg_err *err)
{
    for (size_t i = 0; o->hta && i < o->analyses.n; i++) {
        const struct tg_analyzer *a = tg_analyzer_find(tg_sv_of(o->analyses.v[i]));
        if (a && !tg_hta_find(tg_sv_of(a->name)))
            return tg_err_usage(err, "HTA has no analysis '%s'", "Leave --hta out.", a->name);
    }
    return true;
}

static bool wants_python(const struct tg_analyze_opts *o)
{
    for (size_t i = 0; i < o->analyses.n; i++) {
        const struct tg_analyzer *a = tg_analyzer_find(tg_sv_of(o->analyses.v[i]));
        if (a && a->python)
            return true;
    }
    return false;
}

static bool check_options(const struct tg_analyze_opts *o, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (args->n == 0)
        return tg_err_usage(err, "analyze needs a trace",
                            "For example: tracegate analyze trace.json.gz --measure ops.");
    if (o->top != TG_OPT_UNSET && o->top < 0)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--top is negative");
    if (o->overlay &&
        (o->hta || args->n != 1 || !o->analyses.n || tg_strs_has(&o->analyses, "ops")))
        return tg_err_usage(
            err, "--overlay needs one trace, --measure (not ops), and no --hta",
            "For example: tracegate analyze t.json.gz --measure queue --overlay marked.json.gz.");
    if (tg_strs_has(&o->analyses, "sequences") != (o->operator_name != NULL))
        return tg_err_usage(err,
                            o->operator_name ? "--op belongs to --measure sequences"
                                             : "--measure sequences needs --op",
                            "For example: --measure sequences --op aten::linear.");
    if (o->whole && o->step.n)
        return tg_err_usage(err, "--whole and --step exclude each other",
                            "--whole includes the time outside steps.");
    return tg_given_check(&o->given, err);
}

static bool measure_ops(const struct tg_analyze_request *q, struct tg_buf *out, struct tg_err *err)
{
    TG_AUTO(tg_table_release) struct tg_table table = { 0 };
    bool ok = tg_analyze_ops(&table, q, err);
    if (ok && q->o->format == TG_FORMAT_CSV)
        tg_table_as_csv(out, &table);
    else if (ok && q->o->format == TG_FORMAT_JSON)
        tg_table_as_json(out, &table, "tracegate-analyze-v1");
    else if (ok)
        tg_table_as_text(out, &table, q->io->columns, 0);
    return ok;
}

/* Analyses other than ops need the events. */
static bool has_traces(const struct tg_input_list *inputs, struct tg_err *err)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (inputs->v[i].stored)
            return tg_err_usage(
                err, "'%s' is a stored run: it has operators and steps, not the trace",
                "--measure ops reads it; for the others name the trace.", inputs->v[i].label);
    return true;
}

static int analyze_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct tg_analyze_opts *o = c->opts;
    bool ops = false;
    struct tg_input_list inputs = { 0 };
    TG_BUF out = { 0 };
    struct tg_progress_line progress;
    struct tg_analyze_request q = { .o = o,
                                    .inputs = &inputs,
                                    .repo = c->repo,
                                    .keep_python = wants_python(o),
                                    .arrange = tg_given_arrange(&o->given, TG_ARRANGE_AUTO),
                                    .io = c->io,
                                    .progress = &progress.line,
                                    .arena = c->arena };
    bool ok = find_analyses(o, &ops, err) && check_options(o, c->args, err) && check_hta(o, err) &&
              tg_given_window(&q.window, &o->given, err) &&
              tg_numbers_parse(&q.ranks, &o->rank, "rank", c->arena, err) &&
              tg_numbers_parse(&q.steps, &o->step, "step", c->arena, err);
    ok = ok && tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err);
    if (q.arrange == TG_ARRANGE_AUTO && tg_inputs_are_stored(&inputs))
        q.arrange = TG_ARRANGE_RUNS;
    ok = ok && (ops || has_traces(&inputs, err));
    tg_progress_start(&progress, c->io);
    ok = ok && (ops ? measure_ops(&q, &out, err) : tg_analyze_traces(&out, &q, err));
    tg_progress_end(&progress);
    return ok && tg_io_put(c->io, tg_buf_sv(&out), err) ? 0 : tg_err_exit_code(err->kind);
}

static const struct tg_opt_was analyze_was[] = {
    { "operator", "op" }, { "svg-dir", "out" }, { "classes", "class" }, { 0 }
};

static const struct tg_opt_needs analyze_needs[] = {
    { "no-rounding", "hta" }, { "include-last-step", "hta" }, { "min-length", "op" }, { 0 }
};

const struct tg_cmd tg_cmd_analyze = {
    .name = "analyze",
    .summary = "measure traces: operators, kernels, and the analyses of HTA's TraceAnalysis",
    .synopsis = "TRACE... [options]",
    .about = "TRACE is a trace or a summary, a directory, a glob, REV:PATH in git, REV (the "
             "baseline stored for that commit; ops only), or - for standard input. Several files "
             "are the ranks of one run if the traces or their names say which, or with --ranks; "
             "ops also takes repeats, with --runs.\n\n"
             "ops: per step and rank, without Python functions; --whole: everything in the traces. "
             "steps: a row for each step. All others: the whole trace of a rank, or the steps that "
             "--step names. Text is for people: short names, a unit per column, what fits. CSV and "
             "JSON have every column, names whole, durations in microseconds, not rounded.\n\n"
             "  tracegate analyze out/ --runs --measure ops --format csv",
    .options = analyze_options,
    .was = analyze_was,
    .needs = analyze_needs,
    .opts_size = sizeof(struct tg_analyze_opts),
    .run = analyze_run,
};
