# SPDX-License-Identifier: MIT
"""syscall-latency.py: counts, times, errors, calls without a beginning or an end."""
import os
import sys

from analysistest import Analyses
from known import Trace

ENTER, EXIT = "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"
READ, WRITE, CLONE, EXIT_GROUP, OPENAT = 0, 1, 56, 231, 257

t = Analyses("syscall-latency.py")


def call(tr, tid, number, begin, end, ret=0, cpu=0):
    tr.event(ENTER, begin, cpu=cpu, tid=tid, id=number)
    tr.event(EXIT, end, cpu=1 - cpu, tid=tid, id=number, ret=ret)


def mixed():
    """Calls of two threads of a process and of another process: interleaved, on changing cpus, some
    incomplete.
    """
    tr = Trace().task(5, "worker").task(7, "helper", pid=5).task(9, "other")
    tr.event(EXIT, 500, tid=9, id=READ, ret=3)  # it began before the recording
    for i in range(10):
        call(tr, 5, READ, 1000 + 10000 * i, 2000 + 11000 * i)  # 1000, 2000 ... 10000 ns
    call(tr, 7, OPENAT, 3000, 5500, -2)
    call(tr, 7, OPENAT, 6000, 8500, 4)
    call(tr, 9, WRITE, 1200, 1200 + 2 * 10**6, -32, cpu=1)
    tr.event(EXIT, 5600, tid=77, id=CLONE, ret=0)  # a new task ends the call that its parent began
    tr.event(ENTER, 9000, tid=7, id=WRITE)  # its end is not recorded
    tr.event(ENTER, 9500, tid=7, id=EXIT_GROUP)
    tr.event(ENTER, 9600, tid=5 + 100, id=READ)
    return tr.exit(7, 9700)


TAIL = ["",
        "not over at the end",
        "thread  tid  call     since",
        ":105    105  read  0.000009",
        "1 end of a call is in the recording without the beginning",
        "1 beginning of a call is in the recording without the end"]
t.prints(mixed(), [
    "call    calls  errors    total     mean      p50      p95      p99      max",
    "write       1       1  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms",
    "read       10       0  55.0 us  5.50 us  5.00 us  10.0 us  10.0 us  10.0 us",
    "openat      2       1  5.00 us  2.50 us  2.50 us  2.50 us  2.50 us  2.50 us"] + TAIL,
         "by call")
t.prints(mixed(), [
    "process  pid  call    calls  errors    total     mean      p50      p95      p99      max",
    "other      9  write       1       1  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms",
    "worker     5  read       10       0  55.0 us  5.50 us  5.00 us  10.0 us  10.0 us  10.0 us",
    "worker     5  openat      2       1  5.00 us  2.50 us  2.50 us  2.50 us  2.50 us  2.50 us"] +
         TAIL,
         "by process: threads under its name", "--by", "process")
t.prints(mixed(), [
    "thread  tid  call   calls  errors    total     mean      p50      p95      p99      max",
    "other     9  write      1       1  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms",
    "... 2 more; --top 0 shows all"] + TAIL, "by thread, --top 1", "--by", "thread", "--top", "1")
t.is_(t.json(mixed(), "--by", "thread"), {
    "analysis": "syscall-latency",
    "calls": [dict(comm=comm, tid=tid, call=name, calls=n, errors=bad, total_ns=total, mean_ns=mean,
                   p50_ns=p50, p95_ns=most, p99_ns=most, max_ns=most)
              for comm, tid, name, n, bad, total, mean, p50, most in (
                  ("other", 9, "write", 1, 1, 2000000, 2000000, 2000000, 2000000),
                  ("worker", 5, "read", 10, 0, 55000, 5500, 5000, 10000),
                  ("helper", 7, "openat", 2, 1, 5000, 2500, 2500, 2500))],
    "open": [{"comm": ":105", "tid": 105, "call": "read", "since_ns": 9600}],
    "begun_before": 1, "not_ended": 1, "lost": 0}, "--json has the exact numbers")

tr = Trace().task(5, "worker").declare(ENTER).declare(EXIT)
nothing = ("no system call with its beginning and its end; record raw_syscalls:sys_enter and "
           "raw_syscalls:sys_exit")
t.prints(tr, [nothing], "a recording without a single call")
r = t.analyse(tr, "--top", "-1")
t.ok(r.rc == 2 and "--top: -1 is below 0" in r.err, "--top -1 is refused", r)
r = t.analyse(tr, "--help")
t.ok(not r.rc and "sonde record -a -e raw_syscalls" in r.out and
     "--by {call,process,thread}" in r.out, "--help", r)

# 5000 values of one call: percentiles from buckets, within 1 %.
tr, now, lengths = Trace().task(5, "worker"), 0, []
for i in range(5000):
    length = 100 + i * i % 99991 * 7
    lengths.append(length)
    call(tr, 5, READ, now, now + length)
    now += length + 10
row = t.json(tr)["calls"][0]
lengths.sort()
for percent in (50, 95, 99):
    exact = lengths[5000 * percent // 100 - 1]
    t.ok(abs(row["p%d_ns" % percent] - exact) <= exact / 100, "p%d of 5000 values" % percent, row,
         exact)
t.is_((row["calls"], row["total_ns"], row["max_ns"]), (5000, sum(lengths), lengths[-1]),
      "their exact sum and maximum")

longest = os.path.join(t.dir, "longest")
live = t.record(["-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit"], [sys.executable, "-S", "-E", "-c", """
import os, time
longest = 0
for i in range(20):
    begin = time.monotonic_ns()
    time.sleep(0.01)
    longest = max(longest, time.monotonic_ns() - begin)
open(%r, "w").write(str(longest))
for i in range(5):
    try:
        os.open("/nonexistent/sonde", os.O_RDONLY)
    except OSError:
        pass
""" % longest], "a live recording")
if live:
    rows = {row["call"]: row for row in t.json(live)["calls"]}
    naps = rows.get("clock_nanosleep") or rows.get("nanosleep") or {}
    t.is_(naps.get("calls"), 20, "20 naps are 20 calls", rows)
    with open(longest) as f:
        longest_ns = int(f.read())  # the longest nap, however late a busy machine ends it
    # Distributions are exact to 1 %.
    t.ok(0.99 * 10**7 <= naps.get("p50_ns", 0) <= naps.get("max_ns", 0) <= longest_ns,
         "naps of 10 ms take 10 ms", naps, longest_ns)
    t.ok(rows["openat"]["errors"] >= 5, "failing opens are errors", rows["openat"])
t.done()
