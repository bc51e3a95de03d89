#!/usr/bin/env python3
"""The pytest plugin of the wheel, in an environment with Debian's pytest: a small project, its tests gated, a change that copies
needlessly red at the test that it belongs to. PyTorch is a stand-in whose operators are those that the project calls.
"""
import os
import re
import sys
import xml.etree.ElementTree

from installed import CLEAN, STUB, command, prepared, python
from support import Clone, Repository, check, expect, expect_has, read_text, run_parts, skip, write_text

MODEL = """import torch


def block(x):
    torch.mm(x)
    return torch.add(x)


def train_step(x):
    for _ in range(3):
        x = block(x)
    return "trained"


def evaluate(x):
    torch.mm(x)
"""
SLOWER = MODEL.replace("    torch.mm(x)\n    return", "    torch.mm(torch.clone(x))\n    return")
TIDY = MODEL.replace("def block", "# tidy\ndef block")
TESTS = """import model
import pytest
import torch


def test_train(tracegate):
    assert tracegate(model.train_step, 1) == "trained"


@pytest.mark.tracegate(wait=0, active=3)
@pytest.mark.parametrize("batch", [1, "a b/[é"])
def test_evaluate(tracegate, batch):
    tracegate(model.evaluate, x=batch)


def test_plain():
    assert True
"""
NAMES = ["test_evaluate[1]", "test_evaluate[a b/[\\xe9]", "test_plain", "test_train"]
# one judgement at the end: no plugin that asks for it at once
ALONE = ("-p", "no:rerunfailures", "-p", "no:xdist")
# a program that says how often it was called
COUNTING = """#!/bin/sh
echo "$1" >>"$CALLS"
exec "{}" "$@"
"""


def sample(folder):
    r = Repository(folder)
    for name, text in {"model.py": MODEL, "tests/test_model.py": TESTS, "pytest.ini": "[pytest]\npythonpath = .\n",
                       ".gitignore": "__pycache__\n.pytest_cache\n"}.items():
        r.write(name, text)
    r.commit("a project")
    return r


def gated(folder):
    """The project with baselines on main, and a branch."""
    r = sample(folder)
    pytest(r, "--tracegate=record")
    r.commit("baselines")
    r.git("checkout", "-q", "-b", "change")
    return r


def pytest(r, *args, code=0, plugins=ALONE, **environ):
    """Outcomes by test, as JUnit has them; what was printed."""
    bin_ = prepared("--system-site-packages")
    xml_file = r.dir + "/../junit.xml"
    done = command(bin_ + "python", "-m", "pytest", *plugins, "--junitxml", xml_file, *args, cwd=r.dir, env=dict(CLEAN, PYTHONPATH=STUB, **environ))
    text = done.stdout + done.stderr
    expect(f"pytest {args}: exit; {text[-1500:]}", done.returncode, code)
    if not os.path.exists(xml_file):
        return {}, text
    cases = xml.etree.ElementTree.parse(xml_file).getroot().iter("testcase")
    found = [(c.get("name"), next((x.get("message") for x in c if x.tag in ("failure", "error")), "")) for c in cases]
    os.unlink(xml_file)
    expect(f"pytest {args}: a case for each test", len(found), len(dict(found)))
    return dict(found), text


def red(outcomes):
    return sorted(name for name, why in outcomes.items() if why)


