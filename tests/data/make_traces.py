#!/usr/bin/env python3
"""Writes small synthetic traces for the tests, and what a reader has to find in them.

    make_traces.py DIRECTORY

Standard library only; the same bytes on every run.  The files go to a build directory and
are not committed; this script is.  `expected.json` says for every file what is known of it:

    reads    whether a reader accepts it, else `error` has the sort of refusal
    events   number of events of all phases
    rows     count and total nanoseconds per category and name ("name_hex" where the name is
             not UTF-8), of X events and matched B/E pairs, category "Trace" included
    others   rank, steps, device rows, counted oddities, where the file is about them

These figures come from the model in `trace_model.py`, not from the files.
"""

import gzip
import json
import pathlib
import sys

import trace_model as tm
from trace_model import Document, Event, Program

QUARTER = 1790857026000000000  # a Kineto time base, in ns
SINCE_BASE = 4322428991954278000  # a start in the millions of seconds after it
EPOCH = 1609459200123456000  # 2021, as 16 digits of microseconds


# --- whole programs, one per vendor and generation -----------------------------------------


def device_properties(name):
    return [{"id": 0, "name": name, "totalGlobalMem": 85899345920, "numSms": 132, "warpSize": 32}]


def modern(device, **more):
    """Top-level keys as PyTorch 2.2 and later write them."""
    devices = device_properties(device) if device else []
    return Document(
        before={
            "schemaVersion": 1, "deviceProperties": devices, **more, "record_shapes": 1,
            "displayTimeUnit": "ms", "baseTimeNanoseconds": QUARTER,
        }
    )  # fmt: skip


def forward(p):
    """Operators with a kernel each, one nested in another, under a Python frame."""
    with p.python("model.py(31): forward"):
        with p.op("aten::linear", ((32, 64), (64, 64))):
            with p.op("aten::addmm", ((64,), (32, 64), (64, 64)), ("float",) * 3):
                p.kernel("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_tn>(Params)")
        with p.op("aten::relu"):
            with p.op("aten::clamp_min"):
                p.kernel("void at::native::vectorized_elementwise_kernel<4, relu>(int)")


def train_step(p, number):
    """One step with every kind of device work."""
    with p.step(number):
        with p.op("aten::copy_", ((32, 64), (32, 64))):
            p.copy("Memcpy HtoD (Pageable -> Device)", 8192)
        with p.op("aten::zero_"):
            p.fill("Memset (Device)", 4096)
        p.memory(8192, 16384 * number)
        forward(p)
        with p.op("triton_poi_fused_add_0"):
            p.kernel("triton_poi_fused_add_0", driver=True)
        with p.annotation("graphed decoder"):
            p.graph(["gemm_a", "gemm_b", "gemm_a", "softmax_warp"])
        with p.op("record_param_comms", ((4096,),), ("c10::BFloat16",)):
            p.collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(Args)", "allreduce", 4096)
        p.synchronise()


