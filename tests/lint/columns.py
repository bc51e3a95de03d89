#!/usr/bin/env python3
"""Fails on long lines: more than 100 columns in C, which clang-format leaves in comments, 120 in pages and the Python
module, 150 in other Python.

In pages commands, examples and rows of tables may be longer, because they cannot be wrapped.
"""
import re
import sys

import tree

WIDTHS = {".c": 100, ".h": 100, ".md": 120, ".py": 150}
MODULE = "python/"
# What programs write.
WRITTEN = ("tests/golden/", "tests/fixtures/", "tests/fuzz/corpus/", "docs/policy-diagnostics.md")
WHOLE = re.compile(r"^ *```.*?^ *```$|^    .*?$|^\|.*?$", re.S | re.M)


def width(path):
    columns = next((columns for ending, columns in WIDTHS.items() if path.endswith(ending) and not path.startswith(WRITTEN)), None)
    return columns and min(columns, 120 if path.startswith(MODULE) else columns)


def faults(path, text):
    if path.endswith(".md"):
        text = WHOLE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > width(path):
            yield f"{path}:{number}: {len(line)} columns; at most {width(path)}"


def main():
    paths = [f for f in tree.files() if width(f)]
    injected = [(f"a line of {columns + 1} columns in {ending}", faults("x" + ending, "\n" + "é" * (columns + 1)))
                for ending, columns in WIDTHS.items()]
    injected.append(("a line of 121 columns in the module", faults(MODULE + "x.py", "x" * 121)))
    injected.append(("a long line after a command", faults("x.md", f"```\n{'x' * 150}\n```\n{'x' * 121}")))
    return tree.run("columns", len(paths), (f for p in paths for f in faults(p, tree.read(p))), injected, 500,
                    "files have lines of at most 100 columns in C, 120 in pages and the module, 150 in other Python")


if __name__ == "__main__":
    sys.exit(main())
