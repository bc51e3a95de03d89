#!/usr/bin/env python3
"""scripts/issues against a small GitHub (github.py): one issue an event, opened once, commented when the event changes,
closed when it is gone. What must come out is in the table. With --openapi DIR each request is compared with GitHub's
OpenAPI description, as comment.py does it.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import comment
import github
from support import ROOT, expect, finish, write_json, write_text

SCRIPT = os.path.join(ROOT, "scripts/issues")
A, B, C = "a" * 40, "b" * 40, "c" * 40
BOT = "github-actions[bot]"


def event(number=1, state="open", kind="regression", frm=A, fails=True, **more):
    operators = [{"name": f"aten::op{number}", "short": f"op{number}", "kind": "op", "change": "step", "delta_pct": 12.34, "cost_ns_per_step": 4.2e6,
                  "before": 1, "after": 2, "worse": True, "back": False}]
    return dict({"id": f"{number:012x}", "suite": "train", "state": state, "kind": kind, "new": True, "fails": fails, "from": frm,
                 "to": B, "commits": [{"commit": B, "date": "2026-01-02", "author": "Ann", "subject": "a change", "night": True}],
                 "operators": operators, "delta_pct": 12.34, "cost_ns_per_step": 4.2e6, "cost_pct_of_step": 3.14, "grown": False,
                 "since": "2026-01-02", "evidence": {"night": B}}, **more)


# 100 for seven nights, one not known, then 110 and 130: from 10 % below the first five to their highest, 90 to 130
VALUES, BARS = [100] * 7 + [None, 110, 130], "\u2582" * 7 + " \u2584\u2588"
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, MulFunctor<float> > >"
SLOWLY = event(kind="drift", operators=[dict(event()["operators"][0], name=KERNEL, short="MulFunctor<float>", delta_pct=16.1)],
               files=["a.py", "b.py"], files_changed=2, until="2026-01-09")
GOES_ON = {k: v for k, v in SLOWLY.items() if k != "until"}


def mark(number=1, said=f"open:regression:{A}:{B}", suite="train"):
    return f"<!-- tracegate:event id={number:012x} suite={suite} said={said} -->"


def old(number, n=1, said=f"open:regression:{A}:{B}", state="open", login=BOT, suite="train", first=None):
    return github.issue(n, f"tracegate train: x {number}", (first or mark(number, said, suite)) + "\ntext\n", ["tracegate"], state, login)


# name: (events, issues before, more), the writes, what is said, issues afterwards (state, first line)
OPENED = ("open", mark())
CASES = [
    ("a new event opens one", [event()], [], {}, ["POST"], "1 opened", [OPENED]),
    ("nothing happened", [], [], {}, [], "none", []),
    ("what does not fail has none", [event(kind="improvement", fails=False, state="accepted")], [], {}, [], "none", []),
    ("an open event that cannot fail has none", [event(kind="machine", fails=False)], [], {}, [], "none", []),
    ("an old event that is over has none", [event(state="fixed")], [], {}, [], "none", []),
    ("the next night it is there already", [event()], [old(1)], {}, [], "1 unchanged", [OPENED]),
    ("a narrower range is told", [event(frm=C)], [old(1)], {}, ["PATCH", "POST"], "1 commented",
     [("open", mark(said=f"open:regression:{C}:{B}"))]),
    ("another kind is told", [event(kind="drift")], [old(1)], {}, ["PATCH", "POST"], "1 commented",
     [("open", mark(said=f"open:drift:{A}:{B}"))]),
    ("fixed: closed", [event(state="fixed")], [old(1)], {}, ["PATCH", "POST"], "1 closed",
     [("closed", mark(said=f"fixed:regression:{A}:{B}"))]),
    ("went away: closed", [event(state="went away")], [old(1)], {}, ["PATCH", "POST"], "1 closed",
     [("closed", mark(said=f"went-away:regression:{A}:{B}"))]),
    ("accepted: closed, with who and why", [event(state="accepted", record={"actor": "ann", "reason": "new loss", "time": 1})], [old(1)],
     {"comment": "`ann`: `new loss`"}, ["PATCH", "POST"], "1 closed", [("closed", mark(said=f"accepted:regression:{A}:{B}"))]),
    ("not found any more: closed", [event(2)], [old(1), old(2, 2)], {}, ["PATCH", "POST"], "1 closed",
     [("closed", mark(said=f"gone:regression:{A}:{B}")), ("open", mark(2))]),
    ("closed by us and open again", [event()], [old(1, said=f"went-away:regression:{A}:{B}", state="closed")], {}, ["PATCH", "POST"],
     "1 reopened", [OPENED]),
    ("closed by a person stays closed", [event()], [old(1, state="closed")], {}, [], "1 unchanged", [("closed", mark())]),
    ("another suite's issue stays", [event(2)], [old(1, suite="serve")], {}, ["POST"], "1 opened",
     [("open", mark(suite="serve")), ("open", mark(2))]),
    ("a stranger's marker is not ours", [event()], [old(1, login="mallory")], {}, ["POST"], "1 opened", [("open", mark()), OPENED]),
    ("a marker that is quoted is none", [event()], [old(1, first="> " + mark())], {}, ["POST"], "1 opened", None),
    ("two of one event: the oldest", [event(state="fixed")], [old(1, 3), old(1, 9)], {}, ["PATCH", "POST", "PATCH"], "2 closed",
     [("closed", mark(said=f"fixed:regression:{A}:{B}")), ("closed", mark())]),
    ("two of one event, one closed by a person: the open one", [event(frm=C)], [old(1, 3, state="closed"), old(1, 9)], {}, ["PATCH", "POST"],
     "1 commented", [("closed", mark()), ("open", mark(said=f"open:regression:{C}:{B}"))]),
    ("on the third page", [event()], [old(i, i) for i in range(2, 231)] + [old(1, 300)], {"nights": []}, [], "1 unchanged", None),
    ("a drift: its short name, nights, share and trend", [SLOWLY], [],
     {"title": "tracegate train: MulFunctor<float> +16.1 %",
      "body": ["since 2026-01-02 until 2026-01-09, little by little", "+4.2 ms a step, 3.1 % of it", f"`{BARS}` `MulFunctor<float>`",
               "of which several may have", "2026-01-02 `a change` by `Ann`", "Changed: `a.py`, `b.py`"]}, ["POST"], "1 opened", None),
    ("a drift that may go on", [GOES_ON], [], {"body": ["since 2026-01-02, little by little"], "title": "tracegate train: MulFunctor<float> +16.1 %"},
     ["POST"], "1 opened", None),
    ("it grew: its title says so", [dict(SLOWLY, grown=True)], [old(1, said=f"open:drift:{A}:{C}")],
     {"title": "tracegate train: MulFunctor<float> +16.1 %", "comment": "There is more of it: drift, +16.1 %, since 2026-01-02"},
     ["PATCH", "POST"], "1 commented", None),
    ("a title of a person's stays", [dict(SLOWLY, grown=True)], [dict(old(1, said=f"open:drift:{A}:{C}"), title="Ann looks at it")],
     {"title": "Ann looks at it"}, ["PATCH", "POST"], "1 commented", None),
    ("a step has no trend that is not known", [event()], [], {"title": "tracegate train: op1 +12.3 %", "lacks": "in the last"}, ["POST"],
     "1 opened", None),
    ("ten at a time", [event(i + 1) for i in range(13)], [], {}, ["POST"] * 10, "3 more events", None),
    ("read-only token", [event()], [], {"read_only": True}, ["POST"], "may not write", []),
    ("issues are off", [event()], [], {"plan": [("GET", 410, {})]}, [], "turned off", []),
    ("no such repository", [event()], [], {"plan": [("GET", 404, {})]}, [], "may not write", []),
    ("a bad day, then it works", [event()], [], {"plan": [("POST", 502, {}), ("POST", 503, {})]}, ["POST"] * 3, "1 opened", [OPENED]),
    ("a lost answer opens no second one", [event()], [], {"plan": [("POST", 502, {})], "do_it": True}, ["POST"], "1 opened", [OPENED]),
    ("hostile names", [event(operators=[dict(event()["operators"][0], name="x`|@octocat <img> ##[error]\n::error::x")],
                             suite="a -->b", commits=[dict(event()["commits"][0], subject="`@all`\nCloses #1", author="[x](y)")])],
     [], {}, ["POST"], "1 opened", [("open", mark(suite="a%20--%3Eb"))]),
]


def call(mock, events, folder, nights):
    path = os.path.join(folder, "history.json")
    series = [{"suite": "train", "kind": "op", "name": e["operators"][0]["name"], "unit": "ns", "values": VALUES}
              for e in events if e["kind"] == "drift"]
    write_json(path, {"tracegate_history": 1, "nights": [{"suite": s, "commit": B, "date": "2026-01-09"} for s in nights],
                      "events": events, "series": series})
    env = dict(os.environ, GITHUB_TOKEN="secret-token", GITHUB_API_URL=mock.url, GITHUB_REPOSITORY="o/r", GITHUB_ACTIONS="true",
               TRACEGATE_RETRY_DELAY="0.01")
    return subprocess.run([SCRIPT, path], env=env, capture_output=True, text=True, timeout=60)


def check(description, name, events, before, more, writes, said, after):
    with tempfile.TemporaryDirectory() as folder, \
            github.Mock(description, read_only=more.get("read_only", False), issues=[dict(i) for i in before]) as mock:
        mock.plan, mock.do_it = list(more.get("plan", [])), more.get("do_it", False)
        run = call(mock, events, folder, more.get("nights", ["train", "a -->b"]))
        got = [(i["state"], i["body"].split("\n")[0]) for i in mock.issues]
        bodies = [i["body"] for i in mock.issues] + [c["body"] for c in mock.comments]
        facts = [("outside code spans", [b for b in bodies if re.search("@octocat|@all|<img|Closes", github.outside_code(b))], []),
                 ("labels", all(x in ("tracegate", {"name": "tracegate"}) for i in mock.issues for x in i["labels"]), True)]
        if after is not None:
            facts.append(("issues", got, after))
        if "title" in more:
            facts.append(("title", mock.issues[-1]["title"], more["title"]))
        facts += [(f"body: {x}", x in bodies[0], True) for x in more.get("body", [])]
        if "lacks" in more:
            facts.append(("body lacks", more["lacks"] in bodies[0], False))
        if "comment" in more:
            facts.append(("comment", more["comment"] in mock.comments[-1]["body"], True))
        github.expect_facts(name, mock, run, writes, 0, said, facts)


def at_once(description):
    """Eight jobs opened an issue each for one event; whoever comes next, also several at once, leave one, the oldest."""
    for jobs in (1, 4):
        before = [dict(old(1, n)) for n in range(3, 11)]
        with tempfile.TemporaryDirectory() as folder, github.Mock(description, issues=before) as mock, \
                concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            folders = [os.path.join(folder, str(k)) for k in range(jobs)]
            for name in folders:
                os.mkdir(name)
            runs = list(pool.map(lambda name: call(mock, [event()], name, ["train"]), folders))
            facts = [("exit codes", {r.returncode for r in runs}, {0}),
                     ("left", [i["number"] for i in mock.issues if i["state"] == "open"], [3]),
                     ("why", {i["body"].rstrip().split("\n")[-1] for i in mock.issues[1:]}, {"The same event as #3."})]
            facts.append(("the next night", "1 unchanged" in call(mock, [event()], folder, ["train"]).stdout, True))
            for what, got, want in facts:
                expect(f"duplicates, {jobs} jobs: {what}: {runs}", got, want)


def wrong_calls():
    """2: no history, another format, no repository."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "h.json")
        for text, repository in (("{", "o/r"), ('{"tracegate_history": 2}', "o/r"),
                                 ('{"tracegate_history": 1, "nights": [], "events": []}', "o r")):
            write_text(path, text)
            run = subprocess.run([SCRIPT, path], capture_output=True, text=True,
                                 env=dict(os.environ, GITHUB_TOKEN="x", GITHUB_REPOSITORY=repository))
            expect(f"wrong call {text} {repository}", run.returncode, 2)


known = github.described(comment.self_check)
for one in CASES:
    check(known, *one)
wrong_calls()
at_once(known)
sys.exit(finish(f"issues: {len(CASES)} cases"))
