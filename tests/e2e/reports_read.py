#!/usr/bin/env python3
"""What a reader must find in the headline and in the first lines of each report, and what must not be there: one change, one
finding, with what it costs by the clock that the step waits for; a hint only where it applies.

Each case was written down before the run: what changed, how much, and what is next to do. Text and comment say the same.
"""
import dataclasses
import glob
import os
import re
from random import Random

from support import ENV, ROOT, check, expect, read_text, run_parts, tracegate, write_json, write_text
from plain_model import Work, marks, scaled, trace, usual, write_run

RUNS, STEPS, RANKS = 3, 4, 4
STACKS, MACHINE, WAIVE = "Python stacks", "look at the machine", "If it is meant"
FRAME = "void at::native::vectorized_elementwise_kernel<{}, at::native::BinaryFunctor<float, float, float, " \
    "at::native::binary_internal::MulFunctor<float> > >(int, float*)"
ALIKE = usual() + [Work(f"aten::{op}", "kernel", FRAME.format(n), 20) for op, n in (("mul", 4), ("div", 8), ("pow", 2))]
HOST = [Work(f"aten::host{i}", us=40) for i in range(10)]
SHORT = [dataclasses.replace(w, us=w.us / 20) if w.sort == "kernel" else w for w in usual()]
EACH = "version: 1\nextends: [tracegate:recommended]\nrules: [{id: each, match: {kind: kernel, rank: each}, metric: self, fail: {pct: auto}}]\n"
BUDGET = "version: 1\nrules: [{id: budget, metric: step_time, fail: {max: %dus}}, {id: work, match: {kind: op}, metric: count, fail: {abs: 0}}]\n"


def rank_2(work, times, names):
    """Ranks' steps: on rank 2 these operators' work takes so many times as long."""
    return lambda rank: [dataclasses.replace(w, us=w.us * times) if rank == 2 and w.op in names else w for w in work]


# What a reader stumbled over, in no report.
STUMBLES = ["Meant?", "Where its limit", "as measured", "decisions", "hidden", "as before,", "fails from", "differ so", ", sets",
            "step's device work", "device's part", "as the baseline was", "operator looks", "operators look", "limit +8.0 % (account", "\u00d7",
            "test us",
            " and 1 more", "(step)", "(device-step)", "device_extent: ", "works no longer"]
ONLY_WARNS = "only warns: the policy has this limit as `warn`"
PREPARE, ITEM, REPORT = Work("aten::prepare", us=150), Work("aten::item", "sync"), Work("aten::report", "sync")
ALL, TWO = [w.op for w in usual() if w.sort == "kernel"], ("aten::op4", "aten::op5")

LONG = [Work(f"aten::host{i}", us=300 + 40 * i) for i in range(12)]


def busy(run):
    """A competitor: in each step each operator takes longer by a part of its own of what the run lost, and one by more."""
    random = Random(40 + run)
    lost = (0.18, 0.7, 0.45, 0.9, 0.3)[run]
    return [[dataclasses.replace(w, us=w.us * (1 + lost * random.uniform(0.3, 1.7)) * (3 if w.op == "aten::host3" else 1))
             for w in LONG] for _ in range(STEPS)]


ONLY_WARN = "version: 1\nrules: [{id: work, match: {kind: [kernel, op]}, metric: count, warn: {abs: 0}}]\n"


def attention(sort, kernel, us):
    return Work(f"aten::_scaled_dot_product_{sort}_attention", "kernel", f"void {kernel}", us)


