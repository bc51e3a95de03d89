#!/usr/bin/env python3
"""Labels of the comment's Mermaid chart are unique, over pairs of the corpus' traces: Mermaid draws bars of equal
labels as one. One trace of each folder of ../shared/corpus, as a summary, against the NEXT ones; `--all`: against all others. And over
random sets of names that differ in one place, of what a chart shortens, leaves out or replaces.

Without ../shared only the random names are tested.
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mermaid import PROGRAM, read_text, trace  # noqa: E402

TRACES = os.path.join(os.environ.get("TG_SHARED_DIR", os.path.join(os.environ["TG_SOURCE_DIR"], "../shared")), "corpus/traces")

NEXT, RANDOM = 3, 60
FRAMES = ["void at::native::vectorized_elementwise_kernel<4, {}, std::array<char*, 3ul> >(int)",
          "void at::native::elementwise_kernel<128, 2, {}>(int)",
          "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, {}, unsigned int, float, 4> >(int)", "{}", "void {}(int)",
          "cutlass_80_tensorop_s1688gemm_{}_nt_align4", "autograd::engine::evaluate_function: {}"]
WORK = ["at::native::MulFunctor<float>", "at::native::MulFunctor<double>", "f<a>", "f‹a›", "fa", "f<a> (2)", "long_name_" * 6, "x" * 40]
MARKS = ["", "<", ">", ";", "`", '"', " ", "  ", "#quot;", "(anonymous namespace)::", "at::native::", "\u00e9", "\u202e", "\t", "1", "2"]


def random_name(rng):
    """A frame around some work, with a mark at any place."""
    name = rng.choice(FRAMES).format(rng.choice(WORK))
    at = rng.randrange(len(name) + 1)
    return name[:at] + rng.choice(MARKS) + name[at:]


def random_pairs(folder):
    """A base without the names, and RANDOM fresh sides of eight."""
    rng = random.Random(15)
    trace(f"{folder}/base.json", ["first"], 0)
    for k in range(RANDOM):
        names = [random_name(rng) for _ in range(8)]
        names[1] = names[0] + rng.choice(MARKS)  # as near as can be
        trace(f"{folder}/random{k}.json", ["first", *names], 0)
        yield f"{folder}/base.json", f"{folder}/random{k}.json"


def summaries(folder):
    """One of each folder that can be read."""
    out = []
    for top, _, files in sorted(os.walk(TRACES)):
        for name in sorted(f for f in files if f.endswith((".json", ".json.gz")))[:1]:
            path = f"{folder}/{len(out)}.tgs"
            if subprocess.run([PROGRAM, "summarize", f"{top}/{name}", "-o", path], capture_output=True, check=False).returncode == 0:
                out.append(path)
    return out


def labels(comment):
    axis = re.search(r"^```mermaid\n.*?^    x-axis \[(.*)\]$", comment, re.S | re.M)
    return re.findall(r'"([^"]*)"', axis[1]) if axis else []


def corpus_pairs(folder):
    sides = summaries(folder) if os.path.isdir(TRACES) else []
    near = len(sides) - 1 if "--all" in sys.argv else NEXT
    for i, base in enumerate(sides):
        for k in range(1, near + 1):
            yield base, sides[(i + k) % len(sides)]


def faults_of(pairs, folder, faults):
    """How many pairs there are, and how many of them have a chart."""
    charts, n = 0, 0
    for base, fresh in pairs:
        subprocess.run([PROGRAM, "check", fresh, "--baseline", base, "--markdown", f"{folder}/m.md", "--quiet"], cwd=folder, capture_output=True,
                       check=False)
        n += 1
        if not os.path.exists(f"{folder}/m.md"):
            continue
        found = labels(read_text(f"{folder}/m.md"))
        os.remove(f"{folder}/m.md")
        charts += bool(found)
        # as Mermaid compares them: entities resolved, blanks as it has them
        twice = [k for k, m in collections.Counter(" ".join(x.replace("#quot;", '"').split()) for x in found).items() if m > 1]
        if twice:
            faults.append(f"{os.path.basename(base)} {os.path.basename(fresh)}: {twice}")
    return n, charts


def main():
    faults, said = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for what, pairs, least in (("corpus", corpus_pairs(tmp), 4), ("random", random_pairs(tmp), 1)):
            n, charts = faults_of(pairs, tmp, faults)
            said.append(f"{charts} charts of {n} {what} pairs")
            if charts < n // least:
                faults.append(said[-1] + ": too few to tell")
    print("\n".join(faults) or f"mermaid labels: {', '.join(said)}, unique")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
