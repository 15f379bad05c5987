# SPDX-License-Identifier: MIT
"""Who reads and writes how much: calls of read() and write(), and the bytes they asked for, per process.

    sonde record -e syscalls:sys_enter_read,syscalls:sys_enter_write -a -- sleep 10
    sonde script -s rw-by-process.py [NAME]

NAME narrows it down to processes of that name.
"""

import sys

WANTED = sys.argv[1] if len(sys.argv) > 1 else None


class Calls:
    def __init__(self):
        self.count = self.bytes = 0

    def add(self, size):
        self.count += 1
        self.bytes += size


reads, writes = {}, {}


def note(calls, comm, tid, size):
    if WANTED is None or comm == WANTED:
        key = comm, tid
        if key not in calls:
            calls[key] = Calls()
        calls[key].add(size)


def syscalls__sys_enter_read(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                             common_callchain, __syscall_nr, fd, buf, count):
    note(reads, common_comm, common_pid, count)


def syscalls__sys_enter_write(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                              common_callchain, __syscall_nr, fd, buf, count):
    note(writes, common_comm, common_pid, count)


def table(title, calls):
    print("%-24s %10s %10s %14s %12s" % (title, "thread", "calls", "bytes asked", "per call"))
    rows = sorted(calls.items(), key=lambda item: (-item[1].bytes, item[0]))
    for (comm, tid), c in rows:
        print("%-24s %10d %10d %14d %12.0f" % (comm, tid, c.count, c.bytes, c.bytes / c.count))
    if not rows:
        print("(none)")


def trace_end():
    table("reads by", reads)
    print()
    table("writes by", writes)
