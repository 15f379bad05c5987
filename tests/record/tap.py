# SPDX-License-Identifier: MIT
"""TAP for the privileged tests: case(name) decorates a test, run() runs them all, Skip(reason)
skips one.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kallsyms  # noqa: E402
import settled  # noqa: E402, F401

PERF_ENV = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C',
            'TZ': 'UTC', 'PERF_CONFIG': '/dev/null', 'CCACHE_DISABLE': '1'}
# The environment for sonde with a script: the interpreter must load a sanitizer's library before
# the extension needs it.
SCRIPT_ENV = dict(PERF_ENV)
if os.environ.get('SONDE_ASAN'):
    SCRIPT_ENV.update(ASAN_OPTIONS='detect_leaks=0', LD_PRELOAD=subprocess.run(
        [os.environ.get('CC', 'cc'), '-print-file-name=libasan.so'], capture_output=True,
        text=True).stdout.strip())
SONDE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else 'sonde'
CI = bool(os.environ.get('SONDE_CI'))
cases = []


class Skip(Exception):
    pass


def case(text):
    def add(f):
        cases.append((text, f))
        return f
    return add


def perf():
    path = shutil.which('perf')
    if not path:
        if CI:
            raise AssertionError('perf is not installed, and SONDE_CI=1 asks for the comparison')
        raise Skip('perf is not installed')
    return path


def sh(*argv, env=None, timeout=600, **kw):
    """Runs a program to its end, with stdout and stderr as text."""
    return subprocess.run(argv, env=env or PERF_ENV, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, errors='replace', **kw)


def sonde(*argv, **kw):
    return sh(SONDE, *argv, **kw)


def need(what, text=''):
    if not what:
        raise AssertionError(text)


def same(a, b, what=''):
    if a != b:
        if isinstance(a, list) and isinstance(b, list):
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            what, a, b = ('%s (%d and %d of them; from number %d)' % (what, len(a), len(b), at),
                          a[at:at + 3], b[at:at + 3])
        raise AssertionError('%s differ:\n%r\n%r' % (what, a, b))


def wait_until(what, condition, seconds=600):
    """Waits for a condition.

    The limit only ends tests that fail: it is far above what a busy machine needs.
    """
    end = time.monotonic() + seconds
    while not condition():
        need(time.monotonic() < end, 'waited %d s in vain until %s' % (seconds, what))
        time.sleep(0.02)


def is_recording(p, path):
    """Whether a recorder has opened its events and waits for the first."""
    need(p.poll() is None, 'the recorder ended by itself')
    try:
        if not os.path.getsize(path):
            return False
    except FileNotFoundError:  # a previous file is renamed first
        return False
    with open('/proc/%d/wchan' % p.pid) as f:
        return 'poll' in f.read()


def is_asleep(pid):
    """Whether a program such as sleep(1) has been loaded and sleeps."""
    with open('/proc/%d/wchan' % pid) as f:
        return 'nanosleep' in f.read()


UNTIL_SWITCHED = '''
import sys, time
def switches(tid):
    with open('/proc/%s/status' % tid) as f:
        return int(f.read().split('\\nvoluntary_ctxt_switches:')[1].split()[0])
least = {tid: switches(tid) + int(sys.argv[1]) for tid in sys.argv[2:]}
while any(switches(tid) < n for tid, n in least.items()):
    time.sleep(0.01)
'''


def until_switched(n, *tids):
    """A command that ends when each of these threads has given up its cpu n more times."""
    return [sys.executable, '-S', '-E', '-c', UNTIL_SWITCHED, str(n), *map(str, tids)]


def few_symbols():
    """From here on this program and its children see only the beginning of the kernel's list of
    symbols and the end of its text: for tests that do not look at names of the kernel.
    """
    if not why_not_record():
        kallsyms.cut_short()


@contextlib.contextmanager
def small_disk(options):
    """A folder `small` on a tmpfs of its own, mounted with these options: 'size=600k'."""
    os.mkdir('small')
    if sh('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', 'small').returncode:
        raise Skip('no right to mount')
    try:
        yield
    finally:
        sh('umount', 'small')
        os.rmdir('small')


def reported_samples(stderr):
    """The number of samples in the recorder's closing line."""
    line = re.search(r'\((\d+) samples\)', stderr)
    need(line, 'no number of samples in: ' + stderr)
    return int(line.group(1))


def says_full(r):
    """The number of samples in the closing line of a recorder that must have ended because its disk
    was full.
    """
    need(r.returncode == 1 and 'the disk is full' in r.stderr, '%d %s' % (r.returncode, r.stderr))
    return reported_samples(r.stderr)


def why_not_record():
    if os.geteuid() != 0:
        return 'needs root'
    if not (os.path.exists('/sys/kernel/tracing/available_events') or
            os.path.exists('/sys/kernel/debug/tracing/available_events')):
        return 'tracefs is not mounted'
    return None


def run():
    reason = why_not_record()
    if reason:
        print('1..0 # SKIP ' + reason)
        return
    print('1..%d' % len(cases))
    failed = False
    for n, (text, f) in enumerate(cases, 1):
        where = os.getcwd()
        with tempfile.TemporaryDirectory(prefix='sonde-record-') as d:
            os.chmod(d, 0o755)
            os.chdir(d)
            try:
                f()
                print('ok %d - %s' % (n, text))
            except Skip as s:
                print('ok %d - %s # SKIP %s' % (n, text, s))
            except Exception:
                failed = True
                print('not ok %d - %s' % (n, text))
                for line in traceback.format_exc().splitlines():
                    print('# ' + line)
            finally:
                os.chdir(where)
        sys.stdout.flush()
    sys.exit(failed)
