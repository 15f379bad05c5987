# SPDX-License-Identifier: MIT
"""Lost events are counted in the file and in the closing lines, which say what to do about them."""
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
# 300000 of each
EVENTS = ['-e', 'syscalls:sys_enter_getppid,syscalls:sys_exit_getppid']
WORK = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=150000', 'status=none']


def losses(f):
    """(sum of LOST records, sum of LOST_SAMPLES records)"""
    lost = {perfdata.LOST: 0, perfdata.LOST_SAMPLES: 0}
    for kind, misc, at, size in f.records():
        if kind in lost:
            lost[kind] += struct.unpack_from('<Q', f.data,
                                             at + (16 if kind == perfdata.LOST else 8))[0]
    return lost[perfdata.LOST], lost[perfdata.LOST_SAMPLES]


@case('one page for each cpu: losses are counted exactly')
def _():
    for attempt in range(5):
        r = sonde('record', '-m', '1', *EVENTS, '-o', 'x.data', '--', *CALLS)
        same(r.returncode, 0, r.stderr)
        reported = re.search(r'(\d+) events were lost \(.*-m, now 1 pages', r.stderr)
        if reported:
            break
    else:
        raise Skip('nothing was lost in %d attempts' % 5)
    f = perfdata.File('x.data')
    n = f.check()
    in_stream, exact = losses(f)
    # Lost records of state (names, mappings) are reported separately.
    state = re.search(r'records lost: (\d+)', r.stderr)
    total = int(reported.group(1)) + (int(state.group(1)) if state else 0)
    need(in_stream and in_stream <= total, 'LOST records: %d of %d' % (in_stream, total))
    same(exact, int(reported.group(1)), 'losses in LOST_SAMPLES and in the closing line')
    print('# %d samples, %d lost' % (n, exact))
    same(n + exact, 600000, 'samples and losses together')
    r = sonde('record', '-q', '-m', '1', '--fail-on-loss', *EVENTS, '-o', 'x.data', '--', *CALLS)
    same(r.returncode, 3 if 'were lost' in r.stderr else 0, r.stderr)


FILL = """
import os, signal, sys, time
recorder = os.getppid()
time.sleep(1.3)  # meanwhile the recorder empties the buffers
os.kill(recorder, signal.SIGSTOP)
while open('/proc/%d/stat' % recorder).read().rpartition(')')[2].split()[0] != 'T':
    time.sleep(.01)
for i in range(int(sys.argv[1])):
    os.getppid()
os.kill(recorder, signal.SIGCONT)
time.sleep(.1)
"""


@case('--fail-on-loss: one lost event is enough')
def _():
    # A page fills while the recorder is stopped. The number of events that fit is found by trying.
    cpu, n, seen = str(max(os.sched_getaffinity(0))), 200, []
    for attempt in range(10):
        r = sonde('record', '-m', '1', '--fail-on-loss', '-e', 'syscalls:sys_enter_getppid', '-o',
                  'x.data', '--', 'taskset', '-c', cpu, sys.executable, '-c', FILL, str(n))
        reported = re.search(r'(\d+) events? (?:was|were) lost', r.stderr)
        lost = int(reported.group(1)) if reported else 0
        same(r.returncode, 3 if lost else 0, '%d lost: %s' % (lost, r.stderr))
        seen.append((n, lost))
        if lost == 1:
            same(losses(perfdata.File('x.data'))[1], 1, 'LOST_SAMPLES')
            return
        n = n + 1 - lost if lost else n + 1
    raise Skip('never exactly one: calls, lost: %r' % seen)


def by_counter(f):
    """{(event, cpu): lost}, after a check that records and the index of ids give the same cpu."""
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


