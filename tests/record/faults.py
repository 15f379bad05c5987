# SPDX-License-Identifier: MIT
"""Failures while recording: each gives an exit status and one reported cause, and leaves a complete
file or none.

Killed recorders are in kill.py, full disks in full.py, the begin and end of recordings in ends.py.
The second argument is the program of calls.c. tests/soak runs this file many times.
"""
import fcntl
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

import perfdata
from tap import (PERF_ENV, SONDE, Skip, case, is_recording, need, run, same, says_full, sh,
                 small_disk, sonde, wait_until)

CALLS = os.path.abspath(sys.argv[2])
CALL = 'syscalls:sys_enter_getppid'
# Statuses of a recorder that ends by itself. A signal or a sanitizer gives another one.
CLEAN = (0, 1, 2)
CLOSED = 'the reader of the recording has closed its pipe'


def readable(path):
    """The number of samples, after checks that the file is complete and sonde script prints a line
    for each.
    """
    f = perfdata.File(path)
    need(f.finished, 'the file is not finished')
    n = f.check()
    r = sonde('script', '-i', path, '-F', 'event')
    same((r.returncode, r.stdout.count('\n')), (0, n), 'lines of sonde script (%s)' % r.stderr)
    return n


def clean(status, reported, path='x.data'):
    """Checks that a recorder that worked left a complete file, and that any other gave a cause and
    left none.
    """
    need(status in CLEAN, 'status %d: %s' % (status, reported))
    if status == 0:
        return readable(path)
    need(reported.startswith('sonde: ') and len(reported.strip()) > 15,
         'no cause is given: %r' % reported)
    need(not os.path.exists(path), 'a file was left: ' + reported)
    return 0


def start(*options, **kw):
    """Starts a recorder, and returns when it waits for events."""
    p = subprocess.Popen([SONDE, 'record', '-o', 'x.data', *options], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, **kw)
    try:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
    except BaseException:
        p.kill()
        raise
    return p


def end(p, status=0):
    reported = p.communicate(timeout=600)[1]
    same(p.returncode, status, reported)
    return reported


@case('a command that cannot be run, found only when it is executed')
def _():
    with open('bad', 'w') as f:
        f.write('#!/no/such/interpreter\n')
    os.chmod('bad', 0o755)
    r = sonde('record', '-o', 'x.data', '-e', CALL, '--', './bad')
    same(r.returncode, 126, r.stderr)
    need('cannot run' in r.stderr and not os.path.exists('x.data'), r.stderr)


@case('a process that has ended is refused; the recording ends with the last of its processes')
def _():
    gone = subprocess.Popen(['true'])
    gone.wait()
    r = sonde('record', '-o', 'x.data', '-e', CALL, '-p', str(gone.pid))
    need(r.returncode == 1 and 'no process %d' % gone.pid in r.stderr, r.stderr)
    need(not os.path.exists('x.data'), 'a file was left')
    first, second = subprocess.Popen(['sleep', '600']), subprocess.Popen(['sleep', '600'])
    try:
        p = start('-q', '-e', 'sched:sched_process_exit', '-p', '%d,%d' % (first.pid, second.pid))
        first.kill()
        first.wait()
        time.sleep(0.2)
        same(p.poll(), None, 'status while the other process runs')
        second.kill()
        second.wait()
        same(end(p), '')
        same(readable('x.data'), 2, 'exits')
    finally:
        first.kill()
        second.kill()


