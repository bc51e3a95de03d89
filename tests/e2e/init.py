#!/usr/bin/env python3
"""`tracegate init` in repositories as new users have them: what it finds (told here beforehand, counted from the files),
what it writes, and that the gate it sets up passes the same code and stops a needless copy, end to end by tracegate ab
and by the workflows it wrote.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import github
from box import Box
from support import (ENV, PROGRAM, ROOT, SHARED, TRACES, Clone, Repository, check, expect, expect_end, expect_has, need, read_json,
                     read_text, run_parts, tracegate, write_json, write_text)
from plain_model import launched
from workflow import BENCH, Forge, load, told

yaml = need("yaml", "python3-yaml")
AB = os.path.join(ROOT, "scripts/ab")
GATE = ".github/workflows/tracegate.yml"
PLACE = "acme/tracegate@" + "1" * 40


def repository(folder, files=()):
    r = Repository(folder)
    for name, text in dict(files).items():
        r.write(name, text)
    return r


def copy(r, pattern, names):
    """The first traces of a variant, under `names`."""
    for k, name in enumerate(names):
        os.makedirs(os.path.dirname(r.path(name)), exist_ok=True)
        shutil.copy(f"{TRACES}/{pattern}/run{k:02}.json.gz", r.path(name))


def edit(source, to, change):
    """A recorded trace with `change` applied to its document."""
    doc = read_json(source)
    change(doc)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    write_json(to, doc)


def policy(r):
    return yaml.safe_load(r.read(".tracegate.yml"))


def init(r, *args, code=0, folder="."):
    run = tracegate("init", *args, cwd=r.path(folder), env=r.env)
    expect(f"init {args} in {os.path.basename(r.dir)}: exit; {run.stdout} {run.stderr}", run.returncode, code)
    return run.stdout


def lint(r, *traces):
    """What init writes has no mistake; where the action's place is not known, the warning says so at its line."""
    run = r.run("policy", "lint", "--strict", *traces)
    left = sum(re.search(r"^[^#\n]*uses: OWNER/tracegate@COMMIT", r.read(f".github/workflows/{name}"), re.M) is not None
               for name in os.listdir(r.path(".github/workflows"))) if os.path.isdir(r.path(".github/workflows")) else 0
    expect(f"lint in {os.path.basename(r.dir)}: {run.stdout}{run.stderr}", (run.returncode, run.stdout.count("TG250")), (2 if left else 0, left))


def files(r):
    return sorted(x for x in r.git("ls-files", "-o", "--exclude-standard").split("\n") if x)


def empty(tmp):
    """Nothing at all: the files are there, each says what to do, a second call changes nothing."""
    r = repository(tmp + "/empty")
    said = init(r)
    expect("empty: files", files(r), [".github/workflows/tracegate.yml", ".gitignore", ".tracegate.yml", "bench.py"])
    expect("empty: nowhere to push to", "push" in said, False)
    expect_has("empty: told", said, "none here yet", "no remote", "not yet: there is no trace", "OWNER/tracegate@COMMIT",
               "  1. python3 bench.py\n", "  2. tracegate selftest", "  3. git switch")
    lint(r)
    expect("empty: suites", [s["name"] for s in policy(r)["suites"]], ["main"])
    compile(read_text(r.path("bench.py")), "bench.py", "exec")
    expect("empty: the A/B workflow", load(r.path(GATE))["jobs"]["gate"]["steps"][3]["with"]["mode"], "ab")
    before = {f: r.read(f) for f in files(r)}
    expect_has("again", init(r), "as it is already\n  .tracegate.yml")
    expect("again: nothing changed", {f: r.read(f) for f in files(r)}, before)
    # not a repository
    os.makedirs(tmp + "/bare")
    expect_has("no repository", init(Clone(tmp + "/bare")), "git init")
    expect("no repository: the policy", os.path.exists(tmp + "/bare/.tracegate.yml"), True)


def never_overwrites(tmp):
    mine = "version: 1\nextends: [tracegate:counts-only]\n"
    r = repository(tmp + "/kept", {".tracegate.yml": mine, "bench.py": "print()\n"})
    said = init(r)
    expect("kept: policy", r.read(".tracegate.yml"), mine)
    expect("kept: bench", r.read("bench.py"), "print()\n")
    expect_has("kept: told", said, "kept, not what init would write", "-extends: [tracegate:counts-only]\n",
               '+extends: ["tracegate:recommended"]\n', "in what was kept: take over", "bench.py is yours",
               "git add .tracegate.yml .gitignore .github/workflows/tracegate.yml bench.py &&")
    said = init(r, "--force")
    expect_has("forced: the difference", said, "replaced\n  .tracegate.yml", "-extends: [tracegate:counts-only]\n",
               '+extends: ["tracegate:recommended"]\n')
    expect("forced: policy", policy(r)["extends"], ["tracegate:recommended"])
    expect("forced: their bench stays", r.read("bench.py"), "print()\n")
    expect("an unreadable trace that is named", r.run("init", "bench.py").returncode in (2, 3), True)


def actions(tmp):
    """What GitHub would not take after `uses:` is not written."""
    r = repository(tmp + "/actions")
    for place in ("foo", "foo@abc", "acme/tracegate", "acme/tracegate@", "/tracegate@abc"):
        expect_end(f"--action {place}", r.run("init", "--action", place), 2, err=(f"--action '{place}' is not OWNER/REPO@COMMIT",))
        expect(f"--action {place}: nothing is written", files(r), [])
    init(r, "--action", "./.github/actions/tracegate")


