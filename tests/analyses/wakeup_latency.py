# SPDX-License-Identifier: MIT
"""wakeup-latency.py: waits in handmade recordings, races between waking and leaving a cpu, reused
tids, and naps.
"""
import sys

from analysistest import Analyses
from scheduler import DEAD, HARDIRQ, PREEMPTED, SLEEP, SOFTIRQ, Scheduler

t = Analyses("wakeup-latency.py")


def mixed(waking=True):
    tr = Scheduler().task(5, "worker", prio=98).task(7, "helper").task(9, "other")
    tr.switch(500, 9, 7).switch(700, 7, 9, SLEEP)
    tr.waking(1000, 5, by=9).woken(1500, 5, by=9)
    tr.switch(3000, 0, 5, cpu=1)  # it waited 2 us for an idle cpu
    tr.switch(10000, 5, 0, SLEEP, cpu=1)
    tr.waking(20000, 5, by=9, flags=HARDIRQ).woken(20100, 5, cpu=1)
    tr.switch(120000, 9, 5, SLEEP)  # 100 us, while `other` ran
    tr.waking(130000, 5, by=9, cpu=1).woken(130010, 5, by=9, cpu=1)  # it runs: no wait
    tr.switch(140000, 5, 9, PREEMPTED).switch(150000, 9, 5, PREEMPTED)
    tr.waking(160000, 5, by=9, cpu=1, flags=SOFTIRQ)  # just before it leaves the cpu
    tr.switch(161000, 5, 9, SLEEP).woken(162000, 5, by=0, cpu=1)
    tr.switch(165000, 9, 5, PREEMPTED)  # 5 us
    # It runs, sleeps, is woken again and waits 1 us.
    tr.waking(165500, 5, by=7, cpu=1).woken(165510, 5, by=7, cpu=1)
    tr.switch(166000, 5, 9, SLEEP).waking(167000, 5, by=7).woken(167000, 5, by=7)
    tr.switch(168000, 9, 5, PREEMPTED)
    tr.task(11, "first", time=169000)
    tr.born(170000, 11, by=9).switch(180000, 5, 11, PREEMPTED).switch(181000, 11, 5, DEAD)  # 10 us
    tr.task(11, "second", time=199000)
    tr.born(200000, 11, by=9).switch(200500, 5, 11, PREEMPTED)  # 500 ns
    tr.woken(210000, 7, by=9).switch(215000, 11, 7, PREEMPTED)  # 5 us, without sched_waking
    return tr.waking(220000, 9, by=7)


WORST = [
    "",
    "the longest waits",
    "  ran at   waited  thread  tid  prio  cpu  woken by     tid  ran before  tid",
    "0.000120   100 us  worker    5    98    0  (interrupt)    -  other         9",
    "0.000180  10.0 us  first    11   120    0  other          9  worker        5",
    "0.000165  5.00 us  worker    5    98    0  (softirq)      -  other         9"]
LENGTHS = [
    "",
    "all waits by length",
    "  256 ns ..   512 ns  1 #########################",
    "  512 ns ..  1.02 us  1 #########################",
    " 1.02 us ..  2.05 us  1 #########################",
    " 2.05 us ..  4.10 us  0",
    " 4.10 us ..  8.19 us  2 ##################################################",
    " 8.19 us ..  16.4 us  1 #########################",
    " 16.4 us ..  32.8 us  0",
    " 32.8 us ..  65.5 us  0",
    " 65.5 us ..   131 us  1 #########################",
    "",
    "1 task was woken that did not run before the end"]
t.prints(mixed(), [
    "thread  tid  prio  wake-ups     mean      p50      p95      p99      max",
    "worker    5    98         4  27.0 us  2.00 us   100 us   100 us   100 us",
    "first    11   120         1  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us",
    "helper    7   120         1  5.00 us  5.00 us  5.00 us  5.00 us  5.00 us",
    "second   11   120         1   500 ns   500 ns   500 ns   500 ns   500 ns"] + WORST + LENGTHS,
         "by thread", "--worst", "3")
