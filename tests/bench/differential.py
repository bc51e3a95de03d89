#!/usr/bin/env python3
"""Mutated traces, read by the reader and by Python's json: differential DRIVER [--traces N] [--seed S]

Each trace is written in one of the profiler's layouts (or cut out of a real one of ../shared), then
damaged zero to four times: bytes, tokens, pieces. Python's json with exact decimals and the rules
of docs/metrics.md, in a few lines that share nothing with the reader, says whether a strict reader
takes the text and what count and total each (category, name) has. DRIVER (tests/bench/differential.c)
says it for the reader: by all of its paths, windows from 1 byte up. Any difference is printed with
its text and ends the run with 1. N: 100,000; S: 1.
"""
import argparse
import decimal
import glob
import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys

CORPUS = os.path.join(os.environ.get("TG_SHARED_DIR", "../shared"), "corpus", "traces")
INT64 = range(-2**63, 2**63)
EXACT = decimal.Context(prec=2000, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
BATCH = 1000  # texts to one process of the driver
DEPTH = 128  # limits.h: nesting that is accepted


# ---- the oracle ----------------------------------------------------------------------------------

class Refused(Exception):
    pass


class Number(str):
    """A number's text as it is in the file."""


def integer(text):
    if int(text) not in INT64:
        raise Refused("an integer beyond 2^63")
    return Number(text)


def constant(text):
    raise Refused(text)


class Pairs(list):
    """An object's members, repeated keys kept."""

    def last(self, key):
        return next((v for k, v in reversed(self) if k == key), None)


def depth_of(text):
    """Of JSON that is valid; texts are skipped."""
    depth = most = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        depth += (token in "[{") - (token in "]}")
        most = max(most, depth)
    return most


def ns_of(value):
    """Microseconds to ns, half to even; None: absent."""
    if value is None:
        return None
    if not isinstance(value, Number):
        raise Refused("a time that is no number")
    try:
        ns = int(EXACT.to_integral_value(EXACT.multiply(EXACT.create_decimal(value), 1000))
                 if abs(EXACT.create_decimal(value).adjusted()) < 1000 else
                 0 if EXACT.create_decimal(value).adjusted() < 0 or not EXACT.create_decimal(value)
                 else 2**64)
    except decimal.DecimalException:
        raise Refused("a time beyond everything") from None
    if ns not in INT64:
        raise Refused("a time outside 292 years")
    return ns


def plain(text):
    """What a name reads as: a lone surrogate becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def text_of(value):
    """A name or a pid; None: absent. Anything but text counts as it is written."""
    if value is None:
        return None
    if isinstance(value, Number):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, str):
        return plain(value)
    raise NotImplementedError  # how an array is written is not kept


def events_of(document):
    if isinstance(document, Pairs):
        arrays = [v for k, v in document if k == "traceEvents" and type(v) is list]
        if len(arrays) != 1:
            raise Refused("no traceEvents, or two")
        document = arrays[0]
    if type(document) is not list:
        raise Refused("neither object nor array")
    if any(not isinstance(e, Pairs) for e in document):
        raise Refused("an event that is no object")
    return document


def close(opened, end):
    """The innermost open mark that `end` can mean."""
    for i in reversed(range(len(opened))):
        begin = opened[i]
        if (end["name"] is None or begin["key"] == end["key"] or
                (end["cat"] is None and begin["key"] and begin["key"][1] == end["key"][1])):
            return opened.pop(i)
    return None


def match(marks, add):
    """B and E of one thread. Of one instant: ends close what was open, named ones first; begins open;
    ends that are left close those."""
    opened = []
    for ts in sorted({m["ts"] for m in marks}):
        now = [m for m in marks if m["ts"] == ts]
        ends = sorted((m for m in now if m["end"]),
                      key=lambda m: (m["key"] is None, m["key"] or (), m["index"]))
        begins = sorted((m for m in now if not m["end"]),
                        key=lambda m: (m["key"] is None, m["key"] or (), m["index"]))
        left = []
        for named in (True, False):
            for end in ends:
                if (end["name"] is not None) != named:
                    continue
                begin = close(opened, end)
                if begin:
                    add(begin["key"] or end["key"] or (b"", b""), ts - begin["ts"])
                else:
                    left.append(end)
        left.sort(key=ends.index)
        fresh = begins[:]
        for end in left:
            begin = close(fresh, end)
            if begin:
                add(begin["key"] or end["key"] or (b"", b""), 0)
        opened += fresh


def oracle(text):
    """{(category, name): (count, ns)}; raises Refused, or NotImplementedError: nothing to compare."""
    try:
        text = text.decode()
        document = json.loads(text, parse_int=integer, parse_float=Number, parse_constant=constant,
                              object_pairs_hook=Pairs)
    except RecursionError:
        raise Refused("too deep") from None
    except ValueError as e:
        raise Refused(str(e)) from None
    if depth_of(text) > DEPTH:
        raise Refused("too deep")
    rows, threads, vague = {}, {}, False
    any_event = any_name = type(document) is not list or not document

    def add(key, ns):
        count, total = rows.get(key, (0, 0))
        rows[key] = count + 1, (total + ns + 2**63) % 2**64 - 2**63

    for index, e in enumerate(events_of(document)):
        ts, dur, ph = ns_of(e.last("ts")), ns_of(e.last("dur")), e.last("ph")
        ph = plain(ph)[:1] if type(ph) is str else b""
        any_event = any_event or bool(ph) or (ts is not None and dur is not None)
        try:
            cat, name, pid, tid = (text_of(e.last(k)) for k in ("cat", "name", "pid", "tid"))
        except NotImplementedError:
            vague = True
            continue
        key = None if cat is None and name is None else (cat or b"", name or b"")
        any_name = any_name or key is not None
        if ph in (b"X", b"", b"\0") and ts is not None and dur is not None:
            add(key or (b"", b""), dur)
        elif ph in (b"B", b"E") and ts is not None:
            threads.setdefault((pid or b"", tid or b""), []).append(
                {"ts": ts, "end": ph == b"E", "cat": cat, "name": name, "key": key, "index": index})
    for marks in threads.values():
        match(marks, add)
    if vague:
        raise NotImplementedError
    if not any_event or not any_name:
        raise Refused("a list of objects, none of them an event, or none with a name")
    return rows


# ---- traces --------------------------------------------------------------------------------------

NAMES = ["aten::mm", "void k<float>(int*)", "", "a \\\"b\\\"", "\\u00e9\\ud83d\\ude00", "\u00e9\u4e2d", "n\\/m",
         "cudaLaunchKernel", "ProfilerStep#3", "C:\\\\code\\\\x.py(3): f", "torch/nn/module.py(1501): _call_impl"]
CATS = ["cpu_op", "kernel", "python_function", "cuda_runtime", "", "ac2g"]
LAYOUTS = [  # between members, after the colon, between events, around
    ('{%s\n  }', ', ', ': ', ',\n  '),  # Kineto
    ('{%s}', ', ', ': ', ', '),  # json.dump
    ('\n    {\n      %s\n    }', ',\n      ', ': ', ','),  # indent=2
    ('{%s}', ',', ':', ','),  # smallest
]


def event(r, layout):
    form, comma, colon, _ = layout
    ph = r.choice(["X"] * 6 + ["B", "E", "B", "E", "M", "i", "s", "f"])
    ts = str(r.randrange(10**6)) if r.random() < .4 else "16612034%08d" % r.randrange(10**4)
    if r.random() < .5:
        ts += ".%03d" % r.randrange(1000)
    members = [("ph", f'"{ph}"'), ("cat", f'"{r.choice(CATS)}"'), ("name", f'"{r.choice(NAMES)}"'),
               ("pid", r.choice(["1", "2", '"1"', '"Spans"'])), ("tid", r.choice(["1", "7", '"stream 7"'])),
               ("ts", ts)]
    if ph == "X" or r.random() < .1:
        members.append(("dur", str(r.randrange(1000)) + r.choice(["", "", ".5", ".125"])))
    if r.random() < .7:
        members.append(("args", r.choice([
            f'{{"External id"{colon}{r.randrange(99)}, "Input Dims"{colon}[[32, 64], [64], []], "T"{colon}["float", ""]}}',
            f'{{\n      "Python id"{colon}{r.randrange(9999)}, "Python parent id"{colon}{r.choice(["null", "7"])}\n    }}',
            f'{{"stream"{colon}{r.choice(["7", "-1", "null"])}, "grid"{colon}[{r.randrange(9)}, 1, 1], "o"{colon}0.25}}',
            "{}", "[]", "5"])))
    if r.random() < .1:
        r.shuffle(members)
    if r.random() < .05:
        members.append(r.choice(members))
    if r.random() < .05:
        members.pop(r.randrange(len(members)))
    return form % comma.join(f'"{k}"{colon}{v}' for k, v in members)


def generated(r):
    layout = r.choice(LAYOUTS)
    events = layout[3].join(event(r, layout) for _ in range(r.choice([0, 1, 3, 8, 20, 40])))
    return around(r, events).encode()


def around(r, events):
    return r.choice(["[%s]", '{"schemaVersion": 1, "traceEvents": [\n  %s\n], "a": {"b": [1, 2.5e3, "]"]}}\n',
                     '{"traceEvents": [%s]}', ' {\n"x": null,\n"traceEvents" :[ %s ]\n}\n']) % events


def real_events():
    """Pieces of real traces: thirty events from the middle of each."""
    pieces = []
    for path in sorted(glob.glob(CORPUS + "/*/*/*.json.gz")):
        if os.path.getsize(path) > 400000:
            continue
        with gzip.open(path, "rb") as f:
            text = f.read().decode(errors="replace")
        starts = [m.start() for m in re.finditer(r'\{\s*"(?:ph|name|args)"', text)]
        decode = json.JSONDecoder().raw_decode
        found = []
        for at in starts[len(starts) // 2:]:
            if found and at < found[-1][1]:
                continue
            try:
                _, end = decode(text, at)
            except ValueError:
                continue
            found.append((at, end))
            if len(found) == 30:
                break
        if found:
            pieces.append(text[found[0][0]:found[-1][1]])
    return pieces


# ---- damage --------------------------------------------------------------------------------------

BYTES = b'"\\{}[],:0123456789.-+eEtrufalsn \n\t\r\x00\x01\x1f\x7f\xff\xc3\xa9\xed\xa0\x80\xf4\x90/NIab'
TOKENS = [b"0", b"-0", b"01", b"1.", b".5", b"+1", b"1e", b"1e3", b"1E+2", b"1e-9", b"0.1234567", b"2.0005", b"2.00050001",
          b"-7", b"-0.0004", b"9223372036854775.807", b"9223372036854775.808", b"9223372036854775807",
          b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809", b"1e400", b"-1e-400", b"1e15", b"9.3e15",
          b"123456789012345678901234567890", b"NaN", b"Infinity", b"-Infinity", b"nan", b"inf", b"true", b"false", b"null",
          b"tru", b"nul", b'""', b'"x"', b'"\\u0041"', b'"\\u12"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\x"', b'"C:\\code"',
          b'"a\tb"', b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xef\xbf\xbf"', b"[]", b"{}", b"[[]]",
          b'{"a":{"a":1}}', b'"B"', b'"E"', b'"X"', b'"Xy"', b"'x'", b"/**/1", b"1,", b",1", b"[1,]", b'{"a":1,}', b'{"a"}', b"\xef\xbb\xbf1"]
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')


def damage(r, text):
    text = bytearray(text)
    how = r.randrange(10)
    at = r.randrange(len(text))
    if how < 2:
        text[at:at + 1] = bytes([r.choice(BYTES)])
    elif how == 2:
        del text[at]
    elif how == 3:
        text[at:at] = bytes([r.choice(BYTES)])
    elif how < 7:
        found = list(TOKEN.finditer(text))
        if found:
            m = r.choice(found)
            text[m.start():m.end()] = r.choice(TOKENS)
    elif how == 7:
        n = r.randrange(200)
        piece = text[at:at + n]
        to = r.randrange(len(text))
        text[to:to + r.choice([0, n])] = piece
    elif how == 8:
        found = [m for m in TOKEN.finditer(text)]
        if found and r.random() < .5:
            m, n = r.choice(found), r.choice([1, 120, 123, 124, 125, 126, 127, 128, 129, 2000])
            text[m.start():m.end()] = b"[" * n + b"]" * n
        else:
            found = [m.start() for m in re.finditer(rb'[,:\[\]{}]', text)]
            if found:
                text[(p := r.choice(found)):p + r.choice([0, 1])] = r.choice([b" ", b",", b":", b"", b"\n\t\r ", b"]", b"}"])
    elif r.random() < .3:
        del text[at:]
    return bytes(text)


# ---- the whole -----------------------------------------------------------------------------------

def ask(driver, batch):
    """[(text, window)] -> [(verdict, answer)]"""
    text = b"".join(struct.pack("<II", len(t), w) + t for t, w in batch)
    out = subprocess.run([driver], input=text, stdout=subprocess.PIPE, check=True).stdout
    answers, at = [], 0
    while at < len(out):
        n, = struct.unpack_from("<I", out, at + 1)
        answers.append((chr(out[at]), out[at + 5:at + 5 + n]))
        at += 5 + n
    if len(answers) != len(batch):
        sys.exit(f"{driver} answered {len(answers)} of {len(batch)} texts")
    return answers


def rows_of(answer):
    rows, at = {}, 0
    while at < len(answer):
        key = []
        for _ in range(2):
            n, = struct.unpack_from("<I", answer, at)
            key.append(answer[at + 4:at + 4 + n])
            at += 4 + n
        rows[tuple(key)] = struct.unpack_from("<Qq", answer, at)
        at += 16
    return rows


def mutated(r, real):
    text = around(r, r.choice(real)).encode() if real and r.random() < .1 else generated(r)
    for _ in range(r.choice([0, 1, 1, 1, 2, 2, 4])):
        text = damage(r, text) if text else text
    return text, r.choice([1, 2, 3, 7, 64, r.randrange(1, 300), r.randrange(1, 5000), 0])


def compare(text, verdict, answer, seen):
    """None, or what Python says."""
    try:
        want = oracle(text)
    except Refused as e:
        seen["refused"] += 1
        return None if verdict in "0L" else e
    except NotImplementedError:
        seen["vague"] += 1
        return None if verdict == "1" else "fine"
    seen["taken"] += 1
    return None if verdict == "1" and rows_of(answer) == want else want


def main():
    asked = argparse.ArgumentParser(usage=__doc__)
    asked.add_argument("driver")
    asked.add_argument("--traces", type=int, default=100000)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    r = random.Random(given.seed)
    real = real_events()
    seen = {"taken": 0, "refused": 0, "vague": 0}
    for start in range(0, given.traces, BATCH):
        batch = [mutated(r, real) for _ in range(min(BATCH, given.traces - start))]
        for i, ((text, window), (verdict, answer)) in enumerate(zip(batch, ask(given.driver, batch))):
            want = compare(text, verdict, answer, seen)
            if want is not None:
                print(f"trace {start + i} of seed {given.seed}, window {window}: the reader says {verdict} "
                      f"{rows_of(answer) if verdict == '1' else answer}, Python says {want!r}\n{text!r}")
                return 1
    print(f"{given.traces} traces, seed {given.seed}, {len(real)} pieces of real ones: Python's json takes "
          f"{seen['taken']} (counts and sums compared), refuses {seen['refused']}; {seen['vague']} have a name "
          "that is an array (decision compared); the reader does the same")
    return 0 if min(seen["taken"], seen["refused"]) > given.traces // 5 else 1


if __name__ == "__main__":
    sys.exit(main())
