# SPDX-License-Identifier: MIT
# description: system calls as they happen: a table of the most frequent ones every INTERVAL seconds
# args: [INTERVAL] [--by call|process|thread] [--top N] [--json]
# record: -e raw_syscalls:sys_enter,raw_syscalls:sys_exit
# sonde: record -a
"""The most frequent system calls, in a table that is redrawn every INTERVAL seconds (default 1),
until Ctrl-C.

    sonde run syscall-top [-p PID] [-- INTERVAL --by call|process|thread --top N --json]
    sonde script syscall-top.py [INTERVAL] [--by call|process|thread] [--top N] [--json]

The last table, at the end, covers the complete run; for a recording in a file it is the only one.
--json prints one line per table. Live, calls of this script are omitted.
"""

import os

import sonde
from analysis import Tables, arguments, check_interval, INTERVAL, syscall_name

options = arguments(__doc__, by=("call", "process", "thread"), top=20, more=[INTERVAL])
check_interval(options)

CALLS = sonde.pair("raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
KEYS = {"call": "id", "process": "pid,id", "thread": "tid,id"}[options.by]
OTHERS = "pid != %d" % os.getpid()


class Calls:
    """The calls of a time: how many, how long they took, how many failed."""

    def __init__(self):
        self.times = sonde.stats(CALLS, "ns", by=KEYS, where=OTHERS, quiet=True)
        self.first = self.times
        self.errors = sonde.count(CALLS, by=KEYS, where="ret < 0 && ret > -4096 && " + OTHERS,
                                  quiet=True)

    def take(self):
        """Returns the rows so far, and begins anew."""
        rows, errors = dict(self.times), dict(self.errors)
        self.times.clear()
        self.errors.clear()
        return [(key, spread, errors.get(key, 0)) for key, spread in rows.items()]


tasks = sonde.count(CALLS, by="pid,tid,comm", where=OTHERS, quiet=True)
now = Calls() if sonde.is_live else None
complete = Calls()


def names():
    """The name of each thread, and of each process: that of its first thread."""
    found = {}
    for key, _ in sorted(tasks.items(), key=lambda row: row[1]):
        if key != "(other)":
            pid, tid, comm = key
            of = pid if options.by == "process" else tid
            if of not in found or tid == of or found[of][0] != of:
                found[of] = tid, comm
    return {of: comm for of, (_, comm) in found.items()}


def show(report, rows, seconds, title):
    columns = [("call", "call", "text"), ("calls", "calls", "number"),
               ("per_second", "per s", "rate"), ("errors", "errors", "rare"),
               ("total_ns", "total", "time"), ("mean_ns", "mean", "time"),
               ("p50_ns", "p50", "time"), ("p90_ns", "p90", "time"), ("p99_ns", "p99", "time"),
               ("max_ns", "max", "time")]
    if options.by != "call":
        columns = [("comm", options.by, "text"), ("pid" if options.by == "process" else "tid",) *
                   2 + ("number",)] + columns
    named = names() if options.by != "call" else {}
    lines = []
    for key, s, errors in rows:
        who, id = (None, key) if options.by == "call" else key if key != "(other)" else (None, key)
        about = () if options.by == "call" else (named.get(who, "-"), who)
        call = id if id == "(other)" else syscall_name(id)
        lines.append(about + (call, s.count, s.count / seconds if seconds else None, errors, s.sum,
                              s.mean, s.p50, s.p90, s.p99, s.max))
    lines.sort(key=lambda line: (-line[-6], str(line[:-9])))
    total = sum(s.count for _, s, _ in rows)
    report.table("calls", "%s%.1f s: %d calls, %.0f per second" %
                 (title, seconds, total, total / seconds if seconds else 0), columns, lines)


Tables(options, show, now, complete)
