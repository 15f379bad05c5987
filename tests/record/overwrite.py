# SPDX-License-Identifier: MIT
"""--overwrite: the last events before the end or a signal, in order, with the names of tasks."""
import glob
import re
import signal
import struct
import subprocess

import perfdata
from tap import (PERF_ENV, SONDE, case, few_symbols, is_recording, need, perf, run, same, sh, sonde,
                 wait_until)

CALLS = 40000
CALL = 'syscalls:sys_enter_getpriority'
# getpriority(PRIO_PROCESS, i), on one cpu
WORK = ('import ctypes, os, time\n'
        'os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n'
        'call = ctypes.CDLL(None).getpriority\n'
        'for i in range(%d):\n'
        '    call(0, i)\n'
        '    if i %% 1000 == 0: time.sleep(.02)\n' % CALLS)
# Further calls until three files exist, so that each file gets some.
UNTIL_SWITCHED = WORK + ('import glob\n'
                         'while len(glob.glob("x.data.*")) < 3:\n'
                         '    i += 1\n'
                         '    call(0, i)\n'
                         '    time.sleep(.001)\n'
                         'open("last", "w").write(str(i))\n')


def calls_of(path):
    f = perfdata.File(path)
    need(f.finished, path + ' is not finished')
    f.check()
    return [struct.unpack_from('<Q', raw, 24)[0] for attr, pid, tid, t, raw in f.samples()
            if len(raw) >= 32]


def read_by_both(path):
    """A busy machine may fill a buffer while it is paused for a new file: that is reported."""
    ours = sonde('--compat', 'perf-6.1', 'script', '-i', path)
    need(ours.returncode == 0 and re.fullmatch('(sonde: lost-events: .*\n)?', ours.stderr),
         path + ': ' + ours.stderr)
    need(not re.search(r'^ *:\d+ ', ours.stdout, re.M), 'a task without a name: ' +
         ours.stdout[:300])
    theirs = sh(perf(), 'script', '-i', path)
    need(theirs.returncode == 0 and (not theirs.stderr or ours.stderr), path + theirs.stderr)
    same(ours.stdout.splitlines(), theirs.stdout.splitlines(), path)
    return ours.stdout


def in_a_row(numbers, what):
    need(numbers, what + ': no calls')
    same(numbers, list(range(numbers[0], numbers[-1] + 1)), what)


@case('the last calls, in the order in which they were made')
def _():
    for options in ((), ('-z',), ('-a',)):
        r = sonde('record', '-o', 'x.data', '--overwrite', '-m', '16', '-e', CALL, *options, '--',
                  'python3', '-c', WORK)
        same(r.returncode, 0, r.stderr)
        need(options == ('-z',) or 'samples' in r.stderr, r.stderr)
        if options != ('-z',):
            numbers = calls_of('x.data')
            in_a_row(numbers, 'calls')
            need(numbers[-1] == CALLS - 1 and 100 < len(numbers) < 5000, '%d calls' % len(numbers))
        text = read_by_both('x.data')
        need(text.count('\n') > 100, text)
    text = sh(perf(), 'evlist', '-v', '-i', 'x.data').stdout.splitlines()
    need('write_backward: 1' in text[0] and 'dummy' in text[1] and 'write_backward' not in text[1],
         text)


@case('each SIGUSR2 makes a file of the calls before it; no call is in two files')
def _():
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', '--overwrite', '--switch-output',
                          '-m', '16', '-e', CALL, '--', 'python3', '-c', UNTIL_SWITCHED],
                         env=PERF_ENV, stdin=subprocess.DEVNULL)
    wait_until('it records', lambda: is_recording(p, 'x.data'))
    for i in range(3):
        before = len(glob.glob('x.data.*'))
        wait_until('a new file exists', lambda: len(glob.glob('x.data.*')) > before or
                   p.poll() is not None or
                   p.send_signal(signal.SIGUSR2))
    same(p.wait(timeout=600), 0)
    names = sorted(glob.glob('x.data.*'))
    need(len(names) >= 3, 'files: %r' % names)
    seen = []
    for name in names:
        numbers = calls_of(name)
        if numbers:
            in_a_row(numbers, name)
            seen += numbers
        read_by_both(name)
    same(seen, sorted(set(seen)), 'calls of all files')
    with open('last') as f:
        same(seen[-1], int(f.read()), 'the last call')


@case('a process that started long before its last events has its name')
def _():
    # It is killed at the very end, when its earlier records have been overwritten.
    work = 'sleep 60 & i=0; while [ $i -lt 400 ]; do i=$((i+1)); /bin/true; done; kill $!; wait'
    r = sonde('record', '-q', '-o', 'x.data', '--overwrite', '-m', '16', '-e',
              'sched:sched_process_exit', '-e', 'sched:sched_switch', '--', 'bash', '-c', work)
    same(r.returncode, 0, r.stderr)
    text = read_by_both('x.data')
    need(re.search(r'sleep .*sched_process_exit', text), text[-500:])


@case('through a pipe')
def _():
    a = subprocess.Popen([SONDE, 'record', '-q', '-o', '-', '--overwrite', '-m', '16', '-e', CALL,
                          '--', 'python3', '-c', WORK],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    b = subprocess.run([SONDE, 'script', '-i', '-'], env=PERF_ENV, stdin=a.stdout,
                       capture_output=True, text=True, timeout=600)
    a.stdout.close()
    same((a.wait(), b.returncode), (0, 0), b.stderr)
    numbers = [int(n, 16) for n in re.findall(r'who: 0x([0-9a-f]+)', b.stdout)]
    in_a_row(numbers, 'calls')
    same(numbers[-1], CALLS - 1)


few_symbols()
run()
