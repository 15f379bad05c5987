#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every perf.data of the corpus in many ways: a table of checks and a table of recordings.

    corpus.py SONDE

EXPECT.json of the corpus holds the events that stock perf prints of each recording, and the numbers
of records that an independent program counted. The checks:

    read       as many samples of each event as counted; a group read once for each of its members
    perf       as many lines of each event as perf prints, except what it decodes of a trace
    info       sonde info shows the counted samples and records, and the bytes of traces
    lists      evlist, buildid-list and check print something and succeed
    dump       -D lists every record that was counted
    fields     tracepoints have fields if the recording holds their formats
    jsonl, python, perl    the same events
    packed     the same text when the file is packed with gzip, xz and zstd
    pipe       the same text through a pipe
    windows    the same events when read through windows of 4 KiB
    folded     folded text counts all samples, also of recordings with branch stacks
"""
import collections
import functools
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, UNDER_ASAN, done, run, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
if os.access('/usr/bin/python3', os.X_OK):  # it imports least
    ENV['SONDE_PYTHON'] = '/usr/bin/python3'
FEATURES = run([SONDE, '--version', '-v'])[1].decode()
# Names of each kind of record: in EXPECT.json, in sonde info, in a dump.
RECORDS = [('MMAP', 'mmap', 'MMAP'), ('MMAP2', 'mmap2', 'MMAP2'), ('COMM', 'comm', 'COMM'),
           ('FORK', 'fork', 'FORK'),
           ('EXIT', 'exit', 'EXIT'), ('LOST', 'lost', 'LOST'),
           ('LOSTSAMP', 'lost_samples', 'LOST_SAMPLES'),
           ('THROTTLE', 'throttle', 'THROTTLE'), ('UNTHROTTLE', 'unthrottle', 'UNTHROTTLE'),
           ('AUX', 'aux', 'AUX'),
           ('ITRACE', 'itrace_start', 'ITRACE_START'), ('SWITCH', 'switch', 'SWITCH'),
           ('SWITCHCPU', 'switch_cpu_wide', 'SWITCH_CPU_WIDE'), ('NS', 'namespaces', 'NAMESPACES'),
           ('KSYM', 'ksymbol', 'KSYMBOL'), ('BPF', 'bpf_event', 'BPF_EVENT'),
           ('CGROUP', 'cgroup', 'CGROUP')]
DUMPED = RECORDS[:] + [('SAMPLE', '', 'SAMPLE'), ('FINROUND', '', 'FINISHED_ROUND'),
                       ('AUXTRACE', '', 'AUXTRACE'),
                       ('AUXINFO', '', 'AUXTRACE_INFO'), ('ATTR', '', 'ATTR'),
                       ('EVUPD', '', 'EVENT_UPDATE'),
                       ('TIMECONV', '', 'TIME_CONV'), ('THRMAP', '', 'THREAD_MAP'),
                       ('CPUMAP', '', 'CPU_MAP'),
                       ('HFEAT', '', 'FEATURE'), ('FININIT', '', 'FINISHED_INIT'),
                       ('EVTYPE', '', 'EVENT_TYPE')]
SIMPLEPERF = {'T32769', 'T32772', 'T32773', 'T32774', 'T32775', 'T32777'}  # kinds that sonde reads
COUNT_PY = ('import collections\ncount = collections.Counter()\n'
            'def process_event(d): count[d["ev_name"]] += 1\n'
            'def trace_unhandled(name, *rest): count[name.replace("__", ":", 1)] += 1\n'
            'def trace_end():\n\tfor name in count: print(count[name], name)\n')
COUNT_PL = ('my $count = 0;\nsub process_event { $count += 1 }\nsub trace_end { print "$count\\n" '
            '}\n')
WINDOWS_PY = ('import collections, json, sys, sonde\n'
              'def events(size):\n'
              '    with sonde.open(sys.argv[1], window=size, force=1) as s:\n'
              '        return [(e.name, e.time_ns, e.cpu, e.pid, e.tid, e.comm) for e in s]\n'
              'a, b = events(1 << 20), events(4096)\n'
              'print(json.dumps([len(a), a == b]))\n')


def counts(text):
    """The numbers of lines of -F event, by name."""
    return dict(collections.Counter(line.strip().rstrip(':').strip()
                                    for line in text.decode('latin-1').split('\n') if line.strip()))


def brief(value):
    return str(value)[:600]


class Recording:
    def __init__(self, name, expect):
        self.path, self.name, self.expect = CORPUS / name, name, expect
        self.samples = {int(k): n for k, n in expect['raw_samples_by_attr'].items() if n}
        self.total = sum(self.samples.values())
        self.records = expect['raw_records']
        self.is_group = 'read-group' in expect['labels'] and self.total
        self.has_trace = bool(self.records.get('AUXTRACE'))
        # Inputs that perf's fuzzers found. They have no sample.
        self.is_broken = name.startswith('perf-fuzz')

    def sonde(self, *words):
        return run([SONDE, words[0], '-f', '-i', str(self.path), *words[1:]])

    @functools.lru_cache(maxsize=None)
    def text(self):
        return self.sonde('script')[1]


# The checks: each returns '' or the differences.

def read(r):
    status, out, err = r.sonde('script', '-F', 'event', '-G')
    names = [line for line in r.sonde('evlist')[1].decode('latin-1').split('\n') if line and
             line[0] != '#']
    want = collections.Counter()
    for i, n in r.samples.items():
        for name in names if r.is_group else [names[i]]:
            want[name] += n
    got = counts(out)
    r.events = got
    if status or got != dict(want):
        return 'status %s, %s, not %s\n%s' % (status, brief(got), brief(dict(want)),
                                              err.decode('latin-1'))
    return ''


def perf(r):
    why = ''
    for version, compat in ('perf61', 'perf-6.1'), ('perf612', 'perf-6.12'):
        want = r.expect[version]
        if want['rc'] or not want['events']:
            continue
        lines = want['events']
        if r.has_trace:  # compare only samples, not events that perf decodes of the trace
            names = r.sonde('evlist')[1].decode('latin-1').split('\n')
            lines = {names[i]: n for i, n in r.samples.items()}
            if any(want['events'].get(name) != n for name, n in lines.items()):
                why += '%s did not print the samples: %s\n' % (version, want['events'])
        for words in ['--compat', compat], []:
            got = counts(run([SONDE] + words + ['script', '-f', '-i', str(r.path), '-F', 'event',
                                                '-G'])[1])
            if got != lines:
                why += '%s %s: %s, not %s\n' % (version, ' '.join(words), brief(got), brief(lines))
    return why


def info(r):
    status, out, err = r.sonde('info', '--format', 'json')
    if status:
        return 'status %s: %s' % (status, err.decode('latin-1'))
    found = json.loads(out)
    why = ''
    samples = {i: e['samples'] for i, e in enumerate(found['events']) if e['samples']}
    want = {i: r.total for i in range(len(found['events']))} if r.is_group else r.samples
    if samples != want:
        why += 'samples %s, not %s\n' % (samples, want)
    for theirs, ours, _ in RECORDS:
        if found['records'].get(ours, 0) != r.records.get(theirs, 0):
            why += '%s: %d, not %d\n' % (ours, found['records'].get(ours, 0),
                                         r.records.get(theirs, 0))
    trace = found['trace']
    if trace['records'] != r.records.get('AUXTRACE', 0) or bool(trace['bytes']) != r.has_trace:
        why += 'trace: %s\n' % trace
    unknown = sum(n for name, n in r.records.items()
                  if re.fullmatch(r'T\d+', name) and name not in SIMPLEPERF)
    if sum(d['count'] for d in found['defects'] if d['name'] == 'unknown-record') != unknown:
        why += '%d records of unknown kinds: %s\n' % (unknown, found['defects'])
    text_behind = r.name.startswith('perf-pipe-compressed2')  # ends with a message of the recorder
    names = {d['name'] for d in found['defects']}
    if text_behind != ('trailing-text' in names) or 'truncated' in names:
        why += 'the end of the file: %s\n' % names
    text = r.sonde('info')
    if text[0] or not text[1]:
        why += 'as text: status %s\n' % text[0]
    if 'cpus' in json.loads(r.sonde('info', '--format', 'json', '--no-events')[1]):
        why += '--no-events counts\n'
    return why


def lists(r):
    why = ''
    for words, statuses in ((['evlist'], [0]), (['evlist', '-v'], [0]), (['evlist', '-F'], [0]),
                            (['evlist', '-g'], [0]),
                            (['evlist', '--trace-fields'], [0]), (['check'], [0, 3]),
                            (['script', '--header-only'], [0]),
                            (['script', '--show-mmap-events', '--show-task-events',
                              '--show-lost-events'], [0])):
        status, out, err = r.sonde(*words)
        if status not in statuses or not out.strip():
            why += '%s: status %s, %d bytes of text, %s\n' % (' '.join(words), status, len(out),
                                                              err.decode('latin-1'))
    status, out, err = r.sonde('buildid-list')
    if status or any(not re.match(r'([0-9a-f]{2,40}| {40}) ', line)
                     for line in out.decode('latin-1').split('\n') if line):
        why += 'buildid-list: status %s, %s\n' % (status, brief(out))
    return why


def dump(r):
    status, out, err = r.sonde('script', '-D')
    got = collections.Counter(re.findall(r' \[0x[0-9a-f]+\]: PERF_RECORD_(?:HEADER_)?(\w+)',
                                         out.decode('latin-1')))
    why = '' if not status else 'status %s: %s\n' % (status, err.decode('latin-1'))
    for theirs, _, word in DUMPED:
        if got[word] != r.records.get(theirs, 0):
            why += '%s: %d, not %d\n' % (word, got[word], r.records.get(theirs, 0))
    return why


def fields(r):
    """Tracepoints have fields if the recording holds their formats."""
    status, out, err = r.sonde('evlist', '--trace-fields')
    has_formats = (r.records.get('TRACING') or
                   'TRACING_DATA' in json.loads(r.sonde('info', '--format', 'json',
                                                        '--no-events')[1])['file']['features'])
    return '' if not has_formats or b'trace_fields: ' in out else out.decode('latin-1')


def jsonl(r):
    status, out, err = r.sonde('script', '--format', 'jsonl')
    got = collections.Counter()
    for line in out.split(b'\n'):
        event = json.loads(line) if line else {}
        if 'event' in event:
            got[event['event']] += 1
    return ('' if not status and dict(got) == r.events else 'status %s, %s, not %s' %
            (status, brief(dict(got)), r.events))


def python(r):
    status, out, err = r.sonde('script', '-s', str(r.folder / 'count.py'))
    got = {}
    for line in out.decode('latin-1').split('\n'):
        if re.match(r'\d+ ', line):
            n, name = line.split(' ', 1)
            got[name] = int(n)
    if (status or sum(got.values()) != sum(r.events.values()) or
        any(got.get(name, n) != n for name, n in r.events.items())):
        return 'status %s, %s, not %s\n%s' % (status, got, r.events, err.decode('latin-1')[-500:])
    return ''


def perl(r):
    status, out, err = r.sonde('script', '-s', str(r.folder / 'count.pl'))
    got = re.search(rb'^(\d+)$', out, re.M)
    if status or not got or int(got[1]) != sum(r.events.values()):
        return 'status %s, %s, not %d\n%s' % (status, got and got[1], sum(r.events.values()),
                                              err.decode('latin-1')[-500:])
    return ''


def packed(r):
    blob, want, why = r.path.read_bytes(), r.text(), ''
    for name, pack, feature in (('gz', lambda b: gzip.compress(b, 1), 'zlib='),
                                ('xz', lambda b: lzma.compress(b, preset=0), 'lzma='),
                                ('zst', lambda b: subprocess.run(['zstd', '-q', '-c', '-1'],
                                                                 input=b,
                                                                 capture_output=True).stdout,
                                 'zstd=')):
        if feature not in FEATURES or name == 'zst' and not shutil.which('zstd'):
            continue
        path = r.folder / ('x.data.' + name)
        path.write_bytes(pack(blob))
        status, out, err = run([SONDE, 'script', '-f', '-i', str(path)])
        if status or out != want:
            why += '%s: status %s, %s\n' % (name, status, err.decode('latin-1'))
    return why


def pipe(r):
    want = r.text()
    p = subprocess.run([SONDE, 'script', '-i', '-'], env=ENV, input=r.path.read_bytes(),
                       capture_output=True, timeout=600)
    return ('' if not p.returncode and p.stdout == want
            else 'status %s, %s' % (p.returncode, p.stderr.decode('latin-1')))


def windows(r):
    # -S: packages that happen to be installed are not imported.
    p = subprocess.run([sys.executable, '-S', str(r.folder / 'windows.py'), str(r.path)],
                       capture_output=True, timeout=60,
                       env=dict(ENV, PYTHONPATH=os.environ.get('PYTHONPATH', '')))
    status, out, err = p.returncode, p.stdout, p.stderr
    if status or json.loads(out) != [sum(r.events.values()), True]:
        return 'status %s, %s, not [%d, true]\n%s' % (status, out, sum(r.events.values()),
                                                      err.decode('latin-1')[-500:])
    return ''


def folded(r):
    status, out, err = r.sonde('report', '--format', 'folded')
    found = sum(int(line.rsplit(b' ', 1)[1]) for line in out.splitlines())
    if status or found != sum(r.events.values()):
        return 'status %s, %d samples, not %d\n%s' % (status, found, sum(r.events.values()),
                                                      err.decode('latin-1')[-500:])
    return ''


IN_INTERPRETERS = [python, perl, windows]
ROWS = [r for r in (read, perf, info, lists, dump, fields, jsonl, python, perl, packed, pipe,
                    windows, folded)
        if not (UNDER_ASAN and r in IN_INTERPRETERS)]


def broken(r):
    """Inputs of fuzzers: every command ends with a status, and with a message if it fails."""
    why, blob = '', r.path.read_bytes()
    for words in (['script'], ['script', '-D'], ['script', '--format', 'jsonl'], ['info'],
                  ['evlist', '-v'], ['buildid-list'], ['check'],
                  ['script', '-s', str(r.folder / 'count.py')],
                  ['script', '-s', str(r.folder / 'count.pl')]):
        status, out, err = r.sonde(*words)
        if status not in (0, 1, 3) or status == 1 and not err:
            why += '%s: status %s, %s\n' % (' '.join(words), status, err.decode('latin-1')[:300])
    p = subprocess.run([SONDE, 'script', '-i', '-'], env=ENV, input=blob, capture_output=True,
                       timeout=600)
    if p.returncode not in (0, 1):
        why += 'through a pipe: status %s\n' % p.returncode
    return why


def main():
    if not CORPUS or not (CORPUS / 'EXPECT.json').is_file():
        skip('recordings of other machines', NO_CORPUS)
        return done()
    table = json.loads((CORPUS / 'EXPECT.json').read_text())
    recordings = [Recording(name, expect) for name, expect in sorted(table.items())
                  if expect['kind'] == 'perf']
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in ('count.py', COUNT_PY), ('count.pl',
                                                   COUNT_PL), ('windows.py', WINDOWS_PY):
            (folder / file).write_text(text)
        for r in recordings:
            r.folder = folder
            short = r.name[len('perf-'):-len('.data')]
            if r.is_broken:
                why = broken(r)
                say(not why, 'broken/' + short, why)
                continue
            for row in ROWS:
                why = row(r)
                say(not why, '%s/%s' % (row.__name__, short), why)
    say(len(recordings) == len(list(CORPUS.glob('perf-*.data'))),
        'EXPECT.json lists every recording', '%d recordings' % len(recordings))
    return done()


sys.exit(main())
