# SPDX-License-Identifier: MIT
"""perf's exported-sql-viewer.py shows the same of databases that sonde and perf made.

export-to-sqlite.py makes the databases. The viewer runs unmodified and without a screen; its main
loop is replaced by one that opens its windows and prints their contents. SONDE_FULL=1: with a
second recording.
"""
import os

from scripttest import (DATA, FULL, MIXED, SONDE, Tests, environment, perf_version, qt_environment,
                        run)

SCRIPTS = "/usr/lib/perf-core/scripts/python/"

DRIVER = r'''
import sys, time
script, sys.argv = sys.argv[1], sys.argv[1:]
sys.path.insert(0, script.rpartition("/")[0])
world = {"__name__": "__main__", "__file__": script}
from PySide2 import QtCore, QtWidgets

def cells(model, parent, row):
    index = [model.index(row, c, parent) for c in range(model.columnCount(parent))]
    return [str(model.data(i, QtCore.Qt.DisplayRole)) for i in index]

def print_tree(model, parent, depth, deep):
    for row in range(model.rowCount(parent)):
        print("  " * depth + " | ".join(cells(model, parent, row)))
        if deep and depth < 6:
            print_tree(model, model.index(row, 0, parent), depth + 1, deep)

def look(app):
    window = [w for w in app.topLevelWidgets() if type(w).__name__ == "MainWindow"][0]
    menus = {m.title(): [a.text() for a in m.actions()] for m in window.menuBar().findChildren(QtWidgets.QMenu) if m.title()}
    print(menus["&Reports"], menus["&Tables"])
    for action in [a for m in window.menuBar().findChildren(QtWidgets.QMenu) if m.title() in ("&Reports", "&Tables", "&Charts")
                   for a in m.actions() if not a.text().startswith("&Top")]:
        before = list(window.mdi_area.subWindowList())
        action.trigger()
        new = [w for w in window.mdi_area.subWindowList() if w not in before]
        print("==", action.text(), len(new))
        model = getattr(new[0], "data_model", None) or getattr(new[0], "model", None) if new else None
        if model is None:
            continue
        end = time.time() + 60
        while hasattr(model, "more") and model.more and time.time() < end:  # filled by another process
            app.processEvents()
            model.FetchMoreRecords(1000)
            time.sleep(.01)
        app.processEvents()
        print_tree(model, QtCore.QModelIndex(), 0, "TreeModel" in [c.__name__ for c in type(model).__mro__])

class App(QtWidgets.QApplication):
    def exec_(self):
        look(self)
        return 0

with open(script) as f:
    text = f.read()
QtWidgets.QApplication = App
exec(compile(text, script, "exec"), world)
'''

t = Tests()
qt = qt_environment()
if not os.path.exists(SCRIPTS + "exported-sql-viewer.py"):
    t.skip("exported-sql-viewer.py", "not installed (linux-perf)")
elif isinstance(qt, str):
    t.skip("exported-sql-viewer.py", qt, installable=False)
else:
    driver = t.write("driver.py", DRIVER)
    plain = {k: v for k, v in environment(**qt).items()
             if k not in ("LD_PRELOAD", "ASAN_OPTIONS", "PYTHONMALLOC")}
    plain["PATH"] = "/usr/bin:" + plain["PATH"]  # perf uses modules of the first Python in PATH

    def shown(tool, data, env):
        db = t.dir + "/shown.db"
        if os.path.exists(db):
            os.unlink(db)
        made = run([*tool, "script", "-i", data, "-s", SCRIPTS + "export-to-sqlite.py", db, "all",
                    "calls", "callchains"], None, env,
                   t.dir)
        r = run(["/usr/bin/python3", driver, SCRIPTS + "exported-sql-viewer.py", db], None, plain,
                t.dir)
        return r._replace(err=made.err + r.err)

    for data in (MIXED, DATA + "/installed/faults.data")[:2 if FULL else 1]:
        name = os.path.basename(data)
        ours = environment(SONDE_PYTHON="/usr/bin/python3", **qt)
        r = shown([SONDE], data, ours)
        t.ok(r.rc == 0 and "Call &Graph" in r.out and "== samples 1" in r.out and
             "== samples_view 1" in r.out and "Traceback" not in r.err,
             "the viewer opens a database of sonde: " + name, r.out[:3000], r.err)
        if not (perf_version() or "").startswith("6.1."):
            t.skip("the viewer shows the same of a database of perf: " + name, "no perf 6.1")
            continue
        theirs = shown(["perf"], data, plain)
        r = shown([SONDE, "--compat", "perf-6.1"], data, ours)
        t.ok((r.out, r.rc) == (theirs.out, 0),
             "the viewer shows the same of a database of perf: " + name, *t.difference(r, theirs))
t.done()
