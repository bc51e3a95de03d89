/* `metric: number`, on comparisons by hand. */
#include "by_hand.h"

static struct tg_number_change *numbers(struct hand *h, size_t n)
{
    h->c.numbers = TG_NEW_N(h->a, struct tg_number_change, n);
    h->c.n_numbers = n;
    h->rule.metric = TG_RULE_METRIC_NUMBER;
    h->rule.bad = TG_OWN_IS_BAD;
    h->rule.match.name = hand_patterns(h, "*");
    return h->c.numbers;
}

/* 200 before, `more` of it more; the other way the evidence has nothing. */
static struct tg_number_change changed(const char *name, const char *unit, double more)
{
    struct tg_evidence none = hand_evidence(200, 0), ev = hand_evidence(200, fabs(more));
    return (struct tg_number_change){ .name = tg_sv_of(name),
                                      .unit = tg_sv_of(unit),
                                      .n_runs = { 5, 5 },
                                      .value = { 200, 200 * (1 + more) },
                                      .rose = more > 0 ? ev : none,
                                      .fell = more < 0 ? ev : none };
}

static const struct tg_result *judged(struct hand *h)
{
    size_t before = h->e.n;
    tg_rule_judge_part(&h->e, &h->rule, &h->c, -1);
    assert_int_equal(h->e.n, before + 1);
    return &h->e.results[before];
}

/* A latency that rose and a throughput that fell are bad; the other way round neither is. */
WITH_HAND(each_number_has_its_own_bad_way)
{
    static const struct {
        const char *unit;
        double more;
        enum tg_state state;
    } cases[] = { { "ms", 0.1, TG_STATE_FAIL },
                  { "ms", -0.1, TG_STATE_PASS },
                  { "tok/s", -0.1, TG_STATE_FAIL },
                  { "tok/s", 0.1, TG_STATE_PASS } };
    struct tg_number_change *x = numbers(h, 1);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *x = changed("x", cases[i].unit, cases[i].more);
        assert_int_equal(judged(h)->state, cases[i].state);
    }
    h->rule.bad = TG_ANY_IS_BAD;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *x = changed("x", cases[i].unit, cases[i].more);
        assert_int_equal(judged(h)->state, TG_STATE_FAIL);
    }
    h->rule.bad = TG_MORE_IS_BAD; /* `direction: up`, of a throughput */
    *x = changed("x", "tok/s", 0.1);
    assert_int_equal(judged(h)->state, TG_STATE_FAIL);
}

WITH_HAND(the_row_says_what_was_measured)
{
    const struct tg_result *r;
    *numbers(h, 1) = changed("tput", "tok/s", -0.1);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 5);
    r = judged(h);
    assert_int_equal(r->subject, TG_SUBJECT_NUMBER);
    assert_sv_equal(tg_result_kind(r), TG_SV("number"));
    assert_sv_equal(r->op, TG_SV("tput"));
    assert_sv_equal(r->unit, TG_SV("tok/s"));
    assert_int_equal(r->unit_id, TG_UNIT_NUMBER);
    assert_true(r->base == 200 && r->test == 180);
    assert_sv_equal(r->message, TG_SV("180 tok/s, was 200 (-10 %, -20)"));
    assert_true(tg_sv_starts(r->evidence, TG_SV("5 of 5 runs below all 5 baseline runs")));
}

/* A limit of its own asks for a proof, too; a budget asks the fresh value alone. */
WITH_HAND(proof_and_budgets)
{
    struct tg_number_change *x = numbers(h, 1);
    *x = changed("x", "ms", 0.1);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 5);
    x->rose.proven = false;
    assert_int_equal(judged(h)->state, TG_STATE_PASS);
    x->rose.why_not = TG_NOT_FEW_RUNS;
    assert_int_equal(judged(h)->state, TG_STATE_NOT_JUDGED);
    h->rule.fail = hand_limit(h, TG_BOUND_MAX, 219);
    assert_int_equal(judged(h)->state, TG_STATE_FAIL);
    h->rule.fail = hand_limit(h, TG_BOUND_MAX, 221);
    assert_int_equal(judged(h)->state, TG_STATE_PASS);
    x->n_runs[TG_BASE] = 0;
    x->value[TG_BASE] = NAN;
    assert_int_equal(judged(h)->state, TG_STATE_PASS);
}

/* What a side lacks is never green. */
WITH_HAND(missing_is_not_a_pass)
{
    struct tg_number_change *x = numbers(h, 1);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 5);
    for (int side = 0; side < 2; side++) {
        *x = changed("x", "ms", 0);
        x->n_runs[side] = 0;
        assert_int_equal(judged(h)->state, TG_STATE_INCONCLUSIVE);
        assert_true(
            tg_sv_has(judged(h)->message, side ? TG_SV("the fresh side has no such number in ms")
                                               : TG_SV("the baseline has no such number")));
        h->rule.unjudged_note = true;
        assert_int_equal(judged(h)->state, TG_STATE_WARN);
        h->rule.unjudged_note = false;
    }
    h->c.n_numbers = 0;
    assert_int_equal(judged(h)->state, TG_STATE_INCONCLUSIVE);
    h->rule.optional = true;
    assert_int_equal(judged(h)->state, TG_STATE_SKIP);
}

WITH_HAND(names_choose)
{
    struct tg_number_change *x = numbers(h, 3);
    struct tg_match not_ = { .present = true };
    x[0] = changed("mean_ttft_ms", "ms", 0.1);
    x[1] = changed("p99_ttft_ms", "ms", 0.1);
    x[2] = changed("duration", "s", 0.1);
    not_.name = hand_patterns(h, "p99*");
    h->rule.match.name = hand_patterns(h, "*_ttft_ms");
    h->rule.match.not_ = &not_;
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 5);
    assert_sv_equal(judged(h)->op, TG_SV("mean_ttft_ms"));
}
