#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""DuckDB reads the columns of `import sonde`: the same counts, sums, groups, texts and stacks.

    tests/scripts/duck.py SONDE FIXTURES.PY [FOLDER WITH NODE_MODULES]

npm installs DuckDB into a temporary folder; its library is called through ctypes. Without npm, or
if it cannot, the test is skipped.
"""
import ctypes
import glob
import os
import shutil
import subprocess
import sys

from recording_data import make_recordings
from scripttest import BINDINGS, DATA, Tests

sys.path.insert(0, BINDINGS + "/module")
import sonde  # noqa: E402

PACKAGE = "@duckdb/node-api"
t = Tests()


def install(folder):
    if not shutil.which("npm"):
        return "npm is not installed"
    p = subprocess.run(["npm", "install", "--no-audit", "--no-fund", PACKAGE], cwd=folder,
                       capture_output=True, text=True, timeout=300)
    return p.returncode and "npm cannot install %s: %s" % (PACKAGE, p.stderr.strip()[-200:])


class Result(ctypes.Structure):
    _fields_ = [("unused", ctypes.c_uint64 * 3), ("columns", ctypes.c_void_p),
                ("error", ctypes.c_char_p), ("internal", ctypes.c_void_p)]


class Duck:
    def __init__(self, path):
        lib = self.lib = ctypes.CDLL(path)
        lib.duckdb_value_varchar.restype = ctypes.c_void_p
        lib.duckdb_value_varchar.argtypes = [ctypes.POINTER(Result)] + 2 * [ctypes.c_uint64]
        lib.duckdb_row_count.restype = lib.duckdb_column_count.restype = ctypes.c_uint64
        lib.duckdb_result_error.restype = ctypes.c_char_p
        lib.duckdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Result)]
        lib.duckdb_arrow_scan.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        lib.duckdb_free.argtypes = [ctypes.c_void_p]
        lib.duckdb_destroy_result.argtypes = [ctypes.POINTER(Result)]
        self.db, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert not lib.duckdb_open(None, ctypes.byref(self.db))
        assert not lib.duckdb_connect(self.db, ctypes.byref(self.connection))
        self.query("set threads=2")

    def query(self, sql):
        """The rows; values are texts, or None."""
        lib, r, rows = self.lib, Result(), []
        if lib.duckdb_query(self.connection, sql.encode(), ctypes.byref(r)):
            raise RuntimeError("%s: %s" % (sql, lib.duckdb_result_error(ctypes.byref(r))))
        for row in range(lib.duckdb_row_count(ctypes.byref(r))):
            values = []
            for column in range(lib.duckdb_column_count(ctypes.byref(r))):
                text = lib.duckdb_value_varchar(ctypes.byref(r), column, row)
                values.append(None if not text else ctypes.string_at(text).decode())
                lib.duckdb_free(text)
            rows.append(tuple(values))
        lib.duckdb_destroy_result(ctypes.byref(r))
        return rows

    def take(self, table, name):
        """Makes a table of DuckDB from a stream of ours."""
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        stream = table.__arrow_c_stream__()
        self.query("drop table if exists " + name)
        self.query("drop view if exists scanned")
        assert not self.lib.duckdb_arrow_scan(self.connection, b"scanned",
                                              pointer(stream, b"arrow_array_stream"))
        self.query("create table %s as select * from scanned" % name)


def as_text(value):
    """A value as DuckDB casts it to text."""
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(str, value))
    return None if value is None else str(value)


def compare(duck, path, event, **options):
    """What differs between a table and DuckDB's copy of it."""
    table = sonde.open(path).table(event, **options)
    wrong = []
    duck.take(table, "t")
    if duck.query("select count(*) from t") != [(str(table.num_rows),)]:
        wrong.append("rows")
    for name in table:
        column, values = table[name], table[name].to_list()
        there = [v for v in values if v is not None]
        word = '"%s"' % name.replace('"', '""')
        if column.arrow in "cCsSiIlL":
            what, expected = "count(%s), sum(%s::hugeint)" % (word, word), [
                (str(len(there)), str(sum(there)) if there else None)]
        elif column.arrow in "zfg":
            what, expected = "count(%s)" % word, [(str(len(there)),)]
        else:
            what, expected = word + "::varchar", [(as_text(v),) for v in values]
        got = duck.query("select %s from t" % what)
        if got != expected:
            wrong.append((name, column.arrow, got[:3], expected[:3]))
    groups = {}
    for comm in table["comm"].to_list():
        groups[comm] = groups.get(comm, 0) + 1
    if dict(duck.query("select comm, count(*) from t group by 1")) != {
            comm: str(n) for comm, n in groups.items()}:
        wrong.append("groups by comm")
    return wrong


def compare_frames(duck, path, event):
    table = sonde.open(path).table(event, [], stacks="frames")
    names, expected = table.frames["symbol"].to_list(), {}
    for stack in table["stack"].to_list():
        for position in stack or ():
            expected[names[position]] = expected.get(names[position], 0) + 1
    duck.take(table, "t")
    duck.take(table.frames, "frames")
    got = duck.query("select symbol, count(*) from (select unnest(stack) as nr from t) "
                     "join (select row_number() over () - 1 as nr, symbol from frames) using (nr) "
                     "group by 1")
    return [] if dict(got) == {k: str(n) for k, n in expected.items()} else [got, expected]


def main():
    folder = sys.argv[3] if len(sys.argv) > 3 else t.dir
    why_not = len(sys.argv) <= 3 and install(folder)
    paths = glob.glob(folder + "/node_modules/@duckdb/*/libduckdb.so")
    if why_not or not paths:
        t.skip("DuckDB", why_not or "its package has no libduckdb.so for this machine")
        return
    make_recordings(t.dir)
    duck, types = Duck(paths[0]), 0
    for path in (DATA + "/demo.data", DATA + "/pipeline.data", DATA + "/text/chains.data",
                 DATA + "/scripts/types.data", DATA + "/scripts/flags.data",
                 t.dir + "/many-types.data", t.dir + "/places.data"):
        wrong = []
        for event in sonde.open(path).count(by="name"):
            types += 1
            for options in {}, {"flags": "names", "stacks": True}:
                wrong += [(event, options, w) for w in compare(duck, path, event, **options)]
        t.ok(not wrong, os.path.basename(path), wrong[:5])
    t.ok(types > 80, "event types", types)
    for path, event in ((DATA + "/text/chains.data", "sched:sched_switch"),
                        (t.dir + "/places.data", "cpu-clock")):
        wrong = compare_frames(duck, path, event)
        t.ok(not wrong, "frames of " + os.path.basename(path), wrong)


main()
t.done()
