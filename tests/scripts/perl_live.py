# SPDX-License-Identifier: MIT
"""Screens in Perl on a pipe are redrawn on time without events, and once after Ctrl-C: rw-top.pl
and perf's rwtop.pl."""

import array
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time

from scripttest import HERE, SONDE, Tests, environment

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "analyses"))
from known import Trace  # noqa: E402

OURS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "rw-top.pl")
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


# ---- a recording in a file ---------------------------------------------------------------------

# Where the copy of the script is.
shutil.copy(os.path.join(os.path.dirname(OURS), "Screen.pm"), t.dir)
tr = trace()
calls(tr, "read", 3, 0)
calls(tr, "read", 1, 10**9, ret=-11)
calls(tr, "write", 2, 2 * 10**9, tid=7, ret=50)
tr.write(t.dir + "/rw.data")
# The modules that it uses are in its folder.
t.write("Analysis.pm", open(os.path.join(os.path.dirname(OURS), "Analysis.pm")).read())
r = t.script(open(OURS).read(), t.dir + "/rw.data", ("1", "1"), both=False, name="rw-top.pl")
t.is_([line.split() for line in r.out.splitlines()],
      [["in", "all,", "2.0", "s:", "2", "threads"],
       "tid comm reads bytes read writes bytes written errors".split(),
       "5 worker 4 300 0 0 1".split(), "(and 1 more)".split()], "rw-top.pl: a recording in a file",
      r)
for args in ("0",), ("x",), ("1", "0"), ("1", "2", "3"), ("99999999",):
    r = t.script(open(OURS).read(), t.dir + "/rw.data", args, both=False, name="rw-top.pl")
    t.ok(r.rc and "usage: rw-top.pl" in r.err and not r.out,
         "rw-top.pl %s is refused" % " ".join(args), r)

# ---- on a pipe ---------------------------------------------------------------------------------

tr, live, begun = trace(), Live(OURS, "0.2"), time.monotonic()
calls(tr, "read", 3, 0)
live.feed(tr)
t.is_(live.line("5 ").split(), "5 worker 3 300 0 0 0".split(),
      "rw-top.pl: a table while the pipe is open")
tables = [live.line("(none)") for _ in range(9)]
seconds = time.monotonic() - begun
# A busy machine shows tables later, but never earlier.
t.ok(all(tables) and seconds >= 9 * 0.2, "rw-top.pl: a table every 0.2 s, without events", seconds)
calls(tr, "write", 2, 10**9, ret=50)
live.feed(tr)
t.is_(live.line("5 ").split(), "5 worker 0 0 2 100 0".split(),
      "rw-top.pl: the next tables count only new events")
status, out, err = live.end(signal.SIGINT)
last = out.split("in all, ")[-1].splitlines()
t.ok((status, err) == (0, "") and last and last[0] == "1.0 s: 1 threads" and
     last[-1].split() == "5 worker 3 300 2 100 0".split(),
     "rw-top.pl: the table after Ctrl-C counts all events", status, out, err)

live = Live(OURS, "0.1")
live.feed(trace())
live.p.stdout.readline()
live.p.stdout.close()
try:
    status = live.p.wait(600)
except subprocess.TimeoutExpired:
    live.p.kill()
    status = "still running"
t.ok(status == -signal.SIGPIPE and not live.p.stderr.read(),
     "rw-top.pl ends without a message if its reader closes the pipe", status)

# By name: recorder and screen run together.
probe = subprocess.run([SONDE, "record", "-q", "-a", "-o", t.dir + "/x.data", "-e",
                        "syscalls:sys_exit_read", "--", "true"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       env=environment())
for name, title in (("rw-top", b" threads\n"), ("syscall-top", b" per second\n")):
    if probe.returncode:
        t.skip("%s by its name" % name, "nothing can be recorded: " + probe.stdout.decode()[-200:],
               False)
        continue
    p = subprocess.Popen([SONDE, "script", name, "0.3"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                         cwd=t.dir)
    limit = threading.Timer(600, p.send_signal, [signal.SIGINT])
    limit.start()
    tables = 0
    for line in p.stdout:
        tables += line.endswith(title)
        if tables == 3:
            break
    limit.cancel()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=600)
    t.ok(tables == 3 and p.returncode == 0 and b"in all, " in out,
         "%s by its name: tables until Ctrl-C, and one after it" % name, tables,
         p.returncode, out[-500:], err)

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
