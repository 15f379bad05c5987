#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shell.py SONDE DATA: sonde shell, on a terminal and without one."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from points import ENV, UNDER_ASAN, done, end_pty, open_on_pty, read_pty, say, skip  # noqa: E402

SONDE, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DEMO, CHAINS = DATA + '/demo.data', DATA + '/text/chains.data'
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
FOLDER = tempfile.mkdtemp(prefix='sonde-shell-')
SECONDS = 60
# The sanitizer's library is for the interpreter; SONDE itself has it linked.
MORE = {'LD_PRELOAD': os.environ['SONDE_ASAN'], 'PYTHONMALLOC': 'malloc',
        'ASAN_OPTIONS': 'detect_leaks=0'} if UNDER_ASAN else {}


def environment(**more):
    return {**ENV, 'HOME': FOLDER, 'TERM': 'xterm', 'PYTHONDONTWRITEBYTECODE': '1',
            'SONDE_PYTHON': PYTHON, 'INPUTRC': '/dev/null', 'IPYTHONDIR': FOLDER + '/ipython',
            **MORE, **more}


def call(*words, program='', **more):
    p = subprocess.run([SONDE, 'shell', *words], input=program.encode(), capture_output=True,
                       env=environment(**more), cwd=FOLDER, timeout=SECONDS)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def on_terminal(files, lines, prompt=b'>>> ', **more):
    """What a terminal shows and the status; each line is written after a prompt."""
    p, fd = open_on_pty([SONDE, 'shell', *files], size=(50, 150), cwd=FOLDER,
                        env=environment(**more))
    out = b''
    for line in [*lines, '\x04']:
        out += read_pty(fd, lambda got: prompt in got, SECONDS)
        os.write(fd, line.encode() + (b'' if line == '\x04' else b'\r'))
    status, rest = end_pty(p, fd, SECONDS)
    return (out + rest).decode('utf-8', 'replace').replace('\r\n', '\n'), status


def without_terminal():
    r = call(DEMO, program='print(rec.count(), rec.path, sonde.__name__, sorted(globals()))\n')
    say(r[0] == 0 and r[1].split()[0].isdigit() and "['__builtins__', '__doc__', '__name__', "
        "'rec', 'sonde']" in r[1], 'standard input is a program with rec and sonde', str(r))
    shutil.copy(DEMO, FOLDER + '/perf.data')
    say(call(program='print(rec.count())')[1] == r[1].split()[0] + '\n',
        'perf.data is opened if no file is named')
    r = call(DEMO, CHAINS, program='print(len(rec.path), {e.index for e in rec})')
    say(r == (0, '2 {0, 1}\n', ''), 'several files are merged', str(r))
    r = call(DEMO, program='1 / 0')
    say(r[0] == 1 and 'ZeroDivisionError' in r[2], 'a program that raises: status 1', str(r))
    say('shell.py' not in r[2] and 'line 1, in <module>' in r[2], 'its traceback begins in it',
        r[2])
    r = call(DEMO, program='print(1))')
    say(r[0] == 1 and 'SyntaxError' in r[2] and 'shell.py' not in r[2].split('SyntaxError')[1],
        'a program that is none: status 1', str(r))
    r = call(DEMO, program='import sys; sys.exit(3)')
    say(r[0] == 3, 'a program that exits: its status', str(r))
    r = call('-', program='print(1)')
    say(r == (1, '', 'sonde: shell: standard input is for commands: name a file\n'),
        'a recording on standard input is refused', str(r))
    r = call(DATA + '/none.data')
    say(r[0] == 1 and r[2].startswith('sonde: ') and 'Traceback' not in r[2],
        'a recording that is not there: a line, status 1', str(r))
    r = call(DEMO, '--interpreter', '/bin/false')
    say(r[0] == 1 and 'no Python' in r[2], 'an interpreter that is no Python is refused', str(r))
    r = call(DEMO, '-v')
    say('runs the shell (SONDE_PYTHON)' in r[2], '-v prints which Python, and why', str(r))
    for name in 're.py', 'readline.py', 'importlib.py':
        with open(os.path.join(FOLDER, name), 'w') as f:
            f.write('raise SystemExit("shadowed")\n')
    r = call(DEMO, program='print(sonde.__file__)')
    say(r[0] == 0 and r[1].endswith('/module/sonde/__init__.py\n'),
        'files of the current folder do not replace modules while the shell starts', str(r))
    for name in 're.py', 'readline.py', 'importlib.py':
        os.unlink(os.path.join(FOLDER, name))


