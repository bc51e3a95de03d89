#!/usr/bin/env python3
"""The action's last step: which code and verdict of step Check make which exit code, in every combination.

By docs/github-actions.md: pass, warn, recorded and got are green with code 0; fail, inconclusive and error with code 0 come from
--exit-zero; 1, 2, 3 and 5 are what they are; 4 is green with a warning unless on-inconclusive says fail, of a lost baseline only if it says warn;
all else is red.
"""
import itertools
import os
import subprocess

from support import ROOT, expect, run_parts

GREEN = ["pass", "warn", "recorded", "got"]
VERDICTS = [*GREEN, "fail", "inconclusive", "error", "lost", "", "PASS", "pass ", "none"]
CODES = ["0", "1", "2", "3", "4", "5", "", "6", "00", "124", "137", "139", "-1", "x"]


def due(code, verdict, on_inconclusive):
    if code == "0":
        return 0 if verdict in [*GREEN, "fail", "inconclusive", "error"] else 5
    if code == "4" and verdict == "lost":
        return 0 if on_inconclusive == "warn" else 4
    if code == "4":
        return 5 if verdict != "inconclusive" else 0 if on_inconclusive in (None, "", "warn") else 4
    return int(code) if code in ("1", "2", "3", "5") else 5


def last_step(**environ):
    return subprocess.run(["bash", os.path.join(ROOT, "scripts/action-verdict")], env={"PATH": os.environ["PATH"], **environ}, capture_output=True,
                          text=True, check=False)


def main(_):
    for code, verdict, choice in itertools.product(CODES, VERDICTS, (None, "", "warn", "fail")):
        run = last_step(EXIT_CODE=code, VERDICT=verdict, **({} if choice is None else {"INPUT_ON_INCONCLUSIVE": choice}))
        what = f"exit code {code!r}, verdict {verdict!r}, on-inconclusive {choice!r}"
        want = due(code, verdict, choice)
        expect(what, run.returncode, want)
        unknown = code not in ("1", "2", "3") and want == 5 and (code, verdict) != ("5", verdict)
        expect(f"{what}: an error is told", "::error " in run.stdout, unknown)
        expect(f"{what}: a warning is told", "::warning " in run.stdout, code == "4" and want == 0)
        expect(f"{what}: the verdict is told", run.stdout.startswith(f"tracegate: {verdict or 'no verdict'}\n"), True)
    expect("nothing at all", last_step().returncode, 5)


run_parts(main)
