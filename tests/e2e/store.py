#!/usr/bin/env python3
"""`tracegate baseline` and `check` against remotes that are real bare repositories with hooks: what
is recorded on one machine decides on another. The tables have the expected outcomes; see
docs/baselines.md, "The store".
"""
import json
import os
import shutil
import subprocess

import support
from support import DATED as ENV
from support import PROGRAM, TRACES, expect, expect_end, expect_has, fault, read_json, run_parts, write_text

POLICY = """version: 1
suites:
  - name: train
    trace: {files: "out/run*.json.gz", run: 'run(\\d+)'}
    baseline: stored
rules:
  - {id: new-work, match: {kind: op}, metric: count, fail: {abs: 0}}
  - {id: slower, match: {kind: op}, metric: self, fail: {pct: auto}}
"""
PREFIX = "refs/tracegate/v1/"
BASE, HEAD = ("00", "01", "02"), ("10", "11", "12")


def trace(variant, run):
    return f"{TRACES}/{variant}/run{run}.json.gz"


class Clone(support.Clone):
    env = ENV

    def baseline(self, *args, env=None):
        return self.run("baseline", *args, env=env)

    def ok(self, *args, env=None):
        run = self.baseline(*args, env=env)
        if run.returncode:
            fault(f"baseline {args}: exit {run.returncode}: {run.stderr}")
        return run.stdout

    def refs(self, suite="train"):
        return sorted(self.git("for-each-ref", "--format=%(refname)", PREFIX + suite).split())

    def commit(self, message, day=1):
        date = {"GIT_AUTHOR_DATE": f"2026-01-{day:02}T00:00:00Z", "GIT_COMMITTER_DATE": f"2026-01-{day:02}T00:00:00Z"}
        self.git("commit", "-q", "--allow-empty", "-m", message, env=date)
        return self.git("rev-parse", "HEAD")

    def fresh(self, variant="base", runs=HEAD):
        shutil.rmtree(os.path.join(self.dir, "out"), ignore_errors=True)
        os.makedirs(os.path.join(self.dir, "out"))
        for run in runs:
            shutil.copyfile(trace(variant, run), os.path.join(self.dir, f"out/run{run}.json.gz"))

    def check(self, *args, env=None):
        report = os.path.join(self.dir, "r.json")
        if os.path.exists(report):
            os.remove(report)
        run = self.run("check", "--json", "r.json", *args, env=env)
        return run, read_json(report) if os.path.exists(report) else None


def server(tmp, commits=3):
    """A bare repository, its address, and a clone that pushed `commits` commits of main."""
    bare = tmp + "/server.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], env=ENV, check=True)
    url = "file://" + bare
    w = Clone(tmp + "/w")
    subprocess.run(["git", "init", "-q", "-b", "main", w.dir], env=ENV, check=True)
    w.git("remote", "add", "origin", url)
    w.write(".tracegate.yml", POLICY)
    w.write(".gitignore", "out/\nr.json\n")
    w.git("add", "-A")
    for i in range(commits):
        w.commit(f"commit {i}", i + 1)
    w.git("push", "-q", "origin", "main")
    return Clone(bare), url, w


def clone(url, folder, *args):
    subprocess.run(["git", "clone", "-q", *args, url, folder], env=ENV, check=True, capture_output=True)
    return Clone(folder)


def branch(c):
    c.git("checkout", "-q", "-b", "change")
    return c.commit("change", 20)


# ---- what is recorded ------------------------------------------------------------------------------

def recorded(tmp):
    """That a stored baseline decides as its traces would: stored.py."""
    bare, url, w = server(tmp)
    w.ok("record", *[trace("base", r) for r in BASE])
    w.ok("push")
    expect("three runs", len(bare.refs()), 3)
    # A summary is recorded as its trace would be.
    for r in BASE:
        w.run("summarize", trace("base", r), "-o", f"{tmp}/{r}.tgs")
    expect_has("summaries are the same runs", w.ok("record", *[f"{tmp}/{r}.tgs" for r in BASE]), "same ")
    expect("nothing was added", len(w.refs()), 3)
    # The runs of a commit as one side elsewhere.
    out = w.ok("show", "-o", tmp + "/all.tgs")
    expect_has("show", out, "stored:train/", "rank none", "device ")
    expect("diff of the union", w.run("diff", tmp + "/all.tgs", tmp + "/all.tgs", "--runs").returncode, 0)
    expect("diff REV", w.run("diff", "HEAD", tmp + "/all.tgs", "--runs").returncode, 0)


