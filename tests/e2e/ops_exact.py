#!/usr/bin/env python3
"""`analyze --measure ops --whole` against independent sums, to the nanosecond.

Two oracles, neither shares a line with the program: the model of tests/data/make_traces.py,
which knows what it wrote, and Python's json with exact decimals over the real traces of the corpus
(../shared, when it is there). --quick leaves out real traces above 300 kB packed.
"""
import csv
import decimal
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

from support import CORPUS, PROGRAM, ROOT, fault, finish, read_json

quick = "--quick" in sys.argv


def fail(*what):
    fault(" ".join(map(str, what)))


def analyze(path, *more):
    return subprocess.run([PROGRAM, "analyze", path, "--measure", "ops", "--format", "csv", *more],
                          capture_output=True)


def ns(text):
    return int((decimal.Decimal(text) * 1000).to_integral_exact(decimal.ROUND_HALF_EVEN))


def ours(path, *more):
    r = analyze(path, *more)
    if r.returncode:
        fail(path, r.stderr.decode(errors="replace"))
        return {}
    rows = list(csv.DictReader(r.stdout.decode().splitlines(keepends=True)))
    out = {(x["cat"], x["name"]): (int(x["counts"]), ns(x["total_duration"])) for x in rows}
    if len(out) != len(rows):
        fail(path, "a row twice")
    return out


def shown(name):
    """As text goes to standard output: a carriage return is an end of line, other controls are named."""
    name = name.replace("\0", "\ufffd").replace("\r", "\n")
    return "".join(c if c in "\t\n" or not (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0) else f"\\u{ord(c):04x}" for c in name)


def compare(path, got, want):
    for key in sorted(set(got) | set(want), key=str):
        if got.get(key) != want.get(key):
            fail(os.path.basename(path), key, "is", got.get(key), "should be", want.get(key))
            return


# ---- synthetic: what the generator knows -------------------------------------------------------

def synthetic():
    n = 0
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([sys.executable, ROOT + "/tests/data/make_traces.py", tmp], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        expected = read_json(tmp + "/expected.json")
        for name, known in expected.items():
            path = os.path.join(tmp, name)
            if known["reads"]:
                got = ours(path, "--whole")
                odd = [r for r in known["rows"] if "name_hex" in r]
                # A name that is not UTF-8 is printed with replacement characters: compare its numbers.
                # So is a NUL inside one.
                want = {(r["cat"], shown(r["name"])): (r["count"], r["total_ns"])
                        for r in known["rows"] if "name" in r}
                extra = sorted(v for k, v in got.items() if odd and k not in want)
                if extra != sorted((r["count"], r["total_ns"]) for r in odd):
                    fail(name, "names that are not UTF-8:", extra)
                if odd:
                    got = {k: v for k, v in got.items() if k in want}
                compare(path, got, want)
                n += len(known["rows"])
                continue
            r = analyze(path, "--whole")
            if r.returncode != 3 or r.stdout or name.encode() not in r.stderr:
                fail(name, known["error"], "exit", r.returncode, r.stderr.decode(errors="replace"))
            n += 1
    print("synthetic traces: %d rows and refusals" % n)
    return n


# ---- real traces: Python's json ----------------------------------------------------------------

def python_sums(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        document = json.load(f, parse_float=decimal.Decimal)
    out = {}
    for e in document["traceEvents"] if isinstance(document, dict) else document:
        if e.get("ph", "X") != "X" or e.get("ts") is None or e.get("dur") is None:
            continue
        row = out.setdefault((e.get("cat") or "", e.get("name") or ""), [0, 0])
        row[0] += 1
        d = e["dur"]
        row[1] += d * 1000 if isinstance(d, int) else ns(d)
    return {k: tuple(v) for k, v in out.items()}


def real():
    paths = sorted(p for p in glob.glob(CORPUS + "/**/*.json*", recursive=True)
                   if "manifest" not in p and "not_a_trace" not in p)
    n = 0
    for path in paths:
        if quick and os.path.getsize(path) > 300000:
            continue
        want = python_sums(path)
        compare(path, ours(path, "--whole"), want)
        n += len(want)
    print("real traces: %d rows of %d files" % (n, len(paths)))
    return n


n = synthetic()
if n < 100:
    fail("only", n, "synthetic rows")
if os.path.isdir(CORPUS):
    n = real()
    if n < (4000 if quick else 15000):
        fail("only", n, "rows of real traces")
    r = analyze(CORPUS + "/hta/not_a_trace_et/benchmark_simple_add_et.json.gz", "--whole")
    if r.returncode != 3 or b"not a trace" not in r.stderr or r.stdout:
        fail("not_a_trace_et:", r.returncode, r.stderr)
else:
    print("no corpus beside the repository: real traces not compared")
sys.exit(finish("ops_exact"))
