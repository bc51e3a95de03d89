#!/usr/bin/env python3
"""scripts/comment against a small GitHub (github.py). The table says what is expected, before
anything runs. With --openapi DIR each request is compared with GitHub's OpenAPI description, which npm
fetches into DIR; without npm or network that test is skipped, under CI only if the registry does not
answer.
"""
import json
import os
import subprocess
import sys
import tempfile

import github
from support import ROOT, finish, judged, read_text, write_text

SCRIPT = os.path.join(ROOT, "scripts/comment")
MARKER = "<!-- tracegate:report key=train -->"
BODY = MARKER + "\n### FAIL: `aten::clone` +2 calls\n\ntext\n"
OLD = MARKER + "\n### PASS\n"
OTHER_SUITE = "<!-- tracegate:report key=serve -->\n### PASS\n"
BOT = "github-actions[bot]"
GREEN = MARKER + "\n### \u2705 PASS: no regression found\n\n**Step time 1 \u2192 1 ms (0.0 %)** \u00b7 9 passed\n\nrest of train\n"
SERVE = "<!-- tracegate:report key=serve -->\n### \u274c FAIL: `aten::mm` +1 call\n\n**Step time 2 \u2192 3 ms (+50 %)** \u00b7 1 failed\n\n" \
    "rest of serve\n"
WARNS = "<!-- tracegate:report key=warns -->\n### \u26a0\ufe0f WARN: nothing failed\n\nrest of warns\n"
# By hand: the failure first and open, then the warning, and of the pass its line.
JOINED = """<!-- tracegate:report key=train.serve.warns -->
### \u274c FAIL: 1 of 3 suites

- \u274c **`serve`** FAIL: `aten::mm` +1 call<br>
  Step time 2 \u2192 3 ms (+50 %)
- \u26a0\ufe0f **`warns`** WARN: nothing failed
- \u2705 **`train`** PASS: no regression found<br>
  Step time 1 \u2192 1 ms (0.0 %)

<details open><summary>serve</summary>

**Step time 2 \u2192 3 ms (+50 %)** \u00b7 1 failed

rest of serve

</details>

<details><summary>warns</summary>

rest of warns

</details>
"""


def crowd(n, at, body=OLD):
    """n comments of people, ours as number `at` (from 0)."""
    out = [github.comment(i + 1, f"comment {i}", "alice") for i in range(n)]
    out[at] = github.comment(at + 1, body)
    return out


