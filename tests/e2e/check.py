#!/usr/bin/env python3
"""`tracegate check` in real git repositories: exit codes, messages with a place and a next step, and
no half-written report, whatever goes wrong. Expected codes: README.md, "Exit codes".
"""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import time

import support
from support import (ENV, PROGRAM, TRACES, check, expect, expect_end, expect_has, read_text, run_parts, tracegate, write_bytes,
                     write_text)
from plain_model import span

ENV = dict(ENV, GIT_AUTHOR_DATE="2026-01-02T03:04:05Z", GIT_COMMITTER_DATE="2026-01-02T03:04:05Z")
POLICY = """version: 1
suites:
  - name: train
    trace: {files: "out/run*.json.gz", run: 'run(\\d+)'}
    baseline: perf/run*.json.gz
rules:
  - {id: new-work, match: {kind: op}, metric: count, fail: {abs: 0}, exceptions: [small]}
"""


class Repository(support.Repository):
    env = ENV

    def __init__(self, folder, policy=POLICY, runs=("00", "01", "02")):
        super().__init__(folder)
        self.write(".gitignore", "out/\n")
        if policy:
            self.write(".tracegate.yml", policy)
        self.copies("base", "perf", runs)
        self.commit("baseline")

    def check(self, *args, env=None):
        return self.run("check", *args, env=env)


def fresh(folder, variant="base", runs=("10", "11", "12"), **kw):
    r = Repository(folder, **kw)
    r.git("checkout", "-q", "-b", "change")
    r.commit()
    r.copies(variant, "out", runs)
    return r


def the_main_job(tmp):
    r = fresh(tmp + "/same")
    expect("same code: exit", r.check("--json", "r.json").returncode, 0)
    report = json.load(open(r.path("r.json")))
    head = subprocess.run(["git", "rev-parse", "main"], cwd=r.dir, env=ENV, capture_output=True, text=True).stdout.strip()
    expect("same code: commit", report["baseline"]["commit"], head)
    expect("same code: verdict", report["verdict"] in ("pass", "warn"), True)

    r = fresh(tmp + "/copy", "extra_copy", ("00", "01", "02"))
    run = r.check("--json", "r.json", "--junit", "r.xml", "--markdown", "r.md", "--svg-counts", "c.svg",
                  "--svg-durations", "d.svg", "--csv", "t.csv", "--html", "p.html")
    expect_end("extra copy", run, 1, "aten::clone")
    for name in ("r.json", "r.xml", "r.md", "c.svg", "d.svg", "t.csv", "p.html"):
        expect(f"extra copy: {name} is there", os.path.getsize(r.path(name)) > 100, True)
    # The chart ends with what was judged, and is not noise: by the report's own numbers of each operator.
    table = {x["op_normalised"]: (x["change"], x["evidence"]) for x in json.load(open(r.path("r.json")))["table"]}
    svg = open(r.path("d.svg"), encoding="utf-8").read()
    shown = re.findall(r"<g><title>([^<]*): (?:increased|decreased|added|removed),[^<]*</title>", svg)
    expect("durations chart: there are some, and others are not shown", 0 < len(shown) < len(table), True)
    expect("durations chart: what is no proven change", [n for n in shown for c, e in [table[n]] if c == "same" and
                                                         not (e["judged"] and (e["proven"] or e["slower"] or e["faster"]))], [])
    first = {n: open(r.path(n), "rb").read() for n in ("r.json", "r.xml", "r.md", "c.svg", "d.svg", "t.csv", "p.html")}
    again = r.check("--json", "r.json", "--junit", "r.xml", "--markdown", "r.md", "--svg-counts", "c.svg",
                    "--svg-durations", "d.svg", "--csv", "t.csv", "--html", "p.html")
    expect("second run: same text", again.stdout, run.stdout)
    for name, data in first.items():
        expect(f"second run: same {name}", open(r.path(name), "rb").read() == data, True)
    expect_end("--exit-zero", r.check("--exit-zero"), 0, "--exit-zero")
    expect_end("--dry-run", r.check("--dry-run"), 0, "perf/run00.json.gz", "out/run00.json.gz", "merge base")


