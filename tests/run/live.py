# SPDX-License-Identifier: MIT
"""sonde.record(): what happens now, compared with known numbers of system calls.

    live.py SONDE CALLS
"""
import os
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'record'))
from tap import SONDE, case, few_symbols, need, run, same, wait_until  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(SONDE), 'bindings', 'python', 'module'))
import sonde  # noqa: E402

CALLS = os.path.abspath(sys.argv[2])
EVENT = 'syscalls:sys_enter_getppid'


def lost(rec):
    return rec.lost


def read(rec):
    """The number of events, after a check of their order."""
    last, n = 0, 0
    for e in rec:
        need(e.late or e.time >= last, 'an event at %d after one at %d' % (e.time, last))
        last = max(last, e.time)
        n += e.name == EVENT
    return n


def known(expected, *words, **keys):
    rec = sonde.record(EVENT, command=[CALLS, *words], **keys)
    n = read(rec)
    same(rec.wait(), 0, 'status')
    same((n, rec.lost), (expected, 0), 'events and losses')


@case('each call of a command is delivered once, in order')
def exact():
    known(20000, '-n', '20000')


@case('threads and children are followed')
def followed():
    known(200 * 100 + 150 * 10, '-t', '200', '-n', '100', '-f', '150', '-c', '10')


def switches_of(pid, path):
    """(fewest, most) switches away from a process that its own events can have: the kernel
    switches them on shortly before the event of the exec, and takes them away shortly after that of
    the exit."""
    n, most, begun, ended = 0, 0, False, False
    for e in sonde.open(path):
        if e.name == 'sched:sched_switch':
            n += begun and not ended and e['prev_pid'] == pid
            most += e['prev_pid'] == pid
        elif e['pid'] == pid:
            begun, ended = True, ended or e.name == 'sched:sched_process_exit'
    return n, most


@case('each switch of a short command before its end is delivered')
def switches():
    found = {}
    rec = sonde.record(['sched:sched_switch', 'sched:sched_process_exec',
                        'sched:sched_process_exit'], system=True, output='all.data')
    for _ in range(6):
        own = sonde.record('sched:sched_switch', command=['sh', '-c', 'echo $$ > pid; exec true'])
        n = sum(1 for e in own)
        own.wait()
        with open('pid') as f:
            found[int(f.read())] = n
    rec.stop()
    list(rec)
    rec.wait()
    for pid, n in found.items():
        fewest, most = switches_of(pid, 'all.data')
        need(fewest <= n <= most, '%d of %d to %d' % (n, fewest, most))


@case('with buffers of one page, what is not delivered is reported as lost')
def one_page():
    rec = sonde.record(EVENT, command=[CALLS, '-n', '200000'], buffer='4K')
    n = read(rec)
    rec.wait()
    same(n + rec.lost, 200000, '%d delivered, %d lost' % (n, rec.lost))


@case('a slow program loses nothing that is not reported')
def slow():
    rec = sonde.record(EVENT, command=[CALLS, '-n', '300000'], buffer='8K')
    n = 0
    for e in rec:
        if n % 20000 == 0:
            time.sleep(0.05)
        n += 1
    rec.wait()
    same(n + rec.lost, 300000, '%d delivered, %d lost' % (n, rec.lost))


@case('columns, counts and text are those of any recording')
def like_any():
    def rec():
        return sonde.record(EVENT, command=[CALLS, '-n', '5000'])

    same(rec().count(by='comm'), {'calls': 5000})
    same(sum(t.num_rows for t in rec().batches(EVENT)), 5000)
    same(sum('sys_enter_getppid' in line for line in rec().text()), 5000)


@case('columns come in time, also while nothing happens')
def timed_columns():
    command = ['sh', '-c', '%s -n 700; sleep 0.8; exec %s -n 300' % (CALLS, CALLS)]
    rec = sonde.record(EVENT, command=command, output='timed.data')
    begun, tables = time.monotonic(), []
    for t in rec.batches(EVENT, 'time', every=0.2, rows=400):
        tables.append((time.monotonic() - begun, t.num_rows))
    need(sum(n for _, n in tables) in (1000, 1001), tables)
    # A busy machine may begin the command late, and divide its calls among two periods.
    need(200 <= max(n for _, n in tables) <= 400, tables)
    first = next(at for at, n in tables if n)
    need(first < tables[-1][0] - 0.5 and any(not n for _, n in tables), tables)
    need(4 <= len(tables) < 30, tables)
    for call, word in ((lambda: rec.batches(EVENT), 'only once'),
                       (lambda: sonde.open('timed.data').batches(EVENT, every=1), 'rows='),
                       (lambda: sonde.record(EVENT, system=True).batches(EVENT, every=0), 'every')):
        try:
            call()
        except sonde.OptionError as e:
            need(word in str(e), e)
        else:
            need(False, word)


