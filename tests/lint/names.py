#!/usr/bin/env python3
"""One name, one meaning: no struct, union, enum, typedef or macro of a header, and no exported function, is
defined twice, and none is a type in one room and a function in another. What a header defines starts with tg_ or
TG_. The word after tg_ is one room's: functions of other rooms have it only if they take or return that room's type
of the name (tg_op_raw is about a struct tg_op). The constants of an enum begin alike, and no enum of another room begins so. No exported function
takes two bools, and none is called with a bare `true` or `false` outside the tests: nobody can read what f(x, true, false) asks for. Checks itself
first."""
import collections
import os
import re
import sys

import tree
from layers import room_of

COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
TAG = re.compile(r"^(?:\}|typedef )?\s*(struct|union|enum) (\w+)\s*\{", re.M)
TYPE = re.compile(r"\b(?:struct|union|enum) (tg_\w+)\s*\{|\}\s*(tg_\w+);")
ENUM = re.compile(r"\benum (tg_\w+)\s*\{([^}]*)\}")
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
FUNCTION = re.compile(r"^(?!static|typedef|extern|#|struct \w+;)([A-Za-z_][\w *]*?\b(\w+)\([^;{]*\))\s*\{", re.M)
PROTOTYPE = re.compile(r"^(?!typedef|#|extern)[A-Za-z_][\w *]*?\b(tg_\w+)\(([^;{}]*?)\)\s*[;{]", re.M)
CALL = re.compile(r"\b(tg_\w+)\(")
# Parameters that are themselves what is stored or returned: `true` says all.
PLAIN = {"value", "fallback"}
# Words that mean the same in every room.
SHARED = {"baseline", "collective", "env", "name", "rank", "side", "step"}


def plain(text):
    return COMMENT.sub(lambda m: " " + "\n" * m.group(0).count("\n"), text)


def definitions(path, text):
    """(name, line) of what others can see."""
    text = plain(text)
    if path.endswith(".h"):
        for pattern, group in ((TAG, 2), (MACRO, 1)):
            for m in pattern.finditer(text):
                yield m.group(group), 1 + text.count("\n", 0, m.start(group))
    else:
        for m in FUNCTION.finditer(text):
            if m.group(2).startswith("tg_"):
                yield m.group(2), 1 + text.count("\n", 0, m.start(2))


def folder(place):
    return os.path.dirname(place)


def twice(files):
    """#undef makes a macro a file's own."""
    seen = {".h": collections.defaultdict(list), ".c": collections.defaultdict(list)}
    for path, text in files.items():
        local = set(re.findall(r"^\s*#\s*undef\s+(\w+)", text, re.M))
        for name, line in definitions(path, text):
            if name not in local:
                seen[path[-2:]][name].append(f"{path}:{line}")
    for kind in seen.values():
        for name, places in sorted(kind.items()):
            if len({place.rsplit(":", 1)[0] for place in places}) > 1:
                yield f"{name} is defined {len(places)} times: {', '.join(places)}"
    for name in sorted(set(seen[".h"]) & set(seen[".c"])):
        type_, function = seen[".h"][name][0], seen[".c"][name][0]
        if folder(type_) != folder(function):
            yield f"{name} is a type and a function of two rooms: {type_}, {function}"


def foreign(files):
    for path, text in files.items():
        if path.endswith(".h") and not path.endswith("shape_run.h"):
            for name, line in definitions(path, text):
                if not name.lower().startswith("tg_"):
                    yield f"{path}:{line}: {name} carries no tg_"


def strays(files):
    """Functions whose word is another room's, and that are about none of its types."""
    homes = collections.defaultdict(set)      # word -> rooms with a type of the name
    functions = collections.defaultdict(list)  # word -> (name, path, signature)
    for path, text in files.items():
        text = plain(text)
        for m in TYPE.finditer(text) if path.endswith(".h") else ():
            homes[(m.group(1) or m.group(2)).split("_")[1]].add(room_of(path))
        for m in FUNCTION.finditer(text) if path.endswith(".c") else ():
            if m.group(2).startswith("tg_"):
                functions[m.group(2).split("_")[1]].append((m.group(2), path, m.group(1)))
    for word, found in sorted(functions.items()):
        rooms = collections.Counter(room_of(path) for _, path, _ in found)
        if len(rooms) < 2 and (not homes[word] or set(rooms) <= homes[word]) or word in SHARED:
            continue
        home = homes[word] or {rooms.most_common(1)[0][0]}
        for name, path, signature in found:
            about = re.search(rf"\btg_{word}(?:_\w+)?\b(?!\()", signature.replace(name + "(", "("))
            if room_of(path) not in home and not about:
                yield f"{path}: {name}: '{word}' is a word of {' and '.join(sorted(home))}"


