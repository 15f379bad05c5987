# SPDX-License-Identifier: MIT
"""Runs every Python script that perf installs under `sonde --compat perf-6.1`.

    installed.py SONDE FOLDER [--record] [--update] [-k WORD]

Output and exit status must be perf's. Each case of installed_cases.py is run on a stored recording,
whose output of perf 6.1 is stored, and on a new one, on which perf is run, too. It is run by
/usr/bin/python3 and by another Python >= 3.12, with lazy objects (SONDE_EAGER=0) and without (1).
tools/perf-6.12 unpacks newer scripts in FOLDER.

perf crashes if a kernel has more fields than a script's handler has parameters. Then the expected
output is that of a changed script, whose handler takes any number of parameters; the changed script
exists only during the test. --record makes new stored recordings, --update stores new outputs.
"""

import argparse
import concurrent.futures
import itertools
import os
import re
import shutil
import sqlite3
import struct
import signal
import subprocess
import sys
import threading

from installed_cases import CASES, INSTALLED, PROGRAMS, RECORDINGS
from scripttest import (FULL, HERE, SONDE, Result, Tests, environment, perf_version, pythons,
                        qt_environment, run)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gen"))
from recording import Format, recording  # noqa: E402

TOOLS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                     "tools")
EXEC_PATH = "/usr/lib/perf-core"
STAND_INS = HERE + "/stand-in"


def plain():
    """The environment of other programs; perf finds its modules in the folder of the first python3
    in PATH."""
    env = {k: v for k, v in environment().items()
           if k not in ("LD_PRELOAD", "ASAN_OPTIONS", "PYTHONMALLOC")}
    env["PATH"] = "/usr/bin:" + env["PATH"]
    return env


# Runs before a script: files with fixed names become files of the test, so that tests can run in
# parallel.
STAND_IN = """
import builtins, os, sys
names = dict(x.split('=') for x in os.environ['SONDE_TEST_FILES'].split(';'))
def replace(f):
    return lambda name, *a, **k: f(names.get(name, name), *a, **k)
builtins.open = replace(open)
if any(name.endswith('.db') for name in names):
    import sqlite3
    sqlite3.connect = replace(sqlite3.connect)
"""
# The part of wxPython that scripts need to start.
WX = "def __getattr__(name): return type(name, (object,), {})\n"

HCALL = """name: %s
ID: 1
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long opcode;\toffset:8;\tsize:8;\tsigned:0;
%s
print fmt: "opcode=%%lu", REC->opcode
"""


def hypervisor_calls():
    """Entries of four hypervisor calls, then exits of three: events that no x86 machine has."""
    entry = Format("powerpc:hcall_entry", HCALL % ("hcall_entry", ""))
    leave = Format("powerpc:hcall_exit",
                   HCALL % ("hcall_exit", "\tfield:long retval;\toffset:16;\tsize:8;\tsigned:1;\n"))
    head = struct.pack("<HBBi", 0, 0, 0, 101)
    return recording([entry, leave], [[head + struct.pack("<Q", n) for n in (4, 8, 220, 12345)],
                                      [head + struct.pack("<Qq", n, -1) for n in (4, 220, 12345)]])


def record(name, folder, live):
    """Makes folder/NAME.data with perf and the programs in folder; returns None, or why it
    failed."""
    r = RECORDINGS[name]
    missing = [p for p in ["perf"] + list(r.needs) if not shutil.which(p)]
    if missing:
        return "no " + missing[0]
    options = (live and r.live or r.options).split()
    argv = ["perf", "stat", "record"] if r.renamed else ["perf", "record", "-q", "-N"]
    data = name + ".data"
    p = run(argv + ["-o", data] + options + ["--"] + r.command, env=plain(), cwd=folder,
            timeout=600)
    path = folder + "/" + data
    if p.rc or not os.path.exists(path) or not os.path.getsize(path):
        return "perf cannot record it: " + (p.err.strip().splitlines() or ["status %d" % p.rc])[0]
    if r.renamed:
        with open(path, "rb") as f:
            content = f.read()
        for old, new in r.renamed.items():
            old = old.encode() + b"\0"
            content = re.sub(b"(?<=\0)" + old + b"\0{%d}" % len(new),
                             new.encode() + b"\0" + bytes(len(old) - 1), content)
        with open(path, "wb") as f:
            f.write(content)
    return None


