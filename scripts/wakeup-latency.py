# SPDX-License-Identifier: MIT
"""How long a thread waits for a cpu after it was woken: from sched_wakeup to the sched_switch that runs it.

    sonde record -e sched:sched_switch,sched:sched_wakeup -a -- sleep 10
    sonde script -s wakeup-latency.py [ROWS]

The ROWS threads (default 20) with the longest wait, then all waits by their length. Times in microseconds.
"""

import sys

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 20

woken = {}    # thread -> nanoseconds when it was woken
waits = {}    # (name, thread) -> [count, sum, longest, when that ended]
lengths = {}  # power of two of microseconds -> count


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                        common_callchain, comm, pid, prio, target_cpu):
    woken.setdefault(pid, common_secs * 1000000000 + common_nsecs)


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                        common_callchain, prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio):
    since = woken.pop(next_pid, None)
    if since is None:
        return
    now = common_secs * 1000000000 + common_nsecs
    wait = now - since
    row = waits.get((next_comm, next_pid))
    if row is None:
        row = waits[next_comm, next_pid] = [0, 0, -1, 0]
    row[0] += 1
    row[1] += wait
    if wait > row[2]:
        row[2:] = wait, now
    bucket = (wait // 1000).bit_length()
    lengths[bucket] = lengths.get(bucket, 0) + 1


def trace_end():
    print("%-16s %8s %8s %12s %12s   %s" % ("woken thread", "tid", "wakeups", "mean us", "longest us", "at second"))
    rows = sorted(waits.items(), key=lambda item: (-item[1][2], item[0]))
    for (comm, tid), (count, total, longest, when) in rows[:ROWS]:
        print("%-16s %8d %8d %12.1f %12.1f   %d.%06d" %
              (comm, tid, count, total / count / 1000, longest / 1000, when // 10**9, when % 10**9 // 1000))
    if len(rows) > ROWS:
        print("... %d more threads" % (len(rows) - ROWS))
    print()
    total = sum(lengths.values())
    for bucket in sorted(lengths):
        low, high = (1 << bucket >> 1), 1 << bucket
        print("%8d .. %-8d us %8d %s" % (low, high, lengths[bucket], "#" * (lengths[bucket] * 50 // total)))
    if not total:
        print("no thread was woken in this recording")