def names_of_folders(tmp):
    """Folders and branches of any name: each file is YAML, says that name, and a shell takes it for one word."""
    names = sorted(["a b: c", "$(touch gone)", "it's", "#x", "-n", "true", "${{ github.token }}", "2024", 'q"\\', "\x1b[31m", "é"])
    for branch in ('fe"at#{x}+', "true", "2024"):
        r = Repository(f"{tmp}/{branch.encode().hex()}")
        r.git("checkout", "-q", "--orphan", branch)
        r.git("commit", "-q", "--allow-empty", "-m", "x")
        for name in names:
            r.write(f"{name}/requirements.txt", "torch\n")
        init(r, "--store", *[f"./{n}" for n in names])
        check(f"{branch}: controls stay in the file", "\x1b" not in init(r, "--store", *[f"./{n}" for n in names]))
        expect("names: files", [s["trace"]["files"].removeprefix("./") for s in policy(r)["suites"]], [f"{n}/out/run*.json.gz" for n in names])
        record = load(r.path(".github/workflows/tracegate-record.yml"))
        expect("names: branch", [x.replace("\\", "") for x in (record.get("on") or record.get(True))["push"]["branches"]], [branch])
        command = next(s["run"] for s in record["jobs"]["record"]["steps"] if "bench.py" in s.get("run", ""))
        check("names: no expression", "${{ github" not in command)
        seen = subprocess.run(["sh", "-c", command.replace("${{ '${{' }}", "${{").replace("python3 bench.py", "basename \"$PWD\"")], cwd=r.dir,
                              capture_output=True, text=True)
        expect(f"names: folders; {seen.stderr}", seen.stdout.splitlines(), names)
        expect("names: nothing ran", os.path.exists(r.path("gone")), False)
    for link, outside in ((".github", tmp + "/elsewhere"), (".tracegate.yml", tmp + "/elsewhere/file")):
        os.makedirs(tmp + "/elsewhere", exist_ok=True)
        write_text(tmp + "/elsewhere/file", "mine")
        r = repository(f"{tmp}/link-{link}")
        os.symlink(outside, r.path(link))
        run = r.run("init", "--force")
        expect_end(f"a link that leads out: {link}", run, 5, err="leads out of the repository")
        expect(f"a link that leads out: {link}", (os.listdir(tmp + "/elsewhere"), read_text(tmp + "/elsewhere/file")), (["file"], "mine"))


def cpu(tmp):
    """Five recorded runs on a CPU, and train.train_step: selftest runs, the names of the traces are kept."""
    r = repository(tmp + "/cpu", {"train.py": "def train_step(step):\n    pass\n", "requirements.txt": "torch\n"})
    r.git("remote", "add", "origin", "https://me:secret@github.com/acme/train.git")
    copy(r, "base", [f"out/run{k}.json.gz" for k in range(5)])
    said = init(r, "--action", "acme/tracegate@0123456789abcdef0123456789abcdef01234567")
    expect_has("cpu: found", said, "out/run*.json.gz: 5 runs\n", "5 steps (ProfilerStep)", "device      cpu\n",
               "https://github.com/acme/train.git, branch main", "&& git push -u origin HEAD\n", "pass against themselves; of ", " rules 3 fail")
    expect("cpu: no secret", "secret" in said, False)
    expect("cpu: no placeholder", "OWNER" in r.read(GATE) + said, False)
    expect_has("cpu: bench", r.read("bench.py"), "    from train import train_step\n\n    return train_step\n")
    expect_has("cpu: requirements", r.read(GATE), "pip install -r requirements.txt")
    lint(r, "out/run0.json.gz")
    expect("cpu: required", policy(r)["require"], {"steps": 3, "ops": ["aten::mm", "aten::linear"]})
    copy(r, "extra_copy", [f"new/run{k}.json.gz" for k in range(5)])
    for fresh, code in (("out", 0), ("new", 1)):
        expect(f"cpu: check {fresh}", r.run("check", "--runs", fresh, "--baseline", "out").returncode, code)
    # kept runs are a baseline; traces outside the repository say what they hold, not where fresh ones will be
    copy(r, "base", [f"perf/run{k}.json.gz" for k in range(3)])
    init(r, "--force", "out", "perf")
    expect("cpu: kept", policy(r)["suites"],
           [{"name": "main", "trace": {"files": "out/run*.json.gz", "run": r"run(\d+)"}, "baseline": "perf/run*.json.gz"}])
    init(r, "--force", TRACES + "/base/run00.json.gz")
    expect("cpu: outside", policy(r)["suites"], [{"name": "main", "trace": {"files": "out/run*.json.gz", "run": r"run(\d+)"}}])
    # the slower one is not a baseline of itself: what the policy requires is missing
    edit(f"{TRACES}/base/run00.json.gz", r.path("less/run0.json.gz"), lambda d: d["traceEvents"].__setitem__(
        slice(None), [e for e in d["traceEvents"] if e.get("name") != "aten::mm"]))
    expect("cpu: without a required operator", r.run("check", "less/run0.json.gz", "--baseline", "out/run0.json.gz").returncode in (1, 4), True)


