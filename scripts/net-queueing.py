# SPDX-License-Identifier: MIT
# description: how long packets wait in queues: to be sent, to be freed, from a device to a process; drops with reasons, NAPI polls
# args: [--device NAME] [--top N] [--json]
# record: -a -e net:net_dev_queue,net:net_dev_xmit,net:netif_rx,net:netif_receive_skb
# record: -e skb:skb_copy_datagram_iovec,skb:consume_skb,skb:kfree_skb,napi:napi_poll
"""How long packets wait in queues of the network, by device.

    sonde record -a -e net:net_dev_queue,net:net_dev_xmit,net:netif_rx,net:netif_receive_skb \\
        -e skb:skb_copy_datagram_iovec,skb:consume_skb,skb:kfree_skb,napi:napi_poll -- sleep 10
    sonde script net-queueing.py [--device NAME] [--top N] [--json]

Sent: "queue" is from net_dev_queue to the net_dev_xmit that passed the packet to the driver, "free"
from there until the packet is freed, which a driver does when the device has sent it. Received:
"backlog" is from netif_rx to netif_receive_skb (drivers with NAPI have none), "process" from
netif_receive_skb until a process first copied from the packet, or freed it, "kernel" until it was
freed in a softirq (acknowledgements, forwarded packets, ICMP). Newer kernels copy datagrams without
an event, and the cpu that made the packet frees it some time later: such packets also count as the
kernel's. Dropped packets are those of kfree_skb, by device and reason.
"""

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, losses, plural, signed32,
                      spread)
from analysis import name as text
from scheduling import interrupted

options = arguments(__doc__, top=20,
                    more=[(["--device"], {"metavar": "NAME", "help": "only this device"})])
DEVICE = options.device

queued = {}    # packet -> (since when, device)
sent = {}      # packet -> (since when, device)
backlog = {}   # packet -> (since when, device)
received = {}  # packet -> (since when, device)
times = {}     # (device, kind of time) -> Distribution of nanoseconds
counts = {}    # (device, what) -> how many
drops = {}     # (device or None, reason) -> how many
polls = {}     # device -> [polls, packets, polls that used up their budget]
reasons = {}   # number -> name, of the recorded kernel


def define_symbolic_field(event_name, field):
    pass


def define_symbolic_value(event_name, field, value, name):
    if event_name == "skb__kfree_skb" and field == "reason":
        reasons[value] = text(name)


def note(device, which, time):
    d = times.get((device, which))
    if d is None:
        d = times[device, which] = Distribution()
    d.add(time)


def count(device, what, n=1):
    counts[device, what] = counts.get((device, what), 0) + n


def net__net_dev_queue(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                       common_comm, common_callchain, skbaddr, name):
    name = text(name)
    sent.pop(skbaddr, None)
    if DEVICE is None or name == DEVICE:
        queued[skbaddr] = common_secs * 1000000000 + common_nsecs, name


def net__net_dev_xmit(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                      common_comm, common_callchain, skbaddr, len, rc, name):
    name = text(name)
    if DEVICE is not None and name != DEVICE:
        return
    if rc == 16:  # NETDEV_TX_BUSY: it stays in the queue
        count(name, "busy")
        return
    now = common_secs * 1000000000 + common_nsecs
    since = queued.pop(skbaddr, None)
    if since is not None:
        note(name, "queue", now - since[0])
    if rc:
        count(name, "failed")
        return
    count(name, "sent")
    count(name, "sent_bytes", len)
    # A virtual device has already passed it to its other end.
    if skbaddr not in backlog and skbaddr not in received:
        sent[skbaddr] = now, name


def net__netif_rx(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                  common_comm, common_callchain, skbaddr, name):
    name = text(name)
    received.pop(skbaddr, None)
    if DEVICE is None or name == DEVICE:
        backlog[skbaddr] = common_secs * 1000000000 + common_nsecs, name


