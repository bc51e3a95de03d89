/* `tracegate diff`: two sides without a policy; the table of HTA's TraceDiff and more. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "cmd/gate/given.h"
#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "cmd/lists.h"
#include "core/base/file.h"
#include "core/base/threads.h"
#include "core/diff/tally.h"
#include "reporters/reporter.h"
#include "reporters/rows.h"

struct diff_opts {
    enum tg_format format;
    const char *device, *by, *sort, *svg_counts, *svg_durations;
    struct tg_given given;
    struct tg_strs control_rank, test_rank, control_step, test_step, group, exclude;
    bool whole, short_names, hta, no_rounding, normalise;
    int64_t top;
};

static const struct tg_opt diff_options[] = {
    { "device", TG_OPT_STR, offsetof(struct diff_opts, device), "all|cpu|gpu",
      "host rows, device rows, or all (the default)" },
    { "control-rank", TG_OPT_LIST, offsetof(struct diff_opts, control_rank), "LIST",
      "only these ranks of CONTROL: 0 or 0,3 or 0-7" },
    { "test-rank", TG_OPT_LIST, offsetof(struct diff_opts, test_rank), "LIST",
      "only these ranks of TEST" },
    { "control-step", TG_OPT_LIST, offsetof(struct diff_opts, control_step), "LIST",
      "only these numbers of ProfilerStep#N in CONTROL" },
    { "test-step", TG_OPT_LIST, offsetof(struct diff_opts, test_step), "LIST",
      "only these numbers of ProfilerStep#N in TEST" },
    { "whole", TG_OPT_FLAG, offsetof(struct diff_opts, whole), NULL,
      "undivided sums over everything, including the time outside steps" },
    { "group", TG_OPT_LIST, offsetof(struct diff_opts, group),
      "added|deleted|increased|decreased|unchanged", "only rows of this group; repeatable" },
    { "short-names", TG_OPT_FLAG, offsetof(struct diff_opts, short_names), NULL,
      "join rows by HTA's short name (which merges different kernels)" },
    { "normalised-names", TG_OPT_FLAG, offsetof(struct diff_opts, normalise), NULL,
      "join rows by the name that check judges" },
    { "by", TG_OPT_STR, offsetof(struct diff_opts, by), "name|shape|grid",
      "split a name by its input shapes, or by its launch grid and block" },
    { "sort", TG_OPT_STR, offsetof(struct diff_opts, sort), "duration|count|name|control|test",
      "largest change of duration (the default) or of count first, by name, or by a side's total" },
    { "top", TG_OPT_INT, offsetof(struct diff_opts, top), "N", "only the first N rows" },
    { "exclude", TG_OPT_LIST, offsetof(struct diff_opts, exclude), "GLOB",
      "leave out names that match; repeatable: --exclude 'ProfilerStep*'" },
    { "format", TG_OPT_FORMAT, offsetof(struct diff_opts, format), "text|csv|json",
      "form of the table; text is the default, CSV has HTA's columns" },
    { "svg-counts", TG_OPT_STR, offsetof(struct diff_opts, svg_counts), "FILE",
      "draw the largest changes of counts" },
    { "svg-durations", TG_OPT_STR, offsetof(struct diff_opts, svg_durations), "FILE",
      "draw the largest changes of durations" },
    TG_GIVEN_WINDOW(struct diff_opts, given),
    TG_GIVEN_RUNS(struct diff_opts, given, ""),
    { "hta", TG_OPT_FLAG, offsetof(struct diff_opts, hta), NULL,
      "the numbers of HTA's TraceDiff: its rounding, its first rank and first step" },
    { "no-rounding", TG_OPT_FLAG, offsetof(struct diff_opts, no_rounding), NULL,
      "with --hta: as with HTA_DISABLE_NS_ROUNDING=1" },
    TG_GIVEN_TRUST(struct diff_opts, given),
    { 0 },
};

/* What the options say, checked; texts and numbers live in the arena. */
struct request {
    const struct diff_opts *o;
    const char *label[2];
    enum tg_hta_device device;
    struct tg_numbers ranks[2], steps[2];
    struct tg_window_spec window;
    struct tg_repo *repo;
    const struct tg_progress *progress;
    const struct tg_io *io;
    struct tg_arena *arena;
};

static bool excludes(const char *a, bool has_a, const char *b, bool has_b, struct tg_err *err)
{
    if (!has_a || !has_b)
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s and %s exclude each other", a, b);
    return tg_err_hint(err, "See tracegate diff --help.");
}