# what; policy (None: built in); baseline's step; fresh step, or by rank, or with the host's pace in each run; in the headline; in the text; nowhere
CASES = [
    ("a clone where the host sets the pace", None, HOST + SHORT,
     HOST + [Work("aten::clone", us=40), Work("aten::copy_", "memcpy", "Memcpy DtoD (Device -> Device)", 12)] + SHORT,
     [r"aten::clone \+1 call \(\+5[12]\.\d us on the host\)"],
     [STACKS, WAIVE, "new aten::clone 0 -> 1 0.0 5", "limit no more than before: a step runs more"], [MACHINE, ONLY_WARNS]),
    ("a wait in a new operator", None, usual(), usual()[:-1] + [Work("aten::item", "sync", "", 3)] + usual()[-1:],
     [r"1 violation: aten::item \+1 call \(17\d us of waiting moved into it\)"],
     ["us of it moved here from aten::loss (17", "with it cudaStreamSynchronize +1 (new-sync)", STACKS],
     [MACHINE, "waits elsewhere", "more  cudaStreamSynchronize", "| cudaStreamSynchronize<br>"]),
    ("a wait where nothing is left to wait for", None, usual() + [PREPARE], usual() + [Work("aten::item", "sync", "", 3), PREPARE],
     [r"1 violation: aten::item \+1 call \(\+10\.\d us on the host\)"], [STACKS], [MACHINE, "slower", "waits elsewhere"]),
    ("a new wait that the step is longer by", None, usual()[:-1] + [PREPARE] + usual()[-1:], usual()[:-1] + [ITEM, PREPARE] + usual()[-1:],
     [r"1 violation: aten::item \+1 call \(the host waits 17\d us in it\)"], ["with it the step +4", STACKS],
     [MACHINE, "step_time +", "step_time:", "slower"]),
    ("a wait that comes earlier", None, usual()[:-1] + [PREPARE, ITEM, REPORT], usual()[:-1] + [ITEM, PREPARE, REPORT],
     [r"1 violation: step_time \+4\d % \(\+15\d us\): the host waits longer in aten::item"],
     ["the host waits 15", "us longer in aten::item (cudaStreamSynchronize), and not because the device has more to do: host work"],
     [MACHINE, "device_extent"]),
    ("a wait that moves, in a step as long", None, usual()[:-1] + [ITEM, REPORT], usual()[:-1] + [REPORT, ITEM],
     ["PASS: no regression found$"], ["note: the host waits elsewhere: 17", "us longer in aten::report, 17", "us less in aten::item"],
     [MACHINE, STACKS, WAIVE]),
    ("a replaced kernel", None, usual(), scaled(usual(), "aten::op5", us=1.8, name="void kern5_v2<float, 128>(float*)"),
     [r"kern5_v2<float, 128> instead of kern5: \+(79|80) % \(\+19\.\d us\)"],
     ["1 failed (1 more follows from it), 106 passed next", STACKS, "launched by aten::op5; in place of kern5"],
     ["less work", MACHINE, "names together", "is accepted with it", "not judged"]),
    ("a kernel that is gone", None, usual(), usual()[:5] + usual()[6:], ["PASS|WARN"], ["less work: kern4 -1 call", "105 passed note"],
     [STACKS, MACHINE, "not judged", "void"]),
    ("one of three kernels with one functor", None, ALIKE, scaled(ALIKE, "aten::div", us=2),
     [r"MulFunctor<float> of aten::div \+100 % \(\+19\.\d us\)"], ["MulFunctor<float> of aten::div: "], ["MulFunctor<float> of aten::mul", MACHINE]),
    ("one rank of four, two kernels", None, usual(), rank_2(usual(), 6, TWO),
     [r"1 violation: rank 2 alone: 2 kernels \+(49\d|50\d) % \(\+24\d us\)"],
     [MACHINE + " of rank 2 first", "the other ranks work as before", "mean of 4 ranks",
      "Step time of rank 2: 345.7 -> 590.4 us", "rank 2 kern5 1 25.1 149.8 +124.8", "rank 2 kern4 1 24.0 143.5 +119.5"],
     [STACKS, "the whole machine", "grew most", "+31", "+29", "of rank 2 that take longer"]),
    ("one rank of four, one kernel", None, usual(), rank_2(usual(), 9, TWO[:1]),
     [r"1 violation: rank 2 alone: kern4 \+[78]\d\d % \(\+19\d us\)"], [MACHINE + " of rank 2 first", "(+19"], [STACKS, "together", "with it"]),
    ("one rank of four, everything on its device", None, usual(), rank_2(usual(), 1.7, ALL),
     [r"rank 2 alone: 12 kernels \+(69|70) % \(\+2\d\d us\)"],
     [MACHINE + " of rank 2 first", "rank 2 kern11 1 31.0 52.7", "and 2 more of rank 2 that take longer (--html has all)"],
     [STACKS, "the whole machine", "the rank that has most"]),
    ("one rank of four, by a rule for each", EACH, usual(), rank_2(usual(), 6, TWO),
     [r"1 violation: rank 2 alone: 2 kernels \+(49\d|50\d) %"], [MACHINE + " of rank 2 first", "[rank 2] +50"], [STACKS]),
    ("all ranks, two kernels", None, usual(), lambda rank: [dataclasses.replace(w, us=w.us * 6) if w.op in TWO else w for w in usual()],
     [r"kern5 \+50\d %"], [STACKS, "with it the step +7", "the device's extent +75 % (from its first work of a step to its last, gaps included)",
                           "% of the step on the device)"], [MACHINE, "alone", "device_extent +"]),
    ("slower, by a policy that only warns", "version: 1\nextends: [tracegate:advisory]\n", usual(), scaled(usual(), "aten::op5", us=1.8),
     [r"WARN: nothing failed, 1 warning: kern5 \+(79|80) %"], ["limit +15 %; " + ONLY_WARNS], [WAIVE, MACHINE]),
    ("slower, by a policy that fails", None, usual(), scaled(usual(), "aten::op5", us=1.8),
     [r"FAIL: 1 violation: kern5 \+(79|80) %"], ["limit +15 %", WAIVE], [ONLY_WARNS, MACHINE]),
    ("a budget that was over before", BUDGET % 200, usual(), scaled(usual(), "aten::op3", us=1.3),
     [r"step_time 35\d us, over the limit of 200 us \(the baseline was, too\)"], ["The baseline was beyond the limit, too", "not the only reason"],
     [STACKS, MACHINE, WAIVE]),
    ("a budget that is over now", BUDGET % 350, usual(), scaled(usual(), "aten::op3", us=1.6),
     [r"step_time 36\d us, over the limit of 350 us(?!, as)"], [STACKS], ["The baseline was beyond", MACHINE]),
    ("a kernel a little slower", None, usual(), scaled(usual(), "aten::op3", us=1.05), [r"1 warning: kern3 \+[45]\.\d %"],
     ["new runs of both sides", "only warns below +15 %", "1 warned"], [STACKS, MACHINE, ", detectable from", WAIVE]),
    ("Python in each step, and an operator that it leaves cold", None, LONG,
     [Work(None, us=30000)] + [dataclasses.replace(w, us=w.us * 1.2) if w.op == "aten::host1" else w for w in LONG],
     [r"2 violations: host time between operators \+(29\.\d|30\.\d) ms, aten::host1 \+(19|20) %$"],
     ["Step time 6.2", " -> 36.", " ms (+47"], [MACHINE]),
    ("a machine that is slower now", None, HOST + SHORT, (HOST + SHORT, (1, 1.2, 1.9)),
     [r"1 warning: step_time \+16 % .*, which may be the machine$"],
     ["may be the machine: the host is 14.2 % slower", "Record both sides in turn on one idle machine", "1 warned"], [STACKS, WAIVE]),
    ("a machine that is faster now, and a stall in each run", None, LONG,
     [[[dataclasses.replace(w, us=w.us * (9 if stall and w.op == "aten::host0" else 0.95)) for w in LONG] for stall in (0, 0, 1, 0)]] * 5,
     [r"1 warning: aten::host0"], ["; in the fastest steps -", STACKS], [WAIVE, "machine is"]),
    ("a larger batch, or a device that is slower now", None, usual(), [dataclasses.replace(w, us=w.us * 1.25) for w in usual()],
     [r"1 warning: the device's busy time \+25 % \(\+7\d\.\d us\), which may be the machine$"],
     ["with it the step +22 %", "may be the machine: the device is 25", "grew most: kern11 +7"], [STACKS, WAIVE, "gpu_busy", "step_time:"]),
    ("a kernel a little slower, on a host that is slower now", None, HOST + usual(), (HOST + scaled(usual(), "aten::op3", us=1.05), (1, 1.2, 1.9)),
     [r"2 warnings: kern3 \+[45]\.\d % .*, step_time \+11 %"], ["2 warned", "may be the machine"], ["3 warned", STACKS]),
    ("a busy machine", None, LONG, [busy(k) for k in range(5)],
     [r"INCONCLUSIVE: the machine was busy during the fresh runs, and aten::host3 looks slower$"],
     ["all operators take longer", "durations not judged: the machine was busy", "unless names that changed explain it",
      "Record both sides in turn on one idle machine", "This blocks the job (exit code 4)"],
      [STACKS, WAIVE, "a little longer", "may be the machine", "the steps of a run differ", ", not judged)", "accounts for"]),
    ("attention by another kernel, of the same type", None,
     usual()[:-1] + [attention("flash", "flash_fwd<64, cutlass::bfloat16_t>", 90)] + usual()[-1:],
     usual()[:-1] + [attention("efficient", "fmha_cutlassF_bf16_aligned_64x128(Params)", 140)] + usual()[-1:],
     [r"1 violation: fmha_cutlassF_bf16_aligned_64x128 instead of .* \+5\d %"], [WAIVE], [MACHINE, "fp32", "renamed", "0.0 \u2192"]),
    ("a warning that explains the number of calls", ONLY_WARN, usual(), usual() + [Work("aten::cat", "kernel", "void cat(float*)", 4)] * 2,
     [r"WARN: nothing failed, 1 warning: aten::cat \+2 calls"], ["1 warned (2 more follow from it)", "with it calls +6 (account)"],
     [MACHINE, "has to be explained"]),
    ("nothing", None, usual(), usual(), ["PASS: no regression found$"], ["detectable from"], [STACKS, MACHINE, WAIVE, "record"]),
    ("nothing, in single runs", None, usual(), usual(), [r"PASS: no regression found; durations not judged: record 3 runs a side"], [],
     [STACKS, MACHINE, WAIVE]),
]


