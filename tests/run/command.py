# SPDX-License-Identifier: MIT
"""What the tests of sonde run share: the command, scripts, and a workload of known counts."""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'record'))
from tap import SCRIPT_ENV, SONDE, same  # noqa: E402

CALLS = os.path.abspath(sys.argv[2])
EVENT = 'syscalls:sys_enter_getppid'
EXIT = 'syscalls:sys_exit_getppid'


def sonde(*words, status=0, cwd=None, **env):
    p = subprocess.run([SONDE, *words], env=dict(SCRIPT_ENV, **env), stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=200, cwd=cwd)
    same(p.returncode, status, 'status of %r: %s%s' % (words, p.stdout, p.stderr))
    return p


def script(name, text):
    with open(name, 'w') as f:
        f.write(text)
    os.chmod(name, 0o644)
    return name
