# SPDX-License-Identifier: MIT
"""What the tests of scripts share: TAP, running scripts, the installed Pythons.

    t = Tests()
    r = t.script("def trace_begin(): print(1)", DEMO)    the same with SONDE_EAGER=0 and 1
    t.is_(r.out, "1\\n", "trace_begin is called")
    t.done()
"""

import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
import settled  # noqa: E402, F401

DATA = os.path.join(os.path.dirname(HERE), "data")
DEMO = DATA + "/demo.data"            # sched_switch, sched_wakeup, sys_enter_read, sys_enter_write
CHAINS = DATA + "/text/chains.data"   # sched_switch with kernel call chains
TYPES = DATA + "/scripts/types.data"  # a uprobe with an argument of every type
MANY = DATA + "/scripts/many.data"    # a uprobe with sixty arguments
FLAGS = DATA + "/scripts/flags.data"  # kmem:kmalloc, raw_syscalls:sys_enter
EXEC = DATA + "/scripts/exec.data"    # sched_process_exec and system calls around it
FRAMES = DATA + "/scripts/frames.data"  # sys_exit, some 400 of them, with call chains
MIXED = DATA + "/text/mixed.data"     # cpu-clock, page-faults

SONDE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
BINDINGS = os.path.join(os.path.dirname(SONDE), "bindings", "python") if SONDE else None

# All combinations, not the share that each run takes.
FULL = os.environ.get("SONDE_FULL") == "1"

Result = namedtuple("Result", "out err rc")


# For programs that are not built with the sanitizer.
NO_SANITIZER = {"LD_PRELOAD": "", "ASAN_OPTIONS": "", "PYTHONMALLOC": ""}


def environment(**more):
    """The environment of programs that tests run; a variable that is "" in `more` is not set."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC",
           "PERF_CONFIG": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    asan = os.environ.get("SONDE_ASAN")
    if asan:
        env.update(LD_PRELOAD=asan, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1",
                   PYTHONMALLOC="malloc")
    for name in ("PYENV_ROOT", "PYENV_VERSION", "SONDE_CI"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update({k: v for k, v in more.items() if v is not None})
    return {k: v for k, v in env.items() if v != ""}


def run(argv, stdin=None, env=None, cwd=None, timeout=600, binary=False):
    p = subprocess.run(argv, input=b"" if stdin is None else stdin.encode(), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=env or environment(), cwd=cwd, timeout=timeout)
    if binary:
        return Result(p.stdout, p.stderr, p.returncode)
    return Result(p.stdout.decode("utf-8", "backslashreplace"),
                  p.stderr.decode("utf-8", "backslashreplace"), p.returncode)


def version_of(python):
    r = run([python, "-S", "-E", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            env=dict(os.environ))
    try:
        return tuple(int(x) for x in r.out.split("."))
    except ValueError:
        return (0, 0)


@functools.lru_cache(maxsize=None)
def pythons():
    """Every installed Python >= 3.9: (name, path), the newest of each minor version and kind."""
    found = {}
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for path in ["/usr/bin/python3"] + sorted(glob.glob(root + "/versions/3.*/bin/python3")):
        if os.access(path, os.X_OK):
            version = version_of(path)
            if version >= (3, 9):
                found[("system " if path.startswith("/usr/bin") else "pyenv ") +
                      "%d.%d" % version] = path
    if not found:
        found["this"] = sys.executable
    return sorted(found.items())


@functools.lru_cache(maxsize=None)
def perf_version():
    perf = shutil.which("perf")
    if not perf:
        return None
    out = run([perf, "--version"]).out.split()
    return out[-1] if out else None


def qt_environment():
    """The variables with which /usr/bin/python3 finds modules of Qt and SQLite; a text: why it
    cannot."""
    tool = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools", "pyside2")
    p = run([tool, os.path.join(os.path.dirname(SONDE), "pyside2")], env=dict(os.environ),
            timeout=300)
    if p.rc:
        return p.err.strip().splitlines()[-1] if p.err.strip() else "no PySide2"
    return dict([line.split("=", 1) for line in p.out.splitlines()], QT_QPA_PLATFORM="offscreen")


class Tests:
    def __init__(self):
        self.count = self.failed = 0
        self.dir = tempfile.mkdtemp(prefix="sonde-scripts-")
        self.python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

    def ok(self, good, name, *diagnosis):
        self.count += 1
        print("%sok %d - %s" % ("" if good else "not ", self.count, name))
        if not good:
            self.failed += 1
            for d in diagnosis:
                for line in str(d).splitlines() or [""]:
                    print("# " + line)
        sys.stdout.flush()
        return good

    def is_(self, got, expected, name, *diagnosis):
        return self.ok(got == expected, name, "got:", got, "expected:", expected, *diagnosis)

    def has(self, text, part, name):
        return self.ok(part in text, name, "in:", text, "not found:", part)

    def skip(self, name, reason, installable=True):
        """In CI a skip is a failure, unless CI cannot install what is missing."""
        if os.environ.get("SONDE_CI") and installable:
            return self.ok(False, name, "would be skipped: " + reason)
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, reason))
        return None

    def done(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        print("1..%d" % self.count)
        sys.exit(1 if self.failed else 0)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(text, str) else "wb") as f:
            f.write(text)
        return path

    def script(self, text, data=DEMO, args=(), compat=None, python=None, both=True, env=None,
               stdin=None, name="script.py", options=()):
        """Runs a script's text; with both, also with SONDE_EAGER=1, which must not change the
        output."""
        path = self.write(name, text)
        argv = ([SONDE] + (["--compat", compat] if compat else []) + ["script", "-i", data] +
                list(options) +
                ["-s", path] + list(args))
        results = [run(argv, stdin, environment(SONDE_PYTHON=python or self.python,
                                                SONDE_EAGER=eager, **(env or {})),
                       self.dir) for eager in (("0", "1") if both else ("0",))]
        if both and (results[0].out, results[0].rc) != (results[1].out, results[1].rc):
            self.ok(False, "%s: the same with SONDE_EAGER=1" % name, "lazy:", results[0], "eager:",
                    results[1])
        return results[0]

    def perf(self, text, data=DEMO, args=(), name="script.py", options=()):
        """Runs the script under stock perf 6.1; None if it is not installed."""
        version = perf_version()
        if not version or not version.startswith("6.1."):
            return None
        path = self.write(name, text)
        env = environment(**NO_SANITIZER)
        return run(["perf", "script", "-i", data] + list(options) + ["-s", path] + list(args), None,
                   env, self.dir)

    def like_perf(self, text, name, data=DEMO, args=(), options=()):
        """Compares stdout and status of a script under --compat perf-6.1 with those under perf."""
        theirs = self.perf(text, data, args, options=options)
        if theirs is None:
            return self.skip(name, "no perf 6.1")
        ours = self.script(text, data, args, compat="perf-6.1", options=options)
        return self.ok(ours.out == theirs.out and ours.rc == theirs.rc, name,
                       *self.difference(ours, theirs))

    def difference(self, ours, theirs):
        a, b = ours.out.splitlines(), theirs.out.splitlines()
        for i in range(max(len(a), len(b))):
            if a[i:i + 1] != b[i:i + 1]:
                return ["line %d" % (i + 1), "ours:   " + "".join(a[i:i + 1])[:2000],
                        "theirs: " + "".join(b[i:i + 1])[:2000],
                        "rc %s and %s" % (ours.rc, theirs.rc), ours.err[-2000:]]
        return ["rc %s and %s" % (ours.rc, theirs.rc), ours.err[-2000:], theirs.err[-1000:]]
