#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports and pictures of damaged recordings: no crash, no hang, no report of a sanitizer.

    tests/report/damaged.py SONDE [--number N] [--seed SEED]

Each of N damaged recordings (30; 300 with SONDE_FULL=1) is one of ours with a few bytes changed,
with a piece left out, or cut short. sonde report and sonde flamegraph read it with options that
change with its number. They may refuse the recording: their exit status is below 128 then, or 255
under --compat, which is perf's.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import ENV, FULL, done, say  # noqa: E402

DATA = HERE.parent / 'data'
RECORDINGS = sorted([DATA / 'demo.data', *DATA.glob('text/*.data'), *DATA.glob('text-cases/*.data'),
                     *DATA.glob('scripts/*.data')])
OPTIONS = (['-g'], ['--no-children', '-g', 'caller'], ['-s', 'comm,dso,sym,srcline', '-n'],
           ['--format', 'folded'], ['--format', 'json'], ['-s', 'pid,time,cpu', '--hierarchy'],
           ['-s', 'trace'], ['-g', 'address'], ['-D'], ['--tasks'],
           ['-s', 'sym', '-p', 'sys', '--group'], ['-b'])
SECONDS = 300
PERFS_FAILURE = 255  # nothing could be read
SANITIZER = ('AddressSanitizer', 'runtime error', 'LeakSanitizer')


def damaged(data, rng):
    """A copy with one kind of damage; the first bytes, the magic, are kept."""
    data = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        del data[rng.randrange(16, len(data)):]
    elif kind == 1:
        at = rng.randrange(16, len(data))
        del data[at:at + rng.randrange(1, 64)]
    else:
        for _ in range(rng.randrange(1, 24)):
            at = rng.randrange(8, len(data))
            data[at] = rng.choice((0, 255, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
    return bytes(data)


def fault(command):
    """What is wrong with a run of the command; '' if nothing is."""
    env = dict(ENV, UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')
    try:
        p = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 'runs for more than %d s' % SECONDS
    err = p.stderr.decode('utf-8', 'replace')
    refused = p.returncode == PERFS_FAILURE and '--compat' in command
    if p.returncode < 0 or (p.returncode >= 128 and not refused) or any(
            word in err for word in SANITIZER):
        return 'status %d\n%s' % (p.returncode, err[:4000])
    return ''


def check(sonde, folder, seed, number):
    """(name of the recording, faults) of the damaged recording of this number."""
    rng = random.Random(seed * 1_000_003 + number)
    source = RECORDINGS[number % len(RECORDINGS)]
    path = pathlib.Path(folder) / ('%d.data' % number)
    path.write_bytes(damaged(source.read_bytes(), rng))
    compat = [] if number % 3 else ['--compat', 'perf-6.1']
    commands = [[sonde, *compat, 'report', '--stdio', *OPTIONS[(number + i) % len(OPTIONS)], '-i',
                 path] for i in range(4)]
    commands += [[sonde, 'flamegraph', '-o', '-', '-i', path],
                 [sonde, 'flamegraph', '--wall' if number % 2 else '--off-cpu', '-o', '-', '-i',
                  path]]
    faults = ['%s\n%s' % (' '.join(map(str, c[1:])), why) for c in commands
              for why in [fault([str(w) for w in c])] if why]
    path.unlink()
    return source.name, faults


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('sonde')
    ap.add_argument('--number', type=int, default=300 if FULL else 30)
    ap.add_argument('--seed', type=int, default=1)
    args = ap.parse_args()
    sonde = os.path.abspath(args.sonde)
    with tempfile.TemporaryDirectory(prefix='sonde-damaged-') as folder:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = pool.map(lambda n: check(sonde, folder, args.seed, n), range(args.number))
            for number, (name, faults) in enumerate(results):
                say(not faults, 'seed %d, number %d: %s' % (args.seed, number, name),
                    '\n'.join(faults))
    return done()


if __name__ == '__main__':
    sys.exit(main())