class Installed:
    def __init__(self, t, folder):
        self.t = t
        self.serial = itertools.count()
        self.missing, self.qt_asked = {}, threading.Lock()
        self.paths = {"6.1": EXEC_PATH}
        p = run([TOOLS + "/perf-6.12", folder], env=dict(os.environ), timeout=300)
        root = os.path.dirname(p.out.strip()) + "/root" + EXEC_PATH
        if not p.rc and os.path.isdir(root + "/scripts"):
            self.paths["6.12"] = root
        else:
            self.missing = {"6.12": p.err.strip() or "the folder of perf 6.12 has no scripts"}
        self.pythons = [("system", t.python)]
        newer = [(name, path) for name, path in pythons() if not path.startswith("/usr/bin") and
                 "3.1" in name and
                 int(name.split("3.")[1]) >= 12]
        self.pythons += newer[-1:]
        for program in PROGRAMS:
            shutil.copy(program, t.dir)
        self.buildids = self.build_id_cache()
        self.real_qt = None
        t.write("stand-in/sitecustomize.py", STAND_IN)
        t.write("wx/wx.py", WX)

    def qt(self, case, python):
        """The environment for a case that uses Qt, or why it cannot run. The real modules need the
        system's Python."""
        if not case.qt:
            return {}
        with self.qt_asked:
            if self.real_qt is None:
                self.real_qt = qt_environment()
        if (case.qt != "stand-in" and python == "/usr/bin/python3" and
            isinstance(self.real_qt, dict)):
            return self.real_qt
        if case.qt == "real":
            return self.real_qt if isinstance(self.real_qt, str) else "this Python has no Qt"
        return {"PYTHONPATH": STAND_INS}

    def build_id_cache(self):
        """A cache with the program of the stored recordings, whose path does not exist here."""
        with open(PROGRAMS[0], "rb") as f:
            elf = f.read()
        at = elf.index(b"GNU\0") + 4
        build_id = elf[at:at + 20].hex()
        self.t.write("cache/work/%s/elf" % build_id, elf)
        folder = self.t.dir + "/cache/.build-id/" + build_id[:2]
        os.makedirs(folder)
        os.symlink("../../work/" + build_id, folder + "/" + build_id[2:])
        return self.t.dir + "/cache"

    def script(self, case):
        return "%s/scripts/python/%s.py" % (self.paths[case.version], case.script)

    def mended(self, case):
        """The script, changed so that handlers take any number of additional fields."""
        with open(self.script(case)) as f:
            text = re.sub(r"(?m)^(def \w+__\w+\([^)]*)\):", r"\1, *more):", f.read())
        return self.t.write("mended/%s.py" % case.name, text)

    def stored(self, case):
        if case.recording != "hcalls":
            return "%s/%s.data" % (INSTALLED, case.recording)
        return self.t.write("hcalls.data", hypervisor_calls())

    def run(self, case, program, data, env, live=False, script=None):
        """One run, in its own folder."""
        number = next(self.serial)
        cwd = "%s/run%d" % (self.t.dir, number)
        os.mkdir(cwd)
        names, path = [], []
        for name, text in (case.files or {}).items():
            if name == "wx":
                path.append(self.t.dir + "/wx")
            elif not live or text is None:
                mine = self.t.write("run%d/%s" % (number, os.path.basename(name)), text or "")
                if text is None:
                    os.unlink(mine)
                names.append("%s=%s" % (name, mine))
        if names:
            env["SONDE_TEST_FILES"] = ";".join(names)
            path.append(self.t.dir + "/stand-in")
        if path:
            env["PYTHONPATH"] = ":".join(path + ([env["PYTHONPATH"]] if "PYTHONPATH" in env
                                                 else []))
        r = run(program + ["script", "-i", data, "-s", script or self.script(case)] +
                list(case.args or ()), None, env, cwd)
        out = re.sub(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ ", "",
                     r.out)  # exporters print when they started
        if case.out:
            out += self.written(cwd + "/" + case.out)
        shutil.rmtree(cwd)
        return Result(out, r.err, r.rc)

    @staticmethod
    def written(path):
        if not os.path.exists(path):
            return "(%s was not written)\n" % os.path.basename(path)
        if path.endswith(".db"):
            return "".join(line + "\n" for line in sqlite3.connect(path).iterdump())
        with open(path) as f:
            lines = list(f)
        # Only the rows: the statements that create tables are part of the script.
        if path.endswith(".sent"):
            lines = [line for line in lines if line.startswith("COPY") or
                     re.fullmatch("[0-9a-f]+\n", line)]
        return "".join(lines)

    def sonde(self, case, data, python, eager, live=False):
        """Runs sonde: half of the runs find the script by name and use sonde's modules, the others
        use perf's."""
        argv = [SONDE, "--compat", "perf-6.1"] + ([] if live else ["--buildid-dir", self.buildids])
        env = environment(SONDE_PYTHON=python, SONDE_EAGER=eager, **self.qt(case, python))
        if eager == "0" and case.version == "6.1":
            return self.run(case, argv, data, env, live, case.script + ".py")
        env["PERF_EXEC_PATH"] = self.paths[case.version]
        return self.run(case, argv, data, env, live)

    def perf(self, case, data, live=False):
        argv = ["perf"] + ([] if live else ["--buildid-dir", self.buildids])
        env = dict(plain(), PERF_EXEC_PATH=self.paths[case.version],
                   **self.qt(case, "/usr/bin/python3"))
        return self.run(case, argv, data, env, live, self.mended(case) if case.fault else None)


