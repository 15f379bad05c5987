#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that read the text of `perf script` read that of `sonde script`.

    tests/readers/readers.py SONDE

For each of today's readers a parser in our own words that obeys its rules: which lines begin a
sample, what in them is the name, the thread, the time, the event; what a frame is. What each makes
of our text must be what the JSON lines of the same recording say: as many samples, the same names,
threads, times, events and frames. Where a reader's rules lose something of any such text, perf's
too, its `loses` says so, and the expectation with it.

    stackcollapse   FlameGraph's stackcollapse-perf.pl
    inferno         inferno-collapse-perf
    firefox         Firefox profiler, linux-perf importer
    speedscope      speedscope, linux-tools-perf importer
    flamescope      FlameScope
    perfetto        Perfetto's trace processor, perf_text importer

hotspot is not among them: it opens recordings (perf.data), not text.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import settled  # noqa: E402, F401

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
SONDE = os.path.abspath(sys.argv[1])
ENV = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C',
       'TZ': 'UTC', 'PERF_CONFIG': '/dev/null'}
ENV.update({k: os.environ[k] for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ})

# pid, time_us, event: None where the reader does not look; frames: (name, file), innermost first
Sample = namedtuple('Sample', 'comm pid tid time_us event frames')
OFFSET = re.compile(r'\+0x[0-9a-f]+$')
# Word of hexadecimal digits, name, file in brackets without blanks: several readers share this
# form.
FRAME = re.compile(r'\s*(\w+)\s*(.+) \((\S*)\)')


class Refused(Exception):
    """The reader gives up, or warns that it does not know a line."""


def microseconds(text):
    whole, _, fraction = text.partition('.')
    return int(whole) * 1000000 + int(fraction.ljust(6, '0')[:6])


def frame_of(line):
    m = FRAME.match(line)
    if not m or m[2].startswith('('):
        return None
    return OFFSET.sub('', m[2]), m[3]


def stackcollapse(text):
    """An empty line ends a stack; '#' begins a comment; a line that is neither a sample's first nor
    a frame is warned of."""
    samples, head, frames = [], None, []
    for line in text.split('\n'):
        if line.startswith('#'):
            continue
        if not line:
            if head:
                samples.append(Sample(head[0], head[1], head[2], None, None, frames))
            head, frames = None, []
            continue
        m = re.match(r'(\S.+?)\s+(\d+)/*(\d+)*\s+', line)
        if m:
            head = (m[1], int(m[2]), int(m[3])) if m[3] else (m[1], None, int(m[2]))
            continue
        frame = frame_of(line)
        if not frame:
            raise Refused(line)
        frames.append(frame)
    return samples


def inferno(text):
    """Lines after a sample's first one are frames, up to an empty line. The thread is the first
    word after another that has only digits and slashes; the event is the last word, if that ends
    in ':'."""
    samples, head, frames = [], None, []
    for line in text.split('\n'):
        if line.startswith('#'):
            continue
        line = line.rstrip()
        if not line:
            if head:
                samples.append(Sample(*head, frames))
            head, frames = None, []
        elif head:
            parts = line.lstrip().split(' ', 1)
            if len(parts) < 2 or ' ' not in parts[1]:
                raise Refused(line)
            name, module = parts[1].rsplit(' ', 1)
            if not (module.startswith('(') and module.endswith(')')):
                raise Refused(line)
            frames.append((OFFSET.sub('', name.strip()), module[1:-1]))
        else:
            m = re.search(r' ((?:(\d*)/)?(\d+)) ', line)
            if not m:
                raise Refused(line)
            last = line.rsplit(' ', 1)[-1]
            head = (line[:m.start()].strip(), int(m[2]) if m[2] else None, int(m[3]), None,
                    last[:-1] if last.endswith(':') else None)
    return samples


def firefox(text):
    """The time is the last number before a ':'; before it the thread, as late as can be; a stack
    ends at a blank line."""
    first = text[:text.find('\n')]
    if (not text.startswith('# ========\n') and
        not re.match(r'\S.*?\s+(?:\d+/)?\d+\s+(?:\[\d+\]\s+)?[\d.]+:', first)):
        raise Refused('not recognised: ' + first)
    samples, lines, i = [], text.split('\n'), 0
    while i < len(lines):
        line = lines[i]
        i += 1
        if not line or line.startswith('#'):
            continue
        start = re.match(r'(.*)\s+([\d.]+):', line)
        thread = start and re.match(r'(.*)\s+(?:(\d+)/)?(\d+)\b', start[1])
        if not thread:
            raise Refused(line)
        frames = []
        while i < len(lines) and lines[i].strip():
            frame = frame_of(lines[i])
            if not frame:
                raise Refused(lines[i])
            frames.append(frame)
            i += 1
        i += 1
        if frames:
            samples.append(Sample(thread[1].strip(), int(thread[2]) if thread[2] else None,
                                  int(thread[3]), microseconds(start[2]), None, frames))
    return samples