def unmarked(tmp):
    """A CPU program without steps: the bench that init writes marks them, so nothing that the traces have for steps is asked for."""
    def change(doc):
        for e in doc["traceEvents"]:
            if e.get("name", "").startswith("ProfilerStep#"):
                e["name"] = "my_step"
    r = repository(tmp + "/unmarked")
    for k in range(5):
        edit(f"{TRACES}/base/run{k:02}.json.gz", r.path(f"out/ns_{k}.json.gz"), change)
    expect_has("unmarked: told", init(r), "no ProfilerStep; bench.py writes it", "not yet: the policy is for the steps of bench.py")
    p = policy(r)
    expect("unmarked: nothing of these traces", (p["suites"], p["require"]),
           ([{"name": "main", "trace": {"files": "out/run*.json.gz", "run": r"run(\d+)"}}], {"steps": 3}))
    expect_has("unmarked: again", init(r), "as it is already\n  .tracegate.yml\n", "git add .tracegate.yml .github/workflows/tracegate.yml bench.py")
    copy(r, "base", [f"out/run{k}.json.gz" for k in range(5)])  # as bench.py writes them
    expect("unmarked: with what the bench writes", r.run("selftest", *[f"out/run{k}.json.gz" for k in range(5)]).returncode, 0)
    # a bench of their own writes what is there
    r.write("bench.py", "# --trace\n")
    for k in range(5):
        os.remove(r.path(f"out/run{k}.json.gz"))
    init(r, "--force")
    expect("unmarked: their bench", policy(r)["suites"][0]["window"], {"by": "annotation", "name": "my_step", "skip_first": 1})


def server(tmp):
    """A GPU server: no steps, a numbered annotation that covers the time, mangled kernels. Counted: 5 annotations a trace."""
    def change(doc):
        extra = []
        for e in doc["traceEvents"]:
            if e.get("name", "").startswith("ProfilerStep#"):
                n = e["name"][13:]
                e["name"], e["cat"] = f"execute_{n}_context_0(0)_generation_8(8)", "user_annotation"
                for k in range(3):
                    start = e["ts"] + 10 * k
                    call, kernel = launched(f"void ns::k{k}<float, (int)4>(float*)", start, start + 4, 5, 1000 * int(n) + k)
                    extra += [dict(call, pid=e["pid"], tid=e["tid"]), kernel]
        doc["traceEvents"] += extra
        doc["deviceProperties"] = [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]
    r = repository(tmp + "/server")
    for k in range(4):
        edit(f"{TRACES}/base/run{k:02}.json.gz", r.path(f"profiles/host_471{k}.169999{k}.pt.trace.json.gz"), change)
    said = init(r)
    expect_has("server: found", said, "profiles/host_*.*.pt.trace.json.gz: 4 runs\n", 'the annotation "execute_*" serves as step (5,',
               "NVIDIA H100 80GB HBM3", "pass against themselves")
    p = policy(r)
    expect("server: window", p["suites"][0]["window"], {"by": "annotation", "name": "execute_*", "skip_first": 1})
    expect("server: nothing volatile", "void" in json.dumps(p) or "k0" in json.dumps(p), False)
    expect_has("server: what to do", said, "in bench.py: your model, prompts and server in answer()")
    expect_has("server: a runner with a GPU", r.read(GATE), "runs-on: [self-hosted, linux, x64, gpu]")
    expect_has("server: bench", r.read("bench.py"), "start_profile")
    lint(r)
    # with a bench of their own, the policy finds the traces by their own names
    r.write("bench.py", "# --trace\n")
    init(r, "--force")
    spec = policy(r)["suites"][0]["trace"]
    expect("server: own names", spec["files"], "profiles/host_*.*.pt.trace.json.gz")
    os.makedirs(r.path("kept"))
    shutil.move(r.path("profiles/host_4710.1699990.pt.trace.json.gz"), r.path("kept"))
    run = r.run("check", "--baseline", "kept")
    expect(f"server: check by them; {run.stdout} {run.stderr}", run.returncode, 0)


def corpus(tmp):
    """Traces of many programs and devices: the policy passes on them and sees what is injected. The bench is theirs: the policy
    is for traces like these."""
    for folder in sorted(set(map(os.path.dirname, glob.glob(f"{SHARED}/corpus/traces/*/*/*.json.gz")))):
        name = os.path.basename(folder)
        # an execution trace; one without an event in its step, by which no policy can fail
        code = {"not_a_trace_et": 3, "cpu_only": 1}.get(name, 0)
        out = init(repository(f"{tmp}/corpus/{name}", {"bench.py": "# --trace\n"}), *sorted(glob.glob(f"{folder}/*.gz")), code=code)
        expect(f"{name}: {out}", "pass against themselves" in out, not code)


