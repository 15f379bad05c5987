# SPDX-License-Identifier: MIT
# description: system calls as they happen: a table of the most frequent ones every INTERVAL seconds
# args: [INTERVAL] [--by call|process|thread] [--top N] [--json]
# record: -e raw_syscalls:sys_enter,raw_syscalls:sys_exit
"""The most frequent system calls, in a table that is redrawn every INTERVAL seconds (default 1),
until Ctrl-C.

    sonde record -a -q -o - -e raw_syscalls:sys_enter,raw_syscalls:sys_exit |
        sonde script -i - syscall-top.py [INTERVAL] [--by call|process|thread] [--top N] [--json]

The last table, at the end, covers the complete run; for a recording in a file it is the only one.
--json prints one line per table. Live, calls of this script are omitted; those of the recorder are
not.
"""

import os
import stat
import sys
import threading
import time

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, losses, spread,
                      syscall_name)
from screen import terminal

options = arguments(__doc__, by=("call", "process", "thread"), top=20,
                    more=[(("interval",),
                           {"nargs": "?", "type": float, "default": 1.0, "metavar": "INTERVAL",
                            "help": "seconds between two tables (default 1)"})])
if not 0.01 <= options.interval <= 86400:
    sys.exit("%s: an INTERVAL of %g seconds: give one from 0.01 to 86400" %
             (options.name, options.interval))

live = stat.S_ISFIFO(os.fstat(0).st_mode)
own = {os.getpid()} if live else set()  # threads of this script
lock = threading.Lock()                 # for the variables below: two threads use them
under_way = {}                          # tid -> (number of the call, when it began)
names = {}                              # pid or tid -> its last comm
# since the last table: (who, call) -> [Distribution, errors]
now_rows = {}
all_rows = {}                           # before that
first = last = None                     # times of events


def raw_syscalls__sys_enter(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, id):
    under_way[common_pid] = id, common_secs * 1000000000 + common_nsecs


def ended(who, tid, comm, id, now, ret):
    global first, last
    begun = under_way.pop(tid, None)
    if begun is None or begun[0] != id or tid in own:
        return
    with lock:
        last = now
        if first is None:
            first = begun[1]
        if who is not None and (tid == who or who not in names):
            names[who] = comm
        row = now_rows.get((who, id))
        if row is None:
            row = now_rows[who, id] = [Distribution(), 0]
        row[0].add(now - begun[1])
        if -4096 < ret < 0:
            row[1] += 1


def by_call(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
            common_callchain, id, ret):
    ended(None, common_pid, None, id, common_secs * 1000000000 + common_nsecs, ret)


def by_thread(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
              common_callchain, id, ret):
    ended(common_pid, common_pid, common_comm, id, common_secs * 1000000000 + common_nsecs, ret)


def by_process(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
               common_callchain, id, ret, perf_sample_dict):
    ended(perf_sample_dict["sample"]["pid"], common_pid, common_comm, id, common_secs * 1000000000 +
          common_nsecs, ret)


raw_syscalls__sys_exit = {"call": by_call, "thread": by_thread, "process": by_process}[options.by]


def trace_lost(cpu, time, count):
    losses.add(count)
    under_way.clear()


def add_to_all(rows):
    for key, (times, errors) in rows.items():
        row = all_rows.setdefault(key, [Distribution(), 0])
        row[0].merge(times)
        row[1] += errors


def show(rows, seconds, title, live=False):
    columns = [("call", "call", "text"), ("calls", "calls", "number"),
               ("per_second", "per s", "rate"),
               ("errors", "errors", "rare"), ("total_ns", "total", "time")] + SPREAD
    if options.by != "call":
        columns = [("comm", options.by, "text"), ("pid" if options.by == "process" else "tid",) *
                   2 + ("number",)] + columns
    lines = []
    for (who, id), (times, errors) in rows.items():
        about = () if who is None else (names[who], who)
        count = times.count
        lines.append(about + (syscall_name(id), count, count / seconds if seconds else None, errors,
                              times.sum) +
                     spread(times))
    lines.sort(key=lambda line: (-line[-9], line[:-9]))
    total = sum(times.count for times, _ in rows.values())
    report = Report(options, live)
    if report.live:
        sys.stdout.write("\x1b[H\x1b[J")
    elif live and tables.made and not options.json:
        sys.stdout.write("\n")
    report.note("seconds", round(seconds, 3), "")
    report.table("calls", "%s%.1f s: %d calls, %.0f per second" %
                 (title, seconds, total, total / seconds if seconds else 0),
                 columns, lines, "(none)")
    report.print()


class Tables(threading.Thread):
    """Prints a table in time, even without events, and the last one again when the terminal is
    resized."""

    LOOK = 0.2  # seconds between two checks of the terminal

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.made = 0
        self.shown = self.size = None  # the last table: rows, seconds; the terminal then

    def run(self):
        global now_rows
        own.add(threading.get_native_id())
        before = due = time.monotonic()
        while True:
            due = max(due + options.interval, time.monotonic())
            if self.wait(due):
                return
            with lock:
                rows, now_rows = now_rows, {}
                add_to_all(rows)
                now = time.monotonic()
            self.shown = rows, now - before
            if not self.show():
                return
            before = now

    def wait(self, due):
        """Waits for the next table; returns True at the end."""
        while True:
            left = max(due - time.monotonic(), 0)
            size = None if options.json else terminal()
            if size and self.shown and size != self.size and not self.show():
                return True
            if self.ended.wait(min(left, self.LOOK) if size else left):
                return True
            if left <= self.LOOK or not size:
                return False

    def show(self):
        self.size = terminal()
        try:
            show(*self.shown, "", live=True)
        except OSError:  # the reader closed the output: as with Ctrl-C
            os.kill(os.getpid(), 2)
            return False
        self.made += 1
        return True


tables = Tables() if live else None


def trace_begin():
    if tables:
        tables.start()


def trace_end():
    if tables:
        tables.ended.set()
        tables.join()
        if tables.made and not options.json:
            sys.stdout.write("\n")
    add_to_all(now_rows)
    show(all_rows, (last - first) / 1e9 if first is not None else 0.0, "in all, ")


any_kernel(globals())
