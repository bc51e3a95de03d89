#!/usr/bin/env python3
"""The job of docs/clusters.md, section Kubernetes, without a cluster: the manifest has the fields that make an indexed job, and its command,
taken from the manifest, summarises a rank with nothing but what Kubernetes sets (JOB_COMPLETION_INDEX); the parts merge to all ranks."""
import os
import re
import subprocess

import yaml

from cluster import make
from support import PROGRAM, ROOT, expect, read_text, run_parts, tracegate

RANKS = 3


def manifest():
    section = read_text(os.path.join(ROOT, "docs/clusters.md")).split("\n## Kubernetes\n")[1].split("\n## ")[0]
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", section, re.S)[1])


def main(tmp):
    job = manifest()
    spec = job["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    expect("kind", (job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
    expect("indexed", (spec["completionMode"], spec["completions"] == spec["parallelism"] > 1), ("Indexed", True))
    expect("pods are not started again in place", pod["restartPolicy"], "Never")
    expect("every mount has a volume", {m["name"] for m in container["volumeMounts"]}, {v["name"] for v in pod["volumes"]})
    expect("shell", container["command"][:2], ["sh", "-c"])
    line = container["command"][2]
    expect("the program is called", line.count("tracegate summarize"), 1)
    traces = make(tmp + "/t", RANKS)
    os.makedirs(tmp + "/perf")
    os.makedirs(tmp + "/bin")
    os.symlink(PROGRAM, tmp + "/bin/tracegate")
    for rank, trace in enumerate(traces):
        # The training is a copy of its trace; the volume is a folder here.
        own = line.replace("python train.py", f"cp {trace} {tmp}/trace.json").replace("/tmp/trace.json",
                                                                                      f"{tmp}/trace.json").replace("/perf/", f"{tmp}/perf/")
        done = subprocess.run(["sh", "-c", own], capture_output=True, text=True, check=False,
                              env={"PATH": tmp + "/bin:" + os.environ["PATH"], "JOB_COMPLETION_INDEX": str(rank), "JOB_NAME": "j"})
        expect(f"pod {rank}: {done.stderr}", done.returncode, 0)
    expect("files", sorted(os.listdir(tmp + "/perf/j")), [f"summary-{k}.tgs" for k in range(RANKS)])
    parts = [f"{tmp}/perf/j/{name}" for name in os.listdir(tmp + "/perf/j")]
    done = tracegate("merge", *parts, "-o", tmp + "/all.tgs")
    expect("merge: " + done.stderr, done.returncode, 0)
    done = subprocess.run(["sh", "-c", own], capture_output=True, text=True, check=False,
                          env={"PATH": tmp + "/bin:" + os.environ["PATH"], "JOB_COMPLETION_INDEX": "0", "JOB_NAME": "k"})
    expect("a trace of another rank is refused", (done.returncode, os.path.exists(tmp + "/perf/k/summary-0.tgs")), (2, False))


run_parts(main)
