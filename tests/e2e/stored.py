#!/usr/bin/env python3
"""A stored baseline decides exactly as its traces would: the two reports are equal, byte for byte, in
every key but `baseline`. Several runs, several ranks, waivers, every preset, on the example traces; with
--corpus on every trace of ../shared/corpus and its pairs (skips where that is absent).
"""
import collections
import glob
import json
import os
import sys
import tempfile

import support
from support import CORPUS, DATED, TRACES, absent, fault, finish, write_text

PRESETS = {name: f"extends: ['tracegate:{name}']\n" for name in ("recommended", "counts-only", "advisory")}
PRESETS["waivers"] = """extends: ['tracegate:recommended']
waivers:
  - {rule: new-work, name: "aten::clone", ceiling: {abs: 2}, reason: r, expires: 2026-06-01}
  - {rule: new-work, name: "aten::empty_strided", ceiling: {abs: 1}, reason: r, expires: 2026-06-01}
  - {rule: slower, name: "aten::mkldnn_convolution", ceiling: {pct: 200%}, reason: r, expires: 2026-06-01}
  - {rule: slower, name: "aten::mm", ceiling: {pct: 200%}, reason: r, expires: 2025-12-30}
"""
EACH_RANK = PRESETS["recommended"] + ("rules: [{id: each, match: {kind: op, rank: each}, metric: count, "
                                      "direction: both, warn: {abs: 0}}]\n")
verdicts = collections.Counter()


class Repository(support.Repository):
    env = DATED

    def __init__(self, folder):
        super().__init__(folder)
        self.git("commit", "-q", "--allow-empty", "-m", "base")
        self.git("commit", "-q", "--allow-empty", "-m", "change")

    def record(self, suite, traces, how):
        run = self.run("baseline", "record", *traces, *how, "--suite", suite, "--commit", "HEAD~1")
        return run.returncode, run.stderr

    def policy(self, suite, text):
        write_text(f"{self.dir}/p.yml", f"version: 1\n{text}baseline: {{ref: parent}}\n"
                f"suites: [{{name: {suite}, trace: none.json, baseline: stored}}]\n")

    def alike(self, what, suite, base, test, how=()):
        """Checks against the store and against the traces; the two reports may differ in `baseline` only."""
        reports = []
        for side in ((), [a for b in base for a in ("--baseline", b)]):
            run = self.run("check", *test, *how, *side, "--policy", "p.yml", "--suite", suite, "--json", "-")
            try:
                report = json.loads(run.stdout, object_pairs_hook=collections.OrderedDict)
            except ValueError:
                fault(f"{what}: no report: {run.stderr}")
                return None
            reports.append((run.returncode, report.pop("baseline"), report))
        if (reports[0][1]["situation"], reports[1][1]["situation"]) != ("found", "path"):
            fault(f"{what}: compared with {reports[0][1]} and {reports[1][1]}")
        if reports[0][0] != reports[1][0]:
            fault(f"{what}: exit {reports[0][0]} stored, {reports[1][0]} from traces")
        for key in sorted(set(reports[0][2]) | set(reports[1][2])):
            if json.dumps(reports[0][2].get(key)) != json.dumps(reports[1][2].get(key)):
                fault(f"{what}: {key} differs")
        verdicts[reports[0][2]["verdict"]] += 1
        return reports[0][2]["verdict"]


def runs_of(variant, n=99):
    return sorted(glob.glob(f"{TRACES}/{variant}/*.gz"))[:n]


def ranks(tmp, variant, n, name):
    """n runs of two ranks, told by their names; the second rank is another recording."""
    folder = f"{tmp}/{name}"
    os.makedirs(folder, exist_ok=True)
    files = runs_of(variant)
    for run in range(n):
        for rank in (0, 1):
            os.symlink(files[2 * run + rank], f"{folder}/rank{rank}-run{run}.json.gz")
    return sorted(glob.glob(folder + "/*"))


