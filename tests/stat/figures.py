#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of processors that this machine does not have, compared with perf's: --metric-only,
--topdown, -T and --smi-cost, and the events of which they are made.

    tests/stat/figures.py SONDE STANDIN

A mount namespace has event sources in sysfs that name the events; STANDIN, the library of
standin.c, answers for their counters. perf's header is not compared where it has no names.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say, skip  # noqa: E402

SONDE, STANDIN = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
PERF = shutil.which('perf')
SOURCES = '/sys/bus/event_source/devices'
CPU, MSR = 4, 31
# The events of a machine: name, number, count.
SLOTS = [('slots', 0x400, 10000), ('topdown-retiring', 0x8000, 4000),
         ('topdown-bad-spec', 0x8100, 1000), ('topdown-fe-bound', 0x8200, 2000),
         ('topdown-be-bound', 0x8300, 3000)]
LEVEL_2 = [('topdown-heavy-ops', 0x8400, 700), ('topdown-br-mispredict', 0x8500, 600),
           ('topdown-fetch-lat', 0x8600, 900), ('topdown-mem-bound', 0x8700, 1100)]
OLDER = [('topdown-total-slots', 0x10, 40000), ('topdown-slots-retired', 0x11, 16000),
         ('topdown-recovery-bubbles', 0x12, 500), ('topdown-fetch-bubbles', 0x13, 8000),
         ('topdown-slots-issued', 0x14, 20000)]
TRANSACTIONS = [('cycles-t', 0x20, 800), ('tx-start', 0x21, 20), ('el-start', 0x22, 5),
                ('cycles-ct', 0x23, 600)]
SMI = [('aperf', 1, 2000), ('smi', 4, 3)]
MACHINES = {'none': [], 'slots': SLOTS, 'levels': SLOTS + LEVEL_2, 'older': OLDER,
            'transactions': TRANSACTIONS, 'hardware': []}
HARDWARE = {
    'none': '0:0=1000 0:1=1500 1:1=1000000',
    'hardware': '0:0=2000000 0:1=3000000 0:2=50000 0:3=6000,4000000,3000000 0:4=600000 0:5=12000 '
                '0:7=400000 0:8=100000 3:0=900000 3:65536=9000 1:1=1000000 1:0=1000000',
}
ALL = ('cycles,instructions,stalled-cycles-frontend,branches,branch-misses,cache-references,'
       'cache-misses,L1-dcache-loads,L1-dcache-load-misses,task-clock')
SETS = [(machine, options.split()) for machine, options in [
    ('slots', '--topdown'), ('levels', '--topdown'), ('levels', '--topdown --td-level 1'),
    ('levels', '--topdown -x,'), ('levels', '--topdown -a --per-core'),
    ('levels', '--topdown -a -A'), ('levels', '--topdown -a -A -x,'), ('older', '--topdown -a'),
    ('older', '--topdown -a -x,'), ('levels', '-e ' + ','.join(n for n, *_ in SLOTS + LEVEL_2)),
    ('levels', '-x, -e ' + ','.join(n for n, *_ in SLOTS + LEVEL_2)),
    ('levels', '-e topdown-retiring'), ('levels', '-e topdown-retiring,task-clock'),
    ('older', '-a -e ' + ','.join(n for n, *_ in OLDER)),
    ('transactions', '-T'), ('transactions', '-T -x,'),
    ('none', '--smi-cost'), ('none', '--smi-cost -x,'), ('none', '--smi-cost -a -A'),
    ('none', '-e msr/aperf/,msr/smi/,cycles'), ('none', '-x, -e msr/aperf/,msr/smi/,cycles'),
    ('none', '-e msr/aperf/,msr/smi/,cycles,task-clock'),
    ('hardware', '--metric-only -e ' + ALL), ('hardware', '--metric-only -x, -e ' + ALL),
    ('hardware', '--metric-only -a -e ' + ALL), ('hardware', '--metric-only -a -A -e ' + ALL),
    ('hardware', '--metric-only -a -A -x, -e ' + ALL),
    ('hardware', '--metric-only -a --per-core -e ' + ALL),
    ('hardware', '--metric-only -a --per-socket -x, -e ' + ALL),
    ('hardware', '--metric-only -I 20 -e ' + ALL),
]]
IN_NAMESPACE = ['unshare', '--mount', 'sh', '-c',
                'mount --rbind /sys/devices/system "$0/devices/system" && '
                'mount --rbind "$0/devices" /sys/devices && '
                'mount --bind "$0/sources" ' + SOURCES + ' && exec "$@"']


