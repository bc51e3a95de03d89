/* Everything, for programs: docs/report.schema.json. Durations are in ns, per step and rank;
 * percentages 0..100; shares 0..1; unknown values are null. */
#include "reporters/json.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/diff/confirm.h"
#include "reporters/findings.h"
#include "reporters/reporter.h"

void tg_json_pair(struct tg_doc *o, const char *key, const double v[2])
{
    struct tg_doc *a = tg_doc_add_array(o, key);
    tg_doc_add_num(a, NULL, v[TG_BASE]);
    tg_doc_add_num(a, NULL, v[TG_TEST]);
}

static void add_counts(struct tg_doc *o, const char *key, const size_t v[2])
{
    struct tg_doc *a = tg_doc_add_array(o, key);
    tg_doc_add_i64(a, NULL, (int64_t)v[TG_BASE]);
    tg_doc_add_i64(a, NULL, (int64_t)v[TG_TEST]);
}

static void add_text(struct tg_doc *o, const char *key, tg_sv v)
{
    if (v.n)
        tg_doc_add_str(o, key, v);
    else
        tg_doc_add_null(o, key);
}

static void add_name(struct tg_doc *o, const char *key, const char *v)
{
    add_text(o, key, tg_sv_of(v));
}

/* ---- results ---- */

static void add_frame(struct tg_doc *list, const char *key, const struct tg_cause_frame *f)
{
    struct tg_doc *o = tg_doc_add_object(list, key);
    add_name(o, "kind", tg_path_kind_name(f->kind));
    tg_doc_add_str(o, "name", f->text);
    add_text(o, "file", f->file);
    if (f->line)
        tg_doc_add_i64(o, "line", f->line);
    else
        tg_doc_add_null(o, "line");
    tg_doc_add_num(o, "share", f->share);
}

static tg_sv last_part(tg_sv qualified)
{
    const char *dot = memrchr(qualified.p, '.', qualified.n);
    const char *second = memmem(qualified.p, qualified.n, " (", 2);
    if (second)
        qualified.n = (size_t)(second - qualified.p);
    return dot ? (tg_sv){ dot + 1, qualified.n - (size_t)(dot + 1 - qualified.p) } : qualified;
}

/* `line` and `function` as the trace has them; `changed` are lines at HEAD. */
void tg_json_cause(struct tg_doc *o, const struct tg_result *r)
{
    const struct tg_cause *c = r->cause;
    if (!c) {
        tg_doc_add_null(o, "cause");
        add_text(o, "no_cause", r->no_cause);
        return;
    }
    struct tg_doc *d = tg_doc_add_object(o, "cause");
    struct tg_doc *list = tg_doc_add_array(d, "path");
    for (size_t i = 0; i < c->path.n; i++)
        add_frame(list, NULL, &c->path.frames[i]);
    add_text(d, "file", c->function ? c->function->file : TG_SV(""));
    if (c->function)
        tg_doc_add_i64(d, "line", c->function->line);
    else
        tg_doc_add_null(d, "line");
    add_text(d, "function", c->function ? last_part(c->function->text) : TG_SV(""));
    add_text(d, "qualified", c->function ? c->function->text : TG_SV(""));
    add_text(d, "module", c->module);
    tg_doc_add_num(d, "share", c->share);
    if (c->path.next.share > 0)
        add_frame(d, "runner_up", &c->path.next);
    else
        tg_doc_add_null(d, "runner_up");
    list = tg_doc_add_array(d, "changed");
    for (size_t i = 0; i < c->n_changed && tg_cause_blames(c); i++) {
        struct tg_doc *pair = tg_doc_add_array(list, NULL);
        tg_doc_add_i64(pair, NULL, c->changed[i].first);
        tg_doc_add_i64(pair, NULL, c->changed[i].last);
    }
    add_text(d, "changed_in", c->changed_in);
    add_text(d, "changed_file", c->changed_file);
    add_text(d, "quoted", c->quoted);
    add_name(d, "confidence", tg_cause_confidence_name(c->confidence));
    tg_doc_add_bool(d, "backward", c->path.backward);
    tg_doc_add_null(o, "no_cause");
}

/* Of a list the first WHOLE results, which are the worst, have all keys; the rest are short rows of
 * one line. A renaming refactor has ten thousand. */
enum { WHOLE = 1000 };

