#!/usr/bin/env python3
"""What a limit of the policy's own judges: `step_time`, `total`, `self` and `mean` are means over the steps, whatever spares
a step of each run; `max` and `p95` are about single calls; budgets are about what was recorded. Each change has a control:
the same code, and the same change inside the limit. Values are written by hand, of steps made by plain_model.
"""
import sys
import tempfile

from support import check, expect, finish, judge
from plain_model import Work, scaled, trace, usual

STEPS, RUNS = 5, 4
RULE = "version: 1\nrules: [{id: r, match: {%s}, metric: %s, fail: {%s}}]\n"
STEP = "version: 1\nrules: [{id: r, metric: step_time, fail: {%s}}]\n"
DEFAULT = "version: 1\nextends: [tracegate:recommended]\n"


def stall(doc, ms, slow):
    """Nothing runs for `ms` in the middle of the steps whose position is in `slow`: all that comes later moves."""
    events = doc["traceEvents"]
    marks = sorted((e for e in events if e["name"].startswith("ProfilerStep")), key=lambda e: -e["ts"])
    for at, mark in enumerate(marks):
        if STEPS - 1 - at not in slow:
            continue
        inside = sorted(e["ts"] for e in events if e["cat"] == "cpu_op" and mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"])
        middle = inside[len(inside) // 2]
        for e in events:
            if e["ts"] >= middle:
                e["ts"] += 1000 * ms
        mark["dur"] += 1000 * ms
    return doc


def plain(kernel_ms):
    """A step whose device work takes 12 times so long."""
    return [Work(w.op, w.sort, w.name, 1000 * kernel_ms if w.sort == "kernel" else w.us) for w in usual()]


def stalled(ms, n):
    return lambda run: stall(trace([plain(8)] * STEPS, 100 + run), ms, [(run + k) % STEPS for k in range(n)])


def kernel(factor, n):
    def of(run):
        slow = {(run + k) % STEPS for k in range(n)}
        return trace([scaled(plain(8), "aten::op3", factor) if i in slow else plain(8) for i in range(STEPS)], 100 + run)
    return of


# what, fresh side, policy, verdict, estimate of the violation
CASES = [
    # 96 ms of device work a step; a stall of 30 ms in four of five steps: 96 -> 120 in the mean, +25 %
    ("stall in 4 of 5 steps, by default", stalled(30, 4), DEFAULT, "fail", None),
    ("stall in 4 of 5 steps, 10 %", stalled(30, 4), STEP % "pct: 10%", "fail", None),
    ("stall in 4 of 5 steps, 20 %", stalled(30, 4), STEP % "pct: 20%", "fail", None),
    ("stall in 4 of 5 steps, 40 %", stalled(30, 4), STEP % "pct: 40%", "pass", None),
    ("stall in 4 of 5 steps, in ms", stalled(30, 4), STEP % "abs: 20ms", "fail", None),
    ("stall in 2 of 5 steps, 8 %", stalled(30, 2), STEP % "pct: 8%", "fail", "mean"),
    ("stall in 2 of 5 steps, 20 %", stalled(30, 2), STEP % "pct: 20%", "pass", None),
    ("no stall, 3 %", stalled(0, 0), STEP % "pct: 3%", "pass", None),
    ("no stall, by default", stalled(0, 0), DEFAULT, "pass", None),
    # a kernel of 8 ms three times as long in two of five steps: +16 ms * 2 / 5 = +6.4 ms in the mean, +80 %
    ("kernel in 2 of 5 steps, total", kernel(3, 2), RULE % ("name: 'void kern3*'", "total", "pct: 50%"), "fail", "mean"),
    ("kernel in 2 of 5 steps, self", kernel(3, 2), RULE % ("name: 'void kern3*'", "self", "pct: 50%"), "fail", "mean"),
    ("kernel in 2 of 5 steps, mean", kernel(3, 2), RULE % ("name: 'void kern3*'", "mean", "pct: 50%"), "fail", "mean"),
    ("kernel in 2 of 5 steps, above", kernel(3, 2), RULE % ("name: 'void kern3*'", "total", "pct: 90%"), "pass", None),
    ("another kernel", kernel(3, 2), RULE % ("name: 'void kern4*'", "total", "pct: 10%"), "pass", None),
    ("kernel in 1 of 5 steps, max", kernel(3, 1), RULE % ("name: 'void kern3*'", "max", "pct: 50%"), "fail", None),
    ("kernel in 1 of 5 steps, max above", kernel(3, 1), RULE % ("name: 'void kern3*'", "max", "pct: 250%"), "pass", None),
    ("kernel in 1 of 5 steps, p95", kernel(3, 1), RULE % ("name: 'void kern3*'", "p95", "pct: 50%"), "fail", None),
    ("kernel in no step, p95", kernel(1, 0), RULE % ("name: 'void kern3*'", "p95", "pct: 10%"), "pass", None),
    ("kernel in 1 of 5 steps, by default", kernel(3, 1), DEFAULT, "warn", None),
    # budgets: 96 ms and 24 ms of the mean; the shortest step is 96
    ("a budget of the mean", stalled(30, 4), STEP % "max: 110ms", "fail", None),
    ("a budget that holds", stalled(30, 4), STEP % "max: 130ms", "warn", None),  # the step took 25 % longer: the account
    # four runs a side show 12 % at best
    ("what has to be detectable is", stalled(0, 0), DEFAULT + "require: {detectable: 15%}", "pass", None),
    ("what has to be detectable is not", stalled(0, 0), DEFAULT + "require: {detectable: 5%}", "inconclusive", None),
]


def values_agree(what, report):
    """Value, delta and percentage of each result are of one reading."""
    for r in report["violations"] + report["warnings"]:
        if r["dimension"] != "duration" or r["baseline"] is None:
            continue
        near = abs(r["test"] - r["baseline"] - r["delta"]) <= 1e-6 * max(abs(r["test"]), 1)
        check(f"{what}: {r['op']} {r['baseline']} -> {r['test']}, delta {r['delta']}", near)
        if r["delta_pct"] is not None:
            pct = 100 * r["delta"] / r["baseline"]
            check(f"{what}: {r['op']} {r['delta_pct']} %, {pct} by its values", abs(pct - r["delta_pct"]) < 1e-6 * abs(pct) + 1e-9)


def main():
    for what, fresh, policy, verdict, estimate in CASES:
        with tempfile.TemporaryDirectory() as d:
            base = [trace([plain(8)] * STEPS, seed) for seed in range(RUNS)]
            report, run = judge(d + "/x", base, [fresh(run) for run in range(RUNS)], policy)
        expect(what, (report["verdict"], run.returncode), (verdict, {"fail": 1, "inconclusive": 4}.get(verdict, 0)))
        if estimate and report["violations"]:
            expect(what + ": estimate", report["violations"][0].get("estimate"), estimate)
        values_agree(what, report)
    return finish(f"estimates: {len(CASES)} cases")


sys.exit(main())
