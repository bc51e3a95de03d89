#!/usr/bin/env python3
"""
Waiting in collectives, as a measure of `analyze` and as the metric `collective_skew`: both say what the oracle here says,
where one kernel serves several collectives that two ranks run in another order, on several streams; a limit just below it
fails and one just above passes; and `selftest` turns the rule red. With the corpus also on real runs of two and eight ranks.
"""
import collections
import glob
import gzip
import json
import os
import sys

from support import CORPUS, judged, run_parts, tracegate, write_json, write_text

# What a rank runs in a step: (operator, stream, duration in us). Rank 1 reduces before it exchanges.
ORDER = [[("nccl:all_to_all", 20, 50), ("nccl:all_reduce", 20, 30), ("nccl:all_gather", 24, 44), ("nccl:all_reduce", 24, 9)],
         [("nccl:all_reduce", 21, 12), ("nccl:all_to_all", 21, 90), ("nccl:all_gather", 25, 40), ("nccl:all_reduce", 25, 10)]]
# all_to_all 90 - 50, the first stream's all_reduce 30 - 12, all_gather 44 - 40, the second stream's all_reduce 10 - 9
BY_HAND = 100 * (40 + 18 + 4 + 1) / (90 + 30 + 44 + 10)


def expect(what, got, want):
    near = isinstance(want, float) and got is not None and abs(got - want) < 1e-9 * want
    judged(near or got == want, f"{what}: got {got!r}, want {want!r}")


def write(path, rank):
    events, n = [], 0
    for step in range(3):
        t0 = 1000000 + 10000 * step + 77 * rank
        host = {"ph": "X", "pid": 1, "tid": 1}
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": t0, "dur": 5000})
        for i, (op, stream, dur) in enumerate(ORDER[rank]):
            n += 1
            at = t0 + 10 + 20 * i
            events += [{**host, "cat": "cpu_op", "name": op, "ts": at, "dur": 15},
                       {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1, "dur": 2,
                        "args": {"correlation": n}},
                       {"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv", "pid": 0, "tid": stream,
                        "ts": t0 + 200 + 1000 * (i % 2), "dur": dur, "args": {"correlation": n, "device": 0, "stream": stream}}]
    write_json(path, {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events})


def waiting(files):
    """The oracle: the k-th of (kernel, operator around the launch, n-th stream of these) in a step, over ranks."""
    pieces = collections.defaultdict(list)
    for path in files:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            spans = [e for e in json.loads(f.read().decode(errors="replace"), strict=False)["traceEvents"] if "dur" in e]
        ops = [e for e in spans if e.get("cat") in ("cpu_op", "user_annotation")]
        steps = [e for e in ops if e["name"].startswith("ProfilerStep#")]
        calls = {e["args"]["correlation"]: e for e in spans if e.get("cat") == "cuda_runtime" and "correlation" in e.get("args", {})}
        mine = collections.defaultdict(list)
        for e in spans:
            if e.get("cat") != "kernel" or not e["name"].lower().startswith("nccl"):
                continue
            call = calls[e["args"]["correlation"]]
            around = [o for o in ops if o["tid"] == call["tid"] and o["ts"] <= call["ts"] < o["ts"] + o["dur"]]
            inner = max(around, key=lambda o: (o["ts"], -o["dur"]))["name"]
            step = next(s["name"] for s in steps if s["ts"] <= call["ts"] < s["ts"] + s["dur"])
            mine[e["name"], inner].append((e["args"]["stream"], step, e["ts"], e["dur"]))
        for key, rows in mine.items():
            streams = sorted({r[0] for r in rows})
            nth = collections.Counter()
            for stream, step, _, dur in sorted(rows, key=lambda r: r[2]):
                nth[stream, step] += 1
                pieces[(*key, streams.index(stream), step, nth[stream, step])].append(dur)
    whole = [v for v in pieces.values() if len(v) == len(files)]
    return 100 * sum(max(v) - min(v) for v in whole) / sum(map(max, whole))


# What the ranks of two groups of one name run, (id, duration) in the order of each rank: the order differs, rank 1 lost
# `b` in step 0, and rank 3 has `f` in another step. As Kineto writes it since 2026 (`Seq`, `Comms Id`).
GROUPS = {0: "[0, 1]", 1: "[0, 1]", 2: "[2, 3]", 3: "[2, 3]"}
NUMBERED = {0: [[("a", 50), ("b", 70), ("c", 20)], [("d", 10)]], 1: [[("a", 40), ("c", 26)], [("d", 11)]],
            2: [[("e", 90), ("f", 30)], [("g", 5)]], 3: [[("e", 60)], [("f", 10), ("g", 9)]]}


