#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several recordings: each event as if its recording were read alone, merged by time.

Recordings that do not belong together are refused.

    tests/roundtrip/several.py SONDE FIXTURES.PY made|live
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / 'tests' / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import points  # noqa: E402
from points import ENV, UNDER_ASAN, done, run, skip  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
fixtures = load_fixtures()


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else why)


COLUMNS = ['-F', 'comm,pid,cpu,time,event,ip,dso', '--ns']


def fixture(times, host='box', release='6.1.0', clock=None, wall=None, reference=None, comm='one',
            dso='/bin/one', kernel=0, mode='', sample='IDENTIFIER|IP|TID|TIME|CPU', extra=''):
    """The text of a fixture: samples of process 12 at these times, in ns.

    clock: None for the kernel's own clock. kernel: the kernel's address.
    """
    attr = 'use_clockid=1 clockid=%d ' % clock if clock is not None else ''
    lines = ['=== x' + mode,
             '--- attr type=software size=104 config=0 sample_period=1 sample_type=%s '
             'sample_id_all=1 %sids=7' %
             (sample, attr)]
    if host:
        lines += ['--- feature HOSTNAME', 'str "%s"' % host]
    if release:
        lines += ['--- feature OSRELEASE', 'str "%s"' % release]
    if wall is not None:
        lines += ['--- feature CLOCK_DATA',
                  '[1,%d:u32] [%d,500:u64]' % (clock if reference is None else reference, wall)]
    lines += ['--- data']
    end = ('[12,12:u32] [0:u64] [0,0:u32] [7:u64]' if 'CPU' in sample
           else '[12,12:u32] [0:u64] [7:u64]')
    if kernel:
        lines += ['MMAP/kernel { [0xffffffff,0:u32] [%d,0x1000000,%d:u64] '
                  '"[kernel.kallsyms]_text\\0" pad8 [0xffffffff,0:u32] '
                  '[0:u64] [0,0:u32] [7:u64] }' % (kernel, kernel)]
    lines += ['COMM { [12,12:u32] "%s\\0" pad8 %s }' % (comm, end),
              'MMAP2/user { [12,12:u32] [0x1000,0x1000,0:u64] [8,1:u32] [77,0:u64] [5,2:u32] '
              '"%s\\0" pad8 %s }' % (dso, end)]
    for n, t in enumerate(times):
        time, cpu = ('[%d:u64] ' % t if 'TIME' in sample else '', '[%d,0:u32] ' % (n % 4)
                     if 'CPU' in sample else '')
        ip = '[0x1010:u64] ' if '|IP' in sample else ''
        lines += ['SAMPLE/user { [7:u64] %s[12,12:u32] %s%s}' % (ip, time, cpu)]
    return '\n'.join(lines + [extra]) + '\n'


def build(folder, name, text, order='little'):
    (folder / 'x.fix').write_text(text)
    path = folder / name
    path.write_bytes(fixtures.parse(folder / 'x.fix')[0].build(order)[0])
    return str(path)


def script(*words, stdin=None, check=True):
    """Lines of standard output, or the message if it fails and check is set."""
    p = subprocess.run([SONDE, 'script'] + [str(w) for w in words], env=ENV,
                       stdin=stdin or subprocess.DEVNULL, capture_output=True, timeout=600)
    if check and p.returncode:
        return ['status %d: %s' % (p.returncode, p.stderr.decode())]
    return p.stdout.decode('utf-8', 'surrogateescape').splitlines()


TIME = re.compile(r' +(\d+)\.(\d{9}): ')


def blocks(lines):
    """(time, text) of each event; a call chain has lines of its own."""
    found = []
    for line in lines:
        m = TIME.search(line)
        if m:
            found.append([int(m[1]) * 10 ** 9 + int(m[2]), line])
        elif found:
            found[-1][1] += '\n' + line
    return [tuple(f) for f in found]


def merged(*lists):
    every = [(t, n, i, text) for n, events in enumerate(lists)
             for i, (t, text) in enumerate(events)]
    return [text for _, _, _, text in sorted(every)]


def same(got, want, name):
    if got == want:
        return say(bool(want), name, '' if want else 'nothing to compare')
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    say(False, name, '%d and %d lines; at %d\n%s\n%s' % (len(got), len(want), at, got[at:at + 2],
                                                         want[at:at + 2]))


def alone(*words):
    return blocks(script(*words))


