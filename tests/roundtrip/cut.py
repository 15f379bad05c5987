#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde cut and sonde split: the text of the complete recording is that of its parts, concatenated.

    tests/roundtrip/cut.py SONDE FIXTURES.PY stored|corpus|live|files [PERF-6.12-FOLDER]

stored: recordings of tests/data and of fixtures, those of tests/data/perfdata in one of both byte
orders (SONDE_FULL=1: in both); corpus: recordings of the corpus; live: new ones.
The text is that of sonde script, of --compat perf-6.1, and of stock perf if it reads the recording.
files: names of output files, and what a failed run leaves.
"""
import glob
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / 'tests' / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import kallsyms  # noqa: E402
from points import ENV, FULL, NO_LEAKS, done, run, say, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files, load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
PERF = shutil.which('perf')
PARTS = 4
TOOLS = {'sonde': [SONDE, 'script', '-f'],
         'compat': [SONDE, '--compat', 'perf-6.1', 'script', '-f']}
if PERF:
    TOOLS['perf'] = [PERF, 'script', '-f']

# State that changes: pid 10 runs from the start and forks 11, which calls exec. 12 inherits all
# from 11 and outlives it. 13 renames itself. A record of an unknown kind, losses, throttling. The
# times are one million ns apart.
STATE = """=== state
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 mmap=1 comm=1 ids=7
--- data
MMAP2/user { [10,10:u32] [0x1000,0x1000,0:u64] [8,1:u32] [77,0:u64] [5,2:u32] "/bin/ten\\0" pad8 [10,10:u32] [0:u64] [0,0:u32] [7:u64] }
COMM/user { [10,10:u32] "ten\\0" pad8 [10,10:u32] [0:u64] [0,0:u32] [7:u64] }
"""
ROWS = [
    'sample 10', 'FORK { [11,10,11,10:u32] [%d:u64] @ }', 'sample 11',
    'COMM/0x2002 { [11,11:u32] "eleven\\0" pad8 @ }',
    'MMAP2/user { [11,11:u32] [0x1000,0x1000,0:u64] [8,1:u32] [78,0:u64] [5,2:u32] '
    '"/bin/eleven\\0" pad8 @ }',
    'sample 11', 'FORK { [12,11,12,11:u32] [%d:u64] @ }', 'sample 12', 'LOST { [7,3:u64] @ }',
    'sample 11', 'EXIT { [11,10,11,10:u32] [%d:u64] @ }', 'sample 11', 'sample 12',
    'FORK { [13,12,13,12:u32] [%d:u64] @ }', 'sample 13', 'THROTTLE { [%d,7,7:u64] @ }',
    'COMM/user { [13,13:u32] "thirteen\\0" pad8 @ }', 'sample 13',
    'EXIT { [12,10,12,10:u32] [%d:u64] @ }', 'sample 13', '4711 { "whatever" @ }',
    'LOST { [7,5:u64] @ }', 'sample 13', 'sample 10',
]

# An address whose mapping is replaced before and after a fork: the child keeps the mapping of that
# time.
MAPS = """=== maps
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 mmap=1 comm=1 ids=7
--- data
"""


# The kernel records losses as they happen (LOST). The recorder writes sums at the end
# (LOST_SAMPLES): of samples, and of records of state (the dummy event).
LOST = """=== lost
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 ids=7
--- attr type=software size=104 config=9 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 mmap=1 comm=1 ids=8
--- data
"""


def lost_rows():
    rows = LOST
    for i in range(1, 10):
        rows += 'SAMPLE/user { [7:u64] [0x1010:u64] [10,10:u32] [%d:u64] [0,0:u32] }\n' % (
            i * 1000000)
        if i in (3, 4, 8):
            rows += 'LOST { [7,%d:u64] [10,10:u32] [%d:u64] [0,0:u32] [7:u64] }\n' % (
                i, i * 1000000 + 1)
    for lost, i in (4, 7), (9, 7), (2, 8):
        rows += 'LOST_SAMPLES { [%d:u64] [0,0:u32] [0:u64] [0,0:u32] [%d:u64] }\n' % (lost, i)
    return rows


def maps_rows():
    rows, trailer = MAPS, '[10,10:u32] [%d:u64] [0,0:u32] [7:u64]'
    mapping = ('MMAP2/user { [10,10:u32] [0x1000,0x1000,0:u64] [8,1:u32] [%d,0:u64] [5,2:u32] '
               '"/bin/v%d\\0" pad8 ' + trailer + ' }\n')
    for i in range(1, 10):
        when = i * 1000000
        rows += mapping % (i, i, when)
        if i == 5:
            rows += 'FORK { [11,10,11,10:u32] [%d:u64] %s }\n' % (when + 1, trailer % (when + 1))
        rows += 'SAMPLE/user { [7:u64] [0x1010:u64] [%d,%d:u32] [%d:u64] [0,0:u32] }\n' % (
            (10 + i % 2,) * 2 + (when + 2,))
    return rows


def names_rows():
    """Many names, mappings at one address, and kernel symbols between two samples."""
    rows, trailer = MAPS, '[10,10:u32] [%d:u64] [0,0:u32] [7:u64]'
    for i in range(1, 60):
        when = i * 1000000
        rows += 'COMM { [10,10:u32] "n%d\0" pad8 %s }\n' % (i, trailer % when)
        rows += ('MMAP2/user { [10,10:u32] [0x1000,0x1000,0:u64] [8,1:u32] [%d,0:u64] [5,2:u32] '
                 '"/bin/v%d\0" pad8 %s }\n' % (i, i, trailer % (when + 1)))
        rows += ('KSYMBOL { [0xffffffffc0000000:u64] [64:u32] [1,%d:u16] "bpf_prog\0" pad8 %s }\n' %
                 (i % 2, trailer % (when + 2)))
        if i % 20 == 0:
            rows += 'SAMPLE/user { [7:u64] [0x1010:u64] [10,10:u32] [%d:u64] [0,0:u32] }\n' % (
                when + 3)
    return rows


SHOWN = ['--show-task-events', '--show-mmap-events', '--show-bpf-events', '-F', 'time,event',
         '--ns']


def changes(folder):
    """A copy has every change of state; a cut begins with the state at its first sample, not with
    every earlier change."""
    for path in made(folder, 'names', names_rows()):
        def lines(of):
            out = run([SONDE, 'script', '-f', '-i', str(of)] + SHOWN)[1]
            return [l.split(None, 1)[-1] for l in out.splitlines() if b'PERF_RECORD' in l]

        whole = lines(path)
        for f in glob.glob(str(folder / 'changes*')):
            os.unlink(f)
        run([SONDE, 'cut', '-i', str(path), '-o', str(folder / 'changes')])
        say(len(whole) == 177 and lines(folder / 'changes') == whole,
            path.name + ': a copy has every change', str(len(whole)))
        run([SONDE, 'split', '--every', '90B', '-i', str(path), '-o', str(folder / 'changes')])
        parts = [lines(p) for p in sorted(glob.glob(str(folder / 'changes.*')))]
        say(len(parts) > 1 and all(any(l in p for p in parts) for l in whole),
            path.name + ': every change is in a part', str(len(parts)))
        run([SONDE, 'cut', '--time', '0.05,', '-i', str(path), '-o', str(folder / 'changes-late')])
        say(len(lines(folder / 'changes-late')) in range(4, 12),
            path.name + ': a later cut has only the last state',
            str(lines(folder / 'changes-late')))


# A COMM without a time takes effect where it is read, between rounds; the last but one sample is
# late.
ORDER = """=== order
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 mmap=1 comm=1 ids=7
--- data
SAMPLE/user { [7:u64] [0x10:u64] [10,10:u32] [1000000:u64] [0,0:u32] }
SAMPLE/user { [7:u64] [0x20:u64] [10,10:u32] [2000000:u64] [0,0:u32] }
FINISHED_ROUND { }
SAMPLE/user { [7:u64] [0x30:u64] [10,10:u32] [3000000:u64] [0,0:u32] }
FINISHED_ROUND { }
COMM/user { [10,10:u32] "ten\0" pad8 [10,10:u32] [0:u64] [0,0:u32] [7:u64] }
SAMPLE/user { [7:u64] [0x40:u64] [10,10:u32] [4000000:u64] [0,0:u32] }
FINISHED_ROUND { }
FINISHED_ROUND { }
SAMPLE/user { [7:u64] [0x15:u64] [10,10:u32] [1500000:u64] [0,0:u32] }
SAMPLE/user { [7:u64] [0x50:u64] [10,10:u32] [5000000:u64] [0,0:u32] }
"""

# Counts that grow: those of a group, and those of single events whose reads have no id.
READS = """=== reads
--- attr type=software size=112 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|READ read_format=%s ids=7
--- attr type=software size=112 config=1 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|READ read_format=%s ids=8
--- data
"""

# Events with a cpu, and events without.
CPUS = """=== cpus
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU ids=7
--- attr type=software size=104 config=1 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME ids=8
--- data
SAMPLE/user { [7,16:u64] [10,10:u32] [1000000:u64] [0,0:u32] }
SAMPLE/user { [7,16:u64] [10,10:u32] [2000000:u64] [1,0:u32] }
SAMPLE/user { [8,16:u64] [10,10:u32] [3000000:u64] }
"""


def reads_rows(is_group):
    text = READS % (('GROUP|ID|ENABLED',) * 2 if is_group else ('RUNNING',) * 2)
    for i in range(1, 12):
        pid = 10 + (i % 3 == 1)
        head = '[%d,16:u64] [%d,%d:u32] [%d:u64]' % (7 + (i % 2 and not is_group), pid, pid,
                                                     i * 1000000)
        text += 'SAMPLE/user { %s %s }\n' % (head, '[2,%d,%d,7,%d,8:u64]' %
                                             (9 * i, 100 * i * i, 5 * (i // 2)) if is_group else
                                            '[%d,%d:u64]' % (100 * i * i, 9 * i))
    return text


def state_rows():
    text = STATE
    for i, row in enumerate(ROWS):
        when, pid = 1000000 * (i + 1), 10
        trailer = '[%d,%d:u32] [%d:u64] [0,0:u32] [7:u64]'
        if row.startswith('sample'):
            pid = int(row.split()[1])
            text += 'SAMPLE/user { [7:u64] [0x1010:u64] [%d,%d:u32] [%d:u64] [0,0:u32] }\n' % (
                pid, pid, when)
        else:
            row = row.replace('%d', str(when))
            text += row.replace('@', trailer % (pid, pid, when)) + '\n'
    return text


def fixtures_of(path):
    fixtures = load_fixtures()
    return fixtures.parse(path)


def made(folder, name, text):
    """Paths of the recording, in both byte orders."""
    (folder / 'x.fix').write_text(text)
    for order in 'little', 'big':
        path = folder / ('%s-%s.data' % (name, order))
        path.write_bytes(fixtures_of(folder / 'x.fix')[0].build(order)[0])
        yield path


def bytes_of(path):
    return (sum(p.stat().st_size for p in path.rglob('*') if p.is_file()) if path.is_dir()
            else path.stat().st_size)


def words(text):
    """The words of each line: the widths of columns depend on the lines before them."""
    return [line.split() for line in text.splitlines()]


def first_difference(want, got):
    for a, b in zip(want.splitlines(), got.splitlines()):
        if a != b:
            return 'original: %r\nparts: %r' % (a[:150], b[:150])
    return '%d lines in the original, %d in the parts' % (want.count(b'\n'), got.count(b'\n'))


def same_text(name, tools, whole, copied, parts):
    """Each tool that reads the original prints the same text of a copy and of the parts. All are
    read right after each other: files of other programs, which recordings name, come and go.
    """
    for tool in tools:
        status, want, _ = run(TOOLS[tool] + ['-i', str(whole)])
        if status != 0 and tool != 'sonde':
            continue  # perf, and sonde under --compat, do not read the recording
        same_as(name + ', copied', tool, (status, want), [copied], False)
        # AUX data have no times: perf decodes only those of a part.
        if tool != 'perf' or 'intelpt' not in name:
            same_as('%s, %d parts' % (name, len(parts)), tool, (status, want), parts, True)


def same_as(name, tool, wanted, parts, words_only):
    status, want = wanted
    outs = [run(TOOLS[tool] + ['-i', p]) for p in parts]
    got = b''.join(o[1] for o in outs)
    wrong = [o[2].decode('latin-1')[-200:] for o in outs if o[0] != status]
    same = words(got) == words(want) if words_only else got == want
    say(same and not wrong, '%s: %s' % (name, tool),
        '\n'.join(wrong) if wrong else '' if same else first_difference(want, got))


def whole_and_parts(folder, path, tools, every=None):
    """every: None for a value that gives some parts."""
    out = folder / 'out'
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    name = path.name
    status, _, err = run([SONDE, 'cut', '-f', '-i', str(path), '-o', str(out / 'cut')])
    if status != 0:
        if run(TOOLS['sonde'] + ['-i', str(path)])[0] != 0:
            return say(not list(out.iterdir()), name + ': an unreadable recording gives no file',
                       '')
        return say(False, name + ': cut', err.decode('latin-1'))
    every = every or '%dB' % max(bytes_of(path) // PARTS, 1000)
    status, _, err = run([SONDE, 'split', '-f', '--every', every, '-i', str(path), '-o',
                          str(out / 'part')])
    parts = sorted(glob.glob(str(out / 'part.*')))
    if status != 0 or not parts:
        return say(False, name + ': split', err.decode('latin-1'))
    same_text(name, tools, path, str(out / 'cut'), parts)
    return parts


def losses(path):
    """The number of LOST records in the text."""
    text = run([SONDE, 'script', '-f', '--show-lost-events', '-F', 'event', '-i', str(path)])[1]
    return text.count(b'PERF_RECORD_LOST')


def info(path):
    return json.loads(run([SONDE, 'info', '-f', '--format', 'json', '-i', str(path)])[1])


def count_lost(path):
    return sum(d['count'] for d in info(path)['defects']
               if d['name'] in ('lost-events', 'lost-state'))


def stored(folder):
    for path in made(folder, 'state', state_rows()):
        parts = whole_and_parts(folder, path, TOOLS, '100B')
        if not parts:
            continue
        name = path.name
        say(len(parts) > 8, '%s: many parts' % name, '%d' % len(parts))
        say(sum(losses(p) for p in parts) == losses(path) == 2,
            '%s: each loss is in one part' % name, '')
        kinds = sorted(d['name'] for p in parts for d in info(p)['defects'])
        say(kinds == ['lost-events', 'lost-events', 'throttled', 'unknown-record'],
            '%s: throttling and the unknown record are in one part' % name, str(kinds))
        at = info(parts[1])['span']
        say(at['first_ns'] > info(parts[0])['span']['last_ns'],
            '%s: info of a part has the times of that part' % name, str(at))
    for path in made(folder, 'lost', lost_rows()):
        whole = count_lost(path)
        for every in '90B', '200B':
            parts = whole_and_parts(folder, path, TOOLS, every) or []
            lost = [count_lost(p) for p in parts]
            say(len(parts) > 2 and sum(lost) == whole == 15,
                '%s, every %s: the losses of the parts add up' % (path.name, every),
                str((lost, whole)))
    for name, text, every in (('order', ORDER, '90B'), ('maps', maps_rows(), '90B'),
                              ('group', reads_rows(True), '150B'),
                              ('reads', reads_rows(False), '100B')):
        for path in made(folder, name, text):
            parts = whole_and_parts(folder, path, [t for t in TOOLS if t != 'perf' or
                                                   'little' in path.name], every)
            say(len(parts or []) > 2, path.name + ': several parts', str(parts))
            if name in ('group', 'reads'):
                chosen(folder, path, [['--time', '0.004,0.007'],
                                      ['--time', '0.002,0.004 0.008,0.01'], ['--pid', '10']])
    changes(folder)
    for path in made(folder, 'cpus', CPUS):
        lines = {t: run(TOOLS[t] + ['-C', '1', '-i', str(path)])[1].count(b'\n')
                 for t in ('sonde', 'compat')}
        say(set(lines.values()) == {2},
            path.name + ': events without a cpu are printed for every --cpu', str(lines))
        chosen(folder, path, [['--cpu', '1']])
    whole_and_parts(folder, DATA / 'demo.data', TOOLS)
    chosen(folder, DATA / 'demo.data',
           [['--time', '30%-60%'], ['--cpu', '0'], ['--event', 'sched_switch']])
    for path in sorted((DATA / 'perfdata').glob('*.fix')):
        for i, fixture in enumerate(fixtures_of(path)):
            first = zlib.crc32(fixture.name.encode()) % 2
            for order in ('little', 'big') if FULL else ('little', 'big')[first:first + 1]:
                try:
                    data = fixture.build(order)[0]
                except (ValueError, KeyError, IndexError):
                    continue
                made_of = folder / ('%s-%d-%s.data' % (path.stem, i, order))
                made_of.write_bytes(data)
                fixture_cut(folder, made_of)


def fixture_cut(folder, path):
    """A copy of an odd recording gives the same text, if the original can be read."""
    out = folder / 'out.data'
    status, want, _ = run(TOOLS['sonde'] + ['-i', str(path)])
    cut, _, err = run([SONDE, 'cut', '-f', '-i', str(path), '-o', str(out)])
    if status != 0 or cut != 0:
        return say(cut != 0 and not out.exists() or cut == 0 and status == 1, path.name,
                   err.decode('latin-1'))
    got = run(TOOLS['sonde'] + ['-i', str(out)])[1]
    os.unlink(out)
    if os.path.exists(str(out) + '.old'):
        os.unlink(str(out) + '.old')
    if path.name.startswith('pipe-2-'):  # an event is renamed during it: a header has only one name
        got, want = (re.sub(b' *(first|second|listed):', b'', text) for text in (got, want))
    same = words(got) == words(want)
    return say(same, path.name, '' if same else first_difference(want, got))


def chosen(folder, path, sets):
    """The same options choose the same events in sonde cut and in sonde script."""
    out = folder / 'chosen'
    perf_reads = PERF and run([PERF, 'script', '-f', '-i', str(path)])[0] == 0
    for options in sets:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        status, _, err = run([SONDE, 'cut', '-f', '-i', str(path), '-o', str(out / 'cut')] +
                             options)
        name = '%s %s' % (path.name, ' '.join(options))
        if status != 0:
            say(False, name, err.decode('latin-1'))
            continue
        got = run(TOOLS['sonde'] + ['-i', str(out / 'cut')])[1]
        if options[0] == '--event':
            lines = run(TOOLS['sonde'] + ['-i', str(path)])[1].split(b'\n')
            want = b'\n'.join(line for line in lines if not line or
                              (' %s: ' % options[1]).encode() in line or
                              (':%s: ' % options[1]).encode() in line)
        else:
            want = run(TOOLS['sonde'] + options + ['-i', str(path)])[1]
        same = words(got) == words(want) and want
        say(same, name, '' if same else first_difference(want, got))
        if perf_reads:
            status, out_perf, err = run([PERF, 'script', '-f', '-i', str(out / 'cut')])
            say(status == 0 and out_perf, name + ': perf reads it', err.decode('latin-1')[-200:])


def corpus(folder):
    paths = corpus_files('perf-*.data') + corpus_files('simpleperf*.data')
    if not paths:
        skip('recordings of other machines', NO_CORPUS)
    for path in paths:
        whole_and_parts(folder, path, TOOLS)


def record(words_, path):
    status, _, err = run(words_ + ['-o', str(path), '--', 'sh', '-c',
                                   'for i in 1 2 3; do ls -lR /etc > /dev/null; sleep 0.02; done'])
    return status == 0 and path.exists() or err.decode('latin-1')[-200:]


def busiest_cpu(path):
    """The cpu with most events. An idle cpu may have none."""
    cpus = re.findall(rb'\[(\d+)\]', run(TOOLS['sonde'] + ['-F', 'cpu', '-i', str(path)])[1])
    return str(int(max(set(cpus), key=cpus.count))) if cpus else '0'


def live(folder):
    if os.geteuid() != 0:
        return skip('new recordings', 'recording all cpus needs root')
    recordings = {
        'sched': [SONDE, 'record', '-a', '-e', 'sched:*', '-q'],
        'stacks': [SONDE, 'record', '-a', '-g', '-e', 'cpu-clock', '-F', '499', '-q'],
        'packed': [SONDE, 'record', '-a', '-z', '-e', 'sched:sched_switch', '-q'],
        'several': [SONDE, 'record', '-a', '--threads', '-e', 'sched:sched_switch', '-q'],
    }
    if PERF:
        recordings['perf'] = [PERF, 'record', '-q', '-a', '-g', '-e', 'cpu-clock', '-e',
                              'sched:sched_switch']
        recordings['dwarf'] = [PERF, 'record', '-q', '--call-graph', 'dwarf,4096', '-e',
                               'cpu-clock']
        recordings['reads'] = [PERF, 'record', '-q', '-a', '-e', '{cpu-clock,task-clock,faults}:S']
    for name, command in recordings.items():
        path = folder / name
        ok = record(command, path)
        if ok is not True:
            skip(name, 'cannot be recorded: %s' % ok.strip().replace('\n', ' '))
            continue
        whole_and_parts(folder, path, TOOLS)
        if name == 'sched':
            whole_and_parts(folder, path, TOOLS, '50ms')
        chosen(folder, path, [['--time', '25%-75%']] +
               [['--cpu', busiest_cpu(path)]] * (name != 'dwarf'))
    stream = folder / 'pipe.data'
    with open(stream, 'wb') as out:
        subprocess.run([SONDE, 'record', '-a', '-e', 'sched:sched_switch', '-q', '-o', '-', '--',
                        'sleep', '0.2'], env=ENV,
                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=600,
                       check=False)
    if stream.stat().st_size:
        whole_and_parts(folder, stream, TOOLS)
    return None


def left(folder, *but):
    return sorted(p.name for p in folder.iterdir() if p.name not in but)


def files(folder):
    work = folder / 'files'
    work.mkdir()
    data = work / 'perf.data'
    shutil.copy(DATA / 'demo.data', data)
    whole = run(TOOLS['sonde'] + ['-i', str(data)])[1]

    def cut(*more, **how):
        p = subprocess.run([SONDE, 'cut'] + list(more), env=ENV, cwd=work, capture_output=True,
                           timeout=600, stdin=how.pop('stdin', subprocess.DEVNULL), check=False,
                           **how)
        return p.returncode, p.stderr.decode('latin-1')

    status, err = cut('-i', 'perf.data', '-o', 'perf.data')
    say(status == 1 and 'is the input' in err and left(work) == ['perf.data'],
        'the output cannot be the input', err)
    os.link(data, work / 'linked')
    status, err = cut('-i', 'perf.data', '-o', 'linked')
    say(status == 1 and 'is the input' in err, 'the output cannot be a hard link to the input', err)
    os.unlink(work / 'linked')
    os.rename(data, work / 'a.old')
    (work / 'a').write_text('x')
    status, err = cut('-i', 'a.old', '-o', 'a')
    say(status == 1 and 'is the input' in err and left(work) == ['a', 'a.old'],
        'the old output, kept as FILE.old, cannot replace the input', err)
    os.unlink(work / 'a')
    os.rename(work / 'a.old', data)
    (work / 'b').write_text('before')
    status, err = cut('-o', 'b')
    say(status == 0 and (work / 'b.old').read_text() == 'before' and
        left(work) == ['b', 'b.old', 'perf.data'],
        'an existing output becomes FILE.old', err)
    os.unlink(work / 'b')
    os.unlink(work / 'b.old')
    for words_, why in ((['-o', '-'], 'pipe'), ([], '-o FILE'), (['-o', '.'], 'directory'),
                        (['-o', '/dev/null'], 'not a regular file'),
                        (['-o', 'nowhere/x'], 'cannot create'),
                        (['-o', 'x', '--event', 'sched_swtch'], 'sched_switch'),
                        (['-o', 'x', '--cpu', 'y'], 'cpu')):
        status, err = cut(*words_)
        say(status in (1, 2) and why in err and left(work) == ['perf.data'],
            'cut %s' % ' '.join(words_), err)
    for words_, why in ((['--pid', '99999'], 'no event was chosen'),
                        (['--time', '0.1,0.5'], 'no event was chosen'), ([], '')):
        status, err = cut(*words_, '-o', 'none')
        say(status == 0 and err.strip().partition(':')[0] == ('sonde' if why else '') and
            why in err,
            'cut %s: %s' % (' '.join(words_), why or 'no message'), err)
    for name in 'none', 'none.old':
        os.unlink(work / name)
    with gzip.open(work / 'perf.data.gz', 'wb') as out:
        out.write(data.read_bytes())
    for name, more, how in (('packed', ['-i', 'perf.data.gz'], {}),
                            ('from a pipe', ['-i', '-'], {'stdin': None})):
        if how:
            with open(data, 'rb') as source, subprocess.Popen(['cat'], stdin=source,
                                                              stdout=subprocess.PIPE) as cat:
                status, err = cut(*more, '-o', 'x', stdin=cat.stdout)
        else:
            status, err = cut(*more, '-o', 'x')
        say(status == 0 and run(TOOLS['sonde'] + ['-i', str(work / 'x')])[1] == whole, name, err)
        if (work / 'x').exists():
            os.unlink(work / 'x')
    os.unlink(work / 'perf.data.gz')

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))

    status, err = cut('-o', 'x', preexec_fn=limit)
    say(status == 1 and 'limit' in err and left(work) == ['perf.data'],
        'an output over the limit of file sizes is removed', err)
    split = [SONDE, 'split', '-i', 'perf.data']
    status, _, err = run(split + ['--every', '20K'], cwd=work)
    say(status == 0 and left(work) == ['perf.data'] +
        ['perf.data.%04d' % i for i in range(1, 5)][:len(left(work)) - 1] and
        len(left(work)) > 3, 'parts are written next to the input', str(left(work)))
    status, _, err = run(split + ['--every', '20K'], cwd=work)
    say(status == 1 and b'is there already' in err, 'existing parts are not replaced', err.decode())
    for path in work.glob('perf.data.*'):
        os.unlink(path)
    (work / 'parts').mkdir()
    status, _, err = run(split + ['--every', '20K', '-o', 'parts'], cwd=work)
    say(status == 0 and left(work / 'parts')[0] == 'perf.data.0001',
        'parts are written to a folder', err.decode())
    shutil.rmtree(work / 'parts')
    for every in '0', '5', '1X', '-1K', '', '99999999999999999999G':
        status, _, err = run(split + ['--every', every], cwd=work)
        say(status == 2 and b'--every ' in err and b'is expected' in err and
            left(work) == ['perf.data'], '--every %r' % every, err.decode())

    (work / 'perf.data.0003').mkdir()
    status, _, err = run(split + ['--every', '20K'], cwd=work)
    say(status == 1 and left(work) == ['perf.data', 'perf.data.0003'],
        'a split that fails leaves no part', err.decode())
    (work / 'perf.data.0003').rmdir()
    (work / 'perf.data.0003').write_text('another')
    status, _, err = run(split + ['--every', '20K'], cwd=work)
    say(status == 1 and b'perf.data.0003 is there already' in err and
        left(work) == ['perf.data', 'perf.data.0003'] and
        (work / 'perf.data.0003').read_text() == 'another',
        'a split that fails replaces no file', err.decode() + str(left(work)))
    os.unlink(work / 'perf.data.0003')
    (work / 'x.dir').mkdir()
    shutil.copy(data, work / 'x.dir' / 'data')
    for words_ in ['cut', '-o', 'x.dir/data.7'], ['split', '--every', '20K', '-o', 'x.dir/data']:
        status, _, err = run([SONDE, words_[0], '-i', 'x.dir'] + words_[1:], cwd=work)
        say(status == 1 and b'x.dir' in err and b'is part of the input' in err and
            left(work / 'x.dir') == ['data'],
            '%s: adds no file to a recording that is a folder' % words_[0], err.decode())
    shutil.rmtree(work / 'x.dir')
    sandboxed(work, whole)
    interrupted(work, data)


def sandboxed(work, whole):
    """With --sandbox they may write to their output and nowhere else."""
    ENV.update(NO_LEAKS)
    for name, words_ in ('cut', ['cut', '-o', 'x']), ('split',
                                                      ['split', '--every', '20K', '-o', 'x']):
        status, _, err = run([SONDE] + words_ + ['--sandbox'], cwd=work)
        if status != 0 and b'sandbox' in err:
            skip(name + ' --sandbox', err.decode().strip(), may=False)
            continue
        got = b''.join(run(TOOLS['sonde'] + ['-i', str(p)])[1] for p in sorted(work.glob('x*')))
        say(status == 0 and got == whole, name + ' --sandbox', err.decode())
        for path in work.glob('x*'):
            os.unlink(path)


def interrupted(work, data):
    """SIGINT while they wait for the rest of their input."""
    head = gzip.compress(data.read_bytes())
    for kind in 'cut', 'split':
        words_ = ([SONDE, kind, '-i', '-', '-o', 'x'] +
                  (['--every', '1K'] if kind == 'split' else []))
        with subprocess.Popen(words_, env=ENV, cwd=work, stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            p.stdin.write(head[:-100])
            p.stdin.flush()
            time.sleep(0.5)
            p.send_signal(signal.SIGINT)
            p.stdin.close()
            err = p.stderr.read()
            status = p.wait(timeout=600)
        say(status == -signal.SIGINT and left(work) == ['perf.data'],
            'an interrupted %s leaves nothing' % kind,
            '%s %s %s' % (status, left(work), err.decode()))


if sys.argv[3] in ('corpus', 'live'):
    kallsyms.thin_out()
with tempfile.TemporaryDirectory() as temp:
    {'stored': stored, 'corpus': corpus, 'live': live,
     'files': files}[sys.argv[3]](pathlib.Path(temp))
sys.exit(done())
