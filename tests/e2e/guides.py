#!/usr/bin/env python3
"""The guides as written. Each is walked in a repository like the one they speak of: perf/ on origin/main, fresh runs of
the set that the page's first line names in out/, fifteen runs of one commit in base/. Lines of ```sh blocks run in
order; a number at the end of a line is the exit code, else 0. A ```yaml block that begins with `version:` is a policy:
it must load, and from there on it is the repository's. Links must lead somewhere. So for the README's lines.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import ENV, PROGRAM, ROOT, expect, fault, finish, read_json, read_text, write_json, write_text

FOLDER = os.path.join(ROOT, "docs/guides")


def copy(pattern, to):
    os.makedirs(to)
    for path in sorted(glob.glob(f"{ROOT}/examples/traces/{pattern}")):
        shutil.copy(path, os.path.join(to, os.path.basename(path).replace("run0", "run")))  # as bench.py names them


def server(tmp):
    """Traces without steps: their markers are a server's annotations."""
    os.makedirs(tmp + "/out")
    os.makedirs(tmp + "/perf-server")
    for k in range(3):
        trace = read_json(f"{ROOT}/examples/traces/base/run0{k}.json.gz")
        for e in trace["traceEvents"]:
            if e.get("name", "").startswith("ProfilerStep#"):
                e["name"], e["cat"] = f"execute_{e['name'][13:]}", "user_annotation"
        for side in ("out", "perf-server"):
            write_json(f"{tmp}/{side}/run{k}.json.gz", trace)


def prepare(tmp, out):
    copy("base/run0[0-4].json.gz", tmp + "/perf")
    copy("base/run*.json.gz", tmp + "/base")
    if out == "server":
        server(tmp)
    else:
        copy(out + "/run*.json.gz", tmp + "/out")
    os.makedirs(tmp + "/bin")
    os.symlink(PROGRAM, tmp + "/bin/tracegate")
    for command in (["init", "-qb", "main"], ["add", "perf"], ["commit", "-qm", "baseline"],
                    ["update-ref", "refs/remotes/origin/main", "HEAD"]):
        subprocess.run(["git", *command], cwd=tmp, env=ENV, check=True)


def blocks(text):
    """(language, lines) of each fenced block, without its indentation."""
    for m in re.finditer(r"^( *)```(\w+)\n(.*?)^\1```$", text, re.M | re.S):
        yield m[2], [line[len(m[1]):] for line in m[3].split("\n")[:-1]]


def walk(page, tmp):
    text = read_text(f"{FOLDER}/{page}")
    links(page, text)
    setup = re.match(r"<!-- out: (\w+) -->", text)
    if not setup:
        return 0
    prepare(tmp, setup[1])
    env = dict(ENV, PATH=tmp + "/bin:" + ENV["PATH"], SOURCE_DATE_EPOCH="1796083200")  # 2026-12-01
    ran = 0
    for language, lines in blocks(text):
        if language == "yaml" and lines[0].startswith("version:"):
            write_text(tmp + "/.tracegate.yml", "\n".join(lines) + "\n")
            lines = ["tracegate policy lint"]
        elif language != "sh":
            continue
        for line in lines:
            want = re.search(r"\s# (\d)$", line)
            run = subprocess.run(["bash", "-c", line], cwd=tmp, env=env, capture_output=True, text=True)
            expect(f"{page}: {line}: exit; {run.stdout[:300]} {run.stderr[:500]}", run.returncode, int(want[1]) if want else 0)
            ran += 1
    return ran


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", read_text(path), re.M)
    return {re.sub(r"[^a-z0-9 _-]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", h).lower()).replace(" ", "-") for h in heads}


def links(page, text):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        path = os.path.join(FOLDER, target or page)
        if re.match(r"https?:", target):
            continue
        if not os.path.exists(path):
            fault(f"{page}: {target} is not there")
        elif anchor and anchor not in anchors(path):
            fault(f"{page}: {target} has no heading #{anchor}")


def readme(tmp):
    """The README's `tracegate …` lines: fresh runs with a needless copy stop `check`, every other command does its work."""
    lines = [m[1] for m in re.finditer(r"^    (tracegate [a-z].*?)(?:\s+#.*)?$", read_text(os.path.join(ROOT, "README.md")), re.M)]
    prepare(tmp, "extra_copy")
    for line in lines:
        run = subprocess.run(["bash", "-c", line], cwd=tmp, env=dict(ENV, PATH=tmp + "/bin:" + ENV["PATH"]), capture_output=True, text=True)
        expect(f"README: {line}: exit; {run.stderr}", run.returncode, int(line.startswith("tracegate check")))
    return len(lines)


def main():
    pages = sorted(os.listdir(FOLDER))
    index = read_text(FOLDER + "/README.md")
    ran = 0
    for page in pages:
        expect(f"{page}: in the index", page == "README.md" or f"({page})" in index, True)
        with tempfile.TemporaryDirectory() as tmp:
            ran += walk(page, tmp)
    expect("twelve pages and the index", len(pages), 13)
    with tempfile.TemporaryDirectory() as tmp:
        expect("enough lines in the README", readme(tmp) >= 6, True)
    for page in ["../../README.md"] + ["../" + p for p in sorted(os.listdir(FOLDER + "/..")) if p.endswith(".md")]:
        here = os.path.dirname(os.path.normpath(os.path.join(FOLDER, page)))
        with open(os.path.join(FOLDER, page), encoding="utf-8") as f:
            # links of those pages start at their own folder
            links(page, re.sub(r"\]\((?!https?:|#)([^)]+)\)", lambda m: f"]({os.path.relpath(os.path.join(here, m[1]), FOLDER)})", f.read()))
    return finish(f"guides: {len(pages)} pages, {ran} lines", enough=ran >= 20)


if __name__ == "__main__":
    sys.exit(main())