@case('output= has the same events')
def copied():
    rec = sonde.record(EVENT, command=[CALLS, '-n', '3000'], output='copy.data')
    live = [(e.time, e.tid, e.cpu, e.comm) for e in rec]
    rec.wait()
    same([(e.time, e.tid, e.cpu, e.comm) for e in sonde.open('copy.data')], live)
    same(len(live), 3000)


@case('a filter is the kernel\'s, and a wrong one is an error at once')
def filtered():
    # only this process: others may use the same descriptor
    rec = sonde.record('syscalls:sys_enter_dup2', filter='oldfd == 7 || oldfd == 18',
                       pid=os.getpid())
    os.dup2(0, 17)
    os.dup2(os.dup2(0, 18), 19)
    rec.stop()
    same([e.oldfd for e in rec], [18])
    for condition in ('oldfdd == 7', 'oldfd =='):
        try:
            sonde.record('syscalls:sys_enter_dup2', filter=condition, system=True)
        except sonde.Error as e:
            need('oldfd' in str(e), e)
        else:
            need(False, 'the wrong filter %r was taken' % condition)


@case('wrong events, targets and settings are errors at once')
def wrong():
    for kind, call in [
            (sonde.Error, lambda: sonde.record('no:such_event', system=True)),
            (sonde.OptionError, lambda: sonde.record(EVENT)),
            (sonde.OptionError, lambda: sonde.record(EVENT, command='ls')),
            (sonde.OptionError, lambda: sonde.record(EVENT, system=True, latency=0)),
            (sonde.Error, lambda: sonde.record(EVENT, system=True, no_such_key=1))]:
        try:
            call()
        except kind:
            continue
        need(False, 'no exception')
    try:
        list(sonde.record(EVENT, command=['/no/such/command']))
    except sonde.Error:
        pass


@case('an event arrives within the latency while nothing else happens')
def quiet():
    rec = sonde.record(EVENT, pid=os.getpid(), latency=0.05, clockid='monotonic')
    delays = []
    threading.Timer(0.3, lambda: [(os.getppid(), time.sleep(0.2)) for _ in range(5)]).start()
    for e in rec:
        delays.append(time.monotonic_ns() - e.time)
        if len(delays) == 5:
            break
    rec.close()
    need(sorted(delays)[0] < 10 ** 9, delays)  # the median is measured by bench/live


@case('a running process is recorded until stop()')
def stopped():
    rec = sonde.attach(os.getpid(), EVENT)
    done = threading.Event()

    def work():
        while not done.is_set():
            os.getppid()
            time.sleep(0.001)

    t = threading.Thread(target=work)
    t.start()
    n = 0
    for e in rec:
        n += 1
        if n == 10:
            rec.stop()
    done.set()
    t.join()
    need(n >= 10, n)


@case('a recording that is closed early ends its command')
def closed():
    with sonde.record(EVENT, command=['sh', '-c', '%s -n 10; exec sleep 1000' % CALLS]) as rec:
        e = next(iter(rec))
        pid = e.pid
    need(e.comm in ('sh', 'calls'), e.comm)
    need(pid > 0)
    same((rec.lost, rec.defects), (0, []))
    with sonde.record(EVENT, command=[CALLS, '-n', '100000'], buffer='4K') as rec:
        n = sum(1 for e in rec)
    same(n + rec.lost, 100000)
    need([d.name for d in rec.defects] == ['lost-events'] * bool(rec.lost), rec.defects)
    # children that the library started are reaped
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    else:
        need(False, 'a child is left')


@case('a program that forks continues')
def forked():
    rec = sonde.record(EVENT, command=[CALLS, '-n', '2000'])
    n = 0
    for e in rec:
        n += 1
        if n == 5:
            pid = os.fork()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)
    same(n, 2000)


@case('live events can be read once')
def once():
    rec = sonde.record(EVENT, command=['true'])
    list(rec)
    try:
        list(rec)
    except sonde.OptionError as e:
        need('a live recording can be read only once' in str(e), e)
    else:
        need(False, 'it was read twice')


few_symbols()
run()
