# SPDX-License-Identifier: MIT
# description: system calls: how many, how long (percentiles), how many failed; per call, process or thread
# args: [--by call|process|thread] [--top N] [--json]
# record: -e raw_syscalls:sys_enter,raw_syscalls:sys_exit
"""System calls: how many there were, how long they took, how many failed; by call, by process or by
thread.

    sonde record -a -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -- sleep 10
    sonde script syscall-latency.py [--by call|process|thread] [--top N] [--json]

A call lasts from its sys_enter to its sys_exit, waiting included. Calls whose begin or end was not
recorded have no time: their number is printed below the table. Calls under way at the end have a
table of their own.
"""

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, losses, plural, spread,
                      syscall_name)

options = arguments(__doc__, by=("call", "process", "thread"), top=30)

NEVER_END = ("exit", "exit_group")
BEGIN_TASKS = ("clone", "clone3", "fork", "vfork")  # end a second time, with 0, in the new task

under_way = {}  # tid -> (number of the call, when it began, comm)
times = {}      # (value of --by, number of the call) -> Distribution of nanoseconds
failed = {}     # the same -> how many returned an error
names = {}      # tid or pid -> its last comm
count = {"begun before": 0, "not ended": 0}


def raw_syscalls__sys_enter(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, id):
    if common_pid in under_way and syscall_name(under_way[common_pid][0]) not in NEVER_END:
        count["not ended"] += 1
    under_way[common_pid] = id, common_secs * 1000000000 + common_nsecs, common_comm


def ended(who, tid, id, now, ret):
    begun = under_way.pop(tid, None)
    if begun is None or begun[0] != id:
        if ret or syscall_name(id) not in BEGIN_TASKS:
            count["begun before"] += 1
        return
    key = who, id
    time = times.get(key)
    if time is None:
        time = times[key] = Distribution()
    time.add(now - begun[1])
    if -4096 < ret < 0:
        failed[key] = failed.get(key, 0) + 1


def by_call(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
            common_callchain, id, ret):
    ended(None, common_pid, id, common_secs * 1000000000 + common_nsecs, ret)


def by_thread(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
              common_callchain, id, ret):
    names[common_pid] = common_comm
    ended(common_pid, common_pid, id, common_secs * 1000000000 + common_nsecs, ret)


def by_process(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
               common_callchain, id, ret, perf_sample_dict):
    pid = perf_sample_dict["sample"]["pid"]
    if common_pid == pid or pid not in names:
        names[pid] = common_comm
    ended(pid, common_pid, id, common_secs * 1000000000 + common_nsecs, ret)


raw_syscalls__sys_exit = {"call": by_call, "thread": by_thread, "process": by_process}[options.by]


def trace_lost(cpu, time, count):
    losses.add(count)
    under_way.clear()


def trace_end():
    report = Report(options)
    rows = [(who, syscall_name(id), time.count, failed.get((who, id), 0), time.sum) + spread(time)
            for (who, id), time in times.items()]
    columns = [("call", "call", "text"), ("calls", "calls", "number"),
               ("errors", "errors", "number"), ("total_ns", "total", "time")] + SPREAD
    rows.sort(key=lambda row: (-row[4], row[1], row[0] or 0))
    if options.by == "call":
        rows = [row[1:] for row in rows]
    else:
        rows = [(names[row[0]],) + row for row in rows]
        columns = [("comm", options.by, "text"), ("pid", "pid", "number") if options.by == "process"
                   else
                   ("tid", "tid", "number")] + columns
    report.table("calls", None, columns, rows,
                 "no system call with its beginning and its end; record raw_syscalls:sys_enter "
                 "and raw_syscalls:sys_exit")
    open_calls = sorted((began, tid, syscall_name(id), comm)
                        for tid, (id, began, comm) in under_way.items())
    open_calls = [(comm, tid, name, began) for began, tid, name, comm in open_calls
                  if name not in NEVER_END]
    if open_calls or options.json:
        report.table("open", "not over at the end",
                     [("comm", "thread", "text"), ("tid", "tid", "number"),
                      ("call", "call", "text"), ("since_ns", "since", "moment")], open_calls)
    report.note("begun_before", count["begun before"],
                "%s in the recording without the beginning" %
                plural(count["begun before"], "end of a call is",
                       "ends of calls are"))
    report.note("not_ended", count["not ended"], "%s in the recording without the end" %
                plural(count["not ended"], "beginning of a call is", "beginnings of calls are"))
    report.print()


any_kernel(globals())
