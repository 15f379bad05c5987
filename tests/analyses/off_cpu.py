# SPDX-License-Identifier: MIT
"""off-cpu.py: times by stack and state in handmade recordings, folded stacks, incomplete times, a
program that naps.
"""
import os
import sys

from analysistest import Analyses
from scheduler import DEAD, DISK, PREEMPTED, RUNNING, SLEEP, Scheduler

t = Analyses("off-cpu.py")
USER = 0xfffffffffffffe00  # PERF_CONTEXT_USER
READ, WRITE = (USER, 0x401000, 0x401100), (USER, 0x402000)


def mixed():
    tr = Scheduler(chains=True).task(5, "reader").task(6, "writer").mapped(5, 0x401000, 0x1000,
                                                                           "/opt/lib;one.so")
    tr.switch(500, 0, 5)  # it left the cpu before the recording
    tr.switch(1000, 5, 6, SLEEP, chain=READ)
    tr.waking(4000, 5, by=6).woken(4100, 5, by=6)
    # Each comment is about the task that gets the cpu.
    tr.switch(5000, 6, 5, PREEMPTED, chain=WRITE)  # reader: away for 4 us, 1 us of it waiting
    tr.switch(7000, 5, 6, DISK, chain=READ)        # writer: 2 us, all waiting
    tr.waking(8000, 5, by=0).woken(8000, 5, by=0)
    tr.switch(9000, 6, 5, RUNNING)                 # reader: 2 us, 1 waiting; no call chain
    tr.switch(10000, 5, 6, SLEEP, chain=READ)      # writer: 1 us, all waiting
    tr.switch(30000, 6, 5, SLEEP, chain=WRITE)     # reader: 20 us; its waking is not recorded
    return tr.switch(31000, 5, 0, DEAD)


END = ["", "1 task was not back at the end"]
HEAD = "times    total   waited     mean      p95      max  state      thread"
t.prints(mixed(), [
    HEAD,
    "    2  24.0 us  1.00 us  12.0 us  20.0 us  20.0 us  sleep      reader",
    "    [lib;one.so]",
    "    [lib;one.so]",
    "    1  2.00 us  1.00 us  2.00 us  2.00 us  2.00 us  disk       reader",
    "    [lib;one.so]",
    "    [lib;one.so]",
    "    1  2.00 us  2.00 us  2.00 us  2.00 us  2.00 us  preempted  writer",
    "    [unknown]",
    "    1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  runnable   writer"] + END, "by stack")
t.prints(mixed(), [
    "times    total   waited     mean      p95      max  state  thread",
    "    2  24.0 us  1.00 us  12.0 us  20.0 us  20.0 us  sleep  reader",
    "    [lib;one.so]",
    "    ... 1 more; --depth 0 shows all",
    "... 3 more; --top 0 shows all"] + END, "--top 1 --depth 1", "--top", "1", "--depth", "1")
t.prints(mixed(), [
    "thread  tid  state      times    total   waited     mean      p95      max",
    "reader    5  sleep          2  24.0 us  1.00 us  12.0 us  20.0 us  20.0 us",
    "reader    5  disk           1  2.00 us  1.00 us  2.00 us  2.00 us  2.00 us",
    "writer    6  preempted      1  2.00 us  2.00 us  2.00 us  2.00 us  2.00 us",
    "writer    6  runnable       1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us"] + END,
         "by thread", "--by", "thread")
t.prints(mixed(), [
    "name    state      times    total   waited     mean      p95      max",
    "reader  disk           1  2.00 us  1.00 us  2.00 us  2.00 us  2.00 us",
    "writer  preempted      1  2.00 us  2.00 us  2.00 us  2.00 us  2.00 us"], "two states, by name",
         "--by", "name", "--state", "disk,preempted")
t.prints(mixed(), [
    "reader;[lib:one.so];[lib:one.so];[sleep] 24",
    "reader;[lib:one.so];[lib:one.so];[disk] 2",
    "writer;[unknown];[preempted] 2",
    "writer;[runnable] 1"], "folded", "--folded")
