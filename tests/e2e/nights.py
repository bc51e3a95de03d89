#!/usr/bin/env python3
"""`tracegate history` on one repository of 60 nights whose truth is written here first: every third commit is a
merge, two environment changes, a lost night, three planted regressions, a drift and an improvement. Twelve
operators of 100 to 210 us; runs differ by 1 %, nights by 2 % for all of them together."""
import datetime
import json
import os
import random
import re
import sys
import time
import xml.etree.ElementTree as ET

import support
from support import ENV, check, read_json, read_text, run_parts, write_json, write_text
from plain_model import mark, span

NIGHTS, RUNS, STEPS, OPS = 60, 3, 4, 12
BROKEN = 26                                   # this commit does not build; its night is stored all the same
QUIET = 0                                     # the suite of this name has this night's program all the time
LOST = 30                                     # no run is stored at this commit
ENVIRONMENT = lambda k: "abc"[(k >= 18) + (k >= 48)]
STEP = {"demo::op03": (13, 1.15), "demo::op08": (35, 1.12)}
CALLS = ("demo::op05", 27)                    # called twice from then on
DRIFT = ("demo::op10", 28, 1.01)              # 1 % a night, until the environment changes
FASTER = ("demo::op01", 40, 0.80)
# what must be told: operator -> (kinds that are right, the planted night, how many nights off the range may be)
TRUTH = {"demo::op03": ({"regression"}, 13), "demo::op05": ({"calls", "regression"}, 27),
         "demo::op08": ({"regression"}, 35), "demo::op01": ({"improvement"}, 40)}


def factor(name, night):
    f = 1.0
    if name in STEP and night >= STEP[name][0]:
        f *= STEP[name][1]
    if name == DRIFT[0] and DRIFT[1] <= night < 48:
        f *= DRIFT[2] ** (night - DRIFT[1] + 1)
    if name == FASTER[0] and night >= FASTER[1]:
        f *= FASTER[2]
    return f


def write_trace(path, night, run):
    rng = random.Random(night * 100 + run)
    machine = 1 + 0.02 * random.Random(night).uniform(-1, 1)
    speed = [1 + 0.01 * rng.uniform(-1, 1) for _ in range(OPS)]
    events, at = [], 0
    for step in range(STEPS):
        start = at
        for i in range(OPS):
            name = f"demo::op{i:02}"
            for _ in range(2 if name == CALLS[0] and night >= CALLS[1] else 1):
                ns = int((100 + 10 * i) * 1000 * speed[i] * machine * factor(name, night))
                events.append(span("cpu_op", name, at / 1000, ns / 1000))
                at += ns
        events.append(mark(step, start / 1000, (at - start) / 1000))
        at += 1000
    write_json(path, {"schemaVersion": 1, "traceEvents": events})


def on(seconds):
    """The environment of a commit of that time."""
    return {"GIT_AUTHOR_DATE": f"{seconds} +0000", "GIT_COMMITTER_DATE": f"{seconds} +0000"}


class Repository(support.Repository):
    env = dict(ENV, GIT_AUTHOR_NAME="Ann Author", GIT_AUTHOR_EMAIL="a@x", GIT_COMMITTER_NAME="c", GIT_COMMITTER_EMAIL="c@x",
               SOURCE_DATE_EPOCH="1790000000")

    def __init__(self, folder):
        super().__init__(folder)
        self.sha = []

    def night(self, k):
        dated = on(1780000000 + 86400 * k)
        write_text(os.path.join(self.dir, "model.py"), f"night = {k}\n" + ("this does not build\n" if k == BROKEN else ""))
        if k % 3 == 2:
            self.git("checkout", "-q", "-b", f"topic{k}")
        self.git("add", "model.py")
        self.git("commit", "-q", "-m", f"change of night {k}", env=dated)
        if k % 3 == 2:
            self.git("checkout", "-q", "main")
            self.git("merge", "-q", "--no-ff", "-m", f"merge of night {k}", f"topic{k}", env=dated)
        self.sha.append(self.git("rev-parse", "HEAD"))
        if k == LOST:
            return
        traces = [os.path.join(self.dir, f"r{r}.json.gz") for r in range(RUNS)]
        for r, path in enumerate(traces):
            write_trace(path, k, r)
        run = self.run("baseline", "record", "--runs", "--meta", f"cpu={ENVIRONMENT(k)}", *traces)
        assert run.returncode == 0, run.stderr
        if k < 40:  # a suite that ended, in which nothing happened
            write_trace(traces[0], QUIET, k % 7)
            run = self.run("baseline", "record", "--suite", "quiet", traces[0])
            assert run.returncode == 0, run.stderr

    def history(self, *args):
        run = self.run("history", "--format", "json", *args)
        assert run.returncode in (0, 1), (args, run.stderr)
        return run.returncode, json.loads(run.stdout)


