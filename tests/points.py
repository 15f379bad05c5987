# SPDX-License-Identifier: MIT
"""TAP for tests that tell their points as they come, most of them beside perf.

    sys.path.insert(0, str(HERE.parent))
    from points import ENV, FULL, IN_CI, done, run, say, skip

    say(ours == theirs, 'name', 'what differs')
    skip('name', 'no perf here', may=False)
    sys.exit(done())
"""
import os
import subprocess
import sys

ENV = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C', 'TZ': 'UTC',
       'PERF_CONFIG': '/dev/null'}
ENV.update({k: os.environ[k] for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ})
IN_CI = os.environ.get('SONDE_CI') == '1'
FULL = os.environ.get('SONDE_FULL') == '1'  # all there is to compare, not the share that each run takes
UNDER_ASAN = os.environ.get('SONDE_ASAN', '0') not in ('', '0')  # an interpreter needs the sanitizer's library before ours
NO_LEAKS = {'ASAN_OPTIONS': 'detect_leaks=0'} if UNDER_ASAN else {}  # looking for leaks traces the process
count = failed = 0


def say(ok, name, why=''):
    """why: told line by line, whether it is ok or not."""
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


def run(command, cwd=None, timeout=120):
    """(exit status or a sentence, stdout, stderr)"""
    try:
        p = subprocess.run(command, env=ENV, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return 'ran longer than %d s' % timeout, b'', b''
    return p.returncode, p.stdout, p.stderr
