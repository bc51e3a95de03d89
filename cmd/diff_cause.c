/* `diff --cause`: where in the program the rows of the table that moved most come from. */
#include <math.h>

#include "cmd/diff.h"
#include "cmd/gate/cause.h"
#include "core/base/message.h"
#include "core/diff/names.h"
#include "reporters/origin.h"
#include "reporters/rows.h"

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

void tg_diff_put_causes(struct tg_buf *out, const struct tg_verdict *v)
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

void tg_diff_find_causes(struct tg_verdict *v, const struct tg_diff_request *q,
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