def named(event):
    return [o["name"] for o in event["operators"]]


def check_events(repo):
    code, told = repo.history("--suite", "default")
    check("59 nights", len(told["nights"]) == NIGHTS - 1, len(told["nights"]))
    check("oldest first", [n["commit"] for n in told["nights"]] == [s for k, s in enumerate(repo.sha) if k != LOST])
    check("nothing is new in the last night", code == 0, code)
    for name, (kinds, planted) in TRUTH.items():
        about = [e for e in told["events"] if name in named(e) and e["kind"] != "environment"]
        check(f"one event of {name}", len(about) == 1, [(e["kind"], named(e)) for e in about])
        for e in about:
            at = repo.sha.index
            check(f"{name}: kind", e["kind"] in kinds, e["kind"])
            check(f"{name}: the range holds it", at(e["from"]) < planted <= at(e["to"]),
                   (at(e["from"]), at(e["to"]), planted))
            check(f"{name}: the range is narrow", at(e["to"]) - at(e["from"]) <= 3, (at(e["from"]), at(e["to"])))
            subjects = [c["subject"] for c in e["commits"]]
            check(f"{name}: its commit is among those of the range",
                   any(f"night {planted}" == s.split(" of ")[1] for s in subjects), subjects)
            check(f"{name}: with its author", all(c["author"] == "Ann Author" for c in e["commits"]))
            check(f"{name}: state", e["state"] == ("accepted" if e["kind"] == "improvement" else "open"), e["state"])
    drift = [e for e in told["events"] if DRIFT[0] in named(e)]
    check("the drift is one event", [e["kind"] for e in drift] == ["drift"], [(e["kind"], named(e)) for e in drift])
    for e in drift:  # its range is that of the drift, within three nights; what it has come to, 1.01 ** 20, within a tenth
        place = [repo.sha.index(e[end]) for end in ("from", "to")]
        check("the drift's nights", abs(place[0] - (DRIFT[1] - 1)) <= 3 and 48 - place[1] <= 8, place)
        check("the drift's size", 0.9 * 22 <= e["operators"][0]["delta_pct"] <= 1.1 * 22, e["operators"][0])
    alone = [e for e in told["events"] if e["kind"] != "environment" and not any(n.startswith("demo") for n in named(e))]
    check("the step follows what moved", not alone, [(e["kind"], named(e)) for e in alone])
    environments = [e for e in told["events"] if e["kind"] == "environment"]
    check("two environments came", [repo.sha.index(e["to"]) for e in environments] == [18, 48],
           [repo.sha.index(e["to"]) for e in environments])
    others = [(e["kind"], named(e)) for e in told["events"] if e["kind"] != "environment" and
              not set(named(e)) & (set(TRUTH) | {DRIFT[0]}) and any(n.startswith("demo") for n in named(e))]
    check("no other operator is told", not others, others)
    return told


def check_nights(repo, told):
    """An event ends one night with 1, the night that shows it first; with --fail-on open every night."""
    event = next(e for e in told["events"] if "demo::op08" in named(e))
    shown = repo.sha.index(event["evidence"]["night"])
    check("shown within five nights", shown - 35 <= 5, shown)
    code, then = repo.history("--until", repo.sha[shown])
    same = [e for e in then["events"] if e["id"] == event["id"]]
    check("the night that shows it fails", code == 1 and same and same[0]["new"], (code, same))
    code, then = repo.history("--until", repo.sha[shown + 1], "--fail-on", "open")
    check("every night fails while it is open", code == 1, code)
    code, then = repo.history("--until", repo.sha[shown], "--fail-on", "never")
    check("or none", code == 0, code)
    check("no event before its first night", not any(e["id"] == event["id"] for e in
                                                      repo.history("--until", repo.sha[34])[1]["events"]))


