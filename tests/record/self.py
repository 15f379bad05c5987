# SPDX-License-Identifier: MIT
"""Events of the recorder itself: left out if recording them would cause more of them."""
import re
import subprocess

import perfdata
from tap import PERF_ENV, SONDE, case, few_symbols, need, perf, run, same, sh, sonde

LINE = "excluding the recorder's own events"
# Makes enough events to wake the recorder several times with buffers of a page.
WORK = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=3000', 'status=none']
OWN = ('syscalls:sys_enter_writev,syscalls:sys_enter_write,'
       'syscalls:sys_enter_poll,syscalls:sys_enter_ioctl')


def once(options, events):
    p = subprocess.Popen([SONDE, 'record', '-m', '1', '-a', '-e', events, *options, '-o', 'x.data',
                          '--', *WORK],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    err = p.communicate(timeout=600)[1]
    same(p.returncode, 0, err)
    f = perfdata.File('x.data')
    f.check()
    pids = [pid for attr, pid, tid, time, raw in f.samples()]
    return pids.count(p.pid), len(pids), err


def own(*options, events=OWN):
    """(samples of the recorder, all samples, stderr) for events that every recorder causes.

    Tries again if a buffer of a page has lost all events of the command, as on a busy machine.
    """
    for _ in range(10 if events == OWN else 1):
        ret = once(options, events)
        if ret[1] > 100:
            break
    return ret


def command_line():
    r = sonde('script', '--header-only', '-i', 'x.data')
    return re.search(r'^# cmdline : (.*)$', r.stdout, re.M).group(1)


@case('-a on system calls: without the recorder unless requested, and a line says so')
def _():
    mine, n, err = own()
    same(mine, 0, 'samples of the recorder')
    need(n > 10 and LINE in err, err)
    need('record --exclude-self -m 1' in command_line(), command_line())
    mine, n, err = own('--no-exclude-self')
    need(mine > 0, 'the recorder is not in its recording')
    need(LINE not in err and '--exclude-self' not in command_line(), err)


@case('--exclude-self and --exclude-perf after -e, joined with its filter')
def _():
    for option in ('--exclude-self', '--exclude-perf'):
        mine, n, err = own('--filter', 'common_pid > 0 || common_pid < 5', option)
        need(mine == 0 and n > 10 and LINE not in err, '%s: %d of %d, %s' % (option, mine, n, err))
    mine, n, err = own('--filter', 'common_pid > 0 || common_pid < 5')
    need(mine == 0 and n > 10, 'by default: %d of %d' % (mine, n))


@case('the default excludes nothing from scheduling, tasks, interrupts and timers')
def _():
    for events in ('sched:sched_switch', 'task:*', 'irq:*', 'timer:*'):
        err = own(events=events)[2]
        need(LINE not in err, '%s: %s' % (events, err))
    for events, nr in (('raw_syscalls:*', '2 of 2'),
                       ('block:block_rq_issue,sched:sched_switch', '1 of 2'),
                       ('kmem:kmalloc', '1 of 1'), ('writeback:writeback_start', '1 of 1'),
                       ('ext4:ext4_da_write_*', 'of')):
        if events.startswith('ext4') and not sonde('list', 'ext4:ext4_da_write_*').stdout.strip():
            print('# this kernel has no events of ext4')
            continue
        err = own(events=events)[2]
        need(LINE in err and nr in err, '%s: %s' % (events, err))


@case('nothing is excluded when only a command is recorded')
def _():
    r = sonde('record', '-e', 'raw_syscalls:*', '-o', 'x.data', '--', 'true')
    need(LINE not in r.stderr, r.stderr)


@case('--exclude-perf without a tracepoint is a mistake, as for perf')
def _():
    r = sonde('record', '-e', 'cpu-clock', '--exclude-perf', '-o', 'x.data', '--', 'true')
    same(r.returncode, 2, r.stderr)
    need('--exclude-self' in r.stderr and 'tracepoint' in r.stderr, r.stderr)
    need(sh(perf(), 'record', '-e', 'cpu-clock', '--exclude-perf', '-o', 'y.data', '--',
            'true').returncode != 0,
         'perf accepts it')


few_symbols()
run()
