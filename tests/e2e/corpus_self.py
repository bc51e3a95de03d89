#!/usr/bin/env python3
"""Every trace of the corpus against itself, under every preset: nothing changed, so nothing may fail.
And a planted change (one event of the most frequent device or host name repeated) must not pass.
Skips where the corpus is absent.
"""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from support import CORPUS, absent, finish, judged, read_json, tracegate, write_json, write_text

PRESETS = [None, "tracegate:recommended", "tracegate:counts-only", "tracegate:advisory"]


def check(base, test, preset, tmp):
    if preset:
        write_text(tmp + "/p.yml", f"version: 1\nextends: ['{preset}']\n")
    run = tracegate("check", *(["--policy", "p.yml"] if preset else []), "--quiet", "--baseline", base, "--json", "-", test, cwd=tmp)
    try:
        verdict = json.loads(run.stdout)["verdict"]
    except ValueError:
        verdict = "no report: " + run.stderr[-300:]
    return run.returncode, verdict


def self_check(job):
    path, preset = job
    with tempfile.TemporaryDirectory() as tmp:
        code, verdict = check(path, path, preset, tmp)
    name = os.path.relpath(path, CORPUS)
    if "not_a_trace" in name:
        return None if (code, verdict) == (3, "error") else f"{name}: not refused ({code}, {verdict})"
    return None if code == 0 and verdict in ("pass", "warn") else f"{name} {preset}: {code} {verdict}"


SLIGHT = "nothing takes long enough"


def plant(path):
    """The trace again with one call more per recorded call of the operator or kernel that takes longest (a kernel if there is no operator):
    what costs next to nothing only warns. Operators that call others are left out, whose own time may be nothing."""
    with tempfile.TemporaryDirectory() as tmp:
        try:
            doc = read_json(path)
        except ValueError:
            return None
        events = doc["traceEvents"] if isinstance(doc, dict) else doc
        judged = ("kernel", "Kernel", "cpu_op", "Operator")
        # What is outside every step is not at judged, so the change is planted inside one.
        windows = [(e["ts"], e["ts"] + e["dur"]) for e in events if isinstance(e, dict) and e.get("ph") == "X"
                   and str(e.get("name")).startswith("ProfilerStep") and not str(e.get("cat")).startswith("gpu")]
        inside = [e for e in events if isinstance(e, dict) and e.get("ph") == "X" and e.get("cat") in judged
                  and (not windows or any(a <= e["ts"] < b for a, b in windows))]
        inside.sort(key=lambda e: (str(e.get("tid")), e["ts"], -e["dur"]))
        time = {}
        for e, after in zip(inside, [*inside[1:], None]):
            if not after or after.get("tid") != e.get("tid") or after["ts"] >= e["ts"] + e["dur"]:
                time[(e["cat"], e["name"])] = time.get((e["cat"], e["name"]), 0) + e["dur"]
        # More calls in a first step alone, which may be cold, are told and do not fail.
        first = min((b for _, b in windows), default=0) if len(windows) > 1 else 0
        late = {(e["cat"], e["name"]) for e in inside if e["ts"] >= first}
        time = {key: us for key, us in time.items() if key in late}
        if not time:
            return None
        top = max(sorted(time), key=lambda key: ("op" in key[0].lower(), time[key]))
        span = sum(b - a for a, b in windows) or max(e["ts"] + e["dur"] for e in inside) - min(e["ts"] for e in inside)
        if time[top] < 0.003 * span:
            return SLIGHT
        more = [dict(e) for e in events if isinstance(e, dict) and (e.get("cat"), e.get("name")) == top]
        events.extend(more)
        planted = os.path.join(tmp, "planted.json")
        write_json(planted, doc)
        code, verdict = check(path, planted, None, tmp)
    return None if (code, verdict) == (1, "fail") else f"{os.path.relpath(path, CORPUS)}: planted {top} gives {code} {verdict}"


def main():
    if not os.path.isdir(CORPUS):
        absent("corpus")
    paths = sorted(os.path.join(d, n) for d, _, names in os.walk(CORPUS) for n in names if ".json" in n and n != "manifest.json")
    small = [p for p in paths if os.path.getsize(p) < 400000 and "not_a_trace" not in p]
    with ThreadPoolExecutor(2) as pool:
        planted = [wrong for wrong in pool.map(plant, small) if wrong != SLIGHT]
        for wrong in [*pool.map(self_check, [(p, q) for p in paths for q in PRESETS]), *planted]:
            judged(not wrong, wrong)
        judged(len(planted) >= 40, f"planted in {len(planted)}")
    return finish(f"corpus_self: {len(paths)} traces x {len(PRESETS)} presets, {len(planted)} planted", len(paths) >= 60)


sys.exit(main())
