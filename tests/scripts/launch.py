# SPDX-License-Identifier: MIT
"""How a script runs: the choice of Python, shadowed modules, stdin, exceptions, Python 2, Ctrl-C,
threads."""

import os
import signal
import struct
import subprocess
import sys
import time

from scripttest import BINDINGS, DEMO, FLAGS, SONDE, Tests, environment, pythons, run

t = Tests()

# ---- every installed Python --------------------------------------------------------------------

SCRIPT = """
import sys
n = 0
def trace_begin(): print('begin', '%d.%d' % sys.version_info[:2])
def sched__sched_switch(event_name, context, cpu, secs, nsecs, pid, comm, callchain, prev_comm, prev_pid, prev_prio,
                        prev_state, next_comm, next_pid, next_prio, perf_sample_dict):
    global n
    n += next_pid + prev_prio + len(next_comm)
def sched__sched_wakeup(*a): print(a[0], a[2:])
def trace_unhandled(event_name, context, fields, sample):
    global n
    n += len(fields) + sample['sample']['tid'] + len(sample)
def trace_end(): print('end', n)
"""
expected = None
for name, python in pythons():
    r = t.script(SCRIPT, python=python)
    version = name.split()[-1]
    out = r.out.replace(version, "X", 1)
    if expected is None:
        expected = out
    t.ok(r.out.startswith("begin " + version) and out == expected and not r.rc, "runs in %s" % name,
         r.err, r.out[-300:])
    r = t.script("", python=python, env={"SONDE_PRELUDE_VERBOSE": "1"}, both=False)
    kind = "abi3" if version != "%d.%d" % sys.version_info[:2] and not os.path.exists(
        BINDINGS + "/module/sonde/_sonde.cpython-%s-x86_64-linux-gnu.so" %
        version.replace(".", "")) else ""
    t.ok("extension " + BINDINGS in r.err and kind in r.err,
         "%s reports the build that it loads" % name, r.err)
r = t.script("def trace_unhandled(name, context, seen, unseen): seen", both=False,
             env={"SONDE_PRELUDE_VERBOSE": "1"})
t.ok("script.py:1: seen is built for each event\n" in r.err and
     "script.py:1: unseen is left out until" in r.err,
     "values that are built later are reported", r.err)
r = t.script("def trace_unhandled(name, context, fields): fields['common_cpu']", both=False,
             env={"SONDE_PRELUDE_VERBOSE": "1"})
t.ok("script.py:1: fields is read by single keys\n" in r.err,
     "values that are read key by key are reported", r.err)
# Run the builds of the limited API, also in the Python of the exact build.
for name, python in pythons():
    for build in ("_sonde.abi3.so", "abi3-312/_sonde.abi3.so"):
        path = BINDINGS + "/module/sonde/" + build
        if (not os.path.exists(path) or
            ("312" in build and tuple(int(x) for x in name.split()[-1].split(".")) < (3, 12))):
            continue
        r = run([python, "-c",
                 "import importlib.util as u; s = u.spec_from_file_location('sonde._sonde', %r); "
                 "m = u.module_from_spec(s); s.loader.exec_module(m); print(sum(1 for e in "
                 "m.session('input=%s\\n')))" % (path, DEMO)])
        t.is_(r.out, "474\n", "%s loads %s" % (name, build), r.err)

venv = t.dir + "/venv"
made = run([t.python, "-m", "venv", "--without-pip", "--symlinks", venv], env=dict(os.environ))
if made.rc:
    t.skip("a virtual environment is used", "venv cannot be made: " + made.err.strip()[-100:])
else:
    r = run([SONDE, "script", "-i", DEMO, "-s", t.write("v.py", "import sys; print(sys.prefix)")],
            env=environment(VIRTUAL_ENV=venv), cwd=t.dir)
    t.is_(r.out, venv + "\n", "a virtual environment is used", r.err)

# ---- modules of the user with the names of others ----------------------------------------------

for name in ("dis", "opcode", "re", "collections", "types", "launch", "prelude", "leave_out",
             "atexit", "signal"):
    t.write("shadow/%s.py" % name, "MINE = %r\n" % name)
