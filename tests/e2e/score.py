#!/usr/bin/env python3
"""Scores the default decision on pairs of real traces with known truth; the reached numbers are
the floor. usage: score DRIVER

The pairs of ../shared/noise and ../shared/noise2 where it is present, and always the recorded examples: random pairs of
same-code runs, the same with one operator or the gaps made slower by a known factor, and the
variants of examples/model.py. A rule known to be worse has to fall below the floor.

What the numbers mean and how they came about: docs/statistics.md."""
import csv
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

NOISE = os.path.join(os.environ.get('TG_SHARED_DIR', '../shared'), 'noise')


def told(what, n, of, least, most):
    """Prints a figure and its bounds; is it out of them?"""
    ok = least <= n <= most
    bounds = f'at least {least}' if most >= of > 0 else f'at most {most}' if least == 0 else f'{least} to {most}'
    print(f"{'ok  ' if ok else 'FAIL'} {what:50} {n:4}{f' of {of}' if of else '':8}  {bounds}")
    return not ok


def wrong_insides(answer, okay):
    """Operators named only because additional calls lie inside them, and not known to be affected."""
    return len([v for v in answer['violations'] if v['metric'] == 'calling_op' and v['op'] not in okay])


def first_named(answer):
    """The operator of the first violation; None: nothing failed."""
    ops = [STEP_NAMES.get(v['op'], v['op']) for v in answer['violations']] if answer['verdict'] == 'fail' else []
    return ops[0] if ops else None


def first_is_true(rows):
    """(failed pairs that have a regression and whose first violation is true or affected, all such failed pairs)"""
    some = [r for r in rows if r['truth'] == 'yes' and r['first'] and r['kind'] != 'global']
    return sum(r['first'] in r['okay'] for r in some), len(some)


def sides_of(root, name):
    with open(os.path.join(root, name), newline='') as f:
        rows = list(csv.DictReader(f))
    return rows, ''.join(f"{r['pair']}\t{r['baseline']}\t{r['test']}\n" for r in rows)


def score(driver, truth, out):
    answers = out + '.answers'
    os.mkdir(answers)
    rows, pairs = sides_of(NOISE, truth)
    okay = {r['pair']: f"{r['ops']}|{r['ops_ok']}".split('|') for r in rows}
    subprocess.run([driver, '--pairs', NOISE, answers], input=pairs, text=True, check=True)
    subprocess.run([sys.executable, os.path.join(NOISE, 'score_decisions.py'),
                    os.path.join(NOISE, truth), '--from-verdicts', answers, '--out', out],
                   stdout=subprocess.DEVNULL, check=True)
    with open(out, newline='') as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        r['n'] = min(int(r['n_base']), int(r['n_test']))
        r['fail'] = r['verdict'] == 'fail'
        r['hit'] = r['fail'] and r['named_right_op'] == '1'
        with open(os.path.join(answers, r['pair'] + '.json')) as f:
            answer = json.load(f)
        r['okay'] = okay[r['pair']]
        r['first'] = first_named(answer)
        r['slow_steps'] = bool(answer['some_steps'])
        r['inside_wrong'] = wrong_insides(answer, r['okay'])
        r['named'] = len([x for x in r['violations'].split('|') if x])
    errors = [r['pair'] for r in rows if r['verdict'] == 'error']
    if errors:
        sys.exit(f'score: {len(errors)} pairs of {truth} gave no answer, first {errors[0]}')
    return rows


def pick(rows, kinds, size=None, n=None):
    return [r for r in rows if r['kind'] in kinds and (size is None or r['size_pct'] == size)
            and (n is None or n(r['n']))]


