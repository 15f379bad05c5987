# SPDX-License-Identifier: MIT
"""Analyses run by name with a command: the processes that they record, and their end with the
command.

Analyses of a program's own events record the command only, as perf's wrappers do. Analyses of
events between programs (interrupts, wake-ups, requests) have -a in their `# record:` line: they
record the machine while the command runs.
"""
import json
import os
import subprocess
import sys

from analysistest import SCRIPTS, SONDE, Tests, environment, run

OF_THE_COMMAND = {"syscall-latency": ["--by=process"], "failed-syscalls": ["--by=process"],
                  "futex-contention": ["--by=thread"], "rw-by-process": []}
OF_THE_MACHINE = ("block-latency", "irq-times", "net-queueing", "off-cpu", "page-allocations",
                  "wakeup-latency", "who-woke-whom")
LIVE_SCREENS = ("rw-top", "syscall-top")  # all words after its name are its arguments
LIBRARIES = ("analysis", "scheduling", "screen")

t = Tests()
every = {name[:-3] for name in os.listdir(SCRIPTS) if name.endswith(".py")}
t.is_(every - set(LIBRARIES), {*OF_THE_COMMAND, *OF_THE_MACHINE, *LIVE_SCREENS},
      "this test knows all analyses")
for name in sorted(every - set(LIBRARIES)):
    with open("%s/%s.py" % (SCRIPTS, name)) as f:
        said = [line for line in f if line.startswith("# record:")]
    t.is_(bool(said) and " -a " in said[0], name in OF_THE_MACHINE,
          "%s: -a in its `# record:` line" % name, said)

NAPS = ("import ctypes, time\nctypes.CDLL(None).prctl(15, b'napper')\nfor i in range(100): "
        "time.sleep(.01)\n")
r = run([SONDE, "record", "-q", "-a", "-o", t.dir + "/x.data", "-e", "sched:sched_switch", "--",
         "true"], env=environment())
if r.rc:
    t.skip("live", "nothing can be recorded here: " + r.err.strip()[-200:], False)
    t.done()
CALLS = "for i in 1 2 3; do cat /nonexistent; done 2>/dev/null; exec sleep 0.2"


def live(name, *words):
    # The environment has no PERF_EXEC_PATH, so that sonde's script is found before one of perf with
    # that name.
    return run([SONDE, "script", name, "--json", *words, "--", "sh", "-c", CALLS],
               env=environment(SONDE_PYTHON=t.python), cwd=t.dir)


def names_in(node, keys=("process", "comm", "name")):
    if isinstance(node, list):
        return set().union(*(names_in(x) for x in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = {node[k] for k in keys if isinstance(node.get(k), str)}
    return found.union(*(names_in(x) for x in node.values()))


napper = subprocess.Popen([sys.executable, "-c", NAPS.replace("range(100)", "range(100000)")])
try:
    for name, by in OF_THE_COMMAND.items():
        r = live(name, *by)
        try:
            names = names_in(json.loads(r.out))
        except ValueError:
            names = None
        t.ok(r.rc == 0 and names is not None and "napper" not in names and "Traceback" not in r.err,
             "%s COMMAND: no other processes" % name, r, names)
        if name != "futex-contention":
            t.ok(names and {"sleep", "cat"} <= names, "%s COMMAND: its children, too" % name, r.out)
    for name in OF_THE_MACHINE:
        r = live(name)
        t.ok(r.rc == 0 and r.out and json.loads(r.out) and "Traceback" not in r.err,
             "%s COMMAND: ends with the command" % name, r)
    r = live("who-woke-whom", "--by=name")
    t.has(r.out, "napper", "who-woke-whom COMMAND: other processes, too")
finally:
    napper.kill()
    napper.wait()
t.done()
