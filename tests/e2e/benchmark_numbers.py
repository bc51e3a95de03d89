#!/usr/bin/env python3
"""Numbers of benchmarks beside the traces: each format, from the file system, a commit, the store and a stored summary.

Each format is written here as its benchmark writes it, from numbers that this script draws; what has to come out is
computed from those numbers.
"""
import gzip
import json
import os
import random
import shutil
import statistics
import xml.etree.ElementTree as ET

from support import ENV, ROOT, TRACES, expect, expect_end, expect_has, git, need, read_json, run_parts, tracegate, write_json, write_text

POLICY = """version: 1
suites:
  - name: serve
    trace: {{files: 'out/run*.json.gz', run: 'run(\\d+)'}}
    numbers: {numbers}
rules:
  - {{id: wait, metric: number, match: {{name: {wait}}}, fail: {{pct: 3%}}}}
{more}
"""


def lines(folder, stem, runs):
    for i, run in enumerate(runs):
        write_text(f"{folder}/{stem}{i}.numbers", "# bench\n" + "".join(f"{n} {v} {u}\n" for n, (v, u) in run.items()))


def one_file(folder, stem, runs):
    """All runs in one file: a name that comes again."""
    write_text(f"{folder}/{stem}.numbers", "".join(f"{n} {v} {u}\n" for run in runs for n, (v, u) in run.items()))


def vllm(folder, stem, runs):
    for i, run in enumerate(runs):
        write_json(f"{folder}/{stem}{i}.json", {"date": f"20260101-10000{i}", "endpoint_type": "vllm", "label": None, "model_id": "m",
                   "tokenizer_id": "m", "num_prompts": 100, "request_rate": "inf", "p99_itl_ms": float("nan"), "duration": 20.0 + i,
                   **{n: v for n, (v, _) in run.items()}, "ttfts": [0.1, 0.2], "errors": [""]})


def sglang(folder, stem, runs):
    write_text(f"{folder}/{stem}.jsonl", "".join(
        json.dumps({"tag": None, "backend": "sglang", "dataset_name": "random", "request_rate": float("inf"), **{n: v for n, (v, _) in run.items()},
                    "input_lens": [3, 4]}) + "\n" for run in runs))


def pytest_benchmark(folder, stem, runs):
    for i, run in enumerate(runs):
        write_json(f"{folder}/{stem}{i}.json", {"machine_info": {"node": "n", "cpu": {"flags": ["x"] * 100}}, "commit_info": {}, "benchmarks": [
            {"group": None, "name": n.split("::")[-1], "fullname": n, "stats": {"min": v / 2, "max": v * 9, "median": v, "mean": v * 3, "data": [v]}}
            for n, (v, _) in run.items()], "version": "4.0.0"})


def google(folder, stem, runs):
    """Three repetitions a run, the value in the middle, and the aggregates that the library adds."""
    for i, run in enumerate(runs):
        rows = [{"name": n, "run_name": n, "run_type": "iteration", "repetitions": 3, "repetition_index": k, "iterations": 10,
                 "real_time": v * f, "cpu_time": 1, "time_unit": u} for n, (v, u) in run.items() for k, f in enumerate((0.5, 1, 3))]
        rows += [{"name": n + "_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": v * 1.5, "time_unit": u}
                 for n, (v, u) in run.items()]
        write_json(f"{folder}/{stem}{i}.json", {"context": {"date": "2026-01-01T00:00:00", "num_cpus": 8}, "benchmarks": rows})


def named_values(folder, stem, runs):
    """What github-action-benchmark takes."""
    for i, run in enumerate(runs):
        write_json(f"{folder}/{stem}{i}.json", [{"name": n, "unit": u, "value": v, "range": "± 3", "extra": "5 runs"} for n, (v, u) in run.items()])


# writer, glob of its files, name of a time, its unit in reports, name of a rate
FORMATS = [(lines, "out/bench*.numbers", "ttft", "ms", "rate"), (one_file, "out/bench*.numbers", "ttft", "ms", "rate"),
           (vllm, "out/bench*.json", "median_ttft_ms", "ms", "output_throughput"),
           (sglang, "out/bench*.jsonl", "median_ttft_ms", "ms", "output_throughput"),
           (pytest_benchmark, "out/bench*.json", "t.py::test_a[8]", "s", None), (google, "out/bench*.json", "BM_mm/64", "us", None),
           (named_values, "out/bench*.json", "fib(10)", "ns", "items")]


