#!/usr/bin/env python3
"""Several baselines in one `check`: the parent, the last release and a window, each with its own rules. The history:

    v0       no policy, nothing stored
    v1       policy; five runs of the program as it was
    lost     three runs of the program whose fusion is lost: it makes more calls
    parent   three runs of the same program
    HEAD     the same program

So against the parent it passes, against v1 it fails (every night: `fail_on: [open]`), and a window has the six runs
after v1. Every state of a baseline is tried on the release alone."""
import os
import xml.etree.ElementTree as ET

import support
from support import DATED, TRACES, check, expect, expect_has, read_json, read_text, run_parts, write_text

PRESET = "version: 1\nextends: [tracegate:recommended]\nbaseline: {ref: parent}\nsuites: [{name: train, trace: none.json}]\n"
RULE = "{id: %s, match: {kind: op}, metric: count, fail: {abs: 0}%s}"
POLICY = """version: 1
fail_on: [fail, open]
baseline: {ref: parent}
baselines:
  - {name: release, ref: %s%s}
  - {name: recent, ref: window(9)}
suites: [{name: train, trace: none.json}]
rules:
  - %s
  - %s
  - {id: recent-step, metric: step_time, against: recent, fail: {pct: 400%%, abs: 1ms}, optional: true}
"""


def policy(ref="release(v*)", more="", main=RULE % ("calls", ""), release=RULE % ("since", ", against: release")):
    return POLICY % (ref, more, main, release)


class Repository(support.Repository):
    env = DATED

    def __init__(self, folder):
        super().__init__(folder)
        self.commit("root")
        self.git("tag", "v0")
        self.write(policy())
        self.git("add", "p.yml")
        self.commit("a release")
        self.git("tag", "v1")
        self.record([f"{TRACES}/fused/run0{k}.json.gz" for k in range(5)])
        for first, subject in ((0, "the fusion is lost"), (3, "nothing")):
            self.commit(subject)
            self.record([f"{TRACES}/base/run0{k}.json.gz" for k in range(first, first + 3)])
        self.commit("a change")

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def write(self, text):
        write_text(f"{self.dir}/p.yml", text)

    def record(self, traces):
        run = self.run("baseline", "record", *traces, "--runs", "--suite", "train", "--policy", "p.yml")
        expect("record", (run.returncode, run.stderr), (0, ""))

    def check(self, *args):
        """(exit code, {"": report, "release": …}, standard error)"""
        for f in os.listdir(self.dir):
            if f.startswith("out"):
                os.remove(f"{self.dir}/{f}")
        run = self.run("check", *FRESH, "--runs", "--policy", "p.yml", "--json", "out.json", "--junit", "out.xml", "--markdown", "out.md", *args)
        reports = {}
        for f in os.listdir(self.dir):
            if f.startswith("out") and f.endswith(".json"):
                reports[f[3:-5].lstrip("@")] = read_json(f"{self.dir}/{f}")
        return run.returncode, reports, run


FRESH = [f"{TRACES}/base/run0{k}.json.gz" for k in (6, 7, 8)]


def verdicts(reports):
    return {k: v["verdict"] for k, v in reports.items()}


