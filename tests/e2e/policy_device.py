#!/usr/bin/env python3
"""
examples/policy-device.yml, and the keys that narrow a rule: device, stream, rank, classes. Verdicts are written down
here before the run; on real traces (8 ranks of DLRM, where the corpus is) the passing candidate is the baseline itself
and the failing ones are the same job whose host stops for 10 ms in the middle of each step, and the same job whose
collectives block. What the policy says of idle time, overlap, exposed communication and launch
gap is compared with sweeps over the files' events here.
"""
import json
import os
import subprocess

from support import (PROGRAM, ROOT, expect, fault, read_json, read_text, run_parts, tracegate, write_bytes, write_json,
                     write_text)
import metric_plan as mp

DLRM = os.environ["TG_SHARED_DIR"] + "/corpus/traces/param/dlrm_8rank"

values = {}  # of the fresh side of the last check, by metric, from rules that are budgets


def check(tmp, policy, base, test):
    """(exit code, rule -> state) of budgets and changes; `policy` is a path or the text of rules."""
    if "\n" in policy:
        write_text(f"{tmp}/p.yml", policy)
        policy = "p.yml"
    args = [a for b in base for a in ("--baseline", b)]
    p = tracegate("check", *test, *args, "--policy", policy, "--json", "-", cwd=tmp, timeout=120)  # fmt: skip
    if not p.stdout.startswith("{"):
        return p.returncode, {"no report": p.stderr}
    report = json.loads(p.stdout)
    if report["error"]:
        return p.returncode, {"error": json.dumps(report["error"])}
    states = ("violations", "warnings", "suspicious", "inconclusive", "not_judged", "skipped", "passed")
    results = {(r["rule"], r["op_normalised"]): r for s in states for r in report[s] if r["rule"] != "require"}
    values.clear()
    values.update({r["metric"]: r["test"] for (rule, _), r in results.items() if rule.endswith("-budget")})
    return p.returncode, {k: r["state"] for k, r in results.items()}


def write(tmp, name, change=None, rank=None, world=1):
    plans = {step: mp.plan(step) for step in mp.STEPS}
    for p in plans.values():
        if rank is not None:
            p.row("gemm_c").dur += rank * 4 * mp.US
        if change:
            change(p)
    write_bytes(f"{tmp}/{name}.json", mp.trace_bytes(plans, rank=rank, world=world))
    return f"{name}.json"


def rule(match, metric="total", fail="{pct: 5%}"):
    return f"version: 1\nrules:\n  - {{id: it, match: {match}, metric: {metric}, fail: {fail}, noise: {{test: none}}}}\n"


def streams(tmp):
    base, test = write(tmp, "base"), write(tmp, "comm", mp.longer_comm)
    comm = "ncclDevKernel_AllReduce"
    code, found = check(tmp, rule("{kind: kernel, stream: 20}"), [base], [test])
    expect("stream 20: its kernel alone", (code, found), (1, {("it", comm): "fail"}))
    code, found = check(tmp, rule("{kind: kernel, stream: [7, 30]}"), [base], [test])
    expect("streams 7 and 30", (code, ("it", comm) in found, set(found.values())), (0, False, {"pass"}))
    code, found = check(tmp, rule("{kind: kernel, device: 0}"), [base], [test])
    expect("device 0", (code, found[("it", comm)]), (1, "fail"))
    expect("device 1", check(tmp, rule("{kind: kernel, device: 1}"), [base], [test])[0], 4)


def ranks(tmp):
    """Three ranks; the last one's tail kernel takes 50 us longer."""
    base = [write(tmp, f"b{r}", None, r, 3) for r in range(3)]
    test = [write(tmp, f"t{r}", mp.slower_tail if r == 2 else None, r, 3) for r in range(3)]
    name = "gemm_c [rank {}]"
    wanted = {
        "each": (1, {("it", name.format(2)): "fail"}),  # ranks share a row: that of the worst
        "[0, 1]": (0, {("it", "gemm_c"): "pass"}),  # and alike it is about the name
        "[2]": (1, {("it", name.format(2)): "fail"}),
        "slowest": (1, {("it", name.format(2)): "fail"}),
        "[5]": (4, {("it", "(rank 5)"): "inconclusive"}),
    }
    for who, want in wanted.items():
        got = check(tmp, rule(f"{{kind: kernel, name: gemm_c, rank: {who}}}"), base, test)
        expect(f"rank: {who}", got if want[0] != 4 else got[0], want if want[0] != 4 else 4)
    # The mean of the ranks' steps rises by 50 / 3 us, the worst rank's by 50 us of about 513.
    limit = "{abs: 40us}"
    expect("slowest step", check(tmp, rule("{rank: slowest}", "device_extent", limit), base, test)[0], 1)
    expect("mean step", check(tmp, rule("{rank: [0, 1]}", "step_time", limit), base, test)[0], 0)