def together(folder):
    for orders in ('little', 'little'), ('big', 'little'), ('big', 'big'):
        a = build(folder, 'a.data', fixture([10, 20, 30, 10 ** 9]), orders[0])
        b = build(folder, 'b.data',
                  fixture([15, 20, 20, 25, 2 * 10 ** 9], comm='two', dso='/bin/two'), orders[1])
        c = build(folder, 'c.data', fixture([1, 20, 26], comm='three', dso='/bin/three'), orders[0])
        lists = [alone('-i', f, *COLUMNS) for f in (a, b, c)]
        got = [text for _, text in blocks(script('-i', a, '-i', b, '-i', c, *COLUMNS))]
        same(got, merged(*lists), 'events merged in time order: ' + ' and '.join(orders))
        say([re.split(' +', line.strip())[0] for line in got] ==
            'three one two one two two three two three one one two'.split(),
            'equal times: the order of the command line, then of the recording', '\n'.join(got))
        say(all(('/bin/' + line.split()[0]) in line for line in got),
            'a pid that several recordings use', '\n'.join(got))
    with open(b, 'rb') as f:
        data = f.read()
    same([t for _, t in blocks(script('-i', a, '-i', b, '--time', '0.000000020,1', *COLUMNS))],
         merged(*[[e for e in l if 20 <= e[0] <= 10 ** 9] for l in lists[:2]]), '--time')
    same([t for _, t in blocks(script('-i', a, '-i', b, '--cpu', '1', *COLUMNS))],
         merged(*[[e for e in l if '[001]' in e[1]] for l in lists[:2]]), '--cpu')
    same([t for _, t in blocks(script('-i', a, '-i', b, '--comms', 'two', *COLUMNS))],
         [t for _, t in lists[1]], '--comms')
    same([t for _, t in blocks(script('-i', a, '-i', b, '--time', '0%-1%', *COLUMNS))],
         merged(*[[e for e in l if e[0] < 10 ** 7] for l in lists[:2]]),
         '--time: per cent of the time of all recordings')
    say(script('-i', a, '-i', b, '--clock', 'relative', '--ns', '-F', 'time', '--time',
               '0.000000005,0.000000010') ==
        ['    0.000000005: ', '    0.000000010: ', '    0.000000010: ', '    0.000000010: '],
        '--clock relative: time since the first event of all recordings')
    with open(b, 'rb') as f:
        same([t for _, t in blocks(script('-i', a, '-i', '/dev/stdin', *COLUMNS, stdin=f))],
             merged(*lists[:2]), 'standard input')
    p = subprocess.run([SONDE, 'script', '-i', a, '-i', '-'] + COLUMNS, env=ENV, input=data,
                       capture_output=True, timeout=600)
    same([t for _, t in blocks(p.stdout.decode().splitlines())], merged(*lists[:2]),
         'one of the inputs is a pipe')
    packed = folder / 'b.data.gz'
    packed.write_bytes(gzip.compress(data))
    if b'zlib=yes' in run([SONDE, '--version', '-v'])[1]:
        same([t for _, t in blocks(script('-i', a, '-i', packed, *COLUMNS))], merged(*lists[:2]),
             'packed')
    same(script('-i', a, '-i', a, '-F', 'time', '--ns'),
         [x for line in script('-i', a, '-F', 'time', '--ns') for x in (line, line)],
         'a recording given twice')
    for compat in 'perf-6.1', 'perf-6.12':
        same(run([SONDE, '--compat', compat, 'script', '-i', a, '-i', b])[1].splitlines(),
             run([SONDE, '--compat', compat, 'script', '-i', b])[1].splitlines(),
             '--compat %s reads the last recording only' % compat)
    lines = script('-i', a, '-i', b, '--header')
    say([l for l in lines if l.startswith('# recording')] ==
        ['# recording 0: ' + a, '# recording 1: ' + b] and
        len([l for l in lines if l == '# hostname : box']) == 2, '--header prints each header')
    got = [json.loads(l) for l in script('-i', a, '-i', b, '--format', 'jsonl')]
    say([e['input'] for e in got if 'event' in e] == [0, 1, 0, 1, 1, 1, 0, 0, 1] and
        [i['input'] for i in got[0]['header']['inputs']] == [a, b] and
        got[-1]['summary']['events'] == 9, 'jsonl names the input')
    tasks = script('-i', a, '-i', b, '--show-task-events', '-F', 'comm,tid,time,event')
    say(len([l for l in tasks if 'PERF_RECORD_COMM: one:12/12' in l]) == 1 and
        len([l for l in tasks if 'PERF_RECORD_COMM: two:12/12' in l]) == 1, '--show-task-events',
        '\n'.join(tasks))


