"""Small traces as a list of what a step does: an operator, and the call and the device work inside it.

    from plain_model import Work, usual, write_run
    write_run("out/run0.json", [usual(), usual() + [Work("aten::mm", "kernel", "void gemm(float*)", 20)]], seed=7)

Times vary with the seed by 1 %, names and numbers never do, so two seeds are two recordings of one program. For traces of a
script's own: `span`, `mark` and `launched` are single events, in us; `marks` and `delay` are for what is planted.
"""
import dataclasses
import json
import os
import random

CALLS = {"kernel": "cudaLaunchKernel", "comm": "cudaLaunchKernel", "memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync",
         "sync": "cudaStreamSynchronize", "graph": "cudaGraphLaunch"}
ROWS = {"kernel": "kernel", "comm": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}
HOST, THREAD, STREAM = 10, 10, 7


def span(cat, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def mark(number, ts, dur):
    """The annotation around a step."""
    return span("user_annotation", f"ProfilerStep#{number}", ts, dur)


def marks(events):
    """The markers of steps in the order of their starts."""
    return sorted((e for e in events if e["name"].startswith("ProfilerStep#")), key=lambda e: e["ts"])


def delay(events, at, us):
    """All that begins at `at` or later begins later; what holds that moment on the host gets longer."""
    for e in events:
        if e["ts"] >= at:
            e["ts"] += us
        elif e["ts"] + e["dur"] > at and e["tid"] == THREAD:
            e["dur"] += us


def launched(kernel, call, ts, dur, correlation, call_dur=2, **args):
    """The host's call at `call`, and the kernel of `stream` (7) of device 0 that it launches."""
    args = {"device": 0, "stream": 7, **args, "correlation": correlation}
    return [span("cuda_runtime", "cudaLaunchKernel", call, call_dur, correlation=correlation),
            span("kernel", kernel, ts, dur, 0, args["stream"], **args)]


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


def scaled(work, op, us=1.0, size=1.0, name=None):
    """The same step, but for the work of one operator: `us` times as long, `size` times the bytes, another name."""
    return [dataclasses.replace(w, name=name or w.name, us=w.us * us, bytes=int(w.bytes * size)) if w.op == op else w for w in work]


def leaves(events):
    """The spans without a span inside: these can be shortened and nesting stays."""
    found, open_, spans = [], [], [e for e in events if e.get("ph") == "X" and "dur" in e]
    for e in sorted(spans, key=lambda e: (str(e["pid"]), str(e["tid"]), e["ts"], -e["dur"])):
        thread = (e["pid"], e["tid"])
        while open_ and (open_[-1][0] != thread or open_[-1][1]["ts"] + open_[-1][1]["dur"] <= e["ts"]):
            one = open_.pop()
            if one[2]:
                found.append(one[1])
        if open_:
            open_[-1][2] = False
        open_.append([thread, e, True])
    return found + [one[1] for one in open_ if one[2]]


class Clock:
    """Host and device time in ns, and the events so far."""

    def __init__(self, seed, noise, pace):
        self.random, self.noise, self.pace = random.Random(seed), noise, pace
        self.host, self.device, self.serial, self.events = 1_000_000, 0, 0, []

    def vary(self, us):
        return round(us * 1000 * (1 + self.random.uniform(-self.noise, self.noise)))

    def add(self, cat, name, pid, tid, start, dur, args):
        self.events.append(span(cat, name, start / 1000, dur / 1000, pid, tid, **args))

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


def whole(docs):
    """The same with the clock of PyTorch 2.0 and before, which knows whole microseconds: who launches what is sometimes wrong."""
    for doc in docs:
        for e in doc["traceEvents"]:
            end = int(e["ts"] + e["dur"])
            e["ts"] = int(e["ts"])
            e["dur"] = max(end - e["ts"], 1)
    return docs


def write(path, doc):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f)


def write_run(path, steps, seed, **how):
    write(path, trace(steps, seed, **how))
