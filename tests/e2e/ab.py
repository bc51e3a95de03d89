#!/usr/bin/env python3
"""tracegate ab in a real repository with a program that hands out recorded traces; docs/record.md's snippet."""
import json
import math
import os
import re
import subprocess
import sys
import time

from support import ENV, PROGRAM, ROOT, Repository, expect, expect_end, git, read_json, run_parts, terminal, tracegate, write_text

TRACES, AB = os.path.join(ROOT, "examples/traces"), (PROGRAM, "ab")
ENV = dict(ENV, TRACEGATE=PROGRAM)


def repository(tmp):
    """main hands out traces of `base`, the branch those of `extra_copy`; each call is logged."""
    return Repository(tmp + "/r").history(*({"bench": f'#!/bin/sh\nn=$(basename "$1" .json.gz)\necho {variant} $n >> {tmp}/log\n'
                                             f'[ -n "$TRACE" ] && cp {TRACES}/{variant}/$n.json.gz "$1"\n'}
                                            for variant in ("base", "extra_copy")), branch="change").dir


def ab(r, *args):
    return subprocess.run([*AB, *args], cwd=r, env=ENV, capture_output=True, text=True, timeout=300)


def interleaved(tmp):
    r = repository(tmp)
    expect_end("an extra copy", ab(r, "--base", "main", "--once", "3", "--json", tmp + "/r.json", "--", "./bench", "{trace}"), 1,
               "aten::clone")
    order = open(tmp + "/log").read().split("\n")[:-1]
    expect("order", order, [f"{v} run0{k}" for k in range(3) for v in ("base", "extra_copy")])
    expect("the report", os.path.exists(tmp + "/r.json"), True)
    expect("no worktree stays", len(git(r, "worktree", "list").splitlines()), 1)
    expect("nothing changed", git(r, "status", "--porcelain"), "")
    # (arguments, exit, words)
    for args, code, words in (
            (("--base", "main"), 2, "tracegate ab --base origin/main"),
            (("--base", "nonesuch", "--", "true"), 2, "fetch"),
            (("--base", "main", "--once", "x", "--", "true"), 2, "--once"),
            (("--base", "main", "--", "false"), 3, "base, run 0: the command failed"),
            (("--base", "main", "--", "true"), 3, "wrote no trace"),
            (("--base", "main", "--", "sh", "-c", 'echo "[]" | gzip > "$TRACE"'), 4, "ab: 1 run a side in 1 stage"),
            (("--base", "main", "--setup", "exit 4", "--", "true"), 3, "--setup failed in base"),
            (("--base", "main", "--out", "/proc/nonesuch", "--", "true"), 5, "/proc/nonesuch")):
        run = ab(r, *args)
        expect_end(f"{args}", run, code, err=words)
    expect("no worktree stays after a failure", len(git(r, "worktree", "list").splitlines()), 1)


def before_the_runs(tmp):
    """What check would refuse after the runs is refused before the first."""
    r = repository(tmp)
    write_text(r + "/.tracegate.yml", "version: 1\nextends: [tracegate:recommended]\nsuites: [{name: s, trace: x.json.gz}]\n")
    for args, words in ((("--detect", "abc"), "--detect 'abc' is not a size"), (("--detect", "0"), "is not a size"),
                        (("--detect", "-5%"), "is not a size"), (("--profile", "nope"), "there is no profile 'nope'"),
                        (("--top", "x"), "--top needs a whole number"), (("--top", "-3"), "--top needs a whole number"),
                        (("--meta", "x"), "--meta 'x' is not KEY=VALUE"), (("--against", "nope"), "has no baseline 'nope'"),
                        (("--suite", "nope"), "has no suite 'nope'"),
                        (("--policy", "nope.yml"), "cannot open 'nope.yml'"), (("--json", "x", "--junit", "x"), "two outputs go to 'x'"),
                        (("--once", "3", "--profile", "nope"), "no profile 'nope'")):
        expect_end(f"{args}", ab(r, "--base", "main", *args, "--", "./bench", "{trace}"), 2, err=words)
    expect("no run was made", os.path.exists(tmp + "/log"), False)
    expect_end("control", ab(r, "--base", "main", "--suite", "s", "--detect", "20%", "--top", "3", "--", "./bench", "{trace}"), 1, "aten::clone")


