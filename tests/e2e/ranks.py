#!/usr/bin/env python3
"""What git stores of a commit is at most 1,000,000 bytes, whatever the number of ranks and runs, and what is left out is
said and never fails: docs/baselines.md, "Size of a run". Ranks are made from one recorded trace, each with durations
of its own; the ranks that must be stored whole and the numbers over all ranks are computed here.

usage: ranks [--quick | --many] [GROUP…]
  --quick  8 and 64 ranks alone;  --many  1024 ranks, and a large trace of ../shared/corpus 24 times
"""
import glob
import json
import os
import random
import subprocess
import sys
import time

import support
from support import DATED as ENV
from plain_model import leaves
from support import CORPUS, ROOT, expect, expect_has, fault, read_json, read_text, run_parts, write_json, write_text

SOURCE = os.path.join(ROOT, "examples/traces/base/run00.json.gz")
LARGE = os.path.join(CORPUS, "hta/trace_diff/control/control.json.gz")
COMMIT, RUN = 1_000_000, 200_000  # bytes git stores: of a commit, of a run
PREFIX = "refs/tracegate/v1/"
POLICY = """version: 1
extends: ['tracegate:recommended']
baseline: {{ref: parent}}
suites: [{{name: s, trace: none.json, baseline: stored, ranks: {{expect: {n}}}}}]
rules:
  - {{id: each, match: {{kind: op, rank: each}}, metric: count, direction: both, fail: {{abs: 0}}}}
  - {{id: slowest, match: {{kind: op, rank: slowest}}, metric: count, direction: both, fail: {{abs: 0}}}}
  - {{id: uneven, metric: skew, fail: {{max: 30%}}}}
"""


# ---- ranks ---------------------------------------------------------------------------------------------------------

