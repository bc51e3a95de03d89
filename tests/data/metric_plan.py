"""A small program whose every event has a written-down place, and one change for each metric.

Times are ns from the start of a step. A `Work` is one launch call with the device work it starts.
`plan(step)` is the unchanged program, `PLANTED` maps each metric of the policy to a function that
makes it worse. `trace_bytes` writes steps as a trace.
"""

import dataclasses
import json

US = 1000
STEPS = (1, 2, 3)
PERIOD = 2000 * US  # from step to step, usually
BASE_NS = 1_790_857_026_000_000_000


@dataclasses.dataclass
class Row:
    """Device work."""

    name: str
    stream: int
    start: int
    dur: int
    cat: str = "kernel"
    args: dict = dataclasses.field(default_factory=dict)

    @property
    def end(self):
        return self.start + self.dur


@dataclasses.dataclass
class Work:
    call: int  # start of the launching call
    call_dur: int
    rows: list
    name: str = "cudaLaunchKernel"


@dataclasses.dataclass
class Plan:
    works: list
    ops: list  # (name, start, dur, shapes, types)
    syncs: list  # (start, dur)
    memory: list  # (time, total allocated, total reserved if it is another)
    window: int = 1500 * US
    period: int = PERIOD
    frames: list = dataclasses.field(default_factory=list)  # Python functions: (name, start, dur)

    def row(self, name):
        return next(r for w in self.works for r in w.rows if r.name == name)

    def work(self, name):
        return next(w for w in self.works if any(r.name == name for r in w.rows))

    def later(self, since, by):
        """All device work from `since` on starts later; its calls stay."""
        for w in self.works:
            for r in w.rows:
                r.start += by if r.start >= since else 0


def copy(kind, stream, start, dur, nbytes):
    return Row(f"Memcpy {kind}", stream, start, dur, "gpu_memcpy", {"bytes": nbytes})


def plan(step):
    """
    Streams 7 and 30 compute, 8 copies, 20 communicates. Steps differ in two kernels, so that a mean of ratios is not a
    ratio of means.

    us   30........130   gemm_a                     180-200 idle, gemm_b launched at 190: host wait
            80.........180   nccl, 50 exposed       260-270, 274-280, ... idle, launched long before: kernel wait
                 200...260   gemm_b                 330-400 idle, launched at 60: other
    """
    d = step * US
    grid = {"grid": [8, 1, 1], "block": [128, 1, 1], "registers per thread": 64}
    work = [
        Work(10 * US, 6 * US, [Row("gemm_a", 7, 30 * US, 100 * US - 3 * d, args=dict(grid))]),
        Work(20 * US, 6 * US, [Row("ncclDevKernel_AllReduce", 20, 80 * US, 100 * US)]),
        Work(190 * US, 6 * US, [Row("gemm_b", 7, 200 * US, 60 * US)]),
        Work(30 * US, 2 * US, [Row("Memset (Device)", 7, 270 * US, 4 * US, "gpu_memset", {"bytes": 4096})],
             "cudaMemsetAsync"),
        Work(34 * US, 2 * US, [copy("HtoD (Pinned -> Device)", 7, 280 * US, 10 * US, 80000)], "cudaMemcpyAsync"),
        Work(38 * US, 2 * US, [copy("HtoD (Pageable -> Device)", 8, 284 * US, 12 * US, 36000)], "cudaMemcpyAsync"),
        Work(42 * US, 2 * US, [copy("DtoH (Device -> Pinned)", 8, 300 * US, 8 * US, 16000)], "cudaMemcpyAsync"),
        Work(46 * US, 2 * US, [copy("DtoD (Device -> Device)", 7, 310 * US, 5 * US, 64000)], "cudaMemcpyAsync"),
        Work(50 * US, 2 * US, [copy("PtoP (Device -> Device)", 8, 320 * US, 10 * US, 40000)], "cudaMemcpyAsync"),
        Work(60 * US, 6 * US, [Row("graph_k1", 7, 400 * US, 20 * US), Row("graph_k2", 7, 421 * US, 9 * US)],
             "cudaGraphLaunch"),
        Work(70 * US, 7 * US, [Row("tiny", 7, 440 * US, 2 * US)]),
        Work(100 * US, 60 * US, [Row("gemm_c", 7, 450 * US, 50 * US + 5 * d)]),
        Work(17 * US, 2 * US, [Row("pair", 30, 40 * US, 10 * US + d)]),
        Work(27 * US, 2 * US, [Row("pair", 30, 66 * US, 12 * US)]),
    ]  # fmt: skip
    ops = [("aten::linear", 5 * US, 60 * US, [[8, 16], [16, 4]], ["float", "float"]),
           ("aten::add", 700 * US, 20 * US + d, [[8, 4]], ["float"])]  # fmt: skip
    # forward calls another forward of its file, which is the same name without lines. Linear_0 and it launch gemm_c.
    frames = [("train.py(12): step", 4 * US, 300 * US + d), ("model.py(7): forward", 22 * US, 146 * US),
              ("nn.Module: Net_0", 24 * US, 142 * US + d), ("<built-in method linear>", 25 * US, 2 * US),
              ("model.py(30): forward", 90 * US, 74 * US), ("nn.Module: Linear_0", 92 * US, 70 * US - d)]
    return Plan(work, ops, [(600 * US, 10 * US)], [(650 * US, (4 + step) << 20)], frames=frames)


