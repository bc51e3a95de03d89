#!/usr/bin/env python3
"""coverage.py: what was run and what was not is counted by line, branch and function, and a floor that is above fails.

A tree of three rooms is compiled with --coverage here. Of `half` one of two branches runs, `never` is not called, cmd/gate is all run;
the numbers were counted by hand in SOURCES. usage: test_coverage.py [CC]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = {
    "core/diff/half.c": """int half(int x);
int never(int x);
int half(int x)
{
    if (x > 1)
        return 1;
    return 2;
}
int never(int x)
{
    return x;
}
""",
    "cmd/gate/all.c": """int all(void);
int all(void)
{
    return 3;
}
""",
    "tests/main.c": """int half(int x);
int all(void);
int main(void)
{
    return half(0) + all() == 5 ? 0 : 1;
}
""",
}
# half: its head, the if and the second return of four lines; never: none of two. One of two branches. all: two of two lines, no branch.
ROWS = ["| cmd/gate | 2 | 100.0 | 0 | 100.0 |", "| core/diff | 6 | 50.0 | 2 | 50.0 |", "| all | 8 | 62.5 | 2 | 50.0 |"]
REACHED = "cmd/gate 100 100\ncore/diff 50 50\nall 62.5 50\n"
FLOORS = [  # name, what coverage.txt says, exit code, said
    ("as measured", REACHED, 0, ""),
    ("a comment", "# x\n" + REACHED, 0, ""),
    ("lines of a room", REACHED.replace("core/diff 50 50", "core/diff 50.1 50"), 1, "core/diff: 50.0 % of lines"),
    ("branches of a room", REACHED.replace("core/diff 50 50", "core/diff 50 51"), 1, "core/diff: 50.0 % of lines and 50.0 % of branches"),
    ("the whole", REACHED.replace("all 62.5", "all 63"), 1, "all: 62.5 % of lines"),
    ("a room that is gone", REACHED + "core/none 1 1\n", 1, "core/none: floors.txt names it, and it is not there"),
    ("a room without a floor", REACHED.replace("cmd/gate 100 100\n", ""), 1, "cmd/gate: no floor in floors.txt"),
]


def compiler():
    """gcov must be of the compiler: gcc, whatever the tree is built with."""
    found = shutil.which("gcc")
    if not found or not shutil.which("gcov"):
        print("coverage: gcc and gcov are missing: skipped")
        sys.exit(77)
    return found


def coverage(tmp, *options):
    command = [sys.executable, str(HERE / "coverage.py"), "--root", tmp, "--floors", f"{tmp}/floors.txt", *options, f"{tmp}/build"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for path, text in SOURCES.items():
            (pathlib.Path(tmp) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(tmp) / path).write_text(text, encoding="utf-8")
        os.mkdir(f"{tmp}/build")
        for path in SOURCES:
            subprocess.run([compiler(), "--coverage", "-O0", "-c", f"{tmp}/{path}"], cwd=f"{tmp}/build", check=True)
        subprocess.run([compiler(), "--coverage", "half.o", "all.o", "main.o", "-o", "main"], cwd=f"{tmp}/build", check=True)
        none = coverage(tmp)
        assert none.returncode == 1 and "has no counters" in none.stderr, none.stderr
        subprocess.run([f"{tmp}/build/main"], check=True)
        for name, floors, code, said in FLOORS:
            pathlib.Path(f"{tmp}/floors.txt").write_text(floors, encoding="utf-8")
            done = coverage(tmp, "--floor")
            assert done.returncode == code and said in done.stderr and bool(done.stderr) == bool(code), (name, done)
            assert done.stdout.splitlines()[2:] == ROWS, (name, done.stdout)
            assert coverage(tmp).returncode == 0, name
        missed = coverage(tmp, "--missed")
        assert (missed.returncode, missed.stdout) == (0, "core/diff/half.c:9: never\n"), missed
    print(f"coverage: {len(FLOORS)} floors")


main()
