#!/usr/bin/env python3
"""Work that was once added, made larger or slower without a word, and harmless changes beside it.

Each probe is a pair of recordings, what may come of it, and its control: the same plant in a form that was always seen, or
the same code recorded in another way. Expected values follow from docs/policy.md, not from the program: `red` fails, `told` is not
a plain pass, `open` is inconclusive, `green` passes without a warning, `calm` does not fail and is not inconclusive, `not red` does not fail.

usage: outside_in.py [--part P] [--seed S] [TEXT]: of the probes whose name has TEXT, each with a chance of P
"""
import argparse
import functools
import itertools
import random

from support import expect, judge, judged, run_parts
from plain_model import Work, delay, marks, scaled, trace, usual

ALLOWED = {"red": {"fail"}, "told": {"warn", "fail", "inconclusive"}, "open": {"inconclusive"}, "green": {"pass"},
           "calm": {"pass", "warn"}, "warn": {"warn"}, "not red": {"pass", "warn", "inconclusive"}}
STEPS = 5
RULE = "version: 1\nrules:\n  - {id: k, match: {kind: %s}, metric: %s, fail: {pct: 20%%}}\n"
WHOLE = "version: 1\nrules:\n  - {id: k, metric: %s, fail: {pct: 20%%}}\n"
BUDGET = "version: 1\nrequire: {collapse: off}\nrules:\n  - {id: k, %s, optional: true}\n"


def side(work, seed, runs=1, steps=STEPS, change=None, **how):
    """`work`: of a step, or a function of (run, step)."""
    docs = [trace([work(r, s) if callable(work) else work for s in range(steps)], seed + r, **how) for r in range(runs)]
    for doc in docs if change else ():
        change(doc["traceEvents"])
    return docs


def old(work, *args, **how):
    return side(work, 1, *args, **how)


def new(work, *args, **how):
    return side(work, 100, *args, **how)


def only_in(steps, changed, work):
    return lambda run, step: changed if step in steps else work


# ---- bytes -----------------------------------------------------------------------------------------------------------

NCCL = "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)"


def elements(n, dtype="Half"):
    def change(events):
        for e in events:
            if e["name"] == NCCL:
                e["args"].update({"Collective name": "allreduce", "In msg nelems": n, "Out msg nelems": n, "Group size": 8, "dtype": dtype})
    return change


def no_sizes(events):
    for e in events:
        e["args"].pop("bytes", None)


def size_probes():
    u, big = usual(), scaled(usual(), "aten::copy_", size=1000)
    cold = lambda run, step: big if step == 0 else u  # noqa: E731
    extra = lambda run, step: u + [Work(None, "memcpy", "Memcpy HtoD (Pinned -> Device)", 5, 10**7)] * 3 * (step == 0)  # noqa: E731
    data = lambda k: lambda run, step: scaled(u, "aten::copy_", size=k * (1 + ((step * 7 + run * 3) % 5) / 10))  # noqa: E731
    other = lambda run, step: scaled(u, "aten::copy_", size=1 + ((step * 5 + run * 2 + 1) % 6) / 10)  # noqa: E731
    reduce = u + [Work(None, "comm", NCCL, 20)]
    for runs in (1, 3):
        base = old(u, runs)
        yield f"bytes: copies of 1000 times as many, {runs}", "red", base, new(big, runs)
        yield f"bytes: sets of three times as many, {runs}", "red", base, new(scaled(u, "aten::zero_", size=3), runs)
        yield f"bytes: one byte more, {runs}", "warn", base, new(scaled(u, "aten::copy_", size=4097 / 4096), runs)
        yield f"bytes: control, fewer, {runs}", "green", old(big, runs), new(u, runs)
        yield f"bytes: 1000 times as many under another name, {runs}", "red", base, \
            new(scaled(u, "aten::copy_", size=1000, name="Memcpy HtoD (Pageable -> Device)"), runs)
        yield f"bytes: control, another name alone, {runs}", "calm", base, \
            new(scaled(u, "aten::copy_", name="Memcpy HtoD (Pageable -> Device)"), runs)
        for some in ({3}, {1, 3}):
            yield f"bytes: in steps {sorted(some)}, {runs}", "told", base, new(only_in(some, big, u), runs)
        yield f"bytes: control, in a cold first step on both sides, {runs}", "green", old(cold, runs), new(cold, runs, steps=8)
        yield f"bytes: control, more copies in a cold first step, {runs}", "green", old(extra, runs), new(extra, runs, steps=8)
        yield f"bytes: control, they follow the data, {runs}", "green", old(data(1), runs), new(other, runs)
        yield f"bytes: they follow the data and are 1000 times as many, {runs}", "told", old(data(1), runs), new(data(1000), runs)
        yield f"bytes: without step markers, {runs}", "told", old(u, runs, marker=None), new(big, runs, marker=None)
        yield f"bytes: control, more steps without markers, {runs}", "calm", old(u, runs, marker=None), new(u, runs, steps=8, marker=None)
    sent = old(reduce, change=elements(1000))
    yield "bytes: collectives of 1000 times as many elements", "red", sent, new(reduce, change=elements(10**6))
    yield "bytes: collectives of a wider type", "red", sent, new(reduce, change=elements(1000, "Float"))
    yield "bytes: control, the same collectives", "green", sent, new(reduce, change=elements(1000))
    yield "bytes: not told on the fresh side", "told", old(u), new(u, change=no_sizes)
    yield "bytes: control, told on neither", "green", old(u, change=no_sizes), new(u, change=no_sizes)
    own = "version: 1\nrules:\n  - {id: b, match: {kind: memcpy}, metric: bytes, fail: {abs: 0}}\n"
    yield "bytes: a rule of one's own", "red", old(u), new(scaled(u, "aten::copy_", size=4097 / 4096)), own
    yield "bytes: a rule of one's own, not told", "open", old(u), new(u, change=no_sizes), own
    yield "bytes: control, a rule of one's own", "green", old(u), new(u), own


