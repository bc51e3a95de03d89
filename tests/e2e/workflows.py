#!/usr/bin/env python3
"""examples/workflows run as they are (workflow.py): what each job must answer, store and write is beside it before the run. The bench hands out
recorded traces (verdicts: examples/expected.csv).
"""
import io
import os
import re
import zipfile
import tempfile

import github
from box import Box, hostile_traces, runs
from support import ROOT, expect, read_bytes, read_text, run_parts
from workflow import BENCH, Forge, load, told, zip_of

RULES = "rules:\n  - {id: new-work, why: more calls, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
STORED = "version: 1\nsuites:\n  - {name: %s, trace: {files: '%srun*.json.gz', run: 'run(\\d+)'}, baseline: stored}\n" + RULES
TREE = "  - {name: %s, trace: {files: 'out/%s/run*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/%s/run*.json.gz'}\n"
ZERO = "0" * 40


def workflow(name):
    return load(os.path.join(ROOT, "examples/workflows", name))


def repository(folder, policy, more=None):
    box = Box(folder)
    files = {".tracegate.yml": policy, "bench.py": BENCH, "requirements.txt": "", "variant": "base 0\n", "docs/a.md": "x"}
    sha = box.commit("start", dict(files, **(more or {})))
    box.push(sha, "main")
    return box, sha


def queue(f, doc, base, head, name):
    ref = f"refs/heads/gh-readonly-queue/main/{name}"
    f.box.git(f.box.work, "push", "-q", "-f", f.box.bare, f"{head}:{ref}")
    return f.run(doc, "merge_group", {"action": "checks_requested", "merge_group": {"base_sha": base, "head_sha": head}}, ref, head)


def results(jobs):
    return {name: job.result for name, job in jobs.items()}


def refs(box, commit=""):
    return [r for r in box.git(box.bare, "for-each-ref", "--format=%(refname)", "refs/tracegate").split() if commit in r]


# ---- pull requests, pushes, merge queue ----------------------------------------------------------

def pull_requests(folder, mock):
    box, start = repository(folder, STORED % ("train", "out/"))
    f, gate, record = Forge(box, mock), workflow("pull-request.yml"), workflow("record.yml")
    jobs = f.push(record, start)
    expect("push", (results(jobs), len(refs(box, start))), ({"record": "success"}, 5))
    told("push", jobs)
    expect("push, again: the same runs", (results(f.push(record, start)), len(refs(box))), ({"record": "success"}, 5))
    expect("push to a branch", f.push(record, start, "feature"), {})
    docs, code = {"docs/a.md": "y", "notes.md": "z"}, {"variant": "base 10\n"}
    # number, what changes -> gate, verdict (None: the bench did not even start), writes
    table = [(7, code, "success", "pass", []), (8, {"variant": "extra_copy 0\n"}, "failure", "fail", ["POST"]),
             (9, docs, "success", None, []), (10, dict(docs, **code), "success", "pass", [])]
    for number, files, result, verdict, writes in table:
        sha, before = box.pull_request(number, start, files, f"b{number}"), len(mock.writes())
        jobs = f.pull(gate, number, sha)
        what, job = f"pull request {number}", jobs["gate"]
        expect(f"{what}: jobs", results(jobs), {"gate": result, "record": "skipped"})
        expect(f"{what}: verdict", job.action and job.action.result["verdict"], verdict)
        expect(f"{what}: bench", "python3 bench.py" in job.ran, verdict is not None)
        expect(f"{what}: not applicable", "not applicable" in job.summary, verdict is None)
        expect(f"{what}: first run", "first run" in job.summary.lower(), False)
        expect(f"{what}: comment", mock.writes()[before:], writes)
        expect(f"{what}: artifacts", sorted(f.artifacts.get(str(f.runs), {})), ["tracegate", "traces"] if verdict else [])
        told(what, jobs)
    return box, f, gate, start


