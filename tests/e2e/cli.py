#!/usr/bin/env python3
"""The frame of the command line: exit codes, streams, colour rules, generated manual."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from support import PROGRAM, ROOT, check, finish, measures, read_bytes, read_text, terminal


def run(*args, **kw):
    env = {"PATH": os.environ["PATH"], **kw.pop("env", {})}
    return subprocess.run([PROGRAM, *args], capture_output="stdout" not in kw, text=True, env=env, **kw)


r = run("--version")
check("--version is one line on stdout", r.returncode == 0 and r.stdout.startswith("tracegate ")
      and r.stdout.count("\n") == 1 and not r.stderr)
r = run()
check("no command: usage on stderr, exit 2", r.returncode == 2 and not r.stdout and "usage" in r.stderr)
r = run("hepl")
check("did you mean for commands", r.returncode == 2 and "Did you mean help?" in r.stderr and not r.stdout)
r = run("help", "nothing-like-it")
check("unknown command without guess", r.returncode == 2 and "no command" in r.stderr
      and "Did you mean" not in r.stderr)
r = run("::error::x\n::warning::y ##[error]z")
check("no workflow command gets through", r.returncode == 2 and "##[" not in r.stderr
      and not any(l.lstrip().startswith("::") for l in r.stderr.splitlines()))

overview = run("--help")
check("--help on stdout", overview.returncode == 0 and "exit codes" in overview.stdout)
commands = re.findall(r"^  ([a-z]+) {2,}\S", overview.stdout.split("start here")[0], re.M)
check("commands listed", "help" in commands)
for c in commands:
    a, b = run(c, "--help"), run("help", c)
    check(c + " --help equals help " + c, a.returncode == 0 and a.stdout == b.stdout and "usage: tracegate " + c in a.stdout)
    narrow = run(c, "--help", env={"COLUMNS": "60"})
    # Synopsis and lines that the author laid out are kept; wrapped text must obey.
    check(c + " --help obeys COLUMNS", len(narrow.stdout.splitlines()) > len(a.stdout.splitlines())
          or max(map(len, a.stdout.splitlines())) <= 60)

man = run("help", "--man").stdout
check("docs/man/tracegate.1 is what `tracegate help --man` prints "
      "(tracegate help --man > docs/man/tracegate.1)", read_text(os.path.join(ROOT, "docs/man/tracegate.1")) == man)
for c in commands:
    check("manual tells of " + c, "tracegate " + c in man)
if shutil.which("groff"):
    r = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=man, capture_output=True, text=True)
    check("groff has no warning", r.returncode == 0 and not r.stderr)
bash = run("help", "--completion", "bash").stdout
check("bash reads the completion", subprocess.run(["bash", "-n"], input=bash, text=True).returncode == 0)
def completed(*words):
    line = " ".join(f"'{w}'" for w in ("tracegate",) + words)
    text = bash + f"\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _tracegate; printf '%s ' \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True).stdout.split()


check("completion of verbs", completed("baseline", "") == ["record", "show", "list", "fetch", "push", "prune"])
check("completion of a verb", completed("policy", "ex") == ["explain"])
known = measures()
check("completion of measures", len(known) > 10 and completed("analyze", "--measure", "") == known)
check("completion of a measure", completed("analyze", "--measure", "ke") == ["kernel-types", "kernels"])
zsh = run("help", "--completion", "zsh").stdout
check("zsh: verbs and values", "'1:command:(record show list fetch push prune )'" in zsh and f"({' '.join(known)})" in zsh)
check("no verbs where there are none", "record" not in completed("check", ""))
got = subprocess.run(["bash", "-c", bash + "\nCOMP_WORDS=(tracegate help --completion ''); COMP_CWORD=3; _tracegate; "
                      "echo ${COMPREPLY[@]}"], capture_output=True, text=True).stdout
check("bash completes a choice", got == "bash zsh fish suites profiles\n")
fish = run("help", "--completion", "fish").stdout
check("fish: a choice, verbs", " -l measure -x -a '" + " ".join(known) + "'" in fish and "-a 'record show list fetch push prune '" in fish)
if shutil.which("fish"):  # Debian's; what it completes
    for line, wanted in (("tracegate ana", ["analyze"]), ("tracegate analyze --measure ke", ["kernel-types", "kernels"]),
                         ("tracegate baseline pru", ["prune"]), ("tracegate help --ma", ["--man"]), ("tracegate check --colo", ["--color"])):
        got = subprocess.run(["fish", "-N", "-c", fish + f"\ncomplete -C '{line}'"], capture_output=True, text=True)
        check(f"fish completes {line}: {got.stdout}{got.stderr}", sorted(x.split("\t")[0] for x in got.stdout.splitlines()) == sorted(wanted))
got = subprocess.run(["bash", "-c", bash + "\nCOMP_WORDS=(tracegate help --ma); COMP_CWORD=2; _tracegate; "
                      "echo ${COMPREPLY[@]}"], capture_output=True, text=True).stdout
check("bash completes an option", got == "--man\n")

with open("/dev/full", "w") as full:
    r = subprocess.run([PROGRAM, "help"], stdout=full, stderr=subprocess.PIPE, text=True)
check("full disk: exit 5 and a message", r.returncode == 5 and "No space left" in r.stderr)
r = subprocess.run(["sh", "-c", '"$0" help >&-', PROGRAM], stderr=subprocess.PIPE, text=True)
check("closed stdout: exit 5", r.returncode == 5 and "standard output" in r.stderr)
read_end, write_end = os.pipe()
os.close(read_end)
TRACE = os.path.join(ROOT, "examples/traces/base/run00.json.gz")
SUMMARY = os.path.join(tempfile.mkdtemp(), "a.tgs")
run("summarize", TRACE, "-o", SUMMARY)
for command in (["help"], ["summarize", TRACE], ["merge", SUMMARY], ["analyze", TRACE],
                ["check", TRACE, "--baseline", TRACE, "--json", "-"]):
    r = subprocess.run([PROGRAM, *command], stdout=write_end, stderr=subprocess.PIPE, text=True)
    check(f"a reader that went away is no error: {command[0]}", r.returncode == 0 and not r.stderr)
    with open("/dev/full", "w") as full:
        r = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True)
    check(f"a full disk is one: {command[0]}", r.returncode == 5 and "No space left" in r.stderr)
folder = os.path.dirname(SUMMARY)
r = run("check", TRACE, "--baseline", TRACE, "--junit", "reports/a/junit.xml", cwd=folder)
check("the folders of a report are made", r.returncode == 0 and
      os.listdir(os.path.join(folder, "reports/a")) == ["junit.xml"])
r = run("check", TRACE, "--baseline", "nothere", cwd=folder)
check("no repository and no such file: both are said", r.returncode == 3 and
      "not inside a git repository" in r.stderr and "no file or folder is called so" in r.stderr)
shutil.rmtree(folder)


def progress_on_a_terminal():
    """A summary from a pipe that takes more than a second, standard error on a terminal or not."""
    events = b",".join(b'{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":%d,"dur":1}' % (2 * i)
                       for i in range(40000))
    shown = []
    for on_terminal in (True, False):
        ends = terminal()
        if not ends:
            return
        ours, side = ends
        plain_read, plain_write = os.pipe()
        p = subprocess.Popen([PROGRAM, "summarize", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=side if on_terminal else plain_write)
        os.close(side)
        os.close(plain_write)
        p.stdin.write(b'{"traceEvents":[' + events + b",")
        p.stdin.flush()
        time.sleep(1.3)
        p.stdin.write(events.replace(b'"ts":', b'"ts":1') + b"]}")
        p.stdin.close()
        text = b""
        try:  # small enough for the buffers of both
            while chunk := os.read(ours if on_terminal else plain_read, 4096):
                text += chunk
        except OSError:  # a terminal whose other end is closed
            pass
        check("summarize from a pipe", p.wait() == 0)
        shown.append(text)
        os.close(ours)
        os.close(plain_read)
    check("progress on a terminal", b"standard input" in shown[0] and shown[0].endswith(b"\r\x1b[K"))
    check("no progress elsewhere", shown[1] == b"")


def libgit2_is_loaded_when_asked_for():
    """Only where git is asked; a file that is not a library, or another one, is named."""
    soname = re.search(rb"libgit2\.so\.[.0-9]+", read_bytes(PROGRAM))
    if not soname:
        return  # linked in
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outside:
        other_trace = os.path.join(folder, "u.json")
        with open(other_trace, "w", encoding="ascii") as f:
            f.write('[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":1,"dur":2}]')
        trace, library = os.path.join(folder, "t.json"), os.path.join(folder, soname[0].decode())
        with open(trace, "w", encoding="ascii") as f:
            f.write('[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":1,"dur":1}]')
        subprocess.run(["git", "init", "-q", folder], check=True)
        other = re.search(r"=> (\S*libm\.so\S*)", subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout)
        for what, make, why in (("no library", lambda: open(library, "wb").close(), "too short"),
                                ("another library", lambda: os.symlink(other[1], library), "undefined symbol: git_")):
            make()
            env = {"LD_LIBRARY_PATH": folder}
            r = run("diff", trace, trace, env=env, cwd=folder)
            check(f"{what} for libgit2: files need none", r.returncode == 0 and "libgit2" not in r.stderr)
            for args in (["--version"], ["policy", "lint"], ["policy", "show"]):
                r = run(*args, env=env, cwd=folder)
                check(f"{what} for libgit2: {args} needs none: {r.stderr}", r.returncode == 0 and "libgit2" not in r.stderr)
            r = run("check", trace, "--baseline", other_trace, env=env, cwd=outside)
            check(f"{what} for libgit2: check outside a repository needs none: {r.stderr}", r.returncode == 0 and not r.stderr)
            r = run("check", trace, "--baseline", "main", env=env, cwd=outside)
            check(f"{what} for libgit2: a revision outside a repository: {r.stderr}",
                  r.returncode == 3 and "is not inside a git repository" in r.stderr)
            r = run("diff", "HEAD:t.json", trace, env=env, cwd=folder)
            check(f"{what} for libgit2: exit 3, named ({r.stderr})", r.returncode == 3 and "libgit2 cannot be loaded" in r.stderr
                  and why in r.stderr and soname[0].decode() in r.stderr)
            os.remove(library)
        r = run("diff", "HEAD:t.json", trace, cwd=folder)
        check("libgit2 as it is", r.returncode in (2, 3) and "libgit2" not in r.stderr)
        with open(os.path.join(folder, "libcjson.so.1"), "wb"):
            for args in (["--version"], ["policy", "lint"]):
                r = run(*args, env=env, cwd=outside)
                check(f"no cJSON: {args} needs none: {r.stderr}", r.returncode == 0 and not r.stderr)
            r = run("check", trace, "--baseline", other_trace, "--json", "j", env=env, cwd=outside)
            check(f"no cJSON: exit 5, named, nothing left ({r.stderr})", r.returncode == 5 and "cJSON cannot be loaded" in r.stderr
                  and os.listdir(outside) == [])


libgit2_is_loaded_when_asked_for()
progress_on_a_terminal()
sys.exit(finish("cli"))
