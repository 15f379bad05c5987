#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--format blkparse beside stock blkparse (Debian's package blktrace), its summaries left out: stored recordings, made ones,
one from the corpus, and what blkparse -d writes of them.

    blkparse.py SONDE
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(os.environ.get('SONDE_CORPUS', HERE.parents[2] / 'shared' / 'corpus'))
RECORDED = CORPUS / 'blktrace-sample__takeoverjp'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / 'gen'))
from points import ENV, done, say, skip  # noqa: E402
import blktrace as made  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DATA = HERE.parent / 'data' / 'blktrace'
BLKPARSE = shutil.which('blkparse')
STORED = [line for line in (DATA / 'blkparse.txt').read_text().splitlines()]


def ours(*args, stdin=None):
    p = subprocess.run([SONDE, 'script', '--format', 'blkparse', '-i', *map(str, args)], env=ENV, input=stdin,
                       capture_output=True, timeout=600)
    return p.stdout.decode('utf-8', 'surrogateescape').splitlines()


def theirs(folder=None, stdin=None, args=()):
    source = ['-i', '-'] if stdin is not None else ['-i', 'sda', '-D', str(folder)]
    p = subprocess.run([BLKPARSE, *source, *args], env=ENV, input=stdin, capture_output=True, timeout=600)
    text = p.stdout.decode('utf-8', 'surrogateescape')
    return re.split(r'^(?:CPU\d+ \(|\n?Throughput )', text, maxsplit=1, flags=re.M)[0].splitlines()


def same(name, got, want):
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got, want) if g != w][:3]
    if len(got) != len(want):
        wrong.append('%d lines, blkparse has %d' % (len(got), len(want)))
    say(got == want and want, name, '\n'.join(wrong))


def at_random(seed, big):
    """Two cpus with all kinds of values, no two events at one time."""
    rng = random.Random(seed)
    files, at = [made.Blktrace(big=big, cpu=cpu) for cpu in (0, 1)], 1000
    for t in files:
        for pid in range(1, 6):
            t.process(pid + 10 * t.cpu, 'task-%d-%d' % (t.cpu, pid), time=at)
    for _ in range(3000):
        t, at = rng.choice(files), at + rng.randrange(1, 3000000)
        letter = rng.choice([a for a in made.ACTIONS if a not in ('abort', 'drv_data')])
        rwbs = ''.join(c for c in 'RWDFUASM' if rng.random() < 0.25)
        io = dict(time=at, sector=rng.randrange(1 << 40), nr_bytes=rng.choice([0, 1, 511, 512, 4096, 1 << 20]), rwbs=rwbs,
                  pid=rng.randrange(1, 20), error=rng.randrange(-40, 1), device=made.dev(rng.randrange(300), rng.randrange(40)))
        if letter == 'A':
            t.remap(from_dev=made.dev(8, 1), from_sector=rng.randrange(1 << 40), to_dev=made.dev(8, 0), **io)
        elif letter in ('U', 'UT', 'X'):
            t.count(letter, n=rng.randrange(1 << 33 if letter == 'X' else 100), **io)
        elif letter in 'QGSRDCI' and rng.random() < 0.2:
            t.add(letter, pc=True, pdu=bytes(rng.choice([0, 0, 1, 18]) for _ in range(rng.randrange(17))), **io)
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
    same('-C leaves times alone', ours(DATA / 'little', '-C', '1'), want)
    want = [line for line in STORED if 0.011 <= float(line.split()[3]) <= 0.014]
    same('so does --time', ours(DATA / 'little', '--time', '5.011,5.014'), want)
    p = subprocess.run([SONDE, 'script', '--format', 'blkparse', '-i', str(HERE.parent / 'data' / 'demo.data')], env=ENV,
                       capture_output=True, timeout=600)
    say(p.returncode and b'block layer' in p.stderr and not p.stdout, 'other recordings are refused', p.stderr.decode())


def check_refused():
    """Options about other lines, which would otherwise seem to be obeyed."""
    for option in ('-F comm', '-D', '--per-event-dump', '--deltatime', '-L', '--max-blocks 1', '--header', '-I',
                   '--show-mmap-events'):
        p = subprocess.run([SONDE, 'script', '--format', 'blkparse', *option.split(), '-i', str(DATA / 'little')], env=ENV,
                           capture_output=True, timeout=600)
        say(p.returncode and p.stderr and not p.stdout, 'refused: ' + option, p.stderr.decode())


def check_live(top):
    if not BLKPARSE:
        return skip('lines beside stock blkparse', 'no blkparse here (package blktrace)', may=False)
    same('blkparse.txt is what blkparse prints', theirs(DATA / 'little'), STORED)
    for seed in range(4):
        folder = top / str(seed)
        folder.mkdir()
        for name, data in at_random(seed, big=seed % 2 == 1).items():
            (folder / name).write_bytes(data)
        want = theirs(folder)
        same('made at random, %s-endian' % ('big' if seed % 2 else 'little'), ours(folder), want)
        theirs(folder, args=['-O', '-d', str(top / 'merged')])
        merged = (top / 'merged').read_bytes()
        same('what blkparse -d writes of it', ours(top / 'merged'), want)
        same('the same through a pipe', ours('-', stdin=merged), want)
    if not RECORDED.is_dir():
        return skip('a recorded one', 'no corpus here')
    recorded = (RECORDED / 'sample.blktrace.0').read_bytes()
    want = theirs(stdin=recorded)
    same('a recorded one', ours(RECORDED), want)
    theirs(stdin=recorded, args=['-O', '-d', str(top / 'merged')])
    return same('what blkparse -d writes of it', ours(top / 'merged'), want)


def main():
    with tempfile.TemporaryDirectory() as name:
        check_stored()
        check_refused()
        check_live(pathlib.Path(name))
    return done()


sys.exit(main())
