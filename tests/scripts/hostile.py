# SPDX-License-Identifier: MIT
"""Scripts that behave badly: each ends as a Python program would, and nothing crashes."""

import os
import subprocess

from scripttest import DEMO, MIXED, SONDE, Tests, environment, run

t = Tests()
COUNT = "n = 0\ndef trace_unhandled(*a):\n global n\n n += 1\n"
ALL = 474  # events in DEMO


def ends(what, text, out, rc=0, err="", **more):
    """err: a part of stderr; "" if stderr must be empty, None if it may be anything."""
    r = t.script(text, both=False, **more)
    t.ok(r.rc == rc and (out is None or r.out == out) and
         (err is None or (err in r.err if err else not r.err)), what, "expected:", (out, rc, err),
         "got:", r)
    return r


# ---- the file ----------------------------------------------------------------------------------

ends("Windows line ends",
     (COUNT + "def trace_end():\n print('''a\nb''', n)\n").replace("\n", "\r\n"), "a\nb %d\n" % ALL)
ends("a byte order mark", "\ufeff" + COUNT + "def trace_end(): print(n)\n", "%d\n" % ALL)
ends("no newline at the end", "def trace_end(): print('end')", "end\n")
ends("an empty file", "", "")
ends("Latin-1 that is declared",
     "# -*- coding: latin-1 -*-\ndef trace_end(): print(ascii('\xe9'))\n".encode("latin-1"),
     "'\\xe9'\n")
ends("Latin-1 that is not declared", "def trace_end(): print('\xe9')\n".encode("latin-1"), "", 1,
     "SyntaxError")
ends("NUL bytes", b"print(1)\n\0\n", "", 1, "null bytes")
ends("tabs and blanks mixed", "def trace_end():\n\tif 1:\n        print(1)\n", "", 1, "2to3")
r = ends("a syntax error", "def trace_begin():\n    print((1)\n", "", 1, "SyntaxError")
t.ok("script.py\", line 2" in r.err and "launch.py" not in r.err and "Traceback" not in r.err,
     "a syntax error is reported with file and line", r.err)
ends("Python 2", "print 'x'\n", "", 1, "this is Python 2")

# ---- names -------------------------------------------------------------------------------------

ends("handlers for absent events", "def no__such(*a): pass\ndef trace_end(): print('end')\n",
     "end\n", 0, "never called: no__such() (line 1);")
ends("handlers that are not functions",
     "sched__sched_switch = 5\ntrace_begin = None\ntrace_unhandled = 'x'\ndef trace_end(): "
     "print('end')\n", "end\n")
ends("a handler that deletes itself",
     "n = 0\ndef sched__sched_switch(*a):\n global n\n n += 1\n del "
     "globals()['sched__sched_switch']\n"
     "def trace_end(): print(n)\n", "1\n")
ends("a handler that replaces itself",
     "seen = []\ndef sched__sched_switch(*a):\n global sched__sched_switch\n seen.append(1)\n"
     " sched__sched_switch = lambda *a: seen.append(2)\ndef trace_end(): print(seen[:3], "
     "len(seen) > 9)\n", "[1, 2, 2] True\n")
ends("globals().clear()", "import sys\ndef trace_unhandled(*a): globals().clear()\n", "")
ends("sys.modules.clear()", "import sys\ndef trace_begin(): sys.modules.clear()\n" + COUNT, "")
ends("print is another function",
     "import builtins\nsaid = []\nbuiltins.print = said.append\ndef trace_end():\n import sys; "
     "print(1); sys.stdout.write('%s\\n' % said)\n", "[1]\n")

# ---- exceptions --------------------------------------------------------------------------------

r = ends("a handler that recurses for ever",
         "def f(x): return f(x + 1)\ndef sched__sched_switch(*a): f(0)\n", "", 1, "RecursionError")
t.has(r.err, "in the handler of this event: sched:sched_switch", "a message names the event")
ends("an exception that cannot be printed",
     "class E(Exception):\n def __str__(self): raise ValueError\n"
     "def trace_unhandled(*a): raise E\n", "", 1, "E: <exception str() failed>")
r = ends("an excepthook that raises",
         "import sys\ndef hook(*a): raise ValueError('hook')\nsys.excepthook = hook\ndef "
         "trace_unhandled(*a): 1 / 0\n", "", 1, "ValueError: hook")
t.ok("ZeroDivisionError" in r.err and "launch.py" not in r.err,
     "both exceptions are printed, without frames of sonde", r.err)
ends("MemoryError", "def trace_unhandled(*a): bytearray(1 << 62)\n", "", 1, "\nMemoryError\n")
ends("StopIteration", "def trace_unhandled(*a): next(iter(()))\n", "", 1, "StopIteration")
for code, rc in (("0", 0), ("3", 3), ("'words'", 1), ("300", 44), ("None", 0), ("True", 1)):
    ends("sys.exit(%s) in a handler" % code,
         "import sys\nprint('out')\ndef trace_unhandled(*a): sys.exit(%s)\ndef trace_end(): "
         "print('no')\n" % code, "out\n", rc, "words" if "words" in code else "")
ends("os._exit()", "import os, sys\ndef trace_unhandled(*a): os._exit(4)\n", "", 4)
ends("a handler in C",
     "import operator\nsched__sched_switch = operator.itemgetter(0)\ntrace_unhandled = print\n",
     None, 1, "TypeError")

# ---- output ------------------------------------------------------------------------------------

r = run([SONDE, "script", "-i", DEMO, "-s",
         t.write("binary.py", "import sys\ndef trace_begin(): print('text', end='')\n"
                  "def trace_end():\n sys.stdout.flush(); "
                  "sys.stdout.buffer.write(bytes(range(256)))\n")],
        env=environment(SONDE_PYTHON=t.python), binary=True)
