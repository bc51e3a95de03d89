#!/usr/bin/env python3
"""Records one run of the planted program with Python stacks.

    record.py FOLDER MODEL PACKAGES OUT.json.gz

FOLDER holds train.py as one commit has it, PACKAGES the installed packages. One step waits, one
warms up, two are recorded. The trace is stored small: without spaces, counted from its begin,
without ids and addresses, and without builtins that hold nothing.
"""
import gzip
import json
import os
import pathlib
import re
import sys

FOLDER, MODEL, PACKAGES, OUT = sys.argv[1:]
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:1] = [FOLDER, os.path.join(HERE, "../../examples"), PACKAGES, HERE]

import torch  # noqa: E402
from torch.profiler import ProfilerActivity, profile, schedule  # noqa: E402

import record as examples  # noqa: E402
import train  # noqa: E402


def without_leaves(events):
    """Without the builtins that hold nothing, `isinstance` and the like: a third of all rows."""
    kept = []
    for event, following in zip(events, events[1:] + [{"ts": float("inf")}]):
        end = event.get("ts", 0) + event.get("dur", 0)
        leaf = event.get("name", "").startswith("<built-in") and not event["ts"] <= following["ts"] < end
        kept += [] if leaf else [event]
    return kept


def shrink(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        trace = json.load(f)
    trace["traceEvents"] = without_leaves(trace["traceEvents"])
    begin = int(min(event["ts"] for event in trace["traceEvents"] if event["ph"] == "X") * 1000)
    begin -= begin % 1000
    trace["baseTimeNanoseconds"] += begin
    for event in trace["traceEvents"]:
        event["ts"] = round(event["ts"] - begin / 1000, 3)
        for key in ("External id", "Python id", "Python parent id", "Fwd thread id"):
            event.get("args", {}).pop(key, None)
        event["name"] = re.sub(" at 0x[0-9a-f]+", "", event["name"])
        if event.get("args") == {}:
            del event["args"]
        if event.get("cat") in ("cpu_op", "python_function", "user_annotation"):
            event["pid"], event["tid"] = 1, 1
    text = json.dumps(trace, separators=(",", ":"))
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write(text.encode())


def run_undisturbed():
    """For a few hundredths of a second, so that a busy machine interrupts no step; where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except (OSError, AttributeError):
        pass


def main():
    examples.warm_heap()
    torch.set_num_threads(1)
    run_undisturbed()
    trainer = train.Trainer(MODEL)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True, schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
                 on_trace_ready=lambda p: examples.export(p, pathlib.Path(OUT))) as profiler:
        for _ in range(4):
            trainer.step()
            profiler.step()
    shrink(OUT)


if __name__ == "__main__":
    main()
