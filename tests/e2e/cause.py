#!/usr/bin/env python3
"""The cause of a violation, on generated traces with Python stacks: a repository with a small model, a change to it,
traces of both sides, and beside each case the function that must be named, written down before the program runs.
"""
import copy
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import ENV, PROGRAM, TRACES, Repository, expect, git, read_json, run_parts, sanitized, tracegate, write_json

MODEL = """import torch


class Embed(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        return x


class Block(torch.nn.Module):
    def forward(self, x):
        x = self.attend(x)
        return norm(x)

    def attend(self, x):
        for _ in range(4):
            x = x + 1
        return torch.mm(x, x)


def norm(x):
    return x / 2
"""
TRAIN = """import model


def load():
    return parse(1)


def parse(x):
    return x


def step(x):
    y = model.Embed()(x)
    for b in blocks:
        y = b(y)
    y.sum().backward()
"""
EMBED, BLOCK, ATTEND, NORM = (f"model.py({n}): {f}" for n, f in ((5, "forward"), (11, "forward"), (15, "attend"), (21, "norm")))
LOAD, PARSE, STEP = (f"train.py({n}): {f}" for n, f in ((4, "load"), (8, "parse"), (12, "step")))


def op(name, us=20, seq=None):
    return {"cat": "cpu_op", "name": name, "us": us, "seq": seq, "in": []}


def frame(name, *inside, us=5):
    return {"cat": "python_function", "name": name, "us": us, "in": list(inside)}


def module(name, *inside):
    return frame(f"nn.Module: {name}", *inside)


def program():
    """One step: the tree of its calls; `us` is the time of a call less its children's."""
    blocks = []
    for i in range(3):
        blocks.append(module(f"Block_{i}", frame(BLOCK, frame(ATTEND, *[op("aten::add", 20, 100 + 10 * i + k) for k in range(4)],
                                                              op("aten::mm", 100, 105 + 10 * i)), frame(NORM, op("aten::div", 30, 107 + 10 * i)))))
    back = [op("autograd::engine::evaluate_function: MmBackward0", 5, 105 + 10 * i) for i in (2, 1, 0)]
    for b in back:
        b["in"] = [op("aten::mm", 110)]
    return [frame(LOAD, frame(PARSE, us=50)),
            frame(STEP, module("Embed_0", frame(EMBED, op("aten::add", 20, 90))), *blocks,
                  frame("torch/_tensor.py(400): backward", frame("<built-in method run_backward>", us=800)))], back


def find(tree, *names):
    """All nodes of the last name below the others."""
    out = []
    for n in tree:
        if n["name"] == names[0]:
            out += [n] if len(names) == 1 else find(n["in"], *names[1:])
        out += find(n["in"], *names)
    return out


def trace(path, tree, back, seed, steps=5):
    r, events, t = random.Random(seed), [], 1000.0

    def put(node, at, tid):
        begin, at = at, at + node["us"] * (1 + r.uniform(-0.004, 0.004)) / 2
        for child in node["in"]:
            at = put(child, at, tid)
        at += node["us"] / 2
        args = {"Sequence number": node["seq"]} if node.get("seq") is not None else {}
        events.append({"ph": "X", "cat": node["cat"], "name": node["name"], "pid": 1, "tid": tid, "ts": round(begin, 3),
                       "dur": round(at - begin, 3), "args": args})
        return at + 1
    for n in range(steps):
        begin = t
        for node in tree:
            t = put(node, t, 1)
        at = t - 780
        for node in back:
            at = put(node, at, 2)
        t += 10
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1, "tid": 1, "ts": begin - 1,
                       "dur": round(t - begin, 3)})
        t += 10
    write_json(path, {"schemaVersion": 1, "with_stack": 1, "traceEvents": events})


class Case:
    def __init__(self, name, files, change, op_name, want, changed, share=0.5, **more):
        self.name, self.files, self.change, self.op, self.want = name, files, change, op_name, want
        self.changed, self.share, self.more = changed, share, more


def slower(*path, by=1.0, add=0):
    def change(tree, back):
        for n in find(tree + back, *path):
            n["us"] = n["us"] * by + add
    return change


