# SPDX-License-Identifier: MIT
"""Recordings of ftrace's buffers (--ftrace): events and losses add up to known counts, trace-cmd
prints the same lines, and instances of tracefs that are not ours stay as they are."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from tap import PERF_ENV, SONDE, Skip, case, need, run, same, sonde, wait_until

CALLS = os.path.abspath(sys.argv[2])
TRACEFS = next((p for p in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')
                if os.path.isdir(p + '/instances')), None)
EVENT = 'syscalls:sys_enter_getppid'


def record(*args, name='x.dat'):
    r = sonde('record', '--ftrace', '-o', name, *args)
    same(r.returncode, 0, r.stderr)
    return r.stderr


def lines(name='x.dat', *args):
    r = sonde('script', '-i', name, *args)
    same(r.returncode, 0, r.stderr)
    return r.stdout.splitlines()


def instances():
    return [n for n in os.listdir(TRACEFS + '/instances') if n.startswith('sonde-')]


def need_tracefs():
    if not TRACEFS or os.geteuid():
        raise Skip('ftrace has no instances here, or this is not root')


@case('a known number of calls, of two threads and of children')
def _():
    need_tracefs()
    said = record('-e', EVENT, '--', CALLS, '-t', '2', '-n', '2000', '-f', '3', '-c', '100')
    got = lines()
    same(len([x for x in got if EVENT in x]), 4300, 'events')
    need('(4300 events)' in said, said)
    need(not [n for n in os.listdir('.') if '.cpu' in n], 'FILE.cpuN are left')
    same([n for n in instances() if '-%d-' % os.getpid() in n], [], 'instances')


@case('two recordings at once have each its own instance and events')
def _():
    need_tracefs()
    names = {'one.dat': 'syscalls:sys_enter_getppid', 'two.dat': 'syscalls:sys_exit_getppid'}
    both = [subprocess.Popen([SONDE, 'record', '--ftrace', '-e', event, '-o', name, '--', CALLS,
                              '-t', '2', '-n', '3000'], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for name, event in names.items()]
    for r in both:
        said = r.communicate(timeout=60)[0]
        same(r.returncode, 0, said)
        need('(6000 events)' in said, said)
    for name, event in names.items():
        got = lines(name)
        same(len([x for x in got if event in x]), 6000, name)
        same(len(got), 6000, name)
    same([n for n in instances() if any('-%d-' % r.pid in n for r in both)], [], 'instances')


@case('full buffers: events and losses together are the calls')
def _():
    need_tracefs()
    said = record('-e', EVENT, '--buffer-size', '4K', '--', CALLS, '-t', '2', '-n', '200000')
    lost = re.search(r'(\d+) events were lost \(cpu', said)
    if not lost:
        raise Skip('nothing was lost')
    same(len(lines()) + int(lost[1]), 400000, said)
    r = sonde('script', '-i', 'x.dat')
    need('lost-events: %s ' % lost[1] in r.stderr, said + r.stderr)


@case("trace-cmd's lines are ours")
def _():
    need_tracefs()
    if not shutil.which('trace-cmd'):
        raise Skip('trace-cmd is not installed')
    record('-e', 'sched:*,syscalls:sys_enter_read', '--trigger', 'stacktrace:2', '--', 'sh', '-c',
           'ls / >/dev/null; cat /proc/self/stat >/dev/null')
    theirs = subprocess.run(['trace-cmd', 'report', 'x.dat'], env=PERF_ENV, capture_output=True,
                            text=True)
    ours = sonde('script', '--format', 'trace-cmd', '-i', 'x.dat')
    same(ours.stdout.splitlines(), theirs.stdout.splitlines(), 'lines')
    need('kernel_stack' in ours.stdout, ours.stdout)


@case('filters, cpus and processes')
def _():
    need_tracefs()
    record('-a', '-C', '0', '-e', 'sched:sched_switch', '--filter', 'prev_prio == 120', '--',
           'sleep', '0.2')
    got = lines()
    need(got and all('[000]' in x and 'prev_prio=120 ' in x for x in got), '\n'.join(got[:3]))
    p = subprocess.Popen([CALLS, '-w', '-n', '500'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True)
    p.stdout.readline()
    r = subprocess.Popen([SONDE, 'record', '--ftrace', '-e', EVENT, '-o', 'p.dat', '-p',
                          str(p.pid)], env=PERF_ENV, stderr=subprocess.PIPE, text=True)
    wait_until('the recorder', lambda: [n for n in instances() if '-%d-' % r.pid in n and open(
        '%s/instances/%s/tracing_on' % (TRACEFS, n)).read().strip() == '1'])
    p.communicate('\n')
    said = r.communicate(timeout=60)[1]
    same(r.returncode, 0, said)
    same(len(lines('p.dat')), 500, said)


@case('Ctrl-C ends a recording')
def _():
    need_tracefs()
    r = subprocess.Popen([SONDE, 'record', '--ftrace', '-a', '-e', 'sched:sched_switch', '-o',
                          'c.dat'], env=PERF_ENV, stderr=subprocess.PIPE, text=True)
    wait_until('the recorder', lambda: [n for n in instances() if '-%d-' % r.pid in n])
    time.sleep(0.3)
    r.send_signal(signal.SIGINT)
    said = r.communicate(timeout=60)[1]
    same(r.returncode, 0, said)
    need(lines('c.dat'), said)
    same([n for n in instances() if '-%d-' % r.pid in n], [], 'instances')


@case('an instance of a recorder that was killed is removed, another one is not')
def _():
    need_tracefs()
    mine = TRACEFS + '/instances/sonde-of-somebody'
    os.mkdir(mine)
    try:
        r = subprocess.Popen([SONDE, 'record', '--ftrace', '-a', '-e', 'sched:sched_switch', '-o',
                              'k.dat'], env=PERF_ENV, stderr=subprocess.PIPE, text=True)
        wait_until('the recorder', lambda: [n for n in instances() if '-%d-' % r.pid in n])
        time.sleep(0.2)
        r.kill()
        r.communicate()
        left = [n for n in instances() if '-%d-' % r.pid in n]
        same(len(left), 1, 'an instance is left')
        said = record('-e', EVENT, '--', CALLS, '-n', '5')
        need('removed' in said and left[0] in said, said)
        need(left[0] not in instances() and os.path.isdir(mine), str(instances()))
    finally:
        os.rmdir(mine)


@case('what ftrace cannot do is refused, and nothing is left')
def _():
    need_tracefs()
    event = ['-e', 'sched:sched_switch']
    for words, says in (
            (['-e', 'cpu-clock'], 'tracepoints'),
            (['-e', 'sched:sched_switch,cpu-clock'], 'cpu-clock'),
            (['-e', 'ftrace:print'], 'markers write'),
            (['-g', *event], 'stacktrace'),
            ([*event, '--trigger', 'nothing'], 'traceoff'),
            ([*event, '--clock', 'nothing'], 'mono_raw'),
            ([*event, '--buffer-size', '1'], '4K'),
            (['--trigger', 'traceoff', *event], 'before it')):
        r = sonde('record', '--ftrace', '-o', 'r.dat', *words, '--', 'true')
        same(r.returncode, 2, '%s: %s' % (words, r.stderr))
        need(says in r.stderr, '%s: %s' % (words, r.stderr))
        need(not [n for n in os.listdir('.') if n.startswith('r.dat')], words)
    r = sonde('record', '--ftrace', '-o', 'r.dat', *event, '--filter', 'nofield == 1', '--', 'true')
    same(r.returncode, 1, r.stderr)
    need('its fields: ' in r.stderr, r.stderr)
    for words, says in ((['-g', *event], 'call chains'), ([*event, '-k', 'realtime'], '-k'),
                        ([*event, '--clock', 'mono'], '-k'), (['-e', 'cpu-clock'], 'tracepoints')):
        r = sonde('record', '--ftrace', '-o', '-', *words, '--', 'true')
        same((r.returncode, r.stdout), (2, ''), '%s: %s' % (words, r.stderr))
        need(says in r.stderr, '%s: %s' % (words, r.stderr))
    same(instances(), [])


@case('a file with the name of the pages is kept, and options of --ftrace alone are refused')
def _():
    need_tracefs()
    with open('m.dat.cpu0', 'w') as f:
        f.write('mine')
    r = sonde('record', '--ftrace', '-e', EVENT, '-o', 'm.dat', '--', 'true')
    same(r.returncode, 1, r.stderr)
    need('m.dat.cpu0 exists' in r.stderr, r.stderr)
    with open('m.dat.cpu0') as f:
        same(f.read(), 'mine')
    same([n for n in os.listdir('.') if n.startswith('m.dat')], ['m.dat.cpu0'])
    for words in (['--clock', 'mono'], ['--buffer-size', '8M'], ['--trigger', 'stacktrace']):
        r = sonde('record', '-e', EVENT, *words, '-o', 'm.data', '--', 'true')
        same(r.returncode, 2, r.stderr)
        need('--ftrace' in r.stderr, r.stderr)


@case('events that a trigger enables have their formats')
def _():
    need_tracefs()
    record('-a', '-e', 'sched:sched_switch', '--trigger', 'enable_event:irq:softirq_raise', '--',
           'sleep', '0.3')
    got = lines()
    need(any('irq:softirq_raise' in x for x in got), '\n'.join(got[:5]))
    need(not any('unknown' in x for x in got), '\n'.join(got[:5]))


@case('times of a counter are not merged with others')
def _():
    need_tracefs()
    record('-a', '-e', 'sched:sched_switch', '--clock', 'counter', '--', 'sleep', '0.1',
           name='n.dat')
    record('-a', '-e', 'sched:sched_switch', '--', 'sleep', '0.1')
    r = sonde('script', '-i', 'x.dat', '-i', 'n.dat')
    need(r.returncode and '(the kernel' in r.stderr and ' and counter)' in r.stderr and
         '--offset' in r.stderr, '%d %s' % (r.returncode, r.stderr))


TABLE = """
import collections
read = collections.Counter()
asked = collections.Counter()
def syscalls__sys_enter_read(name, context, cpu, s, ns, pid, comm, chain, nr, fd, buf, count):
    if count == 7:
        asked[comm] += count
