#!/usr/bin/env python3
"""Instructions per byte of the reader, gated: instructions BENCH [--record]

Runs BENCH (tests/bench/reader.c) under callgrind over two synthetic traces and compares with
tests/bench/instructions.txt: more than 2 % above the recorded figure fails, unless the figure is
recorded anew in the same commit. Figures hold for one compiler and architecture; under another one
nothing is compared (exit 77). The start of the process, measured on an empty trace, is taken off.
"""
import os
import platform
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "instructions.txt")


def python_layout(i):
    return ('{\n    "ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(%d): call", '
            '"pid": 851, "tid": %d,\n    "ts": 6520367%06d.%03d, "dur": %d.%03d,\n    "args": {\n      '
            '"Python parent id": %d, "Python id": %d, "Ev Idx": %d\n    }\n  }'
            % (i * 7 % 311, 851 + (i % 50 == 0), i, i * 37 % 1000, i % 9, i * 91 % 1000, i // 2, i, i))


def operator_layout(i):
    return ('{\n    "ph": "X", "cat": "cpu_op", "name": "aten::op_%d", "pid": 3113936, "tid": 3113936,\n    '
            '"ts": 16612034%08d, "dur": %d,\n    "args": {\n      "External id": %d, "Input Dims": '
            '[[%d, 1024], [979, 1024], []], "Input type": ["long", "int", "Scalar"], "Call stack": ""\n'
            '    }\n  }' % (i * 5 % 97, i, i % 40, i, i * 3 % 29))


def instructions(bench, path):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", bench,
                          "totals", path], capture_output=True, text=True, check=True,
                         env={**os.environ, "TRACEGATE_ISA": "sse2"})
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def measure(bench):
    figures = {}
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "t.json")
        with open(path, "w") as f:
            f.write("[]")
        start = instructions(bench, path)
        for layout in (python_layout, operator_layout):
            text = "[\n  " + ",\n  ".join(layout(i) for i in range(20000)) + "\n]"
            with open(path, "w") as f:
                f.write(text)
            figures[layout.__name__] = (instructions(bench, path) - start) / len(text)
    return figures


def compiler():
    version = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True,
                             text=True, check=True).stdout.splitlines()[0]
    return f"{version}, {platform.machine()}"


def main():
    figures, here = measure(sys.argv[1]), compiler()
    if "--record" in sys.argv:
        with open(RECORD, "w") as f:
            f.write(here + "\n" + "".join(f"{k} {v:.3f}\n" for k, v in figures.items()))
        return 0
    with open(RECORD) as f:
        recorded, *lines = f.read().splitlines()
    if recorded != here:
        print(f"recorded with '{recorded}', this is '{here}': nothing to compare")
        return 77
    worse = 0
    for line in lines:
        name, figure = line.split()
        ratio = figures[name] / float(figure)
        print(f"{name}: {figures[name]:.3f} instructions a byte, recorded {figure} ({ratio - 1:+.1%})")
        worse += ratio > 1.02
    return 1 if worse else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