def ranks(tmp):
    """Eight ranks, two runs; the rank is in the trace and in the name."""
    r = repository(tmp + "/ranks")
    for run in range(2):
        for rank in range(8):
            edit(f"{TRACES}/base/run{run:02}.json.gz", r.path(f"out/rank{rank}-run{run}.json.gz"), lambda d, k=rank: d.update(
                distributedInfo={"rank": k, "world_size": 8, "backend": "nccl"},
                traceEvents=[dict(e, ts=e["ts"] + k) if "ts" in e else e for e in d["traceEvents"]]))
    said = init(r)
    expect_has("ranks: found", said, "out/rank*-run*.json.gz: 2 runs of 8 ranks", "durations need three runs a side")
    suite = policy(r)["suites"][0]
    expect("ranks: expected", suite["ranks"], {"expect": 8})
    expect("ranks: bench.py's names", suite["trace"], {"files": "out/run*.json.gz", "run": r"run(\d+)", "rank": r"rank(\d+)"})
    expect_has("ranks: the bench starts eight", r.read("bench.py"), "RUNS, RANKS = 5, 8")
    lint(r)
    # tracegate ab with a bench that writes a file a rank
    r.write("bench.py", "import os, shutil, sys\nend = sys.argv[2].removesuffix('.json.gz')\nk = int(end[-2:]) % 2\n"
            f"[shutil.copy(f'{r.dir}/out/rank{{n}}-run{{k}}.json.gz', f'{{end}}-rank{{n}}.json.gz') for n in range(8)]\n")
    r.commit("gate")
    r.commit()
    run = subprocess.run([AB, "--base", "HEAD^", "--once", "2", "--json", "r.json", "--", sys.executable, "bench.py", "--trace", "{trace}"],
                         cwd=r.dir, env=dict(r.env, TRACEGATE=PROGRAM), capture_output=True, text=True)
    expect(f"ranks: A/B; {run.stdout} {run.stderr}", run.returncode, 0)
    compared = read_json(r.path("r.json"))["environment"]
    expect("ranks: both sides have two runs of eight", (compared["runs"], compared["ranks"]), ([2, 2], [8, 8]))


def hosted(tmp, name, files):
    """A forge's repository with its first commit, and the working tree of it: (box, clone)."""
    os.makedirs(f"{tmp}/{name}")
    box = Box(f"{tmp}/{name}")
    box.push(box.commit("start", files), "main")
    r = Clone(box.work)
    r.env = dict(ENV, **box.env)
    return box, r


def workflows(tmp, mock):
    """What init wrote runs as it stands: the pull request that brings the gate, an equal one, a needless copy."""
    box, r = hosted(tmp, "hosted", {"variant": "base 0\n", "requirements.txt": "", "README.md": "x"})
    start = r.git("rev-parse", "HEAD")
    r.write("bench.py", BENCH)
    init(r, "--action", PLACE)
    written = {n: r.read(n) for n in (".tracegate.yml", "bench.py", ".gitignore", GATE)}
    f = Forge(box, mock, PLACE)
    sha = box.pull_request(1, start, written, "gate")
    jobs = f.pull(load(r.path(GATE)), 1, sha)
    expect("hosted: the gate itself", {n: j.result for n, j in jobs.items()}, {"gate": "success"})
    expect_has("hosted: bench.py comes from HEAD", jobs["gate"].log, "bench.py is not in the base")
    told("hosted", jobs)
    box.git(box.work, "checkout", "-q", "-B", "main2", start)
    landed = box.commit("gate", written)
    box.push(landed, "main")
    doc = load(r.path(GATE))
    for number, change, result, verdict in ((2, {"README.md": "y", "variant": "base 5\n"}, "success", "pass"),
                                            (3, {"variant": "extra_copy 0\n"}, "failure", "fail")):
        jobs = f.pull(doc, number, box.pull_request(number, landed, change, f"b{number}"))
        expect(f"hosted {number}", (jobs["gate"].result, jobs["gate"].action.result["verdict"]), (result, verdict))
        told(f"hosted {number}", jobs)


def monorepo(tmp, mock):
    """Two programs; traces in train/out and serve/out."""
    start = {"shared/lib.py": "x", ".gitignore": "out/\n"}
    for s in ("train", "serve"):
        start.update({f"{s}/bench.py": BENCH, f"{s}/variant": "base 0\n", f"{s}/requirements.txt": ""})
    box, r = hosted(tmp, "mono", start)
    for s in ("train", "serve"):
        copy(r, "base", [f"{s}/out/run{k}.json.gz" for k in range(3)])
    said = init(r, "--action", PLACE)
    expect_has("mono: found", said, "serve/out/run*.json.gz: 3 runs (suite serve)", "train/out/run*.json.gz: 3 runs (suite train)")
    expect("mono: suites", [(s["name"], s["trace"]["files"]) for s in policy(r)["suites"]],
           [("serve", "serve/out/run*.json.gz"), ("train", "train/out/run*.json.gz")])
    lint(r)
    base = box.commit("gate", {n: r.read(n) for n in (".tracegate.yml", GATE)})
    box.push(base, "main")
    f, doc = Forge(box, mock, PLACE), load(r.path(GATE))
    for number, change, train, serve in ((7, {"train/variant": "extra_copy 0\n"}, "failure", "success"),
                                         (8, {"shared/lib.py": "y"}, "success", "success")):
        jobs = f.pull(doc, number, box.pull_request(number, base, change, f"b{number}"))
        expect(f"mono {number}", {n: j.result for n, j in jobs.items()}, {"gate (train)": train, "gate (serve)": serve})
        told(f"mono {number}", jobs)
    # two programs that have recorded nothing yet: in the order that recorded ones have
    two = repository(tmp + "/two", {"train/train.py": "def train_step(k):\n    pass\n", "serve/serve.py": "x\n"})
    said = init(two, "train", "serve/")
    expect_has("two folders: told", said, "none in train yet", "none in serve yet", "serve/bench.py: your own step",
               "  1. (cd serve && python3 bench.py) && (cd train && python3 bench.py)\n",
               "  2. tracegate selftest --suite serve serve/out/run*.json.gz && tracegate selftest --suite train train/out/run*.json.gz\n")
    expect("two folders: suites", [(s["name"], s["trace"]["files"]) for s in policy(two)["suites"]],
           [("serve", "serve/out/run*.json.gz"), ("train", "train/out/run*.json.gz")])
    expect("two folders: benches", [os.path.exists(two.path(f"{s}/bench.py")) for s in ("train", "serve")], [True, True])
    expect("two folders: matrix", load(two.path(GATE))["jobs"]["gate"]["strategy"]["matrix"]["include"],
           [{"suite": "serve", "folder": "serve"}, {"suite": "train", "folder": "train"}])
    lint(two)
    expect_has("two folders: no requirements", two.read(GATE), "pip install torch # and what the suites need")
    two.write("requirements.txt", "torch\n")
    init(two, "--force", "train", "serve", "--nightly")
    for name in (GATE, ".github/workflows/tracegate-nightly.yml"):
        expect_has(f"two folders: those of the root, {name}", two.read(name), "pip install -r requirements.txt\n")
    # from a folder without traces: a suite of its own name
    one = repository(tmp + "/one", {"models/lm/train.py": "def train_step(k):\n    pass\n"})
    init(one, folder="models/lm")
    expect("one folder: suite", policy(one)["suites"], [{"name": "lm", "trace": {"files": "models/lm/out/run*.json.gz", "run": r"run(\d+)"}}])
    expect("one folder: its bench", os.path.exists(one.path("models/lm/bench.py")), True)


