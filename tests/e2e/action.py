#!/usr/bin/env python3
"""action.yml in the situations of a repository's life, each with what must come out written down
before the run: verdict, exit code of the gate and of the job, comments. The steps are those of
action.yml (runner.py), GitHub is github.py, checkouts are made as actions/checkout makes them, traces
are the repository's own (verdicts: examples/expected.csv). Needs python3-yaml.
"""
import os
import re
import shutil
import tempfile

import github
from box import Box, hostile_traces, runs
from runner import Runner
from support import PROGRAM, ROOT, TRACES, check, expect, faults, need, read_text, run_parts, write_text

yaml = need("yaml", "python3-yaml")

RULES = "rules:\n  - {id: new-work, why: more calls than before, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
SUITE = "  - {name: %s, trace: {files: 'out/%srun*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/%srun*.json.gz'}\n"
ONE_SUITE = "version: 1\nsuites:\n" + SUITE % ("train", "", "") + RULES
TWO_SUITES = "version: 1\nsuites:\n" + SUITE % ("train", "train/", "train/") + SUITE % ("serve", "serve/", "serve/") + RULES
NO_SUCH = ONE_SUITE.replace("{kind: op}", "{name: no_such_operator}")
# what may not become a command, a mention, a tag or a file, wherever it is printed
BRANCH = "fix/$(touch${IFS}pwned);`touch${IFS}pwned`|x&&'\"<b>@octocat"


def build(folder):
    """The history: start - gate (policy and baseline) - later; `bare` has a policy, no baseline; mono."""
    box = Box(folder)
    sha = {"start": box.commit("start", {"README": "x"})}
    sha["gate"] = box.commit("gate", {".tracegate.yml": ONE_SUITE, "perf": runs("base")})
    sha["later"] = box.commit("later", {"src.py": "0"})
    box.push(sha["later"], "main")
    for number, base, files, branch in (
            (7, "later", {}, "feature"), (8, "start", {".tracegate.yml": ONE_SUITE}, "first"),
            (10, "later", {}, BRANCH), (12, "later", {".tracegate.yml": NO_SUCH}, "nosuch"),
            (13, "later", {".tracegate.yml": "version: 1\nrulez: []\n"}, "badpolicy")):
        sha[number] = box.pull_request(number, sha[base], files, branch)
    box.git(box.work, "checkout", "-q", "--orphan", "bare")
    box.git(box.work, "rm", "-rfq", ".")
    sha["bare"] = box.commit("policy without baseline", {".tracegate.yml": ONE_SUITE})
    sha[9] = box.pull_request(9, sha["bare"], {}, "lost")
    sha["mono"] = box.commit("two suites", {".tracegate.yml": TWO_SUITES, "perf/train": runs("base"), "perf/serve": runs("base")})
    sha[11] = box.pull_request(11, sha["mono"], {}, "mono-change")
    return box, sha


SAME, MORE, HOSTILE = "same", "more", "hostile"  # fresh traces: base runs 10-14, extra_copy, a hostile name