t.prints(mixed(), [
    "name    wake-ups     mean      p50      p95      p99      max",
    "worker         4  27.0 us  2.00 us   100 us   100 us   100 us",
    "first          1  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us",
    "helper         1  5.00 us  5.00 us  5.00 us  5.00 us  5.00 us",
    "second         1   500 ns   500 ns   500 ns   500 ns   500 ns"] + LENGTHS,
         "by name, no worst cases", "--by", "name", "--worst", "0")
t.is_([(row["cpu"], row["wakeups"], row["max_ns"])
       for row in t.json(mixed(), "--by", "cpu")["waits"]],
      [(0, 6, 100000), (1, 1, 2000)], "by cpu")
t.is_([(row["prio"], row["wakeups"], row["max_ns"])
       for row in t.json(mixed(), "--by", "priority")["waits"]],
      [(98, 4, 100000), (120, 3, 10000)], "by priority")

got = t.json(mixed(), "--worst", "1")
t.is_((got["worst"], got["never_ran"], got["lost"]), ([dict(
    ran_ns=120000, wait_ns=100000, comm="worker", tid=5, prio=98, cpu=0, waker="(interrupt)",
    waker_tid=None, before="other",
    before_tid=9)], 1, 0), "--json has the exact numbers")
buckets = got["lengths"][0]["buckets"]
t.is_([sum(b["count"] for b in buckets), buckets[0]], [7, {"from": 256, "below": 512, "count": 1}],
      "and the histogram")

tr = Scheduler(waking=False).task(5, "worker").task(9, "other")
tr.woken(1000, 5, by=9).switch(4000, 9, 5, SLEEP).woken(5000, 5, by=0).switch(
    6000, 5, 9, SLEEP).switch(9000, 9, 5, SLEEP)
got = t.json(tr)
t.is_([(row["comm"], row["wakeups"], row["max_ns"]) for row in got["waits"]], [("worker", 1, 3000)],
      "without sched_waking: a task that is woken while it runs does not wait")
t.is_((got["worst"][0]["waker"], got["worst"][0]["waker_tid"]), ("other", 9),
      "and sched_wakeup has the waker")

tr = Scheduler().task(5, "deadline", prio=-1)
tr.waking(1000, 5).woken(1100, 5).switch(3000, 0, 5)
t.is_(t.json(tr)["waits"][0]["prio"], -1, "a deadline task's priority")

tr = Scheduler().task(5, "worker").task(7, "helper")
tr.waking(1000, 5).woken(1000, 5).waking(1500, 7).woken(1500, 7).lost(2000, 12).switch(
    9000, 0, 5).switch(9500, 5, 0, SLEEP)
tr.waking(10000, 5).woken(10000, 5).switch(12000, 0, 5)
r = t.analyse(tr)
t.is_(r.out.splitlines()[1].split()[:6], ["worker", "5", "120", "1", "2.00", "us"],
      "waits during a loss have no times", r)
t.has(r.out, "12 events were lost at 1 place", "the text reports the loss")
t.is_(t.json(tr)["lost"], 12, "--json reports the loss")

nothing = ("no task was woken and run in this recording; record sched:sched_waking, "
           "sched:sched_wakeup and "
           "sched:sched_switch")
t.prints(Scheduler().task(5, "worker"), [nothing], "a recording without a single event")

live = t.record(["-a", "-e",
                 "sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch"],
                [sys.executable, "-S", "-E", "-c", """
import time
open("/proc/self/comm", "w").write("napper")
for i in range(20):
    time.sleep(0.005)
"""], "a live recording")
if live:
    got = t.json(live, "--by", "name")
    naps = [row for row in got["waits"] if row["comm"] == "napper"]
    if not naps:
        t.skip("naps are wake-ups", "the kernel recorded no switch from the idle task",
               installable=False)
        t.done()
    # A nap of a task that is preempted on its way to sleep may end before the task has left its
    # cpu. It is no wake-up then.
    t.ok(len(naps) == 1 and 1 <= naps[0]["wakeups"] <= 30, "naps are wake-ups", naps)
    got = t.json(live, "--worst", "1000000")
    wakers = {row["waker"] for row in got["worst"] if row["comm"] == "napper"}
    t.ok("(interrupt)" in wakers, "the wakers are timer interrupts", wakers)
t.done()
