#!/usr/bin/env python3
"""One number: what the JSON says of a finding is what the headline, the list, the tables and the chart say.

For several comparisons all reports are written at once. Value, delta and percentage of each result are of one reading of
the steps; the row of an operator in the terminal's table, in Markdown and in the chart has the numbers of its finding; no
report has a percentage of ten times and more, which a baseline of (almost) 0 would give: those are told as differences.
The line about the step is one in terminal, comment and page; the page's table of all names has JSON's numbers. Benchmark
JSON and OpenMetrics have the means of JSON's table, and say so. The same of the project's recorded examples; with a number of runs, of all recorded
kinds of commits.
"""
import glob
import html
import json
import os
import re
import subprocess
import sys

from support import ENV, PROGRAM, ROOT, Repository, check, expect, fault, read_text, run_parts, write_text
from plain_model import Work, trace, usual, write

STEPS, RUNS, SLOW = 5, 4, "void kern3(float*)"
SELF = "version: 1\nrules: [{id: r, match: {kind: [kernel, op]}, metric: self, fail: {%s}}]\n"
DEFAULT = "version: 1\nextends: [tracegate:recommended]\n"
TINY = Work("aten::tiny", "op", "", 0.001)
ABSURD = re.compile(r"\d{4,}(?:\.\d+)? ?%")
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def rank_2(work, factor):
    """Ranks' steps: on rank 2 of four one kernel takes so many times as long."""
    return lambda rank: times(work, factor if rank == 2 else 1)


def times(work, factor, name=SLOW):
    return [Work(w.op, w.sort, w.name, w.us * (factor if name in (w.name, w.op, None) else 1)) for w in work]


def steps(work, slow, n, run):
    return [slow if (i - run) % STEPS < n else work for i in range(STEPS)]


# what, policy, baseline step, (fresh step, in how many of the steps), operator of the finding or metric
CASES = [
    ("slower everywhere", DEFAULT, usual(), (times(usual(), 1.6), 5), SLOW),
    ("slower everywhere, by another number", DEFAULT, usual(), (times(usual(), 2.5), 5), SLOW),
    ("slower in four of five steps", DEFAULT, usual(), (times(usual(), 2), 4), SLOW),
    ("slower in two of five steps", SELF % "pct: 40%", usual(), (times(usual(), 3), 2), SLOW),
    ("a slower machine, and more", DEFAULT, usual(), (times(times(usual(), 1.15, None), 1.6), 5), SLOW),
    ("from next to nothing", SELF % "abs: 10us", usual() + [TINY], (usual() + [Work("aten::tiny", "op", "", 90)], 5), "aten::tiny"),
    ("next to nothing, in pct", SELF % "pct: 10%", usual() + [TINY], (usual() + [Work("aten::tiny", "op", "", 90)], 5), "aten::tiny"),
    ("a metric from 0", "version: 1\nrules: [{id: r, metric: comm_exposed, fail: {abs: 1us}}]\n", usual(),
     (usual() + [Work("c10d::x", "comm", "ncclDevKernel_AllReduce(int)", 80)], 5), "comm_exposed"),
    ("one rank of four", DEFAULT, usual(), (rank_2(usual(), 4), 5), SLOW),
    ("same code", DEFAULT, usual(), (usual(), 5), None),
    ("a step in each run", DEFAULT, usual(), (times(usual(), 9), 1), None),
]


def reports(d, policy, base, fresh, n):
    write_sides = [("base", 0, base), ("test", 100, fresh)]
    for side, seed, work in write_sides:
        for run in range(RUNS):
            for rank in range(4) if callable(fresh) else [None]:
                of_rank = work(rank) if callable(work) else work
                write(f"{d}/{side}/{run}_rank{rank}.json", trace(steps(base, of_rank, n, run), seed + run + 7 * (rank or 0), rank=rank))
    write_text(f"{d}/p.yml", policy)
    return judged(d, *(sorted(glob.glob(f"{d}/{side}/*.json")) for side in ("base", "test")), "--policy", f"{d}/p.yml")