t.write("shadow/sonde.py", "MINE = 'sonde'\n")
t.write("shadow/Util.py", "MINE = 'Util'\ndef mine(): return 'mine'\n")
SHADOWED = """
import dis, opcode, Util, sonde, prelude, launch
print(dis.MINE, opcode.MINE, Util.mine(), sonde.MINE, prelude.MINE, launch.MINE)
def sched__sched_switch(a, b, c, d, e, f, g, callchain, *rest): pass
def trace_unhandled(a, b, c): pass
def trace_end(): import re; print(re.MINE)
"""
r = t.script(SHADOWED, name="shadow/x.py")
t.is_((r.out, r.rc), ("dis opcode mine sonde prelude launch\nre\n", 0),
      "the script imports dis.py, Util.py and sonde.py of its folder", r.err)
r = run([SONDE, "script", "-i", DEMO, "-s", "x.py"], env=environment(SONDE_PYTHON=t.python),
        cwd=t.dir + "/shadow")
t.is_((r.out, r.rc), ("dis opcode mine sonde prelude launch\nre\n", 0),
      "the same if the folder is the current one", r.err)
r = t.script("def x(: pass", name="shadow/bad.py")
t.ok(r.rc == 1 and "SyntaxError" in r.err and "launch.py" not in r.err,
     "the same if dis.py cannot be compiled", r.err)
other = t.write("elsewhere/y.py",
                "import dis, sys; print(hasattr(dis, 'MINE'), sys.path[0])\ndef "
                "trace_unhandled(a, b, c): pass\n")
r = run([SONDE, "script", "-i", DEMO, "-s", other], env=environment(SONDE_PYTHON=t.python),
        cwd=t.dir + "/shadow")
t.is_(r.out, "False %s\n" % os.path.dirname(other), "the current folder is not searched", r.err)
r = t.script("import sonde, sys; print(sonde.__version__ > '', 'sonde' in sys.modules)\n"
             "n = sum(1 for e in sonde.open(%r))\ndef trace_end(): print(n)" % DEMO)
t.is_(r.out, "True True\n474\n", "a script may open other recordings", r.err)
r = t.script("import os; print(os.environ['PERF_EXEC_PATH'], 'SONDE_SESSION_FD' in os.environ)",
             env={"PERF_EXEC_PATH": "/mine"})
t.is_(r.out, "/mine False\n", "the user's PERF_EXEC_PATH is kept", r.err)

# ---- stdin -------------------------------------------------------------------------------------

r = t.script(
    "def kmem__kmalloc(*a):\n  global kmem__kmalloc\n  del kmem__kmalloc\n  print(input('? '), "
    "input())\n", FLAGS, stdin="one\ntwo\n")
t.is_(r.out, "? one two\n", "input() in a handler", r.err)
PDB = """
def sched__sched_switch(event_name, context, cpu, secs, nsecs, pid, comm, callchain, *fields):
    global sched__sched_switch
    del globals()['sched__sched_switch']
    %s
    print('went on')
"""
r = t.script(PDB % "breakpoint()", stdin="p event_name, callchain\nn\nc\n")
t.ok("(Pdb) ('sched__sched_switch', [])" in r.out and "went on" in r.out and not r.rc,
     "breakpoint() and commands from stdin", r)
r = t.script("""
def look():
    import pdb
    pdb.set_trace()
def trace_unhandled(event_name, context, fields):
    global trace_unhandled
    del trace_unhandled
    look()
""", stdin="u\np sorted(fields)[:3], fields['common_comm']\np type(fields) is dict or isinstance(fields, dict)\nc\n")
t.ok("['__syscall_nr', 'buf', 'common_callchain'], 'perf')" in r.out.replace('"', "'") or
     "(['__syscall_nr'" in r.out,
     "a debugger shows the fields of a calling handler", r)

# ---- exceptions --------------------------------------------------------------------------------

