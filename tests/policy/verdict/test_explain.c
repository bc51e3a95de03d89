/* `policy explain` (explain.c): what a rule asks, of names and of traces. The policy is text, the
 * comparison is made by hand; where a limit begins: docs/policy.md#limits. */
#include "../../core/diff/by_hand.h"
#include "../language/policy_support.h"
#include "by_hand.h"

#define V "version: 1\n"

static struct tg_policy *loaded(const char *text)
{
    AUTO_DIAGS d = no_diags();
    struct tg_policy *p;
    p = must_load(text, &d);
    return p;
}

static void rule_is(const char *policy, const char *id, const struct tg_comparison *c,
                    const char *want)
{
    struct tg_policy *p = loaded(policy);
    TG_BUF out = { 0 };
    assert_int_equal(tg_policy_explain_rule(p, tg_sv_of(id), c, &out), want != NULL);
    hand_text(tg_buf_sv(&out), want ? want : "");
    tg_policy_free(p);
}

static void name_is(const char *policy, const struct tg_op *op, const struct tg_comparison *c,
                    size_t n, const char *want)
{
    struct tg_policy *p = loaded(policy);
    TG_BUF out = { 0 };
    assert_int_equal(tg_policy_explain_op(p, op, c, &out), n);
    hand_text(tg_buf_sv(&out), want);
    tg_policy_free(p);
}

/* ---- the words of a rule ---- */

#define CALLS "  a: count, more is bad  (.tracegate.yml:2)\n    calls or launches per step\n"

WITH_HAND(a_rule_of_counts)
{
    rule_is(V "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}]\n", "a", NULL,
            CALLS "    fail {abs: 0}  (.tracegate.yml:2)\n");
    rule_is(V "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}]\n", "b", NULL,
            NULL);
    rule_is(V "rules:\n- {id: a, match: {kind: op}, metric: count,\n"
              "   warn: off, fail: [{abs: 1, pct: 5%}, {max: 9}], why: because, owner: me}\n",
            "a", NULL,
            "  a: count, more is bad  (.tracegate.yml:3)\n    calls or launches per step\n    why: "
            "because\n    owner: me\n"
            "    warn off  (.tracegate.yml:4)\n"
            "    fail {pct: 5%, abs: 1} or {max: 9}  (.tracegate.yml:4)\n");
}

WITH_HAND(overrides_exceptions_and_when)
{
    rule_is(V "rules:\n- id: a\n  match: {kind: op}\n  metric: count\n  fail: {abs: 0}\n"
              "  exceptions: [renamed, replaced, small, polling]\n"
              "  when: {event: push}\n"
              "  overrides:\n  - {match: {name: x}, fail: {abs: 3}}\n",
            "a", NULL,
            "  a: count, more is bad  (.tracegate.yml:3)\n    calls or launches per step\n"
            "    fail {abs: 0}  (.tracegate.yml:6)\n"
            "    for what its override matches  (.tracegate.yml:10)\n"
            "      fail {abs: 3}  (.tracegate.yml:10)\n"
            "    only warns where it would fail: renamed, replaced, such additions are small "
            "beside the step, or what they save\n"
            "    not judged: runtime calls that noise.ignore names\n"
            "    only where its `when` holds  (.tracegate.yml:8)\n");
    rule_is(V "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}, exceptions: "
              "[polling]}]\n",
            "a", NULL,
            CALLS "    fail {abs: 0}  (.tracegate.yml:2)\n"
                  "    not judged: runtime calls that noise.ignore names\n");
    rule_is(
        V
        "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}, exceptions: [small]}]\n",
        "a", NULL,
        CALLS "    fail {abs: 0}  (.tracegate.yml:2)\n"
              "    only warns where it would fail: such additions are small beside the step, or "
              "what they save\n");
}

