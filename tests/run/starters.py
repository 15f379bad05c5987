# SPDX-License-Identifier: MIT
"""sonde new: what it writes runs live and over recordings, and prints a table.

    starters.py SONDE CALLS
"""
import os
import pwd
import re
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from command import CALLS, EVENT, sonde  # noqa: E402
from tap import SCRIPT_ENV, SONDE, case, few_symbols, need, run, same  # noqa: E402


def row(text, *words):
    """A line of a table has all words."""
    need(any(set(words) <= set(line.replace(',', '').split()) for line in text.splitlines()), text)


STARTS = {'py': '@on(', 'pl': '\non '}  # of a handler


@case('a script for events of this machine runs live and over a recording, in both languages')
def machine():
    for suffix, on in STARTS.items():
        file, data = 'live.' + suffix, 'live-%s.data' % suffix
        sonde('new', file, '-e', EVENT + ',sched:sched_process_exit', '-e', 'cpu-clock')
        p = sonde('run', '-o', data, file, '--', CALLS, '-n', '900')
        row(p.stdout, EVENT, 'calls', '900')
        need('sched_process_exit  comm=calls' in p.stdout, p.stdout)
        same(p.stderr, '')
        again = sonde('run', '-i', data, file)
        same([l for l in p.stdout.splitlines() if not l.isdigit()], again.stdout.splitlines())
        sonde('new', 'pattern', '--lang', {'py': 'python', 'pl': 'perl'}[suffix], '-e', 'sched:*')
        p = sonde('run', 'pattern.' + suffix, '--', CALLS, '-n', '1')
        row(p.stdout, 'calls')
        need('  text=' in p.stdout, p.stdout)
        with open('pattern.' + suffix) as f:
            need(f.read().count(on) == 1, 'a pattern has one handler')


@case('what both languages print is equal')
def equal():
    sonde('record', '-q', '-o', 'r.data', '-e', EVENT + ',sched:sched_process_ex*,cpu-clock', '--',
          CALLS, '-n', '700')
    for suffix in STARTS:
        sonde('new', 'r.' + suffix, '-i', 'r.data')
    p, q = (sonde('run', '-i', 'r.data', 'r.' + suffix).stdout for suffix in STARTS)
    row(p, EVENT, 'calls', '700')
    same(p, q)


@case('events, files and languages that cannot be are refused, and nothing is written')
def refused():
    with open('there.py', 'w') as f:
        f.write('mine')
    for words, status, word in (
            (['there.py', '-e', EVENT], 1, 'exists already'),
            (['x.py', '-e', 'sched:sched_swich'], 2, "did you mean 'sched:sched_switch'"),
            (['x.py', '-e', 'sched:no_such*'], 2, 'no tracepoint'),
            (['x.py', '-e', 'no-such-event'], 2, 'no-such-event'),
            (['x.py', '-e', '{cpu-clock,dummy}'], 2, 'one by one'),
            (['x.py', '-e', ','], 2, 'needs the name'), (['x.py'], 2, '-e EVENTS'),
            (['x.py', '-e', EVENT, '-i', 'y'], 2, 'leave out -e'),
            (['x.py', 'y', '-e', EVENT], 2, "also 'y'"), ([], 2, 'name the script'),
            (['x.lua', '-e', EVENT], 2, 'Lua'), (['x', '--lang', 'cobol', '-e', EVENT], 2, 'cobol'),
            (['x.pl', '--lang', 'python', '-e', EVENT], 2, 'x.pl'),
            (['x.py', '-i', 'no.data'], 1, 'no.data'),
            (['no/x.py', '-e', EVENT], 1, 'cannot write')):
        p = sonde('new', *words, status=status)
        need(word in p.stderr, p.stderr)
        need(not os.path.exists('x.py') and not os.path.exists('x.pl'), 'something was written')
    with open('there.py') as f:
        same(f.read(), 'mine')


@case('lines are at most 100 columns wide')
def wide():
    with open('/sys/kernel/tracing/available_events') as f:
        names = [n for n in f.read().split() if n.startswith(('block:', 'sched:', 'kvm:'))]
    for suffix in STARTS:
        sonde('new', 'wide.' + suffix, '-e', ','.join(names))
        with open('wide.' + suffix) as f:
            text = f.read()
        same([l for l in text.splitlines() if len(l) > 100], [])
        need(any(re.match(r' {8,9}\w+ ?=', l) for l in text.splitlines()), 'no line is broken')
    with open('wide.py') as f:
        compile(f.read(), 'wide.py', 'exec')
    p = sonde('run', '-a', '--dry-run', 'wide.pl')
    need(all(n in p.stdout for n in names), p.stdout)


@case('under sudo the file is the user\'s')
def under_sudo():
    user = pwd.getpwnam('nobody')
    os.makedirs('theirs')
    os.chmod('.', 0o755)
    os.chmod('theirs', 0o777)
    env = dict(SCRIPT_ENV, SUDO_UID=str(user.pw_uid), SUDO_GID=str(user.pw_gid),
               SUDO_USER='nobody', SUDO_COMMAND='sonde')
    p = subprocess.run([SONDE, 'new', 'theirs/x.py', '-e', EVENT], env=env, capture_output=True,
                       text=True)
    same((p.returncode, p.stderr.startswith('sonde: wrote')), (0, True), p.stderr)
    st = os.stat('theirs/x.py')
    same((st.st_uid, st.st_gid), (user.pw_uid, user.pw_gid))


few_symbols()
run()