def classes(tmp):
    """gemm_b is communication by the policy: 100 + 60 us, of which the budget allows 120."""
    base = write(tmp, "base")
    text = "version: 1\n{}rules:\n  - {{id: it, metric: comm_time, fail: {{max: 120us}}}}\n"
    row = 'classes: [{name: "GEMM_b", class: comm}]\n'
    expect("built-in classes", check(tmp, text.format(""), [base], [base])[0], 0)
    expect("own classes", check(tmp, text.format(row), [base], [base]), (1, {("it", "comm_time"): "fail"}))
    subprocess.run([PROGRAM, "summarize", base, "-o", "s.json"], cwd=tmp, check=True, capture_output=True)
    code, said = check(tmp, text.format(row), ["s.json"], [base])
    expect(f"a baseline stored with other classes is refused: {said}", (code, "class" in str(said)), (3, True))


def paused(doc):
    """Everything from the middle of the step's launches on happens 10 ms later; the step is as much longer."""
    events = [e for e in doc["traceEvents"] if e.get("ph") == "X"]
    calls = sorted(e["ts"] for e in events if "LaunchKernel" in e["name"])
    since = calls[len(calls) // 2]
    late = {e["args"]["correlation"] for e in events
            if e.get("cat") in ("cuda_runtime", "cuda_driver") and e["ts"] >= since and "correlation" in e.get("args", {})}  # fmt: skip
    for e in events:
        device = e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
        if e["args"].get("correlation") in late if device else e["ts"] >= since:
            e["ts"] += 10_000
        elif not device and e["ts"] + e["dur"] > since:
            e["dur"] += 10_000
    return doc


def device_rows(doc):
    """
    (start, end, kind, start of the launch, event) of each step's device work, in ns and order of start. Work without a
    launch in the trace (None) belongs to the step whose linked work is going on when it starts.
    """
    events = [e for e in doc["traceEvents"] if e.get("ph") == "X"]
    steps = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in events
             if e["name"].startswith("ProfilerStep#") and e.get("cat") in ("user_annotation", "cpu_op")]  # fmt: skip
    calls = {e["args"]["correlation"]: ns(e["ts"]) for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}  # fmt: skip
    rows = []
    for e in events:
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            kind = "comm" if "nccl" in e["name"].lower() else "compute" if e["cat"] == "kernel" else "memory"
            rows.append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), kind, calls.get(e["args"].get("correlation")), e))
    rows.sort(key=lambda r: (r[0], -r[1]))
    linked = [[r for r in rows if r[3] is not None and a <= r[3] < b] for a, b in steps]
    alone = [r for r in rows if r[3] is None]
    return [sorted(mine + [r for r in alone if mine and mine[0][0] <= r[0] <= max(m[1] for m in mine)],
                   key=lambda r: (r[0], -r[1])) for mine in linked]  # fmt: skip


def ns(us):
    """Whole microseconds first: a product of 19 digits would lose some."""
    return int(us) * 1000 + round((us - int(us)) * 1000)


def waits(docs):
    """idle %, comm_overlap %, comm_exposed ns and launch_gap ns: per rank over its steps, then the mean of the ranks."""
    ranks = []
    for doc in docs:
        total = {"length": 0, "busy": 0, "comm": 0, "hidden": 0, "gap": 0}
        steps = [rows for rows in device_rows(doc) if rows]
        for rows in steps:
            times = sorted({t for r in rows for t in r[:2]})
            total["length"] += times[-1] - times[0]
            at = 0
            for a, b in zip(times, times[1:]):
                while at < len(rows) and rows[at][1] <= a:
                    at += 1
                on = {r[2] for r in rows[at:] if r[0] <= a < r[1]}
                total["busy"] += (b - a) * bool(on)
                total["comm"] += (b - a) * ("comm" in on)
                total["hidden"] += (b - a) * ({"comm", "compute"} <= on)
                if not on:
                    following = next(r for r in rows if r[0] == b)
                    total["gap"] += (b - a) * (following[3] is not None and following[3] > a)
        ranks.append((100 * (1 - total["busy"] / total["length"]), 100 * total["hidden"] / total["comm"],
                      (total["comm"] - total["hidden"]) / len(steps), total["gap"] / len(steps)))  # fmt: skip
    names = ("idle", "comm_overlap", "comm_exposed", "launch_gap")
    return {n: sum(r[i] for r in ranks) / len(ranks) for i, n in enumerate(names)}


