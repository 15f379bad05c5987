# Which system calls are most frequent? In bounded memory, whatever the size of the recording
# SPDX-License-Identifier: MIT
#     sonde record -a -e raw_syscalls:sys_enter -- sleep 1
#     python3 frequent_calls.py perf.data
import sys
from collections import Counter

import numpy as np

import sonde

calls = Counter()
for t in sonde.open(sys.argv[1]).batches("raw_syscalls:sys_enter", ["id"], rows=1 << 16):
    ids, numbers = np.unique(np.asarray(t["id"]), return_counts=True)
    calls.update(dict(zip(ids.tolist(), numbers.tolist())))
for nr, n in calls.most_common(5):
    print("call %3d: %6d times" % (nr, n))
