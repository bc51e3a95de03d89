"""Ten failures of one small training program, for who looks at reports: make(folder, program) lays each out and runs `check`.

The program is a git repository with two commits a case; its traces are written here, with Python stacks and a device: four steps a run,
three runs a side, noise of about 1 %. What a reader must find on the first screen is in FAILURES, written before a report was made.
"""
import gzip
import json
import os
import pathlib
import random
import subprocess

MODEL = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm(x)
        y = torch.nn.functional.gelu(self.up(y))
        return x + self.down(y)


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""
TRAIN = """import torch

from data import Batches
from model import Net


class Trainer:
    def __init__(self):
        self.model = Net(1024, 4).cuda()
        self.batches = Batches("train.bin")
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self):
        x, y = self.batches.load()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()

    def loss(self, logits, labels):
        return torch.nn.functional.cross_entropy(logits, labels)
"""
DATA = """import torch


class Batches:
    def __init__(self, path):
        self.path = path

    def load(self):
        rows = torch.load(self.path)
        return rows["x"], rows["y"]
"""
FILES = {"model.py": MODEL, "train.py": TRAIN, "data.py": DATA, "requirements.txt": "torch==2.3\n"}
# what a trace calls a function: its file, first line and name
LINES = {"Trainer.step": ("train.py", 13), "Trainer.loss": ("train.py", 19), "Batches.load": ("data.py", 8),
         "Block.forward": ("model.py", 12), "Net.forward": ("model.py", 24)}
GELU = ("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::gelu_kernel(at::TensorIteratorBase&), "
        "at::detail::Array<char*, 2> >(int, at::native::(anonymous namespace)::gelu_kernel, at::detail::Array<char*, 2>)")
COPY = ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&), "
        "at::detail::Array<char*, 2> >(int, at::native::direct_copy_kernel_cuda, at::detail::Array<char*, 2>)")
ERF = ("void at::native::vectorized_elementwise_kernel<4, at::native::erf_kernel_cuda(at::TensorIteratorBase&), "
       "at::detail::Array<char*, 2> >(int, at::native::erf_kernel_cuda, at::detail::Array<char*, 2>)")
MUL = ("void at::native::vectorized_elementwise_kernel<4, at::native::binary_internal::MulFunctor<float>, "
       "at::detail::Array<char*, 3> >(int, at::native::binary_internal::MulFunctor<float>, at::detail::Array<char*, 3>)")
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*, float const*, float*)"
NORM_BACK = NORM.replace("vectorized_layer_norm_kernel", "layer_norm_grad_input_kernel_vectorized")
GELU_BACK = GELU.replace("gelu_kernel", "gelu_backward_kernel")
GEMM, GEMM_FP32 = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", "ampere_sgemm_128x64_tn"
ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>(FusedOptimizerTensorListMetadata<4>)"


class Trace:
    """Rows of one run. Host work follows itself; device work follows its launch and the work before it."""

    def __init__(self, seed, rank=None):
        self.random, self.rows, self.now, self.device, self.link = random.Random(seed), [], 1000.0, 1000.0, 0
        self.rank, self.sequence, self.backward = rank, 0, []

    def about(self, us):
        return us * self.random.gauss(1, 0.008)

    def add(self, cat, name, start, dur, tid=1, **args):
        pid, tid = (0, 7) if cat in ("kernel", "gpu_memcpy") else (1, tid)
        self.rows.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3), "dur": round(dur, 3), "args": args})

    def inside(self, cat, name, body, before=1.5, after=1.0, **args):
        start = self.now
        self.now += before
        body()
        self.now += after
        self.add(cat, name, start, self.now - start, **args)

    def function(self, name, body, module=None):
        file, line = LINES[name]
        short = name.split(".")[1]

        def call():
            self.inside("python_function", f"{file}({line}): {short}", body, 2, 1)
        if module:
            self.inside("python_function", f"nn.Module: {module}", call, 1, 1)
        else:
            call()

    def launch(self, kernel, us, call="cudaLaunchKernel", cat="kernel"):
        self.link += 1
        self.add("cuda_runtime", call, self.now, 4, correlation=self.link)
        self.now += 4.5
        self.work(kernel, us, cat)

    def work(self, kernel, us, cat="kernel"):
        start, us = round(max(self.now, self.device), 3) + 0.002, round(self.about(us), 3)
        self.add(cat, kernel, start, us, correlation=self.link, stream=7, device=0)
        self.device = start + us

    def op(self, name, *kernels, host=6, inner=None, sequence=True, back=None):
        """`back`: the kernels of its backward pass; None: it has none."""
        def body():
            if inner:
                inner()
            for kernel, us in kernels:
                self.launch(kernel, us)
        if sequence and back:
            self.sequence += 1
            self.backward.append((self.sequence, name, back))
        else:
            sequence = False
        self.inside("cpu_op", name, body, self.about(host), 1, **({"Sequence number": self.sequence} if sequence else {}))

    def wait(self, call="cudaStreamSynchronize"):
        start = self.now
        self.now = max(self.now, self.device) + 3
        self.add("cuda_runtime", call, start, self.now - start)


