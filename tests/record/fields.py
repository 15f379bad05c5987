# SPDX-License-Identifier: MIT
"""Options for fields of samples and for records of state: the fields are decoded, the records read
by both tools.
"""
import os
import re
import shutil
import struct
import subprocess
import time

import perfdata
from samples import Recording
from tap import SONDE, case, few_symbols, is_asleep, need, perf, run, same, sh, sonde, wait_until

SPIN = 'i=0; while [ $i -lt %d ]; do i=$((i + 1)); done'
KERNEL = 1 << 63
MARKER = (1 << 64) - 4095
CHAIN_KERNEL, CHAIN_USER = (1 << 64) - 128, (1 << 64) - 512
AX, SP, IP = 0, 7, 8  # of x86
CGROUP, NAMESPACES, SWITCH, SWITCH_CPU_WIDE, READ = 19, 16, 14, 15, 8


def record(*options, work=SPIN % 200000, status=0):
    # The buffers hold everything: nothing is lost, however busy the machine.
    r = sonde('record', '-q', '-m', '8M', '-o', 'x.data', *options, '--', 'sh', '-c', work)
    # With -a events of other processes are recorded, and may be lost.
    same((r.returncode, r.stderr if '-a' not in options else ''), (status, ''),
         'sonde record %r' % (options,))
    return Recording('x.data')


def samples(*options, **kw):
    out = list(record(*options, **kw).decoded())
    need(out, 'no sample with %r' % (options,))
    return out


def both_read(*options):
    """perf's text of x.data, after a check that sonde prints the same."""
    theirs, ours = (tool(*argv, '-i', 'x.data', *options) for tool, argv in
                    ((sh, ('perf', 'script')), (sonde, ('--compat', 'perf-6.1', 'script'))))
    same(theirs.returncode, 0, theirs.stderr)
    same(theirs.stdout.splitlines(), ours.stdout.splitlines(), 'text %r' % (options,))
    return theirs.stdout


@case('-c and -F: the periods of the samples; -P, --no-period')
def _():
    need(all(s['period'] == 1000000 for s in samples('-e', 'cpu-clock', '-c', '1000000', '-P')),
         'periods')
    need('period' not in samples('-e', 'cpu-clock', '-c', '1000000')[0], 'a period of its own')
    # The kernel turns the frequency into a fixed period of time.
    need(all(s['period'] == 1000000 for s in samples('-e', 'cpu-clock', '-F', '1000')[2:]),
         'periods of 1000 Hz')
    need('period' not in samples('-e', 'cpu-clock', '-F', '1000', '--no-period')[0],
         'a period in spite of --no-period')


@case('-d: addresses of page faults; their pages and places in memory')
def _():
    got = samples('-e', 'page-faults', '-c', '1', '-d', '--phys-data', '--data-page-size',
                  '--code-page-size')
    need(all(s['addr'] and s['data_src'] == 0x1e05080021 for s in got), 'addresses, sources')
    need(any(s['phys_addr'] and s['phys_addr'] % 4096 == s['addr'] % 4096 for s in got),
         'physical addresses')
    for name in 'data_page_size', 'code_page_size':
        sizes = {s[name] for s in got}
        need(max(sizes) >= 4096 and all(n % 4096 == 0 for n in sizes), '%s: %r' % (name, sizes))
    data = [r for r in Recording('x.data').others() if r[0] == perfdata.MMAP2 and r[1] & 1 << 13]
    need(data, 'no mapping of data')
    need(all(not struct.unpack_from('<I', body, 56)[0] & 4 for kind, misc, body, t in data),
         'executable data')
    perf()
    both_read('-F', 'comm,tid,addr,data_src,phys_addr,data_page_size,code_page_size')


@case('-d: mappings of data made before the recording, as perf records them')
def _():
    perf()
    sleeper = subprocess.Popen(['sleep', '600'])
    try:
        wait_until('it sleeps', lambda: is_asleep(sleeper.pid))
        lines = []
        for tool in (['perf'], [SONDE]):
            r = sh(*tool, 'record', '-q', '-e', 'cs', '-d', '-o', 'x.data', '-p', str(sleeper.pid),
                   '--', 'true')
            same((r.returncode, r.stderr), (0, ''), tool)
            lines.append(sorted(line for line in sh('perf', 'script', '-i', 'x.data',
                                                    '--show-mmap-events').stdout.splitlines()
                                if 'MMAP' in line))
        need(len(lines[0]) > 15, lines[0])
        same(*lines, 'mappings')
    finally:
        sleeper.kill()
        sleeper.wait()