def baselines(tmp):
    # A gap: the last commit of main dropped the baseline; the one before it has it.
    r = fresh(tmp + "/gap")
    r.git("checkout", "-q", "main")
    r.git("rm", "-q", "-r", "perf")
    r.commit("drop the baseline")
    r.git("checkout", "-q", "-b", "later")
    r.commit()
    expect("gap: exit", r.check("--json", "r.json").returncode, 0)
    expect("gap: walked", json.load(open(r.path("r.json")))["baseline"]["walked"], 1)

    # Explicit sides: path, REV:PATH, REV.
    r = fresh(tmp + "/sides")
    expect("path", r.check("--baseline", "perf", "--runs").returncode, 0)
    expect("REV:PATH", r.check("--baseline", "main:perf").returncode, 0)
    expect("REV", r.check("--baseline", "main").returncode, 0)
    expect_end("unknown ref", r.check("--baseline", "nonesuch"), 2, err="nonesuch")
    expect("explicit and nothing there", r.check("--baseline", "main:nowhere").returncode, 4)
    # A trace outside the repository has no path of its own in a commit, and the policy names none.
    shutil.copyfile(f"{TRACES}/base/run00.json.gz", tmp + "/outside.json.gz")
    write_text(r.path("none.yml"), "version: 1\nextends: [tracegate:recommended]\n")
    expect_end("a trace from outside against a commit",
               tracegate("check", "../outside.json.gz", "--baseline", "main", "--policy", "none.yml", cwd=r.dir), 4, "--baseline main:PATH")

    # A shallow clone: history is cut before the merge base.
    src = fresh(tmp + "/deep")
    clone = tmp + "/shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", "--branch", "change", "file://" + src.dir, clone], env=ENV,
                   check=True, capture_output=True)
    shutil.copytree(src.path("out"), clone + "/out")
    expect_end("shallow", tracegate("check", "--baseline", "HEAD~1", cwd=clone), 3, err="fetch-depth")

    # No repository at all.
    lone = tmp + "/lone"
    os.makedirs(lone)
    shutil.copyfile(f"{TRACES}/base/run00.json.gz", lone + "/t.json.gz")
    expect("no repository: exit", tracegate("check", "t.json.gz", cwd=lone, env=dict(ENV, GIT_CEILING_DIRECTORIES=tmp)).returncode, 3)