def net__netif_receive_skb(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                           common_comm, common_callchain, skbaddr, len, name):
    name = text(name)
    since = backlog.pop(skbaddr, None)
    sent.pop(skbaddr, None)
    if DEVICE is not None and name != DEVICE:
        return
    now = common_secs * 1000000000 + common_nsecs
    if since is not None:
        note(name, "backlog", now - since[0])
    count(name, "received")
    count(name, "received_bytes", len)
    received[skbaddr] = now, name


def skb__skb_copy_datagram_iovec(event_name, context, common_cpu, common_secs, common_nsecs,
                                 common_pid, common_comm, common_callchain, skbaddr):
    since = received.pop(skbaddr, None)
    if since is not None:
        note(since[1], "process", common_secs * 1000000000 + common_nsecs - since[0])


def skb__consume_skb(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                     common_comm, common_callchain, skbaddr):
    now = common_secs * 1000000000 + common_nsecs
    since = sent.pop(skbaddr, None)
    if since is not None:
        note(since[1], "free", now - since[0])
    since = received.pop(skbaddr, None)
    if since is not None:
        note(since[1], "kernel" if interrupted(context) else "process", now - since[0])


def skb__kfree_skb(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                   common_comm, common_callchain, skbaddr, reason=None):
    device = None
    for packets in received, backlog, queued, sent:
        since = packets.pop(skbaddr, None)
        if since is not None and device is None:
            device = since[1]
    if device is not None or DEVICE is None:
        drops[device, reason] = drops.get((device, reason), 0) + 1


def napi__napi_poll(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                    common_comm, common_callchain, dev_name, work, budget):
    dev_name = text(dev_name)
    if DEVICE is not None and dev_name != DEVICE:
        return
    p = polls.get(dev_name)
    if p is None:
        p = polls[dev_name] = [0, 0, 0]
    p[0] += 1
    p[1] += signed32(work)
    if work >= budget:
        p[2] += 1


def trace_lost(cpu, time, count):
    losses.add(count)
    for packets in queued, sent, backlog, received:
        packets.clear()


def trace_end():
    report = Report(options)
    devices = sorted({device for device, _ in counts} | {device for device, _ in times})
    whats = [("sent", "sent", "number"), ("sent_bytes", "bytes", "bytes"),
             ("failed", "failed", "number"),
             ("busy", "busy", "number"), ("received", "received", "number"),
             ("received_bytes", "bytes", "bytes")]
    report.table("devices", None, [("device", "device", "text")] + whats,
                 [(device,) + tuple(counts.get((device, what), 0) for what, _, _ in whats)
                  for device in devices],
                 "no packet in this recording; record the events that --help names")
    rows = [(device, which) + (times[device, which].count,) + spread(times[device, which])
            for device in devices
            for which in ("queue", "free", "backlog", "process", "kernel")
            if (device, which) in times]
    if rows or options.json:
        report.table("waits", "how long packets waited",
                     [("device", "device", "text"), ("for", "for", "text"),
                      ("packets", "packets", "number")] + SPREAD, rows)
    if drops or options.json:
        rows = [(device, reasons.get(reason) or
                 ("unknown" if reason is None else "reason %d" % reason), n)
                for (device, reason), n in drops.items()]
        report.table("drops", "dropped",
                     [("device", "device", "text"), ("reason", "reason", "text"),
                      ("packets", "packets", "number")],
                     sorted(rows, key=lambda row: (-row[2], row[0] or "", row[1])))
    if polls or options.json:
        report.table("polls", "NAPI polls", [
            ("device", "device", "text"), ("polls", "polls", "number"),
            ("packets", "packets", "number"),
            ("per_poll", "per poll", "rate"), ("whole_budget", "full budget", "number")],
            sorted((device, n, work, work / n, full) for device, (n, work, full) in polls.items()))
    report.note("still_queued", len(queued) + len(backlog), "\n%s still queued at the end" %
                plural(len(queued) + len(backlog), "packet was", "packets were"))
    report.print()


any_kernel(globals())
