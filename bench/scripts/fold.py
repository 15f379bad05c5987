# SPDX-License-Identifier: MIT
"""Folds the text of `perf script -F comm,ip,sym` into a line for each call path."""
import collections
import sys

paths = collections.Counter()
comm, frames = None, []
for line in sys.stdin:
    line = line.rstrip()
    if not line:
        paths[';'.join([comm, *reversed(frames)])] += 1
        comm, frames = None, []
    elif comm is None:
        comm = line.strip()
    else:
        frames.append(line.split(None, 1)[1])
for path, count in sorted(paths.items()):
    print(path, count)
