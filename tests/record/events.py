# SPDX-License-Identifier: MIT
"""-e, -G, --group, --filter: the named events are recorded with perf's attrs, and both tools read
them the same.
"""
import concurrent.futures
import os
import re
import uuid

import perfdata
from tap import Skip, case, few_symbols, need, perf, run, same, sh, sonde


def listed(name):
    """The lines of perf evlist -v and the groups of the header, without ID and IDENTIFIER: sonde
    always sets IDENTIFIER.
    """
    text = re.sub(r'\|(ID|IDENTIFIER)\b', '', sh('perf', 'evlist', '-v', '-i', name).stdout)
    header = sh('perf', 'report', '--header-only', '-i', name).stdout.splitlines()
    return text.splitlines() + [line for line in header if line.startswith('# group:')]


def record(tool, name, options, command=('true',)):
    argv = ('record', '-q', '-o', name, *options, '--', *command)
    return sonde(*argv) if tool == 'sonde' else sh('perf', *argv)


def both(n, options):
    out = []
    for tool in ('sonde', 'perf'):
        name = '%d.%s' % (n, tool)
        r = record(tool, name, options)
        same(r.returncode, 0, '%s %r: %s' % (tool, options, r.stderr))
        out.append(listed(name))
    return out


def all_same(options):
    perf()
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for given, (ours, theirs) in zip(options, pool.map(both, range(len(options)), options)):
            need(ours, 'no events in %r' % (given,))
            same(ours, theirs, 'attrs of %r' % (given,))


def refused(*options, says):
    if os.path.exists('x.data'):
        os.unlink('x.data')
    r = sonde('record', '-o', 'x.data', *options, '--', 'touch', 'ran')
    need(r.returncode in (1, 2) and says in r.stderr, 'no %r in: %s' % (says, r.stderr))
    same([f for f in os.listdir() if f in ('x.data', 'ran')], [], 'files of %r' % (options,))


@case('terms between slashes: the attrs are perf\'s')
def _():
    all_same([['-e', text] for text in (
        'cs/period=10/,cs/freq=10/u,cs//u,cs//,cs/period=0x10/,cs/period=010/,cs/period/,'
        'cs/period=10,freq=5/',
        'cs/freq=0/', 'cs/period=0/', 'cs/name=foo/u,faults/name=bar,period=1/',
        'cs/call-graph=fp/,faults', 'cs/call-graph=dwarf/', 'cs/call-graph=dwarf,stack-size=4096/',
        'cs/stack-size=1000,call-graph=dwarf/', 'cs/call-graph=no/,faults/max-stack=5/',
        'cs/time=0/,faults/time=1/', 'cs/time/',
        'cs/inherit/,cs/no-inherit/,cs/inherit=0/,cs/no-inherit=0/', 'cs/no-overwrite/',
        'cs/branch_type=no/', 'cs/config=5/', 'cs/config1=3,config2=0x10/',
        '1:3,1:0x3:u,1:3/config=5/', 'software/config=3,period=5/u', 'software//',
        'sched:sched_switch/call-graph=fp/u,sched:sched_w*/no-inherit,max-stack=3/',
        'bpf-output/no-inherit=1,name=evt/')] + [
        ['-c', '5', '-e', 'cs/freq=10/'], ['-F', '100', '-e', 'cs/period=5/'],
        ['-P', '-e', 'cs/period=5/'],
        ['-i', '-e', 'cs/inherit/'], ['-g', '-e', 'cs/call-graph=no/,faults'],
        ['-g', '-e', 'cs/call-graph=dwarf/,faults'], ['-g', '-e', 'cs/max-stack=5/,faults']])


