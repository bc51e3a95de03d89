#!/usr/bin/env python3
"""Damage of the trace itself and deviations from JSON, through `check`: counted, told in every report,
and above its limit no verdict (exit 4). Beside each damaged trace stands one below the limit.

The numbers follow from how the traces are made here: 4 steps of 1000 us, in each 50 launches and 50
kernels of 10 us, so 404 spans, 200 of them device work of 2000 us.
"""
import json
import os
import subprocess

from support import PROGRAM, expect, fault, read_text, run_parts, tracegate, write_bytes
from plain_model import launched, mark, span

STEPS, WORK = 4, 50
REPORTS = ("junit", "markdown", "json", "html", "svg-counts", "svg-durations")
VERDICTS = ("text", "junit", "markdown", "json", "annotations")  # charts do not say why there is none


def events(steps=STEPS):
    out = []
    for step in range(steps):
        at = 1000 + 1000 * step
        out.append(mark(step, at, 1000))
        for i in range(WORK):
            out += launched(f"k{i % 3}", at + 5 + 15 * i, at + 12 + 15 * i, 10, step * WORK + i, 5)
    return out


def kernels(trace, n):
    return [e for e in trace if e["cat"] == "kernel"][:n]


def overlap(trace, n):
    """Kernels start 15 us apart; with 20 us each of these runs 5 us into the next."""
    for e in kernels(trace, n):
        e["dur"] = 20


def negative(trace, n):
    for e in [e for e in trace if e["cat"] == "cuda_runtime"][:n]:
        e["dur"] = -1


def long_kernels(trace, n):
    """On a stream of their own, so that nothing overlaps."""
    for k in range(n):
        trace.append(span("kernel", "k0", 1000, 4001, 0, 7, correlation=0, stream=100 + k, device=0))


def empty(trace, n):
    for e in kernels(trace, n):
        e["ts"] = e["dur"] = 0


def unlinked(trace, n):
    """The launches are gone: dropped, or from before the recording."""
    gone = {e["args"]["correlation"] for e in kernels(trace, n)}
    trace[:] = [e for e in trace if e["cat"] != "cuda_runtime" or e["args"]["correlation"] not in gone]


DAMAGE = [  # how, below the limit, above it, what the reports say (in the other case it is a number)
    # 5 us each of 2000 us and 10 us more: 20 are 100 of 2200 (4.5 %), 30 are 150 of 2300 (6.5 %)
    (overlap, 20, 30, "run past the next start on their stream", "6.5 % of device time runs past"),
    # 0.1 % of 404 spans is 0.4
    (negative, 0, 1, "have a negative duration", "1 events have a negative duration or outlast"),
    (long_kernels, 0, 1, "are kernels that outlast all steps", "1 events have a negative duration or outlast"),
    # 1 % of 200
    (empty, 2, 3, "are kernels with start 0 and duration 0", "3 kernels have start 0 and duration 0"),
    # half of 200
    (unlinked, 100, 101, "are device work whose launch is not in the trace", "101 of 200 pieces of device work have no launch"),
]

LENIENT = [  # what a trace has, what --strict-json says, what the reports call it
    ('"C:\\code"', "an escape that JSON does not know", "1 invalid escape"),
    ('"a\tb"', "a raw control byte in a text", "1 raw control byte"),
    (b'"\xff"', "bytes that are not UTF-8", "1 text with invalid bytes"),
    ("NaN", "a number that is not finite", "1 NaN or Infinity"),
    ("-Infinity", "a number that is not finite", "1 NaN or Infinity"),
    ("18446744073709551616", "an integer beyond 2^63", "1 integer out of range"),
]


class Folder:
    def __init__(self, path):
        self.path = path

    def write(self, name, trace, more=b""):
        text = json.dumps({"traceEvents": trace}).encode()
        write_bytes(os.path.join(self.path, name), text[:-1] + (b', "more": ' + more if more else b"") + b"}")
        return name

    def check(self, trace, *more, base="base.json"):
        reports = [f"--{r}={r}.out" for r in REPORTS]
        for r in REPORTS:
            if os.path.exists(os.path.join(self.path, r + ".out")):
                os.remove(os.path.join(self.path, r + ".out"))
        r = tracegate("check", trace, "--baseline", base, "--annotations", *reports, *more, cwd=self.path)
        lines = r.stdout.splitlines(True)
        said = {"text": "".join(l for l in lines if not l.startswith("::")), "stderr": r.stderr,
                "annotations": "".join(l for l in lines if l.startswith("::")).replace("%25", "%")}
        for name in REPORTS:
            path = os.path.join(self.path, name + ".out")
            if os.path.exists(path):
                said[name] = read_text(path)
        return r.returncode, said


def told(what, said, text, reports=("text", "annotations", *REPORTS)):
    for report in reports:
        if text not in " ".join(said.get(report, "").split()):
            fault(f"{what}: {text!r} is not in the {report} report: {said.get(report)!r}")