class Ranks:
    """Writes rank K of run SEED: leaves take 95 to 100 % of their time. Changes come on top."""

    def __init__(self, path):
        self.doc = read_json(path)
        self.leaves = [e for e in leaves(self.doc["traceEvents"]) if not e["name"].startswith("ProfilerStep")]
        self.dur = [e["dur"] for e in self.leaves]
        self.steps = [e for e in self.doc["traceEvents"] if e.get("name", "").startswith("ProfilerStep#") and
                      e.get("cat") == "user_annotation"]

    def write(self, path, rank, seed, slower=None, extra=False, stretch=1.0):
        r = random.Random(seed * 100_000 + rank)
        for e, dur in zip(self.leaves, self.dur):
            e["dur"] = round(dur * (1 - 0.05 * r.random()) * (0.6 if slower is not None and e["name"] != slower else 1), 3)
        self.doc["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 4096}
        usual = events = self.doc["traceEvents"]
        added = []
        if extra:  # one more call of a small operator a step, where there is room for it: after the last span
            for s in self.steps:
                added.append({"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": s["pid"], "tid": s["tid"],
                              "ts": s["ts"] + s["dur"] - 0.02, "dur": 0.01})
        if stretch != 1:  # a slow machine: everything takes longer
            start = min(e["ts"] for e in events if "ts" in e)
            events = [dict(e, ts=start + stretch * (e["ts"] - start), **({"dur": stretch * e["dur"]} if "dur" in e else {}))
                      if "ts" in e else e for e in events]
        self.doc["traceEvents"] = events + added
        write_json(path, self.doc)
        self.doc["traceEvents"] = usual

    def side(self, folder, n, seed, runs=1, **change):
        os.makedirs(folder)
        for run in range(runs):
            for k in range(n):
                self.write(f"{folder}/run{run}-rank{k}.json.gz", k, seed + run, **change)
        return sorted(glob.glob(folder + "/*"))


def golden_order(n):
    """0, then multiples of the golden ratio modulo 1, n parts to the whole: the ranks in the order in which they are kept,
    but for the slowest, which is the second."""
    order, i = [], 0
    while len(order) < n:
        k = (i * 2654435769 % 2**32) * n >> 32
        if k not in order:
            order.append(k)
        i += 1
    return order


# ---- the repository ------------------------------------------------------------------------------------------------

class Repository(support.Repository):
    env = dict(ENV, GIT_AUTHOR_DATE="2026-01-01T00:00:00Z", GIT_COMMITTER_DATE="2026-01-01T00:00:00Z")

    def __init__(self, folder, url=None):
        super().__init__(folder)
        self.commit("base")
        self.commit()
        if url:
            self.git("remote", "add", "origin", url)

    def record(self, files, *more, suite="s"):
        run = self.run("baseline", "record", *files, "--suite", suite, "--commit", "HEAD~1", *more)
        if run.returncode:
            fault(f"record: exit {run.returncode}: {run.stderr}")
        return run

    def sizes(self, suite="s"):
        """What git has on disk of each run."""
        return [int(x) for x in self.git("for-each-ref", "--format=%(objectsize:disk)", PREFIX + suite).split()]

    def whole(self, suite="s"):
        """The ranks that are stored whole in every run, and all."""
        lines = [x.split() for x in self.run("baseline", "show", "--suite", suite, "--commit", "HEAD~1").stdout.splitlines()]
        ranks = [(int(x[1]), "times" not in x) for x in lines if x[0] == "rank"]
        return {k for k, whole in ranks if whole} - {k for k, whole in ranks if not whole}, {k for k, _ in ranks}

    def check(self, files, n, suite="s"):
        write_text(f"{self.dir}/p.yml", POLICY.format(n=n).replace("name: s,", f"name: {suite},"))
        run = self.run("check", *files, "--policy", "p.yml", "--suite", suite, "--json", "r.json")
        return run, read_json(f"{self.dir}/r.json")


def fails(report):
    return {(x["rule"], x["op"]) for x in report["violations"]}


# ---- groups --------------------------------------------------------------------------------------------------------

def bound(tmp, ranks=(8, 64, 256)):
    """(ranks, stored whole, said): each below a run's part on disk, loose and packed; the same code passes."""
    make = Ranks(SOURCE)
    for n in ranks:
        r = Repository(f"{tmp}/{n}")
        base, test = make.side(f"{tmp}/{n}/base", n, 1), make.side(f"{tmp}/{n}/test", n, 2)
        begin = time.monotonic()
        run = r.record(base)
        seconds = time.monotonic() - begin
        whole, every = r.whole()
        loose = r.sizes()
        r.git("gc", "-q")
        print(f"bound: {n} ranks: {len(whole)} whole, {loose} bytes loose, {r.sizes()} packed, {seconds:.1f} s")
        expect(f"{n}: one run", len(loose), 1)
        expect(f"{n}: loose {loose}, packed {r.sizes()}", max(loose + r.sizes()) <= RUN, True)
        expect(f"{n}: what is said is what is there", int(run.stdout.split()[-2]) >= max(loose + r.sizes()), True)
        expect(f"{n}: every rank is there", every, set(range(n)))
        expect(f"{n}: thinned", len(whole) < n, n > 8)
        if len(whole) < n:
            expect(f"{n}: at least half of the room is used", max(loose) > RUN / 2, True)
            want = golden_order(n)[:len(whole)]
            expect(f"{n}: spread evenly, and the slowest", len(whole - set(want)) <= 1 and set(want[:-1]) <= whole, True)
            expect_has(f"{n}: record says", run.stderr, f"{len(whole)} of {n} ranks are stored in full")
        else:
            expect(f"{n}: record says nothing", run.stderr, "")
        expect_has(f"{n}: again", r.record(base).stdout, "same ")
        expect(f"{n}: nothing was added", len(r.sizes()), 1)
        run, report = r.check(test, n)
        expect(f"{n}: exit {run.stdout} {run.stderr}", run.returncode, 0)
        expect(f"{n}: compared", report["environment"]["ranks"], [len(whole)] * 2)
        said = f"{len(whole)} of {n} ranks are compared in full"
        expect(f"{n}: check says", said in run.stdout, n > len(whole))


def decisions(tmp):
    """Three runs a side of 64 ranks; what a change does to the verdict."""
    n, make = 64, Ranks(SOURCE)
    r = Repository(tmp + "/r")
    r.record(make.side(tmp + "/base", n, 10, runs=3))
    whole, _ = r.whole()
    expect("three runs", (len(r.sizes()), sum(r.sizes()) <= COMMIT), (3, True))
    expect("thinned", 2 <= len(whole) < n, True)
    out = sorted(set(range(n)) - whole)[0]

    _, report = r.check(make.side(tmp + "/same", n, 20, runs=3), n)
    expect("same code", fails(report), set())
    # Everything else takes 60 %: against that, aten::mul is slower by two thirds on every rank.
    r2 = Repository(tmp + "/r2")
    r2.record(make.side(tmp + "/fast", n, 30, runs=3, slower=""))
    _, report = r2.check(make.side(tmp + "/slow", n, 40, runs=3, slower="aten::mul"), n)
    expect("a slower operator: one fails", any("aten::mul" in name for _, name in fails(report)), True)

    added = make.side(tmp + "/added", n, 50, extra=True)
    run, report = r.check(added, n)
    names = fails(report)
    expect("an added call on every rank", any("aten::item" in name for _, name in names), True)
    expect("… and nothing else", {name.split(" [")[0] for _, name in names}, {"aten::item"})

    def one(name, rank, **change):
        files = make.side(f"{tmp}/{name}", n, 60)
        make.write(f"{tmp}/{name}/run0-rank{rank}.json.gz", rank, 60, **change)
        return r.check(files, n)

    _, report = one("kept", sorted(whole)[1], extra=True)
    expect("an added call on one rank that is whole", {rule for rule, name in fails(report)} >= {"each"}, True)
    run, report = one("out", out, extra=True)
    expect("an added call on one rank of which the step times are stored", fails(report), set())
    expect_has("… but what was not compared is said", run.stdout, f"{len(whole)} of {n} ranks are compared in full")
    # The step times of all ranks count.
    _, report = one("late", out, stretch=1.5)
    expect("skew over all ranks fails", ("uneven", "skew") in fails(report), True)
    skew = report["environment"]["skew_pct"]
    expect(f"skew is 0 and 50 %: {skew}", [round(x, 3) for x in skew], [0.0, 50.0])
    # A rule that asks for a rank that is not whole is told so.
    text = read_text(f"{r.dir}/p.yml") + f"  - {{id: that, match: {{kind: op, rank: [{out}]}}, metric: count, fail: {{abs: 0}}}}\n"
    write_text(f"{r.dir}/p.yml", text)
    run = r.run("check", *sorted(glob.glob(tmp + "/same/run0*")), "--policy", "p.yml", "--suite", "s", "--json", "r.json")
    that = [x for x in read_json(f"{r.dir}/r.json")["inconclusive"] if x["rule"] == "that"]
    expect("that rank", len(that), 1)
    expect_has("that rank", json.dumps(that), "step times only of this rank")


def runs(tmp):
    """Runs that are recorded one after the other: five always fit; what does not is not stored, and the gate stays green."""
    make = Ranks(SOURCE)
    r = Repository(tmp + "/r")
    before = 0
    for i in range(7):
        run = r.record(make.side(f"{tmp}/{i}", 256, 100 + i))
        sizes = r.sizes()
        expect(f"run {i}: {sizes}", sum(sizes) <= COMMIT, True)
        stored = len(sizes) > before
        expect(f"run {i}: says", ("not stored" in run.stderr, "recorded" in run.stdout), (not stored, stored))
        if i < 5:
            expect(f"run {i}: stored", stored, True)
        before = len(sizes)
    expect("not all seven", before < 7, True)
    expect_has("how many there are", run.stderr, f"has {before} runs of ")
    # Twelve at once share the room.
    files = make.side(tmp + "/twelve", 16, 300, runs=12)
    r.record(files, suite="twelve")
    sizes = r.sizes("twelve")
    expect(f"twelve: {sizes}", (len(sizes), sum(sizes) <= COMMIT), (12, True))
    run, report = r.check(make.side(tmp + "/fresh", 16, 400), 16, suite="twelve")
    expect("twelve: check", (run.returncode, report["environment"]["runs"]), (0, [12, 1]))


def pushed(tmp):
    """Two clones that do not know of each other: the second finds no room for all of its runs at the remote."""
    bare = tmp + "/server.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], env=ENV, check=True)
    make = Ranks(SOURCE)
    clones = [Repository(f"{tmp}/{i}", "file://" + bare) for i in range(2)]
    for i, c in enumerate(clones):
        for k in range(4):
            c.record(make.side(f"{tmp}/{i}-{k}", 64, 1000 + 10 * i + k))
        expect(f"clone {i}", len(c.sizes()), 4)
        run = c.run("baseline", "push", "--commit", "HEAD~1")
        expect(f"clone {i}: exit {run.stderr}", run.returncode, 0)
        disk = subprocess.run(["git", "for-each-ref", "--format=%(objectsize:disk)", PREFIX], cwd=bare, env=ENV, check=True,
                              capture_output=True, text=True).stdout.split()
        there = sum(map(int, disk))
        expect(f"clone {i}: {there} bytes there", there <= COMMIT, True)
        done = int(run.stdout.split()[1])
        expect(f"clone {i}: pushed", (done, len(disk)), ((4, 4), (1, 5))[i])
        expect(f"clone {i}: says", run.stderr.count("not pushed: "), (0, 3)[i])
    run = clones[0].run("baseline", "push", "--commit", "HEAD~1")
    expect_has("again", run.stdout, "pushed 0 runs", "4 there already")


def twice(tmp):
    """One recording that is stored in two forms is one run."""
    make = Ranks(SOURCE)
    # Two clones: alone it has more room than beside five others.
    six = make.side(tmp + "/six", 60, 500, runs=6)
    clones = [Repository(f"{tmp}/{i}") for i in range(2)]
    clones[0].record(six[:60])
    clones[1].record(six)
    clones[0].git("fetch", "-q", clones[1].dir, PREFIX + "*:" + PREFIX + "*")
    expect("two forms: refs", len(clones[0].sizes()), 7)
    run, report = clones[0].check(make.side(tmp + "/fresh", 60, 600), 60)
    expect(f"two forms: {run.stderr}", (run.returncode, report["environment"]["runs"]), (0, [6, 1]))
    # First without totals by Python frame, then with them: whatever the order, the frames are there.
    for s in list(make.steps):
        make.doc["traceEvents"].append(dict(s, cat="python_function", name="nn.Module: Net_0", ts=s["ts"] + 1, dur=s["dur"] - 2))
    base, fresh = make.side(tmp + "/stacks", 2, 700), make.side(tmp + "/other", 2, 800)
    for order in ((), ("module",)), (("module",), ()), (("module",), ("module", "source")):
        r = Repository(f"{tmp}/{'-'.join(map(str, order))}")
        for kinds in (*order, ("module",)):
            r.write("p.yml", "version: 1\nbaseline: {ref: parent}\nsuites: [{name: s, trace: none.json, baseline: stored}]\nrules:\n"
                    "  - {id: ops, match: {kind: op}, metric: count, fail: {abs: 0}}\n" +
                    "".join(f"  - {{id: {k}, match: {{kind: {k}, name: Net_0}}, metric: count, fail: {{abs: 0}}}}\n" for k in kinds))
            r.record(base, "--policy", "p.yml")
        expect(f"{order}: refs", len(r.sizes()), 2)
        run = r.run("check", *fresh, "--policy", "p.yml", "--json", "r.json")
        report = read_json(f"{r.dir}/r.json")
        expect(f"{order}: {run.stderr}", (run.returncode, report["environment"]["runs"], report["inconclusive"]), (0, [1, 1], []))


def quick(tmp):
    bound(tmp, (8, 64))
    twice(tmp + "/twice")


def many(tmp):
    """1024 ranks; and 24 ranks of 75,000 spans, where a trace of such size is there."""
    bound(tmp, (1024,))
    if not os.path.exists(LARGE):
        print("many: the corpus is not there: 24 large ranks are left out")
        return
    r = Repository(tmp + "/large")
    make, files = Ranks(LARGE), []
    for side, seed in (("base", 1), ("test", 2)):
        for k in range(24):
            path = f"{tmp}/large/{side}-rank{k}"
            make.write(path + ".json.gz", k, seed)
            made = r.run("summarize", path + ".json.gz", "-o", path + ".tgs", "--rank", str(k))
            expect(f"{path}: {made.stderr}", made.returncode, 0)
            os.remove(path + ".json.gz")
        files.append(sorted(glob.glob(f"{tmp}/large/{side}-*.tgs")))
    begin = time.monotonic()
    r.record(files[0])
    whole, every = r.whole()
    print(f"many: 24 large ranks: {len(whole)} whole, {r.sizes()} bytes, {time.monotonic() - begin:.1f} s")
    expect("large: bytes, ranks", (max(r.sizes()) <= RUN, len(every), len(whole) > 1), (True, 24, True))
    run, report = r.check(files[1], 24)
    expect(f"large: the same code passes {run.stdout}", (run.returncode, fails(report)), (0, set()))


run_parts(*[quick] if "--quick" in sys.argv else [many] if "--many" in sys.argv else [bound, decisions, runs, pushed])