def against_three(r):
    code, reports, run = r.check()
    expect(f"three baselines: exit {run.stderr}", code, 1)
    expect("three baselines", verdicts(reports), {"": "pass", "release": "fail", "recent": "pass"})
    for name, v in reports.items():
        suite = "train" + ("@" + name if name else "")
        expect("the suite's name", (v["suite"], v["baseline"]["name"]), (suite, name or None))
        expect(f"{suite}: exit code", v["exit_code"], {"fail": 1}.get(v["verdict"], 0))
        file = "out" + ("@" + name if name else "")
        root = ET.parse(f"{r.dir}/{file}.xml").getroot().find("testsuite")
        expect(f"{suite}: JUnit", (root.get("name"), int(root.get("failures")) > 0), (suite, v["verdict"] == "fail"))
        text = read_text(f"{r.dir}/{file}.md")
        expect_has(f"{suite}: Markdown", text, f"key={suite.replace('@', '.')} -->", suite)
        rules = {x["rule"] for part in ("violations", "passed", "not_judged") for x in v[part]}
        expect(f"{suite}: rules", rules, {{"": "calls", "release": "since", "recent": "recent-step"}[name]})
        if name:
            expect_has(f"{suite}: headline", v["headline"], f" against {name}: ")
            # the rule about the release is about all operators, that about `recent` about none
            unchecked = [n["next"] for n in v["notes"] if n["text"].startswith("no rule checks the operators")]
            expect(f"{suite}: what checks the operators here", unchecked,
                   ["Rules with `against: [baseline, recent]` check them here, too."] if name == "recent" else [])
        expect_has("standard output", run.stdout, suite)
    expect("the release", (reports["release"]["baseline"]["commit"], reports["release"]["baseline"]["how"]),
           (r.git("rev-parse", "v1").strip(), "release v1"))
    expect_has("the window", reports["recent"]["baseline"]["how"],
               "and 1 before it: 6 runs of window(9), since the calls changed after " + r.git("rev-parse", "v1")[:12])
    for args, want in ((("--against", "release"), (1, {"": None, "release": "fail"})), (("--against", "baseline"), (0, {"": "pass"})),
                       (("--against", "recent"), (0, {"recent": "pass"}))):
        code, reports, _ = r.check(*args)
        expect(f"{args}", (code, verdicts(reports)), (want[0], {k: v for k, v in want[1].items() if v}))
    code, _, run = r.check("--against", "relaese")
    expect("no such baseline", (code, "baseline, release, recent" in run.stderr), (2, True))
    code, reports, _ = r.check("--baseline", f"{TRACES}/fused")
    expect("--baseline is in the place of `baseline`", (code, verdicts(reports)), (1, {"": "fail", "release": "fail", "recent": "pass"}))
    code, reports, _ = r.check("--baseline", f"{TRACES}/base/run00.json.gz", "--against", "release")
    expect("or of the one that is chosen", (code, verdicts(reports)), (0, {"release": "pass"}))
    plan = r.run("check", *FRESH, "--policy", "p.yml", "--dry-run")
    expect("dry run", (plan.returncode, plan.stdout.count("suite train"), plan.stdout.count("  against: ")), (0, 3, 2))


def states(r):
    """What was not judged is never green: of the release alone, while the parent warns that the policy was changed."""
    for what, ref, more, code, verdict, situation in (
            ("found", "release(v1)", "", 1, "fail", "found"),
            ("no such tag", "release(w*)", "", 4, "inconclusive", "lost"),
            ("no such tag, which may be", "release(w*)", ", on_lost: pass", 0, "pass", "lost"),
            ("no such tag, which fails", "release(w*)", ", on_lost: fail", 1, "fail", "lost"),
            ("before there was a policy", "release(v0)", "", 0, "pass", "first-run"),
            ("before there was a policy, which may not be", "release(v0)", ", on_first_run: inconclusive", 4, "inconclusive", "first-run"),
            ("a commit", "v1", "", 1, "fail", "found")):
        r.write(policy(ref, more))
        got, reports, run = r.check()
        expect(f"{what}: {run.stderr}", (got, verdicts(reports)), (code, {"": "warn", "release": verdict, "recent": "pass"}))
        expect(f"{what}: an error is no error that passes", "error: no tag" in run.stderr, "no such tag" in what and verdict != "pass")
        expect(f"{what}: situation", reports["release"]["baseline"]["situation"], situation)
    r.write(policy("v9"))
    expect("a commit that is not there", r.check()[0], 2)
    # A release at HEAD is not compared with itself.
    r.write(policy())
    r.git("tag", "v2")
    expect("HEAD is a release", r.check()[1]["release"]["baseline"]["how"], "release v1")
    r.git("tag", "-d", "v2")
    # A baseline that no rule is against is told, and nothing is green.
    r.write(policy(release=RULE % ("since", "")))
    code, reports, _ = r.check()
    expect("nothing is against the release", (code, verdicts(reports)), (0, {"": "warn", "recent": "pass"}))
    expect_has("which is told", str(reports[""]["notes"]), "nothing was compared with the baseline 'release'")
    run = r.run("policy", "lint", "--policy", "p.yml")
    expect("lint", "TG241" in run.stdout + run.stderr, True)
    # No rule is against `baseline`.
    r.write(policy(main=RULE % ("calls", ", against: [release, recent]")))
    code, reports, _ = r.check()
    expect("nothing is against the parent", (code, sorted(reports)), (1, ["recent", "release"]))
    for text, diag in ((policy(main=RULE % ("calls", ", against: relase")), "TG134"), (policy(ref="release()"), "TG104"),
                       (policy().replace("name: recent", "name: release"), "TG133"), (policy().replace("name: recent", "name: baseline"), "TG107")):
        r.write(text)
        code, _, run = r.check()
        expect(diag, (code, diag in run.stderr), (2, True))
    r.write(policy())


