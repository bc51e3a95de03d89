#!/usr/bin/env python3
"""Annotations at the program's own lines, for traces with Python stacks: generated traces with what must
be named written beside them, hostile names and paths, and the corpus against a count made here.
"""
import html
import json
import os
import re
import subprocess

from support import (CORPUS, ENV, PROGRAM, Repository, expect, fault, faults, read_json, read_text, run_parts,
                     write_json, write_text)

POLICY = "version: 1\nrules:\n  - {id: new-work, match: {kind: [op, kernel]}, metric: count, fail: {abs: 0}}\n"
SOURCE = """import torch


def helper(x):
    return x.clone()


@torch.no_grad()
def step(x):
    y = helper(x)
    return y + x


async def poll(x):
    return x


if __name__ == "__main__":
    step(1)
"""


class Repo(Repository):
    def __init__(self, folder, files):
        super().__init__(folder)
        for name, text in dict(files, **{".tracegate.yml": POLICY}).items():
            self.write(name, text)
        self.commit()

    def check(self, base, test, env=None, cwd="."):
        """(exit code, annotations as (level, file, line, message), what was printed)"""
        run = subprocess.run([PROGRAM, "check", "--annotations", "--baseline", base, test, "--junit", self.dir + "/.git/j.xml"],
                             cwd=os.path.join(self.dir, cwd), env=dict(ENV, **(env or {})), capture_output=True, text=True, errors="replace")
        lines = [x for x in run.stdout.split("\n") if x.startswith("::")]
        out = []
        for x in lines:
            m = re.fullmatch(r"::(error|warning|notice) (?:file=([^,:]*),(?:line=(\d+),)?)?title=[^:]*::(.*)", x)
            expect(f"a command that is understood: {x}", bool(m), True)
            if m:
                out.append((m[1], m[2], int(m[3] or 0), m[4]))
        return run.returncode, out, run.stdout + run.stderr


