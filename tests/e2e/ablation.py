#!/usr/bin/env python3
"""Which recorded verdicts does a mechanism decide? Compares two programs over all recorded pairs.

usage: ablation OLD_DRIVER NEW_DRIVER [UNPACKED]

The drivers are tests/score_driver of two builds, such as one with a mechanism and one without it. The pairs are those of
../shared/noise and ../shared/noise2 (TG_SHARED_DIR), both ways; UNPACKED has the traces of noise2, or they are unpacked first.
Prints each pair that is decided otherwise, with the kind of change that is planted in it, and the
counts by mechanism: false alarms, hits. Exit 1 if a verdict or a failed name differs, 0 if at most warnings do."""
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

SHARED = os.environ.get('TG_SHARED_DIR', '../shared')
STEP_NAMES = {'step_time': 'ProfilerStep'}


def pairs_of(folder, table):
    with open(os.path.join(SHARED, folder, table), newline='') as f:
        return list(csv.DictReader(f))


def answers(driver, root, rows, out):
    os.mkdir(out)
    pairs = ''.join(f"{r['pair']}\t{r['baseline']}\t{r['test']}\n" for r in rows)
    subprocess.run([driver, '--pairs', root, out], input=pairs, text=True, check=True)
    read = {}
    for r in rows:
        with open(os.path.join(out, r['pair'] + '.json')) as f:
            read[r['pair']] = json.load(f)
    return read


def names(answer, which):
    return {(v['metric'], v['op']) for v in answer[which]}


def is_hit(row, answer):
    ops = {STEP_NAMES.get(op, op) for _, op in names(answer, 'violations')}
    return answer['verdict'] == 'fail' and bool(ops & set(row['ops'].split('|')))


def told(pairs):
    return ', '.join(sorted(f'{metric} {op[:40]}' for metric, op in pairs)) or '-'


def compare(rows, old, new):
    """Prints what differs; returns (pairs decided otherwise, pairs with other warnings)"""
    decided = warned = 0
    for r in rows:
        a, b = old[r['pair']], new[r['pair']]
        fails = names(a, 'violations'), names(b, 'violations')
        warns = names(a, 'warnings'), names(b, 'warnings')
        if (a['verdict'], fails[0]) != (b['verdict'], fails[1]):
            decided += 1
        elif warns[0] != warns[1]:
            warned += 1
        else:
            continue
        what = f"{r['kind']} {r['size_pct']} {r['n_base']}v{r['n_test']} truth {r['truth']}"
        print(f"{r['pair']:10} {what:34} {a['verdict']} -> {b['verdict']}; fails gone: {told(fails[0] - fails[1])}; "
              f"new: {told(fails[1] - fails[0])}; warnings gone: {told(warns[0] - warns[1])}; new: {told(warns[1] - warns[0])}")
    return decided, warned


def figures(rows, read):
    no = [r for r in rows if r['truth'] == 'no']
    yes = [r for r in rows if r['truth'] == 'yes']
    return (f"false alarms {sum(read[r['pair']]['verdict'] == 'fail' for r in no)} of {len(no)}, "
            f"hits {sum(is_hit(r, read[r['pair']]) for r in yes)} of {len(yes)}")


def main():
    drivers = sys.argv[1:3]
    decided = warned = 0
    with tempfile.TemporaryDirectory() as d:
        unpacked = sys.argv[3] if len(sys.argv) > 3 else os.path.join(d, 'noise2')
        if len(sys.argv) <= 3:
            subprocess.run([sys.executable, os.path.join(SHARED, 'noise2', 'unpack.py'), unpacked], stdout=subprocess.DEVNULL, check=True)
        sets = [(folder, root, table, pairs_of(folder, table))
                for folder, root in (('noise', os.path.join(SHARED, 'noise')), ('noise2', unpacked))
                for table in ('truth.csv', 'truth_reversed.csv')]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [[pool.submit(answers, driver, root, rows, os.path.join(d, f'{k}{folder}{table}'))
                     for k, driver in enumerate(drivers)] for folder, root, table, rows in sets]
            for (folder, _, table, rows), (old, new) in zip(sets, runs):
                a, b = compare(rows, old.result(), new.result())
                decided, warned = decided + a, warned + b
                print(f'{folder}/{table}: {figures(rows, old.result())} -> {figures(rows, new.result())}')
    print(f'decided otherwise: {decided}; other warnings: {warned}; pairs: {sum(len(s[3]) for s in sets)}')
    sys.exit(decided > 0)


main()
