#!/usr/bin/env python3
"""A job of several processes, each with its own trace (docs/clusters.md):

    torchrun --nproc_per_node 2 examples/ddp.py /tmp/job [--slow RANK]

Trains a small model with DistributedDataParallel over gloo, on the CPU, and records five steps on every
rank: /tmp/job/rank0.json.gz, rank1.json.gz. --slow makes one rank copy its batch 40 times a step.
"""
import argparse
import os
import pathlib
import threading

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import kineto_layout


class Threads(dict):
    """The profiler counts threads from 1, the main one; the backward pass has its own."""

    def __missing__(self, number):
        return threading.get_native_id() + number - 1


def export(profiler, path):
    if torch.profiler.kineto_available():
        profiler.export_chrome_trace(str(path))
    else:  # Debian's build: see kineto_layout.py
        kineto_layout.write(path, profiler.profiler.kineto_results, os.getpid(), Threads())


p = argparse.ArgumentParser()
p.add_argument("folder", type=pathlib.Path)
p.add_argument("--slow", type=int)
o = p.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
o.folder.mkdir(parents=True, exist_ok=True)
schedule = torch.profiler.schedule(wait=1, warmup=2, active=5)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule, record_shapes=True) as profiler:
    for _ in range(8):
        batch = torch.randn(128, 256)
        for _ in range(40 if rank == o.slow else 0):
            batch = batch.clone()
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        profiler.step()
export(profiler, o.folder / f"rank{rank}.json.gz")
dist.destroy_process_group()
