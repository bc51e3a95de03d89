/* `tracegate analyze`: operators (analyze_ops.c), and the analyses of core/analysis over traces
 * that are loaded once: from files to printed tables. */
#include "cmd/analyze.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "core/analysis/analysis.h"
#include "core/base/sort.h"
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

/* ---- whole traces ---- */

/* One file's trace; NULL: not of a wanted rank. */
struct file {
    struct tg_trace *trace;
    struct tg_steps steps;
    int64_t rank;
};
struct loaded {
    const struct tg_analyze_request *q;
    struct file *files;      /* in the order of the command line */
    struct tg_rank_trace *v; /* of those that are analysed, ascending ranks */
    size_t n;
};

/* ---- loading ---- */

/* Side by side with other files: shares nothing with them. */
static bool read_one(void *arg, size_t i, struct tg_err *err)
{
    const struct loaded *l = arg;
    const struct tg_analyze_request *q = l->q;
    struct file *k = &l->files[i];
    struct tg_load_opts opts = { .keep_hta = q->o->hta,
                                 .keep_python = q->keep_python,
                                 .want_attrs = true,
                                 .want_memory = !q->o->hta };
    int64_t hta = -1;
    TG_BUF bytes = { 0 };
    if (q->o->hta && !tg_rank_by_hta(&hta, &q->inputs->v[i], q->repo, err))
        return false;
    TG_SOURCE *s = tg_inputs_open(&q->inputs->v[i], q->repo, NULL, &bytes, err);
    tg_reading_opts(&opts.reader, tg_reading_share(i, q->inputs->n));
    k->trace = s ? tg_trace_load(s, &opts, q->progress, err) : NULL;
    if (!k->trace)
        return false;
    if (q->keep_python && !q->o->hta)
        tg_trace_set_python_apart(k->trace);
    int64_t rank = hta >= 0 ? hta : k->trace->info->rank;
    if (rank < 0 && !q->o->hta)
        rank = tg_file_rank(tg_sv_of(q->inputs->v[i].label));
    k->rank = rank < 0 && (q->o->hta || q->inputs->n == 1) ? 0 : rank;
    if (tg_listed(q->ranks.v, q->ranks.n, k->rank))
        return q->o->hta || tg_steps_build(&k->steps, k->trace, &q->window, err);
    tg_trace_free(k->trace);
    k->trace = NULL;
    return true;
}

static void drop(struct file *f)
{
    tg_steps_release(&f->steps);
    tg_trace_free(f->trace);
    *f = (struct file){ 0 };
}

static int by_rank(const void *pa, const void *pb)
{
    const struct tg_rank_trace *a = pa, *b = pb;
    return TG_CMP(a->rank, b->rank);
}

static bool load(struct loaded *l, struct tg_err *err)
{
    size_t n_files = l->q->inputs->n, n = 0;
    l->files = tg_xcalloc(n_files + 1, sizeof *l->files);
    if (!tg_reading_each(n_files, read_one, l, l->q->progress, err))
        return false;
    /* One file of each rank: of two HTA takes the second. */
    for (size_t i = 0; i < n_files; i++) {
        struct file *f = &l->files[i];
        const char *label = l->q->inputs->v[i].label;
        if (!f->trace)
            continue;
        if (f->rank < 0 && l->q->arrange == TG_ARRANGE_RANKS)
            f->rank = (int64_t)l->n; /* numbered in the order of paths */
        for (size_t k = 0; k < i; k++) {
            const char *other = l->q->inputs->v[k].label;
            if (!l->files[k].trace || l->files[k].rank != f->rank)
                continue;
            if (!l->q->o->hta && f->rank < 0)
                return tg_err_usage(err, "neither '%s' nor '%s' names a rank",
                                    "Analyse repeats one by one; of ranks, say so with --ranks.",
                                    other, label);
            if (!l->q->o->hta)
                return tg_err_usage(err, "'%s' and '%s' are both rank %" PRId64,
                                    "analyze takes the ranks of one run: name each rank once.",
                                    other, label, f->rank);
            tg_io_note(l->q->io,
                       "'%s' is rank %" PRId64 " again: as HTA does, it replaces the earlier file",
                       label, f->rank);
            drop(&l->files[k]);
            l->n--;
        }
        l->n++;
    }
    if (!l->n)
        return tg_err_usage(err, "none of the traces is of the wanted rank",
                            "Run without --rank to see all of them.");
    l->v = tg_xmalloc(l->n * sizeof *l->v);
    for (size_t i = 0; i < n_files; i++) {
        struct file *f = &l->files[i];
        if (f->trace)
            l->v[n++] =
                (struct tg_rank_trace){ f->rank, f->trace, l->q->o->hta ? NULL : &f->steps };
    }
    TG_SORT(l->v, l->n, by_rank);
    return true;
}

/* ---- options ---- */

