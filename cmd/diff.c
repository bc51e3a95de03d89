/* `tracegate diff`: two sides without a policy; the table of HTA's TraceDiff and more. */
#include "cmd/diff.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/gate/picture.h"
#include "core/base/file.h"
#include "reporters/reporter.h"

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_diff_opts, member)
static const struct tg_opt diff_options[] = {
    { "device", AT(CHOICE, device), "all|cpu|gpu", "host rows, device rows, or all (the default)" },
    { "rank", AT(LIST, rank), "LIST",
      "only these ranks: 0 or 0,3 or 0-7; of one side: baseline=0 or fresh=3; repeatable" },
    { "step", AT(LIST, step), "LIST",
      "only these numbers of ProfilerStep#N; of one side: baseline=4 or fresh=5; repeatable" },
    { "whole", AT(FLAG, whole), NULL,
      "undivided sums over everything, including the time outside steps" },
    { "group", AT(LIST, group), "added|deleted|increased|decreased|unchanged",
      "only rows of this group; repeatable" },
    { "by", AT(CHOICE, by), "name|shape|grid|short-name|judged-name",
      "split a name by its input shapes, or by its launch grid and block; join names by HTA's "
      "short one (which merges different kernels), or by the one that check judges" },
    { "sort", AT(CHOICE, sort), "duration|count|name|baseline|fresh",
      "largest change of duration (the default) or of count first, by name, or by a side's total" },
    { "top", AT(INT, top), "N", "only the first N rows" },
    { "exclude", AT(LIST, exclude), "GLOB",
      "omit names that match; repeatable: --exclude 'ProfilerStep*'" },
    { "format", AT(FORMAT, format), "text|csv|json",
      "form of the table; text is the default, CSV has HTA's columns" },
    { "cause", AT(FLAG, cause), NULL,
      "below the table: where in the program the rows that changed most come from" },
    { "base-commit", AT(STR, base_commit), "REV",
      "with --cause: the commit of BASELINE, to see what changed since" },
    { "svg-counts", AT(STR, svg_counts), "FILE", "draw the largest changes of counts" },
    { "svg-durations", AT(STR, svg_durations), "FILE", "draw the largest changes of durations" },
    { "html", AT(STR, html), "FILE",
      "write a self-contained page: the step before and after, call paths, all rows" },
    { "svg-style", AT(LIST, svg_style), TG_SVG_STYLES },
    TG_GIVEN_WINDOW(struct tg_diff_opts, given),
    TG_GIVEN_RUNS(struct tg_diff_opts, given, ""),
    { "hta", AT(FLAG, hta), NULL,
      "the numbers of HTA's TraceDiff: its rounding, its first rank and first step" },
    { "no-rounding", AT(FLAG, no_rounding), NULL, "with --hta: as with HTA_DISABLE_NS_ROUNDING=1" },
    TG_GIVEN_TRUST(struct tg_diff_opts, given),
    { 0 },
};

static bool excludes(const char *a, bool has_a, const char *b, bool has_b, struct tg_err *err)
{
    if (!has_a || !has_b)
        return true;
    return tg_err_usage(err, "%s and %s exclude each other", "See tracegate diff --help.", a, b);
}

/* The numbers of each side. */
static bool numbers(struct tg_numbers of[2], const struct tg_strs *given, const char *option,
                    const struct tg_diff_request *q, struct tg_err *err)
{
    struct tg_strs side[2];
    for (size_t s = 0; s < 2; s++)
        side[s] = tg_given_side(given, s, q->arena);
    return tg_numbers_parse(&of[0], &side[0], option, q->arena, err) &&
           tg_numbers_parse(&of[1], &side[1], option, q->arena, err);
}

static bool check_options(struct tg_diff_request *q, const struct tg_strs *args, struct tg_err *err)
{
    const struct tg_diff_opts *o = q->o;
    if (args->n != 2)
        return tg_err_usage(err, "diff compares two sides, %zu given",
                            args->n > 2
                                ? "Name a folder, or quote a glob so that the shell leaves it "
                                  "whole: tracegate diff perf 'out/*.json.gz' --runs."
                                : "For example: tracegate diff origin/main:perf out/ --runs.",
                            args->n);
    if (o->top != TG_OPT_UNSET && o->top < 1)
        return tg_err_usage(err, "--top needs a number from 1, not %" PRId64,
                            "Without --top every row is shown.", o->top);
    return tg_given_check(&o->given, err) &&
           excludes("--hta", o->hta, "--by judged-name", o->by == TG_DIFF_BY_JUDGED_NAME, err) &&
           excludes("--hta", o->hta, "--window", o->given.window != NULL, err) &&
           excludes("--hta", o->hta, "--by shape or grid", q->splits_names, err) &&
           excludes("--html", o->html != NULL, "--hta", o->hta, err) &&
           excludes("--html", o->html != NULL, "--whole", o->whole, err) &&
           excludes("--html", o->html != NULL, "--by shape or grid", q->splits_names, err) &&
           excludes("--cause", o->cause, "--hta", o->hta, err) &&
           excludes("--cause", o->cause, "--by shape or grid", q->splits_names, err) &&
           excludes("--cause", o->cause, "--whole", o->whole, err) &&
           excludes("--cause", o->cause, "--format csv", o->format == TG_FORMAT_CSV, err) &&
           excludes("--whole", o->whole, "--step", o->step.n > 0, err) &&
           tg_given_window(&q->window, &o->given, err) &&
           numbers(q->ranks, &o->rank, "rank", q, err) &&
           numbers(q->steps, &o->step, "step", q, err);
}

