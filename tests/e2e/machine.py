#!/usr/bin/env python3
"""When everything got slower and the program does the same, the report says first that it may be the machine; so it does
where the traces name two processors. Not when a count changed (the row of a step that is far longer than the new calls may
still say so), when one operator alone got slower, or when everything got faster: that excuses nothing, and may hide a
slowdown.
"""
import os

from support import TRACES, expect, read_json, read_text, run_parts, tracegate, write_json

SAYS = "may be the machine:"  # the note; a step's row says ", which may be the machine"


def write(folder, k, factor=1.0, cpu=None, change=None):
    """Run k of `base`, all times multiplied by `factor`."""
    os.makedirs(folder, exist_ok=True)
    doc = read_json(f"{TRACES}/base/run{k:02}.json.gz")
    for e in doc["traceEvents"]:
        for key in ("ts", "dur"):
            if key in e:
                e[key] = round(e[key] * factor, 3)
    if cpu:
        doc["cpu"] = cpu
    if change:
        change(doc["traceEvents"])
    write_json(f"{folder}/run{k}.json.gz", doc)


def one_slower(events):
    """The longest operator takes twice as long as it did, in every step; what it takes, the step has to spare."""
    for e in events:
        if e.get("name") == "aten::native_layer_norm" and "dur" in e:
            e["dur"] = round(e["dur"] * 1.5, 3)


def more(events):
    """One call of an operator more in every step, after the last event of the step's own operators."""
    for e in [e for e in events if e.get("name", "").startswith("ProfilerStep#")]:
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::extra", "pid": e["pid"], "tid": e["tid"],
                       "ts": round(e["ts"] + e["dur"] - 0.5, 3), "dur": 0.2, "args": {}})


def main(tmp):
    # name, the fresh side's changes -> said, words
    cases = [("the same", {}, False, ""), ("all slower", {"factor": 1.2}, True, "no count changed"),
             ("all faster", {"factor": 0.8}, False, "faster than for the baseline, and no count changed next It may hide a slowdown"),
             ("another processor", {"cpu": "B"}, True, "the processors differ; recorded on B, the baseline on A"),
             ("slower on another processor", {"factor": 1.2, "cpu": "B"}, True, "recorded on B, the baseline on A"),
             ("the same processor", {"cpu": "A"}, False, ""), ("slower, and more of it", {"factor": 1.2, "change": more}, False, ""),
             ("one operator", {"change": one_slower}, False, "")]
    for i, (name, change, said, words) in enumerate(cases):
        for k in range(10):
            side = {} if k % 2 else dict(change)
            if "cpu" in change and k % 2:
                side["cpu"] = "A"
            write(f"{tmp}/{i}/{'base' if k % 2 else 'fresh'}", k, **side)
        run = tracegate("check", "--runs", "fresh", "--baseline", "base", "--markdown", "r.md", cwd=f"{tmp}/{i}")
        text = " ".join(run.stdout.split())
        expect(f"{name}: said; {text[:900]}", SAYS in text, said)
        expect(f"{name}: words", words in text, True)
        if said:
            expect(f"{name}: before any result", text.index(SAYS) < (text + "| calls").index("calls"), True)
            expect(f"{name}: in the comment", SAYS in read_text(f"{tmp}/{i}/r.md"), True)
    # The run that was disturbed most is named where the machine is said to be slower, and nowhere else.
    for name, factor, said in (("one run far slower", 1.0, False), ("all slower, one far more so", 1.2, True)):
        for k in range(10):
            write(f"{tmp}/{name}/{'base' if k % 2 else 'fresh'}", k, 1 if k % 2 else factor * (1.6 if k == 4 else 1))
        text = " ".join(tracegate("check", "--runs", "fresh", "--baseline", "base", cwd=f"{tmp}/{name}").stdout.split())
        expect(f"{name}: {text[:900]}", "the machine was busy in fresh run run4.json.gz (1." in text, said)
        expect(f"{name}: busy", text.count("the machine was busy in"), int(said))


run_parts(main)
