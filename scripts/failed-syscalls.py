# SPDX-License-Identifier: MIT
# description: failed system calls: how many, by process, call and error
# args: [--by process|call|thread] [--top N] [--json]
# record: -e raw_syscalls:sys_exit
"""System calls that failed: how many, by process, call and name of the error.

    sonde record -a -e raw_syscalls:sys_exit -- sleep 10
    sonde script failed-syscalls.py [--by process|call|thread] [--top N] [--json]

"of calls" is the share of failed calls among all calls of that kind (of that process or thread).
ERESTARTSYS and similar errors are results inside the kernel for a call that a signal interrupted:
the program gets EINTR, or the call is restarted.
"""

from analysis import Report, any_kernel, arguments, error_name, losses, syscall_name

options = arguments(__doc__, by=("process", "call", "thread"), top=30)

errors = {}  # (process or thread, call) -> {negative error: how many}
calls = {}   # (process or thread, call) -> how many, failed or not
names = {}   # pid or tid -> its last comm


def note(key, ret):
    calls[key] = calls.get(key, 0) + 1
    if -4096 < ret < 0:
        found = errors.setdefault(key, {})
        found[ret] = found.get(ret, 0) + 1


def by_process(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
               common_callchain, id, ret, perf_sample_dict):
    pid = perf_sample_dict["sample"]["pid"]
    if common_pid == pid or pid not in names:
        names[pid] = common_comm
    note((pid, id), ret)


def by_thread(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
              common_callchain, id, ret):
    names[common_pid] = common_comm
    note((common_pid, id), ret)


def by_call(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
            common_callchain, id, ret):
    note((None, id), ret)


raw_syscalls__sys_exit = {"process": by_process, "thread": by_thread, "call": by_call}[options.by]


def trace_lost(cpu, time, count):
    losses.add(count)


def trace_end():
    rows = []
    for (who, id), found in errors.items():
        for ret, count in found.items():
            who_columns = () if options.by == "call" else (names[who], who)
            rows.append(who_columns + (syscall_name(id), error_name(ret), count,
                                       100 * count / calls[who, id]))
    rows.sort(key=lambda row: (-row[-2],) + row[:-2])
    columns = [("call", "call", "text"), ("error", "error", "text"), ("count", "failed", "number"),
               ("percent", "of calls", "percent")]
    if options.by != "call":
        columns = [("comm", options.by, "text"),
                   ("pid", "pid", "number") if options.by == "process"
                   else ("tid", "tid", "number")] + columns
    report = Report(options)
    total = sum(calls.values())
    report.table("failed", None, columns, rows, "none of %d system calls failed" % total if total
                 else
                 "no system call; record raw_syscalls:sys_exit")
    report.note("calls", total, "%d of %d calls failed" % (sum(row[-2] for row in rows), total)
                if rows else "")
    report.print()


any_kernel(globals())
