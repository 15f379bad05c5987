# SPDX-License-Identifier: MIT
"""Scripts by name and their recorders: -l, `record NAME`, `report NAME`, NAME, live."""

import gzip
import os
import re
import signal
import subprocess
import sys

from scripttest import DEMO, SONDE, Tests, environment, run

t = Tests()
TREE = t.dir + "/tree"                   # stands for perf's folder
BIN = "tree/scripts/python/bin/"
SCRIPTS = "home/.config/sonde/scripts/"  # the user's folder


def env(**more):
    # PATH has only the perf that sonde adds.
    return environment(**{"SONDE_PYTHON": t.python, "HOME": t.dir + "/home",
                          "PATH": "/usr/bin:/bin", "PERF_EXEC_PATH": TREE, **more})


def script(*words, compat=None, **more):
    r = run([SONDE] + (["--compat", compat] if compat else []) + ["script"] + list(words),
            env=env(**more), cwd=t.dir)
    return r._replace(err=r.err.replace(t.dir, "DIR"), out=r.out.replace(t.dir, "DIR"))


def wrapper(name, text):
    t.write(BIN + name, text)


SHOW_WORDS = "for i in \"$@\"; do printf '[%s]' \"$i\"; done; echo\n"
wrapper("both-record", "#!/no/such/shell\n" + SHOW_WORDS)
wrapper("both-report",
        "#!/no/such/shell\n#description:  what it does \n#  args: <one> [two]\n" + SHOW_WORDS)