def lines(rows, reverse):
    """(what, reached, of, least, most)"""
    def alarms(label, kinds, most, n=None):
        some = pick(rows, kinds, n=n)
        return label, sum(r['fail'] for r in some), len(some), 0, most

    def found(label, kinds, least, size=None, n=None):
        some = pick(rows, kinds, size, n)
        return label, sum(r['hit'] for r in some), len(some), least, len(some)

    yes = [r for r in rows if r['truth'] == 'yes' and r['fail'] and r['kind'] != 'global']
    insides = sum(r['inside_wrong'] for r in yes)
    quiet = pick(rows, SAME, n=lambda n: n >= 3)
    first, firsts = first_is_true(rows)
    three, five = (lambda n: n == 3), (lambda n: n == 5)
    return [
        alarms('A/A 5v5', ['aa'], 1, five),
        alarms('A/A 3v3', ['aa'], 0, three),
        alarms('A/A 1v1', ['aa'], 0, lambda n: n == 1),
        alarms('different number of steps', ['steps'], 0),
        alarms('cold first step', ['coldstart'], 0),
        alarms('machine-wide slowdown, n >= 3', ['drift'], 2, lambda n: n >= 3),
        alarms('replaced at no cost', ['replaced'], 0),
        alarms('renamed', ['rename'], 0),
        alarms('improvement', ['improvement'], 0),
        ('sides swapped', sum(r['fail'] for r in reverse), len(reverse), 0, 0),
        found('count changes', ['count'], 53),
        found('unfused', ['swap'], 18),
        found('host gap +10/+30 %, n >= 3', ['step'], 48, n=lambda n: n >= 3),
        found('+50 % 5v5', ['duration'], 18, '50', five),
        found('+20 % 5v5', ['duration'], 22, '20', five),
        found('+10 % 5v5', ['duration'], 16, '10', five),
        found('+50 % 3v3', ['duration'], 17, '50', three),
        found('+20 % 3v3', ['duration'], 20, '20', three),
        ('same code, a slow step', sum(r['slow_steps'] for r in quiet), len(quiet), 0, 1),
        ('first violation true or affected', first, firsts, 234, firsts),
        ('failed for the right op', sum(r['hit'] for r in yes), len(yes), 234, len(yes)),
        ('violations that name a wrong op', sum(int(r['wrong_ops']) for r in yes) - insides, 0, 0, 2),
        # aten::cudnn_batch_norm, which launches the doubled kernel: true, but not listed
        ('enclosers the truth does not list', insides, 0, 0, 2),
    ]


# ---- the project's own runs -------------------------------------------------------------------

EXAMPLES = os.path.join(os.environ.get('TG_SOURCE_DIR', '.'), 'examples', 'traces')
DRAWS = 40
# what: (operator that is made slower, factor, variant, runs a side)
PLANTED = {f'{op} +{round(100 * f - 100)} % {n}v{n}': (op, f, 'base', n)
           for op in ('aten::mm', 'aten::mkldnn_convolution') for f in (1.2, 1.5) for n in (3, 5)}
PLANTED['gaps +100 % 5v5'] = ('ProfilerStep', 2, 'base', 5)
VARIANTS = {'aten::clone': 'extra_copy', 'aten::item': 'added_sync', 'aten::rsqrt': 'lost_fusion',
            'aten::mkldnn_convolution': 'slower_op'}


def draw(rng, variant, n):
    """n random baseline runs against n other ones of the variant"""
    base = sorted(glob.glob(f'{EXAMPLES}/base/*.gz'))
    test = base if variant == 'base' else sorted(glob.glob(f'{EXAMPLES}/{variant}/*.gz'))
    some = rng.sample(base, 2 * n)
    return some[:n], some[n:] if variant == 'base' else rng.sample(test, n)


def own_pairs():
    """{name: (wanted operator or None, line)}"""
    rng, pairs = random.Random(20), {}

    def add(what, wanted, n, variant='base', plant=''):
        for i in range(DRAWS):
            base, test = ('|'.join(os.path.relpath(p, EXAMPLES) for p in side)
                          for side in draw(rng, variant, n))
            name = f'{what} {i}'.replace(' ', '_').replace('/', '-')
            pairs[name] = (what, wanted, f'{name}\t{base}\t{test}{plant}\n')

    for n in (1, 3, 5):
        add(f'same code {n}v{n}', None, n)
        add(f'fused {n}v{n}', None, n, 'fused')
    for what, (op, factor, variant, n) in PLANTED.items():
        add(what, op, n, variant, f'@{factor}@{op}')
    for op, variant in VARIANTS.items():
        for n in (3, 5):
            add(f'{variant} {n}v{n}', op, n, variant)
    for n in (3, 5):
        add(f'aten::mm x3 in all steps but one {n}v{n}', 'aten::mm', n, plant='@3@aten::mm@all-but-one')
        add(f'aten::mm x3 in one step {n}v{n}', 'aten::mm', n, plant='@3@aten::mm@one')
    return pairs