/* ---- output ---- */

/* Charts and the page are opened before the traces are read: what can fail cheaply fails first. */
enum { CHART_COUNTS, CHART_DURATIONS, CHART_PAGE, CHARTS };
struct charts {
    struct tg_outputs files;
    const char *path[CHARTS];
    size_t handle[CHARTS];
};

static bool open_charts(struct charts *ch, const struct tg_diff_opts *o, struct tg_err *err)
{
    const char *const path[CHARTS] = { o->svg_counts, o->svg_durations, o->html };
    memcpy(ch->path, path, sizeof path);
    for (int i = 0; i < CHARTS; i++)
        if (path[i] && !tg_outputs_open(&ch->files, path[i], &ch->handle[i], err))
            return false;
    return true;
}

static bool put_table(const struct tg_diff_request *q, const struct tg_difftable *t,
                      const struct tg_render *r, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (q->o->format == TG_FORMAT_CSV)
        tg_difftable_csv(&out, t);
    else if (q->o->format == TG_FORMAT_JSON)
        tg_difftable_json(&out, t);
    else
        tg_difftable_text(&out, t, r);
    return tg_io_put(q->io, tg_buf_sv(&out), err);
}

static tg_sv device_of(const struct tg_comparison *c, int side)
{
    for (size_t i = 0; i < c->n_env; i++)
        if (tg_sv_eq(c->env[i].key, TG_SV("device")))
            return c->env[i].value[side].n ? c->env[i].value[side] : TG_SV("unknown");
    return TG_SV("unknown");
}

static bool put_causes(const struct tg_diff_request *q, const struct tg_verdict *causes,
                       struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (q->o->cause && q->o->format == TG_FORMAT_TEXT)
        tg_diff_put_causes(&out, causes);
    return !out.n || tg_io_put(q->io, tg_buf_sv(&out), err);
}

/* Of the first trace of each side. */
static const struct tg_picture *picture_of(const struct tg_diff_request *q)
{
    const struct tg_load_opts load = { .reader = { .want_args = true } };
    struct tg_picture *picture = TG_NEW(q->arena, struct tg_picture);
    tg_picture_take(picture,
                    &(struct tg_picture_ask){ .from.side = { &q->inputs[0], &q->inputs[1] },
                                              .from.load = &load,
                                              .from.window = &q->window,
                                              .from.repo = q->repo,
                                              .arena = q->arena });
    return picture;
}

static bool report(const struct tg_diff_request *q, const struct tg_comparison *c,
                   struct charts *ch, struct tg_err *err)
{
    struct tg_difftable t = { .comparison = c, .whole = q->o->whole || q->o->hta };
    struct tg_render r = { .columns = q->io->columns, .color = q->io->color };
    struct tg_verdict causes = { .n_results = 0 };
    t.rows = tg_diff_rows(q, c, &t.n_rows);
    r.top = t.n_rows ? t.n_rows : 1;
    t.label[0] = TG_SV("baseline");
    t.label[1] = TG_SV("fresh");
    if (q->o->cause) {
        tg_diff_find_causes(&causes, q, c, t.rows, t.n_rows);
        t.causes = &causes;
    }
    if (!put_table(q, &t, &r, err) || !put_causes(q, &causes, err))
        return false;
    if (q->o->format == TG_FORMAT_TEXT) {
        /* What a reader of the table should know; people only. */
        /* Ranks of one side alone take no part; sides without any in common compare as they are. */
        for (int s = 0; s < 2; s++) {
            TG_BUF b = { 0 };
            if (!c->n_lacking[s] || c->side[TG_BASE].ranks[0] != c->side[TG_TEST].ranks[0])
                continue;
            tg_ranks_put(&b, c->lacking[s], c->n_lacking[s]);
            tg_io_note(q->io, "%s not in every run of %s: ignored", b.p, q->label[s]);
        }
        if (!q->o->hta && !q->o->whole && !q->splits_names) {
            for (int s = 0; s < 2; s++)
                if (!c->marked[s] && q->window.by == TG_WINDOW_AUTO)
                    tg_io_note(
                        q->io,
                        "%s has no ProfilerStep: everything in it counts as one step%s%.*s%s",
                        q->label[s], c->n_hints ? "; try --window 'annotation:" : "",
                        c->n_hints ? (int)c->hints[0].name.n : 0,
                        c->n_hints ? c->hints[0].name.p : "", c->n_hints ? "'" : "");
            if (!tg_same_device(c))
                tg_io_note(q->io, "the devices differ: %.*s and %.*s",
                           TG_SV_ARG(device_of(c, TG_BASE)), TG_SV_ARG(device_of(c, TG_TEST)));
        }
    }
    r.top = q->o->top != TG_OPT_UNSET ? (size_t)q->o->top : 0;
    r.narrow = tg_strs_has(&q->o->svg_style, "narrow");
    r.share = tg_strs_has(&q->o->svg_style, "share");
    if (ch->path[CHART_PAGE]) {
        for (int s = 0; s < 2; s++)
            t.label[s] = tg_sv_of(q->label[s]);
        r.picture = picture_of(q);
    }
    TG_BUF svg = { 0 };
    bool ok = true;
    for (int i = 0; ok && i < CHARTS; i++) {
        if (!ch->path[i])
            continue;
        tg_buf_clear(&svg);
        if (i == CHART_PAGE)
            tg_difftable_html(&svg, &t, &r);
        else
            tg_difftable_svg(&svg, &t, i == CHART_DURATIONS, &r);
        ok = tg_outputs_put(&ch->files, ch->handle[i], tg_buf_sv(&svg), err);
    }
    return ok && tg_outputs_commit(&ch->files, err);
}