def more(under, node):
    def change(tree, back):
        for n in find(tree, *under):
            n["in"].append(copy.deepcopy(node))
    return change


def several(*changes):
    def change(tree, back):
        for one_of in changes:
            one_of(tree, back)
    return change


def edit(text, old, new):
    assert old in text
    return text.replace(old, new)


# In the first the slower operator is called most often elsewhere.
CASES = [
    Case("a slower add where few are", {"model.py": edit(MODEL, "        x = x + 1\n        return x", "        x = x + 2\n        return x")},
         slower("nn.Module: Embed_0", EMBED, "aten::add", add=300), "aten::add", ("model.py", "Embed.forward"), [[6, 6]], module="Embed_0"),
    Case("a copy more in every block", {"model.py": edit(MODEL, "        return norm(x)", "        return norm(x.clone())")},
         more((BLOCK,), op("aten::clone", 15)), "aten::clone", ("model.py", "Block.forward"), [[13, 13]]),
    Case("a slower mm in one block", {"model.py": edit(MODEL, "torch.mm(x, x)", "torch.mm(x.t(), x)")},
         slower("nn.Module: Block_1", BLOCK, ATTEND, "aten::mm", add=400), "aten::mm", ("model.py", "Block.attend"), [[18, 18]], module="Block_1"),
    Case("the backward pass alone", {"model.py": edit(MODEL, "torch.mm(x, x)", "torch.mm(x, x.t())")},
         slower("autograd::engine::evaluate_function: MmBackward0", "aten::mm", by=2.5), "aten::mm", ("model.py", "Block.attend"), [[18, 18]],
         backward=True),
    Case("pure Python", {"train.py": edit(TRAIN, "    return x\n", "    return sorted(x)\n")},
         slower(PARSE, add=900), "step_time", ("train.py", "parse"), [[9, 9]]),
    Case("a helper that is called from everywhere", {"model.py": edit(MODEL, "    return x / 2", "    return x / 2.0")},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), [[22, 22]]),
    Case("another function of the file was changed",
         {"model.py": edit(MODEL, "        x = x + 1\n        return x", "        x = x + 2\n        return x")},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), []),
    Case("a callee in another file, which holds a fifth",
         {"model.py": edit(MODEL, "        x = x + 1\n        return x", "        x = (x + 1).t()\n        return x")},
         several(more((EMBED,), op("aten::clone", 60)), *[more((STEP,), op("aten::clone", 60))] * 4), "aten::clone", ("train.py", "step"), [[6, 6]],
         says="which calls Embed.forward, changed in this pull request (model.py line 6)"),
    Case("a dependency alone", {"requirements.txt": "torch==2.9\n"},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), [], says="the change touches dependencies (requirements.txt)",
         next="which the change does not touch; look at what it does touch: dependencies (requirements.txt)."),
    Case("a compiled file alone", {"csrc/div.cu": "// 2\n"},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), [], says="the change touches build or compiled files (csrc/div.cu)",
         next="look at what it does touch: build or compiled files (csrc/div.cu)."),
    Case("a constant above all functions", {"model.py": edit(MODEL, "import torch\n", "import torch  # 2\n")},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), [], says="changed outside every function (line 1)"),
    Case("a decorator", {"model.py": edit(MODEL, "\ndef norm", "\n@torch.no_grad()\ndef norm")},
         slower(NORM, "aten::div", by=4), "aten::div", ("model.py", "norm"), [[21, 21]]),
]


def committed(folder, files, change, runs):
    """main has the model, the branch `pr` what the change wrote; base/ and out/ have so many runs of each."""
    Repository(folder).history({"model.py": MODEL, "train.py": TRAIN, ".gitignore": "base\nout\n*.json\n*.md\n"}, files, branch="pr")
    for side in ("base", "out"):
        os.makedirs(f"{folder}/{side}")
        for k in range(runs):
            tree, back = program()
            if side == "out":
                change(tree, back)
            trace(f"{folder}/{side}/run{k}.json.gz", tree, back, seed=k + 100 * (side == "out"))


