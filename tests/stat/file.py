#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde stat record and report against perf's: each tool prints the same of its own files and of
the other's, in both byte orders; what a file holds is what was printed.

    tests/stat/file.py SONDE
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / 'record'), str(HERE.parent / 'roundtrip')]
import tap  # noqa: E402
from swapped import Cannot, Swapper  # noqa: E402

TRUE = ['true']
NAP = ['sleep', '0.05']
WORK = ['sh', '-c', 'for i in 1 2 3; do n=0; while [ $n -lt 3000 ]; do n=$((n+1)); done; '
        'sleep 0.08; done']
SW = 'cs,task-clock,page-faults'
# options of record, command
TASKS = [(o.split(), c) for o, c in [
    ('-e ' + SW, TRUE), ('-e cs', TRUE), ('', TRUE), ('-d', TRUE),
    ('-e {cs,page-faults},{task-clock,minor-faults}', TRUE), ('-e cs:k,cs:u,faults:u', TRUE),
    ('-e cs/name=switches/', TRUE), ('-e cycles,instructions', TRUE), ('-e msr/tsc/', TRUE),
    ('-e duration_time,user_time,task-clock', WORK), ('-e mem:0x1000:w', TRUE),
    ('-i --no-scale -e ' + SW, TRUE)]]
CPUS = [(o.split(), c) for o, c in [
    ('-a -e cs,cpu-clock,faults', NAP), ('-a -A -e cs,cpu-clock', NAP), ('-a', NAP),
    ('-C 0 -e cs', NAP), ('-a --per-core -e cs,cpu-clock', NAP), ('-a --per-socket -e cs', NAP),
    ('-a --per-die -e cs', NAP), ('-a --per-node -e cs,cpu-clock', NAP), ('-a -e cycles', NAP),
    ('-a -A -e cycles,cs', NAP)]]
INTERVALS = [(o.split(), c) for o, c in [
    ('-I 100 -e cs,faults', WORK), ('-I 100 -e task-clock,cs,faults', WORK),
    ('-I 100 -a -A -e cs,cpu-clock', WORK), ('-I 100 -e faults -p %d' % os.getpid(), NAP),
    ('-I 100 -a -e cpu-clock,cs,task-clock', WORK)]]
PLACES = ['-A', '--per-core', '--per-die', '--per-socket', '--per-node']
COMPAT = ['--compat', 'perf-6.1']


def record(tool, options, path, command):
    r = tap.sh(tool, 'stat', 'record', *options, '-o', path, *command)
    tap.same(r.returncode, 0, '%s: %s' % (options, r.stderr))
    return r


def report(words, path, *options, before=()):
    """What a tool prints of a file: its status and all its output."""
    r = tap.sh(*words, 'stat', *before, 'report', *options, '-i', path)
    return r.returncode, r.stdout + r.stderr


def other_order(path):
    """The file in the other byte order."""
    blob = pathlib.Path(path).read_bytes()
    big = path + '.big'
    try:
        pathlib.Path(big).write_bytes(Swapper(blob).build())
    except Cannot as e:
        raise AssertionError('%s cannot be converted: %s' % (path, e))
    return big


def compare(path, what, compat, *options, before=()):
    want = report([tap.perf()], path, *options, before=before)
    what = '%s %s %s' % (what, before, options)
    tap.same(report([tap.SONDE, *compat], path, *options, before=before), want, what)
    big = report([tap.SONDE, *compat], other_order(path), *options, before=before)
    tap.same(big, want, what + ', in the other byte order')


def both(sets, reports, compat=(), before=()):
    for options, command in sets:
        for tool in tap.SONDE, tap.perf():
            record(tool, options, 'x.data', command)
            for how in reports:
                compare('x.data', '%s, %s' % (os.path.basename(tool), ' '.join(options)), compat,
                        *how, before=before)


@tap.case('counts of a command: reports of both tools, of both tools\' files, in both byte orders')
def counts_of_tasks():
    both(TASKS, [()])


@tap.case('counts of cpus, added up in every way')
def counts_of_cpus():
    both(CPUS, [()] + [(p,) for p in PLACES])
    # perf adds a row of no core for an event that is counted on one cpu only
    both([(['-a', '-A', '-e', 'cycles,cs,duration_time'], NAP)], [(), ('-A',)])


@tap.case('counts of intervals, with the rates of perf\'s report')
def counts_of_intervals():
    both(INTERVALS, [()], COMPAT)


