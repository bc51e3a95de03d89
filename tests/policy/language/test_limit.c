/* Limits of a rule (limit.c): which bounds and units mean something for a metric (docs/policy.md),
 * and what is a budget. */
#include "policy_support.h"

#include "policy/language/limit.h"

struct read {
    struct tg_arena *a;
    struct tg_diags d;
    struct tg_limit_list list;
};

static struct read *parse(const char *metric, const char *text)
{
    static struct read r;
    enum tg_rule_metric m;

    r = (struct read){ .a = tg_arena_new() };
    tg_diags_init(&r.d);
    assert_true(tg_rule_metric_from_name(tg_sv_of(metric), &m));
    r.list = tg_limit_list_of(tg_yaml_parse(tg_sv_of(text), "p.yml", r.a, &r.d),
                              tg_rule_metric_info(m), r.a, &r.d);
    return &r;
}

static void drop(struct read *r)
{
    tg_diags_release(&r->d);
    tg_arena_free(r->a);
}

/* ---- what a bound may be ---- */

#define OK ((enum tg_diag_code)0)

/* What is said first, with its advice; "" is not asked for. */
static const struct {
    const char *metric, *bound;
    enum tg_diag_code want;
    const char *fix;
} bounds[] = {
    { "step_time", "{pct: 10%}", OK, "" },
    { "step_time", "{pct: 10}", TG_DIAG_BOUND_UNIT, "'step_time': write it with %:  10%" },
    { "step_time", "{pct: 10%step}", TG_DIAG_BOUND_FIT, "'step_time': write it with %:  10%" },
    { "step_time", "{pct: 10pp}", TG_DIAG_BOUND_FIT, "'step_time': write it with %:  10%" },
    { "step_time", "{pct: 10ms}", TG_DIAG_BOUND_FIT, "" },
    { "step_time", "{pct: ten}", TG_DIAG_BOUND_NUMBER, "" },
    { "step_time", "{pct: auto}", OK, "" },
    { "count", "{pct: auto}", TG_DIAG_BOUND_FIT, "'count': write it with %:  10%" },
    { "step_time", "{abs: auto}", TG_DIAG_BOUND_NUMBER, "" },
    { "step_time", "{abs: -1ms}", TG_DIAG_BOUND_RANGE, "" },
    { "step_time", "{abs: 2ms}", OK, "" },
    { "step_time", "{abs: 2parsec}", TG_DIAG_BOUND_FIT, "" },
    { "step_time", "{abs: 0.2%step}", OK, "" },
    { "step_time", "{abs: 0}", OK, "" }, /* nothing needs no unit, but for percentages */
    { "step_time", "{pct: 0}", TG_DIAG_BOUND_UNIT, "" },
    { "step_time", "{pct: 0%}", OK, "" },
    { "idle", "{pp: 0}", TG_DIAG_BOUND_UNIT, "'idle': write it in percentage points:  3pp" },
    { "idle", "{pp: 3}", TG_DIAG_BOUND_UNIT, "'idle': write it in percentage points:  3pp" },
    { "idle", "{pp: 3%}", TG_DIAG_BOUND_FIT, "'idle': write it in percentage points:  3pp" },
    { "idle", "{pp: 3pp}", OK, "" },
    { "step_time", "{abs: 2}", TG_DIAG_BOUND_UNIT,
      "'step_time': it is a duration: write 200us, 0.2ms or 0.2%step" },
    { "step_time", "{abs: 2pp}", TG_DIAG_BOUND_FIT, "" },
    { "step_time", "{max: 2}", TG_DIAG_BOUND_UNIT,
      "'step_time': it is a duration: write 200us or 15ms" },
    { "step_time", "{min: 2}", TG_DIAG_BOUND_UNIT,
      "'step_time': it is a duration: write 200us or 15ms" },
    { "step_time", "{max: 2%step}", TG_DIAG_BOUND_FIT, "" },
    { "idle", "{max: 35%}", OK, "" },
    { "idle", "{max: 35pp}", TG_DIAG_BOUND_FIT, "'idle': it is a percentage: write 35%" },
    { "idle", "{max: 35%step}", TG_DIAG_BOUND_FIT, "'idle': it is a percentage: write 35%" },
    { "count", "{abs: 2}", OK, "" },
    { "count", "{abs: 2ms}", TG_DIAG_BOUND_FIT, "'count': it is a count: write a plain number" },
    { "count", "{abs: 0.2%step}", TG_DIAG_BOUND_FIT, "" },
    { "count", "{max: 1GB}", TG_DIAG_BOUND_FIT, "" },
    { "mem_peak", "{abs: 2ms}", TG_DIAG_BOUND_FIT,
      "'mem_peak': it is an amount of memory: write 64KiB or 256MiB" },
    { "bandwidth_htod", "{min: 2}", TG_DIAG_BOUND_UNIT,
      "'bandwidth_htod': it is a bandwidth: write 12GB/s or 800MB/s" },
    { "launch_config", "{abs: 0}", OK, "" },
    { "launch_config", "{abs: 1}", TG_DIAG_ATTR_LIMIT, "" },
    { "launch_config", "{abs: 0us}", TG_DIAG_BOUND_FIT, "" },
    { "step_time", "{max: 1000000s}", OK, "" }, /* 1e15 ns */
    { "step_time", "{max: 1000001s}", TG_DIAG_BOUND_RANGE, "" },
    { "step_time", "{max: 9ms, min: 2ms}", TG_DIAG_NEVER,
      "write a list:  [{max: ...}, {min: ...}]" },
    { "step_time", "{max: 2ms, min: 2ms}", TG_DIAG_NEVER, "" },
    { "step_time", "{max: 2ms, min: 9ms}", OK, "" }, /* between them */
    { "added", "{abs: 20us}", OK, "" },
    { "added", "{max: 20us}", OK, "" },
    { "added", "{pct: 5%}", TG_DIAG_BOUND_LEGAL, "it has: abs, max" },
    { "idle", "{pct: 10%}", TG_DIAG_PCT_OF_PERCENT,
      "10% of 20% is 22%; if you mean 30%, write  pp: 10pp" },
    { "idle", "{pct: much}", TG_DIAG_PCT_OF_PERCENT,
      "5% of 20% is 21%; if you mean 25%, write  pp: 5pp" },
    { "idle", "{pct: [1]}", TG_DIAG_PCT_OF_PERCENT,
      "5% of 20% is 21%; if you mean 25%, write  pp: 5pp" },
    { "idle", "{abs: 3%}", TG_DIAG_BOUND_LEGAL, "it has: pp, max, min" },
    { "step_time", "{pp: 3pp}", TG_DIAG_BOUND_LEGAL, "it has: pct, abs, max, min" },
};

