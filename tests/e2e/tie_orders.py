#!/usr/bin/env python3
"""Is a number of HTA that we do not give only another order of equal times?

HTA sorts events by time with an unstable sort, so what stands first at one time is left to the sort.
This is an independent calculation of the three numbers where that matters (queue length, memory
bandwidth, time by kernel type), written from their definitions. With the sort that the goldens were
made with (numpy 1.24) it has to give HTA's value everywhere in the tables that UNSTABLE.csv or
golden_analysis.csv name; a value that it does not give is not a tie but a disagreement. Skipped with
another numpy, whose luck is another.
"""

import csv
import gzip
import json
import math
import os
import pathlib
import re
import sys

from support import absent, check, expect, finish

try:
    import numpy as np
except ImportError:
    np = None

FITS = np is not None and np.__version__.startswith("1.24.")
if not FITS and "TG_SYSTEM_PYTHON" not in os.environ and os.path.exists("/usr/bin/python3"):
    # Debian's package belongs to Debian's Python, which need not be the first one in PATH.
    os.execve("/usr/bin/python3", ["/usr/bin/python3", *sys.argv], {**os.environ, "TG_SYSTEM_PYTHON": "1"})

SOURCE = pathlib.Path(os.environ["TG_SOURCE_DIR"])
CORPUS = pathlib.Path(os.environ["TG_SHARED_DIR"]) / "corpus"
STATS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
            "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel",
            "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream",
            "runFunction - job_prep_and_submit_for_execution"}