def check_states(repo, told):
    for e in told["events"]:
        if e["fails"] and e["state"] == "open":
            refused = repo.run("history", "accept", e["id"])
            check("accept wants a reason", refused.returncode == 2 and "--reason" in refused.stderr, refused.stderr)
            empty = repo.run("history", "accept", e["id"], "--reason", " ")
            check("an empty one is none", (empty.returncode, empty.stderr) == (2, refused.stderr), empty.stderr)
            run = repo.run("history", "accept", e["id"][:8], "--reason", "the new loss is worth it")
            check("accept", run.returncode == 0, run.stderr)
    code, now = repo.history("--fail-on", "open")
    check("nothing open is left", code == 0, code)
    record = [e["record"] for e in now["events"] if "record" in e]
    check("who, why and when", record and all(r["reason"] == "the new loss is worth it" and r["time"] == 1790000000
                                               for r in record), record)
    e = next(e for e in now["events"] if "demo::op08" in named(e))
    run = repo.run("history", "reopen", e["id"], "--reason", "it is not")
    check("reopen", run.returncode == 0, run.stderr)
    check("refused: no such event", repo.run("history", "accept", "ffffffffffff", "--reason", "x").returncode == 2)


def check_forms(repo):
    # Noise of 1 % in bars of 10 % more and less is a line; +12 % fills them, from its night on.
    text = repo.run("history", "--suite", "default", "--name", "demo::op08", "--last", "20")
    bars = re.findall("[▁-█]+", text.stdout)
    check("bars: noise is a line", len(bars) == 1 and len(bars[0]) == 20 and set(bars[0]) <= set("▄▅▆"), text.stdout)
    check("the names asked for", "demo::op08" in text.stdout and "demo::op07 " not in text.stdout, text.stdout)
    bars = re.findall("[▁-█]+", repo.run("history", "--suite", "default", "--name", "demo::op08", "--until", repo.sha[46]).stdout)
    check("bars: a change is seen", bars and set(bars[0][:30]) <= set("▃▄▅▆") and set(bars[0][-8:]) <= set("▇█"), bars)
    csv = repo.run("history", "--format", "csv", "--suite", "default", "--name", "demo::op08").stdout.splitlines()
    check("csv: a line a night", len(csv) == NIGHTS, len(csv))
    again = repo.run("history", "--format", "json").stdout
    check("the same bytes again", again == repo.run("history", "--format", "json").stdout)
    run = repo.run("history", "--markdown", "report.md")
    report = read_text(os.path.join(repo.dir, "report.md"))
    check("markdown", run.returncode == 0 and "open" in report and "### `" in report, report[:200])
    for option, glob, note in (("--name", "*op03", ""), ("--name", "demo::op0[3]", "no name matches"), ("--name", "step_tme", "no name matches")):
        run = repo.run("history", "--suite", "default", option, glob)
        check(f"{option} {glob}", run.returncode == 0 and (note in run.stderr if note else not run.stderr), run.stderr)


def check_page(repo, told):
    """The page and the drawing say what JSON says: open events, their operators, the releases, the environments."""
    repo.git("tag", "v1.0", repo.sha[20])
    args = ("history", "--suite", "default", "--html", "page.html", "--svg", "trend.svg")
    check("page", repo.run(*args).returncode == 0)
    both = [open(os.path.join(repo.dir, f), encoding="utf-8").read() for f in ("page.html", "trend.svg")]
    repo.run(*args)
    check("the same bytes again", both == [open(os.path.join(repo.dir, f), encoding="utf-8").read() for f in ("page.html", "trend.svg")])
    page, svg = both
    cards = re.findall(r'<li id="e-([0-9a-f]{12})">(.*?)(?=<li id="e-|</section>)', page, re.S)
    want = {e["id"]: e for e in told["events"] if e["state"] == "open"}
    check("a card for each open event", sorted(i for i, _ in cards) == sorted(want), ([i for i, _ in cards], sorted(want)))
    for i, text in cards:
        check(f"card {i}", all(o in text for o in named(want[i])[:3]) and want[i]["from"][:10] in text and want[i]["to"][:10] in text, text)
    check("nights in the page", len(re.findall(r"<tr>", page[page.index('id="s0-nights"'):])) == NIGHTS - 1 + 1, page.count("<tr>"))
    root = ET.fromstring(svg)
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    check("drawing: series and release", {"step_time", "demo::op03", "demo::op10", "v1.0"} <= set(texts), texts)
    labels = [t for t in texts if t and re.search(r"  [0-9a-f]{6}$", t)]
    check("drawing: what an event is to a step is a part of it", labels and not [t for t in labels if re.match(r"[+\u2212][\d.]+ [mun]?s ", t)],
          labels)
    trends = {g.find("{*}text").text: g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "trend"}
    def marks(name, what):
        return sum(x.get("class") == what for x in trends[name].iter())
    for name, up, down in (("demo::op03", 1, 0), ("demo::op08", 1, 0), ("demo::op01", 0, 1), ("demo::op07", 0, 0)):
        check(f"drawing: {name}", (marks(name, "event up"), marks(name, "event down"), marks(name, "env")) == (up, down, 2),
               (marks(name, "event up"), marks(name, "event down"), marks(name, "env")))