def speedscope(text):
    """Samples are between empty lines; what does not begin as one is dropped."""
    samples = []
    for part in text.split('\n\n'):
        lines = part.split('\n')
        m = re.match(r'(\S.+?)\s+(\d+)(?:/?(\d+))?\s+', lines[0])
        if not m:
            continue
        time = re.search(r'\s+(\d+\.\d+):\s+', lines[0])
        event = re.search(r'(\S+):\s*$', lines[0])
        samples.append(Sample(m[1], int(m[2]) if m[3] else None, int(m[3] or m[2]),
                              microseconds(time[1]) if time else 'none', event[1] if event
                              else None, [f for f in map(frame_of, lines[1:]) if f]))
    return samples


def flamescope(text):
    """Lines that begin with a tab are frames, others with a time are samples; a name is the text
    before the first digit."""
    samples = []
    for line in text.split('\n'):
        if not line or line.startswith('#'):
            continue
        m = None if line.startswith('\t') else re.search(r' +([0-9.]+): .+?:', line)
        if m:
            comm = re.match(r' *([^0-9]+)', line)
            samples.append(Sample(comm[1].rstrip() if comm else '<unknown>', None, None,
                                  microseconds(m[1]), None, []))
            continue
        frame = re.match(r'[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$', line)
        if not frame or not samples:
            raise Refused(line)
        name = frame[1]
        samples[-1].frames.append((name[:name.find('+')] if name.find('+') > 0 else name, frame[2]))
    return samples


def perfetto(text):
    """The time is the first word of digits, dot and six digits before a ':'; before it [cpu], then
    the thread, then the name. Every sample has a stack, an empty line ends it."""
    lines = text.split('\n')
    samples, i = [], 0
    while i < len(lines) - 1:
        start = next((m for m in re.finditer(r':', lines[i])
                      if re.search(r' \d*\.\d{6}$', lines[i][:m.start()])), None)
        if not start:
            raise Refused(lines[i])
        before, time = lines[i][:start.start()].rsplit(' ', 1)
        event = lines[i][start.end():].strip()
        words = before.split(' ')
        words = [w for w in words if w]
        if re.fullmatch(r'\[\d+\]', words[-1]):
            words.pop()
        thread = re.fullmatch(r'(?:(\d+)/)?(\d+)', words.pop())
        if not thread:
            raise Refused(lines[i])
        frames, i = [], i + 1
        while lines[i].strip():
            line = lines[i].strip()
            if ' ' not in line or '(' not in line or not line.endswith(')'):
                raise Refused(line)
            name, file = line[line.find(' '):line.rfind('(')].strip(), line[line.rfind('(') + 1:-1]
            frames.append((name[:name.rfind('+')] if '+' in name else name, file))
            i += 1
        i += 1
        if not frames:
            raise Refused('no frames: ' + event)
        samples.append(Sample(' '.join(words), int(thread[1]) if thread[1] else None,
                              int(thread[2]), microseconds(time), None, frames))
    return samples


READERS = (stackcollapse, inferno, firefox, speedscope, flamescope, perfetto)
# A word of digits in a name is the thread to them.
stackcollapse.loses = inferno.loses = speedscope.loses = {'numbers'}
firefox.loses, perfetto.loses, flamescope.loses = set(), {'plus'}, {'digits', 'plus'}
speedscope.loses = {'numbers', 'first after a header'}
perfetto.loses = {'plus', 'header'}


def run(*argv):
    p = subprocess.run([SONDE, 'script'] + [str(a) for a in argv], env=ENV,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=600)
    if p.returncode:
        raise RuntimeError(p.stderr.decode('utf-8', 'replace'))
    return p.stdout.decode('utf-8', 'surrogateescape')


