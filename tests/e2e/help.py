#!/usr/bin/env python3
"""Each command is in a group of `--help` and has two examples, which run unchanged in a repository with perf/, out/
and base/ (the guides' one), a suite `train` and a stored baseline. Only the examples of ab and bisect are not run: they measure.
"""
import re
import subprocess

from guides import prepare
from support import ENV, check, expect, run_parts, tracegate, write_text

POLICY = "version: 1\nextends: [tracegate:recommended]\n" \
    "suites: [{name: train, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/run*.json.gz'}]\n"
# An example stops with 1 where its traces have the needless copy; all others do their work.
STOPS = ("check ",)
ORDER = ["summarize", "merge", "baseline"]  # what others need comes first; init, which writes, comes last


def of_folders(command, env, cwd):
    """The line of the text above the options that is about a folder, which holds five runs."""
    text = tracegate(command, "--help", env=env, cwd=cwd).stdout
    return [x.strip() for x in text.split("\nexamples")[0].splitlines() if x.startswith("  tracegate ") and " out/" in x]


def examples(command, env, cwd):
    text = tracegate(command, "--help", env=env, cwd=cwd).stdout
    part = re.search(r"^examples\n((?:  tracegate .*\n)+)", text, re.M)
    return [x.strip() for x in part[1].splitlines()] if part else []


def main(tmp):
    overview = tracegate("--help").stdout
    groups = overview.split("\nexit codes")[0].split("start here")[0]
    commands = re.findall(r"^  ([a-z]+) {2,}\S", groups, re.M)
    check("the groups", all(f"\n{g}\n" in groups for g in ("set up", "judge", "look", "files and help")))
    check("no command twice", len(commands) == len(set(commands)) and len(commands) >= 14)
    commands.sort(key=lambda c: (c == "init", ORDER.index(c) if c in ORDER else 9))
    ran = 0
    prepare(tmp, "extra_copy")
    env = dict(ENV, PATH=tmp + "/bin:" + ENV["PATH"])
    for line in ("tracegate summarize base/run0.json.gz -o run0.tgs", "tracegate summarize base/run1.json.gz -o run1.tgs",
                 "git commit -qm again --allow-empty", "git update-ref refs/remotes/origin/main HEAD"):
        subprocess.run(line.split(), cwd=tmp, env=env, check=True)
    write_text(tmp + "/.tracegate.yml", POLICY)
    for command in commands:
        lines = examples(command, env, tmp)
        expect(f"{command}: two examples", (len(lines), len(set(lines))), (2, 2))
        for line in lines + (of_folders(command, env, tmp) if command in ("diff", "analyze") else []):
            expect(f"{line}: its own command", line.split()[1], command)
            if command in ("ab", "bisect"):
                continue
            run = subprocess.run(["bash", "-c", line], cwd=tmp, env=env, capture_output=True, text=True)
            want = 1 if line.startswith(tuple("tracegate " + s for s in STOPS)) else 0
            expect(f"{line}: exit; {run.stdout[-300:]} {run.stderr[-500:]}", run.returncode, want)
            ran += 1
    expect("enough was seen", ran >= 26, True)


run_parts(main)
