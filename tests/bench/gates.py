#!/usr/bin/env python3
"""tracegate beside three usual gates, on the recorded runs of examples/traces: how often each stops the same code
(two draws of five of the fifteen runs of `base`), and a change that is one (five of `base` against a variant).

    gates.py [DRAWS]        200 by default; seeded; needs numpy and TG_PROGRAM

  step +5 %      mean step time of the fresh runs more than 5 % above the baseline's
  operator +5 %  the same for any operator with 1 % of the step or more
  pooled test    any such operator with p < 1 % by Mann-Whitney (normal approximation) over all steps of all runs, pooled
"""
import glob
import gzip
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("TG_PROGRAM", os.path.join(ROOT, "build/dev/cmd/tracegate"))
TRACES = os.path.join(ROOT, "examples/traces")


def read(path):
    """(step times, {operator: self time of each step}) of one run, us."""
    with gzip.open(path, "rt", encoding="utf-8") as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    steps = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"].startswith("ProfilerStep#"))
    ops = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    out, stack = {}, []
    for e in ops:
        e["self"] = e["dur"]
        while stack and (stack[-1]["tid"] != e["tid"] or stack[-1]["ts"] + stack[-1]["dur"] <= e["ts"]):
            stack.pop()
        if stack:
            stack[-1]["self"] -= e["dur"]
        stack.append(e)
    for e in ops:
        k = next((i for i, (a, b) in enumerate(steps) if a <= e["ts"] < b), None)
        if k is not None:
            out.setdefault(e["name"], [0.0] * len(steps))[k] += e["self"]
    return [b - a for a, b in steps], out


def pooled(a, b):
    """One-sided p that b is larger."""
    both = np.concatenate([a, b])
    ranks = both.argsort(kind="stable").argsort() + 1.0
    u = ranks[len(a):].sum() - len(b) * (len(b) + 1) / 2
    mean, sd = len(a) * len(b) / 2, math.sqrt(len(a) * len(b) * (len(a) + len(b) + 1) / 12)
    return 0.5 * math.erfc((u - mean) / sd / math.sqrt(2))


def usual(base, fresh):
    """What the three usual gates say."""
    step = np.mean([t for r in base for t in r[0]])
    gates = {"step +5 %": np.mean([t for r in fresh for t in r[0]]) > 1.05 * step, "operator +5 %": False, "pooled test": False}
    for name in {n for r in base for n in r[1]}:
        a = np.array([t for r in base for t in r[1].get(name, [0])])
        b = np.array([t for r in fresh for t in r[1].get(name, [0])])
        if a.mean() < 0.01 * step:
            continue
        gates["operator +5 %"] |= bool(b.mean() > 1.05 * a.mean())
        gates["pooled test"] |= bool(pooled(a, b) < 0.01)
    return gates


def ours(base, fresh):
    with tempfile.TemporaryDirectory() as tmp:
        for side, paths in (("base", base), ("fresh", fresh)):
            os.makedirs(f"{tmp}/{side}")
            for p in paths:
                shutil.copy(p, f"{tmp}/{side}/")
        return subprocess.run([PROGRAM, "check", "--runs", "fresh", "--baseline", "base", "--quiet"], cwd=tmp, capture_output=True).returncode == 1


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = random.Random(17)
    runs = {os.path.basename(os.path.dirname(p)): sorted(glob.glob(os.path.dirname(p) + "/*.gz")) for p in glob.glob(TRACES + "/*/run00.json.gz")}
    data = {p: read(p) for paths in runs.values() for p in paths}
    names = ["step +5 %", "operator +5 %", "pooled test", "tracegate"]
    print(f"stopped, of {draws} draws (variants: {draws // 5})\n{'':14}" + "".join(f"{n:>15}" for n in names))
    for variant in ["base", "extra_copy", "added_sync", "lost_fusion", "slower_op"]:
        n, stopped = (draws if variant == "base" else draws // 5), dict.fromkeys(names, 0)
        for _ in range(n):
            pick = rng.sample(runs["base"], 10)
            base, fresh = pick[:5], pick[5:] if variant == "base" else runs[variant]
            for gate, said in usual([data[p] for p in base], [data[p] for p in fresh]).items():
                stopped[gate] += said
            stopped["tracegate"] += ours(base, fresh)
        print(f"{variant:14}" + "".join(f"{f'{stopped[g]} ({100 * stopped[g] / n:.0f} %)':>15}" for g in names), flush=True)


if __name__ == "__main__":
    main()