def judged(d, base, test, *more):
    """All reports of one check, by kind."""
    out = {"json": "--json", "md": "--markdown", "xml": "--junit", "svg": "--svg-durations", "counts": "--svg-counts", "html": "--html",
           "bench": "--benchmark", "prom": "--openmetrics"}
    run = subprocess.run([PROGRAM, "check", "--runs", *more, *[x for b in base for x in ("--baseline", b)],
                          *[x for e, o in out.items() for x in (o, f"{d}/o.{e}")], *test],
                         capture_output=True, text=True, env=dict(ENV, COLUMNS="200"))
    expect("exit", (run.returncode in (0, 1), run.stderr), (True, ""))
    return {"text": run.stdout, **{e: read_text(f"{d}/o.{e}") for e in out}}


def in_ns(number, unit):
    return float(number) * NS[unit]


def near(shown, ns, digits=0.06):
    """Is `ns` what was shown with one decimal or three digits of `shown` ns?"""
    return abs(shown - ns) <= max(digits * 1000, 0.006 * abs(ns))


def own_numbers(what, r):
    if r["baseline"] is None or r["unit"] != "ns":
        return
    check(f"{what}: JSON: {r['baseline']} -> {r['test']} is {r['delta']}",
          abs(r["test"] - r["baseline"] - r["delta"]) <= 1e-6 * max(abs(r["test"]), 1))
    if r["delta_pct"] is not None:
        check(f"{what}: JSON: {r['delta_pct']} %", abs(100 * r["delta"] / r["baseline"] - r["delta_pct"]) < 1e-6 * abs(r["delta_pct"]) + 1e-9)
    number = r"([\d.]+) (ns|us|ms|s) per step, was ([\d.]+) (ns|us|ms|s) \((?:([+-][\d.]+) %, )?([+-][\d.]+) (ns|us|ms|s)"
    part = re.match(r"(?:with .*)?in place of \d+ of \d+ calls of .*?: " + number, r["message"])
    if part:  # judged with the other calls of these names, and told of itself
        before, after, more = in_ns(part[3], part[4]), in_ns(part[1], part[2]), in_ns(part[6], part[7])
        check(f"{what}: {r['message']}: JSON {r['delta']}", near(more, r["delta"]) and abs(after - before - more) <= 0.01 * after)
        whole = re.search(r"; judged with the other \d+: ([\d.]+) (\w+), was ([\d.]+) (\w+) \(([+-][\d.]+) %\)", r["message"])
        check(f"{what}: {r['message']}: judged {r['test']}, was {r['baseline']}, {r['delta_pct']} %", whole and
              near(in_ns(whole[1], whole[2]), r["test"]) and near(in_ns(whole[3], whole[4]), r["baseline"]) and
              abs(float(whole[5]) - r["delta_pct"]) <= 0.6)
        return
    said = re.match(number, r["message"])
    if not said:
        check(f"{what}: sentence {r['message']!r}", r["message"].startswith(("the slowest step", "rank 2 alone: ")))
        return
    test, tu, base, bu, pct, delta, du = said.groups()
    for name, value, want in (("test", in_ns(test, tu), r["test"]), ("baseline", in_ns(base, bu), r["baseline"]),
                              ("delta", in_ns(delta, du), r["delta"])):
        check(f"{what}: the sentence's {name} {value}, JSON {want}", near(value, want))
    expect(f"{what}: a percentage in the sentence", pct is None, r["delta_pct"] is None)
    if pct:
        check(f"{what}: the sentence's {pct} %, JSON {r['delta_pct']}", abs(float(pct) - r["delta_pct"]) <= (0.06 if abs(float(pct)) < 10 else 0.6))


def table_values(row):
    """What the tables have to show of an operator: what was compared, where it was; else the means. Of a name in a replacement,
    which is compared as a whole, its own means; of one rank that alone takes longer, that rank's."""
    if "on_one_rank_ns" in row:
        return row["on_one_rank_ns"]
    for whole in ("replacement_ns", "finding_ns"):
        if whole in row:
            return row[whole]
    if row["evidence"].get("some_steps"):
        return row["evidence"]["slowest_step_ns"]
    return row["evidence"]["value_ns"] if row["evidence"]["judged"] and row.get("relation") in (None, "", "renamed") else row["self_ns"]