# name: what GitHub holds and does, how we are called -> requests that write, exit code, what is said,
# bodies of our comments for this suite afterwards
CASES = [
    ("first failure creates", dict(verdict="fail"), ["POST"], 0, "created", [BODY]),
    ("a pass alone is silent", dict(verdict="pass"), [], 0, "not needed", []),
    ("always: a pass creates", dict(verdict="pass", COMMENT="always"), ["POST"], 0, "created", [BODY]),
    ("never: nothing is asked", dict(verdict="fail", COMMENT="never", gets=0), [], 0, "never", []),
    ("inconclusive creates", dict(verdict="inconclusive"), ["POST"], 0, "created", [BODY]),
    ("a warning creates", dict(verdict="warn"), ["POST"], 0, "created", [BODY]),
    ("no JSON: nothing was checked, that is told", dict(verdict=None), ["POST"], 0, "created", [BODY]),
    ("back to green updates", dict(verdict="pass", comments=crowd(3, 1)), ["PATCH"], 0, "updated", [BODY]),
    ("unchanged is left alone", dict(verdict="fail", comments=crowd(3, 1, BODY)), [], 0, "unchanged", [BODY]),
    ("unchanged but for CRLF", dict(verdict="fail", comments=crowd(3, 1, BODY.replace("\n", "\r\n").strip())),
     [], 0, "unchanged", None),
    # 230 comments, ours the last: pages of 100, so three requests; with 100 exactly: one
    ("on the third page", dict(verdict="fail", comments=crowd(230, 229), gets=3), ["PATCH"], 0, "updated", [BODY]),
    ("one full page", dict(verdict="fail", comments=crowd(100, 99), gets=1), ["PATCH"], 0, "updated", [BODY]),
    ("a server with smaller pages", dict(verdict="fail", comments=crowd(95, 90), page=30, gets=4), ["PATCH"], 0,
     "updated", [BODY]),
    ("somebody else's marker", dict(verdict="fail", comments=[github.comment(1, OLD, "mallory")]), ["POST"], 0,
     "created", [BODY]),
    ("our author by name", dict(verdict="fail", comments=[github.comment(1, OLD, "gate-bot")],
                                COMMENT_AUTHOR="gate-bot"), ["PATCH"], 0, "updated", None),
    ("a deleted author", dict(verdict="fail", comments=[dict(github.comment(1, OLD), user=None)]), ["POST"], 0,
     "created", [BODY]),
    ("marker not at the start", dict(verdict="fail", comments=[github.comment(1, "> quoted\n" + OLD)]), ["POST"], 0,
     "created", [BODY]),
    ("another suite's comment stays", dict(verdict="fail", comments=[github.comment(1, OTHER_SUITE)]), ["POST"], 0,
     "created", [BODY]),
    ("two of ours: the newest", dict(verdict="fail", comments=[github.comment(5, OLD), github.comment(9, OLD)]),
     ["PATCH"], 0, "updated", [OLD, BODY]),
    # refusals: final ones are asked once, and never decide
    ("read-only token", dict(verdict="fail", read_only=True), ["POST"], 0, "::warning", []),
    ("read-only token, comment there", dict(verdict="fail", read_only=True, comments=crowd(2, 0)), ["PATCH"], 0,
     "may not write", [OLD]),
    ("404 is final", dict(verdict="fail", plan=[("GET", 404, {})], gets=1), [], 0, "::warning", []),
    ("401 is final", dict(verdict="fail", plan=[("GET", 401, {})], gets=1), [], 0, "::warning", []),
    ("422 is final", dict(verdict="fail", plan=[("POST", 422, {})]), ["POST"], 0, "::warning", []),
    ("403 without retry-after is final", dict(verdict="fail", plan=[("POST", 403, {})]), ["POST"], 0, "::warning", []),
    # bad days
    ("502 once on reading", dict(verdict="fail", plan=[("GET", 502, {})], gets=2), ["POST"], 0, "created", [BODY]),
    # after a failed POST the comments are read again: 1 + 1
    ("502 once on writing", dict(verdict="fail", plan=[("POST", 502, {})], gets=2), ["POST", "POST"], 0, "created",
     [BODY]),
    ("502, but it had arrived", dict(verdict="fail", plan=[("POST", 502, {})], do_it=True, gets=2), ["POST"], 0,
     "created", [BODY]),
    ("429 with retry-after", dict(verdict="fail", plan=[("POST", 429, {"Retry-After": "0"})]), ["POST", "POST"], 0,
     "created", [BODY]),
    ("403 with retry-after", dict(verdict="fail", plan=[("POST", 403, {"Retry-After": "0"})]), ["POST", "POST"], 0,
     "created", [BODY]),
    ("retry-after of an hour", dict(verdict="fail", plan=[("POST", 429, {"Retry-After": "3600"})]), ["POST"], 0,
     "::warning", []),
    ("503 for ever: four tries", dict(verdict="fail", plan=[("PATCH", 503, {})] * 9, comments=crowd(1, 0)),
     ["PATCH"] * 4, 0, "::warning", [OLD]),
    ("a redirect is not followed", dict(verdict="fail", plan=[("GET", 301, {"Location": "http://localhost:1/x"})],
                                        gets=1), [], 0, "::warning", []),
    ("no server", dict(verdict="fail", GITHUB_API_URL="http://127.0.0.1:9", gets=0), [], 0, "::warning", []),
    # size: 65,000 bytes are sent as they are, more only the head
    ("the largest body", dict(verdict="fail", body=BODY + "x" * (65000 - len(BODY))), ["POST"], 0, "created", None),
    ("a body over the limit", dict(verdict="fail", body=BODY + "x" * 65000), ["POST"], 0, "created", None),
    # the call
    ("no pull request", dict(verdict="fail", event={"ref": "refs/heads/main"}, gets=0), [], 0, "not a pull", []),
    ("the number is given", dict(verdict="fail", event={}, PULL_REQUEST="7"), ["POST"], 0, "created", [BODY]),
    ("a number that is none", dict(verdict="fail", PULL_REQUEST="7/../8", gets=0), [], 0, "not a pull", []),
    ("no token", dict(verdict="fail", GITHUB_TOKEN="", gets=0), [], 0, "::warning", []),
    ("several suites: the worst first, and open", dict(verdict="pass", body=GREEN, more=[("fail", SERVE), ("warn", WARNS)]), ["POST"], 0, "created",
     [JOINED]),
    ("several suites, all green", dict(verdict="pass", body=GREEN, more=[("pass", SERVE.replace("\u274c FAIL", "\u2705 PASS"))]), [], 0,
     "not needed", []),
    ("several suites, one too long", dict(verdict="pass", body=GREEN, more=[("fail", SERVE + "x" * 64800)]), ["POST"], 0, "created", None),
    ("several suites, one without its JSON", dict(verdict="pass", body=GREEN, more=[("", SERVE)]), ["POST"], 0, "created", None),
    ("no marker", dict(verdict="fail", body="### FAIL\n", gets=0), [], 2, "marker", []),
    ("a mode that is none", dict(verdict="fail", COMMENT="sometimes", gets=0), [], 2, "changes, always or never", []),
    ("a repository that is none", dict(verdict="fail", GITHUB_REPOSITORY="o/r/../../x", gets=0), [], 2, "OWNER/NAME",
     []),
]


