#!/usr/bin/env python3
"""`diff`, `summarize`, `merge` from outside: numbers against independent sums, sides, formats, codes.

The expected numbers come from Python's json with exact decimals, or are worked out beside the check.
"""
import csv
import decimal
import fractions
import glob
import gzip
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

import support
from support import CORPUS, PROGRAM, TRACES, check, finish, read_bytes, read_text, write_bytes, write_json, write_text
from plain_model import span


def run(*args, env=None, **more):
    return support.run(*args, env={"PATH": os.environ["PATH"], "HOME": tmp, **(env or {})}, **more)


def rows(*args, **kw):
    code, out, err = run("diff", *args, "--format", "json", **kw)
    check("diff %s exits 0" % " ".join(args), code == 0, err)
    return json.loads(out)["rows"] if code == 0 else []


def write(name, value):
    path = os.path.join(tmp, name)
    (write_text if isinstance(value, str) else write_json)(path, value)
    return path


# ---- a trace small enough to work out ----------------------------------------------------------

def event(cat, name, ts, dur, **args):
    return span(cat, name, ts, dur, 1, args.get("stream", 1), **args)


def trace(steps, kernels, rank=None, odd=0):
    """`steps` steps of 100 us with one aten::mm, one launch and `kernels` kernels each."""
    events, correlation = [], 0
    for i in range(steps):
        t = 1000 + 100 * i
        events.append(event("user_annotation", "ProfilerStep#%d" % (5 + i), t, 100))
        events.append(event("cpu_op", "aten::mm", t + 10, 30.125 + odd,
                            **{"Input Dims": [[8, 16], [16, 4 if i % 2 else 2]]}))
        for k in range(kernels):
            correlation += 1
            events.append(event("cuda_runtime", "cudaLaunchKernel", t + 11 + 2 * k, 1, correlation=correlation))
            events.append(event("kernel", "void gemm<float>(int)", t + 50 + 10 * k, 2.5, stream=0, device=0,
                                correlation=correlation, grid=[1 + k, 1, 1], block=[64, 1, 1]))
    events.append(event("cpu_op", "aten::mm", 5000, 7))  # outside every step
    out = {"schemaVersion": 1, "traceEvents": events}
    if rank is not None:
        out["distributedInfo"] = {"rank": rank}
    return out


def by_name(table):
    return {r["name"]: r for r in table}