def side_fails(tmp):
    """A side that does not run is a verdict: each report says so."""
    r = repository(tmp)
    for what, command, words in (("exits", "exit 7", "base, run 0: the command failed: exit 7 (twice)"),
                                 ("silent", "true", "base, run 0: the command wrote no trace to")):
        done = ab(r, "--base", "main", "--json", f"{tmp}/{what}.json", "--junit", f"{tmp}/{what}.xml", "--markdown", f"{tmp}/{what}.md",
                  "--", "sh", "-c", command)
        expect_end(what, done, 3, "ERROR: " + words, err="error: " + words)
        report = read_json(f"{tmp}/{what}.json")
        expect(f"{what}: JSON", (report["verdict"], report["exit_code"], words in report["headline"]), ("error", 3, True))
        with open(f"{tmp}/{what}.xml") as junit, open(f"{tmp}/{what}.md") as markdown:
            expect(f"{what}: JUnit, Markdown", (junit.read().count("<error "), words[:20] in markdown.read()), (1, True))
    done = ab(r, "--base", "main", "--setup", "exit 4", "--json", tmp + "/setup.json", "--", "./bench", "{trace}")
    expect_end("--setup", done, 3, err="--setup failed in base")
    expect("--setup: JSON", read_json(tmp + "/setup.json")["verdict"], "error")


def beside(tmp):
    """Any other file may be beside a trace; one more that would be read is told by its name; a trace that changes is 6."""
    r = repository(tmp)
    for name, code in (("run00.txt", 1), ("run00-memory.html", 1), ("memory.pickle", 1), ("log.txt", 1), ("run00.json", 6), ("run07.json.gz", 6)):
        done = ab(r, "--base", "main", "--", "sh", "-c", f'./bench "$TRACE" && echo x > "$(dirname "$TRACE")/{name}"')
        words = "one more file that is read as a trace"
        expect_end(name, done, code, "aten::clone" if code == 1 else "", err=words if code == 6 else "")
        expect(f"{name}: named {done.stderr}", (f"/{name}\n" in done.stderr, "changed while" in done.stderr), (code == 6, False))
    spoil = 'for f in "$(dirname "$TRACE")"/../base-*/*.gz; do [ -e "$f" ] && echo >> "$f"; done; ./bench "$TRACE"'
    done = ab(r, "--base", "main", "--", "sh", "-c", spoil)
    expect_end("an earlier trace", done, 6, err="a trace changed while the command ran")
    event = tmp + "/event.json"
    for spoil, code in (("true", 1), (f"echo >> {event}", 6)):
        write_text(event, "{}")
        done = subprocess.run([*AB, "--base", "main", "--", "sh", "-c", f'{spoil}; ./bench "$TRACE"'], cwd=r, capture_output=True, text=True,
                              env=dict(ENV, GITHUB_EVENT_PATH=event))
        expect_end(f"the event, {spoil}", done, code, err="what judges changed" if code == 6 else ())


def numbers(tmp):
    """What a benchmark writes beside its trace is judged in the same verdict: the change serves a tenth less."""
    r = repository(tmp)
    write_text(r + "/.tracegate.yml", "version: 1\nsuites: [{name: s, trace: x.json.gz, numbers: x.numbers}]\nrules:\n"
               "  - {id: rate, metric: number, match: {name: rate}, fail: {pct: 3%}}\n")
    git(r, "checkout", "-q", "main")
    write_text(r + "/rate", "1000")
    git(r, "add", "-A")
    git(r, "commit", "-qm", "rates")
    git(r, "checkout", "-qb", "slower")
    for rate, code in (("1000", 0), ("900", 1)):
        write_text(r + "/rate", rate)
        git(r, "commit", "-qam", rate, "--allow-empty")
        done = ab(r, "--base", "main", "--once", "3", "--", "sh", "-c",
                  './bench "$0" && echo "rate $(cat rate).$(basename "$0" .json.gz | tr -dc 0-9) req/s" > "${0%.json.gz}.numbers"', "{trace}")
        expect_end(f"rate {rate}", done, code, "FAIL: 1 violation: rate -10.0 %" if code else "nothing failed")


