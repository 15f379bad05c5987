# SPDX-License-Identifier: MIT
"""A disk or a file size limit that ends the recording: what was written is a finished file, and the summary is true."""
import os
import re
import shutil

import perfdata
from tap import CI, SONDE, case, need, run, same, says_full, sh, small_disk, sonde, told_samples

EVENTS = 'sched:*,raw_syscalls:*'
WORK = ('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=200000')


def true_summary(path, stderr):
    """The samples that the closing line names are in the file, for perf as well."""
    told = told_samples(stderr)
    f = perfdata.File(path)
    need(f.finished and 21 in f.features and 2 in f.features, 'the file is not finished')
    same(f.check(), told, 'samples in the file and told')
    need(re.search(r'[1-9]\d* events were recorded, but could not be written', stderr), stderr)
    if not shutil.which('perf'):
        need(not CI, 'perf is not installed')
        return
    r = sh('perf', 'script', '-i', path, '-F', 'event')
    same((r.returncode, r.stdout.count('\n')), (0, told), 'perf script: ' + r.stderr)


def record_on(size, *options):
    with small_disk('size=' + size):
        r = sonde('record', '-e', EVENTS, *options, '-o', 'small/x.data', '--', *WORK)
        used = os.statvfs('small')
        shutil.copy('small/x.data', 'x.data')
    says_full(r)
    need(used.f_bfree <= 8, '%s: %d of %d blocks are left free' % (size, used.f_bfree, used.f_blocks))
    true_summary('x.data', r.stderr)


@case('full disks of all sizes, small and large buffers')
def _():
    for size in ('250k', '300k', '600k', '1m', '2m'):
        record_on(size)
    record_on('600k', '-m', '16')


@case('a file size limit is an error of the recording, not the death of the recorder, nor of the command')
def _():
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '-e', EVENTS, '-o', 'x.data', '--', *WORK)
    need(r.returncode == 1 and 'file size limit' in r.stderr and 'ulimit -f' in r.stderr, r.stderr)
    true_summary('x.data', r.stderr)
    # the command has the signal as it was
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '-q', '-e', 'sched:sched_switch', '-o', 'x.data',
           '--', 'dd', 'if=/dev/zero', 'of=big', 'bs=1000000', 'count=2')
    same(r.returncode, 128 + 25, 'a command that writes too much')


@case('no room at all: told before the command runs, no file')
def _():
    r = sh('sh', '-c', 'ulimit -f 8; exec "$0" "$@"', SONDE, 'record', '-e', EVENTS, '-o', 'x.data', '--', 'touch', 'ran')
    need(r.returncode == 1 and 'file size limit' in r.stderr, r.stderr)
    need(not os.path.exists('ran') and not os.path.exists('x.data'), 'something was left')


@case('--fail-on-loss keeps the status of the failure')
def _():
    r = sh('sh', '-c', 'ulimit -f 1000; exec "$0" "$@"', SONDE, 'record', '--fail-on-loss', '-e', EVENTS, '-o', 'x.data',
           '--', *WORK)
    same(r.returncode, 1, r.stderr)


run()
