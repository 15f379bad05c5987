# SPDX-License-Identifier: MIT
"""Recordings with branch stacks, which few machines can record: made of a program's own addresses.

    make(name, path, workload)      name: one of NAMES

The numbers are random but always the same for the same program. Functions, lines and instructions
are those of the workload, so that perf resolves them.
"""
import random
import struct

import points

IP, TID, TIME, CALLCHAIN, PERIOD, BRANCHES = 1, 2, 4, 32, 256, 2048
ANY, CALL_STACK, USER, TYPES, INDEX = 1 << 3, 1 << 11, 1, 1 << 16, 1 << 17
MMAP2, COMM, SAMPLE, USER_MODE = 10, 3, 9, 2
FEAT_BRANCH_STACK, FEAT_PMU_CAPS = 15, 28
CONTEXT_USER = (1 << 64) - 512
BASE, TID_OF_ALL = 0x555555000000, 4242
PROGRAM = ('leaf', 'by_leaf', 'recurse', 'compare', 'spin', 'main')
LBR = 8  # entries of a branch stack


def words(*numbers):
    return struct.pack('<%dQ' % len(numbers), *(n % (1 << 64) for n in numbers))


def text(name):
    name = name.encode() + b'\0'
    return name + bytes(-len(name) % 8)


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


class Program:
    """Functions of an ELF file: name -> (address in memory, size)."""

    def __init__(self, path):
        self.path, self.functions = str(path), {}
        for line in points.run(['nm', '-S', self.path])[1].decode().splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[3] in PROGRAM:
                self.functions[parts[3]] = BASE + int(parts[0], 16), int(parts[1], 16)
        for line in points.run(['readelf', '-lW', self.path])[1].decode().splitlines():
            parts = line.split()
            if parts[:1] == ['LOAD'] and 'E' in parts[6:8]:
                self.offset, self.address, self.size = (int(parts[i], 16) for i in (1, 2, 4))

    def mapping(self):
        start = BASE + self.address
        body = struct.pack('<iiQQQIIQQII', TID_OF_ALL, TID_OF_ALL, start, (self.size + 4095) & -4096,
                           self.offset, 8, 1, 1, 0, 5, 2)
        return record(MMAP2, USER_MODE, body + text(self.path))


def attr(sample_type, branch_type):
    return struct.pack('<IIQQQQQIIQQQQIiQIIQI', 0, 128, 0, 1000, sample_type, 0, 3 << 8, 0,
                       0, 0, 0, branch_type, 0, 0, 0, 0, 0, 0, 0, 0) + bytes(128 - 124)


def write(path, sample_type, branch_type, records, features):
    """A perf.data with one event. features: {bit: body}"""
    one = attr(sample_type, branch_type)
    data = b''.join(records)
    attrs_at = 104
    data_at = attrs_at + len(one) + 16
    bits = [sum(1 << bit for bit in features) if not i else 0 for i in range(4)]
    head = b'PERFILE2' + words(104, len(one) + 16, attrs_at, len(one) + 16, data_at, len(data), 0, 0,
                               *bits)
    table_at = data_at + len(data)
    body_at = table_at + 16 * len(features)
    table = bodies = b''
    for bit in sorted(features):
        table += words(body_at + len(bodies), len(features[bit]))
        bodies += features[bit]
    path.write_bytes(head + one + words(0, 0) + data + table + bodies)


def feature_text(t):
    padded = t.encode() + b'\0' * (64 - len(t))
    return struct.pack('<I', len(padded)) + padded


def stack(branches, index=None):
    flat = [word for entry in branches for word in entry]
    return words(len(branches), *([] if index is None else [index]), *flat)


def sample(number, ip, chain, branch_stack):
    return record(SAMPLE, USER_MODE, words(ip) + struct.pack('<ii', TID_OF_ALL, TID_OF_ALL) +
                  words(1000000 + 1000 * number, 1000 + number % 3, len(chain), *chain) +
                  branch_stack)


def history(path, program):
    """All branches, with cycles, predictions, types, aborts, and loops of equal ones."""
    r = random.Random(6)
    names = [n for n in PROGRAM if n in program.functions]
    places = {n: [program.functions[n][0] + program.functions[n][1] * i // 7 for i in range(7)]
              for n in names}

    def place():
        return r.choice(places[r.choice(names)])

    paths = []
    for i in range(12):
        branches = [(place(), place()) for _ in range(r.randrange(1, LBR + 1))]
        if i % 3 == 0:
            loop = [(place(), place()) for _ in range(r.randrange(1, 3))]
            branches = branches[:2] + loop * 3 + branches[2:]
        chain = [CONTEXT_USER] + [place() for _ in range(r.randrange(1, 5))]
        if i % 4 == 0:  # the chain repeats the place of a call
            chain.insert(1, branches[0][0] + 4)
        paths.append((branches, chain))
    records = [record(COMM, 0, struct.pack('<ii', TID_OF_ALL, TID_OF_ALL) + text('workload')),
               program.mapping()]
    for number in range(300):
        branches, chain = r.choice(paths)
        entries = []
        for source, target in branches:
            wrong = r.random() < 0.2
            flags = (1 if wrong else 2) | (r.random() < 0.05) << 3
            flags |= r.choice((0, 1, 7, 20, 300)) << 4 | r.choice((0, 1, 2, 3, 4)) << 20
            entries.append((source, target, flags))
        records.append(sample(number, chain[1], chain, stack(entries)))
    write(path, IP | TID | TIME | PERIOD | CALLCHAIN | BRANCHES, ANY | USER | TYPES, records,
          {FEAT_BRANCH_STACK: b''})


def call_stacks(path, program):
    """Stacks of calls that have not returned, deeper than the hardware holds, with its index."""
    r = random.Random(7)
    start, size = program.functions['recurse']
    outer = [program.functions[n][0] + 5 for n in ('main', 'spin')]
    records = [record(COMM, 0, struct.pack('<ii', TID_OF_ALL, TID_OF_ALL) + text('workload')),
               program.mapping()]
    calls = []  # (from, to), outermost first
    for number in range(120):
        step = r.choice((-3, -1, 0, 1, 2, 4, 7))
        while step < 0 and calls:
            calls.pop()
            step += 1
        for _ in range(step):
            at = outer[len(calls)] if len(calls) < 2 else start + size * len(calls) % 3 // 3 + 9
            calls.append((at, start))
        if r.random() < 0.05 or not calls:  # perf reads past a stack without entries
            calls = [(outer[0], start)]
        entries = [(a, b, 0) for a, b in reversed(calls[-LBR:])]
        ip = start + r.randrange(size)
        records.append(sample(number, ip, [CONTEXT_USER, ip],
                              stack(entries, (len(calls) - 1) % LBR)))
    caps = struct.pack('<I', 1) + feature_text('branches') + feature_text(str(LBR))
    write(path, IP | TID | TIME | PERIOD | CALLCHAIN | BRANCHES, CALL_STACK | USER | INDEX, records,
          {FEAT_PMU_CAPS: caps})


NAMES = {'history': history, 'call-stacks': call_stacks}


def make(name, path, workload):
    NAMES[name](path, Program(workload))
