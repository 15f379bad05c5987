# SPDX-License-Identifier: MIT
"""irq-times.py: times of handlers, also of nested and incomplete ones, delays of soft interrupts,
losses.
"""
import collections
import json
import os
import sys

from analysistest import SONDE, Analyses, run
from known import Trace

ENTRY, EXIT = "irq:irq_handler_entry", "irq:irq_handler_exit"
RAISE, SOFT_ENTRY, SOFT_EXIT = "irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit"
NET_RX = 3

t = Analyses("irq-times.py")


def irq(tr, cpu, number, name, begin, end):
    tr.event(ENTRY, begin, cpu=cpu, irq=number, name=name)
    tr.event(EXIT, end, cpu=cpu, irq=number, ret=1)


def soft(tr, cpu, vec, begin, end, raised=None):
    if raised is not None:
        tr.event(RAISE, raised, cpu=cpu, vec=vec)
    tr.event(SOFT_ENTRY, begin, cpu=cpu, vec=vec)
    tr.event(SOFT_EXIT, end, cpu=cpu, vec=vec)


def recording():
    tr = Trace()
    tr.event(EXIT, 0, cpu=0, irq=30, ret=1)  # it began before the recording
    irq(tr, 0, 30, "disk", 1000, 3000)
    irq(tr, 1, 30, "disk", 1500, 4500)  # at the same time on another cpu
    irq(tr, 0, 31, "net0", 10000, 11000)
    irq(tr, 0, 31, "net0-shared", 11000, 11500)  # two handlers of one line
    soft(tr, 0, 3, 20000, 30000, 15000)  # 10 us, 4 us of them in an interrupt
    tr.event(RAISE, 16000, cpu=0, vec=3)  # raised again: the delay counts from the first time
    irq(tr, 0, 30, "disk", 22000, 26000)
    soft(tr, 1, 1, 50000, 50500, 49000)
    soft(tr, 0, 1, 60000, 60300)  # not raised in the recording
    soft(tr, 1, 42, 70000, 70100, 69000)  # an unknown vector
    tr.event(SOFT_ENTRY, 99000, cpu=0, vec=9)  # it does not end before the recording does
    return tr.event(RAISE, 100000, cpu=0, vec=9)


t.prints(recording(), [
    "interrupt handlers",
    "irq  name         count    total    busy     mean      p50      p95      p99      max",
    " 30  disk             3  9.00 us  9.00 %  3.00 us  3.00 us  4.00 us  4.00 us  4.00 us",
    " 31  net0             1  1.00 us  1.00 %  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us",
    " 31  net0-shared      1   500 ns  0.50 %   500 ns   500 ns   500 ns   500 ns   500 ns",
    "",
    "soft interrupts",
    "vec  name       count    total    busy     mean      p50      p95      p99      max",
    "  3  NET_RX         1  6.00 us  6.00 %  6.00 us  6.00 us  6.00 us  6.00 us  6.00 us",
    "  1  TIMER          2   800 ns  0.80 %   400 ns   300 ns   500 ns   500 ns   500 ns",
    " 42  vector 42      1   100 ns  0.10 %   100 ns   100 ns   100 ns   100 ns   100 ns",
    "",
    "soft interrupts: from raised to run",
    "vec  name       count     mean      p50      p95      p99      max",
    "  3  NET_RX         1  5.00 us  5.00 us  5.00 us  5.00 us  5.00 us",
    "  1  TIMER          1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us",
    " 42  vector 42      1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us",
    "1 end is in the recording without the beginning",
    "1 beginning is in the recording without the end"], "by handler")
d = t.json(recording(), "--by", "cpu")
t.is_([(r["irq"], r["cpu"], r["count"], r["max_ns"]) for r in d["irqs"]],
      [(30, 0, 2, 4000), (30, 1, 1, 3000), (31, 0, 1, 1000), (31, 0, 1, 500)], "by cpu: interrupts")
t.is_([(r["name"], r["cpu"], r["total_ns"]) for r in d["softirqs"]],
      [("NET_RX", 0, 6000), ("TIMER", 1, 500), ("TIMER", 0, 300), ("vector 42", 1, 100)],
      "by cpu: soft interrupts")
t.is_((d["length_ns"], d["ends_without_beginning"], d["beginnings_without_end"]), (100000, 1, 1),
      "incomplete ones are counted")

nothing = ["interrupt handlers", "(none)", "", "soft interrupts", "(none)", "",
           "soft interrupts: from raised to run", "(none)"]
tr = Trace()
for name in (ENTRY, EXIT, RAISE, SOFT_ENTRY, SOFT_EXIT):
    tr.declare(name)
t.prints(tr, nothing, "no interrupt at all")

tr = Trace()
tr.event(SOFT_ENTRY, 1000, cpu=0, vec=3).event(SOFT_EXIT, 2000, cpu=0, vec=9)
d = t.json(tr)
t.is_((d["softirqs"], d["ends_without_beginning"], d["beginnings_without_end"]), ([], 1, 1),
      "an end of another vector ends nothing")

# An idle machine without a tick has neither timers nor interrupts. Each datagram through the
# loopback device raises NET_RX at once, at any load.
DATAGRAMS = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.settimeout(600)
for i in range(100):
    s.sendto(b"x", s.getsockname())
    s.recv(9)
"""
loopback = run([sys.executable, "-S", "-E", "-c", DATAGRAMS], env=dict(os.environ))
if loopback.rc:
    t.skip("a live recording", "no loopback network: " + loopback.err.strip().splitlines()[-1],
           installable=False)
    t.done()
live = t.record(["-a", "-e", "irq:*"], [sys.executable, "-S", "-E", "-c", DATAGRAMS],
                "a live recording")
if live:
    d = t.json(live)
    lines = run([SONDE, "script", "-i", live, "--format", "jsonl"]).out.splitlines()
    events = [json.loads(line) for line in lines]
    counts = collections.Counter(e["event"] for e in events if "event" in e)
    vectors = collections.Counter(e["fields"]["vec"] for e in events
                                  if e.get("event") == SOFT_ENTRY)
    rows = {r["name"]: r for r in d["softirqs"]}
    if NET_RX in vectors:
        t.ok(rows.get("NET_RX", {}).get("count", 0) > 0, "datagrams raise NET_RX", d)
        t.ok(any(r["name"] == "NET_RX" for r in d["delays"]), "with delays", d["delays"])
    else:
        t.skip("datagrams raise NET_RX", "this kernel handles them in a thread", installable=False)
    t.ok(all(0 < r["max_ns"] < d["length_ns"] and r["p50_ns"] <= r["p99_ns"] <= r["max_ns"]
             for r in rows.values()), "their times are possible", rows)
    if d.get("lost"):
        t.skip("each event is one of a pair or an end alone", "%d events were lost" % d["lost"],
               installable=False)
    else:
        pairs = sum(r["count"] for r in d["irqs"] + d["softirqs"])
        t.is_((pairs + d["ends_without_beginning"], pairs + d["beginnings_without_end"]),
              (counts[EXIT] + counts[SOFT_EXIT], counts[ENTRY] + counts[SOFT_ENTRY]),
              "each event is one of a pair or an end alone", d, counts)
        t.ok(all(vectors[r["vec"]] - d["beginnings_without_end"] <= r["count"] <= vectors[r["vec"]]
                 for r in d["softirqs"]), "also by vector", d, vectors)
t.done()
