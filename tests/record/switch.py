# SPDX-License-Identifier: MIT
"""A recording in several files: each is a complete recording, and together they have every event
once.
"""
import glob
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import perfdata
from tap import (PERF_ENV, SONDE, Skip, case, few_symbols, is_recording, need, perf,
                 reported_samples, run, same, says_full, sh, small_disk, sonde, wait_until)

CALLS = 60000
# getpriority(PRIO_PROCESS, i): the number of each call is in its event
WORK = ('import ctypes, time\n'
        'call = ctypes.CDLL(None).getpriority\n'
        'for i in range(%d):\n'
        '    call(0, i)\n'
        '    if i %% 2000 == 0: time.sleep(.02)\n' % CALLS)
CALL = 'syscalls:sys_enter_getpriority'
NAME = re.compile(r'x\.data\.\d{16}$')


def parts():
    names = sorted(glob.glob('x.data.*'))
    need(all(NAME.match(n) for n in names), 'names: %r' % names)
    return names


def numbers_of(f):
    """The numbers of the calls in the order of time: a program that moves to another cpu writes
    into another buffer.
    """
    return [number for t, number in sorted((t, struct.unpack_from('<Q', raw, 24)[0])
                                           for attr, pid, tid, t, raw in f.samples())]


def calls_of(path):
    """The numbers of the calls in a file, after checks that it is a complete recording."""
    f = perfdata.File(path)
    need(f.finished and {1, 2, 3, 12, 21} <= set(f.features),
         '%s: features %r' % (path, sorted(f.features)))
    f.check()
    kinds = [k for k, *_ in f.records()]
    need(perfdata.COMM in kinds[:kinds.index(perfdata.INIT)],
         '%s has no names of running tasks' % path)
    return numbers_of(f)


def reported_lost(path):
    f = perfdata.File(path)
    return sum(struct.unpack_from('<Q', f.data, p + 8)[0] for k, m, p, s in f.records()
               if k == perfdata.LOST_SAMPLES)


def read_by_both(path):
    """Checks that both tools print the same text of a file, and that each task in it has a name."""
    ours = sonde('--compat', 'perf-6.1', 'script', '-i', path)
    same((ours.returncode, ours.stderr), (0, ''), path)
    need(not re.search(r'^ *:\d+ ', ours.stdout, re.M),
         '%s: a task without a name: %s' % (path, ours.stdout[:300]))
    theirs = sh(perf(), 'script', '-i', path)
    same((theirs.returncode, theirs.stderr), (0, ''), path)
    same(ours.stdout.splitlines(), theirs.stdout.splitlines(), path)