static void add_results(struct tg_doc *root, const char *key, const struct tg_verdict *v,
                        enum tg_state state)
{
    struct tg_doc *list = tg_doc_add_array(root, key);
    bool passes = state == TG_STATE_PASS || state == TG_STATE_SKIP || state == TG_STATE_NOT_JUDGED;
    size_t n = 0;
    TG_EACH(const struct tg_result, r, v->results, v->n_results) {
        if (r->state != state)
            continue;
        struct tg_doc *o = tg_doc_add_object(list, NULL);
        bool whole = n++ < WHOLE;
        add_name(o, "state", tg_state_name(r->state));
        add_name(o, "because", tg_reason_id(r->because));
        tg_doc_add_str(o, "rule", r->rule);
        tg_doc_add_str(o, "op", r->op);
        tg_doc_add_str(o, "op_normalised", r->op_normalised);
        tg_doc_add_str(o, "kind", tg_result_kind(r));
        tg_doc_add_str(o, "metric", tg_result_metric(r));
        /* What every result has that somebody may have to do something about; policy waive asks. */
        if (whole || !passes) {
            bool known = r->has_values;
            add_name(o, "dimension", tg_unit_dimension(r->unit_id));
            tg_doc_add_str(o, "unit", r->unit);
            tg_doc_add_num(o, "baseline", known ? r->base : NAN);
            tg_doc_add_num(o, "test", known ? r->test : NAN);
            tg_doc_add_num(o, "delta", known ? r->delta : NAN);
            tg_doc_add_num(o, "delta_pct",
                           known && tg_dec_pct_tells(r->delta_pct) ? r->delta_pct : NAN);
        }
        if (whole) {
            add_name(o, "estimate",
                     r->ev && r->ev->why_not == TG_JUDGED ? tg_estimate_name(r->ev->estimate) : "");
            tg_doc_add_num(o, "share", r->share);
        }
        if (whole || !passes) {
            TG_BUF at = { 0 };
            add_text(o, "limit", r->limit);
            add_name(o, "ceiling", r->ceiling == TG_BOUND_PCT ? "" : tg_bound_name(r->ceiling));
            tg_result_put_at(&at, r);
            add_text(o, "at", tg_buf_sv(&at));
            tg_doc_add_str(o, "message", r->message);
        }
        if (whole) {
            add_text(o, "evidence", r->evidence);
            add_text(o, "calling_op", r->calling_op);
            add_text(o, "next", r->next);
            add_text(o, "why", r->why);
            add_text(o, "owner", r->owner);
            tg_json_cause(o, r);
            add_text(o, "event", r->event);
            struct tg_doc *nights = r->n_nights ? tg_doc_add_array(o, "nights_ns") : NULL;
            for (size_t k = 0; k < r->n_nights; k++)
                tg_doc_add_num(nights, NULL, r->nights[k]);
        }
        if (whole || !passes) {
            bool folded = r->folded_under < v->n_results;
            add_text(o, "explained_by",
                     folded ? v->results[r->folded_under].op_normalised : TG_SV(""));
            tg_doc_add_bool(o, "follows", r->follows);
        }
        if (!whole)
            tg_doc_seal(o);
    }
}

/* ---- the table ---- */

/* Logarithms and exponentials differ in their last digits from one C library to another. */
static void add_estimate(struct tg_doc *o, const char *key, double v)
{
    tg_doc_add_num(o, key, tg_dec_round(v));
}

static void add_evidence(struct tg_doc *o, const struct tg_evidence *ev)
{
    struct tg_doc *e = tg_doc_add_object(o, "evidence");
    tg_doc_add_bool(e, "judged", ev->why_not == TG_JUDGED);
    add_name(e, "reason", tg_judged_text(ev->why_not));
    add_name(e, "estimate", tg_estimate_name(ev->estimate));
    tg_json_pair(e, "value_ns", ev->value);
    add_estimate(e, "log_ratio", ev->e);
    add_estimate(e, "delta_ns", ev->delta_ns);
    add_estimate(e, "noise", ev->noise);
    add_estimate(e, "se", ev->se);
    add_estimate(e, "z", ev->z);
    add_estimate(e, "tau", ev->tau);
    add_estimate(e, "p", ev->p);
    add_estimate(e, "p_limit", ev->p_limit);
    tg_doc_add_i64(e, "above", ev->above);
    tg_doc_add_i64(e, "pairs", (int64_t)ev->n_x[TG_TEST]);
    add_estimate(e, "detectable", ev->mde);
    tg_doc_add_bool(e, "proven", ev->proven);
    tg_doc_add_bool(e, "slower", ev->slower);
    tg_doc_add_bool(e, "faster", ev->faster);
    tg_doc_add_bool(e, "suspicious", ev->suspicious);
    tg_doc_add_bool(e, "withheld", ev->withheld);
    tg_doc_add_bool(e, "some_steps", ev->some_steps);
    if (ev->some_steps)
        tg_json_pair(e, "slowest_step_ns", ev->slowest);
    else
        tg_doc_add_null(e, "slowest_step_ns");
}