def merge_queue(folder, mock):
    """What was measured in the queue is the baseline when its commit lands; what failed is not one."""
    box, f, gate, start = pull_requests(folder, mock)
    # name, what changes -> gate, record, stored runs of the commit
    for name, files, result, recorded, stored in (
            ("pr-11", {"variant": "base 5\n"}, "success", "success", 5),
            ("pr-12", {"variant": "extra_copy 0\n"}, "failure", "skipped", 0),
            ("pr-13", {"docs/a.md": "q"}, "success", "skipped", 0)):
        box.git(box.work, "checkout", "-q", "-B", name, start)
        head = box.commit(name, files)
        jobs = queue(f, gate, start, head, name)
        expect(f"queue {name}", results(jobs), {"gate": result, "record": recorded})
        expect(f"queue {name}: stored", len(refs(box, head)), stored)
        told(f"queue {name}", jobs)
        if stored:
            landed = head
    box.push(landed, "main")
    jobs = f.pull(gate, 14, box.pull_request(14, landed, {"variant": "base 10\n"}, "after"))
    expect("landed", (results(jobs)["gate"], landed[:7] in jobs["gate"].summary), ("success", True))
    told("landed", jobs)


# ---- forks ---------------------------------------------------------------------------------------

def second_half(f, doc, run_id, head, artifact, number=10, owner="mallory", found=None, size=None, mock=None):
    """forks.yml after run `run_id`: GitHub knows pull request `number` by owner, branch and commit."""
    mock.routes = {"/repos/o/r/pulls": found if found is not None else [
        {"number": number, "head": {"sha": head}, "base": {"ref": "main"}}],
        f"/repos/o/r/actions/runs/{run_id}/artifacts": {"total_count": 1, "artifacts": [
            {"id": 55, "name": "traces", "size_in_bytes": size or len(artifact)}]},
        "/repos/o/r/actions/artifacts/55/zip": artifact}
    event = {"action": "completed", "workflow": {"name": "performance"}, "workflow_run": {
        "id": run_id, "event": "pull_request", "head_sha": head, "head_branch": "fix/$(touch pwned);`x`&&",
        "head_repository": {"full_name": f"{owner}/r", "owner": {"login": owner}}, "pull_requests": []}}
    return f.run(doc, "workflow_run", event, "refs/heads/main", f.box.git(f.box.bare, "rev-parse", "main"))


def forks(folder, mock):
    box, start = repository(folder, STORED % ("train", "out/"))
    f, gate, half = Forge(box, mock), workflow("pull-request.yml"), workflow("forks.yml")
    f.push(workflow("record.yml"), start)
    later = box.commit("docs", {"docs/a.md": "later"})  # a commit without a baseline: a gap
    box.push(later, "main")
    sha = box.pull_request(10, later, {"variant": "extra_copy 0\n"}, "fork")
    jobs = f.pull(gate, 10, sha, fork=True)
    expect("fork: first half", (results(jobs)["gate"], jobs["gate"].action.result["verdict"], len(mock.comments)), ("failure", "fail", 0))
    expect("fork: says why", "may not write" in jobs["gate"].log, True)
    expect("fork: stored baseline of the repository was read", start[:7] in jobs["gate"].summary, True)
    artifact = f.artifacts[str(f.runs)]["traces"]
    jobs = second_half(f, half, f.runs, box.heads[10], artifact, mock=mock)
    body = mock.comments[-1]["body"] if mock.comments else ""
    expect("fork: second half", (results(jobs), jobs["comment"].action and jobs["comment"].action.result["verdict"]),
           ({"comment": "failure"}, "fail"))
    expect("fork: the comment", (body.split("\n")[0], "`aten::clone`" in body, len(mock.comments)), ("<!-- tracegate:report key=train -->", True, 1))
    expect("fork: on the right pull request", {p for m, p in mock.log if m == "POST"}, {"/repos/o/r/issues/10/comments"})
    expect("fork: the same baseline", start[:7] in body, True)
    told("fork", jobs)
    jobs = second_half(f, half, f.runs, box.heads[10], artifact, owner="o", mock=mock)
    expect("not a fork", results(jobs), {"comment": "skipped"})
    for what, found in (("no open pull request", []), ("pushed since", [{"number": 10, "head": {"sha": ZERO}, "base": {"ref": "main"}}])):
        before = len(mock.writes())
        jobs = second_half(f, half, 1, box.heads[10], artifact, found=found, mock=mock)
        expect(what, (results(jobs), len(mock.writes()) - before), ({"comment": "success"}, 0))
    hostile_artifacts(f, half, box.heads[10], mock, folder)