def bare(doc):
    """
    Collectives block: they wait for what runs, what follows waits for them, and they take half as long again. So nothing
    hides them, and the step is as much longer. Work without a launch is left out: whose step it is would be open.
    """
    linked = {e["args"]["correlation"] for e in doc["traceEvents"]
              if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}  # fmt: skip
    doc["traceEvents"] = [e for e in doc["traceEvents"] if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset")
                          or e["args"].get("correlation") in linked]  # fmt: skip
    for rows in device_rows(doc):
        late = ended = comm_ended = 0
        for start, end, kind, _, e in rows:
            at, dur = start + late, end - start
            if kind == "comm":
                at, dur = max(at, ended), dur * 3 // 2
                comm_ended = at + dur
            at = max(at, comm_ended) if kind != "comm" else at
            late, ended = at - start, max(ended, at + dur)
            e["ts"], e["dur"] = at / 1000, dur / 1000
    return doc


def changed(tmp, base, what, change):
    """The ranks' traces after `change`: their names, and what they hold."""
    names, docs = [], []
    for path in base:
        docs.append(change(read_json(path)))
        names.append(f"{what}-{os.path.basename(path).removesuffix('.gz')}")
        write_json(f"{tmp}/{names[-1]}", docs[-1])
    return names, docs


def budgets_say(what, got, want, docs):
    """Exit code, and the four budgets in the order idle, launch gap, overlap, exposed; and their numbers."""
    code, found = got
    states = [found.get((f"{b}-budget", m)) for b, m in (("idle", "idle"), ("launch-gap", "launch_gap"),
                                                         ("overlap", "comm_overlap"), ("exposed", "comm_exposed"))]  # fmt: skip
    expect(f"{what}: {found}", (code, states), want)
    for metric, value in waits(docs).items():
        if abs(values.get(metric, -1) - value) > 1e-9 * max(1, value):
            fault(f"{what}: {metric} {values.get(metric)}, the sweep says {value}")


def made(tmp):
    """
    The generated program (tests/data/metric_plan.py) under budgets of its own: 50 of 100 us of communication are hidden.
    Bare, its collective starts when what runs has ended, and all else waits for its 150 us.
    """
    text = read_text(f"{ROOT}/examples/policy-device.yml")
    for old, new in (("{max: 60%}", "{max: 45%}"), ("{max: 10ms}", "{max: 100us}"), ("{min: 3%}", "{min: 30%}"),
                     ("{max: 7ms}", "{max: 70us}")):  # fmt: skip
        expect(f"the example has {old}", old in text, True)
        text = text.replace(old, new)
    base = [f"{tmp}/{write(tmp, 'base')}"]
    for what, change, want in (("same", lambda doc: doc, (0, ["pass"] * 4)), ("bare", bare, (1, ["pass", "pass", "fail", "fail"]))):
        names, docs = changed(tmp, base, what, change)
        budgets_say(f"made, {what}", check(tmp, text, base, names), want, docs)


def real(tmp):
    """
    The budgets of the example leave room above what the baseline measures, as means over ranks and steps: idle 54 %,
    overlap 4.5 %, 5.9 ms exposed, 7.4 ms launch gap (`analyze --measure steps`).
    """
    if not os.path.isdir(DLRM):
        print("no shared/corpus: the example policy runs on generated traces only")
        return
    base = sorted(f"{DLRM}/{f}" for f in os.listdir(DLRM) if f.endswith(".gz"))
    example = f"{ROOT}/examples/policy-device.yml"
    same = changed(tmp, base, "same", lambda doc: doc)[1]
    budgets_say("real, itself", check(tmp, example, base, base), (0, ["pass"] * 4), same)
    for what, change, want in (("paused", paused, ["fail", "fail", "pass", "pass"]), ("bare", bare, ["pass", "pass", "fail", "fail"])):
        names, docs = changed(tmp, base, what, change)
        budgets_say(f"real, {what}", check(tmp, example, base, names), (1, want), docs)


run_parts(streams, ranks, classes, made, real)
