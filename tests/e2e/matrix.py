#!/usr/bin/env python3
"""`baseline record`, `fetch` and `check` in clones of every shape: each gives the stored baseline's
verdict, or a message with the exact fix. The table says what comes out. The same shapes for files of a
commit (REV:PATH, LFS, packed, loose and delta objects): tests/core/baseline/test_git.c.
"""
import os
import subprocess

from store import BASE, HEAD, POLICY, Clone, server, trace
from support import DATED as ENV
from support import expect, fault, read_json, run_parts, write_text

# name: how the clone `c` is made of $URL -> folder of it, exit codes of record, fetch and check, what is said.
# `change` is one commit on main's tip, which has three stored runs.
MAIN = "--no-single-branch -b change"
OWNER = f"git clone -q {MAIN} $URL c; chown -R 65534:65534 c"
SHAPES = [
    ("full", f"git clone -q {MAIN} $URL c", "c", (0, 0, 0), ""),
    ("depth 1", f"git clone -q --depth 1 {MAIN} $URL c", "c", (0, 3, 3), "set fetch-depth: 2 (or 0"),
    ("depth 2", f"git clone -q --depth 2 {MAIN} $URL c", "c", (0, 0, 0), ""),
    ("blob:none", f"git clone -q --filter=blob:none {MAIN} $URL c", "c", (0, 0, 0), ""),
    ("tree:0", f"git clone -q --filter=tree:0 {MAIN} $URL c", "c", (0, 0, 0), ""),
    ("sparse", f"git clone -q --sparse {MAIN} $URL c; cd c; git sparse-checkout set --cone none", "c", (0, 0, 0), ""),
    ("worktree", f"git clone -q {MAIN} $URL o; cd o; git checkout -q main; git worktree add -q ../c change", "c", (0, 0, 0), ""),
    ("bare", "git clone -q --bare $URL c; cd c; git symbolic-ref HEAD refs/heads/change", "c", (0, 0, 0), ""),
    ("submodule", "git init -q -b main o; cd o; git -c protocol.file.allow=always submodule --quiet add -b change $URL c", "o/c",
     (0, 0, 0), ""),
    ("alternates", f"git clone -q {MAIN} $URL o; git clone -q -s {MAIN} o c; git -C c remote set-url origin $URL", "c", (0, 0, 0), ""),
    ("subdirectory", f"git clone -q {MAIN} $URL c; mkdir -p c/a/b", "c/a/b", (0, 0, 0), ""),
    ("packed", f"git clone -q {MAIN} $URL c; cd c; git gc -q --prune=now; git pack-refs --all", "c", (0, 0, 0), ""),
    ("detached", f"git clone -q {MAIN} $URL c; cd c; git checkout -q --detach; git branch -qD change", "c", (0, 0, 0), ""),
    ("annotated tag checked out", f"git clone -q {MAIN} $URL c; cd c; git tag -a -m t v1; git checkout -q v1", "c", (0, 0, 0), ""),
    ("dubious owner", OWNER, "c", (3, 3, 3), "git config --global --add safe.directory "),
    ("dubious owner, trusted", OWNER, "c", (0, 0, 0), "--trust-repository"),
    ("unborn HEAD", "git init -q -b main c; cd c; git remote add origin $URL", "c", (3, 3, 3), "Commit first"),
    ("sha256", "git init -q --object-format=sha256 -b main c; cd c; git commit -q --allow-empty -m 1", "c", (3, 3, 3),
     "git show REV:PATH > FILE"),
    ("no repository", "mkdir c", "c", (3, 3, 3), "--baseline FILE"),
    ("no remote", f"git clone -q {MAIN} $URL c; cd c; git config --remove-section remote.origin", "c", (0, 3, 4), "git remote -v"),
]


def one(tmp, url, base, name, script, folder, codes, said):
    place = f"{tmp}/{name.replace(' ', '-').replace(':', '-')}"
    os.mkdir(place)
    made = subprocess.run(["bash", "-e", "-c", script], cwd=place, env=dict(ENV, URL=url), capture_output=True, text=True)
    if made.returncode:
        fault(f"{name}: the clone: {made.stderr}")
        return
    c = Clone(os.path.join(place, folder))
    trust = ["--trust-repository"] if "trusted" in name else []
    write_text(place + "/policy.yml", POLICY)
    fresh = [trace("base", r) for r in HEAD]
    policy = ["--policy", place + "/policy.yml", *trust]
    runs = [c.baseline("record", trace("base", "05"), *policy), c.baseline("fetch", *policy),
            c.run("check", *fresh, *policy, "--json", place + "/r.json")]
    text = "".join(r.stderr for r in runs)
    expect(f"{name}: exit codes of record, fetch, check {text}", tuple(r.returncode for r in runs), codes)
    if any(codes):
        expect(f"{name}: says {said!r} in {text!r}", said in text, True)
    if codes == (0, 0, 0):
        report = read_json(place + "/r.json")
        expect(f"{name}: baseline", (report["baseline"]["situation"], report["baseline"]["commit"]), ("found", base))


def main(tmp):
    bare, url, w = server(tmp)
    bare.git("config", "uploadpack.allowFilter", "true")
    bare.git("config", "uploadpack.allowAnySHA1InWant", "true")
    w.ok("record", *[trace("base", r) for r in BASE])
    w.ok("push")
    base = w.git("rev-parse", "main")
    w.git("checkout", "-q", "-b", "change")
    w.commit("change", 9)
    w.git("push", "-q", "origin", "change")
    for shape in SHAPES:
        if "owner" in shape[0] and os.geteuid() != 0:
            print(f"{shape[0]}: only root can give a clone away: skipped")
            continue
        one(tmp, url, base, *shape)


run_parts(main)
