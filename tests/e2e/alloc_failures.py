#!/usr/bin/env python3
"""A failed allocation is never green: each of the first allocations of a check fails, and a seeded sample of the others, once
alone and once with all that follow. A regression is planted, in a git repository with a policy and three reports, so libyaml,
PCRE2, cJSON and libgit2 allocate, too. What must come out: the verdict (1), because that one was not needed, or 3 or 5 with a
message on standard error.

usage: alloc_failures.py LIBRARY [FIRST SAMPLE]
"""
import os
import random
import subprocess
import sys

from support import DATED, PROGRAM, Repository, check, expect, fault, read_text, run_parts
from plain_model import Work, usual, write_run

POLICY = """version: 1
extends: [tracegate:recommended]
suites: [{name: s, trace: {files: 'x/*.json', run: 'run(\\d+)'}, baseline: 'perf/*.json'}]
"""
REPORTS = ("r.json", "r.xml", "r.md")


def repository(folder):
    repo = Repository(folder)
    repo.write(".tracegate.yml", POLICY)
    repo.write(".gitignore", "x\n")
    write_run(f"{folder}/perf/run0.json", [usual()] * 3, 1)
    write_run(f"{folder}/x/run0.json", [usual() + [Work("aten::op4")]] * 3, 1001)
    repo.commit("base")
    repo.git("checkout", "-qb", "change")
    repo.commit()
    return repo


def run(repo, library, **env):
    for name in REPORTS:
        if os.path.exists(repo.path(name)):
            os.unlink(repo.path(name))
    return subprocess.run([PROGRAM, "check", "--json", "r.json", "--junit", "r.xml", "--markdown", "r.md", "--threads", "1"], cwd=repo.dir,
                          env=dict(DATED, TRACEGATE_BASE="main", LD_PRELOAD=library, **env), capture_output=True, text=True, timeout=120)


def main(tmp):
    library, first, sample = sys.argv[1], *(int(x) for x in (sys.argv[2:4] or (100, 40)))
    codes = {}
    repo = repository(tmp)
    control = run(repo, library, TG_FAIL_COUNT=repo.path("count"))
    expect(f"control: {control.stderr}", (control.returncode, control.stdout[:5]), (1, "FAIL:"))
    total = int(read_text(repo.path("count")))
    check("the library counts", total > first)
    at = list(range(1, first)) + sorted(random.Random(11).sample(range(first, total), sample))
    for n in at:
        for all_of_them in (False, True):
            got = run(repo, library, TG_FAIL_AT=str(n), **({"TG_FAIL_ALL": "1"} if all_of_them else {}))
            codes[got.returncode] = codes.get(got.returncode, 0) + 1
            what = f"allocation {n} of {total}{' and all that follow' if all_of_them else ''}"
            if got.returncode not in (1, 3, 5):
                fault(f"{what}: exit {got.returncode}: {got.stdout[:80]!r} {got.stderr[:120]!r}")
            elif got.returncode != 1 and not got.stderr.strip():
                fault(f"{what}: exit {got.returncode} without a word")
            elif got.returncode == 1 and not all(os.path.exists(repo.path(name)) for name in REPORTS):
                fault(f"{what}: a verdict without its reports")
    left = [name for name in os.listdir(tmp) if ".tg-" in name]
    expect("temporary files", left, [])
    expect("enough was seen", len(at) > 100, True)


run_parts(main)
