# SPDX-License-Identifier: MIT
"""perf's screen in Perl, rwtop.pl, on a pipe: it is redrawn on time, and once after Ctrl-C."""

import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time

from scripttest import HERE, SONDE, Tests, environment

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "analyses"))
from known import Trace  # noqa: E402

PERFS = "/usr/lib/perf-core/scripts/perl/rwtop.pl"
COUNT = "int __syscall_nr; unsigned int fd; char *buf; size_t count"
RET = "int __syscall_nr; long ret"

t = Tests()


def trace():
    tr = Trace().task(5, "worker").task(7, "helper", pid=5)
    for call in "read", "write":
        tr.declare("syscalls:sys_enter_" + call, COUNT).declare("syscalls:sys_exit_" + call, RET)
    return tr


def calls(tr, call, count, begin, tid=5, ret=100):
    for i in range(count):
        tr.event("syscalls:sys_enter_" + call, begin + 2000 * i, tid=tid, fd=3, count=100)
        tr.event("syscalls:sys_exit_" + call, begin + 2000 * i + 1000, tid=tid, ret=ret)


class Live:
    def __init__(self, path, *args):
        self.p = subprocess.Popen([SONDE, "script", "-i", "-", "-s", path, *args],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE,
                                  env=environment(PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0"))

    def feed(self, tr):
        self.p.stdin.write(tr.stream())
        self.p.stdin.flush()

    def line(self, begins):
        """The next line that begins with this; "" at the end of the output."""
        for line in self.p.stdout:
            if line.decode().strip().startswith(begins):
                break
        else:
            line = b""
        return line.decode().strip()

    def end(self, number=None):
        if number:
            self.p.send_signal(number)
        out, err = self.p.communicate(timeout=600)
        return self.p.returncode, out.decode(), err.decode()


# The alarm of perf's rwtop.pl fires between two events; the second one prints the table.
if os.path.exists(PERFS):
    tr, live = trace(), Live(PERFS, "1")
    calls(tr, "read", 3, 0)
    live.feed(tr)
    n = array.array("i", [1])
    while n[0]:  # until it has started and read all events
        fcntl.ioctl(live.p.stdin, termios.FIONREAD, n)
        time.sleep(0.05)
    time.sleep(2.5)
    calls(tr, "write", 2, 10**9, tid=7)
    live.feed(tr)
    t.is_(live.line("5 ").split(), "5 worker 3 300 300".split(), "perf's rwtop.pl: a table on time")
    status, out, err = live.end(signal.SIGINT)
    t.ok((status, err) == (0, "") and "7  helper" in out.split("write counts by pid")[-1],
         "perf's rwtop.pl: a last table after Ctrl-C", status, out, err)
else:
    t.skip("perf's rwtop.pl", "it is not installed")
t.done()