# ---- events that cannot be read as work ------------------------------------------------------------------------------

def without(key, cat, times, ph="X"):
    """`times` more of each event of the category, without `key`."""
    def change(events):
        events += [{k: v for k, v in dict(e, ph=ph).items() if k != key} for e in events if e.get("cat") == cat for _ in range(times)]
    return change


def event_probes():
    u = usual()
    for cat in ("kernel", "cpu_op", "gpu_memcpy", "cuda_runtime"):
        yield f"events: {cat} without a duration", "open", old(u), new(u, change=without("dur", cat, 3))
    yield "events: kernels without a start", "open", old(u), new(u, change=without("ts", "kernel", 3))
    for ph in "BE":
        yield f"events: {ph} without a partner", "open", old(u), new(u, change=without("dur", "cpu_op", 3, ph))
    yield "events: kernels without a duration on both sides", "open", old(u, change=without("dur", "kernel", 3)), \
        new(u, change=without("dur", "kernel", 6))
    one = lambda events: events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1100.0, "args": {}})  # noqa: E731
    yield "events: one kernel in 100 steps without a duration", "warn", old(u, steps=100), new(u, steps=100, change=one)
    yield "events: control, on both sides", "green", old(u, steps=100, change=one), new(u, steps=100, change=one)
    nothing = {"schemaVersion": 1, "traceEvents": []}
    meta = dict(nothing, traceEvents=[{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 1, "args": {"name": "python"}}])
    step = dict(nothing, traceEvents=[{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 0, "ts": 1, "dur": 9}])
    for name, rule in (("kernels", "match: {kind: kernel}, metric: count, fail: {max: 100}"), ("step", "metric: step_time, fail: {max: 1s}"),
                       ("host", "metric: host_time, fail: {max: 1s}"), ("sync", "metric: sync_count, fail: {max: 100}")):
        for what, doc in (("events", nothing), ("but metadata", meta), ("but a step", step)):
            yield f"events: none {what}, a budget of {name}", "open", old(u), [doc], BUDGET % rule
            yield f"events: none {what} on both sides, a budget of {name}", "open", [doc], [doc], BUDGET % rule
        yield f"events: control, a budget of {name}", "green", old(u), new(u), BUDGET % rule
    yield "events: one of three runs has none", "open", old(u, 3), new(u, 2) + [nothing], BUDGET % "metric: step_time, fail: {max: 1s}"


def calls(name, cat="cuda_runtime", n=100):
    def change(events):
        at = [e for e in events if e["name"] == "aten::op3"]
        events += [{"ph": "X", "cat": cat, "name": name, "pid": 10, "tid": 10, "ts": e["ts"] + 0.1 + i / 1000, "dur": 0.0005, "args": {}}
                   for e in at for i in range(n)]
    return change


def call_probes():
    u = usual()
    for name in ("cudaEventRecord", "cudaStreamWaitEvent", "cudaFuncGetAttributes", "cudaMallocAsync", "cudaStreamCreate", "hipFree",
                 "cudaLaunchHostFunc", "cuModuleLoadData", "cudaMemcpy", "cudaLaunchKernel", "cudaStreamQuery"):
        yield f"calls: 100 of {name} a step", "told", old(u), new(u, change=calls(name))
        yield f"calls: control, as many {name} before", "green" if name != "cudaStreamQuery" else "calm", old(u, change=calls(name)), \
            new(u, change=calls(name))
    yield "calls: of a category that nobody knows", "told", old(u), new(u, change=calls("zzz", "fancy"))


# ---- durations of some steps or runs ---------------------------------------------------------------------------------

def part_probes():
    u, host = usual(), usual() + [Work("aten::one", "op", "", 50)]
    every = [Work(w.op, w.sort, w.name, w.us * 4, w.bytes) for w in u]
    kernel, op = scaled(u, "aten::op3", 4), scaled(host, "aten::one", 4)
    for steps, runs in ((4, 3), (5, 3), (8, 3), (5, 5)):
        for metric in ("total", "self", "mean"):
            yield f"part: {metric} of a kernel x4 in one of {steps} steps, {runs} runs", "red", old(u, runs, steps), \
                new(only_in({2}, kernel, u), runs, steps), RULE % ("kernel", metric)
            yield f"part: {metric} of an operator x4 in one of {steps} steps, {runs} runs", "red", old(host, runs, steps), \
                new(only_in({2}, op, host), runs, steps), RULE % ("op", metric)
        yield f"part: control, in one run of {runs} with {steps} steps", "green", old(host, runs, steps), \
            side(lambda r, s: op if (r, s) == (1, 2) else host, 100, runs, steps), RULE % ("[kernel, op]", "total")
        # "calm", not "green": one polluted baseline run hides no growth of the step, which is +9 % here
        yield f"part: control, in a run of the baseline as well, {runs} with {steps}", "calm", \
            side(lambda r, s: op if (r, s) == (1, 1) else host, 1, runs, steps), new(only_in({2}, op, host), runs, steps), \
            RULE % ("[kernel, op]", "total")
    for some in ({2}, {1, 3}, {1, 2, 3}):
        yield f"part: all kernels x4 in steps {sorted(some)}", "told", old(u, 3), new(only_in(some, every, u), 3)
        yield f"part: one operator x40 in steps {sorted(some)}", "told", old(host, 3), new(only_in(some, scaled(host, "aten::one", 40), host), 3)
        for metric in ("step_time", "gpu_busy", "host_time"):
            yield f"part: all kernels x4 in steps {sorted(some)}, {metric}", "told", old(u, 3), new(only_in(some, every, u), 3), WHOLE % metric
        yield f"part: all kernels x4 in steps {sorted(some)}, total", "told", old(u, 3), new(only_in(some, every, u), 3), RULE % ("kernel", "total")
    for slow, runs, want in ((2, 3, "told"), (3, 5, "told"), (4, 5, "told"), (1, 3, "green"), (2, 5, "green")):
        yield f"part: a kernel x2 in {slow} of {runs} runs", want, old(u, runs), \
            side(lambda r, s, n=slow: scaled(u, "aten::op3", 2) if r < n else u, 100, runs)
    yield "part: control, the same code", "green", old(u, 3), new(u, 3), RULE % ("[kernel, op]", "total")


