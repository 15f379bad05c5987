# SPDX-License-Identifier: MIT
"""Exact counts: samples in the file and reported losses add up to the calls of a program (calls.c,
the second argument).
"""
import os
import shutil
import struct
import subprocess
import sys

import perfdata
from tap import PERF_ENV, SONDE, case, few_symbols, is_recording, need, run, same, sonde, wait_until

CALLS = os.path.abspath(sys.argv[2])
CALL = 'syscalls:sys_enter_getppid'
# The event also carries the records of state; the losses of these are not counted as lost calls.
EVENTS = ('-e', CALL)
MANY = '20000'  # calls of each of four threads: more than buffers of one page hold
TINY, NORMAL = ('-m', '1'), ('-m', '1024')


def counted(path):
    """(samples, reported losses) of the calls, and {tid: samples}."""
    f = perfdata.File(path)
    f.check()
    need(f.finished, 'the file is not finished')
    wanted = [i for i, name in enumerate(f.names()) if name == CALL]
    same(len(wanted), 1, 'events of the name')
    attr, threads, lost = f.attrs[wanted[0]], {}, 0
    for a, pid, tid, t, raw in f.samples():
        if a is attr:
            threads[tid] = threads.get(tid, 0) + 1
    for kind, misc, at, size in f.records():
        if (kind == perfdata.LOST_SAMPLES and
            f.by_id.get(struct.unpack_from('<Q', f.data, at + size - 8)[0]) is attr):
            lost += struct.unpack_from('<Q', f.data, at + 8)[0]
    return sum(threads.values()), lost, threads


def says_all(path, n, what, may_lose=True):
    """Checks that each of n calls is in the file or reported as lost; returns {tid: samples}."""
    seen, lost, threads = counted(path)
    print('# %s: %d seen, %d reported lost of %d' % (what, seen, lost, n))
    same(seen + lost, n, '%s: %d seen and %d reported lost; together and the calls made' %
         (what, seen, lost))
    need(may_lose or not lost, '%s: %d were lost' % (what, lost))
    return threads


def recorded(options, *calls):
    r = sonde('record', '-o', 'x.data', *EVENTS, *options, '--', CALLS, *calls, timeout=600)
    same(r.returncode, 0, r.stderr)
    return int(r.stdout)


@case('a buffer per cpu: threads of a command')
def _():
    for what, options in (('one page', TINY), ('1024 pages', NORMAL), ('default', ())):
        n = recorded(options, '-t', '4', '-n', MANY)
        same(n, 4 * int(MANY))
        says_all('x.data', n, what)
    # These fit into the buffers: nothing may be lost, and each thread has all its calls.
    threads = says_all('x.data', recorded(NORMAL, '-t', '4', '-n', '2000'), 'few', may_lose=False)
    same(sorted(threads.values()), [2000] * 4, 'calls of each thread')


@case('without the children of the command: its first thread only')
def _():
    for what, options in (('one page', TINY), ('1024 pages', NORMAL)):
        recorded(('-i', *options), '-t', '3', '-n', '20000', '-f', '10', '-c', '100')
        says_all('x.data', 20000, what)


@case('inherited by 10000 forks')
def _():
    for what, options in (('one page', TINY), ('1024 pages', NORMAL)):
        n = recorded(options, '-n', '0', '-f', '10000', '-c', '2')
        same(n, 20000)
        threads = says_all('x.data', n, what)
        need(len(threads) > 1000, 'calls of %d children only' % len(threads))


def attached(options, threads, calls):
    """Attaches to a program that begins when the recorder is ready; returns the calls it made."""
    p = subprocess.Popen([CALLS, '-w', '-t', str(threads), '-n', str(calls)], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    r = None
    try:
        same(p.stdout.readline(), 'ready\n')
        if os.path.exists('x.data'):
            os.unlink('x.data')
        r = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', *EVENTS, *options, '-p',
                              str(p.pid)], env=PERF_ENV,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until('it records', lambda: is_recording(r, 'x.data'))
        p.stdin.write('\n')
        p.stdin.close()
        n = int(p.stdout.read())
        err = r.communicate(timeout=600)[1]
        same(r.returncode, 0, err)
        return n
    finally:
        p.kill()
        p.wait()
        if r and r.poll() is None:
            r.kill()
            r.wait()


@case('a running process with its threads, a buffer per cpu')
def _():
    for what, options in (('one page', TINY), ('1024 pages', NORMAL)):
        says_all('x.data', attached(options, 4, MANY), what)


@case('a running process with its threads, a buffer per thread')
def _():
    for what, options in (('one page', TINY), ('1024 pages', NORMAL)):
        says_all('x.data', attached(('--per-thread', *options), 4, MANY), what)
    threads = says_all('x.data', attached(('--per-thread', *NORMAL), 4, 2000), 'few',
                       may_lose=False)
    same(sorted(threads.values()), [2000] * 4, 'calls of each thread')


@case('a thread for each buffer: lost records of state are not counted as calls')
def _():
    for options in (TINY, NORMAL):
        shutil.rmtree('x.dir', ignore_errors=True)
        r = sonde('record', '--threads', '-o', 'x.dir', *EVENTS, *options, '--', CALLS, '-t', '4',
                  '-n', MANY, timeout=600)
        same(r.returncode, 0, r.stderr)
        seen = sonde('script', '-i', 'x.dir', '-F', 'event').stdout.count(CALL)
        lost = sum(struct.unpack_from('<Q', f.data, at + 8)[0]
                   for f in [perfdata.File('x.dir/data')]
                   for kind, misc, at, size in f.records() if kind == perfdata.LOST_SAMPLES)
        same(seen + lost, 4 * int(MANY),
             '%d seen and %d reported lost; together and the calls made' % (seen, lost))


@case('compressed: every call is a line of sonde script')
def _():
    n = recorded(('-z', *NORMAL), '-t', '4', '-n', '2000')
    r = sonde('script', '-i', 'x.data', '-F', 'event')
    same((r.returncode, r.stderr), (0, ''))
    same(r.stdout.count(CALL), n, 'lines')


few_symbols()
run()
