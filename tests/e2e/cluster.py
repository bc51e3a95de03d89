#!/usr/bin/env python3
"""Thousands of ranks: --rank auto, one summary a rank, merges in three trees with equal bytes, and what check says of a
straggler, a collective more on one rank, a slow kernel on eight, and a rank that is missing. tracegate-mpi where it is
built. docs/clusters.md describes all of it.

usage: cluster [RANKS]   (default 1024)
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

from support import (PROGRAM, expect, expect_end, expect_has, read_bytes, read_json, read_text, run_parts, tracegate,
                     write_bytes, write_json, write_text)
from plain_model import launched, mark, span

MPI = os.path.join(os.path.dirname(PROGRAM), "mpi", "tracegate-mpi")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]
COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
POLICY = """version: 1
suites: [{{name: s, trace: none.json, baseline: none, ranks: {{expect: {n}}}}}]
rules:
  - {{id: collectives, match: {{class: comm, rank: each}}, metric: count, direction: both, fail: {{abs: 0}}}}
  - {{id: kernels, match: {{kind: kernel, name: gemm_kernel, rank: each}}, metric: total, fail: {{max: 700us}}}}
"""
METRICS = """version: 1
rules:
  - {id: step, metric: step_time, fail: {pct: 10%}}
  - {id: skew, metric: skew, fail: {max: 10%}}
