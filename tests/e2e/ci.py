#!/usr/bin/env python3
"""The pages of docs/ci.md: each YAML parses, and each shell line runs as it stands, in clones as GitLab,
Jenkins and Buildkite make them, with what must come out written down before.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

from box import Box
from support import PROGRAM, ROOT, TRACES, expect, finish, need, read_text

yaml = need("yaml", "python3-yaml")

POLICY = """version: 1
suites:
  - {name: train, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: stored}
rules:
  - {id: new-work, match: {kind: op}, metric: count, fail: {abs: 0}}
"""
BENCH = """import os, shutil
variant, first = open("variant").read().split()
os.makedirs("out", exist_ok=True)
for k in range(5):
    shutil.copy(f"{os.environ['TRACES']}/{variant}/run{int(first) + k:02}.json.gz", f"out/run{k}.json.gz")
"""


def snippets():
    text = read_text(os.path.join(ROOT, "docs/ci.md"))
    return {m[1]: m[3] for m in re.finditer(r"^## (.*?)\n.*?^```(\w+)\n(.*?)^```$", text, re.S | re.M)}


def groovy_sh(text):
    """The scripts of `sh` steps, in order. In ''' a backslash before a line's end joins the lines."""
    found = re.findall(r"\bsh\b[^'\n]*(?:'''(.*?)'''|'((?:[^'\\\n]|\\.)*)')", text, re.S)
    return [(a or b).replace("\\\n", "") for a, b in found]


def services(text):
    """service -> (scripts of a change, scripts of the target branch, shell, variables of a change)"""
    gitlab, buildkite = yaml.safe_load(text["GitLab CI"]), yaml.safe_load(text["Buildkite"])["steps"]
    jenkins = groovy_sh(text["Jenkins"])
    expect("Jenkins: sh steps", len(jenkins), 4)
    expect("Jenkins: brackets", [text["Jenkins"].count(c) for c in "{("], [text["Jenkins"].count(c) for c in "})"])
    expect("Jenkins: the report always", "post { always { junit 'gate*.xml' } }" in text["Jenkins"], True)
    change, main = gitlab["performance"], gitlab["baseline"]
    expect("GitLab: the report always", (change["artifacts"]["when"], change["artifacts"]["reports"]["junit"]), ("always", "gate*.xml"))
    expect("GitLab: inconclusive", change["allow_failure"]["exit_codes"], [4])
    expect("GitLab: all history", change["variables"]["GIT_DEPTH"], 0)
    expect("Buildkite: inconclusive", buildkite[0]["soft_fail"], [{"exit_status": 4}])

    def plain(step):  # Buildkite replaces $X itself, and $$ by $
        expect("Buildkite: no bare $", re.findall(r"(?<!\$)\$(?!\$)", step["command"]), [])
        return [step["command"].replace("$$", "$")]
    return {"GitLab CI": ([x for x in change["script"]], [x for x in main["script"] if "set-url" not in x], "bash",
                          {k: v for k, v in change["variables"].items() if k != "GIT_DEPTH"}),
            "Jenkins": (jenkins[:3], jenkins[3:], "sh", {}),
            "Buildkite": (plain(buildkite[0]), plain(buildkite[1]), "bash", {})}


def run(scripts, shell, where, env):
    """The first exit code that is not 0, as the services stop there."""
    for s in scripts:
        flags = ["-e", "-o", "pipefail"] if shell == "bash" else ["-xe"]
        done = subprocess.run([shell, *flags, "-c", s], cwd=where, env=env, capture_output=True, text=True)
        if done.returncode:
            return done.returncode, done.stdout + done.stderr
    return 0, ""


def junit(path):
    suite = ET.parse(path).getroot().find("testsuite")
    return [int(suite.get(k)) for k in ("failures", "errors")]


def service(name, change, target, shell, variables, folder):
    box = Box(folder)
    start = box.commit("start", {".tracegate.yml": POLICY, "bench.py": BENCH, "variant": "base 0\n", ".gitignore": "out/\ngate.*\n"})
    box.push(start, "main")
    bin_ = os.path.join(folder, "bin")
    os.mkdir(bin_)
    os.symlink(PROGRAM, bin_ + "/tracegate")
    base_env = {k: v for k, v in box.env.items() if not k.startswith(("GITHUB_", "TRACEGATE_"))}
    base_env.update(PATH=f"{bin_}:{os.environ['PATH']}", TRACES=TRACES, GIT_CONFIG_GLOBAL="/dev/null")
    # the target branch has a policy and nothing is stored: that may be a renamed suite
    table = [("nothing stored", "base 10\n", 4, [0, 1])]
    # a needless clone calls aten::clone, aten::empty_strided and aten::copy_ once more each, and two names of its backward pass
    # are new, all by that clone: one failure
    later = [("same", "base 10\n", 0, [0, 0]), ("more work", "extra_copy 0\n", 1, [1, 0])]
    for stage in (table, later):
        for what, variant, code, failures in stage:
            box.git(box.work, "checkout", "-q", "-B", "change", start)
            head = box.commit(what, {"variant": variant, "src.py": what})
            box.push(head, "change")
            clone = box.checkout("refs/heads/change", 0, head)
            env = dict(base_env, CI_MERGE_REQUEST_DIFF_BASE_SHA=start, CHANGE_TARGET="main", BUILDKITE_PULL_REQUEST_BASE_BRANCH="main")
            env.update({k: re.sub(r"\$(\w+)", lambda m: env[m[1]], str(v)) for k, v in variables.items()})
            got, said = run(change, shell, clone, env)
            expect(f"{name}, {what}: exit code {said if got != code else ''}", got, code)
            report = clone + "/gate.xml"
            expect(f"{name}, {what}: JUnit", os.path.exists(report) and junit(report), failures)
        if stage is table:
            clone = box.checkout("refs/heads/main", 0, start)
            expect(f"{name}: record", run(target, shell, clone, base_env), (0, ""))
            expect(f"{name}: stored", box.git(box.bare, "for-each-ref", "refs/tracegate").count("\n"), 4)
    # all stored runs gone from where the change starts, and the suite known to have had them: lost, 4
    for ref in box.git(box.bare, "for-each-ref", "--format=%(refname)", "refs/tracegate").split():
        box.git(box.bare, "update-ref", "-d", ref)
    box.git(box.work, "checkout", "-q", "-B", "long", start)
    for i in range(3):
        last = box.commit(f"{i}", {"n": str(i), ".tracegate.yml": POLICY + "baseline: {max_walk: 1}\n"})
    box.push(last, "main")
    old = box.checkout("refs/heads/main", 0, start)
    expect(f"{name}: record the old one", run(target, shell, old, base_env)[0], 0)
    head = box.commit("change", {"variant": "base 10\n"})
    box.push(head, "change")
    clone = box.checkout("refs/heads/change", 0, head)
    env = dict(base_env, CI_MERGE_REQUEST_DIFF_BASE_SHA=last, CHANGE_TARGET="main", BUILDKITE_PULL_REQUEST_BASE_BRANCH="main")
    env.update({k: re.sub(r"\$(\w+)", lambda m: env[m[1]], str(v)) for k, v in variables.items()})
    got, said = run(change, shell, clone, env)
    expect(f"{name}, lost: exit code {said}", (got, junit(clone + "/gate.xml")), (4, [0, 1]))


def main():
    text = snippets()
    expect("pages", sorted(text), ["Buildkite", "GitLab CI", "Jenkins"])
    for name, spec in services(text).items():
        with tempfile.TemporaryDirectory() as folder:
            service(name, *spec, folder)
    return finish(f"ci: {len(text)} services")


sys.exit(main())
