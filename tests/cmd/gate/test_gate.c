/* How a policy wants sides compared, and two sides to a verdict. */
#include "judged.h"

JUDGED(what_the_policy_says_of_comparing)
{
    const struct tg_suite suite = { .window = { .skip_first = 2, .skip_last = 1 } };
    struct tg_compare_opts o;
    load_policy(f, "noise: {ignore: ['*Query', 'x'], min_runs: 4, drift: 7%}\n"
                   "aliases: [{from: 'old*', to: new}]\n"
                   "baseline: {require_same: [device, torch_minor]}\n");
    tg_gate_compare_opts(&o, f->policy, &suite, f->a);
    assert_true(o.skip_first == 2 && o.skip_last == 1 && o.min_runs == 4);
    near(o.drift_limit, 0.07);
    assert_int_equal(o.n_ignore, 2);
    is_text(o.ignore[1], "x");
    assert_int_equal(o.n_aliases, 1);
    is_text(o.aliases[0].key, "old*");
    is_text(o.aliases[0].value, "new");
    assert_int_equal(o.n_require_same, 2);
    is_text(o.require_same[0], "device");
    is_text(o.require_same[1], "torch_minor");
    assert_ptr_equal(o.classes, &f->policy->classes);
    load_policy(f, "noise: {ignore: []}\nbaseline: {require_same: []}\n");
    tg_gate_compare_opts(&o, f->policy, &suite, f->a);
    assert_true(!o.ignore && !o.n_ignore && !o.n_aliases && !o.n_require_same);
}

/* One operator: two calls a step before, `now` after, on each of two ranks; only rank 5 changes. */
static struct tg_verdict judge(struct fixture *f, uint32_t now, const char *policy)
{
    static const uint32_t two[MAX_STEPS] = { 2, 2, 2, 2 };
    uint32_t changed[MAX_STEPS] = { now, now, now, now };
    struct tg_gate *g = TG_NEW(f->a, struct tg_gate);
    struct tg_verdict v;
    make_ranks(f, TG_BASE, 1, 2, 4, 4);
    make_ranks(f, TG_TEST, 1, 2, 4, 4);
    for (int side = 0; side < 2; side++)
        for (size_t rank = 0; rank < 2; rank++)
            add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "aten::mm", "",
                   side == TG_TEST && rank == 1 ? changed : two, 40001);
    load_policy(f, policy);
    *g = gate_of(f);
    if (!tg_gate_judge(&v, g, &f->err))
        fail_msg("%s", f->err.message);
    return v;
}

#define RULE(more)                                                                                 \
    "rules: [{id: calls, match: {kind: op" more "}, metric: count, fail: {abs: 0}}]\n"

JUDGED(a_change_fails_and_none_passes)
{
    struct tg_verdict v = judge(f, 3, RULE(""));
    assert_int_equal(v.outcome, TG_OUTCOME_FAIL);
    assert_int_equal(v.exit_code, 1);
    v = judge(f, 2, RULE(""));
    assert_int_equal(v.outcome, TG_OUTCOME_PASS);
    v = judge(f, 1, RULE("")); /* fewer are not worse */
    assert_int_equal(v.outcome, TG_OUTCOME_PASS);
}

/* A rule that looks at one rank compares that rank by itself: 2 -> 3, not the mean's 2 -> 2.5, of
 * which the account warns where no rule looks. */
JUDGED(a_rule_by_rank_sees_that_rank_alone)
{
    struct tg_verdict v = judge(f, 3, RULE(", rank: 5"));
    assert_int_equal(v.outcome, TG_OUTCOME_FAIL);
    assert_int_equal(v.results[0].state, TG_STATE_FAIL);
    near(v.results[0].base, 2);
    near(v.results[0].test, 3);
    v = judge(f, 3, RULE(", rank: 4"));
    assert_int_equal(v.outcome, TG_OUTCOME_WARN);
    assert_string_equal(v.results[0].rule.p, "account");
}

/* Two runs with different numbers of ranks cannot be compared: an error, not a verdict. */
JUDGED(sides_that_do_not_fit_are_an_error)
{
    struct tg_gate g;
    struct tg_verdict v;
    make_ranks(f, TG_BASE, 1, 2, 0, 4);
    make_ranks(f, TG_TEST, 1, 2, 7, 4); /* ranks 7 and 8: none in common */
    load_policy(f, RULE(""));
    g = gate_of(f);
    assert_false(tg_gate_judge(&v, &g, &f->err));
    assert_int_not_equal(f->err.kind, TG_ERR_NONE);
}
