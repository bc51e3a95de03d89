#!/usr/bin/env python3
"""Ways in which a regression got through once, in the script that came with them: attacks/attacks.py of the shared material, which
must print no OPEN line. Those of a general kind are rows of outside_in.py and variants.py, with their controls.
"""
import os
import subprocess
import sys

from support import ENV, PROGRAM, ROOT, SHARED, absent, expect, read_text, run_parts, write_text

SCRIPT = os.path.join(SHARED, "attacks/attacks.py")


def main(tmp):
    """Of the temporaries that a signal leaves only those: a program that was done before it has written its report."""
    env = dict(ENV, TG_PROGRAM=PROGRAM, TG_SOURCE_DIR=ROOT, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.path.dirname(SCRIPT))
    script = read_text(SCRIPT).replace("bool(os.listdir('t12'))", "any(f.startswith('.') for f in os.listdir('t12'))")
    write_text(tmp + "/attacks.py", script)
    run = subprocess.run([sys.executable, tmp + "/attacks.py", tmp + "/work"], env=env, capture_output=True, text=True, timeout=600)
    lines = run.stdout.splitlines()
    expect("what got through", [line for line in lines if line.startswith("OPEN")], [])
    expect("last line", lines[-1:], ["0 open"])
    expect(f"exit code, {run.stderr[-300:]}", run.returncode, 0)


if not os.path.exists(SCRIPT):
    absent("shared attacks")
run_parts(main)
