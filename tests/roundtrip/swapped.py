#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts recordings to the other byte order: sonde must read the same from both.

    swapped.py SONDE

The recordings of tests/data and of the corpus are converted: headers, attrs, header sections, every
record of kernel and recorder, and the fields of tracepoints as their formats describe them. Copied
stacks are memory of the machine and are not converted; what is unwound from them is not compared.
"""
import json
import pathlib
import re
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, stored_and_corpus  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
# Sizes of the members of an attr; 0 is the word of flags at offset 40.
ATTR = [4, 4, 8, 8, 8, 8, 0, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8, 8]
IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCHES = (
    1 << i for i in range(12))
(REGS_USER, STACK, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS, AUX, CGROUP,
 DATA_PAGE, CODE_PAGE, WEIGHTS) = (1 << i for i in range(12, 25))
# Layouts of the kernel's records: Q 8 bytes, I 4, H 2; s: the rest is bytes, which are not swapped.
KERNEL = {1: 'IIQQQs', 2: 'QQ', 3: 'IIs', 4: 'IIIIQ', 5: 'QQQ', 6: 'QQQ', 7: 'IIIIQ', 8: 'IIQ',
          10: 'IIQQQIIQQIIs', 11: 'QQQ', 12: 'II', 13: 'Q', 14: '', 15: 'II', 16: 'IIQ*Q',
          17: 'QIHHs', 18: 'HHIs', 19: 'Qs', 20: 'QHHs', 21: 'Q'}
MMAP2_BUILD_ID = 'IIQQQbbbbbbbbbbbbbbbbbbbbbbbbIIs'
TOOL = {65: 'Qs', 67: 'Is', 68: '', 69: '*Q', 70: 'II*Q', 71: 'QQQIIII', 75: '*Q', 76: 'QIIQQQ',
        77: 'QQ', 79: '*Q', 82: ''}
STRINGS = {3, 4, 5, 6, 8, 9}
# besides strings and those of Swapper.section
FEATURES = {7: 'II', 10: 'Q', 21: 'QQ', 23: 'Q', 29: 'IIQQ', 15: ''}


class Cannot(Exception):
    pass


class Swapper:
    def __init__(self, blob):
        self.b, self.attrs, self.by_id, self.formats = bytearray(blob), [], {}, {}
        self.pipe = struct.unpack_from('<Q', blob, 8)[0] == 16
        if blob[:8] != b'PERFILE2':
            raise Cannot('another byte order, or version 1')

    def u(self, n, at):
        return int.from_bytes(self.b[at:at + n], 'little')

    def turn(self, n, at):
        """Swaps n bytes and returns the number that they held."""
        value = self.u(n, at)
        self.b[at:at + n] = self.b[at:at + n][::-1]
        return value

    def turn_all(self, layout, at, end):
        for i, c in enumerate(layout):
            if c == 's':
                return end
            if c == '*':
                n = 'HIQ'.index(layout[i + 1])
                while at + (2, 4, 8)[n] <= end:
                    self.turn((2, 4, 8)[n], at)
                    at += (2, 4, 8)[n]
                return at
            size = {'Q': 8, 'I': 4, 'H': 2, 'b': 1}[c]
            if at + size > end:
                return at
            self.turn(size, at)
            at += size
        return at

    def string(self, at):
        return at + 4 + self.turn(4, at)

    # ---- attrs

    def turn_attr(self, at, room):
        size = min(self.u(4, at + 4) or 64, room)
        off, values = 0, {}
        for width in ATTR:
            if off + (width or 8) > size:
                break
            if width:
                values[off] = self.turn(width, at + off)
            else:
                bits = self.u(8, at + off)
                values[off] = bits
                out = 0
                for bit in range(64):
                    to = {15: 16, 16: 15}.get(bit, bit)  # precise_ip has two bits
                    if bits >> bit & 1:
                        out |= 1 << to // 8 * 8 + 7 - to % 8
                self.b[at + off:at + off + 8] = out.to_bytes(8, 'little')
            off += width or 8
        return values

    def add_attr(self, at, room, ids):
        v = self.turn_attr(at, room)
        self.attrs.append({'type': v[0], 'config': v[8], 'sample': v[24], 'read': v[32],
                           'all': v.get(40, 0) >> 18 & 1, 'branch': v.get(72, 0),
                           'user': v.get(80, 0), 'intr': v.get(96, 0)})
        for i in ids:
            self.by_id[i] = self.attrs[-1]

    # ---- records

    def attr_of(self, at, size, is_sample):
        if len(self.attrs) < 2:
            return self.attrs[0] if self.attrs else None
        for a in self.attrs:
            s, off = a['sample'], None
            if is_sample:
                if s & IDENTIFIER:
                    off = 8
                elif s & ID:
                    off = 8 + 8 * sum(bool(s & bit) for bit in (IP, TID, TIME, ADDR))
            elif a['all']:
                if s & IDENTIFIER:
                    off = size - 8
                elif s & ID:
                    off = size - 8 * sum(bool(s & bit) for bit in (ID, STREAM, CPU))
            if off is not None and off + 8 <= size and self.by_id.get(self.u(8, at + off)) is a:
                return a
        return (self.attrs[0] if not is_sample or
                not any(a['sample'] & (ID | IDENTIFIER) for a in self.attrs) else None)

    def trailer(self, a, at, end):
        """Swaps the sample id at the end of a record; returns where the members before it end."""
        if not a or not a['all']:
            return end
        s = a['sample']
        begin = end - 8 * sum(bool(s & bit) for bit in (TID, TIME, ID, STREAM, CPU, IDENTIFIER))
        if begin < at + 8:
            return end
        where = begin
        for bit, layout in ((TID, 'II'), (TIME, 'Q'), (ID, 'Q'), (STREAM, 'Q'), (CPU, 'II'),
                            (IDENTIFIER, 'Q')):
            if s & bit:
                where = self.turn_all(layout, where, end)
        return begin

    def sample(self, a, at, end):
        s, p = a['sample'], at + 8

        def q(n=1):
            nonlocal p
            for _ in range(n):
                value = self.turn(8, p)
                p += 8
            return value if n else 0
        for bit, layout in ((IDENTIFIER, 'Q'), (IP, 'Q'), (TID, 'II'), (TIME, 'Q'), (ADDR, 'Q'),
                            (ID, 'Q'), (STREAM, 'Q'), (CPU, 'II'), (PERIOD, 'Q')):
            if s & bit:
                p = self.turn_all(layout, p, end)
        if s & READ:
            times, member = (bool(a['read'] & 1) + bool(a['read'] & 2), 1 + bool(a['read'] & 4) +
                             bool(a['read'] & 16))
            if a['read'] & 8:
                n = q()
                q(times + n * member)
            else:
                q(times + member)
        if s & CHAIN:
            q(q())
        if s & RAW:
            n = self.turn(4, p)
            self.payload(a, p + 4, n)
            p += 4 + n
        if s & BRANCHES:
            n = q()
            if a['branch'] & 1 << 17:
                q()
            for _ in range(n):
                q(2)
                self.branch(p)
                p += 8
        if s & REGS_USER and q():
            q(bin(a['user']).count('1'))
        if s & STACK:
            n = q()
            p += n
            if n:
                q()
        for bit in (WEIGHT | WEIGHTS, DATA_SRC, TRANSACTION):
            if s & bit:
                q()
        if s & REGS_INTR and q():
            q(bin(a['intr']).count('1'))
        for bit in (PHYS, CGROUP, DATA_PAGE, CODE_PAGE):
            if s & bit:
                q()
        if p > end:
            raise Cannot('a sample is larger than its record')

    def branch(self, at):
        value, out, low, high = self.u(8, at), 0, 0, 64
        for width in (1, 1, 1, 1, 16, 4, 2, 4, 3, 31):
            high -= width
            out |= (value >> low & (1 << width) - 1) << high
            low += width
        self.b[at:at + 8] = out.to_bytes(8, 'big')

    def payload(self, a, at, n):
        if a['type'] != 2:
            return
        for off, size, each in self.formats.get(a['config'], []):
            for i in range(off, off + size, each):
                if each > 1 and i + each <= n:
                    self.turn(each, at + i)

    def record(self, at):
        """Swaps the record; returns the offset of the next one."""
        kind, misc, size = self.turn(4, at), self.turn(2, at + 4), self.turn(2, at + 6)
        end = at + size
        if size < 8 or end > len(self.b):
            raise Cannot('a record of %d bytes at 0x%x' % (size, at))
        if kind < 64:
            a = self.attr_of(at, size, kind == 9)
            if kind == 9:
                if not a:
                    raise Cannot('a sample of an unknown event')
                self.sample(a, at, end)
                return end
            if kind not in KERNEL:
                raise Cannot('a record of kind %d' % kind)
            end = self.trailer(a, at, end)
            layout = KERNEL[kind]
            if kind == 10 and misc & 0x4000:
                layout = MMAP2_BUILD_ID
            elif kind == 10 and self.b[at + 64] in b'[/':  # before Linux 3.16: no prot and flags
                layout = layout.replace('IIs', 's')
            self.turn_all(layout, at + 8, end)
            return at + size
        return self.tool_record(kind, at, end)

    def tool_record(self, kind, at, end):
        if kind == 64:
            n = self.u(4, at + 12) or 64
            ids = [self.u(8, p) for p in range(at + 8 + n, end - 7, 8)]
            self.turn_all('*Q', at + 8 + n, end)
            self.add_attr(at + 8, n, ids)
        elif kind == 66:
            n = self.turn(4, at + 8)
            self.tracing_data(end, n)
            end += (n + 7) & ~7
        elif kind == 73:
            for i in range(self.turn(8, at + 8)):
                self.turn(8, at + 16 + 24 * i)
        elif kind == 74:
            self.cpu_map(at + 8, end)
        elif kind == 78:
            what = self.turn(8, at + 8)
            self.turn(8, at + 16)
            if what == 1:
                self.turn(8, at + 24)
            elif what == 3:
                self.cpu_map(at + 24, end)
        elif kind == 80:
            self.section(self.turn(8, at + 8), at + 16, end)
        elif kind in TOOL:
            layout = TOOL[kind]
            if kind == 79 and end - at > 32:
                layout = 'QQQQQbb'
            if kind == 71:
                more = self.u(8, at + 8)
                self.turn_all(layout, at + 8, end)
                return end + more
            self.turn_all(layout, at + 8, end)
        else:
            raise Cannot('a record of kind %d' % kind)
        return end

    def cpu_map(self, at, end):
        kind = self.turn(2, at)
        if kind == 0:
            self.turn_all('*H', at + 2, end)
        elif kind == 1:
            self.turn(2, at + 2)
            wide = self.turn(2, at + 4) == 8
            self.turn_all('*Q' if wide else '*I', at + (8 if wide else 8), end)
        elif kind == 2:
            self.turn_all('bbHH', at + 2, end)

    # ---- header sections

    def section(self, number, at, end):
        if number >= 128:  # a section of simpleperf
            return self.simpleperf(number, at, end)
        if number in STRINGS:
            self.string(at)
        elif number in FEATURES:
            self.turn_all(FEATURES[number], at, end)
        elif number == 1:
            self.tracing_data(at, end - at)
        elif number == 2:
            while at + 36 <= end:
                size = self.u(2, at + 6)
                self.turn_all('IHHI', at, end)
                at += size
        elif number == 11:
            n, at = self.turn(4, at), at + 4
            for _ in range(n):
                at = self.string(at)
        elif number == 12:
            n, size, at = self.turn(4, at), self.turn(4, at + 4), at + 8
            for _ in range(n):
                self.turn_attr(at, size)
                ids = self.turn(4, at + size)
                at = self.string(at + size + 4)
                at = self.turn_all('Q' * ids, at, end)
        elif number == 13:  # cores, threads, then numbers of cpus
            for _ in range(2):
                n, at = self.turn(4, at), at + 4
                for _ in range(n):
                    at = self.string(at)
            self.turn_all('*I', at, end)
        elif number == 14:  # nodes with their memory and cpus
            n, at = self.turn(4, at), at + 4
            for _ in range(n):
                at = self.string(self.turn_all('IQQ', at, end))
        elif number == 16:
            n, at = self.turn(4, at), at + 4
            for _ in range(n):
                self.turn(4, at)
                at = self.string(at + 4)
        elif number == 28:  # names and values
            n, at = self.turn(4, at), at + 4
            for _ in range(2 * n):
                at = self.string(at)
        elif number == 17:
            n, at = self.turn(4, at), at + 4
            for _ in range(n):
                at = self.turn_all('II', self.string(at), end)
        else:
            return False
        return True

    def simpleperf(self, number, at, end):
        while number in (128, 132) and at < end:
            size, at = self.turn(4, at), at + 4
            p = self.b.index(0, at) + 1
            at += size
            if number == 132:  # protobuf has only one byte order
                continue
            kind, n = self.turn(4, p), 0
            self.turn(8, p + 4)
            n, p = self.turn(4, p + 12), p + 16
            for _ in range(n):
                self.turn_all('QI', p, at)
                p = self.b.index(0, p + 12) + 1
            if kind == 3:
                n, p = self.turn(4, p), p + 4
            self.turn_all('*Q', p, at)
        return number in (128, 129, 132)

    def tracing_data(self, at, size):
        end = at + size
        p = self.b.index(0, at + 10) + 1
        self.b[p] = 1  # big endian
        self.turn(4, p + 2)
        p += 6

        def sized(width=8):
            nonlocal p
            n = self.turn(width, p)
            p += width + n
            return bytes(self.b[p - n:p])
        for tag in b'header_page', b'header_event':
            if self.b[p:p + len(tag) + 1] != tag + b'\0':
                raise Cannot('no %s in the formats' % tag.decode())
            p += len(tag) + 1
            sized()
        for first in True, False:
            systems = 1
            if not first:
                systems = self.turn(4, p)
                p += 4
            for _ in range(systems):
                if not first:
                    p = self.b.index(0, p) + 1
                n = self.turn(4, p)
                p += 4
                for _ in range(n):
                    self.format(sized().decode('latin-1'))
        sized(4)
        sized(4)
        if p + 8 <= end:
            sized()

    def format(self, text):
        number = int(re.search(r'^ID:\s*(\d+)', text, re.M)[1])
        fields = []
        for m in re.finditer(r'^\tfield:(.*?);\s*offset:(\d+);\s*size:(\d+);', text, re.M):
            decl, off, size = m[1], int(m[2]), int(m[3])
            count = re.search(r'\[(\w*)\]$', decl)
            each = size
            if '__data_loc' in decl or '__rel_loc' in decl:
                each = 4
            elif count:
                base = decl[:decl.rindex(' ')]
                each = (8 if re.search(r'\b(long|[us]64|__u64|u64|size_t)\b', base) or '*' in base
                        else
                        1 if re.search(r'\b(char|u8|__u8|s8|bool)\b', base) else 2
                        if re.search(r'\b(short|u16|__u16)\b', base) else 4)
            if each and size and each in (1, 2, 4, 8):
                fields.append((off, size, each))
        self.formats[number] = fields

    # ---- the complete recording

    def build(self):
        if self.pipe:
            self.b[:8] = self.b[:8][::-1]
            self.turn(8, 8)
            at = 16
            while at < len(self.b):
                at = self.record(at)
            return bytes(self.b)
        words = [self.u(8, at) for at in range(8, 104, 8)]
        head, entry, attrs, attr_bytes, data, data_bytes = words[:6]
        if head != 104:
            raise Cannot('a header of %d bytes' % head)
        features = [i for i in range(256) if words[8 + i // 64] >> i % 64 & 1]
        self.b[:8] = self.b[:8][::-1]
        self.turn_all('*Q', 8, 104)
        for at in range(attrs, attrs + attr_bytes, entry):
            where, size = self.u(8, at + entry - 16), self.u(8, at + entry - 8)
            ids = [self.u(8, p) for p in range(where, where + size, 8)]
            self.turn_all('Q' * len(ids), where, where + size)
            self.add_attr(at, entry - 16, ids)
            self.turn_all('QQ', at + entry - 16, at + entry)
        table = data + data_bytes
        for i, number in enumerate(features):
            where, size = self.turn(8, table + 16 * i), self.turn(8, table + 16 * i + 8)
            if not self.section(number, where, where + size):
                self.b[table + 16 * i + 8:table + 16 * i + 16] = bytes(8)  # left out
        at = data
        while at < data + data_bytes:
            at = self.record(at)
        return bytes(self.b)


def normal(text, name):
    return '\n'.join(line for line in text.replace(name, 'x.data').splitlines()
                     if not re.match(
                         '# (captured on|data offset|data size|feat offset|missing '
                         'features|cpu(desc|id|topo|)|CPU|node|sibling|'
                                     'contains|time of|sample dur|memory|cache| |hybrid)', line))


def differences(little, big, has_stacks):
    why = ''
    sets = [['script', '-F', 'comm,pid,tid,cpu,time,event,trace,period,addr,weight', '--ns'],
            ['evlist', '-v'], ['evlist', '-F', '--trace-fields'],
            ['script', '--show-task-events', '--show-mmap-events', '--show-switch-events',
             '--show-lost-events', '--show-namespace-events', '--show-cgroup-events',
             '--show-bpf-events', '-F', 'comm,tid,time'], ['buildid-list']]
    if not has_stacks:
        sets += [['script', '-F', 'comm,tid,time,ip,brstack'], ['script', '--format', 'jsonl']]
    for words in sets:
        texts = []
        for path in little, big:
            status, out, err = run([SONDE, words[0], '-f', '-i', str(path)] + words[1:])
            text = normal(out.decode('latin-1'), str(path))
            texts.append((status, text.replace('"byte_order":"big"', '"byte_order":"little"')))
        if texts[0] != texts[1]:
            a, b = texts[0][1].splitlines(), texts[1][1].splitlines()
            where = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]),
                         min(len(a), len(b)))
            why += '%s: status %s and %s, %d and %d lines\n  %s\n  %s\n' % (
                ' '.join(words), texts[0][0], texts[1][0], len(a), len(b),
                (a[where:] or [''])[0][:300], (b[where:] or [''])[0][:300])
    infos = []
    for path in little, big:
        found = json.loads(run([SONDE, 'info', '-f', '--format', 'json', str(path)])[1])
        infos.append({key: found[key] for key in ('events', 'cpus', 'lost', 'records', 'span',
                                                  'clock', 'trace')})
    if infos[0] != infos[1]:
        why += 'info: %s\n  %s\n' % (infos[0], infos[1])
    return why


def main():
    paths = stored_and_corpus()
    if not CORPUS:
        skip('recordings of other machines', NO_CORPUS)
    compared, left = 0, ''
    with tempfile.TemporaryDirectory() as folder:
        big = pathlib.Path(folder) / 'big.data'
        for path in paths:
            try:
                swapper = Swapper(path.read_bytes())
                big.write_bytes(swapper.build())
            except (Cannot, ValueError, IndexError, struct.error) as e:
                left += '%s: %s\n' % (path.name, e)
                continue
            compared += 1
            why = differences(path, big, any(a['sample'] & STACK for a in swapper.attrs))
            say(not why, path.stem, why)
    say(compared > (60 if CORPUS else 10), '%d recordings in the other byte order' % compared,
        'not converted:\n' + left)
    return done()


if __name__ == '__main__':
    sys.exit(main())
