#!/usr/bin/env python3
"""The lines of docs/clusters.md for schedulers whose workers return their summaries, run as they stand by a pool of processes, and by
Dask's workers (Debian: python3-distributed) where they are installed: what the driver gathers is what summaries of the same files on one
disk are, and the gate takes it. A worker without its trace fails.
"""
import concurrent.futures
import os
import subprocess

try:
    import distributed
except ImportError:
    distributed = None

from support import PROGRAM, ROOT, check, expect, expect_end, read_bytes, read_text, run_parts, tracegate
from plain_model import usual, write_run

RANKS = 4


def page():
    """What the page's block defines."""
    text = read_text(os.path.join(ROOT, "docs/clusters.md")).split("## Ray, Dask, Spark\n")[1]
    lines = {}
    exec(text.split("```python\n")[1].split("```")[0], lines)
    return lines


def work(path, rank, run):
    return page()["summary"](path, rank, run)


def by_processes(files, run):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return list(pool.map(work, files, range(RANKS), [run] * RANKS))


def by_dask(files, run):
    """Two workers of Dask's own, in this process: theirs take as long to start and to end as the whole test."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        return client.gather(client.map(page()["summary"], files, range(RANKS), [run] * RANKS))


def gathered(tmp, name, seed):
    """A job of RANKS workers; each returns the bytes of its summary."""
    os.makedirs(f"{tmp}/{name}")
    files = [f"{tmp}/{name}/{rank}.json" for rank in range(RANKS)]
    for rank, path in enumerate(files):
        write_run(path, [usual()] * 3, seed + rank)
    page()["gather"](by_processes(files, name), f"{tmp}/{name}.tgs")
    return files


def main(tmp):
    os.symlink(PROGRAM, f"{tmp}/tracegate")
    os.environ["PATH"] = f"{tmp}:{os.environ['PATH']}"
    files = gathered(tmp, "one", 0)
    gathered(tmp, "two", 100)
    for rank, path in enumerate(files):
        expect_end("summarize", tracegate("summarize", path, "--rank", str(rank), "--run", "one", "-o", f"{tmp}/disk{rank}.tgs"), 0)
    expect_end("merge", tracegate("merge", *[f"{tmp}/disk{k}.tgs" for k in range(RANKS)], "-o", f"{tmp}/disk.tgs"), 0)
    check("gathered are the same bytes as from a disk", read_bytes(f"{tmp}/one.tgs") == read_bytes(f"{tmp}/disk.tgs"))
    if distributed:
        page()["gather"](by_dask(files, "one"), f"{tmp}/dask.tgs")
        check("Dask's workers return the same bytes", read_bytes(f"{tmp}/dask.tgs") == read_bytes(f"{tmp}/disk.tgs"))
    done = tracegate("check", f"{tmp}/two.tgs", "--baseline", f"{tmp}/one.tgs", "--json", f"{tmp}/r.json")
    expect(f"the gate takes it: {done.stderr}", done.returncode, 0)
    try:
        work(f"{tmp}/nowhere.json", 0, "one")
        expect("a worker without its trace", "no error", "CalledProcessError")
    except subprocess.CalledProcessError as e:
        expect("a worker without its trace", e.returncode, 3)


run_parts(main)