r = t.script("""def helper(x):
    return x['nothing']
def sched__sched_switch(event_name, context, cpu, secs, nsecs, pid, comm, callchain, *fields):
    helper({})
def trace_end(): print('not called')
""")
lines = r.err.splitlines()
script = t.dir + "/script.py"
shown = [x for x in lines if not set(x) <= set(" ^~")]
t.is_(shown[:-1],
      ["Traceback (most recent call last):", '  File "%s", line 4, in sched__sched_switch' % script,
       "    helper({})", '  File "%s", line 2, in helper' % script, "    return x['nothing']",
       "KeyError: 'nothing'"], "an exception prints only the script's frames")
t.ok(lines[-1].startswith("sonde: in the handler of this event: sched:sched_switch time 2374.") and
     " comm " in lines[-1] and "prev_comm=" in lines[-1] and r.rc == 1 and not r.out,
     "an exception prints the event that caused it; exit 1", r)
for where in ("trace_begin", "trace_end"):
    r = t.script("def %s(): 1 / 0\n" % where)
    t.ok(r.rc == 1 and r.err.count("File") == 1 and
         r.err.endswith("ZeroDivisionError: division by zero\n"), "an exception in %s" % where, r)
r = t.script("print('before')\nnothing\n")
t.ok(r.rc == 1 and r.out == "before\n" and r.err.count("File") == 1 and "NameError" in r.err,
     "an exception at top level", r)
r = t.script("def f(:\n pass\n")
t.ok(r.rc == 1 and 'script.py", line 1' in r.err and "SyntaxError" in r.err and
     r.err.count("File") == 1, "a syntax error", r)
for name, python in pythons():
    r = t.script("print(1)\nprint(2\0)\n", python=python)
    t.ok(r.rc == 1 and "script.py" in r.err and "null bytes" in r.err and not r.out,
         "the message about NUL bytes names the file (%s)" % name, r)
r = t.script(
    "import sys\nsys.excepthook = lambda k, e, tb: print('hook', k.__name__, tb.tb_next)\ndef "
    "sched__sched_switch(*a): 1 / 0\n")
t.ok(r.rc == 1 and r.out == "hook ZeroDivisionError None\n", "the script's own excepthook", r)
ENDINGS = [("top level", "raise ValueError\n", 1, 255), ("a syntax error", "def f(:\n", 1, 255),
           ("Python 2", "print 1\n", 1, 255),
           ("an interrupt", "raise KeyboardInterrupt\n", 130, 255),
           ("trace_begin", "def trace_begin(): 1 / 0\n", 1, 255),
           ("a handler", "def sched__sched_switch(*a): 1 / 0\n", 1, 255),
           ("trace_end", "def trace_end(): 1 / 0\n", 1, 255),
           ("an exit", "import sys\ndef trace_end(): sys.exit(3)\n", 3, 3),
           ("no Exception", "def sched__sched_switch(*a): raise GeneratorExit\n", 1, 255)]
for name, text, plain, compat in ENDINGS:
    theirs = t.perf(text)
    got = t.script(text).rc, t.script(text, compat="perf-6.1").rc
    # perf may abort, which a shell reports as status 134; sonde ends as for other failures of a
    # script.
    t.ok(got == (plain, compat) and (theirs is None or theirs.rc in (compat, 134, -6)),
         "status of %s: %d, under --compat %d" % (name, plain, compat), got, theirs)
t.like_perf("import sys\nprint(__file__ == sys.argv[0])\ndef trace_begin(): print('__file__' in "
            "globals())\n",
            "__file__ is not defined in handlers under --compat")
r = t.script("def sched__sched_swich(*a): pass\ndef sched__sched_switch(*a): 1 / 0\n")
t.ok("never called: sched__sched_swich() (line " in r.err and r.rc == 1,
     "a misspelt handler is reported, even if the script fails", r)
for code, rc, err in (("3", 3, ""), ("'words'", 1, "words\n"), ("", 0, "")):
    r = t.script(
        "import sys\ndef sched__sched_switch(*a): sys.exit(%s)\ndef trace_end(): print('no')\n" %
        code)
    t.is_((r.out, r.err, r.rc), ("", err, rc), "sys.exit(%s) in a handler" % code)
r = run([SONDE, "script", "-i", t.write("empty.data", ""), "-s",
         t.write("e.py", "def trace_begin(): print('begin')\n")],
        env=environment(SONDE_PYTHON=t.python))
