#!/usr/bin/env python3
"""`diff --hta` and `analyze --hta` against what Holistic Trace Analysis itself printed.

The goldens (../shared/corpus/golden) were made by running HTA over real traces; their README states
the tolerances used here. Every row must be there, with its counts, durations, differences and
change category, and nothing else; every group of ops_diff must hold the same names. Prints how many
rows were compared, fails below a floor, and checks itself: a planted change must be noticed.

usage: golden_hta [--quick]     --quick: small traces only, in seconds
"""
import concurrent.futures
import copy
import csv
import glob
import json
import os
import sys

from support import SHARED, absent, check, finish, read_json, tracegate

corpus = os.path.join(SHARED, "corpus")
quick = "--quick" in sys.argv
# Rows of the whole run are counted in the golden files, see README there; less means lost tests.
FLOOR = 4000 if quick else 100000 + 37000
QUICK = {"hta_tiny_base_test", "hta_sampled_rank0_vs_rank1", "dlrm_8rank", "h100_vs_mi300_nsfw", "nanovllm_0_vs_100"}
DEVICES = ("cpu", "gpu", "all")


def run(*args):
    r = tracegate(*args)
    if r.returncode != 0:
        raise SystemExit("FAILED: %s: exit %d: %s" % (" ".join(args), r.returncode, r.stderr))
    return r.stdout


# ---- comparing ---------------------------------------------------------------------------------

def close(mode, ours, golden, rows, size):
    """HTA's own sums of doubles are exact in mode hta; in mode exact they lose digits."""
    if mode == "hta":
        return ours == golden
    return abs(ours - golden) <= max(1e-6 * size, 0.002 * rows, 1e-9)


def compare_rows(mode, golden, ours):
    """golden, ours: {key: (counts, total) a side...}; returns messages of what differs."""
    bad = ["missing %r" % (k,) for k in golden if k not in ours]
    bad += ["not in HTA's table %r" % (k,) for k in ours if k not in golden]
    for key in golden:
        if key not in ours:
            continue
        g, o = golden[key], ours[key]
        rows = g["control_counts"] + g["test_counts"]
        size = max(abs(g["control_total_duration"]), abs(g["test_total_duration"]))
        for field in ("control_counts", "test_counts", "diff_counts"):
            if g[field] != o[field]:
                bad.append("%r %s: %r, HTA has %r" % (key, field, o[field], g[field]))
        for field in ("control_total_duration", "test_total_duration", "diff_duration"):
            if not close(mode, o[field], g[field], rows, size):
                bad.append("%r %s: %r, HTA has %r" % (key, field, o[field], g[field]))
        if g["category"] != o["category"]:
            bad.append("%r category: %s, HTA has %s" % (key, o["category"], g["category"]))
    return bad


def compare_groups(golden, ours):
    bad = []
    for device in DEVICES:
        for group in ("added", "deleted", "increased", "decreased", "unchanged"):
            g, o = set(golden[device][group]), ours[device].get(group, set())
            if g != o:
                bad.append("%s %s: %d names, HTA has %d; for example %r" %
                           (device, group, len(o), len(g), sorted(g ^ o)[:3]))
    return bad


# ---- reading -----------------------------------------------------------------------------------

def golden_table(path):
    out = {}
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            out[(r["device"], r["short_name"], r["name"])] = {
                "category": r["counts_change_categories"],
                **{k: float(r[k]) for k in r if k.endswith(("counts", "duration"))}}
    return out


def side_of(paths):
    """The files of a side as one argument: the file, or the folder that holds exactly them."""
    full = [os.path.join(corpus, "traces", p) for p in paths]
    if len(full) == 1:
        return full[0]
    folder = os.path.dirname(full[0])
    assert sorted(full) == sorted(glob.glob(folder + "/*.json*")), folder
    return folder