# ---- rules that look elsewhere ---------------------------------------------------------------------------------------

def moved(**where):
    """All kernels on another device or stream."""
    def change(events):
        for e in events:
            if e["cat"] == "kernel":
                e["args"].update(where)
                e.update({"pid": where["device"]} if "device" in where else {"tid": where["stream"]})
    return change


def elsewhere_probes():
    u = usual()
    match = "version: 1\nrules:\n  - {id: k, match: {%s}, metric: count, fail: {abs: 0}}\n"
    other = scaled(u, "aten::op3", name="void elsewhere(float*)")
    more = other + [w for w in other if w.op == "aten::op3"] * 2
    reduce, own = Work(None, "comm", NCCL, 20), Work(None, "kernel", "my_own_reduce(float*)", 20)
    for what, rule, before, base, now, change in (
            ("stream", "kind: kernel, stream: 7", u, None, u * 3, moved(stream=9)),
            ("device", "kind: kernel, device: 0", u, None, u * 3, moved(device=1)),
            ("name", "kind: kernel, name: '*kern3*'", u, None, more, None), ("class", "class: comm", u + [reduce], None, u + [own] * 3, None)):
        yield f"elsewhere: by {what}, three times and no longer there", "told", old(before), new(now, change=change), match % rule
        yield f"elsewhere: control, by {what}, as before", "green", old(before), new(before), match % rule
    yield "elsewhere: control, a kind that is gone", "green", old(u), new([w for w in u if w.sort != "memset"]), match % "kind: memset"
    yield "elsewhere: a rule for another device", "open", old(u), new(u * 2), \
        match.replace("fail:", "when: {device: '*V100*'}, fail:") % "kind: kernel"


def written_probes():
    """A limit of one's own holds for calls in some steps of steady code, too; a rule may except chance."""
    u, own = usual(), "version: 1\nrules:\n  - {id: k, match: {kind: [kernel, memcpy]}, metric: %s, fail: {abs: %s}%s}\n"
    big = scaled(u, "aten::copy_", size=1000)
    for sort, name in (("kernel", "void extra(float*)"), ("kernel", "void kern3(float*)"), ("memcpy", "Memcpy HtoD (Pinned -> Device)")):
        more = u + [Work(None, sort, name, 5)]
        for some in ({0}, {0, 1}, {2}, {4}):
            what = f"{name} in steps {sorted(some)}"
            for runs in (1, 3):
                base, now = old(u, runs), new(only_in(some, more, u), runs)
                yield f"written: {what}, {runs}", "red", base, now, own % ("count", 0, "")
                # What others wait for, in two steps, is proof; so is a new name in every run.
                proof = runs * len(some - {0}) > 1 if sort == "memcpy" else runs == 3 and "extra" in name and some != {0}
                yield f"written: excepted, {what}, {runs}", "red" if proof else "calm", base, now, own % ("count", 0, ", exceptions: [chance]")
                yield f"written: below the limit, {what}, {runs}", "calm", base, now, own % ("count", 0.5, "")
                yield f"written: control, on both sides, {what}, {runs}", "green", old(only_in(some, more, u), runs), now, own % ("count", 0, "")
    yield "written: in one run of three", "red", old(u, 3), side(lambda r, s: u + u[1:2] if r == 1 else u, 100, 3), own % ("count", 0, "")
    yield "written: bytes of one step", "red", old(u, 3), new(only_in({2}, big, u), 3), own % ("bytes", 0, "")


# ---- small ones, and what no rule is about -----------------------------------------------------------------------------

def small_probes():
    u = usual()
    for op in ("aten::zero_", "aten::copy_"):
        for runs in (3, 5):
            yield f"small: {op} x20, {runs}", "told", old(u, runs), new(scaled(u, op, us=20), runs)
        yield f"small: control, {op} x20 on both sides", "green", old(scaled(u, op, us=20), 3), new(scaled(u, op, us=20), 3)


def rows(cat, n):
    """n more rows of a category inside an operator."""
    def change(events):
        at = [e for e in events if e["name"] == "aten::op3"]
        events += [{"ph": "X", "cat": cat, "name": "row", "pid": 10, "tid": 10, "ts": e["ts"] + 0.1 + i * 0.012, "dur": 0.01, "args": {}}
                   for e in at for i in range(n)]
    return change


def shapes(batch):
    def change(events):
        for e in events:
            if e["cat"] == "cpu_op":
                e["args"].update({"Input Dims": [[batch, 128], [128, 64]], "Input type": ["float", "float"]})
    return change


ATTRIBUTES = {"input_shapes": ("cpu_op", lambda v: {"Input Dims": [[v, 128], [128, 64]]}),
              "input_types": ("cpu_op", lambda v: {"Input type": [f"type{v}", "float"]}),
              "launch_config": ("kernel", lambda v: {"registers per thread": v, "grid": [v, 1, 1]})}
LAUNCH = ("grid", "block", "registers per thread", "shared memory")


def given(docs, metric, value):
    """`docs` with an attribute: a number, a function of (run, step), or None for nothing."""
    cat, args = ATTRIBUTES[metric]
    for run, doc in enumerate(docs):
        starts = [e["ts"] for e in marks(doc["traceEvents"])]
        for e in doc["traceEvents"]:
            if e.get("cat") == cat:
                v = value(run, sum(ts <= e["ts"] for ts in starts) - 1) if callable(value) else value
                e["args"] = {k: x for k, x in e["args"].items() if k not in LAUNCH or v is not None} | (args(v) if v is not None else {})
    return docs


