#!/usr/bin/env python3
"""Records the example traces: real, measured times of real processes.

    record.py --variant base --out run.json.gz      one run: one process, one trace
    record.py --all                                 everything in traces/, in random order

A run does eight steps of the model in `model.py`: one waits, two warm up, five are
recorded, all on one thread.  Where PyTorch was built with Kineto, the
trace is Kineto's own `export_chrome_trace`.  Debian's build has no Kineto; there the
profiler's measured event tree is written in Kineto's layout by `kineto_layout.py`, an
exporter of this project.  The traces in this folder were recorded that way; the Kineto
branch has not been run on the machine that recorded them.

`--all` mixes the variants (seeded shuffle) so that whatever the machine does meanwhile
hits all of them alike, and keeps every run: none is repeated, picked or dropped.
"""

import argparse
import csv
import ctypes
import datetime
import os
import pathlib
import platform
import random
import subprocess
import sys
import threading

WAIT, WARMUP, ACTIVE = 1, 2, 5
RUNS = {"base": 15}
RUNS_OTHER = 5
SHUFFLE_SEED = 20
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's malloc.h
HEAP_BYTES = 64 << 20
HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE / "traces"
MANIFEST_COLUMNS = ["order", "file", "variant", "started", "pytorch", "loss", "command"]


def export(profiler, path):
    """Writes what the profiler measured."""
    import torch
    import kineto_layout

    if torch.profiler.kineto_available():
        profiler.export_chrome_trace(str(path))
        return
    # The training runs on the main thread alone, backward included; the profiler calls it 1.
    system_tid = {1: threading.get_native_id()}
    kineto_layout.write(path, profiler.profiler.kineto_results, os.getpid(), system_tid)


def warm_heap():
    """Gives the process warm memory to work in, as a long-running job has anyway.

    The profiler's records grow between the tensors, so that in a young process a tensor of
    80 KB lands on fresh pages in some runs and not in others, and page faults then make the
    same operator two to nine times slower.  That is real, but it is not what these traces
    are about.  So glibc is told to keep what is freed, and gets some touched memory to keep.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_TRIM_THRESHOLD, 1 << 30)
        mallopt(M_MMAP_MAX, 0)
        ctypes.memset(ctypes.create_string_buffer(HEAP_BYTES), 1, HEAP_BYTES)


def record(variant, path):
    """One run of one variant.  Prints the last loss, which shows that results are equal."""
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule
    import model

    warm_heap()
    torch.set_num_threads(1)
    training = model.Training(variant)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        record_shapes=True,
        on_trace_ready=lambda profiler: export(profiler, path),
    ) as profiler:
        for _ in range(WAIT + WARMUP + ACTIVE):
            training.step()
            profiler.step()
    print(f"{torch.__version__} {training.loss.item():.6f}")


def plan(variants):
    """All runs in the order in which they are made."""
    runs = [(v, i) for v in variants for i in range(RUNS.get(v, RUNS_OTHER))]
    random.Random(SHUFFLE_SEED).shuffle(runs)
    return runs


def record_one(order, variant, index):
    """Starts one run in a process of its own and describes it for the manifest."""
    name = f"{variant}/run{index:02d}.json.gz"
    (TRACES / variant).mkdir(parents=True, exist_ok=True)
    command = ["record.py", "--variant", variant, "--out", f"traces/{name}"]
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = subprocess.run(
        [sys.executable, *command], cwd=HERE, check=True, capture_output=True, text=True
    )
    version, loss = done.stdout.split()
    print(f"{order:3d} {name} {loss}", flush=True)
    return [order, name, variant, started, version, loss, "python3 " + " ".join(command)]


def cpu_model():
    """The processor's model name, as Linux gives it."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def record_all():
    """Records everything and writes traces/manifest.csv."""
    import model

    rows = [record_one(order, v, i) for order, (v, i) in enumerate(plan(model.VARIANTS))]
    with open(TRACES / "manifest.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(MANIFEST_COLUMNS)
        writer.writerows(sorted(rows, key=lambda row: row[1]))
    print(f"{len(rows)} runs on {cpu_model()}, {os.cpu_count()} cores")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="base")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    if args.all:
        record_all()
    elif args.out:
        record(args.variant, args.out)
    else:
        parser.error("give --out FILE or --all")


if __name__ == "__main__":
    main()
