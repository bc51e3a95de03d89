#!/usr/bin/env python3
"""One spelling for one meaning: `check --out DIR` writes every report under the name that reporters/reporter.h has for it;
spellings of the release before work as today's do, and say so once; completion offers the suites and profiles of the policy;
a name that a report prints is taken by the commands that ask for names."""
import os
import re
import subprocess
import sys

from support import ENV, ROOT, Repository, check, expect, read_json, read_text, run_parts, tracegate
import plain_model

FILES = set(re.findall(r'X\(\w+, "[\w-]+", "([\w.-]+)", FILE,', read_text(f"{ROOT}/reporters/reporter.h")))
POLICY = ("version: 1\nextends: [tracegate:recommended]\nprofiles: {nightly: {fail_on: [open]}, release: {fail_on: [fail]}}\nsuites:\n"
          "  - {name: train, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/run*.json.gz'}\n"
          "  - {name: serve, trace: {files: 'out/run*.json.gz', run: 'run(\\d+)'}, baseline: 'perf/run*.json.gz'}\n")


def repository(tmp, policy=None):
    r = Repository(tmp)
    r.copies("base", "perf")
    r.copies("extra_copy", "out")
    if policy:
        r.write(".tracegate.yml", policy)
    r.git("add", "-A")
    r.git("commit", "-q", "-m", "traces")
    return r


def all_reports(tmp):
    r = repository(tmp)
    judge = ("check", "out", "--runs", "--baseline", "perf", "--quiet")
    expect("the names", len(FILES) >= 11 and {"comment.md", "report.html", "report.json", "junit.xml"} <= FILES, True)
    expect("docs/reports.md has them", [f for f in sorted(FILES) if f"`{f}`" not in read_text(f"{ROOT}/docs/reports.md")], [])
    expect("--out: the verdict's code", r.run(*judge, "--out", "new/folder").returncode, 1)
    expect("--out: all reports and nothing else", set(os.listdir(f"{tmp}/new/folder")), FILES)
    alone = r.run(*judge, "--markdown", "alone.md", "--json", "alone.json")
    expect("alone", alone.returncode, 1)
    for name, other in (("comment.md", "alone.md"),):
        one, two = read_text(f"{tmp}/new/folder/{name}"), read_text(f"{tmp}/{other}")
        expect(f"--out: {name} has what --markdown writes", one == two, True)
    expect("--out: report.json", read_json(f"{tmp}/new/folder/report.json")["violations"] == read_json(f"{tmp}/alone.json")["violations"], True)
    # A report that is named is where it is named.
    r.run(*judge, "--out", "some", "--markdown", "elsewhere.md")
    expect("a named one", (set(os.listdir(f"{tmp}/some")), os.path.exists(f"{tmp}/elsewhere.md")), (FILES - {"comment.md"}, True))
    # Completely or not at all: the baseline cannot be read, or one of the places is a folder.
    run = r.run("check", "out", "--baseline", "nowhere", "--out", "none")
    expect("no verdict, no reports", (run.returncode != 0, os.listdir(f"{tmp}/none")), (True, []))
    os.makedirs(f"{tmp}/full/report.json/x")
    run = r.run(*judge, "--out", "full")
    expect(f"one cannot be written: none is; {run.stderr}", (run.returncode, sorted(os.listdir(f"{tmp}/full"))), (5, ["report.json"]))


def several_suites(tmp):
    r = repository(tmp, POLICY)
    expect("two suites", r.run("check", "--quiet", "--baseline", "HEAD:perf", "--suite", "train", "--out", "one").returncode, 1)
    expect("of one suite", set(os.listdir(f"{tmp}/one")), FILES)
    r.git("checkout", "-q", "-b", "change")
    r.git("commit", "-q", "--allow-empty", "-m", "a change")
    run = r.run("check", "--quiet", "--out", "two")
    want = {f"{name}-{suite}{end}" for f in FILES for name, end in [os.path.splitext(f)] for suite in ("train", "serve")}
    expect(f"of two suites; {run.stderr[-300:]}", set(os.listdir(f"{tmp}/two")), want)