def prefixes(files):
    """Enums of two rooms whose constants begin with the same words: TG_STATE_OPEN, TG_STATE_FAIL."""
    seen = collections.defaultdict(list)  # prefix -> (enum, path)
    for path, text in files.items():
        for m in ENUM.finditer(plain(text)) if path.endswith(".h") else ():
            names = re.findall(r"(?:^|,)\s*(TG_[A-Z0-9]+_\w+)", m.group(2))
            names = [n for n in names if not any(other.startswith(n[:-1] + "_") for other in names)]  # TG_ATTR_KINDS: their number
            prefix = re.sub("[^_]*$", "", os.path.commonprefix(names)) if len(names) > 1 else "TG_"
            if prefix not in ("", "TG_"):
                seen[prefix].append((m.group(1), path))
    for prefix, enums in sorted(seen.items()):
        if len({room_of(path) for _, path in enums}) > 1:
            yield f"{prefix} begins the constants of enums of several rooms: {', '.join(f'{name} ({path})' for name, path in enums)}"


def arguments(text, at):
    """Of a call whose first argument begins at `at`."""
    found, depth = [""], 1
    for c in text[at:]:
        depth += (c in "([{") - (c in ")]}")
        if not depth:
            break
        if c == "," and depth == 1:
            found.append("")
        else:
            found[-1] += c
    return [a.strip() for a in found]


def booleans(files):
    """Exported functions with two bools, and bare ones where they are called."""
    flags = {}  # function -> places of the bools that say nothing by themselves
    for path, text in files.items():
        for m in PROTOTYPE.finditer(plain(text)) if path.endswith(".h") else ():
            names = [re.match(r"bool (\w+)$", p.strip()) for p in m.group(2).split(",")]
            flags[m.group(1)] = [i for i, n in enumerate(names) if n and n.group(1) not in PLAIN]
            if len([n for n in names if n]) > 1:
                yield f"{path}: {m.group(1)} takes two bools: an enum or a struct of options says what they are"
    for path, text in files.items():
        text = plain(text)
        for m in CALL.finditer(text) if not path.startswith("tests/") else ():
            given = arguments(text, m.end()) if flags.get(m.group(1)) else []
            if any(i < len(given) and given[i] in ("true", "false") for i in flags.get(m.group(1), ())):
                yield f"{path}:{1 + text.count(chr(10), 0, m.start())}: {m.group(1)} is called with a bare bool"


def faults(files):
    return [*twice(files), *foreign(files), *strays(files), *prefixes(files), *booleans(files)]


def main():
    wrong = [{"core/base/x.h": "struct tg_x {\n", "core/diff/y.h": "struct tg_x {\n"}, {"core/base/x.h": "#define LOOSE 1\n"},
             {"core/base/x.c": "bool tg_f(void)\n{\n", "core/diff/y.c": "bool tg_f(void)\n{\n"},
             {"core/base/x.h": "struct tg_f {\n", "core/diff/y.c": "bool tg_f(void)\n{\n"},
             {"core/base/x.h": "struct tg_f {\n", "core/diff/y.c": "bool tg_f_of(int n)\n{\n"},
             {"core/base/x.h": "enum tg_x { TG_X_ONE, TG_X_TWO };\n", "core/diff/y.h": "enum tg_y {\n    TG_X_RED, /* , */\n    TG_X_BLUE\n};\n"},
             {"core/base/x.h": "void tg_f(int n, bool deep, bool loud);\n"},
             {"core/base/x.h": "TG_MUST bool tg_f(int n,\n                  bool deep);\n", "cmd/y.c": "x = tg_f(g(1, 2), true);\n"}]
    right = {"core/base/x.h": "struct tg_f {\nvoid tg_put(bool value);\nvoid tg_go(int n, bool deep);\n",
             "core/diff/y.c": "bool tg_f_of(struct tg_f *f)\n{\n    tg_put(true);\n    tg_go(h(true), f->deep);\n",
             "tests/z.c": "    tg_go(1, true);\n"}
    if faults(right):
        sys.exit(f"names: {faults(right)} in what is right")
    files = {path: tree.read(path) for path in tree.sources()}
    return tree.run("names", len(files), faults(files), ((w, faults(w)) for w in wrong), 100, "files, every name once")


if __name__ == "__main__":
    sys.exit(main())