def worked_out():
    a, b = write("a.json", trace(3, 1)), write("b.json", trace(4, 2))
    t = by_name(rows(a, b))
    # 3 steps with 1 call of 30.125 us, 4 steps with 1: per step equal, one outside left out.
    check("per step", t["aten::mm"]["counts"] == [1, 1] and t["aten::mm"]["total_duration_us"] == [30.125] * 2
          and t["aten::mm"]["group"] == "unchanged", t["aten::mm"])
    # kernels of stream 0 belong to the step of their launch: 1 against 2 a step, 2.5 us each.
    check("kernels per step", t["void gemm<float>(int)"]["counts"] == [1, 2]
          and t["void gemm<float>(int)"]["total_duration_us"] == [2.5, 5]
          and t["void gemm<float>(int)"]["counts_change_category"] == "+")
    check("steps are one row", t["ProfilerStep"]["counts"] == [1, 1] and not any("#" in n for n in t))
    t = by_name(rows(a, b, "--whole"))
    check("whole sums take what lies outside", t["aten::mm"]["counts"] == [4, 5]
          and t["aten::mm"]["total_duration_us"] == [3 * 30.125 + 7, 4 * 30.125 + 7])
    t = by_name(rows(a, b, "--step", "baseline=5", "--step=fresh=6,8"))
    check("chosen steps", t["void gemm<float>(int)"]["counts"] == [1, 2])
    t = by_name(rows(a, b, "--by", "shape"))
    # shapes alternate: steps 5 and 7 of 5..7 have [16,2], 6 has [16,4]; 2 and 2 of the 4 steps of b
    two, four = t["aten::mm [[8,16],[16,2]]"], t["aten::mm [[8,16],[16,4]]"]
    check("by shape", two["counts"] == [2 / 3, 0.5] and four["counts"] == [1 / 3, 0.5]
          and two["total_duration_us"] == [float(fractions.Fraction(2 * 30125, 3000)), 30.125 / 2])
    t = by_name(rows(a, b, "--by", "grid", "--device", "gpu"))
    check("by grid", t["void gemm<float>(int) grid=[2,1,1] block=[64,1,1]"]["counts"] == [0, 1] and len(t) == 2)
    t = by_name(rows(a, b, "--by", "short-name"))
    check("short names", t["gemm"]["counts"] == [1, 2])
    check("device cpu", set(by_name(rows(a, b, "--device", "cpu"))) == {"ProfilerStep", "aten::mm", "cudaLaunchKernel"})
    check("device gpu", set(by_name(rows(a, b, "--device", "gpu"))) == {"void gemm<float>(int)"})
    check("excluded", "ProfilerStep" not in by_name(rows(a, b, "--exclude", "Profiler*")))
    check("group", set(by_name(rows(a, b, "--group", "increased"))) == {"void gemm<float>(int)", "cudaLaunchKernel"})
    check("two groups", len(rows(a, b, "--group", "increased", "--group", "unchanged")) == 4)
    check("top", len(rows(a, b, "--top", "1")) == 1)
    names = [r["name"] for r in rows(a, b, "--sort", "name")]
    check("sort by name", names == sorted(names) and len(names) == 4)
    check("sort by duration", rows(a, b)[0]["name"] == "void gemm<float>(int)")
    check("sort by control", rows(a, b, "--sort", "baseline")[0]["name"] == "ProfilerStep")
    # Division by steps x ranks: two ranks of 3 steps with 1 and 3 kernels a step: (3 + 9) / 6 = 2.
    os.mkdir(tmp + "/ranks")
    write("ranks/r0.json", trace(3, 1, rank=0))
    write("ranks/r1.json", trace(3, 3, rank=1, odd=1))
    t = by_name(rows(tmp + "/ranks", b))
    check("ranks divide", t["void gemm<float>(int)"]["counts"] == [2, 2]
          and t["aten::mm"]["total_duration_us"] == [30.625, 30.125])
    t = by_name(rows(tmp + "/ranks", b, "--rank", "baseline=1"))
    check("one rank", t["void gemm<float>(int)"]["counts"] == [3, 2])
    t = by_name(rows(tmp + "/ranks/r1.json", tmp + "/ranks/r0.json"))
    check("one rank a side compares whatever their numbers", t["void gemm<float>(int)"]["counts"] == [3, 1])
    # Ranks that only one side has take no part: rank 1 alone is on both sides, 3 kernels a step.
    os.mkdir(tmp + "/other_ranks")
    write("other_ranks/r1.json", trace(3, 3, rank=1))
    write("other_ranks/r2.json", trace(3, 7, rank=2))
    t = by_name(rows(tmp + "/ranks", tmp + "/other_ranks"))
    check("only common ranks", t["void gemm<float>(int)"]["counts"] == [3, 3])
    err = run("diff", tmp + "/ranks", tmp + "/other_ranks")[2]
    check("ranks left out are told", "rank 2 not in every run of" in err and "rank 0 not in every run of" in err, err)
    # A server's annotations as steps: 2 windows with 3 calls between them, and one call outside.
    served = [event("user_annotation", "execute_%d" % i, 100 * i, 50) for i in (1, 2)]
    served += [event("cpu_op", "aten::mm", ts, 1) for ts in (110, 120, 210, 300)]
    served = write("served.json", {"traceEvents": served})
    t = by_name(rows(served, served, "--window", "annotation:execute_*"))
    check("annotations as windows", t["aten::mm"]["counts"] == [1.5, 1.5], t["aten::mm"])
    check("without, one step", by_name(rows(served, served))["aten::mm"]["counts"] == [4, 4])
    # analyze: the same numbers of one side, by category.
    code, out, _ = run("analyze", tmp + "/ranks", "--format", "csv")
    t = {r["name"]: r for r in csv.DictReader(io.StringIO(out))}
    check("analyze per step and rank", t["void gemm<float>(int)"]["counts"] == "2"
          and t["aten::mm"]["total_duration"] == "30.625" and t["void gemm<float>(int)"]["short_name"] == "gemm")
    code, out, _ = run("analyze", tmp + "/ranks", "--whole", "--rank", "1", "--format", "json")
    t = by_name(json.loads(out)["rows"])
    check("analyze --whole of a rank", t["aten::mm"]["counts"] == 4 and t["aten::mm"]["total_duration"] == 3 * 31.125 + 7)
    code, out, err = run("analyze", a, a)
    check("the same trace twice", code == 2 and "same trace" in err and not out, err)
    # Two files that do not say their rank: refused, then taken as repeats.
    os.mkdir(tmp + "/runs")
    write("runs/x.json", trace(3, 1))
    write("runs/y.json", trace(3, 2))
    code, out, err = run("diff", tmp + "/runs", a)
    check("ranks or repeats?", code == 2 and "rank" in err and not out, err)
    check("repeats", by_name(rows(tmp + "/runs", a, "--runs"))["void gemm<float>(int)"]["counts"] == [1.5, 1])


