# SPDX-License-Identifier: MIT
"""The cases of installed.py: perf's Python scripts, their recordings and arguments.

RECORDINGS are the arguments of `perf record` and the command that it runs; tests/data/installed has
one of each, made by `installed.py SONDE FOLDER --record`. CASES are runs of scripts;
tests/data/installed/out has the output of perf 6.1.
"""

import os
import re
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALLED = os.path.join(os.path.dirname(HERE), "data", "installed")
PROGRAMS = [INSTALLED + "/work", HERE + "/traffic.py"]

Recording = namedtuple("Recording", "options command live needs renamed", defaults=(None, (), None))
# live: options of recordings made during the test, if they differ; needs: other programs than perf;
# renamed: made by `perf stat record`, and the names of its events are replaced

COMPACTION = " ".join("-e compaction:mm_compaction_" + name for name in
                      "begin end migratepages isolate_migratepages isolate_freepages".split())
NET = ("-e net:net_dev_xmit,net:net_dev_queue,net:netif_receive_skb,net:netif_rx,"
       "skb:consume_skb,skb:kfree_skb,skb:skb_copy_datagram_iovec,napi:napi_poll,"
       "irq:irq_handler_entry,irq:irq_handler_exit -e irq:softirq_entry --filter vec==3 "
       "-e irq:softirq_exit --filter vec==3 -e irq:softirq_raise --filter vec==3")