def drawn(rng, names, factor=1.0, runs=5):
    """One per cent of noise around 200; times grow by the factor, rates shrink by it."""
    return [{n: (round(200 * (1 / factor if u.endswith("/s") else factor) * rng.gauss(1, 0.01), 6), u) for n, u in names.items()}
            for _ in range(runs)]


def place(tmp, glob, wait, more=""):
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(f"{tmp}/out")
    write_text(f"{tmp}/.tracegate.yml", POLICY.format(numbers=glob, wait=json.dumps(wait.replace("[8]", "*")), more=more))
    traces(tmp, range(5))


def traces(tmp, which):
    for f in os.listdir(f"{tmp}/out"):
        os.remove(f"{tmp}/out/{f}")
    for i in which:
        shutil.copy(f"{TRACES}/base/run{i:02}.json.gz", f"{tmp}/out/")


def check(tmp, *args):
    done = tracegate("check", "--json", "r.json", *args, cwd=tmp, timeout=120)
    done.report = read_json(f"{tmp}/r.json") if os.path.exists(f"{tmp}/r.json") else {}
    return done


def row(report, name):
    return next((r for part in ("violations", "passed", "inconclusive", "warnings", "suspicious", "not_judged") for r in report.get(part, [])
                 if r["op"] == name), None)


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def formats(tmp):
    rng = random.Random(5)
    for writer, glob, wait, unit, rate in FORMATS:
        what, here = writer.__name__, f"{tmp}/{writer.__name__}"
        names = {wait: unit, **({rate: "tok/s"} if rate else {})}
        more = f"  - {{id: rate, metric: number, match: {{name: {rate}}}, fail: {{pct: 3%}}}}" if rate else ""
        place(here, glob, wait, more)
        before = drawn(rng, names)
        os.makedirs(f"{here}/base")
        traces(here, range(5))
        writer(f"{here}/out", "bench", before)
        for f in os.listdir(f"{here}/out"):
            shutil.move(f"{here}/out/{f}", f"{here}/base/{f}")
        for factor, code in ((1.0, 0), (1.06, 1), (1 / 1.06, 0)):
            traces(here, range(5, 10))
            now = drawn(rng, names, factor)
            writer(f"{here}/out", "bench", now)
            done = check(here, "--baseline", "base")
            expect(f"{what} x {factor:.2f}", done.returncode, code)
            for name in names:
                r = row(done.report, name) or {}
                values = [statistics.median(run[name][0] for run in runs) for runs in (before, now)]
                numbers = next((n for n in done.report["numbers"] if n["name"] == name), {})
                expect(f"{what} {name}: medians", [near(a, b) for a, b in zip(numbers.get("value", [0, 0]), values)], [True, True])
                expect(f"{what} {name}: unit and runs", (numbers.get("unit"), numbers.get("runs")), (names[name], [5, 5]))
                expect(f"{what} {name} x {factor:.2f}: state", r.get("state"), "fail" if code else "pass")


def from_git(tmp):
    """A commit that has the traces and the numbers in one folder, and a stored baseline."""
    rng = random.Random(6)
    place(tmp, "out/bench*.numbers", "ttft", "")
    git(tmp, "init", "-q", "-b", "main")
    os.makedirs(f"{tmp}/perf")
    lines(f"{tmp}/perf", "bench", drawn(rng, {"ttft": "ms"}))
    for i in range(5):
        shutil.copy(f"{TRACES}/base/run{i:02}.json.gz", f"{tmp}/perf/")
    write_text(f"{tmp}/.gitignore", "out\nr.json\n")
    git(tmp, "add", "-A")
    git(tmp, "commit", "-qm", "perf")
    traces(tmp, range(5))
    lines(f"{tmp}/out", "bench", drawn(rng, {"ttft": "ms"}))
    expect_end("record", tracegate("baseline", "record", cwd=tmp), 0)
    git(tmp, "commit", "-q", "--allow-empty", "-m", "next")
    for factor, code in ((1.0, 0), (1.06, 1)):
        traces(tmp, range(5, 10))
        lines(f"{tmp}/out", "bench", drawn(rng, {"ttft": "ms"}, factor))
        expect(f"a commit's folder x {factor}", check(tmp, "--baseline", "HEAD:perf").returncode, code)
        done = check(tmp, "--baseline", "HEAD~1")
        expect(f"the store x {factor}", done.returncode, code)
        expect("runs of the store", [n["runs"] for n in done.report["numbers"]], [[5, 5]])


