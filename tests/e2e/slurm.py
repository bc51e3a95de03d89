#!/usr/bin/env python3
"""docs/clusters.md, "Slurm", in a cluster of two nodes on this machine (slurmd -N): each task of a job summarises the
trace of its rank, in the job and as a task epilog; a second job, which depends on the first, merges and judges. One rank
more work: the gate's job fails. One rank's task killed: it is named.

The cluster is private to the test: its own munge key and socket, its own ports and folders, and it ends with it.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import cluster
from support import ENV, PROGRAM, ROOT, expect, expect_has, read_text, run_parts, skip, write_text

TOOLS = ("munged", "mungekey", "slurmctld", "slurmd", "srun", "sbatch")
PATHS = os.environ["PATH"] + ":/usr/sbin:/sbin"
RANKS = 4
CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={tmp}/munge.socket
CredType=cred/munge
StateSaveLocation={tmp}/state
SlurmdSpoolDir={tmp}/spool-%n
SlurmctldPidFile={tmp}/slurmctld.pid
SlurmdPidFile={tmp}/slurmd-%n.pid
SlurmctldLogFile={tmp}/slurmctld.log
SlurmdLogFile={tmp}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port[1]} CPUs=8 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port[2]} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
JOB = """#!/bin/bash
#SBATCH --nodes 2 --ntasks-per-node 2 --output {tmp}/%j.out
PATH={path}
srun --ntasks-per-node 2 sh -c 'cp "{traces}/rank$SLURM_PROCID.json" "{tmp}/trace-$SLURM_PROCID.json"'
mkdir -p "{tmp}/shared/perf/$SLURM_JOB_ID"
{line}
"""


def free_ports(n):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Cluster:
    def __init__(self, tmp):
        self.tmp, self.running = tmp, []
        self.env = dict(ENV, PATH=PATHS, SLURM_CONF=tmp + "/slurm.conf")
        os.makedirs(tmp + "/state")
        os.chmod(tmp, 0o755)
        subprocess.run(["mungekey", "-c", "-k", tmp + "/key"], env=self.env, check=True)
        self.start("munged", "--foreground", "--force", "--key-file", tmp + "/key", "--socket", tmp + "/munge.socket",
                   "--pid-file", tmp + "/munged.pid", "--log-file", tmp + "/munged.log", "--seed-file", tmp + "/seed")
        write_text(tmp + "/slurm.conf", CONF.format(tmp=tmp, host=socket.gethostname().split(".")[0], port=free_ports(3),
                            user=subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()))
        self.wait("munge", lambda: os.path.exists(tmp + "/munge.socket"))
        self.start("slurmctld", "-D", "-i")
        for node in ("n1", "n2"):
            os.makedirs(f"{tmp}/spool-{node}")
            self.start("slurmd", "-D", "-N", node)
        self.wait("two idle nodes", lambda: self.call("sinfo", "-h", "-o", "%D %t") == "2 idle")

    def start(self, *args):
        self.running.append(subprocess.Popen(args, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                             stdin=subprocess.DEVNULL, start_new_session=True))

    def call(self, *args, **kw):
        done = subprocess.run(args, env=self.env, capture_output=True, text=True, timeout=120, **kw)
        return done.stdout.strip()

    def wait(self, what, ready, seconds=60):
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until:
                self.end()
                print(f"slurm: no {what} after {seconds} s: its daemons cannot run here: skipped")
                sys.exit(77)
            time.sleep(0.2)

    def end(self):
        for p in reversed(self.running):
            p.send_signal(signal.SIGTERM)
        for p in reversed(self.running):
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def documented(tmp):
    """The lines of the page: what each task runs, and what the gate's job runs."""
    page = read_text(os.path.join(ROOT, "docs/clusters.md"))
    section = page[page.index("## Slurm"):page.index("## torchrun")]
    task = re.search(r"^srun --ntasks-per-node 8 (sh -c '.*')$", section, re.M).group(1)
    gate = re.search(r"^tracegate merge .*$", section, re.M).group(0)
    return [text.replace("/tmp/trace-", tmp + "/trace-").replace("/shared/", tmp + "/shared/") for text in (task, gate)]


