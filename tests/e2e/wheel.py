#!/usr/bin/env python3
"""The wheel torch-tracegate, installed without network into an empty virtual environment: the program in it, the module, what it
refuses. The program is the one of this build; scripts/release-test looks at the wheels of a release.

PyTorch is a stand-in (tests/data/torch_stub), and Debian's own where python3-torch is installed.
"""
import json
import os
import re
import shutil
import subprocess

from support import PROGRAM, ROOT, TRACES, check, expect, expect_end, expect_has, read_bytes, read_json, run_parts, skip, tracegate, write_text
from installed import CLEAN, STUB, command, environment, install, prepared, python, wheel
from plain_model import Work, usual, write_run


def said(what, done, text):
    expect(f"{what}: {done.stderr}", (done.returncode, done.stdout.strip()), (0, text))


def installed(tmp):
    """The program runs as it does elsewhere, whichever way pip put it; nothing is left when it goes."""
    file, = wheel(tmp + "/dist", PROGRAM, "--local")
    bin_ = environment(tmp + "/venv")
    before = set(os.listdir(bin_))
    install(bin_, file)
    expect("new commands", set(os.listdir(bin_)) - before, {"tracegate", "tracegate-ab"})
    expect("--version", command(bin_ + "tracegate", "--version").stdout, tracegate("--version").stdout)
    args = ("check", *(f"{TRACES}/extra_copy/run0{k}.json.gz" for k in range(3)), "--runs", "--baseline", f"{TRACES}/base")
    here, there = tracegate(*args, cwd=tmp), command(bin_ + "tracegate", *args, cwd=tmp)
    expect("the same report", (there.returncode, there.stdout), (1, here.stdout))
    expect_end("tracegate-ab", command(bin_ + "tracegate-ab", "--help"), 0, "--base REV")
    where = "import tracegate; print(tracegate.program())"
    said("the program that is called", python(bin_, where, tmp), bin_ + "tracegate")
    said("not the one on PATH", command(bin_ + "python", "-c", where, cwd=tmp, env=dict(CLEAN, PATH=os.path.dirname(PROGRAM) + ":" + CLEAN["PATH"])),
         bin_ + "tracegate")
    said("the one that the environment names", python(bin_, where, tmp, TRACEGATE_PROGRAM=PROGRAM), PROGRAM)
    expect_end("TRACEGATE_PROGRAM that is none", python(bin_, where, tmp, TRACEGATE_PROGRAM=file), 1, err="which is not a program")
    said("without torch and pandas", python(bin_, "import sys, tracegate; print(sorted({'torch', 'pandas'} & set(sys.modules)))", tmp), "[]")
    install(bin_, "--target", tmp + "/target", file)
    command(bin_ + "pip", "uninstall", "-y", "torch-tracegate")
    expect("uninstalled", set(os.listdir(bin_)), before)
    said("pip --target", python(bin_, where, tmp, tmp + "/target"), tmp + "/target/bin/tracegate")
    os.unlink(tmp + "/target/bin/tracegate")
    expect_end("no program", python(bin_, where, tmp, tmp + "/target", PATH="/nowhere"), 1, err="install the wheel torch-tracegate")
    if shutil.which("uv"):
        done = command("uv", "tool", "run", "--offline", "--no-index", "--from", file, "tracegate", "--version",
                       env=dict(CLEAN, UV_CACHE_DIR=tmp + "/uv"))
        expect(f"uvx: {done.stderr}", (done.returncode, done.stdout), (0, tracegate("--version").stdout))


def tags(tmp):
    """A static program's wheel is taken for any Linux, one with a loader for this machine; others are refused in words."""
    write_text(tmp + "/static.c", 'int puts(const char *);\nint main(void) { return puts("static") < 0; }\n')
    built = subprocess.run(["gcc", "-static", "-o", tmp + "/static", tmp + "/static.c"], capture_output=True, text=True, check=False)
    expect(f"gcc -static: {built.stderr}", built.returncode, 0)
    machine = os.uname().machine
    many = f"manylinux2014_{machine}.manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    file, source = wheel(tmp + "/dist", tmp + "/static", "--sdist")
    check("a static program's tags", file.endswith(f"-py3-none-{many}.whl"), file)
    bin_ = environment(tmp + "/venv")
    install(bin_, file)
    expect("it runs", command(bin_ + "tracegate").stdout, "static\n")
    again = wheel(tmp + "/again", tmp + "/static", "--sdist")
    expect("the same bytes", [read_bytes(a) == read_bytes(b) for a, b in zip((file, source), again)], [True, True])
    foreign = file.replace(machine, "riscv64")
    os.rename(file, foreign)
    expect_has("another machine", install(bin_, foreign, code=1), "is not a supported wheel on this platform")
    # where no wheel fits pip takes the source distribution
    expect_has("no wheel here", install(bin_, source, code=1), "Linux, x86-64 and arm64", "macOS, Windows",
               "TRACEGATE_PROGRAM=PATH/tracegate pip install")
    install(bin_, "--force-reinstall", source, env=dict(CLEAN, TRACEGATE_PROGRAM=PROGRAM))
    expect("from source, with one's program", command(bin_ + "tracegate", "--version").stdout, tracegate("--version").stdout)
    with open(tmp + "/static", "r+b") as f:  # e_machine of RISC-V
        f.seek(18)
        f.write(b"\xf3\0")
    done = command(os.path.join(ROOT, "scripts/release-wheel"), tmp + "/static", tmp)
    expect_end("a machine without a wheel", done, 1, err="x86_64 and aarch64 have one")