def write(folder, name, text):
    write_text(os.path.join(folder, name), text)
    return os.path.join(folder, name)


def call(mock, case, folder):
    body, verdict = case.get("body", BODY), case["verdict"]
    report = write(folder, "report.md", body)
    event = write(folder, "event.json", json.dumps(case.get("event", {"pull_request": {"number": 7}})))
    output = write(folder, "output", "")
    args = [report]
    if verdict:
        args.append(write(folder, "report.json", json.dumps({"verdict": verdict})))
    for i, (other, text) in enumerate(case.get("more", [])):
        args += [write(folder, f"more{i}.md", text), write(folder, f"more{i}.json", json.dumps({"verdict": other})) if other else "-"]
    # a module of the same name beside the script's caller must not be imported
    write(folder, "json.py", "raise SystemExit('imported from the workspace')\n")
    env = {"PATH": os.environ["PATH"], "GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "secret-token",
           "GITHUB_API_URL": mock.url, "GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": event,
           "GITHUB_OUTPUT": output, "TRACEGATE_RETRY_DELAY": "0.01", "PYTHONPATH": folder}
    env.update({k: v for k, v in case.items() if k.isupper()})
    run = subprocess.run([SCRIPT, *args], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    return run, read_text(output)


def check(description, name, case, writes, code, said, ours):
    author = case.get("COMMENT_AUTHOR", BOT)
    with tempfile.TemporaryDirectory() as folder, \
            github.Mock(description, [dict(c) for c in case.get("comments", [])], case.get("page", 100),
                        case.get("read_only", False)) as mock:
        mock.plan, mock.do_it = list(case.get("plan", [])), case.get("do_it", False)
        run, output = call(mock, case, folder)
        after = [c["body"] for c in mock.comments
                 if (c["user"] or {}).get("login") == author and c["body"].startswith(MARKER.split(" -->")[0])]
        facts = [("at most 65,000 bytes", all(len(b.encode()) <= 65000 for b in after), True),
                 ("outputs", "comment-id=" in output, said in ("created", "updated", "unchanged"))]
        if "gets" in case:
            facts.append(("GETs", sum(m == "GET" for m, _ in mock.log), case["gets"]))
        if ours is not None:
            facts.append(("our comments", after, ours))
        elif case.get("body"):
            size = len(case["body"].encode()) + sum(len(text.encode()) for _, text in case.get("more", []))
            facts.append(("too long is said", "too long" in after[0].lower(), size > 65000))
        github.expect_facts(name, mock, run, writes, code, said, facts)


def self_check(description):
    """The description refuses what is wrong: without this the validation might check nothing."""
    wrong = [("POST", "/repos/o/r/issues/7/comments", {}, {}), ("POST", "/repos/o/r/issues/7/comments", {}, {"body": 1}),
             ("POST", "/repos/o/r/issues/7/comments", {}, None), ("GET", "/repos/o/r/issues/7/coments", {}, None),
             ("GET", "/repos/o/r/issues/7/comments", {"perpage": "100"}, None)]
    for request in wrong:
        judged(description.errors(*request), f"the description accepts {request}")


if __name__ == "__main__":
    known = github.described(self_check)
    for one in CASES:
        check(known, *one)
    sys.exit(finish(f"comment: {len(CASES)} cases"))
