#!/usr/bin/env python3
"""scripts/release and what it calls, but for the compiling of libraries: pinned sources are checked
before anything is done with them, and what is packed is the same bytes wherever it is packed. The
program is the one of this build, put where scripts/release-build would leave a static one. The real
thing takes half an hour: scripts/release, then scripts/release-test (docs/release.md).

    release BUILD NPM     BUILD is the build folder; NPM keeps what npm fetched
"""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile

import github
from support import ROOT, expect, finish, skip

CI = bool(os.environ.get("CI"))
BUILD, NPM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CYCLONEDX = "@cyclonedx/cyclonedx-library@10.3.0"
DATE = 1793923200  # 2026-11-06T00:00:00Z, by `date -u -d 2026-11-06 +%s`
BUILDER = """#!/bin/sh
# stands for scripts/release-build LIST ARCHIVES ARCH WORK
mkdir -p "$4/licences" && cp -R '{root}' "$4/root" && printf 'terms of one\\n\\f\\nend\\n' >"$4/licences/one.txt"
"""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pins(name):
    with open(os.path.join(ROOT, "cmake/release", name), encoding="utf-8") as f:
        return {line.split()[0]: line.split() for line in f if line.strip() and not line.startswith("#")}


def lists():
    """Both lists: whole lines, upstream over https, the same libraries at the same versions but for what
    sources-debian.txt says."""
    upstream, debian = pins("sources.txt"), pins("sources-debian.txt")
    for name, fields in [*upstream.items(), *debian.items()]:
        expect(f"{name}: five fields, a SHA-256", (len(fields), bool(re.fullmatch("[0-9a-f]{64}", fields[2]))), (5, True))
    expect("over https", [n for n, f in upstream.items() if not f[4].startswith("https://")], [])
    expect("below a mirror", [n for n, f in debian.items() if not f[4].startswith("pool/main/")], [])
    expect("Debian has one more", sorted(set(debian) - set(upstream)), ["http-parser"])
    expect("other versions", [n for n in upstream if debian[n][1] != upstream[n][1]], ["pcre2", "sqlite"])


def no_clock():
    """Nothing compiled in tells when it was compiled."""
    run = subprocess.run(["grep", "-rlE", "__(DATE|TIME|TIMESTAMP)__", "core", "policy", "reporters", "cmd"], cwd=ROOT,
                         capture_output=True, text=True, check=False)
    expect("no dates in the source", run.stdout, "")


