# SPDX-License-Identifier: MIT
"""Which file a script's name means: the order of folders, suffixes; the modules EventClass and
SchedGui."""

import os
import struct

from scripttest import DEMO, SONDE, Tests, environment, run

t = Tests()
TELL = "import os, sys\nprint(%r)\n"


def place(folder, *names):
    for name in names:
        t.write("%s/%s" % (folder, name), TELL % folder.split("/")[0])


def found(*words, compat=None, cwd=None, **env):
    argv = [SONDE] + (["--compat", compat] if compat else []) + ["script", "-i", DEMO] + list(words)
    # PATH has only the perf that this test creates; scripts of /usr/lib/perf-core have other names.
    env = environment(**{"SONDE_PYTHON": t.python, "HOME": t.dir + "/home",
                         "PATH": t.dir + "/prefix/bin:/usr/bin:/bin", **env})
    r = run(argv, env=env, cwd=cwd or t.dir)
    return r.out.strip() or (r.rc, r.err.strip().replace(t.dir, "DIR"))


def message_about(*words, compat=None, cwd=None):
    """The message about the file that is run."""
    argv = [SONDE] + (["--compat", compat] if compat else []) + ["script", "-i", DEMO] + list(words)
    env = environment(SONDE_PYTHON=t.python, HOME=t.dir + "/home",
                      PATH=t.dir + "/prefix/bin:/usr/bin:/bin")
    r = run(argv, env=env, cwd=cwd or t.dir)
    return "\n".join(line for line in r.err.splitlines() if "shadow" in line).replace(t.dir, "DIR")


place("home/.config/sonde/scripts", "mine.py", "everywhere.py", "rw-by-process.py")
place("xdg/sonde/scripts", "mine.py")
place("said", "ruby.rb", "everywhere.py", "two.py", "odd.foo", "sub.py/inside.py")
place("configured", "everywhere.py", "conf.py")
place("tree/scripts/python", "everywhere.py", "tree.py", "wakeup-latency.py")
place("prefix/lib/perf-core/scripts/python", "everywhere.py", "beside.py", "rw-by-process.py")
place("prefix/lib/perf-core/scripts/perl", "perlish.py")
place("here", "everywhere.py")
t.write("prefix/bin/perf", "#!/bin/sh\nexit 9\n")
os.chmod(t.dir + "/prefix/bin/perf", 0o755)
config = t.write("config", "[script]\n\tpath = %s/nowhere:~/../configured\n" % t.dir)
SAID = t.dir + "/nowhere:" + t.dir + "/said"
TREE = t.dir + "/tree"

for words in (("-s", "mine.py"), ("-s", "mine"), ("mine.py",), ("mine",), ("-s", "py:mine"),
              ("-s", "python:mine.py")):
    t.is_(found(*words), "home", "%s: in the user's folder" % " ".join(words))
t.is_(found("-s", "mine.py", XDG_CONFIG_HOME=t.dir + "/xdg"), "xdg", "XDG_CONFIG_HOME")
t.is_(found("-s", "everywhere"), "home", "the user's folder is searched before perf's")
t.is_(found("-s", "everywhere", SONDE_SCRIPT_PATH=SAID), "said",
      "SONDE_SCRIPT_PATH is searched before the user's folder")
t.is_(found("-s", "conf", SONDE_CONFIG=config), "configured", "script.path of the configuration")
t.is_(found("-s", "everywhere", SONDE_CONFIG=config, SONDE_SCRIPT_PATH=SAID), "said",
      "SONDE_SCRIPT_PATH is searched before script.path")
t.is_(found("-s", "everywhere", PERF_EXEC_PATH=TREE), "tree", "PERF_EXEC_PATH is searched first")
t.is_(found("-s", "everywhere", "--exec-path=" + TREE), "tree", "--exec-path is searched first")
t.is_(found("-s", "everywhere.py", PERF_EXEC_PATH=TREE, cwd=t.dir + "/here"), "here",
      "a file in the current folder is used first")
