# SPDX-License-Identifier: MIT
"""What `script -g python` makes for two events, with a counter in place of what it prints; the samples' dict is not read."""
count = 0


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain,
                        prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio, perf_sample_dict):
    global count
    count += 1


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain,
                        comm, pid, prio, target_cpu, perf_sample_dict):
    global count
    count += 1


def trace_end():
    print(count)
