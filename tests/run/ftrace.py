# SPDX-License-Identifier: MIT
"""Live events out of ftrace's buffers (--ftrace): the same events as out of perf's.

    ftrace.py SONDE CALLS
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'record'))
from tap import PERF_ENV, SCRIPT_ENV, SONDE, Skip, case, need, run, same, wait_until  # noqa: E402

CALLS = os.path.abspath(sys.argv[2])
EVENT = 'syscalls:sys_enter_getppid'
TRACEFS = next((p for p in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')
                if os.path.isdir(p + '/instances')), None)
# New tasks, threads, names and switches.
WORK = ['sh', '-c', 'for i in 1 2 3 4 5; do (/bin/true; exec /bin/echo) & done; wait; "$0" -t 20 '
        '-n 50', CALLS]


def need_tracefs():
    if not TRACEFS or os.geteuid():
        raise Skip('ftrace has no instances here, or this is not root')


def instances():
    return [n for n in os.listdir(TRACEFS + '/instances') if n.startswith('sonde-')]


def left():
    """Whether there are instances of recorders that have ended. Others may run on this machine."""
    return any(not os.path.exists('/proc/' + n.split('-')[1]) for n in instances())


def sonde(*words, status=0):
    p = subprocess.run([SONDE, *words], env=SCRIPT_ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=200)
    same(p.returncode, status, p.stdout + p.stderr)
    return p


def rows(event, *options, by='comm', where=''):
    """{key: count} of a run."""
    text = sonde('run', '--format', 'json', *options, '-e', 'count("%s", by="%s"%s)' % (
        event, by, where and ', where="%s"' % where), '--', *WORK).stdout
    return {tuple(r['keys'].values()): r['count'] for r in
            json.loads(re.search(r'^\{.*\}$', text, re.M)[0])['rows']}


@case('the same tasks, threads and events as out of buffers of perf')
def twins():
    need_tracefs()
    for event, by, where in (('sched:sched_process_fork', 'comm', ''),
                             ('sched:sched_process_exec,sched:sched_process_exit', 'comm', ''),
                             (EVENT, 'comm', ''), ('syscalls:sys_enter_getppid', 'name', ''),
                             ('syscalls:sys_enter_write', 'comm', 'count == 1')):
        there = rows(event, '--ftrace', by=by, where=where)
        need(there, event)
        same(there, rows(event, '--no-ftrace', by=by, where=where), event)
    wait_until('no instance is left', lambda: not left())


@case('stock perf prints the recording that is kept, and processes own their threads')
def kept():
    need_tracefs()
    sonde('run', '--ftrace', '-o', 'kept.data', '-e', 'count("%s,sched:sched_switch")' % EVENT,
          '--', CALLS, '-t', '20', '-n', '50')
    ours = sonde('--compat', 'perf-6.1', 'script', '-i', 'kept.data').stdout
    need(ours.count(EVENT) == 1000, ours[:1000])
    tasks = sonde('script', '-i', 'kept.data', '-F', 'pid,tid', '--', ).stdout.split()
    same(len({t.split('/')[0] for t in tasks}), 1, 'processes')
    need(len({t.split('/')[1] for t in tasks}) >= 20, tasks[:30])
    perf = subprocess.run(['perf', 'script', '-i', 'kept.data'], env=PERF_ENV,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    same(ours, perf.stdout, 'text')


@case('a process that runs is followed with its threads, and the machine is recorded')
def running():
    need_tracefs()
    for options in (['-p', None], ['-a']):
        calls = subprocess.Popen([CALLS, '-w', '-t', '10', '-n', '100'], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        need(b'ready' in calls.stdout.readline(), 'the workload waits')
        words = [str(calls.pid) if w is None else w for w in options]
        p = subprocess.Popen([SONDE, 'run', '--ftrace', *words, '--format', 'json', '-e',
                              'begin(lambda: print("begun", flush=True))\n'
                              'count("%s", by="pid")' % EVENT],
                             env=SCRIPT_ENV, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        same(p.stdout.readline(), 'begun\n')
        calls.communicate(b'\n')
        if options[0] == '-a':
            p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=100)
        need('{"keys":{"pid":%d},"count":1000}' % calls.pid in out, out + err)


@case('a task whose fork found no room in the rings of perf is followed all the same')
def storm():
    need_tracefs()
    p = subprocess.Popen([SONDE, 'run', '--ftrace', '-m', '4', '-e',
                          'begin(lambda: print("begun", flush=True))\n'
                          'n = [0, 0]\n'
                          'on("sched:sched_process_exit")(lambda e: n.__setitem__(0, n[0] + 1))\n'
                          'lost(lambda count, cpu: n.__setitem__(1, n[1] + count))\n'
                          'end(lambda: print("exits", n[0] + n[1]))',
                          '--', 'sh', '-c', 'read go; i=0; while [ $i -lt 1000 ]; do (:); '
                          'i=$((i+1)); done; echo over'],
                         env=SCRIPT_ENV, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    same(p.stdout.readline(), 'begun\n')
    p.send_signal(signal.SIGSTOP)
    p.stdin.write('\n')
    p.stdin.flush()
    same(p.stdout.readline(), 'over\n')
    p.send_signal(signal.SIGCONT)
    out, err = p.communicate(timeout=100)
    need('no room for names' in err, out + err)
    same(out, 'exits 1001\n', err)


@case('what has no place in ftrace\'s buffers is taken out of those of perf')
def mixed():
    need_tracefs()
    out = sonde('run', '-e', 'count("%s")\ncount("sched:sched_switch", by="kstack")\n'
                'count("cpu-clock", by="comm")' % EVENT, '--', CALLS, '-n', '700').stdout
    need(re.search(r'^ *700\b', out, re.M), out)
    spins = sonde('run', '--format', 'json', '-e', 'sum("sched:sched_stat_runtime", "period")',
                  '--', CALLS, '-n', '300000').stdout
    need(int(re.search(r'"max":(\d+)', spins)[1]) > 1, spins)
    for code, says in (('count("sched:sched_switch", by="kstack")', 'call chains'),
                       ('count("sched:sched_stat_runtime")', 'as its period'),
                       ('count("cpu-clock")', 'needs tracepoints')):
        err = sonde('run', '--ftrace', '-e', code, '--', 'true', status=2).stderr
        need(says in err, err)


@case('an instance of a run that was killed is removed by the next one')
def killed():
    need_tracefs()
    p = subprocess.Popen([SONDE, 'run', '--ftrace', '-a', '-e', 'count("%s")' % EVENT],
                         env=SCRIPT_ENV, stdin=subprocess.DEVNULL)
    wait_until('there is an instance', lambda: any('-%d-' % p.pid in n for n in instances()))
    time.sleep(0.2)
    p.kill()
    p.wait()
    was_left = any('-%d-' % p.pid in n for n in instances())
    err = sonde('run', '--ftrace', '-e', 'count("%s")' % EVENT, '--', 'true').stderr
    if was_left:  # another recorder of this machine may have removed it
        need('removed' in err, err)
    need(not any('-%d-' % p.pid in n for n in instances()), 'it is removed')


run()