def old_spellings(tmp):
    r = repository(tmp)
    base, fresh = "perf/run00.json.gz", "out/run00.json.gz"
    r.write("rules", "memory *\n")
    fake = ("-c", "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])", os.path.join(tmp, base), "{trace}")
    plain_model.write(tmp + "/device.json", plain_model.trace([plain_model.usual()] * 3, 1))
    cases = [  # as before, as now, the note
        (("diff", base, fresh, "--sort", "control"), ("diff", base, fresh, "--sort", "baseline"), "--sort=control is now --sort=baseline"),
        (("diff", base, fresh, "--sort=test"), ("diff", base, fresh, "--sort=fresh"), "--sort=test is now --sort=fresh"),
        (("diff", base, fresh, "--control-step", "1"), ("diff", base, fresh, "--step", "baseline=1"), "--control-step is now --step=baseline="),
        (("diff", base, fresh, "--test-rank=0"), ("diff", base, fresh, "--rank=fresh=0"), "--test-rank is now --rank=fresh="),
        (("analyze", fresh, "--measure", "sequences", "--operator", "aten::"), ("analyze", fresh, "--measure", "sequences", "--op", "aten::"),
         "--operator is now --op"),
        (("analyze", "device.json", "--measure", "temporal", "--svg-dir", "a"), ("analyze", "device.json", "--measure", "temporal", "--out", "b"),
         "--svg-dir is now --out"),
        (("check", "out", "--runs", "--baseline", "perf", "--cause-baseline", base, "--cause-traces", fresh),
         ("check", "out", "--runs", "--baseline", "perf", "--cause-trace", "baseline=" + base, "--cause-trace", "fresh=" + fresh),
         "--cause-traces is now --cause-trace=fresh="),
        (("diff", base, fresh, "--short-names"), ("diff", base, fresh, "--by", "short-name"), "--short-names is now --by=short-name"),
        (("diff", base, fresh, "--normalised-names"), ("diff", base, fresh, "--by", "judged-name"), "--normalised-names is now --by=judged-name"),
        (("analyze", "device.json", "--measure", "kernels", "--classes", "rules"),
         ("analyze", "device.json", "--measure", "kernels", "--class", "rules"),
         "--classes is now --class"),
        (("baseline", "prune", "--older-than", "9d", "--then", "weekly"), ("baseline", "prune", "--keep", "9d", "--keep", "weekly"),
         "--then is now --keep"),
        (("check", "out", "--runs", "--baseline", "perf", "--svg-counts", "-", "--svg-narrow"),
         ("check", "out", "--runs", "--baseline", "perf", "--svg-counts", "-", "--svg-style", "narrow"), "--svg-narrow is now --svg-style=narrow"),
        (("ab", "--base", "HEAD", "--once", "1", "--svg-durations", "-", "--svg-share", "--", sys.executable, *fake),
         ("ab", "--base", "HEAD", "--once", "1", "--svg-durations", "-", "--svg-style=share", "--", sys.executable, *fake),
         "--svg-share is now --svg-style=share"),
        (("ab", "--base", "HEAD", "--runs", "1", "--quiet", "--", sys.executable, *fake),
         ("ab", "--base", "HEAD", "--once", "1", "--quiet", "--", sys.executable, *fake), "--runs is now --once"),
        (("bisect", "--good", "HEAD", "--runs", "1", "--", "true"), ("bisect", "--good", "HEAD", "--once", "1", "--", "true"),
         "--runs is now --once"),
        (("bisect", "--good", "HEAD", "--step", "--", "true"), ("bisect", "--good", "HEAD", "--only-head", "--", "true"),
         "--step is now --only-head"),
        (("history", "--op", "a*", "--metric", "b"), ("history", "--name", "a*", "--name", "b"), "--metric is now --name"),
    ]
    for before, now, note in cases:
        one, two = r.run(*before), r.run(*now)
        name = " ".join(before[:1] + before[-3:])[:60]
        expect(f"{name}: says so once; {one.stderr[-300:]}", one.stderr.count(note), 1)
        expect(f"{name}: today's says nothing", "is now" in two.stderr, False)
        expect(f"{name}: the same", (one.returncode, one.stdout.splitlines()[:5]), (two.returncode, two.stdout.splitlines()[:5]))
    expect("the charts are the same", [sorted(os.listdir(f"{tmp}/{x}")) for x in "ab"], [["temporal.svg"]] * 2)
    run = r.run("policy", "init", fresh)
    check("policy init", run.returncode == 0 and "version: 1" in run.stdout and run.stderr.count("goes with the next release") == 1, run.stderr)
    run = r.run("diff", base, fresh, "--sort", "contral")
    check("no spelling at all", run.returncode == 2 and "duration|count|name|baseline|fresh" in run.stderr, run.stderr)


