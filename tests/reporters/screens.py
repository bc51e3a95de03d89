#!/usr/bin/env python3
"""What a reader sees first of ten failures (failures.py): the comment and the page, as pictures.

    screens.py PROGRAM FOLDER [CASE…]    NN-CASE-comment-900-light.png …, NN.md, NN.txt, NN.html
    screens.py --check PROGRAM           a test: each first screen answers what, how much, where, what next

The comment is rendered by cmark-gfm, with GitHub's widths and colours as far as they matter here, at 900 and 390 px, light and dark.
Pictures need cmark-gfm and Chromium; the test needs neither.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import failures  # noqa: E402
from failures import read, write  # noqa: E402

STYLE = """body{margin:0;padding:16px;font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif;color:#1f2328;background:#fff}
code{font:85% ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;background:#818b981f;padding:.2em .4em;border-radius:6px}
pre{background:#f6f8fa;padding:16px;border-radius:6px;overflow:auto} pre code{background:none;padding:0}
table{border-collapse:collapse;display:block;overflow:auto;width:max-content;max-width:100%}
td,th{border:1px solid #d1d9e0;padding:6px 13px} tr:nth-child(2n){background:#f6f8fa} a{color:#0969da;text-decoration:none}
@media(prefers-color-scheme:dark){body{color:#f0f6fc;background:#0d1117}pre,tr:nth-child(2n){background:#151b23}td,th{border-color:#3d444d}
code{background:#656c7633}a{color:#4493f8}}"""
FIRST = 16  # lines of the comment that fit on a screen


def render(markdown, path):
    html = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough"], input=markdown, capture_output=True, text=True,
                          check=True).stdout
    write(path, f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{html}")


def pictures(program, folder, names):
    from browser import Browser  # Chromium is needed only here
    os.makedirs(folder, exist_ok=True)
    with Browser() as b, tempfile.TemporaryDirectory() as tmp:
        for name in names:
            stem = f"{folder}/{failures.NAMES.index(name) + 1:02}"
            run = failures.make(f"{tmp}/{name}", program, name)
            write(stem + ".txt", run.stdout + run.stderr)
            for end in ("md", "html"):
                if os.path.exists(f"{tmp}/{name}/report.{end}"):
                    shutil.copy(f"{tmp}/{name}/report.{end}", f"{stem}.{end}")
            render(read(stem + ".md"), f"{tmp}/comment.html")
            for what, path in (("comment", f"{tmp}/comment.html"), ("page", stem + ".html")):
                for width in (900, 390):
                    for dark in (False, True):
                        page = b.open(path, width=width, height=900 if what == "comment" else 1100, dark=dark)
                        page.settle()
                        page.picture(f"{stem}-{name}-{what}-{width}-{'dark' if dark else 'light'}.png", whole=what == "comment")


def answers(program, name, faults):
    with tempfile.TemporaryDirectory() as tmp:
        run = failures.make(f"{tmp}/c", program, name)
        lines = read(f"{tmp}/c/report.md").split("\n")
        report = json.loads(read(f"{tmp}/c/report.json"))
    first = "\n".join(lines[:FIRST])
    want = failures.FAILURES[failures.NAMES.index(name)][4]
    for part in want + ([] if name == "pass" else ["ext"]):
        if part not in first:
            faults.append(f"{name}: {part!r} is not in the first {FIRST} lines:\n{first}")
    if name == "new-kernel" and not re.search(r"<br><sub>replaced, 4\s\u2192\s12\scalls, ", "\n".join(lines)):
        faults.append(f"{name}: the row of the replacement does not count the calls of its sentence")
    findings = [r for r in report["violations"] if r["explained_by"] is None]
    said = re.search(r"(\d+) violation", lines[1])
    if report["verdict"] == "fail" and (not said or int(said[1]) != len(findings)):
        faults.append(f"{name}: {lines[1]!r} for {len(findings)} findings")
    if name == "pass" and len([line for line in lines if line]) > 6:
        faults.append(f"pass: not three lines: {lines}")
    return report["verdict"], run.returncode


def printed(md, html):
    """Where the waivers go, and their text, as the comment has them; the page must have the same."""
    said = re.search(r"To accept it until a date, (.*):\n\n```yaml\n(.*?)```", md, re.S)
    page = re.search(r"<p>To accept it until a date, (.*?):</p>\n<pre>(.*?)</pre>", html, re.S)
    if not said or not page:
        return None if said == page else ("", "one report has waivers, the other none")
    same = unescape(page[2]) == said[2].rstrip("\n") and unescape(re.sub("<.*?>", "", page[1])) == said[1].replace("`", "")
    return (said[1], said[2].replace("YYYY-MM-DD", "2026-05-30")) if same else ("", "the page has others")


def paste(where, text, policy):
    """The policy after somebody did what `where` says; "" there is none."""
    if where == "create `.tracegate.yml`" and not policy:
        return text
    if where == "add to `.tracegate.yml`" and policy:
        return policy + text
    if where == "add under `waivers:` in `.tracegate.yml`" and policy:
        return policy.replace("waivers:\n", "waivers:\n" + text)
    raise ValueError(where)


def accepted(program, name, faults):
    """What the comment prints, and what `policy waive` writes, make a failure pass; an item less does not."""
    with tempfile.TemporaryDirectory() as tmp:
        failures.make(tmp + "/c", program, name)
        repo, path = tmp + "/c/repo", tmp + "/c/repo/.tracegate.yml"
        args = ["out", "--ranks" if "ranks" in failures.FAILURES[failures.NAMES.index(name)][3] else "--runs", "--baseline", "base", "--base-commit",
                "main"]
        texts = [read(f"{tmp}/c/report.{end}") for end in ("md", "html")]
        policy = read(path) if os.path.exists(path) else ""

        def again(text):
            write(path, text)
            run = subprocess.run([program, "check", *args], cwd=repo, env=failures.ENV, capture_output=True, text=True, check=False)
            return run.returncode, run.stdout + run.stderr
        found = printed(*texts)
        if not found:
            return False
        try:
            code, out = again(paste(*found, policy))
        except ValueError as e:
            code, out = None, f"{e}: {found}"
        if code != 0:
            faults.append(f"{name}: the printed waivers give {code}:\n{found[1]}{out}")
        last = found[1].rstrip("\n").rsplit("\n", 1)[0]  # without the last item, or the last name of its `with`
        if found[1].endswith("}]}\n"):
            last = last.removesuffix(", with: [") + "}" if last.endswith(", with: [") else last.removesuffix(",") + "]}"
        last += "\n"
        if "  - {" in last and again(paste(found[0], last, policy))[0] != 1:
            faults.append(f"{name}: it passes without the last waiver")
        run = subprocess.run([program, "policy", "waive", "../report.json"], cwd=repo, env=failures.ENV, capture_output=True, text=True, check=False)
        head, items = run.stdout.split("waivers:\n", 1)
        text = (policy or head) + ("" if "waivers:\n" in policy else "waivers:\n")
        code, out = again(text.replace("waivers:\n", "waivers:\n" + items))
        if run.returncode or code != 0:
            faults.append(f"{name}: policy waive gives {code}:\n{run.stdout}{run.stderr}{out}")
        return True


def fixtures(program, faults):
    """The waivers of the goldens load: for rules of every sort, and names as a stranger may choose them."""
    golden, n = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden"), 0
    for path in sorted(os.listdir(golden)):
        if not path.startswith("markdown_"):
            continue
        found = printed(read(f"{golden}/{path}"), read(f"{golden}/{path[:-3].replace('markdown', 'html')}.html"))
        if found:
            with tempfile.TemporaryDirectory() as tmp:
                write(tmp + "/p.yml", "version: 1\nextends: ['tracegate:recommended']\n" + found[1])
                run = subprocess.run([program, "policy", "show", "--policy", tmp + "/p.yml"], env=failures.ENV, capture_output=True, text=True,
                                     check=False)
                if run.returncode:
                    faults.append(f"{path}: {run.stderr}{found[1]}")
                n += 1
    if n < 2:
        faults.append(f"{n} goldens have waivers, 2 at least are expected")


def main():
    args = sys.argv[1:]
    if args[0] != "--check":
        pictures(os.path.abspath(args[0]), os.path.abspath(args[1]), args[2:] or failures.NAMES)
        return 0
    faults, program = [], os.path.abspath(args[1])
    waived = [name for name in failures.NAMES if accepted(program, name, faults)]
    if len(waived) != 9:
        faults.append(f"waivers for {waived}, want 9")
    fixtures(program, faults)
    got = {name: answers(program, name, faults)[0] for name in failures.NAMES}
    want = {**{name: "fail" for name in failures.NAMES}, "lost-baseline": "inconclusive", "missing-rank": "inconclusive",
            "warned": "warn", "pass": "pass"}
    faults += [f"{name}: {got[name]}, want {want[name]}" for name in want if got[name] != want[name]]
    print("\n".join(faults) or f"{len(got)} first screens, 0 faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