def attribute_probes():
    """A rule does not pass by an attribute that could not be compared; a change is found if the values of a side recur."""
    u = usual()
    own = "version: 1\nrules:\n  - {id: a, match: {kind: [kernel, op]}, metric: %s, fail: {abs: 0}%s}\n"
    by_step = lambda at: lambda run, step: at + step % 2  # noqa: E731
    by_run = lambda at: lambda run, step: at + 10 * run + step  # noqa: E731
    mixed = lambda at: lambda run, step: at + (step < 2 + run % 2)  # noqa: E731
    in_steps = lambda some: lambda run, step: 32 if step in some else 8  # noqa: E731
    # what, by a rule of one's own (with `unjudged: note`: what is open passes), by the built-in policy, baseline, fresh
    cases = (("8 and 32", "red", "told", 8, 32), ("control, 8 on both sides", "green", "green", 8, 8),
             ("none in the baseline", "open", "calm", None, 8), ("none in the fresh traces", "open", "calm", 8, None),
             ("none on both sides", "open", "green", None, None),
             ("one fresh run has none", "open", "calm", 8, lambda run, step: 8 if run else None),
             ("other ones in each run of the baseline", "open", "green", by_run(8), 8),
             ("other ones in each fresh run", "red", "told", 8, by_run(108)),
             ("other ones in each run", "open", "green", by_run(8), by_run(108)),
             ("other ones in a fresh run", "open", "green", 8, lambda run, step: 32 if run == 1 else 8),
             ("by the data, none of before", "red", "told", mixed(8), mixed(32)),
             ("by the data, some of before", "open", "green", mixed(8), mixed(9)),
             ("control, by the step as before", "green", "green", by_step(8), by_step(8)),
             ("by the step, another one", "red", "told", by_step(8), lambda run, step: 8 + 4 * (step % 2)),
             ("in two steps", "red", "told", 8, in_steps({1, 3})), ("control, in a cold step", "green", "green", 8, in_steps({0})))
    for metric in ("input_shapes", "input_types", "launch_config"):
        for what, mine, built_in, before, now in cases:
            base, fresh = given(old(u, 3), metric, before), given(new(u, 3), metric, now)
            yield f"attributes: {metric}, {what}", mine, base, fresh, own % (metric, "")
            for keys, wanted in ((", optional: true", mine), (", unjudged: note", "green" if mine == "open" else mine)):
                yield f"attributes: {metric}, {what}{keys}", wanted, base, fresh, own % (metric, keys) + \
                    "  - {id: c, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
            yield f"attributes: {metric}, {what}, built in", built_in, base, fresh
        base = given(ranks(8, 1), metric, 8)
        yield f"attributes: {metric}, on one of 8 ranks", "red", base, given(ranks(8, 5000), metric, lambda run,
                                                                             step: 32 if run == 3 else 8), own % (metric, "")
        yield f"attributes: control, {metric}, of each rank its own", "green", given(ranks(8, 1), metric, by_rank := lambda run, step: 8 + run), \
            given(ranks(8, 5000), metric, by_rank), own % (metric, "")
        yield f"attributes: {metric}, as many calls more", "red", given(old(u, 1), metric, 8), given(new(u + u, 1), metric, 32), own % (metric, "")
        yield f"attributes: control, {metric}, as many calls more of the same", "green", given(old(u, 1), metric, 8), \
            given(new(u + u, 1), metric, 8), own % (metric, "") + "require: {account: off}\n"  # its calls are that row's


def row_probes():
    u = usual()
    for runs in (1, 3):
        for cat in ("user_annotation", "gpu_user_annotation", "overhead", "python_function", "cuda_driver", "privateuse1_runtime"):
            control = "calm" if cat == "user_annotation" else "green"  # annotations that no rule is about are a note
            yield f"rows: 200 of {cat}, {runs}", "told", old(u, runs), new(u, runs, change=rows(cat, 200))
            yield f"rows: 2 of {cat} become 200, {runs}", "told", old(u, runs, change=rows(cat, 2)), new(u, runs, change=rows(cat, 200))
            yield f"rows: control, 200 of {cat} as before, {runs}", control, old(u, runs, change=rows(cat, 200)), new(u, runs, change=rows(cat, 200))
            yield f"rows: control, 200 of {cat} less, {runs}", "calm", old(u, runs, change=rows(cat, 200)), new(u, runs)
        yield f"rows: control, one annotation more, {runs}", "green", old(u, runs), new(u, runs, change=rows("user_annotation", 1))
        yield f"rows: inputs 1000 times as large, {runs}", "told", old(u, runs, change=shapes(32)), new(u, runs, change=shapes(32000))
        yield f"rows: inputs a thousandth as large, {runs}", "told", old(u, runs, change=shapes(32000)), new(u, runs, change=shapes(32))
        yield f"rows: control, the same inputs, {runs}", "green", old(u, runs, change=shapes(32)), new(u, runs, change=shapes(32))
        yield f"rows: control, inputs recorded on one side, {runs}", "calm", old(u, runs), new(u, runs, change=shapes(32))


def on_marks(change):
    """The markers of steps in the order of their starts, and all events."""
    @functools.wraps(change)
    def changed(events):
        change(marks(events), events)
    return changed


def marks_elsewhere(marks, _):
    for e in marks:
        e["tid"] = 99


def marks_one_around_all(marks, events):
    events.append(dict(marks[0], name="ProfilerStep#99", ts=marks[0]["ts"] - 1, dur=marks[-1]["ts"] + marks[-1]["dur"] - marks[0]["ts"] + 2))


def marks_overlap(marks, _):
    for e in marks:
        e["dur"] *= 1.5