@case('groups and their modifiers: the attrs are perf\'s, the header names the groups')
def _():
    all_same([['-e', text] for text in (
        '{cs,faults}', '{cs}', '{cs}:S', 'cs:S', '{cs,faults}:S', '{cs:u,faults}:k',
        '{cs,faults}:SD', '{cs:P,faults}:p', '{cs:P,faults}:u', '{cs,faults:u}:G',
        '{cs,faults:G}:uH', 'grp{cs,faults},migrations', '{cs,faults}:W', '{cs,faults}:e',
        '{sched:sched_switch,cs}:S', '{cs,sched:sched_switch}:S', '{sched:sched_w*}:S',
        '{cs,faults/period=5/}:S', '{cs/period=7/,faults/freq=5/}', '{cs,faults/call-graph=fp/}:S',
        '{cs:u,faults:k}:u', 'cs:SD,cs:uS,cs:I,cs:ppP')] + [
        ['-e', '{cs,faults}', '-e', '{migrations,minor-faults}:S', '-e', 'cs'],
        ['-g', '-e', '{cs,faults}:S'],
        ['-c', '3', '-e', '{cs,faults}:S'], ['-a', '-e', '{cs,faults}:S'],
        ['-s', '-e', '{cs,faults}:S'],
        ['--running-time', '-e', '{cs,faults}:S'], ['--group', '-e', 'cs,faults'],
        ['--group', '-e', 'cs', '-e', 'faults'],
        ['-a', '--group', '-e', 'cs,faults'],
        ['-e', '{sched:sched_switch,sched:sched_waking}:S', '--filter', 'cpu == 1']])


@case('mistakes are named, with the nearest right name')
def _():
    for text, says in (('{cs', 'not closed'), ('cs}', 'too many'), ('{cs,faults:D}', 'pinned'),
                       ('{cs}u', 'after a group'),
                       ('cs:uu', 'given twice'), ('cs/perod=1/', 'did you mean period'),
                       ('nosuch/x=1/', 'no event source'),
                       ('cs/period=x/', 'needs a number'), ('cs/period=1/:u', 'without a colon'),
                       ('sched:sched_switch/period=5/', 'no term'),
                       ('cs/call-graph=bar/', 'not \'bar\''),
                       ('cs/max-stack=60000/', 'at most'), ('cs/overwrite/', '--overwrite'),
                       ('cs/nr=5/', 'perf trace'), ('cs/percore/', 'perf stat'),
                       ('cs/metric-id=x/', 'perf stat'),
                       ('cs/aux-output/', 'not taken'), ('cs/aux-sample-size=9/', 'not taken'),
                       ('cs/driver-config=x/', 'not taken'), ('cs/branch_type=bar/', '\'bar\''),
                       ('duration_time', 'sonde stat'),
                       ('prog.o', 'BPF'), ('%sdt_a:b', 'SDT'),
                       ('uprobe/retprobe/', 'uprobe_events'), ('mem:x', 'address')):
        refused('-e', text, says=says)
    refused('-e', '{cs/no-inherit/,faults}', says='children')
    refused('-e', 'cs', '-G', '/', says='-G needs -a or -C')


@case('hardware and cache events are recorded, or the message says that this machine has none')
def _():
    for name in ('L1-dcache-load-misses', 'instructions', 'r1a8'):
        r = record('sonde', 'x.data', ['-e', name])
        need(r.returncode == 0 or 'this machine' in r.stderr, r.stderr)


WORK = 'i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i + 1)); done'


@case('perf script and sonde script print the same text of groups')
def _():
    perf()
    for options in (['-e', '{cs,faults}:S'],
                    ['-c', '2', '-e', '{cs,faults,raw_syscalls:sys_enter}:S'],
                    ['-e', '{raw_syscalls:sys_enter,faults}:S'],
                    ['-c', '5', '-g', '-e', '{faults,cs}:S'],
                    ['-s', '-c', '2', '-e', '{faults,cs}:S'],
                    ['--running-time', '-c', '2', '-e', '{faults,cs}:S'],
                    ['-c', '5', '-e', '{cs,faults/period=9/}:S'], ['-e', 'cs:S'],
                    ['--group', '-e', 'cs,faults'], ['-e', 'cs/time=0/', '-e', 'faults']):
        r = record('sonde', 'x.data', options, ('sh', '-c', WORK))
        same(r.returncode, 0, r.stderr)
        for more in ([], ['-F', '+period']):
            theirs = sh('perf', 'script', '-i', 'x.data', *more)
            ours = sonde('--compat', 'perf-6.1', 'script', '-i', 'x.data', *more)
            need(theirs.stdout, 'no text of %r' % (options,))
            same(ours.stdout.splitlines(), theirs.stdout.splitlines(), 'lines of %r' % (options,))


