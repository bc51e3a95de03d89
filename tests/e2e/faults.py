#!/usr/bin/env python3
"""A fault of the file system never makes a greener verdict, and loses no run.

The n-th call of the program fails (open, read, readdir, stat, mmap, write, rename, fsync, mkdir …: fail_call.c), with EIO and with
EMFILE; and each path of the repository and of the inputs is unreadable in turn. What must come out: what comes out without the fault, or
an exit code other than 0 and 1 with a message on standard error; or the same exit code, or a worse one, and the report says what is not
known. A policy that cannot be read is 2, everything else 3 or 5. After commands that write, what was stored before is stored still.

usage: faults.py LIBRARY [all | SAMPLE [COMMAND …]]     every n-th call and path, or a seeded sample for each command (default 12)
"""
import collections
import difflib
import errno
import os
import random
import shutil
import subprocess
import sys

from support import Clone, DATED, PROGRAM, Repository, check, expect, fault, git, read_bytes, read_text, run_parts
from plain_model import Work, usual, write_run

POLICY = """version: 1
extends: [tracegate:recommended]
baseline: {ref: parent}
suites: [{name: s, trace: {files: 'x/*.json', run: 'run(\\d+)'}, baseline: stored}]
"""
ERRORS = {"EIO": errno.EIO, "EMFILE": errno.EMFILE, "ESTALE": errno.ESTALE, "EROFS": errno.EROFS}  # a disk, a limit, NFS, a read-only mount
# What a report says of what could not be read: whether the policy is looser, the judged commit; a file that init did not take.
TOLD = ("is not known: ", "not taken ")
# init has written the policy, and tries it: what it says then on standard error.
UNTRIED = "error[TG150]: cannot "
ends = collections.Counter()


def make(folder):
    """Five nights are stored, loose and packed; the fourth brings an operator. HEAD brings another one."""
    repo = Repository(folder)
    repo.write(".gitignore", "x\nn\nout\nsums\n")
    repo.write(".tracegate.yml", POLICY)
    for night in range(6):
        repo.write("night", str(night))
        repo.commit(f"night {night}")
        if night == 5:
            break
        work = usual() + ([Work("aten::op4")] if night >= 3 else [])
        write_run(f"{folder}/n/run0.json", [work] * 3, night)
        done = repo.run("baseline", "record", "n/run0.json", "--runs", "--suite", "s", env=DATED)
        expect(f"record: {done.stderr}", done.returncode, 0)
        if night == 2:
            repo.git("pack-refs", "--all")
            repo.git("gc", "-q")
    for n in range(2):
        write_run(f"{folder}/x/run{n}.json", [usual() + [Work("aten::op4"), Work("aten::op5")]] * 3, 1000 + n)
        done = repo.run("summarize", f"x/run{n}.json", "-o", f"sums/run{n}.tgs", env=DATED)
        expect(f"summarize: {done.stderr}", done.returncode, 0)
    # A remote that has the first three runs: `fetch` gets two of them that are deleted here, `push` brings the fifth.
    git(os.path.dirname(folder), "init", "-q", "--bare", f"{folder}.remote")
    repo.git("remote", "add", "origin", f"{folder}.remote")
    repo.git("push", "-q", "origin", "main", *runs_of(repo, 0, 1, 2))
    return repo


def runs_of(repo, *nights):
    """The refs of these nights' runs."""
    commits = repo.git("rev-list", "--reverse", "HEAD").split()
    return [ref for ref in repo.git("for-each-ref", "--format=%(refname)", "refs/tracegate").split() for k in nights if commits[k] in ref]


# Command -> its arguments, the exit code without a fault, and whether it writes into the repository.
COMMANDS = {
    "check": (("check", "--threads", "1", "--json", "-", "--markdown", "out/r.md"), 1, False),
    "check the same": (("check", "n/run0.json", "--runs", "--threads", "1", "--json", "-"), 0, False),
    "check a glob": (("check", "x/*.json", "--runs", "--baseline", "n", "--threads", "1", "--json", "-"), 1, False),
    "history": (("history", "--fail-on", "open", "--format", "json"), 1, False),
    "record": (("baseline", "record", "x/*.json", "--runs", "--suite", "s"), 0, True),
    "prune": (("baseline", "prune", "--keep", "2"), 0, True),
    "fetch": (("baseline", "fetch", "--suite", "s", "--all"), 0, True),
    "push": (("baseline", "push", "--suite", "s", "--commit", "HEAD~1"), 0, True),
    "list": (("baseline", "list"), 0, False),
    "merge": (("merge", "sums/*.tgs", "-o", "-"), 0, False),
    "init": (("init", "--store"), 0, True),
}


def stored(folder, where=""):
    return {where + x for x in git(folder, "for-each-ref", "--format=%(refname) %(objectname)", "refs/tracegate").splitlines()}


