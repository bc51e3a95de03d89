#!/usr/bin/env python3
"""Names of operators that are patterns, controls, markup or commands to somebody, one at a time, through everything that prints them.

For each name: a change adds an operator of that name, and another one that the name would match if somebody took it for a pattern. `policy waive`
writes a waiver for the first. Then, by docs/policy.md and docs/security.md: it is YAML; with it the first passes and the second still fails; and
no output has a control character, an order of characters that is not the order of the text (bidi), a line that a runner takes for a command, or,
in CSV, a cell that a spreadsheet computes.
"""
import csv
import io
import os
import re

from support import DATED, check, expect, need, read_json, run_parts, tracegate, write_text
from plain_model import Work, usual, write_run

yaml = need("yaml", "python3-yaml")

# a name, and one that it is not
NAMES = {
    "*": "aten::other", "?": "x", "**": "aten::other", "*::mm": "aten::mm", "aten::*": "aten::mm", "[a-z]": "a", "[!a]": "b", "x[abc]y": "xby",
    "[": "]", "x]": "x", "a\\*": "a*", "\\": "\\\\", "\\?": "?", "{a,b}": "a", "a{1,2}": "a1", "a|b": "a", "^a$": "a", "(a)": "a", "a+": "aa",
    ".*": "aten::other", "x*y?z[q]": "xAyBzq", "re:a.*": "abc", "/a.*/": "abc", "!x": "y", "!": "y", "a,b": "a", "~": "a", "null": "a", "true": "a",
    "1": "2", "1e3": "1000", "0x10": "16", "- a": "a", "# a": "a", "a #b": "a", "a: b": "a", "{": "a", "}": "a", "&a": "a", "*a": "xa",
    "!!str a": "a", "%a": "a", "@a": "a", "`a`": "a", "'": "a", '"': "a", "''": "'", "a'b\"c": "abc", " a": "a", "a ": "a", "": "a", "---": "a",
    "...": "a", "<<": "a", "=": "a", "y": "Y", "No": "no", "a\nb": "a", "a\n\nb": "a", "\na": "a", "a\n": "a", "a\n# b": "a", "a\n::error::b": "a",
    "a\rb": "a", "a\r::error::b": "a", "a\r\n##[error]b": "a", "a ##[add-mask]b": "a", "a\tb": "a b", "a\x00b": "a", "\x00": "a", "a\x1b[31mb": "ab",
    "\x1b]0;title\x07": "a", "a\x08b": "b", "a\x7fb": "ab", "a\x85b": "ab", "a\x9b31mb": "ab", "a\x0bb": "a b", "a\x0cb": "a b", "a\u202eb": "ab",
    "a\u2066b\u2069": "ab", "a\u200fb": "ab", "a\u061cb": "ab", "a\u2028b": "a b", "a\u2029b": "a b", "a\ufeffb": "ab", "a\u200bb": "ab",
    "\U000e0041": "a", "a\u00adb": "ab", "::error::a": "a", " ::error::a": "a", "##[error]a": "a", "%0A::error::a": "a", "%25": "%",
    "${{ secrets.X }}": "a", "$(touch x)": "a", "`touch x`": "a", "=1+1": "2", "+1": "1", "-1": "1", "@SUM(A1)": "a", "\t=1+1": "=1+1", "\r=1": "=1",
    "<img src=x>": "a", "[a](http://b)": "a", "|": "a", "@octocat": "octocat", "#1": "1", "<!-- tracegate:report key=x -->": "a", "]]>": "a",
    "&lt;": "<", "a [rank 3]": "a", "a" * 300: "a", "void k<" + "x, " * 1700 + "x>": "void k<x>",
    "a*?" * 200: "a*?" * 199 + "a**", "/" + "a" * 600 + "/": "a" * 600, "\u00e9": "e", "\u4e2d\u6587": "a", "aten::mm": "aten::bmm",
}
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
POLICY = "version: 1\nrules:\n  - {id: work, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
OUTPUTS = {"text": ("check", *"fresh.json --baseline base.json --policy p.yml".split()),
           "annotations": ("check", *"fresh.json --baseline base.json --policy p.yml --annotations".split()),
           "csv": ("check", *"fresh.json --baseline base.json --policy p.yml --quiet --csv -".split()),
           "markdown": ("check", *"fresh.json --baseline base.json --policy p.yml --quiet --markdown -".split()),
           "json": ("check", *"fresh.json --baseline base.json --policy p.yml --quiet --json -".split()),
           "junit": ("check", *"fresh.json --baseline base.json --policy p.yml --quiet --junit -".split()),
           "diff": ("diff", "base.json", "fresh.json"), "diff --cause": ("diff", "--cause", "base.json", "fresh.json"),
           "diff csv": ("diff", *"base.json fresh.json --format csv".split()),
           "names": ("names", "fresh.json"), "names csv": ("names", *"fresh.json --format csv".split()),
           "ops": ("analyze", *"fresh.json --measure ops".split()),
           "explain": ("policy", *"explain work fresh.json --policy p.yml".split())}


