# SPDX-License-Identifier: MIT
"""failed-syscalls.py: counts by process, call and error."""
import sys

from analysistest import Analyses
from known import Trace

EXIT = "raw_syscalls:sys_exit"
READ, OPENAT, PAUSE = 0, 257, 34

t = Analyses("failed-syscalls.py")
tr = Trace().task(5, "worker").task(7, "helper", pid=5).task(9, "other")
for i, (tid, number, ret) in enumerate([(5, OPENAT, -2)] * 3 + [(7, OPENAT, -2)] * 2 +
                                       [(5, OPENAT, -13), (9, OPENAT, 3)] +
                                       [(5, OPENAT, 4)] * 4 +
                                       [(9, PAUSE, -514), (9, READ, -4095), (9, READ, -4096)] +
                                       [(9, READ, -(1 << 63)), (9, READ, 0)]):
    tr.event(EXIT, 1000 * i, tid=tid, id=number, ret=ret)

t.prints(tr, ["process  pid  call    error           failed  of calls",
              "worker     5  openat  ENOENT               5    50.0 %",
              "other      9  pause   ERESTARTNOHAND       1   100.0 %",
              "other      9  read    errno 4095           1    25.0 %",
              "worker     5  openat  EACCES               1    10.0 %",
              "8 of 16 calls failed"], "by process")
t.prints(tr, ["call    error           failed  of calls",
              "openat  ENOENT               5    45.5 %",
              "openat  EACCES               1    9.09 %",
              "pause   ERESTARTNOHAND       1   100.0 %",
              "read    errno 4095           1    25.0 %",
              "8 of 16 calls failed"], "by call", "--by", "call")
t.is_(t.json(tr, "--by", "thread")["failed"][:2], [
    {"comm": "worker", "tid": 5, "call": "openat", "error": "ENOENT", "count": 3, "percent": 37.5},
    {"comm": "helper", "tid": 7, "call": "openat", "error": "ENOENT", "count": 2,
     "percent": 100.0}], "--json, by thread")
t.prints(Trace().event(EXIT, 10, id=READ, ret=5), ["none of 1 system calls failed"],
         "no failed call")
t.prints(Trace().declare(EXIT), ["no system call; record raw_syscalls:sys_exit"], "no call at all")

live = t.record(["-e", EXIT], [sys.executable, "-S", "-E", "-c", """
import os
for i in range(5):
    try:
        os.rmdir("/nonexistent/sonde")
    except OSError:
        pass
"""], "a live recording")
if live:
    rows = [row for row in t.json(live)["failed"] if row["call"] == "rmdir" or
            row["call"] == "unlinkat"]
    t.ok([(row["error"], row["count"]) for row in rows] == [("ENOENT", 5)],
         "5 calls that fail with ENOENT", rows)
t.done()
