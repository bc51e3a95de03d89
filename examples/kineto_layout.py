"""Writes a PyTorch profiler's measured event tree in the layout of a Kineto trace.

Debian's python3-torch is built without Kineto, PyTorch's own trace writer.  The profiler
itself works there: it records every operator with nanosecond times and keeps the result
as a tree.  Only `export_chrome_trace` writes something else (no shapes, no stacks,
whole microseconds, no category of today's traces).  This module writes the tree as Kineto
would.  It adds, moves and rounds no event.

What Kineto writes and this does not: arrows between forward and backward operators
(`ph` "s" and "f"), "Concrete Inputs" and "Input Strides", allocations (profile_memory=True).
"""

import gzip
import json

from torch._C._profiler import RecordScope, _EventType

BASE_TIME_UNIT_S = 7889238  # Kineto counts time from the last multiple of a quarter of a year


def base_time_ns(start_ns):
    """The origin of `ts`, chosen as Kineto does, so that 64-bit floats keep the nanoseconds."""
    unit = BASE_TIME_UNIT_S * 1_000_000_000
    return start_ns // unit * unit


def micros(ns):
    """Nanoseconds as microseconds with three decimals, exactly (no float on the way)."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03d}"


def walk(nodes):
    """All nodes of the tree, parents first, in order of start."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def category(fields):
    """record_function() makes annotations, everything else in a CPU tree is an operator."""
    return "user_annotation" if fields.scope == RecordScope.USER_SCOPE else "cpu_op"


def is_python(node):
    """A call of a Python function, of a builtin or of a module; there with with_stack=True."""
    return node.tag in (_EventType.PyCall, _EventType.PyCCall)


def python_ids(nodes):
    """Numbers the Python calls in order of start, as Kineto does: {id of a node: (own, caller's)}."""
    numbers = {}
    for node in nodes:
        if is_python(node):
            parent = node.parent
            while parent is not None and not is_python(parent):
                parent = parent.parent
            numbers[node.id] = (len(numbers) + 1, numbers[parent.id][0] if parent else None)
    return numbers


def op_args(node, forward_thread):
    """The `args` of an operator, with the names and in the order that Kineto uses."""
    fields = node.extra_fields
    args = {"External id": node.correlation_id}
    if fields.sequence_number >= 0:
        args["Sequence number"] = fields.sequence_number
        args["Fwd thread id"] = forward_thread.get(node.correlation_id, 0)
    if fields.inputs.dtypes:
        args["Input type"] = list(fields.inputs.dtypes)
        args["Input Dims"] = [list(shape) for shape in fields.inputs.shapes]
    return args


def event_text(node, base, pid, tid, forward_thread, python):
    """One operator, annotation or Python call, as a complete event."""
    name = json.dumps(node.name)
    if node.id in python:
        cat, (own, caller) = "python_function", python[node.id]
        args = json.dumps({"Python parent id": caller, "Python id": own})[1:-1]
    else:
        cat = category(node.extra_fields)
        args = json.dumps(op_args(node, forward_thread))[1:-1]
    return (
        f'  {{\n    "ph": "X", "cat": "{cat}", "name": {name}, "pid": {pid}, "tid": {tid},\n'
        f'    "ts": {micros(node.start_time_ns - base)}, "dur": {micros(node.duration_time_ns)},\n'
        f'    "args": {{\n      {args}\n    }}\n  }}'
    )


def metadata_text(name, ts, pid, tid, key, value):
    return (
        f'  {{\n    "name": "{name}", "ph": "M", "ts": {ts}, "pid": {pid}, "tid": {tid},\n'
        f'    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}'
    )


def process_metadata(ts, pid, tids):
    """Names and sort keys of the process and its threads, for viewers."""
    yield metadata_text("process_name", ts, pid, 0, "name", "python3")
    yield metadata_text("process_labels", ts, pid, 0, "labels", "CPU")
    yield metadata_text("process_sort_index", ts, pid, 0, "sort_index", pid)
    for tid in tids:
        yield metadata_text("thread_name", ts, pid, tid, "name", f"thread {tid} (python3)")
        yield metadata_text("thread_sort_index", ts, pid, tid, "sort_index", tid)


def window_text(start, end, base):
    """The events with which Kineto marks the recorded stretch of time."""
    ts, dur, stop = micros(start - base), micros(end - start), micros(end - base)
    yield (
        f'  {{\n    "ph": "X", "cat": "Trace", "ts": {ts}, "dur": {dur},\n'
        '    "pid": "Spans", "tid": "PyTorch Profiler",\n    "name": "PyTorch Profiler (0)",\n'
        '    "args": {\n      "Op count": 0\n    }\n  }'
    )
    yield (
        '  {\n    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",\n'
        f'    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": {ts}\n  }}'
    )
    yield (
        '  {\n    "name": "Record Window End", "ph": "i", "s": "g",\n'
        f'    "pid": "", "tid": "", "ts": {stop}\n  }}'
    )


def trace_text(result, name, pid, system_tid):
    """The whole trace.  `system_tid` maps the profiler's thread numbers to the system's."""
    tree = walk(result.experimental_event_tree())
    nodes = [n for n in tree if is_python(n) or n.tag == _EventType.TorchOp]
    forward_thread = {e.correlation_id(): e.fwd_thread_id() for e in result.events()}
    start = min(n.start_time_ns for n in nodes)
    end = max(n.end_time_ns for n in nodes)
    base = base_time_ns(start)
    python = python_ids(nodes)
    events = [
        event_text(n, base, pid, system_tid[n.start_tid], forward_thread, python) for n in nodes
    ]
    tids = sorted({system_tid[n.start_tid] for n in nodes})
    events += process_metadata(micros(start - base), pid, tids)
    events += window_text(start, end, base)
    return (
        '{\n  "schemaVersion": 1,\n  "deviceProperties": [\n  ],\n  "record_shapes": 1,\n'
        + ('  "with_stack": 1,\n' if python else "")
        + f'  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {base},\n  "traceEvents": [\n'
        + ",\n".join(events)
        + f'\n  ],\n  "traceName": {json.dumps(name)}\n}}\n'
    )


def write(path, result, pid, system_tid):
    """Writes the trace gzipped, without a time stamp, so that equal content is equal bytes."""
    name = path.name[: -len(".gz")]
    data = trace_text(result, name, pid, system_tid).encode()
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write(data)
