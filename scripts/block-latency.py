# SPDX-License-Identifier: MIT
# description: block I/O: latency of requests, queued to issued to completed, per device and operation
# args: [--by operation|flags] [--top N] [--json]
# record: -a -e block:block_bio_queue,block:block_rq_insert,block:block_rq_issue
# record: -e block:block_rq_requeue,block:block_rq_complete
"""How long block I/O takes: in the queue until it is issued, and in the device until it is
completed.

    sonde record -a -e block:block_bio_queue,block:block_rq_insert,block:block_rq_issue \\
        -e block:block_rq_requeue,block:block_rq_complete -- sleep 10
    sonde script block-latency.py [--by operation|flags] [--top N] [--json]

A request waits from the time at which its oldest part was queued (block_bio_queue, else
block_rq_insert) until it was last issued (block_rq_issue). It is served until its last part is
completed (block_rq_complete). Devices are MAJOR:MINOR as in lsblk. --by flags also distinguishes: S
synchronous, M metadata, A read ahead, F flush or write through.
"""

from analysis import (SPREAD, Distribution, Report, any_kernel, arguments, error_name, losses, name,
                      plural, signed32, spread)

options = arguments(__doc__, by=("operation", "flags"), top=30)

OPERATIONS = {"R": "read", "W": "write", "D": "discard", "F": "flush", "N": "other", "Z": "zone"}
# Parts whose request is never seen (of a device made of others) must not accumulate.
MOST_QUEUED = 1 << 17


class Requests:
    def __init__(self):
        self.served, self.queued = Distribution(), Distribution()
        self.sectors = self.requeued = 0
        self.errors = {}


parts = {}      # sector -> {device: (when queued, sectors)}
nr_parts = 0
inserted = {}   # (device, sector) -> when
requeued = {}   # the same, for requests that the device returned -> when they were first queued
issued = {}     # (device, sector) -> (when, sectors to come, when queued or None, rwbs)
requests = {}   # (device, value of --by) -> Requests
depth = {}      # device -> [requests at the device now, most]
operations = {}  # rwbs -> value of --by
without_issue = 0


def operation(rwbs):
    if options.by == "flags":
        return rwbs or "none"
    letter = rwbs[1:2] if rwbs[:1] == "F" and rwbs[1:2] in ("W", "R", "D") else rwbs[:1]
    return OPERATIONS.get(letter, "other")


def requests_of(device, rwbs):
    kind = operations.get(rwbs)
    if kind is None:
        kind = operations[rwbs] = operation(rwbs)
    found = requests.get((device, kind))
    if found is None:
        found = requests[device, kind] = Requests()
    return found


def part_of(device, sector):
    """The queue time and length of the part that begins there. A partition's queue counts, too."""
    global nr_parts
    there = parts.get(sector)
    if not there:
        return None
    if device not in there:
        partitions = [d for d in there if d >> 20 == device >> 20 and d > device]
        if not partitions:
            return None
        device = min(partitions)
    nr_parts -= 1
    found = there.pop(device)
    if not there:
        del parts[sector]
    return found


def queue_part(device, sector, when, sectors):
    global nr_parts
    there = parts.setdefault(sector, {})
    nr_parts += device not in there
    there[device] = when, sectors
    if nr_parts > MOST_QUEUED:
        nr_parts -= len(parts.pop(next(iter(parts))))


def oldest_part(device, sector, sectors):
    """The queue time of the oldest part of a merged request; None if there is none."""
    oldest, end = None, sector + sectors
    while True:
        part = part_of(device, sector)
        if part is None:
            return oldest
        when, length = part
        oldest = when if oldest is None else min(oldest, when)
        if sector + length > end:  # it was split: the rest belongs to another request
            queue_part(device, end, when, sector + length - end)
        sector += length
        if sector >= end or not length:
            return oldest


def block__block_bio_queue(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                           common_comm, common_callchain, dev, sector, nr_sector):
    queue_part(dev, sector, common_secs * 1000000000 + common_nsecs, nr_sector)