def stored_form(tmp):
    """A summary keeps the numbers that were read with it; a merge is a union."""
    rng = random.Random(7)
    place(tmp, "out/bench*.numbers", "ttft")
    for side in "ab":
        traces(tmp, range(5))
        lines(f"{tmp}/out", f"bench{side}", drawn(rng, {"ttft": "ms"}, runs=2))
        done = tracegate("summarize", *(f"out/{f}" for f in sorted(os.listdir(f"{tmp}/out"))), "-o", f"{side}.tgs", cwd=tmp)
        expect_end("summarize", done, 0)
    expect_end("merge", tracegate("merge", "a.tgs", "b.tgs", "-o", "all.tgs", cwd=tmp), 0)
    expect_end("merge", tracegate("merge", "all.tgs", "b.tgs", "a.tgs", "-o", "again.tgs", cwd=tmp), 0)
    with open(f"{tmp}/all.tgs", "rb") as one, open(f"{tmp}/again.tgs", "rb") as other:
        all_, again = one.read(), other.read()
    expect("the same bytes in any order", all_ == again, True)
    head = json.loads((gzip.decompress(all_) if all_[:2] == b"\x1f\x8b" else all_).decode().split("\n")[0] + "]}")
    expect("runs in the union", len(head["numbers"]), 4)


def what_lacks(tmp):
    """Nothing that is not there is green, and what cannot be read says where."""
    rng = random.Random(8)
    names = {"ttft": "ms"}
    place(tmp, "out/bench*.numbers", "ttft")
    os.makedirs(f"{tmp}/base")
    for i in range(5):
        shutil.copy(f"{TRACES}/base/run{i:02}.json.gz", f"{tmp}/base/")

    def fresh(write):
        traces(tmp, range(5, 10))
        write()
        return check(tmp, "--baseline", "base")

    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, names)))
    expect_end("not in the baseline", done, 4, "the baseline has no such number in ms")
    lines(f"{tmp}/base", "bench", drawn(rng, names))
    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, {"other": "ms"})))
    expect_end("not in the fresh runs", done, 4, "the fresh side has no such number in ms")
    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, {"ttft": "s"})))
    expect_end("another unit", done, 4, "has no such number in")
    done = fresh(lambda: None)
    expect_end("no file", done, 3, err=("looking for the numbers of suite 'serve'",))
    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, names, 2, runs=2)))
    told = row(done.report, "ttft") or {}
    expect("two runs, twice as long: not green", (told.get("state"), done.returncode), ("suspicious", 0))

    done = fresh(lambda: write_text(f"{tmp}/out/bench0.numbers", "ttft 1 ms\nttft much\n"))
    expect_end("damage", done, 3, err=("bench0.numbers:2", "not a number"))
    done = fresh(lambda: write_text(f"{tmp}/out/bench0.numbers", "hello\n"))
    expect_end("no format", done, 3, err=("not a file of numbers", "Formats: "))
    write_text(f"{tmp}/.tracegate.yml", POLICY.format(numbers="out/bench*.numbers", wait="ttft", more="").replace("pct: 3%", "max: 150"))
    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, names, 0.5, runs=1)))
    expect("a budget of one run is kept", done.returncode, 0)
    done = fresh(lambda: lines(f"{tmp}/out", "bench", drawn(rng, names, runs=1)))
    expect_end("a budget of one run is over", done, 1, "over the limit of 150")
    alone = tracegate("check", "out/bench0.numbers", "--baseline", "base", cwd=tmp)
    expect_end("no trace", alone, 2, err=("out/bench", "numbers, and no trace beside them"))


