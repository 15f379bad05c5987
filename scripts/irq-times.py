# SPDX-License-Identifier: MIT
# description: interrupts and soft interrupts: how often, how long, how late soft interrupts began
# args: [--by handler|cpu] [--top N] [--json]
# record: -a -e irq:irq_handler_entry,irq:irq_handler_exit
# record: -e irq:softirq_raise,irq:softirq_entry,irq:softirq_exit
"""Times of interrupt handlers and soft interrupts, and the delay of soft interrupts after they were
raised.

    sonde record -a -e irq:irq_handler_entry,irq:irq_handler_exit \\
        -e irq:softirq_raise,irq:softirq_entry,irq:softirq_exit -- sleep 10
    sonde script irq-times.py [--by handler|cpu] [--top N] [--json]

A soft interrupt's time excludes interrupts during it. The delay is from the first softirq_raise of
a vector on a cpu to the softirq_entry that serves it. "busy" is the share of the recording's time,
on one cpu.
"""

from analysis import SPREAD, Distribution, Report, any_kernel, arguments, losses, plural, spread
from analysis import name as text

options = arguments(__doc__, by=("handler", "cpu"), top=30)
per_cpu = options.by == "cpu"

VECTORS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
           "RCU")

in_irq = {}      # cpu -> [(irq, name, when)], the innermost last
in_softirq = {}  # cpu -> (vec, when, time in interrupts on that cpu until then)
taken = {}       # cpu -> nanoseconds in interrupts
raised = {}      # (cpu, vec) -> when
irqs = {}        # (irq, name, cpu or None) -> Distribution
softirqs = {}    # (vec, cpu or None) -> Distribution of times
delays = {}      # the same -> Distribution of delays
ends = {"without beginning": 0, "without end": 0}
first = last = None


def clock(secs, nsecs):
    global first, last
    last = secs * 1000000000 + nsecs
    if first is None:
        first = last
    return last


def irq__irq_handler_entry(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                           common_comm, common_callchain, irq, name):
    in_irq.setdefault(common_cpu, []).append((irq, text(name), clock(common_secs, common_nsecs)))


def irq__irq_handler_exit(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                          common_comm, common_callchain, irq):
    now = clock(common_secs, common_nsecs)
    entered = in_irq.get(common_cpu)
    if not entered or entered[-1][0] != irq:
        ends["without beginning"] += 1
        return
    _, action, since = entered.pop()
    if not entered:  # time of nested interrupts is part of the outer one's
        taken[common_cpu] = taken.get(common_cpu, 0) + now - since
    key = irq, action, common_cpu if per_cpu else None
    times = irqs.get(key)
    if times is None:
        times = irqs[key] = Distribution()
    times.add(now - since)


def irq__softirq_raise(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                       common_comm, common_callchain, vec):
    raised.setdefault((common_cpu, vec), clock(common_secs, common_nsecs))


def irq__softirq_entry(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                       common_comm, common_callchain, vec):
    now = clock(common_secs, common_nsecs)
    if common_cpu in in_softirq:
        ends["without end"] += 1
    in_softirq[common_cpu] = vec, now, taken.get(common_cpu, 0)
    since = raised.pop((common_cpu, vec), None)
    if since is not None:
        key = vec, common_cpu if per_cpu else None
        waits = delays.get(key)
        if waits is None:
            waits = delays[key] = Distribution()
        waits.add(now - since)


def irq__softirq_exit(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                      common_comm, common_callchain, vec):
    now = clock(common_secs, common_nsecs)
    entered = in_softirq.pop(common_cpu, None)
    if entered is None or entered[0] != vec:
        ends["without beginning"] += 1
        ends["without end"] += entered is not None
        return
    key = vec, common_cpu if per_cpu else None
    times = softirqs.get(key)
    if times is None:
        times = softirqs[key] = Distribution()
    times.add(now - entered[1] - (taken.get(common_cpu, 0) - entered[2]))


def trace_lost(cpu, time, count):
    losses.add(count)
    in_irq.clear()
    in_softirq.clear()
    raised.clear()


def vector(vec):
    return VECTORS[vec] if vec < len(VECTORS) else "vector %d" % vec


def trace_end():
    report = Report(options)
    length = last - first if first is not None else 0
    cpu_column = [("cpu", "cpu", "number")] if per_cpu else []

    def row(head, cpu, d):
        return (head + ((cpu,) if per_cpu else ()) +
                (d.count, d.sum, 100 * d.sum / length if length else None) + spread(d))

    columns = cpu_column + [("count", "count", "number"), ("total_ns", "total", "time"),
                            ("busy_percent", "busy", "percent")] + SPREAD
    at = len(cpu_column) + 2

    def ordered(rows):
        return sorted(rows, key=lambda row: (-row[-7], str(row)))

    report.table("irqs", "interrupt handlers",
                 [("irq", "irq", "number"), ("name", "name", "text")] + columns,
                 ordered(row((irq, name), cpu, d) for (irq, name, cpu), d in irqs.items()))
    report.table("softirqs", "soft interrupts",
                 [("vec", "vec", "number"), ("name", "name", "text")] + columns,
                 ordered(row((vec, vector(vec)), cpu, d) for (vec, cpu), d in softirqs.items()))
    report.table("delays", "soft interrupts: from raised to run",
                 [("vec", "vec", "number"), ("name", "name", "text")] + cpu_column +
                 [("count", "count", "number")] + SPREAD,
                 sorted(((vec, vector(vec)) + ((cpu,) if per_cpu else ()) + (d.count,) + spread(d)
                         for (vec, cpu), d in delays.items()),
                        key=lambda row: (-row[-1], row[:at])))
    report.note("ends_without_beginning", ends["without beginning"],
                "%s in the recording without the beginning" %
                plural(ends["without beginning"], "end is", "ends are"))
    still = sum(map(len, in_irq.values())) + len(in_softirq) + ends["without end"]
    report.note("beginnings_without_end", still, "%s in the recording without the end" %
                plural(still, "beginning is", "beginnings are"))
    report.note("length_ns", length, "")
    report.print()


any_kernel(globals())
