# SPDX-License-Identifier: MIT
"""block-latency.py: requests that are queued, issued, completed, merged, split, requeued;
partitions, errors.
"""
import os
import re

from analysistest import SONDE, Analyses, run
from known import Trace

QUEUE, INSERT, ISSUE = "block:block_bio_queue", "block:block_rq_insert", "block:block_rq_issue"
REQUEUE, COMPLETE = "block:block_rq_requeue", "block:block_rq_complete"
EVENTS = [QUEUE, INSERT, ISSUE, REQUEUE, COMPLETE]
DISK, PARTITION, OTHER = 8 << 20, 8 << 20 | 1, 254 << 20 | 16

t = Analyses("block-latency.py")


def recording():
    tr = Trace()

    def at(event, when, sector, nr, rwbs="R", dev=DISK, **more):
        tr.event(event, when, dev=dev, sector=sector, nr_sector=nr, rwbs=rwbs, **more)

    at(COMPLETE, 10, 1, 8)  # it was issued before the recording
    # Two bios, the later sectors first, become one request, which waits since the first of them.
    at(QUEUE, 1000, 108, 8)
    at(QUEUE, 2000, 100, 8)
    at(INSERT, 2500, 100, 16)
    at(ISSUE, 11000, 100, 16)
    at(COMPLETE, 111000, 100, 16)
    # One bio of 24 sectors is split into two requests; the second one is completed in two steps.
    at(QUEUE, 200000, 1000, 24, "WS")
    at(ISSUE, 201000, 1000, 8, "WS")
    at(ISSUE, 204000, 1008, 16, "WS")
    at(COMPLETE, 211000, 1000, 8, "WS")
    at(COMPLETE, 224000, 1008, 8, "WS")
    at(COMPLETE, 234000, 1016, 8, "WS")
    # Queued to a partition, issued to the disk. Another disk handles the same sector at that time.
    at(QUEUE, 300000, 5000, 8, "WM", dev=PARTITION)
    at(QUEUE, 300500, 5000, 8, "R", dev=OTHER)
    at(ISSUE, 302000, 5000, 8, "WM")
    at(ISSUE, 300600, 5000, 8, "R", dev=OTHER)
    at(COMPLETE, 352000, 5000, 8, "WM", error=-5)
    at(COMPLETE, 300700, 5000, 8, "R", dev=OTHER)
    # The device requeues the request. Its wait is from the first queueing to the second issue.
    at(INSERT, 400000, 7000, 8, "D")
    at(ISSUE, 401000, 7000, 8, "D")
    at(REQUEUE, 402000, 7000, 8, "D")
    at(INSERT, 402500, 7000, 8, "D")
    at(ISSUE, 403000, 7000, 8, "D")
    at(COMPLETE, 404000, 7000, 8, "D")
    at(ISSUE, 500000, 0, 0, "FF")  # a flush has no sectors
    at(COMPLETE, 500800, 0, 0, "FF")
    at(ISSUE, 600000, 9000, 8)  # not completed
    return tr


t.prints(recording(), [
    "from issued to completed",
    "device  operation  requests      size     mean      p50      p95      p99      max  failed  "
    "requeued",
    "8:0     read              1  8.00 KiB   100 us   100 us   100 us   100 us   100 us       0   "
    "      0",
    "8:0     write             3  16.0 KiB  30.0 us  30.0 us  50.0 us  50.0 us  50.0 us       1   "
    "      0",
    "8:0     discard           1  4.00 KiB  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us       0   "
    "      1",
    "8:0     flush             1     0   B   800 ns   800 ns   800 ns   800 ns   800 ns       0   "
    "      0",
    "254:16  read              1  4.00 KiB   100 ns   100 ns   100 ns   100 ns   100 ns       0   "
    "      0",
    "",
    "from queued to issued",
    "device  operation  requests     mean      p50      p95      p99      max",
    "8:0     read              1  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us",
    "8:0     write             3  2.33 us  2.00 us  4.00 us  4.00 us  4.00 us",
    "8:0     discard           1  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us",
    "254:16  read              1   100 ns   100 ns   100 ns   100 ns   100 ns",
    "",
    "8:0 read, from issued to completed",
    " 65.5 us ..   131 us  1 ##################################################",
    "",
    "8:0 write, from issued to completed",
    " 8.19 us ..  16.4 us  1 ##################################################",
    " 16.4 us ..  32.8 us  1 ##################################################",
    " 32.8 us ..  65.5 us  1 ##################################################",
    "",
    "8:0 discard, from issued to completed",
    "  512 ns ..  1.02 us  1 ##################################################",
    "",
    "8:0 flush, from issued to completed",
    "  512 ns ..  1.02 us  1 ##################################################",
    "",
    "254:16 read, from issued to completed",
    "   64 ns ..   128 ns  1 ##################################################",
    "",
    "errors",
    "device  operation  error  count",
    "8:0     write      EIO        1",
    "",
    "requests at a device",
    "device  most at once  not completed at the end",
    "8:0                2                         1",
    "254:16             1                         0",
    "1 completion is in the recording without the issue"], "by operation")
