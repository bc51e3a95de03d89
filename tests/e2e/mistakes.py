#!/usr/bin/env python3
"""What a newcomer types wrong, in a repository with perf/ on main and fresh runs in out/: each mistake has its exit code,
says what failed, and guesses what was meant. The words were chosen before the messages were read.
"""
import gzip
import json
import os
import sqlite3
import subprocess

from guides import prepare
from support import ENV, PROGRAM, expect, expect_has, read_bytes, run_parts, write_bytes

FRESH = "out/run*.json.gz"  # the shell expands it, as it would a user's
MISTAKES = [  # the line, exit, what standard error says
    ("chek out", 2, ["no command 'chek'", "Did you mean check?"]),
    (f"check {FRESH} --runs --baselin perf", 2, ["no option '--baselin'", "Did you mean --baseline?"]),
    (f"check {FRESH} --runs 5 --baseline perf", 2, ["--runs takes no value, and there is no file '5'", "tracegate ab"]),
    (f"check {FRESH} --runs --baseline perf/*.json.gz", 2, ["4 of 9 fresh traces are in the folder of the baseline", "quote the glob"]),
    ("check out/run0.json.gz --runs --baseline out/run1.json.gz", 0, []),  # one folder may hold both sides
    (f"check {FRESH} --baseline perf", 2, ["ranks or repeats?", "say --runs"]),
    (f"check {FRESH} --runs --ranks --baseline perf", 2, ["exclude each other"]),
    ("check 'nothing/*.json.gz' --baseline perf", 3, ["no file matches", "There is no folder 'nothing' here"]),
    ("check out/run9.json.gz --baseline perf/run0.json.gz", 3, ["no such file", "Did you mean 'out/run"]),
    ("check empty --baseline perf", 3, ["folder 'empty' holds no trace", ".json.gz"]),
    (f"check {FRESH} --runs --format json", 2, ["no option '--format'", "--json FILE"]),
    (f"check {FRESH} --runs --baseline perf --junit", 2, ["--junit needs a value: FILE"]),
    (f"check {FRESH} --runs --baseline perf --policy nothing.yml", 2, ["cannot open 'nothing.yml'"]),
    (f"check {FRESH} --runs --baseline perf --policy out/run0.json.gz", 2, ["is a trace, not a policy", "without an option"]),
    (f"check {FRESH} --runs --baseline perf --policy x/trace.json", 2, ["is a trace, not a policy"]),
    (f"check {FRESH} --runs --baseline perf --policy x/tab.yml", 2, ["x/tab.yml:3:1", "tab character", "indent with blanks"]),
    (f"check {FRESH} --runs --baseline perf --policy x/preset.yml", 2, ["no preset 'tracegate:recomended'", "tracegate:recommended"]),
    (f"check {FRESH} --runs --baseline perf --policy x/key.yml", 2, ["unknown key 'rule'", "did you mean 'rules'?"]),
    (f"check {FRESH} --runs --baseline perf --policy x/list.yml", 2, ["the file must be a policy, not a list", "write  version: 1"]),
    (f"check {FRESH} --runs --baseline perf --policy x/long.yml", 2, ["x/long.yml:4:19", "rank", "510"]),
    (f"check {FRESH} --runs --baseline perf --policy x/size.yml --ask x/asked.json", 2, ["--detect '5000%' is not a size"]),
    (f"check {FRESH} --runs --baseline perf --cause-trace x.json", 2, ["--cause-trace needs a path of each side", "Give it twice: baseline=PATH"]),
    (f"check {FRESH} --runs --baseline perf --policy x/rule.yml", 2, ["unknown key 'id'", "remove, add; a list is written  - {id: x"]),
    ("check x/nowhere.json.gz --baseline perf/run0.json.gz", 3, ["a symbolic link that leads nowhere"]),
    (f"check {FRESH} --runs --baseline perf --policy x/policy.json", 1, []),  # JSON is YAML
    (f"check {FRESH} --runs --baseline perf", 1, ["'.github/tracegate.yml' is not read", ".tracegate.yml"]),
    (f"check {FRESH} --runs --baseline master:perf", 2, ["revision 'master' does not exist", "git fetch origin master"]),
    (f"check {FRESH} --runs --baseline main:prf", 4, ["holds no trace at 'prf'", "git ls-tree"]),
    ("check x/cut.json.gz --baseline perf/run0.json.gz", 3, ["the gzip stream ends early", "truncated"]),
    ("diff x/proton.hatchet x/proton.hatchet", 3, ["hatchet", "Proton", "torch.profiler"]),
    ("analyze x/proton.hatchet --whole --measure ops", 3, ["hatchet", "Proton"]),
    ("summarize x/objects.json -o x/s.tgs", 3, ["not a trace", "none of its 2 objects has a name"]),
    ("analyze x/rows.json --whole --measure ops", 3, ["not a trace", "none of its 2 objects has a phase (ph)"]),
    ("analyze x/h.xplane.pb", 3, ["XPlane", "trace.json.gz"]),
    ("check x/report.sqlite --baseline perf/run0.json.gz", 3, ["CUPTI_ACTIVITY_KIND_KERNEL", "no column 'start'", "Export it again"]),
    ("check x/browser.db --baseline perf/run0.json.gz", 3, ["SQLite", "not of a profiler", "nsys export", "rocprofv3"]),
    ("diff x/report.nsys-rep perf/run0.json.gz", 3, ["report of Nsight Systems", "nsys export --type sqlite"]),
    ("check x/rocprof.json --baseline perf/run0.json.gz", 3, ["no traceEvents", "rocprofv3"]),
    ("check x/snapshot.json --baseline perf/run0.json.gz", 3, ["is a pickle", "export_chrome_trace"]),
    ("check x/table.json --baseline perf/run0.json.gz", 3, ["not a trace", "export_chrome_trace"]),
    ("check x/list.json --baseline perf/run0.json.gz", 3, ["not an object", "export_chrome_trace"]),
    ("check x/zero.json --baseline perf/run0.json.gz", 3, ["is empty", "export_chrome_trace"]),
    ("check tb --baseline perf/run0.json.gz", 1, []),  # TensorBoard's folder: the trace in it is taken
    ("diff perf/*.json.gz out/*.json.gz --runs", 2, ["two sides, 10 given", "quote a glob"]),
    ("diff perf", 2, ["two sides, 1 given", "tracegate diff origin/main:perf out/"]),
    ("diff perf out --runs --json x.json", 2, ["no option '--json'", "--format json"]),
    ("analyze out/run0.json.gz --measure op", 2, ["does not know 'op'", "ops|"]),
    ("policy expain slower", 2, ["no verb 'expain'", "Did you mean explain?"]),
    ("policy", 2, ["policy: do what?", "explain"]),
    ("policy explain aten::clon out/run0.json.gz", 2, ["no operator or kernel", "Did you mean the operator 'aten::clone'?"]),
    ("baseline lst", 2, ["no verb 'lst'", "Did you mean list?"]),
    ("baseline record", 2, ["no trace given", "out/*.json.gz"]),
    ("calibrate out/run0.json.gz --runs", 2, []),
]


