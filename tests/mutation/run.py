#!/usr/bin/env python3
"""Does a test notice when a condition of the verdict is always true, or always false?

Rewrites each condition of SOURCES in a copy of the repository, builds the copy once, and then runs the fast tests with one
condition fixed at a time. A condition is the operand of `&&` and `||` in an `if` or in a `return` of a function of type
bool; what sets an error is false as it is. --more changes other things as well, each by a word after its text: what `?:` and
assignments of `&&` and `||` ask (`?: true`), `&&` for `||` and the reverse (`swapped`), `<` for `<=` and the reverse (`tie`),
and statements that assign or call, but for what frees (`dropped`). Tests that never saw the other value of a condition cannot
notice and are not run; a mutant that no test can notice survives at once. What a mutant changes is seen if a test fails,
crashes or hangs.

usage: run.py FOLDER [--only SOURCE…] [--again REPORT] [--unknown] [--more] [--fresh] [--scripts | --units] [--sample N] [--seed S]
              [--jobs N] [--report FILE]
       run.py --lint

FOLDER receives the copy and the build, and is used again if it is there. What was noticed is kept in FOLDER/results.json: a
mutant of a source that has not changed since is run again only if it survived (--fresh: all are). --again runs the survivors
of an earlier report, --unknown leaves out those that have a reason. The end-to-end scripts are asked for sources of cmd/ (with --units they are not),
and with --scripts for all: the rest is for tests without a process to notice. Survivors are compared with REASONS in
survivors.txt: "file: condition: value: reason", "condition #2" for the second of one text in the file; one without a reason
is a fault, and so is a reason for what is not in the sources (--lint looks for these alone, and whether what is rewritten compiles).
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERDICT = ["guards", "eval", "no_comparison", "judge", "waive", "fold", "select", "verdict", "rules", "judge_rows", "probe",
           "describe", "describe_verdict", "notes", "outside_steps", "rank_rows", "phrase", "explain", "known_events"]
SOURCES = [f"policy/verdict/{name}.c" for name in VERDICT] + ["policy/language/limit.c", "policy/language/changes.c"] + \
          [f"cmd/gate/{name}.c" for name in ("check", "clash", "known_events", "loosened", "find", "night", "suite")]
SCRIPTS = [["guards.py"], ["own_policy.py"], ["policy.py"], ["sides.py"], ["integrity.py"], ["check.py"]]
SLOWEST = 240  # seconds of a test, and ten times what it took without a mutant: longer is a mutant that hangs
UNIT = r"^test_(?:judge|verdict|ranks|compare|policy|gate)(?:_|$)"  # names of the tests without a process
Condition = collections.namedtuple("Condition", "id file line text nth values")
FIXED = {0: "false", 1: "true"}


# ---- rewriting -----------------------------------------------------------------------------------------------------

def blank(text):
    """The source with comments, strings and characters as blanks: same length, same lines."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


def top_level(text, begin, end):
    """The indices outside of all brackets."""
    depth = 0
    for i in range(begin, end):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            yield i


def is_one_expression(text, begin, end):
    """Not two declarations, nor the end of a loop's head and what it does."""
    part = text[begin:end]
    return part.count("(") == part.count(")") and not any(text[i] == "," for i in top_level(text, begin, end))


def operands(text, begin, end, chains=None):
    """(begin, end) of each operand of the top-level && and ||; of ?: nothing is split. What they are operands of goes to `chains`."""
    at = list(top_level(text, begin, end))
    if any(text[i] == "?" for i in at):
        return [(begin, end)]
    cuts = [i for i in at if text[i:i + 2] in ("&&", "||")]
    if cuts and chains is not None:
        chains.append((begin, end, cuts))
    parts = list(zip([begin] + [i + 2 for i in cuts], cuts + [end]))
    flat = []
    for b, e in parts:
        inner = text[b:e].strip()
        at = b + text[b:e].index(inner) if inner else b
        if len(parts) > 1 and inner.startswith("(") and closing(text, at) == at + len(inner) - 1 and re.search("&&|[|]{2}", inner):
            flat += operands(text, at + 1, at + len(inner) - 1, chains)
        else:
            flat.append((b, e))
    return flat


def conditions_of(plain, chains):
    spans, boolean = [], False
    for m in re.finditer(r"^(?P<head>[a-zA-Z][^;={}]*?)\{|\bif \(|\breturn (?=[^;]*;)", plain, re.S | re.M):
        if m["head"] is not None:
            boolean = re.match(r"(?:static |inline |TG_MUST )*bool\s+\w+\(", m["head"].strip()) is not None
        elif m[0].startswith("if"):
            at = m.end() - 1
            spans += operands(plain, at + 1, closing(plain, at), chains)
        elif boolean:
            begin, end = m.end(), plain.index(";", m.end())
            if plain[begin:end].strip() not in ("true", "false"):
                spans += operands(plain, begin, end, chains)
    return spans


