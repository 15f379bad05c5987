#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs sonde's own scripts over kernel traces of LTTng.

    ctfscripts.py SONDE

Their JSON, by Python and by Perl, is compared with a count over the lines of stock babeltrace2.
"""
import json
import re
import shutil
import sys

sys.dont_write_bytecode = True
from ctfcases import BABELTRACE, TESTS, TOP, run, script  # noqa: E402
from ctf import SCHED, packets, trace_block, write  # noqa: E402
from points import done, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS  # noqa: E402

SCRIPTS = TESTS.parent / 'scripts'
RUNNABLE = 0xff  # none of these bits of prev_state: the task could have continued


def shipped(trace, name, what, want, *words):
    """A script of sonde's own gives the counts that babeltrace2's lines give."""
    status, out, err = script(trace, SCRIPTS / name, *words, '--json')
    if 'libperl-dev' in err:
        return skip(what + ' by ' + name, 'the Perl module was not built')
    got = json.loads(out) if status == 0 else {}
    wrong = ['%s: %s, expected %s' % (key, str(got.get(key))[:300], str(value)[:300])
             for key, value in want.items() if got.get(key) != value]
    return say(not wrong and 'uninitialized' not in err, what + ' by ' + name,
               '\n'.join(wrong) + err[:1000])


def lttng_events(text):
    """(ns of the day, event, its fields) of babeltrace2's lines."""
    for line in text.splitlines():
        clock = re.match(r'\[(\d+):(\d+):(\d+)\.(\d{9})\] \S+ \S+ (\w+): ', line)
        h, m, s, ns = map(int, clock.groups()[:4])
        fields = {k: text or int(number or 0) for k, text, number in
                  re.findall(r'(\w+) = (?:"([^"]*)"|(-?\d+))', line[clock.end():])}
        yield ((h * 60 + m) * 60 + s) * 10**9 + ns, clock[5], fields


def count_wakeups(text):
    """Waits of the tasks from sched_wakeup on, as the Perl script has them, and from sched_waking
    on, as the Python one: {tid: [ns]} of both."""
    woken, perl, pending, python = {}, {}, {}, {}
    for now, name, f in lttng_events(text):
        if name == 'sched_wakeup':
            woken.setdefault(f['tid'], now)
            if f['tid'] in pending and not pending[f['tid']][1]:
                pending[f['tid']] = pending[f['tid']][0], True
            else:
                pending[f['tid']] = now, True
        elif name == 'sched_wakeup_new':
            pending[f['tid']] = now, True
        elif name == 'sched_waking':
            pending[f['tid']] = now, False
        elif name == 'sched_switch':
            before, then = f['prev_tid'], f['next_tid']
            if then in woken:
                perl.setdefault(then, []).append(now - woken.pop(then))
            if before in pending and (pending[before][1] or not f['prev_state'] & RUNNABLE):
                del pending[before]
            if then in pending:
                python.setdefault(then, []).append(now - pending.pop(then)[0])
    return perl, python


