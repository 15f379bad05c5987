# SPDX-License-Identifier: MIT
"""The API test: each row of api.table, in every Python >= 3.9 that is installed.

    tests/scripts/api.py SONDE FIXTURES.PY

A language is a program that prints a line of JSON for each row: api_python.py is the one of Python.
"""
import json
import os

from recording_data import make_recordings
from scripttest import BINDINGS, DATA, HERE, Tests, environment, pythons, run

TABLE = os.path.join(HERE, "api.table")


def read_rows():
    with open(TABLE, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and line[0] != "#"]


def main():
    t = Tests()
    rows = read_rows()
    make_recordings(t.dir)
    t.ok(len(rows) >= 60 and all(len(row) == 5 for row in rows), "%d rows" % len(rows))
    for name, path in pythons():
        r = run([path, os.path.join(HERE, "api_python.py"), TABLE, DATA, t.dir],
                env=environment(PYTHONPATH=BINDINGS + "/module"), cwd=t.dir)
        got = r.out.splitlines()
        t.ok(r.rc == 0 and len(got) == len(rows), "%s: a line for each row" % name, r.rc, r.err)
        for row, line in zip(rows, got):
            t.is_(json.loads(line), json.loads(row[4]), "%s: %s" % (name, " ".join(row[:4])))
    t.done()


main()