def choices_of(plain, chains):
    """What `?:` and assignments of && and || ask."""
    spans = []
    for m in re.finditer(r"^ +\w[^\n({.]*? = (?=[^;]*(?:&&|[|]{2}))", plain, re.M):
        begin, end = m.end(), plain.index(";", m.end())
        if is_one_expression(plain, begin, end):
            parts = operands(plain, begin, end, chains)
            spans += parts if len(parts) > 1 else []
    for m in re.finditer(r" \? ", plain):
        depth, begin = 0, m.start()
        while depth >= 0:
            begin -= 1
            depth += (plain[begin] in ")]}") - (plain[begin] in "([{")
            if depth == 0 and (plain[begin] in ",;?:" or re.match(r"(?<![=<>!])=(?!=)", plain[begin:begin + 2]) and
                               plain[begin - 1] not in "=<>!" or plain[begin - 6:begin + 1] == "return "):
                break
        spans += operands(plain, begin + 1, m.start(), chains)
    return spans


def tie_of(plain, begin, end):
    """Where the one < <= > >= of an operand is, and the operand without brackets."""
    inner = plain[begin:end].strip(" \n!")
    begin = plain.index(inner, begin)
    end = begin + len(inner)
    if inner.startswith("(") and closing(plain, begin) == end - 1:
        return tie_of(plain, begin + 1, end - 1)
    ops = [i for i in top_level(plain, begin, end) if re.match(r" [<>]=? ", plain[i:i + 4])]
    return (begin, end, ops[0] + 1) if len(ops) == 1 and not re.search(r"[&|]{2}|\+\+|--|\?", inner) else None


def statements_of(plain):
    """Where a statement that assigns or calls begins and ends."""
    for m in re.finditer(r"^ +(?P<do>\*?[a-z]\w*(?:->|\.|\w|\[[^\]\n]*\])*(?: [-+*/|&^]?= |\+\+;|--;)|(?:\(void\))?[a-z]\w*\()", plain, re.M):
        begin = m.start("do")
        before = plain[:begin].rstrip()
        if re.match(r"(?:if|for|while|switch|return|sizeof|assert|free|\w*_(?:release|close|free|drop))\b",
                    m["do"]) or not re.search(r"(?:[;{})]|else)$", before):
            continue
        end = closing(plain, m.end() - 1) + 1 if m["do"].endswith("(") else plain.find(";", begin)
        if plain.count("(", 0, begin) == plain.count(")", 0, begin) and plain[end] == ";":
            yield begin, end + 1


def rewrite(text, name, first):
    """The source with what can be changed numbered from `first` on, and a list of it."""
    plain, chains, places = blank(text), [], []  # (begin, end, values, what opens, what closes)
    for begin, end in (spans := conditions_of(plain, chains)):
        setter = re.match(r"\s*tg_err_(?:set|hint|context)\(", plain[begin:end])
        places.append((begin, end, {1: "true"} if setter else FIXED, "TG_MUT({},", ")"))
    choices = [s for s in choices_of(plain, chains) if s not in spans]
    for begin, end in choices:
        places.append((begin, end, {0: "?: false", 1: "?: true"}, "TG_MUT({},", ")"))
    for begin, end, cuts in chains:
        other = "".join({"&": "|", "|": "&"}[c] if i in cuts or i - 1 in cuts else c for i, c in enumerate(text[begin:end], begin))
        places.append((begin, end, {1: "swapped"}, "(tg_mut_is({}) ? (" + other + ") : (", "))"))
    for begin, end, at in filter(None, (tie_of(plain, *s) for s in spans + choices)):
        n = 1 + (text[at + 1] == "=")
        other = text[begin:at + 1] + ("=" if n == 1 else "") + text[at + n:end]
        places.append((begin, end, {1: "tie"}, "tg_mut_tie({}, (" + other + "), (", "))"))
    for begin, end in statements_of(plain):
        places.append((begin, end, {1: "dropped"}, "if (tg_mut_is({})) {} else ", ""))
    found, edits, seen = [], [], collections.Counter()
    for begin, end, values, opens, closes in sorted(places, key=lambda p: (p[0], -p[1])):
        words = " ".join(text[begin:end].split())
        seen[words, *values.values()] += 1
        found.append(Condition(first + len(found), name, text.count("\n", 0, begin) + 1, words, seen[words, *values.values()], values))
        edits.append((begin, 1, len(edits), " " + opens.replace("{}", str(found[-1].id), 1)))
        edits.append((end, 0, -len(edits), closes))
    out, last = [], 0
    for at, _, _, insert in sorted(edits):
        out += [text[last:at], insert]
        last = at
    out.append(text[last:])
    return '#include "tests/mutation/mutate.h"\n#line 1 "%s"\n' % name + "".join(out), found


