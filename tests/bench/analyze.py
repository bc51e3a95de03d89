#!/usr/bin/env python3
"""`analyze` with all measures against reading alone, in instructions (callgrind repeats exactly).

    bench/analyze TRACEGATE BENCH_READER SEED.json[.gz] [TIMES]

SEED's events are repeated TIMES (default 3) with shifted `ts`, `id`, `correlation` and `External id`, so
that the trace stays valid. The anchor is `bench_reader facts`: every event kept with all its fields.
Prints both and their ratio; the budget is 2.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

MEASURES = ["temporal", "idle", "kernel-types", "kernels", "overlap", "bandwidth", "queue", "launches", "sequences",
            "steps", "modules", "sources", "skew"]


def enlarge(seed, to, times):
    with (gzip.open if seed.endswith(".gz") else open)(seed, "rb") as f:
        text = f.read().decode()
    start = text.index("[", text.index('"traceEvents"')) + 1
    events, end = json.JSONDecoder().raw_decode(text, start - 1)
    spans = [e for e in events if "dur" in e and "ts" in e]
    length = int(max(e["ts"] + e["dur"] for e in spans) - min(e["ts"] for e in spans)) + 1000
    ids = [e["args"].get("correlation", 0) for e in spans if isinstance(e.get("args"), dict)]
    shifts = {"ts": length, "id": max(ids) + 1, "correlation": max(ids) + 1, "External id": max(ids) + 1}
    body = text[start:end - 1].rstrip()
    number = re.compile(r'("(ts|id|correlation|External id)": ?)(\d+)')
    with open(to, "w") as f:
        f.write(text[:start] + body)
        for i in range(1, times):
            f.write("," + number.sub(lambda m: m[1] + str(int(m[3]) + i * shifts[m[2]]), body))
        f.write("\n" + text[end - 1:])


def instructions(command):
    r = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", r.stderr)[1])


def main():
    program, reader, seed = sys.argv[1:4]
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        enlarge(seed, trace, times)
        size = os.path.getsize(trace)
        parse = instructions([reader, "facts", trace])
        every = [x for m in MEASURES for x in ("--measure", m)]
        all_of_them = instructions([program, "analyze", trace, "--threads", "1", "--format", "csv", *every,
                                    "--operator", "aten::", "--top", "5"])
    print(f"{os.path.basename(seed)}: {size / 1e6:.0f} MB, reading {parse:,}, analyze {all_of_them:,}, "
          f"ratio {all_of_them / parse:.2f}")
    return 1 if all_of_them > 2 * parse else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 3 else __doc__)
