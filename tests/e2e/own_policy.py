#!/usr/bin/env python3
"""What a change can do to its own gate: each edit of the policy that lets more pass is told in every report,
compared with the policy of the commit it starts from, wherever that file was; a baseline that the change
makes disappear is lost (4), not a first run. Controls: the same change without the edit fails; an edit that
judges the same is not told.
"""
import html
import json
import os
import re
import shutil
import subprocess

import support
from support import ENV, PROGRAM, TRACES, expect, expect_has, read_text, run_parts, tracegate, write_text

POLICY = """version: 1
extends: [tracegate:recommended]
suites:
  - {name: train, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/run*.json.gz'}
rules:
  - {id: new-work, fail: {abs: 0}}
"""
NEW_WORK = "{id: new-work, fail: {abs: 0}"
# name, edit of the policy, the path that must be told ("": none)
EDITS = [
    ("nothing", ("version: 1", "version: 1 # nothing"), ""),
    ("a text", (NEW_WORK, NEW_WORK + ", why: because"), ""),
    ("limit", ("fail: {abs: 0}", "fail: {abs: 99}"), "rules.new-work.fail.abs"),
    ("off", ("fail: {abs: 0}", "fail: off"), "rules.new-work.fail"),
    ("ignore", ("version: 1", "version: 1\nnoise: {ignore: ['*']}"), "noise.ignore"),
    ("override", (NEW_WORK, NEW_WORK + ", overrides: [{match: {name: '*'}, fail: off}]"), "rules.new-work.overrides"),
    ("direction", (NEW_WORK, NEW_WORK + ", direction: down"), "rules.new-work.direction"),
    ("match", (NEW_WORK, NEW_WORK + ", match: {kind: memset}"), "rules.new-work.match.kind"),
    ("not", (NEW_WORK, NEW_WORK + ", match: {kind: op, not: {name: '*'}}"), "rules.new-work.match.not"),
    ("metric", (NEW_WORK, NEW_WORK + ", metric: total"), "rules.new-work.metric"),
    ("when", (NEW_WORK, NEW_WORK + ", when: {event: nothing}"), "rules.new-work.when"),
    ("aliases", ("version: 1", "version: 1\naliases: [{from: 'aten::a', to: 'aten::b'}]"), "aliases"),
    ("classes", ("version: 1", "version: 1\nclasses: [{name: '*', class: other}]"), "classes"),
    ("collapse", ("version: 1", "version: 1\nrequire: {collapse: off}"), "require.collapse"),
    ("on_lost", ("version: 1", "version: 1\nbaseline: {on_lost: pass}"), "baseline.on_lost"),
    ("ref", ("version: 1", "version: 1\nbaseline: {ref: HEAD}"), "baseline.ref"),
    ("the preset", ("tracegate:recommended", "tracegate:counts-only"), "rules.slower"),
    ("advisory", ("tracegate:recommended", "tracegate:advisory"), "rules.slower"),
    ("the baseline's own files", ("'out/run*", "'perf/run*"), "suites"),
    ("rules removed", (POLICY[POLICY.index("rules:"):], "rules: {remove: [new-work]}\n"), "rules.new-work"),
    ("waiver", ("rules:", "waivers: [{rule: new-work, name: 'aten::*', many: true, ceiling: {abs: 9}, reason: r, expires: 2026-03-01}]\nrules:"),
     "waivers.new-work aten::*"),
    ("another profile", ("rules:", "profiles: {night: {rules: [{id: new-work, fail: {abs: 99}}]}}\nrules:"),
     "profiles.night.rules.new-work.fail.abs"),
    ("another profile, tighter", ("rules:", "profiles: {night: {rules: [{id: slower, fail: {pct: auto, abs: 0}}]}}\nrules:"), ""),
]
DATE = {"SOURCE_DATE_EPOCH": "1767323045"}  # 2026-01-02, for the waiver


