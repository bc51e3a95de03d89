#!/usr/bin/env python3
"""Traces that are not what every PyTorch writes: JAX's and XLA's (GPU, TPU, CPU), Kineto's newer categories, PyTorch
without Kineto. The generators know what they wrote; here it is counted from the same JSON, and summaries must say it:
rows by name and kind, calls in each step, steps and their lengths, device time.

    dialects.py [--write FOLDER]   --write keeps the generated traces
"""
import collections
import csv
import io
import json
import os
import random
import sys

from support import ENV, expect, expect_has, run, run_parts, tracegate, write_json, write_text
from plain_model import launched, mark, span


# ---- generators ----------------------------------------------------------------------------------

def meta(pid, name, tid=None, text=""):
    e = {"ph": "M", "pid": pid, "name": name, "args": {"name": text}}
    return e if tid is None else dict(e, tid=tid)


def jax(seed, device="GPU", devices=2, steps=4, named="{}", number=0):
    """A trace as jax.profiler writes it; events shuffled, the metadata too. The compiler numbers from `number` on."""
    rng = random.Random(seed)
    events = [meta(701, "process_name", text="/host:CPU"), meta(701, "thread_name", 1, "python"),
              meta(701, "thread_name", 2, "tf_XLAEigen/2")]
    for d in range(devices):
        pid = d + 1
        lines = {1: "Steps", 2: "XLA Modules", 3: "XLA Ops"}
        if device == "GPU":
            lines.update({20: "Stream #13(Compute)", 21: "Stream #14(MemcpyD2H)"})
        events.append(meta(pid, "process_name", text=f"/device:{device}:{d}"))
        events += [meta(pid, "thread_name", t, text) for t, text in lines.items()]
        for k in range(steps):
            t0, length = 1000 * k + 100 + 3 * d, 900 + k
            def x(tid, name, ts, dur, pid=pid, **args):
                events.append({"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, **({"args": args} if args else {})})
            x(1, named.format(7 + k), t0, length)
            x(2, "jit_train_step(123)", t0 + 5, 700)
            for i in range(3 + (k == 1)):  # step 1 has one more
                x(3, f"fusion.{number + i}", t0 + 10 + 50 * i, 40, hlo_category="fusion")
                if device == "GPU":
                    x(20, f"loop_fusion_{number + i}", t0 + 10 + 50 * i, 39.5)
            x(3 if device == "TPU" else 20, f"all-reduce-start.{number}", t0 + 300, 60)
            if device == "GPU":
                x(21, "MemcpyD2H", t0 + 500, 12.25)
            if d == 0:
                x(1, "PjitFunction(train_step)", t0 + 1, 300, pid=701)
                x(1, "$train.py:88 step", t0, 400, pid=701)
                x(2, "ThunkExecutor::Execute", t0 + 20, 200, pid=701)
    rng.shuffle(events)
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events + [{}]}


HOST, DEVICE, ABOUT = "host", "device", "about"  # nests; busy time; shown only
# Kineto's newer categories, and what each is: libkineto's ActivityType.h
NEWER = {"hpu_op": ("runtime", HOST), "collective_comm": ("kernel", DEVICE), "xpu_sync": ("device_sync", ABOUT),
         "cuda_event": ("device_sync", ABOUT), "mtia_insight": ("other", ABOUT), "hardware_counters": ("other", ABOUT),
         "xpu_runtime": ("runtime", HOST), "mtia_runtime": ("runtime", HOST), "mtia_ccp_events": ("kernel", DEVICE),
         "privateuse1_runtime": ("runtime", HOST), "hip_runtime": ("runtime", HOST)}


def newer(cat, calls=3):
    """Three steps with an operator, kernels, and `calls` events of a newer category in each."""
    events, place = [], NEWER[cat][1]
    for k in range(3):
        t0 = 1000 * k
        # 400 us are the device's time of this step: what names no launch belongs to it
        events += [mark(k, t0, 900), span("cpu_op", "aten::mm", t0 + 10, 500), *launched("k", t0 + 20, t0 + 100, 400, 100 + k, 5),
                   span("cuda_sync", "Stream Sync", t0 + 160, 300, 0, 1000007, correlation=200 + k)]
        for i in range(calls):
            where = {} if place == HOST else {"pid": 0, "tid": 9, "device": 0, "stream": 9}
            events.append(span(cat, "newer thing", t0 + 200 + 20 * i, 10 + k, **where))
    return {"schemaVersion": 1, "traceEvents": events}


# ---- what the program says -----------------------------------------------------------------------

def put(folder, name, doc):
    write_json(os.path.join(folder, name), doc)
    return os.path.join(folder, name)


def analyze(path, *more):
    """The table `ops` as {(category, name): (calls a step, us a step)}."""
    code, out, err = run("analyze", path, "--measure", "ops", "--format", "csv", *more)
    expect(f"{os.path.basename(path)}: analyze {err}", code, 0)
    return {(r["cat"], r["name"]): (float(r["counts"]), float(r["total_duration"])) for r in csv.DictReader(io.StringIO(out))}


def names(path):
    """{(kind, raw name): calls in the whole trace}"""
    code, out, err = run("names", path, "--format", "csv")
    expect(f"{os.path.basename(path)}: names {err}", code, 0)
    return {(r["kind"], r["name"]): int(r["counts"]) for r in csv.DictReader(io.StringIO(out))}


def steps(path):
    """{number of the step: host time in us}"""
    code, out, err = run("analyze", path, "--measure", "steps", "--format", "csv")
    expect(f"{os.path.basename(path)}: steps {err}", code, 0)
    return {int(r["step"]): float(r["host_time(us)"]) for r in csv.DictReader(io.StringIO(out))}


# ---- JAX, counted from the JSON ------------------------------------------------------------------

def lines(doc):
    """(process, thread) names of each (pid, tid)."""
    process = {e["pid"]: e["args"]["name"] for e in doc["traceEvents"] if e.get("name") == "process_name"}
    return {(e["pid"], e["tid"]): (process[e["pid"]], e["args"]["name"]) for e in doc["traceEvents"] if e.get("name") == "thread_name"}


def jax_truth(doc):
    """Steps by number (of device 0), and calls and time of each (kind, name) in all steps."""
    where = lines(doc)
    spans = [(*where[e["pid"], e["tid"]], e) for e in doc["traceEvents"] if e.get("ph") == "X"]
    streams = {p for p, t, _ in spans if t.startswith("Stream #")}
    windows = {int(e["name"].split()[-1]): (e["ts"], e["ts"] + e["dur"]) for p, t, e in spans if t == "Steps" and p.endswith(":0")}
    rows = collections.defaultdict(lambda: [0, 0.0])
    whole = collections.Counter()
    for process, thread, e in spans:
        if process.startswith("/host"):
            kind = None if e["name"].startswith("$") else "op"
        elif thread == "Steps":
            continue
        elif thread.startswith("Stream #"):
            kind = "memcpy" if e["name"].startswith("Memcpy") else "kernel"
        else:
            kind = "kernel" if thread == "XLA Ops" and process not in streams else "device_annotation"
        if kind is None:
            continue
        whole[kind, e["name"]] += 1
        if any(a <= e["ts"] < b for a, b in windows.values()):
            rows[kind, e["name"]][0] += 1
            rows[kind, e["name"]][1] += e["dur"]
    return windows, rows, whole


CATEGORY = {"op": "cpu_op", "kernel": "kernel", "memcpy": "gpu_memcpy", "device_annotation": "gpu_user_annotation"}


def jax_traces(tmp):
    n = 0
    for seed, device, devices, k, named, zipped in (
            (1, "GPU", 2, 4, "{}", True), (2, "TPU", 1, 5, "{}", False), (3, "TPU", 4, 3, "train {}", True), (4, "GPU", 1, 1, "{}", False)):
        doc = jax(seed, device, devices, k, named)
        path = put(tmp, f"jax{seed}.trace.json" + (".gz" if zipped else ""), doc)
        windows, rows, whole = jax_truth(doc)
        got = steps(path)
        expect(f"jax {seed}: steps", got, {n: b - a for n, (a, b) in windows.items()})
        table = analyze(path)
        want = {(CATEGORY[kind], name): (v[0] / len(windows), v[1] / len(windows)) for (kind, name), v in rows.items()}
        for key, v in want.items():
            have = table.get(key, (0, 0))
            expect(f"jax {seed}: {key}", (round(have[0], 3), round(have[1], 3)), (round(v[0], 3), round(v[1], 3)))
        expect(f"jax {seed}: nothing else", {key for key in table if key[1] != "ProfilerStep"}, set(want))
        expect(f"jax {seed}: names", {key: v for key, v in names(path).items() if key[0] != "step"}, dict(whole))
        n += len(want)
        # in parts side by side, and by the slow path: the same bytes
        one = run("summarize", path, "-o", "-", "--threads", "1")[1]
        for env in ({"TRACEGATE_PART": "700"}, {"TRACEGATE_ISA": "generic"}):
            more = tracegate("summarize", path, "-o", "-", "--threads", "4", env=dict(ENV, **env))
            expect(f"jax {seed}: {env}", more.stdout == one and len(one) > 500, True)
        # the communication of a step, and numbers that the compiler gave anew
        code, out, err = run("analyze", path, "--measure", "kernel-types", "--format", "json")
        comm = [c["events"] for c in json.loads(out)["measures"]["kernel-classes"] if c["kernel_type"] == "COMMUNICATION"]
        expect(f"jax {seed}: all-reduce {err}", sum(comm), sum(n for (_, name), n in whole.items() if name.startswith("all-reduce")))
        expect(f"jax {seed}: other numbers",
               run("check", put(tmp, f"numbers{seed}.json", jax(seed, device, devices, k, named, number=40)), "--baseline", path)[0], 0)
        # a fusion that is called once more in each step fails; the trace against itself passes
        worse = json.loads(json.dumps(doc))
        lane = {v: key for key, v in lines(doc).items()}[(f"/device:{device}:0", "Stream #13(Compute)" if device == "GPU" else "XLA Ops")]
        worse["traceEvents"] = [e for e in worse["traceEvents"] if e] + [
            {"ph": "X", "pid": lane[0], "tid": lane[1], "ts": a + 600, "dur": 30, "name": "added_fusion"} for a, _ in windows.values()]
        worse = put(tmp, f"worse{seed}.json", worse)
        expect(f"jax {seed}: against itself", run("check", path, "--baseline", put(tmp, f"again{seed}.json", doc))[0], 0)
        code, out, err = run("check", worse, "--baseline", path)
        expect(f"jax {seed}: a fusion more {err}", (code, "added_fusion" in out), (1, True))
    return n


def capped(tmp):
    """Exactly a million events: cut off, and said; one less and one more: not."""
    head = [meta(1, "process_name", text="/device:TPU:0"), meta(1, "thread_name", 1, "Steps"), meta(1, "thread_name", 3, "XLA Ops")]
    for n, said in ((999_999, False), (1_000_000, True), (1_000_001, False)):
        path = os.path.join(tmp, f"million{n}.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write('{"traceEvents": [' + ",\n".join(json.dumps(e) for e in head))
            f.write(',\n{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 3000000, "name": "0"}')
            f.write("".join(f',\n{{"ph": "X", "pid": 1, "tid": 3, "ts": {3 * k}, "dur": 2, "name": "f"}}' for k in range(n - 1)))
            f.write("]}")
        text = run("summarize", path, "-o", "-")[1]
        expect(f"{n} events: cut off", '"truncated":true' in text, said)
        if said:
            expect_has(f"{n} events: told", run("check", path, "--baseline", path)[1] + run("analyze", path, "--measure", "ops")[2], "truncated")


# ---- Kineto's newer categories -------------------------------------------------------------------

def newer_categories(tmp):
    for cat, (kind, place) in NEWER.items():
        doc = newer(cat)
        path = put(tmp, f"{cat}.json", doc)
        events = [e for e in doc["traceEvents"] if e["cat"] == cat and e["name"] == "newer thing"]
        expect(f"{cat}: kind", names(path).get((kind, "newer thing")), len(events))
        row = analyze(path).get((cat, "newer thing"))
        count, time = len(events) / 3, sum(e["dur"] for e in events) / 3
        if place in (HOST, DEVICE):
            expect(f"{cat}: a step", row and (round(row[0], 3), round(row[1], 3)), (round(count, 3), round(time, 3)))
        busy = {int(r["step"]): float(r["gpu_busy(us)"])
                for r in csv.DictReader(io.StringIO(run("analyze", path, "--measure", "steps", "--format", "csv")[1]))}
        # 400 us of the kernel from t0+100; the others run on stream 9 from t0+200, inside of it
        expect(f"{cat}: device time", busy, {0: 400.0, 1: 400.0, 2: 400.0})
        expect(f"{cat}: against itself", run("check", path, "--baseline", put(tmp, "same.json", doc))[0], 0)
        worse = put(tmp, "worse.json", newer(cat, calls=5))
        judged = kind in ("kernel", "runtime")
        policy = os.path.join(tmp, "p.yml")
        write_text(policy, f"version: 1\nrules:\n  - {{id: r, match: {{kind: {kind if judged else 'op'}}}, metric: count, fail: {{abs: 0}}}}\n")
        expect(f"{cat}: two calls more", run("check", worse, "--baseline", path, "--policy", policy)[0],
               1 if judged or kind == "other" else 0)  # no rule has kind "other"; the account counts its calls


def stream_syncs(tmp):
    """Waits for stream 7 on thread 1000007 are of stream 7, not of a stream of their own."""
    path = put(tmp, "sync.json", newer("cuda_event"))
    shown = run("summarize", path, "-o", "-")[1]
    own = put(tmp, "own.json", {"traceEvents": [dict(e, tid=7, args=dict(e["args"], stream=7)) if e["tid"] == 1000007 else e
                                                for e in newer("cuda_event")["traceEvents"]]})
    expect("Stream Sync: as on the stream itself", run("summarize", own, "-o", "-")[1] == shown and len(shown) > 500, True)


# ---- refused -------------------------------------------------------------------------------------

def refused(tmp):
    old = [{"name": "aten::mm", "ph": "X", "ts": 10 * k, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}} for k in range(3)]
    for name, doc in (("a list", old), ("an object", {"traceEvents": old})):
        for command in (("check", "--baseline", "x.json"), ("summarize", "-o", "-"), ("names",), ("analyze", "--measure", "steps")):
            path = put(tmp, "x.json", doc)
            code, _, err = run(command[0], path, *command[1:], cwd=tmp)
            if code == 2:
                continue  # the same trace on both sides
            expect(f"no categories, {name}: {command[0]} {err}", code, 3)
            expect_has(f"no categories, {name}: {command[0]}", err, "has a category", "kineto_available")
    some = put(tmp, "some.json", {"traceEvents": old + [dict(old[0], cat="cpu_op")]})
    expect("one category is enough", run("summarize", some, "-o", "-")[0], 0)


def main(tmp):
    if sys.argv[1:2] == ["--write"]:
        tmp = sys.argv[2]
        os.makedirs(tmp, exist_ok=True)
    rows = jax_traces(tmp)
    newer_categories(tmp)
    stream_syncs(tmp)
    refused(tmp)
    capped(tmp)
    expect("enough was seen", rows >= 20, True)


run_parts(main)
