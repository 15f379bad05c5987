# SPDX-License-Identifier: MIT
"""The records of a pipe's header (attrs, names, features, formats, build ids) in any order."""
import random
import struct
import subprocess

from tap import PERF_ENV, SCRIPT_ENV, SONDE, case, few_symbols, need, perf, run, same

ATTR, TRACING_DATA, BUILD_ID, UPDATE, FEATURE = 64, 66, 67, 78, 80
HEADER = (ATTR, TRACING_DATA, BUILD_ID, UPDATE, FEATURE)
WORK = ['sh', '-c', 'i=0; while [ $i -lt 40 ]; do i=$((i+1)); read x < /dev/null; done; /bin/true']
EVENTS = ['-e', 'syscalls:sys_enter_openat', '-e', 'sched:sched_process_exec,cpu-clock', '-e',
          'sched:sched_switch']
SHUFFLES = 12


def records(data):
    """(kind, bytes) of each record after the file's header; TRACING_DATA includes the data that
    follows it.
    """
    at, out = 16, []
    while at < len(data):
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        need(size >= 8 and at + size <= len(data), 'record at %#x' % at)
        if kind == TRACING_DATA:
            size += struct.unpack_from('<I', data, at + 8)[0]
        out.append((kind, data[at:at + size]))
        at += size
    return out


def stream(tool):
    # Call chains, so that addresses are recorded.
    p = subprocess.run([*tool, '-q', '-g', '-o', '-', *EVENTS, '--', *WORK], env=PERF_ENV,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       timeout=600)
    same(p.returncode, 0, 'status of the recorder')
    all = records(p.stdout)
    return p.stdout[:16], [r for r in all if r[0] in HEADER], [r for r in all if r[0] not in HEADER]


def text(tool, data):
    p = subprocess.run([*tool, 'script', '-i', '-'], env=PERF_ENV, input=data,
                       capture_output=True, timeout=600)
    # The addresses without a symbol differ from run to run.
    said = [line for line in p.stderr.decode(errors='replace').splitlines(True)
            if 'unknown-symbols: ' not in line]
    return p.returncode, p.stdout.decode(errors='replace').splitlines(), ''.join(said)


def join(magic, *lists):
    return magic + b''.join(b for one in lists for kind, b in one)


def feature_of(record):
    return struct.unpack_from('<Q', record[1], 8)[0] if record[0] == FEATURE else -1


def any_order(tool):
    magic, header, rest = stream(tool)
    kinds = {kind for kind, b in header}
    need({ATTR, TRACING_DATA, FEATURE} <= kinds, 'kinds of records: %r' % sorted(kinds))
    status, lines, said = text([SONDE], join(magic, header, rest))
    same((status, said), (0, ''), 'in its own order')
    need(any('sched_process_exec: filename=' in line for line in lines) and len(lines) > 80,
         lines[:5])
    dice = random.Random(4)
    orders = [list(reversed(header))] + [dice.sample(header, len(header)) for i in range(SHUFFLES)]
    for order in orders:
        status, again, said = text([SONDE], join(magic, order, rest))
        same((status, said), (0, ''), 'order %r' % [kind for kind, b in order])
        same(again, lines, 'order %r' % [kind for kind, b in order])
    return magic, header, rest, lines


@case('a header by sonde in any order')
def _():
    any_order([SONDE, 'record'])


@case('a header by perf in any order')
def _():
    any_order([perf(), 'record'])


@case('orders that perf accepts: both tools read the same')
def _():
    for tool in ([SONDE, 'record'], [perf(), 'record']):
        magic, header, rest = stream(tool)
        attrs = [r for r in header if r[0] == ATTR]
        names = [r for r in header if r[0] == UPDATE]
        formats = [r for r in header if r[0] == TRACING_DATA]
        ids = [r for r in header if r[0] == BUILD_ID]
        features = [r for r in header if r[0] == FEATURE and feature_of(r) < 32]
        last = [r for r in header if feature_of(r) >= 32]
        # perf makes its list of events from attrs, and needs it before all records except features
        # of the machine.
        for order in ((attrs, features, last, names, formats, ids),
                      (attrs, formats, names, ids, features, last),
                      (attrs, ids, names, list(reversed(features)), last, formats)):
            data = join(magic, *order, rest)
            theirs, ours = text([perf()], data), text([SONDE, '--compat', 'perf-6.1'], data)
            kinds = [kind for one in order for kind, b in one]
            same((theirs[0], ours[0]), (0, 0), '%r: %s %s' % (kinds, theirs[2], ours[2]))
            same(ours[1], theirs[1], 'order %r' % kinds)


@case('a script sees the same events of perf record -o -, whatever the order')
def _():
    with open('count.py', 'w') as f:
        f.write('seen = {}\n'
                'def trace_unhandled(name, *args):\n'
                '    seen[name] = seen.get(name, 0) + 1\n'
                'def sched__sched_process_exec(name, context, cpu, s, ns, pid, comm, chain, '
                'filename, *rest):\n'
                '    seen[filename] = seen.get(filename, 0) + 1\n'
                'def trace_end():\n'
                '    for key in sorted(seen): print(key, seen[key])\n')
    magic, header, rest = stream([perf(), 'record'])
    def out(order):
        p = subprocess.run([SONDE, 'script', '-i', '-', '-s', 'count.py'], env=SCRIPT_ENV,
                           input=join(magic, order, rest), capture_output=True, timeout=600)
        same(p.returncode, 0, p.stderr.decode())
        return p.stdout.decode()
    first = out(header)
    need('/bin/true 1' in first and 'syscalls__sys_enter_openat' in first, first)
    for i in range(3):
        same(out(random.Random(i).sample(header, len(header))), first, 'shuffle %d' % i)


few_symbols()
run()
