# SPDX-License-Identifier: MIT
"""A small reader of perf.data files by sonde record, finished or killed, that checks them."""
import ctypes
import struct

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
ROUND, COMPRESSED, INIT, COMPRESSED2 = 68, 81, 82, 83
FEAT_COMPRESSED = 27
INDEX_MAGIC = 0x5844492d45444e53
IDENTIFIER, CPU_BIT, RAW, CALLCHAIN, PERIOD = 1 << 16, 1 << 7, 1 << 10, 1 << 5, 1 << 8
RECORD_HEAD, SAMPLE_HEAD, U16, U32 = (struct.Struct(f).unpack_from
                                      for f in ('<IHH', '<QQIIQ', '<H', '<I'))


class Broken(Exception):
    pass


class Unzip:
    """Unpacks zstd frames as perf does: one call for each piece, into a buffer of a fixed size."""

    class Buffer(ctypes.Structure):
        _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t), ('pos', ctypes.c_size_t)]

    def __init__(self):
        self.lib = ctypes.CDLL('libzstd.so.1')
        self.lib.ZSTD_createDStream.restype = ctypes.c_void_p
        self.lib.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.lib.ZSTD_decompressStream.argtypes = ([ctypes.c_void_p] +
                                                   [ctypes.POINTER(self.Buffer)] * 2)
        self.lib.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
        self.stream = self.lib.ZSTD_createDStream()
        self.ended = True  # no frame is open

    def __del__(self):
        self.lib.ZSTD_freeDStream(self.stream)

    def __call__(self, packed, room):
        out = ctypes.create_string_buffer(room)
        src = ctypes.create_string_buffer(packed, len(packed))
        i, o = (self.Buffer(ctypes.addressof(src), len(packed), 0),
                self.Buffer(ctypes.addressof(out), room, 0))
        while i.pos < i.size:
            before = o.pos
            if self.ended and (packed[i.pos:i.pos + 4] != b'\x28\xb5\x2f\xfd' or
                               not packed[i.pos + 4] & 4):
                raise Broken('a frame of zstd without a checksum')
            left = self.lib.ZSTD_decompressStream(self.stream, o, i)
            if self.lib.ZSTD_isError(ctypes.c_size_t(left)):
                raise Broken('a compressed record is damaged')
            self.ended = not left
            if i.pos < i.size and (before or o.pos):
                raise Broken('a compressed record that perf 6.1 does not unpack in one go')
        if not o.pos:
            raise Broken('a compressed record that unpacks to nothing: perf stops there')
        return out.raw[:o.pos]


class File:
    def __init__(self, path):
        self.bodies = {}
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
            raise Broken('no index after the header')
        self.index = {}
        for i in range(nr):
            feature, at, size = struct.unpack_from('<QQQ', d, 120 + 24 * i)
            if at + size > len(d):
                raise Broken('feature %d is cut off' % feature)
            self.index[feature] = (at, size)
        self.kept = None
        self.read_attrs()
        self.packed = []  # (type, size, bytes unpacked) of compressed records
        self.ends_checked = True  # the last compressed record ends a frame
        if FEAT_COMPRESSED in self.index or FEAT_COMPRESSED in self.features:
            self.unpack()

    def unpack(self):
        """Replaces the file's data by the unpacked records.

        Keeps the bodies of features, which body() then returns.
        """
        room = struct.unpack_from('<5I', self.body(FEAT_COMPRESSED))[4]
        unzip, plain, bodies = (Unzip(), [],
                                {n: self.body(n) for n in set(self.index) | set(self.features)})
        for kind, misc, p, size in self.records():
            if kind not in (COMPRESSED, COMPRESSED2):
                plain.append(self.data[p:p + size])
                continue
            packed = self.data[p + 8:p + size]
            if kind == COMPRESSED2:
                (length,) = struct.unpack_from('<Q', packed)
                if size % 8 or p % 8 or not -8 < length - len(packed[8:]) <= 0:
                    raise Broken('COMPRESSED2 of %d bytes at %#x holds %d' % (size, p, length))
                packed = packed[8:8 + length]
            plain.append(unzip(packed, room))
            self.packed.append((kind, size, len(plain[-1])))
            self.ends_checked = unzip.ended
        self.bodies = bodies
        self.data = self.data[:self.data_at] + b''.join(plain)
        self.end = len(self.data)

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
        if feature in self.bodies:
            return self.bodies[feature]
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
        """(type, misc, offset, size) of all complete records."""
        p, data, end = self.data_at, self.data, self.end
        while p + 8 <= end:
            kind, misc, size = RECORD_HEAD(data, p)
            if size < 8:
                raise Broken('record of %d bytes at %#x' % (size, p))
            if p + size > end:
                if self.finished:
                    raise Broken('record at %#x runs over the end of the data' % p)
                return
            yield kind, misc, p, size
            p += size

    def samples(self):
        """[(attr, pid, tid, time, raw)] of all samples."""
        if self.kept is None:
            self.kept = list(self.each_sample())
        return self.kept

    def each_sample(self):
        for kind, misc, p, size in self.records():
            if kind != SAMPLE:
                continue
            ident, ip, pid, tid, time = SAMPLE_HEAD(self.data, p + 8)
            attr = self.by_id.get(ident)
            if not attr:
                raise Broken('sample of unknown id %d at %#x' % (ident, p))
            t, at = attr['sample_type'], p + 40
            at += 8 * bool(t & CPU_BIT) + 8 * bool(t & PERIOD)
            if t & CALLCHAIN:
                at += 8 + 8 * struct.unpack_from('<Q', self.data, at)[0]
            raw = b''
            if t & RAW:
                (length,) = U32(self.data, at)
                raw = self.data[at + 4:at + 4 + length]
                at += 4 + length
            if at != p + size:
                raise Broken('sample at %#x: %d bytes are left over' % (p, p + size - at))
            yield attr, pid, tid, time, raw

    def check(self):
        """Reads everything; returns the number of samples.

        Samples of tracepoints must have their event's number.
        """
        formats = self.formats() if any(a['type'] == 2 for a in self.attrs) else {}
        n = 0
        for attr, pid, tid, time, raw in self.samples():
            n += 1
            if attr['type'] == 2:
                (number,) = U16(raw)
                if number != attr['config'] or number not in formats:
                    raise Broken('tracepoint sample of event %d, expected %d' %
                                 (number, attr['config']))
        return n
