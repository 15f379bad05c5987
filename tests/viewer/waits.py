#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""waits.py SONDE WAITING JIT: on, runnable and off add up to the wall time of a program that waits
for known times.

The program measures itself. It waits at least as long as it asked for, and at most as long as it
measured around its calls. A busy machine only lengthens the time runnable. JIT is a program that
makes code.
"""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
from page import Graph, Page  # noqa: E402
from points import done, run, say, skip  # noqa: E402

SONDE, WAITING, JIT = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
EVENTS = ((([
    '-e', 'sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_process_exit',
    '-e', 'cpu-clock/freq=499/'])))
ASKED_SLEEP, ASKED_BLOCK = .25, .15  # the first of five reads may find its byte written
TRIES = 10  # the kernel may drop a switch; such a recording proves nothing


def near(a, b):
    return abs(a - b) <= max(.01 * b, .01)


def graph(path, *words):
    status, out, err = run([SONDE, 'flamegraph', '-i', str(path), '-o', '-', *words])
    if status:
        return None, err
    return Graph(Page(out.decode('utf-8')).data['graphs'][0]), err


def seconds(g, *wanted, start=None):
    """Time of frames whose path has all these names in this order; start: how the first one
    begins."""
    total = 0
    for i in range(1, g.nr):
        path = g.path(i)
        own = g.self[i] / 1e9
        if own and (not start or path[0].startswith(start)):
            at = 0
            for name in path:
                at += at < len(wanted) and name == wanted[at]
            total += own * (at == len(wanted))
    return total


def record(folder):
    """(recording, what the program printed) of a run whose switches are all there; None: not
    possible here."""
    path = folder / 'waits.data'
    for _ in range(TRIES):
        status, out, err = run([SONDE, 'record', '-a', '-g', *EVENTS, '-o', str(path), '--',
                                WAITING])
        m = re.match(rb'(\d+) ([\d.]+) ([\d.]+) ([\d.]+)', out)
        if status or not m:
            return None, err.decode('utf-8', 'replace')
        g, err = graph(path, '--wall', '--tid', m[1].decode())
        if g and b'switches are missing' not in err and b'lost' not in err:
            return path, (m[1].decode(), *(float(n) for n in m.groups()[1:]))
    return None, 'the kernel lost a switch in each of %d recordings' % TRIES


def from_to(path, tid):
    """Seconds from the first time that a thread is named to its exit, by the events' text."""
    text = run([SONDE, 'script', '-i', str(path), '-G', '--ns', '-F',
                'tid,time,event,trace'])[1].decode('utf-8', 'replace')
    first = last = None
    for line in text.splitlines():
        m = re.match(r'\s*(-?\d+)\s+([\d.]+):\s+(\S+?): (.*)', line)
        if (m and m[3].startswith('sched:') and
            re.search(r'\b(next_pid|prev_pid|pid)=%s\b' % tid, m[4])):
            first = first if first is not None else float(m[2])
            if 'prev_pid=%s ' % tid in m[4]:
                last = float(m[2])
    return last - first


def check(path, told):
    tid, cpu, slept, blocked = told
    start = tid + ':'
    g, err = graph(path, '--wall', '--tid', tid, '--by', 'pid')
    say(g and not g.faults() and
        all(p.startswith(start) for p in {g.path(i)[0] for i in range(1, g.nr)}),
        'only this thread', repr(err))
    on, ready, off = (seconds(g, name) for name in ('[on cpu]', '[runnable]', '[off cpu]'))
    wall = from_to(path, tid)
    figures = ('on %.6f (measured %.6f), runnable %.6f, off %.6f (asked %.3f, measured %.6f), '
               'wall %.6f') % (
        on, cpu, ready, off, ASKED_SLEEP + ASKED_BLOCK, slept + blocked, wall)
    say(near(on + ready + off, wall), 'on, runnable and off are the wall time', figures)
    say(near(on, cpu), 'on', figures)
    say(ASKED_SLEEP + ASKED_BLOCK <= off <= slept + blocked + .01, 'off', figures)
    nap = seconds(g, '[off cpu]', 'waiting_nap')
    say(ASKED_SLEEP <= nap <= slept, 'off in the function that sleeps',
        '%.6f of %.6f' % (nap, slept))
    block = seconds(g, '[off cpu]', 'waiting_block', 'woken by waiting')
    say(ASKED_BLOCK <= block <= blocked, 'off in the function that blocks, and who woke it',
        '%.6f of %.6f' % (block, blocked))
    spin, most = seconds(g, '[on cpu]', 'waiting_spin'), seconds(g, '[on cpu]')
    say(.5 * most < spin <= most, 'on in the function that spins', '%.6f of %.6f' % (spin, most))
    waits, err = graph(path, '--off-cpu', '--tid', tid, '--by', 'none')
    outside = waits.total[0] / 1e9
    early = ready - seconds(waits, '[preempted]')
    say(off <= outside + 1e-6 and outside <= off + ready + 1e-6,
        '--off-cpu: from switching out to switching in',
        'off-cpu %.6f, off %.6f, runnable %.6f (%.6f not preempted)' % (outside, off, ready, early))
    by_comm, err = graph(path, '--off-cpu', '--comms', 'waiting')
    say({by_comm.path(i)[0] for i in range(1, by_comm.nr)} == {'waiting'}, '--off-cpu --comms',
        repr(err))


def made_code(folder):
    path = folder / 'jit.data'
    status, out, err = run([SONDE, 'record', '-g', '-e', 'cpu-clock', '-o', str(path), '--', JIT])
    if status:
        return skip('code made at run time',
                    'status %d: %s' % (status, ' '.join(err.decode('utf-8', 'replace').split())))
    g, err = graph(path)
    pathlib.Path('/tmp/perf-%s.map' % out.split()[0].decode()).unlink()
    kinds = {g.names[g.name[f]]: g.kind[f] for f in range(len(g.name))}
    return say(kinds.get('jit_loop') == 'j' and kinds.get('all') == 'g', 'code made at run time',
               repr(kinds))


def mistakes(path):
    for name, words, message in (
            ('a filter of events', ['--wall', '--cpu', '0'], b'on all cpus, not --cpu'),
            ('both', ['--wall', '--off-cpu'], b'not both'),
            ('a key that waits do not have', ['--off-cpu', '--by', 'dso'],
             b'only comm, pid and cpu are possible')):
        status, out, err = run([SONDE, 'flamegraph', '-i', str(path), '-o', '-', *words])
        say(status == 2 and message in err and not out, name, '%d %r' % (status, err))
    status, out, err = run([SONDE, 'flamegraph', '-i', str(HERE.parent / 'data/text/clock.data'),
                            '-o', '-', '--wall'])
    say(status == 1 and b'no sched:sched_switch' in err and not out, 'a recording without switches',
        '%d %r' % (status, err))
    # The first tenth has one switch only, so no wait ends.
    status, out, err = run([SONDE, 'flamegraph', '-i', str(HERE.parent / 'data/demo.data'),
                            '-o', '-', '--off-cpu', '--time', '10%/1'])
    say(status == 1 and b'no time between switches to draw' in err and not out,
        'a wait without an end', '%d %r' % (status, err))


def main():
    with tempfile.TemporaryDirectory() as name:
        path, told = record(pathlib.Path(name))
        if not path:
            print('1..0 # SKIP ' + ' '.join(told.split()))
            return 0
        check(path, told)
        made_code(pathlib.Path(name))
        mistakes(path)
    return done()


sys.exit(main())
