#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py SONDE DATA TABLE: sonde accepts and refuses the command lines that perf 6.1 does.

Each line of the table has perf's exit status (dies: it crashes), sonde's under --compat perf-6.1,
whether both print the same (= or ~), and the words after the program's name, with $D for DATA/text.
If perf 6.1 is installed, it runs the lines, too.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import settled  # noqa: E402, F401

SONDE, DATA, TABLE = (pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(),
                      sys.argv[3])
folder = tempfile.mkdtemp(prefix='sonde-lines-')
env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'TZ': 'UTC',
       'PERF_CONFIG': '/dev/null'}
env.update((k, os.environ[k]) for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ)


def run(program, words):
    p = subprocess.run(program + words, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=600)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def perf_there():
    perf = shutil.which('perf')
    return perf and subprocess.run([perf, 'version'], capture_output=True,
                                   text=True).stdout.startswith('perf version 6.1.')


def check(line, with_perf):
    perf_status, status, same, words = line.split(None, 3)
    words = shlex.split(words.replace('$D', str(DATA / 'text')))
    ours = run([str(SONDE), '--compat', 'perf-6.1'], words)
    wrong = []
    if ours[0] != int(status):
        wrong.append('status %d, not %s: %s' % (ours[0], status, ours[2][:200].strip()))
    if not with_perf:
        return wrong
    perf = run(['perf'], words)
    got = 'dies' if perf[0] < 0 else str(perf[0])
    if got != perf_status:
        wrong.append('the status of perf is %s, not %s' % (got, perf_status))
    if same == '=' and perf[1] != ours[1]:
        wrong.append('perf prints %d bytes, sonde %d, and they differ' %
                     (len(perf[1]), len(ours[1])))
    return wrong


def main():
    lines = [line for line in open(TABLE).read().splitlines() if line and line[0] != '#']
    with_perf, failed = perf_there(), False
    features = run([str(SONDE)], ['--version', '-v'])[1]
    print('1..%d' % (len(lines) + 1))
    for nr, line in enumerate(lines, 1):
        if '-F insn ' in line and b'capstone=' not in features:
            print('ok %d - %s # SKIP this build has no capstone' % (nr, line.split(None, 3)[3]))
            continue
        wrong = check(line, with_perf)
        failed |= bool(wrong)
        print('%sok %d - %s' % ('not ' if wrong else '', nr, line.split(None, 3)[3]))
        for text in wrong:
            print('# ' + text.replace('\n', ' '))
    if with_perf:
        print('ok %d - compared with perf' % (len(lines) + 1))
    elif os.environ.get('SONDE_CI') == '1':
        print('not ok %d - compared with perf: perf 6.1 is not installed' % (len(lines) + 1))
        failed = True
    else:
        print('ok %d - compared with perf # skip perf 6.1 is not installed' % (len(lines) + 1))
    shutil.rmtree(folder)
    return failed


sys.exit(main())