def examples(tmp):
    r = Repository(tmp + "/r")
    for n in (1, 3, 15):
        if (got := r.record(f"runs{n}", runs_of("base", n), ("--runs",)))[0]:
            fault(f"record {n}: {got}")
    for preset, text in PRESETS.items():
        r.policy("runs15", text)
        for variant in ("extra_copy", "slower_op"):
            r.alike(f"15 runs, {variant}, {preset}", "runs15", runs_of("base"), runs_of(variant), ("--runs",))
    for n, variant in ((1, "lost_fusion"), (3, "added_sync")):
        r.policy(f"runs{n}", PRESETS["recommended"])
        r.alike(f"{n} runs, {variant}", f"runs{n}", runs_of("base", n), runs_of(variant, n), ("--runs",))
    base, test = ranks(tmp, "base", 3, "base"), ranks(tmp, "slower_op", 2, "test")
    if (got := r.record("ranks", base, ()))[0]:
        fault(f"record ranks: {got}")
    r.policy("ranks", EACH_RANK)
    r.alike("two ranks, three and two runs", "ranks", base, test)
    one_run(tmp, r)


def one_run(tmp, r):
    """--ranks: a trace's own rank counts; if one has none, the order of the paths does; never one rank twice. The
    file whose name begins with b copies more, on both sides: rank against rank passes, the ranks crossed fail."""
    def side(suite, name, names, run):
        folder = f"{tmp}/{suite}-{name}"
        os.makedirs(folder)
        for file, variant in zip(names, ("base", "extra_copy")):
            os.symlink(runs_of(variant)[run], f"{folder}/{file}.json.gz")
        return sorted(glob.glob(folder + "/*"))

    for suite, names in (("own", ("a-rank1", "b-rank0")), ("order", ("a", "b")), ("mixed", ("a-rank1", "b"))):
        base, test = side(suite, "base", names, 0), side(suite, "test", names, 1)
        if (got := r.record(suite, base, ("--ranks",)))[0]:
            fault(f"record {suite}: {got}")
        r.policy(suite, EACH_RANK)
        if (got := r.alike(f"--ranks, {suite}", suite, base, test, ("--ranks",))) != "pass":
            fault(f"--ranks, {suite}: {got}, wanted pass")
    r.policy("own", EACH_RANK)
    crossed = side("own", "crossed", ("a-rank0", "b-rank1"), 1)
    base = side("own", "again", ("a-rank1", "b-rank0"), 0)
    if r.alike("--ranks, crossed", "own", base, crossed, ("--ranks",)) == "pass":
        fault("--ranks, crossed: passes")
    code, err = r.record("twice", side("twice", "base", ("a-rank0", "b-rank0"), 0), ("--ranks",))
    if code != 2 or "rank 0 is there twice" not in err:
        fault(f"rank 0 twice with --ranks: exit {code}: {err}")


def corpus(tmp):
    r = Repository(tmp + "/r")
    hta = CORPUS + "/hta"
    sides = [([p], [p]) for p in sorted(glob.glob(CORPUS + "/**/*.json*", recursive=True)) if "manifest" not in p]
    sides += [(sorted(glob.glob(f"{hta}/{d}/{a}/*.gz")), sorted(glob.glob(f"{hta}/{d}/{b}/*.gz")))
              for d, a, b in (("trace_compare", "base", "test"), ("trace_diff", "control", "test"))]
    groups = collections.defaultdict(list)
    for path in sorted(glob.glob(CORPUS + "/**/*.gz", recursive=True)):
        groups[os.path.dirname(path)].append(path)
    sides += [(g, g) for g in groups.values() if len(g) > 1]
    for i, (base, test) in enumerate(sides):
        name = os.path.relpath(base[0], CORPUS) + ("" if len(base) == 1 else f" and {len(base) - 1} more")
        how = ("--ranks",) if len(base) > 1 else ()
        code, err = r.record(f"c{i}", base, how)
        if code and len(base) > 1:  # their ranks are in the traces, or they are not ranks of one run
            how = ()
            code, err = r.record(f"c{i}", base, how)
        if "not_a_trace" in name or code:
            if "not_a_trace" not in name and len(base) == 1:
                fault(f"record {name}: {err}")
            continue
        preset = "recommended" if base != test else list(PRESETS)[i % len(PRESETS)]
        r.policy(f"c{i}", PRESETS[preset])
        r.alike(f"{name}, {preset}", f"c{i}", base, test, how)


def main():
    whole = sys.argv[1:] == ["--corpus"]
    if whole and not os.path.isdir(CORPUS):
        absent("corpus")
    with tempfile.TemporaryDirectory() as tmp:
        (corpus if whole else examples)(tmp)
    want = {"fail", "warn"}  # a trace against itself: the baseline's own recording
    if not want <= set(verdicts):
        fault(f"the cases do not decide: {dict(verdicts)}")
    return finish(f"stored: {sum(verdicts.values())} pairs of reports, {dict(verdicts)}")


sys.exit(main())