def linear(t, gemm, us):
    back = [(gemm.replace("_tn", "_nt"), us), (gemm.replace("_tn", "_nn"), us)]
    t.op("aten::linear", inner=lambda: t.op("aten::addmm", (gemm, us), back=back), host=3)


def block(t, k, w):
    def forward():
        t.op("aten::layer_norm", inner=lambda: t.op("aten::native_layer_norm", (NORM, 40), back=[(NORM_BACK, 70)]), host=3)
        if w.get("copy"):
            t.op("aten::clone", inner=lambda: t.op("aten::copy_", (COPY, 60)), host=4)
        linear(t, GEMM_FP32 if w.get("fp32") else GEMM, 160 * w.get("fp32", 1))
        if w.get("unfused"):
            t.op("aten::erf", (ERF, 45), back=[(MUL, 60)])
            t.op("aten::mul", (MUL, 50), back=[(MUL, 60)])
            t.op("aten::mul", (MUL, 50), back=[(MUL, 60)])
        else:
            t.op("aten::gelu", (GELU, 50), back=[(GELU_BACK, 60)])
        linear(t, GEMM, 160)
        t.op("aten::add", (MUL.replace("MulFunctor", "CUDAFunctor_add"), 30))
    t.function("Block.forward", forward, f"Block_{k}")


def backward(t):
    """On autograd's thread, each operator's under its forward number."""
    for number, name, kernels in reversed(t.backward):
        begin, node = t.now, name.split("::")[1].title().replace("_", "") + "Backward0"
        t.now += 4
        for kernel, us in kernels:
            t.link += 1
            t.add("cuda_runtime", "cudaLaunchKernel", t.now, 4, tid=2, correlation=t.link)
            t.now += 4.5
            t.work(kernel, us)
        t.now += 2
        t.add("cpu_op", node, begin + 2, t.now - begin - 3, tid=2, **{"Sequence number": number})
        t.add("cpu_op", "autograd::engine::evaluate_function: " + node, begin, t.now - begin, tid=2, **{"Sequence number": number})
    t.backward = []


def step(t, w):
    def net():
        for k in range(4):
            block(t, k, w)
        linear(t, GEMM, 120)

    def loss():
        t.op("aten::cross_entropy_loss", (MUL.replace("MulFunctor", "LogSoftmaxForward"), 35),
             back=[(MUL.replace("MulFunctor", "LogSoftmaxBackward"), 40)])
        if w.get("item"):
            def local():
                t.launch("Memcpy DtoH (Device -> Pageable)", 2, "cudaMemcpyAsync", "gpu_memcpy")
                t.wait()
            t.op("aten::item", inner=lambda: t.op("aten::_local_scalar_dense", inner=local), host=3)

    def load():
        t.now += t.about(300 + w.get("load", 0))
        t.op("aten::to", inner=lambda: t.launch("Memcpy HtoD (Pageable -> Device)", 80, "cudaMemcpyAsync", "gpu_memcpy"))

    def whole():
        t.function("Batches.load", load)
        t.function("Net.forward", net, "Net_0")
        t.function("Trainer.loss", loss)
        start = t.now
        backward(t)
        t.add("python_function", "<built-in method run_backward of torch._C._EngineBase object>", start, t.now - start)
        for _ in range(w.get("extra", 0)):
            t.op("aten::nonzero", (MUL.replace("MulFunctor", "write_indices"), 12))
        t.op("Optimizer.step#AdamW.step", inner=lambda: t.op("aten::_fused_adamw_", (ADAM, 300)))
        t.wait("cudaDeviceSynchronize")
    t.function("Trainer.step", whole)


