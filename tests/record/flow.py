# SPDX-License-Identifier: MIT
"""How events are moved from the buffers to the file: --aio, --affinity, --mmap-flush,
--no-buffering.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import perfdata
from tap import (PERF_ENV, SONDE, Skip, case, need, perf, run, same, says_full, sh, small_disk,
                 sonde, wait_until)

CALLS = os.path.abspath(sys.argv[2])
CALL = 'syscalls:sys_enter_getppid'
CPUS = sorted(os.sched_getaffinity(0))


def calls(f):
    """The number of calls, without that of the shell, which calls getppid() once."""
    return f.check() - 1


def reported_lost(f):
    attr = f.attrs[f.names().index(CALL)]
    return sum(int.from_bytes(f.data[at + 8:at + 16], 'little')
               for kind, misc, at, size in f.records()
               if kind == perfdata.LOST_SAMPLES and
               f.by_id.get(int.from_bytes(f.data[at + size - 8:at + size], 'little')) is attr)


@case('--aio: a thread that writes; no event is missing, with tiny buffers and on a full disk, too')
def _():
    for options in (['--aio'], ['--aio=4'], ['--aio=4', '-z']):
        for pages in ('1', '1024'):
            r = sonde('record', *options, '-m', pages, '-e', 'dummy', '-e', CALL, '-o', 'x.data',
                      '--', CALLS, '-t', '4', '-n', '15000')
            same(r.returncode, 0, r.stderr)
            f = perfdata.File('x.data')
            n = f.check()
            need(f.finished, 'not finished')
            same(n + reported_lost(f), 60000, '%r, %s pages: %d seen; with those reported lost' %
                 (options, pages, n))
        r = sh(perf(), 'script', '-i', 'x.data', '-F', 'event')
        same((r.returncode, r.stdout.count(CALL)), (0, n), r.stderr)
    p = subprocess.Popen([SONDE, 'record', '-q', '--aio', '-e', CALL, '-o', 'x.data', '--', 'sleep',
                          '600'], env=PERF_ENV,
                         stdin=subprocess.DEVNULL)
    try:
        wait_until('two threads run', lambda: len(os.listdir('/proc/%d/task' % p.pid)) == 2)
    finally:
        p.send_signal(signal.SIGINT)
        same(p.wait(timeout=600), 128 + 15, 'status: SIGTERM has ended the command')
    with small_disk('size=1m'):
        r = sonde('record', '--aio', '-e', 'raw_syscalls:*', '-o', 'small/x.data', '--', CALLS,
                  '-t', '2', '-n', '50000')
        shutil.copy('small/x.data', 'x.data')
    same(perfdata.File('x.data').check(), says_full(r), 'samples in the file and in the summary')


@case('--aio: a value that is no number is refused, one that is too large becomes the largest, 0 '
      'is off')
def _():
    need(sonde('record', '-q', '--aio=x', '-e', CALL, '-o', 'x.data', '--', 'true').returncode == 2,
         '--aio=x')
    r = sonde('record', '--aio=99', '-e', CALL, '-o', 'x.data', '--', 'true')
    need(r.returncode == 0 and 'taking 4' in r.stderr, r.stderr)
    same(sonde('record', '--aio=0', '-e', CALL, '-o', 'x.data', '--', 'true').returncode, 0)


@case('--aio: into a pipe, too')
def _():
    p = subprocess.Popen([SONDE, 'record', '-q', '--aio=2', '-e', CALL, '-o', '-', '--', CALLS,
                          '-t', '2', '-n', '5000'],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    try:
        r = subprocess.run([SONDE, 'script', '-i', '-', '-F', 'event'], env=PERF_ENV,
                           stdin=p.stdout, capture_output=True, text=True, timeout=600)
    finally:
        p.stdout.close()
        same(p.wait(timeout=600), 0, 'status of the recorder')
    same((r.returncode, r.stdout.count(CALL)), (0, 10000), r.stderr)


@case('--affinity: the reader runs where the buffer that it reads was filled')
def _():
    if len(CPUS) < 2:
        raise Skip('one cpu only')
    for cpu in CPUS[:2]:
        p = subprocess.Popen([SONDE, 'record', '-q', '--affinity=cpu', '-C',
                              '%d,%d' % tuple(CPUS[:2]), '-m', '16', '-e', CALL, '-o', 'x.data'],
                             env=PERF_ENV, stdin=subprocess.DEVNULL)
        try:
            wait_until('it has a file', lambda: os.path.exists('x.data') and
                       os.path.getsize('x.data'))

            def follows():
                subprocess.run(['taskset', '-c', str(cpu), CALLS, '-n', '2000'],
                               stdout=subprocess.DEVNULL, check=True)
                return os.sched_getaffinity(p.pid) == {cpu}
            wait_until('the recorder is on cpu %d' % cpu, follows)
        finally:
            p.send_signal(signal.SIGINT)
            same(p.wait(timeout=600), 0)
    r = sonde('record', '--affinity=node', '-z', '-e', CALL, '-o', 'x.data', '--', CALLS, '-n',
              '1000')
    need(r.returncode == 0 and '(1000 samples)' in r.stderr, r.stderr)
    r = sonde('record', '-q', '--affinity=foo', '-e', CALL, '-o', 'x.data', '--', 'true')
    need(r.returncode == 2 and 'node or cpu' in r.stderr, r.stderr)


@case('--mmap-flush: few events stay in the buffers until the end; nothing is lost')
def _():
    def recorded(early, *options):
        """Calls early(function that counts the events in the file) while the command waits; returns
        the finished file.
        """
        for name in ('x.data', 'go'):
            if os.path.exists(name):
                os.unlink(name)
        os.mkfifo('go')
        p = subprocess.Popen([SONDE, 'record', '-q', '-m', '64', *options, '-e', CALL, '-o',
                              'x.data', '--', 'sh', '-c',
                              '"$0" -n 100; : > idle; read x < go; "$0" -n 100', CALLS],
                             env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            wait_until('the command waits', lambda: os.path.exists('idle'))
            early(lambda: perfdata.File('x.data').check())
        finally:
            with open('go', 'w') as go:
                go.write('\n')
            os.unlink('idle')
            same(p.wait(timeout=600), 0)
        f = perfdata.File('x.data')
        same(calls(f), 200, '%r: calls' % (options,))
        return f

    def nothing(events):
        time.sleep(1.5)  # without the option they are written within a second
        same(events(), 0, 'events in the file')
    recorded(lambda events: wait_until('all are in the file', lambda: events() == 101))
    f = recorded(nothing, '--mmap-flush', '64K')
    rounds = sum(kind == perfdata.ROUND for kind, misc, at, size in f.records())
    same(rounds, 1, 'FINISHED_ROUND: only after a pass over all buffers')
    # At most a quarter of the buffer, as in perf.
    recorded(lambda events: wait_until('a quarter is full', events), '--mmap-flush', '1G', '-m',
             '4')
    same(sonde('record', '-q', '--mmap-flush', '4096', '-e', CALL, '-o', 'y.data', '--',
               'true').returncode, 0)
    for bad in ('x', '-1', ''):
        same(sonde('record', '-q', '--mmap-flush', bad, '-e', CALL, '-o', 'y.data', '--',
                   'true').returncode, 2, bad)


@case('--no-buffering: each event wakes the recorder; the attrs are perf\'s')
def _():
    texts = []
    for tool in (SONDE, perf()):
        r = sh(tool, 'record', '-q', '--no-buffering', '-e', 'cs,' + CALL, '-o', 'x.data', '--',
               'true')
        same(r.returncode, 0, r.stderr)
        texts.append([line for line in sh(perf(), 'evlist', '-v', '-i',
                                          'x.data').stdout.splitlines() if line[:1] != '#'])
    need('{ wakeup_events, wakeup_watermark }: 1' in texts[0][0], texts[0])
    same(texts[0], [re.sub(r'\|ID\b', '|IDENTIFIER', line) for line in texts[1]], 'attrs')
    # On a busy machine several events may occur before the recorder runs.
    for attempt in range(5):
        woken = []
        for options in ((), ('--no-buffering',)):
            r = sonde('record', *options, '-e', CALL, '-o', 'x.data', '--', 'sh', '-c',
                      'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" -n 1; sleep 0.05; done', CALLS)
            same(r.returncode, 0, r.stderr)
            woken.append(int(re.search(r'Woken up (\d+) times', r.stderr).group(1)))
            same(calls(perfdata.File('x.data')), 10, 'events')
        print('# woken: %d times; with each event: %d' % tuple(woken))
        if woken[1] >= woken[0] + 4:
            break
    else:
        need(False, 'woken: %r' % woken)


run()