def damage(folder):
    for how, few, many, note, guard in DAMAGE:
        trace = events()
        how(trace, few)
        code, said = folder.check(folder.write("few.json", trace))
        expect(f"{how.__name__} {few}", code, 0)
        if few:
            told(f"{how.__name__} {few}", said, f"{few} {note}")
        elif note in said["text"]:
            fault(f"{how.__name__}: told without being there")
        trace = events()
        how(trace, many)
        code, said = folder.check(folder.write("many.json", trace))
        expect(f"{how.__name__} {many}", code, 4)
        told(f"{how.__name__} {many}", said, guard, VERDICTS)
        expect(f"{how.__name__} {many}: nothing else is damaged", "launches of kernels have no kernel" in said["text"], False)


def few_without_launch(folder):
    """All of 99 kernels are too few to call a trace damaged by their launches; all of 100 are not."""
    for n, want in ((99, 0), (100, 4)):
        trace = events()
        unlinked(trace, n)
        left = kernels(trace, n)
        trace = [e for e in trace if e["cat"] == "user_annotation"] + left
        name = folder.write("small.json", trace)
        code, said = folder.check(name, base=name)
        expect(f"all of {n} without a launch", code, want)
        told(f"all of {n} without a launch", said, f"{n} are device work whose launch is not in the trace")


def no_launch_by_nature(folder):
    """Device work without a correlation, as MTIA's DMA rows, names no launch that could be missing."""
    for n, cat in ((99, "kernel"), (200, "kernel"), (200, "mtia_ccp_events")):
        trace = events()
        rows = kernels(trace, n)
        for e in rows:
            del e["args"]["correlation"]
            e["cat"] = cat
        name = folder.write("small.json", trace)
        code, said = folder.check(name, base=name)
        expect(f"{n} {cat} without a correlation", code, 0)
        told(f"{n} {cat} without a correlation", said, f"{n} are device work that names no launch")


def lost_kernels(folder):
    """The first kernels of a trace are gone: no verdict from 100 on, and above 5 % of the work that is left."""
    def trace_of(steps, gone):
        trace = events(steps)
        lost = kernels(trace, gone)
        return [e for e in trace if not any(e is k for k in lost)]
    # 200 launches: 99 and 100 gone. 2100: 100 gone of 2000 left are 5 %, 101 of 1999 are more.
    for steps, gone, want in ((4, 99, 0), (4, 100, 4), (42, 100, 0), (42, 101, 4)):
        name = folder.write("lost.json", trace_of(steps, gone))
        code, said = folder.check(name, base=name)
        expect(f"{gone} of {50 * steps} kernels lost", code, want)
        told(f"{gone} of {50 * steps} kernels lost", said, f"{gone} are launches whose kernel is not in the trace (dropped)")
        if want:
            told(f"{gone} of {50 * steps} kernels lost", said, f"{gone} launches of kernels have no kernel", VERDICTS)
    subprocess.run([PROGRAM, "summarize", name, "-o", "lost.tgs"], cwd=folder.path, check=True)
    code, said = folder.check(name, base="lost.tgs")
    expect("kernels lost, of a summary", code, 4)
    told("kernels lost, of a summary", said, "the baseline traces are damaged: 101 launches of kernels have no kernel", VERDICTS)
    trace = events()
    last = kernels(trace, 200)[60:]  # the recording ended before they ran
    name = folder.write("lost.json", [e for e in trace if not any(e is k for k in last)])
    code, said = folder.check(name, base=name)
    expect("ended early", code, 0)
    if "whose kernel is not in the trace" in said["text"]:
        fault("ended early: lost kernels told")


def leniencies(folder):
    for value, why, kind in LENIENT:
        raw = value if isinstance(value, bytes) else value.encode()
        name = folder.write("odd.json", events(), raw)
        code, said = folder.check(name)
        expect(f"{value} leniently", code, 0)
        told(f"{value} leniently", said, f"1 deviation from JSON in the fresh traces accepted: {kind}")
        code, said = folder.check(name, "--strict-json")
        expect(f"{value} strictly", code, 3)
        if why not in said["stderr"] + said["text"]:
            fault(f"{value} strictly: {why!r} is not in {said['stderr']!r}")
    name = folder.write("odd.json", events(), b'["C:\\code", NaN, "D:\\data"]')
    stored = "5 deviations from JSON in the baseline traces accepted: 2 invalid escapes, 3 times NaN or Infinity"
    other = folder.write("other.json", events(), b'["C:\\code", NaN, "D:\\data", NaN, NaN]')
    subprocess.run([PROGRAM, "summarize", other, "-o", "other.tgs"], cwd=folder.path, check=True)
    for base in (other, "other.tgs"):
        code, said = folder.check(name, base=base)
        expect(f"kinds, {base}", code, 0)
        told(f"kinds, {base}", said, "3 deviations from JSON in the fresh traces accepted: 2 invalid escapes, "
             "1 NaN or Infinity")
        told(f"kinds, {base}", said, stored)
    code, said = folder.check(folder.write("plain.json", events()), "--strict-json")
    expect("plain strictly", code, 0)
    if "from JSON in the" in said["text"]:
        fault("plain: leniencies told without being there")


def main(tmp):
    folder = Folder(tmp)
    folder.write("base.json", events())
    code, said = folder.check(folder.write("same.json", events()))
    expect("undamaged", code, 0)
    damage(folder)
    few_without_launch(folder)
    no_launch_by_nature(folder)
    lost_kernels(folder)
    leniencies(folder)


run_parts(main)
