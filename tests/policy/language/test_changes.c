/* Which way each change of a policy goes. The expected directions are written by hand from
 * docs/policy.md; the opposite edit must go the opposite way. */
#include "policy/language/changes.h"

#include "policy_support.h"

#define RULE(more) "version: 1\nrules: [{id: a, match: {kind: op}, metric: count, " more "}]\n"
#define MATCH(m) "version: 1\nrules: [{id: a, match: {" m "}, metric: count, fail: {abs: 0}}]\n"
#define TOP(more)                                                                                  \
    "version: 1\n" more "\nrules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}]\n"
#define WAIVER(more)                                                                               \
    TOP("waivers: [{rule: a, name: x, reason: r, ceiling: {abs: 5}, expires: 2026-12-01" more "}"  \
        "]")
#define STEP(bound) "version: 1\nrules: [{id: a, metric: step_time, fail: {" bound "}}]\n"
#define SUITE(more) TOP("suites: [{name: s" more "}]")

static const struct {
    const char *before, *now, *path;
    enum tg_direction way, back;
} edits[] = {
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 9}"), "rules.a.fail.abs", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}"), RULE("fail: off"), "rules.a.fail", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}, warn: {abs: 0}"), RULE("warn: {abs: 0}"), "rules.a.fail", TG_LOOSER,
      TG_TIGHTER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0, pct: 5%}"), "rules.a.fail.pct", TG_LOOSER,
      TG_TIGHTER },
    { RULE("fail: {abs: 0}"), RULE("fail: [{abs: 0}, {pct: 5%}]"), "rules.a.fail", TG_TIGHTER,
      TG_LOOSER },
    { RULE("fail: [{abs: 0}, {pct: 5%}]"), RULE("fail: [{abs: 1}, {pct: 5%}]"), "rules.a.fail",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {min: 5}"), RULE("fail: {min: 4}"), "rules.a.fail.min", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {max: 5}"), RULE("fail: {max: 6}"), "rules.a.fail.max", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}, direction: both"), RULE("fail: {abs: 0}, direction: down"),
      "rules.a.direction", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}, direction: up"), RULE("fail: {abs: 0}, direction: down"),
      "rules.a.direction", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, direction: down"), "rules.a.direction",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, optional: true"), "rules.a.optional", TG_LOOSER,
      TG_TIGHTER },
    { RULE("fail: {abs: 0}, unjudged: inconclusive"), RULE("fail: {abs: 0}, unjudged: note"),
      "rules.a.unjudged", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, optional: false"), "rules.a.optional",
      TG_OTHERWISE, TG_OTHERWISE },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, when: {event: push}"), "rules.a.when",
      TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}, when: {event: [push, x]}"), RULE("fail: {abs: 0}, when: {event: push}"),
      "rules.a.when.event", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}, when: {event: a}"), RULE("fail: {abs: 0}, when: {event: b}"),
      "rules.a.when.event", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, overrides: [{match: {name: '*'}, fail: off}]"),
      "rules.a.overrides", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}, overrides: [{match: {name: 'a'}, fail: {abs: 1}}]"),
      RULE("fail: {abs: 0}, overrides: [{match: {name: 'a'}, fail: {abs: 2}}]"),
      "rules.a.overrides", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, noise: {min_runs: 9}"), "rules.a.noise",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}, noise: {min_runs: 3}"), RULE("fail: {abs: 0}, noise: {min_runs: 9}"),
      "rules.a.noise.min_runs", TG_LOOSER, TG_TIGHTER },
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}, why: x"), "rules.a.why", TG_OTHERWISE,
      TG_OTHERWISE },
    { MATCH("kind: [op, kernel]"), MATCH("kind: op"), "rules.a.match.kind", TG_LOOSER, TG_TIGHTER },
    { MATCH("kind: op"), MATCH("kind: memset"), "rules.a.match.kind", TG_MAYBE_LOOSER,
      TG_MAYBE_LOOSER },
    { MATCH("kind: [op, kernel]"), MATCH("kind: [kernel, op]"), "rules.a.match.kind", TG_OTHERWISE,
      TG_OTHERWISE },
    { MATCH("kind: op"), MATCH("kind: op, name: 'a*'"), "rules.a.match.name", TG_LOOSER,
      TG_TIGHTER },
    { MATCH("kind: op, name: '*'"), MATCH("kind: op, name: 'a*'"), "rules.a.match.name",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { MATCH("kind: op"), MATCH("kind: op, not: {name: 'a*'}"), "rules.a.match.not", TG_LOOSER,
      TG_TIGHTER },
    { MATCH("kind: op, not: {name: a}"), MATCH("kind: op, not: {name: [a, b]}"),
      "rules.a.match.not.name", TG_LOOSER, TG_TIGHTER },
    { MATCH("kind: op, not: {name: a}"), MATCH("kind: op, not: {name: a, kind: op}"),
      "rules.a.match.not.kind", TG_TIGHTER, TG_LOOSER },
    { MATCH("kind: kernel"), MATCH("kind: kernel, device: 0"), "rules.a.match.device", TG_LOOSER,
      TG_TIGHTER },
    { MATCH("kind: kernel, stream: [1, 2]"), MATCH("kind: kernel, stream: 1"),
      "rules.a.match.stream", TG_LOOSER, TG_TIGHTER },
    { MATCH("kind: op, rank: each"), MATCH("kind: op, rank: slowest"), "rules.a.match.rank",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { TOP(""), TOP("noise: {ignore: ['*']}"), "noise.ignore", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { TOP("noise: {ignore: [a]}"), TOP("noise: {ignore: [a, b]}"), "noise.ignore", TG_LOOSER,
      TG_TIGHTER },
    { TOP("noise: {min_runs: 3}"), TOP("noise: {min_runs: 5}"), "noise.min_runs", TG_LOOSER,
      TG_TIGHTER },
    { TOP("noise: {min_steps: 0}"), TOP("noise: {min_steps: 5}"), "noise.min_steps", TG_LOOSER,
      TG_TIGHTER },
    { TOP("noise: {drift: 10%}"), TOP("noise: {drift: 50%}"), "noise.drift", TG_LOOSER,
      TG_TIGHTER },
    { TOP("noise: {test: none}"), TOP("noise: {test: runs}"), "noise.test", TG_LOOSER, TG_TIGHTER },
    { TOP(""), TOP("require: {collapse: off}"), "require.collapse", TG_LOOSER, TG_TIGHTER },
    { TOP("require: {collapse: on}"), TOP("require: {collapse: off}"), "require.collapse",
      TG_LOOSER, TG_TIGHTER },
    { TOP("require: {steps: 5}"), TOP("require: {steps: 3}"), "require.steps", TG_LOOSER,
      TG_TIGHTER },
    { TOP("require: {kernels: 5}"), TOP(""), "require.kernels", TG_LOOSER, TG_TIGHTER },
    { TOP("require: {ops: [a, b]}"), TOP("require: {ops: [a]}"), "require.ops", TG_LOOSER,
      TG_TIGHTER },
    { TOP("fail_on: [fail, warn]"), TOP("fail_on: [fail]"), "fail_on", TG_LOOSER, TG_TIGHTER },
    { TOP("baselines: [{name: r, ref: v1}]"), TOP(""), "baselines.r", TG_LOOSER, TG_TIGHTER },
    { TOP("baselines: [{name: r, on_lost: fail}]"), TOP("baselines: [{name: r, on_lost: pass}]"),
      "baselines.r.on_lost", TG_LOOSER, TG_TIGHTER },
    { "version: 1\nbaselines: [{name: r}]\nrules: [{id: a, metric: idle, fail: {pp: 1pp}, against: "
      "[baseline, r]}]\n",
      "version: 1\nbaselines: [{name: r}]\nrules: [{id: a, metric: idle, fail: {pp: 1pp}, against: "
      "[baseline]}]\n",
      "rules.a.against", TG_LOOSER, TG_TIGHTER },
    { TOP("baseline: {on_lost: fail}"), TOP("baseline: {on_lost: pass}"), "baseline.on_lost",
      TG_LOOSER, TG_TIGHTER },
    { TOP("baseline: {on_first_run: inconclusive}"), TOP(""), "baseline.on_first_run", TG_LOOSER,
      TG_TIGHTER },
    { TOP(""), TOP("baseline: {ref: parent}"), "baseline.ref", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { TOP(""), TOP("baseline: {target: mine}"), "baseline.target", TG_MAYBE_LOOSER,
      TG_MAYBE_LOOSER },
    { TOP(""), TOP("baseline: {max_walk: 0}"), "baseline.max_walk", TG_MAYBE_LOOSER,
      TG_MAYBE_LOOSER },
    { TOP("baseline: {require_same: []}"), TOP("baseline: {require_same: [cpu]}"),
      "baseline.require_same", TG_LOOSER, TG_TIGHTER },
    { TOP(""), TOP("aliases: [{from: a, to: b}]"), "aliases", TG_LOOSER, TG_TIGHTER },
    { TOP("aliases: [{from: a, to: b}]"), TOP("aliases: [{from: a, to: b}, {from: c, to: d}]"),
      "aliases", TG_LOOSER, TG_TIGHTER },
    { TOP(""), TOP("classes: [{name: 'a*', class: other}]"), "classes", TG_MAYBE_LOOSER,
      TG_MAYBE_LOOSER },
    { TOP("report: {top: 10}"), TOP("report: {top: 20, junit_max: 9}"), "report", TG_OTHERWISE,
      TG_OTHERWISE },
    { TOP("ab: {detect: 10%}"), TOP("ab: {detect: 20%, budget: 90s}"), "ab", TG_OTHERWISE,
      TG_OTHERWISE },
    { TOP("extends: [tracegate:recommended]"),
      TOP("extends: [tracegate:recommended]\nprofiles: {n: {noise: {min_runs: 5}}}"), NULL, 0, 0 },
    { SUITE(", trace: 'out/*.json'"), SUITE(", trace: 'perf/*.json'"), "suites.s.trace",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { SUITE(", baseline: 'perf/*.json'"), SUITE(", baseline: stored"), "suites.s.baseline",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { SUITE(", ranks: {expect: 8}"), SUITE(""), "suites.s.ranks", TG_LOOSER, TG_TIGHTER },
    { SUITE(", ranks: {expect: 8}"), SUITE(", ranks: {expect: 1}"), "suites.s.ranks.expect",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { SUITE(", window: {by: ProfilerStep}"), SUITE(", window: {by: trace}"), "suites.s.window.by",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { SUITE(", window: {by: ProfilerStep}"), SUITE(", window: {by: ProfilerStep, skip_first: 1}"),
      "suites.s.window.skip_first", TG_LOOSER, TG_TIGHTER },
    { SUITE(""), TOP(""), "suites.s", TG_LOOSER, TG_TIGHTER },
    { TOP(""), WAIVER(""), "waivers.a x", TG_LOOSER, TG_TIGHTER },
    { WAIVER(""), WAIVER(", many: true"), "waivers.a x.many", TG_LOOSER, TG_TIGHTER },
    { WAIVER(", when: {event: push}"), WAIVER(""), "waivers.a x.when", TG_LOOSER, TG_TIGHTER },
    { WAIVER(", when: {event: [push]}"), WAIVER(", when: {event: [push, x]}"),
      "waivers.a x.when.event", TG_LOOSER, TG_TIGHTER },
    { TOP("waivers: [{rule: a, name: x, reason: r, ceiling: {abs: 5}, expires: 2026-11-01}]"),
      WAIVER(""), "waivers.a x.expires", TG_LOOSER, TG_TIGHTER },
    { TOP("waivers: [{rule: a, name: x, reason: r, ceiling: {abs: 4}, expires: 2026-12-01}]"),
      WAIVER(""), "waivers.a x.ceiling.abs", TG_LOOSER, TG_TIGHTER },
    { WAIVER(", owner: a"), WAIVER(", owner: b"), "waivers.a x.owner", TG_OTHERWISE, TG_OTHERWISE },
    /* words that a key may be without */
    { RULE("fail: {abs: 0}, optional: true"), RULE("fail: {abs: 0}, optional: false"),
      "rules.a.optional", TG_TIGHTER, TG_LOOSER },
    { RULE("fail: {abs: 0}, noise: {min_runs: 3}"),
      RULE("fail: {abs: 0}, noise: {min_runs: 3, test: runs}"), "rules.a.noise.test",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { RULE("fail: {abs: 0}, noise: {min_runs: 3}"),
      RULE("fail: {abs: 0}, noise: {min_runs: 3, test: none}"), "rules.a.noise.test",
      TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    /* numbers that do not compare */
    { STEP("pct: auto"), STEP("pct: 10%"), "rules.a.fail.pct", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { STEP("abs: 0"), STEP("abs: 2ms"), "rules.a.fail.abs", TG_LOOSER, TG_TIGHTER },
    { STEP("abs: 0"), STEP("abs: 2%step"), "rules.a.fail.abs", TG_LOOSER, TG_TIGHTER },
    { STEP("abs: 0"), STEP("abs: 0ms"), "rules.a.fail.abs", TG_OTHERWISE, TG_OTHERWISE },
    { STEP("abs: 2%step"), STEP("abs: 1ms"), "rules.a.fail.abs", TG_MAYBE_LOOSER, TG_MAYBE_LOOSER },
    { STEP("abs: 2000us"), STEP("abs: 1ms"), "rules.a.fail.abs", TG_TIGHTER, TG_LOOSER },
    /* rules in another order are the same rules */
    { "version: 1\nrules: [{id: a, metric: step_time, fail: {abs: 0}}, {id: b, metric: idle, fail: "
      "{pp: 3pp}}]\n",
      "version: 1\nrules: [{id: b, metric: idle, fail: {pp: 3pp}}, {id: a, metric: step_time, "
      "fail: {abs: 0}}]\n",
      NULL, 0, 0 },
    /* two of one name */
    { TOP("waivers: [{rule: a, name: x, reason: r, ceiling: {abs: 5}, expires: 2026-12-01}, {rule: "
          "a, name: x, reason: r, ceiling: {abs: 5}, expires: 2026-12-01}]"),
      TOP("waivers: [{rule: a, name: x, reason: r, ceiling: {abs: 5}, expires: 2026-12-01}, {rule: "
          "a, name: x, reason: r, ceiling: {abs: 99}, expires: 2026-12-01}]"),
      "waivers.a x.ceiling.abs", TG_LOOSER, TG_TIGHTER },
    /* another spelling is no change of what is judged */
    { RULE("fail: {abs: 0}"), RULE("fail: {abs: 0}") "# a comment\n", NULL, 0, 0 },
    { RULE("warn: {abs: 1000}"), RULE("warn: {abs: 1000.0}"), "rules.a.warn.abs", TG_OTHERWISE,
      TG_OTHERWISE },
};

static void one_way(const char *before, const char *now, const char *path, enum tg_direction want)
{
    struct tg_diags d[2];
    TG_ARENA *a = tg_arena_new();
    struct tg_policy *p[2];
    struct tg_policy_changes c;
    for (int i = 0; i < 2; i++) {
        tg_diags_init(&d[i]);
        p[i] = load_text(i ? now : before, &d[i]);
        if (!p[i]) {
            struct tg_buf text = { 0 };
            tg_diags_text(&d[i], &text);
            fail_msg("%s\n%.*s", i ? now : before, TG_SV_ARG(tg_buf_sv(&text)));
        }
    }
    tg_policy_changes(&c, p[0], p[1], a);
    if (c.n != (path ? 1 : 0))
        fail_msg("%zu changes of\n%s\nto\n%s", c.n, before, now);
    if (path && (!tg_sv_eq(c.v[0].path, tg_sv_of(path)) || c.v[0].direction != want))
        fail_msg("%.*s goes %d, want %s %d, of\n%s\nto\n%s", TG_SV_ARG(c.v[0].path),
                 (int)c.v[0].direction, path, (int)want, before, now);
    assert_int_equal(c.n_looser, path && (want == TG_LOOSER || want == TG_MAYBE_LOOSER));
    for (int i = 0; i < 2; i++) {
        tg_policy_free(p[i]);
        tg_diags_release(&d[i]);
    }
}

TEST(each_edit_and_its_opposite)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        one_way(edits[i].before, edits[i].now, edits[i].path, edits[i].way);
        one_way(edits[i].now, edits[i].before, edits[i].path, edits[i].back);
    }
}

TEST(looser_ones_come_first)
{
    AUTO_DIAGS d = no_diags();
    TG_ARENA *a = tg_arena_new();
    struct tg_policy_changes c;
    TG_BUF text = { 0 };
    struct tg_policy *one = load_text(RULE("fail: {abs: 5}, warn: {abs: 1}, why: a"), &d);
    struct tg_policy *two =
        load_text(RULE("fail: {abs: 4}, warn: {abs: 2}, why: b, direction: down"), &d);
    assert_true(one && two);
    tg_policy_changes(&c, one, two, a);
    tg_policy_changes_text(&c, &text);
    assert_int_equal(c.n, 4);
    assert_int_equal(c.n_looser, 2);
    assert_int_equal(strncmp(text.p, "looser   rules.a.warn.abs: 1 -> 2", 33), 0);
    assert_non_null(strstr(text.p, "\nlooser?  rules.a.direction: (absent) -> down"));
    assert_non_null(strstr(text.p, "\ntighter  rules.a.fail.abs: 5 -> 4"));
    assert_non_null(strstr(text.p, "\nchanged  rules.a.why: a -> b"));
    tg_policy_free(one);
    tg_policy_free(two);
}

/* Forty changes: by direction, then by path, each with its place, whatever the order of the
 * rules. */
static void forty_changes(bool ascending)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_buf text[2] = { { 0 }, { 0 } }, out = { 0 };
    struct tg_policy_changes c;
    struct tg_policy *p[2];
    AUTO_DIAGS d = no_diags();
    for (int now = 0; now < 2; now++) {
        tg_buf_puts(&text[now], "version: 1\nrules:\n");
        for (int k = 0; k < 40; k++) {
            int i = ascending ? k : 39 - k;
            tg_buf_printf(&text[now],
                          "- {id: r%02d, match: {kind: op}, metric: count, fail: {abs: %d}}\n", i,
                          i % 2 ? 5 - now : 5 + now);
        }
        p[now] = load_text(text[now].p, &d);
        assert_non_null(p[now]);
    }
    tg_policy_changes(&c, p[0], p[1], a);
    assert_int_equal(c.n, 40);
    assert_int_equal(c.n_looser, 20);
    for (int i = 0; i < 40; i++) {
        char path[40];
        (void)snprintf(path, sizeof path, "rules.r%02d.fail.abs",
                       i < 20 ? 2 * i : 2 * (i - 20) + 1);
        assert_int_equal(c.v[i].direction, i < 20 ? TG_LOOSER : TG_TIGHTER);
        assert_true(tg_sv_eq(c.v[i].path, tg_sv_of(path)));
    }
    tg_policy_changes_text(&c, &out); /* r00 is in the first or the last line of the rules */
    if (ascending)
        assert_int_equal(
            strncmp(out.p, "looser   rules.r00.fail.abs: 5 -> 6  (.tracegate.yml:3)\n", 56), 0);
    else
        assert_int_equal(
            strncmp(out.p, "looser   rules.r00.fail.abs: 5 -> 6  (.tracegate.yml:42)\n", 57), 0);
    assert_null(strstr(out.p, "no difference"));
    tg_policy_changes(&c, p[0], p[0], a);
    tg_buf_clear(&out);
    tg_policy_changes_text(&c, &out);
    assert_string_equal(out.p, "no difference\n");
    for (int now = 0; now < 2; now++) {
        tg_policy_free(p[now]);
        tg_buf_release(&text[now]);
    }
    tg_buf_release(&out);
}

TEST(many_changes_are_in_order)
{
    forty_changes(false);
    forty_changes(true);
}

/* With a profile a change is told once more only where it is another: its path, what was or what
 * is. */
TEST(what_a_profile_adds)
{
    struct tg_policy_change had[] = {
        { TG_TIGHTER, TG_SV("a"), TG_SV("1"), TG_SV("2"), .at = { .file = "p.yml", .line = 1 } },
    };
    struct tg_policy_change with[] = {
        { TG_OTHERWISE, TG_SV("b"), TG_SV("1"), TG_SV("2"), .at = { .file = "p.yml", .line = 2 } },
        { TG_TIGHTER, TG_SV("a"), TG_SV("1"), TG_SV("2"), .at = { .file = "p.yml", .line = 1 } },
        { TG_TIGHTER, TG_SV("a"), TG_SV("1"), TG_SV("3"), .at = { .file = "p.yml", .line = 3 } },
        { TG_LOOSER, TG_SV("a"), TG_SV("0"), TG_SV("2"), .at = { .file = "p.yml", .line = 4 } },
        { TG_MAYBE_LOOSER, TG_SV("c"), TG_SV(""), TG_SV("2"),
          .at = { .file = "p.yml", .line = 5 } },
    };
    struct tg_policy_changes all = { had, 1, 0 }, none = { 0 };
    const struct tg_policy_changes more = { with, 5, 2 };
    TG_ARENA *a = tg_arena_new();
    TG_BUF out = { 0 };
    tg_policy_changes_add(&all, &more, "pr", a);
    assert_int_equal(all.n, 5);
    assert_int_equal(all.n_looser, 2);
    tg_policy_changes_text(&all, &out);
    assert_string_equal(out.p, "looser   profiles.pr.a: 0 -> 2  (p.yml:4)\n"
                               "looser?  profiles.pr.c: (absent) -> 2  (p.yml:5)\n"
                               "tighter  a: 1 -> 2  (p.yml:1)\n"
                               "tighter  profiles.pr.a: 1 -> 3  (p.yml:3)\n"
                               "changed  profiles.pr.b: 1 -> 2  (p.yml:2)\n");
    assert_false(all.v[2].elsewhere);
    assert_true(all.v[3].elsewhere);
    tg_policy_changes_add(&none, &none, "pr", a);
    assert_int_equal(none.n, 0);
}
