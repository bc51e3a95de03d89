#!/usr/bin/env python3
"""Guards, outcomes and exit codes: each `require`, each `fail_on`, waivers by date and ceiling, and what the reports say.

A row is a policy, what the fresh side does more or less, and the verdict that docs/policy.md gives it. Each guard has a row
in which it speaks and one just inside its limit. That all reports tell the same verdict, and more outcomes: agree.py.
"""
import json

from support import DATED, Repository, expect, expect_has, read_json, run_parts, tracegate, write_text
from plain_model import Work, trace, usual, write_run

RULE = "rules: [{id: work, match: {kind: [kernel, memcpy, memset, graph, op, sync]}, metric: count, %s}]\n"
OPS = RULE.replace("kernel, memcpy, memset, graph, op, sync", "op")
ABS = RULE % "fail: {abs: 0}"
WARNS = RULE % "warn: {abs: 0}"
WAIVER = "waivers:\n  - {rule: work, name: '%s', %sceiling: {abs: %d}, reason: because, owner: me, expires: %s}\n"
PATTERN = "  - {rule: work, name: 'aten::*', many: true, ceiling: {abs: %d}, reason: because, expires: %s}\n"
FOR = "rules: [{id: work, match: {%s}, metric: count, fail: {abs: 0}}]\n"
TIMES = "rules:\n  - {id: t, match: {kind: kernel}, metric: self, fail: {pct: 10%}}\n"
OTHER = "  - {id: n, match: {kind: kernel}, metric: count, fail: {abs: 0}}\n"
MORE, TWO = [Work("aten::op3")], [Work("aten::op3")] * 2
KERNEL = usual() + [Work("aten::op3", "kernel", "void kern3(float*)", 20)]
CODES = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 4}
STEPS, KERNELS = 4, 12  # of usual()


def half(work, keep=5):
    """Without most kernels: their operators stay."""
    return [w if w.sort != "kernel" or i <= keep else Work(w.op) for i, w in enumerate(work)]


