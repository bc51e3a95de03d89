/* Which quantities a rule asks about, in which comparison; and what it says if there is nothing
 * to ask. */
#include <math.h>
#include <stdlib.h>

#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

/* Of a rule that has nothing to judge. */
static enum tg_state unless_optional(const struct tg_rule *rule)
{
    return rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE;
}

static void say_pattern(struct tg_eval_state *e, const struct tg_rule *rule)
{
    tg_eval_say(e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_PATTERN, "(pattern)",
                "a regular expression exceeded its budget of steps on a name",
                "Write a simpler pattern; nested repeats are the usual cause.");
}

bool tg_rule_counts_calls(const struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_rule_metric_info *m = tg_rule_metric_info(rule->metric);
    return m->unit == TG_UNIT_COUNT && m->exact && tg_select_rule(e, &rule->when);
}

bool tg_rule_is_narrow(const struct tg_match *m)
{
    return m->name.n || m->raw_name.n || m->parent.n || m->classes || m->families || m->devices.n ||
           m->streams.n;
}

/* What stands for a quantity that no operator of the comparison has. */
static struct tg_op *stand_in(struct tg_arena *a, enum tg_kind kind, tg_sv name)
{
    struct tg_op *op = TG_NEW(a, struct tg_op);
    *op = (struct tg_op){ .name = name,
                          .raw = { name, name },
                          .present = { true, true },
                          .kind = kind,
                          .region = TG_NO_ID,
                          .partner = TG_NO_ID,
                          .leader = TG_NO_ID };
    return op;
}

/* ---- libraries' choices: their launches under rules about calls, their time under rules about
 * times ---- */

static void judge_choices(struct tg_eval_state *e, const struct tg_rule *rule)
{
    bool counts = rule->metric == TG_RULE_METRIC_COUNT && rule->bad == TG_MORE_IS_BAD &&
                  rule->exceptions & 1u << TG_EXCEPTION_REPLACED;
    bool times = rule->metric == TG_RULE_METRIC_SELF || rule->metric == TG_RULE_METRIC_TOTAL;
    for (size_t i = 0; (counts || times) && i < e->c->n_choices; i++) {
        const struct tg_algorithm *x = &e->c->choices[i];
        struct tg_op *op = stand_in(e->arena, TG_KIND_KERNEL, e->c->ops[x->by].name);
        if (tg_select_op(&rule->match, op) != TG_HIT_YES)
            continue;
        if (times) {
            tg_judge_quantity(
                e, rule,
                &(struct tg_quantity){ .kind = TG_QUANTITY_CHOICE, .op = op, .ev = &x->ev });
            continue;
        }
        /* Fewer launches pass, and others if the runs show them to be as fast as before: "same
         * calls: void a(float*) in place of void b(float*), 5 launches per step, was 3" */
        struct tg_result *r = tg_eval_add(e, rule);
        bool fewer = !x->came && x->calls[TG_TEST] < x->calls[TG_BASE];
        bool as_fast = fewer || x->known || (x->ev.why_not == TG_JUDGED && !x->ev.slower);
        struct tg_buf b = { 0 };
        tg_buf_puts(&b, "same calls: ");
        if (x->came)
            tg_message_put_name(&b, x->came->name, 60);
        if (x->went) {
            tg_buf_puts(&b, x->came ? " in place of " : "without ");
            tg_message_put_name(&b, x->went->name, 60);
        }
        if (x->calls[TG_BASE] != x->calls[TG_TEST])
            tg_buf_printf(&b, ", %s launches per step, was %s",
                          TG_VALUE(x->calls[TG_TEST], TG_UNIT_COUNT),
                          TG_VALUE(x->calls[TG_BASE], TG_UNIT_COUNT));
        tg_eval_message(r, as_fast ? TG_STATE_PASS : TG_STATE_WARN, TG_SUBJECT_NAME,
                        TG_REASON_CHOICE, op->name, tg_phrase_take(&b, e->arena),
                        TG_SV("If a library picked them: docs/guides/noisy-machines.md says how to "
                              "pin its choice."));
        r->op_kind = op->kind;
        r->metric = rule->metric;
        r->unit_id = TG_UNIT_ATTR;
        r->attrs = TG_SV("other kernels, same calls");
        r->grounds = TG_GROUNDS_ATTR;
        r->weight = fabs(x->ev.delta_ns);
    }
}

/* ---- rules about names ---- */

/* Are the totals by Python frame there that the rule asks for? A side that was stored or recorded
 * without them must not look like a program without modules: that is never optional. A budget asks
 * the fresh side alone; added and removed are so of the other side. */
