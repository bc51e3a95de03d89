#!/usr/bin/env python3
"""`tracegate selftest`: which rules of a policy turn red when what they are about is injected. What each
rule must answer was written down before; the reasons are beside the rows.
"""
import glob
import json

from support import ROOT, SHARED, Repository, expect, read_text, run_parts, tracegate, write_text

BASE = sorted(glob.glob(f"{ROOT}/examples/traces/base/run*.json.gz"))
GPU = sorted(glob.glob(f"{SHARED}/corpus/traces/tracelens/*_q*/*.gz"))

# One rule a policy (or several, `;` between), on the example traces (CPU, 15 runs, 5 steps), the answer of each
# rule, and the exit code: 1 as soon as a violation survives or none can fail.
TABLE = [
    # counts are exact: one call more is more than 0
    ("{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}", "red", 0),
    # +200 % is the largest change that is injected; 1000 % is beyond it
    ("{id: a, match: {kind: op}, metric: self, fail: {pct: 1000%, abs: 0.1%step}}", "survived", 1),
    ("{id: a, match: {kind: op}, metric: count, fail: {pct: 1000%, abs: 0}}", "survived", 1),
    # the rule judges the gaps too, 0.27 ms of 5.9, which two steps more make 45 times as long: that does not count
    ("{id: a, metric: step_time, fail: {pct: 1000%, abs: 1us}}", "survived", 1),
    ("{id: a, metric: step_time, fail: {pct: 150%, abs: 1us}}", "red", 0),
    ("{id: a, metric: step_time, fail: {pct: 10000%, abs: 1us}}", "survived", 1),
    # a budget may be further away than a change, but a minute is 4000 steps
    ("{id: a, metric: step_time, fail: {max: 25ms}}", "red", 0),
    ("{id: a, metric: step_time, fail: {max: 60s}}", "survived", 1),
    # the rule works, but the policy cannot stop a merge
    ("{id: a, match: {kind: op}, metric: count, warn: {abs: 0}}", "warns", 1),
    # … and one that can is beside it
    ("{id: a, match: {kind: op}, metric: count, direction: down, warn: {abs: 0}};"
     "{id: b, match: {kind: op}, metric: self, fail: {pct: auto, abs: 0.1%step}}", "warns red", 0),
    ("{id: a, match: {kind: op}, metric: count, direction: down, fail: {abs: 0}}", "red", 0),
    # a typing error: nothing has this name
    ("{id: a, match: {kind: op, name: 'aten::adm*'}, metric: self, fail: {pct: auto, abs: 0.1%step}}", "no match", 1),
    ("{id: a, match: {kind: op, name: 'aten::adm'}, metric: count, fail: {abs: 0}}", "no match", 1),
    ("{id: a, match: {kind: kernel}, metric: count, fail: {abs: 0}};"
     "{id: b, match: {kind: op}, metric: count, fail: {abs: 0}}", "no match red", 1),
    # a survivor beside it: that comes first
    ("{id: a, match: {kind: kernel}, metric: count, fail: {abs: 0}};"
     "{id: b, match: {kind: op}, metric: count, fail: {pct: 1000%, abs: 0}}", "no match survived", 1),
    # optional: a note, but nothing is left that could fail
    ("{id: a, match: {kind: op, name: 'aten::adm*'}, metric: self, fail: {pct: auto, abs: 0.1%step}, optional: true};"
     "{id: b, match: {kind: op}, metric: count, fail: {abs: 0}}", "skipped red", 0),
    ("{id: a, match: {kind: op, name: 'aten::adm*'}, metric: self, fail: {pct: auto, abs: 0.1%step}, optional: true}",
     "skipped", 1),
    # waits for a name that is not there yet
    ("{id: a, match: {name: 'aten::item'}, metric: count, fail: {abs: 0}, optional: true}", "red", 0),
    # a CPU trace has no kernels
    ("{id: a, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}, optional: true};"
     "{id: b, match: {kind: op}, metric: input_types, fail: {abs: 0}}", "skipped red", 0),
    ("{id: a, metric: idle, fail: {pp: 3pp}}", "survived", 1),
    # the override switches the rule off for everything
    ("{id: a, match: {kind: op}, metric: self, fail: {pct: auto, abs: 0.1%step},"
     " overrides: [{match: {name: '*'}, fail: off}]}", "survived", 1),
    # an override that stays red
    ("{id: a, match: {kind: op}, metric: self, fail: {pct: 1000%, abs: 1us},"
     " overrides: [{match: {name: 'aten::*'}, fail: {pct: 40%, abs: 0.1%step}}]}", "red", 0),
    # only on another event: the rule is tried all the same
    ("{id: a, match: {kind: op}, metric: count, fail: {abs: 0}, when: {event: schedule}}", "red", 0),
    ("{id: a, match: {kind: op}, metric: p95, fail: {pct: 10%, abs: 1us}}", "red", 0),
    ("{id: a, match: {kind: op}, metric: p95, fail: {pct: 10%, abs: 1us}, noise: {test: none}}", "red", 0),
    ("{id: a, match: {kind: op}, metric: removed, fail: {abs: 1us}}", "red", 0),
    ("{id: a, match: {kind: op}, metric: added, fail: {abs: 100us}}", "red", 0),
]