/* Rows of the command line come before those of files: it has the last word. */
static bool class_rows(struct tg_classes *out, const struct tg_analyze_opts *m, struct tg_arena *a,
                       struct tg_err *err)
{
    struct tg_class_row *rows = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < m->classes.n; i++) {
        const char *row = m->classes.v[i], *eq = strrchr(row, '=');
        if (!eq)
            continue;
        *TG_ARENA_PUSH(a, rows, n, cap) =
            (struct tg_class_row){ .glob = { row, (size_t)(eq - row) } };
        if (!tg_class_from_name(tg_sv_of(eq + 1), &rows[n - 1].class_))
            return tg_err_usage(err, "--class '%s' is not GLOB=CLASS",
                                "For example --class '*my_allreduce*=comm'; the classes are "
                                "compute, comm, memory, other.",
                                row);
    }
    for (size_t i = 0; i < m->classes.n; i++) {
        TG_BUF text = { 0 };
        struct tg_classes file = { 0 };
        const char *path = m->classes.v[i];
        if (strchr(path, '='))
            continue;
        if (!tg_file_read(&text, path, TG_LIMITS_DEFAULT.max_policy, err) ||
            !tg_classes_parse(&file, tg_buf_sv(&text), path, a, err))
            return false;
        for (size_t k = 0; k < file.n; k++)
            *TG_ARENA_PUSH(a, rows, n, cap) = file.v[k];
    }
    *out = (struct tg_classes){ rows, n };
    return true;
}

static bool make_opts(struct tg_analysis_opts *o, const struct tg_analyze_request *q,
                      struct tg_err *err)
{
    const struct tg_analyze_opts *m = q->o;
    *o = (struct tg_analysis_opts){ .hta = q->o->hta,
                                    .no_rounding = q->o->no_rounding,
                                    .include_last_step = m->include_last_step,
                                    .series = m->series || m->svg_dir,
                                    .steps = q->steps.v,
                                    .n_steps = q->steps.n,
                                    .operator_name = tg_sv_of(m->operator_name),
                                    .min_length = 3,
                                    .top_default = m->top == TG_OPT_UNSET };
    if (m->min_length != TG_OPT_UNSET && m->min_length < 0)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--min-length is negative");
    if (m->min_length != TG_OPT_UNSET)
        o->min_length = (size_t)m->min_length;
    if (!o->top_default)
        o->top = (size_t)m->top;
    return class_rows(&o->classes, m, q->arena, err);
}

/* ---- printing ---- */

#define TEXT_ROWS 60 /* of one table for people; files have them all */

static bool put_charts(const struct tg_tables *f, const char *dir, const struct tg_io *io,
                       struct tg_arena *a, struct tg_err *err)
{
    TG_BUF svg = { 0 };
    bool ok = true;
    for (const struct tg_tablechart *g = tg_tablecharts; ok && g->frame; g++) {
        const struct tg_table *frame = tg_tables_find(f, g->frame);
        if (!frame)
            continue;
        tg_buf_clear(&svg);
        if (tg_tablechart_svg(&svg, frame))
            ok = tg_file_write(tg_arena_printf(a, "%s/%s.svg", dir, g->file), tg_buf_sv(&svg), err);
        else
            tg_io_note(io, "nothing to draw for %s", g->file);
    }
    return ok;
}

static bool analyze_traces(struct tg_buf *out, const struct tg_analyze_request *q,
                           struct tg_err *err)
{
    const struct tg_analyze_opts *m = q->o;
    struct tg_analysis_opts opts;
    struct tg_analysis_in in = { 0 };
    struct tg_tables tables;
    struct loaded l = { .q = q };
    bool ok = make_opts(&opts, q, err) && load(&l, err);
    tg_tables_init(&tables);
    if (ok) {
        if (opts.hta) {
            in = (struct tg_analysis_in){ .ranks = l.v, .n = l.n, .opts = &opts };
            struct tg_hta *hta = tg_hta_prepare(l.v, l.n, &opts);
            for (size_t i = 0; i < m->analyses.n; i++)
                tg_hta_find(tg_sv_of(m->analyses.v[i]))->run(hta, &tables);
            tg_hta_free(hta);
        } else {
            tg_analysis_init(&in, l.v, l.n, &opts);
            for (size_t i = 0; i < m->analyses.n; i++)
                tg_analyzer_find(tg_sv_of(m->analyses.v[i]))->run(&in, &tables);
        }
        ok = !m->svg_dir || put_charts(&tables, m->svg_dir, q->io, q->arena, err);
        if (ok && m->overlay && q->inputs->n != 1)
            ok = tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--overlay takes one trace");
        ok = ok && (!m->overlay || tg_overlay_write(m->overlay, &q->inputs->v[0], &in, q, err));
        if (!m->series) {
            /* The series that only the charts wanted are not printed. */
            size_t kept = 0;
            for (size_t k = 0; k < tables.n; k++) {
                if (tg_sv_ends(tg_sv_of(tables.v[k].name), TG_SV("-series")))
                    tg_table_release(&tables.v[k]);
                else
                    tables.v[kept++] = tables.v[k];
            }
            tables.n = kept;
        }
        /* Several tables in one stream are told apart by a line "# NAME" and an empty line
         * between. */
        if (q->o->format == TG_FORMAT_JSON) {
            tg_tables_as_json(out, &tables, "tracegate-analyze-v1");
        } else {
            for (size_t j = 0; j < tables.n; j++) {
                if (tables.n > 1)
                    tg_buf_printf(out, "%s# %s\n", j ? "\n" : "", tables.v[j].name);
                if (q->o->format == TG_FORMAT_CSV)
                    tg_table_as_csv(out, &tables.v[j]);
                else
                    tg_table_as_text(out, &tables.v[j], q->io->columns, TEXT_ROWS);
            }
        }
        tg_analysis_release(&in);
    }
    tg_tables_release(&tables);
    for (size_t i = 0; l.files && i < q->inputs->n; i++)
        drop(&l.files[i]);
    free(l.v);
    free(l.files);
    return ok;
}

