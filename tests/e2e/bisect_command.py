#!/usr/bin/env python3
"""`tracegate bisect` on histories whose truth is written beside them: which commit made the extra copy, commits that do
not build or run, a merge, the answers for `git bisect run`, and signals."""
import os
import signal
import subprocess
import time

from support import (ENV, PROGRAM, ROOT, TRACES, expect, expect_end, git, read_json, read_text, run_parts, tracegate,
                     write_text)


def bisect(folder, *args):
    return tracegate("bisect", *args, cwd=folder, timeout=200)


def commit(r, k, variant):
    """variant: what is handed out; "" the command fails; "!" the build fails; "0" no trace is written."""
    body = {"": "exit 7", "!": "", "0": "exit 0"}.get(variant, f'cp {TRACES}/{variant}/$(basename "$1") "$TRACE"')
    write_text(r + "/bench", f"#!/bin/sh\n# {k}\n{body}\n")
    write_text(r + "/build", f"echo built {k}\n" + ("echo no such header >&2; exit 1\n" if variant == "!" else ""))
    os.chmod(r + "/bench", 0o755)
    git(r, "add", "-A")
    git(r, "commit", "-qm", f"commit {k}")
    return git(r, "rev-parse", "HEAD")


def repository(tmp, name, variants):
    r = os.path.join(tmp, name)
    os.makedirs(r)
    git(r, "init", "-q", "-b", "main")
    return r, [commit(r, k, v) for k, v in enumerate(variants)]


RUN = ("--once", "3", "--setup", "sh build", "--", "./bench", "{trace}")


def planned(tmp):
    """The policy's plan holds for each commit, and the command line wins."""
    r, shas = repository(tmp, "plan", ("base", "base"))
    write_text(tmp + "/plan.yml", "version: 1\nextends: [tracegate:recommended]\nab: {detect: 35%, max_runs: 1}\n")
    for more, runs in ((), 1), (("--max-runs", "3"), 3):
        out = f"{tmp}/plan{runs}"
        bisect(r, "--good", shas[0], "--out", out, "--policy", tmp + "/plan.yml", *more, "--setup", "sh build", "--", "./bench", "{trace}")
        said = str(read_json(f"{out}/{shas[1][:12]}.json"))
        expect(f"plan {more}: {said}", (f"without room for new runs after {runs} a side" in said, "+35 %" in said), (True, True))
    expect_end("a plan that is none", bisect(r, "--good", shas[0], "--policy", tmp + "/none.yml", *RUN[2:]), 2, err="none.yml")


def found(tmp):
    b, x = "base", "extra_copy"
    # (commits; the first is good, the last is bad), which ones may be it, exit code
    for k, (variants, which, code) in enumerate((
            ((b, x), [1], 0),
            ((b, b, b, b, b, b, x, x), [6], 0),
            ((b, x, x, x, x, x, x, x), [1], 0),
            ((b, b, "!", b, "", x, x), [4, 5], 4),
            ((b, b, "!", "0", b, x, x, "", x), [5], 0),
            ((b, "!", "!", "", x), [1, 2, 3, 4], 4),
            ((b, b, b), [], 4))):
        r, shas = repository(tmp, f"r{k}", variants)
        run = bisect(r, "--good", shas[0], "--bad", shas[-1], "--out", os.path.join(tmp, f"out{k}"), *RUN)
        expect(f"{variants}: exit {run.stderr}", run.returncode, code)
        tail = run.stdout.split("\n\n")[-1]
        expect(f"{variants}: named", [i for i, s in enumerate(shas) if s[:12] in tail and which], which)
        skipped = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("skip ")]
        expect(f"{variants}: skipped", all(variants[[s[:12] for s in shas].index(x)] in ("", "!", "0") for x in skipped), True)
        expect(f"{variants}: no worktree stays", git(r, "worktree", "list").count("\n"), 0)
        expect(f"{variants}: nothing changed", (git(r, "status", "--porcelain"), git(r, "rev-parse", "HEAD")), ("", shas[-1]))
        if which == [6]:
            expect("the report", read_json(os.path.join(tmp, f"out{k}", shas[6][:12] + ".json"))["verdict"], "fail")
            expect("evidence", "aten::clone" in run.stdout, True)
            expect("four or five of seven are tested", run.stdout.count("commit") < 12, True)