def trouble(tmp):
    """The files of the mistakes."""
    def write(name, text):
        write_bytes(f"{tmp}/{name}", text if isinstance(text, bytes) else text.encode())
    for folder in ("x", "tb", "empty", ".github"):
        os.makedirs(f"{tmp}/{folder}")
    whole = read_bytes(tmp + "/out/run0.json.gz")
    write("x/cut.json.gz", whole[:3000])
    write("x/list.yml", "- version: 1\n")
    write("x/long.yml", "version: 1\nsuites:\n  - name: a\n    trace: {rank: \"" + "r" * 508 + "(.)\", files: out}\n")
    write("x/size.yml", "version: 1\nab: {detect: 5000%}\n")
    write("x/rule.yml", "version: 1\nrules: {id: a, metric: idle, fail: {pp: 5pp}}\n")
    os.symlink("nothing", tmp + "/x/nowhere.json.gz")
    write("x/trace.json", gzip.decompress(whole))
    write("tb/host_1.1700000000.pt.trace.json.gz", whole)
    write("tb/events.out.tfevents.1.host", b"\x18" + bytes(30))
    write("x/zero.json", "")
    write("x/list.json", "[1, 2]")
    write("x/table.json", "Name,Self CPU\naten::mm,3\n")
    write("x/snapshot.json", b"\x80\x04\x95" + bytes(40))
    write("x/rocprof.json", json.dumps({"rocprofiler-sdk-tool": [{"metadata": {}}]}))
    write("x/proton.hatchet", json.dumps([{"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0}, "children": [
        {"frame": {"name": "k"}, "metrics": {"count": 2, "time (ns)": 300}, "children": []}]}, {"CUDA": {"0": {"arch": "90"}}}]))
    write("x/objects.json", '[{"a": 1}, {"b": 2}]')
    write("x/rows.json", '[{"name": "a", "mean": 1}, {"name": "b", "mean": 2}]')
    write("x/h.xplane.pb", b"\n\xb3\x8a\x01\x12\x09/host:CPU" + bytes(17_000))
    write("x/tab.yml", "version: 1\nrules:\n\t- id: a\n")
    write("x/preset.yml", "version: 1\nextends: [tracegate:recomended]\n")
    write("x/key.yml", "version: 1\nrule:\n  - {id: a}\n")
    write("x/policy.json", '{"version": 1, "extends": ["tracegate:recommended"]}')
    write(".github/tracegate.yml", "version: 1\nextends: [tracegate:counts-only]\n")
    with sqlite3.connect(tmp + "/x/report.sqlite") as db:
        db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(a)")
    with sqlite3.connect(tmp + "/x/browser.db") as db:
        db.execute("create table history(url)")
    write("x/report.nsys-rep", b"NVTXRPTF" + bytes(900))


def main(tmp):
    prepare(tmp, "extra_copy")
    trouble(tmp)
    for line, code, words in MISTAKES:
        run = subprocess.run(["bash", "-c", f"'{PROGRAM}' {line}"], cwd=tmp, env=ENV, capture_output=True, text=True)
        expect(f"{line}: exit; {run.stderr}", run.returncode, code)
        expect_has(line, run.stderr + " ".join(run.stdout.split()), *words)
    expect("enough was seen", len(MISTAKES) >= 30, True)


run_parts(main)
