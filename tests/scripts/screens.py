#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of all shipped scripts fit terminals of several sizes; nothing is cut in a pipe or on a
dumb terminal. A live screen follows the terminal's size.

    tests/scripts/screens.py SONDE
"""

import os
import re
import subprocess
import sys
import time
import unicodedata

from scripttest import HERE, SONDE, Tests, environment, run

sys.path.insert(0, os.path.dirname(HERE))
from points import end_pty, open_on_pty, read_pty, resize  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "analyses"))
from known import KNOWN  # noqa: E402
from scheduler import SLEEP, Scheduler  # noqa: E402

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts")
SLOWER = 4 if os.environ.get("SONDE_ASAN") else 1
SIZES = ((24, 80), (10, 40), (3, 9), (24, 1))
HOME, LINE_END, END = "\x1b[H", "\x1b[K\n", "\x1b[J"  # of a screen that is drawn over the last one
NAMES = ["a-long-name-%03d" % i for i in range(40)] + ["名前は長い", "e\u0301tude-e\u0301tude"]

t = Tests()


def cells(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF"
               else 1 for c in line)


def trace():
    """A recording with events for every script, and more tasks than most screens have lines."""
    tr = Scheduler().declare_more()
    for i, name in enumerate(NAMES):
        tr.task(100 + i, name, pid=100 + i // 2)
    return tr


def fill(tr, at=10**9):
    for i in range(len(NAMES)):
        tid, now = 100 + i, at + i * 10**6
        for number in range(3):
            tr.event("raw_syscalls:sys_enter", now + 1000 * number, tid=tid, id=number + 3 * i)
            tr.event("raw_syscalls:sys_exit", now + 1000 * number + 500, tid=tid, id=number + 3 * i,
                     ret=-2 - number)
        for call in "read", "write":
            tr.event("syscalls:sys_enter_" + call, now, tid=tid, fd=3, count=123456789012)
            tr.event("syscalls:sys_exit_" + call, now + 600, tid=tid,
                     ret=-5 if i % 2 else 1234567890)
        tr.event("syscalls:sys_enter_futex", now + 700, tid=tid, uaddr=0x7fff12345678 + 64 * i,
                 op=0)
        tr.event("syscalls:sys_exit_futex", now + 1700, tid=tid)
        tr.event("irq:irq_handler_entry", now, irq=i,
                 name="an-interrupt-of-a-very-long-name-%d" % i)
        tr.event("irq:irq_handler_exit", now + 900, irq=i, ret=1)
        for event in "raise", "entry", "exit":
            tr.event("irq:softirq_" + event, now + 2000 * len(event), vec=i % 10)
        for event in "bio_queue", "rq_issue", "rq_complete":
            tr.event("block:block_" + event, now + 1000 * len(event), tid=tid, dev=(i << 20) + i,
                     sector=8, nr_sector=8, rwbs="W")
        tr.event("kmem:mm_page_alloc", now, tid=tid, pfn=i, order=i % 11)
        tr.event("net:net_dev_queue", now, skbaddr=i + 1, len=100, name="network-device%d" % i)
        tr.event("net:net_dev_xmit", now + 1000, skbaddr=i + 1, len=100,
                 name="network-device%d" % i)
        for step, event in enumerate(("queue_work", "execute_start", "execute_end")):
            tr.event("workqueue:workqueue_" + event, now + 100 * step, work=i,
                     function=0xffff800000000000 + i)
        if not NAMES[i].isascii():
            continue
        tr.switch(now, tid, 0, SLEEP).waking(now + 1000, tid,
                                             by=100).woken(now + 1100, tid,
                                                           by=100).switch(now + 10**5 + i, 0, tid)
    return tr


def open_terminal(words, rows, columns, stdin=subprocess.DEVNULL, **env):
    """A process whose stdout is a terminal of this size, and the terminal's other end."""
    return open_on_pty(words, (rows, columns), stdin=stdin, stderr=subprocess.PIPE, cwd=t.dir,
                       env=environment(**dict({"SONDE_PYTHON": t.python, "TERM": "xterm",
                                               "PERL_HASH_SEED": "0"}, **env)))


def text_of(shown):
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


def receive(fd, until=lambda text: False):
    return text_of(read_pty(fd, lambda out: until(text_of(out)), 60 * SLOWER))


