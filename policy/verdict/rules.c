#include <stdlib.h>

#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

static bool has_number(const int64_t *v, size_t n, int64_t x)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == x)
            return true;
    return false;
}

/* A result of the rule that is about no name. */
static void say(struct tg_eval_state *e, const struct tg_rule *rule, enum tg_state state,
                enum tg_reason because, tg_sv what, tg_sv message, tg_sv next)
{
    tg_eval_message(tg_eval_add(e, rule), state, TG_SUBJECT_GUARD, because, what, message, next);
}

/* Of a rule that has nothing to judge. */
static enum tg_state unless_optional(const struct tg_rule *rule)
{
    return rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE;
}

/* The result for the names that a rule chooses. */
struct chosen {
    size_t matched, fresh; /* names; those of them that the fresh traces have */
    bool gave_up;
    const struct tg_op **quiet; /* whose own time shows nothing by itself: by kind */
    size_t n_quiet, cap_quiet;
};

/*
 * Was nothing found of an operator that is too small, or has too few runs, to show anything by itself? The
 * rule has just been asked: a time has a result.
 */
static bool is_quiet(const struct tg_eval_state *e, const struct tg_rule_scope *s,
                     const struct tg_rule *rule, const struct tg_op *op)
{
    bool own = rule->metric == TG_RULE_METRIC_SELF ||
               (rule->metric == TG_RULE_METRIC_TOTAL && tg_kind_is_device(op->kind));
    for (size_t i = 0; i < rule->n_overrides; i++) /* by the rule's own limits */
        own &= !tg_select_override(&rule->overrides[i], op);
    return own && !tg_kind_is_frame(op->kind) && !tg_rule_is_budget(rule) &&
           (tg_op_is_small(s->c, op) || op->ev.judged == TG_NOT_FEW_RUNS) &&
           e->results[e->n - 1].state <= TG_STATE_NOT_JUDGED;
}

bool tg_rule_counts_calls(const struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_rule_metric_info *m = tg_rule_metric_info(rule->metric);
    return m->unit == TG_UNIT_COUNT && m->exact && tg_select_rule(e, &rule->when);
}

static void judge_chosen(struct tg_eval_state *e, const struct tg_rule_scope *s,
                         const struct tg_rule *rule, const struct tg_op *op, struct chosen *out)
{
    tg_judge_op(e, s, rule, op);
    if (is_quiet(e, s, rule, op))
        *TG_PUSH(out->quiet, out->n_quiet, out->cap_quiet) = op;
}

/* Is there something to say of them together? */
static bool judge_together(struct tg_eval_state *e, const struct tg_rule_scope *s,
                           const struct tg_rule *rule, const struct tg_op *const *op, size_t n)
{
    struct tg_evidence *ev = TG_NEW(e->arena, struct tg_evidence);
    size_t before = e->n;
    if (n > 1 && tg_ops_evidence(op, n, ev))
        tg_judge_together(e, s, rule, op, n, ev);
    return e->n > before;
}

/* Of one kind: all small ones; with few runs those of them that doubled, or all that stand out. */
static void judge_kind(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule, const struct tg_op *const *op, size_t n)
{
    TG_FREE const struct tg_op **some = tg_xmalloc((n + 1) * sizeof *some);
    size_t small = 0, doubled = 0;
    for (size_t i = 0; i < n; i++)
        if (tg_op_is_small(s->c, op[i]))
            some[small++] = op[i];
    if (judge_together(e, s, rule, some, small))
        return;
    for (size_t i = 0; i < small; i++)
        if (tg_op_has_doubled(some[i]))
            some[doubled++] = some[i];
    if (!judge_together(e, s, rule, some, doubled))
        (void)judge_together(e, s, rule, some, tg_ops_that_grew(op, n, some));
}

/* Operators come by kind. */
static void judge_kinds(struct tg_eval_state *e, const struct tg_rule_scope *s,
                        const struct tg_rule *rule, const struct tg_op *const *all, size_t n_all)
{
    for (size_t i = 0, n; i < n_all; i += n) {
        for (n = 1; i + n < n_all && all[i + n]->kind == all[i]->kind;)
            n++;
        judge_kind(e, s, rule, all + i, n);
    }
}

