#!/usr/bin/env python3
"""No line on standard output is one that a CI runner would execute, whatever traces and files are called; but
for `--annotations`. A day that SOURCE_DATE_EPOCH fixes is told where waivers are judged by it.
"""
import html
import json
import os
import shutil
import re

from support import ENV, expect, measures, run_parts, tracegate, write_json, write_text
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
        texts = [p.stdout, *[html.unescape(open(f"{tmp}/r.{k}", encoding="utf-8").read()).replace("\\", "").replace("`", "")
                             for k in ("json", "xml", "md")]]
        expect(f"{name}: told in text, JSON, JUnit, Markdown", [said in " ".join(t.split()) for t in texts], [told] * 4)
        if told:
            expect(f"{name}: annotation", any("waivers are judged as of" in x for x in executed(p.stdout)), True)


def inputs_stay(tmp):
    """A report onto an input is refused, by any of its names; another file is written."""
    os.symlink("b.json", tmp + "/link.json")
    for option in ("--json", "--junit", "--markdown", "--csv", "--svg-counts"):
        for name in ("a.json", "./b.json", "link.json", "p.yml"):
            before = [open(f"{tmp}/{f}", encoding="utf-8").read() for f in ("a.json", "b.json", "p.yml")]
            p = run(tmp, "check", "b.json", "--baseline", "a.json", "--policy", "p.yml", option, name)
            expect(f"{option} {name}: exit", (p.returncode, "would overwrite the input" in p.stderr), (2, True))
            expect(f"{option} {name}: unchanged", [open(f"{tmp}/{f}", encoding="utf-8").read() for f in ("a.json", "b.json", "p.yml")], before)
    os.mkdir(tmp + "/ci")
    for name, text in (("main.yml", "version: 1\nextends: [ci/layer.yml]\n"), ("ci/layer.yml", "version: 1\nextends: [last.yml]\n"),
                       ("ci/last.yml", "version: 1\nextends: [tracegate:recommended]\n")):
        write_text(f"{tmp}/{name}", text)
    for name in ("cb.json", "ct.json"):
        shutil.copyfile(tmp + "/a.json", f"{tmp}/{name}")
    for to in ("main.yml", "ci/layer.yml", "./ci/last.yml", "cb.json", "ct.json"):
        before = open(f"{tmp}/{to}", encoding="utf-8").read()
        p = run(tmp, "check", "b.json", "--baseline", "a.json", "--policy", "main.yml", "--cause-trace", "baseline=cb.json", "--cause-trace",
                "fresh=ct.json",
                "--json", to)
        expect(f"a policy's layers and causes, {to}: exit", (p.returncode, "would overwrite the input" in p.stderr), (2, True))
        expect(f"{to}: unchanged", open(f"{tmp}/{to}", encoding="utf-8").read(), before)
    commands = (["policy", "show", "--policy", "main.yml", "-o", "ci/last.yml"], ["summarize", "a.json", "b.json", "-o", "b.json"],
                ["summarize", "a.json", "-o", "./a.json"],
                ["diff", "a.json", "b.json", "--svg-counts", "a.json"], ["diff", "a.json", "b.json", "--svg-durations", "link.json"],
                ["analyze", "a.json", "--measure", "ops", "--overlay", "a.json"],
                ["analyze", "b.json", "--measure", "queue", "--overlay", "link.json"],
                ["policy", "init", "a.json", "-o", "a.json"])
    for command in commands:
        before = [open(f"{tmp}/{f}", encoding="utf-8").read() for f in ("a.json", "b.json")]
        p = run(tmp, *command)
        said = "would overwrite the input" in p.stderr or "needs one trace, --measure" in p.stderr
        expect(f"{command}: exit {p.stderr}", (p.returncode, said), (2, True))
        expect(f"{command}: unchanged", [open(f"{tmp}/{f}", encoding="utf-8").read() for f in ("a.json", "b.json")], before)
    with open(f"{tmp}/a.json", encoding="utf-8") as piped:
        p = run(tmp, "summarize", "-", "-o", "a.json", stdin=piped)
    expect("standard input", (p.returncode, "would overwrite the input" in p.stderr), (2, True))
    for command, name in ((["summarize", "a.json", "-o", "s.tgs"], "s.tgs"), (["diff", "a.json", "b.json", "--svg-counts", "c.svg"], "c.svg")):
        expect(f"{command}: another name", (run(tmp, *command).returncode, os.path.exists(f"{tmp}/{name}")), (0, True))
    run(tmp, "summarize", "b.json", "-o", "t.tgs")
    run(tmp, "check", "b.json", "--baseline", "a.json", "--policy", "p.yml", "--json", "r.json")
    os.symlink("t.tgs", tmp + "/link.tgs")
    failed = next(x for x in json.load(open(f"{tmp}/r.json", encoding="utf-8"))["violations"])
    waive = ["policy", "waive", "r.json", failed["rule"], failed["op_normalised"]]
    for command, stays, to in ((["merge", "s.tgs", "t.tgs"], "s.tgs", "s.tgs"), (["merge", "s.tgs", "t.tgs"], "t.tgs", "./t.tgs"),
                               (["merge", "s.tgs", "t.tgs"], "t.tgs", "link.tgs"), (waive, "r.json", "r.json"),
                               (["policy", "show", "--policy", "p.yml"], "p.yml", "p.yml"),
                               (["policy", "diff", "q.yml", "p.yml"], "p.yml", "./p.yml"),
                               (["policy", "diff", "q.yml", "p.yml"], "q.yml", "q.yml")):
        before = open(f"{tmp}/{stays}", "rb").read()
        p = run(tmp, *command, "-o", to)
        expect(f"{command} -o {to}: exit {p.stderr}", (p.returncode, "would overwrite the input" in p.stderr), (2, True))
        expect(f"{command} -o {to}: unchanged", open(f"{tmp}/{stays}", "rb").read() == before, True)
        p = run(tmp, *command, "-o", "other.out")
        expect(f"{command}: another name {p.stderr}", (p.returncode, os.path.exists(tmp + "/other.out")), (0, True))
        os.unlink(tmp + "/other.out")
    p = run(tmp, "check", "b.json", "--baseline", "a.json", "--policy", "p.yml", "--json", "r.json", "--csv", "new.csv")
    expect("other files", (p.returncode, os.path.exists(tmp + "/new.csv")), (1, True))


def main(tmp):
    names_of_others(tmp)
    fixed_day(tmp)
    inputs_stay(tmp)


run_parts(main)