def trace(seed, work, rank=None, steps=4):
    """`work`: of each step, or a function of the step's place."""
    t = Trace(seed, rank)
    for k in range(steps):
        begin = t.now
        t.now += 3
        step(t, work(k) if callable(work) else work)
        t.add("user_annotation", f"ProfilerStep#{k + 1}", begin, t.now - begin)
        t.now += 5
    out = {"schemaVersion": 1, "with_stack": 1, "record_shapes": 0, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}],
           "traceEvents": t.rows}
    if rank is not None:
        out["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 4}
    return out


CLONE = {"model.py": [("self.up(y)", "self.up(y.clone())")]}
# name, edits of the head commit, work of the fresh side, more; what must be on the first screen
FAILURES = [
    ("slower-operator", {"model.py": [("gelu(self.up(y))", "gelu(self.up(y.float()).half())")]}, {"fp32": 2.4}, {},
     ["12 of 27 calls of `ampere_fp16_s16816gemm_fp1\u2026", "fp16 \u2192 fp32", "4.58", "1.92", "ampere_sgemm", "`Block.forward`", "model.py:14"]),
    ("added-copy", CLONE, {"copy": True}, {}, ["aten::clone", "`Block.forward`", "model.py:14"]),
    ("synchronisation", {"train.py": [("        return torch.nn.functional.cross_entropy(logits, labels)",
                                       "        loss = torch.nn.functional.cross_entropy(logits, labels)\n"
                                       "        self.log(loss.item())\n        return loss")]},
     {"item": True}, {}, ["aten::item", "of waiting moved into it", "moved here from `cudaDeviceSynchronize`", "`Trainer.loss`", "train.py:20"]),
    ("budget", CLONE, {"copy": True}, {"policy": "rules:\n  - id: launches-on-the-edge\n    why: the small device pays 10 us a launch\n"
                                                 "    metric: launch_count\n    fail: {max: 52}\n"},
     ["launch_count", "over the limit of 52"]),
    ("over-before", {"model.py": [("gelu(self.up(y))", "gelu(self.up(y.float()).half())")]}, {"fp32": 1.2},
     {"policy": "rules: [{id: budget, metric: step_time, fail: {max: 4ms}}]\n"},
     ["(the baseline was, too)", "this change is not the only reason. Raise the limit to what the program needs. Or accept it",
      "`Trainer.step`, where the host waits for what takes longer; no changed function is on the path"]),
    ("new-kernel", {"model.py": [("        y = torch.nn.functional.gelu(self.up(y))",
                                  "        y = self.up(y)\n        y = 0.5 * y * (1 + torch.erf(y / 2**0.5))")]},
     {"unfused": True}, {}, ["aten::erf", "+8 calls", "12 calls per step, was 4", "`Block.forward`", "model.py:14-15"]),
    ("lost-baseline", CLONE, {"copy": True}, {"baseline": "lost", "policy": "extends: [tracegate:recommended]\nsuites:\n  - name: train\n"
                                                        "    trace: {files: out/*.json.gz, run: 'run(.)'}\n    baseline: perf/*.json.gz\n"},
     ["baseline", "record runs on the target branch", "`baseline:` of suite train (`.tracegate.yml:6`)"]),
    ("missing-rank", CLONE, {}, {"ranks": [0, 1, 3], "policy": "extends: [tracegate:recommended]\nsuites:\n  - {name: train, ranks: {expect: 4}}\n"},
     ["rank 2"]),
    ("data-loading", {"data.py": [("        return rows", "        rows = {k: v.clone() for k, v in rows.items()}\n        return rows")]},
     {"load": 900}, {}, ["Step time", "`Batches.load`", "data.py:10"]),
    ("part-of-the-steps", {}, lambda k: {"extra": 3 if k == 2 else 0}, {}, ["aten::nonzero"]),
    ("waived-and-failed", {"model.py": [("self.up(y)", "self.up(y.clone())")],
                           "train.py": [("        return torch.nn.functional.cross_entropy(logits, labels)",
                                         "        loss = torch.nn.functional.cross_entropy(logits, labels)\n"
                                         "        self.log(loss.item())\n        return loss")]},
     {"copy": True, "item": True},
     {"policy": "extends: [tracegate:recommended]\nwaivers:\n  - rule: new-work\n    name: aten::clone\n    ceiling: {abs: 4}\n"
                "    reason: the copy keeps the gradient of a view\n    issue: https://example.org/issues/31\n"
                "    owner: ana\n    expires: 2026-05-30\n"},
     ["aten::item", ", of it +240", "waived"]),
    ("warned", CLONE, {"copy": True}, {"policy": "rules:\n  - id: launches-near-the-edge\n    metric: launch_count\n    warn: {max: 52}\n"},
     ["launch_count", "52", "A warning does not block", "model.py:14"]),
    ("pass", {"train.py": [("import torch\n", "# trains\nimport torch\n")]}, {}, {}, ["PASS"]),
]
NAMES = [f[0] for f in FAILURES]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_", "CI_", "TRACEGATE_"))}
ENV.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t", GIT_COMMITTER_NAME="t",
           GIT_COMMITTER_EMAIL="t@t", GIT_AUTHOR_DATE="2026-01-02T03:00:00Z", GIT_COMMITTER_DATE="2026-01-02T03:00:00Z",
           SOURCE_DATE_EPOCH="1767323045", LC_ALL="C.UTF-8", HOME="/nonexistent", COLUMNS="100")


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def write(path, text):
    pathlib.Path(path).write_text(text, encoding="utf-8")


