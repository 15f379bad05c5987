#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What sonde stat counts, its exit status, and when a count begins and ends.

    tests/stat/counts.py SONDE CALLS STANDIN KNOWN

CALLS: tests/record/calls.c, which makes a known number of system calls. STANDIN: standin.c.
KNOWN: known.c, which makes known page faults and switches.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'record'))
from tap import (  # noqa: E402
    PERF_ENV, SONDE, Skip, case, need, perf, run, same, sh, sonde, wait_until)

CALLS, STANDIN, KNOWN = (os.path.abspath(a) for a in sys.argv[2:5])
GETPPID = 'syscalls:sys_enter_getppid'


def counts(text, sep=','):
    """Event: count, of the output of -x."""
    return {line.split(sep)[2]: line.split(sep)[0] for line in text.splitlines()}


@case('a known number of system calls, of threads and of forked children')
def calls():
    for options, n in ((['-n', '1234'], 1234), (['-t', '4', '-n', '500'], 2000),
                       (['-n', '100', '-f', '7', '-c', '30'], 310)):
        for tool in ([SONDE], [perf()]):
            r = sh(*tool, 'stat', '-x,', '-e', GETPPID, '--', CALLS, *options)
            same(counts(r.stderr), {GETPPID: str(n)}, '%s %s' % (tool[0], r.stderr))


@case('-i leaves out the children')
def no_inherit():
    r = sonde('stat', '-i', '-x,', '-e', GETPPID, '--', CALLS, '-n', '100', '-f', '7', '-c', '30')
    same(counts(r.stderr), {GETPPID: '100'}, r.stderr)


@case('a kernel filter')
def filtered():
    code = 'import os\nfor fd in (90, 91, 91, 92): \n try: os.fchdir(fd)\n except OSError: pass\n'
    event = 'syscalls:sys_enter_fchdir'
    for tool in (SONDE, perf()):
        r = sh(tool, 'stat', '-x,', '-e', event, '--filter', 'fd == 91', '--', sys.executable,
               '-S', '-c', code)
        same(counts(r.stderr), {event: '2'}, r.stderr)


def counts_and_sleeps(pid):
    """Whether a tool has opened its counters and waits."""
    try:
        fds = [os.readlink('/proc/%d/fd/%s' % (pid, n)) for n in os.listdir('/proc/%d/fd' % pid)]
        with open('/proc/%d/wchan' % pid) as f:
            waits = any(word in f.read() for word in ('poll', 'sleep'))
    except FileNotFoundError:
        return False
    return waits and sum('perf_event' in fd for fd in fds) >= 3