static bool has_frames(struct tg_eval_state *e, const struct tg_rule *rule)
{
    bool fresh_alone = tg_rule_is_budget(rule) && rule->metric != TG_RULE_METRIC_ADDED &&
                       rule->metric != TG_RULE_METRIC_REMOVED;
    int side = tg_lacks_frames(e->c, rule->match.kinds, TG_TEST) ? TG_TEST : TG_BASE;
    bool stored = !(tg_frame_sorts(rule->match.kinds) & ~e->c->frame_sorts[side]);
    bool base = side == TG_BASE;
    if (!tg_lacks_frames(e->c, rule->match.kinds, side) || (base && fresh_alone))
        return true;
    tg_eval_say(
        e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_STACKS, "(no totals)",
        stored && base ? "not in every trace of the baseline: recorded without Python stacks, "
                         "unlike the fresh ones"
        : stored ? "not in every fresh trace: recorded without Python stacks, unlike the baseline"
        : base   ? "not in this baseline: totals by Python frame were not taken"
                 : "not in this summary: totals by Python frame were not taken",
        stored ? "Record both sides with with_stack=True."
        : base ? "Record the baseline again with this policy, or with summarize --stacks."
               : "Summarise with --stacks, or name the traces themselves.");
    return false;
}

static void judge_names(struct tg_eval_state *e, const struct tg_rule *rule)
{
    bool frames = has_frames(e, rule), gave_up = false;
    size_t before = e->n, matched = 0, fresh = 0;
    enum tg_state worst = TG_STATE_PASS;
    for (size_t i = 0; i < e->c->n_ops + (frames ? e->c->n_frames : 0); i++) {
        /* The rows of a comparison, then those of Python frames. */
        bool frame = i >= e->c->n_ops;
        const struct tg_op *op = frame ? &e->c->frames[i - e->c->n_ops] : &e->c->ops[i];
        bool other = frame && op->launched != tg_rule_metric_of_launched(rule->metric);
        enum tg_hit hit = other ? TG_HIT_NO : tg_select_op(&rule->match, op);
        gave_up |= hit == TG_HIT_GAVE_UP;
        if (hit != TG_HIT_YES)
            continue;
        matched++;
        fresh += op->present[TG_TEST];
        tg_judge_quantity(e, rule, &(struct tg_quantity){ .kind = TG_QUANTITY_OP, .op = op });
    }
    judge_choices(e, rule);
    if (gave_up)
        say_pattern(e, rule);
    if (matched && e->n == before)
        tg_eval_say(
            e, rule, rule->unjudged_note ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_NEED_VALUE,
            "(no value)", "no matching name has what this metric needs, on both sides",
            "Record what docs/metrics.md names for it; `unjudged: note` makes this a note.");
    for (size_t i = before; i < e->n; i++)
        worst = e->results[i].state > worst ? e->results[i].state : worst;
    /* All that the rule looked at went, under another name or elsewhere for all it knows: no
     * plain pass. */
    if (matched && !fresh && tg_rule_is_narrow(&rule->match) &&
        rule->metric != TG_RULE_METRIC_REMOVED && worst < TG_STATE_WARN)
        tg_eval_say(
            e, rule, TG_STATE_WARN, TG_REASON_ALL_GONE, "(all gone)",
            "nothing that the rule matches is left in the fresh traces",
            "If the work has another name now, or runs elsewhere, change the rule's `match`; if it "
            "is no longer done, remove the rule.");
    if (!matched && !gave_up && frames)
        tg_eval_say(
            e, rule, unless_optional(rule), TG_NEED_MATCH, "(no match)",
            "the rule matches no name in either trace",
            rule->match.kinds & TG_FRAME_KINDS
                ? "Record with with_stack=True; `tracegate analyze --measure modules` shows the "
                  "names; or mark the rule optional."
                : "Check the pattern with `tracegate names`, or mark the rule optional.");
}

/* ---- ranks, devices and streams ---- */

/* Ranks of a side are ascending. */
static bool has_rank(const struct tg_side *side, int64_t rank)
{
    return side->n_ranks && bsearch(&rank, side->ranks, side->n_ranks, sizeof rank, tg_by_i64);
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
 * The slowest rank: of metrics of the whole trace the worst rank of either side, which the
 * comparison of all knows; of names the rank whose steps take longest in the fresh traces, against
 * itself in the baseline.
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
        return tg_is_among(m->ranks.v, m->ranks.n, rank) && has_rank(&all->side[TG_BASE], rank);
    if (is_each(all, rule))
        return rank >= 0 && has_rank(&all->side[TG_BASE], rank);
    return rank < 0 && (m->devices.n || m->streams.n);
}

/* Ranks that the rule asks for and that are not compared are reported: an empty choice is not a
 * pass. */
static void say_missing_ranks(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *c = e->in->comparison;
    bool list = rule->match.rank == TG_MATCH_RANK_LIST;
    const int64_t *v = list ? rule->match.ranks.v : c->side[TG_TEST].ranks;
    for (size_t i = 0, n = list ? rule->match.ranks.n : c->n_ranks[TG_TEST]; i < n; i++) {
        bool fresh = has_rank(&c->side[TG_TEST], v[i]);
        bool base_alone = tg_is_among(c->lacking[TG_BASE], c->n_lacking[TG_BASE], v[i]) &&
                          !tg_is_among(c->lacking[TG_TEST], c->n_lacking[TG_TEST], v[i]);
        bool stored = tg_is_among(c->steps_only, c->n_steps_only, v[i]);
        if (fresh && has_rank(&c->side[TG_BASE], v[i]))
            continue;
        tg_eval_say(
            e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_RANK,
            tg_arena_printf(e->arena, "(rank %lld)", (long long)v[i]),
            stored ? "the stored side has step times only of this rank"
                   : tg_arena_printf(e->arena, "the %s has no trace of this rank",
                                     fresh || base_alone ? "baseline" : "fresh side"),
            stored ? "The stored size of a run is limited: name a rank that `tracegate baseline "
                     "show` lists in full, or record fewer steps."
                   : "Record every rank on both sides.");
    }
}

