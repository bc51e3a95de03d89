"""Runs the steps of action.yml as a runner would: expressions evaluated, each `run` in its own bash,
env files parsed strictly, the limit of the step summary kept.
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from support import ROOT, read_text, write_json

SUMMARY_LIMIT = 1 << 20


def parse_env_file(path):
    """name=value lines and name<<DELIMITER blocks; anything else fails the step, as on a runner."""
    out, i = {}, 0
    with open(path, encoding="utf-8", newline="") as f:
        lines = f.read().split("\n")
    while i < len(lines):
        line = lines[i]
        i += 1
        if not line:
            continue
        block = re.match(r"^([^=<]+)<<(.+)$", line)
        if block:
            end = lines.index(block[2], i)
            out[block[1]] = "\n".join(lines[i:end])
            i = end + 1
        elif "=" in line:
            name, value = line.split("=", 1)
            out[name] = value
        else:
            raise ValueError(f"bad line in {path}: {line!r}")
    return out


class Expression:
    """GitHub's expressions as far as action.yml and the workflows need them: paths, texts, ! && || == !=
    ( ) and the status functions. Comparing texts ignores case there; here it must not matter."""

    TOKEN = re.compile(r"\s*(&&|\|\||==|!=|!|\(|\)|'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_.-]*)")

    def __init__(self, text, contexts):
        self.tokens, self.contexts, at = [], contexts, 0
        text = text.strip()
        while at < len(text):
            m = self.TOKEN.match(text, at)
            if not m:
                raise ValueError(f"expression not understood: {text}")
            self.tokens.append(m[1])
            at = m.end()

    def value(self):
        v = self.either()
        if self.tokens:
            raise ValueError(f"left over: {self.tokens}")
        return v

    def take(self, *wanted):
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def either(self):
        v = self.both()
        while self.take("||"):
            w = self.both()
            v = v or w
        return v

    def both(self):
        v = self.equal()
        while self.take("&&"):
            w = self.equal()
            v = v and w
        return v

    def equal(self):
        v = self.one()
        op = self.take("==", "!=")
        if op:
            v = (v == self.one()) == (op == "==")
        return v

    def one(self):
        if self.take("!"):
            return not self.one()
        if self.take("("):
            v = self.either()
            assert self.take(")")
            return v
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if token in ("cancelled", "success", "always", "failure") and self.take("("):
            assert self.take(")")
            failed = bool(self.contexts.get("failed"))
            return {"cancelled": False, "success": not failed, "always": True, "failure": failed}[token]
        return self.path(token)

    def path(self, token):
        v = self.contexts
        for part in token.split("."):
            if v is self.contexts and part not in v:
                raise ValueError(f"unknown context in {token}")
            v = v.get(part, "") if isinstance(v, dict) else ""
        return v


class Runner:
    """One job that uses the action once. `github` is the context; `environ` what the runner exports."""

    def __init__(self, action, inputs, workspace, event_name="push", event=None, environ=None, temp=None):
        self.action, self.workspace, self.temp = action, workspace, temp
        known = action["inputs"]
        assert not set(inputs) - set(known), set(inputs) - set(known)
        self.github = {"event_name": event_name, "event": event or {}, "token": "secret-token"}
        self.environ = dict(environ or {}, GITHUB_EVENT_NAME=event_name)
        self.outputs, self.failed, self.code, self.cache = {}, False, 0, None
        self.root = ROOT
        self.log, self.summary, self.ran, self.steps = "", "", [], 0
        self.inputs = {}
        self.inputs = {k: str(inputs[k]) if k in inputs else self.expand(v.get("default", ""))
                       for k, v in known.items()}

    def evaluate(self, text):
        steps = {i: {"outputs": o} for i, o in self.outputs.items()}
        return Expression(text, {"inputs": self.inputs, "steps": steps, "github": self.github}).value()

    def expand(self, text):
        def put(m):
            v = self.evaluate(m[1])
            return {True: "true", False: "false"}.get(v, v) if isinstance(v, bool) else str(v)
        return re.sub(r"\$\{\{(.*?)\}\}", put, str(text))

    def wanted(self, step):
        condition = step.get("if")
        if condition is None:
            return not self.failed
        inner = re.fullmatch(r"\$\{\{(.*)\}\}", condition)[1]
        if "uses" in step and "cancelled()" not in inner:
            return not self.failed and bool(self.evaluate(inner))
        assert "cancelled()" in inner, "a status function, else the step is not run after a failure"
        return bool(self.evaluate(inner))

    def cache_step(self, step):
        """actions/cache/restore and save on the folder `self.cache`; without one there is no cache."""
        what = re.fullmatch(r"actions/cache/(restore|save)@[0-9a-f]{40}", step["uses"])[1]
        path, key = (self.expand(step["with"][k]) for k in ("path", "key"))
        assert path and key
        self.ran.append(step["name"])
        kept = os.path.join(self.cache or "", key)
        if self.cache and what == "save":
            shutil.copytree(path, kept)
        elif self.cache and os.path.isdir(kept):
            shutil.copytree(kept, path, dirs_exist_ok=True)

    def step(self, step, temp):
        if "uses" in step:
            self.cache_step(step)
            return
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "expressions belong into env, not into run"
        commands = os.path.join(temp, "_runner_file_commands")
        os.makedirs(commands, exist_ok=True)
        self.steps += 1
        output, summary, exported, paths, state = (os.path.join(commands, f"{name}_{self.steps}")
                                                   for name in ("set_output", "step_summary", "set_env", "add_path", "save_state"))
        event = os.path.join(temp, "event.json")
        for path in (output, summary, exported, paths, state):
            open(path, "w").close()
        write_json(event, self.github["event"])
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
        env.update(GITHUB_ACTION_PATH=self.root, GITHUB_OUTPUT=output, GITHUB_STEP_SUMMARY=summary,
                   GITHUB_ENV=exported, GITHUB_PATH=paths, GITHUB_STATE=state,
                   RUNNER_TEMP=temp, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=self.workspace,
                   GITHUB_EVENT_PATH=event, GITHUB_REPOSITORY="o/r", TRACEGATE_RETRY_DELAY="0.01",
                   GITHUB_API_URL="http://127.0.0.1:9")
        env.update(self.environ)
        env.update({k: self.expand(v) for k, v in step.get("env", {}).items()})
        run = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                             cwd=self.workspace, env=env, capture_output=True, text=True, errors="replace")
        self.log += run.stdout + run.stderr
        self.ran.append(step["name"])
        self.environ.update(parse_env_file(exported))
        for path in filter(None, read_text(paths).split("\n")):
            self.environ["PATH"] = f"{path}:{self.environ.get('PATH', os.environ['PATH'])}"
        if step.get("id"):
            self.outputs[step["id"]] = parse_env_file(output)
        text = read_text(summary)
        self.summary += text if len(text.encode()) <= SUMMARY_LIMIT else ""
        if run.returncode:
            self.failed, self.code = True, run.returncode

    def run(self):
        with contextlib.nullcontext(self.temp) if self.temp else tempfile.TemporaryDirectory() as temp:
            for step in self.action["runs"]["steps"]:
                if self.wanted(step):
                    self.step(step, temp)
            self.result = {k: self.expand(v["value"]) for k, v in self.action["outputs"].items()}
            self.reports = {k: [os.path.isfile(p) for p in v.split("\n")] for k, v in self.result.items()
                            if v.startswith("/") and k != "report-dir"}
        return self
