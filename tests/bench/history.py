#!/usr/bin/env python3
"""Time and peak memory of `tracegate history` over N stored commits of OPS operators, one run a night.

    history.py PROGRAM [OPS [N…]]

Twenty traces of three steps whose operators differ by 1 % from one another are summarised; the commits take them
in turn. Commits and refs are made by git fast-import and update-ref. Prints seconds, seconds a commit and MB,
each the better of two runs, and what the last night alone costs beyond reading (`--last 1`, `--format json`).
"""
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

VARIANTS, STEPS = 20, 3


def trace(path, variant, ops):
    rng, events, at = random.Random(variant), [], 0
    for step in range(STEPS):
        start = at
        for i in range(ops):
            ns = int((20 + i % 50) * 1000 * (1 + 0.01 * rng.uniform(-1, 1)))
            events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::operator_{i:03}", "pid": 1, "tid": 1, "ts": at / 1000, "dur": ns / 1000})
            at += ns
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": start / 1000, "dur": (at - start) / 1000})
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as f:
        json.dump({"schemaVersion": 1, "traceEvents": events}, f)


def git(folder, *args, data=None):
    return subprocess.run(["git", *args], cwd=folder, input=data, capture_output=True, check=True).stdout.decode()


def build(program, folder, ops, most):
    git(folder, "init", "-q", "-b", "main")
    oids = []
    for k in range(VARIANTS):
        trace(f"{folder}/t.json.gz", k, ops)
        subprocess.run([program, "summarize", "t.json.gz", "-o", "s.tgs"], cwd=folder, check=True, capture_output=True)
        oids.append(git(folder, "hash-object", "-w", "s.tgs").strip())
    stream = []
    for k in range(most):
        stream.append(f"commit refs/heads/main\nmark :{k + 1}\nauthor a <a@x> {1500000000 + 86400 * k} +0000\n"
                      f"committer a <a@x> {1500000000 + 86400 * k} +0000\ndata 7\nnight\n\n" + (f"from :{k}\n" if k else ""))
    git(folder, "fast-import", "--quiet", "--export-marks=marks", data="\n".join(stream).encode())
    with open(f"{folder}/marks", encoding="utf-8") as f:
        sha = {int(m[1:]): s for m, s in (line.split() for line in f)}
    refs = "".join(f"create refs/tracegate/v1/bench/{sha[k + 1]}/{oids[k % VARIANTS][:16]} {oids[k % VARIANTS]}\n" for k in range(most))
    git(folder, "update-ref", "--stdin", data=refs.encode())
    git(folder, "pack-refs", "--all")
    return [sha[k + 1] for k in range(most)]


def measure(program, folder, *args):
    best = None
    for _ in range(2):
        begin = time.monotonic()
        child = subprocess.Popen([program, "history", "--format", "json", "-o", "/dev/null", *args], cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
        assert os.waitstatus_to_exitcode(status) in (0, 1)
        wall, cpu = time.monotonic() - begin, used.ru_utime + used.ru_stime
        if best is None or cpu < best[1]:
            best = wall, cpu, used.ru_maxrss / 1024
    return best


def main():
    program, ops = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
    sizes = [int(x) for x in sys.argv[3:]] or [1250, 2500, 5000]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        sha = build(program, folder, ops, max(sizes))
        print("commits   wall s  CPU s  CPU ms a commit      MB")
        for n in sizes:
            wall, cpu, mb = measure(program, folder, "--until", sha[n - 1])
            print(f"{n:7}  {wall:7.2f}  {cpu:5.2f}  {1000 * cpu / n:15.2f}  {mb:6.0f}")


if __name__ == "__main__":
    main()