@case('exactly the page faults and switches of a program, with both tools')
def known():
    for tool in (SONDE, perf()):
        p = subprocess.Popen([KNOWN, '1000', '50'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
        p.stdout.readline()
        s = subprocess.Popen([tool, 'stat', '-x,', '-e', 'faults,minor-faults,cs', '-p',
                              str(p.pid)], env=PERF_ENV, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        wait_until('%s counts' % tool, lambda: counts_and_sleeps(s.pid))
        p.stdin.write('\n')
        p.stdin.flush()
        switches = int(p.stdout.readline())
        s.send_signal(signal.SIGINT)
        values = counts(s.communicate(timeout=300)[1])
        p.communicate()
        same((values['faults'], values['minor-faults']), ('1000', '1000'), tool)
        # and once more where it waits for its end, unless it was interrupted in between
        need(switches >= 50 and switches <= int(values['cs']) <= switches + 3,
             '%s: %d, %r' % (tool, switches, values))


@case('-r: the mean of equal runs, without deviation')
def repeated():
    r = sonde('stat', '-r', '3', '-x,', '-e', GETPPID, '--', CALLS, '-n', '50')
    same(r.stderr.split(',')[:5], ['50', '', GETPPID, '0.00%', r.stderr.split(',')[4]], r.stderr)


@case('-r: the time on a counter is the mean of the runs, as the count is, as with perf')
def mean_times():
    spins = 'test -f x.ran || { i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; }; touch x.ran'
    for words in ([SONDE, 'stat', '-x,'], [perf(), 'stat', '-x,'], [SONDE, 'stat', '-j'],
                  [SONDE, 'stat', 'record', '-x,', '-o', 'means.data']):
        r = sh(*words, '-r', '3', '-e', 'task-clock', '--', 'sh', '-c', spins)
        os.unlink('x.ran')
        texts = [r.stderr]
        if 'record' in words:
            texts.append(sonde('stat', 'report', '-x,', '-i', 'means.data').stderr)
        for text in texts:
            if '-j' in words:
                row = json.loads(text)
                ms, ns = float(row['counter-value']), float(row['event-runtime'])
            else:
                ms, ns = (float(text.strip().split(',')[i]) for i in (0, 4))
            need(abs(ms * 1e6 - ns) < 0.02 * ns, '%s: %s' % (words, text))


@case('processor times follow the counts of a command, not those of other processes or cpus')
def times_of_command():
    pid = str(os.getpid())
    for tool in (SONDE, perf()):
        for options, has in (([], True), (['-p', pid], False), (['-t', pid], False),
                             (['-a'], False)):
            r = sh(tool, 'stat', *options, '-e', 'cs', '--', 'true')
            same((r.returncode, 'seconds user' in r.stderr), (0, has), '%s: %s' % (tool, options))


@case('counts for programs that cannot be written to standard error are status 1')
def lost_writes():
    for options, status in ((['-j'], 1), (['-x,'], 1), (['--format', 'json', '-r', '2'], 1),
                            (['--format', 'csv'], 1), ([], 0)):
        for compat, want in (([], status), (['--compat', 'perf-6.1'], 0)):
            with open('/dev/full', 'w') as full:
                p = subprocess.run([SONDE, *compat, 'stat', *options, '-e', 'cs', '--', 'true'],
                                   env=PERF_ENV, stderr=full)
            same(p.returncode, want, '%s %s' % (compat, options))
    for options in (['-o', '/dev/full'], ['-x,', '-o', '/dev/full'], ['record', '-o', '/dev/full']):
        r = sonde('stat', *options, '-e', 'cs', '--', 'true')
        same((r.returncode, '/dev/full: ' in r.stderr), (1, True), '%s %s' % (options, r.stderr))
    sonde('stat', 'record', '-o', 'lost.data', '-e', 'cs', '--', 'true')
    for options, status in ((['-j'], 1), (['-x,'], 1), ([], 0)):
        with open('/dev/full', 'w') as full:
            p = subprocess.run([SONDE, 'stat', 'report', *options, '-i', 'lost.data'],
                               env=PERF_ENV, stderr=full)
        same(p.returncode, status, 'report %s' % options)


@case('the status is that of the command, 128 + N for a signal, 126 and 127 if it cannot run')
def statuses():
    for command, status in ((['sh', '-c', 'exit 7'], 7), (['sh', '-c', 'kill -9 $$'], 137),
                            (['./no-such-command'], 127), (['/etc/passwd'], 126)):
        same(sonde('stat', '--', *command).returncode, status, command)
    r = sonde('--compat', 'perf-6.1', 'stat', '--', 'sh', '-c', 'kill -9 $$')
    same(r.returncode, sh(perf(), 'stat', '--', 'sh', '-c', 'kill -9 $$').returncode, r.stderr)


@case('mistakes are usage errors, before anything runs')
def mistakes():
    for options, says in (
            (['-e', 'nosuch'], 'nosuch'), (['-I', 'x'], '-I'),
            (['--interval-count', '3'], '-I'), (['-r', 'x'], '-r'),
            (['-I', '50', '--interval-count', 'x'], '--interval-count needs'),
            (['--timeout', 'x'], '--timeout needs'), (['--append'], '--append'),
            (['record', '--append', '-o', 'x.data'], '-o is the recording'),
            (['-A'], '-a'), (['--per-core'], '-a'), (['--per-thread'], '--per-thread'),
            (['--table'], '-r'), (['-M', 'IPC'], '-M'), (['--topdown'], '--topdown'),
            (['-T'], '-T: '), (['--smi-cost'], '--smi-cost'), (['--iostat'], '--iostat'),
            (['--td-level', '1'], '--td-level'),
            (['-o', '/tmp/x', '--log-fd', '1'], '--log-fd'), (['-D', 'x'], '-D'),
            (['-D', '-2'], "or -1 to count nothing until --control enables it, not '-2'"),
            (['--control', 'x'], '--control'), (['-e', 'cs', '-G', '/'], '-a'),
            (['-a', '--for-each-cgroup', 'no-such-group'], '--for-each-cgroup no-such-group: '),
            (['-e', 'cs', '--filter', 'x == 1'], 'tracepoint')):
        r = sonde('stat', *options, '--', 'touch', 'x.ran')
        same((r.returncode, r.stdout), (2, ''), '%s: %s' % (options, r.stderr))
        need(says in r.stderr, '%s: %s' % (options, r.stderr))
        need(not os.path.exists('x.ran'), 'the command ran with %s' % options)


@case('--timeout: 0 is none; the bounds of perf, and its silence about --append, with --compat')
def timeouts():
    for ms, statuses, says in (('5', (143, 129), 'needs 10 ms or more'),
                               ('50', (143, 0), 'less than 100 ms'), ('0', (0, 0), None)):
        for compat, status in zip(([], ['--compat', 'perf-6.1']), statuses):
            r = sonde(*compat, 'stat', '--timeout', ms, '-e', 'cs', '--', 'sleep', '0.2')
            same((r.returncode, bool(says) and says in r.stderr), (status, bool(says and compat)),
                 r.stderr)
    r = sonde('--compat', 'perf-6.1', 'stat', '--append', '-e', 'cs', '--', 'true')
    same(r.returncode, 0, r.stderr)


@case('-j is JSON in every combination')
def valid_json():
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN,
               STANDIN='0:0=2000 0:1=3000 0:4=600 0:5=30 0:7=50 0:8=60')
    for options in ([], ['-r', '2'], ['-I', '20'], ['-I', '20', '--summary'], ['-x,'],
                    ['-a', '-A'], ['-a', '--per-core'], ['-a', '--per-socket'],
                    ['-a', '-A', '-e', 'msr/tsc,percore/'],
                    ['-a', '--per-node'], ['-a', '--per-thread', '-e', 'cs'], ['-n'],
                    ['-a', '--for-each-cgroup', '/'], ['--metric-only'], ['-e', 'cs'],
                    ['-I', '20', '--metric-only'], ['-a', '-A', '--metric-only'],
                    ['-e', 'instructions,cycles,stalled-cycles-frontend'],
                    ['-I', '20', '-e', 'instructions,stalled-cycles-backend']):
        r = sh(SONDE, 'stat', '-j', *options, '--', 'sleep', '0.05', env=env)
        same(r.returncode, 0, r.stderr)
        for line in r.stderr.splitlines():
            need('null' not in line, line)
            same(type(json.loads(line)), dict, line)


def start(*options, **kw):
    return subprocess.Popen([SONDE, 'stat', *options], env=PERF_ENV, stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, **kw)


@case('-p counts a process until it ends')
def process():
    p = subprocess.Popen([CALLS, '-w', '-n', '300'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    s = start('-x,', '-e', GETPPID, '-p', str(p.pid))
    end = time.monotonic() + 300
    while 'poll' not in open('/proc/%d/wchan' % s.pid).read():
        need(time.monotonic() < end and s.poll() is None, 'it does not wait')
        time.sleep(0.02)
    p.communicate('\n')
    same(counts(s.communicate(timeout=300)[1]), {GETPPID: '300'})
    same(s.returncode, 0)
    r = sonde('stat', '-p', str(p.pid))
    need(r.returncode == 1 and 'process' in r.stderr, r.stderr)


@case('Ctrl-C prints what was counted; the command is ended')
def interrupted():
    s = start('-x,', '-e', 'cs', '--', 'sleep', '1000')
    end = time.monotonic() + 300
    while 'poll' not in open('/proc/%d/wchan' % s.pid).read():
        need(time.monotonic() < end and s.poll() is None, 'it does not wait')
        time.sleep(0.02)
    s.send_signal(signal.SIGINT)
    text = s.communicate(timeout=300)[1]
    need(re.search(r'^\d+,,cs,', text, re.M), text)
    same(s.returncode, 128 + signal.SIGTERM)
    # the result is that of the runs so far
    s = start('-r', '1000', '-e', 'cs', '--', 'sh', '-c', 'echo >> runs; sleep 0.05')
    while not os.path.exists('runs') or os.path.getsize('runs') < 3:
        need(time.monotonic() < end and s.poll() is None, 'it does not run the command')
        time.sleep(0.02)
    s.send_signal(signal.SIGINT)
    text = s.communicate(timeout=300)[1]
    need('Performance counter stats' in text and 'seconds time elapsed' in text, text)


@case('--post that fails: the counts are printed, the status is 1; perf does not report it')
def failing_post():
    events = ('-e', 'cs')
    fails = ('--post', 'exit 3')
    for options, header in (((), 'cs '), (('-x,',), ',,cs,'), (('-j',), '"event" : "cs"'),
                            (('-I', '20'), 'cs '), (('--format', 'json'), '"event":"cs"'),
                            (('record', '-o', 'post.data'), 'cs ')):
        for compat, status in (((), 1), (('--compat', 'perf-6.1'), 0)):
            r = sonde(*compat, 'stat', *options, *fails, *events, '--', 'true')
            same((r.returncode, header in r.stderr, "--post: 'exit 3' failed" in r.stderr),
                 (status, True, True), '%s %s %s' % (compat, options, r.stderr))
    need('cs ' in sonde('stat', 'report', '-i', 'post.data').stderr)
    # the first failure ends the runs; the status of a command that fails itself is its own
    for tool, n in (([SONDE], 1), ([SONDE, '--compat', 'perf-6.1'], 3), ([perf()], 3)):
        r = sh(*tool, 'stat', '-r', '3', *fails, *events, '--', 'sh', '-c', 'echo; exit 9')
        same((r.returncode, len(r.stdout), 'cs ' in r.stderr), (9, n, True), tool)
    same(sonde('stat', '--pre', 'exit 3', *events, '--', 'touch', 'x.ran').returncode, 1)
    need(not os.path.exists('x.ran'), '--pre failed, and the command ran')


@case('-D -1 and --control: counted is what happens between enable and disable')
def control():
    for name in ('ctl', 'ack'):
        os.mkfifo(name)
    ack = os.open('ack', os.O_RDWR)
    ctl = os.open('ctl', os.O_RDWR)
    p = subprocess.Popen([CALLS, '-w', '-n', '40'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True)
    p.stdout.readline()
    s = start('-x,', '-e', GETPPID, '-D', '-1', '--control', 'fifo:ctl,ack', '-p', str(p.pid))
    for command in ('ping', 'enable', 'disable'):
        os.write(ctl, command.encode() + b'\n')
        same(os.read(ack, 100), b'ack\n', command)
    os.write(ctl, b'enable %s\n' % GETPPID.encode())
    same(os.read(ack, 100), b'ack\n')
    os.write(ctl, b'enable nosuch\n')
    need(os.read(ack, 100).startswith(b'failed'), 'an event that is not there')
    p.communicate('\n')
    text = s.communicate(timeout=300)[1]
    need('Events disabled' in text and 'Events enabled' in text, text)
    need('40,,' + GETPPID in text, text)
    os.close(ack)
    r = sonde('stat', '--control', 'fd:77', '--', 'touch', 'x.ran')
    same((r.returncode, 'descriptor 77 is not open' in r.stderr, os.path.exists('x.ran')),
         (1, True, False), r.stderr)
    os.close(ctl)


@case('-o, --append and --log-fd write to a file')
def written():
    for options in (['-o', 'x.txt'], ['-o', 'x.txt', '--append']):
        r = sonde('stat', *options, '-e', 'cs', '--', 'true')
        same((r.returncode, r.stderr, r.stdout), (0, '', ''))
    text = open('x.txt').read()
    same(text.count('Performance counter stats'), 2, text)
    with open('y.txt', 'w') as f:
        r = sh(SONDE, 'stat', '--log-fd', str(f.fileno()), '-e', 'cs', '--', 'true',
               pass_fds=[f.fileno()])
    need('seconds time elapsed' in open('y.txt').read(), r.stderr)
    r = sonde('stat', '-o', '-', '-e', 'cs', '--', 'true')
    same((r.returncode, r.stdout, 'seconds time elapsed' in r.stderr, os.path.exists('-')),
         (0, '', True, False), r.stderr)
    r = sonde('stat', '-o', '/dev/full', '--', 'true')
    need(r.returncode == 1 and '/dev/full' in r.stderr, r.stderr)


@case('an event that the kernel refuses is not supported; others are counted')
def refused():
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN, STANDIN='0:0=!2 0:1=!22 0:4=!95 0:5=!19 0:3=700')
    r = sh(SONDE, 'stat', '-x,', '-e', 'cycles,instructions,branches,branch-misses,cache-misses',
           '--', 'true', env=env)
    values = counts(r.stderr)
    same([values[k] for k in ('cycles', 'instructions', 'branches', 'branch-misses')],
         ['<not supported>'] * 4, r.stderr)
    same((values['cache-misses'], r.returncode), ('700', 0))


@case('the figures of a shared counter are extrapolated, --no-scale prints them as they are')
def shared():
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN, STANDIN='0:0=1000,4000000,1000000')
    for options, value in (([], '4000'), (['--no-scale'], '1000')):
        r = sh(SONDE, 'stat', '-x,', *options, '-e', 'cycles', '--', 'true', env=env)
        same(r.stderr.split(',')[:5], [value, '', 'cycles', '1000000', '25.00'], r.stderr)


def baseline(*options):
    return sonde('stat', '-e', GETPPID, '--baseline', 'base.json', *options)


@case('the other events of a group are counted if its leader is not supported')
def group_without_leader():
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN, STANDIN='0:0=!2')
    r = sh(SONDE, 'stat', '-x,', '-e', '{cycles,%s,faults}' % GETPPID, '--', CALLS, '-n', '60',
           env=env)
    values = counts(r.stderr)
    same((values['cycles'], values[GETPPID]), ('<not supported>', '60'), r.stderr)
    need(int(values['faults']) > 0, r.stderr)


@case('a weak group that one cpu refuses is counted there, too, and on the cpus before it')
def weak_groups():
    last = os.sysconf('SC_NPROCESSORS_ONLN') - 1
    if not last:
        raise Skip('one cpu')
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN, STANDIN='0:0=1000 0:4=600 0:5=30/%d' % last)
    r = sh(SONDE, 'stat', '-x,', '-a', '-A', '-e', '{cycles,branches,branch-misses}:W', 'true',
           env=env)
    rows = [row.split(',') for row in r.stderr.splitlines()]
    for event, count in ('cycles', '1000'), ('branches', '600'), ('branch-misses', '30'):
        got = [(row[0], row[1]) for row in rows if row[3] == event]
        same(got, [('CPU%d' % i, count) for i in range(last + 1)], r.stderr)


@case('--per-thread -r: each thread has its own mean')
def threads_of_runs():
    spin = 'while :; do :; done'
    tasks = [subprocess.Popen(['sh', '-c', spin]), subprocess.Popen(['sleep', '1000'])]
    try:
        pids = [str(p.pid) for p in tasks]
        # in the second run the first task is stopped
        r = sonde('stat', '-x,', '-e', 'task-clock', '-p', ','.join(pids), '--per-thread', '-r',
                  '2', '--timeout', '300', '--post', 'kill -STOP ' + pids[0])
    finally:
        for p in tasks:
            p.kill()
            p.wait()
    rows = {line.split(',')[0].split('-')[-1]: line.split(',')[1] for line in
            r.stderr.splitlines()}
    # as with perf, the last run says whether a thread was counted
    need(rows[pids[0]] == '<not counted>' or float(rows[pids[0]]) > 20, r.stderr)
    need(rows[pids[1]] == '<not counted>' or float(rows[pids[1]]) < 5, r.stderr)


@case('after a pause of the counter there is one long interval, not many empty ones')
def paused():
    s = start('-x,', '-I', '50', '-a', '-e', 'cpu-clock', '--', 'sleep', '1.5')
    time.sleep(0.3)
    s.send_signal(signal.SIGSTOP)
    time.sleep(0.6)
    s.send_signal(signal.SIGCONT)
    times = [float(line.split(',')[0]) for line in s.communicate(timeout=300)[1].splitlines()]
    gaps = [b - a for a, b in zip(times, times[1:])]
    need(max(gaps) > 0.4, repr(times))
    need(sum(g < 0.01 for g in gaps[:-1]) <= 1, repr(times))


@case('--baseline: equal runs pass, an increase beyond the threshold is status 1')
def compared():
    r = sonde('stat', '-r', '3', '-e', GETPPID, '--format', 'json', '-o', 'base.json', '--', CALLS,
              '-n', '100')
    same((r.returncode, r.stderr), (0, ''))
    with open('base.json') as f:
        base = json.load(f)
    same((base['schema'], base['version'], base['counts']),
         ('sonde-stat', 1, [{'event': GETPPID, 'runs': [100, 100, 100]}]))
    same(len(base['elapsed_ns']), 3)
    for calls, options, status in ((100, [], 0), (104, [], 0), (106, [], 1), (50, [], 0),
                                   (104, ['--threshold', '3'], 1), (100, ['-r', '2'], 0)):
        r = baseline(*options, '--', CALLS, '-n', str(calls))
        same((r.returncode, '%+.2f%%' % (calls - 100) in r.stderr), (status, True), r.stderr)
    for calls, status in ((100, 0), (200, 1)):
        r = baseline('--quiet', '--', CALLS, '-n', str(calls))
        same((r.returncode, r.stderr), (status, ''))
    r = baseline('--format', 'json', '--', CALLS, '-n', '200')
    d = json.loads(r.stderr)['differences'][0]
    same((r.returncode, d['percent'], d['low_percent'], d['is_beyond']), (1, 100, 100, True))
    r = sonde('stat', 'record', '-r', '2', '-e', GETPPID, '-o', 'base.data', '--', CALLS, '-n',
              '100')
    same(r.returncode, 0, r.stderr)
    for calls, status in ((100, 0), (110, 1)):
        r = sonde('stat', '-e', GETPPID, '--baseline', 'base.data', '--', CALLS, '-n', str(calls))
        same((r.returncode, '%+.2f%%' % (calls - 100) in r.stderr), (status, True), r.stderr)
    for calls, status in ((100, 0), (200, 1)):
        r = baseline('--quiet', '--', CALLS, '-n', str(calls))
        same((r.returncode, r.stderr), (status, ''), 'with --quiet')
    r = baseline('--', 'sh', '-c', '%s -n 200; exit 9' % CALLS)
    same(r.returncode, 9, r.stderr)


@case('--baseline: an event that was never counted does not matter')
def never_counted():
    env = dict(PERF_ENV, LD_PRELOAD=STANDIN, STANDIN='0:0=!2')
    events = ('-e', 'cycles,' + GETPPID)
    r = sh(SONDE, 'stat', '-r', '2', *events, '--format', 'json', '-o', 'base.json', '--', CALLS,
           '-n', '100', env=env)
    same(r.returncode, 0, r.stderr)
    r = sh(SONDE, 'stat', *events, '--baseline', 'base.json', '--', CALLS, '-n', '100', env=env)
    rows = [line.split() for line in r.stderr.splitlines() if 'cycles' in line]
    same((r.returncode, rows[1:]), (0, [['-', '-', 'not', 'counted', 'cycles']]), r.stderr)
    r = sh(SONDE, 'stat', *events, '--baseline', 'base.json', '--format', 'json', '--', CALLS,
           '-n', '100', env=env)
    d = json.loads(r.stderr)['differences'][0]
    same((r.returncode, d), (0, {'event': 'cycles', 'baseline': None, 'now': None,
                                 'is_beyond': False}), r.stderr)
    # now it is there
    r = sh(SONDE, 'stat', *events, '--baseline', 'base.json', '--', CALLS, '-n', '100',
           env=dict(env, STANDIN='0:0=1000'))
    same((r.returncode, 'not counted twice' in r.stderr), (1, True), r.stderr)


@case('--baseline: a file that cannot be used is a mistake, before anything runs')
def refused_baselines():
    good = ('{"schema":"sonde-stat","version":1,"elapsed_ns":[1,2],"counts":'
            '[{"event":"%s","runs":[1,2]}]}' % GETPPID)
    bad = {'': 'expected', '{}': 'schema', good[:-1]: 'expected', good[:60]: 'expected',
           good.replace('[1,2]', '[1]'): '1 run;', good.replace('getppid', 'getpid'): 'no counts',
           good.replace('"version":1', '"version":2'): 'version 1', '[' * 500: 'expected',
           good + ' x': 'the end of the file', good.replace('[1,2]}', '[1,-2]}'): '0 or more',
           good.replace('[1,2]}', '[1,1e999]}'): '0 or more',
           good.replace('[1,2],', '[1,2e308],'): 'times of 0 or more',
           good.replace('[1,2]}', '[1,null]}'): 'two or more',
           good.replace('[1,2]}', '[null,null]}'): 'no event was counted',
           good.replace(GETPPID, ''): 'name',
           good.replace('}]}', '},{"event":"cs","runs":[1,2]}]}'): 'other events',
           good.replace('[1,2]}', '[1,x]}'): 'a number', '{"a":' * 500: 'nested'}
    for text, says in bad.items():
        with open('base.json', 'w') as f:
            f.write(text)
        r = baseline('--', 'touch', 'x.ran')
        same((r.returncode, says in r.stderr), (2, True), '%s: %s' % (text[:80], r.stderr))
        need(not os.path.exists('x.ran'), 'the command ran')
    os.unlink('base.json')
    same(baseline('--', 'true').returncode, 2)
    with open('base.json', 'w') as f:
        f.write(good)
    same(sonde('stat', '-a', '-e', GETPPID, '--baseline', 'base.json').returncode, 2)
    r = baseline('-a', '-A', '--', 'touch', 'x.ran')
    same((r.returncode, 'no places' in r.stderr, os.path.exists('x.ran')), (2, True, False))
    # -j is not --format json, and what is compared with is not overwritten
    r = sonde('stat', '-e', GETPPID, '-j', '-o', 'rows.json', '--', 'true')
    same(r.returncode, 0, r.stderr)
    r = sonde('stat', '-e', GETPPID, '--baseline', 'rows.json', '--', 'touch', 'x.ran')
    same((r.returncode, 'rows of -j' in r.stderr), (2, True), r.stderr)
    os.link('base.json', 'same.json')
    for options in (['-o', 'base.json'], ['--format', 'json', '-o', './same.json'],
                    ['-o', 'base.json', '--append']):
        r = baseline(*options, '--', 'touch', 'x.ran')
        same((r.returncode, 'name another file' in r.stderr, open('base.json').read() == good),
             (2, True, True), r.stderr)
    same(os.path.exists('x.ran'), False)
    for options in (['-r', '1'], ['-I', '100'], ['-j'], ['-x,'], ['--threshold', 'x'],
                    ['--threshold', 'inf'],
                    ['--format', 'xml']):
        same(baseline(*options, '--', 'true').returncode, 2, options)


@case('--baseline: other places or repetitions are a mistake, and no row is left out')
def baselines_of_places():
    def base(*options):
        r = sonde('stat', '-r', '2', *options, '--format', 'json', '-o', 'base.json', '--', 'true')
        same(r.returncode, 0, r.stderr)

    def refused_with(says, *options):
        r = sonde('stat', '--baseline', 'base.json', *options, '--', 'touch', 'x.ran')
        same((r.returncode, says in r.stderr), (2, True), '%s: %s' % (options, r.stderr))
        need(not os.path.exists('x.ran'), 'the command ran with %s' % (options,))

    base('-e', 'faults')
    refused_with('no places', '-a', '-A', '-e', 'faults')
    refused_with('faults: 1 in base.json, 2 in this run', '-e', 'faults,faults')
    base('-e', 'faults,faults')
    refused_with('faults: 2 in base.json, 1 in this run', '-e', 'faults')
    base('-e', 'faults,cs')
    refused_with('other events, too: cs', '-e', 'faults')
    base('-a', '-A', '-e', 'cpu-clock')
    refused_with('CPU0', '-a', '-e', 'cpu-clock')
    refused_with('CPU0', '-a', '--per-socket', '-e', 'cpu-clock')
    everything = ('--baseline', 'base.json', '--threshold', '1e9', '-a', '-A', '-e', 'cpu-clock')
    r = sonde('stat', *everything, '--', 'true')
    same((r.returncode, r.stderr.count('CPU0')), (0, 2), r.stderr)
    with open('base.json') as f:
        text = f.read()
    with open('base.json', 'w') as f:
        f.write(text.replace('CPU0', 'CPU4000'))
    r = sonde('stat', *everything, '--', 'true')
    same((r.returncode, r.stderr.count('not counted twice'), 'CPU4000' in r.stderr), (1, 2, True),
         r.stderr)
    r = sonde('stat', 'record', '-r', '2', '-e', 'faults', '-o', 'base.data', '--', 'true')
    same(r.returncode, 0, r.stderr)
    r = sonde('stat', '-a', '-A', '-e', 'faults', '--baseline', 'base.data', '--', 'true')
    same((r.returncode, 'by cpu' in r.stderr), (2, True), r.stderr)


@case('--baseline: runs that Ctrl-C ended are not compared, nor do they make a baseline')
def interrupted_baselines():
    r = sonde('stat', '-r', '2', '-e', 'cs', '--format', 'json', '-o', 'base.json', '--', 'true')
    same(r.returncode, 0, r.stderr)
    second = 'test -f first && exec sleep 1000; touch first'

    def sleeps(pid):
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            children = f.read().split()
        return children and open('/proc/%s/comm' % children[0]).read() == 'sleep\n'

    def interrupt(*options):
        s = start('-e', 'cs', *options, '--', 'sh', '-c', second)
        wait_until('the second run sleeps', lambda: sleeps(s.pid))
        s.send_signal(signal.SIGINT)
        text = s.communicate(timeout=300)[1]
        os.unlink('first')
        same(s.returncode, 128 + signal.SIGTERM, text)
        return text

    text = interrupt('-r', '3', '--baseline', 'base.json')
    need('not compared with base.json: 1 of 3 runs are complete' in text and
         'Compared' not in text, text)
    need(re.search(r'cs .*\n', text), text)
    interrupt('-r', '3', '--format', 'json', '-o', 'cut.json')
    same([len(x['runs']) for x in json.load(open('cut.json'))['counts']], [2])
    r = sonde('stat', '-e', 'cs', '--baseline', 'cut.json', '--', 'true')
    same((r.returncode, 'was interrupted' in r.stderr), (2, True), r.stderr)


@case('--baseline: the name of an event may get the modifier u when its counters are opened')
def baselines_of_users():
    if int(open('/proc/sys/kernel/perf_event_paranoid').read()) != 2:
        raise Skip('kernel.perf_event_paranoid is not 2')
    os.chmod('.', 0o777)
    nobody = ('setpriv', '--reuid', '65534', '--clear-groups', SONDE, 'stat', '-e', 'faults')
    for write in (('--format', 'json', '-o', 'user.json'), ('record', '-o', 'user.json')):
        r = sh(*nobody[:6], *write, '-r', '2', *nobody[6:], '--', 'true')
        same(r.returncode, 0, r.stderr)
        r = sh(*nobody, '--baseline', 'user.json', '--threshold', '1e9', '--', 'true')
        same((r.returncode, 'faults:u' in r.stderr), (0, True), r.stderr)
        os.unlink('user.json')


@case('a cpu that is taken away and added again is counted meanwhile, and reported')
def hotplug():
    online = '/sys/devices/system/cpu/cpu1/online'
    if not os.access(online, os.W_OK):
        raise Skip('cpu 1 cannot be taken offline')
    s = start('-a', '-A', '-x,', '-e', 'cpu-clock', '--', 'sleep', '2')
    try:
        time.sleep(0.5)
        try:
            open(online, 'w').write('0')
        except OSError as e:
            raise Skip('cpu 1 cannot be taken offline: %s' % e)
        time.sleep(0.4)
    finally:
        if open(online).read().strip() == '0':
            open(online, 'w').write('1')
        text = s.communicate(timeout=300)[1]
    values = {m[1]: float(m[2]) for m in re.finditer(r'^(CPU\d),([\d.]+),', text, re.M)}
    need(values['CPU1'] < values['CPU0'] - 300, text)
    need('offline' in text and 'cpu 1' in text, text)


if not shutil.which('perf') and not os.environ.get('SONDE_CI'):
    print('1..0 # SKIP perf is not installed')
    sys.exit(0)
sys.exit(run())
