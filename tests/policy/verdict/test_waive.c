/* waive.c: accepted violations. Each row is a pair of sides and a policy; what the verdict says of
 * it is tests/golden/verdict_waive.txt, derived from docs/policy.md when it was written and read
 * through at every change. */
#include "by_hand.h"
#include "model.h"

/* A waiver under the rule of ABS: for what, within what, and its last day. */
#define WAIVER(what, until)                                                                        \
    "waivers: [{rule: work, " what ", reason: because, owner: me, issue: '#7', expires: " until    \
    "}]\n"
#define OP3 "name: 'aten::op3', ceiling: {abs: 1}"
#define A "name: 'aten::a', ceiling: {abs: 1}"
#define SPRING "2026-03-01"
/* An operator that calls one that calls one. */
#define NESTED                                                                                     \
    OP_EVENT("aten::a", "1000.1", "0.8")                                                           \
    OP_EVENT("aten::b", "1000.2", "0.5") OP_EVENT("aten::c", "1000.3", "0.1")

static const struct model_row model_rows[] = {
    MORE("waived: a waiver", ABS WAIVER(OP3, SPRING), OP),
    MORE("waived: its last day", ABS WAIVER(OP3, "2026-01-02"), OP),
    MORE("waived: ended yesterday", ABS WAIVER(OP3, "2026-01-01"), OP),
    MORE("waived: ended two days ago", ABS WAIVER(OP3, "2025-12-31"), OP),
    MORE("waived: ends in two weeks", ABS WAIVER(OP3, "2026-01-16"), OP),
    MORE("waived: ends in fifteen days", ABS WAIVER(OP3, "2026-01-17"), OP),
    MORE("waived: above its ceiling", ABS WAIVER(OP3, SPRING), OP ";" OP),
    MORE("waived: for another name", ABS WAIVER("name: 'aten::op4', ceiling: {abs: 1}", SPRING),
         OP),
    MORE("waived: for many", ABS WAIVER("name: 'aten::*', many: true, ceiling: {abs: 1}", SPRING),
         OP),
    MORE("waived: for many, none matches",
         ABS WAIVER("name: 'lib::*', many: true, ceiling: {abs: 1}", SPRING), OP),
    MORE("waived: for a kernel by its exact name",
         ABS WAIVER("name: 'void kern3(float*)', ceiling: {abs: 1}", SPRING),
         "kernel|-|void kern3(float*)|20"),
    ROW("waived: unused", ABS WAIVER(OP3, SPRING), USUAL, USUAL),
    ROW("waived: unused, elsewhere",
        ABS WAIVER("name: 'aten::op3', when: {branch: 'release/*'}, ceiling: {abs: 1}", SPRING),
        USUAL, USUAL),
    MORE("waived: elsewhere",
         ABS WAIVER("name: 'aten::op3', when: {branch: 'release/*'}, ceiling: {abs: 1}", SPRING),
         OP),
    MORE("waived: of a percentage", ABS WAIVER("name: 'aten::op3', ceiling: {pct: 50%}", SPRING),
         OP),
    MORE("waived: of a percentage, enough",
         ABS WAIVER("name: 'aten::op3', ceiling: {pct: 100%}", SPRING), OP),
    MORE("waived: what it explains", ABS WAIVER("name: 'aten::fresh', ceiling: {abs: 1}", SPRING),
         "kernel|aten::fresh|void kern3(float*)|20"),
    MORE("waived: what it explains, one more elsewhere",
         ABS WAIVER("name: 'aten::fresh', ceiling: {abs: 1}", SPRING),
         "kernel|aten::fresh|void kern3(float*)|20;op|aten::op5"),
    MORE("waived: what is not exceeded", COUNT("warn: {abs: 0}") WAIVER(OP3, SPRING), OP),
    RUNS("waived: a duration",
         TIME("fail: {pct: 10%}") "waivers: [{rule: time, name: 'void kern3(float*)', ceiling: "
                                  "{pct: 100%}, reason: r, expires: 2026-03-01}]",
         5, .slower = 1.6),
    RUNS("waived: a duration above its ceiling",
         TIME("fail: {pct: 10%}") "waivers: [{rule: time, name: 'void kern3(float*)', ceiling: "
                                  "{abs: 1us}, reason: r, expires: 2026-03-01}]",
         5, .slower = 1.6),
    MORE("waived: a trace metric",
         "rules: [{id: m, metric: launch_count, fail: {abs: 0}}]\nwaivers: [{rule: m, ceiling: "
         "{abs: 2}, reason: r, expires: 2026-03-01}]",
         KERNEL),
    MORE(
        "waived: a ratio",
        "rules: [{id: m, metric: idle, fail: {max: 1%}}]\nwaivers: [{rule: m, ceiling: {max: 50%}, "
        "reason: r, expires: 2026-03-01}]",
        KERNEL),
    MORE("waived: another rule",
         "rules: [{id: work, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: true}, "
         "{id: other, match: {kind: op}, metric: count, fail: {abs: 0}}]\n" WAIVER(OP3, SPRING),
         OP),
    ROW("waived: nested", ABS WAIVER(A, SPRING), USUAL, SIDE(.events = NESTED)),
    ROW("waived: a consequence under another rule",
        "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, match: "
        "{kind: op}, metric: count, fail: {abs: 0}}]\n"
        "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, expires: "
        "2026-03-01}]",
        SIDE(.steps = 1), SIDE(.steps = 1, .events = NESTED)),
    ROW("waived: consequences",
        "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, match: "
        "{kind: op}, metric: count, warn: {abs: 5}}]\n"
        "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, expires: "
        "2026-03-01}]",
        SIDE(.steps = 1), SIDE(.steps = 1, .events = NESTED)),
    ROW("waived: a cause that is not waived",
        ABS "waivers: [{rule: work, name: 'aten::b', ceiling: {abs: 1}, reason: because, expires: "
            "2026-03-01}]",
        SIDE(.steps = 1), SIDE(.steps = 1, .events = NESTED)),
    ROW("waived: launch attributes",
        "rules: [{id: f, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}]\nwaivers: "
        "[{rule: f, name: 'void kern1(float*)', ceiling: {abs: 0}, reason: r, expires: "
        "2026-03-01}]",
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|32"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|64")),
    ROW_WITH("waived: expired, the day is not known", ABS WAIVER(A, "2025-12-01"), USUAL,
             SIDE(.more = "op|aten::a"), .no_today = true),
    ROW_WITH("waived: unused, another suite is to come", ABS WAIVER(A, SPRING), USUAL, USUAL,
             .more_suites = true),
    ROW_WITH("waived: used, another suite is to come", ABS WAIVER(A, SPRING), USUAL,
             SIDE(.more = "op|aten::a"), .more_suites = true),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_waive.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* Of rule r, up to two more calls, until 2026-01-12 (day 20465). */