def trace(path, steps, calls):
    """Each step: for each of `calls` (frames from the outside in, op, times, kernel or None), the op under the frames."""
    events, ts, corr = [], 1000.0, 1

    def add(cat, name, start, dur, tid=1, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": round(start, 3), "dur": dur, "args": args})
    for n in range(steps):
        begin = ts
        for frames, op, times, kernel in calls:
            start = ts
            for k in range(times):
                ts += 10
                add("cpu_op", op, ts, 5)
                if kernel:
                    add("cuda_runtime", "cudaLaunchKernel", ts + 1, 2, correlation=corr)
                    add("kernel", kernel, ts + 20, 3, tid=7, correlation=corr, stream=7, device=0)
                    corr += 1
            ts += 10
            for depth, frame in enumerate(frames):
                add("python_function", frame, start + 1 + depth * 0.1, ts - start - 2 - depth * 0.2)
        ts += 10
        add("user_annotation", f"ProfilerStep#{n}", begin, ts - begin)
        ts += 10
    write_json(path, {"traceEvents": events, "deviceProperties": [{"id": 0, "name": "G"}] if any(c[3] for c in calls) else []})


TORCH = "torch/nn/modules/module.py(1501): _call_impl"
STEP, HELPER = "train.py(8): step", "train.py(4): helper"
BASE = [([STEP, TORCH], "aten::add", 2, None), ([STEP, HELPER, TORCH], "aten::clone", 1, None)]


def generated(tmp):
    repo = Repo(tmp + "/r", {"train.py": SOURCE, "sub/deep/own.py": SOURCE, "twice/a.py": SOURCE, "thrice/a.py": SOURCE})

    def clone(frames, times=3, op="aten::clone", kernel=None):
        return BASE[:1] + [(frames, op, times, kernel)]
    # name, the fresh trace's calls -> (file, line) of the notices, what they say; baseline is BASE: one clone in helper
    table = [
        ("in a function", clone([STEP, HELPER, TORCH]), [("train.py", 4)], "train.py:4 helper, accounts for all of it"),
        ("the innermost of ours", clone([HELPER, STEP]), [("train.py", 8)], "train.py:8 step"),
        ("where it grew, not where most are", BASE[:1] + [([STEP, HELPER], "aten::clone", 1, None), ([STEP], "aten::clone", 1, None)],
         [("train.py", 8)], "train.py:8 step, accounts for all of it"),
        ("a decorator's line", clone(["train.py(8): step"]), [("train.py", 8)], "train.py:8 step"),
        ("async", clone(["train.py(14): poll"]), [("train.py", 14)], "train.py:14 poll"),
        ("the module itself", clone(["train.py(19): <module>"]), [("train.py", 19)], "train.py:19 <module>"),
        ("a runner's path", clone([repo.dir + "/train.py(4): helper"]), [("train.py", 4)], ".py:4 helper"),
        ("a path of the workspace", clone(["/__w/r/r/train.py(4): helper"]), [("train.py", 4)], ".py:4 helper"),
        ("another machine's path", clone(["/home/you/src/deep/sub/deep/own.py(4): helper"]), [("sub/deep/own.py", 4)], ".py:4 helper"),
        ("a script in a folder", clone(["own.py(4): helper"]), [("sub/deep/own.py", 4)], ".py:4 helper"),
        ("a kernel by its launch", clone([STEP, HELPER], 3, "aten::clone", "copy_kernel"), [("train.py", 4)],
         ".py:4 helper"),  # with its kernel: one finding
        # nothing of ours: no notice
        ("only libraries", clone([TORCH, "/usr/lib/python3.11/threading.py(1): run"]), [], None),
        ("a builtin", clone(["<built-in method clone of Tensor object at 0x7f>", "nn.Module: Linear_0"]), [], None),
        ("a line that is no such function", clone(["train.py(11): helper"]), [], None),
        ("a line behind the end", clone(["train.py(400): <module>"]), [], None),
        ("a function of another name", clone(["train.py(4): help"]), [], None),
        ("two files of the name", clone(["a.py(4): helper"]), [], None),
        ("a library's file of our name", clone(["/usr/lib/python3/dist-packages/sub/deep/own.py(4): helper"]), [], None),
        ("one component is not enough", clone(["/usr/share/train.py(4): helper"]), [], None),
        ("out of the repository", clone(["../r/train.py(4): helper"]), [], None),
        ("out of it by an absolute path", clone([repo.dir + "/sub/../train.py(4): helper"]), [], None),
        ("an option", clone(["--upload-pack=x.py(4): helper"]), [], None),
        ("a glob", clone(["tr*.py(4): helper"]), [], None),
        ("a revision", clone(["HEAD:train.py(4): helper"]), [], None),
        ("a command", clone(["train.py\n::error::pwned\n.py(4): helper"]), [], None),
        ("a huge line", clone(["train.py(99999999999999999999): helper"]), [], None),
        ("line zero", clone(["train.py(0): helper"]), [], None),
        ("no file", clone(["(4): helper"]), [], None),
        ("not committed", clone(["new.py(4): helper"]), [], None),
    ]
    write_text(repo.dir + "/new.py", SOURCE)
    trace(tmp + "/base.json.gz", 2, BASE)
    for name, calls, notices, says in table:
        trace(tmp + "/test.json.gz", 2, calls)
        code, out, text = repo.check(tmp + "/base.json.gz", tmp + "/test.json.gz", {"GITHUB_WORKSPACE": "/__w/r/r"})
        expect(f"{name}: exit", code, 1)
        expect(f"{name}: at the rule", [x[1:3] for x in out if x[0] == "error"], [(".tracegate.yml", 3)] * max(1, len(notices)))
        expect(f"{name}: at the source", [x[1:3] for x in out if x[0] == "notice"], notices)
        expect(f"{name}: says {says} in {out}", all(says in x[3].replace("%25", "%") for x in out if x[0] == "notice"), True) if says else None
        junit = read_text(repo.dir + "/.git/j.xml")
        expect(f"{name}: JUnit", [f"cause: {f}:{n} " in junit for f, n in notices[:1]], [True] * len(notices[:1]))
        if name in ("a command", "in a function") and any(x.startswith(name) for x in faults):
            print(text)
    baselines(tmp, repo)


def baselines(tmp, repo):
    """A summary as baseline has no paths: all calls of the fresh side decide. Summaries as fresh side have none."""
    trace(tmp + "/test.json.gz", 2, BASE[:1] + [([STEP, HELPER], "aten::clone", 2, None), ([STEP], "aten::clone", 1, None)])
    for side in ("base", "test"):
        subprocess.run([PROGRAM, "summarize", f"{tmp}/{side}.json.gz", "-o", f"{tmp}/{side}.tgs"], check=True, capture_output=True)
    for base, test, want in (("base.tgs", "test.json.gz", [("train.py", 4)]), ("base.json.gz", "test.tgs", []),
                             # 2 + 1 calls after 1 + 0: helper grew by one of two, step holds both
                             ("base.json.gz", "test.json.gz", [("train.py", 4)])):
        code, out, text = repo.check(f"{tmp}/{base}", f"{tmp}/{test}")
        expect(f"{base} {test}", [x[1:3] for x in out if x[0] == "notice"], want)
    # twelve operators that one function adds to a step are one finding; tests/golden/annotations_hostile.txt has more than are shown
    trace(tmp + "/test.json.gz", 2, BASE + [([STEP], f"aten::op{i:02}", 1, None) for i in range(12)])
    code, out, text = repo.check(tmp + "/base.json.gz", tmp + "/test.json.gz")
    levels = {n: sum(x[0] == n for x in out) for n in ("error", "notice")}
    expect("twelve operators, one finding", levels, {"error": 1, "notice": 1})
    # in a subfolder: the script's own folder first
    trace(tmp + "/test.json.gz", 2, BASE[:1] + [(["own.py(4): helper"], "aten::clone", 3, None)])
    code, out, text = repo.check(tmp + "/base.json.gz", tmp + "/test.json.gz", cwd="sub/deep")
    expect("from a subfolder", [x[1:3] for x in out if x[0] == "notice"], [("sub/deep/own.py", 4)])


LINE = "return x.clone()  # `@me` <script>::error::pwned"


def changed_line(tmp):
    """The line that the change wrote is where every report points, and it is quoted; of hostile text, too. Without a
    change of the function, the rule is."""
    repo = Repo(tmp + "/changed", {"train.py": SOURCE.replace("return x.clone()", "return x")})
    base = repo.git("rev-parse", "HEAD").strip()
    repo.write("train.py", SOURCE.replace("return x.clone()", LINE))
    repo.commit()
    trace(tmp + "/base.json.gz", 2, BASE[:1] + [([STEP, HELPER, TORCH], "aten::mul", 1, None)])
    trace(tmp + "/test.json.gz", 2, BASE[:1] + [([STEP, HELPER, TORCH], "aten::mul", 1, None), ([STEP, HELPER, TORCH], "aten::clone", 1, None)])
    for change, at, line in ((base, ("train.py", 5), "5 | " + LINE), ("HEAD", (".tracegate.yml", 3), None)):
        names = {o: f"{tmp}/quoted.{o}" for o in ("junit", "markdown", "html", "json")}
        run = subprocess.run([PROGRAM, "check", "--annotations", "--baseline", tmp + "/base.json.gz", tmp + "/test.json.gz", "--base-commit", change,
                              *[x for o, path in names.items() for x in ("--" + o, path)]], cwd=repo.dir, env=dict(ENV, COLUMNS="200"),
                              capture_output=True, text=True)
        got = {o: read_text(path) for o, path in names.items()}
        errors = re.findall(r"^::error file=([^,]*),line=(\d+)", run.stdout, re.M)
        expect(f"{change}: the red annotation", [(f, int(n)) for f, n in errors], [at])
        expect(f"{change}: notices", run.stdout.count("::notice file="), 0 if line else 1)
        case = re.search(r'<testcase [^>]*aten::clone[^>]*>', got["junit"])[0]
        expect(f"{change}: JUnit", (f'file="{at[0]}"' in case, f'line="{at[1]}"' in case), (True, True))
        finding = [r for r in json.loads(got["json"])["violations"] if r["op"] == "aten::clone"][0]
        expect(f"{change}: JSON", finding["cause"]["quoted"], LINE if line else None)
        expect(f"{change}: text", " ".join(f"changed {line}".split()) in " ".join(run.stdout.split()), bool(line))
        expect(f"{change}: the only changed line", "changed lines)" in run.stdout + got["markdown"] + got["html"], False)
        expect(f"{change}: comment", f"changed ``{line}``" in got["markdown"], bool(line))
        expect(f"{change}: page", f"{html.escape(line or '5 | ')}" in got["html"], bool(line))
        expect(f"{change}: nothing of it is a command", [x for x in run.stdout.split("\n") if x.startswith("::error::")], [])


# ---- the corpus ----------------------------------------------------------------------------------

def frames_around(events, op, ours):
    """(frame -> [calls of `op` inside it, its deepest depth], all calls), by the intervals themselves."""
    threads, out, calls = {}, {}, 0
    for e in events:
        if e.get("cat") == "python_function" and e.get("ph") == "X" and ours(e["name"]):
            threads.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    for e in events:
        if e.get("name") == op and e.get("cat") == "cpu_op":
            around = sorted((a, -b, n) for a, b, n in threads.get((e["pid"], e["tid"]), ()) if a <= e["ts"] and e["ts"] < b)
            calls += 1
            for n in {n for _, _, n in around}:
                one = out.setdefault(n, [0, 0])
                one[0] += 1
                one[1] = max([one[1]] + [d for d, x in enumerate(around) if x[2] == n])
    return out, calls


def corpus(tmp):
    """Files of the programs that were traced, made up so that their functions are where the trace says."""
    done = 0
    for path, prefix in (("tracelens/b200_eager/eager_trace.json.gz", "vllm/"),
                         ("tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz", "train_ddp.py"),
                         ("tracelens/h100_qwen/qwen1.5-0.5b.json.gz", "transformers/"),
                         ("nanovllm/decode/decode_gpu_0.json.gz", "nanovllm/")):
        full = os.path.join(CORPUS, path)
        if not os.path.exists(full):
            continue
        doc = read_json(full)
        events = doc["traceEvents"]
        files = {}
        for name in {e["name"] for e in events if e.get("cat") == "python_function"}:
            m = re.fullmatch(r"([^<(]\S*\.py)\((\d+)\): (.*)", name)
            if m and m[1].startswith(prefix):
                files.setdefault(m[1], {})[int(m[2])] = m[3]
        texts = {f: "\n".join("" if n not in lines or lines[n].startswith("<") else f"def {lines[n]}():"
                              for n in range(1, max(lines) + 2)) for f, lines in files.items()}
        expect(f"{path}: files", bool(texts), True)
        # an op that the baseline does not have: one that has calls below files of ours
        counts = {op: frames_around(events, op, lambda n: n.split("(")[0] in files and not n.startswith("<"))
                  for op in ("aten::mm", "aten::linear", "aten::conv2d", "aten::copy_", "aten::flatten", "aten::embedding")}
        op = max(counts, key=lambda o: max([c for c, _ in counts[o][0].values()] or [0]) / max(1, counts[o][1]))
        inside, calls = counts[op]
        # the deepest function that holds half of the calls
        want = [(d, n) for n, (c, d) in inside.items() if 2 * c >= calls]
        repo = Repo(f"{tmp}/c{done}", texts)
        base = f"{tmp}/base{done}.json.gz"
        write_json(base, dict(doc, traceEvents=[e for e in events if e.get("name") != op]))
        code, out, text = repo.check(base, full)
        found = [x for x in out if x[0] == "notice" and x[3].startswith(op + ":")]
        if not want:
            fault(f"{path}: no op is called from {prefix}")
            continue
        tops = {(m[1], int(m[2])) for m in (re.fullmatch(r"(\S+)\((\d+)\): .*", n) for d, n in want if d == max(want)[0])}
        expect(f"{path}: {op} {tops} {found} {text[-1500:] if not found else ''}", [(f, n) in tops for _, f, n, _ in found], [True])
        done += 1
    return done


def main(tmp):
    generated(tmp)
    changed_line(tmp)
    corpus(tmp)


run_parts(main)