def hostile_artifacts(f, half, head, mock, folder):
    trace = read_bytes(runs("base")[0])
    # name, entries, said; all are refused: no trace is read, no comment written, nothing outside touched
    table = [
        ("zip slip", [("../../pwned.json.gz", trace)], "something else than"),
        ("zip slip behind a good one", [("run0.json.gz", trace), ("../run1.json.gz", trace)], "something else than"),
        ("absolute", [("/tmp/pwned.json.gz", trace)], "something else than"),
        ("a link", [("run0.json.gz", "/etc/passwd")], "something else than"),
        ("a link to climb", [("run0.json.gz", ".."), ("run0.json.gz/x", trace)], "something else than"),
        ("a folder", [("out/", b""), ("out/run0.json.gz", trace)], "something else than"),
        ("a policy", [(".tracegate.yml", b"version: 1\n"), ("run0.json.gz", trace)], "something else than"),
        ("the number of another pull request", [("run0.json.gz", trace), ("number", b"7")], "something else than"),
        ("a name with a command", [("run0.json.gz\n::error::pwned", trace)], "something else than"),
        ("a hundred", [(f"run{i}.json.gz", trace) for i in range(100)], "100 files"),
        ("a bomb", [("run0.json.gz", bytes(200_000_001))], "more than 200 MB"),
        ("the same twice", [("run0.json.gz", trace), ("run0.json.gz", trace)], "FileExistsError"),
        ("no archive", None, "not a zip file"),
    ]
    for name, entries, said in table:
        before = len(mock.writes())
        jobs = second_half(f, half, 1, head, b"PK?" if entries is None else zip_of(entries), mock=mock)
        job = jobs["comment"]
        expect(f"artifact, {name}", (job.result, said in job.log, job.action, mock.writes()[before:]), ("failure", True, None, []))
        expect(f"artifact, {name}: commands", [x for x in job.log.split("\n") if "pwned" in x and x.startswith("::")], [])
        told(f"artifact, {name}", jobs)
    for where in (folder, os.path.dirname(folder), "/tmp"):
        expect(f"nothing in {where}", [n for n in os.listdir(where) if "pwned" in n], [])
    jobs = second_half(f, half, 1, head, zip_of([("run0.json.gz", trace)]), size=500_000_001, mock=mock)
    expect("more than 500 MB", (results(jobs), "more than 500 MB" in jobs["comment"].log, jobs["comment"].action),
           ({"comment": "success"}, True, None))
    # Names in traces that want out: one comment, updated, its Markdown harmless.
    with tempfile.TemporaryDirectory() as temp:
        entries = [(f"run{i}.json.gz", read_bytes(p)) for i, p in enumerate(hostile_traces(temp))]
    jobs = second_half(f, half, 1, head, zip_of(entries), mock=mock)
    outside = re.findall(r"@octocat|<img", github.outside_code(mock.comments[-1]["body"]))
    expect("hostile names", (jobs["comment"].result, len(mock.comments), outside), ("failure", 1, []))
    told("hostile names", jobs)
    # A damaged trace is an error, never a pass.
    jobs = second_half(f, half, 1, head, zip_of([("run0.json.gz", trace[:3000])]), mock=mock)
    expect("damaged", (jobs["comment"].result, jobs["comment"].action.result["verdict"]), ("failure", "error"))


# ---- the others ----------------------------------------------------------------------------------