def records(tmp):
    r = sample(tmp + "/project")
    outcomes, text = pytest(r)
    expect("off", (sorted(outcomes), red(outcomes), r.git("status", "--porcelain")), (NAMES, [], ""))
    check("off: nothing is told", "tracegate off" not in text)
    outcomes, text = pytest(r, "--tracegate=record")
    expect_has("record: what to commit", text, "git add perf/pytest", "tests/test_model.py::test_train")
    kept = sorted(os.listdir(r.path("perf/pytest")))
    expect("record: a summary for each test", [re.sub("-[0-9a-f]{8}", "", n) for n in kept],
           ["test_model_py_test_evaluate_1.tgs", "test_model_py_test_evaluate_a_b_xe9.tgs", "test_model_py_test_train.tgs"])
    check("record: small", all(os.path.getsize(r.path("perf/pytest/" + n)) < 10000 for n in kept))
    expect("record: nothing else in git", r.git("status", "--porcelain"), "?? perf/")
    outcomes, text = pytest(r, "--tracegate=record", code=1, NO_KINETO="1")
    expect("no Kineto: red", red(outcomes), [n for n in NAMES if n != "test_plain"])
    expect_has("no Kineto", outcomes["test_train"], "tracegate: this PyTorch is built without Kineto")
    check("no Kineto: no traceback through the module", "def record(" not in text and "another exception" not in text)
    pytest(r, "--tracegate=record")
    expect("record again: the same names", sorted(os.listdir(r.path("perf/pytest"))), kept)
    bare = tmp + "/bare"
    os.makedirs(bare)
    write_text(bare + "/test_x.py", "def test_x(tracegate):\n    tracegate(lambda: None)\n")
    expect_has("no repository", pytest(Clone(bare), "--tracegate=check", code=4)[1], "--tracegate=check needs a git repository")


def judges(tmp):
    """Red is the test that the change is in, with its line; the program runs once."""
    r = gated(tmp + "/project")
    write_text(tmp + "/program", COUNTING.format(os.environ["TG_PROGRAM"]))
    os.chmod(tmp + "/program", 0o755)
    counting = {"TRACEGATE_PROGRAM": tmp + "/program", "CALLS": tmp + "/calls"}
    for what, text, code, failing in (("nothing changed", MODEL, 0, []), ("tidy", TIDY, 0, []), ("a copy", SLOWER, 1, ["test_train"])):
        r.write("model.py", text)
        r.commit(what)
        outcomes, told = pytest(r, "--tracegate=check", code=code, **counting)
        expect(f"{what}: red", (sorted(outcomes), red(outcomes)), (NAMES, failing))
        expect(f"{what}: calls of the program", read_text(tmp + "/calls").split(), ["check"])
        os.unlink(tmp + "/calls")
    expect_has("a copy: the sentence and the line", told, "aten::clone: new, 3 calls per step", "model.py:4 block, changed in this change (line 5)",
               "FAILED tests/test_model.py::test_train - tracegate FAIL: 1 violation", "1 failed, 3 passed")
    expect_has("a copy: JUnit", outcomes["test_train"], "tracegate FAIL: 1 violation: aten::clone +3 calls")
    # what else pytest does with a failure
    _, told = pytest(r, "--lf", "-q", "--tracegate=check", code=1)
    check("--last-failed runs the red test alone", "1 failed" in told and "passed" not in told, told)
    _, told = pytest(r, "-x", "--tracegate=check", code=1)
    expect_has("-x", told, "1 failed")
    outcomes, _ = pytest(r, "--tracegate=check", "--tracegate-base=HEAD~1", code=1)
    expect("another base", red(outcomes), ["test_train"])
    pytest(r)
    pytest(r, "--tracegate=check", "-k", "test_train", code=1)
    expect("reports: of this session alone", [re.sub("-[0-9a-f]{8}", "", n) for n in os.listdir(r.path(".tracegate_pytest")) if n.startswith("gate")],
           ["gate-test_model_py_test_train.json"])
    # a test that fails by itself is reported as ever, and the others are judged
    r.write("tests/test_model.py", TESTS.replace('== "trained"', '== "done"').replace("def test_plain", "def test_late"))
    outcomes, told = pytest(r, "--tracegate=check", code=1)
    expect("its own failure", red(outcomes), ["test_train"])
    check("its own failure: no verdict", "violation" not in told and "assert 'trained' == 'done'" in told, told)


