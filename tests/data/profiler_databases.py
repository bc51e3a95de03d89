"""Databases of Nsight Systems and rocprofv3, and the same program as a Kineto trace: one list of what happened, written
four ways. Nothing here reads a database, and nothing of the reader is used.

    from profiler_databases import program, write_nsys, write_rocpd, kineto
    happened = program(seed=3)
    write_nsys("a.sqlite", happened, "new")
"""
import dataclasses
import json
import os
import random
import sqlite3


@dataclasses.dataclass(frozen=True)
class Event:
    """`what`: range, op, call, kernel, memcpy, memset, sync, graph (as a whole). Times in ns; `end` None: it ran when the recording
    ended. `launch`: a number that a call and its work share. `ends_on`: the thread on which a range ends that need not nest."""
    what: str
    name: str
    start: int
    end: int | None
    thread: int = 11
    launch: int | None = None
    device: int = 0
    stream: int = 7
    bytes: int = 0
    copy: str = ""
    grid: tuple = (1, 1, 1)
    block: tuple = (128, 1, 1)
    registers: int = 32
    shared: int = 0
    ends_on: int | None = None


COPIES = {"HtoD": (1, 0, 2), "DtoH": (2, 2, 1), "DtoD": (8, 2, 2), "PtoP": (10, 2, 2)}  # copyKind, srcKind, dstKind
MEMORY = {0: "Pageable", 1: "Pinned", 2: "Device"}
SYNCS = {"Event Sync": 1, "Stream Wait Event": 2, "Stream Sync": 3, "Context Sync": 4}
STEP = "train step"


def program(seed=1, steps=4, kernels=5, vendor="cuda", edges=True):
    """`steps` ranges named STEP; in each `kernels` operators with a launch, copies, a set, a wait, and a graph of three kernels.
    With `edges`, work that was launched before the recording, launches whose work comes after it, and what had not ended."""
    rng, out, number = random.Random(seed), [], 1000
    launch_call = {"cuda": "cudaLaunchKernel", "hip": "hipLaunchKernel"}[vendor]
    device_at = 1_000_000
    if edges:
        for k in range(6):
            out.append(Event("kernel", f"void before{k % 2}(float*)", 400_000 + 20_000 * k, 415_001 + 20_000 * k, launch=900 + k))
    for step in range(steps):
        t = t0 = 1_000_000 + 900_000 * step + rng.randrange(500)
        device_at = max(device_at, t + 30_000)
        def call(name, length=4_000, launch=None):
            nonlocal t
            out.append(Event("call", name, t, t + length, launch=launch))
            t += length + 137
        def work(what, name, length, **more):
            nonlocal device_at
            out.append(Event(what, name, device_at, device_at + length, launch=number, **more))
            device_at += length + 11
        for k in range(kernels):
            number += 1
            begin = t
            t += 900
            call(launch_call, launch=number)
            work("kernel", f"void kern{k}<float, 4>(float*, int)", 20_000 + 1_000 * k + rng.randrange(300), grid=(64 + k, 2, 1), registers=24 + k,
                 shared=512 * k)
            t += 700
            out.append(Event("op", f"aten::op{k}", begin, t))
            t += 333
        for kind, size in (("HtoD", 4096), ("DtoH", 64), ("DtoD", 1 << 20)):
            number += 1
            call(f"{vendor}MemcpyAsync", launch=number)
            work("memcpy", "", 3_000 + rng.randrange(90), bytes=size + step, copy=kind)
        if vendor == "cuda":
            number += 1
            call("cudaMemsetAsync", launch=number)
            work("memset", "", 1_500, bytes=256)
            number += 1
            call("cudaGraphLaunch", launch=number)
            for k in range(3):
                work("kernel", f"void node{k}()", 9_000 + k, stream=7)
            number += 1
            out.append(Event("call", "cuLaunchKernel", t, t + 2_000, launch=number))
            t += 2_100
            work("kernel", 'triton_poi_fused_"add"_\\0', 7_777, grid=(7, 1, 1))
        number += 1
        wait = device_at - t if device_at > t else 1_000
        out.append(Event("call", f"{vendor}StreamSynchronize", t, t + wait, launch=number))
        if vendor == "cuda":
            out.append(Event("sync", "Stream Sync", t + 10, t + wait - 10, launch=number))
        t += wait + 500
        out.append(Event("range", STEP, t0, t))
        out.append(Event("range", f"data {step % 2}", t + 50, t + 2_050, thread=12))
    if edges:
        for k in range(3):
            number += 1
            out.append(Event("call", launch_call, t + 5_000 + 6_000 * k, t + 9_000 + 6_000 * k, launch=number))
        out.append(Event("call", f"{vendor}DeviceSynchronize", t + 40_000, None, launch=number + 1))
        out.append(Event("range", "open", t + 39_000, None))
    rng.shuffle(out)
    return out