def short(name):
    """As reports show it: 'void kern3(float*)' is kern3."""
    return re.sub(r"^void (\w+)\(.*", r"\1", name)


def text_rows(text):
    """{name: (baseline, fresh, delta in us, pct)} of the terminal's table"""
    rows, on = {}, False
    for line in text.splitlines():
        on = on or line.startswith("Time per step")
        m = re.match(r"\s+(?:[≈=]|rank \d+|new|gone|renamed|more|less|fewer|some|slower|faster)?\s*(\S.*?)\s{2,}(\d+(?: -> \d+)?)"
                     r"\s+([\d.]+)\s+([\d.]+)\s+([+-]?[\d.]+)\s*([+-]?[\d.]+%)?", line)
        if on and m:
            rows[m[1]] = (float(m[3]), float(m[4]), float(m[5]), m[6])
    return rows


def markdown_rows(text):
    """{name: (baseline in ns, fresh in ns)} of the comment's table, whose delta and percentage are of these"""
    rows = {}
    for line in text.splitlines():
        cells = [c.strip().replace("\u00a0", " ").replace("µ", "u") for c in line.split("|")]
        m = re.search(r"([\d.,]+) → ([\d.,]+) (ns|us|ms|s)(?: \(([+-][\d.]+) %\))?", cells[1]) if len(cells) == 4 else None
        if not m:
            continue
        base, test = (in_ns(n.replace(",", ""), m[3]) for n in m.groups()[:2])
        names = re.findall(r"`([^`]*)`", cells[1])
        rows[cells[1] if " more" in cells[1].split("<sub>")[0] else names[-1]] = (base, test)  # several names in a row
        delta = re.match(r"([+-]?[\d.]+) (ns|us|ms|s)$", cells[2])
        last = in_ns(10 ** -len(m[1].partition(".")[2]), m[3])  # of the digits shown
        check(f"the comment's {names[-1]}: {cells[2]} of {base} -> {test}", delta and abs(in_ns(*delta.groups()) - test + base) <= 1.6 * last)
        shown = 0.5 * test / base + 5000 / base * (1 + test / base) if base else 0  # three digits each, or half a tenth of a us
        check(f"the comment's {names[-1]}: {m[4]} %", not m[4] or abs(100 * (test / base - 1) - float(m[4])) <= 0.6 + shown)
    return rows


def page_rows(page):
    """{name: (baseline in ns, fresh in ns)} of the page's table of all names"""
    rows, steps = {}, []
    for row in re.findall(r'<tr class="[^"]*"><td>(<code>.*?)</tr>', page):
        name = html.unescape(re.sub(r"<[^>]*>", "", row.split("</td>")[0]))
        delta, base, test = (float(v or "nan") for v in re.findall(r'data-v="([^"]*)"', row)[:3])
        rows[name] = (base, test)
        share = float(re.findall(r'data-v="([^"]*)"', row)[-1] or "nan")
        steps += [test / share] if test > 1 and "rank " not in row else []  # of all of the step it is the same
        check(f"the page's {name}: {base} -> {test} is {delta}", abs(test - base - delta) <= 1e-6 * max(test, base, 1))
    check("the page's shares are of one step", not steps or max(steps) <= 1.01 * min(steps), (min(steps or [0]), max(steps or [0])))
    return rows


def said_of_steps(what, got, doc):
    """The line about the step, the same in terminal, comment and page, has JSON's numbers."""
    lines = {where: re.search(r"Step time (?:of rank .*?\), )?.*?\)",
                              " ".join(html.unescape(got[where]).replace("\u00a0", " ").replace("µs", "us").replace("\u2192", "->").split()))
             for where in ("text", "md", "html")}
    expect(f"{what}: the line about the step", {m and m[0] for m in lines.values()}, {lines["text"] and lines["text"][0]})
    m = lines["text"] and re.match(r"Step time (?:.* ranks )?([\d.]+) -> ([\d.]+) (us|ms) ", lines["text"][0])
    want = next(x["value"] for x in doc["measures"] if x["name"] == "step_time")
    check(f"{what}: {m and m[0]}, JSON {want}", m and all(near(in_ns(m[i + 1], m[3]), want[i]) for i in range(2)))
    faster = re.search(r"faster: step (-\d+\.?(\d*)) %", doc["headline"])
    check(f"{what}: {doc['headline']}, JSON {want}",
          not faster or abs(float(faster[1]) - 100 * (want[1] / want[0] - 1)) <= 0.51 * 10 ** -len(faster[2]))