def stored(tmp, mock):
    """--store --nightly: pull requests against what pushes recorded; a night."""
    box, r = hosted(tmp, "stored", {"bench.py": BENCH, "variant": "base 0\n", "requirements.txt": ""})
    init(r, "--store", "--nightly", "--action", PLACE)
    names = ["tracegate.yml", "tracegate-record.yml", "tracegate-nightly.yml"]
    expect("stored: files", sorted(os.listdir(r.path(".github/workflows"))), sorted(names))
    docs = {n: load(r.path(".github/workflows/" + n)) for n in names}
    expect("stored: own machines", docs["tracegate.yml"]["jobs"]["gate"]["runs-on"], ["self-hosted", "linux", "x64"])
    lint(r)
    base = box.commit("gate", {n: r.read(n) for n in
                               [".tracegate.yml", ".gitignore"] + [".github/workflows/" + n for n in names]})
    box.push(base, "main")
    f = Forge(box, mock, PLACE)
    jobs = f.push(docs["tracegate-record.yml"], base)
    expect("stored: recorded", {n: j.result for n, j in jobs.items()}, {"record": "success"})
    told("stored", jobs)
    for number, change, result in ((7, {"variant": "base 10\n"}, "success"), (8, {"variant": "extra_copy 0\n"}, "failure")):
        jobs = f.pull(docs["tracegate.yml"], number, box.pull_request(number, base, change, f"b{number}"))
        expect(f"stored {number}", jobs["gate"].result, result)
        told(f"stored {number}", jobs)
    jobs = f.night(docs["tracegate-nightly.yml"], base)
    expect("stored: the first night", {n: j.result for n, j in jobs.items()}, {"gate": "success"})
    told("stored: the first night", jobs)


def nightly_beside_a_gate(tmp, mock):
    """A gate that is there already, then --nightly: its place is taken over, the lines shown apply as they stand,
    and nights lead to an event that a clone reads."""
    box, r = hosted(tmp, "beside", {"bench.py": BENCH, "variant": "base 0\n", "requirements.txt": ""})
    expect_has("beside: a new branch", init(r, "--action", PLACE), "git switch -c performance-gate &&")
    box.commit("gate", {})
    box.git(box.work, "branch", "performance-gate")
    said = init(r, "--nightly")
    expect("beside: the place is that of the gate", ("OWNER" in said, "-        uses:" in said), (False, False))
    expect_has("beside: another branch", said, "git switch -c performance-gate-2 &&")
    r.write("lines", said[said.index("\n--- "):said.index("\nselftest\n") + 1])
    box.git(box.work, "apply", "-p0", "lines")
    os.remove(r.path("lines"))
    expect("beside: taken over", ([s["name"] for s in policy(r)["suites"]], "kept" in init(r, "--nightly")), (["main", "nightly"], False))
    lint(r)
    gated, f = box.commit("nightly", {}), Forge(box, mock, PLACE)
    jobs = f.pull(load(r.path(GATE)), 3, box.pull_request(3, gated, {"variant": "base 5\n"}, "b3"))
    expect("beside: the gate judges its own suite", (jobs["gate"].result, "nightly" in jobs["gate"].summary), ("success", False))
    told("beside", jobs)
    box.git(box.work, "checkout", "-q", "-B", "main", gated)
    doc = load(r.path(".github/workflows/tracegate-nightly.yml"))
    expect("beside: where it comes from", [s["uses"] for s in doc["jobs"]["gate"]["steps"] if "tracegate@" in s.get("uses", "")], [PLACE] * 2)
    # the first night cannot be judged, because the gate had a policy before: it is red, but stored (docs/guides/nightly.md)
    for k, (variant, result) in enumerate((("base 0", "failure"), ("base 5", "success"), ("extra_copy 0", "failure"))):
        sha = box.commit(f"night {k}", {"variant": variant + "\n"})
        box.push(sha, "main")
        jobs = f.night(doc, sha)
        expect(f"beside: night {k}", {n: j.result for n, j in jobs.items()}, {"gate": result})
        told(f"beside: night {k}", jobs)
        expect(f"beside: night {k} lacks a baseline", "nothing is stored for suite" in jobs["gate"].log, k == 0)
        if k == 0:  # a second night without a commit: its only runs are its own
            expect_has("beside: the next hint", jobs["gate"].log, "The first commit? Record it")
            jobs = f.night(doc, sha)
            expect_has("beside: nothing new", jobs["gate"].log, "The only runs are of HEAD itself")
    box.git(tmp, "clone", "-q", "-b", "main", box.bare, tmp + "/clone")
    clone = Clone(tmp + "/clone")
    expect("beside: fetch", clone.run("baseline", "fetch", "--all").returncode, 0)
    night = clone.run("history", "--suite", "nightly", "--format", "json")
    expect(f"beside: the event {night.stderr}", (night.returncode, [e["state"] for e in json.loads(night.stdout)["events"]]), (1, ["open"]))