def language(r):
    run = r.run("policy", "explain", "since", "--policy", "p.yml")
    expect_has("explain", run.stdout, "against release")
    expect("explain: only there", "against" in r.run("policy", "explain", "calls", "--policy", "p.yml").stdout, False)
    write_text(f"{r.dir}/old.yml", policy())
    for text, direction in ((policy().replace("  - {name: recent, ref: window(9)}\n", "").replace("against: recent, ", ""), "looser"),
                            (policy(more=", on_lost: pass"), "looser"), (policy(), "no difference")):
        write_text(f"{r.dir}/new.yml", text)
        expect_has("policy diff", r.run("policy", "diff", "old.yml", "new.yml").stdout, direction)
    expect_has("show", r.run("policy", "show", "--policy", "p.yml").stdout, "baselines:", "name: release", "against: release")
    os.remove(f"{r.dir}/old.yml")
    os.remove(f"{r.dir}/new.yml")
    # The preset's nightly profile: what is older than the parent.
    r.write(PRESET)
    code, reports, run = r.check("--profile", "nightly")
    expect(f"profile nightly: exit {run.stderr}", (code, reports["release"]["verdict"], sorted(reports)), (0, "warn", ["", "recent", "release"]))
    expect("without it", sorted(r.check()[1]), [""])
    r.git("tag", "-d", "v1")
    r.git("tag", "-d", "v0")
    code, reports, run = r.check("--profile", "nightly")
    expect("profile nightly: no release yet", (code, reports["release"]["verdict"]), (0, "pass"))
    r.git("tag", "v1", "HEAD~3")
    r.git("tag", "v0", "HEAD~4")
    r.write(PRESET + "profiles: {nightly: {rules: {remove: [slower-recent, since-release, work-since-release]}}}\n")
    expect("its rules can be removed", sorted(r.check("--profile", "nightly")[1]), [""])
    r.write(policy())


def suites(r):
    """Two suites: the reports have the names of both."""
    r.write(policy().replace("suites: [{name: train, trace: none.json}]", "suites: [{name: train, trace: %s}, {name: other, trace: none.json}]"
                             % FRESH[0]))
    r.run("check", "--policy", "p.yml", "--json", "out.json", "--suite", "train", "--runs")
    names = sorted(f for f in os.listdir(r.dir) if f.startswith("out") and f.endswith(".json"))
    check("one suite", {"out.json", "out@release.json", "out@recent.json"} <= set(names), names)
    r.run("check", "--policy", "p.yml", "--json", "two.json", "--runs")
    names = sorted(f for f in os.listdir(r.dir) if f.startswith("two"))
    expect("two suites", names, ["two-other.json", "two-other@recent.json", "two-other@release.json", "two-train.json",
                                 "two-train@recent.json", "two-train@release.json"])
    r.write(policy())


def remote(r, tmp):
    """`baseline fetch` brings what each of them needs; a history that is cut before the release is an error."""
    r.git("init", "-q", "--bare", "-b", "main", f"{tmp}/hub.git")
    r.git("remote", "add", "origin", f"{tmp}/hub.git")
    r.git("add", "-A")
    r.commit("policy")
    r.git("push", "-q", "origin", "main", "--tags")
    for at in ("HEAD~4", "HEAD~3", "HEAD~2"):
        expect("push", r.run("baseline", "push", "--suite", "train", "--policy", "p.yml", "--commit", at).returncode, 0)
    r.write(policy().replace("ref: parent", "ref: HEAD~2"))
    want = verdicts(r.check()[1])
    clone = Repository.__new__(Repository)
    clone.dir = f"{tmp}/clone"
    r.git("clone", "-q", f"{tmp}/hub.git", clone.dir)
    clone.write(policy().replace("ref: parent", "ref: HEAD~2"))
    code, reports, _ = clone.check()
    expect("not fetched", (code, reports["release"]["verdict"]), (4, "inconclusive"))
    run = clone.run("baseline", "fetch", "--policy", "p.yml")
    expect(f"fetch {run.stderr}", run.returncode, 0)
    code, reports, _ = clone.check()
    expect("fetched", (code, verdicts(reports)), (1, want))
    clone.dir = f"{tmp}/shallow"
    r.git("clone", "-q", "--depth", "2", f"file://{tmp}/hub.git", clone.dir)
    code, reports, run = clone.check("--against", "release")
    expect("shallow", (code, "shallow" in run.stderr), (3, True))


def main(tmp):
    r = Repository(f"{tmp}/r")
    against_three(r)
    states(r)
    language(r)
    suites(r)
    remote(r, tmp)


run_parts(main)
