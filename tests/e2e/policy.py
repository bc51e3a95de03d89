#!/usr/bin/env python3
"""`tracegate policy`: init writes what loads and passes on its own trace, lint finds a planted typing error,
show loads again, schema is JSON."""
import glob
import json
import os

from support import (DATED, ENV, ROOT, SHARED, expect, expect_has, read_json, read_text, run, run_parts, tracegate,
                     write_json, write_text)
from plain_model import launched, mark, span


def lint_dates(tmp):
    """The command line knows today: by the clock, or as SOURCE_DATE_EPOCH (2026-01-02) says."""
    text = "version: 1\nrules:\n  - {id: a, metric: idle, fail: {pp: 1pp}}\n" \
           "waivers:\n  - {rule: a, ceiling: {pp: 9pp}, reason: r, expires: %s}\n"
    for day, dated, code, part in (("2026-01-16", True, 0, "TG231"), ("2026-01-17", True, 0, "no mistakes"),
                                   ("2026-01-01", True, 0, "expired 1 day(s) ago"), ("2026-07-01", True, 0, "no mistakes"),
                                   ("2026-07-02", True, 2, "the last day allowed is 2026-07-01"),
                                   ("2025-01-01", False, 0, "expired"), ("9999-01-01", False, 2, "TG141")):
        write_text(tmp + "/dated.yml", text % day)
        p = tracegate("policy", "lint", "--policy", "dated.yml", cwd=tmp, env=DATED if dated else ENV)
        expect(f"lint, last day {day}: {p.stdout}", (p.returncode, part in p.stdout), (code, True))


def lint_words(tmp):
    """What `policy waive` and a report leave for somebody to write is found; words of one's own are not."""
    for reason, owner, found in (("why this is accepted", "me", True), ("r", "who removes it", True), ("…", "you", True), ("r", "me", False)):
        write_text(tmp + "/words.yml", "version: 1\nrules:\n  - {id: a, metric: idle, fail: {pp: 1pp}}\nwaivers:\n"
                   f"  - {{rule: a, ceiling: {{pp: 9pp}}, reason: '{reason}', owner: '{owner}', expires: 2026-02-28}}\n")
        p = tracegate("policy", "lint", "--policy", "words.yml", cwd=tmp, env=DATED)
        expect(f"lint, {reason}, {owner}: {p.stdout}", (p.returncode, "TG232" in p.stdout, "no mistakes" in p.stdout), (0, found, not found))


def examples():
    """The policies that docs/policy.md offers for copying load, and lint says nothing about them."""
    found = sorted(glob.glob(f"{ROOT}/examples/policy*.yml"))
    expect("examples of policies", len(found) >= 6, True)
    for path in found:
        code, out, _ = run("policy", "lint", "--policy", path)
        expect(f"lint of {path}: {out}", (code, "no mistakes" in out), (0, True))


