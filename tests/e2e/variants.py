#!/usr/bin/env python3
"""No regression under a green light: variants of a change, and what the verdict has to be by rule.

A variant is a step of plain_model.usual(), recorded as a baseline and as fresh runs of the same program, with more work
planted on the fresh side. Nothing here is learnt from the program; the rules are those of docs/policy.md:

  same      Same code is never red: pass or warn.
  all       Work that is in every step of every run fails, from one call on, whatever its sort and name.
  most      In 4 of 5 runs: fails.
  some      In fewer runs, or in fewer than half of the steps of every run: never a plain pass; synchronisations, copies and
            collectives fail if they are in two steps or more, one run a step or several.
  small     A new kernel below 0.1 % of the step may warn under the presets, and fails under a policy that says `abs: 0`.
  outside   Work that runs between the steps is never a plain pass.
  gone      Work that is gone is never a plain pass.
  slower    A kernel or operator of 140 % fails from 3 runs a side on, where durations are judged: not by counts-only, and
            not in traces whose steps are not known. With fewer runs it is never red.
  marks     Steps that one side alone has: inconclusive (or fail), whatever else. Traces without any steps: counts are
            judged; work that multiplies everything cannot be told from more iterations, and is never a plain pass.
            `by: trace` is as good as markers.
  ranks     Planted on one rank: fails. A rank that one side lacks: never a plain pass; with ranks.expect inconclusive
            (or fail).
  device    Another device: kernels are not judged, so never a plain pass; all else is as on one device.
  layers    advisory: never red, never a plain pass. A limit above what was planted: not red. A limit that is off for all
            names, or nothing left to judge: inconclusive. A waiver whose ceiling holds: not red; one that does not: fails.
            fail_on: [fail, warn]: what is at least a warning fails.

usage: variants.py [--sample N] [--seed S] [--only TEXT]
"""
import argparse
import collections
import os
import random
import shutil

from support import DATED, check, expect, read_json, run_parts, tracegate, write_text
from plain_model import Work, scaled, usual, write_run

GREEN, WARN, FAIL, OPEN = "pass", "warn", "fail", "inconclusive"
NOT_RED, SAID, RED = {GREEN, WARN}, {WARN, FAIL}, {FAIL}
STEPS = 5

NAMES = {  # what a kernel or an operator may be called
    "kernel": {"known": "void kern3(float*)", "new": "void fresh_kernel(float*)", "colon": "::error::pwned", "unicode": "ядро_7",
               "template": "void at::native::elementwise_kernel<4, std::array<char*, 2ul>>(int)", "star": "void k*rn[3](?)",
               "polling": "lib_EventQuery", "number": "void kern999(float*)"},
    "op": {"known": "aten::op3", "new": "aten::fresh", "colon": "##[error]pwned", "unicode": "модель::шаг", "star": "aten::*",
           "template": "lib::op<float, 2>", "polling": "mylib::EventQuery", "number": "aten::op999"},
}


def works(sort, name="known", us=20.0):
    """One more piece of work of this sort; where the sort has no names of its own, `name` is not looked at."""
    if sort == "kernel":
        return [Work(None, "kernel", NAMES["kernel"][name], us)]
    if sort == "op":
        return [Work(NAMES["op"][name], "op", "", us)]
    return {"launching op": [Work("aten::op3", "kernel", "void kern3(float*)", us)],
            "copy": [Work(None, "memcpy", "Memcpy DtoD (Device -> Device)", 3)],
            "known copy": [Work(None, "memcpy", "Memcpy HtoD (Pinned -> Device)", 5)],
            "set": [Work(None, "memset", "Memset (Device)", 2)],
            "sync": [Work(None, "sync", "cudaDeviceSynchronize")],
            "known sync": [Work(None, "sync")],
            "graph": [Work(None, "graph")],
            "item": [Work("aten::item", "op", "", 3)],
            "collective": [Work(None, "comm", "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)", 20)]}[sort]


SORTS = ["kernel", "op", "launching op", "copy", "known copy", "set", "sync", "known sync", "graph", "item", "collective"]
WAITS = {"copy", "known copy", "sync", "known sync", "collective", "item"}  # make others wait

# ---- layers --------------------------------------------------------------------------------------------------------

