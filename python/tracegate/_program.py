"""The program: where it is, and one call of it."""
from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sysconfig
from typing import Any, Iterator, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]
NAME = "tracegate"
DISTRIBUTION = "torch-tracegate"
MISSING = (
    "the program tracegate is not here: install the wheel torch-tracegate (Linux on x86-64 or arm64), "
    "or build tracegate from source and set TRACEGATE_PROGRAM to its path"
)


class ProgramError(RuntimeError):
    """The program refused, or could not be run. `exit_code` is its exit code (None: it did not run)."""

    def __init__(self, message: str, exit_code: Optional[int] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def _candidates() -> Iterator[str]:
    """What the wheel installed first, wherever pip put it; PATH last, where another tracegate may be."""
    try:
        for file in importlib.metadata.files(DISTRIBUTION) or []:
            if file.name == NAME:
                yield str(file.locate())
    except importlib.metadata.PackageNotFoundError:
        pass
    yield os.path.join(sysconfig.get_path("scripts"), NAME)
    # pip install --target DIR moves scripts to DIR/bin
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", NAME)
    yield shutil.which(NAME) or ""


def program() -> str:
    """The path of the program: TRACEGATE_PROGRAM, else the installed one."""
    given = os.environ.get("TRACEGATE_PROGRAM")
    if given:
        if not os.access(given, os.X_OK):
            raise ProgramError(f"TRACEGATE_PROGRAM is '{given}', which is not a program")
        return given
    for path in _candidates():
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise ProgramError(MISSING)


def run(
    *args: Path, ok: Sequence[int] = (0,), cwd: Optional[Path] = None, env: Optional[dict[str, str]] = None
) -> subprocess.CompletedProcess[str]:
    """Runs `tracegate ARGS`. An exit code that is not in `ok` raises ProgramError with what the program said."""
    command = [program(), *(os.fspath(a) for a in args)]
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        check=False
    )
    if done.returncode not in ok:
        said = done.stderr.strip() or done.stdout.strip() or "it said nothing"
        raise ProgramError(f"tracegate {' '.join(command[1:2])}: exit code {done.returncode}: {said}", done.returncode)
    return done


def rows(*args: Path) -> list[dict[str, Any]]:
    """The rows that a command prints as JSON."""
    found = json.loads(run(*args, "--format", "json").stdout)["rows"]
    return list(found)
