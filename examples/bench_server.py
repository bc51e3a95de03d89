#!/usr/bin/env python3
"""Records what tracegate compares of an inference server: five runs, out/run0.json.gz to out/run4.json.gz.

    bench_server.py                        all five
    bench_server.py --trace FILE.json.gz   one run, as an A/B job asks for it

The same prompts, lengths and seed in every run: what differs between two traces should be the change alone.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

RUNS = 5


def record(path):
    """Answers the same requests once and leaves one trace in `path`. Replace model and prompts by your own."""
    # vLLM; SGLang and others have a call or an endpoint that starts and stops the profiler, too
    folder = tempfile.mkdtemp()
    os.environ["VLLM_TORCH_PROFILER_DIR"] = folder
    from vllm import LLM, SamplingParams

    llm = LLM(model="facebook/opt-125m", seed=0)
    prompts, sampling = ["The capital of France is"] * 8, SamplingParams(temperature=0, max_tokens=32, ignore_eos=True)
    llm.generate(prompts, sampling)  # compilers, graphs and caches are warm now
    llm.start_profile()
    llm.generate(prompts, sampling)
    llm.stop_profile()
    del llm
    traces = sorted(glob.glob(folder + "/**/*.json.gz", recursive=True))
    for rank, trace in enumerate(traces):
        end = f"-rank{rank}.json.gz" if len(traces) > 1 else ".json.gz"
        shutil.move(trace, path.removesuffix(".json.gz") + end)


def run(path):
    """One run in a process of its own: the sample is a run, not a request."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    subprocess.run([sys.executable, __file__, "--record", path], check=True)


if sys.argv[1:2] == ["--record"]:
    record(sys.argv[2])
elif sys.argv[1:2] == ["--trace"]:
    run(sys.argv[2])
else:
    for k in range(RUNS):
        run(f"out/run{k}.json.gz")