SUITE = "suites: [{name: s, trace: {files: 'x/*.json', run: 'run(\\d+)'%s}%s}]\n"
RULE = "rules:\n  - {id: work, match: {kind: [kernel, memcpy, memset, graph, op, sync]}, metric: count, %s}\n"
WAIVER = "waivers:\n  - {rule: work, name: '*', many: true, ceiling: {abs: %d}, reason: x, owner: me, expires: 2026-01-20}\n"
RECOMMENDED = "extends: [tracegate:recommended]\n"
LAYERS = {  # name -> policy; None: no policy file
    "built-in": None,
    "recommended": RECOMMENDED,
    "counts-only": "extends: [tracegate:counts-only]\n",
    "advisory": "extends: [tracegate:advisory]\n",
    "own": RULE % "fail: {abs: 0}",
    "own pct": RULE % "fail: {pct: 10%}",
    "own either": RULE % "fail: [{pct: 1000%}, {abs: 0}]",
    "override": RECOMMENDED + "rules:\n  - {id: new-work, overrides: [{match: {name: '*kern1*'}, fail: {abs: 7}}]}\n",
    "raised": RECOMMENDED + "rules:\n  - {id: new-work, fail: {abs: 1000}}\n  - {id: new-sync, fail: {abs: 1000}}\n"
                            "  - {id: collectives, fail: {abs: 1000}}\n",
    "own raised": RULE % "fail: {abs: 1000}",
    "off": RULE % "fail: {abs: 0}, overrides: [{match: {name: '*'}, fail: off}]",
    "nothing matches": "rules:\n  - {id: work, match: {kind: kernel, name: 'no such kernel'}, metric: count, fail: {abs: 0}}\n",
    "waived": RULE % "fail: {abs: 0}" + WAIVER % 1000,
    "waived too little": RULE % "fail: {abs: 0}" + WAIVER % 0,
    "fail on warn": RECOMMENDED + "fail_on: [fail, warn]\n",
}
NOTHING = {"off", "nothing matches"}
LENIENT = {"raised", "own raised", "waived"}


def of_layer(layer, allowed):
    """What a layer makes of a verdict that is due under one that judges everything."""
    if layer in NOTHING:
        return {OPEN}
    if layer in LENIENT:
        return NOT_RED if FAIL in allowed else allowed
    if layer == "advisory":
        return {WARN} if allowed <= SAID else NOT_RED
    if layer == "fail on warn" and allowed <= SAID:
        return RED
    if layer == "waived too little" and FAIL in allowed:
        return RED
    return allowed


# ---- variants ------------------------------------------------------------------------------------------------------

MARKS = {  # (marker of the baseline, of the fresh side, what the suite says)
    "both": ("ProfilerStep#%d", "ProfilerStep#%d", ""),
    "baseline only": ("ProfilerStep#%d", None, ""),
    "fresh only": (None, "ProfilerStep#%d", ""),
    "none": (None, None, ""),
    "by trace": (None, None, ", window: {by: trace}"),
    "by annotation": ("execute_%d", "execute_%d", ", window: {by: annotation, name: 'execute_*'}"),
    "annotation renamed": ("execute_%d", "run_%d", ", window: {by: annotation, name: 'execute_*'}"),
}
ONE_SIDED = {"baseline only", "fresh only", "annotation renamed"}

Variant = collections.namedtuple(
    "Variant", "id allowed layer marks runs plant ranks expect_ranks missing where_runs where_steps where_rank device change between")


def variant(id_, allowed, layer="built-in", marks="both", runs=1, plant=(), ranks=0, expect_ranks=0, missing=None, where_runs=None,
            where_steps=None, where_rank=None, device=None, change=None, between=False):
    if marks in ONE_SIDED:
        allowed = {OPEN} if FAIL not in allowed else {OPEN, FAIL}
    return Variant(id_, frozenset(of_layer(layer, allowed) if marks not in ONE_SIDED else allowed), layer, marks, runs, tuple(plant),
                   ranks, expect_ranks, missing, where_runs, where_steps, where_rank, device, change, between)


def amounts_and_places():
    for sort in SORTS:
        for n in (1, 50):
            plant = works(sort) * n
            yield variant(f"all: {n} {sort}, 5 runs", RED, runs=5, plant=plant)
            yield variant(f"all: {n} {sort}, 1 run", RED, plant=plant)
            yield variant(f"most: {n} {sort}, 4 of 5 runs", RED, runs=5, plant=plant, where_runs={0, 1, 3, 4})
            for k in ({2}, {0, 3}):
                yield variant(f"some: {n} {sort}, {len(k)} of 5 runs", SAID, runs=5, plant=plant, where_runs=k)
            for k in ({1}, {1, 3}, {4}):
                for runs in (1, 3):
                    # one run a side cannot judge a step that is 30 % longer: that is inconclusive
                    said = SAID if runs > 1 else {*SAID, "inconclusive"}
                    allowed = RED if sort in WAITS - {"item"} and runs * len(k) > 1 else said
                    yield variant(f"some: {n} {sort}, steps {sorted(k)} of {STEPS}, {runs} runs", allowed, runs=runs, plant=plant,
                                  where_steps=k)


