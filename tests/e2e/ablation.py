#!/usr/bin/env python3
"""Which recorded verdicts does a mechanism decide? Compares two programs over all recorded pairs.

usage: ablation OLD_DRIVER NEW_DRIVER [UNPACKED]
       ablation --each [UNPACKED]
       ablation --fits

The drivers are tests/score_driver of two builds, such as one with a mechanism and one without it. The pairs are those of
../shared/noise and ../shared/noise2 (TG_SHARED_DIR), both ways; UNPACKED has the traces of noise2, or they are unpacked first.
Prints each pair that is decided otherwise, with the kind of change that is planted in it, and the
counts by mechanism: false alarms, hits. Exit 1 if a verdict or a failed name differs, 0 if at most warnings do.

--each switches off each mechanism of MECHANISMS in turn, in a copy of the sources, and prints a table: what a row of zeros is about, no
recorded pair needs. Exit 77 without the recorded pairs. --fits only looks whether each edit fits the sources; 1 if not."""
import concurrent.futures
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

# A mechanism, its file, and the text that is replaced to switch it off.
MECHANISMS = (
    ("the machine's factor", "core/diff/machine.c", "m->c = fmax(factor, 0);", "m->c = 0;"),
    ("its factor by times of many ticks", "core/diff/machine.c", "factor = n_fine >= TG_MIN_BIG ?", "factor = 0 && n_fine >= TG_MIN_BIG ?"),
    ("a busy machine", "core/diff/machine.c", "w->busy[clock] = excess", "w->busy[clock] = 0 && excess"),
    ("levelled runs", "core/diff/rule.c", "if (v->levelled ||", "if (1 || v->levelled ||"),
    ("usual noise", "core/diff/rule.c", "m->has_v0 ? m->v0 : l.variance", "l.variance"),
    ("both halves", "core/diff/rule.c", "else if (claimed && halves[0][0])", "else if (0 && claimed && halves[0][0])"),
    ("the clock's tick", "core/diff/rule.c", "log1p(q->aim.tick /", "log1p(0 * q->aim.tick /"),
    ("the rank test", "core/diff/rule.c", "&& ev->p <= t.p_limit", ""),
    ("slow runs", "core/diff/rule.c", "aim.floor > 0 && run <", "0 && run <"),
    ("steps that differ alike", "core/diff/run_values.c", "alike = differ_alike(w, op);", "alike = false;"),
    ("odd runs", "core/diff/run_values.c", "odd = p->alike != ALIKE_NOT &&", "odd = 0 && p->alike != ALIKE_NOT &&"),
    ("schedules of counts", "core/diff/counts.c", "if (s[TG_TEST].mean <= s[TG_BASE].mean || p > TG_PART_P)", "if (1)"),
    ("steps of one draw", "core/diff/counts.c", "bool same_draw = n >=", "bool same_draw = 0 && n >="),
    ("other data", "core/diff/compare.c", "c->other_data = vary", "c->other_data = 0 && vary"),
    ("libraries' choices", "core/diff/compare.c", "tg_choices_find(w);", ""),
    ("views", "core/diff/compare.c", "tg_small_find(w, TG_SLIGHT_FREE);", ""),
    ("small additions", "core/diff/compare.c", "tg_small_find(w, TG_SLIGHT_SMALL);", ""),
    ("leading operators", "core/diff/compare.c", "tg_leaders_find(w);", ""),
    ("net in the place", "core/diff/compare.c", "tg_places_repay(w);", ""),
    ("runs with other flags", "core/diff/compare.c", "tg_runs_leave(w);", ""),
    ("excused moves", "core/diff/compare.c", "tg_excuse_moves(w);", ""),
    ("a slower neighbour of work that went", "core/diff/place_cost.c", "bool excused = went > 0 &&", "bool excused = 0 && went > 0 &&"),
    ("revoked renames", "core/diff/place.c", "if (revoke_renames(&j))", "if (0 && revoke_renames(&j))"),
    ("replacements that got faster", "core/diff/evidence.c", "if (!ev.faster ||", "if (1 || !ev.faster ||"),
    ("a busy machine's own size", "core/diff/rule.c", "if (judged == TG_NOT_BUSY && slower &&", "if (0 && judged == TG_NOT_BUSY && slower &&"),
    ("one name for another", "core/diff/evidence.c", "bool pair = n == 2 &&", "bool pair = 0 && n == 2 &&"),
    ("iterations taken off", "core/diff/align.c", "if (!c->any_marked[TG_BASE] && !c->any_marked[TG_TEST])", "if (0)"),
    ("enabled gradients", "core/diff/compare.c", "tg_gradients_compare(w);", ""),
    ("growth of all names alike", "core/diff/account.c", "return before > 0 &&", "return 0 && before > 0 &&"),
    ("the account", "policy/verdict/eval.c", "tg_eval_account(e);", ""),
    ("a step as long", "policy/verdict/judge_rows.c", "if (!(gaps || whole) ||", "if (1 || !(gaps || whole) ||"),
)

SHARED = os.environ.get('TG_SHARED_DIR', '../shared')
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
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


