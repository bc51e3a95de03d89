#!/usr/bin/env python3
"""Slower kernels between pseudo-runs of one process: what is found on a device, and what else is said.

usage: device_runs PROGRAM [PERCENT … | --check | --ab]

The two V100 traces of one process in ../shared (TG_SHARED_DIR) are cut into files of two steps: three runs per side, in
turn. Each of the three largest kernels is planted slower in turn in the fresh runs: each call takes PERCENT more (0, 3,
5, 10, 20), what follows it on the device and the following steps begin later, and its step ends later. Prints how
often it fails, warns or passes, and which other names do. Processes differ by more than steps of one process do: this
shows what is lost, not what is safe. Exit 77 without the traces.

--check: exit 1 unless +10 % warns of each of the three and of nothing else, and +0 % of nothing.
--ab: the same through `tracegate ab`, whose command hands out runs of two steps drawn from all twelve, no pair twice:
exit 1 unless +10 % fails by each of the three and by nothing else, and +0 % passes."""
import collections
import gzip
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

TRACES = os.environ.get("TG_SHARED_DIR", "../shared") + "/corpus/traces/kineto_v100"
STEPS_A_RUN = 2
DEVICE = ("Kernel", "Memcpy", "Memset")


def cut(path):
    """Runs of a trace: (the trace without its events, [events of each step, its marker first])."""
    with gzip.open(path) as f:
        trace = json.load(f)
    events = trace.pop("traceEvents")
    marks = sorted((e for e in events if e.get("name", "").startswith("ProfilerStep")), key=lambda e: e["ts"])
    launched = {}
    for e in events:
        if e.get("cat") == "Runtime" and "correlation" in e.get("args", {}):
            launched[e["args"]["correlation"]] = e["ts"]
    steps = [[m] for m in marks]
    for e in events:
        if e.get("ph") != "X" or e.get("cat") in ("Trace", None) or e in marks:
            continue
        at = e["ts"]
        if e["cat"] in DEVICE:
            at = launched.get(e["args"].get("correlation"), at)
        home = [i for i, m in enumerate(marks) if m["ts"] <= at < m["ts"] + m["dur"]]
        if home:
            steps[home[0]].append(e)
    for i in range(0, len(steps) - STEPS_A_RUN + 1, STEPS_A_RUN):
        yield trace, steps[i : i + STEPS_A_RUN]


def slower(run, name, factor):
    """The run with each call of the kernel `factor` times as long."""
    trace, steps = run
    late, out = 0, []
    for step in steps:
        begun = late
        for e in sorted(step[1:], key=lambda e: e["ts"]):
            if e["cat"] not in DEVICE:
                out.append({**e, "ts": e["ts"] + begun})
                continue
            more = e["dur"] * (factor - 1) if e["name"] == name else 0
            out.append({**e, "ts": e["ts"] + late, "dur": e["dur"] + more})
            late += more
        mark = step[0]
        out.append({**mark, "ts": mark["ts"] + begun, "dur": mark["dur"] + late - begun})
    return {**trace, "traceEvents": out}


def largest(runs):
    total = collections.Counter()
    for _, steps in runs:
        for e in (e for step in steps for e in step if e["cat"] == "Kernel"):
            total[e["name"]] += e["dur"]
    return [name for name, _ in total.most_common(3)]


def states_of(report):
    return {r["op"]: r["state"] for s in ("violations", "warnings", "suspicious") for r in report[s]}


def judge(program, folder, base, fresh):
    """State of each name that a report lists."""
    for side, runs in (("a", base), ("b", fresh)):
        for i, trace in enumerate(runs):
            with open(f"{folder}/{side}{i}.json", "w") as f:
                json.dump(trace, f)
    side = [f"{folder}/b{i}.json" for i in range(len(fresh))]
    for i in range(len(base)):
        side += ["--baseline", f"{folder}/a{i}.json"]
    p = subprocess.run([program, "check", *side, "--runs", "--json", "-"], cwd=folder, capture_output=True, text=True)
    report = json.loads(p.stdout)
    return report["verdict"], states_of(report), ""


HAND = """#!/bin/sh
exec cp "$(cat side)/${TRACE##*/}" "$TRACE"
"""


def drawn(runs, seed):
    """17 runs per side, each of two steps of all: (base, fresh)."""
    steps = [(trace, step) for trace, both in runs for step in both]
    pairs = list(itertools.combinations(range(len(steps)), 2))
    made = [(steps[a][0], [steps[a][1], steps[b][1]]) for a, b in random.Random(seed).sample(pairs, 34)]
    return made[0::2], made[1::2]


def ask(program, folder, base, fresh):
    """What `tracegate ab` makes of runs that are handed out: verdict, states, and runs per side."""
    repo = f"{folder}/r"
    for side, runs in (("base", base), ("fresh", fresh)):
        os.makedirs(f"{folder}/{side}", exist_ok=True)
        for k, trace in enumerate(runs):
            with gzip.open(f"{folder}/{side}/run{k:02}.json.gz", "wt", compresslevel=1) as f:
                json.dump(trace, f)
    if not os.path.isdir(repo):
        subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
        for side in ("base", "fresh"):
            for name, text in (("hand", HAND), ("side", f"{folder}/{side}\n")):
                with open(f"{repo}/{name}", "w") as f:
                    f.write(text)
            os.chmod(f"{repo}/hand", 0o755)
            for args in (("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", side)):
                subprocess.run(["git", *args], cwd=repo, check=True)
    p = subprocess.run([program, "ab", "--base", "HEAD~1", "--json", f"{folder}/r.json", "--", "./hand"], cwd=repo,
                       capture_output=True, text=True)
    with open(f"{folder}/r.json") as f:
        report = json.load(f)
    return report["verdict"], states_of(report), p.stderr.splitlines()[-1]


def main():
    check, ab = sys.argv[2:] == ["--check"], sys.argv[2:] == ["--ab"]
    wanted = {0: "pass", 10: "fail" if ab else "warn"}
    program, percents = os.path.abspath(sys.argv[1]), list(wanted) if check or ab else [float(x) for x in sys.argv[2:]] or [0, 3, 5, 10, 20]
    if not os.path.isdir(TRACES):
        return 77
    runs = [r for k in (1, 2) for r in cut(f"{TRACES}/resnet50_w0_run{k}/worker0.json.gz")]
    base, fresh = drawn(runs, 1) if ab else (runs[0::2], runs[1::2])
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        for percent in percents:
            for name in largest(runs):
                verdict, states, told = (ask if ab else judge)(program, folder, [slower(r, name, 1) for r in base],
                                                               [slower(r, name, 1 + percent / 100) for r in fresh])
                found = states.pop(name, "pass")
                ok = ok and (not (check or ab) or (found == verdict == wanted[percent] and not states))
                print(f"+{percent:g} %  {found:5} {name[:60]}  verdict {verdict}; others: {states or 'none'} {told}", flush=True)
    return not ok


if __name__ == "__main__":
    sys.exit(main())