static void judge_op_if(struct tg_eval_state *e, const struct tg_rule_scope *s,
                        const struct tg_rule *rule, const struct tg_op *op, struct chosen *out)
{
    switch (tg_select_op(&rule->match, op)) {
    case TG_HIT_YES:
        out->matched++;
        out->fresh += op->present[TG_TEST];
        judge_chosen(e, s, rule, op, out);
        break;
    case TG_HIT_GAVE_UP:
        out->gave_up = true;
        break;
    case TG_HIT_NO:
        break;
    }
}

/* What a bound says of the fresh side alone. Added and removed are so of the other side. */
static bool is_of_test_alone(const struct tg_rule *rule)
{
    return tg_rule_is_budget(rule) && rule->metric != TG_RULE_METRIC_ADDED &&
           rule->metric != TG_RULE_METRIC_REMOVED;
}

/*
 * Are the totals by Python frame there that the rule asks for? A side that was stored or recorded
 * without them must not look like a program without modules: that is never optional. A budget asks
 * the fresh side alone.
 */
static bool has_frames(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule)
{
    static const struct {
        const char *not_stored, *next, *not_recorded;
    } texts[] = {
        [TG_BASE] = { "not in this baseline: totals by Python frame were not taken",
                      "Record the baseline again with this policy, or with summarize --stacks.",
                      "not in every trace of the baseline: recorded without Python stacks, unlike "
                      "the fresh ones" },
        [TG_TEST] = { "not in this summary: totals by Python frame were not taken",
                      "Summarise with --stacks, or name the traces themselves.",
                      "not in every fresh trace: recorded without Python stacks, unlike the "
                      "baseline" },
    };
    int side = tg_grounds_lacks_frames(s, rule->match.kinds, TG_TEST) ? TG_TEST : TG_BASE;
    bool stored;
    if (!tg_grounds_lacks_frames(s, rule->match.kinds, side) ||
        (side == TG_BASE && is_of_test_alone(rule)))
        return true;
    stored = !(tg_frame_sorts(rule->match.kinds) & ~s->c->frame_sorts[side]);
    say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_STACKS, TG_SV("(no totals)"),
        tg_sv_of(stored ? texts[side].not_recorded : texts[side].not_stored),
        stored ? TG_SV("Record both sides with with_stack=True.") : tg_sv_of(texts[side].next));
    return false;
}

static tg_sv no_match_next(const struct tg_rule *rule)
{
    return rule->match.kinds & TG_FRAME_KINDS
               ? TG_SV("Record with with_stack=True; `tracegate analyze --measure modules` shows "
                       "the names; or mark the rule optional.")
               : TG_SV("Check the pattern with `tracegate names`, or mark the rule optional.");
}

bool tg_rule_is_narrow(const struct tg_match *m)
{
    return m->name.n || m->raw_name.n || m->parent.n || m->classes || m->families || m->devices.n ||
           m->streams.n;
}

/* All that the rule looked at went, under another name or elsewhere for all it knows: no plain pass. */
static void tell_all_gone(struct tg_eval_state *e, const struct tg_rule *rule, size_t from)
{
    for (size_t i = from; i < e->n; i++)
        if (e->results[i].state == TG_STATE_WARN || e->results[i].state >= TG_STATE_INCONCLUSIVE)
            return;
    say(e, rule, TG_STATE_WARN, TG_REASON_ALL_GONE, TG_SV("(all gone)"),
        TG_SV("nothing that the rule matches is left in the fresh traces"),
        TG_SV("If the work has another name now, or runs elsewhere, change the rule's `match`; if "
              "it is no longer done, remove the rule."));
}

