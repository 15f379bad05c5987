#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A link called perf in PATH: scripts and wrappers that call `perf` run sonde.

    tests/scripts/perf_path.py SONDE LIBEXECDIR
"""

import json
import os
import shutil
import subprocess
import sys

from scripttest import CHAINS, DEMO, SONDE, Tests, environment, run

T = Tests()
LINK = os.path.join(os.path.dirname(SONDE), "cli", "perf-path")
CORE = next((d for d in ("/usr/lib/perf-core", "/usr/libexec/perf-core")
             if os.path.isdir(d + "/scripts/python")), None)


def tools_without_perf():
    """A folder with links to all programs of /usr/bin and /usr/sbin except perf."""
    folder = os.path.join(T.dir, "tools")
    os.mkdir(folder)
    for bin_dir in ("/usr/sbin", "/usr/bin"):
        for name in os.listdir(bin_dir) if os.path.isdir(bin_dir) else ():
            if not name.startswith("perf") and not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(bin_dir, name), os.path.join(folder, name))
    return folder


TOOLS = tools_without_perf()
ENV = environment(PATH=TOOLS, SONDE_PYTHON=T.python)


def go(words, stdin=None, cwd=None, **more):
    return run(words, stdin, dict(ENV, **more), cwd or T.dir)


def perf(*words, **more):
    """Runs perf as a shell does that has the folder first in PATH."""
    return go(["/bin/sh", "-c", 'exec perf "$@"', "sh", *words], PATH=LINK + ":" + TOOLS, **more)


# ---- called as perf ----
T.ok(not shutil.which("perf", path=TOOLS), "PATH has no other perf")
VERSION = "perf version 6.1.0+sonde." + go([SONDE, "--version"]).out.split()[-1] + "\n"
for words in (["--version"], ["version"], ["-v"]):
    T.is_(perf(*words).out, VERSION, "perf " + words[0])
T.is_(perf("--version", SONDE_COMPAT="perf-6.12").out, VERSION.replace("6.1.", "6.12.", 1),
      "SONDE_COMPAT names a version")
T.is_(perf("--version", SONDE_COMPAT="nonsense").out, VERSION,
      "called as perf, a wrong SONDE_COMPAT is ignored")
T.is_(perf("--version", SONDE_COMPAT="none").out, VERSION,
      "called as perf, SONDE_COMPAT=none is ignored")
T.is_(perf("--compat", "none", "version").out, VERSION, "called as perf, --compat none is ignored")
T.is_(perf("--compat", "perf-6.12", "version").out, VERSION.replace("6.1.", "6.12.", 1),
      "called as perf, --compat before the command names a version")
r = perf("lock", "true")
T.ok(r.rc == 1 and not r.out and "no command 'lock': perf has it" in r.err and
     "no perf is in PATH" in r.err, "perf lock", r)
real = T.write("real/perf", "#!/bin/sh\n")
os.chmod(real, 0o755)
r = perf("nonsense")
T.ok(r.rc == 1 and "'perf help' lists them" in r.err, "a word that is no command of perf", r)
r = perf()
T.ok(r.rc == 1 and "usage: perf [OPTIONS] COMMAND" in r.out, "perf alone", r)
T.has(perf("script", "-h").out, "usage: perf script", "usage lines")
T.is_(perf("script", "-i", "/nonexistent").rc, 255, "statuses")
for words in (["--no-pager"], ["--buildid-dir", "/nonexistent"], ["--paginate"]):
    T.is_(perf(*words, "script", "-i", DEMO).out,
          go([SONDE, "--compat", "perf-6.1", "script", "-i", DEMO]).out, words[0])
os.symlink(SONDE, os.path.join(T.dir, "perf-script"))
os.symlink(SONDE, os.path.join(T.dir, "perf-6.12"))
text = perf("script", "-i", CHAINS).out
T.is_(go(["./perf-script", "-i", CHAINS]).out, text, "perf-script")
T.is_(go(["./perf-6.12", "script", "-i", CHAINS]).out,
      go([SONDE, "--compat", "perf-6.12", "script", "-i", CHAINS]).out, "perf-6.12")
shutil.copy(DEMO, os.path.join(T.dir, "perf.data"))
with open(CHAINS, "rb") as f:
    p = subprocess.run(["/bin/sh", "-c", "cat | perf script; exit $?"], stdin=f,
                       env=dict(ENV, PATH=LINK + ":" + TOOLS), cwd=T.dir, capture_output=True)
T.is_(p.stdout.decode(), text, "a pipe is read, not perf.data")
T.is_(go([SONDE, "script"]).out, go([SONDE, "script", "-i", DEMO]).out,
      "called as sonde, perf.data is read, not the pipe")
T.is_(perf("--exec-path").out, go([SONDE, "--exec-path"]).out, "--exec-path")

# ---- commands that sonde does not have are run by the other perf ----
def program(name, text):
    path = T.write(name, "#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


REAL = os.path.dirname(program("elsewhere/perf",
                               'printf "<%s>" "$@"; printf "\\n%s\\n" "$PATH"; echo side >&2; '
                               'exit 7\n'))
SHOWN = REAL + ":" + TOOLS + "\n"


def both(*words, front=LINK, **more):
    """Runs perf with a PATH that finds sonde's perf first, then another one."""
    return go([front + "/perf", *words], PATH=front + ":" + SHOWN.strip(), **more)


