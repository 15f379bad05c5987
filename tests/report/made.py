# SPDX-License-Identifier: MIT
"""Recordings that few machines can record: branch stacks of a program's own addresses, and tasks.

    make(name, path, program)       name: one of NAMES
    tests/report/made.py NAME PATH PROGRAM [NAME-IN-MAPS]

The numbers are random but always the same for the same program. Functions and lines are those of
the program, so that perf resolves them. NAME-IN-MAPS: its name in the recording, which then has the
program's build id. tests/data/report has such recordings of text-cases/wl.
"""
import os
import pathlib
import random
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import points  # noqa: E402

IP, TID, TIME, CALLCHAIN, PERIOD, BRANCHES = 1, 2, 4, 32, 256, 2048
ANY, CALL_STACK, USER, TYPES, INDEX = 1 << 3, 1 << 11, 1, 1 << 16, 1 << 17
MMAP, MMAP2, COMM, FORK, SAMPLE, USER_MODE, BY_BUILD_ID = 1, 10, 3, 7, 9, 2, 1 << 14
FORK_EXEC = 1 << 13
FEAT_BRANCH_STACK, FEAT_PMU_CAPS = 15, 28
CONTEXT_USER = (1 << 64) - 512
BASE, TID_OF_ALL = 0x555555000000, 4242
# of workload.c, and of wl.c in tests/data/text-cases; call_stacks() uses the first three
PROGRAM = (
    ('main', 'spin', 'recurse', 'leaf', 'by_leaf', 'compare'),
    ('main', 'top', 'mid', 'leaf'),
)
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

    def __init__(self, path, mapped_as=None):
        self.path, self.mapped_as, known = str(path), mapped_as, {}
        for line in points.run(['nm', '-S', self.path])[1].decode().splitlines():
            parts = line.split()
            if len(parts) == 4:
                known[parts[3]] = BASE + int(parts[0], 16), int(parts[1], 16)
        names = next(names for names in PROGRAM if set(names) <= set(known))
        self.functions = {name: known[name] for name in names}
        for line in points.run(['readelf', '-lW', self.path])[1].decode().splitlines():
            parts = line.split()
            if parts[:1] == ['LOAD'] and 'E' in parts[6:8]:
                self.offset, self.address, self.size = (int(parts[i], 16) for i in (1, 2, 4))

    def mapping(self):
        head = (TID_OF_ALL, TID_OF_ALL, BASE + self.address, (self.size + 4095) & -4096,
                self.offset)
        if self.mapped_as:
            notes = points.run(['readelf', '-n', self.path])[1].decode()
            build_id = bytes.fromhex(re.search('Build ID: (\\w+)', notes)[1])
            file = struct.pack('<B3x20s', len(build_id), build_id)
        else:
            at = os.stat(self.path)
            file = struct.pack('<IIQQ', os.major(at.st_dev), os.minor(at.st_dev), at.st_ino, 0)
        body = struct.pack('<iiQQQ', *head) + file + struct.pack('<II', 5, 2)
        return record(MMAP2, USER_MODE | (BY_BUILD_ID if self.mapped_as else 0),
                      body + text(self.mapped_as or self.path))


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
    sections = attrs_at, len(one) + 16, data_at, len(data), 0, 0
    head = b'PERFILE2' + words(104, len(one) + 16, *sections, *bits)
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
    names = list(program.functions)
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
    names = list(program.functions)[:3]
    start, size = program.functions[names[2]]
    outer = [program.functions[n][0] + 5 for n in names[:2]]
    records = [record(COMM, 0, struct.pack('<ii', TID_OF_ALL, TID_OF_ALL) + text('workload')),
               program.mapping()]
    calls = []  # (from, to), outermost first
    for number in range(120):
        step = r.choice((-3, -1, 0, 1, 2, 4, 7))
        while step < 0 and calls:
            calls.pop()
            step += 1
        for _ in range(step):
            at = outer[len(calls)] if len(calls) < 2 else start + 9
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


