#!/usr/bin/env python3
"""A library's choice of kernels is not a regression: operators of which every process picks one of three algorithms, as autotuning and
cuDNN do, with 70, 25 and 5 %. An algorithm is a list of kernels, sets and copies of its own; a fourth is the first and a set and a copy more.
Expected is what docs/statistics.md says: no draw fails, at one to ten runs a side; a choice that takes longer than the baseline's evidence fails; so
does a kernel that is added beside the choice, at one run: by another operator, or by one more call. So it is where an annotation or the step launches
the kernels. One steady kernel that takes a tenth longer warns at three runs a side, where it would have to take 15 % more to fail.
"""
import itertools
import random

from support import expect, judge, judged, run_parts
from plain_model import mark, span, whole

OPS, STEPS = 16, 4
RUNS = ((1, 1), (2, 2), (3, 3), (5, 5), (10, 3), (10, 10))
# What launches the kernels: an operator each, or, without operators, an annotation each, one for all, the step.
OPERATOR, EACH, ONE, STEP = "operator", "annotation", "one annotation", "step"


def algorithms(op, slow=1.0):
    """Of one operator: a kernel; two that take as long; a set, a kernel and a copy on the device; and these around the first."""
    us = 60.0 + 7 * op
    zero, copy = ("gpu_memset", "Memset (Device)", 1.0), ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 2.0)
    return [[("kernel", f"void gemm_a{op % 5}(float*)", us)],
            [("kernel", f"void gemm_b{op % 3}_splitK(float*)", us * 0.9 * slow), ("kernel", "void splitKreduce(float*)", us * 0.1 * slow)],
            [zero, ("kernel", f"void gemm_c{op % 2}(float*)", us - 3), copy],
            [zero, ("kernel", f"void gemm_a{op % 5}(float*)", (us - 3) * slow), copy]]


def pick(rng):
    return rng.choices((0, 1, 2), (70, 25, 5))[0]


class Run:
    def __init__(self, rng, where=OPERATOR):
        self.rng, self.events, self.host, self.device, self.serial, self.where = rng, [], 1000.0, 1000.0, 0, where

    def operator(self, name, work):
        start, self.host = self.host, self.host + 2
        for cat, kernel, us in work:
            self.serial += 1
            call = {"kernel": "cudaLaunchKernel", "gpu_memset": "cudaMemsetAsync", "gpu_memcpy": "cudaMemcpyAsync"}[cat]
            self.events.append(span("cuda_runtime", call, self.host, 3, 1, 1, correlation=self.serial))
            begin = max(self.device, self.host + 2)
            us = round(us * self.rng.uniform(0.995, 1.005), 3)
            self.events.append(span(cat, kernel, begin, us, 0, 7, device=0, stream=7, correlation=self.serial, bytes=4096))
            self.device, self.host = begin + us + 0.5, self.host + 4
        self.host += 2.013
        if self.where in (OPERATOR, EACH):
            self.events.append(span("cpu_op" if self.where == OPERATOR else "user_annotation", name, start, self.host - start))
        self.host += 1.5


def trace(chosen, seed, slow=1.0, more=(), of=algorithms, where=OPERATOR):
    """`chosen`: by operator, index into what `of` gives. `more`: (operator, its work) at the end of each step."""
    run = Run(random.Random(seed), where)
    for step in range(STEPS):
        start = run.host = max(run.host, run.device) + 5
        run.host += where == ONE
        for op, k in enumerate(chosen):
            run.operator(f"aten::conv{op % 8}" if where == OPERATOR else f"stage {op}", of(op, slow)[k])
        for name, work in more:
            run.operator(name, work)
        if where == ONE:
            run.events.append(span("user_annotation", f"step[DECODE bs={32 + step}]", start, run.host - start))
            run.host += 1
        run.events.append(mark(step + 3, start, max(run.host, run.device) + 2 - start))
        run.host += 3
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": run.events}