def told_of_many(what, got):
    """A replacement that is one row is that row in every report, with its numbers: {"aten::mul and 13 more": (us, calls)}."""
    md = {m[0]: (float(m[2]), int(m[1])) for m in re.findall(
        r"<br>(`[^`]*` and \d+ more)<br><sub>replaced, (?:\d+ → )?(\d+) calls, .*?</sub> \| \+([\d.]+) µs", got["md"].replace("\u00a0", " "))}
    md = {name.replace("`", ""): v for name, v in md.items()}
    text = {f"{m[0]} and {m[1]} more": (float(m[3]), int(m[2])) for m in re.findall(
        r"-> (\S+) and (\d+) more +(?:\d+ -> )?(\d+) +[\d.]+ +[\d.]+ +\+([\d.]+)", " ".join(got["text"].split()))}
    svg = {short(m[0]): float(m[1]) for m in re.findall(r"<title>([^<]* and \d+ more): \w+, .*? µs \(\+([\d.]+)", got["svg"])}
    calls = {short(m[0]): int(m[1]) for m in re.findall(r"<title>([^<]* and \d+ more): \w+, \d+ → (\d+) calls", got["counts"])}
    axis = re.search(r"x-axis \[(.*)\]\n.*\n    bar \[(.*)\]", got["md"])
    bars = dict(zip(re.findall(r'"([^"]*)"', axis[1]), map(float, axis[2].split(", ")))) if axis else {}
    for name, (us, n) in md.items():
        check(f"{what}: {name}: comment {us} us, terminal {text.get(name)}", text.get(name, (us, n)) == (us, n))
        check(f"{what}: {name}: comment {us} us, chart {svg.get(name)}", name not in svg or abs(svg[name] - us) < 0.06)
        check(f"{what}: {name}: comment {n} calls, chart {calls.get(name)}", calls.get(name, n) == n)
        check(f"{what}: {name}: comment {us} us, bar {bars.get(name)}", abs(bars.get(name, us) - us) < 0.06)
        check(f"{what}: {name} has no bar of its first name alone", name.split(" and ")[0] not in set(bars) | set(chart_rows(got["svg"])))
    return len(md)


def chart_counts(svg):
    """{name: (baseline, fresh)} of the chart of calls"""
    return {n: (float(a), float(b)) for n, a, b in re.findall(r"<title>([^<]*?): \w+, ([\d.]+) → ([\d.]+) calls \(", svg)}


def chart_rows(svg):
    """{name: (baseline, fresh, unit)} of the sentences in the chart"""
    found = re.findall(r"<title>([^<]*?): \w+, ([\d.]+) → ([\d.]+) (ns|us|µs|ms|s) \(", svg)
    return {name: (in_ns(a, u.replace("µ", "u")), in_ns(b, u.replace("µ", "u"))) for name, a, b, u in found}


