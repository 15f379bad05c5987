#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small files with enormous numbers, one at a time: reading them uses little memory and time.

    tests/cli/crafted.py SONDE FIXTURES.PY

The files are those of tests/data/defects/small.fix: headers of 104 bytes, sections of the header,
records, a stream. wait4() gives the memory and the CPU time of a process. One variant of seven is
read, by one command; with SONDE_FULL=1 every command reads every variant.
"""
import os
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
MOST_KB, MOST_SECONDS = 64 << 10, 0.1
FULL = os.environ.get('SONDE_FULL') == '1'
EVERY = 1 if FULL else 7  # each number still has one of its values
WIDE = (1 << 64) - 1, (1 << 63) - 1, 1 << 40, (1 << 32) - 8, 1 << 31
NARROW = (1 << 32) - 1, (1 << 31) - 1, 1 << 24, 0xffff0000
COMMANDS = [['script', '-F', 'comm,tid,time,event,trace'], ['info'], ['script', '-D'],
            ['script', '--header', '-I'], ['evlist', '-v'],
            ['buildid-list', '-H'], ['script', '--format', 'jsonl'], ['check']]


def variants(blob, order):
    """(place, width, value, bytes) for each aligned number, and for pairs of neighbours, such as an
    offset and a size.
    """
    prefix = '<' if order == 'little' else '>'
    for at in range(8, len(blob) - 7, 8):
        for value in WIDE:
            yield at, 8, value, blob[:at] + struct.pack(prefix + 'Q', value) + blob[at + 8:]
    for at in range(8, len(blob) - 3, 4):
        for value in NARROW:
            yield at, 4, value, blob[:at] + struct.pack(prefix + 'I', value) + blob[at + 4:]
    for at in range(16, min(len(blob), 104) - 15, 8):
        yield (at, 16, WIDE[1], blob[:at] + struct.pack(prefix + 'QQ', 1 << 40, 1 << 40) +
               blob[at + 16:])


def cost(words, path):
    """(status, KiB, CPU seconds)"""
    null = os.open(os.devnull, os.O_RDWR)
    pid = os.posix_spawn(SONDE, [SONDE, *words, '-i', path], ENV,
                         file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)])
    os.close(null)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime + used.ru_stime


def measure(name, blob, order, path):
    wrong, nr, kb_most, seconds_most = [], 0, 0, 0.0
    for i, (at, width, value, variant) in enumerate(variants(blob, order)):
        if i % EVERY:
            continue
        path.write_bytes(variant)
        nr += 1
        # One command reads each variant, the next command the next variant.
        for words in COMMANDS if FULL else [COMMANDS[nr % len(COMMANDS)]]:
            status, kb, seconds = cost(words, str(path))
            if seconds > MOST_SECONDS:  # the load of other processes may be part of it
                seconds = min(seconds, *(cost(words, str(path))[2] for _ in range(3)))
            kb_most, seconds_most = max(kb_most, kb), max(seconds_most, seconds)
            if status not in (0, 1, 2, 3) or kb > MOST_KB or seconds > MOST_SECONDS:
                wrong.append('%s: %d bytes at %d are 0x%x: status %s, %d KiB, %.3f s' %
                             (' '.join(words), width, at, value, status, kb, seconds))
    say(not wrong, '%s, %s: %d variants of %d bytes' % (name, order, nr, len(blob)),
        '\n'.join(['at most %d KiB, %.3f CPU s' % (kb_most, seconds_most)] + wrong[:10]))


def kernel_symbols(path):
    """128 MiB of kernel symbols packed into 4 KB of sonde's own section, and a sample that needs
    them.
    """
    # zstd blocks of the type RLE
    blocks = [struct.pack('<I', 1 << 17 << 3 | 1 << 1 | (i == 1023))[:3] + b'\n'
              for i in range(1024)]
    packed = b'\x28\xb5\x2f\xfd\xa0' + struct.pack('<I', 128 << 20) + b''.join(blocks)
    attr = (struct.pack('<IIQQQQQ', 1, 128, 0, 1, 7 | 1 << 16, 0, 1 << 18).ljust(128, b'\0') +
            bytes(16))
    sample = struct.pack('<IHHQQIIQ', 9, 1, 40, 7, 0xffffffff81000010, 1, 1, 1)
    mapped = struct.pack('<IHHIIQQQ', 1, 1, 88, 0xffffffff, 0, 0xffffffff81000000, 0x1000000, 0) + \
        b'[kernel.kallsyms]_text'.ljust(24, b'\0') + struct.pack('<IIQQ', 0, 0, 0, 7)
    begin = 144 + len(attr) + len(packed)
    path.write_bytes(b'PERFILE2' + struct.pack('<8Q', 104, 144, 144, 144, begin,
                                               len(mapped + sample), 0, 0) + bytes(32) +
                     struct.pack('<QIIQQQ', 0x5844492d45444e53, 1, 0, 0x100000001, 144 + len(attr),
                                 len(packed)) +
                     attr + packed + mapped + sample)
    status, kb, seconds = cost(['script', '-F', 'ip,sym'], str(path))
    say(not status and kb < MOST_KB, 'symbols of the kernel, 128 MiB in 4 KB',
        'status %s, %d KiB, %.3f s' % (status, kb, seconds))


def main():
    fixtures = load_fixtures()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'x.data'
        for case in fixtures.parse(HERE.parent / 'data/defects/small.fix'):
            for order in ('little', 'big') if FULL or 'header' in case.name else ('little',):
                measure(case.name, case.build(order)[0], order, path)
        kernel_symbols(path)
    return done()


if __name__ == '__main__':
    sys.exit(main())
