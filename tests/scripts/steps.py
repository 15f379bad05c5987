# SPDX-License-Identifier: MIT
"""Scripts by name with what records for them: -l, `record NAME`, `report NAME`, NAME; and both at once, live."""

import gzip
import os
import re
import signal
import subprocess
import sys
import time

from scripttest import DEMO, SONDE, Tests, environment, run

t = Tests()
TREE = t.dir + "/tree"                   # as perf's
BIN = "tree/scripts/python/bin/"
SCRIPTS = "home/.config/sonde/scripts/"  # the user's


def env(**more):
    # no perf but the one that sonde puts there
    return environment(**{"SONDE_PYTHON": t.python, "HOME": t.dir + "/home", "PATH": "/usr/bin:/bin", "PERF_EXEC_PATH": TREE, **more})


def script(*words, compat=None, **more):
    r = run([SONDE] + (["--compat", compat] if compat else []) + ["script"] + list(words), env=env(**more), cwd=t.dir)
    return r._replace(err=r.err.replace(t.dir, "DIR"), out=r.out.replace(t.dir, "DIR"))


def wrapper(name, text):
    t.write(BIN + name, text)


TELL = "for i in \"$@\"; do printf '[%s]' \"$i\"; done; echo\n"
wrapper("both-record", "#!/no/such/shell\n" + TELL)
wrapper("both-report", "#!/no/such/shell\n#description:  what it does \n#  args: <one> [two]\n" + TELL)
wrapper("livetop-record", "printf record; " + TELL)
wrapper("livetop-report", "# description: a screen\n# args: [interval]\nprintf report; " + TELL +
        "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
wrapper("only-record-record", "( perf record -e raw_syscalls:sys_enter \\\n\t-e irq:* $@ || perf record -e y $@ ) 2>/dev/null\n")
t.write("tree/scripts/python/both.py", "def trace_begin(): pass\n")
t.write("tree/scripts/python/module.py", '"""No script."""\ndef trace(): pass\n')
t.write("tree/scripts/python/known.py", "# description: no wrappers\ndef trace_begin(): pass\n")
t.write("tree/scripts/perl/plain.pl", "# record: -e x:y\nsub trace_end\n{\n}\n")
t.write(SCRIPTS + "events.py", '# SPDX-License-Identifier: MIT\n# description: what came\n# args: [--by WORD] [--json] <comm>\n'
        "# record: -e sched:sched_switch\n# record: --filter 'prev_pid != 0'\nimport sys\ndef trace_end(): print(sys.argv[1:])\n")
t.write(SCRIPTS + "both.py", '"""The user\'s own.\n\nMore."""\nimport sys\ndef trace_begin(): print("mine", sys.argv[1:])\n')

t.write(SCRIPTS + "both.pl", "# record: -e sched:sched_wakeup\nsub trace_end { print \"Perl's @ARGV\\n\" }\n")

# ---- the list --------------------------------------------------------------------------------------------------------

r = script("-l")
listed = r.out[:r.out.index("\nsonde's, in")] if "\nsonde's, in" in r.out else r.out
t.is_(listed.rstrip("\n"), """perf's, in DIR/tree/scripts/python:
  both <one> [two]  [Python]
      what it does
  known  [Python]
      no wrappers
  livetop [interval]  [Python]
      a screen
  only-record  [Python]
      records: -e raw_syscalls:sys_enter -e irq:*

perf's, in DIR/tree/scripts/perl:
  plain  [Perl]
      records: -e x:y""".replace("      what it does\n", "      what it does\n      records: events that its user names\n").replace(
          "      a screen\n", "      a screen\n      records: events that its user names\n"), "-l: perf's, each with what it does and records", r.err)
t.has(r.out, """yours, in DIR/home/.config/sonde/scripts:
  both  [Python]
      The user's own.
      hidden by DIR/tree/scripts/python/both.py; it runs by its path: DIR/home/.config/sonde/scripts/both.py
  both  [Perl]
      records: -e sched:sched_wakeup
      hidden by DIR/tree/scripts/python/both.py; it runs by its path: DIR/home/.config/sonde/scripts/both.pl
  events [--by WORD] [--json] <comm>  [Python]
      what came
      records: -e sched:sched_switch --filter 'prev_pid != 0'
""", "the user's; names that mean another one, also two of one folder")
t.ok("\nsonde's, in " in r.out and not r.rc and not r.err, "sonde's own", r)
t.is_(script("-l", compat="perf-6.1").out.splitlines()[1:2] and
      sorted(script("-l", compat="perf-6.1").out.splitlines()[1:]), ["  %-36s %s" % x for x in (
          ("both <one> [two]", "what it does"), ("livetop [interval]", "a screen"))], "-l as perf prints it")
r = script("-l", compat="perf-6.1", PERF_EXEC_PATH="/nonexistent")
t.is_((r.out, r.rc), ('open(/nonexistent/scripts) failed.\nCheck "PERF_EXEC_PATH" env to set scripts dir.\n', 255),
      "as perf without a folder")
for tree in ("/usr/lib/perf-core", "/usr/libexec/perf-core"):
    if os.path.isdir(tree + "/scripts") and os.access("/usr/bin/perf", os.X_OK):
        theirs = run(["/usr/bin/perf", "script", "-l"], env=env(PERF_EXEC_PATH=tree))
        t.is_(script("-l", compat="perf-6.1", PERF_EXEC_PATH=tree)[::2], theirs[::2], "byte for byte what perf lists of its own")
        break
else:
    t.skip("byte for byte what perf lists of its own", "no perf with scripts", False)

# ---- record ----------------------------------------------------------------------------------------------------------

for words, given in ((("both", "true"), "[true]"), (("both",), "[-a]"), (("both", "-e", "x:y"), "[-a][-e][x:y]"),
                     (("both", "-o", "f", "--", "ls", "-l"), "[-o][f][--][ls][-l]"), (("both", "-p", "1"), "[-p][1]"),
                     (("both", "-C", "0"), "[-C][0]")):
    r = script("record", *words)
    t.is_((r.out, r.rc), (given + "\n", 0), "record %s: the wrapper gets %s" % (" ".join(words), given), r.err)
t.is_(script("-a", "record", "both", "true").out, "[-a][true]\n", "-a in front of it")
t.is_(script("rec", "both", "true").out, "[true]\n", "rec is enough")
t.is_(script("record", "both", "-p", "1", compat="perf-6.1").out, "[-a][-p][1]\n", "under --compat -a unless there is a command")
t.write("tree/scripts/python/shared.py", "def trace_begin(): pass\n")
t.write("tree/scripts/perl/bin/shared-record", TELL)
t.write("tree/scripts/perl/bin/shared-report", TELL)
for compat in (None, "perf-6.1"):
    r = script("record", "shared", "true", compat=compat)
    t.is_((r.out, r.rc), ("[true]\n", 0), "the wrapper of a script of the same name in another language, compat %s" % compat, r.err)
r = script("-i", DEMO, "report", "shared", "x")
t.is_((r.out, r.rc), ("", 0), "but not its report", r.err)
r = script("record", "only-record", "--dry-run", "--no-such-option")
t.ok(r.rc != 0 and "no perf" not in r.err, "a wrapper's perf is sonde", r)
for what, words in (("unknown", ("record", "bothh")), ("without a line that says what", ("record", "known")), ("without a name", ("record",))):
    r = script(*words)
    t.ok(r.rc == 2 and not r.out and ("nearest: both)" in r.err or "# record:" in r.err or "which script" in r.err),
         "record: a name %s is an error" % what, r)
r = script("record", "events", "--dry-run", "-o", "dry.data", "--", "true")
recording = r.rc == 0
if not recording:
    t.skip("what '# record:' says is recorded", "nothing can be recorded here: " + r.err.strip()[-200:], False)
else:
    r = script("record", "events", "-q", "-o", "events.data", "--", "sh", "-c", "sleep .01; sleep .01")
    shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
    t.ok(r.rc == 0 and set(shown.out.split()) == {"sched:sched_switch:"}, "what '# record:' says is recorded", r, shown.out[:200])

if recording:
    r = script("record", "both.pl", "-q", "-o", "events.data", "--", "sleep", ".01")
    shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
    t.ok(r.rc == 0 and set(shown.out.split()) <= {"sched:sched_wakeup:"}, "a name with its suffix means that file's", r, shown.out[:200])
    for n, words in enumerate((("perl:both",), ("./both.pl",), (t.dir + "/home/.config/sonde/scripts/both.pl",))):
        if words[0].startswith("./"):
            t.write("both.pl", "# record: -e sched:sched_wakeup\nsub trace_end { print \"here\\n\" }\n")
        r = script("record", *words, "-q", "-o", "events.data", "--", "sleep", ".01")
        shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
        t.ok(r.rc == 0 and set(shown.out.split()) <= {"sched:sched_wakeup:"}, "record %s" % words[0].replace(t.dir, "DIR"), r, shown.out[:200])
    r = script("report", "./both.pl", "-i", "events.data")
    t.is_((r.out, r.rc), ("here\n", 0), "a path means that file", r.err)
    r = script("perl:both", "sleep", ".01")
    t.is_((r.out, r.rc), ("Perl's \n", 0), "a language before the name: recorded and reported at once", r.err)
t.write("silent.py", "def trace_end(): pass\n")
r = script("record", "./silent.py", "true")
t.ok(r.rc == 2 and "nothing says what 'silent' records: it has no line '# record: EVENTS'" in r.err, "a path that says nothing of events", r)
r = script("record", "./nothing.py", "true")
t.ok(r.rc == 2 and "there is no script './nothing.py'" in r.err, "a path where nothing is", r)
r = script("record", "both.rb")
t.ok(r.rc == 2 and "there is no script 'both.rb'" in r.err, "another suffix is none's", r)

# ---- report ----------------------------------------------------------------------------------------------------------

r = script("report", "both", "-i", "x", "a b")
t.is_((r.out, r.rc), ("[-i][x][a b]\n", 0), "report: the wrapper gets what stands behind the name", r.err)
t.is_(script("rep", "both").out, "\n", "rep is enough")
r = script("report", "events", "-i", DEMO, "x", "-y")
t.is_((r.out, r.rc), ("['x', '-y']\n", 0), "without a wrapper the script runs; -i first names the recording", r.err)
r = script("-i", DEMO, "report", "events", "-i")
t.is_((r.out, r.rc), ("['-i']\n", 0), "or in front of report", r.err)
wrapper("inner-report", "# description: hands nothing on\nperf script -s \"$PERF_EXEC_PATH\"/scripts/python/inner.py -- \"$@\"\n")
t.write("tree/scripts/python/inner.py", "import os, sys\nn = 0\ndef trace_unhandled(*a):\n global n\n n += 1\n"
        "def trace_end(): print(n, sys.argv[1:], os.environ.get('SONDE_SCRIPT_OPTIONS'))\n")
r = script("-i", DEMO, "report", "inner", "x")
t.is_((r.out, r.rc), ("474 ['x'] None\n", 0), "which reaches the perf of any wrapper", r.err)
r = script("-i", DEMO, "--time", ",2374.495", "report", "inner")
t.ok(r.rc == 0 and 0 < int(r.out.split()[0]) < 474, "as do filters", r)
r = script("report", "bothh")
t.ok(r.rc == 2 and "nearest: both)" in r.err, "report: an unknown name", r)
t.is_(script("report", "bothh", compat="perf-6.1").rc, 255, "its status under --compat")
t.is_(script("bothh", compat="perf-6.1").rc, 129, "that of an unknown name")
r = script("bothh")
t.ok(r.rc == 2 and "nearest: both)" in r.err, "and by default", r)
r = script("-i", DEMO, "both", "x")
t.is_(r.rc, 0, "a name with -i in front is run over that recording", r)

# ---- a pipe that nobody named ------------------------------------------------------------------------------------------

if recording:
    t.write("count.py", "n = 0\ndef trace_unhandled(*a):\n global n\n n += 1\ndef trace_end(): print(n > 0)\n")
    t.write("beside/perf.data", "")
    with open(t.dir + "/piped", "wb") as f:
        subprocess.run([SONDE, "record", "-q", "-o", "-", "-e", "sched:sched_process_exec", "--", "sh", "-c", "true; /bin/true"], env=env(),
                       stdout=f, stderr=subprocess.DEVNULL, cwd=t.dir)
    for what, folder, compat, expected in (("it is the recording", "home", "none", "True\n"), ("also under --compat", "beside", "perf-6.1", "True\n"),
                                           ("but not where there is a perf.data", "beside", "none", "")):
        r = run(["sh", "-c", "cat ../piped | \"$0\" --compat \"$1\" script -s ../count.py", SONDE, compat], env=env(), cwd=t.dir + "/" + folder)
        t.is_(r.out, expected, what, r.err)

# ---- live ------------------------------------------------------------------------------------------------------------

r = script("both")
t.ok(r.rc == 2 and "'both' needs arguments: <one> [two]" in r.err, "an argument that must be given", r)
t.is_(script("both", compat="perf-6.1").rc, 129, "its status under --compat")
r = script("livetop", "5", "x")
t.is_((r.out, r.rc), ("report[5][x]\nrecord[-a][-q][-o][-]\n", 0), "...top: all words are the report's", r.err)
r = script("livetop", "5", "x", compat="perf-6.1")
t.is_((r.out, r.rc), ("report[5][x][-i][-]\nrecord[-a][-q][-o][-]\n", 0), "under --compat -i - is among them", r.err)
wrapper("plain-record", "printf record; " + TELL + "exit 7\n")
wrapper("plain-report", "# args: [--by WORD] [--json] <comm>\nprintf report; " + TELL +
        "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
r = script("plain", "--json", "--by", "w", "sh", "-e", "x", "ls", "--json")
t.is_((r.out, r.rc), ("report[--json][--by][w][sh]\nrecord[-q][-o][-][-e][x][ls][--json]\n", 7),
      "options that '# args:' names are the report's; the recorder's status", r.err)
wrapper("plain-report", "exit 5\n")
t.is_(script("plain").rc, 5, "the report's comes first")
wrapper("late-record", "echo x; exec >&-; sleep 1; exit 7\n")
wrapper("late-report", "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
r = script("late")
t.is_((r.out, r.rc), ("x\n", 7), "a recorder that ends after the report has read all", r.err)

if not recording:
    for what in ("an event is seen at once", "Ctrl-C", "a report that ends early"):
        t.skip(what, "nothing can be recorded here", False)
    t.done()

t.write(SCRIPTS + "seen.py", """# record: -k monotonic -e syscalls:sys_enter_getpriority
import sys, time
def trace_begin(): print("begin")
def syscalls__sys_enter_getpriority(name, context, cpu, s, ns, *args):
    print("late %.3f" % (time.monotonic() - s - ns / 1e9))
    if sys.argv[1:]: sys.exit(int(sys.argv[1]))
def trace_end(): print("end")
""".replace("import sys", "# args: [--end]\nimport sys", 1).replace("int(sys.argv[1])", "9"))
CALL = "import ctypes, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nfor i in range(%d):\n time.sleep(%g); ctypes.CDLL(None).getpriority(0, 0)\n"


def be_first():
    """Real-time priority where that is permitted: then the load of the machine makes nothing late."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass


def start(*words, compat=None, before=None, **more):
    return subprocess.Popen([SONDE] + (["--compat", compat] if compat else []) + ["script", *words], env=env(**more), cwd=t.dir,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                            preexec_fn=before)


def left(session):
    """Processes of that session, zombies too."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                fields = f.read().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found.append(pid)
        except OSError:
            pass
    return found


def lines_until(p, wanted, seconds=600):
    """Lines of its output with the time of each, until one begins with this."""
    got, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        line = p.stdout.readline().decode()
        got.append((time.monotonic(), line.strip()))
        if not line or line.startswith(wanted):
            break
    return got


# The best of some attempts: where it is not permitted, a busy machine makes everything late.
for attempt in range(5):
    p = start("seen", "--", sys.executable, "-c", CALL % (4, .4), before=be_first)
    before = time.monotonic()
    got = lines_until(p, "end")
    p.communicate()
    late = [float(line.split()[1]) for _, line in got if line.startswith("late")]
    apart = [b[0] - a[0] for a, b in zip(got[1:], got[2:])]
    if len(late) == 4 and max(late) < .3 and got[1][0] - before < 1.5 and min(apart[:3]) > .2:
        break
t.ok(len(late) == 4 and max(late) < .5 and got[1][0] - before < 2.5, "two and a half events a second: each is printed at once",
     "begun %.2f" % before, got)
t.ok(apart and min(apart[:3]) > .2, "and written at once, into a pipe, too", got)

for what, send in (("Ctrl-C", lambda p: os.killpg(p.pid, signal.SIGINT)), ("SIGINT for sonde alone", lambda p: p.send_signal(signal.SIGINT))):
    p = start("seen", "--", sys.executable, "-c", CALL % (1000, .05))
    lines_until(p, "late")
    send(p)
    out, err = p.communicate(timeout=60)
    t.ok(p.returncode == 0 and out.endswith(b"end\n") and b"Traceback" not in err, "%s: both end, with the last output; status 0" % what,
         p.returncode, out, err)
    t.is_(left(p.pid), [], "nothing is left behind")
p = start("seen", "--", sys.executable, "-c", CALL % (1000, .05))
lines_until(p, "late")
p.terminate()
out, err = p.communicate(timeout=60)
t.ok(p.returncode == 143 and out.endswith(b"end\n") and left(p.pid) == [], "SIGTERM: the same, with its status", p.returncode, out, err)

wrapper("wrapped-record", "( perf record -e syscalls:sys_enter_getpriority $@ || perf record -e x:y $@ ) 2>/dev/null\n")
wrapper("wrapped-report", "perf script $@ -s \"$PERF_EXEC_PATH\"/scripts/python/wrapped.py\n")
t.write("tree/scripts/python/wrapped.py", "import sys\ndef syscalls__sys_enter_getpriority(*a): sys.exit(9)\n")
t.write("call.py", CALL % (1000, .05))
work = t.write("work.sh", "%s %s/call.py; sleep 100\n" % (sys.executable, t.dir))
for what, words, compat in (("a report that ends early ends the recorder", ("seen", "--end"), None), ("also in wrappers", ("wrapped",), None),
                            ("also under --compat", ("wrapped",), "perf-6.1")):
    p = start(*words, *(("--",) if words[0] == "seen" else ()), "sh", work, compat=compat)
    try:
        out, err = p.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
    t.ok(p.returncode == 9 and left(p.pid) == [], what, p.returncode, left(p.pid), out, err)
p = start("seen", "--", sys.executable, "-c", CALL % (3, .01) + "import sys; sys.exit(3)\n")
out, err = p.communicate(timeout=60)
t.ok(p.returncode == 3 and out.count(b"late") == 3 and out.endswith(b"end\n"), "all that was recorded is reported; the command's status",
     p.returncode, out, err)
t.write(SCRIPTS + "refused.py", "# record: -e nosuch:event\ndef trace_end(): print('end')\n")
r = script("refused", "true")
t.ok(r.rc not in (0, 126, 127) and "nosuch" in r.err and not re.search("Traceback", r.err), "a recorder that fails says why", r)

# ---- words that are recordings ---------------------------------------------------------------------------------------

listed = script("-i", DEMO, "-F", "comm,event").out
t.write("other.data", open(DEMO, "rb").read())
t.write("plain", open(DEMO, "rb").read())
with gzip.open(t.dir + "/packed.gz", "wb") as f:
    f.write(open(DEMO, "rb").read())
for words in ((DEMO, "-F", "comm,event"), ("-F", "comm,event", DEMO), ("-F", "comm", DEMO, "-F", "+event"), ("packed.gz", "-F", "comm,event"),
              ("./plain", "-F", "comm,event")):
    r = script(*words)
    t.is_((r.out, r.rc), (listed, 0), "script %s: as with -i" % " ".join(words).replace(t.dir, "DIR"), r.err)
    t.ok(len(listed.splitlines()) == 474, "which is not empty")
r = script("other.data", DEMO, "-F", "comm,event")
t.is_(len(r.out.splitlines()), 2 * 474, "two recordings: both together", r.err)
r = script(DEMO, "events", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "a script's name behind a recording is run over it", r.err)
r = script(DEMO, "-s", t.dir + "/" + SCRIPTS + "events.py", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "so is one behind -s", r.err)
r = script(DEMO, "report", "events", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "and report NAME", r.err)
t.write("perf.data", open(DEMO, "rb").read())
r = script("-s", t.dir + "/" + SCRIPTS + "events.py", DEMO)
t.is_((r.out, r.rc), (repr([DEMO]) + "\n", 0), "behind -s SCRIPT it is the script's", r.err)
os.mkfifo(t.dir + "/pipe")
feeder = subprocess.Popen(["sh", "-c", "cat %s > %s/pipe" % (DEMO, t.dir)])
r = script("pipe", "-F", "comm,event")
feeder.wait()
t.ok(r.rc != 2 and "language" not in r.err, "a pipe with a name", r)
t.write("record", open(DEMO, "rb").read())
t.write("known", open(DEMO, "rb").read())
r = script("record", "both", "true")
t.is_((r.out, r.rc), ("[true]\n", 0), "a recording called record is not meant by that word", r.err)
r = script("known", "x")
t.ok("language of 'known'" in r.err or r.rc == 0, "nor one called like a script", r)
os.remove(t.dir + "/perf.data")
t.write("text", "no script\n")
r = script("text")
t.ok(r.rc == 2 and "language of 'text'" in r.err, "a file of text is no recording", r)
r = script(DEMO, compat="perf-6.1")
t.ok(r.rc == 129 and not r.out, "under --compat it is a script's name, as to perf", r)
for name in ("record", "known", "text", "plain", "pipe"):
    os.remove(t.dir + "/" + name)

# ---- options of ours behind a script's name --------------------------------------------------------------------------

AWAY = "sonde: script: '-i %s' follows the script's name, so the script gets it and sonde reads "
t.write("reads.py", "def trace_begin(): pass\n")
t.write("perf.data", open(DEMO, "rb").read())
for words in (("-i", "other.data"), ("-iother.data",), ("--input", "other.data"), ("--input=other.data",), ("x", "-i", "other.data")):
    for front in (("reads.py",), ("-s", "reads.py", "--"), ("report", "./reads.py", "x"), ("-s", "reads.py", "x")):
        r = script(*front, *words)
        t.ok(r.rc == 0 and AWAY % "other.data" in r.err and "sonde script -i other.data" in r.err and "perf.data" in r.err,
             "%s %s: a line says so" % (" ".join(front), " ".join(words)), r)
r = script("-s", "reads.py", "-i", "other.data")
t.is_((r.err, r.rc), ("", 0), "behind -s SCRIPT it is ours")
r = script("report", "./reads.py", "-i", "other.data")
t.is_((r.err, r.rc), ("", 0), "first behind report NAME, too")
r = script("reads.py", "-i", "nothing.data")
t.is_((r.err, r.rc), ("", 0), "nothing is said of a file that is not there")
t.write("takes.py", "# args: [-i FILE]\ndef trace_begin(): pass\n")
t.write("parses.py", "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('-i', '--input')\np.parse_args()\n")
for name in ("takes.py", "parses.py"):
    r = script(name, "-i", "other.data")
    t.is_((r.err, r.rc), ("", 0), "nor for a script that knows -i: " + name)
r = script("-i", DEMO, "-s", "reads.py", "x", "-i", "other.data", compat="perf-6.1")
t.is_((r.err, r.rc), ("", 0), "nor under --compat")
r = script("events", "x", "-i", "other.data")
t.ok("sonde: script: '-i other.data' follows the script's name, so the recorder gets it; " in r.err, "of a script that is recorded for, too", r)
os.remove(t.dir + "/perf.data")

t.done()