def git(folder, *args):
    subprocess.run(["git", *args], cwd=folder, env=ENV, check=True, capture_output=True)


def commit(folder, files, message):
    for name, text in files.items():
        os.makedirs(os.path.dirname(f"{folder}/{name}") or folder, exist_ok=True)
        write(f"{folder}/{name}", text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def record(folder, seed, work, ranks):
    os.makedirs(folder)
    for k in range(1 if ranks else 3):
        for rank in ranks or [None]:
            name = f"rank{rank}" if ranks else f"run{k}"
            with gzip.open(f"{folder}/{name}.json.gz", "wt", compresslevel=6) as f:
                json.dump(trace(seed + 10 * k + (rank or 0), work, rank), f)


def lay_out(folder, name):
    """The repository and the traces of a case; the arguments of `check`."""
    _, edits, work, more, _ = FAILURES[NAMES.index(name)]
    repo, ranks = folder + "/repo", more.get("ranks")
    os.makedirs(repo)
    git(repo, "init", "-q", "-b", "main", ".")
    git(repo, "remote", "add", "origin", "https://github.com/acme/train.git")
    policy = {".tracegate.yml": "version: 1\n" + more["policy"]} if "policy" in more else {}
    commit(repo, {**FILES, **policy, ".gitignore": "out/\nbase/\n"}, "train")
    git(repo, "checkout", "-q", "-b", "change")
    changed = {}
    for path, pairs in edits.items():
        changed[path] = FILES[path]
        for old, new in pairs:
            assert changed[path].count(old) == 1, (name, old)
            changed[path] = changed[path].replace(old, new)
    commit(repo, changed or {"README.md": "Train it.\n"}, name)
    record(repo + "/out", 500, work, ranks)
    if more.get("baseline") == "lost":
        return []
    record(repo + "/base", 100, {}, [0, 1, 2, 3] if ranks else None)
    return ["out", "--ranks" if ranks else "--runs", "--baseline", "base", "--base-commit", "main"]


def make(folder, program, name, *more):
    """Lays the case out and runs `check` with every report; the process. Reports are in `folder`."""
    args = lay_out(folder, name)
    reports = [f"--{kind}={folder}/report.{end}" for kind, end in
               (("markdown", "md"), ("html", "html"), ("json", "json"), ("junit", "xml"), ("svg-counts", "counts.svg"),
                ("svg-durations", "durations.svg"))]
    return subprocess.run([program, "check", *args, *reports, *more], cwd=folder + "/repo", env=ENV, capture_output=True, text=True, check=False)
