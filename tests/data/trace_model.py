"""A model of a profiled program, and of the trace file that describes it.

`Program` records what happens (operators, launches, device work); `Dialect` knows how one
vendor or PyTorch generation writes it down; `Document` turns events into bytes.  What a
reader has to find in the file is added up while the events are made, by `Ledger`, and
never by reading the file back: a mistake in writing cannot hide itself.
"""

import contextlib
import dataclasses
import json
import random


def number(ns):
    """Integer nanoseconds as microseconds with three decimals, as today's Kineto writes them."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def whole(ns):
    """Whole microseconds, as PyTorch wrote them up to 2.0."""
    assert ns % 1000 == 0, ns
    return str(ns // 1000)


def exponent(ns):
    """The same value as a number with an exponent."""
    return f"{ns}e-3"


@dataclasses.dataclass
class Event:
    """One event.  `raw_name` and `raw` replace what would be written, never what is counted."""

    ph: str
    cat: str
    name: bytes
    pid: object
    tid: object
    ts: int
    dur: int | None = None
    args: dict | None = None
    extra: dict = dataclasses.field(default_factory=dict)  # other keys of the event: id, bp, s
    raw_name: bytes | None = None  # the JSON string literal to write for the name
    raw: dict = dataclasses.field(default_factory=dict)  # key -> JSON text, or None to leave it out
    counted: bool = True  # False: a reader has to skip the event


def text(value):
    return json.dumps(value).encode()


def event_bytes(e, style):
    """The event as one line of JSON."""
    name = e.raw_name if e.raw_name is not None else text(e.name.decode())
    fields = {"ph": text(e.ph), "cat": text(e.cat), "name": name}
    fields |= {"pid": text(e.pid), "tid": text(e.tid), "ts": style(e.ts).encode()}
    if e.dur is not None:
        fields["dur"] = style(e.dur).encode()
    fields |= {key: text(value) for key, value in e.extra.items()}
    if e.args is not None:
        fields["args"] = text(e.args)
    fields |= {k: v.encode() if isinstance(v, str) else v for k, v in e.raw.items()}
    inside = b", ".join(text(k) + b": " + v for k, v in fields.items() if v is not None)
    return b"  {" + inside + b"}"


class Ledger:
    """What a correct reader finds: count and total per (category, name), and what it may note."""

    def __init__(self):
        self.rows = {}
        self.events = 0
        self.notes = {}

    def row(self, cat, name, dur):
        count, total = self.rows.get((cat, name), (0, 0))
        self.rows[cat, name] = (count + 1, total + dur)

    def event(self, e):
        self.events += 1
        if e.ph == "X" and e.counted and e.dur is not None:
            self.row(e.cat, e.name, e.dur)

    def note(self, key, value):
        self.notes[key] = value

    def as_json(self):
        rows = []
        for (cat, name), (count, total) in sorted(self.rows.items()):
            row = {"cat": cat, "count": count, "total_ns": total}
            try:
                row["name"] = name.decode()
            except UnicodeDecodeError:
                row["name_hex"] = name.hex()
            rows.append(row)
        return {"reads": True, "events": self.events, **self.notes, "rows": rows}


class Document:
    """A trace file in the making: events in file order, and what stands around them."""

    def __init__(self, style=number, before=None, after=None):
        self.style = style
        self.before = {"schemaVersion": 1} if before is None else before
        self.after = {"traceName": "synthetic.json"} if after is None else after
        self.events = []
        self.ledger = Ledger()

    def add(self, event):
        self.events.append(event)
        self.ledger.event(event)
        return event

    def extend(self, events):
        for event in events:
            self.add(event)

    def lines(self):
        return [event_bytes(e, self.style) for e in self.events]

    def to_bytes(self):
        head = b"".join(text(k) + b": " + text(v) + b",\n" for k, v in self.before.items())
        tail = b"".join(b",\n" + text(k) + b": " + text(v) for k, v in self.after.items())
        body = b",\n".join(self.lines())
        return b"{\n" + head + b'"traceEvents": [\n' + body + b"\n]" + tail + b"\n}\n"

    def to_bare_array(self):
        return b"[\n" + b",\n".join(self.lines()) + b"\n]\n"


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How one vendor or generation writes down what a program does."""

    op: str = "cpu_op"
    annotation: str = "user_annotation"
    device_annotation: str | None = "gpu_user_annotation"
    runtime: str = "cuda_runtime"
    driver: str = "cuda_driver"
    kernel: str = "kernel"
    memcpy: str = "gpu_memcpy"
    memset: str = "gpu_memset"
    launch: str = "cudaLaunchKernel"
    driver_launch: str = "cuLaunchKernel"
    graph_launch: str = "cudaGraphLaunch"
    copy_call: str = "cudaMemcpyAsync"
    set_call: str = "cudaMemsetAsync"
    sync_call: str = "cudaDeviceSynchronize"
    device_pid: object = 0
    stream: int = 7
    comm_stream: int = 20
    stream_tid: bool = False  # device rows say "stream 7" where others say 7
    bytes_as_text: bool = False
    launch_facts: bool = True  # registers, shared memory, occupancy
    device_rows_first: bool = True  # NVIDIA's files have a kernel before its launch
    tick: int = 1  # granularity of all times, in ns