def once_more(tmp):
    """A run that fails is tried once more and told; what fails twice is an error that can be run by hand."""
    r = repository(tmp)
    flaky = f'case $0 in *base-*run01*) [ -e {tmp}/NAME ] || {{ touch {tmp}/NAME; FAIL; }};; esac; exec ./bench "$0"'
    for name, fail, words in (("exits", "exit 7", "exit 7;"), ("killed", "kill -KILL $$", "signal 9;"),
                              ("silent", "exit 0", "wrote no trace")):
        write_text(tmp + "/log", "")
        done = ab(r, "--base", "main", "--once", "3", "--", "sh", "-c", flaky.replace("NAME", name).replace("FAIL", fail), "{trace}")
        expect_end(name, done, 1, "aten::clone", err="base, run 1: the second try went well")
        expect(f"{name}: told {done.stderr}", (words in done.stderr, done.stderr.count("tried once more")), (True, 1))
        expect(f"{name}: in turn", open(tmp + "/log").read().split("\n")[:-1],
               [f"{v} run0{k}" for k in range(3) for v in ("base", "extra_copy")])
    calm = ab(r, "--base", "main", "--once", "1", "--", "./bench", "{trace}")
    expect("nothing failed, nothing told", "once more" in calm.stderr, False)
    done = ab(r, "--base", "main", "--", "sh", "-c", f"echo x >> {tmp}/tries; exit 9", "a b", "{trace}")
    expect_end("twice", done, 3, err="base, run 0: the command failed: exit 9 (twice)")
    expect("twice: tries", open(tmp + "/tries").read(), "x\nx\n")
    sha = git(r, "rev-parse", "main").strip()[:12]
    expect(f"twice: by hand {done.stderr}", (f"commit {sha}" in done.stderr, " 'sh' '-c' " in done.stderr,
                                             "'a b' '/" in done.stderr, "TRACE=/" in done.stderr), (True,) * 4)


# A program with twelve operators of 100 us that differ by 1 % from run to run; `variant` says what else.
STEPPER = """import gzip, json, os, random, sys
k, variant = int(os.environ["TRACE"].removesuffix(".json.gz")[-2:]), open("variant").read().strip()
rng = random.Random(f"{variant} {k}")
def factor(op):
    own = {"slower": 1.2, "lucky": 1.2 if k < 5 else .95}.get(variant, 1)
    # The first look proves 30 %; the new runs vary on both sides: p of 4, 6, 8, 12 new ones .12, .43, .1, .07; +20 % less likely with .12
    if variant == "wild":
        own = 1.3 if k < 5 else (1.7, .5, 1, 1.3, 1.1, .8)[(k - 5) % 6]
    if variant == "wild-base":
        own = 1 if k < 5 else (.8, .4, 1.6, 1.4, 1.1, 1.2)[(k - 5) % 6]
    # Two speeds on both sides, and half as long again: medians of the first look .8 and 1.6, ranks of eight new ones p = .12
    if variant in ("speeds", "speeds-base"):
        slow = k in ((0, 2, 3, 6, 7, 9, 11) if variant == "speeds" else (1, 2, 4, 5, 7, 8, 10, 12))
        own = (2 if slow else 1) * (1.5 if variant == "speeds" else 1)
    # rush: the machine is slower in the first new runs, and op3 most: in these alone, or in all by a fifth
    rushed = variant.startswith("rush") and 5 <= k < 9
    if variant == "rush":
        own = 1.2 if k < 5 else 1.3 if rushed else .95
    if variant == "rush-slower":
        own = 1.2
    # hot: the machine is slower, in all runs or in those of the first look; and more: loading takes 6 times as long throughout
    machine = 1.3 if variant == "hot" or variant in ("hot-first", "hot-and-more") and k < 5 or rushed else 1
    more = 6 if variant == "hot-and-more" and op == "load" else 1
    return machine * more * (own if op == 3 else 1) * rng.uniform(.99, 1.01)
events, at = [], 0
for step in range(4):
    begin = at
    load = round(100 * factor("load"), 3)
    events.append(dict(ph="X", cat="user_annotation", name="load", pid=1, tid=1, ts=at, dur=load))
    at = round(at + load + 1, 3)
    for op in range(12):
        dur = round(100 * factor(op), 3)
        events.append(dict(ph="X", cat="cpu_op", name=f"demo::op{op}", pid=1, tid=1, ts=at, dur=dur))
        at = round(at + dur + 1, 3)
    events.append(dict(ph="X", cat="user_annotation", name=f"ProfilerStep#{step}", pid=1, tid=1, ts=begin, dur=round(at - begin, 3)))
with open(os.environ["LOG"], "a") as log:
    log.write(f"{variant} {k}\\n")
with gzip.open(os.environ["TRACE"], "wt") as f:
    json.dump(dict(schemaVersion=1, traceEvents=events), f)
"""