t.ok(r.rc == 1 and r.out == "" and "empty.data" in r.err and "Traceback" not in r.err,
     "an empty file is no recording", r)

# ---- Python 2 ----------------------------------------------------------------------------------

for what, text in (("print", "import os\nprint 'x', 5\n"),
                   ("except", "try:\n  pass\nexcept OSError, e:\n  pass\n"),
                   ("tabs", "if 1:\n        x = 1\n\tx = 2\n"),
                   ("octal numbers", "x = 0777\n"), ("backquotes", "x = `5`\n"),
                   ("raise", "raise ValueError, 'x'\n")):
    r = t.script(text)
    t.ok(r.rc == 1 and r.err.startswith("sonde: %s:" % script) and r.err.count("\n") == 1 and
         "2to3 -w " + script in r.err,
         "Python 2 is recognised by %s" % what, r)
r = t.script("def trace_end():\n for k, v in {}.iteritems(): pass\n")
t.ok(r.rc == 1 and "AttributeError" in r.err and "2to3" in r.err,
     "Python 2 is recognised by iteritems()", r)
r = t.script("import sys\nprint >> sys.stderr, 1\n")
t.ok(r.rc == 1 and "TypeError" in r.err and "2to3" in r.err,
     "Python 2 is recognised by print to a file", r)
# The messages of these differ.
SOME = [p for p in pythons() if p[0].endswith(("3.9", "3.13"))] or [("", None)]
for what, text in (("a tuple in a lambda", "f = sorted({}.items(), key=lambda (k, v): v)\n"),
                   ("a tuple as parameter", "def f((a, b)): pass\n"),
                   ("a tuple as last parameter", "def f(x, y=(), (a, b)=(1, 2)): pass\n"),
                   ("a tuple as parameter on another line", "def f(x,\n      (a, b)):\n  pass\n"),
                   ("two exceptions and a name",
                    "try: pass\nexcept (KeyError, OSError), e: pass\n")):
    for name, python in SOME:
        r = t.script(text, python=python, both=False)
        t.ok(r.rc == 1 and "script.py:" in r.err and "this is Python 2" in r.err and
             "2to3 -w" in r.err,
             "Python 2 is recognised by %s (%s)" % (what, name), r)
for text in ("def f(a=(1, 2))\n  pass\n", "f = lambda x: (x\n", "def f(a, *(b)): pass\n",
             "x = [lambda: (1, 2)\ny = 3]\n"):
    r = t.script(text)
    t.ok(r.rc == 1 and "SyntaxError" in r.err and "2to3" not in r.err,
         "another mistake is not taken for Python 2: %r" % text, r)
MOVED = (("thread", "_thread"), ("urllib2", "urllib.request"), ("StringIO", "io"),
         ("ConfigParser", "configparser"),
         ("cPickle", "pickle"), ("Queue", "queue"), ("cStringIO", "io"),
         ("urlparse", "urllib.parse"), ("commands", "subprocess"))
OLD = [("import " + old, old, new) for old, new in MOVED] + [
    ("from StringIO import StringIO", "StringIO", "io"),
    ("from urllib import urlencode", "urlencode", "urllib.parse"),
    ("from itertools import izip", "izip", "zip"),
    ("import sys; sys.maxint", "sys.maxint", "sys.maxsize"),
    ("reduce(lambda a, b: a + b, [1, 2])", "reduce", "functools.reduce"),
    ("sorted([1], cmp=lambda a, b: 0)", "cmp", "functools.cmp_to_key"),
    ("[1].sort(cmp=lambda a, b: 0)", "cmp", "functools.cmp_to_key"),
    ("[1].sort(lambda a, b: 0)", "sort()", "functools.cmp_to_key"),
    ("sorted([1], lambda a, b: 0)", "sorted()", "functools.cmp_to_key"),
    ("d = {}; d.keys().sort()", "keys()", "sorted("), ("{1: 2}.values()[0]", "values()", "list("),
    ("{1: 2}.items()[0]", "items()", "list("),
    ("map(str, [1])[0]", "map()", "list("), ("len(filter(None, [1]))", "filter()", "list("),
    ("{}.keys() + []", "keys()", "list("),
    ("cmp(1, 2)", "cmp", "(a > b) - (a < b)"), ("execfile('x')", "execfile", "exec("),
    ("file('x')", "file", "open"),
    ("iter([1]).next()", "next", "next("), ("import string; string.join([])", "string.join",
                                            "join"), ("raise 'text'", "raise", "exception")]
