#!/usr/bin/env python3
"""Labels of the comment's Mermaid chart are unique, over pairs of the corpus' traces: Mermaid draws bars of equal
labels as one. One trace of each folder of ../shared/corpus, as a summary, against the NEXT ones; `--all`: against all others.

Without ../shared the test is skipped.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.environ["TG_PROGRAM"]
TRACES = os.path.join(os.environ.get("TG_SHARED_DIR", os.path.join(os.environ["TG_SOURCE_DIR"], "../shared")), "corpus/traces")

NEXT = 3


def summaries(folder):
    """One of each folder that can be read."""
    out = []
    for top, _, files in sorted(os.walk(TRACES)):
        for name in sorted(f for f in files if f.endswith((".json", ".json.gz")))[:1]:
            path = f"{folder}/{len(out)}.tgs"
            if subprocess.run([PROGRAM, "summarize", f"{top}/{name}", "-o", path], capture_output=True, check=False).returncode == 0:
                out.append(path)
    return out


def labels(comment):
    axis = re.search(r"^```mermaid\n.*?^    x-axis \[(.*)\]$", comment, re.S | re.M)
    return re.findall(r'"([^"]*)"', axis[1]) if axis else []


def main():
    if not os.path.isdir(TRACES):
        print("mermaid labels: no ../shared/corpus: skipped")
        return 77
    faults, charts, pairs = [], 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        sides = summaries(tmp)
        near = len(sides) - 1 if "--all" in sys.argv else NEXT
        for i, base in enumerate(sides):
            for k in range(1, near + 1):
                fresh = sides[(i + k) % len(sides)]
                subprocess.run([PROGRAM, "check", fresh, "--baseline", base, "--markdown", f"{tmp}/m.md", "--quiet"], cwd=tmp, capture_output=True, check=False)
                pairs += 1
                if not os.path.exists(f"{tmp}/m.md"):
                    continue
                with open(f"{tmp}/m.md", encoding="utf-8") as f:
                    found = labels(f.read())
                os.remove(f"{tmp}/m.md")
                charts += bool(found)
                # as Mermaid compares them: entities resolved, blanks as it has them
                twice = [k for k, n in collections.Counter(" ".join(x.replace("#quot;", '"').split()) for x in found).items() if n > 1]
                if twice:
                    faults.append(f"{os.path.basename(base)} {os.path.basename(fresh)}: {twice}")
    if charts < pairs // 4 or not pairs:
        faults.append(f"{charts} charts of {pairs} pairs: too few to tell")
    print("\n".join(faults) or f"mermaid labels: {charts} charts of {pairs} pairs, unique")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