/* Which baselines it is judged against; `baseline` alone goes without saying. */
WITH_HAND(the_baselines_of_a_rule)
{
    static const struct {
        const char *against, *told;
    } rows[] = { { "baseline", "" },
                 { "old", "    against old\n" },
                 { "[old, baseline]", "    against baseline, old\n" },
                 { "[new, old]", "    against old, new\n" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_BUF text = { 0 }, want = { 0 };
        tg_buf_printf(
            &text,
            V "baselines: [{name: old, ref: release(v*)}, {name: new, ref: window(7)}]\n"
              "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}, against: %s}]\n",
            rows[i].against);
        tg_buf_printf(&want,
                      "  a: count, more is bad  (.tracegate.yml:3)\n    calls or launches per "
                      "step\n    fail {abs: 0}  (.tracegate.yml:3)\n%s",
                      rows[i].told);
        rule_is(text.p, "a", NULL, want.p);
    }
}

/* What durations and shares need is told; counts need nothing. */
WITH_HAND(noise_of_measured_values)
{
    static const struct {
        const char *rule, *noise;
    } rows[] = {
        { "metric: step_time, fail: {pct: 10%}, noise: {min_runs: 4}",
          "    noise: durations need 4 runs a side  (.tracegate.yml:2)\n" },
        { "metric: step_time, fail: {pct: 10%}, noise: {min_runs: 4, min_steps: 7}",
          "    noise: durations need 4 runs a side and 7 steps a run  (.tracegate.yml:2)\n" },
        { "metric: step_time, fail: {pct: 10%}, noise: {test: none}",
          "    noise: none, the limit alone decides  (.tracegate.yml:2)\n" },
        { "metric: idle, fail: {pp: 10pp}, noise: {min_runs: 4}",
          "    noise: durations need 4 runs a side  (.tracegate.yml:2)\n" },
        { "metric: launch_count, fail: {abs: 1}, noise: {min_runs: 4}", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_BUF text = { 0 }, out = { 0 };
        struct tg_policy *p;
        tg_buf_printf(&text, V "rules: [{id: a, %s}]\n", rows[i].rule);
        p = loaded(text.p);
        assert_true(tg_policy_explain_rule(p, TG_SV("a"), NULL, &out));
        if (rows[i].noise ? !strstr(out.p, rows[i].noise) : strstr(out.p, "noise:") != NULL)
            fail_msg("%s", out.p);
        tg_policy_free(p);
    }
}

/* ---- a name ---- */

#define WAIVERS                                                                                    \
    "waivers:\n- {rule: a, name: aten::mm, reason: r, ceiling: {abs: 5}, expires: 2026-12-01}\n"   \
    "- {rule: a, name: aten::add, reason: r, ceiling: {abs: 6}, expires: 2026-12-01}\n"            \
    "- {rule: b, name: aten::mm, reason: r, ceiling: {abs: 7}, expires: 2026-12-01}\n"

WITH_HAND(what_is_asked_of_a_name)
{
    const struct tg_op mm = hand_op("aten::mm", TG_KIND_OP);
    static const char policy[] =
        V "rules:\n- {id: a, match: {kind: op}, metric: count, fail: {abs: 0},\n"
          "   overrides: [{match: {name: 'aten::*'}, fail: {abs: 1}}, {match: {name: aten::mm}, "
          "warn: {abs: 0}},\n      {match: {name: other}, fail: off}]}\n"
          "- {id: b, match: {kind: op, name: other}, metric: count, fail: {abs: 0}}\n"
          "- {id: c, metric: step_time, fail: {pct: 10%}}\n" WAIVERS;
    name_is(policy, &mm, NULL, 1,
            "  a: count, more is bad  (.tracegate.yml:3)\n"
            "    warn {abs: 0}  (.tracegate.yml:4)\n"
            "    fail {abs: 1}  (.tracegate.yml:4)\n"
            "    by an override  (.tracegate.yml:4)\n"
            "    waived up to {abs: 5} until 2026-12-01  (.tracegate.yml:9)\n");
    rule_is(policy, "b", NULL,
            "  b: count, more is bad  (.tracegate.yml:6)\n    calls or launches per step\n"
            "    fail {abs: 0}  (.tracegate.yml:6)\n"
            "    waived up to {abs: 7} for aten::mm until 2026-12-01  (.tracegate.yml:11)\n");
}

/* Without a trace a name's parent is not known. */
WITH_HAND(what_depends_on_the_parent)
{
    struct tg_op mm = hand_op("aten::mm", TG_KIND_OP);
    static const char not_other[] =
        V "rules: [{id: a, match: {kind: op, not: {name: x}}, metric: count, fail: {abs: 0}}]\n";
    static const char
        parent[] = V "rules: [{id: a, match: {kind: op, parent: 'aten::linear'}, metric: count, "
                     "fail: {abs: 0}}]\n",
        not_parent[] = V
        "rules: [{id: a, match: {kind: op, not: {parent: x}}, metric: count, fail: {abs: 0}}]\n",
        not_name[] = V "rules: [{id: a, match: {kind: op, parent: 'aten::linear', not: {name: "
                       "aten::mm}}, metric: count, fail: {abs: 0}}]\n";
#define A "  a: count, more is bad  (.tracegate.yml:2)\n    fail {abs: 0}  (.tracegate.yml:2)\n"
    name_is(parent, &mm, NULL, 1, A "    if its parent matches: name a trace to see\n");
    name_is(not_parent, &mm, NULL, 1, A "    if its parent matches: name a trace to see\n");
    name_is(not_name, &mm, NULL, 0, "");
    name_is(not_other, &mm, NULL, 1, A); /* what it leaves out is no parent */
    name_is(parent, &mm, &h->c, 0, "");
    mm.parent = TG_SV("aten::linear");
    name_is(parent, &mm, &h->c, 1, A "    now 1, fails above 1\n");
    mm.parent = TG_SV("x");
    name_is(not_parent, &mm, &h->c, 0, "");
    name_is(not_parent, &mm, NULL, 1, A "    if its parent matches: name a trace to see\n");
#undef A
}

/* An attribute has no number, but a reason if it is not judged. */
WITH_HAND(attributes_of_a_name)
{
    struct tg_op mm = hand_op("aten::mm", TG_KIND_OP);
    for (int judged = 0; judged < 2; judged++) {
        mm.attr[TG_ATTR_KIND_TYPES].what = judged ? TG_ATTR_COMPARED : TG_ATTR_NONE;
        name_is(V "rules: [{id: a, match: {kind: op}, metric: input_types, fail: {abs: 0}}]\n", &mm,
                &h->c, 1,
                judged ? "  a: input_types, any is bad  (.tracegate.yml:2)\n"
                         "    fail {abs: 0}  (.tracegate.yml:2)\n"
                         "    compared exactly\n"
                       : "  a: input_types, any is bad  (.tracegate.yml:2)\n"
                         "    fail {abs: 0}  (.tracegate.yml:2)\n"
                         "    not judged: no input types\n");
    }
}

/* Of a module host time and calls are one thing, the work it launches another. */
WITH_HAND(frames_of_the_metrics_side)
{
    struct tg_op frame = hand_op("Linear", TG_KIND_MODULE);
    static const char policy[] =
        V "rules: [{id: a, match: {kind: module}, metric: count, fail: {abs: 0}}, {id: b, match: "
          "{kind: module}, metric: device_count, fail: {abs: 0}}]\n";
    h->c.frame_sorts[TG_BASE] = h->c.frame_sorts[TG_TEST] = ~0u;
    name_is(policy, &frame, &h->c, 1,
            "  a: count, more is bad  (.tracegate.yml:2)\n    fail {abs: 0}  (.tracegate.yml:2)\n"
            "    now 1, fails above 1\n");
    frame.launched = true;
    name_is(policy, &frame, &h->c, 1,
            "  b: device_count, more is bad  (.tracegate.yml:2)\n    fail {abs: 0}  "
            "(.tracegate.yml:2)\n"
            "    now 1, fails above 1\n");
}

/* ---- numbers ---- */

/* The last line: "now …" of an operator under one rule. */
static void now(struct hand *h, const struct tg_op *op, const char *rule, const char *want)
{
    TG_BUF text = { 0 }, out = { 0 };
    struct tg_policy *p;
    const char *last;
    tg_buf_printf(&text, V "rules: [{id: a, match: {kind: [op, kernel]}, %s}]\n", rule);
    p = loaded(text.p);
    (void)tg_policy_explain_op(p, op, &h->c, &out);
    last = strstr(out.p, "    now ");
    if (want ? !last || strcmp(last + 4, want) != 0 : last != NULL)
        fail_msg("%s: %s", rule, out.p);
    tg_policy_free(p);
}

/* 40 calls; 100 us by judged evidence of 5 runs, a step of 1 ms. */
WITH_HAND(where_a_limit_begins)
{
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    const char *runs =
        "; 5 runs: noise 1.8 %, detectable from +8.0 % (108 us in the fastest steps)\n";
    TG_BUF want = { 0 };
    static const struct {
        const char *rule, *from;
    } rows[] = {
        { "fail: {pct: 10%}", "fails above 110 us" },
        { "fail: {abs: 20us}", "fails above 120 us" },
        { "fail: {abs: 3%step}", "fails above 130 us" },
        { "fail: {pct: auto}", "fails above 108 us" },
        { "fail: {pct: 10%, abs: 20us}", "fails above 120 us" },                     /* both */
        { "fail: [{pct: 10%}, {abs: 20us}]", "fails above 110 us or above 120 us" }, /* any */
        { "warn: {pct: 5%}, fail: {pct: 10%}", "warns above 105 us, fails above 110 us" },
        { "fail: {pct: 10%}, direction: down", "fails below 90.0 us" },
        { "fail: {pct: 10%}, direction: both", "fails above 110 us or below 90.0 us" },
        { "fail: {max: 90us}", "fails above 90.0 us" },
        { "fail: {min: 50us}", "fails below 50.0 us" },
        { "fail: {max: 90us}, direction: down", "fails above 90.0 us" }, /* is what it says */
        { "fail: {min: 50us}, direction: up", "fails below 50.0 us" },
        { "warn: off, fail: {pct: 10%}", "fails above 110 us" },
    };
    op.ev = hand_evidence(100000, 0);
    op.ev.noise = 0.018;
    op.ev.mde = 0.08;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_BUF rule = { 0 };
        tg_buf_clear(&want);
        tg_buf_printf(&want, "now 100 us, %s%s", rows[i].from, runs);
        tg_buf_printf(&rule, "metric: self, %s", rows[i].rule);
        now(h, &op, rule.p, want.p);
    }
    op.count[TG_BASE] = 40;
    now(h, &op, "metric: count, fail: {pct: 10%}", "now 40, fails above 44\n");
    op.share[TG_BASE] = 0.25;
    now(h, &op, "metric: share, fail: {pp: 3pp}, noise: {test: none}",
        "now 25.0 %, fails above 28.0 %\n");
    now(h, &op, "metric: input_types, fail: {abs: 0}", NULL); /* changed or not: no number */
    now(h, &op, "metric: bytes, fail: {abs: 0}", NULL);       /* not known */
}

WITH_HAND(how_sharp_the_runs_are)
{
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    op.self[TG_BASE] = 100000;
    now(h, &op, "metric: self, fail: {abs: 20us}, noise: {test: none}",
        "now 100 us, fails above 120 us\n");
    h->c.n_runs[TG_TEST] = 1;
    op.ev.why_not = TG_NOT_WAIT;
    now(h, &op, "metric: self, fail: {abs: 20us}",
        "now 100 us, fails above 120 us; 1 run: not judged, its time is a wait for others\n");
    op.ev.why_not = TG_NOT_FEW_RUNS;
    now(h, &op, "metric: self, fail: {abs: 20us}",
        "now 100 us, fails above 120 us; 1 run: not judged, too few runs a side: 3 needed, 5 "
        "better\n");
    now(h, &op, "metric: self, fail: {abs: 20us}, noise: {min_runs: 6}",
        "now 100 us, fails above 120 us; 1 run: not judged, too few runs a side: 6 needed\n");
    h->c.n_runs[TG_BASE] = h->c.n_runs[TG_TEST] = 2; /* as a check has it: the rule's own decides */
    op.ev = hand_evidence(100000, 0);
    op.ev.mde = 0.5; /* shown only beyond the limit */
    now(h, &op, "metric: self, fail: {abs: 20us}, noise: {min_runs: 2}",
        "now 100 us, fails above 120 us; 2 runs: noise 0.0 %, detectable from +50.0 % (150 us in "
        "the fastest steps)\n");
    now(h, &op, "metric: self, fail: {abs: 20us}, noise: {min_runs: 6}",
        "now 100 us, fails above 120 us; 2 runs: not judged, too few runs a side: 6 needed\n");
    now(h, &op, "metric: max, fail: {abs: 20us}", NULL); /* no call of it was seen in a step */
}

/* The longest call is one of the steps' calls; of five runs two have none,
 * so nothing is known of a run's. */
BY_HAND(a_name_of_some_runs_has_no_evidence)
{
    struct hand h = { 0 };
    make(f, 5, 5, 5);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "other", "", 1, 50000);
        for (size_t r = 0; r < 3; r++)
            add_row(f, side, r, TG_KIND_OP, "it", "", 1, 100000);
    }
    compare(f);
    h.c = f->c;
    now(&h, find(f, "it"), "metric: max, fail: {abs: 20us}",
        "now 100 us, fails above 120 us; 5 runs: not judged, no evidence exists for this metric\n");
}

