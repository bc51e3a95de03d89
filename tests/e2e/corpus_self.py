#!/usr/bin/env python3
"""Every trace of the corpus against itself, under every preset: nothing changed, so nothing may fail.
And a planted change (one event of the most frequent device or host name repeated) must not pass.
Skips where the corpus is absent.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from support import PROGRAM, SHARED, write_json, write_text

TRACES = os.path.join(SHARED, "corpus/traces")
PRESETS = [None, "tracegate:recommended", "tracegate:counts-only", "tracegate:advisory"]


def check(base, test, preset, tmp):
    command = [PROGRAM, "check", "--quiet", "--baseline", base, "--json", "-", test]
    if preset:
        policy = os.path.join(tmp, preset.split(":")[1] + ".yml")
        write_text(policy, f"version: 1\nextends: ['{preset}']\n")
        command[2:2] = ["--policy", policy]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp)
    try:
        verdict = json.loads(run.stdout)["verdict"]
    except ValueError:
        verdict = "no report: " + run.stderr[-300:]
    return run.returncode, verdict


def self_check(job):
    path, preset = job
    with tempfile.TemporaryDirectory() as tmp:
        code, verdict = check(path, path, preset, tmp)
    name = os.path.relpath(path, TRACES)
    if "not_a_trace" in name:
        return None if (code, verdict) == (3, "error") else f"{name}: not refused ({code}, {verdict})"
    return None if code == 0 and verdict in ("pass", "warn") else f"{name} {preset}: {code} {verdict}"


def plant(path):
    """The trace again with one call more per recorded call of its most frequent operator or kernel."""
    with tempfile.TemporaryDirectory() as tmp:
        opener = gzip.open if path.endswith(".gz") else open
        try:
            doc = json.load(opener(path, "rt", encoding="utf-8"))
        except ValueError:
            return None
        events = doc["traceEvents"] if isinstance(doc, dict) else doc
        judged = ("kernel", "Kernel", "cpu_op", "Operator")
        # What is outside every step is not at judged, so the change is planted inside one.
        windows = [(e["ts"], e["ts"] + e["dur"]) for e in events if isinstance(e, dict) and e.get("ph") == "X"
                   and str(e.get("name")).startswith("ProfilerStep") and not str(e.get("cat")).startswith("gpu")]
        count = {}
        for e in events:
            if isinstance(e, dict) and e.get("ph") == "X" and e.get("cat") in judged:
                if windows and not any(a <= e["ts"] < b for a, b in windows):
                    continue
                count[(e["cat"], e["name"])] = count.get((e["cat"], e["name"]), 0) + 1
        if not count:
            return None
        top = max(sorted(count), key=count.get)
        more = [dict(e) for e in events if isinstance(e, dict) and (e.get("cat"), e.get("name")) == top]
        events.extend(more)
        planted = os.path.join(tmp, "planted.json")
        write_json(planted, doc)
        code, verdict = check(path, planted, None, tmp)
    return None if (code, verdict) == (1, "fail") else f"{os.path.relpath(path, TRACES)}: planted {top} gives {code} {verdict}"


def main():
    if not os.path.isdir(TRACES):
        print("corpus_self: no corpus beside the checkout, skipped")
        return 77
    paths = sorted(os.path.join(d, n) for d, _, names in os.walk(TRACES) for n in names if ".json" in n and n != "manifest.json")
    small = [p for p in paths if os.path.getsize(p) < 400000 and "not_a_trace" not in p]
    with ThreadPoolExecutor(2) as pool:
        faults = [f for f in pool.map(self_check, [(p, q) for p in paths for q in PRESETS]) if f]
        blind = [f for f in pool.map(plant, small) if f]
    print("\n".join(faults + blind))
    print(f"corpus_self: {len(paths)} traces x {len(PRESETS)} presets, {len(faults)} faults; "
          f"{len(small)} planted, {len(blind)} missed")
    return 1 if faults or blind or len(paths) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
