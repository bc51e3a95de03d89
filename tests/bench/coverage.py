#!/usr/bin/env python3
"""Lines and branches that the tests reach, by room: coverage [--floor] [--missed] [--floors FILE] [--root DIR] BUILD

BUILD is a build folder of the preset "coverage" in which tests have run (ctest --preset coverage); gcov is the compiler's
own. Prints one Markdown row a room; --missed lists the functions that no test enters. --floor exits with 1 if the whole, or a room,
is below its floor in coverage.txt (or FILE), if that file names a room that is not there, or if a room has no floor. Branches that
only memory exhaustion takes are not told apart, so the floors are below 100. DIR has the sources, if they are not this tree's.
"""
import argparse
import collections
import glob
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROOMS = ("core", "policy", "reporters", "cmd")


def room_of(path):
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] == "core" or len(parts) > 2 else parts[0]


def read(build, root):
    """{file: ({line: reached}, {(line, branch): reached}, {function: (line, reached)})}, summed over the programs that hold it."""
    files = collections.defaultdict(lambda: ({}, {}, {}))
    counted = [os.path.abspath(p) for p in glob.glob(f"{build}/**/*.gcda", recursive=True)]
    if not counted:
        sys.exit(f"coverage: {build} has no counters: build with the preset \"coverage\" and run its tests first")
    with tempfile.TemporaryDirectory() as tmp:
        for at in range(0, len(counted), 50):
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--preserve-paths", *counted[at:at + 50]], cwd=tmp, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for out in pathlib.Path(tmp).glob("*.gcov.json.gz"):
                with gzip.open(out, "rt", encoding="utf-8") as f:
                    take(json.load(f), files, root)
                out.unlink()
    return files


def take(doc, files, root):
    base = pathlib.Path(doc["current_working_directory"])
    for file in doc["files"]:
        try:
            path = (base / file["file"]).resolve().relative_to(root)
        except ValueError:
            continue
        if path.parts[0] not in ROOMS or path.suffix != ".c":
            continue
        lines, branches, functions = files[path]
        for line in file["lines"]:
            n = line["line_number"]
            lines[n] = lines.get(n, False) or line["count"] > 0
            for k, branch in enumerate(line["branches"]):
                branches[n, k] = branches.get((n, k), False) or branch["count"] > 0
        for function in file["functions"]:
            was = functions.get(function["name"], (0, False))[1]
            functions[function["name"]] = function["start_line"], was or function["execution_count"] > 0


def percent(reached):
    return 100 * sum(reached) / len(reached) if reached else 100.0


def main():
    ask = argparse.ArgumentParser(usage=__doc__)
    ask.add_argument("--floor", action="store_true")
    ask.add_argument("--missed", action="store_true")
    ask.add_argument("--floors", type=pathlib.Path, default=HERE / "coverage.txt")
    ask.add_argument("--root", type=pathlib.Path, default=ROOT)
    ask.add_argument("build")
    o = ask.parse_args()
    rooms, below = collections.defaultdict(lambda: ([], [])), []
    files = read(o.build, o.root.resolve())
    for path, (lines, branches, functions) in sorted(files.items()):
        for room in (room_of(path), "all"):
            rooms[room][0].extend(lines.values())
            rooms[room][1].extend(branches.values())
        for name, (line, reached) in sorted(functions.items(), key=lambda x: x[1]):
            if o.missed and not reached:
                print(f"{path}:{line}: {name}")
    if o.missed:
        return 0
    floors = {}
    for row in o.floors.read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#"):
            room, lines, branches = row.split()
            floors[room] = float(lines), float(branches)
    print("| room | lines | % | branches | % |\n|---|--:|--:|--:|--:|")
    for room, (lines, branches) in sorted(rooms.items(), key=lambda x: (x[0] == "all", x[0])):
        got = percent(lines), percent(branches)
        print(f"| {room} | {len(lines):,} | {got[0]:.1f} | {len(branches):,} | {got[1]:.1f} |")
        if any(g < f for g, f in zip(got, floors.get(room, got))):
            below.append(f"{room}: {got[0]:.1f} % of lines and {got[1]:.1f} % of branches, at least {floors[room]} are wanted")
    below += [f"{room}: {o.floors.name} names it, and it is not there" for room in floors if room not in rooms]
    below += [f"{room}: no floor in {o.floors.name}" for room in rooms if room not in floors]
    if o.floor:
        print("\n".join(below), file=sys.stderr, end="\n" if below else "")
    return 1 if o.floor and below else 0


sys.exit(main())
