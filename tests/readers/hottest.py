#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program hottest.c prints the functions that the samples are in.

    tests/readers/hottest.py SONDE HOTTEST

Shares of each task and event are those of the lines of `sonde script`.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import settled  # noqa: E402, F401

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
ENV = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C',
       'LD_LIBRARY_PATH': os.environ.get('LD_LIBRARY_PATH', '')}
ENV.update({k: os.environ[k] for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ})
ROW = re.compile(r' *([0-9.]+)%  (.{16})  .{20,}  ')


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=ENV).stdout


def expected(sonde, data):
    """{event: {comm: samples}}"""
    counts = collections.defaultdict(collections.Counter)
    for line in run(sonde, 'script', '-i', data, '-F', 'comm,event').splitlines():
        comm, event = line.split(None, 1)
        counts[event.strip().rstrip(':')][comm] += 1
    return counts


def printed(hottest, data):
    """{event: [(percent, comm)]}"""
    rows = {}
    for line in run(hottest, data).splitlines():
        row = ROW.match(line)
        if row:
            rows[event].append((float(row[1]), row[2].strip()))
        else:
            event = line
            rows[event] = []
    return rows


def main():
    sonde, hottest = sys.argv[1:]
    data = DATA / 'demo.data'
    want, got = expected(sonde, data), printed(hottest, data)
    wrong = ['events: %s' % sorted(set(want) ^ set(got))] if set(want) != set(got) else []
    for event, rows in got.items():
        total = sum(want[event].values())
        for comm, samples in want[event].items():
            share = sum(percent for percent, name in rows if name == comm)
            if len(rows) < 10 and abs(share - 100 * samples / total) > 0.005 * len(rows) + 0.001:
                wrong.append('%s of %s: %.2f%%, not %d of %d' %
                             (comm, event, share, samples, total))
        if [r[0] for r in rows] != sorted((r[0] for r in rows), reverse=True):
            wrong.append('%s: the hottest is not first' % event)
    print('%sok 1 - shares of demo.data' % ('not ' if wrong else ''))
    for line in wrong:
        print('# ' + line)
    print('1..1')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
