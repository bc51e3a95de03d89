#!/usr/bin/env python3
"""Fails if a page names a file, a folder or an identifier that does not exist, if a link leads nowhere, or if a room
has no README. Pages are CONTRIBUTING.md, the READMEs, and docs/. NAME and capitals like it are placeholders.

The check checks itself first: an injected wrong name of each sort must be found.
"""
import os
import re
import subprocess
import sys

from layers import ALLOWED

ROOT = os.environ.get("TG_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ROOMS = [*ALLOWED, "tests"]
TOP = ("core", "policy", "reporters", "cmd", "tests", "docs", "scripts", "examples", "cmake")
# Pages that quote what is not there: fixtures of users, histories of what was tried.
QUOTING = ("docs/experiments/", "docs/statistics.md")
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
PATH = re.compile(r"^(?:\.\./)*((?:%s)(?:/[A-Za-z0-9_.*-]+)*/?)$" % "|".join(TOP))
FILE = re.compile(r"^[a-z0-9_*-]+\.(?:c|h|py|yml)$")
IDENTIFIER = re.compile(r"\b(?:struct |enum )?(?:tg|TG)_[A-Za-z0-9_]+\b")


class Tree:
    def __init__(self):
        git = ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
        self.files = set(subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\n")) - {""}
        self.files = {f for f in self.files if os.path.exists(os.path.join(ROOT, f))}
        self.folders = {"/".join(f.split("/")[:n]) for f in self.files for n in range(1, f.count("/") + 1)}
        self.words = set()
        for f in self.files:
            if f.endswith((".c", ".h", ".txt", ".cmake")) and not f.startswith("tests/fuzz/corpus"):
                self.words |= set(re.findall(r"\b(?:tg|TG)_[A-Za-z0-9_]+", self.read(f)))

    @staticmethod
    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()

    def has(self, path):
        path = os.path.normpath(path)
        if path == ".":
            return True
        if "*" in path:
            pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*"))
            return any(pattern.fullmatch(f) for f in self.files)
        return path in self.files or path in self.folders


def placeholder(text):
    return re.search(r"[A-Z]{3,}", os.path.basename(text).split(".")[0]) is not None and not text.endswith(("README.md", "CONTRIBUTING.md", "CMakeLists.txt"))


def faults(tree, page, text):
    here = os.path.dirname(page)
    for link in LINK.findall(text):
        if "://" not in link and not link.startswith(("mailto:", "/")) and not tree.has(os.path.join(here, link)):
            yield f"{page}: link to {link}"
    for span in SPAN.findall(re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)):
        for word in span.split():
            word = word.lstrip("(").rstrip(".,:;)")
            path = PATH.match(word)
            if path and "." in word.split("/")[-1] + "." and not placeholder(word) and ("/" in word) and not tree.has(path[1].rstrip("/")):
                yield f"{page}: {word} does not exist"
            elif FILE.match(word) and here and here.split("/")[0] in ("core", "policy", "reporters", "cmd") and not placeholder(word):
                if not tree.has(os.path.join(here, word)):
                    yield f"{page}: {here}/{word} does not exist"
        for word in IDENTIFIER.findall(span):
            word = word.split()[-1]
            if "*" not in span and word not in tree.words and not any(w.startswith(word) for w in tree.words if word.endswith("_")):
                yield f"{page}: nothing is called {word}"


def pages(tree):
    for f in sorted(tree.files):
        if f.endswith(".md") and not f.startswith(("tests/golden", "tests/fixtures", "tests/fuzz")) and f != "CHANGELOG.md":
            if not f.startswith(QUOTING):
                yield f


def main():
    tree = Tree()
    for injected in ("`core/diff/no_such.c`", "`tg_no_such_thing`", "[x](no_such.md)", "`no_such.h`", "`struct tg_no_such`"):
        if not list(faults(tree, "core/base/README.md", injected)):
            sys.exit(f"pages: the check does not see {injected}")
    found = [f"{room}: no README.md" for room in ROOMS if not tree.has(room + "/README.md")]
    n = 0
    for page in pages(tree):
        n += 1
        found += faults(tree, page, tree.read(page))
    print("\n".join(found) if found else f"pages: {n} pages, every name exists")
    return 1 if found or n < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