static bool check_options(struct request *q, const struct tg_strs *args, struct tg_err *err)
{
    const struct diff_opts *o = q->o;
    if (args->n != 2) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "diff compares two sides, %zu given", args->n);
        return tg_err_hint(err, "For example: tracegate diff origin/main:perf out/.");
    }
    if (o->no_rounding && !o->hta) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--no-rounding belongs to --hta");
        return tg_err_hint(err, "Without --hta nothing is ever rounded.");
    }
    if (o->top != TG_OPT_UNSET && o->top < 1) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--top needs a number from 1, not %" PRId64,
                   o->top);
        return tg_err_hint(err, "Without --top every row is shown.");
    }
    q->device = !o->device || o->device[0] == 'a' ? TG_HTA_ALL
                : o->device[0] == 'c'             ? TG_HTA_CPU
                                                  : TG_HTA_GPU;
    return tg_given_check(&o->given, err) &&
           excludes("--short-names", o->short_names, "--normalised-names", o->normalise, err) &&
           excludes("--hta", o->hta, "--normalised-names", o->normalise, err) &&
           excludes("--hta", o->hta, "--window", o->given.window != NULL, err) &&
           excludes("--normalised-names", o->normalise, "--by", o->by && o->by[0] != 'n', err) &&
           excludes("--hta", o->hta, "--by", o->by && o->by[0] != 'n', err) &&
           excludes("--whole", o->whole, "--control-step", o->control_step.n > 0, err) &&
           excludes("--whole", o->whole, "--test-step", o->test_step.n > 0, err) &&
           tg_given_window(&q->window, &o->given, err) &&
           tg_numbers_parse(&q->ranks[0], &o->control_rank, "control-rank", q->arena, err) &&
           tg_numbers_parse(&q->ranks[1], &o->test_rank, "test-rank", q->arena, err) &&
           tg_numbers_parse(&q->steps[0], &o->control_step, "control-step", q->arena, err) &&
           tg_numbers_parse(&q->steps[1], &o->test_step, "test-step", q->arena, err);
}

/* ---- the two ways to compare ---- */

static bool compare_hta(struct tg_comparison *out, const struct request *q,
                        const struct tg_input_list inputs[2], struct tg_err *err)
{
    struct tg_hta_side side[2];
    const struct tg_hta_side *sides[2] = { &side[0], &side[1] };
    struct tg_hta_select select[2];
    bool ok = true;
    for (int s = 0; s < 2; s++) {
        tg_hta_init(&side[s], q->o->no_rounding);
        select[s] = (struct tg_hta_select){ q->ranks[s].v, q->steps[s].v, q->ranks[s].n,
                                            q->steps[s].n, q->o->whole };
    }
    for (int s = 0; ok && s < 2; s++)
        ok = tg_hta_side_load(&side[s], &inputs[s], q->repo, q->io, q->progress, err);
    ok = ok &&
         tg_hta_compare(out, sides, select, q->device, q->o->short_names, q->label, q->arena, err);
    for (int s = 0; s < 2; s++)
        tg_hta_release(&side[s]);
    return ok;
}

/* Both sides as summaries, aligned; exact sums, no evidence. */
static bool compare_summaries(struct tg_comparison *out, const struct request *q,
                              const struct tg_input_list inputs[2], struct tg_summary summary[2],
                              struct tg_err *err)
{
    struct tg_summarize_opts so = { .window = q->window, .rank = -1 };
    struct tg_compare_opts co = { .raw_names = !q->o->normalise,
                                  .no_evidence = true,
                                  .any_ranks = true,
                                  .label = { "control", "test" } };
    enum tg_arrange how = tg_given_arrange(&q->o->given, TG_ARRANGE_AUTO);
    struct tg_side side[2];
    for (int s = 0; s < 2; s++) {
        if (!tg_inputs_load(&summary[s], &inputs[s], &so, q->repo, q->progress, err) ||
            !tg_side_arrange_some(&side[s], &summary[s], how, q->arena, err)) {
            (void)tg_err_context(err, "reading %s", q->label[s]);
            return false;
        }
        co.steps[s] = q->steps[s].v;
        co.n_step_numbers[s] = q->steps[s].n;
        co.ranks[s] = q->ranks[s].v;
        co.n_rank_numbers[s] = q->ranks[s].n;
    }
    return tg_compare(out, &side[TG_BASE], &side[TG_TEST], &co, q->arena, err);
}