class Repository(support.Repository):
    def __init__(self, folder, policy=POLICY, name=".tracegate.yml", remote=False):
        super().__init__(folder)
        self.write(".gitignore", "out/\n")
        if policy:
            self.write(name, policy)
        self.copies("base", "perf")
        self.commit("base")
        if remote:
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder + ".git"], check=True, env=ENV)
            self.git("remote", "add", "origin", folder + ".git")
            self.git("push", "-q", "origin", "main")
        self.git("checkout", "-q", "-b", "change")
        self.copies("extra_copy", "out")

    def check(self, *args, folder="."):
        """(exit, text and annotations, all reports by kind)"""
        out = self.path("reports")
        shutil.rmtree(out, ignore_errors=True)
        run = subprocess.run([PROGRAM, "check", "--annotations", "--json", out + "/r.json", "--junit", out + "/r.xml", "--markdown",
                              out + "/r.md", *args], cwd=os.path.join(self.dir, folder), env=dict(ENV, **DATE), capture_output=True, text=True)
        reports = {k: read_text(f"{out}/r.{k}") for k in ("json", "xml", "md") if os.path.exists(f"{out}/r.{k}")}
        lines = run.stdout.splitlines()
        reports["text"] = "\n".join(x for x in lines if not x.startswith("::"))
        reports["annotations"] = "\n".join(x for x in lines if x.startswith("::"))
        return run.returncode, run.stderr, reports


def plain(text):
    return html.unescape(text).replace("\\", "").replace("`", "").replace("\n", " ")


def told(name, reports, path):
    """Named in each report; not a word of it if there is nothing to tell."""
    for kind, text in reports.items():
        squeezed = " ".join(plain(text).split())
        if path:
            expect(f"{name}: {kind} names {path}", f"looser than the baseline's: {path}" in squeezed, True)
        else:
            expect(f"{name}: {kind} is silent", "looser" in squeezed, False)


def each_edit(tmp):
    for i, (name, (before, after), path) in enumerate(EDITS):
        r = Repository(f"{tmp}/edit{i}")
        expect(f"{name}: the edit finds its text", POLICY.count(before), 1)
        r.write(".tracegate.yml", POLICY.replace(before, after))
        r.commit("policy")
        code, _, reports = r.check()
        if not path:
            expect(f"{name}: exit", code, 1)
        expect(f"{name}: reports", sorted(reports), ["annotations", "json", "md", "text", "xml"])
        told(name, reports, path)


def lifted(tmp):
    """Of same code: a policy that lets more pass makes a pass a warning, so that a comment appears; with fail_on: [fail, warn] it fails."""
    for i, (edit, said, code, word) in enumerate(((("version: 1", "version: 1 # nothing"), "PASS: ", 0, "pass"),
                                                  (("fail: {abs: 0}", "fail: {abs: 9}"), "WARN: ", 0, "warn"),
                                                  (("fail: {abs: 0}", "fail: {abs: 0}, warn: {abs: 0}"), "PASS: ", 0, "pass"),
                                                  (("version: 1", "version: 1\nrequire: {collapse: off}"), "WARN: ", 0, "warn"),
                                                  (("fail: {abs: 0}", "fail: {abs: 9}"), "FAIL: ", 1, "fail"))):
        strict = POLICY + "fail_on: [fail, warn]\n" if word == "fail" else POLICY
        r = Repository(f"{tmp}/lifted{i}", policy=strict)
        for run in ("00", "01", "02"):
            r.copy(f"base/run1{run[1]}", f"out/run{run}.json.gz")
        r.write("out/same.txt", "")
        r.write(".tracegate.yml", strict.replace(*edit))
        r.commit("policy")
        got, err, reports = r.check("out", "--runs", "--baseline", "main:perf")
        what = f"same code, {edit[1]!r}"
        expect(f"{what}: exit {err}", got, code)
        expect(f"{what}: headline", reports["text"][:6], said)
        expect(f"{what}: headline names it", "the policy is looser" in reports["text"].splitlines()[0], word != "pass")
        expect(f"{what}: JSON", [json.loads(reports["json"])[k] for k in ("verdict", "exit_code")], [word, code])
        expect(f"{what}: JUnit is red", "<failure" in reports["xml"], word == "fail")