TEST(bounds_that_mean_something)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        struct read *r = parse(bounds[i].metric, bounds[i].bound);
        enum tg_diag_code got = r->d.n ? r->d.v[0].code : OK;
        if (got != bounds[i].want || r->d.n > 2)
            fail_msg("%s %s: TG%d, want TG%d", bounds[i].metric, bounds[i].bound, (int)got,
                     (int)bounds[i].want);
        if (*bounds[i].fix && !tg_sv_eq(r->d.v[0].fix, tg_sv_of(bounds[i].fix)))
            fail_msg("%s %s: '%.*s'", bounds[i].metric, bounds[i].bound, TG_SV_ARG(r->d.v[0].fix));
        /* what is a mistake is left out, what is right is kept */
        bool kept = got == OK || got == TG_DIAG_NEVER;
        assert_int_equal(r->list.n, kept ? 1 : 0);
        drop(r);
    }
}

/* What is right beside a mistake is kept. */
TEST(the_rest_of_a_limit_is_kept)
{
    struct read *r =
        parse("step_time", "[{pct: 10%, abs: 2}, {max: 5}, text, {abs: 3ms, pct: {}}, {abs: ''}]");
    assert_int_equal(r->d.n, 2); /* 2 and 5 have no unit; of other types the shape tells */
    assert_int_equal(r->list.state, TG_LIMIT_ON);
    assert_int_equal(r->list.n, 2);
    assert_int_equal(r->list.v[0].n, 1);
    assert_int_equal(r->list.v[0].bound[0].kind, TG_BOUND_PCT);
    assert_int_equal(r->list.v[1].n, 1);
    assert_true(r->list.v[1].bound[0].value == 3e6);
    drop(r);
    r = parse("added", "[text]"); /* nor is there a bound to miss */
    assert_int_equal(r->d.n, 0);
    assert_int_equal(r->list.n, 0);
    drop(r);
    r = parse("step_time", "off");
    assert_int_equal(r->list.state, TG_LIMIT_OFF);
    drop(r);
}