static int diff_run(const struct tg_cmd_call *call, struct tg_err *err)
{
    struct tg_progress_line progress;
    struct tg_diff_request q = { .o = call->opts,
                                 .io = call->io,
                                 .repo = call->repo,
                                 .progress = &progress.line,
                                 .arena = call->arena };
    struct tg_comparison c = { 0 };
    struct charts ch = { .files.standard = q.io->out };
    q.splits_names = q.o->by == TG_DIFF_BY_SHAPE || q.o->by == TG_DIFF_BY_GRID;
    bool ok = check_options(&q, call->args, err) && open_charts(&ch, q.o, err);
    q.repo->opts.trust_owner = q.o->given.trust_repository;
    for (int s = 0; ok && s < 2; s++) {
        q.label[s] = call->args->v[s];
        ok = tg_inputs_add(&q.inputs[s], q.label[s], q.repo, q.arena, err) &&
             tg_inputs_spare(&q.inputs[s], &ch.files, err);
    }
    for (int s = 0; s < 2; s++)
        tg_summary_init(&q.summary[s]);
    tg_progress_start(&progress, q.io);
    ok = ok && tg_repo_commit(&q.base, q.repo, q.o->base_commit, q.arena, err) &&
         tg_diff_compare(&c, &q, err);
    tg_progress_end(&progress);
    ok = ok && report(&q, &c, &ch, err);
    for (int s = 0; s < 2; s++)
        tg_summary_release(&q.summary[s]);
    tg_outputs_release(&ch.files);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

/* HTA's words for the sides */
static const struct tg_opt_was diff_was[] = {
    { "control-rank", "rank=baseline=" },
    { "test-rank", "rank=fresh=" },
    { "control-step", "step=baseline=" },
    { "test-step", "step=fresh=" },
    { "svg-narrow", "svg-style=narrow" },
    { "svg-share", "svg-style=share" },
    { "short-names", "by=short-name" },
    { "normalised-names", "by=judged-name" },
    { "sort=control", "sort=baseline" },
    { "sort=test", "sort=fresh" },
    { 0 },
};

static const struct tg_opt_needs diff_needs[] = { { "no-rounding", "hta" },
                                                  { "base-commit", "cause" },
                                                  { "svg-style", "svg-counts svg-durations" },
                                                  { 0 } };

const struct tg_cmd tg_cmd_diff = {
    .name = "diff",
    .summary = "compare two sides without a policy: counts and durations of every name",
    .synopsis = "BASELINE FRESH [options]",
    .about = "A side is a file, a directory, a glob, a summary, REV:PATH in git, REV (the baseline "
             "stored for that commit), or - for standard input. Repeated runs in a folder need "
             "--runs. The exit code is 0 even if the sides differ; check judges.\n\n"
             "Counts and total durations (microseconds, inclusive) are divided by steps, ranks and "
             "runs, exactly; --whole gives undivided sums. Groups are by count: added, deleted, "
             "increased, decreased, unchanged.\n\n"
             "  tracegate diff origin/main:perf out/ --runs --group increased --top 20\n"
             "  tracegate diff a.json.gz b.json.gz --hta --format csv",
    .options = diff_options,
    .was = diff_was,
    .needs = diff_needs,
    .opts_size = sizeof(struct tg_diff_opts),
    .run = diff_run,
};
