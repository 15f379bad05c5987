# SPDX-License-Identifier: MIT
"""Files that end before or where their events begin: sonde script never crashes, and says what is
wrong.
"""
import concurrent.futures
import os
import struct
import subprocess

from tap import PERF_ENV, SONDE, case, need, run, same, sonde

STEP = 64
MANY = 250  # places after the first 4 KiB


def places(size):
    """Where to cut: every STEP bytes of the first 4 KiB, every 8 bytes of the header, MANY places
    in the rest.
    """
    near = set(range(0, min(size, 4096),
                     STEP)) | set(range(0, min(size, 320), 8)) | {1, 7, 9, 15, 103, 105}
    return sorted(near | set(range(4096, size,
                                   max(STEP, (size - 4096) // MANY // STEP * STEP or STEP))))


def read(data, at, words):
    """Reads the first `at` bytes as a file. Returns what is wrong, None if nothing is."""
    path = 'cut-%d.data' % at
    with open(path, 'wb') as f:
        f.write(data[:at])
    p = subprocess.run([SONDE, 'script', '-i', path, *words], env=PERF_ENV,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=600)
    os.unlink(path)
    reported = p.stderr.decode('utf-8', 'replace')
    if p.returncode not in (0, 1, 2):
        return '%d bytes: status %d: %s' % (at, p.returncode, reported)
    if not reported.startswith('sonde: ') or len(reported) < 20:
        return '%d bytes: no message (status %d): %r' % (at, p.returncode, reported)
    return None


def all_cuts(path, *words):
    with open(path, 'rb') as f:
        data = f.read()
    data_at, = struct.unpack_from('<Q', data, 40)
    need(104 < data_at < len(data), 'the data begin at %d of %d' % (data_at, len(data)))
    cuts = places(data_at) + [data_at]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda at: read(data, at, words), cuts) if w]
    print('# %d cuts up to byte %d' % (len(cuts), data_at))
    need(not wrong, '%d of %d cuts:\n%s' % (len(wrong), len(cuts), '\n'.join(wrong[:20])))


def record(*options):
    r = sonde('record', '-q', '-o', 'x.data', '-e', 'sched:sched_switch,raw_syscalls:sys_enter',
              '-g', *options, '--', 'sh', '-c', 'echo; /bin/true')
    same(r.returncode, 0, r.stderr)


@case('a finished file')
def _():
    record()
    same(sonde('script', '-i', 'x.data').returncode, 0)
    all_cuts('x.data')


@case('a file that a killed recorder left: the size of its data is not written')
def _():
    record()
    with open('x.data', 'r+b') as f:
        f.seek(48)
        f.write(bytes(8))
        f.seek(72)
        f.write(bytes(32))
    all_cuts('x.data')


@case('--header-only of a finished file that is cut')
def _():
    record()
    all_cuts('x.data', '--header-only')


run()
