#!/usr/bin/env python3
"""What causes add to `check`: cause.py PROGRAM [TRACE]

Instructions of `check` on traces with Python stacks, 1, 3 and 5 runs a side, in a failing comparison, and the part of them that the causes
take (callgrind). TRACE is a trace with stacks; the default is the planted program's own, a real one of your program tells more. The fresh side has
one call more in each fifth call of its most frequent operator. The traces that are kept for the causes cost a little while they are read, also where
nothing fails: that is what reading them takes in `check` and does not take in `summarize`, and counts as the causes' as well. Without stacks there is
nothing.
"""
import collections
import copy
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACE = os.path.join(HERE, "../planted/traces/base-text-0.json.gz")


def load(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def planted(trace):
    rows = trace["traceEvents"]
    ops = collections.Counter(e["name"] for e in rows if e.get("cat") == "cpu_op" and e.get("ph") == "X")
    name = ops.most_common(1)[0][0]
    more = [copy.deepcopy(e) for e in [e for e in rows if e.get("name") == name and e.get("ph") == "X"][::5]]
    for e in more:
        e["ts"], e["dur"], e["name"] = float(e["ts"]) + float(e["dur"]) / 4, float(e["dur"]) / 2, "aten::planted"
    return {**trace, "traceEvents": rows + more}


def write(folder, trace, runs, stacks):
    os.makedirs(folder)
    rows = trace["traceEvents"] if stacks else [e for e in trace["traceEvents"] if e.get("cat") != "python_function"]
    for k in range(runs):
        own = [{**e, "dur": float(e["dur"]) + k / 1000} if e.get("ph") == "X" and e.get("cat") == "cpu_op" else e for e in rows]
        with gzip.open(f"{folder}/run{k}.json.gz", "wt", compresslevel=6) as f:  # the same bytes twice are not a second run
            json.dump({**{key: v for key, v in trace.items() if stacks or key != "with_stack"}, "traceEvents": own}, f)


def profile(tmp, *command):
    """Exit code, all instructions, and those of a function and what it calls."""
    out = os.path.join(tmp, "callgrind.out")
    r = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], capture_output=True, text=True, check=False)
    told = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out], capture_output=True, text=True, check=True).stdout
    found = {}
    for m in re.finditer(r"^\s*([\d,]+) \([^)]*\)\s+\S*:(tg_\w+)[ '\[]", told, re.M):  # the largest first
        found.setdefault(m[2], int(m[1].replace(",", "")))
    return r.returncode, int(re.search(r"Collected : (\d+)", r.stderr)[1]), lambda name: found.get(name, 0)


def measure(program, tmp, *args):
    code, every, of = profile(tmp, program, "check", "--quiet", *args)
    reading = sum(profile(tmp, program, "summarize", f"{tmp}/{side}", "-o", f"{tmp}/{side}.tgs")[2]("tg_summary_add") for side in ("base", "fresh"))
    return code, every, of("tg_cause_find") + of("tg_summary_add") - reading


def main():
    program, path = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else TRACE
    base = load(path)
    fresh = planted(base)
    for runs, test, stacks in ((1, fresh, True), (3, fresh, True), (5, fresh, True), (1, base, True), (1, fresh, False)):
        with tempfile.TemporaryDirectory() as tmp:
            write(tmp + "/base", base, runs, stacks)
            write(tmp + "/fresh", test, runs, stacks)
            code, every, causes = measure(program, tmp, tmp + "/fresh", "--baseline", tmp + "/base", *(["--runs"] if runs > 1 else []))
        print(f"{runs} runs a side, {'stacks' if stacks else 'no stacks'}, exit {code}: {every / 1e6:.0f} million instructions, "
              f"causes add {100 * causes / (every - causes):.1f} %", flush=True)


if __name__ == "__main__":
    main()