def shown(words, rows, columns, **env):
    p, fd = open_terminal(words, rows, columns, **env)
    status, out = end_pty(p, fd, 60 * SLOWER)
    return text_of(out), p.stderr.read().decode("utf-8", "replace"), status


# ---- reports -----------------------------------------------------------------------------------

data = fill(trace()).write(t.dir + "/all.data")
scripts = sorted(name for name in os.listdir(SCRIPTS) if re.search(r"\.(py|pl)$", name) and
                 name not in ("analysis.py", "scheduling.py", "screen.py"))
WORDS = {"rw-by-file.pl": [NAMES[0]]}
MORE = [["who-woke-whom.py", "--tree"], ["who-woke-whom.py", "--by", "thread"],
        ["syscall-latency.py", "--by", "thread"],
        ["syscall-top.py", "--by", "process"], ["syscall-top.py", "--top", "0"],
        ["rw-top.py", "1", "100"]]
EVENT_LINES = ("flags-and-symbols.pl",)  # prints events before its table
for name, *words in [[name] + WORDS.get(name, []) for name in scripts] + MORE:
    command = [SONDE, "script", "-i", data, os.path.join(SCRIPTS, name)] + words
    what = " ".join([name] + words)
    plain = run(command, env=environment(SONDE_PYTHON=t.python, PERL_HASH_SEED="0"), cwd=t.dir)
    t.ok(not plain.rc and len(plain.out.splitlines()) > 4 and "\x1b" not in plain.out,
         "%s prints something" % what, plain)
    t.is_(shown(command, 10, 40, TERM="dumb")[0], plain.out,
          "%s: plain text on a dumb terminal" % what)
    faults = []
    for rows, columns in SIZES:
        out, err, status = shown(command, rows, columns)
        lines = out.split("\n\n")[-1].splitlines() if name in EVENT_LINES else out.splitlines()
        if (status or "Traceback" in err or " line " in err or "\x1b" in out or not lines or
            max(map(cells, lines)) > columns):
            faults.append("%d x %d: status %d, %r, widest %d" %
                          (columns, rows, status, err, max(map(cells, lines or [""]))))
    t.ok(not faults, "%s: no row is wider than the terminal" % what, *faults)

wide = shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py"], 60, 300)[0]
plain = run([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py"],
            env=environment(SONDE_PYTHON=t.python)).out
t.is_(wide, plain, "a terminal that is large enough shows the text of a pipe")
t.is_(shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py"], 12, 60, TERM="")[0],
      plain, "TERM unset is a dumb terminal")
t.is_(shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py"], 0, 0, COLUMNS="300",
            LINES="60")[0], plain,
      "COLUMNS and LINES for a terminal without a size")
low = shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py"], 12, 200)[0].splitlines()
t.ok(len(low) < 12 and "more; --top 0 shows all" in low[-1],
     "a table is no higher than the terminal", *low)
low = shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-latency.py", "--top", "15"], 12,
            200)[0].splitlines()
t.ok(len(low) > 15, "a table has as many rows as --top asks for", *low)
narrow = shown([SONDE, "script", "-i", data, SCRIPTS + "/syscall-top.py", "--by", "process"], 40,
               80)[0]
t.ok("no room for" in narrow and "mean" in narrow and " max" in narrow and
     "p50" not in narrow.splitlines()[1],
     "the least important columns are left out first, and named", narrow)
thin = shown([SONDE, "script", "-i", data, SCRIPTS + "/rw-by-process.py"], 24, 70)[0]
t.ok("a-long-name-000" in thin and "per call" in thin, "padding is left out first", thin)

# ---- live screens ------------------------------------------------------------------------------


def frames(text):
    """The complete screens. Nothing is cleared before there is new text."""
    found = re.findall(re.escape(HOME) + "(.*?)" + re.escape(END), text, re.S)
    return ["" if frame.count("\n") != frame.count(LINE_END) or "\x1b" in
            frame.replace(LINE_END, "") else frame.replace(LINE_END, "\n") for frame in found]


def misfits(text, rows, columns):
    return [f for f in frames(text) if not f or f.count("\n") > rows - 1 or
            max(map(cells, f.split("\n"))) > columns]