NVIDIA = Dialect()
AMD = Dialect(
    driver="cuda_runtime", launch="hipLaunchKernel", driver_launch="hipModuleLaunchKernel",
    graph_launch="hipGraphLaunch", copy_call="hipMemcpyWithStream", set_call="hipMemsetAsync",
    sync_call="hipDeviceSynchronize", device_pid=2, stream=0, comm_stream=2,
    bytes_as_text=True, launch_facts=False, device_rows_first=False,
)  # fmt: skip
OLD = Dialect(
    op="Operator", annotation="Operator", device_annotation=None, runtime="Runtime",
    driver="Runtime", kernel="Kernel", memcpy="Memcpy", memset="Memset",
    stream_tid=True, tick=1000,
)  # fmt: skip
MTIA = Dialect(
    runtime="mtia_runtime", driver="mtia_runtime", kernel="mtia_ccp_events",
    memcpy="mtia_ccp_events", memset="mtia_ccp_events", device_annotation=None,
    launch="runFunction", driver_launch="runFunction", graph_launch="runFunction",
    copy_call="dmaCopy", set_call="dmaFill", sync_call="synchronize",
    device_pid=17, stream=104, comm_stream=108, launch_facts=False,
)  # fmt: skip


class Program:
    """A host thread and a device that fill a document with what they do."""

    HOST_PID, HOST_TID = 4100, 4101

    def __init__(self, dialect, seed, start):
        self.dialect = dialect
        self.random = random.Random(seed)
        self.now = start  # host clock
        self.free = {}  # stream -> time when it is idle
        self.host, self.device, self.flows, self.other = [], [], [], []
        self.links = 0
        self.serial = 1000
        self.external = [0]

    def some(self, low, high):
        """A duration in [low, high), on the dialect's grid."""
        ns = low + int(self.random.random() * (high - low))
        return max(ns // self.dialect.tick, 1) * self.dialect.tick

    @contextlib.contextmanager
    def span(self, cat, name, args=None, tid=None):
        """Something on the host that encloses what happens until the block ends."""
        start = self.now
        self.now += self.some(1000, 3000)
        yield
        self.now += self.some(1000, 3000)
        tid = self.HOST_TID if tid is None else tid
        event = Event("X", cat, name.encode(), self.HOST_PID, tid, start, self.now - start, args)
        self.host.append(event)
        self.now += self.dialect.tick

    def op(self, name, shapes=((32, 64),), types=("float",)):
        self.serial += 1
        self.external = [self.serial]
        args = {
            "External id": self.serial, "Record function id": 0,
            "Input type": list(types), "Input Dims": [list(s) for s in shapes],
        }  # fmt: skip
        return self.span(self.dialect.op, name, args)

    def annotation(self, name):
        return self.span(self.dialect.annotation, name, {"External id": self.serial})

    def python(self, name):
        args = {"Python parent id": None, "Python id": self.serial}
        return self.span("python_function", name, args)

    def call(self, name, cat=None):
        """A runtime call; returns its correlation number."""
        self.serial += 1
        args = {"External id": self.external[-1], "cbid": 211, "correlation": self.serial}
        start = self.now
        with self.span(cat or self.dialect.runtime, name, args):
            pass
        self.last_call = self.host[-1]
        assert self.last_call.ts == start
        return self.serial

    def device_row(self, cat, name, dur, stream, correlation, args):
        """Work on a stream: after its launch and after the stream's earlier work."""
        d = self.dialect
        start = max(self.free.get(stream, 0), self.now + 2 * d.tick)
        self.free[stream] = start + dur
        common = {"device": d.device_pid, "stream": stream, "correlation": correlation}
        tid = f"stream {stream}" if d.stream_tid else stream
        args = {"External id": self.external[-1], **common, **args}
        self.device.append(Event("X", cat, name.encode(), d.device_pid, tid, start, dur, args))
        self.links += 1
        self.flow(correlation, self.device[-1])

    def flow(self, correlation, row):
        """The arrow from a launch to its device work."""
        call = self.last_call
        ends = (("s", call, {}), ("f", row, {"bp": "e"}))
        for ph, at, extra in ends:
            extra = {"id": correlation, **extra}
            self.flows.append(Event(ph, "ac2g", b"ac2g", at.pid, at.tid, at.ts, extra=extra))

    def facts(self, grid=(256, 1, 1)):
        """What a kernel row says about its launch."""
        facts = {"grid": list(grid), "block": [128, 1, 1]}
        if self.dialect.launch_facts:
            facts |= {
                "registers per thread": 64, "shared memory": 272,
                "blocks per SM": 4.413793, "warps per SM": 8.827586,
                "est. achieved occupancy %": 18,
            }  # fmt: skip
        return facts

    def kernel(self, name, low=4000, high=9000, driver=False):
        d = self.dialect
        call = (d.driver_launch, d.driver) if driver else (d.launch, d.runtime)
        correlation = self.call(*call)
        dur = self.some(low, high)
        self.device_row(d.kernel, name, dur, d.stream, correlation, self.facts())

    def graph(self, names):
        """One launch, many kernels."""
        correlation = self.call(self.dialect.graph_launch)
        for name in names:
            dur = self.some(2000, 5000)
            facts = {**self.facts(), "graph id": 1, "graph node id": self.links}
            self.device_row(self.dialect.kernel, name, dur, self.dialect.stream, correlation, facts)

    def collective(self, name, kind, nelems):
        """A kernel on a stream of its own that says what it transports."""
        args = self.facts((24, 1, 1)) | {
            "Collective name": kind, "dtype": "BFloat16", "In msg nelems": nelems,
            "Out msg nelems": nelems, "Group size": 2, "Process Group Name": "0",
            "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]",
        }  # fmt: skip
        d = self.dialect
        correlation = self.call(d.launch)
        self.device_row(d.kernel, name, self.some(9000, 30000), d.comm_stream, correlation, args)

    def copy(self, name, nbytes):
        d = self.dialect
        value = str(nbytes) if d.bytes_as_text else nbytes
        args = {"bytes": value, "memory bandwidth (GB/s)": 2.5}
        correlation = self.call(d.copy_call)
        self.device_row(d.memcpy, name, self.some(1000, 4000), d.stream, correlation, args)

    def fill(self, name, nbytes):
        d = self.dialect
        value = str(nbytes) if d.bytes_as_text else nbytes
        args = {"bytes": value, "memory bandwidth (GB/s)": 9.5}
        correlation = self.call(d.set_call)
        self.device_row(d.memset, name, self.some(1000, 2000), d.stream, correlation, args)

    def synchronise(self):
        """The host waits until every stream is idle."""
        start = self.now
        self.call(self.dialect.sync_call)
        done = max([self.now, *self.free.values()])
        self.host[-1].dur = done - start
        self.now = done + self.dialect.tick

    def memory(self, nbytes, total):
        """What profile_memory=True adds: an instant for each allocation."""
        args = {
            "Total Reserved": 2 * total, "Total Allocated": total, "Bytes": nbytes,
            "Device Id": 0, "Device Type": 1, "Addr": 139637976727552,
        }  # fmt: skip
        event = Event(
            "i", "cpu_instant_event", b"[memory]", self.HOST_PID, self.HOST_TID, self.now,
            args=args, extra={"s": "t"},
        )  # fmt: skip
        self.other.append(event)
        self.now += self.dialect.tick

    @contextlib.contextmanager
    def step(self, number):
        """A profiler step, with its copy on the device where the dialect has one."""
        name, first = f"ProfilerStep#{number}", len(self.device)
        with self.annotation(name):
            yield
        rows, d = self.device[first:], self.dialect
        if rows and d.device_annotation:
            start = min(r.ts for r in rows)
            end = max(r.ts + r.dur for r in rows)
            args = {"External id": self.serial, "device": d.device_pid, "stream": d.stream}
            where = (d.device_pid, d.stream, start, end - start)
            self.other.append(Event("X", d.device_annotation, name.encode(), *where, args))

    def write_to(self, document):
        """All events in the dialect's typical order, which is neither time nor cause."""
        self.random.shuffle(self.host)
        parts = [self.host, self.device]
        if self.dialect.device_rows_first:
            parts.reverse()
        for part in (*parts, self.flows, self.other):
            document.extend(part)
        document.ledger.note("device_rows", len(self.device))
        document.ledger.note("linked_device_rows", self.links)