t.is_(t.json(mixed(), "--of", "reader", "--top", "1"), {
    "analysis": "off-cpu", "still_away": 0, "lost": 0, "spans": [dict(
        comm="reader", state="sleep", count=2, total_ns=24000, waited_ns=1000, mean_ns=12000,
        p95_ns=20000, max_ns=20000, stack=["[lib;one.so]", "[lib;one.so]"])]}, "--json, one name")

tr = Scheduler(waking=False).task(5, "first").task(6, "other")
tr.switch(1000, 5, 6, SLEEP).task(5, "second",
                                  time=2000).born(3000, 5, by=6).switch(4000, 6, 5, PREEMPTED)
tr.switch(9000, 5, 6, SLEEP)
t.is_([(row["comm"], row["total_ns"], row["waited_ns"]) for row in t.json(tr)["spans"]],
      [("other", 5000, 5000)], "a reused tid is another task, which was not away")
tr = Scheduler(waking=False).task(5, "sleeper")
tr.switch(1000, 5, 0, SLEEP).switch(5000, 0, 5)
t.is_([(row["total_ns"], row["waited_ns"], row["stack"]) for row in t.json(tr)["spans"]],
      [(4000, None, [])], "without wake-ups the waits of sleepers are unknown")

tr = Scheduler(waking=False).task(5, "sleeper")
tr.switch(1000, 5, 0, SLEEP).lost(2000, 3).switch(5000, 0,
                                                  5).switch(6000, 5, 0, SLEEP).switch(8000, 0, 5)
got = t.json(tr)
t.is_([[row["total_ns"] for row in got["spans"]], got["lost"]], [[2000], 3],
      "tasks that are away during a loss have no times")
r = t.analyse(tr, "--folded")
t.ok(r.out == "sleeper;[sleep] 2\n" and "off-cpu.py: 3 events were lost: times are missing\n" in
     r.err,
     "--folded: losses are reported on stderr", r)

nothing = "no task left its cpu and came back in this recording; record sched:sched_switch"
t.prints(Scheduler().task(5, "worker"), [nothing], "a recording without a single event")
t.prints(Scheduler().task(5, "worker"), [], "a recording without a single event, --folded",
         "--folded")
for args, words in ((("--state", "sleep,dead"), "there is no 'dead', but disk, idle,"),
                    (("--folded", "--json"), "one of")):
    r = t.analyse(mixed(), *args)
    t.ok(r.rc == 1 and words in r.err, " ".join(args), r)

took = os.path.join(t.dir, "took")
live = t.record(["-a", "-g", "-e",
                 "sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch"],
                [sys.executable, "-S", "-E", "-c", """
import time
open("/proc/self/comm", "w").write("napper")
begin = time.monotonic_ns()
for i in range(20):
    time.sleep(0.01)
open(%r, "w").write(str(time.monotonic_ns() - begin))
""" % took], "a live recording")
if live:
    rows = t.json(live, "--of", "napper", "--state", "sleep", "--by", "name")["spans"]
    with open(took) as f:
        took_ns = int(f.read())  # of all naps together, however late a busy machine ends them
    # The kernel of a virtual machine may not record every switch from the idle task (perf misses
    # these, too).
    count = rows[0]["count"] if rows else 0
    if not rows:
        t.skip("naps of 10 ms sleep 10 ms", "the kernel recorded no switch from the idle task",
               installable=False)
        t.done()
    t.ok(len(rows) == 1 and 1 <= count <= 25 and
         count * 9 * 10**6 <= rows[0]["total_ns"] - rows[0]["waited_ns"] <= took_ns + 5 * 10**6,
         "naps of 10 ms sleep 10 ms", rows, took_ns)
    stacks = t.json(live, "--of", "napper", "--state", "sleep")["spans"]
    naps = [row for row in stacks if any("nanosleep" in name for name in row["stack"])]
    with open("/proc/kallsyms") as f:
        named = any(int(line.split()[0], 16) for line, _ in zip(f, range(5000)))
    if named:
        t.ok(sum(row["count"] for row in naps) >= 1, "their stacks have nanosleep", stacks)
    else:
        t.skip("their stacks have nanosleep", "/proc/kallsyms has no addresses", installable=False)
t.done()
