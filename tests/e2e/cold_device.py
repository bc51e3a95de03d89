#!/usr/bin/env python3
"""
A device whose speed changes within the runs: its durations are not judged by a plain check, asked again in stages, and
cannot be told if it never settles. What the host does, and how often anything is called, is judged as ever. The wanted
verdicts were written down before the runs.
"""
import json
import re
import sys

from support import Repository, expect, judge, run_parts

# A program whose host launches twelve kernels of 100 us a step, and waits for the device. `v` says what else:
#   cold    so much longer they are in the first four of its eight steps (only before run `until`, if that is given)
#   kernel  kernel 3 takes so many times as long (only before run `while`)
#   op      so does operator 5 on the host
#   calls   kernel 4 is called so often
MAKE = """import json, random
def trace(k, v):
    rng = random.Random(f"{sorted(v.items())} {k}")
    out, at, n = [], 0.0, 0
    def add(cat, name, ts, dur, **args):
        tid = 7 if cat == "kernel" else 1
        out.append(dict(ph="X", cat=cat, name=name, pid=0 if tid == 7 else 1, tid=tid, ts=round(ts, 3), dur=round(dur, 3), args=args))
    for step in range(8):
        begin, free = at, at
        slow = 1 + (v.get("cold", 0) if step < 4 and k < v.get("until", 99) else 0)
        for i in range(12):
            for call in range(v.get("calls", 1) if i == 4 else 1):
                host = 20 * rng.uniform(.99, 1.01) * (v.get("op", 1) if i == 5 else 1)
                n += 1
                add("cpu_op", f"demo::op{i}", at, host)
                add("cuda_runtime", "cudaLaunchKernel", at + 5, 5, correlation=n)
                free = max(free, at + 12)
                more = v.get("kernel", 1) if i == 3 and k < v.get("while", 99) else 1
                device = 100 * rng.uniform(.997, 1.003) * slow * more
                add("kernel", f"kernel{i}", free, device, correlation=n, device=0, stream=7)
                free += device + 1
                at += host + 1
        add("cuda_runtime", "cudaDeviceSynchronize", at, max(free - at, 1))
        at = max(free, at + 1) + 1
        add("user_annotation", f"ProfilerStep#{step}", begin, at - begin)
        at += 1
    return dict(schemaVersion=1, deviceProperties=[dict(id=0, name="Card")], traceEvents=out)
"""
exec(MAKE)
BENCH = MAKE + """
import gzip, os
with gzip.open(os.environ["TRACE"], "wt") as f:
    json.dump(trace(int(os.environ["TRACE"].removesuffix(".json.gz")[-2:]), json.load(open("variant"))), f)
"""
COLD, SLOWER = {"cold": .06}, {"cold": .06, "kernel": 1.3}
NOTE, WARM = "the device's speed changes within the runs", "Warm the device up for two seconds before recording."


def plain(tmp):
    # baseline, fresh -> verdict, red names, in the report
    for base, fresh, verdict, red, words in (
            ({}, {}, "pass", set(), ""),
            ({}, {"kernel": 1.3}, "fail", {"kernel3"}, ""),
            (COLD, COLD, "pass", set(), "its durations are not judged"),
            (COLD, {}, "pass", set(), "its durations are not judged"),
            ({}, SLOWER, "inconclusive", set(), NOTE + ", and kernel3 looks slower"),
            (COLD, SLOWER, "inconclusive", set(), NOTE + ", and kernel3 looks slower"),
            (COLD, {"kernel": 1.3}, "inconclusive", set(), NOTE + ", and kernel3 looks slower"),
            ({"cold": -.06}, {"cold": -.06, "kernel": 1.3}, "inconclusive", set(), NOTE),
            (COLD, {"cold": .06, "kernel": 3}, "inconclusive", set(), WARM),
            ({"cold": .01}, {"cold": .01, "kernel": 1.3}, "fail", {"kernel3"}, ""),
            (COLD, {"cold": .06, "op": 1.5}, "fail", {"demo::op5"}, NOTE),
            (COLD, {"cold": .06, "calls": 2}, "fail", {"demo::op4"}, NOTE)):
        report, done = judge(tmp + "/j", [trace(k, base) for k in range(5)], [trace(k + 50, fresh) for k in range(5)])
        name = f"{base} {fresh}"
        expect(f"{name}: {done.stdout}", (report["verdict"], {v["op"] for v in report["violations"]} >= red if red else not report["violations"]),
               (verdict, True))
        text = " ".join(done.stdout.split())
        expect(f"{name}: {words}: {text}", (words in text, NOTE in text), (True, abs(base.get("cold", 0)) > .02 or abs(fresh.get("cold", 0)) > .02))


def asked(tmp):
    # baseline, change -> exit, in the report, runs a side
    for base, fresh, code, words, n in (
            ({}, {"kernel": 1.3}, 1, "kernel3", 9),
            # A look at a device that is not settled proves nothing, so that four new runs are too few.
            ({"cold": .06, "until": 5}, {"cold": .06, "until": 5, "kernel": 1.3}, 1, "kernel3", 13),
            ({"cold": .06, "until": 5}, {"cold": .06, "until": 5, "kernel": 1.07}, 1, "kernel3", 13),
            ({"cold": .06, "until": 5}, {"cold": .06, "until": 5, "kernel": 1.3, "while": 5}, 0, "PASS", 9),
            ({"cold": .06, "until": 5}, {"cold": .06, "until": 5}, 0, "PASS", 9),
            ({"cold": .06, "until": 9}, {"cold": .06, "until": 9}, 0, "PASS", 17),
            (COLD, COLD, 0, "its durations are not judged", 17),
            (COLD, {"cold": .06, "kernel": 1.07}, 4, "cannot be told within 17 runs a side: kernel3", 17),
            (COLD, SLOWER, 4, "cannot be told within 17 runs a side: kernel3", 17),
            (COLD, {"cold": .06, "op": 1.5}, 1, "demo::op5", 9)):
        r = Repository(f"{tmp}/{abs(hash(str((base, fresh))))}").history({"bench.py": BENCH, "variant": json.dumps(base)},
                                                                         {"variant": json.dumps({**fresh, "side": 1})})
        done = r.run("ab", "--base", "HEAD~1", "--", sys.executable, "bench.py")
        runs = re.search(r"ab: (\d+) runs? a side in", done.stderr)
        text = " ".join(done.stdout.split())
        settled = base.get("cold", 0) == 0 or "until" in base
        expect(f"ab {base} {fresh}: what is not judged: {text}", "not judged: the device's speed" in text, not settled)
        expect(f"ab {base} {fresh}: {done.stdout} {done.stderr}", (done.returncode, words in text, runs and int(runs[1])), (code, True, n))
        if code == 4:
            expect(f"ab {base} {fresh}: what to do: {text}", WARM in text, True)


run_parts(plain, asked)
