#!/usr/bin/env python3
"""
Rules of kind `module` and `source` on real traces with Python stacks, from NVIDIA and AMD, training and inference: every
name's numbers are those of an oracle in this file, which reads the trace by itself; they add up over the steps to what
`analyze --measure modules|sources` prints; and work that is planted under one module turns exactly the rules red whose
frames are around it, by what was planted.
"""
import collections
import csv
import decimal
import gzip
import json
import os
import re
import sys

from support import CORPUS, absent, expect, fault, run_parts, tracegate, write_text

REAL = ["tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz", "tracelens/h100_nsfw/nsfw.json.gz",
        "tracelens/b200_eager/eager_trace.json.gz", "tracelens/vllm_prefilldecode_capture/graph_capture_rank_0.json.gz"]
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver")
METRICS = {"count": "calls", "total": "host", "self": "self", "device_count": "work", "device_time": "device",
           "device_self": "device_self"}


# --- the oracle --------------------------------------------------------------------------------


def read(path):
    with gzip.open(path, "rb") as f:
        trace = json.loads(f.read().decode(errors="replace"), strict=False, parse_float=decimal.Decimal)
    return trace, [e for e in trace["traceEvents"] if e.get("ph", "X") == "X" and "ts" in e and "dur" in e]


def ns(v):
    return int(decimal.Decimal(v) * 1000)


def name_of(kind, raw):
    """As policies call it; None: not of the kind."""
    if kind == "module":
        return raw[len("nn.Module: "):] if raw.startswith("nn.Module: ") else None
    if raw.startswith("<") or not re.search(r"\(\d+\):", raw):
        return None
    return re.sub(r"torchinductor_\S*/\w{32,}\.py", "torchinductor_*/*.py", re.sub(r"\(\d+\):", ":", raw, count=1))