wrapper("livetop-record", "printf record; " + SHOW_WORDS)
wrapper("livetop-report",
        "# description: a screen\n# args: [interval]\nprintf report; " + SHOW_WORDS +
        "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
wrapper("only-record-record",
        "( perf record -e raw_syscalls:sys_enter \\\n\t-e irq:* $@ || perf record -e y $@ ) "
        "2>/dev/null\n")
t.write("tree/scripts/python/both.py", "def trace_begin(): pass\n")
t.write("tree/scripts/python/module.py", '"""No script."""\ndef trace(): pass\n')
t.write("tree/scripts/python/known.py", "# description: no wrappers\ndef trace_begin(): pass\n")
t.write("tree/scripts/perl/plain.pl", "# record: -e x:y\nsub trace_end\n{\n}\n")
t.write(SCRIPTS + "events.py",
        '# SPDX-License-Identifier: MIT\n# description: what came\n# args: [--by WORD] [--json] '
        '<comm>\n'
        "# record: -e sched:sched_switch\n# record: --filter 'prev_pid != 0'\nimport sys\ndef "
        "trace_end(): print(sys.argv[1:])\n")
t.write(SCRIPTS + "both.py", '"""The user\'s own.\n\nMore."""\nimport sys\n'
        'def trace_begin(): print("mine", sys.argv[1:])\n')

t.write(SCRIPTS + "both.pl",
        "# record: -e sched:sched_wakeup\nsub trace_end { print \"Perl's @ARGV\\n\" }\n")

# ---- the list ----------------------------------------------------------------------------------

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
          "      a screen\n", "      a screen\n      records: events that its user names\n"),
      "-l: perf's scripts, each with its description and what it records", r.err)
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
""", "-l: the user's scripts; hidden ones with the path that runs them")
t.ok("\nsonde's, in " in r.out and not r.rc and not r.err, "-l: sonde's scripts", r)
t.is_(script("-l", compat="perf-6.1").out.splitlines()[1:2] and
      sorted(script("-l", compat="perf-6.1").out.splitlines()[1:]), ["  %-36s %s" % x for x in (
          ("both <one> [two]", "what it does"), ("livetop [interval]",
                                                 "a screen"))], "-l under --compat")
r = script("-l", compat="perf-6.1", PERF_EXEC_PATH="/nonexistent")
t.is_((r.out, r.rc),
      ('open(/nonexistent/scripts) failed.\nCheck "PERF_EXEC_PATH" env to set scripts dir.\n', 255),
      "-l under --compat, without the folder of scripts")
for tree in ("/usr/lib/perf-core", "/usr/libexec/perf-core"):
    if os.path.isdir(tree + "/scripts") and os.access("/usr/bin/perf", os.X_OK):
        theirs = run(["/usr/bin/perf", "script", "-l"], env=env(PERF_EXEC_PATH=tree))
        t.is_(script("-l", compat="perf-6.1", PERF_EXEC_PATH=tree)[::2], theirs[::2],
              "-l under --compat prints perf's list of its scripts")
        break
else:
    t.skip("-l under --compat prints perf's list of its scripts", "no perf with scripts", False)

# ---- record ------------------------------------------------------------------------------------

for words, given in ((("both", "true"), "[true]"), (("both",), "[-a]"),
                     (("both", "-e", "x:y"), "[-a][-e][x:y]"),
                     (("both", "-o", "f", "--", "ls", "-l"), "[-o][f][--][ls][-l]"),
                     (("both", "-p", "1"), "[-p][1]"), (("both", "-C", "0"), "[-C][0]")):
    r = script("record", *words)
    t.is_((r.out, r.rc), (given + "\n", 0),
          "record %s: the wrapper gets %s" % (" ".join(words), given), r.err)
t.is_(script("-a", "record", "both", "true").out, "[-a][true]\n",
      "script -a record NAME: the wrapper gets -a")
t.is_(script("rec", "both", "true").out, "[true]\n", "record may be shortened to rec")
t.is_(script("record", "both", "-p", "1", compat="perf-6.1").out, "[-a][-p][1]\n",
      "record under --compat: -a is added unless there is a command")
t.write("tree/scripts/python/shared.py", "def trace_begin(): pass\n")
t.write("tree/scripts/perl/bin/shared-record", SHOW_WORDS)
t.write("tree/scripts/perl/bin/shared-report", SHOW_WORDS)
for compat in (None, "perf-6.1"):
    r = script("record", "shared", "true", compat=compat)
    t.is_((r.out, r.rc), ("[true]\n", 0),
          "record: the wrapper of a script with this name in another language, compat %s" % compat,
          r.err)
r = script("-i", DEMO, "report", "shared", "x")
t.is_((r.out, r.rc), ("", 0),
      "report: not the wrapper of a script with this name in another language", r.err)
r = script("record", "only-record", "--dry-run", "--no-such-option")
t.ok(r.rc != 0 and "no perf" not in r.err, "perf in a wrapper runs sonde", r)
for what, words in (("unknown", ("record", "bothh")),
                    ("without a line that names events", ("record", "known")),
                    ("without a name", ("record",))):
    r = script(*words)
    t.ok(r.rc == 2 and not r.out and
         ("nearest: both)" in r.err or "# record:" in r.err or "needs the name" in r.err),
         "record: a name %s is an error" % what, r)
r = script("record", "events", "--dry-run", "-o", "dry.data", "--", "true")
recording = r.rc == 0
if not recording:
    t.skip("events of '# record:' are recorded", "nothing can be recorded: " + r.err.strip()[-200:],
           False)
else:
    r = script("record", "events", "-q", "-o", "events.data", "--", "sh", "-c",
               "sleep .01; sleep .01")
    shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
    t.ok(r.rc == 0 and set(shown.out.split()) == {"sched:sched_switch:"},
         "events of '# record:' are recorded", r, shown.out[:200])

if recording:
    r = script("record", "both.pl", "-q", "-o", "events.data", "--", "sleep", ".01")
    shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
    t.ok(r.rc == 0 and set(shown.out.split()) <= {"sched:sched_wakeup:"},
         "record: a name with a suffix means that file", r, shown.out[:200])
    for n, words in enumerate((("perl:both",), ("./both.pl",),
                               (t.dir + "/home/.config/sonde/scripts/both.pl",))):
        if words[0].startswith("./"):
            t.write("both.pl",
                    "# record: -e sched:sched_wakeup\nsub trace_end { print \"here\\n\" }\n")
        r = script("record", *words, "-q", "-o", "events.data", "--", "sleep", ".01")
        shown = run([SONDE, "script", "-i", t.dir + "/events.data", "-F", "event"], env=env())
        t.ok(r.rc == 0 and set(shown.out.split()) <= {"sched:sched_wakeup:"},
             "record %s" % words[0].replace(t.dir, "DIR"), r, shown.out[:200])
    r = script("report", "./both.pl", "-i", "events.data")
    t.is_((r.out, r.rc), ("here\n", 0), "report: a path means that file", r.err)
    r = script("perl:both", "sleep", ".01")
    t.is_((r.out, r.rc), ("Perl's \n", 0), "a language before the name: records and reports", r.err)
t.write("silent.py", "def trace_end(): pass\n")
r = script("record", "./silent.py", "true")
t.ok(r.rc == 2 and
     "it is not known what 'silent' records: it has no line '# record: EVENTS'" in r.err,
     "record: a script that names no events", r)
r = script("record", "./nothing.py", "true")
t.ok(r.rc == 2 and "there is no script './nothing.py'" in r.err,
     "record: a path that does not exist", r)
r = script("record", "both.rb")
t.ok(r.rc == 2 and "there is no script 'both.rb'" in r.err,
     "record: a name with a suffix that no script has", r)

# ---- report ------------------------------------------------------------------------------------

r = script("report", "both", "-i", "x", "a b")
t.is_((r.out, r.rc), ("[-i][x][a b]\n", 0), "report: the wrapper gets the words after the name",
      r.err)
t.is_(script("rep", "both").out, "\n", "report may be shortened to rep")
r = script("report", "events", "-i", DEMO, "x", "-y")
t.is_((r.out, r.rc), ("['x', '-y']\n", 0),
      "report: without a wrapper the script runs; -i after the name is the recording", r.err)
r = script("-i", DEMO, "report", "events", "-i")
t.is_((r.out, r.rc), ("['-i']\n", 0), "report: -i before report is the recording", r.err)
wrapper("inner-report",
        "# description: hands nothing on\nperf script -s "
        "\"$PERF_EXEC_PATH\"/scripts/python/inner.py -- \"$@\"\n")
t.write("tree/scripts/python/inner.py",
        "import os, sys\nn = 0\ndef trace_unhandled(*a):\n global n\n n += 1\n"
        "def trace_end(): print(n, sys.argv[1:], os.environ.get('SONDE_SCRIPT_OPTIONS'))\n")
r = script("-i", DEMO, "report", "inner", "x")
t.is_((r.out, r.rc), ("474 ['x'] None\n", 0),
      "report: -i before report applies to perf in a wrapper", r.err)
r = script("-i", DEMO, "--time", ",2374.495", "report", "inner")
t.ok(r.rc == 0 and 0 < int(r.out.split()[0]) < 474,
     "report: filters before report apply to perf in a wrapper", r)
r = script("report", "bothh")
t.ok(r.rc == 2 and "nearest: both)" in r.err, "report: an unknown name", r)
t.is_(script("report", "bothh", compat="perf-6.1").rc, 255,
      "report: the status of an unknown name under --compat")
t.is_(script("bothh", compat="perf-6.1").rc, 129, "the status of an unknown name under --compat")
r = script("bothh")
t.ok(r.rc == 2 and "nearest: both)" in r.err, "an unknown name", r)
r = script("-i", DEMO, "both", "x")
t.is_(r.rc, 0, "-i before a name is the recording", r)

# ---- stdin is a pipe ---------------------------------------------------------------------------

if recording:
    t.write("count.py",
            "n = 0\ndef trace_unhandled(*a):\n global n\n n += 1\ndef trace_end(): print(n > 0)\n")
    t.write("beside/perf.data", "")
    with open(t.dir + "/piped", "wb") as f:
        subprocess.run([SONDE, "record", "-q", "-o", "-", "-e", "sched:sched_process_exec", "--",
                        "sh", "-c", "true; /bin/true"], env=env(),
                       stdout=f, stderr=subprocess.DEVNULL, cwd=t.dir)
    for what, folder, compat, expected in (
            ("a pipe is the recording", "home", "none", "True\n"),
            ("under --compat a pipe is the recording in spite of perf.data", "beside", "perf-6.1",
             "True\n"),
            ("a pipe is not the recording if there is a perf.data", "beside", "none", "")):
        r = run(["sh", "-c", "cat ../piped | \"$0\" --compat \"$1\" script -s ../count.py", SONDE,
                 compat], env=env(), cwd=t.dir + "/" + folder)
        t.is_(r.out, expected, what, r.err)

# ---- live --------------------------------------------------------------------------------------

r = script("both")
t.ok(r.rc == 2 and "'both' needs arguments: <one> [two]" in r.err, "a missing argument", r)
t.is_(script("both", compat="perf-6.1").rc, 129, "a missing argument under --compat")
r = script("livetop", "5", "x")
t.is_((r.out, r.rc), ("report[5][x]\nrecord[-a][-q][-o][-]\n", 0),
      "a name that ends with top: the report gets all words", r.err)
r = script("livetop", "5", "x", compat="perf-6.1")
t.is_((r.out, r.rc), ("report[5][x][-i][-]\nrecord[-a][-q][-o][-]\n", 0),
      "a name that ends with top under --compat: the report gets -i -, too", r.err)
wrapper("plain-record", "printf record; " + SHOW_WORDS + "exit 7\n")
wrapper("plain-report", "# args: [--by WORD] [--json] <comm>\nprintf report; " + SHOW_WORDS +
        "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
r = script("plain", "--json", "--by", "w", "sh", "-e", "x", "ls", "--json")
t.is_((r.out, r.rc), ("report[--json][--by][w][sh]\nrecord[-q][-o][-][-e][x][ls][--json]\n", 7),
      "the report gets the options that '# args:' names; the recorder's status", r.err)
wrapper("plain-report", "exit 5\n")
t.is_(script("plain").rc, 5, "the report's status is used before the recorder's")
wrapper("late-record", "echo x; exec >&-; sleep 1; exit 7\n")
wrapper("late-report", "cat $(printf %s \"$SONDE_SCRIPT_OPTIONS\" | tail -n 1)\n")
r = script("late")
t.is_((r.out, r.rc), ("x\n", 7), "a recorder that ends after the report", r.err)

if not recording:
    for what in ("an event is printed at once", "Ctrl-C", "a report that ends early"):
        t.skip(what, "nothing can be recorded", False)
    t.done()

t.write(SCRIPTS + "seen.py", """# record: -e syscalls:sys_enter_getpriority
import sys
def trace_begin(): print("begin")
def syscalls__sys_enter_getpriority(name, context, cpu, s, ns, *args):
    print("seen")
    if sys.argv[1:]: sys.exit(int(sys.argv[1]))
