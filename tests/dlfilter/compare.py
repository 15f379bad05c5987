#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters in shared objects (--dlfilter): `tell.so` prints its input, the same with perf and sonde.

    tests/dlfilter/compare.py SONDE TELL_SO
"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

SONDE, TELL = (os.path.abspath(p) for p in sys.argv[1:3])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / 'tests' / 'data' / 'text'
sys.path.insert(0, str(ROOT / 'tests'))
from points import ENV, done, run, say, skip  # noqa: E402
SANITIZED = os.environ.get('SONDE_ASAN') == '1'


def check(ok, name, why=''):
    say(ok, name, '' if ok else '\n'.join(why.splitlines()[:40]))


def text_of(*command, cwd=DATA):
    status, out, err = run([str(c) for c in command], cwd)
    return status, out.decode('utf-8', 'replace'), err.decode('utf-8', 'replace')


def compatible(*options):
    return text_of(SONDE, '--compat', 'perf-6.1', 'script', *options)


def plain(*options):
    return text_of(SONDE, 'script', *options)


def comparable(text):
    """The text without code and build ids, which perf reads from files of this machine instead of
    those recorded.
    """
    text = re.sub(r'^  (srcline|insn|code) .*\n', '', text, flags=re.M)
    text = re.sub(r' build id [0-9a-f]*', '', text)
    return re.sub(r' sym \S+ \S+ binding \d', '', text)


def first_difference(want, got):
    want, got = want.splitlines(), got.splitlines()
    for i, line in enumerate(want):
        if i >= len(got) or got[i] != line:
            return 'line %d: perf: %s\nsonde: %s' % (i + 1, line,
                                                     got[i] if i < len(got) else 'nothing')
    return 'sonde has %d lines more' % (len(got) - len(want))


# ---- the same under perf ----
CASES = [('switch.data', []), ('syscalls.data', ['early=2', 'late=3']), ('clock.data', ['late=2']),
         ('mixed.data', ['early=4']),
         ('faults.data', ['at=0x7f0000000000']), ('chains.data', ['at=0xffffffff81000000']),
         ('switch.data', ['start=-3']), ('switch.data', ['fail=2'])]
for data, words in CASES:
    name = 'tell.so over %s %s' % (data, ' '.join(words))
    options = ['-i', data, '-F', 'comm,tid,time,event', '--dlfilter', TELL]
    for word in words:
        options += ['--dlarg', word]
    if not shutil.which('perf', path=ENV['PATH']):
        skip(name, 'no perf here', may=False)
        continue
    want, got = text_of('perf', 'script', '-f', *options), compatible('-f', *options)
    same = comparable(want[1]) == comparable(got[1]) and bool(want[0]) == bool(got[0])
    check(same, name, 'status %s, perf %s\n%s%s' %
          (got[0], want[0], first_difference(comparable(want[1]), comparable(got[1])),
          got[2]))

# ---- by itself ----
lines = lambda text: len([l for l in text.splitlines() if l.startswith(('early', 'late'))])
base = ['-i', 'switch.data', '-F', 'time,event', '--dlfilter', TELL]
code, out, err = plain(*base)
total = lines(out) // 2
check(code == 0 and total and 'dlfilter' not in err, 'a filter that keeps everything: no message',
      err)
