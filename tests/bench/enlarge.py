#!/usr/bin/env python3
"""Traces of any size: enlarge.py LAYOUT|SEED.json[.gz] MEGABYTES OUT

LAYOUT is K (Kineto's own with Python functions), D (Kineto's own with shapes and flow events), C
(`json.dump` on one line) or P (`indent=2`), written here from a fixed seed for machines without real
traces. A SEED file's layout is kept. The events are repeated whole, each time with `ts`, `id`,
`correlation` and `External id` shifted, metadata events once, separators as they are, so that the
result is a valid trace of a longer run; everything else keeps its place.
"""
import gzip
import json
import random
import re
import sys

SHIFTED = re.compile(r'("(?:ts|id|correlation|External id)": ?)(\d+)')


def events_of(text):
    """(before the first event, [events], [what is between them], after the last)."""
    start = text.index("[", text.index('"traceEvents"')) + 1
    decode, events, between = json.JSONDecoder().raw_decode, [], []
    at = text.index("{", start)
    head = text[:at]
    while True:
        _, end = decode(text, at)
        events.append(text[at:end])
        follow = re.compile(r"\s*,\s*(?=\{)").match(text, end)
        if not follow:
            return head, events, between, text[end:]
        between.append(follow.group())
        at = follow.end()


def pieces_of(events, separator):
    """The repeated part as literals and numbers: [literal, (number, kind), literal, ...]."""
    text = "".join(e + separator for e in events)
    literals, numbers, at = [], [], 0
    for m in SHIFTED.finditer(text):
        literals.append(text[at:m.end(1)])
        numbers.append((int(m[2]), "ts" in m[1]))
        at = m.end()
    return literals, numbers, text[at:]


def write(seed, size, out):
    head, events, between, tail = events_of(seed)
    separator = max(set(between), key=between.count) if between else ", "
    once = [e for e in events if re.match(r'\{\s*"(?:name"[^,]*,\s*")?ph": ?"M"', e)]
    metadata = set(once)
    again = [e for e in events if e not in metadata]
    literals, numbers, rest = pieces_of(again, separator)
    times = [n for n, is_time in numbers if is_time]
    span = max(times) - min(times) + 1
    step = max((n for n, is_time in numbers if not is_time), default=0) + 1
    written = len(head) + len(tail)
    out.write(head)
    for e in once:
        out.write(e + separator)
        written += len(e)
    k = 0
    while True:
        body = "".join(part for pair in zip(literals, (str(n + k * (span if is_time else step))
                                                       for n, is_time in numbers)) for part in pair) + rest
        written += len(body)
        k += 1
        if written >= size:
            out.write(body[:-len(separator)])
            break
        out.write(body)
    out.write(tail)


# ---- seeds for machines without real traces ------------------------------------------------------

def python_event(r, i):
    return {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(%d): _call" % (i * 7 % 311),
            "pid": 851, "tid": 851, "ts": 1661203400000000 + 3 * i + i % 8 / 8, "dur": r.randrange(9000) / 1000,
            "args": {"Python parent id": i // 2, "Python id": i, "Ev Idx": i}}


def operator_events(r, i):
    ts = 1661203400000000 + 20 * i
    yield {"ph": "X", "cat": "cpu_op", "name": "aten::op_%d" % (i * 5 % 97), "pid": 3113936, "tid": 3113936, "ts": ts,
           "dur": r.randrange(40), "args": {"External id": i, "Input Dims": [[r.randrange(1, 30) * 8, 1024], [979, 1024], []],
                                            "Input type": ["long", "int", "Scalar"], "Call stack": ""}}
    if i % 3 == 0:
        yield {"ph": "X", "cat": "kernel", "name": "void kernel_%d<float, 4>(float*, int)" % (i % 41), "pid": 0, "tid": 7,
               "ts": ts + 9, "dur": r.randrange(2, 60), "args": {"External id": i, "device": 0, "stream": 7, "correlation": i,
                                                                "grid": [r.randrange(1, 99), 1, 1], "block": [128, 1, 1]}}
        yield {"ph": "s", "id": i, "pid": 3113936, "tid": 3113936, "ts": ts, "cat": "ac2g", "name": "ac2g"}
        yield {"ph": "f", "id": i, "pid": 0, "tid": 7, "ts": ts + 9, "cat": "ac2g", "name": "ac2g", "bp": "e"}


def kineto(event):
    """As the profiler's own writer spells an event."""
    args = event.pop("args", None)
    text = '{\n    ' + ", ".join(f'"{k}": {json.dumps(v) if k not in ("ts", "dur") else spelled(v)}'
                                 for k, v in event.items())
    if args is not None:
        text += ',\n    "args": {\n      ' + ", ".join(f'"{k}": {json.dumps(v)}' for k, v in args.items()) + "\n    }"
    return text + "\n  }"


def spelled(number):
    return f"{number:.3f}" if isinstance(number, float) else str(number)


def seed_of(layout):
    r = random.Random(1)
    if layout == "K":
        events = [e for i in range(20000) for e in ([python_event(r, i), *(operator_events(r, i) if i % 10 == 0 else ())])]
    else:
        events = [e for i in range(12000) for e in operator_events(r, i)]
    document = {"schemaVersion": 1, "traceEvents": events}
    if layout == "C":
        return json.dumps(document)
    if layout == "P":
        return json.dumps(document, indent=2)
    return '{\n  "schemaVersion": 1,\n  "traceEvents": [\n  ' + ",\n  ".join(map(kineto, events)) + "\n  ]\n}\n"


def text_of(seed):
    """A layout's letter, a path, or C:PATH: that trace on one line."""
    if seed in ("K", "D", "C", "P"):
        return seed_of(seed)
    path = seed.removeprefix("C:")
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    return json.dumps(json.loads(text)) if seed != path else text


def enlarge(seed, megabytes, path):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        write(text_of(seed), int(megabytes * 1e6), f)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    enlarge(sys.argv[1], float(sys.argv[2]), sys.argv[3])
