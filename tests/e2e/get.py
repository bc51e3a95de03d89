#!/usr/bin/env python3
"""scripts/action-get: which program the action gets, and what it never runs. The release comes from a
server here that misbehaves as told; the program is a stub that leaves a mark when it runs; cmake is a
stub that leaves such a program. What must come out stands with each case.
"""
import hashlib
import http.server
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading

from runner import Runner, parse_env_file
from support import ROOT, expect, finish, read_text, skip, write_bytes, write_text

TOOLS = ("bash sh env awk sed grep find sort xargs sha256sum cut uname mktemp mkdir mv cp rm rmdir cat tar gzip realpath dirname "
         "id ldd printf touch chmod sleep od tr tail nproc").split()
STUB = "#!/bin/sh\necho x >>'{mark}'\necho 'tracegate 9.9.9 {what}'\n"
CMAKE = """#!/bin/sh
case "$1" in --build) exit 0;; esac
while [ "$1" != -B ]; do shift; done
mkdir -p "$2/cmd"; cp '{program}' "$2/cmd/tracegate"; echo x >>'{count}'
"""


class Server:
    """GET answers are taken from `plan`, the last one again and again: ok, cut, a status, or another body."""

    def __init__(self, body, plan):
        server = self
        self.requests, self.plan = [], list(plan)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(self.path)
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", "/asset.tar.gz")
                    self.end_headers()
                    return
                what = server.plan.pop(0) if len(server.plan) > 1 else server.plan[0]
                data = what if isinstance(what, bytes) else body
                self.send_response(what if isinstance(what, int) else 200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[:len(data) // 2] if what == "cut" else data)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def program(path, text):
    write_text(path, text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def archive(text):
    """As scripts/release packs it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        info = tarfile.TarInfo("tracegate-9.9.9-linux-x/tracegate")
        info.mode, info.size = 0o755, len(text)
        t.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Box:
    """A copy of the action with stubs for what it calls, and a runner's folders."""

    def __init__(self, tools=("curl", "dpkg-query"), machine="x86_64", cmake=True):
        self.dir = tempfile.mkdtemp()
        self.top = os.path.join(self.dir, "action")
        shutil.copytree(os.path.join(ROOT, "scripts"), os.path.join(self.top, "scripts"))
        for name in ("CMakeLists.txt", "cmake/x", "core/x", "policy/x", "reporters/x", "cmd/x"):
            os.makedirs(os.path.dirname(os.path.join(self.top, name)), exist_ok=True)
            write_text(os.path.join(self.top, name), name)
        self.bin, self.mark, self.builds = (os.path.join(self.dir, n) for n in ("bin", "ran", "builds"))
        os.mkdir(self.bin)
        for name in (*TOOLS, *tools):
            real = shutil.which(name)
            if name not in ("uname", "dpkg-query"):
                os.symlink(real, os.path.join(self.bin, name))
        program(os.path.join(self.bin, "uname"), '#!/bin/sh\ncase "$1" in -m) echo %s;; -sm) echo Linux %s;; *) echo Linux;; esac\n'
                % (machine, machine))
        if "dpkg-query" in tools:  # everything is installed
            program(os.path.join(self.bin, "dpkg-query"), "#!/bin/sh\necho install ok installed\n")
        built = os.path.join(self.dir, "built")
        program(built, STUB.format(mark=self.mark, what="built"))
        if cmake:
            program(os.path.join(self.bin, "cmake"), CMAKE.format(program=built, count=self.builds))
        self.body = archive(STUB.format(mark=self.mark, what="released"))
        self.sum = hashlib.sha256(self.body).hexdigest()
        self.temp = 0
        self.assets()

    def assets(self, *lines):
        write_text(os.path.join(self.top, "scripts/release-assets.txt"), "# comment\n" + "".join(" ".join(line) + "\n" for line in lines))

    def get(self, *args, **environ):
        """Exit code, what was said, outputs. Each call is a new job on the same machine."""
        self.temp += 1
        temp = os.path.join(self.dir, f"temp{self.temp}")
        os.mkdir(temp)
        out = os.path.join(temp, "output")
        open(out, "w").close()
        env = {"PATH": self.bin, "RUNNER_TEMP": temp, "RUNNER_TOOL_CACHE": os.path.join(self.dir, "tools"), "GITHUB_OUTPUT": out,
               "TRACEGATE_RETRY_DELAY": "0.01", "HOME": self.dir, **environ}
        run = subprocess.run(["bash", os.path.join(self.top, "scripts/action-get"), *args], env=env, capture_output=True, text=True,
                             check=False)
        return run.returncode, run.stdout + run.stderr, parse_env_file(out)

    def count(self, path):
        return os.path.getsize(path) // 2 if os.path.exists(path) else 0


# name, what the server does, requests expected, (exit code, said, program, builds)
RELEASED, BUILT = "tracegate 9.9.9 released", "tracegate 9.9.9 built"
DOWNLOADS = [
    ("good", ["ok"], 1, (0, RELEASED, 0)),
    ("503 twice, then good", [503, 503, "ok"], 3, (0, RELEASED, 0)),
    ("429, then good", [429, "ok"], 2, (0, RELEASED, 0)),
    ("cut short once", ["cut", "ok"], 2, (0, RELEASED, 0)),
    ("cut short always", ["cut"], 4, (0, BUILT, 1)),
    ("503 always", [503], 4, (0, BUILT, 1)),
    ("404 is final", [404], 1, (0, BUILT, 1)),
    ("403 is final", [403], 1, (0, BUILT, 1)),
    ("another program", [archive("#!/bin/sh\necho pwned\n")], 1, (1, "It was not run", 0)),
    ("an error page with status 200", [b"<html>not found</html>"], 1, (1, "It was not run", 0)),
    ("nothing, with status 200", [b""], 1, (1, "It was not run", 0)),
]


def downloads():
    for name, plan, requests, (code, said, builds) in DOWNLOADS:
        box = Box()
        server = Server(box.body, plan)
        box.assets(("aarch64", "0" * 64, server.url + "/other"), ("x86_64", box.sum, server.url + "/moved"))
        got, log, out = box.get()
        expect(f"{name}: exit code", got, code)
        expect(f"{name}: said", said in log, True)
        expect(f"{name}: requests", server.requests.count("/asset.tar.gz"), requests)
        expect(f"{name}: builds", box.count(box.builds), builds)
        expect(f"{name}: built", out.get("built"), None if code else str(builds > 0).lower())
        expect(f"{name}: warned", "::warning title=tracegate::" in log, builds > 0)
        if code:
            expect(f"{name}: ran nothing", box.count(box.mark), 0)
            expect(f"{name}: nothing foreign kept", os.listdir(os.path.join(box.dir, "tools/tracegate")), [])
            expect(f"{name}: both sums", box.sum in log and "has the SHA-256" in log, True)
        server.close()
        shutil.rmtree(box.dir)


def cached():
    box = Box()
    server = Server(box.body, ["ok"])
    box.assets(("x86_64", box.sum, server.url + "/asset.tar.gz"))
    box.get()
    code, log, _ = box.get()
    expect("second job: from the cache", (code, RELEASED in log, len(server.requests)), (0, True, 1))
    kept = os.path.join(box.dir, "tools/tracegate", box.sum + ".tar.gz")
    write_bytes(kept, archive("#!/bin/sh\necho pwned\n"))
    code, log, _ = box.get()
    expect("tampered cache: downloaded again", (code, RELEASED in log, "pwned" in log, len(server.requests)), (0, True, False, 2))
    server.close()
    code, log, _ = box.get()
    expect("offline with a cache", (code, RELEASED in log), (0, True))
    os.remove(kept)
    code, log, _ = box.get()
    expect("offline without one", (code, BUILT in log, "::warning" in log), (0, True, True))
    code, log, _ = box.get()
    expect("offline, another job: nothing that lies in the tool cache is run", (code, "earlier build" in log, box.count(box.builds)), (0, False, 2))
    shutil.rmtree(box.dir)


def choice():
    box = Box()
    mine = os.path.join(box.dir, "mine")
    program(mine, "#!/bin/sh\necho mine\n")
    server = Server(box.body, ["ok"])
    box.assets(("x86_64", box.sum, server.url + "/asset.tar.gz"))
    code, log, out = box.get(INPUT_BINARY=mine)
    expect("given", (code, out["binary"], "mine" in log, len(server.requests)), (0, os.path.realpath(mine), True, 0))
    expect("given, not there", box.get(INPUT_BINARY=mine + "x")[0], 2)
    expect("plan: a release needs no cache of builds", box.get("plan")[2], {"cache-key": "", "cache-path": ""})
    expect("plan: a given program neither", box.get("plan", INPUT_BINARY=mine)[2], {"cache-key": "", "cache-path": ""})
    box.assets(("x86_64", "0" * 63, server.url))
    expect("a list with a sum that is none", box.get()[0], 1)
    server.close()
    box.assets()
    code, log, out = box.get()
    expect("no release", (code, BUILT in log, out["built"], "::warning" in log), (0, True, "true", False))
    plan = box.get("plan")[2]
    tail = lambda path: path.split(os.sep)[-2:]  # noqa: E731  each job has a temporary folder of its own
    expect("plan: what was built lies there", tail(os.path.dirname(out["binary"])), tail(plan["cache-path"]))
    expect("plan: the key is short", 20 < len(plan["cache-key"]) < 100, True)
    with open(os.path.join(box.top, "core/x"), "a", encoding="utf-8") as f:
        f.write("changed")
    expect("plan: another source, another key", box.get("plan")[2]["cache-key"] != plan["cache-key"], True)
    expect("another source is built anew", (box.get()[2]["built"], box.count(box.builds)), ("true", 2))
    program(os.path.join(out["binary"]), "#!/bin/sh\nexit 127\n")  # its libraries are gone
    write_text(os.path.join(box.top, "core/x"), "core/x")
    expect("a build that no longer starts is replaced", (box.get()[2]["built"], box.count(box.builds)), ("true", 3))
    expect("without a tool cache", box.get(RUNNER_TOOL_CACHE="")[0], 0)
    shutil.rmtree(box.dir)


def machines():
    for machine, said, built in (("aarch64", RELEASED, "false"), ("arm64", RELEASED, "false"), ("riscv64", BUILT, "true")):
        box = Box(machine=machine)
        server = Server(box.body, ["ok"])
        box.assets(("x86_64", "0" * 64, server.url + "/x"), ("aarch64", box.sum, server.url + "/asset.tar.gz"))
        code, log, out = box.get()
        expect(f"{machine}", (code, said in log, out["built"]), (0, True, built))
        server.close()
        shutil.rmtree(box.dir)
    box = Box(tools=("wget", "dpkg-query") if shutil.which("wget") else ("curl", "dpkg-query"))
    server = Server(box.body, [503, "ok"])
    box.assets(("x86_64", box.sum, server.url + "/asset.tar.gz"))
    expect("wget alone", (box.get()[0], len(server.requests)), (0, 2))
    server.close()
    shutil.rmtree(box.dir)
    # Fedora, say: no apt, no dpkg, no compiler, and the release cannot be had.
    box = Box(tools=("curl",), cmake=False)
    box.assets(("x86_64", box.sum, "http://127.0.0.1:9/asset.tar.gz"))
    code, log, out = box.get()
    expect("nothing to build with", (code != 0, "missing packages:" in log and "libgit2-dev" in log, "binary" in out), (True, True, False))
    shutil.rmtree(box.dir)


def action():
    """The first steps of action.yml on two hosted runners in turn: what one built the other finds."""
    try:
        import yaml
    except ImportError:
        print("get: python3-yaml is missing" + (" (CI must have it)" if os.environ.get("CI") else ": action.yml not run"))
        expect("python3-yaml", bool(os.environ.get("CI")), False)
        return
    doc = yaml.safe_load(read_text(os.path.join(ROOT, "action.yml")))
    last = [s["name"] for s in doc["runs"]["steps"]].index("Save the build")
    doc["runs"]["steps"] = doc["runs"]["steps"][:last + 1]
    doc["outputs"] = {}
    box = Box()
    kept = os.path.join(box.dir, "github")
    want = (["Plan", "Restore the build", "Get tracegate", "Save the build"], ["Plan", "Restore the build", "Get tracegate"])
    for n, steps in enumerate(want):
        tools = os.path.join(box.dir, f"machine{n}")
        r = Runner(doc, {}, box.dir, environ={"PATH": box.bin, "RUNNER_TOOL_CACHE": tools, "HOME": box.dir})
        r.root, r.cache = box.top, kept
        os.makedirs(kept, exist_ok=True)
        # the path is part of what actions/cache compares; hosted runners have one tool cache
        if n:
            os.rename(os.path.join(box.dir, "machine0"), os.path.join(box.dir, "gone"))
            r.environ["RUNNER_TOOL_CACHE"] = os.path.join(box.dir, "machine0")
        r.run()
        expect(f"action.yml, machine {n}", (r.code, r.ran, BUILT in r.log), (0, steps, True))
        expect(f"action.yml, machine {n}: builds", box.count(box.builds), 1)
    r = Runner(doc, {"binary": os.path.join(box.dir, "built")}, box.dir, environ={"PATH": box.bin, "RUNNER_TOOL_CACHE": box.dir})
    r.root = box.top
    r.run()
    expect("action.yml, a given program", (r.code, r.ran), (0, ["Plan", "Get tracegate"]))
    shutil.rmtree(box.dir)


def linked():
    """What a later job has to find beside the program is linked, so that ldd names it; a build for a machine of one's own loads it late."""
    for lazy, want in (("OFF", True), ("ON", False)):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(["cmake", "-S", ROOT, "-B", made, "-G", "Ninja", "-DTG_TESTS=OFF", f"-DTG_LAZY={lazy}"], check=True, capture_output=True)
            link = subprocess.run(["ninja", "-C", made, "-t", "commands", "-s", "cmd/tracegate"], check=True, capture_output=True, text=True).stdout
            expect(f"libgit2 is linked with TG_LAZY={lazy}", "libgit2.so" in link, want)
    expect("the action's build links it", "-DTG_LAZY=OFF" in read_text(os.path.join(ROOT, "scripts/action-get")), True)


if not shutil.which("curl"):
    skip("curl is missing")
for part in (downloads, cached, choice, machines, action, linked):
    part()
sys.exit(finish("get"))
