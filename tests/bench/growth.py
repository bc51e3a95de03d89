#!/usr/bin/env python3
"""How each command grows with ranks, runs, steps, names, refs and files: growth.py PROGRAM [--rows ranks,steps] [--commands check,merge] [--cpu]

Each row is a command on three or four sizes of one thing, everything else equal, and its exponents: ln of the ratio of costs over ln of
the ratio of sizes, for the last two sizes and for all. Cost is instructions (callgrind, one thread), with --cpu user time, the least of
five; with refs, nights and files, whose work is partly git's own, always CPU with the children. The goal is 1.1 for the last two. Traces
are made here: a step is NAMES operators, each with a launch and a kernel, and an all-reduce; `spread` has 24,000 calls of 600 names in all,
whatever the number of steps. Of `findings` the change calls each name twice instead of once, of `renamed` each name is another one. Each
commit of `refs` has a run of 20 names, of `nights` one of 500. Results: docs/benchmarks.md.
"""
import argparse
import gzip
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from cause import TRACE as STACKS, planted  # noqa: E402
from instructions import instructions  # noqa: E402
from ranks import POLICIES  # noqa: E402
GOAL = 1.1
SIZES = {"ranks": (64, 256, 1024), "runs": (8, 16, 32, 64), "steps": (16, 64, 256), "names": (200, 800, 3200),
         "spread": (24, 96, 384), "findings": (1250, 2500, 5000, 10000), "renamed": (1250, 2500, 5000, 10000), "refs": (1250, 5000, 20000),
         "nights": (1250, 2500, 5000), "files": (6250, 25000, 100000)}
OP = ('{"ph":"X","cat":"cpu_op","name":"aten::operator_%d","pid":1,"tid":1,"ts":%d.%03d,"dur":%d.%03d,'
      '"args":{"External id":%d,"Input Dims":[[%d,64],[]],"Input type":["float",""]}}')
LAUNCH = ('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d.%03d,"dur":1.000,'
          '"args":{"External id":%d,"correlation":%d}}')
KERNEL = ('{"ph":"X","cat":"kernel","name":"kernel_%d","pid":0,"tid":7,"ts":%d.%03d,"dur":%d.%03d,"args":{"device":0,"stream":7,'
          '"External id":%d,"correlation":%d,"registers per thread":32,"shared memory":0,"grid":[%d,1,1],"block":[128,1,1]}}')
REDUCE = ('{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":20,"ts":%d.%03d,"dur":%d.%03d,'
          '"args":{"device":0,"stream":20,"External id":%d,"correlation":%d,"grid":[8,1,1],"block":[512,1,1],'
          '"Collective name":"allreduce","In msg nelems":4096,"Out msg nelems":4096,"Group size":8,"dtype":"Float"}}')
STEP = '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d.%03d,"dur":%d.%03d,"args":{}}'


def us(ns):
    return divmod(ns, 1000)


def write(path, steps, seed, rank=0, ranks=1):
    """`steps`: per step the numbers of the names that are called."""
    r, out, at, number = random.Random(seed), [], 1_000_000, 0
    for k, names in enumerate(steps):
        start = at
        for i in names:
            number += 1
            dur = 8000 + 100 * (i % 50) + r.randrange(400)
            out.append(OP % (i, *us(at), *us(dur), number, i))
            out.append(LAUNCH % (*us(at + 2000), number, number))
            out.append(KERNEL % (i, *us(at + 4000), *us(dur - 3000), number, number, i % 97 + 1))
            at += dur + 500
        number += 1
        out.append(OP % (999_999, *us(at), *us(9000), number, 1))
        out.append(LAUNCH % (*us(at + 2000), number, number))
        out.append(REDUCE % (*us(at + 4000), *us(3000 + r.randrange(500)), number, number))
        at += 10_000
        out.append(STEP % (k, *us(start), *us(at - start)))
    with gzip.open(path, "wt", compresslevel=1) as f:
        f.write('{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},"deviceProperties":[{"id":0,"name":"G"}],'
                '"traceEvents":[%s]}' % (rank, ranks, ",\n".join(out)))


def steps_of(row, n):
    if row == "spread":
        r, calls = random.Random(1), 24_000 // n
        return [[r.randrange(600) for _ in range(calls)] for _ in range(n)]
    names = {"steps": 30, "ranks": 20, "runs": 60, "refs": 20, "nights": 500, "files": 20}.get(row, n)
    return [list(range(names))] * {"steps": n, "names": 3, "ranks": 2, "runs": 4, "nights": 3}.get(row, 2)


def changed(row, steps):
    """The same steps after the change."""
    if row == "findings":
        return [[i for i in names for _ in range(2)] for names in steps]
    return [[len(names) + i for i in names] for names in steps] if row == "renamed" else steps


