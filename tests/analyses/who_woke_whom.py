# SPDX-License-Identifier: MIT
"""who-woke-whom.py: pairs in handmade recordings, a tree with a circle, a graph, reused tids,
processes in a chain.
"""
import sys

from analysistest import Analyses
from scheduler import HARDIRQ, SLEEP, SOFTIRQ, Scheduler

t = Analyses("who-woke-whom.py")


def mixed():
    """An interrupt wakes a server, the server wakes two workers, one of them wakes the server; a
    name with quotes.
    """
    tr = Scheduler().task(1, "server").task(5, "worker").task(6, "worker",
                                                              pid=5).task(8, 'say "hi\\')
    for i in range(3):
        at = 10000 * i
        tr.waking(at + 1000, 1, by=8, flags=HARDIRQ).woken(at + 1000, 1, by=8, flags=HARDIRQ)
        tr.switch(at + 1500, 0, 1)
        tr.waking(at + 2000, 5, by=1).woken(at + 2100, 5)
        tr.switch(at + 3000, 0, 5, cpu=1)
        tr.switch(at + 4000, 1, 0, SLEEP)
        tr.waking(at + 5000, 1, by=5, cpu=1).woken(at + 5000, 1, by=5)
        tr.switch(at + 5500, 0, 1)
        tr.switch(at + 6000, 5, 0, SLEEP, cpu=1)
        tr.switch(at + 7000, 1, 0, SLEEP)
    tr.waking(40000, 6, by=1).woken(40000, 6,
                                    by=1).waking(41000, 8, by=6, cpu=1).woken(41000, 8, by=6, cpu=1)
    tr.switch(42000, 0, 8, cpu=1)
    tr.waking(43000, 8, by=1, flags=SOFTIRQ).woken(43000, 8, by=1, flags=SOFTIRQ)  # task 8 runs
    return tr


END = ["", "1 task was woken that did not run before the end"]
t.prints(mixed(), [
    "waker        woken     wake-ups  slept mean  slept sum  waited mean      p95      max",
    "server       worker           4     6.00 us    12.0 us      1.00 us  1.00 us  1.00 us",
    "(interrupt)  server           3     4.00 us    8.00 us       500 ns   500 ns   500 ns",
    "worker       server           3     1.00 us    3.00 us       500 ns   500 ns   500 ns",
    "(softirq)    say \"hi\\         1           -          -            -        -        -",
    "worker       say \"hi\\         1           -          -      1.00 us  1.00 us  1.00 us"] +
         END, "by name")
t.prints(mixed(), [
    "waker   tid  woken     tid  wake-ups  slept mean  slept sum  waited mean      p95      max",
    "server    1  worker      5         3     6.00 us    12.0 us      1.00 us  1.00 us  1.00 us",
    "worker    5  server      1         3     1.00 us    3.00 us       500 ns   500 ns   500 ns",
    "server    1  worker      6         1           -          -            -        -        -",
    "worker    6  say \"hi\\    8         1           -          -      1.00 us  1.00 us  1.00 us"]
         + END, "by thread, only of one name", "--by", "thread", "--of", "worker")
t.prints(mixed(), [
    "(interrupt)",
    "    3 x server (slept 4.00 us, waited 500 ns)",
    "        4 x worker (slept 6.00 us, waited 1.00 us)",
    "            3 x server (slept 1.00 us, waited 500 ns), as above",
    "            1 x say \"hi\\ (waited 1.00 us)",
    "(softirq)",
    "    1 x say \"hi\\"] + END, "a tree: circles end where they close", "--tree")
t.prints(mixed(), [
    "(softirq)",
    "    1 x say \"hi\\",
    "worker",
    "    1 x say \"hi\\ (waited 1.00 us)"] + END, "a tree of one name", "--tree", "--of",
         'say "hi\\')