class Copy:
    """The project's scripts in a folder of their own with one pinned source, and a builder that is not one."""

    def __init__(self, folder, archive, pinned):
        self.top = folder
        os.makedirs(os.path.join(folder, "cmake/release"))
        shutil.copytree(os.path.join(ROOT, "scripts"), os.path.join(folder, "scripts"))
        shutil.copytree(os.path.join(ROOT, "python"), os.path.join(folder, "python"), ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("CMakeLists.txt", "LICENSE", "README.md"):
            shutil.copy(os.path.join(ROOT, name), folder)
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
            self.version = re.search(r"project\(tracegate VERSION ([0-9.]+)", f.read())[1]
        self.write("CHANGELOG.md", f"# Changelog\n\n## {self.version} (2026-11-06)\n\n- First.\n")
        self.write("cmake/release/sources.txt", f"# list\none 1.0 {pinned} MIT file://{archive}\n")
        self.write("scripts/release-build", BUILDER.format(root=folder + "/installed"))
        subprocess.run(["cmake", "--install", BUILD], env=dict(os.environ, DESTDIR=folder + "/staged"), check=True, capture_output=True)
        prefix = next(p for p, dirs, _ in os.walk(folder + "/staged") if "bin" in dirs)
        os.makedirs(folder + "/installed")
        os.rename(prefix, folder + "/installed/usr")
        # a release is static, this build may not be
        subprocess.run(["gcc", "-static", "-s", "-x", "c", "-", "-o", folder + "/installed/usr/bin/tracegate"], input=b"int main(void) { return 0; }",
                       check=True)

    def write(self, path, text):
        with open(os.path.join(self.top, path), "w", encoding="utf-8") as f:
            f.write(text)

    def release(self, *args, umask=0o022):
        env = {k: v for k, v in os.environ.items() if k not in ("SOURCE_DATE_EPOCH", "GITHUB_REPOSITORY", "GITHUB_SERVER_URL")}
        return subprocess.run([os.path.join(self.top, "scripts/release"), "--arch", "x86_64", *args, os.path.join(self.top, "out")],
                              env=env, capture_output=True, text=True, umask=umask, check=False)

    def tag(self, tag):
        return subprocess.run([os.path.join(self.top, "scripts/release-test"), "--tag", tag, os.path.join(self.top, "out")],
                              capture_output=True, text=True, check=False).returncode

    def out(self):
        files = {}
        for name in sorted(os.listdir(os.path.join(self.top, "out"))):
            with open(os.path.join(self.top, "out", name), "rb") as f:
                files[name] = f.read()
        return files


def wrong_sums(temp, archive):
    """A source that is not the pinned one: nothing is built, nothing of it is kept."""
    c = Copy(os.path.join(temp, "wrong"), archive, "0" * 64)
    run = c.release()
    with open(archive, "rb") as f:
        real = sha256(f.read())
    expect("wrong sum: exit code", run.returncode, 1)
    expect("wrong sum: both are said", real in run.stderr and "0" * 64 in run.stderr, True)
    expect("wrong sum: nothing kept", os.listdir(os.path.join(c.top, "build/release-work/archives")), [])
    expect("wrong sum: nothing built", os.listdir(os.path.join(c.top, "out")), [])
    c.write("cmake/release/sources.txt", f"one 1.0 {real} MIT file:///no/such/file\n")
    run = c.release()
    expect("no such source", (run.returncode, "cannot be had" in run.stderr), (1, True))
    run = c.release("--sources", os.path.dirname(archive))
    expect("the same from a folder, whatever its name", run.returncode, 0)
    expect("an architecture that is none", c.release("--arch", "mips").returncode, 2)


def archive_of(c, files):
    name = f"tracegate-{c.version}-linux-x86_64"
    with tarfile.open(os.path.join(c.top, "out", name + ".tar.gz")) as t:
        members = t.getmembers()
        program = t.extractfile(f"{name}/tracegate").read()
    expect("archive: owners", {(m.uid, m.gid, m.uname) for m in members}, {(0, 0, "")})
    expect("archive: dates", {m.mtime for m in members}, {DATE})
    expect("archive: modes", {(m.isdir(), oct(m.mode)) for m in members if m.name not in (f"{name}/tracegate", f"{name}/tracegate-ab")},
           {(True, "0o755"), (False, "0o644")})
    expect("archive: files", sorted(os.path.relpath(m.name, name) for m in members if not m.isdir()),
          ["LICENSE", "README.md", "_tracegate", "licences/one.txt", "tracegate", "tracegate-ab", "tracegate.1", "tracegate.bash"])
    with open(os.path.join(c.top, "installed/usr/bin/tracegate"), "rb") as f:
        expect("archive: the program", sha256(program), sha256(f.read()))
    sums = dict(reversed(line.split()) for line in files["SHA256SUMS"].decode().splitlines())
    expect("sums", sums, {n: sha256(d) for n, d in files.items() if n not in ("SHA256SUMS", "release-assets.txt")})
    line = f"x86_64 {sha256(files[name + '.tar.gz'])} https://github.com/OWNER/tracegate/releases/download/v{c.version}/{name}.tar.gz\n"
    expect("the action's line", files["release-assets.txt"].decode(), line)
    return json.loads(files[name + ".cdx.json"]), sha256(program), line


def package(c):
    deb = os.path.join(c.top, "out", f"tracegate_{c.version}_amd64.deb")

    def ask(*args):
        return subprocess.run(["dpkg-deb", *args], capture_output=True, text=True, check=True).stdout
    fields = dict(line.split(": ", 1) for line in ask("-f", deb).splitlines() if not line.startswith(" "))
    expect("deb: fields", (fields["Package"], fields["Version"], fields["Architecture"], fields.get("Depends")),
           ("tracegate", c.version, "amd64", None))
    names = {line.split()[-1].rstrip("/") for line in ask("-c", deb).splitlines()}
    wanted = ("./usr/bin/tracegate", "./usr/share/man/man1/tracegate.1.gz", "./usr/share/doc/tracegate/copyright",
              "./usr/share/bash-completion/completions/tracegate", "./usr/share/zsh/vendor-completions/_tracegate")
    expect("deb: files", [n for n in wanted if n not in names], [])
    tree = os.path.join(c.top, "tree")
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    with open(os.path.join(tree, "usr/share/doc/tracegate/copyright"), encoding="utf-8") as f:
        expect("deb: the terms of what is linked in", "the authors of one 1.0" in (text := f.read()) and " terms of one\n" in text, True)
    run = subprocess.run(["md5sum", "--quiet", "-c", "DEBIAN/md5sums"], cwd=tree, capture_output=True, text=True, check=False)
    expect("deb: md5sums", (run.returncode, run.stdout), (0, ""))


def wheel(c, program):
    """The tags are true of a static program, every file is listed with its sum, the licences are in it; a program that needs
    libraries is refused."""
    name = f"torch_tracegate-{c.version}-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl"
    info = f"torch_tracegate-{c.version}.dist-info"
    with zipfile.ZipFile(os.path.join(c.top, "out", name)) as z:
        data = {i.filename: z.read(i) for i in z.infolist()}
        modes = {i.filename: oct(i.external_attr >> 16) for i in z.infolist()}
        expect("wheel: dates", {i.date_time for i in z.infolist()}, {(2026, 11, 6, 0, 0, 0)})
    scripts = f"torch_tracegate-{c.version}.data/scripts/"
    expect("wheel: the program", sha256(data[scripts + "tracegate"]), program)
    expect("wheel: modes", {n for n, m in modes.items() if m == "0o100755"}, {scripts + "tracegate", scripts + "tracegate-ab"})
    expect("wheel: licences", sorted(n for n in data if "/licenses/" in n), [f"{info}/licenses/LICENSE", f"{info}/licenses/one.txt"])
    expect("wheel: plugin", data[info + "/entry_points.txt"], b"[pytest11]\ntracegate = tracegate.pytest_plugin\n")
    expect("wheel: typed", "tracegate/py.typed" in data, True)
    tags_in = sorted(x[5:] for x in data[info + "/WHEEL"].decode().splitlines() if x.startswith("Tag: "))
    expect("wheel: tags", tags_in, [f"py3-none-{t}_x86_64" for t in ("manylinux2014", "manylinux_2_17", "musllinux_1_1")])
    head = [x.split(": ", 1) for x in data[info + "/METADATA"].decode().split("\n\n")[0].splitlines()]
    fields = dict(head)
    expect("wheel: licences are named", [value for key, value in head if key == "License-File"], ["LICENSE", "one.txt"])
    expect("wheel: name and terms", (fields["Name"], fields["Version"], fields["License-Expression"]),
           ("torch-tracegate", c.version, "Apache-2.0 AND MIT"))
    listed = {n: s for n, s, _ in (x.split(",") for x in data[info + "/RECORD"].decode().splitlines())}
    wanted = {n: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode() for n, d in data.items()}
    expect("wheel: sums", listed, {**wanted, info + "/RECORD": ""})
    with tarfile.open(os.path.join(c.top, "out", f"torch_tracegate-{c.version}.tar.gz")) as t:
        names = {m.name.split("/", 1)[1] for m in t.getmembers()}
    expect("sdist", sorted(n for n in names if "/" not in n), ["LICENSE", "PKG-INFO", "README.md", "build_backend.py", "pyproject.toml"])
    for what, args, said in (("a program with a loader", [sys.executable], "needs libraries at run time"),
                             ("no program", [__file__], "not a 64-bit Linux program"),
                             ("no licences", ["--licences", c.top + "/python", os.path.join(c.top, "installed/usr/bin/tracegate")], "no licences")):
        run = subprocess.run([os.path.join(c.top, "scripts/release-wheel"), *args, c.top], capture_output=True, text=True, check=False)
        expect(f"{what}: {run.stderr}", (run.returncode, said in run.stderr), (1, True))


def schemas():
    """CycloneDX's schemas, fetched once; None without npm or network."""
    folder = os.path.join(NPM, "package/res/schema")
    os.makedirs(NPM, exist_ok=True)
    if not os.path.isdir(folder):
        if not github.npm(["pack", "--silent", CYCLONEDX], NPM):
            return None
        subprocess.run("tar -xzf cyclonedx-cyclonedx-library-*.tgz package/res/schema && rm *.tgz", shell=True, cwd=NPM, check=True)
    out = {}
    for name in ("bom-1.6", "spdx", "jsf-0.82"):
        with open(os.path.join(folder, name + ".SNAPSHOT.schema.json"), encoding="utf-8") as f:
            out[name] = json.load(f)
    return out


def bill(bom, program):
    expect("SBOM: of this program", bom["metadata"]["component"]["hashes"], [{"alg": "SHA-256", "content": program}])
    expect("SBOM: of these sources", [(x["name"], x["version"]) for x in bom["components"]], [("one", "1.0")])
    expect("SBOM: date", bom["metadata"]["timestamp"], "2026-11-06T00:00:00Z")
    try:
        import jsonschema
    except ImportError:
        expect("python3-jsonschema", CI, False)
        return False
    known = schemas()
    if known is None:
        expect("CI must have CycloneDX's schemas", CI and github.reachable(NPM), False)
        return False
    warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver: what Debian 12's jsonschema has
    top = known["bom-1.6"]
    base = top["$id"].rsplit("/", 1)[0] + "/"
    store = {base + name + ".SNAPSHOT.schema.json": known[name] for name in ("spdx", "jsf-0.82")}
    v = jsonschema.Draft7Validator(top, resolver=jsonschema.RefResolver(top["$id"], top, store={**store, top["$id"]: top}))
    real = subprocess.run([os.path.join(ROOT, "scripts/release-sbom"), os.path.join(ROOT, "cmake/release/sources.txt"), "1.2.3", "aarch64",
                           __file__, __file__], env=dict(os.environ, SOURCE_DATE_EPOCH=str(DATE)), capture_output=True, text=True, check=True)
    for name, doc in (("of the stub", bom), ("of the real list", json.loads(real.stdout))):
        expect(f"SBOM {name}: valid", [e.message[:100] for e in v.iter_errors(doc)], [])
    expect("SBOM: every pinned source", [x["name"] for x in json.loads(real.stdout)["components"]], list(pins("sources.txt")))
    wrong = json.loads(json.dumps(bom))
    wrong["components"][0]["licenses"] = [{"license": {"id": "MITT"}}]
    expect("SBOM: a licence that is none", v.is_valid(wrong), False)
    return True


def tags(c, line):
    def assets(text):
        c.write("scripts/release-assets.txt", "# comment\n" + text)
    assets(line)
    expect("tag, version and list agree", c.tag("v" + c.version), 0)
    expect("another tag", c.tag("v9.9.9"), 1)
    assets(line.replace("x86_64 ", "x86_64 0"))
    expect("another sum", c.tag("v" + c.version), 1)
    assets("")
    expect("an empty list", c.tag("v" + c.version), 1)
    assets(line)
    c.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n")
    expect("no entry in the changelog", c.tag("v" + c.version), 1)


def main():
    missing = [t for t in ("dpkg-deb", "curl", "make", "pkg-config", "ninja") if not shutil.which(t)]
    if missing:
        skip(f"{', '.join(missing)} missing")
    lists()
    no_clock()
    with tempfile.TemporaryDirectory() as temp:
        os.mkdir(os.path.join(temp, "sources"))
        archive = os.path.join(temp, "sources/any-name")
        with open(archive, "wb") as f:
            f.write(b"source")
        wrong_sums(temp, archive)
        one = Copy(os.path.join(temp, "one"), archive, sha256(b"source"))
        two = Copy(os.path.join(temp, "another place, with blanks"), archive, sha256(b"source"))
        expect("one", one.release().returncode, 0)
        os.utime(os.path.join(two.top, "LICENSE"), (0, 0))
        os.chmod(os.path.join(two.top, "README.md"), 0o600)
        expect("two", two.release(umask=0o077).returncode, 0)
        files = one.out()
        expect("the same bytes", [n for n, d in two.out().items() if files.get(n) != d] + sorted(set(files) ^ set(two.out())), [])
        bom, program, line = archive_of(one, files)
        package(one)
        wheel(one, program)
        whole = bill(bom, program)
        tags(one, line)
    return finish("release" if whole else "release, but the SBOM was not held against its schema")


sys.exit(main())
