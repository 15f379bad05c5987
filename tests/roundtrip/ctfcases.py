# SPDX-License-Identifier: MIT
"""What the tests of CTF traces have in common: a folder for them, and sonde and babeltrace2 over a
trace. The caller removes TOP.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
from points import ENV, say, skip  # noqa: E402

DATA = TESTS / 'data'
SONDE = str(pathlib.Path(sys.argv[1]).resolve())
BABELTRACE = shutil.which('babeltrace2')
TOP = pathlib.Path(tempfile.mkdtemp(prefix='sonde-ctf-'))


def run(*command, **env):
    p = subprocess.run(list(map(str, command)), env=dict(ENV, **env), stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=120)
    return (p.returncode, p.stdout.decode('utf-8', 'backslashreplace'),
            p.stderr.decode('utf-8', 'backslashreplace'))


def script(folder, *args, **env):
    return run(SONDE, 'script', '-i', folder, *args, **env)


def differs(got, want):
    got, want = got.splitlines(), want.splitlines()
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got, want) if g != w][:3]
    if len(got) != len(want):
        wrong.append('%d lines, expected %d' % (len(got), len(want)))
    return '\n'.join(wrong)


def printed(name, folder, want, compare=True, defects=0):
    """The trace is printed as `want` says, by stock babeltrace2, too (compare)."""
    status, out, err = script(folder, '--format', 'babeltrace')
    say(status == 0 and out == want and bool(err) == bool(defects), name,
        differs(out, want) + err)
    if not BABELTRACE:
        return skip(name + ', by babeltrace2', 'no babeltrace2', may=False)
    if compare:
        theirs = run(BABELTRACE, folder)[1]
        say(theirs == want, name + ', by babeltrace2', differs(theirs, want))
    return None
