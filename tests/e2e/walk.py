#!/usr/bin/env python3
"""From nothing to a gated pull request by docs/github-actions.md alone: its code blocks are taken as they
stand, the workflows they bring are run (workflow.py) on the events that a new user causes.

    walk            recorded traces replace PyTorch (a module `torch` that hands them out)
    walk --torch    PyTorch itself measures; where it is Debian's, which cannot write traces, examples/kineto_layout.py does
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import github
from box import Box
from support import PROGRAM, ROOT, absent, expect, finish, read_text, write_text
from workflow import Forge, load, told

TRAIN = """import torch

layers = [torch.nn.Linear(64, 64) for _ in range(4)]


def forward(x):
    for layer in layers:
        x = torch.relu(layer(x))
    return x


def train_step(step):
    forward(torch.ones(32, 64)).sum().backward()
"""
SLOWER = TRAIN.replace("torch.relu(layer(x))", "torch.relu(layer(x.clone()))")
TIDY = TRAIN.replace("def forward", "# tidy\ndef forward")
# what of PyTorch the documented bench touches; the trace is a recorded one, by what train.py does
STAND_IN = '''
import os, shutil, sys, types
class nn:
    Linear = lambda *a: None
def manual_seed(n): pass
class cuda:
    is_available = staticmethod(lambda: False)
class profile:
    def __init__(self, activities, schedule, on_trace_ready, with_stack): self.ready = on_trace_ready
    def __enter__(self): return self
    def __exit__(self, *a): self.ready(self)
    def step(self): pass
    def export_chrome_trace(self, path):
        code = open("train.py").read()
        other = open("README.md").read() == "y" or not os.path.exists(".tracegate.yml")  # never one recording on both sides
        variant, first = ("extra_copy", 0) if "clone()" in code else ("base", 10 if "# tidy" in code else 5 if other else 0)
        k = int(path.removesuffix(".json.gz")[-1])
        shutil.copy(f"{os.environ['TRACES']}/{variant}/run{(first + k) % 15:02}.json.gz", path)
profiler = types.ModuleType("torch.profiler")
profiler.ProfilerActivity, profiler.profile, profiler.schedule = types.SimpleNamespace(CPU=0, CUDA=1), profile, lambda **k: k
sys.modules["torch.profiler"] = profiler
sys.modules["train"] = types.SimpleNamespace(train_step=lambda step: None)
'''
# a PyTorch without Kineto measures, but cannot write: the examples' exporter does
EXPORTER = '''
import sys

if sys.argv[0].endswith("bench.py") or "-c" not in sys.argv:
    import importlib.abc, os, pathlib, threading
    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name == "train" and "torch.profiler" in sys.modules:
                import torch
                if not torch.profiler.kineto_available():
                    sys.path.append(os.environ["EXAMPLES"])
                    import kineto_layout
                    torch.profiler.profile.export_chrome_trace = lambda p, path: kineto_layout.write(
                        pathlib.Path(path), p.profiler.kineto_results, os.getpid(), {1: threading.get_native_id()})
            return None
    sys.meta_path.insert(0, Finder())
'''


def blocks(language):
    """The code blocks of the manual's list of steps, without its indent."""
    found = re.findall(rf"^   ```{language}\n(.*?)^   ```$", read_text(os.path.join(ROOT, "docs/github-actions.md")), re.S | re.M)
    return ["\n".join(line[3:] for line in b.split("\n")) for b in found]


def published(folder, box):
    """tracegate's repository, as `git clone https://github.com/acme/tracegate` finds it."""
    place = os.path.join(folder, "acme-tracegate")
    for part in ("examples/workflows", "scripts"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(place, part))
    shutil.copy(os.path.join(ROOT, "action.yml"), place)
    box.git(folder, "init", "-q", "-b", "main", place)
    box.git(place, "add", "-A")
    box.git(place, "commit", "-q", "-m", "release")
    box.git(folder, "config", "--global", f"url.file://{place}.insteadOf", "https://github.com/acme/tracegate")
    return box.git(place, "rev-parse", "HEAD")


def follow(folder, box, environ):
    """Steps 1 and 2 on a branch; the files that are to be committed."""
    shell = blocks("sh")
    expect("blocks in the manual", len(shell), 2)
    w = box.work
    expect("the owner is a variable", "owner=OWNER" in shell[0], True)
    script = shell[0].replace("owner=OWNER", "owner=acme").replace("/tmp/tracegate", folder + "/tracegate")
    tools = os.path.join(folder, "tools")
    os.makedirs(tools)
    os.symlink(PROGRAM, tools + "/tracegate")
    env = dict(environ, **box.env)
    env["PATH"] = tools + ":" + environ["PATH"]
    for name, text in (("step 1", script), ("step 2", shell[1])):
        run = subprocess.run(["bash", "-e", "-c", text], cwd=w, env=env, capture_output=True, text=True)
        expect(f"the commands of {name} {run.stdout} {run.stderr}", run.returncode, 0)
    expect("bench.py", sorted(os.listdir(w + "/out")) if os.path.isdir(w + "/out") else [], [f"run{k}.json.gz" for k in range(5)])
    expect("out/ is ignored", "out/" in box.git(w, "status", "--porcelain", "-uall"), False)
    expect("the workflows", sorted(os.listdir(w + "/.github/workflows")), ["tracegate.yml"])


