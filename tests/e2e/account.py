#!/usr/bin/env python3
"""A PASS says that a step took no longer and did no more: time and calls planted where no rule looks, and controls beside them.

Each probe is a baseline, fresh traces, what may come of it, and the true number that the headline has to have. Expected values follow from
what is planted: microseconds a step, added to a step whose length the trace itself gives. `red` fails, `told` is a failure, inconclusive or a
warning, `open` is inconclusive or fails, `calm` does not fail and is not inconclusive, `green` passes,
`unknown` is inconclusive.

usage: account.py [--part P] [TEXT]: of the probes and parts whose name has TEXT, probes each with a chance of P
"""
import argparse
import dataclasses
import datetime
import random
import re

from support import expect, judge, judged, run_parts
from plain_model import Work, delay, marks, scaled, span, trace, usual

ALLOWED = {"red": {"fail"}, "told": {"warn", "fail", "inconclusive"}, "open": {"inconclusive", "fail"}, "calm": {"pass", "warn"},
           "green": {"pass"}, "warning": {"warn"}, "unknown": {"inconclusive"}}
SOON = datetime.date.today() + datetime.timedelta(days=20)
RUNS = ((1, 1), (3, 3), (5, 5), (5, 2), (10, 10))
HOST_ONLY = [Work(f"aten::op{i}", "op", "", 30 + i) for i in range(12)]
SKIPS = "version: 1\nextends: [tracegate:recommended]\nsuites: [{name: default, trace: x, window: {by: ProfilerStep, skip_first: %d}}]\n"
POLICIES = (("without rules about the step", "version: 1\nextends: [tracegate:recommended]\nrules: {remove: [step, device-step]}\n"),
            ("that counts alone", "version: 1\nextends: [tracegate:counts-only]\n"),
            ("of one name", "version: 1\nrules:\n  - {id: o, match: {kind: op, name: 'aten::op3'}, metric: count, fail: {abs: 0}}\n"),
            ("of a budget", "version: 1\nrules:\n  - {id: b, metric: step_time, fail: {max: 1s}}\n"))


def side(work, seed, runs, steps=5, change=None, **how):
    docs = [trace([work] * steps, seed + r, **how) for r in range(runs)]
    for run, doc in enumerate(docs if change else ()):
        change(run, doc["traceEvents"])
    return docs


def old(work, *args, **how):
    return side(work, 1, *args, **how)


def new(work, *args, **how):
    return side(work, 100, *args, **how)


def stall(us, row=None, steps=None, runs=None, at="first"):
    """`us` more at the start of a step, or between steps; `row`: the event that holds them, as (cat, name), there in the
    baseline with a fifth of them; None: no event."""
    def change(run, events, share=1.0):
        for k, mark in enumerate(marks(events)):
            more = us * share if (steps is None or k in steps) and (runs is None or run in runs) else 0
            begin = mark["ts"] + (0.4 if at == "first" else mark["dur"] + 0.5)
            if more:
                delay(events, begin, more)
            if row and more:
                events.append(span(row[0], row[1], begin + 0.01, more - 0.02, 10, 10))
    return change


def less(change, share):
    return lambda run, events: change(run, events, share)


