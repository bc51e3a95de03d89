#!/usr/bin/env python3
"""Slower kernels between pseudo-runs of one process: what is found on a device, and what else is said.

usage: device_runs PROGRAM [PERCENT … | --check]

The two V100 traces of one process in ../shared (TG_SHARED_DIR) are cut into files of two steps: three runs per side, in
turn. Each of the three largest kernels is planted slower in turn in the fresh runs: each call takes PERCENT more (0, 3,
5, 10, 20), what follows it on the device and the following steps begin later, and its step ends later. Prints how
often it fails, warns or passes, and which other names do. Processes differ by more than steps of one process do: this
shows what is lost, not what is safe. Exit 77 without the traces.

--check: exit 1 unless +10 % warns of each of the three and of nothing else, and +0 % of nothing."""
import collections
import gzip
import json
import os
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
    return report["verdict"], {r["op"]: r["state"] for s in ("violations", "warnings", "suspicious") for r in report[s]}


def main():
    check = sys.argv[2:] == ["--check"]
    wanted = {0: "pass", 10: "warn"}
    program, percents = os.path.abspath(sys.argv[1]), list(wanted) if check else [float(x) for x in sys.argv[2:]] or [0, 3, 5, 10, 20]
    if not os.path.isdir(TRACES):
        return 77
    runs = [r for k in (1, 2) for r in cut(f"{TRACES}/resnet50_w0_run{k}/worker0.json.gz")]
    base, fresh = runs[0::2], runs[1::2]
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        for percent in percents:
            for name in largest(runs):
                verdict, states = judge(program, folder, [slower(r, name, 1) for r in base],
                                        [slower(r, name, 1 + percent / 100) for r in fresh])
                found = states.pop(name, "pass")
                ok = ok and (not check or (found == verdict == wanted[percent] and not states))
                print(f"+{percent:g} %  {found:5} {name[:60]}  verdict {verdict}; others: {states or 'none'}", flush=True)
    return not ok


if __name__ == "__main__":
    sys.exit(main())
