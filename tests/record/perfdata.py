# SPDX-License-Identifier: MIT
"""A small reader of perf.data files as the recorder leaves them, finished or killed: enough to check what was written."""
import struct

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
ROUND, INIT = 68, 82
INDEX_MAGIC = 0x5844492d45444e53
IDENTIFIER, CPU_BIT, RAW, CALLCHAIN, PERIOD = 1 << 16, 1 << 7, 1 << 10, 1 << 5, 1 << 8


class Broken(Exception):
    pass


class File:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = d = f.read()
        if len(d) < 104 or d[:8] != b'PERFILE2':
            raise Broken('no header')
        h = struct.unpack_from('<13Q', d)
        self.attrs_at, self.attrs_size, self.data_at, self.data_size = h[3], h[4], h[5], h[6]
        self.finished = self.data_size != 0
        self.end = self.data_at + self.data_size if self.finished else len(d)
        bits = [n for n in range(256) if h[9 + n // 64] >> (n % 64) & 1]
        self.features = {}
        for i, bit in enumerate(bits):
            self.features[bit] = struct.unpack_from('<QQ', d, self.end + 16 * i)
        magic, nr = struct.unpack_from('<QI', d, 104)
        if magic != INDEX_MAGIC:
            raise Broken('no index behind the header')
        self.index = {}
        for i in range(nr):
            feature, at, size = struct.unpack_from('<QQQ', d, 120 + 24 * i)
            if at + size > len(d):
                raise Broken('feature %d is cut off' % feature)
            self.index[feature] = (at, size)
        self.read_attrs()

    def read_attrs(self):
        entry = struct.unpack_from('<Q', self.data, 16)[0]
        self.attrs, self.by_id = [], {}
        for at in range(self.attrs_at, self.attrs_at + self.attrs_size, entry):
            kind, size, config, period, sample_type = struct.unpack_from('<IIQQQ', self.data, at)
            ids_at, ids_size = struct.unpack_from('<QQ', self.data, at + entry - 16)
            attr = {'type': kind, 'config': config, 'sample_type': sample_type}
            self.attrs.append(attr)
            for (one,) in struct.iter_unpack('<Q', self.data[ids_at:ids_at + ids_size]):
                self.by_id[one] = attr

    def body(self, feature):
        at, size = (self.features or self.index).get(feature) or self.index[feature]
        return self.data[at:at + size]

    def formats(self):
        """{tracepoint number: format text} of feature TRACING_DATA."""
        b, out = self.body(1), {}
        p = b.index(b'header_page\0') + 12
        p += 8 + struct.unpack_from('<Q', b, p)[0]
        p += 13
        p += 8 + struct.unpack_from('<Q', b, p)[0]
        nr, systems = struct.unpack_from('<II', b, p)
        p += 8
        for _ in range(systems):
            end = b.index(b'\0', p)
            (count,) = struct.unpack_from('<I', b, end + 1)
            p = end + 5
            for _ in range(count):
                (size,) = struct.unpack_from('<Q', b, p)
                text = b[p + 8:p + 8 + size].decode()
                out[int(text.split('ID: ')[1].split()[0])] = text
                p += 8 + size
        return out

    def names(self):
        b, out = self.body(12), []
        nr, attr_size = struct.unpack_from('<II', b)
        p = 8
        for _ in range(nr):
            nr_ids, length = struct.unpack_from('<II', b, p + attr_size)
            p += attr_size + 8
            out.append(b[p:p + length].split(b'\0')[0].decode())
            p += length + 8 * nr_ids
        return out

    def records(self):
        """(type, misc, offset, size) of all whole records."""
        p = self.data_at
        while p + 8 <= self.end:
            kind, misc, size = struct.unpack_from('<IHH', self.data, p)
            if size < 8:
                raise Broken('record of %d bytes at %#x' % (size, p))
            if p + size > self.end:
                if self.finished:
                    raise Broken('record at %#x runs over the end of the data' % p)
                return
            yield kind, misc, p, size
            p += size

    def samples(self):
        """(attr, pid, tid, time, raw) of all samples."""
        for kind, misc, p, size in self.records():
            if kind != SAMPLE:
                continue
            ident, ip, pid, tid, time = struct.unpack_from('<QQIIQ', self.data, p + 8)
            attr = self.by_id.get(ident)
            if not attr:
                raise Broken('sample of unknown id %d at %#x' % (ident, p))
            t, at = attr['sample_type'], p + 40
            at += 8 * bool(t & CPU_BIT) + 8 * bool(t & PERIOD)
            if t & CALLCHAIN:
                at += 8 + 8 * struct.unpack_from('<Q', self.data, at)[0]
            raw = b''
            if t & RAW:
                (length,) = struct.unpack_from('<I', self.data, at)
                raw = self.data[at + 4:at + 4 + length]
                at += 4 + length
            if at != p + size:
                raise Broken('sample at %#x: %d bytes are left over' % (p, p + size - at))
            yield attr, pid, tid, time, raw

    def check(self):
        """Reads everything there is; the number of samples. Tracepoint samples must carry their event's number."""
        formats = self.formats() if any(a['type'] == 2 for a in self.attrs) else {}
        n = 0
        for attr, pid, tid, time, raw in self.samples():
            n += 1
            if attr['type'] == 2:
                (number,) = struct.unpack_from('<H', raw)
                if number != attr['config'] or number not in formats:
                    raise Broken('tracepoint sample of event %d, expected %d' % (number, attr['config']))
        return n