def marks_two_inside(marks, events):
    events += [dict(e, name=e["name"] + f"{k}", ts=e["ts"] + k * e["dur"] / 2 + 0.1, dur=e["dur"] / 2 - 0.2) for e in marks for k in (0, 1)]


def marks_twice(marks, events):
    events += [dict(e) for e in marks]


def mark_probes():
    """Steps that are marked in another way on one side: neither red without a change nor green with one."""
    u, more = usual(), usual() + usual()[3:4]
    for name in (marks_elsewhere, marks_one_around_all, marks_overlap, marks_two_inside):
        change, what = on_marks(name), f"marks: {name.__name__[6:]}"
        for runs in (1, 3):
            yield f"{what}, fresh alone, {runs}", "open", old(u, runs), new(u, runs, change=change)
            yield f"{what}, fresh alone, a call more, {runs}", "open", old(u, runs), new(more, runs, change=change)
            yield f"{what}, baseline alone, {runs}", "open", old(u, runs, change=change), new(more, runs)
            yield f"{what}, both, a call more, {runs}", "red", old(u, runs, change=change), new(more, runs, change=change)
            yield f"{what}, control, both, {runs}", "calm", old(u, runs, change=change), new(u, runs, change=change)
    for runs in (1, 3):
        yield f"marks: control, each twice, {runs}", "green", old(u, runs), new(u, runs, change=on_marks(marks_twice))


def marks_shifted(us=0, part=0):
    """Each marker so much later."""
    @on_marks
    def change(marks, _):
        for e in marks:
            e["ts"] += us + part * e["dur"]
    return change


def marks_short(part):
    @on_marks
    def change(marks, _):
        for e in marks:
            e["dur"] *= part
    return change


def on_thread(*names):
    """These operators, and what they call, on another thread."""
    def change(events):
        spans = [(e["ts"], e["ts"] + e["dur"]) for e in events if e["cat"] == "cpu_op" and e["name"] in names]
        for e in events:
            if e["cat"] in ("cpu_op", "cuda_runtime") and any(a <= e["ts"] <= b for a, b in spans):
                e["tid"] = 77
    return change


def unlinked(*cats):
    def change(events):
        for e in events:
            if e["cat"] in cats:
                e["args"].pop("correlation", None)
    return change


def pauses(us):
    """The host waits in the middle of each step, between two operators, and all that follows is later."""
    @on_marks
    def change(marks, events):
        for mark in marks:
            half = mark["ts"] + mark["dur"] / 2
            delay(events, min(e["ts"] for e in events if e["cat"] == "cpu_op" and e["ts"] >= half), us)
    return change


def cut_probes():
    """Work that one side's steps hold and the other's do not, though both did it; gaps that only look like ones."""
    host = [Work(f"aten::c{i}", "op", "", 30 + i) for i in range(10)]
    u = usual() + host[:1]
    changes = [(f"markers {us} us later", marks_shifted(us)) for us in (20, -20, 100)] + \
        [(f"markers {part} of a step later", marks_shifted(part=part)) for part in (.33, .5)] + \
        [(f"markers {part} as long", marks_short(part)) for part in (.9, .5, .1)] + \
        [("no correlations", unlinked("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime")), ("no correlations of calls", unlinked("cuda_runtime"))]
    for runs in (1, 3):
        for what, change in changes:
            yield f"cut: control, {what}, {runs}", "not red", old(u, runs), new(u, runs, change=change)
            if "0.9" not in what:  # the end of a step alone: by all that the traces say it is longer now
                yield f"cut: control, {what} in the baseline, {runs}", "not red", old(u, runs, change=change), new(u, runs)
            yield f"cut: {what}, a call more, {runs}", "told", old(u, runs), new(u + u[3:4], runs, change=change)
            yield f"cut: {what} in the baseline, a call more, {runs}", "told", old(u, runs, change=change), new(u + u[3:4], runs)
    for what, work in (("host", host), ("device", u), ("both", u + host)):
        moved = on_thread("aten::c3", "aten::c4", "aten::op2", "aten::op4")
        for runs in (3, 5):
            yield f"cut: control, operators on another thread, {what}, {runs}", "not red", old(work, runs), new(work, runs, change=moved)
            yield f"cut: pauses, {what}, {runs}", "red", old(work, runs), new(work, runs, change=pauses(40))
            faster = [Work(w.op, w.sort, w.name, w.us / 2 if w.sort == "op" else w.us, w.bytes) for w in work]
            yield f"cut: pauses beside faster operators, {what}, {runs}", "red", old(work, runs), new(faster, runs, change=pauses(100))


def by_chance(sort, least, most, us, seed):
    """Calls without a schedule: `least` to `most` in a step."""
    drawn, calls = random.Random(seed), {}
    return lambda run, step: usual() + [Work("aten::vary", sort, "void vary(float*)", us)] * calls.setdefault((run, step), drawn.randint(least, most))


NAMES = {"address": "step_fn_0x{0:012x}", "counter": "triton_poi_{1}", "dash": "job-{1}", "words": "batch {1}", "hash": "fn_{0:016x}"}


def own_names(form, sort, n, us, seed):
    """n calls in a step, each under a name of its own; `form` None: all under one."""
    drawn, done = random.Random(seed), {}

    def step(run, at):
        if (run, at) not in done:
            names = [form.format(drawn.getrandbits(47), n * len(done) + i) if form else "fixed" for i in range(n)]
            done[run, at] = [Work(name if sort == "op" else "aten::w", sort, name, us) for name in names]
        return usual() + done[run, at]
    return step


