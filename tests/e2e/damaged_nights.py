#!/usr/bin/env python3
"""A stored night that cannot be read is never "nothing happened", and a clock that lies deletes nothing.

Six nights of one run; the fourth brings an operator. Each of them in turn is damaged: the stored bytes are not a summary, are half of one or
are missing; its object is missing, truncated or empty; its ref holds another object than its name says, or none. By docs/security.md: `history`
ends with 3, names the night and reports the others; so does `list`; `prune` ends with 3 and deletes nothing; `check` ends with 3 if it has to
look at that night, and else as it did. The same of what was said of events.
"""
import json
import os
import subprocess
import time

from support import DATED, Repository, check, expect, expect_has, run_parts
from plain_model import Work, usual, write_run

POLICY = """version: 1
extends: [tracegate:recommended]
baseline: {ref: parent}
suites: [{name: s, trace: {files: 'x/*.json', run: 'run(\\d+)'}, baseline: stored}]
"""
NIGHTS, FIRST = 6, 3
DAY = 86400


def make(folder, dates=None):
    repo = Repository(folder)
    repo.write(".gitignore", "x\nout\n")
    repo.write(".tracegate.yml", POLICY)
    for night in range(NIGHTS):
        repo.write("night", str(night))
        at = str((dates or {}).get(night, int(time.time()) - (NIGHTS - night) * DAY)) + " +0000"
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", f"night {night}", env=dict(repo.env, GIT_COMMITTER_DATE=at, GIT_AUTHOR_DATE=at))
        write_run(f"{folder}/x/run0.json", [usual() + ([Work("aten::extra")] if night >= FIRST else [])] * 3, night)
        done = repo.run("baseline", "record", "x/run0.json", "--runs", "--suite", "s", env=DATED)
        expect(f"record: {done.stderr}", done.returncode, 0)
    return repo


def refs(repo):
    """Name -> object, oldest night first."""
    lines = repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/tracegate/").splitlines()
    order = repo.git("rev-list", "--reverse", "HEAD").split()
    return sorted((x.split() for x in lines), key=lambda x: next(k for k, sha in enumerate(order) if sha in x[0]))


def blob(repo, data):
    run = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=repo.dir, input=data, capture_output=True, check=True)
    return run.stdout.decode().strip()


def stored(repo, ref, data, misnamed):
    """In place of `ref`: these bytes under the name that is theirs, or under the old one. The new name."""
    oid = blob(repo, data)
    name = ref if misnamed else f"{os.path.dirname(ref)}/{oid[:16]}"
    repo.git("update-ref", "-d", ref)
    repo.git("update-ref", name, oid)
    return name