def upgraded(tmp):
    """A policy for another program's decisions is refused by every command that judges, and says the way out; the change
    that raises the number is judged, and is not looser. Reports name the number."""
    number = int(re.search(r"decisions (\d+)", tracegate("--version").stdout).group(1))
    pinned = POLICY.replace("version: 1", f"version: 1\ndecisions: {number}")
    other = pinned.replace(f"decisions: {number}", f"decisions: {number + 1}")
    r = Repository(f"{tmp}/upgraded", policy=other)
    for args in (("check",), ("selftest", "perf"), ("calibrate", "perf"), ("policy", "lint"), ("policy", "show"), ("policy", "explain", "new-work")):
        run = tracegate(*args, cwd=r.dir, env=dict(ENV, **DATE))
        expect(f"another number: {args}", run.returncode, 2)
        expect_has(f"another number: {args}", run.stdout + run.stderr, ".tracegate.yml:2:12: error[TG108]", f"decisions {number + 1}",
                   f"decisions {number}", f"then write  decisions: {number}")
    code, _, reports = r.check("--policy", "main:.tracegate.yml")
    expect("another number: verdict", code, 2)
    r.write(".tracegate.yml", pinned)
    r.commit("upgrade")
    code, err, reports = r.check()
    expect(f"the upgrade is judged {err}", code, 1)
    told("the upgrade", reports, "")
    for kind in ("json", "xml"):
        expect_has(f"{kind} names it", reports[kind], f"decisions {number}")
    run = tracegate("policy", "diff", "main:.tracegate.yml", ".tracegate.yml", "--strict", cwd=r.dir)
    expect(f"policy diff of the upgrade {run.stderr}", (run.returncode, "decisions" in run.stdout), (0, True))
    run = tracegate("policy", "show", cwd=r.dir)
    expect_has("policy show", run.stdout, f"decisions: {number}")


def moved(tmp):
    """The policy is elsewhere now: the other name, a subfolder, the parent, a file of its own, or gone."""
    loose = POLICY.replace("fail: {abs: 0}", "fail: {abs: 99}")
    below = loose.replace("out/run", "../out/run")
    # name, where it was, where it is, its text, folder, arguments
    for i, (name, was, now, text, folder, args) in enumerate((
            ("the other name", ".tracegate.yml", ".tracegate.yaml", loose, ".", ()),
            ("the first name", ".tracegate.yaml", ".tracegate.yml", loose, ".", ()),
            ("a nearer one", ".tracegate.yml", "sub/.tracegate.yml", below, "sub", ()),
            ("moved up", "sub/.tracegate.yml", ".tracegate.yml", loose, ".", ()),
            ("moved down", ".tracegate.yml", "a/b/.tracegate.yml", below.replace("../", "../../"), "a/b", ()),
            ("named", ".tracegate.yml", "ci/gate.yml", below, ".", ("--policy", "ci/gate.yml")),
            ("named from a commit", ".tracegate.yml", "ci/gate.yml", loose, ".", ("out", "--runs", "--policy", "HEAD:ci/gate.yml")))):
        r = Repository(f"{tmp}/moved{i}", name=was, policy=POLICY if "/" not in was else POLICY.replace("out/run", "../out/run"))
        if name != "a nearer one":
            r.git("rm", "-q", was)
        r.write(now, text)
        r.commit("policy")
        code, err, reports = r.check(*args, folder=folder)
        expect(f"{name}: exit {err}", code, 0)
        told(name, reports, "rules.new-work.fail.abs")
        expect_has(f"{name}: where it was", " ".join(reports["text"].split()), f"the policy of the baseline's commit is {was}, {now} judges now")
    r = Repository(f"{tmp}/gone", policy=POLICY.replace("version: 1", "version: 1\nfail_on: [fail, warn]"))
    r.git("rm", "-q", ".tracegate.yml")
    r.commit("gone")
    _, _, reports = r.check("out", "--runs", "--baseline", "main:perf")
    told("gone", reports, "fail_on")
    expect_has("gone: where it was", " ".join(reports["text"].split()), "is .tracegate.yml, the built-in policy judges now")