def bad_end(tmp):
    """Of a bad commit that cannot be compared nothing is said but that; one that is not slower is."""
    none = "is not slower than"
    for k, (variant, answer, words, more) in enumerate((
            ("base", "good", none, ()), ("", "skip", "cannot be compared with", ()), ("!", "skip", "cannot be compared with", ()),
            ("0", "skip", "cannot be compared with", ()))):
        r, shas = repository(tmp, f"bad{k}", ("base", "base", variant))
        run = bisect(r, "--good", shas[0], *more, *RUN)
        expect_end(f"bad end {variant!r}: {run.stderr}", run, 4, f"{answer}  {shas[2][:12]}", words)
        expect(f"bad end {variant!r}: not slower", none in run.stdout, answer == "good")


def flaky_good(tmp):
    """The good commit fails twice beside one of the others: that one is skipped, and the search goes on. Control: beside the first it ends."""
    for nth, code in ((2, 4), (1, 3)):
        r, shas = repository(tmp, f"flaky{nth}", ("base", "base", "base", "extra_copy"))
        count = f"{tmp}/count{nth}"
        run = bisect(r, "--good", shas[0], "--once", "1", "--", "sh", "-c",
                     f'case "$TRACE" in */base-*) echo >> {count}; n=$(wc -l < {count}); [ $n -ge {nth} ] && [ $n -le {nth + 1} ] && exit 9;; esac; '
                     './bench "$TRACE"')
        expect(f"flaky {nth}: exit {run.stderr}", run.returncode, code)
        expect(f"flaky {nth}: {run.stdout}", ("skip " in run.stdout, "one of these" in run.stdout), (code == 4,) * 2)


def by_calls(tmp):
    """A bad commit that fails by calls, which one run a side proves: each commit needs one, and no time is asked.
    Control: --once 3 makes three."""
    for more, runs in ((), 1), (("--once", "3"), 3):
        r, shas = repository(tmp, f"calls{runs}", ("base", "base", "base", "extra_copy", "extra_copy"))
        made = f"{tmp}/made{runs}"
        run = bisect(r, "--good", shas[0], *more, "--", "sh", "-c", f'echo >>{made}; ./bench "$TRACE"')
        expect_end(f"calls {more}: exit {run.stderr}", run, 0, f"first bad commit: {shas[3][:12]}")
        expect(f"calls {more}: runs of 3 commits tested", read_text(made).count("\n"), 3 * 2 * runs)


def merges(tmp):
    """The copy came with a branch: its merge is the answer, not a commit of the branch."""
    r, shas = repository(tmp, "m", ("base", "base"))
    git(r, "checkout", "-q", "-b", "topic")
    inside = [commit(r, k, v) for k, v in ((10, "base"), (11, "extra_copy"), (12, "extra_copy"))]
    git(r, "checkout", "-q", "main")
    git(r, "merge", "-q", "--no-ff", "-m", "merge topic", "topic")
    merge = git(r, "rev-parse", "HEAD")
    commit(r, 20, "extra_copy")
    run = bisect(r, "--good", shas[0], *RUN)
    expect_end(f"merge: exit {run.stderr}", run, 0, f"first bad commit: {merge[:12]}  merge topic")
    expect("merge: not inside", any(s[:12] in run.stdout for s in inside), False)
    expect_end("not on the line", bisect(r, "--good", inside[0], *RUN), 2, err="first parents")