def completion(tmp):
    r = repository(tmp, POLICY)
    bash = tracegate("help", "--completion", "bash").stdout
    def completed(*words, cwd=tmp):
        line = " ".join(f"'{w}'" for w in ("tracegate",) + words)
        text = f"{bash}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _tracegate; printf '%s ' \"${{COMPREPLY[@]}}\""
        env = dict(ENV, PATH=os.path.dirname(os.environ["TG_PROGRAM"]) + ":" + ENV["PATH"])
        return subprocess.run(["bash", "-c", text], capture_output=True, text=True, cwd=cwd, env=env).stdout.split()
    expect("suites", completed("check", "--suite", ""), ["train", "serve"])
    expect("a suite", completed("history", "--suite", "s"), ["serve"])
    expect("profiles", completed("check", "--profile", ""), ["nightly", "release"])
    os.makedirs(tmp + "-empty")
    expect("without a policy", completed("check", "--suite", "", cwd=tmp + "-empty"), [])
    r.write(".tracegate.yml", "version: [")
    run = r.run("help", "--completion", "suites")
    expect("a policy that cannot be read", (run.returncode, run.stdout, run.stderr), (0, "", ""))
    for shell, words in (("zsh", "_tracegate_names suites"), ("fish", "(tracegate help --completion profiles 2>/dev/null)")):
        check(f"{shell}: names of the policy", words in tracegate("help", "--completion", shell).stdout)


def alone(tmp):
    """An option that has no effect without another is an error that names what is missing; beside it, it works."""
    r = repository(tmp)
    base, fresh = "perf/run00.json.gz", "out/run00.json.gz"
    judge = ("check", fresh, "--baseline", base)
    for words, missing, beside in (
            (("history", "--reason", "x"), "--reason needs history accept or history reopen", ("--help",)),
            ((*judge, "--svg-style", "narrow"), "--svg-style needs --svg-counts, --svg-durations or --out", ("--out", "n")),
            ((*judge, "--junit-strict"), "--junit-strict needs --junit or --out", ("--junit", "j.xml")),
            ((*judge, "--trace-url", "https://x/t.json"), "--trace-url needs --html or --out", ("--html", "p.html")),
            ((*judge, "--detect", "5%"), "--detect needs --ask", ("--ask", "asked")),
            ((*judge, "--again", "fresh=out/run01.json.gz", "--again", "baseline=perf/run01.json.gz"), "--again needs --ask", ("--ask", "asked")),
            ((*judge, "--cause-trace", "baseline=" + base), "--cause-trace needs a path of each side", ("--cause-trace", "fresh=" + fresh)),
            (("ab", "--svg-style", "narrow", "--out", "d"), "--svg-style needs --svg-counts or --svg-durations", ("--help",)),  # before any run
            (("diff", base, fresh, "--no-rounding"), "--no-rounding needs --hta", ("--hta",)),
            (("analyze", fresh, "--min-length", "3"), "--min-length needs --op", ("--measure", "sequences", "--op", "aten"))):
        run = r.run(*words)
        check(f"{words}: {run.stderr}", run.returncode == 2 and f"error: {missing}\n" in run.stderr and not run.stdout)
        run = r.run(*words, *beside)
        check(f"{words} {beside}: {run.stderr}", run.returncode in (0, 1) and " needs " not in run.stderr)


