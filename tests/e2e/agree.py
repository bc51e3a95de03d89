#!/usr/bin/env python3
"""One verdict, told eight times: for each state that a verdict can have, the exit code, the JSON, the headline in the
terminal, JUnit, Markdown, the annotations, the action's outputs and the exit code of its last step say the same.

What each state looks like everywhere is the table SAYS; which state a case has is written beside it.
"""
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

from runner import parse_env_file
from support import DATED, PROGRAM, ROOT, Repository, expect, read_json, read_text, run_parts, tracegate
from plain_model import Work, scaled, usual, write_run

# verdict: exit code, first word of the headline, sign in Markdown, JUnit (failures, errors), levels of annotations that
# must be there and must not, exit code of the action's last step. None: either, for a requirement may be unmet as well
SAYS = {
    "pass": (0, ("PASS", "FIRST RUN"), "✅", (False, False), (), ("error",), 0),
    "warn": (0, ("WARN",), "⚠️", (False, False), ("warning",), ("error",), 0),
    "fail": (1, ("FAIL",), "❌", (True, None), ("error",), (), 1),
    "inconclusive": (4, ("INCONCLUSIVE",), "❔", (False, True), ("error",), (), 0),
    "error": (3, ("ERROR",), "❌", (False, True), ("error",), (), 3),
}
SUITE = "suites: [{name: s, trace: {files: 'out/run*.json', run: 'run(\\d+)'}, baseline: 'perf/run*.json'}]\n"
PRESET = "version: 1\nextends: [tracegate:recommended]\n" + SUITE
NEW = Work("aten::new", "kernel", "void new(float*)", 30)
RULE = "rules: [{id: k, match: {kind: op%s}, metric: count, fail: {abs: 0}}]\n"
BUDGET = "version: 1\n" + SUITE + "rules: [{id: k, match: {kind: op, name: 'aten::new'}, metric: count, %s}]\n"  # MORE calls it once

GONE = "rules: [{id: gone, match: {kind: [kernel, op]}, metric: count, direction: down, warn: {abs: 0}}]\n"
SAME, MORE, LESS = (lambda: usual()), (lambda: usual() + [NEW]), (lambda: usual()[:-2] + usual()[-1:])
SLOW = (lambda: scaled(usual(), "aten::op3", 2))
NOTHING = (lambda: [Work(None)])