def source(at, number, formats, events):
    (at / 'events').mkdir(parents=True)
    (at / 'format').mkdir()
    (at / 'type').write_text('%d\n' % number)
    for name, bits in formats:
        (at / 'format' / name).write_text(bits + '\n')
    for name, config, _ in events:
        (at / 'events' / name).write_text('event=0x%x\n' % config)


def make_machine(folder, events):
    source(folder / 'sources/cpu', CPU, [('event', 'config:0-63')], events)
    source(folder / 'sources/msr', MSR, [('event', 'config:0-63')], SMI)
    for name in 'software', 'tracepoint', 'breakpoint':
        (folder / 'sources' / name).mkdir()
        (folder / 'sources' / name / 'type').write_text(
            pathlib.Path(SOURCES, name, 'type').read_text())
    (folder / 'devices/cpu').mkdir(parents=True)
    (folder / 'devices/system').mkdir()
    (folder / 'devices/cpu/freeze_on_smi').write_text('0\n')


def table(machine):
    words = ['%d:%d=%d' % (CPU, config, n) for _, config, n in MACHINES[machine]]
    words += ['%d:%d=%d' % (MSR, config, n) for _, config, n in SMI]
    return ' '.join(words + [HARDWARE.get(machine, HARDWARE['none'])])


def run(folder, machine, words):
    env = dict(ENV, LD_PRELOAD=STANDIN, STANDIN=table(machine))
    p = subprocess.run([*IN_NAMESPACE, str(folder), 'env', *('%s=%s' % (k, env[k]) for k in (
        'LD_PRELOAD', 'STANDIN')), *words], env=ENV, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300)
    return p.returncode, p.stderr


def columns(text):
    """The words of each row with a number, without times."""
    rows = []
    for line in text.splitlines():
        if re.search(r'seconds|^#|^ Perf|msec|GHz.*insn per', line) or not re.search(r'\d', line):
            continue
        line = re.sub(r'^ +\d+\.\d{9}', '', line)
        # not as perf: docs/compat.md
        line = re.sub(r'(tx-start.*?)(#? *[\d.]+) (K/sec|cycles / transaction) *', r'\1', line)
        line = re.sub(r'(tx-start.*?),[\d.]+,(K/sec|cycles / transaction)', r'\1', line)
        rows.append(line.split())
    return rows


def each_once(rows, options):
    """How many intervals there are depends on the machine."""
    return sorted(map(list, set(map(tuple, rows)))) if '-I' in options else rows


def names(text):
    """The header of names, if there is one."""
    found = re.search(r'^.*(?:GHz|Retiring  |Retiring,Bad|SMI#).*$', text, re.M)
    return re.split(r'  +|,', found[0].strip(' ,')) if found else []


def compare(folder, machine, options):
    what = '%s: %s' % (machine, ' '.join(options))
    words = ['stat', *options, 'sleep', '0.05'] if '-I' in options else ['stat', *options, 'true']
    theirs = run(folder, machine, [PERF, *words])
    ours = run(folder, machine, [SONDE, *words])
    a, b = (each_once(columns(r[1]), options) for r in (theirs, ours))
    say(theirs[0] == ours[0] == 0 and a == b and a, what,
        '\nperf:\n%s\nsonde:\n%s\n%s\n%s' % (theirs[1], ours[1], a, b))
    if '-A' in options and ALL not in options:
        a, b = ([re.sub('Ghz', 'GHz', w) for w in names(r[1])] for r in (theirs, ours))
        say(a == b and a, what + ': names', '%s %s' % (a, b))


def check_refusals(folder):
    """(machine, options, words of the message)"""
    for machine, options, says in (
            ('none', ['--topdown'], ('--topdown', 'publishes', 'topdown-retiring')),
            ('none', ['-T'], ('-T', 'publishes', 'cycles-t')),
            ('slots', ['--topdown', '--td-level', '2'], ('--td-level', 'level 1')),
            ('levels', ['--topdown', '--td-level', '3'], ('--td-level', 'levels 1 and 2')),
            ('levels', ['--td-level', '1'], ('--td-level', '--topdown')),
            ('older', ['--topdown'], ('-a',))):
        status, text = run(folder[machine], machine, [SONDE, 'stat', *options, 'true'])
        say(status == 2 and all(s in text for s in says), 'refused: %s: %s' % (machine, options),
            '%d %s' % (status, text))
    (folder['slots'] / 'devices/cpu/freeze_on_smi').unlink()
    status, text = run(folder['slots'], 'slots', [SONDE, 'stat', '--smi-cost', 'true'])
    say(status == 2 and '--smi-cost' in text and 'freeze_on_smi' in text,
        'refused: counters that go on in interrupts', '%d %s' % (status, text))


