#!/usr/bin/env python3
"""The cache of baseline summaries: it changes no byte of any report, is used from the second run on, and what is wrong with it costs time alone.

That it is used shows by a forged one: two runs of the baseline with one content are refused ("hold the same trace").
"""
import os
import shutil
import subprocess
import sys

from support import DATED, PROGRAM, ROOT, check, expect, expect_end, git, read_bytes, run_parts, tracegate, write_bytes

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
from growth import changed, write  # noqa: E402

RUNS = 3
TWINS = "hold the same trace"


def repository(tmp, name="r"):
    """A baseline of three runs is committed; the fresh runs call each name twice."""
    folder = f"{tmp}/{name}"
    steps = [list(range(12))] * 4
    for side, work in (("base", steps), ("out", changed("findings", steps))):
        os.makedirs(f"{folder}/{side}")
        for k in range(RUNS):
            write(f"{folder}/{side}/run{k}.json.gz", work, 10 * (side == "out") + k)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "base")
    git(folder, "commit", "-qm", "base")
    return folder


def judged(folder, *args, program=PROGRAM, base="HEAD:base"):
    """Exit code, what was said, and the bytes of the reports."""
    names = {"--json": "r.json", "--markdown": "r.md", "--junit": "r.xml"}
    done = subprocess.run([program, "check", "out", "--runs", "--baseline", base, *(x for pair in names.items() for x in pair), *args],
                          cwd=folder, env=DATED, capture_output=True, text=True, check=False)
    return [done.returncode, done.stdout, done.stderr,
            *(read_bytes(f"{folder}/{n}") if os.path.exists(f"{folder}/{n}") else None for n in names.values())]


def files(folder):
    cache = f"{folder}/.git/tracegate/cache"
    return sorted(os.path.join(cache, n) for n in os.listdir(cache)) if os.path.isdir(cache) else []


def forge(folder):
    """The first file of the cache becomes a copy of the second one."""
    first, second, *_ = files(folder)
    shutil.copyfile(second, first)


def same_bytes(tmp):
    folder = repository(tmp)
    want = judged(folder, "--no-cache")
    expect("exit", want[0], 1)
    expect("--no-cache keeps nothing", files(folder), [])
    for k in range(3):
        expect(f"run {k} says the same", judged(folder), want)
        expect(f"run {k}: a file for each trace", len(files(folder)), RUNS)
    expect("git sees none of it", git(folder, "status", "--porcelain", "--ignored").splitlines(),
           ["?? out/", "?? r.json", "?? r.md", "?? r.xml"])
    git(folder, "worktree", "add", "-q", f"{tmp}/tree")
    shutil.copytree(f"{folder}/out", f"{tmp}/tree/out")
    forge(folder)
    check("the cache is used", TWINS in judged(folder)[2])
    check("a linked work tree shares it", TWINS in judged(f"{tmp}/tree")[2])
    expect("--no-cache does not use it", judged(folder, "--no-cache"), want)
    shutil.rmtree(f"{folder}/.git/tracegate")
    expect("deleted", judged(folder), want)


def other_keys(tmp):
    """What the summary depends on is part of the name; the time of use is not."""
    folder = repository(tmp)
    want = judged(folder)
    expect("files", len(files(folder)), RUNS)
    forge(folder)
    judged(folder, "--strict-json")
    expect("another way of reading: other files", len(files(folder)), 2 * RUNS)
    upgraded = f"{tmp}/tracegate"
    shutil.copy(PROGRAM, upgraded)
    at = read_bytes(PROGRAM).index(b"\x03\0\0\0GNU\0") + 8  # the note of the linker: 20 bytes that another program has otherwise
    with open(upgraded, "r+b") as f:
        f.seek(at)
        f.write(b"another program's id")
    expect("another program believes none of it", judged(folder, program=upgraded), want)
    expect("and has its own", len(files(folder)), 3 * RUNS)
    git(folder, "mv", "base", "moved")
    git(folder, "commit", "-qm", "moved")
    expect("another path: other files, the rank may be in it", judged(folder, base="HEAD:moved")[0], 1)
    expect("files of the other path", len(files(folder)), 4 * RUNS)


def damaged(tmp):
    """Anything but a whole file counts as none, and is made again."""
    folder = repository(tmp)
    want = judged(folder)
    whole = read_bytes(files(folder)[0])
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for what, content in (("empty", b""), ("cut", whole[:-1]), ("head alone", whole[:35]), ("flipped", bytes(flipped)), ("longer", whole + b" "),
                          ("no summary", b"{}"), ("a trace", b'{"traceEvents":[]}')):
        write_bytes(files(folder)[0], content)
        expect(f"{what}: the same reports", judged(folder), want)
        expect(f"{what}: made again", read_bytes(files(folder)[0]), whole)
    path = files(folder)[0]
    os.remove(path)
    os.mkfifo(path)
    expect("a pipe is not waited for", judged(folder), want)


def unwritable(tmp):
    folder = repository(tmp)
    want = judged(folder, "--no-cache")
    write_bytes(f"{folder}/.git/tracegate", b"a file")
    expect("no folder can be made: no word about it", judged(folder), want)


def bounded(tmp):
    """Above 256 MiB, what was not used for the longest time goes."""
    folder = repository(tmp)
    want = judged(folder)
    cache = os.path.dirname(files(folder)[0])
    kept = files(folder)
    for name, megabytes, age in (("old", 200, 1000), ("older", 40, 2000), ("recent", 40, -1000)):
        with open(f"{cache}/{name}", "wb") as f:
            f.truncate(megabytes << 20)
        at = os.stat(kept[0]).st_mtime - age
        os.utime(f"{cache}/{name}", (at, at))
    expect("nothing is written, nothing goes", (judged(folder), len(files(folder))), (want, RUNS + 3))
    os.remove(kept[0])
    expect("the same reports", judged(folder), want)
    expect("older, then old, and not more", files(folder), sorted([*kept, f"{cache}/recent"]))


def stored_is_not_kept(tmp):
    """A summary in git is read as it is."""
    folder = repository(tmp)
    for k in range(RUNS):
        expect_end("summarize", tracegate("summarize", f"base/run{k}.json.gz", "-o", f"base/run{k}.tgs", cwd=folder), 0)
        os.remove(f"{folder}/base/run{k}.json.gz")
    git(folder, "add", "-A", "base")
    git(folder, "commit", "-qm", "summaries")
    expect("exit", judged(folder)[0], 1)
    expect("none kept", files(folder), [])


run_parts(same_bytes, other_keys, damaged, unwritable, bounded, stored_is_not_kept)
