#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Aggregations are what the lines of `sonde script` add up to.

    equal.py AGGREGATE-PRINT SONDE

The expected rows are computed here from JSON lines and from text, for recordings of tests/data.
"""
import collections
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / 'tests'))
import settled  # noqa: E402,F401
from recordings import NO_CORPUS, corpus_files  # noqa: E402

PRINT, SONDE = sys.argv[1:3]
DEMO = ROOT / 'tests' / 'data' / 'demo.data'
PIPELINE = ROOT / 'tests' / 'data' / 'pipeline.data'
PAIR = 'pair(syscalls:sys_enter_read,raw_syscalls:sys_exit)'
count = failures = 0


def check(name, got, want):
    global count, failures
    count += 1
    ok = got == want
    failures += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', count, name))
    if not ok:
        print('# got  %.600r\n# want %.600r' % (got, want))
    sys.stdout.flush()


def run(*command):
    p = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    return p.stdout.decode('utf-8', 'surrogateescape')


def aggregate(path, **keys):
    """The object of an aggregation; without the braces of a keyword, `session` is a line of it."""
    text = run(PRINT, str(path), 'format=json', *('%s=%s' % key for key in keys.items()))
    return json.loads(text) if text else None


def events(path, *options):
    """The events of JSON lines: (name, line)."""
    lines = (json.loads(line) for line in
             run(SONDE, 'script', '-i', str(path), '--format', 'jsonl', *options).splitlines())
    return [e for e in lines if 'event' in e and 'fields' in e]


def order(rows):
    """[(keys, number)] as rows are sorted."""
    return sorted(rows.items(), key=lambda r: (-r[1], r[0]))


def rows(got, member):
    return [(tuple(r['keys'].values()), r[member]) for r in got['rows']]


def sums(path, by, value, names, where=lambda e: True, options=()):
    wanted = collections.Counter()
    for e in events(path, *options):
        if e['event'] in names and where(e):
            wanted[by(e)] += value(e)
    return order(wanted)


def powers(values):
    """[(from, below, count)] of buckets of powers of two, without empty ends."""
    counts = collections.Counter(-1 if v < 0 else v.bit_length() for v in values)
    ends = {-1: (None, 0), 0: (0, 1)}
    return [ends.get(b, (1 << b >> 1, 1 << b)) + (counts[b],)
            for b in range(min(counts), max(counts) + 1)] if counts else []


def steps(values, low, high, step):
    nr = -(-(high - low) // step)
    counts = collections.Counter(
        -1 if v < low else nr if v >= high else (v - low) // step for v in values)
    ends = {-1: (None, low), nr: (high, None)}
    return [ends.get(b, (low + b * step, min(low + b * step + step, high))) + (counts[b],)
            for b in range(min(counts), max(counts) + 1)]


def buckets(row):
    return [(b['from'], b['below'], b['count']) for b in row['buckets']]


def percentile(values, percent):
    return sorted(values)[max(-(-len(values) * percent // 100), 1) - 1]


def counts():
    for by, key in (('comm', lambda e: (e['comm'],)), ('pid,cpu', lambda e: (e['pid'], e['cpu'])),
                    ('name,tid', lambda e: (e['event'], e['tid']))):
        for path in DEMO, PIPELINE:
            names = {e['event'] for e in events(path)}
            check('count by %s of %s' % (by, path.name),
                  rows(aggregate(path, events='*', by=by), 'count'),
                  sums(path, key, lambda e: 1, names))
    lines = run(SONDE, 'script', '-i', str(PIPELINE), '-F', 'comm,event').splitlines()
    want = collections.Counter((line.split()[0],) for line in lines if 'sched_switch' in line)
    check('count by comm is what text has',
          rows(aggregate(PIPELINE, events='sched_switch', by='comm'), 'count'), order(want))
    check('without keys there is one row',
          rows(aggregate(DEMO, events='sched:*,syscalls:*'), 'count'), [((), len(events(DEMO)))])
    got = aggregate(DEMO, events='sched:*', by='f_comm,next_comm')
    check('patterns leave out events without a field', got, None)
    got = aggregate(DEMO, events='*', by='index', session='input=%s' % DEMO)
    check('two inputs have two numbers', rows(got, 'count'),
          [((0,), len(events(DEMO))), ((1,), len(events(DEMO)))])
    check('a field is a key', rows(aggregate(DEMO, events='sched:*', by='f_comm'), 'count'),
          sums(DEMO, lambda e: (e['fields']['comm'],), lambda e: 1, {'sched:sched_wakeup'}))


def fields():
    read, name = {'syscalls:sys_enter_read'}, 'syscalls:sys_enter_read'
    values = [(e['comm'], e['fields']['count']) for e in events(DEMO) if e['event'] == name]
    check('sum by comm', rows(aggregate(DEMO, kind='sum', events=name, field='count', by='comm'),
                              'sum'),
          sums(DEMO, lambda e: (e['comm'],), lambda e: e['fields']['count'], read))
    check('where', rows(aggregate(DEMO, kind='sum', events='syscalls:*', field='count',
                                  by='comm', where='count > 100 && fd != 3'), 'sum'),
          sums(DEMO, lambda e: (e['comm'],), lambda e: e['fields']['count'],
               {name, 'syscalls:sys_enter_write'},
               lambda e: e['fields']['count'] > 100 and e['fields']['fd'] != 3))
    check('a value of samples', rows(aggregate(DEMO, kind='sum', events=name, field='period'),
                                     'sum'), [((), len(values))])
    for kind, more, want in (('hist', {}, powers),
                             ('lhist', {'low': 100, 'high': 5000, 'step': 300},
                              lambda v: steps(v, 100, 5000, 300))):
        got = aggregate(DEMO, kind=kind, events=name, field='count', by='comm', **more)
        check('%s by comm' % kind, {r['keys']['comm']: buckets(r) for r in got['rows']},
              {comm: want([v for c, v in values if c == comm]) for comm in {c for c, _ in values}})


def statistics():
    by_comm = collections.defaultdict(list)
    for e in events(PIPELINE, '--pair', PAIR[5:-1]):
        if e['event'] == PAIR:
            by_comm[e['comm']].append(e['fields']['ns'])
    check('there are pairs', len(by_comm) > 1, True)
    got = aggregate(PIPELINE, kind='stats', events=PAIR, field='ns', by='comm',
                    session='pair=' + PAIR[5:-1])
    check('stats of pairs', {r['keys']['comm']: (r['count'], r['sum'], r['min'], r['max'],
                                                 r['mean']) for r in got['rows']},
          {comm: (len(v), sum(v), min(v), max(v), (sum(v) + len(v) // 2) // len(v))
           for comm, v in by_comm.items()})
    worst = [(r['keys']['comm'], p, r['p%d' % p], percentile(by_comm[r['keys']['comm']], p))
             for r in got['rows'] for p in (50, 90, 99)]
    check('percentiles are in error by 1/128 at most',
          [w for w in worst if abs(w[2] - w[3]) * 128 > w[3]], [])
    got = aggregate(PIPELINE, kind='hist', events=PAIR, field='ns', session='pair=' + PAIR[5:-1])
    check('hist of pairs', buckets(got['rows'][0]), powers(sum(by_comm.values(), [])))


def stacks():
    """Call chains of the corpus: kernel frames and others, as `sonde script` prints them."""
    paths = [p for p in corpus_files('perf-*.data') if not p.name.startswith('perf-fuzz')]
    seen = 0
    for path in paths:
        got = {by: aggregate(path, events='*', by=by) for by in ('stack', 'kstack', 'ustack')}
        if not got['stack'] or path.stat().st_size > 4 << 20:
            continue
        seen += 1
        want = collections.Counter()
        chains = run(PRINT, str(path), 'events=*', 'by=stack', 'format=text', 'top=1000000')
        check('%s: text has all chains' % path.name,
              chains.count('\n    ') > 0, any(r['keys']['stack'] for r in got['stack']['rows']))
        for row in got['stack']['rows']:
            want[row['count']] += 1
        check('%s: chains are distinct' % path.name,
              len({tuple(r['keys']['stack'] or ()) for r in got['stack']['rows']}),
              len(got['stack']['rows']))
        check('%s: all events are in a chain, a part in the kernel, and one in user space'
              % path.name, [sum(r['count'] for r in g['rows']) for g in got.values()],
              [got['stack']['count']] * 3)
    if not paths:
        print('# ' + NO_CORPUS)
    elif not seen:
        check('a recording of the corpus has call chains', seen, 1)


def pipes():
    """A pipe describes its events later: the same rows, and errors at the first event."""
    for path in corpus_files('perf-pipe-*.data'):
        name = [next(iter(r['keys'].values())) for r in
                aggregate(path, events='*', by='name')['rows']]
        if not name:
            continue
        for more in (), ('where=pid > 0',):
            got = [subprocess.run([PRINT, file, 'format=json', 'events=' + name[0], 'by=comm,tid',
                                   *more], input=path.read_bytes(), capture_output=True,
                                  timeout=120).stdout for file in (str(path), '-')]
            check('%s: a pipe has the same rows %s' % (path.name, more), got[1], got[0])
        for events, wanted in ((name[0], 1), ('*', 0)):
            p = subprocess.run([PRINT, '-', 'format=json', 'events=' + events, 'by=nothing'],
                               input=path.read_bytes(), capture_output=True, timeout=120)
            check('%s: only events that are named must have the field (%s)' % (path.name, events),
                  (p.returncode, b"has no field 'nothing'" in p.stderr), (wanted, wanted == 1))


def batches():
    whole = aggregate(PIPELINE, events='*', by='name,comm')
    small = json.loads(subprocess.run(
        [PRINT, str(PIPELINE), 'format=json', 'events=*', 'by=name,comm', 'session=window=4096'],
        capture_output=True, timeout=120, env={'SONDE_BATCH': '1'}).stdout)
    check('batches of one event give the same', small, whole)


counts()
fields()
statistics()
stacks()
pipes()
batches()
print('1..%d' % count)
sys.exit(failures > 0)