def own_score(driver, *flags):
    """{what: pairs decided rightly}: not failed, or failed for the wanted operator"""
    pairs, right = own_pairs(), {}
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([driver, '--pairs', EXAMPLES, d, *flags], check=True, text=True,
                       input=''.join(line for _, _, line in pairs.values()))
        for name, (what, wanted, _) in pairs.items():
            with open(os.path.join(d, name + '.json')) as f:
                answer = json.load(f)
            ops = [v['op'] for v in answer['some_steps' if 'in one step' in what or 'but one' in what else 'violations']]
            right[what] = right.get(what, 0) + ((wanted in ops) if wanted else not ops)
    return right


# Of DRAWS pairs; what is not named: all. The convolution takes 4 % of the step, +-7 % from run to run.
OWN_FLOOR = {'same code 5v5': 39, 'aten::mm +20 % 3v3': 29, 'aten::mm +20 % 5v5': 36,
             'aten::mkldnn_convolution +20 % 3v3': 8, 'aten::mkldnn_convolution +20 % 5v5': 21}


def own(driver):
    bad = sum([told(what, k, DRAWS, OWN_FLOOR.get(what, DRAWS), DRAWS) for what, k in own_score(driver).items()])
    # 11 of 40 fail; of the same code gaps alone did, and steps that are as long excuse those
    if own_score(driver, '--single-runs')['fused 1v1'] == DRAWS:
        print('FAIL a rule that judges single runs is not noticed')
        bad += 1
    return bad


def noise(driver):
    with tempfile.TemporaryDirectory() as d:
        rows = score(driver, 'truth.csv', os.path.join(d, 'a.csv'))
        reverse = score(driver, 'truth_reversed.csv', os.path.join(d, 'b.csv'))
    return sum([told(*line) for line in lines(rows, reverse)])


# ---- counts that vary ----------------------------------------------------------------------------

VARYING = os.path.join(os.environ.get('TG_SHARED_DIR', '../shared'), 'noise2')
SAME_COUNTS = {'aa', 'aa_branch', 'branch_untaken', 'steps', 'coldstart', 'drift', 'moved', 'rename', 'replaced'}


STEP_NAMES = {'step_time': 'ProfilerStep'}
# what: (kinds, size, runs a side, what is counted, at least, at most); docs/statistics.md
SAME = ('aa', 'aa_branch', 'branch_untaken', 'steps')
MANY = ('3v3', '5v3', '5v5', '10v5', '5v10', '10v3')
VARYING_FLOOR = {
    'same code, n >= 3': (SAME, '', MANY, 'failed', 0, 2),
    'same code, a slow step': (SAME, '', MANY, 'slow_steps', 0, 1),
    'other data, cold start, moved, renamed, replaced': (('otherdata', 'coldstart', 'moved', 'rename', 'replaced'), '', MANY, 'failed', 0, 0),
    'contention and drift': (('drift',), '', MANY, 'failed', 0, 0),
    'one slow step of five': (('rare',), '', MANY, 'slow_steps', 22, 24),
    'float64 by accident': (('dtype',), '', MANY, 'hit', 8, 16),
    '+10 % 5v5': (('duration',), '10', ('5v5',), 'hit', 10, 18),
    '+10 % 10v5': (('duration',), '10', ('10v5',), 'hit', 7, 12),
    '+20 % 3v3': (('duration',), '20', ('3v3',), 'hit', 12, 18),
    '+20 % 5v5': (('duration',), '20', ('5v5',), 'hit', 16, 18),
    '+20 % 10v5': (('duration',), '20', ('10v5',), 'hit', 12, 12),
    '+50 % 3v3': (('duration',), '50', ('3v3',), 'hit', 17, 18),
    '+50 % 5v5': (('duration',), '50', ('5v5',), 'hit', 18, 18),
}