def reports(tmp):
    """What each report says of a number that got worse."""
    place(tmp, "out/bench*.numbers", "ttft")
    os.makedirs(f"{tmp}/base")
    for i in range(5):
        shutil.copy(f"{TRACES}/base/run{i:02}.json.gz", f"{tmp}/base/")
    lines(f"{tmp}/base", "bench", [{"ttft": (200 + i / 10, "ms")} for i in range(5)])
    traces(tmp, range(5, 10))
    lines(f"{tmp}/out", "bench", [{"ttft": (230 + i / 10, "ms")} for i in range(5)])
    done = check(tmp, "--baseline", "base", "--markdown", "r.md", "--junit", "r.xml", "--html", "r.html")
    expect_end("text", done, 1, "FAIL: 1 violation: ttft +15 %", "ttft: 230.2 ms, was 200.2 (+15 %, +30)", "Benchmarks' numbers changed")
    for name in ("r.md", "r.xml", "r.html"):
        with open(f"{tmp}/{name}", encoding="utf-8") as f:
            text = f.read().replace("\u00a0", " ")
        expect(f"{name} tells it", "was 200.2 (+15 %, +30)" in text, True)
    need("jsonschema", "python3-jsonschema").validate(done.report, read_json(os.path.join(ROOT, "docs/report.schema.json")))
    waived = tracegate("policy", "waive", "r.json", "--reason", "agreed", "--owner", "me", cwd=tmp)
    expect_has("a waiver", waived.stdout, "rule: wait", "name: 'ttft'")
    with open(f"{tmp}/.tracegate.yml", "a", encoding="utf-8") as f:
        f.write(waived.stdout)
    expect_end("accepted", check(tmp, "--baseline", "base"), 0, "1 waived", "ttft: 230.2 ms, was 200.2 (+15 %, +30)")


NIGHTS, CHANGED, RETURNED = 30, 16, 24
# number: (unit, its value, the factor from night CHANGED on, worse, the factor from night RETURNED on)
SERIES = {"median_ttft_ms": ("ms", 100, 1.06, True, 1.06), "output_throughput": ("tok/s", 2000, 1 / 1.06, True, 1 / 1.06),
          "median_itl_ms": ("ms", 8, 0.9, False, 0.9), "e2e|<b>": ("m|<s", 700, 1.0, None, 1.0), "loss": ("", 2.25, 1.2, True, 1.0),
          "failed": ("", 0, 1.0, None, 1.0)}


def a_night(tmp, rng, k):
    """Runs differ by 1 %, nights by another 0.5 %; night 5 has no benchmark."""
    def value(unit, base, changed, _, returned):
        return base * (returned if k >= RETURNED else changed if k >= CHANGED else 1) * night * rng.gauss(1, 0.01), unit

    night = rng.gauss(1, 0.005)
    traces(tmp, [k % 10])
    if k != 5:
        lines(f"{tmp}/out", "bench", [{n: value(*s) for n, s in SERIES.items()} for _ in range(5)])
    dated = {"GIT_AUTHOR_DATE": f"{1780000000 + 86400 * k} +0000", "GIT_COMMITTER_DATE": f"{1780000000 + 86400 * k} +0000"}
    git(tmp, "commit", "-q", "--allow-empty", "-m", f"night {k}", env={**ENV, **dated})
    return tracegate("baseline", "record", "--runs", "--suite", "serve", *(f"out/{f}" for f in sorted(os.listdir(f"{tmp}/out"))), cwd=tmp)