# Two threads take a lock from each other, fifteen times.
FUTEX = """
import threading, time
lock = threading.Lock()
def take():
    for _ in range(15):
        with lock: time.sleep(0.001)
threads = [threading.Thread(target=take) for _ in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
PYTHON = "/usr/bin/python3"
TRAFFIC = ["unshare", "--net", PYTHON, "traffic.py", "4"]
CALLS = "cat /etc/hostname /nonexistent; dd if=/dev/zero of=/dev/null bs=1k count=5; exec true"

RECORDINGS = {
    "syscalls": Recording(
        "-e raw_syscalls:sys_enter --filter id<22 -e raw_syscalls:sys_exit --filter id<22",
                          ["sh", "-c", CALLS]),
    "futex": Recording("-e syscalls:sys_enter_futex,syscalls:sys_exit_futex",
                       [PYTHON, "-S", "-c", FUTEX]),
    "clock": Recording("-e cpu-clock:u -F 2000 -g", ["./work"], "-e cpu-clock -F 2000 -g"),
    "plain": Recording("-e cpu-clock:u -F 2000", ["./work"], "-e cpu-clock -F 2000"),
    "faults": Recording("-e page-faults:u -c 1 -d --phys-data", ["./work"],
                        "-e page-faults -c 1 -d --phys-data"),
    "compaction": Recording(re.sub("(isolate_[a-z]+)", r"\1 --filter nr_taken>250", COMPACTION),
                            ["sh", "-c", "echo 1 > /proc/sys/vm/compact_memory"], COMPACTION),
    "softirqs": Recording("-e irq:softirq_entry,sched:sched_switch", ["./work"]),
    "kmalloc": Recording("-e irq:softirq_entry -e kmem:kmalloc", ["sh", "-c", "cat /etc/hostname"]),
    "net": Recording(NET, TRAFFIC, needs=["unshare", "ip"]),
    "drops": Recording("-e skb:kfree_skb", TRAFFIC, needs=["unshare", "ip"]),
    "tasks": Recording("-e sched:sched_switch,sched:sched_migrate_task",
                       [PYTHON, "-S", "-c", FUTEX]),
    # Counters of every machine, under the names that the script expects.
    "stat": Recording("-e cs,faults -I 50 -a -A", ["sleep", "0.2"],
                      renamed={"cs": "cycles", "faults": "instructions"}),
    "wakeups": Recording("-e sched:sched_wakeup,sched:sched_switch",
                         ["sh", "-c", "cat /etc/hostname | cat"]),
}

Case = namedtuple("Case", "name script recording args fault files out status qt version",
                  defaults=((), None, None, None, 0, None, "6.1"))
# fault: what perf does wrong; files: files that the script opens by name, and what it gets instead;
# out: the file that it writes; status: that of perf 6.1; qt: the modules of Qt: "real", "stand-in"
# (of stand-in/), "any" (stand-in/ if the real ones are missing); version: the perf that has the
# script

IOMEM = ("00000000-00000fff : Reserved\n00001000-7fffffff : System RAM\n80000000-ffffffffff : "
         "Persistent Memory\n")
KALLSYMS = "ffffffff80000000 T first\nffffffff81000000 T middle\nffffffff82000000 T last\n"

CASES = [
    Case("syscall-counts", "syscall-counts", "syscalls"),
    Case("syscall-counts-comm", "syscall-counts", "syscalls", ["dd"]),
    Case("syscall-counts-by-pid", "syscall-counts-by-pid", "syscalls"),
    Case("syscall-counts-by-pid-comm", "syscall-counts-by-pid", "syscalls", ["cat"]),
    Case("failed-syscalls-by-pid", "failed-syscalls-by-pid", "syscalls"),
    Case("failed-syscalls-by-pid-comm", "failed-syscalls-by-pid", "syscalls", ["cat"]),
    Case("futex-contention", "futex-contention", "futex"),
    Case("stackcollapse", "stackcollapse", "clock"),
    Case("stackcollapse-options", "stackcollapse", "clock",
         ["--", "--include-tid", "--include-pid", "--kernel"]),
    Case("stackcollapse-no-comm", "stackcollapse", "clock", ["--", "--no-comm"]),
    Case("flamegraph-json", "flamegraph", "clock", ["--", "-f", "json", "-o", "-"]),
    Case("event_analyzing_sample", "event_analyzing_sample", "plain",
         files={"/dev/shm/perf.db": None}),
    Case("compaction-times", "compaction-times", "compaction"),
    Case("compaction-times-pid", "compaction-times", "compaction",
         ["--", "-pv", "-u", "-m", "-fs"]),
    Case("compaction-times-help", "compaction-times", "compaction", ["--", "-h"]),
    Case("check-perf-trace", "check-perf-trace", "softirqs"),
    Case("check-perf-trace-kmalloc", "check-perf-trace", "kmalloc",
         fault="kmem:kmalloc has one field more than its handler has parameters"),
    Case("net_dropmonitor", "net_dropmonitor", "drops",
         fault="skb:kfree_skb has more fields than its handler has parameters",
         files={"/proc/kallsyms": KALLSYMS}),
    Case("netdev-times", "netdev-times", "net",
         fault="skb:consume_skb has more fields than its handlers have parameters"),
    Case("netdev-times-tx", "netdev-times", "net", ["tx", "dev=tx0"],
         fault="skb:consume_skb has more fields than its handlers have parameters"),
    Case("sched-migration", "sched-migration", "wakeups",
         fault="it needs a parameter `success` that the kernel does not have", files={"wx": None},
         status=255),
    Case("sched-migration-no-wx", "sched-migration", "wakeups", status=255),
    Case("mem-phys-addr", "mem-phys-addr", "faults", files={"/proc/iomem": IOMEM}),
    Case("intel-pt-events", "intel-pt-events", "plain"),
    Case("arm-cs-trace-disasm", "arm-cs-trace-disasm", "plain"),
    Case("stat-cpi", "stat-cpi", "stat"),
    Case("export-to-sqlite", "export-to-sqlite", "clock", ["x.db", "all", "calls", "callchains"],
         out="x.db", qt="any"),
    Case("export-to-sqlite-branches", "export-to-sqlite", "faults", ["x.db", "branches"],
         out="x.db", qt="any"),
    Case("export-to-postgresql", "export-to-postgresql", "clock",
         ["perf", "all", "calls", "callchains"], out="perf.sent", qt="stand-in"),
    Case("export-to-postgresql-no-driver", "export-to-postgresql", "plain", ["perf"], status=255,
         qt="real"),
    Case("powerpc-hcalls", "powerpc-hcalls", "hcalls"),
    Case("gecko", "gecko", "clock", ["--", "--save-only=out.json"], out="out.json", version="6.12"),
    Case("task-analyzer", "task-analyzer", "tasks", version="6.12"),
    Case("task-analyzer-summary", "task-analyzer", "tasks", ["--", "--summary", "--ns"],
         version="6.12"),
    Case("task-analyzer-csv", "task-analyzer", "tasks", ["--", "--csv", "out.csv"], out="out.csv",
         version="6.12"),
    Case("netdev-times-6.12", "netdev-times", "net", version="6.12",
         fault="as in 6.1, of skb:kfree_skb"),
]
