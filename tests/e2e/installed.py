"""The wheel of this build's program in virtual environments without network: for the scripts that test what is installed."""
import functools
import os
import subprocess
import sys
import tempfile

from support import ENV, PROGRAM, ROOT, expect, skip

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
STUB = os.path.join(ROOT, "tests/data/torch_stub")
CLEAN = {k: v for k, v in ENV.items() if k != "CI" and not k.startswith(("PYTHON", "PYTEST_", "PIP_", "VIRTUAL_ENV"))}
CLEAN.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONDONTWRITEBYTECODE="1")
folders = []


def command(*args, env=CLEAN, **more):
    return subprocess.run(args, capture_output=True, text=True, env=env, check=False, **more)


def wheel(out, program=PROGRAM, *more):
    os.makedirs(out, exist_ok=True)
    done = command(os.path.join(ROOT, "scripts/release-wheel"), *more, program, out)
    expect(f"release-wheel: {done.stderr}", done.returncode, 0)
    return [os.path.join(out, n) for n in done.stdout.split()]


def environment(folder, *more):
    """An empty virtual environment; its folder of programs."""
    done = command(PYTHON, "-m", "venv", *more, folder)
    if done.returncode:
        skip(f"python3-venv is missing: {done.stdout[-300:]}{done.stderr[-300:]}")
    return folder + "/bin/"


@functools.lru_cache
def prepared(*more):
    """An environment with the wheel in it, for those that only use it."""
    kept = tempfile.TemporaryDirectory()
    folders.append(kept)  # until the script ends
    bin_ = environment(kept.name + "/venv", *more)
    install(bin_, *wheel(kept.name + "/dist", PROGRAM, "--local"))
    return bin_


def install(bin_, *what, code=0, env=CLEAN):
    done = command(bin_ + "pip", "install", "--no-index", *what, env=env)
    expect(f"pip install {what}: {done.stdout[-500:]} {done.stderr[-1500:]}", done.returncode, code)
    return done.stdout + done.stderr


def python(bin_, text, cwd, *paths, **environ):
    """Runs a script in the environment, with PyTorch's stand-in or what `paths` names in front."""
    return command(bin_ + "python", "-c", text, cwd=cwd, env=dict(CLEAN, PYTHONPATH=":".join(paths), **environ))
