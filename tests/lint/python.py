#!/usr/bin/env python3
"""The Python module as its users' tools see it: types by mypy (strict), style by flake8. Each tool is first shown a fault."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ["TG_SOURCE_DIR"]
MODULE = os.path.join(ROOT, "python")
FAULTY = "import os\n\n\ndef half(n: int) -> str:\n    return n / 2\n"


def mypy(folder, *more):
    with tempfile.TemporaryDirectory() as cache:
        config = os.path.join(MODULE, "pyproject.toml")
        return subprocess.run(["mypy", "--config-file", config, "--cache-dir", cache, *more], cwd=folder, capture_output=True, text=True, check=False)


def flake8(folder):
    return subprocess.run(["flake8", "--isolated", "--max-line-length", "120", folder], capture_output=True, text=True, check=False)


def main():
    missing = [tool for tool in ("mypy", "flake8") if not shutil.which(tool)]
    if missing:
        print(f"python: {' and '.join(missing)} missing" + (" (CI must have it)" if os.environ.get("CI") else ": skipped"))
        return 1 if os.environ.get("CI") else 77
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "faulty.py"), "w", encoding="utf-8") as file:
            file.write(FAULTY)
        if "[return-value]" not in mypy(folder, "faulty.py").stdout or "F401" not in flake8(folder).stdout:
            print("python: mypy or flake8 does not see a fault")
            return 1
    failed = 0
    for name, done in (("mypy", mypy(MODULE)), ("flake8", flake8(MODULE))):
        if done.returncode:
            print(f"{name}:\n{done.stdout}{done.stderr}")
            failed = 1
    print("python: types and style" + (" are wrong" if failed else " hold"))
    return failed


sys.exit(main())