def in_python():
    shown, status = on_terminal([DEMO], ['print(6 * 7, sorted(globals()))'])
    lines = [line for line in shown.split('\n') if line]
    say(status == 0 and lines[0].endswith("rec = sonde.open('%s')" % DEMO) and
        'event types in rec.schemas; Tab completes' in lines[1] and lines[2].startswith('>>> '),
        'a banner of two lines', shown)
    say("42 ['__builtins__', '__doc__', '__name__', 'rec', 'sonde']" in shown,
        'the user has rec and sonde, and nothing else', shown)
    p = subprocess.run([PYTHON, '-c', 'import readline'], stderr=subprocess.DEVNULL)
    if p.returncode:
        return skip('completion', 'this Python has no readline')
    e = 'e = next(iter(rec.select("sched:sched_switch")))'
    for name, typed, holds in (
            ('events in select()', 'rec.select("sched:sched_sw\t").count() > -5', 'True'),
            ('events in events=', 'sonde.open(rec.path[0], events="sched:sched_sw\t") and "ye" "s"',
             "'yes'"),
            ('events of table()', 'rec.table("sched:sched_sw\t", ["next_pi\t"]).num_rows > -5',
             'True'),
            ('fields of an event', 'e["next_com\t"] == e.f.next_comm', 'True'),
            ('fields of Event.f', 'e.f["next_com\t"] == e.next_comm', 'True'),
            ('fields after a dot', 'e.next_com\t == e["next_comm"]', 'True'),
            ('fields in where=', 'rec.select(where="common_pi\t >= 0").count() > -5', 'True'),
            ('fields in by=', 'len(rec.count(by="prev_pri\t")) > -5', 'True'),
            ('names of schemas', 'rec.schemas["sched:sched_sw\t"].id > -5', 'True')):
        shown, status = on_terminal([DEMO], [e, typed])
        say(status == 0 and '\n' + holds + '\n' in shown and 'Error' not in shown,
            'Tab completes ' + name, shown)
    return None


def in_ipython():
    others = glob.glob(os.path.expanduser('~/.pyenv/versions/3.*/bin/python3'))
    found = [p for p in [PYTHON, *others]
             if not subprocess.run([p, '-c', 'import IPython'], stderr=subprocess.DEVNULL,
                                   env=environment()).returncode]
    if not found or UNDER_ASAN:
        return skip('IPython', 'no Python has it' if not found else 'not with the sanitizer')
    shown, status = on_terminal([DEMO], ['print(6 * 7, rec.count() > 0)', 'exit'],
                                prompt=b'In [', SONDE_PYTHON=found[0])
    say(status == 0 and '42 True' in shown and 'rec = sonde.open' in shown,
        'IPython is started where it is', shown)
    program = ('import sys; sys.argv[1:] = []\n'
               'from IPython.core.interactiveshell import InteractiveShell\n'
               'm = type(sys)("m"); m.__file__ = %r\n'
               'exec(compile(open(m.__file__).read(), m.__file__, "exec"), m.__dict__)\n'
               'ip = InteractiveShell.instance(); ip.push({"rec": rec, "sonde": sonde})\n'
               'm.complete_in(ip, m.Words(rec, ip.user_ns))\n'
               'for line in ("rec.select(\\"sched:sched_sw", "rec.count(by=\\"prev_pri"):\n'
               '    print(ip.complete(text=None, line=line, cursor_pos=len(line))[1])\n' %
               (os.path.dirname(SONDE) + '/bindings/python/lib/shell.py'))
    r = call(DEMO, program=program, SONDE_PYTHON=found[0])
    say('sched_switch' in r[1] and 'prev_prio' in r[1], 'IPython completes names', str(r))
    return None


try:
    without_terminal()
    in_python()
    in_ipython()
finally:
    shutil.rmtree(FOLDER)
sys.exit(done())
