# Which thread waited longest for a cpu after it was woken?
# SPDX-License-Identifier: MIT
#     sonde record -a -e sched:sched_wakeup,sched:sched_switch -- sleep 1
#     python3 wakeup_latency.py perf.data
import sys

import sonde

woken, worst = {}, (0, "", 0)
for e in sonde.open(sys.argv[1], events=["sched:sched_wakeup", "sched:sched_switch"]):
    if e.name == "sched:sched_wakeup":
        woken.setdefault(e["pid"], e.time)  # the field: who is woken; e.pid is who wakes
    elif e.next_pid in woken:
        worst = max(worst, (e.time - woken.pop(e.next_pid), e.next_comm, e.next_pid))
ns, comm, tid = worst
print("%s (thread %d) waited %.3f ms" % (comm, tid, ns / 1e6))
