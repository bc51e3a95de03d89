#!/usr/bin/env python3
"""What a change of the trace does to each measure of `analyze`, as its definition says.

- events in another order: nothing changes, not even the order of rows;
- all timestamps shifted: nothing changes but the times of series;
- all timestamps and durations times 3: RULES says for every column whether it stays, grows by 3,
  falls to a third, or is not defined (with the reason);
- one run split by rank, or a trace by device: MERGE says which tables are the union of the parts,
  which add up, and which are not defined on a part.

On traces from a seeded generator and, where the corpus is and without --quick, on real ones of every
layout and vendor.
A column or table without a rule fails, and so does a planted wrong answer.
"""

import copy
import decimal
import gzip
import json
import pathlib
import random
import re
import sys

from support import CORPUS, check, expect, measures, run_parts, tracegate

TRACES = pathlib.Path(CORPUS)
K, SHIFT_NS = 3, 1_234_567_000
MEASURES = [m for m in measures() if m != "ops"]
REAL = ["tracelens/h100_nsfw", "tracelens/mi300_resnet_ckpt", "tracelens/sglang_decode_exec", "hta/nccl_a100_ns",
        "hta/sampled_2rank", "kineto_v100/resnet50_w0_run1", "param/dlrm_8rank", "nanovllm/decode/decode_gpu_0.json.gz"]

SAME, TIMES, PER, AT = "same", "times k", "divided by k", "a time"


class Undefined:
    def __init__(self, reason):
        self.reason = reason


BELOW_30US = Undefined("a gap is kernel_wait below 30 us and other above: a fixed time does not scale")
LIMIT = Undefined("counted against a fixed 50 or 100 us")
STATS_TIMES = {c: TIMES for c in ("mean", "std", "min", "25%", "50%", "75%", "max")}
STATS_PER = {c: PER for c in STATS_TIMES}

# What scaling does to a column; a column that is not listed: by its unit, see rule().
RULES = {
    "idle": {"idle_time": TIMES, "device_idle_time": TIMES, "idle_time_ratio": SAME},
    "idle-stats": STATS_TIMES,
    "kernel-types": {"sum": TIMES},
    "kernels": {"stddev": TIMES},
    "bandwidth": STATS_PER,
    "bandwidth-series": {"ts": AT, "memory_bw_gbps": PER},
    "queue": {c: SAME for c in STATS_TIMES},
    "queue-series": {"ts": AT},
    "steps": {"idle_kernel_wait(%)": BELOW_30US, "idle_other(%)": BELOW_30US, "runtime_outliers": LIMIT,
              "delay_outliers": LIMIT},
    "launches": {c: TIMES for c in ("cpu_duration", "gpu_duration", "launch_delay", "own_delay")},
    "launches-summary": {"short_gpu_kernels_plot": LIMIT, "runtime_outliers": LIMIT, "launch_delay_outliers": LIMIT,
                         **{c: TIMES for c in ("cpu_duration_sum", "gpu_duration_sum", "launch_delay_sum",
                                               "launch_delay_mean", "launch_delay_max", "own_delay_sum")}},
}
# By unit or meaning, for every table.
UNITS = [(r"\(us\)$", TIMES), (r"\(GB/s\)$", PER), (r"\(%\)$|_pctg$|^percentage$", SAME), (r"\(bytes\)$", SAME)]
COUNTS = set("rank device stream step reason name kernel_type idle_category gaps count events unknown unknown_events "
             "class_table copies bytes copies_without_bytes launched unlinked queue_length correlation call pairs "
             "short_gpu_kernels calls graph_launches pattern length launch_count sync_count kernel_names "
             "device_events collectives arrived_last unmatched ranks slowest_rank group".split())

# Parts and whole. "rows": the union of the parts' rows; a dict: rows of one key add up in these columns.
ALONE = Undefined("a rank alone has nobody to be compared with")
BOTH_SIDES = Undefined("the host's side is in both parts, or values are joined over devices")
ADD_TYPES, ADD_SEQUENCES = ("kernel_type", ("sum",)), ("pattern", ("count", "GPU kernel duration (us)",
                                                                   "CPU op duration (us)"))
