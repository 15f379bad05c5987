#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every output of every shipped script, with hostile names: no script fails or prints raw bytes.

    tests/scripts/names.py SONDE
"""

import json
import os
import re
import subprocess
import sys

from scripttest import HERE, SONDE, Tests, environment, run

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "analyses"))
from scheduler import SLEEP, Scheduler  # noqa: E402

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts")
sys.path.insert(0, SCRIPTS)
import screen  # noqa: E402

# As Python decodes them; a task's name has at most 15 bytes. rw-by-file.pl looks for the first one.
NAMES = ["a\x1b[2Jb\udc9b", "bell\x07", "csi\x9b31m", "two\nlines\r\t", "\udcff\udcc3",
         "\udced\udca0\udc80", "cut\udce2\udc82", "\x7f\x08", "\udcffx" * 7, '"\\\x1b;>',
         "n\u00e4me\u540d", "\x01"]
SHOWN = {"\x1b": r"\x1b", "\x7f": r"\x7f", "\x9b": r"\xc2\x9b", "\udc9b": r"\x9b", "\n": r"\x0a",
         "\t": r"\x09", "\u00e4\u540d": "\u00e4\u540d", "\udced\udca0\udc80": r"\xed\xa0\x80",
         "a\\": "a\\", "\udce2\udc82": r"\xe2\x82", "\u2028\u200b": "\u2028\u200b"}
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
BY = {"block-latency.py": ["operation", "flags"],
      "failed-syscalls.py": ["process", "call", "thread"],
      "futex-contention.py": ["lock", "thread"], "irq-times.py": ["handler", "cpu"],
      "off-cpu.py": ["stack", "thread", "name"],
      "page-allocations.py": ["site", "chain", "process"],
      "syscall-latency.py": ["call", "process", "thread"],
      "syscall-top.py": ["call", "process", "thread"],
      "wakeup-latency.py": ["thread", "name", "cpu", "priority"],
      "who-woke-whom.py": ["name", "thread"]}
MORE = {"off-cpu.py": [["--folded"], ["--of", NAMES[0]]],
        "who-woke-whom.py": [["--tree"], ["--dot"], ["--of", NAMES[0]]],
        "net-queueing.py": [["--device", NAMES[0]]], "rw-by-process.py": [[NAMES[0]]]}
FIRST = {"rw-by-file.pl": [NAMES[0]]}

t = Tests()


def trace():
    tr = Scheduler(chains=True).declare_more()
    for i, name in enumerate(NAMES):
        tid, now = 100 + i, 10**9 + i * 10**6
        tr.task(tid, name)
        tr.mapped(tid, 0x400000, 0x10000, "/nowhere/" + name)
        for number in range(2):
            tr.event("raw_syscalls:sys_enter", now + 1000 * number, tid=tid, id=number)
            tr.event("raw_syscalls:sys_exit", now + 1000 * number + 500, tid=tid, id=number, ret=-2)
        tr.event("raw_syscalls:sys_enter", now + 5000, tid=tid, id=5)
        for call in "read", "write":
            tr.event("syscalls:sys_enter_" + call, now, tid=tid, fd=3, count=12)
            tr.event("syscalls:sys_exit_" + call, now + 600, tid=tid, ret=-5 if i % 2 else 12)
        tr.event("syscalls:sys_enter_futex", now + 700, tid=tid, uaddr=4096, op=0)
        tr.event("syscalls:sys_enter_futex", now + 800, tid=200 + i, uaddr=4096, op=0)
        tr.event("syscalls:sys_exit_futex", now + 1700, tid=tid)
        tr.event("irq:irq_handler_entry", now, irq=i, name=name)
        tr.event("irq:irq_handler_exit", now + 900, irq=i, ret=1)
        for step, event in enumerate(("raise", "entry", "exit")):
            tr.event("irq:softirq_" + event, now + 2000 + step, tid=tid, vec=i % 10)
        for step, event in enumerate(("bio_queue", "rq_issue", "rq_complete")):
            tr.event("block:block_" + event, now + 1000 * step, tid=tid, dev=i + 1, sector=8,
                     nr_sector=8, rwbs=name[:5])
        tr.event("kmem:mm_page_alloc", now, tid=tid, pfn=i, order=i, chain=(0x400100 + i,))
        for step, event in enumerate(("queue", "xmit")):
            tr.event("net:net_dev_" + event, now + step, skbaddr=i + 1, len=100, name=name)
        for step, event in enumerate(("rx", "receive_skb")):
            tr.event("net:netif_" + event, now + 9 + step, skbaddr=i + 99, len=100, name=name)
        tr.event("napi:napi_poll", now, dev_name=name, work=1, budget=64)
        for step, event in enumerate(("queue_work", "execute_start", "execute_end")):
            tr.event("workqueue:workqueue_" + event, now + 100 * step, work=i,
                     function=0xffff800000000000 + i)
        tr.switch(now, tid, 0, SLEEP,
                  chain=((1 << 64) - 512, 0x400100)).waking(now + 1000, tid, by=100)
        tr.woken(now + 1100, tid, by=tid).switch(now + 10**5 + i, 0, tid)
    return tr


data = trace().write(t.dir + "/names.data")
for name in sorted(os.listdir(SCRIPTS)):
    if not re.search(r"\.(py|pl)$", name) or name in ("analysis.py", "scheduling.py", "screen.py"):
        continue
    ways = [["--by", by] for by in BY.get(name, [])] or [[]]
    ways += [way + ["--json"] for way in ways] + MORE.get(name, [])
    faults = []
    for way in ways:
        r = run([SONDE, "script", "-i", data, os.path.join(SCRIPTS, name), *FIRST.get(name, []),
                 *way],
                env=environment(SONDE_PYTHON=t.python), cwd=t.dir, binary=True)
        out = r.out.decode("utf-8", "surrogateescape")
        if r.rc or len(out) < 40 or CONTROL.search(out):
            faults += ["%s: status %d" % (way, r.rc), ascii(out[-600:]), r.err]
        elif "--json" in way:
            json.loads(out)
    t.ok(not faults, "%s: hostile names in %d outputs" % (name, len(ways)), *faults)

for raw, text in SHOWN.items():
    t.is_(screen.printable(raw), text, "Python shows %a" % raw)
    perl = subprocess.run(["perl", "-I", SCRIPTS, "-MScreen=printable", "-e",
                           "print printable($ARGV[0])", raw], capture_output=True).stdout
    t.is_(perl.decode("utf-8", "surrogateescape"), text, "Perl shows %a as Python does" % raw)
    perl = subprocess.run(["perl", "-I", SCRIPTS, "-MAnalysis=json_text", "-e",
                           "print json_text($ARGV[0])", raw], capture_output=True).stdout
    t.is_(json.loads(perl.decode()), raw, "Perl's JSON has %a" % raw)

t.done()
