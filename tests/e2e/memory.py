#!/usr/bin/env python3
"""An address space that is too small (`ulimit -v`): exit 3 and one clear message, never a crash, a short
answer or half a report. Limits go up from what a process on an empty trace needs to what is enough.
"""
import os
import resource
import subprocess
import sys

from support import PROGRAM, ROOT, absent, check, fault, run_parts, sanitized, write_text

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
from enlarge import enlarge  # noqa: E402

MB = 1 << 20


def run(limit, *args):
    def lower():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return subprocess.run([PROGRAM, *args], capture_output=True, preexec_fn=lower if limit else None)


def is_refusal(r):
    text = r.stderr.decode(errors="replace")
    return r.returncode == 3 and "out of memory" in text and len(text.splitlines()) <= 3


def climb(what, start, args, report=None):
    """How often it was refused before it succeeded."""
    want = run(None, *args).stdout
    refused, limit = 0, start
    while limit < start + 600 * MB:
        if report and os.path.exists(report):
            os.remove(report)
        r = run(limit, *args)
        if r.returncode == 0:
            if r.stdout != want:
                fault(f"{what} with {limit // MB} MB: another answer")
            return refused
        if not is_refusal(r):
            fault(f"{what} with {limit // MB} MB: exit {r.returncode}, {r.stderr[-300:]!r}")
        if r.stdout or (report and os.path.exists(report)):
            fault(f"{what} with {limit // MB} MB: something was written")
        refused += 1
        limit += 4 * MB
    fault(f"{what}: not even with {limit // MB} MB")
    return refused


def main(tmp):
    if run(None, "--version").returncode or sanitized():
        absent("room: sanitizers reserve address space")
    empty, large, out = (os.path.join(tmp, n) for n in ("empty.json", "large.json", "out.tgs"))
    write_text(empty, "[]")
    enlarge("D", 25, large)
    start = 8 * MB
    while run(start, "analyze", "--threads", "1", empty).returncode:
        start += MB
    refused = climb("analyze", start, ["analyze", "--measure", "temporal", "--format", "csv", "--threads", "1", large])
    more = climb("analyze, two threads", start, ["analyze", "--measure", "temporal", "--format", "csv", "--threads", "2", large])
    summary = climb("summarize", start, ["summarize", large, "-o", out, "--threads", "1"], out)
    print(f"memory: from {start // MB} MB on, refused {refused}, {more} and {summary} times, then the whole answer")
    check("enough was refused", min(refused, summary) >= 2)


run_parts(main)
