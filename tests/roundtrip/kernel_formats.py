#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--kernel-formats: the running kernel's formats replace those removed from a recording.

    tests/roundtrip/kernel_formats.py SONDE

The test must be able to record. The formats are refused if event numbers, the release or the byte
order differ from the running kernel's.
"""
import os
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
TRACING_DATA, OSRELEASE, EVENT_DESC = 1, 4, 12
EVENTS = 'sched:sched_switch,raw_syscalls:sys_enter,cpu-clock'


def without(blob, *features):
    """The recording without these header sections."""
    data_off, data_size = struct.unpack_from('<QQ', blob, 40)
    bits = int.from_bytes(blob[72:104], 'little')
    there = [n for n in range(256) if bits >> n & 1]
    table = data_off + data_size
    entries = [blob[table + 16 * i:table + 16 * i + 16] for i in range(len(there))]
    kept = [(n, e) for n, e in zip(there, entries) if n not in features]
    blob = bytearray(blob)
    blob[72:104] = sum(1 << n for n, _ in kept).to_bytes(32, 'little')
    blob[table:table + 16 * len(kept)] = b''.join(e for _, e in kept)
    return bytes(blob)


def renumbered(blob):
    """The recording with another number for its first tracepoint."""
    blob, at = bytearray(blob), struct.unpack_from('<Q', blob, 24)[0]
    size = struct.unpack_from('<Q', blob, 16)[0]
    while struct.unpack_from('<I', blob, at)[0] != 2:
        at += size
    struct.pack_into('<Q', blob, at + 8, struct.unpack_from('<Q', blob, at + 8)[0] ^ 0x4000)
    return bytes(blob)


def text(path, blob, *words):
    path.write_bytes(blob)
    return run([SONDE, 'script', '-i', str(path), '-F', 'comm,tid,time,event,trace'] + list(words))


def main():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / 'x.data'
        status, out, err = run([SONDE, 'record', '-q', '-o', str(path), '-e', EVENTS, '--', 'sh',
                                '-c', 'ls / | wc -l'])
        if status or not path.exists():
            skip('recording', 'cannot record: ' + err.decode('latin-1').strip()[:100])
            return done()
        blob = path.read_bytes()
        want = text(path, blob)
        bare = without(blob, TRACING_DATA)
        status, out, err = text(path, bare)
        say(out != want[1] and b'no-format' in err and b'--kernel-formats' in err,
            'without formats: raw bytes, and the message names the option', err.decode())
        status, out, err = text(path, bare, '--kernel-formats')
        say((status, out) == (0, want[1]) and b'kernel-formats: 2' in err and
            b'no-format' not in err, 'the same text with the running kernel\'s formats',
            err.decode())
        status, out, err = run([SONDE, 'evlist', '--trace-fields', '--kernel-formats', '-i',
                                str(path)])
        say(b'prev_comm,prev_pid' in out, 'evlist lists the fields', out.decode())
        status, out, err = text(path, without(blob, TRACING_DATA, EVENT_DESC), '--kernel-formats')
        say(out == want[1], 'events without names, of the running release', err.decode())
        status, out, err = text(path, without(blob, TRACING_DATA, EVENT_DESC, OSRELEASE),
                                '--kernel-formats')
        say(out == want[1] and b'kernel-formats: 2' in err,
            'events without names, of an unknown release (a killed recorder)', err.decode())
        release = os.uname().release.encode()
        other = without(blob, TRACING_DATA, EVENT_DESC).replace(release, b'1' * len(release))
        status, out, err = text(path, other, '--kernel-formats')
        say(b'no-format: 2' in err and b'the recorded kernel is 1111' in err,
            'refused: events without names, of another release', err.decode())
        status, out, err = text(path, renumbered(bare), '--kernel-formats')
        say(b'no-format: 1' in err and b'in the running kernel' in err and
            b'kernel-formats: 1' in err, 'refused: an event with another number', err.decode())
        status, out, err = text(path, blob, '--kernel-formats')
        say(out == want[1] and b'kernel-formats' not in err, 'a recording with its own formats',
            err.decode())
    return done()


sys.exit(main())