def expected(data, reader, got):
    """The samples of the JSON lines, without what the reader cannot see."""
    samples = []
    for line in run('-i', data, '--format', 'jsonl').splitlines():
        x = json.loads(line)
        if 'event' not in x:
            continue
        comm, pid, tid = x['comm'], x['pid'], x['tid']
        frames = [(f.get('sym', '[unknown]'), 'inlined' if f.get('inlined')
                   else f.get('dso', '[unknown]')) for f in x['chain']]
        number = re.search(r'\s+(\d+)(?=\s|$)', comm)
        if 'numbers' in reader.loses and number:
            comm, pid, tid = comm[:number.start()], None, int(number[1])
        if 'digits' in reader.loses:
            m = re.match(r' *([^0-9]+)', comm)
            comm = m[1].rstrip() if m else '<unknown>'
        if 'plus' in reader.loses:
            cut = 'find' if reader is flamescope else 'rfind'
            frames = [(n[:getattr(n, cut)('+')] if getattr(n, cut)('+') > 0 else n, d)
                      for n, d in frames]
        samples.append(Sample(comm, pid, tid, x['time'] // 1000, x['event'], frames))
    # What the reader does not look at, or the columns do not hold.
    seen = [{k for k, v in g._asdict().items() if v is not None} for g in got] or [set()]
    return [s._replace(**{k: None for k in s._fields if k not in seen[min(i, len(seen) - 1)]})
            for i, s in enumerate(samples)]


def odd_recording():
    """cpu-clock samples with call chains of tasks with odd names. (Names of one letter, and '#',
    are lost on most readers.)"""
    names = [b'V8 WorkerThread', b'kworker/0:1', b'a[b]c', b'x: y:', b'worker12', b'pool 7',
             b'(brackets)', b'caf\xc3\xa9', b'raw\xff\xfe', b'semi;colon', b'==', b'--']
    # IP TID TIME CALLCHAIN CPU PERIOD
    sample_type = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8
    attr = struct.pack('<IIQQQQQ', 1, 128, 0, 4000, sample_type, 0, 1 << 18).ljust(128, b'\0')

    def record(kind, misc, body):
        return struct.pack('<IHH', kind, misc, 8 + len(body)) + body

    def padded(text):
        return text + bytes(8 - len(text) % 8)
    data, time = b'', 1000000000
    for i, name in enumerate(names):
        tid, sample_id = 1000 + i, struct.pack('<IIQII', 1000 + i, 1000 + i, time, 0, 0)
        data += record(3, 0, struct.pack('<II', tid, tid) + padded(name) + sample_id)
        data += record(1, 2, struct.pack('<IIQQQ', tid, tid, 0x400000, 0x1000, 0) +
                       padded(b'/opt/odd/program-%d.bin' % i) + sample_id)
        for _ in range(3):
            time += 123456
            chain = struct.pack('<QQQQQ', 4, 2**64 - 512, 0x400123, 0x400456, 0x7fff00001234)
            data += record(9, 2, struct.pack('<QIIQIIQ', 0x400123, tid, tid, time, i % 2, 0,
                                             250000) + chain)
    header = struct.pack('<QQQQQQQQQ', 0x32454c4946524550, 104, 144, 104, 144, 248, len(data), 0,
                         0) + bytes(32)
    return header + attr + struct.pack('<QQ', 0, 0) + data


def main():
    failed = nr = 0
    full = 'comm,pid,tid,cpu,time,event,ip,sym,dso,trace'
    with tempfile.TemporaryDirectory() as work:
        odd = pathlib.Path(work, 'odd.data')
        odd.write_bytes(odd_recording())
        cases = [(odd, ['-F', full.replace(',trace', '')]), (odd, []), (odd, ['--header']),
                 (odd, ['-F', '+pid', '--ns']),
                 (DATA / 'text/chains.data', []), (DATA / 'scripts/frames.data', ['-F', full]),
                 (DATA / 'scripts/frames.data', ['--header', '-F', full]),
                 (DATA / 'text/clock.data', []), (DATA / 'text/clock.data', ['-F', '+pid,+symoff'])]
        if (DATA / 'text-cases/g.data').exists():
            cases.append((DATA / 'text-cases/g.data', []))
        for reader in READERS:
            for data, options in cases:
                name = '%s reads %s' % (reader.__name__, ' '.join([data.name] + options))
                if (('header' in reader.loses and '--header' in options) or
                    (reader is perfetto and '--ns' in options)):
                    continue  # it refuses such text, perf's too
                nr += 1
                detail = ''
                try:
                    text = run('-i', data, *options)
                    got = reader(text)
                    want = expected(data, reader, got)
                    if 'first after a header' in reader.loses and '--header' in options:
                        want = expected(data, reader, got[:1] + got)[1:]
                    for i, (g, w) in enumerate(zip(got, want)):
                        if g != w:
                            detail = 'sample %d\n  read %r\n  is   %r' % (i, g, w)
                            break
                    if len(got) != len(want) or not got:
                        detail = '%d samples read of %d' % (len(got), len(want))
                except (Refused, RuntimeError) as e:
                    detail = '%s: %s' % (type(e).__name__, e)
                failed += bool(detail)
                print('%sok %d - %s' % ('not ' if detail else '', nr, name))
                for line in detail.splitlines():
                    print('# ' + line.encode('ascii', 'backslashreplace').decode()[:600])
    print('1..%d' % nr)
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
