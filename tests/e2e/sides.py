#!/usr/bin/env python3
"""Sides that do not match: ranks that one lacks, another device, traces without markers. What can be compared is
judged, what cannot is said, and nothing is averaged over other things than on the other side.

Each rank calls one operator as often as its number says, so an average over another set of ranks is another number.
"""
import dataclasses
import os
import shutil

from support import expect, expect_end, expect_has, read_json, run_parts, tracegate, write_text
from plain_model import Work, scaled, usual, write_run

POLICY = """version: 1
extends: [tracegate:recommended]
suites: [{{name: s, trace: {{files: 'x/*.json', run: 'run(\\d+)'{rank}}}{suite}}}]
{more}
"""


class Place:
    def __init__(self, folder):
        self.dir = folder

    def path(self, name):
        return os.path.join(self.dir, name)

    def side(self, name, cells, seed, works=lambda run, rank: [], steps=4, **how):
        """Files of these (run, rank); rank None: none is told."""
        shutil.rmtree(f"{self.dir}/{name}", ignore_errors=True)
        for run, rank in cells:
            step = usual() + [Work("aten::rank")] * (0 if rank is None else rank + 1) + works(run, rank)
            path = f"{self.dir}/{name}/run{run}" + ("" if rank is None else f"-rank{rank}") + ".json"
            write_run(path, [step] * steps, seed + 1000 * run + (rank or 0), rank=rank, **how)

    def check(self, *args, suite="", more="", policy=True, ranked=True):
        write_text(f"{self.dir}/p.yml", POLICY.format(suite=suite, more=more, rank=", rank: 'rank(\\d+)'" if ranked else ""))
        run = tracegate("check", "x", "--baseline", "b", "--json", "out.json", *(["--policy", "p.yml"] if policy else []), *args,
                        cwd=self.dir, timeout=120)
        try:
            run.report = read_json(f"{self.dir}/out.json")
        except OSError:
            run.report = {}
        # of each rule its worst result that is listed; what passes is not
        run.states = {r["rule"]: r["state"] for part in ("not_judged", "waived", "warnings", "inconclusive", "violations")
                      for r in run.report.get(part, [])}
        return run


def grid(runs, ranks):
    return [(run, rank) for run in range(runs) for rank in range(ranks)]


def one_more(only=None):
    """One more call of a kernel on every rank, or on one."""
    more = [Work("aten::op3", "kernel", "void kern3(float*)", 20)]
    return lambda run, rank: more if only is None or rank == only else []


def missing_ranks(p):
    """(what, runs x ranks of the baseline, cells of the fresh side, ranks said to lack, of which side)"""
    for what, base, fresh, said, expect_n in (
            ("7 of 8", grid(1, 8), [c for c in grid(1, 8) if c[1] != 5], "rank 5 is not in every fresh run", 8),
            ("the first rank is missing", grid(1, 8), grid(1, 8)[1:], "rank 0 is not in every fresh run", 8),
            ("1 of 8", grid(1, 8), [(0, 6)], "ranks 0–5, 7 are not in every fresh run", 8),
            ("9 against 8", grid(1, 8), grid(1, 9), "rank 8 is not in every baseline run", 9),
            ("other ones each", grid(1, 4)[1:], grid(1, 4)[:3], "rank 3 is not in every fresh run", 3),
            ("one run of three", grid(3, 4), [c for c in grid(3, 4) if c != (1, 2)], "rank 2 is not in every fresh run", 4),
            ("two runs of three", grid(3, 4), [c for c in grid(3, 4) if c not in ((0, 2), (2, 2))],
             "rank 2 is not in every fresh run", 4),
            ("one run of three of the baseline", [c for c in grid(3, 4) if c != (2, 3)], grid(3, 4),
             "rank 3 is not in every baseline run", 4)):
        p.side("b", base, 1)
        p.side("x", fresh, 50001)
        run = p.check()
        expect(f"{what}: same code: exit", run.returncode, 0)
        expect(f"{what}: same code: verdict", run.report["verdict"], "warn")
        expect(f"{what}: same code: nothing fails", run.report["summary"]["fail"], 0)
        expect_has(f"{what}: told", run.stdout, said)
        run = p.check(suite=f", ranks: {{expect: {expect_n}}}")
        expect_end(f"{what}: ranks.expect", run, 4, f"{expect_n} are expected" if what == "other ones each" else f" of {expect_n} ")
        expect(f"{what}: ranks.expect is told once", sum(r["op"] == "ranks" for r in run.report["inconclusive"]), 1)
        p.side("x", fresh, 50001, one_more())
        expect(f"{what}: one more kernel on every rank: exit", p.check().returncode, 1)
        expect(f"{what}: with ranks.expect: exit", p.check(suite=f", ranks: {{expect: {expect_n}}}").returncode, 1)