@case('processes that end while the recorder opens them')
def _():
    short = subprocess.Popen(['sh', '-c', 'while :; do /bin/true & /bin/true; done'],
                             start_new_session=True, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        for options in (['-a'], ['-p', str(short.pid)]):
            r = sonde('record', '-q', '-o', 'x.data', '-e', CALL, *options, '--', 'sleep', '0.1')
            same((r.returncode, r.stderr), (0, ''), '%r' % options)
            readable('x.data')
    finally:
        os.killpg(short.pid, signal.SIGKILL)
        short.wait()


@case('a cpu that does not exist is named')
def _():
    for cpus in ('4095', '0,4095', '0-4095'):
        r = sonde('record', '-o', 'x.data', '-e', 'cs', '-C', cpus, '--', 'true')
        need(r.returncode in (1, 2) and re.search(r'cpu \d+\b', r.stderr), r.stderr)
        need(not os.path.exists('x.data'), 'a file was left')


@case('too few descriptors are reported, however few')
def _():
    if sh('setpriv', '--bounding-set', '-sys_resource', 'true').returncode:
        raise Skip('no setpriv')
    worked = []
    for most in (4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 28, 40):
        r = sh('setpriv', '--bounding-set', '-sys_resource', 'prlimit',
               '--nofile=%d:%d' % (most, most), SONDE, 'record', '-q', '-o', 'x.data', '-e', CALL,
               '-e', 'sched:sched_switch', '--', CALLS, '-n', '10')
        if r.returncode == 127 and 'shared libraries' in r.stderr:
            continue  # the loader has failed before sonde runs
        clean(r.returncode, r.stderr)
        worked.append(r.returncode == 0)
        if r.returncode:
            need(re.search('descriptors|Too many open files', r.stderr), 'the cause: ' + r.stderr)
        else:
            os.unlink('x.data')
    need(worked[-1] and not worked[0], 'with some it worked: %r' % worked)


@case('a limit of memory is reported, or the recording is complete')
def _():
    if os.environ.get('SONDE_ASAN') == '1':
        raise Skip('a sanitizer needs all of the address space')
    worked = []
    for mib in (8, 10, 12, 14, 16, 18, 20, 24, 32, 48, 128):
        r = sh('prlimit', '--as=%d' % (mib << 20), SONDE, 'record', '-q', '-o', 'x.data', '-e',
               CALL, '-e', 'sched:*', '-g', '--', 'sh', '-c', 'exit 0')
        if r.returncode == 127 and 'shared' in r.stderr:
            continue
        clean(r.returncode, r.stderr)
        worked.append(r.returncode == 0)
        if r.returncode == 0:
            os.unlink('x.data')
    need(worked and worked[-1], 'nothing worked: %r' % worked)


@case('without standard input, output and error the recording is complete, and has no other '
      'output in it')
def _():
    for close in ('<&-', '<&- >&-', '<&- >&- 2>&-'):
        r = sh('sh', '-c', 'exec "$0" record -q -o x.data -e %s -- "$1" -n 10 %s' % (CALL, close),
               SONDE, CALLS)
        same(r.returncode, 0, close + r.stderr)
        same(readable('x.data'), 10, close)
        os.unlink('x.data')


def seen_and_lost(path):
    """(samples, reported losses) of the calls."""
    f = perfdata.File(path)
    f.check()
    attr = f.attrs[f.names().index(CALL)]
    lost = sum(struct.unpack_from('<Q', f.data, at + 8)[0] for kind, misc, at, size in f.records()
               if kind == perfdata.LOST_SAMPLES and
               f.by_id.get(struct.unpack_from('<Q', f.data, at + size - 8)[0]) is attr)
    return sum(a is attr for a, pid, tid, t, raw in f.samples()), lost


@case('a recorder that is stopped and continued: events that did not fit meanwhile are reported '
      'as lost')
def _():
    work = subprocess.Popen([CALLS, '-w', '-n', '100000'], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    try:
        same(work.stdout.readline(), 'ready\n')
        p = start('-m', '8', '-e', 'dummy', '-e', CALL, '-p', str(work.pid))
        p.send_signal(signal.SIGSTOP)
        wait_until('it is stopped', lambda: open('/proc/%d/stat' %
                                                 p.pid).read().rpartition(')')[2].split()[0] == 'T')
        work.stdin.write('\n')
        work.stdin.close()
        n = int(work.stdout.read())
        p.send_signal(signal.SIGCONT)
        reported = end(p)
        seen, lost = seen_and_lost('x.data')
        # Records of state may be lost, too.
        need(0 < lost <= int(re.search(r'(\d+) events were lost', reported).group(1)),
             '%d lost: %s' % (lost, reported))
        same(seen + lost, n, 'seen and reported lost, and calls')
        readable('x.data')
    finally:
        work.kill()
        work.wait()


@case("a terminal's Ctrl-Z and Ctrl-C reach command and recorder: the file is complete")
def _():
    p = start('-q', '-e', 'sched:sched_switch', '--', 'sh', '-c',
              'while :; do sleep 0.01; : > ran; done', start_new_session=True)
    try:
        wait_until('it has slept', lambda: os.path.exists('ran'))
        for signo in (signal.SIGTSTP, signal.SIGCONT):
            os.killpg(p.pid, signo)
            time.sleep(0.1)
        os.killpg(p.pid, signal.SIGINT)
        reported = p.communicate(timeout=600)[1]
        # The command gets SIGINT from the terminal and SIGTERM from the recorder, in either order.
        need(p.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM) and not reported,
             'status %d: %s' % (p.returncode, reported))
        need(readable('x.data') > 0, 'nothing was recorded')
    finally:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)


