# SPDX-License-Identifier: MIT
"""Measures how long woken tasks wait for their cpu."""
woken_at = {}
waits = total_ns = longest_ns = 0


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid, prio, target_cpu):
    woken_at[pid] = common_secs * 1000000000 + common_nsecs


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio):
    global waits, total_ns, longest_ns
    since = woken_at.pop(next_pid, None)
    if since is None:
        return
    wait = common_secs * 1000000000 + common_nsecs - since
    waits += 1
    total_ns += wait
    if wait > longest_ns:
        longest_ns = wait


def trace_end():
    print('%d waits, mean %.1f us, longest %.1f us' % (waits, total_ns / max(waits, 1) / 1000,
                                                       longest_ns / 1000))