def stepper(tmp, variant):
    """A repository whose branch `change` is of this variant; main is as it was."""
    main = variant + "-base" if variant in ("wild", "speeds") else "base"
    return Repository(f"{tmp}/{variant}").history({"bench.py": STEPPER, "variant": main + "\n"}, {"variant": variant + "\n"}, branch="change").dir


def in_stages(tmp):
    """One run a side for what it does, five for what looks slower, new ones for that alone."""
    r = repository(tmp)
    done = ab(r, "--base", "main", "--", "./bench", "{trace}")
    expect_end("an extra copy", done, 1, "aten::clone", err="ab: 1 run a side in 1 stage, ")
    expect("an extra copy: runs", open(tmp + "/log").read().split("\n")[:-1], ["base run00", "extra_copy run00"])
    # variant, options -> exit, words, in stderr, runs a side
    for variant, options, code, words, told, n in (
            ("same", (), 0, "PASS", "5 runs a side in 2 stages", 5),
            ("slower", (), 1, "demo::op3", "suspects: 1", 9),
            ("lucky", (), 0, "then 4 new ones", "9 runs a side in 3 stages", 9),
            ("speeds", (), 1, "demo::op3", "suspects: 1", 13),
            ("rush", (), 0, "PASS", "17 runs a side in 5 stages", 17),
            ("rush-slower", (), 1, "demo::op3", "17 runs a side in 5 stages", 17),
            ("wild", (), 4, "cannot be told within 17 runs a side", "17 runs a side in 5 stages", 17),
            ("wild", ("--max-runs", "7"), 4, "cannot be told within 5 runs a side", "5 runs a side in 2 stages", 5),
            ("wild", ("--detect", "900%"), 0, "PASS", "17 runs a side in 5 stages", 17),
            ("hot-first", (), 0, "Step time 1.312 -> 1.314 ms (+0.1 %", "9 runs a side in 3 stages", 9),
            ("hot-and-more", (), 1, "Step time 1.31 -> 1.81 ms (+38", "9 runs a side in 3 stages", 9),
            ("hot", (), 0, "WARN: nothing failed, 1 warning: step_time +30 %", "13 runs a side in 4 stages", 13),
            ("hot", ("--once", "5"), 0, "WARN: nothing failed, 1 warning: step_time +30 %", "", 5),
            ("hot", ("--max-runs", "5"), 0, "WARN: nothing failed, 1 warning: step_time +30 %", "5 runs a side in 2 stages", 5),
            ("same", ("--max-runs", "2"), 0, "without room for new runs after 2 a side", "2 runs a side in 2 stages", 2),
            ("slower", ("--budget", "1s"), None, "", "--budget 1s has time for", None)):
        name = f"{variant} {' '.join(options)}"
        r = tmp + "/" + variant
        if not os.path.exists(r):
            stepper(tmp, variant)
        log = tmp + "/stepper-log"
        write_text(log, "")
        ENV["LOG"] = log
        slow = "sleep 0.2; " if "--budget" in options else ""
        done = ab(r, "--base", "main", *options, "--", "sh", "-c", slow + f"exec {sys.executable} bench.py")
        lines = open(log).read().split("\n")[:-1]
        expect_end(name, done, done.returncode if code is None else code, words, err=told)
        expect(f"{name}: no advice to do what was done {done.stdout}", "tracegate ab" in done.stdout, False)
        if variant == "same" and not options:  # what a pass states is what was measured
            page = open(ROOT + "/docs/experiments/ask-again.md", encoding="utf-8").read()
            red = re.search(r"\*\*in stages\*\* \| 0 \| 0\.(\d) %.*\n.*\n\| \| \+20 % \| [0-9.]+ % \| (\d+)\.\d %", page)
            said = re.search(r"failed in (\d+) of 1,000 cases, and \+20 % on one operator was found in (\d+) of 100", " ".join(done.stdout.split()))
            expect(f"the contract is the page's {done.stdout}", said and said.groups(), red and red.groups())
        if variant == "slower" and not options:  # planted: +20 %, with 1 % of noise
            size = re.search(r"; suspects: 1: demo::op3 \+(\d+\.\d) % \(\+(\d+\.\d) to \+(\d+\.\d) %\)\n", done.stderr)
            expect(f"{name}: its interval {done.stderr}", size and [19 < float(size[1]) < 21, 15 < float(size[2]) < 20, 20 < float(size[3]) < 25],
                   [True] * 3)
        if n:
            expect(f"{name}: runs", lines,
                   [f"{v} {k}" for k in range(n) for v in (variant + "-base" if variant in ("wild", "speeds") else "base", variant)])
        else:
            expect(f"{name}: fewer runs {len(lines)}", len(lines) < 2 * 17, True)
    for args, words in ((("--once", "3", "--detect", "5%"), "--once is one look"), (("--resume",), "--resume needs --out"),
                        (("--budget", "soon"), "is not a time"), (("--max-runs", "0"), "numbers from 1 to 999"),
                        (("--resume", "--out", tmp + "/none"), "has no runs of this command line"), (("--detect", "much"), "is not a size")):
        expect_end(f"{args}", ab(tmp + "/same", "--base", "main", *args, "--", sys.executable, "bench.py"), 2, err=words)


