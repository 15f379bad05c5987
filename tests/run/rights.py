# SPDX-License-Identifier: MIT
"""The rights of the recorder, of the script and of the command: sonde run --sudo, and
sonde run under sudo.

    rights.py SONDE CALLS
"""
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'record'))
from tap import (SCRIPT_ENV, SONDE, Skip, case, few_symbols, need, run, same,  # noqa: E402
                 wait_until)

CALLS = os.path.abspath(sys.argv[2])
EVENT = 'syscalls:sys_enter_getppid'
NOBODY = 65534
MODULES = os.path.join(os.path.dirname(SONDE), 'bindings/python/module')


def as_nobody(*words, path=None, **kw):
    """Runs a command as a user without rights. path: the first folder of PATH."""
    if not shutil.which('setpriv'):
        raise Skip('no setpriv')
    env = dict(SCRIPT_ENV, PYTHONPATH=MODULES,
               PATH=':'.join([path] * bool(path) + [SCRIPT_ENV['PATH']]))
    return subprocess.Popen(['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY),
                             '--clear-groups', *words], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)


def ended(p, status=0, says=None):
    out, err = p.communicate(timeout=200)
    same(p.returncode, status, out + err)
    for text in says or ():
        need(text in err, 'no %r in: %s' % (text, err))
    return out, err


def fake_sudo():
    """A folder with a sudo that asks nobody: a copy of env(1) with the set-user-id bit."""
    os.chmod('.', 0o777)
    os.mkdir('bin')
    shutil.copy(shutil.which('env'), 'bin/sudo')
    os.chmod('bin/sudo', 0o4755)
    path = os.path.abspath('bin')
    if subprocess.run(['setpriv', '--reuid', str(NOBODY), '--clear-groups', path + '/sudo', SONDE,
                       'version'], capture_output=True).returncode:
        raise Skip('this build does not run for other users')
    p = as_nobody(path + '/sudo', 'id', '-u')
    if p.communicate()[0] != '0\n':
        raise Skip('set-user-id bits do nothing here')
    return path


def recorders():
    """The processes `sonde record --serve` of this machine."""
    found = []
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(path) as f:
                words = f.read().split('\0')
        except OSError:
            continue
        if '--serve' in words and SONDE in words:
            found.append(int(path.split('/')[2]))
    return found


def none_is_left():
    wait_until('no recorder is left', lambda: not recorders(), 30)


def members(group):
    """The processes of a process group that have not ended."""
    found = []
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as f:
                state, _, its_group = f.read().rpartition(')')[2].split()[:3]
            if state != 'Z' and int(its_group) == group:
                found.append(path)
        except OSError:
            pass
    return found


def script(name, text):
    with open(name, 'w') as f:
        f.write(text)
    os.chmod(name, 0o644)
    return name


@case('without rights the message names all causes, and --sudo as a remedy')
def refused():
    os.chmod('.', 0o777)
    for event, words in (('sched:sched_switch', ('tracepoints', 'perf_event_paranoid')),
                         ('cpu-clock', ('perf_event_paranoid',))):
        out, err = ended(as_nobody(SONDE, 'run', '-a', '-e', 'count("%s")' % event), 1,
                         (*words, 'sonde run --sudo'))
        need('setcap' not in err and 'Traceback' not in err and err.count('\n') == 1, err)


@case('--sudo records with more rights; the script and the command keep those of the user')
def sudo():
    path = fake_sudo()
    file = script('who.py', '''
import os
from sonde import on, end
n, last = 0, 0
@on("%s", filter="common_pid != 1")
def f(e):
    global n, last
    assert e.time >= last
    last = e.time
    n += e.comm == "calls"
@end
def g(): print(n, os.getuid(), os.geteuid(), os.getgroups())
''' % EVENT)
    out, err = ended(as_nobody(SONDE, 'run', '--sudo', '-o', 'kept.data', file, '--', 'sh', '-c',
                               'id -u; exec ' + CALLS + ' -n 5000', path=path))
    same(out, "%d\n5000\n5000 %d %d []\n" % ((NOBODY,) * 3), err)
    same(os.stat('kept.data').st_uid, NOBODY)
    none_is_left()
    p = as_nobody(SONDE, 'run', '-i', 'kept.data', file)
    same(ended(p)[0], "5000 %d %d []\n" % (NOBODY, NOBODY))


