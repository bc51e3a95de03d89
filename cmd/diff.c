/* `tracegate diff`: two sides without a policy; the table of HTA's TraceDiff and more. Sides ->
 * comparison -> rows, where they come from (--cause) -> table, charts, page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/gate/cause.h"
#include "cmd/gate/given.h"
#include "cmd/gate/picture.h"
#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "cmd/tally.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/sort.h"
#include "core/base/threads.h"
#include "core/diff/compare.h"
#include "core/diff/names.h"
#include "policy/verdict/verdict.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"

/* In the order of the words in the option table; 0: not given. */
enum device { DEVICE_DEFAULT, DEVICE_ALL, DEVICE_CPU, DEVICE_GPU };
enum by { BY_DEFAULT, BY_NAME, BY_SHAPE, BY_GRID, BY_SHORT_NAME, BY_JUDGED_NAME };
enum sort { SORT_DEFAULT, SORT_DURATION, SORT_COUNT, SORT_NAME, SORT_BASELINE, SORT_FRESH };

struct diff_opts {
    enum tg_format format;
    enum device device;
    enum by by;
    enum sort sort;
    const char *svg_counts, *svg_durations, *html;
    struct tg_given given;
    struct tg_strs rank, step, group, exclude, svg_style;
    const char *base_commit;
    bool whole, hta, no_rounding, cause;
    int64_t top;
};

/* What the options say, checked; texts and numbers live in the arena. */
struct request {
    const struct diff_opts *o;
    bool splits_names; /* --by shape or grid */
    const char *label[2];
    struct tg_numbers ranks[2], steps[2];
    struct tg_window_spec window;
    struct tg_commit base; /* --base-commit; `sha` "": not given */
    struct tg_input_list inputs[2];
    struct tg_summary summary[2]; /* what the comparison points at, except HTA's */
    struct tg_repo *repo;
    const struct tg_progress *progress;
    const struct tg_io *io;
    struct tg_arena *arena;
};

#define AT(kind, member) TG_OPT_##kind, offsetof(struct diff_opts, member)
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
    TG_GIVEN_WINDOW(struct diff_opts, given),
    TG_GIVEN_RUNS(struct diff_opts, given, ""),
    { "hta", AT(FLAG, hta), NULL,
      "the numbers of HTA's TraceDiff: its rounding, its first rank and first step" },
    { "no-rounding", AT(FLAG, no_rounding), NULL, "with --hta: as with HTA_DISABLE_NS_ROUNDING=1" },
    TG_GIVEN_TRUST(struct diff_opts, given),
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
                    const struct request *q, struct tg_err *err)
{
    struct tg_strs side[2];
    for (size_t s = 0; s < 2; s++)
        side[s] = tg_given_side(given, s, q->arena);
    return tg_numbers_parse(&of[0], &side[0], option, q->arena, err) &&
           tg_numbers_parse(&of[1], &side[1], option, q->arena, err);
}

static bool check_options(struct request *q, const struct tg_strs *args, struct tg_err *err)
{
    const struct diff_opts *o = q->o;
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
           excludes("--hta", o->hta, "--by judged-name", o->by == BY_JUDGED_NAME, err) &&
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

/* ---- comparing ---- */

enum { JUDGED_RUNS = 3 }; /* per side: what evidence about durations needs */

/* Both sides as summaries, aligned; exact sums, and evidence where there are runs for it. */
static bool compare_summaries(struct tg_comparison *out, struct request *q, struct tg_err *err)
{
    struct tg_summarize_opts so = { .window = q->window, .rank = -1 };
    struct tg_compare_opts co = { .raw_names = q->o->by != BY_JUDGED_NAME,
                                  .any_ranks = true,
                                  .label = { "baseline", "fresh" } };
    struct tg_side side[2];
    for (int s = 0; s < 2; s++) {
        enum tg_arrange how = tg_given_arrange(
            &q->o->given, tg_inputs_are_stored(&q->inputs[s]) ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO);
        /* One trace is one run: nothing but its sums can be in the table. The page and causes ask
         * for more, and a normalised name is that of the raw one with most time under a parent. */
        so.totals_only = q->inputs[s].n == 1 && !q->o->html && !q->o->cause && co.raw_names;
        if (!tg_inputs_load(&q->summary[s], &q->inputs[s], &so, q->repo, q->progress, err) ||
            !tg_side_arrange_some(&side[s], &q->summary[s], how, q->arena, err))
            return tg_err_context(err, "reading %s", q->label[s]);
        co.steps[s] = q->steps[s].v;
        co.n_step_numbers[s] = q->steps[s].n;
        co.ranks[s] = q->ranks[s].v;
        co.n_rank_numbers[s] = q->ranks[s].n;
    }
    co.no_evidence =
        q->o->whole || side[TG_BASE].n_runs < JUDGED_RUNS || side[TG_TEST].n_runs < JUDGED_RUNS;
    return tg_compare(out, &side[TG_BASE], &side[TG_TEST], &co, q->arena, err);
}

/* The files of one side. */
struct tallying {
    const struct request *q;
    int side;
    struct tg_tally_sums *tally; /* in turn, as is `steps` */
    size_t steps;
    struct tg_turns turns;
};

static bool tally_one(void *arg, size_t i, struct tg_err *err)
{
    struct tallying *all = arg;
    const struct request *q = all->q;
    const int side = all->side;
    const struct tg_input_list *inputs = &q->inputs[side];
    struct tg_load_opts load = { .want_attrs = true };
    TG_BUF bytes = { 0 };
    TG_AUTO(tg_steps_release) struct tg_steps steps = { 0 };
    struct tg_trace *trace = NULL;
    tg_sv head;
    TG_SOURCE *s = tg_inputs_open(&inputs->v[i], q->repo, NULL, &bytes, err);
    tg_reading_opts(&load.reader, tg_reading_share(i, inputs->n));
    bool ok = s && tg_source_peek(s, &head, err);
    if (ok && tg_summary_looks_like(head))
        ok = tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(tg_source_name(s)),
                        "a summary keeps no durations by shape or grid",
                        "Name the traces themselves, or run without --by.");
    ok = ok && (trace = tg_trace_load(s, &load, q->progress, err)) &&
         tg_steps_build(&steps, trace, &q->window, err);
    tg_turns_wait(&all->turns, i);
    if (ok)
        all->steps +=
            tg_tally_add(all->tally, side, trace, &steps, q->steps[side].v, q->steps[side].n);
    tg_turns_pass(&all->turns);
    tg_trace_free(trace);
    return ok;
}

