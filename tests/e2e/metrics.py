#!/usr/bin/env python3
"""
Every metric of the policy through `check`: the unchanged program passes, one planted change fails, with the number that
tests/data/metric_oracle.py finds in the file, to the digit; every legal bound just below the change fails and just above
it passes; a stored summary decides as its trace does; and what needs evidence gets it from three runs a side.

Which metrics there are is asked of the program, so a metric without a planted change fails this test.
"""
import json
import sys

from support import expect, fault, read_json, run, run_parts, write_bytes, write_json, write_text
import metric_plan as mp

from metric_oracle import Oracle, quantile  # noqa: E402

RANKS = 3
# Which name a metric per name is judged by, and its kind.
NAME = {
    "count": ("kernel", "tiny"), "removed": ("kernel", "tiny"), "added": ("kernel", "gemm_d"),
    "launch_config": ("kernel", "gemm_a"), "input_types": ("op", "aten::linear"), "input_shapes": ("op", "aten::linear"),
    "bytes": ("memcpy", mp.HTOD), "mean": ("kernel", "pair"),
    "device_time": ("module", "Net_0"), "device_self": ("module", "Linear_0"), "device_count": ("module", "Net_0"),
    "count of module": ("module", "Linear_0"), "total of module": ("module", "Net_0"), "self of module": ("module", "Net_0"),
    "added of module": ("module", "Linear_1"), "total of source": ("source", "model.py: forward"),
    "self of source": ("source", "model.py: forward"), "mean of source": ("source", "train.py: step"),
    "device_time of source": ("source", "model.py: forward"),
}  # fmt: skip
TAIL = ("kernel", "gemm_c")
UNIT = {"count": "", "duration": "ns", "bytes": "B", "bandwidth": "GB/s", "percent": "%"}


def close(what, got, want):
    if got is None or abs(got - want) > 1e-9 * max(1, abs(want)):
        fault(f"{what}: got {got!r}, want {want!r}")


def write(path, plans, **more):
    write_bytes(path, mp.trace_bytes(plans, **more))


def make(tmp, metric, changed, run_number=0):
    """The files of one run of one side: a trace, or one for each rank. Runs differ in one kernel by 100 ns each."""
    program = mp.burst if metric == "queue_full" else mp.plan
    ranks, files = RANKS if metric in ("skew", "rank_spread", "collective_skew") else 1, []
    for rank in range(ranks):
        plans = {step: program(step) for step in mp.STEPS}
        for p in plans.values():
            if changed and rank == ranks - 1:
                mp.PLANTED[metric](p)
            if program is mp.plan:
                p.works[0].rows[0].dur += 100 * run_number
                p.row("gemm_c").dur += rank * 4 * mp.US
                p.row(mp.COMM).dur += (rank * 2 + (run_number % 3 if rank else 0)) * mp.US // 2
            p.ops = [(o[0], o[1], o[2] + 100 * run_number, *o[3:]) for o in p.ops]
            p.window += 100 * run_number
        files.append(f"{'new' if changed else 'old'}-{metric}-{run_number}-rank{rank}.json")
        write(f"{tmp}/{files[-1]}", plans, **({"rank": rank, "world": ranks} if ranks > 1 else {}))
    return files


def is_frame(key):
    return NAME.get(key, TAIL)[0] in ("module", "source")


# --- what the oracle says ----------------------------------------------------------------------


def of_frame(key, base, test):
    """Values of a metric per module or source on both sides."""
    (kind, name), metric = NAME[key], key.split(" ")[0]

    def value(steps):
        total = {k: sum(s[k] for s in steps) / len(steps) for k in steps[0]}
        return total["total"] / total["count"] if metric == "mean" else total["total" if metric == "added" else metric]

    return [value(o.frames(kind, name)) for o in (base, test)]


def of_name(metric, base, test):
    """Values of a metric per name on both sides; removed time counts as the candidate's."""
    if is_frame(metric):
        return of_frame(metric, base, test)
    name = NAME.get(metric, TAIL)[1]
    steps = [o.durations(name) for o in (base, test)]
    total = [sum(map(sum, s)) / len(s) for s in steps]
    calls = [sum(map(len, s)) / len(s) for s in steps]
    every = [[v for step in s for v in step] for s in steps]
    step_time = [o.measures()["step_time"] for o in (base, test)]
    return {
        "count": calls, "total": total, "self": total, "mean": [t / c if c else 0 for t, c in zip(total, calls)],
        "median": [quantile(v, 0.5) for v in every if v], "p95": [quantile(v, 0.95) for v in every if v],
        "max": [max(v) for v in every if v], "share": [100 * t / s for t, s in zip(total, step_time)],
        "added": [0, total[1]], "removed": [0, total[0]], "bytes": [o.bytes(name) for o in (base, test)],
    }[metric]  # fmt: skip


