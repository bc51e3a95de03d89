#!/usr/bin/env python3
"""The nine points of how tracegate decides, each by a case that 0.1.0 decided otherwise, and its control: what must not change.

Traces are made by plain_model; what has to come out is written here by hand. TG_PROGRAM=... runs the cases with another program.
"""
import re
import sys
import tempfile

from support import ENV, expect, finish, judge
from plain_model import Work, trace, usual

FORWARD = "## forward ##"
DEFAULT = "version: 1\nextends: [tracegate:recommended]\n"
ABSURD = re.compile(r"\d{4,}(?:\.\d+)? ?%")


def host(n=12, us=400.0):
    """A step of work on the host alone."""
    return [Work(f"aten::op{i}", "op", "", us + 20 * i) for i in range(n)]


def scaled(work, factor, name=None):
    return [Work(w.op, w.sort, w.name, w.us * (factor if name in (None, w.op, w.name) else 1)) for w in work]


def calls(counts, us=50.0):
    """Beside the usual work an operator that is called as often as each of `counts` says."""
    return [host() + [Work("aten::index", "op", "", us)] * n for n in counts]


def renamed(factor):
    return [Work(w.op, w.sort, "void other(float*)" if w.name == "void kern3(float*)" else w.name,
                 w.us * (factor if w.name == "void kern3(float*)" else 1)) for w in usual()]