static bool no_facts_in_summary(struct tg_source *s, struct tg_err *err)
{
    tg_sv head;
    if (!tg_source_peek(s, &head, err))
        return false;
    if (!tg_summary_looks_like(head))
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(tg_source_name(s)),
               "a summary keeps no durations by shape or grid");
    return tg_err_hint(err, "Name the traces themselves, or leave out --by.");
}

/* The files of one side. */
struct tallying {
    const struct request *q;
    const struct tg_input_list *inputs;
    int side;
    struct tg_tally *tally; /* in turn, as is `steps` */
    size_t steps;
    struct tg_turns turns;
};

static bool tally_one(void *arg, size_t i, struct tg_err *err)
{
    struct tallying *all = arg;
    const struct request *q = all->q;
    const int side = all->side;
    struct tg_load_opts load = { .want_facts = true };
    struct tg_buf bytes = { 0 };
    struct tg_steps steps = { 0 };
    struct tg_trace *trace = NULL;
    struct tg_source *s = tg_inputs_open(&all->inputs->v[i], q->repo, NULL, &bytes, err);
    bool ok;
    tg_reading_opts(&load.reader, tg_reading_share(i, all->inputs->n));
    ok = s && no_facts_in_summary(s, err) && (trace = tg_trace_load(s, &load, q->progress, err)) &&
         tg_steps_build(&steps, trace, &q->window, err);
    tg_turns_wait(&all->turns, i);
    if (ok)
        all->steps +=
            tg_tally_add(all->tally, side, trace, &steps, q->steps[side].v, q->steps[side].n);
    tg_turns_pass(&all->turns);
    tg_steps_release(&steps);
    tg_trace_free(trace);
    tg_source_close(s);
    tg_buf_release(&bytes);
    return ok;
}

static bool tally_side(struct tg_tally *t, const struct request *q,
                       const struct tg_input_list *inputs, int side, struct tg_err *err)
{
    struct tallying all = { .q = q, .inputs = inputs, .side = side, .tally = t };
    bool ok;
    tg_turns_init(&all.turns);
    ok = tg_reading_each(inputs->n, tally_one, &all, q->progress, err);
    tg_turns_release(&all.turns);
    if (!ok || all.steps)
        return ok;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has none of the wanted steps", q->label[side]);
    return tg_err_hint(err, "Leave out --%s-step to see all.", side ? "test" : "control");
}

static bool compare_by_fact(struct tg_comparison *out, const struct request *q,
                            const struct tg_input_list inputs[2], struct tg_err *err)
{
    struct tg_tally *t = tg_tally_new(q->o->by[0] == 's' ? TG_TALLY_SHAPE : TG_TALLY_GRID);
    bool ok = true;
    for (int side = 0; ok && side < 2; side++)
        ok = tally_side(t, q, &inputs[side], side, err);
    if (ok)
        tg_tally_comparison(out, t, q->arena);
    tg_tally_free(t);
    return ok;
}

static bool compare(struct tg_comparison *out, const struct request *q,
                    const struct tg_input_list inputs[2], struct tg_summary summary[2],
                    struct tg_err *err)
{
    bool ok;
    if (q->o->hta)
        return compare_hta(out, q, inputs, err);
    ok = q->o->by && q->o->by[0] != 'n' ? compare_by_fact(out, q, inputs, err)
                                        : compare_summaries(out, q, inputs, summary, err);
    if (ok)
        tg_join_names(out, q->o->short_names, q->arena);
    return ok;
}

/* ---- rows ---- */

/* Device rows by what they are; HTA goes by the stream, which Triton's host operators carry too. */
static bool on_device(enum tg_kind kind, enum tg_hta_device device)
{
    bool gpu =
        tg_kind_is_device(kind) || kind == TG_KIND_DEVICE_SYNC || kind == TG_KIND_DEVICE_ANNOTATION;
    return device == TG_HTA_ALL || gpu == (device == TG_HTA_GPU);
}

static bool is_excluded(const struct diff_opts *o, const struct tg_op *op)
{
    for (size_t i = 0; i < o->exclude.n; i++) {
        tg_sv glob = tg_sv_of(o->exclude.v[i]);
        if (tg_sv_glob(glob, op->name) || tg_sv_glob(glob, tg_op_raw(op)))
            return true;
    }
    return false;
}