def check_bisect(repo):
    """Between nights 24 and 29 the calls of op05 came with 27; 26, a merge, does not build: it is one of the two."""
    repo.git("checkout", "-q", "--detach", "main")
    run = repo.run("bisect", "--good", repo.sha[24], "--bad", repo.sha[29], "--once", "3", "--setup", "! grep build model.py", "--",
                    sys.executable, os.path.abspath(__file__), "--trace", "{trace}")
    tail = run.stdout.split("\n\n")[-1]
    check("bisect", run.returncode == 4 and [k for k in range(20, 40) if repo.sha[k][:12] in tail] == [26, 27], run.stdout + run.stderr)
    answers = dict(reversed(line.split()[:2]) for line in run.stdout.splitlines() if re.match(r"(good|bad|skip) ", line))
    truth = {repo.sha[k][:12]: "skip" if k == BROKEN else "bad" if k >= 27 else "good" for k in range(25, 30)}
    check("bisect: answers", answers and all(truth[s] == a for s, a in answers.items()), answers)
    check("bisect: the broken one was met", answers.get(repo.sha[26][:12]) == "skip", answers)


def check_list(repo):
    lines = repo.run("baseline", "list", "--suite", "default").stdout.splitlines()
    order = [s for k, s in enumerate(repo.sha) if k != LOST]
    check("list: in the order of history", [x.split()[1] for x in lines] == order, lines[:3])
    check("list: runs, step time and subject",
           re.search(r"  3 runs  step 1\.\d+ ms  default  change of night 0$", lines[0]) and "merge of night 59" in lines[-1],
           (lines[0], lines[-1]))
    show = repo.run("baseline", "show", "--suite", "default", "--commit", repo.sha[50]).stdout.splitlines()
    rows = [x.split()[-1] for x in show if " op  " in x]
    # two calls of 150 us, then 210, 180 x 1.12, 200 … us (op10's drift ended with its environment)
    check("show: the largest rows", rows[:2] == ["demo::op05", "demo::op11"] and len(rows) == 10, show)
    check("show: the step", any(re.match(r"  step 2\.\d+ ms;", x) for x in show), show)


def check_sides(repo):
    """A stored commit is a side of analyze, diff and names; its three runs are repeats."""
    a, b = repo.sha[45], repo.sha[46]
    for args, words in ((("analyze", b), "demo::op05"), (("diff", a, b), "demo::op05"), (("names", b), "demo::op11")):
        run = repo.run(*args)
        check(f"{args[0]}: a stored side", run.returncode == 0 and words in run.stdout, run.stdout + run.stderr)
    run = repo.run("analyze", b, "--measure", "idle")
    check("analyze: no trace is stored", run.returncode == 2 and "stored run" in run.stderr, run.stderr)


def check_remote(repo):
    """What people said goes with push and fetch; fetch --all brings all nights."""
    hub, clone = repo.dir + "/hub.git", Repository.__new__(Repository)
    repo.git("init", "-q", "--bare", hub)
    repo.git("remote", "add", "origin", hub)
    repo.git("push", "-q", "origin", "main")
    for sha in repo.sha[-4:]:
        run = repo.run("baseline", "push", "--suite", "default", "--commit", sha)
        check("push", run.returncode == 0, run.stderr)
    repo.git("clone", "-q", hub, repo.dir + "/clone")
    clone.dir, clone.env = repo.dir + "/clone", repo.env
    run = clone.run("baseline", "fetch", "--all")
    check("fetch --all", run.stdout == "12 runs are here now\n", run.stdout + run.stderr)
    refs = [r.git("for-each-ref", "refs/tracegate/events") for r in (repo, clone)]
    check("records of events went along", refs[0] == refs[1] and refs[0], refs)


POLICY = ("version: 1\nbaseline: {ref: %s}\nfail_on: [%s]\nsuites: [{name: default, trace: {files: 'r?.json.gz', run: 'r([0-9])'}}]\n"
          "rules:\n  - {id: calls, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
          "  - {id: slower, match: {kind: op, not: {name: 'demo::op10'}}, metric: self, fail: {pct: 8%%, abs: 1us}, noise: {test: none}}\n")


