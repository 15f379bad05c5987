# SPDX-License-Identifier: MIT
"""Records about processes that ran before the recording: their kinds, the threads that make them,
their place.
"""
import os
import re
import struct
import subprocess

import perfdata
from tap import case, few_symbols, is_asleep, need, perf, run, same, sh, sonde, wait_until

SLEEPERS = 150
CGROUP = 19


class Sleepers:
    def __enter__(self):
        self.all = [subprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL)
                    for i in range(SLEEPERS)]
        self.pids = set(p.pid for p in self.all)
        for p in self.all:
            wait_until('it sleeps', lambda: is_asleep(p.pid))
        return self

    def __exit__(self, *error):
        for p in self.all:
            p.kill()
        for p in self.all:
            p.wait()


def record(*options):
    r = sonde('record', '-q', '-o', 'x.data', '-a', '-e', 'sched:sched_process_exec', *options,
              '--', 'true')
    same(r.returncode, 0, r.stderr)
    return perfdata.File('x.data')


def described(f, pids):
    """[(type, bytes)] of the records about these processes, in the order of the file."""
    out = []
    for kind, misc, at, size in f.records():
        body = f.data[at + 8:at + size]
        if (kind in (perfdata.COMM, perfdata.FORK, perfdata.MMAP2) and
            struct.unpack_from('<i', body)[0] in pids):
            out.append((kind, body))
    return out


@case('--num-thread-synthesize: the same records in the same order')
def _():
    with Sleepers() as s:
        one = described(record(), s.pids)
        need(len(one) > 4 * SLEEPERS, '%d records' % len(one))
        for n in ('2', '7', '5000', '0'):
            same(described(record('--num-thread-synthesize', n), s.pids), one, n + ' threads')


@case('--synth: kinds of records, as with perf')
def _():
    with Sleepers() as s:
        kinds = {}
        for what in ('no', 'all', 'task', 'mmap', 'cgroup', 'task,cgroup'):
            f = record('--synth', what, '--all-cgroups')
            ours = set(kind for kind, body in described(f, s.pids))
            ours |= {kind for kind, *_ in f.records() if kind == CGROUP}
            kinds[what] = ours
            sh(perf(), 'record', '-q', '-o', 'p.data', '-a', '-e', 'sched:sched_process_exec',
               '--synth', what, '--all-cgroups', '--', 'true')
            theirs = sh(perf(), 'script', '-D', '-i', 'p.data').stdout
            mine = '(?:%s)' % '|'.join(map(str, s.pids))
            for kind, pattern in ((perfdata.COMM, r'RECORD_COMM: \S+:%s/' % mine),
                                  (perfdata.MMAP2, r'RECORD_MMAP2 %s/' % mine),
                                  (perfdata.FORK, r'RECORD_FORK\(%s:' % mine),
                                  (CGROUP, r'RECORD_CGROUP')):
                same(kind in ours, bool(re.search(pattern, theirs)),
                     '--synth=%s, record %d' % (what, kind))
        need(not kinds['no'] and kinds['all'] > kinds['task'] > kinds['no'], kinds)
    r = sonde('record', '-o', 'x.data', '--synth', 'task,x', '--', 'true')
    need(r.returncode == 2 and '--synth needs' in r.stderr, r.stderr)


@case('--tail-synthesize: the records are after the events, and both tools read the names')
def _():
    with Sleepers() as s:
        f = record('--tail-synthesize')
        first = next(at for kind, misc, at, size in f.records() if kind == perfdata.SAMPLE)
        places = [at for kind, misc, at, size in f.records() if kind == perfdata.COMM and
                  struct.unpack_from('<i', f.data, at + 8)[0] in s.pids]
        need(len(places) >= SLEEPERS and min(places) > first,
             'at %d, the first sample at %d' % (min(places), first))
        ours = sonde('--compat', 'perf-6.1', 'script', '-i', 'x.data')
        theirs = sh(perf(), 'script', '-i', 'x.data')
        same((ours.returncode, ours.stderr, theirs.returncode), (0, '', 0), theirs.stderr)
        same(ours.stdout, theirs.stdout)


@case('--tail-synthesize with --switch-output: each file has the names of running tasks at its end')
def _():
    work = ('for i in 1 2 3 4; do sleep .1; kill -USR2 $PPID; '
            'while [ $(ls x.data.* 2> /dev/null | wc -l) -lt $i ]; do sleep .02; done; done; '
            'sleep .1')
    r = sonde('record', '-q', '-o', 'x.data', '--tail-synthesize', '--switch-output', '-e',
              'sched:sched_switch', '--', 'sh', '-c', work)
    same(r.returncode, 0, r.stderr)
    names = sorted(n for n in os.listdir() if n.startswith('x.data.'))
    same(len(names), 5, 'files: %r' % names)
    for name in names:
        kinds = [kind for kind, *_ in perfdata.File(name).records()]
        need(kinds.count(73) == 1 and kinds.index(73) > kinds.index(perfdata.INIT),
             '%s: %r' % (name, kinds))
        need(name == names[-1] or perfdata.COMM in kinds[kinds.index(73):],
             '%s has no names' % name)
        same(sh(perf(), 'script', '-i', name).returncode, 0, name)


few_symbols()
run()