static struct tg_waiver waiver(struct hand *h, const char *name)
{
    return (struct tg_waiver){ .rule = TG_SV("r"),
                               .name = hand_pattern(h, name),
                               .name_text = tg_sv_of(name),
                               .ceiling = hand_limit(h, TG_BOUND_ABS, 2).v[0],
                               .reason = TG_SV("because"),
                               .expires = 20465,
                               .expires_text = TG_SV("2026-01-12"),
                               .at = { .file = "p.yml", .line = 7, .col = 3 } };
}

static struct tg_result *waived(struct hand *h, const struct tg_waiver *w, size_t n_waivers,
                                const struct tg_result *v, size_t n)
{
    h->policy.waivers = w;
    h->policy.n_waivers = n_waivers;
    h->v.n_notes = 0;
    hand_results(h, v, n);
    tg_waive(&h->e);
    return h->e.results;
}

/* A rule about a step's time finds more than one measure:
 * a waiver accepts the one that it names, or all. */
WITH_HAND(a_waiver_for_one_measure_of_a_rule)
{
    struct tg_result rows[] = { hand_row("ProfilerStep", 2), hand_row("step_time", 2) };
    struct tg_waiver w = waiver(h, "ProfilerStep");
    const struct tg_result *r;
    rows[0].subject = TG_SUBJECT_STEP;
    rows[1].subject = TG_SUBJECT_TRACE;
    r = waived(h, &w, 1, rows, 2);
    assert_int_equal(r[0].state, TG_STATE_WAIVED);
    assert_int_equal(r[1].state, TG_STATE_FAIL);
    w.name = NULL;
    w.name_text = TG_SV("");
    r = waived(h, &w, 1, rows, 2);
    assert_int_equal(r[0].state, TG_STATE_WAIVED);
    assert_int_equal(r[1].state, TG_STATE_WAIVED);
}

static struct tg_op *calls(struct hand *h)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 4);
    ops[0] = hand_op("a", TG_KIND_OP);
    for (size_t i = 1; i < 4; i++) {
        ops[i] = hand_op(i == 1 ? "b" : i == 2 ? "c" : "d", TG_KIND_OP);
        ops[i].parent = TG_SV("a");
    }
    hand_ops(h, ops, 4);
    return ops;
}

