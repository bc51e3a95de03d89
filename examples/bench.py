#!/usr/bin/env python3
"""Records what tracegate compares: five runs, out/run0.json.gz to out/run4.json.gz, a process each.

    bench.py                        all five
    bench.py --trace FILE.json.gz   one run, as an A/B job asks for it

With RANKS > 1 a run is a torchrun of so many processes; rank R writes FILE-rankR.json.gz.
"""
import os
import subprocess
import sys

RUNS, RANKS = 5, 1


def make_step():
    """Returns a function that does one step. Replace the example by your own program's step."""
    # example
    import torch

    print("bench.py: this measures an example; put your own step into make_step()", file=sys.stderr)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, target = torch.randn(64, 256), torch.randint(10, (64,))

    def step(_):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data), target).backward()
        optimizer.step()

    return step
    # end of the example


def record(path):
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule

    cuda = torch.cuda.is_available()
    torch.manual_seed(0)
    step = make_step()
    # 5 steps for compilers, autotuning and the allocator, 3 for the profiler itself, 10 that count
    with profile(activities=[ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else []),
                 schedule=schedule(wait=5, warmup=3, active=10, repeat=1),
                 with_stack=os.environ.get("TRACE_STACKS") == "1",  # after a failure, for the causes alone
                 on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
        for k in range(18):
            step(k)
            if cuda:
                torch.cuda.synchronize()
            profiler.step()


def run(path):
    """One run in a process of its own: the sample is a run, not a step."""
    command = [sys.executable, __file__, "--record", path]
    if RANKS > 1:
        command[1:1] = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    subprocess.run(command, check=True)


if sys.argv[1:2] == ["--record"]:
    rank = f"-rank{os.environ['RANK']}" if RANKS > 1 else ""
    record(sys.argv[2].removesuffix(".json.gz") + rank + ".json.gz")
elif sys.argv[1:2] == ["--trace"]:
    run(sys.argv[2])
else:
    for k in range(RUNS):
        run(f"out/run{k}.json.gz")
