# SPDX-License-Identifier: MIT
# description: who woke whom: how often, how long the woken had slept, how long they then waited for a cpu; as table, tree or dot
# args: [--by name|thread] [--tree | --dot] [--of NAME] [--top N] [--json]
# record: -a -e sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch
"""Pairs of a waker and a task that it woke: how often, and with which delays.

    sonde record -a -e sched:sched_waking,sched:sched_wakeup \\
        -e sched:sched_wakeup_new,sched:sched_switch -- sleep 10
    sonde script who-woke-whom.py [--by name|thread] [--tree | --dot] [--of NAME] [--top N] [--json]

"slept" is how long the woken task was off its cpu by its own choice until it was woken; "waited"
from then until it ran. A task that was woken while it still ran counts without these times.
"(interrupt)" and "(softirq)" woke it during another task, which is not involved. --tree begins at
tasks that nobody woke; --dot is for Graphviz:

    sonde script who-woke-whom.py --dot | dot -Tsvg -o who.svg
"""

import sys

from analysis import (Distribution, Report, any_kernel, arguments, duration, losses, may_be_absent,
                      name, plural)
from scheduling import RUNNABLE, Tasks, Wakeups, waker
from screen import printable

options = arguments(__doc__, by=("name", "thread"), top=30, more=[
    (["--tree"], {"action": "store_true", "help": "below each waker those whom it woke"}),
    (["--dot"], {"action": "store_true", "help": "a graph in the language of Graphviz"}),
    (["--of"], {"metavar": "NAME", "help": "only pairs in which one is a task of this name"})])
if options.tree + options.dot + options.json > 1:
    sys.exit("who-woke-whom.py: one of --tree, --dot and --json")

wakeups, tasks = Wakeups(), Tasks()
asleep = {}  # tid -> since when
pairs = {}   # (waker, woken) -> [count, Distribution of sleeps, Distribution of waits]
THREADS = options.by == "thread"
DEEPEST = 30  # levels of the tree; deeper levels have a tree of their own


def pair(by, comm, tid):
    """The pair's names of a waker, (tid, comm), and of a task."""
    comm = name(comm)
    if THREADS:
        key = tasks.seen(*by) if by[0] else by, tasks.seen(tid, comm)
    else:
        key = by[1], comm
    p = pairs.get(key)
    if p is None:
        p = pairs[key] = [0, Distribution(), Distribution()]
    return p


def woke(now, by, comm, tid):
    p = pair(by, comm, tid)
    p[0] += 1
    since = asleep.pop(tid, None)
    if since is not None:
        p[1].add(now - since)
    return p


@may_be_absent
def sched__sched_waking(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid):
    now = common_secs * 1000000000 + common_nsecs
    by = waker(context, common_pid, common_comm)
    wakeups.waking(pid, now, woke(now, by, comm, pid))


def enqueued(now, by, comm, pid):
    if wakeups.woken(pid, now, None):
        wakeups.pending[pid][1] = woke(now, by, comm, pid)


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid):
    enqueued(common_secs * 1000000000 + common_nsecs, waker(context, common_pid, common_comm), comm,
             pid)


@may_be_absent
def sched__sched_wakeup_new(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, comm, pid):
    tasks.begins(pid)
    asleep.pop(pid, None)
    wakeups.pending.pop(pid, None)
    enqueued(common_secs * 1000000000 + common_nsecs, waker(context, common_pid, common_comm), comm,
             pid)


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_pid, prev_state, next_pid):
    now = common_secs * 1000000000 + common_nsecs
    wakeups.stopped(prev_pid, prev_state)
    if prev_state & RUNNABLE:
        asleep[prev_pid] = now
    begun = wakeups.ran(next_pid)
    if begun is not None:
        begun[1][2].add(now - begun[0])
    asleep.pop(next_pid, None)


def trace_lost(cpu, time, count):
    losses.add(count)
    wakeups.forget()
    asleep.clear()


# ---- what is printed -----------------------------------------------------------------------------