# ---- Kineto --------------------------------------------------------------------------------------

def kineto(happened, pid=4242):
    """The same as torch.profiler would write it."""
    calls = [e.launch for e in happened if e.what == "call" and e.launch is not None]
    events = []
    for e in happened:
        if e.end is None:
            continue
        args = {}
        if e.launch is not None and (e.what == "call" or min(calls) <= e.launch <= max(calls)):
            args["correlation"] = e.launch
        x = {"ph": "X", "name": e.name, "ts": e.start / 1000, "dur": (e.end - e.start) / 1000, "args": args}
        if e.what in ("range", "op", "call"):
            driver = e.name.startswith("cu") and e.name[2].isupper()
            x.update(pid=pid, tid=e.thread, cat={"range": "user_annotation", "op": "cpu_op", "call": "cuda_driver" if driver else
                                                 "hip_runtime" if e.name.startswith("hip") else "cuda_runtime"}[e.what])
        else:
            x.update(pid=e.device, tid=e.stream,
                     cat={"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset", "sync": "cuda_sync"}[e.what])
            args.update(device=e.device, stream=e.stream)
        if e.what == "kernel":
            args.update({"grid": list(e.grid), "block": list(e.block), "shared memory": e.shared, "registers per thread": e.registers})
        if e.what in ("memcpy", "memset"):
            args["bytes"] = e.bytes
        events.append(x)
    return {"traceEvents": events}


def named(e, kinds=True):
    if e.what == "memset":
        return "Memset (Device)"
    if e.what != "memcpy":
        return e.name
    _, a, b = COPIES[e.copy]
    return f"Memcpy {e.copy}" + (f" ({MEMORY[a]} -> {MEMORY[b]})" if kinds else "")


def with_names(happened, kinds=True):
    return [dataclasses.replace(e, name=named(e, kinds)) for e in happened]


# ---- Nsight Systems ------------------------------------------------------------------------------

def fresh(path):
    if os.path.exists(path):
        os.remove(path)
    return sqlite3.connect(path)