def waive(tmp):
    """Waivers for all causes of a failure, as `policy waive` writes them, and the same check passes: they cover what follows."""
    traces = os.path.join(ROOT, "examples/traces")
    write_text(tmp + "/day.yml", "version: 1\nextends: ['tracegate:recommended']\n")
    for variant in ("extra_copy", "added_sync", "lost_fusion", "slower_op"):
        def check(policy, side=variant):
            fresh = sorted(glob.glob(f"{traces}/{side}/run0[0-4].json.gz"))
            code, _, err = run("check", *fresh, "--runs", "--baseline", traces + "/base", "--policy", policy, "--json", "w.json", "--quiet", cwd=tmp)
            return code, read_json(tmp + "/w.json")["violations"], err
        code, failed, err = check("day.yml")
        expect(f"{variant} fails {err}", code, 1)
        code, whole, err = run("policy", "waive", "w.json", cwd=tmp)
        write_text(tmp + "/all.yml", "version: 1\nextends: ['tracegate:recommended']\n" + whole)
        expect(f"{variant}: waivers for all {err}{whole}", (code, check("all.yml")[0]), (0, 0))
        check("day.yml")
        roots, texts = [r for r in failed if r["explained_by"] is None], []
        for r in roots:
            code, out, err = run("policy", "waive", "w.json", r["rule"], r["op_normalised"], "--reason", "it's so", "--owner", "me",
                                 "--issue", "https://example.org/1", cwd=tmp)
            expect(f"{variant}: waive {r['op']} {err}", (code, out.startswith("waivers:\n")), (0, True))
            texts += out.split("\n", 1)[1].split("  - ")[1:]
        texts, preset = list(dict.fromkeys(texts)), "version: 1\nextends: ['tracegate:recommended']\n"
        write_text(tmp + "/waived.yml", preset + "waivers:\n" + "".join("  - " + t for t in texts))
        code, failed, err = check("waived.yml")
        expect(f"{variant}: waived {[(r['rule'], r['op'], r['evidence']) for r in failed]} {err}", code, 0)
        expect("the control: without the last waiver it fails", len(texts) > 0, True)
        write_text(tmp + "/waived.yml", preset + ("waivers:\n" + "".join("  - " + t for t in texts[1:]) if len(texts) > 1 else ""))
        expect(f"{variant}: one waiver less", check("waived.yml")[0], 1)
    for policy in (), ("--policy", "tracegate:recommended"):  # no file yet: what is printed is one
        side = [f"{traces}/extra_copy/run0{i}.json.gz" for i in range(5)] + ["--runs", "--baseline", traces + "/base", "--quiet"]
        code, _, err = run("check", *side, *policy, "--json", "none.json", "--markdown", "none.md", cwd=tmp)
        expect(f"without a policy file {err}", code, 1)
        code, out, err = run("policy", "waive", "none.json", "-o", "first.yml", cwd=tmp)
        expect(f"the first policy file {policy} {out}{err}", (code, run("check", *side, "--policy", "first.yml", cwd=tmp)[0]), (0, 0))
        expect("the comment says the same", "create `.tracegate.yml`" in read_text(tmp + "/none.md"), True)
    for args, code, words in ((("w.json", "new-work", "nonesuch"), 2, "no failure of rule 'new-work' for 'nonesuch'"), ((), 2, "0 given"),
                              (("w.json", "a", "b", "c"), 2, "4 given"), (("w.json", "nonesuch"), 2, "no failure that"),
                              (("day.yml", "a", "b"), None, ""), (("nonesuch.json", "a", "b"), 3, "nonesuch.json")):
        got = run("policy", "waive", *args, cwd=tmp)
        expect(f"waive {args}: {got}", (got[0] if code else got[0] != 0, words in got[2]), (code or True, True))


OLD = """version: 1
require: {steps: 3, ops: ["aten::mm"]}
fail_on: [fail, warn]
rules:
  - {id: slower, match: {kind: op}, metric: self, fail: {pct: 10%, abs: 0.1%step}}
  - {id: long, match: {kind: op}, metric: total, fail: {pct: 10%, abs: 200us}, warn: {pct: 5%}}
  - {id: gone, metric: idle, fail: {pp: 3pp}}
  - {id: same, match: {kind: op}, metric: count, fail: {abs: 0}}
"""
# Edits of OLD; expected lines "direction path", nothing else may be said. test_changes.c has the directions of all keys.
EDITS = [
    ("pct: 10%, abs: 0.1%step", "pct: 9%, abs: 0.2%step", ["looser rules.slower.fail.abs", "tighter rules.slower.fail.pct"]),
    ("abs: 200us", "abs: 0.2ms", ["changed rules.long.fail.abs"]),
    ("abs: 200us", "abs: 0.1%step", ["looser? rules.long.fail.abs"]),
    (", warn: {pct: 5%}", "", ["looser rules.long.warn"]),
    ("  - {id: gone, metric: idle, fail: {pp: 3pp}}\n", "", ["looser rules.gone"]),
    ("version: 1\n", "version: 1 # the same\n", []),
]


