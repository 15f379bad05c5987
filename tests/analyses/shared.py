# SPDX-License-Identifier: MIT
"""The library of the analyses, and their handling of losses: run by python alone, without sonde or
perf.
"""
import contextlib
import io
import json
import os
import random
import runpy
import sys
import warnings

from analysistest import SCRIPTS, Tests

sys.path.insert(0, SCRIPTS)
warnings.simplefilter("error")
import analysis  # noqa: E402

t = Tests()

# ---- distributions -------------------------------------------------------------------------------

random.seed(1)
for what, values in (("a few", [5, 3, 9, 3, 0]),
                     ("hundreds", [random.randrange(10**6) for _ in range(511)]),
                     ("thousands", [int(random.lognormvariate(10, 3)) for _ in range(5000)]),
                     ("all the same", [7] * 2000), ("wide apart", [0, 1, 1 << 62] * 700)):
    all_values, left, right = (analysis.Distribution(), analysis.Distribution(),
                               analysis.Distribution())
    for i, value in enumerate(values):
        all_values.add(value)
        (left if i % 3 else right).add(value)
    left.merge(right)
    exact = sorted(values)
    near = 0 if len(values) <= 511 else 0.01
    for d, how in ((all_values, ""), (left, ", merged")):
        t.is_((d.count, d.sum, d.min, d.max), (len(values), sum(values), exact[0], exact[-1]),
              what + how)
        found = [(p, d.percentile(p), exact[max(-(-len(exact) * p // 100), 1) - 1])
                 for p in (0, 1, 50, 90, 99, 100)]
        t.ok(all(abs(got - right_one) <= near * right_one for _, got, right_one in found),
             what + how + ": percentiles", found)
        powers = d.powers()
        t.is_((sum(count for _, _, count in powers), powers[0][0] <= exact[0],
               powers[-1][1] > exact[-1]),
              (len(values), True, True), what + how + ": by powers of two")
        t.ok(all(count == sum(low <= value < high for value in values)
                 for low, high, count in powers),
             what + how + ": no value in a wrong power of two")
    t.ok(len(all_values.fresh) < 512 and len(all_values.buckets or ()) <= 64 * 63,
         what + ": memory is bounded", len(all_values.buckets or ()))
d = analysis.Distribution()
t.is_((d.count, d.sum, d.min, d.max, d.mean, d.percentile(50), d.powers()),
      (0, 0, None, None, None, None, []), "no value")

# ---- text ----------------------------------------------------------------------------------------

for ns, text in ((0, "0 ns"), (999, "999 ns"), (1000, "1.00 us"), (9994, "9.99 us"),
                 (9996, "10.0 us"), (99960, "100 us"),
                 (999400, "999 us"), (999600, "1.00 ms"), (1234567, "1.23 ms"), (10**9, "1.00  s"),
                 (4 * 10**12, "4000  s")):
    t.is_(analysis.duration(ns), text, "%d ns" % ns)
t.is_([analysis.size(n) for n in (0, 512, 1024, 5 << 20)],
      ["0   B", "512   B", "1.00 KiB", "5.00 MiB"], "sizes")
t.is_(analysis.printable("a\x1b[2Jb\tc\udcff\u00e9"), r"a\x1b[2Jb\x09c\xff" "\u00e9",
      "control characters of names do not reach a terminal")
t.is_([analysis.error_name(n) for n in (-2, 13, -512, -4000)],
      ["ENOENT", "EACCES", "ERESTARTSYS", "errno 4000"], "errors")
t.is_([analysis.signed32(n) for n in (5, (1 << 32) - 5, -5)], [5, -5, -5],
      "signs that perf leaves out")
if os.uname()[4] == "x86_64":
    t.is_([analysis.syscall_name(n) for n in (0, 257, 9999)], ["read", "openat", "call 9999"],
          "names of calls")

# ---- losses --------------------------------------------------------------------------------------
# A call that began before a loss must not be paired with an end after it: its own end may be lost.


def lossy(script, events):
    """(--json as an object, text) after these events; "lost" stands for a loss of 12 events."""
    results = []
    for argv in (["--json"], []):
        sys.argv[:] = [script] + argv
        analysis.losses.__init__()
        out = io.StringIO()
        main = runpy.run_path(os.path.join(SCRIPTS, script))
        for when, event in enumerate(events):
            if event == "lost":
                main["trace_lost"](0, when * 1000, 12)
                continue
            handler, fields = event
            common = dict(event_name=handler, context=None, common_cpu=0, common_secs=0,
                          common_nsecs=when * 1000, common_pid=5, common_comm="worker",
                          common_callchain=[])
            code = main[handler].__code__
            wanted = code.co_varnames[8:code.co_argcount]
            fields = dict(fields, perf_sample_dict={"sample": {"pid": 5}})
            main[handler](*common.values(), *[fields[name] for name in wanted])
        with contextlib.redirect_stdout(out):
            main["trace_end"]()
        results.append(out.getvalue())
    return json.loads(results[0]), results[1]


def pair(begin, end, **fields):
    return [(begin, fields), (end, fields)]


BLOCK = {"dev": 1 << 20, "sector": 8, "nr_sector": 8, "rwbs": "R", "error": 0}
for script, table, column, begin, end, fields in (
        ("syscall-latency.py", "calls", "calls", "raw_syscalls__sys_enter",
         "raw_syscalls__sys_exit", {"id": 0, "ret": 0}),
        ("irq-times.py", "irqs", "count", "irq__irq_handler_entry", "irq__irq_handler_exit",
         {"irq": 3, "name": "disk"}),
        ("irq-times.py", "softirqs", "count", "irq__softirq_entry", "irq__softirq_exit",
         {"vec": 1}),
        ("irq-times.py", "delays", "count", "irq__softirq_raise", "irq__softirq_entry", {"vec": 1}),
        ("block-latency.py", "served", "count", "block__block_rq_issue", "block__block_rq_complete",
         BLOCK),
        ("block-latency.py", "queued", "count", "block__block_bio_queue", "block__block_rq_issue",
         BLOCK),
        ("futex-contention.py", "futexes", "waits", "syscalls__sys_enter_futex",
         "syscalls__sys_exit_futex", {"uaddr": 4096, "op": 128, "ret": 0})):
    both = pair(begin, end, **fields)
    if table == "queued":
        both.append(("block__block_rq_complete", fields))
    once, _ = lossy(script, both)
    data, text = lossy(script, both + [both[0], "lost"] + both[1:])
    t.is_(([row[column] for row in once[table]], once["lost"]), ([1], 0),
          "%s, %s: a pair" % (script, table))
    t.is_(([row[column] for row in data[table]], data["lost"]), ([1], 12),
          "%s, %s: no pair across a loss" % (script, table))
    t.has(text, "\n12 events were lost at 1 place: counts are too low",
          "%s, %s: losses are reported" % (script, table))
for script, event in (("failed-syscalls.py", ("raw_syscalls__sys_exit", {"id": 0, "ret": -2})),
                      ("page-allocations.py",
                       ("kmem__mm_page_alloc", {"pfn": 5, "order": 0, "migratetype": 0}))):
    t.has(lossy(script, [event, "lost", "lost"])[1], "\n24 events were lost at 2 places:",
          "%s: losses are reported" % script)
t.done()
