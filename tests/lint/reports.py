#!/usr/bin/env python3
"""The action offers the reports of reporters/reporter.h, with their extensions. Checks itself first."""
import re
import sys

import tree

NOT_IN_THE_ACTION = {"csv", "benchmark", "openmetrics", "code-quality", "collapsed"}  # for other programs; nobody reads them in a pull request

NAMED = {"json", "markdown", "html"}  # what the script reads, or writes in the place of a report


def faults(header, script, action):
    rows = dict(re.findall(r'X\(\w+, "([\w-]+)", "[\w-]+\.(\w+)", FILE,', header))
    listed = re.search(r"^reports=\(([^)]*)\)", script, re.M)
    offered = dict(pair.split(":") for pair in listed.group(1).split()) if listed else {}
    want = {name: extension for name, extension in rows.items() if name not in NOT_IN_THE_ACTION}
    if len(rows) < 3:
        yield "reporters/reporter.h: no rows of reports found"
    if offered != want:
        yield f"scripts/action-check: reports are {offered}, not {want}"
    for name in sorted(want):
        if name not in NAMED and re.search(rf"\btracegate-{name}|[{{,]{name}[,}}]", script):
            yield f"scripts/action-check: '{name}' outside the list of reports"
        if f"steps.check.outputs.{name} " not in action:
            yield f"action.yml: no output for the report '{name}'"


def main():
    header, script, action = (tree.read(p) for p in ("reporters/reporter.h", "scripts/action-check", "action.yml"))
    row = 'X(new, "new", "new.new", FILE, "write news")'
    wrong = [(header + row, script, action), (header, script.replace("junit:xml", "junit:txt"), action),
             (header, script, action.replace("outputs.junit ", "outputs.unit ")),
             (header, script + 'rm -f "$dir"/tracegate-{json,junit,html}.{json,xml,html}', action)]
    return tree.run("reports", 1, faults(header, script, action), (("a fault of its own", faults(*w)) for w in wrong), 1,
                    "action has them all")


if __name__ == "__main__":
    sys.exit(main())