def common(other, rng, slow=1.0, before=(), more=()):
    """Two kernels for all operators; `other`: which of them run the second one, and `before` it."""
    return trace(other, rng.random(), more=more, of=lambda op, _: [
        [("kernel", "void g(float*)", 60.0 + 7 * op)], [*before, ("kernel", "void g2(float*)", (60.0 + 7 * op) * slow)]])


def draws(rng, n, **how):
    return [trace([pick(rng) for _ in range(OPS)], rng.random(), **how) for _ in range(n)]


def fixed(chosen, rng, n, **how):
    return [trace(chosen, rng.random(), **how) for _ in range(n)]


def verdict(base, fresh, tmp):
    return judge(tmp + "/x", base, fresh)[0]


def main(tmp):
    rng = random.Random(20)
    for nb, nt in RUNS:
        for _ in range(6 if nb < 10 else 2):
            v = verdict(draws(rng, nb), draws(rng, nt), tmp)
            judged(v["verdict"] in ("pass", "warn"), f"{nb}v{nt} drawn: {v['headline']}")
            v = verdict(whole(draws(rng, nb)), whole(draws(rng, nt)), tmp)
            judged(v["verdict"] in ("pass", "warn"), f"{nb}v{nt} drawn, whole us: {v['headline']}")
    first = [0] * OPS
    for n, other in itertools.product((1, 3, 5), ([0] * 7 + [k] + [0] * (OPS - 8) for k in (1, 3))):
        known = verdict(fixed(first, rng, n) + fixed(other, rng, 1), fixed(other, rng, n), tmp)
        expect(f"a choice that a run of the baseline made, {n}", known["verdict"], "pass")
        seen = verdict(fixed(first, rng, n), fixed(other, rng, n), tmp)
        expect(f"another choice, {other[7]}, {n}", seen["verdict"], "warn" if n == 1 else "pass")
        judged(n > 1 or "aten::conv7 other kernels, same calls" in seen["headline"].replace("`", ""), f"it says what: {seen['headline']}")
        without = [0] * 7 + [4] + [0] * (OPS - 8)  # a set and a copy around a kernel, and the kernel alone
        parts = {"of": lambda op, slow: [*algorithms(op, slow), algorithms(op)[2][1:2]]}
        alone = [fixed(k, random.Random(n), n, **parts) for k in (first[:7] + [2] + first[8:], without)]
        expect(f"fewer kernels for the same calls, {n}", verdict(*alone, tmp)["verdict"], "pass")
        several = verdict(fixed(first, rng, n), fixed([0] * 3 + [1, 2, 2, 1, 2] + [0] * 5 + [2, 2, 1], rng, n), tmp)
        expect(f"other choices of eight operators, with other numbers of launches, {n}", several["verdict"], "warn" if n == 1 else "pass")
        slow = verdict(fixed(first, rng, n), fixed(other, rng, n, slow=1.6), tmp)
        expect(f"a slower choice, {other[7]}, {n}", slow["verdict"], "warn" if n == 1 else "fail")
        if n > 1:
            expect(f"a slower choice, {other[7]}, {n}: its operator first", slow["violations"][0]["op"], "aten::conv7")
        conv = ("aten::conv7", algorithms(7)[0])
        for what, work in (("another operator's kernel", ("aten::extra", [("kernel", "void gemm_a2(float*)", 30.0)])), ("one more call", conv)):
            for chosen in (first, other):
                added = verdict(fixed(first, rng, n), fixed(chosen, rng, n, more=[work]), tmp)
                expect(f"{what} beside {'a choice' if chosen is other else 'nothing'}, {n}", added["verdict"], "fail")
    for n in (3, 5):  # all operators launch the same few kernels: what one of them chose is little of a name
        for slow, want in ((1.0, "pass"), (1.9, "fail")):
            v = verdict(*([common([k == 1 and op == 8 for op in range(OPS)], rng, slow) for _ in range(n)] for k in range(2)), tmp)
            expect(f"another common kernel, x{slow}, {n}: {v['headline']}", v["verdict"], want)
    chosen = [op % 3 == 0 and op % 8 != 4 for op in range(40)]
    for more, want in (((), "warn"), ([("aten::conv4", [("kernel", "void g(float*)", 60.0)])], "fail")):
        v = verdict([common([False] * 40, rng)], [common(chosen, rng, 1.0, algorithms(0)[2][:1], more)], tmp)
        expect(f"{len(more)} more calls, whose kernel is less often launched by others: {v['headline']}", v["verdict"], want)
    for percent, want in ((0, "pass"), (10, "warn"), (30, "fail")):
        base, fresh = (fixed(first, rng, 3, more=[("aten::steady", [("kernel", "void steady(float*)", us)])])
                       for us in (90.0, 90.0 + 0.9 * percent))
        v = verdict(base, fresh, tmp)
        expect(f"one kernel +{percent} % at 3v3, its runs within 1 %", (v["verdict"], [w["because"] for w in v["warnings"]]),
               (want, ["steady"] if want == "warn" else []))
    expect("the same kernel twice in one call", verdict([trace(first, 1)], [twice(trace(first, 2))], tmp)["verdict"], "fail")
    without_operators(tmp, rng)


