#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each program of examples/python prints what it promises, over a recording that makes it matter.

    tests/docs/examples.py SONDE FIXTURES.PY

A line here is a line of the output.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "scripts"))
from recording_data import make_recordings  # noqa: E402
from scripttest import BINDINGS, DATA, DEMO, SONDE, Tests, environment, run  # noqa: E402

EXAMPLES = os.path.join(ROOT, "examples", "python")
PIPELINE, CHAINS = DATA + "/pipeline.data", DATA + "/text/chains.data"

t = Tests()
make_recordings(t.dir)
# (program, arguments, lines that it prints, modules that it needs)
CASES = (
    ("who_ran.py", [DEMO], ["cat                 7.159", "grep                6.201"], ()),
    ("wakeup_latency.py", [DEMO], ["xargs (thread 10466) waited 0.503 ms"], ()),
    ("idle_switches.py", [DEMO],
     ["cpu 0: 37 of 38 switches were to idle", "cpu 1: 58 of 117 switches were to idle"],
     ("numpy",)),
    ("bytes_read.py", [DEMO], ["cat"], ("duckdb", "polars")),
    ("frequent_calls.py", [PIPELINE], ["call 262:    216 times", "call 257:    120 times"],
     ("numpy",)),
    ("fold.py", [CHAINS, "sched:sched_switch", "kallsyms=" + DATA + "/text/kallsyms"],
     ["entry_SYSCALL_64_after_hwframe;do_syscall_64;kernel_wait4;do_wait;schedule;__schedule 2"],
     ()),
    ("together.py", [PIPELINE + ".old", PIPELINE],
     ["pipeline.data.old: 48 sched:sched_switch", "pipeline.data: 32 sched:sched_switch"], ()),
    ("together.py", [t.dir + "/lost-events.data"], ["incomplete: 4 events were lost; record fewer "
     "events, or with larger buffers (sonde record -m)"], ()),
    ("contents.py", [DEMO], ["Linux 6.18.44-fc-v657, 12.178 ms, 474 events, 0 lost",
                             "    prev_state: long  (1 S, 2 D, 4 T, 8 t)"], ()),
)


# (program, words of sonde run, status, texts that it prints); {} is the program. They record.
READS = ["--", "sh", "-c", "cat /dev/null; sleep 0.05 | cat"]
RUNS = (
    ("slow_reads.py", ["{}"] + READS, 0, []),
    ("read_times.py", ["{}"] + READS, 0, ["pair(syscalls:sys_enter_read", "comm cat"]),
    ("first_exec.py", ["{}", "--", "sh", "-c", "true; exec cat /dev/null"], 3, ["/", " by "]),
)


def missing(modules):
    return [m for m in modules
            if run([t.python, "-c", "import " + m], env=environment()).rc]


for program, arguments, lines, modules in CASES:
    name = " ".join([program] + [os.path.basename(a) for a in arguments])
    without = missing(modules)
    if without:
        # Debian has NumPy and pandas, but no DuckDB and no Polars.
        t.skip(name, "there is no module " + " and no module ".join(without),
               installable="numpy" in without)
        continue
    r = run([t.python, os.path.join(EXAMPLES, program), *arguments],
            env=environment(PYTHONPATH=BINDINGS + "/module"), cwd=t.dir)
    printed = r.out.splitlines()
    t.ok((r.rc, r.err) == (0, "") and all(line in printed for line in lines), name, r.rc, r.err,
         r.out, "expected:", *lines)

for program, words, status, texts in RUNS:
    if os.geteuid():
        t.skip("sonde run " + program, "needs root", installable=False)
        continue
    path = os.path.join(EXAMPLES, program)
    r = run([SONDE, "run"] + [w.replace("{}", path) for w in words], env=environment(), cwd=t.dir)
    t.ok(r.rc == status and all(text in r.out for text in texts) and "Traceback" not in r.err,
         "sonde run " + program, r.rc, r.err, r.out)
if os.geteuid():
    t.skip("test_opens.py", "needs root", installable=False)
else:
    r = run([t.python, EXAMPLES + "/test_opens.py"],
            env=environment(PYTHONPATH=BINDINGS + "/module"), cwd=t.dir)
    t.ok((r.rc, r.out) == (0, "passed\n"), "test_opens.py", r.rc, r.err, r.out)
LIVE = [r[0] for r in RUNS] + ["test_opens.py"]

with open(EXAMPLES + "/README.md") as f:
    page = f.read()
for program in sorted(n for n in os.listdir(EXAMPLES) if n.endswith(".py")):
    with open(os.path.join(EXAMPLES, program)) as f:
        text = f.read()
    first = text.splitlines()[0]
    t.ok(re.match(r"# [A-Z].*\?", first) and text.count("\n") <= 40,
         program + " says in its first line what it answers, and fits on a screen", first)
    t.ok("`%s`" % program in page and program in [c[0] for c in CASES] + LIVE,
         program + " is on the page and is run")
t.done()