def in_time(tmp):
    """Runs become slower while they are made: the budget is kept within a stage, and what is there is judged."""
    r = stepper(tmp, "wild")
    ENV["LOG"] = tmp + "/log"
    # From run 5 on each takes ten times as long, a second at least. Stage 3 asks for eight runs, of which the budget has time for a few,
    # however fast the machine is.
    bench = f"exec {sys.executable} bench.py"
    begin = time.monotonic()
    for k in range(3):
        subprocess.run(["sh", "-c", bench], cwd=r, env=dict(ENV, TRACE=f"{tmp}/run00.json.gz"), check=True, capture_output=True)
    quick = (time.monotonic() - begin) / 3
    slow = max(1, 10 * quick)
    budget = math.ceil(2 * 5 * quick + 2 * 2.5 * (slow + quick))
    open(tmp + "/log", "w").close()
    begin = time.monotonic()
    done = ab(r, "--base", "main", "--budget", f"{budget}s", "--", "sh", "-c", f"case $TRACE in *run0[0-4]*) ;; *) sleep {slow:.1f};; esac; {bench}")
    took, n = time.monotonic() - begin, len(open(tmp + "/log").read().split("\n")[:-1]) // 2
    expect_end("in time", done, 4, "cannot be told within", err=f"--budget {budget}s has time for {n}")
    expect(f"in time: {took:.1f} of {budget} s, {n} runs a side", (took < budget + 2 * slow, 5 < n < 9), (True, True))


def by_policy(tmp):
    """The policy says how long to ask; the command line wins; a mistake in it is at its place."""
    r = stepper(tmp, "wild")
    ENV["LOG"] = tmp + "/log"
    # of the policy, options -> exit, in the output or the error
    for ab_of, options, code, words in (
            ("{max_runs: 7}", (), 4, "cannot be told within 5 runs a side"),
            ("{max_runs: 7}", ("--max-runs", "11"), 4, "cannot be told within 11 runs a side"),
            ("{detect: 900%}", (), 0, "PASS"),
            ("{detect: 900%}", ("--detect", "20%"), 4, "cannot be told within 17"),
            ("{budget: soon}", (), 2, ".tracegate.yml:3:14")):
        write_text(r + "/.tracegate.yml", f"version: 1\nextends: [tracegate:recommended]\nab: {ab_of}\n")
        done = ab(r, "--base", "main", *options, "--", "sh", "-c", f"exec {sys.executable} bench.py")
        expect(f"{ab_of} {options}: {done.stdout} {done.stderr}", (done.returncode, words in done.stdout + done.stderr), (code, True))


def live(tmp):
    """On a terminal one line is replaced again and again; what is said in between stands on lines of its own."""
    r = stepper(tmp, "slower")
    env = dict(ENV, LOG=tmp + "/log", COLUMNS="120")
    ends = terminal()
    if not ends:
        return
    own, there = ends
    going = subprocess.Popen([*AB, "--base", "main", "--", "sh", "-c", f"exec {sys.executable} bench.py"], cwd=r, env=env, stderr=there,
                             stdout=subprocess.DEVNULL)
    os.close(there)
    seen = b""
    try:
        while chunk := os.read(own, 65536):
            seen += chunk
    except OSError:  # the other end is closed
        pass
    expect("live: exit", going.wait(60), 1)
    lines = seen.decode().replace("\r\n", "\n").split("\n")
    shown = [x for line in lines for x in line.split("\r\x1b[K")]
    expect("live: each run", sum(bool(re.match(r"ab: stage [123]: run \d+ of (1|5|9) per side, (base|head)", x)) for x in shown), 18)
    last = [x for x in shown if "run 9 of 9 per side, head" in x]
    expect(f"live: what the last one shows {last}", bool(last and re.fullmatch(
        r"ab: stage 3: run 9 of 9 per side, head; \d\.\d s to go; demo::op3 \+\d+\.\d % \(\+\d+\.\d to \+\d+\.\d %\)", last[0])), True)
    expect(f"live: nothing stays {shown[-1]!r}", "per side" in seen.decode().split("\x1b[K")[-1], False)