for where in ("%s\n", "def trace_begin():\n  %s\n", "def sched__sched_switch(*a):\n  %s\n"):
    for text, old, new in OLD if where == "%s\n" else OLD[:1] + OLD[-3:]:
        for name, python in SOME if where == "%s\n" else [("", None)]:
            r = t.script(where % text, python=python, both=False)
            line = next((x for x in r.err.splitlines() if "Python 2" in x), "")
            t.ok(r.rc == 1 and "Error" in r.err and old in line and new in line and
                 ("2to3 -w" in line or "cmp_to_key" in line),
                 "%r: the message names the replacement %s" % (where % text, name), r)
for text in ("import nothing_such", "{}.sorty", "sorted(1)", "sys.maxsize", "import os.nothing",
             "raise ValueError('cmp reduce')"):
    r = t.script(text)
    t.ok(r.rc == 1 and "Python 2" not in r.err, "no message about Python 2 for %r" % text, r)
t.write("helper.py", "import cPickle\n")
r = t.script("import helper\n")
t.ok("2to3 -w %s/helper.py" % t.dir in r.err, "the message names the file of the module", r)
t.write("older.py", "print 1\n")
r = t.script("import older\n")
t.ok("SyntaxError" in r.err and
     r.err.endswith(
         "sonde: %s/older.py:1: this is Python 2; convert it with: 2to3 -w %s/older.py\n" %
         (t.dir, t.dir)),
     "the message names a module that cannot be compiled", r)
r = t.script("try:\n  import cPickle\nexcept ImportError:\n  import pickle\nprint('fine')\n")
t.is_((r.out, r.err), ("fine\n", ""), "no message for a script that runs in both versions")

# ---- a missing module --------------------------------------------------------------------------

MISSING = t.write("missing.py", "import no_such_module_anywhere\n")
for why, options, env in (("--interpreter", ["--interpreter", t.python], {}),
                          ("SONDE_PYTHON", [], {"SONDE_PYTHON": t.python}),
                          ("python3 in PATH", [],
                           {"PATH": os.path.dirname(t.python) + ":/usr/bin:/bin"})):
    r = run([SONDE, "script"] + options + ["-i", DEMO, "-s", MISSING], env=environment(**env))
    last = r.err.splitlines()[-1] if r.err else ""
    t.ok(r.rc == 1 and "No module named 'no_such_module_anywhere'" in r.err and
         last.startswith("sonde: ") and "chosen by: %s;" % why in last and
         "python3" in last.split()[1] and "--interpreter" in last and "SONDE_PYTHON" in last,
         "the message names the Python that has no such module, chosen by " + why, r)
r = t.script("import os\nprint([k for k in os.environ if 'WHY' in k])\n")
t.is_(r.out, "[]\n", "the environment of the script has no variable about the choice", r.err)

# ---- ends --------------------------------------------------------------------------------------

STOP = """
import os, signal
n = 0
def trace_unhandled(a, b, c):
    global n
    n += 1
    if n == 5:
        os.kill(os.getpid(), signal.SIGINT)
        for i in range(1000): pass
        n += 100
def trace_end(): print('end', n)
"""
r = t.script(STOP)
t.is_((r.out, r.err, r.rc), ("end 105\n", "", 0),
      "Ctrl-C: the handler finishes, no more events, trace_end, exit 0")
r = t.script(STOP.replace("for i in range(1000): pass",
                          "os.kill(os.getpid(), signal.SIGINT); os.kill(os.getpid(), "
                          "signal.SIGINT)\n        while True: pass"))
t.is_((r.out, r.err, r.rc), ("end 5\n", "", 0), "Ctrl-C twice: the handler is interrupted")
r = t.script("import os, signal\nsignal.signal(signal.SIGINT, lambda *a: print('mine'))\n" + STOP)
t.is_((r.out.replace("mine\n", ""), r.rc), ("end 574\n", 0),
      "a handler of SIGINT that the script sets is called", r)

