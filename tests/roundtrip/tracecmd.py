#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares --format trace-cmd with stock trace-cmd report 3.1 (Debian's package trace-cmd).

    tracecmd.py SONDE

The recordings: made ones, with a stored text of trace-cmd's, and those of the corpus.
"""
import gzip
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
import tracedat as made  # noqa: E402
from points import ENV, FULL, done, say, skip  # noqa: E402
from recordings import NO_CORPUS, REFERENCE, corpus_files  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
TRACE_CMD = shutil.which('trace-cmd')
STORED = TESTS / 'data' / 'tracedat' / 'every-kind.report.txt'
# sonde's options, trace-cmd's
OPTIONS = [((), ()), (('--ns',), ('-t',)), (('-L',), ('-l',)),
           (('--raw-fields', '-L'), ('-R', '-l'))]


def output(command):
    p = subprocess.run([str(word) for word in command], env=ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=600)
    return p.stdout.decode('utf-8', 'backslashreplace').splitlines(), p.stderr.decode()


def ours(path, *options):
    return output([SONDE, 'script', '--format', 'trace-cmd', '-i', path, *options])[0]


def same(name, got, want):
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got, want) if g != w][:3]
    if len(got) != len(want):
        wrong.append('%d lines, trace-cmd has %d' % (len(got), len(want)))
    say(got == want and len(want) > 1, name, '\n'.join(wrong))


def to_record_end(ours, stock):
    """A line of trace-cmd report -R without the bytes behind the record, which it prints for an
    array that is longer in the format (kernel_stack) or has no size there (raw_data).
    """
    if any(event in ours for event in (': raw_data: ', ': kernel_stack: ')):
        text = ours.removesuffix(']')
        if stock.startswith(text) and '=' in text:
            return ours
    return stock


def compare(name, path, pairs=OPTIONS, without=()):
    """without: lines with these words are not compared."""
    for mine, stock in pairs:
        got = [line for line in ours(path, *mine) if not any(word in line for word in without)]
        # One run in forty of trace-cmd 3.1 shows other times for a file without options.
        for _ in range(3):
            want = [line for line in output([TRACE_CMD, 'report', *stock, '-i', path])[0]
                    if not any(word in line for word in without)]
            if '-R' in stock and len(got) == len(want):
                want = list(map(to_record_end, got, want))
            if got == want:
                break
        same(' '.join((name,) + stock), got, want)


def durations(rng):
    """Calls of functions: leaves, nested ones, ones that events of other cpus interrupt."""
    t = made.TraceDat(kallsyms=made.KALLSYMS, cmdlines=made.CMDLINES)
    at = 10**9
    for _ in range(300):
        n, pid = rng.randrange(2), rng.choice((10, 20, 30))
        func, depth = rng.choice((0x2000, 0x2100, 0x2200, 0x9999)), rng.randrange(4)
        took = rng.randrange(1, 10 ** rng.randrange(1, 13))
        kind = rng.randrange(4)
        at += rng.randrange(1, 5000)
        if kind:
            t.cpu(n).add(at, t.event(2, pid, func, depth))
        if kind == 2:
            at += 1
            t.cpu(rng.randrange(2)).add(at, t.print(30, 'between'))
        at += 1
        t.cpu(n).add(at, t.event(3, pid, func, at, at + took, 0, depth))
    return t


def functions(rng):
    t = made.TraceDat(kallsyms=made.KALLSYMS, cmdlines=made.CMDLINES, long_bytes=4)
    names = (0x1000, 0x2000, 0x2010, 0x2100, 0x2200, 0x3000, 0x3001, 0x10, 0x9999)
    for i in range(1000):
        t.cpu(rng.randrange(2)).add(10**9 + 700 * i, t.event(
            1, rng.choice((10, 20, 30)), rng.choice(names), rng.choice(names)))
    return t


def tasks(rng):
    """Names that are learned, states of all kinds, flags of all kinds."""
    t = made.TraceDat(cmdlines=made.CMDLINES)
    at = 10**9
    for i in range(1000):
        at += rng.randrange(1, 1000000)
        cpu, pid = t.cpu(rng.randrange(2)), rng.randrange(0, 60)
        more = dict(flags=rng.randrange(256), preempt=rng.randrange(256))
        if rng.randrange(2):
            data = t.switch(pid, 'prev-%d' % pid, rng.randrange(60), 'next-%d' % rng.randrange(9),
                            state=rng.randrange(1 << rng.randrange(10)), **more)
        else:
            data = t.wakeup(pid, rng.randrange(60), 'woken %d' % rng.randrange(9),
                            rng.randrange(200), **more)
        cpu.add(at, data)
    return t


def futexes(rng):
    t, at = made.TraceDat(), 10**9
    for op in [*range(15)] * 4:
        at += 1000
        numbers = [rng.choice((0, 1, 0xffffffff, 0x123456789abc)) for _ in range(5)]
        numbers[1:1] = [op | rng.choice((0, 128, 256, 384, 512))]
        t.cpu(0).add(at, t.event(300, 10, 202, *numbers))
    return t


def virtual(rng):
    t, at = made.TraceDat(), 10**9
    reasons = [*range(170), *range(0x400, 0x405), 0x80000021, 0xffffffff]
    for reason in reasons:
        for isa in 1, 2, 3:
            at += 1000
            t.cpu(0).add(at, t.event(400, 10, reason, rng.getrandbits(40), isa,
                                     rng.getrandbits(rng.randrange(1, 64)), rng.getrandbits(8)))
    for i in range(16):
        at += 1000
        t.cpu(0).add(at, t.event(401, 10, i, rng.getrandbits(48)))
        t.cpu(0).add(at, t.event(402, 10, rng.getrandbits(32), rng.getrandbits(16), i,
                                 rng.randbytes(15), i, i & 1))
    return t


def guests(rng):
    """A guest whose times are moved to those of its host 0x1111."""
    cpus = []
    for _ in range(2):
        at, moments = 0, []
        for _ in range(rng.choice((1, 2, 3, 5))):
            at += rng.randrange(1, 4000)
            moments.append((at, rng.randrange(-900, 100000), 1))
        cpus.append(moments)
    t = made.TraceDat(options=[(11, struct.pack('<Q', 0x2222)), made.time_shift(
        0x1111, rng.randrange(2), cpus, rng.choice((None, (0, 0), (4, 2))))])
    for cpu in range(3):
        for i, at in enumerate(sorted(rng.sample(range(16000), 60))):
            t.cpu(cpu).add(at, t.print(10, '%d %d' % (cpu, i)))
    return t


def hosts():
    t = made.TraceDat(options=[(11, struct.pack('<Q', 0x1111))])
    for i in range(100):
        t.cpu(0).add(1 + i * 1000, t.print(10, 'host %d' % i))
    return t


SYSTEMS = ('sched', 'irq', 'timer', 'kmem', 'syscalls', 'raw_syscalls', 'signal', 'task', 'tlb',
           'workqueue', 'writeback', 'block', 'ext4', 'filemap', 'exceptions', 'skb', 'net', 'tcp',
           'rcu', 'power', 'mmap', 'cgroup')
WORK = """
import socket, threading
t = threading.Thread(target=lambda: open('/proc/self/maps').read())
t.start(), t.join()
a, b = socket.socketpair()
a.send(b'x'), b.recv(1)
"""


def recorded():
    """A recording of this machine, through an instance of our own; a reason if there is none."""
    tracefs = pathlib.Path('/sys/kernel/tracing')
    instance = tracefs / 'instances' / ('sonde-test-%d' % os.getpid())
    try:
        instance.mkdir()
    except OSError as e:
        return 'no instance of ftrace: %s' % e
    try:
        (instance / 'buffer_size_kb').write_text('512')
        for system in SYSTEMS:
            if (instance / 'events' / system).is_dir():
                (instance / 'events' / system / 'enable').write_text('1')
        for stack in 'stacktrace', 'userstacktrace':
            (instance / 'options' / stack).write_text('1')
        (instance / 'trace_marker').write_text('a marker\n')
        (instance / 'trace_marker_raw').write_bytes(b'\1\0\0\0raw!')
        subprocess.run([sys.executable, '-c', WORK], check=True)
        (instance / 'tracing_on').write_text('0')
        t = made.TraceDat(kallsyms=pathlib.Path('/proc/kallsyms').read_bytes(),
                          printk=(tracefs / 'printk_formats').read_bytes(),
                          cmdlines=(tracefs / 'saved_cmdlines').read_bytes(),
                          cpus=len(list((instance / 'per_cpu').iterdir())))
        t.header_page = (tracefs / 'events/header_page').read_bytes
        t.formats = {}
        for path in sorted((tracefs / 'events').glob('*/*/format')):
            t.formats.setdefault(path.parts[-3], []).append(path.read_bytes())
        for cpu in range(t.nr_cpus):
            raw = os.open(instance / ('per_cpu/cpu%d/trace_pipe_raw' % cpu),
                          os.O_RDONLY | os.O_NONBLOCK)
            while True:
                try:
                    page = os.read(raw, made.PAGE)
                except BlockingIOError:
                    break
                if not page:
                    break
                t.cpu(cpu).pages.append(page.ljust(made.PAGE, b'\0'))
            os.close(raw)
        return t
    except OSError as e:
        return 'this machine cannot be recorded: %s' % e
    finally:
        instance.rmdir()


def latency(top):
    """Text of a latency tracer: in a trace.dat as trace-cmd prints it, in a file as it is."""
    text = made.LATENCY + b'CPU:0 [LOST 5 EVENTS]\n    bash-12      1d.h2. 1235us : more\n'
    t = made.TraceDat(version=7)
    t.text = text
    (top / 'latency.dat').write_bytes(t.data())
    compare('text of a latency tracer', top / 'latency.dat', OPTIONS[:3])
    (top / 'latency.txt').write_bytes(text)
    same('such text in a file', ours(top / 'latency.txt'), text.decode().splitlines())
    same('the lines of a cpu', ours(top / 'latency.txt', '--cpu', '1'),
         [line for line in text.decode().splitlines()
          if line.startswith('#') or ' 1d' in line])


def written_by_trace_cmd(top, fresh):
    """Raw pages that trace-cmd puts into a file, and our file with sections that it compressed."""
    raw = [top / ('raw.cpu%d' % cpu) for cpu in range(fresh.nr_cpus)]
    for cpu, path in enumerate(raw):
        path.write_bytes(b''.join(fresh.cpu(cpu).pages))
    output([TRACE_CMD, 'restore', '-o', top / 'restored.dat', *raw])
    compare('pages that trace-cmd restored', top / 'restored.dat', OPTIONS[::3])
    output([TRACE_CMD, 'convert', '--compression', 'zstd', '-i', top / 'fresh.dat', '-o',
            top / 'packed.dat'])
    if (top / 'packed.dat').exists():
        compare('sections that trace-cmd compressed', top / 'packed.dat', OPTIONS[::3])
    else:
        skip('sections that trace-cmd compressed', 'this trace-cmd has no zstd', may=False)


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        (top / 'every.dat').write_bytes(made.every_kind().data())
        same('the stored text', ours(top / 'every.dat'), STORED.read_text().splitlines())
        for word, option in (('fields', '-F'), ('dump', '-D')):
            p = output([SONDE, 'script', '--format', 'trace-cmd', '-i', top / 'every.dat', option] +
                       (['comm'] if option == '-F' else []))
            say('works with text only' in p[1], word + ' is refused', p[1])
        p = output([SONDE, 'script', '--raw-fields', '-i', top / 'every.dat'])
        say(not p[0] and 'works with --format trace-cmd only' in p[1],
            '--raw-fields is refused with text', p[1])
        if not TRACE_CMD:
            skip('trace-cmd', 'trace-cmd is not installed', may=False)
            return done()
        for number, make in enumerate((durations, functions, tasks, futexes, virtual)):
            for seed in range(20 if FULL else 2):
                path = top / ('%s-%d.dat' % (make.__name__, seed))
                path.write_bytes(make(random.Random(seed)).data())
                compare(path.name, path)
        for form in (dict(), dict(big=True), dict(version=6), dict(long_bytes=4),
                     dict(compression='zstd'), dict(clock='boot')):
            path = top / 'form.dat'
            path.write_bytes(made.every_kind(**form).data())
            # trace-cmd does not find the format string of a recording of the other byte order
            compare('every kind ' + str(form), path, without=('bputs',) if form.get('big') else ())
        (top / 'host.dat').write_bytes(hosts().data())
        for seed in range(40 if FULL else 6):
            path = top / 'guest.dat'
            path.write_bytes(guests(random.Random(seed)).data())
            # Some times are the same, or go back.
            pair = output([TRACE_CMD, 'report', '-t', '-i', top / 'host.dat', '-i', path])[0]
            text = ours(top / 'host.dat', '-i', path, '--ns')
            same('a guest and its host, %d' % seed, sorted(text), sorted(pair))
        latency(top)
        for cpu in '0', '1':
            compare('one cpu', top / 'tasks-0.dat', [(('--cpu', cpu), ('--cpu', cpu))])
        for event, expr in (('sched_switch', 'prev_state & 1 && next_pid > 30'),
                            ('sched_wakeup', 'prio < 100 || comm == "woken 3"')):
            compare('a filter', top / 'tasks-0.dat', [
                (('--event', 'sched:' + event, '--where', expr),
                 ('-F', 'sched/%s: %s' % (event, expr)))])
        fresh = recorded()
        if isinstance(fresh, str):
            skip('a recording of this machine', fresh)
        else:
            (top / 'fresh.dat').write_bytes(fresh.data())
            compare('a recording of this machine', top / 'fresh.dat')
            written_by_trace_cmd(top, fresh)
        files = corpus_files('tracecmd-*')
        if REFERENCE:
            files += sorted(REFERENCE.glob('fixtures/*v[67]*.dat'))
        if not files:
            skip('recordings of other machines', NO_CORPUS)
        for path in files:
            if path.suffix == '.gz':
                (top / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
                path = top / path.stem
            compare(path.name, path)
    return done()


sys.exit(main())
