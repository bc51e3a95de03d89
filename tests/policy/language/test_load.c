/* What a policy means once it is loaded: values, layers, presets, profiles, caps. */
#include "policy_support.h"

#include "core/base/limits.h"
#include "policy/language/yaml.h"

#define V "version: 1\n"

static const struct tg_rule *rule(const struct tg_policy *p, const char *id)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_sv_eq(p->rules[i].id, tg_sv_of(id)))
            return &p->rules[i];
    return NULL;
}

/* The only bound of the only limit. */
static const struct tg_bound *only(const struct tg_limit_list *l)
{
    assert_int_equal(l->state, TG_LIMIT_ON);
    assert_int_equal(l->n, 1);
    assert_int_equal(l->v[0].n, 1);
    return &l->v[0].bound[0];
}

/* ---- values ---- */

TEST(bounds_in_the_metrics_unit)
{
    static const struct {
        const char *metric, *bound;
        enum tg_bound_kind kind;
        double value;
        bool of_step, is_auto;
    } cases[] = {
        { "step_time", "pct: 10%", TG_BOUND_PCT, 10, false, false },
        { "step_time", "pct: 2.5%", TG_BOUND_PCT, 2.5, false, false },
        { "step_time", "pct: auto", TG_BOUND_PCT, 0, false, true },
        { "step_time", "abs: 200us", TG_BOUND_ABS, 200000, false, false },
        { "step_time", "abs: 0.1us", TG_BOUND_ABS, 100, false, false },
        { "step_time", "abs: 1.1ms", TG_BOUND_ABS, 1100000, false, false },
        { "step_time", "abs: 3\xC2\xB5s", TG_BOUND_ABS, 3000, false, false },
        { "step_time", "abs: 0.2%step", TG_BOUND_ABS, 0.2, true, false },
        { "step_time", "abs: 0", TG_BOUND_ABS, 0, false, false },
        { "step_time", "max: 2s", TG_BOUND_MAX, 2e9, false, false },
        { "step_time", "min: 7ns", TG_BOUND_MIN, 7, false, false },
        { "launch_count", "abs: +2", TG_BOUND_ABS, 2, false, false },
        { "launch_count", "pct: 007%", TG_BOUND_PCT, 7, false, false },
        { "mem_peak", "abs: 256MiB", TG_BOUND_ABS, 268435456, false, false },
        { "mem_peak", "max: 1GB", TG_BOUND_MAX, 1e9, false, false },
        { "idle", "pp: 3pp", TG_BOUND_PP, 3, false, false },
        { "idle", "max: 35%", TG_BOUND_MAX, 35, false, false },
        { "skew", "max: 8%", TG_BOUND_MAX, 8, false, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        AUTO_DIAGS d = no_diags();
        (void)snprintf(text, sizeof text, V "rules: [{id: a, metric: %s, fail: {%s}}]\n",
                       cases[i].metric, cases[i].bound);
        AUTO_POLICY *p = must_load(text, &d);
        const struct tg_bound *b = only(&p->rules[0].fail);
        assert_int_equal(b->kind, cases[i].kind);
        assert_int_equal(b->of_step, cases[i].of_step);
        assert_int_equal(b->is_auto, cases[i].is_auto);
        assert_true(b->value == cases[i].value); /* exact: the last digit decides a verdict */
        assert_int_equal(b->at.line, 2);
    }
}

TEST(a_rule_with_everything)
{
    static const char text[] = V
        "rules:\n"
        "  - id: kernel-time\n" /* line 3 */
        "    why: no slower kernels\n"
        "    owner: perf-team\n"
        "    match: {kind: [kernel, memcpy], name: [\"*gemm*\", /^void/], class: compute,\n"
        "            family: gemm, parent: \"aten::*\", device: 0, stream: [7, 9], rank: [0, 3],\n"
        "            not: {class: comm, raw_name: x}}\n"
        "    metric: total\n"
        "    direction: both\n"
        "    warn: {pct: 5%, abs: 1us}\n"
        "    fail:\n"
        "      - {pct: 10%, abs: 0.2%step}\n"
        "      - {max: 5ms}\n" /* line 14 */
        "    overrides:\n"
        "      - match: {name: \"triton_red_*\"}\n"
        "        fail: {pct: 15%}\n"
        "        noise: {min_runs: 5}\n"
        "      - {match: {name: y}, warn: off}\n"
        "    noise: {test: none, min_steps: 7}\n"
        "    optional: true\n"
        "    unjudged: note\n"
        "    when: {event: pull_request, branch: [main, \"release/*\"], device: \"*H100*\"}\n";

    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(text, &d);
    assert_int_equal(p->n_rules, 1);
    const struct tg_rule *r = &p->rules[0];
    assert_sv_is(r->id, "kernel-time");
    assert_sv_is(r->why, "no slower kernels");
    assert_sv_is(r->owner, "perf-team");
    assert_int_equal(r->at.line, 3);
    assert_int_equal(r->at.col, 9);
    assert_string_equal(r->at.file, ".tracegate.yml");
    assert_int_equal(r->match.kinds, 1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY);
    assert_int_equal(r->match.classes, 1u << TG_CLASS_COMPUTE);
    assert_int_equal(r->match.families, 1u << TG_MATCH_FAMILY_GEMM);
    assert_int_equal(r->match.name.n, 2);
    assert_int_equal(tg_patterns_test(&r->match.name, TG_SV("my gemm 1")), TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&r->match.name, TG_SV("void f()")), TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&r->match.name, TG_SV("avoid")), TG_HIT_NO);
    assert_int_equal(r->match.parent.n, 1);
    assert_int_equal(r->match.devices.n, 1);
    assert_int_equal(r->match.streams.v[1], 9);
    assert_int_equal(r->match.rank, TG_MATCH_RANK_LIST);
    assert_int_equal(r->match.ranks.v[1], 3);
    assert_non_null(r->match.not_);
    assert_int_equal(r->match.not_->classes, 1u << TG_CLASS_COMM);
    assert_int_equal(r->match.not_->raw_name.n, 1);
    assert_int_equal(r->metric, TG_RULE_METRIC_TOTAL);
    assert_int_equal(r->bad, TG_ANY_IS_BAD);
    assert_int_equal(r->warn.n, 1);
    assert_int_equal(r->warn.v[0].n, 2);
    assert_int_equal(r->fail.n, 2);
    assert_int_equal(r->fail.v[1].at.line, 14);
    assert_int_equal(r->n_overrides, 2);
    assert_int_equal(r->overrides[0].warn.state, TG_LIMIT_UNSET);
    assert_true(only(&r->overrides[0].fail)->value == 15);
    assert_true(r->overrides[0].has_noise);
    assert_int_equal(r->overrides[0].noise.min_runs, 5);
    assert_int_equal(r->overrides[0].noise.test, TG_NOISE_NONE); /* the rule's */
    assert_int_equal(r->overrides[1].warn.state, TG_LIMIT_OFF);
    assert_false(r->overrides[1].has_noise);
    assert_int_equal(r->noise.test, TG_NOISE_NONE);
    assert_int_equal(r->noise.min_steps, 7);
    assert_int_equal(r->noise.min_runs, 3); /* the built-in one */
    assert_true(r->optional && r->unjudged_note);
    assert_true(r->when.present);
    assert_int_equal(r->when.branch.n, 2);
}

