# SPDX-License-Identifier: MIT
"""A recording through a pipe: sonde and perf at either end, without delay, and its end when the
reader closes the pipe.
"""
import os
import signal
import subprocess
import time

from tap import PERF_ENV, SCRIPT_ENV, SONDE, Skip, case, need, perf, run, same, sh

CALLS = 500
WORK = ['sh', '-c', 'i=0; while [ $i -lt %d ]; do i=$((i+1)); read x < /dev/null; done; echo done' %
        CALLS]
EVENTS = ['-e', 'syscalls:sys_enter_openat', '-e', 'sched:sched_process_exec']


def through(recorder, reader):
    """The reader's lines of the recording that it gets from the recorder, after checks of both."""
    a = subprocess.Popen(recorder + ['--'] + WORK, env=PERF_ENV, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    b = subprocess.run(reader, env=PERF_ENV, stdin=a.stdout, capture_output=True, text=True,
                       timeout=600)
    a.stdout.close()
    said = a.stderr.read().decode()
    a.stderr.close()
    same(a.wait(), 0, 'status of the recorder; stderr: ' + said)
    same(b.returncode, 0, 'status of the reader; stderr: ' + b.stderr)
    need('done' in said, "the command's output is not on standard error: " + said)
    lines = [line for line in b.stdout.splitlines() if '/dev/null' in line or
             'sys_enter_openat' in line]
    need(len(lines) >= CALLS, 'only %d lines: %s' % (len(lines), b.stderr))
    need('sched:sched_process_exec: filename=' in b.stdout, 'names of events and fields: ' +
         b.stdout[:500])
    return lines


@case('sonde record -o - | sonde script -i -')
def _():
    through([SONDE, 'record', '-q', '-o', '-', *EVENTS], [SONDE, 'script', '-i', '-'])


@case('sonde record with a pipe as its standard output, and no -o')
def _():
    through([SONDE, 'record', '-q', *EVENTS], [SONDE, 'script', '-i', '-'])
    need(not os.path.exists('perf.data'), 'a file was written')


@case('sonde record -o - | perf script -i -')
def _():
    through([SONDE, 'record', '-q', '-o', '-', *EVENTS], [perf(), 'script', '-i', '-'])


@case('perf record -o - | sonde script -i -')
def _():
    through([perf(), 'record', '-q', '-o', '-', *EVENTS], [SONDE, 'script', '-i', '-'])


@case('a stored pipe gives the text of the pipe, and that of perf')
def _():
    with open('p.data', 'wb') as f:
        subprocess.run([SONDE, 'record', '-q', '-g', '-o', '-', *EVENTS, '--', *WORK], env=PERF_ENV,
                       stdout=f, check=True, stderr=subprocess.DEVNULL)
    def text(*command, **kw):
        return subprocess.run(command, env=PERF_ENV, capture_output=True, check=True, timeout=600,
                              **kw).stdout
    stored = text(SONDE, '--compat', 'perf-6.1', 'script', '-i', 'p.data')
    with open('p.data', 'rb') as f:
        same(text('sh', '-c', 'cat | "$0" --compat perf-6.1 script -i -', SONDE, stdin=f), stored,
             'piped and stored')
    same(text(perf(), 'script', '-i', 'p.data'), stored, "perf's and ours")


def be_first():
    """Takes real-time priority, so that other tasks of a busy machine do not delay recorder and
    reader.
    """
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def worst_ms(rate, seconds):
    """The longest time from an event to the call of its handler."""
    work = ('import ctypes, time\n'
            'call = ctypes.CDLL(None).getpriority\n'
            'for i in range(%d):\n'
            '    time.sleep(%g)\n'
            '    for j in range(%d):\n'
            '        call(0, 0)\n'
            'time.sleep(.3)\n' % ((rate * seconds, 1 / rate, 1) if rate < 100
                                  else (seconds * 100, .01, rate // 100)))
    a = subprocess.Popen([SONDE, 'record', '-q', '-k', 'monotonic', '-r', '1', '-o', '-', '-e',
                          'syscalls:sys_enter_getpriority', '--', 'python3', '-c', work],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    b = subprocess.run([SONDE, 'script', '-i', '-', '-s', 'seen.py'], env=SCRIPT_ENV,
                       stdin=a.stdout, capture_output=True, text=True, timeout=600,
                       preexec_fn=be_first)
    a.stdout.close()
    same(a.wait(), 0, 'status of the recorder')
    same(b.returncode, 0, b.stderr)
    late = [float(t) for t in b.stdout.split()]
    same(len(late), rate * seconds, 'events')
    need(min(late) > 0, 'a handler was called before its event: %g ms' % min(late))
    return max(late)


@case('a handler is called at most 100 ms after its event, at any rate of events')
def _():
    with open('seen.py', 'w') as f:
        f.write('import time\n'
                'late = []\n'
                'def syscalls__sys_enter_getpriority(name, context, cpu, s, ns, *args):\n'
                '    late.append(time.monotonic() * 1000 - s * 1000 - ns / 1000000)\n'
                'def trace_end():\n'
                '    print(*late)\n')
    if sh('chrt', '-f', '1', 'true').returncode:
        raise Skip('no right to real-time priority, without which the load of the machine would '
                   'be measured')
    for rate, seconds in ((5, 2), (20000, 1)):
        # The best of several attempts counts: a busy machine delays everything.
        worst = []
        while len(worst) < 5 and (not worst or worst[-1] > 100):
            worst.append(worst_ms(rate, seconds))
        print('# worst of %d a second: %s ms' % (rate, ', '.join('%.0f' % w for w in worst)))
        need(worst[-1] <= 100, '%d events a second: %r ms late' % (rate, worst))


@case('a reader that closes its end ends the recording, and a line says so')
def _():
    a = subprocess.Popen([SONDE, 'record', '-o', '-', '-e', 'raw_syscalls:*', '--', 'sh', '-c',
                          'while :; do read x < /dev/null; done'], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True)
    # Reads more than the header, because a reader that leaves before the events is another case.
    same(len(a.stdout.read(2 << 20)), 2 << 20, 'bytes read')
    a.stdout.close()
    said = b''
    end = time.monotonic() + 60
    while b'closed' not in said and time.monotonic() < end:
        said += os.read(a.stderr.fileno(), 4096)
    need(b'the reader of the recording has closed' in said, said)
    # The recorder does not end the command, which continues.
    need(a.poll() is None, 'the recorder did not wait for the command')
    os.killpg(a.pid, signal.SIGTERM)
    a.wait(timeout=600)
    a.stderr.close()


@case('a recording is not written to a terminal')
def _():
    master, slave = os.openpty()
    p = subprocess.run([SONDE, 'record', '-q', '-o', '-', '-e', 'sched:sched_switch', '--', 'true'],
                       env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE,
                       text=True, timeout=600)
    os.close(slave)
    os.close(master)
    need(p.returncode != 0 and 'terminal' in p.stderr, p.stderr)


run()
