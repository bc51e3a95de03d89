#!/usr/bin/env python3
"""Records what tracegate compares of an inference server: five runs, out/run0.json.gz to out/run4.json.gz.

    bench_server.py                        all five
    bench_server.py --trace FILE.json.gz   one run, as an A/B job asks for it

The same prompts, lengths and seed in every run: what differs between two traces should be the change alone. With several
ranks (RANKS, the tensor parallel size) rank R's trace is FILE-rankR.json.gz.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

RUNS, RANKS = 5, 1
STACKS = os.environ.get("TRACE_STACKS") == "1"  # after a failure, for the causes alone


def answer(folder):
    """Answers the same requests once, warm, and leaves the traces in `folder`. Replace model and prompts by your own."""
    # vLLM
    from vllm import LLM, SamplingParams

    # vLLM 0.13 and newer; before that the environment variable VLLM_TORCH_PROFILER_DIR says where traces go
    profiler = {"profiler": "torch", "torch_profiler_dir": folder, "torch_profiler_with_stack": STACKS}
    llm = LLM(model="facebook/opt-125m", seed=0, tensor_parallel_size=RANKS, profiler_config=profiler)
    prompts, sampling = ["The capital of France is"] * 8, SamplingParams(temperature=0, max_tokens=32, ignore_eos=True)
    llm.generate(prompts, sampling)  # compilers, graphs and caches are warm now
    llm.start_profile()
    llm.generate(prompts, sampling)
    llm.stop_profile()
    # end of vLLM
    # SGLang
    os.environ.update(SGLANG_TORCH_PROFILER_DIR=folder, SGLANG_PROFILE_WITH_STACK=str(STACKS).lower())
    import sglang

    engine = sglang.Engine(model_path="facebook/opt-125m", random_seed=0, tp_size=RANKS)
    prompts, sampling = ["The capital of France is"] * 8, {"temperature": 0, "max_new_tokens": 32, "ignore_eos": True}
    engine.generate(prompts, sampling)  # compilers, graphs and caches are warm now
    engine.start_profile()
    engine.generate(prompts, sampling)
    engine.stop_profile()
    engine.shutdown()
    # end of SGLang


def record(path):
    """One trace per rank. Servers write a name of their own: rank0.…, or 1789610161-TP-0.trace.json.gz."""
    folder = tempfile.mkdtemp()
    answer(folder)
    traces = {}
    for trace in glob.glob(folder + "/**/*.json.gz", recursive=True):
        rank = re.search(r"(?:rank[-_]?|-TP-)(\d+)", os.path.basename(trace))
        traces[int(rank[1]) if rank else 0] = trace
    if sorted(traces) != list(range(RANKS)):
        sys.exit(f"bench: {RANKS} ranks should have written a trace each, found those of {sorted(traces)} in {folder}")
    for rank, trace in traces.items():
        shutil.move(trace, path.removesuffix(".json.gz") + (f"-rank{rank}.json.gz" if RANKS > 1 else ".json.gz"))


def run(path):
    """One run in a process of its own: the sample is a run, not a request."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    subprocess.run([sys.executable, __file__, "--record", path], check=True)


if __name__ == "__main__":  # servers start processes that import this file
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    elif sys.argv[1:2] == ["--trace"]:
        run(sys.argv[2])
    else:
        for k in range(RUNS):
            run(f"out/run{k}.json.gz")