def check_merging(folder):
    """An event of several sources has one row, with --no-merge one for each. --hybrid-merge
    changes nothing on a processor with cores of one kind."""
    for i in range(2):
        source(folder / ('sources/box_x_%d' % i), 50 + i, [('event', 'config:0-63')],
               [('ev', 1, 0)])
        (folder / ('sources/box_x_%d' % i) / 'cpumask').write_text('0\n')
    env = ['env', 'LD_PRELOAD=' + STANDIN, 'STANDIN=50:1=100 51:1=23']
    for options in ('-e box_x/ev/', '-e ev', '-A -e box_x/ev/', '-e box_x_0/ev/,box_x_1/ev/',
                    '-r 2 -e box_x/ev/', '-x, -e box_x/ev/', '--per-socket -e box_x/ev/',
                    '--no-merge -e box_x/ev/', '--no-merge -e ev', '--no-merge -A -e box_x/ev/',
                    '--hybrid-merge -e box_x/ev/', '--hybrid-merge -e ev',
                    '--hybrid-merge --no-merge -e ev'):
        texts = [subprocess.run([*IN_NAMESPACE, str(folder), *env, tool, 'stat', '-a',
                                 *options.split(), 'true'], env=ENV, capture_output=True,
                                text=True).stderr for tool in (PERF, SONDE)]
        # perf's order of the sources is that of their folder
        a, b = (sorted(' '.join(line.split()) for line in t.splitlines() if 'ev' in line)
                for t in texts)
        say(a == b and a, 'events of several sources: ' + options, '%s\n%s' % tuple(texts))
    for options in ('', '--no-merge'):
        for more in (['-r', '2', '--format', 'json', '-o', str(folder / 'base.json')],
                     ['--baseline', str(folder / 'base.json')]):
            p = subprocess.run([*IN_NAMESPACE, str(folder), *env, SONDE, 'stat', '-a', *more,
                                *options.split(), '-e', 'box_x/ev/', 'true'], env=ENV,
                               capture_output=True, text=True)
        say(p.returncode == 0 and p.stderr.count('+0.00% to') == 2 - (not options),
            'events of several sources: --baseline ' + options, p.stderr)


def make_hybrid(folder):
    """Two types of cores, each with a source of its own. Returns the table of their counts."""
    words = ['1:1=1000000']
    for name, number, cpu, factor in ('cpu_core', 4, 0, 1), ('cpu_atom', 10, 1, 2):
        at = folder / 'sources' / name
        source(at, number, [('event', 'config:0-7'), ('umask', 'config:8-15')],
               [('cpu-cycles', 0x3c, 0), ('instructions', 0xc0, 0)])
        (at / 'cpus').write_text('%d\n' % cpu)
        words += ['%d:%d=%d' % (kind, number << 32 | config, n * factor) for kind, config, n in (
            (0, 0, 1000000), (0, 1, 2000000), (0, 4, 7000), (0, 5, 80), (3, 0, 900),
            (3, 0x10000, 90))]
        words += ['%d:%d=%d' % (number, config, n * factor) for config, n in (
            (0x3c, 1000000), (0xc0, 2000000), (0x1a8, 77))]
    shutil.rmtree(folder / 'sources/cpu')
    return ' '.join(words)


def run_hybrid(folder, counts, words):
    p = subprocess.run([*IN_NAMESPACE, str(folder), 'env', 'LD_PRELOAD=' + STANDIN,
                        'STANDIN=' + counts, *words], env=ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=300)
    return p.returncode, p.stderr


