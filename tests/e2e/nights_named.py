#!/usr/bin/env python3
"""What a night says of a change: the commits it names, whether it is one at all, and what stays accepted. Repositories of up to 60
nights whose truth is written here first: five runs a night, ten operators of 50 to 1,200 us, 2 % of the machine from night to night."""
import json
import math
import os
import random

import support
from nights import on
from plain_model import mark, span
from support import check, expect, run_parts, write_json, write_text

RUNS, STEPS, AT = 5, 3, 30
OPS = {"demo::mm": 1200, "demo::relu": 270, "demo::softmax": 150, "demo::norm": 240, "demo::embed": 60, "demo::mul": 160,
       "demo::copy": 140, "demo::cat": 55, "demo::sum": 50, "demo::back": 1000}


class Nights(support.Repository):
    """`seed` draws the noise of all nights; `sha`: their commits."""
    env = dict(support.ENV, SOURCE_DATE_EPOCH="1790000000")

    def __init__(self, folder, seed):
        super().__init__(folder)
        self.seed, self.sha = seed, []

    def commit(self):
        k = len(self.sha)
        write_text(self.path("model.py"), f"night = {k}\n")
        self.git("add", "model.py")
        self.git("commit", "-q", "-m", f"change of night {k}", env=dict(self.env, **on(1780000000 + 86400 * k)))
        self.sha.append(self.git("rev-parse", "HEAD"))

    def record(self, k, suite="default", noise=0.02, ops=None):
        """Stores night k: `ops` are its operators and their microseconds; their runs differ by `noise`."""
        files = [self.path(f"r{r}.json") for r in range(RUNS)]
        machine = math.exp(random.Random(f"{self.seed} {suite} {k}").gauss(0, 0.02))
        for r, path in enumerate(files):
            rng = random.Random(f"{self.seed} {suite} {k} {r}")
            speed = [machine * math.exp(rng.gauss(0, noise)) for _ in OPS]
            events, at = [], 0.0
            for step in range(STEPS):
                start = at
                for (name, us), s in zip((ops or OPS).items(), speed):
                    events.append(span("cpu_op", name, round(at, 3), round(us * s, 3)))
                    at += us * s
                events.append(mark(step, round(start, 3), round(at - start, 3)))
                at += 1
            write_json(path, {"schemaVersion": 1, "traceEvents": events})
        run = self.run("baseline", "record", "--runs", "--suite", suite, "--commit", self.sha[k], *files)
        assert run.returncode == 0, run.stderr

    def nights(self, n, of=lambda k: {}):
        for k in range(n):
            self.commit()
            self.record(k, **of(k))

    def told(self, *args):
        """The exit code, and the events."""
        run = self.run("history", "--format", "json", *args)
        assert run.returncode in (0, 1), (args, run.stderr)
        return run.returncode, json.loads(run.stdout)["events"]

    def red(self, first, last):
        """The first of these nights that ends with 1, and its events that fail; None: none does."""
        for k in range(first, last):
            code, events = self.told("--until", self.sha[k])
            if code:
                return k, [e for e in events if e["fails"]]
        return None, []

    def range(self, event):
        return self.sha.index(event["from"]), self.sha.index(event["to"])


def slower(name, factor, to=None):
    return {(to or n) if n == name else n: us * factor if n == name else us for n, us in OPS.items()}


def place(tmp):
    """+30 % and +10 % of one operator from night 30 on: the night that goes red names this night's commit and no more than one beside it."""
    for seed, factor in ((1, 1.3), (2, 1.3), (3, 1.3), (4, 1.1), (5, 1.1), (6, 1.1)):
        repo = Nights(os.path.join(tmp, f"{seed}"), f"place {seed}")
        repo.nights(AT + 8, lambda k, f=factor: {"ops": slower("demo::softmax", f)} if k >= AT else {})
        night, events = repo.red(AT, AT + 8)
        expect(f"{seed}: one event fails", [e["kind"] for e in events], ["regression"])
        for e in events:
            a, b = repo.range(e)
            check(f"{seed}: night {night} names the change of night {AT}", a < AT <= b <= a + 2, (a, b))