def ranks_that_are_there(p):
    p.side("b", grid(1, 4), 1)
    p.side("x", grid(1, 4), 50001)
    run = p.check(suite=", ranks: {expect: 4}")
    expect("4 of 4: exit", run.returncode, 0)
    expect("4 of 4: verdict", run.report["verdict"], "pass")
    p.side("x", grid(1, 4), 50001, one_more(3))
    expect("one more kernel on one rank: exit", p.check().returncode, 1)
    p.side("x", [(0, 7)], 50001)
    expect_end("no rank in common", p.check(), 3, err="the sides have no rank in common: the baseline side has ranks 0–3")
    p.side("b", [(0, 0)], 1, lambda *_: [Work("aten::rank")] * 3)
    p.side("x", [(0, 3)], 50001)
    expect_end("rank 3 against rank 0", p.check(), 0, "rank 3 is compared with rank 0 of the baseline")
    p.side("x", [(0, 3)], 50001, one_more())
    expect("rank 3 against rank 0, one more kernel: exit", p.check().returncode, 1)


def expected_ranks(p):
    """Both sides alike, but not as many as expected: no rank can be named. One side: the other names it."""
    p.side("b", grid(1, 4), 1)
    p.side("x", grid(1, 4), 50001)
    run = p.check(suite=", ranks: {expect: 8}")
    expect("4 of 8 on both sides: exit", run.returncode, 4)
    expect("4 of 8 on both sides", [r["message"] for r in run.report["inconclusive"]],
           [f"4 ranks in the {side} run, 8 are expected" for side in ("baseline", "fresh")])
    p.side("x", [c for c in grid(1, 4) if c[1] != 2], 50001)
    run = p.check(suite=", ranks: {expect: 4}")
    expect("3 of 4 fresh", [r["message"] for r in run.report["inconclusive"]],
           ["rank 2 of 4 has no fresh trace (found: ranks 0, 1, 3)"])
    run = p.check(suite=", ranks: {expect: 3}")
    expect("4 where 3 are expected", [r["message"] for r in run.report["inconclusive"]],
           ["4 ranks in the baseline run, 3 are expected"])


def rules_about_ranks(p):
    rule = "rules: [{id: r, match: {kind: op, name: 'aten::rank', rank: %s}, metric: count, fail: {abs: 0}}]"
    p.side("b", grid(1, 4), 1)
    p.side("x", [c for c in grid(1, 4) if c[1] != 2], 50001)
    for which, told in (("each", False), ("[1, 3]", False), ("[2]", True), ("[1, 2]", True), ("slowest", False)):
        run = p.check(more=rule % which)
        expect(f"rank: {which}: exit", run.returncode in (0, 4) if told else run.returncode == 0, True)
        expect(f"rank: {which}: told", "the fresh side has no trace of this rank" in run.stdout, told)
        expect(f"rank: {which}: expected: exit", p.check(more=rule % which, suite=", ranks: {expect: 4}").returncode, 4)
    p.side("x", [c for c in grid(1, 4) if c[1] != 2], 50001, lambda run, rank: [Work("aten::rank")] * (rank == 3))
    for which, code in (("each", 1), ("[3]", 1), ("[1]", 0)):
        run = p.check(more=rule % which)
        expect(f"rank: {which}, one more call on rank 3: of the rule",
               run.states.get("r", "pass"), "fail" if code else "pass")