# ---- sides -------------------------------------------------------------------------------------

def sides():
    a, b = tmp + "/a.json", tmp + "/b.json"
    want = run("diff", a, b, "--format", "csv")[1]
    check("csv has HTA's header", want.splitlines()[0] == "name,control_counts,control_total_duration,test_counts,"
          "test_total_duration,diff_counts,diff_duration,counts_change_categories")
    write_bytes(b + ".gz", gzip.compress(read_bytes(b)))
    check("gzip", run("diff", a, b + ".gz", "--format", "csv")[1] == want)
    with open(b) as f:
        check("standard input", run("diff", a, "-", "--format", "csv", stdin=f)[1] == want)
    check("glob", run("diff", tmp + "/a.js?n", b, "--format", "csv")[1] == want)
    code, out, err = run("summarize", b, "-o", tmp + "/b.tgs")
    check("summarize", code == 0 and not out, err)
    check("a summary is a side", run("diff", a, tmp + "/b.tgs", "--format", "csv")[1] == want)
    code, _, err = run("diff", a, tmp + "/b.tgs", "--by", "grid")
    check("summaries keep no durations by grid", code == 2 and "summary" in err)
    repo = support.Repository(tmp + "/repo")
    repo.write("perf/t.json", read_text(a))
    repo.commit()
    repo.write("perf/t.json", read_text(b))
    for old in ("HEAD:perf", "HEAD:perf/t.json", "@:perf/*.json"):
        check("git " + old, run("diff", old, "perf/t.json", "--format", "csv", cwd=repo.dir)[1] == want)
    code, _, err = run("diff", "HEAD:nothing", "perf", cwd=repo.dir)
    check("a path that the commit lacks", code == 4 and "nothing" in err, err)
    code, _, err = run("diff", "nobranch:perf", "perf", cwd=repo.dir)
    check("an unknown revision", code == 2 and "nobranch" in err, err)


# ---- output ------------------------------------------------------------------------------------