# name, verdict, policy, what a fresh step does, number of runs, more
CASES = [
    ("same code", "pass", PRESET, SAME, 3, {}),
    ("without a policy of its own", "pass", PRESET, SAME, 1, {}),
    ("less work", "pass", PRESET, LESS, 3, {}),
    ("less work, with a rule that warns of it", "warn", PRESET + GONE, LESS, 3, {}),
    ("a slower kernel, one run", "warn", PRESET, SLOW, 1, {}),
    ("more work", "fail", PRESET, MORE, 3, {}),
    ("a slower kernel", "fail", PRESET, SLOW, 3, {}),
    ("only a warning, all rules advise", "warn", PRESET.replace("recommended", "advisory"), MORE, 3, {}),
    ("fail_on warn", "fail", PRESET + GONE + "fail_on: [fail, warn]\n", LESS, 3, {}),
    ("fail_on suspicious", "fail", PRESET + "fail_on: [fail, suspicious]\n", SLOW, 1, {}),
    ("fail_on inconclusive, a rule", "fail", "version: 1\nfail_on: [fail, inconclusive]\n" + SUITE + RULE % ", name: none", SAME, 3, {}),
    ("fail_on inconclusive, a requirement", "fail", PRESET + "fail_on: [fail, inconclusive]\nrequire: {steps: 99}\n", SAME, 3, {}),
    ("fail_on warn, nothing to warn of", "pass", PRESET + "fail_on: [fail, warn]\n", SAME, 3, {}),
    ("a rule without a match", "inconclusive", "version: 1\n" + SUITE + RULE % ", name: none", SAME, 3, {}),
    ("the same beside a rule that judges", "inconclusive",
     PRESET + "rules: [{id: k, match: {name: none}, metric: count, fail: {abs: 0}}]\n", SAME, 3, {}),
    ("a requirement", "inconclusive", PRESET + "require: {steps: 99}\n", SAME, 3, {}),
    ("a requirement, and more work", "fail", PRESET + "require: {steps: 99}\n", MORE, 3, {}),
    ("no step left", "inconclusive", PRESET.replace("baseline: ", "window: {by: ProfilerStep, skip_first: 9}, baseline: "), MORE, 3, {}),
    ("no rules", "inconclusive", "version: 1\n" + SUITE, MORE, 3, {}),
    ("no work in the fresh traces", "inconclusive", PRESET, NOTHING, 3, {}),
    ("a waiver", "pass", "version: 1\n" + SUITE + RULE % "" + "waivers: [{rule: k, name: 'aten::new', ceiling: {abs: 5}, "
     "reason: r, expires: 2026-02-01}]\n", MORE, 3, {}),
    ("lost", "inconclusive", PRESET, SAME, 3, {"lost": True}),
    ("lost, on_lost: pass", "pass", PRESET + "baseline: {on_lost: pass}\n", SAME, 3, {"lost": True}),
    ("lost, on_lost: fail", "fail", PRESET + "baseline: {on_lost: fail}\n", SAME, 3, {"lost": True}),
    ("first run", "pass", PRESET, SAME, 3, {"first": True}),
    ("first run, inconclusive", "inconclusive", PRESET + "baseline: {on_first_run: inconclusive}\n", SAME, 3, {"first": True}),
    ("first run, fail", "fail", PRESET + "baseline: {on_first_run: fail}\n", SAME, 3, {"first": True}),
    ("first run, a budget that is exceeded", "fail", BUDGET % "fail: {max: 0}", MORE, 3, {"first": True}),
    ("first run, a budget that is kept", "pass", BUDGET % "fail: {max: 1}", MORE, 3, {"first": True}),
    ("first run, a change that has no baseline", "pass", BUDGET % "fail: {abs: 0}", MORE, 3, {"first": True}),
    ("first run, too few", "fail", BUDGET % "fail: {min: 2}", MORE, 1, {"first": True}),
    ("first run, a budget that warns", "warn", BUDGET % "warn: {max: 0}", MORE, 3, {"first": True}),
    ("first run, one of two limits is a budget", "fail", BUDGET % "fail: [{pct: 10%}, {max: 0}]", MORE, 3, {"first": True}),
    ("first run, a budget of the step", "fail", "version: 1\n" + SUITE + "rules: [{id: t, metric: step_time, fail: {max: 1us}}]\n", SAME,
     1, {"first": True}),
    ("first run, inconclusive, and a budget", "fail", BUDGET % "fail: {max: 0}" + "baseline: {on_first_run: inconclusive}\n", MORE, 1,
     {"first": True}),
    ("first run, inconclusive, and a budget that is kept", "inconclusive",
     BUDGET % "fail: {max: 1}" + "baseline: {on_first_run: inconclusive}\n", MORE, 1, {"first": True}),
    ("lost, a budget that is exceeded", "fail", BUDGET % "fail: {max: 0}", MORE, 3, {"lost": True}),
    ("lost, a budget that is kept", "inconclusive", BUDGET % "fail: {max: 1}", MORE, 3, {"lost": True}),
    ("lost, passed, and a budget", "fail", BUDGET % "fail: {max: 0}" + "baseline: {on_lost: pass}\n", MORE, 3, {"lost": True}),
    ("lost, failed, and a budget", "fail", BUDGET % "fail: {max: 0}" + "baseline: {on_lost: fail}\n", MORE, 3, {"lost": True}),
    ("an unusable trace", "error", PRESET, SAME, 3, {"broken": True}),
    ("first run, a budget and an unusable trace", "error", BUDGET % "fail: {max: 1}", SAME, 1, {"first": True, "broken": True}),
]


def traces(folder, work, runs, seed):
    for run in range(runs):
        write_run(f"{folder}/run{run}.json", [work()] * 4, seed + run)


