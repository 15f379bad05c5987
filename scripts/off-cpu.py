# SPDX-License-Identifier: MIT
# description: where tasks leave their cpus, and for how long: off-cpu time by stack and state, or folded for flame graphs
# args: [--by stack|thread|name] [--state S,...] [--of NAME] [--folded] [--depth N] [--top N] [--json]
# record: -a -g -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new
"""Where tasks leave their cpus, and for how long: from a task's sched_switch to the next one that
runs it.

    sonde record -a -g -e sched:sched_switch,sched:sched_waking \\
        -e sched:sched_wakeup,sched:sched_wakeup_new -- sleep 10
    sonde script off-cpu.py [--by stack|thread|name] [--state S,...] [--of NAME] [--folded]
        [--depth N] [--top N] [--json]
    sonde script off-cpu.py --folded | flamegraph.pl --countname us > off-cpu.svg

States: sleep, disk (cannot be interrupted), stopped, traced, parked, idle (of kernel threads). A
task that is preempted (in the kernel) or runnable (on the way back to user space, or it yielded)
could have continued. "waited" is the part of the time in which the task could have run: after it
was woken, which needs sched_waking or sched_wakeup in the recording; all of the time for preempted
and runnable. Stacks need call chains (-g); they begin with the innermost function. Folded stacks
begin with the outermost function and count microseconds. Tasks that were away at the begin or at
the end of the recording are not timed.
"""

import sys

from analysis import (Distribution, Report, any_kernel, arguments, losses, may_be_absent, name,
                      plural)
from scheduling import STATES, Tasks, Wakeups, state_name
from screen import printable

options = arguments(__doc__, by=("stack", "thread", "name"), top=20, more=[
    (["--state"], {"metavar": "S,...", "help": "only these states"}),
    (["--of"], {"metavar": "NAME", "help": "only tasks of this name"}),
    (["--folded"],
     {"action": "store_true",
      "help": "a line for each stack: name;outermost;...;innermost;[state] microseconds"}),
    (["--depth"], {"type": int, "default": 16, "metavar": "N",
                   "help": "at most N innermost functions of a stack (default 16; 0: all; "
                           "always all in --json and --folded)"})])
KNOWN = {state for _, state in STATES} - {"dead"} | {"preempted", "runnable"}
ONLY = frozenset(options.state.split(",") if options.state else KNOWN)
OF = options.of
if ONLY - KNOWN:
    sys.exit("off-cpu.py: --state: there is no '%s', but %s" %
             (sorted(ONLY - KNOWN)[0], ", ".join(sorted(KNOWN))))
if options.folded and options.json:
    sys.exit("off-cpu.py: use only use only one of --folded and --json")
STACKS = options.by == "stack" or options.folded

wakeups, tasks = Wakeups(), Tasks()
away = {}   # tid -> (since when, key of spans)
spans = {}  # (who, state, stack) -> [Distribution of nanoseconds, of that waited, or None]


@may_be_absent
def sched__sched_waking(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, pid):
    wakeups.waking(pid, common_secs * 1000000000 + common_nsecs, None)


@may_be_absent
def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, pid):
    wakeups.woken(pid, common_secs * 1000000000 + common_nsecs, None)


@may_be_absent
def sched__sched_wakeup_new(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, pid):
    tasks.begins(pid)
    away.pop(pid, None)  # of an earlier task


def function(node):
    sym = node.get("sym")
    if sym:
        return name(sym["name"])
    dso = name(node.get("dso") or "")
    return "[%s]" % dso.rsplit("/", 1)[-1].strip("[]") if dso else "[unknown]"


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_state, next_pid):
    now = common_secs * 1000000000 + common_nsecs
    prev_comm = name(prev_comm)
    wakeups.stopped(prev_pid, prev_state)
    begun = wakeups.ran(next_pid)
    gone = away.pop(next_pid, None)
    if gone is not None:
        since, key = gone
        span = spans.get(key)
        if span is None:
            span = spans[key] = [Distribution(), None]
        span[0].add(now - since)
        if key[1] == "preempted" or key[1] == "runnable":
            span[1] = (span[1] or 0) + now - since
        elif begun is not None:
            span[1] = (span[1] or 0) + now - max(since, begun[0])
    state = state_name(prev_state)
    if prev_pid and state in ONLY and (OF is None or prev_comm == OF):
        stack = tuple(map(function, common_callchain)) if STACKS else ()
        away[prev_pid] = now, (prev_comm if STACKS or options.by == "name"
                               else tasks.seen(prev_pid, prev_comm), state, stack)


def trace_lost(cpu, time, count):
    losses.add(count)
    wakeups.forget()
    away.clear()


# ---- what is printed -----------------------------------------------------------------------------


def folded(rows):
    for (who, state, stack), (d, _) in rows:
        parts = [who] + list(reversed(stack)) + ["[%s]" % state]
        print("%s %d" % (";".join(printable(part).replace(";", ":") for part in parts),
                         (d.sum + 500) // 1000))
    if losses.gaps:
        print("off-cpu.py: %s lost: times are missing" %
              plural(losses.events, "event was", "events were"), file=sys.stderr)


def blocks(report, rows):
    """Prints each stack below its line: frames have any length, so they are no column."""
    shown = rows[:report.top]
    table = Report(options)
    table.table("", None, COLUMNS + [("state", "state", "text"), ("comm", "thread", "text")],
                [values(span) + (state, who) for (who, state, _), span in shown], NOTHING)
    lines = table.lines
    report.row(lines[0])
    for ((_, _, stack), _), line in zip(shown, lines[1:]):
        report.row(line)
        depth = options.depth or len(stack)
        for frame in stack[:depth]:
            report.row("    " + frame)
        if len(stack) > depth:
            report.lines.append("    ... %d more; --depth 0 shows all" % (len(stack) - depth))
    report.lines += lines[len(shown) + 1:]  # lines below the rows
    if len(shown) < len(rows):
        report.lines.append("... %d more; --top 0 shows all" % (len(rows) - len(shown)))


COLUMNS = [("count", "times", "number"), ("total_ns", "total", "time"),
           ("waited_ns", "waited", "time"), ("mean_ns", "mean", "time"),
           ("p95_ns", "p95", "time"), ("max_ns", "max", "time")]
NOTHING = "no task left its cpu and came back in this recording; record sched:sched_switch"


def values(span):
    d, waited = span
    return d.count, d.sum, waited, d.mean, d.percentile(95), d.max


def trace_end():
    rows = sorted(spans.items(), key=lambda row: (-row[1][0].sum, row[0]))
    if options.folded:
        folded(rows)
        return
    report = Report(options)
    if not STACKS or options.json:
        who = [("comm", options.by if not STACKS else "thread", "text")]
        if options.by == "thread":
            who.append(("tid", "tid", "number"))
        report.table("spans", None, who + [("state", "state", "text")] + COLUMNS +
                     [("stack", "stack", "text")] * STACKS, [
                         ((tasks.names[key[0]], key[0][0]) if options.by == "thread" else key[:1]) +
                         key[1:2] + values(span) +
                         (list(key[2]),) * STACKS for key, span in rows], NOTHING)
    else:
        blocks(report, rows)
    report.note("still_away", len(away),
                "\n%s not back at the end" % plural(len(away), "task was", "tasks were"))
    report.print()


any_kernel(globals())