def without_operators(tmp, rng):
    """As above, where no operator is around the launches. A slower choice is red from three runs on, and what is added at one."""
    first = [0] * OPS
    extra = [("kernel", "void extra(float*)", 30.0)]
    for where in (EACH, ONE, STEP):
        for nb, nt in RUNS:
            for _ in range(3 if nb < 10 else 1):
                v = verdict(draws(rng, nb, where=where), draws(rng, nt, where=where), tmp)
                judged(v["verdict"] in ("pass", "warn"), f"{where}, {nb}v{nt} drawn: {v['headline']}")
        for n, k in itertools.product((1, 3), (1, 2)):
            other = [0] * 7 + [k] + [0] * (OPS - 8)
            base = fixed(first, rng, n, where=where)
            known = verdict(base + fixed(other, rng, 1, where=where), fixed(other, rng, n, where=where), tmp)
            expect(f"{where}: a choice that a run of the baseline made, {n}", known["verdict"], "pass")
            seen = verdict(base, fixed(other, rng, n, where=where), tmp)
            expect(f"{where}: another choice, {k}, {n}: {seen['headline']}", seen["verdict"], "warn" if n == 1 else "pass")
            if k == 1:
                slow = verdict(base, fixed(other, rng, n, slow=1.6, where=where), tmp)
                judged(n == 1 or slow["verdict"] == "fail", f"{where}: a slower choice, {n}: {slow['headline']}")
            for name, work in (("extra", extra), ("extra", [("kernel", "void gemm_a2(float*)", 30.0)]), ("stage 7", algorithms(7)[0])):
                for chosen in (first, other):
                    added = verdict(base, fixed(chosen, rng, n, more=[(name, work)], where=where), tmp)
                    expect(f"{where}: {work[0][1]} beside {'a choice' if chosen is other else 'nothing'}, {n}", added["verdict"], "fail")


def twice(doc):
    """Every kernel of aten::conv7 once more, launched by the same call."""
    events, again = doc["traceEvents"], []
    for e in events:
        if e["name"] == "void gemm_a2(float*)":
            serial = 100000 + e["args"]["correlation"]
            call = next(c for c in events if c["cat"] == "cuda_runtime" and c["args"]["correlation"] == e["args"]["correlation"])
            again += [dict(e, ts=e["ts"] + e["dur"] + 0.1, dur=0.3, args=dict(e["args"], correlation=serial)),
                      dict(call, ts=call["ts"] + 3.1, dur=0.8, args={"correlation": serial})]
    events += again
    return doc


run_parts(main)