/* ---- the command ---- */

/* `ops`: either "ops" is measured, or any number of the analyses that share loaded traces. */
static bool check_options(const struct tg_analyze_opts *o, bool ops, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (ops && o->analyses.n > 1)
        return tg_err_usage(err, "--measure ops cannot be combined with others",
                            "Run it by itself; the other analyses can be combined.");
    if (args->n == 0)
        return tg_err_usage(err, "analyze needs a trace",
                            "For example: tracegate analyze trace.json.gz --measure ops.");
    if (o->top != TG_OPT_UNSET && o->top < 0)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--top is negative");
    if (o->overlay && (o->hta || args->n != 1 || ops))
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
    if (!tg_given_check(&o->given, err))
        return false;
    /* Analyses that HTA does not have cannot be asked for with its definitions. */
    for (size_t i = 0; o->hta && i < o->analyses.n; i++) {
        const struct tg_analyzer *a = tg_analyzer_find(tg_sv_of(o->analyses.v[i]));
        if (a && !tg_hta_find(tg_sv_of(a->name)))
            return tg_err_usage(err, "HTA has no analysis '%s'", "Leave --hta out.", a->name);
    }
    return true;
}

static int analyze_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct tg_analyze_opts *o = c->opts;
    bool ops = !o->analyses.n || tg_strs_has(&o->analyses, "ops");
    struct tg_input_list inputs = { 0 };
    TG_BUF out = { 0 };
    TG_AUTO(tg_table_release) struct tg_table table = { 0 };
    struct tg_progress_line progress;
    struct tg_analyze_request q = { .o = o,
                                    .inputs = &inputs,
                                    .repo = c->repo,
                                    .arrange = tg_given_arrange(&o->given, TG_ARRANGE_AUTO),
                                    .io = c->io,
                                    .progress = &progress.line,
                                    .arena = c->arena };
    for (size_t i = 0; i < o->analyses.n; i++) {
        const struct tg_analyzer *a = tg_analyzer_find(tg_sv_of(o->analyses.v[i]));
        q.keep_python |= a && a->python;
    }
    bool ok = check_options(o, ops, c->args, err) && tg_given_window(&q.window, &o->given, err) &&
              tg_numbers_parse(&q.ranks, &o->rank, "rank", c->arena, err) &&
              tg_numbers_parse(&q.steps, &o->step, "step", c->arena, err) &&
              tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err);
    if (q.arrange == TG_ARRANGE_AUTO && tg_inputs_are_stored(&inputs))
        q.arrange = TG_ARRANGE_RUNS;
    for (size_t i = 0; ok && !ops && i < inputs.n; i++)
        if (inputs.v[i].stored) /* analyses other than ops need the events */
            ok = tg_err_usage(
                err, "'%s' is a stored run: it has operators and steps, not the trace",
                "--measure ops reads it; for the others name the trace.", inputs.v[i].label);
    tg_progress_start(&progress, c->io);
    ok = ok && (ops ? tg_analyze_ops(&table, &q, err) : analyze_traces(&out, &q, err));
    tg_progress_end(&progress);
    if (ok && ops && o->format == TG_FORMAT_CSV)
        tg_table_as_csv(&out, &table);
    else if (ok && ops && o->format == TG_FORMAT_JSON)
        tg_table_as_json(&out, &table, "tracegate-analyze-v1");
    else if (ok && ops)
        tg_table_as_text(&out, &table, c->io->columns, 0);
    return ok && tg_io_put(c->io, tg_buf_sv(&out), err) ? 0 : tg_err_exit_code(err->kind);
}

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
    .was =
        (const struct tg_opt_was[]){
            { "operator", "op" }, { "svg-dir", "out" }, { "classes", "class" }, { 0 } },
    .needs = (const struct tg_opt_needs[]){ { "no-rounding", "hta" },
                                            { "include-last-step", "hta" },
                                            { "min-length", "op" },
                                            { 0 } },
    .opts_size = sizeof(struct tg_analyze_opts),
    .run = analyze_run,
};
