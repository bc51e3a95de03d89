#!/usr/bin/env python3
"""What reading costs beside other parsers (docs/benchmarks.md): run.py PROGRAM READER [--rows totals,events] [--layouts KD] [--rounds N] [--mb N]
[--small]

PROGRAM is tracegate, READER the build's bench_reader. Builds the anchors (Debian: libsimdjson-dev,
rapidjson-dev, libcjson-dev, zlib1g-dev, g++, valgrind), makes traces of --mb (300) megabytes and five
times that in a temporary folder (7 GB at most; TMPDIR says where), one layout after the other, and
prints a row per figure: the median of the ratios over N (7) rounds in which both sides run one after
the other (A B A B), smallest and largest, and peak memory. CPU is user + system of the whole process,
the page cache warm. An absolute time means nothing on a shared machine. Wall times (threads, gz-threads) mean
something on idle cores alone.

Seeds are real traces of ../shared (see SEEDS); without them, or with --small, traces written by
enlarge.py.
"""
import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from enlarge import enlarge  # noqa: E402
from instructions import instructions  # noqa: E402

TRACES = os.path.join(HERE, "../../../shared/corpus/traces")
SEEDS = {"K": TRACES + "/tracelens/vllm_prefilldecode_capture/graph_capture_rank_0.json.gz",
         "D": TRACES + "/hta/trace_diff/control",
         "P": TRACES + "/tracelens/h100_owlv2/owlv2-large.json.gz"}
ROWS = ("totals", "events", "threads", "gz", "gz-threads", "memory", "span-memory", "growth", "instructions", "sse2", "diff", "start", "anchors")


def cpu(command, env=None):
    """CPU seconds, wall seconds."""
    wall = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **(env or {})}) as p:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit(f"{command}: exit {p.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - wall


def peak_mb(command):
    """By time(1): our own children inherit this interpreter's peak."""
    r = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True, check=True)
    return int(r.stderr.split()[-1]) * 1024 / 1e6


class Table:
    def __init__(self, rounds):
        self.rounds = rounds
        print("| row | what | median | spread | goal | met | peak MB | anchor MB |\n|---|---|--:|--:|--:|---|--:|--:|")

    def put(self, row, what, value, spread, goal, peak="", anchor="", digits=2):
        met = "" if goal is None else "yes" if value <= goal else "no"
        number = f"{{:.{digits}f}}".format
        print(f"| {row} | {what} | {number(value)} | {f'{number(spread[0])}-{number(spread[1])}' if spread else ''} "
              f"| {'' if goal is None else goal} | {met} | {peak} | {anchor} |", flush=True)

    def pair(self, row, what, ours, other, goal, wall=False, scale=1.0, env=None, memory=True, repeat=1):
        """`scale` on the ratio: bytes of the other over ours. `repeat`: runs of one measurement."""
        ratios = []
        for _ in range(self.rounds):
            a = [cpu(ours, env)[wall] for _ in range(repeat)]
            b = [cpu(other)[wall] for _ in range(repeat)]
            ratios.append(sum(a) / sum(b) * scale)
        peaks = (f"{peak_mb(ours):.1f}", f"{peak_mb(other):.1f}") if memory else ("", "")
        self.put(row, what, statistics.median(ratios), (min(ratios), max(ratios)), goal, *peaks)


