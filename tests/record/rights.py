# SPDX-License-Identifier: MIT
"""Recordings without root: some work; for others the message names the missing right, and the
smallest remedy first.
"""
import contextlib
import errno
import os
import re
import shutil
import signal
import sys

import perfdata
import samples
import seccomp
from tap import SONDE, Skip, case, need, run, same, sh, sonde

NOBODY = '65534'
PARANOID = '/proc/sys/kernel/perf_event_paranoid'
TRACEPOINTS = '/sys/kernel/tracing'


@contextlib.contextmanager
def paranoid(level):
    """Changes the level for as short as possible: the setting is that of the machine."""
    before = open(PARANOID).read()
    with open(PARANOID, 'w') as f:
        f.write(str(level))
    try:
        yield
    finally:
        with open(PARANOID, 'w') as f:
            f.write(before)


def end(*ignored):
    sys.exit(1)  # through every finally


signal.signal(signal.SIGTERM, end)


def prepare():
    """Copies the program to a place where any user may run it."""
    if not shutil.which('setpriv'):
        raise Skip('no setpriv')
    shutil.copy(SONDE, 'sonde')
    os.chmod('.', 0o777)
    if nobody('--help').returncode:
        raise Skip('this build does not run from another place')


def nobody(*argv, caps=None, **kw):
    more = ['--inh-caps', caps, '--ambient-caps', caps] if caps else []
    return sh('setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', *more, './sonde',
              'record', '-o', 'x.data', *argv, **kw)


def works(r, says=None):
    need(r.returncode == 0 and (says in r.stderr if says else ': no right' not in r.stderr),
         r.stderr)
    n = perfdata.File('x.data').check()
    os.unlink('x.data')
    return n


def refused(r, *says):
    need(r.returncode == 1 and r.stderr.count('\n') == 1, '%d: %s' % (r.returncode, r.stderr))
    at = -1
    for text in says:
        need(text in r.stderr, 'no %r in: %s' % (text, r.stderr))
        need(r.stderr.index(text) > at, '%r is too early in: %s' % (text, r.stderr))
        at = r.stderr.index(text)
    need(not os.path.exists('x.data'), 'a file was left')


BURN = ['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done']


def ability(level):
    """What a user may record at this level of kernel.perf_event_paranoid.

    Checked are the own side of the kernel, all tasks of cpus, and tracepoints.
    """
    with paranoid(level):
        own = nobody('-e', 'cpu-clock:u', '--', *BURN)
        fallback = nobody('-o', 'y.data', '-e', 'cpu-clock', '--', *BURN)
        whole = nobody('-a', '-e', 'cpu-clock', '-o', 'z.data', '--', 'true')
        point = nobody('-e', 'sched:sched_switch', '-o', 'z.data', '--', 'true',
                       caps='+dac_read_search')
        calls = nobody('-e', 'syscalls:sys_enter_write', '-o', 'c.data', '--', 'echo', 'x',
                       caps='+dac_read_search')
    need(works(own) > 0, 'samples of user space')
    same(perfdata.File('y.data').names(), ['cpu-clock' if level < 2 else 'cpu-clock:u'],
         'level %d' % level)
    same('user space only (cpu-clock:u)' in fallback.stderr, level >= 2, fallback.stderr)
    same(calls.returncode, 0, calls.stderr)
    f = perfdata.File('c.data')
    same((f.names(), f.check()), (['syscalls:sys_enter_write'], 1), 'system calls')
    for r, limit, what in ((whole, 0, 'on whole cpus'), (point, -1, 'sched:sched_switch')):
        if level <= limit:
            same(r.returncode, 0, r.stderr)
        else:
            refused(r, what, 'perf_event_paranoid is %d and must be at most %d' % (level, limit),
                    'setcap cap_perfmon+ep', 'sysctl kernel.perf_event_paranoid=%d' % limit,
                    'run as root')
    need(('record a command or processes of your own' in whole.stderr) == (level > 0), whole.stderr)
    for name in ('y.data', 'z.data', 'c.data'):
        for suffix in ('', '.old'):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name + suffix)


@case('each level of kernel.perf_event_paranoid: a user without rights records what it allows')
def _():
    prepare()
    for level in (4, 3, 2, 1, 0, -1):
        ability(level)


@case('cycles without a counter, for a user who may not record the kernel: cpu-clock:u instead, '
      'with two lines')