def name_of(who):
    """The name of a waker or a woken task of a pair, and its tid if pairs are of threads."""
    if not THREADS:
        return who, None
    return (tasks.names[who], who[0]) if who in tasks.names else (who[1], None)


def label(who):
    comm, tid = name_of(who)
    return printable(comm if tid is None else "%s (%d)" % (comm, tid))


def chosen():
    """[(pair, its values)], the most frequent first."""
    rows = [(key, p) for key, p in pairs.items() if options.of is None or
            options.of in (name_of(who)[0] for who in key)]
    return sorted(rows, key=lambda row: (-row[1][0], label(row[0][0]), label(row[0][1])))


def note(p):
    """The mean times of a pair, as far as they exist."""
    times = ["%s %s" % (word, duration(d.mean)) for word, d in (("slept", p[1]), ("waited", p[2]))
             if d.count]
    return " (%s)" % ", ".join(times) if times else ""


def tree(rows):
    below, woken = {}, set()
    for (by, task), p in rows:
        below.setdefault(by, []).append((task, p))
        if by != task:
            woken.add(task)
    lines, printed = [], set()

    def branch(who, depth):
        printed.add(who)
        for n, (task, p) in enumerate(below[who]):
            if n == options.top:
                lines.append("%s... %d more; --top 0 shows all" %
                             ("    " * depth, len(below[who]) - n))
                break
            again = ("" if task not in below else ", as above" if task in printed else ", see below"
                     if depth == DEEPEST else "")
            lines.append("%s%d x %s%s%s" % ("    " * depth, p[0], label(task), note(p), again))
            if task in below and not again:
                branch(task, depth + 1)

    for who in sorted(below, key=lambda who: who in woken):  # cycles last
        if who not in printed:
            lines.append(label(who))
            branch(who, 1)
    return lines


def dot(rows):
    """A graph; notes for people are comments, because programs read the output."""
    def quoted(text):
        return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')

    lines = ["digraph wakeups {", "\tnode [shape=box];"]
    most = rows[0][1][0] if rows else 1
    for (by, task), p in rows[:options.top]:
        lines.append("\t%s -> %s [label=%s, penwidth=%.1f];" %
                     (quoted(label(by)), quoted(label(task)),
                                                                           quoted("%d%s" %
                                                                                  (p[0], note(p))),
                      1 + 4 * p[0] / most))
    if losses.gaps:
        lines.append("\t// %s lost: counts are too low" %
                     plural(losses.events, "event was", "events were"))
    return lines + ["}"]


def table(report, rows):
    def who(key, heading, other):
        return [(key, heading, "text")] + ([(other, "tid", "number")] if THREADS else [])

    report.table("pairs", None, who("waker", "waker", "waker_tid") +
                 who("woken", "woken", "woken_tid") + [
                     ("count", "wake-ups", "number"), ("slept_mean_ns", "slept mean", "time"),
                     ("slept_ns", "slept sum", "time"),
                     ("wait_mean_ns", "waited mean", "time"), ("wait_p95_ns", "p95", "time"),
                     ("wait_max_ns", "max", "time")],
        [(name_of(by) if THREADS else name_of(by)[:1]) +
         (name_of(task) if THREADS else name_of(task)[:1]) +
         (p[0], p[1].mean, p[1].sum if p[1].count else None, p[2].mean, p[2].percentile(95),
          p[2].max)
         for (by, task), p in rows],
        "no wake-up in this recording; record sched:sched_waking, sched:sched_wakeup and "
        "sched:sched_switch")


def trace_end():
    rows = chosen()
    if options.dot:
        print("\n".join(dot(rows)))
        return
    report = Report(options)
    if options.tree:
        for line in tree(rows):
            report.row(line)
    else:
        table(report, rows)
    never = wakeups.waiting()
    report.note("never_ran", never, "\n%s that did not run before the end" %
                plural(never, "task was woken", "tasks were woken"))
    report.print()


any_kernel(globals())