# ---- which baseline is found -------------------------------------------------------------------

def found(tmp):
    """(where runs are stored, what check says): the judged branch leaves main at its tip, 'main~1' is its parent."""
    table = [
        # stored at,      verdicts,           situation,   walked, exit
        (["main"],        {"pass", "warn"},   "found",     0,      0),
        (["main~1"],      {"pass", "warn"},   "gap",      1,      0),
        # main has a policy: whoever renames the suite or deletes the store gets no first run
        (["side"],        {"inconclusive"},   "lost",      None,   4),
        ([],              {"inconclusive"},   "lost",      None,   4),
        (["main~4"],      {"inconclusive"},   "lost",      None,   4),
    ]
    bare, url, w = server(tmp, 6)
    w.write(".tracegate.yml", POLICY + "baseline: {max_walk: 2}\n")
    w.git("commit", "-qam", "short walk")
    w.git("checkout", "-q", "-b", "side", "main~5")
    w.commit("side", 9)
    w.git("checkout", "-q", "main")
    w.git("push", "-q", "origin", "main", "side")
    for i, (places, verdicts, situation, walked, code) in enumerate(table):
        for ref in w.refs():
            w.git("push", "-q", "origin", ":" + ref)
            w.git("update-ref", "-d", ref)
        for place in places:
            w.ok("record", "--commit", place, *[trace("base", r) for r in BASE])
            w.ok("push", "--commit", place)
        c = clone(url, f"{tmp}/c{i}")
        branch(c)
        c.fresh()
        c.ok("fetch")
        run, report = c.check()
        expect(f"{places}: exit", run.returncode, code)
        if report is None:
            fault(f"{places}: no report: {run.stderr}")
            continue
        expect(f"{places}: verdict", report["verdict"] in verdicts, True)
        expect(f"{places}: situation", report["baseline"]["situation"], situation)
        if walked is not None:
            expect(f"{places}: walked", report["baseline"]["walked"], walked)
    # REV as a side: that commit's stored runs, though the walk would not reach them.
    run, report = c.check("--baseline", "origin/main~4")
    expect("REV: exit", run.returncode, 0)
    expect("REV: commit", report["baseline"]["commit"], w.git("rev-parse", "main~4"))
    run, report = c.check("--baseline", "origin/side")
    expect("REV without anything: exit", run.returncode, 4)


def cut_history(tmp):
    """Checkouts as actions/checkout makes them: (depth, where runs are stored, exit, what it says)."""
    table = [
        (2, "main",   0, "found"),
        (2, "main~1", 0, "gap"),     # fetch deepens the clone by itself
        (2, None,     4, "this is not a first run"),
        (1, "main",   3, "fetch-depth"),
    ]
    bare, url, w = server(tmp, 4)
    branch(w)
    w.git("checkout", "-q", "main")
    w.git("merge", "-q", "--no-ff", "-m", "Merge 2 into 1", "change")
    merge = w.git("rev-parse", "HEAD")
    w.git("reset", "-q", "--hard", "HEAD^1")
    w.git("push", "-q", "origin", f"{merge}:refs/pull/7/merge")
    ci = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": merge,
          "GITHUB_BASE_REF": "main"}
    for i, (depth, place, code, says) in enumerate(table):
        for ref in w.refs():
            w.git("push", "-q", "origin", ":" + ref)
            w.git("update-ref", "-d", ref)
        if place:
            w.ok("record", "--commit", place, *[trace("base", r) for r in BASE])
            w.ok("push", "--commit", place)
        c = Clone(f"{tmp}/c{i}")
        subprocess.run(["git", "init", "-q", c.dir], env=ENV, check=True, capture_output=True)
        c.git("remote", "add", "origin", url)
        c.git("fetch", "-q", "--no-tags", f"--depth={depth}", "origin", "+refs/pull/7/merge:refs/remotes/pull/7/merge")
        c.git("checkout", "-q", "--detach", "refs/remotes/pull/7/merge")
        c.fresh()
        fetched = c.baseline("fetch", env=ci)
        run, report = c.check(env=ci)
        what = f"depth {depth}, {place}"
        expect(f"{what}: exit", run.returncode, code)
        if code:
            expect_has(f"{what}: fetch says", fetched.stderr, says if code == 3 else "")
            expect_has(f"{what}: check says", run.stderr, says)
        else:
            expect(f"{what}: fetch", (fetched.returncode, fetched.stderr), (0, ""))
            expect(f"{what}: situation", report["baseline"]["situation"], says)
        expect(f"{what}: the clone is sound", subprocess.run(["git", "fsck", "--connectivity-only"], cwd=c.dir, env=ENV,
                                                           capture_output=True).returncode, 0)