"""


def run(*args, env=None, **kw):
    return tracegate(*args, env={"PATH": os.environ["PATH"], **(env or {})}, **kw)


def trace(rank, world, late=(), slow=(), extra=(), since=1, run=0):
    """Steps of 3 ms: host work, a kernel of 500 us, a collective that ends when the last rank has come. No two ranks, and no two runs,
    load their data in the same nanoseconds; the first 64 ranks take as long as all in the mean."""
    events, start = [], 1000
    for step in range(3):
        lag = 400 if rank in late and step >= since else 0
        longer = 300 if rank in slow else 0
        wait = 0 if lag or longer else 400 * (bool(late) and step >= since) + 300 * bool(slow)
        call = 100 * step + 1

        events += [mark(10 + step, start, 3000), span("cpu_op", "aten::load_data", start + 10, 100 + lag + (rank * 1567 % 4096 * 2 + run) / 1000),
                   *launched("gemm_kernel", start + 610, start + 700, 500 + longer, call, 5),
                   *launched(COLLECTIVE, start + 660, start + 1800 - wait, 100 + wait + rank % 3, call + 1, 5)]
        if rank in extra:
            events += launched(COLLECTIVE, start + 680, start + 2000, 100, call + 2, 5)
        start += 3100
    return dict(schemaVersion=1, deviceProperties=[dict(id=0, name="Fake")], traceEvents=events,
                distributedInfo=dict(backend="nccl", rank=rank, world_size=world))


def make(folder, ranks, **planted):
    os.makedirs(folder)
    for rank in range(ranks):
        write_json(f"{folder}/rank{rank}.json", trace(rank, ranks, **planted))
    return sorted(glob.glob(folder + "/*.json"))


def summaries(files, folder):
    """As xargs -n 64 does it: some files a process."""
    os.makedirs(folder)
    for i in range(0, len(files), 64):
        done = run("summarize", *files[i:i + 64], "--run", "a", "-o", f"{folder}/{i:06}.tgs")
        expect("summarize: " + done.stderr, done.returncode, 0)
    return sorted(glob.glob(folder + "/*.tgs"))


def merge(files, to):
    done = run("merge", *files, "-o", to)
    expect("merge: " + done.stderr, done.returncode, 0)
    return read_bytes(to)


def trees(tmp, parts):
    """At once; one after the other, from the last; by threes, with one part in all of them."""
    whole = merge(parts, tmp + "/whole.tgs")
    so_far = parts[-1]
    for i, part in enumerate(reversed(parts[:-1])):
        merge([so_far, part], f"{tmp}/chain{i % 2}.tgs")
        so_far = f"{tmp}/chain{i % 2}.tgs"
    expect("a chain gives the same bytes", read_bytes(so_far) == whole, True)
    groups = []
    for i in range(3):
        groups.append(f"{tmp}/group{i}.tgs")
        merge(parts[i::3] + parts[:1], groups[-1])
    expect("groups that overlap give the same bytes", merge(groups, tmp + "/groups.tgs") == whole, True)
    expect("once more changes nothing", merge([tmp + "/whole.tgs"] + groups, tmp + "/again.tgs") == whole, True)
    return whole


def judged(tmp, fresh, base, ranks):
    write_text(tmp + "/p.yml", POLICY.format(n=ranks))
    done = run("check", fresh, "--baseline", base, "--policy", tmp + "/p.yml", "--suite", "s", env={"COLUMNS": "1000"})
    return done.returncode, done.stdout + done.stderr


def verdicts(tmp, ranks):
    base = tmp + "/base.tgs"
    usual = make(tmp + "/b", ranks)
    merge(summaries(usual, tmp + "/bs"), base)
    same = tmp + "/same.tgs"
    merge(summaries(make(tmp + "/same", ranks, run=1), tmp + "/sames"), same)
    code, text = judged(tmp, same, base, ranks)
    expect("the same: " + text, code, 0)
    expect("nobody is late", " late: " in text, False)
    straggler = ranks * 2 // 3
    files = make(tmp + "/f", ranks, late=(straggler,), extra=(5,))
    parts = summaries(files, tmp + "/fs")
    whole = trees(tmp, parts)
    code, text = judged(tmp, tmp + "/whole.tgs", base, ranks)
    expect("a collective more: " + text[:500], code, 1)
    expect_has("a collective more", text, COLLECTIVE + " [rank 5]")
    expect_has("a straggler", text, f"rank {straggler} is late", "from step 11 on", "aten::load_data (host)")
    slow = tuple(range(ranks // 2, ranks // 2 + 8))
    merge(summaries(make(tmp + "/s", ranks, slow=slow), tmp + "/ss"), tmp + "/slow.tgs")
    code, text = judged(tmp, tmp + "/slow.tgs", base, ranks)
    expect("a slow kernel: " + text[:500], code, 1)
    expect_has("a slow kernel", text, f"gemm_kernel [ranks {slow[0]}–{slow[-1]}]", f"ranks {slow[0]}–{slow[-1]} are late",
               "gemm_kernel (device)")
    # A part that is missing, and one that is cut.
    merge(summaries(usual[:7] + usual[8:], tmp + "/ls"), tmp + "/lost.tgs")
    name = int("".join(c for c in os.path.basename(usual[7]) if c.isdigit()))
    code, text = judged(tmp, tmp + "/lost.tgs", base, ranks)
    expect("a rank is missing: " + text[:500], code, 4)
    expect_has("a rank is missing", text, f"rank {name} of {ranks} has no fresh trace")
    write_bytes(tmp + "/cut.tgs", whole[:len(whole) // 2])
    done = run("merge", tmp + "/cut.tgs", "-o", tmp + "/never.tgs")
    expect("a cut summary", (done.returncode, os.path.exists(tmp + "/never.tgs")), (3, False))
    expect_has("a cut summary", done.stderr, "it ends before rank ", f"of {ranks} parts")
    expect_end("a cut summary, what is whole", run("merge", tmp + "/cut.tgs", "-o", tmp + "/rest.tgs", "--keep-going"), 4,
               err=("INCONCLUSIVE", "cut.tgs: damaged summary: it ends before rank "))
    for what, fresh, policy_ranks, wanted in (
            ("the whole part", tmp + "/rest.tgs", ranks, 1), ("the cut file itself", tmp + "/cut.tgs", ranks, 1)):
        code, text = judged(tmp, fresh, base, policy_ranks)
        expect(what + ": " + text[:300], code, wanted)  # the collective more on rank 5 is in it
        expect_has(what, text, COLLECTIVE + " [rank 5]", f"of {policy_ranks} have no fresh trace")
    damaged(tmp, usual, base, ranks)
    metrics_alone(tmp, same, base, ranks)
    return files, whole


def metrics_alone(tmp, same, base, ranks):
    """Rules about metrics: names are read of ranks 0 to 63, and of all once something is not in order. Step times are those of all ranks:
    1200 to 1202 us, and 1400 us on the rank with a collective at the step's end: skew 1400 / 1201 - 1 = 16.6 %."""
    write_text(tmp + "/m.yml", METRICS)

    def judge(fresh, *more):
        done = run("check", fresh, "--baseline", base, "--policy", tmp + "/m.yml", *more, env={"COLUMNS": "1000"})
        return done.returncode, done.stdout + done.stderr

    said = f"compared on 64 of {ranks} ranks"
    code, text = judge(same)
    expect("metrics alone: " + text, code, 0)
    expect_has("metrics alone", text, said, f"1 run x {ranks} ranks")
    code, whole = judge(same, "--csv", tmp + "/names.csv")
    expect("metrics alone, all names: " + whole, code, 0)
    expect("all names: the note", "ranks: no rule" in whole, False)

    def told(t):
        return [line for line in t.splitlines() if line[:2] != "  " or line.split()[0] in ("effect", "test", "coverage")]
    expect("the rest of the text", [t for t in told(text) if said not in t], told(whole))
    code, text = judge(tmp + "/sames")
    expect("many files: " + text, (code, said in text), (0, True))
    code, text = judge(base)  # the baseline's own recording: told, of all ranks
    expect_has("the baseline again", text, f"{ranks} of {ranks} fresh traces are the baseline's own recording")
    expect("the baseline again: " + text, (code, said in text), (0, False))
    last = ranks - 1
    for what, planted, wanted, says in (
            ("a long step on the last rank", {"extra": (last,)}, 1, ["skew", "16.6"]),
            ("a straggler", {"late": (last,)}, 0, [f"rank {last} is late", "from step 11 on", "aten::load_data (host)"])):
        merge(summaries(make(f"{tmp}/m{wanted}", ranks, **planted), f"{tmp}/ms{wanted}"), tmp + "/m.tgs")
        code, text = judge(tmp + "/m.tgs")
        expect(f"metrics alone, {what}: " + text, (code, said in text), (wanted, False))
        expect_has("metrics alone, " + what, text, *says)