def brought(tmp):
    """The first policy is the change's own: the built-in one judged before, and what it would have judged is told."""
    suites = POLICY[:POLICY.index("rules:")]
    for i, (name, policy, untracked, args, told_path, code) in enumerate((
            ("looser", POLICY.replace("fail: {abs: 0}", "fail: {abs: 99}"), False, (), "rules.new-work.fail", 0),
            ("the same", suites, False, (), "", 1),
            ("tighter", suites + "rules:\n  - {id: slower, fail: {pct: 1%, abs: 0}}\n", False, (), "rules.slower", 1),
            ("made by the job, not by the change", POLICY.replace("fail: {abs: 0}", "fail: {abs: 99}"), True, (), "", 0),
            ("no gate before", POLICY.replace("fail: {abs: 0}", "fail: {abs: 99}"), False,
             ("out", "--runs", "--baseline", TRACES + "/base/run00.json.gz"), "", 0))):
        r = Repository(f"{tmp}/brought{i}", policy=None)
        if not untracked:
            r.write(".tracegate.yml", policy)
        r.commit("policy")
        r.write(".tracegate.yml", policy)
        got, err, reports = r.check(*args)
        expect(f"brought, {name}: exit {err}", got, code)
        for kind, text in reports.items():
            expect(f"brought, {name}: {kind}", "looser than the baseline's: " + told_path in " ".join(plain(text).split()), bool(told_path))
        if told_path:
            run = r.run("policy", "diff", "tracegate:recommended", ".tracegate.yml", "--strict")
            expect_has(f"brought, {name}: the command that is named {run.stderr}", run.stdout, told_path)
            expect(f"brought, {name}: a preset that does not exist", r.run("policy", "diff", "tracegate:none", ".tracegate.yml").returncode, 2)
        if told_path == "rules.new-work.fail":
            expect_has(f"brought, {name}: what judged", " ".join(reports["text"].split()), "WARN: ", "so the built-in one judged there")


def layered(tmp):
    """What the policy extends is a part of it: an edit of a layer, another layer or another order is told; moved text is not."""
    def rules(limit):
        return f"version: 1\nextends: [tracegate:recommended]\nrules:\n  - {{id: new-work, fail: {{abs: {limit}}}}}\n"

    def main(*layers):
        return POLICY[:POLICY.index("rules:")].replace("tracegate:recommended", ", ".join(layers))
    base = {".tracegate.yml": main("ci/loose.yml", "ci/a.yml"), "ci/a.yml": "version: 1\nextends: [deep/b.yml]\n", "ci/deep/b.yml": rules(0),
            "ci/loose.yml": rules(99)}
    for i, (name, edits, told_path) in enumerate((
            ("nothing", {}, ""), ("the deepest", {"ci/deep/b.yml": rules(99)}, "rules.new-work.fail.abs"),
            ("the other order", {".tracegate.yml": main("ci/a.yml", "ci/loose.yml")}, "rules.new-work.fail.abs"),
            ("one layer less", {".tracegate.yml": main("ci/loose.yml")}, "rules.new-work.fail.abs"),
            ("another file of the same text", {"ci/c.yml": rules(0), ".tracegate.yml": main("ci/loose.yml", "ci/c.yml")}, ""),
            ("all in one file", {".tracegate.yml": POLICY}, ""))):
        r = Repository(f"{tmp}/layered{i}", policy=None)
        r.git("checkout", "-q", "main")
        for at, text in base.items():
            r.write(at, text)
        r.commit("base")
        r.git("checkout", "-q", "-B", "change")
        for at, text in edits.items():
            r.write(at, text)
        r.commit("policy")
        code, err, reports = r.check()
        expect(f"layers, {name}: exit {err}", code, 0 if told_path else 1)
        told(f"layers, {name}", reports, told_path)