def another_device(p):
    """Kernels have other names there and are shown; what the program asks for is judged."""
    renamed = [w if w.sort != "kernel" else Work(w.op, "kernel", w.name.replace("kern", "sm70_"), w.us * 2) for w in usual()]
    plants = (("same code", [], 0), ("three copies", [Work("aten::op1", "memcpy", "Memcpy DtoD (Device -> Device)", 3)] * 3, 1),
              ("a set", [Work("aten::op1", "memset", "Memset (Device)", 3)] * 2, 1), ("a synchronisation", [Work(None, "sync")], 1),
              ("a graph", [Work("aten::op1", "graph")] * 2, 1), ("an operator", [Work("aten::op1")], 1),
              ("a larger copy", None, 1))
    shutil.rmtree(p.path("b"), ignore_errors=True)
    write_run(p.path("b/run0.json"), [usual()] * 4, 1, device="NVIDIA A100")
    for what, more, code in plants:
        shutil.rmtree(p.path("x"), ignore_errors=True)
        steps = renamed + more if more is not None else [
            Work(w.op, w.sort, w.name, w.us, 8192) if w.sort == "memcpy" else w for w in renamed]
        write_run(p.path("x/run0.json"), [steps] * 4, 77, device="Tesla V100")
        run = p.check(policy=False)
        expect_end(f"other device, {what}", run, code, "counts judged, but not of kernels", "kernels are not judged, ",
                   " % of the step: the two sides differ in device")
        expect(f"other device, {what}: never a plain pass", run.report["verdict"] in ("warn", "fail"), True)
        rules = "rules: [{id: bytes, metric: memcpy_bytes, fail: {abs: 0}}, {id: n, metric: launch_count, fail: {abs: 0}}, " \
                "{id: cap, metric: launch_count, fail: {max: 0}}]"
        run = p.check(more=rules)
        states = run.states
        expect(f"other device, {what}: bytes copied", states.get("bytes", "pass"),
               "fail" if what in ("three copies", "a larger copy") else "pass")
        expect(f"other device, {what}: launches depend on kernels", states.get("n") in ("not judged", "inconclusive"), True)
        expect(f"other device, {what}: a budget needs no baseline", states.get("cap"), "fail")
    run = p.check("--policy", "p.yml", more="baseline: {require_same: []}")
    expect("other device, not required to be the same: exit", run.returncode in (0, 1), True)
    expect("other device, not required to be the same: said", "kernels are not judged" in run.stdout, False)


def traces_of_one_step(p):
    """`window: {by: trace}`: a run is a sample, and its whole trace is one step."""
    window = ", window: {by: trace}"
    five, slow = [(run, None) for run in range(5)], [Work("aten::op3", "kernel", "void kern3(float*)", 23)]
    p.side("b", five, 1, steps=1, marker=None)
    for what, runs, works, scale, code, outcome in (
            ("same code", five, [], 1, 0, "pass"), ("a kernel 40 % slower", five, [], 1.4, 1, "fail"),
            ("a kernel 40 % slower, 2 runs", five[:2], [], 1.4, 0, "warn"), ("one more kernel", five, slow, 1, 1, "fail"),
            ("everything twice", five, usual(), 1, 1, "fail")):
        shutil.rmtree(p.path("x"), ignore_errors=True)
        step = scaled(usual() + works, "aten::op3", scale)
        for run, _ in runs:
            write_run(p.path(f"x/run{run}.json"), [step], 90001 + run, marker=None)
        got = p.check(suite=window, ranked=False)
        expect(f"one step a trace, {what}: exit", got.returncode, code)
        expect(f"one step a trace, {what}: verdict", got.report["verdict"], outcome)
        expect(f"one step a trace, {what}: durations judged", got.report["coverage"]["durations_judged"], len(runs) >= 3)
    got = p.check(ranked=False)
    expect("the same without a window: durations judged", got.report["coverage"]["durations_judged"], False)


def other_number_of_iterations(p):
    """Traces without markers: calls are judged as they are shown, by as many iterations as the baseline's. A budget is of the trace."""
    kernel = [Work("aten::op3", "kernel", "void kern3(float*)", 20)]
    for what, steps, before, more, code, told in (
            ("half of them", 2, 0, 0, 0, "0.5 times the baseline's"),
            ("half of them, five kernels in each, were three", 2, 2, 4, 1, "called 20 times per step, was 12 (+8"),
            ("twice as many", 8, 0, 0, 0, "2 times the baseline's"),
            ("twice as many, two kernels in each, were three", 8, 2, 1, 0, "less work"),
            ("twice as many, one more kernel in each", 8, 0, 1, 1, "called 8 times per step, was 4 (+4")):
        p.side("b", [(0, None)], 1, lambda *_: kernel * before, marker=None)
        p.side("x", [(0, None)], 90001, lambda *_: kernel * more, steps=steps, marker=None)
        got = p.check(policy=False)
        expect_end(f"iterations: {what}", got, code, told)
        rules = f"rules: [{{id: own, metric: count, match: {{name: aten::op3}}, fail: {{max: {steps * (more + 1)}}}}}, " \
                "{id: launches, metric: launch_count, fail: {abs: 0}}, {id: copied, metric: memcpy_bytes, fail: {abs: 0}}]"
        states = p.check(ranked=False, more=rules).states
        expect(f"iterations: {what}: a budget", states.get("own", "pass"), "pass")
        expect(f"iterations: {what}: launches of the trace", states.get("launches", "pass"), "fail" if code else "pass")
        expect(f"iterations: {what}: bytes of the trace", states.get("copied", "pass"), "pass")


