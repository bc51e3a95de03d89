#!/usr/bin/env python3
"""docs/nightly.md word by word, in a fresh clone: the commands of "A night" each night, a change in the fourth, the event and
the page, and the commands of "Events" that accept it. Commands are taken from the page; nothing else is typed but git's."""
import json
import os
import re
import shutil
import subprocess

from support import ENV, PROGRAM, ROOT, TRACES, check, expect, read_text, run_parts


def block(page, heading, word):
    """The commands of the first indented block under the heading that holds the word."""
    section = page[page.index(f"\n## {heading}\n"):]
    for text in re.findall(r"\n\n((?:    .*\n)+)", section):
        if word in text:
            return [line.strip() for line in text.splitlines()]
    return []


def main(tmp):
    page = read_text(f"{ROOT}/docs/nightly.md")
    night, accept = block(page, "A night", "baseline record"), block(page, "Events", "history accept")
    expect("the commands of a night", [c.split()[1] for c in night], ["baseline", "baseline", "baseline", "history"])
    expect("the commands that accept", [c.split()[1] for c in accept], ["history", "baseline"])
    env = dict(ENV, PATH=f"{os.path.dirname(PROGRAM)}:{ENV['PATH']}")
    repo = f"{tmp}/clone"
    def sh(command):
        return subprocess.run(["bash", "-c", command], cwd=repo, env=env, capture_output=True, text=True, timeout=100)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", f"{tmp}/hub.git"], env=env, check=True)
    subprocess.run(["git", "clone", "-q", f"{tmp}/hub.git", repo], env=env, check=True, capture_output=True)
    ids = []
    for k in range(5):
        # What the reader does: a commit, and its traces.
        sh(f"git checkout -q -B main && git commit -q --allow-empty -m 'night {k}' && git push -q origin main")
        shutil.rmtree(f"{repo}/out", ignore_errors=True)
        os.makedirs(f"{repo}/out")
        for r in range(2 if k >= 3 else 3):
            source = f"extra_copy/run0{2 * (k - 3) + r}" if k >= 3 else f"base/run0{3 * k + r}"
            shutil.copy(f"{TRACES}/{source}.json.gz", f"{repo}/out/run{r}.json.gz")
        for command in night:
            run = sh(command)
            want = 1 if command.startswith("tracegate history") and k == 3 else 0
            expect(f"night {k}: {command}: {run.stdout[-300:]}{run.stderr[-300:]}", run.returncode, want)
        told = json.loads(sh("tracegate history --format json --fail-on never").stdout)
        ids = [e["id"] for e in told["events"] if e["state"] == "open"]
        expect(f"night {k}: events", (len(told["nights"]), len(ids)), (k + 1, int(k >= 3)))
        for name in ("night.html", "night.md"):
            text = read_text(f"{repo}/{name}")
            check(f"night {k}: {name} has the event", all(i in text for i in ids) and len(text) > 50, text[:200])
    expect("an open event", sh("tracegate history --fail-on open").returncode, 1)
    for command in accept:
        run = sh(re.sub(r"accept \S+", f"accept {ids[0][:6]}", command))
        expect(f"{command}: {run.stderr}", run.returncode, 0)
    expect("nothing is open any more", sh("tracegate history --fail-on open").returncode, 0)
    # A fresh clone has all of it after the page's fetch.
    repo = f"{tmp}/fresh"
    subprocess.run(["git", "clone", "-q", f"{tmp}/hub.git", repo], env=env, check=True)
    expect("fresh clone: fetch", sh(night[1]).returncode, 0)
    told = json.loads(sh("tracegate history --format json").stdout)
    expect("fresh clone", (len(told["nights"]), [e["state"] for e in told["events"]]), (5, ["accepted"]))


run_parts(main)