def burst(step):
    """1100 launches that wait together from 110 us on, until the first starts at 200 us."""
    work = [Work(100 * i, 100, [Row("tiny", 7, 200 * US + 100 * i, 100)]) for i in range(1100)]
    return Plan(work, [], [], [])


# --- one change for each metric ----------------------------------------------------------------


def slower_tail(p):
    p.row("gemm_c").dur += 50 * US


def idle_tail(p):
    p.later(400 * US, 60 * US)


def late_launch(p):
    p.row("gemm_b").start += 30 * US
    p.row("gemm_b").dur -= 30 * US


def longer_comm(p):
    p.later(200 * US, 15 * US)
    p.work("gemm_b").call += 15 * US
    p.row("ncclDevKernel_AllReduce").dur += 15 * US


def more_work(p):
    p.works.append(Work(80 * US, 6 * US, [Row("gemm_d", 7, 800 * US, 30 * US)]))


def another_tiny(p):
    p.works.append(Work(80 * US, 6 * US, [Row("tiny", 7, 800 * US, 2 * US)]))


def short_queue(p):
    p.work("graph_k1").call = 340 * US
    p.work("Memcpy DtoD (Device -> Device)").call = 305 * US


def ungraph(p):
    w = p.work("graph_k1")
    p.works.remove(w)
    p.works += [Work(60 * US + 4 * US * i, 2 * US, [r]) for i, r in enumerate(w.rows)]


def of(name, change):
    return lambda p: change(p.row(name))


def bytes_of(name, by):
    return of(name, lambda r: r.args.update(bytes=r.args["bytes"] + by))


def longer(name, by):
    return of(name, lambda r: setattr(r, "dur", r.dur + by))


def call_of(name, by):
    return lambda p: setattr(p.work(name), "call_dur", p.work(name).call_dur + by)


def op_of(name, **change):
    def apply(p):
        p.ops = [tuple(change.get(k, v) for k, v in zip(("name", "start", "dur", "shapes", "types"), o))
                 if o[0] == name else o for o in p.ops]  # fmt: skip
    return apply


def frame_of(name, by):
    def apply(p):
        p.frames = [(n, start, dur + by) if n == name else (n, start, dur) for n, start, dur in p.frames]
    return apply


HTOD, DTOH = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"
DTOD, PTOP = "Memcpy DtoD (Device -> Device)", "Memcpy PtoP (Device -> Device)"
SET = "Memset (Device)"
COMM = "ncclDevKernel_AllReduce"