def run_steps(dialect, document, steps, seed, start=SINCE_BASE):
    """A program of some steps, written into the document."""
    p = Program(dialect, seed, start // dialect.tick * dialect.tick)
    for number in steps:
        train_step(p, number)
    add_surroundings(p, document)
    p.write_to(document)
    document.ledger.note("steps", list(steps))
    return document


def add_surroundings(p, document):
    """Rows that describe the profiler rather than the program."""
    d, start = p.dialect, p.host[0].ts
    if d is tm.NVIDIA:
        p.other.append(Event("X", "overhead", b"Activity Buffer Request", -1, 0, start, 238325))
    names = {"process_name": {"name": "python3"}, "process_labels": {"labels": "CPU"}}
    for name, args in names.items():
        event = Event("M", "__metadata", name.encode(), p.HOST_PID, 0, start, args=args)
        event.raw["cat"] = None
        p.other.append(event)
    where = ("Spans", "PyTorch Profiler", start, p.now - start)
    p.other.append(Event("X", "Trace", b"PyTorch Profiler (0)", *where))


def nvidia():
    return run_steps(tm.NVIDIA, modern("NVIDIA H100 80GB HBM3"), (4, 5, 6), 1)


def amd():
    return run_steps(tm.AMD, modern("AMD Instinct MI300X"), (1, 2, 3), 2)


def mtia():
    return run_steps(tm.MTIA, modern("ARTEMIS"), (1, 2), 3)


def generation_2021():
    """Other category names, whole microseconds since 1970 (16 digits), "stream 7" as tid."""
    document = Document(style=tm.whole, before={"schemaVersion": 1}, after={})
    return run_steps(tm.OLD, document, (1, 2, 3), 4, EPOCH)


def rank(number, seed):
    """One of two ranks of a job; they differ in time, not in what they do."""
    info = {"backend": "nccl", "rank": number, "world_size": 2}
    document = modern("NVIDIA H100 80GB HBM3", distributedInfo=info)
    document.ledger.note("rank", number)
    document.ledger.note("world_size", 2)
    return run_steps(tm.NVIDIA, document, (4, 5), seed)


def cpu_only(steps=(2, 3, 4)):
    """No device: operators alone, one step with a call more than the others."""
    document = modern(None)
    p = Program(tm.NVIDIA, 5, SINCE_BASE)
    for number in steps:
        with p.step(number):
            for _ in range(3 if number == 3 else 2):
                with p.op("aten::mm", ((8, 8), (8, 8)), ("float", "float")):
                    with p.op("aten::resolve_conj"):
                        pass
    p.write_to(document)
    document.ledger.note("steps", list(steps))
    return document


def no_steps():
    """A server's trace: nothing says where a step begins."""
    document = modern("NVIDIA H100 80GB HBM3")
    p = Program(tm.NVIDIA, 6, SINCE_BASE)
    for _ in range(10):
        forward(p)
    p.write_to(document)
    document.ledger.note("steps", [])
    return document


# --- single peculiarities -------------------------------------------------------------------


def simple(name, ts, dur, **more):
    """An operator for the files in which only one thing matters."""
    name = name if isinstance(name, bytes) else name.encode()
    return Event("X", "cpu_op", name, 1, 2, ts, dur, {"External id": 1}, **more)


def begin(name, ts, tid=1):
    return Event("B", "cpu_op", name.encode(), 1, tid, ts)


def end(name, ts, tid=1):
    return Event("E", "cpu_op", name.encode(), 1, tid, ts)


def begin_end_pairs():
    """Pairs are matched per thread in order of time, whatever the order of the file."""
    document = Document()
    nameless = end("", 90_000)
    nameless.raw |= {"name": None, "cat": None}  # an E may leave both out
    events = [
        end("outer", 50_000), begin("inner", 20_000), begin("outer", 10_000), end("inner", 30_000),
        begin("again", 60_000), begin("again", 61_000), end("again", 64_000), end("again", 69_000),
        begin("short", 80_000), nameless,
        begin("outer", 12_000, tid=2), end("outer", 19_500, tid=2),  # another thread, same time
        end("no begin", 5_000, tid=3), begin("no end", 7_000, tid=4),
    ]  # fmt: skip
    document.extend(events)
    pairs = [
        ("outer", 40_000), ("outer", 7_500), ("inner", 10_000), ("again", 3_000), ("again", 9_000),
        ("short", 10_000),
    ]  # fmt: skip
    for name, dur in pairs:
        document.ledger.row("cpu_op", name.encode(), dur)
    document.ledger.note("unmatched_begin", 1)
    document.ledger.note("unmatched_end", 1)
    return document


def with_raw(name, ts, ts_text=None, dur=0, dur_text=None, **more):
    """An operator whose numbers are spelled in a way of their own."""
    event = simple(name, ts, dur, **more)
    event.raw |= {k: v for k, v in (("ts", ts_text), ("dur", dur_text)) if v is not None}
    return event


def numbers():
    """Everything that may stand where a number is expected, with its value in ns."""
    document = Document()
    document.extend([
        with_raw("exponent", 1000, "1e0", 15_000, "1.5e1"),
        with_raw("exponent", 2000, "2E+0", 1_500, "15E-1"),
        with_raw("whole", 3000, "3", 7_000, "7"),
        with_raw("negative duration", 4000, "4.000", -2_000, "-2.000"),
        with_raw("negative start", -5000, "-5.000", 1_000, "1.000"),
        with_raw("zero", 6000, "6", 0, "0"),
        with_raw("minus zero", 7000, "7.0", 0, "-0.0"),
        with_raw("rounded down", 8000, "8.000", 0, "0.0004"),
        with_raw("rounded up", 9000, "9.000", 12_346, "12.3457"),
        with_raw("rounded to even", 9100, "9.100", 12_346, "12.3465"),
        with_raw("16 digits", EPOCH, f"{EPOCH // 1000}.{EPOCH % 1000:03d}", 1, "0.001"),
        with_raw("no number", 10_000, "10", 0, "NaN"),
        with_raw("no number", 11_000, "11", 0, "Infinity"),
        with_raw("no number", 12_000, "12", 0, "-Infinity"),
        with_raw("null duration", 13_000, "13", 5, "null", counted=False),
    ])  # fmt: skip
    document.add(simple("no duration", 14_000, None))
    timeless = simple("no start", 0, 1_000, counted=False)
    timeless.raw["ts"] = None
    phaseless = simple("no phase", 15_000, 3_000)
    phaseless.raw["ph"] = None  # early traces: what has a duration is complete
    document.extend([timeless, phaseless])
    document.ledger.note("non_finite", 3)
    document.ledger.note("rounded_numbers", 3)
    document.ledger.note("negative_durations", 1)
    return document


def exponents():
    """A whole trace whose times all have exponents."""
    document = Document(style=tm.exponent)
    document.extend(simple(f"op {k % 2}", 1000 * k, 100 * k + 1) for k in range(1, 9))
    return document


def huge_integers():
    """Numbers that fit no signed 64-bit integer, in places where nobody needs them."""
    document = Document()
    for k, value in enumerate((2**63, 2**64 - 1, 10**30), 1):
        event = simple("huge", 1000 * k, 500)
        event.args = {"External id": value, "Addr": value}
        document.add(event)
    document.after["trace_id"] = 2**64
    return document


def spelled(names):
    """A document with one operator for each (name, JSON literal)."""
    document = Document()
    for k, (name, literal) in enumerate(names):
        document.add(simple(name, 1000 * k, 100 + k, raw_name=literal))
    return document


def unescaped(names):
    """The same for names that are between the quotes as they are."""
    return spelled([(name, b'"' + name + b'"') for name in names])


def escapes():
    """Names in every spelling that JSON allows; equal names are one row."""
    spellings = [
        (b"quote \" backslash \\ slash /", rb'"quote \" backslash \\ slash \/"'),
        (b"aten::Add", rb'"aten::\u0041dd"'),
        (b"aten::Add", b'"aten::Add"'),
        ("smile \U0001f600".encode(), rb'"smile \ud83d\ude00"'),
        ("smile \U0001f600".encode(), '"smile \U0001f600"'.encode()),
        ("caf\u00e9".encode(), rb'"caf\u00E9"'),
        (b"tab\tnewline\nreturn\rfeed\fback\b", rb'"tab\tnewline\nreturn\rfeed\fback\b"'),
        (b"nul\0inside", rb'"nul\u0000inside"'),
        (b"", b'""'),
    ]
    return spelled(spellings)


def windows_path():
    """A path written without escaping: the backslashes stay."""
    raw = rb"C:\Data\Models\Step.py(7): forward"
    document = unescaped([raw, raw])
    in_args = simple("plain", 3000, 300)
    in_args.raw["args"] = rb'{"Call stack": "C:\Data\Step.py"}'
    document.add(in_args)
    document.ledger.note("invalid_escapes_at_least", 3)
    return document


def control_bytes():
    """Bytes below 0x20 that no JSON string may contain."""
    names = [b"bell\x07", b"escape\x1b[31m", b"two\nlines", b"tab\there"]
    document = unescaped(names)
    document.ledger.note("control_bytes_at_least", 4)
    return document


def not_utf8():
    """Latin-1, a cut sequence, an overlong one, an encoded surrogate: kept as they are."""
    names = [b"caf\xe9", b"cut \xf0\x9f\x98", b"overlong \xc0\xaf", b"surrogate \xed\xa0\x80"]
    document = unescaped(names)
    document.ledger.note("bad_utf8_at_least", 4)
    return document


def decoys():
    """`traceEvents` and braces in places where they mean nothing."""
    fake = [{"ph": "X", "cat": "cpu_op", "name": "decoy", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]
    around = {"INFO": {"traceEvents": fake}}, {"ERROR": ["traceEvents", "}]"]}
    document = Document(before=around[0], after=around[1])
    event = simple('real }], "traceEvents": [', 1000, 2000)
    event.args = {"traceEvents": fake, "text": "]}"}
    document.extend([event, simple("real", 4000, 1000)])
    return document


def metadata_before():
    before = {"schemaVersion": 1, "distributedInfo": {"rank": 3, "world_size": 4}}
    return small_rank(Document(before=before, after={}))


def metadata_after():
    """Kineto appends distributedInfo after the events, too."""
    after = {"distributedInfo": {"world_size": 4, "rank": 3}, "schemaVersion": 1}
    return small_rank(Document(before={}, after=after))


def small_rank(document):
    document.extend(simple("op", 1000 * k, 100) for k in range(1, 4))
    document.ledger.note("rank", 3)
    document.ledger.note("world_size", 4)
    return document


def one_op():
    document = Document()
    document.extend(simple("op", 1000 * k, 250) for k in range(1, 6))
    return document


# --- files ----------------------------------------------------------------------------------


def packed(data):
    return gzip.compress(data, 9, mtime=0)


def several_members(data, size=700):
    """What `cat a.gz b.gz` makes, with members that end in the middle of events."""
    return b"".join(packed(data[i : i + size]) for i in range(0, len(data), size))


def refused(error):
    return {"reads": False, "error": error}


class Output:
    """The directory, and the answers for the files in it."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.answers = {}

    def write(self, name, data, answer):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.answers[name] = answer

    def plain(self, name, document):
        self.write(f"{name}.json", document.to_bytes(), document.ledger.as_json())

    def zipped(self, name, document):
        self.write(f"{name}.json.gz", packed(document.to_bytes()), document.ledger.as_json())

    def finish(self):
        answers = json.dumps(self.answers, indent=1, sort_keys=True) + "\n"
        (self.directory / "expected.json").write_text(answers)


def write_programs(out):
    for make in (nvidia, amd, mtia, generation_2021, cpu_only, no_steps):
        out.zipped(make.__name__, make())
    for number in (0, 1):
        out.zipped(f"ranks/job_rank{number}", rank(number, 10 + number))


def write_peculiarities(out):
    makers = (
        begin_end_pairs, numbers, exponents, huge_integers, escapes, windows_path, control_bytes,
        not_utf8, decoys, metadata_before, metadata_after,
    )  # fmt: skip
    for make in makers:
        out.plain(make.__name__, make())


def write_containers(out):
    """Traces in other wrappings."""
    document = one_op()
    data, answer = document.to_bytes(), document.ledger.as_json()
    out.write("bare_array.json", document.to_bare_array(), answer)
    out.write("one_line.json", data.replace(b"\n", b""), answer)
    out.write("windows_lines.json", data.replace(b"\n", b"\r\n"), answer)
    out.write("no_suffix_gzip", packed(data), answer)
    large = nvidia()
    members = several_members(large.to_bytes())
    out.write("several_members.json.gz", members, large.ledger.as_json())
    empty = Document()
    out.write("no_events.json", empty.to_bytes(), empty.ledger.as_json())
    out.write("empty_array.json", b"[]\n", empty.ledger.as_json())


def cut_in_fourth_event(document):
    """Text that ends in the middle of an event, and the ledger of the three before it."""
    data, lines = document.to_bytes(), document.lines()
    rows = Document()
    rows.extend(document.events[:3])
    return data[: data.index(lines[3]) + len(lines[3]) // 2], rows.ledger.as_json()


def write_damaged(out):
    """Traces that were not written or not transported to the end."""
    document = one_op()
    data, zipped = document.to_bytes(), bytearray(packed(document.to_bytes()))
    cut, before = cut_in_fourth_event(document)
    out.write("truncated.json", cut, refused("truncated") | {"before_the_cut": before})
    out.write("truncated_after_events.json", data[:-2], refused("truncated"))
    out.write("truncated.json.gz", bytes(zipped[:-20]), refused("truncated"))
    zipped[-6] ^= 0xFF  # in the checksum
    out.write("bad_checksum.json.gz", bytes(zipped), refused("corrupt"))
    out.write("trailing_text.json", data + b"x", refused("syntax"))
    out.write("trailing_comma.json", data.replace(b"}\n]", b"},\n]"), refused("syntax"))


def write_no_traces(out):
    """Files that are something else."""
    graph = b'{"schema": "1.0.1", "nodes": [{"id": 1, "name": "op"}]}\n'
    out.write("not_a_trace.json", graph, refused("not a trace"))
    out.write("empty_object.json", b"{}\n", refused("not a trace"))
    out.write("empty_file.json", b"", refused("not a trace"))
    out.write("text.json", b"hello\n", refused("not a trace"))
    out.write("lfs_pointer.json.gz", lfs_pointer(), refused("lfs pointer"))


def lfs_pointer():
    """What a checkout without Git LFS has in place of a trace."""
    lines = ["version https://git-lfs.github.com/spec/v1", "oid sha256:" + "0" * 64, "size 12345"]
    return ("\n".join(lines) + "\n").encode()


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = Output(sys.argv[1])
    write_programs(out)
    write_peculiarities(out)
    write_containers(out)
    write_damaged(out)
    write_no_traces(out)
    out.finish()


if __name__ == "__main__":
    main()