def renamed_in_other_iterations(p):
    """Twice or half as many iterations, and an operator under another name: told as where their number is the same."""
    work = [dataclasses.replace(w, op="aten::other") if w.op == "aten::op3" else w for w in usual()]
    p.side("b", [(0, None)], 1, marker=None)
    for steps in (2, 4, 8):
        shutil.rmtree(p.path("x"), ignore_errors=True)
        write_run(p.path("x/run0.json"), [work] * steps, 90001, marker=None)
        expect_end(f"renamed in {steps} iterations", p.check(policy=False), 0, "WARN: nothing failed, 1 warning: aten::other +4 calls",
                   "new, 4 calls per step, 2.0 % of the step; renamed from aten::op3?")


def renamed_and_slower(p):
    """One name for another, as often, is one name: what it takes more fails, though the step varies by more than that."""
    rest = {"b": [2990, 3140, 2900, 3080, 2950], "x": [3120, 2930, 3010, 2890, 3100]}  # us a step
    for factor, code in ((1, 0), (1.04, 0), (1.15, 1), (1.3, 1)):
        for side, op, us, seed in (("b", "aten::softmax", 150, 1), ("x", "aten::_softmax", 150 * factor, 90001)):
            shutil.rmtree(p.path(side), ignore_errors=True)
            for run in range(5):
                work = [Work(f"aten::op{i}", us=20 + i) for i in range(12)] + [Work("aten::rest", us=rest[side][run])]
                write_run(p.path(f"{side}/run{run}.json"), [[*work, Work(op, us=us)]] * 6, seed + run)
        got = p.check(ranked=False)
        expect_end(f"renamed, {factor} times as long", got, code, "aten::_softmax" if code else "")
        expect(f"renamed, {factor} times as long: by its time", [r["unit"] for r in got.report["violations"]], ["ns"] * code)


def what_would_do_as_steps(p):
    """Traces without markers: the note names the annotations that would do."""
    for marker, steps, says in (("execute_%d_context", 1, 'window: {by: annotation, name: "execute_*"}'),
                                ("execute_%d_context", 5, 'window: {by: annotation, name: "execute_*"}'),
                                ("iteration", 5, 'window: {by: annotation, name: "iteration"}'),
                                ("serve", 1, 'window: {by: annotation, name: "serve"}'),
                                (None, 2, "Call prof.step() once an iteration; or say window: {by: trace}"),
                                ("## Call CompiledFxGraph f%d", 1, "Call prof.step() once an iteration")):
        p.side("b", [(0, None)], 1, steps=steps, marker=marker and (marker if "%" in marker else marker + "%.0s"))
        p.side("x", [(0, None)], 70001, steps=steps, marker=marker and (marker if "%" in marker else marker + "%.0s"))
        expect_has(f"{steps} times {marker}", " ".join(p.check(policy=False).stdout.split()), says)
        name = says.partition('name: "')[2].partition('"')[0]
        if name:  # what is advised works
            got = p.check(suite=", window: {by: annotation, name: '%s'}" % name, ranked=False)
            expect_end(f"window {name}", got, 0, "PASS")
            expect(f"window {name}: steps", got.report["environment"]["steps"][1], steps)


def main(tmp):
    p = Place(tmp)
    for group in (missing_ranks, ranks_that_are_there, expected_ranks, rules_about_ranks, another_device,
                  traces_of_one_step, other_number_of_iterations, renamed_in_other_iterations, renamed_and_slower,
                  what_would_do_as_steps):
        group(p)


run_parts(main)
