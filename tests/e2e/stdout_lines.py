#!/usr/bin/env python3
"""No line on standard output is one that a CI runner would execute, whatever traces and files are called; but
for `--annotations`. A day that SOURCE_DATE_EPOCH fixes is told where waivers are judged by it.
"""
import html
import json
import os
import shutil
import re

from support import ENV, expect, measures, read_bytes, read_json, read_text, run_parts, tracegate, write_json, write_text
from plain_model import launched, mark, span

NAMES = ["::stop-commands::x", "##[error]pwned", " ::error::y", "a\n::warning::z", "\t##[group]t", "=1+1", "-x", "@SUM(A1)", "plain"]


def write(path, calls):
    """One step; each name as operator, runtime call, annotation and kernel."""
    events, ts = [mark(1, 0, 9000)], 1
    for k in range(calls):
        for i, name in enumerate(NAMES):
            events += [span("cpu_op", name, ts, 10), *launched(name, ts + 1, ts + 5, 8, 1 + k * len(NAMES) + i)]
            ts += 20
    write_json(path, {"schemaVersion": 1, "traceEvents": events})


def run(tmp, *args, env=None, stdin=None):
    return tracegate(*args, cwd=tmp, env=dict(ENV, **(env or {})), stdin=stdin)


def executed(text, ours=False):
    return [x for x in text.splitlines() if re.match(r"\s*(::|##\[)", x) and not (ours and "title=tracegate" in x)]


def names_of_others(tmp):
    seen = 0
    write(tmp + "/a.json", 1)
    write(tmp + "/b.json", 3)
    os.makedirs(tmp + "/d")
    write(tmp + "/d/::error::file.json", 1)
    commands = [["analyze", "a.json", "--measure", m, *f] for m in measures() for f in ([], ["--format", "csv"], ["--hta"])]
    commands += [["names", "a.json", "--format", f] for f in ("text", "csv", "json")] + [["names", "a.json"]]
    commands += [["diff", "a.json", "b.json", *f] for f in ([], ["--format", "csv"], ["--format", "json"], ["--hta"], ["--by", "name"])]
    commands += [["check", "b.json", "--baseline", "a.json", *f]
                 for f in ([], ["--csv", "-"], ["--json", "-"], ["--markdown", "-"], ["--junit", "-"])]
    commands += [["check", "d", "--baseline", "d", "--dry-run"], ["summarize", "a.json", "-o", "a.tgs"]]
    for args in commands:
        p = run(tmp, *args)
        expect(f"{args}: lines that would be executed", executed(p.stdout), [])
        expect(f"{args}: of standard error", executed(p.stderr), [])
        seen += "stop-commands" in p.stdout
    expect("names were seen", seen > 10, True)
    p = run(tmp, "check", "b.json", "--baseline", "a.json", "--annotations")
    expect("annotations", (bool(executed(p.stdout)), executed(p.stdout, ours=True)), (True, []))
    # the names stay what they are where a program reads them
    rows = json.loads(run(tmp, "diff", "a.json", "b.json", "--format", "json", "--whole").stdout)
    expect("JSON keeps the name", "::stop-commands::x" in json.dumps(rows), True)


POLICY = """version: 1
rules: [{id: k, match: {kind: op}, metric: count, fail: {abs: 0}}]
waivers: [{rule: k, name: '*', many: true, ceiling: {abs: 50}, reason: r, owner: o, expires: 2026-02-01}]
"""


def fixed_day(tmp):
    write_text(tmp + "/p.yml", POLICY)
    write_text(tmp + "/q.yml", POLICY.split("waivers")[0])
    said = "waivers are judged as of 2026-01-02: SOURCE_DATE_EPOCH is set"
    for name, policy, env, code, told in (("valid by the fixed day", "p.yml", {"SOURCE_DATE_EPOCH": "1767323045"}, 0, True),
                                          ("expired by the clock", "p.yml", {}, 1, False),
                                          ("no waiver", "q.yml", {"SOURCE_DATE_EPOCH": "1767323045"}, 1, False)):
        p = run(tmp, "check", "b.json", "--baseline", "a.json", "--policy", policy, "--annotations", "--json", "r.json", "--junit", "r.xml",
                "--markdown", "r.md", env=env)
        expect(f"{name}: exit", p.returncode, code)
        texts = [p.stdout, *[html.unescape(read_text(f"{tmp}/r.{k}")).replace("\\", "").replace("`", "")
                             for k in ("json", "xml", "md")]]
        expect(f"{name}: told in text, JSON, JUnit, Markdown", [said in " ".join(t.split()) for t in texts], [told] * 4)
        if told:
            expect(f"{name}: annotation", any("waivers are judged as of" in x for x in executed(p.stdout)), True)