said = ("sonde: script: running ./everywhere.py, which shadows "
        "DIR/home/.config/sonde/scripts/everywhere.py")
for words in ("-s", "everywhere.py"), ("everywhere.py",):
    t.is_(message_about(*words, cwd=t.dir + "/here"), said,
          "%s: a message names the shadowed script" % " ".join(words))
t.is_(message_about("-s", "./everywhere.py", cwd=t.dir + "/here"), "",
      "no message about a shadowed script for a path")
t.is_(message_about("-s", "everywhere.py", cwd=t.dir + "/here", compat="perf-6.1"), "",
      "no message about a shadowed script under --compat")
t.is_(message_about("-s", "everywhere.py", cwd=t.dir + "/home/.config/sonde/scripts"), "",
      "no message if the current folder is the user's folder")
place("here", "alone.py")
t.is_(message_about("-s", "alone.py", cwd=t.dir + "/here"), "",
      "no message if only the current folder has the name")
t.is_(found("-s", "beside"), "prefix", "the folder of the perf in PATH")
t.is_(found("-s", "py:perlish")[0], 1, "py: does not find a script in perl/")
t.is_(found("-s", "ruby", SONDE_SCRIPT_PATH=SAID),
      (1, "sonde: 'DIR/said/ruby.rb' is a Ruby script: sonde has no module for "
       "Ruby yet"), "the suffix gives the language")
t.is_(found("-s", "py:odd.foo", SONDE_SCRIPT_PATH=SAID), "said",
      "a suffix of no language, with the language before the name")
t.is_(found("-s", "sub.py", SONDE_SCRIPT_PATH=SAID)[0], 1, "a folder is not a script")
for words in (("-s", "rw-by-process"), ("-s", "rw-by-process.py")):
    t.ok("prefix" not in found(*words) and "home" not in found(*words),
         "%s: sonde's scripts are used first" % words[1], found(*words))
t.is_(found("-s", "rw-by-process.py", compat="perf-6.1"), "prefix",
      "perf's scripts are used under --compat")
t.is_(found("-s", "wakeup-latency.py", compat="perf-6.1", PERF_EXEC_PATH=TREE), "tree",
      "scripts in PERF_EXEC_PATH are used under --compat")
t.is_(found("-s", "beside", compat="perf-6.1")[0], 129, "-s needs a suffix under --compat")
link = t.write("link/bin/x", "")
os.symlink(SONDE, t.dir + "/link/bin/perf")
place("link/lib/perf-core/scripts/python", "beside-us.py")
t.is_(found("-s", "beside-us.py", PATH=t.dir + "/link/bin:/usr/bin")[0], 1,
      "a perf in PATH that is sonde has no scripts")

# ---- modules -----------------------------------------------------------------------------------

MODULES = ("import os, sys\nsys.path.append(os.environ['PERF_EXEC_PATH'] + "
           "'/scripts/python/Perf-Trace-Util/lib/Perf/Trace')\n")
r = t.script(MODULES + """
from EventClass import *
import EventClass
for size in (0, 80, 144, 176, 177):
    e = create_event('ev', 'co', 'ds', 'sy', bytes(range(size)))
    e.show()
    print(type(e).__name__, e.ev_type, len(e.raw_buf), getattr(e, 'flags', None), getattr(e, 'sp', None), getattr(e, 'lat', None))
print(PerfEvent.event_num, PebsEvent.pebs_num, PebsNHM.pebs_nhm_num, EVTYPE_GENERIC, EVTYPE_PEBS, EVTYPE_PEBS_LL, EVTYPE_IBS)
""", both=False)
SHOWN = ("PMU event: name=          ev, symbol=                      sy, comm=      co, dso=      "
         "    ds\n")
first, sp, lat = (struct.unpack("=Q", bytes(range(at, at + 8)))[0] for at in (0, 72, 168))
t.is_(r.out, "".join(SHOWN + "%s\n" % line for line in (
    "PerfEvent 0 0 None None None", "PerfEvent 0 80 None None None",
    "PebsEvent 1 144 %d %d None" % (first, sp), "PebsNHM 2 176 %d %d %d" % (first, sp, lat),
    "PerfEvent 0 177 None None None")) + "5 2 1 0 1 2 3\n", "EventClass", r.err)
