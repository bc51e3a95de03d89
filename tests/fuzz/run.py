#!/usr/bin/env python3
"""Fuzzes for a given CPU time: run [--cpu SECONDS] [--keep DIR] BUILD [TARGET...]

BUILD is a build folder of the preset "fuzz" (clang, libFuzzer, address and undefined-behaviour
sanitizers). Every target (all of BUILD's without TARGET) starts from tests/fuzz/corpus and runs, one
after the other and at the lowest priority, until it has used SECONDS of CPU (600). Inputs that are
new stay in DIR/TARGET, findings in DIR/TARGET-*. Prints one Markdown row a target; exits 1 when
there is a finding.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUND = 120  # wall seconds between two looks at the CPU time
TIMEOUT = 25  # wall seconds for one input, on a machine that does other things too


def one_round(program, keep, seconds):
    """Executions, CPU seconds, edges covered, inputs in the corpus, did it stop for a finding."""
    name = os.path.basename(program)
    found = os.path.join(keep, name)
    os.makedirs(found, exist_ok=True)
    command = [program, f"-max_total_time={max(1, round(seconds))}", f"-timeout={TIMEOUT}",
               "-print_final_stats=1", "-rss_limit_mb=4096", f"-artifact_prefix={found}-", found,
               os.path.join(HERE, "corpus", name.removeprefix("fuzz_"))]
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        with subprocess.Popen(command, stdout=log, stderr=log,
                              preexec_fn=lambda: os.nice(19)) as p:
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        text = log.read()
    if p.returncode:
        sys.stderr.write(text[-8000:])
    runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
    covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)/", text)
    edges, inputs = covered[-1] if covered else (0, 0)
    return (int(runs[-1]) if runs else 0, used.ru_utime + used.ru_stime, int(edges), int(inputs),
            p.returncode != 0)


def fuzz(program, keep, cpu):
    runs, used, edges, inputs, stopped = 0, 0.0, 0, 0, False
    while used < cpu and not stopped:
        more, spent, edges, inputs, stopped = one_round(program, keep, min(ROUND, cpu - used))
        runs += more
        used += spent
    print(f"| {os.path.basename(program)} | {runs:,} | {used:.0f} | {edges:,} | {inputs:,} "
          f"| {'finding' if stopped else 'none'} |", flush=True)
    return stopped


def main():
    ask = argparse.ArgumentParser(usage=__doc__)
    ask.add_argument("--cpu", type=float, default=600)
    ask.add_argument("--keep")
    ask.add_argument("build")
    ask.add_argument("target", nargs="*")
    given = ask.parse_args()
    programs = sorted(p for p in glob.glob(os.path.join(given.build, "tests", "fuzz_*"))
                      if os.access(p, os.X_OK) and os.path.isfile(p) and not p.endswith("_replay"))
    if given.target:
        programs = [p for p in programs if os.path.basename(p) in given.target]
    if not programs:
        sys.exit(f"run: no fuzz targets in '{given.build}/tests'; configure with the preset 'fuzz'")
    print("| target | executions | CPU s | edges | inputs | findings |\n|---|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as scratch:
        return max(fuzz(p, given.keep or scratch, given.cpu) for p in programs)


if __name__ == "__main__":
    sys.exit(main())
