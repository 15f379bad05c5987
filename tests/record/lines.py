# SPDX-License-Identifier: MIT
"""lines.py SONDE lines.txt: sonde accepts and refuses the command lines of perf record that perf
6.1 does.

Each line of the table has perf's exit status, sonde's under --compat perf-6.1, whether both leave
files of the same names (= or ~), and the words after "record". Each runs in a folder of its own,
with a file as its standard output. A signal is written as a shell does: 128 and its number. If perf
6.1 is installed, it runs the lines, too.
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from tap import CI, PERF_ENV, SONDE, few_symbols, why_not_record

JOBS = 16  # perf waits more than it works


def run(program, words):
    """(status, names of the files it left, stderr)"""
    with tempfile.TemporaryDirectory(prefix='sonde-lines-') as folder:
        work = os.path.join(folder, 'work')
        os.mkdir(work)
        env = dict(PERF_ENV, HOME=folder, SONDE_CONFIG='/dev/null')
        with open(os.path.join(folder, 'stdout'), 'w') as out:
            p = subprocess.run(program + words, env=env, cwd=work, stdin=subprocess.DEVNULL,
                               stdout=out, stderr=subprocess.PIPE, text=True, errors='replace',
                               timeout=600)
        files = sorted(re.sub(r'\d+', 'N', name) for name in os.listdir(work))
    return p.returncode if p.returncode >= 0 else 128 - p.returncode, files, p.stderr.strip()


def check(line, with_perf):
    perf_status, status, files, words = line.split(None, 3)
    words = shlex.split(words)
    ours = run([SONDE, '--compat', 'perf-6.1', 'record'], words)
    wrong = []
    if ours[0] != int(status):
        wrong.append('status %d, not %s: %s' % (ours[0], status, ours[2]))
    if with_perf:
        perf = run(['perf', 'record'], words)
        if perf[0] != int(perf_status):
            wrong.append('the status of perf is %d, not %s: %s' % (perf[0], perf_status, perf[2]))
        if (perf[1] == ours[1]) != (files == '='):
            wrong.append('perf leaves %r, sonde %r' % (perf[1], ours[1]))
    return wrong


def perf_there():
    return shutil.which('perf') and subprocess.run(['perf', 'version'], capture_output=True,
                                                   text=True).stdout.startswith('perf version 6.1.')


def main():
    if why_not_record():
        print('1..0 # SKIP ' + why_not_record())
        return False
    with open(sys.argv[2]) as f:
        lines = [line for line in f.read().splitlines() if line and line[0] != '#']
    with_perf, failed = perf_there(), False
    few_symbols()
    print('1..%d' % (len(lines) + 1))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for nr, (line, wrong) in enumerate(zip(lines, pool.map(lambda one: check(one, with_perf),
                                                               lines)), 1):
            failed |= bool(wrong)
            print('%sok %d - %s' % ('not ' if wrong else '', nr,
                                    line.split(None, 3)[3].replace('#', r'\#')))
            for text in wrong:
                print('# ' + text.replace('\n', ' '))
    is_missed = not with_perf and CI
    print('%sok %d - compared with perf%s' % ('not ' if is_missed else '', len(lines) + 1,
                                              '' if with_perf or is_missed
                                              else ' # SKIP perf 6.1 is not installed'))
    return failed or is_missed


sys.exit(main())