@case('-R, -W, --transaction, --sample-cpu, --all-cgroups, --running-time: a field each')
def _():
    cpus = os.sysconf('SC_NPROCESSORS_CONF')  # with those that are offline
    plain = samples('-e', 'cpu-clock', '-F', '1000')[0]
    for options, name, right in ((['-R'], 'raw', lambda v: v == bytes(len(v))),
                                 (['-W'], 'weight_struct', lambda v: v == 0),
                                 (['--transaction'], 'transaction', lambda v: v == 0),
                                 (['--sample-cpu'], 'cpu', lambda v: v < cpus),
                                 (['--all-cgroups'], 'cgroup', lambda v: v != 0)):
        need(name not in plain, '%s by itself' % name)
        need(all(right(s[name]) for s in samples('-e', 'cpu-clock', '-F', '1000', *options)), name)
    groups = [struct.unpack_from('<Q', body)[0]
              for kind, misc, body, t in Recording('x.data').others() if kind == CGROUP]
    record('-e', 'cs', '--running-time')
    same(Recording('x.data').full[0].read_format, 0x17, 'read_format')
    need(groups, 'no control group is described')


@case('-I, --user-regs: the requested registers')
def _():
    if os.uname().machine != 'x86_64':
        return
    for s in samples('-e', 'cpu-clock:u', '-F', '1000', '-Iip', '--user-regs=ax,sp,IP'):
        same(s['regs_intr'], {IP: s['ip']}, 'registers at the interrupt')
        same((s['regs_user_abi'], sorted(s['regs_user'])), (2, [AX, SP, IP]),
             'registers of user space')
        same(s['regs_user'][IP], s['ip'], 'ip')
        need(s['regs_user'][SP] >> 40 == 0x7f, 'stack pointer %#x' % s['regs_user'][SP])
    same(len(samples('-e', 'cpu-clock', '-F', '1000', '-I')[0]['regs_intr']), 20, 'all registers')
    perf()
    record('-e', 'cpu-clock', '-F', '1000', '-I', '--user-regs')
    need('R15:0x' in both_read('-F', 'comm,tid,ip,iregs,uregs'), 'text of registers')


@case('--call-graph fp,N, --kernel-callchains, --user-callchains: frames and markers')
def _():
    work = 'i=0; while [ $i -lt 300 ]; do read x < /proc/self/stat; i=$((i + 1)); done'
    deep = [s['callchain'] for s in samples('-g', '-e', 'kmem:kmem_cache_alloc', work=work)]
    need(max(map(len, deep)) > 8, 'deep chains: %r' % deep[:3])
    need(any(CHAIN_KERNEL in c and CHAIN_USER in c for c in deep), 'both parts')
    short = [s['callchain'] for s in samples('--call-graph', 'fp,4', '-e', 'kmem:kmem_cache_alloc',
                                             work=work)]
    same(max(sum(a < MARKER for a in c) for c in short), 4, 'frames of fp,4')
    for option, there, away in (('--kernel-callchains', CHAIN_KERNEL, CHAIN_USER),
                                ('--user-callchains', CHAIN_USER, CHAIN_KERNEL)):
        got = [s['callchain'] for s in samples('-g', option, '-e', 'kmem:kmem_cache_alloc',
                                               work=work)]
        need(any(there in c for c in got) and not any(away in c for c in got), option)


DEEP = '''
#include <time.h>
volatile long sink;
__attribute__((noinline)) long leaf(long n) { for (long i = 0; i < n; i++) sink += i; return sink; }
__attribute__((noinline)) long middle(long n) { char room[600]; __asm__ volatile("" : : "r"(room)); return leaf(n) + (sink & 1); }
__attribute__((noinline)) long outer(long n) { return middle(n) + (sink & 1); }
int main(void) { while (clock() < CLOCKS_PER_SEC / 8) outer(100000); return 0; }
'''