def bad_input(tmp):
    r = fresh(tmp + "/bad")
    whole = open(r.path("out/run10.json.gz"), "rb").read()
    cases = [
        ("truncated gzip", whole[:len(whole) // 2], "byte"),
        ("empty file", b"", ""),
        ("no trace", b'{"hello": 1}', "trace"),
        ("cut JSON", gzip.decompress(whole)[:20000], "byte"),
        ("bad CRC", whole[:-8] + bytes(4) + whole[-4:], ""),
    ]
    for name, data, part in cases:
        write_bytes(r.path("out/run10.json.gz"), data)
        for report in ("r.json", "r.xml"):
            if os.path.exists(r.path(report)):
                os.remove(r.path(report))
        expect_end(f"{name}", r.check("--json", "r.json", "--junit", "r.xml"), 3, err=("out/run10.json.gz", "error:", part))
        expect(f"{name}: verdict", json.load(open(r.path("r.json")))["verdict"], "error")
        expect(f"{name}: JUnit says error", "<error" in open(r.path("r.xml")).read(), True)
    os.remove(r.path("out/run10.json.gz"))
    # the folder that the benchmark should have made: not a misspelt revision, and CI reads of it in JUnit
    for name, hint in (("new", "has the benchmark run"), ("outt", "Did you mean 'out'?")):
        os.remove(r.path("r.xml"))
        run = r.run("check", name, "--runs", "--baseline", "main:out", "--junit", "r.xml")
        expect_end(f"no folder {name}", run, 3, err=(f"'{name}' is neither a file, a folder nor a revision",))
        check(f"no folder {name}: {run.stderr}", hint.lower() in run.stderr.lower())
        expect(f"no folder {name}: JUnit says error", "<error" in read_text(r.path("r.xml")), True)
    run = r.run("check", "out", "--runs", "--baseline", "outt")
    expect_end("no such baseline", run, 2, err=("'outt' is neither a file, a folder nor a revision", "Did you mean 'out'?"))
    if os.geteuid() != 0:
        write_bytes(r.path("out/run10.json.gz"), whole)
        os.chmod(r.path("out/run10.json.gz"), 0)
        expect("unreadable", r.check().returncode, 3)
    shutil.copyfile(r.path("out/run11.json.gz"), r.path("out/run13.json.gz"))
    expect_end("the same bytes twice", r.check(), 2, err=("run11.json.gz", "run13.json.gz"))


def bad_policy(tmp):
    r = fresh(tmp + "/policy")
    r.write(".tracegate.yml", """version: 1
suites:
  - name: train
    trace: "out/run*.json.gz"
    baselin: perf
rules:
  - {id: a, metric: count, match: {kind: op}, fail: {abs: 200us}}
  - {id: b, metric: total, match: {kind: op}, fail: {abs: 200}}
  - {id: c, metric: idle, fail: {pct: 5%}}
  - {id: d, metric: added, match: {kind: op}, fail: {pct: 5%}}
  - {id: a, metric: count, match: {kind: op}, fail: {abs: 0}}
  - {id: e, metric: nonsense, fail: {abs: 0}}
  - {id: f, metric: count, match: {kind: operator}, fail: {abs: 0}}
  - {id: G, metric: count, match: {kind: op}, fail: {abs: 0}}
  - {id: h, metric: count, match: {name: "/(/"}, fail: {abs: 0}}
  - {id: i, metric: count, match: {kind: op}, threshold: 10%}
""")
    run = r.check("--json", "r.json")
    expect("ten mistakes: exit", run.returncode, 2)
    found = run.stderr.count("error[TG")
    expect("ten mistakes: all at once", found >= 10, True)
    expect_has("ten mistakes: place", run.stderr, ".tracegate.yml:5:", ".tracegate.yml:16:", "did you mean")
    expect("ten mistakes: no report", os.path.exists(r.path("r.json")), False)


def reports_whole_or_not(tmp):
    r = fresh(tmp + "/reports")
    r.write("none", "a file, no folder")
    expect_end("no folder", r.check("--json", "none/r.json", "--junit", "r.xml"), 5, "PASS: no regression found", err="none/r.json")
    expect_end("no room", r.check("--json", "/dev/full"), 5, "PASS: no regression found", err="/dev/full")
    expect_end("no folder, and no traces", r.run("check", "nothing.json", "--baseline", "out", "--json", "none/r.json"), 5, err="none/r.json")
    expect("no folder: nothing else was written", os.path.exists(r.path("r.xml")), False)
    # Killed at any moment: each report is whole or absent.
    whole = None
    for delay in [0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.5, 3]:
        for name in ("k.json", "k.xml"):
            if os.path.exists(r.path(name)):
                os.remove(r.path(name))
        p = subprocess.Popen([PROGRAM, "check", "--quiet", "--json", "k.json", "--junit", "k.xml"], cwd=r.dir, env=ENV,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        p.send_signal(signal.SIGKILL)
        p.wait()
        if os.path.exists(r.path("k.json")):
            whole = json.load(open(r.path("k.json")))
        if os.path.exists(r.path("k.xml")):
            expect("killed: XML is whole", open(r.path("k.xml")).read().rstrip().endswith("</testsuites>"), True)
    expect("killed late: report is there", whole is not None and "verdict" in whole, True)


def ranked_runs(tmp):
    """--runs with files of ranks: runs of ranks, not each file a run; a run that lacks a rank is told."""
    for side, first in (("base", 0), ("out", 6)):
        os.makedirs(f"{tmp}/ranked/{side}")
        for k in range(6):
            shutil.copy(f"{TRACES}/base/run{first + k:02}.json.gz", f"{tmp}/ranked/{side}/run{k // 2}_rank{k % 2}.json.gz")
    for lacking, words in ((None, "PASS"), ("run2_rank1", "rank 1 is not in every fresh run")):
        if lacking:
            os.remove(f"{tmp}/ranked/out/{lacking}.json.gz")
        run = tracegate("check", "--runs", "out", "--baseline", "base", cwd=tmp + "/ranked")
        expect(f"ranked runs without {lacking}: exit", run.returncode, 0)
        expect_has(f"ranked runs without {lacking}", " ".join(run.stdout.split()), "3 baseline runs, 3 fresh runs", words)


def batch_trace(gathers, elsewhere=0):
    """A step with one aten::bmm that calls aten::gather `gathers` times, and aten::index `elsewhere` times."""
    spans = [("ProfilerStep#1", "user_annotation", 100, 2000), ("aten::bmm", "cpu_op", 150.3, 900.4),
             ("aten::index", "cpu_op", 1100.3, 800)]
    spans += [("aten::gather", "cpu_op", at + 10 * i, 5.123) for at, n in ((160, gathers), (1110, elsewhere)) for i in range(n)]
    return json.dumps({"schemaVersion": 1, "traceEvents": [span(cat, name, ts, dur) for name, cat, ts, dur in spans]})


def inside_which_operator(tmp):
    """Additional calls that all lie in one operator name it in every report; spread ones name none."""
    r = Repository(tmp + "/inside", runs=())
    reports = {"--json": "r.json", "--junit": "r.xml", "--markdown": "r.md"}
    for what, test, inside in (("one", (66, 0), "aten::bmm"), ("two", (66, 3), None)):
        r.write("base.json", batch_trace(60))
        r.write("test.json", batch_trace(*test))
        run = r.check("--baseline", "base.json", "test.json", *(x for pair in reports.items() for x in pair))
        expect(f"inside {what}: exit", run.returncode, 1)
        text = {name: open(r.path(name), encoding="utf-8").read() for name in reports.values()}
        rows = json.loads(text.pop("r.json"))["violations"]
        expect(f"inside {what}: JSON", [(x["op"], x["calling_op"]) for x in rows], [("aten::gather", inside)])
        for name, report in {"text": run.stdout, **text}.items():
            line = " ".join(report.replace("`", "").split())
            expect(f"inside {what}: {name}", "all inside aten::bmm" in line, inside is not None)


def where_reports_go(tmp):
    """Standard output holds one report or the text; two reports in one file are a mistake."""
    r = fresh(tmp + "/outputs")
    run = r.check("--json", "-")
    expect("--json -: exit", run.returncode, 0)
    expect("--json -: only JSON", json.loads(run.stdout)["exit_code"], 0)
    os.symlink(".", r.path("here"))
    for one, other, code in (("x", "x", 2), ("x", "./x", 2), ("./x", "here/x", 2), ("new/x", "new/../new/x", 2), ("x", "new/x", 0), ("x", "y", 0)):
        run = r.check("--json", one, "--junit", other)
        expect(f"two reports, {one} and {other}: exit", run.returncode, code)
        expect(f"two reports, {one} and {other}: said", ("two outputs go to '" in run.stderr, run.stdout == ""), (code == 2,) * 2)
        expect(f"two reports, {one} and {other}: written", [os.path.exists(r.path(x)) for x in (one, other)], [not code] * 2)
    expect("a full device: exit", r.check("--json", "/dev/full").returncode, 5)
    expect("a full device stays one", os.path.isfile("/dev/full"), False)


run_parts(the_main_job, baselines, bad_input, bad_policy, reports_whole_or_not, ranked_runs, inside_which_operator, where_reports_go)