def resumed(tmp):
    """Killed in the middle and resumed: the same verdict, and no run is made twice but the one that was cut."""
    r, log, out = stepper(tmp, "slower"), tmp + "/log", tmp + "/out"
    ENV["LOG"] = log
    command = ("--base", "main", "--out", out, "--json", tmp + "/r.json")
    bench = ("--", "sh", "-c", f"exec {sys.executable} bench.py")
    write_text(log, "")
    whole = ab(r, *command, *bench)
    expect("whole: exit", whole.returncode, 1)
    report = read_json(tmp + "/r.json")["violations"]
    write_text(log, "")
    going = subprocess.Popen([*AB, *command, *bench], cwd=r, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(open(log).read().split("\n")) <= 12 and going.poll() is None:
        time.sleep(0.02)
    going.kill()
    going.wait()
    before = len(open(log).read().split("\n")) - 1
    expect(f"killed before its end, after {before}", 12 <= before < 18, True)
    done = ab(r, *command, "--resume", *bench)
    expect_end("resumed", done, 1, "demo::op3", err="9 runs a side in 3 stages")
    again = len(open(log).read().split("\n")) - 1 - before
    expect(f"resumed: the rest alone, {again}", 18 - before <= again <= 18 - before + 2, True)
    expect("resumed: the same report", read_json(tmp + "/r.json")["violations"], report)
    # a trace that is not as it was recorded is made again
    at = [f for f in os.listdir(out) if f.startswith("head-")][0]
    write_text(f"{out}/{at}/run01.json.gz", "not a trace")
    write_text(log, "")
    expect("spoilt: exit", ab(r, *command, "--resume", *bench).returncode, 1)
    expect("spoilt: made again", open(log).read(), "slower 1\n")
    git(r, "commit", "-q", "--allow-empty", "-m", "another")
    expect_end("another commit", ab(r, *command, "--resume", *bench), 2, err="has no runs of this command line")


# Hands out what was recorded; its call of the number in KILL kills the comparison that waits for it.
REPLAY = """#!/bin/sh
call=$(($(grep -vc end LOG) + 1)) from=STORE/$(cat variant)-$(basename $TRACE)
echo "$(cat variant) $(basename $TRACE)" >> LOG
read at when < KILL
if [ "$call" = "$at" ]; then
    [ $when = written ] && cp $from $TRACE
    [ $when = half ] && head -c 500 $from > $TRACE
    kill -9 $PPID
    [ $when = going ] || exit 1
    until [ -e KILL.on ]; do sleep 0.05; done
    echo end >> LOG
fi
exec cp $from $TRACE
"""


def ab_that_waits(r, go, *args):
    """ab, which waits for a run that is still going and ends once the file `go` is there."""
    going = subprocess.Popen([*AB, *args], cwd=r, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    waits = going.stderr.readline()
    expect(f"it waits: {waits}", "is still going" in waits, True)
    write_text(go, "")
    out, err = going.communicate(timeout=300)
    os.unlink(go)
    return subprocess.CompletedProcess(args, going.returncode, out, err)


def killed_anywhere(tmp):
    """Killed before, while, or after a first, second, middle or last run is written, or with the run going on by itself: the verdict of the same
    runs, whole."""
    r, log, store, kill = stepper(tmp, "slower"), tmp + "/log", tmp + "/store", tmp + "/kill"
    os.makedirs(store)
    for variant in ("base", "slower"):
        write_text(tmp + "/variant", variant)
        for k in range(9):
            subprocess.run([sys.executable, r + "/bench.py"], cwd=tmp, check=True,
                           env=dict(ENV, LOG="/dev/null", TRACE=f"{store}/{variant}-run{k:02}.json.gz"))
    write_text(tmp + "/replay", REPLAY.replace("LOG", log).replace("STORE", store).replace("KILL", kill))
    os.chmod(tmp + "/replay", 0o755)
    reports = {}
    for at, when in ((0, "whole"), *((n, w) for n in (1, 2, 10, 11, 18) for w in ("before", "half", "written", "going"))):
        out = f"{tmp}/out-{at}-{when}"
        command = ("--base", "main", "--out", out, "--json", tmp + "/r.json", "--", tmp + "/replay")
        write_text(log, "")
        write_text(kill, f"{at} {when}\n")
        if at:
            expect(f"{when} {at}: killed", ab(r, *command).returncode, -9)
            command = ("--resume", *command)
        done = ab_that_waits(r, kill + ".on", *command) if when == "going" else ab(r, *command)
        expect_end(f"{when} {at}", done, 1, "demo::op3", err="9 runs a side in 3 stages")
        calls = open(log).read().split("\n")[:-1]
        reports[at, when] = open(tmp + "/r.json").read().replace(out, "OUT")
        if when == "going":  # the next run waits for the end of the one that is left
            expect(f"{when} {at}: {calls}", calls.index("end"), at)
        expect(f"{when} {at}: calls {calls}", len([c for c in calls if c != "end"]), 18 + (at > 0))
        expect(f"{when} {at}: the same report", reports[at, when] == reports[0, "whole"], True)


def left_behind(tmp):
    """What a killed `ab` left goes with the next one; the folder of one that is going on stays, and what only looks like one."""
    r, folder = repository(tmp), tmp + "/t"
    os.makedirs(folder + "/tracegate-ab-empty")
    os.makedirs(folder + "/tracegate-ab-older/base")  # of a version that locks nothing
    os.symlink(r, folder + "/tracegate-ab-link")
    mine = ["tracegate-ab-empty", "tracegate-ab-link", "tracegate-ab-older"]

    def in_folder(*args):
        return subprocess.run([*AB, "--base", "main", "--once", "1", *args], cwd=r, env=dict(ENV, TMPDIR=folder), capture_output=True, text=True,
                              timeout=100)
    for _ in range(2):
        expect("killed", in_folder("--", "sh", "-c", "kill -KILL $PPID").returncode, -9)
    expect("killed: the second leaves what it made", (len(os.listdir(folder)), len(git(r, "worktree", "list").splitlines())), (4, 3))
    inner = f'[ -e {tmp}/inner ] || {{ touch {tmp}/inner; "{PROGRAM}" ab --base main --once 1 -- ./bench {{trace}} >&2; }}; ./bench "$TRACE"'
    done = in_folder("--", "sh", "-c", inner.replace("{trace}", "{tr''ace}"))
    expect_end(f"one beside the other {done.stderr}", done, 1, "aten::clone", err="nothing failed")
    expect("nothing is left", (sorted(os.listdir(folder)), len(git(r, "worktree", "list").splitlines()), os.path.isdir(r)), (mine, 1, True))


HAND = """import gzip, json, os, shutil, sys
case = "added-copy" if "clone()" in open("models/text.py").read() else "base-text"
k = int(sys.argv[1].removesuffix(".json.gz")[-2:])
with gzip.open(f"{sys.argv[2]}/{case}-{k}.json.gz", "rt") as f:
    trace = json.load(f)
with open(sys.argv[3], "a") as log:
    log.write(f"{case} {os.environ.get('TRACE_STACKS', '')}\\n")
if os.environ.get("TRACE_STACKS") != "1" or sys.argv[4] == "never":
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "python_function"]
    trace.pop("with_stack", None)
if sys.argv[4] == "breaks" and "TRACE_STACKS" in os.environ:
    sys.exit(9)
with gzip.open(sys.argv[1], "wt") as f:
    json.dump(trace, f)
"""


def apart(tmp):
    """The command and --setup are the change's code: nothing by which a step speaks to the runner, and no token."""
    r = repository(tmp)
    private = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_TOKEN", "GH_TOKEN",
               "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_CACHE_URL", "INPUT_TOKEN", "TRACEGATE", "CI_JOB_TOKEN")
    kept = ("GITHUB_SHA", "GITHUB_WORKSPACE", "RUNNER_TEMP", "HF_HOME", "MY_TOKEN")
    env = dict(ENV, TRACEGATE=PROGRAM, **{k: "x" for k in private + kept if k != "TRACEGATE"})
    done = subprocess.run([*AB, "--base", "main", "--once", "1", "--setup", f"env >> {tmp}/seen; cat >> {tmp}/seen", "--", "sh", "-c",
                           f"env >> {tmp}/seen; cat >> {tmp}/seen; exec ./bench $TRACE"], cwd=r, env=env, input="read=me",
                          capture_output=True, text=True, timeout=300)
    expect(f"apart: exit {done.stderr}", done.returncode, 1)
    seen = [x.split("=")[0] for x in open(tmp + "/seen").read().splitlines()]
    expect("apart: not seen", [x for x in (*private, "read") if x in seen], [])
    expect("apart: seen four times, by two commands on two sides", [seen.count(x) for x in kept], [4] * len(kept))


def explain(tmp):
    """The verdict comes from traces without stacks; the cause from one run a side with them, after a failure."""
    planted = os.path.join(ROOT, "tests/planted")
    sys.path.insert(0, planted)
    import plant
    plant.base(tmp + "/r")
    write_text(tmp + "/hand.py", HAND)

    def run(case, stacks, *more):
        log = f"{tmp}/log-{case}-{stacks}{len(more)}"
        done = ab(tmp + "/r", "--base", "main", "--max-runs", "3", *more, "--json", tmp + "/r.json", "--", sys.executable, tmp + "/hand.py",
                  "{trace}",
                  planted + "/traces", log, stacks)
        report = read_json(tmp + "/r.json")
        return done, report, open(log).read().split("\n")[:-1]

    plant.apply(tmp + "/r", "added-copy")
    done, report, log = run("change", "some", "--explain")
    expect("explained: exit", done.returncode, 1)
    expect("explained: runs", log, ["base-text ", "added-copy ", "base-text 1", "added-copy 1"])
    cause = report["violations"][0]["cause"] or {}
    expect("explained: cause", (cause.get("file"), cause.get("qualified"), cause.get("changed")), ("models/text.py", "Block.forward", [[38, 38]]))
    expect("explained: what was judged has no stacks", "with_stack" in json.dumps(report["environment"]) if "environment" in report else False, False)
    expect("explained: said once", done.stdout.count("FAIL:"), 1)
    done, report, log = run("change", "some")
    expect("without --explain: runs", len(log), 2)
    expect("without --explain: no cause of a stack", (report["violations"][0]["cause"] or {}).get("confidence") in (None, "medium"), True)
    for stacks, words in (("never", "records no Python stacks"), ("breaks", "the command failed")):
        done, report, log = run("change", stacks, "--explain")
        expect_end(f"{stacks}", done, 1, "FAIL:", err=words)
    git(tmp + "/r", "checkout", "-q", "-b", "same", "main")
    done, report, log = run("same", "some", "--explain")
    expect("a pass needs no stacks", (done.returncode, len(log)), (0, 6))


def snippet(tmp):
    """The lines of docs/record.md compile; with a PyTorch that has Kineto they run."""
    text = open(os.path.join(ROOT, "docs/record.md")).read()
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    expect("twelve lines", len([x for x in code.splitlines() if x.strip()]), 12)
    path = tmp + "/snippet.py"
    write_text(path, "import sys\nTRACE = sys.argv[1]\n" + code.replace(
        "torch.manual_seed(0)\n", "torch.manual_seed(0)\nm = torch.nn.Linear(8, 8)\n"
        "train_step = lambda step: m(torch.ones(4, 8)).sum().backward()\n"))
    compiled = subprocess.run([sys.executable, "-m", "py_compile", path], capture_output=True, text=True)
    expect(f"compiles {compiled.stderr}", compiled.returncode, 0)
    can = subprocess.run([sys.executable, "-c", "import torch, sys; sys.exit(not torch.profiler.kineto_available())"],
                         capture_output=True)
    if can.returncode:
        print("snippet: compiled, not run (no PyTorch with Kineto)")
        return
    run = subprocess.run([sys.executable, path, tmp + "/t.json.gz"], capture_output=True, text=True)
    expect(f"runs {run.stderr}", run.returncode, 0)
    told = tracegate("check", tmp + "/t.json.gz", "--baseline", tmp + "/t.json.gz", "--exit-zero", cwd=tmp)
    expect(f"a trace with steps {told.stdout} {told.stderr}", told.returncode, 0)


run_parts(interleaved, before_the_runs, side_fails, beside, numbers, once_more, in_stages, in_time, by_policy, live, resumed, killed_anywhere,
          left_behind, apart, explain, snippet)