# name, situation -> verdict, exit code of tracegate, exit code of the job, writes to the comments, said in the log
GIT_CASES = [
    ("pass, depth 2", dict(pr=7, depth=2, out=SAME), "pass", 0, 0, [], ""),
    ("pass, full clone", dict(pr=7, depth=0, out=SAME), "pass", 0, 0, [], ""),
    ("pass, depth 1: the fix is named", dict(pr=7, depth=1, out=SAME), "error", 3, 3, ["POST"], "fetch-depth: 2"),
    ("fail", dict(pr=7, depth=2, out=MORE), "fail", 1, 1, ["POST"], "aten::clone"),
    ("fail, again the same", dict(pr=7, depth=2, out=MORE, twice=True), "fail", 1, 1, ["POST"], "comment: unchanged"),
    ("back to green", dict(pr=7, depth=2, out=SAME, old="train"), "pass", 0, 0, ["PATCH"], "comment: updated"),
    ("fail, no comment wanted", dict(pr=7, depth=2, out=MORE, comment="never"), "fail", 1, 1, [], "comment: never"),
    ("pass, comment always", dict(pr=7, depth=2, out=SAME, comment="always"), "pass", 0, 0, ["POST"], "comment: created"),
    ("fork: read-only token", dict(pr=7, depth=2, out=MORE, read_only=True), "fail", 1, 1, ["POST"], "may not write"),
    ("fork: a pass stays a pass", dict(pr=7, depth=2, out=SAME, read_only=True, comment="always"), "pass", 0, 0, ["POST"],
     "may not write"),
    ("first run", dict(pr=8, depth=0, out=SAME), "pass", 0, 0, [], ""),
    ("lost baseline", dict(pr=9, depth=0, out=SAME), "lost", 4, 4, ["POST"], ""),
    ("lost baseline, warn", {"pr": 9, "depth": 0, "out": SAME, "on-inconclusive": "warn"}, "lost", 4, 0, ["POST"],
     "::warning title=tracegate::inconclusive"),
    ("lost baseline, fail", {"pr": 9, "depth": 0, "out": SAME, "on-inconclusive": "fail"}, "lost", 4, 4, ["POST"], ""),
    ("nothing judged, warn", dict(pr=12, depth=2, out=SAME), "inconclusive", 4, 0, ["POST"], "::warning title=tracegate::inconclusive"),
    ("nothing judged, fail", {"pr": 12, "depth": 2, "out": SAME, "on-inconclusive": "fail"}, "inconclusive", 4, 4, ["POST"], ""),
    ("bad policy: the old comment does not stay", dict(pr=13, depth=2, out=SAME, old="default"), "error", 2, 2, ["PATCH"], "rulez"),
    ("hostile operator and branch", dict(pr=10, depth=2, out=HOSTILE), "fail", 1, 1, ["POST"], ""),
    ("hostile branch, green", dict(pr=10, depth=2, out=SAME), "pass", 0, 0, [], ""),
    ("two suites: one comment for the one that fails", dict(pr=11, depth=2, mono=True), "fail", 1, 1, ["POST"], ""),
    ("two suites by name", dict(pr=11, depth=2, mono=True, suites="train\nserve\n"), "fail", 1, 1, ["POST"], ""),
    ("the suite that passes", dict(pr=11, depth=2, mono=True, suites="serve"), "pass", 0, 0, [], ""),
    ("no such suite", dict(pr=11, depth=2, mono=True, suites="Serve"), "error", 2, 2, ["POST"], "no suite 'Serve'"),
    ("a suite that is no name", dict(pr=11, depth=2, mono=True, suites="$(touch pwned)"), "error", 2, 2, [], "no suite's name"),
    ("traces of two suites", dict(pr=11, depth=2, mono=True, suites="train\nserve", traces="out/train/*.json.gz"), "error", 2, 2, [],
     "belongs to one suite"),
    ("merge queue", dict(event="merge_group", sha=7, base="later", depth=2, out=MORE), "fail", 1, 1, [], "not a pull request"),
    ("push", dict(event="push", sha="later", base="gate", depth=0, out=SAME), "pass", 0, 0, [], "not a pull request"),
    ("push, more work", dict(event="push", sha="later", base="gate", depth=0, out=MORE), "fail", 1, 1, [], ""),
    ("schedule: no payload", dict(event="schedule", sha="later", depth=0, out=MORE), "fail", 1, 1, [], "not a pull request"),
    ("a mode that is none", dict(pr=7, depth=2, out=SAME, mode="compare"), "error", 2, 2, [], "check record ab"),
    ("a choice that is none", {"pr": 7, "depth": 2, "out": SAME, "on-inconclusive": "maybe"}, "error", 2, 2, [], "warn fail"),
]
INPUTS = ("comment", "on-inconclusive", "suites", "traces", "mode")
BASE = f"{TRACES}/base/run0*.json.gz"
# without git: name, inputs, verdict, exit code; verdicts: examples/expected.csv
PATH_CASES = [
    ("same code", dict(traces=f"{TRACES}/base/run1[0-4].json.gz", baseline=BASE, runs="true"), None, 0),
    ("extra copy", dict(traces=f"{TRACES}/extra_copy/run*.json.gz", baseline=BASE, runs="true"), "fail", 1),
    ("two lines of traces", dict(traces=f"{TRACES}/extra_copy/run00.json.gz\n{TRACES}/extra_copy/run01.json.gz\n",
                                 baseline=BASE, runs="true"), "fail", 1),
    ("missing trace", dict(traces=f"{TRACES}/none.json.gz", baseline=BASE), "error", 3),
    ("bad option", {"traces": f"{TRACES}/base/run10.json.gz", "baseline": BASE, "extra-args": "--nonsense"}, "error", 2),
    # neither a file nor a revision
    ("shell text as a path", dict(traces="$(touch pwned); `touch pwned`", baseline=BASE), "error", 3),
]


