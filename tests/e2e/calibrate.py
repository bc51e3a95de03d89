#!/usr/bin/env python3
"""`tracegate calibrate`: what it predicts from one half of same-commit runs against what `tracegate check` does on
the other half, and the smallest slowdown it names against runs that really are slower. The limits it writes must
load and must end the false alarms they are about.
"""
import csv
import glob
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from support import ROOT, SHARED, expect, fault, read_json, read_text, run, run_parts, write_text

BASE = sorted(glob.glob(f"{ROOT}/examples/traces/base/run*.json.gz"))
MODELS = ["mlp", "cnn", "xfmr", "lstm"]
SLOWED = {"mlp": "demo::feature_norm", "cnn": "demo::augment", "xfmr": "demo::rotary_mix", "lstm": "demo::tokenize"}
DRIVER = [a for a in sys.argv[1:] if not a.startswith("-")]  # score_driver
CHECKS = 20  # held-out comparisons of each model and policy
# The built-in rule, and two that skip the proof: they are wrong often enough for a rate to be compared.
POLICIES = {
    "built-in": "extends: ['tracegate:recommended']",
    "bare 5 %": "rules: [{id: s, match: {kind: op}, metric: self, fail: {pct: 5%, abs: 0.1%step}, noise: {test: none}}]",
    "bare 20 %": "rules: [{id: s, match: {kind: op}, metric: self, fail: {pct: 20%, abs: 0.1%step}, noise: {test: none}}]",
}


def calibrate(traces, *args):
    code, out, err = run("calibrate", "--format", "json", *args, *traces)
    expect(f"calibrate {args}: {err}", code, 0)
    return json.loads(out) if code == 0 else {"false_alarms_per_100": math.nan, "ops": [], "alarms": []}


def check(base, test, policy=None):
    """Exit code and the names that failed."""
    args = ["check", "--runs", "--quiet", "--json", "-"]
    for path in base:
        args += ["--baseline", path]
    code, out, err = run(*args, *(["--policy", policy] if policy else []), *test, cwd="/")
    if code not in (0, 1):
        fault(f"check: exit {code}: {err}")
        return code, set()
    return code, {v["op"] for v in json.loads(out)["violations"]}