def merge_queue(tmp):
    """A queued commit is tested and recorded before it lands; when main moves to it, it is the baseline."""
    bare, url, w = server(tmp)
    base = w.git("rev-parse", "main")
    w.ok("record", *[trace("base", r) for r in BASE])
    w.ok("push")
    w.git("checkout", "-q", "-b", "queue")
    queued = w.commit("pr 7 in the queue", 10)
    w.git("push", "-q", "origin", "queue:refs/heads/gh-readonly-queue/main/pr-7")
    c = clone(url, tmp + "/c", "--branch", "gh-readonly-queue/main/pr-7")
    c.fresh()
    write_text(tmp + "/event.json", json.dumps({"merge_group": {"base_sha": base}}))
    for named in ({"GITHUB_EVENT_PATH": tmp + "/event.json"}, {"TRACEGATE_BASE_SHA": base}):
        ci = {"GITHUB_EVENT_NAME": "merge_group", "GITHUB_SHA": queued, **named}
        c.ok("fetch", env=ci)
        run, report = c.check(env=ci)
        expect(f"queue: baseline by {list(named)}", (report["baseline"]["commit"], report["baseline"]["how"]), (base, "base of the merge queue"))
        expect("queue: exit", run.returncode, 0)
    c.ok("record", env=ci)
    c.ok("push", env=ci)
    w.git("push", "-q", "origin", "queue:main")
    later = clone(url, tmp + "/later")
    branch(later)
    later.fresh("base", BASE)
    later.ok("fetch")
    run, report = later.check()
    expect("landed: baseline", (report["baseline"]["commit"], report["baseline"]["situation"]), (queued, "found"))


def pushes(tmp):
    """A push of two commits to main is compared with what was before both, which the event's file names."""
    _, _, w = server(tmp, 3)
    w.ok("record", "--commit", "main~2", *[trace("base", r) for r in BASE])
    w.ok("record", "--commit", "main~1", *[trace("extra_copy", r) for r in BASE[:2]])
    w.fresh("extra_copy", ("02", "03", "04"))
    shas = [w.git("rev-parse", f"main~{k}") for k in range(3)]
    for what, event, of, code, words in (
            ("both", json.dumps({"before": shas[2]}), shas[2], 1, ""), ("the last", json.dumps({"before": shas[1]}), shas[1], 0, ""),
            ("a new branch", json.dumps({"before": "0" * 40}), shas[1], 0, ""), ("no such commit", json.dumps({"before": "1" * 40}), shas[1], 0, ""),
            ("no commit", json.dumps({"before": "main~2"}), shas[1], 0, ""), ("no JSON", "{", shas[1], 0, "the event's file says no commit"),
            ("no file", None, shas[1], 0, "the event's file says no commit")):
        path = f"{tmp}/{what}.json"
        if event:
            write_text(path, event)
        run, report = w.check(env={"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": shas[0], "GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_PATH": path})
        expect(f"push, {what}: {run.stderr}", (report["baseline"]["commit"], run.returncode, words in run.stderr), (of, code, True))


# ---- writers -----------------------------------------------------------------------------------

