#!/usr/bin/env python3
"""What holds of every decision, over recorded pairs: the project's examples, and what ../shared has of runs in pairs.

- a side against itself, and runs and ranks in another order, say nothing new;
- the outcome is the worst row, and each row that is not a pass names what it rests on: a limit, a reason or a need;
- a policy that drops a reason, one of the exceptions of the built-in rules, is never answered with a greener verdict;
- more work or more time on the fresh side never makes the verdict greener: calls, copies, waits, pauses in and between the steps,
  slower operators, in all runs, in one, in one step. Only where all violations were of durations may a machine that is then busy
  make them inconclusive;
- a step that takes twice as long by something that stands nowhere in the trace is no PASS.

What is added is drawn at random, from a fixed seed, from what the trace has.
usage: decision.py [--part P] [--only TEXT] [--seed N]"""
import argparse
import collections
import copy
import csv
import gzip
import json
import pathlib
import random
import shutil
import sys
import tarfile

from support import CORPUS, ROOT, SHARED, expect, fault, read_json, run_parts, tracegate

RANK = {"pass": 0, "warn": 1, "inconclusive": 2, "fail": 3}
KINDS = ("fail", "inconclusive", "warn")
IDS = set(json.loads((pathlib.Path(ROOT) / "docs/report.schema.json").read_text())["definitions"]["result"]["properties"]["because"]["enum"]) - {None}
LISTS = {"fail": "violations", "inconclusive": "inconclusive", "warn": "warnings", "suspicious": "suspicious"}


# ---- recorded pairs: name, baseline's files, fresh files ----