def write_nsys(path, happened, form="new", pid=4242, others=()):
    """`form` new: what version 3.25 of the schema has; old: fewer columns, ranges in `text` alone, no device, no memory kinds.
    `others`: (pid, events) of more processes."""
    new, db = form == "new", fresh(path)
    strings = {}
    def string(text):
        return strings.setdefault(text, 17 + len(strings))
    def insert(table, columns, rows):
        if rows:
            db.execute(f"create table {table} ({', '.join(columns)})")
            db.executemany(f"insert into {table} values ({', '.join('?' * len(columns))})", rows)
    rows = {name: [] for name in ("kernel", "call", "memcpy", "memset", "sync", "range", "graph")}
    number = 0
    for process, events in ((pid, happened), *others):
        whole = (1 << 48) | (process << 24)  # the upper bits are another number, the hardware's
        for e in events:
            number += 1
            times, place = [e.start, e.end], [e.device, e.stream, e.launch, whole]
            if e.what == "kernel":
                rows["kernel"].append(times + place + [string(e.name), string(e.name.split("(")[0]), *e.grid, *e.block, e.registers, e.shared, 0]
                                      + ([None, None] if new else []))
            elif e.what == "call":
                rows["call"].append(times + [whole | e.thread, e.launch, string(e.name + "_v" + str(3020 + number % 9))])
            elif e.what == "memcpy":
                rows["memcpy"].append(times + place + [e.bytes, COPIES[e.copy][0]] + (list(COPIES[e.copy][1:]) if new else []))
            elif e.what == "memset":
                rows["memset"].append(times + place + [e.bytes, 2])
            elif e.what == "sync":
                rows["sync"].append(times + place + [SYNCS[e.name]])
            elif e.what == "graph":
                rows["graph"].append(times + place + [3, 9])
            else:
                text = e.name
                if e.what == "op":
                    text += f", seq = {number}, op_id = {number + 7}" if number % 2 else f", op_id = {number}"
                inline = not new or number % 3 == 0
                rows["range"].append(times + [59 if e.ends_on is None else 60, whole | e.thread, text if inline else None]
                                     + ([None if inline else string(text), 0, e.ends_on and whole | e.ends_on] if new else []))
    whole = (1 << 48) | (pid << 24) | 11  # a mark and a domain: no time passes
    rows["range"] += [[5, None, 34, whole, "mark"] + ([None, 0, None] if new else []),
                      [0, None, 75, whole, "NCCL"] + ([None, 1, None] if new else [])]
    place = ["deviceId", "streamId", "correlationId", "globalPid"]
    shape = ["gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"]
    insert("CUPTI_ACTIVITY_KIND_KERNEL",
           ["start", "end", *place, "demangledName", "shortName", *shape, *(["graphNodeId", "graphId"] if new else [])], rows["kernel"])
    insert("CUPTI_ACTIVITY_KIND_RUNTIME", ["start", "end", "globalTid", "correlationId", "nameId"], rows["call"])
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", ["start", "end", *place, "bytes", "copyKind", *(["srcKind", "dstKind"] if new else [])], rows["memcpy"])
    insert("CUPTI_ACTIVITY_KIND_MEMSET", ["start", "end", *place, "bytes", "memKind"], rows["memset"])
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", ["start", "end", *place, "syncType"], rows["sync"])
    insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ["start", "end", *place, "graphId", "graphExecId"], rows["graph"])
    insert("NVTX_EVENTS", ["start", "end", "eventType", "globalTid", "text", *(["textId", "domainId", "endGlobalTid"] if new else [])], rows["range"])
    if new:
        insert("ENUM_CUDA_MEM_KIND", ["id", "name", "label"], [[n, f"KIND_{n}", label] for n, label in MEMORY.items()])
        insert("TARGET_INFO_GPU", ["vmId", "id", "name"], [[0, 0, "NVIDIA H100"], [0, 1, "NVIDIA H100"]])
    insert("META_DATA_EXPORT", ["name", "value"],
           [["EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"], ["EXPORT_SCHEMA_VERSION", "3.25.0" if new else "3.1.7"]])
    db.execute("create table StringIds (id integer primary key, value text)")
    db.executemany("insert into StringIds values (?, ?)", [(n, text) for text, n in strings.items()])
    db.commit()
    db.close()


# ---- rocprofv3 -----------------------------------------------------------------------------------

HIP_COPIES = {"HtoD": "MEMORY_COPY_HOST_TO_DEVICE", "DtoH": "MEMORY_COPY_DEVICE_TO_HOST", "DtoD": "MEMORY_COPY_DEVICE_TO_DEVICE"}
HOST_AGENT, GPU_AGENT = 0, 3  # ids of the agents: the first device is not agent 0