def record_calls(*options, asks=0, least=3):
    # The command continues, without calls, until the file was switched `asks` times.
    work = WORK + 'import glob\nwhile len(glob.glob("x.data.*")) < %d: time.sleep(.02)\n' % asks
    p = subprocess.Popen([SONDE, 'record', '-o', 'x.data', '-e', CALL, *options, '--', 'python3',
                          '-c', work], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if asks:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
    for i in range(asks):
        before = len(parts())
        wait_until('the file is switched', lambda: len(parts()) > before or p.poll() is not None or
                   p.send_signal(signal.SIGUSR2))
    err = p.communicate(timeout=600)[1]
    same(p.returncode, 0, err)
    need(not os.path.exists('x.data'), 'x.data is left')
    names = parts()
    need(len(names) >= least, 'only %d files: %s' % (len(names), err))
    for name in names:
        need('Dump ' + name in err, name + ' is not reported: ' + err)
    numbers = [n for name in names for n in calls_of(name)]
    lost = sum(map(reported_lost, names))
    same(len(numbers) + lost, CALLS, 'calls')
    same(len(set(numbers)), len(numbers), 'calls, each once')
    same(reported_samples(err), len(numbers), 'samples in the summary')
    return names


def clear():
    for name in glob.glob('x.data*'):
        os.unlink(name)


@case('files by signal, size and time hold every call once')
def _():
    names = record_calls('--switch-output', asks=4, least=4)
    read_by_both(names[1])
    clear()
    names = record_calls('--switch-output=1M')
    read_by_both(names[-1])
    need(max(map(os.path.getsize, names)) < 4 << 20,
         'sizes: %r' % [os.path.getsize(n) for n in names])
    clear()
    record_calls('--switch-output=1s', least=1)


@case('--switch-output-event: the event begins a new file, and is in no file')
def _():
    work = ('import glob, os, sys, time\nsys.stdin.readline()\n'
            'for i in range(3):\n    time.sleep(.1)\n    os.sched_yield()\n'
            '    while len(glob.glob("x.data.*")) <= i: time.sleep(.02)\n')
    # With a command, events of every process count; with -p, those of this process only.
    for with_pid in (False, True):
        worker = (subprocess.Popen(['python3', '-c', work], stdin=subprocess.PIPE) if with_pid
                  else None)
        target = ['-p', str(worker.pid)] if with_pid else ['--', 'python3', '-c', work]
        p = subprocess.Popen([SONDE, 'record', '-o', 'x.data', '-e', CALL, '-e',
                              'sched:sched_switch', '--switch-output-event',
                              'syscalls:sys_enter_sched_yield', *target], env=PERF_ENV,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            if with_pid:
                wait_until('it records', lambda: is_recording(p, 'x.data'))
                worker.communicate(b'\n', timeout=600)
            err = p.communicate(timeout=600)[1]
        finally:
            for started in filter(None, (p, worker)):
                started.kill()
                started.wait()
        same(p.returncode, 0, err)
        need(len(parts()) == 4 or len(parts()) > 4 and not with_pid, err)
        for name in parts():
            same(perfdata.File(name).names()[:2], [CALL, 'sched:sched_switch'], name)
            read_by_both(name)
        clear()


@case('--switch-output-event with a clock: it ends a file once a second, not at each of its '
      'samples')
def _():
    work = 'import glob, time\nend = time.monotonic() + 2.4\n' \
           'while time.monotonic() < end or not glob.glob("x.data.*"): pass\n'
    begin = time.monotonic()
    r = sonde('record', '-o', 'x.data', '-e', CALL, '--switch-output-event', 'cpu-clock', '--',
              'python3', '-c', work)
    same(r.returncode, 0, r.stderr)
    seconds = time.monotonic() - begin
    # On each cpu that is busy.
    need(2 <= len(parts()) <= 2 + 2 * seconds, '%.1f s: %s' % (seconds, r.stderr))


@case('processes that start and end while files are switched have their names in each file')
def _():
    work = ('i=0; while [ $i -lt 300 ]; do i=$((i+1)); sleep .05 & [ $((i % 5)) = 0 ] && sleep '
            '.01; done; wait')
    for target in ((), ('-a',)):
        p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', '-e',
                              'sched:sched_process_exit,sched:sched_process_fork',
                              '--switch-output', *target, '--', 'sh', '-c', work], env=PERF_ENV,
                             stdin=subprocess.DEVNULL)
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        while p.poll() is None:
            p.send_signal(signal.SIGUSR2)
            time.sleep(.05)
        same(p.returncode, 0)
        need(len(parts()) >= 3, 'files: %r' % parts())
        for name in parts():
            read_by_both(name)
        clear()


@case('--switch-max-files keeps the last ones')
def _():
    r = sonde('record', '-o', 'x.data', '-e', CALL, '--switch-output=256K', '--switch-max-files',
              '2', '--', 'python3', '-c', WORK)
    same(r.returncode, 0, r.stderr)
    same(parts(), re.findall(r'Dump (\S+)', r.stderr)[-2:], 'files')
    need(r.stderr.count('Dump') > 3, r.stderr)
    # The last file may begin after the last call.
    same([n for name in parts() for n in calls_of(name)][-1], CALLS - 1, 'the last call')