def judge(repo, at, fail_on="fail", base=20, **more):
    """A check of a night's program, with `more` of STEP, against an older night: exit code, violations, warnings."""
    repo.git("checkout", "-q", "--detach", repo.sha[at])
    kept = dict(STEP)
    STEP.update(more)
    for r in range(RUNS):
        write_trace(os.path.join(repo.dir, f"r{r}.json.gz"), at, 10 + r)
    STEP.clear()
    STEP.update(kept)
    write_text(os.path.join(repo.dir, "p.yml"), POLICY % (repo.sha[base], fail_on))
    run = repo.run("check", "--policy", "p.yml", "--meta", "cpu=b", "--json", "out.json", "--quiet")
    report = read_json(os.path.join(repo.dir, "out.json"))
    for name in ("p.yml", "out.json", *(f"r{r}.json.gz" for r in range(RUNS))):
        os.remove(os.path.join(repo.dir, name))
    repo.git("checkout", "-q", "main")
    return (run.returncode, *({(x["rule"], x["op"]): x for x in report[part]} for part in ("violations", "warnings")))


def check_known(repo, told):
    """A check against night 20, 24 nights later: what two open events explain warns; more than that fails, and so does
    anything else. With `fail_on: [open]` it fails until they are accepted. The night that shows an event fails."""
    event = {n: e for e in told["events"] for n in named(e) if n in ("demo::op05", "demo::op08")}
    copy, slow = ("calls", "demo::op05"), ("slower", "demo::op08")
    code, failed, warned = judge(repo, 44)
    check("known: nothing fails", (code, failed) == (0, {}), (code, list(failed)))
    check("known: both warn", copy in warned and slow in warned, list(warned))
    for key in (copy, slow):
        e = event[key[1]]
        night = [n["commit"] for n in told["nights"]].index(e["to"]) + 1
        text = warned.get(key, {"evidence": "", "event": None})
        check(f"known: {key}", f"since night {night} (" in text["evidence"] and f"), commit {e['to'][:12]}, open: event {e['id']}" in text["evidence"]
               and text["event"] == e["id"], text)
    code, failed, _ = judge(repo, 44, **{"demo::op08": (35, 1.4)})
    check("known: more than the event", (code, list(failed)) == (1, [slow]), (code, list(failed)))
    code, failed, _ = judge(repo, 44, **{"demo::op07": (44, 1.3)})
    check("known: another operator", (code, list(failed)) == (1, [("slower", "demo::op07")]), (code, list(failed)))
    code, failed, _ = judge(repo, 44, "fail, open")
    check("known: every night, if it is asked for", code == 1 and {copy, slow} <= set(failed), (code, list(failed)))
    shown = repo.sha.index(event["demo::op05"]["evidence"]["night"])
    code, failed, _ = judge(repo, shown)
    check("known: the night that shows it fails", code == 1 and copy in failed, (shown, code, list(failed)))
    code, failed, _ = judge(repo, shown + 1)
    check("known: the night after does not", copy not in failed, (code, list(failed)))
    code, failed, warned = judge(repo, 44, base=43)
    check("known: what the baseline has as well is no change", (code, failed) == (0, {}) and copy not in warned, (code, list(failed), list(warned)))


def check_accepted(repo, told):
    """What was accepted warns even where open events fail, and says who said so."""
    copy = ("calls", "demo::op05")
    code, failed, warned = judge(repo, 44, "fail, open")
    text = warned.get(copy, {"evidence": ""})["evidence"]
    check("known: accepted", copy not in failed and ", accepted: event" in text and "the new loss is worth it" in text, (code, list(failed), text))


def check_window(repo):
    """window(4): the twelve runs of the four newest commits are the baseline, not three."""
    write_text(os.path.join(repo.dir, ".tracegate.yml"), "version: 1\nextends: [tracegate:recommended]\nbaseline: {ref: window(4)}\n"
            "suites:\n  - {name: default, trace: {files: 'r?.json.gz', run: 'r([0-9])'}}\n")
    repo.git("checkout", "-q", "-b", "change")
    repo.git("commit", "-q", "--allow-empty", "-m", "a change")
    for r in range(RUNS):
        write_trace(os.path.join(repo.dir, f"r{r}.json.gz"), NIGHTS, r)
    for ref, runs in (("window(4)", 12), ("window(1)", 3), ("merge-base", 3)):
        text = re.sub(r"ref: [^}]*", f"ref: {ref}", read_text(os.path.join(repo.dir, ".tracegate.yml")))
        write_text(os.path.join(repo.dir, ".tracegate.yml"), text)
        run = repo.run("check", "--meta", "cpu=c")
        check(f"{ref}: runs of the baseline", f": {runs} baseline runs, 3 fresh runs" in " ".join(run.stdout.split()),
               run.stdout[:600] + run.stderr)


