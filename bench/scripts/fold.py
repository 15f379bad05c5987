# SPDX-License-Identifier: MIT
"""Folds the text of `perf script`, with its default columns, into a line for each call path."""
import collections
import sys

paths = collections.Counter()
comm, frames = None, []
for line in sys.stdin:
    if line == '\n':
        if comm:
            paths[';'.join([comm, *reversed(frames)])] += 1
        comm, frames = None, []
    elif line[0] == '\t':  # "\t  ffffffff81234567 do_syscall_64+0x5b ([kernel.kallsyms])"
        name = line.split(None, 1)[1].rsplit(' (', 1)[0]
        frames.append(name.rsplit('+0x', 1)[0])
    else:  # "stress 1234 [001]   12.345678:     250000 cpu-clock:"
        comm = line.split(': ', 1)[0].rstrip('0123456789.').rstrip()
        if comm.endswith(']'):
            comm = comm.rsplit('[', 1)[0].rstrip()
        comm = comm.rstrip('0123456789').rstrip()
for path, count in sorted(paths.items()):
    print(path, count)
