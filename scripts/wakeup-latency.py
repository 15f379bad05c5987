# SPDX-License-Identifier: MIT
# description: how long tasks wait for a cpu after they were woken: percentiles, and the worst cases with their wakers
# args: [--by thread|name|cpu|priority] [--worst N] [--top N] [--json]
# record: -a -e sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch
"""How long tasks wait for a cpu after they were woken: from sched_waking to the sched_switch that
runs them.

    sonde record -a -e sched:sched_waking,sched:sched_wakeup \\
        -e sched:sched_wakeup_new,sched:sched_switch -- sleep 10
    sonde script wakeup-latency.py [--by thread|name|cpu|priority] [--worst N] [--top N] [--json]

The worst cases have the time at which the task ran at last, the cpu, its priority (0-99 real-time,
120 nice 0), its waker, and the task that had that cpu until then ("idle": none, so the cpu had to
be woken first). Without sched_waking a wait begins at sched_wakeup, and the waker is the task that
ran on the cpu that enqueued the woken task.
"""

import heapq

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, losses, may_be_absent,
                      name, plural, signed32, spread)
from scheduling import Tasks, Wakeups, waker

options = arguments(__doc__, by=("thread", "name", "cpu", "priority"), top=20, more=[
    (["--worst"],
     {"type": int, "default": 10, "metavar": "N", "help": "number of the longest waits to list"})])

wakeups, tasks = Wakeups(), Tasks()
waits = {}  # value of --by -> Distribution of nanoseconds
prios = {}  # task -> its last priority
every = Distribution()
worst = []  # heap of the longest waits
BY = options.by
WORST = max(options.worst, 0)


@may_be_absent
def sched__sched_waking(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, pid):
    wakeups.waking(pid, common_secs * 1000000000 + common_nsecs,
                   waker(context, common_pid, common_comm))


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, pid):
    wakeups.woken(pid, common_secs * 1000000000 + common_nsecs,
                  waker(context, common_pid, common_comm))


@may_be_absent
def sched__sched_wakeup_new(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, pid):
    tasks.begins(pid)
    wakeups.pending.pop(pid, None)
    wakeups.woken(pid, common_secs * 1000000000 + common_nsecs,
                  waker(context, common_pid, common_comm))


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_state, next_comm,
                        next_pid, next_prio):
    wakeups.stopped(prev_pid, prev_state)
    begun = wakeups.ran(next_pid)
    if begun is None:
        return
    now = common_secs * 1000000000 + common_nsecs
    wait = now - begun[0]
    next_comm = name(next_comm)
    if BY == "thread":
        key = tasks.seen(next_pid, next_comm)
        prios[key] = signed32(next_prio)
    else:
        key = next_comm if BY == "name" else common_cpu if BY == "cpu" else signed32(next_prio)
    d = waits.get(key)
    if d is None:
        d = waits[key] = Distribution()
    d.add(wait)
    every.add(wait)
    if len(worst) < WORST or WORST and wait > worst[0][0]:
        case = (wait, -now, common_cpu, next_comm, next_pid, signed32(next_prio), begun[1],
                (prev_pid, name(prev_comm)) if prev_pid else (0, "idle"))
        (heapq.heappush if len(worst) < WORST else heapq.heapreplace)(worst, case)


def trace_lost(cpu, time, count):
    losses.add(count)
    wakeups.forget()


def trace_end():
    report = Report(options)
    rows = [(key, d.count) + spread(d) for key, d in waits.items()]
    rows.sort(key=lambda row: (-row[-1], row[0]))
    columns = [("wakeups", "wake-ups", "number")] + SPREAD
    if BY == "thread":
        rows = [(tasks.names[row[0]], row[0][0], prios[row[0]]) + row[1:] for row in rows]
        columns = [("comm", "thread", "text"), ("tid", "tid", "number"),
                   ("prio", "prio", "number")] + columns
    else:
        columns = [{"name": ("comm", "name", "text"), "cpu": ("cpu", "cpu", "number"),
                    "priority": ("prio", "prio", "number")}[BY]] + columns
    report.table("waits", None, columns, rows,
                 "no task was woken and run in this recording; record sched:sched_waking, "
                 "sched:sched_wakeup and sched:sched_switch")
    if worst or options.json:
        cases = [(-when, wait, comm, tid, prio, cpu, by[1], by[0] or None, before[1],
                  before[0] or None)
                 for wait, when, cpu, comm, tid, prio, by, before in sorted(
                     worst, key=lambda c: (-c[0], -c[1]))]
        report.table("worst", "the longest waits", [
            ("ran_ns", "ran at", "moment"), ("wait_ns", "waited", "time"),
            ("comm", "thread", "text"), ("tid", "tid", "number"),
            ("prio", "prio", "number"), ("cpu", "cpu", "number"), ("waker", "woken by", "text"),
            ("waker_tid", "tid", "number"),
            ("before", "ran before", "text"), ("before_tid", "tid", "number")], cases)
    report.histogram("lengths", "all waits by length", every)
    never = wakeups.waiting()
    report.note("never_ran", never, "\n%s that did not run before the end" %
                plural(never, "task was woken", "tasks were woken"))
    report.print()


any_kernel(globals())