static bool in_groups(const struct diff_opts *o, const struct tg_row_numbers *n)
{
    for (size_t i = 0; i < o->group.n; i++)
        if (strcmp(o->group.v[i], tg_row_group(n)) == 0)
            return true;
    return o->group.n == 0;
}

struct sorted {
    uint32_t row;
    double key; /* larger first */
    tg_sv name;
    enum tg_kind kind;
};

static int by_key(const void *pa, const void *pb)
{
    const struct sorted *a = pa, *b = pb;
    int c;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    c = tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->kind - (int)b->kind;
}

static double sort_key(const char *how, const struct tg_row_numbers *n)
{
    if (!how || how[0] == 'd')
        return fabs(n->d_ns);
    if (strcmp(how, "count") == 0)
        return fabs(n->d_count);
    if (strcmp(how, "control") == 0)
        return n->ns[TG_BASE];
    return strcmp(how, "test") == 0 ? n->ns[TG_TEST] : 0;
}

/* Indices of the rows to show, sorted, in the arena. */
static const uint32_t *choose_rows(const struct request *q, const struct tg_comparison *c,
                                   size_t *n_out)
{
    const struct diff_opts *o = q->o;
    enum tg_basis basis = o->whole || o->hta ? TG_BASIS_WHOLE : TG_BASIS_PER_STEP;
    struct sorted *v = tg_xmalloc((c->n_ops + 1) * sizeof *v);
    uint32_t *rows;
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_row_numbers r = tg_row_numbers(c, &c->ops[i], basis);
        /* What ran only outside steps has no row per step. */
        if ((r.count[0] > 0 || r.count[1] > 0) &&
            (o->hta || on_device(c->ops[i].kind, q->device)) && !is_excluded(o, &c->ops[i]) &&
            in_groups(o, &r))
            v[n++] = (struct sorted){ (uint32_t)i, sort_key(o->sort, &r), c->ops[i].name,
                                      c->ops[i].kind };
    }
    qsort(v, n, sizeof *v, by_key);
    if (o->top != TG_OPT_UNSET && (uint64_t)o->top < n)
        n = (size_t)o->top;
    rows = TG_NEW_N(q->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        rows[i] = v[i].row;
    free(v);
    *n_out = n;
    return rows;
}

/* ---- output ---- */

/* Charts are opened before the traces are read: what can fail cheaply fails first. */
struct charts {
    struct tg_outputs files;
    size_t handle[2];
};

static bool open_charts(struct charts *ch, const struct diff_opts *o, struct tg_err *err)
{
    return (!o->svg_counts || tg_outputs_open(&ch->files, o->svg_counts, &ch->handle[0], err)) &&
           (!o->svg_durations ||
            tg_outputs_open(&ch->files, o->svg_durations, &ch->handle[1], err));
}

static bool put_charts(struct charts *ch, const struct diff_opts *o, const struct tg_difftable *t,
                       const struct tg_render *r, struct tg_err *err)
{
    const char *path[2] = { o->svg_counts, o->svg_durations };
    struct tg_buf svg = { 0 };
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        if (!path[i])
            continue;
        tg_buf_clear(&svg);
        tg_difftable_svg(&svg, t, i == 1, r);
        ok = tg_outputs_put(&ch->files, ch->handle[i], tg_buf_sv(&svg), err);
    }
    tg_buf_release(&svg);
    return ok && tg_outputs_commit(&ch->files, err);
}

static bool put_table(const struct request *q, const struct tg_difftable *t,
                      const struct tg_render *r, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    bool ok;
    if (q->o->format == TG_FORMAT_CSV)
        tg_difftable_csv(&out, t);
    else if (q->o->format == TG_FORMAT_JSON)
        tg_difftable_json(&out, t);
    else
        tg_difftable_text(&out, t, r);
    ok = tg_io_put(q->io, tg_buf_sv(&out), err);
    tg_buf_release(&out);
    return ok;
}

static tg_sv env_value(const struct tg_comparison *c, const char *key, int side)
{
    for (size_t i = 0; i < c->n_env; i++)
        if (tg_sv_eq(c->env[i].key, tg_sv_of(key)))
            return c->env[i].value[side].n ? c->env[i].value[side] : TG_SV("unknown");
    return TG_SV("unknown");
}