def names():
    for sort in ("kernel", "op"):
        for name in NAMES[sort]:
            for layer in ("built-in", "own", "counts-only", "fail on warn"):
                yield variant(f"all: {sort} called {name}, {layer}", RED, layer=layer, plant=works(sort, name) * 2)
    for layer in ("built-in", "recommended", "own", "own pct"):
        for n in (1, 2):
            small = works("kernel", "new", 0.05) * n
            yield variant(f"small: {n} new, {layer}", RED if layer.startswith("own") else SAID, layer=layer, plant=small)
            yield variant(f"small: {n} known, {layer}", RED, layer=layer, plant=works("kernel", "known", 0.05) * n)


def layers():
    for layer in LAYERS:
        yield variant(f"same: {layer}", NOT_RED, layer=layer)
        yield variant(f"same: {layer}, 5 runs", NOT_RED, layer=layer, runs=5)
        for sort in SORTS:
            yield variant(f"layers: {layer}, {sort}", RED, layer=layer, plant=works(sort))


def marks():
    for how in MARKS:
        layer = "recommended" if MARKS[how][2] else "built-in"
        for runs in (1, 5):
            yield variant(f"same: steps {how}, {runs} runs", NOT_RED, layer=layer, marks=how, runs=runs)
            for sort in SORTS:
                yield variant(f"marks: {how}, {sort}, {runs} runs", RED, layer=layer, marks=how, runs=runs, plant=works(sort))
            allowed = SAID if how == "none" else RED
            yield variant(f"marks: {how}, everything twice, {runs} runs", allowed, layer=layer, marks=how, runs=runs, plant=usual())


def rank_sets():
    for runs in (1, 3):
        yield variant(f"same: 4 ranks, {runs} runs", NOT_RED, layer="recommended", runs=runs, ranks=4, expect_ranks=4)
        for missing in ({2}, {0}, {1, 3}):
            said = f"ranks {sorted(missing)} missing, {runs} runs"
            yield variant(f"same: {said}", {WARN}, layer="recommended", runs=runs, ranks=4, missing=(missing, range(runs)))
            yield variant(f"same: {said}, expected", {OPEN}, layer="recommended", runs=runs, ranks=4, expect_ranks=4,
                          missing=(missing, range(runs)))
            for sort in ("kernel", "op", "sync"):
                yield variant(f"ranks: {sort}, {said}", RED, layer="recommended", runs=runs, ranks=4, plant=works(sort),
                              missing=(missing, range(runs)))
        for sort in SORTS:
            for rank in (0, 3):
                yield variant(f"ranks: {sort} on rank {rank} of 4, {runs} runs", RED, layer="recommended", runs=runs, ranks=4,
                              plant=works(sort), where_rank=rank)
    yield variant("same: rank 2 missing in one of 3 runs", {WARN}, layer="recommended", runs=3, ranks=4, missing=({2}, [1]))
    yield variant("same: rank 2 missing in one of 3 runs, expected", {OPEN}, layer="recommended", runs=3, ranks=4, expect_ranks=4,
                  missing=({2}, [1]))
    yield variant("ranks: kernel, rank 2 missing in one of 3 runs", RED, layer="recommended", runs=3, ranks=4, plant=works("kernel"),
                  missing=({2}, [1]))


def devices():
    yield variant("same: another device", {WARN}, device="Tesla V100")
    for sort in SORTS:
        kernels = sort in ("kernel", "collective")
        yield variant(f"device: {sort}", SAID if kernels else RED, device="Tesla V100", plant=works(sort))


def slower(work):
    return scaled(work, "aten::op3", 1.4)


def without(sort):
    def change(work):
        at = next(i for i, w in enumerate(work) if w.sort == sort or (sort == "op" and w.op == "aten::op5"))
        return work[:at] + work[at + 1:]
    return change


def renamed(factor, more=()):
    return lambda work: scaled(work, "aten::op3", factor, name="void OTHER(float*)") + list(more)


def durations():
    for how in MARKS:
        layer = "recommended" if MARKS[how][2] else "built-in"
        for runs in (1, 2, 3, 5):
            judged = runs >= 3 and how != "none"
            yield variant(f"slower: kernel 40 %, {runs} runs, steps {how}", RED if judged else NOT_RED, layer=layer, marks=how,
                          runs=runs, change=slower)
    for layer in ("counts-only", "own"):
        yield variant(f"slower: kernel 40 %, {layer}", NOT_RED, layer=layer, runs=5, change=slower)
    for sort in ("kernel", "memcpy", "memset", "sync", "op"):
        yield variant(f"gone: {sort}", {GREEN}, change=without(sort))
        yield variant(f"gone: {sort}, fail on warn", {GREEN}, layer="fail on warn", change=without(sort))
        yield variant(f"gone: {sort}, and a kernel came elsewhere", RED, change=lambda w, s=sort: without(s)(w) + works("launching op") * 3)
    yield variant("renamed: same time", NOT_RED, runs=5, change=renamed(1))
    yield variant("renamed: 40 % slower", RED, runs=5, change=renamed(1.4))
    yield variant("replaced: a kernel, and 50 operators more", RED, change=renamed(2, works("op") * 50))
    yield variant("replaced: a kernel, and a synchronisation more", RED, change=renamed(1, works("sync")))
    yield variant("replaced: a kernel, and a copy more", RED, change=renamed(1, works("copy")))


