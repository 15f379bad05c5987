# SPDX-License-Identifier: MIT
"""Targets of a recording (cpus, processes, threads, users): the events in the file, and comparisons
with perf.
"""
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import perfdata
import seccomp
from tap import (PERF_ENV, SONDE, Skip, case, few_symbols, is_recording, need, perf, run, same, sh,
                 sonde, until_switched, wait_until)

STRANGER = 64321  # a user id that nobody has
ONLINE = '/sys/devices/system/cpu/online'
# For any user.
PYTHON = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable
SWITCHER = 'import time\nwhile True: time.sleep(0.002)'


class Started:
    """A program in the background, killed at the end."""
    def __init__(self, *argv, **kw):
        self.p = subprocess.Popen(argv, env=PERF_ENV, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True, **kw)

    def __enter__(self):
        return self.p

    def __exit__(self, *why):
        try:
            os.killpg(self.p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.p.wait()
        self.p.stderr.close()


def python(text, *argv, **kw):
    return Started(PYTHON, '-c', text, *argv, **kw)


def evlists(*options):
    """(perf evlist -v of perf's recording, of sonde's, stderr of sonde)"""
    text = []
    for tool in (sh, sonde):
        argv = ('perf', 'record') if tool is sh else ('record',)
        # --no-bpf-event: perf does not sleep for a second then.
        r = tool(*argv, '-B', '-N', '--no-bpf-event', '-o', 'x.data', *options)
        same(r.returncode, 0, '%r: %s' % (options, r.stderr))
        text.append(re.sub(r'\|(ID|IDENTIFIER)\b', '',
                           sh('perf', 'evlist', '-v', '-i', 'x.data').stdout))
    return text[0], text[1], r.stderr


def columns(fields):
    """The set of lines of x.data, after a check that both tools print the same."""
    texts = []
    for argv in (('perf', 'script'), (SONDE, 'script')):
        if argv[0] == 'perf' and not shutil.which('perf'):
            continue
        r = sh(*argv, '-i', 'x.data', '-F', fields)
        same(r.returncode, 0, r.stderr)
        texts.append(sorted(r.stdout.split('\n')))
    same(texts[0], texts[-1], 'texts of both tools')
    return set(line.strip() for line in texts[-1] if line.strip())


def tids():
    return set(tid for attr, pid, tid, t, raw in perfdata.File('x.data').samples())


def recorded(*argv, **kw):
    r = sonde('record', '-q', '-o', 'x.data', *argv, **kw)
    same((r.returncode, r.stderr), (0, ''), repr(argv))


def online():
    cpus = []
    for part in open(ONLINE).read().strip().split(','):
        first, _, last = part.partition('-')
        cpus += range(int(first), int(last or first) + 1)
    return cpus


@case('-C records everything on these cpus, and nothing on others')
def _():
    cpus = online()
    for text, wanted in ((str(cpus[-1]), {cpus[-1]}),
                         ('%d,%d,%d' % (cpus[-1], cpus[0], cpus[-1]), {cpus[0], cpus[-1]}),
                         ('%d-%d' % (cpus[0], cpus[0]), {cpus[0]})):
        # The status only is checked: other tasks on the cpu may make more events than fit.
        # A tracepoint, because some kernels give samples of a software event the id of another
        # recorder's event. The command runs on that cpu, so that there are switches.
        r = sonde('record', '-q', '-o', 'x.data', '-C', text, '-e', 'sched:sched_switch', '--',
                  'taskset', '-c', str(min(wanted)), 'sh', '-c',
                  'for i in 1 2 3; do sleep 0.01; done')
        same(r.returncode, 0, r.stderr)
        seen = set(int(x.strip('[]')) for x in columns('cpu'))
        need(seen and seen <= wanted, '-C %s: %r' % (text, seen))
        need(len(tids()) > 1, 'other tasks than the command')
    perf()
    ours = evlists('-C', str(cpus[0]), '-e', 'cs', '--', 'true')
    same(ours[0], ours[1], 'evlist')


@case('-C with a cpu that is absent or offline, and with a wrong list')
def _():
    r = sonde('record', '-o', 'x.data', '-C', '%d,9999' % online()[0], '-e', 'cs', '--', 'touch',
              'ran')
    need(r.returncode == 1 and 'no cpu 9999' in r.stderr and 'it has' in r.stderr, r.stderr)
    for text in ('', 'x', '0-', '-1', '1-0', '0,', ',0', '0,,1', '0 1'):
        r = sonde('record', '-o', 'x.data', '-C', text, '-e', 'cs', '--', 'touch', 'ran')
        need(r.returncode == 2 and '-C needs a list of cpus' in r.stderr,
             '%r: %s' % (text, r.stderr))
    if len(online()) > 1:
        r = with_online('%d\n' % online()[0], 'record', '-o', 'x.data', '-C', str(online()[1]),
                        '-e', 'cs', '--', 'true')
        need(r.returncode == 1 and 'cpu %d is offline' % online()[1] in r.stderr, r.stderr)
        need('/sys/devices/system/cpu/cpu%d/online' % online()[1] in r.stderr, r.stderr)
    same([f for f in os.listdir() if f != 'online'], [], 'files')


def with_online(text, *argv):
    """Runs sonde in a mount namespace where the kernel's list of online cpus has this text."""
    with open('online', 'w') as f:
        f.write(text)
    r = sh('unshare', '-m', 'sh', '-c', 'mount --bind online %s && exec "$@"' % ONLINE, 'sh', SONDE,
           *argv)
    if r.returncode == 32 or 'unshare' in r.stderr:
        raise Skip('no mount namespace: ' + r.stderr.strip())
    return r


@case('a cpu that goes offline before it is opened is left out with a line; later changes are '
      'reported')
def _():
    last = online()[-1]
    r = with_online('%s,%d\n' % (open(ONLINE).read().strip(), last + 1), 'record', '-a', '-e',
                    'sched:sched_switch', '-o', 'x.data', '--', 'sleep', '0.05')
    need(r.returncode == 0 and 'cpu %d has gone offline: it is not recorded' %
         (last + 1) in r.stderr, r.stderr)
    same(r.stderr.count('gone offline'), 1, r.stderr)
    need(perfdata.File('x.data').check() > 0, 'samples of the others')
    if last == 0:
        raise Skip('one cpu only')
    # The list changes between start and end.
    first = online()[0]
    change = 'echo %s > online' % open(ONLINE).read().strip()
    r = with_online('%d\n' % first, 'record', '-a', '-e', 'sched:sched_switch', '-o', 'x.data',
                    '--', 'sh', '-c', change)
    need(r.returncode == 0 and re.search('cpu %d(-%d)? came online' % (online()[1], last),
                                         r.stderr), r.stderr)
    change = 'echo %d > online' % first
    r = with_online(open(ONLINE).read(), 'record', '-a', '-e', 'sched:sched_switch', '-o', 'x.data',
                    '--', 'sh', '-c', change)
    need(r.returncode == 0 and re.search('cpu %d(-%d)? went offline' % (online()[1], last),
                                         r.stderr), r.stderr)


@case('a cpu that is offline for a while is reported as a loss, in the closing line and in the '
      'file')
def _():
    if len(online()) < 2:
        raise Skip('one cpu only')
    before, first, second = open(ONLINE).read().strip(), online()[0], online()[1]
    away = 'sleep 1.5; echo %d > online; sleep 2.5; echo %s > online; sleep 0.2' % (first, before)
    for options, text in (['-a'], before), (['-C', str(second)], before):
        r = with_online(text + '\n', 'record', *options, '-e', 'sched:sched_switch', '-o', 'x.data',
                        '--', 'sh', '-c', away)
        need(r.returncode == 0 and re.search('cpu %d(-%d)? went offline' % (second, online()[-1]),
                                             r.stderr), r.stderr)
        r = sonde('script', '--fail-on-loss', '-F', 'event', '-i', 'x.data')
        need(r.returncode == 3 and 'missed-cpus: ' in r.stderr and 'cpu %d' % second in r.stderr,
             r.stderr)
        r = sonde('check', '-i', 'x.data')
        need(r.returncode == 3 and 'missed-cpus' in r.stdout, r.stdout)


STILL = """
import ctypes, fcntl, os, sys
libc, recorder = ctypes.CDLL(None, use_errno=True), os.getppid()
process = os.pidfd_open(recorder)
for fd in os.listdir('/proc/%d/fd' % recorder):
    if os.readlink('/proc/%d/fd/%s' % (recorder, fd)) == 'anon_inode:[perf_event]':
        taken = libc.syscall(438, process, int(fd), 0)  # pidfd_getfd
        if taken < 0:
            sys.exit(77)
        fcntl.ioctl(taken, 0x2401)  # PERF_EVENT_IOC_DISABLE
"""


@case('a cpu that is back before its absence is seen is a loss, too: its events have stopped '
      'counting')
def _():
    # Events that another process disables stop counting as well, so no cpu has to go offline.
    cpus = ','.join(str(c) for c in online())
    for options in ['-a'], ['-C', cpus], ['-a', '-D', '-1']:
        r = sonde('record', *options, '-e', 'sched:sched_switch', '-o', 'x.data', '--', PYTHON,
                  '-c', STILL)
        if r.returncode == 77:
            raise Skip('no right to take descriptors of another process')
        need(r.returncode == 0 and re.search('cpu %d(-%d)? went offline' %
                                             (online()[0], online()[-1]), r.stderr), r.stderr)
        r = sonde('check', '-i', 'x.data')
        need(re.search('damage +%d: missed-cpus' % len(online()), r.stdout), r.stdout)
    r = sonde('record', '-a', '-e', 'sched:sched_switch', '-o', 'x.data', '--', 'true')
    need(r.returncode == 0 and 'offline' not in r.stderr, r.stderr)


@case('which target excludes which: as in perf, with a line')
def _():
    perf()
    with Started('sleep', '100') as p:
        pid = str(p.pid)
        for options, says in ((('-C', '0', '-p', pid), '-p excludes -C'),
                              (('-a', '-p', pid), '-p excludes -a'),
                              (('-p', pid, '-u', 'root'), '-p excludes -u'),
                              (('-t', pid, '-u', 'root'), '-t excludes -u'),
                              (('-C', '0', '-t', pid), '-t excludes -C'),
                              (('-a', '-t', pid), '-t excludes -a'),
                              (('--per-thread', '-a'), 'exclude --per-thread'),
                              (('--per-thread', '-C', '0'), 'exclude --per-thread')):
            theirs, ours, said = evlists(*options, '-e', 'cs', '--', 'true')
            same(ours, theirs, 'evlist of %r' % (options,))
            need(says in said, '%r: %s' % (options, said))
        r = sonde('record', '-p', pid, '-t', '1', '-e', 'sched:sched_switch', '-o', 'x.data', '--',
                  'true')
        need(r.returncode == 0 and '-p excludes -t' in r.stderr, r.stderr)


@case("-u excludes -C and -a, and records the user's processes")
def _():
    text = 'import subprocess, sys, threading, time\n' \
           'def work():\n' \
           '    while True: time.sleep(0.002)\n' \
           'threading.Thread(target=work).start()\n' \
           'time.sleep(0.3)\n' \
           'while True: subprocess.run(["/bin/sleep", "0.01"])\n'
    with python(text, user=STRANGER) as p:
        wait_until('two threads run', lambda: len(os.listdir('/proc/%d/task' % p.pid)) == 2)
        for options, says in (([], ''), (['-a'], '-u excludes -a'),
                              (['-C', '0'], '-u excludes -C')):
            r = sonde('record', *options, '-u', str(STRANGER), '-e', 'sched:sched_switch', '-o',
                      'x.data', '--', *until_switched(20, *os.listdir('/proc/%d/task' % p.pid)))
            need(r.returncode == 0 and says in r.stderr, r.stderr)
            pids = {}
            for attr, pid, tid, t, raw in perfdata.File('x.data').samples():
                pids.setdefault(pid, set()).add(tid)
            same(len(pids.pop(p.pid)), 2, 'threads')
            need(pids, 'their children')
            for pid in pids:
                need(not os.path.exists('/proc/%d' % pid) or
                     os.stat('/proc/%d' % pid).st_uid == STRANGER,
                     'a process of another user')
        with python(SWITCHER, user=STRANGER) as second:
            recorded('-u', str(STRANGER), '-e', 'sched:sched_switch', '--',
                     *until_switched(5, p.pid, second.pid))
            need({p.pid, second.pid} <= tids(), 'both processes')


@case('-u: a name, a user without processes, a name of no user')
def _():
    nobody = 65534
    with python(SWITCHER, user=nobody) as p:
        recorded('-u', 'nobody', '-e', 'sched:sched_switch', '--', *until_switched(5, p.pid))
        need(p.pid in tids(), 'by name')
    r = sonde('record', '-u', 'no-such-user', '-e', 'cs', '--', 'true')
    need(r.returncode == 2 and "no user 'no-such-user'" in r.stderr, r.stderr)
    r = sonde('record', '-u', str(STRANGER + 1), '-e', 'cs', '--', 'true')
    need(r.returncode == 1 and 'no process of user' in r.stderr, r.stderr)


PARENT = 'import subprocess, time\n' \
         'while True: subprocess.run(["/bin/sleep", "0.01"])\n'


@case('-t records the thread alone, with --inherit also its children')
def _():
    text = 'import threading, time\n' \
           'def work():\n' \
           '    while True: time.sleep(0.002)\n' \
           'threading.Thread(target=work).start()\nwork()\n'
    with python(text) as p:
        wait_until('two threads run', lambda: len(os.listdir('/proc/%d/task' % p.pid)) == 2)
        other = max(int(t) for t in os.listdir('/proc/%d/task' % p.pid))
        recorded('-t', str(other), '-e', 'sched:sched_switch', '--',
                 *until_switched(20, other, p.pid))
        same(tids(), {other})
        recorded('-t', '%d,%d,%d,' % (other, p.pid, other), '-e', 'sched:sched_switch', '--',
                 *until_switched(20, other, p.pid))
        same(tids(), {other, p.pid}, 'two of them')
    with python(PARENT) as p:
        recorded('-t', str(p.pid), '-e', 'sched:sched_switch', '--', *until_switched(30, p.pid))
        same(tids(), {p.pid}, 'without children')
        recorded('-t', str(p.pid), '--inherit', '-e', 'sched:sched_switch', '--',
                 *until_switched(30, p.pid))
        need(len(tids()) > 3, 'with children: %r' % tids())
        perf()
        for more in ([], ['--inherit']):
            theirs, ours, said = evlists('-t', str(p.pid), *more, '-e', 'cs', '--', 'true')
            same(ours, theirs, 'evlist')


@case('-i: children are not recorded, for a command, a process and all cpus')
def _():
    perf()
    script = '/bin/sleep 0.01; /bin/sleep 0.01; exec /bin/sleep 0.01'
    recorded('-e', 'sched:sched_switch', '--', 'sh', '-c', script)
    same(len(tids()), 3, 'tasks with inheritance')
    recorded('-i', '-e', 'sched:sched_switch', '--', 'sh', '-c', script)
    same(len(tids()), 1, 'tasks without')
    with python(PARENT) as p:
        recorded('-i', '-p', str(p.pid), '-e', 'sched:sched_switch', '--',
                 *until_switched(30, p.pid))
        same(tids(), {p.pid})
        for options in (['-p', str(p.pid)], ['-a'], []):
            theirs, ours, said = evlists('-i', *options, '-e', 'cs', '--', 'true')
            same(ours, theirs, 'evlist of -i %r' % options)


@case('-p: many processes; one that has ended is reported, and nothing is recorded')
def _():
    many = [python(SWITCHER) for i in range(12)]
    try:
        pids = [m.p.pid for m in many]
        recorded('-p', ','.join(map(str, pids + pids[:3])), '-e', 'sched:sched_switch', '--',
                 *until_switched(5, *pids))
        same(tids(), set(pids))
        os.unlink('x.data')
        many[5].p.kill()
        many[5].p.wait()
        r = sonde('record', '-o', 'x.data', '-p', ','.join(map(str, pids)), '-e', 'cs', '--',
                  'touch', 'ran')
        need(r.returncode == 1 and 'there is no process %d' % pids[5] in r.stderr, r.stderr)
        r = sonde('record', '-o', 'x.data', '-t', ','.join(map(str, pids)), '-e', 'cs', '--',
                  'touch', 'ran')
        need(r.returncode == 1 and 'there is no thread %d' % pids[5] in r.stderr, r.stderr)
    finally:
        for m in many:
            m.__exit__()
    for option, what in (('-p', 'process'), ('-t', 'thread')):
        for text in ('', 'x', '0', '-1', '1,,2', ',1', '1x', '99999999999'):
            r = sonde('record', '-o', 'x.data', option, text, '-e', 'cs', '--', 'touch', 'ran')
            need(r.returncode == 2 and '%s needs %s ids' % (option, what) in r.stderr,
                 '%r: %s' % (text, r.stderr))
    same(os.listdir(), [], 'files')


@case('the recording of processes ends with the last of them')
def _():
    def recorder(*argv):
        p = Started(SONDE, 'record', '-q', '-o', 'x.data', *argv)
        wait_until('it records', lambda: is_recording(p.p, 'x.data'))
        return p

    def ended(p):
        same((p.wait(60), p.stderr.read()), (0, ''), 'the recorder')

    with Started('sleep', '600') as a, Started('sleep', '600') as b, \
            recorder('-p', '%d,%d' % (a.pid, b.pid), '-e', 'sched:sched_switch') as p:
        a.kill()
        a.wait()
        time.sleep(0.5)
        same(p.poll(), None, 'it ended with the first')
        b.kill()
        ended(p)
    for more in ([], ['--per-thread'], ['-i']):
        os.unlink('x.data')
        os.mkfifo('go')
        with Started('sh', '-c', 'read x < go; sleep 0.01; :') as work, \
                recorder('-p', str(work.pid), *more, '-e', 'sched:sched_switch') as p:
            with open('go', 'w') as go:
                go.write('\n')
            ended(p)
            need(work.pid in tids(), 'the process')
        os.unlink('go')


@case('threads that end before they are opened are left out')
def _():
    text = 'import threading, time\n' \
           'def work(): time.sleep(0.004)\n' \
           'while True:\n' \
           '    threading.Thread(target=work).start()\n' \
           '    time.sleep(0.0003)\n'
    left_out = 0
    with python(text) as p:
        wait_until('it has threads', lambda: len(os.listdir('/proc/%d/task' % p.pid)) > 1)
        for n in range(6):
            r = sonde('record', '-v', '-o', 'x.data', '-p', str(p.pid), '-e', 'sched:sched_switch',
                      '--', 'sleep', '0.02')
            same(r.returncode, 0, r.stderr)
            left_out += r.stderr.count('has ended: leaving it out')
    print('# %d threads ended in that moment' % left_out)


@case('--per-thread: a buffer for each thread, without a cpu, without children; both tools read it')
def _():
    text = 'import threading, time\n' \
           'def work():\n' \
           '    while True: time.sleep(0.002)\n' \
           'for i in range(3): threading.Thread(target=work).start()\nwork()\n'
    with python(text) as p:
        wait_until('four threads run', lambda: len(os.listdir('/proc/%d/task' % p.pid)) == 4)
        r = sonde('record', '-v', '-o', 'x.data', '--per-thread', '-T', '-p', str(p.pid), '-e',
                  'sched:sched_switch,cs', '--',
                  *until_switched(30, *os.listdir('/proc/%d/task' % p.pid)))
        need(r.returncode == 0 and ' 4 buffers of ' in r.stderr, r.stderr)
        f = perfdata.File('x.data')
        same(len(tids()), 4, 'threads')
        entries = []
        for kind, misc, at, size in f.records():
            if kind == 69:
                entries += [f.data[i:i + 32] for i in range(at + 16, at + size, 32)]
            if kind == 74:
                same(f.data[at + 8:at + 14], bytes((0, 0, 1, 0, 255, 255)), 'CPU_MAP')
        same(set(int.from_bytes(e[16:24], 'little', signed=True) for e in entries), {-1},
             'cpus in ID_INDEX')
        same(set(int.from_bytes(e[8:16], 'little') for e in entries), {0, 1, 2, 3},
             'buffers in ID_INDEX')
        same(len(entries), 8, 'counters')
        need(len(columns('tid,time,event')) > 100, 'lines')
    recorded('--per-thread', '-e', 'sched:sched_switch', '--', 'sh', '-c',
             '/bin/sleep 0.01; exec /bin/sleep 0.01')
    same(len(tids()), 1, 'a command, without its children')
    need('comm' not in columns('comm') and columns('comm') >= {'sleep'}, 'names')


@case('without pidfds the recorder sees the end of the command')
def _():
    if not seccomp.can_deny():
        raise Skip('no number of the system call on this machine')
    r = sonde('record', '-e', 'sched:sched_switch', '-o', 'x.data', '--', 'sh', '-c',
              'sleep 0.2; exit 3', preexec_fn=seccomp.deny('pidfd_open', errno.ENOSYS))
    same(r.returncode, 3, r.stderr)
    need(perfdata.File('x.data').check() > 1, 'samples')


@case('--dry-run checks everything, runs nothing and leaves no file')
def _():
    same((lambda r: (r.returncode, r.stdout + r.stderr))(
        sonde('record', '--dry-run', '-a', '-e', 'sched:sched_switch', '-D', '10', '--', 'touch',
              'ran')), (0, ''))
    for argv, status in ((['-e', 'no_such_event'], 2), (['-D', 'x'], 2), (['-p', '99999999'], 1),
                         (['-C', '9999'], 1), (['-r', '1000'], 2), (['--control', 'x'], 2)):
        r = sonde('record', '--dry-run', *argv, '--', 'touch', 'ran')
        same(r.returncode, status, '%r: %s' % (argv, r.stderr))
    same(sonde('record', '--dry-run', '-e', 'cs', '--', 'no-such-command').returncode, 127)
    same(os.listdir(), [], 'files')


@case('-r: the recorder has the priority, the command does not; without rights the message has '
      'the remedy')
def _():
    def policy(pid):
        return os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority
    with Started(SONDE, 'record', '-q', '-r', '7', '-e', 'sched:sched_switch', '-o', 'x.data', '--',
                 'sleep', '100') as p:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        same(policy(p.pid), (os.SCHED_FIFO, 7))
        child = int(open('/proc/%d/task/%d/children' % (p.pid, p.pid)).read())
        same(policy(child), (os.SCHED_OTHER, 0))
        p.terminate()
        p.wait()
    with Started(SONDE, 'record', '-q', '-r', '7', '--aio', '-e', 'sched:sched_switch', '-o',
                 'x.data', '--', 'sleep', '100') as p:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        same([policy(int(tid)) for tid in os.listdir('/proc/%d/task' % p.pid)],
             [(os.SCHED_FIFO, 7)] * 2, 'threads')
        p.terminate()
        p.wait()
    for text in ('100', 'x', '-1', ''):
        r = sonde('record', '-r', text, '-e', 'cs', '--', 'touch', 'ran')
        need(r.returncode == 2 and '-r' in r.stderr, r.stderr)
    recorded('-r', '0', '-e', 'cs', '--', 'true')
    for name in os.listdir():
        os.unlink(name)
    r = sh('prlimit', '--rtprio=0:0', 'setpriv', '--bounding-set', '-sys_nice', SONDE, 'record',
           '-r', '7', '-e', 'cs', '-o', 'x.data', '--', 'touch', 'ran')
    need(r.returncode == 1 and 'ulimit -r allows 0' in r.stderr and 'CAP_SYS_NICE' in r.stderr,
         r.stderr)
    same(os.listdir(), [], 'files')


@case('-v prints events, counters and buffers; -q prints nothing but warnings')
def _():
    r = sonde('record', '-v', '-e', 'cs,sched:sched_switch', '-o', 'x.data', '--', 'true')
    need(re.search(r'cs: .*counters', r.stderr) and
         re.search(r'sched:sched_switch: .*counters', r.stderr), r.stderr)
    need(re.search(r'buffers of \d+ KiB', r.stderr), r.stderr)
    recorded('-D', '10', '-e', 'cs', '--', 'sleep', '0.05')
    r = sonde('record', '-q', '-a', '-t', str(os.getpid()), '-e', 'cs', '-o', 'x.data', '--',
              'true')
    need(r.stderr.strip().count('\n') == 0 and '-t excludes -a' in r.stderr, r.stderr)


few_symbols()
run()