# On one real GPU trace: what needs runs is not tested, the rest is.
GPU_TABLE = [
    ("{id: a, match: {kind: kernel}, metric: count, fail: {abs: 0}}", "red", 0),
    ("{id: a, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}", "red", 0),
    ("{id: a, metric: launch_count, fail: {pct: 2%, abs: 1}}", "red", 0),
    ("{id: a, metric: idle, fail: {max: 99.999%}}", "survived", 1),
    ("{id: a, metric: kernel_names, fail: {abs: 0}}", "red", 0),
    ("{id: a, match: {kind: kernel}, metric: self, fail: {pct: auto, abs: 0.1%step}}", "untested", 1),
]


def run(rules, traces, cwd, *args, baselines=""):
    write_text(cwd + "/p.yml", "version: 1\n" + baselines + "rules:\n" + "".join(f"  - {r}\n" for r in rules.split(";")))
    p = tracegate("selftest", "--policy", "p.yml", "--format", "json", *args, *traces, cwd=cwd)
    try:
        return p.returncode, json.loads(p.stdout), p.stderr
    except ValueError:
        return p.returncode, {"rules": []}, p.stderr


def by_schema(reports):
    """Each document is what docs/selftest.schema.json says, which names every key and value that there is."""
    schema = json.loads(read_text(f"{ROOT}/docs/selftest.schema.json"))
    keys = set().union(*(r for report in reports for r in report["rules"]))
    expect("keys of the schema", (set(schema["properties"]), set(schema["definitions"]["rule"]["properties"])), (set().union(*reports), keys))
    outcomes = {r["outcome"] for report in reports for r in report["rules"]}
    expect("outcomes", outcomes - {"untested"}, set(schema["definitions"]["rule"]["properties"]["outcome"]["enum"]) - {"untested"})
    try:
        import jsonschema
    except ImportError:
        return
    valid = jsonschema.Draft7Validator(schema)
    expect("by the schema", [e.message for report in reports for e in valid.iter_errors(report)], [])
    expect("another outcome is refused", valid.is_valid({**reports[0], "rules": [{**reports[0]["rules"][0], "outcome": "blind"}]}), False)