def named(pid, tid, comm):
    return record(COMM, 0, struct.pack('<ii', pid, tid) + text(comm))


def forked(pid, tid, ppid, ptid, misc=0):
    return record(FORK, misc, struct.pack('<iiiiQ', pid, ppid, tid, ptid, 0))


def mapped(pid, tid, start, path, file, misc=USER_MODE, prot=5, flags=2):
    """file: the 24 bytes of an MMAP2 that identify it; None: an MMAP"""
    body = struct.pack('<iiQQQ', pid, tid, start, 4096, 0)
    if file is None:
        return record(MMAP, misc, body + text(path))
    return record(MMAP2, misc, body + file + struct.pack('<II', prot, flags) + text(path))


def inode(number, device=8, generation=0):
    return struct.pack('<IIQQ', device, device and 1, number, generation)


def with_build_id(pid, tid, start, path, build_id):
    file = struct.pack('<B3x20s', len(build_id), build_id)
    return mapped(pid, tid, start, path, file, USER_MODE | BY_BUILD_ID)


def tasks(path, _):
    """Tasks that records name late, twice, in two processes or only by a mapping."""
    nothing = inode(0, 0)
    records = [
        named(5, 5, 'shell'), mapped(5, 5, 0x1000, '/bin/x', nothing),
        mapped(7, 7, 0x1000, '/bin/x', inode(77)),           # a mapping names 7
        forked(9, 9, 8, 8), forked(300, 300, 5, 5), named(44, 44, 'b'), forked(3, 3, 300, 300),
        named(21, 22, 'thread'),                             # 21 is only the process of 22
        named(23, 22, 'again'),
        named(30, 30, 'c'), mapped(30, 30, 0x2000, '/bin/c', inode(30)),
        named(31, 31, 'd'), forked(32, 32, 31, 30), forked(33, 33, 30, 30),
        named(40, 40, 'e'), mapped(40, 40, 0x3000, '/bin/e', inode(40)), forked(40, 41, 40, 40),
        forked(40, 40, 5, 5), mapped(40, 40, 0x5000, '/bin/f', inode(41)),
        forked(42, 42, 40, 41), forked(40, 43, 40, 40),
        named(-1, 50, 'late'), mapped(-1, 50, 0x7000, '/bin/l', inode(50)), named(51, 50, 'known'),
        forked(60, 60, 0, 0), forked(61, 61, 60, 60, FORK_EXEC),
        mapped(60, 60, 0x1000, '/bin/x', inode(88)), mapped(60, 60, 0x3000, '/bin/x', nothing),
        mapped(60, 60, 0x5000, '/bin/x', None), mapped(60, 60, 0x7000, '/bin/x', inode(77, 8, 5)),
        mapped(60, 60, 0x9000, '[vdso]', inode(4)),
        mapped(60, 60, 0xb000, '[heap]', inode(4), prot=3),
        mapped(61, 61, 0xb000, '[heap]', nothing, prot=3),
        mapped(61, 61, 0xd000, '//anon', nothing),
        mapped(61, 61, 0xf000, '/SYSV0000', nothing, prot=7, flags=1),
        with_build_id(62, 62, 0x1000, '/bin/y', bytes(range(20))),
        with_build_id(62, 62, 0x3000, '/bin/y', bytes([7] * 8)),
        with_build_id(62, 62, 0x5000, '[vdso]', bytes(range(20))),
    ]
    samples = [record(SAMPLE, USER_MODE, words(0x1000) + struct.pack('<ii', 1, 1) +
                      words(1000000, 1000))]
    write(path, IP | TID | TIME | PERIOD, 0, records + samples, {})


NAMES = {'history': history, 'call-stacks': call_stacks, 'tasks': tasks}


def make(name, path, program, mapped_as=None):
    NAMES[name](path, Program(program, mapped_as))


if __name__ == '__main__':
    make(sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:])
