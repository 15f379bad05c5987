# SPDX-License-Identifier: MIT
"""rw-top.py: a file gives one table. A pipe gives tables at intervals, also without new events, and
a last one after Ctrl-C. Both screens by their names, by sonde script and by sonde run.
"""
import json
import signal
import subprocess
import threading

from analysistest import SONDE, Analyses, environment
from known import Trace

COUNT = "int __syscall_nr; unsigned int fd; char *buf; size_t count"
RET = "int __syscall_nr; long ret"

t = Analyses("rw-top.py")


def trace():
    tr = Trace().task(5, "worker").task(7, "helper", pid=5)
    for call in "read", "write":
        tr.declare("syscalls:sys_enter_" + call, COUNT).declare("syscalls:sys_exit_" + call, RET)
    return tr


def calls(tr, call, count, begin, tid=5, ret=100):
    for i in range(count):
        tr.event("syscalls:sys_enter_" + call, begin + 2000 * i, tid=tid, fd=3, count=100)
        tr.event("syscalls:sys_exit_" + call, begin + 2000 * i + 1000, tid=tid, ret=ret)


tr = trace()
calls(tr, "read", 3, 0)
calls(tr, "read", 1, 10**9, ret=-11)
calls(tr, "write", 2, 2 * 10**9, tid=7, ret=50)
t.prints(tr, ["in all, 2.0 s: 2 threads",
              "tid  comm    reads  bytes read  writes  bytes written  errors",
              "  5  worker      4         300       0              0       1",
              "... 1 more; --top 0 shows all"], "a recording in a file", "1", "1", by_perf=False)
o = t.json(tr)
t.is_((o["complete"], o["seconds"], o["threads"]), (True, 2.0, 2), "JSON")
t.is_(o["rows"][1], {"tid": 7, "comm": "helper", "reads": 0, "read_bytes": 0, "writes": 2,
                     "written_bytes": 100, "errors": 0}, "a row of JSON")
for args in ("0",), ("x",), ("1", "0"), ("1", "2", "3"), ("99999999",):
    r = t.analyse(tr, *args)
    t.ok(r.rc and "rw-top" in r.err and not r.out, "%s is refused" % " ".join(args), r)

tr = trace()
p = subprocess.Popen([SONDE, "script", "-i", "-", t.script_path, "--json", "0.2"],
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     env=environment(SONDE_PYTHON=t.python))


def feed_until_rows():
    p.stdin.write(tr.stream())
    p.stdin.flush()
    for line in p.stdout:
        if json.loads(line)["rows"]:
            return json.loads(line)["rows"][0]


calls(tr, "read", 3, 0)
row = feed_until_rows()
t.is_((row["reads"], row["read_bytes"], row["writes"]), (3, 300, 0),
      "a table while the pipe is open")
t.ok(not any(json.loads(p.stdout.readline())["rows"] for _ in range(3)), "tables without events")
calls(tr, "write", 2, 10**9, ret=50)
row = feed_until_rows()
t.is_((row["reads"], row["writes"], row["written_bytes"]), (0, 2, 100),
      "the next tables count only new events")
p.send_signal(signal.SIGINT)
out, err = p.communicate(timeout=600)
last = json.loads(out.splitlines()[-1])
t.is_((p.returncode, err, last["complete"], last["rows"][0]["reads"], last["rows"][0]["writes"]),
      (0, b"", True, 3, 2), "the table after Ctrl-C counts all events")

probe = subprocess.run([SONDE, "record", "-q", "-a", "-o", t.dir + "/x.data", "-e",
                        "syscalls:sys_exit_read", "--", "true"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       env=environment())
for words, title in ((["script", "rw-top", "0.3"], b" threads\n"),
                     (["run", "rw-top", "-a", "--", "0.3"], b" threads\n"),
                     (["script", "syscall-top", "0.3"], b" per second\n"),
                     (["run", "syscall-top", "-a", "--", "0.3"], b" per second\n"),
                     (["run", "syscall-top"], b" per second\n")):
    if probe.returncode:
        t.skip("by its name", "nothing can be recorded: " + probe.stdout.decode()[-200:], False)
        continue
    p = subprocess.Popen([SONDE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=environment(), cwd=t.dir)
    limit = threading.Timer(600, p.send_signal, [signal.SIGINT])
    limit.start()
    tables = 0
    for line in p.stdout:
        tables += line.endswith(title)
        if tables == 2:
            break
    limit.cancel()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=600)
    t.ok(tables == 2 and p.returncode == 0 and b"in all, " in out and b"Traceback" not in err,
         "sonde %s: tables until Ctrl-C, and one after it" % " ".join(words), tables, p.returncode,
         out[-500:], err)
p = subprocess.run([SONDE, "run", "-l"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   env=environment())
t.ok(b"rw-top [INTERVAL] [LINES] [--json]" in p.stdout, "sonde run -l lists it", p.stdout)
t.done()