def nightly(folder, mock):
    box, first = repository(folder, STORED % ("nightly", "out/nightly/"))
    f, doc = Forge(box, mock), workflow("nightly.yml")
    nights = [(first, "success", "pass"), (box.commit("quiet", {"variant": "base 5\n"}), "success", "pass"),
              (box.commit("slower", {"variant": "extra_copy 0\n"}), "failure", "fail")]
    for i, (sha, result, verdict) in enumerate(nights):
        box.push(sha, "main")
        jobs = f.night(doc, sha)
        expect(f"night {i}", (results(jobs), '"verdict": "' + verdict in report(jobs["gate"]), len(refs(box, sha))), ({"gate": result}, True, 5))
        kept = "traces" in f.artifacts[str(f.runs)]
        expect(f"night {i}: traces are kept of a failure alone", kept, result == "failure")
        told(f"night {i}", jobs)
    # by hand, against the commit that was slow itself: nothing more is called
    for base, result in ((nights[2][0], "success"), (nights[0][0], "failure")):
        stored = len(refs(box))
        jobs = f.run(doc, "workflow_dispatch", {"inputs": {"base": base}}, "refs/heads/main", nights[2][0], inputs={"base": base})
        expect(f"by hand against {base[:7]}", (results(jobs), len(refs(box)) - stored), ({"gate": result}, 0))
        told("by hand", jobs)


def nights(folder, mock):
    """Five nights: nothing, nothing, an extra copy (an event and an issue, red once), the same (green), mended (closed)."""
    box, first = repository(folder, STORED % ("nightly", "out/nightly/"))
    f, doc = Forge(box, mock), workflow("nights.yml")
    doc["jobs"]["nights"]["env"]["PAGES_BRANCH"] = "gh-pages"
    table = [(first, "success", []), ("base 5", "success", []), ("extra_copy 0", "failure", ["open"]), ("extra_copy 0", "success", ["open"]),
             ("base 10", "success", ["closed"])]
    for i, (variant, result, issues) in enumerate(table):
        sha = variant if i == 0 else box.commit(f"night {i}", {"variant": variant + "\n"})
        box.push(sha, "main")
        jobs = f.night(doc, sha)
        expect(f"night {i}", (results(jobs), len(refs(box, sha))), ({"nights": result}, 5))
        expect(f"night {i}: traces are kept of a failure alone", "traces" in f.artifacts[str(f.runs)], result == "failure")
        expect(f"night {i}: issues", [x["state"] for x in mock.issues], issues)
        page = box.git(box.bare, "show", "gh-pages:index.html")
        expect(f"night {i}: the page", (page.startswith("<!doctype html>"), sha[:10] in page), (True, True))
        told(f"night {i}", jobs)
    expect("a commit a night", box.git(box.bare, "rev-list", "--count", "gh-pages"), "5")
    expect("the issue", ("aten::clone" in mock.issues[0]["title"], "night 2" in mock.issues[0]["body"]), (True, True))
    # a token that may not write issues: a warning, the night's answer stays
    doc["jobs"]["nights"]["permissions"]["issues"] = "read"
    sha = box.commit("night 5", {"variant": "extra_copy 0\n"})
    box.push(sha, "main")
    jobs = f.night(doc, sha)
    expect("read-only", (results(jobs), "may not write" in jobs["nights"].log, len(mock.issues)), ({"nights": "failure"}, True, 1))
    told("read-only", jobs)


def report(job):
    """The JSON of the job's artifact "tracegate"."""
    stored = job.forge.artifacts[str(job.forge.runs)]["tracegate"]
    with zipfile.ZipFile(io.BytesIO(stored)) as z:
        return z.read("tracegate-json.json").decode()


def ab(folder, mock):
    box, start = repository(folder, "version: 1\n" + RULES)
    f, doc = Forge(box, mock), workflow("ab.yml")
    for number, variant, result, n in ((7, "base 10\n", "success", 5), (8, "extra_copy 0\n", "failure", 1)):
        jobs = f.pull(doc, number, box.pull_request(number, start, {"variant": variant}, f"b{number}"))
        expect(f"ab {number}", results(jobs), {"gate": result})
        expect(f"ab {number}: runs a side",
               f'"runs": [\n      {n},\n      {n}' in report(jobs["gate"]) or f'"runs": [{n}, {n}]' in report(jobs["gate"]), True)
        told(f"ab {number}", jobs)
    box.push(box.heads[8], "slow")
    jobs = f.run(doc, "workflow_dispatch", {"inputs": {}}, "refs/heads/slow", box.heads[8], inputs={"base": "origin/main", "once": "2"})
    expect("ab by hand", (results(jobs), '"verdict": "fail"' in report(jobs["gate"])), ({"gate": "failure"}, True))
    told("ab by hand", jobs)