MERGE = {"rank": {"kernel-types": ADD_TYPES, "sequences": ADD_SEQUENCES, "skew": ALONE, "skew-summary": ALONE,
                  "skew-collectives": ALONE},
         "device": {"kernel-types": ADD_TYPES, "sequences": BOTH_SIDES, "steps": BOTH_SIDES, "modules": BOTH_SIDES,
                    "sources": BOTH_SIDES, "skew": BOTH_SIDES, "skew-summary": BOTH_SIDES,
                    "skew-collectives": BOTH_SIDES}}

compared, undefined = 0, {}


def rule(frame, column):
    if column in RULES.get(frame, {}):
        return RULES[frame][column]
    for pattern, what in UNITS:
        if re.search(pattern, column):
            return what
    # the measures of the policy that are plain counts have no unit in their name
    return SAME if column in COUNTS or (frame == "steps" and "(" not in column) else None


# --- traces -----------------------------------------------------------------------------------


def read(path):
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as f:
        return json.loads(f.read(), parse_float=decimal.Decimal)


def with_times(document, change_ts, change_dur):
    """A copy whose times went through the functions (ns); exact."""
    out = copy.deepcopy(document)
    for e in out["traceEvents"]:
        for key, change in (("ts", change_ts), ("dur", change_dur)):
            if isinstance(e.get(key), (int, decimal.Decimal)):
                e[key] = change(int(decimal.Decimal(e[key]) * 1000))
        e["exact"] = True
    return out


def write(path, document):
    """Times of changed events are ns and become microseconds with three digits."""
    def prepare(e):
        if not e.pop("exact", False):
            return e
        for key in ("ts", "dur"):
            if isinstance(e.get(key), int):
                sign, ns = "-" if e[key] < 0 else "", abs(e[key])
                e[key] = f"@@{sign}{ns // 1000}.{ns % 1000:03d}@@"
        return e
    document = {**document, "traceEvents": [prepare(dict(e)) for e in document["traceEvents"]]}
    text = json.dumps(document, default=lambda d: f"@@{d}@@")
    path.write_text(re.sub(r'"@@([^"]*)@@"', r"\1", text))
    return path