for words in (["lock"], ["lock", "-e", "x y", "", "--", "true", "--compat", "-v"], ["top"],
              ["sched", "latency", "-i", "x"],
              ["nonsense", "--compat", "none"], ["--no-pager", "lock", "true"], ["report"],
              ["report", "--sort", "comm", "-i", DEMO],
              ["report", "--header", "-i", DEMO], ["report", "--stdio", "--no-such"],
              ["help", "lock"], ["report", "-i", DEMO, "--", "--header-only"]):
    r = both(*words)
    T.ok(r.rc == 7 and r.err == "side\n" and r.out == "".join("<%s>" % w for w in words) + "\n" +
         SHOWN,
         "perf %s is run by the other perf: words, status, PATH without our folder" %
         " ".join(words), r)
r = both("--compat", "perf-6.12", "-v", "--buildid-dir=/b", "lock", "true")
T.ok(r.rc == 7 and r.out.startswith("<--buildid-dir=/b><lock><true>\n"),
     "options of sonde before the command are not passed on", r)
T.is_(r.err, "sonde: 'lock' is run by %s/perf\nside\n" % REAL,
      "-v names the program that runs the command")
T.has(both("lock", "-v", "true").err, "'lock' is run by", "-v after the command names the program")
T.is_(both("lock", "true", "-v").err, "side\n", "-v among the words of the command does not")
for words, part in ((["script", "--no-such"], "unknown option --no-such"),
                    (["record", "--no-such"], "unknown option --no-such"),
                    (["evlist", "--no-such"], "unknown option --no-such"),
                    (["report", "--header-only", "--no-such"], "unknown option --no-such")):
    r = both(*words)
    T.ok(r.rc == 129 and part in r.err and not r.out,
         "options that sonde's %s refuses are not passed on" % words[0], r)
T.is_(both("report", "--header-only", "-i", DEMO).out,
      perf("report", "--header-only", "-i", DEMO).out, "report --header-only is run by sonde")
T.has(both("help", "script").out, "usage: perf script",
      "the help of sonde's commands is printed by sonde")
os.symlink(SONDE, os.path.join(T.dir, "perf-lock"))
T.ok(go(["./perf-lock", "-a"], PATH=SHOWN.strip()).out.startswith("<lock><-a>\n"), "perf-lock")
T.ok(go([SONDE, "--compat", "perf-6.1", "lock"], PATH=SHOWN.strip()).rc == 1,
     "sonde --compat is not called as perf")

