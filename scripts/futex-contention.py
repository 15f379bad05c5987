# SPDX-License-Identifier: MIT
# description: futexes (locks, conditions): waits and their length, by address, and who woke the waiters
# args: [--by lock|thread] [--top N] [--json]
# record: -e syscalls:sys_*_futex*
"""Waiting for futexes, from which locks and conditions are built: how often, how long, and who
ended it.

    sonde record -a -e 'syscalls:sys_*_futex*' -- sleep 10
    sonde script futex-contention.py [--by lock|thread] [--top N] [--json]

A futex is an address in a process. "no wait" are calls that returned at once, because the value had
already changed (EAGAIN); no other column counts them. "wakers" are the threads of that process that
woke most of the waiters there. A wake-up from another process, through shared memory, counts for
that process's own address.
"""

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, losses, may_be_absent,
                      plural, spread)

options = arguments(__doc__, by=("lock", "thread"), top=20)
by_thread = options.by == "thread"

COMMAND = 0x7f  # the other bits of op are flags: private, clock
WAITS = {0: "WAIT", 6: "LOCK_PI", 9: "WAIT_BITSET", 11: "WAIT_REQUEUE_PI", 13: "LOCK_PI2"}
WAKES = {1: "WAKE", 3: "REQUEUE", 4: "CMP_REQUEUE", 5: "WAKE_OP", 7: "UNLOCK_PI", 10: "WAKE_BITSET",
         12: "CMP_REQUEUE_PI"}
UNLOCK_PI = 7
EAGAIN, ETIMEDOUT = -11, -110


class Futex:
    def __init__(self):
        self.times = Distribution()
        self.no_wait = self.timed_out = self.interrupted = 0
        self.waiting = self.most_waiting = 0
        self.operations = set()
        self.wakers = {}  # (comm, tid) -> waiters woken


futexes = {}  # (pid, address), or (pid, tid) when it is about threads -> Futex
# tid -> (Futex, when, comm, whether it waits; else whether it unlocks, pid, address); None: ignored
calls = {}
names = {}    # pid or tid -> comm
begun_before = 0


def begin(tid, pid, comm, now, address, operation, waits, unlocks=False):
    names[tid] = comm
    names.setdefault(pid, comm)
    key = pid, tid if by_thread and waits else address
    futex = futexes.get(key)
    if futex is None:
        futex = futexes[key] = Futex()
    abandon(calls.get(tid))
    calls[tid] = futex, now, comm, waits, unlocks, pid, address
    if waits:
        futex.operations.add(operation)
        futex.waiting += 1
        if futex.waiting > futex.most_waiting:
            futex.most_waiting = futex.waiting


def abandon(call):
    """Its end was lost."""
    if call and call[3]:
        call[0].waiting -= 1


def end(tid, now, ret):
    global begun_before
    if tid not in calls:
        begun_before += 1
        return
    call = calls.pop(tid)
    if call is None:
        return
    futex, since, comm, waits, unlocks, _, _ = call
    if not waits:
        woken = ret if ret > 0 else 1 if unlocks and ret == 0 and futex.waiting else 0
        if woken:
            futex.wakers[comm, tid] = futex.wakers.get((comm, tid), 0) + woken
        return
    futex.waiting -= 1
    if ret == EAGAIN:
        futex.no_wait += 1
        return
    futex.times.add(now - since)
    if ret == ETIMEDOUT:
        futex.timed_out += 1
    elif ret < 0:
        futex.interrupted += 1


def syscalls__sys_enter_futex(event_name, context, common_cpu, common_secs, common_nsecs,
                              common_pid, common_comm, common_callchain, uaddr, op,
                              perf_sample_dict):
    command = op & COMMAND
    operation = WAITS.get(command)
    if operation or command in WAKES:
        begin(common_pid, perf_sample_dict["sample"]["pid"], common_comm, common_secs * 1000000000 +
              common_nsecs, uaddr,
              operation, operation is not None, command == UNLOCK_PI)
    else:
        abandon(calls.get(common_pid))
        calls[common_pid] = None