def wall(docs):
    """us a step: start of the first to end of the last, the median over the runs."""
    v = []
    for doc in docs:
        m = marks(doc["traceEvents"])
        v.append((m[-1]["ts"] + m[-1]["dur"] - m[0]["ts"]) / len(m) if m else 0)
    v.sort()
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def probes():
    for nb, nt in RUNS:
        few = 1 in (nb, nt)
        want = "told" if few else "red"
        for name, work in (("device", usual()), ("host", HOST_ONLY)):
            base = old(work, nb)
            at = f"{name}, {nb}v{nt}"
            for what, us, share, *row in (
                    ("a data loader five times as long", 900, .2, "user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
                    ("a category that nobody knows", 1500, .2, "xpu_driver", "queue"),
                    ("a call of the runtime that blocks", 1200, .05, "cuda_runtime", "cudaMalloc"),
                    ("an operator with wait in its name", 1200, .2, "cpu_op", "my::await_tokens")):
                yield f"{what}, {at}", want, old(work, nb, change=less(stall(us, row), share)), new(work, nt, change=stall(us, row))
            for what, change in (("a new annotation of 1.2 ms", stall(1200, ("user_annotation", "validate"))),
                                 ("Python before the first launch", stall(800)), ("3 ms between the steps", stall(3000, at="between"))):
                yield f"{what}, {at}", want, base, new(work, nt, change=change)
            yield f"a recompilation in one step, {at}", "told", base, new(work, nt, change=stall(20000, steps={2}))
            yield f"Python in three of five steps, {at}", "told", base, new(work, nt, change=stall(2000, steps={0, 2, 3}))
            yield f"control, the same code, {at}", "green", base, new(work, nt)
            yield f"control, +3 % between the steps, {at}", "calm", base, new(work, nt, change=stall(10, at="between"))
            yield f"control, faster, {at}", "calm", old(work, nb, change=stall(2000)), new(work, nt)
            yield f"control, more steps, {at}", "calm", base, new(work, nt, steps=8)
            if not few:
                yield f"one polluted baseline run, {at}", "told", old(work, nb, change=stall(2000, runs={0})), new(work, nt, change=stall(2000))
                yield f"one polluted baseline run hides no 20 %, {at}", "told", old(work, nb, change=stall(2000, runs={0})), \
                    new(work, nt, change=stall(220))
                yield f"control, one slow fresh run, {at}", "calm", base, new(work, nt, change=stall(2000, runs={0})) if nt > 2 else new(work, nt)
        for what, policy in POLICIES:
            yield f"a policy {what}, {nb}v{nt}", "told", old(usual(), nb), new(usual(), nt, change=stall(2000, at="between")), policy
            yield f"a policy {what}, control, {nb}v{nt}", "green", old(usual(), nb), new(usual(), nt), policy
        yield f"no step markers, a kernel x5, {nb}v{nt}", "open", old(usual(), nb, marker=None), \
            new(scaled(usual(), "aten::op11", 30), nt, marker=None)
        yield f"control, no step markers, more iterations, {nb}v{nt}", "calm", old(usual(), nb, marker=None), new(usual(), nt, steps=8, marker=None)
    for calls, limit, want in ((4, "abs: 5", "warning"), (4, "abs: 0", "red"), (6, "abs: 5", "red"), (2, "pct: 10%", "red")):  # of each name
        yield f"{calls} more calls, of which {limit} are allowed", want, old(HOST_ONLY, 3), new(HOST_ONLY + HOST_ONLY[3:4] * calls, 3), \
            "version: 1\nrules:\n  - {id: c, match: {kind: op}, metric: count, fail: {%s}}\n" % limit
    yield "a budget of wall clock", "red", old(usual(), 1), old(usual(), 1, change=stall(2000, at="between")), \
        "version: 1\nrules:\n  - {id: b, metric: step_time, fail: {max: 1500us}}\n"
    yield "a budget of wall clock, kept", "green", old(usual(), 1), new(usual(), 1), \
        "version: 1\nrules:\n  - {id: b, metric: step_time, fail: {max: 1500us}}\n"
    waiver = "waivers: [{rule: account, name: step_time, ceiling: {pct: %s}, reason: r, owner: o, expires: %s}]\n"
    for ceiling, want in (("900%", "calm"), ("10%", "red")):
        yield f"a waiver up to {ceiling}", want, old(usual(), 3), new(usual(), 3, change=stall(900, ("xpu_driver", "q"), at="between")), \
            "version: 1\nextends: [tracegate:recommended]\n" + "rules: {remove: [step]}\n" + waiver % (ceiling, SOON)
    yield "the account is off", "green", old(usual(), 3), new(usual(), 3, change=stall(900, ("xpu_driver", "q"), at="between")), \
        "version: 1\nrequire: {account: off}\nrules:\n  - {id: c, match: {kind: kernel}, metric: count, fail: {abs: 0}}\n"


def flags(**how):
    def change(docs):
        for doc in docs:
            doc.update(how)
        return docs
    return change


def graded(part=1):
    """Autograd numbers the operators that run with gradients enabled: the first of each step, so many of them."""
    def change(run, events):
        ops = [e for e in events if e.get("cat") == "cpu_op"]
        for i, e in enumerate(ops):
            if i % 10 < 10 * part:
                e["args"] = {**e["args"], "Sequence number": i, "Fwd thread id": 0}
    return change


def gradient_probes():
    """A lost no_grad() calls the same operators, each of which takes longer; a slower machine does not enable gradients."""
    for n in (1, 3, 5):
        few = n == 1
        yield f"gradients: enabled, {n}", "told", old(HOST_ONLY, n), new(HOST_ONLY, n, change=graded())
        yield f"gradients: enabled, everything takes 30 % longer, {n}", "told" if few else "red", old(HOST_ONLY, n), \
            new(HOST_ONLY, n, pace=1.3, change=graded())
        yield f"gradients: enabled in more of them, {n}", "told", old(HOST_ONLY, n, change=graded(0.5)), new(HOST_ONLY, n, change=graded(0.9))
        yield f"gradients: control, enabled before, {n}", "calm", old(HOST_ONLY, n, change=graded()), new(HOST_ONLY, n, change=graded())
        yield f"gradients: control, no longer, {n}", "calm", old(HOST_ONLY, n, change=graded()), new(HOST_ONLY, n)


def flag_probes():
    """The change's bench records shapes, or one run of it does."""
    shapes = flags(record_shapes=1)
    for n in (3, 5):
        slow = scaled(usual(), "aten::op11", 20)
        yield f"flags: all fresh runs record shapes, a kernel x20, {n}", "open", old(usual(), n), shapes(new(slow, n))
        yield f"flags: control, all fresh runs record shapes, {n}", "calm", old(usual(), n), shapes(new(usual(), n))
        for which, base, fresh in (("fresh", 0, 1), ("baseline", 1, 0)):
            b, f = old(usual(), n), new(slow, n)
            shapes(b[:base])
            shapes(f[:fresh])
            yield f"flags: one {which} run records shapes, a kernel x20, {n}", "open" if n == 3 else "red", b, f
            if n > 3:  # the run is told, and the rest is judged
                b, f = old(usual(), n), new(usual(), n)
                shapes(b[:base])
                shapes(f[:fresh])
                yield f"flags: control, one {which} run records shapes, {n}", "warning", b, f
    twice = [dict(d, traceEvents=d["traceEvents"] * 2) for d in new(usual(), 3)]
    yield "every event twice on the fresh side", "open", old(usual(), 3), twice
    yield "every event twice in the baseline", "open", twice, old(usual(), 3)
    yield "a baseline of the CPU alone", "open", old([Work(w.op, "op", "", 5) for w in usual()], 3), new(usual(), 3)


def without(category):
    def change(run, events):
        events[:] = [e for e in events if e["cat"] != category]
    return change


def sort_probes():
    """What one side was recorded without did not go, and its rows hold other time: the comparison tells nothing."""
    for n in (1, 3, 5):
        for category in ("cpu_op", "cuda_runtime"):
            for which, base, fresh in (("fresh", None, without(category)), ("baseline", without(category), None)):
                yield f"the {which} side has no {category}, {n}v{n}", "unknown", old(usual(), n, change=base), new(usual(), n, change=fresh)
        yield f"the fresh side has no operators, host, {n}v{n}", "unknown", old(HOST_ONLY, n), new(HOST_ONLY, n, change=without("cpu_op"))
    for name, work in (("device", usual()), ("host", HOST_ONLY)):
        base = old(work, 2, change=stall(800, runs={0}))
        for fresh in (2, 3, 5):
            yield f"one of two baseline runs as slow, {name}, 2v{fresh}", "warning", base, new(work, fresh, change=stall(800))
            yield f"control, one of two baseline runs slow, {name}, 2v{fresh}", "calm", base, new(work, fresh)


def varying(seed, runs, turn, more=0, us=20):
    """Steps with three to six calls of one kernel, in an order of each run's own."""
    kernel = Work("aten::erf", "kernel", "void erf(float*)", us)
    return [trace([HOST_ONLY + [kernel] * (3 + (run * turn + step * 5) % 4 + more) for step in range(6)], seed + run)
            for run in range(runs)]


def varying_probes():
    """One more of them in each step may be other data, and so may its time; that each takes longer is not."""
    for more in (1, 2, 4):
        yield f"{more} more calls of a name that varies, 5v2", "warning", varying(1, 5, 7), varying(100, 2, 3, more)
    yield "calls that vary take three times as long, 5v2", "red", varying(1, 5, 7), varying(100, 2, 3, us=60)
    yield "control, calls that vary, 5v2", "calm", varying(1, 5, 7), varying(100, 2, 3)
    for n in (1, 3):
        for more in (0, 1, 6):
            want = "warning" if more else "green"
            yield f"a list that grows, {more} more in each step, {n}v{n}", want, growing(1, n, 0), growing(100, n, more)


def growing(seed, runs, more):
    """In each step a small operator once more than in the step before: alike in all runs."""
    work = [Work(f"aten::op{i}", "op", "", 60 + i) for i in range(30)]
    return [trace([work + [Work("aten::neg", "op", "", 3)] * (step + more) for step in range(10)], seed + run) for run in range(runs)]


def annotation_probes():
    """An annotation's own time is a gap as the step's is: 60 us of it take 90, of a step of 0.6 ms; and where the whole machine is slower."""
    row, loader = ("user_annotation", "loader"), [Work(f"aten::op{i}", "op", "", 30 + i) for i in range(14)]
    for n in (3, 5, 10):
        base = old(loader, n, change=less(stall(90, row), 2 / 3))
        yield f"half as much again inside an annotation, {n}v{n}", "red", base, new(loader, n, change=stall(90, row))
        yield f"control, an annotation as long, {n}v{n}", "green", base, new(loader, n, change=less(stall(90, row), 2 / 3))


def renamed(run, events):
    """Each operator and kernel has another name, and does what it did."""
    for e in events:
        if e["cat"] in ("cpu_op", "kernel"):
            e["name"] = e["name"].replace("aten::", "ns::").replace("kern", "other")


def alike(run, events):
    """PyTorch numbers the first two steps of a process alike."""
    for k, mark in enumerate(marks(events)):
        mark["name"] = f"ProfilerStep#{max(k - 1, 0)}"


def both(*changes):
    def change(run, events):
        for one in changes:
            one(run, events)
    return change


def strays(n):
    """So many operators between the steps, which are hardly longer."""
    def change(run, events):
        for mark in marks(events):
            events += [span("cpu_op", "aten::stray", mark["ts"] + mark["dur"] + .02 * k + .5, .01, 10, 10) for k in range(n)]
    return change


def place_probes():
    """Where growth is: under other names, between the steps that a window leaves, between two or three steps."""
    for nb, nt in RUNS:
        want, at = "told" if 1 in (nb, nt) else "red", f"{nb}v{nt}"
        yield f"all renamed, and 250 us of Python, {at}", want, old(usual(), nb), new(usual(), nt, change=both(renamed, stall(250)))
        yield f"control, all renamed, {at}", "calm", old(usual(), nb), new(usual(), nt, change=renamed)
        for skipped in (1, 2):
            window = SKIPS % skipped
            for n in (1, 30):
                yield f"skips {skipped}: {n} calls between the steps, {at}", "told", old(usual(), nb), new(usual(), nt, change=strays(n)), window
            yield f"skips {skipped}: control, {at}", "green", old(usual(), nb), new(usual(), nt), window
            yield f"skips {skipped}: control, more steps, {at}", "calm", old(usual(), nb, change=strays(30)), \
                new(usual(), nt, steps=8, change=strays(30)), window
        yield f"two steps numbered alike, 2 ms between them, {at}", "told", old(usual(), nb, change=alike), \
            new(usual(), nt, change=both(stall(2000, steps={0}, at="between"), alike))
        yield f"three steps, 250 us between them, {at}", want, old(usual(), nb, 3), new(usual(), nt, 3, change=stall(250, at="between"))


def view_probes():
    """A view is what costs as much as one: a longer call of that name copies. A step of 5 ms, and 0.2 % of it."""
    work = [Work(f"aten::op{i}", "op", "", 120) for i in range(40)] + [Work("aten::view", "op", "", 1), Work("aten::contiguous", "op", "", 1)]
    for nb, nt in RUNS:
        for us, want in ((1, "calm"), (11, "red")):
            yield f"one more contiguous of {us} us, {nb}v{nt}", want, old(work, nb), new(work + [Work("aten::contiguous", "op", "", us)],
                                                                                              nt)


OWN = "version: 1\nrules:\n  - {id: s, metric: step_time, fail: {pct: %s}}\n"


def agreement_probes():
    """Growth that some runs or steps do not have, and growth beside a limit of one's own."""
    for name, work in (("device", usual()), ("host", HOST_ONLY)):
        for nb, nt, slow in ((3, 3, 2), (5, 5, 4), (3, 5, 3), (10, 10, 7)):
            yield f"{slow} of {nt} runs are slow, {name}, {nb}v{nt}", "told", old(work, nb), new(work, nt, change=stall(80, runs=range(slow)))
        for nb, nt, slow in ((3, 3, 1), (5, 5, 2), (10, 10, 4)):
            yield f"control, {slow} of {nt} runs are slow, {name}, {nb}v{nt}", "calm", old(work, nb), \
                new(work, nt, change=stall(80, runs=range(slow)))
        base = old(work, 5)
        for size, us, steps, want in (("10%", 1000, {2}, "told"), ("10%", 250, None, "red"), ("300%", 250, None, "calm"),
                                      ("300%", 1000, {2}, "calm")):
            yield f"own limit of {size}, {us} us in {'one step' if steps else 'all'}, {name}", want, base, \
                new(work, 5, change=stall(us, steps=steps)), OWN % size
        uneven = lambda more: lambda run, events: stall(60 * run + more)(run, events)  # noqa: E731
        for size, want in (("10%", "told"), ("300%", "calm")):  # the runs differ by so much that the rule itself proves nothing
            yield f"own limit of {size}, uneven runs, {name}", want, old(work, 3, change=uneven(0)), new(work, 3, change=uneven(150)), OWN % size


def hide(us):
    """The host comes `us` later to the synchronisation, which ends when it did."""
    def change(run, events):
        for e in events:
            if e["name"] in ("aten::loss", "cudaStreamSynchronize"):
                e["ts"] += us
                e["dur"] -= us
    return change


def shorter(us, *names):
    """These operators end sooner, and what comes after them begins when it did."""
    def change(run, events):
        for e in events:
            if e["name"] in names and e["cat"] in ("cpu_op", "kernel"):
                e["dur"] -= us
    return change


def step_probes():
    """What a step's rules say of time between operators, and of steps that differ: from three runs on."""
    for nb, nt in RUNS:
        want, at = "told" if min(nb, nt) < 3 else "red", f"{nb}v{nt}"
        yield f"later to a wait, {at}", "warning", old(usual(), nb), new(usual(), nt, change=hide(80))
        yield f"later to a wait, and 100 us longer, {at}", want, old(usual(), nb), new(usual(), nt, change=both(hide(80), stall(100)))
        yield f"shorter operators, and as much time between them, {at}", want, old(HOST_ONLY, nb), \
            new(HOST_ONLY, nt, change=shorter(36, "aten::op11"))
        kernels = [f"void kern{i}(float*)" for i in range(12)]
        yield f"later to a wait that shorter kernels end, {at}", want, old(usual(), nb), new(usual(), nt, change=both(hide(80), shorter(9, *kernels)))
        for name, work in (("device", usual()), ("host", HOST_ONLY)):
            uneven = old(work, nb, change=stall(500, steps={1, 3}))
            yield f"slower fastest steps, faster ones in all, {name}, {at}", "warning", uneven, new(work, nt, change=stall(150))
            yield f"slower fastest steps, and slower in all, {name}, {at}", want, uneven, new(work, nt, change=stall(350))
            yield f"a cold start in the baseline, and slower steps after it, {name}, {at}", want, \
                old(work, nb, change=stall(2000, steps={0})), new(work, nt, change=stall(350))


STEP_TIME_ALONE = "version: 1\nrequire: {account: off}\nsuites: [{name: default, trace: x, window: %s}]\n" \
    "rules:\n  - {id: s, metric: step_time, fail: {pct: 10%%, abs: 10us}}\n"


def pauses(us, before):
    """Python outside every event, before each operator or annotation of such a name but the first."""
    def change(run, events):
        for e in sorted((e for e in events if re.fullmatch(before, e["name"])), key=lambda e: e["ts"])[1:]:
            delay(events, e["ts"] - 0.05, us)
    return change


def window_probes():
    """A rule about the step's time has all of it, whatever cuts the steps: the account is off."""
    for window, marker, before in (("{by: ProfilerStep}", "ProfilerStep#%d", r"ProfilerStep#\d"), ("{by: trace}", None, "aten::op7"),
                                   ("{by: trace}", "ProfilerStep#%d", r"ProfilerStep#\d"),
                                   ("{by: annotation, name: 'execute_*'}", "execute_%d", r"execute_\d")):
        for name, work in (("device", usual()), ("host", HOST_ONLY)):
            for runs in (3, 5):
                for us, want in ((400, "red"), (3, "green")):
                    yield f"+{us} us outside every operator, {window}, {name}, {runs}v{runs}", want, \
                        old(work, runs, marker=marker, change=pauses(20, before)), \
                        new(work, runs, marker=marker, change=pauses(20 + us, before)), STEP_TIME_ALONE % window


def loader(depth, batches=1, after=0.0):
    """A thread that loads `depth` batches before the first step, then one a step, until there is one for each step."""
    def change(run, events):
        m = marks(events)
        begins = [m[0]["ts"] - 400 + 30 * k for k in range(depth)] + [mark["ts"] + 20 + after * mark["dur"] for mark in m[:len(m) - depth]]
        events += [span("cpu_op", f"aten::load{k % 4}", begin + 6 * k, 5, 10, 30) for begin in begins for k in range(4 * batches)]
    return change


def loader_probes():
    for nb, nt in RUNS:
        for depth in (1, 2, 4):
            for base, fresh in ((5, 8), (8, 5)):
                at = f"{depth} ahead, {base} and {fresh} steps, {nb}v{nt}"
                yield f"a loader {at}", "green", old(usual(), nb, base, loader(depth)), new(usual(), nt, fresh, loader(depth))
                yield f"a loader between the steps {at}", "green", old(usual(), nb, base, loader(depth, after=1)), \
                    new(usual(), nt, fresh, loader(depth, after=1))
                yield f"a loader twice as often {at}", "told", old(usual(), nb, base, loader(depth)), \
                    new(usual(), nt, fresh, loader(depth, batches=2))


REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"


def reduce(us, exposed):
    """An all-reduce a step on a stream of its own: beside the kernels, or after the last one, and the host waits for it."""
    def change(run, events):
        for k, mark in enumerate(marks(events)):
            kernels = [e for e in events if e["cat"] == "kernel" and e["tid"] == 7 and mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"]]
            last, dur = max(kernels, key=lambda e: e["ts"]), us * (1 + .01 * ((3 * run + k) % 3))
            begin = last["ts"] + last["dur"] + .5 if exposed else kernels[0]["ts"] + 2
            if exposed:
                delay(events, begin, dur + 1)
            link = {"correlation": 900000 + k, "External id": 900000 + k}
            events += [span("cpu_op", "c10d::allreduce_", mark["ts"] + .1, .3, 10, 10, **link),
                       span("cuda_runtime", "cudaLaunchKernel", mark["ts"] + .15, .2, 10, 10, **link),
                       span("kernel", REDUCE, begin, dur, 0, 20, device=0, stream=20, **link)]
    return change


def ranks(seed, runs, exposed, *us):
    docs = [trace([usual()] * 5, seed + 10 * run + rank, rank=rank, world=len(us)) for run in range(runs) for rank in range(len(us))]
    for k, doc in enumerate(docs):
        reduce(us[k % len(us)], exposed)(k // len(us), doc["traceEvents"])
    return docs


def collectives(tmp):
    """A collective that takes five times as long is told by its name; one that waits for a late rank is not."""
    for nb, nt in ((1, 1), (3, 3), (5, 5)):
        for exposed in (True, False):
            at = f"{'exposed' if exposed else 'hidden'} {nb}v{nt}"
            few = "suspicious" if nb == 1 else None
            for what, base, fresh, want in (
                    ("one of several ranks", old(usual(), nb, change=reduce(20, exposed)),
                     new(usual(), nt, change=reduce(100, exposed)),
                     few or "warnings"),
                    ("two ranks", ranks(1, nb, exposed, 20, 20), ranks(100, nt, exposed, 100, 102), few or "violations"),
                    ("two ranks, one of them late", ranks(1, nb, exposed, 20, 20), ranks(100, nt, exposed, 20, 100), None),
                    ("two ranks, the other one late", ranks(1, nb, exposed, 20, 100), ranks(100, nt, exposed, 100, 20), None),
                    ("two ranks, the same code", ranks(1, nb, exposed, 20, 22), ranks(100, nt, exposed, 20, 22), None)):
                got, _ = judge(tmp + "/x", base, fresh)
                found = [k for k in ("violations", "warnings", "suspicious") for r in got.get(k, ()) if r["op"] == REDUCE]
                expect(f"a collective, {what}, {at}: {got.get('headline')}", found, [want] if want else [])


def rank_probes(runs):
    """One rank of eight that takes longer, beside one that is slower anyway: (what, baseline, fresh, wanted)."""
    for name, work in (("device", usual()), ("host", HOST_ONLY)):
        slower = [dataclasses.replace(w, us=2 * w.us) for w in work]
        sides = [[trace([slower if rank == 1 else work] * 5, seed + 10 * run + rank, rank=rank) for run in range(runs) for rank in range(8)]
                 for seed in (1, 1000, 2000, 3000)]
        for doc in sides[1][::8]:
            stall(300, at="between")(0, doc["traceEvents"])
        sides[2][::8] = [trace([[dataclasses.replace(w, us=1.6 * w.us) for w in work]] * 5, 4000 + run, rank=0) for run in range(runs)]
        yield f"{name}, longer between the steps", sides[0], sides[1], "red" if runs > 3 else "warning"
        yield f"{name}, all of it longer", sides[0], sides[2], "red" if runs > 3 else "told"
        yield f"{name}, the same code", sides[0], sides[3], "green"


def one_rank_of_many(tmp):
    for runs in (3, 5):
        for what, base, fresh, want in rank_probes(runs):
            got, _ = judge(tmp + "/x", base, fresh)
            if want == "warning":  # by chance, which is not the machine
                expect("one rank of 8: reason", [x["because"] for x in got["warnings"] if x["rule"] == "account"], ["one-of-many"])
            expect(f"one rank of 8, {what}, {runs}v{runs}: {got.get('headline')}: {got['verdict']}", got["verdict"] in ALLOWED[want], True)


def overlapped(seed, runs, slow=1.0):
    """Seven kernels beside another stream's work take a fifth more or less from step to step; `slow`: one of the others."""
    rng, beside = random.Random(seed), {f"aten::op{i}" for i in range(2, 9)}

    def us(w):
        return w.us * (max(rng.gauss(1, 0.2), 0.5) if w.op in beside else slow if w.op == "aten::op11" else 1)
    return [trace([[dataclasses.replace(w, us=us(w)) for w in usual()] for _ in range(2)], seed + run) for run in range(runs)]


def kernels_that_overlap(tmp):
    """What differs from step to step differs from run to run, also where a few runs are alike by chance."""
    for runs in (3, 5):
        for draw in range(20):
            got, _ = judge(tmp + "/x", overlapped(100 * draw, runs), overlapped(50000 + 100 * draw, runs))
            expect(f"kernels that overlap, {runs}, draw {draw}: {got['headline']}", got["verdict"] == "fail", False)
        got, _ = judge(tmp + "/x", overlapped(1, runs), overlapped(50001, runs, 1.2))
        expect(f"a kernel beside them, +20 %, {runs}", [r["op"] for r in got["violations"]], ["void kern11(float*)"])


def slow_step(tmp):
    """What warns of some steps says what they take."""
    one = scaled(usual(), "aten::op11", 4)
    got, _ = judge(tmp + "/x", old(usual(), 5), [trace([usual()] * 3 + [one, usual()], 100 + r) for r in range(5)])
    row = next(r for r in got["warnings"] if r["because"] == "some-steps" and "kern11" in r["op"])  # 31 us, and four times as long
    expect("a slow step: verdict", got["verdict"], "warn")
    expect(f"a slow step: {got['headline']}", bool(re.search(r"kern11.*: slowest step 12\d us, was 3\d\.\d us", got["headline"])), True)
    expect("a slow step: values", (round(row["baseline"] / 1000), round(row["test"] / 1000)), (31, 124))


def own_span(run, events):
    """The profiler's span around all, which Kineto writes."""
    spans = [e for e in events if e.get("ph") == "X"]
    begin, end = min(e["ts"] for e in spans), max(e["ts"] + e["dur"] for e in spans)
    events.append(span("Trace", "PyTorch Profiler (0)", begin - 5, end - begin + 10, "Spans", "PyTorch Profiler"))


def what_grew(tmp):
    """Without step markers, too, what grew most is what was planted: kernels that the host waits for, or time that no row has."""
    for what, fresh, want in (("a kernel", new(scaled(usual(), "aten::op11", 30), 3, marker=None), "void kern11(float*)"),
                              ("a pause", new(usual(), 3, marker=None, change=both(pauses(400, "aten::op7"), own_span)),
                               "time between operators")):
        got, _ = judge(tmp + "/x", old(usual(), 3, marker=None, change=own_span), fresh)
        said = [r["message"].replace("`", "").partition("grew most: ")[2] for r in got["inconclusive"] if r["op"] == "step_time"]
        expect(f"what grew, {what}: {said}", [text.startswith(want) and "Profiler" not in text for text in said], [True])
    for window in ("{by: ProfilerStep}", "{by: trace}"):  # what the rule about the step fails by, it says as well
        got, _ = judge(tmp + "/x", old(usual(), 3, change=pauses(20, r"ProfilerStep#\d")),
                       new(usual(), 3, change=pauses(420, r"ProfilerStep#\d")),
                       STEP_TIME_ALONE.replace("account: off", "account: on") % window)
        said = [r["message"].partition("grew most: ")[2] for r in got["violations"] if r["op"] == "step_time"]
        expect(f"what grew, {window}: {said}", [text.startswith("time between steps") for text in said], [True])


def us_of(text):
    return sum(float(v) * {"us": 1, "ms": 1e3, "s": 1e6}[u] for v, u in re.findall(r"Step time [\d.]+ -> ([\d.]+) (us|ms|s)", text)[:1])


def main(tmp):
    args = argparse.ArgumentParser()
    args.add_argument("text", nargs="?", default="")
    args.add_argument("--part", type=float, default=1)
    args = args.parse_args()
    text, chance = args.text, random.Random(1)
    for id_, want, base, fresh, *policy in [*probes(), *flag_probes(), *gradient_probes(), *place_probes(), *agreement_probes(), *step_probes(),
                                            *window_probes(), *loader_probes(), *view_probes(), *sort_probes(), *varying_probes(),
                                            *annotation_probes()]:
        if text not in id_ or chance.random() > args.part:
            continue
        got, run = judge(tmp + "/x", base, fresh, *policy)
        judged(got["verdict"] in ALLOWED[want], f"{id_}: {got['verdict']}, must be {want}: {(run.stdout + run.stderr)[:250]!r}")
        shown, true = us_of(run.stdout), wall(fresh)
        if shown and true and not re.search("^every event twice|^skips|by: trace", id_):
            judged(abs(shown - true) <= max(0.006 * true, 5), f"{id_}: shown are {shown} us a step, the trace has {true:.1f}: {run.stdout[:200]!r}")
    for part in (slow_step, kernels_that_overlap, collectives, one_rank_of_many, what_grew):
        if text in part.__name__:
            part(tmp)


run_parts(main)
