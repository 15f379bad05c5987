# SPDX-License-Identifier: MIT
"""-z: compressed recordings hold the same events, count the same losses and survive the same
faults; perf reads them.
"""
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import perfdata
from tap import (CI, PERF_ENV, SONDE, case, few_symbols, need, perf, run, same, says_full, sh,
                 small_disk, sonde, wait_until)

CALLS = os.path.abspath(sys.argv[2])
CALL = 'syscalls:sys_enter_getppid'
OLD, NEW = perfdata.COMPRESSED, perfdata.COMPRESSED2


def check(path, form=OLD, finished=True):
    """(the file, its number of events); checks that its compressed records have this form."""
    f = perfdata.File(path)
    n = f.check()
    need(f.packed and {kind for kind, size, plain in f.packed} == {form},
         'compressed records: %r' % f.packed[:3])
    need(f.ends_checked or not finished, 'the last frame of zstd has no end')
    return f, n


def header(path):
    """(level, ratio) as perf prints them."""
    text = sh(perf(), 'report', '--header-only', '-i', path).stdout
    reported = re.search(r'^# compressed : Zstd, level = (\d+), ratio = (\d+)$', text, re.M)
    need(reported, 'no line of compression in: ' + text)
    return int(reported.group(1)), int(reported.group(2))


@case('levels and both forms: no event is missing, the header has the level, both tools read the '
      'same of the old form')
def _():
    for options, level, form in ((['-z'], 1, OLD), (['-z3'], 3, OLD), (['-z22'], 22, OLD),
                                 (['--compression-level=5'], 5, OLD),
                                 (['-z', '--compressed-records', 'new'], 1, NEW)):
        r = sonde('record', '-m', '16M', *options, '-e', CALL, '-o', 'x.data', '--', CALLS, '-n',
                  '20000')
        same(r.returncode, 0, r.stderr)
        need('lost' not in r.stderr, r.stderr)
        reported = re.search(
            r'compressed \(original ([\d.]+) MB, ratio is ([\d.]+)\) \(20000 samples\)', r.stderr)
        need(reported and float(reported.group(2)) > 3, r.stderr)
        f, n = check('x.data', form)
        same(n, 20000, '%r' % options)
        same(header('x.data'),
             (level, round(sum(p for _, _, p in f.packed) / sum(s for _, s, _ in f.packed))),
             'level and ratio %r' % options)
        ours = sonde('script', '-i', 'x.data').stdout
        same(ours.count(CALL), 20000, 'lines')
        if form == OLD:
            r = sh(perf(), 'script', '-i', 'x.data')
            same((r.returncode, r.stderr), (0, ''), 'perf script')
            same(ours.splitlines(), r.stdout.splitlines(), 'text of %r' % options)


@case('-z0 is off, a level that is no number is refused, too high a level becomes the highest')
def _():
    same(sonde('record', '-q', '-z0', '-e', CALL, '-o', 'x.data', '--', CALLS, '-n',
               '10').returncode, 0)
    f = perfdata.File('x.data')
    need(not f.packed and perfdata.FEAT_COMPRESSED not in f.features, 'compressed in spite of -z0')
    for bad in ('-zx', '-z-1', '-z100'):
        r = sonde('record', '-q', bad, '-e', CALL, '-o', 'y.data', '--', CALLS, '-n', '10')
        need(r.returncode == 2 and '-z' in r.stderr, r.stderr)
    r = sonde('record', '-z23', '-e', CALL, '-o', 'x.data', '--', CALLS, '-n', '10')
    need(r.returncode == 0 and 'taking 22' in r.stderr, r.stderr)
    same(header('x.data')[0], 22)


@case('--aio, --switch-output, SIGINT: each file ends with a checksum, and both tools read the '
      'same')