def writers(tmp):
    """Six at once, a hook that holds each push back: every run is there, none twice."""
    bare, url, w = server(tmp)
    hook = bare.dir + "/hooks/pre-receive"
    write_text(hook, "#!/bin/sh\nsleep 0.2\ncat >> " + tmp + "/pushed\n")
    os.chmod(hook, 0o755)
    runs = ["00", "01", "02", "03", "04", "05"]
    jobs = []
    for i, run in enumerate(runs):
        c = clone(url, f"{tmp}/c{i}")
        # Each its own run, and one run that all of them have: a retried job.
        c.ok("record", trace("base", run), trace("base", "10"), "--runs")
        jobs.append(subprocess.Popen([PROGRAM, "baseline", "push"], cwd=c.dir, env=ENV, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True))
    said = [(j.communicate(timeout=120), j.returncode) for j in jobs]
    expect("writers: exits", [code for _, code in said], [0] * 6)
    for (out, err), code in said:
        if code:
            fault(f"writer: {out} {err}")
    refs = bare.refs()
    expect("writers: refs", len(refs), 7)
    expect("writers: contents", len({bare.git("rev-parse", r) for r in refs}), 7)
    w.ok("fetch", "--commit", "main")
    expect("writers: all come back", w.refs(), refs)
    # A repeated job: nothing new. One with another trace: one run more.
    w.ok("record", trace("base", "00"))
    expect_has("repeated", w.ok("push"), "pushed 0 runs", "7 there already")
    w.ok("record", trace("base", "11"))
    expect_has("one more", w.ok("push"), "pushed 1 run ")
    expect("eight runs", len(bare.refs()), 8)
    c = clone(url, tmp + "/judge")
    branch(c)
    c.fresh("base", ("12", "13", "14"))
    c.ok("fetch")
    run, report = c.check()
    expect("all runs are used", report["environment"]["runs"], [8, 3])