code, out, err = plain(*base, '--dlarg', 'late=2')
check(code == 0 and 'dlfilter-dropped: %d' % (total // 2) in err,
      'the number of dropped samples is reported', err)
code, out, err = compatible(*base, '--dlarg', 'late=2')
check(code == 0 and not err, 'under --compat it is not reported', err)
order = [l.split()[0] for l in out.splitlines()
         if not l.startswith(('  size', '  weight', '  cpumode'))]
check(order[0] == 'start:' and order[-1].startswith('stop'), 'start is called first, stop last',
      str(order[:3] + order[-3:]))
events = [i for i, l in enumerate(out.splitlines()) if re.match(r' *\d+\.\d+: sched', l)]
asked = [i for i, l in enumerate(out.splitlines()) if l.startswith('late')]
check(len(events) == len(asked) - len(asked) // 2 and
      all(asked[2 * i] < e and (2 * i + 1 >= len(asked) or e < asked[2 * i + 1])
         for i, e in enumerate(events)),
      'the output of a filter is before its event and after the event before', out)
code, out, err = plain(*base, '--dlarg', 'start=-1')
check(code == 1 and 'failed to start' in err and 'stop' in out, 'a start that fails', err)
code, out, err = plain(*base, '--dlarg', 'fail=1')
check(code == 1 and 'stopped sonde at' in err, 'a filter that ends the run', err)
code, out, err = plain('-i', 'switch.data', '--dlfilter', './none.so')
check(code == 1 and './none.so' in err and not out, 'a filter that cannot be loaded', err)
check(compatible('-i', 'none.data', '--dlfilter', './none.so')[0] == 255,
      'its status under --compat')

code, out, err = plain(*base, '--time', '0,1')
check(lines(out) == total and '\nlate ' not in out, 'early filters see what --time refuses', out)
code, out, err = plain(*base, '--comms', 'nobody')
check(lines(out) == total and 'filtered 2' in out, 'and what --comms refuses, with the reason', out)

with tempfile.TemporaryDirectory() as folder:
    shutil.copy(TELL, folder + '/tell.so')
    shutil.copy(TELL, folder + '/twin.so')
    shutil.copy(DATA / 'switch.data', folder)
    script = pathlib.Path(folder) / 'count.py'
    script.write_text(
        'n = 0\ndef trace_unhandled(*args):\n    global n\n    n += 1\ndef trace_end():\n    '
        'print("events", n)\n')
    code, out, err = text_of(SONDE, 'script', '-i', 'switch.data', '--dlarg', 'late=2',
                             '--dlfilter', 'tell.so', '--dlarg', 'a=1', '--dlfilter', 'twin.so',
                             '--dlarg', 'b=1', cwd=folder)
    check('start: late=2 a=1\n' in out and 'start: b=1\n' in out,
          'each filter has its own arguments', out[:200] + err)
    check(lines(out) == 2 * total + total + (total - total // 2),
          'the second filter does not get the samples that the first drops', err)
    kept = pathlib.Path(folder) / 'tree' / 'dlfilters'
    kept.mkdir(parents=True)
    shutil.copy(TELL, kept / 'tell.so')
    tree = '--exec-path=' + str(kept.parent)
    code, out, err = text_of(SONDE, tree, 'script', '--list-dlfilters', cwd=folder)
    check(code == 0 and out.startswith('List of available dlfilters:\n') and
          '  tell.so                              prints all that it is given\n' in out,
          '--list-dlfilters', out + err)
    for compat in (), ('--compat', 'perf-6.1'):
        code, out, err = text_of(SONDE, *compat, tree, 'script', '--list-dlfilters', cwd=folder)
        for name in 'tell.so', 'twin.so':
            check('  %-36s ./%s: not loaded, so not described\n' % (name, name) in out,
                  '%s of the current folder is not loaded' % name, out)
        check(out.count('prints all that it is given') == 1,
              'the filter of the exec path is loaded', out)
    code, out, err = text_of(SONDE, tree, 'script', '--list-dlfilters', '--json', cwd=folder)
    filters = sorted(json.loads(out)['filters'], key=lambda f: (f['file'], f['name']))
    check([(f['name'], f['file'], f['loaded'], f.get('description')) for f in filters] ==
          sorted([('tell.so', './tell.so', False, None), ('twin.so', './twin.so', False, None),
                  ('tell.so', str(kept / 'tell.so'), True, 'prints all that it is given')],
                 key=lambda f: f[1::-1]) and
          'details' not in filters[0] and
          filters[-1]['details'].endswith('\nArguments: early=N late=N'), '--list-dlfilters --json',
          out + err)
    code, out, err = text_of(SONDE, '--exec-path=.', 'script', '--list-dlfilters', cwd=str(kept))
    check('tells all' not in out,
          'a filter of an exec path that is the current folder is not loaded', out)
    code, out, err = text_of(SONDE, '--exec-path=..', 'script', '--list-dlfilters', cwd=str(kept))
    check('tells all' not in out and out.count('tell.so: not loaded') == 1,
          'a filter of an exec path that leads to the current folder is not loaded', out)
    code, out, err = text_of(SONDE, tree, 'script', '-v', '--list-dlfilters', cwd=folder)
    check(' ' * 39 + 'Arguments: early=N late=N\n' in out, '-v --list-dlfilters', out)
    code, out, err = text_of(SONDE, 'script', '-i', 'switch.data', '--dlfilter', 'tell.so',
                             '--dlarg', 'early=2', '-s', 'count.py', cwd=folder)
    if 'no Python' in err or 'cannot find' in err:
        skip('scripts', err.strip(), may=False)
    elif SANITIZED:
        skip('scripts', 'the interpreter has no sanitizers', may=False)
    else:
        check(code == 0 and 'events %d' % (total - total // 2) in out,
              'scripts get the samples that the filter keeps', out[-300:] + err)
        check('dlfilter-dropped: %d' % (total // 2) in err,
              'a line reports the number of dropped samples', err)

sys.exit(done())
