"""pytest plugin: the fixture `tracegate(fn, *args)` records what a test does, and the program judges it.

    def test_step(tracegate):
        tracegate(train_step, model, batch)

    pytest                      calls fn once; nothing is recorded
    pytest --tracegate=record   records, and keeps a summary for each test: perf/pytest/SUITE.tgs, to be committed
    pytest --tracegate=check    records, and compares with the summaries of the merge base (or of --tracegate-base)

The program runs once, after the last test; a test whose trace fails is reported then, as a failure of that test.
Workers of xdist and reruns (pytest-rerunfailures) need to know at once: there each test is judged as soon as it ends.
"""
from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import subprocess
from typing import Any, Callable, Generator, NamedTuple, Optional, TypeVar

import pytest

from ._program import ProgramError, run
from ._record import RecordError, record

T = TypeVar("T")
FOLDER = ".tracegate_pytest"  # traces and reports of the last session; git ignores it
DEFAULT_BASELINE = "perf/pytest"
PROPERTY = "tracegate"
SHOWN = 5  # findings in a failure
STEPS = {"wait": 2, "warmup": 1, "active": 5}


class Recording(NamedTuple):
    """The trace of one test."""

    nodeid: str
    suite: str
    path: str


class Answer(NamedTuple):
    """What is said of a test; a text that does not fail is shown at the end of the session."""

    text: str
    fails: bool


def suite_of(nodeid: str) -> str:
    """A name that the policy and git take, the same for the same node id: readable, and unique by its end."""
    file, _, test = nodeid.partition("::")
    words = re.sub(r"[^A-Za-z0-9]+", "_", f"{os.path.basename(file)}_{test}").strip("_")[:60]
    return f"{words}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracegate", "performance gate on profiler traces (torch-tracegate)")
    group.addoption(
        "--tracegate",
        choices=("off", "record", "check"),
        default="off",
        help="what the fixture `tracegate` does: call the function once (off, the default), record baselines, "
        "or check against them",
    )
    group.addoption(
        "--tracegate-base",
        metavar="REV",
        help="compare with the baselines of this commit; default: the merge base with the target branch; HEAD if that "
        "branch has it and changes are not committed",
    )
    where_kept = "folder of the baselines below the rootdir, or 'stored': kept in refs of git"
    parser.addini("tracegate_baseline", where_kept, default=DEFAULT_BASELINE)
    judge = "policy that judges: a preset, or a file below the rootdir with rules and without suites"
    parser.addini("tracegate_policy", judge, default="tracegate:recommended")
    parser.addini("tracegate_stacks", "record Python stacks, which name the line of a change", type="bool",
                  default=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "tracegate(wait=2, warmup=1, active=5): steps that the fixture `tracegate` lets pass, "
        "warms up with, and records"
    )
    if config.getoption("--tracegate") != "off":
        config.pluginmanager.register(Gate(config), "tracegate-gate")


class Finding:
    """Why a test failed, as pytest shows it. The first line is in the short summary and in JUnit's message."""

    class _Crash(NamedTuple):
        message: str

    def __init__(self, text: str) -> None:
        self.text = text
        self.reprcrash = Finding._Crash(text.split("\n")[0])

    def toterminal(self, writer: Any) -> None:
        for line in self.text.split("\n"):
            writer.line(line, red=True)

    def __str__(self) -> str:
        return self.text


