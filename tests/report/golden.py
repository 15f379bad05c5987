#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stored recordings, option sets, and the text that perf 6.1 prints for them; runs without perf.

    tests/report/golden.py SONDE [--only CASE] [--perf PERF] [--update]

A line of tests/data/report/cases.tsv is a case: name, recording in tests/data, options. `sonde
--compat perf-6.1 report --stdio OPTIONS` must print out/NAME.txt. Names come from a build-id folder
made here (tests/golden/text-cases), so that no text depends on the machine. Cases in unequal.txt
are known to differ; the test fails if such a case is equal, so that it is removed. --update writes
the texts with the installed perf; --perf runs that perf instead of sonde.
"""
import argparse
import importlib.machinery
import importlib.util
import pathlib
import shlex
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
STORED = DATA / 'report'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent)]
from pairs import Answer, compare, normalised  # noqa: E402
from points import done, run, say, skip  # noqa: E402

NEEDS_LIBDW = ('dwarf',)


def make_build_ids(folder):
    loader = importlib.machinery.SourceFileLoader(
        'cases', str(HERE.parent / 'golden' / 'text-cases')
    )
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('cases', loader))
    loader.exec_module(module)
    module.cache(folder)


def read_cases():
    lines = (STORED / 'cases.tsv').read_text().splitlines()
    return [line.split('\t') for line in lines]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('sonde', type=pathlib.Path)
    ap.add_argument('--only')
    ap.add_argument('--perf')
    ap.add_argument('--update', action='store_true')
    args = ap.parse_args()
    unequal = set((STORED / 'unequal.txt').read_text().split())
    sonde = [str(args.sonde.resolve()), '--compat', 'perf-6.1']
    has_libdw = 'libdw=' in run(sonde[:1] + ['--version', '-v'])[1].decode()
    with tempfile.TemporaryDirectory(prefix='sonde-report-') as temp:
        folder = pathlib.Path(temp)
        make_build_ids(folder / 'ids')
        for name, file, options in read_cases():
            path = STORED / 'out' / (name + '.txt')
            if args.only not in (None, name):
                continue
            data = folder / file.replace('/', '-')
            shutil.copyfile(DATA / file, data)
            words = ['--buildid-dir', 'ids', 'report', '--stdio', '-i', data.name]
            words += shlex.split(options)
            if args.update:
                status, out, _ = run(['perf'] + words, folder)
                path.write_bytes(normalised(out))
                assert status == 0, (name, status)
            if name in NEEDS_LIBDW and not has_libdw and not args.perf:
                skip(name, 'this build has no libdw')
                continue
            got = Answer(*run(([args.perf] if args.perf else sonde) + words, folder))
            want = Answer(0, path.read_bytes(), b'')
            why = compare(want, got, lambda: want)  # a stored text has no unstable lines
            if name not in unequal or args.perf:
                say(not why, name, why)
            elif why:
                skip(name, 'differs from perf as tests/data/report/unequal.txt says')
            else:
                say(False, name, 'equal now: remove it from tests/data/report/unequal.txt')
    return done()


if __name__ == '__main__':
    sys.exit(main())