class Case:
    """The inputs of one size of one row: out/ and base/ with traces, out.tgs and base.tgs with all of them."""

    def __init__(self, program, row, n, folder):
        self.program, self.folder = program, folder
        steps, many = steps_of(row, n), n if row in ("ranks", "runs") else 1
        for s, side in enumerate(("out", "base")):
            os.makedirs(os.path.join(folder, side))
            for k in range(many):
                write(f"{folder}/{side}/t{k:05}.json.gz", steps if s else changed(row, steps), 1_000_000 * s + k, *((k, n) if row == "ranks" else ()))
            if row == "runs":
                parts = []
                for k in range(many):
                    self.run("summarize", f"{side}/t{k:05}.json.gz", "--run", f"{side}{k}", "-o", f"{side}-{k}.tgs")
                    parts.append(f"{side}-{k}.tgs")
                self.run("merge", *parts, "-o", side + ".tgs")
            else:
                self.run("summarize", side, "--run", side, "-o", side + ".tgs")
        for name, text in (("measures.yml", POLICIES["measures"]), ("ranks.yml", POLICIES["preset and rank rules"])):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)

    def run(self, *args):
        p = subprocess.run([self.program, *args], cwd=self.folder, capture_output=True, text=True, check=False)
        if p.returncode not in (0, 1, 4):
            sys.exit(f"{args}: exit {p.returncode}: {p.stderr}")
        return p

    def instructions(self, args):
        return instructions([self.program, *args], None, cwd=self.folder) / 1e6

    def cpu(self, args, before=None, rounds=5):
        """Milliseconds, the least of some rounds; `before` sets each round up."""
        best = math.inf
        for _ in range(rounds):
            if before:
                before()
            a = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run(*args)
            b = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, b.ru_utime - a.ru_utime + b.ru_stime - a.ru_stime)
        return 1000 * best


MEASURES = [a for m in ("temporal", "idle", "kernel-types", "kernels", "overlap", "bandwidth", "queue", "launches", "steps")
            for a in ("--measure", m)]
LOOK = {
    "analyze": ["analyze", "out", "--format", "csv"],
    "analyze, nine measures": ["analyze", "out", "--format", "csv", *MEASURES],
    "names": ["names", "out/t00000.json.gz"],
    "summarize": ["summarize", "out", "-o", "x.tgs", "--run", "x"],
    "merge": ["merge", "out.tgs", "base.tgs", "-o", "x.tgs"],
    "diff": ["diff", "base", "out"],
    "diff of summaries": ["diff", "base.tgs", "out.tgs"],
    "check": ["check", "out.tgs", "--baseline", "base.tgs", "--quiet"],
}
ONE = {
    "analyze --overlay": ["analyze", "out/t00000.json.gz", "--measure", "queue", "--overlay", "x.json"],
    "diff --by shape": ["diff", "base", "out", "--by", "shape"],
    "check of traces": ["check", "out", "--baseline", "base", "--quiet"],
    "selftest": ["selftest", "out"],
    "policy explain": ["policy", "explain", "aten::operator_1", "out"],
}
FOUND = {
    "diff of summaries": LOOK["diff of summaries"],
    "check": LOOK["check"],
    "check, all reports": [*LOOK["check"], *(f"--{r}=x.{r}" for r in ("json", "markdown", "html", "junit", "csv", "svg-counts", "svg-durations",
                                                                      "benchmark", "openmetrics"))],
}
COMMANDS = {
    "ranks": {**LOOK, "analyze --measure skew": ["analyze", "out", "--measure", "skew", "--format", "csv"],
              "check, rank rules": [*LOOK["check"], "--policy", "ranks.yml"],
              "check, rules about measures": [*LOOK["check"], "--policy", "measures.yml"]},
    "runs": {"merge": LOOK["merge"], "diff --runs": ["diff", "base", "out", "--runs"], "diff of summaries": LOOK["diff of summaries"],
             "check": LOOK["check"], "check of traces, --runs": ["check", "out", "--baseline", "base", "--runs", "--quiet"],
             "selftest": ["selftest", "out.tgs"], "calibrate": ["calibrate", "out.tgs"]},
    "findings": FOUND, "renamed": FOUND, "steps": {**LOOK, **ONE}, "names": {**LOOK, **ONE}, "spread": {**LOOK, **ONE},
}


HISTORY = ["history", "--format", "json", "-o", "h.json"]


def git(folder, *args, data=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
    return subprocess.run(["git", *args], cwd=folder, input=data, capture_output=True, check=True, env=env).stdout.decode()


def store(case, row, commits):
    """A repository with a run of each commit, and a clone's remote; 20 different runs."""
    folder, oids = case.folder, []
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "t"), git(folder, "config", "user.email", "t@t")
    for k in range(20):
        write(f"{folder}/r.json.gz", steps_of(row, 0), k)
        case.run("summarize", "r.json.gz", "-o", "s.tgs")
        oids.append(git(folder, "hash-object", "-w", "s.tgs").strip())
    stream = "".join(f"commit refs/heads/main\nmark :{k + 1}\ncommitter a <a@x> {1500000000 + 86400 * k} +0000\ndata 5\nnight\n"
                     + (f"from :{k}\n" if k else "") + "\n" for k in range(commits))
    git(folder, "fast-import", "--quiet", "--export-marks=marks", data=stream.encode())
    with open(f"{folder}/marks", encoding="utf-8") as f:
        sha = {int(m[1:]): s for m, s in (line.split() for line in f)}
    git(folder, "update-ref", "--stdin", data="".join(
        f"create refs/tracegate/v1/default/{sha[k + 1]}/{oids[k % 20][:16]} {oids[k % 20]}\n" for k in range(commits)).encode())
    git(folder, "pack-refs", "--all")
    shutil.copy(f"{folder}/.git/packed-refs", f"{folder}/refs")


