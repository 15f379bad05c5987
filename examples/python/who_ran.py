# Which programs had the cpus longest, in milliseconds?
# SPDX-License-Identifier: MIT
#     sonde record -a -e sched:sched_switch -- sleep 1
#     python3 who_ran.py perf.data
import sys
from collections import Counter

import sonde

since, total = {}, Counter()
for e in sonde.open(sys.argv[1], events="sched:sched_switch"):
    if e.cpu in since:
        total[e.prev_comm] += e.time - since[e.cpu]
    since[e.cpu] = e.time
for comm, ns in total.most_common(5):
    print("%-16s %8.3f" % (comm, ns / 1e6))
