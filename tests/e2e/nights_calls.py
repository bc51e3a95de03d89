#!/usr/bin/env python3
"""What changes calls alone is red at night if `check` is red about it, and not because some name has more calls than before. Recorded commits of
recorded_kinds.py, whose wishes were written before the recording, become nights: three of three runs before the commit, two after it."""
from recorded_kinds import unpack, write_trace
from support import Repository, expect, judged, read_json, run_parts

BEFORE, AFTER, RUNS = 3, 2, 3
KINDS = ("group norm by hand becomes one", "normalise the batch, not each image", "a stable sort", "degrees made once",
         "a statistic kept as a tensor", "item logged")


def tell(repo):
    """The exit code while an event is open, and the events that fail."""
    run = repo.run("history", "--fail-on", "open", "--format", "json", "--out", "history.json")
    judged(run.returncode in (0, 1), f"history: exit {run.returncode}: {run.stderr}")
    events = read_json(repo.path("history.json"))["events"]
    return run.returncode, [e for e in events if e["fails"] and e["state"] == "open"], events


def nights(repo, what, sides):
    traces = [f"t{r}.json" for r in range(RUNS)]
    for k in range(BEFORE + AFTER):
        for r, trace in enumerate(traces):
            write_trace(repo.path(trace), sides[k >= BEFORE], f"{what} {k} {r}")
        repo.git("commit", "-q", "--allow-empty", "-m", f"night {k}")
        expect(f"{what}, night {k} is stored", repo.run("baseline", "record", "--runs", *traces).returncode, 0)
    checked = repo.run("check", *traces, "--runs", "--baseline", f"HEAD~{AFTER}", "--quiet")
    return checked.returncode


def main(tmp):
    red = wanted = 0
    for what, commit, undone, sides in unpack():
        for way, want in (("", commit), (", undone", undone)) if what in KINDS else ():
            repo = Repository(f"{tmp}/{what}{way}")
            checked = nights(repo, what + way, sides[::-1] if way else sides)
            code, failing, events = tell(repo)
            red, wanted = red + code, wanted + (want == "red")
            judged(want not in ("red", "no", "quiet") or code == (want == "red"),
                   f"{what}{way}: wants {want}, got exit {code}: {[e['kind'] for e in failing]}")
            expect(f"{what}{way}: the same as check says", code, checked)
            judged(events, f"{what}{way}: no event")
            for e in events if not code else ():
                judged(e["kind"] in ("calls", "improvement", "moved"), f"{what}{way}: {e['kind']} that does not fail")
            if not code and not way and any(o["worse"] for e in events for o in e["operators"]):
                again = next(e["id"] for e in events if any(o["worse"] for o in e["operators"]))
                expect(f"{what}: reopen", repo.run("history", "reopen", again, "--reason", "look again").returncode, 0)
                code, failing, _ = tell(repo)
                expect(f"{what}: what somebody reopened is open", (code, [e["id"] for e in failing]), (1, [again]))
    expect("red nights, and red wishes", (red, wanted), (5, 5))


run_parts(main)