def inputs_stay(tmp):
    """A report onto an input is refused, by any of its names, and every file is as before; another file is written."""
    def refused(*command, said="would overwrite the input", **more):
        before = {f: read_bytes(f"{tmp}/{f}") for f in files}
        p = run(tmp, *command, **more)
        expect(f"{command}: {p.stderr}", (p.returncode, said in p.stderr), (2, True))
        expect(f"{command}: unchanged", [f for f in files if read_bytes(f"{tmp}/{f}") != before[f]], [])

    os.mkdir(tmp + "/ci")
    for name, text in (("main.yml", "version: 1\nextends: [ci/layer.yml]\n"), ("ci/layer.yml", "version: 1\nextends: [last.yml]\n"),
                       ("ci/last.yml", "version: 1\nextends: [tracegate:recommended]\n")):
        write_text(f"{tmp}/{name}", text)
    for name in ("cb.json", "ct.json"):
        shutil.copyfile(tmp + "/a.json", f"{tmp}/{name}")
    check = ("check", "b.json", "--baseline", "a.json", "--policy")
    run(tmp, *check, "p.yml", "--json", "r.json")
    for name, source in (("s.tgs", "a.json"), ("t.tgs", "b.json")):
        expect(f"another name, {name}", (run(tmp, "summarize", source, "-o", name).returncode, os.path.exists(f"{tmp}/{name}")), (0, True))
    os.symlink("b.json", tmp + "/link.json")
    os.symlink("t.tgs", tmp + "/link.tgs")
    files = ("a.json", "b.json", "p.yml", "q.yml", "main.yml", "ci/layer.yml", "ci/last.yml", "cb.json", "ct.json", "r.json", "s.tgs", "t.tgs")
    for option in ("--json", "--junit", "--markdown", "--csv", "--svg-counts"):
        for name in ("a.json", "./b.json", "link.json", "p.yml"):
            refused(*check, "p.yml", option, name)
    for to in ("main.yml", "ci/layer.yml", "./ci/last.yml", "cb.json", "ct.json"):  # layers of the policy, traces of causes
        refused(*check, "main.yml", "--cause-trace", "baseline=cb.json", "--cause-trace", "fresh=ct.json", "--json", to)
    failed = next(x for x in read_json(f"{tmp}/r.json")["violations"])
    for command, names in ((("policy", "show", "--policy", "main.yml"), ["ci/last.yml"]), (("summarize", "a.json", "b.json"), ["b.json"]),
                           (("summarize", "a.json"), ["./a.json"]), (("policy", "init", "a.json"), ["a.json"]),
                           (("merge", "s.tgs", "t.tgs"), ["s.tgs", "./t.tgs", "link.tgs"]),
                           (("policy", "waive", "r.json", failed["rule"], failed["op_normalised"]), ["r.json"]),
                           (("policy", "show", "--policy", "p.yml"), ["p.yml"]), (("policy", "diff", "q.yml", "p.yml"), ["./p.yml", "q.yml"])):
        for name in names:
            refused(*command, "-o", name)
        p = run(tmp, *command, "-o", "other.out")
        expect(f"{command}: another name {p.stderr}", (p.returncode, os.path.exists(tmp + "/other.out")), (0, True))
        os.unlink(tmp + "/other.out")
    for option, name in (("--svg-counts", "a.json"), ("--svg-durations", "link.json")):
        refused("diff", "a.json", "b.json", option, name)
    refused("analyze", "a.json", "--measure", "ops", "--overlay", "a.json", said="needs one trace, --measure")
    refused("analyze", "b.json", "--measure", "queue", "--overlay", "link.json")
    with open(f"{tmp}/a.json", encoding="utf-8") as piped:
        refused("summarize", "-", "-o", "a.json", stdin=piped)
    for command, code, name in ((("diff", "a.json", "b.json", "--svg-counts", "c.svg"), 0, "c.svg"),
                                ((*check, "p.yml", "--csv", "new.csv"), 1, "new.csv")):
        expect(f"{command}: another name", (run(tmp, *command).returncode, os.path.exists(f"{tmp}/{name}")), (code, True))


def main(tmp):
    for part in (names_of_others, fixed_day, inputs_stay):
        part(tmp)


run_parts(main)