def compiles(name):
    """Is the rewritten source C? What is wrong goes to stderr."""
    with open(f"{ROOT}/{name}", encoding="utf-8") as f:
        text, _ = rewrite(f.read(), name, 0)
    flags = ["-std=c11", "-D_GNU_SOURCE", '-DTG_VERSION=""', "-w", f"-I{ROOT}"]
    return subprocess.run([os.environ.get("CC", "cc"), *flags, "-fsyntax-only", "-xc", "-"], input=text, text=True, check=False).returncode == 0


# ---- the copy ------------------------------------------------------------------------------------------------------

def put(path, content, mode):
    """Only what has changed is written: the build goes by the time of a file, and the original's may be older than an object."""
    if os.path.exists(path):
        with open(path, "rb") as f:
            if f.read() == content:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, mode)


def make_copy(folder):
    source, build = folder + "/source", folder + "/build"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    names = [name for name in listed if os.path.isfile(f"{ROOT}/{name}")]
    for at, _, files in os.walk(source):
        for name in files:
            if os.path.relpath(f"{at}/{name}", source) not in names:
                os.remove(f"{at}/{name}")
    found, digests = [], {}
    gone = [name for name in SOURCES if name not in names]
    if gone:
        sys.exit(f"mutation: SOURCES names what is not there: {', '.join(gone)}")
    for name in names:
        with open(f"{ROOT}/{name}", "rb") as f:
            content = f.read()
        if name in SOURCES:
            digests[name] = hashlib.sha256(content).hexdigest()
            text, conditions = rewrite(content.decode(), name, len(found))
            content = text.encode()
            found += conditions
        put(f"{source}/{name}", content, os.stat(f"{ROOT}/{name}").st_mode)
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    flags = "-w -Wno-error"
    subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCMAKE_C_FLAGS={flags}"]
                   + (["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []), **quiet)
    subprocess.run(["ninja", "-C", build, "tracegate", *sorted({os.path.relpath(c[0], build) for c in unit_tests(build).values()})], **quiet)
    return found, digests


def unit_tests(build):
    """Name -> its command: the program of a room, and the source whose tests run."""
    with open(build + "/tests/CTestTestfile.cmake", encoding="utf-8") as f:
        found = re.findall(r'^add_test\(\[?=*\[?"?(\w+)\]?=*\]? (.*)\)$', f.read(), re.M)
    return {name: re.findall(r'"([^"]*)"', command) for name, command in found if re.search(UNIT, name)}


class Tests:
    def __init__(self, folder):
        self.source, self.build = folder + "/source", folder + "/build"
        self.units = unit_tests(self.build)
        names = [*self.units] + [" ".join(s) for s in SCRIPTS if os.path.exists(f"{self.source}/tests/e2e/{s[0]}")]
        self.names, self.seen, self.most = names, {}, {}

    def command(self, name):
        if name in self.units:
            return self.units[name]
        return [sys.executable, f"{self.source}/tests/e2e/{name.split()[0]}", *name.split()[1:]]

    def passes(self, name, **env):
        env = dict(os.environ, TG_PROGRAM=f"{self.build}/cmd/tracegate", TG_SOURCE_DIR=self.source,
                   TG_SHARED_DIR=os.environ.get("TG_SHARED_DIR", f"{ROOT}/../shared"), **env)
        try:
            run = subprocess.run(self.command(name), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, timeout=self.most.get(name, SLOWEST))
        except subprocess.TimeoutExpired:
            return False
        return run.returncode in (0, 77)

    def cover(self, scripts):
        """Per test the values that each condition had; the tests must pass."""
        for name in self.names if scripts else self.units:
            with tempfile.NamedTemporaryFile("r") as f:
                start = time.monotonic()
                if not self.passes(name, TG_MUTANT_COVER=f.name):
                    sys.exit(f"mutation: {name} fails without a mutant")
                self.most[name] = min(SLOWEST, 5 + 10 * (time.monotonic() - start))
                seen = collections.Counter()
                for line in f:
                    condition, bits = map(int, line.split())
                    seen[condition] |= bits
                self.seen[name] = seen
            print(f"{name}: {len(seen)} conditions", flush=True)

    def notices(self, mutant, source, scripts):
        """The first test that fails, the source's own first, then the quick ones; None: all pass. `scripts`: the slow ones are asked as well."""
        needs = 1 if mutant & 1 else 2  # always true is seen where it was false
        own = "_" + os.path.basename(source)[:-2]
        for name in sorted(self.names if scripts else self.units, key=lambda name: (name not in self.units, not name.endswith(own), self.most[name])):
            if self.seen[name][mutant >> 1] & needs and not self.passes(name, TG_MUTANT=str(mutant)):
                return name
        return None


class Results:
    """What noticed each mutant of each source, kept between runs by the source's text."""

    def __init__(self, folder, digests, fresh):
        self.path, self.digests = folder + "/results.json", digests
        self.kept, self.lock = {}, threading.Lock()
        if not fresh and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                self.kept = json.load(f)

    def of(self, file):
        digest = self.digests[file]
        entry = self.kept.setdefault(file, {"source": digest, "noticed": {}})
        if entry["source"] != digest:
            entry.update(source=digest, noticed={})
        return entry["noticed"]

    def keep(self, file, text, by):
        with self.lock:
            self.of(file)[text] = by
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump(self.kept, f, indent=0)
            os.replace(self.path + ".new", self.path)


def reasons():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "survivors.txt")
    with open(path, encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def stale_reasons():
    """Those whose condition has another text by now, or is gone."""
    texts = []
    for name in SOURCES:
        with open(f"{ROOT}/{name}", encoding="utf-8") as f:
            found = rewrite(f.read(), name, 0)[1]
        texts += [text_of(found, 2 * c.id + v) + ": " for c in found for v in c.values]
    return [r for r in reasons() if not r.startswith(tuple(texts))]


def text_of(found, mutant):
    """Names a mutant without its line; of conditions of one text in one file the second is "text #2"."""
    c = found[mutant >> 1]
    return f"{c.file}: {c.text}{f' #{c.nth}' if c.nth > 1 else ''}: {c.values[mutant & 1]}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", nargs="?", default="mutation")
    p.add_argument("--lint", action="store_true")
    p.add_argument("--only", nargs="+", default=SOURCES)
    p.add_argument("--again")
    p.add_argument("--unknown", action="store_true")
    p.add_argument("--more", action="store_true")
    p.add_argument("--fresh", action="store_true")
    p.add_argument("--scripts", action="store_true")
    p.add_argument("--units", action="store_true")
    p.add_argument("--sample", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--report", default="survivors")
    args = p.parse_args()
    if stale := stale_reasons():
        sys.exit("mutation: survivors.txt has reasons for what is not in the sources:\n" + "\n".join(stale))
    if args.lint:
        return any([not compiles(name) for name in SOURCES])
    found, digests = make_copy(os.path.abspath(args.folder))
    tests = Tests(os.path.abspath(args.folder))
    asks_scripts = {name: not args.units and (args.scripts or name.startswith("cmd/")) for name in args.only}
    tests.cover(any(asks_scripts.values()))
    mutants = [2 * c.id + v for c in found if c.file in args.only and (args.more or c.values.items() <= FIXED.items()) for v in c.values]
    if args.again:
        with open(args.again, encoding="utf-8") as f:
            before = f.read().split("\n")
        mutants = [m for m in mutants if any(line.startswith(text_of(found, m) + ": ") for line in before)]
    if args.unknown:
        mutants = [m for m in mutants if not any(r.startswith(text_of(found, m) + ": ") and ": open: " not in r for r in reasons())]
    if args.sample:
        mutants = random.Random(args.seed).sample(mutants, min(args.sample, len(mutants)))
    known, alive, killed = reasons(), [], collections.Counter()
    results = Results(os.path.abspath(args.folder), digests, args.fresh)

    def notices(mutant):
        c, key = found[mutant >> 1], text_of(found, mutant)
        by = results.of(c.file).get(key) or tests.notices(mutant, c.file, asks_scripts[c.file])
        if by:
            results.keep(c.file, key, by)
        return by
    with open(args.report, "w", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for mutant, by in zip(mutants, pool.map(notices, mutants)):
            c = found[mutant >> 1]
            killed[by] += 1
            if sum(killed.values()) % 50 == 0:
                print(f"{sum(killed.values())} of {len(mutants)}: {killed[None]} survive", flush=True)
            if by is None:
                text = text_of(found, mutant)
                seen = 0
                for one in tests.seen.values():
                    seen |= one[c.id]
                alive.append(text)
                reason = "known" if any(r.startswith(text + ": ") for r in known) else f"line {c.line}, seen {seen}"
                print(f"{text}: {reason}", file=out, flush=True)
    print(f"mutation: {len(mutants)} of conditions; {len(alive)} survive; noticed by {dict(killed)}")
    return 1 if [a for a in alive if not any(r.startswith(a + ": ") for r in known)] else 0


if __name__ == "__main__":
    sys.exit(main())