TEST(defaults_without_a_word)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(V "rules: [{id: a, metric: comm_overlap, warn: {pp: 1pp}}]\n", &d);
    assert_int_equal(p->n_suites, 0);
    assert_int_equal(p->baseline.ref, TG_REF_MERGE_BASE);
    assert_int_equal(p->baseline.max_walk, 50);
    assert_int_equal(p->baseline.target.n, 0);
    assert_int_equal(p->baseline.on_first_run, TG_ON_MISSING_PASS);
    assert_int_equal(p->baseline.on_lost, TG_ON_MISSING_INCONCLUSIVE);
    assert_int_equal(p->baseline.require_same,
                     1u << TG_SAME_DEVICE | 1u << TG_SAME_WORLD_SIZE | 1u << TG_SAME_CUDA_MAJOR);
    assert_true(p->require.collapse);
    assert_int_equal(p->require.steps, 0);
    assert_int_equal(p->noise.test, TG_NOISE_RUNS);
    assert_int_equal(p->noise.min_runs, 3);
    assert_true(p->noise.drift == 10);
    assert_int_equal(tg_patterns_test(&p->noise.ignore, TG_SV("cudaEventQuery")), TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&p->noise.ignore, TG_SV("hipStreamQuery")), TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&p->noise.ignore, TG_SV("cudaStreamGetCaptureInfo_v2")),
                     TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&p->noise.ignore, TG_SV("cudaStreamSynchronize")), TG_HIT_NO);
    assert_int_equal(p->report.top, 10);
    assert_int_equal(p->report.junit_max, 500);
    assert_int_equal(p->fail_on, TG_FAIL_ON_FAIL);
    assert_int_equal(p->rules[0].bad, TG_LESS_IS_BAD); /* overlap: more is better */
    assert_false(p->rules[0].match.present);
}

