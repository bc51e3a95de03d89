#!/usr/bin/env python3
"""Causes on the corpus of real traces: cause_corpus.py DRIVER [-v]

Links: the forward operator of backward work is the one that the trace's own arrows (`fwdbwd`) name, in 760 of 760.
Device time of backward work that is linked, against figures counted beforehand by a script of its own.
Planted by time: all calls of one operator in one function take longer; the cause must name that function in 90 % of them.
Skips where the corpus is absent.
"""
import collections
import os
import random
import re
import subprocess
import sys

from support import CORPUS, absent, expect, read_json, run_parts, tracegate, write_json, write_text

ARROWS = {"hta/nccl_a100_ns/nccl_data.json.gz": 543, "hta/amd_mi250/mi250_minitoy.json.gz": 4,
          "tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz": 213}
# backward work in % of device time, what is linked and what is AccumulateGrad in % of that
DEVICE = {
    "hta/v100_resnet_rank1/df_index_resolver.json.gz": (77, 96.6, 3.4),
    "param/linear/linear_kineto.json.gz": (61, 91.1, 8.9),
    "hta/trace_diff/control/control.json.gz": (49, 82.0, 18.0),
    "hta/trace_diff/test/test.json.gz": (53, 81.2, 18.8),
    "hta/amd_mi250/mi250_minitoy.json.gz": (33, 81.2, 18.8),
    "hta/nccl_a100_ns/nccl_data.json.gz": (74, 60.9, 39.1),
    "hta/negative_queue_length/rank0.json.gz": (60, 44.3, 55.7),
    "hta/sampled_2rank/sampled_rank-0.json.gz": (41, 41.9, 43.9),
    "param/dlrm_8rank/worker0_step_12.1694128201545.pt.trace.json.gz": (41, 34.7, 65.3),
    "tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz": (61, 21.9, 78.1),
}
WITH_STACKS = [f"tracelens/{name}" for name in (  # and steps: without them no duration is judged
    "h100_nsfw/nsfw.json.gz", "mi300_nsfw/nsfw.json.gz", "h100_qwen/qwen1.5-0.5b.json.gz", "mi300_qwen/qwen1.5-0.5b.json.gz",
    "mi300_resnet_ckpt/resnet_act_checkpoint.json.gz")]
LIBRARY = ("contextlib.py", "threading.py", "functools.py")  # Python's own
PLANTS, RUNS, GOAL = 5, 3, 0.9
FRAME = re.compile(r"^(.+)\((\d+)\): (.+)$")


def read(name):
    path = os.path.join(CORPUS, name)
    return path, read_json(path)


def ask(driver, *args):
    return subprocess.run([driver, *args], capture_output=True, text=True, check=True).stdout


def place(e):
    return str(e.get("pid")), str(e.get("tid")), e["ts"]


def arrows(driver, name):
    """How many of a trace's arrows the links agree with, and of how many."""
    path, trace = read(name)
    rows = trace["traceEvents"]
    at = collections.defaultdict(list)
    for i, e in enumerate(rows):
        if e.get("ph") == "X":
            at[place(e)].append(i)
    links = dict(map(int, line.split()) for line in ask(driver, "links", path).splitlines())
    begin = {e["id"]: e for e in rows if e.get("cat") == "fwdbwd" and e["ph"] == "s"}
    ends = [e for e in rows if e.get("cat") == "fwdbwd" and e["ph"] == "f" and e["id"] in begin]
    return sum(any(links.get(i, -1) in at[place(begin[e["id"]])] for i in at[place(e)]) for e in ends), len(ends)


def link(driver):
    agree = total = 0
    for name, n in ARROWS.items():
        good, of = arrows(driver, name)
        expect(f"{name}: arrows", of, n)
        agree, total = agree + good, total + of
    expect("links as the arrows say", (agree, total), (760, 760))


def device(driver):
    for name, want in DEVICE.items():
        every, backward, linked, exchange = map(int, ask(driver, "device", os.path.join(CORPUS, name)).split())
        got = 100 * backward / every, 100 * linked / backward, 100 * exchange / backward
        expect(f"{name}: backward {got[0]:.1f} %, linked {got[1]:.1f} %, without number {got[2]:.1f} %",
               abs(got[0] - want[0]) <= 0.6 and abs(got[1] - want[1]) <= 0.11 and abs(got[2] - want[2]) <= 0.11, True)


# planted by time

def is_program(name):
    m = FRAME.match(name)
    return m and m[1] not in LIBRARY and not m[1].startswith("torch/") and not re.search("site-packages/|dist-packages/|lib/python", m[1])