def check(folder, *args):
    run = tracegate("check", "out", "--runs", "--baseline", "base", "--base-commit", "main", "--json", "report.json", *args, cwd=folder)
    return run.returncode, read_json(folder + "/report.json"), run.stdout + run.stderr


def violations(report):
    return report["violations"] + report["warnings"]


def one(case, folder):
    committed(folder, case.files, case.change, 5)
    code, report, text = check(folder)
    expect(f"{case.name}: exit", code, 1)
    found = [r for r in violations(report) if case.op in (r["op_normalised"], r["metric"])]
    if not found:
        expect(f"{case.name}: {case.op} among {[r['op'] for r in violations(report)]}\n{text}", False, True)
        return
    cause = found[0]["cause"] or {}
    got = (cause.get("file"), cause.get("qualified"))
    expect(f"{case.name}: function ({found[0]['no_cause']})\n{text[:1500] if got != case.want else ''}", got, case.want)
    expect(f"{case.name}: changed lines", cause.get("changed"), case.changed)
    expect(f"{case.name}: share {cause.get('share')}", (cause.get("share") or 0) >= 0.5, True)
    if "module" in case.more:
        expect(f"{case.name}: module", cause.get("module"), case.more["module"])
    layers = re.findall(r" in layer (\w+)", " ".join(text.split()))
    expect(f"{case.name}: the layer is named where it is one", layers[:1], [case.more["module"]] if "module" in case.more else [])
    expect(f"{case.name}: backward", cause.get("backward"), case.more.get("backward", False))
    for said in [case.more[key] for key in ("says", "next") if key in case.more]:
        expect(f"{case.name}: says {said}: {text}", said in " ".join(text.split()), True)
    if case.want[1] != "parse":  # a row's time is that of the first runs
        diff = tracegate("diff", "base", "out", "--runs", "--cause", "--base-commit", "main", cwd=folder)
        told = [line for line in diff.stdout.split("\nCauses\n")[-1].split("\n") if line.startswith(f"  {case.op} ")]
        expect(f"{case.name}: diff --cause {diff.stdout[-600:]}", len(told) == 1 and f"{case.want[0]}:" in told[0] and
               f" {case.want[1]}" in told[0] and ("changed in this pull request" in told[0]) == bool(case.changed), True)
        diff = tracegate("diff", "base", "out", "--runs", "--cause", "--base-commit", "main", "--format", "json", cwd=folder)
        same = [c for c in json.loads(diff.stdout)["causes"] if c["name"] == found[0]["op"] and c["dimension"] == found[0]["dimension"]]
        expect(f"{case.name}: diff's JSON has check's cause", [c["cause"] for c in same], [cause])
    if not case.changed:
        expect(f"{case.name}: not confident", cause.get("confidence") != "high", True)


def large(tmp):
    """Repositories in which nobody finds a cause in seconds: the reports are there, in time and memory, and say what was not searched.
    At each limit below it is found."""
    many = lambda n: "".join(f"def f{k}():\n    pass\n" for k in range(n))  # noqa: E731
    nested = lambda n: "".join(" " * k + f"class c{k}:\n" for k in range(n)) + " " * n + "pass\n"  # noqa: E731
    cases = [("functions", {"model.py": MODEL + many(200000)}, "larger than 2 MiB"),
             ("lines", {"model.py": MODEL + "\n" * 2000000}, None),
             ("fewer functions", {"model.py": MODEL + many(60000)}, "more than 5,000 functions"),
             ("nested", {"model.py": MODEL + nested(2000)}, "more than 5,000 functions, or more than 50"),
             ("files", {f"pkg/d{k // 500}/m{k}.py": "x = 1\n" for k in range(60000)}, "50,000 files"),
             ("fewer files", {f"pkg/m{k}.py": "x = 1\n" for k in range(2000)}, "more than 1,000 files"),
             ("not so many", {"model.py": MODEL + many(4000) + nested(40), **{f"pkg/m{k}.py": "x = 1\n" for k in range(900)}}, None)]
    for name, files, words in cases:
        folder = f"{tmp}/{name}"
        committed(folder, {path: text.replace("x = x + 1\n        return torch", "x = x + 2\n        return torch") for path, text in files.items()},
                  slower(ATTEND, "aten::mm", by=2), 3)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([sys.executable, "-c", MEASURE, PROGRAM, "check", "out", "--runs", "--baseline", "base", "--base-commit", "main",
                               "--json", "r.json", "--markdown", "r.md"], cwd=folder, env=ENV, capture_output=True, text=True)
        seconds, (code, megabytes) = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, map(int, done.stderr.split()[-2:])
        expect(f"large: {name}: exit {done.stdout}", code, 1)
        if not sanitized():
            expect(f"large: {name}: {seconds:.1f} s of processor", seconds < 5, True)
            expect(f"large: {name}: {megabytes} MB", megabytes < 200, True)
        expect(f"large: {name}: the reports are there", os.path.exists(f"{folder}/r.md"), True)
        rows = [r for r in violations(read_json(f"{folder}/r.json")) if r["op"] == "aten::mm"]
        causes = [(r["cause"] or {}).get("qualified") for r in rows], [r["no_cause"] or "" for r in rows]
        if words:
            expect(f"large: {name}: says what was not searched: {causes}", any("not searched: " in x and words in x for x in causes[1]), True)
        else:
            expect(f"large: {name}: found", "Block.attend" in causes[0], True)
        print(f"large: {name}: {seconds:.2f} s, {megabytes} MB")


