"""Writes the wheel `torch-tracegate`: one program, the Python module, the licences; the same input gives the same
bytes.

A build backend of its own (PEP 517), because the wheel holds a compiled program that no Python tool builds:

    scripts/release-wheel                   the release's wheels, from its static programs
    TRACEGATE_PROGRAM=PATH pip install .    a wheel for this machine, with a program that you built
    pip install torch-tracegate             where there is no wheel, this refuses and says what to do
"""
from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import struct
import sys
import tarfile
import time
import zipfile
from typing import Iterable, NamedTuple, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, MODULE = "torch-tracegate", "tracegate"
FILE = NAME.replace("-", "_")
PYTHON = ">=3.9"
OLDEST_ZIP = 315532800  # 1980-01-01, the first date that a zip can hold
REFUSAL = """torch-tracegate has no wheel for this platform: its program runs on Linux, x86-64 and arm64.
  macOS, Windows   Compare where the traces come from, on Linux: in CI, in WSL, or in a container
                   (docker run --platform linux/amd64 …).
  other Linux      Build the program from source (cmake --preset release), then
                   TRACEGATE_PROGRAM=PATH/tracegate pip install torch-tracegate
  an old pip       pip 20.3 or newer finds the wheel: python3 -m pip install --upgrade pip"""


class WheelError(Exception):
    """What was given makes no wheel."""


class Program(NamedTuple):
    """An executable: its bytes, and what its header says."""

    data: bytes
    machine: str
    is_static: bool


class File(NamedTuple):
    """A file of an archive."""

    path: str
    data: bytes
    is_executable: bool = False


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def read_program(path: str) -> Program:
    """An ELF program for Linux, 64 bits, little endian. It is static if no loader is asked for (PT_INTERP)."""
    data = read(path)
    if data[:6] != b"\x7fELF\x02\x01":
        raise WheelError(f"'{path}' is not a 64-bit Linux program")
    machine = {62: "x86_64", 183: "aarch64"}.get(struct.unpack_from("<H", data, 18)[0])
    if machine is None:
        raise WheelError(f"'{path}' is for a machine that has no wheel: x86_64 and aarch64 have one")
    at, size, n = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    types = [struct.unpack_from("<I", data, at + i * size)[0] for i in range(n)]
    return Program(data, machine, 3 not in types)


def tags(program: Program) -> list[str]:
    """A static program needs nothing but the kernel, so it runs beside any C library. Any other one runs where it was
    built."""
    if not program.is_static:
        return [f"linux_{program.machine}"]
    return sorted(f"{p}_{program.machine}" for p in ("manylinux_2_17", "manylinux2014", "musllinux_1_1"))


def project_file(name: str) -> str:
    """A file of the project: beside this one in a source distribution, above it in a checkout."""
    for folder in (HERE, os.path.dirname(HERE)):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise WheelError(f"{name} is not beside {__file__}")


def version() -> str:
    if os.path.exists(os.path.join(HERE, "PKG-INFO")):
        found = re.search(r"^Version: (\S+)$", read(os.path.join(HERE, "PKG-INFO")).decode(), re.M)
    else:
        found = re.search(r"^project\(tracegate VERSION ([0-9.]+) ", read(project_file("CMakeLists.txt")).decode(),
                          re.M)
    if not found:
        raise WheelError("no version in CMakeLists.txt or PKG-INFO")
    return found[1]


def metadata(licences: Iterable[str] = (), texts: Iterable[str] = ()) -> bytes:
    """`licences`: SPDX identifiers of what is linked into the program; `texts`: names of their files, beside our
    own."""
    expression = " AND ".join(["Apache-2.0", *sorted({x.replace("_", " ") for x in licences} - {"Apache-2.0"})])
    files = "".join(f"License-File: {name}\n" for name in ["LICENSE", *texts])
    head = f"""Metadata-Version: 2.4
Name: {NAME}
Version: {version()}
Summary: Tells a pull request whether it made a PyTorch program slower: a gate on profiler traces
License-Expression: {expression}
{files}Requires-Python: {PYTHON}
Keywords: pytorch,profiler,performance,regression,pytest,ci
Classifier: Environment :: Console
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Testing
Classifier: Typing :: Typed
Provides-Extra: tables
Requires-Dist: pandas; extra == "tables"
Description-Content-Type: text/markdown

"""
    return head.encode() + read(os.path.join(HERE, "README.md"))


