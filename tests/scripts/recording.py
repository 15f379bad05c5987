# SPDX-License-Identifier: MIT
"""Recording, Table and Column of `import sonde`, in every Python >= 3.9 that is installed.

    tests/scripts/recording.py SONDE FIXTURES.PY [WORD OF A PYTHON'S NAME ...]

The cases are in recording_cases.py and columns_cases.py, which run in the Python under test.
"""
import os
import sys

from recording_data import make_recordings
from scripttest import BINDINGS, DATA, HERE, Tests, environment, pythons, run

t = Tests()
make_recordings(t.dir)
wanted = sys.argv[3:]
for name, path in pythons():
    if wanted and not any(word in name for word in wanted):
        continue
    for cases in ("recording_cases.py", "columns_cases.py"):
        r = run([path, os.path.join(HERE, cases), DATA, t.dir],
                env=environment(PYTHONPATH=BINDINGS + "/module", MALLOC_ARENA_MAX="1"), cwd=t.dir)
        results = [line for line in r.out.splitlines() if line and line[0] != "#"]
        for line in results:
            if line.startswith("skip "):
                # A package that this Python does not have: CI has it in the distribution's.
                t.skip("%s: %s" % (name, line[5:].partition(": ")[0]), line.partition(": ")[2],
                       installable=name.startswith("system") and "sanitizer" not in line)
            else:
                part = r.out.partition(line + "\n")[2]
                why = part.partition("\nok ")[0].partition("\nnot ok ")[0]
                t.ok(line.startswith("ok "), "%s: %s" % (name, line.partition("ok ")[2]), why)
        t.ok(r.rc == 0 and len(results) > 8, "%s: %s runs to its end" % (name, cases), r.rc,
             r.err[-3000:])
t.done()