def windows_of(events):
    steps = [e for e in events if re.fullmatch(r"ProfilerStep#\d+", e["name"]) and e.get("cat") in ("user_annotation", "cpu_op")]
    return sorted((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in steps)


def step_at(windows, at):
    """-1: outside; traces without steps are one."""
    return next((k for k, (a, b) in enumerate(windows) if a <= at < b), -1) if windows else 0


class Oracle:
    """Sums per name and step of one kind: calls, host, self, work, device, device_self."""

    def __init__(self, events, kind):
        self.windows = windows_of(events)
        self.sums = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        threads = collections.defaultdict(list)
        for e in events:
            frame = name_of(kind, e["name"]) if e.get("cat") == "python_function" else None
            if frame or e.get("cat") in CALLS:
                threads[e.get("pid"), e.get("tid")].append((ns(e["ts"]), -ns(e["dur"]), frame is not None, frame, e))
        self.around = {}  # correlation of a call -> the frames around it, the innermost last
        for spans in threads.values():
            self.walk(sorted(spans, key=lambda s: s[:3]))
        for e in events:
            if e.get("cat") in DEVICE and not e["ts"] == e["dur"] == 0:
                self.add_work(e, kind, events)

    def walk(self, spans):
        stack = []  # (end, name, step)
        for start, minus, _, frame, e in spans:
            while stack and stack[-1][0] <= start:
                stack.pop()
            if not frame:
                self.around.setdefault(e["args"].get("correlation"), ([s[1] for s in stack], start))
                continue
            step = step_at(self.windows, start)
            own = self.sums[frame][step]
            own["calls"] += 1
            own["self"] -= minus
            if (frame, step) not in [s[1:] for s in stack]:
                own["host"] -= minus
            if stack:
                self.sums[stack[-1][1]][stack[-1][2]]["self"] += minus
            stack.append((start - minus, frame, step))

    def add_work(self, e, kind, events):
        call = self.around.get(e["args"].get("correlation"))
        names, at = call if call else ([], None)
        step = step_at(self.windows, at) if call else 0 if not self.windows else None
        if step is None:
            return  # its step is told by its neighbours on the stream: compared where the program says it is
        outside = "(launched outside every module)" if kind == "module" else "(launched outside every Python function)"
        for name in set(names) or {outside}:
            s = self.sums[name][step]
            s["work"] += 1
            s["device"] += ns(e["dur"])
        self.sums[names[-1] if names else outside][step]["device_self"] += ns(e["dur"])

    def mean(self, name, what):
        steps = range(len(self.windows) or 1)
        return sum(self.sums[name][k][what] for k in steps) / len(steps)


# --- the program -------------------------------------------------------------------------------


def check(tmp, rules, test, base):
    write_text(f"{tmp}/p.yml", "version: 1\nrequire: {collapse: off}\nrules:\n" + "".join(f"  - {r}\n" for r in rules))
    p = tracegate("check", test, "--baseline", base, "--policy", f"{tmp}/p.yml", "--json", "-")
    if not p.stdout.startswith("{"):
        sys.exit(p.stdout + p.stderr)
    report, out = json.loads(p.stdout), {}
    for state in ("violations", "warnings", "suspicious", "inconclusive", "not_judged", "skipped", "passed"):
        for r in report[state]:
            out[r["rule"], r["op_normalised"]] = r
    return p.returncode, out


def analyze(path, measure):
    return list(csv.DictReader(tracegate("analyze", path, "--measure", measure, "--format", "csv", check=True).stdout.splitlines()))


def every_name(tmp, path, events, kind):
    """All numbers of all names, against the oracle and against analyze."""
    oracle, n = Oracle(events, kind), 0
    budget = {m: "1000000000" if "count" in m else "1000000s" for m in METRICS}
    rules = [f"{{id: {m.replace('_', '-')}, match: {{kind: {kind}}}, metric: {m}, fail: {{max: {budget[m]}}}}}" for m in METRICS]
    found = {}
    for rule in rules:  # one at a time: of a list's results only the first thousand have numbers
        found.update(check(tmp, [rule], path, path)[1])
    unlinked = any(e.get("cat") in DEVICE and e["args"].get("correlation") not in oracle.around for e in events)
    for (rule, name), r in found.items():
        if rule == "require":  # one recording on both sides
            continue
        metric = rule.replace("-", "_")
        if name.startswith("(") and unlinked:
            continue
        want = oracle.mean(name, METRICS[metric])
        if metric == "count":  # the usual number of a step, not the mean
            per = collections.Counter(oracle.sums[name][k]["calls"] for k in range(len(oracle.windows) or 1))
            want = max(per, key=lambda v: (per[v], v))
        elif metric == "device_count":
            per = collections.Counter(oracle.sums[name][k]["work"] for k in range(len(oracle.windows) or 1))
            want = max(per, key=lambda v: (per[v], v))
        if abs(r["test"] - want) > 1e-6 * max(1, want):
            fault(f"{os.path.basename(path)} {kind} {name}: {metric} {r['test']}, want {want}")
        n += 1
    named = {name for (rule, name) in found if rule == "count"}
    expect(f"{path} {kind}: names", named, {k for k, v in oracle.sums.items() if any(s["calls"] for s in v.values())})
    together = collections.defaultdict(collections.Counter)
    for row in analyze(path, kind + "s"):
        name = name_of(kind, row["name"])
        for column, what in (("calls", "calls"), ("host_self(us)", "self"), ("device_self(us)", "device_self")):
            together[name][what] += ns(row[column]) // (1000 if what == "calls" else 1) if row[column] and name else 0
    for name in named:
        for what in ("calls", "self", "device_self"):  # what adds up over lines and steps
            expect(f"{path} {kind} {name}: {what} of analyze", together[name][what], sum(s[what] for s in oracle.sums[name].values()))
    return n


def plant(tmp, path, trace, events):
    """Every kernel under one module takes 1 ms longer: its enclosers say so too, its neighbours do not."""
    oracle = Oracle(events, "module")
    inner = collections.Counter(names[-1] for names, at in oracle.around.values() if names and step_at(oracle.windows, at) >= 0)
    if not inner:
        return 0
    name = inner.most_common(1)[0][0]
    more, n = collections.Counter(), 0
    for e in events:
        names, at = oracle.around.get(e.get("args", {}).get("correlation"), ([], None))
        if e.get("cat") == "kernel" and names and names[-1] == name and step_at(oracle.windows, at) >= 0:
            e["dur"] += 1000
            n += 1
            more.update(set(names))
    slow = f"{tmp}/slow.json"
    with open(slow, "w", encoding="utf-8") as f:
        json.dump(trace, f, default=float)
    rules = [f"{{id: {i}, match: {{kind: module}}, metric: {m}, fail: {{abs: 900us}}, noise: {{test: none}}}}"
             for i, m in (("time", "device_time"), ("own", "device_self"))]
    code, found = check(tmp, rules, slow, path)
    steps = len(oracle.windows) or 1
    for rule, wanted in (("time", {k: v / steps for k, v in more.items() if v / steps > 0.9}), ("own", {name: n / steps})):
        red = {k: r["delta"] for (i, k), r in found.items() if i == rule and r["state"] == "fail"}
        expect(f"{path}: {n} kernels of {name} slower: {rule} red", set(red), set(wanted))
        for k in red:
            if abs(red[k] - 1e6 * wanted.get(k, 0)) > 20 * n:
                fault(f"{path}: {k} {rule} {red[k]}, want {1e6 * wanted.get(k, 0)}")
    expect(f"{path}: exit code", code, 1)
    return len(more)


def main(tmp):
    if not os.path.isdir(CORPUS):
        absent("corpus")
    numbers = around = 0
    for real in sys.argv[1:] or REAL:
        path = os.path.join(CORPUS, real)
        trace, events = read(path)
        for kind in ("module", "source"):
            numbers += every_name(tmp, path, events, kind)
        around += plant(tmp, path, trace, events)
    print(f"frames: {numbers} numbers of modules and functions compared, {around} modules around what was planted")


run_parts(main)