def exported(what, got, doc):
    """Benchmark JSON and OpenMetrics: failed results, step time, and the mean self time and calls of each name that they have."""
    step = next(m["value"][1] for m in doc["measures"] if m["name"] == "step_time")
    bench = {x["name"].split(": ", 1)[1]: x["value"] for x in json.loads(got["bench"])}
    failures = int(re.search(r' failures="(\d+)"', got["xml"])[1])
    expect(f"{what}: benchmark: failed results", bench["failed results"], failures)
    found = re.match(r"FAIL: (\d+) violation", doc["headline"])
    expect(f"{what}: JUnit: failures", failures, int(found[1]) if found else 0)
    check(f"{what}: benchmark: step time {bench['step_time']} us, JSON {step} ns", abs(1000 * bench["step_time"] - step) <= 0.5)
    spread = next((float(x["range"].strip("± %")) for x in json.loads(got["bench"]) if x["name"].endswith(": step_time") and "range" in x), 0)
    said = re.search(r"fresh runs ([\d.]+) to ([\d.]+) [um]s", " ".join(got["text"].split()))
    least, most = (float(said[1]), float(said[2])) if said else (4, 5)  # what the line about the step leaves out is less than a quarter
    there = 100 * (most - least) / (most + least)
    whole = "Step time of rank" not in got["text"]
    check(f"{what}: benchmark: range of step_time {spread} %, the runs say {there:.1f}",
          not whole or (abs(spread - there) < 0.2 if said else spread <= there + 0.1))
    names = {short(row["op_normalised"]): row for row in doc["table"] if row["op_normalised"] != "ProfilerStep"}
    both = [(n, names[n.removesuffix(" mean self time")]) for n in bench if n.removesuffix(" mean self time") in names]
    for name, row in both:
        check(f"{what}: benchmark: {name} {bench[name]} us, JSON {row['self_ns'][1]}", abs(1000 * bench[name] - row["self_ns"][1]) <= 0.5)
    rows = {(row["kind"], row["op_normalised"]): row for row in doc["table"]}
    lists = {"fail": "violations", "warn": "warnings", "pass": "passed", "skip": "skipped"}
    own = {s: sum(not r.get("explained_by") for r in doc[lists.get(s, s.replace(" ", "_"))]) for s in doc["summary"]}
    samples = re.findall(r'^tracegate_(\w+)\{suite="[^"]*"(?:,kind="(\w+)",name="([^"]*)"|,state="([^"]*)")?\} (\S+)$', got["prom"], re.M)
    for metric, kind, name, state, value in samples:
        want = (own.get(state, 0) if state else step / 1e9 if metric == "step_time_seconds" else None)
        if (kind, name) in rows:
            want = rows[kind, name]["self_ns"][1] / 1e9 if metric == "self_time_seconds" else rows[kind, name]["count"][1]
        check(f"{what}: OpenMetrics: {metric} {name}{state} {value}, JSON {want}", want is None or abs(float(value) - want) <= 1e-9 * abs(want))
    return len(both) + len(samples)


def agree(what, got):
    """What each report has of a number is what JSON has: the results, and the rows by name."""
    doc = json.loads(got["json"])
    results = doc["violations"] + doc["warnings"]
    for r in results:
        own_numbers(what, r)
    for where, text in got.items():
        for m in [] if where == "json" else ABSURD.findall(text):
            fault(f"{what}: {where} says {m}")
    check(f"{what}: JSON's delta_pct", all(r["delta_pct"] is None or abs(r["delta_pct"]) < 1000 for r in results))
    table = {short(row["op_normalised"]): row for row in doc["table"] if row["kind"] in ("kernel", "op")}
    said_of_steps(what, got, doc)
    rows = {"text": text_rows(got["text"]), "md": markdown_rows(got["md"]), "svg": chart_rows(got["svg"])}
    for name, (base, test, *_) in [(n, (b * 1000, t * 1000)) for n, (b, t, *_) in rows["text"].items()]:
        if name in table:
            want = table_values(table[name])
            check(f"{what}: terminal: {name} {base} -> {test}, JSON {want}", near(base, want[0]) and near(test, want[1]))
    for where, some in (("Markdown", rows["md"]), ("chart", {short(n): v for n, v in rows["svg"].items()})):
        for name, (base, test) in some.items():
            want = table_values(table.get(name, {"evidence": {"judged": True, "value_ns": (base, test)}}))
            check(f"{what}: {where}: {name} {base} -> {test}, JSON {want}", near(base, want[0]) and near(test, want[1]))
    for name, calls in chart_counts(got["counts"]).items():
        if short(html.unescape(name)) in table:
            want = table[short(html.unescape(name))]["count"]
            check(f"{what}: chart of calls: {name} {calls}, JSON {want}", all(abs(calls[i] - want[i]) <= 0.006 * want[i] + 0.01 for i in range(2)))
    many = told_of_many(what, got)
    whole = {row["op_normalised"]: row for row in doc["table"] if row["kind"] in ("kernel", "op")}
    for name, (base, test) in page_rows(got["html"]).items():
        if name in whole:
            want = table_values({k: v for k, v in whole[name].items() if k not in ("replacement_ns", "finding_ns")})  # it has a row for each name
            check(f"{what}: page: {name} {base} -> {test}, JSON {want}", near(base, want[0], 0.001) and near(test, want[1], 0.001))
    return results, table, rows, exported(what, got, doc) + many


