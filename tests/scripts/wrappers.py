# SPDX-License-Identifier: MIT
"""perf's bin/NAME-record and bin/NAME-report, unmodified, with sonde as the only perf in PATH.

    wrappers.py SONDE FOLDER       tools/perf-6.12 unpacks newer wrappers in FOLDER

Each script records and reports with its wrappers, by default and as perf 6.1. Stock perf, if
installed, must print the same report of the recording. Scripts that call `perf` themselves are run,
too.
"""

import glob
import json
import os
import re
import shutil
import sys

from scripttest import DATA, DEMO, SONDE, Tests, environment, perf_version, qt_environment, run

EXEC_PATH = "/usr/lib/perf-core"
WORK = "cat /etc/hostname /nonexistent; ls / | wc -l; sleep 0.01\n"
# Its wrapper takes no arguments, so no command: it records until Ctrl-C.
ENDLESS = ("check-perf-trace",)

# Additional arguments of a wrapper. None: its events cannot be recorded here, and it says so.
RECORD = {"intel-pt-events": None, "mem-phys-addr": None, "powerpc-hcalls": None}
REPORT = {"flamegraph": ["-f", "json", "-o", "-"], "export-to-sqlite": ["x.db", "all"],
          "gecko": ["--save-only=x.json"], "rw-by-file": ["cat"], "export-to-postgresql": ["x"]}
MAKES = {"export-to-sqlite": "x.db", "gecko": "x.json"}
# Scripts in Perl: perl.py compares them; here they are only recorded and reported.
RANDOM = {"sctop": "a thread prints while events come", "rwtop": "a timer prints",
          "rw-by-pid": "rows of equal counts in any order", "wakeup-latency": "counts by kernel"}
# Messages of scripts without a window or a server.
FAILS = {"sched-migration": "wx", "export-to-postgresql": "P(ySide|SQL)"}

t = Tests()
if not os.path.isdir(EXEC_PATH + "/scripts/python/bin"):
    t.skip("perf's wrappers", "not installed (linux-perf)")
    t.done()
r = run([SONDE, "record", "-q", "-a", "-o", t.dir + "/x.data", "-e", "raw_syscalls:sys_enter", "--",
         "true"], env=environment())
if r.rc:
    t.skip("perf's wrappers", "nothing can be recorded: " + r.err.strip()[-200:], False)
    t.done()
trees = [EXEC_PATH]
newer = run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/perf-6.12"),
             sys.argv[2]], env=dict(os.environ),
            timeout=300)
if newer.rc:
    t.skip("wrappers of perf 6.12", newer.err.strip(), installable=False)
else:
    trees.append(os.path.dirname(newer.out.strip()) + "/root" + EXEC_PATH)

os.mkdir(t.dir + "/tools")
for folder in ("/usr/sbin", "/usr/bin"):
    for name in os.listdir(folder):
        if not name.startswith("perf") and not os.path.lexists(t.dir + "/tools/" + name):
            os.symlink(folder + "/" + name, t.dir + "/tools/" + name)
t.ok(not shutil.which("perf", path=t.dir + "/tools"), "PATH has no other perf")
QT = qt_environment()
OURS = environment(PATH=t.dir + "/tools", SONDE_PYTHON="/usr/bin/python3", PERL_HASH_SEED="0",
                   PERL_PERTURB_KEYS="0")
