#!/usr/bin/env python3
"""torch.compile: a Triton kernel and the host operator that launches it are one finding; regions that were compiled again
are one line, whatever their number, and none where the baseline has them too.
"""
import re

from support import expect, judge, run_parts
from plain_model import launched, mark, span



def trace(triton, regions, steps=4):
    """`triton` kernels a step, each launched by an operator of its name; `regions` are names of compiled regions."""
    events = []
    for k in range(steps):
        t0 = 10000 * k
        events.append(mark(k, t0, 9000))
        for i, region in enumerate(regions):
            if k == 0 or region.endswith("/0"):
                events.append(span("cpu_op", f"Torch-Compiled Region: {region}", t0 + 10 + 60 * i, 50))
        for i, name in enumerate(triton):
            ts = t0 + 2000 + 100 * i
            call, kernel = launched(name, ts + 5, ts + 40, 55, len(events), 10)
            events += [span("cpu_op", name, ts, 60), dict(call, cat="cuda_driver", name="cuLaunchKernel"), kernel]
    return {"traceEvents": events}


def check(tmp, base, fresh):
    report, run = judge(tmp + "/x", [trace(*base)], [trace(*fresh)])
    return run.returncode, " ".join(run.stdout.split()), report


def main(tmp):
    one, other = "triton_poi_fused_add_0", "triton_red_fused_sum_1"
    code, text, _ = check(tmp, ([one], ["0/0"]), ([one, other], ["0/0"]))
    expect(f"a kernel more: exit; {text}", code, 1)
    expect(f"a kernel more: one violation; {text[:200]}", re.match(r"FAIL: 1 violation\b", text) is not None, True)
    # a kernel that another operator launches is its own finding
    code, text, _ = check(tmp, ([one], ["0/0"]), ([one, one], ["0/0"]))
    expect(f"one kernel twice: one violation; {text[:200]}", (code, re.match(r"FAIL: 1 violation\b", text) is not None), (1, True))
    # name, regions before, after -> words
    for name, before, after, words in (
            ("none", ["0/0", "1/0"], ["0/0", "1/0"], None), ("first compilations are none", ["0/0"], ["0/0", "1/0"], None),
            ("one", ["0/0", "1/0"], ["0/0", "1/0", "1/1"], "compiled 1 region again that the baseline did not: 1/1"),
            ("known", ["0/0", "0/1"], ["0/0", "0/1"], None),
            ("two frames", ["0/0", "2/0"], ["0/0", "2/0", "2/1", "0/1", "2/2"], "compiled 3 regions again that the baseline did not: "),
            ("gone", ["0/0", "0/1"], ["0/0"], None)):
        _, text, _ = check(tmp, ([one], before), ([one], after))
        expect(f"{name}: {text[:700]}", words in text if words else "compiled" in text.replace("Torch-Compiled", ""), bool(words))


run_parts(main)
