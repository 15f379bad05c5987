# SPDX-License-Identifier: MIT
# description: reads and writes as they happen: the threads that move most bytes, every INTERVAL seconds
# args: [INTERVAL] [LINES] [--json]
# record: -e syscalls:sys_exit_read,syscalls:sys_exit_write
# sonde: record -a
"""The threads that read and write most bytes, in a table that is redrawn every INTERVAL seconds
(default 1), until Ctrl-C.

    sonde run rw-top [-p PID] [-- INTERVAL LINES --json]
    sonde script rw-top.py [INTERVAL] [LINES] [--json]

A table has LINES threads (20). The last one, at the end, covers the complete run; for a recording
in a file it is the only one. --json prints one line per table. Live, calls of this script are
omitted.
"""

import os
import sys

import sonde
from analysis import Tables, arguments, check_interval, INTERVAL

LINES = (("lines",), {"nargs": "?", "type": int, "metavar": "LINES",
                      "help": "threads of a table (default 20)"})

options = arguments(__doc__, top=0, more=[INTERVAL, LINES])
check_interval(options)
if options.lines is not None and options.lines < 1:
    sys.exit("%s: %d LINES: give 1 or more" % (options.name, options.lines))
options.top, options.top_is_default = options.lines or 20, options.lines is None

READ, WRITE = "syscalls:sys_exit_read", "syscalls:sys_exit_write"
OTHERS = "common_pid != %d" % os.getpid()


class Bytes:
    """Calls, bytes and errors of a time, by thread."""

    def __init__(self):
        def of(kind, *what, where=OTHERS):
            return kind(*what, by="tid", where=where, quiet=True)

        got = "ret > 0 && " + OTHERS
        self.columns = (of(sonde.count, READ), of(sonde.sum, READ, "ret", where=got),
                        of(sonde.count, WRITE), of(sonde.sum, WRITE, "ret", where=got),
                        of(sonde.count, [READ, WRITE], where="ret < 0 && " + OTHERS))
        self.first = self.columns[0]

    def take(self):
        """The rows, which are forgotten."""
        found = [dict(column) for column in self.columns]
        for column in self.columns:
            column.clear()
        return [(tid,) + tuple(column.get(tid, 0) for column in found)
                for tid in {tid for column in found for tid in column}]


tasks = sonde.count([READ, WRITE], by="tid,comm", where=OTHERS, quiet=True)
now = Bytes() if sonde.is_live else None
complete = Bytes()


def show(report, rows, seconds, title):
    names = {key[0]: key[1] for key, _ in sorted(tasks.items(), key=lambda row: row[1])
             if key != "(other)"}
    rows = [(tid, names.get(tid, "-"), *columns) for tid, *columns in rows]
    rows.sort(key=lambda row: (-row[3] - row[5], str(row[0])))
    report.note("complete", bool(title), "")
    report.note("threads", len(rows), "")
    report.table("rows", "%s%.1f s: %d threads" % (title, seconds, len(rows)),
                 [("tid", "tid", "number"), ("comm", "comm", "text"), ("reads", "reads", "number"),
                  ("read_bytes", "bytes read", "number"), ("writes", "writes", "number"),
                  ("written_bytes", "bytes written", "number"), ("errors", "errors", "number")],
                 rows)


Tables(options, show, now, complete)