def own_names(folder):
    """Symbols and cgroups of an event are those of its own recording."""
    flags = str(DATA / 'scripts' / 'flags.data')
    texts = script('-i', flags, '-F', 'trace')
    say(any('=0x' not in line.split()[0] for line in texts),
        'print formats name symbols of the kernel', texts[0])
    same(script('-i', flags, '-i', flags, '-F', 'trace'),
         [x for line in texts for x in (line, line)],
         'print formats name symbols of each recording')
    paths = []
    for name, t in ('a', 10), ('b', 20):
        text = fixture([], sample='IDENTIFIER|IP|TID|TIME|CPU|CGROUP', comm=name, extra='\n'.join([
            'CGROUP { [321:u64] "/%s.slice\0" pad8 [12,12:u32] [0:u64] [0,0:u32] [7:u64] }' % name,
            'SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [%d:u64] [0,0:u32] [321:u64] }' % t]))
        paths.append(build(folder, 'cgroup-%s.data' % name, text))
    got = script('-i', paths[0], '-i', paths[1], '-F', 'comm,cgroup')
    say([line.split() for line in got] == [['a', '/a.slice'], ['b', '/b.slice']],
        'cgroups of each recording', '\n'.join(got))


def other_columns(folder):
    """Each event type shows the columns that it has values for, whichever recording starts
    first."""
    full = build(folder, 'full.data', fixture([10, 30], comm='full'))
    bare = build(folder, 'bare.data', fixture([20, 40], comm='bare', sample='IDENTIFIER|TID|TIME'))
    for words in [], ['-F', 'comm,cpu,time,event,ip,sym'], ['-F', '+symoff'], ['-F', '-period']:
        got = script('-i', full, '-i', bare, '--offset', '0', *words)
        same(script('-i', bare, '-i', full, '--offset', '0', *words), got,
             'columns in either order: ' + ' '.join(words))
        say(['[0' in line for line in got] == [True, False, True, False] and
            all(('1010' in line) == ('full' in line) for line in got),
            'columns of each type in either order', '\n'.join(got))
    for inputs in (full, bare), (bare, full):
        status, out, err = run([SONDE, 'script', '-i', inputs[0], '-i', inputs[1], '--offset', '0',
                                '-F', 'comm,phys_addr'])
        say(status and not out and b'do not have PHYS_ADDR' in err, 'a column that no type has',
            str(err))


def other_inputs(folder):
    """Events of one class have the same columns, except in inputs whose samples have no address."""
    text = fixture([6 * 10 ** 9], sample='IDENTIFIER|IP|TID|TIME|CPU|CALLCHAIN').replace(
        'type=software', 'type=tracepoint')
    chains = build(folder, 'chains.data', text.replace(',0:u32] }', ',0:u32] [1,0x1010:u64] }'))
    blocks = str(DATA / 'blktrace' / 'little')
    for inputs in (chains, blocks), (blocks, chains):
        got = script('-i', inputs[0], '-i', inputs[1], '--offset', '0')
        alone_too = script('-i', blocks)
        say([l.split() for l in got if 'block:' in l] == [l.split() for l in alone_too] and
            any('/bin/one' in l for l in got),
            'columns of samples without an address: ' +
            ' '.join(os.path.basename(i) for i in inputs), '\n'.join(got))


