# SPDX-License-Identifier: MIT
"""A recorder killed with SIGKILL at any moment leaves a file in which every flushed event has its
name and fields.
"""
import os
import random
import signal
import subprocess
import time

import perfdata
from tap import PERF_ENV, SONDE, Skip, case, need, run, same, sonde, wait_until

ROUNDS = int(os.environ.get('KILL_ROUNDS', '20'))
WORK = 'while :; do echo x; read y < /proc/self/stat; /bin/true; done > /dev/null'


def begun(path):
    """Whether the beginning of the file is complete: the magic is written last."""
    try:
        with open(path, 'rb') as f:
            return f.read(8) == b'PERFILE2'
    except FileNotFoundError:
        return False


def record_and_kill(path, seconds, *options, started=True, least=0):
    """
    Kills a recorder `seconds` after its file has a beginning and `least` events, or, with
    started=False, after it was started.
    """
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', path, *options, '--', 'sh', '-c', WORK],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while started and p.poll() is None and time.monotonic() < deadline:
        if begun(path) and (not least or perfdata.File(path).check() >= least):
            break
        time.sleep(0.01)
    time.sleep(seconds)
    p.kill()
    p.wait()
    # The command outlives the recorder, as it should.
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.stderr.close()


def check(path):
    f = perfdata.File(path)
    need(not f.finished, 'a killed recorder cannot have finished the file')
    same(f.features, {}, 'feature bits of a killed file')
    n = f.check()
    need(3 in f.index and 12 in f.index and 2 in f.index,
         'host name, event names, build id are in the index')
    need('raw_syscalls:sys_enter' in f.names(), 'no names of events')
    return n


@case('killed %d times at random moments, every flushed event decodes' % ROUNDS)
def _():
    seed = int(os.environ.get('KILL_SEED', time.time_ns() & 0xffff))
    print('# seed %d' % seed)
    rnd = random.Random(seed)
    total = files = 0
    n = 0
    # A busy machine flushes little in that time.
    while n < ROUNDS or n < 5 * ROUNDS and total <= 1000:
        # Half of them are killed while the recording starts.
        seconds = rnd.uniform(0, 0.2) if n % 2 else rnd.uniform(0, 0.6)
        small = ['-m', '16'] if n % 3 else []
        record_and_kill('k.data', seconds, '-e', 'raw_syscalls:*,sched:sched_switch',
                        *(['-a'] if n % 4 == 0 else []), *small, started=n % 2 == 0)
        n += 1
        if not begun('k.data'):
            if os.path.exists('k.data'):
                os.unlink('k.data')
            continue
        files += 1
        total += check('k.data')
        os.unlink('k.data')
    print('# %d files, %d events' % (files, total))
    need(files >= ROUNDS / 2 and total > 1000, 'too few files (%d) or events (%d)' % (files, total))


@case('sonde script reads a killed file: as many lines as flushed events')
def _():
    if sonde('script', '--help').returncode:
        raise Skip('this build has no sonde script')
    for n in range(4):
        record_and_kill('k.data', n / 10, '-e', 'raw_syscalls:*,sched:sched_switch', '-m', '16',
                        least=100)
        flushed = check('k.data')
        r = sonde('script', '-i', 'k.data')
        same((r.returncode, r.stdout.count('\n')), (0, flushed), 'lines and events (%s)' % r.stderr)
        need(': raw_syscalls:sys_enter: NR ' in r.stdout and '[FAILED' not in r.stdout,
             'names and fields')
        os.unlink('k.data')


@case('a file without a header: the message says that its recorder was killed')
def _():
    with open('z.data', 'wb') as f:
        f.write(bytes(4096))
    r = sonde('script', '-i', 'z.data')
    need(r.returncode and 'z.data begins with zeros: its recorder was killed' in r.stderr, r.stderr)


@case('rare events are written without waiting for more')
def _():
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'k.data', '-e', 'sched:sched_process_exec',
                          '--', 'sh', '-c', '/bin/true; /bin/true; sleep 600'], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until('three execs are in the file', lambda: begun('k.data') and
                   perfdata.File('k.data').check() >= 3)
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
    need(perfdata.File('k.data').check() >= 3, 'three execs')


run()
