#!/usr/bin/env python3
"""The causes of the planted changes, judged by truth.csv.

    check.py [-v] [--table OUT.csv] [CASE…]

Right: the first result that a report shows with a cause names the file, the function and the changed lines of the truth, or says that
no changed function is on the path and what else was touched. Goal: 90 % right, and no result, first or not, names another function
with high confidence.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../e2e")]
import plant  # noqa: E402
from support import expect, finish  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TG_PROGRAM"])
GOAL = 0.9


def truths():
    with open(os.path.join(HERE, "truth.csv"), encoding="utf-8") as f:
        return {row["case"]: row for row in csv.DictReader(f)}


def judge(folder, name):
    """The report of `check` on a case."""
    model = plant.CASES[name][0]
    plant.base(folder + "/repo")
    plant.apply(folder + "/repo", name)
    for side, stem in (("base", f"base-{model}"), ("out", name)):
        os.makedirs(f"{folder}/{side}")
        for k in range(3):
            shutil.copy(os.path.join(HERE, "traces", f"{stem}-{k}.json.gz"), f"{folder}/{side}/run{k}.json.gz")
    run = subprocess.run([PROGRAM, "check", "../out", "--runs", "--baseline", "../base", "--base-commit", "main", "--json", "../report.json"],
                         cwd=folder + "/repo", env=plant.ENV, capture_output=True, text=True)
    with open(folder + "/report.json", encoding="utf-8") as f:
        return json.load(f), run.stdout + run.stderr


def lines_of(cause):
    return ";".join(f"{a}-{b}" for a, b in cause["changed"])


def matches(cause, truth):
    if not truth["function"]:
        return not cause["changed"] and cause["confidence"] == "low"
    return (cause["file"], cause["qualified"], lines_of(cause)) == (truth["file"], truth["function"], truth["lines"])


def score(name, truth, verbose):
    with tempfile.TemporaryDirectory() as tmp:
        report, text = judge(tmp, name)
    shown = report["violations"] + report["warnings"]
    with_cause = [r for r in shown if r["cause"]]
    first = with_cause[0] if with_cause else None
    cause = first["cause"] if first else {"file": None, "qualified": None, "changed": [], "confidence": None}
    said = " ".join(text.split())
    right = bool(first) and matches(cause, truth)
    if right and not truth["function"]:
        right = "no changed function is on the path" in said and truth["touches"] in said
    if right and truth["constructor"]:
        right = truth["constructor"] in said
    wrong = [r["op"] for r in with_cause if r["cause"]["confidence"] == "high" and not matches(r["cause"], truth)]
    got = f"{cause['file']} {cause['qualified']} {lines_of(cause)} {cause['confidence']}"
    if verbose or not right or wrong:
        print(f"{'right' if right else 'WRONG'} {name}: {first and first['op']} {got}; confident and wrong: {wrong}; "
              f"{report['verdict']}, {len(shown)} shown, {len(with_cause)} with a cause")
    if verbose:
        for r in shown:
            c = r["cause"]
            print(f"      {r['state']} {r['rule']} {r['op']} {r['metric']}: " + (
                f"{c['file']} {c['qualified']} {lines_of(c)} {c['confidence']} {c['share']:.2f} {'backward' if c['backward'] else ''}"
                f" path {' > '.join(f['name'] for f in c['path'])}" if c else f"none: {r['no_cause']}"))
        print(text if verbose > 1 else "")
    return [name, int(right), len(wrong), first["op"] if first else "", got]


def main():
    args = sys.argv[1:]
    verbose = sum(a == "-v" for a in args)
    table = args[args.index("--table") + 1] if "--table" in args else None
    names = [a for a in args if not a.startswith("-") and a != table]
    truth = truths()
    expect("a truth for each case", sorted(truth), sorted(plant.CASES))
    rows = [score(n, truth[n], verbose) for n in names or truth]
    right, wrong = sum(r[1] for r in rows), sum(r[2] for r in rows)
    print(f"planted: {right} of {len(rows)} right, {wrong} results confident and wrong")
    if table:
        with open(table, "w", encoding="utf-8", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([["case", "right", "confident_and_wrong", "result", "cause"]] + rows)
    expect(f"{right} of {len(rows)} right", right >= GOAL * len(rows), True)
    expect("confident and wrong", wrong, 0)
    return finish("planted")


if __name__ == "__main__":
    sys.exit(main())