def offsets(folder):
    a = build(folder, 'a.data', fixture([10 ** 9, 3 * 10 ** 9]))
    b = build(folder, 'b.data', fixture([10 ** 9, 2 * 10 ** 9], host='other', comm='two'))
    for words, want in (
            (['-i', a, '-i', b, '--offset', '0.5'],
             ['1.000000000', '1.500000000', '2.500000000', '3.000000000']),
            (['-i', a, '-i', b, '--offset', '-.999999999'],
             ['0.000000001', '1.000000000', '1.000000001', '3.000000000']),
            (['-i', a, '--offset', '2', '-i', b, '--offset', '0'],
             ['1.000000000', '2.000000000', '3.000000000', '5.000000000']),
            (['-i', a, '-i', b, '--offset', '1', '--time', '2,2.5'], ['2.000000000']),
            (['-i', a, '--offset', '+5'], ['6.000000000', '8.000000000'])):
        got = script(*words, '-F', 'time', '--ns')
        say([l.strip(' :') for l in got] == want, ' '.join(os.path.basename(w) for w in words),
            '\n'.join(got))
    for words, word in ((['--offset', '1', '-i', a], 'there is none'),
                        (['-i', a, '--offset', '1s'], '--offset 1s: seconds with up to 9'),
                        (['-i', a, '-i', b, '--offset', '-2'], 'before the beginning of time'),
                        (['-i', a, '-i', b, '--offset', '1.0000000001'], 'seconds with up to 9')):
        status, _, err = run([SONDE, 'script'] + words)
        say(status in (1, 2) and word in err.decode(),
            'refused: ' + ' '.join(os.path.basename(w) for w in words),
            '%s\n%s' % (status, err.decode()))

    p = subprocess.run([SONDE, 'script', '-i', '-', '-i', '-'], env=ENV,
                       input=pathlib.Path(a).read_bytes(), capture_output=True, timeout=600)
    say(p.returncode == 2 and not p.stdout and b'can be read only once' in p.stderr,
        'refused: -i - -i -', p.stderr.decode())


DAY = 1700000000 * 10 ** 9
REFUSED = {  # name of the case: both recordings, words of the message, whether --clock utc helps
    'another host': (dict(), dict(host='other'), 'different hosts (box and other)', False),
    'another host, with clock data': (dict(clock=1, wall=DAY),
                                      dict(host='other', clock=1, wall=DAY),
                                      'different hosts', True),
    'no host': (dict(), dict(host=''), 'one host (box and not recorded)', False),
    'another kernel': (dict(), dict(release='6.2.0'), 'different kernels (6.1.0 and 6.2.0)', False),
    'another clock': (dict(), dict(clock=1),
                      "different clocks (the kernel's own clock and CLOCK_MONOTONIC)", False),
    'another clock, with clock data': (dict(clock=4, wall=DAY), dict(clock=1, wall=DAY),
                                       'different clocks (CLOCK_MONOTONIC_RAW and CLOCK_MONOTONIC)',
                                       True),
    'another boot by its clock': (dict(clock=1, wall=DAY), dict(clock=1, wall=DAY + 60 * 10 ** 9),
                                  'another boot, or the machine slept', True),
    'another boot by the kernel\'s address': (dict(kernel=0xffffffff81000000),
                                              dict(kernel=0xffffffff8a000000),
                                              'different boots', False),
    'no times': (dict(), dict(sample='IDENTIFIER|IP|TID|CPU'), 'record with -T', None),
}


def refused(folder):
    for name, (of_a, of_b, word, by_day) in REFUSED.items():
        a = build(folder, 'a.data', fixture([10, 30], **of_a))
        b = build(folder, 'b.data', fixture([20, 40], **of_b))
        status, out, err = run([SONDE, 'script', '-i', a, '-i', b])
        err = err.decode()
        say(status == (1 if by_day is not None else 2) and not out and word in err and b in err and
            ('--offset SECONDS' in err) == (by_day is not None) and
            ('--clock utc lists them' in err) == bool(by_day), name + ' is refused',
            '%s %s\n%s' % (status, out, err))
        got = [t for t, _ in blocks(script('-i', a, '-i', b, '--offset', '0', *COLUMNS))]
        say(got == ([10, 20, 30, 40] if by_day is not None else []), name + ': with --offset',
            str(got))
        got = script('-i', a, '-i', b, '--clock', 'utc', '-F', 'time', '--ns')
        say(len(got) == 4 and got == sorted(got) if by_day else got[0].startswith('status 2'),
            name + ': with --clock utc', '\n'.join(got))
    a, b = (build(folder, name, fixture(times, clock=1, wall=DAY + more))
            for name, times, more in (('a.data', [10, 30], 0), ('b.data', [20, 40], 10 ** 9)))
    say([t for t, _ in blocks(script('-i', a, '-i', b, *COLUMNS))] == [10, 20, 30, 40],
        'the time of day was adjusted a little')
    a, b = (build(folder, name, fixture(times, kernel=0xffffffff81000000))
            for name, times in (('a.data', [10]), ('b.data', [20])))
    say(len(script('-i', a, '-i', b)) == 2, 'the same address of the kernel')
    for command in 'info', 'evlist', 'buildid-list', 'check':
        status, out, err = run([SONDE, command, '-i', a, '-i', b])
        say(status == 2 and not out and command.encode() + b': one recording at a time' in err,
            command + ' takes one recording', '%s %s' % (status, err))
    for words in (['-D'], ['--per-event-dump'], ['-F', '+metric']):
        status, out, err = run([SONDE, 'script', '-i', a, '-i', b] + words)
        say(status == 2 and b'one recording at a time' in err,
            ' '.join(words) + ' takes one recording', '%s %s' % (status, err))


