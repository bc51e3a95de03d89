"""What the end-to-end scripts share: where things are, a clean environment, a clone, and the list of faults.

    from support import expect_end, run_parts, tracegate

    def version(tmp):
        expect_end("--version", tracegate("--version", cwd=tmp), 0, "tracegate ")

    run_parts(version)

`expect`, `expect_has`, `expect_end` and `check` print a fault at once, so that a script which dies later still shows
it. What must come out is written in the script, before the run. The generators of tests/data can
be imported after it.
"""
import gzip
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT, PROGRAM = os.environ["TG_SOURCE_DIR"], os.environ["TG_PROGRAM"]
TRACES = os.path.join(ROOT, "examples/traces")
SHARED = os.environ.get("TG_SHARED_DIR", "")  # traces that are not in the repository; may be absent
CORPUS = os.path.join(SHARED, "corpus/traces")
# No settings of the machine, of CI or of the user reach the program or git.
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_", "TRACEGATE_"))}
ENV.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
           GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t")
DATED = dict(ENV, SOURCE_DATE_EPOCH="1767323045")  # the time of records and reports: 2026-01-02T03:04:05Z
sys.path.append(os.path.join(ROOT, "tests/data"))  # plain_model, metric_plan
faults, checks = [], 0


def fault(text):
    faults.append(text)
    print(text, flush=True)


def judged(truth, text):
    """One check; `text` is what to say if it does not hold."""
    global checks
    checks += 1
    if not truth:
        fault(text)


def expect(what, got, want):
    judged(got == want, f"{what}: got {got!r}, want {want!r}")


def expect_has(what, text, *parts):
    for part in parts:
        judged(part in text, f"{what}: {part!r} is not in {text!r}")


def expect_end(what, done, code, *said, err=()):
    """How a program ended: its exit code, and what its standard output and (`err`: a text or several) standard error say."""
    expect(f"{what}: exit", done.returncode, code)
    expect_has(what, done.stdout, *said)
    expect_has(what, done.stderr, *([err] if isinstance(err, str) else err))


def check(what, truth, *more):
    judged(truth, " ".join(["FAILED:", what, *map(str, more)]))


def finish(summary, enough=True):
    """Prints `summary` and the number of faults. 1 if there are any or the test saw too little (`enough`)."""
    print(f"{summary}, {checks} checks, {len(faults)} faults" + ("" if enough else "; too few cases"))
    return 0 if enough and not faults else 1


def run_parts(*parts):
    """The whole of a script: its parts, or those that the command line names, each with a folder of its own; then exits."""
    chosen = [p for p in parts if p.__name__ in sys.argv[1:]] or parts
    for part in chosen:
        with tempfile.TemporaryDirectory() as tmp:
            part(tmp)
    sys.exit(finish(f"{os.path.basename(sys.argv[0])}: {' '.join(p.__name__ for p in chosen)}", checks > 0))


def absent(what):
    """Ends the script as skipped: what it needs cannot be had everywhere, not even under CI."""
    print(f"{os.path.basename(sys.argv[0])}: no {what}: skipped")
    sys.exit(77)


def sanitized():
    """Is the program built with the sanitizers, which take time and memory of their own?"""
    return b"asan" in subprocess.run(["ldd", PROGRAM], capture_output=True, check=False).stdout


def skip(why):
    """Ends the script: skipped on a developer's machine, failed under CI, which has all that is needed."""
    print(f"{os.path.basename(sys.argv[0])}: {why}" + (" (CI must have it)" if os.environ.get("CI") else ": skipped"))
    sys.exit(1 if os.environ.get("CI") else 77)


def terminal():
    """Both ends of a terminal; None, and a line that says so, where /dev/pts is not mounted (a bare chroot)."""
    try:
        return os.openpty()
    except OSError as e:
        check(f"CI has terminals: {e}", not os.environ.get("CI"))
        print(f"{os.path.basename(sys.argv[0])}: no terminal here ({e}; mount devpts on /dev/pts): skipped what needs one")
        return None


