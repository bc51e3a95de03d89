#!/usr/bin/env python3
"""enlarge.py: a larger trace is the seed several times, later each time, with ids of its own."""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from enlarge import enlarge, text_of  # noqa: E402

PROGRAM = os.environ["TG_PROGRAM"]
MEGABYTES = 12


def counts(document):
    return collections.Counter((e.get("cat", ""), e["name"]) for e in document["traceEvents"] if e["ph"] == "X")


def check(layout, tmp):
    text, path = text_of(layout), os.path.join(tmp, layout + ".json")
    with_names = text.replace('"traceEvents":', '"more": {}, "traceEvents":', 1)
    meta = '{"name": "process_name", "ph": "M", "ts": 5, "pid": 1, "tid": 0, "args": {"name": "python"}}'
    at = with_names.index("[", with_names.index("traceEvents")) + 1
    seed_path = os.path.join(tmp, "seed.json")
    with open(seed_path, "w", encoding="utf-8") as f:
        f.write(with_names[:at] + meta + "," + with_names[at:])
    enlarge(seed_path, MEGABYTES, path)
    with open(path, encoding="utf-8") as f:
        large = f.read()
    seed, much = json.loads(text), json.loads(large)
    one, many = counts(seed), counts(much)
    times = many.total() // one.total()
    assert times >= 2 and many == collections.Counter({k: n * times for k, n in one.items()}), layout
    assert MEGABYTES * 1e6 <= len(large) < MEGABYTES * 1e6 + 1.1 * len(text), len(large)
    assert sum(e["ph"] == "M" for e in much["traceEvents"]) == 1
    flows = collections.Counter((e["ph"], e["id"]) for e in much["traceEvents"] if "id" in e)
    assert not flows or max(flows.values()) == 1, layout  # an id is one arrow's
    launches = collections.Counter(e["args"]["correlation"] for e in much["traceEvents"]
                                   if "correlation" in e.get("args", {}))
    assert not launches or max(launches.values()) == 1, layout
    starts = [e["ts"] for e in seed["traceEvents"]]
    assert max(e["ts"] for e in much["traceEvents"]) > max(starts) + (times - 1) * (max(starts) - min(starts))
    table = subprocess.run([PROGRAM, "analyze", "--measure", "ops", "--whole", "--format", "csv", path], check=True,
                           capture_output=True, text=True).stdout
    got = {(r["cat"], r["name"]): int(r["counts"]) for r in csv.DictReader(table.splitlines())}
    assert got == dict(many), layout
    return times


def main():
    with tempfile.TemporaryDirectory() as tmp:
        print({layout: f"{check(layout, tmp)} times" for layout in "KDCP"})


if __name__ == "__main__":
    main()