def piped(tmp):
    """What comes through a named pipe is read once: a failing check has its causes nevertheless, and does not wait for a second writer."""
    one(next(c for c in CASES if c.name == "a copy more in every block"), f"{tmp}/case")
    for side in ("out", "base"):
        files = {s: f"{s}/run0.json.gz" for s in ("out", "base")}
        pipe, files[side] = files[side], "pipe"
        os.mkfifo(f"{tmp}/case/pipe")
        with subprocess.Popen(["sh", "-c", f"cat {pipe} > pipe"], cwd=f"{tmp}/case") as writer:
            done = subprocess.run([PROGRAM, "check", files["out"], "--baseline", files["base"], "--base-commit", "main", "--json", "report.json"],
                                  cwd=f"{tmp}/case", env=ENV, capture_output=True, text=True, check=False, timeout=60)
            expect(f"{side} through a pipe: the writer", writer.wait(timeout=60), 0)
        expect(f"{side} through a pipe: exit ({done.stderr})", done.returncode, 1)
        found = [r["cause"] for r in violations(read_json(f"{tmp}/case/report.json")) if r["op"] == "aten::clone"]
        expect(f"{side} through a pipe: causes", [(c or {}).get("qualified") for c in found], ["Block.forward"])
        os.remove(f"{tmp}/case/pipe")


MEASURE = """import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
"""


def usage():
    for args, words in ((("--cause", "--format", "csv"), "exclude each other"), (("--base-commit", "main"), "--base-commit needs --cause")):
        run = tracegate("diff", "a", "b", *args)
        expect(f"diff {args}: {run.stderr}", (run.returncode, words in run.stderr), (2, True))
    # a revision that cannot be read would leave out what it was named for: nothing is judged
    with tempfile.TemporaryDirectory() as folder:
        for repository in (False, True):
            if repository:
                git(folder, "init", "-q", "-b", "main")
                git(folder, "commit", "-q", "--allow-empty", "-m", "one")
            for command in (["check", TRACES + "/base/run00.json.gz", "--baseline", TRACES + "/base/run01.json.gz"],
                            ["diff", TRACES + "/base/run00.json.gz", TRACES + "/base/run01.json.gz", "--cause"]):
                for rev, code in (("mian", 2), ("main", 0)) if repository else (("main", 3),):
                    run = tracegate(*command, "--base-commit", rev, cwd=folder)
                    told = "--base-commit " + rev in run.stderr and ("git fetch origin mian" in run.stderr or not repository)
                    expect(f"{command[0]} --base-commit {rev}: {run.stderr}", (run.returncode, told, bool(run.stdout)),
                           (code, code != 0, code == 0))


def main(tmp):
    usage()
    for i, case in enumerate(CASES):
        one(case, f"{tmp}/{i}")


if __name__ == "__main__":
    run_parts(main, large, piped)
