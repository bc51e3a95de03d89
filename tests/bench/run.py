#!/usr/bin/env python3
"""The reader against its anchors, in pairs: run.py BENCH SIMDJSON INFLATE SEED.json[.gz]...

BENCH is tests/bench/reader.c, SIMDJSON anchor_simdjson.cpp, INFLATE anchor_inflate.c, each built
with -O2 or more. Every seed is repeated to about 300 MB (whole repeats of its events) in a
temporary folder. Prints a Markdown table: median ratio of CPU time (user + system) over the rounds,
with the smallest and largest, and peak memory. Absolute times mean nothing on a shared machine.
"""
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "7"))
SIZE = int(os.environ.get("MEGABYTES", "300")) * 1000 * 1000


def enlarge(seed, to):
    opened = gzip.open if seed.endswith(".gz") else open
    with opened(seed, "rb") as f:
        text = f.read()
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    depth, at, in_text = 0, start, False
    while depth >= 0:  # the bracket that closes traceEvents
        c = text[at]
        if in_text:
            if c == 0x5C:
                at += 1
            elif c == 0x22:
                in_text = False
        elif c == 0x22:
            in_text = True
        elif c in b"[{":
            depth += 1
        elif c in b"]}":
            depth -= 1
        at += 1
    events = text[start:at - 1].rstrip()
    with open(to, "wb") as f:
        f.write(text[:start])
        for i in range(max(1, SIZE // len(events))):
            f.write(b"," * (i > 0) + events)
        f.write(b"\n" + text[at - 1:])


def cpu(command):
    wall = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as p:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit(f"{command}: exit {p.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - wall


def peak_mb(command):
    """By time(1): our own children inherit this interpreter's peak."""
    run = subprocess.run(["/usr/bin/time", "-f", "%M"] + command, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=True)
    return int(run.stderr.split()[-1]) / 1000


def pair(name, ours, anchor):
    ratios, walls = [], []
    for _ in range(ROUNDS):
        a, b = cpu(ours), cpu(anchor)
        ratios.append(a[0] / b[0])
        walls.append(a[1] / b[1])
    print(f"| {name} | {statistics.median(ratios):.2f} | {min(ratios):.2f}-{max(ratios):.2f} "
          f"| {statistics.median(walls):.2f} | {peak_mb(ours):.1f} | {peak_mb(anchor):.1f} |", flush=True)


def main():
    bench, simdjson, inflate = (os.path.abspath(p) for p in sys.argv[1:4])
    print("| what | CPU ratio | spread | wall ratio | peak MB | anchor MB |\n|---|--:|--:|--:|--:|--:|")
    for seed in sys.argv[4:]:
        name = os.path.basename(seed)
        with tempfile.TemporaryDirectory() as tmp:
            plain = os.path.join(tmp, "trace.json")
            enlarge(seed, plain)
            cpu([bench, "totals", plain])  # page cache
            pair(f"{name}: aggregates / On-Demand", [bench, "totals", plain], [simdjson, plain])
            pair(f"{name}: spans kept / On-Demand, all fields", [bench, "load", plain],
                 [simdjson, plain, "all"])
            subprocess.run(["gzip", "-6", plain], check=True)
            packed = plain + ".gz"
            pair(f"{name}.gz: aggregates / zlib's inflate alone", [bench, "totals", packed],
                 [inflate, packed])
            os.environ["THREADS"] = "2"
            pair(f"{name}.gz: the same, inflated beside", [bench, "totals", packed],
                 [inflate, packed])
            del os.environ["THREADS"]


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main()