def together(tmp):
    """xdist and reruns: judged in the worker, or before the rerun, as soon as the test ends; told all the same."""
    bin_ = prepared("--system-site-packages")
    if python(bin_, "import xdist, pytest_rerunfailures", tmp).returncode:
        skip("python3-pytest-xdist or python3-pytest-rerunfailures is missing")
    r = gated(tmp + "/project")
    for what, text, code, failing in (("tidy", TIDY, 0, []), ("a copy", SLOWER, 1, ["test_train"])):
        r.write("model.py", text)
        r.commit(what)
        for how, args in (("xdist", ("-p", "no:rerunfailures", "-n", "2")), ("reruns", ("--reruns", "1")), ("both", ("-n", "2", "--reruns", "1"))):
            outcomes, told = pytest(r, "--tracegate=check", *args, code=code, plugins=())
            expect(f"{how}, {what}", (sorted(outcomes), red(outcomes)), (NAMES, failing))
            expect(f"{how}: reports", sorted(re.sub("-[0-9a-f]{8}.json", "", n) for n in os.listdir(r.path(".tracegate_pytest")) if "gate" in n),
                   [f"gate-test_model_py_{n}" for n in ("test_evaluate_1", "test_evaluate_a_b_xe9", "test_train")])
            if failing:
                expect_has(how, told, "model.py:4 block, changed in this change (line 5)")
                check(f"{how}: reruns", ("1 rerun" in told) == ("--reruns" in args), told)
    r.git("rm", "-rq", "perf")
    _, told = pytest(r, "--tracegate=record", "-n", "2", plugins=())
    expect("recorded by workers", len(os.listdir(r.path("perf/pytest"))), 3)
    expect_has("recorded by workers: told", told, "perf/pytest/test_model_py_test_train-", "git add perf/pytest")


def baselines(tmp):
    """Which commit is compared with, and what a test without a baseline is."""
    r = gated(tmp + "/project")
    r.git("checkout", "-q", "main")
    r.write("model.py", SLOWER)
    outcomes, _ = pytest(r, "--tracegate=check", code=1)
    expect("uncommitted, on main: against HEAD", red(outcomes), ["test_train"])
    r.git("checkout", "-q", "change")  # no commit of its own yet
    outcomes, _ = pytest(r, "--tracegate=check", code=1)
    expect("uncommitted, on a branch that begins: against HEAD", red(outcomes), ["test_train"])
    r.git("checkout", "-q", "main")
    r.git("checkout", "-q", "--", "model.py")
    outcomes, told = pytest(r, "--tracegate=check")
    expect_has("the commit that brought the baselines", told, "new, compared from the next change on: tests/test_model.py::test_train")
    r.git("checkout", "-q", "change")
    r.write("tests/test_more.py", "import model\n\n\ndef test_train(tracegate):\n    tracegate(model.train_step, 1)\n")
    r.commit("a test")
    outcomes, told = pytest(r, "--tracegate=check", "tests/test_more.py", code=1)
    expect_has("never recorded", told, "tracegate: no baseline of this test", "run pytest --tracegate=record and commit perf/pytest")
    pytest(r, "--tracegate=record", "tests/test_more.py")
    _, told = pytest(r, "--tracegate=check", "tests/test_more.py")
    expect_has("recorded in this change", told, "new, compared from the next change on: tests/test_more.py::test_train")
    # a policy of one's own, and one that is wrong
    r.write("perf/rules.yml", "version: 1\nrules:\n  - {id: kernels, match: {kind: kernel}, metric: count, fail: {max: 2}}\n")
    outcomes, told = pytest(r, "--tracegate=check", "-o", "tracegate_policy=perf/rules.yml", "tests/test_model.py", code=1)
    expect("a budget of two launches", red(outcomes), ["test_train"])
    r.write("perf/rules.yml", "version: 1\nrules:\n  - {id: kernels, match: {kind: kernel}, metric: counts}\n")
    outcomes, told = pytest(r, "--tracegate=check", "-o", "tracegate_policy=perf/rules.yml", "tests/test_model.py", code=1)
    expect("a wrong policy", red(outcomes), [n for n in NAMES if n != "test_plain"])
    expect_has("a wrong policy", told, "exit code 2", "perf/rules.yml:3")


