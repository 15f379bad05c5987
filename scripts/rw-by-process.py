# SPDX-License-Identifier: MIT
# description: calls of read() and write() and the bytes they asked for, per process
# args: [NAME] [--json]
# record: -e syscalls:sys_enter_read,syscalls:sys_enter_write
"""Calls of read() and write() and the bytes they asked for, per process.

    sonde record -e syscalls:sys_enter_read,syscalls:sys_enter_write -a -- sleep 10
    sonde script rw-by-process.py [NAME] [--json]

NAME narrows it down to processes of that name.
"""

import screen
from analysis import Report, any_kernel, arguments

options = arguments(__doc__, top=0,
                    more=[(("wanted",), {"nargs": "?", "metavar": "NAME",
                                         "help": "only processes of that name"})])
WANTED = options.wanted


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


def syscalls__sys_enter_read(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                             common_comm, common_callchain, count):
    note(reads, common_comm, common_pid, count)


def syscalls__sys_enter_write(event_name, context, common_cpu, common_secs, common_nsecs,
                              common_pid, common_comm, common_callchain, count):
    note(writes, common_comm, common_pid, count)


def by_bytes(calls):
    return sorted(calls.items(), key=lambda item: (-item[1].bytes, item[0]))


def report(**calls):
    columns = [("comm", "comm", "text"), ("tid", "tid", "number"), ("calls", "calls", "number"),
               ("asked_bytes", "bytes", "bytes")]
    all_tables = Report(options)
    for key, of in calls.items():
        all_tables.table(key, key, columns,
                         [(comm, tid, c.count, c.bytes) for (comm, tid), c in by_bytes(of)])
    all_tables.print()


def table(title, calls):
    cells = [(title, "thread", "calls", "bytes asked", "per call")]
    for (comm, tid), c in by_bytes(calls):
        cells.append((comm, str(tid), str(c.count), str(c.bytes), "%.0f" % (c.bytes / c.count)))
    size = screen.terminal()
    lines, _ = screen.table(cells, [False, True, True, True, True], [0], size and size[0],
                            [24, 9, 9, 13, 11])
    print("\n".join(lines))
    if not calls:
        print("(none)")


def trace_end():
    if options.json:
        return report(reads=reads, writes=writes)
    table("reads by", reads)
    print()
    table("writes by", writes)


any_kernel(globals())