def syscalls__sys_exit_read(name, context, cpu, s, ns, pid, comm, chain, nr, ret):
    if ret == 7 and comm == 'dd':
        read[comm] += ret
def trace_end():
    print(sorted(asked.items()), sorted(read.items()))
"""


PERL = """
my (%asked, %read);
sub syscalls::sys_enter_read {
    my ($name, $context, $cpu, $s, $ns, $pid, $comm, $chain, $nr, $fd, $buf, $count) = @_;
    $asked{$comm} += $count if $count == 7;
}
sub syscalls::sys_exit_read {
    my ($name, $context, $cpu, $s, $ns, $pid, $comm, $chain, $nr, $ret) = @_;
    $read{$comm} += $ret if $ret == 7 && $comm eq 'dd';
}
sub trace_end { print map { "$_ $asked{$_} $read{$_}\\n" } sort keys %asked }
"""


@case('a script gives the same table over a perf.data and a trace.dat of the same work')
def _():
    need_tracefs()
    with open('table.py', 'w') as f:
        f.write(TABLE)
    events = ['-e', 'syscalls:sys_enter_read,syscalls:sys_exit_read']
    r = sonde('record', '-q', *events, '-o', 'p.data', '--', SONDE, 'record', '--ftrace', '-q',
              *events, '-o', 't.dat', '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=7',
              'count=1000', 'status=none')
    same(r.returncode, 0, r.stderr)
    tables = [sonde('script', '-i', name, '-s', 'table.py').stdout for name in ('p.data', 't.dat')]
    same(tables[0], tables[1], 'tables')
    need("('dd', 7000)" in tables[0], tables[0])
    with open('table.pl', 'w') as f:
        f.write(PERL)
    tables = [sonde('script', '-i', name, '-s', 'table.pl') for name in ('p.data', 't.dat')]
    if 'libperl-dev' in tables[0].stderr:
        raise Skip('the Perl module was not built')
    same(tables[0].stdout, tables[1].stdout, 'tables of Perl')
    same(tables[0].stdout, 'dd 7000 7000\n', tables[0].stderr)


run()
