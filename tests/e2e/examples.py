#!/usr/bin/env python3
"""Every comparison of examples/expected.csv through `tracegate check`: the verdict that was written down
before the run, the operators that must be named, and nothing named that is not affected.
"""
import csv
import glob
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

from support import ROOT, TRACES, finish, judged, tracegate

EXIT = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 4}


def paths(variant, runs):
    """'00-04' or '00' -> paths; '*' is expanded by the caller."""
    first, _, last = runs.partition("-")
    return [f"{TRACES}/{variant}/run{n:02d}.json.gz" for n in range(int(first), int(last or first) + 1)]


def check(base, test):
    run = tracegate("check", "--runs", "--quiet", "--json", "-", *(a for path in base for a in ("--baseline", path)), *test, cwd=TRACES)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        report = {"verdict": "no report", "violations": []}
    return run.returncode, report, run.stderr


def ops(text):
    """'aten::clone 1->3|aten::copy_ 4->6' -> the names."""
    return {part.rsplit(" ", 1)[0] if "->" in part else part for part in text.split("|") if part}


def judge(row):
    """How many comparisons the row is."""
    if row["base_runs"] == "*":
        runs = sorted(glob.glob(f"{TRACES}/{row['baseline']}/run*.json.gz"))
        pairs = [([a], [b]) for a in runs for b in runs if a != b]
    else:
        pairs = [(paths(row["baseline"], row["base_runs"]), paths(row["test"], row["test_runs"]))]
    for base, test in pairs:
        code, report, stderr = check(base, test)
        verdict = report["verdict"]
        where = row["id"] if len(pairs) == 1 else f"{row['id']} {os.path.basename(base[0])} {os.path.basename(test[0])}"
        names = [v["op"] for v in report["violations"]]
        judged(verdict in row["verdict"].split("|") and code == EXIT.get(verdict),
               f"{where}: verdict {verdict}, exit {code}, want {row['verdict']}; {names[:6]} {stderr}")
        if row["verdict"] == "fail":
            named = set(names)
            missing = ops(row["ops"]) - named
            # What a pull request lost stands among the warnings; what it gained must be a violation.
            missing = {m for m in missing if not lost(row["ops"], m)}
            wrong = named - ops(row["ops"]) - ops(row["ops_ok"]) - {"ProfilerStep"}
            judged(not missing and not wrong, f"{where}: not named {sorted(missing)}, wrongly named {sorted(wrong)}")
    return len(pairs)


def lost(text, op):
    """True when the row says that `op` became fewer: '… 2->0'."""
    for part in text.split("|"):
        name, _, change = part.rpartition(" ")
        if name == op and "->" in change:
            before, after = change.split("->")
            return int(after) < int(before)
    return False


def comment_of(pair):
    return tracegate("check", "--runs", "--quiet", "--markdown", "-", "--baseline", "base", pair, cwd=TRACES).stdout


def charts():
    """A needless copy costs less than a hundredth of the step: no chart. What moved within the noise has no row. (A chart of more bars:
    tests/golden/markdown_fail.md, tests/reporters/mermaid_labels.py.)"""
    comments = [comment_of("extra_copy"), comment_of("lost_fusion")]
    copy, fusion = (re.findall(r"`([^`]*)`", "".join(re.findall(r"^\|([^|]*)\|", text, re.M))) for text in comments)
    ok = "aten::clone" in copy and "aten::mkldnn_convolution" not in copy and "aten::mul" in fusion and "aten::mm" not in fusion
    judged(ok and "mermaid" not in comments[0], f"rows of the comment: {copy} {fusion}")


def main():
    with open(os.path.join(ROOT, "examples/expected.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    with ThreadPoolExecutor(2) as pool:
        compared = sum(pool.map(judge, rows))
    charts()
    return finish(f"examples: {len(rows)} rows, {compared} comparisons", len(rows) >= 20)


sys.exit(main())