def read(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def examples(tmp):
    top = pathlib.Path(ROOT) / "examples/traces"
    base = sorted((top / "base").glob("*.json.gz"))
    for folder in sorted(p for p in top.iterdir() if p.is_dir() and p.name != "base"):
        yield f"examples {folder.name}", base, sorted(folder.glob("*.json.gz"))
    yield "examples base", base[:len(base) // 2], base[len(base) // 2:]


def commits(tmp):
    for path in sorted((pathlib.Path(SHARED) / "realprs/traces").glob("*.tar.xz")):
        to = pathlib.Path(tmp) / path.name.split(".")[0]
        with tarfile.open(path) as t:
            t.extractall(to, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # Debian 12 has Python 3.11.2
        a, b = sorted(to.glob("a/*.json")), sorted(to.glob("b/*.json"))
        yield f"{to.name} forward", a, b
        yield f"{to.name} reversed", b, a


def noise(tmp):
    top = pathlib.Path(SHARED) / "noise/cpu"
    for model in sorted(top.iterdir()) if top.is_dir() else ():
        variants = {v.name: sorted(v.glob("*.json.gz")) for v in sorted(model.iterdir()) if v.is_dir()}
        same = next((variants[k] for k in ("aa", "base", "baseline") if len(variants.get(k, [])) >= 6), None)
        for name, runs in variants.items() if same else ():
            if runs is same:
                yield f"{model.parent.name} {model.name} same code", same[:3], same[3:6]
            elif runs:
                yield f"{model.parent.name} {model.name} {name}", same[:min(5, len(same))], runs[:5]


def steps_of_gpus(tmp):
    """Single steps of a device, which lie flat: the table says which are compared."""
    top = pathlib.Path(SHARED) / "noise"
    if not top.is_dir():
        return
    with open(top / "truth.csv", newline="", encoding="utf-8") as f:
        for row in (r for r in csv.DictReader(f) if r["domain"] == "gpu"):
            yield f"gpu {row['pair']} {row['variant']} {row['n_base']}v{row['n_test']}", \
                *([top / name for name in row[side].split("|")] for side in ("baseline", "test"))


def ranks(tmp):
    """One run of several ranks, against itself: what is planted in its copy is the only difference."""
    for folder in ("param/dlrm_8rank", "hta/sampled_2rank"):
        docs = sorted((pathlib.Path(CORPUS) / folder).glob("*.json.gz"))
        if docs:
            yield f"ranks of {folder}", docs, docs


# ---- what is added ----

def spans(doc):
    return [e for e in doc["traceEvents"] if e.get("ph") == "X" and "dur" in e]


def steps(doc):
    return sorted((e for e in spans(doc) if str(e.get("name", "")).startswith("ProfilerStep#") and "gpu" not in e.get("cat", "")),
                  key=lambda e: e["ts"])


def push(doc, at, us):
    """All that begins at `at` or later begins later, on every thread and stream; what holds that moment on the host gets longer."""
    for e in doc["traceEvents"]:
        if "ts" not in e:
            continue
        if e["ts"] >= at:
            e["ts"] += us
        elif e.get("ph") == "X" and e["ts"] + e.get("dur", 0) > at and not is_device(e):
            e["dur"] += us


def is_device(e):
    return e.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation") or "stream" in e.get("args", {})


def inside(doc, mark):
    return [e for e in spans(doc) if mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"] and e is not mark]


def main_thread(doc, mark):
    """Operators in the step on the markers' thread that no other operator holds, in order."""
    own = sorted((e for e in inside(doc, mark) if e.get("cat") in ("cpu_op", "Operator") and e.get("tid") == mark.get("tid")),
                 key=lambda e: (e["ts"], -e["dur"]))
    top, end = [], -1
    for e in own:
        if e["ts"] >= end:
            top.append(e)
            end = e["ts"] + e["dur"]
    return top


def leaf_of(doc, rng):
    """A name of the host that does something in every step."""
    names = [collections.Counter(e["name"] for e in main_thread(doc, m)) for m in steps(doc)]
    common = set.intersection(*(set(n) for n in names)) if names else set()
    return rng.choice(sorted(common)) if common else None


def one_more_call(doc, name, which):
    """After a call of the name another one, alone, as long as that."""
    for k, mark in enumerate(steps(doc)):
        found = [e for e in main_thread(doc, mark) if e["name"] == name] if which(k) else []
        if found:
            end, us = found[0]["ts"] + found[0]["dur"], found[0]["dur"]
            push(doc, end, us + 1)
            more = {k: v for k, v in found[0].items() if k not in ("args", "id")}
            doc["traceEvents"].append(dict(more, ts=end + 0.5, dur=us))


def slower(doc, name, factor, which):
    for k, mark in enumerate(steps(doc)):
        for e in [e for e in main_thread(doc, mark) if e["name"] == name] if which(k) else []:
            push(doc, e["ts"] + e["dur"] - 1e-4 if e["dur"] else e["ts"], e["dur"] * (factor - 1))


def pause(doc, share, which, between=False):
    for k, mark in enumerate(steps(doc)):
        if which(k):
            push(doc, mark["ts"] + (mark["dur"] + 1e-3 if between else 0.1), mark["dur"] * share)


def call(doc, cat, name, us, which):
    """A call of a name that the trace may not have, first in the step."""
    for k, mark in enumerate(steps(doc)):
        if which(k):
            at = mark["ts"] + 0.2
            push(doc, at, us + 0.5)
            doc["traceEvents"].append({"ph": "X", "cat": cat, "name": name, "pid": mark["pid"], "tid": mark["tid"], "ts": at + 0.1, "dur": us})


def always(k):
    return True


def additions(doc, rng):
    """What to add, and whether the trace must then be told about: `told`."""
    name, some = leaf_of(doc, rng), (lambda k: k % 2 == 1)
    us = steps(doc)[0]["dur"] if steps(doc) else 0
    if not us:
        return
    if name:
        yield f"one more {name}", lambda d: one_more_call(d, name, always), False
        yield f"one more {name} in every other step", lambda d: one_more_call(d, name, some), False
        yield f"{name} x1.5", lambda d: slower(d, name, 1.5, always), False
        yield f"{name} x4 in every other step", lambda d: slower(d, name, 4, some), False
    yield "a synchronisation", lambda d: call(d, "cuda_runtime", "cudaStreamSynchronize", .02 * us, always), False
    yield "an unknown operator of 5 %", lambda d: call(d, "cpu_op", "my::work", .05 * us, always), False
    yield "an unknown category of 100 %", lambda d: call(d, "xpu_driver", "enqueue", us, always), True
    yield "a pause of 5 % in the steps", lambda d: pause(d, .05, always), False
    yield "a pause of 120 % in the steps", lambda d: pause(d, 1.2, always), True
    yield "a pause of 120 % between the steps", lambda d: pause(d, 1.2, always, True), True


# The built-in rules with exceptions, and those: `tracegate policy show`.
EXCEPTIONS = {"new-work": ("renamed", "replaced", "small", "chance"), "new-sync": ("renamed", "polling", "chance"),
              "new-calls": ("renamed", "polling", "chance"), "collectives": ("renamed", "replaced", "chance"),
              "more-bytes": ("replaced", "counted", "chance")}


def without(tmp, reasons):
    """A policy without these exceptions, of all rules."""
    path = pathlib.Path(tmp) / "policy.yml"
    rules = "".join(f"  - {{id: {rule}, exceptions: [{', '.join(x for x in have if x not in reasons)}]}}\n" for rule, have in EXCEPTIONS.items())
    path.write_text(f"version: 1\nextends: [tracegate:recommended]\nrules:\n{rules}", encoding="utf-8")
    return ["--policy", str(path)]


# ---- what must hold ----

def check(tmp, name, base, fresh, *args):
    out = pathlib.Path(tmp) / "report.json"
    out.unlink(missing_ok=True)
    run = tracegate("check", "--runs", str(fresh), "--baseline", str(base), "--json", str(out), *args)
    if not out.exists():
        fault(f"{name}: no report: {run.stderr.strip()[:300]}")
        return None
    return read_json(out)


def lay(folder, docs):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for i, doc in enumerate(docs):
        (folder / f"run{i}.json").write_text(json.dumps(doc), encoding="utf-8")
    return folder


def sane(name, r):
    """The outcome is a function of the rows, and each row says why."""
    worst = next((k for k in LISTS if r[LISTS[k]]), "pass").replace("suspicious", "warn")
    expect(f"{name}: the outcome is the worst row", r["verdict"], worst)
    for rows in (*LISTS.values(), "waived", "not_judged", "skipped"):
        for row in r[rows]:
            if row["because"] not in IDS or (row["because"] == "limit") > bool(row["limit"] or row["rule"] == "account"):
                fault(f"{name}: {row['state']} {row['op']} rests on {row['because']}, limit {row['limit']}")


def withheld(was, r):
    """Were there durations alone, and does the report say that this machine does not tell them?"""
    return (r["verdict"] == "inconclusive" and any(x["op"] == "machine" for x in r["inconclusive"])
            and all(x.get("dimension") == "duration" for x in was["violations"]))


def shape(r):
    """What does not depend on the order of runs."""
    return r["verdict"], [(k, [(x.get("op"), x.get("metric"), x.get("message")) for x in r[LISTS[k]]]) for k in KINDS]


def decide(tmp, name, base, fresh, rng, part):
    docs = [read(p) for p in base], [read(p) for p in fresh]
    for doc in docs[1] if base is fresh else ():
        spans(doc)[-1]["dur"] += .001  # another recording
    sides = lay(f"{tmp}/base", docs[0]), lay(f"{tmp}/fresh", docs[1])
    was = check(tmp, name, *sides)
    if not was:
        return
    sane(name, was)
    itself = check(tmp, name, sides[0], sides[0])
    expect(f"{name}: against itself", [[x for x in itself[LISTS[k]] if x["op"] != "same"] for k in KINDS], [[], [], []])
    words = sorted({x for have in EXCEPTIONS.values() for x in have})
    for reasons in (words, [rng.choice(words)]):
        r = check(tmp, f"{name} without {reasons}", *sides, *without(tmp, reasons))
        if r and RANK[r["verdict"]] < RANK[was["verdict"]]:
            fault(f"{name}: without the exceptions {reasons} {was['verdict']} becomes {r['verdict']}: {r['headline']}")
    turned = check(tmp, name, lay(f"{tmp}/b2", docs[0][::-1]), lay(f"{tmp}/f2", docs[1][::-1]))
    expect(f"{name}: runs in another order", shape(turned), shape(was))
    for what, change, told in additions(docs[1][0], rng):
        for runs in ("all", "one"):
            if rng.random() > part or (runs == "one" and len(fresh) < 3 and not name.startswith("ranks")):
                continue
            more = [copy.deepcopy(d) for d in docs[1]]
            for d in more if runs == "all" else more[:1]:
                change(d)
            r = check(tmp, f"{name}, {what}", sides[0], lay(f"{tmp}/more", more))
            if not r:
                continue
            sane(f"{name}, {what} in {runs}", r)
            if name.startswith("ranks"):
                turned = check(tmp, name, lay(f"{tmp}/b2", docs[0][::-1]), lay(f"{tmp}/f2", more[::-1]))
                expect(f"{name}, {what} in {runs}: ranks in another order", shape(turned), shape(r))
            if RANK[r["verdict"]] < RANK[was["verdict"]] and not withheld(was, r):
                fault(f"{name}, {what} in {runs} of the runs: {was['verdict']} becomes {r['verdict']}: {was['headline']} / {r['headline']}")
            if told and runs == "all" and r["verdict"] == "pass":
                fault(f"{name}, {what}: PASS: {r['headline']}")


def main(tmp):
    p = argparse.ArgumentParser()
    p.add_argument("--part", type=float, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args(sys.argv[1:])
    for source in (examples, commits, noise, steps_of_gpus, ranks):
        for name, base, fresh in source(tmp):
            rng = random.Random(f"{o.seed} {name}")
            if o.only in name and (source is examples or rng.random() <= max(o.part, .1)):
                decide(tmp, name, base, fresh, rng, o.part)


run_parts(main)
