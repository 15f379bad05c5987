#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings that future kernels and recorders might write, and those of killed recorders.

    newer.py SONDE

Recordings of tests/data and of the corpus are changed in these ways; the same events must be read:

    newer     attrs of 200 bytes; an unknown bit of sample_type and eight more bytes in each sample;
              records of unknown kinds; header sections of unknown numbers; in streams, text after
              the last record
    unnamed   no EVENT_DESC: the events are named by perf's rule
    unended   data size 0 and nothing after the data, as a killed recorder leaves it

Stock perf refuses some recordings (docs/compat.md): all their samples are read, under --compat too.
"""
import collections
import json
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'gen')]
from columns import perf_of  # noqa: E402
import samples  # noqa: E402
from points import done, run, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, stored_and_corpus  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
ATTR_BYTES, SAMPLE_BIT, EVENT_DESC, STAT = 200, 1 << 25, 12, 19
ATTR, TRACING, AUXTRACE, SAMPLE = 64, 66, 71, 9
COMPRESSED = 81, 83


class Odd(Exception):
    """The recording cannot be changed in this way."""


def attr_of(old):
    """A larger attr, whose additional members are not zero."""
    size = struct.unpack_from('<I', old, 4)[0] or 64
    attr = bytearray(old[:min(size, len(old))].ljust(ATTR_BYTES, b'\0'))
    struct.pack_into('<I', attr, 4, ATTR_BYTES)
    struct.pack_into('<Q', attr, 24, struct.unpack_from('<Q', attr, 24)[0] | SAMPLE_BIT)
    attr[-1] = 0x5a
    return bytes(attr)


class Stream:
    """Records of a recording, with records of unknown kinds between them."""

    def __init__(self):
        self.out, self.unknown, self.n = bytearray(), 0, 0

    def add(self, data, at, end):
        """Copies the record at `at`; returns the offset of the next one."""
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if size < 8 or at + size > end:
            raise Odd('a record of %d bytes at 0x%x' % (size, at))
        behind = 0
        if kind == AUXTRACE:
            behind = struct.unpack_from('<Q', data, at + 8)[0]
        elif kind == TRACING and size == 16:
            behind = (struct.unpack_from('<I', data, at + 8)[0] + 7) & ~7
        body = bytes(data[at + 8:at + size])
        if kind == SAMPLE:
            body += b'\xa5' * 8
        elif kind == ATTR:
            old = struct.unpack_from('<I', body, 4)[0] or 64
            body = attr_of(body[:old]) + body[old:]
        if len(body) + 8 > 65535:
            raise Odd('a record has no room for more')
        self.out += (struct.pack('<IHH', kind, misc, len(body) + 8) + body +
                     data[at + size:at + size + behind])
        self.n += 1
        if self.n % 5 == 0:
            self.stranger(self.n)
        return at + size + behind

    def stranger(self, n):
        self.out += struct.pack('<IHHQ', (99, 5000, 0x12345678)[n % 3], n & 0xffff, 16, n)
        self.unknown += 1


class File:
    def __init__(self, blob):
        self.blob = blob
        words = struct.unpack_from('<12Q', blob, 8)
        self.head, self.entry, self.attrs, self.attr_bytes, self.data, self.data_bytes = words[:6]
        if self.head != 104 or blob[:8] != b'PERFILE2':
            raise Odd('another byte order, or an old header')
        self.features = {}
        for i in (i for i in range(256) if words[8 + i // 64] >> i % 64 & 1):
            self.features[i] = struct.unpack_from('<QQ', blob, self.data + self.data_bytes +
                                                  16 * len(self.features))

    def has_compressed(self):
        at = self.data
        while at + 8 <= self.data + self.data_bytes:
            kind, _, size = struct.unpack_from('<IHH', self.blob, at)
            if kind in COMPRESSED:
                return True
            if size < 8 or kind == AUXTRACE:
                return False
            at += size
        return False

    def newer(self):
        """A new header; the other old sections keep their places, and the new sections follow
        them."""
        out, stream = bytearray(self.blob), Stream()
        attrs = b''.join(attr_of(self.blob[at:at + self.entry - 16]) +
                         self.blob[at + self.entry - 16:at + self.entry]
                         for at in range(self.attrs, self.attrs + self.attr_bytes, self.entry))
        attrs_at = len(out)
        out += attrs
        data_at, at = len(out), self.data
        while at < self.data + self.data_bytes:
            at = stream.add(self.blob, at, self.data + self.data_bytes)
        out += stream.out
        features = dict(self.features)
        features[77] = features[200] = (data_at, 16)  # unknown numbers
        table = b''.join(struct.pack('<QQ', *features[i]) for i in sorted(features))
        out += table
        bits = sum(1 << i for i in features)
        head = b'PERFILE2' + struct.pack('<9Q', 104, ATTR_BYTES + 16, attrs_at, len(attrs), data_at,
                                         len(stream.out), 0, 0,
                                         bits & (1 << 64) -
                                         1) + struct.pack('<3Q', *(bits >> 64 * i & (1 << 64) - 1
                                                                   for i in (1, 2, 3)))
        out[:104] = head
        return bytes(out), stream.unknown

    def unnamed(self):
        out = bytearray(self.blob)
        kept = [(i, s) for i, s in sorted(self.features.items()) if i != EVENT_DESC]
        bits = sum(1 << i for i, _ in kept)
        out[72:104] = bits.to_bytes(32, 'little')
        for n, (_, section) in enumerate(kept):
            struct.pack_into('<QQ', out, self.data + self.data_bytes + 16 * n, *section)
        return bytes(out)

    def unended(self):
        out = bytearray(self.blob[:self.data + self.data_bytes])
        out[48:56] = bytes(8)
        return bytes(out)


def newer_stream(blob):
    if blob[:8] != b'PERFILE2':
        raise Odd('another byte order, or an old header')
    stream, at = Stream(), 16
    while at < len(blob):
        at = stream.add(blob, at, len(blob))
    return (blob[:16] + bytes(stream.out) + b'[ perf record: Woken up 1 times to write data ]\n',
            stream.unknown)


def info_of(path):
    status, out, err = run([SONDE, 'info', '-f', '--format', 'json', str(path)])
    return json.loads(out) if not status else {'error': err.decode('latin-1')}


def text(path, words=('-F', 'comm,pid,tid,cpu,time,event,trace,ip,period')):
    status, out, err = run([SONDE, 'script', '-f', '-i', str(path), *words])
    return status, out.decode('latin-1'), err.decode('latin-1')


def events(path):
    info = info_of(path)
    if 'error' in info:
        return info
    return {key: info.get(key) for key in ('events', 'cpus', 'lost', 'records', 'span', 'trace')}


def defect(path, name):
    return sum(d['count'] for d in info_of(path).get('defects', []) if d['name'] == name)


def difference(a, b):
    a, b = a.split('\n'), b.split('\n')
    i = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    return 'line %d of %d and %d\n  %s\n  %s' % (i + 1, len(a), len(b), a[i:i + 1], b[i:i + 1])


def try_newer(path, made, blob, is_stream):
    made_bytes, unknown = newer_stream(blob) if is_stream else File(blob).newer()
    made.write_bytes(made_bytes)
    why = ''
    want, got = text(path), text(made)
    if want[:2] != got[:2]:
        why += difference(want[1], got[1]) + got[2]
    if events(path) != events(made):
        why += '%s\n  %s\n' % (events(path), events(made))
    if defect(made, 'unknown-record') != unknown + defect(path, 'unknown-record'):
        why += '%d unknown records, not %d\n' % (defect(made, 'unknown-record'), unknown)
    if is_stream and not defect(made, 'trailing-text'):
        why += 'the text after the last record is not reported\n'
    return why


def try_file(path, made, blob):
    file, why = File(blob), ''
    samples = collections.Counter(e['samples'] for e in info_of(path)['events'])
    for name, made_bytes in ('unnamed', file.unnamed()), ('unended', file.unended()):
        made.write_bytes(made_bytes)
        got = info_of(made)
        if 'error' in got or collections.Counter(e['samples']
                                                 for e in got['events']) != samples or \
                (name == 'unended') != bool(defect(made, 'unfinished')):
            why += '%s: %s\n' % (name, got.get('error', got.get('events')))
        want_lines, got_lines = text(path, ('-F', 'tid,time')), text(made, ('-F', 'tid,time'))
        if STAT in file.features:  # the table of counts has the names of events
            want_lines, got_lines = ((t[0], len(t[1].split('\n'))) for t in (want_lines, got_lines))
        if want_lines[:2] != got_lines[:2]:
            why += '%s: %s\n' % (name, STAT in file.features or
                                 difference(want_lines[1], got_lines[1]))
    return why


def refused():
    """(name, recording, exit status of perf 6.1, defects); each recording has two samples."""
    def recording(between=None, **attr):
        r = samples.Recording()
        event = r.attr(**attr)
        for n in range(2):
            r.sample(event, ip=0x401000 + n, time=1000 + n)
            if between and not n:
                r.record(between, bytes(8))
        return r.bytes()

    yield 'attrs larger than those of perf', File(recording()).newer()[0], 255, set()
    yield 'a tracepoint without a format', recording(type=2, config=77), 255, {'no-format'}
    yield 'a record of an unknown kind', recording(between=93), 234, {'unknown-record'}
    yield 'a record of simpleperf', recording(between=32769), 234, set()


def try_refused(made):
    perf, why = perf_of('perf-6.1')
    for name, blob, perf_status, defects in refused():
        made.write_bytes(blob)
        want = ['%x' % ip for ip in (0x401000, 0x401001)]
        for compat in 'none', 'perf-6.1', 'perf-6.12':
            status, out, err = run([SONDE] + ['--compat', compat] * (compat != 'none') +
                                   ['script', '-F', 'ip', '-i', str(made)])
            say((status, out.decode().split()) == (0, want), 'refused: %s, %s' % (name, compat),
                '%s %s %s' % (status, out, err.decode()))
        got = {d['name'] for d in info_of(made)['defects']}
        say(got == defects, 'refused: %s: defects' % name, '%s' % got)
        if perf:
            status, out, err = run(perf + ['-F', 'ip', '-i', str(made)])
            say(status == perf_status, 'refused: %s, perf' % name,
                '%s %s %s' % (status, out, err.decode()))
        else:
            skip('refused: %s, perf' % name, why)


def main():
    paths = stored_and_corpus()
    if not CORPUS:
        skip('recordings of other machines', NO_CORPUS)
    left, tried = '', 0
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / 'x.data'
        try_refused(made)
        for path in paths:
            blob = path.read_bytes()
            is_stream = blob[8:16] == struct.pack('<Q', 16)
            try:
                why = '' if is_stream else try_file(path, made, blob)
                if not is_stream and File(blob).has_compressed():
                    left += '%s: samples in compressed records are not changed\n' % path.name
                else:
                    why += try_newer(path, made, blob, is_stream)
            except Odd as e:
                left += '%s: %s\n' % (path.name, e)
                continue
            tried += 1
            say(not why, path.stem, why)
    say(tried > (60 if CORPUS else 10), '%d recordings' % tried, 'not changed:\n' + left)
    return done()


sys.exit(main())
