#!/usr/bin/env python3
"""`analyze --hta` against Holistic Trace Analysis: every value of every golden table.

The tables lie beside the repository; without them the test is skipped.  A value agrees within 1e-9
(whole-microsecond mode) or 1e-6 and 2 ns (mode `exact`, where HTA adds doubles).  What does not
agree has to be in `golden_analysis.csv` with its reason, else the test fails; so does a listed
line that agrees again.  Values that depend on HTA's unstable sort (UNSTABLE.csv) are not compared.
"""

import csv
import gzip
import json
import math
import pathlib
import re
import sys

from support import ROOT, SHARED, absent, check, expect, run_parts, tracegate

CORPUS = pathlib.Path(SHARED) / "corpus"
LISTED = pathlib.Path(ROOT) / "tests/e2e/golden_analysis.csv"

csv.field_size_limit(1 << 30)  # patterns are long

STATS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
# file of the goldens: frame, key columns
TABLES = {
    "temporal_breakdown": ("temporal", ["rank"]),
    "comm_comp_overlap": ("overlap", ["rank"]),
    "idle_time": ("idle", ["rank", "stream", "idle_category"]),
    "idle_interval_stats": ("idle-stats", ["rank", "stream", "idle_category"]),
    "kernel_type": ("kernel-types", ["kernel_type"]),
    "kernel_breakdown_all": ("kernels", ["rank", "kernel_type", "name"]),
    "kernel_breakdown_top10": ("kernels", ["rank", "kernel_type", "name"]),
    "memory_bw_summary": ("bandwidth", ["rank", "name"]),
    "queue_length_summary": ("queue", ["rank", "stream"]),
    "launch_stats": ("launches", ["correlation"]),
    "launch_stats_summary": ("launches-summary", ["rank"]),
    "freq_seq": ("sequences", ["pattern"]),
}


def value(text):
    if text in ("", None):
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return None if math.isnan(number) else number


