#!/usr/bin/env python3
"""Instructions per byte of the reader, gated: instructions BENCH [--record]

Runs BENCH (tests/bench/reader.c) under callgrind over two synthetic traces and compares with
tests/bench/instructions.txt: more than 2 % above the recorded figure fails, unless the figure is
recorded anew in the same commit. Figures hold for one compiler and architecture; under another one
nothing is compared (exit 77). The start of the process, measured on an empty trace, is taken off.
commands.py has its frame from here.
"""
import os
import platform
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


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


def instructions(command, code=0, **more):
    """Of a command that ends with this code (None: any that has judged), by callgrind."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], capture_output=True, text=True,
                         check=False, **more)
    if run.returncode not in ((0, 1, 4) if code is None else (code,)):
        sys.exit(f"{command}: exit {run.returncode}, not {code}: {run.stdout[-500:]}{run.stderr[-1500:]}")
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def compiler():
    version = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True,
                             text=True, check=True).stdout.splitlines()[0]
    return f"{version}, {platform.machine()}"


def gated(record, where, measured, names, margin, digits, unit):
    """Compares what `measured` gives of these names with the figures in `record`, or with --record writes them. `where`: what figures hold for."""
    recorded, figures = "", {}
    if os.path.exists(record):
        with open(record, encoding="utf-8") as f:
            recorded, *lines = f.read().splitlines()
        figures = {name: float(value) for name, value in map(str.split, lines)} if recorded == where else {}
    if "--record" in sys.argv:
        figures |= measured(names)
        with open(record, "w", encoding="utf-8") as f:
            f.write(where + "\n" + "".join(f"{name} {value:.{digits}f}\n" for name, value in figures.items()))
        return 0
    if recorded != where:
        print(f"recorded with '{recorded}', this is '{where}': nothing to compare")
        return 77
    worse = 0
    for name, got in measured(names).items():
        ratio = got / figures[name]
        worse += ratio > margin
        print(f"{name}: {got:.{digits}f} {unit}, recorded {figures[name]:.{digits}f} ({ratio - 1:+.1%}){': too many' if ratio > margin else ''}")
    return 1 if worse else 0


def per_byte(layouts):
    figures = {}
    with tempfile.TemporaryDirectory() as tmp:
        path, command = os.path.join(tmp, "t.json"), [sys.argv[1], "totals", os.path.join(tmp, "t.json")]

        def cost(text):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            return instructions(command, env={**os.environ, "TRACEGATE_ISA": "sse2"})
        start = cost("[]")
        for layout in layouts:
            text = "[\n  " + ",\n  ".join(layout(i) for i in range(20000)) + "\n]"
            figures[layout.__name__] = (cost(text) - start) / len(text)
    return figures


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(gated(os.path.join(HERE, "instructions.txt"), compiler(), per_byte, (python_layout, operator_layout), 1.02, 3, "instructions a byte"))
