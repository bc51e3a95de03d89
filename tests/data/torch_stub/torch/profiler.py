"""The profiler of the stand-in: `schedule` as PyTorch documents it, and one thread's steps in Kineto's layout."""
import gzip
import json
import os
import random
import types

import torch

ProfilerActivity = types.SimpleNamespace(CPU="cpu", CUDA="cuda")
NONE, WARMUP, RECORD, SAVE = range(4)


def kineto_available():
    return "NO_KINETO" not in os.environ


def schedule(*, wait, warmup, active, repeat):
    def action(step):
        if step >= repeat * (wait + warmup + active):
            return NONE
        return NONE if step < wait else WARMUP if step < wait + warmup else SAVE if step == wait + warmup + active - 1 else RECORD
    return action


class profile:
    def __init__(self, activities, schedule, on_trace_ready, record_shapes, profile_memory, with_stack):
        self.activities, self.schedule, self.ready, self.with_stack = activities, schedule, on_trace_ready, with_stack
        self.flags = {"record_shapes": int(record_shapes), "profile_memory": int(profile_memory), "with_stack": int(with_stack)}
        self.number, self.steps = 0, []

    def __enter__(self):
        torch.heard.clear()
        return self

    def __exit__(self, *_):
        if self.schedule(self.number) in (RECORD, SAVE) and self.steps:
            self.ready(self)  # PyTorch, too, hands out what it has

    def step(self):
        action = self.schedule(self.number)
        if action in (RECORD, SAVE):
            self.steps.append((self.number, list(torch.heard)))
        torch.heard.clear()
        self.number += 1
        if action == SAVE:
            self.ready(self)

    def export_chrome_trace(self, path):
        if not kineto_available():
            raise RuntimeError("no Kineto")
        if "SPOILT_DISK" in os.environ:
            with open(path, "w", encoding="utf-8") as file:
                file.write("{")
            raise OSError("disk full")
        open_ = gzip.open if path.endswith(".gz") else open
        with open_(path, "wt", encoding="utf-8") as file:
            json.dump(document(self), file)


def document(profiler):
    noise, events, at = random.Random(os.urandom(8)), [], 1000.0

    def span(cat, name, ts, dur, tid=1, pid=1, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3), "args": args})

    for number, heard in profiler.steps:
        begin, at = at, at + 5
        for op, launches, frames in heard:
            us, start = 20 * noise.uniform(0.99, 1.01), at
            for file, line, name in frames if profiler.with_stack else ():
                span("python_function", f"{file}({line}): {name}", at, us + 2 * (start + 20 - at))
                at += 0.25
            span("cpu_op", op, at, us)
            if launches == "sync":
                span("cuda_runtime", "cudaStreamSynchronize", at + 1, 5, correlation=len(events))
            elif launches:
                correlation = len(events)
                span("cuda_runtime", "cudaLaunchKernel", at + 1, 3, correlation=correlation)
                span("kernel", launches, at + 6, 10 * noise.uniform(0.99, 1.01), 7, 0, device=0, stream=7, correlation=correlation)
            at = start + 64
        span("user_annotation", f"ProfilerStep#{number}", begin, at - begin)
        at += 3
    return {"schemaVersion": 1, **profiler.flags, "deviceProperties": [{"id": 0, "name": "Stand-in"}], "traceEvents": events}
