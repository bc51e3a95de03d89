#!/usr/bin/env python3
"""scripts/ab in a real repository with a program that hands out recorded traces; docs/record.md's snippet."""
import os
import re
import subprocess
import sys
import tempfile

from support import ENV, PROGRAM, ROOT, expect, finish

TRACES, AB = os.path.join(ROOT, "examples/traces"), os.path.join(ROOT, "scripts/ab")
ENV = dict(ENV, TRACEGATE=PROGRAM)


def git(folder, *args):
    return subprocess.run(["git", *args], cwd=folder, env=ENV, check=True, capture_output=True, text=True).stdout


def repository(tmp):
    """main hands out traces of `base`, the branch those of `extra_copy`; each call is logged."""
    r = tmp + "/r"
    os.makedirs(r)
    git(r, "init", "-q", "-b", "main")
    for variant in ("base", "extra_copy"):
        with open(r + "/bench", "w") as f:
            f.write(f'#!/bin/sh\nn=$(basename "$1" .json.gz)\necho {variant} $n >> {tmp}/log\n'
                    f'[ -n "$TRACE" ] && cp {TRACES}/{variant}/$n.json.gz "$1"\n')
        os.chmod(r + "/bench", 0o755)
        git(r, "add", "-A")
        git(r, "commit", "-qm", variant)
        if variant == "base":
            git(r, "checkout", "-q", "-b", "change")
    return r


def ab(r, *args):
    return subprocess.run([AB, *args], cwd=r, env=ENV, capture_output=True, text=True, timeout=300)


def interleaved(tmp):
    r = repository(tmp)
    run = ab(r, "--base", "main", "--runs", "3", "--json", tmp + "/r.json", "--", "./bench", "{trace}")
    expect("an extra copy: exit", run.returncode, 1)
    expect("an extra copy: named", "aten::clone" in run.stdout, True)
    order = open(tmp + "/log").read().split("\n")[:-1]
    expect("order", order, [f"{v} run0{k}" for k in range(3) for v in ("base", "extra_copy")])
    expect("the report", os.path.exists(tmp + "/r.json"), True)
    expect("no worktree stays", len(git(r, "worktree", "list").splitlines()), 1)
    expect("nothing changed", git(r, "status", "--porcelain"), "")
    # (arguments, exit, words)
    for args, code, words in (
            (("--base", "main"), 2, "scripts/ab --base REF"),
            (("--base", "nonesuch", "--", "true"), 2, "fetch"),
            (("--base", "main", "--runs", "x", "--", "true"), 2, "--runs"),
            (("--base", "main", "--", "false"), 3, "base, run 0: the command failed"),
            (("--base", "main", "--", "true"), 3, "wrote no trace"),
            (("--base", "main", "--setup", "exit 4", "--", "true"), 3, "--setup failed in base"),
            (("--base", "main", "--out", "/proc/nonesuch", "--", "true"), 1, "/proc/nonesuch")):
        run = ab(r, *args)
        expect(f"{args}: exit", run.returncode, code)
        expect(f"{args}: {words!r} in {run.stderr!r}", words in run.stderr, True)
    expect("no worktree stays after a failure", len(git(r, "worktree", "list").splitlines()), 1)


def bisect(tmp):
    """Six commits: the third does not run, the fifth makes an extra copy; `git bisect` has to find that one."""
    r, shas = tmp + "/b", []
    os.makedirs(r)
    git(r, "init", "-q", "-b", "main")
    for k, variant in enumerate(("base", "base", "", "base", "extra_copy", "extra_copy")):
        with open(r + "/bench", "w") as f:
            f.write(f"#!/bin/sh\n# {k}\n" + (f'cp {TRACES}/{variant}/$(basename "$1") "$1"\n' if variant else "exit 1\n"))
        os.chmod(r + "/bench", 0o755)
        git(r, "add", "-A")
        git(r, "commit", "-qm", f"commit {k}")
        shas.append(git(r, "rev-parse", "HEAD").strip())
    command = ("--bisect", "--base", shas[0], "--runs", "3", "--", "./bench", "{trace}")
    for at, code in ((1, 0), (2, 125), (4, 1)):
        git(r, "checkout", "-q", shas[at])
        run = ab(r, *command)
        expect(f"commit {at}: exit {run.stderr[-300:]}", run.returncode, code)
    git(r, "checkout", "-q", "main")
    git(r, "bisect", "start", shas[5], shas[0])
    run = subprocess.run(["git", "bisect", "run", AB, *command], cwd=r, env=ENV, capture_output=True, text=True)
    expect(f"found {run.stdout[-300:]} {run.stderr[-300:]}", f"{shas[4]} is the first bad commit" in run.stdout, True)
    for args in (("--bisect", "--base", "nonesuch", "--", "true"), ("--bisect", "--base", shas[0], "--", "false"),
                 ("--bisect", "--base", shas[0], "--max-runs", "x", "--", "true")):
        run = ab(r, *args)
        expect(f"{args}: ends the bisection", run.returncode >= 128, True)


def snippet(tmp):
    """The lines of docs/record.md compile; with a PyTorch that has Kineto they run."""
    text = open(os.path.join(ROOT, "docs/record.md")).read()
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    expect("twelve lines", len([x for x in code.splitlines() if x.strip()]), 12)
    path = tmp + "/snippet.py"
    with open(path, "w") as f:
        f.write("import sys\nTRACE = sys.argv[1]\n" + code.replace(
            "torch.manual_seed(0)\n", "torch.manual_seed(0)\nm = torch.nn.Linear(8, 8)\n"
            "train_step = lambda step: m(torch.ones(4, 8)).sum().backward()\n"))
    compiled = subprocess.run([sys.executable, "-m", "py_compile", path], capture_output=True, text=True)
    expect(f"compiles {compiled.stderr}", compiled.returncode, 0)
    can = subprocess.run([sys.executable, "-c", "import torch, sys; sys.exit(not torch.profiler.kineto_available())"],
                         capture_output=True)
    if can.returncode:
        print("snippet: compiled, not run (no PyTorch with Kineto)")
        return
    run = subprocess.run([sys.executable, path, tmp + "/t.json.gz"], capture_output=True, text=True)
    expect(f"runs {run.stderr}", run.returncode, 0)
    told = subprocess.run([PROGRAM, "check", tmp + "/t.json.gz", "--baseline", tmp + "/t.json.gz", "--exit-zero"],
                          capture_output=True, text=True, cwd=tmp)
    expect(f"a trace with steps {told.stdout} {told.stderr}", told.returncode, 0)


def main():
    for job in (interleaved, bisect, snippet):
        with tempfile.TemporaryDirectory() as tmp:
            job(tmp)
    return finish("ab")


if __name__ == "__main__":
    sys.exit(main())