/* What every row of the table has. */
static void add_calls(struct tg_doc *o, const struct tg_comparison *c, const struct tg_op *op)
{
    tg_doc_add_str(o, "op", tg_op_raw(op));
    tg_doc_add_str(o, "op_normalised", op->name);
    add_name(o, "kind", tg_kind_name(op->kind));
    add_name(o, "class", tg_class_name(op->class_));
    add_text(o, "parent", op->parent);
    static const char *const change[] = {
        [TG_SAME] = "same", [TG_ADDED] = "added", [TG_REMOVED] = "removed",
        [TG_MORE] = "more", [TG_FEWER] = "fewer",
    };
    static const char *const relation[] = {
        [TG_REL_NONE] = "",
        [TG_REL_RENAMED] = "renamed",
        [TG_REL_REPLACED] = "replaced",
        [TG_REL_REPLACED_WORSE] = "replaced by more",
        [TG_REL_MOVED] = "moved",
    };
    add_name(o, "change", change[op->change]);
    add_name(o, "relation", relation[op->relation]);
    add_text(o, "partner", op->partner < c->n_ops ? c->ops[op->partner].name : TG_SV(""));
    tg_json_pair(o, "count", op->count);
    tg_json_pair(o, "total_ns", op->total);
    tg_json_pair(o, "self_ns", op->self);
}

/* What only rows that are whole have. */
static void add_op(struct tg_doc *o, const struct tg_verdict *v, const struct tg_op *op)
{
    const struct tg_comparison *c = v->comparison;
    struct tg_row_numbers whole = tg_row_numbers(c, op, TG_BASIS_WHOLE);
    tg_json_pair(o, "share", op->share);
    if (op->on_rank_alone)
        tg_json_pair(o, "on_one_rank_ns", op->there_ns);
    if (tg_row_was(v, op).n_after)
        tg_json_pair(o, "replacement_ns", tg_row_shown(v, op).ns);
    if (tg_row_is_whole(v, op))
        tg_json_pair(o, "finding_ns", tg_row_shown(v, op).ns);
    tg_json_pair(o, "whole_count", whole.count);
    tg_json_pair(o, "whole_total_ns", whole.ns);
    tg_doc_add_bool(o, "settled", op->settled);
    tg_doc_add_bool(o, "polling", op->polling);
    tg_doc_add_bool(o, "wait", op->wait);
    tg_doc_add_bool(o, "grouped", op->grouped);
    /* How the calls behaved, and what that says. */
    const struct tg_count_evidence *ev = &op->counted;
    static const char *const shape[] = {
        [TG_COUNT_CONSTANT] = "constant",     [TG_COUNT_RUNS_DIFFER] = "runs differ",
        [TG_COUNT_SOME_STEPS] = "some steps", [TG_COUNT_FIRST_STEP] = "first steps",
        [TG_COUNT_VARIES] = "varies",
    };
    static const char *const proof[] = {
        [TG_COUNT_UNCHANGED] = "unchanged", [TG_COUNT_HINT] = "hint", [TG_COUNT_PROVEN] = "proven"
    };
    struct tg_doc *e = tg_doc_add_object(o, "counted");
    add_name(e, "shape", shape[ev->shape]);
    add_name(e, "proof", proof[ev->proof]);
    tg_doc_add_num(e, "most", ev->most);
    tg_doc_add_i64(e, "steps_above", ev->above);
    tg_doc_add_i64(e, "steps", ev->steps);
    tg_doc_add_i64(e, "runs_above", ev->runs_above);
    tg_doc_add_num(e, "p", ev->p);
    add_evidence(o, tg_op_reported(op));
    struct tg_doc *list = tg_doc_add_array(o, "attributes");
    for (size_t i = 0; i < op->n_attrs; i++) {
        struct tg_doc *f = tg_doc_add_object(list, NULL);
        tg_doc_add_str(f, "kind", tg_attr_kind_name(op->attrs[i].kind));
        tg_doc_add_str(f, "baseline", op->attrs[i].base);
        tg_doc_add_str(f, "test", op->attrs[i].test);
    }
}