@tap.case('fields and objects')
def layouts():
    for before in ['-x,'], ['-x;'], ['-j']:
        # perf's objects have a unit for a figure that is missing, its fields have none
        intervals = INTERVALS[:1] if before == ['-j'] else INTERVALS[1:2]
        both(TASKS[:2] + TASKS[7:8] + CPUS[1:2] + CPUS[4:5] + intervals, [()], COMPAT, before)
    record(tap.SONDE, ['-e', SW], 'x.data', TRUE)
    for option in '-x,', '-j':
        tap.same(report([tap.SONDE], 'x.data', option),
                 report([tap.SONDE], 'x.data', before=[option]), 'before and after the word')


@tap.case('--format: one object with all runs, fields as of -x')
def formats():
    record(tap.SONDE, ['-r', '3', '-e', SW + ',cycles'], 'x.data', TRUE)
    r = tap.sonde('stat', 'report', '--format', 'json', '-i', 'x.data')
    found = json.loads(r.stdout)
    tap.same((r.returncode, r.stderr, found['schema']), (0, '', 'sonde-stat'), 'an object')
    tap.same(len(found['elapsed_ns']), 3, 'times of runs')
    tap.same([(c['event'], len(c['runs'])) for c in found['counts']],
             [(e, 3) for e in SW.split(',') + ['cycles']], 'counts')
    means = re.findall(r'^ +(\d+) +page-faults ',
                       tap.sonde('stat', 'report', '-i', 'x.data').stderr, re.M)
    faults = found['counts'][2]['runs']
    tap.need(abs(float(means[0]) - sum(faults) / 3) <= 0.51, (means, faults))
    pathlib.Path('x.json').write_text(r.stdout)
    r = tap.sonde('stat', '-e', SW + ',cycles', '--baseline', 'x.json', 'true')
    tap.need('no counts of' not in r.stderr and 'expected' not in r.stderr, r.stderr)
    want = tap.sonde('stat', 'report', '-x,', '-i', 'x.data').stderr
    for argv in ['report', '--format', 'csv'], ['--format=csv', 'report']:
        r = tap.sonde('stat', *argv, '-i', 'x.data')
        tap.same((r.returncode, r.stdout, r.stderr), (0, want, ''), argv)
    r = tap.sonde('stat', 'report', '--format', 'csv', '-x;', '-i', 'x.data')
    tap.same(r.stdout, want.replace(',', ';'), 'another separator')
    record(tap.SONDE, ['-a', '-A', '-e', 'cs'], 'a.data', NAP)
    r = tap.sonde('stat', 'report', '-A', '--format', 'json', '-i', 'a.data')
    tap.same(len({c['place'] for c in json.loads(r.stdout)['counts']}),
             os.sysconf('SC_NPROCESSORS_ONLN'), r.stdout)
    record(tap.SONDE, ['-I', '50', '-e', 'cs'], 'i.data', NAP)
    # the setting is lost: the rounds are still those of intervals
    with open('i.data', 'rb') as f, open('lost.data', 'wb') as out:
        whole = f.read()
        out.write(whole.replace(struct.pack('<QQ', 1, 50), struct.pack('<QQ', 1, 0)))
        tap.need(struct.pack('<QQ', 1, 50) in whole)
    for argv, text in ((['--format', 'xml'], 'text, json or csv'), (['--format=json', '-j'], '-j'),
                       (['--format=csv', '-j'], '-j'), (['--format=json', '-x;'], '-x'),
                       (['--format=json', '-i', 'i.data'], 'intervals'),
                       (['--format=json', '-i', 'lost.data'], 'intervals')):
        r = tap.sonde('stat', 'report', '-i', 'x.data', *argv)
        tap.need(r.returncode == 2 and text in r.stderr and not r.stdout, (argv, r.stderr))
    r = tap.sonde('stat', '--format', 'csv', '-e', 'page-faults', 'true')
    tap.need(re.fullmatch(r'\d+,,page-faults,.*\n', r.stderr), r.stderr)


