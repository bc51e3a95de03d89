#!/usr/bin/env python3
"""`analyze` with all measures against reading alone, in instructions (callgrind repeats exactly).

    bench/analyze TRACEGATE BENCH_READER SEED.json[.gz] [TIMES]

SEED's events are repeated about TIMES (default 3), as enlarge.py does it. The anchor is `bench_reader facts`: every event kept with all its fields.
Prints both and their ratio; the budget is 2.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from enlarge import enlarge, text_of  # noqa: E402
from instructions import instructions  # noqa: E402


def main():
    program, reader, seed = sys.argv[1:4]
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        enlarge(seed, times * len(text_of(seed).encode()) / 1e6, trace)
        size = os.path.getsize(trace)
        parse = instructions([reader, "facts", trace])
        told = subprocess.run([program, "analyze", trace, "--measure", "?"], capture_output=True, text=True, check=False).stderr
        every = [x for m in re.search(r"Use one of ops\|(.*?);", told)[1].split("|") for x in ("--measure", m)]
        all_of_them = instructions([program, "analyze", trace, "--threads", "1", "--format", "csv", *every,
                                    "--op", "aten::", "--top", "5"])
    print(f"{os.path.basename(seed)}: {size / 1e6:.0f} MB, reading {parse:,}, analyze {all_of_them:,}, "
          f"ratio {all_of_them / parse:.2f}")
    return 1 if all_of_them > 2 * parse else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 3 else __doc__)