RECORD = """
import json, os, torch, tracegate
def train():
    torch.mm(1)
    torch.add(1)
with tracegate.record({path!r}, wait=2, warmup=1, active=4{more}) as step:
    {body}
print(step.path, step.done)
"""


def recording(tmp):
    """Which steps are in the trace, under which name, with which flags; and no file but a whole one."""
    bin_ = prepared()

    def record(path="out/run0.json.gz", body="for _ in step: train()", more="", **environ):
        return python(bin_, RECORD.format(path=path, body=body, more=more), tmp, STUB, **environ)

    said("record", record(), "out/run0.json.gz 7")
    doc = read_json(tmp + "/out/run0.json.gz")
    names = [e["name"] for e in doc["traceEvents"]]
    expect("record: the steps after those that wait and warm up", [n for n in names if n.startswith("Profiler")],
           [f"ProfilerStep#{k}" for k in (3, 4, 5, 6)])
    expect("record: calls", (names.count("aten::mm"), names.count("void add_kernel(float*)")), (4, 4))
    expect("record: flags", (doc["record_shapes"], doc["with_stack"], doc["profile_memory"]), (1, 0, 0))
    expect("record: the folder", os.listdir(tmp + "/out"), ["run0.json.gz"])
    said("a loop of one's own", record("own.json.gz", "\n    ".join(["for _ in range(7):", "    train(); step()"])), "own.json.gz 7")
    said("more steps than needed", record("more.json.gz", "\n    ".join(["for _ in range(9):", "    train(); step()"])), "more.json.gz 9")
    expect("more steps: the same trace", [e["name"] for e in read_json(tmp + "/more.json.gz")["traceEvents"]], names)
    said("TRACE_STACKS", record("stacks.json.gz", TRACE_STACKS="1"), "stacks.json.gz 7")
    expect("TRACE_STACKS: flag", read_json(tmp + "/stacks.json.gz")["with_stack"], 1)
    said("with_stack has precedence", record("none.json.gz", more=", with_stack=False", TRACE_STACKS="1"), "none.json.gz 7")
    expect("with_stack: flag", read_json(tmp + "/none.json.gz")["with_stack"], 0)
    for environ in ({"RANK": "3", "WORLD_SIZE": "8"}, {"SLURM_PROCID": "3", "SLURM_NTASKS": "8"},
                    {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8"}):
        said(f"{environ}", record("r.json.gz", **environ), "r-rank3.json.gz 7")
    said("a job of one rank", record("r.json.gz", RANK="0", WORLD_SIZE="1"), "r.json.gz 7")
    # nothing but whole recordings
    os.makedirs(tmp + "/empty")
    for what, err, environ, arguments in (
            ("too few steps", "made 6 of 7 steps", {}, {"body": "for _ in range(6): train(); step()"}),
            ("an error in the last step", "ZeroDivisionError", {},
             {"body": "\n    ".join(["for k in range(7):", "    train(); 1 / (6 - k); step()"])}),
            ("a full disk", "disk full", {"SPOILT_DISK": "1"}, {}),
            ("no Kineto", "examples/kineto_layout.py", {"NO_KINETO": "1"}, {}),
            ("another form", "PyTorch writes no other form", {}, {"path": "empty/run0.json.zst"}),
            ("no active step", "at least one step has to be active", {}, {"more": ", **{}"})):
        if what == "no active step":
            done = python(bin_, RECORD.format(path="empty/run0.json.gz", more="", body="pass").replace("active=4", "active=0"), tmp, STUB)
        else:
            done = record(**{"path": "empty/run0.json.gz", **arguments}, **environ)
        expect_end(what, done, 1, err=err)
        expect(f"{what}: no file", os.listdir(tmp + "/empty"), [])
    expect_end("no PyTorch", python(bin_, RECORD.format(path="x.json.gz", more="", body="pass").replace("torch, ", ""), tmp), 1,
               err="tracegate.record needs PyTorch")


def tables(tmp):
    """The tables are the program's: each number of its CSV, found again by name."""
    step = usual()
    write_run(tmp + "/base/run0.json", [step] * 4, seed=1)
    write_run(tmp + "/fresh/run0.json", [step + [Work("aten::clone", "kernel", "void clone(float*)", 5)]] * 4, seed=2)
    done = python(prepared(), "import tracegate; tracegate.operators('base/run0.json')", tmp)
    expect_end("without pandas", done, 1, err="pandas is not installed: pip install pandas")
    bin_ = prepared("--system-site-packages")
    if python(bin_, "import pandas", tmp).returncode:
        skip("python3-pandas is missing")
    done = python(bin_, "import tracegate\nprint(tracegate.operators('fresh/run0.json').to_json(orient='records'))\n"
                        "print(tracegate.compare('base', 'fresh').to_json(orient='records'))", tmp)
    expect(f"tables: {done.stderr}", done.returncode, 0)
    operators, compared = (json.loads(x) for x in done.stdout.splitlines())
    rows = tracegate("analyze", "fresh/run0.json", "--format", "csv", cwd=tmp).stdout.splitlines()[1:]
    same = {r["name"]: [r["calls"], r["total_us"]] for r in operators}
    expect("operators: rows", len(operators), len(rows))
    for name, calls, total in (re.match(r'"?[a-z_]+,"?(.*?)"?,.*,(\d+),([\d.]+),[\d.]+,[\d.]+$', x).groups() for x in rows):
        expect(f"operators: {name}", [same[name][0], round(same[name][1], 6)], [int(calls), round(float(total), 6)])
    expect("compare: what came",
           [(r["name"], r["kind"], r["base_calls"], r["fresh_calls"], r["group"]) for r in compared if r["diff_calls"] and "clone" in r["name"]],
           [("aten::clone", "op", 0, 1, "added"), ("void clone(float*)", "kernel", 0, 1, "added")])
    done = python(bin_, "import tracegate; tracegate.compare('base', 'nowhere')", tmp)
    expect_end("no such side", done, 1, err="'nowhere' is neither a file, a folder nor a revision")


def types(tmp):
    """A user's mypy sees the types of what is installed."""
    mypy = shutil.which("mypy", path="/usr/bin:" + CLEAN["PATH"])
    if not mypy:
        skip("mypy is missing")
    for text, code, said_ in (("tracegate.assert_counts('a', syncs=0)", 0, "no issues"), ("tracegate.assert_counts('a', syncs='0')", 1, "[arg-type]"),
                              ("tracegate.record(1)", 1, "[arg-type]"), ("tracegate.nothing()", 1, "[attr-defined]")):
        done = command(mypy, "--strict", "--cache-dir", tmp, "--python-executable", prepared() + "python", "-c", f"import tracegate\n{text}", cwd=tmp)
        expect_end(f"mypy: {text}", done, code, said_)


def counts(tmp):
    """usual() has 12 kernels, 1 copy and 1 synchronisation; what is added here is what may not be there."""
    bin_ = prepared()
    write_run(tmp + "/usual.json", [usual()] * 4, seed=1)
    write_run(tmp + "/more.json", [usual() + [Work("aten::item", "sync"), Work("aten::to", "memcpy", "Memcpy DtoH (Device -> Pageable)")]] * 4,
              seed=2)
    regions = [Work(f"Torch-Compiled Region: {k}/0") for k in range(3)]
    write_run(tmp + "/broken.json", [usual() + regions] * 4, seed=3)
    write_run(tmp + "/whole.json", [usual() + regions[:1]] * 4, seed=4)

    def ask(trace, arguments):
        return python(bin_, f"import tracegate; tracegate.assert_counts({trace!r}, {arguments})", tmp)

    for trace, arguments in (("usual.json", "kernels=12, syncs=1, copies=1"), ("usual.json", "syncs=None"), ("more.json", "syncs=2, copies=2"),
                             ("whole.json", "syncs=1"), ("broken.json", "syncs=1, graph_breaks=2")):
        expect_end(f"{trace} {arguments}", ask(trace, arguments), 0)
    for trace, arguments, told in (
            ("usual.json", "kernels=11, syncs=1", ("kernels: 12 per step, 11 allowed", "1 x void kern0(float*)", "in aten::op0", "and 7 more names")),
            ("usual.json", "kernels=12", ("syncs: 1 per step, 0 allowed", "cudaStreamSynchronize", "in aten::loss")),
            ("more.json", "syncs=1, copies=1",
             ("syncs: 2 per step, 1 allowed", "in aten::item", "copies: 2 per step, 1 allowed", "Memcpy DtoH", "in aten::to")),
            ("broken.json", "syncs=1", ("graph breaks: 2 per step, 0 allowed", "Torch-Compiled Region: 2/0"))):
        done = ask(trace, arguments)
        expect_end(f"{trace} {arguments}", done, 1, err=told)
        check("one sort is not named for another", ("copies" in done.stderr) == ("copies: 2 per step, 1 allowed" in told), done.stderr)
    tracegate("summarize", "more.json", "-o", "more.tgs", cwd=tmp)
    expect_end("a summary has no places", ask("more.tgs", "syncs=1"), 1, err="syncs: 2 per step, 1 allowed")
    expect_end("no trace", ask("nowhere.json", ""), 1, err="ProgramError")


def debian_torch(tmp):
    """Debian's PyTorch measures; it is built without Kineto, so that it says so, and writes through examples/kineto_layout.py."""
    bin_ = prepared("--system-site-packages")
    if python(bin_, "import torch", tmp).returncode:
        print("wheel.py: no python3-torch: the stand-in alone")
        return
    script = RECORD.format(path="run0.json.gz", more="",
                           body="for _ in step: train()").replace("torch.mm(1)", "torch.mm(x, x)").replace("torch.add(1)", "torch.add(x, 1)")
    script = script.replace("def train", "x = torch.ones(4, 4)\ndef train")
    exporter = ("import pathlib, threading, kineto_layout, torch.profiler\n"
                "torch.profiler.kineto_available = lambda: True\n"
                "torch.profiler.profile.export_chrome_trace = lambda p, path: kineto_layout.write(pathlib.Path(path), p.profiler.kineto_results, "
                "os.getpid(), {1: threading.get_native_id()})\n")
    kineto = python(bin_, "import torch.profiler; print(torch.profiler.kineto_available())", tmp).stdout.strip() == "True"
    if not kineto:
        expect_end("no Kineto", python(bin_, script, tmp), 1, err="examples/kineto_layout.py")
        expect("no file", os.path.exists(tmp + "/run0.json.gz"), False)
        script = script.replace("import json, os, torch, tracegate", "import json, os, torch, tracegate\n" + exporter)
    said("PyTorch", python(bin_, script, tmp, ROOT + "/examples"), "run0.json.gz 7")
    rows = {x.split(",")[1]: x.split(",")[3] for x in tracegate("analyze", "run0.json.gz", "--format", "csv", cwd=tmp).stdout.splitlines()}
    expect("PyTorch: calls per step", (rows.get("aten::mm"), rows.get("aten::add")), ("1", "1"))
    if not kineto:
        memory = ("import os, pathlib, threading, kineto_layout, torch\n"
                  "with torch.profiler.profile(profile_memory=True) as p: torch.ones(4, 4) @ torch.ones(4, 4)\n"
                  "kineto_layout.write(pathlib.Path('memory.json.gz'), p.profiler.kineto_results, os.getpid(), {1: threading.get_native_id()})\n")
        expect("profile_memory: written", python(bin_, memory, tmp, ROOT + "/examples").returncode, 0)
        expect_has("profile_memory: the operators", tracegate("analyze", "memory.json.gz", "--whole", cwd=tmp).stdout, "aten::mm")
    steps = tracegate("analyze", "run0.json.gz", "--measure", "steps", "--format", "csv", cwd=tmp).stdout.splitlines()
    expect("PyTorch: steps", len([x for x in steps if x[:1].isdigit()]), 4)


def named(_):
    """PyPI's `tracegate` is somebody else's program: no page may tell people to install it."""
    wrong = re.compile(r"(?:\b(?:pip3?|pipx|uv|conda)(?: pip| tool)? (?:install|add|run)\b[^\n`#]*?\s|\buvx (?:[^\n`#]*\s)?)"
                       r"(?<!torch-tracegate )tracegate(?![-/\w.])")
    for text, seen in (("pip install tracegate", True), ("uv add -U tracegate", True), ("uvx tracegate", True),
                       ("pip install torch-tracegate", False),
                       ("uvx --from torch-tracegate tracegate", False), ("pip install ./tracegate", False)):
        expect(f"the pattern on '{text}'", bool(wrong.search(text)), seen)
    files = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True)
    for name in files.stdout.splitlines():
        if name.endswith((".md", ".py", ".yml", ".toml", ".h", ".c",
                          ".1")) and name != "tests/e2e/wheel.py" and os.path.exists(os.path.join(ROOT, name)):
            expect(name, wrong.findall(read_bytes(os.path.join(ROOT, name)).decode(errors="replace")), [])


run_parts(installed, tags, recording, tables, types, counts, debian_torch, named)