def log_of_faults(before, r):
    """Prints what the runner said if faults came since there were `before`."""
    if len(faults) > before:
        print(r.log)


def commands(log):
    """Lines a runner would take for commands, but for those tracegate means."""
    return [x for x in log.split("\n")
            if (x.lstrip().startswith("::") and not re.match(r"::(error|warning|notice) (file=[^:]*,)?(line=\d+,)?title=tracegate", x))
            or re.search(r"##\[\w", x)]


def prepare(box, sha, c, temp):
    """Workspace with fresh traces, event name, payload, environment."""
    event = c.get("event", "pull_request")
    if event == "pull_request":
        ref, commit, payload = f"refs/pull/{c['pr']}/merge", sha[c["pr"]], {"pull_request": {"number": c["pr"]}, "before": "1" * 40}
        environ = {"GITHUB_REF": ref, "GITHUB_SHA": commit, "GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": BRANCH}
    else:
        commit = sha[c["sha"]]
        ref = "refs/pull/7/merge" if event == "merge_group" else "refs/heads/main"
        base = sha[c["base"]] if "base" in c else ""
        payload = {"push": {"before": base}, "merge_group": {"merge_group": {"base_sha": base, "head_sha": commit}}}.get(event, {})
        environ = {"GITHUB_REF": "refs/heads/gh-readonly-queue/main/pr-7" if event == "merge_group" else ref, "GITHUB_SHA": commit}
    path = box.checkout(ref, c["depth"])
    plan = {"out/train": runs("extra_copy"), "out/serve": runs("base", "1[0-4]")} if c.get("mono") else \
        {"out": {SAME: runs("base", "1[0-4]"), MORE: runs("extra_copy"), HOSTILE: hostile_traces(temp)}[c["out"]]}
    for folder, files in plan.items():
        os.makedirs(os.path.join(path, folder))
        for f in files:
            shutil.copy(f, os.path.join(path, folder))
    return path, event, payload, environ


def git_case(action, box, sha, name, c, verdict, code, job, writes, said):
    old = [github.comment(5, f"<!-- tracegate:report key={c['old']} -->\n### old\n")] if "old" in c else []
    with tempfile.TemporaryDirectory() as temp, github.Mock(None, old, read_only=c.get("read_only", False)) as mock:
        known = len(faults)
        path, event, payload, environ = prepare(box, sha, c, temp)
        inputs = dict({k: c[k] for k in INPUTS if k in c}, binary=PROGRAM)
        before = sorted(os.listdir(path))
        for _ in range(2 if c.get("twice") else 1):
            r = Runner(action, inputs, path, event, payload, dict(environ, GITHUB_API_URL=mock.url, HOME=temp)).run()
        expect(f"{name}: verdict", r.result["verdict"], verdict)
        expect(f"{name}: exit-code", r.result["exit-code"], str(code))
        expect(f"{name}: job", r.code, job)
        expect(f"{name}: comment requests", mock.writes(), writes)
        expect(f"{name}: requests right", mock.wrong, [])
        expect(f"{name}: said", said in r.log, True)
        expect(f"{name}: commands in the log", commands(r.log), [])
        expect(f"{name}: token printed", "secret-token" in r.log, False)
        expect(f"{name}: workspace untouched", sorted(os.listdir(path)), before)
        expect(f"{name}: last step", r.ran[-1], "Verdict")
        expect(f"{name}: reports", all(all(v) for v in r.reports.values()), True)
        if code in (0, 1, 3, 4):
            want = 2 if c.get("mono") and c.get("suites") != "serve" else 1
            expect(f"{name}: reports of all suites", [len(r.reports.get(k, [])) for k in ("json", "junit", "markdown")], [want] * 3)
            expect(f"{name}: summary", r.summary.count("<!-- tracegate:report key="), want)
        for text in [r.summary] + [m["body"] for m in mock.comments if "### old" not in m["body"]]:
            expect(f"{name}: mention or tag", re.findall(r"@octocat|<img", github.outside_code(text)), [])
        if not c.get("read_only"):
            expect(f"{name}: outputs of the comment", bool(r.result["comment-id"].strip()), bool(writes))
        if c.get("mono") and writes and code == 1:
            expect(f"{name}: whose comment", mock.comments[-1]["body"].split("\n")[0],
                   "<!-- tracegate:report key=train -->" if c.get("suites") == "train" else "<!-- tracegate:report key=serve.train -->")
        log_of_faults(known, r)