static bool compare_by_attr(struct tg_comparison *out, const struct request *q, struct tg_err *err)
{
    TG_AUTO(tg_tally_release)
    struct tg_tally_sums t = { .by = q->o->by == BY_SHAPE ? TG_TALLY_SHAPE : TG_TALLY_GRID };
    bool ok = true;
    for (int side = 0; ok && side < 2; side++) {
        struct tallying all = { .q = q, .side = side, .tally = &t, .turns = TG_TURNS };
        ok = tg_reading_each(q->inputs[side].n, tally_one, &all, q->progress, err);
        if (ok && !all.steps)
            ok = tg_err_usage(err, "%s has none of the wanted steps",
                              "Run without --step to see all.", q->label[side]);
    }
    if (ok)
        tg_tally_comparison(out, &t, q->arena);
    return ok;
}

/* HTA's way, name by name from summaries, or split by shape or grid. */
static bool compare(struct tg_comparison *out, struct request *q, struct tg_err *err)
{
    if (q->o->hta) {
        struct tg_hta_side side[2];
        const struct tg_hta_side *sides[2] = { &side[0], &side[1] };
        struct tg_hta_select select[2];
        enum tg_hta_device device = q->o->device == DEVICE_CPU   ? TG_HTA_CPU
                                    : q->o->device == DEVICE_GPU ? TG_HTA_GPU
                                                                 : TG_HTA_ALL;
        bool loaded = true;
        for (int s = 0; s < 2; s++) {
            tg_hta_init(&side[s], q->o->no_rounding);
            select[s] = (struct tg_hta_select){ q->ranks[s].v, q->steps[s].v, q->ranks[s].n,
                                                q->steps[s].n, q->o->whole };
        }
        for (int s = 0; loaded && s < 2; s++)
            loaded = tg_hta_side_load(&side[s], &q->inputs[s], q->repo, q->io, q->progress, err);
        loaded = loaded && tg_hta_compare(out, sides, select, device, q->o->by == BY_SHORT_NAME,
                                          q->label, q->arena, err);
        for (int s = 0; s < 2; s++)
            tg_hta_release(&side[s]);
        return loaded;
    }
    bool ok = q->splits_names ? compare_by_attr(out, q, err) : compare_summaries(out, q, err);
    if (ok)
        tg_join_names(out, q->o->by == BY_SHORT_NAME, q->arena);
    return ok;
}

/* ---- rows ---- */

struct sorted {
    uint32_t row;
    double key; /* larger first */
    tg_sv name;
    enum tg_kind kind;
};

static int by_key(const void *pa, const void *pb)
{
    const struct sorted *a = pa, *b = pb;
    int c = TG_CMP(b->key, a->key);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->kind - (int)b->kind;
}