def read_table(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def key_of(row, columns):
    """Numbers as numbers: a stream is 7 in one table and 7.0 in another."""
    return tuple(str(value(row[c])) if row[c] is not None else "" for c in columns)


def grouped(rows, columns):
    """Rows of one key in a stable order (one correlation may be in several pairs)."""
    out = {}
    for row in rows:
        out.setdefault(key_of(row, columns), []).append(row)
    for same in out.values():
        same.sort(key=lambda r: [(value(v) is None, str(value(v))) for v in r.values()])
    return out


def close(want, got, exact):
    want, got = value(want), value(got)
    if want is None or got is None or isinstance(want, str) or isinstance(got, str):
        return want == got
    difference = abs(want - got)
    if exact:
        return difference <= max(1e-6 * abs(want), 0.002)
    return difference <= 1e-9 * max(1, abs(want))


class Tally:
    def __init__(self):
        self.compared, self.agreed, self.skipped, self.misses = {}, {}, {}, []

    def add(self, kind, ok, where=None, want=None, got=None):
        self.compared[kind] = self.compared.get(kind, 0) + 1
        if ok:
            self.agreed[kind] = self.agreed.get(kind, 0) + 1
        else:
            self.misses.append((*where, want, got))

    def skip(self, kind):
        self.skipped[kind] = self.skipped.get(kind, 0) + 1


def compare(tally, where, stem, kind, columns, want_rows, got_rows, exact, unstable):
    """Every value of one table; a row on one side only is one disagreement."""
    want, got = grouped(want_rows, columns), grouped(got_rows, columns)
    for key in sorted(set(want) | set(got)):
        a, b = want.get(key, []), got.get(key, [])
        for i in range(max(len(a), len(b))):
            if i >= len(a) or i >= len(b):
                tally.add(kind, False, (*where, stem, key, "row"), i < len(a), i < len(b))
                continue
            for column in a[i]:
                if column in columns or column.startswith("Unnamed"):
                    continue
                if (kind, key, column) in unstable:
                    tally.skip(kind)
                    continue
                ok = column in b[i] and close(a[i][column], b[i][column], exact)
                tally.add(kind, ok, (*where, stem, key, column), a[i][column], b[i].get(column))


# --- what is to be run ------------------------------------------------------------------------


def folders():
    """(name of the set and mode, golden folder, trace files)"""
    base = CORPUS / "golden/analysis"
    for run in sorted(base.rglob("run.json")):
        mode = run.parent.name
        name = run.parent.parent.relative_to(base)
        place = CORPUS / "traces" / name
        if place.is_dir():
            files = sorted(p for p in place.iterdir() if p.name.endswith((".json", ".json.gz")))
        else:
            files = [place.with_name(place.name + ".json.gz")]
        yield f"{name}/{mode}", run.parent, files


def analyze(files, *options):
    """Rows of every frame, or None with the message."""
    r = tracegate("analyze", "--format", "json", *options, *map(str, files))
    return (None, r.returncode, r.stderr) if r.returncode else (json.loads(r.stdout)["measures"], 0, "")


def options_for(path):
    """The call that makes a golden file beyond mode and last step."""
    m = re.match(r"freq_seq_(.*)_len(\d+)_rank(\d+)$", path)
    if m:
        operator = m[1].replace("autograd_engine_", "autograd::engine::")
        operator = re.sub(r"^aten_", "aten::", operator)
        return ["--measure", "sequences", "--op", operator, "--min-length", m[2],
                "--top", "0", "--rank", m[3]]
    if path == "kernel_breakdown_top10":
        return ["--measure", "kernels", "--top", "10"]
    return None


def kind_of(stem):
    if stem.startswith("freq_seq"):
        return "freq_seq"
    return re.sub(r"_rank\d+$", "", stem)


def unstable_values():
    """UNSTABLE.csv -> {set: {(kind, key, column)}}. A tie moves the whole distribution."""
    out = {}
    queue = re.compile(r"^(.*/(?:hta|exact))(last_)?(-?\d+)$")
    memory = re.compile(r"^(.*/(?:hta|exact))(last_)?(Mem.*)$")
    for row in read_table(CORPUS / "golden/UNSTABLE.csv"):
        metric, key = row["metric"], list(row.values())[1]
        m = (queue if metric.startswith("queue") else memory).match(key)
        if not m:
            continue  # a maximum of all streams; its streams are listed as tied as well
        kind = "queue_length_summary" if metric.startswith("queue") else "memory_bw_summary"
        for column in STATS if kind.startswith("memory") else STATS[1:]:
            # the rank is not in the list: all of the set
            out.setdefault((m[1], bool(m[2])), set()).add((kind, m[3], column))
    return out


class Unstable:
    """Membership by (kind, key, column) without the rank."""

    def __init__(self, values):
        self.values = values

    def __contains__(self, item):
        kind, key, column = item
        if not self.values or kind not in ("queue_length_summary", "memory_bw_summary"):
            return False
        name = key[1]
        try:
            name = str(int(float(name)))
        except ValueError:
            pass
        return (kind, name, column) in self.values


def split_by_rank(rows, stem):
    """Golden files named _rankN hold one rank; our frames hold all."""
    m = re.search(r"_rank(\d+)$", stem)
    if not m or not rows or "rank" not in rows[0]:
        return rows
    return [r for r in rows if str(r["rank"]) == m[1]]


def tables_of(folder, last):
    for path in sorted(folder.glob("*.csv*")):
        stem = re.sub(r"\.csv(\.gz)?$", "", path.name)
        if stem.startswith("last_") != last:
            continue
        stem = stem.removeprefix("last_")
        kind = kind_of(stem)
        if kind in TABLES:
            yield path, stem, kind


def check_folder(tally, name, folder, files, unstable, measures):
    exact = name.endswith("/exact")
    modes = ["--hta"] + (["--no-rounding"] if exact else [])
    for last in (False, True):
        tables = list(tables_of(folder, last))
        if not tables:
            continue
        more = ["--include-last-step"] if last else []
        every, code, message = analyze(files, *modes, *more, *measures)
        if code:
            tally.add("runs", False, (name, last, "run", ("",), ""), 0, message)
            continue
        for path, stem, kind in tables:
            own, frames = options_for(stem), every
            if own:
                frames, code, message = analyze(files, *modes, *more, *own)
            frame, columns = TABLES[kind]
            got = (frames or {}).get(frame)
            if got is None:
                tally.add(kind, False, (name, last, stem, ("",), "frame"), "table", message)
                continue
            if kind == "kernel_type" and exact:
                continue  # HTA truncates every slice to whole us there; the README says: do not use
            got = [r for r in split_by_rank(got, stem) if not r.get("reason")]
            got = [{c: r[c] for c in r if c != "reason"} for r in got]
            compare(tally, (name, "last" if last else "first"), stem, kind, columns, read_table(path),
                    got, exact, Unstable(unstable.get((name, last), set())))


# --- the whole --------------------------------------------------------------------------------


def planted():
    """The comparison has to see a changed, a missing and an additional value."""
    want = [{"rank": "0", "a": "1.0", "b": ""}, {"rank": "1", "a": "2.0", "b": "x"}]
    right = [{"rank": 0, "a": 1, "b": None}, {"rank": 1, "a": 2, "b": "x"}]
    cases = [(right, 0), ([dict(right[0], a=1.0000001), right[1]], 1), ([right[0]], 1),
             ([*right, dict(right[0], rank=2)], 1), ([dict(right[0], b=0), right[1]], 1),
             ([right[0], dict(right[1], b="y")], 1)]
    for got, misses in cases:
        t = Tally()
        compare(t, ("planted", "first"), "t", "t", ["rank"], want, got, False, Unstable(set()))
        expect(f"planted mismatches in {got}", len(t.misses), misses)


def main(_):
    if not (CORPUS / "golden/analysis").is_dir():
        absent("corpus")
    planted()
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    tally, unstable = Tally(), unstable_values()
    wanted = sorted({frame for frame, _ in TABLES.values()} - {"sequences"})
    measures = [x for m in wanted if not m.endswith(("-stats", "-summary")) for x in ("--measure", m)]
    measures += ["--top", "0"]
    for name, folder, files in folders():
        if only in name and "not_a_trace" not in name:
            check_folder(tally, name, folder, files, unstable, measures)
    listed = read_table(LISTED)
    hits = [0] * len(listed)
    unlisted = []
    for miss in tally.misses:
        for i, entry in enumerate(listed):
            if (re.fullmatch(entry["set"], miss[0]) and entry["step"] == miss[1]
                    and re.fullmatch(entry["table"], miss[2])
                    and re.fullmatch(entry["key"], "|".join(miss[3]), re.S)
                    and re.fullmatch(entry["column"], miss[4])):
                hits[i] += 1
                break
        else:
            unlisted.append(miss)
    print(f"{'table':26}{'compared':>9}{'agreed':>9}{'unstable':>9}")
    for kind in sorted(tally.compared):
        print(f"{kind:26}{tally.compared[kind]:9}{tally.agreed.get(kind, 0):9}"
              f"{tally.skipped.get(kind, 0):9}")
    for entry, n in zip(listed, hits):
        print(f"listed: {n:5} of {entry['table']} in {entry['set']}: {entry['reason']}")
        check("listed, and something disagrees", n or only, entry)
    for miss in unlisted[:200]:
        print("DISAGREES:", *(str(x)[:90] for x in miss))
    expect("values that disagree and are not listed", len(unlisted), 0)


run_parts(main)
