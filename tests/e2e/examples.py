#!/usr/bin/env python3
"""Every comparison of examples/expected.csv through `tracegate check`: the verdict that was written down
before the run, the operators that must be named, and nothing named that is not affected.
"""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from support import PROGRAM, ROOT, TRACES, read_json, read_text

EXIT = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 4}


def paths(variant, runs):
    """'00-04' or '00' -> paths; '*' is expanded by the caller."""
    first, _, last = runs.partition("-")
    return [f"{TRACES}/{variant}/run{n:02d}.json.gz" for n in range(int(first), int(last or first) + 1)]


def check(base, test):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [PROGRAM, "check", "--runs", "--quiet", "--json", out.name]
        for path in base:
            command += ["--baseline", path]
        run = subprocess.run(command + test, capture_output=True, text=True, cwd=TRACES)
        try:
            report = read_json(out.name)
        except ValueError:
            report = {"verdict": "no report", "violations": []}
        return run.returncode, report, run.stderr


def ops(text):
    """'aten::clone 1->3|aten::copy_ 4->6' -> the names."""
    return {part.rsplit(" ", 1)[0] if "->" in part else part for part in text.split("|") if part}


def judge(row):
    """Faults of one row, as texts."""
    if row["base_runs"] == "*":
        runs = sorted(glob.glob(f"{TRACES}/{row['baseline']}/run*.json.gz"))
        pairs = [([a], [b]) for a in runs for b in runs if a != b]
    else:
        pairs = [(paths(row["baseline"], row["base_runs"]), paths(row["test"], row["test_runs"]))]
    faults = []
    for base, test in pairs:
        code, report, stderr = check(base, test)
        verdict = report["verdict"]
        where = row["id"] if len(pairs) == 1 else f"{row['id']} {os.path.basename(base[0])} {os.path.basename(test[0])}"
        if verdict not in row["verdict"].split("|") or code != EXIT.get(verdict):
            names = [v["op"] for v in report["violations"]]
            faults.append(f"{where}: verdict {verdict}, exit {code}, want {row['verdict']}; {names[:6]} {stderr}")
        if row["verdict"] == "fail":
            named = {v["op"] for v in report["violations"]}
            missing = ops(row["ops"]) - named
            # What a pull request lost stands among the warnings; what it gained must be a violation.
            missing = {m for m in missing if not lost(row["ops"], m)}
            wrong = named - ops(row["ops"]) - ops(row["ops_ok"]) - {"ProfilerStep"}
            if missing or wrong:
                faults.append(f"{where}: not named {sorted(missing)}, wrongly named {sorted(wrong)}")
    return len(pairs), faults


def lost(text, op):
    """True when the row says that `op` became fewer: '… 2->0'."""
    for part in text.split("|"):
        name, _, change = part.rpartition(" ")
        if name == op and "->" in change:
            before, after = change.split("->")
            return int(after) < int(before)
    return False


def comment_of(pair):
    with tempfile.NamedTemporaryFile(suffix=".md") as out:
        subprocess.run([PROGRAM, "check", "--runs", "--quiet", "--markdown", out.name, "--baseline", TRACES + "/base",
                        TRACES + "/" + pair], capture_output=True, cwd=TRACES)
        return read_text(out.name)


def chart_faults():
    """A needless copy costs less than a hundredth of the step, and three rows say as much as three bars: no chart. What moved within the
    noise has no row. (A chart of more bars: tests/golden/markdown_fail.md, tests/reporters/mermaid_labels.py.)"""
    comments = [comment_of("extra_copy"), comment_of("lost_fusion")]
    copy, fusion = (re.findall(r"`([^`]*)`", "".join(re.findall(r"^\|([^|]*)\|", text, re.M))) for text in comments)
    ok = "aten::clone" in copy and "aten::mkldnn_convolution" not in copy and "aten::mul" in fusion and "aten::mm" not in fusion
    return [] if ok and not any("mermaid" in text for text in comments) else [f"rows of the comment: {copy} {fusion}"]


def main():
    with open(os.path.join(ROOT, "examples/expected.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(judge, rows))
    faults = [fault for _, list_ in results for fault in list_] + chart_faults()
    print("\n".join(faults))
    print(f"examples: {len(rows)} rows, {sum(n for n, _ in results)} comparisons, {len(faults)} faults")
    return 1 if faults or len(rows) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
