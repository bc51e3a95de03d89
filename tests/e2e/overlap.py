#!/usr/bin/env python3
"""
Kernels that a copy of another stream overlaps take longer meanwhile: what is said where the overlap varies from step to step or
from run to run, where it comes or goes, and of a kernel that is slower beside it. The wanted verdicts were written down before the runs.
"""
import json
import re
import sys

from support import Repository, expect, expect_end, judge, read_json, read_text, run_parts, tracegate, write_text

# A step of 4 x 12 kernels of 100 us, and a copy of 900 us on another stream. `v` says what else:
#   at      where in the step the copy begins: us, or drawn anew in each "step" or "run"; None: after the kernels
#   kernel  kernel 5 takes so many times as long
#   names   how many names the 48 kernels have
MAKE = """import json, random
def trace(seed, v):
    rng, names = random.Random(seed), v.get("names", 12)
    out, t, n, of_run = [], 0.0, 0, rng.uniform(0, 3900)
    def add(cat, name, ts, dur, **args):
        tid = args.get("stream", 1)
        out.append(dict(ph="X", cat=cat, name=name, pid=1 if tid == 1 else 0, tid=tid, ts=round(ts, 3), dur=round(dur, 3), args=args))
    for step in range(6):
        begin, free, host = t, t + 10, t
        at = v["at"]
        at = rng.uniform(0, 3900) if at == "step" else of_run if at == "run" else at
        beside = (0, 0) if at is None else (begin + at, begin + at + 900 * rng.uniform(.99, 1.01))
        for call in range(48):
            n += 1
            add("cpu_op", f"aten::op{call % names}", host, 10 * rng.uniform(.99, 1.01))
            add("cuda_runtime", "cudaLaunchKernel", host + 2, 5, correlation=n)
            dur = 100 * rng.uniform(.997, 1.003) * (v.get("kernel", 1) if call % names == 5 else 1)
            dur += .25 * max(0, min(free + dur, beside[1]) - max(free, beside[0]))
            add("kernel", f"kernel{call % names}", free, dur, correlation=n, device=0, stream=7)
            free, host = free + dur + 1, host + 11
        if at is None:
            beside = (free, free + 900 * rng.uniform(.99, 1.01))
        add("cuda_runtime", "cudaMemcpyAsync", host, 5, correlation=n + 1)
        n += 1
        add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", beside[0], beside[1] - beside[0], correlation=n, device=0, stream=20, bytes=1000000)
        end = max(free, beside[1])
        add("cuda_runtime", "cudaDeviceSynchronize", host + 8, max(end - host - 8, 1))
        t = end + 2
        add("user_annotation", f"ProfilerStep#{step}", begin, t - begin - 1)
    return dict(schemaVersion=1, deviceProperties=[dict(id=0, name="Card")], traceEvents=out)
"""
exec(MAKE)
BENCH = MAKE + """
import gzip, os
v = json.load(open("variant"))
with gzip.open(os.environ["TRACE"], "wt", compresslevel=1) as f:
    json.dump(trace(1000 * v["seed"] + int(os.environ["TRACE"].removesuffix(".json.gz")[-2:]), v), f)
"""
STEP, RUN, AFTER, EARLY, LATE = {"at": "step"}, {"at": "run"}, {"at": None}, {"at": 500}, {"at": 1700}
SINGLE = {"names": 48}  # each kernel has a name of its own: no other call of it tells
BESIDE_LATE = {f"kernel{k}" for k in range(16, 24)}


def by_kernel(report, list_):
    return {x["op"] for x in report[list_] if x["op"].startswith("kernel")}


