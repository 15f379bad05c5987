# SPDX-License-Identifier: MIT
"""rw-by-process.py over the recording of the demo: what it prints, and that perf prints the same."""

import os
import shutil

from scripttest import DEMO, HERE, MIXED, Tests

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts")

t = Tests()
for name in "analysis.py", "screen.py":
    shutil.copy(os.path.join(SCRIPTS, name), t.dir)  # what it imports lies beside it
with open(os.path.join(SCRIPTS, "rw-by-process.py")) as f:
    text = f.read()
r = t.script(text, DEMO)
t.ok(not r.rc and len(r.out.splitlines()) > 5 and not r.err, "rw-by-process.py runs", r)
t.like_perf(text, "and prints under perf what it prints here", DEMO)
r = t.script(text, MIXED)
t.ok(not r.rc and "Traceback" not in r.err, "it copes with a recording without its events", r)
out = t.script(text, DEMO).out.splitlines()
t.is_(out[1].split(), ["cat", "10468", "127", "16261952", "128047"], "it counts", *out)
t.ok(all("cat" in x or "by " in x or not x for x in t.script(text, DEMO, ["cat"]).out.splitlines()), "and narrows down")
t.done()