def need(module, package):
    """The Python module, or `skip`."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return skip(f"{package} is missing")


def tracegate(*args, env=ENV, **more):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=env, **more)


def measures():
    """What `analyze --measure` knows, of its own message."""
    return tracegate("analyze", "x", "--measure", "?").stderr.split("Use one of ", 1)[1].split(";")[0].split("|")


def judge(folder, base, fresh, policy=None, env=ENV):
    """`check` of two sides, each a list of traces or of files that have one, in a folder that is made anew: its report, and how it ended."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, traces in (("base", base), ("x", fresh)):
        os.makedirs(f"{folder}/{name}")
        for run_, trace in enumerate(traces):
            if isinstance(trace, str):
                os.link(trace, f"{folder}/{name}/run{run_}.json")
            else:
                write_json(f"{folder}/{name}/run{run_}.json", trace)
    args = ["--runs"] if max(len(base), len(fresh)) > 1 else []
    if policy:
        write_text(f"{folder}/p.yml", policy)
        args += ["--policy", "p.yml"]
    done = tracegate("check", "x", "--baseline", "base", *args, "--json", "out.json", cwd=folder, env=env, timeout=120)
    try:
        return read_json(f"{folder}/out.json"), done
    except OSError:
        return {"verdict": f"no report, exit {done.returncode}: {done.stderr}", "violations": []}, done


def findings(report):
    return [r for r in report["violations"] + report["warnings"] if not r["explained_by"]]


def is_wanted(report, want, runs):
    """red, any: whatever it is, no: not red, quiet: a pass without a finding, aloud: a failure or a warning. A 3 after it:
    with fewer than three runs any is right, instead of `quiet` any but red."""
    if want.endswith("3"):
        want = want[:-1] if runs >= 3 else "no" if want == "quiet3" else "any"
    verdict = report["verdict"]
    return {"red": verdict == "fail", "no": verdict in ("pass", "warn"), "any": verdict in ("pass", "warn", "fail"),
            "quiet": verdict == "pass" and not findings(report), "aloud": verdict in ("warn", "fail")}[want]


def run(*args, **more):
    """The exit code, what was printed, and what was said on standard error."""
    done = tracegate(*args, **more)
    return done.returncode, done.stdout, done.stderr


def git(folder, *args, env=ENV):
    return subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout.strip()


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def write_bytes(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read_json(path):
    """A path that ends in .gz is unpacked."""
    data = read_bytes(path)
    return json.loads(gzip.decompress(data) if str(path).endswith(".gz") else data)


def write_json(path, document):
    """A path that ends in .gz is packed."""
    text = json.dumps(document).encode()
    write_bytes(path, gzip.compress(text, 1) if str(path).endswith(".gz") else text)


class Clone:
    """A working tree of git, and the program in it. Paths are relative to `dir`."""

    env = ENV

    def __init__(self, folder):
        self.dir = folder

    def git(self, *args, env=None):
        return git(self.dir, *args, env=dict(self.env, **(env or {})))

    def run(self, *args, env=None):
        return subprocess.run([PROGRAM, *args], cwd=self.dir, env=dict(self.env, **(env or {})), capture_output=True,
                              text=True, errors="replace", timeout=900)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        return read_text(self.path(name))

    def commit(self, message="change"):
        """All that is there, or nothing new."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        write_text(self.path(name), text)


class Repository(Clone):
    """A new one, without a commit."""

    def __init__(self, folder):
        super().__init__(folder)
        os.makedirs(folder, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def history(self, *commits, branch=None):
        """A commit for each of `commits`, {name: text}; scripts can be run. All but the first are on `branch`, if there is one."""
        for k, files in enumerate(commits):
            if branch and k == 1:
                self.git("checkout", "-q", "-b", branch)
            for name, text in files.items():
                self.write(name, text)
                os.chmod(self.path(name), 0o755 if text.startswith("#!") else 0o644)
            self.commit(f"commit {k}")
        return self

    def copy(self, trace, name):
        """One of the example's traces: "base/run00"."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        shutil.copyfile(f"{TRACES}/{trace}.json.gz", self.path(name))

    def copies(self, variant, folder, runs=("00", "01", "02")):
        for run in runs:
            self.copy(f"{variant}/run{run}", f"{folder}/run{run}.json.gz")