@case('--call-graph dwarf: stacks of the requested size, unwound by both tools')
def _():
    if not shutil.which('gcc'):
        return
    with open('deep.c', 'w') as f:
        f.write(DEEP)
    subprocess.run(['gcc', '-O1', '-g', '-fomit-frame-pointer', '-o', 'deep', 'deep.c'], check=True)
    for size, recorded in ((None, 8192), ('100', 104), ('4096', 4096), ('65528', 65528)):
        got = samples('-e', 'cpu-clock:u', '-F', '500', '--call-graph',
                      'dwarf' + (',' + size if size else ''), work='./deep')
        need(got[-1]['attr'].stack_user == recorded, 'size in the attr')
        # The kernel copies less if the stack or the record ends before.
        need(all(s['stack_size'] <= recorded and s['stack'] and len(s['stack']) <= s['stack_size']
                 for s in got), size)
        text = sonde('script', '-i', 'x.data', '-F', 'ip,sym', '--comm', 'deep').stdout
        # A copy of 104 bytes ends inside the frame of middle(), which is larger.
        calls = re.findall(r'\bleaf\b.*\n.*\bmiddle\b(?:.*\n.*\bouter\b.*\n.*\bmain\b)?', text)
        need(calls, '%s: chains of %s' % (size, text[:400]))
        need(any('main' in c for c in calls) == (recorded > 104), '%s: %r' % (size, calls[:2]))
    perf()
    # Only chains that begin in the program itself: perf stops in some functions of libc.
    theirs, ours = ([line for chain in tool.stdout.split('\n\n')
                     if re.match(r'\s*[0-9a-f]+ (leaf|middle|outer|main)\n', chain)
                     for line in chain.splitlines()
                     if re.search(' (leaf|middle|outer|main)$', line)]
                    for tool in (sh('perf', 'script', '-i', 'x.data', '-F', 'ip,sym',
                                    '--no-inline'),
                                 sonde('--compat', 'perf-6.1', 'script', '-i', 'x.data', '-F',
                                       'ip,sym', '--no-inline')))
    need(len(ours) > 20, ours)
    same(theirs, ours, 'frames')


