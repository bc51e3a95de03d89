"""Runs whole workflows as GitHub would: triggers, needs, if, matrix, outputs, permissions, each `run` in
its shell. Actions of others are replaced; tracegate's own is action.yml (runner.py). What a job may
write follows from its `permissions` and from whose pull request it is: the git server refuses pushes
without contents: write, the API refuses comments without pull-requests: write.
"""
import fnmatch
import glob
import io
import itertools
import json
import os
import re
import stat
import subprocess
import sys
import zipfile

from runner import Expression, Runner, parse_env_file
from support import PROGRAM, ROOT, TRACES, faults, need, read_text

yaml = need("yaml", "python3-yaml")

TRIGGERS = {"pull_request": ("opened", "synchronize", "reopened")}

# `gh api [-X GET] PATH [-f K=V]…`: what the workflows use of it
GH = """#!%s
import os, sys, urllib.parse, urllib.request
args, query, path = sys.argv[2:], [], None
assert sys.argv[1] == "api"
while args:
    a = args.pop(0)
    if a == "-X": assert args.pop(0) == "GET"
    elif a == "-f": query.append(tuple(args.pop(0).split("=", 1)))
    else: path = a
url = os.environ["GITHUB_API_URL"] + "/" + path + ("?" + urllib.parse.urlencode(query) if query else "")
request = urllib.request.Request(url, headers={"Authorization": "Bearer " + os.environ["GH_TOKEN"],
    "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "tracegate"})
sys.stdout.buffer.write(urllib.request.urlopen(request).read())
"""
# what actions/setup-python brings: here without a network
PYTHON = """#!/bin/sh
case "$1 $2 $3" in "-m pip install") [ "$4" = -r ] && [ -f "$5" ] || { echo "no $5" >&2; exit 1; }; exit 0 ;; esac
exec %s "$@"
"""


# a bench that hands out recorded traces: which ones, and from which number on, `variant` beside it says
BENCH = '''
import os, shutil, sys

here = os.path.dirname(os.path.abspath(__file__))
variant, first = open(os.path.join(here, "variant")).read().split()
def give(k, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    shutil.copy(f"{os.environ['TRACES']}/{variant}/run{int(first) + k:02}.json.gz", path)
if "--trace" in sys.argv:
    path = sys.argv[-1]
    give(int(path[-10:-8]), path)  # …/run03.json.gz
else:
    out = {"--all": "out/nightly"}.get(sys.argv[-1], "out/" + os.environ["SUITE"] if "SUITE" in os.environ else "out")
    for k in range(5):
        give(k, f"{out}/run{k}.json.gz")
'''


def load(path):
    doc = yaml.safe_load(read_text(path))
    doc["on"] = doc.pop(True) if True in doc else doc["on"]
    return doc


def triggered(doc, event_name, event, ref):
    """Does this event start the workflow?"""
    on = doc["on"]
    if event_name not in on:
        return False
    spec = on[event_name] if isinstance(on, dict) else None
    spec = spec if isinstance(spec, dict) else {}
    types = spec.get("types", TRIGGERS.get(event_name))
    if types and event.get("action", types[0]) not in types:
        return False
    if "branches" in spec and ref.removeprefix("refs/heads/") not in spec["branches"]:
        return False
    return "workflows" not in spec or event["workflow"]["name"] in spec["workflows"]


