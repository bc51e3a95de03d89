#!/usr/bin/env python3
"""The README's `tracegate …` lines as written, in a repository like the one they speak of: perf/ on
origin/main, fresh runs with a needless copy in out/, ten runs of one commit in base/. `check` must stop it (1),
every other command must do its work (0).
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import ENV, PROGRAM, ROOT, fault, finish, read_text


def copy(pattern, to):
    os.makedirs(to)
    for path in sorted(glob.glob(f"{ROOT}/examples/traces/{pattern}")):
        shutil.copy(path, os.path.join(to, os.path.basename(path).replace("run0", "run")))  # as bench.py names them


def main():
    lines = [m[1] for m in re.finditer(r"^    (tracegate [a-z].*?)(?:\s+#.*)?$", read_text(os.path.join(ROOT, "README.md")), re.M)]
    with tempfile.TemporaryDirectory() as tmp:
        copy("base/run0[0-4].json.gz", tmp + "/perf")
        copy("base/run*.json.gz", tmp + "/base")
        copy("extra_copy/run*.json.gz", tmp + "/out")
        os.makedirs(tmp + "/bin")
        os.symlink(PROGRAM, tmp + "/bin/tracegate")
        for command in (["init", "-qb", "main"], ["add", "perf"], ["commit", "-qm", "baseline"],
                        ["update-ref", "refs/remotes/origin/main", "HEAD"]):
            subprocess.run(["git", *command], cwd=tmp, env=ENV, check=True)
        env = dict(ENV, PATH=tmp + "/bin:" + ENV["PATH"])
        for line in lines:
            run = subprocess.run(["bash", "-c", line], cwd=tmp, env=env, capture_output=True, text=True)
            want = 1 if line.startswith("tracegate check") else 0
            if run.returncode != want:
                fault(f"{line}: exit {run.returncode}, want {want}: {run.stderr.strip()}")
    return finish(f"readme: {len(lines)} lines", enough=len(lines) >= 6)


if __name__ == "__main__":
    sys.exit(main())