def run(base, fresh, *more):
    return tracegate("check", "--runs", *more, *[a for p in base for a in ("--baseline", p)], *fresh, env=dict(ENV, COLUMNS="120"))


def judged(d, what, policy, base, fresh):
    """Terminal and comment."""
    os.makedirs(d, exist_ok=True)
    write_text(f"{d}/p.yml", policy or "")
    done = run(base, fresh, *(["--policy", f"{d}/p.yml"] if policy else []), "--markdown", f"{d}/c.md")
    expect(f"{what}: stderr", done.stderr, "")
    return done.stdout, read_text(f"{d}/c.md")


def reports(d, what, policy, base, fresh):
    by_rank, runs = callable(fresh), 1 if "single runs" in what else RUNS
    runs = len(fresh) if isinstance(fresh, list) and isinstance(fresh[0], list) else runs
    fresh, paces = fresh if isinstance(fresh, tuple) else (fresh, (1,) * runs)
    paths, runs = {}, len(paces)
    for side, seed, work in (("base", 0, base), ("test", 900, fresh)):
        for run in range(runs):
            for rank in range(RANKS) if by_rank else [None]:
                path = f"{d}/{side}{run}" + ("" if rank is None else f"_rank{rank}") + ".json"
                step = work(rank) if callable(work) else work
                write_run(path, step[run] if isinstance(step[0], list) else [step] * STEPS, seed + 10 * run + (rank or 0), rank=rank,
                          pace=paces[run] if seed else 1)
                paths.setdefault(side, []).append(path)
    return judged(d, what, policy, paths["base"], paths["test"])


