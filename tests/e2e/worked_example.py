#!/usr/bin/env python3
"""The worked example of docs/statistics.md and core/diff/README.md is what `check` says: the runs are read from the README,
the numbers from the page and from the README's last sentence, and both are compared with the report. A control: the same
runs on both sides.
"""
import re

from support import ROOT, check, expect, expect_has, judge, read_text, run_parts
from plain_model import mark, span

STEP_US = 149.0


def runs(readme):
    """{side: [run][step]} in us, of the block of numbers in the README."""
    found = re.findall(r"(baseline|fresh)?\s*run \d((?:\s+\d+\.\d)+)", readme)
    sides = {"baseline": [], "fresh": []}
    for i, (_, numbers) in enumerate(found):
        sides["fresh" if i % 2 else "baseline"].append([float(x) for x in numbers.split()])
    return sides


def trace(steps, calls_of_a, serial):
    """Steps of 149 us on one thread: demo::a so often, then demo::b. `serial` makes each run a recording of its own."""
    events = []
    for number, us in enumerate(steps):
        start = 1000.0 + STEP_US * number + serial
        events += [mark(number + 3, start, STEP_US), *(span("cpu_op", "demo::a", start + k, 0.301) for k in range(calls_of_a)),
                   span("cpu_op", "demo::b", start + 4, us)]
    return {"schemaVersion": 1, "traceEvents": events}


def verdict(d, base, fresh, calls_of_a):
    report, run = judge(d + "/x", [trace(steps, 2, k) for k, steps in enumerate(base)],
                        [trace(steps, calls_of_a, 10 + k) for k, steps in enumerate(fresh)])
    return run.returncode, report


def number(page, pattern):
    m = re.search(pattern, page)
    check(f"{pattern!r} is on the page", m)
    return float(m[1]) if m else 0.0


def main(tmp):
    readme = read_text(f"{ROOT}/core/diff/README.md")
    page = read_text(f"{ROOT}/docs/statistics.md")
    sides = runs(readme)
    expect("runs of the README", [len(sides["baseline"]), len(sides["fresh"])], [3, 3])
    code, report = verdict(tmp, sides["baseline"], sides["fresh"], 3)
    same, control = verdict(tmp, sides["baseline"], [[us + 0.001 for us in run] for run in sides["baseline"]], 2)
    expect("verdict", (code, report["verdict"]), (1, "fail"))
    expect("verdict of the control", (same, control["verdict"]), (0, "pass"))
    expect("findings", sorted(v["op"] for v in report["violations"] if v["kind"] == "op"), ["demo::a", "demo::b"])
    b = next(v for v in report["violations"] if v["op"] == "demo::b")
    told = re.search(r"The report says: \*(.*?)\*", readme.replace("\n", " "))[1]
    message, evidence = told.split("; ", 1)
    expect("the README's sentence", b["message"], message)
    expect_has("the README's evidence", b["evidence"], evidence)
    row = next(r for r in report["table"] if r["op"] == "demo::b")["evidence"]
    for what, got, want, by in (
            ("median of the baseline", row["value_ns"][0] / 1000, number(page, r"median ([\d.]+) +fresh"), 0.001),
            ("median of the fresh side", row["value_ns"][1] / 1000, number(page, r"fresh .*median ([\d.]+)"), 0.001),
            ("e", row["log_ratio"], number(page, r"= ([\d.]+), Δ = "), 0.0005),
            ("Δ", row["delta_ns"] / 1000, number(page, r"Δ = ([\d.]+) µs"), 0.05),
            ("v", row["noise"] ** 2, number(page, r"/ 4 = ([\d.]+)"), 5e-7),
            ("SE", row["se"], number(page, r"2 / 3\) = ([\d.]+)"), 5e-5),
            ("4 SE", row["z"] * row["se"], number(page, r"4 · SE = ([\d.]+)"), 5e-4),
            ("p", 1 / row["p"], number(page, r"C\(6, 3\) = 1 / (\d+)"), 1e-6)):
        check(f"{what}: {got}, the page says {want}", abs(got - want) <= by)


run_parts(main)