def store(t, installed, wanted, recordings):
    """--record and --update."""
    if recordings:
        folder = "/tmp/recorded"
        os.makedirs(folder)
        for program in PROGRAMS:
            shutil.copy(program, folder)
        for name in RECORDINGS:
            why = record(name, folder, False)
            if why:
                sys.exit("%s: %s" % (name, why))
            shutil.copyfile("%s/%s.data" % (folder, name), "%s/%s.data" % (INSTALLED, name))
        shutil.rmtree(folder)
    for case in CASES:
        if wanted in case.name and isinstance(installed.qt(case, "/usr/bin/python3"), dict):
            r = installed.perf(case, installed.stored(case))
            with open("%s/out/%s.txt" % (INSTALLED, case.name), "w") as f:
                f.write(r.out)
            why = r.err.strip().splitlines()[-1] if r.rc else ""
            print("%-30s status %d, %d lines %s" % (case.name, r.rc, r.out.count("\n"), why))


def status(case, r):
    """The exit status that sonde must have: perf aborts if a handler raises, sonde exits as
    usual."""
    return 255 if r.rc == -signal.SIGABRT else r.rc


def compare(installed, case, data, live, combinations, wanted):
    """(good, diagnosis) of a case's runs; good is a text if the case cannot run: the reason."""
    why = {c[0][1]: installed.qt(case, c[0][1]) for c in combinations}
    able = [c for c in combinations if isinstance(why[c[0][1]], dict)]
    if not able:
        return why[combinations[0][0][1]], []
    for (name, python), eager in able:
        r = installed.sonde(case, data, python, eager, live)
        if (r.out, status(case, r)) != (wanted.out, status(case, wanted)):
            return False, ["%s, SONDE_EAGER=%s" % (name, eager)] + installed.t.difference(r, wanted)
    return True, []