static void add_table(struct tg_doc *root, const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    struct tg_doc *list = tg_doc_add_array(root, "table");
    size_t n = c ? c->n_ops : 0;
    /* Which rows are whole: those that take the longest, on either side. */
    const struct tg_op *ops = c ? c->ops : NULL;
    TG_FREE bool *whole = tg_xcalloc(n + 1, sizeof *whole);
    TG_FREE struct tg_ranked *row = tg_xcalloc(n + 1, sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[i] =
            (struct tg_ranked){ fmax(ops[i].self[TG_BASE], ops[i].self[TG_TEST]), (uint32_t)i };
    TG_SORT(row, n, tg_rows_by_size);
    for (size_t i = 0; i < n && i < WHOLE; i++)
        whole[row[i].at] = true;
    for (size_t i = 0; i < n; i++) {
        struct tg_doc *o = tg_doc_add_object(list, NULL);
        add_calls(o, c, &ops[i]);
        if (whole[i])
            add_op(o, v, &ops[i]);
        else
            tg_doc_seal(o);
    }
}

static void add_metrics(struct tg_doc *root, const struct tg_comparison *c)
{
    struct tg_doc *list = tg_doc_add_array(root, "measures");
    for (int m = 0; c && m < TG_METRICS; m++) {
        const struct tg_metric_change *x = &c->metrics[m];
        const struct tg_metric_info *info = tg_metric_info((enum tg_metric)m);
        double value[2], slowest[2];
        if (!x->known[TG_BASE] && !x->known[TG_TEST])
            continue;
        struct tg_doc *o = tg_doc_add_object(list, NULL);
        for (int s = 0; s < 2; s++) {
            value[s] = x->known[s] ? x->value[s] : NAN;
            slowest[s] = x->known[s] ? x->slowest[s] : NAN;
        }
        add_name(o, "name", info->name);
        tg_doc_add_str(o, "unit", tg_sv_of(tg_unit_text(info->unit)));
        tg_json_pair(o, "value", value);
        tg_json_pair(o, "slowest_rank", slowest);
        add_evidence(o, &x->ev);
    }
}

static void add_environment(struct tg_doc *root, const struct tg_comparison *c)
{
    struct tg_doc *o = tg_doc_add_object(root, "environment"), *list;
    if (!c) {
        tg_doc_add_array(o, "differences");
        return;
    }
    add_counts(o, "runs", c->n_runs);
    add_counts(o, "ranks", c->n_ranks);
    add_counts(o, "steps", c->n_steps);
    tg_json_pair(o, "step_ns", c->step_ns);
    tg_json_pair(o, "skew_pct", c->skew);
    tg_json_pair(o, "rank_spread_ns", c->rank_spread);
    tg_doc_add_bool(o, "step_markers", c->marked[TG_BASE] && c->marked[TG_TEST]);
    tg_doc_add_num(o, "iteration_ratio", c->iteration_ratio);
    tg_doc_add_num(o, "drift_pct", 100 * expm1(tg_confirm_last(c)->drift));
    tg_doc_add_bool(o, "drifted", tg_confirm_last(c)->drifted);
    tg_doc_add_bool(o, "busy", c->busy);
    tg_doc_add_bool(o, "other_data", c->other_data);
    tg_doc_add_num(o, "excess_pct", 100 * c->excess);
    tg_doc_add_bool(o, "same_device", tg_same_device(c));
    tg_doc_add_bool(o, "same_flags", c->same_flags);
    list = tg_doc_add_array(o, "differences");
    for (size_t i = 0; i < c->n_env; i++) {
        struct tg_doc *e = tg_doc_add_object(list, NULL);
        tg_doc_add_str(e, "key", c->env[i].key);
        add_text(e, "baseline", c->env[i].value[TG_BASE]);
        add_text(e, "test", c->env[i].value[TG_TEST]);
    }
}

/* ---- the whole ---- */

static void add_head(struct tg_doc *root, const struct tg_verdict *v, const struct tg_render *r)
{
    add_name(root, "schema", TG_REPORT_SCHEMA);
    add_name(root, "verdict", tg_outcome_name(v->outcome));
    tg_doc_add_i64(root, "exit_code", v->exit_code);
    tg_doc_add_bool(root, "exit_zero", r->exit_zero);
    tg_doc_add_str(root, "headline", v->headline);
    tg_doc_add_str(root, "suite", v->suite);
    tg_doc_add_str(root, "policy", v->policy);
    add_text(root, "preset", v->preset);
    struct tg_doc *o = tg_doc_add_object(root, "coverage");
    tg_doc_add_bool(o, "counts_judged", v->counts_judged);
    tg_doc_add_bool(o, "durations_judged", v->durations_judged);
    tg_doc_add_str(o, "text", v->coverage);
    const struct tg_baseline_info *b = &v->baseline;
    struct tg_doc *baseline = tg_doc_add_object(root, "baseline");
    add_text(baseline, "name", b->name);
    add_text(baseline, "commit", b->commit);
    add_text(baseline, "ref", b->ref);
    add_text(baseline, "how", b->how);
    add_name(baseline, "situation", tg_situation_name(b->situation));
    tg_doc_add_i64(baseline, "walked", b->walked);
    add_text(baseline, "path", b->paths);
    o = tg_doc_add_object(root, "test");
    add_text(o, "commit", v->test_commit);
    add_text(o, "timestamp", v->timestamp);
    add_text(o, "path", v->test_paths);
    if (v->error.n) {
        o = tg_doc_add_object(root, "error");
        tg_doc_add_str(o, "message", v->error);
        add_text(o, "next", v->error_hint);
    } else {
        tg_doc_add_null(root, "error");
    }
}

void tg_reporter_json(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    const struct tg_comparison *c = v->comparison;
    TG_AUTO(tg_doc_drop) struct tg_doc *root = tg_doc_new_object();
    add_head(root, v, r);
    struct tg_doc *o = tg_doc_add_object(root, "summary");
    for (int s = 0; s <= TG_STATE_FAIL; s++)
        tg_doc_add_i64(o, tg_state_name((enum tg_state)s), (int64_t)v->n_state[s]);
    size_t n = 0;
    for (size_t s = 0; s <= TG_STATE_FAIL; s++)
        n += v->n_state[s] > WHOLE ? v->n_state[s] - WHOLE : 0;
    if (c && c->n_ops > WHOLE)
        n += c->n_ops - WHOLE;
    if (n)
        tg_doc_add_i64(root, "shortened", (int64_t)n);
    add_results(root, "violations", v, TG_STATE_FAIL);
    add_results(root, "warnings", v, TG_STATE_WARN);
    add_results(root, "suspicious", v, TG_STATE_SUSPICIOUS);
    add_results(root, "inconclusive", v, TG_STATE_INCONCLUSIVE);
    add_results(root, "waived", v, TG_STATE_WAIVED);
    add_results(root, "not_judged", v, TG_STATE_NOT_JUDGED);
    add_results(root, "skipped", v, TG_STATE_SKIP);
    add_results(root, "passed", v, TG_STATE_PASS);
    struct tg_doc *list = tg_doc_add_array(root, "notes");
    for (size_t i = 0; i < v->n_notes; i++) {
        o = tg_doc_add_object(list, NULL);
        tg_doc_add_bool(o, "warning", v->notes[i].warning);
        tg_doc_add_str(o, "text", v->notes[i].text);
        add_text(o, "next", v->notes[i].next);
    }
    add_environment(root, c);
    add_metrics(root, c);
    list = tg_doc_add_array(root, "numbers");
    for (size_t i = 0; c && i < c->n_numbers; i++) {
        const struct tg_number_change *x = &c->numbers[i];
        o = tg_doc_add_object(list, NULL);
        tg_doc_add_str(o, "name", x->name);
        tg_doc_add_str(o, "unit", x->unit);
        tg_doc_add_str(o, "better",
                       tg_number_more_is_better(x->name, x->unit) ? TG_SV("more") : TG_SV("less"));
        add_counts(o, "runs", x->n_runs);
        tg_json_pair(o, "value", x->value);
    }
    list = tg_doc_add_array(root, "replacements");
    size_t n_replacements = c ? c->n_regions : 0;
    TG_FREE struct tg_doc **names = tg_xcalloc(n_replacements + 1, sizeof *names);
    for (size_t i = 0; i < n_replacements; i++) {
        const struct tg_region *g = &c->regions[i];
        struct tg_doc *replacement = tg_doc_add_object(list, NULL);
        add_text(replacement, "encloser", g->encloser);
        tg_json_pair(replacement, "calls", g->calls);
        tg_json_pair(replacement, "time_ns", g->time);
        tg_doc_add_bool(replacement, "worse_count", g->worse_count);
        names[i] = tg_doc_add_array(replacement, "ops");
    }
    for (size_t k = 0; c && k < c->n_ops; k++)
        if (c->ops[k].region < n_replacements)
            tg_doc_add_str(names[c->ops[k].region], NULL, c->ops[k].name);
    add_table(root, v);
    struct tg_doc *versions = tg_doc_add_object(root, "versions");
    tg_doc_add_str(versions, "tracegate", v->version);
    tg_doc_add_i64(versions, "report", 1);
    tg_doc_write(root, TG_DOC_INDENTED, out);
}
