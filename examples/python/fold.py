# Where is the time spent, or the event met? Folded stacks with a count: the input of flame graphs
# SPDX-License-Identifier: MIT
#     sonde record -g -e cpu-clock -- gzip -c /bin/bash > /dev/null
#     python3 fold.py perf.data cpu-clock
import sys
from collections import Counter

import sonde

keys = dict(word.split("=", 1) for word in sys.argv[3:])  # kallsyms=FILE, symfs=FOLDER
stacks = Counter(e.callchain for e in sonde.open(sys.argv[1], events=sys.argv[2], **keys))
for stack, n in stacks.most_common():
    print(stack.folded(), n)