def path_cases(action):
    with tempfile.TemporaryDirectory() as workspace:
        for name, inputs, verdict, code in PATH_CASES:
            known = len(faults)
            r = Runner(action, dict(inputs, binary=PROGRAM), workspace).run()
            expect(f"{name}: exit code", r.code, code)
            expect(f"{name}: output exit-code", r.result["exit-code"], str(code))
            if verdict:
                expect(f"{name}: verdict", r.result["verdict"], verdict)
            if code in (0, 1):
                expect(f"{name}: reports", len(r.reports) >= 5 and all(map(all, r.reports.values())), True)
                expect(f"{name}: summary", "tracegate" in r.summary, True)
            log_of_faults(known, r)
        expect("injection", os.listdir(workspace), [])
        r = Runner(action, dict(binary="/nonexistent"), workspace).run()
        expect("no such binary", (r.failed, r.code != 0), (True, True))


def stored_baselines(action):
    """A merge queue: its base is what the event names, its baseline comes from the remote. A remote that
    does not answer is an error, never a first run; one that has nothing is a first run. Mode record on
    the push, twice: the second adds nothing."""
    traces = dict(binary=PROGRAM, runs="true", traces=f"{TRACES}/extra_copy/run0[0-2].json.gz")
    record = dict(traces, mode="record", traces=f"{TRACES}/base/run0[0-2].json.gz")
    with tempfile.TemporaryDirectory() as folder:
        box = Box(folder)
        base = box.commit("a", {"README": "x"})
        box.push(base, "main")
        main_, clones = box.checkout("refs/heads/main", 0), []
        queued = box.commit("b", {"README": "y"})
        box.push(queued, "queue")
        event = {"merge_group": {"base_sha": base}}
        environ = {k: v for k, v in box.env.items() if k.startswith("GIT_")}

        def check():
            clones.append(box.checkout("refs/heads/queue", 0))
            return Runner(action, traces, clones[-1], "merge_group", event, environ).run()

        r = check()
        expect("nothing stored yet", (r.code, r.result["verdict"], "first run" in r.summary.lower()), (0, "pass", True))
        for again in range(2):
            r = Runner(action, record, main_, "push", {}, environ).run()
            expect(f"record {again}", (r.code, r.result["verdict"], r.result["markdown"]), (0, "recorded", ""))
        refs = box.git(box.bare, "for-each-ref", "refs/tracegate").count("\n") + 1
        expect("runs in the remote's store", refs, 3)
        r = check()
        expect("merge queue, stored", (r.code, r.result["verdict"], base[:7] in r.summary), (1, "fail", True))
        os.rename(box.bare, box.bare + ".gone")
        box.git(clones[0], "for-each-ref")
        r = Runner(action, traces, clones[0], "merge_group", event, environ).run()
        expect("remote away", (r.code, r.result["verdict"], r.result["json"]), (3, "error", ""))
        r = Runner(action, record, main_, "push", {}, environ).run()
        expect("record, remote away", (r.code != 0, r.result["verdict"]), (True, "error"))