def services(tmp):
    for name, files_, want, words in (
            ("gitlab", {".gitlab-ci.yml": "x"}, ".gitlab/tracegate.yml", "include: [{local: .gitlab/tracegate.yml}]"),
            ("jenkins", {"Jenkinsfile": "x"}, "", "tracegate ab --base origin/main"),
            ("buildkite", {".buildkite/pipeline.yml": "x"}, ".buildkite/tracegate.yml", "buildkite-agent pipeline upload .buildkite/tracegate.yml"),
            ("slurm", {"train.sbatch": "x"}, "tracegate.sbatch", "sbatch --wait tracegate.sbatch"),
            ("asked", {}, "tracegate.sbatch", "service     Slurm\n"),
            ("asked too", {".github/x": "x"}, ".gitlab/tracegate.yml", "service     GitLab CI\n")):
        r = repository(f"{tmp}/{name}", files_)
        asked = {"asked": ["--service", "slurm"], "asked too": ["--service", "gitlab"]}.get(name, [])
        expect_has(name, init(r, *asked), words)
        expect(f"{name}: its file", want == "" or os.path.exists(r.path(want)), True)
        expect_has(f"{name}: again", init(r), words, "as it is already\n  .tracegate.yml\n")
        expect(f"{name}: no workflow of GitHub", os.path.exists(r.path(GATE)), False)


def jobs(tmp):
    """The jobs for Buildkite and Slurm as init wrote them, each on a change that copies needlessly and on one that does not."""
    tools = tmp + "/tools"
    os.makedirs(tools)
    for name, target in (("tracegate", PROGRAM), ("python3", sys.executable)):
        os.symlink(target, f"{tools}/{name}")
    for service, variant, code in (("buildkite", "extra_copy 0", 1), ("buildkite", "base 5", 0), ("slurm", "extra_copy 0", 1),
                                   ("slurm", "base 5", 0)):
        what = f"{service}-{variant[:5].strip()}"
        box, r = hosted(tmp, what, {"variant": "base 0\n", "bench.py": BENCH, ".gitignore": "out/\n"})
        r.git("remote", "add", "origin", box.bare)
        r.git("fetch", "-q", "origin")
        init(r, "--service", service)
        r.write("variant", variant + "\n")
        r.git("checkout", "-q", "-b", "change")
        r.commit("change")
        if service == "slurm":
            command = ["bash", "tracegate.sbatch"]
        else:  # Buildkite replaces $X itself, and $$ by $
            step, = yaml.safe_load(r.read(".buildkite/tracegate.yml"))["steps"]
            expect("buildkite: no bare $", re.findall(r"(?<!\$)\$(?!\$)", step["command"]), [])
            expect("buildkite: inconclusive", step["soft_fail"], [{"exit_status": 4}])
            command = ["bash", "-e", "-c", step["command"].replace("$$", "$")]
        env = dict(r.env, PATH=f"{tools}:{os.environ['PATH']}", TRACES=TRACES, BUILDKITE_PULL_REQUEST_BASE_BRANCH="main", SLURM_SUBMIT_DIR=r.dir)
        run = subprocess.run(command, cwd=r.dir, env=env, capture_output=True, text=True)
        expect(f"{what}: {run.stdout[-500:]} {run.stderr[-500:]}", run.returncode, code)
        check(f"{what}: reports", all(os.path.exists(r.path(f)) for f in ("gate.xml", "gate.md")))
    # a service without a template for nights is told the commands: nothing to compare with, the same code, a copy; each is recorded
    box, r = hosted(tmp, "nights", {"variant": "base 0\n", "bench.py": BENCH, ".gitignore": "out/\n"})
    r.git("remote", "add", "origin", box.bare)
    night = re.search(r"in a job of every night: (.*)", init(r, "--service", "slurm", "--nightly"))[1]
    expect_has("tests", init(repository(tmp + "/tests", {}), "--for", "pytest", "--service", "gitlab"),
               "pytest --tracegate=check --junitxml=gate.xml")
    for variant, code in (("base 0", 0), ("base 5", 0), ("extra_copy 0", 1)):
        r.write("variant", variant + "\n")
        r.commit(variant)
        run = subprocess.run(["bash", "-c", night], cwd=r.dir, env=dict(r.env, PATH=f"{tools}:{os.environ['PATH']}", TRACES=TRACES),
                             capture_output=True, text=True)
        expect(f"night {variant}: {run.stdout[-500:]} {run.stderr[-500:]}", run.returncode, code)
    expect("nights: recorded at origin",
           len({n.split("/")[4] for n in r.git("-C", box.bare, "for-each-ref", "--format=%(refname)", "refs/tracegate/v1").split()}), 3)