def _():
    prepare()
    counted = sonde('record', '-o', 'root.data', '-e', 'cycles', '--', 'true')
    has_cycles = 'cannot count cycles' not in counted.stderr
    with paranoid(2):
        for options in ([], ['-e', 'cycles'], ['-e', 'cycles', '-g']):
            r = nobody(*options, '--', *BURN)
            same(r.returncode, 0, '%r: %s' % (options, r.stderr))
            need('user space only' in r.stderr, r.stderr)
            need(has_cycles or 'cannot count cycles' in r.stderr, r.stderr)
            f = perfdata.File('x.data')
            need(f.check() > 0, 'no samples')
            need(':u' in f.names()[0] and
                 f.names()[0].startswith('cycles' if has_cycles else 'cpu-clock:u'), f.names())
            os.unlink('x.data')
        refused(nobody('-e', 'cpu-clock:k', '--', 'true'), 'must be at most 1',
                'record user space instead (-e cpu-clock:u)', 'cap_perfmon')


@case('own processes: a command, one that runs, threads, -u; -D and --per-thread')
def _():
    prepare()
    script = ('sleep 30 & P=$!; for o in "-p $P" "-t $P" "--per-thread -p $P" "-p $P -D 5"; do '
              './sonde record -q $o -e cs:u -o x.data -- sleep 0.05 || exit 1; done; kill $P')
    r = sh('setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', 'sh', '-c', script)
    same((r.returncode, r.stderr), (0, ''))


@case('a process of another user is refused, and the message names the user')
def _():
    prepare()
    refused(nobody('-p', '1', '-e', 'cs:u', '--', 'true'), 'process 1', 'belongs to user root',
            'run as that user', 'CAP_PERFMON', 'run as root')


@case('CAP_PERFMON alone is enough; tracepoints also need the right to read tracefs')
def _():
    prepare()
    if nobody('-a', '-e', 'cs', '--', 'true', caps='+perfmon').returncode:
        raise Skip('CAP_PERFMON is not known here')
    for target in (['-a'], ['-p', '1'], []):
        works(nobody(*target, '-e', 'cs', '--', 'true', caps='+perfmon'))
        works(nobody(*target, '-e', 'sched:sched_switch', '--', 'true',
                     caps='+perfmon,+dac_read_search'))
    r = nobody('-e', 'sched:sched_switch', '--', 'true', caps='+perfmon')
    if os.stat(TRACEPOINTS).st_mode & 0o7:
        raise Skip('everybody may read tracefs here')
    refused(r, TRACEPOINTS, 'no right to read', 'remount,gid=', 'run as root')
    need('perf_event_paranoid' not in r.stderr, 'the process has CAP_PERFMON: %s' % r.stderr)


@case('without tracefs and CAP_PERFMON one message names both, with the commands')
def _():
    prepare()
    if os.stat(TRACEPOINTS).st_mode & 0o7:
        raise Skip('everybody may read tracefs here')
    for level in 2, 0:
        with paranoid(level):
            for event in 'sched:sched_switch', 'sched:*':
                r = nobody('-e', event, '--', 'true')
                refused(r, TRACEPOINTS, 'no right to read', 'mount -o remount,gid=',
                        'perf_event_paranoid is %d' % level, 'tracepoints need -1',
                        'sysctl kernel.perf_event_paranoid=-1', 'setcap cap_perfmon+ep /')
            r = nobody('-e', 'syscalls:sys_enter_read', '--', 'true')
            refused(r, TRACEPOINTS, 'no right to read')
            need('paranoid' not in r.stderr, 'system calls of own processes need tracefs only: %s' %
                 r.stderr)
    with paranoid(-1):
        r = nobody('-e', 'sched:sched_switch', '--', 'true')
        refused(r, TRACEPOINTS, 'no right to read')
        need('paranoid' not in r.stderr, r.stderr)


@case('tracefs is not mounted')
def _():
    r = sh('unshare', '-m', 'sh', '-c',
           'umount -A -t tracefs %s; for d in /sys/kernel/debug/tracing /sys/kernel/debug; do '
           'umount $d 2> /dev/null; done; [ -e %s/events ] && exit 99; exec "$@"' %
           (TRACEPOINTS, TRACEPOINTS), 'sh', SONDE,
           'record', '-o', 'x.data', '-e', 'sched:sched_switch', '--', 'true')
    if r.returncode == 99 or 'unshare' in r.stderr:
        raise Skip('it cannot be unmounted: ' + r.stderr)
    need('mount -t tracefs nodev' in r.stderr and r.returncode != 0, r.stderr)
    need(not os.path.exists('x.data'), 'a file was left')