@case('--timestamp-filename; the previous file is kept as .old; mode and owner')
def _():
    with open('x.data', 'w') as f:
        f.write('before')
    os.umask(0)
    r = sonde('record', '-o', 'x.data', '-e', 'sched:sched_process_exec', '--timestamp-filename',
              '--', 'true', env=dict(PERF_ENV, SUDO_UID='65534', SUDO_GID='12'))
    os.umask(0o22)
    same(r.returncode, 0, r.stderr)
    same(open('x.data.old').read(), 'before')
    os.unlink('x.data.old')
    (name,) = parts()
    need(name.startswith('x.data.' + time.strftime('%Y', time.gmtime())), name)
    need('x.data.<timestamp>' in r.stderr and 'Dump ' + name in r.stderr, r.stderr)
    st = os.stat(name)
    same((st.st_mode & 0o777, st.st_uid, st.st_gid), (0o600, 65534, 12))
    os.chown(name, 0, 0)
    read_by_both(name)


@case('SIGINT and SIGTERM in the middle of switching')
def _():
    for signo in (signal.SIGINT, signal.SIGTERM):
        for delay in (0, .01, .03):
            p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', '-e', 'sched:sched_switch',
                                  '-a', '--switch-output'],
                                 env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_until('it records', lambda: is_recording(p, 'x.data'))
            time.sleep(.1)
            p.send_signal(signal.SIGUSR2)
            time.sleep(delay)
            p.send_signal(signo)
            same((p.wait(timeout=600), p.stderr.read()), (0, b''))
            p.stderr.close()
            for name in parts():
                f = perfdata.File(name)
                need(f.finished, name + ' is not finished')
                f.check()
            clear()


@case('the build id cache is filled only if an option requests it; each file has the build ids')
def _():
    for options, filled in (([], False), (['--no-no-buildid-cache'], True)):
        r = sonde('record', '-q', '-o', 'x.data', '-e', 'cpu-clock', '--switch-output',
                  '--buildid-dir', os.getcwd() + '/cache', *options, '--', 'sh', '-c',
                  'kill -USR2 $PPID; sleep .2; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done')
        same(r.returncode, 0, r.stderr)
        same(os.path.exists('cache'), filled, 'the cache')
        need(all(2 in perfdata.File(name).features for name in parts()), 'build ids')
        clear()


@case('SIGUSR2 without --switch-output does nothing')
def _():
    os.mkfifo('go')
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', '-e', 'cs', '--', 'sh', '-c',
                          'read x < go; sleep .2'], env=PERF_ENV,
                         stdin=subprocess.DEVNULL)
    wait_until('it records', lambda: is_recording(p, 'x.data'))
    p.send_signal(signal.SIGUSR2)
    with open('go', 'w') as go:
        go.write('\n')
    same(p.wait(timeout=600), 0)
    same(sorted(os.listdir()), ['go', 'x.data'])


@case('no room for a second file: the recording continues in the first, and a line says so')
def _():
    with small_disk('nr_inodes=2'):
        r = sonde('record', '-o', 'small/x.data', '-e', CALL, '--switch-output=256K', '--',
                  'python3', '-c', WORK)
        shutil.copy(glob.glob('small/x.data*')[0], 'x.data')
    same(r.returncode, 0, r.stderr)
    need('no new file was begun' in r.stderr and 'continues in small/x.data' in r.stderr, r.stderr)
    numbers = calls_of('x.data')
    same(len(set(numbers)) + reported_lost('x.data'), CALLS)
    same(len(numbers), len(set(numbers)))
    theirs = sh(perf(), 'script', '-i', 'x.data')
    same((theirs.returncode, theirs.stdout.count('\n')), (0, len(numbers)), theirs.stderr)


