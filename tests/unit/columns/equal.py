#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Columns have the values of the events, for all event types of all recordings.

    equal.py EQUAL

Recordings of tests/data and of the corpus, with small and with usual windows, with and without a
thread that reads ahead.
"""
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from recordings import CORPUS, NO_CORPUS, stored_and_corpus  # noqa: E402

count = failures = tables = 0
NO_RECORDING = 77


def say(ok, name, why=''):
    global count, failures
    count += 1
    failures += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', count, name))
    for line in why.splitlines()[:20]:
        print('# ' + line)
    sys.stdout.flush()


def compare(path, threads, *keys):
    global tables
    name = ' '.join([path.name, 'threads=' + threads, *keys])
    p = subprocess.run([sys.argv[1], str(path), 'threads=' + threads, *keys],
                       capture_output=True, stdin=subprocess.DEVNULL, timeout=600,
                       env=dict(os.environ, HOME='/nonexistent'))
    text = p.stdout.decode('utf-8', 'replace')
    if p.returncode == NO_RECORDING:
        return
    if not p.returncode:
        tables = max(tables, int(text.split()[0]))
    say(not p.returncode, name, text + p.stderr.decode('utf-8', 'replace'))


for path in stored_and_corpus():
    compare(path, '1', 'window=4096')
    compare(path, '2')
if CORPUS:
    say(tables >= 10, 'a recording has many event types', '%d at most' % tables)
else:
    print('# ' + NO_CORPUS)
print('1..%d' % count)
sys.exit(failures > 0)