def refs(case, n):
    folder = case.folder
    store(case, "refs", n)

    def again():
        shutil.rmtree(f"{folder}/remote", ignore_errors=True)
        git(folder, "init", "-q", "--bare", "remote")
        git(folder, "remote", "remove", "origin") if "origin" in git(folder, "remote") else None
        git(folder, "remote", "add", "origin", f"{folder}/remote")
        shutil.copy(f"{folder}/refs", f"{folder}/.git/packed-refs")
        git(folder, "push", "-q", "origin", "main")

    def full():
        again()
        git(folder, "push", "-q", "origin", "refs/tracegate/*:refs/tracegate/*")

    again()
    out = ["check", "out/t00000.json.gz", "--quiet"]
    yield "baseline list", case.cpu(["baseline", "list"])
    yield "baseline show", case.cpu(["baseline", "show"])
    yield "baseline record", case.cpu(["baseline", "record", "out/t00000.json.gz"], again)
    yield "check, stored baseline", case.cpu([*out, "--baseline", "HEAD"])
    yield "history", case.cpu(HISTORY, rounds=2)
    yield "baseline push", case.cpu(["baseline", "push"], again, 3)
    full()
    yield "baseline push, full remote", case.cpu(["baseline", "push"], None, 3)
    yield "baseline list --remote", case.cpu(["baseline", "list", "--remote", "origin"], None, 3)
    yield "baseline fetch", case.cpu(["baseline", "fetch"], None, 3)
    yield "baseline prune, half", case.cpu(["baseline", "prune", "--keep", str(n // 2)], again, 3)


def nights(case, n):
    store(case, "nights", n)
    yield "history", case.cpu(HISTORY, rounds=2)


def tree(folder, n):
    """A repository of n source files in folders of folders."""
    git(folder, "init", "-q", "-b", "main")
    stream = "blob\nmark :1\ndata 6\nx = 1\n\ncommit refs/heads/main\ncommitter a <a@x> 1500000000 +0000\ndata 5\nfiles\n"
    stream += "".join(f"M 100644 :1 package{k % 100}/part{k // 100 % 40}/file{k}.py\n" for k in range(n))
    git(folder, "fast-import", "--quiet", data=stream.encode())


def failing(folder):
    """Two traces with Python stacks, the second with more calls."""
    with gzip.open(STACKS, "rt", encoding="utf-8") as f:
        trace = json.load(f)
    for name, one in (("slower", planted(trace)), ("before", trace)):
        with gzip.open(f"{folder}/{name}.json.gz", "wt", compresslevel=6) as f:
            json.dump(one, f)


def exponent(sizes, costs, i, j):
    return math.log(costs[j] / costs[i]) / math.log(sizes[j] / sizes[i])


def row(o, name, sizes, tmp):
    costs = {}
    for n in sizes:
        folder = os.path.join(tmp, f"{name}{n}")
        case = Case(o.program, name, n, folder)
        if name == "files":
            tree(folder, n), failing(folder)
            costs.setdefault("check that fails", []).append(case.cpu(["check", "slower.json.gz", "--baseline", "before.json.gz", "--quiet"]))
        elif name in ("refs", "nights"):
            for what, cost in refs(case, n) if name == "refs" else nights(case, n):
                costs.setdefault(what, []).append(cost)
        else:
            for what, args in COMMANDS[name].items():
                if not o.commands or what.split(",")[0].split(" ")[0] in o.commands:
                    args = [*args, "--threads", "1"] if args[0] not in ("merge", "names") else args
                    costs.setdefault(what, []).append(case.cpu(args) if o.cpu else case.instructions(args))
        shutil.rmtree(folder)
    unit = "ms" if o.cpu or name in ("refs", "nights", "files") else "M instructions"
    print(f"\n{name} {', '.join(f'{n:,}' for n in sizes)} ({unit})")
    for what, v in costs.items():
        last = exponent(sizes, v, -2, -1)
        print(f"| {what} | {', '.join(f'{c:,.0f}' for c in v)} | {last:.2f} | {exponent(sizes, v, 0, -1):.2f} | {'yes' if last <= GOAL else 'no'} |",
              flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", type=os.path.abspath)
    p.add_argument("--rows", type=lambda s: s.split(","), default=list(SIZES))
    p.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], help="of the one row")
    p.add_argument("--commands", type=lambda s: s.split(","), help="those that begin with these words")
    p.add_argument("--cpu", action="store_true")
    o = p.parse_args()
    for name in o.rows:
        with tempfile.TemporaryDirectory() as tmp:
            row(o, name, o.sizes or SIZES[name], tmp)


if __name__ == "__main__":
    main()