def refusals(tmp):
    """(what is in the way, exit, words of the message, pushes that reached the server)"""
    bare, url, w = server(tmp)
    w.write("empty.json", '{"schemaVersion": 1, "traceEvents": []}')
    expect_end("no events", w.baseline("record", "empty.json"), 3, err=("1 of 1 traces hold no events",))
    expect("no events: nothing is stored", w.refs(), [])
    w.ok("record", trace("base", "00"))
    hook = bare.dir + "/hooks/pre-receive"
    log = tmp + "/log"
    write_text(hook, f"#!/bin/sh\necho x >> {log}\necho 'GL-123: refs/tracegate is protected by ops' >&2\nexit 1\n")
    os.chmod(hook, 0o755)
    expect_end("protected", w.baseline("push"), 3,
               err=("GL-123: refs/tracegate is protected by ops", "pre-receive hook declined", "contents: write"))
    expect("protected: tried once", len(open(log).read().split()), 1)
    expect("protected: nothing there", bare.refs(), [])
    os.remove(hook)
    # A lock that somebody left: tried again, bounded; then it goes through.
    lock = f"{bare.dir}/{w.refs()[0]}.lock"
    os.makedirs(os.path.dirname(lock))
    open(lock, "w").close()
    job = subprocess.Popen([PROGRAM, "baseline", "push"], cwd=w.dir, env=ENV, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    try:
        job.communicate(timeout=0.3)
    except subprocess.TimeoutExpired:
        pass
    os.remove(lock)
    out, err = job.communicate(timeout=60)
    expect("locked: exit", (job.returncode, err), (0, ""))
    expect("locked: there", bare.refs(), w.refs())
    for args, code, part in (
            (("push", "--remote", "nowhere"), 3, "git remote -v"),
            (("push", "--remote", "--upload-pack=x"), 2, "cannot be the name"),
            (("fetch", "--remote", "file:///nonesuch.git"), 3, "nonesuch"),
            (("push", "--commit", "main~1"), 4, "nothing is stored"),
            (("show", "--commit", "main~1"), 4, "nothing is stored"),
            (("record",), 3, "out/run"),
            (("record", trace("base", "00"), trace("base", "01"), "--policy", "other.yml"), 2, "ranks or repeats"),
            (("record", "--suite", "none"), 2, "no suite 'none'"),
            (("prune",), 2, "--keep"),
            (("prune", "--keep", "3 moons"), 2, "90d"),
            (("prune", "--keep", "0"), 2, "a number of commits from 1 on"),
            (("prune", "--keep", "-1"), 2, "a number of commits from 1 on"),
            (("prune", "--keep", "junk"), 2, "weekly or monthly beside"),
            (("prune", "--keep", "weekly"), 2, "weekly and monthly thin what is older"),
            (("puhs",), 2, "push"),
            ((), 2, "record"),
            (("list", "x"), 2, "no argument")):
        w.write("other.yml", "version: 1\n")
        expect_end(f"{args}", w.baseline(*args), code, err=part)


def recorded_again(tmp):
    """The recording of another commit is stored, and told; the same job once more, or runs of its own, are not told."""
    _, _, w = server(tmp, 3)
    for at, runs, words in (("main~2", ("00", "01"), ""), ("main~2", ("00", "01"), ""), ("main~1", ("02", "03"), ""),
                            ("main", ("02", "04"), "1 of 2 runs is the recording that commit")):
        done = w.baseline("record", "--commit", at, *[trace("base", k) for k in runs])
        expect_end(f"recorded again: {at}", done, 0, err=words)
        expect(f"recorded again: {at} {runs}: told {done.stderr}", "the recording that" in done.stderr, bool(words))
    expect("recorded again: all are there", len(w.refs()), 6)


def pruning(tmp):
    """Five commits of January 1 to 5, 2026; main is the 5th."""
    bare, url, w = server(tmp, 5)
    for i in range(5):
        w.ok("record", "--commit", f"main~{i}", trace("base", f"0{i}"))
        w.ok("push", "--commit", f"main~{i}")
    shas = [w.git("rev-parse", f"main~{i}") for i in range(5)]
    c = clone(url, tmp + "/c")
    expect("list", len(c.ok("list", "--remote", "origin").splitlines()), 5)
    expect("list here", c.ok("list"), "")
    w.ok("prune", "--keep", "3", "--remote", "origin", "--dry-run")
    expect("dry run", (len(w.refs()), len(bare.refs())), (5, 5))
    out = c.ok("prune", "--keep", "3", "--remote", "origin")
    expect("keep 3: says", len(out.splitlines()), 2)
    expect("keep 3: there", {r.split("/")[4] for r in bare.refs()}, set(shas[:3]))
    expect("keep 3: another clone's own", len(w.refs()), 5)
    w.ok("prune", "--keep", "4")
    expect("keep 4 here", {r.split("/")[4] for r in w.refs()}, set(shas[:4]))
    w.ok("prune", "--keep", "100y")
    expect("nothing is that old", len(w.refs()), 4)
    w.ok("prune", "--keep", "0d", "--trust-clock")
    expect("all but the newest, of whatever age", [r.split("/")[4] for r in w.refs()], [shas[0]])
    # A shallow clone does not know the dates: it keeps what it cannot judge.
    s = clone(url, tmp + "/s", "--depth=2")
    expect_end("shallow prune", s.baseline("prune", "--keep", "1", "--remote", "origin"), 0, err="1 commit that are not in this clone")
    expect("shallow prune: there", {r.split("/")[4] for r in bare.refs()}, {shas[0], shas[2]})


def size(tmp):
    """What git keeps of a run, in bytes a span: about one. Spans are counted here, from the traces."""
    bare, url, w = server(tmp)
    # path, spans with a duration that are kept, most bytes a span
    hta = os.path.join(os.environ["TG_SHARED_DIR"], "corpus/traces/hta/trace_diff/control/control.json.gz")
    table = [(trace("base", "00"), 7.0)] + ([(hta, 1.2)] if os.path.exists(hta) else [])
    for path, most in table:
        events = read_json(path)["traceEvents"]
        spans = sum("dur" in e and e.get("cat") not in (None, "Trace", "python_function") for e in events)
        w.ok("record", path)
        ref = w.git("for-each-ref", "--sort=-objectsize", "--count=1", "--format=%(refname)", PREFIX)
        # as it travels: git's own pack of this one object
        pack = subprocess.run(["git", "pack-objects", "-q", "--stdout"], input=(w.git("rev-parse", ref) + "\n").encode(), cwd=w.dir,
                              env=ENV, check=True, capture_output=True).stdout
        print(f"size: {os.path.basename(path)}: {spans} spans, {len(pack)} bytes, {len(pack) / spans:.2f} a span")
        expect(f"{path}: {len(pack)} bytes for {spans} spans", len(pack) / spans <= most, True)


if __name__ == "__main__":
    run_parts(recorded, found, cut_history, merge_queue, pushes, writers, refusals, recorded_again, pruning, size)