static void judge_ops(struct tg_eval_state *e, const struct tg_rule_scope *s,
                      const struct tg_rule *rule)
{
    struct chosen found = { 0 };
    bool frames = has_frames(e, s, rule);
    size_t before = e->n;
    for (size_t i = 0; i < s->c->n_ops; i++)
        judge_op_if(e, s, rule, &s->c->ops[i], &found);
    for (size_t i = 0; frames && i < s->c->n_frames; i++)
        if (s->c->frames[i].launched == tg_rule_metric_of_launched(rule->metric))
            judge_op_if(e, s, rule, &s->c->frames[i], &found);
    tg_judge_choices(e, s, rule);
    judge_kinds(e, s, rule, found.quiet, found.n_quiet);
    free(found.quiet);
    if (found.gave_up)
        say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_PATTERN, TG_SV("(pattern)"),
            TG_SV("a regular expression exceeded its budget of steps on a name"),
            TG_SV("Write a simpler pattern; nested repeats are the usual cause."));
    if (found.matched && e->n == before)
        say(e, rule, rule->unjudged_note ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_NEED_VALUE,
            TG_SV("(no value)"),
            TG_SV("no matching name has what this metric needs, on both sides"),
            TG_SV("Record what docs/metrics.md names for it; `unjudged: note` makes this a note."));
    if (found.matched && !found.fresh && tg_rule_is_narrow(&rule->match) &&
        rule->metric != TG_RULE_METRIC_REMOVED)
        tell_all_gone(e, rule, before);
    if (!found.matched && !found.gave_up && frames)
        tg_eval_message(tg_eval_add(e, rule), unless_optional(rule), TG_SUBJECT_NO_MATCH,
                        TG_NEED_MATCH, TG_SV("(no match)"),
                        TG_SV("the rule matches no name in either trace"), no_match_next(rule));
}

static void judge_scope(struct tg_eval_state *e, const struct tg_rule_scope *s,
                        const struct tg_rule *rule)
{
    if (tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NAME) {
        judge_ops(e, s, rule);
        return;
    }
    if (tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NUMBERS) {
        tg_judge_numbers(e, s, rule);
        return;
    }
    tg_judge_metric(e, s, rule);
    if (rule->metric == TG_RULE_METRIC_STEP_TIME && !tg_rule_is_budget(rule)) {
        tg_judge_gaps(e, s, rule);
    }
}

static int by_rank(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ranks of a side are ascending. */
static bool has_rank(const struct tg_side *side, int64_t rank)
{
    return side->n_ranks && bsearch(&rank, side->ranks, side->n_ranks, sizeof rank, by_rank);
}

static void no_trace_of_rank(struct tg_eval_state *e, const struct tg_rule *rule, int64_t rank,
                             const char *side)
{
    const struct tg_comparison *c = e->in->comparison;
    tg_sv name = TG_SV_PRINTF(e->arena, "(rank %lld)", (long long)rank);
    if (has_number(c->steps_only, c->n_steps_only, rank))
        say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_RANK, name,
            TG_SV("the stored side has step times only of this rank"),
            TG_SV("The stored size of a run is limited: name a rank that `tracegate baseline show` "
                  "lists in full, or record fewer steps."));
    else
        say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_RANK, name,
            TG_SV_PRINTF(e->arena, "the %s has no trace of this rank", side),
            TG_SV("Record every rank on both sides."));
}

static bool lacks_rank(const struct tg_comparison *c, int side, int64_t rank)
{
    return has_number(c->lacking[side], c->n_lacking[side], rank);
}

/*
 * Ranks that the rule names and that are not compared are reported: an empty choice is not a pass.
 * For `each` the verdict's notes report them.
 */
static void tell_missing_ranks(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_ints *list = &rule->match.ranks;
    for (size_t i = 0; rule->match.rank == TG_MATCH_RANK_LIST && i < list->n; i++)
        if (!has_rank(&c->side[TG_TEST], list->v[i]))
            no_trace_of_rank(e, rule, list->v[i],
                             lacks_rank(c, TG_BASE, list->v[i]) &&
                                     !lacks_rank(c, TG_TEST, list->v[i])
                                 ? "baseline"
                                 : "fresh side");
}

static bool has_limit(const struct tg_rule *rule)
{
    bool any = rule->warn.state == TG_LIMIT_ON || rule->fail.state == TG_LIMIT_ON;
    for (size_t i = 0; i < rule->n_overrides; i++)
        any |= rule->overrides[i].warn.state == TG_LIMIT_ON ||
               rule->overrides[i].fail.state == TG_LIMIT_ON;
    return any;
}

/* Of several that a side brought, at least as many as are compared. */
static bool is_each(const struct tg_comparison *all, const struct tg_rule *rule)
{
    return rule->match.rank == TG_MATCH_RANK_EACH &&
           (all->n_brought[TG_BASE] > 1 || all->n_brought[TG_TEST] > 1);
}

/*
 * The slowest rank: of metrics of the whole trace the worst rank of either side, which the comparison of all knows;
 * of names the rank whose steps take longest in the fresh traces, against itself in the baseline.
 */
