#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py SONDE DATA: pager, colour and configuration, with a terminal as standard output."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from points import end_pty, open_on_pty, read_pty  # noqa: E402

SONDE, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SWITCH = ['script', '-i', os.path.join(DATA, 'text/switch.data')]
ASAN = os.environ.get('SONDE_ASAN')  # the sanitizer's library, which an interpreter must load first
SLOWER = 4 if ASAN else 1
results = []


def environment(folder, more):
    env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'TZ': 'UTC', 'TERM': 'xterm',
           'PERF_CONFIG': '/dev/null'}
    for kept in ('ASAN_OPTIONS', 'UBSAN_OPTIONS'):
        if kept in os.environ:
            env[kept] = os.environ[kept]
    env.update(more)
    return {k: v for k, v in env.items() if v is not None}


def on_terminal(words, folder, env, interrupt=False, rows=None):
    """(the text that a terminal shows, the exit status, negative: the signal)"""
    p, fd = open_on_pty([SONDE] + words, size=rows and (rows, 80), cwd=folder,
                        env=environment(folder, env))
    out = b''
    if interrupt:
        out = read_pty(fd, lambda out: b'waiting' in out, 10 * SLOWER)
        os.write(fd, b'\x03')
    status, rest = end_pty(p, fd, 10 * SLOWER)
    return (out + rest).replace(b'\r\n', b'\n'), status


def has_no_module():
    """Whether this build runs no scripts in Python."""
    with tempfile.NamedTemporaryFile(suffix='.py') as f:
        err = subprocess.run([SONDE, 'script', '-s', f.name, '-i', '/nonexistent'],
                             env=environment('/nonexistent', {}), capture_output=True).stderr
    return b'Python module' in err and b'is not installed' in err


def check(name, words, env=None, begins=None, holds=None, never=None, status=0, files=None, **more):
    if words[:2] == ['script', '-s'] and NO_MODULE:
        results.append((name + ' # SKIP this build has no Python module', []))
        return
    folder = tempfile.mkdtemp(prefix='sonde-terminal-')
    for path, text in (files or {}).items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
    env = {k: v and v.replace('FOLDER', folder) for k, v in (env or {}).items()}
    try:
        out, got = on_terminal(words, folder, env, **more)
    finally:
        shutil.rmtree(folder)
    wrong = []
    if got != status:
        wrong.append('status %s, not %s' % (got, status))
    if begins is not None and not out.startswith(begins):
        wrong.append('does not begin with %r' % begins)
    if holds is not None and holds not in out:
        wrong.append('does not hold %r' % holds)
    if never is not None and never in out:
        wrong.append('holds %r' % never)
    results.append((name, wrong + ['shown: %r' % out[:300]] if wrong else []))


def pager(letter):
    return 'sed s/^/%s:/' % letter


TEXT = b'              sh 30450'
SGR = b'\x1b['
PLAIN = {'NO_COLOR': '1'}


def pagers():
    long = {'PERF_PAGER': pager('P')}
    check('help longer than the screen', ['record', '--help'], long, b'P:sonde record:', rows=24)
    check('help of a long screen', ['record', '--help'], long, b'sonde record:', rows=999)
    check('help with --no-pager', ['record', '--help', '--no-pager'], long, b'sonde record:',
          rows=24)
    check('help COMMAND', ['help', 'script'], long, b'P:sonde script:', rows=24)
    check('SONDE_PAGER', SWITCH,
          {'SONDE_PAGER': pager('S'), 'PERF_PAGER': pager('P'), 'PAGER': pager('Q')}, b'S:' + TEXT)
    check('PERF_PAGER', SWITCH, {'PERF_PAGER': pager('P'), 'PAGER': pager('Q')}, b'P:' + TEXT)
    check('PAGER', SWITCH, {'PAGER': pager('Q')}, b'Q:' + TEXT)
    check('a pager that is cat', SWITCH, {'PERF_PAGER': 'cat', 'PAGER': pager('Q')}, TEXT)
    check('a pager that is nothing', SWITCH, {'PERF_PAGER': '', 'PAGER': pager('Q')}, TEXT)
    check('less and its options', SWITCH, {'PERF_PAGER': 'cat >/dev/null; echo LESS=$LESS'},
          b'LESS=FRSX\n')
    check('options of less in the environment', SWITCH,
          {'PERF_PAGER': 'cat >/dev/null; echo LESS=$LESS', 'LESS': 'X'}, b'LESS=X\n')
    for where, words in (('before', ['--no-pager'] + SWITCH), ('after', SWITCH + ['--no-pager'])):
        check('--no-pager %s the command' % where, words, {'PERF_PAGER': pager('P')}, TEXT)
    check('errors are shown in the pager', ['script', '-i', '/nonexistent'],
          {'PERF_PAGER': pager('P')}, b'P:sonde: cannot open', status=1)
    check('messages about a wrong command line are not', ['script', '--nosuch'],
          {'PERF_PAGER': pager('P')}, b'sonde: ', status=2)
    check('a pager that does not exist', SWITCH, {'PERF_PAGER': '/nonexistent'}, holds=b'not found')
    check('a pager that ends at once', SWITCH, {'PERF_PAGER': 'exit 3'}, never=b'sonde')
    check('a pager that ends before it has read everything',
          ['script', '-i', os.path.join(DATA, 'text/syscalls.data')], {'PERF_PAGER': 'head -n 1'},
          never=b'sonde')
    check('Ctrl-C waits for the pager', SWITCH,
          {'PERF_PAGER': "trap '' INT; echo waiting; sleep 1; cat >/dev/null; echo end"},
          holds=b'end\n', interrupt=True, status=-signal.SIGINT)
    python = {'LD_PRELOAD': ASAN, 'ASAN_OPTIONS': 'detect_leaks=0'} if ASAN else {}
    check('scripts have no pager', ['script', '-s', 'a.py'] + SWITCH[1:],
          dict(python, PERF_PAGER=pager('P')), b'begun\n',
          files={'a.py': 'def trace_begin():\n    print("begun")\n'})