@tap.case('stat record -n: a file of times')
def no_events():
    for options in ['-n'], ['-n', '-r', '2']:
        record(tap.SONDE, options, 'n.data', TRUE)
        r = tap.sonde('stat', 'report', '-i', 'n.data')
        tap.need(r.returncode == 0 and 'seconds time elapsed' in r.stderr, r.stderr)
        tap.same('(2 runs)' in r.stderr, '-r' in options, r.stderr)
    record(tap.perf(), ['-n'], 'p.data', TRUE)
    for words in [tap.SONDE, '--compat', 'perf-6.1'], [tap.SONDE]:
        tap.same([line.split() for line in report(words, 'p.data')[1].splitlines() if line],
                 [line.split() for line in report([tap.perf()], 'p.data')[1].splitlines() if line],
                 "perf's file")
    r = tap.sonde('stat', 'report', '-i', other_order('n.data'))
    tap.need(r.returncode == 0 and 'seconds' in r.stderr, r.stderr)
    r = tap.sh('sh', '-c', '"$0" stat record -n -o - true | "$0" stat report -i -', tap.SONDE)
    tap.need('seconds time elapsed' in r.stderr, r.stderr)
    r = tap.sonde('script', '-i', 'n.data')
    tap.need(r.returncode == 1 and 'describes no event' in r.stderr, r.stderr)


@tap.case('threads')
def threads():
    p = subprocess.Popen([sys.executable, '-c', '''
import threading, time
def work():
    end = time.time() + 60
    while time.time() < end:
        time.sleep(0.002)
for i in range(3):
    threading.Thread(target=work, daemon=True).start()
print(flush=True)
time.sleep(60)
'''], stdout=subprocess.PIPE)
    try:
        p.stdout.readline()
        for options in ['--per-thread', '-e', 'cs,faults'], ['-e', 'cs,task-clock']:
            both([(['-p', str(p.pid), *options], NAP)], [()])
        record(tap.SONDE, ['-p', str(p.pid), '-e', 'cs'], 'p.data', NAP)
        r = tap.sonde('stat', 'report', '--per-thread', '-j', '-i', 'p.data')
        tap.same(r.stderr.count('"thread"'), 4, 'rows of threads')
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


@tap.case('what a file holds is what was printed')
def same_as_printed():
    for options, command in TASKS[:5] + CPUS[:4]:
        printed = record(tap.SONDE, options, 'x.data', command).stderr
        shown = tap.sonde('stat', 'report', '-i', 'x.data').stderr
        rows = [re.split(r'seconds time elapsed', t, maxsplit=1)[0].split('\n')[3:]
                for t in (printed, shown)]
        tap.same(rows[1], rows[0], 'rows of ' + ' '.join(options))


@tap.case('tracepoints: perf reads ours; its own files do not describe them to it')
def tracepoints():
    for events in 'sched:sched_process_exec,cs', 'raw_syscalls:sys_enter,{sched:sched_switch,cs}':
        record(tap.SONDE, ['-e', events], 'x.data', TRUE)
        compare('x.data', events, ())
        record(tap.perf(), ['-e', events], 'y.data', TRUE)
        r = tap.sonde('stat', 'report', '-i', 'y.data')
        tap.same(r.returncode, 0, r.stderr)
        tap.need(re.search(r'^ +\d+ +%s ' % events.split(',')[0], r.stderr, re.M), r.stderr)


@tap.case('uprobes')
def uprobes():
    trees = [p for p in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')
             if os.path.exists(p + '/uprobe_events')]
    if not trees:
        raise tap.Skip('this kernel has no uprobe_events')
    name = 'sondestat%d' % os.getpid()

    def write(line):
        fd = os.open(trees[0] + '/uprobe_events', os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)

    elf = pathlib.Path('only-here').resolve()
    shutil.copy(shutil.which('true'), elf)
    head = elf.read_bytes()
    entry = struct.unpack_from('<Q', head, 24)[0]
    segments = [struct.unpack_from('<IIQQQQ', head, struct.unpack_from('<Q', head, 32)[0] + 56 * i)
                for i in range(struct.unpack_from('<H', head, 56)[0])]
    offset = next(entry - at + off for kind, _, off, at, _, size in segments
                  if kind == 1 and at <= entry < at + size)
    write('p:%s/start %s:0x%x\n' % (name, elf, offset))
    try:
        events = '%s:start,cs' % name
        record(tap.SONDE, ['-e', events], 'x.data', [str(elf)])
        compare('x.data', 'a uprobe', ())
        r = tap.sonde('stat', 'report', '-i', 'x.data')
        tap.need(re.search(r'^ +1 +%s:start ' % name, r.stderr, re.M), r.stderr)
    finally:
        write('-:%s/start\n' % name)