def stalled(doc, ms, slow, around=None):
    """Nothing runs for `ms` in the middle of each step whose position is in `slow`; `around` is an annotation of the middle."""
    marks = sorted((e for e in doc["traceEvents"] if e["name"].startswith("ProfilerStep")), key=lambda e: -e["ts"])
    for at, mark in enumerate(marks):
        inside = sorted((e["ts"], e["dur"]) for e in doc["traceEvents"]
                        if e["cat"] == "cpu_op" and mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"])
        first, middle = inside[len(inside) // 2 - 1], inside[len(inside) // 2][0]
        more = 1000 * ms if len(marks) - 1 - at in slow else 0
        for e in doc["traceEvents"]:
            if e["ts"] >= middle:
                e["ts"] += more
        mark["dur"] += more
        if around:
            start = first[0] + first[1] + 0.1
            doc["traceEvents"].append(dict(mark, name=around, ts=start, dur=middle + more - 0.1 - start))
    return doc


def inside(doc):
    """Everything of a step runs in one annotation."""
    for mark in [e for e in doc["traceEvents"] if e["name"].startswith("ProfilerStep")]:
        doc["traceEvents"].append(dict(mark, name=FORWARD, ts=mark["ts"] + 0.2, dur=mark["dur"] - 0.4))
    return doc


def held(factor, beside=1.0):
    """In an annotation, an operator has another name and takes `factor` times as long, one beside it `beside` times."""
    work = [Work("aten::other" if w.op == "aten::op3" else w.op, "op", "", w.us * (factor if w.op == "aten::op3" else 1)) for w in host()]
    return lambda run: inside(trace([scaled(work, beside, "aten::op4")] * 5, run))


def busy(run):
    """A competitor takes time from nearly everything: other operators in each step, the shortest of their steps as well."""
    work = [scaled(host(), 1) for _ in range(5)]
    return [[Work(w.op, w.sort, w.name, w.us * (1.25 if i % 2 else 1.02) * (1 if (i + s + run) % 5 == 0 else 1.7))
             for i, w in enumerate(step)] for s, step in enumerate(work)]


def same(step, n=5):
    return lambda run: trace([step] * n, 100 + run)


def of(counts):
    return lambda run: trace(calls(counts), 100 + run)


def sometimes(name):
    """In one of five steps, another one in each run."""
    return lambda run: trace([host() + [Work(name, "op", "", 400.0)] * (run % 5 == k) for k in range(5)], run)


def loud(step):
    """Two of ten runs are recorded on a machine that takes 1.3 times as long."""
    return lambda run: trace([scaled(step, 1.3 if run in (3, 7) else 1)] * 5, 100 + run)


# point, what, runs a side, policy, baseline and fresh runs, verdicts, operators that fail, those that may not
CASES = [
    (1, "counts that vary, one run", (1, 1), DEFAULT, of([3, 3, 3, 4, 2]), of([4, 4, 4, 3, 2]), ("pass", "warn"), [], ["aten::index"]),
    (1, "control: far more calls", (1, 1), DEFAULT, of([3, 3, 3, 4, 2]), of([9, 9, 9, 9, 9]), ("fail",), ["aten::index"], []),
    (1, "a name that never was, in one of five steps", (3, 3), DEFAULT, of([0] * 5), sometimes("aten::index"), ("fail",), ["aten::index"], []),
    (1, "control: it was", (3, 3), DEFAULT, lambda run: sometimes("aten::index")(run + 20), sometimes("aten::index"), ("pass",), [], []),
    (1, "control: under another name", (3, 3), DEFAULT, lambda run: sometimes("aten::take")(run + 21), sometimes("aten::index"), ("warn",), [], []),
    (2, "a step without calls is no fast one", (5, 5), DEFAULT,
     lambda run: trace(calls([0, n := (3, 2, 1, 2, 3)[run], n, 0, n]), 100 + run), of([2] * 5), ("pass", "warn"), [], ["aten::index"]),
    (2, "control: calls that do not vary", (5, 5), DEFAULT, of([2] * 5), lambda run: trace(calls([2] * 5, 150.0), run), ("fail",),
     ["aten::index"], []),
    (3, "a stall in four of five steps", (4, 4), DEFAULT, same(scaled(usual(), 1000)),
     lambda run: stalled(trace([scaled(usual(), 1000)] * 5, run), 120, [(run + k) % 5 for k in range(4)]), ("fail",), [], []),
    (3, "control: none", (4, 4), DEFAULT, same(scaled(usual(), 1000)), lambda run: trace([scaled(usual(), 1000)] * 5, run), ("pass",),
     [], []),
    (4, "two busy runs of ten hide nothing", (10, 5), DEFAULT, loud(host()), lambda run: trace([scaled(host(), 1.2, "aten::op3")] * 5, run),
     ("fail",), ["aten::op3"], ["aten::op4"]),
    (4, "control: nor are they found", (10, 5), DEFAULT, loud(host()), lambda run: trace([host()] * 5, run), ("pass",), [], []),
    (5, "slower under another name", (5, 5), DEFAULT, same(usual()), lambda run: trace([renamed(1.25)] * 5, run), ("fail",),
     ["void other(float*)"], []),
    (5, "control: another name at the same cost", (5, 5), DEFAULT, same(usual()), lambda run: trace([renamed(1)] * 5, run),
     ("pass", "warn"), [], []),
    (5, "slower under another name inside an annotation", (3, 3), DEFAULT, lambda run: inside(trace([host()] * 5, 100 + run)), held(2),
     ("fail",), ["aten::other"], ["aten::op4"]),
    (5, "slower beside another name", (3, 3), DEFAULT, lambda run: inside(trace([host()] * 5, 100 + run)), held(0.74, 1.7),
     ("fail",), ["aten::op4"], ["aten::other"]),
    (5, "control: cost that moved inside an annotation", (3, 3), DEFAULT, lambda run: inside(trace([host()] * 5, 100 + run)),
     held(0.3, 1.7), ("pass", "warn"), [], ["aten::op4"]),
    (6, "a busy machine", (5, 5), DEFAULT, same(host()), lambda run: trace(busy(run), run), ("pass", "warn", "inconclusive"), [],
     ["aten::op1"]),
    (6, "control: one operator, quiet", (5, 5), DEFAULT, same(host()), lambda run: trace([scaled(host(), 1.25, "aten::op1")] * 5, run),
     ("fail",), ["aten::op1"], []),
    (6, "a slower device", (3, 3), DEFAULT, same(usual()), lambda run: trace([scaled(usual(), 1.2)] * 5, run), ("warn",), [], ["void kern3(float*)"]),
    (6, "a slow host hides no kernel", (3, 3), DEFAULT, same(usual()),
     lambda run: trace([scaled(usual(), 1.5, "void kern3(float*)")] * 5, run, pace=1.5), ("fail",), ["void kern3(float*)"],
     ["void kern4(float*)"]),
    (6, "control: one kernel", (3, 3), DEFAULT, same(usual()),
     lambda run: trace([scaled(usual(), 1.2, "void kern3(float*)")] * 5, run), ("fail",), ["void kern3(float*)"], []),
    (7, "what these runs cannot show", (5, 5), DEFAULT + "require: {detectable: 5%}\n", same(host()), lambda run: trace([host()] * 5, run),
     ("inconclusive",), [], []),
    (7, "control: what they can", (5, 5), DEFAULT + "require: {detectable: 10%}\n", same(host()), lambda run: trace([host()] * 5, run),
     ("pass",), [], []),
    (8, "from nothing", (4, 4), "version: 1\nrules: [{id: r, metric: comm_exposed, fail: {abs: 1us}}]\n", same(usual()),
     lambda run: trace([usual() + [Work("c10d::x", "comm", "ncclDevKernel_AllReduce(int)", 80)]] * 5, run), ("fail",), [], []),
    (8, "control: from something", (4, 4), DEFAULT, same(usual()), lambda run: trace([scaled(usual(), 1.6, "void kern3(float*)")] * 5, run),
     ("fail",), ["void kern3(float*)"], []),
    (9, "the annotation that holds the gap", (5, 5), DEFAULT, lambda run: stalled(trace([host()] * 5, 100 + run), 0.1, range(5), FORWARD),
     lambda run: stalled(trace([host()] * 5, run), 4, range(5), FORWARD), ("fail",), [FORWARD], []),
    (9, "control: none holds it", (5, 5), DEFAULT, lambda run: stalled(trace([host()] * 5, 100 + run), 0.1, range(5)),
     lambda run: stalled(trace([host()] * 5, run), 4, range(5)), ("fail",), [], [FORWARD]),
]


def main():
    for case in CASES:
        point, what, runs, policy, base, fresh, verdicts, named, not_named = case
        with tempfile.TemporaryDirectory() as d:
            report, run = judge(d + "/x", *([make(k) for k in range(n)] for make, n in zip((base, fresh), runs)), policy, dict(ENV, COLUMNS="400"))
        text = run.stdout
        ops = [v["op"] for v in report["violations"]]
        what = f"{point}. {what}"
        expect(f"{what}: verdict {report['verdict']}, of {verdicts}; {ops}", report["verdict"] in verdicts, True)
        expect(f"{what}: fails {named}, {ops}", set(named) <= set(ops), True)
        expect(f"{what}: does not fail {not_named}, {ops}", set(not_named) & set(ops), set())
        expect(f"{what}: no absurd percentage", ABSURD.findall(text), [])
        if point == 7:
            expect(f"{what}: what could be seen is said", "detectable from" in " ".join(text.split()), True)
        if what.endswith("a step without calls is no fast one"):
            expect(f"{what}: what is not judged is said", "1 operator whose calls vary" in " ".join(text.split()), True)
    return finish(f"nine points: {len(CASES)} cases")


sys.exit(main())