static bool is_slowest(const struct tg_comparison *all, const struct tg_rule *rule)
{
    return rule->match.rank == TG_MATCH_RANK_SLOWEST &&
           tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NAME && all->n_ranks[TG_TEST] > 1;
}

bool tg_rule_wants(const struct tg_eval_state *e, const struct tg_rule *rule, int64_t rank)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    if (!tg_select_rule(e, &rule->when) || !has_limit(rule))
        return false;
    if (is_slowest(all, rule))
        return rank >= 0 && rank == all->slowest_rank;
    if (m->rank == TG_MATCH_RANK_LIST)
        return has_number(m->ranks.v, m->ranks.n, rank) && has_rank(&all->side[TG_BASE], rank);
    if (is_each(all, rule))
        return rank >= 0 && has_rank(&all->side[TG_BASE], rank);
    return rank < 0 && (m->devices.n || m->streams.n);
}

/* One a side, and another one: nothing to compare it with. */
static void tell_other_ranks(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    for (size_t i = 0; i < all->n_ranks[TG_TEST]; i++) {
        int64_t rank = all->side[TG_TEST].ranks[i];
        if (m->rank == TG_MATCH_RANK_LIST && !has_number(m->ranks.v, m->ranks.n, rank))
            continue;
        if (!has_rank(&all->side[TG_BASE], rank))
            no_trace_of_rank(e, rule, rank, "baseline");
    }
}

void tg_rule_judge(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    if (!tg_select_rule(e, &rule->when)) {
        say(e, rule, TG_STATE_SKIP, TG_NEED_EVENT, TG_SV("(when)"),
            TG_SV("the rule does not apply to this event, branch or device"), TG_SV(""));
    } else if (!has_limit(rule)) {
        say(e, rule, unless_optional(rule), TG_NEED_LIMIT, TG_SV("(no limit)"),
            TG_SV("every limit of the rule is off"),
            TG_SV("Set `warn` or `fail`, or remove the rule: `rules: {remove: [id]}`."));
    } else if (m->rank == TG_MATCH_RANK_LIST || is_each(all, rule)) {
        tell_missing_ranks(e, rule);
        tell_other_ranks(e, rule);
    } else if (!is_slowest(all, rule) && !m->devices.n && !m->streams.n) {
        judge_scope(e, &(struct tg_rule_scope){ all, -1 }, rule);
    }
}

void tg_rule_judge_part(struct tg_eval_state *e, const struct tg_rule *rule,
                        const struct tg_comparison *c, int64_t rank)
{
    judge_scope(e, &(struct tg_rule_scope){ c, rank }, rule);
}

/* What came of a rule's results. */
struct tally {
    size_t spoke;       /* results that say something, or want more runs */
    size_t off, silent; /* switched off; without evidence */
    const char *why;
};

static struct tally tally_of(const struct tg_result *v, size_t n)
{
    struct tally t = { 0 };
    for (size_t i = 0; i < n; i++) {
        bool quiet = v[i].state == TG_STATE_PASS || v[i].state == TG_STATE_SKIP ||
                     v[i].state == TG_STATE_NOT_JUDGED;
        if (!quiet || v[i].grounds != TG_GROUNDS_NONE || v[i].few_runs) {
            t.spoke++;
        } else if (v[i].why_not) {
            t.off += v[i].switched_off;
            t.silent += !v[i].switched_off;
            t.why = v[i].why_not;
        }
    }
    return t;
}

/*
 * What was not judged is never green. A rule that found something and judged none of it is
 * inconclusive: without evidence unless the policy says `unjudged: note`, and in any case where the
 * policy itself leaves out all that it matches. A rule that found nothing has said so already.
 */
void tg_rule_close(struct tg_eval_state *e, const struct tg_rule *rule, const struct tg_result *v,
                   size_t n)
{
    struct tally t = tally_of(v, n);
    if (t.spoke || !(t.off + t.silent) || (t.silent && rule->unjudged_note))
        return;
    say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_ANY, TG_SV("(nothing judged)"),
        TG_SV_PRINTF(e->arena, "nothing that the rule matches was judged: %s", t.why),
        t.silent
            ? TG_SV("The rows that are not judged say why; `unjudged: note` makes this a note.")
            : TG_SV("Narrow the override or `noise.ignore`, or remove the rule."));
}