def ceilings(tmp):
    """What a report offers for a budget loads and waives it: a value where the rule fails that way alone, else the change."""
    for side, gap in (("before", 499), ("after", 500)):
        write_run(f"{tmp}/{side}.json", gap)
    for limits, bound in (("{max: 1ms}", "max"), ("{min: 9ms}", "min"), ("[{max: 1ms}, {min: 1us}]", "pct"), ("[{max: 1ms}, {pct: 10%}]", "max")):
        rules = f"version: 1\nrules: [{{id: c, metric: step_time, fail: {limits}}}]\n"
        write_text(tmp + "/ceiling.yml", rules)
        args = ("check", "after.json", "--baseline", "before.json", "--policy", "ceiling.yml", "--quiet")
        expect(f"{limits}: fails", run(*args, "--json", "c.json", "--markdown", "c.md", cwd=tmp, env=DATED)[0], 1)
        _, waived, err = run("policy", "waive", "c.json", "--reason", "meant", "--owner", "me", cwd=tmp, env=DATED)
        comment = read_text(tmp + "/c.md").split("```yaml\n")[1].split("```")[0]
        for what, text in (("policy waive", waived), ("comment", comment.replace("YYYY-MM-DD", "2026-02-02"))):
            expect(f"{limits}: {what}'s ceiling is {bound}: {text} {err}", f"ceiling: {{{bound}: " in text, True)
            write_text(tmp + "/ceiling.yml", rules + text)
            code, out, err = run(*args, cwd=tmp, env=DATED)
            expect(f"{limits}: {what} is accepted: {text} {out} {err}", code, 0)


def diff(tmp):
    """Every edit is told with its direction, and the opposite edit with the opposite one."""
    opposite = {"looser": "tighter", "tighter": "looser", "looser?": "looser?", "changed": "changed"}
    write_text(tmp + "/old.yml", OLD)
    for before, after, want in EDITS:
        expect(f"the edit of {before!r} finds its text", OLD.count(before), 1)
        write_text(tmp + "/new.yml", OLD.replace(before, after))
        for files, lines in ((("old.yml", "new.yml"), want),
                             (("new.yml", "old.yml"), [f"{opposite[d]} {p}" for d, p in map(str.split, want)])):
            code, out, err = run("policy", "diff", *files, "--strict", cwd=tmp)
            got = sorted(" ".join(x.split()[:2]).rstrip(":") for x in out.splitlines() if x != "no difference")
            expect(f"diff {files} {after!r} {err}", got, sorted(lines))
            expect(f"strict {files} {after!r}", code, int(any(x.startswith("looser") for x in lines)))
    expect("diff of one", run("policy", "diff", "old.yml", cwd=tmp)[0], 2)
    expect("diff of what is not there", run("policy", "diff", "old.yml", "none.yml", cwd=tmp)[0], 2)


def diff_profiles(tmp):
    """A profile is judged when it is selected: what is looser in it alone is told, and what is looser anyway once."""
    old = OLD + "profiles: {pr: {fail_on: [fail, warn], rules: [{id: long, fail: {pct: 7%}}]}}\n"
    for after, want in ((old.replace("pct: 7%", "pct: 9%"), ["looser profiles.pr.rules.long.fail.pct"]),
                        (old.replace("pct: 7%", "pct: 4%"), ["tighter profiles.pr.rules.long.fail.pct"]),
                        (old.replace("7%}}]}}", "7%}}]}, night: {rules: [{id: long, fail: off}]}}"), ["looser profiles.night.rules.long.fail"]),
                        (old.replace("steps: 3", "steps: 2"), ["looser require.steps"]), (old, [])):
        for name, content in (("old.yml", old), ("new.yml", after)):
            write_text(f"{tmp}/{name}", content)
        code, out, err = run("policy", "diff", "old.yml", "new.yml", "--strict", cwd=tmp)
        got = sorted(" ".join(x.split()[:2]).rstrip(":") for x in out.splitlines() if x != "no difference")
        expect(f"profiles {want} {err}", (got, code), (want, int(any(x.startswith("looser") for x in want))))