def _():
    for form, options in (('old', ['--aio']), ('new', ['--aio=2']),
                          ('old', ['--switch-output=200K']), ('old', [])):
        for path in glob.glob('x.data*'):
            os.unlink(path)
        p = subprocess.Popen([SONDE, 'record', '-q', '-z', '--compressed-records', form, '-m', '16',
                              *options, '-e', 'raw_syscalls:*', '-o', 'x.data', '--', CALLS, '-n',
                              '100000000'], env=PERF_ENV,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        files = 2 if '--switch-output=200K' in options else 1

        def is_recorded():
            paths = glob.glob('x.data*')
            return len(paths) >= files and sum(map(os.path.getsize, paths)) > 300000
        try:
            wait_until('it is recorded', is_recorded)
        finally:
            p.send_signal(signal.SIGINT)
            p.wait()
        paths = glob.glob('x.data*')
        need(len(paths) >= files, 'one file')
        for path in paths:
            check(path, OLD if form == 'old' else NEW)
            ours = sonde('script', '-i', path, '-F', 'comm,pid,cpu,time,event,trace')
            need(ours.returncode == 0 and 'damage' not in ours.stderr, ours.stderr)
            if form == 'old':
                same(ours.stdout,
                     sh(perf(), 'script', '-i', path, '-F', 'comm,pid,cpu,time,event,trace').stdout,
                     '%r: %s' % (options, path))


@case('tiny buffers: events and reported losses add up to the calls made')
def _():
    for form, kind in (('old', OLD), ('new', NEW)):
        r = sonde('record', '-z', '--compressed-records', form, '-m', '1', '-e', 'dummy', '-e',
                  CALL, '-o', 'x.data', '--', CALLS, '-t', '4', '-n', '50000')
        same(r.returncode, 0, r.stderr)
        f, n = check('x.data', kind)
        attr = f.attrs[f.names().index(CALL)]
        lost = sum(struct.unpack_from('<Q', f.data, at + 8)[0]
                   for kind, misc, at, size in f.records()
                   if kind == perfdata.LOST_SAMPLES and
                   f.by_id.get(struct.unpack_from('<Q', f.data, at + size - 8)[0]) is attr)
        print('# %d seen, %d lost' % (n, lost))
        same(n + lost, 200000, '%d seen and %d lost' % (n, lost))


@case('times of the first and last sample and rounds are recorded as without -z')
def _():
    r = sonde('record', '-q', '-z', '-e', CALL, '-o', 'x.data', '--', CALLS, '-n', '1000')
    same(r.returncode, 0, r.stderr)
    f, n = check('x.data')
    times = [t for attr, pid, tid, t, raw in f.samples()]
    same(tuple(int.from_bytes(f.body(21)[i:i + 8], 'little') for i in (0, 8)),
         (min(times), max(times)), 'SAMPLE_TIME')
    need(any(kind == perfdata.ROUND for kind, misc, at, size in f.records()), 'no FINISHED_ROUND')


@case('a pipe, read by sonde and by perf')
def _():
    for form in ('old', 'new'):
        with open('p.data', 'wb') as out:
            p = subprocess.run([SONDE, 'record', '-q', '-z', '--compressed-records', form, '-m',
                                '16M', '-e', CALL, '-o', '-', '--', CALLS, '-n', '20000'],
                               env=PERF_ENV, stdout=out, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
        same((p.returncode, p.stderr.strip()), (0, b'20000'), 'recorder')
        need(os.path.getsize('p.data') < 600000,
             'it is not compressed: %d bytes' % os.path.getsize('p.data'))
        for tool in [SONDE] + [perf()] * (form == 'old'):
            with open('p.data', 'rb') as f:
                r = subprocess.run(['sh', '-c', 'cat | "$0" script -i -', tool], env=PERF_ENV,
                                   stdin=f, capture_output=True, text=True, timeout=600)
            same((r.returncode, r.stdout.count(CALL)), (0, 20000), '%s: %s' % (tool, r.stderr))


@case('perf\'s own compressed recordings are read')
def _():
    r = sh(perf(), 'record', '-q', '-z', '-m', '16M', '-e', CALL, '-o', 'x.data', '--', CALLS, '-n',
           '20000')
    same(r.returncode, 0, r.stderr)
    same(sonde('script', '-i', 'x.data').stdout, sh(perf(), 'script', '-i', 'x.data').stdout,
         'text')


@case('a killed recorder leaves the events that were flushed')
def _():
    most = 0
    for form in ('old', 'new') * 4:
        p = subprocess.Popen([SONDE, 'record', '-q', '-z', '--compressed-records', form, '-m', '16',
                              '-e', 'raw_syscalls:*', '-o', 'k.data', '--', CALLS, '-n',
                              '100000000'], env=PERF_ENV,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + 20
        while (time.monotonic() < end and
               not (os.path.exists('k.data') and os.path.getsize('k.data') > 200000)):
            time.sleep(.01)
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        f = perfdata.File('k.data')
        need(not f.finished, 'finished')
        n = f.check()
        r = sonde('script', '-i', 'k.data')
        same((r.returncode, r.stdout.count('\n')), (0, n), r.stderr)
        most = max(most, n)
        os.unlink('k.data')
    need(most > 5000, 'at most %d events' % most)


@case('one bit that flips in a compressed record or in the head of any: the same text, or damage '
      'is reported')
def _():
    fields = 'comm,pid,tid,cpu,time,event,trace'
    for form, kind in (('old', OLD), ('new', NEW)):
        r = sonde('record', '-q', '-z', '--compressed-records', form, '-e', CALL, '-e',
                  'sched:sched_switch', '-o', 'x.data', '--', CALLS, '-n', '300')
        same(r.returncode, 0, r.stderr)
        want = sonde('script', '--strict', '-i', 'x.data', '-F', fields)
        need(want.returncode == 0 and want.stdout.count(CALL) == 300, want.stderr)
        with open('x.data', 'rb') as f:
            data = bytearray(f.read())
        at, size = struct.unpack_from('<QQ', data, 40)
        end, bits, headers = at + size, [], []
        while at < end:
            this, misc, size = perfdata.RECORD_HEAD(data, at)
            if this == kind:
                bits += range(at * 8, (at + size) * 8)
            headers += [*range(at * 8, at * 8 + 32), *range(at * 8 + 48, at * 8 + 64)]
            at += size
        random.seed(7)
        changed = 0
        for bit in random.sample(bits, 50) + random.sample(headers, 50):
            data[bit // 8] ^= 1 << bit % 8
            with open('y.data', 'wb') as f:
                f.write(data)
            data[bit // 8] ^= 1 << bit % 8
            r = sonde('script', '--strict', '-i', 'y.data', '-F', fields)
            need(r.returncode in (1, 3) or (r.returncode, r.stdout) == (0, want.stdout),
                 'bit %d of byte %#x: status %d, %s' % (bit % 8, bit // 8, r.returncode, r.stderr))
            changed += r.stdout != want.stdout
        print('# %d of 100 flips changed the text' % changed)
        need(changed > 20, 'flips that change nothing')


@case('a full disk: the summary has the number of samples in the file')
def _():
    for form in ('old', 'new'):
        with small_disk('size=600k'):
            r = sonde('record', '-z', '--compressed-records', form, '-e', 'raw_syscalls:*', '-o',
                      'small/x.data', '--', CALLS, '-t', '2', '-n', '300000')
            shutil.copy('small/x.data', 'x.data')
        f, n = check('x.data', OLD if form == 'old' else NEW, False)
        need(f.finished, r.stderr)
        same(n, says_full(r), 'samples in the file and in the summary')
        if form == 'old' and (CI or shutil.which('perf')):
            r = sh(perf(), 'script', '-i', 'x.data', '-F', 'event')
            same((r.returncode, r.stdout.count('\n')), (0, n), 'perf script: ' + r.stderr)
        os.unlink('x.data')


few_symbols()
run()
