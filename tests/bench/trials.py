#!/usr/bin/env python3
"""`tracegate ab` on real PyTorch, as a new user tries it: a model on the CPU, a second or two a run.

    tests/bench/trials.py [TRIAL...] [--repeats N]     needs torch and TG_PROGRAM; minutes to an hour

Each trial makes a repository whose branch differs from main by one edit of the model, and asks TG_PROGRAM. Prints a
row each: what is wanted, how many of N tries gave it, runs a side, seconds.

  comment   a comment                          green
  clone     a needless copy                    red after one run a side, by aten::clone
  slower    an operator has 10 % more to do    red, by its name
  resumed   the same of 50 %, killed by SIGKILL after seven runs a side, and resumed: the verdict of the whole one
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("TG_PROGRAM", os.path.join(ROOT, "build/dev/cmd/tracegate"))
MODEL = """import torch

ROWS = 1000
torch.manual_seed(1)
layers = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 128))
optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
data, table = torch.randn(64, 128), torch.randn(2000, 32)


def step():
    h = layers(data)
    order = table[:ROWS].sort(dim=0).values
    loss = (h - data).square().mean() + order[0].sum() * 0
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BENCH = f"""import os, pathlib, sys
sys.path.append({os.path.join(ROOT, "examples")!r})
import torch
from torch.profiler import ProfilerActivity, profile, schedule
import net, record
record.warm_heap()
torch.set_num_threads(1)
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
             on_trace_ready=lambda p: record.export(p, pathlib.Path(os.environ["TRACE"]))) as profiler:
    for _ in range(8):
        net.step()
        profiler.step()
"""
EDITS = {"comment": ("def step", "# one step of training\ndef step"), "clone": ("layers(data)", "layers(data.clone())"),
         "slower": ("ROWS = 1000", "ROWS = 1100"), "resumed": ("ROWS = 1000", "ROWS = 1500")}
WANTED = {"comment": (0, ""), "clone": (1, "aten::clone"), "slower": (1, "aten::sort"), "resumed": (1, "aten::sort")}


def git(folder, *args):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *args], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


def repository(folder, edit):
    git(folder, "init", "-q", "-b", "main")
    for text in (MODEL, MODEL.replace(*edit)):
        with open(os.path.join(folder, "net.py"), "w", encoding="utf-8") as f:
            f.write(text)
        with open(os.path.join(folder, "bench.py"), "w", encoding="utf-8") as f:
            f.write(BENCH)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "model")
        if text == MODEL:
            git(folder, "checkout", "-q", "-b", "change")


def command(folder, *more):
    return [PROGRAM, "ab", "--base", "main", "--json", folder + ".json", *more, "--", sys.executable, "bench.py"]


def runs_of(out):
    return sum(name.endswith(".json.gz") for _, _, files in os.walk(out) for name in files)


def kill_and_resume(folder):
    """The process of a resumed command."""
    out = folder + ".out"
    going = subprocess.Popen(command(folder, "--out", out), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while going.poll() is None and runs_of(out) < 14:
        time.sleep(0.05)
    going.kill()
    going.wait()
    return subprocess.run(command(folder, "--out", out, "--resume"), cwd=folder, capture_output=True, text=True)


def attempt(trial):
    """(as wanted, runs a side, seconds, headline)"""
    code, name = WANTED[trial]
    with tempfile.TemporaryDirectory() as tmp:
        folder = os.path.join(tmp, "r")
        os.mkdir(folder)
        repository(folder, EDITS[trial])
        begin = time.monotonic()
        if trial == "resumed":
            done = kill_and_resume(folder)
        else:
            done = subprocess.run(command(folder), cwd=folder, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        runs = re.search(r"ab: (\d+) runs? a side in", done.stderr)
        if not runs:
            sys.exit(done.stdout + done.stderr)
        with open(folder + ".json", encoding="utf-8") as f:
            report = json.load(f)
    named = not name or name in {v["op"] for v in report["violations"]}
    n = int(runs[1])
    return done.returncode == code and named and (trial != "clone" or n == 1), n, seconds, f"exit {done.returncode}: {report['headline']}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("trial", nargs="*", choices=[[], *EDITS])
    p.add_argument("--repeats", type=int, default=10)
    o = p.parse_args()
    print("trial\tas wanted\truns a side\tseconds", flush=True)
    for trial in o.trial or EDITS:
        tries = []
        for _ in range(o.repeats):
            tries.append(attempt(trial))
            print(trial, *tries[-1], file=sys.stderr, flush=True)
        mean = [sum(t[k] for t in tries) / len(tries) for k in (1, 2)]
        print(f"{trial}\t{sum(t[0] for t in tries)} of {len(tries)}\t{mean[0]:.1f}\t{mean[1]:.0f}", flush=True)


if __name__ == "__main__":
    main()
