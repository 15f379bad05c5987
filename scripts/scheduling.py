# SPDX-License-Identifier: MIT
"""Shared by the analyses of the scheduler: states of tasks, wake-ups, delays.

    from scheduling import Tasks, Wakeups, state_name, waker

    wakeups = Wakeups()

    def sched__sched_waking(event_name, context, common_cpu, common_secs, common_nsecs,
                            common_pid, common_comm, common_callchain, pid):
        wakeups.waking(pid, common_secs * 1000000000 + common_nsecs,
                       waker(context, common_pid, common_comm))

    def sched__sched_switch(...):
        wakeups.stopped(prev_pid, prev_state)
        begun = wakeups.ran(next_pid)       (since when, by whom), or None: it was not woken

Only in sched_waking the waker is the current task: sched_wakeup may happen on the other cpu, during
another task.
"""

from analysis import host

if host is None:
    def flags_of(context):
        return 0
else:
    flags_of = host.common_flags

HARDIRQ, SOFTIRQ = 8, 16  # of common_flags
INTERRUPT = 0, "(interrupt)"
SOFT_INTERRUPT = 0, "(softirq)"

# Bits of prev_state since Linux 4.14; older kernels differ after the fourth bit.
STATES = ((1, "sleep"), (2, "disk"), (4, "stopped"), (8, "traced"), (16, "dead"), (32, "dead"),
          (64, "parked"), (128, "idle"))
RUNNABLE = 0xff   # none of these bits: it could have continued
PREEMPTED = 0xf00  # any other bit (0x100; further up in older kernels): interrupted in the kernel


def state_name(prev_state):
    """Why a task left its cpu: sleep, disk, ...; preempted; or runnable on its way to user
    space."""
    for bit, name in STATES:
        if prev_state & bit:
            return name
    return "preempted" if prev_state & PREEMPTED else "runnable"


def interrupted(context):
    """True if an event happened in an interrupt or a softirq."""
    return flags_of(context) & (HARDIRQ | SOFTIRQ)


def waker(context, tid, comm):
    """(tid, comm) of the waker: the current task, unless it is interrupted."""
    flags = interrupted(context)
    if flags:
        return INTERRUPT if flags & HARDIRQ else SOFT_INTERRUPT
    return tid, comm


class Tasks:
    """Tasks by tid. A tid may be reused by a later task: key() distinguishes them."""

    def __init__(self):
        self.names = {}  # key -> last name
        self.before = {}  # tid -> number of earlier tasks

    def key(self, tid):
        return tid, self.before.get(tid, 0)

    def seen(self, tid, name):
        key = tid, self.before.get(tid, 0)
        self.names[key] = name
        return key

    def begins(self, tid):
        if self.key(tid) in self.names:
            self.before[tid] = self.before.get(tid, 0) + 1


class Wakeups:
    """Tasks that were woken and have not run yet.

    A task that is woken while it still runs continues and does not wait: such wake-ups are
    forgotten when it leaves its cpu later. A task that is woken while it leaves its cpu
    (sched_waking before that, sched_wakeup after it) does wait.
    """

    def __init__(self):
        self.pending = {}  # tid -> [since, by whom, whether there was a sched_wakeup]
        self.both = False  # sched_wakeup is recorded
        self.running = set()

    def waking(self, tid, now, by):
        self.pending[tid] = [now, by, False]

    def woken(self, tid, now, by):
        """True if no sched_waking preceded it."""
        self.both = True
        p = self.pending.get(tid)
        if p is None or p[2]:
            self.pending[tid] = [now, by, True]
            return True
        p[2] = True
        return False

    def stopped(self, tid, prev_state):
        self.running.discard(tid)
        p = self.pending.get(tid)
        if p is not None and (p[2] or not self.both or not prev_state & RUNNABLE):
            del self.pending[tid]

    def ran(self, tid):
        self.running.add(tid)
        return self.pending.pop(tid, None)

    def waiting(self):
        """The number of tasks that were woken and have not run yet."""
        return len(self.pending.keys() - self.running)

    def forget(self):
        """Called when events were lost."""
        self.pending.clear()
        self.running.clear()
