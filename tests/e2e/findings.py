#!/usr/bin/env python3
"""Many findings: a change calls each of many names twice, or gives each another name, as a new torch version does.

The verdict counts all of them, JSON shortens what is after the first thousand of a list and says so (a short row has at most 450 bytes), `policy
waive` reads what it shortened, and the cost grows with the number of findings: exponent 1.15 at most, by instructions (callgrind).
"""
import math
import os
import re
import shutil
import sys

from support import DATED, PROGRAM, ROOT, check, expect, fault, need, read_json, read_text, run_parts, sanitized, tracegate

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
from growth import changed, write  # noqa: E402
from instructions import instructions  # noqa: E402

LISTS = {"violations": "fail", "warnings": "warn", "suspicious": "suspicious", "inconclusive": "inconclusive", "waived": "waived",
         "not_judged": "not judged", "skipped": "skip", "passed": "pass"}
WHOLE, MORE = 1000, {"explained_by", "follows"}
LEAST = ("passed", "not_judged", "skipped")
ROW = {"op", "op_normalised", "kind", "class", "parent", "change", "relation", "partner", "count", "total_ns", "self_ns"}
BYTES = 450
MANY, FEW = 1300, 10
SIZES, EXPONENT = (150, 450), 1.15


def sides(tmp, row, names):
    """Two summaries, of the baseline and of the change."""
    steps = [list(range(names))] * 2
    for k, (side, work) in enumerate((("base", steps), ("out", changed(row, steps)))):
        write(f"{tmp}/{side}{names}.json.gz", work, k)
        expect("summarize", tracegate("summarize", f"{side}{names}.json.gz", "-o", f"{side}{names}.tgs", cwd=tmp).returncode, 0)
    return ["check", f"out{names}.tgs", "--baseline", f"base{names}.tgs", "--threads", "1"]


def table(rows, few):
    """How many are short: all but those that take the longest, on either side."""
    whole = [r for r in rows if set(r) - {"finding_ns"} == set(few[0]) - {"finding_ns"}]
    rest = [r for r in rows if set(r) == ROW]
    expect("whole rows, and short ones", (len(whole), len(rest)), (WHOLE, len(rows) - WHOLE))
    check("the longest are whole", min(max(r["self_ns"]) for r in whole) >= max(max(r["self_ns"]) for r in rest), rows[0])
    return len(rest)


def json(tmp):
    report = {}
    for names in (FEW, MANY):
        expect("exit", tracegate(*sides(tmp, "findings", names), "--json", "r.json", env=DATED, cwd=tmp).returncode, 1)
        report[names] = d = read_json(f"{tmp}/r.json")
        for key, state in LISTS.items():
            expect(f"{names} names: {key}", len(d[key]), d["summary"][state])
        check("an operator and a kernel of each name", d["summary"]["fail"] >= 2 * names, d["summary"])
    expect("all whole", report[FEW].get("shortened"), None)
    d, short = report[MANY], 0
    schema = read_json(os.path.join(ROOT, "docs/report.schema.json"))
    least = set(schema["definitions"]["result"]["required"])
    finding = least.union(*(part.get("required", []) for part in schema["definitions"]["finding"]["allOf"]))
    whole = set(report[FEW]["violations"][0])
    for key in LISTS:
        for i, r in enumerate(d[key]):
            short += i >= WHOLE
            if set(r) != (whole if i < WHOLE else least if key in LEAST else finding | MORE):
                fault(f"{key} {i}: {sorted(r)}")
                break
    check("findings are short", len(d["violations"]) > WHOLE, len(d["violations"]))
    check("passes are short", len(d["passed"]) > WHOLE, len(d["passed"]))
    short += table(d["table"], report[FEW]["table"])
    expect("shortened", d.get("shortened"), short)
    valid = need("jsonschema", "python3-jsonschema").Draft7Validator(schema)
    expect("by the schema", [e.message for e in valid.iter_errors(d)][:1], [])
    text = read_text(f"{tmp}/r.json")
    short_lines = [line for line in text.splitlines() if line.startswith('    {"')]
    expect("a short row is one line", len(short_lines), short)
    check("and short", max(map(len, short_lines)) <= BYTES, max(short_lines, key=len))
    del d["violations"][-1]["message"]
    check("a short row has its message", not valid.is_valid(d))


def waive(tmp):
    """One waiver for each name, those of the short rows included: the kernels follow their operators."""
    tracegate(*sides(tmp, "findings", MANY), "--json", "r.json", env=DATED, cwd=tmp)
    done = tracegate("policy", "waive", "r.json", env=DATED, cwd=tmp)
    expect("policy waive", done.returncode, 0)
    expect("operators", set(re.findall(r"aten::operator_(\d+)", done.stdout)), {str(i) for i in range(MANY)})


def cost(tmp):
    """Instructions of the whole command at two sizes, less those of a check of a few names."""
    if not shutil.which("valgrind") or sanitized():
        print("findings.py: no callgrind for this program: cost left out")
        return
    for row in ("findings", "renamed"):
        m = {}
        for names in (FEW, *SIZES):
            m[names] = instructions([PROGRAM, *sides(tmp, row, names), "--quiet", "--markdown", "r.md", "--html", "r.html", "--json", "r.json"],
                                    1 if row == "findings" else None, cwd=tmp, env=DATED)
        got = math.log((m[SIZES[1]] - m[FEW]) / (m[SIZES[0]] - m[FEW])) / math.log(SIZES[1] / SIZES[0])
        print(f"{row}: {m[SIZES[0]] / 1e6:.0f} and {m[SIZES[1]] / 1e6:.0f} M instructions, exponent {got:.2f}")
        check(f"{row}: exponent at most {EXPONENT}", got <= EXPONENT, got)


run_parts(json, waive, cost)
