#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The entries of a trace.dat that libkshark reads are those of sonde: of a recording that was
converted, and of one through ftrace's buffers.

    tests/roundtrip/kshark.py SONDE

libkshark takes files of trace-cmd by their ending, .dat.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SONDE = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
EVENTS = ['-e', 'sched:sched_switch,syscalls:sys_enter_read']
WORK = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=7', 'count=300', 'status=none']
LINE = re.compile(r'.*-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\w+): +(.*)')


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          errors='backslashreplace', timeout=120)


def skip(why):
    print('1..0 # SKIP ' + why)
    sys.exit(0)


def ours(path):
    found = []
    for line in run(SONDE, 'script', '--format', 'trace-cmd', '--ns', '-i',
                    path).stdout.splitlines()[1:]:
        pid, cpu, s, ns, name, text = LINE.match(line).groups()
        found.append((int(s) * 10**9 + int(ns), int(cpu), int(pid), name, text.strip()))
    return found


def theirs(program, path):
    lines = run(program, path).stdout.splitlines()
    found = []
    for line in lines[1:]:
        ts, cpu, pid, name, *text = line.split(' ', 4)
        found.append((int(ts), int(cpu), int(pid), name.split('/')[-1], ' '.join(text).strip()))
    return int(lines[0]) if lines else -1, found


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-kshark-') as top:
        top = pathlib.Path(top)
        include = ['-I/usr/include/' + d for d in ('kernelshark', 'tracecmd', 'traceevent')]
        made = run(os.environ.get('CC', 'cc'), '-o', top / 'kshark', HERE / 'kshark.c', *include,
                   '-lkshark')
        if made.returncode:
            skip('no libkshark-dev (with libjson-c-dev) to compile with')
        recorded = run(SONDE, 'record', '-q', *EVENTS, '-o', top / 'p.data', '--', *WORK)
        if recorded.returncode:
            skip('events cannot be recorded here')
        for version in '67':
            run(SONDE, 'convert', '--to', 'trace.dat', '--file-version', version, '-i',
                top / 'p.data', '-o', top / ('converted%s.dat' % version))
        run(SONDE, 'record', '--ftrace', '-q', *EVENTS, '-o', top / 'recorded.dat', '--', *WORK)
        print('1..3')
        failed = False
        for nr, name in enumerate(('converted6.dat', 'converted7.dat', 'recorded.dat'), 1):
            if not (top / name).exists():
                print('ok %d - %s # SKIP no such file could be made' % (nr, name))
                continue
            want = ours(top / name)
            count, got = theirs(top / 'kshark', top / name)
            is_same = len(want) > 300 and count == len(want) and got == want
            failed |= not is_same
            print('%sok %d - %s: %d entries' % ('' if is_same else 'not ', nr, name, len(want)))
            if not is_same:
                print('# %d entries counted, %d read, of %d' % (count, len(got), len(want)))
            for a, b in zip(got, want):
                if a != b:
                    print('# libkshark %s\n# sonde     %s' % (a, b))
                    break
    return failed


sys.exit(main())