def accepted(tmp):
    """A copy on purpose: the waivers that the program prints, in the project's own policy, make it green; one call more is red."""
    r = gated(tmp + "/project")
    r.write("model.py", SLOWER)
    r.commit("on purpose")
    pytest(r, "--tracegate=check", code=1)
    report, = (n for n in os.listdir(r.path(".tracegate_pytest")) if n.startswith("gate-test_model_py_test_train"))
    waivers = r.run("policy", "waive", r.path(".tracegate_pytest/" + report))
    expect(f"waivers {waivers.stderr}", waivers.returncode, 0)
    r.write("perf/rules.yml", 'version: 1\nextends: ["tracegate:recommended"]\n' + waivers.stdout)
    r.write("pytest.ini", "[pytest]\npythonpath = .\ntracegate_policy = perf/rules.yml\n")
    outcomes, told = pytest(r, "--tracegate=check")
    expect("accepted", red(outcomes), [])
    r.write("model.py", SLOWER.replace("torch.mm(torch.clone(x))", "torch.mm(torch.clone(torch.clone(x)))"))
    outcomes, told = pytest(r, "--tracegate=check", code=1)
    expect("accepted, and no more than that", red(outcomes), ["test_train"])


def stored(tmp):
    """Baselines in refs of git instead of files."""
    r = sample(tmp + "/project")
    r.write("pytest.ini", "[pytest]\npythonpath = .\ntracegate_baseline = stored\n")
    r.commit("stored")
    outcomes, told = pytest(r, "--tracegate=record")
    expect_has("stored", told, "stored as suite test_model_py_test_train-")
    expect("stored: no files", (r.git("status", "--porcelain"), len(r.git("for-each-ref", "refs/tracegate").splitlines())), ("", 3))
    r.git("checkout", "-q", "-b", "change")
    for text, code, failing in ((TIDY, 0, []), (SLOWER, 1, ["test_train"])):
        r.write("model.py", text)
        r.commit("change")
        outcomes, told = pytest(r, "--tracegate=check", code=code)
        expect(f"stored: {told[-800:]}", red(outcomes), failing)
    r.git("checkout", "-q", "main")
    for args in ((), ("--tracegate-base=change~1",), ("--tracegate-base=main",)):  # the last two commits of `change` have no runs
        r.write("model.py", SLOWER)
        outcomes, told = pytest(r, "--tracegate=check", *args, code=1)
        expect(f"stored, uncommitted on main {args}: {told[-500:]}", red(outcomes), ["test_train"])
    r.git("checkout", "-q", "--", "model.py")
    r.git("checkout", "-q", "-b", "more", "main")
    r.write("tests/test_new.py", "import pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_new(tracegate, n):\n    tracegate(lambda: n)\n")
    r.commit("a new test")
    new = pytest(r, "--tracegate=check", "tests/test_new.py")[1]
    expect_has("stored, a new test", new, "new, compared once the target branch has recorded it: tests/test_new.py::test_new[1]")
    r.git("checkout", "-q", "main")
    r.write("tests/test_twice.py", "def test_twice(tracegate):\n    tracegate(lambda: None)\n    tracegate(lambda: None)\n")
    expect_has("two recordings in a test", pytest(r, "tests/test_twice.py", code=1)[1], "called twice in one test")


def stored_too_late(tmp):
    """Nothing at the base: recording the change itself would not help."""
    r = sample(tmp + "/project")
    r.write("pytest.ini", "[pytest]\npythonpath = .\ntracegate_baseline = stored\n")
    r.commit("stored")
    r.git("checkout", "-q", "-b", "early")
    r.commit("early")
    base = r.git("rev-parse", "main")[:12]
    told = pytest(r, "--tracegate=check", code=1)[1]  # the test is there
    expect_has("stored, nothing at the base", told, "no baseline of this test (merge base of HEAD and main", "`tracegate baseline fetch`",
               f"pytest --tracegate=record at that commit: git checkout {base}")
    r.git("checkout", "-q", base)
    pytest(r, "--tracegate=record")
    r.git("checkout", "-q", "early")
    pytest(r, "--tracegate=check")


if python(prepared("--system-site-packages"), "import pytest", "/").returncode:
    skip("python3-pytest is missing")
sys.dont_write_bytecode = True
run_parts(records, judges, together, baselines, accepted, stored, stored_too_late)