@case('a command has the same events with --sudo as without')
def alike():
    path = fake_sudo()
    code = 'c = count("raw_syscalls:sys_enter", by="comm")\n@end\ndef f(): print(dict(c))'
    mine = subprocess.run([SONDE, 'run', '-e', code, '--', CALLS, '-n', '50'], env=SCRIPT_ENV,
                          capture_output=True, text=True).stdout
    out, err = ended(as_nobody(SONDE, 'run', '--sudo', '-e', code, '--', CALLS, '-n', '50',
                               path=path))
    same(out, mine, err)


@case('sonde.record(sudo=True) is like one with the rights of the process')
def module():
    path = fake_sudo()
    file = script('own.py', '''
import os, sonde
rec = sonde.record("%s", command=["%s", "-n", "3000", "-t", "3"], sudo=True)
n = sum(1 for e in rec)
print(n, rec.wait(), rec.lost)
rec = sonde.record("%s", command=["%s", "-n", "200000"], sudo=True, buffer="4K", latency=0.02)
n = sum(1 for e in rec)
rec.wait()
print(n + rec.lost)
for bad in (dict(filter="nix == 1"), dict(control="fifo:/x"), dict(output_fd=1)):
    try:
        sonde.record("%s", system=True, sudo=True, **bad)
    except sonde.Error as e:
        print("Error")
rec = sonde.record("%s", pid=os.getpid(), sudo=True)
for i in range(5): os.getppid()
rec.stop()
print(sum(1 for e in rec))
with sonde.record("%s", command=["sleep", "1000"], sudo=True): pass
print("closed")
''' % (EVENT, CALLS, EVENT, CALLS, EVENT, EVENT, EVENT))
    out, err = ended(as_nobody(sys.executable, file, path=path))
    same(out.split(), ['9000', '200000', '9000', '0', '0', '200000', *['Error'] * 3, '5', 'closed'],
         err)
    none_is_left()


@case('events and fields that are not there are reported, and nothing starts')
def wrong():
    path = fake_sudo()
    for code, word in (('count("sched:sched_swich")', 'did you mean'),
                       ('count("%s", by="nope")' % EVENT, "no field 'nope'"),
                       ('@on("%s")\ndef f(e, nope): pass' % EVENT, "no field 'nope'"),
                       ('count("sched:*_switch"); count("sched:sched_s*")', 'several patterns')):
        p = as_nobody(SONDE, 'run', '--sudo', '-e', code, '--', 'touch', 'started', path=path)
        ended(p, 2, [word])
        need(not os.path.exists('started'), 'the command ran')
    p = as_nobody(SONDE, 'run', '--sudo', '-e', 'count("%s")' % EVENT, '--', './nothing', path=path)
    ended(p, 127, ['nothing'])
    none_is_left()