def check_hybrid(folder, counts):
    """Each type of cores has an event of its own, named as perf names it. perf's order of the
    sources is that of their folder."""
    for options in (
            '-e cycles', '-e cycles,instructions,branches,branch-misses', '-e cpu-cycles',
            '-e r1a8', '-e L1-dcache-load-misses', '-e cpu_core/cycles/,cpu_atom/instructions/',
            '-e cpu_core/r1a8/', '-e cpu_core/L1-dcache-load-misses/', '-e {cycles,instructions}',
            '-a -e cycles', '-a -A -e cycles', '-a -A -x, -e cycles,r1a8',
            '-a --per-core -e cycles', '-a --per-core -e r1a8,cycles',
            '-a --per-socket -x, -e cycles', '-a -C 0 -e cycles', '-a -C 1 -x, -e cycles,r1a8',
            '-x, -e cycles,instructions', '-r 2 -e cycles',
            '--no-merge -a -e cycles', '--hybrid-merge -a -e cycles,instructions,r1a8',
            '--hybrid-merge -x, -e cycles', '--hybrid-merge --no-merge -a -e cycles',
            '--hybrid-merge -a --per-socket -e cycles', '--cputype atom -e cycles',
            '--cputype core -e r1a8'):
        texts = [run_hybrid(folder, counts, [tool, 'stat', *options.split(), 'true'])[1]
                 for tool in (PERF, SONDE)]
        a, b = (sorted(' '.join(line.split()) for line in t.splitlines()
                       if re.search(r'\d', line) and not re.search('seconds|WARN|stats for', line))
                for t in texts)
        say(a == b and a, 'hybrid: ' + options, '%s\n%s' % tuple(texts))


def check_hybrid_alone(folder, counts):
    """Where perf 6.1 is wrong, or has no answer: a group is one for each type of cores; an event of
    another type is left out of -C; -e takes the names again; counts of -A are of their cpu."""
    for options, expect in (
            ('-e {cycles,instructions}', 'cpu_core/cycles/ cpu_core/instructions/ '
                                         'cpu_atom/cycles/ cpu_atom/instructions/'),
            ('-a -C 0 -e {cycles,instructions}', 'cpu_core/cycles/ cpu_core/instructions/'),
            ('-e cycles:u', 'cpu_core/cycles/u cpu_atom/cycles/u'),
            ('-e cycles/period=1000/u', 'cpu_core/cycles,period=1000/u '
                                        'cpu_atom/cycles,period=1000/u'),
            ('-e cpu_core/cycles,period=1000/u', 'cpu_core/cycles,period=1000/u')):
        status, text = run_hybrid(folder, counts, [SONDE, 'stat', '-x', ';', *options.split(),
                                                   'true'])
        names = ' '.join(line.split(';')[2] for line in text.splitlines() if ';' in line)
        say(status == 0 and names == expect and '<not' not in text, 'hybrid, names: ' + options,
            text)
    status, text = run_hybrid(folder, counts, [SONDE, 'stat', '-a', '-A', '-x,', '--hybrid-merge',
                                               '-e', 'cycles', 'true'])
    rows = [line.split(',')[:2] for line in text.splitlines()]
    say(rows == [['CPU0', '1000000'], ['CPU1', '2000000']], 'hybrid, merged by cpu', text)
    for options, says in (('--cputype x', 'it has core and atom'),
                          ('-e cpu_core/cyles/', 'did you mean cycles')):
        status, text = run_hybrid(folder, counts, [SONDE, 'stat', *options.split(), 'true'])
        say(status == 2 and says in text, 'hybrid, refused: ' + options, '%d %s' % (status, text))


def check_freezing(folder):
    """freeze_on_smi is 1 while the command runs, then what it was."""
    at = folder / 'devices/cpu/freeze_on_smi'
    at.write_text('0\n')
    status, text = run(folder, 'none', [SONDE, 'stat', '--smi-cost', 'sh', '-c',
                                        'cat /sys/devices/cpu/freeze_on_smi >&2'])
    say(status == 0 and text.startswith('1') and at.read_text() == '0\n',
        'freeze_on_smi is set during the count', '%d %s %s' % (status, text, at.read_text()))


def main():
    if subprocess.run([*IN_NAMESPACE[:4], 'true']).returncode or os.geteuid():
        skip('figures', 'nothing can be mounted over sysfs')
        return done()
    with tempfile.TemporaryDirectory() as name:
        folders = {m: pathlib.Path(name, m) for m in MACHINES}
        for machine, events in MACHINES.items():
            make_machine(folders[machine], events)
        if not PERF:
            skip('compared with perf', 'perf is not installed', may=False)
        for machine, options in SETS if PERF else ():
            compare(folders[machine], machine, options)
        if PERF:
            check_merging(folders['none'])
        check_refusals(folders)
        make_machine(pathlib.Path(name, 'hybrid'), [])
        counts = make_hybrid(pathlib.Path(name, 'hybrid'))
        if PERF:
            check_hybrid(pathlib.Path(name, 'hybrid'), counts)
        check_hybrid_alone(pathlib.Path(name, 'hybrid'), counts)
        check_freezing(folders['none'])
    return done()


sys.exit(main())