def run(tmp, *args):
    return tracegate(*args, cwd=tmp, env=DATED)


def clean(what, text):
    """No control, no bidi, no command."""
    expect(f"{what}: controls", sorted({hex(ord(c)) for c in BAD.findall(text)}), [])
    lines = [x for x in re.split("[\r\n\x0b\x0c\x85\u2028\u2029]", text) if re.search(r"^\s*::|##\[", x) and "title=tracegate" not in x]
    expect(f"{what}: commands", lines, [])


def cells(what, text):
    """A number may begin with its sign; nothing else may begin as a formula does."""
    for row in csv.reader(io.StringIO(text)):
        bad = [c for c in row if len(c) > 1 and c[0] in "=+-@\t\r" and not re.fullmatch(r"[+-][\d.e+-]+", c)]
        expect(f"{what}: formulas", bad, [])


def printed(tmp, name):
    for what, args in OUTPUTS.items():
        done = run(tmp, *args)
        check(f"{name!r}, {what}: exit {done.returncode}", done.returncode in (0, 1), done.stderr[:300])
        clean(f"{name!r}, {what}", done.stdout)
        clean(f"{name!r}, {what}, standard error", done.stderr)
        if "csv" in what:
            cells(f"{name!r}, {what}", done.stdout)


def waived(tmp, name, other):
    run(tmp, "check", "fresh.json", "--baseline", "base.json", "--policy", "p.yml", "--quiet", "--json", "r.json")
    failed = [x["op"] for x in read_json(f"{tmp}/r.json")["violations"]]
    mine = [x for x in failed if x != other]
    expect(f"{name!r}: both fail", (len(failed), len(mine)), (2, 1))
    done = run(tmp, "policy", "waive", "--", "r.json", "work", mine[0])
    clean(f"{name!r}, waive", done.stdout + done.stderr)
    expect(f"{name!r}: waive: {done.stderr}", done.returncode, 0)
    try:
        document = yaml.safe_load(done.stdout)
    except yaml.YAMLError as e:
        document = {"waivers": str(e)}
    check(f"{name!r}: one waiver", len((document or {}).get("waivers") or []) == 1, done.stdout)
    write_text(f"{tmp}/w.yml", POLICY + done.stdout)
    again = run(tmp, "check", "fresh.json", "--baseline", "base.json", "--policy", "w.yml", "--quiet", "--json", "r.json")
    expect(f"{name!r}: waived, the other fails: {done.stdout} {again.stderr}", [x["op"] for x in read_json(f"{tmp}/r.json")["violations"]], [other])


def nameless(tmp):
    """Of what has no name: no list without an item, which would not load."""
    write_run(f"{tmp}/alone.json", [usual() + [Work("")]] * 3, 2)
    run(tmp, "check", "alone.json", "--baseline", "base.json", "--policy", "p.yml", "--quiet", "--json", "r.json")
    done = run(tmp, "policy", "waive", "r.json")
    expect(f"no name: {done.stderr}", (done.returncode, done.stdout), (2, ""))


def names(tmp):
    write_text(f"{tmp}/p.yml", POLICY)
    for k, (name, other) in enumerate(NAMES.items()):
        here = f"{tmp}/{k}"
        os.mkdir(here)
        write_text(f"{here}/p.yml", POLICY)
        write_run(f"{here}/base.json", [usual()] * 3, 1)
        write_run(f"{here}/fresh.json", [usual() + [Work(name), Work(other)]] * 3, 2)
        if name:
            waived(here, name, other)
        else:
            nameless(here)
        printed(here, name)
    print(f"hostile names: {len(NAMES)} names, {len(OUTPUTS)} outputs each")


run_parts(names)
