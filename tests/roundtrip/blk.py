# SPDX-License-Identifier: MIT
"""What blktrace.py and blkparse.py share: the stored recordings, the recorded one, and sonde."""
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
import blktrace as made  # noqa: E402, F401
from points import ENV  # noqa: E402
from recordings import corpus_files  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DATA = TESTS / 'data' / 'blktrace'
RECORDED = next(iter(corpus_files('blktrace-sample__takeoverjp')), None)


def text_of(command, stdin=None, **env):
    """(exit status, stdout, stderr) of a command with more environment; bytes that are not UTF-8
    are escaped."""
    p = subprocess.run(command, env=dict(ENV, **env), input=stdin, capture_output=True, timeout=600)
    return (p.returncode, p.stdout.decode('utf-8', 'backslashreplace'),
            p.stderr.decode('utf-8', 'backslashreplace'))


def sonde(*args, stdin=None, **env):
    return text_of([SONDE, *map(str, args)], stdin, **env)