def monorepo(folder, mock):
    policy = "version: 1\nsuites:\n" + "".join(TREE % (s, s, s) for s in ("train", "serve")) + RULES
    more = {"perf/train": runs("base"), "perf/serve": runs("base")}
    # with a file of the change, other runs: never one recording on both sides
    other_runs = BENCH.replace("int(first)", "int(first) - 5 * any(map(os.path.exists, (here + '/x.py', here + '/../shared/x.py')))")
    expect("monorepo: the bench", other_runs != BENCH, True)
    for s in ("train", "serve"):
        more.update({f"{s}/bench.py": other_runs, f"{s}/variant": "base 10\n", f"{s}/requirements.txt": ""})
    box, start = repository(folder, policy, more)
    f, doc = Forge(box, mock), workflow("monorepo.yml")
    # number, what changes -> train, serve, which of them were measured
    for number, files, train, serve, measured in (
            (7, {"train/variant": "extra_copy 0\n"}, "failure", "success", {"train"}),
            (8, {"serve/x.py": "y"}, "success", "success", {"serve"}),
            (9, {"shared/x.py": "y"}, "success", "success", {"train", "serve"}),
            (10, {"README.md": "y", "train/README.md": "z"}, "success", "success", set())):
        jobs = f.pull(doc, number, box.pull_request(number, start, files, f"b{number}"))
        expect(f"monorepo {number}", results(jobs), {"gate (train)": train, "gate (serve)": serve})
        expect(f"monorepo {number}: measured", {n[6:-1] for n, j in jobs.items() if j.action}, measured)
        told(f"monorepo {number}", jobs)
    expect("monorepo: whose comment", [c["body"].split("\n")[0] for c in mock.comments], ["<!-- tracegate:report key=train -->"])


def gpu(folder, mock):
    box, start = repository(folder, STORED % ("train", "out/"))
    f, doc = Forge(box, mock), workflow("gpu.yml")
    f.push(workflow("record.yml"), start)
    same = box.pull_request(7, start, {"variant": "base 10\n"}, "same")
    more = box.pull_request(8, start, {"variant": "extra_copy 0\n"}, "more")
    docs = box.pull_request(9, start, {"docs/a.md": "y"}, "docs")
    ok, red, skip = "success", "failure", "skipped"
    # pull request, fork, action, label -> changes, measure, (name and answer of the last job)
    table = [
        (7, same, False, "opened", None, ok, ok, ("gate", ok)),
        (8, more, False, "synchronize", None, ok, red, ("gate", red)),
        (9, docs, False, "opened", None, ok, skip, ("gate", ok)),
        (7, same, True, "opened", None, ok, skip, ("gate", red)),
        (7, same, True, "labeled", "run-gpu", ok, ok, ("gate", ok)),
        (8, more, True, "labeled", "run-gpu", ok, red, ("gate", red)),
        # the label is still there, but nobody has read the new commit
        (7, same, True, "synchronize", None, ok, skip, ("gate", red)),
        (7, same, True, "labeled", "bug", skip, skip, ("other label", ok)),
        (7, same, False, "labeled", "bug", skip, skip, ("other label", ok)),
        (9, docs, True, "opened", None, ok, skip, ("gate", ok)),
    ]
    for number, sha, fork, action, label, changes, measure, last in table:
        jobs = f.pull(doc, number, sha, fork, action, label)
        what = f"gpu {number} fork={fork} {action} {label}"
        expect(what, results(jobs), {"changes": changes, "measure": measure, last[0]: last[1]})
        told(what, jobs)
    box.git(box.work, "checkout", "-q", "-B", "q", start)
    jobs = queue(f, doc, start, box.commit("q", {"variant": "base 5\n"}), "pr-1")
    expect("gpu, merge queue", results(jobs), {"changes": ok, "measure": ok, "gate": ok})
    doc["jobs"]["changes"]["steps"][1]["run"] = "exit 1"  # what fails before must not pass as skipped
    expect("gpu, broken", results(f.pull(doc, 7, same)), {"changes": red, "measure": skip, "gate": red})