@case("an event made from a group's counts has no trace fields, because none were recorded")
def _():
    r = record('sonde', 'x.data', ['-e', '{sched:sched_switch,raw_syscalls:sys_enter}:S'],
               ('sh', '-c', WORK))
    same(r.returncode, 0, r.stderr)
    lines = [line for line in sonde('script', '-i', 'x.data').stdout.splitlines()
             if 'sys_enter' in line]
    need(lines and all(line.rstrip().endswith('sys_enter:') for line in lines), lines[:2])


@case('the counts of a group are what happened')
def _():
    n = 500
    work = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=%d' % n, 'status=none']
    r = record('sonde', 'x.data', ['-e', '{syscalls:sys_enter_write,syscalls:sys_enter_read}:S'],
               work)
    same(r.returncode, 0, r.stderr)
    text = sonde('script', '-i', 'x.data', '-F', 'event,period').stdout
    counts = {}
    for line in text.splitlines():
        period, name = line.split()
        counts[name] = counts.get(name, 0) + int(period)
    same(counts.get('syscalls:sys_enter_write:'), n, 'writes in %r' % counts)
    need(n <= counts.get('syscalls:sys_enter_read:', 0) < n + 50, 'reads in %r' % counts)


@case('losses of a group are reported, with --running-time and without')
def _():
    work = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=100000', 'status=none']
    for more in ([], ['--running-time']):
        for attempt in range(5):
            r = sonde('record', '-m', '1', '-e', '{raw_syscalls:sys_enter,raw_syscalls:sys_exit}',
                      *more, '-o', 'x.data', '--', *work)
            same(r.returncode, 0, r.stderr)
            reported = re.search(r'(\d+) events were lost', r.stderr)
            if reported:
                break
        else:
            raise Skip('nothing was lost in 5 attempts')
        f = perfdata.File('x.data')
        seen = sum(kind == perfdata.SAMPLE for kind, misc, at, size in f.records())
        need(400000 <= seen + int(reported.group(1)) < 420000,
             'seen %d, reported lost %s' % (seen, reported.group(1)))


@case('W: a group that the kernel refuses is recorded as single events, and a line says so')
def _():
    r = sonde('record', '-o', 'x.data', '-e', '{cs/no-inherit/,faults}:W', '--', 'true')
    need(r.returncode == 0 and 'without a group' in r.stderr, r.stderr)
    need(not any(line.startswith('# group') for line in listed('x.data')),
         'the header names the group')
    need('faults' in sonde('script', '-i', 'x.data').stdout, 'no event of the former member')


@case('sources that can only be counted are recorded as members of a group')
def _():
    if not os.path.exists('/sys/bus/event_source/devices/msr/events/tsc'):
        raise Skip('this machine has no event source msr')
    refused('-a', '-e', 'msr/tsc/', says='{cpu-clock,msr/tsc/}:S')
    refused('-a', '-e', 'tsc', says='cannot be sampled')
    refused('-a', '-e', 'msr/evnt=1/', says='did you mean event')
    r = record('sonde', 'x.data', ['-a', '-e', '{cpu-clock,msr/tsc/,msr/event=0/}:S'],
               ('sleep', '0.2'))
    same(r.returncode, 0, r.stderr)
    growth = {}
    for line in sonde('script', '-i', 'x.data', '-F', 'event,period').stdout.splitlines():
        period, name = line.split()
        growth[name] = growth.get(name, 0) + int(period)
    need(growth['msr/tsc/:'] > 1000000 and growth['msr/event=0/:'] > 1000000, growth)


