# SPDX-License-Identifier: MIT
"""rw-by-process.py and the recording of the demo: its output, also under perf."""

import os
import shutil

from scripttest import DEMO, HERE, MIXED, Tests

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts")

t = Tests()
for name in "analysis.py", "screen.py":
    shutil.copy(os.path.join(SCRIPTS, name), t.dir)  # the modules that it imports are in its folder
with open(os.path.join(SCRIPTS, "rw-by-process.py")) as f:
    text = f.read()
r = t.script(text, DEMO)
t.ok(not r.rc and len(r.out.splitlines()) > 5 and not r.err, "rw-by-process.py runs", r)
t.like_perf(text, "rw-by-process.py prints the same under perf", DEMO)
r = t.script(text, MIXED)
t.ok(not r.rc and "Traceback" not in r.err,
     "rw-by-process.py reports a recording without its events", r)
out = t.script(text, DEMO).out.splitlines()
t.is_(out[1].split(), ["cat", "10468", "127", "16261952", "128047"],
      "rw-by-process.py counts reads and writes", *out)
t.ok(all("cat" in x or "by " in x or not x for x in t.script(text, DEMO, ["cat"]).out.splitlines()),
     "rw-by-process.py with a filter")
t.done()
