# How long do reads take, by program, and which system calls are frequent?
# SPDX-License-Identifier: MIT
#
# Use: sonde run -a read_times.py; no Python runs per event
from sonde import count, every, hist, pair

hist(pair("syscalls:sys_enter_read", "syscalls:sys_exit_read"), "ns", by="comm")
calls = count("raw_syscalls:sys_enter", by="id")


@every(1.0)
def show():
    calls.print(top=5)
    calls.clear()
