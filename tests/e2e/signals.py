#!/usr/bin/env python3
"""What a process that is told to end leaves: nothing, and the status that a shell expects. A fresh
trace that is a pipe holds the program at a known place: reports are open, the trace is not yet read.
Controls: the same run that is left alone writes its reports; a signal that was ignored from the start
(nohup) stays ignored. A file size limit is a failed write, code 5.
"""
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from support import PROGRAM, TRACES, Repository, expect, read_text, run_parts, write_text

BASE, FRESH = os.path.join(TRACES, "base/run00.json.gz"), os.path.join(TRACES, "base/run10.json.gz")
ENDS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU]
REPORTS = ["--json", "a.json", "--junit", "sub/b.xml", "--markdown", "c.md", "--svg-counts", "d.svg"]
COMMANDS = [
    ("check", ["check", "PIPE", "--baseline", BASE, *REPORTS], 5),
    ("check, one report", ["check", "PIPE", "--baseline", BASE, "--json", "a.json"], 1),
    ("check, the baseline", ["check", FRESH, "--baseline", "PIPE", *REPORTS], 5),
    ("diff", ["diff", BASE, "PIPE", "--svg-counts", "b.svg"], 0),
    ("summarize", ["summarize", "PIPE", "-o", "a.tgs"], 0),
]


def files(folder):
    return sorted(os.path.join(d, f)[len(folder) + 1:] for d, _, names in os.walk(folder) for f in names)


def start(args, folder, pipe, **options):
    args = [pipe if a == "PIPE" else a for a in args]
    return subprocess.Popen([PROGRAM, *args, "--quiet"] if args[0] == "check" else [PROGRAM, *args], cwd=folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **options)


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def feed(pipe):
    """The trace, whole: for who opens the pipe."""
    def run():
        with open(FRESH, "rb") as f, open(pipe, "wb") as to:
            shutil.copyfileobj(f, to)
    t = threading.Thread(target=run, daemon=True)
    t.start()
    return t


def opened(pipe, p):
    """Its writing end, once the program reads it; None if the program ended before."""
    while p.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.002)
    return None


def in_folder(temp):
    folder = tempfile.mkdtemp(dir=temp)
    write_text(folder + "/a.json", "old\n")
    return folder


def ended(name, args, n_open, sig, temp, pipe):
    folder = in_folder(temp)
    p = start(args, folder, pipe)
    writer = opened(pipe, p)
    if writer is None:
        expect(f"{name}, {sig.name}: reads the pipe", p.returncode, None)
        return
    if n_open:
        expect(f"{name}, {sig.name}: temporary files", wait_until(lambda: len(files(folder)) >= n_open), True)
    os.kill(p.pid, sig)
    expect(f"{name}, {sig.name}: status", p.wait(20), -sig)
    os.close(writer)
    expect(f"{name}, {sig.name}: left", files(folder), ["a.json"])
    expect(f"{name}, {sig.name}: the old report", read_text(folder + "/a.json"), "old\n")


def at_any_moment(temp):
    """The same without a pipe, at moments that nobody chose: whole reports or none."""
    whole = [["a.json"], ["a.json", "c.md"]]
    for k in range(30):
        folder = tempfile.mkdtemp(dir=temp)
        p = start(["check", FRESH, "--baseline", BASE, "--json", "a.json", "--markdown", "c.md"], folder, "")
        time.sleep(0.001 * k)
        p.send_signal(signal.SIGTERM)
        p.wait(20)
        left = files(folder)
        expect(f"moment {k}: hidden files", [f for f in left if f.startswith(".")], [])
        if p.returncode == 0:
            expect(f"moment {k}: reports", left, whole[1])


def ignored(temp, pipe):
    for sig in (signal.SIGHUP, signal.SIGINT):
        folder = in_folder(temp)
        p = start(COMMANDS[0][1], folder, pipe, preexec_fn=lambda s=sig: signal.signal(s, signal.SIG_IGN))
        writer = opened(pipe, p)
        os.set_blocking(writer, True)
        os.kill(p.pid, sig)
        time.sleep(0.05)
        expect(f"{sig.name} ignored: still there", p.poll(), None)
        with open(FRESH, "rb") as f, os.fdopen(writer, "wb") as to:
            shutil.copyfileobj(f, to)
        expect(f"{sig.name} ignored: status", p.wait(30), 0)
        expect(f"{sig.name} ignored: reports", files(folder), ["a.json", "c.md", "d.svg", "sub/b.xml"])


def size_limit(temp):
    def limit(size):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    args = ["check", FRESH, "--baseline", BASE, *REPORTS]
    for size in (0, 1, 512, 4096):
        folder = in_folder(temp)
        p = start(args, folder, "", preexec_fn=limit(size))
        expect(f"file size limit {size}: status", p.wait(30), 5)
        expect(f"file size limit {size}: left", files(folder), ["a.json"])
    folder = in_folder(temp)
    expect("file size limit that is enough: status", start(args, folder, "", preexec_fn=limit(10 << 20)).wait(30), 0)
    repo = Repository(os.path.join(temp, "repo"))
    repo.commit()
    for size, want in ((64, 5), (10 << 20, 0)):
        p = start(["baseline", "record", FRESH], repo.dir, "", preexec_fn=limit(size))
        expect(f"record, file size limit {size}: status", p.wait(30), want)
        expect(f"record, file size limit {size}: refs", len(repo.git("for-each-ref", "refs/tracegate").splitlines()), 0 if want else 1)


def out_of_memory(temp):
    """Reports are open when memory runs out: code 3, none of their temporary files stays."""
    def code(size):
        return start(["check", FRESH, "--baseline", BASE, "--json", "a.json", "--markdown", "c.md", "--threads", "1"], folder, "",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))).wait(60)
    folder = in_folder(temp)
    if code(400 << 20) != 0:
        return print("signals: this program needs more than 400 MiB of addresses (a sanitizer): memory does not run out")
    folder = in_folder(temp)
    for size in range(8 << 20, 400 << 20, 1 << 20):
        one = code(size)
        if one == 0:
            break
        expect(f"{size >> 20} MiB: status", one in (3, 127), True)  # 127: not even the libraries fit
        expect(f"{size >> 20} MiB: left", files(folder), ["a.json"])
    return None


def with_a_pipe(temp):
    pipe = os.path.join(temp, "fresh.json.gz")
    os.mkfifo(pipe)
    for name, args, n_open in COMMANDS:
        for sig in ENDS if name == "check" else ENDS[:3]:
            ended(name, args, n_open, sig, temp, pipe)
    folder = in_folder(temp)
    feed(pipe)
    expect("left alone: status", start(COMMANDS[0][1], folder, pipe).wait(30), 0)
    expect("left alone: reports", files(folder), ["a.json", "c.md", "d.svg", "sub/b.xml"])
    ignored(temp, pipe)


run_parts(with_a_pipe, at_any_moment, size_limit, out_of_memory)