d = t.json(recording(), "--by", "flags")
t.is_([(r["device"], r["flags"], r["count"], r["bytes"], r["max_ns"]) for r in d["served"]],
      [("8:0", "R", 1, 8192, 100000), ("8:0", "WM", 1, 4096, 50000), ("8:0", "WS", 2, 12288, 30000),
       ("8:0", "D", 1, 4096, 1000), ("8:0", "FF", 1, 0, 800), ("254:16", "R", 1, 4096, 100)],
      "by flags")
t.is_(d["histograms"][1],
      {"device": "8:0", "flags": "WM", "buckets": [{"from": 32768, "below": 65536, "count": 1}]},
      "histograms in JSON")

tr = Trace()
for name in EVENTS:
    tr.declare(name)
t.prints(tr, ["from issued to completed",
              "no request was completed; record block:block_rq_issue and block:block_rq_complete",
              "", "requests at a device", "(none)"], "no request at all")

# Formats of other kernels: no priority, rwbs of 8 bytes.
tr = Trace()
tr.declare(ISSUE, "dev_t dev; sector_t sector; unsigned int nr_sector; unsigned int bytes; char "
                  "rwbs[8]; char comm[16]; "
                  "__data_loc char[] cmd")
tr.declare(COMPLETE,
           "dev_t dev; sector_t sector; unsigned int nr_sector; int error; char rwbs[8]; "
           "__data_loc char[] cmd")
tr.event(ISSUE, 1000, dev=DISK, sector=8, nr_sector=8, rwbs="W")
tr.event(COMPLETE, 3000, dev=DISK, sector=8, nr_sector=8, rwbs="W")
row = t.json(tr)["served"]
t.ok([(r["operation"], r["max_ns"], r["failed"]) for r in row] == [("write", 2000, 0)],
     "formats of an older kernel", row)

path = os.path.join(t.dir, "blocks")
WRITE = ["dd", "if=/dev/zero", "of=" + path, "bs=64k", "count=20", "oflag=direct", "status=none"]
if run(WRITE).rc:
    t.skip("a live recording", "the file system of %s has no direct writes" % t.dir,
           installable=False)
    t.done()
# Some kernels report no completion if its interrupt finds the cpu idle. So loops keep all cpus
# busy.
BUSY = """
for cpu in %s; do timeout 60 taskset -c $cpu sh -c 'while :; do :; done' & pids="$pids $!"; done
sleep 0.05
"$@"
status=$?
kill $pids
exit $status
""" % " ".join(map(str, sorted(os.sched_getaffinity(0))))
live = t.record(["-a", "-e", ",".join(EVENTS)], ["sh", "-c", BUSY, "sh"] + WRITE,
                "a live recording")
if live:
    d = t.json(live)
    written = sum(r["bytes"] for r in d["served"] if r["operation"] == "write")
    issued = run([SONDE, "script", "-i", live, "-F", "comm,event"]).out
    if not re.search("^ *dd .*block_bio_queue", issued, re.M):
        t.skip("dd writes 64 KiB at a time", "the disk of %s makes no block events" % t.dir,
               installable=False)
    elif not re.search("block_rq_complete", issued):
        t.skip("dd writes 64 KiB at a time", "the kernel has reported no completion",
               installable=False)
    else:
        t.ok(written >= 1 << 16, "dd writes 64 KiB at a time", d)
        t.ok(all(0 < r["p50_ns"] <= r["max_ns"] for r in d["served"] + d["queued"]),
             "its times are possible", d)
t.done()
