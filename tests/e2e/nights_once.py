#!/usr/bin/env python3
"""A slower time that the history has not proven yet fails in one night, not in every night. Nine nights of three runs:
too few for the history. op03 takes 1.3 times as long from night 5 on; the nights are told from 1 on, so that is night 6."""
import datetime
import os
import re

import nights
from nights import RUNS, Repository, on, write_trace
from support import check, read_json, read_text, run_parts, write_text

SLOW, FACTOR, FIRST = "demo::op03", 1.3, 5
POLICY = ("version: 1\nbaseline: {ref: %s}\nfail_on: [%s]\nsuites: [{name: default, trace: {files: 'r?.json.gz', run: 'r([0-9])'}}]\n"
          "rules:\n  - {id: slower, match: {kind: op}, metric: self, fail: {pct: 8%%, abs: 1us}, noise: {test: none}}\n%s")
WAIVER = "waivers:\n  - {rule: slower, name: 'demo::op03', ceiling: {pct: 60%%}, reason: later, owner: me, expires: %s}\n"


class Nights(Repository):
    def traces(self, night, planted):
        nights.STEP.clear()
        nights.STEP.update({SLOW: (FIRST, FACTOR)}, **planted)
        for r in range(RUNS):
            write_trace(os.path.join(self.dir, f"r{r}.json.gz"), night, 10 + r)

    def judge(self, night, ref, fail_on="fail", waiver="", **planted):
        """A check of the checked-out commit as that night's: exit code, operators that fail, evidence of those that warn."""
        self.traces(night, planted)
        write_text(os.path.join(self.dir, "p.yml"), POLICY % (ref, fail_on, waiver))
        run = self.run("check", "--policy", "p.yml", "--meta", "cpu=a", "--json", "out.json", "--quiet")
        report = read_json(os.path.join(self.dir, "out.json"))
        return run.returncode, sorted(x["op"] for x in report["violations"]), {x["op"]: x["evidence"] for x in report["warnings"]}

    def at(self, night, *args, **more):
        self.git("checkout", "-q", "--detach", self.sha[night])
        told = self.judge(night, *args, **more)
        self.git("checkout", "-q", "-f", "main")
        return told


def expect(what, told, fails, warns=()):
    """Nothing but `fails` fails; `warns`: operators that warn, and since which night."""
    code, failed, warned = told
    check(f"{what}: fails", (code, failed) == (1 if fails else 0, sorted(fails)), (code, failed, warned))
    for op, since in dict(warns).items():
        check(f"{what}: {op} warns", since in warned.get(op, ""), warned)
    if not warns:
        check(f"{what}: nothing is known", not any("since night" in w for w in warned.values()), warned)


def since(repo, night):
    date = datetime.datetime.fromtimestamp(1780000000 + 86400 * night, datetime.timezone.utc)
    return f"since night {night + 1} ({date:%Y-%m-%d}), commit {repo.sha[night][:12]}, open"


def check_main(repo, refs):
    known = {SLOW: since(repo, FIRST)}
    for ref in refs:
        expect(f"{ref}: the night before", repo.at(FIRST - 1, ref), [])
        expect(f"{ref}: the night that shows it", repo.at(FIRST, ref), [SLOW])
        expect(f"{ref}: the night after", repo.at(FIRST + 1, ref), [], known)
        expect(f"{ref}: two nights after", repo.at(FIRST + 2, ref), [], known)
        expect(f"{ref}: `open` fails", repo.at(FIRST + 1, ref, "fail, open"), [SLOW])
        expect(f"{ref}: more than it was", repo.at(FIRST + 1, ref, **{SLOW: (FIRST, FACTOR * 1.2)}), [SLOW])
        expect(f"{ref}: another operator", repo.at(FIRST + 1, ref, **{"demo::op07": (FIRST + 1, 1.3)}), ["demo::op07"], known)
        expect(f"{ref}: a waiver that ended", repo.at(FIRST + 1, ref, waiver=WAIVER % "2026-01-01"), [SLOW])
        expect(f"{ref}: one in force", repo.at(FIRST + 1, ref, waiver=WAIVER % "2026-12-01"), [])
        expect(f"{ref}: it went and came back", repo.at(FIRST + 1, ref, **{SLOW: (FIRST, 1.0)}), [])