@case('a reader that closes its end, at once or within a record')
def _():
    for took in (0, 1, 17, 4096, 70000):
        p = subprocess.Popen([SONDE, 'record', '-o', '-', '-e', 'raw_syscalls:*', '--', CALLS, '-n',
                              '30000'], env=PERF_ENV,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, bufsize=0)
        left = took
        while left:
            got = p.stdout.read(left)
            need(got, 'it ended before %d bytes' % took)
            left -= len(got)
        p.stdout.close()
        reported = p.communicate(timeout=600)[1].decode()
        same(p.returncode, 0, '%d bytes taken: %s' % (took, reported))
        need(CLOSED in reported, '%d bytes taken: %s' % (took, reported))


def through_pipe(*argv, **kw):
    return subprocess.Popen([SONDE, 'record', '-o', '-', *argv], env=PERF_ENV,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, bufsize=0, **kw)


def is_full(pipe):
    """Whether nothing can be written to it.

    Its size is not known here: the recorder enlarges its standard output.
    """
    end = os.open('/proc/self/fd/%d' % pipe.fileno(), os.O_WRONLY | os.O_NONBLOCK)
    try:
        return not select.select([], [end], [], 0)[1]
    finally:
        os.close(end)


def ended_behind_pipe(*options, first='', calls=200000):
    """
    A recorder that has more to write than the pipe holds, after its command has ended and before
    anything is read. The command begins with `first`.
    """
    for name in ('done', 'full'):
        if os.path.exists(name):
            os.unlink(name)
    command = first + 'until [ -e full ]; do "$0" -n %d; done; : > done' % calls
    p = through_pipe(*options, '--', 'sh', '-c', command, CALLS)
    wait_until('the pipe is full', lambda: is_full(p.stdout), 100)
    open('full', 'w').close()
    wait_until('the command has ended', lambda: os.path.exists('done'), 100)
    time.sleep(0.3)
    same(p.poll(), None, 'it did not wait for its reader')
    return p


@case('a reader that closes its end when the command has ended')
def _():
    for options, calls in (((), 200000), (('-z',), 800000), (('-B',), 200000)):
        p = ended_behind_pipe(*options, '-e', 'raw_syscalls:*', calls=calls)
        same(len(p.stdout.read(4096)), 4096, 'bytes read')
        p.stdout.close()
        reported = p.communicate(timeout=600)[1].decode()
        same((p.returncode, reported.count(CLOSED)), (0, 1), '%r: %s' % (options, reported))
        need('could not be' not in reported and ' continues' not in reported, reported)


@case('losses are reported and --fail-on-loss has its effect also after the reader has closed its '
      'end')