/* What a waived name calls is waived with it: of the same rule. */
WITH_HAND(a_consequence_is_waived_under_its_rule)
{
    const struct tg_waiver w[] = { waiver(h, "a"), waiver(h, "nothing") };
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 2) }, *r;
    (void)calls(h);
    r = waived(h, w, 1, v, 2);
    assert_int_equal(r[1].state, TG_STATE_WAIVED);
    hand_text(
        r[1].evidence,
        "follows from a, waived: up to as written calls more, until 2026-01-12 (p.yml:7): because");
    struct tg_waiver other[] = { w[0], w[1] };
    other[0].rule = TG_SV("s"); /* a is waived under s, b fails under r: no consequence of that */
    v[0].rule = TG_SV("s");
    r = waived(h, other, 2, v, 2);
    assert_int_equal(r[0].state, TG_STATE_WAIVED);
    assert_int_equal(r[1].state, TG_STATE_FAIL);
}

/* Each waiver tells a row once what it makes of it, however many consequences it has. */
WITH_HAND(a_consequence_beyond_the_ceiling_is_told_once)
{
    const struct tg_waiver w = waiver(h, "a");
    struct tg_op *ops = calls(h);
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 2) }, *r;
    ops[1].leader = 0; /* new: a calls it, however often */
    r = waived(h, &w, 1, v, 3);
    assert_int_equal(r[2].state, TG_STATE_WAIVED);
    assert_int_equal(r[1].state, TG_STATE_FAIL);
    hand_text(r[1].evidence, "follows from a, beyond the waiver: up to as written calls more");
}

/* A consequence of a consequence, wherever it stands. */
WITH_HAND(consequences_of_consequences)
{
    const struct tg_waiver w = waiver(h, "a");
    struct tg_result v[] = { hand_row("c", 2), hand_row("b", 2), hand_row("a", 2) }, *r;
    calls(h)[2].parent = TG_SV("b");
    r = waived(h, &w, 1, v, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(r[i].state, TG_STATE_WAIVED);
}

/* What `with` adds is accepted up to its own ceiling;
 * the consequences of a name up to that of the name. */
WITH_HAND(names_of_one_change)
{
    struct tg_waiver w[] = { waiver(h, "a"), waiver(h, "c") };
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 3) }, *r;
    calls(h)[2].parent = TG_SV("");
    w[1].with = true;
    w[1].ceiling = hand_limit(h, TG_BOUND_ABS, 3).v[0];
    r = waived(h, w, 2, v, 3);
    assert_int_equal(r[0].state, TG_STATE_WAIVED);
    assert_int_equal(r[1].state, TG_STATE_FAIL);
    assert_int_equal(r[2].state, TG_STATE_WAIVED);
    v[2] = hand_row("c", 4);
    assert_int_equal(waived(h, w, 2, v, 3)[2].state, TG_STATE_FAIL);
    /* it is used if one of its names is, and named once if none is */
    (void)waived(h, w, 2, v, 1);
    assert_int_equal(h->v.n_notes, 0);
    v[0] = hand_row("other", 2);
    (void)waived(h, w, 2, v, 1);
    assert_int_equal(h->v.n_notes, 1);
    hand_text(h->v.notes[0].text, "waiver for r a is unused (p.yml:7)");
}

/* A waiver that one of several suites uses is used. */
WITH_HAND(a_waiver_that_another_suite_used)
{
    const struct tg_waiver w = waiver(h, "a");
    const struct tg_result row = hand_row("a", 2), other = hand_row("b", 2);
    bool used[1] = { false };
    (void)waived(h, &w, 1, &other, 1);
    assert_int_equal(h->v.n_notes, 1);
    hand_text(h->v.notes[0].text, "waiver for r a is unused (p.yml:7)");
    h->in.waivers_used = used;
    h->in.more_suites = true; /* a later one may use it */
    (void)waived(h, &w, 1, &other, 1);
    assert_int_equal(h->v.n_notes, 0);
    assert_false(used[0]);
    (void)waived(h, &w, 1, &row, 1);
    assert_true(used[0]);
    h->in.more_suites = false;
    (void)waived(h, &w, 1, &other, 1);
    assert_int_equal(h->v.n_notes, 0);
    used[0] = false;
    (void)waived(h, &w, 1, &other, 1);
    assert_int_equal(h->v.n_notes, 1);
}
