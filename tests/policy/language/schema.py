#!/usr/bin/env python3
"""The published schema says what the loader says: it accepts every policy that loads (samples, the
built-in one, the manual's) and refuses those whose mistake is one of shape."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

TOOL = os.environ["TG_POLICY_TOOL"]
ROOT = os.environ["TG_SOURCE_DIR"]
# Mistakes of one value at one place; what takes two values to see is the loader's alone.
SHAPE = {101, 102, 104, 105, 106, 109}
# A schema cannot see these: a form inside a text, a number that YAML 1.2 reads itself, two metrics.
DEEPER = ("window(§0)", "§release()", "ref: §release", "ref: §window", "0x10", "rank: §each", "window: {by: trace, name")


def tool(*args):
    return subprocess.run([TOOL, *args], check=True, capture_output=True, text=True).stdout


def policies():
    """The files of the repository and the examples of the manual."""
    yield os.path.join(ROOT, "policy/language/defaults.yml")
    yield from sorted(glob.glob(os.path.join(ROOT, "examples/policy*.yml")))
    blocks = []
    for page in ("docs/policy.md", "docs/metrics.md"):
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            blocks += re.findall(r"^```yaml\n(.*?)^```", f.read(), re.M | re.S)
    for block in blocks:
        with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as f:
            f.write(block if block.startswith("version:") else "version: 1\n" + block)
            f.flush()
            yield f.name


def main():
    schema = json.loads(tool("schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    faults = accepted = refused = 0
    for line in filter(None, tool("samples").split("\n")):
        sample = json.loads(line)
        if sample["good"] is not None:
            accepted += 1
            for e in validator.iter_errors(sample["good"]):
                faults += 1
                print("refuses a policy that loads:", e.json_path, e.message, sample["good"])
        if sample["code"] in SHAPE and sample["bad"] is not None and not any(d in sample["text"] for d in DEEPER):
            refused += 1
            if validator.is_valid(sample["bad"]):
                faults += 1
                print("accepts a policy that does not load:", sample["code"], sample["bad"])
    for path in policies():
        document = json.loads(tool("json", path))["document"]
        accepted += 1
        for e in validator.iter_errors(document):
            faults += 1
            print(path, e.json_path, e.message)
    print(f"{accepted} accepted, {refused} refused, {faults} faults")
    return 1 if faults or accepted < 50 or refused < 20 else 0


sys.exit(main())
