#!/usr/bin/env python3
"""Summaries of many ranks of one program, and what merging and judging them costs.

    tests/bench/ranks.py make FOLDER RANKS [--source TRACE] [--steps N] [--ns] [--change N] [--program PROGRAM]
    tests/bench/ranks.py cost FOLDER [--program PROGRAM]

`make` writes RANKS traces: the one of --source (default: the example) with every leaf shortened by 0 to 5 %, by its own
rank; only the first N steps; times in whole microseconds, or with --ns in nanoseconds. Each is summarised and deleted.
--change seeds another run of the same program. `cost` merges them, and judges them against themselves; CPU and peak are
those of the process. Data are variations of one recording, so verdicts mean nothing. Results: docs/benchmarks.md.
"""
import argparse
import glob
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests/data"))
sys.dont_write_bytecode = True
from plain_model import leaves  # noqa: E402

POLICIES = {
    "measures": """version: 1

rules:
  - {id: step, metric: step_time, fail: {pct: 10%}}
  - {id: busy, metric: gpu_busy, fail: {pct: 10%}}
  - {id: skew, metric: skew, fail: {max: 900%}}
  - {id: spread, metric: rank_spread, fail: {pct: 90%}}
""",
    "preset and rank rules": """version: 1
extends: ['tracegate:recommended']
rules:
  - {id: each-count, match: {kind: kernel, rank: each}, metric: count, direction: both, fail: {abs: 0}}
  - {id: each-op, match: {kind: op, rank: each}, metric: count, direction: both, fail: {abs: 0}}
  - {id: each-step, match: {rank: each}, metric: step_time, fail: {pct: 50%}}
  - {id: slowest, match: {kind: kernel, rank: slowest}, metric: count, direction: both, fail: {abs: 0}}
""",
}


def source(path, steps):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        doc = json.load(f)
    events = doc["traceEvents"]
    marks = sorted((e["ts"], e["ts"] + e["dur"]) for e in events
                   if str(e.get("name", "")).startswith("ProfilerStep#") and e.get("ph") == "X")
    marks = sorted(set(marks))
    if steps and len(marks) > steps:
        end = marks[steps][0]
        doc["traceEvents"] = [e for e in events if not isinstance(e.get("ts"), (int, float)) or e["ts"] < end]
    return doc


def make(o):
    doc = source(o.source, o.steps)
    spans = leaves(doc["traceEvents"])
    usual = [e["dur"] for e in spans]
    os.makedirs(o.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        trace = os.path.join(tmp, "trace.json")
        for rank in range(o.ranks):
            r = random.Random(1_000_000 * o.change + rank)
            for e, dur in zip(spans, usual):
                e["dur"] = round(dur * (1 - 0.05 * r.random()), 3) if o.ns else round(dur * (1 - 0.05 * r.random()))
            doc["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": o.ranks}
            with open(trace, "w") as f:
                json.dump(doc, f)
            subprocess.run([o.program, "summarize", trace, "--run", "run%d" % o.change, "-o",
                            os.path.join(o.folder, "rank%d.tgs" % rank)], check=True)


MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, u.ru_utime + u.ru_stime, u.ru_maxrss * 1024)
"""


def measured(args):
    """Exit code, CPU seconds, peak bytes. A small process of its own starts it: a child inherits its parent's peak."""
    text = subprocess.run([sys.executable, "-c", MEASURE, *args], check=True, capture_output=True, text=True)
    code, cpu, peak = text.stdout.split()
    return int(code), float(cpu), float(peak)


def cost(o):
    files = sorted(glob.glob(os.path.join(o.folder, "*.tgs")))
    n = len(files)
    merged = os.path.join(tempfile.mkdtemp(), "all.tgs")
    code, cpu, peak = measured([o.program, "merge", *files, "-o", merged])
    print(f"merge {n} ranks: exit {code}, {1000 * cpu / n:.2f} ms CPU a rank, peak {peak / 1e6:.0f} MB", flush=True)
    if code:
        return
    plain = open(merged, "rb").read()
    small = gzip.compress(plain, 6)
    first = gzip.compress(open(files[0], "rb").read(), 6)
    print(f"stored: {len(plain) / 1e6:.1f} MB, gzip {len(small) / 1e6:.2f} MB; a rank after the first "
          f"{(len(small) - len(first)) / (n - 1):.0f} bytes of gzip, the first {len(first)}", flush=True)
    for name, text in POLICIES.items():
        policy = os.path.join(os.path.dirname(merged), "p.yml")
        with open(policy, "w") as f:
            f.write(text)
        code, cpu, peak = measured([o.program, "check", merged, "--baseline", o.base or merged, "--policy", policy])
        print(f"check, {name}: exit {code}, {1000 * cpu / n:.2f} ms CPU a rank, peak {peak / 1e6:.0f} MB", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["make", "cost"])
    p.add_argument("folder")
    p.add_argument("ranks", type=int, nargs="?", default=64)
    p.add_argument("--source", default=os.path.join(ROOT, "examples/traces/base/run00.json.gz"))
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--ns", action="store_true")
    p.add_argument("--change", type=int, default=1)
    p.add_argument("--base", help="cost: the stored side, a merged summary; default: the merged one itself")
    p.add_argument("--program", default=os.path.join(ROOT, "build/dev/cmd/tracegate"))
    o = p.parse_args()
    make(o) if o.what == "make" else cost(o)


if __name__ == "__main__":
    main()
