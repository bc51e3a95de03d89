"""Lays the program out as the two commits of a case, in a repository of its own."""
import os
import shutil
import subprocess

from cases import CASES

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_", "TRACEGATE_"))}
ENV.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
           GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t")


def git(folder, *args):
    return subprocess.run(["git", "-C", folder, *args], env=ENV, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


def base(folder):
    shutil.copytree(os.path.join(HERE, "program"), folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "base")


def apply(folder, name):
    """The change, committed on a branch: HEAD is what a pull request would be."""
    _, edits, moves, _ = CASES[name]
    git(folder, "checkout", "-qb", "pr")
    for file, pairs in edits.items():
        path = os.path.join(folder, file)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for old, new in pairs:
            if old:
                assert text.count(old) == 1, (name, file, old, text.count(old))
            text = text.replace(old, new) if old else text * new
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    for old, new in moves.items():
        git(folder, "mv", old, new)
    commit(folder, name)