def check_prune(repo):
    """Of the quiet suite 40 nights but one are stored; two weeks are kept, then the newest night of each ISO week. Ages count from
    the newest night; with --trust-clock from now."""
    days = round((time.time() - 1780000000) / 86400) - 25
    def week(k):
        return datetime.datetime.fromtimestamp(1780000000 + 86400 * k, datetime.timezone.utc).isocalendar()[:2]
    stored = [k for k in range(40) if k != LOST]
    kept = {k for k in stored if 1780000000 + 86400 * k >= time.time() - 86400 * days}
    for k in stored:
        newest = max(x for x in stored if week(x) == week(k))
        kept |= {k} if newest == k else set()
    want = sorted(repo.sha[k] for k in stored if k not in kept)
    repo.git("tag", "-d", *repo.git("tag").split())
    run = repo.run("baseline", "prune", "--suite", "quiet", "--keep", f"{days}d", "--keep", "weekly", "--dry-run", "--trust-clock")
    check("prune: weekly", sorted(x.split("/")[4] for x in run.stdout.splitlines()) == want, (run.stdout, run.stderr))
    check("prune: some", 15 < len(want) < 25, len(want))
    run = repo.run("baseline", "prune", "--suite", "quiet", "--keep", "10d", "--dry-run")
    check("prune: ages count from the newest night", {x.split("/")[4] for x in run.stdout.splitlines()} ==
          {repo.sha[k] for k in stored if k < 29}, (run.stdout, run.stderr))
    _, before = repo.history("--suite", "default")
    run = repo.run("baseline", "prune", "--suite", "default", "--keep", f"{days - 27}d", "--keep", "weekly", "--trust-clock")
    check("prune: deleted", run.returncode == 0 and run.stdout.startswith("deleted"), (run.stdout, run.stderr))
    _, after = repo.history("--suite", "default")
    told = [[(e["id"], e["kind"], e["state"]) for e in x["events"] if e["state"] == "open"] for x in (before, after)]
    check("prune: events are found as before", told[0] == told[1] and told[0], told)
    for k, tag in ((10, "v1"), (LOST, "v2"), (11, "other")):
        repo.git("tag", "-m", tag, tag, repo.sha[k])
    for args, spared in (((), {10, 11, LOST - 1}), (("--keep-tags", "v*"), {10, LOST - 1}), (("--keep-tags", "x*"), set())):
        run = repo.run("baseline", "prune", "--suite", "quiet", "--keep", f"{days}d", "--keep", "weekly", "--dry-run", "--trust-clock", *args)
        gone = {x.split("/")[4] for x in run.stdout.splitlines()}
        check(f"prune: tags {args}", gone == set(want) - {repo.sha[k] for k in spared}, (run.stderr, spared))
        run = repo.run("baseline", "prune", "--suite", "quiet", "--keep", "3", "--dry-run", *args)
        stays = set(stored[-3:]) | spared
        check(f"prune: three, and tags {args}", {x.split("/")[4] for x in run.stdout.splitlines()} ==
              {repo.sha[k] for k in stored if k not in stays}, (run.stderr, spared))
    for args, words in ((("--keep", "5x"), "--keep does not know '5x'"), (("--keep", "weekly"), "prune needs --keep N"),
                        ((), "prune needs")):
        run = repo.run("baseline", "prune", *args)
        check(f"prune {args}", run.returncode == 2 and words in run.stderr, run.stderr)


def main(folder):
    repo = Repository(folder)
    for k in range(NIGHTS):
        repo.night(k)
    told = check_events(repo)
    check_nights(repo, told)
    check_known(repo, told)
    check_page(repo, told)
    check_states(repo, told)
    check_accepted(repo, told)
    check_forms(repo)
    check_bisect(repo)
    check_list(repo)
    check_sides(repo)
    check_remote(repo)
    check_prune(repo)
    check_window(repo)


def trace_of_here(path):
    """What the checked-out commit does: its night is in model.py."""
    write_trace(path, int(re.search(r"night = (\d+)", read_text("model.py"))[1]), int(re.search(r"(\d+)\.json\.gz$", path)[1]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        sys.exit(trace_of_here(sys.argv[2]))
    run_parts(main)