def damaged(tmp, usual, base, ranks):
    """One trace of a folder is cut: named, and the others are judged where the policy says how many there are."""
    shutil.copytree(os.path.dirname(usual[0]), tmp + "/d")
    name = os.path.basename(usual[3])
    with open(f"{tmp}/d/{name}", "r+") as f:
        f.truncate(300)
    code, text = judged(tmp, tmp + "/d", base, ranks)
    expect("a cut trace: " + text[:300], code, 4)
    expect_has("a cut trace", text, "fresh side, damaged and not judged: rank ", name, f"of {ranks} has no fresh trace")
    done = run("check", tmp + "/d", "--baseline", base)  # no policy says how many ranks there are
    expect("a cut trace, no ranks expected: " + done.stderr[:300], done.returncode, 3)


def auto(tmp):
    """What launchers say; the trace has the last word."""
    path = make(tmp + "/a", 2)[1]
    to = tmp + "/shared"
    os.makedirs(to)
    cases = [({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}, 0, ""),
             ({"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "0"}, 0, ""),       # torchrun within srun
             ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "SLURM_PROCID": "0"}, 0, ""),
             ({"PMI_RANK": "1"}, 0, ""), ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURMD_NODENAME": "n7"}, 0, ""),
             ({"JOB_COMPLETION_INDEX": "1"}, 0, ""),
             ({"RANK": "1"}, 2, "no launcher"), ({}, 2, "no launcher"),
             ({"SLURM_PROCID": "0"}, 2, "is the trace of rank 1, SLURM_PROCID says 0"),
             ({"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, 2, "of a job of 2 ranks, the launcher has 4"),
             ({"SLURM_PROCID": "one"}, 2, "SLURM_PROCID is 'one'"), ({"PMI_RANK": "2", "PMI_SIZE": "2"}, 2, "PMI_SIZE is 2")]
    for env, code, says in cases:
        for old in glob.glob(to + "/*"):
            os.remove(old)
        done = run("summarize", path, "--rank", "auto", "--run", "a", "-o", to, env=env)
        expect_end(f"auto, {env}: {done.stderr}", done, code, err=says)
        expect(f"auto, {env}: files", os.listdir(to), [] if code else ["summary-1.tgs"])
        if "SLURMD_NODENAME" in env and not code:
            shard = read_json(to + "/summary-1.tgs")["shards"][0]
            expect("auto: rank and node", (shard["rank"], shard["env"]["node"]), (1, "n7"))


FAILING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
int fsync(int fd)
{
    static int left = -1;
    if (left < 0)
        left = atoi(getenv("FAILS"));
    if (left-- > 0) {
        errno = ESTALE;
        return -1;
    }
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
"""


def unsteady(tmp):
    """A shared file system that fails for a while, and one that goes on failing: bounded, and nothing half written."""
    cc = shutil.which("cc")
    if not cc:
        return print("no compiler: the shared file system is not tried")
    path = make(tmp + "/u", 1)[0]
    write_text(tmp + "/f.c", FAILING)
    subprocess.run([cc, "-shared", "-fPIC", "-o", tmp + "/f.so", tmp + "/f.c", "-ldl"], check=True)
    for fails, code in ((2, 0), (1000, 5)):
        to = f"{tmp}/unsteady{fails}"
        os.makedirs(to)
        done = run("summarize", path, "--rank", "auto", "-o", to,
                   env={"SLURM_PROCID": "0", "LD_PRELOAD": tmp + "/f.so", "FAILS": str(fails)}, timeout=60)
        if "ASan" in done.stderr:
            return print("with sanitizers, the shared file system is not tried")
        expect(f"unsteady, {fails}: {done.stderr}", (done.returncode, os.listdir(to)), (code, [] if code else ["summary-0.tgs"]))


def mpi(tmp, files, whole):
    if not os.path.exists(MPI) or not shutil.which("mpirun"):
        return print("without MPI: tracegate-mpi is not tried (-DTG_MPI=ON builds it)")
    env = dict(os.environ, OMPI_MCA_btl_vader_single_copy_mechanism="none")
    for n in ("2", "3"):
        done = subprocess.run([*MPIRUN, n, MPI, "-o", tmp + "/mpi.tgs", "--run", "a", tmp + "/f"], capture_output=True, text=True,
                              timeout=300, env=env)
        expect(f"mpirun -n {n}: {done.stderr}", done.returncode, 0)
        expect(f"mpirun -n {n}: the same bytes", read_bytes(tmp + "/mpi.tgs") == whole, True)
    write_text(tmp + "/rank9999.json", '{"traceEvents":[')
    done = subprocess.run([*MPIRUN, "2", MPI, "-o", tmp + "/part.tgs", "--run", "a", *files[:8], tmp + "/rank9999.json"],
                          capture_output=True, text=True, timeout=300, env=env)
    expect_end("mpirun: a bad trace", done, 4, err=("INCONCLUSIVE", "rank 9999"))
    # The first process judges: the same sides, one with a bad trace, and a collective more.
    base, ranks = tmp + "/base.tgs", len(files)
    write_text(tmp + "/p.yml", POLICY.format(n=ranks).replace(f", ranks: {{expect: {ranks}}}", ""))
    for what, paths, code, says in (
            ("the same", [tmp + "/same"], 0, ["PASS"]), ("a collective more", [tmp + "/f"], 1, [COLLECTIVE + " [rank 5]"]),
            ("a bad trace", [tmp + "/same", tmp + "/rank9999.json"], 4, ["INCONCLUSIVE: fresh side, damaged and not judged: rank 9999: "]),
            ("a bad trace and a collective more", [tmp + "/f", tmp + "/rank9999.json"], 1, ["FAIL", "rank 9999: "])):
        done = subprocess.run([*MPIRUN, "3", MPI, "-o", tmp + "/judged.tgs", "--run", "a", *paths, "--check", "--baseline", base,
                               "--policy", tmp + "/p.yml", "--suite", "s", "--color", "never"], capture_output=True, text=True,
                              timeout=300, env=dict(env, COLUMNS="1000"))
        expect_end(f"mpirun --check, {what}: {done.stdout[:300]}{done.stderr[:300]}", done, code, *says)
    # The second process waits at a pipe that nobody opens, and is killed.
    os.mkfifo(tmp + "/rank77.json")
    _, err, code = killed(tmp, [], [files[0], tmp + "/rank77.json"], env)
    expect("mpirun: a process is killed", code != 0, True)
    expect_has("mpirun: a process is killed", err, "INCONCLUSIVE", "process 1", "rank77.json")
    # The same where the launcher lets the others go on: after --wait they do, and judge what is there.
    out, _, _ = killed(tmp, ["--enable-recovery"], ["--wait", "3", files[0], tmp + "/rank77.json", "--check", "--baseline", files[0],
                                                    "--color", "never"], env)
    expect_has("mpirun --enable-recovery", out, "INCONCLUSIVE: fresh side, damaged and not judged: rank 77: ", "process 1 was lost")


def killed(tmp, launcher, args, env):
    """The second process of two is killed while it reads; its output, and the launcher's exit code."""
    job = subprocess.Popen([*MPIRUN[:-1], *launcher, "-n", "2", MPI, "-o", tmp + "/killed.tgs", *args],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(env, COLUMNS="1000"))
    victim, until = None, time.monotonic() + 60
    while victim is None and time.monotonic() < until:
        time.sleep(0.2)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                mine = "OMPI_COMM_WORLD_RANK=1\0" in read_text(f"/proc/{pid}/environ")
                mine = mine and tmp + "/killed.tgs" in read_text(f"/proc/{pid}/cmdline")
            except OSError:
                continue
            victim = int(pid) if mine else victim
    time.sleep(1)
    os.kill(victim, signal.SIGKILL)
    out, err = job.communicate(timeout=60)
    return out, err, job.returncode


def main(tmp):
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    files, whole = verdicts(tmp, ranks)
    auto(tmp)
    unsteady(tmp)
    mpi(tmp, files, whole)


if __name__ == "__main__":
    run_parts(main)