def colours():
    plain = {'PERF_PAGER': 'cat'}
    check('colour on a terminal', SWITCH, plain, holds=SGR)
    check('colour through a pager', SWITCH, {'PERF_PAGER': 'head -n 1'}, holds=SGR)
    check('no colour with NO_COLOR', SWITCH, dict(plain, NO_COLOR='1'), never=SGR)
    check('an empty NO_COLOR has no effect', SWITCH, dict(plain, NO_COLOR=''), holds=SGR)
    check('an option overrides NO_COLOR', SWITCH + ['--color'], dict(plain, NO_COLOR='1'),
          holds=SGR)
    check('no colour on a dumb terminal', SWITCH, dict(plain, TERM='dumb'), never=SGR)
    check('--color=never', SWITCH + ['--color=never'], plain, never=SGR)
    check('--no-color', SWITCH + ['--no-color'], plain, never=SGR)
    check('no colour under --compat', ['--compat', 'perf-6.1'] + SWITCH + ['--color'], plain,
          never=SGR)
    check('--color with a wrong value', SWITCH + ['--color=red'], plain,
          b'sonde: script: --color takes', status=2)
    for words, colour in (([], False), (['--color'], True), (['--color=auto'], False)):
        out = subprocess.run([SONDE] + SWITCH + words, env=environment('/nonexistent', {}),
                             capture_output=True).stdout
        results.append(('in a pipe with %s' % (words or 'nothing'), [] if (SGR in out) == colour
                        else [repr(out[:200])]))


def own(text):
    return {'.config/sonde/config': text}


