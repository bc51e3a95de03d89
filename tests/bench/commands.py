#!/usr/bin/env python3
"""Instructions of whole commands, gated: commands PROGRAM [--record] [NAME ...]

Runs PROGRAM under callgrind on synthetic traces and compares with tests/bench/commands.txt, in millions: more than 3 % above a recorded
figure fails, unless the figure is recorded anew in the same commit. Figures hold for one compiler, architecture and set of libraries; under
others nothing is compared (exit 77). One thread, vectors of SSE2. The start of libgit2, which reads the certificates of the machine, is
taken off where a command reads from git.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from growth import changed, failing, git, tree, write  # noqa: E402
from instructions import compiler, gated, instructions  # noqa: E402

STACKS = os.path.join(HERE, "../planted/traces/base-text-0.json.gz")
NAMES, STEPS, MANY = 150, 6, 2500  # of MANY names, an operator and a kernel each fail, or are renamed
FILES = 20_000  # of the repository in files/
LIBRARIES = ("libc.so.6", "libisal.so.", "libz.so.", "libzstd.so.", "libgit2.so.", "libcjson.so.", "libpcre2-8.so.", "libyaml-0.so.")


def traces(folder):
    """base/ is committed, out/ is fresh; stacks of the same program twice; summaries with many findings, and with as many names that are others."""
    steps = [list(range(NAMES))] * STEPS
    for side, many, start in (("base", 10, 100), ("out", 5, 0)):
        os.makedirs(f"{folder}/{side}")
        for k in range(many):
            write(f"{folder}/{side}/run{k}.json.gz", steps, start + k)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "empty")
    git(folder, "add", "base")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "base")
    git(folder, "gc", "-q")
    with gzip.open(STACKS, "rt", encoding="utf-8") as f:
        trace = json.load(f)
    for k in range(2):
        for e in trace["traceEvents"]:
            if e.get("ph") == "X" and e.get("cat") == "cpu_op":
                e["dur"] = float(e["dur"]) + k / 1000
        with gzip.open(f"{folder}/stacks{k}.json.gz", "wt", compresslevel=6) as f:
            json.dump(trace, f)
    os.makedirs(f"{folder}/files")
    tree(f"{folder}/files", FILES), failing(f"{folder}/files")
    steps = [list(range(MANY))] * 2
    write(f"{folder}/many0.json.gz", steps, 0)
    write(f"{folder}/many1.json.gz", changed("findings", steps), 1)
    write(f"{folder}/many2.json.gz", changed("renamed", steps), 1)


COMMANDS = {  # name: exit code, what is taken off, the command
    "start": (0, None, ["--version"]),
    "lint": (0, None, ["policy", "lint"]),
    "summarize": (0, None, ["summarize", "out/run0.json.gz", "-o", "x.tgs"]),
    "diff": (0, None, ["diff", "base/run0.json.gz", "out/run0.json.gz", "--threads", "1"]),
    "check_stacks_1_1": (0, None, ["check", "stacks1.json.gz", "--baseline", "stacks0.json.gz", "--quiet", "--threads", "1"]),
    "check_git_5_10": (0, ["baseline", "list"], ["check", "out", "--runs", "--baseline", "HEAD:base", "--quiet", "--threads", "1"]),
    "check_5000_findings": (1, None, ["check", "many1.tgs", "--baseline", "many0.tgs", "--quiet", "--json", "x.json", "--threads", "1"]),
    "check_5000_renamed": (0, None, ["check", "many2.tgs", "--baseline", "many0.tgs", "--quiet", "--markdown", "x.md", "--threads", "1"]),
    "check_20000_files": (1, ["baseline", "list"], ["check", "slower.json.gz", "--baseline", "before.json.gz", "--quiet", "--threads", "1"]),
}
PLACE = {"check_20000_files": "files"}


def cost(program, folder, args, code):
    """Millions of instructions."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_", "TRACEGATE_"))}
    env.update(TRACEGATE_ISA="sse2", GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", SOURCE_DATE_EPOCH="1767323045")
    return instructions([program, *args], code, cwd=folder, env=env) / 1e6


def measure(program, names):
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        traces(folder)
        for k in range(3):
            subprocess.run([program, "summarize", f"many{k}.json.gz", "-o", f"many{k}.tgs"], cwd=folder, check=True)
        for name in names:
            code, less, args = COMMANDS[name]
            place = os.path.join(folder, PLACE.get(name, ""))
            figures[name] = cost(program, place, args, code) - (cost(program, place, less, 0) if less else 0)
    return figures


def here():
    """The compiler, and the files of the libraries: an archive that is linked in is of the same package."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    files = sorted({os.path.basename(os.path.realpath(f)) for f in re.findall(r"=> (/\S+)", known) if any(x in f for x in LIBRARIES)})
    return f"{compiler()}, {' '.join(files)}"


def main():
    program, *names = [a for a in sys.argv[1:] if a != "--record"]
    if not shutil.which("valgrind"):
        print("no valgrind")
        return 77
    program = os.path.abspath(program)
    return gated(os.path.join(HERE, "commands.txt"), here(), lambda some: measure(program, some), names or list(COMMANDS), 1.03, 2, "M instructions")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