BREAK = '''
volatile int watched;
int called(int i) { return i + watched; }
int main(void) { for (int i = 0; i < 7; i++) { watched = i; called(i); } return 0; }
'''


@case('mem: breakpoints have perf\'s attrs')
def _():
    all_same([['-e', text] for text in ('mem:0x1000', 'mem:0x1000:rw', 'mem:0x1000:x',
                                        'mem:0x1000:w:k', 'mem:0x1000:u', 'mem:4096:w')])


@case('mem: breakpoints on data and on code count each access')
def _():
    with open('b.c', 'w') as f:
        f.write(BREAK)
    if sh('cc', '-O0', '-fno-pie', '-no-pie', '-o', 'b', 'b.c').returncode:
        raise Skip('no compiler')
    at = {line.split()[2]: '0x' + line.split()[0] for line in sh('nm', 'b').stdout.splitlines()
          if len(line.split()) == 3}
    # Some virtual machines accept breakpoints that never fire.
    r = sh('perf', 'stat', '-x,', '-e', 'mem:%s:w:u' % at['watched'], './b')
    if r.stderr.startswith('0,'):
        raise Skip('perf stat counts no breakpoint on this machine either')
    for text, times in (('mem:%s:w:u' % at['watched'], 7), ('mem:%s/4:w:u' % at['watched'], 7),
                        ('mem:%s:u' % at['watched'], 14), ('mem:%s:x:u' % at['called'], 7)):
        r = record('sonde', 'x.data', ['-e', text], ('./b',))
        if r.returncode and 'this machine' in r.stderr:
            raise Skip('this machine has no breakpoints: ' + r.stderr)
        same(r.returncode, 0, r.stderr)
        kinds = [kind for kind, misc, where, size in perfdata.File('x.data').records()]
        same(kinds.count(perfdata.SAMPLE), times, text)


