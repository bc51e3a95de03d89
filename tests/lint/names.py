#!/usr/bin/env python3
"""One name, one meaning: no struct, union, enum, typedef or macro of a header, and no exported function, is
defined twice, and none is a type in one room and a function in another. What a header defines starts with tg_ or
TG_. Checks itself first."""
import collections
import os
import re
import sys

ROOT = os.environ.get("TG_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
TAG = re.compile(r"^(?:\}|typedef )?\s*(struct|union|enum) (\w+)\s*\{", re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
FUNCTION = re.compile(r"^(?!static|typedef|extern|#|struct \w+;)[A-Za-z_][\w *]*?\b(\w+)\([^;{]*\)\s*\{", re.M)


def definitions(path, text):
    """(name, line) of what others can see."""
    text = COMMENT.sub(lambda m: " " + "\n" * m.group(0).count("\n"), text)
    if path.endswith(".h"):
        for pattern, group in ((TAG, 2), (MACRO, 1)):
            for m in pattern.finditer(text):
                yield m.group(group), 1 + text.count("\n", 0, m.start(group))
    else:
        for m in FUNCTION.finditer(text):
            if m.group(1).startswith("tg_"):
                yield m.group(1), 1 + text.count("\n", 0, m.start(1))


def room(place):
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
        if room(type_) != room(function):
            yield f"{name} is a type and a function of two rooms: {type_}, {function}"


def foreign(files):
    for path, text in files.items():
        if path.endswith(".h") and not path.endswith("shape_run.h"):
            for name, line in definitions(path, text):
                if not name.lower().startswith("tg_"):
                    yield f"{path}:{line}: {name} carries no tg_"


def sources():
    found = {}
    for room in ("core", "policy", "reporters", "cmd"):
        for folder, _, names in os.walk(os.path.join(ROOT, room)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                        found[path] = f.read()
    return found


def faults(files):
    return [*twice(files), *foreign(files)]


def main():
    wrong = [{"a/x.h": "struct tg_x {\n", "b/y.h": "struct tg_x {\n"}, {"a/x.h": "#define LOOSE 1\n"},
             {"a/x.c": "bool tg_f(void)\n{\n", "b/y.c": "bool tg_f(void)\n{\n"},
             {"a/x.h": "struct tg_f {\n", "b/y.c": "bool tg_f(void)\n{\n"}]
    for files in wrong:
        if not faults(files):
            sys.exit(f"names: the check does not see {files!r}")
    files = sources()
    found = faults(files)
    print("\n".join(found) or f"names: {len(files)} files, every name once")
    return 1 if found or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