GUI = MODULES + "from SchedGui import RootFrame\n"
r = t.script("import sys\nsys.modules['wx'] = None\n" + GUI, both=False)
t.ok(r.rc == 1 and "ImportError: this script shows a window: it needs wxPython" in r.err,
     "SchedGui without wxPython", r)
t.write("wx/wx.py", """
from unittest.mock import MagicMock
class Frame:
    def __init__(self, parent, id, title): print('frame', title)
    def Fit(self): pass
    Refresh = Fit
    def Show(self, yes): print('shown')
class Panel:
    def __init__(self, parent, size=(0, 0)): self.size, self.bound = size, {}
    def Bind(self, event, handler): self.bound[event] = handler
    def SetSize(self, size): self.size = size
    def GetSize(self): return self.size
class ScrolledWindow(Panel):
    at = 0, 0
    def EnableScrolling(self, x, y): pass
    def Fit(self): pass
    def SetScrollbars(self, dx, dy, x, y, left, top): print('bars', x, y, left, top); self.at = left, top
    def GetViewStart(self): return self.at
    def Scroll(self, x, y): print('scroll', x, y); self.at = x, y
class PaintDC:
    def __init__(self, window): pass
    def SetPen(self, pen): pass
    def SetBrush(self, brush): print('brush', brush)
    def DrawRectangle(self, *where): print('rectangle', *where)
class StaticText:
    def __init__(self, parent, id, text, at): print('text', text, at)
    def Destroy(self): print('gone')
def Size(width, height): return width, height
def Colour(*rgb): return rgb
def Pen(color): return color
def Brush(color, kind): return color
def GetDisplaySize(): return 1280, 800
EVT_PAINT, EVT_KEY_DOWN, EVT_LEFT_DOWN, SOLID = 'paint', 'key', 'mouse', 0
WXK_LEFT, WXK_RIGHT, WXK_UP, WXK_DOWN = range(314, 318)
""")
r = t.script("import sys\nsys.path.insert(0, %r)\n" % (t.dir + "/wx") + GUI + """
class Tracer:
    def set_root_win(self, win): self.win = win
    def interval(self): return 1000000, 9000000
    def nr_rectangles(self): return 1
    def fill_zone(self, start, end):
        print('fill', start, end)
        self.win.paint_rectangle_zone(0, (255, 0, 0), None, 1000000, 2000000)
        self.win.paint_rectangle_zone(1, (0, 0, 255), (0, 255, 0), 2000000, 4000000)
    def mouse_down(self, cpu, time):
        print('down', cpu, time)
        self.win.update_summary('cpu %d' % cpu)
class Event:
    def __init__(self, *what): self.what = what
    def GetPosition(self): return self.what
    def GetUnicodeKey(self): return self.what[0]
    def GetKeyCode(self): return self.what[1]
tracer = Tracer()
frame = RootFrame(tracer, 'title')
bound = frame.canvas.bound
bound['paint'](Event())
for at in ((50, 150), (50, 220), (60, 260), (60, 900)): bound['mouse'](Event(*at))
for key in ((ord('+'), 0), (ord('-'), 0), (0, 315), (0, 317), (0, 316), (0, 1)): bound['key'](Event(*key))
""", both=False)
t.is_((r.out, r.err), ("""frame title
bars 200 20 0 0
shown
fill 1000000 3540000
brush (255, 0, 0)
rectangle 0 100 500 100
brush (0, 255, 0)
rectangle 500 250 1000 5
brush (0, 0, 255)
rectangle 500 255 1000 95
down 0 1100000
text cpu 0 (0, 445)
down 1 1120000
gone
text cpu 1 (0, 445)
bars 400 20 31 0
bars 200 20 0 0
scroll 1 0
scroll 1 1
scroll 1 0
""", ""), "SchedGui: a window", r.err)

t.done()