def trace_end(): print("end")
""".replace("import sys", "# args: [--end]\nimport sys", 1).replace("int(sys.argv[1])", "9"))
CALL = """import ctypes, signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
for i in range(%d):
    time.sleep(%g)
    ctypes.CDLL(None).getpriority(0, 0)
"""
# Makes a call for each line of a FIFO.
CALL_PER_LINE = """import ctypes
with open(%r) as go:
    for line in go:
        ctypes.CDLL(None).getpriority(0, 0)
"""


def start(*words, compat=None, **more):
    return subprocess.Popen([SONDE] + (["--compat", compat] if compat else []) + ["script", *words],
                            env=env(**more), cwd=t.dir, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def left(session):
    """Processes of this session, zombies, too."""
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


def lines_until(p, wanted):
    """Lines of its output, until one begins with this or the output ends."""
    got = []
    while not got or got[-1] and not got[-1].startswith(wanted):
        got.append(p.stdout.readline().decode())
    return [line.strip() for line in got]


# The next event happens only after the line of the one before it was read: were lines or events
# held back until more of them come, this would wait for ever.
os.mkfifo(t.dir + "/go")
p = start("seen", "--", sys.executable, "-c", CALL_PER_LINE % (t.dir + "/go"))
go = os.open(t.dir + "/go", os.O_RDWR)
got = lines_until(p, "begin")
for _ in range(4):
    os.write(go, b"\n")
    got += lines_until(p, "seen")
os.close(go)
got += lines_until(p, "end")
p.communicate()
t.ok(got == ["begin"] + ["seen"] * 4 + ["end"],
     "each event is printed before the next one happens, into a pipe", got)

for what, send in (("Ctrl-C", lambda p: os.killpg(p.pid, signal.SIGINT)),
                   ("SIGINT for sonde alone", lambda p: p.send_signal(signal.SIGINT))):
    p = start("seen", "--", sys.executable, "-c", CALL % (1000, .05))
    lines_until(p, "seen")
    send(p)
    out, err = p.communicate(timeout=600)
    t.ok(p.returncode == 0 and out.endswith(b"end\n") and b"Traceback" not in err,
         "%s: recorder and script end, with the last output; status 0" % what,
         p.returncode, out, err)
    t.is_(left(p.pid), [], "%s: no process is left" % what)
p = start("seen", "--", sys.executable, "-c", CALL % (1000, .05))
lines_until(p, "seen")
p.terminate()
out, err = p.communicate(timeout=600)
t.ok(p.returncode == 143 and out.endswith(b"end\n") and left(p.pid) == [],
     "SIGTERM: recorder and script end; the status of the signal", p.returncode, out, err)

wrapper("wrapped-record",
        "( perf record -e syscalls:sys_enter_getpriority $@ || perf record -e x:y $@ ) "
        "2>/dev/null\n")
wrapper("wrapped-report", "perf script $@ -s \"$PERF_EXEC_PATH\"/scripts/python/wrapped.py\n")
t.write("tree/scripts/python/wrapped.py",
        "import sys\ndef syscalls__sys_enter_getpriority(*a): sys.exit(9)\n")
t.write("call.py", CALL % (1000, .05))
work = t.write("work.sh", "%s %s/call.py; sleep 100\n" % (sys.executable, t.dir))
for what, words, compat in (("a report that ends early ends the recorder", ("seen", "--end"), None),
                            ("a report in a wrapper that ends early ends the recorder",
                             ("wrapped",), None),
                            ("the same under --compat", ("wrapped",), "perf-6.1")):
    p = start(*words, *(("--",) if words[0] == "seen" else ()), "sh", work, compat=compat)
    try:
        out, err = p.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
    t.ok(p.returncode == 9 and left(p.pid) == [], what, p.returncode, left(p.pid), out, err)
p = start("seen", "--", sys.executable, "-c", CALL % (3, .01) + "import sys; sys.exit(3)\n")
out, err = p.communicate(timeout=600)
t.ok(p.returncode == 3 and out.count(b"seen") == 3 and out.endswith(b"end\n"),
     "all recorded events are reported; the status of the command",
     p.returncode, out, err)
t.write(SCRIPTS + "refused.py", "# record: -e nosuch:event\ndef trace_end(): print('end')\n")
r = script("refused", "true")
t.ok(r.rc not in (0, 126, 127) and "nosuch" in r.err and not re.search("Traceback", r.err),
     "a recorder that fails prints the reason", r)

# ---- words that are recordings -----------------------------------------------------------------

listed = script("-i", DEMO, "-F", "comm,event").out
t.write("other.data", open(DEMO, "rb").read())
t.write("plain", open(DEMO, "rb").read())
with gzip.open(t.dir + "/packed.gz", "wb") as f:
    f.write(open(DEMO, "rb").read())
for words in ((DEMO, "-F", "comm,event"), ("-F", "comm,event", DEMO),
              ("-F", "comm", DEMO, "-F", "+event"), ("packed.gz", "-F", "comm,event"),
              ("./plain", "-F", "comm,event")):
    r = script(*words)
    t.is_((r.out, r.rc), (listed, 0),
          "script %s: as with -i" % " ".join(words).replace(t.dir, "DIR"), r.err)
    t.ok(len(listed.splitlines()) == 474, "its text has all events")
r = script("other.data", DEMO, "-F", "comm,event")
t.is_(len(r.out.splitlines()), 2 * 474, "two recordings are merged", r.err)
r = script(DEMO, "events", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "a script's name after a recording reads it", r.err)
r = script(DEMO, "-s", t.dir + "/" + SCRIPTS + "events.py", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "a script after a recording and -s reads it", r.err)
r = script(DEMO, "report", "events", "x")
t.is_((r.out, r.rc), ("['x']\n", 0), "report NAME after a recording reads it", r.err)
t.write("perf.data", open(DEMO, "rb").read())
r = script("-s", t.dir + "/" + SCRIPTS + "events.py", DEMO)
t.is_((r.out, r.rc), (repr([DEMO]) + "\n", 0), "after -s SCRIPT the script gets the word", r.err)
os.mkfifo(t.dir + "/pipe")
feeder = subprocess.Popen(["sh", "-c", "cat %s > %s/pipe" % (DEMO, t.dir)])
r = script("pipe", "-F", "comm,event")
feeder.wait()
t.ok(r.rc != 2 and "language" not in r.err, "a FIFO is a recording", r)
t.write("record", open(DEMO, "rb").read())
t.write("known", open(DEMO, "rb").read())
r = script("record", "both", "true")
t.is_((r.out, r.rc), ("[true]\n", 0), "the word record does not mean a recording of this name",
      r.err)
r = script("known", "x")
t.ok("language of 'known'" in r.err or r.rc == 0,
     "the name of a script does not mean a recording of this name", r)
os.remove(t.dir + "/perf.data")
t.write("text", "no script\n")
r = script("text")
t.ok(r.rc == 2 and "language of 'text'" in r.err, "a text file is not a recording", r)
r = script(DEMO, compat="perf-6.1")
t.ok(r.rc == 129 and not r.out, "under --compat the word is a script's name", r)
for name in ("record", "known", "text", "plain", "pipe"):
    os.remove(t.dir + "/" + name)

# ---- options of sonde after a script's name ----------------------------------------------------

AWAY = "sonde: script: '-i %s' follows the script's name, so the script gets it and sonde reads "
t.write("reads.py", "def trace_begin(): pass\n")
t.write("perf.data", open(DEMO, "rb").read())
for words in (("-i", "other.data"), ("-iother.data",), ("--input", "other.data"),
              ("--input=other.data",), ("x", "-i", "other.data")):
    for front in (("reads.py",), ("-s", "reads.py", "--"), ("report", "./reads.py", "x"),
                  ("-s", "reads.py", "x")):
        r = script(*front, *words)
        t.ok(r.rc == 0 and AWAY % "other.data" in r.err and
             "sonde script -i other.data" in r.err and "perf.data" in r.err,
             "%s %s: a message reports that the script gets -i" % (" ".join(front),
                                                                   " ".join(words)), r)
r = script("-s", "reads.py", "-i", "other.data")
t.is_((r.err, r.rc), ("", 0), "-i after -s SCRIPT is an option of sonde")
r = script("report", "./reads.py", "-i", "other.data")
t.is_((r.err, r.rc), ("", 0), "-i directly after report NAME is an option of sonde")
r = script("reads.py", "-i", "nothing.data")
t.is_((r.err, r.rc), ("", 0), "no message about a file that does not exist")
t.write("takes.py", "# args: [-i FILE]\ndef trace_begin(): pass\n")
t.write("parses.py",
        "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('-i', "
        "'--input')\np.parse_args()\n")
for name in ("takes.py", "parses.py"):
    r = script(name, "-i", "other.data")
    t.is_((r.err, r.rc), ("", 0), "no message for a script with its own -i: " + name)
r = script("-i", DEMO, "-s", "reads.py", "x", "-i", "other.data", compat="perf-6.1")
t.is_((r.err, r.rc), ("", 0), "no message under --compat")
r = script("events", "x", "-i", "other.data")
t.ok("sonde: script: '-i other.data' follows the script's name, so the recorder gets it; " in r.err,
     "a message reports that the recorder gets -i", r)
os.remove(t.dir + "/perf.data")

t.done()
