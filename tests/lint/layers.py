#!/usr/bin/env python3
"""Fails on an include that points the wrong way, or on a third-party header outside its one file.

The allowed directions are those of docs/architecture.md. The check checks itself first: an injected
wrong include must be found.
"""
import re
import sys

import tree

WITHOUT_HTA = ["core/base", "core/number", "core/trace", "core/steps", "core/metric", "core/cause", "core/analysis", "core/summary",
               "core/diff", "core/history", "core/baseline"]

# room -> rooms it may include; "policy/verdict/verdict.h" is the one file reporters see of policy
ALLOWED = {
    "core/base": [],
    "core/number": ["core/base"],
    "core/trace": ["core/base"],
    "core/steps": ["core/base", "core/trace"],
    "core/metric": ["core/base", "core/trace", "core/steps"],
    "core/cause": ["core/base", "core/trace", "core/steps"],
    "core/analysis": ["core/base", "core/trace", "core/steps", "core/metric"],
    "core/summary": ["core/base", "core/number", "core/trace", "core/steps", "core/metric"],
    "core/diff": ["core/base", "core/number", "core/trace", "core/steps", "core/metric", "core/summary"],
    "core/history": ["core/base", "core/number", "core/trace", "core/steps", "core/metric", "core/summary", "core/diff"],
    "core/hta": ["core/base", "core/number", "core/trace", "core/steps", "core/metric", "core/analysis", "core/summary",
                 "core/diff"],
    "core/baseline": ["core/base", "core/summary", "core/trace/zlib_pack.h"],
    "policy/language": ["core/base", "core/metric"],
    "policy/verdict": WITHOUT_HTA + ["policy/language"],
    "reporters": WITHOUT_HTA + ["policy/verdict/verdict.h"],
    "cmd/gate": WITHOUT_HTA + ["policy", "reporters", "cmd/cmd.h"],
    "cmd/setup": WITHOUT_HTA + ["policy/language", "policy/verdict/verdict.h", "reporters/escape.h", "cmd/gate", "cmd/cmd.h"],
    "cmd": ["core", "policy", "reporters", "cmd/gate", "cmd/setup"],
}
LIBRARIES = {
    r"cjson/|cJSON": ["core/base/doc.c"],
    r"git2": ["core/baseline/libgit2/internal.h"],
    r"yaml\.h": ["policy/language/yaml.c"],
    r"pcre2": ["policy/language/match.c"],
    r"isa-l|igzip": ["core/trace/inflate_isal.c"],
    r"zlib\.h": ["core/trace/inflate_zlib.c"],
    r"zstd\.h": ["core/trace/inflate_zstd.c"],
    r"^sha(2|256)\.h|^md5\.h|openssl": ["core/base/sha256.c"],
    r"sqlite3\.h": ["core/trace/database.c"],
    r"xxhash": ["core/base/hash.c"],
    r"^mpi\.h": ["cmd/mpi/main.c"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def room_of(path):
    return max((r for r in ALLOWED if path.startswith(r + "/")), key=len, default=None)


def faults(path, text):
    room = room_of(path)
    for ours, system in INCLUDE.findall(text):
        if ours and not ours.startswith(room + "/"):
            if not any(ours == a or ours.startswith(a + "/") for a in ALLOWED[room]):
                yield f"{path}: may not include {ours}"
        for pattern, files in LIBRARIES.items():
            if system and re.search(pattern, system) and path not in files:
                yield f"{path}: <{system}> belongs in {' or '.join(files)} alone"
    if room.startswith("core"):
        for call in re.findall(r"\b(printf|puts|putchar|exit|abort|getenv|setlocale)\s*\(", text):
            yield f"{path}: core calls {call}()"


def main():
    injected = [("core/trace/x.c", '#include "policy/verdict/eval.h"\n'), ("core/diff/x.c", "#include <yaml.h>\n"),
                ("reporters/x.c", '#include "policy/verdict/eval.h"\n'), ("core/base/x.c", 'exit(1);\n')]
    paths = tree.sources()
    return tree.run("layers", len(paths), (f for p in paths for f in faults(p, tree.read(p))),
                    ((text, faults(path, text)) for path, text in injected), 20, "files, all includes point the right way")


if __name__ == "__main__":
    sys.exit(main())