def explain(tmp, trace):
    write_text(tmp + "/e.yml", "version: 1\nrules:\n"
            "  - {id: a, match: {kind: op, name: 'aten::*'}, metric: self, fail: {pct: 7%, abs: 0.1%step},\n"
            "     overrides: [{match: {name: aten::mm}, fail: {pct: 21%}}]}\n"
            "  - {id: b, match: {kind: op, parent: nowhere}, metric: count, fail: {abs: 0}}\n"
            "  - {id: c, metric: step_time, fail: {max: 1ms}}\n")
    where = ("--policy", "e.yml")
    code, out, _ = run("policy", "explain", "aten::mm", trace, *where, cwd=tmp)
    expect("explain: the override's limit and place", (code, "pct: 21%" in out, "e.yml:4" in out, "7%" in out),
           (0, True, True, False))
    expect("explain: not what asks for another parent", "b: count" in out, False)
    code, out, _ = run("policy", "explain", "aten::addmm", *where, cwd=tmp)
    expect("explain without a trace", (code, "pct: 7%" in out, "b: count" in out and "if its parent" in out),
           (0, True, True))
    expect("explain: nobody", "no rule judges" in run("policy", "explain", "x", trace, *where, cwd=tmp)[2] or
           run("policy", "explain", "x", trace, *where, cwd=tmp)[0] == 2, True)
    code, out, _ = run("policy", "explain", "c", *where, cwd=tmp)
    expect("explain a rule", (code, "max: 1ms" in out, "e.yml:6" in out), (0, True, True))
    for slip, traces, *says in (("new-wrok", [], "Did you mean the rule 'new-work'?", "If it is an operator"),
                                ("TYPO", [], "no rule is called 'TYPO'", "tracegate policy explain TYPO TRACE"),
                                ("new-wrok", [trace], "Did you mean the rule 'new-work'?"),
                                ("aten::amm", [trace], "and no operator or kernel of these traces", "Did you mean the operator 'aten::mm'?"),
                                ("TYPO", [trace], "no rule is called 'TYPO', and no operator or kernel of these traces")):
        code, out, said = run("policy", "explain", slip, *traces, cwd=tmp)
        expect(f"explain {slip}, {len(traces)} traces", (code, out), (2, ""))
        expect_has(f"explain {slip}, {len(traces)} traces", " ".join(said.split()), *says)
    expect("explain a name", run("policy", "explain", "aten::mm", cwd=tmp)[0], 0)
    expect("explain a name", "did you mean" in run("policy", "explain", "aten::mm", cwd=tmp)[2], False)
    code, _, said = run("policy", "lint", "e.yml", cwd=tmp)
    expect("lint FILE", (code, "tracegate policy lint --policy e.yml" in said), (2, True))
    expect("explain needs a name", run("policy", "explain", *where, cwd=tmp)[0], 2)


def write_run(path, gap, kernel=None):
    """
    Three steps of 1 ms: `x` twice, 100 us each, once 300 us of `mine::y`, and the gap; nothing varies within a run.
    With a kernel of that name, once a step.
    """
    events = []
    for step in range(3):
        at = 2000 * step
        events.append(mark(step, at, 500 + gap))
        events += [span("cpu_op", name, at + start, us) for name, start, us in (("x", 0, 100.001), ("x", 200, 100.001), ("mine::y", 400, 300.001))]
        events += launched(kernel, at + 800, at + 820, 10.001, step + 1, 10.001) if kernel else []
    write_json(path, {"schemaVersion": 1, "traceEvents": events})