def varying_floor(rows):
    """Figures of docs/statistics.md on these pairs; returns how many are out of bounds."""
    bad = 0
    for what, (kinds, size, runs, counted, least, most) in VARYING_FLOOR.items():
        some = [r for r in rows if r['kind'] in kinds and f"{r['n_base']}v{r['n_test']}" in runs
                and (r['size_pct'] == size or not size) and (counted not in ('failed',) or r['truth'] == 'no')]
        n = sum(bool(r['named'] & set(r['ops'].split('|'))) if counted == 'hit' else
                bool(r['named']) if counted == 'failed' else r['slow_steps'] for r in some)
        bad += told(what, n, len(some), least, most)
    return bad


def varying(driver):
    """Pairs of models whose counts vary: nothing fails for a count where none changed, and all changes
    are found, with three runs and more in branches as well. Needs numpy to unpack them."""
    with tempfile.TemporaryDirectory() as d:
        unpacked = subprocess.run([sys.executable, os.path.join(VARYING, 'unpack.py'), d], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        if unpacked.returncode:
            print(f'not scored: {VARYING}: {unpacked.stderr.strip().splitlines()[-1]}')
            return 0
        rows, pairs = sides_of(VARYING, 'truth.csv')
        reverse, swapped = sides_of(VARYING, 'truth_reversed.csv')
        answers, back = os.path.join(d, 'answers'), os.path.join(d, 'back')
        for folder, lines_of in ((answers, pairs), (back, swapped)):
            os.mkdir(folder)
            subprocess.run([driver, '--pairs', d, folder], text=True, check=True, input=lines_of)
        for r in reverse:
            with open(os.path.join(back, r['pair'] + '.json')) as f:
                r['fail'] = json.load(f)['verdict'] == 'fail'
        for r in rows:
            with open(os.path.join(answers, r['pair'] + '.json')) as f:
                answer = json.load(f)
                r['first'], r['okay'] = first_named(answer), f"{r['ops']}|{r['ops_ok']}".split('|')
                r['counts'] = {v['op'] for v in answer['violations'] if v['metric'] == 'count'}
                r['named'] = {STEP_NAMES.get(v['op'], v['op']) for v in answer['violations']} if answer['verdict'] == 'fail' else set()
                r['slow_steps'] = bool(answer['some_steps'])
    single = [r for r in rows if r['kind'] in SAME_COUNTS and r['n_base'] == '1']
    several = [r for r in rows if r['kind'] in SAME_COUNTS and r['n_base'] != '1']
    changed = [r for r in rows if r['kind'] in ('count', 'swap', 'backward_copy')
               or (r['kind'].startswith('branch') and r['truth'] == 'yes' and r['n_base'] != '1')]
    missed = [r['pair'] for r in changed if not r['counts'] & set(r['ops'].split('|'))]
    bad = varying_floor(rows)
    first, named = first_is_true(rows)
    bad += told('first violation true or affected', first, named, named, named)
    for label, wrong, of in (('same counts 1v1', [r['pair'] for r in single if r['counts']], single),
                             ('same counts, n >= 3', [r['pair'] for r in several if r['counts']], several),
                             ('sides swapped', [r['pair'] for r in reverse if r['fail']], reverse),
                             ('changed counts missed', missed, changed)):
        bad += told(' '.join([label, *wrong[:8]]), len(wrong), len(of), 0, 0)
    return bad


def main():
    bad = own(sys.argv[1])
    for folder, part in ((NOISE, noise), (VARYING, varying)):
        if os.path.isdir(folder):
            bad += part(sys.argv[1])
        else:
            print(f'not scored: no {folder}')
    sys.exit(1 if bad else 0)


main()