def uncompared_probes():
    """Time that no name shows: calls by chance, and names that differ on every call."""
    for sort, (least, most), (runs, steps) in itertools.product(("op", "kernel"), ((0, 4), (0, 1), (1, 5), (0, 9)), ((1, 12), (3, 8), (5, 12))):
        what, us = f"{least} to {most} calls of {sort}, {runs} of {steps}", 160 / (least + most)
        for times in (2, 4):
            yield f"uncompared: {what}, x{times}", "told", old(by_chance(sort, least, most, us, 11), runs, steps), \
                new(by_chance(sort, least, most, us * times, 12), runs, steps)
        yield f"uncompared: control, {what}", "green", old(by_chance(sort, least, most, us, 21), runs, steps), \
            new(by_chance(sort, least, most, us, 22), runs, steps)
        yield f"uncompared: control, {what}, faster", "green", old(by_chance(sort, least, most, us * 4, 21), runs, steps), \
            new(by_chance(sort, least, most, us, 22), runs, steps)
    for (name, form), sort, runs in itertools.product(NAMES.items(), ("op", "kernel"), (1, 3, 5)):
        for more, n, us in (("three times the calls", 12, 10), ("a call more", 5, 10), ("four times the time", 4, 40)):
            for where, forms in (("on both sides", (form, form)), ("in the fresh traces", (None, form)), ("in the baseline", (form, None))):
                yield f"uncompared: names by {name} {where}, {sort}, {more}, {runs}", "told", \
                    old(own_names(forms[0], sort, 4, 10, 1), runs), new(own_names(forms[1], sort, n, us, 2), runs)
        yield f"uncompared: control, names by {name}, {sort}, {runs}", "calm", \
            old(own_names(form, sort, 4, 10, 1), runs), new(own_names(form, sort, 4, 10, 2), runs)


def schedule_probes():
    """Work of every so many steps, such as an optimizer's after some batches: more of it, or more often."""
    u, block = usual(), [Work(f"aten::adam{i}", "kernel", f"void adam{i}(float*)", 25) for i in range(4)]
    for what, more in (("kernel", block[:1]), ("block", block), ("op", [Work("aten::log", "op", "", 25)]), ("known", u[3:4]),
                       ("sync", [Work(None, "sync", "cudaDeviceSynchronize")])):
        every = lambda k, n=1, at=0, m=more: lambda run, step: u + m * n * (step % k == at)  # noqa: E731
        for runs, steps in ((1, 8), (1, 12), (3, 8)):
            for k, now, n in ((4, 2, 1), (2, 1, 1), (4, 4, 2), (2, 2, 2)):
                proof = what != "block" and (what == "sync" or (steps == 12 and k == 2))
                yield f"schedule: {what} every {k} steps, {n} every {now}, {runs} of {steps}", "red" if proof else "told", \
                    old(every(k), runs, steps), new(every(now, n), runs, steps)
            yield f"schedule: control, {what}, the same, {runs} of {steps}", "green", old(every(4), runs, steps), new(every(4), runs, steps)
            yield f"schedule: control, {what}, more steps, {runs} of {steps}", "calm", old(every(4), runs, steps), new(every(4), runs, steps + 3)
            yield f"schedule: control, {what}, from another step on, {runs} of {steps}", "calm", old(every(4), runs, steps), \
                new(every(4, at=1), runs, steps)


def scheduled_probes():
    """What runs every so many steps and takes longer: 5 % of the mean step, which is some 370 us."""
    u = usual()
    for sort, k, steps, runs in itertools.product(("op", "kernel"), (2, 3, 4), (8, 12), (1, 3, 5)):
        def every(times, s=sort, us=18.5 * k, k=k):
            return lambda run, step: u + [Work("aten::adam", s, "void adam(float*)", us * times)] * (step % k == 0)
        what = f"every {k} steps: {sort}, {runs} of {steps}"
        for times in (1.5, 2, 4)[2 * (runs == 1):]:
            yield f"{what}, x{times}", "told" if runs == 1 else "red", old(every(1), runs, steps), new(every(times), runs, steps)
        yield f"{what}, control", "green", old(every(1), runs, steps), new(every(1), runs, steps)
        yield f"{what}, control, noise", "green", old(every(1), runs, steps, noise=0.1), new(every(1), runs, steps, noise=0.1)
        yield f"{what}, control, faster", "green", old(every(4), runs, steps), new(every(1), runs, steps)


def copy_probes():
    u = usual()
    for runs in (1, 2, 5):
        base = old(u, runs)
        for copies in range(1, runs + 1):
            yield f"copies: {copies} of {runs} runs are the baseline's", "told", base, base[:copies] + new(u, runs - copies)
        moved_ = [dict(doc, traceName="elsewhere.json") for doc in base]
        yield f"copies: with another name inside, {runs}", "told", base, moved_
        yield f"copies: control, none of {runs}", "green", base, new(u, runs)


def share_probes():
    """A rule about the part of the step alone: names that come and go are compared with what they replaced."""
    u, fat = usual(), [Work("aten::fat", "op", "", 60)]
    kern = lambda *works: [w for w in u if w.op != "aten::op3"] + [Work("aten::op3", "kernel", f"void {n}(float*)", us)
                                                                   for n, us in works]  # noqa: E731
    plants = {"an operator's calls, x3": ("told", "op", u + fat, u + fat * 3), "a new operator": ("told", "op", u, u + fat * 2),
              "a renamed kernel, x5": ("red", "kernel", u, kern(("new", 115))),
              "one kernel of two, x4": ("red", "kernel", kern(("a", 12), ("b", 11)), kern(("new", 92))),
              "control, a renamed kernel": ("green", "kernel", u, kern(("new", 23))),
              "control, one kernel of two": ("green", "kernel", kern(("a", 12), ("b", 11)), kern(("new", 23))),
              "control, fewer calls": ("green", "op", u + fat * 3, u + fat)}
    for runs, (what, (want, kind, base, fresh)) in itertools.product((3, 5), plants.items()):
        yield f"share: {what}, {runs}", want, old(base, runs), new(fresh, runs), (RULE % (kind, "share")).replace("pct: 20%", "pp: 4pp")