def damage(folder):
    a = build(folder, 'a.data', fixture([10, 30, 50]))
    b = build(folder, 'b.data',
              fixture([20, 40, 60],
                      extra='LOST { [7,5:u64] [12,12:u32] [61:u64] [0,0:u32] [7:u64] }'))
    data = pathlib.Path(b).read_bytes()
    status, out, err = run([SONDE, 'script', '-i', a, '-i', b] + COLUMNS)
    say(status == 0 and len(out.splitlines()) == 6 and
        ('lost-events: 5 (first %s: 5' % b) in err.decode(),
        'the message about losses names the recording', '%s %s' % (status, err.decode()))
    places = [i for i in range(len(data)) if data[i:i + 4] == b'\x09\0\0\0' and
              data[i + 6:i + 8] == b'\x30\0']
    cut = folder / 'cut.data'
    cut.write_bytes(data[:places[1] + 4])
    status, out, err = run([SONDE, 'script', '-i', a, '-i', str(cut), '--offset', '0'] + COLUMNS)
    say(status == 0 and [t for t, _ in blocks(out.decode().splitlines())] == [10, 20, 30, 50] and
        ('truncated: 2 (first %s: 2' % cut) in err.decode(), 'one recording is cut off',
        '%s\n%s\n%s' % (status, out.decode(), err.decode()))
    status, out, err = run([SONDE, 'script', '--strict', '-i', a, '-i', str(cut), '--offset', '0'])
    say(status == 3, '--strict', str(status))
    cut.write_bytes(data[:50])
    status, out, err = run([SONDE, 'script', '-i', a, '-i', str(cut)])
    say(status == 1 and str(cut) in err.decode(), 'one recording cannot be opened',
        '%s\n%s' % (status, err.decode()))


PYTHON = '''
import random, sonde
a, b = %r
with sonde.open([a, b]) as s:
    kept = list(s)
    random.Random(4).shuffle(kept)
    kept.sort(key=lambda e: e.time_ns)
    print([e.time_ns for e in kept])
    print([e.comm for e in kept])
    print(len(s.schemas), {e.name for e in kept})
    print(len(s.path))
with sonde.open((a, b), clock='utc') as s:
    print([e.time_ns for e in s][:2])
'''


def bindings(folder):
    a = build(folder, 'a.data', fixture([10, 30], clock=1, wall=DAY))
    b = build(folder, 'b.data', fixture([20, 40], clock=1, wall=DAY, comm='two'))
    at = str(pathlib.Path(SONDE).parent / 'bindings' / 'python' / 'module')
    if not os.path.isdir(at) or UNDER_ASAN:
        return skip('sonde.open() of a list', 'no module for Python, or one with a sanitizer')
    p = subprocess.run(['python3', '-c', PYTHON % ((a, b),)], env=dict(ENV, PYTHONPATH=at),
                       capture_output=True, timeout=600)
    say(p.stdout.decode().splitlines() == ['[10, 20, 30, 40]', "['one', 'two', 'one', 'two']",
                                           "1 {'cpu-clock:HG'}", '2', '[%d, %d]' %
                                           (DAY - 490, DAY - 480)], 'sonde.open() of a list',
        (p.stdout + p.stderr).decode())


SCRIPT = '''
from collections import Counter
calls, last = Counter(), 0
def count(name, s, ns):
    global last
    assert s * 10**9 + ns >= last
    last = s * 10**9 + ns
    calls[name] += 1
def sched__sched_switch(name, context, cpu, s, ns, pid, comm, *fields):
    count(name, s, ns)
def sched__sched_wakeup(name, context, cpu, s, ns, pid, comm, *fields):
    count(name, s, ns)
def trace_end():
    print(dict(sorted(calls.items())))
'''
PERL = '''
our %n;
sub sched::sched_switch { $n{switch}++ }
sub sched::sched_wakeup { $n{wakeup}++ }
sub trace_end { print "$n{switch} $n{wakeup}\\n" }
'''