def plain(markdown):
    """The comment's words as a terminal has them."""
    return re.sub(r"[`*]", "", markdown.replace("\u00a0", " ").replace("µs", "us"))


def read(name, text, comment, headline, inside, nowhere):
    title = " ".join(text.split("\n  effect")[0].split())
    check(f"{name}: {len(title)} characters", len(title) < 120, title)
    for want in headline:
        check(f"{name}: headline {want}", re.search(want, title), title)
    expect(f"{name}: the comment's headline", plain(comment).split("### ")[1].split("\n")[0].split(" ", 1)[1].strip(), title)
    for want in inside:
        check(f"{name}: {want} in the text", want in " ".join(text.split()), text)
    for other in nowhere + STUMBLES:
        check(f"{name}: no {other!r}", other not in text and other not in plain(comment), text)
    nexts = re.findall(r"(?:\*\*Next\*\*|\u2192) ([A-Z].*)", comment)
    expect(f"{name}: what is next is said once", sorted(set(nexts)), sorted(nexts))
    check(f"{name}: one line is what is next", comment.count("**Next**") <= 1, comment)
    check(f"{name}: a command that explains is one of a rule", "policy explain account" not in comment, comment)
    rows = [m for m in re.findall(r"^\| (`.*?`).*<sub>", comment, re.M) if "host time between" not in title]
    check(f"{name}: the first row is no time between operators", not rows or "host time between" not in rows[0], rows)


