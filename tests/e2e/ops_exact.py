#!/usr/bin/env python3
"""`analyze --measure ops --whole` against Python's json with exact decimals, to the nanosecond: on recorded traces of the repository, a made one
with device work, and real ones of the corpus (../shared, when it is there). --quick leaves out real traces above 300 kB packed.

What the reader takes and refuses, text by text: tests/core/trace/test_reader.c; mutated: tests/bench/differential.py.
"""
import csv
import decimal
import glob
import gzip
import json
import os
import sys

from support import CORPUS, ROOT, TRACES, check, expect, run_parts, tracegate
from plain_model import usual, write_run

QUICK = "--quick" in sys.argv


def ns(text):
    return int((decimal.Decimal(text) * 1000).to_integral_exact(decimal.ROUND_HALF_EVEN))


def ours(path):
    run = tracegate("analyze", path, "--measure", "ops", "--format", "csv", "--whole")
    expect(f"{path}: {run.stderr}", run.returncode, 0)
    rows = list(csv.DictReader(run.stdout.splitlines(keepends=True)))
    out = {(x["cat"], x["name"]): (int(x["counts"]), ns(x["total_duration"])) for x in rows}
    expect(f"{path}: no row twice", len(out), len(rows))
    return out


def python_sums(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        document = json.load(f, parse_float=decimal.Decimal)
    out = {}
    for e in document["traceEvents"] if isinstance(document, dict) else document:
        if e.get("ph", "X") != "X" or e.get("ts") is None or e.get("dur") is None:
            continue
        row = out.setdefault((e.get("cat") or "", e.get("name") or ""), [0, 0])
        row[0] += 1
        row[1] += e["dur"] * 1000 if isinstance(e["dur"], int) else ns(e["dur"])
    return {k: tuple(v) for k, v in out.items()}


def compared(paths):
    n = 0
    for path in paths:
        want, got = python_sums(path), ours(path)
        n += len(want)
        check(path, got == want, *[(key, got.get(key), want.get(key)) for key in set(got) | set(want) if got.get(key) != want.get(key)][:3])
    return n


def here(tmp):
    write_run(f"{tmp}/device.json", [usual()] * 3, 1)
    recorded = glob.glob(f"{TRACES}/*/run00.json.gz") + glob.glob(f"{ROOT}/tests/planted/traces/base-*-0.json.gz")
    check("enough was compared", compared([f"{tmp}/device.json", *sorted(recorded)]) >= 1000)


def corpus(_):
    if not os.path.isdir(CORPUS):
        print("no corpus beside the repository: real traces not compared")
        return
    paths = sorted(p for p in glob.glob(CORPUS + "/**/*.json*", recursive=True) if "manifest" not in p and "not_a_trace" not in p)
    n = compared(p for p in paths if not QUICK or os.path.getsize(p) <= 300000)
    check("enough of the corpus", n >= (4000 if QUICK else 15000), n)
    run = tracegate("analyze", CORPUS + "/hta/not_a_trace_et/benchmark_simple_add_et.json.gz", "--whole")
    check("not_a_trace_et", run.returncode == 3 and "not a trace" in run.stderr and not run.stdout, run.stderr)


run_parts(here, corpus)
