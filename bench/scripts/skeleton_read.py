# SPDX-License-Identifier: MIT
"""Output of `script -g python` for two events, with a counter instead of prints; reads the dict of
samples."""
count = 0


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio, perf_sample_dict):
    global count
    count += perf_sample_dict['sample']['cpu'] + 1


def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, comm, pid, prio, target_cpu,
                        perf_sample_dict):
    global count
    count += perf_sample_dict['sample']['cpu'] + 1


def trace_end():
    print(count)
