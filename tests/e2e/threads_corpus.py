#!/usr/bin/env python3
"""Every trace of the corpus, unpacked: the same bytes in parts, by any path, as by one thread."""
import gzip
import os
import pathlib
import subprocess

from support import CORPUS, PROGRAM, absent, check, run_parts, write_bytes

COMMANDS = (("analyze", "--measure", "ops", "--whole", "--format", "csv"), ("summarize",),
            ("analyze", "--measure", "ops", "--hta", "--whole", "--format", "csv"))
QUICK = 12_000_000  # bytes; with parts of 4 KiB a larger trace takes long


def run(command, path, threads, part, isa=""):
    r = subprocess.run([PROGRAM, *command, path, "--threads", str(threads)], capture_output=True,
                       env={**os.environ, "TRACEGATE_PART": part, "TRACEGATE_ISA": isa})
    return r.returncode, r.stdout, r.stderr


def main(tmp):
    if not os.path.isdir(CORPUS):
        absent("corpus")
    for packed in sorted(p for p in pathlib.Path(CORPUS).rglob("*") if p.name.endswith((".json", ".json.gz"))):
        opened = gzip.open if packed.suffix == ".gz" else open
        path = os.path.join(tmp, "trace.json")
        with opened(packed, "rb") as f:
            text = f.read()
        write_bytes(path, text)
        for command in COMMANDS:
            one = run(command, path, 1, "")
            for threads, part, isa in ((2, "65536", ""), (3, "4096", "sse2"), (8, "1000000", "generic")):
                if part != "4096" or len(text) <= QUICK:
                    check(f"{packed} {' '.join(command)}: {threads} threads, parts of {part}, {isa}",
                          run(command, path, threads, part, isa) == one)


run_parts(main)