def block__block_rq_insert(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                           common_comm, common_callchain, dev, sector):
    inserted[dev, sector] = common_secs * 1000000000 + common_nsecs


def block__block_rq_issue(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                          common_comm, common_callchain, dev, sector, nr_sector, rwbs):
    now = common_secs * 1000000000 + common_nsecs
    place = dev, sector
    in_scheduler = inserted.pop(place, None)
    queued = oldest_part(dev, sector, nr_sector)
    if queued is None:
        queued = requeued.pop(place, in_scheduler)
    if place not in issued:
        at_device = depth.setdefault(dev, [0, 0])
        at_device[0] += 1
        at_device[1] = max(at_device)
    issued[place] = now, nr_sector, queued, name(rwbs)


def block__block_rq_requeue(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                            common_comm, common_callchain, dev, sector, nr_sector):
    request = issued.pop((dev, sector), None)
    if request is not None:
        depth[dev][0] -= 1
        requests_of(dev, request[3]).requeued += 1
        if request[2] is not None:
            requeued[dev, sector] = request[2]


def block__block_rq_complete(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                             common_comm, common_callchain, dev, sector, nr_sector, error):
    global without_issue
    request = issued.pop((dev, sector), None)
    if request is None:
        without_issue += 1
        return
    since, sectors, queued, rwbs = request
    about = requests_of(dev, rwbs)
    about.sectors += nr_sector
    if error:
        number = signed32(error)
        about.errors[number] = about.errors.get(number, 0) + 1
    if nr_sector and nr_sector < sectors and not error:  # a part; the rest is still at the device
        issued[dev, sector + nr_sector] = since, sectors - nr_sector, queued, rwbs
        return
    depth[dev][0] -= 1
    about.served.add(common_secs * 1000000000 + common_nsecs - since)
    if queued is not None:
        about.queued.add(since - queued)


def trace_lost(cpu, time, count):
    global nr_parts
    losses.add(count)
    parts.clear()
    nr_parts = 0
    inserted.clear()
    requeued.clear()
    issued.clear()
    for at_device in depth.values():
        at_device[0] = 0


def device_name(dev):
    return "%d:%d" % (dev >> 20, dev & (1 << 20) - 1)


def trace_end():
    report = Report(options)
    heads = [("device", "device", "text"), (options.by, options.by, "text"),
             ("count", "requests", "number")]
    found = sorted(requests.items(), key=lambda item: (-item[1].served.sum, item[0]))
    report.table("served", "from issued to completed", heads + [
        ("bytes", "size", "bytes")] + SPREAD +
                 [("failed", "failed", "rare"), ("requeued", "requeued", "rare")],
        [(device_name(dev), kind, r.served.count, r.sectors * 512) + spread(r.served) +
         (sum(r.errors.values()), r.requeued) for (dev, kind), r in found],
        "no request was completed; record block:block_rq_issue and block:block_rq_complete")
    if any(r.queued.count for _, r in found) or options.json:
        report.table("queued", "from queued to issued", heads + SPREAD,
                     [(device_name(dev), kind, r.queued.count) + spread(r.queued)
                      for (dev, kind), r in found if r.queued.count])
    for (dev, kind), r in found[:options.top]:
        report.histogram("histograms", "%s %s, from issued to completed" % (device_name(dev), kind),
                         r.served, **{"device": device_name(dev), options.by: kind})
    errors = [(device_name(dev), kind, error_name(number), count)
              for (dev, kind), r in found for number, count in sorted(r.errors.items())]
    if errors or options.json:
        report.table("errors", "errors",
                     heads[:2] + [("error", "error", "text"), ("count", "count", "number")], errors)
    report.table("devices", "requests at a device",
                 [("device", "device", "text"), ("most", "most at once", "number"),
                 ("now", "not completed at the end", "number")],
                 [(device_name(dev), most, now) for dev, (now, most) in sorted(depth.items())])
    report.note("without_issue", without_issue, "%s in the recording without the issue" %
                plural(without_issue, "completion is", "completions are"))
    report.print()


any_kernel(globals())