def own_help(tmp):
    """An action's help has its options and no other's; `help COMMAND ACTION` is the same."""
    for command, action, has, lacks in (("baseline", "prune", "--keep ", "--strict-json"), ("baseline", "record", "--strict-json", "--keep "),
                                        ("policy", "lint", "--strict", "--owner"), ("policy", "waive", "--owner", "--strict"),
                                        ("history", "accept", "--reason", "--svg")):
        text = tracegate(command, action, "--help").stdout
        check(f"{command} {action} --help", text.startswith(f"usage: tracegate {command} {action} ") and f"  {has}" in text and
              f"  {lacks}" not in text, text)
        expect(f"help {command} {action}", tracegate("help", command, action).stdout, text)
        check(f"{command} --help names {action}", re.search(rf"^  {action} +\S", tracegate(command, "--help").stdout, re.M))


def names(tmp):
    """What the comment prints of the failed name is a name for policy explain, policy waive and history --name."""
    r = repository(tmp)
    r.run("check", "out", "--runs", "--baseline", "perf", "--out", "o", "--quiet")
    names = [v["op"] for v in read_json(f"{tmp}/o/report.json")["violations"] if v.get("op")]
    expect("names", len(names) > 0, True)
    shown = [n for n in re.findall(r"`([^`\n]+)`", read_text(f"{tmp}/o/comment.md")) if n in names or "\u2026" in n]
    for name in set(shown + names[:3]):
        run = r.run("policy", "explain", name, "out/run00.json.gz")
        check(f"explain {name}", run.returncode == 0 and "fail {" in run.stdout, run.stdout[:200] + run.stderr)
    run = r.run("policy", "waive", "o/report.json")
    check("waive", run.returncode == 0, run.stderr)
    # three kernels with one functor, two of them slower: each by the operator that launches it, as the comment has it
    for side, us in (("b", 20), ("t", 50)):
        for k in range(3):
            plain_model.write_run(f"{tmp}/{side}{k}.json", [plain_model.usual() + [
                plain_model.Work(f"aten::{op}", "kernel",
                                 f"void at::native::vectorized_elementwise_kernel<{n}, at::native::BinaryFunctor<float, float, float, "
                                 "at::native::binary_internal::MulFunctor<float> > >(int, float*)", 20 if op == "mul" else us)
                for op, n in (("mul", 4), ("div", 8), ("pow", 2))]] * 4, k + us)
    r.run("check", "t0.json", "t1.json", "t2.json", "--runs", *[x for k in range(3) for x in ("--baseline", f"b{k}.json")], "--json", "r.json",
          "--markdown", "r.md", "--quiet")
    comment = read_text(f"{tmp}/r.md")
    for op, size in (("mul", 4), ("div", 8), ("pow", 2)):
        name = f"MulFunctor<float> of aten::{op}"
        run = r.run("policy", "explain", name, "t0.json")
        kernels = re.findall(r"vectorized_elementwise_kernel<(\d)", run.stdout)
        expect(f"explain {name}", set(kernels), {str(size)})
        run = r.run("policy", "waive", "r.json", "slower", name)
        expect(f"waive {name}: {run.stderr}", (run.returncode == 0, f"`{name}`" in comment), (op != "mul",) * 2)
        check(f"waive {name}", op == "mul" or f"kernel<{size}," in run.stdout, run.stdout)


run_parts(all_reports, several_suites, old_spellings, completion, alone, own_help, names)
