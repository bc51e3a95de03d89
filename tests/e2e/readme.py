#!/usr/bin/env python3
"""The README's `tracegate …` lines as written, in a repository like the one they speak of: perf/ on
origin/main, fresh runs with a needless copy in out/, ten runs of one commit in base/. `check` must stop it (1),
every other command must do its work (0).
"""
import os
import re
import subprocess

from guides import prepare
from support import ENV, ROOT, expect, read_text, run_parts


def main(tmp):
    lines = [m[1] for m in re.finditer(r"^    (tracegate [a-z].*?)(?:\s+#.*)?$", read_text(os.path.join(ROOT, "README.md")), re.M)]
    prepare(tmp, "extra_copy")
    env = dict(ENV, PATH=tmp + "/bin:" + ENV["PATH"])
    for line in lines:
        run = subprocess.run(["bash", "-c", line], cwd=tmp, env=env, capture_output=True, text=True)
        expect(f"{line}: exit; {run.stderr}", run.returncode, int(line.startswith("tracegate check")))
    expect("enough was seen", len(lines) >= 6, True)


run_parts(main)