TEST(suites_and_settings)
{
    static const char text[] =
        V "suites:\n"
          "  - name: decode\n"
          "    trace: {files: \"out/*.json.gz\", rank: 'rank(\\d+)', run: 'run(\\d+)'}\n"
          "    baseline: perf/*.json.gz\n"
          "    ranks: {expect: 8}\n"
          "    window: {by: annotation, name: \"execute_*\", skip_first: 2, skip_last: 1}\n"
          "  - {name: train, trace: out.json, baseline: stored, window: {by: ProfilerStep}}\n"
          "baseline: {ref: window(20), target: develop, max_walk: 7, on_first_run: fail, on_lost: "
          "pass,\n"
          "           require_same: [cpu]}\n"
          "require: {steps: 3, kernels: 100, ops: [\"*flash*\"], collapse: off}\n"
          "aliases: [{from: old, to: new}]\n"
          "report: {top: 3, junit_max: 9}\n"
          "ab: {detect: 10%, budget: 5min, max_runs: 11}\n"
          "fail_on: [warn, inconclusive]\n";
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(text, &d);
    const struct tg_suite *s = &p->suites[0];
    tg_sv group;
    assert_int_equal(p->n_suites, 2);
    assert_sv_is(s->name, "decode");
    assert_sv_is(s->trace.files, "out/*.json.gz");
    assert_true(tg_pattern_group(s->trace.rank_pattern, TG_SV("out/rank12.run3.json"), &group));
    assert_sv_is(group, "12");
    assert_true(tg_pattern_group(s->trace.run_pattern, TG_SV("out/rank12.run3.json"), &group));
    assert_sv_is(group, "3");
    assert_false(tg_pattern_group(s->trace.rank_pattern, TG_SV("out/3.json"), &group));
    assert_sv_is(s->baseline, "perf/*.json.gz");
    assert_int_equal(s->ranks_expect, 8);
    assert_int_equal(s->window.by, TG_BY_ANNOTATION);
    assert_int_equal(tg_pattern_test(s->window.name, TG_SV("execute_9")), TG_HIT_YES);
    assert_int_equal(s->window.skip_first, 2);
    assert_int_equal(s->window.skip_last, 1);
    assert_sv_is(p->suites[1].baseline, "");
    assert_int_equal(p->suites[1].window.by, TG_BY_PROFILER_STEP);
    assert_int_equal(p->baseline.ref, TG_REF_WINDOW);
    assert_int_equal(p->baseline.ref_window, 20);
    assert_sv_is(p->baseline.target, "develop");
    assert_int_equal(p->baseline.max_walk, 7);
    assert_int_equal(p->baseline.on_first_run, TG_ON_MISSING_FAIL);
    assert_int_equal(p->baseline.on_lost, TG_ON_MISSING_PASS);
    assert_int_equal(p->baseline.require_same, 1u << TG_SAME_CPU);
    assert_int_equal(p->require.steps, 3);
    assert_int_equal(p->require.kernels, 100);
    assert_int_equal(p->require.ops.n, 1);
    assert_false(p->require.collapse);
    assert_int_equal(p->n_aliases, 1);
    assert_sv_is(p->aliases[0].to, "new");
    assert_sv_is(p->ab.detect, "10%");
    assert_sv_is(p->ab.budget, "5min");
    assert_int_equal(p->ab.max_runs, 11);
    assert_int_equal(p->fail_on, TG_FAIL_ON_FAIL | TG_FAIL_ON_WARN | TG_FAIL_ON_INCONCLUSIVE);
}