def linked(tmp):
    """The policy of the baseline's commit is a symbolic link, or below one: it is followed there as in the work tree."""
    stored = POLICY.replace("'perf/run*.json.gz'", "stored")
    # name, links, the file that the change edits, its text and new limit, exit, path that is told, said
    for i, (name, links, file, text, edit, code, path, said) in enumerate((
            ("control", {}, ".tracegate.yml", POLICY, "abs: 99", 0, "rules.new-work.fail.abs", "WARN: "),
            ("a link", {".tracegate.yml": "ci/a.yml"}, "ci/a.yml", POLICY, "abs: 99", 0, "rules.new-work.fail.abs", "WARN: "),
            ("a link, nothing else", {".tracegate.yml": "ci/a.yml"}, "ci/a.yml", POLICY, "abs: 0", 1, "", "FAIL: "),
            ("two links", {".tracegate.yml": "ci/b.yml", "ci/b.yml": "../cd/./a.yml"}, "cd/a.yml", POLICY, "abs: 99", 0, "rules.new-work.fail.abs",
             "WARN: "),
            ("a folder", {"ci": "real/ci", ".tracegate.yml": "ci/a.yml"}, "real/ci/a.yml", POLICY, "abs: 99", 0, "rules.new-work.fail.abs", "WARN: "),
            ("a layer's folder", {"to": "real"}, "real/rules.yml", POLICY[:POLICY.index("suites:")] + POLICY[POLICY.index("rules:"):], "abs: 99", 0,
             "rules.new-work.fail.abs", "WARN: "),
            ("outside", {".tracegate.yml": tmp + "/outside.yml"}, "x", "abs: 0", "abs: 0", 0, None, "than the baseline's is not known"),
            ("stored, nothing there", {".tracegate.yml": "ci/a.yml"}, "ci/a.yml", stored, "abs: 0", 4, "", "this is not a first run"),
            ("a path, nothing there", {".tracegate.yml": "ci/a.yml"}, "ci/a.yml", POLICY.replace("perf/", "none/"), "abs: 0", 4, "",
             "INCONCLUSIVE: "))):
        r = Repository(f"{tmp}/linked{i}", policy=None)
        r.git("checkout", "-q", "main")
        write_text(tmp + "/outside.yml", POLICY.replace("abs: 0", "abs: 99"))
        for at, to in links.items():
            os.makedirs(os.path.dirname(r.path(at)), exist_ok=True)
            os.symlink(to, r.path(at))
        r.write(file, text)
        if "to" in links:
            r.write(".tracegate.yml", POLICY[:POLICY.index("rules:")].replace("tracegate:recommended", "to/rules.yml"))
        r.commit("base")
        r.git("checkout", "-q", "-B", "change")
        r.write(file, text.replace("abs: 0", edit))
        r.commit("policy")
        got, err, reports = r.check()
        expect(f"linked, {name}: exit {err}", got, code)
        expect_has(f"linked, {name}: said", err + " ".join(reports.get("text", "").split()), said)
        if path is not None:
            told(f"linked, {name}", reports, path)


def one_set_of_files(tmp):
    """The trace glob names the baseline's files: an error, and the change of the policy is told."""
    for i, (name, how) in enumerate((("pointed at", None), ("copied over", "copy"))):
        r = Repository(f"{tmp}/set{i}")
        if how:
            r.copies("base", "out")
        else:
            r.write(".tracegate.yml", POLICY.replace("'out/run", "'perf/run"))
        r.commit("same")
        code, err, reports = r.check()
        expect(f"{name}: exit", code, 3)
        expect_has(f"{name}: said", err, "is on both sides")
        told(name, reports, "" if how else "suites.train.trace")
    r = Repository(f"{tmp}/set-control")
    for run in ("00", "01", "02"):
        r.copy(f"base/run1{run[1]}", f"out/run{run}.json.gz")
    expect("another recording of the same code", r.check()[0], 0)