ROWS = [  # (what, policy, work of a fresh step, verdict, what the headline says)
    ("nothing more", ABS, usual(), "pass", "no regression found"),
    ("one more", ABS, usual() + MORE, "fail", "aten::op3 +1 call"),
    ("require.steps", ABS + f"require: {{steps: {STEPS + 1}}}", usual(), "inconclusive",
     f"the fresh trace has {STEPS} steps, required are {STEPS + 1}"),
    ("require.steps, just enough", ABS + f"require: {{steps: {STEPS}}}", usual(), "pass", ""),
    ("require.kernels", ABS + f"require: {{kernels: {KERNELS + 1}}}", usual(), "inconclusive",
     f"the fresh trace has {KERNELS} kernels per step, required are {KERNELS + 1}"),
    ("require.kernels, just enough", ABS + f"require: {{kernels: {KERNELS}}}", usual(), "pass", ""),
    ("require.ops", ABS + "require: {ops: ['aten::op1', 'flash*']}", usual(), "inconclusive",
     "required name 'flash*' is not in the fresh trace"),
    ("require.ops, all there", ABS + "require: {ops: ['aten::op1', 'aten::*']}", usual(), "pass", ""),
    ("require.ops, gone on the fresh side", ABS + "require: {ops: ['aten::op11']}", usual()[:-3] + usual()[-2:], "inconclusive",
     "required name 'aten::op11' is not in the fresh trace"),
    ("require.detectable, one run", ABS + "require: {detectable: 20%}", usual(), "inconclusive", "step time is not judged: too few runs"),
    ("require.collapse", ABS, half(usual()), "inconclusive", "more than half of the kernels are gone"),
    ("require.collapse, off", ABS + "require: {collapse: off}", half(usual()), "pass", ""),
    ("require.collapse, half stay", ABS, half(usual(), 6), "pass", ""),
    ("require.collapse, graphs came in their place", ABS, half(usual()) + [Work("aten::op3", "graph")], "fail", ""),
    ("two guards", ABS + "require: {steps: 99, kernels: 99}", usual(), "inconclusive", "required are 99"),
    ("a warning", WARNS, usual() + MORE, "warn", "1 warning"),
    ("fail_on inconclusive, nothing more", ABS + "fail_on: [fail, inconclusive]", usual(), "pass", ""),
    ("fail_on warn, a guard", ABS + "require: {steps: 99}\nfail_on: [fail, warn]", usual(), "inconclusive", ""),
    ("a rule without a match, optional", ABS[:-2] + ", {id: o, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: true}]\n",
     usual(), "pass", ""),
    ("every limit off", RULE % "fail: off", usual(), "inconclusive", ""),
    ("a rule that is for another branch", ABS[:-3] + ", when: {branch: 'release/*'}}]\n", usual() + MORE, "inconclusive", ""),
    ("a waiver that ended yesterday", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-01"), usual() + MORE, "fail", ""),
    ("a waiver above its ceiling", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-02"), usual() + TWO, "fail", "aten::op3 +2 calls"),
    ("two waivers, one expired", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-02") + PATTERN % (9, "2026-01-01"), usual() + MORE, "pass", ""),
    ("two waivers, the other order", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-01") + PATTERN % (9, "2026-01-02"), usual() + MORE, "pass", ""),
    ("two waivers, one too low", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-02") + PATTERN % (2, "2026-01-02"), usual() + TWO, "pass", ""),
    ("two waivers, both too low", ABS + WAIVER % ("aten::op3", "", 1, "2026-01-02") + PATTERN % (1, "2026-01-02"), usual() + TWO, "fail", ""),
    ("a waiver for another name", ABS + WAIVER % ("aten::op4", "", 1, "2026-01-02"), usual() + MORE, "fail", ""),
    ("a waiver for many", ABS + WAIVER % ("aten::*", "many: true, ", 1, "2026-01-02"), usual() + MORE, "pass", ""),
    ("a waiver for many that none matches", ABS + WAIVER % ("lib::*", "many: true, ", 1, "2026-01-02"), usual() + MORE, "fail", ""),
    ("a waiver of a warning", WARNS + WAIVER % ("aten::op3", "", 1, "2026-01-02"), usual() + MORE, "warn", ""),
    ("a waiver for another rule", ABS[:-2] + ", {id: other, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: true}]\n"
     + (WAIVER % ("aten::op3", "", 1, "2026-01-02")).replace("rule: work", "rule: other"), usual() + MORE, "fail", ""),
    ("a waiver for another branch", ABS + (WAIVER % ("aten::op3", "", 1, "2026-01-02")).replace("}\n", ", when: {branch: 'release/*'}}\n"),
     usual() + MORE, "fail", ""),
    ("fail_on inconclusive, nothing judged", RULE % "fail: {abs: 0}, when: {branch: 'release/*'}" + "fail_on: [fail, inconclusive]",
     usual(), "fail", ""),
    ("fail_on suspicious, nothing slower", TIMES + OTHER + "fail_on: [fail, suspicious]", usual(), "pass", ""),
    ("match by name alone", FOR % "name: 'aten::op3'", usual() + MORE, "fail", ""),
    ("match by another name", FOR % "name: 'aten::op4'", usual() + MORE, "pass", ""),
    ("match by another kind", FOR % "kind: kernel", usual() + MORE, "pass", ""),
    ("match by raw name", FOR % "raw_name: 'void kern3(float?)'", KERNEL, "fail", ""),
    ("match by another raw name", FOR % "raw_name: 'void kern4(float?)'", KERNEL, "pass", ""),
    ("match by parent", FOR % "kind: kernel, parent: 'aten::op3'", KERNEL, "fail", ""),
    ("match by another parent", FOR % "kind: kernel, parent: 'aten::op4'", KERNEL, "pass", ""),
    ("match by class", FOR % "class: compute", KERNEL, "fail", ""),
    ("match all but a name", FOR % "kind: op, not: {name: 'aten::op3'}", usual() + MORE, "pass", ""),
    ("match all but another name", FOR % "kind: op, not: {name: 'aten::op4'}", usual() + MORE, "fail", ""),
    ("a budget that is kept", OPS % "fail: {max: 1}", usual(), "pass", ""),
    ("a budget that is broken", OPS % "fail: {max: 1}", usual() + MORE, "fail", ""),
    ("at least", "rules: [{id: r, metric: sync_count, fail: {min: 1}}]\n", usual(), "pass", ""),
    ("at least, broken", "rules: [{id: r, metric: sync_count, fail: {min: 2}}]\n", usual(), "fail", ""),
    ("two bounds, one exceeded", RULE % "fail: {pct: 50%, abs: 1}", usual() + MORE, "pass", ""),
    ("two bounds, both exceeded", RULE % "fail: {pct: 50%, abs: 1}", usual() + TWO, "fail", ""),
    ("two limits, one exceeded", RULE % "fail: [{pct: 500%}, {abs: 0}]", usual() + MORE, "fail", ""),
    ("fewer, both directions", RULE % "direction: both, fail: {abs: 0}", usual()[:3] + usual()[4:], "fail", ""),
    ("fewer, more is worse", ABS, usual()[:3] + usual()[4:], "pass", ""),
    ("an override that lets it pass", RULE % "fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}]",
     usual() + MORE, "pass", ""),
    ("an override for another name", RULE % "fail: {abs: 0}, overrides: [{match: {name: 'aten::op4'}, fail: {abs: 1}}]",
     usual() + MORE, "fail", ""),
    ("the last override wins", RULE % "fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}, "
     "{match: {kind: op}, fail: {abs: 0}}]", usual() + MORE, "fail", ""),
    ("an override of the warning alone", RULE % "fail: {abs: 1}, overrides: [{match: {name: 'aten::op3'}, warn: {abs: 0}}]",
     usual() + MORE, "warn", ""),
]


def checked(tmp, *args):
    """A check of x.json against b.json by p.yml, on 2026-01-02."""
    return tracegate("check", "x.json", "--baseline", "b.json", "--policy", "p.yml", *args, cwd=tmp, env=DATED, timeout=60)


def waivers_by_date(tmp):
    """On 2026-01-02: the last two weeks are told, and a waiver that nothing uses."""
    write_run(f"{tmp}/b.json", [usual()] * STEPS, 1)
    for last, work, says, silent in (("2026-01-16", usual() + MORE, "The waiver ends within 14 days.", "is unused"),
                                     ("2026-01-17", usual() + MORE, "waived: up to 1 call more, until", "The waiver ends within 14 days."),
                                     ("2026-01-17", usual(), "waiver for work aten::op3 is unused", "waived: up to"),
                                     ("2026-01-01", usual() + MORE, "waiver expired 1 day ago", "waived: up to"),
                                     ("2025-12-31", usual() + MORE, "waiver expired 2 days ago", "is unused")):
        write_text(f"{tmp}/p.yml", "version: 1\n" + ABS + WAIVER % ("aten::op3", "", 1, last))
        write_run(f"{tmp}/x.json", [work] * STEPS, 100_003)
        run = checked(tmp, "--json", "-")
        expect_has(f"waiver until {last}", run.stdout, says)
        expect(f"waiver until {last}: {silent}", silent in run.stdout, False)


def odd_traces(tmp):
    """What a trace itself lacks: (what, document, option, exit, what the report says)"""
    whole, unmarked = trace([usual()] * STEPS, 100_003), trace([usual()] * STEPS, 100_003, marker=None)
    begun = dict(whole, traceEvents=whole["traceEvents"] + [{"ph": "B", "cat": "cpu_op", "name": "aten::open", "pid": 10, "tid": 77,
                                                             "ts": 1100}])
    cut = json.dumps(whole)
    cut = cut[:cut.rindex("{")]
    for what, doc, options, code, says in (
            ("no markers, steps required", unmarked, [], 4, "the fresh trace has 0 steps, required are 1"),
            ("an event that never ends", begun, [], 0, "1 begin or end event of the fresh traces without a partner ignored"),
            ("a trace that is cut off", cut, [], 3, "ERROR"),
            ("a trace that is cut off, allowed", cut, ["--allow-truncated"], 0, "a fresh trace is truncated: its missing part was not judged")):
        write_text(f"{tmp}/x.json", doc if isinstance(doc, str) else json.dumps(doc))
        write_text(f"{tmp}/p.yml", "version: 1\n" + ABS + ("require: {steps: 1}\n" if "markers" in what else ""))
        write_run(f"{tmp}/b.json", [usual()] * STEPS, 1, marker=None if "markers" in what else "ProfilerStep#%d")
        run = checked(tmp, *options)
        expect(f"{what}: exit", run.returncode, code)
        expect_has(what, " ".join(run.stdout.split()), says)
        expect(f"{what}: a plain pass", run.stdout.startswith("PASS"), what == "an event that never ends")


def alone(tmp):
    """A first run, and no repository at all: what asks the fresh side alone is judged, budgets and guards."""
    recommended, budget = "extends: [tracegate:recommended]\n", "rules: [{id: g, metric: launch_count, fail: {max: %d}}]\n"
    both = "rules: [{id: g, metric: launch_count, fail: {max: %d}}, {id: k, match: {kind: op}, metric: count, fail: {abs: 0}}]\n"
    launches = sum(w.sort in ("kernel", "memcpy", "memset", "graph") for w in usual())
    first = [("nothing is asked", recommended, 0, "FIRST RUN"), ("steps", recommended + "require: {steps: 5}\n", 4, "required are 5"),
             ("steps, enough", recommended + "require: {steps: 4}\n", 0, "FIRST RUN"),
             ("kernels", recommended + "require: {kernels: 13}\n", 4, "required are 13"),
             ("ops", recommended + "require: {ops: ['flash*']}\n", 4, "required name 'flash*'"),
             ("steps, fail_on", recommended + "require: {steps: 5}\nfail_on: [fail, inconclusive]\n", 1, "required are 5"),
             ("a window that is not there", recommended + "suites: [{name: default, trace: x, window: {by: annotation, name: 'none*'}}]\n",
              4, "have no annotations 'none*'"),
             ("no step is left", recommended + "suites: [{name: default, trace: x, window: {by: ProfilerStep, skip_first: 4}}]\n", 4,
              "has no usable step"),
             ("a budget", budget % (launches - 1), 1, f"launch_count {launches} per step, 1 over the limit of {launches - 1}"),
             ("a budget that is kept", budget % launches, 0, "FIRST RUN"),
             ("a budget that cannot be judged", "rules: [{id: g, metric: mem_peak, fail: {max: 1GiB}}]\n", 4, "lack what this metric"),
             ("a budget that matches nothing", "rules: [{id: g, match: {name: none}, metric: count, fail: {max: 1}}]\n", 4, "matches no name"),
             ("the same, optional", "rules: [{id: g, match: {name: none}, metric: count, fail: {max: 1}, optional: true}]\n", 0, "FIRST RUN")]
    outside = [("budgets alone", budget % (launches - 1), 1, f"launch_count {launches} per step, 1 over the limit of {launches - 1}"),
               ("budgets alone, kept", budget % launches, 0, "PASS: every budget is kept"),
               ("budgets and changes", both % (launches - 1), 1, f"launch_count {launches} per step, 1 over the limit of {launches - 1}"),
               ("budgets and changes, kept", both % launches, 3, "is not inside a git repository"),
               ("changes alone", ABS, 3, "is not inside a git repository"),
               ("budgets alone, and a guard", budget % launches + "require: {steps: 5}\n", 4, "required are 5")]
    for where, rows in (("first run", first), ("no repository", outside)):
        folder = f"{tmp}/{where.split()[0]}"
        write_run(f"{folder}/x.json", [usual()] * STEPS, 1)
        if rows is first:
            Repository(folder).commit()
        for what, policy, code, says in rows:
            write_text(f"{folder}/p.yml", "version: 1\n" + policy)
            run = tracegate("check", "x.json", "--policy", "p.yml", "--json", "r.json", cwd=folder,
                            env=dict(DATED, GIT_CEILING_DIRECTORIES=tmp), timeout=60)
            expect(f"{where}, {what}: exit", run.returncode, code)
            expect_has(f"{where}, {what}", (run.stdout.splitlines() or [""])[0], says)
            expect(f"{where}, {what}: exit code in JSON", read_json(f"{folder}/r.json")["exit_code"], code)


def budgets(tmp):
    """Against a baseline a budget is told by value and limit, and by no change of zero calls or of a percentage from nothing."""
    write_run(f"{tmp}/b.json", [usual()] * STEPS, 1)
    write_run(f"{tmp}/x.json", [usual() + [Work(None, "graph")] * 3] * STEPS, 100_003)
    for policy, head, row in (
            ("match: {kind: graph}, metric: count, fail: {max: 1}", "cudaGraphLaunch 3, over the limit of 1",
             "cudaGraphLaunch: launched 3 times per step, 2 over the limit of 1, was 0"),
            ("match: {name: 'aten::op3'}, metric: count, fail: {min: 2}", "aten::op3 1, under the limit of 2 (the baseline was, too)",
             "aten::op3: called 1 time per step, 1 under the limit of 2, was 1 (under it, too)"),
            ("metric: launch_count, fail: {max: 16}", "launch_count 17, over the limit of 16",
             "launch_count: 17 per step, 1 over the limit of 16, was 14")):
        write_text(f"{tmp}/p.yml", "version: 1\nrules: [{id: g, %s}]\n" % policy)
        run = checked(tmp)
        expect(f"budget {policy}: exit", run.returncode, 1)
        expect(f"budget {policy}: headline", run.stdout.splitlines()[0], f"FAIL: 1 violation: {head}")
        text = " ".join(run.stdout.split())
        expect_has(f"budget {policy}", text, row, "budgets judged")


def main(tmp):
    write_run(f"{tmp}/b.json", [usual()] * STEPS, 1)
    for what, policy, work, verdict, says in ROWS:
        write_text(f"{tmp}/p.yml", "version: 1\n" + policy)
        write_run(f"{tmp}/x.json", [work] * STEPS, 100_003)
        run = checked(tmp, "--json", "-")
        report = json.loads(run.stdout or "{}")
        expect(f"{what}: {run.stderr}", (run.returncode, report.get("verdict")), (CODES[verdict], verdict))
        expect_has(what, report.get("headline", ""), verdict.upper(), says)
        expect(f"{what}: notes", "of the events of" in str(report.get("notes")), False)


run_parts(main, waivers_by_date, odd_traces, alone, budgets)