class Forge:
    """A repository on GitHub: `box` holds its git, `mock` is its API, `artifacts` what runs uploaded."""

    def __init__(self, box, mock, place="OWNER/tracegate@COMMIT", **environ):
        self.box, self.mock, self.folder, self.place, self.python = box, mock, box.folder, place, sys.executable
        self.action = yaml.safe_load(read_text(os.path.join(ROOT, "action.yml")))
        git = {k: v for k, v in box.env.items() if k.startswith("GIT_")}
        self.environ, self.artifacts, self.runs = dict(git, TRACES=TRACES, HOME=self.folder, **environ), {}, 0
        self.bin = os.path.join(self.folder, "bin")
        os.makedirs(self.bin, exist_ok=True)
        self.tool("gh", GH % sys.executable)
        hook = os.path.join(box.bare, "hooks/pre-receive")
        with open(hook, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n[ ! -e readonly ] || { echo 'the token may not write' >&2; exit 1; }\n")
        os.chmod(hook, 0o755)

    def tool(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def push(self, doc, sha, branch="main"):
        return self.run(doc, "push", {"before": "0" * 40, "ref": "refs/heads/" + branch}, "refs/heads/" + branch, sha)

    def night(self, doc, sha):
        return self.run(doc, "schedule", {"schedule": "17 3 * * *"}, "refs/heads/main", sha)

    def pull(self, doc, number, sha, fork=False, action="synchronize", label=None):
        event = {"action": action, "number": number, "pull_request": {
            "number": number, "base": {"ref": "main"}, "head": {"repo": {"full_name": "mallory/r" if fork else "o/r"}},
            "labels": [{"name": "run-gpu"}]}}
        if label:
            event["label"] = {"name": label}
        return self.run(doc, "pull_request", event, f"refs/pull/{number}/merge", sha, fork)

    def run(self, doc, event_name, event, ref, sha, fork=False, inputs=None):
        """The jobs of one run by name, in the order they ran; {} if the event does not start it."""
        if not triggered(doc, event_name, event, ref):
            return {}
        self.runs += 1
        contexts = {"github": {"event_name": event_name, "event": event, "token": "secret-token", "repository": "o/r",
                               "ref": ref, "sha": sha, "run_id": str(self.runs)},
                    "inputs": inputs or {}, "needs": {}}
        Job.expand_in(doc.get("concurrency", {}).get("group", ""), contexts)
        done = {}
        for key, spec in doc["jobs"].items():
            needs = [spec["needs"]] if isinstance(spec.get("needs"), str) else spec.get("needs", [])
            assert all(n in contexts["needs"] for n in needs), f"{key} comes before what it needs"
            matrix = spec.get("strategy", {}).get("matrix", {})
            legs = matrix.get("include") or [dict(zip(matrix, v)) for v in itertools.product(*matrix.values())]
            for leg in legs:
                job = Job(self, doc, spec, dict(contexts, needs={n: contexts["needs"][n] for n in needs}, matrix=leg), fork)
                job.run()
                done[job.name(key)] = job
            results = [j.result for j in list(done.values())[-len(legs):]]
            contexts["needs"][key] = {"outputs": job.outputs, "result": next((r for r in results if r != "success"), "success")}
        return done

    def set_token(self, permissions, fork):
        flag = os.path.join(self.box.bare, "readonly")
        if permissions.get("contents") == "write" and not fork:
            if os.path.exists(flag):
                os.remove(flag)
        else:
            open(flag, "w").close()
        self.mock.read_only = fork or "write" not in (permissions.get("pull-requests"), permissions.get("issues"))


class Job:
    def __init__(self, forge, doc, spec, contexts, fork):
        self.forge, self.spec, self.fork = forge, spec, fork
        self.contexts = dict(contexts, steps={}, env={}, runner={}, failed=False)
        self.permissions = spec.get("permissions", doc.get("permissions", {}))
        self.result, self.outputs, self.log, self.summary, self.ran, self.action = "skipped", {}, "", "", [], None
        self.workspace = None

    @staticmethod
    def expand_in(text, contexts):
        def put(m):
            v = Expression(m[1], contexts).value()
            return {True: "true", False: "false", None: ""}.get(v, v) if isinstance(v, (bool, type(None))) else str(v)
        return re.sub(r"\$\{\{(.*?)\}\}", put, str(text))

    def expand(self, text):
        return self.expand_in(text, self.contexts)

    def name(self, key):
        legs = [str(v) for v in self.contexts["matrix"].values()]
        name = self.expand(self.spec.get("name", key))
        return f"{name} ({', '.join(legs)})" if legs and "name" not in self.spec else name

    def holds(self, condition, before):
        """`if`: without a status function it means success() as well. `before`: did all before succeed?"""
        condition = condition if condition is not None else "success()"
        inner = re.fullmatch(r"\s*\$\{\{(.*)\}\}\s*", condition, re.S)
        inner = inner[1] if inner else condition
        if not re.search(r"\b(success|always|cancelled|failure)\(\)", inner) and not before:
            return False
        return bool(Expression(inner, dict(self.contexts, failed=not before)).value())

    def run(self):
        needs = self.contexts["needs"].values()
        if not self.holds(self.spec.get("if"), all(n["result"] == "success" for n in needs)):
            return
        self.forge.set_token(self.permissions, self.fork)
        temp = os.path.join(self.forge.folder, f"temp{self.forge.runs}-{id(self)}")
        os.makedirs(temp)
        self.contexts["runner"] = {"temp": temp}
        self.contexts["env"] = {k: self.expand(v) for k, v in self.spec.get("env", {}).items()}
        self.workspace = os.path.join(temp, "workspace")
        os.mkdir(self.workspace)
        for step in self.spec["steps"]:
            if self.holds(step.get("if"), not self.contexts["failed"]):
                outputs = self.uses(step) if "uses" in step else self.script(step)
                self.ran.append(step.get("id") or step.get("uses", step.get("run", "")).split("@")[0].split("\n")[0])
                if step.get("id"):
                    self.contexts["steps"][step["id"]] = {"outputs": outputs}
        self.forge.set_token({"contents": "write"}, False)  # those who push by hand may
        self.result = "failure" if self.contexts["failed"] else "success"
        self.outputs = {k: self.expand(v) for k, v in self.spec.get("outputs", {}).items()}

    def environ(self):
        g = self.contexts["github"]
        pull = g["event"].get("pull_request", {})
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_", "GIT_", "TRACEGATE_"))}
        env.update(self.forge.environ, PATH=f"{self.forge.bin}:{os.environ['PATH']}", GITHUB_ACTIONS="true",
                   GITHUB_REPOSITORY="o/r", GITHUB_API_URL=self.forge.mock.url, GITHUB_EVENT_NAME=g["event_name"],
                   GITHUB_REF=g["ref"], GITHUB_RUN_ID=g["run_id"], GITHUB_SHA=g["sha"], GITHUB_WORKSPACE=self.workspace,
                   RUNNER_TEMP=self.contexts["runner"]["temp"], GITHUB_BASE_REF=pull.get("base", {}).get("ref", ""),
                   **self.contexts["env"])
        return env

    def script(self, step):
        assert "${{" not in step["run"], "expressions belong into env, not into run"
        temp = self.contexts["runner"]["temp"]
        files = {n: os.path.join(temp, n) for n in ("script", "output", "summary", "event.json")}
        for n, path in files.items():
            with open(path, "w", encoding="utf-8") as f:
                f.write({"script": step["run"], "event.json": json.dumps(self.contexts["github"]["event"])}.get(n, ""))
        env = self.environ()
        env.update(GITHUB_OUTPUT=files["output"], GITHUB_STEP_SUMMARY=files["summary"], GITHUB_EVENT_PATH=files["event.json"])
        env.update({k: self.expand(v) for k, v in step.get("env", {}).items()})
        shell = {None: "bash -e {0}", "bash": "bash --noprofile --norc -eo pipefail {0}"}.get(step.get("shell"), step.get("shell"))
        run = subprocess.run([w.replace("{0}", files["script"]) for w in shell.split()], env=env, capture_output=True,
                             cwd=os.path.join(self.workspace, step.get("working-directory", "")), text=True, errors="replace")
        self.log += run.stdout + run.stderr
        self.contexts["failed"] |= run.returncode != 0
        with open(files["summary"], encoding="utf-8") as f:
            self.summary += f.read()
        return parse_env_file(files["output"])

    def uses(self, step):
        given = {k: self.expand({True: "true", False: "false"}.get(v, v) if isinstance(v, bool) else v)
                 for k, v in (step.get("with") or {}).items()}
        if step["uses"] == self.forge.place:
            return self.tracegate(given)
        known = {"actions/checkout": self.checkout, "actions/setup-python": self.setup_python,
                 "actions/upload-artifact": self.upload, "actions/download-artifact": self.download}
        return known[step["uses"].split("@")[0]](given) or {}

    def checkout(self, given):
        g = self.contexts["github"]
        path = self.forge.box.checkout(g["ref"], int(given.get("fetch-depth", 1)), g["sha"])
        os.rmdir(self.workspace)
        os.rename(path, self.workspace)

    def setup_python(self, given):
        assert re.fullmatch(r"3\.\d+", given["python-version"])
        self.forge.tool("python3", PYTHON % self.forge.python)

    def upload(self, given):
        root = os.path.join(self.workspace, given["path"])
        files = [f for f in glob.glob(root + "/**", recursive=True) if os.path.isfile(f)]
        if os.path.isfile(root):  # one file is stored under its own name
            files, root = [root], os.path.dirname(root)
        if not files:
            assert given.get("if-no-files-found", "warn") != "error"
            return
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as z:
            for f in sorted(files):
                z.write(f, os.path.relpath(f, root))
        self.forge.artifacts.setdefault(self.contexts["github"]["run_id"], {})[given["name"]] = data.getvalue()

    def download(self, given):
        assert "run-id" not in given, "of another run: nothing of it is believed, see forks.yml"
        stored = self.forge.artifacts.get(self.contexts["github"]["run_id"], {})
        folder = os.path.join(self.workspace, given["path"])
        if "name" in given:
            assert "pattern" not in given, "the action takes one of both"
            wanted = {folder: [stored[given["name"]]]}
        else:  # those that match, none as well: a folder each, or all in one
            names = [n for n in sorted(stored) if fnmatch.fnmatchcase(n, given["pattern"])]
            wanted = {}
            for n in names:
                place = folder if given.get("merge-multiple") == "true" else os.path.join(folder, n)
                wanted.setdefault(place, []).append(stored[n])
        for place, archives in wanted.items():
            for archive in archives:
                with zipfile.ZipFile(io.BytesIO(archive)) as z:
                    z.extractall(place)

    def tracegate(self, given):
        g = self.contexts["github"]
        r = Runner(self.forge.action, dict(given, binary=PROGRAM), self.workspace, g["event_name"], g["event"],
                   self.environ(), self.contexts["runner"]["temp"]).run()
        self.log, self.summary, self.action = self.log + r.log, self.summary + r.summary, r
        self.contexts["failed"] |= r.failed
        return r.result


def zip_of(entries):
    """An artifact as a stranger may make it: (name, bytes or a link's target)."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in entries:
            info = zipfile.ZipInfo(name)
            if isinstance(content, str):
                info.external_attr, content = (stat.S_IFLNK | 0o777) << 16, content.encode()
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, content)
    return data.getvalue()


def told(what, jobs):
    """The logs, where something of `what` went wrong."""
    if any(x.startswith(what) for x in faults):
        for name, job in jobs.items():
            print(f"--- {what}: job {name}: {job.result}, steps {job.ran}\n{job.log}")