class Bench:
    def __init__(self, given, tmp):
        self.tmp, self.rows = tmp, given.rows
        self.program, self.reader = os.path.abspath(given.program), os.path.abspath(given.reader)
        self.mb, self.small, self.layouts = given.mb, given.small, given.layouts
        self.table = Table(given.rounds)
        self.anchors()

    def anchors(self):
        def build(name, compiler, *flags):
            out = os.path.join(self.tmp, name.split(".")[0])
            subprocess.run([compiler, "-O3", os.path.join(HERE, name), *flags, "-o", out], check=True)
            return out
        self.simdjson = build("anchor_simdjson.cpp", "c++", "-std=c++17", "-lsimdjson")
        self.inflate = build("anchor_inflate.c", "cc", "-lz")
        if "anchors" in self.rows:
            self.rapidjson = build("anchor_rapidjson.cpp", "c++", "-std=c++17")
            self.cjson = build("anchor_cjson.c", "cc", "-lcjson")

    def seed(self, layout):
        name = SEEDS["D" if layout == "C" else layout]
        if os.path.isdir(name):
            name = os.path.join(name, sorted(os.listdir(name))[0])
        if self.small or not os.path.exists(name):
            return layout
        return "C:" + name if layout == "C" else name

    def trace(self, layout, mb=None):
        path = os.path.join(self.tmp, f"{layout}{'' if mb is None else mb}.json")
        enlarge(self.seed(layout), mb or self.mb, path)
        with open(path, "rb") as f:  # into the page cache
            while f.read(1 << 24):
                pass
        return path

    def ops(self, path, threads=1):
        return [self.program, "analyze", "--measure", "ops", "--whole", "--format", "csv", "--threads", str(threads), path]

    def wants(self, *rows):
        return any(r in self.rows for r in rows)

    # ---- one layout ------------------------------------------------------------------------------

    def layout(self, letter):
        path, t = self.trace(letter), self.table
        if self.wants("totals"):
            t.pair("totals", f"{letter}: aggregates / On-Demand", self.ops(path), [self.simdjson, path],
                   {"K": .30, "D": .30, "C": .35, "P": .45}[letter])
        if self.wants("events"):
            t.pair("events", f"{letter}: all events kept / On-Demand, all fields", [self.reader, "load", path],
                   [self.simdjson, path, "all"], {"K": .25, "D": .30, "C": None, "P": .40}[letter])
        if self.wants("sse2") and letter == "K":
            t.pair("sse2", "K: SSE2 forced / On-Demand", self.ops(path), [self.simdjson, path], .70,
                   env={"TRACEGATE_ISA": "sse2"}, memory=False)
        if self.wants("anchors") and letter == "K":
            t.pair("-", "K: simdjson, stage 1 alone / On-Demand", [self.simdjson, path, "stage1"], [self.simdjson, path], None)
            t.pair("-", "K: RapidJSON SAX / On-Demand", [self.rapidjson, path], [self.simdjson, path], None)
            t.pair("-", "K: cJSON tree / On-Demand", [self.cjson, path], [self.simdjson, path], None)
        if self.wants("threads"):
            t.pair("threads", f"{letter}: two threads / one, wall", self.ops(path, 2), self.ops(path), .56, wall=True, memory=False)
            t.pair("threads", f"{letter}: two threads / one, CPU", self.ops(path, 2), self.ops(path), 1.05, memory=False)
        if self.wants("memory"):
            for threads, goal in ((1, 8), (2, 16)):
                t.put("memory", f"{letter}: MB at the peak, aggregates, {threads} thread{'s' * (threads > 1)}", peak_mb(self.ops(path, threads)),
                      None, goal,
                      digits=1)
        if self.wants("span-memory"):
            self.kept(path, letter)
        if self.wants("growth") and letter in "KD":
            self.five_times(letter, path)
        if self.wants("gz", "gz-threads", "memory") and letter != "C":
            self.packed(letter, path)
        os.path.exists(path) and os.remove(path)

    def kept(self, path, what):
        """Above 16 MB, bytes of peak memory per kept span."""
        spans = int(subprocess.run([self.reader, "load", path], capture_output=True, text=True, check=True).stdout.split()[0])
        peak = peak_mb([self.reader, "load", path])
        self.table.put("span-memory", f"{what}: peak above 16 MB, bytes per span ({spans:,} spans)", max(0, peak - 16) * 1e6 / spans, None,
                       40, f"{peak:.1f}", digits=1)

    def five_times(self, letter, path):
        big = self.trace(letter, 5 * self.mb)
        scale = os.path.getsize(path) / os.path.getsize(big)
        what = f"{letter}: CPU per byte, {5 * self.mb / 1000:g} GB / {self.mb} MB"
        self.table.pair("growth", what + ", plain", self.ops(big), self.ops(path), 1.03, scale=scale)
        if self.wants("span-memory"):
            self.kept(big, f"{letter}, {5 * self.mb / 1000:g} GB")
        for p in (path, big):
            subprocess.run(["gzip", "-1", "-k" if p == path else "-f", p], check=True)
        self.table.pair("growth", what + ", .gz", self.ops(big + ".gz"), self.ops(path + ".gz"), 1.03, scale=scale)
        os.remove(big + ".gz")
        os.remove(path + ".gz")

    def packed(self, letter, path):
        t = self.table
        subprocess.run(["gzip", "-6", path], check=True)
        gz = path + ".gz"
        if self.wants("gz"):
            t.pair("gz", f"{letter}.gz: one thread / zlib's inflate alone", self.ops(gz), [self.inflate, gz],
                   {"K": .65, "D": .80, "P": .85}[letter])
        if self.wants("gz-threads"):
            t.pair("gz-threads", f"{letter}.gz: two threads / zlib's inflate, wall", self.ops(gz, 2), [self.inflate, gz],
                   {"K": .45, "D": .65, "P": .70}[letter], wall=True, memory=False)
        if self.wants("memory"):
            t.put("memory", f"{letter}: MB at the peak, aggregates, .gz, 2 threads", peak_mb(self.ops(gz, 2)), None, 16, digits=1)
        os.remove(gz)

    # ---- the rest --------------------------------------------------------------------------------

    def per_byte(self):
        """The process as it is, on one file of 30 MB (the real trace itself, where it is there)."""
        for letter, goal in (("K", 4.0), ("D", 4.5)):
            path = self.trace(letter, 30)
            n = os.path.getsize(path)
            self.table.put("instructions", f"{letter}: instructions per byte, whole process ({n / 1e6:.0f} MB)",
                           instructions(self.ops(path)) / n, None, goal)
            os.remove(path)

    def diff(self):
        sides = [os.path.join(SEEDS["D"], "..", side) for side in ("control", "test")]
        if not all(map(os.path.isdir, sides)):
            return
        files = [os.path.join(s, sorted(os.listdir(s))[0]) for s in sides]
        python = "import gzip, json, sys\nfor p in sys.argv[1:]: json.load(gzip.open(p))"
        self.table.pair("diff", "diff of the 68 MB pair (.gz) / Python's json.load of both", [self.program, "diff", *files],
                        [sys.executable, "-c", python, *files], None)

    def start(self):
        path = os.path.join(self.tmp, "empty.json")
        with open(path, "w", encoding="ascii") as f:
            f.write("[]")
        self.table.pair("start", "a process on an empty trace / `/bin/true`, wall, 100 runs each", self.ops(path), ["/bin/true"],
                        1.5, wall=True, repeat=100, memory=False)
        self.table.pair("start", "the same, CPU", self.ops(path), ["/bin/true"], 1.5, repeat=100)

    def run(self):
        for letter in self.layouts:
            if self.wants("totals", "events", "threads", "gz", "gz-threads", "memory", "span-memory", "growth", "sse2", "anchors"):
                self.layout(letter)
        for row, what in (("instructions", self.per_byte), ("diff", self.diff), ("start", self.start)):
            if self.wants(row):
                what()


def main():
    asked = argparse.ArgumentParser(usage=__doc__)
    asked.add_argument("program")
    asked.add_argument("reader")
    asked.add_argument("--rows", type=lambda s: s.split(","), default=list(ROWS))
    asked.add_argument("--layouts", default="KDCP")
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--mb", type=int, default=300)
    asked.add_argument("--small", action="store_true")
    given = asked.parse_args()
    unknown = set(given.rows) - set(ROWS)
    if unknown:
        sys.exit(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    print(f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
          f"{given.rounds} rounds, {given.mb} MB\n", flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        Bench(given, tmp).run()


if __name__ == "__main__":
    main()
