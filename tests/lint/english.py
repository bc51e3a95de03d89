#!/usr/bin/env python3
"""Fails on wording that docs/style.md excludes, and on citations of documents that are not in the repository.

Looks at comments and messages of C, docstrings and comments of Python, and pages. Each list has a pattern, what to write instead, and an
example that the check must find, or it fails itself: PATTERNS for everything, SENTENCES for pages, comments and messages of C, RATES for
pages and comments of C ("too few runs a side" is short, as a message has to be).
"""
import re
import sys

import tree

PATTERNS = [
    (r"(?<!hidden )(?<!hides )(?<!queued )\bbehind\b", "after, beyond", "text behind the end"),
    (r"(?<!there )\b(?:is|are|was|were) none\b", "is not a …, there is none", "a value that is cut is none"),
    (r"(?<!there )(?<!There )\b(?:is|are) no(?= (?!longer\b|more\b|one\b|less\b|fewer\b|later\b|earlier\b|larger\b|smaller\b)[a-z])", "is not a",
     "what is no event"),
    (r"\b(?:stands?|stood|lies|lay)\b(?= (?:in|at|inside|outside|before|after|beside|there|here|above|below|within|between|under|as|together)\b)",
     "is", "the cursor stands at its quote"),
    (r"\bwhich (?:stands?|lies)\b", "which is", "the line which stands there"),
    (r"\bits kin\b", "and the like", "cudaEventQuery and its kin"),
    (r"\bof several [a-z]+ the\b", "if there are several …", "of several errors the one told"),
    (r"\bhas (?:no|a) say\b", "decides", "so that nothing else has a say"),
    (r"\b(?:is|are|was|were) held against\b", "is compared with", "a count is held against the baseline"),
    (r"\bin the place of\b", "instead of", "calls that came in the place of others"),
    (r"\bso it is with\b", "the same holds for", "everything is loaded; so it is with reports"),
    (r"\bhow many of how many\b", "how many of the …", "a note says how many of how many are compared"),
    (r"\b(?:durations?|runs?|jobs?|rules?|metrics?|traces?|counts?|operators?|commands?) wants?\b(?! to\b)", "needs", "durations want five runs"),
]
NUMBER = r"(?:(?:one|two|three|four|five|ten|many|more|most|least)|\d[\d,.]*(?:\s?(?:µs|us|ms|%|bytes|spans))?)(?: (?!times)[a-z]+){0,2}"
COUNTED = r"(?:CPU|comparisons|runs|calls|launches|bytes|ticks|traces|values?|MB|KB|files?|refs?|spans|kernels|ms|µs)"
NOT_A_NUMBER = "".join(rf"(?<! {word})" for word in (
    "and as at by for from has have if in is names not of on or over per than that to under what with within without".split()))
UNIT = (r"(?:side|step|call|night|run|span|rank|trace|commit|row|name|file|process|series"
        r"|source|command|format|stage|line|column|suite|pair|job|policy|environment|operator)")
RATES = [
    (rf"\b(?:{NUMBER}|{COUNTED}|a process|a row){NOT_A_NUMBER} an? {UNIT}\b", "per", "three runs a side"),
]
SENTENCES = [
    (r"\b(?:is|are|was|were) told\b(?! to\b| apart\b)", "is reported", "a faster machine is told"),
    (r"(?:(?<=[.;] )|(?<=^)|(?<=^- ))What (?!now\b)[a-z][^.?:;|#]*\b(?:is|are|was|were|costs?|fails|follows)\b[^.?:;|#]*\.(?= |$)",
     "a noun as the subject", "Kernels come first. What is left are operators."),
    (r"(?:(?<=[.;] )|(?<=^)|(?<=^- ))Where (?:[^\s.:;|,]+ ){2,14}[^\s.:;|,]+, ", "If …,", "It is slower. Where the step got slower, it is named."),
    (r"\bwhere (?:there (?:is|are) (?:any|none|no)|it is there|nothing|none)\b", "if", "the device's where there are any"),
    (r"(?:(?<=[.:;] )|(?<=^)|(?<=^- ))(?:Compared|Shown|Told|Kept|Left out|Excluded|Judged|Named|Stored|Omitted|Counted|Not [a-z]+)"
     r" (?:is|are|was|were) ", "subject first", "There are two sides. Compared are the ranks of both."),
    (r"(?:(?<=[.;] )|(?<=^)|(?<=^- ))Besides? (?:it|that|this|them)\b", "in addition", "It is faster. Beside that, two nights are enough."),
    (r"\bof one's own\b", "your own, its own", "machines of one's own"),
    (r"\bfor who\b", "for those who", "for who reads spans"),
    (r"\b(?:[Ff]rom|up to|[Aa]t most|in|that has|wants) so many\b", "this many", "from so many runs on"),
]
# Made from the program's tables; its texts are looked at where they are written.
GENERATED = ("docs/policy-diagnostics.md",)
CITED = (r"\b(?:DECISIONS|HTA_SEMANTICS|DESIGN|GOALS)(?: \d+|\.md)|\bPOLICY \d+", "the substance, or a page in docs/", "formulae: DECISIONS 3")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
PY_TOKEN = re.compile(r'""".*?"""|(?<!["\'\w])#[^\n]*', re.S)


def texts(path, content):
    """(line, text, is it a message?) of what people read."""
    if path.endswith((".c", ".h")):
        found = C_TOKEN.finditer(content)
    elif path.endswith(".py"):
        found = PY_TOKEN.finditer(content)
    else:
        found = re.finditer(r"[^\n]+", re.sub(r"^```.*?^```$|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m[0]), content, flags=re.S | re.M))
    for m in found:
        if not m[0].startswith("'"):
            yield content.count("\n", 0, m.start()) + 1, re.sub(r"\n\s*\*?\s*", " ", m[0]).rstrip('"'), m[0].startswith('"')


def lists(path, message):
    """The word lists for a text."""
    c, page = path.endswith((".c", ".h")), path.endswith(".md") and path not in GENERATED
    return (*PATTERNS, CITED, *(SENTENCES if c or page else ()), *(RATES if page or c and not message else ()))


def faults(path, content):
    for line, text, message in texts(path, content):
        for entry in lists(path, message):
            pattern, instead, _ = entry
            seen = re.sub(r'"[^"]*"', lambda m: " " * len(m[0]), text) if entry in RATES else text  # a message that a comment quotes
            for m in re.finditer(pattern, seen):
                yield f"{path}:{line}: '{text[max(0, m.start() - 25):m.end() + 25].strip()}': write {instead!r}"


def covered(path):
    if path in ("CHANGELOG.md", "docs/style.md") or path.startswith(("tests/golden", "tests/lint/")):
        return False
    return path.endswith((".md", ".py")) or path.startswith(tree.SOURCES) and path.endswith((".c", ".h"))


def main():
    paths = [f for f in tree.files() if covered(f)]
    forms = {"x.c": ("/* {} */", 'puts("{}");'), "x.md": ("{}",), "x.py": ("# {}",)}
    injected = ((f"{example!r} in {path} as {form}", faults(path, form.format(example)))
                for path in forms for form in forms[path] for _, _, example in lists(path, form.startswith("puts")))
    return tree.run("english", len(paths), (f for p in paths for f in faults(p, tree.read(p))), injected, 100, "files")


if __name__ == "__main__":
    sys.exit(main())