def numbers(tmp):
    """
    Value, where the limit begins, noise, and what three runs a side can prove (+15 %), from the sizes above. Three steps
    of 1 ms begin every 2 ms, so a step's wall clock is (2 + 2 + 1) / 3 = 1.67 ms: 5%step are 83 us. All bounds of a limit have to be exceeded, one
    limit of a list is enough.
    """
    runs = [f"{tmp}/n{i}.json" for i in range(3)]
    for i, path in enumerate(runs):
        write_run(path, 499 + i)
    write_text(tmp + "/n.yml", "version: 1\n"
            "classes: [{name: 'mine::*', class: comm}]\n"
            "rules:\n"
            "  - {id: a, match: {kind: op}, metric: self, warn: {pct: 10%}, fail: [{pct: 20%, abs: 5%step}, {max: 0.9ms}],\n"
            "     overrides: [{match: {name: mine::y}, fail: {pct: 50%}}]}\n"
            "  - {id: b, match: {kind: kernel, class: comm}, metric: count, direction: both, fail: {abs: 1}}\n"
            "  - {id: c, metric: step_time, fail: {max: 2ms}}\n")
    seen = "; 3 runs: noise 0.0 %%, detectable from +15.0 %% (%d us in the fastest steps)"
    for name, want in (
            ("x", [f"now 200 us, warns above 220 us, fails above 283 us or above 900 us{seen % 230}"]),
            ("mine::y", [f"now 300 us, warns above 330 us, fails above 450 us{seen % 345}"]),
            ("a", [f"mine::y: now 300 us, warns above 330 us, fails above 450 us{seen % 345}",
                   f"x: now 200 us, warns above 220 us, fails above 283 us or above 900 us{seen % 230}"])):
        code, out, err = run("policy", "explain", name, "--policy", "n.yml", *runs, cwd=tmp)
        got = [x.strip() for x in out.splitlines() if "now " in x]
        expect(f"explain {name} in numbers {err}", (code, got), (0, want))
    write_run(tmp + "/k.json", 500, "mine::k")  # `comm` by the policy's own classes alone
    code, out, _ = run("policy", "explain", "b", "--policy", "n.yml", "k.json", cwd=tmp)
    expect("explain b in numbers", (code, "matches 1 name" in out, "mine::k: now 1, fails above 2 or below 0\n" in out),
           (0, True, True))
    expect("explain b: other classes", "matches 0 names" in run("policy", "explain", "b", "--policy", "n.yml", runs[0], cwd=tmp)[1], True)
    code, out, _ = run("policy", "explain", "c", "--policy", "n.yml", *runs, cwd=tmp)
    # steps of 1 ms begin every 2 ms: (2 + 2 + 1) / 3
    expect("explain step_time in numbers", (code, "now 1.67 ms, fails above 2.00 ms" in out), (0, True))
    code, out, _ = run("policy", "explain", "x", "--policy", "n.yml", runs[0], cwd=tmp)
    expect("one run", (code, "; 1 run: not judged, too few runs a side: 3 needed, 5 better" in out), (0, True))
    code, out, _ = run("policy", "explain", "mine::y", "--policy", "n.yml", cwd=tmp)
    expect("no numbers without traces", (code, "now " in out), (0, False))


def short_names(tmp):
    """A name as reports shorten it is taken where a name is asked for, unless it is short for several."""
    functor = "CUDAFunctor_add<{0}>"
    kernel = ("void at::native::vectorized_elementwise_kernel<4, at::native::" + functor + ", at::detail::Array<char*, 3> >"
              "(int, at::native::" + functor + ", at::detail::Array<char*, 3>)")
    write_run(tmp + "/before.json", 500)
    write_run(tmp + "/after.json", 500, kernel.format("float"))
    code, _, err = run("check", "after.json", "--baseline", "before.json", "--json", "s.json", "--markdown", "s.md", "--quiet", cwd=tmp)
    short = functor.format("float")
    with open(tmp + "/s.md", encoding="utf-8") as f:
        shown = f.read()
    expect(f"a new kernel under its short name {err}", (code, short in shown.replace("\\", "").replace("&lt;", "<").replace("&gt;", ">")), (1, True))
    for name, found in ((short, True), ("CUDAFunctor_a…loat>", True), ("CUDAFunctor_add<double>", False), ("add<float>", False)):
        code, out, err = run("policy", "explain", name, "after.json", cwd=tmp)
        expect(f"explain {name} {err}", (code, out.startswith(kernel.format("float") + ", kernel")), (0, True) if found else (2, False))
        code, out, err = run("policy", "waive", "s.json", "new-work", name, cwd=tmp)
        expect(f"waive {name} {err}", (code, out.count("  - {rule: ")), (0, 1) if found else (2, 0))
    report = read_json(tmp + "/s.json")
    more = [dict(r, op=kernel.format("int"), op_normalised=kernel.format("int")) for r in report["violations"] if short in r["op"]]
    report["violations"] += more
    write_json(tmp + "/s2.json", report)
    code, _, err = run("policy", "waive", "s2.json", "new-work", "CUDAFunctor_add<…>", cwd=tmp)
    expect_has(f"short for two: {code}", err, "is short for 2 names", "Give one of them whole")
    expect("short for two", (code, len(more)), (2, 1))
    expect("one of two", run("policy", "waive", "s2.json", "new-work", short, cwd=tmp)[0], 0)