TEST(waivers_are_kept)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(
        V "rules: [{id: slow, match: {kind: op}, metric: total, fail: {pct: 5%, abs: 1us}}]\n"
          "waivers:\n"
          "  - {rule: slow, name: \"aten::*\", many: true, ceiling: {pct: 18%}, reason: accepted,\n"
          "     issue: \"https://example.org/1\", owner: me, expires: 2026-08-01,\n"
          "     when: {device: \"*H100*\"}}\n",
        &d);
    assert_int_equal(p->n_waivers, 1);
    const struct tg_waiver *w = &p->waivers[0];
    assert_sv_is(w->rule, "slow");
    assert_sv_is(w->name_text, "aten::*");
    assert_true(w->many);
    assert_int_equal(tg_pattern_test(w->name, TG_SV("aten::mm")), TG_HIT_YES);
    assert_int_equal(w->ceiling.n, 1);
    assert_true(w->ceiling.bound[0].value == 18);
    assert_int_equal(w->expires, TEST_TODAY + 31); /* July has 31 days */
    assert_true(w->when.present);
}

/* ---- layers ---- */

TEST(the_built_in_policy)
{
    AUTO_DIAGS d = no_diags();
    struct tg_err err = TG_ERR_INIT;
    struct tg_policy_opts o = { .today = TEST_TODAY };
    AUTO_POLICY *p = tg_policy_load(&o, &d, &err);
    assert_non_null(p);
    assert_int_equal(d.n, 0);
    assert_true(p->built_in);
    assert_int_equal(p->n_rules, 14);
    for (size_t i = 0; i < p->n_rules; i++) {
        assert_true(p->rules[i].optional && p->rules[i].unjudged_note);
        assert_true(p->rules[i].why.n > 0);
        assert_string_equal(p->rules[i].at.file, "tracegate:recommended");
    }
    assert_true(only(&rule(p, "new-work")->fail)->value == 0);
    assert_true(rule(p, "slower")->fail.v[0].bound[0].is_auto);
    assert_int_equal(rule(p, "collectives")->match.rank, TG_MATCH_RANK_EACH);
    assert_int_equal(rule(p, "collectives")->bad, TG_ANY_IS_BAD);
    assert_int_equal(rule(p, "less-work")->bad, TG_LESS_IS_BAD);
    assert_int_equal(rule(p, "less-work")->fail.state, TG_LIMIT_UNSET);
    tg_policy_lint(p, NULL, 0, &d);
    assert_int_equal(d.n, 0); /* what everyone runs is not warned about */
}

TEST(presets)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *counts = must_load(V "extends: [tracegate:counts-only]\n", &d);
    AUTO_POLICY *advice = must_load(V "extends: [tracegate:advisory]\n", &d);
    /* count: new-work, new-sync, new-calls, collectives, less-work; more-bytes; attributes:
     * launch-config, input-types, input-shapes */
    assert_int_equal(counts->n_rules, 9);
    assert_null(rule(counts, "slower"));
    assert_int_equal(rule(counts, "new-sync")->fail.state, TG_LIMIT_ON);
    assert_int_equal(advice->n_rules, 14);
    for (size_t i = 0; i < advice->n_rules; i++) {
        assert_int_equal(advice->rules[i].fail.state, TG_LIMIT_UNSET);
        assert_int_equal(advice->rules[i].warn.state, TG_LIMIT_ON);
    }
}

