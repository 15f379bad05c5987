#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares --format blkparse with stock blkparse (Debian's package blktrace).

    blkparse.py SONDE

The recordings: stored ones, random ones, one of the corpus, and what blkparse -d writes of them.
The summaries of blkparse are left out.
"""
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
from blk import DATA, RECORDED, TESTS, made, sonde, text_of  # noqa: E402
from points import done, say, skip  # noqa: E402
from recordings import NO_CORPUS  # noqa: E402

BLKPARSE = shutil.which('blkparse')
STORED = [line for line in (DATA / 'blkparse.txt').read_text().splitlines()]


def ours(*args, stdin=None):
    return sonde('script', '--format', 'blkparse', '-i', *args, stdin=stdin)[1].splitlines()


def theirs(folder=None, stdin=None, args=()):
    source = ['-i', '-'] if stdin is not None else ['-i', 'sda', '-D', str(folder)]
    text = text_of([BLKPARSE, *source, *args], stdin)[1]
    return re.split(r'^(?:CPU\d+ \(|\n?Throughput )', text, maxsplit=1, flags=re.M)[0].splitlines()


def same(name, got, want):
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got, want) if g != w][:3]
    if len(got) != len(want):
        wrong.append('%d lines, blkparse has %d' % (len(got), len(want)))
    say(got == want and want, name, '\n'.join(wrong))


def at_random(seed, big):
    """Files of two cpus with values of all kinds; no two events have the same time."""
    rng = random.Random(seed)
    files, at = [made.Blktrace(big=big, cpu=cpu) for cpu in (0, 1)], 1000
    for t in files:
        for pid in range(1, 6):
            t.process(pid + 10 * t.cpu, 'task-%d-%d' % (t.cpu, pid), time=at)
    for _ in range(3000):
        t, at = rng.choice(files), at + rng.randrange(1, 3000000)
        letter = rng.choice([a for a in made.ACTIONS if a not in ('abort', 'drv_data')])
        rwbs = ''.join(c for c in 'RWDFUASM' if rng.random() < 0.25)
        io = dict(time=at, sector=rng.randrange(1 << 40), rwbs=rwbs, pid=rng.randrange(1, 20),
                  nr_bytes=rng.choice([0, 1, 511, 512, 4096, 1 << 20]), error=rng.randrange(-40, 1),
                  device=made.dev(rng.randrange(300), rng.randrange(40)))
        if letter == 'A':
            t.remap(from_dev=made.dev(8, 1), from_sector=rng.randrange(1 << 40),
                    to_dev=made.dev(8, 0), **io)
        elif letter in ('U', 'UT', 'X'):
            t.count(letter, n=rng.randrange(1 << 33 if letter == 'X' else 100), **io)
        elif letter in 'QGSRDCI' and rng.random() < 0.2:
            pdu = bytes(rng.choice([0, 0, 1, 18]) for _ in range(rng.randrange(17)))
            t.add(letter, pc=True, pdu=pdu, **io)
        else:
            t.add(letter, **io)
        if rng.random() < 0.02:
            t.message('message %d of a cpu' % at, time=at + 1, pid=3)
    return {'sda.blktrace.%d' % t.cpu: t.data for t in files}


def check_stored():
    for form in made.FORMS:
        same('stored lines: ' + form, ours(DATA / form), STORED)
    stream = b''.join(p.read_bytes() for p in sorted((DATA / 'little').iterdir()))
    same('stored lines, through a pipe', ours('-', stdin=stream), STORED)
    want = [line for line in STORED if line.split()[1] == '1']
    same('-C does not change times', ours(DATA / 'little', '-C', '1'), want)
    want = [line for line in STORED if 0.011 <= float(line.split()[3]) <= 0.014]
    same('--time does not change times', ours(DATA / 'little', '--time', '5.011,5.014'), want)
    status, out, err = sonde('script', '--format', 'blkparse', '-i', TESTS / 'data' / 'demo.data')
    say(status and 'block layer' in err and not out, 'other recordings are refused', err)


def check_refused():
    """Options that this format cannot obey are refused, not ignored."""
    for option in ('-F comm', '-D', '--per-event-dump', '--deltatime', '-L', '--max-blocks 1',
                   '--header', '-I', '--show-mmap-events'):
        words = ['--format', 'blkparse', *option.split(), '-i', DATA / 'little']
        status, out, err = sonde('script', *words)
        say(status and err and not out, 'refused: ' + option, err)


def check_live(top):
    if not BLKPARSE:
        reason = 'no blkparse (package blktrace)'
        return skip('lines compared with stock blkparse', reason, may=False)
    same('blkparse prints the lines of blkparse.txt', theirs(DATA / 'little'), STORED)
    for seed in range(4):
        folder = top / str(seed)
        folder.mkdir()
        for name, data in at_random(seed, big=seed % 2 == 1).items():
            (folder / name).write_bytes(data)
        want = theirs(folder)
        same('random values, %s-endian' % ('big' if seed % 2 else 'little'), ours(folder), want)
        theirs(folder, args=['-O', '-d', str(top / 'merged')])
        merged = (top / 'merged').read_bytes()
        same('random values, as blkparse -d writes them', ours(top / 'merged'), want)
        same('the same through a pipe', ours('-', stdin=merged), want)
    if not RECORDED:
        return skip('a real recording', NO_CORPUS)
    recorded = (RECORDED / 'sample.blktrace.0').read_bytes()
    want = theirs(stdin=recorded)
    same('a real recording', ours(RECORDED), want)
    theirs(stdin=recorded, args=['-O', '-d', str(top / 'merged')])
    return same('a real recording, as blkparse -d writes it', ours(top / 'merged'), want)


def main():
    with tempfile.TemporaryDirectory() as name:
        check_stored()
        check_refused()
        check_live(pathlib.Path(name))
    return done()


sys.exit(main())
