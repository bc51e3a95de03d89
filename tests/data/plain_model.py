"""Small traces as a list of what a step does: an operator, and the call and the device work inside it.

    from plain_model import Work, usual, write_run
    write_run("out/run0.json", [usual(), usual() + [Work("aten::mm", "kernel", "void gemm(float*)", 20)]], seed=7)

Times vary with the seed by 1 %, names and numbers never do, so two seeds are two recordings of one program.
"""
import dataclasses
import json
import os
import random

CALLS = {"kernel": "cudaLaunchKernel", "comm": "cudaLaunchKernel", "memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync",
         "sync": "cudaStreamSynchronize", "graph": "cudaGraphLaunch"}
ROWS = {"kernel": "kernel", "comm": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}
HOST, THREAD, STREAM = 10, 10, 7


@dataclasses.dataclass(frozen=True)
class Work:
    """One operator with at most one call inside. `sort`: kernel, comm, memcpy, memset, sync, graph or op (no call).
    `us`: of the device work; of a sort without any, of the operator itself. An operator named None has no row."""
    op: str | None
    sort: str = "op"
    name: str = ""
    us: float = 10.0
    bytes: int = 4096


def usual(n=12):
    """A step of 12 operators with a kernel each, a copy in, a set and a synchronisation."""
    work = [Work(f"aten::op{i}", "kernel", f"void kern{i}(float*)", 20.0 + i) for i in range(n)]
    work.insert(0, Work("aten::copy_", "memcpy", "Memcpy HtoD (Pinned -> Device)", 5))
    work.append(Work("aten::zero_", "memset", "Memset (Device)", 2))
    work.append(Work("aten::loss", "sync", "", 3))
    return work


class Clock:
    """Host and device time in ns, and the events so far."""

    def __init__(self, seed, noise, pace):
        self.random, self.noise, self.pace = random.Random(seed), noise, pace
        self.host, self.device, self.serial, self.events = 1_000_000, 0, 0, []

    def vary(self, us):
        return round(us * 1000 * (1 + self.random.uniform(-self.noise, self.noise)))

    def add(self, cat, name, pid, tid, start, dur, args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start / 1000,
                            "dur": dur / 1000, "args": args})

    def do(self, work):
        self.serial += 1
        link = {"External id": self.serial, "correlation": self.serial}
        start = self.host
        self.host += 2000
        if work.sort in CALLS:
            call = self.host
            self.host += self.vary(3)
            if work.sort == "sync":
                self.host = max(self.host, self.device)
            self.add("cuda_runtime", work.name if work.sort == "sync" and work.name else CALLS[work.sort], HOST, THREAD, call,
                     self.host - call, link)
        if work.sort in ROWS:
            self.work_on_device(work, link)
        own = self.vary(self.pace * (work.us if work.sort == "op" else 5))
        self.host += own
        if work.op:
            self.add("cpu_op", work.op, HOST, THREAD, start, self.host - start, {"External id": self.serial})
        self.host += 1000

    def work_on_device(self, work, link):
        begin, dur = max(self.device, self.host + 1000), self.vary(work.us)
        args = dict(link, device=0, stream=STREAM)
        if work.sort in ("kernel", "comm"):
            args.update({"grid": [64, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0})
        else:
            args.update({"bytes": work.bytes})
        self.add(ROWS[work.sort], work.name, 0, STREAM, begin, dur, args)
        self.device = begin + dur + 500


def trace(steps, seed, rank=None, world=8, device="NVIDIA H100", marker="ProfilerStep#%d", noise=0.01, between=(), pace=1):
    """`steps`: a list of Work each. `marker` None: no annotation around a step. `between`: work after each step. `pace`:
    an operator's own time on the host, times as long."""
    clock = Clock(seed, noise, pace)
    for number, works in enumerate(steps, 3):
        start = clock.host - 500
        for work in works:
            clock.do(work)
        clock.host = max(clock.host, clock.device) + 5000
        if marker:
            clock.add("user_annotation", marker % number, HOST, THREAD, start, clock.host - start, {})
        clock.host += 2000
        for work in between:
            clock.do(work)
        clock.host = max(clock.host, clock.device) + 2000
    doc = {"schemaVersion": 1,
           "deviceProperties": [{"id": 0, "name": device, "totalGlobalMem": 1, "computeMajor": 9, "computeMinor": 0}]}
    if rank is not None:
        doc["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return dict(doc, traceEvents=clock.events)


def write(path, doc):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f)


def write_run(path, steps, seed, **how):
    write(path, trace(steps, seed, **how))