r = t.script(
    "import os, signal\ndef trace_begin():\n os.kill(os.getpid(), signal.SIGINT)\n while True: "
    "pass\n")
t.ok(r.rc == 130 and "KeyboardInterrupt" in r.err and "launch.py" not in r.err,
     "Ctrl-C before the events ends the script as in Python", r)

# Python imports sitecustomize before it runs a line of sonde.
EARLY = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
t.write("early/sitecustomize.py", EARLY)
r = t.script("print('not run')\n", env={"PYTHONPATH": t.dir + "/early"})
t.is_((r.out, r.err, r.rc), ("", "", -signal.SIGINT), "Ctrl-C while Python starts is quiet")
with open(t.write("live.data", ""), "wb") as f:
    attr = struct.pack("=IIQQQQQQQQ", 1, 64, 0, 1, 6, 0, 0x40000, 0, 0, 7)
    f.write(b"PERFILE2"[::1 if sys.byteorder == "little" else -1] + struct.pack("=Q", 16) +
            struct.pack("=IHH", 64, 0, 8 + len(attr)) + attr +
            struct.pack("=IHHIIQ", 9, 2, 24, 12, 12, 1000) + struct.pack("=IHH", 68, 0, 8) * 2)


def live(text, name="live.py", options=(), **env):
    """A script that reads a pipe, which stays open after one event."""
    end_out, end_in = os.pipe()
    with open(t.dir + "/live.data", "rb") as f:
        os.write(end_in, f.read())
    p = subprocess.Popen([SONDE, "script", "-i", "-", *options, t.write(name, text)], stdin=end_out,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment(SONDE_PYTHON=t.python, **env), start_new_session=True)
    os.close(end_out)
    return p, end_in


# Ctrl-C while no Python code runs: a stream without end, whose events are not wanted. The reader
# has begun when more bytes are written than a pipe holds; it must end before 64 MiB more.
for what, options in (("session refuses every event", ["--pid", "99999999"]),
                      ("script has no handler", [])):
    p, fd = live("def trace_end(): print('end')\n", options=options)
    limit = {False: 4 << 20, True: 64 << 20}
    written, interrupted, now = 0, False, 2000
    try:
        while written < limit[interrupted]:
            block = b"".join(struct.pack("=IHHIIQ", 9, 2, 24, 12, 12, now + i)
                             for i in range(10000))
            block = memoryview(block + struct.pack("=IHH", 68, 0, 8))
            now += 10000
            while block:
                done = os.write(fd, block)
                block, written = block[done:], written + done
            if not interrupted and written >= limit[False]:
                p.send_signal(signal.SIGINT)
                interrupted, written = True, 0
        ended = "still reading"
    except BrokenPipeError:
        ended = "ended"
    os.close(fd)
    out, err = p.communicate()
    t.is_((ended, out, p.returncode), ("ended", b"end\n", 0),
          "Ctrl-C ends reading if the %s" % what, err[-500:])
for what, text, wants in (
        ("the top level", EARLY + "def trace_end(): print('end')\n", ("end\n", "", 0)),
        ("trace_begin",
         "import os, signal\ndef trace_begin(): os.kill(os.getpid(), signal.SIGINT)\ndef "
         "process_event(p): print('event')\n"
         "def sched__sched_switch(*a): pass\ndef trace_end(): print('end')\n", ("end\n", "", 0)),
        ("an event",
         "import os, signal\ndef process_event(p): os.kill(os.getpid(), signal.SIGINT)\ndef "
         "trace_end(): print('end')\n", ("end\n", "", 0)),
        ("Python's start", None, ("", "", -signal.SIGINT))):
    p, fd = live(text or "print('not run')\n", **({} if text else {"PYTHONPATH": t.dir + "/early"}))
    out, err = p.communicate()
    os.close(fd)
    t.is_((out.decode(), err.decode(), p.returncode), wants,
          "Ctrl-C of a live run in %s is quiet" % what)