void tg_rule_judge(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    if (!tg_select_rule(e, &rule->when))
        tg_eval_say(e, rule, TG_STATE_SKIP, TG_NEED_EVENT, "(when)",
                    "the rule does not apply to this event, branch or device", "");
    else if (!has_limit(rule))
        tg_eval_say(e, rule, unless_optional(rule), TG_NEED_LIMIT, "(no limit)",
                    "every limit of the rule is off",
                    "Set `warn` or `fail`, or remove the rule: `rules: {remove: [id]}`.");
    else if (m->rank == TG_MATCH_RANK_LIST || is_each(all, rule))
        say_missing_ranks(e, rule);
    else if (!is_slowest(all, rule) && !m->devices.n && !m->streams.n)
        tg_rule_judge_part(e, rule, all, -1);
}

void tg_rule_judge_part(struct tg_eval_state *e, const struct tg_rule *rule,
                        const struct tg_comparison *c, int64_t rank)
{
    e->c = c;
    e->rank = rank;
    enum tg_scope scope = tg_rule_metric_info(rule->metric)->scope;
    if (scope == TG_SCOPE_NAME) {
        judge_names(e, rule);
    } else if (scope == TG_SCOPE_NUMBERS) {
        bool matched = false, gave_up = false;
        for (size_t i = 0; i < c->n_numbers; i++) {
            struct tg_quantity x = { .kind = TG_QUANTITY_NUMBER, .number = &c->numbers[i] };
            enum tg_hit hit =
                tg_select_op(&rule->match, stand_in(e->arena, TG_KIND_OP, x.number->name));
            gave_up |= hit == TG_HIT_GAVE_UP;
            matched |= hit != TG_HIT_NO;
            if (hit == TG_HIT_YES)
                tg_judge_quantity(e, rule, &x);
        }
        if (gave_up)
            say_pattern(e, rule);
        if (!matched)
            tg_eval_say(e, rule, unless_optional(rule), TG_NEED_MATCH, "(no match)",
                        "the rule matches no number of either side",
                        "Name the benchmark's results in the suite's `numbers`, or mark the rule "
                        "optional.");
    } else {
        tg_judge_quantity(e, rule, &(struct tg_quantity){ .kind = TG_QUANTITY_TRACE });
        if (rule->metric != TG_RULE_METRIC_STEP_TIME || tg_rule_is_budget(rule))
            return;
        /* Host time that no operator has: of the step, and of annotations that hold most of what
         * the step is longer by. */
        const struct tg_evidence *ev[] = { &c->step.ev, &c->step.ev_total,
                                           &c->metrics[TG_METRIC_STEP_TIME].ev };
        struct tg_quantity x = { .kind = TG_QUANTITY_GAP, .op = &c->step, .ev = &c->step.ev };
        double longer = c->wall_ns[TG_TEST] - c->wall_ns[TG_BASE];
        for (size_t i = 0; i < sizeof ev / sizeof *ev; i++)
            longer = fmax(longer, ev[i]->slower ? ev[i]->delta_ns : 0);
        tg_judge_quantity(e, rule, &x);
        for (size_t i = 0; i < c->n_ops; i++) {
            x.op = &c->ops[i];
            x.ev = &x.op->ev;
            if (x.op->kind == TG_KIND_ANNOTATION && x.ev->slower &&
                x.ev->delta_ns > TG_HALF * longer && longer >= TG_HALF * x.ev->delta_ns)
                tg_judge_quantity(e, rule, &x);
        }
    }
}

/* What was not judged is never green. A rule that found something and judged none of it is
 * inconclusive: without evidence unless the policy says `unjudged: note`, and in any case where
 * the policy itself leaves out all that it matches. A rule that found nothing has said so
 * already, and one that wants more runs says that in the coverage. */
void tg_rule_close(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const char *why = NULL;
    bool silent = false; /* without evidence; else switched off */
    TG_EACH(const struct tg_result, r, e->results, e->n) {
        if (!tg_sv_eq(r->rule, rule->id))
            continue;
        if (r->state > TG_STATE_SKIP || r->grounds != TG_GROUNDS_NONE || r->needs_runs)
            return;
        silent |= r->why_not && !r->switched_off;
        why = r->why_not ? r->why_not : why;
    }
    if (why && !(silent && rule->unjudged_note))
        tg_eval_say(
            e, rule, TG_STATE_INCONCLUSIVE, TG_NEED_ANY, "(nothing judged)",
            tg_arena_printf(e->arena, "nothing that the rule matches was judged: %s", why),
            silent ? "The rows that are not judged say why; `unjudged: note` makes this a note."
                   : "Narrow the override or `noise.ignore`, or remove the rule.");
}