/* Names with most time first, twenty of them. */
WITH_HAND(the_names_of_a_rule)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 23);
    TG_BUF want = { 0 };
    static const char policy[] =
        V "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}]\n";
#define HEAD CALLS "    fail {abs: 0}  (.tracegate.yml:2)\n"

    for (int i = 0; i < 22; i++) {
        ops[i] = hand_op(tg_arena_printf(h->a, "op%02d", i), TG_KIND_OP);
        ops[i].self[TG_TEST] = i < 3 ? 1000 : 100 + i; /* three alike: by name */
    }
    ops[22] = hand_op("kernel", TG_KIND_KERNEL);
    hand_ops(h, ops, 23);
    tg_buf_puts(&want, HEAD "    matches 22 names of these traces\n");
    for (int i = 0; i < 3; i++)
        tg_buf_printf(&want, "      op%02d: now 1, fails above 1\n", i);
    for (int i = 21; i > 4; i--)
        tg_buf_printf(&want, "      op%02d: now 1, fails above 1\n", i);
    tg_buf_puts(&want, "      and 2 more\n");
    rule_is(policy, "a", &h->c, want.p);
    h->c.n_ops = 1;
    rule_is(policy, "a", &h->c,
            HEAD "    matches 1 name of these traces\n      op00: now 1, fails above 1\n");
    rule_is(V "rules: [{id: a, match: {kind: op}, metric: bytes, fail: {abs: 0}}]\n", "a", &h->c,
            "  a: bytes, more is bad  (.tracegate.yml:2)\n"
            "    bytes copied, set or sent by collectives per step\n"
            "    fail {abs: 0}  (.tracegate.yml:2)\n    matches 1 name of these traces\n");
    h->c.n_ops = 20;
    tg_buf_clear(&want);
    tg_buf_puts(&want, HEAD "    matches 20 names of these traces\n");
    for (int i = 0; i < 3; i++)
        tg_buf_printf(&want, "      op%02d: now 1, fails above 1\n", i);
    for (int i = 19; i > 2; i--)
        tg_buf_printf(&want, "      op%02d: now 1, fails above 1\n", i);
    rule_is(policy, "a", &h->c, want.p);
}

WITH_HAND(a_rule_of_the_whole_trace)
{
    struct tg_metric_change *m = &h->c.metrics[TG_METRIC_LAUNCH_COUNT];
    static const char policy[] = V "rules: [{id: a, metric: launch_count, fail: {max: 50}}]\n";
    struct tg_policy *p = loaded(policy);
    TG_BUF out = { 0 };
    assert_true(tg_policy_explain_rule(p, TG_SV("a"), &h->c, &out));
    assert_non_null(strstr(out.p, "\n    these traces lack what this metric needs\n"));
    m->known[0] = m->known[1] = true;
    m->value[TG_BASE] = 40;
    tg_buf_clear(&out);
    assert_true(tg_policy_explain_rule(p, TG_SV("a"), &h->c, &out));
    assert_non_null(strstr(out.p, "\n    now 40, fails above 50\n"));
    tg_policy_free(p);
}
