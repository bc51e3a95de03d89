#!/usr/bin/env python3
"""Where to keep stored baselines in git: a ref for each run, or a file for each run on an orphan branch?
Measures both at N commits (default 5,000) over file://: adding one more run and pushing it, fetching
one commit's run into a fresh clone, listing, a plain clone, and what a second writer at the same time costs.

    tests/bench/store_forms.py [N]

Results of record: docs/baselines.md, "Why refs".
"""
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time

N = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
SIZE = 17000  # bytes of a run after git's own compression: example traces, one rank
ENV = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
           GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t", GIT_TERMINAL_PROMPT="0")
rng = random.Random(1)


def git(cwd, *args, data=None):
    return subprocess.run(["git", *args], cwd=cwd, env=ENV, input=data, check=True, capture_output=True).stdout


def timed(what, f, repeats=3):
    took = []
    for k in range(repeats):
        t = time.monotonic()
        f(k)
        took.append(time.monotonic() - t)
    took.sort()
    print(f"  {what:<44} {took[len(took) // 2] * 1000:8.0f} ms   ({took[0] * 1000:.0f} to {took[-1] * 1000:.0f})", flush=True)


def folder_bytes(path):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(path) for f in fs)


def load(bare, refs):
    """N commits of main, and one run for each: random bytes, because a run is packed already."""
    text = []
    for i in range(N):
        text.append(b"blob\nmark :%d\ndata %d\n" % (i + 1, SIZE) + rng.randbytes(SIZE) + b"\n")
    for i in range(N):
        text.append(b"commit refs/heads/main\nmark :%d\ncommitter t <t@t> %d +0000\ndata 1\nc\n" % (N + i + 1, 1700000000 + i))
    if not refs:
        for i in range(N):
            sha = hashlib.sha1(b"%d" % i).hexdigest().encode()
            text.append(b"commit refs/heads/baselines\ncommitter t <t@t> %d +0000\ndata 1\nr\nM 100644 :%d %s/train/%s\n" %
                        (1700000000 + i, i + 1, sha[:2], sha))
    git(bare, "fast-import", "--quiet", "--force", f"--export-marks={bare}/marks", data=b"".join(text))
    git(bare, "pack-refs", "--all")
    if refs:  # fast-import makes refs to commits only
        lines = []
        for line in open(bare + "/marks"):
            mark, oid = line.split()
            if int(mark[1:]) <= N:
                sha = hashlib.sha1(b"%d" % (int(mark[1:]) - 1)).hexdigest()
                lines.append(f"{oid} refs/tracegate/v1/train/{sha}/{oid[:16]}\n")
        lines += [line for line in open(bare + "/packed-refs") if not line.startswith("#")]
        with open(bare + "/packed-refs", "w") as f:
            f.write("# pack-refs with: sorted \n" + "".join(sorted(lines, key=lambda x: x.split()[1])))


def ref_of(i):
    sha = hashlib.sha1(b"%d" % i).hexdigest()
    return f"refs/tracegate/v1/train/{sha}/*"


def fresh_clone(url, tmp, name, *args):
    git(tmp, "clone", "-q", *args, url, name)
    return f"{tmp}/{name}"


def refs(tmp):
    bare, url = tmp + "/refs.git", "file://" + tmp + "/refs.git"
    git(tmp, "init", "-q", "--bare", "-b", "main", bare)
    load(bare, True)
    print(f"refs: {folder_bytes(bare) / 1e6:.1f} MB on the server")
    w = fresh_clone(url, tmp, "rw", "--depth=1")

    def push(k):
        oid = git(w, "hash-object", "-w", "--stdin", data=rng.randbytes(SIZE)).decode().strip()
        git(w, "push", "-q", "origin", f"{oid}:refs/tracegate/v1/train/{hashlib.sha1(b'new%d' % k).hexdigest()}/{oid[:16]}")

    timed("add and push one run", push)
    timed("fetch one commit's run, depth-1 clone",
          lambda k: git(w, "fetch", "-q", "--no-tags", "--refmap=", "origin", f"{ref_of(100 + k)}:{ref_of(100 + k)}"))
    timed("list (git ls-remote, 5,000 lines)", lambda k: git(w, "ls-remote", "origin", "refs/tracegate/v1/train/*"))
    timed("plain clone of the project", lambda k: fresh_clone(url, tmp, f"rc{k}"))
    print(f"  a plain clone has {folder_bytes(tmp + '/rc0') / 1e6:.1f} MB; nothing of the store in it")


def orphan(tmp):
    bare, url = tmp + "/branch.git", "file://" + tmp + "/branch.git"
    git(tmp, "init", "-q", "--bare", "-b", "main", bare)
    load(bare, False)
    git(bare, "config", "uploadpack.allowFilter", "true")
    print(f"orphan branch: {folder_bytes(bare) / 1e6:.1f} MB on the server")
    w = fresh_clone(url, tmp, "bw", "--depth=1", "--branch", "main")

    def tip():
        git(w, "fetch", "-q", "--no-tags", "--depth=1", "--filter=blob:none", "origin", "+refs/heads/baselines:refs/b")

    def push(k):
        tip()
        index = dict(ENV, GIT_INDEX_FILE=f"{tmp}/index{k}")

        def run(*args, data=None):
            return subprocess.run(["git", *args], cwd=w, env=index, input=data, check=True, capture_output=True).stdout.decode().strip()
        run("read-tree", "refs/b")
        oid = run("hash-object", "-w", "--stdin", data=rng.randbytes(SIZE))
        run("update-index", "--add", "--cacheinfo", f"100644,{oid},zz/train/{k}")
        commit = run("commit-tree", "-p", "refs/b", "-m", "r", run("write-tree", "--missing-ok"))
        run("push", "-q", "origin", f"{commit}:refs/heads/baselines")

    def one(k):
        c = fresh_clone(url, tmp, f"bf{k}", "--depth=1", "--branch", "main", "--filter=blob:none")
        t = time.monotonic()
        git(c, "fetch", "-q", "--no-tags", "--depth=1", "--filter=blob:none", "origin", "+refs/heads/baselines:refs/b")
        sha = hashlib.sha1(b"%d" % (100 + k)).hexdigest()
        git(c, "cat-file", "blob", f"refs/b:{sha[:2]}/train/{sha}")
        one.took.append(time.monotonic() - t)

    one.took = []
    timed("fetch the tip, add and push one run", push)
    for k in range(3):
        one(k)
    one.took.sort()
    print(f"  {'fetch the tip (no blobs) and one run':<44} {one.took[1] * 1000:8.0f} ms   "
          f"({one.took[0] * 1000:.0f} to {one.took[2] * 1000:.0f})")
    timed("the same with all files of the tip (--depth=1)",
          lambda k: fresh_clone(url, tmp, f"bt{k}", "--depth=1", "--branch", "baselines", "--bare"), 1)
    tip()
    timed("list (tip here already)", lambda k: git(w, "ls-tree", "-r", "--name-only", "refs/b"))
    timed("plain clone of the project", lambda k: fresh_clone(url, tmp, f"bc{k}"), 1)
    print(f"  a plain clone has {folder_bytes(tmp + '/bc0') / 1e6:.1f} MB: the branch comes with it")


def main():
    print(f"{N} commits, {SIZE} bytes a run, {subprocess.run(['git', 'version'], capture_output=True, text=True).stdout.strip()}")
    with tempfile.TemporaryDirectory() as tmp:
        refs(tmp)
        orphan(tmp)


if __name__ == "__main__":
    sys.exit(main())
