# SPDX-License-Identifier: MIT
"""A full disk or a file size limit ends the recording: the file is finished, and the summary says
what is in it.
"""
import os
import re
import shutil
import struct
import subprocess

import perfdata
from tap import (CI, PERF_ENV, SONDE, case, few_symbols, need, reported_samples, run, same,
                 says_full, sh, small_disk, sonde)

EVENTS = 'sched:*,raw_syscalls:*'
WORK = ('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=200000')


def true_summary(path, stderr):
    """Checks that the file has the number of samples of the closing line, for perf as well."""
    reported = reported_samples(stderr)
    f = perfdata.File(path)
    need(f.finished and 21 in f.features and 2 in f.features, 'the file is not finished')
    same(f.check(), reported, 'samples in the file and in the summary')
    need(re.search(r'[1-9]\d* events were recorded, but could not be written', stderr), stderr)
    if not shutil.which('perf'):
        need(not CI, 'perf is not installed')
        return
    r = sh('perf', 'script', '-i', path, '-F', 'event')
    same((r.returncode, r.stdout.count('\n')), (0, reported), 'perf script: ' + r.stderr)


def number_in(stderr, pattern):
    reported = re.search(pattern, stderr)
    return int(reported.group(1)) if reported else 0


def lost_by_event(f):
    """{name: events} of the file's LOST_SAMPLES."""
    lost, names = {}, f.names()
    for kind, misc, at, size in f.records():
        if kind == perfdata.LOST_SAMPLES:
            event = names[
                f.attrs.index(f.by_id[struct.unpack_from('<Q', f.data, at + size - 8)[0]])]
            lost[event] = lost.get(event, 0) + struct.unpack_from('<Q', f.data, at + 8)[0]
    return lost


def reports_its_end(path, stderr, why, f=None):
    """
    Checks that every reader sees that a file ended early. The losses of the closing line are in
    LOST_SAMPLES of the events, where perf finds them; sonde's commands report the reason. Returns
    the losses of each event.
    """
    f = f or perfdata.File(path)
    lost = lost_by_event(f)
    unwritten = number_in(stderr, r'(\d+) events were recorded, but could not be written')
    dropped = number_in(stderr, r'(\d+) events were lost')
    need(unwritten, stderr)
    same(sum(lost.values()), unwritten + dropped,
         'events lost in the file and in the closing line: ' + stderr)
    for argv, status in (['info'], 0), (['check'],
                                        3), (['script'], 0), (['script', '--strict'], 3), \
            (['script', '--fail-on-loss'], 3):
        r = sonde(*argv, '-i', path)
        text = r.stdout[-5000:] + r.stderr
        need('ended-early: %d' % unwritten in text and (why in text or argv == ['check']),
             '%r: %s' % (argv, text))
        same(r.returncode, status, '%r: %s' % (argv, r.stderr))
    for argv in ['info', '--json'], ['script', '--format', 'jsonl']:
        need('"complete":false' in sonde(*argv, '-i', path).stdout, '%r says complete' % argv)
    # perf 6.1 does not read COMPRESSED2.
    if shutil.which('perf') and not (f.packed and f.packed[0][0] == perfdata.COMPRESSED2):
        r = sh('perf', 'report', '-i', path)
        reported = re.search('^# Total Lost Samples: ([0-9]+)$', r.stdout, re.M)
        # perf prints no table if the disk was full before the first sample.
        if 'has no samples' not in r.stderr:
            same(reported and int(reported.group(1)), sum(lost.values()),
                 'losses in perf report: ' + r.stdout[:300] + r.stderr)
    return lost


def record_on(size, *options):
    with small_disk('size=' + size):
        r = sonde('record', '-e', EVENTS, *options, '-o', 'small/x.data', '--', *WORK)
        used = os.statvfs('small')
        shutil.copy('small/x.data', 'x.data')
    says_full(r)
    need(used.f_bfree <= 8, '%s: %d of %d blocks are free' % (size, used.f_bfree, used.f_blocks))
    true_summary('x.data', r.stderr)
    reports_its_end('x.data', r.stderr, 'the disk was full')


@case('full disks of all sizes, small and large buffers')
def _():
    for size in ('250k', '300k', '600k', '1m', '2m'):
        record_on(size)
    record_on('600k', '-m', '16')


@case('a file size limit is an error of the recording; SIGXFSZ ends neither the recorder nor the '
      'command')
