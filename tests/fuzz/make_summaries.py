#!/usr/bin/env python3
"""Writes the corpora of fuzz_summary and fuzz_columns anew, after a change of the stored form:

    tests/fuzz/make_summaries.py build/dev/cmd/tracegate

Summaries are those of the traces in corpus/summarize; columns are put together here (fuzz_columns.c says how).
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def run(program, *args):
    return subprocess.run([program, *args], check=True, capture_output=True).stdout


def varints(*numbers):
    out = bytearray()
    for n in numbers:
        while n >= 128:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)
    return bytes(out)


def columns(pattern, values):
    """First byte: the pattern's part of the rest, in 1/255."""
    size = len(pattern) + len(values)
    part = next(b for b in range(256) if size * b // 255 == len(pattern))
    return bytes([part]) + pattern + values


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)


def main():
    program = os.path.abspath(sys.argv[1])
    trace = lambda name: os.path.join(HERE, "summarize", name)
    gpu = run(program, "summarize", trace("gpu.json"), "--rank", "0", "--run", "a")
    write("summary/one_rank.json", gpu)
    write("summarize/a_summary.json", gpu)
    write("summary/other_layout.json", gpu.split(b",", 1)[0] + b',"shards":[]}')
    write("summary/no_rank.json", run(program, "summarize", trace("gpu.json")))
    write("summary/frames.json", run(program, "summarize", "--stacks", trace("stacks.json")))
    with tempfile.TemporaryDirectory() as tmp:
        ranks = []
        for rank, name in enumerate(("gpu.json", "gpu.json", "stacks.json")):
            ranks.append(os.path.join(tmp, "%d.tgs" % rank))
            run(program, "summarize", trace(name), "--rank", str(rank), "--run", "a", "-o", ranks[-1])
        merged = run(program, "merge", *ranks)
    write("summary/three_ranks.json", merged)
    write("summary/cut.json", merged[:-40])
    write("summary/not_utf8.json", gpu.replace(b'"run":"a"', b'"run":"\xff"'))
    # Two rows, two steps and the time outside: calls, then cut, order and calls of the fact; gaps.
    pattern = varints(1, 2, 0, 1, 1, 0, 0, 0, 0, 0, 2, 1, 0)
    # Unit, both rows keep their slots, inclusive less self, self outside, a gap, three and two slots.
    values = varints(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 20, 2, 4, 60, 2)
    write("columns/two_rows", columns(pattern, values))
    write("columns/huge_counts", columns(varints(2**32 - 1, 2**32 - 1, 0, 1, 1, 0, 0, 0, 0, 0, 2, 1, 0), values))
    write("columns/no_slots", columns(pattern, varints(1000, 0, 0, 0, 0, 0, 0, 0, 0, 20, 2, 0, 60, 2, 0, 5)))


if __name__ == "__main__":
    main()
