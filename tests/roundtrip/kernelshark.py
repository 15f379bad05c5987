#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""KernelShark opens what sonde converts to trace.dat, and what it records through ftrace's buffers.

    tests/roundtrip/kernelshark.py SONDE

The program runs on a display of its own (Xvfb), as a user without rights. When it has loaded a
file, the title of its window has the file's name. It reports a file that it cannot load as an
ERROR.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from points import done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DEMO = TESTS / 'data' / 'demo.data'
NOBODY = 65534
SECONDS = 60
PROGRAMS = ('kernelshark', 'Xvfb', 'xwininfo')


def ended(process):
    process.terminate()
    process.wait(10)


def display():
    """(Xvfb, its name)"""
    reading, writing = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(writing), '-screen', '0', '1024x768x24'],
                              pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as f:
        return server, ':' + f.readline().strip()


def opened(path, name, home):
    """(True if the file was loaded, what the program printed)"""
    env = dict(os.environ, DISPLAY=name, HOME=str(home), XDG_RUNTIME_DIR=str(home))
    as_nobody = {'user': NOBODY, 'group': NOBODY, 'extra_groups': []} if os.geteuid() == 0 else {}
    with open(path.with_suffix('.out'), 'w+b') as out:
        shark = subprocess.Popen(['kernelshark', str(path)], env=env, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=out, cwd=home, **as_nobody)
        title, end = False, time.time() + SECONDS
        while not title and time.time() < end and shark.poll() is None:
            time.sleep(0.5)
            windows = subprocess.run(['xwininfo', '-root', '-tree'], env=env, capture_output=True,
                                     text=True, timeout=30).stdout
            title = '"Kernel Shark (%s)"' % path in windows
            out.seek(0)
            if b'ERROR' in out.read():
                break
        alive = shark.poll() is None
        ended(shark)
        out.seek(0)
        text = out.read().decode('utf-8', 'backslashreplace')
    return title and alive and 'ERROR' not in text, text


def main():
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        skip('KernelShark opens files', 'not installed: ' + ' '.join(missing))
        return done()
    server, name = display()
    with tempfile.TemporaryDirectory(prefix='sonde-shark-') as top:
        top = pathlib.Path(top)
        top.chmod(0o755)
        home = top / 'home'
        home.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        files = [top / ('converted%s.dat' % version) for version in '67'] + [top / 'recorded.dat']
        for path, version in zip(files, '67'):
            run([SONDE, 'convert', '-i', str(DEMO), '--file-version', version, '-o', str(path)])
        run([SONDE, 'record', '--ftrace', '-q', '-e', 'sched:sched_switch', '-o', str(files[2]),
             '--', 'sh', '-c', 'ls / | cat'])
        for path in files:
            if not path.exists():
                skip('KernelShark opens ' + path.name, 'events cannot be recorded here')
                continue
            path.chmod(0o644)
            ok, text = opened(path, name, home)
            say(ok, 'KernelShark opens ' + path.name, text)
        cut = top / 'cut.dat'
        cut.write_bytes(files[1].read_bytes()[:3000])
        ok, text = opened(cut, name, home)
        say(not ok and 'ERROR' in text, 'it reports a file that it cannot open', text)
    ended(server)
    return done()


sys.exit(main())