def numbered(path, rank, keys, lost):
    """`keys`: the attributes that tell one from another; `lost`: whether rank 1 lacks `b`."""
    events, n = [], 0
    for step, work in enumerate(NUMBERED[rank]):
        t0 = 1000000 + 10000 * step
        host = {"ph": "X", "pid": 1, "tid": 1}
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": t0, "dur": 5000})
        if rank == 1 and step == 0 and not lost:
            work = [work[0], ("b", 71), work[1]]
        for i, (which, dur) in enumerate(work):
            n += 1
            at = t0 + 10 + 20 * i
            args = {"correlation": n, "device": 0, "stream": 20, "Group size": 2, "Process Group Name": "tp",
                    "Process Group Ranks": GROUPS[rank], "Seq": ord(which) - 90, "Comms Id": 7919 * ord(which)}
            events += [{**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1, "dur": 2, "args": {"correlation": n}},
                       {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 0, "tid": 20, "ts": t0 + 200 + 300 * i,
                        "dur": dur, "args": {k: v for k, v in args.items() if k in keys or k not in ("Seq", "Comms Id")}}]
    write_json(path, {"distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events})


def by_id(lost):
    """By hand: pairs of an id; `b` is skipped where rank 1 lost it."""
    pairs = collections.defaultdict(list)
    for rank, steps in NUMBERED.items():
        for which, dur in sum(steps, [("b", 71)] if rank == 1 and not lost else []):
            pairs[which].append(dur)
    whole = [v for v in pairs.values() if len(v) == 2]
    return 100 * sum(max(v) - min(v) for v in whole) / sum(map(max, whole))


def measured(tmp, files, limit):
    write_text(f"{tmp}/p.yml", f"version: 1\nrules: [{{id: it, metric: collective_skew, fail: {{max: {limit:.9f}%}}}}]\n")
    r = tracegate("check", *files, *(a for b in files for a in ("--baseline", b)), "--policy", f"{tmp}/p.yml", "--json", "-")
    report = json.loads(r.stdout) if r.stdout.startswith("{") else sys.exit(r.stdout + r.stderr)
    return r.returncode, (report["violations"] + report["passed"])[0]["test"]


def one(tmp, what, files, want):
    m = json.loads(tracegate("analyze", *files, "--measure", "skew", "--format", "json").stdout)["measures"]
    expect(f"{what}: analyze", m["skew-summary"][0]["skew_pctg"], want)
    expect(f"{what}: the policy, above", measured(tmp, files, want * 1.001), (0, m["skew-summary"][0]["skew_pctg"]))
    expect(f"{what}: the policy, below", measured(tmp, files, want * 0.999)[0], 1)


def main(tmp):
    made = [f"{tmp}/rank{r}.json" for r in range(2)]
    for r, path in enumerate(made):
        write(path, r)
    expect("the oracle, by hand", waiting(made), BY_HAND)
    one(tmp, "made", made, BY_HAND)
    measured(tmp, made, 50)
    r = tracegate("selftest", *made, "--policy", f"{tmp}/p.yml")
    expect(f"selftest: {r.stdout}", (r.returncode, "red       it: ncclKernel_SendRecv takes" in r.stdout), (0, True))
    measured(tmp, made, 99.9)
    r = tracegate("selftest", *made, "--policy", f"{tmp}/p.yml")
    expect(f"selftest of a limit that nothing reaches: {r.stdout}", (r.returncode, "SURVIVED" in r.stdout), (1, True))
    for keys in (("Seq", "Comms Id"), ("Comms Id",), ("Seq",)):
        for lost in (True, False):
            files = [f"{tmp}/n{r}.json" for r in range(4)]
            for r, path in enumerate(files):
                numbered(path, r, keys, lost)
            one(tmp, f"numbered by {keys}, {lost}", files, by_id(lost))
            skew = json.loads(tracegate("analyze", *files, "--measure", "skew", "--format", "json").stdout)["measures"]
            expect(f"numbered by {keys}: unmatched", [r["unmatched"] for r in skew["skew"]], [int(lost), 0, 0, 0])
            joined = f"{tmp}/all.tgsum"
            expect("summarize", tracegate("summarize", *files, "-o", joined).returncode, 0)
            expect(f"numbered by {keys}: from a summary", measured(tmp, [joined], by_id(lost) * 1.001)[0], 0)
    by_order = None
    for bare in ({0, 1, 2, 3}, {0}, {1}, {3}):  # without: by order, where another pair is one
        for r, path in enumerate(files):
            numbered(path, r, () if r in bare else ("Seq", "Comms Id"), True)
        skew = json.loads(tracegate("analyze", *files, "--measure", "skew", "--format", "json").stdout)["measures"]
        by_order = by_order or skew
        expect(f"not numbered on {bare}: as if none were", skew, by_order)
        one(tmp, f"not numbered on {bare}", files, by_order["skew-summary"][0]["skew_pctg"])
    expect("not numbered: other pairs", abs(by_order["skew-summary"][0]["skew_pctg"] - by_id(True)) > 1, True)
    real = [d for d in ("hta/sampled_2rank", "param/dlrm_8rank") if os.path.isdir(os.path.join(CORPUS, d))]
    for d in real:
        files = sorted(glob.glob(os.path.join(CORPUS, d, "*.gz")))
        one(tmp, d, files, waiting(files))


run_parts(main)