def configurations():
    cat = {'PERF_PAGER': None, 'PAGER': None, 'NO_COLOR': '1'}
    perf = dict(cat, PERF_CONFIG=None)
    check('perf: pager.script is false', SWITCH, dict(perf, PERF_PAGER=pager('P')), TEXT,
          files={'.perfconfig': '[pager]\n\tscript = false\n'})
    check('perf: pager.script names a pager', SWITCH, perf, b'D:' + TEXT,
          files={'.perfconfig': '[pager]\n\tscript = sed s/^/D:/\n'})
    check('the environment overrides the file', SWITCH, dict(perf, PERF_PAGER=pager('P')),
          b'P:' + TEXT, files={'.perfconfig': '[pager]\n\tscript = sed s/^/D:/\n'})
    check("sonde's file overrides perf's", SWITCH, perf, b'O:' + TEXT,
          files=dict(own('[script]\npager = sed s/^/O:/\n'),
                     **{'.perfconfig': '[pager]\n\tscript = sed s/^/D:/\n'}))
    check('SONDE_CONFIG', SWITCH, dict(cat, SONDE_CONFIG='FOLDER/x'), b'X:' + TEXT,
          files=dict(own('[script]\npager = sed s/^/O:/\n'), x='[script]\npager = sed s/^/X:/\n'))
    check('XDG_CONFIG_HOME', SWITCH, dict(cat, XDG_CONFIG_HOME='FOLDER/xdg'), b'X:' + TEXT,
          files={'xdg/sonde/config': '[script]\npager = sed s/^/X:/\n'})
    check('PERF_CONFIG_NOGLOBAL', SWITCH, dict(perf, PERF_CONFIG_NOGLOBAL='1', PAGER='cat'), TEXT,
          files={'.perfconfig': '[pager]\n\tscript = sed s/^/D:/\n'})
    check('script.color', SWITCH, {'PERF_PAGER': 'cat'}, never=SGR,
          files=own('[script]\ncolor = never\n'))
    check('script.compat', SWITCH + ['--nosuch'], files=own('[script]\ncompat = perf-6.1\n'),
          status=129)
    check('--compat overrides the file', ['--compat', 'none'] + SWITCH + ['--nosuch'],
          files=own('[script]\ncompat = perf-6.1\n'), status=2)
    check('a wrong value', SWITCH, begins=b'sonde: ',
          holds=b"/config:2: script.compat does not take 'perf-5'",
          files=own('[script]\ncompat = perf-5\n'), status=2)
    check('an unknown key', SWITCH, {'PERF_PAGER': 'cat'},
          holds=b'/config:2: no key script.colour (nearest: script.color)',
          files=own('[script]\ncolour = never\n'))
    check('a wrong line of sonde\'s', SWITCH, holds=b'/config:1: no [section]',
          files=own('color\n'), status=2)
    check('a wrong line of perf\'s', SWITCH, dict(perf, PAGER='cat'),
          holds=b'/.perfconfig:3: no [section]', files={'.perfconfig': '[a]\nb = c\nd\n'})
    check('script.python', ['script', '-s', 'a.py'] + SWITCH[1:],
          holds=b"script.python: there is no program '/no/python'",
          files=dict(own('[script]\npython = /no/python\n'), **{'a.py': 'pass\n'}), status=1)
    check('script.python with an empty SONDE_PYTHON', ['script', '-s', 'a.py'] + SWITCH[1:],
          {'SONDE_PYTHON': ''}, holds=b"script.python: there is no program '/no/python'",
          files=dict(own('[script]\npython = /no/python\n'), **{'a.py': 'pass\n'}), status=1)
    check('SONDE_PYTHON overrides script.python', ['script', '-s', 'a.py'] + SWITCH[1:],
          {'SONDE_PYTHON': '/no/other'}, holds=b"SONDE_PYTHON: there is no program '/no/other'",
          files=dict(own('[script]\npython = /no/python\n'), **{'a.py': 'pass\n'}), status=1)
    check('--version -v names the files', ['--version', '-v'], perf, holds=b'/.perfconfig\n',
          files={'.perfconfig': ''})
    check('files that are not named are not read', ['--version', '-v'], never=b'.perfconfig',
          files={'.perfconfig': ''})
    if os.geteuid() == 0:
        folder = tempfile.mkdtemp(prefix='sonde-terminal-')
        path = os.path.join(folder, '.perfconfig')
        with open(path, 'w') as f:
            f.write('[pager]\nscript = false\n')
        os.chown(path, 12345, 12345)
        p = subprocess.run([SONDE, '--version', '-v'],
                           env=environment(folder, {'PERF_CONFIG': None}), capture_output=True)
        shutil.rmtree(folder)
        good = b'belongs neither to you nor to root' in p.stderr and b'.perfconfig' not in p.stdout
        results.append(('another user\'s file is not read', [] if good else [repr(p.stderr)]))
    out = subprocess.run([SONDE, '--exec-path=/some/where', 'script', '-s', '/dev/stdin'] +
                         SWITCH[1:],
                         env=environment('/nonexistent', {}), capture_output=True, input=b'').stderr
    results.append(('a script without a language', [] if b'language' in out else [repr(out)]))


def complete_lines():
    """Each line of a message is one write, so that output of a recorded command to the same stderr
    does not split it.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # a packet for each write
    for words in ['info', '/none\x1bhere'], ['nonsense'], ['script', '-s', '/none.py', *SWITCH[1:]]:
        subprocess.run([SONDE] + words, env=environment('/nonexistent', {}),
                       stdout=subprocess.DEVNULL, stderr=theirs)
        ours.setblocking(False)
        seen = []
        try:
            while True:
                seen.append(ours.recv(65536))
        except BlockingIOError:
            pass
        good = seen and all(w.endswith(b'\n') for w in seen)
        results.append(('%s: each line is one write' % words[0], [] if good else [repr(seen[:5])]))


NO_MODULE = has_no_module()
complete_lines()
pagers()
colours()
configurations()
print('1..%d' % len(results))
for nr, (name, wrong) in enumerate(results, 1):
    print('%sok %d - %s' % ('not ' if wrong else '', nr, name))
    for line in wrong:
        print('# ' + line)
sys.exit(any(wrong for _, wrong in results))
