#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""apache.py SONDE MADE: apache-arrow of npm reads the files of sonde convert, with the same values.

MADE is tests/convert/made.c. npm installs apache-arrow into a temporary folder; without npm, or if
it cannot, the test is skipped.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
import arrow_read  # noqa: E402
import points  # noqa: E402
from points import done, run  # noqa: E402
from recordings import stored_and_corpus  # noqa: E402

SONDE, MADE = [str(pathlib.Path(p).resolve()) for p in sys.argv[1:3]]
NOT_EXACT = ('date',)  # timestamps are floats of milliseconds there


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else str(why)[:2000])


def as_there(field, value):
    """A value of arrow_read as apache.mjs prints it: 64 bits as text, bytes as digits."""
    if isinstance(value, list):
        return [as_there(field.children[0], v) for v in value]
    if isinstance(value, dict):
        return {c.name: as_there(c, value[c.name]) for c in field.children}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, int) and field.form in ('q', 'Q'):
        return str(value)
    return value


def install(folder):
    if not shutil.which('npm') or not shutil.which('node'):
        return 'npm is not installed'
    p = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', 'apache-arrow'], cwd=folder,
                       capture_output=True, text=True, timeout=300)
    return p.returncode and 'npm cannot install apache-arrow: ' + p.stderr.strip()[-200:]


def make(folder):
    for fmt, suffix in ('arrow', '.arrows'), ('arrow-file', '.arrow'):
        run([MADE, fmt, str(folder / ('made' + suffix))])
        run([MADE, fmt, str(folder / ('none' + suffix)), 'none'])
        for nr, path in enumerate(stored_and_corpus()):
            if path.is_file() and path.stat().st_size < 1 << 20:
                run([SONDE, 'convert', '-i', str(path), '--stacks', '--to', fmt, '-o',
                     str(folder / ('%d%s' % (nr, suffix)))])
    return sorted(p for p in folder.rglob('*.arrow*') if p.is_file() and
                  'node_modules' not in p.parts)


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-apache-') as name:
        folder = pathlib.Path(name)
        why_not = install(folder)
        if why_not:
            print('1..0 # SKIP ' + why_not)
            return 0
        shutil.copy(HERE / 'apache.mjs', folder)
        paths = make(folder)
        p = subprocess.run(['node', 'apache.mjs', *map(str, paths)], cwd=folder,
                           capture_output=True, text=True, timeout=600)
        lines = p.stdout.splitlines()
        say(p.returncode == 0 and len(lines) == len(paths) > 50, '%d files' % len(paths), p.stderr)
        for path, line in zip(paths, lines):
            ours, theirs = arrow_read.read(path), json.loads(line)
            wrong = [f.name for f in ours.fields if f.name not in NOT_EXACT and
                     [as_there(f, v) for v in ours.columns[f.name]] !=
                     theirs['columns'].get(f.name)]
            say(not wrong and theirs['rows'] == sum(ours.batches),
                str(path.relative_to(folder)), wrong)
    return done()


sys.exit(main())
