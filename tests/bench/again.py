#!/usr/bin/env python3
"""Ask again: how often is a verdict in stages right, and how many runs does it take?

    tests/bench/again.py DRIVER FOLDER... [--draws N] [--seed N] [--jobs N] [--disturbed NAME]

DRIVER is score_driver (tests/e2e/score_driver.c), whose verdicts are those of `check --ask`. Each FOLDER
holds traces of repeated runs of one program's same code, 34 or more. A draw takes runs without
replacement, gives every second one to the fresh side, and plants a factor on one operator of 0.3 % of
the step or more, drawn at random among all, the noisiest included. Then it does as `tracegate ab` does:
one run a side, five, and as many new ones as the verdict asks for, until it is final. Beside it one look
at five runs a side. Prints a row for each plan and factor:

  wrong    draws in which anything is red but the planted operator and the step as a whole, in %; of the
           same code: draws that are red
  found    the planted operator is red
  told     it is red, or the verdict names it as one that cannot be told, or in which a pass could hide it
  open     the verdict is final, and inconclusive
  naming   passes that name what could hide the size that matters, in % of the passes
  runs     a side, mean and most

--disturbed: same code alone. The fresh runs of the first look, or as many of the new ones as there are,
are from the folder NAME beside each FOLDER (contention, coldstart), every second draw in turn.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

BIG = 0.003
NEED = 34
FIRST = 5
CELLS = (1.0, 1.1, 1.2, 1.5)
STEP = {"step_time", "ProfilerStep", "device_extent", "gpu_busy"}


def operators(driver, folder, files):
    """Names to plant on: operators of 0.3 % of the step or more that are judged with all the runs."""
    paths = [os.path.join(folder, f) for f in files[:NEED]]
    out = subprocess.run([driver, "--dump", "--base", *paths[::2], "--test", *paths[1::2]], text=True,
                         capture_output=True, check=True).stdout.split("\n")
    step = float(out[0].split()[1])
    names = set()
    for line in out[1:]:
        at = line.split("\t")
        if len(at) == 14 and at[0] == "op" and not at[13] and float(at[6]) >= BIG * step and not set("|@") & set(at[1]):
            names.add(at[1])
    return sorted(names)


def ask(driver, folder, questions, scratch, *options):
    """[answer] of questions, each a list of sides of (files, plant)."""
    text = ""
    for i, sides in enumerate(questions):
        text += "\t".join([str(i), *("|".join(f) + p for f, p in sides)]) + "\n"
    subprocess.run([driver, "--pairs", folder, scratch, *options], input=text, text=True, check=True)
    answers = []
    for i in range(len(questions)):
        with open(os.path.join(scratch, f"{i}.json"), encoding="utf-8", errors="replace") as f:
            answers.append(json.load(f))
    return answers


def disturb(test, others, i, rng):
    """The fresh runs of draw i with those of a disturbed machine in one stage."""
    at = 0 if i % 2 else FIRST
    n = min(len(others), FIRST if i % 2 else len(test) - FIRST)
    return test[:at] + rng.sample(others, n) + test[at + n:]


class Draw:
    def __init__(self, base, test, factor, name):
        self.base, self.test, self.name = base, test, name
        self.plant = "" if factor == 1 else f"@{factor}@{name}"
        self.runs, self.next, self.answer = 0, 1, None

    def question(self):
        """The sides with as many runs as the last verdict asked for."""
        n, first = self.next, min(self.next, FIRST)
        sides = [(self.base[:first], ""), (self.test[:first], self.plant)]
        if n > FIRST:
            sides += [(self.base[FIRST:n], ""), (self.test[FIRST:n], self.plant)]
        return sides

    def take(self, answer):
        self.answer, self.runs, self.next = answer, self.next, answer["next"]


def draws_of(job):
    """[(plan, factor, planted, answer, runs)] of one folder"""
    driver, folder, factor, count, seed, disturbed = job
    others = []
    if disturbed:
        beside = os.path.join(os.path.dirname(folder), disturbed)
        others = [f"../{disturbed}/{f}" for f in sorted(os.listdir(beside)) if f.endswith(".json.gz")]
    files = sorted(f for f in os.listdir(folder) if f.endswith(".json.gz"))
    if len(files) < NEED:
        sys.exit(f"{folder}: {len(files)} traces, {NEED} are needed")
    rng = random.Random(f"{seed} {os.path.basename(os.path.dirname(folder))} {factor}")
    names = operators(driver, folder, files)
    draws = []
    for i in range(count):
        drawn = rng.sample(files, NEED)
        base, test = drawn[::2], drawn[1::2]
        if others:
            test = disturb(test, others, i, rng)
        draws.append(Draw(base, test, factor, rng.choice(names)))
    with tempfile.TemporaryDirectory() as scratch:
        one = ask(driver, folder, [[(d.base[:FIRST], ""), (d.test[:FIRST], d.plant)] for d in draws], scratch)
        while left := [d for d in draws if d.next]:
            for d, a in zip(left, ask(driver, folder, [d.question() for d in left], scratch, "--stages")):
                d.take(a)
    planted = [d.name if factor != 1 else None for d in draws]
    looks = [dict(red=a["violations"], untold=[], notes="", verdict=a["verdict"]) for a in one]
    return ([("one look, 5v5", factor, n, a, FIRST) for n, a in zip(planted, looks)]
            + [("in stages", factor, d, x.answer, x.runs) for d, x in zip(planted, draws)])


def row(cell, factor):
    n, runs = len(cell), [c[4] for c in cell]
    red = [{v["op"] for v in c[3]["red"]} for c in cell]
    untold = [{v["op"] for v in c[3]["untold"]} for c in cell]
    if factor == 1:
        wrong = [c[3]["verdict"] == "fail" for c in cell]
    else:
        wrong = [bool(r - {c[2]} - STEP) for r, c in zip(red, cell)]
    found = [c[2] in r for r, c in zip(red, cell)]
    told = [f or c[2] in u or f" {c[2]} (varies by" in c[3]["notes"] for f, u, c in zip(found, untold, cell)]
    still = [c[3]["verdict"] == "inconclusive" for c in cell]
    naming = ["could hide in" in c[3]["notes"] for c in cell if c[3]["verdict"] in ("pass", "warn")]
    tell = [f"{100 * sum(k) / max(len(k), 1):.1f}" for k in (wrong, found, told, still, naming)]
    if factor == 1:
        tell[1:3] = ["", ""]
    return [f"{100 * (factor - 1):+.0f} %", n, *tell, f"{sum(runs) / n:.1f}", max(runs)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("driver")
    p.add_argument("folder", nargs="+")
    p.add_argument("--draws", type=int, default=1000, help="a cell, over all folders")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--disturbed", default="")
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    cells = CELLS[:1] if o.disturbed else CELLS
    each = -(-o.draws // len(o.folder))
    jobs = [(o.driver, f.rstrip("/"), c, each, o.seed, o.disturbed) for c in cells for f in o.folder]
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        draws = [d for part in pool.map(draws_of, jobs) for d in part]
    out = csv.writer(sys.stdout, delimiter="\t")
    out.writerow(["plan", "planted", "draws", "wrong %", "found %", "told %", "open %", "naming %", "runs", "most"])
    for plan in ("one look, 5v5", "in stages"):
        for factor in cells:
            out.writerow([plan, *row([d for d in draws if d[:2] == (plan, factor)], factor)])


if __name__ == "__main__":
    main()