def syscalls__sys_exit_futex(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                             common_comm, common_callchain, ret):
    end(common_pid, common_secs * 1000000000 + common_nsecs, ret)


# System calls that Linux 6.7 added.
@may_be_absent
def syscalls__sys_enter_futex_wait(event_name, context, common_cpu, common_secs, common_nsecs,
                                   common_pid, common_comm, common_callchain, uaddr,
                                   perf_sample_dict):
    begin(common_pid, perf_sample_dict["sample"]["pid"], common_comm, common_secs * 1000000000 +
          common_nsecs, uaddr,
          "futex_wait", True)


@may_be_absent
def syscalls__sys_enter_futex_wake(event_name, context, common_cpu, common_secs, common_nsecs,
                                   common_pid, common_comm, common_callchain, uaddr,
                                   perf_sample_dict):
    begin(common_pid, perf_sample_dict["sample"]["pid"], common_comm, common_secs * 1000000000 +
          common_nsecs, uaddr,
          "futex_wake", False)


@may_be_absent
def syscalls__sys_exit_futex_wait(event_name, context, common_cpu, common_secs, common_nsecs,
                                  common_pid, common_comm, common_callchain, ret):
    end(common_pid, common_secs * 1000000000 + common_nsecs, ret)


@may_be_absent
def syscalls__sys_exit_futex_wake(event_name, context, common_cpu, common_secs, common_nsecs,
                                  common_pid, common_comm, common_callchain, ret):
    end(common_pid, common_secs * 1000000000 + common_nsecs, ret)


def trace_lost(cpu, time, count):
    losses.add(count)
    for call in calls.values():
        abandon(call)
    calls.clear()


def wakers(futex):
    rows = sorted(((-n, comm, tid) for (comm, tid), n in futex.wakers.items()))
    if options.json:
        return [{"comm": comm, "tid": tid, "woken": -n} for n, comm, tid in rows]
    return (", ".join("%s/%d (%d)" % (comm, tid, -n) for n, comm, tid in rows[:3]) +
            (" ..." if len(rows) > 3 else ""))


def trace_end():
    rows = []
    for (pid, which), f in futexes.items():
        if f.times.count or f.no_wait:
            about = (names[which], which, pid) if by_thread else (
                names[pid], pid, which)
            operations = sorted(f.operations)
            rows.append(about + (f.times.count, f.times.sum) + spread(f.times) +
                        (f.timed_out, f.interrupted, f.no_wait) +
                        (() if by_thread else (f.most_waiting,)) +
                        (operations if options.json else ",".join(operations),) +
                        (() if by_thread else (wakers(f),)))
    rows.sort(key=lambda row: (-row[4], row[:3]))
    columns = [("comm", "thread", "text"), ("tid", "tid", "number"),
               ("pid", "pid", "number")] if by_thread else [
                   ("comm", "process", "text"), ("pid", "pid", "number"),
                   ("address", "futex", "address")]
    columns += [("waits", "waits", "number"), ("total_ns", "total", "time")] + SPREAD + [
        ("timed_out", "timed out", "rare"), ("interrupted", "interrupted", "rare"),
        ("no_wait", "no wait", "rare")]
    if by_thread:
        columns += [("operations", "operations", "text")]
    else:
        columns += [("most_waiting", "at once", "number"), ("operations", "operations", "text"),
                    ("wakers", "wakers (woken)", "text")]
    report = Report(options)
    report.table("futexes", None, columns, rows,
                 "nobody waited for a futex; record 'syscalls:sys_*_futex*'")
    still = sorted((call[1], call[2], tid) + call[5:] for tid, call in calls.items() if call and
                   call[3])
    if still or options.json:
        report.table("waiting", "still waiting at the end",
                     [("comm", "thread", "text"), ("tid", "tid", "number"),
                      ("pid", "pid", "number"),
                      ("address", "futex", "address"), ("since_ns", "since", "moment")],
                     [(comm, tid, pid, address, since) for since, comm, tid, pid, address in still])
    report.note("begun_before", begun_before, "%s in the recording without the beginning" %
                plural(begun_before, "end of a call is", "ends of calls are"))
    report.print()


any_kernel(globals())