def commented(tmp, text, trace):
    """The commented rules of `init` load when they are switched on; the trace keeps its own level, not a tighter budget."""
    rules = text.replace("\n#rules:", "\nrules:").replace("\n#  - ", "\n  - ")
    for budget, want in (("99.9%", 0), ("0.001%", 1)):
        write_text(tmp + "/more.yml", rules.replace("fail: {max: 60%}", f"fail: {{max: {budget}}}"))
        code, out, _ = run("policy", "lint", "--policy", "more.yml", "--strict", trace, cwd=tmp)
        expect(f"lint of init's commented rules: {out}", code, 0)
        code, _, err = run("check", "--policy", "more.yml", "--baseline", trace, trace, "--quiet", cwd=tmp)
        expect(f"idle at most {budget}: {err}", code, want)


def main(tmp):
    traces = [f"{ROOT}/examples/traces/base/run00.json.gz"]
    traces += sorted(glob.glob(f"{SHARED}/corpus/traces/tracelens/*_q*/*.gz"))
    for trace in traces:
        code, _, err = run("policy", "init", trace, "-o", "p.yml", cwd=tmp)
        expect(f"init {os.path.basename(trace)}", (code, "error" in err), (0, False))
        code, out, _ = run("policy", "lint", "--policy", "p.yml", "--strict", trace, cwd=tmp)
        expect(f"lint of it: {out}", code, 0)
        code, out, err = run("check", "--policy", "p.yml", "--baseline", trace, trace, "--quiet", cwd=tmp)
        expect(f"check of the trace against itself: {err}", code, 0)
        text = read_text(tmp + "/p.yml")
        expect(f"{trace}: rules about devices", "#rules:" in text, "tracelens" in trace)
        if "#rules:" in text:
            commented(tmp, text, trace)
    text = read_text(tmp + "/p.yml")
    write_text(tmp + "/bad.yml", text.replace("extends:", "extend:"))
    code, out, _ = run("policy", "lint", "--policy", "bad.yml", cwd=tmp)
    expect("lint of a typing error", (code, "extends" in out, "bad.yml:5:1" in out), (2, True, True))
    examples()
    lint_dates(tmp)
    lint_words(tmp)
    code, out, _ = run("policy", "show", cwd=tmp)
    expect("show", code, 0)
    write_text(tmp + "/shown.yml", out)
    expect("what show prints loads", run("policy", "lint", "--policy", "shown.yml", cwd=tmp)[0], 0)
    code, out, _ = run("policy", "schema")
    expect("schema", "properties" in json.loads(out), True)
    expect("no verb", run("policy")[0], 2)
    diff(tmp)
    diff_profiles(tmp)
    numbers(tmp)
    explain(tmp, traces[0])
    short_names(tmp)
    waive(tmp)
    ceilings(tmp)


def placeholder(tmp):
    """A workflow beside the policy that still has what init writes; not in a comment, and not once it is replaced."""
    os.makedirs(tmp + "/.github/workflows")
    write_text(tmp + "/.tracegate.yml", "version: 1\nextends: [tracegate:recommended]\n")
    for action, warnings in (("OWNER/tracegate@COMMIT", 1), ("o/tracegate@0123456789", 0)):
        write_text(tmp + "/.github/workflows/gate.yml", f"# uses: OWNER/tracegate@COMMIT\njobs:\n  a:\n    steps:\n      - uses: {action}\n")
        code, out, _ = run("policy", "lint", cwd=tmp)
        expect(f"{action}: {out}", (code, out.count("TG250"), ".github/workflows/gate.yml:5:15" in out), (0, warnings, warnings == 1))
        expect(f"{action}: --strict", run("policy", "lint", "--strict", cwd=tmp)[0], 2 * warnings)


run_parts(main, placeholder)
