/* Which injected regressions turn a rule red; sides and limits by hand. */
#include "judged.h"

#include "cmd/gate/mutation.h"

/* Four steps of 1 ms: aten::mm twice, 100 us each, in `runs` runs a side that differ by 1 us. */
static struct tg_mutation_result try_rule(struct fixture *f, size_t runs, const char *rule)
{
    struct tg_mutation m = { .suite = &no_suite, .io = &no_io, .arena = f->a };
    struct tg_compare_opts compare;
    struct tg_mutation_result r;
    make(f, runs, runs, 4);
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < runs; k++)
            add_row(f, side, k, TG_KIND_OP, "aten::mm", "", 2, 100001 + 1000 * (tg_ns)k);
    load_policy(f, rule);
    m.policy = f->policy;
    m.side[TG_BASE] = f->side[TG_BASE];
    m.side[TG_TEST] = f->side[TG_TEST];
    tg_gate_compare_opts(&compare, f->policy, &no_suite, f->a);
    m.compare = &compare;
    if (!tg_mutation_try(&r, &m, &f->policy->rules[0], &f->err))
        fail_msg("%s", f->err.message);
    return r;
}

static void is(const struct tg_mutation_result *r, enum tg_mutation_outcome outcome,
               const char *text)
{
    if (r->outcome != outcome || !tg_sv_has(r->injected, tg_sv_of(text)))
        fail_msg("%s: %.*s (%.*s)", tg_mutation_outcome_name(r->outcome), TG_SV_ARG(r->injected),
                 TG_SV_ARG(r->said));
}

/* Two calls: one more is the first that is tried, +20 % means one, +50 % one, twice two, 3x four. */
JUDGED(counts_by_their_limit)
{
    static const struct {
        const char *rule;
        enum tg_mutation_outcome outcome;
        const char *injected;
    } cases[] = {
        { "rules: [{id: r, match: {kind: op}, metric: count, fail: {abs: 0}}]", TG_MUTATION_RED,
          "aten::mm: 1 call more" },
        { "rules: [{id: r, match: {kind: op}, metric: count, fail: {abs: 1}}]", TG_MUTATION_RED,
          "aten::mm: 2 calls more" },
        { "rules: [{id: r, match: {kind: op}, metric: count, fail: {abs: 3}}]", TG_MUTATION_RED,
          "aten::mm: 4 calls more" },
        { "rules: [{id: r, match: {kind: op}, metric: count, fail: {abs: 4}}]",
          TG_MUTATION_SURVIVES, "aten::mm: 4 calls more" },
        { "rules: [{id: r, match: {kind: op}, metric: count, warn: {abs: 0}}]", TG_MUTATION_WARNS,
          "aten::mm: 1 call more" },
        { "rules: [{id: r, match: {kind: op}, metric: count, direction: down, fail: {abs: 0}}]",
          TG_MUTATION_RED, "aten::mm: 1 call fewer" },
        { "rules: [{id: r, match: {kind: op, name: 'x'}, metric: count, fail: {abs: 0}}]",
          TG_MUTATION_NO_MATCH, "" },
        { "rules: [{id: r, match: {kind: op}, metric: removed, fail: {abs: 0}}]", TG_MUTATION_RED,
          "aten::mm is gone" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_mutation_result r = try_rule(f, 1, cases[i].rule);
        is(&r, cases[i].outcome, cases[i].injected);
    }
}

/* An optional rule about a name that the traces lack: the name itself is injected. */
JUDGED(an_optional_rule_waits_for_its_name)
{
    struct tg_mutation_result r = try_rule(f, 1,
                                           "rules: [{id: r, match: {kind: op, name: 'x*y'}, "
                                           "metric: count, optional: true, fail: {abs: 0}}]");
    is(&r, TG_MUTATION_RED, "xy is new");
    r = try_rule(f, 1,
                 "rules: [{id: r, match: {kind: op, name: 'x'}, metric: self, optional: true, "
                 "fail: {abs: 1us}}]");
    is(&r, TG_MUTATION_SKIPPED, "");
}

/* 200 us a step: +10 % is 20 us, and a limit of 30 us needs +20 %; one run proves nothing. */
JUDGED(durations_need_runs)
{
    static const char rule[] =
        "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 30us}}]";
    struct tg_mutation_result r = try_rule(f, 5, rule);
    is(&r, TG_MUTATION_RED, "aten::mm takes +20 % time");
    r = try_rule(f, 5, "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 900us}}]");
    is(&r, TG_MUTATION_SURVIVES, "aten::mm takes +200 % time");
    assert_true(tg_sv_has(r.reason, TG_SV("even this passes")));
    r = try_rule(f, 1, rule);
    assert_int_equal(r.outcome, TG_MUTATION_UNTESTED);
    assert_true(tg_sv_eq(r.reason, TG_SV("too few runs a side (need 3, better 5)")));
    r = try_rule(f, 5,
                 "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 30us}, noise: "
                 "{min_runs: 7}}]");
    assert_int_equal(r.outcome, TG_MUTATION_UNTESTED);
    assert_true(tg_sv_eq(r.reason, TG_SV("too few runs a side (need 7)")));
    r = try_rule(f, 2,
                 "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 30us}, noise: "
                 "{min_runs: 2}}]");
    is(&r, TG_MUTATION_RED, "aten::mm takes +20 % time");
}

JUDGED(what_is_injected_elsewhere_does_not_count)
{
    struct tg_mutation_result r =
        try_rule(f, 1, "rules: [{id: r, match: {kind: op}, metric: count, fail: {abs: 0}}]");
    assert_true(r.sees_unfused); /* aten::mm becomes two others: still operators */
    is(&r, TG_MUTATION_RED, "aten::mm: 1 call more");
    r = try_rule(
        f, 1,
        "rules: [{id: r, match: {kind: op, name: 'aten::mm'}, metric: count, fail: {abs: 0}}]");
    is(&r, TG_MUTATION_RED, "aten::mm: 1 call more");
    assert_false(r.sees_unfused);
    assert_true(r.unfused.n);
}
