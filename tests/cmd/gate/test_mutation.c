/* Which injected regressions turn a rule red; sides and limits by hand. */
#include "judged.h"

#include "cmd/gate/mutation.h"

/* What became of the rule, which is tried on the sides of `f`. */
static struct tg_mutation_result tried(struct fixture *f, const char *rule)
{
    struct tg_mutation m = { .suite = &no_suite, .io = &no_io, .arena = f->a };
    struct tg_compare_opts compare;
    struct tg_mutation_result r;
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

/* Four steps of 1 ms: aten::mm twice, 100 us each, in `runs` runs a side that differ by 1 us. */
static struct tg_mutation_result try_rule(struct fixture *f, size_t runs, const char *rule)
{
    make(f, runs, runs, 4);
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < runs; k++)
            add_row(f, side, k, TG_KIND_OP, "aten::mm", "", 2, 100001 + 1000 * (tg_ns)k);
    return tried(f, rule);
}

static void is(const struct tg_mutation_result *r, enum tg_mutation_outcome outcome,
               const char *text)
{
    if (r->outcome != outcome || !tg_sv_has(r->injected, tg_sv_of(text)))
        fail_msg("%s: %.*s (%.*s)", tg_mutation_outcome_name(r->outcome), TG_SV_ARG(r->injected),
                 TG_SV_ARG(r->said));
}

/* Two calls: one more is the first that is tried, +20 % means one, +50 % one, twice two, 3x
 * four. */
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
    assert_true(tg_sv_eq(r.reason, TG_SV("too few runs a side: 3 needed, 5 better")));
    r = try_rule(f, 5,
                 "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 30us}, noise: "
                 "{min_runs: 7}}]");
    assert_int_equal(r.outcome, TG_MUTATION_UNTESTED);
    assert_true(tg_sv_eq(r.reason, TG_SV("too few runs a side: 7 needed")));
    r = try_rule(f, 2,
                 "rules: [{id: r, match: {kind: op}, metric: self, fail: {abs: 30us}, noise: "
                 "{min_runs: 2}}]");
    is(&r, TG_MUTATION_RED, "aten::mm takes +20 % time");
}

/* An attribute in every step of every run: of each run another value, or one. */
static void give(struct tg_row *row, struct fixture *f, enum tg_attr_kind kind, const char *value)
{
    row->attrs = TG_NEW(f->a, struct tg_attr);
    *row->attrs = (struct tg_attr){ kind, tg_sv_of(value), 0 };
    row->n_attrs = 1;
    for (size_t k = 0; k < 4; k++)
        row->attrs->count += row->count[k];
}

/* The largest operator and copy differ from run to run, and the operator's calls from step to step:
 * no change of them tells. `steady`: smaller ones do not. */
static struct tg_mutation_result try_varying(struct fixture *f, bool steady, const char *rule)
{
    static const char *const shapes[] = { "[[1,2]]", "[[5,2]]" }, *const bytes[] = { "64", "4096" };
    make(f, 2, 2, 4);
    for (size_t k = 0; k < 4; k++) {
        int side = k < 2 ? TG_BASE : TG_TEST;
        give(add_counts(f, side, k % 2, TG_KIND_OP, "large", "", (uint32_t[]){ 2, 7, 3, 12 }, 1001),
             f, TG_ATTR_KIND_SHAPES, shapes[k % 2]);
        give(add_row(f, side, k % 2, TG_KIND_MEMCPY, "Memcpy HtoD", "", 3, 901), f,
             TG_ATTR_KIND_BYTES, bytes[k % 2]);
        if (!steady)
            continue;
        give(add_row(f, side, k % 2, TG_KIND_OP, "small", "", 2, 101), f, TG_ATTR_KIND_SHAPES,
             "[[3]]");
        give(add_row(f, side, k % 2, TG_KIND_MEMCPY, "Memcpy DtoH", "", 1, 11), f,
             TG_ATTR_KIND_BYTES, "64");
    }
    return tried(f, rule);
}

/* `reason`: what it says of a rule that did not turn red. */
JUDGED(what_varies_by_itself_is_tried_last)
{
    static const struct {
        bool steady;
        enum tg_mutation_outcome outcome;
        const char *rule, *injected, *reason;
    } cases[] = {
        { true, TG_MUTATION_RED, "match: {kind: op}, metric: input_shapes, fail: {abs: 0}",
          "small: another input_shapes", "" },
        { true, TG_MUTATION_SURVIVES, /* blind: switched off for every name */
          "match: {kind: op}, metric: input_shapes, fail: {abs: 0}, overrides: [{match: {name: "
          "'*'}, fail: off}]",
          "", "the policy sets no limit for it" },
        { false, TG_MUTATION_SURVIVES, "match: {kind: op}, metric: input_shapes, fail: {abs: 0}",
          "", "no name has the same input_shapes in every run" },
        { false, TG_MUTATION_SKIPPED,
          "match: {kind: op}, metric: input_shapes, fail: {abs: 0}, optional: true", "",
          "no name has the same input_shapes in every run" },
        { true, TG_MUTATION_RED,
          "match: {kind: op}, metric: count, direction: down, fail: {abs: 0}",
          "small: 1 call fewer", "" },
        { true, TG_MUTATION_SURVIVES, /* blind: more than there are */
          "match: {kind: op}, metric: count, direction: down, fail: {abs: 50}", "",
          "even this passes" },
        { false, TG_MUTATION_UNTESTED,
          "match: {kind: op}, metric: count, direction: down, fail: {abs: 0}",
          "large: ", "this may be chance" },
        { true, TG_MUTATION_RED, "match: {kind: memcpy}, metric: bytes, fail: {pct: 15%}",
          "Memcpy DtoH moves +20 % bytes", "" },
        { true, TG_MUTATION_SURVIVES, /* blind: +200 % is the largest that is injected */
          "match: {kind: memcpy}, metric: bytes, fail: {pct: 1000%}", "", "even this passes" },
        { false, TG_MUTATION_UNTESTED, "match: {kind: memcpy}, metric: bytes, fail: {pct: 15%}",
          "Memcpy HtoD moves", "this may be chance" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_mutation_result r = try_varying(
            f, cases[i].steady, tg_arena_printf(f->a, "rules: [{id: r, %s}]", cases[i].rule));
        is(&r, cases[i].outcome, cases[i].injected);
        if (!tg_sv_has(r.reason, tg_sv_of(cases[i].reason)))
            fail_msg("%zu: %.*s", i, TG_SV_ARG(r.reason));
    }
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