# A folder with other programs stays in PATH, one with only the link is removed.
os.makedirs(T.dir + "/mixed")
os.symlink(SONDE, T.dir + "/mixed/perf")
T.is_(both("lock", front=T.dir + "/mixed").out, "<lock>\n" + SHOWN,
      "a folder with only the link is removed from PATH")
program("mixed/tool", "")
T.is_(both("lock", front=T.dir + "/mixed").out, "<lock>\n%s/mixed:%s" % (T.dir, SHOWN),
      "a folder with other programs stays in PATH")
os.symlink(T.dir + "/mixed/perf", T.dir + "/other-name")
os.makedirs(T.dir + "/copy")
shutil.copy(SONDE, T.dir + "/copy/perf")
r = go([LINK + "/perf", "lock"],
       PATH=":".join([LINK, T.dir + "/mixed", T.dir + "/copy", SHOWN.strip()]))
T.ok(r.rc == 7 and r.out.startswith("<lock>\n"),
     "another sonde called perf passes the command on, but not back", r)

# Programs that call each other end.
for text in ('exec %s/perf "$@"\n', '%s/perf "$@"\n', '%s/perf "$@" more\n'):
    folder = os.path.dirname(program("loop/perf", text % LINK))
    r = go([LINK + "/perf", "lock", "true"], PATH=LINK + ":" + folder + ":" + TOOLS)
    T.ok(r.rc == 1 and r.err.count("%s/perf leads back to sonde" % folder) == 1 and not r.out,
         "sonde and a perf that call each other end: " + text, r)
shutil.rmtree(T.dir + "/loop")
program("elsewhere/nested/perf", 'shift; exec "$@"\n')
r = go([T.dir + "/mixed/perf", "lock", "perf", "lock", "perf", "lock", "echo", "reached"],
       PATH="%s/mixed:%s/nested:%s" % (T.dir, REAL, TOOLS))
T.ok(r.rc == 0 and r.out == "reached\n", "perf lock perf lock is no loop", r)
broken = T.write("broken/perf", "\x7fELF")
os.chmod(broken, 0o755)
r = go([LINK + "/perf", "lock"], PATH=LINK + ":" + T.dir + "/broken:" + TOOLS)
T.ok(r.rc != 0 and not r.out and r.err, "a perf that cannot be run", r)
r = go([LINK + "/perf", "lock"], PATH=LINK + ":" + T.dir + "/nowhere")
T.ok(r.rc == 1 and "no perf is in PATH" in r.err, "no other perf", r)

# ---- called as sonde: the message names perf, and sonde's own answer ----
SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "scripts")
for words, script in ((["sched", "latency"], "wakeup-latency"),
                      (["lock", "contention"], "futex-contention"),
                      (["lock"], "futex-contention"), (["trace", "-s"], "syscall-latency"),
                      (["trace", "-a", "--summary", "-p", "1"], "syscall-latency"),
                      (["trace"], "syscall-top"),
                      (["kmem", "stat"], "page-allocations"), (["kwork", "report"], "irq-times"),
                      (["annotate"], None), (["top"], None), (["sched", "map"], None),
                      (["trace", "ls", "-s"], "syscall-top")):
    r = go([SONDE, *words], PATH=SHOWN.strip())
    T.ok(r.rc == 2 and "%s/perf %s" % (REAL, words[0]) in r.err and len(r.err.splitlines()) == 1,
         "sonde %s" % " ".join(words), r)
    T.ok(("'sonde script %s'" % script if script else "") in r.err and
         (script or "sonde script" not in r.err) and
         (not script or os.path.exists("%s/%s.py" % (SCRIPTS, script))),
         "the message names the script of sonde: %s" % script, r)
T.has(perf("lock", "report").err, "futex-contention",
      "called as perf, without another perf: the same message")