def stored(installed, case):
    """Each Python and each SONDE_EAGER once. SONDE_FULL=1: all four combinations for the first case
    of each script."""
    first = next(c for c in CASES if (c.script, c.version) == (case.script, case.version)) is case
    combinations = ([(p, e) for p in installed.pythons for e in "01"] if first and FULL
                    else list(zip(installed.pythons * 2, "01")))
    with open("%s/out/%s.txt" % (INSTALLED, case.name)) as f:
        wanted = Result(f.read(), "", case.status)
    return compare(installed, case, installed.stored(case), False, combinations, wanted)


def live(installed, case, folder):
    why = installed.qt(case, "/usr/bin/python3")  # perf uses the distribution's Python
    if isinstance(why, str):
        return why, []
    data = "%s/%s.data" % (folder, case.recording)
    return compare(installed, case, data, True, list(zip(installed.pythons * 2, "01")),
                   installed.perf(case, data, True))


def system_call_top(installed):
    """sctop.py has a thread that prints during the run. perf never lets it run, so nothing is
    compared."""
    napping = "i=0; while [ $i -lt 25 ]; do cat /dev/null; sleep 0.1; i=$((i + 1)); done"
    recorder = subprocess.Popen([SONDE, "record", "-q", "-e", "raw_syscalls:sys_enter", "-o", "-",
                                 "--", "sh", "-c", napping],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
    p = subprocess.run([SONDE, "--compat", "perf-6.1", "script", "-i", "-", "-s", "sctop.py", "1"],
                       stdin=recorder.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=environment(), cwd=installed.t.dir, timeout=600)
    recorder.stdout.close()
    words = recorder.stderr.read().decode("utf-8", "replace")
    if recorder.wait() and not p.stdout:
        return "cannot record: " + words.strip(), []
    tables = p.stdout.decode().split("syscall events:")[1:]
    counts = [sum(int(n) for n in re.findall(r"(?m)^\S+ +(\d+)$", table)) for table in tables]
    return (not p.returncode and len(counts) >= 2 and sum(counts) >= 500,
            [counts, p.returncode, p.stderr.decode(), words])


def all_jobs(t, installed, cases, pool):
    """(name, future) of each case; new recordings are made while stored ones are read."""
    jobs = [(case.name + ", stored recording", pool.submit(stored, installed, case))
            for case in cases]
    version = perf_version() or "none"
    if not version.startswith("6.1."):
        t.skip("compared with perf", "no perf 6.1 (it is %s)" % version)
        return jobs
    wanted = {case.recording for case in cases}
    made = {name: pool.submit(record, name, t.dir, True) for name in RECORDINGS if name in wanted}
    for name, why in made.items():
        if why.result():
            t.skip("compared with perf: " + name, why.result(), installable=False)
        else:
            jobs += [(case.name + ", compared with perf", pool.submit(live, installed, case, t.dir))
                     for case in cases if case.recording == name]
    return jobs


def main():
    parser = argparse.ArgumentParser()
    for name in ("sonde", "folder"):
        parser.add_argument(name)
    for name in ("--record", "--update"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("-k", metavar="WORD", default="")
    options = parser.parse_args()
    t = Tests()
    if not os.path.isdir(EXEC_PATH + "/scripts/python"):
        t.skip("the scripts of perf", "not installed (linux-perf)")
        t.done()
    installed = Installed(t, options.folder)
    if options.record or options.update:
        store(t, installed, options.k, options.record)
        return
    cases = [case for case in CASES if options.k in case.name]
    live_only = [("sctop", system_call_top)] if options.k in "sctop" else []
    for version, why in installed.missing.items():
        t.skip("scripts of perf " + version, why)
        cases = [case for case in cases if case.version != version]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = ([(name, pool.submit(job, installed)) for name, job in live_only] +
                all_jobs(t, installed, cases, pool))
        for name, job in jobs:
            good, diagnosis = job.result()
            t.skip(name, good,
                   installable=False) if isinstance(good, str) else t.ok(good, name, *diagnosis)
    t.done()


if __name__ == "__main__":
    main()