def generate(seed, rank, world):
    """Steps with operators below modules, two devices, streams, copies, collectives, graphs, memory."""
    rng, events, now, correlation = random.Random(seed * 100 + rank), [], 1000, [0]

    def event(cat, name, start, ns, tid=1, **args):
        pid = args["device"] if "device" in args else 77
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": ns,
                       "args": args, "exact": True})

    def launch(start, call, cat, name, pieces=1, **args):
        correlation[0] += 1
        event("cuda_runtime", call, start, rng.randint(500, 60_000), correlation=correlation[0])
        for k in range(pieces):
            event(cat, name, start + rng.randint(2_000, 300_000) + 70_000 * k, rng.randint(1_000, 90_000),
                  tid=args["stream"], correlation=correlation[0], **args)

    for step in range(3):
        begin = now
        for layer in range(4):
            at = now
            for _ in range(rng.randint(1, 3)):
                where = {"device": rng.randint(0, 1), "stream": rng.choice((7, 20))}
                event("cpu_op", rng.choice(("aten::mm", "aten::add")), now, 20_000)
                launch(now + 1_000, "cudaLaunchKernel", "kernel", rng.choice(("gemm_a", "mystery", "softmax")), **where)
                now += rng.randint(25_000, 120_000)
            event("python_function", f"nn.Module: Layer_{layer}", at - 500, now - at)
            event("python_function", "model.py(7): forward", at - 700, now - at + 300)
        launch(now, "cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", device=0, stream=7,
               bytes=rng.randint(1, 10**6))
        launch(now + 5_000, "cudaGraphLaunch", "kernel", "gemm_b", 3, device=1, stream=9)
        launch(now + 70_000, "cudaLaunchKernel", "kernel", "ncclDevKernel_AllReduce", device=0, stream=33,
               **{"Process Group Name": "0"})
        event("kernel", "unlinked", now + 90_000, 5_000, tid=7, device=0, stream=7)
        event("cuda_runtime", "cudaStreamSynchronize", now + 90_000, 3_000)
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 77, "tid": 1,
                       "ts": now, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 5,
                                           "Total Allocated": rng.randint(1, 10**9), "Total Reserved": 10**9},
                       "exact": True})
        now += 400_000
        event("user_annotation", f"ProfilerStep#{step}", begin - 800, now - begin)
    return {"distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}


# --- comparison -------------------------------------------------------------------------------


def analyze(paths):
    args = [x for m in MEASURES for x in ("--measure", m)]
    r = tracegate("analyze", *map(str, paths), *args, "--op", "aten::", "--min-length", "1", "--top", "0", "--format", "json", "--series")
    if r.returncode:
        raise SystemExit(f"FAILED: {paths[0]}: {r.stderr}")
    return json.loads(r.stdout)["measures"]


def equal(a, b, column=""):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        # peaks are kept to the byte per second, which is 1e-9 GB/s
        slack = 1e-9 if column.startswith("bandwidth_peak") else 0
        return abs(a - b) <= slack + 1e-9 * max(abs(a), abs(b), 1e-3)
    return a == b


def scaled(value, what, k, shift_us):
    if value is None or what == SAME or isinstance(value, str):
        return value
    return value * k + shift_us if what == AT else value * k if what == TIMES else value / k


def compare(where, before, after, k=1, shift_us=0):
    """Every value of every table against its rule."""
    global compared
    bad = []
    if list(before) != list(after):
        return [f"{where}: other tables"]
    for frame, rows in before.items():
        if len(rows) != len(after[frame]):
            bad.append(f"{where}: {frame} has {len(after[frame])} rows instead of {len(rows)}")
            continue
        for x, y in zip(rows, after[frame]):
            for column in x:
                what = rule(frame, column)
                if frame.startswith("idle") and k != 1 and x["idle_category"] in ("kernel_wait", "other") \
                        and column not in ("rank", "stream", "device", "idle_category", "reason"):
                    what = BELOW_30US
                if what is None:
                    bad.append(f"no rule for {frame}.{column}")
                    continue
                if isinstance(what, Undefined) and k != 1:
                    undefined[what.reason] = undefined.get(what.reason, 0) + 1
                    continue
                compared += 1
                want = scaled(x[column], what, k, shift_us) if not isinstance(what, Undefined) else x[column]
                if not equal(want, y[column], column):
                    bad.append(f"{where}: {frame}.{column}: {x[column]} became {y[column]}, not {want}")
    return bad


def sums_of_gaps(tables):
    out = {}
    for row in tables["idle"]:
        key = (row["rank"], row["device"], row["stream"])
        out[key] = [a + (row[c] or 0) for a, c in zip(out.get(key, (0, 0)), ("idle_time", "gaps"))]
    return out


def check_scale(where, before, after):
    bad = compare(where, before, after, k=K)
    a, b = sums_of_gaps(before), sums_of_gaps(after)
    for key in a:
        if not equal(a[key][0] * K, b[key][0]) or a[key][1] != b[key][1]:
            bad.append(f"{where}: all gaps of {key}: {a[key]} became {b[key]}")
    return bad


def add_up(rows, key, columns):
    out = {}
    for row in rows:
        if row.get(key) is not None:
            out[row[key]] = [a + row[c] for a, c in zip(out.get(row[key], [0] * len(columns)), columns)]
    return out


def check_merge(where, by, whole, parts):
    global compared
    bad = []
    for frame in whole:
        how = MERGE[by].get(frame, "rows")
        if isinstance(how, Undefined):
            undefined[how.reason] = undefined.get(how.reason, 0) + 1
            continue
        rows = [r for p in parts for r in p[frame]]
        if how == "rows":
            def texts(table):
                # a part without any row of its own says so for the rank
                return [json.dumps(r, sort_keys=True) for r in table
                        if not (by == "device" and r.get("reason") and r.get("device") is None)]
            text, want = texts(rows), texts(whole[frame])
            compared += len(want)
            if sorted(text) != sorted(want):
                extra = sorted(set(text) ^ set(want))[:2]
                bad.append(f"{where}: {frame} is not the union of its parts: {extra}")
            continue
        a, b = add_up(whole[frame], *how), add_up(rows, *how)
        compared += len(a)
        if set(a) != set(b) or any(not equal(x, y) for key in a for x, y in zip(a[key], b[key])):
            bad.append(f"{where}: {frame} does not add up: {a} {b}")
    return bad


# --- the properties ---------------------------------------------------------------------------


def told(bad):
    check("a property", not bad, *(text[:400] for text in bad[:60]))


def check_run(name, documents, folder):
    """All properties of one run, a document per rank."""
    def put(tag, docs):
        return [write(folder / f"{tag}_{i}.json", d) for i, d in enumerate(docs)]

    def parts_of(doc, device):
        keep = [e for e in doc["traceEvents"] if e.get("args", {}).get("device", device) == device]
        return {**doc, "traceEvents": keep}

    before = analyze(put("plain", documents))
    rng = random.Random(7)
    shuffled = []
    for d in documents:
        events = list(d["traceEvents"])
        rng.shuffle(events)
        shuffled.append({**d, "traceEvents": events})
    told(compare(f"{name} shuffled", before, analyze(put("shuffled", shuffled))))
    shifted = [with_times(exact(d), lambda t: t + SHIFT_NS, lambda t: t) for d in documents]
    told(compare(f"{name} shifted", before, analyze(put("shifted", shifted)), shift_us=SHIFT_NS / 1000))
    longer = [with_times(exact(d), lambda t: K * t, lambda t: K * t) for d in documents]
    told(check_scale(f"{name} times {K}", before, analyze(put("scaled", longer))))
    if len(documents) > 1:
        parts = [analyze([p]) for p in put("part", documents)]
        told(check_merge(f"{name} by rank", "rank", before, parts))
    devices = sorted({e["args"]["device"] for d in documents for e in d["traceEvents"]
                      if isinstance(e.get("args"), dict) and isinstance(e["args"].get("device"), int)})
    if len(documents) == 1 and len(devices) > 1:
        parts = [analyze(put(f"device{v}", [parts_of(documents[0], v)])) for v in devices]
        told(check_merge(f"{name} by device", "device", before, parts))


def exact(document):
    """Generated events carry ns already; read ones microseconds."""
    out = copy.deepcopy(document)
    for e in out["traceEvents"]:
        if e.pop("exact", False):
            for key in ("ts", "dur"):
                if key in e:
                    e[key] = decimal.Decimal(e[key]) / 1000
    return out


def planted():
    row = {"rank": 0, "idle_time(us)": 6, "idle_time_pctg": 50.0, "reason": None}
    good, bad = {"temporal": [{**row, "idle_time(us)": 18}]}, {"temporal": [{**row, "idle_time(us)": 18.001}]}
    before = {"temporal": [row]}
    cases = [(compare("planted", before, good, k=3), 0), (compare("planted", before, bad, k=3), 1),
             (compare("planted", before, good), 1), (compare("planted", before, {"temporal": []}), 1),
             (compare("planted", {"temporal": [{"new": 1}]}, {"temporal": [{"new": 1}]}), 1),
             (check_merge("planted", "rank", before, [{"temporal": [dict(row, rank=1)]}]), 1)]
    for got, n in cases:
        expect("what was planted", len(got), n)


def main(tmp):
    real, folder = TRACES.is_dir() and "--quick" not in sys.argv, pathlib.Path(tmp)
    planted()
    for seed in range(4):
        check_run(f"generated {seed}", [generate(seed, 0, 1)], folder)
    check_run("generated ranks", [generate(9, r, 3) for r in range(3)], folder)
    for name in REAL if real else []:
        place = TRACES / name
        paths = sorted(place.glob("*.json*")) if place.is_dir() else [place]
        check_run(name, [read(p) for p in paths], folder)
    print(f"{compared} values and rows compared" + ("" if real else " (generated traces only)"))
    for reason, n in sorted(undefined.items()):
        print(f"not defined, {n} times: {reason}")
    expect("enough was compared", compared >= 10_000, True)


run_parts(main)