class Gate:
    """One session: what was recorded, what the program said of it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = str(config.rootpath)
        self.mode = config.getoption("--tracegate")
        self.baseline = str(config.getini("tracegate_baseline"))
        self.reports = os.path.join(self.root, FOLDER)
        self.folder = os.path.join(self.reports, os.environ.get("PYTEST_XDIST_WORKER", ""))
        if "PYTEST_XDIST_WORKER" not in os.environ:
            for old in glob.glob(os.path.join(glob.escape(self.reports), "gate*.json")):
                os.unlink(old)
        reruns = config.pluginmanager.hasplugin("rerunfailures")
        # judged at once where a report cannot wait for the end of the session
        self.at_once = self.mode == "record" or "PYTEST_XDIST_WORKER" in os.environ or reruns
        self.recorded: dict[str, Recording] = {}
        self.held: list[tuple[pytest.Item, list[pytest.TestReport]]] = []
        self.told: list[str] = []  # for the end of the session, in words
        self.top = self._git("rev-parse", "--show-toplevel")
        if not self.top:
            raise pytest.UsageError(f"--tracegate={self.mode} needs a git repository around {self.root}: "
                                    "baselines are found by commit")

    # ---- places ----

    def _git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _in_repository(self, path: str) -> str:
        return os.path.relpath(os.path.realpath(os.path.join(self.root, path)), os.path.realpath(self.top))

    def recording(self, nodeid: str) -> Recording:
        os.makedirs(self.folder, exist_ok=True)
        ignore = os.path.join(self.root, FOLDER, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8") as file:
                file.write("*\n")
        suite = suite_of(nodeid)
        return Recording(nodeid, suite, os.path.join(self.folder, f"{suite}.json.gz"))

    def _kept(self, suite: str) -> str:
        return os.path.join(self.root, self.baseline, f"{suite}.tgs")

    def _base(self) -> Optional[str]:
        """The commit to compare with; None: the program finds it. If the target branch already has HEAD, the change is
        what is not committed."""
        given = self.config.getoption("--tracegate-base")
        if given or "CI" in os.environ or "TRACEGATE_BASE" in os.environ:
            return str(given) if given else None
        target = self._git("symbolic-ref", "--short", "refs/remotes/origin/HEAD").rpartition("/")[2]
        targets = [f"{where}/{name}" for name in ([target] if target else ["main", "master"])
                   for where in ("refs/heads", "refs/remotes/origin")]
        on_target = self._git("for-each-ref", "--contains", "HEAD", *targets)
        return "HEAD" if on_target and self._git("status", "--porcelain", "--untracked-files=no") else None

    def _policy(self, recordings: list[Recording]) -> str:
        """A policy with a suite for each recording. JSON is YAML."""
        own = str(self.config.getini("tracegate_policy"))
        extends = own if own.startswith("tracegate:") else os.path.relpath(os.path.join(self.root, own), self.folder)
        suites = []
        for r in recordings:
            stored = self.baseline == "stored"
            suites.append({"name": r.suite, "trace": r.path,
                           "baseline": "stored" if stored else self._in_repository(self._kept(r.suite))})
        path = os.path.join(self.folder, "policy.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "extends": [extends], "suites": suites}, file, indent=1)
        return path

    # ---- record ----

    def keep(self, r: Recording) -> str:
        """The trace becomes a baseline: a summary to be committed, or a run stored in git."""
        if self.baseline == "stored":
            run("baseline", "record", r.path, "--policy", self._policy([r]), "--suite", r.suite, cwd=self.root)
            return f"stored as suite {r.suite}: {r.nodeid}"
        kept = self._kept(r.suite)
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        run("summarize", r.path, "-o", kept, cwd=self.root)
        return f"{os.path.relpath(kept, self.root)}: {r.nodeid}"

    # ---- check ----

    def judge(self, recordings: list[Recording]) -> dict[str, Answer]:
        """One run of the program over all of them, by node id. Each leaves its report, gate-SUITE.json."""
        args = ["check", "--policy", self._policy(recordings), "--json", os.path.join(self.folder, "gate.json"),
                "--quiet"]
        base, env = self._base(), dict(os.environ)
        if base and self.baseline == "stored":
            env["TRACEGATE_BASE"] = base  # the commit whose runs are looked up
        elif base:
            args += ["--baseline", base]
        try:
            run(*args, ok=(0, 1, 3, 4), cwd=self.root, env=env)
        except ProgramError as error:
            return {r.nodeid: Answer(str(error), True) for r in recordings}
        reports = {}
        for r in recordings:
            name = f"gate-{r.suite}.json"
            written = os.path.join(self.folder, name if len(recordings) > 1 else "gate.json")
            if os.path.exists(written):
                os.replace(written, os.path.join(self.reports, name))
                with open(os.path.join(self.reports, name), encoding="utf-8") as file:
                    reports[r.suite] = json.load(file)
        return {r.nodeid: self._answer(r, reports.get(r.suite)) for r in recordings}

    def _answer(self, r: Recording, report: Optional[dict[str, Any]]) -> Answer:
        if report is None:
            return Answer("tracegate: no verdict about this test", True)
        if report["baseline"]["situation"] in ("first-run", "lost"):
            return self._without_baseline(r, report)
        if report["verdict"] in ("fail", "error", "inconclusive"):
            return Answer(describe(report), True)
        return Answer(f"{report['headline']}: {r.nodeid}" if report["verdict"] == "warn" else "", False)

    def _is_new(self, nodeid: str, commit: str) -> bool:
        """Does the commit, which git has, lack a function of the test's name in its file, or all of the file?"""
        path, _, name = nodeid.partition("::")
        function = name.rpartition("::")[2].partition("[")[0]
        known = self._git("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}")
        before = self._git("show", f"{commit}:{self._in_repository(path)}")
        return bool(known) and re.search(rf"\bdef\s+{re.escape(function)}\b", before) is None

    def _without_baseline(self, r: Recording, report: dict[str, Any]) -> Answer:
        """A test that this change adds brings its baseline with it; a test that nobody recorded is not gated, which has
        to be said."""
        base, record_it = report["baseline"], "pytest --tracegate=record"
        if self.baseline != "stored" and os.path.exists(self._kept(r.suite)):
            return Answer(f"new, compared from the next change on: {r.nodeid}", False)
        if self.baseline == "stored" and base["commit"] and self._is_new(r.nodeid, base["commit"]):
            return Answer(f"new, compared once the target branch has recorded it: {r.nodeid}", False)
        if self.baseline == "stored" and base["commit"]:  # recorded here, it would be the baseline of later commits
            next_step = (f"run `tracegate baseline fetch`, or, if nobody recorded it, {record_it} at that commit: "
                         f"git checkout {base['commit'][:12]}")
        else:
            next_step = f"run {record_it}" + ("" if self.baseline == "stored" else f" and commit {self.baseline}")
        return Answer(f"tracegate: no baseline of this test ({base['how']}): {next_step}", True)

    # ---- pytest ----

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: Optional[pytest.Item]) -> Optional[bool]:
        """Reports of a recorded test wait for the verdict. A test that fails by itself is reported as ever."""
        if self.at_once or "tracegate" not in getattr(item, "fixturenames", ()):
            return None
        # private: what pytest's own protocol calls, and pytest-rerunfailures does
        from _pytest.runner import runtestprotocol

        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if item.nodeid in self.recorded and all(r.passed for r in reports):
            self.held.append((item, reports))
        else:
            self.recorded.pop(item.nodeid, None)
            for report in reports:
                hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        recording = self.recorded.get(item.nodeid)
        if not self.at_once or call.when != "call" or not report.passed or recording is None:
            return
        if self.mode == "check":
            settle(report, self.judge([recording])[item.nodeid])
            return
        try:
            settle(report, Answer(self.keep(recording), False))
        except (OSError, ProgramError) as error:
            settle(report, Answer(f"tracegate: not recorded: {error}", True))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, None]:
        outcome = yield
        if self.held:
            answers = self.judge([self.recorded[item.nodeid] for item, _ in self.held])
            for item, reports in self.held:
                for report in reports:
                    if report.when == "call":
                        settle(report, answers[item.nodeid])
                    item.ihook.pytest_runtest_logreport(report=report)
        outcome.get_result()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What is told travels with the reports, so that it comes from xdist's workers, too."""
        self.told += [str(value) for name, value in report.user_properties if name == PROPERTY
                      and report.when == "call"]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.told:
            terminalreporter.write_sep("-", f"tracegate {self.mode}")
            for line in self.told:
                terminalreporter.write_line(line)
            if self.mode == "record" and self.baseline != "stored":
                terminalreporter.write_line(f"commit {self.baseline}: git add {self.baseline}")