def outside():
    for layer in ("built-in", "own", "counts-only", "fail on warn"):
        for runs in (1, 3):
            for sort in SORTS:
                yield variant(f"outside: {sort}, {layer}, {runs} runs", SAID, layer=layer, runs=runs, plant=works(sort), between=True)
    yield variant("outside: moved there", SAID, change=without("op"), plant=[w for w in usual() if w.op == "aten::op5"], between=True)


def all_variants():
    for part in (outside, amounts_and_places, names, layers, marks, rank_sets, devices, durations):
        yield from part()


# ---- running -------------------------------------------------------------------------------------------------------

class Bench:
    """A folder with baselines, each written once."""

    def __init__(self, folder):
        self.dir, self.bases = folder, {}

    def baseline(self, v):
        key = (v.marks in ONE_SIDED and v.marks, MARKS[v.marks][0], v.runs, v.ranks)
        if key not in self.bases:
            self.bases[key] = f"base{len(self.bases)}"
            for run in range(v.runs):
                for rank in range(v.ranks) if v.ranks else [None]:
                    self.write(self.bases[key], run, rank, [usual()] * STEPS, 1, MARKS[v.marks][0], "NVIDIA H100")
        return self.bases[key]

    def write(self, folder, run, rank, steps, seed, marker, device, between=()):
        name = f"run{run}" + ("" if rank is None else f"-rank{rank}")
        write_run(f"{self.dir}/{folder}/{name}.json", steps, seed + 97 * run + (rank or 0), rank=rank, marker=marker, device=device, between=between)

    def fresh(self, v):
        shutil.rmtree(f"{self.dir}/x", ignore_errors=True)
        for run in range(v.runs):
            for rank in range(v.ranks) if v.ranks else [None]:
                if v.missing and rank in v.missing[0] and run in v.missing[1]:
                    continue
                work = v.change(usual()) if v.change else usual()
                if v.device:
                    work = [Work(w.op, w.sort, w.name.replace("kern", "sm70_"), w.us * 2) if w.sort == "kernel" else w for w in work]
                here = (v.where_runs is None or run in v.where_runs) and (v.where_rank is None or rank == v.where_rank)
                steps = [work + list(v.plant) if here and not v.between and (v.where_steps is None or k in v.where_steps) else work
                         for k in range(STEPS)]
                self.write("x", run, rank, steps, 100_003, MARKS[v.marks][1], v.device or "NVIDIA H100",
                           v.plant if here and v.between else ())

    def policy(self, v):
        text, window = LAYERS[v.layer], MARKS[v.marks][2]
        if text is None:
            return []
        write_text(f"{self.dir}/p.yml", "version: 1\n" + text + SUITE % (", rank: 'rank(\\d+)'" if v.ranks else "",
                                                 window + (f", ranks: {{expect: {v.expect_ranks}}}" if v.expect_ranks else "")))
        return ["--policy", "p.yml"]

    def verdict(self, v):
        base = self.baseline(v)
        self.fresh(v)
        runs = [] if v.ranks or LAYERS[v.layer] else ["--runs"]
        run = tracegate("check", "x", "--baseline", base, *runs, *self.policy(v), "--json", "out.json", cwd=self.dir, env=DATED, timeout=120)
        code = {GREEN: 0, WARN: 0, FAIL: 1, OPEN: 4}
        try:
            got = read_json(f"{self.dir}/out.json")["verdict"]
            os.unlink(f"{self.dir}/out.json")
        except OSError:
            got = "no report: " + run.stderr[:200]
        expect(f"{v.id}: exit of {got}", run.returncode, code.get(got))
        return got, run.stdout


def main(tmp):
    p = argparse.ArgumentParser()
    p.add_argument("--sample", type=int)
    p.add_argument("--seed", type=int, default=11)
    p.add_argument("--only", default="")
    args = p.parse_args()
    variants = [v for v in all_variants() if args.only in v.id]
    ids = [v.id for v in variants]
    expect("each variant has a name of its own", len(set(ids)), len(ids))
    expect("there are enough", len(ids) >= 300 or bool(args.only), True)
    if args.sample:
        variants = random.Random(args.seed).sample(variants, min(args.sample, len(variants)))
    bench = Bench(tmp)
    for v in variants:
        got, text = bench.verdict(v)
        check(f"{v.id}: {got}, must be {' or '.join(sorted(v.allowed))}: {text.splitlines()[:1]}", got in v.allowed)


run_parts(main)
