#!/usr/bin/env python3
"""Ask again: how often is a verdict in stages right, and how many runs does it take?

    tests/bench/again.py DRIVER [FOLDER...] [--draws N] [--seed N] [--jobs N] [--disturbed NAME] [--command PROGRAM]

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

--command: each draw through `PROGRAM ab` as well, whose command hands out the same runs in the same order.
Exit 1, with a line each, unless verdict, what is red, what cannot be told and the runs a side are equal.
"""
import argparse
import concurrent.futures
import csv
import glob
import json
import os
import random
import re
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
        if len(at) == 13 and at[0] == "op" and not at[12] and float(at[6]) >= BIG * step and not set("|@") & set(at[1]):
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


# Hands out line N + 1 of the list that is named after this side for run N: a recording, or one that is to be planted.
HAND = """#!/bin/sh
n=${TRACE##*run} n=${n%.json.gz}
run=$(sed -n "$((1$n - 99))p" "$1/$(cat side)")
case $run in *@*) exec "$2" --write "$run" "$TRACE";; *) exec cp "$run" "$TRACE";; esac
"""


def repository(folder):
    """Two commits that differ in the list which HAND reads."""
    os.makedirs(folder)
    for args in (("init", "-q"), ("config", "user.name", "t"), ("config", "user.email", "t@localhost")):
        subprocess.run(["git", *args], cwd=folder, check=True)
    for side in ("base", "test"):
        for name, text in (("hand", HAND), ("side", side)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.chmod(os.path.join(folder, "hand"), 0o755)
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        subprocess.run(["git", "commit", "-qm", side], cwd=folder, check=True)


def command(program, driver, folder, repo, draw):
    """(verdict, what is red, what is asked and not told, runs) of `ab`, or the error."""
    lists = os.path.join(repo, ".git", "lists")
    os.makedirs(lists, exist_ok=True)
    for side, runs, plant in (("base", draw.base, ""), ("test", draw.test, draw.plant)):
        with open(os.path.join(lists, side), "w", encoding="utf-8") as f:
            f.writelines(os.path.realpath(os.path.join(folder, r)) + plant + "\n" for r in runs)
    report = os.path.join(lists, "report.json")
    done = subprocess.run([program, "ab", "--base", "HEAD~1", "--json", report, "--", "./hand", lists, driver],
                          cwd=repo, text=True, capture_output=True)
    runs = re.search(r"ab: (\d+) runs? a side in", done.stderr)
    if not runs:
        return done.stdout + done.stderr
    with open(report, encoding="utf-8") as f:
        r = json.load(f)
    asked = [x for x in r["not_judged"] if x["because"] == "new-runs"]
    return r["verdict"], names_of(r["violations"]), names_of(asked), int(runs[1])


def names_of(rows):
    """The step has one name, whatever it is measured by."""
    return {"step_time" if v["op"] == "device_extent" else v["op"] for v in rows}


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

    def whole(self):
        """As `command` has it."""
        a = self.answer
        return a["verdict"], names_of(a["red"]), names_of(a["untold"] + a["open"]), self.runs


def draws_of(job):
    """[(plan, factor, planted, answer, runs)] of one folder, and where the command differs"""
    driver, folder, factor, count, seed, disturbed, program = job
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
        differ = []
        if program:
            repository(scratch + "/r")
            for i, d in enumerate(draws):
                got = command(program, driver, folder, scratch + "/r", d)
                if got != d.whole():
                    differ.append(f"{folder} {factor} draw {i} {d.plant}: driver {d.whole()}, command {got}")
    planted = [d.name if factor != 1 else None for d in draws]
    looks = [dict(red=a["violations"], untold=[], notes="", verdict=a["verdict"]) for a in one]
    return ([("one look, 5v5", factor, n, a, FIRST) for n, a in zip(planted, looks)]
            + [("in stages", factor, d, x.answer, x.runs) for d, x in zip(planted, draws)]), differ


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
    p.add_argument("folder", nargs="*", help="default: the recorded models of TG_SHARED_DIR, if there are any")
    p.add_argument("--draws", type=int, default=1000, help="a cell, over all folders")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--disturbed", default="")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--command", default="")
    o = p.parse_args()
    folders = o.folder or sorted(glob.glob(os.environ.get("TG_SHARED_DIR", "../shared") + "/noise/cpu/*/aa"))
    if not folders:
        return 77
    cells = CELLS[:1] if o.disturbed else CELLS
    each = -(-o.draws // len(folders))
    driver, program = os.path.realpath(o.driver), o.command and os.path.realpath(o.command)
    jobs = [(driver, f.rstrip("/"), c, each, o.seed, o.disturbed, program) for c in cells for f in folders]
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        parts = list(pool.map(draws_of, jobs))
    draws, differ = [d for part, _ in parts for d in part], [line for _, lines in parts for line in lines]
    out = csv.writer(sys.stdout, delimiter="\t")
    out.writerow(["plan", "planted", "draws", "wrong %", "found %", "told %", "open %", "naming %", "runs", "most"])
    for plan in ("one look, 5v5", "in stages"):
        for factor in cells:
            out.writerow([plan, *row([d for d in draws if d[:2] == (plan, factor)], factor)])
    if program:
        n = len(draws) // 2
        print(f"the command gives the same in {n - len(differ)} of {n} draws", *differ, sep="\n")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
