# SPDX-License-Identifier: MIT
"""Makes perf.data files that perf reads, from texts of formats and payloads."""
import re
import struct

FIELD = re.compile(r'^\s*field:(.*?);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d+);)?', re.M)
# IDENTIFIER IP TID TIME CPU PERIOD RAW.
SAMPLE_TYPE = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 10
SAMPLE_ID_ALL = 1 << 18


class Format:
    """A format file: its text, and the properties that payloads depend on."""

    def __init__(self, name, text, big=False, long_bytes=8):
        self.name, self.text, self.big, self.long_bytes = name, text, big, long_bytes
        system, _, event = name.partition(':')
        self.system, self.event = system, event
        self.fields = []
        for decl, offset, size, signed in FIELD.findall(text):
            field = re.sub(r'\[[^]]*\]\s*$', '', decl).split()[-1].lstrip('*')
            self.fields.append((field, decl, int(offset), int(size), signed == '1'))
        self.print_fmt = text[text.find('print fmt:'):]


def _name(s):
    """A string of a header: length, then the text padded to 64."""
    b = s.encode() + b'\0'
    return len(b) + -len(b) % 64, b.ljust(len(b) + -len(b) % 64, b'\0')


class Writer:
    def __init__(self, big, long_bytes, sample_type=SAMPLE_TYPE):
        self.e, self.big, self.long_bytes, self.sample_type = ('>' if big else '<', big, long_bytes,
                                                               sample_type)

    def pack(self, fmt, *v):
        return struct.pack(self.e + fmt, *v)

    def string(self, s):
        n, b = _name(s)
        return self.pack('I', n) + b

    def attr(self, config):
        flags = SAMPLE_ID_ALL
        if self.big:  # bit fields are allocated from the other end of each byte
            flags = int.from_bytes(bytes(int('{:08b}'.format(b)[::-1], 2)
                                         for b in flags.to_bytes(8, 'little')), 'big')
        return self.pack('IIQQQQQ', 2, 128, config, 1, self.sample_type, 0, flags).ljust(128, b'\0')

    def tracing_data(self, formats):
        lb = self.long_bytes
        page = ('\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
                '\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n'
                '\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
                '\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n' %
                (lb, 8 + lb, 4096 - 8 - lb)).encode()
        event = (b'# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 '
                 b'bits\n\tarray       :   32 bits\n')
        out = b'\x17\x08\x44tracing0.6\0' + bytes([self.big, lb]) + self.pack('I', 4096)
        out += b'header_page\0' + self.pack('Q', len(page)) + page
        out += b'header_event\0' + self.pack('Q', len(event)) + event
        out += self.pack('I', 0)
        systems = {}
        for i, f in enumerate(formats):
            systems.setdefault(f.system, []).append(re.sub(r'^ID: \d+', 'ID: %d' % (i + 1), f.text,
                                                           1, re.M).encode())
        out += self.pack('I', len(systems))
        for system, texts in systems.items():
            out += system.encode() + b'\0' + self.pack('I', len(texts))
            out += b''.join(self.pack('Q', len(t)) + t for t in texts)
        out += self.pack('II', 0, 0) + self.pack('Q', 0)
        return out.ljust(len(out) + -len(out) % 8, b'\0')


def recording(formats, payloads, records=b'', sample_type=SAMPLE_TYPE, names=None):
    """One perf.data of these formats (of one byte order and size of long); payloads[i] are the
    samples of formats[i].

    records: complete records before the samples; sample_type is for those, without payloads. Events
    are called @0, @1, ... unless there are names; a sample's time is its number, in microseconds.
    """
    w = Writer(formats[0].big, formats[0].long_bytes, sample_type)
    n = len(formats)
    ids = 104
    attrs = ids + 8 * n
    table = b''.join(w.attr(i + 1) + w.pack('QQ', ids + 8 * i, 8) for i in range(n))
    data = b''
    chunks, when = [], 1
    for i, samples in enumerate(payloads):
        for p in samples:
            p = w.pack('H', i + 1) + p[2:]  # common_type: perf finds the format by it
            raw = w.pack('I', len(p)) + p
            body = w.pack('QQIIQIIQ', i + 1, 0x401000, 100, 101, when * 1000, 0, 0, 1) + raw
            when += 1
            chunks.append(w.pack('IHH', 9, 2, 8 + len(body)) + body)
    data = records + b''.join(chunks)
    data_at = attrs + len(table)
    desc = w.pack('II', n, 128) + b''.join(
        w.attr(i + 1) + w.pack('I', 1) + w.string(names[i] if names else '@%d' % i) +
        w.pack('Q', i + 1) for i in range(n))
    features = {1: w.tracing_data(formats), 3: w.string('host'), 4: w.string('6.0'),
                5: w.string('0'), 6: w.string('x86_64' if not w.big else 'ppc64'), 12: desc}
    at = data_at + len(data) + 16 * len(features)
    places, bodies = b'', b''
    for bit in sorted(features):
        places += w.pack('QQ', at + len(bodies), len(features[bit]))
        bodies += features[bit].ljust(len(features[bit]) + -len(features[bit]) % 8, b'\0')
    header = w.pack('QQQQQQQQQ', 0x32454c4946524550, 104, 144, attrs, len(table), data_at,
                    len(data), 0, 0)
    header += w.pack('QQQQ', sum(1 << bit for bit in features), 0, 0, 0)
    return header + b''.join(w.pack('Q', i + 1) for i in range(n)) + table + data + places + bodies
