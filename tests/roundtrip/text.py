#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares text under --compat perf-6.1 with stock perf's, byte for byte.

    tests/roundtrip/text.py SONDE [stored|live|corpus] [--update]

stored: recordings and perf's text in tests/data/text; needs no perf. corpus: recordings of the
corpus, each with every third set of options. live: new recordings, each with every sixth set.
SONDE_FULL=1: with every set.
"""
import os
import pathlib
import shlex
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STORED = ROOT / 'tests' / 'data' / 'text'
sys.path.insert(0, str(HERE.parent))
import kallsyms  # noqa: E402
from points import ENV, FULL, done, run, say, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files  # noqa: E402

# Live recordings: name, arguments of perf record.
LOOP = ['python3', '-c', 'for i in range(200000): str(i)']
LIVE = [
    ('sched', ['-e', 'sched:sched_switch,sched:sched_wakeup', '-a', 'sleep', '0.2']),
    ('syscalls', ['-e', 'raw_syscalls:*', 'ls', '-R', '/usr/include/linux']),
    ('kernel-chains', ['-e', 'sched:sched_switch', '-g', '--kernel-callchains', '-a', 'sleep',
                       '0.1']),
    ('wakeup-chains', ['-e', 'sched:*', '-g', '--kernel-callchains', 'sh', '-c', 'ls / | wc -l']),
    ('clock', ['-e', 'cpu-clock', '-F', '5000'] + LOOP),
    ('clock-chains', ['-e', 'cpu-clock', '-F', '5000', '-g'] + LOOP),
    ('kernel-clock', ['-e', 'cpu-clock:k', '-F', '5000', '-a', 'ls', '-R', '/usr/share/doc']),
    ('faults', ['-e', 'page-faults', '-c', '7', 'python3', '-c', 'pass']),
    ('fault-addresses', ['-e', 'page-faults', '-d', '-c', '1', 'ls', '/']),
    ('mixed', ['-e', 'sched:sched_switch,cpu-clock,page-faults,raw_syscalls:sys_enter', 'sh', '-c',
               'ls -lR /etc']),
    ('mixed-chains', ['-g', '-e', 'sched:sched_switch,cpu-clock,raw_syscalls:sys_enter', 'ls', '-R',
                      '/etc']),
    ('per-thread', ['--per-thread', '-e', 'cpu-clock'] + LOOP),
    ('threads',
     ['-e', 'sched:sched_process_*,task:*', 'sh', '-c', 'for i in 1 2 3; do ls / & done; wait']),
]
# sonde records these, too.
BY_SONDE = ['sched', 'syscalls', 'kernel-chains', 'clock-chains', 'mixed', 'threads']
NAMED_OPTIONS = ['', '--ns', '-G', '-F -time', '-F +pid', '-F trace:time,trace',
                 '-F sw:event,period', '-F trace:']
OPTIONS = ['-F comm,tid,event -G', '-F pid,event,trace', '-F event,ip', '-F comm,tid,time,event,ip',
           '-F comm,event,ip -G --ns', '-F trace:time,trace -F sw:event,period',
           '-F trace: -F sw:comm', '-F event --comms ls,sh', '-F time,event --time {time}',
           '-F time,event --time {time_ns}', '-F comm,pid,tid --pid {pid}',
           '-F tid,event --tid {pid}', '-F cpu,event -C 0', '-F addr,event', '-F nonsense']
CORPUS_OPTIONS = ['-F comm,pid,tid,time,event', '-F comm,tid,cpu,time,event --ns -G',
                  '-F event,period', '-F event,trace', '-F event,ip', '-F comm,ip -G']


# docs/compat.md, "What differs under --compat, too"
KNOWN = {'perf-file-dwarf-callchain-k3.10__hotspot.data':
         'perf does not unwind through files whose names the kernel damaged'}


def why_different(data):
    """The reason why perf's text of a recording may be another one, '' if it may not."""
    head = pathlib.Path(data).read_bytes()[:104]
    features = int.from_bytes(head[72:80], 'big' if head[:1] == b'2' else 'little')
    if len(head) == 104 and head[8:16] == (104).to_bytes(8, 'little') and features >> 18 & 1:
        return 'perf decodes hardware traces'
    if pathlib.Path(data).name.startswith('perf-fuzz'):
        return 'no event can be read, which perf does not report'
    return KNOWN.get(pathlib.Path(data).name, '')


