# Which program is started first, and by which call chain?
# SPDX-License-Identifier: MIT
#
# Use: sonde run -a first_exec.py; the status is 3 when one was started
import sonde


@sonde.on("sched:sched_process_exec", callchain=True)
def started(e):
    print(e.filename, "by", e.comm)
    for frame in e.callchain:
        print("   ", frame.symbol or hex(frame.ip))
    sonde.exit(3)
