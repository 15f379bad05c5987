#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares text of recordings in pipe mode (perf record -o -) with perf's.

    piped.py SONDE

The recordings are made with each option that changes their content. For each one the text and one
other list are compared; SONDE_FULL=1: all lists. text.py and matrix.py compare file mode.
"""
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, FULL, done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
MIXED = '-e sched:sched_switch,cpu-clock,page-faults'
CASES = [('plain', MIXED), ('compressed', '-z ' + MIXED),
         ('chains', '-g --kernel-callchains ' + MIXED), ('clock', '-k mono ' + MIXED),
         ('addresses', '-d --phys-data --data-page-size --code-page-size ' + MIXED),
         ('registers', '--intr-regs=ip,sp --user-regs=ip,sp ' + MIXED),
         ('weights', '-W ' + MIXED), ('cgroups', '-a --all-cgroups --namespaces ' + MIXED),
         ('switches', '-a --switch-events ' + MIXED),
         ('a group', '-e {cpu-clock,page-faults}:S'), ('one event', '-e cpu-clock'),
         ('reads', '-s -T -P -R ' + MIXED), ('build ids', '--buildid-mmap ' + MIXED),
         ('tracepoints', '-e sched:sched_process_*,task:*')]
TEXTS = ['script', 'script --show-task-events --show-mmap-events --show-switch-events '
         '--show-namespace-events --show-cgroup-events', 'script -D', 'evlist']
WORK = ['sh', '-c', 'ls -R /usr/include/linux >/dev/null; for i in 1 2; do ls / >/dev/null; done']


def difference(want, got):
    a, b = want.split(b'\n'), got.split(b'\n')
    i = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    return 'line %d of %d and %d\nperf:  %s\nsonde: %s' % (i + 1, len(a), len(b), a[i:i + 1],
                                                           b[i:i + 1])


def perf_text(words, path):
    """(exit status, perf's text). perf names the vdso by a temporary copy; the name is replaced."""
    status, out, _ = run(['perf'] + words.split() + ['-i', str(path)])
    return status, re.sub(rb'/tmp/perf-vdso\.so-\w{6}', b'[vdso]', out)


def compare(name, path, nr):
    for i, words in enumerate(TEXTS):
        if i and (nr + i) % 3 and not FULL:
            continue
        if words == 'script -D' and path.stat().st_size > 400000:
            continue
        want = perf_text(words, path)
        got = run([SONDE, '--compat', 'perf-6.1'] + words.split() + ['-i', str(path)])[:2]
        say(want == got, '%s: %s' % (name, words[:30]), difference(want[1], got[1]) if want != got
            else '')
    names = run([SONDE, 'evlist', '-i', str(path)])[1].decode().splitlines()
    names = [n for n in names if n[0] != '#']
    say(len(names) == len(set(names)), '%s: each event once' % name, '\n'.join(names))
    with open(path, 'rb') as f:
        p = subprocess.run([SONDE, 'script', '-i', '-'], env=ENV, stdin=f, capture_output=True,
                           timeout=600)
    piped = subprocess.run([SONDE, 'script', '-i', '-'], env=ENV, input=path.read_bytes(),
                           capture_output=True, timeout=600)
    file = run([SONDE, 'script', '-i', str(path)])
    say(p.stdout == piped.stdout == file[1] and file[1], '%s: a file and a pipe' % name)


def described_last(path):
    """perf itself cannot read a recording that describes its events after the samples."""
    counts = []
    for words in [], ['--tail-synthesize']:
        status, out, err = run(['perf', 'record', '-q', '-e', 'page-faults', '-c', '1', *words,
                                '-o', '-', '--', 'true'])
        path.write_bytes(out)
        status, out, err = run([SONDE, 'script', '-F', 'event', '-i', str(path)])
        counts.append(
            (status, dict(collections.Counter(out.decode().split())).get('page-faults:', 0)))
    say(counts[1][0] == 0 and counts[1][1] >= counts[0][1] / 2 > 0,
        'events described after the samples', str(counts))


def older(path):
    """The record before the formats of tracepoints has 12 bytes in old perfs, 16 in newer ones."""
    data = path.read_bytes()
    off = 16
    while True:
        kind, _, size = struct.unpack_from('=IHH', data, off)
        if kind == 66:
            break
        off += size
    path.write_bytes(data[:off] + struct.pack('=IHH', kind, 0, 12) + data[off + 8:off + 12] +
                     data[off + size:])
    want, got = (perf_text('script', path),
                 run([SONDE, '--compat', 'perf-6.1', 'script', '-i', str(path)]))
    say(size == 16 and want == got[:2] and b'sched_switch' in got[1] and not got[2],
        'a short record before the formats: script',
        difference(want[1], got[1]) + got[2].decode('latin-1'))


def counts(path):
    """perf stat: in pipe mode the header does not say that the recording has no samples."""
    for nr, words in enumerate((['-e', 'task-clock,page-faults'],
                                ['-I', '20', '-A', '-a', '-e', '{cpu-clock,page-faults}'])):
        name = 'counts, ' + ' '.join(words)
        status, out, err = run(['perf', 'stat', 'record', '-o', '-'] + words + ['--'] + WORK)
        if status or len(out) < 400:
            skip(name, 'perf stat record: ' + err.decode('latin-1').strip()[:100])
            continue
        path.write_bytes(out)
        compare(name, path, nr)
        want = run([SONDE, 'script', '-i', str(path)])[1]
        cut = path.with_name('cut.data')
        run([SONDE, 'cut', '-i', str(path), '-o', str(cut)])
        split = run([SONDE, 'split', '--every', '200B', '-i', str(path), '-o', str(cut)])
        parts = sorted(path.parent.glob('cut.data.0*'))
        got = b''.join(run([SONDE, 'script', '-i', str(p)])[1] for p in parts)
        say(got == want and not split[2], name + ': split', difference(want, got) +
            split[2].decode('latin-1'))
        for p in parts:
            p.unlink()
        for tool in ['perf'], [SONDE], [SONDE, '--compat', 'perf-6.1']:
            status, out, err = run(tool + ['script', '-i', str(cut)])
            say(status == 0 and out == want,
                '%s: a cut, read by %s' % (name, tool[0].rsplit('/')[-1]),
                difference(want, out) + err.decode('latin-1'))


def main():
    perf = shutil.which('perf', path=ENV['PATH'])
    if not perf or b'perf version 6.1.' not in run([perf, 'version'])[1]:
        skip('compared with perf', 'no perf 6.1', may=False)
        return done()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'x.data'
        for nr, (name, words) in enumerate(CASES):
            status, out, err = run(['perf', 'record', '-q'] + words.split() + ['-o', '-', '--'] +
                                   WORK)
            if status or len(out) < 1000:
                skip(name, 'perf record: ' + err.decode('latin-1').strip()[:100])
                continue
            path.write_bytes(out)
            compare(name, path, nr)
            if name == 'plain':
                older(path)
        counts(path)
        described_last(path)
    return done()


sys.exit(main())