@case('a seccomp filter is named as the cause, whatever error it returns')
def _():
    if not seccomp.can_deny():
        raise Skip('no number of the system call on this machine')
    for error in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        refused(sonde('record', '-o', 'x.data', '-e', 'cs', '--', 'true',
                      preexec_fn=seccomp.deny('perf_event_open', error)), 'seccomp',
                'perf_event_open', 'profile')


@case('root of a user namespace has no rights outside of it')
def _():
    prepare()
    r = sh('setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', 'unshare', '-Ur',
           './sonde', 'record', '-o', 'x.data', '-a', '-e', 'cs', '--', 'true')
    if 'unshare' in r.stderr:
        raise Skip('no user namespaces: ' + r.stderr.strip())
    if int(open(PARANOID).read()) <= 0:
        raise Skip('everybody may record everything here')
    refused(r, 'user namespace')


@case('locked memory: fewer pages by default; the message for -m names the limits to raise')
def _():
    prepare()
    limit = ['prlimit', '--memlock=65536:65536', 'setpriv', '--reuid', NOBODY, '--regid', NOBODY,
             '--clear-groups', './sonde', 'record', '-o', 'x.data']
    refused(sh(*limit, '-e', 'cs:u', '-m', '8M', '--', 'true'), 'perf_event_mlock_kb is',
            'ulimit -l is 64 KiB', '-m', 'raise ulimit -l', 'CAP_IPC_LOCK',
            'raise kernel.perf_event_mlock_kb')
    # Buffers for many threads together exceed the limit; smaller ones do not.
    script = ('import subprocess, sys, threading, time\n'
              'for i in range(15): threading.Thread(target=time.sleep, args=(2,)).start()\n'
              'import os\n'
              'sys.exit(subprocess.call(sys.argv[1:] + ["--per-thread", "-p", str(os.getpid()), '
              '"-e", "cs:u", "--", "true"]))\n')
    python = '/usr/bin/python3'
    if not os.access(python, os.X_OK):
        raise Skip('no python for any user')
    r = sh('prlimit', '--memlock=65536:65536', 'setpriv', '--reuid', NOBODY, '--regid', NOBODY,
           '--clear-groups', python, '-c', script, './sonde', 'record', '-o', 'x.data')
    need(r.returncode == 0 and re.search(r'buffers of \d+ instead of \d+ pages', r.stderr),
         r.stderr)


@case('too few descriptors: the message says how many are needed, and names the limit')
def _():
    prepare()
    limit = ['prlimit', '--nofile=20:20', 'setpriv', '--reuid', NOBODY, '--regid', NOBODY,
             '--clear-groups', './sonde', 'record', '-o', 'x.data']
    refused(sh(*limit, '-e',
               'cs:u,faults:u,cpu-clock:u,task-clock:u,migrations:u,minor-faults:u,major-faults:u,'
               'alignment-faults:u,emulation-faults:u,cpu-clock:u,task-clock:u,cs:u', '--', 'true'),
            'too few file descriptors', 'needs', 'more', 'in addition to 20 that are open',
            'ulimit -n allows 20')
    r = sh('prlimit', '--nofile=5:5', 'setpriv', '--reuid', NOBODY, '--regid', NOBODY,
           '--clear-groups', './sonde', 'record', '-o', 'x.data', '-e', 'cs:u', '--', 'true')
    need(r.returncode == 1 and 'Too many open files (raise ulimit -n)' in r.stderr, r.stderr)


@case('a field of samples that is not allowed is named')
def _():
    prepare()
    with paranoid(2):
        for option, says in (('--phys-data', 'physical addresses (--phys-data): leave them out'),
                             ('--namespaces', 'namespaces (--namespaces): leave them out')):
            r = nobody('-e', 'cpu-clock:u', option, '--', 'true')
            need(r.returncode == 1 and 'no right to record cpu-clock:u with ' + says in r.stderr,
                 r.stderr)
        r = nobody('-e', 'cpu-clock:u', '-d', '-I', '--user-regs', '--data-page-size',
                   '--code-page-size', '--all-cgroups', '--switch-events', '-s', '-k', 'boot', '--',
                   *BURN)
        same(r.returncode, 0, r.stderr)
        need(list(samples.Recording('x.data').decoded()), 'no samples')


run()