faults = []
for delay in (0, 0.02, 0.05, 0.08, 0.12, 0.2, 0.3, 0.45):  # different moments of the start
    p, fd = live("import threading\ndef process_event(p): pass\n")
    time.sleep(delay)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate()
    os.close(fd)
    if out or err or p.returncode not in (0, -signal.SIGINT):
        faults.append("%g s: %s %s %s" % (delay, out, err, p.returncode))
t.ok(not faults, "Ctrl-C of a live run is quiet at every moment", *faults)

for what, text in (("handlers", "def trace_unhandled(*a): print('x' * 1000)\n"),
                   ("trace_end", "def trace_end():\n for i in range(1000): print('x' * 1000)\n"),
                   ("the top level", "for i in range(1000): print('x' * 1000)\n"),
                   ("atexit",
                    "import atexit\n@atexit.register\ndef f():\n for i in range(90): print('x' * "
                    "1000)\n")):
    path = t.write("pipe.py", text)
    p = subprocess.Popen(["sh", "-c", '"$0" script -i "$1" -s "$2" | head -c 10', SONDE, DEMO,
                          path], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=environment(SONDE_PYTHON=t.python))
    out, err = p.communicate()
    if what == "atexit":  # Python itself reports exceptions in exit functions
        t.is_(out, b"xxxxxxxxxx", "a closed pipe in %s" % what)
    else:
        t.is_((out, err), (b"xxxxxxxxxx", b""), "a closed pipe in %s is quiet" % what)
# ---- options that print, with a script ---------------------------------------------------------

ENDS = "def trace_begin(): print('begin')\ndef trace_end(): print('end')\n"
header = run([SONDE, "script", "-i", DEMO, "--header-only"]).out
in_full = run([SONDE, "script", "-i", DEMO, "--header-only", "-I"]).out
t.ok(header.startswith("# ========\n") and len(in_full) > len(header),
     "the header of the recording", header)
r = t.script(ENDS, options=("--header",))
t.is_((r.out, r.err, r.rc), (header + "begin\nend\n", "", 0),
      "--header prints before the script does")
r = t.script(ENDS, options=("--header", "-I"))
t.is_(r.out, in_full + "begin\nend\n", "--header -I prints the complete header")
r = t.script(ENDS, options=("--header-only",))
t.is_((r.out, r.err, r.rc), (header, "", 0), "--header-only runs no script")
r = t.script(ENDS, options=("-D", "--show-task-events", "--per-event-dump"))
t.is_((r.out, r.err, r.rc),
      ("begin\nend\n", "".join("sonde: --%s prints nothing with a script\n" % o for o in (
          "dump-raw-trace", "per-event-dump",
          "show-task-events")), 0), "options without effect are reported")
theirs = t.perf(ENDS, options=("--header",))
if theirs:  # perf writes its buffer last unless stdout is a terminal
    t.is_(theirs.out, "begin\nend\n" + header, "--header, compared with perf")

r = t.script(
    "import os\ndef trace_unhandled(*a):\n r, w = os.pipe(); os.close(r); os.write(w, b'x')\n")
t.ok(r.rc == 1 and "BrokenPipeError" in r.err, "a broken pipe that the script made is reported", r)

r = t.script("""
import atexit, threading, time
atexit.register(lambda: print('atexit'))
ticks = 0
def tick():
    global ticks
    while ticks < 3:
        time.sleep(0.01); ticks += 1
    print('thread')
thread = threading.Thread(target=tick)
def trace_begin(): thread.start()
def trace_unhandled(*a):
    if ticks < 2: time.sleep(0.001)
def trace_end(): thread.join(); print('end', ticks)
""")
t.is_(r.out, "thread\nend 3\natexit\n", "threads run during handlers; atexit", r.err)
r = t.script(
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), "
    "print('late'))).start()\ndef trace_end(): print('end')\n")
t.is_(r.out, "end\nlate\n", "a thread may outlive the events", r.err)
r = t.script("""
import multiprocessing as m
def twice(x): return 2 * x
if __name__ == '__main__':
    def trace_end():
        with m.get_context('spawn').Pool(1) as p: print(p.map(twice, [1, 2]))
""") if not os.environ.get("SONDE_ASAN") else None
t.ok(r is None or r.out == "[2, 4]\n", "multiprocessing finds the script", r)

t.done()
