#!/usr/bin/env python3
"""Tests mirror sources: each source of core/diff, policy and cmd/gate has a unit test of its name, which ctest runs and
which includes a header that declares what the source exports. Checks itself first."""
import os
import re
import sys

import tree

ROOMS = ("core/diff", "policy/language", "policy/verdict", "cmd/gate")
# Parts of one stage that have no caller but the stage: whose test is theirs, and why.
TOGETHER = {
    "policy/language/decode.c": "load",  # from a text to a policy
    "policy/language/keys.c": "validate",  # the tables that a file is checked against
    "policy/language/schema.c": "docs",  # the grammar, printed; schema.py checks it with a validator
    "policy/verdict/probe.c": "rules",  # which value and evidence of a comparison a metric reads: a row each
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
LOOP = re.compile(r"foreach\((\w+)\s+([^)]*)\)(.*?)endforeach\(\)", re.S)


def run_by_ctest(text):
    """Paths below tests/ that CMakeLists.txt names, loops written out."""
    for m in LOOP.finditer(text):
        text += "".join(m.group(3).replace("${%s}" % m.group(1), word) for word in m.group(2).split())
    return set(re.findall(r"[\w/]+/test_\w+\.c", text))


def included(files, path, seen):
    """What `path` includes, and what that includes: from the root, or beside it."""
    for name in INCLUDE.findall(files[path]):
        for candidate in (name, os.path.normpath(os.path.join(os.path.dirname(path), name))):
            if candidate in files and candidate not in seen:
                seen.add(candidate)
                included(files, candidate, seen)
    return seen


def test_of(source):
    name = TOGETHER.get(source) or os.path.basename(source)[:-2]
    return f"tests/{os.path.dirname(source)}/test_{name}.c"


def faults(files):
    tested = run_by_ctest(files["tests/CMakeLists.txt"])
    for source in sorted(f for f in files if os.path.dirname(f) in ROOMS and f.endswith(".c")):
        test = test_of(source)
        if test not in files:
            yield f"{source}: no {test}"
        elif test[len("tests/"):] not in tested:
            yield f"{test} is not in tests/CMakeLists.txt"
        elif not any(os.path.dirname(f) == os.path.dirname(source) for f in included(files, test, set())):
            yield f"{test} includes no header of {os.path.dirname(source)}"
    for source in sorted(set(TOGETHER) - set(files)):
        yield f"tests/lint/mirrors.py: {source} does not exist"


def injected(files):
    source, test = "core/diff/machine.c", "tests/core/diff/test_machine.c"
    cmake = files["tests/CMakeLists.txt"]
    yield "a source without a test", faults({f: t for f, t in files.items() if f != test})
    yield "a test that nobody runs", faults({**files, "tests/CMakeLists.txt": cmake.replace(" machine", "")})
    yield "a test of something else", faults({**files, test: '#include "core/base/sv.h"'})
    yield "a new source", faults({**files, source.replace("machine", "new"): files[source].replace("tg_", "tg_new_")})


def main():
    wanted = [f for f in tree.files() if f.endswith((".c", ".h")) or f == "tests/CMakeLists.txt"]
    files = {f: tree.read(f) for f in wanted}
    looked_at = sum(os.path.dirname(f) in ROOMS and f.endswith(".c") for f in files)
    return tree.run("mirrors", looked_at, faults(files), injected(files), 80, "sources have a test of their own")


if __name__ == "__main__":
    sys.exit(main())
