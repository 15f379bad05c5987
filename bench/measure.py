# SPDX-License-Identifier: MIT
"""Runs commands and measures their cost.

CPU seconds are user+sys of the process and of the children that it waited for (wait4). Memory is
VmHWM less RssFile of the process: its largest resident memory without mapped file pages, which the
kernel may drop. A thread reads /proc/PID/status every 20 ms and keeps the largest value of both. An
exec starts a new memory image: VmHWM becomes smaller, and measuring starts again. If a mapping ends
between two reads, the result is too large by at most what the process touched in 20 ms.
"""
import collections
import os
import statistics
import subprocess
import tempfile
import threading
import time

# Seconds, seconds, bytes (None: not measured).
Cost = collections.namedtuple('Cost', 'cpu wall memory')


class Failed(Exception):
    pass


def clean_environment(**more):
    """An environment without the user's configuration."""
    return dict({'PATH': os.environ['PATH'], 'HOME': '/nonexistent', 'LC_ALL': 'C', 'TZ': 'UTC',
                 'PERF_CONFIG': '/dev/null', 'SONDE_PYTHON': '/usr/bin/python3',
                 'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0'}, **more)


def _watch(pid, done, seen):
    while True:
        try:
            with open('/proc/%d/status' % pid) as f:
                status = dict(line.split(':', 1) for line in f)
            peak, files = (int(status[k].split()[0]) * 1024 for k in ('VmHWM', 'RssFile'))
        except (OSError, KeyError, ValueError):  # between exit and wait it has no memory
            return
        if peak < seen[0]:
            seen[:] = peak, files
        else:
            seen[:] = peak, max(seen[1], files)
        if done.wait(0.02):
            return


def run(command, stdout=os.devnull, memory=True, env=None, good=(0,), stdin=None):
    """Costs of one run; raises Failed with the output of a command that fails. stdin: a file,
    through a pipe."""
    seen, done = [0, 0], threading.Event()
    with open(stdout, 'wb') as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        cat = subprocess.Popen(['cat', stdin], stdout=subprocess.PIPE) if stdin else None
        try:
            p = subprocess.Popen(command, stdin=cat.stdout if cat else subprocess.DEVNULL,
                                 stdout=out, stderr=err, env=env or clean_environment())
        except OSError as e:
            raise Failed(str(e))
        finally:
            if cat:
                cat.stdout.close()
        watcher = threading.Thread(target=_watch, args=(p.pid, done, seen), daemon=True)
        if memory:
            watcher.start()
        _, status, used = os.wait4(p.pid, 0)
        wall = time.monotonic() - begin
        p.returncode = os.waitstatus_to_exitcode(status)
        done.set()
        if cat:
            cat.wait()
        if memory:
            watcher.join()
        if p.returncode not in good:
            err.seek(0)
            said = err.read().decode('utf-8', 'replace').strip().splitlines()
            raise Failed('%s: exit status %d%s' % (' '.join(command), p.returncode,
                                                   ''.join(': ' + s for s in said[:1])))
    return Cost(used.ru_utime + used.ru_stime, wall, seen[0] - seen[1] if memory and seen[0]
                else None)


def median(costs):
    """The median of each figure."""
    memory = [c.memory for c in costs if c.memory is not None]
    return Cost(statistics.median(c.cpu for c in costs), statistics.median(c.wall for c in costs),
                statistics.median(memory) if memory else None)


def print_table(table, markdown, left):
    """Prints rows of cells; the first row has the headings; left: columns of text."""
    if markdown:
        for i, row in enumerate(table):
            print('| ' + ' | '.join(row) + ' |')
            if not i:
                print('|' + '|'.join(' --- ' if n in left else ' ---: ' for n in range(len(row))) +
                      '|')
        return
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print('  '.join(c.ljust(w) if i in left else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())
