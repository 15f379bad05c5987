#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""progress.py SONDE DATA: the line that says how far a long reading is; it comes from a pipe that stops in its middle."""
import os
import pathlib
import struct
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, end_pty, open_on_pty, run, say  # noqa: E402

SONDE, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
WIPE = b'\r\x1b[K'


def piped():
    """A recording in pipe mode of 200,000 samples, with a round behind each thousand."""
    attr = struct.pack('<IIQQQQQQQ', 1, 64, 0, 1, 6, 0, 0x40000, 0, 0) + struct.pack('<Q', 7)
    out = [b'PERFILE2', struct.pack('<Q', 16), struct.pack('<IHH', 64, 0, 8 + len(attr)), attr]
    for i in range(200000):
        out.append(struct.pack('<IHHIIQ', 9, 2, 24, 12, 12, 1000 + i))
        if i % 1000 == 999:
            out.append(struct.pack('<IHH', 68, 0, 8))
    return b''.join(out)


def feed(fd, blob):
    try:
        with open(fd, 'wb', buffering=0) as f:
            f.write(blob[:len(blob) // 2])
            time.sleep(1.3)
            f.write(blob[len(blob) // 2:])
    except BrokenPipeError:
        pass


def on_terminal(words, blob, out=None, more=None):
    """What the terminal shows of a reading that takes more than a second."""
    end_out, end_in = os.pipe()
    how = {'stdout': os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)} if out else {}
    p, fd = open_on_pty([SONDE] + words, stdin=end_out, env=dict(ENV, TERM='xterm') | (more or {}), **how)
    for end in [end_out, *how.values()]:
        os.close(end)
    threading.Thread(target=feed, args=(end_in, blob)).start()
    shown = end_pty(p, fd)[1]
    return shown.replace(b'\r\n', b'\n')


def main():
    blob = piped()
    plain = lambda shown: shown.rsplit(WIPE, 1)[-1]  # noqa: E731
    info = ['info', '-i', '-']
    shown = on_terminal(info, blob)
    say(b' events' in shown.split(WIPE)[1] if WIPE in shown else False, 'drawn after a second', repr(shown[:300]))
    say(plain(shown).startswith(b'recording '), 'wiped before anything else is written', repr(shown[:300]))
    say(b'\x1b' not in on_terminal(info + ['--no-progress'], blob), '--no-progress')
    say(b'\x1b' not in on_terminal(info, blob, more={'TERM': 'dumb'}), 'not on a dumb terminal')
    with tempfile.TemporaryDirectory() as folder:
        script = ['script', '-i', '-', '--no-pager']
        say(WIPE not in on_terminal(script, blob), 'not where the text goes to the terminal')
        shown = on_terminal(script, blob, folder + '/out')
        say(WIPE in shown and b' events' not in plain(shown) and os.path.getsize(folder + '/out') > 0, 'of text into a file', repr(shown[:300]))
    say(WIPE not in on_terminal(['script', '-i', '-'], blob, more={'PAGER': 'sed s/^/P:/'}), 'not with a pager')
    status, out, err = run([SONDE, 'info', str(DATA / 'demo.data')])
    say(status == 0 and b'\x1b' not in out + err, 'not where stderr is no terminal')
    say(b'\x1b' not in on_terminal(['info', str(DATA / 'demo.data')], blob), 'not within the first second')
    return done()


sys.exit(main())
