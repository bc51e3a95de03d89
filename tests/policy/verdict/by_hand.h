#ifndef TG_TESTS_POLICY_VERDICT_BY_HAND_H
#define TG_TESTS_POLICY_VERDICT_BY_HAND_H
/* A comparison, a policy and a rule made by hand, and the state of an evaluation over them: for
 * tests of one part of a verdict without traces. */
#include "core/diff/internal.h"
#include "policy/verdict/internal.h"
#include "tests/support.h"

struct hand {
    struct tg_arena *a;
    struct tg_comparison c;
    struct tg_policy policy;
    struct tg_rule rule; /* without a match: about the whole trace */
    struct tg_suite suite;
    struct tg_eval_input in;
    struct tg_verdict v;
    struct tg_eval_state e;
};

static inline void hand_set_up(struct hand *h)
{
    h->a = tg_arena_new();
    h->c.arena = h->a;
    h->c.same_flags = true;
    h->c.n_runs[TG_BASE] = h->c.n_runs[TG_TEST] = 5;
    h->c.n_ranks[TG_BASE] = h->c.n_ranks[TG_TEST] = 1;
    h->c.n_steps[TG_BASE] = h->c.n_steps[TG_TEST] = 4;
    h->c.step_ns[TG_BASE] = h->c.step_ns[TG_TEST] = 1000000;
    h->c.wall_ns[TG_BASE] = h->c.wall_ns[TG_TEST] = 1000000;
    h->policy.noise.min_runs = h->rule.noise.min_runs = 3;
    h->v.comparison = &h->c;
    h->rule.id = TG_SV("r");
    h->in = (struct tg_eval_input){ .policy = &h->policy, .comparison = &h->c };
    h->e =
        (struct tg_eval_state){ .in = &h->in, .out = &h->v, .c = &h->c, .rank = -1, .arena = h->a };
}

static inline void hand_tear_down(struct hand *h)
{
    free(h->e.results);
    tg_arena_free(h->a);
}

#define WITH_HAND(name) TEST_IN(struct hand, h, hand_set_up, hand_tear_down, name)

/* What the names of its regions say is known once they are closed. */
static inline void hand_regions(struct hand *h)
{
    for (size_t i = 0; i < h->c.n_regions; i++)
        memset(h->c.regions[i].side, 0, sizeof h->c.regions[i].side);
    tg_regions_group(&h->c);
    tg_regions_close(&h->c);
}

/* One limit of one bound. */
static inline struct tg_limit_list hand_limit(struct hand *h, enum tg_bound_kind kind, double value)
{
    struct tg_bound *b = TG_NEW(h->a, struct tg_bound);
    struct tg_limit *l = TG_NEW(h->a, struct tg_limit);
    *b = (struct tg_bound){ .kind = kind, .value = value, .text = TG_SV("as written") };
    *l = (struct tg_limit){ b, 1, { .file = "p.yml", .line = 3, .col = 5 } };
    return (struct tg_limit_list){ TG_LIMIT_ON, l, 1, l->at };
}

/* A glob or an exact name. */
static inline struct tg_pattern *hand_pattern(struct hand *h, const char *text)
{
    char why[100];
    size_t at;
    struct tg_pattern *p = tg_pattern_new(tg_sv_of(text), h->a, why, sizeof why, &at);
    assert_non_null(p);
    return p;
}

static inline struct tg_patterns hand_patterns(struct hand *h, const char *text)
{
    struct tg_pattern **v = TG_NEW(h->a, struct tg_pattern *);
    *v = hand_pattern(h, text);
    return (struct tg_patterns){ .v = v, .n = 1 };
}

/* `pct: auto`, for times. */
static inline struct tg_limit_list hand_auto(struct hand *h)
{
    struct tg_limit_list list = hand_limit(h, TG_BOUND_PCT, 0);
    ((struct tg_bound *)(uintptr_t)list.v[0].bound)->is_auto = true;
    return list;
}

/* A time of `base` ns that grew by the factor 1 + `more`: judged, proven if it grew. */
static inline struct tg_evidence hand_evidence(double base, double more)
{
    static const double alike[5];
    return (struct tg_evidence){ .why_not = TG_JUDGED,
                                 .value = { base, base * (1 + more) },
                                 .e = log1p(more),
                                 .delta_ns = base * more,
                                 .tau = 0.08,
                                 .above = 5,
                                 .x = { alike, alike },
                                 .n_x = { 5, 5 },
                                 .proven = more > 0,
                                 .slower = more > 0.08 };
}

/* An operator of both sides, one call a step, whose time is not judged. */
static inline struct tg_op hand_op(const char *name, enum tg_kind kind)
{
    return (struct tg_op){ .name = tg_sv_of(name),
                           .raw = { tg_sv_of(name), tg_sv_of(name) },
                           .kind = kind,
                           .present = { true, true },
                           .count = { 1, 1 },
                           .region = TG_NO_ID,
                           .partner = TG_NO_ID,
                           .leader = TG_NO_ID,
                           .ev = { .why_not = TG_NOT_FEW_RUNS },
                           .ev_total = { .why_not = TG_NOT_FEW_RUNS } };
}

static inline void hand_ops(struct hand *h, struct tg_op *v, size_t n)
{
    h->c.ops = v;
    h->c.n_ops = n;
}

/* A side of one rank with a shard for each run. */
static inline struct tg_side hand_side(struct hand *h, const struct tg_shard *v, size_t runs)
{
    struct tg_side s = { .n_runs = runs, .n_ranks = 1 };
    s.at = TG_NEW_N(h->a, const struct tg_shard **, runs);
    for (size_t r = 0; r < runs; r++) {
        s.at[r] = TG_NEW(h->a, const struct tg_shard *);
        *s.at[r] = &v[r];
    }
    return s;
}

/* A failure of the rule for calls of a name: `more` than one. */
static inline struct tg_result hand_row(const char *name, double more)
{
    return (struct tg_result){ .state = TG_STATE_FAIL,
                               .op = tg_sv_of(name),
                               .op_normalised = tg_sv_of(name),
                               .plain = tg_sv_of(name),
                               .op_kind = TG_KIND_OP,
                               .rule = TG_SV("r"),
                               .metric = TG_RULE_METRIC_COUNT,
                               .grounds = TG_GROUNDS_COUNT,
                               .unit_id = TG_UNIT_COUNT,
                               .has_values = true,
                               .base = 1,
                               .test = 1 + more,
                               .delta = more,
                               .delta_pct = 100 * more,
                               .message = TG_SV("is called more often"),
                               .folded_under = TG_NO_ID };
}

/* The row that the rule adds for a metric of a name, of the whole trace (NULL); NULL: none. */
static inline const struct tg_result *hand_judge(struct hand *h, const struct tg_op *op)
{
    size_t before = h->e.n;
    const struct tg_quantity x = { .kind = op ? TG_QUANTITY_OP : TG_QUANTITY_TRACE, .op = op };
    tg_judge_quantity(&h->e, &h->rule, &x);
    assert_true(h->e.n <= before + 1);
    return h->e.n > before ? &h->e.results[before] : NULL;
}

/* The results of an evaluation. */
static inline struct tg_result *hand_results(struct hand *h, const struct tg_result *v, size_t n)
{
    h->e.results = tg_grow(h->e.results, &h->e.cap, n, sizeof *v);
    memcpy(h->e.results, v, n * sizeof *v);
    h->e.n = n;
    return h->e.results;
}

static inline void hand_near(double got, double want)
{
    if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

static inline void hand_text(tg_sv got, const char *want)
{
    assert_sv_equal(got, tg_sv_of(want));
}
#endif
