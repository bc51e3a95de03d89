"""What the lints share: the files of the tree, and the frame of a check that proves first that it can fail."""
import os
import subprocess
import sys

ROOT = os.environ.get("TG_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCES = ("core/", "policy/", "reporters/", "cmd/")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def files():
    """Paths of what git tracks or could track, and what is still there."""
    git = ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
    listed = set(subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\n")) - {""}
    return sorted(f for f in listed if os.path.exists(os.path.join(ROOT, f)))


def sources():
    """The C files of the program."""
    return [f for f in files() if f.startswith(SOURCES) and f.endswith((".c", ".h"))]


def run(name, looked_at, faults, injected, least, good):
    """Exit code of a lint. `faults` are those of `looked_at` things, of which there must be `least`; each of
    `injected`, (what, its faults), must have some, or the check cannot fail."""
    for what, seen in injected:
        if not list(seen):
            sys.exit(f"{name}: the check does not see {what!r}")
    found = list(faults)
    print("\n".join(found) or f"{name}: {looked_at} {good}")
    return 1 if found or looked_at < least else 0