def output():
    a, b = tmp + "/a.json", tmp + "/b.json"
    for width in ("80", "200"):
        text = run("diff", a, b, env={"COLUMNS": width})[1]
        check("fits %s columns" % width, text and max(map(len, text.splitlines())) <= int(width))
    check("no colour without a terminal", "\x1b" not in text)
    check("colour on demand", "\x1b[" in run("diff", a, b, "--color", "always")[1])
    check("NO_COLOR", "\x1b" not in run("diff", a, b, env={"NO_COLOR": "1", "CLICOLOR_FORCE": "1"})[1])
    check("CLICOLOR_FORCE", "\x1b[" in run("diff", a, b, env={"CLICOLOR_FORCE": "1"})[1])
    code = run("diff", a, b, "--svg-counts", tmp + "/c.svg", "--svg-durations", tmp + "/d.svg")[0]
    check("charts", code == 0)
    for name in ("c.svg", "d.svg"):
        text = read_text(os.path.join(tmp, name))
        xml.dom.minidom.parseString(text)
        check(name + " shows the kernel, not the step", "gemm" in text and "ProfilerStep" not in text)
    pages = []
    for _ in range(2):
        check("page", run("diff", a, b, "--html", tmp + "/d.html")[0] == 0)
        pages.append(read_text(tmp + "/d.html"))
    check("page: the same bytes again", pages[0] == pages[1] and len(pages[0]) < 500000)
    check("page: the sides, the rows and no verdict", "nothing is judged" in pages[0] and "a.json" in pages[0] and "gemm" in pages[0]
          and "violation" not in pages[0] and "policy explain" not in pages[0] and "suite" not in pages[0].split("<footer>")[1])
    top = []
    for n in ("1", "2"):
        run("diff", a, b, "--top", n, "--svg-durations", tmp + "/n.svg")
        top.append(read_text(tmp + "/n.svg").count('class="name"'))
    check("charts have at most the rows of the table", top == [1, 2], top)
    check("same bytes again", len({run("diff", a, b, "--format", "json")[1] for _ in range(3)}) == 1)
    code, out, err = run("diff", a, b, "--svg-counts", a + "/dir.svg")
    check("unwritable chart: 5, before anything is printed", code == 5 and not out and "dir.svg" in err, code)
    with open("/dev/full", "w") as full:
        r = subprocess.run([PROGRAM, "diff", a, b], stdout=full, stderr=subprocess.PIPE)
    check("full disk: 5", r.returncode == 5)


def causes():
    """--cause asks about what the table shows: its estimate, and nothing within the noise of the runs."""
    for variant, name in (("slower_op", "aten::mkldnn_convolution"), ("extra_copy", "aten::clone")):
        doc = json.loads(run("diff", TRACES + "/base", f"{TRACES}/{variant}", "--runs", "--cause", "--format", "json")[1])
        row = {r["name"]: r for r in doc["rows"]}
        check(f"causes: of {name}", name in [c["name"] for c in doc["causes"]])
        for c in doc["causes"]:
            r = row[c["name"]]
            estimate = r.get("estimate")  # the step has none
            check(f"causes: {c['name']} is not noise", r["diff_counts"] or not estimate or not estimate["within_noise"])
            if estimate and c["dimension"] == "duration":
                check(f"causes: {c['name']} as in the table", abs(c["delta"] / 1000 - estimate["diff_us"]) < 2)


def mistakes():
    a, b = tmp + "/a.json", tmp + "/b.json"
    bare = write("bare.json", [event("cpu_op", "op", 1, 1)])
    for args, code, text in (
            ((a,), 2, "two sides"), ((a, b, a), 2, "3 given"), ((a, b, "--hta", "--by", "shape"), 2, "--by"),
            ((a, b, "--hta", "--html", tmp + "/h.html"), 2, "--html"), ((a, b, "--whole", "--html", tmp + "/h.html"), 2, "--html"),
            ((a, b, "--no-rounding"), 2, "--hta"), ((a, b, "--whole", "--step", "fresh=5"), 2, "--whole"),
            ((a, b, "--top", "0"), 2, "--top"), ((a, b, "--step", "baseline=99"), 2, "no step 99 on the baseline side"),
            ((a, b, "--device", "gpus"), 2, "all|cpu|gpu"), ((a, b, "--window", "annotation:"), 2, "--window"),
            ((a, b, "--window", "annotation:foo"), 2, "no annotation or operator 'foo'"),
            ((a, bare, "--hta"), 2, "add --whole"), ((a, tmp + "/none.json"), 3, "none.json"),
            ((a, write("cut.json", json.dumps(trace(2, 1))[:-40])), 3, "cut.json"),
            ((a, write("text.json", "no trace")), 3, "text.json")):
        got, out, err = run("diff", *args)
        check("diff %s" % " ".join(args[2:] or args), got == code and text in err and not out, got, err)
    code, _, err = run("diff", a, bare)
    check("says that there are no steps", code == 0 and "no ProfilerStep" in err and bare in err, err)
    check("machines get no notes", run("diff", a, bare, "--format", "csv")[2] == "")
    os.mkdir(tmp + "/same")
    for name in "xy":  # "rank": 0 is what HTA's text search finds in both
        shutil.copy(tmp + "/ranks/r0.json", "%s/same/%s.json" % (tmp, name))
    code, _, err = run("diff", tmp + "/same", a, "--hta")
    check("HTA replaces a rank, and we say so", code == 0 and "replaces" in err, err)
    check("HTA --whole of a trace without steps", run("diff", a, bare, "--hta", "--whole")[0] == 0)