def damages(data):
    yield "no summary", b"no summary\n", False
    yield "nothing", b"", False
    yield "half of it", data[:len(data) // 2], False
    yield "one digit", data.replace(b"1", b"7", 1), False
    yield "another run", data + b"\n", True
    yield "no summary, misnamed", b"no summary\n", True


def broken(repo, ref, oid):
    """What a loss of power leaves, of the object or of the ref: (what, the file, its bytes or None)."""
    path = f"{repo.dir}/.git/objects/{oid[:2]}/{oid[2:]}"
    with open(path, "rb") as f:
        whole = f.read()
    os.chmod(path, 0o644)
    return [("no object", path, None), ("half of the object", path, whole[:len(whole) // 2]), ("an empty object", path, b""),
            ("an empty ref", f"{repo.dir}/.git/{ref}", b"")]


def put(path, data):
    if data is None:
        return os.remove(path)
    with open(path, "wb") as f:
        return f.write(data)


def same(what, repo, before, said):
    now = refs(repo)
    check(f"{what}: nothing is deleted: {said}", now == before, [x for x in before if x not in now])


def one_damaged(repo, history, night, ref, what):
    before, sha = refs_or_files(repo), ref.split("/")[-2]
    for fail_on in ("open", "new", "never"):
        for path in ("h.json", "h.md"):
            put(f"{repo.dir}/out/{path}", b"")
        done = repo.run(*history, "--fail-on", fail_on)
        expect(f"history, {what}, {fail_on}: {done.stderr}", done.returncode, 3)
        expect_has(f"history, {what}: told", done.stderr, "git update-ref -d", f"1 night cannot be read, the first is {sha[:12]}")
        with open(f"{repo.dir}/out/h.json") as f:
            told = json.load(f)["nights"]
        expect(f"history, {what}: the others are reported", [len(told), sha in str(told)], [NIGHTS - 1, False])
        expect(f"history, {what}: as Markdown, too", os.path.getsize(f"{repo.dir}/out/h.md") > 0, True)
    done = repo.run("baseline", "list", "--suite", "s")
    expect(f"list, {what}: {done.stderr}", [done.returncode, len(done.stdout.splitlines())], [3, NIGHTS])
    expect_has(f"list, {what}: which", done.stderr, f"a run of {sha[:12]} cannot be read")
    for keep in ("1", "3", "2d"):
        done = repo.run("baseline", "prune", "--suite", "s", "--keep", keep)
        expect(f"prune --keep {keep}, {what}: {done.stderr}", done.returncode, 3)
        expect(f"prune --keep {keep}, {what}: nothing is deleted: {done.stdout}", refs_or_files(repo), before)
    done = repo.run("check", "--json", "-")
    expect(f"check, {what}: {done.stderr}", done.returncode, 3 if night == NIGHTS - 2 else 0)


def refs_or_files(repo):
    """The names below refs/tracegate: git lists none that it cannot read."""
    return sorted(os.path.join(at, name) for at, _, names in os.walk(f"{repo.dir}/.git/refs/tracegate") for name in names)


def unreadable(tmp):
    repo, n = make(f"{tmp}/repo"), 0
    history = ("history", "--suite", "s", "--format", "json", "-o", "out/h.json", "--markdown", "out/h.md")
    os.makedirs(f"{tmp}/repo/out")
    expect("control: history", repo.run(*history, "--fail-on", "open").returncode, 1)
    expect("control: prune", repo.run("baseline", "prune", "--suite", "s", "--keep", "3", "--dry-run").returncode, 0)
    expect("control: check is green against its parent", repo.run("check", "--json", "-").returncode, 0)
    for night, (ref, oid) in enumerate(refs(repo)):
        data = subprocess.run(["git", "cat-file", "blob", oid], cwd=repo.dir, capture_output=True, check=True).stdout
        for what, bad, misnamed in damages(data):
            what, n = f"night {night}, {what}", n + 1
            name = stored(repo, ref, bad, misnamed)
            one_damaged(repo, history, night, ref, what)
            repo.git("update-ref", "-d", name)
            repo.git("update-ref", ref, oid)
        for what, path, bad in broken(repo, ref, oid):
            n += 1
            with open(path, "rb") as f:
                whole = f.read()
            put(path, bad)
            one_damaged(repo, history, night, ref, f"night {night}, {what}")
            put(path, whole)
    print(f"damaged nights: {n}")
    expect("all is as before", repo.run(*history, "--fail-on", "open").returncode, 1)


def records(tmp):
    """What was said of an event: a record that cannot be read is 3, never an older answer. Here `reopen` is the last word."""
    repo = make(f"{tmp}/events")
    opened = ("history", "--suite", "s", "--fail-on", "open")
    event = read_json_of(repo)["events"][0]["id"]
    for word in ("accept", "reopen"):
        done = repo.run("history", word, event, "--suite", "s", "--reason", word)
        expect(f"{word}: {done.stderr}", done.returncode, 0)
        expect(f"after {word}", repo.run(*opened).returncode, 0 if word == "accept" else 1)
    names = repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/tracegate").splitlines()
    said = [x.split() for x in names if f"/{event}/" in x]
    expect("records", len(said), 2)
    for ref, oid in said:
        data = subprocess.run(["git", "cat-file", "blob", oid], cwd=repo.dir, capture_output=True, check=True).stdout
        for what, bad, misnamed in damages(data):
            if what == "one digit":
                continue  # another time, say, in a record that is well-formed: anybody who pushes may write that
            name = stored(repo, ref, bad, misnamed)
            one_unsaid(repo, opened, what, name)
            repo.git("update-ref", "-d", name)
            repo.git("update-ref", ref, oid)
        for what, path, bad in broken(repo, ref, oid):
            with open(path, "rb") as f:
                whole = f.read()
            put(path, bad)
            one_unsaid(repo, opened, what, ref if "ref" in what else oid)
            put(path, whole)
    expect("reopened as before", repo.run(*opened).returncode, 1)


def one_unsaid(repo, opened, what, which):
    """The event is told, and open: no older answer counts."""
    done = repo.run(*opened, "--format", "json")
    expect(f"record, {what}: {done.stderr}", done.returncode, 3)
    expect_has(f"record, {what}: told", done.stderr, which)
    expect(f"record, {what}: open", [e["state"] for e in json.loads(done.stdout)["events"]], ["open"])


def read_json_of(repo):
    return json.loads(repo.run("history", "--suite", "s", "--format", "json").stdout)


def clocks(tmp):
    """An age with a clock before the newest run, or more than a year after it: 2, and nothing is deleted; a number of nights needs no clock."""
    now = int(time.time())
    for name, shift, words in (("ahead", -400 * DAY, "days before this machine's clock"), ("behind", 9 * DAY, "days after this machine's clock")):
        repo = make(f"{tmp}/{name}", {k: now + shift - (NIGHTS - 1 - k) * DAY for k in range(NIGHTS)})
        before = refs(repo)
        for args in (("--keep", "2d"), ("--keep", "weekly", "--keep", "2d"), ("--keep", "2d", "--dry-run")):
            done = repo.run("baseline", "prune", "--suite", "s", *args)
            expect(f"clock {name}, {args}: {done.stderr}", done.returncode, 2)
            expect_has(f"clock {name}: told", done.stderr, words, "Nothing was deleted", "--trust-clock")
            same(f"clock {name}, {args}", repo, before, done.stdout)
        expect(f"clock {name}: a number of nights", repo.run("baseline", "prune", "--suite", "s", "--keep", "5").returncode, 0)
        done = repo.run("baseline", "prune", "--suite", "s", "--keep", "1d", "--trust-clock")
        expect(f"clock {name}: trusted: {done.stderr}", done.returncode, 0)
        check(f"clock {name}: all are old, or none is", shift > 0 or len(refs(repo)) < NIGHTS, refs(repo))


run_parts(unreadable, records, clocks)
