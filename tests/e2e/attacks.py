#!/usr/bin/env python3
"""Ways in which a regression got through once: each planted again, beside a control.

A case is what a change does and the verdicts that docs/policy.md allows; its control is the same work in a form that was always
seen, or the same code. Where the folder of shared material has its own script (attacks/attacks.py), that runs as well and must
print no OPEN line; without it the script ends as skipped, after the cases here.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["TG_SOURCE_DIR"], "tests/data"))
from plain_model import Work, usual, write_run  # noqa: E402
from support import ENV, PROGRAM, ROOT, SHARED, expect, fault, finish, tracegate, write_text

STEPS = 5
RED, OPEN, TOLD = {1}, {4}, {1, 4}  # exit codes
KERNEL, OPERATOR, WAIT = Work("aten::op3", "kernel", "void kern3(float*)", 23), Work("aten::op4"), Work(None, "sync", "cudaDeviceSynchronize")
COUNT = "version: 1\nrules:\n  - {id: k, match: {kind: kernel}, metric: count, fail: {abs: 0}%s}\n"
WINDOW = "version: 1\nextends: [tracegate:recommended]\nsuites: [{name: default, trace: x, window: {%s}}]\n"
EXECUTE = WINDOW % "by: annotation, name: 'execute_*'"


def replaced(factor, more=()):
    """kern3 under another name, `factor` as long."""
    return [Work(w.op, w.sort, "void NEW(float*)", w.us * factor) if w.op == "aten::op3" else w for w in usual()] + list(more)


def slower(factor):
    return [Work(w.op, w.sort, w.name, w.us * factor) if w.op == "aten::op3" else w for w in usual()]


def case(id_, codes, work=None, runs=1, **more):
    """`work`: of a fresh step, or a function of (run, step). `marker`, `policy`, `base_marker` where they are not the usual."""
    return id_, codes, work or usual(), runs, more


CASES = [
    case("same code", {0}),
    case("same code, 5 runs", {0}, runs=5),
    case("1000 calls in 4 of 5 runs", RED, lambda run, step: usual() + [KERNEL] * (1000 if run < 4 else 0), 5),
    case("control: in 5 of 5 runs", RED, usual() + [KERNEL] * 1000, 5),
    case("no step is left of the window", OPEN, usual() * 3, policy=WINDOW % "by: ProfilerStep, skip_first: 5"),
    case("control: one step is left", RED, usual() * 3, policy=WINDOW % "by: ProfilerStep, skip_first: 4"),
    case("no markers on the fresh side, everything three times", OPEN, usual() * 3, marker=None),
    case("control: with markers", RED, usual() * 3),
    case("the window's annotation is renamed", OPEN, usual() * 3, policy=EXECUTE, base_marker="execute_%d", marker="run_%d"),
    case("control: it kept its name", RED, usual() * 3, policy=EXECUTE, base_marker="execute_%d", marker="execute_%d"),
    case("control: it kept its name, same code", {0}, policy=EXECUTE, base_marker="execute_%d", marker="execute_%d"),
    case("a kernel is replaced, and 50 calls of another operator", RED, replaced(2, [OPERATOR] * 50)),
    case("control: the calls alone", RED, usual() + [OPERATOR] * 50),
    case("control: the kernel under another name alone", {0}, replaced(1)),
    case("a synchronisation in 2 of 5 steps", RED, lambda run, step: usual() + [WAIT] * (step in (1, 3)), 1),
    case("control: in every step", RED, usual() + [WAIT]),
    case("renamed and 28 % slower", RED, replaced(1.28), 5),
    case("control: not renamed", RED, slower(1.28), 5),
    case("control: renamed, not slower", {0}, replaced(1), 5),
    case("an operator whose name looks like polling", RED, usual() + [Work("mylib::EventQuery")] * 100),
    case("control: another name", RED, usual() + [Work("mylib::event")] * 100),
    case("every name is ignored", TOLD, usual() + [KERNEL], policy=COUNT % "" + "noise: {ignore: ['*']}\n"),
    case("an override switches every limit off", OPEN, usual() + [KERNEL],
         policy=COUNT % ", overrides: [{match: {name: '*'}, fail: off}]"),
    case("control: of one other name", RED, usual() + [KERNEL],
         policy=COUNT % ", overrides: [{match: {name: '*kern4*'}, fail: off}]"),
]


def check(tmp, n, work, runs, marker="ProfilerStep#%d", base_marker="ProfilerStep#%d", policy=None):
    folder = f"{tmp}/{n}"
    for run in range(runs):
        write_run(f"{folder}/base/run{run}.json", [usual()] * STEPS, 1 + run, marker=base_marker)
        steps = [work(run, step) if callable(work) else work for step in range(STEPS)]
        write_run(f"{folder}/x/run{run}.json", steps, 1001 + run, marker=marker)
    args = ["--runs"] if runs > 1 else []
    if policy:
        write_text(f"{folder}/p.yml", policy)
        args += ["--policy", "p.yml"]
    return tracegate("check", "x", "--baseline", "base", *args, cwd=folder, timeout=120)


def shared(tmp):
    """The attacks as they came; False: not there."""
    script = os.path.join(SHARED, "attacks/attacks.py")
    if not SHARED or not os.path.exists(script):
        return False
    env = dict(ENV, TG_PROGRAM=PROGRAM, TG_SOURCE_DIR=ROOT, PYTHONDONTWRITEBYTECODE="1")
    run = subprocess.run([sys.executable, script, tmp], env=env, capture_output=True, text=True, timeout=600)
    lines = run.stdout.splitlines()
    for line in lines:
        if line.startswith("OPEN"):
            fault("shared: " + line)
    expect("shared: last line", lines[-1:], ["0 open"])
    expect(f"shared: exit code, {run.stderr[-300:]}", run.returncode, 0)
    return True


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for n, (id_, codes, work, runs, more) in enumerate(CASES):
            run = check(tmp, n, work, runs, **more)
            if run.returncode not in codes:
                fault(f"{id_}: exit {run.returncode}, must be {sorted(codes)}: {(run.stdout + run.stderr)[:200]!r}")
        there = shared(tmp + "/shared")
    status = finish(f"attacks: {len(CASES)} cases" + (", and those of the shared folder" if there else ""))
    if status == 0 and not there:
        print("attacks.py: the shared attacks are missing (the cases here pass): skipped")
        return 77
    return status


if __name__ == "__main__":
    sys.exit(main())