# `planted` in the repository: variant, the rank that has it, the first run of base for the others, the rank that is lost (9: all)
RANK_BENCH = '''
import os, shutil, sys

rank, (variant, which, first, lost) = int(os.environ["RANK"]), open("planted").read().split()
if lost in (str(rank), "9"):
    sys.exit(f"rank {rank} has died")
variant, run = (variant, rank) if which == str(rank) else ("base", int(first) + rank)
shutil.copy(f"{os.environ['TRACES']}/{variant}/run{run:02}.json.gz", sys.argv[-1])
'''


def manual_policy():
    """The policy that docs/clusters.md shows beside the workflow."""
    return re.search(r"^## CI matrix\n.*?^```yaml\n(.*?)^```$", read_text(os.path.join(ROOT, "docs/clusters.md")), re.S | re.M)[1]


def ranks(folder, mock):
    """One recorded trace a rank. Counts of all runs of `base` are equal, so other runs pass; `extra_copy` calls
    aten::clone and aten::copy_ more often (examples/expected.csv)."""
    box, start = repository(folder, manual_policy(), {"bench.py": RANK_BENCH, "planted": "base 0 0 -\n"})
    f, doc = Forge(box, mock), workflow("ranks.yml")
    ok, red, skip = "success", "failure", "skipped"
    jobs = f.push(doc, start)
    expect("ranks: push", (results(jobs), len(refs(box, start))),
           ({**{f"rank ({k})": ok for k in range(4)}, "gate": skip, "record": ok}, 1))
    told("ranks: push", jobs)
    # number, planted -> ranks whose jobs fail, gate, verdict, what its summary says and does not
    table = [
        (7, "base - 9 -", [], ok, "pass", [], ["aten::clone", "rank 2"]),
        (8, "base - 5 -", [], ok, "pass", [], ["aten::clone", "rank 2"]),
        (9, "extra_copy 2 0 -", [], red, "fail", ["aten::clone", "rank 2"], ["rank 0", "rank 1", "rank 3"]),
        (10, "extra_copy 0 5 -", [], red, "fail", ["aten::clone", "rank 0"], ["rank 1", "rank 2", "rank 3"]),
        (11, "base 0 0 2", [2], red, "inconclusive", ["rank 2 of 4 has no fresh trace"], ["aten::clone", "rank 1", "rank 3"]),
        (12, "base 0 5 3", [3], red, "inconclusive", ["rank 3 of 4 has no fresh trace"], ["aten::clone", "rank 1", "rank 2"]),
        (13, "extra_copy 0 0 2", [2], red, "fail", ["aten::clone", "rank 0", "rank 2 of 4 has no fresh trace"], ["rank 1", "rank 3"]),
        (14, "base 0 0 9", [0, 1, 2, 3], red, None, [], []),
    ]
    for number, planted, dead, gate, verdict, said, unsaid in table:
        jobs = f.pull(doc, number, box.pull_request(number, start, {"planted": planted + "\n"}, f"b{number}"))
        what, job = f"ranks {number}", jobs["gate"]
        expect(f"{what}: jobs", results(jobs), {**{f"rank ({k})": red if k in dead else ok for k in range(4)}, "gate": gate, "record": skip})
        expect(f"{what}: verdict", job.action and job.action.result["verdict"], verdict or "got")
        for text in said + unsaid:
            expect(f"{what}: {text}", text in job.summary, text in said)
        expect(f"{what}: baseline", start[:7] in job.summary, verdict is not None)
        expect(f"{what}: artifacts", sorted(f.artifacts.get(str(f.runs), {})),
               [f"summary-{k}" for k in range(4) if k not in dead] + (["tracegate"] if verdict else []))
        told(what, jobs)
    # a push without one of the ranks stores nothing
    lost = box.commit("lost", {"planted": "base 0 0 1\n"})
    box.push(lost, "main")
    jobs = f.push(doc, lost)
    expect("ranks: lost push", (jobs["rank (1)"].result, jobs["record"].result, len(refs(box, lost))), (red, skip, 0))


run_parts(*map(github.with_mock, (merge_queue, forks, nightly, nights, ab, monorepo, gpu, ranks)))
