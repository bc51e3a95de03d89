#!/usr/bin/env python3
"""The reader for 64-bit ARM, built here and run under qemu: arm64 BENCH BUILD

core/base and core/trace without cJSON and decompressors, static, with what runs on them: the NEON
kernels against their definition, the fast path against the generic one (tests of the suite,
unchanged), and the reader of tests/bench over made and recorded traces and the inputs of the fuzz targets, whose every line must
be what BENCH (the same program for this machine) prints. BUILD is where objects go. Needs gcc-aarch64-linux-gnu,
libc6-dev-arm64-cross and qemu-user-static; without them it is skipped, but fails where CI is set.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["TG_SOURCE_DIR"]
sys.path.append(SOURCE + "/tests/data")
from plain_model import usual, write_run  # noqa: E402
CORPUS = os.path.join(os.environ["TG_SHARED_DIR"], "corpus", "traces")
ISAS = ("neon", "c", "generic")
LEFT_OUT = ("core/base/doc.c", "core/base/sha256.c", "core/trace/inflate_zlib.c")  # cJSON, libmd, zlib
LARGEST = 1000000  # bytes of a real trace: qemu is some twenty times slower


def tool(*names):
    found = next((shutil.which(n) for n in names if shutil.which(n)), None)
    if found:
        return found
    print(f"{names[0]} is missing (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)")
    sys.exit(1 if os.environ.get("CI") else 77)


def run(*command, **more):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if r.returncode:
        sys.stdout.write(r.stdout.decode(errors="replace"))
        print("FAILED:", " ".join(command), "exit", r.returncode)
        sys.exit(1)
    return r.stdout


class Build:
    def __init__(self, folder):
        self.cc = [tool("aarch64-linux-gnu-gcc")]
        if shutil.which("ccache"):
            self.cc.insert(0, "ccache")
        self.flags = ["-std=c11", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread",
                      "-D_GNU_SOURCE", '-DTG_VERSION="cross"', '-DTG_SOURCE_DIR="/nowhere"',
                      '-DTG_SHARED_DIR="/nowhere"', "-I" + SOURCE, "-I" + SOURCE + "/tests/cross"]
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def object(self, source, name=None, *flags):
        out = os.path.join(self.folder, (name or source).replace("/", "_") + ".o")
        run(*self.cc, *self.flags, *flags, "-c", os.path.join(SOURCE, source), "-o", out)
        return out

    def program(self, name, objects):
        out = os.path.join(self.folder, name)
        run(*self.cc, "-static", "-pthread", *objects, "-lm", "-o", out)
        return out


def programs(folder):
    b = Build(folder)
    sources = [os.path.relpath(p, SOURCE) for room in ("base", "trace")
               for p in sorted(glob.glob(f"{SOURCE}/core/{room}/*.c"))]
    sources = [s for s in sources if s not in LEFT_OUT] + ["tests/cross/no_zlib.c"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rooms = list(pool.map(b.object, sources))
    registry = b.object("tests/registry.c")
    kernels = [b.object("tests/core/trace/kernel.c", "kernel_" + isa, "-DTG_ISA=" + isa,
                        f'-DTG_ISA_FILE="core/trace/shape_{isa}.c"') for isa in ("c", "neon")]
    tests = [b.program("test_kernels", [b.object("tests/core/trace/test_kernels.c"), registry, *kernels, *rooms])]
    for name in ("test_shape", "test_kind"):
        tests.append(b.program(name, [b.object(f"tests/core/trace/{name}.c"), registry, *rooms]))
    return tests, b.program("bench_reader", [b.object("tests/bench/reader.c"), *rooms])


def traces(tmp):
    """A made one of a device, inputs of the fuzz targets, and recorded ones, unpacked: of the repository, and of the corpus where it is there."""
    write_run(tmp + "/device.json", [usual()] * 3, 1)
    yield tmp + "/device.json"
    yield from sorted(glob.glob(SOURCE + "/tests/fuzz/corpus/events/*.json") + glob.glob(SOURCE + "/tests/fuzz/corpus/split/*"))
    recorded = glob.glob(SOURCE + "/examples/traces/*/run00.json.gz") + glob.glob(SOURCE + "/tests/planted/traces/base-*-0.json.gz")
    for i, packed in enumerate(sorted(recorded + glob.glob(CORPUS + "/*/*/*.json.gz"))):
        if os.path.getsize(packed) > LARGEST / 10:
            continue
        path = f"{tmp}/real{i}.json"
        with open(path, "wb") as f:
            subprocess.run(["gzip", "-dc", packed], stdout=f, check=True)
        if os.path.getsize(path) <= LARGEST:
            yield path
        os.remove(path)


def says(command, isa):
    r = subprocess.run(command, capture_output=True, env={**os.environ, "TRACEGATE_ISA": isa})
    return r.returncode, r.stdout, r.stderr


def main():
    bench, folder = sys.argv[1:3]
    qemu = tool("qemu-aarch64-static", "qemu-aarch64")
    tests, arm = programs(folder)
    for test in tests:
        out = run(qemu, test).decode()
        print(os.path.basename(test) + ":", out.count("passed: "), "passed")
        if "kernels" in test and "kernels: neon" not in out:
            sys.exit("FAILED: the NEON kernels were not tested")
        if "passed: " not in out:
            sys.exit("FAILED: nothing was tested")
    n = refused = 0
    with tempfile.TemporaryDirectory() as tmp:
        for path in traces(tmp):
            for mode in ("totals", "facts"):
                want = says([bench, mode, path], "generic")
                for isa in ISAS:
                    if says([qemu, arm, mode, path], isa) != want:
                        sys.exit(f"FAILED: {os.path.basename(path)}, {mode}, {isa}: not as on this machine")
            n += 1
            refused += want[0] != 0
    print(f"{n} traces, {refused} of them refused, read alike with {', '.join(ISAS)}")
    if n - refused < 10 or not refused:
        sys.exit("FAILED: too few traces, or none that is refused")


if __name__ == "__main__":
    main()