@case('a directory without the right to write: the recording continues in the first file')
def _():
    setpriv = shutil.which('setpriv')
    if not setpriv:
        raise Skip('no setpriv')
    os.mkdir('dir')
    os.chmod('dir', 0o777)
    p = subprocess.Popen([SONDE, 'record', '-o', 'dir/x.data', '-e', 'cpu-clock', '--switch-output',
                          '--aio', '-p', str(os.getpid())],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until('it records', lambda: is_recording(p, 'dir/x.data'))
    if (sh('mount', '--bind', '-o', 'ro', 'dir', 'dir').returncode or
        sh('mount', '-o', 'remount,ro,bind', 'dir').returncode):
        p.kill()
        p.wait()
        raise Skip('no right to mount')
    threads = os.listdir('/proc/%d/task' % p.pid)
    try:
        p.send_signal(signal.SIGUSR2)
        wait_until('another thread writes',
                   lambda: len(os.listdir('/proc/%d/task' % p.pid)) == len(threads) and
                   os.listdir('/proc/%d/task' % p.pid) != threads)
        after = os.listdir('/proc/%d/task' % p.pid)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=600)[1]
    finally:
        sh('umount', 'dir')
    same((len(after), after == threads), (len(threads), False),
         'threads: the writer was ended and started again')
    # The path leads to the read-only mount; the file itself is open for writing.
    need('no new file was begun' in err and 'Read-only' in err, err)
    perfdata.File('dir/x.data').check()


@case('a disk that is full in the second file: the events before are kept')
def _():
    with small_disk('size=3m'):
        r = sonde('record', '-o', 'small/x.data', '-e', CALL, '--switch-output=1M', '--', 'python3',
                  '-c', WORK)
        names = sorted(glob.glob('small/x.data*'))
        shutil.copytree('small', 'copy')
    reported = says_full(r)
    need(len(names) >= 2, r.stderr)
    numbers = []
    for name in sorted(os.listdir('copy')):
        f = perfdata.File('copy/' + name)
        need(f.finished, name + ' is not finished')
        numbers += numbers_of(f)
    need(len(numbers) == len(set(numbers)) > 10000, 'calls')
    same(reported, len(numbers), 'samples in the summary')


@case('--max-size ends the recording, and the command')
def _():
    r = sonde('record', '-o', 'x.data', '-e', CALL, '--max-size', '1M', '-m', '1M', '--', 'python3',
              '-c', WORK)
    need(r.returncode == 143 and 'as large as it may get' in r.stderr,
         '%d %s' % (r.returncode, r.stderr))
    need(1 << 20 <= os.path.getsize('x.data') < 4 << 20, '%d bytes' % os.path.getsize('x.data'))
    numbers, lost = calls_of('x.data'), reported_lost('x.data')
    need(0 < len(numbers) < CALLS and (lost or numbers == list(range(len(numbers)))), 'calls')
    need(numbers == sorted(set(numbers)), 'calls, each once')


@case('values and combinations without a sense are refused by name')
def _():
    for argv, says in ((['--switch-output', '-o', '-'], '--switch-output needs a file'),
                       (['--timestamp-filename', '-o', '-'], '--timestamp-filename needs a file'),
                       (['--switch-output-event', 'cs', '-o', '-'],
                        '--switch-output-event needs a file'),
                       (['--switch-output=x'], '--switch-output needs'),
                       (['--switch-output=10'], '--switch-output needs'),
                       (['--switch-output=0s'], '--switch-output needs'),
                       (['--max-size', '10'], '--max-size needs a size'),
                       (['--switch-output-event', 'no:such'], 'no:such'),
                       (['--switch-max-files', 'x'], '--switch-max-files needs a number')):
        r = sonde('record', '-e', 'cs', '-o', 'x.data', *argv, '--', 'touch', 'ran')
        need(r.returncode == 2 and says in r.stderr, '%r: %d %s' % (argv, r.returncode, r.stderr))
    r = sonde('record', '-e', 'cs', '--switch-output', '--threads', '-o', 'x.data', '--', 'true')
    need(r.returncode == 0 and '--switch-output is left out' in r.stderr, r.stderr)
    same(os.listdir(), ['x.data'], 'files')
    shutil.rmtree('x.data')
    r = sonde('record', '-e', 'cs', '--switch-output', '-o', '/dev/null', '--', 'touch', 'ran')
    need(r.returncode == 1 and '/dev/null' in r.stderr, r.stderr)
    same(os.listdir(), [], 'files')


few_symbols()
run()