/* The program of these tests judges by decisions 7. */
TEST(the_number_of_the_decisions)
{
    static const struct {
        const char *main, *layer;
        unsigned errors, line;
    } cases[] = {
        { V, V, 0, 0 },
        { V "decisions: 7\n", V, 0, 0 },
        { V "decisions: 6\n", V, 1, 2 },
        { V "decisions: 8\n", V, 1, 2 },
        { V "extends: [base.yml]\n", V "decisions: 6\n", 1, 2 },
        { V "extends: [base.yml]\n", V "decisions: 7\n", 0, 0 },
        { V "extends: [base.yml]\ndecisions: 7\n", V "decisions: 6\n", 0, 0 },
        { V "extends: [base.yml]\ndecisions: 6\n", V "decisions: 7\n", 1, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct memory_file files[] = { { ".tracegate.yml", cases[i].main, 0 },
                                             { "base.yml", cases[i].layer, 0 } };
        AUTO_DIAGS d = no_diags();
        AUTO_POLICY *p = load_files(files, 2, NULL, &d);
        assert_int_equal(d.errors, cases[i].errors);
        if (d.errors) {
            assert_int_equal(d.v[0].code, TG_DIAG_DECISIONS);
            assert_int_equal(d.v[0].at.line, cases[i].line);
            assert_true(tg_sv_has(d.v[0].fix, TG_SV("decisions: 7")));
        }
    }
}

/* Two policies are compared whatever program they were written for. */
TEST(another_number_where_nothing_is_judged)
{
    const struct memory_file file = { ".tracegate.yml", V "decisions: 6\n", 0 };
    struct memory m = { &file, 1 };
    const struct tg_policy_opts o = { .path = file.path, .read = memory_read, .read_arg = &m };
    AUTO_DIAGS d = no_diags();
    struct tg_err err = TG_ERR_INIT;
    AUTO_POLICY *p = tg_policy_load(&o, &d, &err);
    assert_non_null(p);
    assert_int_equal(d.n, 0);
}

TEST(later_layers_win_per_key)
{
    const struct memory_file files[] = {
        { "ci/policy.yml",
          V "extends: [tracegate:recommended, base/one.yml, ../two.yml]\n"
            "report: {top: 7}\n"
            "suites: [{name: a, trace: mine.json}]\n"
            "rules:\n"
            "  - {id: slower, fail: {pct: 4%}}\n" /* line 6 */
            "  - {id: own, metric: idle, fail: {max: 9%}}\n",
          0 },
        { "ci/base/one.yml",
          V "report: {top: 1, junit_max: 11}\nnoise: {min_runs: 4}\n"
            "suites: [{name: a, trace: one.json, baseline: b.json}, {name: c}]\n"
            "rules: [{id: shared, metric: skew, why: first, fail: {max: 1%}}]\n"
            "aliases: [{from: a, to: b}]\n",
          0 },
        { "two.yml",
          V "extends: [three.yml]\nnoise: {drift: 3%}\naliases: [{from: c, to: d}]\n"
            "rules: [{id: shared, why: second}]\n",
          0 },
        { "three.yml", V "require: {steps: 5}\n", 0 },
    };
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = load_files(files, 4, NULL, &d);
    if (!p)
        print_diags(&d);
    assert_non_null(p);
    assert_int_equal(p->report.top, 7);
    assert_int_equal(p->report.junit_max, 11);
    assert_int_equal(p->noise.min_runs, 4);
    assert_true(p->noise.drift == 3);
    assert_int_equal(p->require.steps, 5);
    assert_string_equal(p->require.steps_at.file, "three.yml");
    assert_int_equal(p->n_aliases, 2);
    assert_int_equal(p->n_suites, 2);
    assert_sv_is(p->suites[0].trace.files, "mine.json");
    assert_sv_is(p->suites[0].baseline, "b.json");
    assert_int_equal(p->n_rules, 14 + 2);
    const struct tg_rule *slower = rule(p, "slower"), *shared = rule(p, "shared");
    assert_true(slower == &p->rules[6]);          /* keeps its place */
    assert_true(only(&slower->fail)->value == 4); /* a limit is replaced whole: no inherited abs */
    assert_int_equal(slower->match.kinds, 1u << TG_KIND_KERNEL | 1u << TG_KIND_OP);
    assert_string_equal(slower->at.file, "ci/policy.yml");
    assert_int_equal(slower->at.line, 6);
    assert_sv_is(shared->why, "second");
    assert_int_equal(shared->metric, TG_RULE_METRIC_SKEW);
    assert_int_equal(rule(p, "own")->noise.min_runs, 4);
}

TEST(rules_are_removed_and_added)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(
        V "extends: [tracegate:recommended]\n"
          "rules: {remove: [slower, step], add: [{id: own, metric: idle, fail: {max: 9%}}]}\n",
        &d);
    assert_int_equal(p->n_rules, 14 - 2 + 1);
    assert_null(rule(p, "slower"));
    assert_non_null(rule(p, "own"));
    assert_int_equal(p->n_removed, 2);
    assert_sv_is(p->removed[1], "step");
}

