#!/usr/bin/env python3
"""scripts/same finds no difference between a program and itself, and one that another program makes in a single report."""
import os
import subprocess

from support import PROGRAM, ROOT, expect, expect_has, run_parts, write_text

SAME = os.path.join(ROOT, "scripts/same")


def compared(other):
    run = subprocess.run([SAME, PROGRAM, other, "2"], capture_output=True, text=True, env=dict(os.environ, TG_SHARED_DIR="/nowhere"))
    return run.returncode, run.stdout


def a_program_and_itself(tmp):
    expect("itself", compared(PROGRAM), (0, "16 runs, 0 differ\n"))


def another_byte_in_one_report(tmp):
    other = f"{tmp}/other"
    write_text(other, f'#!/bin/sh\n"{PROGRAM}" "$@"\ncode=$?\n[ ! -f report.csv ] || echo >>report.csv\nexit $code\n')
    os.chmod(other, 0o755)
    code, said = compared(other)
    expect("another: exit", code, 1)
    expect_has("another", said, "report.csv of check ")
    expect_has("another", said, "16 runs, 2 differ")


run_parts(a_program_and_itself, another_byte_in_one_report)
