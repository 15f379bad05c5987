#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares comm, pid, tid, cpu, time and event of each sample with those of perf script.

    events.py SONDE FIXTURES.PY

The recordings: a third of those of the reference, chosen by name (SONDE_FULL=1: all of them), and
fixtures of tests/data/perfdata, each in one of both byte orders (SONDE_FULL=1: in both). Only
recordings that perf reads without an error are compared.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests'))
import kallsyms  # noqa: E402
from points import FULL, done, run, say, skip  # noqa: E402
from recordings import NO_REFERENCE, REFERENCE, load_fixtures  # noqa: E402
FIELDS = ['comm', 'pid', 'tid', 'cpu', 'time', 'event']
# What is not compared, and why.
KNOWN = {
    'perf-stat.data': 'counts of perf stat, no samples',
    'own-stat/perf.data': 'counts of perf stat, no samples',
    'stat-cpi/perf.data': 'counts of perf stat, no samples',
    'own-auxtrace_error/perf.data': 'perf prints errors of trace decoders as lines',
    'extended-little': 'perf names the PMU of the machine it runs on',
    'extended-big': 'perf names the PMU of the machine it runs on',
    'modifiers-big': 'perf swaps the two bits of precise_ip',
    'size-0-in-64-bytes-big': 'perf does not swap an attr without a size',
    'less-than-there-is-big': 'perf does not swap an attr of less than 64 bytes',
    'over-each-other-little': 'sonde refuses lists of ids larger than the file, to save time',
    'over-each-other-big': 'sonde refuses lists of ids larger than the file, to save time',
    'attrs-of-another-size-little': 'perf ignores names if attrs are larger than its own',
    'attrs-of-another-size-big': 'perf ignores names if attrs are larger than its own',
}


def text_of(*command):
    status, out, err = run(command)
    return status, out.decode('utf-8', 'replace'), err.decode('utf-8', 'replace')


def compare(sonde, path, name):
    if path.read_bytes()[8:16] in (b'\x10\0\0\0\0\0\0\0', b'\0\0\0\0\0\0\0\x10'):
        return skip(name, 'pipe mode')
    for end, why in KNOWN.items():
        if name.endswith(end):
            return skip(name, why)
    fields = list(FIELDS)
    while fields:
        status, theirs, error = text_of('perf', 'script', '-f', '-i', str(path), '-F',
                                        ','.join(fields))
        missing = re.search(r'do not have (\w+) attribute set', error)
        if not missing:
            break
        # The recording may have only some of the columns.
        without = {'TID': ['pid', 'tid'], 'CPU': ['cpu'], 'TIME': ['time']}.get(missing[1])
        if not without or without[-1] not in fields:
            break
        fields = [f for f in fields if f not in without]
    if status != 0:
        return skip(name, 'perf does not read it: %s' %
                    (error.strip().splitlines() or ['status %s' % status])[-1][:100])
    if not theirs:
        return skip(name, 'perf prints nothing')
    if 'compressed' in path.name or 'zstd' in path.name:
        return skip(name, 'compressed')
    status, ours, error = text_of(sonde, '--compat', 'perf-6.1', 'script', '-f', '-i', str(path),
                                  '-F', ','.join(fields))
    if status != 0:
        return say(False, name, 'exit status %s\n%s' % (status, error))
    a, b = theirs.splitlines(), ours.splitlines()
    why = '' if a == b else 'perf prints %d lines, sonde %d' % (len(a), len(b))
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            why += '\nline %d\n- %s\n+ %s' % (i + 1, x, y)
            break
    say(not why, name, '\n'.join(why.splitlines()[:12]))


def main():
    sonde = os.path.abspath(sys.argv[1])
    kallsyms.thin_out()
    if not shutil.which('perf'):
        print('1..1\nnot ok 1 - SONDE_CI: no perf' if os.environ.get('SONDE_CI') == '1'
              else '1..0 # SKIP no perf')
        return os.environ.get('SONDE_CI') == '1'
    if REFERENCE:
        for path in sorted(REFERENCE.rglob('*.data')):
            if path.is_file() and (FULL or zlib.crc32(path.name.encode()) % 3 == 0):
                compare(sonde, path, '/'.join(path.parts[-3:]))
    else:
        skip('reference', NO_REFERENCE)
    fixtures = load_fixtures()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'x.data'
        for fixture in sorted((ROOT / 'tests' / 'data' / 'perfdata').glob('*.fix')):
            for case in fixtures.parse(fixture):
                first = zlib.crc32(case.name.encode()) % 2
                for order in ('little', 'big')[0 if FULL else first:2 if FULL else first + 1]:
                    path.write_bytes(case.build(order)[0])
                    compare(sonde, path,
                            '-'.join(filter(None, ['fixture', fixture.stem, case.name,
                                                   order])).replace('#', '').replace(' ', '-'))
    return done()


if __name__ == '__main__':
    sys.exit(main())