def place(tmp, n, policy, work, runs, how):
    """A repository: the policy and the baseline, unless lost or not there yet; then a commit, and fresh traces."""
    r = Repository(f"{tmp}/{n}")
    r.write("README", "x")
    r.write(".gitignore", "out/\n")
    if not how.get("first"):
        r.write(".tracegate.yml", policy)
        if not how.get("lost"):
            traces(f"{r.dir}/perf", usual, runs, 1)
    r.commit("base")
    r.git("update-ref", "refs/remotes/origin/main", "HEAD")
    r.git("checkout", "-q", "-b", "change")
    r.write(".tracegate.yml", policy)
    r.write("src", "1")
    r.commit()
    traces(f"{r.dir}/out", work, runs, 100)
    if how.get("broken"):
        r.write("out/run0.json", '{"traceEvents": [1, 2')
    return r


def junit_says(path):
    suite = ET.parse(path).getroot()[0]
    cases = suite.findall("testcase")
    for kind, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        expect(f"{path}: number of {key}", sum(c.find(kind) is not None for c in cases), int(suite.get(key)))
    expect(f"{path}: never empty", bool(cases), True)
    return int(suite.get("failures")) > 0, int(suite.get("errors")) > 0


def action(r):
    """(outputs of the action's check, exit code of its last step)"""
    r.write("outputs", "")
    more = {"GITHUB_OUTPUT": r.path("outputs"), "RUNNER_TEMP": r.dir, "TRACEGATE": PROGRAM, "INPUT_REPORT_DIR": r.path("rep")}
    subprocess.run(["bash", ROOT + "/scripts/action-check"], cwd=r.dir, env={**DATED, **more}, capture_output=True, timeout=120)
    out = parse_env_file(r.path("outputs"))
    last = subprocess.run(["bash", ROOT + "/scripts/action-verdict"], env={
        **DATED, "EXIT_CODE": out.get("exit-code", ""), "VERDICT": out.get("verdict", "")}, capture_output=True)
    return out, last.returncode


def one(tmp, n, name, verdict, policy, work, runs, how):
    r = place(tmp, n, policy, work, runs, how)
    code, words, sign, junit, there, not_there, job = SAYS[verdict]
    run = tracegate("check", "--json", "a.json", "--junit", "a.xml", "--markdown", "a.md", "--annotations", cwd=r.dir, env=DATED, timeout=120)
    report = read_json(r.path("a.json"))
    markdown = read_text(r.path("a.md"))
    lines = run.stdout.splitlines()
    headline = next((s for s in lines if s and not s.startswith("::")), "")
    levels = set(re.findall(r"^::(\w+) ", run.stdout, re.M))
    title = next(s for s in markdown.splitlines() if s.startswith("### "))
    expect(f"{name}: exit code", run.returncode, code)
    expect(f"{name}: JSON", (report["verdict"], report["exit_code"]), (verdict, code))
    expect(f"{name}: headline {headline!r}", headline.startswith(words), True)
    expect(f"{name}: JSON's headline", report["headline"].startswith(words), True)
    expect(f"{name}: Markdown {title!r}",
           title.startswith("### \u2139\ufe0f FIRST RUN" if "FIRST RUN" in title else f"### {sign}") and any(w in title for w in words), True)
    failures, errors = junit_says(r.path("a.xml"))
    expect(f"{name}: JUnit's failures and errors", (failures, errors if junit[1] is not None else None), junit)
    expect(f"{name}: annotations {levels}", set(there) <= levels and not levels & set(not_there), True)
    if verdict == "fail":
        expect(f"{name}: violations in JSON and headline", bool(report["violations"]) and " 0 " not in headline, True)
    else:
        expect(f"{name}: no violations", report.get("violations"), [])
    if how.get("lost") and code == 4:
        verdict, job = "lost", 4  # the action's own word: not forgiven by on-inconclusive
    out, last = action(r)
    expect(f"{name}: the action's outputs", (out.get("verdict"), out.get("exit-code")), (verdict, str(code)))
    expect(f"{name}: the job", last, job)
    zero = tracegate("check", "--exit-zero", "--json", "z.json", "--quiet", cwd=r.dir, env=DATED)
    expect(f"{name}: --exit-zero", (zero.returncode, read_json(r.path("z.json"))["verdict"]), (0, report["verdict"]))
    shutil.rmtree(r.dir)


def main(tmp):
    for n, case in enumerate(CASES):
        one(tmp, n, *case)
    expect("each verdict has cases", {c[1] for c in CASES}, set(SAYS))


run_parts(main)