@case('a loss is recorded with its event and its cpu')
def _():
    cpu = max(os.sched_getaffinity(0))
    for attempt in range(5):
        r = sonde('record', '-m', '1', '-e', 'syscalls:sys_enter_read,syscalls:sys_exit_read', '-o',
                  'x.data', '--', 'taskset', '-c', str(cpu), *WORK)
        same(r.returncode, 0, r.stderr)
        lost = by_counter(perfdata.File('x.data'))
        if lost:
            break
    else:
        raise Skip('nothing was lost in 5 attempts')
    print('# %s' % lost)
    need(max(lost, key=lost.get)[1] == cpu and
         {e for e, c in lost} <= {'syscalls:sys_enter_read', 'syscalls:sys_exit_read'}, str(lost))
    # The first event also carries the records of state, which are not counted as events.
    reported = int(re.search(r'(\d+) events were lost', r.stderr).group(1))
    same(sum(lost.values()), reported)


@case('a slow reader of a pipe: events wait in memory')
def _():
    # 40 MB in all, more than the buffers hold. Each portion fits into the buffers, and between
    # portions there is time for the recorder, on a busy machine, too.
    work = 'for i in $(seq 30); do "$0" -t 2 -n 5000; sleep 0.05; done; : > done'
    p = subprocess.Popen([SONDE, 'record', '-m', '1024', *EVENTS, '-o', '-', '--', 'sh', '-c', work,
                          CALLS[0]],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    wait_until('the command has made all calls', lambda: os.path.exists('done') or
               p.poll() is not None)
    with open('x.data', 'wb') as f:
        shutil.copyfileobj(p.stdout, f)
    err = p.stderr.read().decode()
    same(p.wait(), 0, err)
    reported = re.search(r'(\d+) events were lost', err)
    lost = int(reported.group(1)) if reported else 0
    r = sonde('script', '-i', 'x.data', '-F', 'event')
    n = r.stdout.count('\n')
    print('# %d samples, %d lost' % (n, lost))
    # The shell may call getppid(), too.
    need(600000 <= n + lost <= 600010, 'samples and losses together: %d and %d' % (n, lost))
    # The pipe and the buffers alone would hold a fifth of them.
    need(n > 400000, '%d samples' % n)


@case('sonde script reports the losses that the recorder reported: events, and records of state')
def _():
    def number_in(text, pattern):
        found = re.search(pattern, text)
        return int(found.group(1)) if found else 0
    # While the recorder is stopped, the command makes more children than a page has room for.
    forks = ('kill -STOP $PPID; '
             'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); (read x < /dev/null) done; '
             'kill -CONT $PPID; '
             'for i in 1 2 3 4 5 6 7 8 9 10; do sleep .1; (:); done')  # children after the losses
    for events in (('-e', 'dummy'), ('-e', 'syscalls:sys_enter_read'), ('-e', 'raw_syscalls:*')):
        r = sonde('record', '-m', '1', *events, '-o', 'x.data', '--', 'sh', '-c', forks)
        same(r.returncode, 0, r.stderr)
        recorder = (number_in(r.stderr, r'(\d+) events were lost'),
                    number_in(r.stderr, r'records lost: (\d+)'))
        reader = sonde('script', '-i', 'x.data').stderr
        reader = number_in(reader, r'lost-events: (\d+)'), number_in(reader, r'lost-state: (\d+)')
        print('# %s: events, records of state: %r, read %r' % (events[1], recorder, reader))
        same(reader[0], recorder[0], 'events')
        # The file does not have the very last losses: no record follows them.
        need(bool(reader[1]) <= bool(recorder[1]) and reader[1] <= recorder[1], 'records of state')
        need(events[1] != 'dummy' or (reader[1] and recorder[1]), 'records of state alone')


@case('no losses, no line about them')
def _():
    r = sonde('record', '--fail-on-loss', '-e', 'sched:sched_switch', '-o', 'x.data', '--', 'true')
    same(r.returncode, 0)
    need('lost' not in r.stderr, r.stderr)
    same(losses(perfdata.File('x.data')), (0, 0))


run()