class User:
    def __init__(self, folder, mock, environ, python):
        self.box = Box(folder)
        self.sha = published(folder, self.box)
        self.forge = Forge(self.box, mock, f"acme/tracegate@{self.sha}", **environ)
        self.forge.python = python
        self.environ = dict(os.environ, **self.forge.environ)

    def event(self, name, event, ref, sha):
        """All workflows that the commit holds, as GitHub would start them."""
        jobs = {}
        self.box.git(self.box.work, "checkout", "-q", "--detach", sha)
        folder = os.path.join(self.box.work, ".github/workflows")
        for workflow in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            jobs.update(self.forge.run(load(os.path.join(folder, workflow)), name, event, ref, sha))
        return jobs

    def pull(self, number, sha):
        event = {"action": "opened", "number": number, "pull_request": {
            "number": number, "base": {"ref": "main"}, "head": {"repo": {"full_name": "o/r"}}}}
        return self.event("pull_request", event, f"refs/pull/{number}/merge", sha)

    def merge(self, sha):
        self.box.push(sha, "main")
        return self.event("push", {"ref": "refs/heads/main", "before": "0" * 40}, "refs/heads/main", sha)


def walk(folder, mock, environ, python, exact):
    u = User(folder, mock, environ, python)
    box, bodies = u.box, lambda: [c["body"] for c in mock.comments]
    start = box.commit("a PyTorch script", {"train.py": TRAIN, "README.md": "x", "requirements.txt": "torch\n"})
    box.push(start, "main")
    box.git(box.work, "checkout", "-q", "-b", "setup")
    follow(folder, box, u.environ)
    shutil.rmtree(box.work + "/out", ignore_errors=True)
    box.git(box.work, "add", "-A")
    jobs = u.pull(1, setup_request(box, start))
    expect("step 3, the pull request", (jobs["gate"].result, "bench.py is not in the base" in jobs["gate"].log), ("success", True))
    told("step 3, the pull request", jobs)
    gated = box.git(box.work, "rev-parse", "HEAD")
    expect("step 3, the push runs nothing", u.merge(gated), {})
    # what the pull request does -> gate, judged by the bench, comments
    for number, files, result, measured, comments in (
            (2, {"README.md": "y"}, "success", True, 0), (3, {"train.py": TIDY}, "success", True, 0),
            (4, {"train.py": SLOWER}, "failure", True, 1), (4, {"train.py": TIDY + "\n"}, "success", True, 1)):
        jobs = u.pull(number, box.pull_request(number, gated, files, f"b{number}"))
        gate, what = jobs["gate"], f"step 3, pull request {number} with {'a clone' if 'clone' in str(files) else sorted(files)}"
        if exact:
            expect(what, (gate.result, len(mock.comments)), (result, comments))
        elif result == "failure" or not measured:
            expect(what, gate.result, result)
        else:  # times of a busy machine may differ; calls may not
            expect(what, "aten::" in "".join(x for x in gate.log.split("\n") if x.startswith("::error")) and "called" in gate.log, False)
        expect(f"{what}: measured", gate.action is not None, measured)
        expect(f"{what}: first run", "first run" in gate.summary.lower(), False)
        told(what, jobs)
        if result == "failure":
            expect("the comment names it", ["`aten::clone`" in b for b in bodies()][-1:], [True])
    if exact:
        expect("back to green", ["PASS" in b.split("\n")[1] for b in bodies()], [True])


def setup_request(box, start):
    """The first pull request: what `follow` left in the work tree."""
    box.git(box.work, "commit", "-q", "-m", "a gate")
    head = box.git(box.work, "rev-parse", "HEAD")
    box.git(box.work, "checkout", "-q", "--detach", start)
    box.git(box.work, "merge", "-q", "--no-ff", "-m", f"Merge {head} into {start}", head)
    merge = box.git(box.work, "rev-parse", "HEAD")
    box.git(box.work, "push", "-q", box.bare, "HEAD:refs/pull/1/merge", f"{head}:refs/pull/1/head")
    return merge


def main():
    real = "--torch" in sys.argv
    python = "/usr/bin/python3" if real else sys.executable
    if real and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        absent("PyTorch")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as modules, github.Mock(None) as mock:
        write_text(os.path.join(modules, "sitecustomize.py" if real else "torch.py"), EXPORTER if real else STAND_IN)
        path = os.path.dirname(python) + ":" + os.environ["PATH"] if real else os.environ["PATH"]
        walk(folder, mock, {"PYTHONPATH": modules, "EXAMPLES": os.path.join(ROOT, "examples"), "PATH": path,
                            "PYTHONDONTWRITEBYTECODE": "1"}, python, not real)
        expect("requests right", mock.wrong, [])
    return finish(f"walk{' with PyTorch' if real else ''}")


sys.exit(main())