def in_history(tmp):
    """Each number is a series: shown and judged night after night, in its own direction."""
    rng = random.Random(10)
    place(tmp, "out/bench*.numbers", "median_ttft_ms", "  - {id: rate, metric: number, match: {name: output_throughput}, fail: {pct: 3%}}")
    git(tmp, "init", "-q", "-b", "main")
    write_text(f"{tmp}/.gitignore", "out\nr.json\n")
    git(tmp, "add", "-A")
    for k in range(NIGHTS):
        done = a_night(tmp, rng, k)
        expect("record", done.returncode, 0)
        code = tracegate("history", "--suite", "serve", cwd=tmp).returncode if k >= CHANGED else 0
        if k in (CHANGED, RETURNED):
            expect(f"night {k} alone shows no change", code, 0)
        if code and k < RETURNED:
            first = k
    expect("the first night that fails, of 8", CHANGED < first <= CHANGED + 4, True)

    told = tracegate("history", "--format", "json", "--fail-on", "open", cwd=tmp)
    report = json.loads(told.stdout)
    need("jsonschema", "python3-jsonschema").validate(report, read_json(os.path.join(ROOT, "docs/history.schema.json")))
    expect("open events fail", told.returncode, 1)
    series = {s["name"]: s for s in report["series"] if s["kind"] == "number"}
    expect("series", sorted(series), sorted(SERIES))
    for name, (unit, base, changed, _, returned) in SERIES.items():
        values = series[name]["values"]
        expect(f"{name}: unit, nights, the one without", (series[name]["unit"], len(values), values[5]), (unit, NIGHTS, None))
        level = statistics.median(v for v in values[RETURNED:])
        expect(f"{name}: level", abs(level - base * returned) <= 0.015 * base, True)
    moved = {}
    for e in report["events"]:
        for o in e["operators"]:
            if o["kind"] == "number":
                moved.setdefault(o["name"], []).append((e, o))
    expect("what moved", sorted(moved), sorted(n for n, s in SERIES.items() if s[2] != 1))
    for name, (unit, base, changed, worse, returned) in SERIES.items():
        for e, o in moved.get(name, []):
            expect(f"{name}: one change, its direction", (len(moved[name]), o["worse"]), (1, worse))
            expect(f"{name}: its size", abs(o["delta_pct"] / 100 - (changed - 1)) < 0.015, True)
            expect(f"{name}: no cost a step", o["cost_ns_per_step"], 0)
            commits = git(tmp, "log", "--format=%s", f"{e['from']}..{e['to']}").splitlines()
            expect(f"{name}: the range has the night", f"night {CHANGED}" in commits and len(commits) <= 3, True)
            expect(f"{name}: kind", e["kind"], "regression" if worse else "improvement")
            expect(f"{name}: back", o["back"], returned == 1)

    text = tracegate("history", cwd=tmp).stdout
    expect_has("text", text, "median_ttft_ms", " ms  ", "tok/s", "failed")
    expect_has("text, by name", tracegate("history", "--name", "output_*", cwd=tmp).stdout, "output_throughput")
    rows = tracegate("history", "--format", "csv", "--name", "median_ttft_ms", cwd=tmp).stdout.splitlines()
    expect("CSV: a line a night that has it", (len(rows), rows[1].split(",")[4]), (NIGHTS, "number"))
    expect_end("files", tracegate("history", "--markdown", "r.md", "--html", "r.html", "--svg", "r.svg", cwd=tmp), 0)
    for name in ("r.md", "r.html"):
        with open(f"{tmp}/{name}", encoding="utf-8") as f:
            page = f.read()
        expect_has(name, page, "output_throughput")
        expect(f"{name}: a unit is only text", "m|<s" in page or "m/<s" in page, False)
    ET.parse(f"{tmp}/r.svg")

    # against a night before the change the events explain it; more than that fails
    at = git(tmp, "rev-list", "--reverse", "HEAD").splitlines()[CHANGED - 3]
    write_text(f"{tmp}/.tracegate.yml",
               POLICY.format(numbers="out/bench*.numbers", wait="median_ttft_ms", more="").replace("suites:", f"baseline: {{ref: {at}}}\nsuites:"))
    done = check(tmp)
    expect("known", (done.returncode, (row(done.report, "median_ttft_ms") or {}).get("state")), (0, "warn"))
    lines(f"{tmp}/out", "bench", [{"median_ttft_ms": (150 + i, "ms")} for i in range(5)])
    expect("more than known", check(tmp).returncode, 1)


run_parts(formats, from_git, stored_form, what_lacks, reports, in_history)