def in_words(tmp):
    """What the text says of a rule that matches nothing, and of what a rule excepts."""
    rules = ("{id: typo, match: {kind: op, name: 'aten::adm'}, metric: count, fail: {abs: 0}};"
             "{id: some, match: {kind: op}, metric: count, fail: {abs: 0}, exceptions: [renamed, small]};"
             "{id: none, match: {kind: op}, metric: count, fail: {abs: 0}}")
    _, report, _ = run(rules, BASE[:1], tmp)
    expect("exceptions in JSON", [r["exceptions"] for r in report["rules"]], [[], ["renamed", "small"], []])
    p = tracegate("selftest", "--policy", "p.yml", *BASE[:1], cwd=tmp)
    expect("no match: last line", p.stdout.splitlines()[-1:], ["NO MATCH: rule 'typo' matches nothing on these traces"])
    expect("no match: its line", "  NO MATCH  typo: the rule matches nothing on these traces\n" in p.stdout, True)
    expect("nothing to judge: not said where there is none", "skipped" in p.stdout.split("\nNO MATCH")[0], False)
    for ids, end in ((("a",), "rule 'a': optional, and these traces have nothing to judge by it"),
                     (("a", "b", "c"), "rules 'a', 'b', 'c': optional, and these traces have nothing to judge by them")):
        run(";".join(f"{{id: {i}, match: {{kind: kernel}}, metric: count, optional: true, fail: {{abs: 0}}}}" for i in ids) +
            ";{id: ops, match: {kind: op}, metric: count, fail: {abs: 0}}", BASE[:1], tmp)
        text = tracegate("selftest", "--policy", "p.yml", *BASE[:1], cwd=tmp).stdout
        expect(f"nothing to judge, {len(ids)}: one line", [x for x in text.splitlines() if x.startswith("  skipped") or "Nothing to do" in x],
               ["  skipped   " + end])
    said = "excepts: renamed (only warns), such additions are small beside the step, or what they save (only warns)\n"
    expect("exceptions in text", p.stdout.count(said), 1)


def stored(tmp):
    """Without traces: the runs that are stored at HEAD or before it; else what is needed is said."""
    repo = Repository(f"{tmp}/repo")
    repo.write(".tracegate.yml", "version: 1\nsuites: [{name: s, trace: out}]\n"
                                 "rules: [{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}]\n")
    repo.commit("one")
    for command in ("selftest", "calibrate"):
        p = repo.run(command)
        expect(f"{command}: nothing stored", (p.returncode, "nothing is stored for suite 's' up to HEAD" in p.stderr), (2, True))
    expect("record", repo.run("baseline", "record", "--runs", *BASE[:6]).returncode, 0)
    for where in ("at HEAD", "before HEAD"):
        p = repo.run("selftest")
        expect(f"selftest: stored {where}: {p.stderr}", (p.returncode, "  red       a: " in p.stdout, "3 runs, every second" in p.stdout),
               (0, True, True))
        if where == "at HEAD":
            p = repo.run("calibrate", "--splits", "4")
            expect(f"calibrate: stored {where}: {p.stderr}", (p.returncode, "6 runs" in p.stdout), (0, True))
        p = repo.run("policy", "explain", "aten::adm")
        expect(f"explain: stored {where}", (p.returncode, "and no operator or kernel" in p.stderr), (2, True))
        expect(f"explain: stored {where}, a name", "a: count, more is bad" in repo.run("policy", "explain", "aten::mm").stdout
               and "    now " in repo.run("policy", "explain", "aten::mm").stdout, True)
        repo.git("commit", "--allow-empty", "-qm", where)


