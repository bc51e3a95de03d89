#!/usr/bin/env python3
"""No two object files call each other, directly or around: the file that runs the stages is not the one that the
stages ask. Reads the symbols of the build whose folder is given. Checks itself first."""
import collections
import os
import re
import subprocess
import sys


def circles(defined, needed):
    """Names of files that reach themselves, as lists; `defined`: symbol -> file, `needed`: file -> symbols."""
    uses = {file: {defined[s] for s in symbols if s in defined} - {file} for file, symbols in needed.items()}
    reach = {file: set(others) for file, others in uses.items()}
    changed = True
    while changed:
        changed = False
        for file, others in reach.items():
            more = set().union(*(reach.get(o, set()) for o in others)) - others if others else set()
            if more:
                others |= more
                changed = True
    found = {frozenset(o for o in reach[f] if f in reach.get(o, ())) for f in reach if f in reach[f]}
    return sorted(sorted(group) for group in found)


def symbols(build):
    defined, needed = {}, collections.defaultdict(set)
    for folder, _, names in os.walk(build):
        room = re.match(r"(core|policy|reporters|cmd)(/\w+)?/CMakeFiles/", os.path.relpath(folder, build) + "/")
        for name in names if room else []:
            if not name.endswith(".c.o"):
                continue
            path = os.path.join(folder, name)
            file = re.sub(r"CMakeFiles/\w+\.dir/|\.o$", "", os.path.relpath(path, build))
            listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
            for line in listing.splitlines():
                fields = line.split()
                if len(fields) == 3 and fields[1] in "TDRBC":
                    defined[fields[2]] = file
                elif len(fields) == 2 and fields[0] == "U":
                    needed[file].add(fields[1])
    return defined, needed


def main():
    where = {"a": "x", "b": "y", "c": "z"}
    if circles(where, {"x": {"b"}, "y": {"c"}, "z": {"a"}}) != [["x", "y", "z"]] or circles(where, {"x": {"b"}, "y": {"c"}}):
        sys.exit("circles: the check does not see a circle, or one that is not there")
    defined, needed = symbols(sys.argv[1])
    found = circles(defined, needed)
    for group in found:
        print("a circle: " + ", ".join(group))
        for file in group:
            for symbol in sorted(needed[file]):
                if symbol in defined and defined[symbol] in group and defined[symbol] != file:
                    print(f"    {file} -> {defined[symbol]}: {symbol}")
    if not found:
        print(f"circles: {len(needed)} files, none")
    return 1 if found or len(needed) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