t.prints(mixed(), [
    "digraph wakeups {",
    "\tnode [shape=box];",
    '\t"server" -> "worker" [label="4 (slept 6.00 us, waited 1.00 us)", penwidth=5.0];',
    '\t"(interrupt)" -> "server" [label="3 (slept 4.00 us, waited 500 ns)", penwidth=4.0];',
    '\t"worker" -> "server" [label="3 (slept 1.00 us, waited 500 ns)", penwidth=4.0];',
    '\t"(softirq)" -> "say \\"hi\\\\" [label="1", penwidth=2.0];',
    '\t"worker" -> "say \\"hi\\\\" [label="1 (waited 1.00 us)", penwidth=2.0];',
    "}"], "a graph", "--dot")
t.is_(t.json(mixed(), "--by", "thread", "--top", "1"), {
    "analysis": "who-woke-whom", "never_ran": 1, "lost": 0, "pairs": [dict(
        waker="(interrupt)", waker_tid=None, woken="server", woken_tid=1, count=3,
        slept_mean_ns=4000, slept_ns=8000, wait_mean_ns=500, wait_p95_ns=500, wait_max_ns=500)]},
      "--json")

tr = Scheduler().task(1, "parent").task(11, "first")
tr.born(1000, 11, by=1).switch(2000, 1, 11).switch(3000, 11, 0, SLEEP)
tr.task(11, "second", time=4000).born(5000, 11, by=1).switch(9000, 0, 11)
t.is_([(p["woken"], p["woken_tid"], p["count"], p["slept_ns"], p["wait_max_ns"]) for p in
       t.json(tr, "--by", "thread")["pairs"]],
      [("first", 11, 1, None, 1000), ("second", 11, 1, None, 4000)],
      "a reused tid is another task, which has not slept")

tr = Scheduler().task(1, "a").task(2, "b")
tr.switch(500, 2, 0, SLEEP).waking(1000, 2,
                                   by=1).woken(1000, 2, by=1).lost(2000, 7).switch(9000, 0, 2)
tr.switch(9500, 2, 0, SLEEP).lost(9600, 1).waking(10000, 2,
                                                  by=1).woken(10000, 2, by=1).switch(12000, 0, 2)
pair = t.json(tr)["pairs"][0]
t.is_([pair["count"], pair["slept_ns"], pair["wait_max_ns"]], [2, 500, 2000],
      "sleeps and waits during a loss have no times")
t.has(t.analyse(tr, "--dot").out, "// 8 events were lost", "a loss is a comment of the graph")

tr = Scheduler()
for tid in range(1, 101):
    tr.task(tid, "t%d" % tid).waking(1000 * tid, tid, by=tid - 1).woken(1000 * tid, tid, by=tid - 1)
tree = t.analyse(tr, "--tree", "--top", "0").out.splitlines()
t.is_([line.split()[2].strip(",") for line in tree if " x " in line],
      ["t%d" % n for n in range(1, 101)],
      "a chain of 100 has all members")
t.ok(max(map(len, tree)) < 200, "its lines are not too long", *tree)

nothing = ("no wake-up in this recording; record sched:sched_waking, sched:sched_wakeup and "
           "sched:sched_switch")
t.prints(Scheduler().task(5, "worker"), [nothing], "a recording without a single event")
r = t.analyse(mixed(), "--tree", "--dot")
t.ok(r.rc == 1 and "one of --tree, --dot and --json" in r.err, "--tree and --dot", r)

live = t.record(
    ["-e", "sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch", "-a"],
                [sys.executable, "-S", "-E", "-c", """
import os, time
there, back = os.pipe(), os.pipe()
child = os.fork()
open("/proc/self/comm", "w").write("pong" if not child else "ping")
for i in range(50):
    if child:
        while open("/proc/%d/stat" % child).read().rpartition(") ")[2][0] != "S":  # until the child sleeps
            time.sleep(0.001)
        os.write(there[1], b"x"); os.read(back[0], 1)
    else:
        os.read(there[0], 1); os.write(back[1], b"x")
"""], "a live recording")
if live:
    pairs = {(p["waker"], p["woken"]): p["count"] for p in t.json(live)["pairs"]}
    t.ok(40 <= pairs.get(("ping", "pong"), 0) <= 60, "a process that wakes another fifty times",
         sorted(pairs.items()))
t.done()