THEIRS = {k: v for k, v in OURS.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS", "PYTHONMALLOC")}
THEIRS["PATH"] = "/usr/bin:/bin:/usr/sbin"
COMMAND = ["sh", t.write("work.sh", WORK)]  # wrappers split words at blanks
has_perf = (perf_version() or "").startswith("6.1.")


def go(words, env, folder):
    """Runs a command; stdin is not a pipe, which perf would read as a recording."""
    return run(["sh", "-c", 'exec "$@" </dev/null', "sh", *words], None, env, folder)


def made(folder, name):
    path = folder + "/" + MAKES.get(name, "")
    if path.endswith(".db") and os.path.exists(path):
        out = run(["/usr/bin/python3", "-c",
                   "import sqlite3, sys\nfor line in sqlite3.connect(sys.argv[1]).iterdump(): "
                   "print(line)", path]).out
    elif path.endswith(".json") and os.path.exists(path):
        with open(path) as f:
            out = f.read()
    else:
        return ""
    os.unlink(path)
    return out


def report(tool, name, tree, env):
    folder = t.dir + "/" + name
    if os.path.exists("/dev/shm/perf.db") and name == "event_analyzing_sample":
        return None  # exists; the script would add to it
    env = dict(env, PERF_EXEC_PATH=tree,
               **(QT if isinstance(QT, dict) and name.startswith("export") else {}))
    r = go([*tool, "script", "report", name, *REPORT.get(name, ())], env, folder)
    if name == "event_analyzing_sample" and os.path.exists("/dev/shm/perf.db"):
        os.unlink("/dev/shm/perf.db")
    # Exporters print when they started.
    out = re.sub(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ ", "", r.out)
    out = re.sub(r'(?<="startTime":) *[0-9.]+', "", out + made(folder, name))
    return r._replace(out=out)


done = set()
for tree in trees:
    for path in sorted(glob.glob(tree + "/scripts/*/bin/*-re[cp]or[dt]")):
        name = os.path.basename(path).rsplit("-", 1)[0]
        if name in done or name in ENDLESS:
            continue
        done.add(name)
        folder = t.dir + "/" + name
        os.mkdir(folder)
        env = dict(OURS, PERF_EXEC_PATH=tree)
        r = go([SONDE, "script", "record", name, "-o", "perf.data", "--", *COMMAND], env, folder)
        if name in RECORD:
            t.ok(0 < r.rc < 126 and (r.out or r.err).strip() and
                 not os.path.exists(folder + "/perf.data"),
                 "%s-record reports the missing events" % name, r)
            shutil.copy(DEMO, folder + "/perf.data")
        else:
            t.ok(os.path.exists(folder + "/perf.data") and r.rc == 0 and
                 "perf: not found" not in r.err, "%s-record" % name, r)
        if not glob.glob(tree + "/scripts/*/bin/%s-report" % name):
            continue
        if name == "export-to-sqlite" and isinstance(QT, str):
            t.skip(name + "-report", QT, installable=False)
            continue
        results = [report(tool, name, tree, OURS)
                   for tool in ([SONDE], [SONDE, "--compat", "perf-6.1"])]
        if None in results:
            t.skip(name + "-report", "/dev/shm/perf.db exists", installable=False)
            continue
        for r, how in zip(results, ("", ", as perf 6.1")):
            good = (r.rc and re.search(FAILS[name], r.err) if name in FAILS else r.rc == 0 and
                    "Traceback" not in r.err and r.out)
            t.ok(good, "%s-report%s" % (name, how), r)
        if name in RANDOM or name in FAILS:
            continue
        if not has_perf:
            t.skip(name + "-report, compared with perf", "no perf 6.1")
            continue
        theirs = report(["perf"], name, tree, THEIRS)
        if theirs.rc in (134,
                         -6):  # the kernel's event has more fields than the handler has parameters
            t.ok("TypeError" in theirs.err, "%s-report, with which perf crashes" % name, theirs)
        else:
            t.ok((results[1].out, results[1].rc) == (theirs.out, theirs.rc),
                 "%s-report, compared with perf" % name,
                 *t.difference(results[1], theirs))

# ---- scripts that call perf --------------------------------------------------------------------

# flamegraph.py puts the header that `perf report --header-only` prints into its page.
PAGE = "<html>\n/** @options_json **/\n/** @flamegraph_json **/\n</html>\n"
for tree in trees:
    folder = t.dir + "/page"
    os.makedirs(folder, exist_ok=True)
    shutil.copy(DATA + "/installed/clock.data", folder + "/perf.data")
    t.write("page/page.html", PAGE)
    pages = []
    for tool, env in (([SONDE], OURS), ([SONDE, "--compat", "perf-6.1"], OURS), (["perf"], THEIRS)):
        if tool == ["perf"] and not has_perf:
            t.skip("flamegraph.py's page, compared with perf's", "no perf 6.1")
            continue
        r = go([*tool, "script", "report", "flamegraph", "--template", folder + "/page.html", "-o",
                "x.html"], dict(env, PERF_EXEC_PATH=tree),
               folder)
        page = ""
        if os.path.exists(folder + "/x.html"):
            with open(folder + "/x.html") as f:
                page = f.read()
            os.unlink(folder + "/x.html")
        pages.append((page, r))
    what = "flamegraph.py of %s: " % ("6.1" if tree == EXEC_PATH else "6.12")
    lines = [page.splitlines() for page, _ in pages]
    t.ok(all(len(x) == 4 and "# hostname" in json.loads(x[1])["context"] and json.loads(x[2])["c"]
             for x in lines),
         what + "a page with the header", *[r for _, r in pages])
    if has_perf:
        t.is_(pages[1][0], pages[2][0], what + "perf's page")
    r = go([SONDE, "script", "report", "flamegraph", "--template", "/nonexistent"],
           dict(OURS, PERF_EXEC_PATH=tree), folder)
    t.ok(0 < r.rc < 126 and "/nonexistent" in r.err, what + "the missing template is reported", r)

# parallel-perf.py reads times and cpus from the header, then runs `perf script` in several
# processes.
PARALLEL = trees[-1] + "/scripts/python/parallel-perf.py"
if os.path.exists(PARALLEL):
    alias = t.dir + "/alias"
    os.mkdir(alias)
    r = run([SONDE, "perf-alias", alias], None, OURS)
    env = dict(OURS, PATH=alias + ":" + OURS["PATH"])
    whole = run([alias + "/perf", "script", "-i", DEMO, "--ns"], None, env).out
    for number, words in enumerate((["-j", "2", "-n", "3", "-m", "0"], ["--per-cpu", "-j", "2"],
                                    ["-j", "4", "-m", "0.01", "--pipe-to", "cat"])):
        into = "%s/parallel%d" % (t.dir, number)
        r = run(["/usr/bin/python3", PARALLEL, *words, "-o", into, "--", "perf", "script", "-i",
                 DEMO, "--ns"], None, env, t.dir)
        parts = sorted(glob.glob(into + "/*/out.txt"))
        text = []
        for part in parts:
            with open(part) as f:
                text += f.read().splitlines()
        t.is_(sorted(text), sorted(whole.splitlines()),
              "parallel-perf.py %s: all events, each once" % " ".join(words), r, parts)
    r = run(["/usr/bin/python3", PARALLEL, "-o", t.dir + "/none", "--", "perf", "script", "-i",
             "/nonexistent"], None, env, t.dir)
    t.ok(r.rc and "nonexistent" in r.err + r.out, "parallel-perf.py of a missing recording", r)
else:
    t.skip("parallel-perf.py", "it is part of perf 6.12", installable=False)
t.done()