@case('a sudo that refuses is quoted, and without sudo and pkexec that is the message')
def no_sudo():
    os.chmod('.', 0o777)
    os.mkdir('bin')
    script('bin/sudo', '#!/bin/sh\necho "sudo: nobody is not in the sudoers file" >&2\nexit 1\n')
    os.chmod('bin/sudo', 0o755)
    words = (SONDE, 'run', '--sudo', '-a', '-e', 'count("%s")' % EVENT)
    ended(as_nobody(*words, path=os.path.abspath('bin')), 1, ['not in the sudoers file'])
    script('bin/sudo', '#!/bin/sh\nexit 3\n')
    os.chmod('bin/sudo', 0o755)
    ended(as_nobody(*words, path=os.path.abspath('bin')), 1, ['sudo ended with status 3'])
    os.mkdir('none')
    os.symlink(shutil.which('python3'), 'none/python3')
    env = dict(SCRIPT_ENV, PATH=os.path.abspath('none'))
    p = subprocess.Popen([shutil.which('setpriv'), '--reuid', str(NOBODY), '--clear-groups',
                          *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    ended(p, 1, ['neither sudo nor pkexec'])


FOREVER = '''
from sonde import on, begin, end
@begin
def b(): print("begin", flush=True)
@on("%s")
def f(e): pass
@end
def d(): print("end")
''' % EVENT


@case('Ctrl-C, --for, exit() and a kill end the recorder')
def ends():
    path = fake_sudo()
    file = script('forever.py', FOREVER)
    for number, status, out in ((signal.SIGINT, 0, 'end\n'), (signal.SIGTERM, 0, 'end\n'),
                                (signal.SIGKILL, -9, '')):
        p = as_nobody(SONDE, 'run', '--sudo', '-p', str(os.getpid()), file, path=path)
        same(p.stdout.readline(), 'begin\n')
        same(len(recorders()), 1)
        p.send_signal(number)
        same(ended(p, status), (out, ''))
        none_is_left()
    p = as_nobody(SONDE, 'run', '--sudo', '-a', '--for', '200ms', file, path=path)
    same(ended(p)[0], 'begin\nend\n')
    code = '@on("%s")\ndef f(e): exit(7)' % EVENT
    p = as_nobody(SONDE, 'run', '--sudo', '-e', code, '--', CALLS, '-n', '10', path=path)
    ended(p, 7)
    # a child of the script has the other ends of the pipes, and lives on
    p = as_nobody(SONDE, 'run', '--sudo', '-p', str(os.getpid()), script('forks.py', '''
import os, signal, time
from sonde import on, begin
@begin
def b():
    if not os.fork():
        print(os.getpid(), flush=True)
        os.close(1); os.close(2)
        time.sleep(1000)
        os._exit(0)
@on("%s")
def f(e): pass
''' % EVENT), path=path)
    child = int(p.stdout.readline())
    p.kill()
    ended(p, -9)
    try:
        none_is_left()
    finally:
        os.kill(child, signal.SIGKILL)


@case('the recorder refuses what is no request, and settings that name files')
def serve():
    def frame(kind, text):
        return b'\1' + kind + len(text).to_bytes(4, sys.byteorder) + text

    for request, word in ((b'', b'ended before'), (b'hello\n', b'no request'),
                          (frame(b'v', b'0') + frame(b'o', b''), b'another version'),
                          (b'\1v\xff\xff\xff\xff', b'no frame'),
                          (frame(b'f', b'x'), b'without an event'),
                          (frame(b'v', b'1') + frame(b's', b'output=/x') + frame(b'o', b''),
                           b'output'),
                          (frame(b'v', b'1') + frame(b's', b'buildid-dir=/x') + frame(b'o', b''),
                           b'buildid-dir')):
        r = subprocess.run([SONDE, 'record', '-o', '-', '--serve'], input=request,
                           capture_output=True, env=SCRIPT_ENV, timeout=100)
        need(r.returncode == 1 and r.stdout == b'' and word in r.stderr, (request, r))
    r = subprocess.run([SONDE, 'record', '--serve', '-a'], input=b'', capture_output=True,
                       env=SCRIPT_ENV, timeout=100)
    need(r.returncode == 2 and b'--serve takes' in r.stderr, r)


WHO = '''
import json, os, sys
import sonde
def status():
    with open("/proc/self/status") as f:
        return dict(line.rstrip("\\n").split(":\\t", 1) for line in f if ":\\t" in line)
def who():
    s = status()
    fds = {}
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            fds[fd] = os.readlink("/proc/self/fd/" + str(fd)).split(":")[0]
        except OSError:
            pass
    try:
        os.wait()
        children = "some"
    except ChildProcessError:
        children = "none"
    try:
        os.setuid(0)
        root = "again"
    except PermissionError:
        root = "never"
    print(json.dumps({
        "status": [s[k].split() for k in ("Uid", "Gid", "Groups")],
        "caps": [int(s[k], 16) for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
        "privs": s["NoNewPrivs"], "fds": sorted(fds.items()), "children": children, "root": root,
        "env": [os.environ.get(k) for k in ("HOME", "USER", "LOGNAME", "SHELL", "SUDO_UID",
                                            "SUDO_USER", "SUDO_COMMAND")],
        "path": os.environ["PATH"].split(":")[-3:], "inherits": [
            fd for fd in fds if fd > 2 and os.get_inheritable(fd)]}), flush=True)
who()  # before anything is declared
n = sonde.count("%s")
@sonde.end
def f():
    print(n.total)
''' % EVENT


def under_sudo(*words, uid=NOBODY, **kw):
    """Runs sonde as root, as sudo does that a user has called."""
    env = dict(SCRIPT_ENV, SUDO_UID=str(uid), SUDO_GID=str(uid), SUDO_USER='nobody',
               SUDO_COMMAND='sonde', HOME='/root', USER='root', LOGNAME='root')
    return subprocess.Popen([SONDE, *words], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)


def need_any_user():
    os.chmod('.', 0o777)
    r = subprocess.run(['setpriv', '--reuid', str(NOBODY), '--clear-groups', SONDE, 'version'],
                       capture_output=True)
    if r.returncode:
        raise Skip('this build does not run for other users')


@case('under sudo the script and the command are the user\'s for good, from the first line on')
def dropped():
    need_any_user()
    file = script('who.py', WHO)
    extra, other = os.pipe()
    command = ['sh', '-c', 'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; '
               'exec %s -n 700' % CALLS]
    p = under_sudo('run', '-o', 'kept.data', file, '--', *command, pass_fds=(extra,))
    out = ended(p)[0].splitlines()
    os.close(extra)
    os.close(other)
    o = json.loads(out[0])
    me = str(NOBODY)
    pw = pwd.getpwuid(NOBODY)
    same(o['status'], [[me] * 4, [me] * 4, [me]])
    same((o['caps'], o['privs'], o['root'], o['children']), ([0] * 5, '1', 'never', 'none'))
    same(o['env'], [pw.pw_dir, pw.pw_name, pw.pw_name, pw.pw_shell, None, None, None])
    same(o['path'], ['/usr/local/bin', '/usr/bin', '/bin'])
    same([fd for fd, _ in o['fds']][:3], [0, 1, 2])
    same([kind for fd, kind in o['fds'] if fd > 2], ['socket'], o['fds'])
    same(o['inherits'], [])
    same(out[1:4], [me, 'CapEff:\t' + '0' * 16, 'CapBnd:\t' + '0' * 16])
    same(out[4:7], ['NoNewPrivs:\t1', '700', '701'], 'sh and calls')
    same((os.stat('kept.data').st_uid, os.stat('kept.data').st_gid), (NOBODY, NOBODY))
    none_is_left()
    for words in (['-i', 'kept.data', file], ['--dry-run', '-a', file]):
        o = json.loads(ended(under_sudo('run', *words))[0].splitlines()[0])
        same((o['status'][0], o['caps'][2], [fd for fd, _ in o['fds']]), ([me] * 4, 0, [0, 1, 2]))
    # a program of the script records through sonde run, too
    p = under_sudo('run', script('own.py', '''
import sonde
rec = sonde.record("%s", command=["%s", "-n", "30"], sudo=True)
print(sum(1 for e in rec))
try:
    sonde.record("%s", system=True)
except PermissionError: print("refused")
''' % (EVENT, CALLS, EVENT)))
    same(ended(p)[0].split(), ['30', '30', 'refused'])


@case('root that no user has called stays root, and a wrong SUDO_UID is refused')
def root():
    need_any_user()
    code = 'import os; print(os.getuid())'
    for uid in (0, None):
        env = dict(SCRIPT_ENV, **({} if uid is None else {'SUDO_UID': '0'}))
        p = subprocess.run([SONDE, 'run', '-e', code], env=env, capture_output=True, text=True)
        same((p.stdout, p.returncode), ('0\n', 0), p.stderr)
    for uid in ('', '-1', '4294967295', '1x'):
        out, err = ended(under_sudo('run', '-e', code, uid=uid), 1, ['SUDO_UID'])
        same(out, '')
    with open('root.data', 'w') as f:
        f.write('x')
    os.chmod('root.data', 0o600)
    ended(under_sudo('run', '-i', 'root.data', '-e', code), 1, ['chown nobody'])
    # a user without an entry
    out, err = ended(under_sudo('run', '-e', 'import os; print(os.getuid(), os.getgroups(), '
                                'os.environ["HOME"])', uid=60123))
    same(out, '60123 [60123] /\n', err)


@case('under sudo Ctrl-C, SIGTERM and a kill leave no process behind')
def sudo_ends():
    need_any_user()
    file = script('forever.py', FOREVER)
    for number, status, out in ((signal.SIGINT, 0, 'end\n'), (signal.SIGTERM, 0, 'end\n'),
                                (signal.SIGKILL, -9, '')):
        # a terminal sends its signals to the complete group
        p = under_sudo('run', '-p', str(os.getpid()), file, preexec_fn=os.setpgrp)
        same(p.stdout.readline(), 'begin\n')
        same(len(recorders()), 1)
        if number == signal.SIGKILL:
            p.kill()
        else:
            os.killpg(p.pid, number)
        same(ended(p, status), (out, ''))
        none_is_left()
        wait_until('the broker has ended', lambda: not members(p.pid), 30)


few_symbols()
run()