def settle(report: pytest.TestReport, answer: Answer) -> None:
    """The answer becomes part of the test's report."""
    if answer.fails:
        report.outcome = "failed"
        # pytest asks for toterminal, str and reprcrash.message
        report.longrepr = Finding(answer.text)  # type: ignore[assignment]
    elif answer.text:
        report.user_properties.append((PROPERTY, answer.text))


def describe(report: dict[str, Any]) -> str:
    """A verdict that stops, in the program's own words: the headline, and each finding with its place."""
    lines = [f"tracegate {report['headline']}"]
    error = report["error"]
    if error:
        lines.append(f"  {error.get('next') or ''}")
    findings = [v for v in report["violations"] + report["inconclusive"] if not v.get("follows")]
    for v in findings[:SHOWN]:
        lines.append(f"  {v['op']}: {v['message']}")
        place = where(v.get("cause"))
        if place:
            lines.append(f"      {place}")
    if len(findings) > SHOWN:
        lines.append(f"  and {len(findings) - SHOWN} more")
    return "\n".join(lines)


def where(cause: Optional[dict[str, Any]]) -> str:
    """model.py:88 Block.forward, changed in this change (lines 91-97)"""
    if not cause or not cause.get("file"):
        return ""
    place = f"{cause['file']}:{cause['line']} {cause.get('qualified') or cause.get('function') or ''}".rstrip()
    changed = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in cause.get("changed") or [])
    return f"{place}, changed in this change (line {changed})" if changed else place


@pytest.fixture
def tracegate(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`tracegate(fn, *args, **kwargs)` calls fn, records it under --tracegate=record or check, and returns what fn
    returned last."""
    gate: Optional[Gate] = request.config.pluginmanager.getplugin("tracegate-gate")
    marker = request.node.get_closest_marker("tracegate")
    steps: dict[str, Any] = {**STEPS, **(marker.kwargs if marker else {})}
    used = False

    def call(fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        nonlocal used
        if used:
            raise pytest.UsageError("tracegate(fn) was called twice in one test: a test has one trace, "
                                    "so make it two tests")
        used = True
        if gate is None:
            return fn(*args, **kwargs)
        recording, refused = gate.recording(request.node.nodeid), ""
        try:
            with record(recording.path, with_stack=bool(request.config.getini("tracegate_stacks")), **steps) as step:
                for _ in step:
                    result = fn(*args, **kwargs)
        except RecordError as error:
            refused = f"tracegate: {error}"
        if refused:  # here, so that it is not told as an error while another one was handled
            pytest.fail(refused, pytrace=False)
        gate.recorded[recording.nodeid] = recording._replace(path=step.path)
        return result

    return call