static const char profiles[] = V "rules: [{id: a, metric: step_time, fail: {pct: 10%, abs: 1us}}]\n"
                                 "profiles:\n"
                                 "  pr: {report: {top: 2}}\n"
                                 "  nightly:\n"
                                 "    noise: {min_steps: 10}\n"
                                 "    rules:\n"
                                 "      - {id: a, fail: {pct: 4%, abs: 1us}}\n"
                                 "      - {id: drift, metric: idle, fail: {pp: 1pp}}\n";

TEST(profiles_are_later_layers)
{
    const struct memory_file f = { "p.yml", profiles, 0 };
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = load_files(&f, 1, "nightly", &d);
    AUTO_POLICY *plain = load_files(&f, 1, NULL, &d);
    assert_non_null(p);
    assert_sv_is(p->profile, "nightly");
    assert_int_equal(p->n_rules, 2);
    assert_true(p->rules[0].fail.v[0].bound[0].value == 4);
    assert_int_equal(p->rules[1].noise.min_steps, 10);
    assert_int_equal(p->report.top, 10);
    assert_int_equal(plain->n_rules, 1);
    assert_int_equal(plain->noise.min_steps, 0);
    assert_null(load_files(&f, 1, "nightli", &d));
    assert_int_equal(d.v[0].code, TG_DIAG_PROFILE);
    assert_sv_is(d.v[0].fix, "did you mean 'nightly'?");
    assert_string_equal(tg_policy_profile_for("schedule"), "nightly");
    assert_string_equal(tg_policy_profile_for("merge_group"), "pr");
    assert_null(tg_policy_profile_for("push"));
}

/* What one of `baselines` does not say is as in `baseline`; a view has its settings and its
 * rules. */
TEST(several_baselines)
{
    AUTO_DIAGS d = no_diags();
    TG_ARENA *a = tg_arena_new();
    AUTO_POLICY *p =
        must_load(V "baseline: {ref: parent, max_walk: 7, on_lost: fail, require_same: [cpu]}\n"
                    "baselines:\n"
                    "  - {name: release, ref: release(v*), on_lost: pass}\n"
                    "  - {name: old, ref: v1, require_same: []}\n"
                    "  - {name: unused}\n"
                    "rules:\n"
                    "  - {id: a, metric: idle, fail: {pp: 1pp}}\n"
                    "  - {id: b, metric: idle, fail: {pp: 2pp}, against: release}\n"
                    "  - {id: c, metric: idle, fail: {pp: 3pp}, against: [old, baseline]}\n",
                  &d);
    assert_int_equal(p->n_baselines, 3);
    assert_sv_is(p->baselines[0].name, "release");
    assert_int_equal(p->baselines[0].ref, TG_REF_RELEASE);
    assert_sv_is(p->baselines[0].ref_name, "v*");
    assert_int_equal(p->baselines[0].max_walk, 7);
    assert_int_equal(p->baselines[0].on_lost, TG_ON_MISSING_PASS);
    assert_int_equal(p->baselines[0].require_same, 1u << TG_SAME_CPU);
    assert_int_equal(p->baselines[1].ref, TG_REF_NAMED);
    assert_int_equal(p->baselines[1].on_lost, TG_ON_MISSING_FAIL);
    assert_int_equal(p->baselines[1].require_same, 0);
    assert_int_equal(p->baselines[2].ref, TG_REF_PARENT);
    assert_int_equal(p->rules[0].against, 1);
    assert_int_equal(p->rules[1].against, 2);
    assert_int_equal(p->rules[2].against, 5);
    for (size_t i = 0; i < 4; i++) {
        static const size_t rules[] = { 2, 1, 1, 0 };
        const struct tg_policy *one = tg_policy_against(p, i, a);
        assert_int_equal(one->n_rules, rules[i]);
        assert_int_equal(tg_policy_has_baseline(p, i), rules[i] > 0);
        assert_true(tg_sv_eq(one->baseline.name, i ? p->baselines[i - 1].name : TG_SV("")));
    }
    AUTO_POLICY *bare = must_load(V "baselines: [{name: r}]\n", &d); /* `baseline` says so */
    assert_true(tg_policy_has_baseline(bare, 0) && !tg_policy_has_baseline(bare, 1));
}