def live(folder):
    perf = shutil.which('perf')
    if not perf:
        return skip('recordings of perf', 'no perf', may=False)
    files = [str(folder / n) for n in ('a.data', 'b.data', 'c.data')]
    words = [['-e', 'sched:sched_switch'], ['-g', '-e', 'sched:sched_wakeup,sched:sched_switch'],
             ['-z', '-e', 'sched:sched_switch']]
    running = [subprocess.Popen([perf, 'record', '-q', '-o', f, '-a'] + w + ['sleep', '0.4'],
                                env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT) for f, w in zip(files, words)]
    messages = [p.communicate(timeout=600)[0].decode() for p in running]
    if any(p.returncode for p in running[:2]):
        return skip('recordings of perf', 'perf cannot record: ' + ' '.join(messages).strip()[:200])
    if running[2].returncode:
        files.pop()
    inputs = [w for f in files for w in ('-i', f)]
    columns = ['-F', 'comm,pid,tid,cpu,time,event,trace,ip,sym,symoff,dso', '--ns']
    ours = [alone('-i', f, *columns) for f in files]
    same([t for _, t in blocks(script(*inputs, *columns))], merged(*ours),
         'overlapping recordings: the lines of each, merged')
    for f in files:
        theirs = blocks(run([perf, 'script', '-i', f, '--ns', '-F',
                             'comm,pid,tid,cpu,time,event,trace'])[1].decode(
                                 errors='surrogateescape').splitlines())
        f_ours = alone('-i', f, '--ns', '-F', 'comm,pid,tid,cpu,time,event,trace')
        same([t for _, t in f_ours], [t for _, t in theirs],
             'perf prints the same lines of %s' % os.path.basename(f))
    theirs = [blocks(run([perf, 'script', '-i', f, '--ns', '-F',
                          'comm,pid,tid,cpu,time,event,trace'])[1].decode(
                              errors='surrogateescape').splitlines())
              for f in files]
    same([t for _, t in blocks(script(*inputs, '--ns', '-F', 'comm,pid,tid,cpu,time,event,trace'))],
         merged(*theirs), 'overlapping recordings: the lines of perf, merged')
    threads = folder / 'd.data'
    p = subprocess.run([SONDE, 'record', '-q', '--threads', '-o', threads, '-a', '-e',
                        'sched:sched_switch', 'sleep', '0.2'], env=ENV,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    if p.returncode:
        skip('one of the recordings is a directory', p.stderr.decode()[:200])
    else:
        lists = ours[:1] + [alone('-i', threads, *columns)]
        same([t for _, t in blocks(script('-i', files[0], '-i', threads, *columns))],
             merged(*lists), 'one of the recordings is a directory')
    (folder / 'x.py').write_text(SCRIPT)
    (folder / 'x.pl').write_text(PERL)
    text = '\n'.join(t for l in ours for _, t in l)
    n = [len(re.findall(r'\d: +%s: ' % e, text))
         for e in ('sched:sched_switch', 'sched:sched_wakeup')]
    if UNDER_ASAN:
        return skip('scripts', 'the interpreter is not built with the sanitizer')
    same(script(*inputs, '-s', folder / 'x.py'),
         ["{'sched__sched_switch': %d, 'sched__sched_wakeup': %d}" % tuple(n)],
         'a script gets the events of all recordings in order')
    same(script(*inputs, '-s', folder / 'x.py', '--clock', 'relative'),
         ["{'sched__sched_switch': %d, 'sched__sched_wakeup': %d}" % tuple(n)],
         'a script with --clock relative')
    if shutil.which('perl'):
        got = script(*inputs, '-s', folder / 'x.pl')
        if got and 'is not installed' in got[0]:
            skip('a script in Perl', got[0])
        else:
            same(got, ['%d %d' % tuple(n)], 'a script in Perl')


with tempfile.TemporaryDirectory() as tmp:
    if sys.argv[3:] == ['live']:
        live(pathlib.Path(tmp))
    else:
        for part in (together, own_names, other_columns, other_inputs, offsets, refused, damage,
                     bindings):
            part(pathlib.Path(tmp))
sys.exit(done())
