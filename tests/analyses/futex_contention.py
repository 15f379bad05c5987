# SPDX-License-Identifier: MIT
"""futex-contention.py: waits by address, operations with flags, wakers, the ends of waits."""
import sys

from analysistest import Analyses
from known import Trace

ENTER, EXIT = "syscalls:sys_enter_futex", "syscalls:sys_exit_futex"
PRIVATE, REALTIME = 128, 256
WAIT, WAKE, REQUEUE, WAKE_OP, LOCK_PI, UNLOCK_PI, TRYLOCK_PI, WAIT_BITSET, WAKE_BITSET = (
    0, 1, 3, 5, 6, 7, 8, 9, 10)
LOCK, COND, PI, OTHER = 0x7f0000001000, 0x7f0000002000, 0x7f0000003000, 0x1000

t = Analyses("futex-contention.py")


def futex(tr, tid, op, address, begin, end, ret=0):
    tr.event(ENTER, begin, tid=tid, uaddr=address, op=op)
    if end is not None:
        tr.event(EXIT, end, tid=tid, ret=ret)


def recording():
    tr = Trace().task(5, "main").task(6, "one", pid=5).task(7, "two", pid=5).task(9, "other")
    tr.event(EXIT, 10, tid=9, ret=0)  # it began before the recording
    futex(tr, 6, WAIT | PRIVATE, LOCK, 1000, 51000)
    futex(tr, 7, WAIT | PRIVATE, LOCK, 2000, 32000)
    futex(tr, 5, WAKE | PRIVATE, LOCK, 31000, 31500, 1)
    futex(tr, 7, WAKE_OP | PRIVATE, LOCK, 50000, 50500, 1)
    futex(tr, 5, WAKE | PRIVATE, LOCK, 60000, 60500, 0)  # no task waits: it wakes none
    futex(tr, 5, WAIT | PRIVATE, LOCK, 61000, 61500, -11)
    futex(tr, 6, WAIT_BITSET | PRIVATE | REALTIME, COND, 70000, 80000, -110)
    futex(tr, 6, WAIT_BITSET | PRIVATE | REALTIME, COND, 81000, 83000, -512)
    futex(tr, 6, LOCK_PI | PRIVATE, PI, 90000, 96000)
    futex(tr, 5, UNLOCK_PI | PRIVATE, PI, 95000, 95500)
    futex(tr, 5, UNLOCK_PI | PRIVATE, PI, 97000, 97500)  # no task waits
    futex(tr, 5, TRYLOCK_PI | PRIVATE, PI, 98000, 98500, -11)
    futex(tr, 9, WAIT, LOCK, 1500, 2500)  # the same address in another process
    futex(tr, 9, WAIT, OTHER, 99000, None)  # still waiting
    return tr


t.prints(recording(), [
    "process  pid           futex  waits    total     mean      p50      p95      p99      max  "
    "timed out  interrupted  no wait"
    "  at once  operations   wakers (woken)",
    "main       5  0x7f0000001000      2  80.0 us  40.0 us  30.0 us  50.0 us  50.0 us  50.0 us    "
    "      0            0        1"
    "        2  WAIT         main/5 (1), two/7 (1)",
    "main       5  0x7f0000002000      2  12.0 us  6.00 us  2.00 us  10.0 us  10.0 us  10.0 us    "
    "      1            1        0"
    "        1  WAIT_BITSET",
    "main       5  0x7f0000003000      1  6.00 us  6.00 us  6.00 us  6.00 us  6.00 us  6.00 us    "
    "      0            0        0"
    "        1  LOCK_PI      main/5 (1)",
    "other      9  0x7f0000001000      1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us    "
    "      0            0        0"
    "        1  WAIT",
    "",
    "still waiting at the end",
    "thread  tid  pid   futex     since",
    "other     9    9  0x1000  0.000099",
    "1 end of a call is in the recording without the beginning"], "by lock")
rows = t.json(recording(), "--by", "thread")["futexes"]
t.is_([(r["comm"], r["tid"], r["pid"], r["waits"], r["total_ns"], r["max_ns"], r["no_wait"],
        r["operations"]) for r in rows],
      [("one", 6, 5, 4, 68000, 50000, 0, ["LOCK_PI", "WAIT", "WAIT_BITSET"]),
       ("two", 7, 5, 1, 30000, 30000, 0, ["WAIT"]),
       ("other", 9, 9, 1, 1000, 1000, 0, ["WAIT"]), ("main", 5, 5, 0, 0, None, 1, ["WAIT"])],
      "by thread")
t.is_(t.json(recording())["futexes"][0]["wakers"],
      [{"comm": "main", "tid": 5, "woken": 1}, {"comm": "two", "tid": 7, "woken": 1}],
      "wakers in JSON")

tr = Trace().task(6, "one", pid=5).task(7, "two", pid=5)
tr.event("syscalls:sys_enter_futex_wait", 1000, tid=6, uaddr=LOCK)
tr.event("syscalls:sys_enter_futex_wake", 3000, tid=7, uaddr=LOCK)
tr.event("syscalls:sys_exit_futex_wake", 3100, tid=7, ret=1)
tr.event("syscalls:sys_exit_futex_wait", 4000, tid=6)
tr.declare(ENTER).declare(EXIT)
t.prints(tr, [
    "process  pid           futex  waits    total     mean      p50      p95      p99      max  "
    "at once  operations"
              "  wakers (woken)",
              "one        5  0x7f0000001000      1  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  "
              "3.00 us        1  futex_wait"
              "  two/7 (1)"], "futex_wait() and futex_wake() of newer kernels")
tr = Trace().declare(ENTER).declare(EXIT)
t.prints(tr, ["nobody waited for a futex; record 'syscalls:sys_*_futex*'"], "no futex at all")
r = t.analyse(tr)
t.is_(r.err, "", "no message about calls that an older kernel does not have")

live = t.record(["-e", "syscalls:sys_*_futex*"], [sys.executable, "-S", "-E", "-c", """
import threading, time
lock = threading.Lock()
lock.acquire()
threads = [threading.Thread(target=lambda: lock.acquire() and lock.release()) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    while open("/proc/self/task/%d/stat" % thread.native_id).read().rpartition(") ")[2][0] != "S":
        time.sleep(0.001)
time.sleep(0.1)  # a thread may lose some of this time to the interpreter's lock
lock.release()
for thread in threads:
    thread.join()
"""], "a live recording")
if live:
    rows = [r for r in t.json(live)["futexes"] if r["most_waiting"] == 2 and
            r["max_ns"] >= 40 * 10**6]
    t.ok(len(rows) == 1, "two threads waited for one lock that was held for 100 ms", rows)
    t.ok(rows and rows[0]["waits"] >= 2 and rows[0]["wakers"], "they have wakers", rows)
t.done()
