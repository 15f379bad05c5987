#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Allocation n of a command fails, for n up to 1,000: no crash, no wrong output unreported.

    tests/nomem/nomem.py SONDE NOMEM_SO DATA [CASE...]

Each of the first NEAR allocations fails, and every EVERY-th of the others, in each case from
another one on. SONDE_FULL=1: each of all.

A run may give the same result as with enough memory. Otherwise it reports that memory was missing,
by its exit status and a message, or by a defect in its closing line; its output is then the
beginning of the normal output. The failing allocations are those of sonde itself and of the C
library for it; docs/defects.md describes failing allocations of libdw.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from points import ENV, FULL, done, say, skip  # noqa: E402

MOST = 1000
NEAR = 40
EVERY = 1 if FULL else 12
OURS = 'sonde:libc.so'
SCRIPT = '''
def trace_begin(): print('begin')
def trace_unhandled(event_name, context, fields, sample):
    print(event_name, sorted(fields.items()), sample['comm'], sample['callchain'], sample['sample'])
def sched__sched_switch(event_name, context, cpu, s, ns, pid, comm, callchain, prev_comm, prev_pid, prev_prio, prev_state, *rest):
    print(cpu, s, ns, pid, comm, callchain, prev_comm, prev_pid, prev_state, rest)
def trace_end(): print('end')
'''
# name: objects whose allocations fail, arguments of sonde
CASES = {
    'text of tracepoints': (OURS, ['script', '-i', 'demo.data']),
    'text of a trace.dat': (OURS, ['script', '-i', 'tracedat/swept.dat']),
    'lines of trace-cmd': (OURS, ['script', '--format', 'trace-cmd', '-i',
                                  'tracedat/swept-big.dat']),
    'text filtered by fields': (OURS, ['script', '-i', 'demo.data', '--where',
                                       'prev_pid > 0 && next_comm ~ "s*" || comm == "xargs" || '
                                       'cpu & CPUS{1}']),
    'text of pairs': (OURS, ['script', '-i', 'demo.data', '--pair',
                             'sched_wakeup,sched_switch,comm,next_comm', '--pair',
                             'sys_enter_read,sched_switch', '--where', 'ns > 0']),
    'text with symbols': (OURS, ['script', '--kallsyms', 'text/kallsyms', '-F',
                                 '+period,+sym,+symoff', '-i', 'text/chains.data']),
    'text of copied stacks': (OURS, ['script', '-F', '+srcline,+period', '-i',
                                     'text-cases/dw.data']),
    'text of all columns': (OURS, ['script', '-F',
                                   'comm,tid,pid,time,cpu,event,ip,sym,dso,addr,period', '-i',
                                   'text-cases/addr.data']),
    'branches': (OURS, ['script', '-F', 'ip,brstack,brstacksym', '-i', 'text-cases/br.data']),
    'records': (OURS, ['script', '--show-task-events', '--show-mmap-events', '-i',
                       'text-cases/sw.data']),
    'a dump': (OURS, ['script', '-D', '-i', 'text/mixed.data']),
    'a flame graph': (OURS, ['flamegraph', '-o', '-', '-i', 'text/chains.data']),
    'a picture of waits': (OURS, ['flamegraph', '--wall', '-o', '/dev/stdout', '-i', 'demo.data']),
    'a heat map': (OURS, ['heatmap', '-o', '-', '--latency', 'sched_wakeup,sched_switch', '-i',
                          'demo.data']),
    'a table as CSV': (OURS, ['convert', '--to', 'csv', '--stacks', '-o', '-', '-i',
                              'text/chains.data']),
    'an Arrow stream': (OURS, ['convert', '--to', 'arrow', '--stacks', '-o', '-', '-i',
                               'text/chains.data']),
    'JSON lines': (OURS, ['script', '--format', 'jsonl', '-i', 'text/chains.data']),
    'two recordings': (OURS, ['script', '-i', 'demo.data', '-i', 'text/mixed.data']),
    'under --compat': (OURS, ['--compat', 'perf-6.1', 'script', '-i', 'text/chains.data']),
    'report': (OURS, ['report', '--header-only', '-i', 'demo.data']),
    'the header': (OURS, ['script', '--header-only', '-I', '-i', 'text-cases/g.data']),
    'report of counts': (OURS, ['stat', 'report', '-i',
                                '../fuzz/corpus/perfdata/stat-places-little']),
    'info': (OURS, ['info', '-i', 'demo.data']),
    'check': (OURS, ['check', '-i', 'text/chains.data']),
    'evlist': (OURS, ['evlist', '-v', '-i', 'text/mixed.data']),
    'build ids': (OURS, ['buildid-list', '-i', 'text-cases/g.data']),
    'Python': ('sonde', ['script', '-s', 'SCRIPT', '-i', 'text/chains.data']),
    'symbols of a live recording': (OURS, ['script', '-F', '+srcline', '-i', 'LIVE']),
}