def git_bisect(tmp):
    r, shas = repository(tmp, "g", ("base", "base", "!", "base", "extra_copy", "extra_copy"))
    step = (PROGRAM, "bisect", "--only-head", "--good", shas[0], *RUN)
    for at, code in ((1, 0), (2, 125), (4, 1)):
        git(r, "checkout", "-q", shas[at])
        run = subprocess.run(step, cwd=r, env=ENV, capture_output=True, text=True)
        expect(f"commit {at}: exit {run.stderr}", run.returncode, code)
    as_script = (f"{ROOT}/scripts/ab", "--bisect", "--base", shas[0], *RUN)  # as 0.2.0 spelled it
    for command in (step, as_script):
        git(r, "bisect", "start", shas[5], shas[0])
        run = subprocess.run(["git", "bisect", "run", *command], cwd=r, env={**ENV, "TRACEGATE": PROGRAM}, capture_output=True, text=True)
        expect(f"git bisect run {run.stdout[-300:]}", f"{shas[4]} is the first bad commit" in run.stdout, True)
        git(r, "bisect", "reset")
    wrong = subprocess.run((*as_script[:3], "nonesuch", *RUN), cwd=r, env={**ENV, "TRACEGATE": PROGRAM}, capture_output=True, text=True)
    expect("as a script, a mistake: ends the bisection", wrong.returncode >= 128, True)
    for args in (("--good", "nonesuch", "--", "true"), ("--good", shas[0], "--", "false"), ("--good", shas[0]),
                 ("--good", shas[0], "--once", "0", "--", "true")):
        expect(f"{args}: ends the bisection", bisect(r, "--only-head", *args).returncode >= 128, True)
        expect(f"{args}: a mistake", bisect(r, *args).returncode in (2, 3), True)


def folder(tmp):
    """Called in a folder of the repository, the command runs in that folder of each commit."""
    r, shas = repository(tmp, "f", ("base", "extra_copy"))
    os.makedirs(r + "/sub")
    run = bisect(r + "/sub", "--good", shas[0], "--once", "3", "--", "../bench", "{trace}")
    expect("a folder that the commits lack is a side that does not run", run.returncode, 3)
    expect("nothing is left", [x for x in os.listdir(tmp + "/t") if x.startswith("tracegate-")], [])


def is_running(pid):
    """Not gone, and not a zombie that nobody has waited for."""
    try:
        return read_text(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def signals(tmp):
    """A signal in the middle of a run, or of --setup: the command and what it started end, no worktree and no folder
    stays, and the status is the signal's. Control: what the signal comes to is running before."""
    r, shas = repository(tmp, "s", ("base", "base", "base"))
    slow = ("sh", "-c", 'sleep 300 & echo $! $$ >>"$PIDS"; wait')
    for k, (end, args) in enumerate(((signal.SIGTERM, slow), (signal.SIGINT, slow), (signal.SIGHUP, slow),
                                     (signal.SIGTERM, None))):
        pids = os.path.join(tmp, f"pids{k}")
        args = ["--", *args] if args else ["--setup", slow[2], "--", "true"]
        p = subprocess.Popen([PROGRAM, "bisect", "--good", shas[0], *args], cwd=r, env={**ENV, "PIDS": pids},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + 60
        while not (os.path.exists(pids) and os.path.getsize(pids)) and time.monotonic() < until:
            time.sleep(0.02)
        started = read_text(pids).split()
        expect(f"{end.name} {k}: two programs run", [is_running(x) for x in started], [True, True])
        expect(f"{end.name} {k}: worktrees while it runs", git(r, "worktree", "list").count("\n") > 0, True)
        p.send_signal(end)
        expect(f"{end.name} {k}: status", p.wait(60), -end)
        expect(f"{end.name} {k}: programs end", [is_running(x) for x in started], [False, False])
        expect(f"{end.name} {k}: no worktree stays", git(r, "worktree", "list").count("\n"), 0)
        expect(f"{end.name} {k}: no folder stays", [x for x in os.listdir(tmp + "/t") if x.startswith("tracegate-")], [])
    expect("nothing changed", (git(r, "status", "--porcelain"), git(r, "rev-parse", "HEAD")), ("", shas[-1]))


def main(tmp):
    os.makedirs(tmp + "/t")
    ENV["TMPDIR"] = tmp + "/t"
    for job in (planned, found, bad_end, flaky_good, by_calls, merges, git_bisect, folder, signals):
        job(tmp)


run_parts(main)