# How the program can end without an answer, in `check` (first) or in `baseline record` (second word), as
# shell text: $P is the program. All are 5 and a red job, whatever it printed or wrote before.
FAULTS = [
    ("killed at the start", "kill -KILL $$"),
    ("killed after its reports", '"$P" "$@" --quiet; kill -KILL $$'),
    ("crashed", "kill -SEGV $$"),
    ("aborted", "kill -ABRT $$"),
    ("ended by a signal", "kill -HUP $$"),
    ("cannot be run", "exec /dev/null"),
    ("not found", "exec /nonexistent/tracegate"),
    ("a code of nobody", "exit 6"),
    ("the last code there is", "exit 255"),
]
# check only: a code of ours, but no report, or one without a verdict
NO_REPORT = [
    ("0 without a report", "exit 0"),
    ("4 without a report", "exit 4"),
    ("1 without a report", "exit 1"),
    ("an empty report", '"$P" "$@" --quiet; for f in "$INPUT_REPORT_DIR"/*.json; do : > "$f"; done; exit 0'),
    ("half a report", '"$P" "$@" --quiet; for f in "$INPUT_REPORT_DIR"/*.json; do echo { > "$f"; done; exit 0'),
    ("0 with a report that failed", '"$P" "$@" --quiet; sed -i \'s/^  "verdict": "[a-z]*"/  "verdict": "fail"/\' "$INPUT_REPORT_DIR"/*.json; exit 0'),
    ("4 with a report that failed", '"$P" "$@" --quiet; sed -i \'s/^  "verdict": "[a-z]*"/  "verdict": "fail"/\' "$INPUT_REPORT_DIR"/*.json; exit 4'),
    ("4 with a report that passed", '"$P" "$@" --quiet; exit 4'),
    ("1 with a report that passed", '"$P" "$@" --quiet; exit 1'),
]


