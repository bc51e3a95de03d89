#!/usr/bin/env python3
"""Ways in which a regression got through once, in the script that came with them: attacks/attacks.py of the shared material, which
must print no OPEN line. Those of a general kind are rows of outside_in.py and variants.py, with their controls.
"""
import os
import subprocess
import sys

from support import ENV, PROGRAM, ROOT, SHARED, absent, expect, run_parts

SCRIPT = os.path.join(SHARED, "attacks/attacks.py")


def main(tmp):
    env = dict(ENV, TG_PROGRAM=PROGRAM, TG_SOURCE_DIR=ROOT, PYTHONDONTWRITEBYTECODE="1")
    run = subprocess.run([sys.executable, SCRIPT, tmp], env=env, capture_output=True, text=True, timeout=600)
    lines = run.stdout.splitlines()
    expect("what got through", [line for line in lines if line.startswith("OPEN")], [])
    expect("last line", lines[-1:], ["0 open"])
    expect(f"exit code, {run.stderr[-300:]}", run.returncode, 0)


if not os.path.exists(SCRIPT):
    absent("shared attacks")
run_parts(main)
