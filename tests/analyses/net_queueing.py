# SPDX-License-Identifier: MIT
"""net-queueing.py: sent and received packets in handmade recordings, and datagrams over a pair of
virtual devices.
"""
import os
import shutil
import sys

from analysistest import ROOT, Analyses
from known import Trace
from scripttest import run

SOFTIRQ = 16
BUSY = 16
t = Analyses("net-queueing.py")


def empty():
    tr = Trace().task(5, "worker")
    for event in ("net_dev_queue", "netif_rx", "netif_receive_skb"):
        tr.declare("net:" + event, "void *skbaddr; unsigned int len; __data_loc char[] name")
    tr.declare("net:net_dev_xmit",
               "void *skbaddr; unsigned int len; int rc; __data_loc char[] name")
    tr.declare("skb:skb_copy_datagram_iovec", "const void *skbaddr; int len")
    tr.declare("skb:consume_skb", "void *skbaddr; void *location")
    tr.declare("skb:kfree_skb",
               "void *skbaddr; void *location; void *rx_sk; unsigned short protocol; int reason")
    tr.declare("napi:napi_poll", "void *napi; __data_loc char[] dev_name; int work; int budget")
    drops = tr.layouts["skb:kfree_skb"].format
    drops.text = drops.text.replace(
        '"x"', '"%s", __print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, { 3, "NO_SOCKET" })')
    return tr


def mixed():
    tr = empty()

    def at(time, event, packet, flags=0, **fields):
        tr.event(event, time, 0, 5, skbaddr=0xffff888000000000 + packet, common_flags=flags,
                 **fields)

    # Sent packets: the first waits 1 us and is freed 10 us later; the second waits 3 us, because
    # the device is busy once; the third fails; the fourth is dropped in the queue.
    at(1000, "net:net_dev_queue", 1, name="eth0", len=100)
    at(2000, "net:net_dev_xmit", 1, name="eth0", len=100)
    at(12000, "skb:consume_skb", 1, SOFTIRQ)
    at(20000, "net:net_dev_queue", 2, name="eth0", len=1500)
    at(21000, "net:net_dev_xmit", 2, name="eth0", len=1500, rc=BUSY)
    at(23000, "net:net_dev_xmit", 2, name="eth0", len=1500)
    at(30000, "net:net_dev_queue", 3, name="eth0", len=60)
    at(35000, "net:net_dev_xmit", 3, name="eth0", len=60, rc=-5)
    at(36000, "net:net_dev_queue", 4, name="eth0", len=60)
    at(37000, "skb:kfree_skb", 4, reason=2)
    # Sent by one device of a pair, received by the other: 2 us in the backlog, 5 us until a process
    # copies it, in two steps.
    at(40000, "net:net_dev_queue", 5, name="veth0", len=200)
    at(41000, "net:netif_rx", 5, name="veth1", len=186)
    at(41500, "net:net_dev_xmit", 5, name="veth0", len=200)
    at(43000, "net:netif_receive_skb", 5, name="veth1", len=186)
    at(48000, "skb:skb_copy_datagram_iovec", 5, len=100)
    at(49000, "skb:skb_copy_datagram_iovec", 5, len=86)
    at(50000, "skb:consume_skb", 5)
    # Received through NAPI: one is read without an event and freed, one is an acknowledgement, two
    # are dropped.
    for packet in (6, 7, 8, 9):
        at(60000, "net:netif_receive_skb", packet, SOFTIRQ, name="eth0", len=1000)
    tr.event("napi:napi_poll", 61000, 0, 5, dev_name="eth0", work=4, budget=64)
    tr.event("napi:napi_poll", 62000, 0, 5, dev_name="eth0", work=64, budget=64)
    at(64000, "skb:consume_skb", 6)
    at(60500, "skb:consume_skb", 7, SOFTIRQ)
    at(60600, "skb:kfree_skb", 8, SOFTIRQ, reason=3)
    at(60700, "skb:kfree_skb", 9, SOFTIRQ, reason=99)
    at(70000, "skb:kfree_skb", 77, reason=3)     # received before the recording
    at(71000, "net:net_dev_xmit", 78, name="eth0", len=50)  # queued before the recording
    at(80000, "net:net_dev_queue", 79, name="eth0", len=60)  # still queued at the end
    return tr