t.is_((r.out, r.rc), (b"text" + bytes(range(256)), 0), "binary output", r.err)
ends("stdout is another object",
     "import io, sys\nreal = sys.stdout\nsys.stdout = io.StringIO()\ndef trace_unhandled(*a): "
     "print('x')\n"
     "def trace_end(): real.write('%d\\n' % len(sys.stdout.getvalue()))\n", "%d\n" % (2 * ALL))
ends("stdout is an object without flush",
     "import sys\nreal = sys.stdout\nclass O:\n def write(self, s): real.write(s)\nsys.stdout = "
     "O()\n"
     "def trace_end(): print('end')\n", "end\n", 120, "'flush'")  # the status of Python
ends("stdout is None", "import sys\nsys.stdout = None\ndef trace_unhandled(*a): print('x')\n", "")
ends("stdout is closed by the script", "import sys\nsys.stdout.close()\n" + COUNT, "")
r = t.script("import os\nos.close(1)\ndef trace_unhandled(*a): print('x' * 10000)\n", both=False)
t.ok(r.rc == 1 and "Bad file descriptor" in r.err,
     "the descriptor of stdout is closed by the script: an error, as in Python", r)
ends("stderr is None", "import sys\nsys.stderr = None\ndef trace_unhandled(*a): 1 / 0\n", "", 1)
ends("no__such() with a closed stderr",
     "import sys\nsys.stderr.close()\ndef no__such(): pass\ndef trace_end(): print('end')\n",
     "end\n")
r = subprocess.run(["sh", "-c", '"$0" script -i "$1" -s "$2" | wc -c', SONDE, DEMO,
                    t.write("huge.py", "def trace_unhandled(*a): print('x' * 99999)\n")],
                   env=environment(SONDE_PYTHON=t.python), stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)
t.is_((int(r.stdout), r.stderr), (100000 * ALL, b""), "huge output")
if os.path.exists("/dev/full"):
    r = subprocess.run(["sh", "-c", 'exec "$0" script -i "$1" -s "$2" > /dev/full', SONDE, DEMO,
                        t.dir + "/huge.py"],
                       env=environment(SONDE_PYTHON=t.python), stderr=subprocess.PIPE)
    t.ok(r.returncode == 1 and b"No space left" in r.stderr, "a full disk", r)

# ---- processes and threads ---------------------------------------------------------------------

ends("input from stdin",
     "lines = []\ndef sched__sched_switch(*a):\n import sys; lines.extend(sys.stdin)\ndef "
     "trace_end(): print(lines)\n", "['a\\n', 'b\\n']\n", stdin="a\nb\n")
ends("a fork that exits", "import os\n" + COUNT +
     "def trace_begin():\n pid = os.fork()\n if not pid: os._exit(7)\n print(os.waitpid(pid, "
     "0)[1] >> 8)\n"
     "def trace_end(): print(n)\n", "7\n%d\n" % ALL)
ends("a fork in a handler; both processes continue",
     "import os\nn, pid = 0, -1\ndef trace_unhandled(*a):\n global n, pid\n n += 1\n if n == 100: "
     "pid = os.fork()\n"
     "def trace_end():\n if pid > 0: os.waitpid(pid, 0)\n print(n)\n", "%d\n%d\n" % (ALL, ALL))
ends("a script that runs a program",
     "import subprocess\ndef trace_end(): print(subprocess.check_output(['echo', 'x']))\n",
     "b'x\\n'\n")
TICK = """
import threading, time
ticks, stop = 0, False
def tick():
    global ticks
    while not stop:
        ticks += 1
        time.sleep(.001)
thread = threading.Thread(target=tick, daemon=True)
def trace_begin(): thread.start()
%s
def trace_end():
    global stop
    stop = True
    thread.join()
    print(ticks > 3)
"""
ends("a thread runs during busy handlers",
     TICK % "def trace_unhandled(*a):\n for i in range(20000): pass\n", "True\n")
ends("a thread that ends with an exception",
     "import threading\nthreading.excepthook = lambda a: print(a.exc_type.__name__)\n"
     "def trace_begin():\n x = threading.Thread(target=lambda: 1 / 0); x.start(); x.join()\n",
     "ZeroDivisionError\n")
ends("handlers called by the script itself, from a thread",
     "import threading\nseen = []\ndef sched__sched_switch(*a): seen.append(len(a))\n"
     "def trace_end():\n x = threading.Thread(target=sched__sched_switch, args=(1, 2)); "
     "x.start(); x.join(); print(seen[-1], len(seen) > 1)\n",
     "2 True\n")
ends("a trace function",
     "import sys\ncalls = 0\ndef tracer(*a):\n global calls\n calls += 1\ndef trace_begin(): "
     "sys.settrace(tracer)\n"
     "def trace_unhandled(*a): pass\ndef trace_end(): sys.settrace(None); print(calls >= %d)\n" %
     ALL, "True\n")
ends("gc in each handler",
     "import gc\ndef trace_unhandled(*a): gc.collect(0)\ndef trace_end(): print('end')\n", "end\n")
ends("values that are kept and changed",
     "kept = []\ndef trace_unhandled(name, context, fields, sample):\n fields['x'] = sample; "
     "sample.clear(); kept.append(fields)\n"
     "def trace_end(): print(len(kept), kept[0]['x'], len(set(map(id, kept))) == len(kept))\n",
     "%d {} True\n" % ALL, 0, None)
ends("the current folder was removed",
     "import os, tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)\n" + COUNT +
     "def trace_end(): print(n)\n", "%d\n" % ALL)
ends("process_event that raises", "def process_event(d): raise KeyError(d['ev_name'])\n", "", 1,
     "KeyError", data=MIXED)

t.done()
