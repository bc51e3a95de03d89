#!/usr/bin/env python3
"""The action offers the reports of reporters/reporter.h, with their extensions. Checks itself first."""
import os
import re
import sys

ROOT = os.environ.get("TG_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
NOT_IN_THE_ACTION = {"csv"}  # for scripts; nobody reads it in a pull request


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def faults(header, script, action):
    rows = dict(re.findall(r'X\(\w+, "([\w-]+)", "\.(\w+)", FILE,', header))
    listed = re.search(r"^reports=\(([^)]*)\)", script, re.M)
    offered = dict(pair.split(":") for pair in listed.group(1).split()) if listed else {}
    want = {name: extension for name, extension in rows.items() if name not in NOT_IN_THE_ACTION}
    if len(rows) < 3:
        yield "reporters/reporter.h: no rows of reports found"
    if offered != want:
        yield f"scripts/action-check: reports are {offered}, not {want}"
    for name in want:
        if f"steps.check.outputs.{name} " not in action:
            yield f"action.yml: no output for the report '{name}'"


def main():
    header, script, action = read("reporters/reporter.h"), read("scripts/action-check"), read("action.yml")
    row = 'X(new, "new", ".new", FILE, "write news")'
    wrong = [(header + row, script, action), (header, script.replace("junit:xml", "junit:txt"), action),
             (header, script, action.replace("outputs.junit ", "outputs.unit "))]
    for texts in wrong:
        if not list(faults(*texts)):
            sys.exit("reports: the check does not see a fault of its own")
    found = list(faults(header, script, action))
    print("\n".join(found) or "reports: the action has them all")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