def fused_probes():
    u, cost = usual(), {w.op: w.us for w in usual()}
    for names in (("aten::op3", "aten::op4", "aten::op5"), tuple(f"aten::op{i}" for i in range(2, 8))):
        rest, us = [w for w in u if w.op not in names], sum(cost[n] for n in names)
        for runs in (1, 3, 5):
            for op in (None, "aten::fused", "aten::op0"):
                for factor, want in ((1, "calm"), (4, "told" if runs == 1 else "red")):
                    yield f"fused: {len(names)} into one of {op}, x{factor}, {runs}", want, old(u, runs), \
                        new(rest[:3] + [Work(op, "kernel", "void triton_fused(float*)", us * factor)] + rest[3:], runs)


# ---- ranks ------------------------------------------------------------------------------------------------------------

def ranks(n, seed, change=None, runs=1, base=usual()):
    """One recording a rank. `change`: rank -> its step."""
    return [trace([(change or {}).get(k, base)] * 3, seed + 1000 * r + k, rank=k, world=n) for r in range(runs) for k in range(n)]


def copied(docs, source, targets, world, **meta):
    """Ranks whose file is the one of another rank, under their own number."""
    return [dict(docs[source], distributedInfo=doc["distributedInfo"], **meta) if k in targets else doc for k, doc in enumerate(docs)]


def rank_probes():
    u, more = usual(), usual()[3:4] * 6
    for sort, added in (("kernel", Work("aten::mm", "kernel", "void gemm(float*)", 20)), ("op", Work("aten::mm", "op", "", 20)),
                      ("known", u[3]), ("sync", Work(None, "sync"))):
        for n, who in ((2, 1), (8, 5), (100, 70)):
            yield f"ranks: a {sort} on one of {n}", "red", ranks(n, 1), ranks(n, 5000, {who: u + [added]})
    yield "ranks: control, a tiny kernel on one of 8", "warn", ranks(8, 1), ranks(8, 5000, {5: u + [Work(None, "kernel", "void t(float*)", 0.05)]})
    for n in (2, 8, 64):
        base, fresh = ranks(n, 1), ranks(n, 5000)
        yield f"ranks: control, {n} of their own", "green", base, fresh
        for source, targets in ((0, {1}), (n - 1, {0}), (0, set(range(1, n))))[:2 if n == 2 else 3]:
            what = f"{len(targets)} of {n} are rank {source}'s"
            yield f"ranks: {what}", "told", base, copied(fresh, source, targets, n)
            yield f"ranks: {what}, with another name inside", "told", base, copied(fresh, source, targets, n, traceName="elsewhere.json")
            yield f"ranks: {what}, in the baseline", "told", copied(base, source, targets, n), fresh
            yield f"ranks: {what} of the baseline", "told", base, \
                [copied(base, source, targets, n)[k] if k in targets else doc for k, doc in enumerate(fresh)]
    for n in (2, 8):
        for runs in (1, 3):
            even, left = ranks(n, 1, runs=runs, base=u + more), {0: u, 1: u + more * 2}
            yield f"ranks: work of one is another's, {n} ranks, {runs} runs", "told", even, ranks(n, 5000, left, runs, u + more)
            yield f"ranks: control, the same uneven, {n} ranks, {runs} runs", "green", ranks(n, 1, left, runs, u + more), \
                ranks(n, 5000, left, runs, u + more)
            large, uneven = scaled(u, "aten::copy_", size=2), {0: scaled(u, "aten::copy_", size=3), 1: scaled(u, "aten::copy_")}
            even = ranks(n, 1, runs=runs, base=large)
            yield f"ranks: bytes of one are another's, {n} ranks, {runs} runs", "warn", even, ranks(n, 5000, uneven, runs, large)
            yield f"ranks: control, the same uneven bytes, {n} ranks, {runs} runs", "green", ranks(n, 1, uneven, runs, large), \
                ranks(n, 5000, uneven, runs, large)
            yield f"ranks: they change places, {n} ranks, {runs} runs", "told", ranks(n, 1, {0: u + more}, runs), ranks(n, 5000, {1: u + more}, runs)


# ---- harmless changes ------------------------------------------------------------------------------------------------

def shuffled(events):
    random.Random(1).shuffle(events)


def other_process(events):
    for e in events:
        if e["pid"] == 10:
            e.update(pid="777", tid="888")


def other_stream(events):
    for e in events:
        if "stream" in e["args"]:
            e["args"]["stream"] = e["tid"] = 20


def later(events):
    for e in events:
        e["ts"] += 1.7e12


def renumbered(events):
    for e in events:
        e["args"].update({k: e["args"][k] + 10**5 for k in ("correlation", "External id") if k in e["args"]})


def other_steps(events):
    for e in events:
        if e["name"].startswith("ProfilerStep#"):
            e["name"] = f"ProfilerStep#{int(e['name'][13:]) + 1000}"


def with_flows(events):
    events += [{"ph": ph, "id": e["args"]["correlation"], "pid": e["pid"], "tid": e["tid"], "ts": e["ts"], "cat": "ac2g", "name": "ac2g"}
               for e in events if e["cat"] == "kernel" for ph in "sf"]


def harmless_probes():
    u = usual()
    for runs in (1, 3):
        for change in (shuffled, other_process, other_stream, later, renumbered, other_steps, with_flows):
            yield f"harmless: {change.__name__}, {runs}", "green", old(u, runs), new(u, runs, change=change)
        for steps in (1, 2, 8, 30):
            yield f"harmless: {steps} steps, {runs}", "calm", old(u, runs), new(u, runs, steps)
        yield f"harmless: another order, {runs}", "calm", old(u, runs), new(u[1:6][::-1] + u[:1] + u[6:], runs)
        kernels = [Work(w.op, w.sort, w.name.replace("kern", "other"), w.us, w.bytes) for w in u]
        yield f"harmless: all kernels renamed, {runs}", "calm", old(u, runs), new(kernels, runs)