class Sweep:
    def __init__(self, tmp, library, name):
        self.tmp, self.library, self.name = tmp, library, name
        self.arguments, self.code, self.writes = COMMANDS[name]
        self.at, self.remote = f"{tmp}/repo", f"{tmp}/repo.remote"
        self.fresh()
        self.before = self.stored()

    def fresh(self):
        for good, here in ((f"{self.tmp}/good", self.at), (f"{self.tmp}/good.remote", self.remote)):
            shutil.rmtree(here, ignore_errors=True)
            shutil.copytree(good, here, symlinks=True)
        repo = Clone(self.at)
        repo.git("remote", "set-url", "origin", self.remote)
        for ref in runs_of(repo, 0, 1) if self.name == "fetch" else ():
            repo.git("update-ref", "-d", ref)

    def stored(self):
        """Here and at the remote."""
        return stored(self.at) | stored(self.remote, "remote ")

    def run(self, **more):
        env = dict(DATED, LD_PRELOAD=self.library, TG_FAULT_BELOW=self.at, TG_FAULT_COUNT=f"{self.tmp}/count", **more)
        return subprocess.run([PROGRAM, *self.arguments], cwd=self.at, env=env, capture_output=True, text=True, timeout=120)

    def files(self):
        """What is in the work tree."""
        out = {}
        for top, folders, names in os.walk(self.at):
            folders[:] = [x for x in folders if x not in (".git", "out")]
            out.update((f"{top}/{x}", read_bytes(f"{top}/{x}")) for x in names)
        return out

    def differs(self, done):
        """Which lines, for whoever reads the fault."""
        lines = difflib.unified_diff(self.control.stdout.splitlines(), done.stdout.splitlines(), lineterm="", n=0)
        return [x[:120] for x in lines if not x.startswith(("---", "+++", "@@"))][:6] + [done.stderr[:200]]

    def judge(self, what, done):
        hit = read_text(f"{self.tmp}/count").split(" ", 1)[1].strip()
        what = f"{self.name}: {what}: {hit.replace(self.at, '')}"
        ends[self.name, done.returncode] += 1
        same = (done.returncode, done.stdout, self.files()) == (self.control.returncode, self.control.stdout, self.written)
        told = any(done.stdout.count(x) > self.control.stdout.count(x) for x in TOLD) and done.returncode >= self.control.returncode
        told = told or (self.name == "init" and UNTRIED in done.stderr)
        if done.returncode in (0, 1) and not same and not told:
            fault(f"{what}: exit {done.returncode}, not as without the fault: {self.differs(done)}")
        elif done.returncode not in (0, 1) and not done.stderr.strip():
            fault(f"{what}: exit {done.returncode} without a word")
        elif done.returncode not in (0, 1, 3, 5) and not (done.returncode == 2 and hit.endswith("/.tracegate.yml")):
            fault(f"{what}: exit {done.returncode}: {done.stderr[:200]!r}")
        if self.writes:
            now = self.stored()
            lost = self.before - now - (self.pruned if done.returncode else set())
            if self.name == "prune":
                lost -= self.pruned
            if lost:
                fault(f"{what}: lost {lost}")
            if done.returncode == 0 and now != self.after:
                fault(f"{what}: exit 0, and not all is stored")
            self.fresh()

    def sweep(self, sample):
        self.control = self.run()
        self.after, self.written = self.stored(), self.files()
        self.pruned = self.before - self.after if self.name == "prune" else set()
        total = int(read_text(f"{self.tmp}/count").split()[0])
        expect(f"{self.name}: control: {self.control.stderr}", self.control.returncode, self.code)
        check(f"{self.name}: the library counts", total > 10)
        if self.writes:
            self.fresh()
        order = random.Random(self.name)
        calls, paths = range(1, total + 1), self.paths()
        for n in calls if sample is None else sorted(order.sample(calls, min(sample, total))):
            for word, number in self.errors(n, sample):
                self.judge(f"call {n} {word}", self.run(TG_FAULT_AT=str(n), TG_FAULT_ERRNO=str(number)))
        for path in paths if sample is None else order.sample(paths, min(sample, len(paths))):
            self.judge(f"unreadable {path}", self.run(TG_FAULT_PATH=path))

    @staticmethod
    def errors(n, sample):
        """All of them, or in a sample one for each call, in turn."""
        return list(ERRORS.items()) if sample is None else [list(ERRORS.items())[n % len(ERRORS)]]

    def paths(self):
        out = [self.at]
        for top, folders, files in os.walk(self.at):
            out += [f"{top}/{x}" for x in folders + files if "/hooks" not in f"{top}/{x}"]
        return sorted(out)


def main(tmp):
    library = sys.argv[1]
    sample = None if sys.argv[2:3] == ["all"] else int((sys.argv[2:3] or ["12"])[0])
    make(f"{tmp}/good")
    for name in COMMANDS if not sys.argv[3:] else sys.argv[3:]:
        Sweep(tmp, library, name).sweep(sample)
    print("faults:", ", ".join(f"{name} {code}: {n}" for (name, code), n in sorted(ends.items())), f"; {sum(ends.values())} in all")
    check("enough was seen", sum(ends.values()) > 30)


run_parts(main)