def main(tmp):
    reports = []
    for rules, outcomes, code in TABLE:
        got, report, err = run(rules, BASE, tmp)
        reports.append(report)
        expect(rules, (" ".join(r["outcome"] for r in report["rules"]), got), (outcomes, code))
        for r in report["rules"]:
            if r["outcome"] not in ("red", "warns"):
                expect(f"{rules}: reason, fix and place", [bool(r[k]) for k in ("reason", "fix", "line")],
                       [True] * 3)
    by_schema(reports)
    for rules, outcomes, code in GPU_TABLE if GPU else []:
        got, report, err = run(rules, GPU[:1], tmp)
        one = " ".join(r["outcome"] for r in report["rules"])
        expect(f"{rules} on a GPU trace: {err}", (one, got), (outcomes, code))
    # few runs: durations are not tested, counts are; nothing pretends
    rules = TABLE[0][0] + "; {id: b, match: {kind: op}, metric: self, fail: {pct: auto, abs: 0.1%step}}"
    _, report, _ = run(rules, BASE[:2], tmp)
    expect("two runs", [r["outcome"] for r in report["rules"]], ["red", "untested"])
    _, report, _ = run(rules, BASE[:5], tmp)
    expect("five runs against themselves", ([r["outcome"] for r in report["rules"]], "themselves" in report["sides"]),
           (["red", "red"], True))
    _, report, _ = run(rules, BASE[:6], tmp)
    expect("six runs are split", report["sides"].startswith("3 runs, every second one"), True)
    # one operator replaced by two: seen by a rule about all names, not by one about this name
    for rule, seen in (("{id: a, match: {kind: op}, metric: count, fail: {abs: 0}}", True),
                       ("{id: a, match: {kind: op, name: 'aten::mm'}, metric: count, fail: {abs: 0}}", False)):
        _, report, _ = run(rule, BASE[:1], tmp)
        expect(f"unfused: {rule}", [(r["outcome"], "replaced by two" in r["unfused"], r["sees_unfused"])
                                    for r in report["rules"]], [("red", True, seen)])
    _, report, _ = run("{id: a, match: {kind: op}, metric: count, direction: down, fail: {abs: 0}}", BASE[:1], tmp)
    expect("unfused: not for fewer calls", report["rules"][0]["unfused"], "")
    # runs of one commit stand for every baseline: a rule against another one is tried as the others are
    rules_of_two = ("{id: a, against: release, match: {kind: op}, metric: count, fail: {abs: 0}};"
                    "{id: b, against: release, match: {kind: op, name: 'aten::mm'}, metric: count, fail: {pct: 1000%}}")
    code, report, err = run(rules_of_two, BASE[:1], tmp, baselines="baselines: [{name: release, ref: 'release(v*)'}]\n")
    expect(f"against another baseline: {err}", (code, [r["outcome"] for r in report["rules"]]), (1, ["red", "survived"]))
    # most of the time is between the steps: the last step, whose next is not known, waits as long as the others do
    window = "suites: [{name: s, window: {by: annotation, name: 'Optimizer.step*'}}]\n"
    code, report, err = run("{id: a, metric: step_time, fail: {pct: auto}}", BASE[:5], tmp, baselines=window)
    expect(f"a window that holds little of the time: {err}", (code, [r["outcome"] for r in report["rules"]]), (0, ["red"]))
    # a budget that the baseline itself exceeds
    code, report, _ = run("{id: a, metric: step_time, fail: {max: 1us}}", BASE, tmp)
    expect("base against base is red", (code, report["self"], report["passed"]), (1, "fail", False))
    # the same answer twice, and whatever the order of the traces
    first = run(rules, BASE, tmp)[1]
    expect("order does not matter", run(rules, BASE[::-1], tmp)[1], first)
    # usage
    expect("a policy that does not load", run("{id: a}", BASE, tmp)[0], 2)
    expect("no trace", run("{id: a, metric: step_time, fail: {max: 1s}}", [], tmp)[0], 2)
    expect("a trace that is none", run("{id: a, metric: step_time, fail: {max: 1s}}", [tmp + "/p.yml"], tmp)[0], 3)
    p = tracegate("selftest", "--policy", f"{ROOT}/examples/policy.yml", *BASE)
    expect(f"the examples' policy sees: {p.stdout}{p.stderr}", (p.returncode, "FAIL:" in p.stdout), (0, False))
    p = tracegate("selftest", *BASE, cwd="/")
    expect("the built-in policy sees", (p.returncode, "  red       slower: " in p.stdout), (0, True))


run_parts(main, in_words, stored)
