#!/usr/bin/env python3
"""Records the planted changes: traces/base-MODEL-N.json.gz and traces/CASE-N.json.gz. Needs PyTorch.

    generate.py [CASE…]       all of them by default; about two minutes on two cores
"""
import os
import random
import subprocess
import sys
import tempfile

import plant

RUNS = 3


def jobs(names):
    """(output, folder's case or None, model, packages), in an order in which nothing that the machine does hits one side alone."""
    todo = [(name, plant.CASES[name][0], plant.CASES[name][3]) for name in names]
    todo += [(f"base-{model}", model, "fastnorm-1.0") for model in sorted({t[1] for t in todo})] if names == list(plant.CASES) else []
    every = [(k, *t) for t in todo for k in range(RUNS)]
    random.Random(7).shuffle(every)
    return every


def main():
    names = sys.argv[1:] or list(plant.CASES)
    traces = os.path.join(plant.HERE, "traces")
    os.makedirs(traces, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        plant.base(tmp + "/base")
        for name in names:
            plant.base(f"{tmp}/{name}")
            plant.apply(f"{tmp}/{name}", name)
        for k, name, model, packages in jobs(names):
            folder = tmp + "/base" if name.startswith("base-") else f"{tmp}/{name}"
            out = f"{traces}/{name}-{k}.json.gz"
            subprocess.run([sys.executable, os.path.join(plant.HERE, "record.py"), folder, model,
                            os.path.join(plant.HERE, "packages", packages), out], check=True, cwd=folder)
            print(os.path.basename(out), os.path.getsize(out), flush=True)


if __name__ == "__main__":
    main()
