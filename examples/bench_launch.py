#!/usr/bin/env python3
"""Records what tracegate compares of a training whose framework writes the traces: five runs, out/run0-rank0.json.gz and on.

    bench_launch.py                        all five
    bench_launch.py --trace FILE.json.gz   one run, as an A/B job asks for it: FILE-rankR.json.gz of rank R

A run is a short training: five steps wait, three warm the profiler up, ten are recorded.
"""
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

RUNS, RANKS = 5, 8
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]


def command(folder):
    """One training that leaves its traces below `folder`. Replace model and data by your own."""
    # torchtitan
    return [*TORCHRUN, "-m", "torchtitan.train", "--job.config_file", "train.toml", "--job.dump_folder", folder, "--training.steps", "18",
            "--profiling.enable_profiling", "--profiling.profile_freq", "18", "--profiling.profiler_warmup", "3",
            "--profiling.profiler_active", "10"]  # profile_traces/iteration_18/rank0_trace.json
    # end of torchtitan
    # Megatron
    stacks = ["--pytorch-profiler-collect-callstack"] if os.environ.get("TRACE_STACKS") == "1" else []  # after a failure
    ranks = [str(rank) for rank in range(RANKS)]
    return [*TORCHRUN, "pretrain_gpt.py", "--train-iters", "20", "--profile", "--use-pytorch-profiler", "--profile-step-start", "8",
            "--profile-step-end", "18", "--profile-ranks", *ranks, "--pytorch-profiler-collect-shapes", *stacks,
            "--tensorboard-dir", folder + "/tensorboard",  # torch_profile/rank-0.json.gz
            *os.environ.get("MEGATRON_ARGS", "--mock-data").split()]
    # end of Megatron


def run(path):
    """One run in processes of its own: the sample is a run, not a step."""
    folder = tempfile.mkdtemp()
    subprocess.run(command(folder), check=True)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    traces = {}
    for trace in glob.glob(folder + "/**/*.json*", recursive=True):
        rank = re.fullmatch(r"rank-?(\d+)(?:_trace)?\.json(?:\.gz)?", os.path.basename(trace))
        if rank:
            traces[int(rank[1])] = trace
    if sorted(traces) != list(range(RANKS)):
        sys.exit(f"bench: {RANKS} ranks should have written a trace each, found those of {sorted(traces)} in {folder}")
    for rank, trace in traces.items():
        to = f"{path.removesuffix('.json.gz')}-rank{rank}.json.gz" if RANKS > 1 else path
        if trace.endswith(".gz"):
            shutil.move(trace, to)
        else:
            with open(trace, "rb") as plain, gzip.open(to, "wb", 6) as packed:
                shutil.copyfileobj(plain, packed)
    shutil.rmtree(folder)


if sys.argv[1:2] == ["--trace"]:
    run(sys.argv[2])
else:
    for k in range(RUNS):
        run(f"out/run{k}.json.gz")
