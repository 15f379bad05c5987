# SPDX-License-Identifier: MIT
"""syscall-top.py: a file gives one table. A pipe gives tables at intervals, also without new
events, and a last one after Ctrl-C.
"""
import json
import signal
import subprocess
import time

from analysistest import SONDE, Analyses, environment
from known import Trace

ENTER, EXIT = "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"
READ, WRITE = 0, 1

t = Analyses("syscall-top.py")


def calls(tr, number, count, begin, length, tid=5, ret=0):
    for i in range(count):
        tr.event(ENTER, begin + 2 * length * i, tid=tid, id=number)
        tr.event(EXIT, begin + 2 * length * i + length, tid=tid, id=number, ret=ret)


def trace():
    return Trace().task(5, "worker").task(7, "helper", pid=5).declare(ENTER).declare(EXIT)


tr = trace()
calls(tr, READ, 10, 0, 10**8)  # 1.9 s
calls(tr, WRITE, 2, 10**8, 5 * 10**7, tid=7, ret=-32)
t.prints(tr, ["in all, 1.8 s: 12 calls, 7 per second",
              "call   calls  per s  errors    total     mean      p50      p90      p99      max",
              "read      10    5.6       0  1.00  s   100 ms   100 ms   100 ms   100 ms   100 ms",
              "write      2    1.1       2   100 ms  50.0 ms  50.0 ms  50.0 ms  50.0 ms  50.0 ms"],
         "a recording in a file", by_perf=False)
t.is_([(r["comm"], r["pid"], r["call"], r["calls"], r["errors"])
       for r in t.json(tr, "--by", "process")["calls"]],
      [("worker", 5, "read", 10, 0), ("worker", 5, "write", 2, 2)], "by process")
t.is_([(r["comm"], r["tid"]) for r in t.json(tr, "--by", "thread")["calls"]],
      [("worker", 5), ("helper", 7)], "by thread")
t.prints(trace(), ["in all, 0.0 s: 0 calls, 0 per second", "(none)"], "no call at all",
         by_perf=False)
r = t.analyse(tr, "0")
t.ok(r.rc == 1 and "an INTERVAL of 0 seconds: give one from 0.01 to 86400" in r.err,
     "an interval of 0 is refused", r)


class Live:
    def __init__(self, *args):
        self.p = subprocess.Popen([SONDE, "script", "-i", "-", t.script_path, *args],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(SONDE_PYTHON=t.python))

    def feed(self, tr):
        self.p.stdin.write(tr.stream())
        self.p.stdin.flush()

    def table(self):
        """The next line of --json; {} at the end of the output."""
        line = self.p.stdout.readline()
        return json.loads(line) if line else {}

    def end(self, number=None):
        if number:
            self.p.send_signal(number)
            out, err = self.p.stdout.read(), self.p.stderr.read()
        else:
            self.p.stdin.close()
            out, err = self.p.stdout.read(), self.p.stderr.read()
        return self.p.wait(600), out.decode(), err.decode()


def counts(table):
    return {row["call"]: row["calls"] for row in table.get("calls", ())}


tr, live, begun = trace(), Live("--json", "0.2"), time.monotonic()
calls(tr, READ, 3, 0, 1000)
live.feed(tr)
table = live.table()
while table and not counts(table):  # the first tables may be printed before the events are read
    table = live.table()
t.is_(counts(table), {"read": 3}, "a table while the pipe is open")
tables = [live.table() for _ in range(9)]
seconds = time.monotonic() - begun
# A busy machine shows tables later, but never earlier.
t.ok(all(tables) and not any(map(counts, tables)) and seconds >= 9 * 0.2,
     "a table every 0.2 s, without events", seconds)
calls(tr, WRITE, 2, 10**9, 1000)
live.feed(tr)
table = live.table()
while table and not counts(table):
    table = live.table()
t.is_(counts(table), {"write": 2}, "the next tables count only new events")
status, out, err = live.end(signal.SIGINT)
last = json.loads(out.splitlines()[-1]) if out else {}
t.is_((status, counts(last), err), (0, {"read": 3, "write": 2}, ""),
      "the table after Ctrl-C counts all events")
t.ok(last.get("seconds") == 1.0, "the table after Ctrl-C has the time of all events", last)

tr, live = trace(), Live("0.2", "--top", "1")
calls(tr, READ, 3, 0, 1000)
calls(tr, WRITE, 1, 10**9, 1000)
live.feed(tr)
first = live.p.stdout.readline()
status, out, err = live.end()
t.ok(status == 0 and b" calls, " in first and "\n\nin all, " in out and "\nread      3 " in out and
     "... 1 more" in out,
     "the end of the pipe", first, out, err)

live = Live("0.1")
live.feed(trace())
live.p.stdout.readline()
live.p.stdout.close()
try:
    status = live.p.wait(600)
except subprocess.TimeoutExpired:
    live.p.kill()
    status = "still running"
t.ok(status == 0 and not live.p.stderr.read(),
     "it ends without a message if its reader closes the pipe", status)
t.done()