# ---- summaries ---------------------------------------------------------------------------------

def names():
    path = write("names.json", [event("cpu_op", "triton_poi_fused_add_%d" % i, i, 1) for i in (1, 2, 2)]
                 + [event("cpu_op", "aten::mm", 9, 1), event("python_function", "f.py(3): g", 10, 1)])
    table = list(csv.DictReader(io.StringIO(run("names", path, "--format", "csv")[1])))
    check("names", [(r["kind"], r["normalised"], r["counts"], r["name"]) for r in table] == [
        ("op", "aten::mm", "1", "aten::mm"), ("op", "triton_poi_fused_add", "1", "triton_poi_fused_add_1"),
        ("op", "triton_poi_fused_add", "2", "triton_poi_fused_add_2")], table)
    table = run("names", path, path, "--changed", "--python", "--format", "csv")[1]
    check("names --changed --python", "aten" not in table and "f.py: g" in table
          and ",4,triton_poi_fused_add_2" in table, table)
    check("names needs a trace", run("names")[0] == 2)


def summaries():
    parts = []
    for i in range(3):
        path = write("part%d.json" % i, trace(3, i + 1, rank=i))
        parts.append("%s/part%d.tgs" % (tmp, i))
        check("summarize part", run("summarize", path, "--run", "r", "--meta", "cpu=x", "-o", parts[-1])[0] == 0)
    merged = {run("merge", *order)[1] for order in itertools.permutations(parts)}
    run("merge", parts[2], parts[0], "-o", tmp + "/two.tgs")
    merged.add(run("merge", tmp + "/two.tgs", parts[1])[1])
    merged.add(run("merge", parts[0], *parts)[1])
    merged.add(run("summarize", *[p.replace(".tgs", ".json") for p in parts], "--run", "r", "--meta", "cpu=x")[1])
    check("merged in any order and grouping: the same bytes", len(merged) == 1 and "" not in merged)
    code, out, err = run("merge", parts[0], tmp + "/a.json")
    check("a trace is not a summary", code == 3 and "not a summary" in err and not out)
    check("--meta needs KEY=VALUE", run("summarize", tmp + "/a.json", "--meta", "x")[0] == 2)
    check("--rank of several", run("summarize", *parts, "--rank", "1")[0] == 2)
    before = read_text(parts[0])
    code, _, _ = run("summarize", tmp + "/text.json", "-o", parts[0])
    check("a failure leaves the old file", code == 3 and read_text(parts[0]) == before
          and not glob.glob(tmp + "/.*tg-*"))


# ---- real traces -------------------------------------------------------------------------------

def load(path):
    with gzip.open(path) as f:
        return [e for e in json.load(f, parse_float=decimal.Decimal)["traceEvents"]
                if e.get("ph") == "X" and e.get("dur") is not None]


def ns(x):
    return int(x * 1000)


HOST = {"cpu_op", "Operator", "cuda_runtime", "Runtime", "cuda_driver"}


def python_steps(events):
    """Count and ns per name of host rows that start in a host ProfilerStep; steps."""
    windows = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in events
               if e["name"].startswith("ProfilerStep#") and e["cat"] != "gpu_user_annotation"]
    out = {}
    for e in events:
        if e["cat"] in HOST and not e["name"].startswith("ProfilerStep#") and \
           any(s <= ns(e["ts"]) < t for s, t in windows):
            row = out.setdefault(e["name"], [0, 0])
            row[0] += 1
            row[1] += ns(e["dur"])
    return out, len(windows)


DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}