def append(path, text):
    """Appends to a file of tracefs, which needs one write and no seek."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


@case('uprobes made in tracefs are tracepoints like any other, in groups, with filters')
def _():
    places = [p for p in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')
              if os.path.exists(p + '/uprobe_events')]
    if not places:
        raise Skip('this kernel has no uprobe_events')
    with open('b.c', 'w') as f:
        f.write(BREAK)
    if sh('cc', '-O0', '-fno-pie', '-no-pie', '-o', 'b', 'b.c').returncode:
        raise Skip('no compiler')
    address = next(line.split()[0] for line in sh('nm', 'b').stdout.splitlines()
                   if line.endswith(' called'))
    name = 'sonde%s' % uuid.uuid4().hex[:8]
    events = places[0] + '/uprobe_events'
    append(events, 'p:%s/called %s:%#x i=%%di:s32\n' %
           (name, os.path.abspath('b'), int(address, 16) - 0x400000))
    try:
        for options, times in ((['-e', name + ':called'], 7),
                               (['-e', name + ':*', '--filter', 'i > 4'], 2),
                               (['-e', '{%s:called,faults}' % name, '-c', '1'], 7)):
            r = record('sonde', 'x.data', options, ('./b',))
            same(r.returncode, 0, r.stderr)
            lines = [line for line in sonde('script', '-i', 'x.data').stdout.splitlines()
                     if name in line]
            same(len(lines), times, repr(options))
            need(' i=6' in lines[-1], lines[-1])
    finally:
        append(events, '-:%s/called\n' % name)


@case('--filter applies to all events of the -e before it, also of globs and groups, and to no '
      'others')
def _():
    work = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=50', 'status=none']
    for text in ('syscalls:sys_enter_rea[d],syscalls:sys_enter_wri[t]e',
                 '{syscalls:sys_enter_read,syscalls:sys_enter_write}'):
        r = record('sonde', 'x.data',
                   ['-e', text, '--filter', 'count == 1', '-e', 'raw_syscalls:sys_enter'], work)
        same(r.returncode, 0, r.stderr)
        lines = sonde('script', '-i', 'x.data').stdout.splitlines()
        chosen = [line for line in lines if 'syscalls:sys_enter_' in line and 'raw_' not in line]
        same(len(chosen), 100, 'reads and writes of one byte by ' + text)
        need(sum('raw_syscalls' in line for line in lines) > 110, 'unfiltered')
    refused('-e', '{sched:sched_switch,cs}', '--filter', 'cpu == 1', says='cs is not a tracepoint')


def tree():
    """The mount point where perf looks for control groups."""
    found = None
    with open('/proc/self/mounts') as f:
        for line in f:
            place, kind, options = line.split()[1:4]
            if kind == 'cgroup' and 'perf_event' in options.split(','):
                return place
            if kind == 'cgroup2' and not found:
                found = place
    return found


@case('-G: events of a control group only, each control group for its event')
def _():
    place = tree()
    if not place:
        raise Skip('no control groups are mounted')
    name = 'sonde-%s' % uuid.uuid4().hex[:8]
    inside = 'echo $$ > %s/%s/cgroup.procs || exit 9; exec sh -c "%s"' % (place, name,
                                                                          WORK.replace('$', '\\$'))
    try:
        os.mkdir('%s/%s' % (place, name))
    except OSError as e:
        raise Skip('no control group can be made in %s: %s' % (place, e))
    try:
        r = record('sonde', 'x.data', ['-a', '-e', 'sched:sched_process_exec', '-G', name],
                   ('sh', '-c', inside))
        if r.returncode == 9:
            raise Skip('no process can be moved into a control group')
        same(r.returncode, 0, r.stderr)
        text = sonde('script', '-i', 'x.data').stdout
        # 30 times /bin/true, and the shell; no other process is in the group.
        same(sum('sched_process_exec' in line for line in text.splitlines()), 31,
             'programs started: ' + text[:900])
        r = record('sonde', 'x.data',
                   ['-a', '-e', 'sched:sched_process_exec,sched:sched_process_exit', '-G',
                    ',' + name],
                   ('sh', '-c', inside + '; /bin/true'))
        same(r.returncode, 0, r.stderr)
        text = sonde('script', '-i', 'x.data').stdout
        need(sum('sched_process_exit' in line for line in text.splitlines()) >= 30, 'ends')
        r = record('sonde', 'x.data', ['-a', '-c', '1', '-e', '{cs,faults}:S', '-G', name],
                   ('sh', '-c', inside))
        same(r.returncode, 0, r.stderr)
        comms = set(sonde('script', '-i', 'x.data', '-F', 'comm').stdout.split())
        need(comms and comms <= {'sh', 'true', ':-1'}, comms)  # -1: a task that exits
        if sh('which', 'perf').returncode == 0:
            all_same([['-a', '-e', 'cs,faults', '-G', name],
                      ['-a', '-e', 'cs,faults', '-G', ',' + name],
                      ['-a', '-e', 'cs', '-G', name, '-e', 'faults']])
        r = record('sonde', 'x.data', ['-C', '0', '-e', 'cs', '-G', name])
        same(r.returncode, 0, r.stderr)
        refused('-a', '-e', 'cs', '-G', name + ',' + name, says='event number 2')
        refused('-a', '-e', '{cs,faults}', '-G', name + ',/', says='same control group')
        refused('-a', '-e', 'cs', '-G', 'no-such-group', says='no such control group')
    finally:
        os.rmdir('%s/%s' % (place, name))
    r = sonde('record', '-a', '-G', 'x', '-e', 'cs', '--', 'true')
    need(r.returncode and '-e before it' in r.stderr, r.stderr)


few_symbols()
run()
