#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""heatmap.py SONDE: counts in the files of `sonde heatmap` are those of the events that `sonde
script` prints."""
import collections
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
from page import Page  # noqa: E402
from points import done, run, say  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DEMO = str(DATA / 'demo.data')
SVG = '{http://www.w3.org/2000/svg}'
COLUMNS = 1024


def events(path):
    """[(time in ns, event, tid, cpu, text)]"""
    out = run([SONDE, 'script', '--ns', '-i', path, '-F',
               'tid,cpu,time,event,trace'])[1].decode('utf-8', 'replace')
    lines = (re.match(r'\s*(-?\d+) \[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+?): (.*)', line)
             for line in out.splitlines())
    return [(int(m[3] + m[4]), m[5], int(m[1]), int(m[2]), m[6]) for m in lines if m]


def row_of(ns):
    """The largest bound that is not above it; bounds are quarters of powers of two."""
    octave = max(ns.bit_length() - 1, 0)
    return octave * 4 + (int(ns * 4 / 2 ** octave) - 4 if ns else 0)


def bound(row):
    return (4 + row % 4) * 2.0 ** (row // 4 - 2)


def cells_of(data):
    c = data['cells']
    return {(c[i], round(data['rows'][c[i + 1]], 2)): c[i + 2] for i in range(0, len(c), 3)}


def columns(times, width):
    origin = times[0] - times[0] % width
    while (max(times) - origin) // width >= COLUMNS:
        width *= 2
    return [max(t - origin, 0) // width for t in times]


def heatmap(*words):
    return run([SONDE, 'heatmap', '-o', '-', *words])


def check(name, words, found):
    """found: (column, least value of the row) of each event."""
    status, out, err = heatmap(*words)
    data = Page(out.decode('utf-8')).data if status == 0 else {'cells': []}
    expected = collections.Counter(found)
    got = cells_of(data) if status == 0 else {}
    say(status == 0 and found and got == expected, name, '%d of %d, %d cells of %d\n%r' % (
        sum(got.values()), len(found), len(got), len(expected), err))


def offsets():
    for path, event in ((DEMO, 'sched:sched_switch'),
                        (str(DATA / 'text' / 'switch.data'), 'sched:sched_switch'),
                        (str(DATA / 'text' / 'syscalls.data'), 'raw_syscalls:sys_enter')):
        times = [e[0] for e in events(path) if e[1] == event]
        found = [(c, t % 10 ** 9 // 10 ** 7 * 10. ** 7)
                 for c, t in zip(columns(times, 10 ** 9), times)]
        check('offsets of %s in %s' % (event, pathlib.Path(path).name), ['-i', path, event], found)


def pairs(found, start, stop, keys):
    """(time of the stop, latency); keys: what START and STOP are matched by, of an event."""
    opened, ended = {}, []
    for e in found:
        if e[1] == stop:
            began = opened.pop(keys[1](e), None)
            if began is not None:
                ended.append((e[0], e[0] - began))
        if e[1] == start:
            opened[keys[0](e)] = e[0]
    return ended


def latencies():
    def field(name):
        return lambda e: re.search(r'\b%s=(\S+)' % name, e[4])[1]

    def thread(e):
        return e[2]

    found = events(DEMO)
    calls = events(str(DATA / 'text' / 'syscalls.data'))
    wake = ('sched:sched_wakeup', 'sched:sched_switch')
    for name, path, ended, words in (
            ('waking to running, by the fields that sonde knows', DEMO,
             pairs(found, *wake, (lambda e: re.search(r'\bpid=(\d+)|:(\d+) \[', e[4])[1] or
                                  re.search(r':(\d+) \[', e[4])[1],
                                  lambda e: re.search(r'next_pid=(\d+)', e[4])[1])),
             ['--latency', 'sched_wakeup,sched_switch']),
            ('the same, with --key', DEMO,
             pairs(found, *wake, (lambda e: re.search(r'\bpid=(\d+)|:(\d+) \[', e[4])[1] or
                                  re.search(r':(\d+) \[', e[4])[1],
                                  field('next_pid'))),
             ['--latency', ','.join(wake), '--key', 'pid=next_pid']),
            ('system calls, by thread', str(DATA / 'text' / 'syscalls.data'),
             pairs(calls, 'raw_syscalls:sys_enter', 'raw_syscalls:sys_exit', (thread, thread)),
             ['--latency', 'sys_enter,sys_exit']),
            ('from one switch of a cpu to the next', DEMO,
             pairs(found, wake[1], wake[1], (lambda e: e[3],) * 2),
             ['--latency', 'sched_switch,sched_switch', '--key', 'cpu'])):
        values = [(c, round(bound(row_of(ns)), 2)) for c, (_, ns) in
                  zip(columns([t for t, _ in ended], 10 ** 6) if ended else [], ended)]
        check('latency: ' + name, ['-i', path, *words], values)


def picture(folder):
    path = folder / 'x.svg'
    status, out, err = run([SONDE, 'heatmap', '-i', DEMO, '--title', '</svg>&"', '-o', str(path),
                            'sched_switch'])
    root = ET.parse(path).getroot()
    cells = [g.find(SVG + 'title').text for g in root.iter(SVG + 'g')]
    count = sum(int(t.split()[0]) for t in cells)
    say(status == 0 and count == len([e for e in events(DEMO) if e[1] == 'sched:sched_switch']) and
        root.find(SVG + 'title').text == '</svg>&"', 'a picture',
        '%d in %d cells' % (count, len(cells)))


def mistakes():
    for name, words, status, message in (
            ('no event', [], 2, b'name one event'),
            ('two events', ['a', 'b'], 2, b'name one event'),
            ('half a pair', ['--latency', 'sched_switch'], 2, b'two events, START,STOP'),
            ('an event with --latency', ['--latency', 'a,b', 'c'], 2, b"what is 'c'?"),
            ('--key without --latency', ['--key', 'pid', 'sched_switch'], 2,
             b'--key is for --latency'),
            ('an event that the recording does not have', ['nosuch:event'], 2,
             b"no event 'nosuch:event'"),
            ('a pair that the recording does not have', ['--latency', 'nosuch,sched_switch'], 2,
             b"no event 'nosuch'"),
            ('no pair', ['--latency', 'sched_switch,sched_wakeup', '--key', 'prev_pid=prio'], 1,
             b'nothing is written')):
        got, out, err = heatmap('-i', DEMO, *words)
        say(got == status and message in err and not out, name, '%d %r' % (got, err))
    got, out, err = heatmap('-i', DEMO, '--latency', 'sched_wakeup,sched_switch', '--key',
                            'pif=next_pid')
    say(got == 2 and b'no field pif; did you mean pid?' in err, 'a key that is no field',
        '%d %r' % (got, err))


def main():
    with tempfile.TemporaryDirectory() as name:
        offsets()
        latencies()
        picture(pathlib.Path(name))
        mistakes()
    return done()


sys.exit(main())
