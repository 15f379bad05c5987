#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small files that say they are large: each of their numbers in turn is enormous, and reading costs next to nothing.

    tests/cli/crafted.py SONDE FIXTURES.PY

The files are tests/data/defects/small.fix: headers of 104 bytes, sections of the header, records, a stream. What a process
costs is asked of the kernel (wait4). A seventh of all variants is tried, each by one command; SONDE_FULL=1: all, by all commands.
"""
import importlib.util
import os
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
MOST_KB, MOST_SECONDS = 64 << 10, 0.1
FULL = os.environ.get('SONDE_FULL') == '1'
EVERY = 1 if FULL else 7  # each number is met all the same, with one of its values
WIDE = (1 << 64) - 1, (1 << 63) - 1, 1 << 40, (1 << 32) - 8, 1 << 31
NARROW = (1 << 32) - 1, (1 << 31) - 1, 1 << 24, 0xffff0000
COMMANDS = [['script', '-F', 'comm,tid,time,event,trace'], ['info'], ['script', '-D'], ['script', '--header', '-I'], ['evlist', '-v'],
            ['buildid-list', '-H'], ['script', '--format', 'jsonl'], ['check']]


def variants(blob, order):
    """(place, width, value, bytes): each aligned number, and pairs of neighbours, as an offset and a size are."""
    prefix = '<' if order == 'little' else '>'
    for at in range(8, len(blob) - 7, 8):
        for value in WIDE:
            yield at, 8, value, blob[:at] + struct.pack(prefix + 'Q', value) + blob[at + 8:]
    for at in range(8, len(blob) - 3, 4):
        for value in NARROW:
            yield at, 4, value, blob[:at] + struct.pack(prefix + 'I', value) + blob[at + 4:]
    for at in range(16, min(len(blob), 104) - 15, 8):
        yield at, 16, WIDE[1], blob[:at] + struct.pack(prefix + 'QQ', 1 << 40, 1 << 40) + blob[at + 16:]


def cost(words, path):
    """(status, KiB, CPU seconds)"""
    null = os.open(os.devnull, os.O_RDWR)
    pid = os.posix_spawn(SONDE, [SONDE, *words, '-i', path], ENV, file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)])
    os.close(null)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime + used.ru_stime


def measure(name, blob, order, path):
    wrong, nr, kb_most, seconds_most = [], 0, 0, 0.0
    for i, (at, width, value, whole) in enumerate(variants(blob, order)):
        if i % EVERY:
            continue
        path.write_bytes(whole)
        nr += 1
        # All commands now and then; each variant by one of them, another one each time.
        for words in COMMANDS if FULL else [COMMANDS[nr % len(COMMANDS)]]:
            status, kb, seconds = cost(words, str(path))
            if seconds > MOST_SECONDS:  # somebody else's load may be in it
                seconds = min(seconds, *(cost(words, str(path))[2] for _ in range(3)))
            kb_most, seconds_most = max(kb_most, kb), max(seconds_most, seconds)
            if status not in (0, 1, 2, 3) or kb > MOST_KB or seconds > MOST_SECONDS:
                wrong.append('%s: %d bytes at %d are 0x%x: status %s, %d KiB, %.3f s' % (' '.join(words), width, at, value, status, kb, seconds))
    say(not wrong, '%s, %s: %d variants of %d bytes' % (name, order, nr, len(blob)),
        '\n'.join(['at most %d KiB, %.3f CPU s' % (kb_most, seconds_most)] + wrong[:10]))


def main():
    spec = importlib.util.spec_from_file_location('fixtures', sys.argv[2])
    fixtures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fixtures)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'x.data'
        for case in fixtures.parse(HERE.parent / 'data/defects/small.fix'):
            for order in ('little', 'big') if FULL or 'header' in case.name else ('little',):
                measure(case.name, case.build(order)[0], order, path)
    return done()


if __name__ == '__main__':
    sys.exit(main())