/* A decimal fraction of a unit is a whole number of ns where it was meant: 2.01 * 1000 is
 * 2009.9999999999998. */
TEST(a_fraction_of_a_unit_is_whole)
{
    struct read *r = parse("step_time", "{abs: 2.01us}");
    assert_true(r->list.v[0].bound[0].value == 2010);
    drop(r);
    r = parse("step_time", "{abs: 0.5ns}");
    assert_true(r->list.v[0].bound[0].value == 0.5);
    drop(r);
}

/* ---- budgets ---- */

static struct tg_limit_list list_of(const struct tg_limit *l)
{
    return (
        struct tg_limit_list){ .state = l ? TG_LIMIT_ON : TG_LIMIT_OFF, .v = l, .n = l ? 1 : 0 };
}

TEST(a_budget_asks_the_fresh_side_alone)
{
    static const struct tg_bound max[] = { { .kind = TG_BOUND_MAX }, { .kind = TG_BOUND_MIN } },
                                 mixed[] = { { .kind = TG_BOUND_MAX }, { .kind = TG_BOUND_ABS } };
    static const struct tg_limit budget = { max, 2, { 0 } }, change = { mixed, 2, { 0 } },
                                 one = { max + 1, 1, { 0 } }, empty = { max, 0, { 0 } };
    const struct tg_limit_list b = list_of(&budget), c = list_of(&change), off = list_of(NULL);
    struct tg_override o = { .fail = list_of(&one) };
    struct tg_rule r = { .fail = off };

    assert_true(tg_limit_is_budget(&budget) && tg_limit_is_budget(&one));
    assert_false(tg_limit_is_budget(&change) || tg_limit_is_budget(&empty));
    assert_true(tg_limit_lists_are_budgets(&b, &off) && tg_limit_lists_are_budgets(&off, &b));
    assert_false(tg_limit_lists_are_budgets(&b, &c) || tg_limit_lists_are_budgets(&c, &b));
    assert_false(tg_limit_lists_are_budgets(&off, &off)); /* nothing is on */

    assert_false(tg_rule_is_budget(&r) || tg_rule_has_budget(&r));
    r.overrides = &o;
    r.n_overrides = 1;
    assert_true(tg_rule_is_budget(&r) && tg_rule_has_budget(&r));
    o = (struct tg_override){ .warn = list_of(&one) };
    assert_true(tg_rule_is_budget(&r) && tg_rule_has_budget(&r));
    r.warn = c;
    assert_false(tg_rule_is_budget(&r));
    assert_true(tg_rule_has_budget(&r));
    o.warn = c;
    assert_false(tg_rule_has_budget(&r));
}

/* By the bound, whatever the metric's unit is called. */
TEST(a_percentage_without_a_unit)
{
    static const char *const bounds_of[][2] = { { "step_time", "{pct: 3}" },
                                                { "idle", "{pp: 3}" } };
    for (size_t i = 0; i < 2; i++) {
        struct read *r = parse(bounds_of[i][0], bounds_of[i][1]);
        assert_true(tg_sv_starts(r->d.v[0].message, TG_SV("percentage without unit")));
        drop(r);
    }
}