# What writes the traces of each framework, as it names and marks them: two ranks of SGLang and vLLM, RANKS of the launched ones.
STAND_INS = {
    "vllm/__init__.py": """import os, written
class LLM:
    def __init__(self, model, seed, tensor_parallel_size, profiler_config):
        assert profiler_config["profiler"] == "torch" and os.path.isabs(profiler_config["torch_profiler_dir"])
        self.ranks, self.folder, self.warm, self.on = tensor_parallel_size, profiler_config["torch_profiler_dir"], False, False
    def generate(self, prompts, sampling):
        self.warm = True
    def start_profile(self):
        assert self.warm
    def stop_profile(self):
        written.ranks(self.ranks, self.folder + "/host_rank{}.17.pt.trace.json.gz", "execute_%d_context_0(0)_generation_8(8)")
def SamplingParams(**_):
    pass
""",
    "sglang/__init__.py": """import os, written
class Engine:
    def __init__(self, model_path, random_seed, tp_size):
        self.ranks = tp_size
    def generate(self, prompts, sampling):
        pass
    def start_profile(self):
        assert os.environ["SGLANG_PROFILE_WITH_STACK"] == "false"
    def stop_profile(self):
        written.ranks(self.ranks, os.environ["SGLANG_TORCH_PROFILER_DIR"] + "/1789.25-TP-{}.trace.json.gz", "step[DECODE bs=%d]")
    def shutdown(self):
        pass
""",
    "torch/__init__.py": "", "torch/distributed/__init__.py": "",
    "torch/distributed/run.py": """import sys, written
args = sys.argv[1:]
value = lambda name: args[args.index(name) + 1]
ranks = int(args[1].partition("=")[2])
if args[2:4] == ["-m", "torchtitan.train"]:
    assert "--profiling.enable_profiling" in args
    steps = int(value("--profiling.profiler_active"))
    assert int(value("--training.steps")) == int(value("--profiling.profile_freq")) == 5 + int(value("--profiling.profiler_warmup")) + steps
    written.ranks(ranks, value("--job.dump_folder") + "/profile_traces/iteration_18/rank{}_trace.json", "ProfilerStep#%d", steps)
else:
    assert args[2] == "pretrain_gpt.py" and "--use-pytorch-profiler" in args
    first = args.index("--profile-ranks") + 1
    ranks = next(k for k, x in enumerate(args[first:]) if x.startswith("--"))
    steps = int(value("--profile-step-end")) - int(value("--profile-step-start"))
    assert int(value("--train-iters")) > int(value("--profile-step-end"))
    written.ranks(ranks, value("--tensorboard-dir") + "/../torch_profile/rank-{}.json.gz", "ProfilerStep#%d", steps)
""",
    "written.py": """import gzip, json, os, sys
from plain_model import trace, usual
def ranks(n, path, marker, steps=10):
    for r in range(n):
        place = os.path.normpath(path.format(r))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        doc = trace([usual()] * steps, seed=int.from_bytes(os.urandom(3), "big"), rank=r if n > 1 else None, world=n, marker=marker)
        with (gzip.open if place.endswith(".gz") else open)(place, "wt") as file:
            json.dump(doc, file)
"""}


