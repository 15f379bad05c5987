# How often did each cpu become idle? Columns in NumPy, without a loop over events
# SPDX-License-Identifier: MIT
#     sonde record -a -e sched:sched_switch -- sleep 1
#     python3 idle_switches.py perf.data
import sys

import numpy as np

import sonde

t = sonde.open(sys.argv[1]).table("sched:sched_switch", ["next_pid"])
is_idle = np.asarray(t["next_pid"]) == 0
for cpu, n in enumerate(np.bincount(np.asarray(t["cpu"])[is_idle])):
    print("cpu %d: %d of %d switches were to idle" %
          (cpu, n, (np.asarray(t["cpu"]) == cpu).sum()))