# ---- perf as scripts find it ----
ASK = """import os, subprocess
def trace_begin():
    print(os.environ["PATH"].split(":").index(%r) <= 1)
    print(subprocess.check_output(["perf", "--version"]).decode(), end="")
    print(len(subprocess.check_output(["perf", "report", "--header-only", "-i", %r]).splitlines()))
""" % (LINK, DEMO)
head = len(perf("report", "--header-only", "-i", DEMO).out.splitlines())
for compat, version in (None, VERSION), ("perf-6.1",
                                         VERSION), ("perf-6.12",
                                                    VERSION.replace("6.1.", "6.12.", 1)):
    r = T.script(ASK, compat=compat, env={"PATH": TOOLS})
    T.is_(r.out, "True\n%s%d\n" % (version, head), "a script calls perf, compat %s" % compat, r.err)

NESTED = """import os, subprocess
def trace_begin():
    print(subprocess.check_output("perf script -i %s -s inner.py", shell=True).decode(), end="")
""" % DEMO
T.write("inner.py",
        "import os\ndef trace_begin():\n    print(os.environ['PATH'].split(':').count(%r))\n" %
        LINK)
T.is_(T.script(NESTED, env={"PATH": TOOLS}).out, "1\n", "the folder is added to PATH once")

if CORE:
    T.write("page.html", "/** @options_json **/\n/** @flamegraph_json **/\n")
    shutil.copy2(CHAINS, os.path.join(T.dir, "perf.data"))
    r = subprocess.run([SONDE, "--compat", "perf-6.1", "script", "-i", "perf.data", "-s",
                        CORE + "/scripts/python/flamegraph.py", "--", "--template", "page.html",
                        "-o", "-"], env=ENV, cwd=T.dir, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    lines = r.stdout.splitlines()
    context = json.loads(lines[0])["context"] if lines else ""
    T.is_(context, perf("report", "--header-only", "-i", CHAINS).out,
          "flamegraph.py shows the header", r.stderr)
    T.ok(len(lines) > 1 and json.loads(lines[1])["n"] == "all", "flamegraph.py shows the stacks",
         r.stdout[-300:])
else:
    T.skip("flamegraph.py", "perf's scripts are not installed")

# ---- perf list, for wrappers ----
WRAPPER = CORE and CORE + "/scripts/python/bin/mem-phys-addr-record"
T.is_(perf("list", "sw").out, go([SONDE, "--compat", "perf-6.1", "list", "sw"]).out, "perf list")
if WRAPPER and os.path.exists(WRAPPER):
    p = go(["/bin/bash", WRAPPER, "true"], PATH=LINK + ":" + TOOLS)
    T.ok(p.rc == 1 and
         p.out == "There is no event to count all retired load instructions/uops.\n" and
         "no command" not in p.err, "mem-phys-addr-record runs perf list, which has no such event",
         p)
else:
    T.skip("mem-phys-addr-record", "perf's scripts are not installed")

# ---- recorded commands ----
SAY = ["sh", "-c", "echo $PATH"]
r = go([SONDE, "record", "-o", "w.data", "-e", "dummy", "--", *SAY])
if r.rc or not r.out:
    T.skip("a recorded command", "events cannot be recorded: " + r.err.strip()[:100])
else:
    T.is_(r.out, TOOLS + "\n", "sonde record does not change PATH")
    T.is_(go([SONDE, "--compat", "perf-6.1", "record", "-o", "w.data", "-e", "dummy", "--",
              *SAY]).out,
          LINK + ":" + TOOLS + "\n", "perf record puts the folder first in PATH")
    p = go(["/bin/sh", "-c",
            "perf record -e cpu-clock -o - -- perf --version 2>err | perf script -F comm,event | "
            "sort -u"],
           PATH=LINK + ":" + TOOLS)
    T.has(p.out, "cpu-clock", "perf record | perf script")
    T.write("bin/count-record", "#!/bin/bash\nperf record -e cpu-clock $@\n")
    T.write("bin/count-report",
            '#!/bin/bash\nperf script $@ -s "$PERF_EXEC_PATH"/scripts/python/count.py\n')
    T.write("scripts/python/count.py", "n = 0\ndef process_event(p):\n    global n\n    n += 1\n"
            "def trace_end():\n    print(n > 0)\n")
    p = go(["/bin/sh", "-c", "bash bin/count-record -o c.data seq 200000 2>err >/dev/null && "
            "bash bin/count-report -i c.data"], PATH=LINK + ":" + TOOLS, PERF_EXEC_PATH=T.dir)
    T.is_(p.out, "True\n", "wrappers that call perf", p.err,
          open(os.path.join(T.dir, "err")).read())

# ---- sonde perf-alias ----
ALIAS = os.path.join(T.dir, "alias")
os.mkdir(ALIAS)
r = go([SONDE, "perf-alias", ALIAS])
T.ok(r.rc == 0 and os.readlink(ALIAS + "/perf") == os.path.realpath(SONDE), "a link", r)
T.has(r.out, "is not in PATH: export PATH=%s:$PATH" % ALIAS,
      "perf-alias reports that PATH does not find the link")
r = go([SONDE, "perf-alias", ALIAS], PATH=os.path.dirname(real) + ":" + ALIAS)
T.has(r.out, "PATH finds %s first" % real, "perf-alias reports the program that PATH finds first")
r = go([SONDE, "perf-alias", ALIAS], PATH=ALIAS + ":" + os.path.dirname(real))
T.ok("is sonde already" in r.out and "'perf' is sonde" in r.out,
     "perf-alias reports that PATH finds the link", r)
T.is_(go(["/bin/sh", "-c", "perf --version"], PATH=ALIAS + ":" + TOOLS).out, VERSION,
      "the link runs sonde")
for force in ([], ["-f"]):
    r = go([SONDE, "perf-alias", *force, os.path.dirname(real)])
    T.ok(r.rc == 1 and "does not replace a program" in r.err and open(real).read() == "#!/bin/sh\n",
         "a program is never replaced %s" % force, r)
other = os.path.join(T.dir, "other")
os.mkdir(other)
os.symlink(real, other + "/perf")
r = go([SONDE, "perf-alias", other])
T.ok(r.rc == 1 and "--force" in r.err and os.readlink(other + "/perf") == real,
     "a link is not replaced without -f", r)
r = go([SONDE, "perf-alias", "--force", other])
T.ok(r.rc == 0 and os.path.samefile(other + "/perf", SONDE), "a link is replaced with -f", r)
T.is_(os.listdir(other), ["perf"], "no other file is left in the folder")
T.is_(go([SONDE, "perf-alias", T.dir + "/nosuch"]).rc, 1, "a folder that does not exist")
T.is_(go([SONDE, "perf-alias"]).rc, 2, "a file instead of a folder")

# ---- installed elsewhere ----
LIBEXEC = sys.argv[2]
if os.path.isabs(LIBEXEC):
    T.skip("a moved installation", "libexecdir is an absolute path", installable=False)
else:
    os.makedirs(os.path.join(T.dir, "moved", LIBEXEC, "sonde"))
    os.makedirs(T.dir + "/moved/bin")
    shutil.copy(SONDE, T.dir + "/moved/bin/sonde")
    asked = [T.dir + "/moved/bin/sonde", "script", "-i", DEMO, "-s",
             T.write("asked.py",
                     "import shutil\ndef trace_begin():\n    print(shutil.which('perf'))\n")]
    where = {"SONDE_LIBDIR": os.path.dirname(SONDE) + "/bindings"}
    r = go(asked, **where)
    T.ok("calls of 'perf' from here on do not reach sonde" in r.err,
         "a message reports that the folder is missing", r)
    os.symlink(T.dir + "/moved/bin/sonde", os.path.join(T.dir, "moved", LIBEXEC, "sonde", "perf"))
    T.is_(go(asked, **where).out, os.path.join(os.path.realpath(T.dir), "moved", LIBEXEC, "sonde",
                                               "perf") + "\n",
          "the folder is found from the program")

T.done()
