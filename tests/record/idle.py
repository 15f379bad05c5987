# SPDX-License-Identifier: MIT
"""A recorder without events sleeps, also after a process that it waited for has ended."""
import os
import signal
import subprocess
import time

from tap import PERF_ENV, SONDE, case, is_recording, need, run, same, wait_until

EVENT = 'syscalls:sys_enter_getppid'
# The limit of its CPU time in a second. A recorder that spins uses most of the second.
MOST_SECONDS = 0.15


def cpu_seconds(pid):
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def recorder(*argv):
    return subprocess.Popen([SONDE, 'record', '-q', '-e', EVENT, '-o', 'x.data', *argv],
                            env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def sleeps(p, what):
    time.sleep(0.3)  # until the recorder has handled the end of the process
    before = cpu_seconds(p.pid)
    time.sleep(1)
    took = cpu_seconds(p.pid) - before
    print('# %s: %.2f s' % (what, took))
    same(p.poll(), None, 'status while it records')
    need(took < MOST_SECONDS, '%s: %.2f s of a second' % (what, took))


def end(p, status):
    p.send_signal(signal.SIGINT)
    reported = p.communicate(timeout=600)[1]
    same((p.returncode, reported), (status, ''), 'status and text')


@case('--threads, when the process has ended and the command has not')
def _():
    target = subprocess.Popen(['sleep', '600'])
    try:
        p = recorder('--threads', '-p', str(target.pid), '--', 'sleep', '60')
        wait_until('it records', lambda: os.path.isdir('x.data') and is_recording(p, 'x.data/data'))
    finally:
        target.kill()
        target.wait()
    sleeps(p, 'threads')
    end(p, 128 + signal.SIGTERM)


@case('--switch-output-event, when one of the processes has ended; those of the others still '
      'begin new files')
def _():
    first, second = (subprocess.Popen(['sh', '-c', 'read x; exec sleep 60'], stdin=subprocess.PIPE)
                     for i in range(2))
    try:
        p = recorder('-p', '%d,%d' % (first.pid, second.pid), '--switch-output-event',
                     'sched:sched_process_exec')
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        first.kill()
        first.wait()
        sleeps(p, 'one of two')
        second.stdin.write(b'\n')
        second.stdin.close()
        wait_until('a new file is begun',
                   lambda: any(n.startswith('x.data.') for n in os.listdir('.')))
        end(p, 0)
    finally:
        first.kill()
        second.kill()
        first.wait()
        second.wait()


run()
