#!/usr/bin/env python3
"""Counts the operators of the example traces, independently of tracegate.

    counts.py                 per variant: what changed against base, per step
    counts.py --check         the claims of expected.csv about counts, exit 1 if one is wrong

Python's standard library only, and the plainest way to count: parse the JSON, take the
`cpu_op` events whose start is within a ProfilerStep, count names, compare the steps.
"""

import argparse
import collections
import csv
import gzip
import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
STEP = "ProfilerStep#"


def load_events(path):
    with gzip.open(path) as f:
        events = json.load(f)["traceEvents"]
    return [e for e in events if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation")]


def step_counts(events):
    """One Counter of operator names for each step."""
    result = []
    for step in (e for e in events if e["name"].startswith(STEP)):
        end = step["ts"] + step["dur"]
        inside = (e for e in events if step["ts"] <= e["ts"] < end and e["cat"] == "cpu_op")
        result.append(collections.Counter(e["name"] for e in inside))
    return result


def self_minima(events):
    """Per name: the k-th call's shortest self time over the steps, summed over k, in us.

    Preemption only ever makes a call longer, so the minimum is the steadiest estimate.
    """
    stack, own = [], {}
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while stack and stack[-1]["ts"] + stack[-1]["dur"] <= e["ts"]:
            stack.pop()
        own[id(e)] = e["dur"]
        if stack:
            own[id(stack[-1])] -= e["dur"]
        stack.append(e)
    calls = collections.defaultdict(list)  # name -> one list of self times for each step
    for step in (e for e in events if e["name"].startswith(STEP)):
        end, here = step["ts"] + step["dur"], collections.defaultdict(list)
        for e in events:
            if step["ts"] <= e["ts"] < end and e["cat"] == "cpu_op":
                here[e["name"]].append(own[id(e)])
        for name, times in here.items():
            calls[name].append(times)
    return {name: sum(map(min, zip(*steps))) for name, steps in calls.items()}


class Variant:
    """All runs of one variant, which must agree in every step on every count."""

    def __init__(self, name):
        self.name = name
        self.runs = [load_events(p) for p in sorted((HERE / "traces" / name).glob("run*.json.gz"))]
        steps = [counts for run in self.runs for counts in step_counts(run)]
        self.counts, self.steps = steps[0], len(steps)
        self.agrees = all(counts == self.counts for counts in steps)

    def time(self, name):
        """Median over the runs of the steady self time, in us per step."""
        return statistics.median(self_minima(run).get(name, 0.0) for run in self.runs)


def changes(base, test):
    """(name, count in base, count in test) where they differ."""
    names = sorted(set(base.counts) | set(test.counts))
    pairs = ((n, base.counts[n], test.counts[n]) for n in names)
    return [(n, a, b) for n, a, b in pairs if a != b]


def show(variants):
    base = variants["base"]
    for test in variants.values():
        total = sum(test.counts.values())
        state = "all agree" if test.agrees else "DISAGREE"
        runs = f"{len(test.runs)} runs, {test.steps} steps, {state}"
        print(f"{test.name}: {runs}, {total} operators a step")
        for name, a, b in changes(base, test):
            print(f"    {a:3d} -> {b:3d}  {name}")


def parse_claim(text):
    """'aten::clone 1->3' -> ('aten::clone', 1, 3); a name alone claims an unchanged count."""
    name, _, change = text.rpartition(" ")
    if "->" not in change:
        return text, None, None
    a, b = map(int, change.split("->"))
    return name, a, b


def wrong_claims(row, variants):
    """The sentences of one row of expected.csv that the traces do not bear out."""
    base, test = variants[row["baseline"]], variants[row["test"]]
    for side in (base, test):
        if not side.agrees:
            yield f"{row['id']}: steps of {side.name} disagree"
    for name, a, b in map(parse_claim, filter(None, row["ops"].split("|"))):
        seen = base.counts[name], test.counts[name]
        if a is None and seen[0] != seen[1]:
            yield f"{row['id']}: {name} {seen[0]}->{seen[1]}, expected the same count"
        if a is None and test.time(name) < 1.3 * base.time(name):
            yield f"{row['id']}: {name} {base.time(name):.0f} us -> {test.time(name):.0f} us"
        if a is not None and seen != (a, b):
            yield f"{row['id']}: {name} {seen[0]}->{seen[1]}, expected {a}->{b}"
    changed = {name for name, _, _ in changes(base, test)}
    texts = row["ops"].split("|") + row["ops_ok"].split("|")
    claimed = {parse_claim(text)[0] for text in texts}
    for name in sorted(changed - claimed):
        yield f"{row['id']}: {name} changed and is not in the row"


def check(variants):
    with open(HERE / "expected.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    wrong = sorted({claim for row in rows for claim in wrong_claims(row, variants)})
    print("\n".join(wrong) or f"{len(rows)} rows hold")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    names = sorted(p.name for p in (HERE / "traces").iterdir() if p.is_dir())
    variants = {name: Variant(name) for name in names}
    if args.check:
        sys.exit(0 if check(variants) else 1)
    show(variants)


if __name__ == "__main__":
    main()