def check_parent(repo):
    """Against the night before, what it has as well passes, and the same again on top of it fails."""
    expect("merge-base: the night after", repo.at(FIRST + 1, "merge-base"), [])
    expect("merge-base: as much again", repo.at(FIRST + 1, "merge-base", **{SLOW: (FIRST, FACTOR ** 2)}), [SLOW])


def check_trend(repo):
    """What the failing operator took in the nights before, at most ten: five of 1, in the comment, the terminal and JSON."""
    repo.git("checkout", "-q", "--detach", repo.sha[FIRST])
    repo.traces(FIRST, {})
    write_text(os.path.join(repo.dir, "p.yml"), POLICY % ("release(v*)", "fail", ""))
    run = repo.run("check", "--policy", "p.yml", "--meta", "cpu=a", "--json", "out.json", "--markdown", "c.md")
    repo.git("checkout", "-q", "-f", "main")
    result = read_json(os.path.join(repo.dir, "out.json"))["violations"][0]
    values = result.get("nights_ns", [])
    check("trend: nights before the change", len(values) == FIRST, values)
    check("trend: all as long as the baseline", all(abs(v / result["baseline"] - 1) < 0.05 for v in values), (values, result["baseline"]))
    for where, text in (("terminal", run.stdout), ("comment", read_text(os.path.join(repo.dir, "c.md")))):
        said = re.search(r"before\s+([\u2581-\u2588]{5}) [\d.]+ to [\d.]+.[\u00b5u]s in 5 nights, by the", text.replace("\u00a0", " "))
        check(f"trend: {where}", said, text)


def record(repo, sha):
    run = repo.run("baseline", "record", "--commit", sha, "--runs", "--meta", "cpu=a", *(f"r{r}.json.gz" for r in range(RUNS)))
    assert run.returncode == 0, run.stderr


def check_branch(repo, refs):
    """Commits of a change never count as nights, whatever is stored at them."""
    repo.git("checkout", "-q", "-b", "change", repo.sha[FIRST - 1])
    for k in range(2):
        repo.git("commit", "-q", "--allow-empty", "-m", f"commit {k} of the change", env=on(1790000000))
        for ref in refs:
            expect(f"{ref}: commit {k} of a branch", repo.judge(FIRST + k, ref), [SLOW])
        repo.traces(FIRST + k, {})
        record(repo, repo.git("rev-parse", "HEAD"))
    repo.git("checkout", "-q", "-b", "innocent", repo.sha[FIRST + 1])
    repo.git("commit", "-q", "--allow-empty", "-m", "a change of nothing", env=on(1790000000))
    for ref in refs:
        expect(f"{ref}: a branch after it", repo.judge(FIRST + 2, ref), [], {SLOW: since(repo, FIRST)})
    repo.git("checkout", "-q", "-f", "main")


def check_again(repo, refs):
    """What got slower once more failed in that night, and is known since then."""
    slower = {SLOW: (FIRST, FACTOR * 1.3)}
    for k in (FIRST + 3, FIRST + 4):
        repo.sha.append(None)
        repo.git("commit", "-q", "--allow-empty", "-m", f"night {k}", env=on(1780000000 + 86400 * k))
        repo.sha[k] = repo.git("rev-parse", "HEAD")
        told = {ref: repo.judge(k, ref, **slower) for ref in refs}
        for ref in refs:
            expect(f"{ref}: once more, night {k}", told[ref], [SLOW] if k == FIRST + 3 else [],
                   {} if k == FIRST + 3 else {SLOW: since(repo, FIRST + 3)})
        repo.traces(k, slower)
        record(repo, repo.sha[k])


def main(folder):
    repo = Nights(folder)
    write_text(os.path.join(folder, ".gitignore"), "r?.json.gz\np.yml\nout.json\nc.md\n")
    nights.STEP.clear()
    nights.STEP[SLOW] = (FIRST, FACTOR)
    for k in range(FIRST + 3):
        repo.night(k)
        if k == 1:
            repo.git("tag", "v1")
    refs = ("window(6)", "release(v*)", repo.sha[1])
    check_main(repo, refs)
    check_parent(repo)
    check_trend(repo)
    check_branch(repo, refs)
    check_again(repo, refs[1:])


run_parts(main)