@tap.case('control groups: their names are in our files')
def cgroups():
    options = ['-a', '-e', 'cs,faults', '-G', '/,/']
    if tap.sonde('stat', *options, 'true').returncode:
        raise tap.Skip('no control groups')
    record(tap.SONDE, options, 'x.data', NAP)
    compare('x.data', 'control groups', COMPAT)
    r = tap.sonde('stat', 'report', '-i', 'x.data')
    tap.same(len(re.findall(r' (?:cs|faults) +/ *$', r.stderr, re.M)), 2, r.stderr)


@tap.case('a pipe: both tools read what either writes')
def pipes():
    for tool in tap.SONDE, tap.perf():
        for options in ['-e', SW], ['-a', '-A', '-e', 'cs']:
            with open('x.pipe', 'wb') as f:
                r = subprocess.run([tool, 'stat', 'record', *options, '-o', '-', 'sleep', '0.01'],
                                   stdout=f, stderr=subprocess.PIPE, env=tap.PERF_ENV)
            tap.same((r.returncode, r.stderr), (0, b''), 'record to a pipe')
            compare('x.pipe', 'a pipe', COMPAT)
    r = tap.sh('sh', '-c', '"$0" stat record -e cs -o - true | "$0" stat report -i -', tap.SONDE)
    tap.need('stat record -e cs -o - true' in r.stderr and ' cs ' in r.stderr, r.stderr)
    # without -o and -i the pipe is found, as with perf
    r = tap.sh('sh', '-c', '"$0" stat record --quiet -e cs true | "$0" stat report', tap.SONDE)
    tap.need('elapsed' in r.stderr, r.stderr)


@tap.case('runs: perf shows a block for each, sonde their means')
def runs():
    record(tap.SONDE, ['-r', '3', '-e', 'page-faults,task-clock'], 'x.data', TRUE)
    ours = tap.sonde('stat', 'report', '-i', 'x.data').stderr
    theirs = tap.sh(tap.perf(), 'stat', 'report', '-i', 'x.data').stderr
    tap.need('(3 runs)' in ours and '+-' in ours, ours)
    tap.same(theirs.count('seconds time elapsed'), 3, theirs)
    for event, decimals in ('page-faults', 0), ('task-clock', 2):
        mean, *counts = (float(n) for t in (ours, theirs) for n in re.findall(
            r'^ +([\d.]+) (?:msec)? +%s ' % event, t, re.M))
        tap.same(len(counts), 3, 'runs of perf')
        tap.need(abs(mean - sum(counts) / 3) <= 0.6 / 10 ** decimals + 0.01, (mean, counts))
    big = tap.sonde('stat', 'report', '-i', other_order('x.data')).stderr
    tap.same(big, ours, 'the other byte order')
    r = tap.sonde('stat', 'record', '-r', '2', '-I', '100', '-e', 'cs', '-o', 'y.data', 'true')
    tap.need(r.returncode == 2 and not os.path.exists('y.data'), r.stderr)


@tap.case('the word record: options before and after it, its beginnings, statuses, files')
def words():
    for argv in (['-e', 'cs', 'record', '-o', 'x.data', 'true'],
                 ['record', '-e', 'cs', '-o', 'x.data', '--', 'true'],
                 ['-o', 'x.data', 'rec', '-e', 'cs', 'true']):
        r = tap.sonde('stat', *argv)
        tap.same(r.returncode, 0, r.stderr)
        tap.need('cs' in tap.sonde('stat', 'rep', '-i', 'x.data').stderr, argv)
        os.unlink('x.data')
        if os.path.exists('x.data.old'):
            os.unlink('x.data.old')
    r = tap.sh(tap.SONDE, 'stat', 'record', '-e', 'cs', 'sh', '-c', 'exit 3')
    # the test's stdout is a pipe: the recording is there, as with perf
    tap.same(r.returncode, 3, r.stderr)
    with open('/dev/null', 'w') as null:
        for _ in range(2):
            subprocess.run([tap.SONDE, 'stat', 'record', '-e', 'cs', 'true'], stdout=null,
                           stderr=null, check=True, env=tap.PERF_ENV)
    tap.need(os.path.exists('perf.data') and os.path.exists('perf.data.old'), os.listdir('.'))
    kept = pathlib.Path('perf.data').read_bytes()
    r = subprocess.run([tap.SONDE, 'stat', 'record', '-e', 'cs', '-o', 'perf.data',
                        '/nonexistent/program'], env=tap.PERF_ENV, capture_output=True)
    tap.same(r.returncode, 127, r.stderr)
    tap.need(pathlib.Path('perf.data').read_bytes() == kept, 'the earlier file is not kept')