def submit(c, name, text, *options):
    write_text(f"{c.tmp}/{name}.sh", text)
    job = c.call("sbatch", "--parsable", *options, f"{c.tmp}/{name}.sh")
    expect(f"{name}: a job", job.isdigit(), True)
    return job


def state(c, job):
    return c.call("scontrol", "-o", "show", "job", job)


def gated(c, name, traces, line, gate):
    """A training job and the gate that depends on it: the gate's exit code and output, and the summaries."""
    job = submit(c, name, JOB.format(tmp=c.tmp, path=c.env["PATH"], traces=traces, line=line))
    after = submit(c, name + "-gate", f"#!/bin/bash\n#SBATCH --output {c.tmp}/%j.out\nPATH={c.env['PATH']}\nJOB={job}\ncd {c.tmp}\n"
                   + gate + "\n", "--dependency=afterany:" + job)
    c.wait("end of " + name, lambda: re.search(r"JobState=(COMPLETED|FAILED)", state(c, after)))
    code = int(re.search(r"ExitCode=(\d+):", state(c, after)).group(1))
    trained = read_text(f"{c.tmp}/{job}.out")
    return code, trained + read_text(f"{c.tmp}/{after}.out"), sorted(os.listdir(f"{c.tmp}/shared/perf/{job}"))


def main(tmp):
    missing = [t for t in TOOLS if not shutil.which(t, path=PATHS)]
    if missing:
        skip(f"no {', '.join(missing)} (Debian: munge slurm-client slurmctld slurmd)")
    os.makedirs(tmp + "/bin")
    os.symlink(PROGRAM, tmp + "/bin/tracegate")
    c = Cluster(tmp)
    c.env["PATH"] = tmp + "/bin:" + PATHS
    try:
        cases(c, tmp)
    finally:
        c.end()


def cases(c, tmp):
    task, gate = documented(tmp)
    for folder, planted in (("usual", {}), ("more", dict(extra=(2,)))):
        cluster.make(f"{tmp}/{folder}", RANKS, **planted)
    cluster.merge(cluster.summaries(sorted(os.path.join(tmp, "usual", f) for f in os.listdir(tmp + "/usual")), tmp + "/base"),
                  tmp + "/base.tgs")
    write_text(tmp + "/perf.yml", cluster.POLICY.format(n=RANKS))
    gate += f" --baseline {tmp}/base.tgs --suite s"
    everyone = [f"summary-{rank}.tgs" for rank in range(RANKS)]
    step = "srun --ntasks-per-node 2 " + task
    code, text, files = gated(c, "same", tmp + "/usual", step, gate)
    expect("the same: " + text[-400:], (code, files), (0, everyone))
    code, text, files = gated(c, "more", tmp + "/more", step, gate)
    expect("a collective more on one rank: " + text[-400:], (code, files), (1, everyone))
    expect_has("a collective more on one rank", text, cluster.COLLECTIVE + " [rank 2]")
    code, text, files = gated(c, "less", tmp + "/usual", step.replace("sh -c '", "sh -c 'test $SLURM_PROCID != 3 || kill -9 $$; "), gate)
    expect("a task is killed: " + text[-400:], (code, files), (4, everyone[:3]))
    expect_has("a task is killed", text, "rank 3 of 4 has no fresh trace")
    write_text(tmp + "/epilog", "#!/bin/sh\nPATH=" + c.env["PATH"] + "\n" + task[len("sh -c '"):-1] + "\n")
    os.chmod(tmp + "/epilog", 0o755)
    code, text, files = gated(c, "epilog", tmp + "/usual", f"srun --ntasks-per-node 2 --task-epilog={tmp}/epilog true", gate)
    expect("a task epilog: " + text[-400:], (code, files), (0, everyone))


run_parts(main)