t.prints(mixed(), [
    "device  sent     bytes  failed  busy  received     bytes",
    "eth0       3  1.61 KiB       1     1         4  3.91 KiB",
    "veth0      1   200   B       0     0         0     0   B",
    "veth1      0     0   B       0     0         1   186   B",
    "",
    "how long packets waited",
    "device  for      packets     mean      p50      p95      p99      max",
    "eth0    queue          3  3.00 us  3.00 us  5.00 us  5.00 us  5.00 us",
    "eth0    free           1  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us",
    "eth0    process        1  4.00 us  4.00 us  4.00 us  4.00 us  4.00 us",
    "eth0    kernel         1   500 ns   500 ns   500 ns   500 ns   500 ns",
    "veth0   queue          1  1.50 us  1.50 us  1.50 us  1.50 us  1.50 us",
    "veth1   backlog        1  2.00 us  2.00 us  2.00 us  2.00 us  2.00 us",
    "veth1   process        1  5.00 us  5.00 us  5.00 us  5.00 us  5.00 us",
    "",
    "dropped",
    "device  reason         packets",
    "-       NO_SOCKET            1",
    "eth0    NOT_SPECIFIED        1",
    "eth0    NO_SOCKET            1",
    "eth0    reason 99            1",
    "",
    "NAPI polls",
    "device  polls  packets  per poll  full budget",
    "eth0        2       68      34.0            1",
    "",
    "1 packet was still queued at the end"], "all ways")
t.is_(t.json(mixed(), "--device", "veth1"), {
    "analysis": "net-queueing", "still_queued": 0, "lost": 0, "drops": [], "polls": [],
    "devices": [dict(
        device="veth1", sent=0, sent_bytes=0, failed=0, busy=0, received=1, received_bytes=186)],
    "waits": [
        dict([("device", "veth1"), ("for", which), ("packets", 1)] +
             [(k + "_ns", ns) for k in ("mean", "p50", "p95", "p99", "max")])
        for which, ns in (("backlog", 2000), ("process", 5000))]}, "--json, one device")
t.prints(empty(), ["no packet in this recording; record the events that --help names"],
         "a recording without a single event")

tr = Trace().task(5, "worker").declare("skb:kfree_skb",
                                       "void *skbaddr; void *location; unsigned short protocol")
tr.event("skb:kfree_skb", 1000, skbaddr=1)
t.is_(t.json(tr)["drops"], [{"device": None, "reason": "unknown", "packets": 1}],
      "a kernel without reasons of drops")

tr = empty()
tr.event("net:net_dev_queue", 1000, skbaddr=1, len=9, name="eth0").lost(2000, 5)
tr.event("net:net_dev_xmit", 9000, skbaddr=1, len=9, name="eth0")
got = t.json(tr)
t.is_((got["lost"], got["waits"], got["devices"][0]["sent"]), (5, [], 1),
      "packets on their way during a loss have no times")

if not shutil.which("unshare") or not shutil.which("ip"):
    t.skip("a live recording", "no unshare or no ip")
elif run(["unshare", "--net", "true"]).rc:
    t.skip("a live recording", "network namespaces are not permitted", installable=False)
else:
    # All packets are on the first cpu. Buffers this large lose nothing, even if the recorder has to
    # wait.
    cpu = str(min(os.sched_getaffinity(0)))
    traffic = os.path.join(ROOT, "tests", "scripts", "traffic.py")
    live = t.record(["-C", cpu, "-m", "16M", "-e",
                     "net:net_dev_queue,net:net_dev_xmit,net:netif_rx,net:netif_receive_skb", "-e",
                     "skb:skb_copy_datagram_iovec,skb:consume_skb,skb:kfree_skb,napi:napi_poll"],
                    ["unshare", "--net", sys.executable, traffic, "20", "3000"], "a live recording")
    if live:
        got = t.json(live)
        waits = {(row["device"], row["for"]): row["packets"] for row in got["waits"]}
        t.ok(waits.get(("rx0", "process"), 0) >= 20, "20 datagrams reach a process", got["waits"])
        t.ok(waits.get(("tx0", "queue"), 0) >= 120,
             "40 datagrams of three fragments each are sent", got["waits"])
        t.ok(any(row["device"] == "rx0" and row["reason"] == "NO_SOCKET" and row["packets"] == 20
                 for row in got["drops"]), "20 datagrams have no socket", got["drops"])
t.done()