def check_scripts():
    trace = CORPUS / 'ctf-succeed-lttng-tracefile-rotation-kernel__babeltrace'
    if not trace.exists():
        return skip('wake-up latencies of a kernel trace', NO_CORPUS)
    if not BABELTRACE:
        return skip('wake-up latencies of a kernel trace', 'no babeltrace2', may=False)
    perl, python = count_wakeups(run(BABELTRACE, trace)[1])
    waits = [wait for of in perl.values() for wait in of]
    lengths = [wait // 1000 for wait in waits]
    shipped(trace, 'wakeup-latency.pl', 'wake-up latencies', {
        'wakeups': len(waits), 'mean_ns': round(sum(waits) / len(waits)),
        'histogram': [{'from_us': 1 << bits - 1 if bits else 0, 'below_us': 1 << bits,
                       'count': sum(us.bit_length() == bits for us in lengths)}
                      for bits in sorted({us.bit_length() for us in lengths})]})
    status, out, err = script(trace, SCRIPTS / 'wakeup-latency.py', '--json', '--top', '0')
    got = {row['tid']: (row['wakeups'], row['mean_ns'], row['max_ns'])
           for row in json.loads(out)['waits']} if status == 0 else {}
    want = {tid: (len(of), (2 * sum(of) + len(of)) // (2 * len(of)), max(of))
            for tid, of in python.items()}
    wrong = [(tid, got.get(tid), of) for tid, of in want.items() if got.get(tid) != of]
    return say(len(want) > 50 and got.keys() == want.keys() and not wrong,
               'wake-up latencies by wakeup-latency.py', str(wrong[:3]) + err)


WRITES = '''
event { name = "syscall_entry_write"; id = 3; fields := struct { integer { size = 32; } _fd;
  integer { size = 64; base = 16; } _buf; integer { size = 64; } _count; }; };
'''


def count_files(text, wanted):
    """The rows of rw-by-file over babeltrace2's lines: reads and writes of tasks of one name."""
    rows, runs = {'read': {}, 'write': {}}, None
    for _, name, f in lttng_events(text):
        if name == 'sched_switch':
            runs = f['next_comm'], f['next_tid']
        elif name.startswith('syscall_entry_') and runs[0] == wanted:
            row = rows[name[len('syscall_entry_'):]].setdefault((runs[1], f['fd']), [0, 0])
            row[0] += 1
            row[1] += f['count']
    return {call + 's': [{'pid': pid, 'fd': fd, 'calls': calls, 'asked_bytes': asked}
                         for (pid, fd), (calls, asked) in sorted(
                             of.items(), key=lambda row: (-row[1][1], '%d %d' % row[0]))]
            for call, of in rows.items()}


def check_files():
    """Reads and writes of two tasks of one name, by descriptor."""
    def body(p):
        time, tasks = 100, (('cat', 77), ('dd', 78), ('cat', 79), ('swapper/3', 0))
        for turn in range(60):
            (comm, tid), before = tasks[turn % 4], tasks[(turn + 3) % 4]
            p.int(0, 8).int(time, 64).raw(before[0].encode().ljust(16, b'\0')).int(before[1], 32)
            p.int(20, 32).int(0, 64).raw(comm.encode().ljust(16, b'\0')).int(tid, 32).int(20, 32)
            for call in range(turn % 5 if tid else 0):
                time += 1
                if call % 2:
                    p.int(3, 8).int(time, 64).int(turn % 3, 32).int(2**47 + turn, 64)
                    p.int(100 * turn, 64)
                else:
                    p.int(1, 8).int(time, 64).int(3 + turn % 7, 32).int(1000 + turn, 64)
            time += 20

    stream = packets('le', lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32).int(3, 32), body)
    folder = write(TOP / 'files', SCHED % trace_block('le') + WRITES, channel0_3=stream)
    if not BABELTRACE:
        return skip('reads and writes by file', 'no babeltrace2', may=False)
    text = run(BABELTRACE, folder)[1]
    for comm in 'cat', 'dd', 'none':
        want = count_files(text, comm)
        say(bool(want['reads'] and want['writes']) == (comm != 'none'), 'the trace has ' + comm,
            str(want))
        shipped(folder, 'rw-by-file.pl', 'reads and writes of ' + comm, want, comm)
    return None


def check_reads():
    """Reads of each process: what is asked for and what is read."""
    def body(p):
        time = 100
        for turn in range(50):
            comm, tid = (('cat', 77), ('dd', 78), ('swapper/3', 0))[turn % 3]
            before = (('swapper/3', 0), ('cat', 77), ('dd', 78))[turn % 3]
            p.int(0, 8).int(time, 64).raw(before[0].encode().ljust(16, b'\0')).int(before[1], 32)
            p.int(20, 32).int(0, 64).raw(comm.encode().ljust(16, b'\0')).int(tid, 32).int(20, 32)
            for call in range(turn % 5 if tid else 0):
                size = 1000 * turn + call
                p.int(1, 8).int(time + 1 + 2 * call, 64).int(3, 32).int(size, 64)
                p.int(2, 8).int(time + 2 + 2 * call, 64).int(size // 2 if call else -11, 64)
            time += 20

    one = packets('le', lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32).int(3, 32), body)
    folder = write(TOP / 'reads', SCHED % trace_block('le'), channel0_3=one)
    if not BABELTRACE:
        return skip('reads by process', 'no babeltrace2', may=False)
    table, runs = {}, None
    for _, name, f in lttng_events(run(BABELTRACE, folder)[1]):
        if name == 'sched_switch':
            runs = f['next_comm'], f['next_tid']
        row = table.setdefault(runs, [0, 0, 0, 0])
        if name == 'syscall_entry_read':
            row[0] += 1
            row[1] += f['count']
        elif name == 'syscall_exit_read':
            row[2] += max(f['ret'], 0)
            row[3] += f['ret'] == -11
    rows = sorted(((c, t, r) for (c, t), r in table.items() if r[0]), key=lambda x: -x[2][1])
    shipped(folder, 'rw-by-process.py', 'reads', {
        'reads': [{'comm': comm, 'tid': tid, 'calls': r[0], 'asked_bytes': r[1]}
                  for comm, tid, r in rows], 'writes': []})
    return shipped(folder, 'rw-by-pid.pl', 'reads', {
        'reads': [{'pid': tid, 'comm': comm, 'calls': r[0], 'asked_bytes': r[1],
                   'done_bytes': r[2], 'pending': False,
                   'errors': [{'error': 'EAGAIN', 'number': 11, 'count': r[3]}]}
                  for comm, tid, r in rows], 'writes': []})


TASKS = '''
def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, next_comm):
    print(common_nsecs, common_pid, common_comm)
def syscalls__sys_enter_read(event_name, context, common_cpu, common_secs, common_nsecs,
                             common_pid, common_comm, common_callchain, fd, count):
    print(common_nsecs, common_pid, common_comm)
'''
# Code of the script ran that may have defined a function for the refused exits: the events of the
# batch that follow are given back.
CHANGES = TASKS + '''
def syscalls__sys_enter_read(event_name, context, common_cpu, common_secs, common_nsecs,
                             common_pid, common_comm, common_callchain, fd, count):
    print(common_nsecs, common_pid, common_comm)
    globals()['changed_%d' % (common_nsecs % 3)] = common_nsecs
'''


def check_given_back():
    """Events keep their tasks if the switches behind them are read twice."""
    def body(p):
        for turn in range(200):
            before, after = 70 + (turn + 2) % 3, 70 + turn % 3
            p.int(0, 8).int(100 + 10 * turn, 64).raw(b'task-%d' % before).raw(bytes(9))
            p.int(before, 32).int(20, 32).int(0, 64).raw(b'task-%d' % after).raw(bytes(9))
            p.int(after, 32).int(20, 32)
            for at in range(1, 1 + turn % 3):
                p.int(1, 8).int(100 + 10 * turn + 2 * at, 64).int(3, 32).int(7, 64)
                p.int(2, 8).int(101 + 10 * turn + 2 * at, 64).int(7, 64)

    one = packets('le', lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32).int(3, 32), body)
    folder = write(TOP / 'tasks', SCHED % trace_block('le'), channel0_3=one)
    want = []
    for turn in range(200):
        now, before, after = 100 + 10 * turn, 70 + (turn + 2) % 3, 70 + turn % 3
        want.append('%d %d task-%d' % (now, before, before))
        want += ['%d %d task-%d' % (now + 2 * at, after, after) for at in range(1, 1 + turn % 3)]
    for name, text in ('once', TASKS), ('twice', CHANGES):
        path = TOP / (name + '.py')
        path.write_text(text)
        status, out, err = script(folder, '-s', path)
        say(status == 0 and out.splitlines() == want, 'the tasks of events that are read ' + name,
            err + '\n'.join('%s, expected %s' % pair for pair in zip(out.splitlines(), want)
                            if pair[0] != pair[1])[:1000])


def main():
    try:
        check_reads()
        check_given_back()
        check_scripts()
        check_files()
    finally:
        shutil.rmtree(TOP)
    return done()


sys.exit(main())