/* The presets' nightly profile comes with `extends` alone. */
TEST(presets_have_a_nightly_profile)
{
    const struct memory_file own = { "p.yml", V "extends: [tracegate:recommended]\n", 0 },
                             bare = { "p.yml", V "report: {top: 2}\n", 0 },
                             counts = { "p.yml", V "extends: [tracegate:counts-only]\n", 0 },
                             advice = { "p.yml", V "extends: [tracegate:advisory]\n", 0 };
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = load_files(&own, 1, "nightly", &d);
    AUTO_POLICY *counting = load_files(&counts, 1, "nightly", &d);
    AUTO_POLICY *advising = load_files(&advice, 1, "nightly", &d);
    assert_int_equal(p->n_baselines, 2);
    assert_true(tg_policy_is_built_in(&p->baselines[0].at));
    assert_int_equal(rule(p, "slower-recent")->fail.state, TG_LIMIT_ON);
    assert_int_equal(rule(p, "since-release")->fail.state, TG_LIMIT_UNSET);
    assert_null(rule(counting, "slower-recent"));
    assert_non_null(rule(counting, "work-since-release"));
    assert_int_equal(rule(advising, "slower-recent")->fail.state, TG_LIMIT_UNSET);
    assert_null(load_files(&bare, 1, "nightly", &d));
}

/* This mistake and no other. */
static void refused(const struct memory_file *v, size_t n, enum tg_diag_code code, const char *file,
                    uint32_t line)
{
    AUTO_DIAGS d = no_diags();
    assert_null(load_files(v, n, NULL, &d));
    assert_int_equal(d.n, 1);
    assert_int_equal(d.v[0].code, code);
    assert_string_equal(d.v[0].at.file, file);
    assert_int_equal(d.v[0].at.line, line);
}

/*
 * A profile that nobody selected, and a layer that a later one hides, must be right all the same.
 */
TEST(hidden_mistakes_are_found)
{
    const struct memory_file profile = {
        "p.yml", V "profiles:\n  nightly:\n    rules: [{id: a, metric: idle, fail: {pct: 1%}}]\n", 0
    };
    const struct memory_file layers[] = {
        { "p.yml", V "extends: [b.yml]\nrules: [{id: a, fail: {pp: 1pp}}]\n", 0 },
        { "b.yml", V "rules: [{id: a, metric: idle, fail: {pct: 1%}}]\n", 0 },
    };
    refused(&profile, 1, TG_DIAG_PCT_OF_PERCENT, "p.yml", 4);
    refused(layers, 2, TG_DIAG_PCT_OF_PERCENT, "b.yml", 2);
}

TEST(cycles_and_depth)
{
    const struct memory_file cycle[] = {
        { "p.yml", V "extends: [b.yml]\n", 0 },
        { "b.yml", V "extends: [./x/../p.yml]\n", 0 },
    };
    refused(cycle, 2, TG_DIAG_EXTENDS_CYCLE, "b.yml", 2);

    /* f0 extends f1 ... f8: eight files are allowed, the ninth is one too many. */
    char text[10][64], path[10][16];
    struct memory_file deep[10];
    for (int i = 0; i < 10; i++) {
        (void)snprintf(path[i], sizeof path[i], "f%d.yml", i);
        (void)snprintf(text[i], sizeof text[i], V "extends: [f%d.yml]\n", i + 1);
        deep[i] = (struct memory_file){ path[i], text[i], 0 };
    }
    deep[8].text = V;
    refused(deep, 9, TG_DIAG_EXTENDS_DEPTH, "f7.yml", 2);
    deep[7].text = V;
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = load_files(deep, 8, NULL, &d);
    assert_non_null(p);
}

/* ---- bombs ---- */

