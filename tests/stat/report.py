#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde stat report of recordings of another machine, written as text (tests/data/stat/counts.fix):
the places of its cpus, newer recorders, threads, intervals, in both byte orders, compared with
perf.

    tests/stat/report.py SONDE
"""
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'unit/perfdata')]
import fixtures  # noqa: E402
import points  # noqa: E402
from points import done, run, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
PERF = shutil.which('perf')
CASES = {case.name: case for case in fixtures.parse(HERE.parent / 'data/stat/counts.fix')}
COMPAT = ['--compat', 'perf-6.1']
PLACES = ['-A', '--per-core', '--per-die', '--per-socket', '--per-node']
folder = tempfile.TemporaryDirectory()


def say(ok, name, why):
    points.say(ok, name, '' if ok else why)


def made(name, order):
    path = pathlib.Path(folder.name) / ('%s-%s' % (name, order))
    path.write_bytes(CASES[name].build(order)[0])
    return str(path)


def report(words, path, options):
    status, out, err = run([*words, 'stat', 'report', *options, '-i', path])
    return status, (out + err).decode()


def compare(name, options, with_perf=True):
    """The text of the little-endian file; by default, and under --compat as perf's."""
    what = '%s %s' % (name, ' '.join(options))
    text = None
    for compat in [], COMPAT:
        got = [report([SONDE, *compat], made(name, order), options) for order in ('little', 'big')]
        say(got[0] == got[1] and not got[0][0], '%s %s: both byte orders' % (what, compat),
            '%s\n%s' % tuple(got))
        text = text or got[0][1]
    if not with_perf:
        return text
    if not PERF:
        skip(what + ', as perf', 'no perf here', may=False)
        return text
    want = report([PERF], made(name, 'little'), options)
    say(got[0] == want, what + ', as perf', '%s\n%s' % (got[0][1], want[1]))
    return text


def rows(text):
    """[place, value, event] of the rows"""
    return [[re.sub(r' +\d+$', '', place.strip()), value, event]
            for place, value, event in re.findall(
                r'^(.*?) +(<not counted>|<not supported>|[\d.]+)(?: msec| ns)? +([a-z][\w-]*)',
                text, re.M)]


def main():
    for option in [''] + PLACES:
        # perf 6.1 does not name cpus that this machine does not have
        text = compare('places', option.split(), option != '-A')
        say('duration_time' in text and '<not supported>' in text, 'events ' + option, text)
    cores = [r[:2] for r in rows(compare('places', [])) if r[2] == 'cs']
    say(cores == [['S0-D0-C0', '19'], ['S1-D2-C5', '3'], ['S1-D2-C6', '1000000']],
        'cores of the recorded machine', str(cores))
    for option in '-A', '--per-core':  # perf adds a row of no core
        found = [r[:2] for r in rows(compare('one cpu', [option], False))
                 if r[2] == 'duration_time']
        say(len(found) == 1, 'an event of one cpu, ' + option, str(found))
    nodes = [r[:2] for r in rows(compare('places', ['--per-node'], False)) if r[2] == 'cs']
    say(nodes == [['N0', '22'], ['N1', '1000000']], 'its nodes', str(nodes))
    text = compare('newer', [], False)
    say(text.count('S0-D0-C0') == 1 and 'S1-D2-C6' in text, 'the numbers of perf 6.9', text)
    text = compare('threads', [])
    say(text.index(' b-101') < text.index('sixteen-of-them--100') < text.index(' c-102'),
        'threads: the busiest is first, then as recorded', text)
    status, out, err = run([SONDE, 'stat', 'report', '-A', '-i', made('threads', 'big')])
    say(status == 0 and b'not by cpu' in err and b'b-101' in err, 'threads have no cpus',
        err.decode())
    return done()


sys.exit(main())
