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

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import failures  # noqa: E402

STYLE = """body{margin:0;padding:16px;font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif;color:#1f2328;background:#fff}
code{font:85% ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;background:#818b981f;padding:.2em .4em;border-radius:6px}
pre{background:#f6f8fa;padding:16px;border-radius:6px;overflow:auto} pre code{background:none;padding:0}
table{border-collapse:collapse;display:block;overflow:auto;width:max-content;max-width:100%}
td,th{border:1px solid #d1d9e0;padding:6px 13px} tr:nth-child(2n){background:#f6f8fa} a{color:#0969da;text-decoration:none}
@media(prefers-color-scheme:dark){body{color:#f0f6fc;background:#0d1117}pre,tr:nth-child(2n){background:#151b23}td,th{border-color:#3d444d}
code{background:#656c7633}a{color:#4493f8}}"""
FIRST = 16  # lines of the comment that fit on a screen


def render(markdown, path):
    html = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough"], input=markdown, capture_output=True, text=True, check=True).stdout
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{html}")


def pictures(program, folder, names):
    from browser import Browser  # Chromium is needed only here
    os.makedirs(folder, exist_ok=True)
    with Browser() as b, tempfile.TemporaryDirectory() as tmp:
        for name in names:
            stem = f"{folder}/{failures.NAMES.index(name) + 1:02}"
            run = failures.make(f"{tmp}/{name}", program, name)
            with open(stem + ".txt", "w", encoding="utf-8") as f:
                f.write(run.stdout + run.stderr)
            for end in ("md", "html"):
                if os.path.exists(f"{tmp}/{name}/report.{end}"):
                    shutil.copy(f"{tmp}/{name}/report.{end}", f"{stem}.{end}")
            with open(stem + ".md", encoding="utf-8") as f:
                render(f.read(), f"{tmp}/comment.html")
            for what, path in (("comment", f"{tmp}/comment.html"), ("page", stem + ".html")):
                for width in (900, 390):
                    for dark in (False, True):
                        page = b.open(path, width=width, height=900 if what == "comment" else 1100, dark=dark)
                        page.settle()
                        page.picture(f"{stem}-{name}-{what}-{width}-{'dark' if dark else 'light'}.png", whole=what == "comment")


def answers(program, name, faults):
    with tempfile.TemporaryDirectory() as tmp:
        run = failures.make(f"{tmp}/c", program, name)
        with open(f"{tmp}/c/report.md", encoding="utf-8") as f:
            lines = f.read().split("\n")
        with open(f"{tmp}/c/report.json", encoding="utf-8") as f:
            report = json.load(f)
    first = "\n".join(lines[:FIRST])
    want = failures.FAILURES[failures.NAMES.index(name)][4]
    for part in want + ([] if name == "pass" else ["ext"]):
        if part not in first:
            faults.append(f"{name}: {part!r} is not in the first {FIRST} lines:\n{first}")
    findings = [r for r in report["violations"] if r["explained_by"] is None]
    said = re.search(r"(\d+) violation", lines[1])
    if report["verdict"] == "fail" and (not said or int(said[1]) != len(findings)):
        faults.append(f"{name}: {lines[1]!r} for {len(findings)} findings")
    if name == "pass" and len([line for line in lines if line]) > 6:
        faults.append(f"pass: not three lines: {lines}")
    return report["verdict"], run.returncode


def main():
    args = sys.argv[1:]
    if args[0] != "--check":
        pictures(os.path.abspath(args[0]), os.path.abspath(args[1]), args[2:] or failures.NAMES)
        return 0
    faults, program = [], os.path.abspath(args[1])
    got = {name: answers(program, name, faults)[0] for name in failures.NAMES}
    want = {**{name: "fail" for name in failures.NAMES}, "lost-baseline": "inconclusive", "missing-rank": "inconclusive",
            "part-of-the-steps": "warn", "pass": "pass"}
    faults += [f"{name}: {got[name]}, want {want[name]}" for name in want if got[name] != want[name]]
    print("\n".join(faults) or f"{len(got)} first screens, 0 faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