def functions_of(rows):
    """(function's frame, operator) -> the operator's rows whose innermost function of the program that is."""
    threads = collections.defaultdict(list)
    for e in rows:
        if e.get("ph") == "X" and e.get("cat") in ("python_function", "cpu_op"):
            threads[place(e)[:2]].append(e)
    found = collections.defaultdict(list)
    for spans in threads.values():
        stack = []
        for e in sorted(spans, key=lambda e: (float(e["ts"]), -float(e["dur"]))):
            while stack and float(stack[-1]["ts"]) + float(stack[-1]["dur"]) < float(e["ts"]) + float(e["dur"]) - 1e-3:
                stack.pop()
            if e["cat"] == "cpu_op":
                above = [s for s in stack if is_program(s["name"])]
                if above and stack[-1]["cat"] == "python_function":
                    found[above[-1]["name"], e["name"]].append(e)
            stack.append(e)
    return found


def slower(rows, slow, by):
    """Each of `slow` takes `by` us longer; what encloses it grows, what follows on its thread moves."""
    moved = []
    marks = sorted((place(e)[:2], float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in slow)
    for e in rows:
        if e.get("ph") != "X" or e.get("cat") not in ("python_function", "cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"):
            moved.append(e)
            continue
        mine = [(a, b) for thread, a, b in marks if thread == place(e)[:2]]
        a, b = float(e["ts"]), float(e["ts"]) + float(e["dur"])
        shift, grow = sum(y <= a for x, y in mine) * by, sum(a <= x and y <= b + 1e-3 for x, y in mine) * by
        moved.append({**e, "ts": a + shift, "dur": float(e["dur"]) + grow})
    return moved


def write(folder, trace, rows, seed):
    os.makedirs(folder, exist_ok=True)
    for k in range(RUNS):
        r = random.Random(seed * 10 + k)
        scale = 1 + r.uniform(-0.003, 0.003)
        own = [{**e, "dur": round(float(e["dur"]) * scale, 3)} if e.get("ph") == "X" and e.get("cat") == "cpu_op" else e for e in rows]
        write_json(f"{folder}/run{k}.json.gz", {**trace, "traceEvents": own})


def first_cause(tmp):
    write_text(tmp + "/.tracegate.yml", "version: 1\nextends: ['tracegate:recommended']\n")
    tracegate("check", "fresh", "--runs", "--baseline", "base", "--json", "r.json", cwd=tmp)
    report = read_json(tmp + "/r.json")
    shown = [r for r in report["violations"] + report["warnings"] if r["cause"]]
    return (shown[0]["op"], shown[0]["cause"]) if shown else (report["verdict"], None)


def plant(name, tmp, verbose):
    """(right, judged) of some functions of a trace."""
    trace = read(name)[1]
    rows = trace["traceEvents"]
    span = max(float(e["ts"]) + float(e["dur"]) for e in rows if e.get("ph") == "X") - min(float(e["ts"]) for e in rows if e.get("ph") == "X")
    found = functions_of(rows)
    picked = random.Random(15).sample(sorted(found), min(PLANTS, len(found)))
    write(tmp + "/base", trace, rows, 1)
    right = judged = 0
    for frame, op in picked:
        calls = found[frame, op]
        write(tmp + "/fresh", trace, slower(rows, calls, 0.3 * span / len(calls)), 2)
        result, cause = first_cause(tmp)
        file, _, function = FRAME.match(frame).groups()
        good = bool(cause) and (cause["file"], cause["function"]) == (file, function)
        judged += cause is not None
        right += good
        if verbose or not good:
            print(f"{name}: {op} in {frame}, {len(calls)} calls: {result} {cause and (cause['file'], cause['function'], round(cause['share'], 2))}")
    return right, judged, len(picked)


def planted(tmp, verbose):
    right = judged = total = 0
    for k, name in enumerate(WITH_STACKS):
        os.makedirs(f"{tmp}/{k}")
        r, j, n = plant(name, f"{tmp}/{k}", verbose)
        right, judged, total = right + r, judged + j, total + n
    print(f"planted by time: {right} of {total} name the function, {judged} have a cause")
    expect("planted by time", right >= GOAL * total, True)


def main(tmp):
    if not os.path.isdir(CORPUS):
        absent("corpus")
    link(sys.argv[1])
    device(sys.argv[1])
    planted(tmp, "-v" in sys.argv)


run_parts(main)
