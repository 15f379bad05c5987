# Which reads took longer than a millisecond?
# SPDX-License-Identifier: MIT
#
# Use: sonde run slow_reads.py -p 1234, or sonde run -i perf.data slow_reads.py
# sonde: record -m 16M
from sonde import end, every, on

LIMIT_NS = 1_000_000
start, slow = {}, []


@on("syscalls:sys_enter_read")
def enter(e):
    start[e.tid] = e.time


@on("syscalls:sys_exit_read", filter="ret > 0")
def leave(e, ret):
    ns = e.time - start.pop(e.tid, e.time)
    if ns > LIMIT_NS:
        slow.append((ns, e.comm, ret))


@every(1.0)
def tick():
    print(len(slow), "reads over 1 ms so far")


@end
def done():
    for ns, comm, ret in sorted(slow)[-10:]:
        print("%s read %d bytes in %.3f ms" % (comm, ret, ns / 1e6))