/* What a reader of the table should know; people only. */
/* Ranks that only one side has take no part; sides without any in common compare as they are. */
static void put_lacking_ranks(const struct request *q, const struct tg_comparison *c)
{
    for (int s = 0; s < 2; s++) {
        struct tg_buf b = { 0 };
        if (!c->n_lacking[s] || c->side[TG_BASE].ranks[0] != c->side[TG_TEST].ranks[0])
            continue;
        tg_put_ranks(&b, c->lacking[s], c->n_lacking[s]);
        tg_io_note(q->io, "%s not in every run of %s: left out", b.p, q->label[s]);
        tg_buf_release(&b);
    }
}

static void put_notes(const struct request *q, const struct tg_comparison *c)
{
    put_lacking_ranks(q, c);
    if (q->o->hta || q->o->whole || (q->o->by && q->o->by[0] != 'n'))
        return;
    for (int s = 0; s < 2; s++)
        if (!c->marked[s] && q->window.by == TG_WINDOW_AUTO)
            tg_io_note(q->io, "%s has no ProfilerStep: everything in it counts as one step%s%.*s%s",
                       q->label[s], c->n_hints ? "; try --window 'annotation:" : "",
                       c->n_hints ? (int)c->hints[0].name.n : 0,
                       c->n_hints ? c->hints[0].name.p : "", c->n_hints ? "'" : "");
    if (!c->same_device)
        tg_io_note(q->io, "the devices differ: %.*s and %.*s",
                   TG_SV_ARG(env_value(c, "device", TG_BASE)),
                   TG_SV_ARG(env_value(c, "device", TG_TEST)));
}

static bool report(const struct request *q, const struct tg_comparison *c, struct charts *ch,
                   struct tg_err *err)
{
    struct tg_difftable t = { .comparison = c, .whole = q->o->whole || q->o->hta };
    struct tg_render r = { .columns = q->io->columns, .color = q->io->color };
    t.rows = choose_rows(q, c, &t.n_rows);
    r.top = t.n_rows ? t.n_rows : 1;
    t.label[0] = TG_SV("control");
    t.label[1] = TG_SV("test");
    if (!put_table(q, &t, &r, err))
        return false;
    if (q->o->format == TG_FORMAT_TEXT)
        put_notes(q, c);
    r.top = 0; /* charts show their own top N */
    return put_charts(ch, q->o, &t, &r, err);
}

static bool diff(struct request *q, const struct tg_strs *args, struct tg_err *err)
{
    struct tg_input_list inputs[2] = { { 0 }, { 0 } };
    struct tg_repo repo = { .opts = { .trust_owner = q->o->given.trust_repository } };
    struct tg_summary summary[2];
    struct tg_comparison c = { 0 };
    struct charts ch = { 0 };
    struct tg_progress_line progress;
    bool ok = check_options(q, args, err) && open_charts(&ch, q->o, err);
    for (int s = 0; ok && s < 2; s++) {
        q->label[s] = args->v[s];
        ok = tg_inputs_add(&inputs[s], args->v[s], NULL, &repo, q->arena, err);
    }
    for (int s = 0; s < 2; s++)
        tg_summary_init(&summary[s]);
    tg_progress_start(&progress, q->io);
    q->repo = &repo;
    q->progress = &progress.line;
    ok = ok && compare(&c, q, inputs, summary, err);
    tg_progress_end(&progress);
    ok = ok && report(q, &c, &ch, err);
    for (int s = 0; s < 2; s++)
        tg_summary_release(&summary[s]);
    tg_outputs_release(&ch.files);
    tg_repo_release(&repo);
    return ok;
}

static int diff_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                    struct tg_err *err)
{
    struct request q = { .o = opts, .io = io, .arena = tg_arena_new() };
    bool ok = diff(&q, args, err);
    tg_arena_free(q.arena);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_diff = {
    .name = "diff",
    .summary = "compare two sides without a policy: counts and durations of every name",
    .synopsis = "CONTROL TEST [options]",
    .about =
        "A side is a file, a directory, a glob, a summary, REV:PATH in git, REV (what is stored "
        "at that commit; see baseline), or - for standard "
        "input. The exit code is 0 whatever differs; check judges.\n"
        "\n"
        "Counts and total durations (microseconds, inclusive) are divided by steps, ranks and "
        "runs, exactly; --whole gives undivided sums. Groups go by counts: added, deleted, "
        "increased, decreased, unchanged.\n"
        "\n"
        "  tracegate diff origin/main:perf out/ --group increased --top 20\n"
        "  tracegate diff a.json.gz b.json.gz --hta --format csv",
    .options = diff_options,
    .opts_size = sizeof(struct diff_opts),
    .run = diff_run,
};
