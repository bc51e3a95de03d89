#!/usr/bin/env python3
"""Fails if a page names a file, a folder or an identifier that does not exist, if a link or its #section leads
nowhere, if a table is torn by a blank line, if a room has no README, if a room's README does not name one of its C files (`x.h` names x.c as well),
if CONTRIBUTING.md's table has no row for a list of changes in a README, if a walk of docs/architecture.md names a function beside a file where it is
not defined, if the list of a new category misses a file that asks for kinds of events, or the list of a new threshold a file of core/diff with
limits. Pages are CONTRIBUTING.md, the READMEs, and docs/. NAME and capitals like it are placeholders.

The check checks itself first: an injected wrong name of each sort must be found.
"""
import os
import re
import sys

import tree
from layers import ALLOWED

ROOMS = [*ALLOWED, "tests"]
TOP = ("core", "policy", "reporters", "cmd", "tests", "docs", "scripts", "examples", "cmake")
# Pages that quote what is not there: fixtures of users, histories of what was tried.
QUOTING = ("docs/experiments/",)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)
TORN = re.compile(r"\n\n(\|[^\n]*)\n(?!\| ?:?-)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
PATH = re.compile(r"^(?:\.\./)*((?:%s)(?:/[A-Za-z0-9_.*-]+)*/?)$" % "|".join(TOP))
FILE = re.compile(r"^[a-z0-9_*-]+\.(?:c|h|py|yml)$")
# A bare name in a page about all rooms: C files alone, because users have files called train.py.
SOURCE = re.compile(r"^[a-z0-9_]+\.[ch]$")
# Files that decide about a set of kinds, which the lists of changes name.
KINDS = re.compile(r"\bTG_KIND_(?:GRAPH|MEMSET)\b")
# The file with the numbers of a decision, which they name as well; in these rooms no other has any, but for how much is looked at or said.
NUMBERS, DECIDING = "core/diff/numbers.h", ("core/diff/", "policy/verdict/")
LIMITS = re.compile(r"^#define ([A-Z][A-Z_0-9]*) +(?:\\\n *)?\(?[0-9][0-9.]*(?![0-9.u])", re.M)
EFFORT = {"EQUAL", "HASH", "HASH_BITS", "HEADLINE_NOTE", "LARGEST", "LONGEST", "MAX_DEPTH", "MOST_NAMES", "NAMED", "SCALE", "SHARE", "SHORT",
          "TG_DECISIONS", "TG_RANK_MAX"}
MOST_NUMBERS = 60
# The change whose list names them.
NAMED_BY = {"asks for kinds of events": "a-profilers-category-cat", "has limits": "a-statistics-threshold"}
# The table of changes, and the section of a README that lists all files of those that begin in its room.
LISTING = "CONTRIBUTING.md"
BEGIN = "\n## Changes that begin here\n"
# The page that follows a run by function name: static ones as well.
FOLLOWED = "docs/architecture.md"
FUNCTION = re.compile(r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$")
STATION = re.compile(r"`(\w+)`(?: \(|, )`([\w/]+\.c)`")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
IDENTIFIER = re.compile(r"\b(?:struct |enum )?(?:tg|TG)_[A-Za-z0-9_]+\b")


class Tree:
    def __init__(self):
        self.files = set(tree.files())
        self.folders = {"/".join(f.split("/")[:n]) for f in self.files for n in range(1, f.count("/") + 1)}
        self.bases = {os.path.basename(f) for f in self.files}
        self.words, self.functions = set(), set()
        self.listed = {}
        for f in self.files:
            if f.endswith((".c", ".h", ".txt", ".cmake")) and not f.startswith("tests/fuzz/corpus"):
                text = COMMENT.sub(" ", tree.read(f))
                if f.startswith(tree.SOURCES) and not f.startswith("core/trace/kind") and KINDS.search(text):
                    self.listed[f] = "asks for kinds of events"
                elif f == NUMBERS:
                    self.listed[f] = "has limits"
                self.words |= set(re.findall(r"\b(?:tg|TG)_[A-Za-z0-9_]+", text))
                if f.endswith(".c"):
                    self.functions |= set(re.findall(r"\b([a-z][a-z0-9_]+)\(", text))

    def has(self, path):
        path = os.path.normpath(path)
        if path == ".":
            return True
        if "*" in path:
            pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*"))
            return any(pattern.fullmatch(f) for f in self.files)
        return path in self.files or path in self.folders


def placeholder(text):
    return re.search(r"[A-Z]{3,}",
                     os.path.basename(text).split(".")[0]) is not None and not text.endswith(("README.md", "CONTRIBUTING.md", "CMakeLists.txt"))


def anchors(text):
    """As GitHub makes them: lower case, punctuation dropped, a hyphen for each blank; repeated ones numbered."""
    seen = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{seen[name]}" if seen[name] else name


def leads_nowhere(there, page, text, target, anchor):
    if "://" in target or target.startswith(("mailto:", "/")):
        return False
    path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
    if not there.has(path):
        return True
    return bool(anchor) and path.endswith(".md") and anchor not in anchors(tree.read(path) if target else text)


def faults(there, page, text):
    here = os.path.dirname(page)
    for target, anchor in LINK.findall(FENCE.sub("", text)):
        if (target or anchor) and leads_nowhere(there, page, text, target, anchor):
            yield f"{page}: link to {target}{'#' if anchor else ''}{anchor}"
    for row in TORN.findall(FENCE.sub("", text) + "\n"):
        yield f"{page}: a table without a head: {row[:60]}"
    for span in SPAN.findall(FENCE.sub("", text)):
        for word in span.split():
            word = word.lstrip("(").rstrip(".,:;)")
            path = PATH.match(word)
            if path and "." in word.split("/")[-1] + "." and not placeholder(word) and ("/" in word) and not there.has(path[1].rstrip("/")):
                yield f"{page}: {word} does not exist"
            elif FILE.match(word) and here and here.split("/")[0] in ("core", "policy", "reporters", "cmd") and not placeholder(word):
                if not there.has(os.path.join(here, word)) and not there.has(word):
                    yield f"{page}: {here}/{word} does not exist"
            elif SOURCE.match(word) and word not in there.bases:
                yield f"{page}: no file is called {word}"
        if page == FOLLOWED and FUNCTION.match(span) and span not in there.functions | there.words:
            yield f"{page}: no function is called {span}"
        for word in IDENTIFIER.findall(span):
            word = word.split()[-1]
            if "*" not in span and word not in there.words and not any(w.startswith(word) for w in there.words if word.endswith("_")):
                yield f"{page}: nothing is called {word}"


def misplaced(there, text):
    """Stations of a walk, a function and its file, which is another one or is not there."""
    for function, path in STATION.findall(text):
        if not there.has(path):
            yield f"{FOLLOWED}: {function} is in {path}, which does not exist"
        elif not re.search(rf"^[a-z][^;\n]*\b{function}\(", tree.read(path), re.M):
            yield f"{FOLLOWED}: {function} is not in {path}"


def unnamed(room, sources, text):
    """C files of a room that its README does not name: `x.c`, `x.h`, or a pattern such as `shape_*.c`."""
    names = {w.strip(".,:;()") for span in SPAN.findall(text) for w in span.split()}
    stems = {n.rsplit(".", 1)[0] for n in names if n.endswith((".c", ".h"))}
    patterns = [re.compile(re.escape(s).replace(r"\*", "[a-z0-9_]+")) for s in stems if "*" in s and len(s) > 4]
    for f in sources:
        stem = os.path.basename(f).rsplit(".", 1)[0]
        if stem not in stems and not any(p.fullmatch(stem) for p in patterns):
            yield f"{room}/README.md does not name {os.path.basename(f)}"


def all_unnamed(there):
    for room in ROOMS:
        sources = [f for f in there.files if os.path.dirname(f) == room and f.endswith((".c", ".h"))]
        if there.has(room + "/README.md"):
            yield from unnamed(room, sources, tree.read(room + "/README.md"))


def begun(text):
    """What a README says of the changes that begin in its room."""
    return re.split(r"^## ", text.partition(BEGIN)[2], flags=re.M)[0]


def entries(room, text):
    """(room, anchor, files) of each change that begins in a room."""
    for entry in re.split(r"^### ", begun(text), flags=re.M)[1:]:
        yield room, next(anchors("### " + entry)), {w for w in SPAN.findall(entry) if re.fullmatch(r"[\w./-]+\.[a-z]+", w)}


def unrowed(listing, text):
    """Changes without a row in the table of all changes."""
    for home, anchor, _ in listing:
        if f"({home}/README.md#{anchor});" not in text:
            yield f"{LISTING}: no row leads to {home}/README.md#{anchor}"


def all_unrowed(there):
    readmes = {room: tree.read(room + "/README.md") for room in ROOMS if there.has(room + "/README.md")}
    listing = [entry for room, text in readmes.items() for entry in entries(room, text)]
    yield from unrowed(listing, tree.read(LISTING))
    yield from unlisted(there, listing)


def unlisted(there, listing):
    named = {anchor: files for _, anchor, files in listing}
    for f, why in sorted(there.listed.items()):
        if f not in named.get(NAMED_BY[why], ()):
            yield f"{f} {why} and the list of #{NAMED_BY[why]} does not name it"


def strays(f, text):
    """Numbers of a decision that stand elsewhere, or that are too many."""
    numbers = LIMITS.findall(COMMENT.sub(" ", text))
    if f == NUMBERS and len(numbers) > MOST_NUMBERS:
        yield f"{f}: {len(numbers)} numbers; at most {MOST_NUMBERS}"
    elif f != NUMBERS and f.startswith(DECIDING):
        for name in sorted(set(numbers) - EFFORT):
            yield f"{f}: {name} belongs into {NUMBERS}"


def pages(there):
    for f in sorted(there.files):
        if f.endswith(".md") and not f.startswith(("tests/golden", "tests/fixtures", "tests/fuzz")) and f != "CHANGELOG.md":
            if not f.startswith(QUOTING):
                yield f


def main():
    there = Tree()
    wrong = [("core/base/README.md", text) for text in
             ("`core/diff/no_such.c`", "`tg_no_such_thing`", "[x](no_such.md)", "`no_such.h`", "`struct tg_no_such`", "# A\n[x](#b)",
              "[x](README.md#no-such-heading)",
             "| a |\n|---|\n| b |\n\n| c |\n")]
    wrong += [(FOLLOWED, "`no_such_function`"), ("docs/statistics.md", "`no_such.c`")]
    found = [f"{room}: no README.md" for room in ROOMS if not there.has(room + "/README.md")]
    found += all_unnamed(there)
    found += all_unrowed(there)
    found += misplaced(there, tree.read(FOLLOWED))
    for f in sorted(there.files):
        if f.endswith((".c", ".h")):
            found += strays(f, tree.read(f))
    names = list(pages(there))
    for page in names:
        found += faults(there, page, tree.read(page))
    injected = [(text, faults(there, page, text)) for page, text in wrong]
    injected += [("a function of another file", misplaced(there, "`tg_compare` (`core/diff/align.c`)")),
                 ("a function of a file that is gone", misplaced(there, "`tg_compare` (`core/diff/no_such.c`)")),
                 ("a file that no README names", unnamed("core/base", ["core/base/nowhere.c"], tree.read("core/base/README.md"))),
                 ("a file that only prose names", unnamed("core/base", ["core/base/sv.c"], "sv.h, and `sv_*.c`")),
                 ("a change that the table of all misses", unrowed([("core/base", "x", set())], "- x: [core/base](core/base/README.md#y); first y")),
                 ("a number in another file", list(strays("core/diff/op.c", "#define LARGE 0.2\n"))),
                 ("too many numbers", list(strays(NUMBERS, "".join(f"#define TG_N{i} 1\n" for i in range(MOST_NUMBERS + 1))))),
                 ("no list of files that ask for kinds or have limits", unlisted(there, [])),
                 ("such files in the list of another change", unlisted(there, [("core/base", "x", set(there.listed))]))]
    return tree.run("pages", len(names), found, injected, 20,
                    "pages, every name exists")


if __name__ == "__main__":
    sys.exit(main())