PLANTED = {
    "device_extent": slower_tail, "gpu_busy": slower_tail, "compute_time": slower_tail,
    "idle": idle_tail, "idle_other": idle_tail, "compute_share": idle_tail, "launch_delay": idle_tail,
    "idle_host_wait": late_launch, "launch_gap": late_launch,
    "idle_kernel_wait": longer("gemm_b", -10 * US),
    "non_compute_share": longer_comm, "comm_share": longer_comm, "comm_time": longer_comm,
    "comm_exposed": longer_comm, "comm_overlap": longer_comm,
    "memory_share": longer(PTOP, 30 * US), "memory_time": longer(PTOP, 30 * US),
    "launch_count": more_work, "kernel_names": more_work, "delay_outliers": more_work,
    "launch_time": call_of("tiny", 3 * US), "runtime_outliers": call_of("gemm_b", 60 * US),
    "short_kernels": another_tiny,
    "queue_mean": short_queue, "queue_max": short_queue, "queue_full": lambda p: p.later(0, 50 * US),
    "sync_count": lambda p: p.syncs.append((620 * US, 5 * US)),
    "graph_launches": ungraph,
    "memcpy_bytes": bytes_of(PTOP, 4096),
    "bytes_htod": bytes_of(HTOD, 4096), "bytes_dtoh": bytes_of(DTOH, 4096), "bytes_dtod": bytes_of(DTOD, 4096),
    "bytes_ptop": bytes_of(PTOP, 4096), "bytes_set": bytes_of(SET, 4096),
    "bandwidth_htod": longer(HTOD, 10 * US), "bandwidth_dtoh": longer(DTOH, 2 * US),
    "bandwidth_dtod": longer(DTOD, 3 * US), "bandwidth_ptop": longer(PTOP, 10 * US),
    "bandwidth_set": longer(SET, 4 * US),
    "bandwidth_peak_htod": longer(HTOD, 10 * US), "bandwidth_peak_dtoh": longer(DTOH, 2 * US),
    "bandwidth_peak_dtod": longer(DTOD, 3 * US), "bandwidth_peak_ptop": longer(PTOP, 10 * US),
    "bandwidth_peak_set": longer(SET, 4 * US),
    "mem_peak": lambda p: p.memory.append((660 * US, 9 << 20)),
    "mem_reserved": lambda p: p.memory.append((660 * US, 1, 9 << 20)),
    "host_time": lambda p: setattr(p, "window", p.window + 200 * US),
    "step_time": lambda p: (setattr(p, "window", p.window + 450 * US), setattr(p, "period", p.period + 450 * US)),
    # per name
    "count": another_tiny, "added": more_work,
    "removed": lambda p: p.works.remove(p.work("tiny")),
    "total": slower_tail, "self": slower_tail, "mean": longer("pair", 10 * US), "median": slower_tail, "p95": slower_tail,
    "max": slower_tail, "share": slower_tail,
    "launch_config": of("gemm_a", lambda r: r.args.update({"registers per thread": 128})),
    "input_types": op_of("aten::linear", types=["float", "double"]),
    "input_shapes": op_of("aten::linear", shapes=[[8, 32], [32, 4]]),
    "bytes": bytes_of(HTOD, 4096),
    # of Python frames; "METRIC of KIND" where the metric is known of other kinds as well
    "device_time": slower_tail, "device_self": slower_tail, "device_count": another_tiny,
    "count of module": lambda p: p.frames.append(("nn.Module: Linear_0", 320 * US, 5 * US)),
    "total of module": frame_of("nn.Module: Net_0", 40 * US), "self of module": frame_of("nn.Module: Net_0", 40 * US),
    "added of module": lambda p: p.frames.append(("nn.Module: Linear_1", 320 * US, 5 * US)),
    "total of source": frame_of("model.py(7): forward", 40 * US), "self of source": frame_of("model.py(7): forward", 40 * US),
    "mean of source": frame_of("train.py(12): step", 40 * US), "device_time of source": slower_tail,
    # over ranks: of the last one
    "skew": slower_tail, "rank_spread": slower_tail,
    "collective_skew": longer_comm,
}  # fmt: skip


# --- trace -------------------------------------------------------------------------------------


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def event(**e):
    ts, dur = us(e.pop("ts")), us(e.pop("dur")) if "dur" in e else None
    text = json.dumps(e)[:-1] + f', "ts": {ts}'
    return text + (f', "dur": {dur}}}' if dur else "}")


def trace_bytes(plans, rank=None, world=1):
    """plans: step number -> Plan. Ranks of a job start at different times."""
    events, correlation, t0 = [], 100, 5_000_000 * US + (rank or 0) * 137
    for number, p in plans.items():
        host = {"pid": 1, "tid": 1}
        events.append(event(ph="X", cat="user_annotation", name=f"ProfilerStep#{number}", ts=t0, dur=p.window, **host))
        for name, start, dur, shapes, types in p.ops:
            args = {"Input Dims": shapes, "Input type": types}
            events.append(event(ph="X", cat="cpu_op", name=name, ts=t0 + start, dur=dur, args=args, **host))
        for name, start, dur in p.frames:
            events.append(event(ph="X", cat="python_function", name=name, ts=t0 + start, dur=dur, **host))
        for start, dur in p.syncs:
            events.append(event(ph="X", cat="cuda_runtime", name="cudaDeviceSynchronize", ts=t0 + start, dur=dur, **host))
        for at, total, *reserved in p.memory:
            args = {"Total Allocated": total, "Total Reserved": (reserved or [total])[0], "Bytes": 1, "Device Id": 0, "Device Type": 1}
            events.append(event(ph="i", cat="cpu_instant_event", name="[memory]", ts=t0 + at, s="t", args=args, **host))
        for w in p.works:
            correlation += 1
            args = {"correlation": correlation}
            events.append(event(ph="X", cat="cuda_runtime", name=w.name, ts=t0 + w.call, dur=w.call_dur, args=args, **host))
            for r in w.rows:
                args = {"correlation": correlation, "device": 0, "stream": r.stream, **r.args}
                events.append(event(ph="X", cat=r.cat, name=r.name, pid=0, tid=r.stream, ts=t0 + r.start, dur=r.dur, args=args))
        t0 += p.period
    head = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "profile_memory": 1,
            "baseTimeNanoseconds": BASE_NS}  # fmt: skip
    if rank is not None:
        head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return (json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(events) + "\n]}\n").encode()