static void expect_code(const char *text, size_t n, enum tg_diag_code code)
{
    const struct memory_file f = { "p.yml", text, n };
    AUTO_DIAGS d = no_diags();
    bool found = false;
    assert_null(load_files(&f, 1, NULL, &d));
    for (size_t i = 0; i < d.n; i++)
        found = found || d.v[i].code == code;
    if (!found)
        print_diags(&d);
    assert_true(found);
}

/* 9 levels of 9 aliases each: 9^9 values if they were expanded. */
TEST(alias_bomb)
{
    TG_BUF b = { 0 };
    tg_buf_puts(&b, V "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
        tg_buf_printf(&b, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            tg_buf_printf(&b, "%s*a%d", k ? "," : "", i - 1);
        tg_buf_puts(&b, "]\n");
    }
    expect_code(b.p, b.n, TG_DIAG_ALIAS);
}

TEST(nesting_bomb)
{
    TG_BUF b = { 0 };
    tg_buf_puts(&b, V "suites: ");
    for (int i = 0; i < 100000; i++)
        tg_buf_putc(&b, '[');
    expect_code(b.p, b.n, TG_DIAG_DEPTH);
}

TEST(too_many_values)
{
    TG_BUF b = { 0 };
    tg_buf_puts(&b, V "suites: [");
    for (unsigned i = 0; i <= TG_YAML_NODES; i++)
        tg_buf_puts(&b, "a,");
    tg_buf_puts(&b, "]\n");
    expect_code(b.p, b.n, TG_DIAG_NODES);
    tg_buf_clear(&b);
    tg_buf_puts(&b, V);
    for (int i = 0; i < 1001; i++)
        tg_buf_printf(&b, "k%d: 1\n", i);
    expect_code(b.p, b.n, TG_DIAG_NODES);
}

TEST(size_limit)
{
    size_t max = TG_LIMITS_DEFAULT.max_policy;
    TG_BUF b = { 0 };
    AUTO_DIAGS d = no_diags();
    tg_buf_puts(&b, V "#");
    while (b.n < max)
        tg_buf_putc(&b, 'x');
    AUTO_POLICY *p = load_text(b.p, &d);
    assert_non_null(p);
    tg_buf_putc(&b, 'x');
    expect_code(b.p, b.n, TG_DIAG_READ);
}

/*
 * Each byte alone, and in the middle of a value: no crash, and never a policy from a control byte.
 */
TEST(hostile_bytes)
{
    for (int c = 0; c < 256; c++) {
        char text[] = V "rules: [{id: a, metric: idle, why: \"x?y\", fail: {pp: 1pp}}]\n";
        const struct memory_file f = { "p.yml", text, sizeof text - 1 };
        AUTO_DIAGS d = no_diags();
        *strchr(text, '?') = (char)c;
        AUTO_POLICY *p = load_files(&f, 1, NULL, &d);
        bool harmless = c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
        bool line_break = c == '\n' || c == '\r';
        if ((p != NULL) != (harmless || line_break))
            fail_msg("byte 0x%02x", (unsigned)c);
    }
}

/* Texts that only look like numbers, words or nulls in YAML 1.1 stay what they are. */
TEST(scalars_are_typed_by_us)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p =
        must_load(V "rules:\n"
                    "  - {id: no, metric: idle, why: 0x10, owner: on, fail: {pp: 1pp}}\n"
                    "  - {id: 1-30, metric: idle, why: 1_000, owner: ~, fail: off}\n"
                    "  - {id: 007, metric: idle, why: 1:30, fail: off}\n",
                  &d);
    assert_sv_is(p->rules[0].id, "no");
    assert_sv_is(p->rules[0].why, "0x10");
    assert_sv_is(p->rules[0].owner, "on");
    assert_sv_is(p->rules[1].why, "1_000");
    assert_sv_is(p->rules[1].owner, "~");
    assert_sv_is(p->rules[2].id, "007");
    assert_sv_is(p->rules[2].why, "1:30");
}

/* CR LF files, a byte order mark and a missing last line end change nothing. */
TEST(line_ends_and_marks)
{
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(
        "\xEF\xBB\xBFversion: 1\r\nrules:\r\n  - {id: a, metric: idle, fail: {pp: 1pp}}", &d);
    assert_int_equal(p->rules[0].at.line, 3);
    assert_int_equal(p->rules[0].at.col, 10);
}
