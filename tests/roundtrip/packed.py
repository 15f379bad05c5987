#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings packed with gzip, xz and zstd must give the same text as unpacked ones.

    tests/roundtrip/packed.py SONDE

They are read as a file and through a pipe, in file mode and in pipe mode, packed in one piece and
in several, cut off and damaged at CUTS places.
"""
import gzip
import lzma
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, FULL, done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
FEATURES = run([SONDE, '--version', '-v'])[1].decode()


def zstd(blob):
    return subprocess.run(['zstd', '-q', '-c', '--no-check'], input=blob, capture_output=True,
                          check=True).stdout


# Prints the memory of a program in kB. A small process starts it, since the maximum includes its
# own.
MEASURE = ('import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); '
           '_, status, used = os.wait4(pid, 0); print(used.ru_maxrss); sys.exit(status != 0)')

CUTS = 40 if FULL else 15

ROUND = bytes.fromhex('4400000000000800')  # FINISHED_ROUND

CODECS = [('gzip', gzip.compress, 'zlib='), ('xz', lzma.compress, 'lzma=')]
if shutil.which('zstd'):
    CODECS.append(('zstd', zstd, 'zstd='))


def text(path, stdin=None, words=()):
    """stdin: the bytes of the recording, for a pipe."""
    if stdin is None:
        return run([SONDE, 'script', '-i', str(path)] + list(words))
    p = subprocess.run([SONDE, 'script', '-i', '-'] + list(words), env=ENV, input=stdin,
                       capture_output=True, timeout=600)
    return p.returncode, p.stdout, p.stderr


def read(name, pack, folder, blob, what):
    path = folder / 'x.data'
    path.write_bytes(blob)
    want = text(path)
    wrong = []
    half = len(blob) // 2
    for how, packed in (('in one piece', pack(blob)),
                        ('in two pieces', pack(blob[:half]) + pack(blob[half:])),
                        ('with zeros at the end', pack(blob) + bytes(512))):
        path.write_bytes(packed)
        for way, got in ('file', text(path)), ('pipe', text(path, packed)):
            if got != want:
                wrong.append('%s, %s: %s' % (how, way, got[2].decode('latin-1')[:200]))
    say(not wrong and want[1], '%s: %s' % (name, what), '\n'.join(wrong))
    if what == 'file mode':
        path.write_bytes(pack(blob))
        os.utime(path, (1e9, 1e9))
        head = text(path, words=['--header-only'])[1].decode('latin-1')
        path.write_bytes(blob)
        os.utime(path, (1e9, 1e9))
        say(head == text(path, words=['--header-only'])[1].decode('latin-1'),
            '%s: the header' % name)


def damaged(name, pack, folder, blob):
    path, packed = folder / 'x.data', pack(blob)
    random.seed(7)
    wrong, messages = [], 0
    for cut in sorted(random.sample(range(16, len(packed)), CUTS)):
        path.write_bytes(packed[:cut])
        status, out, err = text(path, words=['-F', 'time'])
        messages += b'bad-wrapping' in err or b'and damaged' in err
        ends = re.search(rb'the file ends at 0x(\w+)', err)
        if ends:  # the unpacked recording, cut at the same offset, must give the same text
            path.write_bytes(blob[:int(ends.group(1), 16)])
        if status not in (0, 1) or ends and out != text(path, words=['-F', 'time'])[1]:
            wrong.append('cut at %d: status %s, %d bytes of text, %s' %
                         (cut, status, len(out), err[:100]))
        path.write_bytes(packed[:cut] + bytes([packed[cut] ^ 0x55]) + packed[cut + 1:])
        status, out, err = text(path, words=['-F', 'time'])
        if status not in (0, 1):
            wrong.append('damaged at %d: status %s' % (cut, status))
    say(not wrong and messages == CUTS, '%s: cut off and damaged' % name,
        '\n'.join(wrong + ['%d messages' % messages]))


def bounded(name, pack, folder, blob):
    """A recording of 256 MB in pipe mode is unpacked piece by piece, not in memory."""
    path = folder / 'x.data'
    piece = ROUND * (1 << 20)
    with open(path, 'wb') as f:
        f.write(pack(blob))
        packed = pack(piece)
        for _ in range(32):
            f.write(packed)
    status, out, err = run([sys.executable, '-c', MEASURE, SONDE, 'info', str(path)])
    used = int(out.split()[-1])
    limit = 64 << 10 if not os.environ.get('ASAN_OPTIONS') else 1 << 30
    say(not status and used < limit and not err, '%s: 256 MB of a stream' % name,
        '%d kB, %s' % (used, err.decode('latin-1')))


def refused(got, *words):
    """True if the limit of unpacked bytes was the reason of status 1; words are in the message."""
    words += ('packed bytes unpack to more than', '--max-unpacked')
    return got[0] == 1 and all(word.encode() in got[2] for word in words)


def bombs(name, pack, folder, blob, pipe):
    """Zeros after a recording, which need almost no packed bytes."""
    path, size = folder / 'x.data', len(blob)
    path.write_bytes(pack(blob + bytes((2 << 20) - size)))
    small = str(path.stat().st_size)
    ways = {'file': text(path, words=['--max-unpacked', '1M']),
            'pipe': text(path, path.read_bytes(), ['--max-unpacked', '1024K']),
            'info': run([SONDE, 'info', '-i', str(path), '--max-unpacked', '1M'])}
    say(all(refused(got, small, '1048576') and not got[1] for got in ways.values()),
        '%s: over the limit of unpacked bytes' % name, str(ways))
    got = text(path, words=['--max-unpacked', '2M'])
    say(not got[0] and got[1], '%s: as many unpacked bytes as the limit' % name,
        got[2].decode('latin-1'))
    status, out, err = run([SONDE, 'cut', '-i', str(path), '--max-unpacked', '1M', '-o',
                            str(folder / 'cut.data')])
    say(refused((status, out, err)) and not (folder / 'cut.data').exists(),
        '%s: over the limit, cut writes nothing' % name, err.decode('latin-1'))
    # In pipe mode events are printed while the stream is unpacked.
    path.write_bytes(pack(pipe + ROUND * (1 << 18)))
    got, whole = text(path, words=['--max-unpacked', '1M']), text(path)
    say(refused(got) and whole[1].startswith(got[1]) and not whole[0],
        '%s: over the limit in pipe mode' % name, got[2].decode('latin-1'))


def compressed(blob):
    """A COMPRESSED record."""
    packed = zstd(blob)
    return (81).to_bytes(4, 'little') + bytes(2) + (8 + len(packed)).to_bytes(2, 'little') + packed


def bombs_by_default(pipe, folder):
    """100 KB that unpack to 1.1 GB, also by compressed records, and by packed compressed
    records."""
    path = folder / 'x.data'
    path.write_bytes(zstd(pipe) + zstd(ROUND * (1 << 20)) * 140)
    got = run([SONDE, 'info', '-i', str(path)])
    say(refused(got, str(path), str(path.stat().st_size), '1073741824', 'if it is not forged'),
        'over the default limit', got[2].decode('latin-1'))
    got = run([SONDE, 'info', '-i', str(path), '--max-unpacked', '2G'])
    say(not got[0], 'a larger limit', got[2].decode('latin-1'))
    head, samples = pipe[:96], pipe[96:]  # the attr ends at 96
    records = compressed(samples) + compressed(ROUND * (1 << 22)) * 35
    for what, blob in ('compressed records',
                       head + records), ('compressed records, packed', zstd(head + records)):
        path.write_bytes(blob)
        got = text(path)
        say(refused(got, str(path), '1073741824', 'if it is not forged') and got[1],
            'over the default limit: ' + what, got[2].decode('latin-1'))
    got = [text(path, words=['--max-unpacked', value]) for value in ('4', '0M', 'x', '')]
    say(all(status == 2 and b'a size' in err for status, _, err in got),
        'refused: limits that are no size', str(got))


def others(folder):
    path = folder / 'x'
    path.write_bytes(gzip.compress(b'no recording at all, by far'))
    status, out, err = run([SONDE, 'info', str(path)])
    say(status == 1 and b'gzip' in err and b'not a recording' in err, 'refused: packed text',
        err.decode())
    path.write_bytes(gzip.compress(b''))
    status, out, err = run([SONDE, 'info', str(path)])
    say(status == 1 and b'empty' in err, 'refused: a packed empty file', err.decode())
    path.write_bytes(gzip.compress(gzip.compress((DATA / 'demo.data').read_bytes())))
    status, out, err = run([SONDE, 'info', str(path)])
    say(status == 1 and b'not a recording' in err, 'refused: packed twice', err.decode())
    path.write_bytes(b'\x1f\x8b\x08')
    status, out, err = run([SONDE, 'info', str(path)])
    say(status == 1, 'refused: only the first three bytes of gzip', err.decode())


def plain(folder, blob):
    """A recording in file mode that is not packed, complete and cut off, through a pipe."""
    path = folder / 'x.data'
    for n in len(blob), len(blob) // 2, 200, 40:
        path.write_bytes(blob[:n])
        status, out, err = text(path)
        got = text(path, blob[:n])
        where = err.replace(str(path).encode(), b'/dev/stdin')
        say(got == (status, out, where), 'unpacked, through a pipe: %d bytes' % n,
            got[2].decode('latin-1'))


def main():
    blob = (DATA / 'demo.data').read_bytes()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scratch = folder / 'tmp'  # for sonde's temporary files only
        scratch.mkdir()
        ENV['TMPDIR'] = str(scratch)
        # Pipe mode needs only an attr and samples: see pipe_mode().
        piped = (DATA / 'text' / 'mixed.data').read_bytes()
        for name, pack, feature in CODECS:
            if feature not in FEATURES:
                path = folder / 'x.data'
                path.write_bytes(pack(blob))
                status, out, err = run([SONDE, 'info', str(path)])
                say(status == 1 and b'this build cannot unpack' in err,
                    '%s: not in this build' % name, err.decode())
                continue
            read(name, pack, folder, blob, 'file mode')
            read(name, pack, folder, piped, 'several kinds of events')
            damaged(name, pack, folder, blob)
            pipe = pipe_mode()
            read(name, pack, folder, pipe, 'pipe mode')
            bounded(name, pack, folder, pipe)
            bombs(name, pack, folder, blob, pipe)
        plain(folder, blob)
        if shutil.which('zstd'):
            bombs_by_default(pipe_mode(), folder)
        if 'zlib=' in FEATURES:
            others(folder)
        left = os.listdir(scratch)
        say(not left, 'no temporary file is left', str(left))
    if not shutil.which('zstd'):
        skip('zstd', 'no zstd is installed')
    return done()


def pipe_mode():
    """A recording in pipe mode: cpu-clock, TID|TIME|IDENTIFIER."""
    def u(n, *values):
        return b''.join(v.to_bytes(n, 'little') for v in values)

    def rec(kind, misc, body):
        return u(4, kind) + u(2, misc, 8 + len(body)) + body

    attr = u(4, 1, 64) + u(8, 0, 1, 0x10006, 0, 0x40000, 0, 0)
    blob = b'PERFILE2' + u(8, 16) + rec(64, 0, attr + u(8, 7))
    for i in range(5000):
        blob += rec(9, 2, u(8, 7) + u(4, 12, 13) + u(8, 1000 + i))
        if i % 100 == 99:
            blob += rec(68, 0, b'')
    return blob


sys.exit(main())
