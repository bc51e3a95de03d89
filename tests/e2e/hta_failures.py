#!/usr/bin/env python3
"""Where HTA raises, tracegate answers: every call of the corpus' HTA_FAILURES.csv, in default mode.

An answer is a value that is not empty, or a reason that says what the trace lacks (the reasons that
count are listed here, so that a vague one fails). Files that are not traces are refused with exit 3
and a message. A call that the list does not know fails the test.
"""

import csv
import json
import pathlib

from support import SHARED, absent, check, run_parts, tracegate

CORPUS = pathlib.Path(SHARED) / "corpus"

# HTA's call: our measures
CALLS = {"temporal_breakdown": ["temporal"], "idle_time_breakdown": ["idle"],
         "comm_comp_overlap": ["overlap"], "device_type": ["kernel-types", "temporal"],
         "CallGraph": ["sequences"], "compare_traces": ["diff"], "ops_diff": ["diff"]}
REASONS = {"no device activity", "no communication",
           "no operator 'aten::' with 1 pieces of device work or more"}
# What these files have, looked up in them: HTA cannot tell it.
NO_DEVICE_ROWS = {"hta/cpu_only", "hta/cupti", "hta/no_distinfo", "hta/no_rank"}
NOT_A_TRACE = {"hta/not_a_trace_et"}


def run(*args):
    r = tracegate(*map(str, args), "--format", "json")
    return r.returncode, json.loads(r.stdout) if r.returncode == 0 else None, r.stderr


def files_of(name):
    place = CORPUS / "traces" / name
    if place.is_dir():
        return sorted(p for p in place.iterdir() if p.name.endswith((".json", ".json.gz")))
    return [place.with_name(place.name + ".json.gz")]


def rows_answer(rows, no_device):
    """None, or what is wrong with these rows as an answer."""
    if not rows:
        return "neither a value nor a reason"
    for r in rows:
        if r.get("reason") is not None and r["reason"] not in REASONS:
            return f"an unknown reason {r['reason']!r}"
        values = [v for k, v in r.items() if k not in ("rank", "device", "stream", "reason") and v is not None]
        if not values and r.get("reason") is None:
            return "an empty row without a reason"
        if no_device and (values or r["reason"] != "no device activity"):
            return f"a trace without device rows got {r}"
    return None


def analysis_answer(name, measure):
    more = ["--op", "aten::", "--min-length", "1"] if measure == "sequences" else []
    code, got, message = run("analyze", *files_of(name), "--measure", measure, *more)
    if name in NOT_A_TRACE:
        told = code == 3 and "not a trace" in message
        return None if told else f"exit {code}: {message}, but this is no trace"
    if code:
        return f"exit {code}: {message}"
    if measure == "kernel-types":
        return rows_answer(got["measures"]["kernel-classes"], name in NO_DEVICE_ROWS)
    return rows_answer(got["measures"][measure], name in NO_DEVICE_ROWS)


def diff_answer(pair, mode):
    index = json.loads((CORPUS / "golden/diff" / pair / mode / "index.json").read_text())
    sides = []
    for paths in (index["control_paths"], index["test_paths"]):
        full = [CORPUS / "traces" / p for p in paths]
        sides.append(full[0] if len(full) == 1 else full[0].parent)
    code, got, message = run("diff", *sides)
    if code:
        return f"exit {code}: {message}"
    counts = [sum(r["counts"][side] for r in got["rows"]) for side in (0, 1)]
    kernels = [r for r in got["rows"] if r["kind"] == "kernel"]
    if min(counts) <= 0 or not kernels:
        return f"sums {counts}, {len(kernels)} kernels"
    groups = {r["group"] for r in got["rows"]}
    return None if groups <= {"added", "deleted", "increased", "decreased", "unchanged"} else f"groups {groups}"


def planted():
    """The check of an answer has to refuse what is not a trace."""
    bad = [([], False), ([{"rank": 0, "x": None, "reason": None}], False),
           ([{"rank": 0, "x": None, "reason": "something"}], False),
           ([{"rank": 0, "x": 1, "reason": None}], True)]
    good = [([{"rank": 0, "x": 1, "reason": None}], False),
            ([{"rank": 0, "x": None, "reason": "no device activity"}], True)]
    for rows, none in bad:
        check("an answer that is none is refused", rows_answer(rows, none), rows)
    for rows, none in good:
        check("a good answer is taken", not rows_answer(rows, none), rows)


def main(_):
    table = CORPUS / "golden/HTA_FAILURES.csv"
    if not table.is_file():
        absent("corpus")
    planted()
    answers = {}
    with open(table, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        place, call = row["set/mode"], row["call"].split()[0]
        check(f"{place}: the call {call} is known", call in CALLS)
        for measure in CALLS.get(call, []):
            name, mode = place.removeprefix("diff: ").rsplit("/", 1)
            key = (name, mode if measure == "diff" else "", measure)
            if key not in answers:
                answers[key] = diff_answer(name, mode) if measure == "diff" else analysis_answer(name, measure)
            check(f"{place} {row['call']}", not answers[key], answers[key])
    check("calls on real traces in which HTA raises", len(rows) > 0)


run_parts(main)
