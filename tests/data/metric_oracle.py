"""The value of every metric of a trace, the slow and obvious way: time is looked at in ticks of 100 ns.

Reads the file, knows nothing of the program under test. Only for traces whose times lie on the grid, with one
device, every piece of work linked, and steps named ProfilerStep#N.
"""

import collections
import decimal
import json
import re

TICK = 100
DIRECTIONS = {"htod": "HtoD", "dtoh": "DtoH", "dtod": "DtoD", "ptop": "PtoP", "set": "Memset"}


def load(path):
    """Events with ns from the first one on, on the grid."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
    zero = min(e["ts"] for e in events)
    for e in events:
        e["start"] = int((e["ts"] - zero) * 1000)
        e["dur"] = int(e.get("dur", 0) * 1000)
        e["end"] = e["start"] + e["dur"]
        assert e["start"] % TICK == e["dur"] % TICK == 0, e
    return events


def purpose(row):
    if row["cat"] != "kernel":
        return "memory"
    return "comm" if row["name"].startswith("nccl") else "compute"


def runs_of(flags):
    """[from, to) of the stretches of True."""
    out, since = [], None
    for i, flag in enumerate([*flags, False]):
        if flag and since is None:
            since = i
        if not flag and since is not None:
            out.append((since, i))
            since = None
    return out


class Step:
    def __init__(self, window, events, calls, following):
        inside = [e for e in events if window["start"] <= e["start"] < window["end"]]
        self.window = window
        self.wall = following["start"] - window["start"] if following else window["dur"]
        self.ops = [e for e in inside if e["cat"] == "cpu_op"]
        self.calls = [e for e in inside if e["cat"] == "cuda_runtime"]
        self.frames = sorted((e for e in inside if e["cat"] == "python_function"), key=lambda e: (e["start"], -e["dur"]))
        self.reserved = [e["args"]["Total Reserved"] for e in inside if e["name"] == "[memory]" and "Total Reserved" in e["args"]]
        self.memory = [e["args"]["Total Allocated"] for e in inside if e["name"] == "[memory]"]
        mine = {id(c) for c in self.calls}
        self.rows = [e for e in events if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
                     and id(calls[e["args"]["correlation"]]) in mine]  # fmt: skip
        self.call = {id(r): calls[r["args"]["correlation"]] for r in self.rows}
        self.launches = [c for c in self.calls if "Synchronize" not in c["name"]]

    def ticks(self):
        """One set of purposes for each tick from the first start to the last end."""
        first, last = min(r["start"] for r in self.rows), max(r["end"] for r in self.rows)
        out = [set() for _ in range((last - first) // TICK)]
        for r in self.rows:
            for t in range((r["start"] - first) // TICK, (r["end"] - first) // TICK):
                out[t].add(purpose(r))
        return first, out

    def device(self):
        first, ticks = self.ticks()
        n = len(ticks)

        def share(test):
            return (sum(map(test, ticks)), n)

        cause = collections.Counter()
        for a, b in runs_of([not t for t in ticks]):
            start = first + b * TICK
            call = self.call[id(next(r for r in self.rows if r["start"] == start))]
            late = call["start"] > first + a * TICK
            cause["host_wait" if late else "kernel_wait" if (b - a) * TICK < 30_000 else "other"] += b - a
        comm, compute = share(lambda t: "comm" in t), share(lambda t: "compute" in t)
        busy, hidden = share(bool), share(lambda t: {"comm", "compute"} <= t)
        memory = share(lambda t: "memory" in t)
        return {
            "device_extent": (n * TICK, 1), "gpu_busy": (busy[0] * TICK, 1), "idle": (n - busy[0], n),
            "idle_host_wait": (cause["host_wait"], n), "idle_kernel_wait": (cause["kernel_wait"], n),
            "idle_other": (cause["other"], n), "launch_gap": (cause["host_wait"] * TICK, 1),
            "compute_share": compute, "comm_share": comm, "memory_share": memory,
            "non_compute_share": share(lambda t: bool(t) and "compute" not in t),
            "compute_time": (compute[0] * TICK, 1), "comm_time": (comm[0] * TICK, 1),
            "memory_time": (memory[0] * TICK, 1), "comm_exposed": ((comm[0] - hidden[0]) * TICK, 1),
            "comm_overlap": (hidden[0], comm[0]) if comm[0] else None,
            "kernel_names": (len({r["name"] for r in self.rows if r["cat"] == "kernel"}), 1),
        }  # fmt: skip

    def host(self):
        delays = [r["start"] - self.call[id(r)]["end"] for r in self.rows]
        return {
            "launch_count": (len(self.launches), 1), "launch_time": (sum(c["dur"] for c in self.launches), 1),
            "launch_delay": (sum(max(0, d) for d in delays), len(delays)),
            "short_kernels": (sum(r["dur"] < self.call[id(r)]["dur"] for r in self.rows), 1),
            "runtime_outliers": (sum(c["dur"] > 50_000 for c in self.launches), 1),
            "delay_outliers": (sum(d > 100_000 for d in delays), 1),
            "sync_count": (len(self.calls) - len(self.launches), 1),
            "graph_launches": (sum(c["name"] == "cudaGraphLaunch" for c in self.calls), 1),
            "mem_peak": (max(self.memory), 1) if self.memory else None,
            "mem_reserved": (max(self.reserved), 1) if self.reserved else None,
            "host_time": (self.window["dur"], 1),
            "step_time": (self.wall, 1),
        }  # fmt: skip

    def copies(self):
        out, total = {}, 0
        for key, part in DIRECTIONS.items():
            rows = [r for r in self.rows if part in r["name"]]
            flight = collections.defaultdict(decimal.Decimal)
            for r in rows:
                for t in range(r["start"], r["end"], TICK):
                    flight[t] += decimal.Decimal(r["args"]["bytes"]) / r["dur"]
            nbytes = sum(r["args"]["bytes"] for r in rows)
            total += nbytes if key != "set" else 0
            out[f"bytes_{key}"] = (nbytes, 1)
            out[f"bandwidth_{key}"] = (nbytes, len(flight) * TICK) if rows else None
            # Peaks are kept to the byte per second.
            out[f"bandwidth_peak_{key}"] = (round(max(flight.values()) * 10**9), 10**9) if rows else None
        return {**out, "memcpy_bytes": (total, 1)}

    def queue_peak(self, all_rows, call):
        """Most work of the whole trace that waits on a stream when work of this step was launched."""
        most = 0
        for r in self.rows:
            at = self.call[id(r)]["start"]
            most = max(most, sum(call[id(x)]["start"] <= at for x in all_rows
                                 if x["args"]["stream"] == r["args"]["stream"] and x["start"] >= at))  # fmt: skip
        return most


class Oracle:
    def __init__(self, path):
        events = load(path)
        calls = {e["args"]["correlation"]: e for e in events if "correlation" in e.get("args", {}) and e["pid"] == 1}
        windows = [e for e in events if e["name"].startswith("ProfilerStep#")]
        windows.sort(key=lambda w: w["start"])
        self.steps = [Step(w, events, calls, following) for w, following in zip(windows, [*windows[1:], None])]

    def queues(self):
        """Waiting pieces over time, per stream from its first launch to its last start: area, full, time."""
        streams = collections.defaultdict(list)
        for s in self.steps:
            for r in s.rows:
                streams[r["args"]["stream"]].append((s.call[id(r)]["start"], r["start"]))
        area = full = time = 0
        for waits in streams.values():
            change = collections.Counter()
            for call, start in waits:
                change[call] += 1
                change[start] -= 1
            length = 0
            for t in range(min(c for c, _ in waits), max(s for _, s in waits), TICK):
                length += change[t]
                area, full, time = area + length, full + (length >= 1024), time + 1
        return {"queue_mean": (area, time), "queue_full": (full, time)}

    def measures(self):
        """Name -> value, as a report shows it for one run of one rank: steps are equal in weight, ratios of sums."""
        ratios = ("idle", "share", "comm_overlap", "launch_delay", "bandwidth_htod", "bandwidth_dtoh", "bandwidth_dtod",
                  "bandwidth_ptop", "bandwidth_set")  # fmt: skip
        rows = [r for s in self.steps for r in s.rows]
        call = {k: c for s in self.steps for k, c in s.call.items()}
        each = [{**s.device(), **s.host(), **s.copies(), "queue_max": (s.queue_peak(rows, call), 1)} for s in self.steps]
        out = {name: num / den for name, (num, den) in self.queues().items()}
        for name in each[0]:
            known = [e[name] for e in each if e[name]]
            if not known:
                out[name] = None
            elif name.startswith(ratios[0]) or name.endswith(ratios[1]) or name in ratios:
                out[name] = sum(a for a, _ in known) / sum(b for _, b in known)
            else:
                out[name] = sum(a / b for a, b in known) / len(known)
        for name in out:
            percent = name.startswith("idle") or name.endswith("share") or name in ("comm_overlap", "queue_full")
            out[name] = None if out[name] is None else 100 * out[name] if percent else out[name]
        return out

    def durations(self, name):
        """The single durations of a name, step by step."""
        return [[e["dur"] for e in (*s.rows, *s.ops) if e["name"] == name] for s in self.steps]

    def frames(self, kind, name):
        """Of a module or source, per step: calls, host and self time; device work: pieces, time, own time."""
        return [frames_of(s, kind, name) for s in self.steps]

    def bytes(self, name):
        return sum(r["args"].get("bytes", 0) for s in self.steps for r in s.rows if r["name"] == name) / len(self.steps)


def frame_name(kind, name):
    """A frame's name in policies; None: it is of another kind."""
    if kind == "module":
        return name.removeprefix("nn.Module: ") if name.startswith("nn.Module: ") else None
    return re.sub(r"\(\d+\): ", ": ", name) if re.search(r"\(\d+\): ", name) else None


def frames_of(step, kind, name):
    """By ticks: who is innermost, who is around."""
    mine = [(e, frame_name(kind, e["name"])) for e in step.frames if frame_name(kind, e["name"])]
    host = own = 0
    if mine:
        for t in range(min(e["start"] for e, _ in mine), max(e["end"] for e, _ in mine), TICK):
            around = [n for e, n in mine if e["start"] <= t < e["end"]]  # outermost first
            host += TICK * (name in around)
            own += TICK * (around[-1:] == [name])
    out = {"count": sum(n == name for _, n in mine), "total": host, "self": own,
           "device_count": 0, "device_time": 0, "device_self": 0}  # fmt: skip
    for r in step.rows:
        at = step.call[id(r)]["start"]
        around = [n for e, n in mine if e["start"] <= at < e["end"]]
        out["device_count"] += name in around
        out["device_time"] += r["dur"] * (name in around)
        out["device_self"] += r["dur"] * (around[-1:] == [name])
    return out


def quantile(values, q):
    v = sorted(values)
    at = (len(v) - 1) * q
    i = int(at)
    return v[i] if i + 1 >= len(v) else v[i] + (at - i) * (v[i + 1] - v[i])
