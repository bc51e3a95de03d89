#!/usr/bin/env python3
"""--threads: the same bytes whatever the number, on every command that reads; and what it refuses.
TRACEGATE_ISA: the same bytes by any path, and each is taken. Progress: on a terminal, nowhere else.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from support import PROGRAM, check, finish, terminal, write_json
from plain_model import launched, mark, span


def run(*args, env=None):
    r = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, env={**os.environ, **(env or {})})
    return r.returncode, r.stdout, r.stderr


def trace(path, rank, n, slow=1.0):
    """Three steps of operators and kernels; `slow` stretches the kernels."""
    events = []
    for step in range(3):
        start = 1000000 * step
        events.append(mark(step, start, 900000))
        for i in range(n):
            ts = start + 20 * i
            events += [span("cpu_op", f"aten::op_{i % 17}", ts, 9, **{"Input Dims": [[i % 7, 3]], "Sequence number": i}),
                       *launched(f"kernel_{i % 5}<int>", ts + 1, ts + 5, round(8 * slow, 3), step * n + i, grid=[i % 3, 1, 1])]
    write_json(path, {"distributedInfo": {"rank": rank}, "traceEvents": events})
    return path


def same(what, *args):
    """Exit code, standard output and standard error of one thread, and of more, also in parts."""
    one = run(*args, "--threads", "1")
    for n, part in (("2", ""), ("2", "65536"), ("3", "4096"), ("8", "20000")):
        got = run(*args, "--threads", n, env={"TRACEGATE_PART": part} if part else None)
        check(f"{what}: {n} threads, parts of {part or 'the usual size'}, as 1", got == one)
    check(f"{what}: the default as 1", run(*args) == one)
    return one


def cpu_seconds(*args, isa):
    with subprocess.Popen([PROGRAM, *map(str, args)], stdout=subprocess.DEVNULL,
                          env={**os.environ, "TRACEGATE_ISA": isa}) as p:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    check(f"{args} by {isa or 'the best'}", p.returncode == 0)
    return used.ru_utime + used.ru_stime


def every_path_is_taken(tmp):
    """The generic path needs some seven times the instructions: whoever ignores the wish is seen."""
    path = tmp / "large.json"
    block = ",\n".join('{"ph": "X", "cat": "%s", "name": "torch/nn/modules/module.py(%d): call", "pid": 1, '
                       '"tid": 1, "ts": %d.125, "dur": %d, "args": {"Python id": %d, "Python parent id": %d}}'
                       % ("cpu_op" if i % 50 == 0 else "python_function", i % 311, 100 + 3 * i, i % 9, i, i // 2)
                       for i in range(6000))
    path.write_text('{"traceEvents": [' + ",\n".join([block] * 20) + "]}")
    for command in (("analyze", "--measure", "ops", "--whole"), ("analyze", "--measure", "temporal"), ("summarize",),
                    ("names",)):
        want = run(*command, path, "--threads", "1")
        for isa in ("generic", "c", "sse2", "avx2", "neon"):
            check(f"{command} by {isa}", run(*command, path, "--threads", "2", env={"TRACEGATE_ISA": isa}) == want)
        slow, fast = (min(cpu_seconds(*command, path, "--threads", "1", isa=isa) for _ in range(3))
                      for isa in ("generic", ""))
        check(f"{command} takes the path it is told: {slow:.3f} s and {fast:.3f} s", slow > 1.5 * fast)


def feed(path, text):
    """Half of it, and the rest when more than a second has gone."""
    with open(path, "w") as f:
        f.write(text[:len(text) // 2])
        f.flush()
        time.sleep(1.4)
        f.write(text[len(text) // 2:])


def progress(tmp, ours, theirs):
    """What two pipes, read side by side, show on standard error, which is `theirs`."""
    text = control[0].read_text()
    text = text[:-2] + ", " + ", ".join([text[text.index("["):][1:-2]] * 12) + "]}"
    pipes = [tmp / f"rank{i}.json" for i in range(2)]
    for p in pipes:
        os.mkfifo(p)
    with subprocess.Popen([PROGRAM, "analyze", "--measure", "ops", "--whole", *pipes, "--threads", "2"],
                          stdout=subprocess.DEVNULL, stderr=theirs) as p:
        os.close(theirs)
        feeders = [threading.Thread(target=feed, args=(q, text)) for q in pipes]
        for f in feeders:
            f.start()
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # a terminal whose other end is closed
            pass
        for f in feeders:
            f.join()
    os.close(ours)
    for q in pipes:
        q.unlink()
    check(f"pipes are read: {shown}", p.returncode == 0)
    return shown


with tempfile.TemporaryDirectory() as tmp:
    tmp = pathlib.Path(tmp)
    control = [trace(tmp / f"control_rank{r}.json{'.gz' if r % 2 else ''}", r, 400 + r) for r in range(5)]
    test = [trace(tmp / f"test_rank{r}.json{'' if r % 2 else '.gz'}", r, 400 + r, 1.5) for r in range(5)]

    for wrong in ("0", "-1", "257", "two", "", "1.5", "99999999999999999999"):
        code, out, err = run("analyze", control[0], "--threads", wrong)
        check(f"--threads '{wrong}' is refused", code == 2 and not out and b"--threads" in err)
    check("--threads 256 is not", run("analyze", control[0], "--threads", "256")[0] == 0)

    for command in (("analyze", "--measure", "ops", "--whole", "--format", "csv"),
                    ("analyze", "--measure", "ops", "--format", "json"),
                    ("analyze", "--measure", "temporal", "--format", "csv"),
                    ("analyze", "--measure", "kernels", "--measure", "queue", "--format", "json", "--rank", "1,3"),
                    ("analyze", "--measure", "temporal", "--hta", "--format", "csv"),
                    ("names", "--format", "csv"), ("summarize",)):
        code, out, err = same(" ".join(command), *command, *control)
        check(f"{' '.join(command)} works: {err.decode()}", code == 0 and out)
    sides = tmp / "control_rank*", tmp / "test_rank*"
    for extra in ((), ("--hta",), ("--by", "grid"), ("--by", "shape", "--format", "json"), ("--by", "short-name")):
        code, out, err = same(f"diff {extra}", "diff", *sides, "--format", "csv", *extra)
        check(f"diff {extra} works: {err.decode()}", code == 0 and out)

    summaries = []
    for t in control:
        summaries.append(tmp / f"{t.name}.tgs")
        check(f"summary of {t.name}", run("summarize", t, "-o", summaries[-1])[0] == 0)
    code, out, err = same("merge", "merge", *summaries)
    check(f"merge works: {err.decode()}", code == 0 and out and (code, out, err) == run("merge", *reversed(summaries)))
    code, out, err = same("merge with what are none", "merge", summaries[0], control[1], control[2])
    check(f"merge names the first: {err.decode()}", code == 3 and not out and bytes(control[1]) in err.splitlines()[0])

    # The first file, in the order of the command line, that has an error: not the first to fail.
    for name, text in (("short", '{"traceEvents":[{"ph":"X","ts":1,"dur"'), ("bad", '{"traceEvents":[{]}')):
        (tmp / name).write_text(text)
    for order in ([control[0], tmp / "short", tmp / "bad"], [tmp / "bad", tmp / "short", control[0]],
                  [control[1], control[2], control[3], tmp / "bad", tmp / "short"]):
        for command in (("summarize",), ("analyze", "--measure", "ops", "--whole"), ("analyze", "--measure", "idle"), ("names",)):
            code, out, err = same(f"{command} with damaged files", *command, *order)
            first = next(p for p in order if p not in control)
            check(f"{command} names the first: {err.decode()}",
                  code == 3 and not out and str(first).encode() in err.splitlines()[0])
    code, out, err = same("twins", "summarize", control[0], control[0])
    check("twins are refused", code == 2 and b"same trace" in err)
    code, out, err = same("ranks twice, as HTA", "analyze", "--measure", "temporal", "--hta", *control, control[1],
                          control[0])
    check("HTA's notes come in order", [l.split(b"'")[1] for l in err.splitlines()] ==
          [bytes(control[1]), bytes(control[0])])

    every_path_is_taken(tmp)
    ends = terminal()
    shown = ends and progress(tmp, *ends)
    check(f"bytes, rate, files left: {shown}", not ends or (b" MB, " in shown and b" MB/s" in shown
          and (b"2 files left" in shown or b"1 file left" in shown) and shown.endswith(b"\r\x1b[K")))
    check("no progress elsewhere", progress(tmp, *os.pipe()) == b"")

sys.exit(finish("threads"))