def _():
    # While the recorder is stopped, its buffers have room for a thousand calls on each cpu.
    p = ended_behind_pipe('--fail-on-loss', '-m', '16', '-e', CALL,
                          first='kill -STOP $PPID; "$0" -n 200000; kill -CONT $PPID; ')
    p.stdout.close()
    reported = p.communicate(timeout=600)[1].decode()
    need(CLOSED in reported and re.search('[1-9][0-9]* events were lost', reported), reported)
    same(p.returncode, 3, 'status: ' + reported)


@case('a reader that stops reading: a second signal drops the events that it has not read')
def _():
    # More than a pipe holds, also if compressed.
    for options, calls in (((), 200000), (('-z',), 800000)):
        p = ended_behind_pipe('--fail-on-loss', *options, '-e', 'raw_syscalls:*', calls=calls)
        p.send_signal(signal.SIGINT)
        time.sleep(0.5)
        same(p.poll(), None, 'the first signal waits for the reader')
        p.send_signal(signal.SIGINT)
        p.wait(timeout=600)  # before anything is read
        reported = p.communicate()[1].decode()
        need('has stopped reading' in reported and
             re.search('[1-9][0-9]* events were recorded, but could not be written', reported),
             reported)
        same(p.returncode, 3, 'status: ' + reported)


def before_full_pipe():
    """A recorder that cannot write its first byte because the pipe is full, and the reading end of
    the pipe.
    """
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.set_blocking(writer, False)
    while True:
        try:
            os.write(writer, bytes(1 << 20))
        except BlockingIOError:
            break
    os.set_blocking(writer, True)
    p = subprocess.Popen([SONDE, 'record', '-o', '-', '-e', CALL, '--', 'touch', 'ran'],
                         env=PERF_ENV, stdout=writer, stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, start_new_session=True)
    os.close(writer)
    wait_until('it waits for its reader', lambda: 'poll' in open('/proc/%d/wchan' % p.pid).read())
    time.sleep(0.2)
    same(os.path.exists('ran'), False, 'whether the command ran')
    return p, reader


@case('a reader that reads nothing from the start: a second signal ends the recorder')
def _():
    p, reader = before_full_pipe()
    p.send_signal(signal.SIGINT)
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=600)
    same((p.returncode, os.path.exists('ran')), (-signal.SIGINT, False),
         'status, and whether the command ran')
    os.close(reader)


@case('a signal to the process group before the command is executed: the command runs')
def _():
    p, reader = before_full_pipe()
    os.killpg(p.pid, signal.SIGUSR2)
    time.sleep(0.2)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)
    reported = p.communicate(timeout=600)[1].decode()
    same((p.returncode, os.path.exists('ran')), (0, True), 'status, and whether the command ran: ' +
         reported)


@case('a command that kills its recorder: the events that were written are read')
def _():
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', '-e', CALL, '-m', '8', '--', 'sh',
                          '-c', 's=$(stat -c %s x.data); "$0" -n 5000; while [ $(stat -c %s '
                                'x.data) -lt $((s + 8000)) ]; do '
                          'sleep 0.1; done; kill -9 $PPID', CALLS], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    p.communicate(timeout=600)
    same(p.returncode, -signal.SIGKILL)
    f = perfdata.File('x.data')
    need(not f.finished and f.check() > 0, 'nothing can be read')
    r = sonde('script', '-i', 'x.data')
    same((r.returncode, r.stdout.count('\n')), (0, f.check()), r.stderr)


@case('an output file that is removed while it is written')
def _():
    os.mkdir('there')
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'there/x.data', '-e', CALL, '--', 'sh', '-c',
                          'rm -rf there; "$0" -n 1000', CALLS], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    same(p.communicate(timeout=600)[1], '', 'stderr')
    same(p.returncode, 0, 'status')


@case('a disk that fills up while a recording is written')
def _():
    with small_disk('size=600k'):
        r = sonde('record', '-o', 'small/x.data', '-e', 'raw_syscalls:*', '--', CALLS, '-n',
                  '20000')
        says_full(r)
        shutil.copy('small/x.data', 'x.data')
    need(readable('x.data') > 100, 'nothing was kept')


run()