def plain(tmp):
    # baseline, fresh, runs a side, draws -> verdicts, kernels that fail, kernels that warn
    for base, fresh, runs, draws, verdicts, red, warned in (
            (STEP, STEP, 3, 4, {"pass"}, set(), set()),
            (STEP, STEP, 5, 4, {"pass"}, set(), set()),
            (STEP, {**STEP, "kernel": 1.05}, 3, 1, {"warn"}, set(), {"kernel5"}),
            (STEP, {**STEP, "kernel": 1.05}, 5, 1, {"warn"}, set(), {"kernel5"}),
            (STEP, {**STEP, "kernel": 1.2}, 3, 1, {"fail"}, {"kernel5"}, set()),
            (STEP, {**STEP, "kernel": 1.1}, 5, 1, {"fail"}, {"kernel5"}, set()),
            (RUN, RUN, 5, 4, {"pass", "warn"}, set(), None),
            (RUN, {**RUN, "kernel": 1.2}, 5, 1, {"fail"}, {"kernel5"}, set()),
            (AFTER, EARLY, 5, 1, {"pass"}, set(), set()),
            # the copy begins elsewhere: of 12 names other calls tell, of 48 none does
            (EARLY, LATE, 3, 2, {"pass"}, set(), set()),
            (EARLY, LATE, 5, 2, {"pass"}, set(), set()),
            ({**EARLY, **SINGLE}, {**LATE, **SINGLE}, 3, 2, {"warn"}, set(), BESIDE_LATE),
            ({**EARLY, **SINGLE}, {**LATE, **SINGLE}, 5, 2, {"warn"}, set(), BESIDE_LATE),
            (EARLY, {**LATE, "kernel": 1.5}, 3, 1, {"fail"}, {"kernel5"}, None),
            (EARLY, {**LATE, "kernel": 1.1}, 5, 1, {"fail"}, {"kernel5"}, None),
            ({**EARLY, **SINGLE}, {**LATE, **SINGLE, "kernel": 1.5}, 3, 1, {"fail"}, {"kernel5"}, BESIDE_LATE),
            # beside the same work, before and after: a slower kernel is one
            ({**EARLY, **SINGLE}, {**EARLY, **SINGLE, "kernel": 1.5}, 3, 1, {"fail"}, {"kernel5"}, set()),
            ({**EARLY, **SINGLE}, {**EARLY, **SINGLE, "kernel": 1.1}, 5, 1, {"fail"}, {"kernel5"}, set()),
            (EARLY, AFTER, 5, 1, {"fail"}, set(), set())):  # the step takes 700 us longer, and no kernel does
        for draw in range(draws):
            report, done = judge(tmp + "/j", [trace(1000 * draw + k, base) for k in range(runs)],
                                 [trace(1000 * draw + 500 + k, fresh) for k in range(runs)])
            expect(f"{base} {fresh} {runs}v{runs} {draw}: {done.stdout}", (report["verdict"] in verdicts, by_kernel(report, "violations")),
                   (True, red))
            if "names" in base and base["at"] != fresh["at"]:
                because = {x["because"] for x in report["warnings"]}
                expect(f"{base} {fresh}: why", because, {"overlap"})
            if warned is not None:
                expect(f"{base} {fresh} {runs}v{runs} {draw}: warns", by_kernel(report, "warnings"), warned)


def stored(tmp):
    """A stored baseline decides as its traces do; one of a version that did not store the overlap fails, as there."""
    sides = [[trace(500 * k + n, {**v, **SINGLE}) for n in range(5)] for k, v in enumerate((EARLY, LATE))]
    judge(tmp + "/j", *sides)
    done = tracegate("summarize", "base", "-o", "base.tgs", cwd=tmp + "/j")
    expect_end("summarize", done, 0)
    text = read_text(tmp + "/j/base.tgs")
    old, n = re.subn(r',"beside":"[^"]*"', "", text)
    expect("each shard has it", n, 5)
    for name, body, verdict in (("base", text, 0), ("old", old, 1)):
        write_text(f"{tmp}/j/{name}.tgs", body)
        done = tracegate("check", "x", "--runs", "--baseline", f"{name}.tgs", cwd=tmp + "/j")
        expect_end(f"check, {name}", done, verdict)
    damaged = re.sub(r'("beside":"\d+:)[^"]*', r"\1AAAA", text)
    write_text(tmp + "/j/damaged.tgs", damaged)
    expect_end("check, damaged", tracegate("check", "x", "--runs", "--baseline", "damaged.tgs", cwd=tmp + "/j"), 3, err="damaged summary")


def asked(tmp):
    # baseline, change -> exit, kernels that fail
    for k, (base, fresh, code, red) in enumerate(((STEP, STEP, 0, set()), (RUN, RUN, 0, set()), (AFTER, EARLY, 0, set()),
                                                  (EARLY, LATE, 0, set()), (EARLY, {**LATE, "kernel": 1.1}, 1, {"kernel5"}),
                                                  (STEP, {**STEP, "kernel": 1.1}, 1, {"kernel5"}))):
        r = Repository(f"{tmp}/r{k}").history({"bench.py": BENCH, "variant": json.dumps({**base, "seed": 0})},
                                              {"variant": json.dumps({**fresh, "seed": 1})})
        done = r.run("ab", "--base", "HEAD~1", "--json", "r.json", "--", sys.executable, "bench.py")
        red_now = by_kernel(read_json(r.path("r.json")), "violations")
        expect(f"ab {base} {fresh}: {done.stdout} {done.stderr}", (done.returncode, red_now), (code, red))


run_parts(plain, stored, asked)