def programs(tmp):
    """--for: the bench runs the framework's own command, its files get the names of the policy, and the steps are those that
    the policy asks for. Ten steps a run; of a server the first is skipped."""
    for name, text in STAND_INS.items():
        os.makedirs(os.path.dirname(f"{tmp}/modules/{name}"), exist_ok=True)
        write_text(f"{tmp}/modules/{name}", text)
    env = dict(ENV, PYTHONPATH=f"{tmp}/modules:{ROOT}/tests/data", PYTHONDONTWRITEBYTECODE="1")
    server = {"by": "annotation", "skip_first": 1}
    for name, ranks_, window, told in (("vllm", 1, {**server, "name": "execute_*"}, "answer()"),
                                       ("sglang", 2, {**server, "name": "step[*"}, "answer()"),
                                       ("torchtitan", 8, None, "command()"), ("megatron", 3, None, "command()")):
        r = repository(f"{tmp}/{name}", {"run.sh": f"torchrun --nproc_per_node={ranks_} x.py\n"} if ranks_ in (2, 3) else {})
        expect_has(f"{name}: told", init(r, "--for", name), told, *([f"ranks       {ranks_}, which is RANKS"] if ranks_ > 1 else []))
        suite = policy(r)["suites"][0]
        expect(f"{name}: window", suite.get("window"), window)
        expect(f"{name}: ranks", (suite.get("ranks", {}).get("expect", 1), f"RUNS, RANKS = 5, {ranks_}\n" in r.read("bench.py")), (ranks_, True))
        expect_has(f"{name}: machine", r.read(GATE), "[self-hosted, linux, x64, gpu]")
        check(f"{name}: one framework in the bench",
              sum(x in r.read("bench.py") for x in ("import vllm", "from vllm", "import sglang", "torchtitan", "pretrain_gpt")) == 1)
        lint(r)
        r.write("bench.py", r.read("bench.py").replace("RUNS, RANKS = 5", "RUNS, RANKS = 3"))
        for args in ((), ("--trace", "ab/run0.json.gz")):
            run = subprocess.run([sys.executable, "bench.py", *args], cwd=r.dir, env=env, capture_output=True, text=True)
            expect(f"{name}: bench {args}: {run.stderr[-800:]}", run.returncode, 0)
        ends = [f"-rank{k}" for k in range(ranks_)] if ranks_ > 1 else [""]
        expect(f"{name}: files", sorted(os.listdir(r.path("out"))), sorted(f"run{k}{e}.json.gz" for k in range(3) for e in ends))
        expect(f"{name}: one run's files", sorted(os.listdir(r.path("ab"))), sorted(f"run0{e}.json.gz" for e in ends))
        r.commit("gate")
        done = r.run("check", "--baseline", "ab", "--json", "r.json")
        selftest = r.run("selftest", *sorted(glob.glob(r.path("out/*"))))
        expect(f"{name}: selftest; {selftest.stdout[-600:]} {selftest.stderr}", selftest.returncode, 0)
        expect(f"{name}: check; {done.stdout}", done.returncode, 0)
        expect(f"{name}: steps of a run", read_json(r.path("r.json"))["environment"]["steps"], [9 if window else 10] * 2)
    # a rank that wrote nothing is an error, not a smaller job
    r.write("bench.py", r.read("bench.py").replace('"--profile-ranks", *ranks', '"--profile-ranks", *ranks[:-1]'))
    run = subprocess.run([sys.executable, "bench.py"], cwd=r.dir, env=env, capture_output=True, text=True)
    expect_end("megatron: fewer ranks", run, 1, err="3 ranks should have written a trace each, found those of [0, 1]")


def found_programs(tmp):
    """Which framework a repository says, and what is like one and none."""
    for name, files_, program in (
            ("a dependency", {"requirements.txt": "torch\nsglang[all]==0.5\n"}, "SGLang"),
            ("of a project", {"pyproject.toml": 'dependencies = ["torch", "vllm>=0.13"]\n'}, "vLLM"),
            ("in lines", {"pyproject.toml": 'dependencies = [\n  "torch",\n  "megatron-core",\n]\n'}, "Megatron"),
            ("the framework itself", {"torchtitan/train.py": "x"}, "torchtitan"),
            ("a server itself", {"python/sglang/__init__.py": "x", "pyproject.toml": 'name = "vllm"\n'}, "SGLang"),
            ("a folder of them", {"requirements/base.txt": "torch\n", "requirements/gpu.txt": "vllm==0.11\n", "requirements/notes.md": "sglang\n"},
             "vLLM"),
            ("of a setup", {"setup.py": "setup(install_requires=['megatron-core', 'torch'])\n"}, "Megatron"),
            ("of conda", {"environment.yml": "dependencies:\n  - pip:\n    - sglang\n"}, "SGLang"),
            ("another package", {"requirements.txt": "vllm-flash-attn\n# vllm\n"}, ""),
            ("torchrun", {"train.sh": "#!/bin/sh\ntorchrun \\\n  --nproc-per-node 4 train.py\n"}, "torchrun"),
            ("a comment", {"train.sh": "# torchrun x\n"}, ""), ("gated tests", {"tests/test_x.py": "def test_x(tracegate):\n    pass\n"}, "pytest"),
            ("tests", {"tests/test_x.py": "def test_x():\n    pass\n", "pytest.ini": "[pytest]\n"}, "")):
        r = repository(f"{tmp}/{name}".replace(" ", "-"), files_)
        said = init(r)
        expect(f"found: {name}", re.findall(r"^  program     (.*)$", said, re.M), [program] if program else [])
        if name == "torchrun":
            expect("found: processes", policy(r)["suites"][0]["ranks"], {"expect": 4})
        if program == "pytest":
            expect("pytest: files", files(r), [GATE, "tests/test_x.py"])
            expect_has("pytest: told", said, "python3 -m pytest --tracegate=record", "then, in each change: python3 -m pytest --tracegate=check")
            expect_has("pytest: workflow", r.read(GATE), "pytest --tracegate=check --junitxml=gate.xml")
    r = repository(tmp + "/new-tests", {"requirements.txt": "vllm\n"})
    init(r, "--for", "pytest")
    expect("--for has precedence", files(r), [GATE, "requirements.txt", "tests/test_performance.py"])
    compile(r.read("tests/test_performance.py"), "test_performance.py", "exec")
    expect("no such program", r.run("init", "--for", "jax").returncode, 2)


run_parts(empty, never_overwrites, actions, names_of_folders, cpu, unmarked, server, corpus, ranks, services, jobs, programs, found_programs,
          *map(github.with_mock, (workflows, monorepo, stored, nightly_beside_a_gate)))
