# SPDX-License-Identifier: MIT
"""Lost events are counted, in the file and at the end, with what to do about it."""
import os
import re
import shutil
import struct
import subprocess
import sys
import time

import perfdata
from tap import PERF_ENV, SONDE, Skip, case, need, run, same, sonde, wait_until

ID_INDEX = 69
CALLS = [os.path.abspath(sys.argv[2]), '-t', '2', '-n', '150000']
# of which it makes 300000 each
EVENTS = ['-e', 'syscalls:sys_enter_getppid,syscalls:sys_exit_getppid']
WORK = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=150000', 'status=none']


def losses(f):
    """Sums of LOST records and of LOST_SAMPLES records."""
    lost = {perfdata.LOST: 0, perfdata.LOST_SAMPLES: 0}
    for kind, misc, at, size in f.records():
        if kind in lost:
            lost[kind] += struct.unpack_from('<Q', f.data, at + (16 if kind == perfdata.LOST else 8))[0]
    return lost[perfdata.LOST], lost[perfdata.LOST_SAMPLES]


@case('one page for each cpu: losses are counted exactly')
def _():
    for attempt in range(5):
        r = sonde('record', '-m', '1', *EVENTS, '-o', 'x.data', '--', *CALLS)
        same(r.returncode, 0, r.stderr)
        told = re.search(r'(\d+) events were lost \(.*-m, now 1 pages', r.stderr)
        if told:
            break
    else:
        raise Skip('nothing was lost in %d attempts' % 5)
    f = perfdata.File('x.data')
    n = f.check()
    in_stream, exact = losses(f)
    # what is lost of names and mappings is told apart
    state = re.search(r'records lost: (\d+)', r.stderr)
    told_all = int(told.group(1)) + (int(state.group(1)) if state else 0)
    need(in_stream and in_stream <= told_all, 'LOST records: %d of %d' % (in_stream, told_all))
    same(exact, int(told.group(1)), 'LOST_SAMPLES and what was told')
    print('# %d samples, %d lost' % (n, exact))
    same(n + exact, 600000, 'samples and losses together')
    r = sonde('record', '-q', '-m', '1', '--fail-on-loss', *EVENTS, '-o', 'x.data', '--', *CALLS)
    same(r.returncode, 3 if 'were lost' in r.stderr else 0, r.stderr)


FILL = """
import os, signal, sys, time
recorder = os.getppid()
time.sleep(1.3)  # meanwhile all of the beginning is taken out of the buffers
os.kill(recorder, signal.SIGSTOP)
while open('/proc/%d/stat' % recorder).read().rpartition(')')[2].split()[0] != 'T':
    time.sleep(.01)
for i in range(int(sys.argv[1])):
    os.getppid()
os.kill(recorder, signal.SIGCONT)
time.sleep(.1)
"""


@case('--fail-on-loss: one event that is lost is enough')
def _():
    # While the recorder stands still, a page fills; how many events it has room for is found out on the way.
    cpu, n, seen = str(max(os.sched_getaffinity(0))), 200, []
    for attempt in range(10):
        r = sonde('record', '-m', '1', '--fail-on-loss', '-e', 'syscalls:sys_enter_getppid', '-o', 'x.data', '--',
                  'taskset', '-c', cpu, sys.executable, '-c', FILL, str(n))
        told = re.search(r'(\d+) events? (?:was|were) lost', r.stderr)
        lost = int(told.group(1)) if told else 0
        same(r.returncode, 3 if lost else 0, '%d lost: %s' % (lost, r.stderr))
        seen.append((n, lost))
        if lost == 1:
            same(losses(perfdata.File('x.data'))[1], 1, 'LOST_SAMPLES')
            return
        n = n + 1 - lost if lost else n + 1
    raise Skip('never exactly one: calls, lost: %r' % seen)


def by_counter(f):
    """{(event, cpu): lost}, as the records say it and as the index of ids does."""
    names, lost = f.names(), {}
    index = next((at, size) for kind, misc, at, size in f.records() if kind == ID_INDEX)
    where = {}
    for i in range(struct.unpack_from('<Q', f.data, index[0] + 8)[0]):
        ident, idx, cpu, tid = struct.unpack_from('<QQQQ', f.data, index[0] + 16 + 32 * i)
        where[ident] = cpu
    for kind, misc, at, size in f.records():
        if kind != perfdata.LOST_SAMPLES:
            continue
        nr, = struct.unpack_from('<Q', f.data, at + 8)
        cpu, pad, ident = struct.unpack_from('<IIQ', f.data, at + size - 16)
        same(where[ident], cpu, 'the cpu of id %d' % ident)
        lost[names[f.attrs.index(f.by_id[ident])], cpu] = nr
    return lost