def cases(tmp):
    for k, (what, rules, before, after, *wanted) in enumerate(CASES):
        read(what, *reports(f"{tmp}/{k}", what, rules, before, after), *wanted)


def lost_fusion(tmp):
    recorded = [sorted(glob.glob(f"{ROOT}/examples/traces/{side}/*.gz"))[:5] for side in ("base", "lost_fusion")]
    read("a lost fusion", *judged(tmp, "a lost fusion", None, *recorded),
         ["1 violation: aten::mul and 13 more instead of aten::native_layer_norm and 5 more: \\+69 calls \\(\\+1\\d\\d us on the host\\)"],
         ["73 calls per step, was 4 (+69)", "more (--html names them)", STACKS, WAIVE], [MACHINE])
    page = run(*recorded, "--quiet", "--html", "-").stdout
    whole = [re.sub("<[^>]*>", "", part.split("</p>")[0]).split(", ") for part in re.split("in full</span> |with it</span> ", page)[1:]]
    expect("names in full, and what follows: on the page alone", [len(whole[0]) + 1, len(whole[1])], [14 + 6, 27])
    # accepted: one line for each item of the waivers
    run(*recorded, "--json", f"{tmp}/r.json")
    waivers = tracegate("policy", "waive", f"{tmp}/r.json", "--reason", "by hand", "--owner", "me").stdout
    write_text(f"{tmp}/p.yml", waivers if "version:" in waivers else "version: 1\nextends: [tracegate:recommended]\n" + waivers)
    items = len(re.findall("^  - {rule", waivers, re.M))
    accepted = run(*recorded, "--policy", f"{tmp}/p.yml", "--markdown", "-").stdout
    expect("lines of what is waived", (accepted.count("- \U0001f3ab"), accepted.count("**Replaced**")), (items, 0))
    check("items of waivers", 1 <= items <= 3, waivers)


def units(tmp):
    sides = [[Work("aten::long", us=150_000), Work("aten::slow", us=100)],
             [Work("aten::long", us=150_000), Work("aten::long", us=30), Work("aten::slow", us=20_000)]]
    for side, work in zip("bt", sides):
        write_run(f"{tmp}/{side}.json", [work] * STEPS, 1, noise=0)
    comment = judged(tmp, "units", None, [f"{tmp}/b.json"], [f"{tmp}/t.json"])[1].replace("\u00a0", " ")
    for row in (r"`aten::long`.*more, 1 → 2 calls, 150\.0 → 150\.0 ms.*\| \+32\.0 µs \|", r"`aten::slow`.*, 0\.10 → 20\.00 ms.*\| \+19\.90 ms \|"):
        check(f"a row has one unit, and its change a number: {row}", re.search(row, comment), comment)


def with_memory(path, seed, peak, work):
    """A run whose steps allocate `peak` MiB at most."""
    recorded = trace([work] * STEPS, seed)
    for step in marks(recorded["traceEvents"]):
        for i, mib in enumerate((peak - 7, peak)):
            recorded["traceEvents"].append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": step["pid"],
                                            "tid": step["tid"], "ts": step["ts"] + 1 + i, "args": {
                "Total Allocated": mib << 20, "Total Reserved": 4096 << 20, "Bytes": 1, "Device Id": 0, "Device Type": 1}})
    write_json(path, recorded)
    return path


def memory(tmp):
    """Memory is said where it changed: 1000 to 1250 MiB are +25 %; a wait that comes earlier is drawn by host time."""
    base = [with_memory(f"{tmp}/b{k}.json", k, 1000, usual()[:-1] + [PREPARE, ITEM, REPORT]) for k in range(3)]
    early = [with_memory(f"{tmp}/t{k}.json", 9 + k, 1250, usual()[:-1] + [ITEM, PREPARE, REPORT]) for k in range(3)]
    for fresh, said in ((early, True), (base, False)):
        text, comment = judged(tmp, "memory", None, base, fresh)
        expect("peak memory in the text", "peak memory 0.98 -> 1.22 GiB (+25 %)" in " ".join(text.split()), said)
        expect("peak memory in the comment", "peak memory 0.98 → 1.22 GiB (+25 %)" in comment.replace("\u00a0", " "), said)
        expect("the page draws host time", "Host time of one trace" in run(base, fresh, "--quiet", "--html", "-").stdout, said)


run_parts(cases, lost_fusion, units, memory)