def integer(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1


class Row:
    def __init__(self, index, event, rounds):
        args = event.get("args")
        args = args if isinstance(args, dict) else {}
        self.index, self.name = index, event["name"]
        self.ts, self.dur = event["ts"], event["dur"]
        self.stream, self.correlation = integer(args.get("stream", -1)), args.get("correlation", -1)
        self.gbps = args.get("memory bandwidth (GB/s)", 0.0)
        self.link = min(self.correlation, 0)
        self.device = ((self.stream >= 0 and self.correlation >= 0)
                       or self.name in ("Event Sync", "Context Sync"))
        if rounds:
            end = math.floor(self.ts + self.dur)
            self.ts = math.ceil(self.ts)
            self.dur = end - self.ts


def load(path):
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as f:
        text = f.read()
    events, rank = json.loads(text)["traceEvents"], re.search(rb'"rank":\s+(\d+)', text)
    rounds = any(not isinstance(e.get("ts"), int) for e in events)
    rows = [Row(i, e, rounds) for i, e in enumerate(events)
            if e.get("dur") is not None and e.get("cat") is not None and e["cat"] != "Trace"]
    last = {}
    for r in rows:
        if r.correlation != -1:
            last.setdefault(r.correlation, {})[r.device] = r.index
    for r in rows:
        partner = last.get(r.correlation, {}).get(not r.device, 0)
        r.link = partner if r.correlation != -1 and partner > 0 else r.link
    return int(rank[1]) if rank else 0, rows


def filtered(ranks, include_last):
    """{rank: rows}: device rows once for each kept host row of their correlation, then host rows."""
    step = re.compile(r"ProfilerStep#\d")
    if len({r.name for rows in ranks.values() for r in rows if step.match(r.name)}) < 2:
        return ranks
    out = {}
    for rank, rows in ranks.items():
        starts = [r.ts for r in rows if not r.device and step.match(r.name)]
        cut = math.inf if include_last or not starts else max(starts)
        host = [r for r in rows if not r.device and r.ts < cut]
        times = {}
        for r in host:
            if r.correlation != -1:
                times[r.correlation] = times.get(r.correlation, 0) + 1
        device = [r for r in rows if r.device for _ in range(times.get(r.correlation, 0))]
        out[rank] = device + host
    return out


def order(times):
    return np.argsort(np.array(times), kind="quicksort")


def describe(v):
    v = np.array(v, dtype=float)
    if not len(v):
        return None
    q = np.quantile(v, [0.25, 0.5, 0.75])
    std = v.std(ddof=1) if len(v) > 1 else math.nan
    return dict(zip(STATS, [len(v), v.mean(), std, v.min(), *q, v.max()]))


def queue(rows):
    """+1 at a launch, -1 at its work, summed by stream in the order of time."""
    calls = [r for r in rows if r.name in LAUNCHES and r.link > 0]
    work = [r for r in rows if r.stream != -1]
    by_index, ids = {r.index: r for r in work}, {r.correlation for r in calls}
    points = [(by_index[c.link].stream, c.ts, 1) for c in calls if c.link in by_index]
    points += [(w.stream, w.ts, -1) for w in work if w.correlation in ids]
    lengths, at = {}, {}
    for i in order([p[1] for p in points]):
        stream, _, change = points[i]
        at[stream] = at.get(stream, 0) + change
        lengths.setdefault(str(stream), []).append(at[stream])
    return {k: describe(v) for k, v in lengths.items()}


def copy_kind(name):
    return "Memset" if name.startswith("Memset") else name[:11] if name.startswith("Memcpy") else "Memcpy Unknown"


def class_of(name):
    if re.match("nccl|hip|hccl", name) or "ncclKernel" in name:
        return 2
    if re.match("Memcpy|Memset|dma", name):
        return 4
    if re.match("runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|collective_subgraph_execution|"
                "Stream Wait Event|cuda.*LaunchKernel", name) or re.search("Memcpy|Memset|dma|Sync", name):
        return 0
    return 1


def bandwidth(rows):
    """+bw at a start, -bw at an end, summed by kind of copy in the order of time; points > 0."""
    copies = [r for r in rows if r.stream != -1 and class_of(r.name) == 4]
    points = [(copy_kind(c.name), c.ts, c.gbps) for c in copies]
    points += [(copy_kind(c.name), c.ts + (c.dur or 1), -c.gbps) for c in copies]
    series = {}
    for i in order([p[1] for p in points]):
        series.setdefault(points[i][0], []).append(points[i][2])
    return {k: describe([x for x in np.cumsum(v) if x > 0]) for k, v in series.items()}


def merged(rows):
    out = []
    for r in sorted(rows, key=lambda r: r.ts):
        if out and r.ts <= out[-1][1]:
            out[-1][1] = max(out[-1][1], r.ts + r.dur)
        else:
            out.append([r.ts, r.ts + r.dur])
    return out


def kernel_types(rows):
    """Sum of time by the set of classes that run; sorted again as each class is added."""
    words = {1: "COMPUTATION", 2: "COMMUNICATION", 4: "MEMORY"}
    work, edges = [r for r in rows if r.stream != -1], []
    for value in words:
        groups = merged([r for r in work if class_of(r.name) == value])
        edges += [(g[0], value) for g in groups] + [(g[1], -value) for g in groups]
        edges = [edges[i] for i in order([e[0] for e in edges])]
    out, running = {}, 0
    for (at, change), (after, _) in zip(edges, edges[1:]):
        running += change
        if running > 0:
            name = " overlapping ".join(w for v, w in words.items() if running & v)
            out[name] = out.get(name, 0) + int(after - at)
    return out


# --- comparison -------------------------------------------------------------------------------


def close(want, got):
    want = float(want) if want else math.nan
    return (math.isnan(want) and math.isnan(got)) or abs(want - got) <= 1e-9 * max(1, abs(want))


def files_of(name):
    place = CORPUS / "traces" / name.rsplit("/", 1)[0]
    if place.is_dir():
        return sorted(p for p in place.iterdir() if p.name.endswith((".json", ".json.gz")))
    return [place.with_name(place.name + ".json.gz")]


def tied_tables():
    """(set, with the last step?, table): those of UNSTABLE.csv, and what golden_analysis.csv lists."""
    out = set()
    with open(CORPUS / "golden/UNSTABLE.csv", encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            m = re.match(r"^(.*/hta)(last_)?(-?\d+|Mem.*)$", list(row.values())[1])
            if m:
                table = "queue_length_summary" if row["metric"].startswith("queue") else "memory_bw_summary"
                out.add((m[1], bool(m[2]), table))
    with open(SOURCE / "tests/e2e/golden_analysis.csv", encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            out.add((row["set"], row["step"] == "last", re.sub(r"_rank\d+$", "", row["table"])))
    return sorted(out)


def over_ranks(ranks):
    sums = {}
    for rows in ranks:
        for label, time in kernel_types(rows).items():
            sums[label] = sums.get(label, 0) + time
    return {label: {"sum": float(time)} for label, time in sums.items()}


TABLES = {"queue_length_summary": (lambda ranks: queue(ranks[0]), "stream"),
          "memory_bw_summary": (lambda ranks: bandwidth(ranks[0]), "name"),
          "kernel_type": (over_ranks, "kernel_type")}


def check_table(path, table, ranks):
    of = re.search(r"_rank(\d+)$", path.stem)
    ranks = [ranks[int(of[1])]] if of else list(ranks.values())
    calculate, column = TABLES[table]
    luck, values = calculate(ranks), 0
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    labels = {str(int(float(r[column]))) if column == "stream" else r[column]: r for r in rows}
    luck = {label: v for label, v in luck.items() if v}
    expect(f"{path}: rows", sorted(labels), sorted(luck))
    for label, row in labels.items():
        for name, got in luck.get(label, {}).items():
            values += 1
            check(f"{path} {label} {name}", close(row[name], got), row[name], got)
    return values


def main():
    if not (CORPUS / "golden/analysis").is_dir():
        absent("corpus")
    if not FITS:
        absent("numpy 1.24, with whose sort the tables were made")
    cache, tables, values = {}, 0, 0
    for name, last, table in tied_tables():
        if (name, last) not in cache:
            cache = {(name, last): filtered(dict(load(p) for p in files_of(name)), last)}
        for path in sorted((CORPUS / "golden/analysis" / name).glob("*.csv")):
            if re.fullmatch(("last_" if last else "") + table + r"(_rank\d+)?", path.stem):
                tables += 1
                values += check_table(path, table, cache[name, last])
    return finish(f"{values} values of {tables} tables with ties: HTA's under the order that its sort gives equal times", values > 0)


sys.exit(main())