def waiting(ranks):
    """Percent of the time of collectives that is waiting: in each, what the longest has over the shortest of its ranks."""
    skew = longest = 0
    for steps in zip(*(o.durations(mp.COMM) for o in ranks), strict=True):
        for each in zip(*steps, strict=True):
            skew, longest = skew + max(each) - min(each), longest + max(each)
    return 100 * skew / longest


def of_ranks(metric, base, test):
    if metric == "collective_skew":
        return [waiting(base), waiting(test)]
    out = []
    for side in (base, test):
        t = sorted(o.measures()["device_extent"] for o in side)
        out.append(t[-1] - t[0] if metric == "rank_spread" else 100 * (t[-1] / t[len(t) // 2] - 1))
    return out


def oracle(tmp, info, base, test):
    """(baseline, test) of a metric, from the files; None for facts."""
    sides = [[Oracle(f"{tmp}/{f}") for f in files] for files in (base, test)]
    if info["scope"] == "ranks":
        return of_ranks(info["name"], *sides)
    if info["unit"] == "fact":
        return None
    if info["scope"] == "name":
        return of_name(info["key"], sides[0][0], sides[1][0])
    return [side[0].measures()[info["name"]] for side in sides]


# --- policies ----------------------------------------------------------------------------------


def rule(info, name, limit, noise="none"):
    match = ""
    if info["scope"] == "name":
        kind, what = NAME.get(info["key"], TAIL)
        match = f'match: {{kind: {kind}, name: "{what}"}}, '
    return f"  - {{id: {name}, {match}metric: {info['name']}, fail: {limit}, noise: {{test: {noise}}}}}\n"


def around(info, value):
    """[(bound, a limit that the change exceeds, one that it does not)]: 1 % below and above what the oracle says."""
    if value is None:
        return [("abs", "{abs: 0}", None)]
    base, test = value
    change, unit, out = abs(test - base), UNIT[info["unit"]], []
    for bound in info["bounds"]:
        size = {"pct": 100 * change / base if base else None, "abs": change, "pp": change, "max": test, "min": test}[bound]
        text = {"pct": "%", "pp": "pp"}.get(bound, unit)
        if size is None or (bound == "max" and not test):
            continue
        low, high = (f"{{{bound}: {size * f:.9f}{text}}}" for f in (0.99, 1.01))
        if bound == "min":
            low, high = (f"{{min: {test * 1.01 or 0.5:.9f}{text}}}", f"{{min: {test * 0.99:.9f}{text}}}")
        out.append((bound, low, high))
    return out


def check(tmp, rules, base, test):
    """(exit code, rule -> its result about what was asked)."""
    write_text(f"{tmp}/p.yml", "version: 1\nrequire: {collapse: off}\nrules:\n" + rules)
    args = [a for b in base for a in ("--baseline", b)]
    code, out, err = run("check", *test, *args, "--policy", "p.yml", "--json", "-", cwd=tmp)
    if not out.startswith("{"):
        fault(f"{test}: no report: {out}{err}")
        return code, {}
    report, found = json.loads(out), {}
    states = ("violations", "warnings", "suspicious", "inconclusive", "not_judged", "skipped", "passed")
    for r in (r for s in states for r in report[s] if r["rule"] != "require"):
        if r["op_normalised"] == r["metric"] or r["kind"] not in ("trace", "step", "annotation"):
            found[r["rule"]] = {k: r[k] for k in ("state", "baseline", "test", "delta", "message")}
    return code, found


# --- the test ----------------------------------------------------------------------------------


def shown(what, result, value):
    if value and result:
        close(f"{what}: baseline", result["baseline"], value[0])
        close(f"{what}: test", result["test"], value[1])
        close(f"{what}: delta", result["delta"], value[1] - value[0])


def stored(tmp, files, *options):
    """The same side as a summary of all its files."""
    name = files[0].replace(".json", ".summary.json")
    code, _, err = run("summarize", *files, "-o", name, *options, cwd=tmp)
    expect(f"summarize {files}: {err}", code, 0)
    return [name]


def without_frames(tmp, what, single, base, test):
    """Summaries that were stored without totals by frame cannot be judged by them; a budget asks the fresh side alone."""
    for old, new, where in ((stored(tmp, base), test, "baseline"), (base, stored(tmp, test), "summary")):
        code, found = check(tmp, single, old, new)
        expect(f"{what}: without frames", (code, found.get("it", {}).get("state")), (4, "inconclusive"))
        expect(f"{what}: {found} names the {where}", f"not in this {where}" in found.get("it", {}).get("message", ""), True)


def without_stacks(tmp, what, limits, info, base, test):
    """A side recorded without Python stacks is not a program without modules: nothing passes, nothing fails."""
    for k, side in enumerate((base, test)):
        bare = []
        for name in side:
            trace = read_json(f"{tmp}/{name}")
            trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "python_function"]
            bare.append(f"bare-{name}")
            write_json(f"{tmp}/{bare[-1]}", trace)
        old, new = (bare, test) if k == 0 else (base, bare)
        for bound, low, high in limits:
            if k == 0 and bound in ("max", "min") and not what.startswith("added"):
                continue  # a budget asks the fresh side alone
            for limit in (low, high):
                code, found = check(tmp, rule(info, "it", limit), old, new)
                expect(f"{what}: {'test' if k else 'baseline'} without stacks, {limit}: {found}",
                       (code, found.get("it", {}).get("state")), (4, "inconclusive"))


def added_to_nothing(tmp, limits, info, base, test):
    """What was added cannot be told from a baseline that holds no frames, by no bound."""
    old = stored(tmp, base)
    for _, low, _ in limits:
        code, found = check(tmp, rule(info, "it", low), old, test)
        expect(f"added, baseline without frames, {low}: {found}", (code, found.get("it", {}).get("state")), (4, "inconclusive"))


def one_metric(tmp, info):
    metric = info["key"]
    base, test = make(tmp, metric, False), make(tmp, metric, True)
    value = oracle(tmp, info, base, test)
    if value:
        worse = value[1] > value[0] if info["worse"] == "more" else value[1] < value[0]
        expect(f"{metric}: the planted change {value} is worse", worse, True)
    limits = around(info, value)
    single = rule(info, "it", limits[0][1])
    # Against itself a name cannot be new or gone: the rule has nothing to look at, or sees no change.
    code, found = check(tmp, single, base, base)
    if metric.startswith("added"):
        expect(f"{metric}: itself", (code, found["it"]["state"]), (4, "inconclusive"))
    else:
        expect(f"{metric}: itself", (code, found.get("it", {}).get("state")), (0, "pass"))
    code, found = check(tmp, single, base, test)
    expect(f"{metric}: planted: {found}", (code, found.get("it", {}).get("state")), (1, "fail"))
    shown(metric, found.get("it"), value)
    options = ["--stacks"] if is_frame(metric) else []
    sides = [stored(tmp, side, *options) for side in (base, test)]
    expect(f"{metric}: stored decides alike", check(tmp, single, *sides), (code, found))
    if is_frame(metric):
        without_frames(tmp, metric, single, base, test)
        without_stacks(tmp, metric, limits, info, base, test)
    if metric == "added of module":
        added_to_nothing(tmp, limits, info, base, test)
    rules = "".join(rule(info, f"{b}-low", low) + (rule(info, f"{b}-high", high) if high else "") for b, low, high in limits)
    code, found = check(tmp, rules, base, test)
    for bound, low, high in limits:
        expect(f"{metric}: {low} of {value}", found.get(f"{bound}-low", {}).get("state"), "fail")
        if high:
            expect(f"{metric}: {high} of {value}", found.get(f"{bound}-high", {}).get("state"), "pass")
    if not info["exact"]:
        with_evidence(tmp, info, value)


def with_evidence(tmp, info, value):
    """Three runs a side: equal code passes, the planted change fails; the numbers are those of the middle run."""
    metric, change = info["key"], abs(value[1] - value[0])
    limit = f"{{pp: {change / 2:.6f}pp}}" if info["unit"] == "percent" else f"{{pct: {50 * change / value[0]:.6f}%}}"
    it = rule(info, "it", limit, "runs")
    base, other, test = ([f for k in runs for f in make(tmp, metric, changed, k)]
                         for changed, runs in ((False, (0, 1, 2)), (False, (3, 4, 5)), (True, (0, 1, 2))))  # fmt: skip
    code, found = check(tmp, it, base, other)
    expect(f"{metric}: three runs, equal: {found}", (code, found.get("it", {}).get("state")), (0, "pass"))
    code, found = check(tmp, it, base, test)
    expect(f"{metric}: three runs, planted: {found}", (code, found.get("it", {}).get("state")), (1, "fail"))


def main(tmp):
    code, out, err = run("policy", "metrics", "--format", "json", cwd=tmp)
    expect(f"policy metrics: {err}", code, 0)
    # Numbers of benchmarks are in no trace: benchmark_numbers.py plants theirs.
    metrics = [m for m in json.loads(out)["metrics"] if m["scope"] != "numbers"]
    expect("metrics without a planted change", sorted({m["name"] for m in metrics} - set(mp.PLANTED)), [])
    infos = {m["name"]: m for m in metrics}
    expect("changes without a metric", [k for k in mp.PLANTED if k.split(" ")[0] not in infos], [])
    wanted = sys.argv[1:] or list(mp.PLANTED)
    for key in wanted:
        one_metric(tmp, {**infos[key.split(" ")[0]], "key": key})


run_parts(main)