def write_rocpd(path, happened, form="rows", pid=4242, suffix="_0194a7b1", others=()):
    """`form` rows: times in the rows; timestamps: in rocpd_timestamp, process and thread in rocpd_track; tracks: agent and stream
    there as well. `others`: (pid, events) of more processes, as in a merged file."""
    late, db = form != "rows", fresh(path)
    placed = form != "tracks"
    strings, symbols, tracks, stamps = {}, {}, {}, []
    rows = {name: [] for name in ("region", "kernel_dispatch", "memory_copy", "event")}
    def number(table, text):
        return table.setdefault(text, 5 + len(table))
    def stamp(ns):
        stamps.append((len(stamps) + 100, ns))
        return stamps[-1][0]
    def event(e, category):
        rows["event"].append([len(rows["event"]) + 1, number(strings, category), e.launch, 0])
        return len(rows["event"])
    for pid, e in [(pid, e) for e in happened] + [(other, e) for other, events in others for e in events]:
        times = [stamp(e.start), None if e.end is None else stamp(e.end)] if late else [e.start, e.end]
        agent = None if e.what in ("range", "op", "call") else GPU_AGENT + e.device
        stream = None if agent is None else e.stream
        track = [number(tracks, (pid, e.thread, *((None, None) if placed else (agent, stream))))] if late else [pid, e.thread]
        n = len(rows["region"]) + len(rows["kernel_dispatch"]) + len(rows["memory_copy"]) + 1
        if e.what == "kernel":
            grid = [e.grid[i] * e.block[i] for i in range(3)]  # in work items
            rows["kernel_dispatch"].append([n, *track, *([agent, 1, stream] if placed else []), number(symbols, e.name), n, *times, *e.block, *grid,
                                            e.shared, event(e, "KERNEL_DISPATCH")])
        elif e.what == "memcpy":
            ends = {"HtoD": (HOST_AGENT, GPU_AGENT + e.device), "DtoH": (GPU_AGENT + e.device, HOST_AGENT),
                    "DtoD": (GPU_AGENT + e.device,) * 2}[e.copy]
            rows["memory_copy"].append([n, *track, *([None, stream] if placed else []), *times, number(strings, HIP_COPIES[e.copy]), *ends, e.bytes,
                                        event(e, "MEMORY_COPY")])
        elif e.what in ("range", "op", "call"):
            category = "HIP_RUNTIME_API_EXT" if e.what == "call" else "MARKER_CORE_RANGE_API"
            text = e.name + (f", op_id = {n}" if e.what == "op" else "")
            rows["region"].append([n, *track, *times, number(strings, text), event(e, category)])
    track = ["track_id"] if late else ["pid", "tid"]
    times = ["start_id", "end_id"] if late else ["start", "end"]
    sizes = [f"{what}_size_{axis}" for what in ("workgroup", "grid") for axis in "xyz"]
    tables = {
        "metadata": (["tag", "value"], [["schema_version", "4.0.0" if late else "3.0.0"]]),
        "string": (["id integer primary key", "string"], [[n, text] for text, n in strings.items()]),
        "info_agent": (["id integer primary key", "type", "absolute_index", "type_index", "name", "product_name"],
                       [[HOST_AGENT, "CPU", 0, 0, "EPYC", "EPYC"],
                        *([GPU_AGENT + k, "GPU", GPU_AGENT + k, k, "gfx942", "AMD Instinct MI300X"] for k in range(2))]),
        "info_kernel_symbol": (["id integer primary key", "kernel_name", "display_name"], [[n, "_Z" + text, text] for text, n in symbols.items()]),
        "event": (["id integer primary key", "category_id", "stack_id", "parent_stack_id"], rows["event"]),
        "region": (["id integer primary key", *track, *times, "name_id", "event_id"], rows["region"]),
        "kernel_dispatch": (["id integer primary key", *track, *(["agent_id", "queue_id", "stream_id"] if placed else []), "kernel_id",
                             "dispatch_id", *times, *sizes,
                             "group_segment_size", "event_id"], rows["kernel_dispatch"]),
        "memory_copy": (["id integer primary key", *track, *(["queue_id", "stream_id"] if placed else []), *times, "name_id", "src_agent_id",
                         "dst_agent_id", "size", "event_id"],
                        rows["memory_copy"]),
        "track": (["id integer primary key", "pid", "tid", *([] if placed else ["agent_id", "queue_id", "stream_id"])],
                  [[n, a, b, *([] if placed else [c, None, d])] for (a, b, c, d), n in tracks.items()]),
    }
    if late:
        tables["timestamp"] = (["id integer primary key", "value"], stamps)
    for name, (columns, data) in tables.items():
        db.execute(f"create table rocpd_{name}{suffix} ({', '.join(c if ' ' in c else f'[{c}]' for c in columns)})")
        db.execute(f"create view rocpd_{name} as select * from rocpd_{name}{suffix}")
        if data:
            db.executemany(f"insert into rocpd_{name}{suffix} values ({', '.join('?' * len(columns))})", data)
    db.commit()
    db.close()


if __name__ == "__main__":
    import sys
    folder = sys.argv[1]
    cuda, hip = program(1, vendor="cuda"), program(1, vendor="hip")
    for form in ("new", "old"):
        write_nsys(f"{folder}/nsys-{form}.sqlite", cuda, form)
    for form in ("rows", "timestamps", "tracks"):
        write_rocpd(f"{folder}/rocpd-{form}.db", hip, form)
    with open(f"{folder}/kineto.json", "w", encoding="utf-8") as f:
        json.dump(kineto(with_names(cuda)), f)