def listed(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def arguments(index, output):
    args = [side_of(index["control_paths"]), side_of(index["test_paths"]), "--hta"]
    if index["mode"] == "exact":
        args.append("--no-rounding")
    if output["kind"].startswith("whole"):
        return args + ["--whole", "--rank", "baseline=" + listed(output["control_ranks"]),
                       "--rank", "fresh=" + listed(output["test_ranks"])]
    for key, option in (("control_rank", "--rank=baseline="), ("test_rank", "--rank=fresh="),
                        ("control_iteration", "--step=baseline="), ("test_iteration", "--step=fresh=")):
        if key in output["args"]:
            args.append(option + listed(output["args"][key]))
    return args


def our_tables(args):
    """All six tables of HTA's goldens, and the groups by full name."""
    rows, groups = {}, {}
    for device in DEVICES:
        groups[device] = {}
        for short in ("no", "yes"):
            text = run("diff", *args, "--device", device, "--format", "json",
                       *(["--by", "short-name"] if short == "yes" else []))
            for r in json.loads(text)["rows"]:
                rows[(device, short, r["name"])] = {
                    "control_counts": r["counts"][0], "test_counts": r["counts"][1],
                    "control_total_duration": r["total_duration_us"][0],
                    "test_total_duration": r["total_duration_us"][1],
                    "diff_counts": r["diff_counts"], "diff_duration": r["diff_duration_us"],
                    "category": r["counts_change_category"]}
                if short == "no":
                    groups[device].setdefault(r["group"], set()).add(r["name"])
    return rows, groups


# ---- jobs --------------------------------------------------------------------------------------

def diff_job(folder, index, output):
    """One table, and the groups that belong to the same call."""
    golden = golden_table(os.path.join(folder, output["file"]))
    rows, groups = our_tables(arguments(index, output))
    bad = compare_rows(index["mode"], golden, rows)
    found = {"rows": len(golden), "groups": 0}
    twin = output["file"].replace("compare_", "opsdiff_").replace(".csv", ".json")
    if output["file"].startswith("compare_") and os.path.exists(os.path.join(folder, twin)):
        bad += compare_groups(read_json(os.path.join(folder, twin)), groups)
        found["groups"] = 15
    return os.path.join(folder, output["file"]), bad, found


def ops_job(path):
    """analysis/SET/MODE/ops_rankN.csv"""
    mode_dir, name = os.path.split(path)
    folder, mode = os.path.split(mode_dir)
    side = os.path.join(corpus, "traces", os.path.relpath(folder, os.path.join(corpus, "golden/analysis")))
    if not os.path.isdir(side):
        side += ".json.gz"
    args = ["analyze", side, "--measure", "ops", "--whole", "--hta", "--format", "csv",
            "--rank", name[len("ops_rank"):-len(".csv")]]
    text = run(*args, *(["--no-rounding"] if mode == "exact" else []))
    ours = {(r["cat"], r["name"]): r for r in csv.DictReader(text.splitlines(keepends=True))}
    bad, n = [], 0
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            n += 1
            o = ours.pop((r["cat"], r["name"]), None)
            if o is None:
                bad.append("missing %r" % ((r["cat"], r["name"]),))
            elif (o["short_name"] != r["short_name"] or float(o["counts"]) != float(r["counts"]) or
                  not close(mode, float(o["total_duration"]), float(r["total_duration"]),
                            float(r["counts"]), abs(float(r["total_duration"])))):
                bad.append("%r, HTA has %r" % (o, r))
    bad += ["not in HTA's table %r" % (k,) for k in ours]
    return path, bad, {"ops": n}


def jobs():
    for path in sorted(glob.glob(corpus + "/golden/diff/*/*/index.json")):
        folder = os.path.dirname(path)
        if quick and folder.split(os.sep)[-2] not in QUICK:
            continue
        index = read_json(path)
        for output in index["outputs"]:
            if output["file"].endswith(".csv"):
                yield lambda f=folder, i=index, o=output: diff_job(f, i, o)
    for path in sorted(glob.glob(corpus + "/golden/analysis/**/ops_rank*.csv", recursive=True)):
        if not quick or os.path.getsize(path) < 30000:
            yield lambda p=path: ops_job(p)


# ---- the comparer itself -----------------------------------------------------------------------

def check_comparer():
    folder = corpus + "/golden/diff/hta_tiny_base_test/hta"
    index = read_json(folder + "/index.json")
    output = next(o for o in index["outputs"] if o["file"] == "compare_default.csv")
    golden = golden_table(os.path.join(folder, output["file"]))
    ops = read_json(folder + "/opsdiff_default.json")
    rows, groups = our_tables(arguments(index, output))
    assert compare_rows("hta", golden, rows) == [] and compare_groups(ops, groups) == []
    key = sorted(golden)[3]
    for field, change in (("test_counts", 1), ("control_total_duration", 1), ("diff_duration", -1),
                          ("diff_counts", 1)):
        planted = copy.deepcopy(golden)
        planted[key][field] += change
        assert len(compare_rows("hta", planted, rows)) == 1, field
    planted = copy.deepcopy(golden)
    planted[key]["category"] = "?"
    assert len(compare_rows("hta", planted, rows)) == 1
    planted = copy.deepcopy(golden)
    del planted[key]
    assert len(compare_rows("hta", planted, rows)) == 1
    planted[("cpu", "no", "planted")] = golden[key]
    assert len(compare_rows("hta", planted, rows)) == 2
    planted = copy.deepcopy(golden)
    planted[key]["control_total_duration"] += 0.01 + 0.002 * (golden[key]["control_counts"] + golden[key]["test_counts"])
    assert len(compare_rows("exact", planted, rows)) == 1
    planted = copy.deepcopy(ops)
    planted["all"]["added"].append("planted")
    assert len(compare_groups(planted, groups)) == 1


def main():
    if not os.path.isdir(corpus):
        absent("corpus")
    check_comparer()
    total = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, bad, found in pool.map(lambda j: j(), jobs()):
            for k, n in found.items():
                total[k] = total.get(k, 0) + n
            check(os.path.relpath(name, corpus), not bad, *bad[:5], "of %d" % len(bad))
    n = total.get("rows", 0) + total.get("ops", 0)
    return finish("compared %d rows (%d of compare and whole tables, %d of ops tables) and %d groups with HTA; at least %d rows are needed"
                  % (n, total.get("rows", 0), total.get("ops", 0), total.get("groups", 0), FLOOR), n >= FLOOR)


sys.exit(main())