def first_difference(want, got):
    want, got = want.split(b'\n'), got.split(b'\n')
    for i, line in enumerate(want):
        if i >= len(got) or got[i] != line:
            break
    else:
        i = len(want)
    show = lambda lines: repr(lines[i].decode('utf-8', 'replace')) if i < len(lines) else 'nothing'
    return 'line %d of %d; perf: %s\nsonde (%d lines): %s' % (i + 1, len(want), show(want),
                                                              len(got), show(got))


class Tools:
    def __init__(self, sonde):
        self.sonde = [str(sonde), '--compat', 'perf-6.1', 'script', '-f']
        self.perf = ['perf', 'script', '-f'] if shutil.which('perf', path=ENV['PATH']) else None

    def text(self, tool, data, options, cwd=None):
        return run(tool + ['-i', str(data)] + shlex.split(options), cwd)

    def compare(self, name, data, options, must_read=True):
        """Compares the text of perf and sonde of one recording."""
        code, want, err = self.text(self.perf, data, options)
        if code != 0:
            got = self.text(self.sonde, data, options)
            if must_read:
                say(got[0] != 0, name, '' if got[0] else
                    'perf refuses: %s\nsonde does not' % err.decode('utf-8', 'replace'))
            return
        code, got, err = self.text(self.sonde, data, options)
        if code == 0 and got == want:
            say(True, name)
        elif not must_read and why_different(data):
            skip(name, why_different(data))
        elif code != 0:
            say(False, name, 'exit status %s: %s' % (code, err.decode('utf-8', 'replace')))
        else:
            say(False, name, first_difference(want, got))


def stored(tools, update):
    for line in (STORED / 'cases.tsv').read_text().splitlines():
        name, data, options = line.split('\t')
        path = STORED / 'out' / (name + '.txt')
        if update:
            code, text, err = tools.text(tools.perf, data, options, STORED)
            assert code == 0, err
            path.write_bytes(text)
        code, text, err = tools.text(tools.sonde, data, options, STORED)
        want = path.read_bytes()
        if code != 0:
            say(False, name, 'exit status %s: %s' % (code, err.decode('utf-8', 'replace')))
        else:
            say(text == want, name, '' if text == want else first_difference(want, text))


def placeholders(tools, data):
    """A time window in the middle of the recording and one of its processes."""
    lines = tools.text(tools.perf, data,
                       '-F pid,time --ns -G')[1].decode('utf-8', 'replace').splitlines()
    if not lines:
        return {'time': ',', 'time_ns': ',', 'pid': '1'}
    words = [l.replace(':', '').split() for l in lines]
    a, b = words[len(words) // 4], words[3 * len(words) // 4]
    return {'time': '%s,%s' % (a[1][:-3], b[1][:-3]), 'time_ns': '%s,%s' % (a[1], b[1]),
            'pid': b[0]}


def live(tools):
    if not tools.perf:
        skip('live', 'no perf', may=False)
        return
    ours = [(name + ' by sonde', tools.sonde[:1], args) for name, args in LIVE if name in BY_SONDE]
    with tempfile.TemporaryDirectory(prefix='sonde-text-') as folder:
        for i, (name, recorder, args) in enumerate([(n, ['perf'], a) for n, a in LIVE] + ours):
            data = os.path.join(folder, 'perf.data')
            code, out, err = run(recorder + ['record', '-q', '-o', data] + args)
            if code != 0 or not os.path.exists(data):
                skip(name, 'record: ' + (err.decode('utf-8', 'replace').strip().splitlines() or
                                         ['failed'])[0])
                continue
            values = placeholders(tools, data)
            for j, options in enumerate(NAMED_OPTIONS + OPTIONS):
                if options and (i + j) % 6 and not FULL:
                    continue
                options = options.format(**values)
                tools.compare(('%s %s' % (name, options)).strip(), data, options)
            os.unlink(data)


def corpus(tools):
    files = corpus_files('perf-*.data')
    if not files:
        skip('corpus', NO_CORPUS)
        return
    if not tools.perf:
        skip('corpus', 'no perf', may=False)
        return
    for i, data in enumerate(files):
        for j, options in enumerate(CORPUS_OPTIONS):
            if (i + j) % 3 and not FULL:
                continue
            tools.compare('%s %s' % (data.stem[5:], options), data, options, must_read=False)


def main():
    words = [w for w in sys.argv[1:] if w != '--update']
    tools = Tools(pathlib.Path(words[0]).resolve())
    parts = words[1:] or ['stored', 'live', 'corpus']
    if 'stored' not in parts:
        kallsyms.thin_out()
    if 'stored' in parts:
        stored(tools, '--update' in sys.argv)
    if 'live' in parts:
        live(tools)
    if 'corpus' in parts:
        corpus(tools)
    return done()


sys.exit(main())
