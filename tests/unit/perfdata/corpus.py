#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of the corpus, complete, cut and damaged.

    corpus.py DETAILS

Complete ones must have the numbers of records that EXPECT.json holds, which an independent program
counted. The reader must return from cut and damaged ones.
"""
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from recordings import CORPUS, NO_CORPUS, corpus_files  # noqa: E402

# Names of records in EXPECT.json: the reader's names.
RECORDS = {'MMAP': 'mmap', 'MMAP2': 'mmap2', 'COMM': 'comm', 'FORK': 'fork', 'EXIT': 'exit',
           'LOST': 'lost', 'AUX': 'aux', 'ITRACE': 'itrace_start', 'SWITCHCPU': 'switch_cpu_wide',
           'SWITCH': 'switch', 'KSYM': 'ksymbol', 'BPF': 'bpf_event', 'CGROUP': 'cgroup',
           'THROTTLE': 'throttle', 'UNTHROTTLE': 'unthrottle'}
# {recording: why it is not compared}
NOT_COMPARED = {
    'perf-file-simpleperf-dwarf-callchain-read-group-2-attrs-k5.10__platformsystem.data':
        'group reads: members give events, too',
}
DAMAGED = 12      # number of recordings to damage, the smallest ones
COPIES = 40       # cut copies, and as many copies with changed bytes, of each

count = failures = 0


def say(ok, name, why=''):
    global count, failures
    count += 1
    failures += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', count, name))
    for line in why.splitlines()[:20]:
        print('# ' + line)
    sys.stdout.flush()


def run(program, path, *keys):
    env = dict(os.environ, LC_ALL='C', HOME='/nonexistent')
    try:
        p = subprocess.run([program, str(path), '--counts', 'force=1', 'kallsyms=/dev/null', *keys],
                           env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
    except subprocess.TimeoutExpired:
        return None, 'ran longer than 600 s'
    text = p.stdout.decode('utf-8', 'replace')
    if p.returncode:
        return None, 'exit status %d\n%s%s' % (p.returncode, text,
                                               p.stderr.decode('utf-8', 'replace'))
    return text, ''


def compare(name, expect, text):
    """The differences, '' if there are none."""
    if name.startswith('perf-fuzz'):
        return ''
    if name in NOT_COMPARED:
        return ''
    samples, records, known = collections.Counter(), collections.Counter(), True
    for m in re.finditer(r'^count (\d+)( derived)? (event|record) (.*) (\d+)$', text, re.M):
        if m[3] == 'event' and not m[2]:
            samples[m[1]] += int(m[5])
        elif m[3] == 'record':
            records[m[4]] += int(m[5])
    wanted = {k: v for k, v in expect.get('raw_samples_by_attr', {}).items() if v}
    why = []
    if dict(samples) != wanted:
        why.append('samples by event: %s, expected %s' % (dict(samples), wanted))
    for theirs, ours in RECORDS.items():
        if expect.get('raw_records', {}).get(theirs, 0) != records[ours]:
            why.append('%s: %d, expected %d' % (ours, records[ours],
                                                expect['raw_records'].get(theirs, 0)))
    return '\n'.join(why + [text]) if why else ''


def main():
    program = os.path.abspath(sys.argv[1])
    files = corpus_files('perf-*.data')
    if not files:
        print('1..0 # SKIP ' + NO_CORPUS)
        return 0
    expect = json.loads((CORPUS / 'EXPECT.json').read_text())
    for path in files:
        text, why = run(program, path)
        if text is not None:
            why = compare(path.name, expect.get(path.name, {}), text)
        say(not why, 'complete/' + path.name, why)
        small, why2 = run(program, path, 'window=4096')
        say(small == text, 'small-windows/' + path.name, why2)
    rng = random.Random(1)
    intact = sorted((p for p in files if p.name.startswith('perf-file')),
                    key=lambda p: p.stat().st_size)[:DAMAGED]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / 'copy.data'
        for path in intact:
            data = path.read_bytes()
            bad = []
            for i in range(2 * COPIES):
                if i % 2:
                    at = rng.randrange(len(data)) if i > 20 else i * 11
                    copy.write_bytes(data[:at])
                    what = 'cut to %d bytes' % at
                else:
                    damaged, places = bytearray(data), []
                    for _ in range(rng.choice((1, 2, 5, 50))):
                        at = (rng.randrange(len(data)) if rng.random() < 0.6
                              else rng.randrange(min(len(data), 1024)))
                        damaged[at] = rng.choice((0, 0xff, 0x7f, 0x80, rng.randrange(256)))
                        places.append('%d=%d' % (at, damaged[at]))
                    copy.write_bytes(damaged)
                    what = 'with bytes ' + ' '.join(places)
                text, why = run(program, copy, *(['window=4096'] if i % 4 < 2 else []))
                if text is None:
                    bad.append('%s: %s' % (what, why))
            say(not bad, 'damaged/' + path.name, '\n'.join(bad))
    print('1..%d' % count)
    return failures != 0


if __name__ == '__main__':
    sys.exit(main())
