#!/usr/bin/env python3
"""Every trace of the corpus, unpacked: the same bytes in parts, by any path, as by one thread."""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

from support import PROGRAM

CORPUS = pathlib.Path(os.environ["TG_SHARED_DIR"]) / "corpus/traces"
COMMANDS = (("analyze", "--measure", "ops", "--whole", "--format", "csv"), ("summarize",),
            ("analyze", "--measure", "ops", "--hta", "--whole", "--format", "csv"))
QUICK = 12_000_000  # bytes; with parts of 4 KiB a larger trace takes long


def run(command, path, threads, part, isa=""):
    r = subprocess.run([PROGRAM, *command, path, "--threads", str(threads)], capture_output=True,
                       env={**os.environ, "TRACEGATE_PART": part, "TRACEGATE_ISA": isa})
    return r.returncode, r.stdout, r.stderr


def main():
    if not CORPUS.is_dir():
        print("no ../shared/corpus beside the repository")
        return 77
    wrong = runs = 0
    for packed in sorted(p for p in CORPUS.rglob("*") if p.name.endswith((".json", ".json.gz"))):
        opened = gzip.open if packed.suffix == ".gz" else open
        with tempfile.TemporaryDirectory() as tmp, opened(packed, "rb") as f:
            text = f.read()
            path = os.path.join(tmp, "trace.json")
            pathlib.Path(path).write_bytes(text)
            for command in COMMANDS:
                one = run(command, path, 1, "")
                for threads, part, isa in ((2, "65536", ""), (3, "4096", "sse2"), (8, "1000000", "generic")):
                    if part == "4096" and len(text) > QUICK:
                        continue
                    runs += 1
                    if run(command, path, threads, part, isa) != one:
                        wrong += 1
                        print(f"FAILED: {packed} {' '.join(command)}: {threads} threads, parts of {part}, {isa}")
    print(f"{runs} runs, {wrong} differ")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