def compare(what, got, finding):
    results, table, rows, others = agree(what, got)
    check(f"{what}: numbers for other programs", others > 5, others)
    if finding is None:
        check(f"{what}: nothing failed", not json.loads(got["json"])["violations"])
        return len(rows["text"])
    found = [r for r in results if finding in (r["op"], r["op_normalised"])]
    check(f"{what}: {finding} is a finding", found)
    finding = short(finding)
    for r in found[:1] if finding in table else []:
        want = [r["baseline"], r["test"]] if "on_one_rank_ns" in table[finding] else table_values(table[finding])
        check(f"{what}: {finding} {r['baseline']} -> {r['test']}, its row {want}",
              near(r["baseline"], want[0]) and near(r["test"], want[1]))
        check(f"{what}: {finding} is in the terminal's table", finding in rows["text"], list(rows["text"]))
        check(f"{what}: {finding} is in the chart", finding in map(short, rows["svg"]), list(rows["svg"]))
        check(f"{what}: {finding} is in the comment's table", finding in rows["md"], list(rows["md"]))
    return len(rows["text"]) + len(rows["md"]) + len(rows["svg"])


def first_run(d):
    """Without a baseline the fresh side's numbers for other programs are those that a later comparison gives them."""
    r = Repository(d + "/repo")
    r.copies("base", "perf")
    r.copies("extra_copy", "out")
    r.write(".tracegate.yml", DEFAULT + "suites: [{name: s, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: 'none/*.json.gz'}]\n")
    r.commit("all")
    got = []
    for more in ([], ["--baseline", "perf"]):
        run = r.run("check", "--benchmark", "b.json", "--openmetrics", "m.prom", *more)
        expect(f"first run: {more} {run.stderr}", run.returncode, 1 if more else 0)
        text = re.sub(r"tracegate_results.*", "", read_text(f"{r.dir}/m.prom"))
        got.append(([x for x in json.loads(read_text(f"{r.dir}/b.json")) if x["name"] != "s: failed results"], text))
    check("first run: benchmark JSON has the step and names", len(got[0][0]) > 20, got[0][0])
    expect("first run: benchmark JSON", got[0][0], got[1][0])
    expect("first run: OpenMetrics", got[0][1], got[1][1])


def all_recorded(tmp, runs):
    """The recorded kinds of commits, both ways."""
    from recorded_kinds import unpack, write_trace
    n = 0
    for what, _, _, sides in unpack():
        paths = [[f"{tmp}/{s}{k}.json" for k in range(runs)] for s in "ab"]
        for side in (0, 1):
            for k in range(runs):
                write_trace(paths[side][k], sides[side], f"{what} {side} {k}")
        for way, base, test in (("", *paths), (", undone", *paths[::-1])):
            agree(what + way, judged(tmp, base, test))
            n += 1
    check("enough recorded comparisons", n >= 300, n)


def main(tmp):
    if len(sys.argv) > 1:
        return all_recorded(tmp, int(sys.argv[1]))
    seen = 0
    for k, (what, policy, base, (fresh, n), finding) in enumerate(CASES):
        seen += compare(what, reports(f"{tmp}/{k}", policy, base, fresh, n), finding)
    first_run(tmp)
    top = os.path.join(ROOT, "examples/traces")
    for what in sorted(x for x in os.listdir(top) if os.path.isdir(f"{top}/{x}")):
        base, test = sorted(glob.glob(f"{top}/base/*.gz"))[:5], sorted(glob.glob(f"{top}/{what}/*.gz"))[-5:]
        _, _, rows, others = agree(what, judged(tmp, base, test))
        check(f"{what}: numbers for other programs", others > 20, others)
        seen += sum(map(len, rows.values()))
    return check("enough rows", seen > 60, seen)


run_parts(main)
