#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings written as text: built in both byte orders, read by the library, and compared.

    fixtures.py DETAILS FOLDER [--update] [-k WORD] [--write OUT]

A fixture is a file NAME.fix in FOLDER; tests/data/perfdata/README.md describes the language.
DETAILS is the program that prints a recording. --update replaces the expected text by the output
(look at the difference!), --write leaves the recordings in OUT.
"""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

RECORDS = {name: n for n, name in enumerate(
    'MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START LOST_SAMPLES '
    'SWITCH SWITCH_CPU_WIDE '
    'NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE AUX_OUTPUT_HW_ID CALLCHAIN_DEFERRED'.split(), 1)}
RECORDS.update({name: n for n, name in enumerate(
    'HEADER_ATTR HEADER_EVENT_TYPE HEADER_TRACING_DATA HEADER_BUILD_ID FINISHED_ROUND ID_INDEX '
    'AUXTRACE_INFO AUXTRACE '
    'AUXTRACE_ERROR THREAD_MAP CPU_MAP STAT_CONFIG STAT STAT_ROUND EVENT_UPDATE TIME_CONV '
    'HEADER_FEATURE COMPRESSED '
    'FINISHED_INIT COMPRESSED2 BPF_METADATA SCHEDSTAT_CPU SCHEDSTAT_DOMAIN'.split(), 64)})
MISC = {'kernel': 1, 'user': 2, 'hv': 3, 'guest_kernel': 4, 'guest_user': 5, 'exec': 0x2000,
        'data': 0x2000, 'out': 0x2000, 'build_id': 0x4000, 'exact': 0x4000, 'id_size': 0x8000}
FEATURES = {name: n for n, name in enumerate(
    'TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM CMDLINE '
    'EVENT_DESC CPU_TOPOLOGY '
    'NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME '
    'MEM_TOPOLOGY CLOCKID DIR_FORMAT '
    'BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS'.split(), 1)}
SAMPLE = {name: 1 << n for n, name in enumerate(
    'IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER '
    'STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP '
    'DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT'.split())}
FORMAT = {'ENABLED': 1, 'RUNNING': 2, 'ID': 4, 'GROUP': 8, 'LOST': 16}
TYPES = {name: n for n, name in enumerate(
    'hardware software tracepoint hw_cache raw breakpoint'.split())}
BRANCH = {'HW_INDEX': 1 << 17, 'COUNTERS': 1 << 19}

# Members of perf_event_attr: offset, width.
ATTR = {'type': (0, 4), 'size': (4, 4), 'config': (8, 8), 'sample_period': (16, 8),
        'sample_type': (24, 8), 'read_format': (32, 8),
        'wakeup': (48, 4), 'bp_type': (52, 4), 'config1': (56, 8), 'config2': (64, 8),
        'branch_sample_type': (72, 8), 'sample_regs_user': (80, 8), 'sample_stack_user': (88, 4),
        'clockid': (92, 4), 'sample_regs_intr': (96, 8), 'aux_watermark': (104, 4),
        'sample_max_stack': (108, 2), 'aux_sample_size': (112, 4), 'sig_data': (120, 8),
        'config3': (128, 8), 'config4': (136, 8)}
FLAGS = {name: n for n, name in enumerate(
    'disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap '
    'comm freq inherit_stat '
    'enable_on_exec task watermark precise_ip - mmap_data sample_id_all exclude_host '
    'exclude_guest exclude_callchain_kernel '
    'exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces '
    'ksymbol bpf_event aux_output '
    'cgroup text_poke build_id inherit_thread remove_on_exec sigtrap'.split())}
WORDS = {'type': TYPES, 'sample_type': SAMPLE, 'read_format': FORMAT, 'branch_sample_type': BRANCH}

TOKEN = re.compile(r'''\s+ | \#[^\n]* |
    \[(?P<values>[^\]:]+):(?P<width>u8|u16|u32|u64)\] | "(?P<text>(?:[^"\\]|\\.)*)" | (?P<label>\w+): |
    (?P<pad>pad\d+) | (?P<word>[\w/|]+) | (?P<open>\{) | (?P<close>\}) | \*\s*(?P<times>\w+)''', re.X | re.S)


class Bad(Exception):
    pass


def number(text, names=None):
    try:
        # Fixtures are trusted files.
        return int(eval(text, {'__builtins__': {}}, {} if names is None else names))
    except Exception as e:
        raise Bad('%s: %s' % (text, e))


def words_of(text, table):
    """IP|TID|0x100"""
    value = 0
    for word in text.split('|'):
        value |= table[word] if word in table else number(word)
    return value


class Bytes:
    """Converts the byte language to bytes, for an offset in the file and a byte order."""

    def __init__(self, order, labels):
        self.order, self.labels, self.seen = order, labels, {}

    def int(self, value, width):
        return (value & (1 << 8 * width) - 1).to_bytes(width, self.order)

    def str(self, text):
        """A string of a feature: the padded length, then the padded text."""
        n = (len(text) + 1 + 63) & ~63
        return self.int(n, 4) + text.ljust(n, b'\0')

    def build(self, text, base=0):
        out, pos, stack, last = bytearray(), 0, [], 0
        word = None
        while pos < len(text):
            m = TOKEN.match(text, pos)
            if not m:
                raise Bad('what is "%s"?' % text[pos:pos + 30].splitlines()[0])
            pos = m.end()
            if m['values']:
                last = len(out)
                for value in m['values'].split(','):
                    out += self.int(number(value, self.labels), int(m['width'][1:]) // 8)
            elif m['text'] is not None:
                data = m['text'].encode().decode('unicode_escape').encode('latin-1')
                last = len(out)
                out += self.str(data) if word == 'str' else data
                word = None
            elif m['label']:
                self.seen[m['label']] = base + len(out)
            elif m['pad']:
                n = int(m['pad'][3:])
                start = stack[-1][1] if stack else 0
                out += b'\0' * (-(len(out) - start) % n)
            elif m['word']:
                word = m['word']
            elif m['open']:
                out, stack, word = self.open(out, stack, word)
            elif m['close']:
                last = stack[-1][1]
                out = self.close(out, stack)
            elif m['times']:
                piece = bytes(out[last:])
                out = out[:last] + piece * number(m['times'], self.labels)
        if stack or word:
            raise Bad('"%s" is not ended' % (word or stack[-1][0]))
        return bytes(out)

    def open(self, out, stack, word):
        stack.append((word, len(out)))
        head = {'raw': 4, 'u32len': 4, 'u64len': 8, None: 0}.get(word, 8)
        return out + b'\0' * head, stack, None

    def close(self, out, stack):
        word, start = stack.pop()
        size = len(out) - start
        if word is None:
            pass
        elif word == 'raw':  # 4 + size is a multiple of 8
            out += b'\0' * (-size % 8)
            out[start:start + 4] = self.int(len(out) - start - 4, 4)
        elif word == 'u32len':
            out[start:start + 4] = self.int(size - 4, 4)
        elif word == 'u64len':
            out[start:start + 8] = self.int(size - 8, 8)
        else:  # a record: TYPE/misc|misc
            kind, _, misc = word.partition('/')
            if kind not in RECORDS and not kind.isdigit():
                raise Bad('"%s" is no record' % kind)
            n = RECORDS.get(kind) or int(kind)
            out[start:start + 8] = self.int(n, 4) + self.int(words_of(misc, MISC) if misc else 0,
                                                             2) + self.int(size, 2)
        return out


def build_attr(b, options):
    """(bytes of the attr, ids)"""
    attr, ids, size, entry = {}, [], 128, None
    flags = 0
    raw = bytearray(4096)
    for option in options:
        name, _, value = option.partition('=')
        if name == 'ids':
            ids = [number(v) for v in value.split(',') if v]
        elif name == 'entry':
            entry = number(value)
        elif name in FLAGS:
            flags |= number(value or '1') << FLAGS[name]
        elif name in ATTR:
            attr[name] = words_of(value, WORDS.get(name, {}))
        else:
            raise Bad('attr has no "%s"' % name)
    attr.setdefault('size', size)
    attr.setdefault('sample_period', 1)
    for name, value in attr.items():
        off, width = ATTR[name]
        raw[off:off + width] = b.int(value, width)
    for bit in range(64):
        if flags >> bit & 1:
            # precise_ip has two bits.
            at = bit if b.order == 'little' else {15: 16, 16: 15}.get(bit, bit)
            raw[40 + at // 8] |= 1 << at % 8 if b.order == 'little' else 0x80 >> at % 8
    return bytes(raw[:entry or attr['size'] or 64]), ids


class Case:
    def __init__(self, name):
        self.name, self.attrs, self.features, self.layout = name, [], [], {}
        self.data = self.file = None
        self.expects = []  # (line of the file where the text begins, options, lines)

    def build(self, order):
        """(the recording, {label: offset of a part})"""
        labels = {}
        # Sizes do not depend on values, so that labels are right the second time.
        for _ in range(2):
            b = Bytes(order, labels if labels else Unknown())
            data = self.one(b)
            labels = b.seen
            labels['end'] = len(data)
        return data, labels

    def one(self, b):
        if self.file is not None:
            return b.build(self.file)
        header = number(self.layout.get('header', '104'))
        out = bytearray(header)
        b.seen['index'] = len(out)
        out += b.build(self.layout.get('index', ''), len(out))
        built = [build_attr(b, options) for options in self.attrs]
        entry = max([len(raw) for raw, _ in built], default=128)
        parts = ['ids', 'attrs', 'data', 'table']
        if self.layout.get('attrs') == 'after':
            parts = ['data', 'table', 'ids', 'attrs']
        sections, table = {}, []
        for part in parts:
            b.seen[part] = start = len(out)
            if part == 'ids':
                sections['each'] = []
                for _, ids in built:
                    sections['each'].append((len(out), 8 * len(ids)))
                    out += b''.join(b.int(i, 8) for i in ids)
            elif part == 'attrs':
                ids_at = len(out)
                for (raw, ids), where in zip(built, sections['each']):
                    out += raw.ljust(entry, b'\0') + b.int(where[0], 8) + b.int(where[1], 8)
            elif part == 'data':
                out += b.build(self.data or '', len(out))
            else:
                out += b'\0' * (16 * len(self.features) + number(self.layout.get('gap', '0')))
                for number_, text in self.features:
                    b.seen['feature%d' % number_] = at = len(out)
                    body = b.build(text, at)
                    table.append((number_, at, len(body)))
                    out += body
                for i, (_, at, size) in enumerate(sorted(table)):
                    out[start + 16 * i:start + 16 * i + 16] = b.int(at, 8) + b.int(size, 8)
            sections[part] = (start, len(out) - start)
            if part == 'ids' and parts[-1] == 'attrs':
                pass
        bits = sum(1 << n for n, _, _ in table) | number(self.layout.get('bits', '0'))
        data_size = (sections['data'][1] if 'data_size' not in self.layout
                     else number(self.layout['data_size'], b.labels))
        magic = self.layout.get('magic', 'PERFILE2').encode()
        attr_size = number(self.layout.get('attr_size', str(entry + 16)))
        head = magic if magic == b'PERFFILE' or b.order == 'little' else magic[::-1]
        words = [header, attr_size, *sections['attrs'], sections['data'][0], data_size, 0, 0]
        # The bits of features are stored as u32 on a 32-bit machine.
        if self.layout.get('long') == '4' and b.order == 'big':
            feature_bytes = b''.join(b.int(bits >> 32 * i & 0xffffffff, 4) for i in range(8))
        else:
            feature_bytes = b''.join(b.int(bits >> 64 * i & (1 << 64) - 1, 8) for i in range(4))
        out[:header] = (head + b''.join(b.int(w, 8) for w in words) +
                        feature_bytes)[:header].ljust(header, b"\xee")
        return bytes(out)


class Unknown(dict):
    """Labels before their offsets are known: all are 0."""

    def __missing__(self, key):
        return 0


def parse(path):
    cases, section, body = [], None, []

    def end():
        nonlocal section, body
        if section is None:
            return
        kind, options, line = section
        text = '\n'.join(body)
        case = cases[-1]
        if kind == 'attr':
            case.attrs.append(options + text.split())
        elif kind == 'feature':
            case.features.append((FEATURES.get(options[0]) or number(options[0]), text))
        elif kind in ('data', 'file'):
            setattr(case, kind, text)
        elif kind == 'layout':
            case.layout.update(o.split('=', 1) for o in options)
        elif kind == 'index':
            case.layout['index'] = text
        elif kind == 'expect':
            case.expects.append((line, options, [l for l in body]))
        else:
            raise Bad('%s:%d: "%s"' % (path.name, line, kind))
        section, body = None, []

    for n, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith('=== '):
            end()
            cases.append(Case(line[4:].strip()))
        elif line.startswith('--- '):
            end()
            if not cases:
                cases.append(Case(''))
            words = line[4:].split()
            section = (words[0], words[1:], n)
        elif section:
            body.append(line)
        elif line and not line.startswith('#'):
            raise Bad('%s:%d: text outside a section' % (path.name, n))
    end()
    return cases


def details(program, data, options, folder, write=None):
    """The lines that the program prints for these bytes."""
    (folder / 'x.data').write_bytes(data)
    if write:
        write.write_bytes(data)
    env = dict(os.environ, LC_ALL='C', TMPDIR=str(folder), HOME='/nonexistent')
    p = subprocess.run([program, 'x.data'] + options, cwd=folder, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=600, env=env)
    text = p.stdout.decode('utf-8', 'backslashreplace')
    if p.returncode:
        text += 'exit status %d\n%s' % (p.returncode, p.stderr.decode('utf-8', 'replace'))
    return text.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('details')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--write', type=pathlib.Path)
    parser.add_argument('-k', default='')
    args = parser.parse_args()
    program = os.path.abspath(args.details)
    count = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path in sorted(args.folder.glob('*.fix')):
            if args.k not in path.name:
                continue
            updates = []
            for case in parse(path):
                for k, (line, options, expected) in enumerate(case.expects):
                    orders = [o for o in ('little', 'big') if o in options] or ['little', 'big']
                    keys = [o for o in options if '=' in o and not o.startswith(('cut=', 'xor='))]
                    for order in orders:
                        data, labels = case.build(order)
                        for option in options:
                            if option.startswith('cut='):
                                data = data[:number(option[4:], labels)]
                            elif option.startswith('xor='):  # OFFSET,BYTE: damage
                                at, by = option[4:].split(',')
                                at = number(at, labels)
                                data = data[:at] + bytes([data[at] ^ number(by)]) + data[at + 1:]
                        name = '-'.join(filter(None, [path.stem,
                                                      case.name.replace(' ', '-').replace('/', '-'),
                                                      str(k), order]))
                        got = details(program, data, keys, folder,
                                      args.write and args.write / (name + '.data'))
                        if args.update and order == orders[0]:
                            expected = got
                            updates.append((line, got))
                        while expected and not expected[-1]:
                            expected = expected[:-1]
                        count += 1
                        ok = got == expected
                        without = 'libdw is not available'
                        if not ok and any(without in text for text in got):
                            print('ok %d - %s # SKIP %s' % (count, name, without))
                            continue
                        failures += not ok
                        print('%sok %d - %s' % ('' if ok else 'not ', count, name))
                        if not ok:
                            for text in expected:
                                print('# - ' + text if text not in got else '#   ' + text)
                            for text in got:
                                if text not in expected:
                                    print('# + ' + text)
            if args.update:
                rewrite(path, updates)
    print('1..%d' % count)
    return failures != 0


def rewrite(path, updates):
    lines = path.read_text().splitlines()
    for line, got in reversed(updates):
        end = line
        while end < len(lines) and not lines[end].startswith(('--- ', '=== ')):
            end += 1
        lines[line:end] = got + ([''] if end < len(lines) and lines[end].startswith('=== ') else [])
    path.write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    sys.exit(main())