/* Indices of the operators to show, sorted, in q->arena. */
static const uint32_t *rows_to_show(const struct request *q, const struct tg_comparison *c,
                                    size_t *n_out)
{
    const struct diff_opts *o = q->o;
    enum tg_basis basis = o->whole || o->hta ? TG_BASIS_WHOLE : TG_BASIS_ESTIMATED;
    struct sorted *v = tg_xmalloc((c->n_ops + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        struct tg_row_numbers r = tg_row_numbers(c, op, basis);
        /* Device rows by what they are; HTA goes by the stream, which Triton's host operators carry
         * too. */
        bool on_device = o->hta || o->device < DEVICE_CPU ||
                         tg_kind_is_on_device(op->kind) == (o->device == DEVICE_GPU);
        bool excluded = false;
        for (size_t k = 0; k < o->exclude.n && !excluded; k++)
            excluded = tg_sv_glob(tg_sv_of(o->exclude.v[k]), op->name) ||
                       tg_sv_glob(tg_sv_of(o->exclude.v[k]), tg_op_raw(op));
        /* What ran only outside steps has no row per step. */
        if ((r.count[0] > 0 || r.count[1] > 0) && on_device && !excluded &&
            (!o->group.n || tg_strs_has(&o->group, tg_row_group(&r)))) {
            double key = o->sort == SORT_COUNT      ? fabs(r.d_count)
                         : o->sort == SORT_BASELINE ? r.ns[TG_BASE]
                         : o->sort == SORT_FRESH    ? r.ns[TG_TEST]
                         : o->sort == SORT_NAME     ? 0
                                                    : fabs(r.d_ns);
            v[n++] = (struct sorted){ (uint32_t)i, key, op->name, op->kind };
        }
    }
    TG_SORT(v, n, by_key);
    if (o->top != TG_OPT_UNSET && (uint64_t)o->top < n)
        n = (size_t)o->top;
    uint32_t *rows = TG_NEW_N(q->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        rows[i] = v[i].row;
    free(v);
    *n_out = n;
    return rows;
}

/* ---- causes ---- */

enum { MOST = 10 };
#define LEAST 0.005 /* part of the step's time below which a difference is not followed */

/* As `check` would ask for it: by calls where the count differs, else by time; of runs the time is
 * the estimate, and within their noise nothing is asked. */
static bool result_of(struct tg_result *r, const struct tg_comparison *c, const struct tg_op *op,
                      struct tg_arena *a)
{
    const struct tg_row_numbers shown = tg_row_numbers(c, op, TG_BASIS_ESTIMATED);
    TG_BUF plain = { 0 };
    bool calls = op->count[TG_BASE] != op->count[TG_TEST];
    const struct tg_evidence *row = tg_row_estimate(op);
    bool estimated = row && tg_evidence_compared(&op->ev);
    const double *v = calls                      ? op->count
                      : op->kind == TG_KIND_STEP ? shown.ns
                      : estimated                ? op->ev.value
                                                 : op->self;
    tg_name_normalise(op->kind, op->raw[TG_TEST].n ? op->raw[TG_TEST] : op->raw[TG_BASE], &plain);
    *r =
        (struct tg_result){ .state = TG_STATE_FAIL,
                            .subject = op->kind == TG_KIND_STEP ? TG_SUBJECT_STEP : TG_SUBJECT_NAME,
                            .has_values = true,
                            .op = op->name,
                            .op_normalised = tg_arena_sv(a, tg_buf_sv(&plain)),
                            .op_kind = op->kind,
                            .metric = calls ? TG_RULE_METRIC_COUNT : TG_RULE_METRIC_SELF,
                            .unit_id = calls ? TG_UNIT_COUNT : TG_UNIT_NS,
                            .base = v[TG_BASE],
                            .test = v[TG_TEST],
                            .delta = v[TG_TEST] - v[TG_BASE] };
    if (!calls && row && (tg_evidence_is_noise(row) || tg_evidence_is_noise(&op->ev)))
        return false;
    return calls || fabs(r->delta) >= LEAST * c->step_ns[TG_BASE];
}

/* A line each; why not, if none. */
static void put_causes(struct tg_buf *out, const struct tg_verdict *v)
{
    bool any = false;
    for (size_t i = 0; i < v->n_results; i++) {
        TG_BUF cause = { 0 };
        if (!v->results[i].cause)
            continue;
        tg_buf_puts(out, any ? "" : "\nCauses\n");
        tg_buf_printf(out, "  %.*s ", TG_SV_ARG(v->results[i].op));
        if (v->results[i].unit_id == TG_UNIT_COUNT)
            tg_buf_printf(out, "%+.4g calls a step: ", v->results[i].delta);
        else
            tg_buf_puts(out, v->results[i].delta > 0 ? "slower: " : "faster: ");
        tg_origin_put(&cause, &v->results[i], TG_ORIGIN_WHOLE);
        tg_message_put_plain(out, tg_buf_sv(&cause));
        tg_buf_putc(out, '\n');
        any = true;
    }
    if (!any && v->n_results)
        tg_buf_printf(out, "\nno causes: %.*s\n", TG_SV_ARG(v->results[0].no_cause));
}

/* Where in the program the first rows come from: a result each, in q->arena. */
static void find_causes(struct tg_verdict *v, const struct request *q,
                        const struct tg_comparison *c, const uint32_t *rows, size_t n)
{
    struct tg_load_opts load = { .reader = { .want_args = true } };
    const struct tg_summary *s = &q->summary[TG_TEST];
    *v = (struct tg_verdict){ .comparison = c };
    v->results = TG_NEW_N(q->arena, struct tg_result, MOST);
    for (size_t i = 0; i < n && v->n_results < MOST; i++)
        if (result_of(&v->results[v->n_results], c, &c->ops[rows[i]], q->arena))
            v->n_results++;
    tg_cause_find(
        v, &(struct tg_cause_ask){
               .from.side = { &q->inputs[0], &q->inputs[1] },
               .from.load = &load,
               .from.window = &q->window,
               .from.repo = q->repo,
               .base_commit = q->base.sha[0] ? q->base.sha : NULL,
               .workspace = tg_io_env(q->io, "GITHUB_WORKSPACE"),
               .stacks = s->n && tg_sv_eq(tg_shard_env(s->shards[0], "with_stack"), TG_SV("1")),
               .arena = q->arena });
}

/* ---- output ---- */

enum { CHART_COUNTS, CHART_DURATIONS, CHART_PAGE, CHARTS };
struct charts {
    struct tg_outputs files;
    const char *path[CHARTS];
    size_t handle[CHARTS];
};

static bool put_table(const struct request *q, const struct tg_difftable *t,
                      const struct tg_render *r, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (q->o->format == TG_FORMAT_CSV)
        tg_difftable_csv(&out, t);
    else if (q->o->format == TG_FORMAT_JSON)
        tg_difftable_json(&out, t);
    else {
        tg_difftable_text(&out, t, r);
        if (t->causes)
            put_causes(&out, t->causes);
    }
    return tg_io_put(q->io, tg_buf_sv(&out), err);
}

static tg_sv device_of(const struct tg_comparison *c, int side)
{
    for (size_t i = 0; i < c->n_env; i++)
        if (tg_sv_eq(c->env[i].key, TG_SV("device")))
            return c->env[i].value[side].n ? c->env[i].value[side] : TG_SV("unknown");
    return TG_SV("unknown");
}

/* Of the first trace of each side. */
static const struct tg_picture *picture_of(const struct request *q)
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

static bool report(const struct request *q, const struct tg_comparison *c, struct charts *ch,
                   struct tg_err *err)
{
    struct tg_difftable t = { .comparison = c, .whole = q->o->whole || q->o->hta };
    struct tg_render r = { .columns = q->io->columns, .color = q->io->color };
    struct tg_verdict causes = { .n_results = 0 };
    t.rows = rows_to_show(q, c, &t.n_rows);
    r.top = t.n_rows ? t.n_rows : 1;
    t.label[0] = TG_SV("baseline");
    t.label[1] = TG_SV("fresh");
    if (q->o->cause) {
        find_causes(&causes, q, c, t.rows, t.n_rows);
        t.causes = &causes;
    }
    if (!put_table(q, &t, &r, err))
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
    struct request q = { .o = call->opts,
                         .io = call->io,
                         .repo = call->repo,
                         .progress = &progress.line,
                         .arena = call->arena };
    struct tg_comparison c = { 0 };
    struct charts ch = { .files.standard = q.io->out,
                         .path = { q.o->svg_counts, q.o->svg_durations, q.o->html } };
    q.splits_names = q.o->by == BY_SHAPE || q.o->by == BY_GRID;
    bool ok = check_options(&q, call->args, err);
    /* Charts and the page are opened before the traces are read: what can fail cheaply fails
     * first. */
    for (int i = 0; ok && i < CHARTS; i++)
        ok = !ch.path[i] || tg_outputs_open(&ch.files, ch.path[i], &ch.handle[i], err);
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
         compare(&c, &q, err);
    tg_progress_end(&progress);
    ok = ok && report(&q, &c, &ch, err);
    for (int s = 0; s < 2; s++)
        tg_summary_release(&q.summary[s]);
    tg_outputs_release(&ch.files);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

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
    /* HTA's words for the sides */
    .was =
        (const struct tg_opt_was[]){
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
        },
    .needs = (const struct tg_opt_needs[]){ { "no-rounding", "hta" },
                                            { "base-commit", "cause" },
                                            { "svg-style", "svg-counts svg-durations" },
                                            { 0 } },
    .opts_size = sizeof(struct diff_opts),
    .run = diff_run,
};