def measured(runs, policy, n, side, seed):
    """Failed comparisons among n random pairs of `side` against `side` runs."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(n):
        picked = rng.sample(runs, 2 * side)
        pairs.append((picked[:side], picked[side:]))
    with ThreadPoolExecutor(2) as pool:
        return sum(code for code, _ in pool.map(lambda p: check(*p, policy), pairs))


def held_out(tmp):
    """
    Predict from the even runs, measure on the odd ones, 3 against 3, all models together.

    Tolerance: 19 runs hold 3 disjoint pairs, four models 12. Comparisons that share runs tell little more than
    those, so each of the two rates is taken to have the error of 12 coin flips, and they may differ by two
    standard errors of their difference: 2 sqrt(2 p (1 - p) / 12), with p moved one flip off 0 and 1.
    """
    for name, text in POLICIES.items():
        path = f"{tmp}/{name.replace(' ', '').replace('%', '')}.yml"
        write_text(path, f"version: 1\n{text}\n")
        predicted = failed = 0
        for k, model in enumerate(MODELS):
            runs = sorted(glob.glob(f"{SHARED}/noise/cpu/{model}/aa/*.gz"))
            report = calibrate(runs[::2], "--side", "3", "--policy", path)
            predicted += report["false_alarms_per_100"] / 100 / len(MODELS)
            failed += measured(runs[1::2], path, CHECKS, 3, k)
        rate = failed / (CHECKS * len(MODELS))
        p = (12 * predicted + 1) / 14
        tolerance = 2 * math.sqrt(2 * p * (1 - p) / 12)
        print(f"{name}: predicted {predicted:.3f}, measured {rate:.3f}, tolerance {tolerance:.3f}")
        expect(f"{name}: |{predicted:.3f} - {rate:.3f}| within {tolerance:.3f}", abs(predicted - rate) <= tolerance, True)


def sizes():
    """
    The slowdown that calibrate says is found 9 times in 10, planted: predicted from the even runs, measured on random
    pairs of the odd ones, every operator of at least 1 % of the step. At least is what was reached.
    """
    for side, least in ((3, 0.94), (5, 0.95)):
        lines, wanted = [], {}
        for model in MODELS:
            runs = sorted(os.path.relpath(p, f"{SHARED}/noise") for p in glob.glob(f"{SHARED}/noise/cpu/{model}/aa/*.gz"))
            report = calibrate([f"{SHARED}/noise/{r}" for r in runs[::2]], "--splits", "1")
            rng = random.Random(f"{model}{side}")
            for o in report["ops"]:
                size = next(d["pct"] for d in o["detectable"] if d["runs"] == side)
                for _ in range(30 if o["share"] >= 0.01 and size is not None and size <= 150 else 0):
                    picked = rng.sample(runs[1::2], 2 * side)
                    name = f"p{len(lines)}"
                    wanted[name] = o["op"]
                    lines.append(f"{name}\t{'|'.join(picked[:side])}\t{'|'.join(picked[side:])}@{1 + size / 100}@{o['op']}\n")
        with tempfile.TemporaryDirectory() as tmp:
            subprocess.run([DRIVER[0], "--pairs", f"{SHARED}/noise", tmp], input="".join(lines), text=True, check=True)
            found = judged = 0
            for name, op in wanted.items():
                report = read_json(f"{tmp}/{name}.json")
                judged += not report["busy"]
                found += any(v["op"] == op for v in report["violations"])
        # The prediction is of pairs whose durations are judged: on a busy machine they are not, and the verdict says so.
        print(f"{side} runs a side, slowed by what is found 9 times in 10: {found} of {judged} judged, of {len(wanted)}")
        expect(f"{side} runs: {found} of {judged} found, at least {least}", found >= least * judged > 0, True)
        expect(f"{side} runs: {judged} of {len(wanted)} judged, at least 0.9", judged >= 0.9 * len(wanted), True)


def slowed():
    """
    Real slowdowns of one operator, 5 against 5; sizes are those measured over all runs (truth.csv, measured_pct).
    dur_custom_50 (+50 to +66 %) is at least 1.5 times what calibrate says is found 9 times in 10: so must it be. Runs are drawn in
    the order of their hashes, which moves the size of a name of two speeds: demo::rotary_mix of xfmr is found from 36 or from 41 % on.
    dur_custom_5 (+6 to +9 %) is a third of it and less, and lies around the 8 % that the rule asks for at all: it may be found
    now and then, but not in more than 2 of 3.
    """
    for percent, least, most in ((50, 0.9, 1), (5, 0, 0.67)):
        found = n = 0
        for model in MODELS:
            aa = sorted(glob.glob(f"{SHARED}/noise/cpu/{model}/aa/*.gz"))
            slow = sorted(glob.glob(f"{SHARED}/noise/cpu/{model}/dur_custom_{percent}/*.gz"))
            if percent == 50:
                op = next(o for o in calibrate(aa)["ops"] if o["op"] == SLOWED[model])
                size = next(d["pct"] for d in op["detectable"] if d["runs"] == 5)
                with open(f"{SHARED}/noise/truth.csv", newline="", encoding="utf-8") as f:
                    measured = next(float(r["measured_pct"]) for r in csv.DictReader(f)
                                    if (r["model"], r["variant"]) == (model, f"dur_custom_{percent}"))
                expect(f"{model}: {SLOWED[model]} is found from 8 to {measured / 1.5:.1f} % on, says calibrate: {size:.0f}",
                       8 <= size <= measured / 1.5, True)
            rng = random.Random(percent)
            pairs = [(rng.sample(aa, 5), slow[:i] + slow[i + 1:6]) for i in range(6)]
            with ThreadPoolExecutor(2) as pool:
                found += sum(SLOWED[model] in ops for _, ops in pool.map(lambda p: check(*p), pairs))
            n += len(pairs)
        print(f"+{percent} %: found {found} of {n}")
        expect(f"+{percent} %: {found} of {n} found", least <= found / n <= most, True)


def examples(tmp):
    """
    The repository's own 15 runs: one disjoint pair a half, so only what is all or nothing can be compared: among
    dozens of operators one is always slower by something; nothing is by as much as the built-in rule asks for.
    """
    for name, low, high in (("built-in", 0, 10), ("bare 0.01 %", 90, 100)):
        path = f"{tmp}/e.yml"
        write_text(path, "version: 1\n" + (POLICIES["built-in"] if name == "built-in" else
                                  POLICIES["bare 5 %"].replace("5%, abs: 0.1%step", "0.01%, abs: 1ns")) + "\n")
        predicted = calibrate(BASE[::2], "--policy", path)["false_alarms_per_100"]
        rate = 100 * measured(BASE[1::2], path, 20, 3, 1) / 20
        expect(f"examples, {name}: predicted {predicted:.1f}, measured {rate:.1f}, both from {low} to {high}",
               low <= predicted <= high and low <= rate <= high, True)


def limits(tmp, traces, what):
    """The YAML loads, and with it the alarms of the same comparisons fall."""
    code, text, _ = run("calibrate", "--format", "yaml", "--policy", "p.yml", "--side", "3", *traces, cwd=tmp)
    write_text(f"{tmp}/limits.yml", text)
    code, out, err = run("policy", "lint", "--policy", "limits.yml", cwd=tmp)
    expect(f"{what}: limits load: {out}{err}{text}", code, 0)
    before = calibrate(traces, "--policy", f"{tmp}/p.yml", "--side", "3")["false_alarms_per_100"]
    after = calibrate(traces, "--policy", f"{tmp}/limits.yml", "--side", "3")["false_alarms_per_100"]
    print(f"{what}: {before:.1f} before, {after:.1f} with the limits")
    expect(f"{what}: evidence stands beside each limit", text.count("# noise") >= text.count("- match:"), True)
    return before, after, text


def main(tmp):
    write_text(f"{tmp}/p.yml", "version: 1\n" + POLICIES["bare 5 %"] + "\n")
    before, after, text = limits(tmp, BASE, "examples")
    # Limits lie above the largest change of these very comparisons, so none of them can fail.
    expect(f"examples: alarms with the limits (before: {before})", after, 0)
    report = calibrate(BASE)
    expect("twice the same, in any order", calibrate(BASE[::-1]), report)
    expect("15 runs: 5 against 5, 200 comparisons, 1 disjoint pair",
           [report[k] for k in ("runs", "side", "comparisons", "disjoint_pairs")], [15, 5, 200, 1])
    # 6 runs: C(6, 3) = 20 pairs of sides, each once
    expect("6 runs", [calibrate(BASE[:6])[k] for k in ("side", "comparisons")], [3, 20])
    expect("5 runs are too few", run("calibrate", *BASE[:5])[0], 2)
    expect("sides larger than half", run("calibrate", "--side", "8", *BASE)[0], 2)
    code, out, _ = run("calibrate", *BASE)
    expect(f"text: {out}", (code, "expected false alarms: " in out, "aten::mkldnn_convolution" in out), (0, True, True))
    found = [f["per_100"] for f in report["ab"]["found"]]
    expect(f"numbers of as many digits as they have {found}", found, [round(x, 6) for x in found])
    expect(f"asking again {report['ab']}", (found == sorted(found), 5 <= report["ab"]["runs"] <= 17, "tracegate ab, played on" in out), (True,) * 3)
    # A verdict in stages quotes what the layer has; without it, what other models gave.
    for side, traces in (("b", BASE[:5]), ("f", BASE[5:10])):
        os.makedirs(f"{tmp}/{side}")
        for t in traces:
            shutil.copy(os.path.join(ROOT, t), f"{tmp}/{side}")
    for policy, words in (("limits.yml", "Measured by `tracegate calibrate` on 15 runs"), ("p.yml", "On recorded CPU models")):
        said = run("check", "f", "--baseline", "b", "--runs", "--ask", "ask", "--policy", policy, cwd=tmp)
        expect(f"{policy}: {said}", words in " ".join(said[1].split()), True)
    loose = POLICIES["bare 5 %"].replace("5%", "1000%")
    write_text(f"{tmp}/p.yml", "version: 1\n" + loose + "\n")
    _, _, text = limits(tmp, BASE, "1000 %")
    code, out, _ = run("selftest", "--policy", "limits.yml", *BASE, cwd=tmp)
    expect(f"what survived at 1000 % fails with the limits: {out}{text}", code, 0)
    examples(tmp)
    example = read_text(f"{ROOT}/docs/calibrate.md").split("```console\n")[1].split("```")[0]
    shown = run("calibrate", *BASE, "--format", "yaml", cwd=ROOT)[1]
    # The form, not the digits: the rule may be tuned without this page.
    plain = [re.sub(r"[0-9]+(\.[0-9]+)?", "N", t) for t in (example.split("\n", 1)[1], shown)]
    expect("the example of docs/calibrate.md", plain[0], plain[1])
    if "--quick" in sys.argv:
        pass
    elif os.path.isdir(f"{SHARED}/noise/cpu"):
        write_text(f"{tmp}/p.yml", "version: 1\n" + POLICIES["bare 5 %"] + "\n")
        before, after, _ = limits(tmp, sorted(glob.glob(f"{SHARED}/noise/cpu/mlp/aa/*.gz")), "mlp")
        expect("mlp: many alarms before", before > 40, True)
        held_out(tmp)
        slowed()
        if DRIVER:
            sizes()
    else:
        print("no shared/noise: held-out pairs of the examples only")


run_parts(main)