def epoch() -> int:
    return max(OLDEST_ZIP, int(os.environ.get("SOURCE_DATE_EPOCH", OLDEST_ZIP)))


def module_files() -> list[File]:
    folder = os.path.join(HERE, MODULE)
    names = sorted(n for n in os.listdir(folder) if n.endswith(".py") or n == "py.typed")
    return [File(f"{MODULE}/{n}", read(os.path.join(folder, n))) for n in names]


def record(files: Iterable[File], itself: str) -> bytes:
    lines = []
    for f in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(f.data).digest()).rstrip(b"=").decode()
        lines.append(f"{f.path},sha256={digest},{len(f.data)}\n")
    return "".join([*lines, f"{itself},,\n"]).encode()


def write_zip(path: str, files: Iterable[File]) -> None:
    """Whole or not at all; dates and modes do not depend on the machine."""
    date = time.gmtime(epoch())[:6]
    part = path + ".part"
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for f in files:
            info = zipfile.ZipInfo(f.path, date)
            info.create_system = 3  # Unix: the modes below
            info.external_attr = (0o100755 if f.is_executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, f.data)
    os.replace(part, path)


def write_wheel(
    program: str, out: str, scripts: Iterable[str] = (), licence_files: Iterable[str] = (), licences: Iterable[str] = ()
) -> str:
    """The wheel of `program` in the folder `out`; its file name. `scripts` are installed beside the program."""
    it = read_program(program)
    licence_files = list(licence_files)
    info = f"{FILE}-{version()}.dist-info"
    bin_folder = f"{FILE}-{version()}.data/scripts"
    wheel = "Wheel-Version: 1.0\nGenerator: tracegate build_backend.py\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{t}\n" for t in tags(it))
    files = [
        *module_files(),
        File(f"{bin_folder}/tracegate", it.data, True),
        *(File(f"{bin_folder}/{rename(s)}", read(s), True) for s in scripts),
        File(f"{info}/METADATA", metadata(licences, map(os.path.basename, licence_files))),
        File(f"{info}/WHEEL", wheel.encode()),
        File(f"{info}/entry_points.txt", b"[pytest11]\ntracegate = tracegate.pytest_plugin\n"),
        File(f"{info}/licenses/LICENSE", read(project_file("LICENSE"))),
        *(File(f"{info}/licenses/{os.path.basename(f)}", read(f)) for f in licence_files),
    ]
    name = f"{FILE}-{version()}-py3-none-{'.'.join(tags(it))}.whl"
    write_zip(os.path.join(out, name), [*files, File(f"{info}/RECORD", record(files, f"{info}/RECORD"))])
    return name


def rename(script: str) -> str:
    """scripts/ab is installed as tracegate-ab."""
    return "tracegate-" + os.path.basename(script).removeprefix("tracegate-")


def write_sdist(out: str) -> str:
    """The module and this file: what pip takes where no wheel fits, to refuse in words."""
    root = f"{FILE}-{version()}"
    own = [File(n, read(os.path.join(HERE, n))) for n in ("README.md", "build_backend.py", "pyproject.toml")]
    files = [*own, File("LICENSE", read(project_file("LICENSE"))), File("PKG-INFO", metadata()), *module_files()]
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for f in files:
            member = tarfile.TarInfo(f"{root}/{f.path}")
            member.size, member.mtime, member.mode = len(f.data), epoch(), 0o644
            archive.addfile(member, io.BytesIO(f.data))
    name = f"{root}.tar.gz"
    with open(os.path.join(out, name + ".part"), "wb") as file:
        file.write(gzip_bytes(data.getvalue()))
    os.replace(os.path.join(out, name + ".part"), os.path.join(out, name))
    return name


def gzip_bytes(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 9, mtime=0)


# ---- PEP 517 ----


def build_wheel(wheel_directory: str, config_settings: Optional[dict[str, str]] = None,
                metadata_directory: Optional[str] = None) -> str:
    program = os.environ.get("TRACEGATE_PROGRAM")
    try:
        if not program:
            raise WheelError(REFUSAL)
        return write_wheel(program, wheel_directory)
    except (OSError, WheelError) as error:
        sys.exit(f"error: {error}")


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, str]] = None) -> str:
    return write_sdist(sdist_directory)
