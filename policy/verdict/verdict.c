#include "policy/verdict/verdict.h"

#include "core/base/arena.h"
#include "policy/verdict/reason.h"

const char *tg_state_name(enum tg_state s)
{
    static const char *const name[] = {
        [TG_STATE_PASS] = "pass", [TG_STATE_NOT_JUDGED] = "not judged",
        [TG_STATE_SKIP] = "skip", [TG_STATE_WAIVED] = "waived",
        [TG_STATE_WARN] = "warn", [TG_STATE_SUSPICIOUS] = "suspicious",
        [TG_STATE_FAIL] = "fail", [TG_STATE_INCONCLUSIVE] = "inconclusive",
    };
    return name[s];
}

const char *tg_outcome_name(enum tg_outcome o)
{
    static const char *const name[] = {
        [TG_OUTCOME_PASS] = "pass",   [TG_OUTCOME_WARN] = "warn",
        [TG_OUTCOME_FAIL] = "fail",   [TG_OUTCOME_INCONCLUSIVE] = "inconclusive",
        [TG_OUTCOME_ERROR] = "error",
    };
    return name[o];
}

int tg_outcome_exit_code(enum tg_outcome o)
{
    static const int code[] = {
        [TG_OUTCOME_PASS] = 0, [TG_OUTCOME_WARN] = 0,  [TG_OUTCOME_INCONCLUSIVE] = 4,
        [TG_OUTCOME_FAIL] = 1, [TG_OUTCOME_ERROR] = 3,
    };
    return code[o];
}

void tg_verdict_title(struct tg_verdict *v, struct tg_arena *a)
{
    static const char *const word[] = {
        [TG_OUTCOME_PASS] = "PASS",   [TG_OUTCOME_WARN] = "WARN",
        [TG_OUTCOME_FAIL] = "FAIL",   [TG_OUTCOME_INCONCLUSIVE] = "INCONCLUSIVE",
        [TG_OUTCOME_ERROR] = "ERROR",
    };
    tg_sv against = v->baseline.name;
    bool first = v->first_run && v->outcome == TG_OUTCOME_PASS;
    v->headline =
        TG_SV_PRINTF(a, "%s%s%.*s: %.*s", first ? "FIRST RUN" : word[v->outcome],
                     against.n ? " against " : "", TG_SV_ARG(against), TG_SV_ARG(v->said));
}

const char *tg_dimension_name(enum tg_dimension d)
{
    static const char *const name[] = {
        [TG_DIM_COUNT] = "count",   [TG_DIM_DURATION] = "duration", [TG_DIM_ATTR] = "fact",
        [TG_DIM_RATIO] = "ratio",   [TG_DIM_BYTES] = "bytes",       [TG_DIM_RATE] = "rate",
        [TG_DIM_NUMBER] = "number",
    };
    return name[d];
}

tg_sv tg_result_kind(const struct tg_result *r)
{
    switch (r->subject) {
    case TG_SUBJECT_NAME:
        return tg_sv_of(tg_kind_name(r->op_kind));
    case TG_SUBJECT_STEP:
        return TG_SV("step");
    case TG_SUBJECT_TRACE:
        return TG_SV("trace");
    case TG_SUBJECT_NUMBER:
        return TG_SV("number");
    default:
        return TG_SV("guard");
    }
}

bool tg_result_is_about(const struct tg_result *r, const struct tg_op *op)
{
    bool kind = r->subject == TG_SUBJECT_STEP
                    ? op->kind == TG_KIND_STEP
                    : r->subject == TG_SUBJECT_NAME && r->op_kind == op->kind;
    return kind && tg_sv_eq(r->op_normalised, op->name);
}

const struct tg_op *tg_result_op(const struct tg_comparison *c, const struct tg_result *r)
{
    if (c && r->op_at < c->n_ops && tg_result_is_about(r, &c->ops[r->op_at]))
        return &c->ops[r->op_at]; /* a comparison has a name of a kind once */
    if (r->subject != TG_SUBJECT_NAME && r->subject != TG_SUBJECT_STEP)
        return NULL;
    for (size_t i = 0; c && i < c->n_ops; i++)
        if (tg_result_is_about(r, &c->ops[i]))
            return &c->ops[i];
    return NULL;
}

const struct tg_region *tg_result_region(const struct tg_comparison *c, const struct tg_result *r)
{
    const struct tg_op *op = r->has_values && !r->over_budget ? tg_result_op(c, r) : NULL;
    bool whole = op && (r->dimension == TG_DIM_COUNT ? op->relation == TG_REL_REPLACED_WORSE
                                                     : r->ev && r->ev->pooled);
    return whole && tg_op_side_of_region(op) == TG_TEST ? &c->regions[op->region] : NULL;
}

tg_sv tg_result_metric(const struct tg_result *r)
{
    return tg_result_is_guard(r) ? TG_SV("") : tg_sv_of(tg_rule_metric_info(r->metric)->name);
}

const struct tg_op *tg_result_behind(const struct tg_result *r, const struct tg_comparison *c)
{
    enum tg_metric m;
    if (!c || r->subject != TG_SUBJECT_TRACE || !(r->delta > 0) ||
        !tg_rule_metric_of_trace(r->metric, &m))
        return NULL;
    return tg_op_behind(c, m);
}

bool tg_result_is_guard(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_REQUIRE || r->subject == TG_SUBJECT_NOTE ||
           r->subject == TG_SUBJECT_NO_MATCH || r->subject == TG_SUBJECT_GUARD;
}

bool tg_result_is_of_machine(const struct tg_result *r)
{
    static const enum tg_reason machine[] = { TG_REASON_SLOW_MACHINE, TG_REASON_ALL_LONGER,
                                              TG_REASON_BUSY };
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        if (r->because && strcmp(r->because, tg_reason_id(machine[i])) == 0)
            return true;
    return false;
}

bool tg_result_is_of_slowest(const struct tg_result *r)
{
    return r->ev && r->because == tg_reason_id(TG_REASON_SOME_STEPS);
}

const char *tg_situation_name(enum tg_situation s)
{
    static const char *const names[] = {
        [TG_SITUATION_UNKNOWN] = "",  [TG_SITUATION_FOUND] = "found",
        [TG_SITUATION_GAP] = "gap",   [TG_SITUATION_FIRST_RUN] = "first-run",
        [TG_SITUATION_LOST] = "lost", [TG_SITUATION_PATH] = "path",
    };
    return names[s];
}