@case('-k: times of the chosen clock, and times of day by both tools')
def _():
    perf()
    for name, clock in (('monotonic', 1), ('raw', 4), ('CLOCK_BOOTTIME', 7), ('real', 0),
                        ('tai', 11)):
        before, day, day_ns = time.clock_gettime_ns(clock), time.time(), time.time_ns()
        got = samples('-e', 'cs', '-k', name, work='sleep 0.01; sleep 0.01')
        after, after_day_ns = time.clock_gettime_ns(clock), time.time_ns()
        need(all(before <= s['time'] <= after for s in got), '%s: times' % name)
        x = perfdata.File('x.data')
        same(struct.unpack('<Q', x.body(23)), (1,), 'CLOCKID')
        version, number, wall, reference = struct.unpack('<IIQQ', x.body(29))
        same((version, number), (1, clock), 'CLOCK_DATA')
        # Two clocks cannot be read at once: the recorded moment is between the two readings here.
        need(before <= reference <= after and day_ns <= wall <= after_day_ns, 'CLOCK_DATA: moments')
        need(abs((wall - reference) - (day_ns - before)) <= after - before + 10**6,
             'CLOCK_DATA: both at once')
        text = both_read('-F', 'comm,tid,tod,event')
        seconds = time.mktime(time.strptime(re.search(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', text)[0],
                                            '%Y-%m-%d %H:%M:%S'))
        offset = time.mktime(time.gmtime(day)) - day
        need(day - 2 <= seconds - offset <= time.time() + 2, 'time of day: %s' % text[:80])
    same(sh('perf', 'script', '-i', 'x.data', '-F', 'tod').returncode, 0, 'tod')
    record('-e', 'cs', work='sleep 0.01')
    need(not {23, 29} & set(perfdata.File('x.data').features), 'clock data without -k')


@case('--no-timestamp: no events or some have times, and the header has the first and the last')
def _():
    got = samples('-e', 'cs', '--no-timestamp', work='sleep 0.01; sleep 0.01')
    need(not any('time' in s for s in got), 'times')
    same(struct.unpack('<QQ', perfdata.File('x.data').body(21)), (0, 0), 'SAMPLE_TIME')
    got = samples('-e', 'cs,sched:sched_process_exit', '--no-timestamp',
                  work='sleep 0.01; sleep 0.01')
    times = [s['time'] for s in got if 'time' in s]
    need(times and len(times) < len(got), 'both kinds')
    same(struct.unpack('<QQ', perfdata.File('x.data').body(21)), (min(times), max(times)),
         'SAMPLE_TIME of some')
    got = samples('-e', 'cs,sched:sched_process_exit', work='sleep 0.01; sleep 0.01')
    times = [s['time'] for s in got]
    same(struct.unpack('<QQ', perfdata.File('x.data').body(21)), (min(times), max(times)),
         'SAMPLE_TIME of all')


@case('-n: records of state, no samples')
def _():
    x = record('-n', '-e', 'cs,sched:sched_switch', work='sleep 0.01')
    kinds = {kind for kind, misc, at, size in x.records()}
    need(perfdata.SAMPLE not in kinds and {perfdata.COMM, perfdata.MMAP2, perfdata.EXIT} <= kinds,
         '%r' % kinds)


@case('-s: the counts of each task are recorded when it ends')
def _():
    x = record('-s', '-e', 'cs', work='sleep 0.01; sleep 0.01; sleep 0.01')
    counts, names = {}, set()
    for kind, misc, body, trailer in x.others():
        if kind == READ:
            pid, tid, value, enabled, running, number, lost = struct.unpack('<IIQQQQQ', body)
            need(number in x.full_by_id and running <= enabled, 'READ')
            counts[tid] = counts.get(tid, 0) + value
    sampled = {}
    for s in x.decoded():
        sampled[s['tid']] = sampled.get(s['tid'], 0) + s['period']
    # The tasks are the shell and each sleep.
    need(len(counts) >= 3 and sum(counts.values()) >= 3, '%r' % counts)
    need(set(sampled) & set(counts), 'samples of other tasks')
    perf()
    lines = re.split(r'PID +TID', sh('perf', 'report', '-T', '--stdio', '-i',
                                     'x.data').stdout)[1].splitlines()[1:]
    same({int(line.split()[1]): int(line.split()[2]) for line in lines if line.strip()}, counts,
         'perf report -T')
    need(sonde('script', '-D', '-i', 'x.data').stdout.count('PERF_RECORD_READ') >= 3,
         'READ in our dump')


@case('-i: children of the command are left out')
def _():
    work = 'for i in 1 2 3; do /bin/true; done'
    same(len({s['pid'] for s in samples('-i', '-e', 'sched:sched_switch,page-faults', work=work)}),
         1, 'processes')
    need(len({s['pid'] for s in samples('-e', 'page-faults', '-c', '1', work=work)}) == 4,
         'children')


@case('--all-user, --all-kernel: samples in user space only, in the kernel only')
def _():
    work = 'i=0; while [ $i -lt 12000 ]; do read x < /proc/self/stat; i=$((i + 1)); done'
    need(not any(s['ip'] & KERNEL for s in samples('-e', 'cpu-clock', '-F', '2000', '--all-user',
                                                   work=work)), 'user')
    need(all(s['ip'] & KERNEL for s in samples('-e', 'cpu-clock', '-F', '2000', '--all-kernel',
                                               work=work)), 'kernel')


@case('--switch-events, --namespaces, --all-cgroups: their records, read by both tools')
def _():
    perf()
    x = record('-e', 'cs', '--switch-events', '--namespaces', '--all-cgroups',
               work='sleep 0.01; sleep 0.01')
    others = list(x.others())
    outs = sum(kind == SWITCH and misc >> 13 & 1 for kind, misc, b, t in others)
    need(outs and sum(kind == SWITCH and not misc >> 13 & 1 for kind, misc, b, t in others),
         'switches')
    mine = {n: os.stat('/proc/self/ns/' + n).st_ino
            for n in ('net', 'uts', 'ipc', 'pid', 'user', 'mnt', 'cgroup')}
    spaces = [struct.unpack('<IIQ14Q', body) for kind, misc, body, t in others
              if kind == NAMESPACES]
    need(len(spaces) >= 2, 'namespaces')
    for one in spaces:
        same((one[2], list(one[4::2])), (7, list(mine.values())), 'namespaces of %d' % one[0])
    roots = [body for kind, misc, body, t in others if kind == CGROUP and
             body[8:].rstrip(b'\0') == b'/']
    need(roots, 'the root of the control groups')
    text = both_read('--show-switch-events', '--show-namespace-events', '--show-cgroup-events',
                     '-F', 'comm,tid,time,event')
    for word in 'SWITCH OUT', 'SWITCH IN', 'NAMESPACES', 'CGROUP':
        need('PERF_RECORD_' + word in text, word)
    x = record('-a', '-e', 'cs', '--switch-events', work='sleep 0.01')
    need(any(kind == SWITCH_CPU_WIDE for kind, misc, b, t in x.others()), 'switches of whole cpus')


@case('existing namespaces and control groups are recorded as perf records them')
def _():
    perf()
    sleeper = subprocess.Popen(['sleep', '600'])
    try:
        for attempt in range(5):  # control groups may be made or removed meanwhile
            out = []
            for tool in (['perf'], [SONDE]):
                r = sh(*tool, 'record', '-q', '-a', '-e', 'dummy', '--namespaces', '--all-cgroups',
                       '-o', 'x.data', '--', 'true')
                same((r.returncode, r.stderr), (0, ''), tool)
                text = sh('perf', 'script', '-i', 'x.data', '--show-namespace-events',
                          '--show-cgroup-events').stdout
                at = text.index('NAMESPACES %d/%d ' % (sleeper.pid, sleeper.pid))
                groups = [line for line in text.splitlines() if 'CGROUP' in line]
                out.append((text[at:text.index(']', at)],
                            sorted(re.sub('.*CGROUP', '', line) for line in groups)))
            need(out[0][1], 'no control group')
            if out[0] == out[1]:
                break
        same(*out, 'namespaces and control groups')
    finally:
        sleeper.kill()
        sleeper.wait()


@case('losses are counted exactly with every read format')
def _():
    calls, work = 50000, 'exec dd if=/dev/zero of=/dev/null bs=1 count=50000 status=none'
    for options in ([], ['--running-time'], ['-s'], ['-i', '-s'], ['--no-timestamp']):
        r = sonde('record', '-o', 'x.data', '-m', '1', '-e', 'syscalls:sys_enter_write', *options,
                  '--', 'sh', '-c', work)
        same(r.returncode, 0, r.stderr)
        x = Recording('x.data')
        seen = sum(1 for s in x.decoded())
        lost = sum(struct.unpack('<Q', body)[0] for kind, misc, body, t in x.others()
                   if kind == perfdata.LOST_SAMPLES)
        # The kernel also counts lost records of state.
        need(calls <= seen + lost <= calls + 30,
             '%r: %d seen and %d reported lost' % (options, seen, lost))
        reported = re.search(r'(\d+) events were lost', r.stderr)
        same(int(reported[1]) if reported else 0, lost, r.stderr)


@case('the trailers of all records, also of synthesized ones, have the length that their attr '
      'gives')
def _():
    sleeper = subprocess.Popen(['sleep', '600'])
    fixed = {perfdata.FORK: 24, perfdata.EXIT: 24, NAMESPACES: 8 + 8 + 7 * 16, SWITCH: 0}
    try:
        for options in ([], ['--no-timestamp'], ['--sample-cpu'], ['-a'], ['-a', '--no-timestamp'],
                        ['-k', 'mono', '-d'],
                        ['-p', str(sleeper.pid)], ['--per-thread'], ['-R'], ['-s', '-n']):
            x = record('-e', 'cs,sched:sched_process_exit', '--namespaces', '--switch-events',
                       '--all-cgroups', *options, work='sleep 0.01')
            seen = set()
            for kind, misc, body, trailer in x.others():
                seen.add(kind)
                if kind in fixed:
                    same(len(body), fixed[kind], 'bytes of record %d with %r' % (kind, options))
                elif kind in (perfdata.COMM, CGROUP):
                    text = body[8:].rstrip(b'\0')
                    same(len(body), 8 + (len(text) + 8) // 8 * 8,
                         'bytes of %r with %r' % (text, options))
            need({perfdata.COMM, perfdata.MMAP2, NAMESPACES, CGROUP} <= seen,
                 '%r: %r' % (options, seen))
            list(x.decoded())
            if shutil.which('perf'):
                r = sh('perf', 'script', '-D', '-i', 'x.data')
                same((r.returncode, r.stderr), (0, ''), 'perf of %r' % options)
    finally:
        sleeper.kill()
        sleeper.wait()


few_symbols()
run()
