# SPDX-License-Identifier: MIT
"""Recordings of the scheduler with known answers.

    tr = Scheduler().task(5, "worker")
    tr.waking(1000, 5, by=9).woken(1100, 5, by=9)   task 9 wakes task 5
    tr.switch(3000, 0, 5, cpu=1)                    cpu 1 switches from the idle task to task 5
"""
from known import Trace

RUNNING, SLEEP, DISK, DEAD, PREEMPTED = 0, 1, 2, 16, 256
HARDIRQ, SOFTIRQ = 8, 16


class Scheduler(Trace):
    def __init__(self, chains=False, waking=True):
        super().__init__(chains)
        self.names, self.prios = {0: "swapper"}, {}
        if waking:
            self.declare("sched:sched_waking", "char comm[16]; pid_t pid; int prio; int target_cpu")
        for event in ("sched:sched_wakeup", "sched:sched_wakeup_new"):
            self.declare(event, "char comm[16]; pid_t pid; int prio; int target_cpu")
        self.declare("sched:sched_switch",
                     "char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; "
                                           "char next_comm[16]; pid_t next_pid; int next_prio")

    def declare_more(self):
        """Declares further events that sonde's scripts read and known.py does not have."""
        for call in "read", "write":
            self.declare("syscalls:sys_enter_" + call,
                         "int __syscall_nr; unsigned int fd; char *buf; size_t count")
            self.declare("syscalls:sys_exit_" + call, "int __syscall_nr; long ret")
        for event in "net_dev_queue", "netif_rx", "netif_receive_skb":
            self.declare("net:" + event, "void *skbaddr; unsigned int len; __data_loc char[] name")
        self.declare("net:net_dev_xmit",
                     "void *skbaddr; unsigned int len; int rc; __data_loc char[] name")
        self.declare("napi:napi_poll",
                     "void *napi; __data_loc char[] dev_name; int work; int budget")
        for event in "queue_work", "execute_start", "execute_end":
            self.declare("workqueue:workqueue_" + event, "void *work; void *function")
        return self

    def task(self, tid, comm, pid=None, time=0, prio=120):
        self.names[tid], self.prios[tid] = comm, prio
        return super().task(tid, comm, pid, time)

    def _wake(self, event, time, tid, by, cpu, flags):
        return self.event(event, time, cpu, by, comm=self.names[tid], pid=tid, prio=self.prios[tid],
                          target_cpu=cpu, common_flags=flags)

    def waking(self, time, tid, by=0, cpu=0, flags=0):
        return self._wake("sched:sched_waking", time, tid, by, cpu, flags)

    def woken(self, time, tid, by=0, cpu=0, flags=0):
        return self._wake("sched:sched_wakeup", time, tid, by, cpu, flags)

    def born(self, time, tid, by=0, cpu=0):
        return self._wake("sched:sched_wakeup_new", time, tid, by, cpu, 0)

    def switch(self, time, before, after, state=RUNNING, cpu=0, chain=()):
        return self.event("sched:sched_switch", time, cpu, before, chain,
                          prev_comm=self.names[before], prev_pid=before,
                          prev_prio=120, prev_state=state, next_comm=self.names[after],
                          next_pid=after, next_prio=self.prios.get(after, 120))