# ---- recorded in another way ------------------------------------------------------------------------------------------


def begin_and_end(events):
    events[:] = [part for e in events for part in
                 ((e,) if e["cat"] != "cpu_op" else ({k: v for k, v in dict(e, ph="B").items() if k != "dur"},
                                                     dict(e, ph="E", ts=round(e["ts"] + e["dur"], 3))))]


def memory(events):
    events += [{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 10, "ts": e["ts"] + 0.5,
                "args": {"Bytes": 512, "Addr": 4096 + i, "Device Id": 0, "Device Type": 1, "Total Allocated": 999, "Total Reserved": 4096}}
               for i, e in enumerate(events) if e["cat"] == "cpu_op"]


@on_marks
def clock_jump(marks, events):
    at = marks[2]["ts"] - 0.5
    for e in events:
        e["ts"] += 3.6e9 * (e["ts"] >= at)


@on_marks
def cut_in_a_step(marks, events):
    last = marks[-1]
    events[:] = [e for e in events if e is not last and e["ts"] <= last["ts"] + last["dur"] / 2]


@on_marks
def marks_on_the_device(marks, events):
    events += [dict(e, cat="gpu_user_annotation", pid=0, tid=7) for e in marks]


def graph_nodes(events):
    for i, e in enumerate(e for e in events if e["cat"] == "kernel"):
        e["args"].update({"graph id": 7, "graph node id": 1000 + i % 12})


def triton(seed):
    rng = random.Random(seed)
    return [Work(w.op, w.sort, f"triton_red_fused_add_{w.op[8:]}_{rng.getrandbits(32):08x}" if w.sort == "kernel" else w.name, w.us, w.bytes)
            for w in usual()]


def recorded_probes():
    """Harmless for the same code, and no disguise of work that came."""
    u, more = usual(), (usual()[4], Work(None, "sync", "cudaDeviceSynchronize"))
    for runs in (1, 3):
        for change in (begin_and_end, memory, clock_jump, cut_in_a_step, marks_on_the_device, graph_nodes):
            what = f"recorded: {change.__name__}, {runs}"
            yield f"{what}, control", "calm", old(u, runs), new(u, runs, change=change)
            for k, work in enumerate(more):
                yield f"{what}, work {k}", "red", old(u, runs), new(u + [work], runs, change=change)
        yield f"recorded: generated names, {runs}, control", "calm", old(triton(1), runs), new(triton(2), runs)
        yield f"recorded: generated names, {runs}, an operator", "red", old(triton(1), runs), new(triton(2) + [Work("aten::new")], runs)
        yield f"recorded: generated names, {runs}, a kernel", "told", old(triton(1), runs), new(triton(2) + triton(2)[4:5], runs)
    yield "recorded: generated names, slower", "red", old(triton(1), 3), new(scaled(triton(2), "aten::op11", 1.6), 3)


# ---- what got through once, where no probe above and no variant of variants.py is the same -------------------------------

def known_probes():
    u = usual()
    window = "version: 1\nextends: [tracegate:recommended]\nsuites: [{name: default, trace: x, window: {%s}}]\n"
    for left, want in ((0, "open"), (1, "red")):
        yield f"known: {left} of 5 steps are left of the window", want, old(u), new(u * 3), window % f"by: ProfilerStep, skip_first: {5 - left}"
    yield "known: no markers on the fresh side, everything three times", "open", old(u), new(u * 3, marker=None)
    yield "known: control, with markers", "red", old(u), new(u * 3)
    for name, work, want in (("run_%d", u * 3, "open"), ("execute_%d", u * 3, "red"), ("execute_%d", u, "calm")):
        yield f"known: the window's annotation, {len(work) // len(u)} times in {name}", want, old(u, marker="execute_%d"), \
            new(work, marker=name), window % "by: annotation, name: 'execute_*'"
    for name, slower, want in (("void NEW(float*)", 1.28, "red"), (None, 1.28, "red"), ("void NEW(float*)", 1, "calm")):
        yield f"known: a kernel called {name}, x{slower}", want, old(u, 5), new(scaled(u, "aten::op3", slower, name=name), 5)
    yield "known: control, a kernel under another name, one run", "calm", old(u), new(scaled(u, "aten::op3", name="void NEW(float*)"))
    yield "known: every name is ignored", "red", old(u), new(u + u[4:5]), \
        "version: 1\nrules:\n  - {id: k, match: {kind: kernel}, metric: count, fail: {abs: 0}}\nnoise: {ignore: ['*']}\n"


def probes():
    for part in (size_probes, event_probes, call_probes, part_probes, elsewhere_probes, written_probes, small_probes, attribute_probes,
                 row_probes, mark_probes, cut_probes, uncompared_probes, schedule_probes, scheduled_probes, copy_probes, fused_probes, share_probes,
                 rank_probes, harmless_probes, recorded_probes, known_probes):
        yield from part()


def main(tmp):
    p = argparse.ArgumentParser()
    p.add_argument("--part", type=float, default=1)
    p.add_argument("--seed", type=int, default=11)
    p.add_argument("text", nargs="?", default="")
    args = p.parse_args()
    drawn, ids = random.Random(args.seed), []
    codes = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 4}
    for id_, want, base, fresh, *policy in probes():
        if args.text not in id_:
            continue
        ids.append(id_)
        if drawn.random() < args.part:
            report, run = judge(tmp + "/x", base, fresh, *policy)
            got = report["verdict"]
            judged(got in ALLOWED[want] and codes.get(got) == run.returncode,
                   f"{id_}: {got}, exit {run.returncode}, must be {want}: {(run.stdout + run.stderr)[:160]!r}")
    expect("each probe has a name of its own", len(set(ids)), len(ids))


run_parts(main)