@tap.case('sonde info, evlist and script read what stat record writes')
def other_commands():
    record(tap.SONDE, ['-e', SW], 'x.data', TRUE)
    r = tap.sonde('evlist', '-i', 'x.data')
    tap.same(r.stdout.split(), SW.split(','), r.stderr)
    for tool in tap.SONDE, tap.perf():
        r = tap.sh(tool, 'script', '-i', 'x.data')
        tap.need(r.returncode == 0 and 'task-clock' in r.stdout, r.stdout + r.stderr)


# ---- damage --------------------------------------------------------------------------------------

def records(blob):
    """(type, offset, size) of the records of a file."""
    at, n = struct.unpack_from('<QQ', blob, 40)
    end = at + n
    while at < end:
        kind, _, size = struct.unpack_from('<IHH', blob, at)
        yield kind, at, size
        at += size


def damaged(blob):
    """(name, bytes, what the message has)"""
    found = {}
    for kind, at, size in records(blob):
        found.setdefault(kind, at)
    threads, cpus, config, count, end = (found[k] for k in (73, 74, 75, 76, 77))

    def put(at, fmt, *values):
        b = bytearray(blob)
        struct.pack_into(fmt, b, at, *values)
        return bytes(b)

    data = struct.unpack_from('<Q', blob, 40)[0]
    yield 'a thread map that claims more', put(threads + 8, '<Q', 1 << 40), 'field tid'
    yield 'a cpu map of another kind', put(cpus + 8, '<H', 9), 'kind 9'
    yield 'many cpus', put(cpus + 8, '<HHHH', 2, 0, 0, 65535), 'cannot be in this file'
    yield 'a config that claims more', put(config + 8, '<Q', 1 << 60), 'field tag'
    yield 'an unknown event', put(count + 8, '<Q', 12345678901), 'unknown event'
    yield 'an unknown cpu', put(count + 16, '<I', 99), 'unknown cpu'
    yield 'an unknown thread', put(count + 20, '<I', 7), 'task 7'
    yield 'a short count', put(count + 6, '<H', 16), '0x%x' % (count + 16)
    yield 'a record without a size', put(count + 6, '<H', 0), '0x%x' % count
    yield 'no round', put(end, '<I', 68), 'no counts'
    yield 'no sets', put(cpus, '<I', 68), 'before the sets'
    for cut in data + 4, threads + 12, count + 9, end + 3:
        yield 'a file of %d bytes' % cut, blob[:cut], ''


@tap.case('damaged files: an error with the file and the offset')
def damage():
    record(tap.SONDE, ['-a', '-e', 'cs,page-faults'], 'good.data', TRUE)
    blob = pathlib.Path('good.data').read_bytes()
    for name, data, text in damaged(blob):
        pathlib.Path('bad.data').write_bytes(data)
        for options in (), ('-A',), ('-j', '--per-core'):
            r = tap.sonde('stat', 'report', *options, '-i', 'bad.data')
            tap.need(r.returncode == 1 and 'bad.data' in r.stderr and text in r.stderr,
                     '%s: status %d, %r' % (name, r.returncode, r.stderr))
    for path, text in ('none.data', 'none.data'), (__file__, 'file.py'):
        r = tap.sonde('stat', 'report', '-i', path)
        tap.need(r.returncode == 1 and text in r.stderr, r.stderr)


@tap.case('each byte of a file changed: no crash')
def flips():
    record(tap.SONDE, ['-a', '-A', '-e', 'cs,duration_time'], 'good.data', TRUE)
    blob = pathlib.Path('good.data').read_bytes()
    start, n = struct.unpack_from('<QQ', blob, 40)
    for at in range(start, start + n):
        bad = bytearray(blob)
        bad[at] ^= 0xff
        pathlib.Path('bad.data').write_bytes(bad)
        r = tap.sonde('stat', 'report', '-i', 'bad.data')
        tap.need(r.returncode in (0, 1), 'byte 0x%x: %d %s' % (at, r.returncode, r.stderr))


tap.run()