TITLES = {"syscall-top.py": r"per second|calls", "rw-top.py": "threads"}
for name, words in (("syscall-top.py", ["--by", "process", "--top", "0"]), ("rw-top.py", ["100"])):
    def screen(interval, rows, columns, **env):
        return open_terminal([SONDE, "script", "-i", "-", os.path.join(SCRIPTS, name),
                              str(interval), *words], rows, columns,
                             stdin=subprocess.PIPE, **env)

    tr = trace()
    p, fd = screen(0.3, 12, 60)
    p.stdin.write(fill(tr).stream())
    p.stdin.flush()
    out = receive(fd, lambda text: "a-long" in text and text.endswith(END) and
                  text.count(END) > 1)
    t.ok(frames(out) and not misfits(out, 12, 60) and any(f.count("\n") >= 10 for f in frames(out)),
         "%s: a screen fits" % name, repr(out))
    for rows, columns in (30, 150), (6, 25), (4, 12):
        resize(fd, rows, columns)
        receive(fd, lambda text: text.count(END) >= 1)  # may still be an older screen
        p.stdin.write(fill(tr, 2 * 10**9).stream())
        p.stdin.flush()
        out = receive(fd, lambda text: text.count(END) > 3)
        t.ok(len(frames(out)) > 2 and not misfits(out, rows, columns),
             "%s: resized to %d x %d" % (name, columns, rows), repr(out))
    p.stdin.close()
    out = receive(fd)
    widths = map(cells, out.split("in all")[-1].split("\n"))
    t.ok(p.wait() == 0 and "in all" in out and max(widths) <= 12,
         "%s: the last screen after resizing" % name, repr(out), p.stderr.read())
    os.close(fd)

    tr = trace()
    p, fd = screen(3, 12, 60)
    p.stdin.write(fill(tr).stream())
    p.stdin.flush()
    receive(fd, lambda text: "a-long" in text)
    began = time.monotonic()
    resize(fd, 8, 30)
    out = receive(fd, lambda text: any("a-long" in f for f in frames(text)))
    t.ok("a-long" in frames(out)[-1] and not misfits(out, 8, 30),
         "%s: a new size redraws the screen at once" % name,
         time.monotonic() - began, repr(out))
    p.stdin.close()
    receive(fd)
    p.wait()
    os.close(fd)

    tr = trace()
    p, fd = screen(0.2, 12, 60, TERM="dumb")
    p.stdin.write(fill(tr).stream())
    p.stdin.flush()
    out = receive(fd, lambda text: len(re.findall(TITLES[name], text)) > 3)
    p.stdin.close()
    out += receive(fd)
    t.ok(p.wait() == 0 and "\x1b" not in out and "\n\n" in out and
         max(map(cells, out.split("\n"))) > 60,
         "%s: plain text on a dumb terminal" % name, repr(out), p.stderr.read())
    os.close(fd)

# A recorder and its script, and Ctrl-C of their terminal.
p = run([SONDE, "record", "-q", "-a", "-e", "raw_syscalls:sys_enter", "-o",
         os.path.join(t.dir, "x.data"), "--", "true"])
for name, words in (("syscall-top", ["script", "syscall-top", "1"]),
                    ("rw-top", ["script", "rw-top", "1"]),
                    ("syscall-top by sonde run", ["run", "syscall-top", "-a", "--", "0.4"]),
                    ("rw-top by sonde run", ["run", "rw-top"])):
    if p.rc:
        t.skip("%s: Ctrl-C of a live screen" % name,
               "all cpus cannot be recorded: " + p.err.strip().split("\n")[0],
               installable=False)
        continue
    q, fd = open_terminal([SONDE, *words], 12, 60)
    out = receive(fd, lambda text: text.count(END) > 1)
    os.write(fd, b"\x03")
    status, rest = end_pty(q, fd, 60 * SLOWER)
    err = q.stderr.read().decode("utf-8", "replace")
    t.ok(out.count(END) > 1 and not misfits(out, 12, 60) and status == 0 and
         (err, "Traceback" in text_of(rest)) == ("", False),
         "%s: Ctrl-C of a live screen ends it without a message" % name, status, err,
         repr(text_of(rest)[-300:]))

t.done()
