#!/usr/bin/env python3
"""Fails on wording that docs/style.md excludes, and on citations of documents that are not in the repository.

Looks at comments and messages of C, docstrings and comments of Python, and pages. PATTERNS is the word list: a pattern, what to write
instead, and an example that the check must find, or it fails itself.
"""
import re
import sys

import tree

PATTERNS = [
    (r"(?<!hidden )(?<!hides )(?<!queued )\bbehind\b", "after, beyond", "text behind the end"),
    (r"(?<!there )\b(?:is|are|was|were) none\b", "is not a …, there is none", "a value that is cut is none"),
    (r"(?<!there )(?<!There )\b(?:is|are) no(?= (?!longer\b|more\b|one\b|less\b|fewer\b|later\b|earlier\b|larger\b|smaller\b)[a-z])", "is not a", "what is no event"),
    (r"\b(?:stands?|stood|lies|lay)\b(?= (?:in|at|inside|outside|before|after|beside|there|here|above|below|within|between|under|as|together)\b)", "is", "the cursor stands at its quote"),
    (r"\bwhich (?:stands?|lies)\b", "which is", "the line which stands there"),
    (r"\bits kin\b", "and the like", "cudaEventQuery and its kin"),
    (r"\bof several [a-z]+ the\b", "if there are several …", "of several errors the one told"),
    (r"\bhas (?:no|a) say\b", "decides", "so that nothing else has a say"),
]
CITED = (r"\b(?:DECISIONS|HTA_SEMANTICS|DESIGN|GOALS)(?: \d+|\.md)|\bPOLICY \d+", "the substance, or a page in docs/", "formulae: DECISIONS 3")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
PY_TOKEN = re.compile(r'""".*?"""|(?<!["\'\w])#[^\n]*', re.S)


def texts(path, content):
    """(line, text) of what people read."""
    if path.endswith((".c", ".h")):
        found = C_TOKEN.finditer(content)
    elif path.endswith(".py"):
        found = PY_TOKEN.finditer(content)
    else:
        found = re.finditer(r"[^\n]+", re.sub(r"^```.*?^```$|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m[0]), content, flags=re.S | re.M))
    for m in found:
        if not m[0].startswith("'"):
            yield content.count("\n", 0, m.start()) + 1, re.sub(r"\n\s*\*?\s*", " ", m[0])


def faults(path, content):
    for line, text in texts(path, content):
        for pattern, instead, _ in (*PATTERNS, CITED):
            for m in re.finditer(pattern, text):
                yield f"{path}:{line}: '{text[max(0, m.start() - 25):m.end() + 25].strip()}': write {instead!r}"


def covered(path):
    if path in ("CHANGELOG.md", "docs/style.md") or path.startswith(("tests/golden", "tests/lint/")):
        return False
    return path.endswith((".md", ".py")) or path.startswith(tree.SOURCES) and path.endswith((".c", ".h"))


def main():
    paths = [f for f in tree.files() if covered(f)]
    injected = ((f"{example!r} in {path}", faults(path, text)) for _, _, example in (*PATTERNS, CITED)
                for path, text in (("x.c", f"/* {example} */"), ("x.md", example)))
    return tree.run("english", len(paths), (f for p in paths for f in faults(p, tree.read(p))), injected, 100, "files")


if __name__ == "__main__":
    sys.exit(main())