def compare(rows, old, new, say=print):
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
        say(f"{r['pair']:10} {what:34} {a['verdict']} -> {b['verdict']}; fails gone: {told(fails[0] - fails[1])}; "
              f"new: {told(fails[1] - fails[0])}; warnings gone: {told(warns[0] - warns[1])}; new: {told(warns[1] - warns[0])}")
    return decided, warned


def figures(rows, read):
    no = [r for r in rows if r['truth'] == 'no']
    yes = [r for r in rows if r['truth'] == 'yes']
    return (f"false alarms {sum(read[r['pair']]['verdict'] == 'fail' for r in no)} of {len(no)}, "
            f"hits {sum(is_hit(r, read[r['pair']]) for r in yes)} of {len(yes)}")


def recorded(unpacked):
    return [(folder, root, table, pairs_of(folder, table))
            for folder, root in (('noise', os.path.join(SHARED, 'noise')), ('noise2', unpacked))
            for table in ('truth.csv', 'truth_reversed.csv')]


def unpack(d, given):
    if given:
        return given[0]
    subprocess.run([sys.executable, os.path.join(SHARED, 'noise2', 'unpack.py'), os.path.join(d, 'noise2')],
                   stdout=subprocess.DEVNULL, check=True)
    return os.path.join(d, 'noise2')


def all_answers(driver, sets, out):
    os.mkdir(out)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(answers, driver, root, rows, os.path.join(out, folder + table)) for folder, root, table, rows in sets]
        return [r.result() for r in runs]


def total(sets, of):
    """(false alarms, hits) of all sets"""
    alarms = sum(of[k][r['pair']]['verdict'] == 'fail' for k, s in enumerate(sets) for r in s[3] if r['truth'] == 'no')
    hits = sum(is_hit(r, of[k][r['pair']]) for k, s in enumerate(sets) for r in s[3] if r['truth'] == 'yes')
    return alarms, hits


class Copy:
    """The sources, and a build of tests/score_driver."""

    def __init__(self, d):
        self.source, self.build = os.path.join(d, 'source'), os.path.join(d, 'build')
        files = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z'], capture_output=True, check=True).stdout.decode().split('\0')
        for name in filter(None, files):
            to = os.path.join(self.source, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), to)
        subprocess.run(['cmake', '-S', self.source, '-B', self.build, '-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DTG_WERROR=OFF',
                        '-DCMAKE_C_FLAGS=-w'], stdout=subprocess.DEVNULL, check=True)

    def driver(self):
        subprocess.run(['cmake', '--build', self.build, '--target', 'score_driver', '-j2'], stdout=subprocess.DEVNULL, check=True)
        return os.path.join(self.build, 'tests/score_driver')

    def write(self, file, text):
        with open(os.path.join(self.source, file), 'w', encoding='utf-8') as f:
            f.write(text)

    def read(self, file):
        with open(os.path.join(self.source, file), encoding='utf-8') as f:
            return f.read()


def fits():
    """Does each edit have one place in the sources?"""
    for name, file, old, _ in MECHANISMS:
        with open(os.path.join(ROOT, file), encoding='utf-8') as f:
            if f.read().count(old) != 1:
                sys.exit(f'{file} does not have the text of "{name}" once')
    print(f'ablation: {len(MECHANISMS)} edits fit')


def each(d, sets):
    copy = Copy(d)
    before = all_answers(copy.driver(), sets, os.path.join(d, 'whole'))
    alarms, hits = total(sets, before)
    print(f'| off | decided otherwise | other warnings | false alarms ({alarms}) | hits ({hits}) |\n|---|--:|--:|--:|--:|', flush=True)
    for k, (name, file, old, new) in enumerate(MECHANISMS):
        whole = copy.read(file)
        copy.write(file, whole.replace(old, new))
        now = all_answers(copy.driver(), sets, os.path.join(d, f'without{k}'))
        copy.write(file, whole)
        changed = [compare(s[3], a, b, lambda line: None) for s, a, b in zip(sets, before, now)]
        more = total(sets, now)
        print(f'| {name} | {sum(c[0] for c in changed)} | {sum(c[1] for c in changed)} | {more[0] - alarms:+} | {more[1] - hits:+} |',
              flush=True)


def main():
    if sys.argv[1:] == ['--fits']:
        fits()
        return
    if not os.path.isdir(os.path.join(SHARED, 'noise')):
        print('ablation: no recorded pairs: skipped')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as d:
        if sys.argv[1:2] == ['--each']:
            fits()
            each(d, recorded(unpack(d, sys.argv[2:])))
            return
        decided = warned = 0
        sets = recorded(unpack(d, sys.argv[3:]))
        old, new = (all_answers(driver, sets, os.path.join(d, f'{k}')) for k, driver in enumerate(sys.argv[1:3]))
        for (folder, _, table, rows), was, now in zip(sets, old, new):
            a, b = compare(rows, was, now)
            decided, warned = decided + a, warned + b
            print(f'{folder}/{table}: {figures(rows, was)} -> {figures(rows, now)}')
    print(f'decided otherwise: {decided}; other warnings: {warned}; pairs: {sum(len(s[3]) for s in sets)}')
    sys.exit(decided > 0)


if __name__ == '__main__':
    main()
