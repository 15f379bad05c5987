# SPDX-License-Identifier: MIT
"""TAP for tests that print their points one by one, most of them compared with perf.

    sys.path.insert(0, str(HERE.parent))
    from points import ENV, FULL, IN_CI, done, run, say, skip

    say(ours == theirs, 'name', 'what differs')
    skip('name', 'no perf here', may=False)
    sys.exit(done())

and commands on a terminal, for all tests:

    status, shown = on_pty([SONDE, 'info'], env=ENV, size=(24, 80))
"""
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

import settled  # noqa: F401

ENV = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C',
       'TZ': 'UTC', 'PERF_CONFIG': '/dev/null',
       # A compiler that is ccache would make the home, where perf then keeps symbols.
       'CCACHE_DISABLE': '1'}
ENV.update({k: os.environ[k] for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ})
IN_CI = os.environ.get('SONDE_CI') == '1'
# all there is to compare, not the share that each run takes
FULL = os.environ.get('SONDE_FULL') == '1'
# an interpreter needs the sanitizer's library before ours
UNDER_ASAN = os.environ.get('SONDE_ASAN', '0') not in ('', '0')
# looking for leaks traces the process
NO_LEAKS = {'ASAN_OPTIONS': 'detect_leaks=0'} if UNDER_ASAN else {}
count = failed = 0


def say(ok, name, why=''):
    """why: printed line by line, whether it is ok or not."""
    global count, failed
    count += 1
    failed += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', count, name.replace('#', r'\#')))
    for line in why.splitlines():
        print('# ' + line)
    sys.stdout.flush()


def skip(name, reason, may=True):
    """may: whether it may be missing where SONDE_CI=1 asks for it."""
    global count
    if IN_CI and not may:
        return say(False, name, 'SONDE_CI: ' + reason)
    count += 1
    print('ok %d - %s # SKIP %s' % (count, name.replace('#', r'\#'), reason))
    sys.stdout.flush()
    return None


def done():
    """The plan; the exit status."""
    print('1..%d' % count)
    return failed != 0


def run(command, cwd=None, timeout=600):
    """(exit status or a sentence, stdout, stderr)"""
    try:
        p = subprocess.run(command, env=ENV, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=timeout)
    except subprocess.TimeoutExpired:
        return 'ran longer than %d s' % timeout, b'', b''
    return p.returncode, p.stdout, p.stderr


def open_on_pty(words, size=None, **how):
    """A process with a new terminal, and the terminal's other end. size: (rows, columns); how: of
    Popen(), where stdin, stdout and stderr are the terminal unless given."""
    ours, theirs = pty.openpty()
    if size:
        resize(ours, *size)
    for end in 'stdin', 'stdout', 'stderr':
        how.setdefault(end, theirs)
    p = subprocess.Popen(words, start_new_session=True,
                         preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0), **how)
    os.close(theirs)
    return p, ours


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


def read_pty(fd, until=lambda out: False, seconds=300):
    """The bytes shown until that holds of them, no process has the terminal any more, or the time
    is over."""
    out, end = b'', time.monotonic() + seconds
    while not until(out) and time.monotonic() < end:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    return out


def end_pty(p, fd, seconds=300):
    """(exit status, negative: the signal; the bytes shown until the process ended, which is killed
    if the time is over)"""
    end = time.monotonic() + seconds
    out = read_pty(fd, seconds=seconds)
    try:
        p.wait(timeout=max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        p.kill()
    os.close(fd)
    return p.wait(), out


def on_pty(words, seconds=300, **how):
    return end_pty(*open_on_pty(words, **how), seconds=seconds)