@case('a loss is told with its event and its cpu')
def _():
    cpu = max(os.sched_getaffinity(0))
    for attempt in range(5):
        r = sonde('record', '-m', '1', '-e', 'syscalls:sys_enter_read,syscalls:sys_exit_read', '-o', 'x.data', '--',
                  'taskset', '-c', str(cpu), *WORK)
        same(r.returncode, 0, r.stderr)
        lost = by_counter(perfdata.File('x.data'))
        if lost:
            break
    else:
        raise Skip('nothing was lost in 5 attempts')
    print('# %s' % lost)
    need(max(lost, key=lost.get)[1] == cpu and {e for e, c in lost} <= {'syscalls:sys_enter_read', 'syscalls:sys_exit_read'},
         str(lost))
    # the first event carries the records of names and mappings, too; they are no events
    told = int(re.search(r'(\d+) events were lost', r.stderr).group(1))
    same(sum(lost.values()), told)


@case('a slow reader of a pipe: what it has not taken waits in memory')
def _():
    # 40 MB in all, more than the buffers hold, in portions that they do; the recorder, on a busy machine too, comes to them
    # in between.
    work = 'for i in $(seq 30); do "$0" -t 2 -n 5000; sleep 0.05; done; : > done'
    p = subprocess.Popen([SONDE, 'record', '-m', '1024', *EVENTS, '-o', '-', '--', 'sh', '-c', work, CALLS[0]], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until('all of it has happened', lambda: os.path.exists('done') or p.poll() is not None)
    with open('x.data', 'wb') as f:
        shutil.copyfileobj(p.stdout, f)
    err = p.stderr.read().decode()
    same(p.wait(), 0, err)
    told = re.search(r'(\d+) events were lost', err)
    lost = int(told.group(1)) if told else 0
    r = sonde('script', '-i', 'x.data', '-F', 'event')
    n = r.stdout.count('\n')
    print('# %d samples, %d lost' % (n, lost))
    # the shell may ask for its parent, too
    need(600000 <= n + lost <= 600010, 'samples and losses together: %d and %d' % (n, lost))
    # without that memory the pipe and the buffers hold a fifth of it
    need(n > 400000, '%d samples' % n)


@case('sonde script tells what the recorder told: events apart from records of state')
def _():
    def told_of(text, pattern):
        found = re.search(pattern, text)
        return int(found.group(1)) if found else 0
    # so many births while the recorder stands still that a page has no room for them
    forks = 'kill -STOP $PPID; i=0; while [ $i -lt 200 ]; do i=$((i + 1)); (read x < /dev/null) done; kill -CONT $PPID; ' \
        'for i in 1 2 3 4 5 6 7 8 9 10; do sleep .1; (:); done'  # births that come behind the losses
    for events in (('-e', 'dummy'), ('-e', 'syscalls:sys_enter_read'), ('-e', 'raw_syscalls:*')):
        r = sonde('record', '-m', '1', *events, '-o', 'x.data', '--', 'sh', '-c', forks)
        same(r.returncode, 0, r.stderr)
        recorder = told_of(r.stderr, r'(\d+) events were lost'), told_of(r.stderr, r'records lost: (\d+)')
        reader = sonde('script', '-i', 'x.data').stderr
        reader = told_of(reader, r'lost-events: (\d+)'), told_of(reader, r'lost-state: (\d+)')
        print('# %s: events, records of state: %r, read %r' % (events[1], recorder, reader))
        same(reader[0], recorder[0], 'events')
        # the very last losses are told by nobody: no record came behind them
        need(bool(reader[1]) <= bool(recorder[1]) and reader[1] <= recorder[1], 'records of state')
        need(events[1] != 'dummy' or (reader[1] and recorder[1]), 'records of state alone')


@case('nothing is said when nothing was lost')
def _():
    r = sonde('record', '--fail-on-loss', '-e', 'sched:sched_switch', '-o', 'x.data', '--', 'true')
    same(r.returncode, 0)
    need('lost' not in r.stderr, r.stderr)
    same(losses(perfdata.File('x.data')), (0, 0))


run()