def fault_cases(action):
    """The program does not end as it should: never green. Control: the same wrapper that changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        box = Box(folder)
        sha = box.commit("two suites",
                         {".tracegate.yml": TWO_SUITES, "perf/train": runs("base"), "perf/serve": runs("base"), "bench": BENCH, "variant": "base\n"})
        box.push(sha, "main")
        sha = box.pull_request(1, sha, {"src.txt": "x"}, "same")
        path = box.checkout("refs/pull/1/merge", 2)
        for suite in ("train", "serve"):
            os.makedirs(f"{path}/out/{suite}")
            for f in runs("base", "1[0-4]"):
                shutil.copy(f, f"{path}/out/{suite}")
        environ = dict({k: v for k, v in box.env.items() if k.startswith("GIT_")}, P=PROGRAM, LOG=os.path.join(folder, "log"), TRACES=TRACES,
                       GITHUB_REF="refs/pull/1/merge", GITHUB_SHA=sha, GITHUB_BASE_REF="main")
        wrapper = os.path.join(folder, "wrapper")

        def job(when, what, inputs, event="pull_request"):
            write_text(wrapper, f'#!/bin/sh\n{when} && {{ {what}\n}}\nexec "$P" "$@"\n')
            os.chmod(wrapper, 0o755)
            with tempfile.TemporaryDirectory() as reports:
                r = Runner(action, dict(inputs, binary=wrapper, comment="never", **{"report-dir": reports}), path, event,
                           {"pull_request": {"number": 1}}, environ).run()
            return r

        def expect_red(name, r, report=True):
            known = len(faults)
            expect(name, (r.result["verdict"], r.result["exit-code"], r.code), ("error", "5", 5))
            expect(f"{name}: last step", r.ran[-1], "Verdict")
            if report:
                expect(f"{name}: summary", ("exit code 5" in r.summary, "PASS" in r.summary), (True, False))
            log_of_faults(known, r)

        check, second, rec = '[ "$1" = check ]', '[ "$1" = check ] && [ "$3" = --suite ] && [ "$4" = serve ]', '[ "$2" = record ]'
        one, two = dict(suites="train"), dict(suites="train\nserve")
        ab = dict(AB, once="1", suites="train")
        record = dict(mode="record", traces="out/train/run10.json.gz", suites="train")
        for name, inputs, verdict in (("one", one, "pass"), ("two", two, "pass"), ("all", {}, "pass"), ("ab", ab, None),
                                      ("record", record, "recorded")):
            r = job("false", "exit 9", inputs, "push" if name == "record" else "pull_request")
            expect(f"control, {name}", (r.result["verdict"], r.result["exit-code"], r.code), (verdict or r.result["verdict"], "0", 0))
        for name, what in FAULTS + NO_REPORT:
            expect_red(f"{name}, one suite", job(check, what, one))
        for name, what in FAULTS[1:2] + NO_REPORT[:1]:
            expect_red(f"{name}, all suites", job(check, what, {}))
            expect_red(f"{name}, the second of two suites", job(second, what, two), report=False)
            expect_red(f"{name}, mode ab", job('[ "$1" = ab ]', what, ab))
        for name, what in FAULTS[:1] + FAULTS[-2:]:
            expect_red(f"{name}, mode record", job(rec, what, record, "push"), report=False)


# the bench of mode ab: one recorded trace of the variant that is checked out, each call logged; no two commits record the same
BENCH = """#!/bin/sh
set -e
cd "$(dirname "$0")"
n=$(basename "$TRACE" .json.gz)
echo "$(cat variant) $n" >> "$LOG"
[ ! -e later ] || n="run1${n#run0}"
cp "$TRACES/$(cat variant)/$n.json.gz" "$TRACE"
"""
AB = dict(mode="ab", command="sh ./bench")
# name, which pull request, depth, inputs, more -> verdict, exit code, said
AB_CASES = [
    ("same work", "same", 2, AB, {}, None, 0, ""),
    ("more work", "more", 2, AB, {}, "fail", 1, "aten::clone"),
    ("more work, full clone, base named", "more", 0, dict(AB, base="origin/main"), {}, "fail", 1, "aten::clone"),
    ("in a folder", "more", 2, dict(AB, **{"working-directory": "sub", "command": "sh ../bench"}), {}, "fail", 1, "aten::clone"),
    ("two runs a side", "more", 2, dict(AB, once="2"), dict(n=2), "fail", 1, ""),
    ("two runs a side, as 0.2 spelled it", "more", 2, dict(AB, runs="2"), dict(n=2), "fail", 1, "input 'runs' is now 'once'"),
    ("two runs a side, whatever the budget", "more", 2, dict(AB, once="2", budget="1s", detect="5%"), dict(n=2), "fail", 1, ""),
    ("a size and a budget", "same", 2, dict(AB, detect="30%", budget="1h"), {}, None, 0, "5 runs a side in 2 stages"),
    ("a budget that is none", "same", 2, dict(AB, budget="soon"), dict(n=0), "error", 2, "it is a time"),
    ("a size that is none", "same", 2, dict(AB, detect="much"), dict(n=0), "error", 2, "it is a slowdown"),
    ("set up once a side", "more", 2, dict(AB, setup="echo $(cat variant) setup >> \"$LOG\""), dict(setup=True), "fail", 1, ""),
    ("merge queue", "more", 2, AB, dict(event="merge_group"), "fail", 1, ""),
    ("depth 1", "same", 1, AB, dict(n=0), "error", 3, "fetch-depth: 2"),
    ("no command", "same", 2, dict(mode="ab"), dict(n=0), "error", 2, "mode ab needs input 'command'"),
    ("command without the mode", "more", 2, {k: v for k, v in AB.items() if k != "mode"}, {}, "fail", 1, "aten::clone"),
    ("command, and mode check", "same", 2, dict(command="true", mode="check"), dict(n=0), "error", 2, "belong to mode ab"),
    ("traces as well", "same", 2, dict(AB, traces="x.json"), dict(n=0), "error", 2, "leave 'traces' and 'baseline' out"),
    ("once is no number", "same", 2, dict(AB, once="three"), dict(n=0), "error", 2, "runs a side, 1 to 99"),
    ("runs is no word", "same", 2, dict(AB, runs="three"), dict(n=0), "error", 2, "one of: true false"),
    ("once, and mode check", "same", 2, dict(once="2", mode="check"), dict(n=0), "error", 2, "belong to mode ab"),
    ("two suites", "same", 2, dict(AB, suites="a\nb"), dict(n=0), "error", 2, "judges one suite"),
    ("the command fails", "same", 2, dict(AB, command="exit 9"), dict(n=0), "error", 3, "base, run 0: the command failed"),
    ("a pipe of it fails", "same", 2, dict(AB, command="false | cat"), dict(n=0), "error", 3, "base, run 0: the command failed"),
    ("no trace", "same", 2, dict(AB, command="true"), dict(n=0), "error", 3, "wrote no trace to "),
    ("no such base", "same", 0, dict(AB, base="$(touch pwned)"), dict(n=0), "error", 2, "is not a revision"),
    ("an option for a base", "same", 2, dict(AB, base="--upload-pack=x"), dict(n=0), "error", 2, "is not a revision: it begins with '-'"),
]


def ab_case(action, box, sha, temp, name, which, depth, inputs, more, verdict, code, said):
    # without `runs` in stages: five a side where nothing looks slower, one where a count shows it
    n, event = more.get("n", 5 if which == "same" else 1), more.get("event", "pull_request")
    log, number = os.path.join(temp, "log"), {"same": 21, "more": 22}[which]
    path = box.checkout(f"refs/pull/{number}/merge", depth)
    environ = dict({k: v for k, v in box.env.items() if k.startswith("GIT_")}, LOG=log, TRACES=TRACES,
                   GITHUB_SHA=sha[number], GITHUB_REF=f"refs/pull/{number}/merge", GITHUB_BASE_REF="main")
    payload = {"pull_request": {"number": number}}
    if event == "merge_group":
        environ.update(GITHUB_REF="refs/heads/gh-readonly-queue/main/pr-22", GITHUB_BASE_REF="")
        payload = {"merge_group": {"base_sha": sha["ab"], "head_sha": sha[number]}}
    known = len(faults)
    with github.Mock() as mock:
        open(log, "w").close()
        r = Runner(action, dict(inputs, binary=PROGRAM), path, event, payload, dict(environ, GITHUB_API_URL=mock.url)).run()
        order = read_text(log).split("\n")[:-1]
        variant = {"same": "base", "more": "extra_copy"}[which]
        want = (["base setup", variant + " setup"] if more.get("setup") else []) + \
            [f"{v} run0{k}" for k in range(n) for v in ("base", variant)] + \
            (["base run00"] if verdict == "fail" else [])  # once more for the cause; it has no stacks, so HEAD's is not asked for
        # a bad input is the workflow's fault: no comment; what the pull request did gets one
        writes = ["POST"] if code and event == "pull_request" and not (code == 2 and "base" not in inputs) else []
        facts = [("verdict", r.result["verdict"], verdict or r.result["verdict"]), ("exit code", r.result["exit-code"], str(code)),
                 ("job", r.code, code), ("said", said in r.log, True), ("order", order, want), ("comment", mock.writes(), writes),
                 ("worktrees", box.git(path, "worktree", "list").count("\n"), 0), ("clean", box.git(path, "status", "--porcelain"), ""),
                 ("the base's commit in the report", f"base-{sha['ab'][:12]}" in r.summary, n > 0)]
        for what, got, wanted in facts:
            expect(f"ab, {name}: {what}", got, wanted)
        log_of_faults(known, r)


def ab_cases(action):
    """Mode ab: the base's bench and HEAD's in turn, in worktrees of a pull request's checkout."""
    with tempfile.TemporaryDirectory() as folder:
        box, sha = Box(folder), {}
        sha["ab"] = box.commit("bench", {"bench": BENCH, "variant": "base\n", "sub/x": "x", ".tracegate.yml": "version: 1\n" + RULES})
        box.push(sha["ab"], "main")
        sha[21] = box.pull_request(21, sha["ab"], {"later": "other recordings\n", "src.txt": "x"}, "same")
        sha[22] = box.pull_request(22, sha["ab"], {"variant": "extra_copy\n"}, "more")
        for case in AB_CASES:
            ab_case(action, box, sha, folder, *case)


def git_cases(action, folder):
    box, sha = build(folder)
    for case in GIT_CASES:
        git_case(action, box, sha, *case)


def main(tmp):
    action = yaml.safe_load(read_text(os.path.join(ROOT, "action.yml")))
    for name, spec in action["inputs"].items():
        check(f"input {name} needs a description", spec.get("description"))
    for part in (path_cases, fault_cases, stored_baselines, ab_cases):
        part(action)
    git_cases(action, tmp)


run_parts(main)