def _():
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '-e', EVENTS, '-o',
           'x.data', '--', *WORK)
    need(r.returncode == 1 and 'file size limit' in r.stderr and 'ulimit -f' in r.stderr, r.stderr)
    true_summary('x.data', r.stderr)
    lost = reports_its_end('x.data', r.stderr, 'the file size limit was reached')
    need(len(lost) > 1, 'losses are reported for %r only' % list(lost))
    # The command does not inherit that the recorder ignores the signal.
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '-q', '-e',
           'sched:sched_switch', '-o', 'x.data', '--', 'dd', 'if=/dev/zero', 'of=big', 'bs=1000000',
           'count=2')
    same(r.returncode, 128 + 25, 'a command that writes too much')


@case('recordings of all forms say that they ended early: -z, --aio, --overwrite, --threads')
def _():
    directory = [['--threads'], ['--threads', '-z']] if len(os.sched_getaffinity(0)) > 1 else []
    for options in [['-z'], ['-z', '--compressed-records', 'new'], ['--aio'], ['-z', '--aio'],
                    ['--overwrite'], *directory]:
        with small_disk('size=600k'):
            r = sonde('record', '-e', EVENTS, '-m', '4M', *options, '-o', 'small/x.data', '--',
                      *WORK[:-1], 'count=300000')
            (shutil.copytree if os.path.isdir('small/x.data')
             else shutil.copy)('small/x.data', 'x.data')
        says_full(r)
        if os.path.isdir('x.data'):
            seen = sonde('script', '-i', 'x.data', '-F', 'event').stdout.count('\n')
            same(seen, reported_samples(r.stderr), 'samples in the files and in the summary')
            reports_its_end('x.data', r.stderr, 'the disk was full', perfdata.File('x.data/data'))
            shutil.rmtree('x.data')
        else:
            reports_its_end('x.data', r.stderr, 'the disk was full')
            os.unlink('x.data')


@case('the last of several files says that it ended early, the others do not')
def _():
    # A delayed recorder may write as much as the disk holds at once. So the command waits for the
    # second file before it makes that many events.
    slow = ('dd if=/dev/zero of=/dev/null bs=1 count=2000; '
            'while [ $(ls small | wc -l) -lt 2 ]; do sleep 0.02; done; '
            'for i in $(seq 80); do dd if=/dev/zero of=/dev/null bs=1 count=2000; sleep 0.02; done')
    with small_disk('size=4m'):
        r = sonde('record', '-e', EVENTS, '-m', '4M', '--switch-output=200k', '-o', 'small/x.data',
                  '--', 'sh', '-c', slow)
        says_full(r)
        shutil.copytree('small', 'parts')
    names = sorted(os.listdir('parts'))
    need(len(names) > 1, '%r: %s' % (names, r.stderr))
    for name in names[:-1]:
        got = sonde('script', '--fail-on-loss', '-i', 'parts/' + name)
        need('ended-early' not in got.stderr, name + ': ' + got.stderr)
    reports_its_end('parts/' + names[-1], r.stderr, 'the disk was full')


@case('pipe mode into a file: its records are complete, and LOST_SAMPLES has the losses')
def _():
    with small_disk('size=600k'):
        with open('small/x.data', 'wb') as out:
            r = subprocess.run([SONDE, 'record', '-e', EVENTS, '-o', '-', '--', 'sh', '-c',
                                'exec "$@" 2> /dev/null', 'sh', *WORK], env=PERF_ENV,
                               stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                               text=True)
        shutil.copy('small/x.data', 'x.data')
    need(r.returncode == 1 and 'the disk is full' in r.stderr, r.stderr)
    unwritten = number_in(r.stderr, r'(\d+) events were recorded, but could not be written')
    need(unwritten, r.stderr)
    unwritten += number_in(r.stderr, r'(\d+) events were lost')
    got = sonde('script', '--fail-on-loss', '-i', 'x.data', '-F', 'event')
    same((got.returncode, got.stdout.count('\n')), (3, reported_samples(r.stderr)), got.stderr)
    need('truncated' not in got.stderr and 'lost-events: %d;' % unwritten in got.stderr,
         '%d: %s %s' % (unwritten, got.stderr, r.stderr))


@case('no room at all: reported before the command runs, and no file')
def _():
    r = sh('sh', '-c', 'ulimit -f 8; exec "$0" "$@"', SONDE, 'record', '-e', EVENTS, '-o', 'x.data',
           '--', 'touch', 'ran')
    need(r.returncode == 1 and 'file size limit' in r.stderr, r.stderr)
    need(not os.path.exists('ran') and not os.path.exists('x.data'),
         'the command ran, or a file was left')


@case('--fail-on-loss does not replace the status of a failure')
def _():
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '--fail-on-loss', '-e',
           EVENTS, '-o', 'x.data', '--', *WORK)
    same(r.returncode, 1, r.stderr)


few_symbols()
run()