def python_device(events):
    """The same of device rows, by their launch's start; names with a row whose launch is unclear."""
    windows = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in events
               if e["name"].startswith("ProfilerStep#") and e["cat"] != "gpu_user_annotation"]
    launches = {}
    for e in events:
        if e["cat"] in ("cuda_runtime", "cuda_driver", "Runtime"):
            launches.setdefault(e.get("args", {}).get("correlation"), []).append(ns(e["ts"]))
    out, unclear = {}, set()
    for e in events:
        if e["cat"] not in DEVICE:
            continue
        starts = launches.get(e["args"].get("correlation"), [])
        if len(starts) != 1:
            unclear.add(e["name"])
        elif any(s <= starts[0] < t for s, t in windows):
            row = out.setdefault(e["name"], [0, 0])
            row[0] += 1
            row[1] += ns(e["dur"])
    return out, unclear, len(windows)


def real(control, test):
    paths = [os.path.join(CORPUS, p) for p in (control, test)]
    traces = [load(p) for p in paths]
    whole = [{}, {}]
    for side, events in zip(whole, traces):
        for e in events:
            if e["cat"] != "python_function":
                row = side.setdefault(e["name"], [0, 0])
                row[0] += 1
                row[1] += ns(e["dur"])
    got = {}
    for r in rows(*paths, "--whole"):  # one row a kind: joined here, as the sums above are
        name = got.setdefault(r["name"], [[0, 0], [0, 0]])
        for s in range(2):
            name[s][0] += r["counts"][s]
            name[s][1] += round(r["total_duration_us"][s] * 1000)
    joined = {}
    for s in range(2):
        for name, v in whole[s].items():
            key = "ProfilerStep" if name.startswith("ProfilerStep#") else name
            for k in range(2):
                joined.setdefault(key, [[0, 0], [0, 0]])[s][k] += v[k]
    bad = [k for k in set(got) | set(joined) if got.get(k) != joined.get(k)]
    check("whole sums of %s and %s" % (control, test), not bad, bad[:2], [(got.get(k), joined.get(k)) for k in bad[:2]])
    kinds = {"op", "runtime", "sync", "graph"}
    got = {}
    for r in rows(*paths):
        if r["kind"] in kinds and r["name"] != "ProfilerStep":
            name = got.setdefault(r["name"], [[0, 0], [0, 0]])
            for s in range(2):
                name[s][0] += r["counts"][s]
                name[s][1] += r["total_duration_us"][s]
    device = {r["name"]: list(zip(r["counts"], r["total_duration_us"])) for r in rows(*paths, "--device", "gpu")}
    n = 0
    for s in range(2):
        want, steps = python_steps(traces[s])
        for name, (count, total) in want.items():
            n += 1
            g = got.get(name, [[0, 0], [0, 0]])[s]
            if abs(g[0] - count / steps) > 1e-9 * count or abs(g[1] - total / steps / 1000) > 1e-9 * (1 + total):
                check("per step %s" % name, False, g, count, total, steps)
                break
        want_device, unclear, steps = python_device(traces[s])
        for name, (count, total) in want_device.items():
            if name in unclear or name in want:  # Triton's operators are called as their kernels
                continue
            n += 1
            g = device.get(name, [[0, 0], [0, 0]])[s]
            if abs(g[0] - count / steps) > 1e-9 * count or abs(g[1] - total / steps / 1000) > 1e-9 * (1 + total):
                check("device per step %s" % name, False, g, count, total, steps)
                break
        absent = [k for k in got if got[k][s][0] and k not in want]
        check("nothing else in steps", not absent, absent[:3])
    return len(joined) + n


with tempfile.TemporaryDirectory() as tmp:
    worked_out()
    sides()
    output()
    causes()
    mistakes()
    summaries()
    names()
    if os.path.isdir(CORPUS):
        n = sum(real(*pair) for pair in (
            ("hta/sampled_2rank/sampled_rank-0.json.gz", "hta/sampled_2rank/sampled_rank-1.json.gz"),
            ("kineto_v100/resnet50_w0_run1/worker0.json.gz", "kineto_v100/resnet50_w0_run2/worker0.json.gz"),
            ("tracelens/h100_nsfw/nsfw.json.gz", "tracelens/mi300_nsfw/nsfw.json.gz")))
        print("compared %d sums of real traces" % n)
        check("enough compared", n > 1700)
    else:
        print("no corpus beside the repository: real traces not compared")
sys.exit(finish("diff"))
