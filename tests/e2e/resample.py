#!/usr/bin/env python3
"""False alarms and power of the default rule on random pairs of same-code runs: the second table of
docs/statistics.md. usage: resample DRIVER [--draws 200] [--sizes 3v3,5v5,10v5]; needs ../shared/noise.

An alarm is a pair with any failure. Power: one operator of at least 1 % of the step, drawn for each
pair, is made slower by a factor on the test side; found is when it is named. Classes by the
coefficient of variation of its slot minimum over all runs. Draws are seeded."""
import argparse
import glob
import json
import os
import random
import statistics
import subprocess
import tempfile

NOISE = os.path.join(os.environ.get('TG_SHARED_DIR', '../shared'), 'noise')
MODELS = ('mlp', 'cnn', 'xfmr', 'lstm')
FACTORS = (1.05, 1.1, 1.2, 1.5)
CLASSES = ((0, 3), (3, 6), (6, 12), (12, 1e9))
SHARE = 0.01
PER_PAIR = 2  # operators slowed in each pair, one after the other


def operators(driver, runs):
    """{name: CV in %} of the operators of at least 1 % of the step"""
    values, share = {}, {}
    for run in runs:
        path = os.path.join(NOISE, run)
        out = subprocess.run([driver, '--dump', '--base', path, '--test', path], capture_output=True,
                             text=True, errors='replace', check=True).stdout.splitlines()
        step = float(out[0].split()[1])
        for line in out[1:]:
            p = line.split('\t')
            if p[0] == 'op':
                values.setdefault(p[1], []).append(float(p[6]))
                share.setdefault(p[1], []).append(float(p[6]) / step)
    return {n: 100 * statistics.pstdev(v) / statistics.mean(v) for n, v in values.items()
            if len(v) == len(runs) and statistics.median(share[n]) >= SHARE}


def answers(driver, lines):
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([driver, '--pairs', NOISE, d], input=''.join(lines), text=True, check=True)
        out = {}
        for name in os.listdir(d):
            with open(os.path.join(d, name)) as f:
                out[name[:-5]] = json.load(f)
    return out


def one_size(driver, nb, nt, draws, runs, ops):
    rng, lines, slowed = random.Random(f'{nb}v{nt}'), [], {}
    for model in MODELS:
        for i in range(draws):
            some = rng.sample(runs[model], nb + nt)
            pair = '\t'.join(('|'.join(some[:nb]), '|'.join(some[nb:])))
            lines.append(f'{model}-{i}\t{pair}\n')
            for k, op in enumerate(rng.sample(sorted(ops[model]), PER_PAIR)):
                for f in FACTORS:
                    slowed[f'{model}-{i}-{k}-{f}'] = (model, f, op)
                    lines.append(f'{model}-{i}-{k}-{f}\t{pair}@{f}@{op}\n')
    got = answers(driver, lines)
    alarms = [sum(got[f'{m}-{i}']['verdict'] == 'fail' for i in range(draws)) for m in MODELS]
    cells = []
    for low, high in CLASSES:
        found = []
        for f in FACTORS:
            some = [n for n, (m, g, op) in slowed.items() if g == f and low <= ops[m][op] < high]
            hits = sum(any(v['op'] == slowed[n][2] for v in got[n]['violations']) for n in some)
            found.append(f'{100 * hits / len(some):.0f}' if some else '-')
        cells.append('/'.join(found))
    total = sum(alarms)
    print(f"| {nb}v{nt} | {'/'.join(map(str, alarms))} | {total} of {draws * len(MODELS)}, "
          f"{100 * total / draws / len(MODELS):.1f} % | {' | '.join(cells)} |", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ap.add_argument('driver')
    ap.add_argument('--draws', type=int, default=200)
    ap.add_argument('--sizes', default='3v3,5v3,5v5,10v5,8v8,10v10')
    a = ap.parse_args()
    runs = {m: sorted(os.path.relpath(p, NOISE) for p in glob.glob(f'{NOISE}/cpu/{m}/aa/*.gz')) for m in MODELS}
    ops = {m: operators(a.driver, runs[m]) for m in MODELS}
    print('operators by class of CV (up to 3, 6, 12 %, more):',
          [sum(low <= c < high for o in ops.values() for c in o.values()) for low, high in CLASSES])
    print('| runs | alarms mlp/cnn/xfmr/lstm | alarms | CV <= 3 % | 3-6 % | 6-12 % | > 12 % |\n|---|---|---|---|---|---|---|')
    for size in a.sizes.split(','):
        nb, nt = map(int, size.split('v'))
        one_size(a.driver, nb, nt, a.draws, runs, ops)


main()