# The output of these is about the complete recording; they say how far they have read.
PARTIAL = ('JSON lines', 'info', 'check')
BURN = '''
static inline __attribute__((always_inline)) unsigned twice(unsigned n) { return n * 2 + 1; }
__attribute__((noinline)) unsigned burn(unsigned n) { for (unsigned i = 0; i < 3000000; i++) n = twice(n ^ i); return n; }
int main(int argc, char **argv) { return burn((unsigned)argc) == 5 && argv; }
'''


class Nomem:
    def __init__(self, sonde, shim, data, folder):
        self.sonde, self.shim, self.data, self.folder = sonde, shim, data, folder
        (folder / 'script.py').write_text(SCRIPT)
        self.live = self.record()

    def record(self):
        """The path of a recording with copied stacks of a program with debug information, or, as
        text, why there is none.
        """
        burn, data = self.folder / 'burn', self.folder / 'live.data'
        (self.folder / 'burn.c').write_text(BURN)
        commands = (['cc', '-g', '-O1', '-o', str(burn), str(self.folder / 'burn.c')],
                    [str(self.sonde), 'record', '-q', '-e', 'cpu-clock', '-F', '1500',
                     '--call-graph', 'dwarf,1024', '-o', str(data), str(burn)])
        for command in commands:
            try:
                p = subprocess.run(command, env=ENV, stdin=subprocess.DEVNULL, capture_output=True,
                                   timeout=600)
            except OSError as e:
                return str(e)
            if p.returncode:
                return (p.stderr.decode('utf-8', 'replace').strip().splitlines() or ['failed'])[0]
        return data

    def run(self, case, n):
        """(status, stdout, stderr, allocations counted by the last process)"""
        objects, args = CASES[case]
        args = [{'SCRIPT': str(self.folder / 'script.py'), 'LIVE': str(self.live)}.get(a, a)
                for a in args]
        with tempfile.TemporaryFile(dir=self.folder) as counts:
            fd = counts.fileno()
            env = dict(ENV, LD_PRELOAD=str(self.shim), NOMEM_AT=str(n), NOMEM_COUNT=str(fd),
                       NOMEM_OBJECTS=objects, SONDE_PYTHON='/usr/bin/python3', PYTHONHASHSEED='0',
                       PYTHONDONTWRITEBYTECODE='1')
            try:
                p = subprocess.run([str(self.sonde)] + args, env=env, cwd=self.data,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
                                   pass_fds=[fd])
            except subprocess.TimeoutExpired:
                return 'ran longer than 600 s', b'', b'', 0
            counts.seek(0)
            words = counts.read().split()
        return p.returncode, p.stdout, p.stderr, int(words[-1]) if words else 0

    def fault(self, case, n, whole):
        """The fault of the run in which allocation n fails; '' if there is none."""
        status, out, err, _ = self.run(case, n)
        if not isinstance(status, int) or status < 0 or 129 < status < 255:
            return 'status %s' % status
        if (status, out) == whole[:2]:
            return ''
        if b'memory' not in err and b'MemoryError' not in err:
            return 'status %d, no message about memory: %r' % (status, err[-200:])
        if status == 0 or case in PARTIAL:
            return ''
        if not whole[1].startswith(out):
            at = next((i for i, (a, b) in enumerate(zip(out, whole[1])) if a != b), len(whole[1]))
            return 'status %d after other text: %r in place of %r' % (
                status, out[max(at - 40, 0):at + 80], whole[1][max(at - 40, 0):at + 80])
        return ''


def chosen_numbers(case, nr):
    """The allocations of `nr` that fail, each in a run of its own."""
    first = zlib.crc32(case.encode()) % EVERY
    return [n for n in range(1, min(nr, MOST) + 1) if n <= NEAR or n % EVERY == first]


def main():
    sonde, shim, data = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    chosen = sys.argv[4:] or list(CASES)
    with tempfile.TemporaryDirectory(prefix='sonde-nomem-') as folder:
        nomem = Nomem(sonde, shim, data, pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case in chosen:
                if 'LIVE' in CASES[case][1] and isinstance(nomem.live, str):
                    skip(case, 'cannot record here: ' + nomem.live)
                    continue
                whole = nomem.run(case, 0)
                if 'Python' in case and b'no extension' in whole[2]:
                    skip(case, 'built without Python')
                    continue
                if whole[0] not in (0, 3) or not whole[3]:
                    say(False, case, 'status %s, %d allocations: %s' %
                        (whole[0], whole[3], whole[2].decode('utf-8', 'replace')))
                    continue
                numbers = chosen_numbers(case, whole[3])
                faults = [(n, f) for n, f in zip(numbers,
                                                 pool.map(lambda n: nomem.fault(case, n, whole),
                                                          numbers)) if f]
                say(not faults, '%s: %d of %d allocations' % (case, len(numbers), whole[3]),
                    '\n'.join('%d: %s' % f for f in faults[:20]) +
                    ('\n%d in all' % len(faults) if faults else ''))
    return done()


if __name__ == '__main__':
    sys.exit(main())