def noise(tmp):
    """The runs of a night differ by 2 % up to night 29, and by 6 % from then on: no operator changed. A change of half is found all
    the same."""
    repo = Nights(os.path.join(tmp, "repo"), "noise")
    for k in range(60):
        repo.commit()
        more = 0.02 if k < AT else 0.06
        for suite in ("s0", "s1", "s2"):
            repo.record(k, suite, noise=more)
        repo.record(k, "slow", noise=more, ops=slower("demo::softmax", 1.5) if k >= AT else None)
    _, events = repo.told()
    fails = [(e["suite"], e["kind"], e["operators"][0]["name"]) for e in events if e["fails"]]
    expect("noise that grows, and one change", fails, [("slow", "regression", "demo::softmax")])


def renamed(tmp):
    """From night 30 on an operator has another name, and takes as long as before, or 5, 30 or 150 % longer: the latter are one event that
    fails in one night, by what the new name takes more: in the one that proves it, or at once if `check` fails."""
    for factor in (1.0, 1.05, 1.3, 2.5):
        repo = Nights(os.path.join(tmp, f"{factor}"), "renamed")
        repo.nights(AT + 6, lambda k, f=factor: {"ops": slower("demo::softmax", f, "demo::_softmax")} if k >= AT else {})
        red = [k for k in range(AT, AT + 6) if repo.told("--until", repo.sha[k])[0]]
        events = repo.told("--fail-on", "open")[1]
        expect(f"x{factor}: one event", len(events), 1)
        expect(f"x{factor}: red nights", (len(red), red[:1] == [AT]), (factor > 1, factor >= 1.3))
        for e in events:
            expect(f"x{factor}: its nights", repo.range(e), (AT - 1, AT))
            expect(f"x{factor}: kind, state, fails", (e["kind"], e["state"], e["fails"]),
                   ("regression", "open", True) if factor > 1 else ("moved", "open", False))
            check(f"x{factor}: cost", abs(e["cost_ns_per_step"] - 150e3 * (factor - 1)) < 8e3, e["cost_ns_per_step"])
            gone = next(o for o in e["operators"] if o["change"] == "gone")
            expect(f"x{factor}: nothing is left of the old name", (gone["delta_pct"], gone["after"]), (-100, 0))
            expect(f"x{factor}: names", {o["name"] for o in e["operators"] if o["kind"] == "op"}, {"demo::softmax", "demo::_softmax"})


def late(tmp):
    """Night 30, whose commit slows an operator, is recorded after somebody accepted the event: it stays accepted, by the id that it has.
    What the same operator does at night 40 is another event, and open."""
    repo = Nights(os.path.join(tmp, "repo"), "late")
    ops = lambda k: slower("demo::softmax", 1.69 if k >= 40 else 1.3 if k >= AT else 1)
    for k in range(38):
        repo.commit()
        if k != AT:
            repo.record(k, ops=ops(k))
    _, events = repo.told()
    expect("one event, up to night 31", [(e["state"], *repo.range(e)) for e in events], [("open", AT - 1, AT + 1)])
    known = events[0]["id"]
    expect("accept", repo.run("history", "accept", known, "--reason", "the new loss").returncode, 0)
    repo.record(AT, ops=ops(AT))
    told = [(e["id"], e["state"], *repo.range(e)) for e in repo.told("--fail-on", "open")[1]]
    expect("with night 30: accepted, and nothing is open", told, [(known, "accepted", AT - 1, AT)])
    for k in range(38, 48):
        repo.commit()
        repo.record(k, ops=ops(k))
    code, events = repo.told("--fail-on", "open")
    told = [(e["id"] == known, e["state"], *repo.range(e)) for e in events]
    expect("another change is not accepted", (code, told), (1, [(True, "accepted", AT - 1, AT), (False, "open", 39, 40)]))
    expect("reopen", repo.run("history", "reopen", known, "--reason", "look again").returncode, 0)
    expect("both are open", [e["state"] for e in repo.told()[1]], ["open", "open"])


if __name__ == "__main__":
    run_parts(place, noise, renamed, late)