def lost(tmp):
    """Stored suites: name, edit, what happens to the store -> exit, situation, said."""
    stored = POLICY.replace("'perf/run*.json.gz'", "stored")
    for i, (name, base, after, store, code, situation, said) in enumerate((
            ("control", stored, stored, "here", 1, "found", ""),
            ("renamed", stored, stored.replace("name: train", "name: train2"), "here", 4, "lost", "nothing is stored for suite 'train2'"),
            ("all refs gone", stored, stored, "gone", 4, "lost", "here or at 'origin'"),
            ("not fetched", stored, stored, "remote", 4, "lost", "not fetched into this clone"),
            ("no answer", stored, stored, "away", 4, "lost", "'origin' could not be asked"),
            ("path to stored", POLICY, stored, "gone", 4, "lost", "this is not a first run"),
            ("another path", POLICY, POLICY.replace("'perf/", "'none/"), "gone", 4, "lost", "no baseline `none/run*.json.gz`"),
            ("fail_on", stored, stored + "fail_on: [fail, inconclusive]\n", "gone", 1, "lost", "nothing is stored for suite 'train'"),
            ("no policy before", None, stored, "gone", 0, "first-run", ""))):
        r = Repository(f"{tmp}/lost{i}", policy=base, remote=True)
        if store in ("here", "remote"):
            r.git("checkout", "-q", "main")
            for args in (("record", *[f"{TRACES}/base/run{k}.json.gz" for k in ("00", "01", "02")], "--suite", "train"), ("push",)):
                expect(f"{name}: {args[0]}", r.run("baseline", *args).returncode, 0)
            r.git("checkout", "-q", "change")
        if store == "remote":
            for ref in r.git("for-each-ref", "--format=%(refname)", "refs/tracegate").split():
                r.git("update-ref", "-d", ref)
        if store == "away":
            os.rename(r.dir + ".git", r.dir + ".away")
        r.write(".tracegate.yml", after)
        r.commit("change")
        got, err, reports = r.check()
        expect(f"{name}: exit", got, code)
        expect(f"{name}: situation", json.loads(reports["json"])["baseline"]["situation"], situation)
        expect_has(f"{name}: said", err + " ".join(reports["text"].split()), said)
        there = "; traces are still at \"perf/run*.json.gz\"" in plain(reports["text"])
        expect(f"{name}: where the baseline is still", there, name in ("another path", "path to stored"))
        if name == "fail_on":
            expect_has(f"{name}: headline", reports["text"].replace("\n  ", " "), "FAIL: nothing is stored", "(fail_on: inconclusive)")
            expect(f"{name}: JUnit is red", "<failure" in reports["xml"], True)
            expect(f"{name}: no rule to explain", "policy explain" in reports["text"], False)


def broken_refs(tmp):
    """A ref of the store that cannot be read is an error, never a first run."""
    stored = POLICY.replace("'perf/run*.json.gz'", "stored")
    for i, text in enumerate(("", "garbage\n", "ref: refs/nothing/here\n")):
        r = Repository(f"{tmp}/refs{i}", policy=stored)
        r.write("src.py", "x")
        r.commit("change")
        sha = r.git("rev-parse", "main")
        r.write(f".git/refs/tracegate/v1/train/{sha.strip()}/0123456789abcdef", text)
        code, err, _ = r.check()
        expect(f"ref with {text!r}: exit {err}", code, 3 if i < 2 else 4)
    r = Repository(f"{tmp}/packed", policy=stored)
    r.write("src.py", "x")
    r.commit("change")
    r.write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\nnot a ref\n")
    expect("packed-refs with garbage: green", r.check()[0] == 0, False)


def raw_in_store(tmp):
    """A ref of the store that holds a raw trace: `check` refuses it as `baseline show` does; a summary of it is taken."""
    trace = f"{TRACES}/base/run00.json.gz"
    for form, code in (("raw trace", 3), ("summary", 0)):
        r = Repository(f"{tmp}/store-{form[:3]}", policy=POLICY.replace("'perf/run*.json.gz'", "stored"))
        r.write("src.py", "x")
        r.commit("change")
        made = r.run("summarize", trace, "-o", "out/one.tgs").returncode
        blob = r.git("hash-object", "-w", trace if form == "raw trace" else "out/one.tgs")
        sha = r.git("rev-parse", "main")
        r.git("update-ref", f"refs/tracegate/v1/train/{sha}/{blob[:16]}", blob)
        expect(f"{form} in the store: made", made, 0)
        expect(f"{form} in the store: show", r.run("baseline", "show", "--commit", "main").returncode, code)
        run = r.run("check", trace.replace("run00", "run01"), env=dict(DATE, TRACEGATE_BASE="main"))
        expect(f"{form} in the store: check {run.stderr}", (run.returncode, "this stored run is not a summary" in run.stderr),
               (code, code == 3))


run_parts(each_edit, lifted, upgraded, moved, brought, layered, linked, one_set_of_files, lost, broken_refs,
          raw_in_store)
